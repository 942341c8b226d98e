r"""Deep lightning networks in the paper's letters: virtual weights, the recursion, and the unrolled product.

Layer i is X ↦ V_i X Xᵀ A_i X. All functions take lists A = [A_1, ..., A_l] and V = [V_1, ..., V_l] of numpy
arrays over any scalars; for residues modulo a prime pass their arithmetic, otherwise ``+`` and ``*`` are
used.

>>> import numpy as np
>>> A = [np.array([[1, 2], [0, 1]], dtype=object), np.array([[0, 1], [1, 1]], dtype=object)]
>>> V = [np.array([[1, 1], [0, 1]], dtype=object), np.array([[2, 1]], dtype=object)]
>>> X = np.array([[1, 0], [1, 2]], dtype=object)
>>> M, L = virtual_weights(A, V)
>>> lightning(A, V, X)
array([[31952, 54904]], dtype=object)
>>> unrolled(M, L, X)
array([[31952, 54904]], dtype=object)

Fibers of both maps (A, V) ↦ (M, L) ↦ φ are known near a point by bounds from both sides. Those of the first
are orbits of Π_{0<i<l} GL(d_i), of dimension Σ d_i², where d_i = δ ≤ d_0, d_l for 0 < i < l (HMK, Lemma 3.5);
elsewhere they can be larger:

>>> generic_fiber((3, 2, 3)), generic_fiber((2, 3, 2))
(FiberDimension(lower_bound=4, upper_bound=4), FiberDimension(lower_bound=9, upper_bound=13))

Softmax: networks with one head in each layer and layers that collapse; one layer, recovered.

**Networks.** Layer i is X ↦ V_i X W(Xᵀ A_i X). With the virtual weights M_i = L_{i−1}ᵀ A_i L_{i−1} and L =
L_l (:mod:`agattn.geometry.identifiability.virtual_weights`) the network is φ(X) = L Y_l for Y_0 = X and Y_i =
Y_{i−1} W(Y_{i−1}ᵀ M_i Y_{i−1}): it depends on (M, L) alone, and is a network of width d_0 whose keys and
values are the identity.

A layer *collapses* if it makes all tokens equal for every input. Then the weights of all later layers are
1/t, and their scores are free. Layer i collapses if M_i = 0. With two tokens m ± z it collapses for every
skew-symmetric M_i, too: with σ the logistic function, both columns are

.. math:: m + z\,(2\sigma(2 z^\top M m) - 1) = m - z\tanh(m^\top M z),

as zᵀMz = 0 and zᵀMm = −mᵀMz.

Source: Theorems 1 and 2 of Konda, *Identifiability and Observability of Deep Normalized Attention* (preprint,
2026). What is computed here is the differential of a jet at one point (M, L): where it is injective in (M_1,
..., M_s, L), no other such parameters near the point have the same function.

**One layer** is X ↦ V X W with W_{jτ} = S(x_jᵀ A x_τ) / Σ_k S(x_kᵀ A x_τ), for any injective S > 0 (HMK,
equation 15). Unlike a lightning layer, the function determines A and V (Theorem 3.9); the proof is an
algorithm, and :func:`recover` is that algorithm. It is exact for two functions S at rational weights. One is
rational, ``S(x) = 2 + x/(1 + |x|)``. The other, S(x) = 2^x, is the softmax itself: with A' = T·log 2·A for an
integer matrix A, exp(xᵀA'z/T) = 2^{xᵀAz}, a rational number at integer tokens.

>>> A = np.array([[1, -2], [0, Fraction(1, 3)]], dtype=object)
>>> V = np.array([[0, 5]], dtype=object)
>>> A_found, V_found = recover(lambda X: normalized(A, V, X, bounded), 2, 3, bounded, unbounded)
>>> bool((A_found == A).all() and (V_found == V).all())
True
>>> recovered_exactly(d=2, d_out=1, a=1, t=3)
[('2^x', True), ('2^x, V = 0', True), ('2 + x/(1 + |x|)', True), ('2 + x/(1 + |x|), V = 0', True)]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, FloatArithmetic, ModularArithmetic, RingArithmetic
from agattn.algebra.echelon import rational_rank
from agattn.algebra.residues import Residues, RowSpace, matmul, random_prime, random_residues
from agattn.algebra.scalars import scalars
from agattn.architectures import Architecture, DeepNetwork, Jet
from agattn.architectures.protocol import as_parameters
from agattn.errors import InputError, TooLargeError
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.identifiability.weights import rational_inverse
from agattn.limits import limits, takes

Matrices = Sequence[Array]
_RING = RingArithmetic()


def lightning(A: Matrices, V: Matrices, X: Array, arithmetic: Arithmetic = _RING) -> Array:
    """φ(X) for the network with these layers; X is d_0 × t, the result d_l × t."""
    return layer_outputs(A, V, X, arithmetic)[-1]


def layer_outputs(A: Matrices, V: Matrices, X: Array, arithmetic: Arithmetic = _RING) -> list[Array]:
    """X_0 = X, X_1, ..., X_l, with X_i = V_i X_{i−1} X_{i−1}ᵀ A_i X_{i−1} (HMK, equation 3)."""
    mul = arithmetic.matmul
    outputs = [X]
    for A_i, V_i in zip(A, V, strict=True):
        X = outputs[-1]
        outputs.append(mul(V_i, mul(X, mul(X.T, mul(A_i, X)))))
    return outputs


def partial_products(V: Matrices, arithmetic: Arithmetic = _RING) -> list[Array]:
    """L_0 = 1, L_1, ..., L_l with L_i = V_i ... V_1."""
    products = [arithmetic.identity(V[0].shape[-1])]
    for V_i in V:
        products.append(arithmetic.matmul(V_i, products[-1]))
    return products


def virtual_weights(A: Matrices, V: Matrices, arithmetic: Arithmetic = _RING) -> tuple[list[Array], Array]:
    """(M, L) with M_i = L_{i−1}ᵀ A_i L_{i−1} and L = V_l ... V_1 (HMK, equation 8)."""
    products = partial_products(V, arithmetic)
    mul, pairs = arithmetic.matmul, zip(A, products, strict=False)
    return [mul(L_i.swapaxes(-1, -2), mul(A_i, L_i)) for A_i, L_i in pairs], products[-1]


def token_mixings(M: Matrices, X: Array, arithmetic: Arithmetic = _RING) -> list[Array]:
    """P_0 = 1, ..., P_l with P_i = P_{i−1} P_{i−1}ᵀ (Xᵀ M_i X) P_{i−1}, t × t (HMK, Lemma 3.6).

    Then X_i = L_i X P_i.
    """
    mul = arithmetic.matmul
    mixings = [arithmetic.identity(X.shape[1])]
    for M_i in M:
        P = mixings[-1]
        mixings.append(mul(mul(P, P.T), mul(mul(X.T, mul(M_i, X)), P)))
    return mixings


#: Layers up to which the product of equation 12, three times as long with each, is written out.
MAX_UNROLLED = 10


def unrolled_factors(l: int) -> list[tuple[int, bool]]:  # the paper's l
    """The factors M̃_1, M̃_2, ... of HMK's equation 12, as (ν, whether transposed).

    Raises:
        TooLargeError: if there are more than :data:`MAX_UNROLLED` layers.

    ν is one plus the number of zeros at the end of j in base 3; M̃_j is M_ν if the last nonzero digit is 1
    and M_νᵀ if it is 2.

    >>> unrolled_factors(2)
    [(1, False), (1, True), (2, False), (1, False)]
    """
    if l > MAX_UNROLLED:
        raise TooLargeError(
            f"the product of (3^{l} - 1)/2 matrices is not unrolled beyond {MAX_UNROLLED} layers"
        )
    factors = []
    for j in range(1, (3**l - 1) // 2 + 1):
        nu = 1
        while j % 3 == 0:
            j //= 3
            nu += 1
        factors.append((nu, j % 3 == 2))
    return factors


def unrolled(M: Matrices, L: Array, X: Array, arithmetic: Arithmetic = _RING) -> Array:
    """φ(X) = L · Π_{j=1}^{(3^l−1)/2} (X Xᵀ M̃_j) · X (HMK, equation 12)."""
    mul = arithmetic.matmul
    gram = mul(X, X.T)
    product = L
    for nu, transposed in unrolled_factors(len(M)):
        product = mul(product, mul(gram, M[nu - 1].T if transposed else M[nu - 1]))
    return mul(product, X)


class FiberDimension(NamedTuple):
    """The dimension of a fiber near a point, from both sides.

    The lower bound is the dimension of the known symmetries through the point. The upper one is the number of
    parameters minus the rank of the differential modulo a prime; proved, as the rank over ℚ is at least that.
    """

    lower_bound: int
    upper_bound: int

    @property
    def is_exact(self) -> bool:
        """Whether the bounds meet, so that near this point the fiber is the orbit of the symmetries."""
        return self.lower_bound == self.upper_bound


def generic_fiber(dims: Sequence[int]) -> FiberDimension:
    """The dimension of a generic fiber of (A, V) ↦ (M, L), with A_i any d_{i−1} × d_{i−1} matrix.

    The symmetries are the changes of basis V_i → C_i V_i C_{i−1}⁻¹, A_i → C_{i−1}⁻ᵀ A_i C_{i−1}⁻¹ (HMK,
    equation 9), of dimension Σ d_i². Where d_i = δ ≤ d_0, d_l for 0 < i < l the products L_i are generically
    surjective for 0 < i < l, so that C_i L_i = L_i only for C_i = 1: the group acts freely and its dimension
    is a lower bound.
    """
    generator = np.random.default_rng(limits().seed)
    p = random_prime(generator)
    arithmetic = ModularArithmetic(p)
    A = [random_residues(generator, (d, d), p) for d in dims[:-1]]
    V = [random_residues(generator, (e, d), p) for d, e in itertools.pairwise(dims)]
    space = RowSpace(len(A) * dims[0] ** 2 + dims[-1] * dims[0], p)
    for given, k in itertools.product((A, V), range(len(A))):
        point, units = given[k], np.eye(given[k].size).reshape(-1, *given[k].shape)
        ends = []
        for direction in (units, -units):
            given[k] = arithmetic.clean(point + direction)
            M, L = virtual_weights(A, V, arithmetic)
            stacks = (np.broadcast_to(m, (len(units), *m.shape[-2:])) for m in (*M, L))
            ends.append(np.concatenate([stack.reshape(len(units), -1) for stack in stacks], axis=1))
        given[k] = point
        # M and L are of degree at most 2 in each A_k and V_k: this is twice the differential.
        space.add(arithmetic.clean(ends[0] - ends[1]))
    entries = sum(matrix.size for matrix in (*A, *V))
    return FiberDimension(sum(d * d for d in dims[1:-1]), entries - space.rank)


def is_skew(matrix: Array) -> bool:
    """Whether a matrix is skew-symmetric, as 0 is."""
    return not (matrix + matrix.T).any()


def theorem_3_7_hypotheses(M: Matrices, L: Array, t: int) -> list[str]:
    """The hypotheses of HMK's Theorem 3.7 that fail at integer virtual weights.

    >>> M = np.array([[0, 1], [-1, 0]])
    >>> theorem_3_7_hypotheses([M], np.zeros((1, 2), dtype=int), t=2)
    ['t ≥ 3', 'L ≠ 0', 'M_1 is not skew-symmetric']
    """
    failing = []
    if t < 3:
        failing.append("t ≥ 3")
    if not L.any():
        failing.append("L ≠ 0")
    for i, M_i in enumerate(M, 1):
        if rational_rank(M_i) < 2:
            failing.append(f"rk M_{i} ≥ 2")
        if is_skew(M_i):
            failing.append(f"M_{i} is not skew-symmetric")
    return failing


@takes("seed")
def random_virtual_weights(network: DeepNetwork) -> tuple[list[Array], Array]:
    """(M, L) of random integer weights K, Q and V of a network with one head in each layer.

    Weights are drawn again while a hypothesis of Theorem 3.7 on (M, L) fails, as one can at unlucky weights:
    in a network that cannot meet them all, small weights are used. M_i is d_0 × d_0 and L is d_l × d_0.

    >>> M, L = random_virtual_weights(DeepNetwork((2, 2, 1), (2, 2), t=3), seed=0)
    >>> [m.tolist() for m in M], L.tolist()
    ([[[-2, -4], [1, 0]], [[2, -2], [8, 16]]], [[-1, 4]])
    """
    generator = np.random.default_rng(limits().seed)

    def draw(largest: int, *shape: int) -> Array:
        return generator.integers(-largest, largest + 1, shape).astype(object)

    drawn: list[tuple[list[Array], Array]] = []
    for n in (2, 9, 99):  # products of small weights vanish too often in deep networks
        for _ in range(100):
            A = [draw(n, a, d).T @ draw(n, a, d) for a, d in zip(network.ranks, network.dims, strict=False)]
            V = [draw(n, e, d) for d, e in itertools.pairwise(network.dims)]
            M, L = virtual_weights(A, V)
            if not theorem_3_7_hypotheses(M, L, max(network.t, 3)):
                return M, L
        drawn.append((M, L))
    return drawn[0]


@takes("seed")
def local_fiber(M: Matrices, L: Array, t: int, p: int = 0) -> FiberDimension:
    """The dimension of the fiber of (M, L) ↦ φ through a given point.

    The M_i range over all d_0 × d_0 matrices and L over all d_l × d_0 matrices; the given ones are integers.
    With a prime p everything is meant over the field of p elements.
    By HMK's Theorem 3.7 the fiber consists of the rescalings (μ_i M_i, λ L) with λ Π μ_i^{3^{l−i}} = 1
    (equation 13), of dimension l where L and all M_i are nonzero.

    >>> M = [np.array([[1, 2], [0, 1]]), np.array([[0, 1], [3, 1]])]
    >>> local_fiber(M, np.array([[1, 0]]), t=3).is_exact
    True
    """
    generator = np.random.default_rng(limits().seed)
    prime = p or random_prime(generator)
    point = [(np.asarray(m) % prime).astype(np.float64) for m in (*M, L)]
    nonzero = all(m.any() for m in (point if p else map(np.asarray, (*M, L))))
    columns, (d_out, d) = sum(m.size for m in point), point[-1].shape
    X = random_residues(generator, (columns + 10, d, t), prime)
    cotangents = random_residues(generator, (columns + 10, 1, d_out, t), prime)
    network = DeepNetwork((*[d] * len(M), d_out), (d,) * len(M), t)
    J = virtual_jacobian(network, point[:-1], point[-1], X, cotangents, ModularArithmetic(prime))
    return FiberDimension(len(M) if nonzero else 0, columns - RowSpace(columns, prime).add(J))


def virtual_jacobian(
    network: DeepNetwork,
    M: Matrices,
    L: Array,
    X: Array,
    cotangents: Array,
    arithmetic: Arithmetic,
    order: int | None = None,
) -> Array:
    """The derivatives of φ by the entries of M_1, ..., M_l and L, in this order.

    They are those of the network of width d_0 with Q_i = M_i, V_l = L, and the identity for K_i and the other
    V_i, by the entries of these Q_i and of V_l.

    Args:
        network: what has the tokens and the normalization.
        M, L: virtual weights, or stacks with those for each input.
        X: a stack of inputs, (n, d_0, t).
        cotangents: the outputs that are differentiated, (n, m, d_l, t).
        arithmetic: that of the scalars.
        order: of a jet, which is differentiated in place of the network.

    Returns:
        An array of shape (n·m, l·d_0² + d_l·d_0).
    """
    l, (d_out, d) = len(M), L.shape[-2:]  # the paper's l
    wide: Architecture = replace(network, dims=(*[d] * l, d_out), ranks=(d,) * l)
    if order is not None:
        wide = Jet(wide, order)
    arrays = {f"{letter}_{i}": np.eye(d)[None] for letter in "KV" for i in range(1, l + 1)}
    varying = {f"Q_{i}": m for i, m in enumerate(M, 1)} | {f"V_{l}": L}
    arrays |= {name: m[..., None, :, :] for name, m in varying.items()}
    numbers = as_parameters(wide, np.arange(wide.parameters))
    J = jacobian(wide, arrays, X, arithmetic, cotangents)
    return J[:, np.concatenate([numbers[name].ravel() for name in varying])]


def monomials_of_network(network: DeepNetwork, limit: int) -> int:
    """How many monomials in A, V and X the outputs of a lightning network have, counted with coefficients.

    The sum of the coefficients of φ(X), which is its value where all entries of A, V and X are 1: how much
    work it is to expand φ. Above ``limit`` it is a lower bound, as the number has more than 3^l/3 digits.

    >>> monomials_of_network(DeepNetwork((2, 2, 2), (2, 2), t=3), limit=10**9)
    1990656
    """
    dims, t, entry = network.dims, network.t, 1
    for d in dims[:-1]:
        if entry > limit:
            break
        entry *= d * t * d * d * entry**2
    return dims[-1] * t * entry


# The weights of a network -----------------------------------------------------------------------------------


def head_matrices(network: DeepNetwork, weights: Mapping[str, Array]) -> tuple[list[list[Array]], ...]:
    """A_i and V_i, for each layer a list of those of its heads."""
    layers = range(1, network.depth + 1)
    A = [[K.T @ Q for K, Q in zip(weights[f"K_{i}"], weights[f"Q_{i}"], strict=True)] for i in layers]
    return A, [list(weights[f"V_{i}"]) for i in layers]


def is_plain(network: DeepNetwork) -> bool:
    """Whether a network has virtual weights: one head in each layer, and no skip connections."""
    return not network.skip and set(network.heads_by_layer) == {1}


def is_covered(network: DeepNetwork, normalization: str = "none") -> bool:
    """Whether it is a lightning network with one head in each layer, any values and no skip connections.

    Or one of softmax, or with another normalization.
    """
    return is_plain(network) and network.normalization == normalization and network.value_rank is None


def virtual(network: Architecture, weights: Mapping[str, Array]) -> tuple[list[Array], Array] | None:
    """The virtual weights (M, L) of a network with one head in each layer and no skip connections."""
    if not isinstance(network, DeepNetwork) or not is_plain(network):
        return None
    A, V = head_matrices(network, weights)
    return virtual_weights([layer[0] for layer in A], [layer[0] for layer in V])


def virtual_ranks(network: DeepNetwork) -> list[int]:
    """The largest ranks that M_1, ..., M_l can have: α_i = min(a_i, d_0, ..., d_{i−1}).

    >>> virtual_ranks(DeepNetwork((4, 2, 5, 1), (3, 3, 1), t=2))
    [3, 2, 1]
    """
    return [min(a, *network.dims[:i]) for i, a in enumerate(network.ranks, 1)]


def vanishes(M: list[Array], L: Array, t: int) -> bool:
    """Whether φ = 0 at integer virtual weights, by the theorem of docs/networks/deep-limits.md.

    For t ≥ 2 if and only if L = 0, some M_i = 0, or rk M_i = 1 and M_j is skew-symmetric for some i < j; for
    t = 1 if and only if L = 0 or some M_i is skew-symmetric.

    >>> one, skew = np.array([[1, 2], [2, 4]]), np.array([[0, 1], [-1, 0]])
    >>> L = np.array([[1, 0]])
    >>> vanishes([one, skew], L, t=2), vanishes([skew, one], L, t=2), vanishes([skew, one], L, t=1)
    (True, False, True)
    """
    skew = [is_skew(m) for m in M]
    if t == 1 or not L.any() or not all(m.any() for m in M):
        return not L.any() or any(skew)
    return any(rational_rank(m) == 1 and any(skew[i:]) for i, m in enumerate(M, 1))


Function = Callable[[Any], Any]
#: What is said wherever a theorem about softmax networks is cited and not checked.
PREPRINT = "a preprint of 2026 (Konda) claims a proof"
#: Jets of order 19 take seconds, and of order 55, which four layers need, hours.
MOST_LAYERS = 3
#: The differential in (M, L) has l·d_0² + d_0·d_l columns; a rank of more takes long.
MOST_COLUMNS = 400
#: Rows of a Jacobian beyond as many as there are columns.
_SURPLUS = 6


def least_order(network: DeepNetwork) -> int:
    """The least order whose jet sees the scores of all layers: 2κ·3^(l−1) + 1, with κ = 1 for softmax.

    >>> [least_order(DeepNetwork((1,) * n, (1,) * (n - 1), normalization="softmax")) for n in (2, 3, 4, 5)]
    [3, 7, 19, 55]
    """
    order: int = 2 * network.first_degree * 3 ** (network.depth - 1) + 1
    return order


class Seen(NamedTuple):
    """How much of (M, L) the differential of a jet sees at one point whose first collapsed layer is s.

    Attributes:
        layer: s, or l + 1 if no layer collapses.
        score: what M_s is there: ``"zero"``, ``"skew"``, or ``"general"`` if no layer collapses.
        parameters: the entries of M_1, ..., M_s and L, or of all M_i and L.
        rank: of the differential in these, modulo a prime: a proved lower bound.
        later: the rank of the differential in M_{s+1}, ..., M_l, which is 0 by the proof above.
    """

    layer: int
    score: str
    parameters: int
    rank: int
    later: int


def first_collapsed(M: Sequence[Array], t: int) -> int:
    """The first layer that a softmax collapses, from 1; l + 1 if none does.

    >>> skew = np.array([[0, 1], [-1, 0]])
    >>> first_collapsed([skew, 0 * skew], t=2), first_collapsed([skew, 0 * skew], t=3)
    (1, 2)
    """
    collapsed = (i for i, m in enumerate(M, 1) if not m.any() or (t == 2 and is_skew(m)))
    return next(collapsed, len(M) + 1)


def _draw(
    network: DeepNetwork, collapsed: int | None, score: str, p: int, generator: np.random.Generator
) -> tuple[str, list[Array]]:
    """What M_s is, and random M_1, ..., M_l, L modulo p with one layer s that collapses, or none."""
    d, d_out = network.dims[0], network.dims[-1]
    ranks = virtual_ranks(network)
    M = [_of_rank(d, d, r, p, generator) for r in ranks]
    L = _of_rank(d_out, d, min(network.dims), p, generator)
    if collapsed is None:
        return "general", [*M, L]
    score = score or ("skew" if network.t == 2 and ranks[collapsed - 1] >= 2 else "zero")
    u, v = random_residues(generator, (2, d, 1), p)
    outer = matmul(u, v.T, p)
    M[collapsed - 1] = (outer - outer.T) % p if score == "skew" else 0 * M[collapsed - 1]
    return score, [*M, L]


def seen_at_random_weights(
    network: DeepNetwork, layers: Sequence[int | None] = (None,), score: str = ""
) -> tuple[Seen, ...]:
    """What the jet of :func:`least_order` sees at random (M, L) where one of some layers collapses, or none.

    The jet is evaluated at all points at once, modulo one prime. The M_i have the ranks that they have for
    general weights of the network. The score of the layer is ``"zero"`` or ``"skew"``; by default skew where
    two tokens and the ranks allow that.

    >>> softmax = DeepNetwork((2, 2, 2), (2, 2), t=2, normalization="softmax")
    >>> for at in (*seen_at_random_weights(softmax), *seen_at_random_weights(softmax, [1, 2])):
    ...     print(at)
    Seen(layer=3, score='general', parameters=12, rank=12, later=0)
    Seen(layer=1, score='skew', parameters=8, rank=8, later=0)
    Seen(layer=2, score='skew', parameters=12, rank=12, later=0)
    """
    l, size = network.depth, network.dims[0] ** 2
    rows = l * size + network.dims[0] * network.dims[-1] + _SURPLUS
    scores, points, inputs, outputs = [], [], [], []
    for layer in layers:
        generator = np.random.default_rng(limits().seed)
        p = random_prime(generator)
        word, point = _draw(network, layer, score, p, generator)
        scores.append(word)
        points.append(point)
        inputs.append(random_residues(generator, (rows, *network.input_shape), p))
        outputs.append(random_residues(generator, (rows, 1, *network.output_shape), p))
    *M, L = (np.repeat(np.stack(matrices), rows, axis=0) for matrices in zip(*points, strict=True))
    X, cotangents = np.concatenate(inputs), np.concatenate(outputs)
    jets = virtual_jacobian(network, M, L, X, cotangents, ModularArithmetic(p), least_order(network))
    seen = []
    for layer, word, J in zip(layers, scores, np.split(jets, len(layers)), strict=True):
        behind = np.arange((layer or l) * size, l * size)
        first, later = np.delete(J, behind, axis=1), J[:, behind]
        ranks = (RowSpace(part.shape[1], p).add(part) if part.size else 0 for part in (first, later))
        seen.append(Seen(layer or l + 1, word, first.shape[1], *ranks))
    return tuple(seen)


def sensitivities(network: DeepNetwork, weights: Mapping[str, Array]) -> list[float] | None:
    """How much the function sees of the scores of each layer at floating-point weights.

    Returns:
        For each layer the largest singular value of the differential in M_i at standard Gaussian inputs, one
        cotangent at each, divided by that in L; about 1e-16 means that the scores are free. ``None`` if
        (M, L) has more than 400 entries, or the network is none of softmax with one head in each layer.

    >>> network = DeepNetwork((2, 2, 2), (2, 2), t=2, normalization="softmax")
    >>> one, skew = np.eye(2)[None], np.array([[[0.0, 1.0], [-1.0, 0.0]]])
    >>> weights = {"K_1": one, "Q_1": skew, "V_1": one, "K_2": one, "Q_2": one, "V_2": one}
    >>> first, second = sensitivities(network, weights)
    >>> first > 0.01, second < 1e-12
    (True, True)
    """
    l, d = network.depth, network.dims[0]
    columns = l * d**2 + d * network.dims[-1]
    if not is_covered(network, "softmax") or columns > MOST_COLUMNS:
        return None
    A, V = ([head for (head,) in layers] for layers in head_matrices(network, weights))
    M, L = virtual_weights(A, V, FloatArithmetic())
    generator = np.random.default_rng(limits().seed)
    X = generator.standard_normal((columns + _SURPLUS, *network.input_shape))
    cotangents = generator.standard_normal((len(X), 1, *network.output_shape))
    J = virtual_jacobian(network, M, L, X, cotangents, FloatArithmetic())
    parts = np.split(J, [i * d**2 for i in range(1, l + 1)], axis=1)
    *of_scores, of_values = (float(np.linalg.norm(part, 2)) for part in parts)
    return [norm / of_values for norm in of_scores]


def _of_rank(m: int, n: int, r: int, p: int, generator: np.random.Generator) -> Residues:
    """A random m × n matrix of rank r at most, modulo p."""
    return matmul(random_residues(generator, (m, r), p), random_residues(generator, (r, n), p), p)


def normalized(A: Array, V: Array, X: Array, S: Function) -> Array:
    """The output d' × t of one normalized layer at X, d × t (HMK, equation 15)."""
    weights = np.frompyfunc(S, 1, 1)(X.T @ A @ X)
    return np.asarray(V @ X @ (weights / weights.sum(axis=0, keepdims=True)))


def recover(
    layer: Callable[[Array], Array],
    d: int,
    t: int,
    S: Function,
    S_inverse: Function,
    one: Any = Fraction(1),
    inverse: Callable[[Array], Array] = rational_inverse,
    is_zero: Callable[[Array], bool] = lambda a: not a.any(),
) -> tuple[Array | None, Array]:
    """Recover (A, V) from a normalized layer that can only be evaluated (HMK, Theorem 3.9).

    Equal tokens z give Vz. The inputs (x, z, ..., z) give, in the column of a z, the ratio S(xᵀAz)/S(zᵀAz)
    wherever V(x − z) ≠ 0; with x = 0 that is S(zᵀAz) from the known S(0), hence S(xᵀAz) and by S⁻¹ the
    number xᵀAz. For z in a basis on which V does not vanish, and x in a basis that avoids
    V(x − z) = 0, this is a linear system for A.

    A is ``None`` if V = 0, when the layer is zero whatever A is.

    Args:
        layer: maps a d × t array to a d' × t array.
        d: number of rows of the input.
        t: number of tokens, at least 2.
        S: the positive injective function.
        S_inverse: its inverse, on the values of S.
        one: the number 1 in the kind of scalars that ``layer`` takes.
        inverse: inverts a matrix of such scalars.
        is_zero: whether an array counts as 0; give one with a tolerance for floating-point scalars.

    Raises:
        InputError: if t < 2: one token carries no attention.
    """
    if t < 2:
        raise InputError(f"t is {t}; A can be recovered only from inputs of at least 2 tokens")
    basis = [np.array([one if i == k else 0 * one for i in range(d)], dtype=object) for k in range(d)]
    V = np.stack([layer(np.stack([e] * t, axis=1))[:, 0] for e in basis], axis=1)
    if is_zero(V):
        return None, V
    seen = next(e for e in basis if not is_zero(V @ e))
    Z = [e if not is_zero(V @ e) else e + seen for e in basis]

    def ratio(x: Array, z: Array) -> Any:
        """S(xᵀAz)/S(zᵀAz), given V(x − z) ≠ 0."""
        out = layer(np.stack([x] + [z] * (t - 1), axis=1))[:, 1]
        change, moved = out - V @ z, V @ (x - z)
        k = max(range(len(moved)), key=lambda i: abs(moved[i]))
        w = change[k] / moved[k]  # the weight of the token x in this column
        return (t - 1) * w / (1 - w)

    products = np.empty((d, d), dtype=object)
    for b, z in enumerate(Z):
        at_z = S(0 * one) / ratio(0 * z, z)
        X = [x if not is_zero(V @ (x - z)) else 2 * x for x in Z]
        values = np.array([S_inverse(ratio(x, z) * at_z) for x in X], dtype=object)
        products[:, b] = inverse(np.stack(X)) @ values
    return products @ inverse(np.stack(Z, axis=1)), V


def bounded(x: Fraction) -> Fraction:
    r"""2 + x/(1 + \|x\|), injective with values between 1 and 3."""
    return 2 + x / (1 + abs(x))


def unbounded(y: Fraction) -> Fraction:
    """The inverse of :func:`bounded`."""
    return (y - 2) / (1 - abs(y - 2))


def recovered_exactly(d: int, d_out: int, a: int, t: int) -> list[tuple[str, bool]]:
    """Whether the weights come back: for each function S, at random integer A = KᵀQ and V, and at V = 0.

    K and Q are a × d and V is d' × d; InputError if t < 2.
    """
    generator = np.random.default_rng(limits().seed)

    def draw(*shape: int) -> Array:
        return scalars(generator.integers(-2, 3, shape), "the weights")

    results = []
    two: tuple[Function, Function] = (  # at integers and powers of two
        lambda x: Fraction(2) ** x,
        lambda y: Fraction(y.numerator.bit_length() - y.denominator.bit_length()),
    )
    functions = (("2^x", *two), ("2 + x/(1 + |x|)", bounded, unbounded))
    for name, S, S_inverse in functions:
        A, V = draw(a, d).T @ draw(a, d), draw(d_out, d)
        while not V.any():
            V = draw(d_out, d)
        for W, label in ((V, name), (0 * V, f"{name}, V = 0")):
            layer = partial(normalized, A, W, S=S)
            A_found, V_found = recover(layer, d, t, S, S_inverse)
            same = A_found is None if label != name else A_found is not None and (A_found == A).all()
            results.append((label, bool(same and (V_found == W).all())))
    return results
