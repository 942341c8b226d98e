"""Dimensions of one layer with groups of heads, latents, or a state, that a theorem proves at any size.

The proofs are on the page on today's attention; every id is the name of a place on it. ``None`` where a
hypothesis fails: the formula may hold there, but is not proved.

>>> from agattn.architectures import Attention, Network, Recurrence
>>> def proved(layer, d, t=2):
...     found = by_layer(Network([layer], d, t))
...     return found and (found.id, found.dimension)
>>> proved(Attention(3, 2, heads=3, kv_heads=1, value_rank=2), 5)
('agattn.grouped-dimension', 51)
>>> proved(Attention(3, 2, heads=2, value_rank=1, kv_latent=4, q_latent=4), 7)
('agattn.latent-dimension', 58)
>>> proved(Recurrence(2, 2, "gated-delta"), 4)
('agattn.recurrent-dimension', 25)
>>> proved(Attention(3, 2, heads=3, kv_heads=1, value_rank=3), 4) is None  # a + b > d
True
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import comb

from agattn.architectures import Architecture, Attention, Network, Recurrence
from agattn.geometry.dimension.supports import by_supports, layers_of, see_another, supports
from agattn.geometry.dimension.theorems import Theorem

GROUPED, LATENT, RECURRENT = (f"agattn.{kind}-dimension" for kind in ("grouped", "latent", "recurrent"))


def one_layer(architecture: Architecture) -> Network | None:
    """The only layer of an architecture as a network; ``None`` where there are several, or none of these."""
    layers = layers_of(architecture)
    if layers is None or len(layers) != 1 or not isinstance(layers[0], (Attention, Recurrence)):
        return None
    return Network((layers[0],), *architecture.input_shape)


def by_layer(architecture: Architecture) -> Theorem | None:
    """The theorem that gives the dimension of one layer, or ``None``."""
    network = one_layer(architecture)
    if network is None or network.t < 2:
        return None
    from agattn.geometry.dimension.capacity import in_place, reduced

    smaller = reduced(network)
    layer, d = smaller.layers[0], network.dim
    said = in_place(network, smaller)
    used = (f"the sizes that heads can use: {said}",) if said else ()
    if isinstance(layer, Recurrence):
        found = _recurrent(layer, d, network.t)
        checked = "one layer", "one head", "t ≥ 2"
        return None if found is None else Theorem(RECURRENT, found, (*checked, *used))
    assert isinstance(layer, Attention)
    if not see_another(smaller.layers, network.t):
        return None
    name = LATENT if has_latents(layer) else GROUPED
    if layer.normalization != "none" and (layer.normalization != "softmax" or layer.mask != "none"):
        return None  # the proof is of the softmax over all tokens
    if layer.normalization == "softmax":
        dimension, why = softmax_dimension(layer, d, network.t), "a softmax"
    elif layer.rotary:
        return _with_positions(network, layer)
    elif has_latents(layer):
        dimension = latent_dimension(layer, d) if _heads_are_independent(layer, d) else None
        why = "weights of the heads behind the latents with disjoint supports were found"
    else:
        dimension, why = grouped_dimension(layer, d) if _fit(layer, d) else None, "g(a + b) ≤ d"
    return None if dimension is None else Theorem(name, dimension, ("one layer", "t ≥ 2", why, *used))


def _with_positions(network: Network, layer: Attention) -> Theorem | None:
    """The theorem without positions, and :func:`turned` more for each K, where two distances are seen."""
    d, a = network.dim, layer.rank
    if isinstance(layer.mask, tuple) or (layer.mask == "causal" and network.t == 2):
        return None  # positions enter by R alone, which is taken up by Q
    if a > (layer.kv_latent or d) or a > (layer.q_latent or d) * (layer.heads // layer.groups):
        return None
    alone = Network((replace(layer, rotary=False),), *network.input_shape)
    if (found := by_supports(alone) or by_layer(alone)) is None:
        return None
    more = layer.groups * turned(layer)
    return Theorem(found.id, found.dimension + more, (*found.checked, "positions at two distances"))


def turned(layer: Attention) -> int:
    """a² − 2p − (a − 2p)²: by so much GL(a) is larger than what commutes with rotations of p pairs of rows.

    >>> turned(Attention(2, 4, rotary=True)), turned(Attention(2, 4, rotary=1)), turned(Attention(2, 4))
    (12, 10, 0)
    """
    a, p = layer.rank, layer.pairs
    return a * a - 2 * p - (a - 2 * p) ** 2


def has_latents(layer: Attention) -> bool:
    """Whether keys and values, or queries, are read from a latent."""
    return layer.kv_latent is not None or layer.q_latent is not None


def sizes(layer: Attention, d: int) -> tuple[int, int, int, int, int, int]:
    """g, s, a, b, r, ρ: groups, heads of each, ranks, and the widths that keys and queries are read from."""
    b = min(layer.value_rank or layer.out, layer.out * (layer.heads // layer.groups), layer.kv_latent or d)
    r, rho, s = layer.kv_latent or d, layer.q_latent or d, layer.heads // layer.groups
    return layer.groups, s, min(layer.rank, r, s * rho), b, r, rho


def grouped_dimension(layer: Attention, d: int) -> int:
    """Σ over the groups: a(d − a) + b(d − b) + s(ad + bd' − s); the layer is reduced, and has no positions.

    It is the number of parameters less GL(a), GL(b) and GL(s) of each group.
    """
    g, s, a, b, _, _ = sizes(layer, d)
    return g * (a * (d - a) + b * (d - b) + s * (a * d + b * layer.out - s))


def _fit(layer: Attention, d: int) -> bool:
    """Whether the groups have coordinates of their own."""
    g, _, a, b, _, _ = sizes(layer, d)
    return g * (a + b) <= d


def softmax_dimension(layer: Attention, d: int, t: int) -> int | None:
    """The dimension of all (KᵀQ_i, O_iP) with latents, which a softmax layer determines up to countably many.

    Σ over the groups: a(r + sρ − a) + b(r + sd' − b), and r(d − r), ρ(d − ρ) for latents.
    """
    g, s, a, b, r, rho = sizes(layer, d)
    if layer.rotary and (t != 2 or a < layer.rank or layer.kv_latent or layer.q_latent):
        return None
    latents = r * (d - r) + rho * (d - rho)  # zero where they are d
    return g * (a * (r + s * rho - a) + b * (r + s * layer.out - b) + turned(layer)) + latents


def latent_dimension(layer: Attention, d: int) -> int:
    """r(d − r) + ρ(d − ρ) + H(b(d' + r − b) + a(r + ρ − a) − 1), of a reduced layer with one head a group."""
    heads, _, a, b, r, rho = sizes(layer, d)
    each = b * (layer.out + r - b) + a * (r + rho - a) - 1
    return r * (d - r) + rho * (d - rho) + heads * each


@cache
def _heads_are_independent(layer: Attention, d: int) -> bool:
    """Whether the heads behind the latents are known to have the dimension that counting gives."""
    heads, s, a, b, r, rho = sizes(layer, d)
    if s > 1:
        return False
    return heads == 1 or supports(r, layer.out, [a] * heads, [b] * heads, rho) is not None


def recurrent_dimension(layer: Recurrence, d: int) -> int:
    """The parameters less the group of the state and one factor, or two with a gated delta rule.

    The rank is at most d. GL(a) acts on the state, a torus with a diagonal gate, O(a) with a delta rule.
    """
    a, pairs = layer.rank, 2 * layer.rank * d + d * layer.out - 1
    return {
        "sum": pairs - a * a,
        "decay": pairs - a * a + 1,
        "scalar-gate": pairs - a * a + d,
        "diagonal-gate": pairs + a * d - a,
        "delta": pairs - a * (a - 1) // 2,
        "gated-delta": pairs - a * (a - 1) // 2 + d - 1,
    }[layer.rule]


def _recurrent(layer: Recurrence, d: int, t: int) -> int | None:
    """The formula for one head; with a diagonal gate where the proof goes through."""
    a = layer.rank
    if layer.heads > 1:
        return None
    if layer.rule == "diagonal-gate":
        by_restriction = a <= d and a - 1 <= comb(d - 1, 2) if d > 1 else a == 1
        if not (by_restriction or d == a == 3 or (d == a == 2 and t >= 3)):
            return None
    return recurrent_dimension(layer, d)
