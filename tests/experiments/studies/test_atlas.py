"""The networks of the atlas of singular points."""

import pytest

from agattn.experiments.studies.atlas import POINTS


@pytest.mark.parametrize(
    ("title", "holds"),
    [
        ("Wide networks, two tokens or more", lambda n: min(n.dims[:-1]) >= n.dims[0] and n.t >= 2),
        ("Ranks below the width", lambda n: min(n.ranks) < min(n.dims[:-1])),
        ("Bottlenecks", lambda n: min(n.dims[1:-1]) < n.dims[0]),
        ("One token", lambda n: n.t == 1),
        ("Several heads", lambda n: min(n.heads_by_layer) > 1),
        ("Skip connections", lambda n: n.skip),
    ],
)
def test_networks_of_the_atlas_have_what_is_common_to_them(title, holds):
    """The ranks are at most the widths before."""
    assert all(holds(network) for network in POINTS[title])
    assert all(a <= d for network in POINTS[title] for a, d in zip(network.ranks, network.dims, strict=False))
