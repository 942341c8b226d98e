r"""The ideal of the neuromanifold of any polynomial model, up to a degree.

>>> import agattn as ag
>>> from agattn.geometry.variety.coefficient_map import coefficient_map
>>> cubics = ag.Network([ag.Perceptron([3, 1], degree=3)], dim=3)
>>> ideal = compute_model_ideal(coefficient_map(cubics), max_degree=4)
>>> print(ideal)
Ideal of 3×1 → perceptron 3,1 (degree 3) to degree 4: 1 quartic
>>> [aronhold] = ideal
>>> len(aronhold.terms), ideal.degrees[3].evidence
(25, <Evidence.PROVED: 'proved'>)

Sums of three cubes of linear forms in three variables are cut out by the invariant of degree 4 of Aronhold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures.model_file import STUDIED, Studied
from agattn.calls import positive_integer
from agattn.evidence import Evidence, Method
from agattn.geometry.ideal.equations import EQUATIONS, Equation, equation_cell, shortened
from agattn.geometry.ideal.ideal import (
    DegreePiece,
    IdealByDegree,
    Way,
    counted_pieces,
    known_whole,
    principal_function,
)
from agattn.geometry.ideal.implicitization import Generators, GradedPiece, Implicitization, permuted
from agattn.geometry.ideal.weight_spaces import check_size
from agattn.geometry.variety.coefficient_map import CoefficientMap
from agattn.geometry.variety.coordinates import Coordinate
from agattn.limits import log, takes
from agattn.sheet.data import Cell, Math, Sheet, Table, Wide
from agattn.sheet.result import PROVED_OR_MODULAR, Count, Key, Named, Positive, Result, Written, key

#: Multidegrees beyond this many are not shown with their equations.
_MOST_GROUPS = 20
#: Coordinates that a terminal explains.
MOST_COORDINATES = 40


#: Where each coordinate goes, and its sign.
Moves = dict[Coordinate, tuple[Coordinate, int]]


class MultidegreeEquations(Result, eq=False):
    """Minimal generators of one multidegree, and of all those to which permutations of the model take it.

    Iterating over it gives all of them. The last entry of the multidegree is the degree. Where the evidence
    is modular the equations hold at random points.

    Attributes:
        images: where each coordinate goes, and its sign, for every multidegree of the orbit.
    """

    degree: Key[Positive, "The degree of the equations."]
    multidegree: Key[tuple[int, ...], "The multidegree of the equations."]
    basis: Key[
        tuple[Equation, ...],
        "The equations of this multidegree, with integer coefficients.",
        Named("equations"),
        EQUATIONS,
    ]
    images: tuple[Moves, ...]
    evidence: Key[Evidence, "`proved`: composed with the map exactly, they vanish.", PROVED_OR_MODULAR]

    @key
    def dimension(self) -> Positive:
        """The number of equations, in all multidegrees that permutations give."""
        return len(self.basis) * len(self.images)

    def summary(self) -> str:
        """The multidegree."""
        weights = ", ".join(map(str, self.multidegree[:-1]))
        more = f" and {len(self.images) - 1} more" if len(self.images) > 1 else ""
        return f"multidegree ({weights}){more}"

    def __iter__(self) -> Iterator[Equation]:
        for image in self.images:
            for equation in self.basis:
                yield Equation(permuted(equation.terms, image), equation.kind).primitive()

    def row(self) -> tuple[Cell, ...]:
        """The multidegree as a row of a table of multidegrees."""
        weight = ", ".join(map(str, self.multidegree[:-1]))
        equation = equation_cell(self.basis[0])
        return (f"({weight})", self.degree, self.dimension, self.evidence.value, equation)


class NamedCoordinate(Result):
    """A coordinate of the ambient space of a model."""

    name: Key[str, "Its name in the equations: y_1, y_2, ...; y_0 is 1."]
    meaning: Key[str, "Which coefficient of the output in X it is, or which output of a map without X."]
    multidegree: Key[
        tuple[int, ...] | None, "The multidegree of the coordinate; null where it is 0, and from an engine."
    ]

    def summary(self) -> str:
        """The name and the meaning."""
        return f"{self.name}: {self.meaning}"


class ModelIdeal(IdealByDegree, Result, name="ideal", eq=False):
    """The ideal of the closure of the neuromanifold of any model, up to a degree.

    The coordinates y_k are those of the :class:`~agattn.geometry.variety.coefficient_map.CoefficientMap`.
    Where the image is no cone there is y_0 = 1 besides, the equations are those of its projective closure,
    and degree n stands for the polynomials of degree at most n.

    Attributes:
        source: the coordinates as polynomials in the parameters.
        found: minimal generators by multidegree.
        multidegrees: of the coordinates; ``None`` for those that are 0, and where an engine found the ideal.
        characteristic: of the engine's field.
    """

    source: CoefficientMap
    dimension: Key[Count | None, "The dimension of the neuromanifold; null where it is not proved."]
    degrees: Key[tuple[DegreePiece, ...], "One entry for each degree of the ideal."]
    found: tuple[MultidegreeEquations, ...]
    multidegrees: dict[Coordinate, tuple[int, ...] | None]
    affine: Key[bool, "Whether the image is no cone: degree n then stands for degree at most n."]
    degree: Key[Positive | None, "The degree of its Zariski closure; null where no engine was asked."] = None
    method: Key[str, "Who computed the table.", Written(Method)] = "native"
    whole: Key[
        tuple[Equation, ...] | None,
        "Minimal generators of the whole ideal, from an engine; null natively.",
        EQUATIONS,
    ] = None
    characteristic: int = 0

    @classmethod
    def eliminated(
        cls,
        source: CoefficientMap,
        dimension: int,
        degree: int,
        generators: Sequence[Polynomial],
        hilbert_function: Sequence[int],
        *,
        characteristic: int,
        method: str,
        evidence: Evidence,
    ) -> ModelIdeal:
        """The whole ideal of a cone as an engine found it, with the Hilbert function in degrees 1, 2, ...."""
        whole = tuple(Equation.from_polynomial(f, CoefficientMap) for f in generators)
        N = len(source.coordinates)
        pieces = counted_pieces(whole, N, hilbert_function, evidence)
        none: dict[Coordinate, tuple[int, ...] | None] = {(k,): None for k in range(1, N + 1)}
        return cls(source, dimension, pieces, (), none, False, degree, method, whole, characteristic)

    @property
    def name(self) -> str:
        return self.source.architecture.name

    @property
    def generators(self) -> tuple[MultidegreeEquations, ...]:
        return self.found

    @property
    def ring(self) -> PolynomialRing:
        """The ring of polynomials in all coordinates."""
        return PolynomialRing([Variable(self.source.letter, index) for index in self.coordinates])

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The indices (k,) of the coordinates y_k."""
        return tuple(self.multidegrees)

    @property
    def legend(self) -> dict[Coordinate, str]:
        """What each coordinate is."""
        names: dict[Coordinate, str] = {
            (k,): str(where) for k, where in enumerate(self.source.coordinates, 1)
        }
        return ({(0,): "1"} if self.affine else {}) | names

    @key(STUDIED)
    def architecture(self) -> Studied:
        """The architecture whose map was taken."""
        return self.source.architecture

    @key
    def ambient(self) -> Positive:
        """The number of coordinates, without y_0."""
        return len(self.source.coordinates)

    @key(name="coordinates")
    def named_coordinates(self) -> tuple[NamedCoordinate, ...]:
        """What each coordinate is."""
        return tuple(
            NamedCoordinate(f"y_{k}", meaning, self.multidegrees[k,]) for (k,), meaning in self.legend.items()
        )

    @key(name="generators")
    def groups_found(self) -> tuple[MultidegreeEquations, ...] | None:
        """Minimal generators, by multidegree; null from an engine."""
        return None if self.whole is not None else self.found

    def sheet(self) -> Sheet:
        """The degrees, an equation of each multidegree, and the coordinates in these."""
        headings = ("degree", "equations", "Hilbert function", "minimal generators", "evidence")
        rows = tuple(
            (p.degree, p.ideal_dimension, p.hilbert_function, p.minimal_generators, p.evidence.value)
            for p in self.degrees
        )
        shown = [Table(self.summary(), headings, rows)]
        groups = self.generators[:_MOST_GROUPS]
        caption = "One equation of each multidegree of minimal generators, up to permutations"
        more = len(self.generators) - len(groups)
        caption += f"; {more} more multidegrees are left out" if more else ""
        if groups:
            columns = ("multidegree", "degree", "dimension", "evidence", "equation")
            shown.append(Table(caption, columns, tuple(group.row() for group in groups)))
        used = {index for group in groups for equation in group.basis for m in equation.terms for index in m}
        legend = tuple(
            (Math(Variable("y", index).latex()), said) for index, said in self.legend.items() if index in used
        )
        names = ("coordinate", Wide("what it is"))
        shown += [Table("Coordinates that occur", names, legend)] if legend else []
        return Sheet(self.summary(), tuple(shown))

    def _heading(self) -> str:
        dimension = "dimension not proved" if self.dimension is None else f"dim {self.dimension}"
        return f"{self.architecture}: {dimension} in {self.ambient} coordinates"

    def _listed(self) -> Iterator[str]:
        if self.affine:
            yield "The image is no cone: y_0 = 1, and degree n is that of polynomials of degree at most n."
        coordinates = list(map(str, self.named_coordinates))
        more = len(coordinates) - MOST_COORDINATES
        left_out = [f"... and {more} more coordinates, which --json lists"] if more > 0 else []
        yield "\n".join([*coordinates[:MOST_COORDINATES], *left_out])
        if self.whole:
            yield "\n".join(map(shortened, self.whole))
        for group in self.groups_found or ():
            several = "equations" if group.dimension > 1 else "equation"
            known = "" if group.evidence is Evidence.PROVED else f" ({group.evidence})"
            weight = ", ".join(map(str, group.multidegree[:-1]))
            first = f"degree {group.degree}, {group.dimension} {several}{known}, multidegree ({weight})"
            yield "\n".join([first, *(f"  {shortened(equation)}" for equation in group.basis)])


@takes("seed", "force")
def compute_model_ideal(
    source: CoefficientMap, max_degree: int, *, dimension: int | None = None
) -> ModelIdeal:
    """The ideal of the image of any polynomial map up to a degree, proved where it says so.

    Where the dimension is one less than that of the span of the image, nothing is computed after the first
    equation: the ideal of a hypersurface is principal. The dimension is proved where the rank of the Jacobian
    of the map and that of the gradients of the equations meet.

    Args:
        source: the map.
        max_degree: the last degree.
        dimension: of the neuromanifold, where it is proved already.

    Raises:
        InputError: if ``max_degree`` is not a positive whole number.
        TooLargeError: beyond the stated limits, or before a step that would take more memory than is allowed.
    """
    max_degree = positive_integer("max_degree", max_degree)
    image = Implicitization(source)
    labels, N = image.map.labels, image.map.coordinates
    check_size(N, max_degree)
    everywhere: Moves = {(k,): ((k,), 1) for k in range(1 - image.map.affine, len(source.coordinates) + 1)}
    multidegrees, found = _linear_part(image, everywhere)
    pieces = [DegreePiece(1, N - len(labels), len(labels), len(found), Evidence.PROVED, way="multidegrees")]
    generators, computed = Generators(image), image.pieces(max_degree)
    if (at_least := dimension) is None:
        log.info("dimension")
        at_least = image.dimension_at_least
    for n in range(2, max_degree + 1):
        way: Way | None = known_whole(pieces, at_least, image.map.affine)
        if way is not None:
            function, new, evidence = principal_function(pieces, n), 0, Evidence.PROVED
        else:
            way, piece = "multidegrees", next(computed)
            log.info(f"degree {n}: {piece.minimal_generators} new equations")
            found += _groups(image, generators, piece, everywhere)
            function, new = piece.hilbert_function, piece.minimal_generators
            evidence = Evidence.PROVED if generators.all_proved(piece) else Evidence.MODULAR
        pieces.append(DegreePiece(n, comb(N + n - 1, n) - function, function, new, evidence, way=way))
    if dimension is None and at_least == image.dimension_at_most(generators.proved_forms()):
        dimension = at_least
    return ModelIdeal(source, dimension, tuple(pieces), tuple(found), multidegrees, image.map.affine)


def _groups(
    image: Implicitization, generators: Generators, piece: GradedPiece, everywhere: Moves
) -> Iterator[MultidegreeEquations]:
    """The minimal generators of one degree that can be lifted."""
    labels = image.map.labels
    for block, basis, evidence in generators.add(piece):
        if not basis:
            continue
        equations = tuple(
            _equation({tuple(labels[k] for k in m): x for m, x in form.items()}) for form in basis
        )
        multidegree = tuple(image.map.degrees[block.candidates[0]].sum(axis=0).tolist())
        images = tuple(
            everywhere | {(labels[k],): ((labels[to],), sign) for k, (to, sign) in moves.items()}
            for moves in block.images
        )
        yield MultidegreeEquations(piece.degree, multidegree, equations, images, evidence)


def _linear_part(
    image: Implicitization, everywhere: Moves
) -> tuple[dict[Coordinate, tuple[int, ...] | None], list[MultidegreeEquations]]:
    """The multidegree of every coordinate, and the linear equations.

    A coordinate that is a linear combination of others has the multidegree of one of these.
    """
    labels = image.map.labels
    multidegrees: dict[Coordinate, tuple[int, ...] | None] = dict.fromkeys(everywhere)
    for label, row in zip(labels, image.map.degrees.tolist(), strict=True):
        multidegrees[label,] = tuple(row)
    found = []
    for relation in image.map.linear:
        near = next((k for (k,) in relation if k in labels), None)
        for index in relation:
            multidegrees[index] = multidegrees.get((near,) if near is not None else index)
        one = next(iter(multidegrees[index] for index in relation))
        found.append(
            MultidegreeEquations(1, one or (1,), (_equation(relation),), (everywhere,), Evidence.PROVED)
        )
    return multidegrees, found


def _equation(form: Mapping[tuple[int, ...], int]) -> Equation:
    """The equation with these terms, by the numbers k of y_k."""
    return Equation({tuple((k,) for k in m): x for m, x in form.items()}, CoefficientMap).primitive()
