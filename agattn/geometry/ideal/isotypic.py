r"""One isotypic component of the coordinate ring, the ideal and its generators, exactly, for all layers.

Let E = ℂ^{d'}, F = ℂ^d (the columns of A) and U = ℂ^d (the index that V and A share). The coordinates
y_{c,b,{i,k}} span E ⊗ F ⊗ S²U, and the parametrization is the map of GL(E)×GL(F)×GL(U)-modules

    φ: Sym^n(E ⊗ F ⊗ S²U) → Sym^n(E ⊗ U) ⊗ Sym^n(F ⊗ U),
    y_{c,b,{i,k}} ↦ V_{ci}A_{kb} + V_{ck}A_{ib}  (i < k).

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
from functools import cache, cached_property
from itertools import product, starmap
from math import gcd
from typing import NamedTuple

import flint
import numpy as np

from agattn.algebra.characters import (
    Partition,
    horizontal_strips,
    littlewood_richardson,
    module_name,
    partitions,
)
from agattn.algebra.echelon import echelon
from agattn.algebra.rank import proved_rank
from agattn.algebra.specht import FloatArray, SpechtModule, specht_module

#: A prime for choosing independent rows; no result depends on it.
PRIME = 2**61 - 1


class Shape(NamedTuple):
    """The highest weight (λ, μ, ν) of a module S_λ(ℂ^{d'}) ⊗ S_μ(ℂ^d) ⊗ S_ν(ℂ^d)."""

    lam: Partition
    mu: Partition
    nu: Partition

    def __str__(self) -> str:
        return module_name(self)


class IsotypicComponent:
    """The multiplicities of one module S_λ ⊗ S_μ ⊗ S_ν, for t ≥ 2.

    Use :func:`component`, which computes each one once.
    """

    def __init__(self, shape: tuple[Partition, Partition, Partition]) -> None:
        self.shape = Shape(*shape)
        self.degree = sum(self.shape.lam)
        if sum(self.shape.mu) != self.degree or sum(self.shape.nu) != 2 * self.degree:
            raise ValueError(f"{self.shape}: |λ| = |μ| = n and |ν| = 2n do not hold")
        self._factors: tuple[SpechtModule, ...] = tuple(specht_module(part) for part in self.shape)
        self.count_products = cache(self._count_products)

    @cached_property
    def ring(self) -> int:
        """The multiplicity in degree n of the polynomial ring ℚ[y]."""
        return len(self.invariants)

    @cached_property
    def coordinate_ring(self) -> int:
        """The multiplicity in the coordinate ring of every layer with α ≥ ℓ(μ) in which it occurs."""
        # On the source the multiplicity is a Littlewood-Richardson number.
        if not len(self.invariants) or not littlewood_richardson(
            self.shape.nu, self.shape.lam, self.shape.mu
        ):
            return 0
        return _rank(self.image)

    def coordinate(self, alpha: int) -> int:
        """The multiplicity in the coordinate ring of a layer with this α."""
        return self.coordinate_ring if len(self.shape.mu) <= alpha else 0

    def ideal(self, alpha: int) -> int:
        """The multiplicity in the ideal of a layer with this α."""
        return self.ring - self.coordinate(alpha)

    def minimal_generators(self, alpha: int) -> int:
        """The multiplicity in the minimal generators I_n / R_1·I_{n−1} of the ideal of a layer with this α.

        If ℓ(μ) ≥ α + 2 there are none: removing a box from μ leaves more than α rows, so all of R_{n−1}
        that is needed to make this component lies in the ideal already.
        """
        if self.degree < 2 or len(self.shape.mu) > alpha + 1:
            return 0
        if self.ideal(alpha) == 0:
            return 0
        return self.ideal(alpha) - self.count_products(len(self.shape.mu) == alpha + 1)

    @cached_property
    def invariants(self) -> FloatArray:
        """A basis of R(λμν): shape (multiplicity, f^λ·f^μ, dim W_ν), integers held as floats."""
        if not len(pair_invariants(self.shape.nu)):
            return np.zeros((0, len(self._factors[0]) * len(self._factors[1]), 0))
        # S^λ is generated by any one of its polytabloids, so sums over 𝔖_n of e_1 ⊗ x are enough.
        seeds = self._seeds(np.eye(1, len(self._factors[0])))
        return _independent(self._sum(seeds, range(1, self.degree)))

    @cached_property
    def image(self) -> FloatArray:
        """The images of :attr:`invariants` under φ: shape (multiplicity, f^λ·f^μ, f^ν)."""
        return self._parametrize(self.invariants, self.degree)

    @cached_property
    def products(self) -> FloatArray:
        """A basis of the multiplicity space of R_{n−1} ⊗ R_1: the invariants of 𝔖_{n−1}."""
        # Restricted to 𝔖_{n−1}, S^λ is multiplicity free: almost every vector generates it.
        generic = np.arange(1, len(self._factors[0]) + 1, dtype=np.float64)[np.newaxis] ** 2
        expected = sum(component(rest).ring for rest in smaller_shapes(self.shape))
        for start in (generic, np.eye(len(self._factors[0]))):
            basis = _independent(self._sum(self._seeds(start), range(1, self.degree - 1)))
            if len(basis) == expected:
                return basis
        raise ArithmeticError(f"{self.shape}: {len(basis)} invariants where Pieri's rule gives {expected}")

    def _map_products(self, at_edge: bool) -> tuple[FloatArray, FloatArray]:
        """The images of :attr:`products` under Φ and Ψ.

        Φ = φ ⊗ 1 on R_{n−1} ⊗ R_1, modulo what vanishes on {rank A ≤ α}: at the edge ℓ(μ) = α + 1 it keeps
        only the part of S^μ restricted to 𝔖_{n−1} that has α rows, where the box removed is the last row of
        μ. Ψ is the multiplication to R_n, a sum over cosets of 𝔖_{n−1}.
        """
        mapped = self._parametrize(self.products, self.degree - 1)
        multiplied = self._sum(self.products, [self.degree - 1])
        return (self._remove_last_row(mapped) if at_edge else mapped), multiplied

    def _count_products(self, at_edge: bool) -> int:
        """The multiplicity of the module in R_1·I_{n−1}: dim Ψ(ker Φ) = rank (Φ, Ψ) − rank Φ."""
        mapped, multiplied = self._map_products(at_edge)
        return _rank(np.concatenate([mapped, multiplied], axis=2)) - _rank(mapped)

    def ideal_tensors(self, alpha: int) -> FloatArray:
        """A basis of the multiplicity space of the ideal, as invariants in S^λ ⊗ S^μ ⊗ W_ν."""
        if len(self.shape.mu) > alpha:
            return self.invariants
        return _kernel(self.image, self.invariants)

    def product_tensors(self, alpha: int) -> FloatArray:
        """A basis of the multiplicity space of R_1·I_{n−1}, as invariants in S^λ ⊗ S^μ ⊗ W_ν."""
        return _independent(_kernel(*self._map_products(len(self.shape.mu) == alpha + 1)))

    def _seeds(self, first: FloatArray) -> FloatArray:
        """The tensors x ⊗ e_j ⊗ w for the rows x of ``first``, all e_j in S^μ and the basis w of W_ν."""
        f_lam, f_mu, size = len(self._factors[0]), len(self._factors[1]), len(pair_invariants(self.shape.nu))
        tensors: FloatArray = np.einsum("xl,jm,wn->xjwlmn", first, np.eye(f_mu), np.eye(size))
        return tensors.reshape(len(first) * f_mu * size, f_lam * f_mu, size)

    def _parametrize(self, tensors: FloatArray, n: int) -> FloatArray:
        """The sum over 𝔖_n acting on λ and the letters v_1, ..., v_n, in S^ν."""
        tensors = _exact(tensors @ pair_invariants(self.shape.nu))
        return self._sum(tensors, range(1, n), pairs=False)

    def _sum(self, tensors: FloatArray, steps: Sequence[int], pairs: bool = True) -> FloatArray:
        """Apply 1 + Σ_{i<j} (i j) for each step j: all of them give the sum over a symmetric group.

        The transpositions are of pairs (v_i, a_i), and on λ and μ; or of the letters v_i alone, and on λ.
        """
        lam, mu, nu = self.shape
        for j in steps:
            total = tensors.copy()
            for i in range(j):
                right = (
                    pair_transposition(nu, i, j) if pairs else self._factors[2].transposition(2 * i, 2 * j)
                )
                total += np.matmul(outer_transposition(lam, mu, i, j, pairs), tensors) @ right
            tensors = _exact(total)
        return tensors

    def _remove_last_row(self, tensors: FloatArray) -> FloatArray:
        """Project S^μ, restricted to 𝔖_{n−1}, to the part where the last row of μ, one box, was removed.

        The Jucys-Murphy element Σ_{i<n} (i n) acts on each part by the content of the box removed.
        """
        lam, mu, _ = self._factors
        shape, last = self.shape.mu, self.degree - 1
        if shape[-1] > 1:
            return np.zeros_like(tensors)
        one = np.eye(len(mu))
        murphy = sum((mu.transposition(i, last) for i in range(last)), start=0 * one)
        projector = one
        for row, length in enumerate(shape[:-1]):
            if length > shape[row + 1]:
                projector = projector @ (murphy - (length - 1 - row) * one)
        return _exact(np.matmul(np.kron(np.eye(len(lam)), projector).T, tensors))


@cache
def component(shape: tuple[Partition, Partition, Partition]) -> IsotypicComponent:
    """The isotypic component of this highest weight; the same object for the same weight."""
    return IsotypicComponent(shape)


def shapes(degree: int, d_out: int, d: int) -> Iterator[Shape]:
    """The highest weights (λ, μ, ν) that fit into degree n of a layer: ℓ(λ) ≤ d', ℓ(μ) ≤ d, ℓ(ν) ≤ d.

    >>> [str(shape) for shape in shapes(2, d_out=1, d=2)][:2]
    ['S(2)⊗S(2)⊗S(4)', 'S(2)⊗S(2)⊗S(3,1)']
    """
    sizes = ((degree, d_out), (degree, d), (2 * degree, d))
    yield from starmap(Shape, product(*(partitions(size, parts) for size, parts in sizes)))


def smaller_shapes(shape: Shape) -> Iterator[Shape]:
    """The components of R_{n−1} that R_1 maps to this one: a box less in λ and μ, two boxes less in ν.

    The two boxes must lie in different columns (Pieri's rule for S²U).
    """
    boxes = zip(shape, (1, 1, 2), strict=True)
    yield from starmap(Shape, product(*(horizontal_strips(part, removed) for part, removed in boxes)))


@cache
def pair_invariants(nu: Partition) -> FloatArray:
    """A basis of W_ν: the vectors of S^ν unchanged when v_j and a_j are exchanged, for every j.

    It is a basis of all integer vectors in W_ν, so that 𝔖_n, too, acts on it by integer matrices.

    >>> pair_invariants((2, 2))
    array([[ 2., -1.]])
    """
    module = specht_module(nu)
    basis = np.eye(len(module))
    for j in range(sum(nu) // 2):
        basis = _exact(basis + basis @ module.transposition(2 * j, 2 * j + 1))
    basis = _independent(basis)
    if not len(basis):
        return basis
    rows = flint.fmpz_mat(*basis.shape, basis.astype(np.int64).ravel().tolist())
    return np.array([[int(x) for x in row] for row in saturate(rows).tolist()], dtype=np.float64)


def saturate(rows: flint.fmpz_mat) -> flint.fmpz_mat:
    """A basis of all integer vectors in the row space of a matrix of full row rank.

    >>> saturate(flint.fmpz_mat([[2, 0, 4]]))
    [1, 0, 2]
    """
    # If H is the Hermite form of the columns, the rows of H⁻ᵀB generate all integer vectors.
    columns = rows.transpose()
    hermite = flint.fmpz_mat(columns.hnf().tolist()[: rows.nrows()])
    return (flint.fmpq_mat(columns) * flint.fmpq_mat(hermite).inv()).numer_denom()[0].transpose()


@cache
def outer_transposition(lam: Partition, mu: Partition, i: int, j: int, both: bool = True) -> FloatArray:
    """The transposed matrix of (i j) on S^λ ⊗ S^μ, acting on both factors or on the first alone."""
    first, second = specht_module(lam).transposition(i, j), specht_module(mu)
    other = second.transposition(i, j) if both else np.eye(len(second))
    size = len(first) * len(second)
    blocks = first.T[:, np.newaxis, :, np.newaxis] * other.T[np.newaxis, :, np.newaxis, :]
    return blocks.reshape(size, size)


@cache
def pair_transposition(nu: Partition, i: int, j: int) -> FloatArray:
    """The exchange of the pairs (v_i, a_i) and (v_j, a_j), in the basis of W_ν."""
    module, basis = specht_module(nu), pair_invariants(nu)
    moved = basis @ module.transposition(2 * i, 2 * j) @ module.transposition(2 * i + 1, 2 * j + 1)
    matrix = np.rint(moved @ np.linalg.pinv(basis)) + 0.0
    if not np.array_equal(matrix @ basis, moved):
        raise ArithmeticError(
            f"the action on the pair invariants of {nu} could not be found in floating point"
        )
    return matrix


def _exact(values: FloatArray) -> FloatArray:
    """The same integers, once it is sure that no float had to round them."""
    if values.size and np.abs(values).max() >= 2.0**50:
        raise OverflowError("an integer of a Specht module computation is beyond 2^50")
    return values


def _independent(tensors: FloatArray) -> FloatArray:
    """A maximal independent set of the given tensors, the first index counting them.

    Independent mod p implies independent; that none is lost, too, is for the caller to know from a dimension.
    """
    if not len(tensors):
        return tensors
    return tensors[echelon(flint.nmod_mat(_gram(tensors), PRIME))[1]]


def _rank(tensors: FloatArray) -> int:
    """The rank over ℚ of integer tensors, the first index counting them."""
    return proved_rank(_gram(tensors)) if tensors.size else 0


def _gram(tensors: FloatArray) -> flint.fmpz_mat:
    """The matrix of scalar products, which has the same rank over ℚ, and the same linear relations."""
    rows = tensors.reshape(len(tensors), -1)
    if not rows.size or np.abs(rows).max() ** 2 * rows.shape[1] < 2.0**52:
        products = (rows @ rows.T).astype(np.int64)
        return flint.fmpz_mat(len(rows), len(rows), products.ravel().tolist())
    matrix = flint.fmpz_mat(*rows.shape, rows.astype(np.int64).ravel().tolist())
    return matrix * matrix.transpose()


def _kernel(image: FloatArray, tensors: FloatArray) -> FloatArray:
    """The combinations of ``tensors`` for a basis of the linear relations among ``image``."""
    relations, nullity = _gram(image).nullspace()
    vectors = [[int(x) for x in vector] for vector in relations.transpose().tolist()[:nullity]]
    primitive = [[x // gcd(*vector) for x in vector] for vector in vectors]
    return _exact(np.tensordot(np.array(primitive).reshape(nullity, len(tensors)) * 1.0, tensors, axes=1))
