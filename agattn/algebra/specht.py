"""Specht modules: the irreducible representations of the symmetric groups, by integer matrices.

The Specht module S^λ of a partition λ of n is spanned, inside the permutation module on words with λ_r
letters r, by the polytabloids e_T, T a standard tableau:

    e_T = Σ_σ sgn(σ) · (the word that has at each entry of σT the row of that entry),

σ running over the permutations that preserve the columns of T. Words of length n are tensors in E^{⊗n}, and
S^λ is the space of highest weight vectors of weight λ in it (James' kernel intersection theorem; Schur-Weyl
duality).

>>> module = specht_module((2, 1))
>>> module.tableaux
(((0, 1), (2,)), ((0, 2), (1,)))
>>> module.transposition(0, 1)
array([[ 1., -1.],
       [ 0., -1.]])
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agattn.algebra.characters import Partition, conjugate

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Tableau = tuple[tuple[int, ...], ...]


class SpechtModule:
    """The Specht module of a partition of n, in the basis of standard polytabloids.

    The letters that the symmetric group permutes are the positions 0, ..., n − 1 of the words. The standard
    :attr:`tableaux` index the basis.
    """

    def __init__(self, shape: Partition) -> None:
        self.shape = shape
        self.size = sum(shape)
        self._transpositions: dict[tuple[int, int], FloatArray] = {}

    def __len__(self) -> int:
        return len(self._standard_words)

    @cached_property
    def _standard_words(self) -> IntArray:
        """The row of each entry in the standard tableaux: shape (dimension, n)."""
        return _standard_words(self.shape)

    @cached_property
    def _rows(self) -> list[IntArray]:
        """The entries of each row: shape (dimension, length of the row)."""
        words = self._standard_words
        rows = enumerate(self.shape)
        return [np.nonzero(words == r)[1].reshape(len(words), length) for r, length in rows]

    @property
    def tableaux(self) -> tuple[Tableau, ...]:
        """The standard tableaux, each as its rows."""
        return tuple(tuple(tuple(map(int, row)) for row in rows) for rows in zip(*self._rows, strict=True))

    @cached_property
    def _columns(self) -> list[tuple[int, IntArray]]:
        """For each column of the shape its height h, and the h entries of it in each tableau."""
        return [
            (height, np.stack([row[:, column] for row in self._rows[:height]], axis=1))
            for column, height in enumerate(conjugate(self.shape))
        ]

    def coefficients(self, words: IntArray) -> npt.NDArray[np.int8]:
        """The coefficients of all polytabloids at some words.

        Args:
            words: shape (m, n), one word with entries in 0, 1, ... in each row.

        Returns:
            Shape (dimension, m), with entries 0, 1 and −1.
        """
        letters = words.T.astype(np.int8)
        result = np.ones((len(self), len(words)), dtype=np.int8)
        for height, entries in self._columns:
            rows = [letters[entries[:, k]] for k in range(height)]
            # The entries of a column must lie in the rows 0, ..., h − 1 in some order, whose sign counts.
            for k in range(height):
                result *= rows[k] < height
                for j in range(k):
                    result *= np.sign(rows[k] - rows[j])
        return result

    @cached_property
    def _inverse(self) -> FloatArray:
        """Turns coefficients at the standard words into coordinates; an integer matrix of determinant ±1."""
        matrix = self.coefficients(self._standard_words).astype(np.float64)
        # Unitriangular in an order that refines dominance, so the inverse is integral, and checked below.
        inverse: FloatArray = np.rint(np.linalg.inv(matrix))
        if np.abs(inverse).max() >= 2.0**32 or not np.array_equal(matrix @ inverse, np.eye(len(self))):
            raise ArithmeticError(
                f"the polytabloids of shape {self.shape} could not be inverted in floating point"
            )
        return inverse

    @cached_property
    def _simple(self) -> FloatArray:
        """The matrices of (0 1), (1 2), ..., (n−2 n−1): shape (n − 1, dimension, dimension)."""
        swapped = []
        for i in range(self.size - 1):
            words = self._standard_words.copy()
            words[:, [i, i + 1]] = words[:, [i + 1, i]]
            swapped.append(words)
        values = self.coefficients(np.concatenate(swapped)).reshape(len(self), self.size - 1, len(self))
        result: FloatArray = np.matmul(values.swapaxes(0, 1).astype(np.float64), self._inverse)
        return result

    def transposition(self, i: int, j: int) -> FloatArray:
        """The matrix of the transposition (i j): its row T holds the coordinates of (i j)·e_T.

        Integers far below 2^53, held as floats for the speed of BLAS.
        """
        i, j = min(i, j), max(i, j)
        if (i, j) not in self._transpositions:
            matrix = self._simple[j - 1]
            if j > i + 1:
                matrix = matrix @ self.transposition(i, j - 1) @ matrix
            self._transpositions[i, j] = matrix
        return self._transpositions[i, j]

    @cached_property
    def words(self) -> IntArray:
        """All words with λ_r letters r, shape (n!/Πλ_r!, n), in lexicographic order."""
        return np.array(list(_words(self.shape)), dtype=np.int64).reshape(-1, self.size)

    @cached_property
    def tensors(self) -> npt.NDArray[np.int8]:
        """The polytabloids as tensors: shape (dimension, number of :attr:`words`)."""
        return self.coefficients(self.words)


@cache
def specht_module(shape: Partition) -> SpechtModule:
    """The Specht module of this shape; the same object for the same shape."""
    return SpechtModule(shape)


@cache
def _standard_words(shape: Partition) -> IntArray:
    """The row of each entry in all standard tableaux; without its last entry a tableau is a standard one."""
    if not sum(shape):
        return np.zeros((1, 0), dtype=np.int64)
    words = []
    for row in reversed(range(len(shape))):
        if shape[row] > (shape[row + 1] if row + 1 < len(shape) else 0):
            rest = _standard_words((*shape[:row], shape[row] - 1, *shape[row + 1 :]))
            words.append(np.pad(rest, ((0, 0), (0, 1)), constant_values=row))
    return np.concatenate(words)


def _words(content: Partition) -> Iterator[tuple[int, ...]]:
    if not sum(content):
        yield ()
        return
    for letter, count in enumerate(content):
        if count:
            for tail in _words((*content[:letter], count - 1, *content[letter + 1 :])):
                yield (letter, *tail)
