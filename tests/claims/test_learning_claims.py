"""The claims on learning coefficients: confirmed by normal forms, and refuted by another formula."""

from fractions import Fraction

import pytest

from agattn import SingleLayer
from agattn.claims import learning_coefficients as module
from agattn.claims.claim import Finding, Findings
from agattn.claims.learning_coefficients import CLAIMS, NORMAL_FORMS
from agattn.evidence import Evidence, Status
from agattn.geometry.learning_coefficients.learning_coefficients import points
from agattn.geometry.learning_coefficients.normal_form import NormalForm, joint_ranks, normal_form
from agattn.geometry.strata.strata import Stratum, representative
from agattn.verification.verify import verify


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 2), (2, 1, 4)])
@pytest.mark.parametrize("softmax", [False, True])
def test_normal_forms_are_proved_and_have_the_values_of_the_formula(
    sizes: tuple[int, int, int], softmax: bool
) -> None:
    layer = SingleLayer(*sizes)
    orbits = 0
    for point in points(layer, softmax):
        (stratum, rank_k, rank_q), coefficient = point.ranks, point.coefficient
        for rank_vk in joint_ranks(layer, stratum, rank_k):
            form = normal_form(layer, stratum, rank_k, rank_q, rank_vk, softmax=softmax)
            assert not form.flaw()
            assert form.coefficient() == (coefficient.value, coefficient.multiplicity)
            orbits += 1
    assert sizes != (3, 2, 2) or orbits == 46


def changed(form: NormalForm, **parts: object) -> NormalForm:
    return NormalForm(**{name: getattr(form, name) for name in form.__dataclass_fields__} | parts)


def test_normal_forms_that_prove_nothing() -> None:
    form = normal_form(SingleLayer(3, 2, 2), Stratum(1, 1, 1), 1, 1)
    unused = next(i for i in range(len(form.variables)) if i not in form.free)
    assert "not in the ideal of the generators" in changed(form, free=form.free[1:]).flaw()
    assert "not in the ideal of the functions" in changed(form, free=(*form.free, unused)).flaw()
    assert "not in the ideal of the generators" in changed(form, squares=()).flaw()
    assert changed(form, free=(*form.free, form.T[0][0])).flaw()
    # Without squares, from the entries of A and V alone.
    form = normal_form(SingleLayer(3, 2, 2), Stratum(2, 1, 2), 1, 1)
    unused = next(i for i in range(len(form.variables)) if i not in form.free and i not in form.T[0])
    assert "not in the ideal of the generators" in changed(form, free=form.free[1:]).flaw()
    assert "not in the ideal of the functions" in changed(form, free=(*form.free, unused)).flaw()
    form = normal_form(SingleLayer(2, 1, 2), Stratum(1, 0, 1), 0, 0)
    assert not form.flaw()
    assert "the ranks of" in changed(form, expected=(1, 1, 1, 0, 0, 1)).flaw()
    fixed = representative(form.layer, Stratum(1, 0, 1))[1]
    V = [[{(): int(x)} if x else {} for x in row] for row in fixed]
    assert "do not span all directions" in changed(form, weights=(*form.weights[:2], V)).flaw()


def test_both_claims_are_confirmed() -> None:
    for sizes, scoped in (((3, 2, 2), False), ((4, 2, 2), True)):
        report = verify(SingleLayer(*sizes), [claim.id for claim in CLAIMS], "native")
        for verdict in report.verdicts:
            assert verdict.status is Status.CONFIRMED and verdict.evidence is Evidence.PROVED
            # Printed as "checked ...".
            assert verdict.scope == ("at the weights of least λ of each stratum" if scoped else "")
    boundary = next(x for x in report.verdicts[0].computed if x.stratum == Stratum(1, 1, 1))
    assert (boundary.value, boundary.multiplicity) == (Fraction(31, 4), 2)


def test_another_formula_is_refuted() -> None:
    layer, (claim, _) = SingleLayer(2, 1, 2), CLAIMS
    found = list(module._by_normal_form(layer, False))
    place = next(i for i, x in enumerate(found) if x.stratum == Stratum(1, 1, 1))
    found[place] = found[place]._replace(value=Fraction(5, 2))
    findings = Findings(
        {NORMAL_FORMS: Finding(tuple(found), Evidence.PROVED, ("native",), NORMAL_FORMS.sources(), 0.0)}, {}
    )
    verdict = claim.verdict(layer, findings)
    assert verdict.status is Status.REFUTED and verdict.fails_at == (Stratum(1, 1, 1),)


def test_one_token_is_outside_the_hypotheses() -> None:
    (verdict,) = verify(SingleLayer(2, 1, t=1), [CLAIMS[0].id], "native").verdicts
    assert verdict.status is Status.INAPPLICABLE
