"""Claims about groups, latents and states: confirmed, inapplicable with the hypothesis, or refuted."""

import numpy as np
import pytest

import agattn as ag
from agattn.claims import claims_about
from agattn.claims import models as claims
from agattn.errors import UndecidedError
from agattn.evidence import Evidence, Status
from agattn.geometry.dimension.theorems import theorem

GROUP = ag.Attention(3, 2, heads=3, kv_heads=1, value_rank=2)
LATENT = ag.Attention(3, 2, heads=2, value_rank=1, kv_latent=4, q_latent=4)


@pytest.mark.parametrize(
    ("layer", "d", "t", "claim", "value"),
    [
        (GROUP, 5, 2, "agattn.grouped-dimension", 51),
        (LATENT, 7, 2, "agattn.latent-dimension", 58),
        (ag.Recurrence(2, 2, "delta"), 4, 3, "agattn.recurrent-dimension", 22),
    ],
)
def test_confirmed_with_both_bounds(layer, d, t, claim, value):
    network = ag.Network([layer], d, t)
    assert [one.id for one in claims_about(network)][-1] == claim
    verdict = ag.verify(network, claim, engine="native")[claim]
    assert (verdict.status, verdict.evidence) == (Status.CONFIRMED, Evidence.PROVED)
    assert verdict.predicted == verdict.computed == value
    assert f"a Jacobian has rank {value}; at most {value}" in verdict.witness


@pytest.mark.parametrize(
    ("layer", "d", "t", "claim", "assumed"),
    [
        (GROUP, 3, 2, "agattn.grouped-dimension", "g(a + b) ≤ d"),
        (GROUP, 5, 1, "agattn.grouped-dimension", "t ≥ 2"),
        (ag.Attention(1, 1, heads=4, value_rank=1, kv_latent=2), 2, 2, "agattn.latent-dimension", "supports"),
        (ag.Recurrence(1, 2, "diagonal-gate"), 2, 2, "agattn.recurrent-dimension", "not a = d = 2 at t = 2"),
        (ag.Recurrence(1, 1, "delta"), 2, 1, "agattn.recurrent-dimension", "t ≥ 2"),
        (ag.Linear(2), 2, 2, "agattn.recurrent-dimension", "t ≥ 2"),
    ],
)
def test_inapplicable_with_the_hypothesis_that_fails(layer, d, t, claim, assumed):
    verdict = ag.verify(ag.Network([layer], d, t), claim, engine="native")[claim]
    assert verdict.status is Status.INAPPLICABLE
    assert assumed in verdict.witness


def test_a_wrong_formula_is_refuted(monkeypatch):
    wrong = theorem("agattn.grouped-dimension", 99, ("one layer",))
    monkeypatch.setattr(claims, "by_layer", lambda architecture: wrong)
    verdict = ag.verify(ag.Network([GROUP], 5, 2), "agattn.grouped-dimension", engine="native")
    assert verdict["agattn.grouped-dimension"].status is Status.REFUTED


def test_other_models_are_not_asked_about():
    spoken_of = [claim.id for claim in claims_about(ag.Network([ag.Linear(2)], 2))]
    assert spoken_of == ["agattn.model-dimension", "agattn.model-symmetries"]


def test_sizes_that_no_head_uses_are_named():
    layer = ag.Attention(3, 2, heads=2, value_rank=1, kv_latent=9, q_latent=9)
    claim = "agattn.latent-dimension"
    verdict = ag.verify(ag.Network([layer], 8, 2), claim, engine="native")[claim]
    assert verdict.status is Status.CONFIRMED
    assert "kv_latent 6 in place of 9, q_latent 4 in place of 9" in verdict.witness


def test_no_weights_have_a_larger_rank_than_the_dimension():
    network = ag.Network([ag.Attention(1, 1)], 2, 2)
    dimension = ag.dimension(network).dimension
    weights, inputs, space = claims._general(network, dimension, np.random.default_rng(0))
    assert space.rank == dimension and len(inputs) > 0 and set(weights) == set(network.shapes)
    with pytest.raises(
        UndecidedError, match=f"no weights were found at which a Jacobian has rank {dimension + 1}"
    ):
        claims._general(network, dimension + 1, np.random.default_rng(0))
