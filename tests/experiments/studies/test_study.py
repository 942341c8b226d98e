"""Jobs, their keys, the cache, the three places where they are done, and the order of the lines."""

import json
import os
import pickle
import sqlite3
import sys
import tempfile
import textwrap
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import eventually, timeless, validate
from hypothesis import given
from hypothesis import strategies as st

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.architectures.model_file import architecture_of
from agattn.claims import NETWORK_CLAIMS
from agattn.claims.network_dimension import with_paper
from agattn.errors import EngineNotFoundError, InputError
from agattn.experiments.studies import jobs as jobs_module
from agattn.experiments.studies.cache import Cache
from agattn.experiments.studies.grid import read_grid
from agattn.experiments.studies.jobs import (
    Job,
    exit_status,
    failure,
    key_of,
    make_line,
    read_lines,
    versions_for,
    written,
)
from agattn.experiments.studies.study import cluster, study
from agattn.geometry.dimension.dimension import dimension
from agattn.limits import limited
from agattn.verification.strata_table import strata_table
from agattn.verification.verify import verify
from agattn.workers import processes

diskcache = pytest.importorskip("diskcache")
NATIVE = versions_for("native")
CLAIM = ("corollary-3.3",)
NETWORK = DeepNetwork((3, 2, 3), (2, 2))


def job(d=2, d_out=1, **more):
    return Job(SingleLayer(d, d_out), "verify", **{"claims": CLAIM, **more})


def texts(lines):
    return [written(timeless(line)) for line in lines]


# Keys


def test_the_key_depends_on_what_the_answer_depends_on():
    base = job(engine="all")
    versions = {**NATIVE, "macaulay2": "1.26"}
    others = [
        replace(base, architecture=SingleLayer(2, 1, 1)), replace(base, architecture=SingleLayer(2, 1, t=3)),
        replace(base, claims=()), replace(base, claims=("lemma-3.1",)), replace(base, seed=1),
        replace(base, engine="auto"), replace(base, timeout=61), replace(base, memory=100),
    ]  # fmt: skip
    keys = {other.key(versions) for other in [base, *others]}
    keys |= {base.key({**versions, name: "0"}) for name in versions} | {base.key(NATIVE)}
    assert len(keys) == len(others) + len(versions) + 2
    assert base.key(versions) == job(engine="all").key(dict(reversed(versions.items())))


def test_limits_of_engines_are_nothing_to_native_jobs():
    assert job().key(NATIVE) == job(timeout=3, memory=100).key(NATIVE)
    assert "timeout" not in job().settings and job(engine="auto").settings["timeout"] == 60.0


def test_versions_name_engines_where_they_are_used(fakes):
    assert set(versions_for("native")) == {"agattn", "code"} == set(versions_for("auto"))
    for name in ("singular", "all"):
        with pytest.raises(EngineNotFoundError):
            versions_for(name)
    fakes.write("M2", "exit 1", version="1.2.3")
    assert versions_for("auto")["macaulay2"] == versions_for("macaulay2")["macaulay2"] == "1.2.3"


@pytest.mark.parametrize("architecture", [SingleLayer(3, 2, 1, 4), NETWORK, DeepNetwork((2, 2), (1,), heads=3,
                         skip=True, normalization="softmax", temperature=0.5, value_rank=1)])  # fmt: skip
def test_architectures_survive_json(architecture):
    assert architecture_of(json.loads(json.dumps(architecture.as_json()))) == architecture


# Outcomes


def perform(a_job, versions):
    """What came of a job."""
    line, lasting = jobs_module.perform(a_job, versions)
    return SimpleNamespace(**{"result": None, "error": None, **line}, is_lasting=lasting)


def test_results_are_those_of_the_commands():
    verified = perform(job(claims=()), NATIVE)
    expected = verify(SingleLayer(2, 1), (), "native").as_json()
    assert timeless(verified.result) == json.loads(json.dumps(timeless(expected))) and verified.status == 0
    found = perform(Job(NETWORK, "dimension", seed=4), NATIVE)
    expected = with_paper(dimension(NETWORK, seed=4)).as_json()
    assert timeless(found.result) == json.loads(json.dumps(timeless(expected)))
    table = perform(Job(SingleLayer(3, 2, 2), "strata"), NATIVE)
    expected = strata_table(SingleLayer(3, 2, 2)).as_json()
    assert table.result == json.loads(json.dumps(expected)) and table.status == 0


def test_statuses():
    assert perform(Job(SingleLayer(3, 2, 2), "verify", ("corollary-A.4",)), NATIVE).status == 1
    unproved = perform(Job(DeepNetwork((5, 1), (3,), 2, heads=2), "dimension"), NATIVE)
    assert unproved.result["evidence"] == "modular" and unproved.status == 3
    lines = [{"status": status} for status in (0, 3, 2, 4, 1)]
    assert [exit_status(lines[: n + 1]) for n in range(5)] == [0, 3, 3, 4, 1]


def test_what_goes_wrong_becomes_the_outcome(monkeypatch):
    large = perform(job(30, 30), NATIVE)
    assert large.error["type"] == "TooLargeError" and "--force" in large.error["message"]
    assert large.result is None and large.status == 2 and not large.is_lasting
    assert perform(Job(SingleLayer(2, 1, t=1), "strata"), NATIVE).error["type"] == "InputError"
    assert "not asked about" in perform(Job(SingleLayer(2, 1), "dimension"), NATIVE).error["message"]
    for error, status in ((MemoryError(), 3), (ZeroDivisionError("division\nby zero"), 4)):
        monkeypatch.setattr(jobs_module, "verify", lambda *_, error=error, **__: (_ for _ in ()).throw(error))
        outcome = perform(job(), NATIVE)
        assert outcome.error["type"] == type(error).__name__ and outcome.status == status
        assert "\n" not in outcome.error["message"]


def test_another_version_elsewhere_is_an_error():
    outcome = perform(job(), {**NATIVE, "code": "0"})
    assert "the worker has code of agattn" in outcome.error["message"]
    assert "was started with 1.26" in perform(job(), {**NATIVE, "macaulay2": "1.26"}).error["message"]


# The cache


def line_of(a_job=None):
    a_job = a_job or job()
    return jobs_module.perform(a_job, NATIVE)[0]


def stored(folder):
    """The database itself, to be damaged."""
    return diskcache.Cache(folder, disk=diskcache.JSONDisk)


def test_kept_and_found(tmp_path):
    cache, line = Cache(tmp_path / "new"), line_of()
    assert cache.get(line["key"]) is None and not cache.folder.exists()
    cache.put(line)
    assert written(cache.get(line["key"])) == written(line)  # also in the same order
    assert list(stored(cache.folder)) == [line["key"]]
    assert [path.name for path in cache.folder.iterdir()] == ["cache.db"]


@pytest.fixture(scope="module")
def in_memory():
    """A folder on no disk, for which a database would wait hundreds of times."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield folder


@pytest.fixture(scope="module")
def sound(in_memory):
    """A sound database with one line."""
    cache = Cache(Path(in_memory, "sound"))
    cache.put(line_of_2_1)
    return (cache.folder / "cache.db").read_bytes()


@given(st.data())
def test_no_damaged_file_is_trusted(in_memory, sound, data):
    damaged, line = Cache(Path(tempfile.mkdtemp(dir=in_memory))), line_of_2_1
    path = damaged.folder / "cache.db"
    position = data.draw(st.integers(0, len(sound) - 1))
    match data.draw(st.sampled_from(["cut", "flip", "insert"])):
        case "cut":
            path.write_bytes(sound[:position])
        case "flip":
            path.write_bytes(sound[:position] + bytes([sound[position] ^ 1]) + sound[position + 1 :])
        case "insert":
            path.write_bytes(sound[:position] + b"1" + sound[position:])
    assert damaged.get(line["key"]) in (None, line)
    damaged.put(line)
    assert damaged.get(line["key"]) in (None, line)  # a page that nobody writes may be damaged still


line_of_2_1 = line_of()


@pytest.mark.parametrize("text", ["", "null", "SQLite format 3\0", "\xff" * 9999])
def test_what_is_no_database_is_an_empty_cache(tmp_path, text):
    cache = Cache(tmp_path)
    (tmp_path / "cache.db").write_text(text, encoding="latin-1")
    assert cache.get(line_of_2_1["key"]) is None
    cache.put(line_of_2_1)
    assert cache.get(line_of_2_1["key"]) == line_of_2_1
    aside = tmp_path / "cache.db.damaged"
    assert aside.read_text(encoding="latin-1") == text if text else not aside.exists()


@pytest.mark.parametrize("value", [None, [], {}, 3, {"line": 3}, {"line": {}, "sha256": ""}])
def test_what_is_no_result_is_none(tmp_path, value):
    cache = Cache(tmp_path)
    cache.put(line_of_2_1)
    stored(tmp_path)[line_of_2_1["key"]] = value
    assert cache.get(line_of_2_1["key"]) is None


def test_pickles_are_not_read(tmp_path):
    cache, key = Cache(tmp_path), line_of_2_1["key"]
    cache.put(line_of_2_1)
    stored(tmp_path)._sql("UPDATE Cache SET mode = ?, value = ?", (4, pickle.dumps(Trap())))
    assert cache.get(key) is None and not Trap.sprung


class Trap:
    """What it does when it is unpickled."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


def test_a_result_about_another_job_is_none(tmp_path):
    """Even with a checksum that is right."""
    cache, wanted = Cache(tmp_path), job(3).key(NATIVE)
    cache.put({**line_of_2_1, "key": wanted})
    assert wanted in stored(tmp_path) and cache.get(wanted) is None
    document = stored(tmp_path)[wanted]
    document["line"] = line_of_2_1
    stored(tmp_path)[wanted] = document
    assert cache.get(wanted) is None and cache.get(line_of_2_1["key"]) is None


@contextmanager
def held(folder):
    """Hold the database of a folder, as a study on a slow disk does."""
    other = sqlite3.connect(folder / "cache.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield other
    finally:
        other.close()


@pytest.mark.parametrize("opening", [True, False])
def test_a_database_that_others_hold_is_waited_for(tmp_path, opening):
    cache, line = Cache(tmp_path), line_of_2_1
    if not opening:
        cache.open()
    with held(tmp_path) as other:
        threading.Timer(0.5, other.rollback).start()
        cache.put(line)
    assert cache.get(line["key"]) == line
    assert [path.name for path in tmp_path.iterdir()] == ["cache.db"]  # and not set aside as damaged


def test_a_database_that_others_hold_for_ever_is_no_damage(tmp_path, monkeypatch):
    monkeypatch.setattr("agattn.experiments.studies.cache._PATIENCE", 0.1)
    cache = Cache(tmp_path)
    cache.put(line_of_2_1)
    message = r"cannot keep results in .*: another process holds the database; choose another"
    with held(tmp_path), pytest.raises(InputError, match=message):
        cache.put(line_of_2_1)
    monkeypatch.setattr(diskcache.Cache, "set", lambda *_, **__: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(InputError, match=r"cannot keep results in .*: MemoryError; choose another"):
        cache.put(line_of_2_1)
    assert [path.name for path in tmp_path.iterdir()] == ["cache.db"]


# Studies


@given(st.permutations(range(5)))
def test_lines_come_in_the_order_of_the_jobs(order):
    def shuffled(tasks, *_):
        tasks = list(tasks)
        for n in order:
            number, a_job, _ = tasks[n]
            yield number, *jobs_module.perform(a_job, NATIVE)

    finished = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agattn.experiments.studies.study._done", shuffled)
        jobs = [job(1, d_out) for d_out in range(1, 6)]
        lines = study(jobs, finished=lambda line: finished.append(line["architecture"]["d_out"] - 1))
        assert [line["architecture"]["d_out"] for line in lines] == [1, 2, 3, 4, 5]
    assert finished == list(order)


def test_a_line_does_not_wait_for_those_after_it():
    jobs = [job(1, 1), job(1, 2), job(1, 3)]
    done = []
    lines = study(jobs, finished=lambda line: done.append(line["key"]))
    next(lines)
    assert len(done) == 1
    lines.close()


def test_a_line_that_is_kept_waits_for_no_job(tmp_path, monkeypatch):
    cache = Cache(tmp_path)
    list(study([job(1)], cache=cache))
    monkeypatch.setattr("agattn.experiments.studies.study.perform", None)
    lines = study([job(1), job(2)], cache=cache)
    assert next(lines)["cached"]


def test_done_once(tmp_path, monkeypatch):
    jobs, cache = [job(d) for d in (1, 2, 3)], Cache(tmp_path)
    first = list(study(jobs, cache=cache))
    monkeypatch.setattr("agattn.experiments.studies.study.perform", None)  # nothing is done again
    again = list(study(jobs, cache=cache))
    assert texts(first) == texts(again)
    assert [line["cached"] for line in first + again] == [False] * 3 + [True] * 3
    assert [line["seconds"] for line in first] == [line["seconds"] for line in again]


def test_what_is_not_done_again(tmp_path):
    unproved = Job(DeepNetwork((5, 1), (3,), 2, heads=2), "dimension")
    jobs, cache = [Job(NETWORK, "dimension"), unproved, job(30, 30)], Cache(tmp_path)

    def cached(**options):
        return [line["cached"] for line in study(jobs, cache=cache, **options)]

    assert cached() == [False] * 3
    assert cached() == [True, True, False]  # errors are not kept: the third job is too large
    assert cached(retry_open=True) == [True, False, False]
    assert cached(fresh=True) == [False] * 3
    del stored(tmp_path)[jobs[0].key(NATIVE)]
    assert cached() == [False, True, False]
    assert cached() == [True, True, False]


def test_engine_failures_are_not_kept(tmp_path, fakes):
    fakes.write("M2", "exit 3")
    a_job = job(claims=("agattn.degree",), engine="macaulay2")
    (line,) = study([a_job], cache=Cache(tmp_path / "cache"))
    assert line["status"] == 4 and line["result"]["troubles"]
    assert Cache(tmp_path / "cache").get(line["key"]) is None


def test_a_cluster_that_cannot_be_reached_reaches_the_caller():
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        list(study([job()], workers=lambda: cluster("nowhere")))


# Worker processes


def by_two(jobs, **more):
    """The lines of a study in two processes."""
    with limited(workers=2):
        return list(study(jobs, **more))


def test_any_number_of_workers_gives_the_same_bytes():
    jobs = [job(d, d_out, claims=()) for d in (1, 2) for d_out in (1, 2)] + [Job(NETWORK, "verify")]
    assert texts(by_two(jobs)) == texts(study(jobs))


@pytest.mark.parametrize(
    ("long", "processors", "started"), [(0, 3, [3]), (0, 9, [4]), (1e9, 3, []), (0, 1, [])]
)
def test_all_processors_do_what_is_left_where_that_takes_long(monkeypatch, long, processors, started):
    """The first of five jobs is done here, to see how long they take; no workers are idle."""
    numbers = []

    def counted(number):
        numbers.append(number)
        return processes(number)

    monkeypatch.setattr("agattn.experiments.studies.study.processes", counted)
    monkeypatch.setattr("agattn.workers.processors", lambda: processors)
    monkeypatch.setattr("agattn.workers.LONG", long)
    jobs = [job(1, d_out) for d_out in range(1, 6)]
    assert texts(study(jobs)) == texts(map(line_of, jobs)) and numbers == started


def test_no_more_workers_begin_than_the_memory_allows(monkeypatch):
    monkeypatch.setattr("agattn.memory.available", lambda: 300 * 2**20)
    monkeypatch.setattr("agattn.experiments.studies.study.processes", None)
    told = []
    with limited(workers=4, progress=told.append):
        list(study([job(1), job(2), job(3)]))
    assert told == ["a study: 3 workers need up to 768 MiB of memory, and 300 MiB are free; 1 is used"]


def test_a_worker_that_dies_takes_only_its_job_with_it(fakes, tmp_path):
    """Macaulay2 kills the worker, who started its supervisor, if asked about M(2,1,2)."""
    fakes.write_python("M2", textwrap.dedent("""
        import os, signal
        if "d = 2, d' = 1, a = 2" in script or "M(2,1,2)" in script:
            with open(f"/proc/{os.getppid()}/stat") as supervisor:
                os.kill(int(supervisor.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
        sys.exit(1)
    """))  # fmt: skip
    jobs = [
        Job(SingleLayer(2, 1, a), "verify", ("agattn.degree",), engine="macaulay2", timeout=30)
        for a in (1, 2, 3)
    ]
    lines = by_two(jobs, cache=Cache(tmp_path / "cache"))
    assert [line["architecture"]["a"] for line in lines] == [1, 2, 3]
    assert lines[1]["error"]["type"] == "KilledWorker" and lines[1]["status"] == 4
    assert "died, perhaps as memory ran out" in lines[1]["error"]["message"]
    assert "result" in lines[0] and "result" in lines[2]
    with diskcache.Cache(tmp_path / "cache") as kept:
        assert not len(kept)  # the engine failed: nothing is worth keeping


def is_running(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_leaving_stops_workers_and_engines(fakes, tmp_path):
    fakes.write("M2", f"echo $$ > {tmp_path}/pid.part; mv {tmp_path}/pid.part {tmp_path}/pid; exec sleep 60")
    slow = job(engine="macaulay2")
    with processes(2) as pool:
        pool.submit(os.getpid)
        worker = pool.next_done().result()
        future = pool.submit(jobs_module.perform, slow, versions_for("macaulay2"))
        assert eventually((tmp_path / "pid").exists)
        engine = int((tmp_path / "pid").read_text())
        assert is_running(engine) and is_running(worker)
    assert not is_running(worker) and not future.done()
    assert eventually(lambda: not is_running(engine))


# A cluster


@pytest.fixture(scope="module")
def dask_address():
    if os.environ.get("CI") is None:
        pytest.importorskip("distributed")
    from distributed import LocalCluster

    alone = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with LocalCluster(**alone, protocol="tcp", dashboard_address=None, host="127.0.0.1") as found:
        yield found.scheduler_address


def test_whatever_ends_a_study_ends_the_workers(dask_address):
    @contextmanager
    def watched():
        with cluster(dask_address) as found:
            try:
                yield found
            finally:
                left.append(found)

    def ended(how):
        left.clear()
        lines = study([job(1, 1), job(1, 2)], workers=watched, finished=how.get("finished", id))
        next(lines)
        assert not left
        how["then"](lines)
        return len(left)

    def interrupt(line):
        if line["architecture"]["d_out"] == 2:
            raise KeyboardInterrupt

    def interrupted(lines):
        with pytest.raises(KeyboardInterrupt):
            list(lines)

    left = []
    assert ended({"then": list}) == 1
    assert ended({"then": lambda lines: lines.close()}) == 1
    assert ended({"finished": interrupt, "then": interrupted}) == 1


def test_a_cluster_gives_the_same_bytes(dask_address):
    jobs = [job(d, claims=()) for d in (1, 2, 3)] + [job(30, 30)]
    lines = list(study(jobs, workers=lambda: cluster(dask_address)))
    assert texts(lines) == texts(study(jobs)) and "error" in lines[-1]


def lost(*_):
    raise ConnectionError("the machine\nis gone")


def test_a_lost_worker_is_an_error_of_its_job(dask_address, monkeypatch):
    monkeypatch.setattr("agattn.experiments.studies.study.perform", lost)
    (line,) = study([job()], workers=lambda: cluster(dask_address))
    assert (line["status"], line["error"]["type"]) == (4, "ConnectionError")
    assert line["error"]["message"] == "the worker that did this job was lost: the machine is gone"


def test_no_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"needs Dask; install it with: pip install 'agattn\[study\]'"):
        list(study([job()], workers=lambda: cluster("tcp://127.0.0.1:8786")))


# Lines


def test_lines_have_the_published_form():
    jobs = [
        job(claims=()), job(2, 2, engine="auto", claims=("lemma-3.1",)), job(30, 30),
        Job(NETWORK, "verify"), Job(NETWORK, "dimension"), Job(SingleLayer(3, 2), "strata"),
        Job(NETWORK, "symmetries"), Job(SingleLayer(3, 1), "ideal", max_degree=3),
    ]  # fmt: skip
    for a_job in jobs:
        versions = versions_for(a_job.engine)
        line, _ = jobs_module.perform(a_job, versions)
        validate("study", line)
        if "result" in line:
            validate(a_job.ask, line["result"])
        assert read_lines(written(line) + "\n\n") == [line]


def test_of_two_lines_about_a_job_the_last_counts():
    failed = make_line(job(), NATIVE, failure("E", "m"), 4, 1.0)
    assert read_lines(f"{written(failed)}\n{written(line_of_2_1)}") == [line_of_2_1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("{", "line 2 is not JSON"),
        ("[" * 99999, "line 2 is not JSON"),
        ("9" * 5000, "line 2 is not JSON"),
        ("3", "line 2 is no result of a study: Expected `object`, got `int`"),
        (lambda line: line["result"].update(seconds=float("nan")), "line 2 is not JSON: NaN is no number"),
        (lambda line: line.pop("key"), "line 2 is no result of a study: Object missing required field `key`"),
        (lambda line: line.pop("result"), "line 2 is no result of a study"),
        (lambda line: line.update(error={"type": "E", "message": ""}), "line 2 is no result of a study"),
        (lambda line: line["job"].update(ask="fiber"), "a study: Invalid value 'fiber' - at `$.job.ask`"),
        (lambda line: line["result"].pop("claims"), "a study: Object missing required field `claims`"),
        (lambda line: line["result"]["claims"][0].update(verdict="maybe"), "`$.claims[0].verdict`"),
        (lambda line: line["job"].update(seed=1), "its key is not that of its job"),
        (lambda line: line["architecture"].update(d=4), "its result is about another architecture"),
        (lambda line: line["result"]["architecture"].update(d=4), "its result is about another architecture"),
        (lambda line: line["architecture"].update(d=3.0), "Expected `int`, got `float` - at `$.archi"),
        (lambda line: line["versions"].update(code="0"), "its key is not that of its job"),
    ],
)  # fmt: skip
def test_a_line_that_is_none_is_named(change, message):
    line = json.loads(written(line_of(job(3))))
    if isinstance(change, str):
        text = change
    else:
        change(line)
        text = json.dumps(line)
    with pytest.raises(InputError) as error:
        read_lines(f"{written(line_of_2_1)}\n{text}\n")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("heads", [1], "its architecture is not a layer, a network or a model"),
        ("ranks", [2], "1 rank for 2 layers"),
    ],
)
def test_networks_that_are_none_are_named(name, value, message):
    line = line_of(Job(NETWORK, "dimension"))
    line["architecture"][name] = value
    with pytest.raises(InputError, match=f"line 1 is no result of a study: {message}"):
        read_lines(written(line))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n \n", "the file has no line"),
        (
            f"{written(line_of_2_1)}\n{written(line_of(Job(SingleLayer(2, 1), 'strata')))}",
            "line 2 asks for strata and the lines above for verify",
        ),
    ],
    ids=["nothing", "two questions"],
)
def test_what_is_no_study(text, message):
    with pytest.raises(InputError, match=message):
        read_lines(text)


def test_keys_can_be_recomputed_by_anyone():
    import hashlib

    line = line_of_2_1
    wanted = {name: line[name] for name in ("job", "architecture", "versions")}
    text = json.dumps(wanted, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert line["key"] == hashlib.sha256(text.encode()).hexdigest()
    assert line["key"] == key_of(line["job"], line["architecture"], line["versions"])


# The grids of examples


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "jobs", "confirmed", "inapplicable"),
    [("softmax-networks", 216, 666, 198), ("softmax-heads", 576, 576, 0)],
)
def test_no_softmax_network_of_the_examples_refutes_a_claim(name, jobs, confirmed, inapplicable):
    """The numbers of the page on softmax, by hypotheses; the verdicts of every twelfth job."""
    grid = read_grid((Path(__file__).parents[3] / "examples" / f"{name}.toml").read_text(encoding="utf-8"))
    holds = [
        [not NETWORK_CLAIMS[claim].failing_hypotheses(job.architecture) for claim in job.claims]
        for job in grid.jobs
    ]
    counts = Counter(one for row in holds for one in row)
    assert (len(grid.jobs), counts[True], counts[False]) == (jobs, confirmed, inapplicable)
    for line, row in zip(study(grid.jobs[::12]), holds[::12], strict=True):
        found = [claim["verdict"] for claim in line["result"]["claims"]]
        assert found == ["confirmed" if one else "inapplicable" for one in row]
