r"""Critical and singular points of wide lightning networks: the theorem, and exact ranks to hold against it.

One head in each layer, no skip connections, t ≥ 2, all widths but the last and all ranks at least d = d_0,
d ≥ 2. Then the virtual weights (M, L) are all tuples of matrices, and the functions form a variety of
dimension l·d² + d_l·d − l. At f = φ(M, L) ≠ 0 with no skew-symmetric M_i (the proofs are in
docs/networks/deep-singularities-proofs.md):

- (M, L) is critical iff rk M_i = 1 for an i < l, or M_l = k qᵀ and L = h kᵀ. With the first such i the rank
  drops by (l − i)·C(d, 2) or more, for M_j + K with skew K, j > i, has the same function; else by d − 1.
- For d ≥ 3 M̄ is singular at f iff rk M_i = 1 for an i < l, or rk M_l = rk L = 1; elsewhere it is smooth. For
  d = 2 the same holds where no M_i with i < l has rank 1; if M_{l−1} is the first, M̄ is singular iff
  rk L = 1.

Where some M_i is skew-symmetric, M̄ is singular in these cases, too, and for d = 2 always, unless l = 1. Else
it depends on the neighbours of M_i, or the matrices next to those if these are skew (:func:`settled`).

The ranks are taken modulo a prime, at random inputs: they can only be too small, so they prove that a point
is *not* critical, and where the images of the differential at several preimages of f span more than dim M̄
dimensions, that M̄ is singular there.

>>> from agattn import DeepNetwork
>>> points = special_points(DeepNetwork((3, 3, 2), (3, 3), t=3))
>>> found = ranks_at(points[1], t=3)
>>> found.name, found.dimension, found.rank, found.tangent_lower
('rk M_1 = 1', 22, 19, 29)
>>> found.theorem
Statement(critical=True, singular=True, drop=3)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import comb
from typing import Any, Literal, NamedTuple

import flint
import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import rational_rank
from agattn.architectures import DeepNetwork
from agattn.geometry.identifiability.families import ExactWeights
from agattn.geometry.identifiability.virtual_weights import is_covered, is_skew
from agattn.geometry.singular_points.kinds import network_kinds, rank_one_factors
from agattn.geometry.singular_points.tangents import Tangents
from agattn.limits import limits, takes

#: Preimages of one function at which tangent vectors are taken, at most.
MOST_PREIMAGES = 8
#: How a theorem decides whether M̄ is singular.
Way = Literal["purity", "several branches", "one-point fiber"]


class Statement(NamedTuple):
    """What the theorem says of a point: critical or not, singular or not, by how much the rank drops.

    ``singular`` is ``None`` where d = 2 and a head before the last but one has rank 1; ``drop`` is a lower
    bound.
    """

    critical: bool
    singular: bool | None
    drop: int


class VirtualPoint(NamedTuple):
    """Virtual weights with integer entries, and what is special about them."""

    name: str
    M: tuple[Array, ...]
    L: Array

    @property
    def dimension(self) -> int:
        """The dimension l·d² + d_l·d − l of the variety of all functions, for t ≥ 2."""
        return len(self.M) * (len(self.M[0]) ** 2 - 1) + len(self.L) * len(self.M[0])

    @property
    def first_of_rank_one(self) -> int | None:
        """The least i < l with rk M_i = 1, counted from 1."""
        return next((i for i, m in enumerate(self.M[:-1], 1) if rational_rank(m) == 1), None)

    def statement(self) -> Statement | None:
        """What the theorem says; ``None`` where some M_i is skew-symmetric, as 0 is, or L = 0."""
        if not self.L.any() or any(map(is_skew, self.M)):
            return None
        d, l, first = len(self.M[0]), len(self.M), self.first_of_rank_one
        last = rational_rank(self.M[-1]) == 1 == rational_rank(self.L)
        if first is not None:
            of_two = rational_rank(self.L) == 1 if first == l - 1 else None
            return Statement(True, True if d > 2 else of_two, (l - first) * comb(d, 2))
        if not last:
            return Statement(False, False, 0)
        (k, _), (_, v) = rank_one_factors(self.M[-1]), rank_one_factors(self.L)
        is_critical = rational_rank(np.concatenate([k.T, v])) == 1
        return Statement(is_critical, True, d - 1 if is_critical else 0)

    @takes("seed")
    def preimages(self) -> list[VirtualPoint]:
        """Virtual weights with the same function: M_j + K with skew K, and (v qᵀ, h kᵀ) for (k qᵀ, h vᵀ).

        They are changed by as many random K_j as the tangent vectors are linear in, up to a bound.
        """
        generator, result = np.random.default_rng(limits().seed), [self]
        d, l, first = len(self.M[0]), len(self.M), self.first_of_rank_one
        if first is not None:
            for _ in range(min(MOST_PREIMAGES - 1, (l - first) * comb(d, 2) + 1)):
                N = generator.integers(-3, 4, (l - first, d, d)).astype(object)
                moved = (m + n - n.T for m, n in zip(self.M[first:], N, strict=True))
                result.append(self._replace(M=(*self.M[:first], *moved)))
        if rational_rank(self.M[-1]) == 1 == rational_rank(self.L):
            (k, q), (h, v) = rank_one_factors(self.M[-1]), rank_one_factors(self.L)
            result.append(self._replace(M=(*self.M[:-1], v.T @ q), L=h @ k.T))
        return result

    def weights(self, t: int) -> ExactWeights:
        """Weights of a wide network with t tokens, where Q_1, ..., Q_l and V_l move (M, L) in all directions.

        K_i = 1, Q_i = M_i, V_i = 1 but for V_l = L.
        """
        l, (d_out, d) = len(self.M), self.L.shape
        network = DeepNetwork((*[d] * l, d_out), (d,) * l, t)
        arrays = dict.fromkeys(network.shapes, np.eye(d, dtype=object))
        arrays |= {f"Q_{i}": m for i, m in enumerate(self.M, 1)} | {f"V_{l}": self.L}
        return ExactWeights(network, arrays)

    def as_json(self) -> dict[str, object]:
        """The integers."""
        return {"M": [m.tolist() for m in self.M], "L": self.L.tolist()}


class PointRanks(NamedTuple):
    """Exact ranks at a point.

    Attributes:
        point: the weights.
        theorem: what the theorem says of it.
        rank: of the differential: proved to be no smaller, and no larger where it is the dimension less the
            drop that is proved.
        tangent_lower: a proved lower bound on the dimension of the Zariski tangent space of M̄ at f.
    """

    point: VirtualPoint
    theorem: Statement
    rank: int
    tangent_lower: int

    @property
    def name(self) -> str:
        """What is special about the point."""
        return self.point.name

    @property
    def dimension(self) -> int:
        """Of M̄."""
        return self.point.dimension

    @property
    def is_critical(self) -> bool:
        """Whether the differential has a rank below the dimension."""
        return self.rank < self.dimension

    @property
    def contradicts_critical(self) -> bool:
        """Whether the rank is not as the theorem says: full, or not, or larger than it may be."""
        return self.is_critical != self.theorem.critical or self.rank > self.dimension - self.theorem.drop

    @property
    def contradicts_singular(self) -> bool:
        """Whether there are more tangent vectors than dimensions where M̄ is said to be smooth."""
        return self.theorem.singular is False and self.tangent_lower > self.dimension


def is_wide(network: DeepNetwork) -> bool:
    """Whether the virtual weights of a network are all tuples of matrices, and the theorem is about it.

    >>> is_wide(DeepNetwork((3, 4, 1), (3, 5), t=2)), is_wide(DeepNetwork((3, 2, 3), (3, 3), t=2))
    (True, False)
    """
    d, *_ = network.dims
    wide = min(*network.dims[:-1], *network.ranks) == d >= 2
    return is_covered(network) and wide


def settled(network: DeepNetwork, M: Sequence[Array], L: Array) -> tuple[bool, Way] | None:
    """Whether M̄ is singular at φ(M, L) ≠ 0, by theorems of docs/networks/deep-singularities.md; and by which.

    Theorems 4, 5 and 6 are about wide networks, Theorem 8 about smaller ranks or one bottleneck, and
    Theorem 7 about one token. Where some M_i is skew-symmetric, Theorems 5 and 6 and Propositions 9 and 10
    say something about wide networks. ``None`` if none of them says.

    >>> M, L = [np.diag([1, 2, 3]), np.diag([1, -1, 0])], np.eye(2, 3, dtype=int)
    >>> for ranks in ((3, 3), (3, 2), (2, 3)):
    ...     print(ranks, settled(DeepNetwork((3, 3, 2), ranks, t=2), M, L))
    (3, 3) (False, 'one-point fiber')
    (3, 2) (False, 'one-point fiber')
    (2, 3) None
    >>> settled(DeepNetwork((3, 3, 2), (3, 3), t=1), M, L)
    (False, 'one-point fiber')
    """
    d, d_1, *_ = network.dims
    if not is_covered(network) or d < 2:
        return None
    point, ranks = VirtualPoint("", tuple(M), L), [rational_rank(m) for m in M]
    if network.t == 1:
        return _at_one_token(point) if is_wide(network) and d + len(L) > 3 else None
    if any(map(is_skew, M)):
        return _with_skew(point, network.t) if is_wide(network) else None
    too_large = any(m > a for m, a in zip(ranks, network.ranks, strict=True))
    if (statement := point.statement()) is None or too_large:
        return None
    if is_wide(network):
        return None if statement.singular is None else (statement.singular, _way(statement))
    if d < 3:
        return None
    singular_source = any(m < a < d for m, a in zip(ranks, network.ranks, strict=True))
    if min(network.dims[:-1]) < d:
        one_width = set(network.dims[1:-1]) == {d_1} and d_1 + (network.depth == 2) >= 3
        if not one_width or network.ranks[0] < d or min(network.ranks) < d_1:
            return None
        span = rational_rank(np.concatenate([x for m in M[1:] for x in (m, m.T)] + [L]))
        if span > d_1:
            return None
        singular_source = span < d_1
    elif min(network.ranks) < 2:
        return None
    if statement.singular or not singular_source:
        return bool(statement.singular), _way(statement)
    return True, "purity"


def _way(statement: Statement) -> Way:
    if not statement.singular:
        return "one-point fiber"
    return "purity" if statement.critical else "several branches"


def _with_skew(point: VirtualPoint, t: int) -> tuple[bool, Way] | None:
    """Theorems 5 and 6, Propositions 9 and 10, where f ≠ 0 and some M_i is skew-symmetric.

    For l = 1 docs/layer/corrected-theorem.md: a skew matrix is not of rank one.
    """
    M, l = point.M, len(point.M)
    if l == 1:
        return False, "one-point fiber"
    pair = rational_rank(M[-1]) == 1 == rational_rank(point.L)
    if len(M[0]) == 2 or pair or point.first_of_rank_one is not None:
        return True, "purity"
    skew, exchanged = [is_skew(m) for m in M], False
    for i, n in itertools.combinations(range(l), 2):
        two_tokens = t == 2 or any(rational_rank(m) == 2 or (t == 3 and is_skew(m)) for m in M[:i])
        next_to = all(skew[i + 1 : n])  # but for skew matrices between
        for K, A in ((M[i], M[n]), (M[n], M[i])):
            if not is_skew(K):
                continue
            in_theta = next_to and _is_multiple_plus_square(K, A)
            in_plane = next_to and rational_rank(np.concatenate([K, A, A.T])) == 2
            multiple = rational_rank(np.array([K.ravel(), A.ravel()])) == 1
            if in_plane or (two_tokens and (in_theta or multiple)):
                return True, "purity"
            exchanged |= in_theta
    decided = sum(skew) == 1 and rational_rank(point.L) >= 2 and not exchanged
    return (False, "one-point fiber") if decided else None


def _is_multiple_plus_square(K: Array, A: Array) -> bool:
    """Whether A = sK + vvᵀ for a complex s and v, where K ≠ 0 is skew-symmetric."""
    skew = np.array([K.ravel(), (A - A.T).ravel()])
    return rational_rank(A + A.T) <= 1 and rational_rank(skew) == 1


def _at_one_token(point: VirtualPoint) -> tuple[bool, Way]:
    """Theorem 7: by common factors of the quadratic forms of the M_i, and the linear form where rk L = 1."""
    names = tuple(f"x{i}" for i in range(len(point.M[0])))
    x = flint.fmpz_mpoly_ctx.get(names, "lex").gens()
    forms: list[Any] = [sum(int(c) * x[i] * x[j] for (i, j), c in np.ndenumerate(m)) for m in point.M]
    has_form = rational_rank(point.L) == 1
    if has_form:
        [row] = rank_one_factors(point.L)[1]
        forms.append(sum(int(c) * x[i] for i, c in enumerate(row)))
    if any(one.gcd(other).total_degree() > 0 for one, other in itertools.combinations(forms, 2)):
        return True, "purity"
    last = point.M[-1]
    if has_form and rational_rank(last + last.T) <= 2:
        return True, "several branches"
    return False, "one-point fiber"


@takes("seed")
def ranks_at(point: VirtualPoint, t: int) -> PointRanks:
    """Exact ranks at a point of which the theorem speaks.

    Raises:
        ValueError: if the theorem does not speak of it.
    """
    if (statement := point.statement()) is None:
        raise ValueError(f"{point.name}: some M_i is skew-symmetric, or L = 0")
    dimensions = spans(point.preimages(), t)
    return PointRanks(point, statement, dimensions[0], dimensions[-1])


def spans(points: Sequence[VirtualPoint], t: int) -> list[int]:
    """For each n the dimension of the span of the images of the differential of (M, L) ↦ φ at n points.

    Args:
        points: of one size.
        t: the number of tokens.
    """
    weights, l = [point.weights(t) for point in points], len(points[0].M)
    varying = [*(f"Q_{i}" for i in range(1, l + 1)), f"V_{l}"]
    return Tangents(weights[0].architecture, points[0].dimension, varying).spans(weights)


# Special points ---------------------------------------------------------------------------------------------


@takes("seed")
def special_points(network: DeepNetwork) -> list[VirtualPoint]:
    """The points of the catalogue of kinds of which the theorem speaks.

    Raises:
        ValueError: if the network is not wide.
    """
    if not is_wide(network):
        raise ValueError(f"the theorem is not about {network}")
    given = ((kind.name, kind.virtual) for kind in network_kinds(network))
    points = [VirtualPoint(name, tuple(at[0]), at[1]) for name, at in given if at is not None]
    return [point for point in points if point.statement() is not None]
