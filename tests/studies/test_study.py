"""Jobs, their keys, the cache, the three ways of doing them, and the order of the lines."""

import json
import os
import sys
import textwrap
import time
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.cli.output import schema_text
from agattn.errors import EngineNotFoundError, InputError
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.strata.table import survey
from agattn.studies import jobs as jobs_module
from agattn.studies.cache import Cache, default_folder
from agattn.studies.jobs import Job, Outcome, architecture_of, key_of, perform, versions_for
from agattn.studies.lines import exit_status, is_open, make_line, read_lines, words, written
from agattn.studies.schedule import Cluster, InThisProcess, Workers
from agattn.studies.study import study
from agattn.verification.verify import Settings, verify

NATIVE = versions_for("native")
CLAIM = ("corollary-3.3",)
NETWORK = DeepNetwork((3, 2, 3), (2, 2))


def job(d=2, d_out=1, **more):
    return Job(SingleLayer(d, d_out), "verify", **{"claims": CLAIM, **more})


def here(versions=NATIVE):
    return lambda: InThisProcess(versions)


def timeless(document):
    """A document without what depends on the clock, or on what was done before."""
    if isinstance(document, dict):
        return {k: timeless(v) for k, v in document.items() if k not in ("seconds", "cached")}
    return [timeless(entry) for entry in document] if isinstance(document, list) else document


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


def test_the_fingerprint_is_of_the_code(tmp_path):
    for name in ("a.py", "b.txt", "cli/c.py", "engines/t/x.j2"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [name for name, _ in jobs_module._code(tmp_path, "")] == ["/a.py", "/engines/t/x.j2"]


@pytest.mark.parametrize("architecture", [SingleLayer(3, 2, 1, 4), NETWORK, DeepNetwork((2, 2), (1,), heads=3,
                         skip=True, normalization="softmax", temperature=0.5, value_rank=1)])  # fmt: skip
def test_architectures_survive_json(architecture):
    assert architecture_of(json.loads(json.dumps(architecture.as_json()))) == architecture


# Outcomes


def test_results_are_those_of_the_commands():
    verified = perform(job(claims=()), NATIVE)
    expected = verify(SingleLayer(2, 1), (), Settings(engine="native")).as_json()
    assert timeless(verified.result) == json.loads(json.dumps(timeless(expected))) and verified.status == 0
    found = perform(Job(NETWORK, "dimension", seed=4), NATIVE)
    assert timeless(found.result) == json.loads(json.dumps(timeless(dimension(NETWORK, 4).as_json())))
    table = perform(Job(SingleLayer(3, 2, 2), "strata"), NATIVE)
    assert table.result == json.loads(json.dumps(survey(SingleLayer(3, 2, 2)))) and table.status == 0


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
        monkeypatch.setattr(jobs_module, "verify", lambda *_, error=error: (_ for _ in ()).throw(error))
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
    return make_line(a_job, NATIVE, perform(a_job, NATIVE))


def test_kept_and_found(tmp_path):
    cache, line = Cache(tmp_path), line_of()
    assert cache.get(line["key"]) is None
    cache.put(line)
    assert written(cache.get(line["key"])) == written(line)  # also in the same order
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [f"{line['key']}.json"]


@given(st.data())
def test_no_damaged_file_is_trusted(tmp_path_factory, data):
    cache, line = Cache(tmp_path_factory.mktemp("cache")), line_of_2_1
    cache.put(line)
    path = cache.path(line["key"])
    sound = path.read_bytes()
    position = data.draw(st.integers(0, len(sound) - 1))
    match data.draw(st.sampled_from(["cut", "flip", "insert"])):
        case "cut":
            path.write_bytes(sound[:position])
        case "flip":
            path.write_bytes(sound[:position] + bytes([sound[position] ^ 1]) + sound[position + 1 :])
        case "insert":
            path.write_bytes(sound[:position] + b"1" + sound[position:])
    found = cache.get(line["key"])
    # A change of white space, or of a number's spelling, changes nothing.
    assert found is None or found == line


line_of_2_1 = line_of()


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", '{"line": 3}', '{"line": {}, "sha256": ""}', "[" * 9999, "\xff"]
)
def test_what_is_no_result_is_none(tmp_path, text):
    cache = Cache(tmp_path)
    cache.put(line_of_2_1)
    cache.path(line_of_2_1["key"]).write_text(text, encoding="latin-1")
    assert cache.get(line_of_2_1["key"]) is None


def test_a_file_under_the_name_of_another_job_is_none(tmp_path):
    cache, other = Cache(tmp_path), job(3).key(NATIVE)
    cache.put(line_of_2_1)
    cache.path(other).parent.mkdir(exist_ok=True)
    cache.path(line_of_2_1["key"]).rename(cache.path(other))
    assert cache.get(other) is None


def test_a_result_about_another_job_is_none(tmp_path):
    """Even with a checksum that is right."""
    cache, wanted = Cache(tmp_path), job(3).key(NATIVE)
    cache.put({**line_of_2_1, "key": wanted})
    assert cache.path(wanted).exists() and cache.get(wanted) is None


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot keep results in .*; choose another folder with --cache"):
        Cache(tmp_path / "file").put(line_of_2_1)


def test_the_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AGATTN_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_folder() == tmp_path / ".cache" / "agattn"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert str(default_folder()) == "/x/agattn"
    monkeypatch.setenv("AGATTN_CACHE", "/y")
    assert str(default_folder()) == "/y"


# Studies


class Shuffled(InThisProcess):
    """Takes all jobs, and gives them back in an order of its own."""

    def __init__(self, order):
        super().__init__(NATIVE)
        self.order, self.jobs = order, {}

    full = False
    busy = property(lambda self: bool(self.jobs))

    def submit(self, number, job):
        self.jobs[number] = job

    def collect(self):
        number = min(self.jobs, key=self.order.index)
        return number, perform(self.jobs.pop(number), NATIVE)


@given(st.permutations(range(5)))
def test_lines_come_in_the_order_of_the_jobs(order):
    jobs, finished = [job(1, d_out) for d_out in range(1, 6)], []
    lines = study(
        jobs,
        NATIVE,
        lambda: Shuffled(order),
        finished=lambda line: finished.append(line["architecture"]["d_out"]),
    )
    assert [line["architecture"]["d_out"] for line in lines] == [1, 2, 3, 4, 5]
    assert finished == [number + 1 for number in order]


def test_a_line_does_not_wait_for_those_after_it():
    jobs = [job(1, 1), job(1, 2), job(1, 3)]
    done = []
    lines = study(jobs, NATIVE, here(), finished=lambda line: done.append(line["key"]))
    next(lines)
    assert len(done) == 1
    lines.close()


def test_whatever_ends_a_study_ends_the_scheduler():
    class Watched(InThisProcess):
        def __exit__(self, *_):
            left.append(self)

    def ended(how):
        left.clear()
        lines = study(
            [job(1, 1), job(1, 2)], NATIVE, lambda: Watched(NATIVE), finished=how.get("finished", id)
        )
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


def test_done_once(tmp_path, monkeypatch):
    jobs, cache = [job(d) for d in (1, 2, 3)], Cache(tmp_path)
    first = list(study(jobs, NATIVE, here(), cache))
    monkeypatch.setattr("agattn.studies.schedule.perform", None)  # nothing is done again
    again = list(study(jobs, NATIVE, here(), cache))
    assert texts(first) == texts(again)
    assert [line["cached"] for line in first + again] == [False] * 3 + [True] * 3
    assert [line["seconds"] for line in first] == [line["seconds"] for line in again]


def test_what_is_not_done_again(tmp_path):
    unproved = Job(DeepNetwork((5, 1), (3,), 2, heads=2), "dimension")
    jobs, cache = (
        [Job(NETWORK, "dimension"), unproved, Job(DeepNetwork((200, 200), (2,)), "dimension")],
        Cache(tmp_path),
    )

    def cached(**options):
        return [line["cached"] for line in study(jobs, NATIVE, here(), cache, **options)]

    assert cached() == [False] * 3
    assert cached() == [True, True, False]  # errors are not kept
    assert cached(retry_open=True) == [True, False, False]
    assert cached(fresh=True) == [False] * 3
    cache.path(jobs[0].key(NATIVE)).write_text("{")
    assert cached() == [False, True, False]
    assert cached() == [True, True, False]


def test_engine_failures_are_not_kept(tmp_path, fakes):
    fakes.write("M2", "exit 3")
    a_job = job(claims=("agattn.degree",), engine="auto")
    versions = versions_for("auto")
    (line,) = study([a_job], versions, here(versions), Cache(tmp_path))
    assert line["status"] == 0 and line["result"]["troubles"]  # decided natively, for once
    assert Cache(tmp_path).get(line["key"]) is None


def test_errors_of_the_scheduler_reach_the_caller():
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        list(study([job()], NATIVE, lambda: Cluster("nowhere", NATIVE)))


# Worker processes


def test_any_number_of_workers_gives_the_same_bytes():
    jobs = [job(d, d_out, claims=()) for d in (1, 2) for d_out in (1, 2)] + [Job(NETWORK, "verify")]
    expected = texts(study(jobs, NATIVE, here()))
    assert texts(study(jobs, NATIVE, lambda: Workers(2, NATIVE))) == expected


def test_a_worker_that_dies_takes_only_its_job_with_it(fakes, tmp_path):
    """Macaulay2 kills whoever started it, if asked about M(2,1,2)."""
    fakes.write_python("M2", textwrap.dedent("""
        import os, signal
        if "d = 2, d' = 1, a = 2" in script or "M(2,1,2)" in script:
            os.kill(os.getppid(), signal.SIGKILL)
        sys.exit(1)
    """))  # fmt: skip
    versions = versions_for("macaulay2")
    jobs = [
        Job(SingleLayer(2, 1, a), "verify", ("agattn.degree",), engine="macaulay2", timeout=30)
        for a in (1, 2, 3)
    ]
    lines = list(study(jobs, versions, lambda: Workers(2, versions), Cache(tmp_path)))
    assert [line["architecture"]["a"] for line in lines] == [1, 2, 3]
    assert lines[1]["error"]["type"] == "WorkerDied" and lines[1]["status"] == 4
    assert "killed by SIGKILL, perhaps as memory ran out" in lines[1]["error"]["message"]
    assert "result" in lines[0] and "result" in lines[2] and [p.name for p in tmp_path.iterdir()] == ["bin"]


def test_a_worker_killed_while_it_waits_harms_no_job():
    with Workers(1, NATIVE) as workers:
        for number in range(2):
            workers.submit(number, job())
            assert workers.full
            assert workers.collect()[1].error is None and not workers.busy
            (worker,) = workers._workers
            worker.process.kill()
            worker.process.join()


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_leaving_stops_workers_and_engines(fakes, tmp_path):
    fakes.write("M2", f"echo $$ > {tmp_path}/pid.part; mv {tmp_path}/pid.part {tmp_path}/pid; exec sleep 60")
    versions = versions_for("macaulay2")
    with Workers(1, versions) as workers:
        workers.submit(0, job(engine="macaulay2"))
        (worker,) = workers._workers
        deadline = time.monotonic() + 60
        while not (tmp_path / "pid").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        engine = int((tmp_path / "pid").read_text())
        assert is_running(engine) and worker.process.is_alive()
        started = time.monotonic()
    assert time.monotonic() - started < 30  # not the minute that the engine would take
    assert not is_running(engine) and not worker.process.is_alive()


# A cluster


@pytest.fixture(scope="module")
def dask_address():
    if os.environ.get("CI") is None:
        pytest.importorskip("distributed")
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address=None,
        host="127.0.0.1",
    ) as cluster:
        yield cluster.scheduler_address


def test_a_cluster_gives_the_same_bytes(dask_address):
    jobs = [job(d, claims=()) for d in (1, 2, 3)] + [job(30, 30)]
    expected = texts(study(jobs, NATIVE, here()))
    lines = list(study(jobs, NATIVE, lambda: Cluster(dask_address, NATIVE)))
    assert texts(lines) == expected and "error" in lines[-1]


def lost(*_):
    raise ConnectionError("the machine\nis gone")


def test_a_lost_worker_is_an_error_of_its_job(dask_address, monkeypatch):
    monkeypatch.setattr("agattn.studies.schedule.perform", lost)
    with Cluster(dask_address, NATIVE) as cluster:
        cluster.submit(3, job())
        assert cluster.busy and not cluster.full
        number, outcome = cluster.collect()
    assert (number, outcome.status, outcome.error["type"]) == (3, 4, "ConnectionError")
    assert outcome.error["message"] == "the worker that did this job was lost: the machine is gone"


def test_no_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'agattn\[study\]'"):
        Cluster("tcp://127.0.0.1:8786", NATIVE)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "", "tcp://127.0.0.1:x"])
def test_no_scheduler(address):
    pytest.importorskip("distributed")
    started = time.monotonic()
    with pytest.raises(InputError, match=r"no Dask scheduler answers at .*start one with dask scheduler"):
        Cluster(address, NATIVE)
    assert time.monotonic() - started < 8


# Lines


def test_lines_have_the_published_form():
    jobs = [
        job(claims=()), job(2, 2, engine="auto", claims=("lemma-3.1",)), job(30, 30),
        Job(NETWORK, "verify"), Job(NETWORK, "dimension"), Job(SingleLayer(3, 2), "strata"),
    ]  # fmt: skip
    schema = json.loads(schema_text("study"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for a_job in jobs:
        versions = versions_for(a_job.engine)
        line = make_line(a_job, versions, perform(a_job, versions))
        jsonschema.validate(line, schema, jsonschema.Draft202012Validator)
        if "result" in line:
            command = json.loads(schema_text(a_job.ask))
            jsonschema.validate(line["result"], command, jsonschema.Draft202012Validator)
        assert read_lines(written(line) + "\n\n") == [line]


def test_words():
    assert words(line_of_2_1) == ["confirmed"] and not is_open(line_of_2_1)
    assert words({"error": {}}) == ["failed"] and not is_open({"error": {}})


def test_of_two_lines_about_a_job_the_last_counts():
    failed = make_line(job(), NATIVE, Outcome.failed("E", "m", 4, 1.0))
    assert read_lines(f"{written(failed)}\n{written(line_of_2_1)}") == [line_of_2_1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("{", "line 2 is not JSON"),
        ("[" * 99999, "line 2 is not JSON"),
        ("9" * 5000, "line 2 is not JSON"),
        ("3", "line 2 is no result of a study: line: 3 is not of type 'object'"),
        (lambda line: line["result"].update(seconds=float("nan")), "line 2 is not JSON: NaN is no number"),
        (lambda line: line.pop("key"), "line 2 is no result of a study: line: 'key' is a required property"),
        (lambda line: line.pop("result"), "line 2 is no result of a study"),
        (lambda line: line.update(error={"type": "E", "message": ""}), "line 2 is no result of a study"),
        (lambda line: line["job"].update(ask="fiber"), "line 2 is no result of a study: line.job"),
        (lambda line: line["result"].pop("claims"), "result: 'claims' is a required property"),
        (lambda line: line["result"]["claims"][0].update(verdict="maybe"), "claims.0.verdict: 'maybe'"),
        (lambda line: line["job"].update(seed=1), "its key is not that of its job"),
        (lambda line: line["architecture"].update(d=4), "its result is about another architecture"),
        (lambda line: line["result"]["architecture"].update(d=4), "its result is about another architecture"),
        (lambda line: line["architecture"].update(d=3.0), "d is 3.0; it must be a whole number"),
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


def test_networks_that_are_none_are_named():
    line = line_of(Job(NETWORK, "dimension"))
    line["architecture"]["heads"] = [1]
    with pytest.raises(InputError, match="line 1 is no result of a study: its architecture is not written"):
        read_lines(written(line))
    line["architecture"]["ranks"] = [2]
    with pytest.raises(InputError, match="line 1 is no result of a study: 1 rank for 2 layers"):
        read_lines(written(line))


def test_two_questions_are_two_reports():
    other = line_of(Job(SingleLayer(2, 1), "strata"))
    with pytest.raises(InputError, match="line 2 asks for strata and those above for verify"):
        read_lines(f"{written(line_of_2_1)}\n{written(other)}")


def test_nothing_is_no_study():
    with pytest.raises(InputError, match="there is no line in it"):
        read_lines("\n \n")


def test_keys_can_be_recomputed_by_anyone():
    import hashlib

    line = line_of_2_1
    wanted = {name: line[name] for name in ("job", "architecture", "versions")}
    text = json.dumps(wanted, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert line["key"] == hashlib.sha256(text.encode()).hexdigest()
    assert line["key"] == key_of(line["job"], line["architecture"], line["versions"])
