"""The map (K, Q) ↦ KᵀQ from pairs of a × d matrices, at a pair of full rank.

GL(a) acts on its fibers by (K, Q) ↦ (C⁻ᵀK, CQ). The pairs with KᵀQ of rank a ≤ d are one orbit of
GL(a) × GL(d) × GL(d), so one representative decides for all of them.

>>> from agattn.architectures import SingleLayer
>>> factorization_at_full_rank(SingleLayer(3, 1, 2))
Factorization(fiber_dimension=4, image_dimension=8, free_action=True)
"""

from __future__ import annotations

from dataclasses import dataclass

import flint

from agattn.algebra.rank import proved_rank
from agattn.architectures import SingleLayer
from agattn.errors import InputError


@dataclass(frozen=True)
class Factorization:
    """What the differential of (K, Q) ↦ KᵀQ and the action of GL(a) are at a pair of full rank.

    Attributes:
        fiber_dimension: the dimension of the kernel of the differential.
        image_dimension: its rank.
        free_action: whether only C = 1 fixes the pair.
    """

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
    columns = []
    for i in range(a):
        for j in range(d):
            # K̇ᵀQ for K̇ = E_{ij} is E_{ji}, and KᵀQ̇ for Q̇ = E_{ij} is E_{ij}, as the rows of K, Q are units.
            columns.append({(j, i): 1})
            columns.append({(i, j): 1})
    differential = flint.fmpz_mat(d * d, len(columns))
    for n, column in enumerate(columns):
        for (row, b), value in column.items():
            differential[row * d + b, n] = value
    rank = proved_rank(differential)
    # C fixes Q iff (C − 1)Q = 0; the rows of Q are independent, so iff C = 1.
    Q = flint.fmpz_mat([[int(i == j) for j in range(d)] for i in range(a)])
    return Factorization(len(columns) - rank, rank, Q.rank() == a)
