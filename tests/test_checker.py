"""Certificates and their checker: what is true passes, and no single number can be changed."""

import copy
import io
import itertools
import json
import math
import os
import random
import re
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from command_line import call

import agattn
from agattn import SingleLayer, checker, claims
from agattn.architectures import DeepNetwork
from agattn.checker import CLAIMS, OTHERS, UnreadableError, check, described, load
from agattn.claims.claim import Proof
from agattn.errors import InputError
from agattn.verification.certificate import certify, dump, make_learning_certificate
from tests.faults.certificates import at, flaw_of, is_valid, places, why_not

LIGHT = (
    "_version", "errors", "files", "checker", "patience",
    "cli", "cli.architecture", "cli.commands", "cli.ending", "cli.generator", "cli.interrupts", "cli.kinds",
    "cli.main", "cli.output", "cli.theorems", "evidence", "limits", "names", "sheet", "sheet.data",
    "sheet.result", "sheet.terminal",
)  # fmt: skip
SHIPPED = Path(__file__).parents[1] / "docs" / "certificates" / "m322.json"
REFUTED = ["theorem-3.4.singular", "corollary-A.4"]


def change(document, changes):
    for path, value in changes:
        at(document, path[:-1])[path[-1]] = value


def survivors(document, mutants):
    """Those changes of a valid document with which it is valid still; it is changed back every time."""
    assert is_valid(document)
    found = []
    for changes in mutants:
        before = [(path, at(document, path)) for path, _ in changes]
        change(document, changes)
        if is_valid(document):
            found.append(changes)
        change(document, before)
    assert is_valid(document)
    return found


def mutants(document):
    """The document with one number changed, or with two neighbouring different numbers swapped."""
    found = [path for path in places(document) if type(at(document, path)) is int]
    for path in found:
        x = at(document, path)
        for other in {x + 1, x - 1, -x, 0, 2 * x, x + 10**9} - {x}:
            yield [(path, other)]
    for one, other in itertools.pairwise(found):
        x, z = at(document, one), at(document, other)
        if x != z:
            yield [(one, z), (other, x)]


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 2), (3, 1, 1), (4, 1, 3)])
def test_no_single_number_can_be_changed(shape):
    """In the larger ones 300 changes are tried."""
    document = certify(SingleLayer(*shape))
    tried = list(mutants(document))
    if shape not in [(2, 1, 1), (2, 1, 2)]:
        tried = random.Random(0).sample(tried, 300)
    assert survivors(document, tried) == []


@pytest.mark.slow
def test_every_small_verdict_has_a_certificate():
    for d in (1, 2, 3):
        for d_out in (1, 2, 3):
            for a in range(1, d + 2):
                layer = SingleLayer(d, d_out, a)
                result = check(load(dump(certify(layer))))
                assert result["valid"], (layer, result)
                valid = {claim["id"] for claim in result["claims"] if claim["valid"]}
                if d >= 2 and (min(a, d), d_out) != (1, 1):
                    assert valid >= set(CLAIMS) - {"lemma-3.1"}


def test_the_counterexample():
    document = certify(SingleLayer(3, 2, 2))
    claims = {claim["id"]: claim for claim in document["claims"]}
    for name in REFUTED:
        assert claims[name] == {"id": name, "verdict": "refuted", "fails_at": [[2, 1, 2], [2, 1, 3]]}
    assert claims["agattn.singular-locus"]["verdict"] == "confirmed"
    other = certify(SingleLayer(3, 2, 2, t=5), ["agattn.degree"])
    assert claims["agattn.degree"]["degree"] == other["claims"][0]["degree"]
    [record] = [s for s in document["strata"] if s["ranks"] == [2, 1, 2]]
    assert (record["tangent"], document["dimension"]) == (14, 13)


def test_shipped_certificate_is_valid_and_current():
    text = SHIPPED.read_text(encoding="utf-8")
    result = check(load(text))
    assert result["valid"] and result["layer"] == "M(3,2,2), t ≥ 2"
    assert {claim["id"] for claim in result["claims"] if claim["valid"]} == set(CLAIMS)
    current = certify(SingleLayer(3, 2, 2))
    stored = load(text)
    assert {**stored, "about": ""} == {**current, "about": ""}


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
    "another dimension": lambda doc: doc.update(dimension=12),
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
    "a tangent dimension without arcs": lambda doc: the_stratum(doc, 2, 1, 2).pop("arcs"),
    "arcs without a tangent dimension": lambda doc: the_stratum(doc, 2, 1, 2).pop("tangent"),
    "two rows where one would do": lambda doc: split_a_row(the_stratum(doc, 1, 1, 1)["arcs"]),
    "a term 0": lambda doc: the_stratum(doc, 1, 1, 1)["equations"][0].append(
        [0, [2, 3, 3, 3], [2, 3, 3, 3], [2, 3, 3, 3], [2, 3, 3, 3], [2, 3, 3, 3]]
    ),
    "factors out of order": lambda doc: the_stratum(doc, 1, 1, 1)["equations"][0][0].append([1, 1, 1, 1]),
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


def put(**words):
    """Say something else of the claim that is not certified."""
    return lambda doc: next(c for c in doc["claims"] if c["id"] == "agattn.hilbert-function").update(**words)


VERDICT = "theorem-3.4.singular  valid  confirmed: M is singular exactly at rk A ≤ 1, rk V ≤ 1."
FORGERIES |= {
    "a number that is not whole": lambda doc: doc.update(dimension=13.0),
    "true for a": lambda doc: doc.update(a=True),
    "sizes below 0": lambda doc: doc.update(d=-3, d_out=-2),
    "another format": lambda doc: doc.update(format="agattn certificate 3"),
    "for one token": lambda doc: doc.update(t=1),
    "a layer beyond all bounds": lambda doc: doc.update(d=10**9, d_out=10**9, dimension=10**18),
    "an integer beyond all bounds": lambda doc: doc["strata"][0]["A"].__setitem__(0, [1, 1, 10**4000]),
    "a power of ε beyond all bounds": lambda doc: the_stratum(doc, 1, 1, 1)["arcs"][0]["V"].append(
        [2, 3, 10**9, 1]
    ),
    "a text that is a verdict": lambda doc: doc.update(about=f"M(3,2,2)\n{VERDICT}"),
    "a text that goes back": lambda doc: doc.update(about="\x1b[1A\x1b[2K" + VERDICT),
    "a text that goes leftwards": lambda doc: doc.update(about="\u202e" + VERDICT),
    "half a character": lambda doc: doc.update(about="\ud800"),
    "a text without end": lambda doc: doc.update(about="valid " * 10**5),
    "an object for a text": lambda doc: doc.update(about={"valid": 1}),
    "an id with a verdict in it": put(id=f"agattn.hilbert-function\n{VERDICT}"),
    "an id that goes back": put(id="\x1b[2K\rtheorem-3.4.singular"),
    "an id that is no text": put(id=34),
    "a certificate of another kind": put(certificate=None),
    "a reason with a verdict in it": put(reason=f"none\n{VERDICT}"),
    "a verdict on what cannot be certified": lambda doc: doc["claims"].append(
        {"id": "theorem-3.9", "verdict": "confirmed", "fails_at": []}
    ),
    "a verdict beside the reason": put(verdict="confirmed"),
    "a third verdict": lambda doc: doc["claims"][0].update(verdict="proved"),
    "a degree of another": lambda doc: next(c for c in doc["claims"] if "degree" in c).update(degree=2377),
    "a degree in another claim": lambda doc: doc["claims"][0].update(degree=2376),
    "dependent equations": lambda doc: (eq := the_stratum(doc, 1, 1, 1)["equations"]).append(
        [[2 * x, *names] for x, *names in eq[0]]
    ),
    "equations of other points": lambda doc: the_stratum(doc, 1, 1, 1).update(
        equations=[[[1, [1, 1, 1, 1]]]]
    ),
    "an arc that stands still": lambda doc: the_stratum(doc, 1, 1, 1)["arcs"][0].update(y=[]),
    "an arc of too high a rank": lambda doc: the_stratum(doc, 1, 1, 1)["arcs"][0]["K"].append([3, 1, 0, 1]),
    "the zero pair": lambda doc: doc["strata"][0].update(A=[], V=[], y=[]),
    "no strata at all": lambda doc: doc.update(strata=[]),
    "the strata of another layer": lambda doc: doc.update(strata=genuine(3, 3, 2)["strata"]),
    "nothing but what is not certified": lambda doc: doc.update(
        claims=[c for c in doc["claims"] if "reason" in c]
    ),
}
# Texts that are no certificate, or no JSON, made from one that is.
GARBLED = {
    "nothing": lambda text: "",
    "a number": lambda text: "7",
    "an array": lambda text: f"[{text}]",
    "half of it": lambda text: text[: len(text) // 2],
    "twice": lambda text: text * 2,
    "not a number": lambda text: text.replace('"dimension": 13', '"dimension": NaN'),
    "infinity": lambda text: text.replace('"dimension": 13', '"dimension": Infinity'),
    "an exponent": lambda text: text.replace('"dimension": 13', '"dimension": 13e0'),
    "two values for one key": lambda text: text.replace(
        '"dimension": 13', '"dimension": 12, "dimension": 13'
    ),
    "two values for one key, inside": lambda text: text.replace('"id":', '"id": "theorem-3.2", "id":', 1),
    "too many digits": lambda text: text.replace('"dimension": 13', '"dimension": ' + "9" * 10**5),
    "brackets": lambda text: "[" * 10**5,
    "braces": lambda text: '{"format": "agattn certificate 2", "claims": ' + '{"a":' * 10**5,
    "a deep text": lambda text: text.replace('"about"', '"deep": ' + "[" * 900 + "]" * 900 + ', "about"'),
    "a byte 0": lambda text: text + "\0",
    "another encoding": lambda text: text.encode("utf-16"),
    "no encoding": lambda text: b"\xff" + text.encode(),
    "too long": lambda text: text + " " * checker.BYTES,
}


@cache
def shipped():
    """The certificate of M(3,2,2), which takes no time to make."""
    return load(SHIPPED.read_text(encoding="utf-8"))


@cache
def genuine(*shape):
    return certify(SingleLayer(*shape))


def forged(name):
    """What is in a forged or garbled file."""
    text = dump(genuine(3, 2, 2))
    if name in GARBLED:
        found = GARBLED[name](text)
    else:
        document = copy.deepcopy(genuine(3, 2, 2))
        assert document["claims"][5]["id"] == "theorem-3.4.singular"
        FORGERIES[name](document)
        found = json.dumps(document)
    assert found != text
    return found if isinstance(found, bytes) else found.encode()


@pytest.fixture(scope="module")
def carried(tmp_path_factory):
    """The checker as one file, alone in a folder."""
    path = tmp_path_factory.mktemp("desk") / "checker.py"
    assert call("check", "-O", path).status == 0
    return path


def referee(carried, *words, python=sys.executable, **options):
    """Run the file that was carried away, without site-packages, environment, or the folder it is in."""
    command = [python, "-I", "-S", carried.name, *words]
    return subprocess.run(command, cwd=carried.parent, capture_output=True, check=False, **options)


@pytest.mark.parametrize("name", [*FORGERIES, *GARBLED])
def test_forgeries(name, carried):
    """Each is refused in one line that none of its words gets into, by both commands alike."""
    path = carried.with_name("forged.json")
    path.write_bytes(forged(name))
    ended = referee(carried, path.name)
    assert ended.returncode in (1, 2)
    said = (ended.stdout + ended.stderr).decode()
    assert said.count("\n") == 1 and said.rstrip("\n").isprintable() and len(said) < 200, said
    assert bool(ended.stdout) == (ended.returncode == 1)
    assert "NOT VALID" in said or "cannot be checked" in said
    assert not any(word in said for word in ("riemann", "author", "confirmed: ", "\u202e", "trust"))
    status, out, err = call("check", path)
    assert (status, out) == (ended.returncode, ended.stdout.decode())
    assert said.partition(": ")[2] in (out + err)


GENUINE = [(1, 1, 1), (1, 3, 1), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 1, 1), (3, 2, 2), (4, 1, 3)]


@pytest.mark.parametrize("shape", GENUINE)
def test_the_carried_checker_agrees(shape, carried):
    document = genuine(*shape)
    carried.with_name("certificate.json").write_text(dump(document), encoding="utf-8")
    ended = referee(carried, "certificate.json")
    status, out, _ = call("check", carried.with_name("certificate.json"))
    assert (ended.returncode, ended.stdout.decode()) == (status, out) and status == 0
    assert f"About M({','.join(map(str, shape))}), t ≥ 2" in out
    assert out == f"{described(check(document))}\n" and out.endswith("The certificate is valid.\n")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_carried_checker_on_other_pythons(version, carried):
    python = shutil.which(f"python{version}")
    if not python or subprocess.run([python, "-V"], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no Python {version} here")
    text = SHIPPED.read_bytes()
    ended = referee(carried, "-", python=python, input=text)
    assert ended.returncode == 0 and b"fails at (2,1,2), (2,1,3)" in ended.stdout
    for name in ("true for a", "brackets", "a text that goes back", "another verdict"):
        ended = referee(carried, "-", python=python, input=forged(name))
        assert ended.returncode in (1, 2) and (ended.stdout + ended.stderr).count(b"\n") == 1


def test_the_carried_checker_alone(carried):
    assert carried.read_bytes() == Path(checker.__file__).read_bytes()
    assert call("check", "-O", "-").out.encode() == carried.read_bytes()
    assert call("check").status == call("check", SHIPPED, "-O", "-").status == 2
    ended = referee(carried, "--help")
    assert ended.returncode == 0 and b"Exit status" in ended.stdout
    assert referee(carried).returncode == 2
    missing = referee(carried, "nowhere.json")
    assert missing.stderr == b"this file cannot be checked: No such file or directory\n"
    assert referee(carried, ".").returncode == 2
    ended = referee(carried, "-", input=SHIPPED.read_bytes(), env={**os.environ, "LC_ALL": "C"})
    assert ended.returncode == 0


def test_the_verb_does_what_the_checker_does():
    assert agattn.check(genuine(2, 1, 2)) == check(genuine(2, 1, 2))
    with pytest.raises(InputError, match="cannot be checked"):
        agattn.check({})


def test_the_claims_are_those_of_agattn():
    """A claim with a certificate has its proof in the checker, and the names there are those of claims."""
    assert CLAIMS.keys() | OTHERS <= set(claims.CLAIMS) and not CLAIMS.keys() & OTHERS
    kinds = (checker.Facts, checker.Deep, checker.Heads, checker.Today)
    proved = {name for kind in kinds for name in kind.RECORDS}
    assert {name for name, claim in claims.CLAIMS.items() if isinstance(claim.certificate, Proof)} == proved


def test_only_words_of_its_own_about_what_is_not_certified():
    document = copy.deepcopy(genuine(3, 2, 2))
    put(reason="it is proved elsewhere")(document)
    said = described(check(document))
    assert "elsewhere" not in said and re.search(r"agattn.hilbert-function +not checked", said)
    document["claims"] = document["claims"][:1]
    assert "Nothing is said of agattn.degree, " in described(check(document))


def test_work_is_bounded_before_it_is_done(monkeypatch):
    document = copy.deepcopy(genuine(2, 1, 2))
    document["strata"][0]["equations"] = [[[1, *[[1, 1, 1, 2]] * 18]]]  # 2¹⁸ terms, in 200 bytes
    with pytest.raises(UnreadableError, match="more than 200000 terms"):
        check(document)
    monkeypatch.setattr(checker, "STEPS", 1000)
    with pytest.raises(UnreadableError, match="more than 1000 steps"):
        check(shipped())
    monkeypatch.setattr(checker, "STEPS", 10**9)
    monkeypatch.setattr(checker, "ENTRIES", 10)
    with pytest.raises(UnreadableError, match="more than 10 entries"):
        check(shipped())


def test_one_architecture_cannot_pass_for_another():
    """Not even where all three numbers fit another layer with the same strata."""
    document = certify(SingleLayer(3, 1, 1))
    for change_of in ({"d": 4, "dimension": 10}, {"d_out": 2, "dimension": 10}, {"a": 2, "dimension": 10}):
        assert not is_valid({**document, **change_of})


def test_what_is_not_certified_does_not_count():
    layer, names = SingleLayer(2, 1, 1), ["theorem-3.4.singular", "agattn.degree"]
    with pytest.raises(InputError, match="a > 1 or d' > 1"):
        certify(layer, names[:1])
    document = certify(layer, names)
    result = check(document)
    assert result["valid"] and {claim["id"]: claim["valid"] for claim in result["claims"]} == dict(
        zip(names, (None, True), strict=True)
    )
    result = check({**document, "claims": [claim for claim in document["claims"] if "reason" in claim]})
    assert not result["valid"] and result["flaw"] == "nothing is certified"
    assert [claim["valid"] for claim in result["claims"]] == [None]


def test_a_claim_that_nobody_knows_is_named_in_no_words_of_the_file():
    for name in ("agattn.riemann-hypothesis", "theorem\u20113.4.singular"):
        document = copy.deepcopy(genuine(3, 2, 2))
        put(id=name)(document)
        result = check(document)
        assert result["valid"] and result["uncertified"] == [checker.UNKNOWN]
        assert name not in described(result)
        record = next(claim for claim in document["claims"] if claim["id"] == name)
        record |= {"verdict": "confirmed", "fails_at": []}
        record.pop("reason")
        assert why_not(check, document) == "a claim is none of those that can be certified here"


def test_the_checker_imports_nothing_heavy():
    command = [sys.executable, "-X", "importtime", "-m", "agattn.checker", str(SHIPPED)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    imported = {line.rsplit("|", 1)[-1].strip() for line in run.stderr.splitlines() if "|" in line}
    heavy = {"numpy", "sympy", "flint", "networkx", "mpmath", "jinja2", "rich", "matplotlib", "jsonschema"}
    assert heavy.isdisjoint(name.split(".")[0] for name in imported)
    inside = {name for name in imported if name.startswith("agattn")}
    assert inside <= {"agattn", *(f"agattn.{name}" for name in LIGHT)}


def several_heads(*shape):
    d, d_out, a, heads = shape
    network = DeepNetwork((d, d_out), (a,), t=2, heads=heads)
    return load(dump(certify(network, ["agattn.heads-not-closed"])))


def shifted(document, i, k):
    """The same limit after the substitution u_i → u_i + u_k in every linear form of A and V."""
    found = copy.deepcopy(document)
    [record] = found["claims"]

    def moved(entries, column):
        total = Counter({tuple(entry[:-1]): entry[-1] for entry in entries})
        for *place, x in entries:
            if place[column] == i:
                total[*place[:column], k, *place[column + 1 :]] += x
        return sorted([*place, x] for place, x in total.items() if x)

    for head in record["heads"]:
        head["K"], head["V"] = moved(head["K"], 1), moved(head["V"], 1)
    y = Counter()
    for c, b, one, other, x in record["y"]:
        for u, v in itertools.product({one, k if one == i else one}, {other, k if other == i else other}):
            y[c, b, min(u, v), max(u, v)] += x
    record["y"] = sorted([*place, x] for place, x in y.items() if x)
    return found


def test_a_limit_of_heads_stays_one_in_other_coordinates():
    """If rows and columns are mixed alike, the minor is the same multiple of a cube."""
    document = several_heads(4, 1, 1, 3)
    [record] = document["claims"]
    assert record["obstruction"] == {"kind": "products", "rows": [1, 2, 3], "columns": [1, 2, 3]}
    for i, k in itertools.permutations((1, 2, 3), 2):
        assert check(shifted(document, i, k))["valid"]
    mixed = shifted(document, 1, 4)  # row 4 is in no minor: the other minor is another polynomial
    assert mixed["claims"][0]["y"] != record["y"] and check(mixed)["valid"] == check(document)["valid"]


def test_a_pencil_needs_a_determinant_that_is_one_number_and_not_0():
    document = several_heads(6, 1, 3, 2)
    pair = document["claims"][0]["obstruction"]
    assert pair["kind"] == "pencil" and check(document)["valid"]
    zero, other = copy.deepcopy(document), copy.deepcopy(document)
    zero["claims"][0]["obstruction"]["columns"] = [1, 2, 3, 4, 6]  # column 6 of A and B is 0
    for one, two in (("v", "w"), ("A", "B")):
        other["claims"][0]["obstruction"] |= {one: pair[two], two: pair[one]}
    for changed in (zero, other):
        assert check(changed)["flaw"] == "det(sB + tA) is no multiple of a power of s"


# What each limit and each condition is, in words ------------------------------------------------------------


def test_what_cannot_be_read_says_why():
    for text, words in (
        ("[1.5]", "a number in it is not an integer"),
        ("[NaN]", "a number in it is not an integer"),
        ('{"a": 1, "a": 1}', "a key occurs twice"),
        ("[1,\n 2 3]", "it is not JSON: line 2, column 4"),
        ("[" * 10**5, "it is nested too deeply"),
        ("9" * 301, "an integer has more than 300 digits"),
        ("7" + " " * 10**7, "it has more than 10000000 bytes"),
    ):
        assert why_not(load, text) == words
    assert load("9" * 300) == 10**300 - 1 and load("7" + " " * (10**7 - 1)) == 7


def test_files_and_the_standard_input_are_read_up_to_their_limit(tmp_path, monkeypatch):
    path = tmp_path / "file.json"

    def given(data):
        path.write_bytes(data)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(b"7" + b" " * (10**7 - 1))
    assert checker.read(path) == checker.read("-") == 7
    for data, words in (
        (b"7" + b" " * 10**7, "it has more than 10000000 bytes"),
        ('"é"'.encode() + b" " * (10**7 - 3), "it has more than 10000000 bytes"),  # and no more letters
        (b"\xff", "it is not UTF-8"),
    ):
        for name in (path, "-"):
            given(data)
            assert why_not(checker.read, name) == words
    monkeypatch.setattr(sys, "stdin", None)
    assert why_not(checker.read, "-") == "the standard input is closed"
    assert why_not(checker.read, tmp_path / "none.json") == "No such file or directory"
    assert why_not(check, {"format": checker.FORMAT, "about": "x", **dict.fromkeys(
        ("d", "d_out", "a", "dimension", "strata"), 1), "claims": [{"id": "lemma-3.1", "verdict": "confirmed",
        "fails_at": [1]}]}) == "something else stands where an array belongs"  # fmt: skip
    heads = {"id": "agattn.heads-not-closed", "verdict": "confirmed", "y": [], "heads": [], "obstruction": 5}
    document = {"format": checker.FORMAT, "about": "", "d": 2, "d_out": 2, "a": 1, "h": 0, "claims": [heads]}
    assert why_not(check, document) == "it does not have the form of a certificate"


def test_the_command_prints_and_ends_as_it_says(capsys, tmp_path, monkeypatch):
    def ended(*words):
        status = checker.main([str(word) for word in words])
        return status, *capsys.readouterr()

    calls = {("-h",): 0, ("--help",): 0, (): 2, (SHIPPED, SHIPPED): 2, ("-h", "-h"): 2}
    for words, status in calls.items():
        found, out, err = ended(*words)
        assert (found, err) == (status, "") and out.startswith("The checker of certificates: one file")
        assert "Exit status: 0 the certificate is valid" in out and "in one sitting" not in out
    right = tmp_path / "right.json"
    right.write_text(dump(genuine(2, 1, 1)), encoding="utf-8")
    assert ended(right) == (0, f"{described(check(str(right)))}\n", "")
    assert ended(tmp_path) == (2, "", "this file cannot be checked: Is a directory\n")
    wrong = tmp_path / "wrong.json"
    wrong.write_text(dump({**genuine(2, 1, 1), "dimension": 5}), encoding="utf-8")
    found, out, err = ended(wrong)
    assert (found, err) == (1, "") and out.startswith("NOT VALID: ")
    for words, status in (([], 2), ([str(right)], 0), ([str(wrong)], 1)):
        monkeypatch.setattr(sys, "argv", ["checker.py", *words])
        with pytest.raises(SystemExit) as raised:
            runpy.run_path(checker.__file__, run_name="__main__")
        assert raised.value.code == status
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    assert checker.main([str(right)]) == 0
    plain.flush()
    assert b"t \\u2265 2" in plain.buffer.getvalue()
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # it has no encoding that could be changed
    assert checker.main([str(right)]) == 0 and "t ≥ 2" in sys.stdout.getvalue()


def test_every_limit_is_what_the_page_says():
    """Up to a limit all is read, and one more is refused."""
    assert checker.integer(10**300 - 1) and checker.integer(1 - 10**300)
    for value in (10**300, -(10**300)):
        assert why_not(checker.integer, value) == "an integer has more than 300 digits"
    assert checker.text("x" * 1000) is None
    assert why_not(checker.text, "x" * 1001) == "a text is too long, or is not printable"
    assert checker.Layer(2, 1666, 1).ambient == 9996 and checker.Layer(1, 10**4, 1).ambient == 10**4
    assert why_not(checker.Layer, 1, 10**4 + 1, 1) == "it is about more than 10000 coordinates"
    for sizes in ((2, 1, 0), (2, 1, 3), (2, 0, 1)):
        assert "not possible" in why_not(checker.Layer, *sizes)
    points = {"format": checker.FORMAT, "about": "", "head": "lightning", "claims": []}
    for sizes, words in (
        ((1, 10**4, 10**4), None),
        ((12, 10, 833), None),  # 9360 coordinates, and 9996 entries of K
        ((22, 2, 1), "it is about too large a layer"),  # 11132 coordinates
        ((1, 10**4 + 1, 1), "it is about too large a layer"),
        ((1, 1, 10**4 + 1), "it is about too large a layer"),
        ((0, 1, 1), "d, d', a are not possible"),
        ((1, 1, 0), "d, d', a are not possible"),
    ):
        document = points | dict(zip(("d", "d_out", "a"), sizes, strict=True))
        if words:
            assert why_not(check, document) == words
        else:
            assert check(document)["flaw"] == "nothing is certified"
    document = points | {"d": 1, "d_out": 1, "a": 1, "head": "linear"}
    assert why_not(check, document) == "the head is neither lightning nor softmax"


@pytest.mark.parametrize("softmax", [False, True])
def test_each_number_of_a_learning_coefficient_is_compared(softmax):
    document = load(dump(make_learning_certificate(SingleLayer(2, 1, 1), softmax)))
    for n, point in enumerate(document["claims"]):
        for name, words in (("multiplicity", "m is "), ("ranks", "the ranks are "), ("lambda", "λ is ")):
            for place in range(len(point[name]) if name != "multiplicity" else 1):
                changed = copy.deepcopy(document)
                part = changed["claims"][n] if name == "multiplicity" else changed["claims"][n][name]
                part[name if name == "multiplicity" else place] += 1
                result = check(changed)
                assert result["flaw"].startswith(words)
                assert all(claim["id"] == "point" and not claim["valid"] for claim in result["claims"])


def test_where_a_and_d_out_are_1_the_general_fiber_has_two_points():
    assert checker.Facts(genuine(2, 1, 1)).birational() == [(1, 1, 2)]
    assert checker.Facts(genuine(2, 2, 1)).birational() == []


def obstruction(layer, heads, y, kind, record):
    """What is wrong with an obstruction alone, whatever has the limit y."""
    limit = checker.Heads.__new__(checker.Heads)
    limit.layer, limit.h, limit.y = checker.Layer(*layer), heads, y
    try:
        getattr(limit, f"_{kind}")({"kind": kind, **record})
    except checker.Flaw as error:
        return str(error)
    return ""


def test_squares_obstruct_only_in_other_columns():
    """Row 1 of y has u_1², u_2² in columns 1 and 2; row 2 the square of the other below one of them."""
    first = {(0, 1, 1, 1, 1): 1, (0, 1, 2, 2, 2): 5}

    def said(heads=2, **second):
        entries = {(0, 2, *map(int, name[1:])): 1 for name in second}
        return obstruction((3, 2, 2), heads, first | entries, "squares", {})

    assert said(y122=1) == said(y211=1) == ""
    assert said(y111=1) == said(y112=1) == said(y133=1) == "row 2 has not the square of another column"
    assert said(y322=1) == said(y122=1, y211=1) == said() == "row 2 has not one entry, below a square"
    assert said(heads=3, y122=1) == said(heads=1, y122=1) == "row 1 has not h squares in h columns"
    more = {(0, 2, 1, 2, 2): 1}
    why = why_not(obstruction, (3, 2, 2), 2, first | more, "squares", {"rows": []})
    assert why == "there is an unknown key"
    mixed = {(0, 1, 1, 1, 2): 1, (0, 1, 2, 2, 2): 1, (0, 2, 2, 1, 1): 1}
    assert obstruction((3, 2, 2), 2, mixed, "squares", {}) == "row 1 has not h squares in h columns"
    for more in ((0, 1, 1, 2, 2), (0, 1, 3, 1, 1), (0, 1, 3, 1, 2)):
        y = {**first, more: 1, (0, 2, 1, 2, 2): 1}
        assert obstruction((3, 2, 2), 2, y, "squares", {}) == "row 1 has not h squares in h columns"


def test_a_pencil_obstructs_only_if_v_is_outside_of_a():
    pencil = several_heads(6, 1, 3, 2)["claims"][0]["obstruction"]

    def said(heads=2, **changes):
        record = {name: changes.get(name, x) for name, x in pencil.items() if name != "kind"}
        v, w, A, B = ({tuple(place): x for *place, x in record[name]} for name in ("v", "w", "A", "B"))
        y = Counter()
        for linear, matrix in ((v, B), (w, A)):
            for ((i,), x), ((k, b), z) in itertools.product(linear.items(), matrix.items()):
                y[0, 1, b, min(i, k), max(i, k)] += x * z
        y = {name: x for name, x in y.items() if x} | below
        return obstruction((6, 2, 3), heads, y, "pencil", record)

    below = {(0, 2, 1, 1, 1): 1}  # in row 2 anything may stand
    assert said() == said(v=[[2, 7]]) == ""
    assert said(v=[[1, 1]]) == said(v=[[3, 1], [4, -2]]) == "v is in the span of the columns of A"
    assert said(A=[[1, 2, 1]]) == "v is in the span of the columns of A"  # of one column alone
    assert said(A=[[1, 2, 1], [3, 4, 1]], v=[[5, 1]], w=[[2, 1]]) == ""  # of two columns
    assert said(w=[[2, 3]]) == "v and w are dependent"
    assert said(heads=3) == "there are not two heads"
    for rows in ([1, 2, 3, 4, 7], [0, 1, 2, 3, 4], [1, 2, 3, 4, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]):
        why_not(lambda rows=rows: said(rows=rows))
        why_not(lambda rows=rows: said(columns=rows))
    assert said(v=[[6, 1]]) == said(A=[*pencil["A"], [6, 1, 1]]) == "A, B or v has something in other rows"
    words = "det(sB + tA) is no multiple of a power of s"
    zero = [[k, k, 1] for k in range(1, 5)]  # as row 5 is 0
    assert said(B=zero) == said(A=[[1, 1, 1], [2, 3, 1]]) == words  # 0, and s + t times a power of s
    assert said(B=[*pencil["B"], [5, 6, 1]]) == ""  # 1
    # det(B + tA) = 1 + t(t − 1)(t − 2)(t − 3) is 1 at four places, and not constant.
    B = [[1, 2, 1], [2, 2, -1], [2, 3, 1], [3, 3, -2], [3, 4, 1], [4, 1, -1], [4, 4, -3], [5, 5, 1]]
    assert said(A=[[k, k, 1] for k in range(1, 5)], B=B, v=[[5, 1]], w=[[1, 1]]) == words


# Each part alone: what it computes, and what it refuses -----------------------------------------------------


def steps_of(function, *arguments):
    """The steps that are counted."""
    checker.WORK.done = 0
    function(*arguments)
    return checker.WORK.done


def test_entries_are_bounded_where_they_are_made(monkeypatch):
    monkeypatch.setattr(checker, "ENTRIES", 3)
    rows = [{(1,): 1, (2,): 1}, {(3,): 1}]
    assert checker.rank(rows) == 2 and len(checker.added(rows)) == 3
    assert why_not(checker.rank, [*rows, {(4,): 1}]) == "a matrix has more than 3 entries"
    assert why_not(checker.added, [*rows, {(4,): 1}]) == "a sum has more than 3 entries"
    assert checker.added([*rows, {(3,): -1}]) == rows[0]
    assert checker.added([{(1,) * 15: 1}, {(2,): 1}]) and checker.added([{(1,) * 31: 1}, {(2,): 1}])
    assert why_not(checker.added, [{(1,) * 32: 1}, {(2,): 1}]) == "a sum has more than 3 entries"
    assert why_not(checker.added, [{((1,) * 31, 1): 1}, {(2,): 1}]) == "a sum has more than 3 entries"


def test_steps_count_the_lengths_of_integers():
    x = 2**400  # 401 bits, 3 whole times 128
    assert steps_of(checker.multiplied, [[x]], [[1, 1]]) == 1 * 1 * 2 * (1 + 3**2)
    assert steps_of(checker.multiplied, [[x]] * 3, [[1, 1]], 7) == 3 * 1 * 2
    assert steps_of(checker.multiplied, [[1, 1]] * 3, [[1] * 5, [x] * 5]) == 3 * 2 * 5 * (1 + 3**2)
    assert steps_of(checker.rank, [{(1,): 1, (2,): x}, {(1,): 1, (2,): 1}]) == 2 * (1 + 3**2)
    assert steps_of(checker.gradient, {((1,), (1,)): 1}, {(0, 1): 2**1024}) == 2 + 2 * (2**2 * 1025 >> 11)
    y, cubic = {(0, 1): 2**1023, (0, 2): 1}, {((1,), (1,), (2,)): 1, ((1,), (1,), (1,)): 1}
    assert steps_of(checker.gradient, cubic, y) == 2 * 3 * (1 + (3**2 * 1024 >> 11))
    assert steps_of(checker.gradient, {((1,),) * 46: 1}, {}) == 46
    assert checker.meetings({(1,): 1}, {(1,): 1}) == checker.meetings({(): 1}, {(2,): 5}) == 2 * 2 * 1
    assert checker.meetings({}, {(2,): 5}) == 1 * 2 * 1
    assert checker.meetings({(1,): 1, (1,) * 16: 1}, {(2,): 5}) == 3 * 2 * 2
    assert checker.meetings({(2,): 5}, {(1,): 1, (1,) * 16: 1}) == 2 * 3 * 2


def test_products_and_sums_count_their_entries():
    two, three = {(1, 1, 0): 1, (2, 1, 0): 1}, {(1, 1, 0): 1, (1, 2, 0): 1, (2, 1, 0): 1}
    for function in (checker.phi, checker.attention):
        assert steps_of(function, two, three) == (2 + 1) * (3 + 1)
    assert steps_of(checker.times, {(1,): 1}, {(2,): 1, (3,): 1}) == 2 * 3
    assert steps_of(checker.added, [{(1,): 1}, {(1,): 1, (2,): 1}]) == 2 + 3
    units = [[{(): 1} if i == j else {} for j in range(3)] for i in range(3)]
    assert steps_of(checker.determinant, units) == 3**2 + 2**2 + 1 + 3 * (4 + 2)
    assert steps_of(checker.dense, [[1, 1, 5]], 2, 3) == 6
    assert steps_of(lambda: [*checker.units(2)]) == 4 * 4


#: What is said of a claim.
SAID = (
    ((3, 1, 3), "lemma-3.1", "fibers have dimension a² = 9, {rk A ≤ a} has dimension a(2d − a) = 9."),
    ((3, 1, 3), "agattn.degree", "dd' − 1)·deg {rk A ≤ a} = 45."),
    ((3, 1, 1), "agattn.degree", "dd' − 1)·deg {rk A ≤ a}/2 = 45."),
    ((2, 1, 1), "corollary-3.3", "not certified: its hypotheses fail for M(2,1,1)"),
    ((2, 1, 1), "agattn.equations", "not certified: a certificate of a layer holds no proof of this claim"),
    ((3, 2, 2), "corollary-A.4", "refuted: M(3,2,2) is singular exactly at rk A ≤ 1, rk V ≤ 1. It fails at"
     " (2,1,2), (2,1,3). There dim M̄ = 13 and dim T_p M̄ = 14, 14."),
)  # fmt: skip


@pytest.mark.parametrize(("sizes", "claim", "words"), SAID)
def test_what_is_said_of_a_claim(sizes, claim, words):
    reasons = {record["id"]: record["reason"] for record in check(genuine(*sizes))["claims"]}
    assert reasons[claim].endswith(words)


def test_units_are_counted_before_they_are_made():
    assert len([*checker.units(3)]) == 9 and next(checker.units(100))
    words = f"it takes more than {checker.STEPS} steps of arithmetic"
    assert why_not(lambda: next(checker.units(101))) == words


def test_claims_stand_in_columns():
    result = check(genuine(2, 2, 1))
    width = max(len(claim["id"]) for claim in result["claims"])
    for claim, line in zip(result["claims"], described(result).splitlines(), strict=False):
        word = checker.WORDS[claim["valid"]].ljust(11)
        assert line == f"{claim['id'].ljust(width)}  {word}  {claim['reason']}"
        assert "None" not in line
    about = "About M(2,2,1), t ≥ 2; a stands for min(a, d), and (r_V, r_A, r) for a stratum."
    assert about in described(result).splitlines()
    assert f"Not certified: {checker.UNKNOWN}." in described({**result, "uncertified": [checker.UNKNOWN]})


def test_what_an_orbit_leaves_open_is_said():
    """Words of its own for each thing that is missing, so that no other check hides that it is seen."""
    document = copy.deepcopy(genuine(2, 2, 1))
    critical, crossing, _ = document["strata"]
    layer = checker.Layer(2, 2, 1)

    def said(record, changes):
        kept = {key: changes.get(key, value) for key, value in {**record, **changes}.items()}
        return flaw_of(checker.Orbit, layer, {key: x for key, x in kept.items() if x is not None})

    twice = [*critical["equations"], critical["equations"][0]]
    for record, changes, words in (
        (critical, {}, ""),
        (critical, {"ranks": [1, 2, 1]}, "the ranks are (1,1,1)"),
        (critical, {"y": []}, "y is not φ(A, V)"),
        (critical, {"second": crossing["second"]}, "a preimage is missing, or is one too many"),
        (crossing, {"second": None}, "a preimage is missing, or is one too many"),
        (crossing, {"second": [crossing["A"], crossing["V"]]}, "the second preimage is none"),
        (crossing, {"second": [[[2, 2, 1]], [[1, 1, 1]]]}, "the second preimage is none"),
        (critical, {"critical": None}, "the kernel of dφ has dimension 2"),
        (crossing, {"critical": critical["critical"]}, "the kernel of dφ has dimension 1"),
        (critical, {"critical": [critical["A"], []]}, "dφ does not kill the critical direction"),
        (critical, {"critical": [critical["A"], [[1, 1, -1]]]}, "the critical direction is a rescaling"),
        (critical, {"approach": critical["y"]}, None),
        (critical, {"arcs": None}, "arcs and a tangent dimension go together"),
        (critical, {"tangent": None}, "arcs and a tangent dimension go together"),
        (critical, {"tangent": 8}, "the arcs span 7 dimensions"),
        (critical, {"equations": twice}, "the gradients of the equations are dependent"),
        (critical, {"equations": [[]]}, "an equation does not vanish on M̄"),
        (critical, {"equations": [[[1, [1, 1, 1, 1]]]]}, "an equation does not vanish on M̄"),
    ):
        if words is None:
            assert why_not(said, record, changes) == "there is an unknown key"
        else:
            assert said(record, changes) == words, changes


def test_a_stratum_stands_once_in_its_place_with_a_pair_of_its_own():
    document = copy.deepcopy(shipped())
    n = document["strata"].index(the_stratum(document, 2, 1, 3))
    other = the_stratum(document, 2, 1, 2)
    for found in (other, other | {"ranks": [2, 1, 3]}):
        document["strata"][n] = found
        assert check(document)["flaw"] == "at (2,1,3), the ranks are (2,1,2)"


def test_what_is_open_at_a_stratum_is_no_verdict():
    """Without arcs or without equations nobody knows whether M̄ is singular there, whatever a claim says."""
    document = copy.deepcopy(genuine(2, 2, 1))
    record = the_stratum(document, 1, 1, 2)
    record.pop("arcs"), record.pop("tangent")
    facts = checker.Facts(document)
    assert facts.space((1, 1, 2)) == (6, 7) and facts.space(checker.ZERO) == (12, 12)
    for judged in (facts.by_paper, facts.by_theorem):
        assert flaw_of(judged) == "at (1,1,2), singular or not is open"
    assert flaw_of(facts.tangents) == "a tangent space is open"
    facts = checker.Facts(genuine(2, 2, 1))
    assert facts.by_paper() == facts.by_theorem() == facts.tangents() == []
    assert facts.singular(lambda ranks: False) == [(0, 0, 0), (1, 1, 1), (1, 1, 2)]
    assert facts.singular(lambda ranks: True) == [(2, 1, 2)]


def test_a_fault_in_what_is_taken_for_proved_is_seen(monkeypatch):
    """What follows from theorems is computed all the same: with a wrong part the certificate is refused."""
    document = genuine(2, 2, 2)
    facts = checker.Facts(document)
    assert facts.factorization() == facts.nowhere() == [] and facts.moving == 4
    facts.top = facts.orbits[1, 1, 1]
    facts.top.A = {(1, 1, 0): 1, (1, 2, 0): 2, (2, 1, 0): 3, (2, 2, 0): 6}  # (1, 3)ᵀ (1, 2)
    rows = [{(k, 1, 0): x, (k, 2, 0): 2 * x} for k in (1, 2) for x in (1, 3)]
    columns = [{(1, b, 0): x, (2, b, 0): 3 * x} for b in (1, 2) for x in (1, 2)]
    assert facts.moves() == rows + columns
    assert flaw_of(facts.factorization) == "the derivative of KᵀQ has another rank"
    with monkeypatch.context() as patch:
        patch.setattr(checker, "equations", lambda layer, value: value)
        coordinates = [(c, b, *pair) for c in (1, 2) for b in (1, 2) for pair in ((1, 1), (1, 2), (2, 2))]
        record = {**document["strata"][-1], "equations": [{(name,): 1} for name in coordinates]}
        words = "a tangent space of at least 7 and at most 0 dimensions"
        assert flaw_of(checker.Orbit, facts.layer, record) == words
    with monkeypatch.context() as patch:
        source = checker.Layer.source
        patch.setattr(checker.Layer, "source", lambda layer, r_a: source(layer, r_a) + 1)
        assert flaw_of(checker.Facts, {**document, "dimension": 8}) == "the dimension is not proved"
    for i, k, b in itertools.product((1, 2), repeat=3):  # of V X Xᵀ A X, by units of A and V
        assert checker.phi({(k, b, 0): 1}, {(1, i, 0): 1}) == {(0, 1, b, *sorted((i, k))): 1}


def test_where_the_claims_apply():
    """Most are about d ≥ 2, and many leave out a = d' = 1; for a = 1 or d' = 1 alone they hold."""
    for wide, no_product, excluded in (
        (True, True, {(1, 1, 1), (1, 2, 1), (2, 1, 1), (3, 1, 1)}),
        (True, False, {(1, 1, 1), (1, 2, 1)}),
        (False, True, {(1, 1, 1), (2, 1, 1), (3, 1, 1)}),
        (False, False, set()),
    ):
        claim = checker.Claim("", list, wide, no_product)
        shapes = [(1, 1, 1), (1, 2, 1), (2, 1, 1), (2, 2, 1), (2, 1, 2), (3, 1, 1)]
        assert {shape for shape in shapes if not claim.applies(checker.Layer(*shape))} == excluded
    always = {"lemma-3.1", "theorem-3.2", "agattn.degree"}
    products = always | {"agattn.singular-locus", "agattn.tangent-dimension"}
    for shape, names in (((1, 3, 1), always | {"corollary-3.3"}), ((2, 1, 1), products), ((1, 1, 1), always)):
        assert {name for name, claim in CLAIMS.items() if claim.applies(checker.Layer(*shape))} == names
    for shape in ((1, 1, 1), (2, 1, 1), (2, 2, 1)):
        assert CLAIMS["agattn.degree"].fails(checker.Facts(genuine(*shape))) == []


def test_claims_are_compared_with_the_facts():
    """Each difference has words of its own."""
    document = genuine(2, 2, 1)
    facts, first = checker.Facts(document), document["claims"][0]
    degree = next(claim for claim in document["claims"] if claim["id"] == "agattn.degree")
    singular = next(claim for claim in document["claims"] if claim["id"] == "theorem-3.4.singular")

    def said(record, **changes):
        return flaw_of(facts.prove, {**record, **changes})

    assert said(first) == said(degree) == said(singular) == ""
    assert said(degree, degree=degree["degree"] + 1) == f"the degree is {degree['degree']}"
    assert said(first, verdict="refuted") == "lemma-3.1 is confirmed"
    assert said(first, fails_at=[[1, 1, 1]]) == "lemma-3.1 fails at no stratum"
    product = checker.Facts(genuine(2, 1, 1))
    words = "theorem-3.4.singular does not apply to M(2,1,1)"
    assert flaw_of(product.prove, singular) == words
    changed = {**document, "dimension": 5}
    names = [claim["id"] for claim in document["claims"] if "verdict" in claim]
    found = check(changed)["claims"]
    assert found == [{"id": n, "valid": False, "reason": "the dimension is 6"} for n in names]
    assert len(names) < len(document["claims"])


def test_products_obstruct_only_if_h_columns_of_row_1_are_independent():
    """No column may be left out, be a multiple of another, or be one more than there are heads."""
    [document] = several_heads(4, 1, 1, 3)["claims"]
    y = {(0, *place): x for *place, x in document["y"]}
    record = {name: document["obstruction"][name] for name in ("rows", "columns")}

    def said(y, heads=3, a=1, **changes):
        return obstruction((4, 2, a), heads, y, "products", record | changes)

    dependent = {name: x for name, x in y.items() if name[2] != 3}
    doubled = dependent | {(0, 1, 3, *name[3:]): 2 * x for name, x in y.items() if name[2] == 2}
    words = "row 1 has not h independent columns"
    assert said(y) == said(y | {(0, 2, 1, 1, 1): 1, (0, 2, 4, 1, 1): 1}) == ""  # in row 2 anything may stand
    assert said(y, heads=2) == said(y, heads=4) == said(doubled) == said(dependent) == words
    assert said(y, a=2) == "a is not 1"
    assert said(y, columns=[1, 2, 4]) == "the minor is not a multiple of one cube"


def test_limits_of_heads_are_those_of_the_heads():
    document = several_heads(4, 1, 1, 3)
    [record] = document["claims"]

    def said(**changes):
        return flaw_of(checker.Heads(document).prove, {**record, **changes})

    assert said() == ""
    assert said(heads=record["heads"][:2]) == "there are 2 heads"
    assert said(y=record["y"][1:]) == said(y=[]) == "the heads do not converge to y"
    [head, *others] = record["heads"]
    diverging = head | {"V": [[i, k, power - 3, x] for i, k, power, x in head["V"]]}
    assert said(heads=[diverging, *others]) == "what diverges does not cancel"
    why = why_not(checker.Heads(document).prove, {**record, "obstruction": {"kind": "magic"}})
    assert why == "the obstruction is of no known kind"
    none = checker.Heads({"d": 2, "d_out": 1, "a": 1, "h": 0})
    nothing = {"y": [], "heads": [], "obstruction": {"kind": "squares"}}
    assert flaw_of(none.prove, nothing) == "row 2 has not one entry, below a square"


def determinant(matrix):
    """That of integers, as polynomials of degree 0."""
    return checker.determinant([[{(): x} if x else {} for x in row] for row in matrix]).get((), 0)


def test_determinants_are_sums_over_permutations():
    rng = random.Random(3)
    for n in (1, 2, 3, 4):
        for least in (0, -5):
            matrix = [[rng.choice((0, 0, least, 7, 3)) for _ in range(n)] for _ in range(n)]
            expected = 0
            for order in itertools.permutations(range(n)):
                inversions = sum(i > k for i, k in itertools.combinations(order, 2))
                expected += (-1) ** inversions * math.prod(matrix[i][k] for i, k in enumerate(order))
            assert determinant(matrix) == expected
    for order in itertools.permutations(range(3)):
        matrix = [[int(k == order[i]) for k in range(3)] for i in range(3)]
        assert determinant(matrix) == (-1) ** sum(i > k for i, k in itertools.combinations(order, 2))
    assert determinant([[0, 1], [0, 1]]) == 0 and determinant([]) == 1
    x, y = {(1,): 1}, {(2,): 1}
    assert checker.determinant([[x, y], [y, x]]) == {(1, 1): 1, (2, 2): -1}


OLDER = "agattn 1 wrote it; take checker-1.0.py, from the page on certificates of agattn"


def test_values_are_read_in_one_form(monkeypatch):
    order, length = "entries are out of order", "an entry has a wrong length, or is 0"
    layer = checker.Layer(2, 2, 1)
    for words, function, *arguments in (
        ("something else stands where an object belongs", checker.fields, ["a"], "a"),
        ("something else stands where an integer belongs", checker.integer, True),
        ("something else stands where an integer belongs", checker.integer, "1"),
        ("something else stands where a text belongs", checker.text, 1),
        (length, checker.sparse, [[1, 0]], (1, 3)),
        (length, checker.sparse, [[1, 1, 1]], (1, 3)),
        (length, checker.sparse, [[1]], (1, 3)),
        ("no such index", checker.sparse, [[0, 1]], (1, 3)),
        ("no such index", checker.sparse, [[4, 1]], (1, 3)),
        (order, checker.sparse, [[2, 1], [1, 1]], (1, 3)),
        (order, checker.sparse, [[1, 1], [1, 1]], (1, 3)),
        ("a coordinate has i > k", layer.point, [[1, 1, 2, 1, 1]]),
        ("it is not a certificate of the format 'agattn certificate 2'", check, {"format": "another"}),
        ("it is not a certificate of the format 'agattn certificate 2'", check, [checker.FORMAT]),
        ("a text is too long, or is not printable", check, {**genuine(2, 1, 1), "about": "\n"}),
        (OLDER, check, {"format": "agattn certificate 1"}),
        (OLDER, check, {"format": "agattn deep limits 1"}),
    ):
        assert why_not(function, *arguments) == words, arguments
    assert checker.WORK.done == checker.Work().done == 0  # nothing was computed
    checker.text("x" * 1000)
    monkeypatch.setattr(checker, "STEPS", 5)
    checker.WORK.more(5)
    assert why_not(checker.WORK.more, 1) == "it takes more than 5 steps of arithmetic"
    checker.WORK.done = 0


def test_records_of_claims_have_one_form():
    verdict = {"id": "lemma-3.1", "verdict": "confirmed", "fails_at": []}
    reason = {"id": "agattn.hilbert-function", "reason": ""}
    assert checker._record(checker.Facts, verdict) == verdict
    assert checker._record(checker.Facts, reason) == checker._record(checker.Deep, reason) == reason
    zeros = {"id": "agattn.deep-zeros", "verdict": "refuted", "points": []}
    unknown = "a claim is none of those that can be certified here"
    for words, kind, record in (
        ("a claim has no id", checker.Facts, []),
        ("a claim has no id", checker.Facts, {"id": 5}),
        (unknown, checker.Facts, {**verdict, "id": "lemma-9"}),
        (unknown, checker.Facts, {**verdict, "id": "theorem-3.9"}),
        (unknown, checker.Deep, verdict),
        ("lemma-3.1 has no verdict", checker.Facts, {**verdict, "verdict": "proved"}),
        ("agattn.deep-zeros has no verdict", checker.Deep, zeros),
        ("a text is too long, or is not printable", checker.Facts, {**reason, "reason": "\n"}),
        ("a text is too long, or is not printable", checker.Facts, {**reason, "id": "\n"}),
        ("there is an unknown key", checker.Facts, {**reason, "certificate": None}),
        ("there is an unknown key", checker.Facts, {**verdict, "degree": 1}),
        ("a key is missing: degree", checker.Facts, {**verdict, "id": "agattn.degree"}),
    ):
        assert why_not(checker._record, kind, record) == words
    for other in ({"layer": {"type": "linear"}}, {}):
        document = {"format": checker.FORMAT, "about": "", "claims": [], **other}
        assert why_not(check, document) == "it is about nothing that is known here"
    document = {**genuine(2, 1, 1), "claims": [verdict, verdict]}
    assert why_not(check, document) == "a claim occurs twice"
    document = {**genuine(2, 2, 1), "strata": genuine(2, 2, 1)["strata"][:2]}
    assert check(document)["flaw"] == "there are 3 strata, not 2"


def test_equations_are_read_in_one_form_and_expanded_up_to_a_limit(monkeypatch):
    layer = checker.Layer(2, 2, 1)
    x, z = [1, 1, 1, 1], [1, 1, 1, 2]
    for words, terms in (
        ("a term is out of order", [[1, z, x]]),
        ("a term is out of order", [[1, x], [1, x]]),
        ("a term is 0", [[0, x]]),
    ):
        assert why_not(list, checker.equations(layer, [terms])) == words
    X, Z = tuple(x), tuple(z)
    gradient = checker.gradient({(X, X, Z): 3, (X,): -5}, {(0, *X): 2, (0, *Z): 7})
    assert gradient == {X: 3 * 2 * 2 * 7 - 5, Z: 3 * 4}
    for names, size, terms in (((Z, Z, Z), 0, 8), ((Z, Z), 0, 4), ((Z,), 3, 6), ((Z, Z), 2, 16)):
        y = checker.general(layer, size)
        monkeypatch.setattr(checker, "TERMS", terms)
        checker.put_in({names: 1}, y)
        monkeypatch.setattr(checker, "TERMS", terms - 1)
        assert why_not(checker.put_in, {names: 1}, y) == f"an equation has more than {terms - 1} terms"
    both = {(("A", 1, 1), ("V", 1, 2)): 1, (("A", 2, 1), ("V", 1, 1)): 1}
    assert checker.general(layer, 0)[Z] == both
    assert checker.polynomial([[3, *[0] * 20]], checker.integer) == {(0,) * 20: 3}
    why = why_not(checker.polynomial, [[3, *[0] * 21]], checker.integer)
    assert why == "a polynomial has a degree above 20"


def test_arcs_give_the_vectors_before_twice_the_first_power():
    """p + ε³v_3 + ε⁵v_5 + ε⁶v_6 + ...: an equation is linear in v_3, v_4 and v_5 modulo ε⁶."""
    orbit = checker.Orbit(checker.Layer(2, 2, 1), genuine(2, 2, 1)["strata"][0])
    powers = ((3, 2), (5, 1), (6, 2), (7, 1))
    arc = {
        "K": [[1, 1, 0, 1]], "Q": [[1, 1, 0, 1]],
        "V": [[1, 1, 0, 1], *sorted([1, i, power, 1] for power, i in powers)],
        "y": [[power, 1, 1, 1, i, 1] for power, i in powers],
    }  # fmt: skip
    arc["V"].sort()
    assert orbit._arc(arc) == [{(1, 1, 1, 2): 1}, {(1, 1, 1, 1): 1}]
    another = "an arc has another expansion"
    assert flaw_of(orbit._arc, {**arc, "y": arc["y"][1:]}) == another
    assert flaw_of(orbit._arc, {**arc, "V": [[1, 1, 0, 1]], "y": []}) == another
    assert flaw_of(orbit._arc, {**arc, "y": [*arc["y"], [3000, 1, 1, 1, 1, 1]]}) == another
    assert why_not(orbit._arc, {**arc, "y": [*arc["y"], [3001, 1, 1, 1, 1, 1]]}) == "no such index"
    wide = checker.Orbit.__new__(checker.Orbit)
    wide.layer, wide.y = checker.Layer(2, 2, 2), orbit.y
    assert wide._arc({**arc, "K": [[1, 1, 0, 1], [2, 2, 0, 1]]}) == orbit._arc(arc)
    equal = {**arc, "K": [[1, 1, 0, 1], [2, 1, 0, 1]]}
    assert flaw_of(wide._arc, equal) == "two rows are equal"


def test_elimination_keeps_integers_small():
    """Of 8 rows that are multiples of 10 each is divided by what is common, so that no step counts twice."""
    rng, n = random.Random(2), 8
    rows = [{(k,): 10 * rng.randint(1, 9) for k in range(n)} for _ in range(n)]
    assert checker.rank(rows) == n
    assert steps_of(checker.rank, rows) <= sum(n - k for row in range(n) for k in range(row))
    assert checker.dense_rank([[2, 4], [1, 2]]) == checker.dense_rank([[2, 1], [1, 2]], 3) == 1


def test_critical_points_have_ranks_1_1_1_and_directions_of_small_rank(monkeypatch):
    orbit = checker.Orbit.__new__(checker.Orbit)
    orbit.layer, orbit.ranks = checker.Layer(2, 2, 1), (1, 1, 2)
    monkeypatch.setattr(checker, "differential", lambda *pairs: {})  # as if dφ killed all
    orbit.A, orbit.V = {(1, 1, 0): 1}, {(1, 1, 0): 1}
    orbit.record = {"critical": [[[1, 1, 1], [2, 2, 1]], []]}
    assert flaw_of(orbit._critical) == "A + εȦ is not seen to have rank ≤ a"
    orbit.layer, orbit.A = checker.Layer(3, 2, 2), {(1, 1, 0): 1, (1, 2, 0): 1}
    orbit.record = {"critical": [[[1, 1, 1], [2, 2, 1], [3, 3, 1]], []]}  # of rank 3, by rows and by columns
    assert flaw_of(orbit._critical) == "A + εȦ is not seen to have rank ≤ a"
    orbit.record = {"critical": [[[1, 1, 1], [2, 2, 1]], []]}
    assert flaw_of(orbit._critical) == "a critical point that has other ranks than 1, 1, 1"


def test_an_equation_of_rank_one_vanishes_on_no_larger_rank():
    terms = [[1, [1, 1, 1, 1], [1, 2, 1, 2]], [-1, [1, 1, 1, 2], [1, 2, 1, 1]]]
    assert len(list(checker.equations(checker.Layer(2, 2, 1), [terms]))) == 1
    words = "an equation does not vanish on M̄"
    for layer in (checker.Layer(2, 2, 2), checker.Layer(3, 2, 2)):
        assert flaw_of(list, checker.equations(layer, [terms])) == words
    assert len(list(checker.equations(checker.Layer(3, 2, 1), [terms]))) == 1
