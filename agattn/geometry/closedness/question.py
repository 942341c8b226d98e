r"""Whether the set M of functions of an architecture is closed: one question, in a word and in a sentence.

Of one layer the theorems of :mod:`~agattn.geometry.closedness.several_heads` answer, of networks of several
layers and of other models the proofs below. Limits of diverging weights outside of M are shown where such are
known.

**Closed images.** Let the parameters be divided into blocks θ_1, ..., θ_k, and let all coordinates of φ be
homogeneous of degree δ_i > 0 in θ_i, with the same δ = (δ_1, ..., δ_k). If φ(θ) = 0 only where some θ_i = 0,
the image of φ is closed: it is a cone over the image of a product of spheres, which is compact and does not
contain 0.

*Blocks.* The degree in a block is the same on all monomials if and only if the vector with 1 at its
parameters and 0 elsewhere has one value on all exponents. These vectors are those with entries 0 and 1 in a
linear space. A finer division has fewer conditions, so blocks that are unions of others are not tried.

*Zeros.* φ has no zero over ℂ beyond those if and only if the ideal of its coordinates contains all monomials
of some multidegree D. If it does for any, it does for D_i = (r + 1)δ_i − n_i + 1, where n_i is the size of
θ_i and r = Σ(n_i − 1): the page on model points has the proof. A rank modulo a prime that is the number of
these monomials proves it.

>>> from agattn.algebra.polynomial import PolynomialRing
>>> s, t = PolynomialRing(["s", "t"]).gens
>>> closed_image([s**3, s**2 * t, s * t**2, t**3])
Blocks(places=((0, 1),), degrees=(3,), contains=(3,))
>>> closed_image([s**2, s * t]) is None                              # zero at s = 0
True
>>> from agattn.architectures import DeepNetwork, SingleLayer
>>> print(is_closed_set(SingleLayer(2, 1)).sentence)
M is closed (proved). φ = 0 only where A = 0 or V = 0, so M is the cone over a compact set.
>>> found = is_closed_set(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> found.closed, found.limits.dimension
(False, 7)

Limits of deep lightning networks along diverging weights, and why no weights reach them.

One head in each layer, no skip connections, t ≥ 2. A layer is F_i(Y) = Y Yᵀ M_i Y in the virtual weights M_i,
and φ = L F_l ∘ ... ∘ F_1. If M_s = k qᵀ its tokens are parallel, F_s(Y) = u wᵀ with u = Y Yᵀ k, w = Yᵀ q, and
F_j(u wᵀ) = (wᵀw)(uᵀ M_j u) u wᵀ: all later layers see the symmetric parts of their M_j alone. So φ = 0 where
some M_j with j > s is skew-symmetric, though neither L nor any M_i is 0. Near such a zero, with

    M_s(ε) = k qᵀ + εN,   M_{s+1}(ε) = K + εP,   K skew-symmetric,

layer s + 1 has the values εy + O(ε²), and the rest of the network, divided by ε^m with m = 3^(l−s−1), tends
to its value at y. If det(Yᵀ M_s(ε) Y) = εδ(Y) + O(ε²) with δ ≠ 0, K ≠ 0, P is not skew-symmetric, the other
M_i are not either, L ≠ 0 and rk M_i ≥ 2 for i < s, then **no weights have this limit as their function**,
real or complex: docs/networks/deep-limits-proofs.md has the proof.

All these limits are reached through the weights K, Q, V of a network: row 1 of Q_s stays and its other rows
are multiplied by ε; Q_{s+1} becomes ΩK_{s+1} + εQ_{s+1} with a skew-symmetric Ω; V_l is divided by ε^m. So
the limits are the values of a map of the weights, :class:`LimitMap`, and the rank of its differential bounds
their dimension from below. From above it is at most dim M − 1, as they lie in the closure of M, not in M.

>>> from agattn.architectures import DeepNetwork
>>> print(limit_set(DeepNetwork((2, 2, 1), (2, 2), t=2)))
M(2,2,1; 2,2), t = 2: limits that no weights reach, through rk M_1 = 1, M_2 skew: of dimension 7 (proved)
>>> print(limit_set(DeepNetwork((3, 2, 3), (2, 2), t=3)))
M(3,2,3; 2,2), t = 3: limits that no weights reach, through rk M_1 = 1, M_2 skew: of dimension 17 (proved)
>>> is_closed(DeepNetwork((3, 1, 3), (2, 2), t=3))
True
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb, prod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ModularArithmetic, RingArithmetic
from agattn.algebra.echelon import echelon, kernel_basis, rational_matrix, rational_rank
from agattn.algebra.polynomial import Exponents, Polynomial
from agattn.algebra.residues import RowSpace, random_prime, random_residues
from agattn.algebra.scalars import fraction_matrix
from agattn.architectures import Architecture, DeepNetwork
from agattn.architectures.symmetry import Symmetry
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.closedness.several_heads import HeadsLimit, closedness, is_one_layer
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.identifiability.families import ExactWeights
from agattn.geometry.identifiability.virtual_weights import (
    is_covered,
    is_skew,
    vanishes,
    virtual,
    virtual_ranks,
    virtual_weights,
)
from agattn.geometry.variety.coefficient_map import CoefficientMap
from agattn.limits import limits, takes
from agattn.sheet.result import Count, Described, Key, Named, Result

#: Largest entries of weights that are tried for a witness, smallest first, and how often.
_SIZES, _DRAWS = (1, 2, 5, 99), 3


def first_of_pair(network: DeepNetwork) -> int | None:
    """The largest s for which rk M_s = 1, M_{s+1} skew is a zero through which limits are taken; or ``None``.

    Behind the first M_m that has rank at most 1 only symmetric parts matter, so s + 1 is m − 1, or l if there
    is none. If s < 1, then φ = 0 only where L, M_i or such a symmetric part is 0, and M is closed.

    >>> first_of_pair(DeepNetwork((3, 3, 3, 2), (3, 3, 3), t=2))
    2
    >>> first_of_pair(DeepNetwork((3, 3, 3, 2), (3, 3, 1), t=2))
    1
    """
    ranks = virtual_ranks(network)
    s = (ranks.index(1) if 1 in ranks else network.depth) - 1
    return s if s >= 1 and network.t >= 2 else None


def is_closed(network: DeepNetwork) -> bool | None:
    """Whether M is closed, by the theorem of docs/networks/deep-limits.md; ``None`` for other networks.

    M is closed exactly if l = 1, t = 1, or one of d_0, d_1, a_1, a_2 is 1.

    >>> [is_closed(DeepNetwork((3, 3, 1), ranks, t=2)) for ranks in ((3, 3), (2, 2), (1, 3), (3, 1))]
    [False, False, True, True]
    """
    return first_of_pair(network) is None if is_covered(network) else None


# Limits -----------------------------------------------------------------------------------------------------


class LimitMap:
    """The map of all weights (K, Q, V) of a network to the limits through rk M_s = 1, M_{s+1} skew.

    An architecture with the network's parameters, so that its Jacobian is traced as that of a network.

    Attributes:
        network: a lightning network with one head in each layer and no skip connections.
        first: s, with 1 ≤ s < l.

    >>> network = DeepNetwork((2, 2, 1), (2, 2), t=2)
    >>> matrices = {"K_1": [[1, 2], [1, 0]], "Q_1": [[1, -1], [0, 1]], "V_1": [[1, 0], [0, 1]]}
    >>> matrices |= {"K_2": [[1, 0], [0, 1]], "Q_2": [[1, 1], [0, 2]], "V_2": [[1, 3]]}
    >>> weights = {name: np.array([rows], dtype=object) for name, rows in matrices.items()}
    >>> X = np.array([[[1, 2], [0, 1]]], dtype=object)
    >>> LimitMap(network, 1).evaluate(RingArithmetic(), weights, X)
    array([[[6300, 6216]]], dtype=object)
    """

    kind: ClassVar[str] = "limits"
    options: ClassVar[tuple[str, str]] = DeepNetwork.options
    #: Limits are known by their values.
    ambient_dimension: ClassVar[None] = None
    #: None that are used.
    symmetries: ClassVar[tuple[Symmetry, ...]] = ()

    def __init__(self, network: DeepNetwork, first: int) -> None:
        if not is_covered(network):
            raise InputError(f"{network}: limits are found for lightning networks of one head, no skips")
        if not 1 <= first < network.depth:
            last = network.depth - 1
            raise InputError(f"s is {first}; it must be from 1 to {last}, and layers s, s + 1 are meant")
        self.network, self.first = network, first
        self.t, self.degree = network.t, network.degree
        self.input_shape, self.output_shape = network.input_shape, network.output_shape
        self.shapes, self.parameters = network.shapes, network.parameters
        self.name = f"{network}: limits that no weights reach, through rk M_{first} = 1, M_{first + 1} skew"

    def __str__(self) -> str:
        return self.name

    def as_network(self) -> None:
        """``None``: a limit is no function of a network."""

    def as_json(self) -> dict[str, object]:
        """The network, and s."""
        return {"network": self.network.as_json(), "first": self.first}

    @property
    def order(self) -> int:
        """m = 3^(l−s−1), the power of ε by which V_l is divided."""
        return int(3 ** (self.network.depth - self.first - 1))

    def queries(
        self, arithmetic: Arithmetic, parameters: Mapping[str, Array]
    ) -> dict[str, tuple[Array, Array]]:
        """Q_s and Q_{s+1} as pairs: at ε = 0, and what is multiplied by ε.

        Q_s is its first row plus ε times the others, so that rk K_sᵀQ_s = 1 at ε = 0. Q_{s+1} is ΩK_{s+1} at
        ε = 0, with blocks (0 1; −1 0) in Ω, so that K_{s+1}ᵀQ_{s+1} is skew-symmetric there.
        """
        s, ranks, mul = self.first, self.network.ranks, arithmetic.matmul
        one = arithmetic.identity(ranks[s - 1])
        top = one * 0
        top[0, 0] = one[0, 0]
        Q = parameters[f"Q_{s}"]
        one = arithmetic.identity(ranks[s])
        omega = one * 0
        for i in range(1, ranks[s], 2):
            omega[i - 1, i], omega[i, i - 1] = one[0, 0], -one[0, 0]
        twisted = mul(arithmetic.clean(omega), parameters[f"K_{s + 1}"])
        rest = mul(arithmetic.identity(ranks[s - 1]) - top, Q)
        return {f"Q_{s}": (mul(top, Q), rest), f"Q_{s + 1}": (twisted, parameters[f"Q_{s + 1}"])}

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The limit of φ(X)/ε^m on a stack of inputs, (n, d_0, t), as (n, d_l, t).

        With Z + εŻ after layer s, layer s + 1 has the coefficient Z(ŻᵀKZ + ZᵀKŻ + ZᵀPZ) of ε before V_{s+1}:
        as Z has rank one, ZᵀKZ = 0.
        """
        dims, ranks, s, after = self.network.dims, self.network.ranks, self.first, self.first + 1
        mul, clean = arithmetic.matmul, arithmetic.clean

        def scores(i: int, Y: Any, Q: Any, Z: Any) -> Any:
            return mul(mul(parameters[f"K_{i}"], Y).swapaxes(-1, -2), mul(Q, Z))

        if s > 1:
            X = DeepNetwork(dims[:s], ranks[: s - 1], self.t).evaluate(arithmetic, parameters, X)
        X = X[:, None]  # for the one head
        rank_one, skew = self.queries(arithmetic, parameters).values()
        Z, moved = (mul(parameters[f"V_{s}"], mul(X, scores(s, X, Q, X))) for Q in rank_one)
        W = scores(after, moved, skew[0], Z) + scores(after, Z, skew[0], moved) + scores(after, Z, skew[1], Z)
        Y: Array = clean(mul(parameters[f"V_{after}"], mul(Z, clean(W))).sum(axis=1))
        if after == self.network.depth:
            return Y
        back = DeepNetwork(dims[after:], ranks[after:], self.t)
        names = {name: f"{name[:2]}{int(name[2:]) + after}" for name in back.shapes}
        return back.evaluate(arithmetic, {name: parameters[other] for name, other in names.items()}, Y)

    def virtual_weights(self, parameters: Mapping[str, Array]) -> tuple[list[Array], Array, Array, Array]:
        """(M, N, P, L): the virtual weights at ε = 0, and what is multiplied by ε in M_s and in M_{s+1}.

        Over the integers; L is that of the V_i as they are given.
        """
        moving = self.queries(RingArithmetic(), parameters)
        numbers = range(1, self.network.depth + 1)
        V = [parameters[f"V_{i}"][0] for i in numbers]

        def attention(n: int) -> list[Array]:
            queries = {**parameters, **{name: both[n] for name, both in moving.items()}}
            return [parameters[f"K_{i}"][0].T @ queries[f"Q_{i}"][0] for i in numbers]

        M, L = virtual_weights(attention(0), V)
        # Of what is multiplied by ε only M_s and M_{s+1} are asked, so the other factors do not matter.
        slope, _ = virtual_weights(attention(1), V)
        return M, slope[self.first - 1], slope[self.first], L

    def minors(self, parameters: Mapping[str, Array], Y: Array) -> tuple[int, int]:
        """κ(Y) and δ(Y) for integer weights and Y, d_0 × 2.

        Yᵀ K Y = κ(Y)·(0 1; −1 0), and det(Yᵀ M_s(ε) Y) = εδ(Y) + O(ε²).
        """
        M, N, _, _ = self.virtual_weights(parameters)
        (a, b, c, d), (e, f, g, h), (_, kappa, _, _) = (
            (Y.T @ matrix @ Y).ravel().tolist() for matrix in (M[self.first - 1], N, M[self.first])
        )
        return kappa, a * h + d * e - b * g - c * f

    def open_conditions(self, parameters: Mapping[str, Array], Y: Array) -> list[str]:
        """The conditions that fail, of those under which no weights have the limit as function; Y is d_0 × 2.

        The weights are integers, and Y shows that κ and δ of :meth:`minors` are not 0 as polynomials.
        """
        M, _, P, L = self.virtual_weights(parameters)
        s, failing = self.first, []
        for i, m in enumerate(M, 1):
            if i < s and rational_rank(m) < 2:
                failing.append(f"rk M_{i} ≥ 2")
            if i not in (s, s + 1) and is_skew(m):
                failing.append(f"M_{i} is not skew-symmetric")
        kappa, delta = self.minors(parameters, Y)
        failing += [] if delta else ["δ(Y) ≠ 0"]
        failing += [] if kappa else ["κ(Y) ≠ 0"]
        failing += ["P is not skew-symmetric"] if is_skew(P) else []
        failing += [] if L.any() else ["L ≠ 0"]
        return failing


class OutsideLimits(Result):
    """Limits of diverging weights that no weights reach."""

    dimension: Key[Count | None, "The dimension of these limits, proved to be no smaller; or null."]
    upper_bound: Key[Count, "The dimension of these limits is at most this: proved.", Named("at_most")]
    witness: Key[dict[str, Any], "One limit, and the weights through which it is taken."]


@dataclass(frozen=True, repr=False)
class LimitSet(Described):
    """The limits of a network through rk M_s = 1, M_{s+1} skew, which are in the closure of M and not in M.

    Attributes:
        network: the network; the weights of the witness are the same for every t ≥ 2.
        first: s.
        dimension: a proved lower bound: the rank of the differential of the limits at the witness.
        upper_bound: proved: one less than the count that bounds dim M.
        weights: integers (K, Q, V) at which the rank was taken, and whose limit is the function of none.
        X: integers, d_0 × 2, which show that this limit has no preimage, and at which its value is given.
        value: the limit at X, d_l × 2.
    """

    network: DeepNetwork
    first: int
    dimension: int
    upper_bound: int
    weights: Mapping[str, list[list[int]]]
    X: list[list[int]]
    value: list[list[int]]

    @property
    def evidence(self) -> Evidence | None:
        """``proved`` where the bounds meet; ``None`` where the dimension is only known from below."""
        return Evidence.PROVED if self.dimension == self.upper_bound else None

    @property
    def witness(self) -> dict[str, Any]:
        """One limit, and the weights through which it is taken."""
        return {"first": self.first, "weights": dict(self.weights), "X": self.X, "value": self.value}

    def summary(self) -> str:
        """What the limits are, and how many dimensions they have."""
        size = f"of dimension {self.dimension} (proved)"
        if self.evidence is None:
            size = f"of dimension {self.dimension} to {self.upper_bound}"
        return f"{LimitMap(self.network, self.first)}: {size}"


def limit_set(network: DeepNetwork) -> LimitSet:
    """Limits of functions of the network that no weights have as function, and the dimension of their set.

    Two tokens tell: a limit that has no preimage for two tokens has none for more, and the dimension found
    for two is a lower bound for more.

    Raises:
        InputError: if M is closed, or the network is none of those that the theorem is about.

    >>> found = limit_set(DeepNetwork((3, 3, 3, 2), (3, 3, 3), t=3))
    >>> found.first, found.dimension, found.upper_bound
    (2, 29, 29)
    """
    if not is_covered(network):
        raise InputError(f"{network}: limits are found for lightning networks of one head, no skips")
    s = first_of_pair(network)
    if s is None:
        raise InputError(f"{network} is closed, as l, t, d_0, d_1, a_1 or a_2 is 1: it has no limits outside")
    limit_map = LimitMap(replace(network, t=2), s)
    bound = network_bound(network).value - 1
    best: tuple[int, dict[str, Array], Array] | None = None
    for arrays, Y in _candidates(limit_map):
        rank = ExactWeights(limit_map, arrays).differential_rank(bound)
        if best is None or rank > best[0]:
            best = rank, arrays, Y
        if rank == bound:
            break
    if best is None:
        raise AssertionError(f"{network}: open conditions that general weights meet never held")
    dimension, arrays, Y = best
    value = limit_map.evaluate(RingArithmetic(), arrays, Y[None])[0]
    weights = {name: array[0].tolist() for name, array in arrays.items()}
    return LimitSet(network, s, dimension, bound, weights, Y.tolist(), value.tolist())


def _candidates(limit_map: LimitMap) -> Iterator[tuple[dict[str, Array], Array]]:
    """Integer weights and Y that meet all conditions, small ones first."""
    generator = np.random.default_rng(limits().seed)
    for size in _SIZES:
        count = 0
        for _ in range(50 * _DRAWS):

            def draw(*shape: int, most: int = size) -> Array:
                return generator.integers(-most, most + 1, shape).astype(object)

            arrays = {name: draw(*shape) for name, shape in limit_map.shapes.items()}
            Y = draw(*limit_map.input_shape)
            if not limit_map.open_conditions(arrays, Y):
                yield arrays, Y
                count += 1
            if count == _DRAWS:
                break


# Zeros ------------------------------------------------------------------------------------------------------


class ZeroKind(NamedTuple):
    """Integer weights of one kind: whether φ = 0 by the theorem, and at random inputs modulo a prime.

    That some value is not 0 modulo a prime proves that φ ≠ 0.
    """

    name: str
    by_theorem: bool
    zero: bool
    weights: dict[str, Array]


def special_weights(network: DeepNetwork) -> list[tuple[str, dict[int, str], bool]]:
    """The kinds of weights: name, the M_i that are "zero", "one" or "skew" (0 is L), and whether φ = 0.

    >>> for name, _, zero in special_weights(DeepNetwork((2, 2, 1), (1, 2), t=2)):
    ...     print(name, zero)
    generic False
    L = 0 True
    M_1 = 0 True
    M_2 = 0 True
    rk M_1 = 1 False
    rk M_2 = 1 False
    M_2 skew True
    rk M_1 = 1, M_2 skew True
    all rk M_i = 1 False
    """
    ranks = virtual_ranks(network)
    numbers = range(1, network.depth + 1)
    twisted = [j for j in numbers if ranks[j - 1] >= 2]
    kinds: list[tuple[str, dict[int, str]]] = [("generic", {}), ("L = 0", {0: "zero"})]
    kinds += [(f"M_{i} = 0", {i: "zero"}) for i in numbers]
    kinds += [(f"rk M_{i} = 1", {i: "one"}) for i in numbers]
    kinds += [(f"M_{j} skew", {j: "skew"}) for j in twisted]
    words = {"one": "rk M_{} = 1", "skew": "M_{} skew"}
    pairs = [{i: "one", j: "skew"} for i in numbers for j in twisted if i != j]
    kinds += [(", ".join(words[pair[i]].format(i) for i in sorted(pair)), pair) for pair in pairs]
    kinds.append(("all rk M_i = 1", dict.fromkeys(numbers, "one")))
    if len(twisted) == network.depth:
        kinds.append(("all M_i skew", dict.fromkeys(numbers, "skew")))
    result = []
    for name, what in kinds:
        ones = [i for i in numbers if what.get(i) == "one" or ranks[i - 1] == 1]
        lost = any(what.get(j) == "skew" for i in ones[:1] for j in range(i + 1, network.depth + 1))
        result.append((name, what, lost or "zero" in what.values()))
    return result


@takes("seed")
def zero_kinds(network: DeepNetwork) -> tuple[ZeroKind, ...]:
    """Weights of each kind in the theorem on zeros: whether φ = 0 by the theorem, and as computed.

    Raises:
        InputError: if the network is none of those that the theorem is about, or t = 1.

    >>> for kind in zero_kinds(DeepNetwork((2, 2, 1), (2, 2), t=2)):
    ...     print(kind.name, kind.by_theorem, kind.zero)
    generic False False
    L = 0 True True
    M_1 = 0 True True
    M_2 = 0 True True
    rk M_1 = 1 False False
    rk M_2 = 1 False False
    M_1 skew False False
    M_2 skew False False
    rk M_1 = 1, M_2 skew True True
    M_1 skew, rk M_2 = 1 False False
    all rk M_i = 1 False False
    all M_i skew False False
    """
    if not is_covered(network) or network.t < 2:
        raise InputError(f"{network}: zeros are known for lightning networks of one head, no skips, t ≥ 2")
    generator = np.random.default_rng(limits().seed)
    return tuple(_zero_kind(network, *kind, generator) for kind in special_weights(network))


def _zero_kind(
    network: DeepNetwork, name: str, what: Mapping[int, str], zero: bool, generator: np.random.Generator
) -> ZeroKind:
    """Draw weights with these M_i and otherwise general ones, and look at values."""
    shapes = network.shapes.items()
    for _ in range(1000):  # small integers are seldom so special that they are of another kind
        arrays = {key: generator.integers(-3, 4, shape).astype(object) for key, shape in shapes}
        for i, kind in what.items():
            if i == 0:
                arrays[f"V_{network.depth}"] *= 0
            elif kind == "skew":
                K, Q = arrays[f"K_{i}"], arrays[f"Q_{i}"] * 0
                Q[:, 0], Q[:, 1] = K[:, 1], -K[:, 0]
                arrays[f"Q_{i}"] = Q
            else:
                arrays[f"K_{i}"][:, kind == "one" :] *= 0
        at = virtual(network, arrays)
        if at is not None and vanishes(*at, network.t) == zero:
            break
    else:
        raise AssertionError(f"{network}: no small weights with {name} are otherwise general")
    p = random_prime(generator)
    residues = {key: (array % p).astype(np.float64) for key, array in arrays.items()}
    X = random_residues(generator, (8, *network.input_shape), p)
    values = network.evaluate(ModularArithmetic(p), residues, X)
    return ZeroKind(name, zero, not np.any(values), arrays)


#: Multidegrees with more monomials are not tried, nor divisions where so many vectors have to be looked at.
MOST_MONOMIALS, MOST_VECTORS = 500, 2**12
#: Maps with more different exponents have no blocks looked for.
MOST_EXPONENTS = 5_000
#: So many divisions into blocks are tried.
_MOST_DIVISIONS = 20

Places = tuple[int, ...]
Degrees = tuple[int, ...]


class Blocks(NamedTuple):
    """A proof that the image of a map is closed.

    Attributes:
        places: of the parameters in each block; what occurs in no coordinate is in none.
        degrees: of the coordinates in each block.
        contains: a multidegree of which the ideal of the coordinates contains all monomials.
    """

    places: tuple[Places, ...]
    degrees: tuple[int, ...]
    contains: tuple[int, ...]


def closed_image(polynomials: Sequence[Polynomial]) -> Blocks | None:
    """Blocks that prove that the image of a polynomial map is closed, over ℝ and over ℂ, or ``None``.

    ``None`` says nothing about the image. Constants are left out: they move it.

    >>> from agattn.algebra.polynomial import PolynomialRing
    >>> a, b, x, y = PolynomialRing(["a", "b", "x", "y"]).gens
    >>> closed_image([a * x, a * y + b * x + 1, b * y])               # products of two linear forms
    Blocks(places=((0, 1), (2, 3)), degrees=(1, 1), contains=(2, 2))
    """
    origin = (0,) * len(polynomials[0].ring) if polynomials else ()
    moved = [f.ring.from_terms({e: c for e, c in f.terms.items() if e != origin}) for f in polynomials]
    coordinates = [f for f in moved if f]
    exponents = list({e for f in coordinates for e in f.terms})
    if not exponents or len(exponents) > MOST_EXPONENTS:
        return None
    for blocks in itertools.islice(_divisions(exponents), _MOST_DIVISIONS):
        degrees = tuple(sum(exponents[0][i] for i in block) for block in blocks)
        if (contains := _full_multidegree(coordinates, blocks, degrees)) is not None:
            return Blocks(blocks, degrees, contains)
    return None


def _divisions(exponents: list[Exponents]) -> Iterator[tuple[Places, ...]]:
    """The divisions of all parameters that occur into least blocks with one degree each."""
    occurring = [i for i in range(len(exponents[0])) if any(e[i] for e in exponents)]
    first = exponents[0]
    differences = [[e[i] - first[i] for i in occurring] for e in exponents]
    basis = kernel_basis(rational_matrix(differences, len(occurring)))
    if not basis or 2 ** len(basis) > MOST_VECTORS:
        return
    reduced, pivots = echelon(rational_matrix(basis, len(occurring)))
    table = fraction_matrix(reduced)[: len(pivots)]
    candidates = []
    for chosen in itertools.product((0, 1), repeat=len(pivots)):
        vector = (np.array(chosen, dtype=object) @ table).tolist()
        if any(vector) and set(vector) <= {0, 1}:
            candidates.append(frozenset(i for i, x in zip(occurring, vector, strict=True) if x))
    least = [block for block in candidates if not any(other < block for other in candidates)]
    for cover in _covers(frozenset(occurring), sorted(least, key=sorted)):
        yield tuple(tuple(sorted(block)) for block in cover)


def _covers(indices: frozenset[int], blocks: list[frozenset[int]]) -> Iterator[list[frozenset[int]]]:
    """All ways to write a set as a disjoint union of some of the given blocks."""
    if not indices:
        yield []
        return
    for block in blocks:
        if min(indices) in block <= indices:
            for rest in _covers(indices - block, blocks):
                yield [block, *rest]


def _full_multidegree(
    coordinates: list[Polynomial], blocks: tuple[Places, ...], degrees: Degrees
) -> Degrees | None:
    """A multidegree of which the ideal of the coordinates contains all monomials, if one is found."""
    r = sum(len(block) - 1 for block in blocks)
    if len(coordinates) <= r:
        return None  # they have a common zero over ℂ with no block 0
    tried = set[tuple[int, ...]]()
    for factor in range(1, r + 2):
        multidegree = tuple(
            min(factor * degree, (r + 1) * degree - len(block) + 1)
            for block, degree in zip(blocks, degrees, strict=True)
        )
        count = prod(comb(len(b) + n - 1, n) for b, n in zip(blocks, multidegree, strict=True))
        if count > MOST_MONOMIALS:
            return None
        if multidegree not in tried and _contains(coordinates, blocks, degrees, multidegree):
            return multidegree
        tried.add(multidegree)
    return None


def _contains(
    coordinates: list[Polynomial], blocks: tuple[Places, ...], degrees: Degrees, multidegree: Degrees
) -> bool:
    """Whether the multiples of the coordinates span all polynomials of a multidegree, modulo a prime."""
    p, size = random_prime(np.random.default_rng(limits().seed)), len(coordinates[0].ring)
    column = {e: i for i, e in enumerate(_monomials(size, blocks, multidegree))}
    factors = list(_monomials(size, blocks, tuple(n - d for n, d in zip(multidegree, degrees, strict=True))))
    space = RowSpace(len(column), p)
    for f in coordinates:
        terms = [(e, int(c) % p) for e, c in f.primitive().terms.items()]
        rows = np.zeros((len(factors), len(column)))
        for row, factor in zip(rows, factors, strict=True):
            for e, c in terms:
                row[column[tuple(x + y for x, y in zip(e, factor, strict=True))]] = c
        if space.add(rows) == len(column):
            return True
    return False


def _monomials(size: int, blocks: tuple[Places, ...], multidegree: tuple[int, ...]) -> Iterator[Exponents]:
    """The exponents of all monomials of a multidegree."""
    for chosen in itertools.product(*map(itertools.combinations_with_replacement, blocks, multidegree)):
        exponents = [0] * size
        for i in itertools.chain(*chosen):
            exponents[i] += 1
        yield tuple(exponents)


class Closed(NamedTuple):
    """Whether M is closed, where a theorem says; in a sentence; and limits outside, where such are known."""

    closed: bool | None
    sentence: str
    limits: LimitSet | HeadsLimit | None = None


def is_closed_set(
    architecture: Architecture, source: CoefficientMap | None = None, is_affine: bool = False
) -> Closed:
    """Whether the set M of functions of an architecture is closed in the Euclidean topology.

    Args:
        architecture: a lightning network, where a layer is the network of one layer; or any polynomial model.
        source: the coordinates of a model, where they are known; a network needs none.
        is_affine: whether the Zariski closure is known to be an affine space.

    See Also:
        :func:`agattn.geometry.singular_points.singularities.singularities`: its sheet has this sentence.
    """
    network = architecture.as_network()
    if network is None:
        return _of_model(source, is_affine)
    return _of_one_layer(network) if is_one_layer(network) else _of_layers(network)


def _of_one_layer(network: DeepNetwork) -> Closed:
    answer = closedness(network)
    if answer.status == "open":
        return Closed(None, "Whether M is closed is open.")
    shown = f" A limit outside: {answer.limit}." if answer.limit else ""
    sentence = f"M is {answer.status} (proved). {answer.reason}.{shown}"
    return Closed(answer.status == "closed", sentence, answer.limit)


def _of_layers(network: DeepNetwork) -> Closed:
    closed = is_closed(network)
    if closed is not False:
        return Closed(closed, "M is closed (proved)." if closed else "Whether M is closed is not known.")
    outside = limit_set(network)
    low, high, i = outside.dimension, outside.upper_bound, outside.first
    size = f"dimension {low}" if low == high else f"dimension {low} to {high}"
    sentence = (
        f"M is not closed (proved). Diverging weights, where M_{i} tends to rank 1 and M_{i + 1} to a skew "
        f"matrix, have limits that no weights reach, of {size}."
    )
    return Closed(False, sentence, outside)


def _of_model(source: CoefficientMap | None, is_affine: bool) -> Closed:
    blocks = None if source is None else closed_image(source.polynomials)
    if blocks is None or source is None:
        return Closed(None, f"Whether M is {'all of M̄' if is_affine else 'closed'} is not known.")
    parts = [_block(source, block) for block in blocks.places]
    each = " and ".join(f"of degree {n} in {part}" for n, part in zip(blocks.degrees, parts, strict=True))
    zero = " or ".join(f"{part} = 0" for part in parts)
    multidegree = " and ".join(f"{n} in {part}" for n, part in zip(blocks.contains, parts, strict=True))
    sentence = (
        f"M is closed (proved), over ℝ and over ℂ: φ is homogeneous {each}, and 0 only where {zero}, as its "
        f"coordinates generate all monomials of degree {multidegree}."
    )
    return Closed(True, sentence)


def _block(source: CoefficientMap, indices: Sequence[int]) -> str:
    """Some parameters in words: the names of arrays, where they are whole, and of single entries."""
    named, rest = [], list(indices)
    first = 0
    for name, shape in source.architecture.shapes.items():
        whole = range(first, first := first + prod(shape))
        if set(whole) <= set(rest):
            named.append(name)
            rest = [i for i in rest if i not in whole]
    named += [str(source.ring.gens[i]) for i in rest]
    return named[0] if len(named) == 1 else f"({', '.join(named)})"
