"""Certificates of learning coefficients: checked with integers; none that is damaged states what is false."""

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
from tests.faults.certificates import is_valid, moved, numbers, why_not


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 2, 2)])
def test_every_point_is_certified(sizes: tuple[int, int, int], softmax: bool) -> None:
    layer = SingleLayer(*sizes)
    document = json.loads(json.dumps(make_learning_certificate(layer, softmax)))
    result = checker.check(document)
    assert result["valid"] and len(result["claims"]) == len(document["claims"])
    found = {(*p.stratum.as_json(), p.rank_k, p.rank_q): p.coefficient.value for p in points(layer, softmax)}
    assert {tuple(record["ranks"][:5]) for record in document["claims"]} == set(found)
    for record in document["claims"]:
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
            damaged = {**document, "claims": [rng.choice(document["claims"])]}
            places = list(numbers(damaged))
            statements = [
                place
                for place in places
                if place[0] != "claims" or place[2] in ("ranks", "lambda", "multiplicity")
            ]
            place = rng.choice(statements if rng.random() < 0.5 else places)
            damaged = moved(damaged, place, rng.choice([-2, -1, 1, 2]))
            if not is_valid(damaged):
                refused += 1
                continue
            # What is still valid is true: by the formula at the weights that the file has now.
            (record,) = damaged["claims"]
            K, Q, V = (at_zero(record[name]) for name in "KQV")
            truth = weights_coefficient(parameters(K=K, Q=Q, V=V), softmax=softmax)
            assert [*truth.stratum.as_json(), truth.rank_k, truth.rank_q] == record["ranks"][:5]
            assert truth.coefficient.value == Fraction(*record["lambda"])
            assert truth.coefficient.multiplicity == record["multiplicity"]
    assert refused >= 200


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.update(free=[*r["free"], r["T"][0][0]]), "two parts"),
        (lambda r: r.update(multipliers=[]), "f is not M·g"),
        (lambda r: r.update({"lambda": [5, 2]}), "λ is 9/4"),
        (lambda r: r.update(squares=r["squares"] * 2), "two parts"),
        (lambda r: r.update(V=at_constant(r["V"])), "f is not M·g|leave a direction out"),
    ],
)
def test_flaws_have_names(change, said: str) -> None:
    document = json.loads(json.dumps(make_learning_certificate(SingleLayer(2, 1, 2))))
    document["claims"] = [r for r in document["claims"] if r["ranks"][:5] == [1, 1, 1, 1, 1]]
    change(document["claims"][0])
    result = checker.check(document)
    assert not result["valid"] and any(word in result["flaw"] for word in said.split("|"))


def test_a_generator_that_is_not_in_the_ideal_is_refused() -> None:
    """At A = 0 ≠ V the entries of V are no generators: f = M·g would hold with one of them all the same."""
    document = json.loads(json.dumps(make_learning_certificate(SingleLayer(2, 1, 2))))
    document["claims"] = [r for r in document["claims"] if r["ranks"][:5] == [1, 0, 1, 2, 0]]
    (record,) = document["claims"][:1]
    document["claims"] = [record]
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
    assert call("certificate 2 1 --claim agattn.learning-coefficient -O", file).status == 0
    shown = call("check", file)
    assert shown.status == 0 and "the learning coefficient is 9/4, of multiplicity 2" in shown.out
    alone = subprocess.run(
        [sys.executable, "-I", "-S", checker.__file__, file], capture_output=True, text=True, check=False
    )
    assert (alone.returncode, alone.stdout) == (0, shown.out)


def test_what_is_not_certified() -> None:
    with pytest.raises(InputError, match="more than 160 coordinates"):
        make_learning_certificate(SingleLayer(6, 2, 2))
    with pytest.raises(InputError, match="t is 1"):
        make_learning_certificate(SingleLayer(2, 1, t=1))


# One point alone: d = d' = a = 1, where polynomials can be written down ------------------------------------


def sized(d, o, a, *, softmax=False):
    """Points of a head with these sizes."""
    return checker.Points({"d": d, "d_out": o, "a": a, "head": "softmax" if softmax else "lightning"})


def germ(K, Q, V, multipliers, free=(0,), *, softmax=False, **changes):
    """What is wrong with a point of a layer of one row, whose K, Q, V are polynomials of the coordinates."""
    at = [any(len(term) == 1 for term in x) for x in (K, Q, V)]
    k, q, v = map(int, at)
    record = {
        "ranks": [v, k & q, max(v, k & q), k, q, max(v, k)], "variables": len(free), "free": [*free],
        "K": [[K]], "Q": [[Q]], "V": [[V]], "T": [], "N": [], "squares": [], "multipliers": multipliers,
        "lambda": [1, 2], "multiplicity": 1,
    }  # fmt: skip
    try:
        sized(1, 1, 1, softmax=softmax).prove(record | changes)
    except checker.Flaw as flaw:
        return str(flaw)
    return ""


ONE, PLUS, MINUS = [[1]], [[1], [1, 0]], [[1], [-1, 0]]  #: 1, 1 + z, 1 − z


def test_coordinates_and_motions_must_move_the_weights_in_all_directions() -> None:
    """KQV is 1 + z at most in first order: wrong signs of motions would leave a direction out at one."""
    for K, Q, V, f in (
        (ONE, PLUS, ONE, [[1]]),
        (PLUS, PLUS, ONE, [[2], [1, 0]]),
        (PLUS, ONE, PLUS, [[2], [1, 0]]),
        (PLUS, PLUS, MINUS, [[1], [-1, 0], [-1, 0, 0]]),
    ):
        assert germ(K, Q, V, [[0, 0, f]]) == ""
    words = "the coordinates and the motions leave a direction out"
    # A softmax head has no scaling: another coordinate is needed, and λ is 1, not 1/2.
    assert germ(ONE, PLUS, ONE, [[0, 0, [[1]]]], softmax=True) == words
    both = [[0, 0, [[1]]], [1, 1, [[1]]]]
    other = [[1], [1, 1]]
    assert germ(ONE, PLUS, other, both, (0, 1), softmax=True) == "λ is 1/1"
    assert germ(ONE, PLUS, other, both, (0, 1), softmax=True, **{"lambda": [1, 1]}) == ""
    assert germ(ONE, ONE, ONE, [], ()) == words  # λ would be 0
    assert germ([[1, 0]], ONE, ONE, [[0, 0, [[1]]]]) == ""
    assert germ(ONE, ONE, [], [], ()) == words


def test_the_ideals_of_a_and_of_v_are_taken_apart() -> None:
    """If V is z_0 + z_1 and A is z_0, no coordinates belong to V alone: λ would be 0."""
    z, w, words = [[1, 0]], [[1, 1]], "A and V are not apart"
    apart = [[0, 0, [[1]]], [1, 1, [[1]]]]
    assert germ(ONE, z, w, apart, (0, 1), multiplicity=2) == ""
    joined = [[0, 0, [[1]]], [1, 0, [[1]]], [1, 1, [[1]]]]
    assert germ(ONE, z, [[1, 0], [1, 1]], joined, (0, 1), **{"lambda": [0, 1]}) == words
    # z_1 is also (1 − z_0) z_1 + z_1 z_0: true, but M has no two parts.
    mixed = [[0, 0, [[1]]], [1, 0, [[1, 1]]], [1, 1, [[1], [-1, 0]]]]
    assert germ(ONE, z, w, mixed, (0, 1), multiplicity=2) == words


def test_lambda_is_written_as_a_fraction_or_a_number() -> None:
    for softmax, said in ((False, ["1/2"] * 8), (True, ["1/2"] * 4 + ["1"] * 4)):
        result = checker.check(make_learning_certificate(SingleLayer(1, 1, 1), softmax))
        reasons = [claim["reason"] for claim in result["claims"]]
        assert [reason.split(", of")[0].rpartition(" ")[2] for reason in reasons] == said


def test_products_have_a_competitor_for_each_rank() -> None:
    """(h − s)(n − s) + ps for 0 ≤ s ≤ min(h, n); at s = 2 it would be 1 again for p = h = 1, n = 3."""
    assert checker.competitors(1, 1, 3) == [3, 1] and checker.competitors(0, 0, 0) == [0]
    assert checker.competitors(3, 2, 2) == [4, 4, 6] and checker.competitors(1, 3, 1) == [3, 1]


def test_parts_of_points_are_read_as_they_are_written() -> None:
    f = [[0, 0, [[1]]]]

    def why(multipliers=f, **changes):
        record = {"ranks": [1, 1, 1, 1, 1, 1], "variables": 3, "free": [0], "T": [], "N": [], "squares": []}
        record |= {"K": [[ONE]], "Q": [[PLUS]], "V": [[ONE]], "multipliers": multipliers}
        return why_not(sized(1, 1, 1).prove, record | changes)

    for words, changes in (
        ("there is no such coordinate", {"free": [0, 3]}),
        ("there is no such coordinate", {"free": [-1, 0]}),
        ("there is no such coordinate", {"squares": [3]}),
        ("there is no such coordinate", {"T": [[3]], "N": [[1]]}),
        ("there is no such coordinate", {"K": [[[[1, 3]]]]}),
        ("a polynomial has a degree above 20", {"K": [[[[1, *[0] * 21]]]]}),
        ("a term is 0", {"K": [[[[0, 1]]]]}),
        ("a term is out of order", {"K": [[[[2, 1, 0]]]]}),
        ("a term is out of order", {"K": [[[[1, 0], [2, 0]]]]}),
        ("M has no such entry", {"multipliers": [[1, 0, ONE]]}),
        ("M has no such entry", {"multipliers": [[-1, 0, ONE]]}),
        ("M has no such entry", {"multipliers": [[0, 3, ONE]]}),
        ("M has no such entry", {"multipliers": [[0, 1, ONE]]}),
        ("M has no such entry", {"multipliers": [[0, -1, ONE]]}),
        ("M has no such entry", {"multipliers": [*f, *f]}),
        ("a matrix has other sizes", {"Q": [[PLUS, PLUS]]}),
        ("a matrix has other sizes", {"Q": [[PLUS], [PLUS]]}),
        ("a matrix has other sizes", {"V": []}),
    ):
        assert why(**changes) == words, changes
    # A = e_2 e_2ᵀ, V = e_1ᵀ and K = Q = e_2ᵀ: [V; K] has rank 2.
    K, V = {(1, 2, ()): 1}, {(1, 1, ()): 1, (1, 2, (0,)): 1}
    assert checker._ranks({(2, 2, ()): 1}, K, K, V) == [1, 1, 2, 1, 1, 2]


def test_sizes_of_points() -> None:
    """Coordinates that nothing uses do no harm, up to the limit."""
    f = [[0, 0, [[1]]]]
    assert germ(ONE, PLUS, ONE, f, variables=1000) == ""
    for size in (1001, -1):
        words = "a point has more than 1000 coordinates"
        assert why_not(lambda size=size: germ(ONE, PLUS, ONE, f, variables=size)) == words
    for T, N in (([[0], [1, 2]], [[1]]), ([[0, 1]], [[1], [0, 2]])):
        why = why_not(lambda T=T, N=N: germ(ONE, PLUS, ONE, f, T=T, N=N, variables=3))
        assert why == "T and N do not fit"


def test_directions_are_counted_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 100 kB can be about 10⁸ directions of GL(10⁴)."""
    monkeypatch.setattr(checker.WORK, "done", 0)
    with pytest.raises(checker.Flaw, match="leave a direction out"):
        sized(2, 1, 3)._directions({"K": {}, "Q": {}, "V": {}}, scaled=False)
    assert checker.WORK.done == 9 * 2 * 3 * 2
    unread = {"ranks": [1, 0, 1, 0, 0, 1], "lambda": [0, 1], "multiplicity": 1, "variables": 0}
    unread |= {"V": [[[[1]]]], **{name: [[[]]] * 10**4 for name in "KQ"}}
    unread |= {name: [] for name in ("free", "T", "N", "squares", "multipliers")}
    assert why_not(sized(1, 1, 10**4).prove, unread).startswith("it takes more than 100000000 steps")
