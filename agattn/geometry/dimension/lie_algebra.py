r"""All linear symmetries of a parametrization θ ↦ φ_θ, found by linear algebra: a Lie algebra, with proof.

The n × n matrices B with dφ(θ)·Bθ = 0 for all parameters θ ∈ ℝⁿ are the Lie algebra 𝔤 of the group of all
linear maps g with φ(gθ) = φ(θ). They are the kernel of a linear system: a random θ, input X and cotangent c
give one equation Σ J_i θ_j B_ij = 0, with J the gradient of ⟨c, φ_θ(X)⟩.

*The system falls apart.* If weights w make φ homogeneous (:mod:`agattn.algebra.graded_ideals`), the torus s ↦
s^w moves symmetries to symmetries, so that 𝔤 is the sum of its parts in the spaces of the E_ij with one
value of w_i − w_j. Each part has a system of its own.

*No more than was found: proved.* The equations have rational coefficients, and modulo a prime p that divides
no denominator their rank is at most that over ℚ. So dim 𝔤 is at most the nullity modulo p.

*No less: proved.* The kernel modulo p has a basis in echelon form, which is lifted to ℚ. Each B found is
proved by symbols (:mod:`agattn.geometry.dimension.lie_algebra`); where they are too long it is checked at
random points modulo other primes, and the evidence is modular.

So the fibers of θ ↦ φ_θ through general θ have at least the dimension of the orbit, the rank of all Bθ.

>>> from agattn import DeepNetwork, SingleLayer
>>> found = linear_symmetries(SingleLayer(3, 2, 2))
>>> print(found)
M(3,2,2): 5 linear symmetries, sl(2) + center of dimension 2; orbits of dimension 5 (proved)
>>> one_token = linear_symmetries(DeepNetwork((3, 2), (2,), t=1))
>>> one_token.dimension, str(one_token.structure), [(f.name, f.dimension) for f in one_token.families]
(7, 'sl(2) + sl(2) + center of dimension 1', [('GL(a)', 4), ('scaling', 1), ('new', 2)])
>>> print(one_token.generators[-1])
Q_1[1,·] → K_1[2,·], Q_1[2,·] → −K_1[1,·]

That a linear vector field on the parameters does not change the function, proved by symbols.

The architecture evaluates itself at θ + εBθ with ε² = 0: every scalar is a pair of polynomials in the
entries of θ and X, its value and its change. B is a symmetry if and only if the outputs do not change.
Expanded in θ and X their values are far too long for more than one layer. But the values on the way may be
given new symbols: let v_1, ..., v_m be the values of the entries of a product, and e_1, ..., e_m their
changes. If there are rational numbers with

    e_k = c_k1 v_1 + ... + c_km v_m    for all k,

found by exact linear algebra on the coefficients, new symbols z_1, ..., z_m take the place of the v_k, and
the c_kl z_l add up to the new e_k. If the outputs do not change as polynomials in old and new symbols, they
do not after the v_k are put in for the z_k: proved. (The converse fails, so this finds proofs and refutes
nothing.)

>>> from agattn import DeepNetwork
>>> from agattn.geometry.dimension.symmetries import symmetry_matrices
>>> network = DeepNetwork((2, 2, 2), (1, 2), t=2)
>>> all(leaves_unchanged(network, B) for of_one in symmetry_matrices(network) for B in of_one)
True
>>> leaves_unchanged(DeepNetwork((2, 1), (1,), t=2), {(0, 0): 1})
False
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial, reduce
from math import lcm, log2, prod
from operator import and_
from typing import Any

import flint
import numpy as np

from agattn.algebra.arithmetic import Array, EvaluationEnded, ModularArithmetic, RingArithmetic
from agattn.algebra.echelon import independent_vectors
from agattn.algebra.graded_ideals import Monomial, Relation, homogeneous_weights
from agattn.algebra.lie_algebras import Sparse, Structure, structure
from agattn.algebra.residues import (
    PRIME_BITS,
    Residues,
    RowSpace,
    chance_of_dividing,
    hadamard,
    nonzero_minor,
    random_prime,
    random_primes,
    random_residues,
    rational_number,
)
from agattn.architectures import Architecture, draw_parameters
from agattn.architectures.contractions import Evaluated
from agattn.architectures.model_file import STUDIED, Studied
from agattn.architectures.protocol import as_rows, bounds_on_outputs
from agattn.errors import DisagreementError, InputError
from agattn.evidence import Evidence, weakest
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.symmetries import full_index, symmetry_matrices
from agattn.limits import limits, log, refuse, steps, takes
from agattn.sheet.data import Note, Sheet, Table, Wide, Word
from agattn.sheet.result import Count, Key, Meta, Named, Result, Written, key

#: The most parameters without ``force``: there are n² unknowns.
MAX_PARAMETERS = 600
#: The most tokens: every entry of XᵀAX is multiplied out.
MAX_TOKENS = 30
#: Degrees in weights and inputs together: that of nine layers of attention is 49,203.
MAX_DEGREE = 50_000
#: The most unknowns of one system.
MAX_UNKNOWNS = 6000
#: The brackets of larger Lie algebras are not computed.
MAX_BRACKETS = 200

# Random equations beyond as many as there are unknowns.
_SURPLUS = 8
# Systems of more unknowns are solved one by one, smaller ones of one size together.
_SMALL = 48
# Entries of matrices that are eliminated together.
_TOGETHER = 2_000_000
# Points modulo primes at which every matrix is checked.
_POINTS = 4


_ENTRIES = Written(
    list[tuple[Count, Count, str]], lambda matrix: [[i, j, str(x)] for (i, j), x in sorted(matrix.items())]
)


class Generator(Result):
    """An n × n matrix B with dφ(θ)·Bθ = 0 for all θ.

    Of the vector field θ ↦ Bθ a part such as "K_1[1,2,·] → −Q_1[1,1,·]" says that the derivative of each
    entry on the left is the one on the right; what is not named stays. Rows and columns of B are counted over
    all parameters.
    """

    matrix: Key[Sparse, "The entries of B: row, column (both from 0) and value.", Named("entries"), _ENTRIES]
    moves: Key[str, "The vector field by arrays, with indices from 1."]
    evidence: Key[Evidence, "How the result is known."]
    family: Key[str, "The name of the family to which the generator belongs."]

    def summary(self) -> str:
        """The vector field."""
        return self.moves


class SymmetryFamily(Result):
    """The generators of one known symmetry that are independent of those before it, or the new ones."""

    name: Key[str, "The known symmetry, or `new`."]
    arrays: Key[tuple[str, ...], "The parts of the parameters that the symmetry moves."]
    generators: tuple[Generator, ...]

    @key
    def dimension(self) -> Count:
        """The number of its generators that are independent of those of the symmetries before it."""
        return len(self.generators)

    def summary(self) -> str:
        """The name and the dimension."""
        return f"{self.name}: dimension {self.dimension}"


class LinearSymmetries(Result, name="symmetries"):
    """The Lie algebra of all linear symmetries of a parametrization.

    Attributes:
        systems: the number of systems that the equations for the entries of B fall apart into.
        prime: the one modulo which these were solved.
    """

    architecture: Key[Studied, STUDIED]
    families: Key[tuple[SymmetryFamily, ...], "The generators by known symmetry, and those that are new."]
    at_most: Key[Count, "The dimension is at most this: proved."]
    orbit_dimension: Key[Count, "The dimension of the orbit of general parameters: proved."]
    systems: int
    prime: int
    error: Key[
        float,
        "If modular: a bound on the chance that some generator is no symmetry.",
        Named("error_probability"),
        Meta(ge=0, le=1),
    ]

    @key
    def parameters(self) -> Count:
        """The number of parameters n: B is an n × n matrix."""
        return self.architecture.parameters

    @key
    def generators(self) -> tuple[Generator, ...]:
        """A basis of the Lie algebra."""
        return tuple(itertools.chain.from_iterable(family.generators for family in self.families))

    @key
    def dimension(self) -> Count:
        """The dimension of the Lie algebra: the number of generators."""
        return len(self.generators)

    @cached_property
    def structure(self) -> Structure | None:
        """Dimensions of ideals, and the type; ``None`` beyond :data:`MAX_BRACKETS` generators."""
        return structure([g.matrix for g in self.generators]) if self.dimension <= MAX_BRACKETS else None

    @key
    def type(self) -> str | None:
        """The simple parts and the center of the Lie algebra; null where it is too large to tell."""
        return None if self.structure is None else str(self.structure)

    @key
    def center(self) -> Count | None:
        """The dimension of the center."""
        return None if self.structure is None else self.structure.center

    @key
    def derived(self) -> Count | None:
        """The dimension of the span of all brackets."""
        return None if self.structure is None else self.structure.derived

    @key
    def radical(self) -> Count | None:
        """The dimension of the largest solvable ideal."""
        return None if self.structure is None else self.structure.radical

    @property
    def new(self) -> tuple[Generator, ...]:
        """Those that belong to no known symmetry."""
        return tuple(g for g in self.generators if g.family == NEW)

    @key
    def evidence(self) -> Evidence:
        """How the result is known: `proved` if every generator is, and that there are no more."""
        ways = [Evidence.PROVED if self.dimension == self.at_most else Evidence.MODULAR]
        return weakest([*ways, *(g.evidence for g in self.generators)])

    def summary(self) -> str:
        """The number of symmetries, their Lie algebra, and the dimension of orbits."""
        kind = "" if self.structure is None or not self.dimension else f", {self.structure}"
        count = f"{self.dimension} linear symmetr{'y' if self.dimension == 1 else 'ies'}"
        name = self.architecture.name
        return f"{name}: {count}{kind}; orbits of dimension {self.orbit_dimension} ({self.evidence})"

    def sheet(self) -> Sheet:
        """The families, the new generators, and what follows for the dimension."""
        title, n = self.summary(), self.architecture.parameters
        rows = tuple((f.name, f.dimension, ", ".join(f.arrays)) for f in self.families)
        headings = ("symmetry", "dimension", Wide("moves"))
        parts: list[Table | Note] = [Table(title, headings, rows, where="" if rows else "page")]
        if self.new:
            moves = tuple((g.moves, Word(str(g.evidence))) for g in self.new)
            parts.append(Table("New generators", (Wide("vector field"), "evidence"), moves, where="page"))
            doubts = ("" if g.evidence is Evidence.PROVED else f" ({g.evidence})" for g in self.new)
            lines = (f"  {g}{more}" for g, more in zip(self.new, doubts, strict=True))
            parts.append(Note("\n".join(["New, as θ' = Bθ:", *lines])))
        parts.append(
            Note(
                f"At most {self.at_most}: the rank of {self.systems} linear systems for the {n * n} "
                f"entries of B modulo {self.prime}.\n"
                f"Dimension of the neuromanifold: at most {n - self.orbit_dimension}, the {n} parameters "
                f"minus {self.orbit_dimension}."
            )
        )
        return Sheet(title, tuple(parts))


#: The name of the family of generators that belong to no known symmetry.
NEW = "new"


@takes("seed", "force", "progress")
def linear_symmetries(architecture: Architecture) -> LinearSymmetries:
    r"""All linear symmetries of the parametrization of an architecture: a Lie algebra, with a proof.

    They are the matrices B for which the parameters θ + εBθ give the same function as θ to first order, for
    all θ: the solutions of a linear system, which is solved modulo a prime and lifted. It is proved that no
    others exist. Each generator is proved as well, by polynomials in symbols, unless these get too large. The
    symmetries with a name are named, and all other generators are listed as new.

    Args:
        architecture: a lightning layer or network, or anything polynomial with the members of
            :class:`agattn.architectures.protocol.Architecture`.
        seed: of all random choices. It never changes what is proved, only (rarely) whether.

    Raises:
        InputError: if it is no architecture, or no polynomial.
        TooLargeError: if it has more parameters, tokens or a larger degree than the limits of
            :mod:`agattn.geometry.dimension.lie_algebra`, or a system has more unknowns.
        DisagreementError: if the architecture declares a symmetry that changes the function.

    See Also:
        :func:`agattn.dimension`, :func:`agattn.fiber`; ``agattn symmetries`` in a shell.

    >>> import agattn as ag
    >>> algebra = ag.symmetries(ag.DeepNetwork((3, 1, 2), (2, 2), t=2))
    >>> algebra
    M(3,1,2; 2,2), t = 2: 13 linear symmetries, sl(2) + sl(2) + sl(2) + center of dimension 4; orbits of
    dimension 10 (proved)
    >>> for generator in algebra.new:
    ...     print(generator)
    K_2[1,·] → Q_2[2,·], K_2[2,·] → −Q_2[1,·]
    Q_2[1,·] → K_2[2,·], Q_2[2,·] → −K_2[1,·]
    """
    if architecture.degree is None:
        raise InputError(
            f"{architecture} is no polynomial in its weights; linear symmetries are found for polynomial"
            " architectures, such as lightning attention"
        )
    n, t = architecture.parameters, architecture.t
    sizes = (n, MAX_PARAMETERS, "parameters"), (t, MAX_TOKENS, "tokens")
    for size, limit, what in (*sizes, (architecture.degree, MAX_DEGREE, "as its degree")):
        if size > limit:
            name = architecture.name[:80]
            refuse(f"{name} has {size} {what}; linear symmetries are found for at most {limit}")
    generator = np.random.default_rng(limits().seed)
    p = next(random_primes(int(generator.integers(2**31))))
    solved = _Systems(architecture, p, generator, n * n if limits().force else MAX_UNKNOWNS)
    log.info(f"solving {solved.count} linear systems")
    lifted = sorted(solved.kernel(), key=sorted)
    points = [_Point(architecture, random_prime(generator), generator) for _ in range(_POINTS)]
    symmetries = [B for B in lifted if B and all(point.is_symmetry(B) for point in points)]
    families = _families(architecture, symmetries, points)
    generators = [g for family in families for g in family.generators]
    proved = [g.matrix for g in generators if g.evidence is Evidence.PROVED]
    doubtful = [g.matrix for g in generators if g.evidence is not Evidence.PROVED]
    error = min(1.0, sum((_error(architecture, B) for B in doubtful), 0.0))
    if len(generators) > solved.nullity:
        raise DisagreementError(
            f"{architecture} has {len(generators)} linear symmetries and at most {solved.nullity};"
            " one of the two is wrong, please report it"
        )
    return LinearSymmetries(
        architecture=architecture,
        families=tuple(families),
        at_most=solved.nullity,
        orbit_dimension=_orbit_dimension(architecture, proved, generator),
        systems=solved.count,
        prime=p,
        error=error,
    )


def _orbit_dimension(architecture: Architecture, basis: Sequence[Sparse], generator: Any) -> int:
    """The rank of all Bθ at a random θ modulo a prime: a proved lower bound over ℚ."""
    if not basis:
        return 0
    p = random_prime(generator)
    theta = generator.integers(0, p, architecture.parameters).tolist()
    return nonzero_minor(np.array([applied(B, theta, p) for B in basis], dtype=np.float64), p).rank


def applied(B: Sparse, theta: Sequence[int], p: int, rows: int | None = None) -> list[int]:
    """Bθ modulo a prime that divides no denominator, for B with so many rows; square by default."""
    moved = [0] * (len(theta) if rows is None else rows)
    for (i, j), x in B.items():
        moved[i] += x.numerator * pow(x.denominator, -1, p) * theta[j]
    return [x % p for x in moved]


class _Point:
    """A random point modulo a prime: parameters, and the gradient of one combination of outputs there."""

    def __init__(self, architecture: Architecture, p: int, generator: np.random.Generator) -> None:
        self.p = p
        J, theta = _gradients(architecture, p, 1, generator)
        self.gradient, self.theta = J[0].astype(int).tolist(), theta[0].astype(int).tolist()

    def is_symmetry(self, B: Sparse) -> bool:
        """Whether Bθ is in the kernel of the gradient."""
        moved = applied(B, self.theta, self.p)
        return not sum(x * y for x, y in zip(self.gradient, moved, strict=True)) % self.p


def _gradients(
    architecture: Architecture, p: int, rows: int, generator: np.random.Generator
) -> tuple[Residues, Residues]:
    """Gradients of ⟨c, φ_θ(X)⟩ at random (θ, X, c) modulo p, and the θ; both (rows, parameters)."""
    blocks = []
    for start in range(0, rows, 256):
        k = min(256, rows - start)

        def random(shape: tuple[int, ...], k: int = k) -> Residues:
            return random_residues(generator, (k, *shape), p)

        theta = draw_parameters(architecture, random)
        X, cotangents = random(architecture.input_shape), random((1, *architecture.output_shape))
        J = jacobian(architecture, theta, X, ModularArithmetic(p), cotangents)
        blocks.append((np.asarray(J, dtype=np.float64) % p, as_rows(architecture, theta)))
    J, flat = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return J, flat


class _Systems:
    """The linear systems for B modulo p, one for each value of w_i − w_j."""

    def __init__(self, architecture: Architecture, p: int, generator: np.random.Generator, most: int) -> None:
        self.p, self.nullity = p, 0
        n = architecture.parameters
        _, relations, count = at_monomials(architecture, weighted_inputs=True)
        w = homogeneous_weights(relations, count, generator)[:n]
        differences = (w[:, None] - w[None, :]).ravel()
        self._places = np.argsort(differences, kind="stable")
        _, starts, sizes = np.unique(differences[self._places], return_index=True, return_counts=True)
        self._starts, self._sizes, self._n, self.count = starts, sizes, n, len(sizes)
        if sizes.max() > most:
            systems = f"systems of up to {sizes.max()} unknowns; the limit is {most}"
            refuse(f"the entries of a linear symmetry of {architecture} solve {systems}")
        self._J, self._theta = _gradients(architecture, p, int(sizes.max()) + _SURPLUS, generator)

    def kernel(self) -> Iterator[Sparse]:
        """A basis of the matrices that solve all systems, lifted to ℚ; empty ones where that fails."""
        for m in np.unique(self._sizes).tolist():
            starts = self._starts[self._sizes == m]
            at_once = max(1, _TOGETHER // (m * (m + _SURPLUS)))
            for first in range(0, len(starts), at_once):
                chosen = self._places[starts[first : first + at_once, None] + np.arange(m)]
                yield from self._solved(chosen)

    def _solved(self, places: np.ndarray) -> Iterator[Sparse]:
        """The solutions of systems with equally many unknowns, whose places are in the rows."""
        rows, columns = np.divmod(places, self._n)
        m = places.shape[1]
        k = m + _SURPLUS
        J, theta = (a[:k][:, index].swapaxes(0, 1) for a, index in ((self._J, rows), (self._theta, columns)))
        equations = hadamard(J, theta, self.p)
        kernels = _large_kernels if m > _SMALL else _small_kernels
        for number, kernel in kernels(equations, self.p):
            self.nullity += len(kernel)
            i, j = rows[number].tolist(), columns[number].tolist()
            yield from (self._lifted(vector, i, j) for vector in kernel)

    def _lifted(self, vector: Residues, i: list[int], j: list[int]) -> Sparse:
        B: Sparse = {}
        for position in np.flatnonzero(vector).tolist():
            if (x := rational_number(int(vector[position]), self.p)) is None:
                return {}
            B[i[position], j[position]] = x
        scale = lcm(*(x.denominator for x in B.values())) * (1 if B[min(B)] > 0 else -1)
        return {position: int(x * scale) for position, x in sorted(B.items())}


def at_monomials(architecture: Architecture, weighted_inputs: bool) -> tuple[list[Any], set[Relation], int]:
    """φ at parameters with unknown weights: its outputs, the relations of weights, and the number of these.

    The weights of the parameters come first; inputs have weights as well, or weight 0.
    """
    relations: set[Relation] = set()
    numbers = itertools.count()

    def monomials(shape: tuple[int, ...], weighted: bool = True) -> Array:
        array = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            array[index] = Monomial({next(numbers): 1} if weighted else {}, relations)
        return array

    parameters = draw_parameters(architecture, monomials)
    X = monomials((1, *architecture.input_shape), weighted_inputs)
    out = np.asarray(architecture.evaluate(RingArithmetic(), parameters, X)).ravel().tolist()
    return out, relations, next(numbers)


def _large_kernels(equations: Residues, p: int) -> Iterator[tuple[int, Residues]]:
    """Bases of the kernels of those in a stack of matrices modulo p that have one, with their numbers."""
    for number, system in enumerate(equations):
        space = RowSpace(system.shape[1], p)
        space.add(system)
        if space.rank < system.shape[1]:
            yield number, space.kernel()


def _small_kernels(equations: Residues, p: int) -> Iterator[tuple[int, Residues]]:
    """The same by FLINT, which takes less time for small matrices."""
    count, k, m = equations.shape
    # Most systems have one unknown, which is 0 unless all coefficients are.
    numbers = np.flatnonzero(~equations.any(axis=(1, 2))).tolist() if m == 1 else range(count)
    entries = equations.astype(np.int64).reshape(count, -1)
    for number in numbers:
        system = flint.nmod_mat(k, m, entries[number].tolist(), p)
        if system.rank() < m:
            basis, nullity = system.nullspace()
            rows = [[int(basis[i, j]) for i in range(m)] for j in range(nullity)]
            yield number, np.array(rows, dtype=np.float64)


def _families(
    architecture: Architecture, others: Sequence[Sparse], points: Sequence[_Point]
) -> list[SymmetryFamily]:
    """A basis of the span of the known symmetries and of other ones, which come last, all of integers."""
    known = symmetry_matrices(architecture)
    for symmetry, matrices in zip(architecture.symmetries, known, strict=True):
        if not all(point.is_symmetry(B) for B in matrices for point in points):
            raise DisagreementError(
                f"{architecture} declares the symmetry {symmetry.name}, which changes the function;"
                " correct its symmetries"
            )
    groups = [*known, others]
    vectors = ({entry: int(x) for entry, x in B.items()} for group in groups for B in group)
    kept = set(independent_vectors(vectors))
    shown, numbers, families = _Moves(architecture), itertools.count(), []
    for symmetry, group in itertools.zip_longest(architecture.symmetries, groups):
        basis = [B for B, number in zip(group, numbers, strict=False) if number in kept]
        generators, name = [], NEW if symmetry is None else symmetry.name
        for B in steps(basis, len(basis), lambda _: f"proving {name}"):  # noqa: B023, named at once
            proved = leaves_unchanged(architecture, B)
            known_by = Evidence.PROVED if proved else Evidence.MODULAR
            generators.append(Generator(B, shown.text(B), known_by, name))
        if symmetry is not None:
            parts = (shown.part(acted.parameter, acted.index) for acted in symmetry.on)
            families.append(SymmetryFamily(name, tuple(dict.fromkeys(parts)), tuple(generators)))
        elif basis:
            families.append(SymmetryFamily(name, shown.arrays(basis), tuple(generators)))
    return families


def _error(architecture: Architecture, B: Sparse) -> float:
    """A bound on the chance that a matrix that is no symmetry passes at all points.

    The polynomial ⟨c, dφ(θ)·Bθ⟩ has the degree of φ, and one more in c.
    """
    degree = (architecture.degree or 0) + 1
    size = bounds_on_outputs(architecture).sum().log2 + log2(degree * sum(abs(int(x)) for x in B.values()))
    once = min(1.0, degree / 2 ** (PRIME_BITS - 1) + chance_of_dividing(size))
    return float(once**_POINTS)


class _Moves:
    """Entries of the parameters by name."""

    def __init__(self, architecture: Architecture) -> None:
        self.shapes = architecture.shapes
        self._entries = [(name, index) for name, shape in self.shapes.items() for index in np.ndindex(*shape)]

    def arrays(self, matrices: Sequence[Sparse]) -> tuple[str, ...]:
        """The arrays that some matrices move."""
        moved = {self._entries[i][0] for B in matrices for i, _ in B}
        return tuple(name for name in self.shapes if name in moved)

    def part(self, name: str, index: Sequence[Any]) -> str:
        """A part of an array as printed: with "·" for all indices, and without the index of a single head."""
        shape = self.shapes[name]
        words = [_counted(x) for x in full_index(index, len(shape))]
        words = words[1:] if len(shape) == 3 and shape[0] == 1 else words
        return name if set(words) <= {"·"} else f"{name}[{','.join(words)}]"

    def text(self, B: Sparse) -> str:
        """The vector field of a matrix; entries that move alike are taken together."""
        moves = {(*self._entries[i], *self._entries[j], x) for (i, j), x in B.items()}
        for axis in range(-1, -1 - max(map(len, self.shapes.values())), -1):
            alike: dict[Any, list[Any]] = {}
            for move in moves:
                name, to, other, of, x = move
                if min(len(to), len(of)) >= -axis and to[axis] == of[axis] != _ALL:
                    rest = (name, _with(to, axis), other, _with(of, axis), x)
                    if self.shapes[name][axis] == self.shapes[other][axis]:
                        alike.setdefault(rest, []).append(move)
            for rest, group in alike.items():
                if len(group) == self.shapes[rest[0]][axis]:
                    moves = (moves - set(group)) | {rest}
        order = list(self.shapes)
        terms: dict[str, str] = {}
        ordered = sorted(moves, key=lambda m: (order.index(m[0]), m[1], order.index(m[2]), m[3]))
        for name, to, other, of, x in ordered:
            part, factor = self.part(name, to), "" if abs(x) == 1 else f"{abs(x)} "
            sign = ("− " if x < 0 else "+ ") if part in terms else "−" * (x < 0)
            terms[part] = f"{terms[part]} " if part in terms else ""
            terms[part] += f"{sign}{factor}{self.part(other, of)}"
        return ", ".join(f"{part} → {moved}" for part, moved in terms.items())


# In place of an index: all of them.
_ALL = -1


def _counted(index: int | slice) -> str:
    """An index from 1, a range of them, or "·" for all."""
    if isinstance(index, slice):
        return "·" if index.stop is None else f"{(index.start or 0) + 1}–{index.stop}"
    return "·" if index == _ALL else str(int(index) + 1)


def _with(index: tuple[int, ...], axis: int) -> tuple[int, ...]:
    changed = list(index)
    changed[axis] = _ALL
    return tuple(changed)


# A polynomial by monomials, which are the numbers of their symbols in order. FLINT's have an exponent for
# every symbol, of which there are hundreds here, and few in each term.
_Polynomial = dict[tuple[int, ...], int | Fraction]

#: Products of terms in one evaluation, at first and at last: a tenth of a second, and seconds.
MOST_PRODUCTS = (20_000, 200_000)

#: Products of terms in the expansion of a function of the parameters.
MOST_EXPANDED = 2_000_000

# No value has so many terms that it gets new symbols.
_NEVER = MOST_EXPANDED + 1
# New symbols come in where a value has more terms than this, or if None in the last sums of layers alone. The
# second is whether they stay away from values of degree 1 in the parameters that move: where K moves by Q,
# nothing is seen of it once QX has new symbols.
_WAYS = ((1, False), (1, True), (16, False), (None, False))


def leaves_unchanged(architecture: Architecture, B: Sparse) -> bool:
    """Whether dφ(θ)·Bθ = 0 for all θ is proved by symbols, with new ones in one way or another.

    Args:
        architecture: any polynomial one.
        B: a square matrix, with rows and columns counted over the entries of all parameters.
    """
    moving = {index for place in B for index in place}
    ways = itertools.product(MOST_PRODUCTS, _WAYS)
    arithmetics = (_FirstOrder(n, moving if linear else set(), most) for most, (n, linear) in ways)
    return any(_changes_by(architecture, B, arithmetic, itertools.repeat(0)) for arithmetic in arithmetics)


def changes_by_factors(function: Evaluated, B: Sparse, factors: Sequence[int | Fraction | None]) -> bool:
    """Whether each entry of df(θ)·Bθ is a number times that entry of f(θ), proved by expanding both.

    Args:
        function: f, a function of the parameters with few terms.
        B: a square matrix, with rows and columns counted over the entries of all parameters.
        factors: the number for each entry; ``None`` for entries that may change in any way.

    >>> from agattn.architectures.functions import read_function
    >>> product = read_function("a b", {"a": (2, 1), "b": (1, 1)})  # a b, where b is multiplied by s³
    >>> changes_by_factors(product, {(2, 2): 3}, [3, 3]), changes_by_factors(product, {(2, 2): 3}, [3, 0])
    (True, False)
    """
    return _changes_by(function, B, _FirstOrder(_NEVER, set(), MOST_EXPANDED), factors)


def _changes_by(
    function: Evaluated, B: Sparse, arithmetic: _FirstOrder, factors: Iterable[int | Fraction | None]
) -> bool:
    """Whether each entry of df(θ)·Bθ is proved to be its factor, if one is given, times that of f(θ)."""
    scale = lcm(*(x.denominator for x in B.values()))
    changes: dict[int, _Polynomial] = {}
    for (i, j), x in B.items():
        changes.setdefault(i, {})[(j,)] = int(x * scale)
    symbols = arithmetic.symbols
    parameters = {}
    for name, shape in function.shapes.items():
        entries = [
            _Pair({(i,): 1}, changes.get(i, {}), arithmetic) for i in itertools.islice(symbols, prod(shape))
        ]
        parameters[name] = _array(entries, shape)
    shape = (1, *function.input_shape)
    inputs = [_Pair({(i,): 1}, {}, arithmetic) for i in itertools.islice(symbols, prod(shape))]
    try:
        out = function.evaluate(arithmetic, parameters, _array(inputs, shape))
    except _TooLongError:
        return False
    left = (
        _sum(pair.change, pair.value, -factor * scale) if factor else pair.change
        for pair, factor in zip(arithmetic.pairs(np.asarray(out)), factors, strict=False)
        if factor is not None
    )
    return arithmetic.most >= 0 and not any(left)


def _array(entries: list[Any], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


_moves = np.vectorize(lambda x: isinstance(x, _Pair) and bool(x.change), otypes=[bool])


def _dot(left: Array, right: Array) -> _Polynomial:
    """The value of a product of vectors."""
    total = sum(x * y for x, y in zip(left, right, strict=True))
    if isinstance(total, _Pair):
        return total.value
    return {(): _exact(total)} if total else {}


class _TooLongError(EvaluationEnded):
    """The polynomials have too many terms."""


class _FirstOrder(RingArithmetic):
    """Arithmetic of pairs that brings in new symbols for long values, or for a layer's last sum alone."""

    def __init__(self, longer_than: int | None, kept: set[int], most: int) -> None:
        self.longer_than, self.kept, self.most = longer_than, kept, most
        self.symbols: Iterator[int] = itertools.count()
        # Where no value gets new symbols, nothing need be known of most values.
        self.is_lazy = longer_than == _NEVER

    def matmul(self, a: Array, b: Array) -> Array:
        """Stacks of matrices."""
        if not self.is_lazy or min(a.ndim, b.ndim) < 2:
            return self._shortened(a @ b, self.longer_than)
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (a, b))
        out = np.empty((*stack, a.shape[-2], b.shape[-1]), dtype=object)
        for place in np.ndindex(stack):
            left, right = a[place], b[place]
            moves = _moves(left).any(axis=0) | _moves(right).any(axis=1)
            # What moves no factor of a product changes its value alone.
            changed = left[:, moves] @ right[moves]
            for i, j in np.ndindex(out.shape[-2:]):
                change = changed[i, j].change if isinstance(changed[i, j], _Pair) else {}
                out[(*place, i, j)] = _Pair(None, change, self, partial(_dot, left[i], right[:, j]))
        return self._shortened(out, self.longer_than)

    def times(self, a: Array, b: Array) -> Array:
        """Entrywise product."""
        return self._shortened(a * b, self.longer_than)

    def clean(self, a: Array) -> Array:
        """The last sum of a layer."""
        return self._shortened(a, self.longer_than or 1)

    def _shortened(self, a: Array, longer_than: int | None) -> Array:
        """The array in new symbols, if its values are long and their changes are combinations of them."""
        if self.most < 0:
            raise _TooLongError
        if self.is_lazy:
            return a
        pairs = self.pairs(a)
        if longer_than is None or all(len(pair.value) <= longer_than for pair in pairs):
            return a
        if self.kept and any(sum(s in self.kept for s in m) == 1 for pair in pairs for m in pair.value):
            return a
        echelon = _Echelon(self)
        values = [echelon.combination(pair.value, extend=True) for pair in pairs]
        changes = [echelon.combination(pair.change, extend=False) for pair in pairs]
        if any(change is None for change in changes):
            return a
        new = zip(values, changes, strict=True)
        return _array([_Pair(value or {}, change or {}, self) for value, change in new], a.shape)

    def pairs(self, a: Array) -> list[_Pair]:
        """The entries of an array; numbers do not change."""
        return [x if isinstance(x, _Pair) else _Pair({(): x} if x else {}, {}, self) for x in a.flat]

    def spend(self, products: int) -> bool:
        """Count products of terms, and say whether they may still be made."""
        self.most -= products
        return self.most >= 0


class _Echelon:
    """Polynomials in echelon form, each with what takes its place: a symbol times the monomial that it has.

    Two that are multiples of one polynomial by monomials get the same symbol, so that vectors that are
    multiples of one vector remain so.
    """

    def __init__(self, arithmetic: _FirstOrder) -> None:
        self.arithmetic = arithmetic
        self.rows: dict[tuple[int, ...], tuple[_Polynomial, tuple[int, ...]]] = {}
        self.symbols: dict[frozenset[tuple[tuple[int, ...], int | Fraction]], int] = {}

    def combination(self, f: _Polynomial, extend: bool) -> _Polynomial | None:
        """f in the symbols of the rows; a new row for what is left of it, or ``None``."""
        combined: _Polynomial = {}
        while f:
            leading = max(f)
            if leading not in self.rows:
                if not extend:
                    return None
                new = self._replacement(f)
                self.rows[leading] = f, new
                combined[new] = combined.get(new, 0) + 1
                break
            row, new = self.rows[leading]
            if not self.arithmetic.spend(len(row)):
                raise _TooLongError
            factor = _exact(Fraction(f[leading]) / row[leading])
            combined[new] = combined.get(new, 0) + factor
            f = _sum(f, row, -factor)
        return combined

    def _replacement(self, f: _Polynomial) -> tuple[int, ...]:
        """The monomial that takes the place of a polynomial: its greatest common one times a symbol."""
        common = reduce(and_, map(Counter, f))
        rest = frozenset((tuple((Counter(m) - common).elements()), x) for m, x in f.items())
        if rest not in self.symbols:
            self.symbols[rest] = next(self.arithmetic.symbols)
        return tuple(sorted((*common.elements(), self.symbols[rest])))


class _Pair:
    """A scalar's value and change.

    A value may wait until it is asked for: as a function that finds it, or as two parts, whose sum it is.
    """

    __slots__ = ("_value", "arithmetic", "change", "waiting")

    def __init__(
        self,
        value: _Polynomial | None,
        change: _Polynomial,
        arithmetic: _FirstOrder,
        waiting: Callable[[], _Polynomial] | tuple[_Pair, _Pair] | None = None,
    ) -> None:
        self._value, self.waiting = value, waiting
        self.change: _Polynomial = change
        self.arithmetic: _FirstOrder = arithmetic
        if waiting and not arithmetic.is_lazy:
            self._value = self.value

    @property
    def value(self) -> _Polynomial:
        """The polynomial."""
        if self._value is None:
            addends, node = [], self
            while node._value is None and isinstance(node.waiting, tuple):
                node, addend = node.waiting  # a sum of many is no deep recursion
                addends.append(addend)
            if node._value is None:
                assert callable(node.waiting)
                node._value = node.waiting()
            self._value = reduce(lambda total, addend: _sum(total, addend.value), addends[::-1], node._value)
        return self._value

    def __add__(self, other: Any) -> _Pair:
        if isinstance(other, _Pair):
            change = _sum(self.change, other.change) if other.change else self.change
            return _Pair(None, change, self.arithmetic, (self, other))
        return _Pair(_sum(self.value, {(): _exact(other)}), self.change, self.arithmetic) if other else self

    def __mul__(self, other: Any) -> _Pair:
        spend = self.arithmetic.spend
        if isinstance(other, _Pair):
            change: _Polynomial = {}
            if self.change:
                change = _product(self.change, other.value, spend)
            if other.change:
                change = _sum(change, _product(self.value, other.change, spend))
            return _Pair(None, change, self.arithmetic, lambda: _product(self.value, other.value, spend))
        number: _Polynomial = {(): _exact(other)} if other else {}
        value, change = (_product(f, number, spend) for f in (self.value, self.change))
        return _Pair(value, change, self.arithmetic)

    def __pow__(self, exponent: int) -> Any:
        return prod([self] * exponent) if exponent else 1

    def __neg__(self) -> _Pair:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, number: Any) -> _Pair:
        return self * (1 / Fraction(_exact(number)))

    __radd__, __rmul__ = __add__, __mul__


def _exact(number: Any) -> int | Fraction:
    x = Fraction(number)  # also of a float, which is the rational number that it stands for
    return x.numerator if x.denominator == 1 else x


def _sum(f: _Polynomial, g: _Polynomial, factor: int | Fraction = 1) -> _Polynomial:
    total = dict(f)
    for monomial, x in g.items():
        if y := total.get(monomial, 0) + factor * x:
            total[monomial] = y
        else:
            total.pop(monomial, None)
    return total


def _product(f: _Polynomial, g: _Polynomial, spend: Any) -> _Polynomial:
    total: _Polynomial = {}
    if not spend(len(f) * len(g)):  # an exception here would get lost in numpy's product of matrices
        return total
    for one, x in f.items():
        for other, y in g.items():
            monomial = tuple(sorted(one + other))
            total[monomial] = total.get(monomial, 0) + x * y
    return {monomial: x for monomial, x in total.items() if x}
