"""The claim about the Hilbert function for d = 2."""

import pytest

from agattn.architectures import SingleLayer
from agattn.claims import hilbert_function
from agattn.claims.claim import Findings
from agattn.claims.hilbert_function import HILBERT_FUNCTION
from agattn.evidence import Evidence, Status
from agattn.geometry.ideal.ideal import compute_ideal

NOTHING = Findings({}, {})


@pytest.mark.parametrize("layer", [SingleLayer(2, 1), SingleLayer(2, 8, 1)], ids=str)
def test_confirmed_for_two_dimensional_tokens(layer):
    verdict = HILBERT_FUNCTION.verdict(layer, NOTHING)
    assert (verdict.status, verdict.evidence) == (Status.CONFIRMED, Evidence.PROVED)
    assert verdict.computed[4] == compute_ideal(layer, 4).hilbert_function(4)


def test_a_smaller_space_refutes_it_modularly(monkeypatch):
    monkeypatch.setattr(hilbert_function, "double_locus_bound_is_sharp", lambda a, degree: False)
    verdict = HILBERT_FUNCTION.verdict(SingleLayer(2, 1), NOTHING)
    assert (verdict.status, verdict.evidence) == (Status.REFUTED, Evidence.MODULAR)


@pytest.mark.parametrize(
    ("layer", "evidence"), [(SingleLayer(3, 1), Evidence.PROVED), (SingleLayer(2, 1, 1, 1), Evidence.MODULAR)]
)
def test_inapplicable_elsewhere_with_the_values_shown(layer, evidence):
    verdict = HILBERT_FUNCTION.verdict(layer, NOTHING)
    assert (verdict.status, verdict.evidence) == (Status.INAPPLICABLE, evidence)
    assert verdict.computed[1] == layer.ambient_dimension


def test_inapplicable_where_even_the_values_are_too_large():
    verdict = HILBERT_FUNCTION.verdict(SingleLayer(9, 9, t=1), NOTHING)
    assert (verdict.status, verdict.computed) == (Status.INAPPLICABLE, None)
