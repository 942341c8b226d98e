r"""Matrices as the rank computations hold them: exact ones as integers with row scales, all others as balls.

Integers are kept as an ``int64`` array where they fit, else as an ``fmpz_mat``, or by their nonzero entries.
Two reductions keep the rank of a sparse matrix exactly, over ℤ as over any field in which the pivots are not
zero (:func:`decompose`):

- a row or column with a single nonzero entry is a pivot; its row and column are removed (again and again);
- the rest falls apart into connected components of rows and columns, whose ranks add up.

>>> A = read_matrix([["1/2", 1], [0, "2/3"]])
>>> A.integers.tolist(), A.row_scales
([[1, 2], [0, 2]], (2, 3))
>>> read_matrix([[0.5, 1.25]]).stated
True

Reading numbers: which entries are exact, and how far the others may be from what is written.

Integers and rationals (``3``, ``"22/7"``, ``Fraction``, ``fmpq``) are exact. Every other number is a ball, a
midpoint with a radius, and the radius is *stated*; a number of radius 0 is exact, too:

- an ``arb`` states its own;
- otherwise the argument ``radius`` of the caller, the same for all entries;
- otherwise a binary float is taken as rounded to nearest (half a unit in the last place), an mpmath number
  likewise at mpmath's working precision, and a decimal with at least 16 significant digits in its last digit;
  a shorter decimal is exact as written.

>>> read_number("-6/4"), read_number("0.25")
((-3/2, None), (1/4, None))
>>> read_number(0.5), read_number("0.5", radius=flint.fmpq(1, 4))
((1/2, 1/18014398509481984), (1/2, 1/4))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import flint
import numpy as np

from agattn.algebra.balls import arb_matrix
from agattn.algebra.echelon import rational
from agattn.calls import shown
from agattn.errors import InputError, TooLargeError, worded

# Beyond this a decimal exponent is a mistake or an attack: the exact number would fill the memory.
LARGEST_EXPONENT = 10**6
ROUNDED_DIGITS = 16
NO_COMPLEX = "only real matrices are read: give [[Re, -Im], [Im, Re]], which has twice the rank"

_RATIONAL = re.compile(r"([+-]?\d+)(?:\s*/\s*(\d+))?", re.ASCII)
# Possessive: a run of digits is read once, not in every way to divide it.
_DECIMAL = re.compile(r"([+-]?)(\d*+)\.?(\d*+)(?:[eE]([+-]?\d{1,9}))?", re.ASCII)

Ball = tuple[Any, Any]


def read_number(x: Any, radius: Any = None) -> Ball:
    """Return (midpoint, radius) as ``fmpq``; the radius is ``None`` for an exact number.

    Raises:
        InputError: for anything that is not a finite real number, naming it.
    """
    midpoint, around = _ball(x, radius)
    return midpoint, around or None


def _ball(x: Any, radius: Any) -> Ball:
    if isinstance(x, (bool, np.bool_, int, np.integer)):
        return flint.fmpq(int(x)), None
    if isinstance(x, (flint.fmpz, flint.fmpq, Fraction)):
        return rational(x), None
    if isinstance(x, (float, np.floating)):
        return _float(x, radius)
    if isinstance(x, str):
        return _text(x, radius)
    if isinstance(x, Decimal):
        return _text(str(x), radius)
    if isinstance(x, (complex, np.complexfloating, flint.acb)):
        raise InputError(f"{x} is complex; {NO_COMPLEX}")
    if isinstance(x, flint.arb):
        if not x.is_finite():
            raise InputError(f"{x} is not a finite number")
        return _arb_midpoint(x.mid()), _arb_midpoint(x.rad())
    if hasattr(x, "_mpf_"):
        return _mpf(x, radius)
    if getattr(x, "is_Rational", False) and hasattr(x, "p"):
        return flint.fmpq(int(x.p), int(x.q)), None
    if getattr(x, "is_real", None) is True:  # of sympy
        raise InputError(f"{shown(x)} is not rational: give a decimal such as 1.4142 or sympy.N(x, 30)")
    raise InputError(f"{shown(x)} is not a real number")


def _float(x: Any, radius: Any) -> Ball:
    if not np.isfinite(x):
        raise InputError(f"{x} is not a finite number")
    if radius is None:
        # A zero is exact. Halved as a rational: half of the smallest float is not a float.
        radius = flint.fmpq(*np.spacing(np.abs(x)).as_integer_ratio()) / 2 if x else flint.fmpq(0)
    return flint.fmpq(*x.as_integer_ratio()), radius


def _mpf(x: Any, radius: Any) -> Ball:
    import mpmath

    value = mpmath.mpmathify(x) if not hasattr(x, "is_Float") else x
    sign, mantissa, exponent, bits = value._mpf_
    if not mantissa and exponent:
        raise InputError(f"{x} is not a finite number")
    if abs(exponent) > 4 * LARGEST_EXPONENT:
        raise InputError(f"{shown(x)} has an exponent beyond ±{LARGEST_EXPONENT}")
    midpoint = _power(flint.fmpz(int(mantissa)) * (-1 if sign else 1), 2, int(exponent))
    if radius is None:
        unit = int(exponent) + int(bits) - max(mpmath.mp.prec, int(bits)) - 1
        radius = _power(flint.fmpz(1), 2, unit) if mantissa else flint.fmpq(0)
    return midpoint, radius


def _text(text: str, radius: Any) -> Ball:
    stripped = text.strip()
    rational = _RATIONAL.fullmatch(stripped)
    if rational:
        denominator = flint.fmpz(rational[2] or 1)
        if not denominator:
            raise InputError(f"{shown(text)} has the denominator 0")
        return flint.fmpq(flint.fmpz(rational[1].removeprefix("+")), denominator), None
    if "+/-" in text or "±" in text:
        raise InputError(
            f"{shown(text)} states its own radius; write the number alone, and for a rank the radius of all"
            f" entries as {worded('--radius=5e-4', 'radius=5e-4')}"
        )
    decimal = _DECIMAL.fullmatch(stripped)
    if not decimal or not (decimal[2] or decimal[3]):
        raise InputError(f"{shown(text)} is not a number: write 3, 22/7, 0.25 or 1e-9")
    sign, whole, part, exponent = decimal.groups("")
    power = int(exponent or 0)
    if abs(power) > LARGEST_EXPONENT:
        raise InputError(f"{shown(text)} has an exponent beyond ±{LARGEST_EXPONENT}")
    digits, power = flint.fmpz(whole + part), power - len(part)
    if radius is None:
        is_rounded = len((whole + part).lstrip("0")) >= ROUNDED_DIGITS
        radius = _power(flint.fmpz(1), 10, power) / 2 if is_rounded else flint.fmpq(0)
    return _power(-digits if sign == "-" else digits, 10, power), radius


def _power(factor: Any, base: int, exponent: int) -> Any:
    scale = flint.fmpz(base) ** abs(exponent)
    return flint.fmpq(factor * scale) if exponent >= 0 else flint.fmpq(factor, scale)


def _arb_midpoint(x: Any) -> Any:
    mantissa, exponent = x.man_exp()
    if abs(exponent) > 4 * LARGEST_EXPONENT:
        raise InputError(f"{x} has an exponent beyond ±{LARGEST_EXPONENT}")
    return _power(mantissa, 2, int(exponent))


# Half the range of int64: room for a sign change and one addition.
SMALL = 2**62

# Sparse real matrices are made dense for ball arithmetic, up to this many entries.
LARGEST_BALLS = 10**7

#: Exact entries stay balls where the integers in their place would have more bits than this, 256 MiB, as
#: decimals with large exponents do.
LARGEST_INTEGERS = 2**31

#: A dense component with more entries than this is refused: 8 bytes each.
LARGEST_BLOCK = 10**8

#: A component stays sparse if it has more entries than this, and less than this part of them is not 0.
SMALL_BLOCK, SPARSE_BELOW = 10**6, 0.05


class SparseMatrix(NamedTuple):
    """An integer or rational matrix by its nonzero entries, keyed by (row, column) from 0."""

    shape: tuple[int, int]
    entries: Mapping[tuple[int, int], Any]

    def transpose(self) -> SparseMatrix:
        return SparseMatrix(self.shape[::-1], {(j, i): x for (i, j), x in self.entries.items()})


class ExactMatrix(NamedTuple):
    """A rational matrix D⁻¹·Z of shape (m, n) with Z integral and D = diag(row_scales).

    Z is an ``int64`` array, an ``fmpz_mat`` or a :class:`SparseMatrix`; the scales are positive ``fmpz``,
    ``None`` for an integer matrix.
    """

    shape: tuple[int, int]
    integers: Any
    row_scales: tuple[Any, ...] | None = None

    def rows(self) -> list[list[Any]]:
        """The entries as ``fmpq``, row by row."""
        Z, (m, n) = self.integers, self.shape
        if isinstance(Z, SparseMatrix):
            table = [[Z.entries.get((i, j), 0) for j in range(n)] for i in range(m)]
        else:
            table = Z.tolist()
        scales = self.row_scales or [1] * m
        return [[flint.fmpq(x) / d for x in row] for row, d in zip(table, scales, strict=True)]


@dataclass(frozen=True, eq=False)
class BallMatrix:
    """A real matrix known by balls.

    Attributes:
        shape: (m, n).
        balls: the matrix as an ``arb_mat`` at a precision in bits.
        stated: whether the balls have a radius that no precision takes away.
        pairs: (midpoint, radius or ``None``) of each entry as ``fmpq``, row by row; ``None`` for a function.
        enclosed: whether the balls contain the entries; they do not where only approximations are known.
    """

    shape: tuple[int, int]
    balls: Callable[[int], Any]
    stated: bool
    pairs: list[list[Any]] | None = None
    enclosed: bool = True


def real_matrix(A: ExactMatrix | BallMatrix) -> BallMatrix:
    """A matrix as balls; exact entries become balls that shrink with the precision.

    Raises:
        TooLargeError: if a sparse one has too many entries.
    """
    if isinstance(A, BallMatrix):
        return A
    if isinstance(A.integers, SparseMatrix):
        _check_balls(A.shape)
    return _balls(A.shape, [[(x, None) for x in row] for row in A.rows()])


def exact_radius(radius: Any) -> Any:
    """The radius that was given for all entries, as an exact number; ``None`` if none was given.

    Raises:
        InputError: if it is no number of at least 0.

    >>> exact_radius(0.25), exact_radius("1/3"), exact_radius(None)
    (1/4, 1/3, None)
    >>> exact_radius("-1")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: the radius is '-1'; it must be a number of at least 0, such as 0.25 or 1/3
    """
    if radius is None:
        return None
    try:
        midpoint, around = read_number(radius, radius=0)
    except InputError:
        midpoint, around = -1, None
    if around or midpoint < 0:
        raise InputError(
            f"the radius is {shown(radius)}; it must be a number of at least 0, such as 0.25 or 1/3"
        )
    return midpoint


def read_matrix(matrix: Any, radius: Any = None) -> ExactMatrix | BallMatrix:
    """Read a matrix of any of the kinds named in :func:`agattn.algebra.rank.rank`.

    Raises:
        InputError: if it is not a matrix of finite real numbers; names the first entry that is not.
    """
    radius = exact_radius(radius)
    if isinstance(matrix, (ExactMatrix, BallMatrix)):
        return matrix
    if isinstance(matrix, np.ndarray):
        return _from_array(matrix, radius)
    if isinstance(matrix, flint.fmpz_mat):
        return ExactMatrix(shape(matrix), matrix)
    if hasattr(matrix, "tocoo"):
        triples = matrix.tocoo()
        size = int(triples.shape[0]), int(triples.shape[1])
        matrix = from_triples(size, triples.row.tolist(), triples.col.tolist(), triples.data)
    if isinstance(matrix, SparseMatrix):
        return _from_sparse(matrix, radius)
    if callable(matrix):
        first = matrix(64)
        if isinstance(first, flint.arb_mat):
            return BallMatrix(shape(first), matrix, stated=False)
        if not (hasattr(first, "rows") and hasattr(first, "tolist")):
            raise InputError("a matrix given by a function of the precision must be an arb_mat, or mpmath's")

        def approximate(bits: int) -> Any:
            rows = [[read_number(x, radius=0)[0] for x in row] for row in matrix(bits).tolist()]
            return arb_matrix(rows, bits)

        return BallMatrix((first.rows, first.cols), approximate, stated=False, enclosed=False)
    if hasattr(matrix, "tolist"):
        columns = matrix.ncols() if hasattr(matrix, "ncols") else getattr(matrix, "cols", 0)
        return _from_rows(matrix.tolist(), int(columns), radius)
    if isinstance(matrix, Sequence) and not isinstance(matrix, str):
        return _from_rows(matrix, 0, radius)
    raise InputError(f"{shown(matrix)} is not a matrix: give rows of numbers, or an array")


def _from_array(array: Any, radius: Any) -> ExactMatrix | BallMatrix:
    if array.ndim != 2:
        axes = "1 axis" if array.ndim == 1 else f"{array.ndim} axes"
        raise InputError(f"the array has {axes}; a matrix has 2")
    kind = array.dtype.kind
    if kind in "bi" or (kind == "u" and array.dtype.itemsize < 8):
        small = array.astype(np.int64)
        if not small.size or (small.min() > -SMALL and small.max() < SMALL):
            return ExactMatrix(small.shape, small)
    if kind == "c":
        raise InputError(f"the array is complex; {NO_COMPLEX}")
    if kind == "f":
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            i, j = bad[0]
            raise InputError(f"entry ({i + 1}, {j + 1}) is {array[i, j]}, which is not a finite number")
        # Integers stored as floats: exact, as long as no rounding can have hidden a digit.
        whole = (np.abs(array) < _first_rounded(array)).all() and (array == np.rint(array)).all()
        if radius is None and whole:
            return ExactMatrix(array.shape, array.astype(np.int64))
    if kind not in "biufO":
        raise InputError(f"an array of type {array.dtype} is not a matrix of numbers")
    return _from_rows([list(row) for row in array], array.shape[1], radius)


def _from_rows(rows: Any, columns: int, radius: Any) -> ExactMatrix | BallMatrix:
    if radius is None and _whole_floats(rows):
        rows = [[int(x) for x in row] for row in rows]
    pairs = []
    for i, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise InputError(
                f"row {i + 1} is not a row of numbers; a matrix is a list of rows of equal length"
            )
        if len(row) != len(rows[0]):
            raise InputError(
                f"row 1 has length {len(rows[0])} and row {i + 1} has length {len(row)}; they must be equal"
            )
        pairs.append([_entry(x, i, j, radius) for j, x in enumerate(row)])
    size = (len(pairs), len(pairs[0]) if pairs else columns)
    if not size[1]:
        return ExactMatrix(size, integer_matrix(pairs))
    if any(around is not None for row in pairs for _, around in row) or _bits(pairs) > LARGEST_INTEGERS:
        return _balls(size, pairs)
    integral, scales = _integral([[x for x, _ in row] for row in pairs])
    return ExactMatrix(size, integer_matrix(integral, size[1]), scales)


def _from_sparse(matrix: SparseMatrix, radius: Any) -> ExactMatrix | BallMatrix:
    m, n = matrix.shape
    numbers: dict[int, dict[int, Any]] = {}  # of rows that are not 0: a small file may announce millions
    for (i, j), x in matrix.entries.items():
        if not (0 <= i < m and 0 <= j < n):
            raise InputError(f"entry ({i + 1}, {j + 1}) lies outside of a {m} x {n} matrix")
        numbers.setdefault(i, {})[j] = _entry(x, i, j, radius)
    inexact = any(around is not None for row in numbers.values() for _, around in row.values())
    inexact = inexact and (radius is not None or not _whole_floats([matrix.entries.values()]))
    if inexact or _bits([list(row.values()) for row in numbers.values()]) > LARGEST_INTEGERS:
        _check_balls((m, n))
        zero = flint.fmpq(0), None
        return _balls((m, n), [[numbers.get(i, {}).get(j, zero) for j in range(n)] for i in range(m)])
    integral, scales = _integral([[x for x, _ in row.values()] for row in numbers.values()])
    if scales is not None:
        by_row = dict(zip(numbers, scales, strict=True))
        scales = tuple(by_row.get(i, flint.fmpz(1)) for i in range(m))
    entries = {
        (i, j): x
        for (i, row), values in zip(numbers.items(), integral, strict=True)
        for j, x in zip(row, values, strict=True)
    }
    return ExactMatrix((m, n), SparseMatrix((m, n), entries), scales)


def _check_balls(size: tuple[int, int]) -> None:
    m, n = size
    if m * n > LARGEST_BALLS:
        raise TooLargeError(
            f"a sparse {m} x {n} matrix is more than {LARGEST_BALLS} balls; give rationals, and no --method"
        )


def _balls(size: tuple[int, int], pairs: list[list[Any]]) -> BallMatrix:
    stated = any(around for row in pairs for _, around in row)
    return BallMatrix(size, lambda bits: arb_matrix(pairs, bits), stated, pairs)


def _bits(rows: list[list[Any]]) -> int:
    """About how many bits the entries have when the rows are made integral."""
    total = 0
    for row in rows:
        numerators, denominators = zip(*((x.p.bit_length(), x.q.bit_length()) for x, _ in row), strict=True)
        total += len(row) * (max(numerators) + max(denominators))
    return total


def _integral(rows: list[list[Any]]) -> tuple[list[list[Any]], tuple[Any, ...] | None]:
    """Rows of ``fmpq`` times the least scales that make them integral, and the scales unless all are 1."""
    cleared = [flint.fmpq_mat(1, len(row), row).numer_denom() for row in rows]
    scales = tuple(scale for _, scale in cleared)
    return [row.entries() for row, _ in cleared], scales if any(d != 1 for d in scales) else None


def _first_rounded(floats: Any) -> int:
    """The least whole number from which on a float or an array rounds some whole numbers."""
    kind = floats.dtype if hasattr(floats, "dtype") else np.float64
    return int(2 ** min(np.finfo(kind).nmant + 1, 53))


def _whole_floats(rows: Any) -> bool:
    """Whether all entries are ints or floats that hold whole numbers too small to have been rounded."""

    def is_whole(x: Any) -> bool:
        if isinstance(x, (float, np.floating)):
            return bool(x.is_integer() and abs(float(x)) < _first_rounded(x))
        return isinstance(x, (int, np.integer))

    return all(hasattr(row, "__iter__") and all(map(is_whole, row)) for row in rows)


def _entry(x: Any, i: int, j: int, radius: Any) -> Any:
    try:
        return read_number(x, radius)
    except InputError as error:
        raise InputError(f"entry ({i + 1}, {j + 1}): {error}") from None


# --- integer matrices ---


def integer_matrix(rows: Sequence[Sequence[Any]], columns: int | None = None) -> Any:
    """An integer matrix from rows of ints or ``fmpz``; ``columns`` is needed when there are no rows."""
    m = len(rows)
    n = len(rows[0]) if m else columns or 0
    flat = [x for row in rows for x in row]
    if all(-SMALL < x < SMALL for x in flat):
        return np.array([int(x) for x in flat], dtype=np.int64).reshape(m, n)
    return flint.fmpz_mat(m, n, flat)


def shape(A: Any) -> tuple[int, int]:
    """The numbers of rows and columns of an array, a sparse or a FLINT matrix."""
    if isinstance(A, (np.ndarray, SparseMatrix)):
        return int(A.shape[0]), int(A.shape[1])
    return A.nrows(), A.ncols()


def as_fmpz_mat(A: Any) -> Any:
    """The matrix as an ``fmpz_mat``."""
    return flint.fmpz_mat(A.shape[0], A.shape[1], A.ravel().tolist()) if isinstance(A, np.ndarray) else A


def submatrix(A: Any, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """The submatrix with these rows and columns, as an ``fmpz_mat``."""
    if isinstance(A, np.ndarray):
        return as_fmpz_mat(A[np.ix_(np.asarray(rows, dtype=int), np.asarray(columns, dtype=int))])
    entries, n = A.entries(), A.ncols()
    return flint.fmpz_mat(len(rows), len(columns), [entries[i * n + j] for i in rows for j in columns])


# --- sparse matrices ---


def from_triples(
    shape: tuple[int, int], rows: Iterable[int], columns: Iterable[int], data: Any
) -> SparseMatrix:
    """A matrix from an array of entries, their rows and their columns, from 0; entries at one place add up.

    Raises:
        InputError: if floats stand at the same place: their sum would be rounded once more.

    >>> import numpy as np
    >>> from_triples((1, 1), [0, 0], [0, 0], np.array([2**62, 2**62])).entries[0, 0] == 2**63
    True
    """
    entries: dict[tuple[int, int], Any] = {}
    rounded = data.dtype.kind == "f"
    for i, j, x in zip(rows, columns, data if rounded else data.tolist(), strict=True):
        if (i, j) not in entries:
            entries[i, j] = x
        elif rounded:
            raise InputError(
                f"entry ({i + 1}, {j + 1}) is given twice, in floating point; call sum_duplicates()"
            )
        else:
            entries[i, j] = entries[i, j] + x
    return SparseMatrix(shape, entries)


class Block(NamedTuple):
    """A submatrix in its own right: its rows and columns in the whole matrix, and its entries.

    These are dense, or a :class:`SparseMatrix` where this takes far less memory.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    matrix: Any


def decompose(A: SparseMatrix) -> tuple[list[tuple[int, int, Any]], list[Block]]:
    """Split A into pivots (row, column, value) and blocks; their number and ranks add up to rank A.

    With the pivots in this order, then the blocks, A is block triangular up to exchanges of rows and columns
    and a minor that contains all pivots and one minor of each block is, up to sign, their product.

    Raises:
        TooLargeError: if a block that is not sparse has more than :data:`LARGEST_BLOCK` entries.
    """
    # Lines are rows 0..m−1 and columns m..m+n−1; an entry joins two lines.
    m = A.shape[0]
    joined: dict[int, set[int]] = {}
    for (i, j), value in A.entries.items():
        if value:
            joined.setdefault(i, set()).add(m + j)
            joined.setdefault(m + j, set()).add(i)
    pivots = []
    lonely = [line for line, others in joined.items() if len(others) == 1]
    while lonely:
        line = lonely.pop()
        if len(joined.get(line, ())) != 1:
            continue
        (partner,) = joined.pop(line)
        i, j = min(line, partner), max(line, partner) - m
        pivots.append((i, j, A.entries[i, j]))
        for other in joined.pop(partner) - {line}:
            joined[other].discard(partner)
            if len(joined[other]) == 1:
                lonely.append(other)
    blocks = []
    components: list[list[int]] = []
    while joined:
        waiting, component = [next(iter(joined))], []
        while waiting:
            if (line := waiting.pop()) in joined:
                component.append(line)
                waiting += joined.pop(line)
        components.append(sorted(component))
    components.sort()
    of_line = {line: n for n, component in enumerate(components) for line in component}
    parts: list[dict[tuple[int, int], Any]] = [{} for _ in components]
    for (i, j), value in A.entries.items():
        if value and i in of_line and m + j in of_line:
            parts[of_line[i]][i, j] = value
    for component, part in zip(components, parts, strict=True):
        rows = [line for line in component if line < m]
        columns = [line - m for line in component if line >= m]
        size = len(rows) * len(columns)
        if size > SMALL_BLOCK and len(part) < SPARSE_BELOW * size:
            row_of, column_of = ({line: n for n, line in enumerate(lines)} for lines in (rows, columns))
            entries = {(row_of[i], column_of[j]): x for (i, j), x in part.items()}
            sparse = SparseMatrix((len(rows), len(columns)), entries)
            blocks.append(Block(tuple(rows), tuple(columns), sparse))
            continue
        if size > LARGEST_BLOCK:
            raise TooLargeError(
                f"a connected part of the sparse matrix has {len(rows)} x {len(columns)} entries; "
                f"at most {LARGEST_BLOCK} can be made dense"
            )
        dense = [[part.get((i, j), 0) for j in columns] for i in rows]
        blocks.append(Block(tuple(rows), tuple(columns), integer_matrix(dense, len(columns))))
    return pivots, blocks
