"""The rank of a matrix, and how it is known.

One function, :func:`rank`, for every matrix, and one ladder: modulo primes, exact over ℤ and ℚ, in balls over
ℝ, and in high precision where nothing else can. It takes matrices as they are written, and Jacobians that
give as many random rows as are asked for (:class:`RandomRows`). The answer is an interval of proved or
estimated bounds, with a certificate for each side.

>>> print(rank([[1, 2], [2, 4]]))
rank 1 (proved)
>>> result = rank([["1/2", "1/3"], ["1/3", "1/4"]])
>>> result.rank, result.evidence, result.minor.rows, result.minor.columns
(2, <Evidence.PROVED: 'proved'>, (0, 1), (0, 1))
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf, isfinite, isinf, log2, prod
from pathlib import Path
from typing import Any, Literal

import flint
import numpy as np
from numpy.typing import NDArray

from agattn.algebra import balls
from agattn.algebra.balls import BallMinor, is_nonsingular, pivots
from agattn.algebra.exact_rank import BlockProof, Kernel, exact_rank
from agattn.algebra.matrices import BallMatrix, ExactMatrix, exact_radius, read_matrix, real_matrix
from agattn.algebra.matrix_io import load_matrix
from agattn.algebra.residues import (
    PRIME_BITS,
    WORD_BITS,
    Minor,
    Residues,
    RowSpace,
    chance_of_dividing,
    random_prime,
)
from agattn.algebra.spectrum import logarithm, singular_values, widest_gap
from agattn.calls import one_of
from agattn.errors import DisagreementError, InputError, TooLargeError
from agattn.evidence import Evidence, weakest
from agattn.files import about
from agattn.limits import limits, takes
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide
from agattn.sheet.result import Count, Key, Positive, Result, Written, key

METHODS = ("auto", "rational", "modular", "ball", "mpmath")

# A gap of fewer bits separates nothing: the singular values of a Hilbert matrix fall by five bits from one to
# the next, and nobody would call its rank decided between two of them.
SMALLEST_GAP = 20.0

# With at most so many columns FLINT's elimination over ℚ is faster than a prime, a minor and a proof.
SHORT_SIDE = 60

# Random rows that are made and eliminated at a time.
ROWS_AT_A_TIME = 384
# Rows beyond the upper bound, so that a rank above it, which would refute the bound, would be seen.
_SURPLUS = 3
# So many columns are eliminated output by output, where that saves work.
_MANY_BY_OUTPUTS = 600
# Where there are so many times more columns than the rank can be, some of them are taken first.
_MANY_COLUMNS = 1.2
# Pivots below this, relative to the first, are not told apart from rounding in float64.
_NOISE = 1e-13
# Where the doubling of the precision stops: of whole matrices, and of random rows.
_HIGHEST_PRECISION = 4096
_FIRST_PRECISION, _LAST_PRECISION = 96, 1536
# Up to this rank the rows are eliminated in balls where their float64 pivots do not meet the upper bound.
_LARGEST_ELIMINATION = 200


class RankPoint(Result):
    """The rank of random rows at one random point modulo one prime."""

    rank: Key[Count, "The rank at the point."]
    prime: Key[Count, "The prime p modulo which the rank was taken."]
    rows: Key[Count, "The number of random inputs, each with one cotangent."]
    columns: int

    def summary(self) -> str:
        """The rank and the prime."""
        return f"{self.rank} modulo {self.prime}"


@dataclass(frozen=True, eq=False)
class RandomRows:
    """A matrix with any number of random rows, such as a Jacobian at random inputs.

    Its rank is meant at a generic point. At a random one it can only be smaller, so what is proved there is a
    lower bound.

    Attributes:
        name: what has this rank, for messages.
        upper_bound: a proved upper bound on the rank, with its reason.
        modulo: for entries that are polynomials over ℤ of this degree in everything random: takes a prime and
            a generator, and returns the number of columns kept (columns that depend on the others may be left
            out) and a function that draws so many further rows modulo the prime.
        outputs: where the rows are derivatives of combinations of several outputs, their number; the function
            that draws rows then also takes an array of outputs, of which each row shall see one alone.
        size: log₂ of a bound on the sum of the absolute values of the coefficients of an entry.
        real: for all others: takes a number of rows and a generator, and returns the rows in float64, and a
            function that gives those with certain indices as an array of ``flint.arb`` at FLINT's precision.
    """

    name: str
    upper_bound: int
    reason: str
    modulo: Callable[[int, np.random.Generator], tuple[int, Callable[..., Residues]]] | None = None
    outputs: int = 1
    degree: int = 0
    size: Callable[[], float] = lambda: inf
    real: Callable[[int, np.random.Generator], tuple[NDArray[np.float64], Callable[[Any], Any]]] | None = None


class RankResult(Result, name="rank", eq=False):
    """The rank of a matrix as an interval, with the evidence for both of its ends.

    The gap compares pivots and Schur complement for balls, singular values for mpmath.

    Attributes:
        minor: the nonzero minor behind the lower bound; ``None`` for mpmath.
        reason: why the rank is not larger, in words.
        blocks: for exact methods, the proof for each block of the matrix (one block unless it is sparse).
        error: for a modular upper bound, the chance that it is too small; else 0.
        points: for random rows of polynomials, the rank at each point tried.
    """

    shape: tuple[int, int]
    lower_bound: Key[Count, "The rank is at least this."]
    upper_bound: Key[Count, "The rank is at most this."]
    lower_evidence: Evidence
    upper_evidence: Evidence
    method: Key[str, "The method that was used.", Written(Literal["rational", "modular", "ball", "mpmath"])]
    precision_bits: Key[Positive | None, "Working precision of the last step; null for exact arithmetic."] = (
        None
    )
    gap: Key[
        float | None,
        "log₂(least taken for nonzero / largest taken for zero); null if none, or exact.",
        Written(float | None, lambda gap: round(gap, 3) if isfinite(gap) else None),
    ] = None
    minor: Minor | BallMinor | None = None
    reason: str = ""
    blocks: tuple[BlockProof, ...] = ()
    error: float = 0.0
    points: tuple[RankPoint, ...] = ()

    @key
    def rank(self) -> Count | None:
        """The rank, or null where the bounds differ."""
        return self.lower_bound if self.lower_bound == self.upper_bound else None

    @key
    def evidence(self) -> Evidence:
        """How lower_bound and upper_bound are known: the weaker of the two."""
        return weakest([self.lower_evidence, self.upper_evidence])

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The checked kernels among the proofs of the upper bound."""
        return tuple(block.proof for block in self.blocks if isinstance(block.proof, Kernel))

    def summary(self) -> str:
        """The rank, or the bounds."""
        if self.rank is None:
            return f"rank between {self.lower_bound} and {self.upper_bound} ({self.evidence})"
        return f"rank {self.rank} ({self.evidence})"

    def sheet(self) -> Sheet:
        """The rank, both bounds, and how they are known."""
        rows: list[tuple[Cell, ...]] = [
            ("rank", "undecided" if self.rank is None else self.rank),
            ("at least", f"{self.lower_bound} ({self.lower_evidence})"),
            ("at most", f"{self.upper_bound} ({self.upper_evidence})"),
            (Wide("why no larger"), self.reason),
            ("method", self.method),
        ]
        if self.precision_bits is not None:
            rows.append(("precision", f"{self.precision_bits} bits"))
        if self.gap is not None:
            rows.append(("gap", f"{self.gap:.1f} bits"))
        m, n = self.shape
        table = Table(f"Rank of a {m} × {n} matrix", (), tuple(rows), where="page")
        lines = [] if self.minor is None else [f"not smaller: {self.minor}"]
        lines.append(self.reason if self.rank is None else f"not larger:  {self.reason}")
        title = f"{self}, {m} x {n} matrix, method {self.method}"
        return Sheet(title, (table, Note("\n".join(lines), apart=False)))


@takes("seed")
def rank(
    matrix: Any,
    method: str = "auto",
    *,
    precision: int = 128,
    upper_bound: int | None = None,
    reason: str = "as stated",
    radius: Any = None,
    budget: float = 60.0,
    points: int = 3,
) -> RankResult:
    """Determine the rank of a real matrix, and say how it is known.

    Args:
        matrix: shape (m, n): rows of ints, Fractions, strings, floats, Decimals, mpmath, sympy or FLINT
            numbers; a numpy array; an ``fmpz_mat``, ``fmpq_mat`` or ``arb_mat``; a matrix of mpmath or sympy;
            a :class:`~agattn.algebra.matrices.SparseMatrix` or any object with scipy's ``tocoo``; or a
            function that gives the matrix as an ``arb_mat``, or where nothing encloses the entries as a
            matrix of mpmath, when called with a precision in bits; or :class:`RandomRows`.
        method: ``"rational"`` (exact, with proof), ``"modular"`` (exact; the upper bound mod random primes),
            ``"ball"``, ``"mpmath"``, or ``"auto"``: rational for exact entries as far as the budget reaches,
            mpmath where nothing encloses the entries, balls for all others.
        precision: bits to start from, for balls and mpmath.
        upper_bound: an upper bound on the rank of a real matrix that is proved elsewhere, such as the number
            of columns minus the dimension of known symmetries: what balls alone cannot give.
        reason: the argument behind it.
        radius: how far each inexact entry may be from the number written; by default as stated in
            :mod:`agattn.algebra.matrices`.
        budget: estimated seconds that ``"auto"`` may spend on proving an upper bound over ℚ.
        points: how many points, each modulo its own prime, are tried while random rows do not meet their
            upper bound.

    Raises:
        InputError: if the matrix or method cannot be used.
        DisagreementError: if the rank is above the upper bound.

    >>> rank([["0.1", "0.2"], ["0.3", "0.6"]])  # one tenth, and so on
    rank 1 (proved)
    >>> rank([[0.1, 0.2], [0.3, 0.6]])  # floats, which are rounded
    rank 1 (numerical)
    """
    method = one_of(method, METHODS, "method")
    if precision < 2 or precision > 10**7:
        raise InputError(f"a precision of {precision} bits is out of range; give 2 to 10000000")
    if isinstance(matrix, RandomRows):
        return _modulo_primes(matrix, points) if matrix.modulo else _in_floats_and_balls(matrix)
    A = read_matrix(matrix, radius)
    bound = budget if method == "auto" else float("inf")
    if method == "auto":
        method = "rational" if isinstance(A, ExactMatrix) else "ball" if A.enclosed else "mpmath"
    if method == "mpmath":
        return _by_mpmath(A, precision, max(_HIGHEST_PRECISION, 2 * precision))
    if isinstance(A, BallMatrix) and not A.enclosed:
        raise InputError(f"the method {method} needs entries with a radius; mpmath's have none")
    if method == "ball":
        limit = max(_HIGHEST_PRECISION, precision)
        return _by_balls(real_matrix(A), precision, limit, upper_bound, reason)
    return _exactly(_as_exact(A, method), method, bound)


@takes("seed")
def rank_of(matrix: Any, method: str = "auto", *, precision: int = 128, radius: Any = None) -> RankResult:
    """The rank of a real matrix, and how it is known.

    Args:
        matrix: rows of integers, rationals, decimals in text or floats; an array, dense or sparse, or a
            matrix of mpmath, sympy or FLINT; or the path of a file, .npy, .npz, .csv, .mtx or .json.
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
    return rank(matrix, method, precision=precision, radius=radius)


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
    with about(path):
        return read_matrix(loaded, radius)


def proved_rank(matrix: Any) -> int:
    """The rank of an ``fmpz_mat``, an ``fmpq_mat`` or an integer array over ℚ; proved.

    Matrices with a short side are eliminated over ℚ at once; others take :func:`rank`'s way, modulo a prime
    first.

    >>> proved_rank(flint.fmpz_mat([[1, 2], [2, 4]]))
    1
    """
    if not isinstance(matrix, np.ndarray) and min(m := matrix.nrows(), n := matrix.ncols()) <= SHORT_SIDE:
        return int((matrix if m >= n else matrix.transpose()).rank())
    return rank(matrix, "rational").lower_bound


# --- over ℚ ---


def _as_exact(A: ExactMatrix | BallMatrix, method: str) -> ExactMatrix:
    if isinstance(A, ExactMatrix):
        return A
    if A.stated or A.pairs is None:
        raise InputError(
            f"the method {method} needs exact entries, and some are known only up to a radius; "
            "state radius 0 to take them as written, or use ball"
        )
    raise TooLargeError(
        f"the method {method} writes decimals as fractions of integers; here these would fill the memory, as"
        " the exponents are large; use ball"
    )


def _exactly(A: ExactMatrix, method: str, budget: float) -> RankResult:
    minor, blocks, error = exact_rank(A, budget, prove=method == "rational")
    r = minor.rank
    if r == min(A.shape):
        error, reason = 0.0, "the matrix has no more rows or columns"
    elif error:
        reason = f"no larger minor modulo random primes; wrong with probability below 2^{log2(error):.0f}"
        method = "modular"
    else:
        vectors = sum(len(b.proof) for b in blocks if isinstance(b.proof, Kernel))
        primes = max((b.proof for b in blocks if isinstance(b.proof, int)), default=0)
        reasons = (
            [f"{vectors} independent kernel vectors over the integers, checked exactly"] if vectors else []
        )
        if primes:
            reasons.append(
                f"all larger minors vanish modulo {primes} primes whose product exceeds Hadamard's bound"
            )
        reason = "; ".join(reasons) or "the matrix has no more nonzero rows or columns"
    upper_evidence = Evidence.MODULAR if error else Evidence.PROVED
    bounds = (A.shape, r, r, Evidence.PROVED, upper_evidence, method)
    return RankResult(*bounds, minor=minor, reason=reason, blocks=blocks, error=error)


# --- in balls ---


def _by_balls(A: BallMatrix, precision: int, limit: int, upper_bound: int | None, reason: str) -> RankResult:
    full = min(A.shape)
    now = balls.elimination(A.balls(precision), precision)
    best = now
    closed = full if upper_bound is None else min(full, upper_bound)
    decided = isinf(best.gap)
    while not decided and best.rank < closed and 2 * now.precision_bits <= limit:
        before = now
        precision = 2 * before.precision_bits
        now = balls.elimination(A.balls(precision), precision)
        if now.rank >= best.rank:
            best = now
        if A.stated and now.rank == before.rank and now.gap < min(SMALLEST_GAP, before.gap + 1):
            break  # the radius of the input is what blurs the rank; more precision will not help
        # With exact entries what is left must shrink with the precision; a radius of the input stays.
        growth = 0.0 if A.stated else before.precision_bits / 2
        decided = isinf(best.gap) or (
            now.rank == before.rank and now.gap >= SMALLEST_GAP and now.gap >= before.gap + growth - 1
        )
    r = best.rank
    if r > closed:
        raise DisagreementError(f"the matrix has rank at least {r}, above the bound {closed}: {reason}")
    upper, evidence = closed, Evidence.PROVED
    if r == full:
        reason = "the matrix has no more rows or columns"
    elif isinf(best.gap):
        upper, reason = r, "the Schur complement of the minor is exactly zero"
    elif r < closed and decided:
        upper, evidence = r, Evidence.NUMERICAL
        reason = f"the rest is zero up to {best.gap:.0f} bits below the smallest pivot"
    elif r < closed:
        reason = f"undecided at {best.precision_bits} bits: the rest is neither zero nor separated from it"
    gap = None if isinf(best.gap) or not r else best.gap
    return RankResult(
        A.shape, r, upper, Evidence.PROVED, evidence, "ball", best.precision_bits, gap, best, reason
    )


# --- in mpmath ---


def _by_mpmath(A: ExactMatrix | BallMatrix, precision: int, limit: int) -> RankResult:
    def result(upper: int, reason: str) -> RankResult:
        evidence = Evidence.NUMERICAL
        return RankResult(A.shape, r, upper, evidence, evidence, "mpmath", precision, gap, None, reason)

    B = real_matrix(A)
    full = min(A.shape)
    before: tuple[int, float | None] | None = None
    repeated = 0
    # An exact matrix may have a small singular value that only looks like noise; ask more of it.
    needed = 1 if B.stated else 2
    while True:
        noise = float(precision // 2)
        values = singular_values(B.balls(precision), precision)
        nonzero = bool(values) and values[0] > 0
        if B.stated and B.pairs is not None and nonzero:
            # Weyl: no singular value moves by more than the Frobenius norm of the change.
            radii = [flint.arb(radius) for row in B.pairs for _, radius in row if radius]
            change = sum((radius**2 for radius in radii), flint.arb(0)).sqrt()
            noise = min(noise, logarithm(values[0] / change) - 1)
        r, gap = widest_gap(values, int(noise))
        # Balls around zero may hold anything.
        blurred = B.stated and not nonzero
        separated = not blurred and (gap is None or gap >= SMALLEST_GAP)
        growth = 0.0 if B.stated else precision / 8
        stable = before is not None and r == before[0] and (gap or 0) >= (before[1] or 0) + growth - 1
        repeated = repeated + 1 if stable else 0
        if r == full or not (blurred or nonzero) or (separated and repeated >= needed):
            return result(r, f"singular values at {precision} bits")
        if (B.stated and stable) or 2 * precision > limit:
            return result(full, f"undecided at {precision} bits: the singular values show no stable gap")
        before, precision = (r, gap), 2 * precision


# --- random rows ---


def _modulo_primes(rows: RandomRows, points: int) -> RankResult:
    """The largest rank at several random points, each modulo its own prime, until the upper bound is met.

    Threads share the points after the first one, if this has taken long.
    """
    begun = time.perf_counter()
    # With small primes a product is one of BLAS, and not two. What one point leaves open, others settle.
    bits = WORD_BITS if points == 1 and rows.upper_bound > ROWS_AT_A_TIME else PRIME_BITS
    at_point = partial(_at_point, rows, bits)
    tried = [at_point(0)]
    if tried[0].rank < rows.upper_bound and points > 1:
        from agattn.workers import spread, threads

        seconds, each = (time.perf_counter() - begun) * (points - 1), 8 * tried[0].columns ** 2
        with threads(seconds, each, "ranks at several points", points - 1):
            for point in spread(at_point, range(1, points)):
                tried.append(point)
                if point.rank == rows.upper_bound:
                    break
    r, shape = max(point.rank for point in tried), (tried[-1].rows, tried[-1].columns)
    if r == rows.upper_bound:
        evidence, reason, error = Evidence.PROVED, rows.reason, 0.0
    else:
        error = prod(_error(rows, point.rank + 1, bits) for point in tried)
        evidence, reason = Evidence.MODULAR, f"no larger rank at {len(tried)} random points modulo primes"
    bounds = (shape, r, r, Evidence.PROVED, evidence, "modular")
    return RankResult(*bounds, reason=reason, error=error, points=tuple(tried))


def _error(rows: RandomRows, n: int, bits: int) -> float:
    """The chance that a minor of size n that is not zero vanishes at a random point modulo a random prime.

    The prime divides all its coefficients, or the point is on a hypersurface (Schwartz and Zippel).
    """
    zero = float(min(Fraction(1), Fraction(rows.degree * n, 2 ** (bits - 1))))
    return min(1.0, zero + chance_of_dividing(n * (log2(n) + rows.size()), bits))


def _at_point(rows: RandomRows, bits: int, trial: int) -> RankPoint:
    """The rank at a random point modulo a random prime of so many bits.

    Rows are added until the rank is the upper bound, or until rows twice as many as the rank, and at least
    ten more, have not raised it.
    """
    assert rows.modulo is not None
    seed = [limits().seed, trial]
    generator = np.random.default_rng(seed)
    p = random_prime(generator, bits)
    columns, draw = rows.modulo(p, generator)
    space, seen = RowSpace(columns, p), 0
    if columns <= _MANY_COLUMNS * rows.upper_bound:
        if rows.outputs > 1 and columns >= _MANY_BY_OUTPUTS:
            r, seen = _by_outputs(rows, columns, p, draw)
            if r == rows.upper_bound:
                return RankPoint(r, p, seen, columns)
    else:
        # The rank of some columns is a lower bound; it is that of all if it meets the upper bound.
        some = rows.upper_bound + max(_SURPLUS, rows.upper_bound // 50)
        again = np.random.default_rng(seed)
        chosen = np.sort(again.choice(columns, min(some, columns), replace=False))
        space = RowSpace(len(chosen), p)
        seen = _stream(space, lambda n: draw(n)[:, chosen], rows.upper_bound, patient=False)
    if space.rank < rows.upper_bound:
        space = RowSpace(columns, p)
        seen = _stream(space, draw, rows.upper_bound)
    if space.rank > (target := rows.upper_bound):
        raise DisagreementError(
            f"{rows.name} has rank {space.rank} modulo {p}, above the proved bound {target};"
            " one of the two is wrong, please report it"
        )
    return RankPoint(space.rank, p, seen, columns)


def _by_outputs(rows: RandomRows, columns: int, p: int, draw: Callable[..., Residues]) -> tuple[int, int]:
    """The rank of as many rows as may meet the upper bound, each of which sees one output; and their number.

    Many columns belong to one output alone, as those of the rows of the last layer's V do. They are
    eliminated from the rows of their output, and what is left of all rows has the other columns only: of one
    layer half as many. Zero where few columns do.
    """
    first = draw(rows.outputs, np.arange(rows.outputs)) != 0
    single = first.sum(axis=0) == 1
    common = np.flatnonzero(~single)
    rank, seen, rest = 0, rows.upper_bound + _SURPLUS, RowSpace(len(common), p)
    for i, part in enumerate(np.array_split(np.arange(seen), rows.outputs)):
        own = np.flatnonzero(single & first[i])
        if 3 * len(own) * rows.outputs < columns:
            return 0, 0
        space = RowSpace(len(own) + len(common), p)
        for start in range(0, len(part), ROWS_AT_A_TIME):
            J = draw(len(piece := part[start : start + ROWS_AT_A_TIME]), np.full(len(piece), i))
            if J[:, single & ~first[i]].any():
                return 0, 0
            space.add(J[:, np.concatenate([own, common])])
        later = np.array(space.columns) >= len(own)
        rank += len(later) - int(later.sum())
        rest.add(space.basis()[later, len(own) :])
    return rank + rest.rank, seen


def _stream(space: RowSpace, draw: Callable[[int], Residues], target: int, patient: bool = True) -> int:
    """Add rows to a space until its rank is the target; how many were drawn.

    With patience rows are added until twice as many as the rank, and ten more, have not raised the rank.
    """
    seen, wanted = 0, target + _SURPLUS
    while space.rank <= target and seen < wanted:
        n = min(ROWS_AT_A_TIME, wanted - seen)
        space.add(draw(n))
        seen += n
        if patient and seen == wanted and space.rank < target:
            wanted = max(2 * space.rank, space.rank + 10, wanted)
    return seen


def _in_floats_and_balls(rows: RandomRows) -> RankResult:
    """The rank by pivots in float64, whose minor is then proved in balls; each attempt has more rows.

    Where that does not meet the upper bound, the last rows are eliminated in balls, in which smaller pivots
    can be seen.
    """
    assert rows.real is not None
    generator, target = np.random.default_rng(limits().seed), rows.upper_bound
    proved, observed, bits_used = 0, 0, None
    for attempt in range(4):
        floats, exact = rows.real((target + 8) * (attempt + 5) // 4, generator)
        places, columns = _float_pivots(floats)
        size = min(len(places), target)
        observed = max(observed, size)
        bits = _FIRST_PRECISION
        while size > proved and bits <= _LAST_PRECISION:
            with flint.ctx.workprec(bits):
                if is_nonsingular(flint.arb_mat(exact(places[:size])[:, columns[:size]].tolist())):
                    proved, bits_used = size, bits
            bits *= 2
        if proved >= target:
            break
    bounds, evidence = (proved, max(observed, proved)), (Evidence.PROVED, Evidence.NUMERICAL)
    reason = "no smaller pivots in float64"
    result = RankResult(floats.shape, *bounds, *evidence, "ball", bits_used, reason=reason)
    if proved < target <= _LARGEST_ELIMINATION:

        def at(bits: int) -> Any:
            with flint.ctx.workprec(bits):
                return flint.arb_mat(exact(np.arange(len(floats))).tolist())

        drawn = BallMatrix(floats.shape, at, stated=False)
        eliminated = _by_balls(drawn, 192, _LAST_PRECISION, target, rows.reason)
        if eliminated.lower_bound >= proved and eliminated.rank is not None:
            # At this point: what is proved from above holds for these rows alone.
            result = eliminated.replace(upper_evidence=Evidence.NUMERICAL)
    if result.lower_bound >= target:
        result = result.replace(upper_bound=target, upper_evidence=Evidence.PROVED, reason=rows.reason)
    return result


def _float_pivots(matrix: NDArray[np.float64]) -> tuple[Any, Any]:
    """Pivots of a float matrix whose rows and then columns are scaled to unit length: sizes compare then."""
    tiny = np.finfo(float).tiny
    work = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), tiny)
    work /= np.maximum(np.linalg.norm(work, axis=0, keepdims=True), tiny)
    return pivots(work, _NOISE * float(np.abs(work).max(initial=0.0)))[:2]
