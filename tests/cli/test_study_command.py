"""agattn study: lines, exit statuses, interrupts, and agattn report --study."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import call, document, eventually, start, timeless, validate

diskcache = pytest.importorskip("diskcache")
SINGULAR = """
engine = "native"
claims = ["theorem-3.4.singular", "corollary-3.3"]
[layers]
d = [2, 3]
d_out = 2
a = "1..d"
"""
DIMENSION = 'ask = "dimension"\n[[networks]]\ndims = [[3, 2, 3], [5, 1]]\nranks = [[2, 2]]\n'

STRATA = 'ask = "strata"\n[layers]\nd = [2, 3]\nd_out = 1\na = 2\n'


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AGATTN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def study(tmp_path):
    """Run agattn study on a grid; return its status, its lines and what it said."""

    def run(text, *arguments):
        path = tmp_path / "grid.toml"
        path.write_text(text, encoding="utf-8")
        as_json = ["--json"] * ("-O" not in arguments)
        status, out, err = call("study", str(path), *arguments, *as_json)
        return status, [json.loads(line) for line in out.splitlines() if line.startswith("{")] or out, err

    return run


def kept(cache):
    """The keys of the jobs in a cache."""
    return list(diskcache.Cache(cache, disk=diskcache.JSONDisk)) if cache.exists() else []


@pytest.mark.slow
def test_lines_are_valid_and_in_order(study, cache):
    status, lines, err = study(SINGULAR, "--workers", "2")
    assert status == 1 and err == "5 jobs, 10 results: 9 confirmed, 1 refuted\n"
    shapes = [(line["architecture"]["d"], line["architecture"]["a"]) for line in lines]
    assert shapes == [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
    for line in lines:
        validate("study", line)
        validate("verify", line["result"])
    assert [line["status"] for line in lines] == [0, 0, 0, 1, 0]
    assert len(kept(cache)) == 5
    again = study(SINGULAR, "--workers", "1")
    assert [line["cached"] for line in again[1]] == [True] * 5 and again[0] == 1
    assert json.dumps(timeless(again[1])) == json.dumps(timeless(lines))
    assert again[2] == "5 jobs (5 from the cache), 10 results: 9 confirmed, 1 refuted\n"


def test_options_about_the_cache(study, cache, tmp_path):
    text = DIMENSION.replace(", [5, 1]", "")
    assert study(text, "--no-cache", "--workers", "1")[0] == 0 and not cache.exists()
    assert study(text, "--dry-run")[1] == "1 job, 0 of them cached\n" and not cache.exists()
    elsewhere = tmp_path / "elsewhere"
    study(text, "--cache", str(elsewhere), "--workers", "1")
    assert len(kept(elsewhere)) == 1 and not cache.exists()
    assert study(text, "--dry-run", "--cache", str(elsewhere))[1] == "1 job, 1 of them cached\n"
    assert study(text, "--dry-run", "--cache", str(elsewhere), "--fresh")[1] == "1 job, 0 of them cached\n"
    _, lines, _ = study(text, "--cache", str(elsewhere), "--fresh", "--workers", "1")
    assert not lines[0]["cached"]
    file = tmp_path / "results" / "r.jsonl"
    status, out, err = study(text, "-O", str(file), "--cache", str(elsewhere))
    assert status == 0 and json.loads(file.read_text())["cached"] and f"wrote {file}" in err
    heading, rule, row, *_ = out.splitlines()
    assert heading.split() == ["architecture", "asked", "answer", "evidence"]
    assert {*rule} == {"─"} and row.startswith("M(3,2,3;")


def test_the_table_goes_out(study, tmp_path):
    """The table as files and on stdout; then nothing else is printed there."""
    csv, tex, lines = (tmp_path / f"table.{ending}" for ending in ("csv", "tex", "json"))
    status, out, err = study(STRATA, "-O", str(csv), "-O", str(tex), "-O", str(lines))
    assert status == 0 and out.split()[:2] == ["architecture", "asked"] and f"wrote {tex}" in err
    heading, *rows = csv.read_text().splitlines()
    assert heading == "architecture,asked,answer,evidence" and len(rows) == 2
    assert tex.read_text().count(r"& strata &") == 2 and r"\toprule" in tex.read_text()
    for line in json.loads(lines.read_text()):
        validate("study", line)
    assert study(STRATA, "-O", "-", "--format", "csv")[1] == csv.read_text()
    assert len(study(STRATA, "-O", "-")[1]) == 2


def test_parts_together_are_the_study(study):
    _, whole, _ = study(SINGULAR, "--workers", "1")
    first, second = (study(SINGULAR, "--part", part)[1] for part in ("1/2", "2/2"))
    assert [line["key"] for line in whole[::2]] == [line["key"] for line in first]
    assert [line["key"] for line in whole[1::2]] == [line["key"] for line in second]
    assert all(line["cached"] for line in first + second)
    assert study(SINGULAR, "--part", "9/9") == (0, "", "0 jobs\n")


def test_exit_statuses(study, fakes):
    modular = 'ask = "dimension"\n[[networks]]\ndims = [5, 1]\nranks = [3]\nheads = 2\nt = 2\n'
    status, lines, err = study(modular, "--workers", "1")
    assert (status, err) == (3, "1 job: 1 modular\n")
    assert study(modular, "--workers", "1", "--retry-undecided")[1][0]["cached"] is False
    large = "[layers]\nd = [1, 8]\nd_out = 4\n[[networks]]\ndims = [[2, 2]]\nranks = [[1]]\n"
    large = 'engine = "native"\nclaims = ["lemma-3.1", "corollary-3.8"]\n' + large
    status, lines, err = study(large, "--workers", "1")
    assert status == 3 and lines[1]["error"]["type"] == "TooLargeError" and "1 failed" in err
    assert "result" in lines[0] and "result" in lines[2]
    forced = study(large, "--workers", "1", "--force")
    assert forced[0] == 0 and "result" in forced[1][1]
    crash = 'engine = "macaulay2"\nclaims = ["agattn.degree"]\n[layers]\nd = 2\nd_out = 1\n'
    status, out, err = study(crash)
    assert status == 3 and "Macaulay2 was not found" in err and out == ""
    fakes.write("M2", "exit 3")
    status, lines, err = study(crash, "--workers", "1")
    assert status == 4 and lines[0]["result"]["claims"][0]["verdict"] == "undecided"
    fakes.write("M2", "sleep 60")
    status, lines, _ = study(crash, "--workers", "1", "--timeout", "0.2")
    assert status == 3 and lines[0]["job"]["timeout"] == 0.2
    assert study(crash, "--timeout", "0.2")[1][0]["cached"]  # a limit that was reached is kept
    [line] = study(crash, "--timeout", "0.3", "--workers", "1")[1]
    assert not line["cached"]  # another limit is another job


# Interrupts, in processes of their own


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


LONG = """
engine = "native"
claims = ["theorem-3.4.singular", "agattn.tangent-dimension", "theorem-3.2"]
[layers]
d = "1..3"
d_out = "1..3"
a = "1..d"
"""


def begin(tmp_path, output, *arguments):
    """Start a study; its lines go to a file."""
    (tmp_path / "long.toml").write_text(LONG)
    return start("study", "long.toml", "-O", output, *arguments, cwd=tmp_path, start_new_session=True)


def children(process):
    listed = subprocess.run(["ps", "-o", "pid=", "-g", str(process.pid)], capture_output=True, text=True)
    return listed.stdout.split()


def lines_in(path):
    """The lines that are there whole."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.rpartition("\n")[0].splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "how"), [("--workers 2", "terminal"), ("--workers 1", "one"), ("", "terminal")]
)
def test_an_interrupt_loses_nothing_that_was_finished(tmp_path, cache, workers, how):
    part = tmp_path / "first.jsonl.part"
    process = begin(tmp_path, "first.jsonl", *workers.split())
    try:
        assert eventually(lambda: len(lines_in(part)) >= 2) and process.poll() is None
        # A terminal sends the signal to every process of the command.
        os.killpg(process.pid, signal.SIGINT) if how == "terminal" else process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    assert process.returncode == 130 and err.count("\n") == 1, err
    assert err.startswith("agattn: interrupted; ") and "the same command goes on from there" in err
    # What the pool started ends a moment after the command.
    assert eventually(lambda: not children(process))
    done = set(kept(cache))
    # The signal may come between keeping a job and counting it.
    assert 2 <= len(done) < 18 and len(done) - int(err.split()[2]) in (0, 1)
    assert {line["key"] for line in lines_in(part)} <= done and not (tmp_path / "first.jsonl").exists()
    assert err.endswith("the lines so far are in first.jsonl.part\n")

    process = begin(tmp_path, "whole.jsonl", *workers.split())
    assert process.communicate(timeout=60)[1].startswith("wrote") and process.returncode == 1
    whole = lines_in(tmp_path / "whole.jsonl")
    assert {line["key"] for line in whole if line["cached"]} == done and len(whole) == 18
    if workers == "--workers 2":
        process = begin(tmp_path, "fresh.jsonl", "--no-cache")
        assert process.communicate(timeout=60)[1] and process.returncode == 1
        assert json.dumps(timeless(lines_in(tmp_path / "fresh.jsonl"))) == json.dumps(timeless(whole))


def test_a_reader_that_leaves_is_no_error(tmp_path, cache):
    (tmp_path / "grid.toml").write_text(LONG)
    process = start("study", "grid.toml", "--json", cwd=tmp_path)
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(30) == 141 and err == "", err


def test_two_studies_do_not_write_one_file_and_the_lock_dies_with_the_first(study, tmp_path, cache):
    text = DIMENSION.replace(", [5, 1]", "")
    first, part = begin(tmp_path, "r.jsonl", "--no-cache"), tmp_path / "r.jsonl.part"
    try:
        assert eventually(lambda: lines_in(part)) and first.poll() is None
        status, out, err = study(text, "-O", str(tmp_path / "r.jsonl"), "--no-cache")
        assert (status, out) == (2, "") and err.count("\n") == 1
        assert "r.jsonl: another command is writing it; give another name" in err
        asked = {line["job"]["ask"] for line in lines_in(part)}
        assert asked == {"verify"}
    finally:
        first.kill()
        first.communicate()
    assert study(text, "-O", str(tmp_path / "r.jsonl"), "--no-cache")[0] == 0
    assert [line["job"]["ask"] for line in lines_in(tmp_path / "r.jsonl")] == ["dimension"]


def test_a_study_that_does_not_end_leaves_the_finished_file(tmp_path, cache):
    (tmp_path / "r.jsonl").write_text("of yesterday")
    process, part = begin(tmp_path, "r.jsonl", "--no-cache"), tmp_path / "r.jsonl.part"
    try:
        assert eventually(lambda: len(lines_in(part)) >= 2) and process.poll() is None
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    told = "done, and not kept, because of --no-cache; the lines so far are in r.jsonl.part\n"
    assert process.returncode == 130 and err.endswith(told)
    assert len(lines_in(part)) >= 2 and (tmp_path / "r.jsonl").read_text() == "of yesterday"


@pytest.mark.slow
def test_a_scheduler_that_dies_is_told_by_the_jobs_that_were_lost(tmp_path, cache):
    pytest.importorskip("distributed")
    address, dask = f"tcp://127.0.0.1:{free_port()}", [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    scheduler = subprocess.Popen([*dask, "scheduler", "--host", address, "--no-dashboard"], **quiet)
    worker = subprocess.Popen([*dask, "worker", address, "--no-nanny", "--no-dashboard"], **quiet)
    process = begin(tmp_path, "r.jsonl", "--no-cache", "--scheduler", address)
    try:
        while process.poll() == 2:  # the scheduler was not there yet
            process = begin(tmp_path, "r.jsonl", "--no-cache", "--scheduler", address)
        assert eventually(lambda: lines_in(tmp_path / "r.jsonl.part")) and process.poll() is None
        scheduler.kill()
        err = process.communicate(timeout=60)[1]
    finally:
        for one in (process, worker, scheduler):
            one.kill()
            one.wait()
    assert process.returncode == 4 and err.startswith("wrote r.jsonl\n18 jobs") and err.count("\n") == 2, err


def test_a_report_notices_jobs_that_are_missing(study, tmp_path):
    results, grid = tmp_path / "r.jsonl", tmp_path / "whole.toml"
    dimensions = DIMENSION.replace(", [5, 1]", "")
    assert study(dimensions, "-O", str(results), "--no-cache")[0] == 0
    words = ["report", "--study", results, "--grid", grid, "-O", tmp_path / "report"]
    grid.write_text(dimensions)
    assert call(*words)[0] == 0
    grid.write_text(dimensions.replace("[[3, 2, 3]]", "[[3, 2, 3], [2, 2, 2], [3, 2, 2]]"))
    status, _, err = call(*words)
    assert status == 3 and err == f"agattn: 2 of the grid's jobs are not in {results}\n", err


# agattn report --study


def test_reports_of_a_study(study, tmp_path):
    results, one, other = (str(tmp_path / name) for name in ("r.jsonl", "one", "other"))
    status, _, err = study(SINGULAR, "-O", results, "--workers", "1", "-O", one)
    assert status == 1 and f"wrote {one}/report.html and 4 more" in err
    names = {path.name for path in Path(one).iterdir()}
    assert names == {"report.html", "report.md", "grid.toml", "layers.svg", "results.jsonl"}
    assert (Path(one) / "grid.toml").read_text() == SINGULAR
    assert (Path(one) / "results.jsonl").read_text() == Path(results).read_text()
    grid = str(tmp_path / "grid.toml")
    status, out, _ = call("report --study", results, "--grid", grid, "-O", other)
    said = "5 jobs: 9 confirmed, 1 refuted. Refuted somewhere: Theorem 3.4, singular points."
    assert status == 1 and out.startswith(said)
    assert "M(3,2,2)" in (Path(other) / "report.md").read_text()
    bytes_before = {path.name: path.read_bytes() for path in Path(other).iterdir()}
    found = document("report --study", results, "--grid", grid, "-O", other, status=1)
    assert {path.name: path.read_bytes() for path in Path(other).iterdir()} == bytes_before
    assert found["study"]["jobs"] == 5 and len(found["files"]) == 5
