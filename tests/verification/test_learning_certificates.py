"""Certificates of learning coefficients: checked with integers; none that is damaged states what is false."""

import copy
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from agattn import SingleLayer, checker
from agattn.errors import InputError
from agattn.geometry.learning_coefficients.learning_coefficients import (
    parameters,
    points,
    weights_coefficient,
)
from agattn.verification.certificate import make_learning_certificate
from tests.command_line import call
from tests.faults.certificates import numbers


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 2, 2)])
def test_every_point_is_certified(sizes: tuple[int, int, int], softmax: bool) -> None:
    layer = SingleLayer(*sizes)
    document = json.loads(json.dumps(make_learning_certificate(layer, softmax)))
    result = checker.check(document)
    assert result["valid"] and len(result["claims"]) == len(document["points"])
    found = {(*p.orbit.as_json(), p.rank_k, p.rank_q): p.coefficient.value for p in points(layer, softmax)}
    assert {tuple(record["ranks"][:5]) for record in document["points"]} == set(found)
    for record in document["points"]:
        assert Fraction(*record["lambda"]) == found[tuple(record["ranks"][:5])]


def at_zero(matrix):
    return [[next((term[0] for term in x if len(term) == 1), 0) for x in row] for row in matrix]


@pytest.mark.slow
def test_no_damaged_certificate_states_what_is_false() -> None:
    rng = random.Random(5)
    refused = 0
    for sizes, softmax in (((2, 1, 2), False), ((2, 2, 1), False), ((3, 2, 2), False), ((2, 1, 2), True)):
        document = json.loads(json.dumps(make_learning_certificate(SingleLayer(*sizes), softmax)))
        for _ in range(75):
            damaged = copy.deepcopy(document)
            damaged["points"] = [rng.choice(damaged["points"])]
            places = list(numbers(damaged))
            statements = [
                place
                for place in places
                if place[0] != "points" or place[2] in ("ranks", "lambda", "multiplicity")
            ]
            *way, last = rng.choice(statements if rng.random() < 0.5 else places)
            inside = damaged
            for key in way:
                inside = inside[key]
            inside[last] += rng.choice([-2, -1, 1, 2])
            try:
                result = checker.check(damaged)
            except checker.UnreadableError:
                refused += 1
                continue
            if not result["valid"]:
                refused += 1
                continue
            # What is still valid is true: by the formula at the weights that the file has now.
            (record,) = damaged["points"]
            K, Q, V = (at_zero(record[name]) for name in "KQV")
            truth = weights_coefficient(parameters(K=K, Q=Q, V=V), softmax=softmax)
            assert [*truth.orbit.as_json(), truth.rank_k, truth.rank_q] == record["ranks"][:5]
            assert truth.coefficient.value == Fraction(*record["lambda"])
            assert truth.coefficient.multiplicity == record["multiplicity"]
    assert refused >= 200


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.update(free=[*r["free"], r["T"][0][0]]), "two parts"),
        (lambda r: r.update(multipliers=[]), "f is not M·g"),
        (lambda r: r.update(competitors=[0]), "the competitors are"),
        (lambda r: r.update({"lambda": [5, 2]}), "λ is 9/4"),
        (lambda r: r.update(squares=r["squares"] * 2), "two parts"),
        (lambda r: r.update(V=at_constant(r["V"])), "f is not M·g|leave a direction out"),
    ],
)
def test_flaws_have_names(change, said: str) -> None:
    document = json.loads(json.dumps(make_learning_certificate(SingleLayer(2, 1, 2))))
    document["points"] = [r for r in document["points"] if r["ranks"][:5] == [1, 1, 1, 1, 1]]
    change(document["points"][0])
    result = checker.check(document)
    assert not result["valid"] and any(word in result["flaw"] for word in said.split("|"))


def test_a_generator_that_is_not_in_the_ideal_is_refused() -> None:
    """At A = 0 ≠ V the entries of V are no generators: f = M·g would hold with one of them all the same."""
    document = json.loads(json.dumps(make_learning_certificate(SingleLayer(2, 1, 2))))
    document["points"] = [r for r in document["points"] if r["ranks"][:5] == [1, 0, 1, 2, 0]]
    (record,) = document["points"][:1]
    document["points"] = [record]
    assert checker.check(document)["valid"] and not record["T"]
    unused = next(z for z in range(record["variables"]) if z not in record["free"])
    record["free"].append(unused)
    value = Fraction(*record["lambda"]) + Fraction(1, 2)
    record["lambda"] = [value.numerator, value.denominator]
    assert checker.check(document)["flaw"] == "M(0) has too few independent rows"


def at_constant(matrix):
    return [[[term for term in x if len(term) == 1] for x in row] for row in matrix]


def test_the_command_and_the_checker_alone(tmp_path: Path) -> None:
    file = tmp_path / "lambda.json"
    assert call("rlct", "-d", 2, "-o", 1, "-a", 2, "--certificate", file).status == 0
    shown = call("check", file)
    assert shown.status == 0 and "the learning coefficient is 9/4, of multiplicity 2" in shown.out
    alone = subprocess.run(
        [sys.executable, "-I", "-S", checker.__file__, file], capture_output=True, text=True, check=False
    )
    assert (alone.returncode, alone.stdout) == (0, shown.out)
    assert call("rlct", file, "--certificate", tmp_path / "x.json").status == 2


def test_what_is_not_certified() -> None:
    with pytest.raises(InputError, match="more than 160 coordinates"):
        make_learning_certificate(SingleLayer(6, 2, 2))
    with pytest.raises(InputError, match="t is 1"):
        make_learning_certificate(SingleLayer(2, 1, t=1))
