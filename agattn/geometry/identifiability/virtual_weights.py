"""Deep lightning networks in the paper's letters: virtual weights, the recursion, and the unrolled product.

Layer i is X ↦ V_i X Xᵀ A_i X. All functions take lists A = [A_1, ..., A_l] and V = [V_1, ..., V_l] of numpy
arrays over any scalars; for residues modulo a prime pass their arithmetic, otherwise ``+`` and ``*`` are
used.

>>> import numpy as np
>>> A = [np.array([[1, 2], [0, 1]], dtype=object), np.array([[0, 1], [1, 1]], dtype=object)]
>>> V = [np.array([[1, 1], [0, 1]], dtype=object), np.array([[2, 1]], dtype=object)]
>>> X = np.array([[1, 0], [1, 2]], dtype=object)
>>> M, L = virtual_weights(A, V)
>>> lightning(A, V, X)
array([[31952, 54904]], dtype=object)
>>> unrolled(M, L, X)
array([[31952, 54904]], dtype=object)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import flint
import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, RingArithmetic
from agattn.errors import InputError

Matrices = Sequence[Array]

_RING = RingArithmetic()


def lightning(A: Matrices, V: Matrices, X: Array, arithmetic: Arithmetic = _RING) -> Array:
    """φ(X) for the network with these layers; X is d_0 × t, the result d_l × t."""
    return layer_outputs(A, V, X, arithmetic)[-1]


def layer_outputs(A: Matrices, V: Matrices, X: Array, arithmetic: Arithmetic = _RING) -> list[Array]:
    """X_0 = X, X_1, ..., X_l, with X_i = V_i X_{i−1} X_{i−1}ᵀ A_i X_{i−1} (HMK, equation 3)."""
    mul = arithmetic.matmul
    outputs = [X]
    for A_i, V_i in zip(A, V, strict=True):
        S = mul(X.T, mul(A_i, X))
        X = mul(V_i, mul(X, S))
        outputs.append(X)
    return outputs


def partial_products(V: Matrices, arithmetic: Arithmetic = _RING) -> list[Array]:
    """L_0 = 1, L_1, ..., L_l with L_i = V_i ... V_1."""
    products = [arithmetic.identity(V[0].shape[1])]
    for V_i in V:
        products.append(arithmetic.matmul(V_i, products[-1]))
    return products


def virtual_weights(A: Matrices, V: Matrices, arithmetic: Arithmetic = _RING) -> tuple[list[Array], Array]:
    """(M, L) with M_i = L_{i−1}ᵀ A_i L_{i−1} and L = V_l ... V_1 (HMK, equation 8)."""
    products = partial_products(V, arithmetic)
    M = [arithmetic.matmul(L_i.T, arithmetic.matmul(A_i, L_i)) for A_i, L_i in zip(A, products, strict=False)]
    return M, products[-1]


def token_mixings(M: Matrices, X: Array, arithmetic: Arithmetic = _RING) -> list[Array]:
    """P_0 = 1, ..., P_l with P_i = P_{i−1} P_{i−1}ᵀ (Xᵀ M_i X) P_{i−1}, t × t (HMK, Lemma 3.6).

    Then X_i = L_i X P_i.
    """
    mul = arithmetic.matmul
    mixings = [arithmetic.identity(X.shape[1])]
    for M_i in M:
        P = mixings[-1]
        mixings.append(mul(mul(P, P.T), mul(mul(X.T, mul(M_i, X)), P)))
    return mixings


def from_virtual(M: Matrices, L: Array, X: Array, arithmetic: Arithmetic = _RING) -> Array:
    """φ(X) = L X P_l, from the virtual weights alone (HMK, Lemma 3.6)."""
    return arithmetic.matmul(L, arithmetic.matmul(X, token_mixings(M, X, arithmetic)[-1]))


def unrolled_factors(l: int) -> list[tuple[int, bool]]:  # the paper's l
    """The factors M̃_1, M̃_2, ... of HMK's equation 12, as (ν, whether transposed).

    ν is one plus the number of zeros at the end of j in base 3; M̃_j is M_ν if the last nonzero digit is 1
    and M_νᵀ if it is 2.

    >>> unrolled_factors(2)
    [(1, False), (1, True), (2, False), (1, False)]
    """
    factors = []
    for j in range(1, (3**l - 1) // 2 + 1):
        nu = 1
        while j % 3 == 0:
            j //= 3
            nu += 1
        factors.append((nu, j % 3 == 2))
    return factors


def unrolled(M: Matrices, L: Array, X: Array, arithmetic: Arithmetic = _RING) -> Array:
    """φ(X) = L · Π_{j=1}^{(3^l−1)/2} (X Xᵀ M̃_j) · X (HMK, equation 12)."""
    mul = arithmetic.matmul
    gram = mul(X, X.T)
    product = L
    for nu, transposed in unrolled_factors(len(M)):
        M_j = M[nu - 1].T if transposed else M[nu - 1]
        product = mul(product, mul(gram, M_j))
    return mul(product, X)


def rescale(
    M: Matrices, L: Array, lam: Fraction | int, mu: Sequence[Fraction | int]
) -> tuple[list[Array], Array]:
    """(μ_i M_i, λ L), which has the same function if λ Π μ_i^{3^{l−i}} = 1 (HMK, equation 13).

    Raises:
        InputError: if the condition fails, or if there is not one μ_i for each M_i.

    >>> rescale([np.array([[2]])], np.array([[3]]), Fraction(1, 2), [2])[0]
    [array([[4]])]
    """
    if len(mu) != len(M):
        raise InputError(f"{len(mu)} factors μ for {len(M)} virtual weights; give one for each")
    if lam * rescaling_weight(mu) != 1:
        raise InputError(f"λ = {lam} and μ = {list(mu)} do not satisfy λ Π μ_i^(3^(l−i)) = 1")
    return [m * M_i for m, M_i in zip(mu, M, strict=True)], lam * L


def rescaling_weight(mu: Sequence[Fraction | int]) -> Fraction | int:
    """Π μ_i^{3^{l−i}}: by how much φ grows when each M_i is multiplied by μ_i.

    >>> rescaling_weight([2, 3, 5])
    69120
    """
    result: Fraction | int = 1
    for m in mu:
        result = result**3 * m
    return result


def rational_inverse(matrix: Array) -> Array:
    """The inverse of a square array of ints or Fractions, exactly.

    Raises:
        ZeroDivisionError: if it is singular.
    """
    n = len(matrix)
    entries = [flint.fmpq(Fraction(x).numerator, Fraction(x).denominator) for x in matrix.ravel().tolist()]
    inverse = flint.fmpq_mat(n, n, entries).inv()
    flat = [Fraction(int(x.p), int(x.q)) for x in inverse.entries()]
    return np.array(flat, dtype=object).reshape(n, n)


def change_basis(
    A: Matrices,
    V: Matrices,
    C: Matrices,
    arithmetic: Arithmetic = _RING,
    inverse: Callable[[Array], Array] = rational_inverse,
) -> tuple[list[Array], list[Array]]:
    """V_i → C_i V_i C_{i−1}⁻¹, A_i → C_{i−1}⁻ᵀ A_i C_{i−1}⁻¹, with C_0 = C_l = 1 (HMK, equation 9).

    The virtual weights stay what they are.

    Args:
        A: the attention matrices.
        V: the value matrices.
        C: C_1, ..., C_{l−1}, invertible, C_i of size d_i.
        arithmetic: that of the scalars.
        inverse: inverts a matrix over the scalars.

    Raises:
        InputError: if there are not l − 1 matrices C_i.
    """
    if len(C) != len(A) - 1:
        raise InputError(
            f"{len(C)} matrices C for {len(A)} layers; give one for each space between two layers"
        )
    mul = arithmetic.matmul
    new_A, new_V = list(A), list(V)
    for i, C_i in enumerate(C):
        C_inverse = inverse(C_i)
        new_V[i] = mul(C_i, new_V[i])
        new_V[i + 1] = mul(new_V[i + 1], C_inverse)
        new_A[i + 1] = mul(C_inverse.T, mul(A[i + 1], C_inverse))
    return new_A, new_V
