"""The claims about softmax networks by their jets: orders, virtual weights, collapse, contact orders."""

import pytest

import agattn as ag
from agattn.claims import deep as jets
from agattn.claims.claim import Finding, Findings
from agattn.evidence import Evidence
from agattn.geometry.identifiability import virtual_weights
from agattn.geometry.identifiability.virtual_weights import PREPRINT
from agattn.verification.verify import verify

NAME = "agattn.jet-order"


def verdict(*sizes, claim=NAME, **options):
    network = ag.DeepNetwork(*sizes, **{"normalization": "softmax"} | options)
    return verify(network, [claim], "native").verdicts[0]


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
    assert (found.status.value, found.evidence, found.computed) == ("confirmed", Evidence.PROVED, computed)
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
    monkeypatch.setattr(jets, "least_order", lambda network: 2 * 3 ** (network.depth - 1) - 1)
    assert verdict((2, 2, 1), (2, 2), 2).status.value == "refuted"


def test_a_rank_that_may_be_larger_at_other_weights_proves_no_refutation():
    found = jets.jet_ranks(ag.DeepNetwork((3, 2), (2,), 3, normalization="softmax"))
    assert jets.JET_RANKS.evidence(found) is Evidence.PROVED
    small = found.full.lower_bound - 1
    full = found.full.replace(lower_bound=small, upper_bound=small, upper_evidence=Evidence.MODULAR)
    assert jets.JET_RANKS.evidence(found._replace(full=full)) is Evidence.MODULAR


#: exp and an even normalizer, by their Taylor coefficients.
EXP = {"series": ["1", "1", "1/2", "1/6", "1/24"]}
EVEN = {"series": [1, 0, "1/2", 0, "1/24", 0, 0]}


def test_other_normalizers_have_other_orders():
    network = ag.DeepNetwork((2, 2, 2), (2, 2), 2, normalization=EVEN)
    assert jets.least_order(network) == 13 and jets.JET_RANKS.infeasible(network) == ""
    found = jets.jet_ranks(network)
    assert (found.full.lower_bound, found.below.lower_bound, found.most_below) == (12, 8, 8)
    few = ag.DeepNetwork((2, 2, 2), (2, 2), 2, normalization={"series": [1, 0, 1]})
    assert "needs the Taylor coefficients of the normalizer up to w^6" in jets.JET_RANKS.infeasible(few)


@pytest.mark.parametrize(
    ("sizes", "rank"),
    [
        (((3, 3, 3), (2, 2), 3), 27),
        (((2, 2, 2, 1), (2, 2, 2), 2), 14),
        (((3, 1, 3), (2, 1), 2), 27),
        (((1, 1), (1,), 2), 2),
    ],
)
def test_virtual_weights_are_isolated_in_their_fiber(sizes, rank):
    found = verdict(*sizes, claim="agattn.softmax-identifiable")
    assert (found.status.value, found.computed) == ("confirmed", {"rank": rank})
    assert found.as_json()["evidence"] == "proved in part"
    assert f"not checked: {PREPRINT} (Theorem 1)" in found.scope
    series = verdict(*sizes[:2], 2, claim="agattn.softmax-identifiable", normalization=EXP)
    assert (series.status.value == "confirmed") == (len(sizes[1]) < 3)


@pytest.mark.parametrize("claim", ["agattn.softmax-identifiable", "conjecture-3.10"])
def test_an_even_normalizer_is_not_what_the_theorem_is_about(claim):
    found = verdict((3, 3), (2,), 2, claim=claim, normalization=EVEN)
    assert found.status.value == "inapplicable"
    assert found.witness.startswith("it assumes a normalizer that is injective near 0")


def test_the_conjecture_names_the_theorem_and_keeps_its_evidence():
    found = verdict((3, 3, 3), (2, 2), 3, claim="conjecture-3.10")
    assert (found.status.value, found.evidence, found.computed) == ("confirmed", Evidence.PROVED, 25)
    assert "in the effective parameters (M, L). For smooth normalizers it is open" in found.scope
    assert f"not checked: {PREPRINT}, for this normalizer" in found.scope


@pytest.mark.parametrize(
    ("sizes", "ranks", "words", "scope"),
    [
        (((2, 2, 2), (2, 2), 2), [8, 12], "M_1 skew-symmetric: rank 8", f"{PREPRINT} (Theorem 2)"),
        (((3, 3, 3), (2, 2), 3), [18, 27], "M_1 = 0: rank 18", f"{PREPRINT} (Theorem 3, for two layers)"),
        (((2, 2, 2, 2), (2, 2, 2), 3), [8, 12, 16], "M_2 = 0: rank 12", "is open for softmax with three"),
        (((3, 3, 3), (1, 2), 2), [18, 27], "M_1 = 0: rank 18", f"{PREPRINT} (Theorem 2)"),
    ],
)
def test_behind_the_first_collapsed_layer_scores_are_free(sizes, ranks, words, scope):
    found = verdict(*sizes, claim="agattn.softmax-collapse")
    assert (found.status.value, found.computed) == ("confirmed", {"ranks": ranks, "later": 0})
    assert words in found.witness and scope in found.scope


def test_scores_that_are_seen_behind_a_collapsed_layer_refute():
    """With three tokens a skew score does not make them equal: later scores are seen, as they must be."""
    network = ag.DeepNetwork((2, 2, 2), (2, 2), 3, normalization="softmax")
    [seen] = virtual_weights.seen_at_random_weights(network, [1], score="skew")
    assert seen.score == "skew" and seen.later == 4 and seen.rank == 8
    claim = next(one for one in jets.CLAIMS if one.id == "agattn.softmax-collapse")
    finding = Finding((seen,), Evidence.PROVED, ("native",), (), 0.0)
    outcome = claim.judge(network, Findings({jets.SEEN_BEHIND: finding}, {}))
    assert outcome.holds is False


@pytest.mark.parametrize(
    ("sizes", "orders", "kernel"),
    [
        (((2, 2), (1,), 2), {"0": 4, "1": 3}, 1),
        (((2, 2, 2), (1, 1), 2), {"0": 4, "1": 3, "5": 3}, 6),
        (((3, 3, 3), (2, 1), 3), {"0": 9, "1": 8, "5": 5}, 14),
    ],
)
def test_contact_spectra(sizes, orders, kernel):
    found = verdict(*sizes, claim="agattn.contact-spectrum")
    assert (found.status.value, found.evidence) == ("confirmed", Evidence.MODULAR)
    assert found.computed == found.predicted == {"orders": orders, "kernel": kernel}


def test_the_contact_spectrum_of_an_even_normalizer():
    found = verdict((2, 2, 2), (1, 1), 2, claim="agattn.contact-spectrum", normalization=EVEN)
    assert (found.status.value, found.computed["orders"]) == ("confirmed", {"0": 4, "3": 3, "11": 3})


def test_a_wrong_spectrum_is_refuted(monkeypatch):
    right = jets.predict_spectrum
    monkeypatch.setattr(jets, "predict_spectrum", lambda network: {**right(network), "kernel": 0})
    assert verdict((2, 2), (1,), 2, claim="agattn.contact-spectrum").status.value == "refuted"


@pytest.mark.parametrize(
    ("options", "assumed"),
    [({"dims": (3, 2)}, "all widths equal"), ({"ranks": (4,)}, "a_i ≤ d"), ({"heads": 2}, "one head")],
)
def test_other_networks_have_no_contact_claim(options, assumed):
    sizes = {"dims": (3, 3), "ranks": (2,)} | options
    found = verdict(claim="agattn.contact-spectrum", t=2, **sizes)
    assert found.status.value == "inapplicable" and assumed in found.assumes


@pytest.mark.parametrize(
    ("sizes", "value"), [(((4, 3), (2,), 2, 2), 48), (((3, 1), (2,), 2, 2), 22), (((2, 2), (3,), 3, 3), 24)]
)
def test_softmax_heads(sizes, value):
    found = verdict(*sizes, claim="agattn.softmax-heads")
    assert (found.status.value, found.evidence, found.computed) == ("confirmed", Evidence.PROVED, value)
    assert verdict(*sizes[:3], claim="agattn.softmax-heads").assumes == ("several heads",)


def test_contact_orders_are_compared_up_to_a_size():
    for dims, ranks, said in (
        ((2, 2), (2,), ""),
        ((2, 3), (2,), "one width"),
        ((2,) * (jets.MOST_IN_JETS + 2), (2,) * (jets.MOST_IN_JETS + 1), "layers and"),
        ((60, 60), (60,), "parameters at most"),
    ):
        found = jets._too_many_orders(ag.DeepNetwork(dims, ranks, 2, normalization="softmax"))
        assert said in found and bool(found) is bool(said)
