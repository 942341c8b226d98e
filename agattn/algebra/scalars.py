"""Exact or floating: which arithmetic a matrix or tensor asks for, and how a rank was decided in it.

Integers and rationals are computed with exactly. Everything else is float64, where a rank is a decision:
singular values below ``tolerance`` times the largest count as zero. The *margin* of the decision is the
factor by which the nearest singular value is away from that threshold; a margin near 1 means that another
tolerance would have given another rank.

>>> decide_rank([[1, 2], [2, 4]])
rank 1
>>> decide_rank([[1.0, 0.0], [0.0, 1e-3]], tolerance=1e-9)
rank 2 (margin 1e+06)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import flint
import numpy as np
import numpy.typing as npt

from agattn.algebra.echelon import fraction, rational_matrix
from agattn.algebra.matrices import read_number
from agattn.errors import InputError
from agattn.sheet.result import FINITE, Count, Key, Result

Array = npt.NDArray[Any]

TOLERANCE = 1e-9
"""Relative size below which a singular value counts as zero in floating point, unless said otherwise."""


class Float(NamedTuple):
    """A type of stored numbers: the nearest one to x differs by at most ``roundoff · abs(x) + least``."""

    roundoff: float
    least: float = 0.0


#: The types in which numbers are stored, the finest first.
FLOATS = {
    "exact": Float(0.0),
    "float64": Float(2.0**-53),
    "float32": Float(2.0**-24),
    "float16": Float(2.0**-11, 2.0**-25),
    "bfloat16": Float(2.0**-8),
}


def coarsest(types: Iterable[str]) -> str:
    """The type whose numbers are farthest from each other.

    >>> coarsest(["float64", "float16", "float32"])
    'float16'
    """
    return max(types, key=lambda name: FLOATS[name].roundoff)


def stored_type(values: Any) -> str:
    """The type of numbers as they are given: ``exact`` for integers and rationals, else that of the array.

    >>> stored_type([[1, "1/2"]]), stored_type([[0.5]]), stored_type(np.ones(2, np.float32))
    ('exact', 'float64', 'float32')
    """
    name = str(getattr(values, "dtype", "")).rpartition(".")[2]  # torch.float32 is one, too
    if name in FLOATS:
        return name
    array = unread(values, "the array")
    if array.dtype.kind == "f":
        return "float64"
    return "float64" if any(isinstance(x, (float, np.floating)) for x in array.ravel().tolist()) else "exact"


def rounding(array: Array, dtype: str) -> float:
    """How far an array, in the Frobenius norm and relative to it, can be from one that was rounded to it.

    >>> rounding(np.ones((2, 2)), "float32") == 2.0**-24
    True
    """
    size, kind = float(np.linalg.norm(array)), FLOATS[dtype]
    return kind.roundoff + (kind.least * np.sqrt(array.size) / size if size and kind.least else 0.0)


class RankDecision(Result):
    """A rank and how safely it was decided.

    The margin is above 1, and ``inf`` if there is nothing but zeros on the other side of the tolerance.
    """

    rank: Key[Count, "The rank decided upon."]
    tolerance: Key[float | None, "Smaller singular values, relatively, count as zero; null if exact."]
    margin: Key[float | None, "Factor from tolerance to nearest singular value; null if exact or ∞.", FINITE]

    def summary(self) -> str:
        """The rank and the margin."""
        return f"rank {self.rank}" + ("" if self.margin is None else f" (margin {self.margin:.3g})")


def scalars(values: Any, name: str) -> Array:
    """An array of Fractions (dtype ``object``) if all entries are integers or rationals, else of float64.

    Raises:
        InputError: if the entries form no array, or one of them is not a finite real number.

    >>> scalars([[1, "1/3"]], "A")
    array([[Fraction(1, 1), Fraction(1, 3)]], dtype=object)
    >>> scalars([0.5, "1/4"], "y")
    array([0.5 , 0.25])
    >>> scalars([1.5, float("nan")], "y")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: y has the entry nan; all entries must be finite real numbers
    """
    array = unread(values, name)
    if array.dtype.kind == "f" or array.dtype.name == "bfloat16":
        return _finite(array.astype(np.float64), name)
    if array.dtype.kind not in "biuO":
        raise InputError(f"{name} has entries of type {array.dtype}; all entries must be real numbers")
    flat = array.ravel().tolist()
    if any(isinstance(x, (float, np.floating)) for x in flat):
        try:
            numbers = (fraction(read_number(x)[0]) if isinstance(x, str) else x for x in flat)
            floats = np.array([*map(float, numbers)]).reshape(array.shape)
        except OverflowError as error:
            raise InputError(f"{name} has an entry too large for floating point; scale the input") from error
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} holds something that is not a number") from error
        return _finite(floats, name)
    entries = np.empty(len(flat), dtype=object)
    for n, x in enumerate(flat):
        try:
            middle, radius = read_number(x)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        if radius:
            raise InputError(f"{name} has the entry {x}, a ball; give rationals or plain floats")
        entries[n] = fraction(middle)
    return entries.reshape(array.shape)


def unread(values: Any, name: str) -> Array:
    """An array whose entries are as they were given, so that its shape is known before they are read.

    Raises:
        InputError: if they form no array.
    """
    if isinstance(values, np.ndarray):
        return np.asarray(values)  # np.matrix has two axes whatever is done to it
    convert = getattr(values, "tolist", getattr(values, "table", None))
    try:
        array = np.asarray(convert() if convert else values, dtype=object)
    except ValueError as error:
        raise InputError(f"{name} has rows of different lengths") from error
    if any(isinstance(x, (list, tuple, np.ndarray)) for x in array.ravel().tolist()):
        raise InputError(f"{name} has rows of different lengths")
    return array


def unread_matrix(values: Any, name: str) -> Array:
    """As :func:`unread`, for a matrix with at least one row and one column.

    Raises:
        InputError: also if it is no such matrix.
    """
    array = unread(values, name)
    if array.ndim != 2 or not array.size:
        raise InputError(f"{name} has the shape {array.shape}; it must be a matrix with rows and columns")
    return array


def _finite(array: Array, name: str) -> Array:
    for bad in array[~np.isfinite(array)][:1]:
        raise InputError(f"{name} has the entry {bad}; all entries must be finite real numbers")
    return array


def matrix(values: Any, name: str) -> Array:
    """As :func:`scalars`, for a matrix with at least one row and one column.

    Raises:
        InputError: also if it is no such matrix.
    """
    return scalars(unread_matrix(values, name), name)


def is_exact(*arrays: Array) -> bool:
    """Whether all arrays hold exact numbers.

    >>> is_exact(scalars([1], "y")), is_exact(scalars([0.5], "y"))
    (True, False)
    """
    return all(array.dtype == object for array in arrays)


def as_floats(array: Array) -> Array:
    """The array in float64.

    Raises:
        InputError: if an exact entry is too large for it.
    """
    try:
        return array.astype(np.float64)
    except OverflowError as error:
        raise InputError("an entry is too large for floating point; scale the input") from error


def scaled(array: Array) -> tuple[Array, int]:
    """A floating array divided by a power of two, so that its largest entry is in [1/2, 1); and the exponent.

    Norms and products of what this returns neither overflow nor vanish. Zeros stay as they are.

    >>> scaled(np.array([3.0, -0.5]))
    (array([ 0.75 , -0.125]), 2)
    """
    exponent = int(np.frexp(np.abs(array).max(initial=0.0))[1])
    # In two steps: 2 to the power of this exponent may itself be beyond the range of floats.
    half = exponent // 2
    return np.ldexp(np.ldexp(array, -half), half - exponent), exponent


def flint_matrix(array: Array) -> flint.fmpq_mat:
    """An exact matrix as a FLINT matrix over ℚ."""
    return rational_matrix(array.tolist(), array.shape[1])


def fraction_matrix(table: flint.fmpq_mat) -> Array:
    """A FLINT matrix as an array of Fractions."""
    entries = [fraction(x) for x in table.entries()]
    return np.array(entries, dtype=object).reshape(table.nrows(), table.ncols())


def decide_rank(values: Any, tolerance: float = TOLERANCE) -> RankDecision:
    """The rank of a matrix: exactly for exact entries, else by singular values."""
    array = matrix(values, "the matrix")
    if is_exact(array):
        return RankDecision(int(flint_matrix(array).rank()), None, None)
    return decide_from_singular_values(np.linalg.svd(scaled(array)[0], compute_uv=False), tolerance)


def decide_from_singular_values(sigma: Array, tolerance: float = TOLERANCE) -> RankDecision:
    """How many of the falling singular values are above ``tolerance`` times the largest of them.

    >>> import numpy as np
    >>> decide_from_singular_values(np.array([4.0, 1e-12]))
    rank 1 (margin 4e+03)
    """
    threshold = tolerance * float(sigma[0]) if len(sigma) else 0.0
    if threshold == 0:
        return RankDecision(0, tolerance, float("inf"))
    rank = int((sigma > threshold).sum())
    ratios = [float(sigma[rank - 1]) / threshold] if rank else []
    if rank < len(sigma):
        ratios.append(threshold / float(sigma[rank]) if sigma[rank] > 0 else float("inf"))
    return RankDecision(rank, tolerance, float(f"{min(ratios):.6g}"))
