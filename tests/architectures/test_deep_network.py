"""The numbers and the names of networks of attention."""

import pytest

from agattn import DeepNetwork, InputError


def test_heads_are_one_value_for_equality():
    assert DeepNetwork([3, 3, 3], [2, 2], heads=2) == DeepNetwork((3, 3, 3), (2, 2), heads=(2, 2))


@pytest.mark.parametrize("value_rank", [None, 2])
def test_parameters_are_the_entries_of_the_weights(value_rank):
    network = DeepNetwork((4, 3, 5), (2, 6), heads=(2, 3), value_rank=value_rank)
    counted = sum(
        h * (2 * a * d + (d * e if value_rank is None else 2 * (d + e)))
        for d, e, a, h in [(4, 3, 2, 2), (3, 5, 6, 3)]
    )
    assert network.parameters == counted == sum(h * m * n for h, m, n in network.shapes.values())


@pytest.mark.parametrize(
    ("dims", "delta"), [((4, 3, 4), 3), ((2, 3, 2), None), ((4, 3, 2, 4), None), ((5, 2, 2, 3), 2)]
)
def test_bottleneck(dims, delta):
    assert DeepNetwork(dims, (2,) * (len(dims) - 1)).bottleneck == delta


def test_all_digits_of_a_temperature_are_printed():
    network = DeepNetwork((2, 2), (1,), 2, normalization="softmax", temperature=1.23456789)
    assert network.name == "M(2,2,1), softmax at T = 1.23456789, t = 2"
    assert network.arguments == "FILE"
    caption = DeepNetwork((2, 2), (1,), 2, normalization="softmax", temperature=2.0).sheet().tables[0].caption
    assert caption.latex == r"\mathcal{M}(2,2,1), \ \text{softmax at T = 2}, t = 2"


@pytest.mark.parametrize(
    ("dims", "ranks", "others"),
    [
        ((2,), (), {}), ((2, 2), (1, 1), {}), ((2, 0), (1,), {}), ((2, 2), (0,), {}), (2, (1,), {}),
        ((2, 2), (1,), {"t": 0}), ((2, 2), (1,), {"heads": 0}), ((2, 2), (1,), {"heads": (1, 1)}),
        ((2, 3), (1,), {"skip": True}), ((2, 2), (1,), {"skip": 1}), ((2, 2), (1,), {"value_rank": 0}),
        ((2, 2), (1,), {"normalization": "max"}), ((2, 2), (1,), {"temperature": 0}),
        ((2, 2), (1,), {"temperature": "warm"}),
    ],
)  # fmt: skip
def test_networks_that_there_are_not(dims, ranks, others):
    with pytest.raises(InputError):
        DeepNetwork(dims, ranks, **others)
