r"""The ideal of the neuromanifold of any polynomial model, up to a degree.

>>> import agattn as ag
>>> from agattn.geometry.variety.coefficient_map import coefficient_map
>>> cubics = ag.Network([ag.Perceptron([3, 1], degree=3)], dim=3)
>>> ideal = compute_model_ideal(coefficient_map(cubics), max_degree=4)
>>> print(ideal)
Ideal of 3×1 → perceptron 3,1 (degree 3) to degree 4: 1 quartic
>>> [aronhold] = ideal.equations()
>>> len(aronhold.terms), ideal.degrees[3].evidence
(25, <Evidence.PROVED: 'proved'>)

Sums of three cubes of linear forms in three variables are cut out by the invariant of degree 4 of Aronhold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from agattn.algebra.polynomial import Polynomial
from agattn.architectures import positive_integer
from agattn.errors import TooLargeError
from agattn.evidence import Evidence, Shown
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.ideal import DegreePiece, IdealByDegree, counted_pieces
from agattn.geometry.ideal.implicitization import Generators, Implicitization, permuted
from agattn.geometry.variety.coefficient_map import CoefficientMap
from agattn.geometry.variety.coordinates import Coordinate

#: The largest number of monomials of one degree, unless forced.
MOST_MONOMIALS = 20_000_000


@dataclass(frozen=True, eq=False, repr=False)
class MultidegreeEquations(Shown):
    """Minimal generators of one multidegree, and of all those to which permutations of the model take it.

    Iterating over it gives all of them.

    Attributes:
        degree: in the coordinates.
        multidegree: for the grading of the ideal; the last entry is the degree.
        basis: those of this multidegree, with coprime integer coefficients.
        images: where each coordinate goes, and its sign, for every multidegree of the orbit.
        evidence: proved if they were composed with the map exactly; else modular: they hold at random points.
    """

    degree: int
    multidegree: tuple[int, ...]
    basis: tuple[Equation, ...]
    images: tuple[dict[Coordinate, tuple[Coordinate, int]], ...]
    evidence: Evidence

    @property
    def dimension(self) -> int:
        """The number of equations."""
        return len(self.basis) * len(self.images)

    @property
    def highest(self) -> Equation:
        """The first of them."""
        return self.basis[0]

    def __str__(self) -> str:
        weights = ", ".join(map(str, self.multidegree[:-1]))
        more = f" and {len(self.images) - 1} more" if len(self.images) > 1 else ""
        return f"multidegree ({weights}){more}"

    def __iter__(self) -> Iterator[Equation]:
        for image in self.images:
            for equation in self.basis:
                yield Equation(permuted(equation.terms, image), equation.kind).primitive()

    def as_json(self) -> dict[str, object]:
        """The equations of the first multidegree, and how many there are, as JSON-ready data."""
        from agattn import records

        return records.document(records.ModelIdeal.Multidegree, self, equations=self.basis)


@dataclass(frozen=True, eq=False, repr=False)
class ModelIdeal(IdealByDegree):
    """The ideal of the closure of the neuromanifold of any model, up to a degree.

    The coordinates y_k are those of the :class:`~agattn.geometry.variety.coefficient_map.CoefficientMap`.
    Where the image is no cone there is y_0 = 1 besides, the equations are those of its projective closure,
    and degree n stands for the polynomials of degree at most n.

    Attributes:
        source: the coordinates as polynomials in the parameters.
        dimension: of the neuromanifold; ``None`` where it was not proved.
        degrees: the pieces, from degree 1 on.
        found: minimal generators by multidegree.
        multidegrees: of the coordinates; ``None`` for those that are 0, and where an engine found the ideal.
        affine: whether y_0 = 1 was added.
        degree: of the closure, where an engine found it.
        method: ``"native"``, or the engine.
        whole: minimal generators of the whole ideal, as an engine found them; ``None`` natively.
        characteristic: of the engine's field.
    """

    source: CoefficientMap
    dimension: int | None
    degrees: tuple[DegreePiece, ...]
    found: tuple[MultidegreeEquations, ...]
    multidegrees: dict[Coordinate, tuple[int, ...] | None]
    affine: bool
    degree: int | None = None
    method: str = "native"
    whole: tuple[Equation, ...] | None = None
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
        """What the model is."""
        return self.source.architecture.name

    @property
    def generators(self) -> tuple[MultidegreeEquations, ...]:
        """Minimal generators by multidegree."""
        return self.found

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

    def as_json(self) -> dict[str, object]:
        """Everything found as JSON-ready data."""
        from agattn import records

        coordinates = [
            {"name": f"y_{k}", "meaning": meaning, "multidegree": self.multidegrees[k,]}
            for (k,), meaning in self.legend.items()
        ]
        return records.document(
            records.ModelIdeal, self,
            architecture=self.source.architecture, ambient=len(self.source.coordinates),
            coordinates=coordinates, generators=None if self.whole is not None else list(self),
        )  # fmt: skip


def compute_model_ideal(
    source: CoefficientMap,
    max_degree: int,
    *,
    dimension: int | None = None,
    seed: int = 0,
    force: bool = False,
    step: Callable[[str], object] = lambda _: None,
) -> ModelIdeal:
    """The ideal of the image of any polynomial map up to a degree, proved where it says so.

    Args:
        source: the map.
        max_degree: the last degree.
        dimension: of the neuromanifold, where it is known.
        seed: of the random points and primes.
        force: compute however long it takes.
        step: told what is being done.

    Raises:
        InputError: if ``max_degree`` is not a positive whole number.
        TooLargeError: beyond the stated limits.
    """
    max_degree = positive_integer("max_degree", max_degree)
    image = Implicitization(source, seed, force)
    labels, N = image.map.labels, image.map.coordinates
    if not force and (size := comb(N + max_degree - 1, max_degree)) > MOST_MONOMIALS:
        raise TooLargeError(
            f"degree {max_degree} in {N} coordinates has {size} monomials; the limit is {MOST_MONOMIALS}. "
            "Lower --max-degree, or use --force"
        )
    everywhere: dict[Coordinate, tuple[Coordinate, int]] = {
        (k,): ((k,), 1) for k in range(1 - image.map.affine, len(source.coordinates) + 1)
    }
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
    pieces = [DegreePiece(1, N - len(labels), len(labels), len(found), Evidence.PROVED)]
    generators = Generators(image)
    for n, piece in enumerate(image.pieces(max_degree), 2):
        step(f"degree {n}: {piece.minimal_generators} new equations")
        for block in piece.blocks:
            basis, evidence = generators.add(n, block)
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
            found.append(MultidegreeEquations(n, multidegree, equations, images, evidence))
        size = comb(N + n - 1, n)
        evidence = Evidence.PROVED if generators.all_proved(piece) else Evidence.MODULAR
        pieces.append(
            DegreePiece(
                n, size - piece.hilbert_function, piece.hilbert_function, piece.minimal_generators, evidence
            )
        )
    return ModelIdeal(source, dimension, tuple(pieces), tuple(found), multidegrees, image.map.affine)


def _equation(form: Mapping[tuple[int, ...], int]) -> Equation:
    """The equation with these terms, by the numbers k of y_k."""
    return Equation({tuple((k,) for k in m): x for m, x in form.items()}, CoefficientMap).primitive()
