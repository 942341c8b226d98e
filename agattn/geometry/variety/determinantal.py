r"""The determinantal variety D_α = {rk A ≤ α} of d × d matrices: its tangent spaces and tangent cones.

At A of rank s write N for the d × (d − s) matrix of a basis of ker A, and L for one of ker Aᵀ. Where
s = α < d the variety is smooth, and its tangent space is {Ȧ : Lᵀ Ȧ N = 0}. Where s < α < d all (α+1)-minors
vanish to second order: the Zariski tangent space is everything, and the tangent cone is
{Ȧ : rk(Lᵀ Ȧ N) ≤ α − s}.

>>> A = [[1, 0], [0, 0]]
>>> in_tangent_cone(A, 1, [[5, 6], [7, 0]]), in_tangent_cone(A, 1, [[0, 0], [0, 1]])
(True, False)
>>> tangent_space_equations(A, 1), tangent_space_equations([[0, 0], [0, 0]], 1)
([0, 0, 0, 1], [])
"""

from __future__ import annotations

from itertools import product

import flint

from agattn.algebra.echelon import Matrix, kernel_basis, rational_matrix
from agattn.algebra.rank import proved_rank


def compression(A: Matrix) -> flint.fmpq_mat:
    """The matrix of the linear map Ȧ ↦ Lᵀ Ȧ N, which keeps what Ȧ does from ker A to the cokernel of A.

    Args:
        A: d × d, exact, of rank s.

    Returns:
        A matrix over ℚ with (d − s)² rows and d² columns; entries of matrices are counted row by row.

    >>> compression([[1, 0], [0, 0]])
    [0, 0, 0, 1]
    """
    d = len(A)
    matrix = rational_matrix(A, d)
    pairs = product(kernel_basis(matrix.transpose()), kernel_basis(matrix))
    return rational_matrix([[x * z for x in left for z in right] for left, right in pairs], d * d)


def in_tangent_cone(A: Matrix, alpha: int, direction: Matrix) -> bool:
    """Whether a direction lies in the tangent cone of {rk ≤ alpha} at A.

    Args:
        A: d × d, exact, of rank at most ``alpha``.
        alpha: the largest rank of the variety.
        direction: Ȧ, d × d, exact.

    See Also:
        :func:`tangent_space_equations`, for the tangent space.

    >>> in_tangent_cone([[0, 0], [0, 0]], 1, [[1, 0], [0, 1]])
    False
    """
    d = len(A)
    size = d - proved_rank(rational_matrix(A, d))
    flat = rational_matrix([[x] for row in direction for x in row], 1)
    compressed = flint.fmpq_mat(size, size, (compression(A) * flat).entries())
    return proved_rank(compressed) <= alpha - d + size


def tangent_space_equations(A: Matrix, alpha: int) -> flint.fmpq_mat:
    """The equations of the Zariski tangent space of {rk ≤ alpha} at A.

    Args:
        A: d × d, exact, of rank at most ``alpha``.
        alpha: the largest rank of the variety.

    Returns:
        A matrix over ℚ, with a row for each equation in the d² entries of Ȧ; no rows where the tangent space
        is the whole space.

    See Also:
        :func:`in_tangent_cone`, for the tangent cone.

    >>> tangent_space_equations([[1, 0], [0, 0]], 1)
    [0, 0, 0, 1]
    """
    d = len(A)
    below = proved_rank(rational_matrix(A, d)) < alpha
    return flint.fmpq_mat(0, d * d) if below else compression(A)
