"""The proved linear symmetries of a model as vector fields, and those that fix a function of the weights.

A symmetry is a matrix B with dφ(θ)·Bθ = 0 for all θ. For a function f of the weights, those B with
df(θ)·Bθ = 0 for all θ are a subalgebra. Its vector fields are in the kernel of the differential of (φ, f), so
the rank of these fields at one point bounds the rank of (φ, f) from above. The same is true of those with
df(θ)·Bθ = λf for numbers λ, in place of f up to factors. They are found by linear algebra modulo a prime,
lifted to ℚ, and proved by symbols.

>>> from agattn.architectures import SingleLayer
>>> from agattn.architectures.functions import read_function
>>> layer = SingleLayer(3, 2, 2)
>>> known = SymmetryFields(layer, proved_symmetries(layer))
>>> product, keys = (read_function(text, layer.shapes) for text in ("K^T Q", "K"))
>>> len(known.matrices), known.fixing(product, None), known.fixing(keys, None)
(5, 4, 1)
>>> known.fixing(product, np.zeros(9, dtype=int))  # up to one factor
5
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, lcm
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Array, ModularArithmetic
from agattn.algebra.lie_algebras import Sparse
from agattn.algebra.residues import (
    Residues,
    RowSpace,
    hadamard,
    matmul,
    nonzero_minor,
    random_prime,
    random_residues,
    rational_number,
)
from agattn.algebra.tracing import Pushed, Pushing
from agattn.architectures import Architecture
from agattn.architectures.functions import WeightFunction
from agattn.architectures.protocol import as_parameters, bounds_on_outputs
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.dimension.first_order import changes_by_factors
from agattn.geometry.dimension.lie_algebra import linear_symmetries
from agattn.geometry.dimension.symmetries import known_groups, symmetry_matrices
from agattn.limits import limits

#: Models with more parameters are not searched for all linear symmetries.
MAX_SEARCHED = 120
#: Functions with more terms are not expanded, so that nothing is proved of these by symbols.
MOST_TERMS = 40_000
#: More vector fields than this are not combined.
MOST_GENERATORS = 600
# Points at which constant coefficients are sought.
_POINTS = 3
# Numbers held at a time.
_TOGETHER = 4_000_000


def derivative(f: WeightFunction, theta: Residues, tangents: Residues, p: int) -> tuple[Residues, Residues]:
    """The values of f at a point modulo p, (size,), and its derivatives along tangents, (count, size)."""
    pushing = Pushing(ModularArithmetic(p))
    at, parts = _arrays(f, theta), []
    value = np.asarray(f.evaluate(ModularArithmetic(p), at, None), dtype=np.float64).ravel() % p
    step = max(1, _TOGETHER // max(f.size, 1))
    for start in range(0, len(tangents), step):
        some = tangents[start : start + step]
        moved = {
            name: Pushed(at[name][None], rows[:, None], pushing) for name, rows in _arrays(f, some).items()
        }
        out: Any = f.evaluate(pushing, moved, None)
        parts.append(np.broadcast_to(out.tangents, (len(some), *out.value.shape)).reshape(len(some), -1) % p)
    return value, np.concatenate([np.zeros((0, f.size)), *parts])


def _arrays(f: WeightFunction, theta: Residues) -> dict[str, Array]:
    """The arrays of a flat vector, or of rows of vectors."""
    found, start = {}, 0
    for name, shape in f.shapes.items():
        stop = start + int(np.prod(shape, dtype=int))
        found[name] = theta[..., start:stop].reshape((*theta.shape[:-1], *shape))
        start = stop
    return found


def proved_symmetries(architecture: Architecture) -> list[Sparse]:
    """Linear symmetries that are proved: all that there are, where a search for them does not take long.

    Else those of the groups that the contractions show, or that the architecture names.
    """
    if architecture.parameters <= MAX_SEARCHED:
        with suppress(TooLargeError):
            found = linear_symmetries(architecture, force=False)
            return [one.matrix for one in found.generators if one.evidence is Evidence.PROVED]
    return [B for group in symmetry_matrices(architecture, known_groups(architecture)) for B in group]


class SymmetryFields:
    """Linear symmetries of a model, which are proved, and their tangent vectors.

    Args:
        architecture: the model.
        matrices: B with dφ(θ)·Bθ = 0 for all θ; those that depend on others at a general point are left out.
        seed: of the random points.
    """

    def __init__(self, architecture: Architecture, matrices: Sequence[Sparse]) -> None:
        generator = np.random.default_rng(limits().seed)
        self.architecture, self.matrices = architecture, list(matrices)[: 4 * MOST_GENERATORS]
        self.p = self._prime(generator)
        self.points = random_residues(generator, (_POINTS, architecture.parameters), self.p)
        if len(self.matrices) > MOST_GENERATORS:
            kept = nonzero_minor(self.tangents(self.points[0]), self.p).rows
            self.matrices = [self.matrices[k] for k in kept]

    def _prime(self, generator: np.random.Generator) -> int:
        while True:
            p = random_prime(generator)
            if all(Fraction(x).denominator % p for B in self.matrices for x in B.values()):
                return p

    def tangents(self, theta: Residues, p: int | None = None) -> Residues:
        """The vectors Bθ modulo the prime, (matrices, parameters)."""
        p = p or self.p
        found = np.zeros((len(self.matrices), len(theta)), dtype=np.int64)
        at = theta.astype(np.int64)
        for row, B in zip(found, self.matrices, strict=True):
            for (i, j), x in B.items():
                x = Fraction(x)
                row[i] = (row[i] + x.numerator * pow(x.denominator, -1, p) % p * int(at[j])) % p
        return found.astype(np.float64)

    @cached_property
    def rank(self) -> int:
        """The dimension of the orbits at general weights, or less: a proved lower bound."""
        return RowSpace(self.architecture.parameters, self.p).add(self._tangents[0]) if self.matrices else 0

    @cached_property
    def _tangents(self) -> list[Residues]:
        return [self.tangents(theta) for theta in self.points]

    def moving(self, f: WeightFunction) -> Residues:
        """The derivatives of f along the symmetries at random weights modulo the prime, (matrices, size).

        What is not 0 there is not 0 at general weights, and the rank is at most that at general weights.
        """
        return derivative(f, self.points[0], self._tangents[0], self.p)[1]

    def fixing(
        self, f: WeightFunction, blocks: Array | None, chosen: Array | None = None, most: float = inf
    ) -> int:
        """The rank at general weights of the symmetries that are proved to fix a function, or less.

        Args:
            f: the function.
            blocks: of each entry the number of its block, where f may change by a factor for each block.
            chosen: a mask of the entries that must be fixed; all by default.
            most: the largest rank that is of use, where the search ends.
        """
        return self.changing([Change(f, blocks, chosen)], most)

    def changing(self, changes: Sequence[Change], most: float = inf) -> int:
        """The same for several functions, which change by powers of the same factors."""
        if not self.matrices or not all(map(_is_short, (one.f for one in changes))):
            return 0
        solutions = self._solutions(changes)
        if not len(solutions):
            return 0
        g, rank = len(self.matrices), 0
        order = nonzero_minor(matmul(solutions[:, :g], self._tangents[0], self.p), self.p).rows
        for row in solutions[list(order)]:
            if rank >= most:
                break
            rank += self._is_proved(changes, row)
        return rank

    def _solutions(self, changes: Sequence[Change]) -> Residues:
        """Coefficients c, and rates λ, with Σ c_i df·B_iθ = kλf for all functions, at all points modulo p."""
        count = max(one.count for one in changes)
        space = RowSpace(len(self.matrices) + count, self.p)
        for theta, tangents in zip(self.points, self._tangents, strict=True):
            for one in changes:
                value, D = derivative(one.f, theta, tangents, self.p)
                scaled = np.zeros((one.f.size, count))
                if one.blocks is not None:
                    factor = np.float64(-one.exponent % self.p)
                    scaled[np.arange(one.f.size), one.blocks] = hadamard(value, factor, self.p)
                rows = np.concatenate([D.T, scaled], axis=1)
                space.add(rows if one.chosen is None else rows[one.chosen])
        return space.kernel()

    def _entries(self, f: WeightFunction) -> set[int]:
        """The parameters by number that a function depends on."""
        numbers = as_parameters(self.architecture, np.arange(self.architecture.parameters))
        return {int(i) for name in f.arrays for i in numbers[name].ravel()}

    def _is_proved(self, changes: Sequence[Change], solution: Residues) -> bool:
        """Whether the combination of symmetries, lifted to ℚ, changes the functions by the factors."""
        lifted = [x for x in (rational_number(int(x), self.p) for x in solution) if x is not None]
        if len(lifted) < len(solution):
            return False
        scale = lcm(*(x.denominator for x in lifted))
        c = [int(x * scale) for x in lifted]
        B: Sparse = {}
        for factor, matrix in zip(c, self.matrices, strict=False):
            for place, x in matrix.items() if factor else ():
                B[place] = B.get(place, 0) + factor * x
        rates = c[len(self.matrices) :]
        for one in changes:
            seen = self._entries(one.f)  # what happens to other arrays does not change f
            own = {place: x for place, x in B.items() if x and place[0] in seen}
            wanted = one.wanted(rates)
            if not (changes_by_factors(one.f, own, wanted) if own else not any(wanted)):
                return False
        return True


@dataclass(frozen=True)
class Change:
    """How a function may change: not at all, or by a factor for each block of entries.

    Attributes:
        f: the function.
        blocks: of each entry the number of its block; ``None`` if it must stay.
        chosen: a mask of the entries that are meant; all by default.
        exponent: k, if a block changes by the k-th power of its factor.
    """

    f: WeightFunction
    blocks: Array | None = None
    chosen: Array | None = None
    exponent: int = 1

    @property
    def count(self) -> int:
        """The number of blocks."""
        return 0 if self.blocks is None else int(self.blocks.max()) + 1

    def wanted(self, rates: Sequence[int]) -> list[int | Fraction | None]:
        """The rate of each entry for rates of the factors; ``None`` for entries that are not meant."""
        every: Array = np.zeros(self.f.size, dtype=object)
        if self.blocks is not None:
            every = np.array(rates, dtype=object)[self.blocks] * self.exponent
        return [x if self.chosen is None or self.chosen[e] else None for e, x in enumerate(every)]


def _is_short(f: WeightFunction) -> bool:
    """Whether a function has few enough terms to be expanded: with positive signs, its value at ones."""
    if f.size > MOST_TERMS:
        return False
    terms: Any = bounds_on_outputs(f).sum()  # type: ignore[arg-type]
    return bool(2**terms.log2 <= MOST_TERMS)
