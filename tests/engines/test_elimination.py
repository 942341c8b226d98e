"""Engines against the native ideal: the same by elimination, and whether the equations found are all."""

from dataclasses import replace
from functools import cache

import pytest
from transcripts import asking, sealed

from agattn.algebra.memory import Memory
from agattn.architectures import SingleLayer
from agattn.engines import elimination
from agattn.engines.catalogue import engine_named
from agattn.engines.elimination import Completeness, check_generators, eliminate
from agattn.engines.locate import locate
from agattn.engines.run import Limits, run
from agattn.errors import DisagreementError, InputError, TranscriptError
from agattn.evidence import Evidence
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.strata.closures import compute_stratum_ideal
from agattn.geometry.strata.strata import Stratum
from agattn.systems.catalogue import build


@pytest.mark.slow
@pytest.mark.parametrize("layer", [SingleLayer(2, 1), SingleLayer(2, 2, 1), SingleLayer(2, 1, 1)], ids=str)
def test_elimination_agrees_with_the_native_ideal(engine_installation, layer):
    found = eliminate(layer, 4, engine_installation, characteristic=32003)
    ideal = compute_ideal(layer, 4)
    assert [p.hilbert_function for p in found.degrees] == [p.hilbert_function for p in ideal.degrees]
    assert found.generators_by_degree == ideal.generators_by_degree


@cache
def checked(installation, degree):
    """What is said of the equations of M(2,2,1) up to a degree; its generators have degrees 2 and 4."""
    return check_generators(compute_ideal(SingleLayer(2, 2, 1), degree), installation)


@pytest.mark.slow
def test_the_whole_ideal_is_recognized(engine_installation):
    complete = checked(engine_installation, 4)
    assert complete.prime is True
    assert complete.whole is True and complete.conclusion.startswith("complete: they generate a prime")


@pytest.mark.slow
def test_the_hilbert_function_tells_missing_generators(engine_installation):
    whole = checked(engine_installation, 4)
    assert whole.hilbert_function == whole.expected_hilbert_function
    assert whole.hilbert_function[:3] == (1, 12, 63)  # C(13, 2) - 15 quadrics
    part = checked(engine_installation, 2)  # without the quartics
    assert part.hilbert_function[:4] == whole.hilbert_function[:4]
    assert part.hilbert_function[4] == whole.hilbert_function[4] + 5
    assert (whole.whole, part.whole) == (True, False)


@pytest.mark.slow
def test_missing_equations_are_recognized(engine_installation):
    complete = checked(engine_installation, 1)
    assert complete.whole is False and complete.conclusion.startswith("not complete: they cut out a variety")


@pytest.mark.slow
def test_out_of_time_is_undecided(engine_installation):
    complete = check_generators(
        compute_ideal(SingleLayer(3, 2, 1), 4), engine_installation, limits=Limits(timeout=0.05)
    )
    assert complete.whole is None and complete.conclusion.startswith("not known to be complete: the engine")


MISSING = "natively, equations of degree 4 are missing"


@pytest.mark.parametrize(
    ("found", "whole", "reason"),
    [
        ((7, 20, 6, 20, None), False, "a variety of dimension 7, and M̄ has dimension 6"),
        ((6, 20, 6, 20, True), True, "they generate a prime ideal of the dimension of M̄, 6: all of I(M̄)"),
        ((6, 20, 6, 20, False), False, "an ideal that is not prime"),
        ((6, 21, 6, 20, None), False, "a variety of degree 21, and M̄ has degree 20"),
        ((6, 20, 6, 20, None), None, "dimension 6, degree 20 are those of M̄, but"),
        ((6, 3, 6, None, None), None, "dimension 6 are those of M̄, but"),
        ((6, 20, 6, 20, None, 0, (1, 12), (1, 12)), None, "Hilbert function up to degree 1 are those"),
        ((6, 20, 6, 20, None, 0, (1, 12, 63), (1, 12, 61)), False, "equations of degree 2 are missing"),
        ((None, None, 6, 20, None), None, "did not finish"),
    ],
)  # fmt: skip
def test_conclusions(found, whole, reason):
    complete = Completeness(*found) if len(found) > 5 else Completeness(*found, 0)
    assert complete.whole is (None if whole is False else whole) and reason in complete.conclusion
    assert ("one engine alone refutes nothing" in complete.conclusion) is (whole is False)
    assert complete.as_json()["whole"] is complete.whole
    known = replace(complete, missing_degree=4, missing_evidence=Evidence.MODULAR)
    if whole is True:
        assert known.whole is None and known.contradiction.endswith(MISSING)
        return
    assert known.whole is known.as_json()["whole"] is False and MISSING in known.conclusion
    assert (reason in known.conclusion) is (whole is False)
    assert known.as_json()["evidence"] == "modular" and complete.as_json()["evidence"] == "proved"


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"degree": 32}, "degree 32, and M̄ has degree 20"),
        ({"degree": 19, "prime": False}, "degree 19, and M̄ has degree 20"),
        ({"hilbert_function": (1, 12, 73, 304, 985)}, "equations of degree 4 are missing"),
        ({"missing_degree": 4}, MISSING),
    ],
)
def test_an_engine_is_not_believed_against_what_is_known_natively(figures, told):
    known = Completeness(7, 20, 7, 20, True, 0, None, (1, 12, 73, 304, 975))
    assert known.whole is True and not known.contradiction
    wrong = replace(known, **figures)
    assert told in wrong.contradiction and wrong.whole is None and told in wrong.conclusion


def test_a_lie_about_primality_is_a_disagreement(singular, monkeypatch):
    ideal = compute_ideal(SingleLayer(2, 2), 3)  # there are quartics besides
    honest = check_generators(ideal, singular)
    assert honest.whole is False and honest.degree == 32 and honest.hilbert_function[4] == 985
    liar = asking("isPrime(I)", "1")
    monkeypatch.setattr(elimination, "run", liar)
    with pytest.raises(
        DisagreementError, match=r"prime ideal .* natively, equations of degree 4 are missing"
    ):
        check_generators(ideal, singular)
    monkeypatch.setattr(elimination, "_missing_piece", lambda *_: None)
    with pytest.raises(DisagreementError, match=r"prime ideal .* degree 32, and M̄ has degree 20"):
        check_generators(ideal, singular)
    assert liar.changed == 2


def test_the_degree_of_a_whole_ideal_is_known_natively(singular, fakes):
    layer = SingleLayer(2, 1)
    said = {}
    for name, given in (("implicit-ideal", {}), ("hilbert-function", {"max_degree": 1})):
        said[name] = run(build(name, layer, **given), singular).transcript
    lie = {name: sealed(text.replace("integer degree 4", "integer degree 5")) for name, text in said.items()}
    fakes.write_python("Singular", f"print(next(text for name, text in {lie!r}.items() if name in script))")
    with pytest.raises(TranscriptError, match="the degree is 5; it must be 4"):
        eliminate(layer, 1, locate(engine_named("singular")))


@pytest.mark.parametrize(
    ("sizes", "degree", "missing"),
    [((2, 1, 1), 2, None), ((2, 2, 1), 3, 4), ((2, 2, 1), 2, 4), ((2, 2, 1), 1, 2)],
)
def test_an_engine_alone_never_says_that_equations_are_missing(singular, monkeypatch, sizes, degree, missing):
    # An engine that finds every ideal to be not prime, also that of M(2,1,1), which quadrics generate,
    # and of M(2,2,1), whose generators have degrees 2 and 4.
    liar = asking("isPrime(I)", "0")
    monkeypatch.setattr(elimination, "run", liar)
    found = check_generators(compute_ideal(SingleLayer(*sizes), degree), singular)
    assert liar.changed
    assert found._by_engine[0] is False and found.missing_degree == missing
    assert found.whole is (None if missing is None else False)


def test_evidence_of_completeness():
    assert Completeness(6, 21, 6, 20, None, 32003).as_json()["evidence"] == "modular"


def test_msolve_eliminates_without_a_proof_and_decides_no_primality(msolve_installation):
    layer = SingleLayer(2, 1, 1)
    found, ideal = eliminate(layer, 3, msolve_installation), compute_ideal(layer, 3)
    assert [p.hilbert_function for p in found.degrees] == [p.hilbert_function for p in ideal.degrees]
    assert found.generators_by_degree == ideal.generators_by_degree
    assert {piece.evidence for piece in found.degrees} == {Evidence.MODULAR}
    with pytest.raises(
        InputError, match="cannot decide whether an ideal is prime; --complete needs --engine"
    ):
        check_generators(ideal, msolve_installation)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(2, 3, 1), (2, 3, 2), (3, 1, 2), (3, 1, 3)], ids=str)
def test_a_regular_element_proves_that_ideals_are_whole(engine_installation, sizes):
    ideal = compute_ideal(SingleLayer(*sizes), 4)
    found = check_generators(ideal, engine_installation)
    assert (found.whole, found.regular, found.prime) == (True, True, None)
    assert found.as_json()["evidence"] == "proved" and "no zero divisor" in found.conclusion
    # Without the quartics the minor is no zero divisor either, but they do not cut M̄ out.
    assert (
        elimination._is_regular(compute_ideal(SingleLayer(*sizes), 3), engine_installation, Limits()) is None
    )


def test_many_outputs_are_decided_with_few(singular, monkeypatch):
    asked = []
    monkeypatch.setattr(elimination, "_is_regular", lambda ideal, *_: asked.append(ideal.name) or True)
    found = check_generators(compute_ideal(SingleLayer(2, 6, 1), 4), singular)
    assert asked == ["M(2,3,1)"] and found.asked_of == "M(2,3,1)"
    assert found.conclusion.endswith("shown for M(2,3,1), which has the same modules")
    assert (found.dimension, found.whole) == (SingleLayer(2, 6, 1).expected_dimension, True)
    found = check_generators(compute_ideal(SingleLayer(2, 3, 1), 4), singular)
    assert asked[1:] == ["M(2,3,1)"] and found.asked_of is None and "shown for" not in found.conclusion


def test_with_one_token_many_outputs_are_decided_with_few(singular):
    layer = SingleLayer(2, 6, 1, t=1)
    found = check_generators(compute_ideal(layer, 4), singular)
    assert (found.whole, found.prime, found.asked_of) == (True, True, "M(2,3,1)")
    assert found.conclusion.endswith("shown for M(2,3,1), which has the same modules")
    assert found.dimension == layer.expected_dimension == 14
    # Without the quartics nothing is whole, and natively the quartics are missing.
    found = check_generators(compute_ideal(layer, 3), singular)
    assert (found.whole, found.missing_degree, found.asked_of) == (False, 4, None)


def test_the_element_vanishes_where_both_ranks_are_at_most_one_and_not_on_the_closure():
    for layer in (SingleLayer(2, 3), SingleLayer(3, 1), SingleLayer(3, 2, 1), SingleLayer(4, 1, 2)):
        minor = Equation.from_polynomial(elimination._minor(layer), type(layer))
        assert not minor.vanishes_on(layer)
        locus = compute_stratum_ideal(layer, Stratum(1, 1, 2), 2).closure
        # Its multiples of weight vectors are all equations of the closure of this weight.
        weight = minor.torus_weight
        assert minor in {equation.primitive() for equation in locus.equations_of_weight(weight)}


def test_gradients_outside_rank_one_decide_whether_the_theorem_applies(singular, monkeypatch):
    layer = SingleLayer(2, 3)
    assert elimination._smooth_outside_rank_one(layer)
    monkeypatch.setattr(elimination, "gradient_rank", lambda *_: 8)  # the codimension is 9
    assert not elimination._smooth_outside_rank_one(layer)
    monkeypatch.setattr(elimination, "_ask", None)
    assert elimination._is_regular(compute_ideal(layer, 4), singular, Limits()) is None


def test_wrong_values_modulo_the_prime_prove_nothing(singular, monkeypatch):
    ideal = compute_ideal(SingleLayer(2, 3), 4)
    told = [1, *map(ideal.hilbert_function, range(1, 5))]
    monkeypatch.setattr(elimination, "_ask", lambda *_: told)
    assert elimination._is_regular(ideal, singular, Limits()) is True
    told[4] += 1
    assert elimination._is_regular(ideal, singular, Limits()) is None
    told[4] -= 1
    told[0] = 0
    assert elimination._is_regular(ideal, singular, Limits()) is False


@pytest.mark.parametrize(
    ("sizes", "degree", "whole"),
    [((2, 1, 2), 4, True), ((2, 1, 2), 3, False), ((1, 3, 1), 1, True), ((2, 1, 1), 2, True),
     ((3, 1, 1), 2, False), ((5, 1, 1), 3, True), ((2, 1, 2, 1), 2, True), ((3, 1, 1, 1), 4, False),
     ((2, 2, 2), 4, True), ((2, 2, 2), 3, False), ((2, 5, 1), 4, True), ((3, 1, 2), 4, True),
     ((3, 1, 3), 3, False), ((3, 2, 1), 4, True), ((3, 2, 2), 4, False), ((4, 2, 2), 2, False)],
)  # fmt: skip
def test_what_theorems_prove_without_an_engine(sizes, degree, whole):
    found = elimination.by_theorem(compute_ideal(SingleLayer(*sizes), degree))
    assert (found is not None) is whole
    assert found is None or (found.whole, found.evidence) == (True, Evidence.PROVED)


def test_equations_up_to_the_degree_of_the_theorem_are_looked_at():
    """Those of M(3,1,3) to degree 4 are all, as none of degree 5 or 6 are new, which is computed."""
    found = elimination.by_theorem(compute_ideal(SingleLayer(3, 1), 4))
    assert "M̄(3,1,3) is generated in degree at most 6" in found.theorem
    assert found.theorem.endswith("natively no equations of degree 5 or 6 are new")
    found = elimination.by_theorem(compute_ideal(SingleLayer(3, 1, 2), 6))
    assert "the minors of size 3 of the flattening with rows b" in found.theorem
    assert "natively" not in found.theorem and found.conclusion.startswith("complete: the ideal of M̄(3,1,3)")
    tight = Memory(2**20)
    assert elimination.by_theorem(compute_ideal(SingleLayer(3, 1), 4), tight) is None


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "degree"), [((3, 2, 2), 5), ((4, 1, 2), 4), ((4, 1, 4), 4)])
def test_large_ideals_are_whole_by_regularity(sizes, degree):
    """(3,2,2) takes 2.5 GB in degree 6."""
    found = elimination.by_theorem(compute_ideal(SingleLayer(*sizes), degree))
    assert (found.whole, found.evidence) == (True, Evidence.PROVED)


def test_the_theorem_on_segre_products_has_the_right_degrees():
    """For a = d' = 1 no generators beyond cubics, in all degrees that are reached."""
    for d in (2, 3, 4):
        generators = compute_ideal(SingleLayer(d, 1, 1), 6).generators_by_degree
        assert max(generators) == min(3, d)
