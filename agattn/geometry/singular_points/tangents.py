r"""Tangent vectors of the closure M̄ of a neuromanifold at one function, from all weights known to have it.

Let f = φ(w). The curve φ(w + εv) lies in M, so a polynomial that vanishes on M vanishes on it, and its
differential at f is 0 on dφ(w)v: the Zariski tangent space T_f M̄ contains the image of dφ at *every* preimage
of f. Where dφ(w)v = 0, the curve φ(w + εv + ε²u) = f + ε²(½ d²φ(v, v) + dφ(u)) + … says the same of
d²φ(v, v), and so of d²φ(v, v') for any two vectors of the kernel, modulo the image. If M contains sf with f
for all s > 0, T_0 M̄ contains every f of M.

All vectors are taken at common inputs and cotangents, and their rank modulo a prime is a proved lower bound
of the dimension of T_f M̄.

>>> from agattn.architectures import Network, Perceptron
>>> model = Network([Perceptron([2, 1], degree=3)], dim=3)            # sums of two cubes of linear forms
>>> at = ExactWeights(model, {"W_1_1": [[1, 2, 3], [0, 0, 0]], "W_1_2": [[1, 0]]})
>>> tangents, free = Tangents(model, 6), [tuple(int(i == j) for i in range(8)) for j in (3, 4, 5)]
>>> tangents.rank_at(at), tangents.preimages([at], [(at, free)])[1]   # of 10 cubics, at most 6 where smooth
(3, 10)

**Wide lightning networks**: the theorem on critical and singular points, and exact ranks to hold against it.

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
from itertools import combinations_with_replacement
from math import comb
from typing import Any, Literal, NamedTuple

import flint
import numpy as np

from agattn.algebra.arithmetic import Array, ModularArithmetic
from agattn.algebra.echelon import rational_rank
from agattn.algebra.residues import Residues, RowSpace, hadamard, matmul, nonzero_minor, random_residues
from agattn.architectures import Architecture, DeepNetwork
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.identifiability.families import ExactWeights, Vector
from agattn.geometry.identifiability.virtual_weights import is_covered, is_skew
from agattn.geometry.singular_points.kinds import network_kinds, rank_one_factors
from agattn.limits import limits, takes

#: Points of the fiber are moved so often at most along directions that change no function.
_MOVES = 12
#: Second derivatives are taken for so many vectors of the kernel at most.
_MOST_SECOND = 12


class Tangents:
    """Tangent vectors of M̄ at one function, as values of cotangents at common inputs, modulo a prime.

    Args:
        architecture: any polynomial one.
        at_most: a proved upper bound of dim M̄.
        varying: the parameters by which φ is differentiated, where these span the images of the differential
            at all weights that are asked about; all by default.
    """

    def __init__(self, architecture: Architecture, at_most: int, varying: Sequence[str] = ()) -> None:
        self.architecture, self.seed = architecture, limits().seed
        generator = np.random.default_rng(self.seed)
        zeros = {name: np.zeros(shape, dtype=int) for name, shape in architecture.shapes.items()}
        self.zero = ExactWeights(architecture, zeros)
        self.p = self.zero.prime(generator)
        rows = 4 * at_most + 20
        self.X = random_residues(generator, (rows, *architecture.input_shape), self.p)
        self.cotangents = random_residues(generator, (rows, 1, *architecture.output_shape), self.p)
        self.arithmetic = ModularArithmetic(self.p)
        numbers = self.zero.arrays(np.arange(architecture.parameters))
        self._columns = np.concatenate([numbers[name].ravel() for name in varying or numbers])
        self._images: dict[Vector, Residues] = {}
        self.at_most = at_most
        #: Of φ in the weights, or more.
        self.degree = architecture.degree or 0
        if isinstance(architecture, DeepNetwork):
            self.degree = 3 * (3**architecture.depth - 1) // 2

    def image(self, at: ExactWeights) -> Residues:
        """Vectors that span the image of the differential, one in each row, without repetition."""
        if at.vector not in self._images:
            arrays = at.arrays(at.residues(self.p)[0])
            J = jacobian(self.architecture, arrays, self.X, self.arithmetic, self.cotangents)
            self._images[at.vector] = np.asarray(J, dtype=np.float64).T[self._columns]
        return self._images[at.vector]

    def forget(self) -> None:
        """Forget the images of the differential that were found, which fill the memory."""
        self._images.clear()

    def rank_at(self, at: ExactWeights) -> int:
        """The rank of the differential: proved from below."""
        return nonzero_minor(self.image(at), self.p).rank

    def values(self, weights: Residues) -> Residues:
        """The functions of some weights, (n, parameters), as rows."""
        rows = []
        for flat in weights:
            out = self.architecture.evaluate(self.arithmetic, self.zero.arrays(flat), self.X)
            terms = self.arithmetic.times(out, self.cotangents[:, 0])
            rows.append(terms.sum(axis=(1, 2)) % self.p)
        return np.array(rows)

    def kernel_found(self, at: ExactWeights, directions: Sequence[Vector]) -> int:
        """The dimension of the part of the kernel that symmetries and directions span: a lower bound."""
        own = np.concatenate([at.tangents(self.p), at.residues(self.p, directions)[1]])
        return nonzero_minor(own, self.p).rank

    def span(self, preimages: Sequence[ExactWeights]) -> int:
        """The dimension of the span of the images of the differential at some preimages.

        Raises:
            AssertionError: if they are not preimages of one function.
        """
        values = self.values(np.array([at.residues(self.p)[0] for at in preimages]))
        assert (values == values[0]).all(), "weights that should have one function have two"
        return nonzero_minor(self._images_at(preimages), self.p).rank

    def spans(self, points: Sequence[ExactWeights]) -> list[int]:
        """For each number n the dimension of the span of the images of dφ at the first n of any weights."""
        space = RowSpace(len(self.X), self.p)
        return [space.add(self.image(at)) for at in points]

    def _images_at(self, preimages: Sequence[ExactWeights]) -> Residues:
        return np.concatenate([self.image(at) for at in preimages])

    def preimages(
        self,
        points: Sequence[ExactWeights],
        moving: Sequence[tuple[ExactWeights, Sequence[Vector]]],
        patience: int = 1,
    ) -> tuple[list[ExactWeights], int]:
        """Weights with the same function, and the dimension of what the images there span together.

        They are moved at random along directions, until ``patience`` moves one after the other add nothing.
        """
        moving = [(point, directions) for point, directions in moving if directions]
        preimages = list({point.vector: point for point in points}.values())
        dimension, idle = self.span(preimages), 0
        for number in range(_MOVES):
            if idle == patience or not moving:
                break
            before = dimension
            preimages += [point.moved(directions, self.seed + number) for point, directions in moving]
            dimension = self.span(preimages)
            idle = idle + 1 if dimension == before else 0
        return preimages, dimension

    def span_of_functions(self, count: int = 0) -> int:
        """The dimension of the span of ``count`` random functions, or of a few more than dim M."""
        generator = np.random.default_rng(self.seed + 1)
        shape = max(count, self.at_most + 4), self.architecture.parameters
        weights = random_residues(generator, shape, self.p)
        return nonzero_minor(self.values(weights), self.p).rank

    def second_order(
        self, at: ExactWeights, preimages: Sequence[ExactWeights], rank_there: int
    ) -> tuple[int, bool]:
        """The dimension of the span at preimages with all d²φ(v, v'), and whether the fiber is the orbit.

        Here v, v' are in the kernel of the differential. The fiber is the orbit, near the point, if modulo
        the image of the differential the d²φ(v, v') of a basis of the kernel modulo the orbit of the
        symmetries are independent: then d²φ(v, v) is in the image for v = 0 alone, and no other curve of
        weights with one function starts here.
        """
        basis = at.kernel([], range(len(at.vector)))
        if len(basis) != len(at.vector) - rank_there:
            return 0, False  # the few inputs that gave the kernel gave too much
        own = at.tangents(self.p)
        vectors = np.concatenate([own, at.residues(self.p, basis)[1]])
        extra = vectors[[row for row in nonzero_minor(vectors, self.p).rows if row >= len(own)]]
        if len(extra) > _MOST_SECOND:
            return 0, False
        pairs = combinations_with_replacement(extra, 2)
        # The part quadratic in the direction u + v; those of the squares come first in what they span.
        quadratic = np.array([self._second(at, u + v) for u, v in pairs])
        image = nonzero_minor(np.concatenate([self.image(at), quadratic]), self.p).rank - rank_there
        vectors_there = np.concatenate([self._images_at(preimages), quadratic])
        return nonzero_minor(vectors_there, self.p).rank, image == len(quadratic)

    def _second(self, at: ExactWeights, v: Residues) -> Residues:
        """The coefficient of s² in φ(w + sv), by interpolation."""
        point = at.residues(self.p)[0]
        scales = np.arange(self.degree + 1, dtype=np.float64)
        values = self.values((point + hadamard(v[None] % self.p, scales[:, None], self.p)) % self.p)
        powers = [pow(int(s), n, self.p) for s in scales for n in range(len(scales))]
        inverse = flint.nmod_mat(len(scales), len(scales), powers, self.p).inv()
        row = np.array([[float(int(inverse[2, n])) for n in range(len(scales))]])
        return np.asarray(matmul(row, values, self.p)[0])


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
