r"""One isotypic component of the coordinate ring, the ideal and its generators, exactly, for all layers.

Let E = ℂ^{d'}, F = ℂ^d (the columns of A) and U = ℂ^d (the index that V and A share). The coordinates
y_{c,b,i,k} span E ⊗ F ⊗ S²U, and the parametrization is the map of GL(E)×GL(F)×GL(U)-modules

    φ: Sym^n(E ⊗ F ⊗ S²U) → Sym^n(E ⊗ U) ⊗ Sym^n(F ⊗ U),
    y_{c,b,i,k} ↦ V_{ci}A_{kb} + V_{ck}A_{ib}  (i < k).

By Schur-Weyl duality the multiplicity space of S_λE ⊗ S_μF ⊗ S_νU (λ and μ of size n, ν of size 2n) on the
left is

    R(λμν) = (S^λ ⊗ S^μ ⊗ W_ν)^{𝔖_n},    W_ν = (S^ν)^{ℤ₂ⁿ}  inside the Specht module S^ν of 𝔖_{2n},

where 𝔖_{2n} permutes the letters v_1, a_1, ..., v_n, a_n, ℤ₂ⁿ exchanges v_j with a_j (the index {i, k} has no
order) and 𝔖_n permutes the pairs. On the right, the V's commute among each other, and so do the A's: it is
(S^λ ⊗ S^μ ⊗ S^ν)^{𝔖_n×𝔖_n}, the first 𝔖_n acting on λ and the v's, the second on μ and the a's. So φ
becomes the sum over 𝔖_n × 1: a matrix of integers, of which the rank is the multiplicity in the coordinate
ring.

Nothing here depends on d, d' or a: the module is present in a layer as soon as λ has at most d' parts and μ
and ν at most d; and the functions on {rank A ≤ α} are the part with ℓ(μ) ≤ α (Cauchy's formula), so the
component lies whole in the ideal if ℓ(μ) > α, and does not see α otherwise. All numbers below are exact
ranks of integer matrices.

>>> quadrics = IsotypicComponent(((1, 1), (1, 1), (4,)))     # y₁₁·y₂₂ − y₁₂·y₂₁, of quadratic forms
>>> quadrics.ring, quadrics.coordinate_ring, quadrics.ideal(alpha=2), quadrics.minimal_generators(alpha=2)
(1, 0, 1, 1)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain, product

import flint
import numpy as np

from agattn.algebra.characters import (
    FloatArray,
    Partition,
    SpechtModule,
    centralizer_order,
    horizontal_strips,
    kostka,
    littlewood_richardson,
    module_name,
    partitions,
    specht_module,
    symmetric_character,
)
from agattn.algebra.echelon import independent_columns, primitive, saturate, short_basis
from agattn.algebra.rank import proved_rank

#: The highest weight (λ, μ, ν) of a module S_λ(ℂ^{d'}) ⊗ S_μ(ℂ^d) ⊗ S_ν(ℂ^d).
Shape = tuple[Partition, Partition, Partition]


#: Integers below this are held as floats, which sums and products of a few do not round.
_LARGEST = 2**50


class IsotypicComponent:
    """The multiplicities of one module S_λ ⊗ S_μ ⊗ S_ν, for t ≥ 2; :func:`component` computes each once."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.degree = sum(shape[0])
        if sum(shape[1]) != self.degree or sum(shape[2]) != 2 * self.degree:
            raise ValueError(f"{module_name(shape)}: |λ| = |μ| = n and |ν| = 2n do not hold")
        self._factors: tuple[SpechtModule, ...] = tuple(map(specht_module, shape))
        self._rows = len(shape[1])
        self.count_products = cache(self._count_products)

    @cached_property
    def ring(self) -> int:
        """The multiplicity in degree n of the polynomial ring ℚ[y], by characters of symmetric groups.

        The character of W_ν at a permutation of the pairs is the mean of that of S^ν over ℤ₂ⁿ.
        """
        lam, mu, nu = self.shape
        total = sum(
            weight
            * symmetric_character(lam, cycles)
            * symmetric_character(mu, cycles)
            * sum(symmetric_character(nu, letters) for letters in of_letters)
            for cycles, weight, of_letters in _classes(self.degree)
        )
        return int(total)

    @cached_property
    def coordinate_ring(self) -> int:
        """The multiplicity in the coordinate ring of every layer with α ≥ ℓ(μ) in which it occurs."""
        lam, mu, nu = self.shape
        # On the source the multiplicity is a Littlewood-Richardson number.
        return _rank(self.image) if self.ring and littlewood_richardson(nu, lam, mu) else 0

    def coordinate(self, alpha: int) -> int:
        """The multiplicity in the coordinate ring of a layer with this α."""
        return self.coordinate_ring if self._rows <= alpha else 0

    def ideal(self, alpha: int) -> int:
        """The multiplicity in the ideal of a layer with this α."""
        return self.ring - self.coordinate(alpha)

    def minimal_generators(self, alpha: int) -> int:
        """The multiplicity in the minimal generators I_n / R_1·I_{n−1} of the ideal of a layer with this α.

        If ℓ(μ) > α and n > α + 1 there are none: by Cauchy's formula the minors of size α + 1 of the
        flattening F × (E ⊗ S²U) generate all modules with ℓ(μ) > α.
        """
        follows = self._rows > alpha and self.degree > alpha + 1
        if self.degree < 2 or follows or not (ideal := self.ideal(alpha)):
            return 0
        return ideal - self.count_products(self._rows == alpha + 1)

    @cached_property
    def invariants(self) -> FloatArray:
        """A basis of R(λμν): shape (multiplicity, f^λ·f^μ, dim W_ν), integers held as floats."""
        # S^λ is generated by any one of its polytabloids, so sums over 𝔖_n of e_1 ⊗ x are enough.
        found = self._basis(np.eye(1, len(self._factors[0])), range(1, self.degree), self.ring)
        if len(found) < self.ring:
            name = module_name(self.shape)
            raise ArithmeticError(f"{name}: {len(found)} invariants where the characters give {self.ring}")
        return found

    @cached_property
    def image(self) -> FloatArray:
        """What determines the images of :attr:`invariants` under φ: shape (multiplicity, f^λ, f^ν)."""
        return self._parametrize(self.invariants, self.degree)

    @cached_property
    def products(self) -> FloatArray:
        """A basis of the multiplicity space of R_{n−1} ⊗ R_1: the invariants of 𝔖_{n−1}."""
        # Restricted to 𝔖_{n−1}, S^λ is multiplicity free: almost every vector generates it.
        generic = np.arange(1, len(self._factors[0]) + 1, dtype=np.float64)[np.newaxis] ** 2
        expected = sum(component(rest).ring for rest in smaller_shapes(self.shape))
        for start in (generic, np.eye(len(self._factors[0]))):
            basis = self._basis(start, range(1, self.degree - 1), expected)
            if len(basis) == expected:
                return basis
        name = module_name(self.shape)
        raise ArithmeticError(f"{name}: {len(basis)} invariants where Pieri's rule gives {expected}")

    def _map_products(self, at_edge: bool) -> tuple[FloatArray, FloatArray]:
        """Matrices that determine the images of :attr:`products` under Φ and under Ψ.

        Φ = φ ⊗ 1 on R_{n−1} ⊗ R_1, modulo what vanishes on {rank A ≤ α}: at the edge ℓ(μ) = α + 1 it keeps
        only the part of S^μ restricted to 𝔖_{n−1} that has α rows, where the box removed is the last row of
        μ. Ψ is the multiplication to R_n, a sum over cosets of 𝔖_{n−1}.
        """
        kept = self._remove_last_row(self.products) if at_edge else self.products
        return self._parametrize(kept, self.degree - 1), self._sum(self.products, [self.degree - 1])

    def _count_products(self, at_edge: bool) -> int:
        """The multiplicity of the module in R_1·I_{n−1}: dim Ψ(ker Φ) = rank (Φ, Ψ) − rank Φ."""
        mapped, multiplied = self._map_products(at_edge)
        of_map = _gram(mapped)
        return proved_rank(of_map + _gram(multiplied)) - proved_rank(of_map)

    def ideal_tensors(self, alpha: int) -> FloatArray:
        """A basis of the multiplicity space of the ideal, as invariants in S^λ ⊗ S^μ ⊗ W_ν."""
        return self.invariants if self._rows > alpha else _kernel(self.image, self.invariants)

    def product_tensors(self, alpha: int) -> FloatArray:
        """A basis of the multiplicity space of R_1·I_{n−1}, as invariants in S^λ ⊗ S^μ ⊗ W_ν."""
        return _independent(_kernel(*self._map_products(self._rows == alpha + 1)))

    def _basis(self, first: FloatArray, steps: Sequence[int], expected: int) -> FloatArray:
        """Independent sums of seeds, as many as expected or, where there are fewer, as there are."""
        seeds = self._seeds(first)
        found, start, more = self._sum(seeds[:0], steps), 0, expected + 1
        while len(found) < expected and start < len(seeds):
            summed = self._sum(seeds[start : start + more], steps)
            found = _independent(np.concatenate([found, summed]))
            start, more = start + more, 2 * more
        return found

    def _seeds(self, first: FloatArray) -> FloatArray:
        """The tensors x ⊗ e_j ⊗ w for the rows x of ``first``, all e_j in S^μ and the basis w of W_ν."""
        f_lam, f_mu, size = *map(len, self._factors[:2]), len(pair_invariants(self.shape[2]))
        tensors: FloatArray = np.einsum("xl,jm,wn->xjwlmn", first, np.eye(f_mu), np.eye(size))
        return tensors.reshape(len(first) * f_mu * size, f_lam * f_mu, size)

    def _parametrize(self, tensors: FloatArray, n: int) -> FloatArray:
        """The sum over 𝔖_n acting on λ and the letters v_1, ..., v_n, at one functional on S^μ.

        As tensors are invariant under 𝔖_n, the sums are so, too, where it acts on μ and the letters a alone.
        So a functional sees no less of them than its translates by 𝔖_n, which span the dual of S^μ.
        """
        _, mu, nu = self.shape
        shape = len(tensors), len(self._factors[0]), len(self._factors[1]), -1
        seen = np.einsum("klmw,m->klw", tensors.reshape(shape), cyclic_functional(mu, n))
        return self._sum(_exact(_exact(seen) @ pair_invariants(nu)), range(1, n), pairs=False)

    def _sum(self, tensors: FloatArray, steps: Sequence[int], pairs: bool = True) -> FloatArray:
        """Apply 1 + s_j + s_{j−1}s_j + ... + s_1···s_j for each step j, s_i the exchange of i − 1 and i.

        These stand for the cosets of 𝔖_j in 𝔖_{j+1}, so that all steps give the sum over a symmetric group.
        Exchanged are pairs (v_i, a_i), also on λ and μ; or the letters v_i alone, and on λ without μ.
        """
        lam, mu, nu = self.shape
        # The index of λ and μ first, that of ν last: each exchange is two products of large matrices.
        tensors = np.ascontiguousarray(tensors.swapaxes(0, 1))
        for j in steps:
            total, moved = tensors.copy(), tensors
            for i in reversed(range(j)):
                if pairs:
                    left, right = outer_exchange(lam, mu, i), exchange_of_pairs(nu, i)
                else:
                    left = self._factors[0].transposition(i, i + 1).T
                    right = self._factors[2].transposition(2 * i, 2 * i + 2)
                turned = (moved.reshape(-1, len(right)) @ right).reshape(len(left), -1)
                moved = _exact((left @ turned).reshape(tensors.shape))
                total += moved
            tensors = _exact(total)
        return tensors.swapaxes(0, 1)

    def _remove_last_row(self, tensors: FloatArray) -> FloatArray:
        """Project S^μ, restricted to 𝔖_{n−1}, to the part where the last row of μ, one box, was removed.

        The Jucys-Murphy element Σ_{i<n} (i n) acts on each part by the content of the box removed.
        """
        lam, mu, _ = self._factors
        shape, last = self.shape[1], self.degree - 1
        if shape[-1] > 1:
            return np.zeros_like(tensors)
        one = np.eye(len(mu))
        murphy = sum((mu.transposition(i, last) for i in range(last)), start=0 * one)
        projector = one
        for row, length in enumerate(shape[:-1]):
            if length > shape[row + 1]:
                projector = projector @ (murphy - (length - 1 - row) * one)
        return _exact(np.matmul(np.kron(np.eye(len(lam)), projector).T, tensors))


#: The isotypic component of a highest weight; the same object for the same weight.
component = cache(IsotypicComponent)


def shapes(degree: int, d_out: int, d: int) -> Iterator[Shape]:
    """The highest weights (λ, μ, ν) that fit into degree n of a layer: ℓ(λ) ≤ d', ℓ(μ) ≤ d, ℓ(ν) ≤ d.

    >>> list(shapes(2, d_out=1, d=2))[:2]
    [((2,), (2,), (4,)), ((2,), (2,), (3, 1))]
    """
    return product(partitions(degree, d_out), partitions(degree, d), partitions(2 * degree, d))


def smaller_shapes(shape: Shape) -> Iterator[Shape]:
    """The components of R_{n−1} that R_1 maps to this one: a box less in λ and μ, two boxes less in ν.

    The two boxes must lie in different columns (Pieri's rule for S²U).
    """
    lam, mu, nu = shape
    return product(horizontal_strips(lam, 1), horizontal_strips(mu, 1), horizontal_strips(nu, 2))


@cache
def _classes(n: int) -> list[tuple[Partition, Fraction, list[Partition]]]:
    """For the cycles of permutations of n pairs their weight in a mean, and the cycles on 2n letters.

    A cycle of r pairs becomes two cycles of r letters or one of 2r; the weight counts both as equally many.
    """
    found = []
    for cycles in partitions(n):
        parts = product(*(((r, r), (2 * r,)) for r in cycles))
        letters = [tuple(sorted(chain.from_iterable(part), reverse=True)) for part in parts]
        found.append((cycles, Fraction(1, 2 ** len(cycles) * centralizer_order(cycles)), letters))
    return found


@cache
def pair_invariants(nu: Partition) -> FloatArray:
    """A basis of W_ν: the vectors of S^ν unchanged when v_j and a_j are exchanged, for every j.

    It is a basis of all integer vectors in W_ν, so that 𝔖_n, too, acts on it by integer matrices.

    >>> pair_invariants((2, 2))
    array([[ 2., -1.]])
    """
    module, n = specht_module(nu), sum(nu) // 2
    basis, start, more = np.zeros((0, len(module))), 0, (size := kostka(nu, (2,) * n)) + 1
    while len(basis) < size:
        # Sums over ℤ₂ⁿ of all vectors span W_ν; those of a few are mostly enough.
        sums = np.eye(len(module))[start : start + more]
        for j in range(n):
            sums = _exact(sums + sums @ module.transposition(2 * j, 2 * j + 1))
        basis = _independent(np.concatenate([basis, sums]))
        start, more = start + more, 2 * more
    if not size:
        return basis
    return np.array(saturate(_integers(basis)).tolist(), dtype=object).astype(np.float64)


@cache
def outer_exchange(lam: Partition, mu: Partition, i: int) -> FloatArray:
    """The transposed matrix of (i i+1) on S^λ ⊗ S^μ."""
    first, second = (specht_module(part).transposition(i, i + 1) for part in (lam, mu))
    return np.asarray(np.kron(first, second).T, dtype=np.float64)


@cache
def cyclic_functional(mu: Partition, n: int) -> FloatArray:
    """A functional on S^μ whose translates by 𝔖_n span the dual; n is the size of μ or one less."""
    module = specht_module(mu)
    numbers = np.arange(1, len(module) + 1, dtype=np.float64)
    functional: FloatArray
    for functional in (np.eye(len(module))[0], *(numbers**e for e in range(5))):
        span, before = functional[np.newaxis], 0
        while len(span) > before:
            moved = (span @ module.transposition(i, i + 1).T for i in range(n - 1))
            before, span = len(span), _independent(_exact(np.concatenate([span, *moved])))
        if before == len(module):
            return functional
    raise ArithmeticError(f"no functional on the Specht module of {mu} was found that generates its dual")


@cache
def exchange_of_pairs(nu: Partition, i: int) -> FloatArray:
    """The exchange of the pairs (v_i, a_i) and (v_{i+1}, a_{i+1}), in the basis of W_ν."""
    module, basis = specht_module(nu), pair_invariants(nu)
    moved = basis
    for k in (1, 0, 2, 1):
        moved = moved @ module.transposition(2 * i + k, 2 * i + k + 1)
    matrix = np.rint(moved @ _coordinates(nu)) + 0.0
    if not np.array_equal(matrix @ basis, moved):
        raise ArithmeticError(f"the pair invariants of {nu}: their matrix is not exact in floating point")
    return matrix


@cache
def _coordinates(nu: Partition) -> FloatArray:
    """The matrix that takes vectors in W_ν to their coordinates, up to rounding."""
    return np.asarray(np.linalg.pinv(pair_invariants(nu)), dtype=np.float64)


def _exact(values: FloatArray) -> FloatArray:
    """The same integers, after a check that no float was rounded."""
    if values.size and max(values.max(), -values.min()) >= _LARGEST:
        raise OverflowError("an integer of a Specht module computation is beyond 2^50")
    return values


def _independent(tensors: FloatArray) -> FloatArray:
    """A maximal independent set of the given tensors, the first index counting them.

    Independent mod p implies independent; that none is lost, too, is for the caller to know from a dimension.
    """
    if not len(tensors):
        return tensors
    return tensors[independent_columns(_gram(tensors))]


def _rank(tensors: FloatArray) -> int:
    """The rank over ℚ of integer tensors, the first index counting them."""
    return proved_rank(_gram(tensors)) if tensors.size else 0


def _gram(tensors: FloatArray) -> flint.fmpz_mat:
    """The matrix of scalar products, which has the same rank over ℚ, and the same linear relations."""
    rest = tensors.reshape(len(tensors), -1)
    # rows = L_0 + L_1·2^b + L_2·2^2b + ..., and no sum of products of entries < 2^b reaches 2^52.
    bits = (52 - rest.shape[1].bit_length()) // 2
    limbs = [rest]
    while rest.size and max(rest.max(), -rest.min()) >= 2.0**bits:
        rest = np.rint(rest / 2.0**bits)
        limbs[-1] = limbs[-1] - rest * 2.0**bits
        limbs.append(rest)
    total = flint.fmpz_mat(len(tensors), len(tensors))
    for (i, one), (j, other) in product(enumerate(limbs), repeat=2):
        total += _integers(one @ other.T) * 2 ** (bits * (i + j))
    return total


def _integers(rows: FloatArray) -> flint.fmpz_mat:
    return flint.fmpz_mat(len(rows), rows.shape[1], rows.astype(np.int64).ravel().tolist())


def _kernel(image: FloatArray, tensors: FloatArray) -> FloatArray:
    """The combinations of ``tensors`` for a basis of the linear relations among ``image``."""
    relations, nullity = _gram(image).nullspace()
    vectors = list(map(primitive, relations.transpose().tolist()[:nullity]))
    if any(abs(x) >= _LARGEST for vector in vectors for x in vector):
        vectors = short_basis(flint.fmpz_mat(vectors))
    combined = _exact(np.array(vectors, dtype=np.float64).reshape(nullity, len(tensors)))
    return _exact(np.tensordot(combined, tensors, axes=1))
