"""What is known of an answer before an engine is asked, and which tasks are asked natively or not at all."""

import re

import pytest
from command_line import ROOT

from agattn import DeepNetwork, PolynomialMap, SingleLayer
from agattn.errors import EngineError
from agattn.systems.catalogue import TASKS, build
from agattn.systems.consistency import native_facts
from agattn.systems.ideal_tasks import COMPLETE_IDEAL
from agattn.systems.problem import Answer, Printed, Problem

TEXT = (ROOT / "tests" / "systems" / "facts.txt").read_text(encoding="utf-8").partition("\n\n")[2]
FACTS = dict(re.findall(r"(?m)^(\S.*?): (.*(?:\n .*)*)", TEXT))
SUBJECTS = {
    "layer": SingleLayer(2, 1),
    "network": DeepNetwork((2, 2, 2), (2, 2)),
    "map": PolynomialMap(lambda s: [s[0] ** 2, s[0] * s[1], s[1] ** 2], {"s": 2}),
}


@pytest.mark.parametrize("question", FACTS)
def test_the_integers_of_an_answer_are_known_up_to_bounds(question):
    about, name, field = question.split()
    facts = native_facts(build(name, SUBJECTS[about], characteristic=int(field)))
    shown = [f"{key} {low}" + f" to {high}" * (low != high) for key, (low, high, _) in facts.items()]
    assert "; ".join(shown) == " ".join(FACTS[question].split())


@pytest.mark.parametrize(
    ("p", "bounds"), [(0, [(125, 125), (246, 252)]), (101, [(125, 126), (1, 252)])], ids=["0", "101"]
)
def test_equations_up_to_a_degree_have_the_hilbert_function_up_to_there(p, bounds):
    results = (Printed("hilbert-4", ""), Printed("hilbert-5", ""))
    data = {"max_degree": 4, "hilbert_function": (1, 6, 21, 56, 125)}
    facts = native_facts(Problem(COMPLETE_IDEAL, SingleLayer(2, 1), results, data=data, characteristic=p))
    assert [facts[result.name][:2] for result in results] == bounds


def test_resultants_are_as_many_as_the_dimensions_of_their_modules():
    data = build("named-equations", SingleLayer(2, 3)).data
    assert (data["rows"], data["columns"]) == (15, 30)  # S⁴ ⊗ S^(2,2) ⊗ S^(4,4), for d' = 3 and d = 2


ORBITS = ["rank-one-locus", "critical-locus", "base-locus", "fiber", "strata-tangents", "rlct-normal-form"]


@pytest.mark.parametrize(
    ("sizes", "t", "refused"),
    [
        ((2, 1, 2), 2, {}),
        ((1, 1, 1), 2, {"rank-one-locus": "for d = 1"}),
        ((3, 2, 2), 2, {"implicit-ideal": "36 coordinates", "critical-equations": "36 coordinates"}),
        ((2, 1, 2), 1, dict.fromkeys(ORBITS, "at t = 1 a function depends on V and A + Aᵀ alone")),
        ((4, 2, 4), 2, {"implicit-ideal": "80 coordinates", "critical-equations": "80 coordinates",
                        "rank-one-locus": "its 21760 minors", "critical-points": "23 variables"}),
    ],
)  # fmt: skip
def test_engines_are_not_asked_what_would_not_end(sizes, t, refused):
    layer = SingleLayer(*sizes, t=t)
    reasons = {name: task.infeasible(layer) for name, task in TASKS.items() if task.about is SingleLayer}
    assert {name for name, reason in reasons.items() if reason} == set(refused)
    assert all(words in reasons[name] for name, words in refused.items())


@pytest.mark.parametrize(("sizes", "dimension", "degree"), [((2, 1, 2), 4, 3), ((2, 2, 1), 5, 12)])
def test_loci_are_known_natively(sizes, dimension, degree):
    layer = SingleLayer(*sizes)
    assert TASKS["rank-one-locus"].native(layer) == (dimension, degree)
    assert TASKS["base-locus"].native(layer) == {"A = 0", "V = 0"}
    critical = TASKS["critical-locus"].native(layer)
    assert {(s.r_v, s.r_a, s.r) for s, answer in critical.items() if answer} == {(0, 0, 0), (1, 1, 1)}


def test_a_kernel_that_meets_the_cone_in_lines_is_no_answer():
    problem = build("critical-locus", SingleLayer(2, 1))
    integers = {name: int(fact.low) for name, fact in native_facts(problem).items()}
    answer = Answer(problem, integers, {})
    critical = {str(s) for s, is_critical in TASKS["critical-locus"].read(answer).items() if is_critical}
    assert critical == {"(0,0,0)", "(1,1,1)"}
    wrong = Answer(problem, integers | {"cone-dimension@1,1,1": 1}, {})
    with pytest.raises(EngineError, match=r"at \(1,1,1\) the kernel meets the tangent cone in lines"):
        TASKS["critical-locus"].read(wrong)
