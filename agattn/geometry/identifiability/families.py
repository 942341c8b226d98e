r"""Families of weights with one function, through given weights: lower bounds of the fiber's dimension.

Let G be the group of the known symmetries of an architecture and W a linear space of weights with φ(w₀ + w) =
φ(w₀) for all w in W. Then G·(w₀ + W) lies in the fiber. Its dimension is the rank of the tangent vectors of G
at a general w₀ + w together with W, and such points are as near to w₀ as one likes. So the local dimension of
the fiber at w₀ is at least this rank at any one point, also modulo a prime: it can only be smaller there.

What W may be is found by trying, modulo a prime, and proved by evaluating the architecture at w₀ + Σ sᵢnᵢ
with symbols for the sᵢ and for all inputs: no term may contain an sᵢ.

>>> from agattn import SingleLayer
>>> layer = SingleLayer(2, 1, 1)
>>> at = ExactWeights(layer, {"K": [[1, 0]], "Q": [[0, 0]], "V": [[0, 0]]})
>>> orbit, family = at.orbit_dimension(), widest_family(at)
>>> orbit, family.dimension, family.evidence
(1, 4, <Evidence.PROVED: 'proved'>)
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, lcm, prod
from typing import Any

import numpy as np
from numpy.random import Generator

from agattn.algebra.arithmetic import Array, ModularArithmetic, RingArithmetic
from agattn.algebra.echelon import integer_kernel, rational_matrix
from agattn.algebra.lie_algebras import Sparse
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.algebra.residues import (
    Residues,
    RowSpace,
    chance_of_dividing,
    hadamard,
    matmul,
    nonzero_minor,
    random_prime,
    random_residues,
)
from agattn.algebra.scalars import scalars
from agattn.architectures import Architecture
from agattn.architectures.protocol import as_parameters, bounds_on_outputs, symmetry_tangents
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import MAX_SEARCHED, upper_bound
from agattn.geometry.dimension.formulas import Bound, network_bound, symmetry_bound
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.lie_algebra import applied, linear_symmetries
from agattn.limits import limits, takes
from agattn.sheet.result import Key, Positive, Result

Vector = tuple[Fraction | int, ...]
#: A family is proved by symbols if φ has no more monomials in the inputs; else modulo primes.
MOST_MONOMIALS = 60_000
#: Architectures with more parameters are not asked about: kernels of matrices with as many columns are taken.
MOST_PARAMETERS = 3_000
#: Architectures with more parameters are not searched for families.
MOST_SEARCHED = 400
#: Degrees above this are not told from a bound on them.
MOST_DEGREE = 10_000
#: Points modulo primes where symbols are too many.
POINTS = 6
# Rows of a differential at a time.
_TOGETHER = 384


class Moved(Result):
    """What symmetries of one name add to an orbit."""

    name: Key[str, "The name of known symmetries, or `new` for linear symmetries that were found."]
    dimension: Key[Positive, "By how much these symmetries enlarge the orbit of the symmetries before."]


def prime_for(numbers: Iterable[Fraction | int], generator: Generator) -> int:
    """A random prime that divides no denominator."""
    denominator = lcm(*(x.denominator for x in numbers))
    while not denominator % (p := random_prime(generator)):
        pass
    return p


def differential(architecture: Architecture, theta: Residues, p: int, generator: Generator) -> RowSpace:
    """The rows of the differential at weights modulo a prime: as many random ones as raise the rank."""
    n = len(theta)
    space, rows, at = RowSpace(n, p), min(n + 8, _TOGETHER), as_parameters(architecture, theta)
    while True:
        before = space.rank
        X = random_residues(generator, (rows, *architecture.input_shape), p)
        cotangents = random_residues(generator, (rows, 1, *architecture.output_shape), p)
        J = jacobian(architecture, at, X, ModularArithmetic(p), cotangents)
        space.add(np.asarray(J, dtype=np.float64) % p)
        if space.rank < before + rows or space.rank == n:
            return space


class ExactWeights:
    """Exact weights of an architecture: every float is the rational number that it stands for.

    Args:
        architecture: any polynomial one.
        given: an array for each parameter; of one head it may be a matrix.
        further: linear symmetries beyond the known ones, proved, as matrices B with dφ(θ)·Bθ = 0 for all θ.

    Raises:
        InputError: if the names or shapes are not those of the architecture, or it is no polynomial.
    """

    def __init__(
        self, architecture: Architecture, given: Mapping[str, Any], further: Sequence[Sparse] = ()
    ) -> None:
        if architecture.degree is None:
            raise InputError(f"{architecture} is no polynomial in its weights; leave out the normalization")
        shapes, listed = architecture.shapes, ", ".join(architecture.shapes)
        if not isinstance(given, Mapping):
            raise InputError(f"weights are given by {type(given).__name__}; give arrays by name: {listed}")
        for name in (*sorted(set(given) - set(shapes)), *sorted(set(shapes) - set(given))):
            text = f"the weights lack {name} of" if name in shapes else f"{name} is no parameter of"
            raise InputError(f"{text} {architecture.name}; its parameters are {listed}")
        flat: list[Fraction | int] = []
        for name, shape in shapes.items():
            array = scalars(given[name], name)
            if array.shape != shape and (1, *array.shape) != shape:
                raise InputError(f"{name} has the shape {array.shape}; it must be {shape}")
            exact = (Fraction(x) for x in array.ravel().tolist())
            flat += [x.numerator if x.denominator == 1 else x for x in exact]
        self.architecture, self.vector, self.further = architecture, tuple(flat), tuple(further)

    def at(self, flat: Array) -> ExactWeights:
        """Other weights of the same architecture, from a flat vector of parameters."""
        return ExactWeights(self.architecture, self.arrays(np.array(flat, dtype=object)), self.further)

    def moved(self, directions: Sequence[Vector], seed: int) -> ExactWeights:
        """The weights moved along all directions by small integers, none 0."""
        if not directions:
            return self
        factors = np.random.default_rng(seed + 1).choice([-3, -2, -1, 1, 2, 3], len(directions)).tolist()
        return self.at(self.along(directions, factors))

    def along(self, vectors: Sequence[Vector], factors: Sequence[Any]) -> Array:
        """The flat vector w₀ + Σ cᵢnᵢ, with factors of any kind; those that are not there are 0."""
        flat = np.array(self.vector, dtype=object)
        for factor, vector in zip(factors, vectors, strict=False):
            for i, x in enumerate(vector):
                if x:
                    flat[i] = flat[i] + factor * x
        return flat

    def arrays(self, flat: Array) -> dict[str, Array]:
        """The arrays of a flat vector of parameters, or with one axis more in front of them all."""
        return as_parameters(self.architecture, flat)

    def exact(self, vector: Vector | None = None) -> dict[str, Array]:
        """The arrays of the weights, or of another vector of parameters, with exact entries."""
        flat = np.empty(len(self.vector), dtype=object)
        flat[:] = self.vector if vector is None else vector
        return self.arrays(flat)

    def units(self, places: Sequence[int]) -> list[Vector]:
        """The unit vectors at some places among all parameters."""
        rows = np.zeros((len(places), len(self.vector)), dtype=int)
        rows[range(len(places)), list(places)] = 1
        return list(map(tuple, rows.tolist()))

    def units_of(self, names: Sequence[str]) -> list[Vector]:
        """The unit vectors of all entries of some arrays."""
        return self.units([i for name in names for i in self.places[name].tolist()])

    @cached_property
    def places(self) -> dict[str, Array]:
        """The numbers of the parameters in each array."""
        numbers = self.arrays(np.arange(len(self.vector)))
        return {name: array.ravel() for name, array in numbers.items()}

    def vectors_of(self, name: str, parts: Iterable[Array]) -> list[Vector]:
        """The vectors of parameters with these parts, of any shapes, in one array, and 0 elsewhere."""
        flat = np.array([part.ravel() for part in parts], dtype=object).reshape(-1, len(self.places[name]))
        rows = np.zeros((len(flat), len(self.vector)), dtype=object)
        rows[:, self.places[name]] = flat
        return list(map(tuple, rows.tolist()))

    def residues(self, p: int, vectors: Sequence[Vector] = ()) -> tuple[Residues, Residues]:
        """The weights and some vectors modulo a prime.

        Raises:
            ValueError: if the prime divides a denominator.
        """

        def row(vector: Vector) -> list[int]:
            return [x % p if type(x) is int else x.numerator * pow(x.denominator, -1, p) % p for x in vector]

        space = np.array([row(v) for v in vectors], dtype=np.float64).reshape(-1, len(self.vector))
        return np.array(row(self.vector), dtype=np.float64), space

    def prime(self, generator: Generator) -> int:
        """A random prime that divides no denominator."""
        return prime_for(self.vector, generator)

    def random_point(
        self, vectors: Sequence[Vector], p: int, generator: Generator, count: int = 1
    ) -> tuple[Residues, Residues]:
        """Random points w₀ + w modulo a prime, (count, parameters), and the vectors that span all w."""
        at, space = self.residues(p, vectors)
        moved: Residues = (at + matmul(random_residues(generator, (count, len(space)), p), space, p)) % p
        return moved, space

    @takes("seed")
    def differential_rank(self, most: int | None = None) -> int:
        """A proved lower bound on the rank of dφ at the weights, which is equal to it almost surely.

        Two primes are tried, or one if the rank is ``most``, a proved upper bound, with it.

        >>> from agattn import SingleLayer
        >>> matrices = {"K": [[1, 0]], "Q": [[0, 1]], "V": [[1, 2]]}
        >>> ExactWeights(SingleLayer(2, 1, 1), matrices).differential_rank()
        4
        """
        generator, best = np.random.default_rng(limits().seed), 0
        for _ in range(2):
            p = self.prime(generator)
            best = max(best, differential(self.architecture, self.residues(p)[0], p, generator).rank)
            if best == most:
                break
        return best

    def orbit_dimension(self, vectors: Sequence[Vector] = ()) -> int:
        """The dimension of G·(w₀ + span of the vectors), or less: a proved lower bound."""
        generator = np.random.default_rng(limits().seed)
        p = self.prime(generator)
        (at,), space = self.random_point(vectors, p, generator)
        return nonzero_minor(np.concatenate([self.tangents(p, at), space]), p).rank

    def orbit_by_name(self) -> tuple[Moved, ...]:
        """The dimension of the orbit, or less, by the names of the symmetries; those beyond are "new"."""
        generator = np.random.default_rng(limits().seed)
        p = self.prime(generator)
        rows = self.tangents(p)
        sizes = [(symmetry.name, symmetry.dimension) for symmetry in self.architecture.symmetries]
        names = [name for name, size in sizes for _ in range(size)] + ["new"] * len(self.further)
        counts = Counter(names[row] for row in nonzero_minor(rows, p).rows)
        return tuple(Moved(name, counts[name]) for name in dict.fromkeys(names) if counts[name])

    def tangents(self, p: int, at: Residues | None = None) -> Residues:
        """The tangent vectors of the symmetries modulo a prime, at these or other weights, as rows."""
        at = self.residues(p)[0] if at is None else at
        rows = symmetry_tangents(self.architecture, self.arrays(at), p)
        theta = at.astype(int).tolist() if self.further else []
        more = [applied(B, theta, p) for B in self.further]
        return np.concatenate([rows, np.array(more, dtype=np.float64).reshape(-1, len(at))])

    def degrees(self, generator: Generator) -> tuple[int, int]:
        """The degrees of φ in the inputs and in w − w₀, almost surely: to choose a method, not to prove.

        Beyond :data:`MOST_DEGREE` a bound stands for both.
        """
        architecture, p = self.architecture, self.prime(generator)
        most = architecture.degree or 0
        if most > MOST_DEGREE:
            return most, most
        scales = np.arange(most + 1, dtype=np.float64)[:, None]
        X = random_residues(generator, (1, prod(architecture.input_shape)), p)
        w, at = random_residues(generator, (1, len(self.vector)), p), self.residues(p)[0]

        def degree(weights: Residues, inputs: Residues) -> int:
            X = np.broadcast_to(inputs, (len(scales), inputs.shape[1]))
            w = np.broadcast_to(weights, (len(scales), weights.shape[1]))
            stacked = X.reshape(-1, *architecture.input_shape)
            out = architecture.evaluate(ModularArithmetic(p), self.arrays(w), stacked)
            # Newton's divided differences are 0 beyond the degree.
            table = np.asarray(out).reshape(len(scales), -1).astype(np.int64) % p
            highest = 0
            for order in range(1, len(scales)):
                table = np.diff(table, axis=0) % p * pow(order, -1, p) % p
                highest = order if table[0].any() else highest
            return highest

        return degree(at[None], hadamard(X, scales, p)), degree((at + hadamard(w, scales, p)) % p, X)

    def is_constant(self, vectors: Sequence[Vector], p: int, generator: Generator) -> bool:
        """Whether φ is the same at three random points of w₀ + span of the vectors, modulo a prime."""
        X = random_residues(generator, (3, *self.architecture.input_shape), p)
        moved, _ = self.random_point(vectors, p, generator, 3)
        fixed = np.repeat(self.residues(p)[0][None], 3, axis=0)
        both = self.arrays(np.concatenate([moved, fixed]))
        out = self.architecture.evaluate(ModularArithmetic(p), both, np.concatenate([X, X])) % p
        return bool((out[:3] == out[3:]).all())

    def expanded(self, vectors: Sequence[Vector] = ()) -> list[Any]:
        """The entries of φ(w₀ + Σ sᵢnᵢ) at general inputs, as polynomials in the sᵢ, then in the inputs."""
        places = general_inputs(self.architecture)
        names = [Variable("s", (i + 1,)) for i in range(len(vectors))]
        names += [Variable("x", (i + 1,)) for i in range(int(places.sum()))]
        ring = PolynomialRing(names)
        moved = self.along(vectors, ring.gens)
        X = np.zeros((1, *places.shape), dtype=int).astype(object)
        X[0, places] = ring.gens[len(vectors) :]
        out = self.architecture.evaluate(RingArithmetic(), self.arrays(moved), X)
        return [f + ring.zero() for f in np.asarray(out).ravel().tolist()]

    def chance(self, vectors: Sequence[Vector] = ()) -> float:
        """A bound on the probability that φ changes along vectors and does not at any of the points."""
        architecture, degree = self.architecture, self.architecture.degree or 0
        bits = max(abs(x.numerator).bit_length() for v in (self.vector, *vectors) for x in v) + len(vectors)
        denominators = lcm(*(x.denominator for x in self.vector)).bit_length()
        out = bounds_on_outputs(architecture, bits=float(bits + denominators))
        size = out.sum().log2 + degree * denominators
        return float(min(1.0, degree / 2**29 + chance_of_dividing(size + 1))) ** POINTS

    def kernel(self, vectors: Sequence[Vector], within: Sequence[int]) -> list[Vector]:
        """A basis over ℚ of the vectors in some coordinates that dφ takes to 0 at general points w₀ + w.

        The points have small integers w and inputs; a kernel that is too large is for the caller to see.
        """
        generator = np.random.default_rng(limits().seed)
        architecture, rows = self.architecture, len(within) + 4
        equations: list[list[Fraction | int]] = []
        for _ in range(2 if vectors else 1):
            at = self.along(vectors, generator.integers(-3, 4, len(vectors)).tolist())
            X = generator.integers(-3, 4, (rows, *architecture.input_shape)).astype(object)
            cotangents = generator.integers(-3, 4, (rows, 1, *architecture.output_shape)).astype(object)
            J = jacobian(architecture, self.arrays(at), X, RingArithmetic(), cotangents)[:, list(within)]
            equations += [[x if isinstance(x, Fraction) else int(x) for x in row] for row in J.tolist()]
        kernel = integer_kernel(rational_matrix(equations, len(within)))
        entries = (dict(zip(within, vector, strict=True)) for vector in kernel)
        return [tuple(of.get(i, 0) for i in range(len(self.vector))) for of in entries]


def with_all_symmetries(at: ExactWeights) -> ExactWeights:
    """The same weights with all linear symmetries that are found and proved, where there are few parameters.

    >>> from agattn.architectures import PolynomialMap
    >>> square = PolynomialMap(lambda v: [v[0] ** 2 + v[1] ** 2], {"v": 2})
    >>> at = ExactWeights(square, {"v": [1, 2]})
    >>> at.orbit_dimension(), with_all_symmetries(at).orbit_dimension()
    (0, 1)
    """
    if len(at.vector) > MAX_SEARCHED:
        return at
    with suppress(TooLargeError):
        new = linear_symmetries(at.architecture, force=False).new
        proved = [B.matrix for B in new if B.evidence is Evidence.PROVED]
        return ExactWeights(at.architecture, at.exact(), proved)
    return at


def same_function(one: ExactWeights, other: ExactWeights | None) -> tuple[bool, Evidence, float]:
    """Whether two weights of an architecture, or one and the function 0, have one function.

    Values at random inputs modulo primes refute it. All coefficients prove it, where they are not too many;
    else the last number is a bound on the probability that the values are the same by chance.

    >>> from agattn.architectures import Network, Perceptron
    >>> network = Network([Perceptron([2, 1], degree=2)], dim=1)
    >>> one, other = (ExactWeights(network, {"W_1_1": [[3], [4]], "W_1_2": [w]}) for w in ([1, 1], [-7, 2]))
    >>> same_function(one, one.at(np.array([5, 0, 1, 0])))[:2], same_function(one, other)[:2]
    ((True, <Evidence.PROVED: 'proved'>), (False, <Evidence.PROVED: 'proved'>))
    """
    generator, architecture = np.random.default_rng(limits().seed), one.architecture
    both = [w for w in (one, other) if w is not None]
    for _ in range(POINTS):
        p = prime_for([x for w in both for x in w.vector], generator)
        X = random_residues(generator, (2, *architecture.input_shape), p)
        given = (w.arrays(w.residues(p)[0]) for w in both)
        values = [np.asarray(architecture.evaluate(ModularArithmetic(p), w, X)) % p for w in given]
        if (values[0] != (0 if other is None else values[1])).any():
            return False, Evidence.PROVED, 0.0
    inputs = int(general_inputs(architecture).sum())
    degree = max(w.degrees(generator)[0] for w in both)
    if comb(inputs + degree, degree) <= MOST_MONOMIALS:
        first, *rest = (w.expanded() for w in both)
        if first != rest[0] if rest else any(first):
            raise AssertionError("two functions are equal modulo primes, and are not over ℚ")
        return True, Evidence.PROVED, 0.0
    return True, Evidence.MODULAR, max(w.chance() for w in both)


@dataclass(frozen=True)
class WeightFamily:
    """A linear space of weights through w₀, moved by the symmetries, on which φ is constant.

    Attributes:
        dimension: a lower bound on its dimension.
        directions: vectors of parameters that span the linear space, beyond the orbit.
        evidence: proved if φ was shown constant by symbols, else modular.
        error: for modular evidence, a bound on the probability that φ is not constant.
    """

    dimension: int
    directions: tuple[Vector, ...]
    evidence: Evidence
    error: float = 0.0


def widest_family(
    at: ExactWeights, most: int | None = None, orders: int = 40, start: Sequence[Vector] = ()
) -> WeightFamily:
    """The family of the largest dimension that is found.

    Args:
        at: the weights.
        most: a proved upper bound on the dimension of the fiber, where the search may stop.
        orders: in how many random orders of parts of the parameters a space is grown.
        start: directions along which φ is known to be constant, which are kept.
    """
    generator = np.random.default_rng(limits().seed)
    p = at.prime(generator)
    best = tuple(start)
    dimension = at.orbit_dimension(best)
    if dimension != most and len(at.vector) <= MOST_SEARCHED:
        for space in _spaces(at, p, orders, generator, start):
            wider = at.orbit_dimension(space)
            if wider > dimension:
                best, dimension = tuple(space), wider
            if dimension == most:
                break
    spare = [*start, *(v for v in best if v not in start)]
    for vector in spare[len(start) :]:  # leave out what the symmetries do as well
        rest = [v for v in spare if v is not vector]
        if at.orbit_dimension(rest) == dimension:
            spare = rest
    return WeightFamily(dimension, tuple(spare), *_evidence(at, spare, generator))


def _spaces(
    at: ExactWeights, p: int, random: int, generator: Generator, start: Sequence[Vector]
) -> Iterator[list[Vector]]:
    """Linear spaces on which φ is constant modulo p, made greedily in several orders."""
    arrays = _blocks(at.architecture)
    orders = itertools.permutations(arrays) if len(arrays) < 4 else [arrays, arrays[::-1]]
    for order in orders:
        yield _grown(at, list(start), list(order), p, generator)
    for _ in range(random):
        space = list(start)
        for block in _blocks(at.architecture, generator):
            more = at.units(block)
            if at.is_constant([*space, *more], p, generator):
                space += more
        yield space
        yield _grown(at, space, arrays, p, generator)


def _grown(
    at: ExactWeights, space: list[Vector], blocks: list[list[int]], p: int, generator: Generator
) -> list[Vector]:
    """A space made larger by kernels of dφ in one block of coordinates after the other."""
    space = list(space)
    for block in blocks:
        basis = at.kernel(space, block)
        if at.is_constant([*space, *basis], p, generator):
            space = _independent(at, [*space, *basis], p)
            continue
        for vector in basis:
            if at.is_constant([*space, vector], p, generator):
                space = _independent(at, [*space, vector], p)
    return space


def _independent(at: ExactWeights, vectors: list[Vector], p: int) -> list[Vector]:
    kept = nonzero_minor(at.residues(p, vectors)[1], p).rows
    return [vectors[i] for i in kept]


def _blocks(architecture: Architecture, generator: Generator | None = None) -> list[list[int]]:
    """Sets of coordinates: the arrays; or in a random order their heads, each whole or by rows or columns."""
    numbers = as_parameters(architecture, np.arange(architecture.parameters)).values()
    if generator is None:
        return [a.ravel().tolist() for a in numbers]
    parts: list[list[int]] = []
    for a in numbers:
        axis = int(generator.integers(-3, 0))
        for head in a.reshape(-1, *(1, 1, *a.shape)[-2:]):
            parts += [head.ravel().tolist()] if axis < -2 else np.moveaxis(head, axis, 0).tolist()
    return [parts[i] for i in generator.permutation(len(parts))]


def general_inputs(architecture: Architecture) -> Array:
    """Where X, d × t, must have symbols, as a mask: an identity for such X is one for all.

    For lightning attention φ(XO) = φ(X)O if O is orthogonal, and every real X is TO with T lower
    triangular, with zeros beyond d columns. Elsewhere all entries are needed.

    >>> from agattn import SingleLayer
    >>> general_inputs(SingleLayer(2, 1, t=4)).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0]]
    """
    network = architecture.as_network()
    everywhere = np.ones(architecture.input_shape, dtype=bool)
    return everywhere if network is None or not network.is_lightning else np.tril(everywhere)


def _evidence(at: ExactWeights, vectors: Sequence[Vector], generator: Generator) -> tuple[Evidence, float]:
    """How it is known that φ is constant on w₀ + span of the vectors.

    Raises:
        AssertionError: if it is not.
    """
    if not vectors:
        return Evidence.PROVED, 0.0
    inputs, (in_inputs, _) = int(general_inputs(at.architecture).sum()), at.degrees(generator)
    if comb(inputs + in_inputs, in_inputs) * len(vectors) <= MOST_MONOMIALS:
        if any(any(exponents[: len(vectors)]) for f in at.expanded(vectors) for exponents in f.terms):
            raise AssertionError("φ is constant on a family modulo a prime, and is not over ℚ")
        return Evidence.PROVED, 0.0
    for _ in range(POINTS):
        p = at.prime(generator)
        if not at.is_constant(vectors, p, generator):
            raise AssertionError("φ is constant on a family modulo one prime, and not modulo another")
    return Evidence.MODULAR, at.chance(vectors)


def rank_and_bound(at: ExactWeights) -> tuple[int, Bound]:
    """A proved lower bound on the rank of dφ at weights, almost surely equal, and an upper one everywhere."""
    bound = largest_rank(at.architecture, len(at.vector))
    rank = at.differential_rank(bound.value)
    return rank, bound if rank == bound.value else largest_rank(at.architecture, rank)


def largest_rank(architecture: Architecture, rank: int = 0) -> Bound:
    """A proved upper bound on the rank of dφ at all weights, which is the dimension of the neuromanifold.

    ``rank`` is one that occurs: a bound that it meets is good enough.
    """
    network = architecture.as_network()
    if network is None:
        return upper_bound(architecture, rank)
    return min(symmetry_bound(architecture), network_bound(network), key=lambda bound: bound.value)
