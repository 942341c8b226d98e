"""Certificates and their checker: what is true passes, and no single number can be changed."""

import copy
import itertools
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from agattn import SingleLayer
from agattn.checker import CLAIMS, UnreadableError, check, load
from agattn.verification.certificate import dump, make_certificate

SHIPPED = Path(__file__).parents[2] / "docs" / "certificates" / "m322.json"
REFUTED = ["theorem-3.4.singular", "corollary-A.4"]


def places(value, path=()):
    """The paths to all integers in a document."""
    if type(value) is int:
        yield path
    elif isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def with_values(document, changes):
    changed = copy.deepcopy(document)
    for path, value in changes:
        at(changed, path[:-1])[path[-1]] = value
    return changed


def mutants(document):
    """The document with one number changed, or with two neighbouring different numbers swapped."""
    found = list(places(document))
    for path in found:
        x = at(document, path)
        for other in {x + 1, x - 1, -x, 0, 2 * x, x + 10**9} - {x}:
            yield [(path, other)]
    for one, other in itertools.pairwise(found):
        x, z = at(document, one), at(document, other)
        if x != z:
            yield [(one, z), (other, x)]


@pytest.mark.parametrize("shape", [(2, 1, 1), (2, 1, 2), (2, 2, 1)])
def test_no_single_number_can_be_changed(shape):
    document = make_certificate(SingleLayer(*shape))
    assert check(document)["valid"]
    survivors = [changes for changes in mutants(document) if check(with_values(document, changes))["valid"]]
    assert survivors == []


@pytest.mark.parametrize("shape", [(3, 2, 2), (3, 1, 1), (4, 1, 3)])
def test_no_single_number_can_be_changed_in_a_larger_one(shape):
    document = make_certificate(SingleLayer(*shape))
    sample = random.Random(0).sample(list(mutants(document)), 300)
    survivors = [changes for changes in sample if check(with_values(document, changes))["valid"]]
    assert survivors == []


@pytest.mark.slow
def test_every_small_verdict_has_a_certificate():
    for d in (1, 2, 3):
        for d_out in (1, 2, 3):
            for a in range(1, d + 2):
                layer = SingleLayer(d, d_out, a)
                result = check(load(dump(make_certificate(layer))))
                assert result["valid"], (layer, result)
                valid = {claim["id"] for claim in result["claims"] if claim["valid"]}
                if d >= 2 and (min(a, d), d_out) != (1, 1):
                    assert valid >= set(CLAIMS) - {"lemma-3.1"}


def test_the_counterexample():
    document = make_certificate(SingleLayer(3, 2, 2))
    claims = {claim["id"]: claim for claim in document["claims"]}
    for name in REFUTED:
        assert claims[name] == {"id": name, "verdict": "refuted", "fails_at": [[2, 1, 2], [2, 1, 3]]}
    assert claims["agattn.singular-locus"]["verdict"] == "confirmed"
    other = make_certificate(SingleLayer(3, 2, 2, t=5), ["agattn.degree"])
    assert claims["agattn.degree"]["degree"] == other["claims"][0]["degree"]
    [record] = [s for s in document["strata"] if s["ranks"] == [2, 1, 2]]
    assert (record["tangent"], document["dimension"]) == (14, 13)


def test_shipped_certificate_is_valid_and_current():
    text = SHIPPED.read_text(encoding="utf-8")
    result = check(load(text))
    assert result["valid"] and result["layer"] == "M(3,2,2), t ≥ 2"
    assert {claim["id"] for claim in result["claims"] if claim["valid"]} == set(CLAIMS)
    current = make_certificate(SingleLayer(3, 2, 2))
    stored = load(text)
    assert {**stored, "about": ""} == {**current, "about": ""}


def change(document, edit):
    changed = copy.deepcopy(document)
    edit(changed)
    return check(changed)


def the_stratum(document, *ranks):
    return next(stratum for stratum in document["strata"] if stratum["ranks"] == list(ranks))


def split_a_row(arcs):
    """Write k (q + εq')ᵀ, where it occurs, as k qᵀ + k (εq')ᵀ: true, but with a row number too many."""
    arc = next(
        arc
        for arc in arcs
        if len({row for row, *_ in arc["K"]}) == 1 and {power for *_, power, _ in arc["Q"]} == {0, 1}
    )
    arc["K"] += [[2, *rest] for _, *rest in arc["K"]]
    arc["Q"] = sorted([1 + power, column, power, x] for _, column, power, x in arc["Q"])


FORGERIES = {
    "another verdict": lambda doc: doc["claims"][5].update(verdict="confirmed", fails_at=[]),
    "a verdict without its witness": lambda doc: doc["claims"][5].update(fails_at=[[2, 1, 2]]),
    "a stratum is left out": lambda doc: doc["strata"].remove(the_stratum(doc, 2, 1, 3)),
    "a stratum twice": lambda doc: doc["strata"].append(the_stratum(doc, 2, 1, 3)),
    "an unknown key": lambda doc: doc["strata"][0].update(proof="trust me"),
    "a preimage is left out": lambda doc: the_stratum(doc, 1, 1, 2).pop("second"),
    "no critical direction": lambda doc: the_stratum(doc, 1, 1, 1).pop("critical"),
    "a critical direction at a regular point": lambda doc: the_stratum(doc, 1, 2, 2).update(
        critical=the_stratum(doc, 1, 1, 1)["critical"]
    ),
    "the rescaling as critical direction": lambda doc: the_stratum(doc, 1, 1, 1).update(
        critical=[[[1, 1, 1]], [[1, 1, -1]]]
    ),
    "the same preimage twice": lambda doc: the_stratum(doc, 1, 1, 2).update(
        second=[the_stratum(doc, 1, 1, 2)["A"], the_stratum(doc, 1, 1, 2)["V"]]
    ),
    "an arc is left out": lambda doc: the_stratum(doc, 1, 1, 1)["arcs"].pop(),
    "one arc many times": lambda doc: the_stratum(doc, 1, 1, 1).update(
        arcs=the_stratum(doc, 1, 1, 1)["arcs"][:1] * 24
    ),
    "arcs through another point": lambda doc: the_stratum(doc, 1, 1, 1).update(
        arcs=the_stratum(doc, 1, 1, 2)["arcs"], tangent=the_stratum(doc, 1, 1, 2)["tangent"]
    ),
    "a true but useless equation twice": lambda doc: the_stratum(doc, 1, 1, 1)["equations"].append(
        the_stratum(doc, 1, 1, 1)["equations"][0]
    ),
    "the pair of another stratum": lambda doc: the_stratum(doc, 2, 1, 3).update(
        {name: the_stratum(doc, 2, 1, 2)[name] for name in ("A", "V", "y", "arcs", "tangent")}
    ),
    "a second preimage where there is one": lambda doc: the_stratum(doc, 1, 1, 1).update(
        second=[[[1, 1, 1]], [[1, 1, 1]]]
    ),
    "a sequence to an inner point": lambda doc: the_stratum(doc, 1, 2, 2).update(approach=[[1, 1, 2, 2, 1]]),
    "a tangent dimension without arcs": lambda doc: the_stratum(doc, 2, 1, 2).pop("arcs"),
    "arcs without a tangent dimension": lambda doc: the_stratum(doc, 2, 1, 2).pop("tangent"),
    "two rows where one would do": lambda doc: split_a_row(the_stratum(doc, 1, 1, 1)["arcs"]),
    "a term 0": lambda doc: the_stratum(doc, 1, 1, 1)["equations"][0].append(
        [0, [2, 3, 3, 3], [2, 3, 3, 3], [2, 3, 3, 3], [2, 3, 3, 3], [2, 3, 3, 3]]
    ),
    "terms out of order": lambda doc: the_stratum(doc, 1, 1, 1)["equations"][0].reverse(),
    "a is 0": lambda doc: doc.update(a=0, strata=[]),
    "a claim nobody made": lambda doc: doc["claims"].append(
        {"id": "theorem-99", "verdict": "confirmed", "fails_at": []}
    ),
    "true for 1": lambda doc: doc["strata"][0]["A"].__setitem__(0, [True, 1, 1]),
    "no claims": lambda doc: doc.update(claims=[]),
    "claims of another type": lambda doc: doc.update(claims=5),
    "strata of another type": lambda doc: doc.update(strata="none"),
    "a stratum of another type": lambda doc: doc["strata"].__setitem__(0, []),
    "the same claim twice": lambda doc: doc["claims"].append(doc["claims"][0]),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forgeries(forgery):
    document = make_certificate(SingleLayer(3, 2, 2))
    assert document["claims"][5]["id"] == "theorem-3.4.singular"
    result = change(document, FORGERIES[forgery])
    assert not result["valid"] and result["flaw"]
    assert not any(claim["valid"] for claim in result["claims"])


def test_one_architecture_cannot_pass_for_another():
    """Not even where all three numbers fit another layer with the same strata."""
    document = make_certificate(SingleLayer(3, 1, 1))
    for change_of in ({"d": 4, "dimension": 10}, {"d_out": 2, "dimension": 10}, {"a": 2, "dimension": 10}):
        assert not check({**document, **change_of})["valid"]


def test_what_is_not_certified_does_not_count():
    document = make_certificate(SingleLayer(2, 1, 1), ["theorem-3.4.singular"])
    [claim] = document["claims"]
    assert claim["certificate"] is None and "a > 1 or d' > 1" in claim["reason"]
    result = check(document)
    assert not result["valid"] and result["claims"][0]["valid"] is None
    document = make_certificate(SingleLayer(2, 1, 1), ["theorem-3.4.singular", "agattn.degree"])
    result = check(document)
    assert result["valid"] and [claim["valid"] for claim in result["claims"]] == [None, True]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1}', '{"a": 1.5}', '{"a": 1, "a": 2}', "[" * 9999]
)
def test_what_is_no_certificate(text):
    with pytest.raises(UnreadableError):
        check(load(text))


@pytest.mark.parametrize("command", [["-m", "agattn", "check"], ["-m", "agattn.checker"]])
def test_the_checker_imports_nothing_heavy(command):
    run = subprocess.run(
        [sys.executable, "-X", "importtime", *command, str(SHIPPED)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    imported = {line.rsplit("|", 1)[-1].strip() for line in run.stderr.splitlines() if "|" in line}
    assert "agattn.checker.certificate" in imported
    heavy = {"numpy", "sympy", "flint", "networkx", "mpmath", "jinja2", "rich", "matplotlib", "jsonschema"}
    assert heavy.isdisjoint(name.split(".")[0] for name in imported)
    inside = {name for name in imported if name.startswith("agattn")}
    light = {
        "",
        "._version",
        ".errors",
        ".checker",
        ".checker.__main__",
        ".checker.certificate",
        ".checker.integers",
    }
    light |= {".cli", ".cli.main", ".cli.check", ".cli.output"}
    assert inside <= {f"agattn{name}" for name in light}


def test_dump_is_json():
    document = make_certificate(SingleLayer(2, 2, 1), ["agattn.degree"])
    assert json.loads(dump(document)) == document


def test_every_orbit_needs_a_pair_of_its_own():
    document = make_certificate(SingleLayer(3, 2, 2), ["theorem-3.2"])
    assert check(document)["valid"]
    found = the_stratum(document, 2, 1, 2)
    the_stratum(document, 2, 1, 3).update({name: found[name] for name in ("A", "V", "y", "arcs", "tangent")})
    assert "the ranks are (2, 1, 2)" in check(document)["flaw"]
