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

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

from agattn.algebra.characters import Partition, module_dimension, partitions, specht_dimension
from agattn.architectures import SingleLayer, positive_integer
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.ideal.equation_modules import Equation, EquationModule
from agattn.geometry.ideal.generators import highest_weight_generators
from agattn.geometry.ideal.graded import GradedIdeal
from agattn.geometry.ideal.isotypic import component, shapes
from agattn.geometry.ideal.names import name_of
from agattn.geometry.variety.coordinates import coordinates
from agattn.notebook import InNotebooks, Math, Table, tensor_product

#: The largest Specht module that is computed with unless forced; degree 5 needs 768, degree 6 up to 7700.
LARGEST_SPECHT_MODULE = 1500
#: For t = 1, the largest space of all polynomials of one degree.
LARGEST_DEGREE_PIECE = 200_000

#: The most modules of generators of which a notebook shows an equation.
_MOST_SHOWN = 20

_NAMES = {1: "linear form", 2: "quadric", 3: "cubic", 4: "quartic", 5: "quintic", 6: "sextic"}


@dataclass(frozen=True)
class Isotypic:
    """One module S_λ ⊗ S_μ ⊗ S_ν (S_λ ⊗ S_ν for t = 1) in one degree, and how often it occurs where.

    Attributes:
        shapes: its highest weight, a partition for each factor of the group.
        dimension: its dimension.
        ring: its multiplicity in the polynomial ring.
        coordinate_ring: its multiplicity in the coordinate ring of M̄.
        minimal_generators: its multiplicity in the minimal generators of the ideal.
    """

    shapes: tuple[Partition, ...]
    dimension: int
    ring: int
    coordinate_ring: int
    minimal_generators: int

    @property
    def ideal(self) -> int:
        """The multiplicity in the ideal."""
        return self.ring - self.coordinate_ring

    def __str__(self) -> str:
        return "⊗".join(f"S({','.join(map(str, part))})" for part in self.shapes)

    def as_json(self) -> dict[str, object]:
        """The module as JSON-ready data."""
        return {
            "highest_weight": [list(part) for part in self.shapes],
            "dimension": self.dimension,
            "ideal": self.ideal,
            "coordinate_ring": self.coordinate_ring,
            "minimal_generators": self.minimal_generators,
        }


@dataclass(frozen=True)
class DegreePiece:
    """One degree of the ideal and of the coordinate ring.

    Attributes:
        degree: the degree n.
        modules: every module of the polynomial ring in this degree, highest weights first.
        evidence: proved for t ≥ 2, all ranks being exact; modular for t = 1.
    """

    degree: int
    modules: tuple[Isotypic, ...]
    evidence: Evidence

    @cached_property
    def ideal_dimension(self) -> int:
        """The number of linearly independent equations of degree n."""
        return sum(m.dimension * m.ideal for m in self.modules)

    @cached_property
    def hilbert_function(self) -> int:
        """The dimension of the coordinate ring in degree n."""
        return sum(m.dimension * m.coordinate_ring for m in self.modules)

    @cached_property
    def minimal_generators(self) -> int:
        """The number of minimal generators of degree n."""
        return sum(m.dimension * m.minimal_generators for m in self.modules)

    def as_json(self) -> dict[str, object]:
        """The piece as JSON-ready data."""
        return {
            "degree": self.degree,
            "ideal_dimension": self.ideal_dimension,
            "hilbert_function": self.hilbert_function,
            "minimal_generators": self.minimal_generators,
            "modules": [m.as_json() for m in self.modules],
            "evidence": self.evidence.value,
        }


class Ideal(InNotebooks):
    """The ideal of M̄ up to a degree.

    Iterating over it gives its modules of minimal generators, lowest degree first; iterating over one of
    those gives its equations.

    Attributes:
        layer: the architecture.
        degrees: the pieces, from degree 1 on.
    """

    def __init__(
        self, layer: SingleLayer, degrees: Sequence[DegreePiece], graded: GradedIdeal | None
    ) -> None:
        self.layer = layer
        self.degrees = tuple(degrees)
        self._graded = graded

    @property
    def max_degree(self) -> int:
        """The last degree that was computed."""
        return len(self.degrees)

    def hilbert_function(self, n: int) -> int:
        """The dimension of the coordinate ring in degree n ≤ ``max_degree``.

        Raises:
            InputError: if that degree was not computed.
        """
        return 1 if n == 0 else self._piece(n).hilbert_function

    def modules(self, n: int, of: str = "ideal") -> dict[tuple[Partition, ...], int]:
        """The modules in degree n and their multiplicities.

        Args:
            n: the degree, at most ``max_degree``.
            of: ``"ideal"``, ``"coordinate_ring"``, ``"minimal_generators"`` or ``"ring"``.

        Raises:
            InputError: if that degree was not computed, or ``of`` is something else.
        """
        if of not in ("ideal", "coordinate_ring", "minimal_generators", "ring"):
            raise InputError(f"of is {of!r}; use 'ideal', 'coordinate_ring', 'minimal_generators' or 'ring'")
        return {m.shapes: getattr(m, of) for m in self._piece(n).modules if getattr(m, of)}

    def _piece(self, n: int) -> DegreePiece:
        if not 1 <= n <= self.max_degree:
            raise InputError(f"degree {n} was not computed; this ideal is known to degree {self.max_degree}")
        return self.degrees[n - 1]

    @cached_property
    def generators(self) -> tuple[EquationModule, ...]:
        """The modules of minimal generators, each with its highest weight vector over ℤ, proved to vanish."""
        found = []
        for piece in self.degrees:
            for module in piece.modules:
                if not module.minimal_generators:
                    continue
                vectors = highest_weight_generators(module.shapes, self.layer, self._graded)
                name = name_of(module.shapes, self.layer) if len(vectors) == 1 else ""
                sizes = group_sizes(self.layer)
                found += [EquationModule(module.shapes, sizes, vector, name) for vector in vectors]
        return tuple(found)

    def __iter__(self) -> Iterator[EquationModule]:
        return iter(self.generators)

    def equations(self) -> Iterator[Equation]:
        """All minimal generators, one by one: a basis of each module in turn."""
        for module in self.generators:
            yield from module

    def contains(self, point: Sequence[Fraction | int]) -> bool:
        """Whether a point satisfies all equations found; exact.

        Args:
            point: one exact number for each coordinate, in the order of
                ``agattn.geometry.variety.coordinates``.

        Raises:
            InputError: if the point has the wrong length.

        A point that fails is not in M̄. One that passes lies on the variety cut out by the equations up to
        ``max_degree``, which may be larger.
        """
        if len(point) != self.layer.ambient_dimension:
            raise InputError(
                f"the point has {len(point)} coordinates; {self.layer} needs {self.layer.ambient_dimension}"
            )
        values = {
            tuple(i - 1 for i in index): Fraction(value)
            for index, value in zip(coordinates(self.layer), point, strict=True)
        }
        return all(_value(equation, values) == 0 for equation in self.equations())

    def as_json(self) -> dict[str, object]:
        """The degrees and the highest weight vectors as JSON-ready data."""
        return {"degrees": [piece.as_json() for piece in self.degrees]}

    def __str__(self) -> str:
        counts = [
            f"{piece.minimal_generators} {_NAMES.get(piece.degree, f'equation of degree {piece.degree}')}"
            + ("s" if piece.minimal_generators > 1 and piece.degree in _NAMES else "")
            for piece in self.degrees
            if piece.minimal_generators
        ]
        name = str(self.layer).split(":")[0]
        return f"Ideal of {name} to degree {self.max_degree}: {', '.join(counts) or 'no equations'}"

    __repr__ = __str__

    def _notebook(self) -> Table:
        headings = ("degree", "Hilbert function", "equations", "minimal generators", "their modules")
        rows = tuple(
            (p.degree, p.hilbert_function, p.ideal_dimension, p.minimal_generators, Math(_sum(p)))
            for p in self.degrees
        )
        return Table(f"{self} ({self.degrees[0].evidence})", headings, rows)

    def _repr_html_(self) -> str:
        """The degrees, and one equation of each module of minimal generators if they are not too many."""
        text = super()._repr_html_()
        if 1 <= sum(m.minimal_generators > 0 for p in self.degrees for m in p.modules) <= _MOST_SHOWN:
            rows = tuple(module.notebook_row() for module in self.generators)
            headings = ("module", "dimension", "what it says", "highest weight vector")
            text += Table("One equation of each module of minimal generators", headings, rows).html()
        return text


def _sum(piece: DegreePiece) -> str:
    """The modules of the minimal generators of one degree, in LaTeX."""
    terms = [
        (f"{m.minimal_generators} \\cdot " if m.minimal_generators > 1 else "") + tensor_product(m.shapes)
        for m in piece.modules
        if m.minimal_generators
    ]
    return r" \oplus ".join(terms) or "0"


def _value(equation: Equation, values: dict[tuple[int, ...], Fraction]) -> Fraction:
    total = Fraction(0)
    for monomial, coefficient in equation.terms.items():
        product = Fraction(coefficient)
        for index in monomial:
            product *= values[index]
        total += product
    return total


def group_sizes(layer: SingleLayer) -> tuple[int, ...]:
    """The sizes of the factors of the group: d', d, d, or for t = 1 d', d."""
    return (layer.d_out, layer.d) if layer.t == 1 else (layer.d_out, layer.d, layer.d)


def compute_ideal(
    layer: SingleLayer, max_degree: int, *, workers: int = 1, seed: int = 0, force: bool = False
) -> Ideal:
    """The ideal of M̄ up to a degree, with its modules; generators are written out when asked for.

    Args:
        layer: the architecture; for t ≥ 2 of any size.
        max_degree: the last degree.
        workers: the number of processes that share the modules (t ≥ 2).
        seed: for t = 1, the seed of the random points.
        force: compute however long it takes.

    Raises:
        InputError: if ``max_degree`` or ``workers`` is not a positive whole number.
        TooLargeError: before starting, if the last degree is beyond the stated limits.
    """
    max_degree, workers = positive_integer("max_degree", max_degree), positive_integer("workers", workers)
    if layer.t == 1:
        return _one_token(layer, max_degree, seed, force)
    largest = max((specht_dimension(nu) for nu in partitions(2 * max_degree, layer.d)), default=1)
    if largest > LARGEST_SPECHT_MODULE and not force:
        raise TooLargeError(
            f"degree {max_degree} for d = {layer.d} needs matrices of {largest} rows; "
            f"the limit is {LARGEST_SPECHT_MODULE}. Lower --max-degree, or use --force"
        )
    pool: Any = ProcessPoolExecutor(workers) if workers > 1 else nullcontext()
    with pool as executor:
        pieces = [_piece(layer, degree, executor) for degree in range(1, max_degree + 1)]
    return Ideal(layer, pieces, None)


def _piece(layer: SingleLayer, degree: int, executor: Executor | None) -> DegreePiece:
    wanted = list(shapes(degree, layer.d_out, layer.d))
    tasks = [(tuple(shape), layer.alpha) for shape in wanted]
    counts = (
        map(_multiplicities, tasks) if executor is None else executor.map(_multiplicities, tasks, chunksize=4)
    )
    sizes = group_sizes(layer)
    modules = tuple(
        Isotypic(tuple(shape), module_dimension(shape, sizes), *numbers)
        for shape, numbers in zip(wanted, counts, strict=True)
        if numbers[0]
    )
    _check_total(layer, degree, modules)
    return DegreePiece(degree, modules, Evidence.PROVED)


def _multiplicities(task: tuple[Any, int]) -> tuple[int, int, int]:
    shape, alpha = task
    space = component(shape)
    return space.ring, space.coordinate(alpha), space.minimal_generators(alpha)


def _check_total(layer: SingleLayer, degree: int, modules: Sequence[Isotypic]) -> None:
    """Each multiplicity in the polynomial ring was found as a number of independent vectors, so none is too
    large; as their dimensions add up to that of all polynomials, none is too small either.
    """  # fmt: skip
    total = sum(m.dimension * m.ring for m in modules)
    expected = comb(layer.ambient_dimension + degree - 1, degree)
    if total != expected:
        raise ArithmeticError(f"the modules of degree {degree} add up to {total}, not to {expected}")


def _one_token(layer: SingleLayer, max_degree: int, seed: int, force: bool) -> Ideal:
    size = comb(layer.ambient_dimension + max_degree - 1, max_degree)
    if size > LARGEST_DEGREE_PIECE and not force:
        raise TooLargeError(
            f"at t = 1, degree {max_degree} in {layer.ambient_dimension} coordinates has {size} monomials; "
            f"the limit is {LARGEST_DEGREE_PIECE}. Lower --max-degree, or use --force"
        )
    graded = GradedIdeal(layer, seed)
    pieces = []
    for degree in range(1, max_degree + 1):
        ring, coordinate, generators = graded.characters(degree)
        modules = tuple(
            Isotypic(
                key,
                module_dimension(key, graded.factors),
                ring[key],
                coordinate.get(key, 0),
                generators.get(key, 0),
            )
            for key in ring
        )
        _check_total(layer, degree, modules)
        pieces.append(DegreePiece(degree, modules, Evidence.MODULAR))
    return Ideal(layer, pieces, graded)
