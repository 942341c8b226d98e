"""The claim about the order of jets that see all scores of a softmax network."""

import pytest

import agattn as ag
from agattn.claims import jets
from agattn.evidence import Evidence
from agattn.verification.verify import Settings, verify

NAME = "agattn.jet-order"


def verdict(*sizes, **options):
    network = ag.DeepNetwork(*sizes, **{"normalization": "softmax"} | options)
    return verify(network, [NAME], Settings("native")).verdicts[0]


@pytest.mark.parametrize(
    ("sizes", "computed"),
    [
        (((3, 2), (2,), 3), {"order": 3, "dimension": 14, "one_less": 6}),
        (((2, 2, 1), (2, 2), 2), {"order": 7, "dimension": 10, "one_less": 6}),
        (((3, 3, 2), (2, 1), 2), {"order": 7, "dimension": 19, "one_less": 14}),
        (((1, 1, 1, 1), (1, 1, 1), 2), {"order": 19, "dimension": 4, "one_less": 3}),
        (((2, 2, 2, 1), (2, 2, 2), 3), {"order": 19, "dimension": 14, "one_less": 10}),
    ],
)
def test_confirmed(sizes, computed):
    found = verdict(*sizes)
    assert (found.status.value, found.evidence, found.computed) == ("confirmed", Evidence.MODULAR, computed)
    assert found.predicted == {"order": computed["order"], "dimension": computed["dimension"]}


@pytest.mark.parametrize(
    ("options", "assumed"),
    [
        ({"normalization": "none"}, "a normalization"),
        ({"heads": 2}, "one head"),
        ({"value_rank": 1}, "V_i of any rank"),
        ({"skip": True}, "no skip connections"),
        ({"t": 1}, "t ≥ 2"),
    ],
)
def test_inapplicable(options, assumed):
    found = verdict((2, 2), (2,), **{"t": 2} | options)
    assert found.status.value == "inapplicable" and assumed in found.assumes


def test_deep_networks_are_undecided_and_the_order_is_named():
    found = verdict((1,) * 5, (1,) * 4, 2)
    assert found.status.value == "undecided" and "4 layers need a jet of order 55" in found.witness


def test_an_order_that_is_too_low_is_refuted(monkeypatch):
    monkeypatch.setattr(jets, "least_order", lambda network: 2 * 3 ** (network.layers - 1) - 1)
    assert verdict((2, 2, 1), (2, 2), 2).status.value == "refuted"
