"""Reduced row echelon forms of FLINT matrices: where their rows begin."""

from __future__ import annotations

from typing import Any


def echelon(matrix: Any) -> tuple[Any, list[int]]:
    """The reduced row echelon form, and the columns of its leading entries: as many as the rank.

    Args:
        matrix: over a field: an ``fmpq_mat``, or an ``nmod_mat`` modulo a prime.

    >>> import flint
    >>> echelon(flint.fmpq_mat([[0, 2, 4], [0, 1, 2], [0, 0, 3]]))
    ([0, 1, 0]
    [0, 0, 1]
    [0, 0, 0], [1, 2])
    """
    reduced, rank = matrix.rref()
    pivots: list[int] = []
    column = 0
    for row in range(rank):
        while not reduced[row, column]:
            column += 1
        pivots.append(column)
        column += 1
    return reduced, pivots
