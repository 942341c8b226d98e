r"""Softmax: networks with one head in each layer and layers that collapse; one layer, recovered.

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

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Array, FloatArithmetic, ModularArithmetic
from agattn.algebra.residues import Residues, RowSpace, matmul, random_prime, random_residues
from agattn.algebra.scalars import scalars
from agattn.architectures import DeepNetwork
from agattn.errors import InputError
from agattn.geometry.identifiability.virtual_weights import (
    head_matrices,
    is_covered,
    is_skew,
    virtual_jacobian,
    virtual_ranks,
    virtual_weights,
)
from agattn.geometry.identifiability.weights import rational_inverse
from agattn.limits import limits

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


def seen_at_random_weights(network: DeepNetwork, collapsed: int | None = None, score: str = "") -> Seen:
    """What the jet of :func:`least_order` sees at random (M, L), with one layer that collapses, or none.

    The M_i have the ranks that they have for general weights of the network. The score of the layer is
    ``"zero"`` or ``"skew"``; by default skew where two tokens and the ranks allow that.

    >>> softmax = DeepNetwork((2, 2, 2), (2, 2), t=2, normalization="softmax")
    >>> seen_at_random_weights(softmax)
    Seen(layer=3, score='general', parameters=12, rank=12, later=0)
    >>> seen_at_random_weights(softmax, 1)
    Seen(layer=1, score='skew', parameters=8, rank=8, later=0)
    """
    return _seen(network, [(collapsed, score)])[0]


def seen_behind_each(network: DeepNetwork) -> tuple[Seen, ...]:
    """The same where layer 1 collapses, where layer 2 does, ...: the jet is evaluated at all points at once.

    >>> softmax = DeepNetwork((2, 2, 2), (2, 2), t=2, normalization="softmax")
    >>> [(seen.layer, seen.rank) for seen in seen_behind_each(softmax)]
    [(1, 8), (2, 12)]
    """
    return _seen(network, [(s, "") for s in range(1, network.depth + 1)])


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


def _seen(network: DeepNetwork, cases: Sequence[tuple[int | None, str]]) -> tuple[Seen, ...]:
    """What the jet sees at a random point of each case, all modulo one prime."""
    l, size = network.depth, network.dims[0] ** 2
    rows = l * size + network.dims[0] * network.dims[-1] + _SURPLUS
    scores, points, inputs, outputs = [], [], [], []
    for collapsed, score in cases:
        generator = np.random.default_rng(limits().seed)
        p = random_prime(generator)
        score, point = _draw(network, collapsed, score, p, generator)
        scores.append(score)
        points.append(point)
        inputs.append(random_residues(generator, (rows, *network.input_shape), p))
        outputs.append(random_residues(generator, (rows, 1, *network.output_shape), p))
    *M, L = (np.repeat(np.stack(matrices), rows, axis=0) for matrices in zip(*points, strict=True))
    X, cotangents = np.concatenate(inputs), np.concatenate(outputs)
    jets = virtual_jacobian(network, M, L, X, cotangents, ModularArithmetic(p), least_order(network))
    seen = []
    for (collapsed, _), score, J in zip(cases, scores, np.split(jets, len(cases)), strict=True):
        behind = np.arange((collapsed or l) * size, l * size)
        first, later = np.delete(J, behind, axis=1), J[:, behind]
        ranks = (RowSpace(part.shape[1], p).add(part) if part.size else 0 for part in (first, later))
        seen.append(Seen(collapsed or l + 1, score, first.shape[1], *ranks))
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
