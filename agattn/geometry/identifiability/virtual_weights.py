"""Deep lightning networks in the paper's letters: virtual weights, the recursion, and the unrolled product.

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
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ModularArithmetic, RingArithmetic
from agattn.algebra.echelon import rational_rank
from agattn.algebra.residues import RowSpace, random_prime, random_residues
from agattn.architectures import Architecture, DeepNetwork, Jet
from agattn.architectures.protocol import as_parameters
from agattn.errors import TooLargeError
from agattn.geometry.dimension.jacobian import jacobian
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
