"""The rank of a rational matrix: a nonzero minor from below, and a proof or a second prime from above."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log2
from typing import Any

import flint
import numpy as np

from agattn.algebra.dependence import EnoughPrimes, Kernel, RankGrewError, prove_upper_bound
from agattn.algebra.echelon import echelon
from agattn.algebra.integers import as_fmpz_mat, hadamard_bits, shape
from agattn.algebra.matrices import ExactMatrix
from agattn.algebra.modular import (
    PRIMES_OF_WORD_BITS,
    WORD_BITS,
    Minor,
    nonzero_minor,
    permutation_sign,
    random_primes,
    residues,
)  # fmt: skip
from agattn.algebra.sparse import Block, SparseMatrix, decompose

# The chance of a wrong modular upper bound is kept below 2 to this power.
ERROR_BITS = -40.0
# Up to this many small primes are cheaper than one of 60 bits.
MORE_PRIMES = 6
_SPARSE_BELOW = 0.05


@dataclass(frozen=True, eq=False)
class BlockProof:
    """Why one block of the matrix has no larger rank.

    Attributes:
        rows, columns: the block's place in the matrix.
        rank: its rank.
        proof: a checked :class:`Kernel` (in the block's own indices), :class:`EnoughPrimes`, or ``None``
            where the rank is the number of rows or columns and nothing need be proved.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    rank: int
    proof: Kernel | EnoughPrimes | None


@dataclass(frozen=True, eq=False)
class ExactRank:
    """The rank mod p with its minor, and what is known from above.

    ``error_bits`` is log₂ of the chance that the rank over ℚ is larger, over the random choice of primes;
    ``None`` where the upper bound is proved.
    """

    minor: Minor
    blocks: tuple[BlockProof, ...]
    error_bits: float | None


def exact_rank(A: ExactMatrix, seed: int, budget: float, prove: bool) -> ExactRank:
    """The rank of a rational matrix; with proof if ``prove`` and its estimated time fits into the budget."""
    pivots, blocks = _blocks(A)
    small = random_primes(seed)
    large = random_primes(seed, bits=60)
    for attempt in range(1000):
        # Where four small primes were unlucky, the entries have too many small factors for a fifth.
        p = next(small) if attempt < 4 else next(large)
        try:
            return _at_prime(A, pivots, blocks, p, seed, budget, prove)
        except RankGrewError:
            continue
    raise AssertionError("no prime fits this matrix")


def _blocks(A: ExactMatrix) -> tuple[list[tuple[int, int, Any]], list[Block]]:
    Z, (m, n) = A.integers, A.shape
    if isinstance(Z, SparseMatrix):
        return decompose(Z)
    if isinstance(Z, np.ndarray) and Z.size > 10**4 and np.count_nonzero(Z) < _SPARSE_BELOW * Z.size:
        rows, columns = np.nonzero(Z)
        values = Z[rows, columns].tolist()
        places = zip(rows.tolist(), columns.tolist(), strict=True)
        return decompose(SparseMatrix((m, n), dict(zip(places, values, strict=True))))
    return [], [Block(tuple(range(m)), tuple(range(n)), Z)]


def _at_prime(
    A: ExactMatrix, pivots: list[tuple[int, int, Any]], blocks: list[Block],
    p: int, seed: int, budget: float, prove: bool,
) -> ExactRank:  # fmt: skip
    value = _unit(1, p)
    for _, _, pivot in pivots:
        value = value * _unit(pivot, p) % p
    rows, columns = [i for i, _, _ in pivots], [j for _, j, _ in pivots]
    proofs = []
    error = 0.0
    for block in blocks:
        minor = minor_mod(block.matrix, p)
        proof = None
        if minor.rank < min(shape(block.matrix)):
            proof = prove_upper_bound(block.matrix, minor, seed, budget) if prove else None
            if proof is None:
                proof, chance = _confirm(block.matrix, minor, seed)
                error += chance
            elif isinstance(proof, Kernel) and proof.side == "left" and A.row_scales:
                proof = _rescaled(proof, [A.row_scales[i] for i in block.rows])
        proofs.append(BlockProof(block.rows, block.columns, minor.rank, proof))
        value = value * minor.value % p
        rows += [block.rows[i] for i in minor.rows]
        columns += [block.columns[j] for j in minor.columns]
    for i in rows if A.row_scales else ():
        value = value * pow(_unit(A.row_scales[i], p), -1, p) % p  # type: ignore[index]
    value = value * permutation_sign(rows) * permutation_sign(columns) % p
    minor = Minor(tuple(sorted(rows)), tuple(sorted(columns)), value, p)
    return ExactRank(minor, tuple(proofs), log2(error) if error else None)


def minor_mod(A: Any, p: int) -> Minor:
    """A nonzero minor of maximal size mod p: by our elimination for small primes, by FLINT's for large."""
    if p < 2**WORD_BITS:
        return nonzero_minor(residues(A, p), p)
    reduced = flint.nmod_mat(as_fmpz_mat(A), p)
    columns = echelon(reduced)[1]
    entries, n = reduced.entries(), reduced.ncols()
    m, r = reduced.nrows(), len(columns)
    tall = [entries[i * n + j] for j in columns for i in range(m)]
    rows = echelon(flint.nmod_mat(r, m, tall, p))[1]
    square = flint.nmod_mat(r, r, [entries[i * n + j] for i in rows for j in columns], p)
    return Minor(tuple(rows), tuple(columns), int(square.det()) if r else 1, p)


def _confirm(A: Any, minor: Minor, seed: int) -> tuple[EnoughPrimes | None, float]:
    """Look at more primes until the chance of a wrong upper bound is small; return that chance.

    The rank over ℚ is larger than the rank mod p only if p divides one fixed nonzero minor, which is
    bounded: so few primes do, of all from which p was drawn. If the bound is below p none does: a proof.
    """
    bits = hadamard_bits(A, min(shape(A)))
    if bits < WORD_BITS - 1:
        return EnoughPrimes(minor.rank, 1, bits), 0.0
    known = 0.0
    if minor.modulus < 2**WORD_BITS:
        known = chance = log2(min(1.0, bits / (WORD_BITS - 1) / PRIMES_OF_WORD_BITS))
        # Distinct primes, so that each is bad with at most the chance of the first.
        more = (p for p in random_primes(seed + 1) if p != minor.modulus)
        if MORE_PRIMES * chance <= ERROR_BITS:
            while known > ERROR_BITS:
                if minor_mod(A, next(more)).rank > minor.rank:
                    raise RankGrewError(None)
                known += chance
            return None, 2.0**known
    p = next(p for p in random_primes(seed + 1, bits=60) if p != minor.modulus)
    if flint.nmod_mat(as_fmpz_mat(A), p).rank() > minor.rank:
        raise RankGrewError(None)
    # π(2x) − π(x) > 3x / (5 log x) for x ≥ 20.5 (Rosser and Schoenfeld 1962), with x = 2^59.
    primes = 3 * 2.0**59 / (5 * 59 * log(2))
    return None, 2.0 ** (known + log2(min(1.0, bits / 59 / primes)))


def _rescaled(kernel: Kernel, scales: list[Any]) -> Kernel:
    """The left kernel of D⁻¹Z from that of Z: multiply from the right by D."""
    rows, columns = kernel.combination.nrows(), kernel.combination.ncols()
    entries = kernel.combination.entries()
    scaled = [
        entries[i * columns + j] * scales[kernel.pivots[i]] for i in range(rows) for j in range(columns)
    ]
    denominators = tuple(d * scales[f] for d, f in zip(kernel.denominators, kernel.free, strict=True))
    return Kernel(
        "left", kernel.length, kernel.pivots, kernel.free, flint.fmpz_mat(rows, columns, scaled), denominators
    )


def _unit(x: Any, p: int) -> int:
    """x mod p, which must not be 0: else another prime is wanted."""
    remainder = int(x % p)
    if not remainder:
        raise RankGrewError(None)
    return remainder
