"""The verb about matrices: the rank of one in memory, or in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agattn.algebra import rank as ladder
from agattn.algebra.matrices import BallMatrix, ExactMatrix, exact_radius, read_matrix
from agattn.algebra.matrix_io import load_matrix
from agattn.algebra.rank import RankResult
from agattn.errors import InputError
from agattn.files import about_file


def rank(
    matrix: Any, method: str = "auto", *, precision: int = 128, radius: Any = None, seed: int = 0
) -> RankResult:
    """The rank of a real matrix, and how it is known.

    Args:
        matrix: rows of integers, rationals, decimals in text or floats; an array; anything else that
            :func:`agattn.algebra.rank.rank` reads; or the path of a file, .npy, .npz, .csv, .mtx or .json.
        method: ``"rational"``, ``"modular"``, ``"ball"``, ``"mpmath"``, or ``"auto"``.
        precision: bits to start from, for balls and mpmath.
        radius: how far each inexact entry may be from the number written; by default half a unit of the last
            place of floats, and of decimals with 16 digits or more.
        seed: of the random primes.

    Raises:
        InputError: if the matrix or the method cannot be used.

    See Also:
        :func:`agattn.dimension`; ``agattn rank`` in a shell.

    >>> import agattn as ag
    >>> ag.rank([["1/10", "2/10"], ["3/10", "6/10"]])
    rank 1 (proved)
    """
    if callable(matrix):
        raise InputError("the matrix is a function; give its rows, an array, or the path of a file")
    if isinstance(matrix, (str, Path)):
        matrix, radius = matrix_in(Path(matrix), radius), None
    return ladder.rank(matrix, method, precision=precision, radius=radius, seed=seed)


def matrix_in(path: Path, radius: Any = None) -> ExactMatrix | BallMatrix:
    """The matrix in a file: .npy, .npz, .csv, .mtx or .json.

    Args:
        path: of the file.
        radius: as for :func:`agattn.rank`.

    Raises:
        InputError: if the file cannot be read or does not hold one matrix.
    """
    radius = exact_radius(radius)
    loaded = load_matrix(path)
    try:
        return read_matrix(loaded, radius)
    except InputError as error:
        raise InputError(about_file(path, str(error))) from None
