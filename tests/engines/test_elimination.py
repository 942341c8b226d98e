"""Engines against the native ideal: the same by elimination, and whether the equations found are all."""

from functools import cache
from math import inf
from pathlib import Path
from types import SimpleNamespace

import flint
import pytest
from questions import AFFINE, CUBIC
from transcripts import asking, sealed

from agattn.algebra.polynomial import PolynomialRing
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.documents import check
from agattn.engines import elimination
from agattn.engines.catalogue import engine_named
from agattn.engines.elimination import Completeness, check_generators, eliminate
from agattn.engines.locate import Installation, locate
from agattn.engines.run import run
from agattn.errors import DisagreementError, EngineTimeoutError, InputError, TooLargeError, TranscriptError
from agattn.evidence import Evidence
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.generation import Generated
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.invariants import compare
from agattn.geometry.strata.closures import compute_stratum_ideal
from agattn.geometry.strata.strata import Stratum, strata
from agattn.limits import limited
from agattn.systems.catalogue import build
from agattn.systems.consistency import degree_of_closure, hilbert_bounds


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


def test_the_whole_ideal_of_one_token_is_recognized(macaulay2):
    """The 35 quartics of (3,1,1); M̄ has dimension 7 in 10 coordinates."""
    ideal = compute_ideal(SingleLayer(3, 1, 1, t=1), 4)
    assert ideal.generators_by_degree == {4: 35}
    complete = check_generators(ideal, macaulay2)
    assert (complete.whole, complete.prime, complete.dimension) == (True, True, 7)


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
    with limited(timeout=0.001):  # less than an engine takes to start
        complete = check_generators(compute_ideal(SingleLayer(3, 1, 1), 4), engine_installation)
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
        ((6, 3, 6, None, None), None, "dimension 6 is that of M̄, but"),
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
    known = complete.replace(missing_degree=4, missing_evidence=Evidence.MODULAR)
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
    wrong = known.replace(**figures)
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
    modular = Completeness(6, 21, 6, 20, None, 32003)
    assert (modular.evidence, modular.field) == (Evidence.MODULAR, "ZZ/32003")
    assert modular.summary() == f"{modular.conclusion} (over ZZ/32003)"  # open, so without evidence
    theorem = modular.replace(theorem="by a theorem")
    assert (theorem.whole, theorem.evidence) == (True, Evidence.PROVED)
    assert theorem.conclusion == "complete: by a theorem"
    regular = Completeness(6, 20, 6, 20, None, 32003, regular=True, modulus=32003)
    assert (regular.whole, regular.evidence) == (True, Evidence.PROVED)
    exact = Completeness(6, 20, 6, 20, True, 0)
    assert (exact.evidence, exact.field) == (Evidence.PROVED, "QQ")
    assert str(exact).endswith("(over QQ: proved)")
    for other in (exact, exact.replace(dimension=7), exact.replace(prime=None)):
        assert other.contradiction == ""


def test_msolve_eliminates_without_a_proof_and_decides_no_primality(msolve_installation):
    layer = SingleLayer(2, 1, 1)
    found, ideal = eliminate(layer, 3, msolve_installation), compute_ideal(layer, 3)
    assert [p.hilbert_function for p in found.degrees] == [p.hilbert_function for p in ideal.degrees]
    assert found.generators_by_degree == ideal.generators_by_degree
    assert {piece.evidence for piece in found.degrees} == {Evidence.MODULAR}
    with pytest.raises(InputError, match="cannot decide whether an ideal is prime; complete needs engine"):
        check_generators(ideal, msolve_installation)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(2, 3, 1), (2, 3, 2), (3, 1, 2), (3, 1, 3)], ids=str)
def test_a_regular_element_proves_that_ideals_are_whole(engine_installation, sizes):
    ideal = compute_ideal(SingleLayer(*sizes), 4)
    found = check_generators(ideal, engine_installation)
    assert (found.whole, found.regular, found.prime) == (True, True, None)
    assert found.as_json()["evidence"] == "proved" and "no zero divisor" in found.conclusion
    # Without the quartics the minor is no zero divisor either, but they do not cut M̄ out.
    assert elimination._is_regular(compute_ideal(SingleLayer(*sizes), 3), engine_installation) is None


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


# What is asked, and what follows, with answers that no engine gave ------------------------------------------

NO_ENGINE = Installation(engine_named("singular"), Path("nowhere"), "in no place")
SMALL = SingleLayer(2, 2, 1)  # quadrics and quartics
HILBERT = {f"hilbert-{n}": low for n, (low, _) in hilbert_bounds(SMALL, 8).items()}
RIGHT = {"dimension": 6, "degree": 20, "prime": 1, **HILBERT}


def telling(monkeypatch, figures):
    """Answer questions by these figures, and keep what was asked; a question without one takes too long."""
    asked = []

    def ask(ideal, installation, characteristic, questions, element=None):
        asked.append((ideal.name, characteristic, " ".join(questions)))
        if not set(questions) <= set(figures):
            raise EngineTimeoutError("the time is over")
        return [figures[question] for question in questions]

    monkeypatch.setattr(elimination, "_ask", ask)
    return asked


@pytest.mark.parametrize(
    ("layer", "degree", "known", "hilbert"),
    [
        (SMALL, 4, True, True),
        (SMALL, 4, False, False),
        (SingleLayer(3, 1, 1), 3, True, False),
        (SingleLayer(2, 2, 1, 1), 4, True, False),
    ],
)
def test_hilbert_functions_are_asked_for_where_they_are_known(monkeypatch, layer, degree, known, hilbert):
    """For d = 2 and two tokens, if native bounds meet in all degrees to 8."""
    bounds = hilbert_bounds(layer, 8)
    if not known:
        bounds[7] = bounds[7][0] - 1, bounds[7][1]
    monkeypatch.setattr(
        elimination, "hilbert_bounds", lambda _, last: {n: bounds[n] for n in range(last + 1)}
    )
    dim, of = layer.expected_dimension, degree_of_closure(layer) or 1
    asked = telling(monkeypatch, {"dimension": dim, "degree": of, "prime": 1, **HILBERT})
    found = check_generators(compute_ideal(layer, degree), NO_ENGINE, characteristic=101)
    questions = ["dimension degree", *[" ".join(HILBERT)] * hilbert, "prime"]
    assert asked == [(layer.name, 101, question) for question in questions]
    values = tuple(HILBERT.values()) if hilbert else None
    assert (found.hilbert_function, found.expected_hilbert_function) == (values, values)
    assert (found.whole, found.known_to) == (True, degree)
    assert (found.characteristic, found.missing_degree) == (101, None)


def test_nothing_is_asked_of_the_whole_space(monkeypatch):
    asked = telling(monkeypatch, {})
    found = check_generators(compute_ideal(SingleLayer(1, 2), 1), NO_ENGINE, characteristic=101)
    assert (found.dimension, found.degree, found.expected_dimension, found.expected_degree) == (2, 1, 2, 1)
    assert (found.whole, found.prime, found.characteristic) == (True, True, 101) and not asked


@pytest.mark.parametrize(
    ("given", "dimension", "prime", "words"),
    [
        ({}, None, None, "the engine did not finish within its limits"),
        ({"dimension": 6, "degree": 20}, 6, None, "whether they generate a prime ideal stayed open"),
        ({"dimension": 6, "degree": 20, **HILBERT}, 6, None,
         "Hilbert function up to degree 8 are those of M̄"),
        (RIGHT, 6, True, "they generate a prime ideal of the dimension of M̄"),
    ],
)  # fmt: skip
def test_what_was_answered_in_time_is_kept(monkeypatch, given, dimension, prime, words):
    telling(monkeypatch, given)
    found = check_generators(compute_ideal(SMALL, 4), NO_ENGINE)
    assert (found.dimension, found.prime) == (dimension, prime) and words in found.conclusion
    assert found.whole is prime and found.characteristic == 0


def test_higher_degrees_are_looked_at_where_an_engine_says_that_equations_are_missing(monkeypatch):
    monkeypatch.setattr(elimination, "_AT_ONCE", 0)
    telling(monkeypatch, RIGHT | {"prime": 0})
    found = check_generators(compute_ideal(SMALL, 3), NO_ENGINE)
    assert (found.whole, found.missing_degree, found.missing_evidence) == (False, 4, Evidence.PROVED)
    found = check_generators(compute_ideal(SMALL, 4), NO_ENGINE)
    assert (found.whole, found.missing_degree) == (None, None)


@pytest.mark.parametrize(
    ("sizes", "degrees"),
    [
        ((2, 3, 2), {4, 5, 6}),
        ((3, 1, 2), {4, 5, 6}),
        ((5, 1, 5), {4, 5, 6}),
        ((5, 1, 4), {5, 6}),
        ((6, 1, 5), {6}),
        ((2, 2, 2), set()),  # 12 variables
        ((3, 1, 1), set()),  # one preimage everywhere
        ((1, 13, 1), set()),
        ((3, 2, 2, 1), set()),
    ],
)
def test_the_theorem_on_regular_elements_takes_all_equations_that_cut_out_the_closure(
    monkeypatch, sizes, degrees
):
    layer = SingleLayer(*sizes)
    monkeypatch.setattr(elimination, "_smooth_outside_rank_one", lambda layer: looked.append(layer))
    found = set()
    for degree in range(1, 7):
        looked = []
        ideal = SimpleNamespace(layer=layer, max_degree=degree)
        assert elimination._is_regular(ideal, NO_ENGINE) is None
        found |= {degree} if looked else set()
    assert found == degrees


def test_few_outputs_stand_for_many():
    for d_out, name in ((2, "M(2,2,1)"), (3, "M(2,3,1)"), (4, "M(2,3,1)"), (7, "M(2,3,1)")):
        small = elimination._smallest(compute_ideal(SingleLayer(2, d_out, 1), 2))
        assert (small.name, small.max_degree) == (name, 2)


class Counted:
    """In the place of the ideal of a layer: how many generators it has in a degree, and how that is known."""

    def __init__(self, monkeypatch, **found):
        self.layer, self.complete_by, self.looked = SMALL, None, []
        self.found = {int(degree.strip("n")): piece for degree, piece in found.items()}
        monkeypatch.setattr(elimination, "compute_ideal", self.to)

    def to(self, layer, degree, force):
        assert not force
        self.looked.append((layer, degree))
        number, evidence = self.found[degree]
        if evidence is None:
            raise TooLargeError("too large")
        piece = SimpleNamespace(minimal_generators=number, evidence=evidence)
        return SimpleNamespace(degrees=(None, None, piece))


@pytest.mark.parametrize(
    ("to", "found", "looked", "said"),
    [
        (2, {"n3": (0, Evidence.PROVED), "n4": (0, Evidence.PROVED)}, [3, 4],
         "a theorem; natively no equations of degree 3 or 4 are new"),
        (3, {"n4": (0, Evidence.PROVED)}, [4], "a theorem; natively no equations of degree 4 are new"),
        (4, {}, [], "a theorem"),
        (5, {}, [], "a theorem"),
        (2, {"n3": (0, Evidence.PROVED), "n4": (1, Evidence.PROVED)}, [3, 4], None),
        (2, {"n3": (1, Evidence.PROVED)}, [3], None),
        (2, {"n3": (0, Evidence.MODULAR)}, [3], None),
        (2, {"n3": (0, None)}, [3], None),
    ],
)  # fmt: skip
def test_a_theorem_on_degrees_needs_all_equations_to_its_degree(monkeypatch, to, found, looked, said):
    ideal = Counted(monkeypatch, **found)
    ideal.max_degree = to
    monkeypatch.setattr(elimination, "generated_in", lambda layer: Generated(4, "a theorem"))
    proved = elimination.by_theorem(ideal)
    assert ideal.looked == [(SMALL, degree) for degree in looked]
    assert proved == (said and Completeness(6, 20, 6, 20, None, 0, theorem=said))
    monkeypatch.setattr(elimination, "generated_in", lambda layer: None)
    assert elimination.by_theorem(ideal) is None
    ideal.complete_by = "hypersurface"
    assert "the one equation generates" in elimination.by_theorem(ideal).theorem


def test_nothing_is_asked_where_equations_cut_out_the_closure_and_are_not_all(monkeypatch):
    def never(*given):
        raise AssertionError("an engine is asked")

    monkeypatch.setattr(elimination, "_ask", never)
    found = check_generators(compute_ideal(SingleLayer(3, 2, 2), 4), NO_ENGINE)
    assert (found.whole, found.missing_degree, found.evidence) == (False, 5, Evidence.PROVED)
    assert (found.dimension, found.degree, found.prime) == (13, 2376, None)
    assert found.conclusion == "not complete: natively, equations of degree 5 are missing"
    with pytest.raises(AssertionError, match="an engine is asked"):
        check_generators(compute_ideal(SingleLayer(3, 2, 2), 3), NO_ENGINE)


@pytest.mark.parametrize(
    ("last", "found", "looked", "degree"),
    [
        (inf, {"n4": (1, Evidence.PROVED)}, [4], 4),
        (inf, {"n4": (0, Evidence.PROVED), "n5": (1, Evidence.PROVED)}, [4, 5], 5),
        (inf, {"n4": (0, Evidence.PROVED), "n5": (0, Evidence.PROVED)}, [4, 5], None),
        (inf, {"n4": (0, None)}, [4], None),
        (inf, {"n4": (0, Evidence.PROVED), "n5": (0, None)}, [4, 5], None),
        (4, {"n4": (1, Evidence.PROVED)}, [4], 4),
        (4, {"n4": (0, Evidence.PROVED)}, [4], None),
        (3, {}, [], None),
    ],
)
def test_missing_equations_are_looked_for_in_the_next_two_degrees(monkeypatch, last, found, looked, degree):
    ideal = Counted(monkeypatch, **found)
    ideal.max_degree = 3
    piece = elimination._missing_piece(ideal, last)
    assert [n for _, n in ideal.looked] == looked
    assert (piece and piece.minimal_generators) == (degree and 1)


def eliminated(monkeypatch, architecture, forms, values, **given):
    """The ideal of dimension 5 and degree 4 with these forms in its ring, and this Hilbert function."""
    asked = []

    def answered(problem, installation):
        asked.append((problem.task, problem.characteristic))
        integers = {"dimension": 5, "degree": 4} | {f"value@{n}": x for n, x in enumerate(values, 1)}
        ring = PolynomialRing(problem.results[-1].ring.variables) if problem.results[-1].ring else None
        answer = SimpleNamespace(integers=integers, polynomials={"generators": ring and forms(ring.gens)})
        return SimpleNamespace(answer=answer, evidence=Evidence.MODULAR if "p" in given else Evidence.PROVED)

    monkeypatch.setattr(elimination, "run", answered)
    characteristic = {"characteristic": given["p"]} if given else {}
    found = eliminate(architecture, len(values), NO_ENGINE, **characteristic)
    assert asked == [("implicit-ideal", given.get("p", 0)), ("hilbert-function", given.get("p", 0))]
    assert (found.dimension, found.degree, found.method) == (5, 4, "singular")
    assert [piece.hilbert_function for piece in found.degrees] == values
    return found


def test_what_an_engine_eliminates_is_the_ideal_of_a_layer_or_of_a_model(monkeypatch):
    layer, network = SingleLayer(2, 1), DeepNetwork((2, 1), (2,), t=2)
    values = [6, 21, 56, 125]
    for architecture in (layer, network):
        found = eliminated(monkeypatch, architecture, lambda y: (y[0] ** 4,), values)
        assert found.layer == layer and found.generators_by_degree == {4: 1}
        assert found.given == (None if architecture is layer else network)
        assert {piece.evidence for piece in found.degrees} == {Evidence.PROVED}
    found = eliminated(monkeypatch, CUBIC, lambda y: (y[0] * y[1], y[2] ** 2), [4, 7], p=101)
    assert found.source.architecture is CUBIC and found.generators_by_degree == {2: 2}
    assert found.characteristic == 101
    assert {piece.evidence for piece in found.degrees} == {Evidence.MODULAR}


def test_what_is_not_eliminated(monkeypatch):
    monkeypatch.setattr(elimination, "run", None)
    with pytest.raises(InputError, match=r"is no cone, and has no equations of a degree; use agattn run"):
        eliminate(AFFINE, 2, NO_ENGINE)
    with pytest.raises(TooLargeError, match="the limit is 60"):
        eliminate(SingleLayer(4, 2), 2, NO_ENGINE)


def test_the_element_vanishes_where_both_ranks_are_at_most_one_and_not_on_the_closure():
    for layer in (SingleLayer(2, 3), SingleLayer(3, 1), SingleLayer(3, 2, 1), SingleLayer(4, 1, 2)):
        polynomial = elimination._minor(layer)
        degrees = map(max, zip(*polynomial.terms, strict=True))
        rows = {v.indices[:2] for v, n in zip(polynomial.ring.variables, degrees, strict=True) if n}
        assert rows == {(1, 1), (1, 2) if layer.a > 1 else (2, 1)}
        minor = Equation.from_polynomial(polynomial, type(layer))
        assert not minor.vanishes_on(layer)
        locus = compute_stratum_ideal(layer, Stratum(1, 1, 2), 2).closure
        # Its multiples of weight vectors are all equations of the closure of this weight.
        weight = minor.torus_weight
        assert minor in {equation.primitive() for equation in locus.equations_of_weight(weight)}


def test_gradients_outside_rank_one_decide_whether_the_theorem_applies(singular, monkeypatch):
    layer = SingleLayer(2, 3)
    assert elimination._smooth_outside_rank_one(layer)
    monkeypatch.setattr(elimination, "representative_point", lambda _, stratum: stratum)
    for short in strata(layer):  # the codimension is 9
        monkeypatch.setattr(elimination, "gradient_rank", lambda _, at, p, short=short: 9 - (at == short))
        assert elimination._smooth_outside_rank_one(layer) is (max(short.r_v, short.r_a) <= 1)
    monkeypatch.setattr(elimination, "_ask", None)
    assert elimination._is_regular(compute_ideal(layer, 4), singular) is None


def test_wrong_values_modulo_the_prime_prove_nothing(singular, monkeypatch):
    ideal = compute_ideal(SingleLayer(2, 3), 4)
    told = [1, *map(ideal.hilbert_function, range(1, 5))]
    monkeypatch.setattr(elimination, "_ask", lambda *_: told)
    assert elimination._is_regular(ideal, singular) is True
    told[4] += 1
    assert elimination._is_regular(ideal, singular) is None
    told[4] -= 1
    told[0] = 0
    assert elimination._is_regular(ideal, singular) is False


def test_what_stays_open_for_fewer_outputs_is_asked_for_all(singular, monkeypatch):
    asked, open_ = [], Completeness(None, None, 9, 6, None, 32003)
    monkeypatch.setattr(elimination, "_missing_piece", lambda *_: None)
    whole = check_generators

    def ask(ideal, *_):
        asked.append(ideal.layer.d_out)
        raise EngineTimeoutError("late")

    def of_fewer(ideal, *given, **named):
        return open_ if ideal.layer.d_out == 3 else whole(ideal, *given, **named)

    monkeypatch.setattr(elimination, "_ask", ask)
    monkeypatch.setattr(elimination, "check_generators", of_fewer)
    whole(compute_ideal(SingleLayer(2, 4, 1), 2), singular)
    assert asked and set(asked) == {4}


@pytest.mark.parametrize(
    ("layer", "keys"),
    [
        (SingleLayer(2, 1), {"invariants", "named_families"}),
        (SingleLayer(3, 1, t=1), {"invariants", "lie_flattening"}),
    ],
)
def test_an_ideal_says_what_it_was_asked(layer, keys):
    ideal = compute_ideal(layer, 3)
    every = {"invariants", "named_families", "lie_flattening", "complete"}
    assert every & elimination.examined(ideal, compare(ideal, 3), None).as_json().keys() == keys
    assert every & elimination.examined(ideal, None, None).as_json().keys() == set()


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
    ideal = compute_ideal(SingleLayer(3, 1), 4)
    with limited(native=1):
        assert elimination.by_theorem(ideal) is None


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "degree"), [((3, 2, 2), 5), ((4, 1, 2), 4)])
def test_large_ideals_are_whole_by_regularity(sizes, degree):
    """(3,2,2) takes 2.5 GB in degree 6."""
    found = elimination.by_theorem(compute_ideal(SingleLayer(*sizes), degree))
    assert (found.whole, found.evidence) == (True, Evidence.PROVED)


def test_the_theorem_on_segre_products_has_the_right_degrees():
    """For a = d' = 1 no generators beyond cubics, in all degrees that are reached."""
    for d in (2, 3, 4):
        generators = compute_ideal(SingleLayer(d, 1, 1), 6).generators_by_degree
        assert max(generators) == min(3, d)


def test_an_engine_is_compared_with_every_value_that_is_known(singular, monkeypatch):
    known = []

    def late(problem, *_, **__):
        known.append(problem.data["hilbert_function"])
        raise EngineTimeoutError("late")

    monkeypatch.setattr(elimination, "run", late)
    ideal = compute_ideal(SingleLayer(2, 2, 1), 2)
    complete = check_generators(ideal, singular)
    assert known == [tuple(map(ideal.hilbert_function, range(3)))]
    document = elimination.examined(ideal, None, complete).as_json()
    document["complete"]["more"] = 1  # of a later version
    check("ideal", document)


def test_regular_elements_are_asked_for_modulo_a_prime():
    assert flint.fmpz(elimination.MODULUS).is_prime()
