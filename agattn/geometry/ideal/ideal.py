"""The homogeneous ideal of a neuromanifold, degree by degree, with its modules and its equations.

>>> from agattn.architectures import SingleLayer
>>> ideal = compute_ideal(SingleLayer(3, 1), max_degree=4)
>>> print(ideal)
Ideal of M(3,1,3) to degree 4: 20 cubics, 90 quartics
>>> ideal.hilbert_function(4), ideal.degrees[3].ideal_dimension
(5535, 450)
>>> for module in ideal.generators:
...     print(module, module.dimension, module.name)
S(3)⊗S(3)⊗S(2,2,2) 10 3×3 minors of the slices: every form y_(c,b) has rank at most 2
S(3)⊗S(1,1,1)⊗S(3,3) 10 3×3 minors: on any two-dimensional subspace the forms of one row are dependent
S(4)⊗S(2,2)⊗S(4,4) 90 resultants of two forms of one row, on any two-dimensional subspace
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from itertools import chain, islice, product, zip_longest
from math import comb
from operator import attrgetter
from typing import Any, Literal, overload

import flint

from agattn.algebra.characters import Partition, module_dimension, module_name, partitions, specht_dimension
from agattn.algebra.echelon import rational_matrix
from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.algebra.rank import proved_rank
from agattn.architectures import Architecture, SingleLayer, as_layer
from agattn.architectures.model_file import Studied
from agattn.calls import positive_integer
from agattn.errors import InputError, TooLargeError, argument
from agattn.evidence import Evidence, Method
from agattn.geometry.ideal.equations import (
    HIGHEST_WEIGHT,
    PARTITIONS,
    Equation,
    EquationModule,
    Point,
    modules_table,
    shortened,
)
from agattn.geometry.ideal.generators import family_of, highest_weight_generators, name_of
from agattn.geometry.ideal.isotypic import Shape, shapes
from agattn.geometry.ideal.weight_spaces import (
    LARGEST_SPECHT_MODULE,
    Multiplicities,
    bytes_by_modules,
    modules_by_weights,
    modules_of_image,
    multiplicities,
    one_token_image,
    ring_of_layer,
    seconds_by_modules,
    seconds_by_weights,
)
from agattn.geometry.variety.coordinates import Coordinate, coordinate_ring, coordinates
from agattn.geometry.variety.degree import degree_is_below, expected_degree
from agattn.limits import limits, takes
from agattn.memory import allow, number_allowed
from agattn.sheet.data import Cell, Lines, Math, Note, Sheet, Table, tensor_product
from agattn.sheet.result import (
    PROVED_OR_MODULAR,
    Count,
    Described,
    Key,
    Named,
    Positive,
    Result,
    Written,
    field,
    key,
)
from agattn.workers import number_of_workers, processes

#: The longest computation in weight spaces that is begun unless forced, in seconds as they are estimated.
LONGEST_IN_WEIGHT_SPACES = 3600
#: For t = 1, the largest space of all polynomials of one degree.
LARGEST_DEGREE_PIECE = 200_000
#: The last degree for t ≥ 2, beyond which integers of Specht modules leave their bounds, and for t = 1.
MOST_DEGREES, MOST_DEGREES_ONE_TOKEN = 10, 100
#: A degree of M̄ with more digits than this is left out: JSON readers refuse such integers.
MOST_DIGITS = 4000

#: What equal ideals have in common.
_FACTS = attrgetter("layer", "dimension", "degree", "generators_by_degree", "tangent_dimension")

_NAMES = {1: "linear form", 2: "quadric", 3: "cubic", 4: "quartic", 5: "quintic", 6: "sextic"}


#: Of the coordinates, by their letter.
LEGEND = {
    "y": "y_(c,b,i,k): coefficient of u_i u_k in V_c·A_b; S(λ)⊗S(μ)⊗S(ν): module of GL(d')×GL(d)×GL(d).",
    "z": "z_(c,i,j,k): coefficient of x_i x_j x_k in entry c; S(λ)⊗S(μ): module of GL(d')×GL(d).",
}
#: Modules beyond this many are not shown with their equations.
_MOST_MODULES = 20
#: The ways to a degree: matrices of Specht modules, one module at a time; weight spaces or multidegrees
#: modulo a prime; that the ideal of a hypersurface is principal; and that M̄ is everything.
Way = Literal["modules", "weight spaces", "multidegrees", "hypersurface", "whole space"]

#: How evidence is written that is no floating point.


class Isotypic(Result):
    """One module S_λ ⊗ S_μ ⊗ S_ν (S_λ ⊗ S_ν for t = 1) in one degree, and how often it occurs where.

    ``ring`` is its multiplicity in the polynomial ring.
    """

    shapes: Key[tuple[Partition, ...], HIGHEST_WEIGHT, Named("highest_weight"), PARTITIONS]
    dimension: Key[Positive, "The dimension of the irreducible module."]
    ring: int
    coordinate_ring: Key[Count, "The multiplicity of the module in the coordinate ring."]
    minimal_generators: Key[Count, "The multiplicity of the module among the minimal generators."]

    @key
    def ideal(self) -> Count:
        """The multiplicity of the module in the ideal."""
        return self.ring - self.coordinate_ring

    def summary(self) -> str:
        return module_name(self.shapes)


class DegreePiece(Result):
    """One degree of the ideal and of the coordinate ring: their dimensions, and the number of generators.

    Natively the evidence is proved for t ≥ 2. For t = 1 it is modular where equations could not be lifted to
    ℤ. The modules are those of the polynomial ring, highest weights first.
    """

    degree: Key[Positive, "The degree n."]
    ideal_dimension: Key[Count, "The number of independent equations of degree n."]
    hilbert_function: Key[Count, "The dimension of the coordinate ring in degree n."]
    minimal_generators: Key[Count, "The number of minimal generators of degree n."]
    evidence: Key[Evidence, "How the result is known.", PROVED_OR_MODULAR]
    modules: Key[
        tuple[Isotypic, ...] | None, "The irreducible modules of degree n; null where not computed."
    ] = None
    way: Key[Way | None, "Which computation found this degree; null from an engine."] = None

    def summary(self) -> str:
        """The degree and the number of equations."""
        return f"degree {self.degree}: {self.ideal_dimension} equations"


def known_whole(
    degrees: Sequence[DegreePiece], dimension: int | None, affine: bool = False
) -> Literal["hypersurface", "whole space"] | None:
    """Whether M̄ is all of the span of its points, or a hypersurface there whose equation was found.

    The ideal of an irreducible hypersurface is principal, and what has the lowest degree in it generates it.

    Args:
        degrees: all degrees up to some degree.
        dimension: the proved dimension of M̄; ``None`` where none is known.
        affine: whether there is a coordinate y_0 = 1 besides.
    """
    if not degrees or dimension is None:
        return None
    codimension = degrees[0].hilbert_function - dimension - affine
    if codimension == 0:
        return "whole space"
    found = any(piece.minimal_generators for piece in degrees[1:])
    proved = all(piece.evidence is Evidence.PROVED for piece in degrees)
    return "hypersurface" if codimension == 1 and found and proved else None


def principal_function(degrees: Sequence[DegreePiece], n: int) -> int:
    """The Hilbert function in degree n where :func:`known_whole`: of all forms, without multiples of one."""
    variables = degrees[0].hilbert_function
    k = next((piece.degree for piece in degrees[1:] if piece.minimal_generators), n + 1)
    return comb(variables + n - 1, n) - (comb(variables + n - k - 1, n - k) if n >= k else 0)


def counted_pieces(
    generators: Iterable[Equation], coordinates: int, hilbert_function: Iterable[int], evidence: Evidence
) -> tuple[DegreePiece, ...]:
    """The pieces of an ideal with these minimal generators and Hilbert function in degrees 1, 2, ...."""
    counts = Counter(equation.degree for equation in generators)
    return tuple(
        DegreePiece(n, comb(coordinates + n - 1, n) - value, value, counts[n], evidence)
        for n, value in enumerate(hilbert_function, 1)
    )


class IdealByDegree(Described, Sequence[Equation]):
    """What is known of an ideal up to a degree: the pieces, and equations that generate it so far.

    It is the sequence of its minimal generators, lowest degree first.
    """

    dimension: int | None
    degrees: tuple[DegreePiece, ...]
    whole: tuple[Equation, ...] | None
    characteristic: int
    affine: bool = False

    @key
    def complete_by(self) -> Literal["elimination", "hypersurface", "whole space"] | None:
        """How it is known that there are no further generators; null where it is not known."""
        if self.whole is not None:
            return "elimination"
        return known_whole(self.degrees, self.dimension, self.affine)

    @property
    def name(self) -> str:
        """The name of the architecture."""
        raise NotImplementedError

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The indices of the coordinates of the ambient space."""
        raise NotImplementedError

    @property
    def ring(self) -> PolynomialRing:
        """The ring of polynomials in all coordinates."""
        raise NotImplementedError

    @property
    def generators(self) -> Sequence[Iterable[Equation]]:
        """The groups of minimal generators."""
        raise NotImplementedError

    @property
    def max_degree(self) -> int:
        """The last degree that was computed."""
        return len(self.degrees)

    @property
    def generators_by_degree(self) -> dict[int, int]:
        """The number of minimal generators of each degree that has any."""
        if self.whole is not None:
            return dict(sorted(Counter(equation.degree for equation in self.whole).items()))
        return {piece.degree: piece.minimal_generators for piece in self.degrees if piece.minimal_generators}

    def hilbert_function(self, n: int) -> int:
        """The dimension of the coordinate ring in degree n ≤ ``max_degree``.

        Raises:
            InputError: if that degree was not computed.
        """
        return 1 if n == 0 else self._piece(n).hilbert_function

    def _piece(self, n: int) -> DegreePiece:
        if not 1 <= n <= self.max_degree:
            raise InputError(f"degree {n} was not computed, as max_degree was {self.max_degree}")
        return self.degrees[n - 1]

    def __iter__(self) -> Iterator[Equation]:
        if self.whole is not None:
            yield from self.whole
        for group in self.generators:
            yield from group

    def __len__(self) -> int:
        return sum(self.generators_by_degree.values())

    @overload
    def __getitem__(self, n: int) -> Equation: ...

    @overload
    def __getitem__(self, n: slice) -> list[Equation]: ...

    def __getitem__(self, n: int | slice) -> Equation | list[Equation]:
        """The n-th minimal generator, from 0, or some of them, as for a list."""
        if isinstance(n, slice):
            return list(self)[n]
        place = n + len(self) if n < 0 else n
        if not 0 <= place < len(self):
            raise IndexError(f"{self.name}: there are {len(self)} equations, not {n + 1}")
        return next(islice(self, place, None))

    def contains(self, point: Sequence[Any]) -> bool:
        """Whether a point satisfies all equations found; exact.

        A point that fails is not in M̄. One that passes lies on the variety cut out by the equations up to
        ``max_degree``, which may be larger.

        Args:
            point: one exact number for each of the ``coordinates``.

        Raises:
            InputError: if the point has the wrong length, or the ideal is over a finite field.
        """
        if len(point) != len(self.coordinates):
            raise InputError(
                f"the point has {len(point)} coordinates; {self.name} needs {len(self.coordinates)}"
            )
        if self.characteristic:
            raise InputError(f"the ideal is over ZZ/{self.characteristic}; only an ideal over QQ decides")
        values = dict(zip(self.coordinates, point, strict=True))
        return not any(equation.value(values) for equation in self)

    def listing(self) -> Sheet:
        """What a terminal shows: the degrees, and equations of every group of minimal generators."""
        rows = [("n", "equations", "Hilbert function", "minimal generators", "evidence")]
        for p in self.degrees:
            counts = (p.degree, p.ideal_dimension, p.hilbert_function, p.minimal_generators)
            rows.append((*map(str, counts), str(p.evidence)))  # type: ignore[arg-type]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = (
            "   ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )
        return Sheet(
            self._heading(), tuple(map(Note, ("\n".join(lines), *self._listed(), *self._complete())))
        )

    def _heading(self) -> str:
        """What the ideal is of, in a line."""
        raise NotImplementedError

    def _listed(self) -> Iterator[str]:
        """The groups of minimal generators, a paragraph for each."""
        raise NotImplementedError

    def _complete(self) -> Iterator[str]:
        """That nothing is missing, where elimination or the dimension says so; and which ways were taken."""
        if self.complete_by == "hypersurface":
            [degree] = self.generators_by_degree.keys() - {1}
            yield (
                f"complete: the equation of degree {degree} generates all, as M̄ is irreducible and has "
                "codimension 1 in the span of its points (proved)"
            )
        if self.complete_by == "whole space":
            yield "complete: M̄ is all of the span of its points (proved)"
        if self.whole is not None:
            degrees = ", ".join(f"{many} of degree {n}" for n, many in self.generators_by_degree.items())
            field = f"ZZ/{self.characteristic}" if self.characteristic else "QQ"
            found = f"elimination finds all of I(M̄); generators: {degrees or 'none'}"
            yield f"complete: {found} (over {field}: {self.degrees[0].evidence})"

    def summary(self) -> str:
        """The number of minimal generators of each degree."""
        counts = [
            f"{number} {_NAMES.get(n, f'equation of degree {n}')}{'s' * (number > 1 and n in _NAMES)}"
            for n, number in self.generators_by_degree.items()
        ]
        known = f" to degree {self.max_degree}" if self.whole is None else ""
        return f"Ideal of {self.name}{known}: {', '.join(counts) or 'no equations'}"


class Ideal(IdealByDegree, Result, name="ideal", eq=False):
    """The ideal of M̄: up to a degree, by native computation, or whole, by elimination in an engine.

    It is the sequence of its minimal generators, lowest degree first; ``generators`` has their modules, which
    give equations, too. Engines know no modules. Two ideals are equal if they have the same dimension,
    degree, numbers of generators and dimensions of tangent spaces.

    The degree of M̄ is left out if it has more than :data:`MOST_DIGITS` digits, too.

    Attributes:
        whole: minimal generators of the whole ideal; ``None`` if only those up to a degree are known.
        tangent_dimension: of the tangent spaces at the points where they were asked for.
        characteristic: of the field: 0 for ℚ, or a prime.
        given: the network of one layer that was asked about, if the layer was written as a network.
    """

    layer: SingleLayer
    dimension: Key[Positive, "The dimension of the neuromanifold."]
    degree: Key[Positive | None, "The degree of its Zariski closure; null for t = 1, without a formula."]
    degrees: Key[tuple[DegreePiece, ...], "One entry for each degree of the ideal."]
    method: Key[str, "Who computed the table.", Written(Method)] = "native"
    whole: tuple[Equation, ...] | None = None
    tangent_dimension: Mapping[Any, int] = field(default_factory=dict)
    characteristic: int = 0
    given: Architecture | None = None

    @classmethod
    def eliminated(
        cls,
        layer: SingleLayer,
        dimension: int,
        degree: int,
        generators: Sequence[Polynomial],
        hilbert_function: Sequence[int] = (),
        *,
        characteristic: int = 0,
        method: str = "",
        evidence: Evidence = Evidence.PROVED,
        points: Mapping[Any, Point] | None = None,
    ) -> Ideal:
        """The whole ideal as an engine found it.

        Args:
            layer, dimension, degree, method, characteristic: as attributes.
            evidence: how the engine knows.
            generators: all minimal generators, which are not checked here.
            hilbert_function: the dimension of the coordinate ring in degrees 1, 2, ....
            points: points by name, of which the tangent spaces are computed.
        """
        whole = tuple(Equation.from_polynomial(f, type(layer)) for f in generators)
        names = coordinates(layer)
        pieces = counted_pieces(whole, len(names), hilbert_function, evidence)
        tangents = {
            name: len(names) - gradient_rank(whole, point, characteristic)
            for name, point in (points or {}).items()
        }
        return cls(layer, dimension, degree, pieces, method, whole, tangents, characteristic)

    @property
    def name(self) -> str:
        """The name of the layer."""
        return self.layer.name

    @key
    def architecture(self) -> Studied:
        """The layer, or the network of one layer that was given."""
        return self.given or self.layer

    @property
    def ring(self) -> PolynomialRing:
        """The ring of polynomials in all coordinates."""
        return coordinate_ring(self.layer)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The indices of the coordinates of the ambient space, counted from 1."""
        return coordinates(self.layer)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ideal) and _FACTS(self) == _FACTS(other)

    def __ne__(self, other: object) -> bool:
        return not self == other  # a struct has its own

    def modules(self, n: int, of: str = "ideal") -> dict[tuple[Partition, ...], int]:
        """The modules in degree n of one thing, and their multiplicities.

        Raises:
            InputError: if that degree was not computed, or ``of`` is not ``"ideal"``, ``"coordinate_ring"``,
                ``"minimal_generators"`` or ``"ring"``.
        """
        if of not in ("ideal", "coordinate_ring", "minimal_generators", "ring"):
            raise InputError(f"of is {of!r}; use 'ideal', 'coordinate_ring', 'minimal_generators' or 'ring'")
        return {m.shapes: getattr(m, of) for m in self._piece(n).modules or () if getattr(m, of)}

    @cached_property
    def generators(self) -> tuple[EquationModule, ...]:
        """The modules of minimal generators, each with its highest weight vector over ℤ, proved to vanish."""
        found: list[EquationModule] = []
        for module in (module for piece in self.degrees for module in piece.modules or ()):
            if module.minimal_generators:
                key, sizes = module.shapes, self.layer.gl_sizes
                vectors = highest_weight_generators(key, self.layer)
                name = name_of(key, self.layer) if len(vectors) == 1 else ""
                family = family_of(key, self.layer)
                found += [EquationModule(key, sizes, vector, name, family) for vector in vectors]
        return tuple(found)

    @key
    def ambient(self) -> Positive:
        """N, the number of coordinates."""
        return self.layer.ambient_dimension

    @key(name="generators")
    def modules_found(self) -> tuple[EquationModule, ...] | None:
        """Highest weight vectors that generate; null if not asked for."""
        return None if self.whole is not None else self.generators

    def sheet(self) -> Sheet:
        """The degrees, and the modules of minimal generators where these are few."""
        rows: list[tuple[Cell, ...]] = []
        for piece in self.degrees:
            modules = Lines(
                tuple(
                    Math(
                        (f"{m.minimal_generators} \\cdot " if m.minimal_generators > 1 else "")
                        + rf"{tensor_product(m.shapes)} \quad (\dim {m.dimension})"
                    )
                    for m in piece.modules or ()
                    if m.minimal_generators
                )
            )
            counts = (piece.ideal_dimension, piece.hilbert_function, piece.minimal_generators)
            rows.append((piece.degree, *counts, modules))
        headings = ("degree", "equations", "Hilbert function", "minimal generators",
                    "modules of minimal generators")  # fmt: skip
        evidence = f" ({self.degrees[0].evidence})" if self.degrees else ""
        few = sum(m.minimal_generators > 0 for p in self.degrees for m in p.modules or ()) <= _MOST_MODULES
        generators = self.generators_tables() if few else []
        table = Table(f"{self.summary()}{evidence}", headings, tuple(rows))
        return Sheet(self.summary(), (table, *generators))

    def _heading(self) -> str:
        return f"{self.layer}" + ("" if self.degree is None else f", degree {self.degree}")

    def _listed(self) -> Iterator[str]:
        modules = self.modules_found or ()
        if modules:
            yield LEGEND[self.layer.letter]
        for module in modules:
            lines = [f"degree {module.degree}, dimension {module.dimension}: {module}"]
            lines += [f"  {module.name}"] if module.name else []
            if self.layer.d_out == 1 and self.layer.has_orbits:
                lines.append(f"  named invariants: {module.family or 'none'}")
            yield "\n".join([*lines, f"  {shortened(module.highest)}"])

    def generators_tables(self) -> list[Table]:
        """One equation of each module of minimal generators, if there are any.

        >>> [table] = compute_ideal(SingleLayer(3, 1), 3).generators_tables()
        >>> [row[1:3] for row in table.rows]
        [(3, 10), (3, 10)]
        """
        caption = "One equation of each module of minimal generators: its highest weight vector"
        return [modules_table(caption, self.generators)] if self.generators else []


def gradient_rank(equations: Sequence[Equation], point: Point, characteristic: int) -> int:
    """The rank of the Jacobian of some equations at a point, exactly."""
    gradients = [gradient for equation in equations if (gradient := equation.gradient(point))]
    columns = sorted({index for gradient in gradients for index in gradient})
    rows = [[gradient.get(index, 0) for index in columns] for gradient in gradients]
    if characteristic:
        return int(flint.nmod_mat([[int(x) for x in row] for row in rows], characteristic).rank())
    return proved_rank(rational_matrix(rows, len(columns)))


@takes("seed", "force", "workers")
def compute_ideal(architecture: Architecture, max_degree: int) -> Ideal:
    """The ideal of M̄ up to a degree, with its modules; generators are written out when asked for.

    For t ≥ 2 each degree is found from Specht modules or from weight spaces, whichever is estimated to be
    faster, and the degrees after that of the equation of a hypersurface from this equation.

    Args:
        architecture: a layer, or a network that is one; for t ≥ 2 of any size.
        max_degree: the last degree.
        seed: of random points, on which numbers for t = 1 depend, and how fast others are found.

    Raises:
        InputError: if ``max_degree`` is not a positive whole number, or the architecture is no layer.
        TooLargeError: before starting, if the last degree is beyond the stated limits, or before a step that
            would take more memory than is allowed.
    """
    if (layer := as_layer(architecture)) is None:
        raise InputError(f"{architecture} is no layer of one lightning head")
    max_degree = positive_integer("max_degree", max_degree)
    degree = expected_degree(layer) if layer.has_orbits and degree_is_below(layer, MOST_DIGITS) else None
    given = None if architecture is layer else architecture
    if layer.has_orbits:
        pieces = tuple(_pieces(layer, max_degree, degree))
    else:
        if not limits().force:
            _check_size_one_token(layer, max_degree)
        pieces = tuple(_pieces_one_token(layer, max_degree))
    return Ideal(layer, layer.expected_dimension, degree, pieces, given=given)


def _pieces(layer: SingleLayer, last: int, degree: int | None) -> Iterator[DegreePiece]:
    """The degrees of a layer with t ≥ 2."""
    if last > MOST_DEGREES and not limits().force:
        raise TooLargeError(
            f"the last degree is {last}; the limit is {MOST_DEGREES}. Lower {argument('max_degree')}"
        )
    hypersurface = layer.ambient_dimension - layer.expected_dimension == 1
    # The one equation of a hypersurface has the degree of it.
    needed = min(last, degree) if hypersurface and degree else last
    found: list[DegreePiece] = []
    way = _cheaper_way(layer, needed)
    if way == "modules":
        need, what = bytes_by_modules(layer, needed), f"degree {needed}: the matrices of Specht modules"
        allow(need, what)
        workers = number_of_workers(seconds_by_modules(layer, needed) / _OVERESTIMATED)
        every = _by_modules(layer, needed, number_allowed(workers, need, what))
    else:
        every = modules_by_weights(layer, needed)
    for n, modules in enumerate(every, 1):
        found.append(piece_of_modules(layer, n, modules, Evidence.PROVED, way))
    for n in range(needed + 1, last + 1):
        found.append(_multiples(layer, n, found))
    yield from found


def _cheaper_way(layer: SingleLayer, last: int) -> Literal["modules", "weight spaces"]:
    """What is estimated to be faster, of what is within the limits.

    Raises:
        TooLargeError: if neither way is.
    """
    sizes = ((n, k) for n in range(1, last + 1) for n, k in ((n, layer.d_out), (2 * n, layer.d)))
    largest = max(specht_dimension(nu) for n, k in sizes for nu in partitions(n, min(k, n)))
    fits = limits().force or largest <= LARGEST_SPECHT_MODULE
    if fits and last <= _SMALL_DEGREE:
        return "modules"
    seconds = seconds_by_weights(layer, last)
    if fits and seconds_by_modules(layer, last) <= seconds:
        return "modules"
    if not fits and seconds > LONGEST_IN_WEIGHT_SPACES:
        raise TooLargeError(
            f"degree {last} for d = {layer.d}, d' = {layer.d_out} needs matrices of {largest} rows; the "
            f"limit is {LARGEST_SPECHT_MODULE}. Lower {argument('max_degree')}, or use "
            f"{argument('force', True)}"
        )
    return "weight spaces"


#: How many times less than estimated Specht modules may take.
_OVERESTIMATED = 7.5
#: Up to this degree Specht modules are small, and always faster.
_SMALL_DEGREE = 4


def _by_modules(layer: SingleLayer, last: int, workers: int) -> Iterator[dict[Shape, Multiplicities]]:
    """The modules of each degree, one at a time."""
    with processes(workers) if workers > 1 else nullcontext() as pool:
        run = pool.map if pool else map
        for n in range(1, last + 1):
            largest_first = sorted(partitions(2 * n, layer.d), key=specht_dimension, reverse=True)
            modules = dict(chain.from_iterable(run(partial(_with_pairs, layer), largest_first)))
            yield {shape: modules[shape] for shape in shapes(n, layer.d_out, layer.d)}


def _with_pairs(layer: SingleLayer, nu: Partition) -> list[tuple[Shape, Multiplicities]]:
    """The modules with this ν, which share its pair invariants."""
    n = sum(nu) // 2
    chosen = product(partitions(n, layer.d_out), partitions(n, layer.d), [nu])
    return [(shape, multiplicities(shape, layer.alpha)) for shape in chosen]


def _pieces_one_token(layer: SingleLayer, last: int) -> Iterator[DegreePiece]:
    """The degrees of a layer with t = 1."""
    if layer.expected_dimension == layer.ambient_dimension:
        for n in range(1, last + 1):
            every = {key: Multiplicities(many, many, 0) for key, many in ring_of_layer(layer, n).items()}
            yield piece_of_modules(layer, n, every, Evidence.PROVED, "whole space")
        return
    for degree in modules_of_image(one_token_image(layer, last), last):
        yield piece_of_modules(layer, *degree, "weight spaces")


def _multiples(layer: SingleLayer, n: int, known: Sequence[DegreePiece]) -> DegreePiece:
    """A degree of the ideal of a hypersurface: the multiples of its equation.

    The equation spans a module of dimension one, so that its products with the modules of degree n − k are
    these with its weight added.
    """
    if known_whole(known, layer.expected_dimension) != "hypersurface":
        raise ArithmeticError(f"{layer.name}: the equation of a hypersurface was not found")
    [top] = (m for piece in known for m in piece.modules or () if m.minimal_generators)
    factors = ring_of_layer(layer, n - sum(top.shapes[0]))
    multiples = {
        tuple(_sum_of(part, more) for part, more in zip(shape, top.shapes, strict=True)): many
        for shape, many in factors.items()
    }
    return piece_of_modules(
        layer,
        n,
        {
            shape: Multiplicities(many, many - multiples.get(shape, 0), 0)
            for shape, many in ring_of_layer(layer, n).items()
        },
        Evidence.PROVED,
        "hypersurface",
    )


def _sum_of(first: Partition, second: Partition) -> Partition:
    """The sum of two partitions row by row."""
    return tuple(map(sum, zip_longest(first, second, fillvalue=0)))


def _check_size_one_token(layer: SingleLayer, max_degree: int) -> None:
    """Refuse a degree for t = 1 if it, or a smaller degree, is too large; higher degrees are not counted."""
    if max_degree > MOST_DEGREES_ONE_TOKEN:
        raise TooLargeError(
            f"the last degree is {max_degree}; the limit is {MOST_DEGREES_ONE_TOKEN}. Lower "
            f"{argument('max_degree')}"
        )
    for n in range(1, max_degree + 1):
        size = comb(layer.ambient_dimension + n - 1, n)
        if size > LARGEST_DEGREE_PIECE:
            raise TooLargeError(
                f"at t = 1, degree {n} in {layer.ambient_dimension} coordinates has {size} monomials; the "
                f"limit is {LARGEST_DEGREE_PIECE}. Lower {argument('max_degree')}, or use "
                f"{argument('force', True)}"
            )


def piece_of_modules(
    layer: SingleLayer, n: int, found: Mapping[Any, Multiplicities], evidence: Evidence, way: Way
) -> DegreePiece:
    """One degree of an ideal in the coordinates of a layer, from the multiplicities of its modules.

    None is missing: the dimensions of those of the polynomial ring add up to that of all polynomials.
    """
    modules = tuple(
        Isotypic(key, module_dimension(key, layer.gl_sizes), *numbers)
        for key, numbers in found.items()
        if numbers.ring
    )
    total, expected = sum(m.dimension * m.ring for m in modules), comb(layer.ambient_dimension + n - 1, n)
    if total != expected:
        raise ArithmeticError(f"the modules of degree {n} add up to {total}, not to {expected}")
    hilbert_function = sum(m.dimension * m.coordinate_ring for m in modules)
    generators = sum(m.dimension * m.minimal_generators for m in modules)
    return DegreePiece(n, expected - hilbert_function, hilbert_function, generators, evidence, modules, way)
