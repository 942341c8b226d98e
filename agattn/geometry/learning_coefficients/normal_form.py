r"""The normal form of the ideal of φ(w) − φ(w₀) at weights w₀, verified by exact polynomial identities.

Near w₀ take a slice through the orbit of w₀ under GL(a) and the scaling (sA, V/s), which do not change φ,
with polynomial coordinates z (for a softmax head, and where A = 0 and V = 0, under GL(a) alone). On it let
f(z) be the coefficients of φ(w) − φ(w₀), and let g be

- some of the coordinates,
- the entries of T·N, for a p × h matrix T and an h × n matrix N of further coordinates, and
- all products αᵢαⱼ of further coordinates α.

If f = M(z)·g with polynomials M(z), and the constants M(0) have as many independent rows as there are g, then
by Nakayama's lemma f and g generate the same ideal of germs at z = 0: (f) ⊂ (g), and (g) ⊂ (f) + 𝔪(g). So λ
and m are those of g: half a unit for each coordinate, a quarter for each α, and the product's own. So this is
a proof, one point at a time, apart from the formulas of
:mod:`~agattn.geometry.learning_coefficients.learning_coefficients`.

>>> from agattn import SingleLayer
>>> from agattn.geometry.strata.strata import Stratum
>>> form = normal_form(SingleLayer(2, 1, 2), Stratum(1, 1, 1), 1, 1)
>>> form.generators
[X_(1,1), X_(1,2), S_(1,1), T_(1,1)*N_(1,1), al_2^2]
>>> form.flaw() or form.coefficient()
(Fraction(9, 4), 2)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Literal

import flint
import numpy as np

from agattn.algebra.echelon import rational_rank
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.algebra.scalars import Array
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.learning_coefficients.learning_coefficients import product_at_zero
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.variety.coordinates import coefficients, differential

#: A polynomial over ℤ in the coordinates: each monomial as the sorted numbers of its coordinates, repeated,
#: with its coefficient. The polynomials here have few terms in many coordinates: reading exponent vectors
#: from FLINT takes longer than all arithmetic with such terms.
Sparse = dict[tuple[int, ...], int]
#: A matrix of such polynomials, by its rows.
Rows = Sequence[Sequence[Sparse]]
#: What is compared with zero: the function; A and V apart (a softmax head, V ≠ 0); V alone (one, V = 0); or
#: A and V apart where both are 0, and ‖φ‖ is comparable with ‖V‖·‖A‖.
Kind = Literal["function", "pair", "values", "product"]


@dataclass(frozen=True, eq=False)
class NormalForm:
    """The ideal at one point on a slice, by generators of a simple shape.

    Attributes:
        layer: the layer, t ≥ 2.
        kind: what is compared with zero; see :data:`Kind`.
        variables: the names of the coordinates z of the slice.
        weights: K, Q and V at z; at z = 0 they are w₀.
        free: the coordinates among the generators, as their numbers.
        T, N: the numbers of the coordinates in the two factors.
        squares: those of the coordinates α.
        expected: the ranks at z = 0 that it stands for.
    """

    layer: SingleLayer
    kind: Kind
    variables: tuple[Variable, ...]
    weights: tuple[Rows, Rows, Rows]
    free: tuple[int, ...]
    T: tuple[tuple[int, ...], ...]
    N: tuple[tuple[int, ...], ...]
    squares: tuple[int, ...]
    expected: tuple[int, ...]

    @cached_property
    def ring(self) -> PolynomialRing:
        """ℚ[z]."""
        return PolynomialRing(self.variables)

    def _polynomial(self, f: Sparse) -> Polynomial:
        counted = range(len(self.variables))
        return self.ring.from_terms({tuple(map(monomial.count, counted)): c for monomial, c in f.items()})

    @cached_property
    def at_zero(self) -> tuple[Array, Array, Array]:
        """K, Q and V at z = 0."""
        constants = ([[x.get((), 0) for x in row] for row in rows] for rows in self.weights)
        K, Q, V = (np.array(rows, dtype=int).reshape(-1, self.layer.d) for rows in constants)
        return K, Q, V

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of V, A, [V; Aᵀ], K, Q and [V; K] at z = 0, which tell the orbits of weights apart."""
        K, Q, V = self.at_zero
        A = K.T @ Q
        matrices = (V, A, np.concatenate([V, A.T]), K, Q, np.concatenate([V, K]))
        return tuple(map(rational_rank, matrices))

    @cached_property
    def generators(self) -> list[Polynomial]:
        """The generators g, in the order of their names."""
        return [self._polynomial(g) for g in self._generators]

    @cached_property
    def _generators(self) -> list[Sparse]:
        products = [
            {tuple(sorted(pair)): 1 for pair in zip(row, column, strict=True)}
            for row in self.T
            for column in zip(*self.N, strict=True)
        ]
        return [*({(i,): 1} for i in self.free), *products, *({pair: 1} for pair in self._pairs)]

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """The numbers of α_i and α_j, for all products of two α."""
        return [(i, j) for n, i in enumerate(self.squares) for j in self.squares[n:]]

    @cached_property
    def _factors(self) -> list[Sparse]:
        """The entries of A − A₀ and of V − V₀, row by row."""
        K, Q, V = self.weights
        columns = product(zip(*K, strict=True), zip(*Q, strict=True))
        entries = [_sum_of_products(zip(k, q, strict=True)) for k, q in columns]
        return [_without_constant(x) for x in (*entries, *(x for row in V for x in row))]

    @cached_property
    def _functions(self) -> list[Sparse]:
        d = self.layer.d
        if self.kind == "function":
            factors = np.empty(len(self._factors), dtype=object)
            factors[:] = [self._polynomial(x) for x in self._factors]
            K0, Q0, V0 = self.at_zero
            A, V = factors[: d * d].reshape(d, d) + K0.T @ Q0, factors[d * d :].reshape(-1, d) + V0
            return [_without_constant(_sparse(f)) for f in coefficients(self.layer, A, V)]
        return self._factors if self.kind != "values" else self._factors[d * d :]

    @cached_property
    def functions(self) -> list[Polynomial]:
        """What is compared with zero, as polynomials f in z; f(0) = 0."""
        return [self._polynomial(f) for f in self._functions]

    @cached_property
    def multipliers(self) -> list[dict[int, Sparse]]:
        """M(z) by rows, without zeros: f = M·g by division; what is left over would be a :meth:`flaw`."""
        return [self._divided(f) for f in self._functions]

    @cached_property
    def _leading(self) -> dict[tuple[int, ...], int]:
        """The numbers of the generators, by the coordinates, in order, of the monomial that divides terms."""
        corners = [(row[0], j) for row in self.T for j in self.N[0]] if self.N else []
        monomials = [*((i,) for i in self.free), *(tuple(sorted(pair)) for pair in [*corners, *self._pairs])]
        return {monomial: n for n, monomial in reversed([*enumerate(monomials)])}

    def _divided(self, f: Sparse) -> dict[int, Sparse]:
        """The nonzero quotients of f by the generators, in one pass over its terms.

        A term that a free coordinate or an αᵢαⱼ divides goes to the first such generator; of the others those
        with T_{i1}N_{1j} go to (TN)_{ij}, where the terms with T_{ik}N_{kj}, k ≥ 2, belong as well.
        """
        leading = self._leading
        quotients = defaultdict[int, Sparse](dict)
        for monomial, c in f.items():
            numbers = (leading[m] for size in (1, 2) for m in combinations(monomial, size) if m in leading)
            if (n := min(numbers, default=None)) is not None:
                rest = list(monomial)
                for i in self._divisors[n]:
                    rest.remove(i)
                quotients[n][tuple(rest)] = c
        return quotients

    @cached_property
    def _divisors(self) -> dict[int, tuple[int, ...]]:
        return {n: monomial for monomial, n in self._leading.items()}

    def flaw(self) -> str:
        """Why this is no proof, or an empty string: the three conditions, each by exact computation.

        Without squares the coefficients of φ are not expanded. As φ is bilinear, φ(A, V) − φ(A₀, V₀) is
        φ(A − A₀, V) + φ(A₀, V − V₀), and also φ(A, V − V₀) if V₀ = 0. So if A − A₀ and V − V₀ have entries in
        (g) (those of V are enough if V₀ = 0, those of A if A₀ = 0), so has f, and M(0) is the differential of
        φ at w₀ times their constants.
        """
        g = self._generators
        K0, Q0, V0 = self.at_zero
        A0 = K0.T @ Q0
        bilinear = self.kind == "function" and not self.squares
        if bilinear:
            needed = [V0.any()] * A0.size + [A0.any()] * V0.size
            functions = [f if used else {} for f, used in zip(self._factors, needed, strict=True)]
            M = [self._divided(f) for f in functions]
        else:
            functions, M = self._functions, self.multipliers
        for f, row in zip(functions, M, strict=True):
            if f != _sum_of_products((m, g[n]) for n, m in row.items()):
                return f"{self._polynomial(f)} is not in the ideal of the generators, by division"
        constants = flint.fmpq_mat(len(M), len(g))
        for i, row in enumerate(M):
            for n, m in row.items():
                constants[i, n] = m.get((), 0)
        if bilinear:
            constants = differential(A0.tolist(), V0.tolist()) * constants
        if constants.rank() < len(g):
            return "the generators are not in the ideal of the functions, by Nakayama's lemma"
        if self.kind == "product":
            own = {i for row in self.weights[2] for x in row for monomial in x for i in monomial}
            mine = {n for n, i in enumerate(self.free) if i in own}
            d = self.layer.d
            apart = all((n in mine) == (i >= d * d) for i, row in enumerate(M) for n in row)
            if not apart or own != {self.free[n] for n in mine}:
                return "A and V have generators in common coordinates"
        if self.ranks != self.expected:
            return f"the ranks of V, A, [V; Aᵀ], K, Q and [V; K] are {self.ranks}"
        used = [*self.free, *(i for row in (*self.T, *self.N) for i in row), *self.squares]
        if len(set(used)) < len(used):
            return "a coordinate occurs in two generators of different kinds"
        directions = self._directions()
        if directions.rank() < directions.ncols():
            return "the slice and the orbit do not span all directions at the point"
        return ""

    def _directions(self) -> flint.fmpq_mat:
        """By rows the tangent vectors at w₀ of the group, GL(a) and (sA, V/s) if f is φ, and of the slice."""
        K, Q, V = self.at_zero
        a = self.layer.a
        moved = [(-E.T @ K, E @ Q, 0 * V) for E in np.eye(a * a, dtype=int).reshape(-1, a, a)]
        if self.kind == "function":
            moved.append((K, 0 * Q, -V))
        entries = [x for rows in self.weights for row in rows for x in row]
        directions = flint.fmpq_mat(len(moved) + len(self.variables), len(entries))
        for row, matrices in enumerate(moved):
            for column, number in enumerate(np.concatenate([M.ravel() for M in matrices]).tolist()):
                directions[row, column] = number
        for column, x in enumerate(entries):
            for monomial, c in x.items():
                if len(monomial) == 1:
                    directions[len(moved) + monomial[0], column] = c
        return directions

    def coefficient(self) -> tuple[Fraction, int]:
        """λ and m of the generators."""
        columns = len(self.N[0]) if self.N else 0
        zero = product_at_zero(len(self.T), columns, len(self.N))
        of_values = sum(self.variables[i].letter == "W" for i in self.free)
        A = Fraction(len(self.free) + zero.twice, 2) + Fraction(len(self.squares), 4)
        if self.kind != "product":
            return A, zero.multiplicity
        V = Fraction(of_values, 2)
        A -= V
        return min(A, V), zero.multiplicity + 1 if A == V else zero.multiplicity if A < V else 1


def _without_constant(f: Sparse) -> Sparse:
    return {monomial: c for monomial, c in f.items() if monomial}


def _sum_of_products(pairs: Iterable[tuple[Sparse, Sparse]]) -> Sparse:
    """Σ f·g over pairs (f, g)."""
    terms: Counter[tuple[int, ...]] = Counter()
    for f, g in pairs:
        for one, c in f.items():
            for other, e in g.items():
                terms[tuple(sorted(one + other))] += c * e
    return {monomial: c for monomial, c in terms.items() if c}


def _sparse(f: Polynomial) -> Sparse:
    """A polynomial over ℤ by its terms."""
    return {
        tuple(i for i, e in enumerate(exponents) for _ in range(e)): c
        for exponents, c in f.integer_terms.items()
    }


def joint_ranks(layer: SingleLayer, orbit: Stratum, rank_k: int) -> range:
    """The ranks that [V; K] can have; with the other five ranks they tell the orbits of weights apart.

    >>> list(joint_ranks(SingleLayer(3, 2, 2), Stratum(1, 1, 2), 2))
    [2, 3]
    """
    more = orbit.r - orbit.r_a  # rows of V outside the span of the columns of A
    return range(rank_k + max(0, more - (rank_k - orbit.r_a)), rank_k + min(more, layer.d - rank_k) + 1)


class _Coordinates:
    """The coordinates z of a slice: blocks of a matrix each, and the entries of V that move.

    Attributes:
        shapes: the shape of each block by its letter.
        variables: all coordinates.
        number: the number of the coordinate at each place of V that moves.
    """

    def __init__(
        self, shapes: Mapping[str, tuple[int, int]], values: Mapping[tuple[int, int], Variable]
    ) -> None:
        names = [
            Variable(letter, (i + 1, j + 1))
            for letter, (rows, columns) in shapes.items()
            for i in range(rows)
            for j in range(columns)
        ]
        self.shapes, self.variables = shapes, (*names, *values.values())
        self.number = dict(zip(values, range(len(names), len(self.variables)), strict=True))

    def numbers(self, letter: str) -> Array:
        """The numbers of the coordinates with a letter: a matrix for a block, a column for those of V."""
        numbers = [n for n, name in enumerate(self.variables) if name.letter == letter]
        return np.array(numbers, dtype=int).reshape(self.shapes.get(letter, (len(numbers), 1)))

    def move(self, matrix: Rows, letter: str, row: int = 0, column: int = 0) -> None:
        """Add a block of coordinates to a matrix, from a row and a column on."""
        for i, numbers in enumerate(self.numbers(letter).tolist(), row):
            for j, number in enumerate(numbers, column):
                matrix[i][j][number,] = 1


def _constants(shape: tuple[int, int], ones: Iterable[tuple[int, int]]) -> Rows:
    """A matrix of polynomials: 1 at some places, 0 elsewhere."""
    places = set(ones)
    return [[{(): 1} if (i, j) in places else {} for j in range(shape[1])] for i in range(shape[0])]


def _ones_of_values(orbit: Stratum, rank_k: int, outside: int) -> list[tuple[int, int]]:
    """The places of the ones of V at z = 0: one in each of the first r_V rows.

    From above they lie in the span of the columns of A, in that of the rows of K beyond it, and outside of
    both.
    """
    shared, beyond = range(orbit.r - orbit.r_v, orbit.r_a), range(orbit.r_a, orbit.r - outside)
    return list(enumerate([*shared, *beyond, *range(rank_k, rank_k + outside)]))


def _attention_on_slice(
    z: _Coordinates, layer: SingleLayer, rank_k: int, rank_q: int, r: int
) -> tuple[Rows, Rows]:
    """Kᵀ and Q on the slice, for κ = rk K, ρ = rk Q, r = rk A."""
    d, a, more = layer.d, layer.a, rank_q - r
    # Kᵀ = ⎡ 1  0  0 ⎤  rows κ | d − κ,      Q = ⎡ 1 0 0 ⎤ + X   rows κ | ρ − r | a − κ − ρ + r,
    #      ⎣ S  B  T ⎦                            ⎢ 0 1 G ⎥       columns r | ρ − r | d − ρ;
    #      columns as the rows of Q               ⎣ 0 0 N ⎦       the 1 above has r rows, and X has κ.
    P = _constants((d, a), ((i, i) for i in range(rank_k)))
    Q = _constants((a, d), [*((i, i) for i in range(r)), *((rank_k + i, r + i) for i in range(more))])
    if "K" in z.shapes:  # all entries move: K and Q are these constants, plus the coordinates
        for (i, j), number in np.ndenumerate(z.numbers("K")):
            P[j][i][int(number),] = 1
        z.move(Q, "Q")
        return P, Q
    z.move(P, "S", rank_k)
    z.move(P, "B", rank_k, rank_k)
    z.move(P, "T", rank_k, rank_k + more)
    z.move(Q, "X")
    z.move(Q, "G", rank_k, rank_q)
    z.move(Q, "N", rank_k + more, rank_q)
    return P, Q


def normal_form(
    layer: SingleLayer,
    orbit: Stratum,
    rank_k: int,
    rank_q: int,
    rank_vk: int | None = None,
    *,
    softmax: bool = False,
) -> NormalForm:
    """The normal form at a representative of weights with these ranks, t ≥ 2.

    A has ones at (j, j), j ≤ r_A, and V a one in each of its first r_V rows, so that [V; K] has the rank
    ``rank_vk``, the least possible one by default (:func:`joint_ranks`). Kᵀ is
    the identity on its first κ columns; GL(a) fixes there the first κ columns of K, and ρ columns of Q.

    Raises:
        InputError: if there are no such weights.
    """
    d, a, r = layer.d, layer.a, orbit.r_a
    p, n, h, more = d - rank_k, d - rank_q, a - rank_k - rank_q + r, rank_q - r
    if min(p, n, h, more, rank_k - r) < 0:  # sizes of blocks
        raise InputError(
            f"there are no K and Q with {a} rows, of ranks {rank_k} and {rank_q}, with KᵀQ of rank {r}"
        )
    possible = joint_ranks(layer, orbit, rank_k)
    rank_vk = min(possible, default=rank_k) if rank_vk is None else rank_vk
    if rank_vk not in possible:
        raise InputError(f"[V; K] cannot have the rank {rank_vk} there")
    kind: Kind = "function" if orbit.r_v or orbit.r_a else "product"
    if softmax:
        kind = "pair" if orbit.r_v else "values"
    boundary = not orbit.is_zero and orbit.r == 1 < d and not softmax

    ones = _ones_of_values(orbit, rank_k, rank_vk - rank_k)
    # Where V = 0 ≠ A the ideal is that of V, whatever K and Q are: these keep all their entries.
    if kind == "values" or (kind == "function" and not orbit.r_v):
        shapes = {"K": (a, d), "Q": (a, d)}
    else:
        shapes = {"X": (rank_k, d), "S": (p, rank_k), "B": (p, more)}
        shapes |= {"T": (p, h), "G": (more, n), "N": (h, n)}
    values = {(c, i): Variable("W", (c + 1, i + 1)) for c, i in np.ndindex(layer.d_out, d)}
    if boundary:
        values |= {(0, i): Variable("al", (i + 1,)) for i in range(1, d)}
    if kind == "function" and not orbit.is_zero:  # the scaling fixes an entry of V that is 1
        del values[ones[0]]
    z = _Coordinates(shapes, values)
    squares = z.numbers("al").ravel().tolist()

    # V = V₀ + W, with α in place of the first row of W on the boundary.
    V = _constants((layer.d_out, d), ones)
    for (c, i), number in z.number.items():
        V[c][i][number,] = 1
    P, Q = _attention_on_slice(z, layer, rank_k, rank_q, r)
    if boundary:  # A = g A' with g: x ↦ x − α x₁, where A' is on the slice of A
        for i, alpha in enumerate(squares, start=1):
            for entry, first in zip(P[i], P[0], strict=True):
                entry |= {tuple(sorted((*monomial, alpha))): -c for monomial, c in first.items()}

    # The coordinates among the generators: X, the first r_A columns of S, B, and those of V.
    seen = [z.numbers("X"), z.numbers("S")[:, :r], z.numbers("B")]
    free = [int(at) for block in seen for at in block.ravel()]
    if not (kind == "function" and orbit.r_v and not orbit.r_a):  # A = 0 ≠ V: the ideal is that of A
        free += z.numbers("W").ravel().tolist()
    T, N = (tuple(map(tuple, z.numbers(letter).tolist())) for letter in "TN")
    expected = (*orbit.as_json(), rank_k, rank_q, rank_vk)
    weights = tuple(zip(*P, strict=True)), Q, V
    return NormalForm(layer, kind, z.variables, weights, tuple(free), T, N, tuple(squares), expected)
