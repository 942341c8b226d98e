"""An atlas of small networks: where equation 14, the general formula and the multi-head bounds are met.

A family is a list of networks that vary in one way; its survey computes every dimension and compares.

>>> found = survey(family(depth=2, max_width=2, t=3))
>>> found.proved, len(found.entries), found.formula_missed
(18, 18, [])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from agattn.architectures import DeepNetwork
from agattn.calls import positive_integer
from agattn.evidence import Evidence
from agattn.experiments.studies.jobs import Job
from agattn.experiments.studies.lines import Entry
from agattn.experiments.studies.study import answers
from agattn.geometry.dimension.formulas import reduced_widths, symmetric_layers
from agattn.geometry.singular_points.singularities import PointFacts, Singularities, singularities
from agattn.limits import limited, limits, silent, steps, takes
from agattn.sheet.result import Count, Key, Result, Written, key


class NetworkFamily(NamedTuple):
    """Networks to be surveyed together; of ``total`` in the family they may be a sample."""

    title: str
    networks: tuple[DeepNetwork, ...]
    total: int


def family(
    depth: int, max_width: int, t: int, heads: int = 1, skip: bool = False, limit: int | None = None
) -> NetworkFamily:
    """All networks of one depth with widths up to ``max_width`` and ranks a_i ≤ d_{i−1}, or a sample of them.

    A larger rank than d_{i−1} changes no function, so these are all there are.

    Args:
        depth: the number of layers l.
        max_width: the largest width.
        t: number of tokens.
        heads: heads in every layer.
        skip: with skip connections; then all widths are equal.
        limit: draw this many at random without repetition, if there are more.
    """
    networks = [
        DeepNetwork(dims, ranks, t, heads=heads, skip=skip)
        for dims in product(range(1, max_width + 1), repeat=depth + 1)
        if not skip or len(set(dims)) == 1
        for ranks in product(*(range(1, d + 1) for d in dims[:-1]))
    ]
    total = len(networks)
    if limit is not None and total > limit:
        chosen = np.random.default_rng(limits().seed).choice(total, limit, replace=False)
        networks = [networks[i] for i in sorted(chosen)]
    layers = f"{depth} layer{'s' * (depth > 1)}, {heads} head{'s' * (heads > 1)}"
    title = f"{layers}, {'skip connections, ' * skip}t = {t}, widths up to {max_width}"
    return NetworkFamily(title, tuple(networks), total)


class Missed(Result):
    """A network whose dimension is not that of a formula."""

    architecture: Key[DeepNetwork, "The network."]
    dimension: Key[Count, "The dimension of the network, or the rank observed where that is not proved."]
    evidence: Key[Evidence, "How the result is known."]
    upper_bound: Key[Count, "The proved upper bound."]
    paper: Key[int, "Equation 14, or 7 for one layer, whether or not its hypotheses hold."]

    @classmethod
    def of(cls, entry: Entry) -> Missed:
        """What a line of a study says of such a network."""
        found = entry.result
        known, bound = Evidence(found["evidence"]), found["upper_bound"]
        return cls(entry.architecture, found["dimension"], known, bound, found["paper"]["value"])


#: How entries are written that miss a formula.
MISSED = Written(list[Missed], lambda entries: [Missed.of(entry).as_json() for entry in entries])


class Survey(Result):
    """The dimensions of a family: what came out for each network."""

    family: NetworkFamily
    entries: tuple[Entry, ...]

    @key
    def title(self) -> str:
        """What the networks of the family have in common."""
        return self.family.title

    @key
    def networks(self) -> Count:
        """The number of networks computed."""
        return len(self.entries)

    @key
    def total(self) -> Count:
        """The number of networks in the family."""
        return self.family.total

    @key
    def proved(self) -> Count:
        """How many of the computed dimensions are proved."""
        return sum(e.result["evidence"] == "proved" for e in self.entries)

    @key(MISSED)
    def formula_missed(self) -> list[Entry]:
        """The networks whose dimension is not the general formula's."""
        return [e for e in self.entries if e.result["dimension"] != e.result["predicted"]]

    @key(Written(Count, len))
    def paper_applies(self) -> list[Entry]:
        """The number of networks that fulfil the hypotheses of equation 14."""
        return [e for e in self.entries if e.result["paper"]["hypotheses_hold"]]

    @key(MISSED)
    def paper_missed(self) -> list[Entry]:
        """The networks with another dimension than equation 14 says, whether its hypotheses hold or not."""
        return [e for e in self.entries if e.result["paper"]["defect"]]

    @property
    def is_plain(self) -> bool:
        """Whether its networks have one head, and no skip connections."""
        first = self.family.networks[0]
        return set(first.heads_by_layer) == {1} and not first.skip

    def reasons(self) -> dict[str, tuple[int, int]]:
        """For each reason why equation 14 may fail: how many networks it concerns, how many of them fail."""
        concerned = Counter(defect_reason(entry.architecture) for entry in self.entries)
        failing = Counter(defect_reason(entry.architecture) for entry in self.paper_missed)
        return {reason: (concerned[reason], failing[reason]) for reason in sorted(concerned)}

    def summary(self) -> str:
        """The family, and how many dimensions are proved."""
        return f"{self.title}: {self.proved} of {self.networks} dimensions proved"


class Atlas(Result, name="atlas"):
    """Surveys of families of small networks."""

    seed: Key[Count, "The seed with which networks are drawn from large families."]
    limit: Key[Count, "The largest number of networks taken from one family."]
    families: Key[tuple[Survey, ...], "One entry for each family of networks."]

    def summary(self) -> str:
        """The families, one below the other."""
        return "\n".join(map(str, self.families))


def defect_reason(network: DeepNetwork) -> str:
    """Why the dimension of a network with one head may differ from equation 14, in terms of its numbers.

    >>> defect_reason(DeepNetwork((3, 3, 3), (1, 2), t=3))
    'an earlier layer has rank 1'
    >>> defect_reason(DeepNetwork((2, 3, 2), (2, 2), t=3))
    'a width is more than the network can use'
    """
    narrow = reduced_widths(network) != network.dims
    symmetric = any(symmetric_layers(network))
    if narrow:
        return "both" if symmetric else "a width is more than the network can use"
    if symmetric:
        return "one token" if network.t == 1 else "an earlier layer has rank 1"
    return "none"


def survey(networks: NetworkFamily) -> Survey:
    """Compute the dimension of every network of a family."""
    jobs = [Job(network, "dimension", seed=limits().seed) for network in networks.networks]
    with limited(progress=silent):
        return Survey(networks, answers(jobs))


def standard_families(
    max_width: int = 5, max_depth: int = 3, max_heads: int = 3, limit: int | None = 1000
) -> list[NetworkFamily]:
    """The families of the atlas: one to ``max_depth`` layers; heads, skip connections, one token."""
    heads, depths = range(1, max_heads + 1), range(1, max_depth + 1)
    kinds = [(depth, 2 if depth == 1 else 3, h, False) for h in heads for depth in depths]
    kinds += [(depth, 2, h, True) for h in heads for depth in depths]
    kinds += [(depth, 1, 1, False) for depth in depths]
    return [family(depth, max_width, t, h, skip, limit) for depth, t, h, skip in kinds]


#: The networks of the atlas of singular points, by what is common to them.
POINTS = {
    "Wide networks, two tokens or more": (
        DeepNetwork((2, 2, 1), (2, 2), 2),
        DeepNetwork((2, 2, 2), (2, 2), 2),
        DeepNetwork((2, 2, 2), (2, 2), 3),
        DeepNetwork((2, 2, 2, 1), (2, 2, 2), 2),
        DeepNetwork((3, 3, 1), (3, 3), 2),
        DeepNetwork((3, 3, 2), (3, 3), 2),
        DeepNetwork((3, 3, 2), (3, 3), 3),
        DeepNetwork((3, 4, 2), (3, 3), 2),
        DeepNetwork((4, 4, 1), (4, 4), 2),
        DeepNetwork((3, 3, 3, 1), (3, 3, 3), 2),
        DeepNetwork((3, 3, 3, 2), (3, 3, 3), 3),
    ),
    "Ranks below the width": (
        DeepNetwork((2, 2, 2), (1, 2), 2),
        DeepNetwork((3, 3, 2), (2, 3), 2),
        DeepNetwork((3, 3, 2), (3, 2), 2),
        DeepNetwork((3, 3, 2), (2, 2), 3),
        DeepNetwork((3, 3, 2), (1, 3), 2),
        DeepNetwork((3, 3, 2), (3, 1), 2),
    ),
    "Bottlenecks": (
        DeepNetwork((3, 1, 3), (3, 1), 3),
        DeepNetwork((3, 2, 2), (2, 2), 2),
        DeepNetwork((3, 2, 3), (3, 2), 3),
        DeepNetwork((4, 2, 1), (4, 2), 2),
    ),
    "One token": (
        DeepNetwork((2, 2, 1), (2, 2), 1),
        DeepNetwork((2, 2, 2), (2, 2), 1),
        DeepNetwork((3, 3, 1), (3, 3), 1),
    ),
    "Several heads": (DeepNetwork((2, 1), (1,), 2, heads=2), DeepNetwork((3, 1), (2,), 2, heads=2)),
    "Skip connections": (
        DeepNetwork((2, 2), (2,), 2, skip=True),
        DeepNetwork((2, 2, 2), (2, 2), 2, skip=True),
    ),
}


@dataclass(frozen=True)
class PointsGroup:
    """The kinds of points of some networks."""

    title: str
    found: tuple[Singularities, ...]

    @property
    def points(self) -> list[PointFacts]:
        """All kinds with f ≠ 0."""
        return [point for each in self.found for point in each.kinds if not point.is_zero]


def points_group(title: str) -> PointsGroup:
    """Ask about the kinds of points of every network of one of the groups of :data:`POINTS`."""
    with limited(progress=silent):
        return PointsGroup(title, tuple(map(singularities, POINTS[title])))


def smallest(entries: Sequence[Entry], count: int) -> list[Entry]:
    """The entries with the fewest parameters."""

    def size(entry: Entry) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        return entry.result["parameters"], entry.architecture.dims, entry.architecture.ranks

    return sorted(entries, key=size)[:count]


@takes("seed", "progress")
def atlas(
    max_width: int = 5,
    max_depth: int = 3,
    max_heads: int = 3,
    limit: int = 400,
    *,
    points: bool = False,
) -> tuple[Survey, ...] | tuple[PointsGroup, ...]:
    """Survey small networks: where equation 14, the general formula and the multi-head bounds are met.

    Args:
        max_width: the largest width.
        max_depth: the most layers.
        max_heads: the most heads.
        limit: how many networks are drawn from a family that has more.
        points: survey kinds of critical and singular points of some networks instead.

    Raises:
        InputError: if a bound is no positive whole number.

    See Also:
        :func:`agattn.audit`, :func:`agattn.study`, :func:`agattn.dimension`, :func:`agattn.singularities`;
        ``agattn atlas`` in a shell.

    >>> import agattn as ag
    >>> first, *_ = ag.atlas(max_width=1, max_depth=1, max_heads=1)
    >>> first.family.title, first.proved
    ('1 layer, 1 head, t = 2, widths up to 1', 1)
    """
    if points:
        titles = steps(POINTS, len(POINTS), lambda title: f"{title}: {len(POINTS[title])} networks")
        return tuple(map(points_group, titles))
    width, depth, heads, most = (
        positive_integer(name, bound)
        for name, bound in (
            ("max_width", max_width),
            ("max_depth", max_depth),
            ("max_heads", max_heads),
            ("limit", limit),
        )
    )
    families = standard_families(width, depth, heads, most)
    named = steps(families, len(families), lambda family: f"{family.title}: {len(family.networks)} networks")
    return tuple(map(survey, named))
