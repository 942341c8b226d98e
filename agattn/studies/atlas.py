"""An atlas of small networks: where equation 14, the general formula and the multi-head bounds are met.

A family is a list of networks that vary in one way; its survey computes every dimension and compares.

>>> survey = survey_family(family(depth=2, max_width=2, t=3))
>>> survey.proved, len(survey.entries), survey.formula_missed
(18, 18, [])
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from agattn.architectures import DeepNetwork
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.dimension.formulas import reduced_widths, symmetric_layers


@dataclass(frozen=True)
class Family:
    """Networks to be surveyed together.

    Attributes:
        title: what they have in common.
        networks: the networks.
        total: how many there are in the family, of which ``networks`` may be a sample.
    """

    title: str
    networks: tuple[DeepNetwork, ...]
    total: int


def family(
    depth: int,
    max_width: int,
    t: int,
    heads: int = 1,
    skip: bool = False,
    limit: int | None = None,
    seed: int = 0,
) -> Family:
    """All networks of one depth with widths up to ``max_width`` and ranks a_i ≤ d_{i−1}, or a sample of them.

    A larger rank than d_{i−1} changes no function, so these are all there are.

    Args:
        depth: the number of layers l.
        max_width: the largest width.
        t: number of tokens.
        heads: heads in every layer.
        skip: with skip connections; then all widths are equal.
        limit: draw this many at random without repetition, if there are more.
        seed: of the draw.
    """
    networks = list(_all_networks(depth, max_width, t, heads, skip))
    total = len(networks)
    if limit is not None and total > limit:
        chosen = np.random.default_rng(seed).choice(total, limit, replace=False)
        networks = [networks[i] for i in sorted(chosen)]
    layers = f"{depth} layer{'s' * (depth > 1)}"
    per_layer = f"{heads} head{'s' * (heads > 1)}"
    title = f"{layers}, {per_layer}, {'skip connections, ' * skip}t = {t}, widths up to {max_width}"
    return Family(title, tuple(networks), total)


def _all_networks(depth: int, max_width: int, t: int, heads: int, skip: bool) -> Iterator[DeepNetwork]:
    widths = range(1, max_width + 1)
    all_dims: Iterator[tuple[int, ...]]
    all_dims = ((d,) * (depth + 1) for d in widths) if skip else itertools.product(widths, repeat=depth + 1)
    for dims in all_dims:
        for ranks in itertools.product(*(range(1, d + 1) for d in dims[:-1])):
            yield DeepNetwork(dims, ranks, t, heads=heads, skip=skip)


@dataclass(frozen=True)
class Survey:
    """The dimensions of a family.

    Attributes:
        family: the family.
        entries: one for each network.
    """

    family: Family
    entries: tuple[Dimension, ...]

    @property
    def proved(self) -> int:
        """How many dimensions are proved."""
        return sum(e.evidence is Evidence.PROVED for e in self.entries)

    @property
    def formula_missed(self) -> list[Dimension]:
        """The networks whose dimension, as observed, is not that of the general formula."""
        return [e for e in self.entries if e.dimension != e.predicted]

    @property
    def paper_applies(self) -> list[Dimension]:
        """The networks that satisfy the hypotheses of the paper's equation."""
        return [e for e in self.entries if not e.paper_hypotheses_failing]

    @property
    def paper_missed(self) -> list[Dimension]:
        """The networks whose dimension is not that of the paper's equation, inside its hypotheses or not."""
        return [e for e in self.entries if e.defect]

    def reasons(self) -> dict[str, tuple[int, int]]:
        """For each reason why equation 14 may fail: how many networks it concerns, how many of them fail."""
        counts: dict[str, tuple[int, int]] = {}
        for entry in self.entries:
            reason = defect_reason(entry.network)
            concerned, failing = counts.get(reason, (0, 0))
            counts[reason] = (concerned + 1, failing + bool(entry.defect))
        return dict(sorted(counts.items()))


def defect_reason(network: DeepNetwork) -> str:
    """Why the dimension of a network with one head may differ from equation 14, in terms of its numbers.

    >>> defect_reason(DeepNetwork((3, 3, 3), (1, 2), t=3))
    'an earlier layer has rank 1'
    >>> defect_reason(DeepNetwork((2, 3, 2), (2, 2), t=3))
    'a width is more than the network can use'
    """
    narrow = reduced_widths(network) != network.dims
    symmetric = any(symmetric_layers(network))
    if narrow and symmetric:
        return "both"
    if narrow:
        return "a width is more than the network can use"
    if symmetric:
        return "one token" if network.t == 1 else "an earlier layer has rank 1"
    return "none"


def survey_family(networks: Family, seed: int = 0) -> Survey:
    """Compute the dimension of every network of a family."""
    return Survey(networks, tuple(dimension(network, seed) for network in networks.networks))


def standard_families(
    max_width: int = 5, max_depth: int = 3, max_heads: int = 3, limit: int | None = 1000, seed: int = 0
) -> list[Family]:
    """The families of the atlas: one to ``max_depth`` layers; heads, skip connections, one token."""
    families = [
        family(depth, max_width, 2 if depth == 1 else 3, heads, limit=limit, seed=seed)
        for heads in range(1, max_heads + 1)
        for depth in range(1, max_depth + 1)
    ]
    families += [
        family(depth, max_width, 2, heads, skip=True, limit=limit, seed=seed)
        for heads in range(1, max_heads + 1)
        for depth in range(1, max_depth + 1)
    ]
    families += [family(depth, max_width, 1, limit=limit, seed=seed) for depth in range(1, max_depth + 1)]
    return families


def smallest(entries: Sequence[Dimension], count: int) -> list[Dimension]:
    """The entries with the fewest parameters."""
    return sorted(entries, key=lambda e: (e.parameters, e.network.dims, e.network.ranks))[:count]
