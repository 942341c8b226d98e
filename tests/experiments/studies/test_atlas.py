"""The grid that ships as ``atlas``, its tables, and those about singular points of small networks."""

import re
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path

import pytest

from agattn import DeepNetwork
from agattn import singularities as singularities_of
from agattn.architectures.model_file import architecture_of
from agattn.experiments.studies.grid import grid_text, read_grid
from agattn.experiments.studies.study import study
from agattn.geometry.closedness.question import LimitSet
from agattn.geometry.dimension.formulas import reduced_widths, symmetric_layers
from agattn.geometry.singular_points.tangents import VirtualPoint

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "experiments"
POINTS = (DOCS / "deep-atlas.md").read_text(encoding="utf-8")
JOBS = read_grid(grid_text(Path("atlas"))).jobs
NETWORKS = {job.architecture: job for job in JOBS}
NAMED = re.compile(r"M\(([\d,]+); ([\d,]+)\)(?:, heads (\d))?(, skip)?, t = (\d)")


def rows(name):
    """The rows of a table, without the one that names the columns."""
    text = (DOCS / "tables" / f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]


def network(name):
    """A network as the tables name it."""
    name = re.sub(r"M\((\d+,\d+),(\d+)\)", r"M(\1; \2)", name)  # one layer
    dims, ranks, heads, skip, t = NAMED.fullmatch(name).groups()
    widths, bounds = (tuple(map(int, text.split(","))) for text in (dims, ranks))
    return DeepNetwork(widths, bounds, int(t), heads=int(heads or 1), skip=bool(skip))


def family(depth, most, t, heads=1, skip=False):
    """All networks of a depth with widths up to a number, and ranks a_i ≤ d_{i−1}."""
    return {
        DeepNetwork(dims, ranks, t, heads=heads, skip=skip)
        for dims in product(range(1, most + 1), repeat=depth + 1)
        if not skip or len(set(dims)) == 1
        for ranks in product(*(range(1, d + 1) for d in dims[:-1]))
    }


FAMILIES = [
    *((depth, most, 2 if depth == 1 else 3, heads) for depth, most in ((1, 5), (2, 5), (3, 3))
      for heads in (1, 2, 3)),
    *((depth, 5, 2, heads, True) for depth in (1, 2, 3) for heads in (1, 2, 3)),
    *((depth, most, 1) for depth, most in ((1, 5), (2, 5), (3, 3))),
]  # fmt: skip


def defect_reason(one):
    """Why the dimension of a network with one head may differ from equation 14, in terms of its numbers."""
    symmetric = any(symmetric_layers(one))
    if reduced_widths(one) != one.dims:
        return "both" if symmetric else "a width is more than the network can use"
    if symmetric:
        return "one token" if one.t == 1 else "an earlier layer has rank 1"
    return "none"


def test_the_grid_has_every_small_network():
    every = set.union(*(family(*of) for of in FAMILIES))
    assert every < set(NETWORKS) and len(every) == 8277 and len(NETWORKS) - len(every) == 14
    for of, cells in zip(FAMILIES, rows("atlas-families"), strict=True):
        depth, most, t, heads, skip = (*of, *(1, False)[len(of) - 3 :])
        layers = f"{depth}{', skip connections' * skip}"
        assert cells[:5] == [layers, *map(str, (heads, t, most, len(family(*of))))]


@pytest.mark.slow
@pytest.mark.parametrize("of", [(1, 5, 2), (1, 5, 2, 2), (2, 5, 2, 1, True), (1, 5, 1)])
def test_families_of_the_page_are_what_the_study_finds(of):
    depth, most, t, heads, skip = (*of, *(1, False)[len(of) - 3 :])
    networks = family(*of)
    lines = list(study([job for one, job in NETWORKS.items() if one in networks]))
    results = [line["result"] for line in lines]
    counts = [
        len(lines),
        sum(result["evidence"] == "proved" for result in results),
        sum(result["dimension"] == result["predicted"] for result in results),
        sum(not result["paper"]["defect"] for result in results),
        sum(result["paper"]["hypotheses_hold"] for result in results),
    ]
    layers = f"{depth}{', skip connections' * skip}"
    assert [layers, *map(str, (heads, t, most, *counts))] in rows("atlas-families")
    failing = [architecture_of(line["architecture"]) for line in lines if line["result"]["paper"]["defect"]]
    if heads == 1 and not skip:
        for reason in {defect_reason(one) for one in networks}:
            both = [sum(defect_reason(one) == reason for one in those) for those in (networks, failing)]
            assert [str(depth), str(t), reason, *map(str, both)] in rows("atlas-reasons")


@pytest.mark.slow
def test_every_network_that_the_page_names_has_the_numbers_of_its_row():
    named = [(network(name), cells) for name, *cells in rows("atlas-equation-14") + rows("atlas-below")]
    assert len(named) > 60
    lines = study([NETWORKS[one] for one, _ in named])
    for line, (one, cells) in zip(lines, named, strict=True):
        result = line["result"]
        compared = result["upper_bound"] if max(one.heads_by_layer) > 1 else result["paper"]["value"]
        assert cells == [str(result["dimension"]), result["evidence"], str(compared)]


# Singular points


def groups():
    """The networks of the page about singular points, by what is common to them."""
    for title, found in groupby(rows("singular-points"), key=itemgetter(0)):
        yield title, [network(name) for _, name, *_ in found]


COMMON = {
    "Wide networks, two tokens or more": lambda n: min(n.dims[:-1]) >= n.dims[0] and n.t >= 2,
    "Ranks below the width": lambda n: min(n.ranks) < min(n.dims[:-1]),
    "Bottlenecks": lambda n: min(n.dims[1:-1]) < n.dims[0],
    "One token": lambda n: n.t == 1,
    "Several heads": lambda n: min(n.heads_by_layer) > 1,
    "Skip connections": lambda n: n.skip,
}


def test_networks_of_the_atlas_have_what_is_common_to_them():
    """The ranks are at most the widths before."""
    found = dict(groups())
    assert list(found) == list(COMMON)
    for title, networks in found.items():
        assert networks and all(COMMON[title](one) for one in networks)
        assert all(a <= d for one in networks for a, d in zip(one.ranks, one.dims, strict=False))
    number = str(sum(map(len, found.values())))
    told = (ROOT / "docs" / "networks" / "deep-singularities.md").read_text(encoding="utf-8")
    assert [re.findall(r"kinds of points of (\d+) small networks", page) for page in (POINTS, told)] == [
        [number], [number],
    ]  # fmt: skip


def kinds_row(found):
    """The row of a network in the tables of kinds."""
    points = [point for point in found.kinds if not point.is_zero]
    words = ("singular", "smooth", "smooth branch", "undecided")
    counts = [sum(point.singular == word for point in points) for word in words]
    closed = {True: "yes", False: "no", None: "open"}[found.closed]
    cells = [found.dimension.dimension, closed, len(found.kinds), len(found.zeros)]
    return [*cells, sum(point.is_critical for point in points), *counts]


def ranks_row(found):
    """Dimension, limits, and ranks and tangent vectors at heads of rank one, for networks with limits."""
    assert isinstance(found.limits, LimitSet)
    last = found.limits.network.depth
    row = [found.dimension.dimension, found.limits.dimension]
    for names in ([f"rk M_{i} = 1" for i in range(1, last)], [f"rk M_{last} = rk L = 1"]):
        points = [point for name in names for point in found.kinds if point.name == name]
        row.append(", ".join(str(point.differential_rank) for point in points) or "–")
        row.append(", ".join(str(point.tangent_lower) for point in points) or "–")
    return row


@pytest.mark.slow
@pytest.mark.parametrize(
    "one", [DeepNetwork((2, 2, 1), (2, 2), 2), *dict(groups())["Skip connections"]], ids=str
)
def test_rows_of_the_page_are_the_kinds_of_points(one):
    found = singularities_of(one)
    [kinds] = [cells for _, name, *cells in rows("singular-points") if network(name) == one]
    assert kinds == list(map(str, kinds_row(found)))
    for cells in (cells for name, *cells in rows("singular-points-ranks") if network(name) == one):
        assert cells == list(map(str, ranks_row(found)))


@pytest.mark.slow
def test_theorem_2_says_which_kinds_of_a_wide_network_are_critical():
    """But for kinds with a skew-symmetric M_i, of which it says nothing."""
    found = singularities_of(DeepNetwork((2, 2, 1), (2, 2), t=2))
    agreeing = []
    for point in found.kinds:
        if not point.is_zero and (given := point.kind.virtual) is not None:
            said = VirtualPoint(point.name, tuple(given[0]), given[1]).statement()
            agreeing += [] if said is None else [point.is_critical == said.critical]
    assert agreeing == [True] * 17


def test_numbers_from_the_literature():
    """29, 28 and 34, 37, 36 tangent vectors."""
    found = {name: cells for name, *cells in rows("singular-points-ranks")}
    assert found["M(3,3,2; 3,3), t = 3"] == ["22", "21", "19", "29", "22", "28"]
    assert found["M(3,3,3,2; 3,3,3), t = 3"] == ["30", "29", "24, 27", "34, 37", "30", "36"]
    assert found["M(2,2,1; 2,2), t = 2"] == ["8", "7", "7", "8", "8", "9"]
