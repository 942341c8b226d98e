r"""Softmax networks with one head in each layer, in the parameters (M, L), and layers that collapse.

Layer i is X ↦ V_i X W(Xᵀ A_i X). With the virtual weights M_i = L_{i−1}ᵀ A_i L_{i−1} and L = L_l
(:mod:`agattn.geometry.identifiability.virtual_weights`) the network is φ(X) = L Y_l for Y_0 = X and
Y_i = Y_{i−1} W(Y_{i−1}ᵀ M_i Y_{i−1}): it depends on (M, L) alone, and is a network of width d_0 whose keys
and values are the identity.

A layer *collapses* if it makes all tokens equal for every input. Then the weights of all later layers are
1/t, and their scores are free. Layer i collapses if M_i = 0. With two tokens m ± z it collapses for every
skew-symmetric M_i, too: with σ the logistic function, both columns are

.. math:: m + z\,(2\sigma(2 z^\top M m) - 1) = m - z\tanh(m^\top M z),

as zᵀMz = 0 and zᵀMm = −mᵀMz.

Source: Theorems 1 and 2 of Konda, *Identifiability and Observability of Deep Normalized Attention* (preprint,
2026). What is computed here is the differential of a jet at one point (M, L): where it is injective in (M_1,
..., M_s, L), no other such parameters near the point have the same function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Array, FloatArithmetic, ModularArithmetic
from agattn.algebra.residues import Residues, RowSpace, matmul, random_prime, random_residues
from agattn.architectures import DeepNetwork, Jet
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.identifiability.virtual_weights import (
    head_matrices,
    is_plain,
    is_skew,
    virtual_ranks,
    virtual_weights,
)
from agattn.limits import limits

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


def in_virtual_weights(network: DeepNetwork) -> DeepNetwork:
    """The network with Q_i = M_i, V_l = L, and the identity for K_i and the other V_i."""
    d, l = network.dims[0], network.depth
    return replace(network, dims=(*[d] * l, network.dims[-1]), ranks=(d,) * l)


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
    return _seen(network, [_Point.draw(network, collapsed, score)])[0]


def seen_behind_each(network: DeepNetwork) -> tuple[Seen, ...]:
    """The same where layer 1 collapses, where layer 2 does, ...: the jet is evaluated at all points at once.

    >>> softmax = DeepNetwork((2, 2, 2), (2, 2), t=2, normalization="softmax")
    >>> [(seen.layer, seen.rank) for seen in seen_behind_each(softmax)]
    [(1, 8), (2, 12)]
    """
    return _seen(network, [_Point.draw(network, s) for s in range(1, network.depth + 1)])


class _Point(NamedTuple):
    """Random (M, L) modulo p with one layer that collapses, or none, and random inputs and cotangents."""

    collapsed: int | None
    score: str
    p: int
    theta: dict[str, Residues]
    X: Residues
    cotangents: Residues

    @classmethod
    def draw(cls, network: DeepNetwork, collapsed: int | None, score: str = "") -> _Point:
        """The same prime for the same seed."""
        generator = np.random.default_rng(limits().seed)
        p = random_prime(generator)
        d, d_out, l = network.dims[0], network.dims[-1], network.depth
        ranks, narrow = virtual_ranks(network), min(network.dims)
        M = [_of_rank(d, d, r, p, generator) for r in ranks]
        L = _of_rank(d_out, d, narrow, p, generator)
        if collapsed is None:
            score = "general"
        else:
            score = score or ("skew" if network.t == 2 and ranks[collapsed - 1] >= 2 else "zero")
            u, v = random_residues(generator, (2, d, 1), p)
            one = matmul(u, v.T, p)
            M[collapsed - 1] = (one - one.T) % p if score == "skew" else 0 * M[collapsed - 1]
        wide = in_virtual_weights(network)
        theta = {name: np.eye(d)[None] for name in wide.shapes}
        theta |= {f"Q_{i}": m[None] for i, m in enumerate(M, 1)} | {f"V_{l}": L[None]}
        rows = l * d * d + d_out * d + _SURPLUS
        X = random_residues(generator, (rows, *wide.input_shape), p)
        return cls(
            collapsed, score, p, theta, X, random_residues(generator, (rows, 1, *wide.output_shape), p)
        )


def _seen(network: DeepNetwork, points: Sequence[_Point]) -> tuple[Seen, ...]:
    """What the jet sees at each of several points modulo one prime."""
    wide, l, p, rows = in_virtual_weights(network), network.depth, points[0].p, len(points[0].X)
    theta = {
        name: np.concatenate([np.broadcast_to(point.theta[name], (rows, *shape)) for point in points])
        for name, shape in wide.shapes.items()
    }
    X = np.concatenate([one.X for one in points])
    cotangents = np.concatenate([one.cotangents for one in points])
    jets = jacobian(Jet(wide, least_order(network)), theta, X, ModularArithmetic(p), cotangents)
    columns, found = _columns(wide), []
    for point, J in zip(points, np.split(jets, len(points)), strict=True):
        s = l if point.collapsed is None else point.collapsed
        first = np.concatenate([*(columns[f"Q_{i}"] for i in range(1, s + 1)), columns[f"V_{l}"]])
        later = np.concatenate([np.zeros(0, dtype=int), *(columns[f"Q_{i}"] for i in range(s + 1, l + 1))])
        found.append(
            Seen(
                point.collapsed or l + 1,
                point.score,
                len(first),
                _rank(J[:, first], p),
                _rank(J[:, later], p),
            )
        )
    return tuple(found)


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
    wide, l = in_virtual_weights(network), network.depth
    covered = is_plain(network) and network.value_rank is None and network.normalization == "softmax"
    columns = l * network.dims[0] ** 2 + network.dims[0] * network.dims[-1]
    if not covered or columns > MOST_COLUMNS:
        return None
    A, V = ([head for (head,) in layers] for layers in head_matrices(network, weights))
    M, L = virtual_weights(A, V, FloatArithmetic())
    theta = {name: np.eye(network.dims[0])[None] for name in wide.shapes}
    theta |= {f"Q_{i}": m[None] for i, m in enumerate(M, 1)} | {f"V_{l}": L[None]}
    generator = np.random.default_rng(limits().seed)
    X = generator.standard_normal((columns + _SURPLUS, *wide.input_shape))
    cotangents = generator.standard_normal((len(X), 1, *wide.output_shape))
    J = jacobian(wide, theta, X, FloatArithmetic(), cotangents)
    places = _columns(wide)
    of_values = float(np.linalg.norm(J[:, places[f"V_{l}"]], 2))
    return [float(np.linalg.norm(J[:, places[f"Q_{i}"]], 2)) / of_values for i in range(1, l + 1)]


def _of_rank(m: int, n: int, r: int, p: int, generator: np.random.Generator) -> Residues:
    """A random m × n matrix of rank r at most, modulo p."""
    return matmul(random_residues(generator, (m, r), p), random_residues(generator, (r, n), p), p)


def _columns(network: DeepNetwork) -> dict[str, Array]:
    """The columns of a Jacobian by array."""
    found, start = dict[str, Array](), 0
    for name, shape in network.shapes.items():
        size = int(np.prod(shape))
        found[name] = np.arange(start, start + size)
        start += size
    return found


def _rank(matrix: Array, p: int) -> int:
    space = RowSpace(matrix.shape[1], p)
    if matrix.shape[1]:
        space.add(np.asarray(matrix, dtype=np.float64))
    return space.rank
