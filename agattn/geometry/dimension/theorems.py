"""Dimensions that a theorem proves, at any size and without a Jacobian.

The proofs are written out on the page on dimensions; every id is the name of a place on it. All count the
weights, and subtract the dimension of a general fiber.

- ``theorem-3.2``: one lightning head, t ≥ 2. By the fibers of HMK's Theorem 3.2, in (A, V) space, the
  dimension is α(2d − α) + β(d + d' − β) − 1, α = min(a, d), where V has rank at most β.
- ``theorem-3.9``: one normalized head, t ≥ 2. By HMK's Theorem 3.9 fibers are points; nothing is subtracted.
- ``agattn.network-dimension``: one lightning head in each layer, any widths, ranks and t. The dimension is
  the bound by counting, so equation 14 under HMK's hypotheses.

>>> from agattn.architectures import DeepNetwork, SingleLayer
>>> known = by_theorem(SingleLayer(768, 64, 64).as_network())
>>> known.id, known.dimension
('theorem-3.2', 143359)
>>> by_theorem(DeepNetwork((5, 4, 1), (2, 1), t=3)).dimension
28
>>> by_theorem(DeepNetwork((5, 1), (3,), t=2, heads=2)) is None
True
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from agattn.architectures import DeepNetwork


class Theorem(NamedTuple):
    """The dimension of a network, by a theorem whose hypotheses hold for it.

    Attributes:
        id: the name of the theorem, and of the place in the documentation where its proof is.
        dimension: by its formula.
        checked: its hypotheses.
    """

    id: str
    dimension: int
    checked: tuple[str, ...]


def by_theorem(network: DeepNetwork) -> Theorem | None:
    """The theorem that gives the dimension of a network, or ``None``."""
    if set(network.heads_by_layer) != {1} or network.normalization not in ("none", "softmax"):
        return None
    if network.depth == 1:
        # A skip connection around the only layer adds X to every function.
        if network.t >= 2:
            return _one_layer(network)
        return _networks(network) if network.is_lightning and _any_values(network) else None
    if network.is_lightning and not network.skip and _any_values(network):
        return _networks(network)
    return None


def irreducible_fibers(network: DeepNetwork) -> str | None:
    """The id of the theorem by which general fibers of (K, Q, V) ↦ φ are irreducible over ℂ, or ``None``.

    The proof is on the page on identifiability. Where general A and V have rank one, their factors can be
    exchanged, so that the fiber has two components. Where a layer does not see all of its input, nothing is
    said.

    >>> irreducible_fibers(DeepNetwork((3, 2), (2,), t=2)), irreducible_fibers(DeepNetwork((3, 1), (1,), t=2))
    ('theorem-3.2', None)
    >>> irreducible_fibers(DeepNetwork((3, 2, 3), (2, 2), t=2))
    'agattn.network-dimension'
    """
    if set(network.heads_by_layer) != {1} or not network.is_lightning or network.t == 1:
        return None
    dims, beta = network.dims, network.value_rank
    alphas = [min(a, d) for a, d in zip(network.ranks, dims, strict=False)]
    one_line = dims[0] == 1
    exchanged = alphas[-1] == 1 and min(*dims, beta or dims[0]) == 1 and not one_line
    if network.depth == 1:
        return None if exchanged else "theorem-3.2"
    if network.skip or not _any_values(network) or one_line or exchanged:
        return None
    widths_seen = _seen_widths(network)[1:-1] == list(dims[1:-1])
    if not widths_seen or min(alphas[:-1]) < 2 or beta is not None:
        return None
    return "agattn.network-dimension"


def _any_values(network: DeepNetwork) -> bool:
    """Whether every V_i may be any matrix."""
    largest = max(map(min, pairwise(network.dims)))
    return network.value_rank is None or network.value_rank >= largest


def _one_layer(network: DeepNetwork) -> Theorem:
    (d, d_out), (a,) = network.dims, network.ranks
    alpha, beta = min(a, d), min(d, d_out, network.value_rank or d)
    pairs = alpha * (2 * d - alpha) + beta * (d + d_out - beta)
    if network.is_lightning:
        return Theorem("theorem-3.2", pairs - 1, ("one layer", "one head", "no normalization", "t ≥ 2"))
    return Theorem("theorem-3.9", pairs, ("one layer", "one head", "an injective normalization", "t ≥ 2"))


def _networks(network: DeepNetwork) -> Theorem:
    widths = _seen_widths(network)
    total, symmetric = -network.depth, network.t == 1
    for (e, following), a in zip(pairwise(widths), network.ranks, strict=True):
        alpha, beta = min(a, e), min(2 * a, e)
        total += beta * (2 * e - beta + 1) // 2 if symmetric else alpha * (2 * e - alpha)
        total += e * following
        symmetric = symmetric or alpha == 1
    total -= sum(e * e for e in widths[1:-1])
    checked = "one head in each layer", "no normalization", "no skip connections", "V_i of any rank"
    return Theorem("agattn.network-dimension", total, checked)


def _seen_widths(network: DeepNetwork) -> list[int]:
    """e_0 = d_0, e_l = d_l and e_i = min(d_0, ..., d_i, 2a_{i+1} + e_{i+1}), from the last layer on."""
    least = list(network.dims)
    for i in range(1, network.depth):
        least[i] = min(least[i - 1], least[i])
    for i in range(network.depth - 1, 0, -1):
        least[i] = min(least[i], 2 * network.ranks[i] + least[i + 1])
    return least
