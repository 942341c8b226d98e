"""Ideals and answers that others wrote, read and compared with what is known natively."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.engines.catalogue import ENGINES
from agattn.engines.emit import emit
from agattn.engines.locate import locate
from agattn.engines.reading import read_script
from agattn.errors import InputError, TranscriptError
from agattn.evidence import Evidence
from agattn.geometry.ideal.comparison import compare
from agattn.geometry.ideal.export import export
from agattn.systems.catalogue import build
from agattn.verification.ideal import read

LAYER = ag.SingleLayer(2, 1, 1)
MINORS = (
    "y_(1,1,1,1)*y_(1,2,1,2) - y_(1,1,1,2)*y_(1,2,1,1)",
    "y_(1,1,1,1)*y_(1,2,2,2) - y_(1,1,2,2)*y_(1,2,1,1)",
    "y_(1,1,1,2)*y_(1,2,2,2) - y_(1,1,2,2)*y_(1,2,1,2)",
)
RING = PolynomialRing([Variable("y", (i, j)) for i in (1, 2) for j in (1, 2)])


def relation(tmp_path: Path, name: str, text: str, architecture: object = LAYER) -> str:
    (tmp_path / name).write_text(text)
    return read(tmp_path / name, architecture).comparison.relation


@pytest.mark.parametrize("engine", ["macaulay2", "singular"])
@pytest.mark.parametrize("task", ["implicit-ideal", "hilbert-function", "fiber"])
@pytest.mark.parametrize("machine", [False, True])
def test_the_round_trip_by_hand(tmp_path, engine, task, machine):
    there = locate(ENGINES[engine])
    script = tmp_path / f"i{there.engine.ending}"
    script.write_text(emit(build(task, LAYER), there.engine, machine=machine))
    command = there.engine.command(there.path, script)
    printed = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert relation(tmp_path, "i.out", printed.stdout) == "equal"
    says = "the ideal of M̄" if task == "implicit-ideal" else "what is known natively"
    assert says in read(tmp_path / "i.out", LAYER).summary()
    damaged = printed.stdout.replace("dimension: 4", "dimension: 3").replace(": 6", ": 7")
    if damaged != printed.stdout and not machine:
        assert relation(tmp_path, "j.out", damaged) == "different"
    if not machine:
        with pytest.raises(InputError, match="expected 'agattn emit"):
            read(tmp_path / "i.out", ag.SingleLayer(2, 1))


def test_relations(tmp_path):
    assert relation(tmp_path, "a.m2", f"I = ideal({', '.join(MINORS)})") == "equal"
    assert relation(tmp_path, "b.m2", f"S = QQ[y_(1,1,1,1)..y_(1,2,2,2)]\nideal({MINORS[0]})") == "contained"
    wrong = MINORS[2].replace("-", "+")
    assert relation(tmp_path, "c.sing", f"ideal I = {MINORS[0]}, {MINORS[1]},\n{wrong};") == "not contained"
    answer = read(tmp_path / "c.sing", LAYER).comparison
    assert (
        answer.extra == "y_(1,1,2,2)*y_(1,2,1,2) + y_(1,1,1,2)*y_(1,2,2,2)" and "at the weights" in answer.at
    )
    assert answer.missing == "-y_(1,1,2,2)*y_(1,2,1,2) + y_(1,1,1,2)*y_(1,2,2,2)"
    assert relation(tmp_path, "d.m2", f"ideal({', '.join(MINORS)}, y_(1,1,1,1)^3)") == "larger"
    assert relation(tmp_path, "e.m2", "ideal()") == "contained"
    assert relation(tmp_path, "f.m2", f"ideal({MINORS[0]} + ({MINORS[0]})*y_(1,1,1,1))") == "contained"
    assert "not homogeneous" in read(tmp_path / "f.m2", LAYER).comparison.open
    wide = ag.SingleLayer(3, 2, 2)
    quadrics = export(ag.ideal(wide, max_degree=2), "macaulay2")
    assert relation(tmp_path, "g.m2", quadrics, wide) == "equal so far"


def test_models(tmp_path):
    model = ag.PolynomialMap(lambda a, b: [a * a, a * b, b * b], {"a": (), "b": ()})
    assert relation(tmp_path, "i.m2", "ideal(y_1*y_3 - y_2^2)", model) == "equal"
    assert relation(tmp_path, "i.sing", "y(1)*y(3)+y(2)^2", model) == "not contained"

    with pytest.raises(InputError, match="is no cone"):
        affine = ag.PolynomialMap(lambda a: [a + 1, a * a], {"a": ()})
        relation(tmp_path, "i.m2", "ideal(y_1^2 - y_2)", affine)


def test_an_answer_says_no_more_than_is_known(tmp_path):
    (tmp_path / "i.m2").write_text(f"ideal({MINORS[0]} + ({MINORS[0]})*y_(1,1,1,1))")
    comparison = read(tmp_path / "i.m2", LAYER).comparison
    assert comparison.summary() == "contained: all its generators vanish on M"
    known = ag.ideal(LAYER, 2)
    generators = [f.polynomial(known.ring) for f in known]
    pieces = tuple(piece.replace(evidence=Evidence.MODULAR) for piece in known.degrees)
    assert compare(known, generators).evidence is Evidence.PROVED
    assert compare(known.replace(degrees=pieces), generators).evidence is Evidence.MODULAR
    wrong = compare(known.replace(degrees=pieces), [*generators, known.ring.gens[0]])
    assert (wrong.extra, wrong.evidence) == ("y_(1,1,1,1)", Evidence.PROVED)


def test_documents(tmp_path):
    one_token = ag.SingleLayer(2, 1, t=1)
    assert relation(tmp_path, "z.json", export(ag.ideal(one_token, 4), "json"), one_token) == "equal"
    assert relation(tmp_path, "i.json", export(ag.ideal(LAYER, 2), "json")) == "equal"
    for form, ending in (("macaulay2", "m2"), ("singular", "sing")):
        assert relation(tmp_path, f"i.{ending}", export(ag.ideal(LAYER, 2), form)) == "equal"
    assert relation(tmp_path, "j.json", '{"generators": ["y_(1,1,1,1)"]}') == "not contained"
    oscar = """{"_ns": {"Oscar": ["https://github.com/oscar-system/Oscar.jl", "1.5.0"]},
        "_type": {"name": "MPolyIdeal", "params": "r"},
        "data": [[[["1", "0"], "-2//3"]], [[["0", "2"], "1"]]],
        "_refs": {"r": {"_type": {"name": "MPolyRing", "params": {"_type": "QQField"}},
                        "data": {"symbols": ["y[1,1,1,1]", "y[1,1,1,2]"]}}}}"""
    assert relation(tmp_path, "o.mrdi", oscar) == "not contained"
    assert read(tmp_path / "o.mrdi", LAYER).comparison.extra == "-2/3*y_(1,1,1,1)"


def test_macaulay2_and_we_read_each_others_mrdi(tmp_path):
    there = locate(ENGINES["macaulay2"])
    if there.version < "1.26.05":
        pytest.skip("Macaulay2 reads this format from 1.26.05 on")
    ours, theirs = tmp_path / "ours.mrdi", tmp_path / "theirs.mrdi"
    ours.write_text(export(ag.ideal(LAYER, 2), "mrdi"))
    script = tmp_path / "i.m2"
    script.write_text(
        f'needsPackage "MRDI"; I = loadMRDI get "{ours}"; print(numgens I, degree I);'
        f'saveMRDI(trim I, FileName => "{theirs}")'
    )
    command = there.engine.command(there.path, script)
    printed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert printed.stdout.strip() == "(3, 3)", printed.stderr
    assert read(theirs, LAYER).comparison.relation == read(ours, LAYER).comparison.relation == "equal"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("i.m2", "ideal(y_(1,1,1,1),\n  y_(1,1,1,1) $ 2)", r"line 2, column 15: expected '\)' or ',' .*'\$'"),
        ("i.m2", "ideal(x)", "column 7: x is no coordinate; these are y_.1,1,1,1., .*y_.1,2,2,2."),
        ("i.m2", "ideal(y_(1,1,1,1)", "expected .* but the text ends"),
        ("i.m2", 'ideal(y_(1,1,1,1)); run "rm -r x"', "line 1, column 21: expected the end of the file"),
        ("i.m2", "ZZ/7[x]\nideal()", "characteristic 7"),
        ("i.m2", "", "expected an ideal, such as"),
        ("i.m2", "ideal(2/0)", "a division by zero"),
        ("i.m2", "ideal(y_(1,1,1,1) // 2)", r"expected .*'/'"),
        ("i.sing", "ideal I = y(1)(1)(1)(1)--y(1)(1)(1)(2);", "column 25: expected a number"),
        ("i.m2", "ideal(" + "(" * 200000, "more than 100 brackets in brackets"),
        ("i.m2", "ideal((y_(1,1,1,1)+y_(1,1,1,2)+y_(1,2,1,1)+y_(1,2,2,2))^200)", "exponent 200 is too large"),
        ("i.m2", "ideal((y_(1,1,1,1)+1)^1000000)", "the exponent 1000000 is too large"),
        ("i.m2", "I = value get x", "expected a number, a coordinate or"),
        ("i.json", "[1, 2]", 'expected {"generators"'),
        ("i.json", "{", "is not JSON"),
        ("i.json", '{"coordinates": [[1,1,1,1]], "modules": [{"equations": [[[0.5, [[0, 1]]]]]}]}',
         "is no ideal"),
        ("i.json", '{"coordinates": [[1,1,1,1]], "modules": [{"equations": [[[1, []], [2, []]]]}]}',
         "no ideal"),
        ("i.mrdi", "{}", "no ideal of polynomials over QQ"),
        (
            "i.mrdi",
            '{"_type": {"name": "MPolyIdeal", "params": "r"}, "data": [[[["1"], "1"]]], "_refs": {"r": '
            '{"_type": {"params": {"_type": "QQBarField"}}, "data": {"symbols": ["y[1,1,1,1]"]}}}}',
            "no ideal of polynomials over QQ",
        ),
        ("i.out", "nothing", "does not say what it answers"),
        ("i.out", "agattn emit implicit-ideal --engine singular -d 2 -o 1 -a 1", "has no answer"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / name, LAYER)


def test_a_damaged_block_is_refused(tmp_path):
    (tmp_path / "i.out").write_text("agattn-data 1 implicit-ideal 0000\nagattn-end 0 0\n")
    with pytest.raises(TranscriptError, match="answers another problem"):
        read(tmp_path / "i.out", LAYER)


NUMBERS = st.fractions(max_denominator=9).filter(bool)
TERMS = st.dictionaries(st.tuples(*[st.integers(0, 4)] * 4), NUMBERS, max_size=6)


@given(terms=TERMS)
def test_what_is_written_is_read(terms):
    f = RING.from_terms({key: Fraction(c) for key, c in terms.items()})
    for text in (f.macaulay2(), f.singular()):
        assert read_script(f"ideal I = {text};", RING, "i.sing") == (f,)
