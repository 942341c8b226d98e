"""The map (K, Q) ↦ KᵀQ from pairs of a × d matrices, at a pair of full rank.

GL(a) acts on its fibers by (K, Q) ↦ (C⁻ᵀK, CQ). The pairs with KᵀQ of rank a ≤ d are one orbit of
GL(a) × GL(d) × GL(d), so one representative decides for all of them.

>>> from agattn.architectures import SingleLayer
>>> factorization_at_full_rank(SingleLayer(3, 1, 2))
Factorization(fiber_dimension=4, image_dimension=8, free_action=True)
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import flint

from agattn.architectures import SingleLayer
from agattn.errors import InputError


class Factorization(NamedTuple):
    """The kernel and the rank of the differential of (K, Q) ↦ KᵀQ, and whether only C = 1 fixes the pair."""

    fiber_dimension: int
    image_dimension: int
    free_action: bool


def factorization_at_full_rank(layer: SingleLayer) -> Factorization:
    """The differential and the action at K = Q = [1_a 0], exactly, for a ≤ d.

    Raises:
        InputError: if a > d, where KᵀQ never has rank a.

    Source: HMK, Lemma 3.1.
    """
    a, d = layer.a, layer.d
    if a > d:
        raise InputError(f"a is {a} and d is {d}; KᵀQ has rank a only for a ≤ d")
    differential = flint.fmpz_mat(d * d, 2 * a * d)
    for n, (i, j) in enumerate(product(range(a), range(d))):
        # K̇ᵀQ for K̇ = E_{ij} is E_{ji}, and KᵀQ̇ for Q̇ = E_{ij} is E_{ij}, as the rows of K, Q are units.
        differential[j * d + i, 2 * n] = differential[i * d + j, 2 * n + 1] = 1
    rank = differential.rank()
    # C fixes Q iff (C − 1)Q = 0; the rows of Q are independent, so iff C = 1.
    Q = flint.fmpz_mat([[int(i == j) for j in range(d)] for i in range(a)])
    return Factorization(2 * a * d - rank, rank, Q.rank() == a)
