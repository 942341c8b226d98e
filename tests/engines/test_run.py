"""Engines that misbehave, for real: each on PATH as a program, through the whole of agattn."""

import json
import signal
import tempfile
from math import inf, nan
from pathlib import Path

import pytest
from transcripts import block, fibers

from agattn.architectures import SingleLayer
from agattn.cli.main import main
from agattn.engines import process
from agattn.engines.catalogue import SINGULAR
from agattn.engines.emit import emit
from agattn.engines.locate import locate
from agattn.engines.run import run
from agattn.errors import (
    DisagreementError,
    EngineCrashedError,
    EngineError,
    EngineMemoryError,
    EngineTimeoutError,
    EngineVariableError,
    InputError,
    TranscriptError,
)
from agattn.evidence import Status
from agattn.limits import Limits, limited
from agattn.systems.catalogue import build
from agattn.systems.layer_tasks import FIBERS
from agattn.verification.verify import verify
from tests.faults import engines

LAYER = SingleLayer(2, 1)
PROBLEM = build("fiber", LAYER)
PRIME = 32003
# Modulo a prime no fact about fibers is known natively, so that an answer is worth what its engine is worth.
MODULAR = build("fiber", LAYER, characteristic=PRIME)
CLAIM = "corollary-A.2"  # needs the fibers, and nothing else will do


#: Programs that misbehave, with the exit status of a command that depends on them, and two that say why.
PROGRAMS = engines.KINDS | {
    "is killed and says why": ("echo 'error: stack overflow' >&2; kill -9 $$", 4),
    "is foreign": ("kill -ILL $$", 4),
}
#: The error, and what the message says.
MISDEEDS = {
    "sleeps": (EngineTimeoutError, "stopped after 0.7 s, its time limit"),
    "sleeps with children": (EngineTimeoutError, "time limit"),
    "spins": (EngineTimeoutError, "time limit"),
    "is killed": (EngineCrashedError, "killed by signal 9"),
    "is killed and says why": (EngineCrashedError, "killed by signal 9: error: stack overflow"),
    "ends by SIGSEGV": (EngineCrashedError, f"killed by signal {int(signal.SIGSEGV)}"),
    "is foreign": (EngineCrashedError, "install another build of it"),
    "fails": (EngineCrashedError, "status 1: line 3: error: no"),
    "fails after its answer": (EngineCrashedError, "exit status 1"),
    "prints garbage": (TranscriptError, "printed no data block"),
    "prints nothing": (TranscriptError, "printed no data block"),
    "only talks": (TranscriptError, "printed no data block"),
    "answers another problem": (TranscriptError, "answers another problem"),
    "answers half": (TranscriptError, "end mark is missing"),
    "lacks a line": (TranscriptError, "ends with"),
    "answers twice": (TranscriptError, "more than one data"),
    "reports an error and goes on": (TranscriptError, "reported an error"),
    "says an impossible number": (TranscriptError, "the number of preimages at 1,2,2 is 0; it must be 1"),
    "contradicts itself": (TranscriptError, "the number of preimages at 1,2,2 is 2; it must be 1"),
    "did not count": (TranscriptError, "whether a preimage lies at infinity at 1,1,1 is 1; it must be 0"),
    "floods": (EngineCrashedError, "stopped when it had printed 4 MiB"),
}
#: The same of answers modulo PRIME, with the numbers that are wrong.
MODULAR_MISDEEDS = {
    "impossible": ({"length_1x2x2": 0, "points_1x2x2": 0}, TranscriptError, "have 0 points"),
    "contradicts itself": ({"points_1x2x2": 2}, TranscriptError, "2 points and length 1"),
    "says that it did not count": ({"escapes_1x1x1": 1}, EngineError, "not counted"),
}
misdeeds = pytest.mark.parametrize(
    ("problem", "body", "error", "status", "message"),
    [
        *(
            pytest.param(PROBLEM, PROGRAMS[name][0], error, PROGRAMS[name][1], message, id=name)
            for name, (error, message) in MISDEEDS.items()
        ),
        *(
            pytest.param(MODULAR, block(MODULAR, fibers(**wrong)), error, 4, message, id=f"{name}, modulo")
            for name, (wrong, error, message) in MODULAR_MISDEEDS.items()
        ),
    ],
)


@pytest.fixture(autouse=True)
def small_flood(monkeypatch):
    monkeypatch.setattr(process, "MAX_OUTPUT", 4)


def command_line(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([*arguments, "-d", "2", "-o", "1", "--timeout", "0.7"])
    captured = capsys.readouterr()
    return end.value.code, captured.out, captured.err


@misdeeds
def test_verdicts_are_undecided(fakes, problem, body, error, status, message):
    fakes.write("Singular", body)
    characteristic = problem.characteristic or None
    report = verify(LAYER, [CLAIM], "singular", timeout=0.7, characteristic=characteristic)
    (verdict,) = report.verdicts
    assert verdict.status is Status.UNDECIDED
    assert verdict.computed is None and verdict.evidence is None and verdict.engine == "none"
    assert message in verdict.witness and "\n" not in verdict.witness
    assert report.exit_status == status and not report.runs
    assert len(report.troubles) == (2 if status == 3 else 1)  # a limit is tried again over a finite field


@misdeeds
def test_run_fails_in_one_line(fakes, capsys, tmp_path, monkeypatch, problem, body, error, status, message):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    fakes.write("Singular", body)
    if error is EngineError:  # well-formed, so that only a claim's reader sees what is wrong
        assert run(problem, locate(SINGULAR)).answer.integers
    else:
        with pytest.raises(error, match="fiber: ") as raised, limited(timeout=0.7):
            run(problem, locate(SINGULAR))
        assert type(raised.value) is error and message in str(raised.value)
        field = ["--field", str(problem.characteristic or "QQ")]
        code, out, err = command_line(capsys, "run", "fiber", "--engine", "singular", *field, "--json")
        assert (code, out) == (status, "")
        assert err.startswith("agattn: Singular (") and err.count("\n") == 1 and message in err
        assert "Traceback" not in err
    assert list((tmp_path / "tmp").iterdir()) == []


# Memory -----------------------------------------------------------------------------------------------------


def test_memory_is_exhausted_by_a_real_engine(singular, fakes, tmp_path):
    # The program on PATH is the real one, but asked for a matrix that does not fit.
    greedy = tmp_path / "greedy.sing"
    greedy.write_text("intmat m[30000][30000];\nquit;\n")
    fakes.write("Singular", f'exec "{singular.path}" -q --no-rc "{greedy}"')
    with (
        pytest.raises(EngineMemoryError, match="ran out of memory, with 300 MiB allowed; raise memory"),
        limited(timeout=20, memory=300),
    ):
        run(PROBLEM, locate(SINGULAR))
    report = verify(LAYER, [CLAIM], "singular", timeout=20, memory=300)
    assert report.exit_status == 3 and report.verdicts[0].status is Status.UNDECIDED


def test_no_memory_even_to_start(macaulay2):
    with pytest.raises(EngineMemoryError, match="64 MiB allowed"), limited(timeout=20, memory=64):
        run(PROBLEM, macaulay2)


# Several engines --------------------------------------------------------------------------------------------


def replay(fakes, name, problem, answer):
    fakes.write(name, block(problem, answer))


def both_say(fakes, problem, answer):
    for name in ("M2", "Singular"):
        replay(fakes, name, problem, answer)


def test_engines_that_agree(fakes):
    both_say(fakes, PROBLEM, fibers())
    report = verify(LAYER, [CLAIM], "all")
    assert report.exit_status == 0
    assert report.verdicts[0].engine == "macaulay2 9.9.9, singular 9.9.9"


@pytest.mark.parametrize(
    ("engine", "answers", "pieces"),
    [
        ("all", {"M2": fibers(), "Singular": fibers(length_1x1x1=7)},
         ("macaulay2 9.9.9 says", "singular 9.9.9 says", "length=2", "length=7", "the fibers")),
        ("singular", {"Singular": fibers(length_1x2x2=2, points_1x2x2=2)},
         ("singular 9.9.9 says", "native says", "points=2, length=2", "points=1, length=1")),
    ],
)  # fmt: skip
def test_a_disagreement_shows_both(fakes, capsys, engine, answers, pieces):
    """Of two engines, or of one, which alone never refutes, and a native value."""
    for name, answer in answers.items():
        replay(fakes, name, MODULAR, answer)
    with pytest.raises(DisagreementError) as raised:
        verify(LAYER, [CLAIM], engine, characteristic=PRIME)
    arguments = ["--engine", engine, "--field", str(PRIME), "--claim", CLAIM, "--json"]
    code, out, err = command_line(capsys, "verify", *arguments)
    assert (code, out, err.count("\n")) == (4, "", 1) and "Traceback" not in err
    for piece in pieces:
        assert piece in str(raised.value) and piece in err


@pytest.mark.parametrize("liar", ["M2", "Singular"])
def test_of_two_engines_the_one_that_contradicts_a_native_fact_is_refused_and_told(fakes, liar):
    for name in ("M2", "Singular"):
        replay(fakes, name, PROBLEM, fibers(length_1x1x1=7) if name == liar else fibers())
    report = verify(LAYER, [CLAIM], "all")
    (verdict,), (trouble,) = report.verdicts, report.troubles
    assert (verdict.status, report.exit_status, report.engine_failed) == (Status.CONFIRMED, 0, True)
    assert "the length of the fiber at 1,1,1 is 7; it must be 2" in trouble and trouble in verdict.engine


@pytest.mark.parametrize(
    ("engine", "status", "exit_status"), [("singular", Status.UNDECIDED, 3), ("all", Status.REFUTED, 1)]
)
def test_where_there_is_no_native_value_two_engines_refute_and_one_alone_does_not(
    fakes, no_native_fibers, engine, status, exit_status
):
    both_say(fakes, MODULAR, fibers(length_1x2x2=2, points_1x2x2=2))
    report = verify(LAYER, [CLAIM], engine, characteristic=PRIME)
    (verdict,) = report.verdicts
    assert (verdict.status, report.exit_status) == (status, exit_status)
    alone = "singular 9.9.9 alone would refute it, and one engine alone refutes no"
    assert verdict.witness.startswith(alone) is (engine == "singular")


@pytest.mark.parametrize("engine", ["singular", "all"])
def test_no_number_of_engines_refutes_against_a_native_fact(fakes, engine):
    both_say(fakes, PROBLEM, fibers(length_1x2x2=2, points_1x2x2=2))
    report = verify(LAYER, [CLAIM], engine)
    (verdict,) = report.verdicts
    assert (verdict.status, verdict.computed, report.exit_status) == (Status.UNDECIDED, None, 4)
    assert len(report.troubles) == (2 if engine == "all" else 1)
    assert all("preimages at 1,2,2 is 2; it must be 1" in trouble for trouble in report.troubles)


def test_equations_that_do_not_vanish_are_refused(fakes):
    # Well-formed, right dimension, right degree, wrong quartic: y_1⁴.
    problem = build("implicit-ideal", LAYER)
    lines = ["polynomials generators 1", "polynomial 1", "term 1 4,0,0,0,0,0"]
    fakes.write("Singular", block(problem, {"dimension": 5, "degree": 4}, more=lines))
    with pytest.raises(TranscriptError, match="does not vanish"):
        run(problem, locate(SINGULAR))
    report = verify(LAYER, ["agattn.degree"], "singular")
    assert report.exit_status == 4 and report.verdicts[0].status is Status.UNDECIDED
    assert any("does not vanish on M(2,1,2)" in trouble for trouble in report.troubles)


# Who answers alone with --engine all: the other's misdeed, what the verdict says of it, and the exit status
# had the other been all there is.
ALONE = ["sleeps", "is killed", "prints garbage", "says an impossible number"]


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("failing", ["M2", "Singular"])
def test_with_all_a_verdict_says_which_engine_answered_alone(fakes, failing, name):
    (body, status), (_, message) = PROGRAMS[name], MISDEEDS[name]
    names = {"M2": "macaulay2 9.9.9", "Singular": "singular 9.9.9"}
    fakes.write(failing, body)
    (answering,) = names.keys() - {failing}
    replay(fakes, answering, PROBLEM, fibers())
    report = verify(LAYER, [CLAIM], "all", timeout=0.7)
    (verdict,) = report.verdicts
    assert (verdict.status, report.exit_status) == (Status.CONFIRMED, 0)
    assert verdict.engine.startswith(f"{names[answering]} (alone: ") and verdict.engine.endswith(")")
    assert verdict.engine.count(message) == 1 and names[failing] not in verdict.engine
    assert "\n" not in verdict.engine
    assert len(report.troubles) == (2 if status == 3 else 1)
    assert report.engine_failed is (status == 4)


def test_with_all_and_both_failing_nothing_is_decided(fakes):
    fakes.write("M2", "kill -9 $$")
    fakes.write("Singular", "sleep 300")
    report = verify(LAYER, [CLAIM], "all", timeout=0.7)
    (verdict,) = report.verdicts
    assert (verdict.status, verdict.engine, report.exit_status) == (Status.UNDECIDED, "none", 4)
    assert "killed by signal 9" in verdict.witness and verdict.witness.count("time limit") == 1


@pytest.fixture
def no_native_fibers(monkeypatch):
    """Only engines can find fibers."""
    monkeypatch.setitem(vars(FIBERS), "native", None)


def test_with_auto_the_other_engine_decides(fakes, no_native_fibers):
    fakes.write("M2", "kill -9 $$")
    replay(fakes, "Singular", PROBLEM, fibers())
    report = verify(LAYER, [CLAIM])
    assert report.exit_status == 0 and report.verdicts[0].engine == "singular 9.9.9"
    assert len(report.troubles) == 1 and "killed by signal 9" in report.troubles[0]


@pytest.mark.parametrize("name", ["sleeps", "is killed", "prints garbage", "says an impossible number"])
def test_with_auto_engines_that_fail_are_not_asked_what_is_known_natively(fakes, capsys, name):
    body, _ = PROGRAMS[name]
    for engine in ("M2", "Singular"):
        fakes.write(engine, body)
    code, out, _ = command_line(capsys, "verify", "--claim", CLAIM, "--json")
    document = json.loads(out)
    (claim,) = document["claims"]
    assert (code, claim["verdict"], claim["evidence"]) == (0, "confirmed", "proved")
    assert claim["engine"] == "native" and document["troubles"] == []


def test_with_auto_and_nothing_native_failures_are_told(fakes, no_native_fibers):
    for engine in ("M2", "Singular"):
        fakes.write(engine, "kill -9 $$")
    report = verify(LAYER, [CLAIM])
    assert (report.exit_status, report.verdicts[0].engine, len(report.troubles)) == (4, "none", 2)
    assert report.verdicts[0].witness.count("killed by signal 9") == 2


@pytest.mark.parametrize("variable", ["AGATTN_M2", "AGATTN_SINGULAR"])
def test_a_variable_that_names_no_program_is_told_and_the_other_engine_asked(
    fakes, monkeypatch, no_native_fibers, variable
):
    others = {"AGATTN_M2": "singular 9.9.9", "AGATTN_SINGULAR": "macaulay2 9.9.9"}
    both_say(fakes, PROBLEM, fibers())
    monkeypatch.setenv(variable, "/no/such/program")
    told = f"{variable} is '/no/such/program', which is not a program that can be run"
    report = verify(LAYER, [CLAIM])
    assert report.troubles == (told,) and report.exit_status == 0
    assert report.verdicts[0].engine == others[variable]
    with pytest.raises(EngineVariableError, match=told):
        verify(LAYER, [CLAIM], "all")
    report = verify(LAYER, [CLAIM], "native")
    assert report.troubles == () and "can only be found by an engine" in report.verdicts[0].witness


def test_a_finite_field_where_the_rationals_do_not_finish(fakes):
    fakes.write(
        "Singular", f'if grep -q {PRIME} "$script"; then {block(MODULAR, fibers())}; else sleep 300; fi'
    )
    report = verify(LAYER, [CLAIM], "singular", timeout=0.7)
    assert str(report.verdicts[0].evidence) == "modular" and report.exit_status == 0


def test_no_engine_where_one_is_needed(fakes, no_native_fibers):
    report = verify(LAYER, [CLAIM])
    assert report.exit_status == 3 and "pip install 'agattn[engines]'" in report.verdicts[0].witness


# What is kept -----------------------------------------------------------------------------------------------


def test_keep_saves_script_and_transcript(fakes, tmp_path):
    replay(fakes, "Singular", PROBLEM, fibers())
    done = run(PROBLEM, locate(SINGULAR), keep=tmp_path / "kept" / "here")
    script = tmp_path / "kept" / "here" / "fiber-singular.sing"
    assert script.read_text() == emit(PROBLEM, SINGULAR, machine=True) == done.script
    assert script.with_suffix(".transcript").read_text() == done.transcript


def test_keep_saves_what_there_is_of_a_failure(fakes, tmp_path):
    fakes.write("Singular", "echo half; exit 1")
    with pytest.raises(EngineCrashedError):
        run(PROBLEM, locate(SINGULAR), keep=tmp_path)
    assert (tmp_path / "fiber-singular.transcript").read_text() == "half\n"
    (tmp_path / "fiber-singular.sing").unlink()
    fakes.write("Singular", "sleep 300")
    with pytest.raises(EngineTimeoutError), limited(timeout=0.2):
        run(PROBLEM, locate(SINGULAR), keep=tmp_path)
    assert (tmp_path / "fiber-singular.sing").exists()


@pytest.mark.parametrize(
    "limits", [*((t,) for t in (0, -1, inf, nan, 1e300)), *((1, m) for m in (0, -5, 10**30))]
)
def test_limits_that_are_none(limits):
    with pytest.raises(InputError, match=f"^the {'memory' if len(limits) > 1 else 'timeout'} is "):
        Limits(*limits)


def test_the_script_is_run_in_a_private_folder_that_vanishes(fakes, tmp_path):
    fakes.write("Singular", f'pwd > "{tmp_path}/where"; ls > "{tmp_path}/files"; {block(PROBLEM, fibers())}')
    run(PROBLEM, locate(SINGULAR))
    folder = Path((tmp_path / "where").read_text().strip())
    assert folder.name.startswith("agattn-") and not folder.exists()
    assert "script.sing" in (tmp_path / "files").read_text().split()
