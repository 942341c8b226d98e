"""A job, one question about one architecture, and its line: a JSON document with what came of it.

Two jobs with the same canonical JSON and the same versions have the same answer; its SHA-256 is the key under
which the answer is kept.

>>> from agattn import SingleLayer
>>> job = Job(SingleLayer(2, 1), "verify", claims=("corollary-3.3",), engine="native")
>>> canonical(job.settings)
'{"ask":"verify","claims":["corollary-3.3"],"engine":"native","seed":0}'
>>> line, lasting = perform(job, versions_for(job.engine))
>>> line["result"]["claims"][0]["computed"], line["status"], lasting
(5, 0, True)
>>> words(line), exit_status([line, {**line, "status": 3}])
(['confirmed'], 3)
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union

import agattn
from agattn._version import __version__
from agattn.architectures import Architecture, DeepNetwork, Network, SingleLayer, as_layer
from agattn.architectures.composition import check_depth
from agattn.architectures.model_file import STUDIED
from agattn.checkpoints.transformers import TransformerDimension, transformer_dimension
from agattn.claims.network_dimension import DimensionByPaper, with_paper
from agattn.engines.catalogue import ENGINES, engine_named
from agattn.engines.locate import locate
from agattn.errors import AgattnError, EngineNotFoundError, InputError, in_shell, was_interrupted
from agattn.evidence import Evidence, Strings, weakest
from agattn.experiments.studies.published import AnySubject, PublishedModel, subject_of
from agattn.files import about
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.lie_algebra import LinearSymmetries, linear_symmetries
from agattn.geometry.ideal.ideal import Ideal, compute_ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal, compute_model_ideal
from agattn.geometry.variety.coefficient_map import MOST_TERMS, coefficient_map
from agattn.limits import Limits, limited, limits, silent
from agattn.sheet.data import Cell, Sheet, Table, Wide
from agattn.sheet.result import (
    UNSET,
    Count,
    Described,
    Key,
    Meta,
    Number,
    Positive,
    Result,
    Sha256,
    UnsetType,
    Written,
    check,
    check_one_of,
)
from agattn.verification.report import Report
from agattn.verification.strata_table import StrataTable, strata_table
from agattn.verification.verify import verify

Versions = Mapping[str, str]
Line = dict[str, Any]
SEED = "The seed of all random choices."


class VerifyAsked(Result, tag=("ask", "verify")):
    """The claims were checked."""

    claims: Key[Strings | Literal["all"], "All, or the ids of those that were checked."]
    engine: Key[str, "auto, macaulay2, singular, msolve, native or all."]
    seed: Key[Count, SEED]
    timeout: Key[Number | UnsetType, "Seconds for each run of an engine, where one may be used."] = UNSET
    memory: Key[Positive | UnsetType, "MiB for each run of an engine, where one may be used."] = UNSET


class DimensionAsked(Result, tag=("ask", "dimension")):
    """The dimension was computed."""

    seed: Key[Count, SEED]


class SymmetriesAsked(Result, tag=("ask", "symmetries")):
    """All linear symmetries were found."""

    seed: Key[Count, SEED]


class IdealAsked(Result, tag=("ask", "ideal")):
    """The equations up to a degree were found."""

    max_degree: Key[Positive, "The last degree."]
    seed: Key[Count, SEED]


class StrataAsked(Result, tag=("ask", "strata")):
    """The strata were listed."""


def _equations(architecture: Any, max_degree: int) -> Ideal | ModelIdeal:
    """The equations: of one lightning head by their modules, of other architectures by multidegrees."""
    if as_layer(architecture) is not None:
        return compute_ideal(architecture, max_degree)
    source = coefficient_map(architecture, inf if limits().force else MOST_TERMS)
    size = dimension(architecture)
    proved = size.lower_bound if size.evidence is Evidence.PROVED else None
    return compute_model_ideal(source, max_degree, dimension=proved)


def _dimension(subject: Any) -> DimensionByPaper | TransformerDimension:
    """The dimension of a network or a model, or what the config of a published one says."""
    if isinstance(subject, PublishedModel):
        return transformer_dimension(subject.published)
    return with_paper(dimension(subject))


class StudyQuestion(NamedTuple):
    """What can be asked.

    Attributes:
        asked: how it is written in a line; its fields are the keys of a grid that say how.
        about: the architectures that it is asked about.
        results: the documents that come of it.
        answer: to it, for an architecture and the last degree.
    """

    asked: type[Any]
    about: tuple[type[Any], ...]
    results: tuple[type[Result], ...]
    answer: Callable[[Any, int], Result] | None = None

    @property
    def settings(self) -> tuple[str, ...]:
        """The keys of a grid that say how."""
        result: tuple[str, ...] = self.asked.__struct_fields__
        return result


_ALL = (SingleLayer, DeepNetwork, Network)
QUESTIONS = {
    "verify": StudyQuestion(VerifyAsked, _ALL, (Report,)),
    "dimension": StudyQuestion(
        DimensionAsked,
        (DeepNetwork, Network, PublishedModel),
        (DimensionByPaper, TransformerDimension),
        lambda subject, _: _dimension(subject),
    ),
    "symmetries": StudyQuestion(
        SymmetriesAsked, _ALL, (LinearSymmetries,), lambda network, _: linear_symmetries(network)
    ),
    "ideal": StudyQuestion(IdealAsked, _ALL, (ModelIdeal, Ideal), _equations),
    "strata": StudyQuestion(
        StrataAsked, (SingleLayer,), (StrataTable,), lambda layer, _: strata_table(layer, force=True)
    ),
}
#: Questions that can be asked together, as their answers stand side by side in a report.
TOGETHER = ("dimension", "symmetries", "ideal")


@dataclass(frozen=True)
class Job:
    """One question about one architecture, answered by the command of the name ``ask``.

    ``QUESTIONS`` says what can be asked about which; ``"strata"`` about layers with t ≥ 2.
    """

    architecture: Architecture | PublishedModel
    ask: str
    claims: tuple[str, ...] = ()  #: for ``verify``; none for all claims about such architectures
    engine: str = "native"  #: for ``verify``, as :func:`agattn.verify` takes it
    seed: int = 0  #: of all random choices; ``strata`` makes none
    timeout: float = Limits.timeout  #: seconds for each run of an engine
    memory: int = Limits.memory  #: MiB for each run of an engine
    max_degree: int = 4  #: for ``ideal``: the last degree

    @property
    def settings(self) -> dict[str, Any]:
        """What the answer depends on besides the architecture, JSON-ready; limits only where engines run."""
        question = QUESTIONS[self.ask]
        settings = {key: getattr(self, key) for key in question.settings}
        if self.ask == "verify":
            settings |= {"claims": list(self.claims) or "all", "timeout": float(self.timeout)}
            if self.engine == "native":
                settings |= {"timeout": UNSET, "memory": UNSET}
        result: dict[str, Any] = question.asked(**settings).as_json()
        return result

    def key(self, versions: Versions) -> str:
        """The SHA-256 of everything the answer depends on, in hexadecimal digits."""
        return key_of(self.settings, self.architecture.as_json(), versions)

    def answer(self) -> tuple[dict[str, Any], int, bool]:
        """The result, the exit status, and whether an engine crashed.

        Raises:
            InputError: if the question is not asked about such architectures.
        """
        layer: Any = self.architecture
        question = QUESTIONS[self.ask]
        if not isinstance(layer, question.about):
            raise InputError(f"{self.ask} is not asked about {layer.name}")
        if question.answer is None:
            report = verify(layer, self.claims, self.engine)
            # Engines run side by side; the order in which they complained is a matter of chance.
            document = report.as_json() | {"troubles": sorted(report.troubles)}
            return document, report.exit_status, report.engine_failed
        document = question.answer(layer, self.max_degree).as_json()
        proved = self.ask == "ideal" or _evidence(self.ask, document) == "proved"
        return document, 0 if proved else 3, False


def canonical(document: object) -> str:
    """JSON with sorted keys and without spaces: the same value gives the same text."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def key_of(settings: Mapping[str, Any], architecture: Mapping[str, Any], versions: Versions) -> str:
    """The key of a job given as JSON."""
    text = canonical({"job": settings, "architecture": architecture, "versions": versions})
    return hashlib.sha256(text.encode()).hexdigest()


def versions_for(engine: str) -> dict[str, str]:
    """The versions an answer depends on: this program's, a fingerprint of its code, the engines'.

    Raises:
        EngineNotFoundError: if an engine asked for by name is missing.
    """
    versions = {"agattn": __version__, "code": _fingerprint()}
    if engine == "native":
        return versions
    for asked in ENGINES.values() if engine in ("auto", "all") else [engine_named(engine)]:
        try:
            versions[asked.name] = locate(asked).version
        except EngineNotFoundError:
            if engine != "auto" and (asked.proves or engine != "all"):  # as verify does
                raise
    return versions


@cache
def _fingerprint() -> str:
    """A fingerprint of the code below the command line and the reports, which changes within a version."""
    root, digest = Path(agattn.__file__).parent, hashlib.sha256()
    for file in _code(root):
        digest.update(f"{file.relative_to(root)}\n".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _code(root: Path) -> list[Path]:
    above = ("cli", "reports")
    files = (path for path in root.rglob("*") if path.suffix in (".py", ".j2", ".toml"))
    return sorted(path for path in files if path.relative_to(root).parts[0] not in above)


# Doing them -------------------------------------------------------------------------------------------------


def perform(job: Job, versions: Versions, force: bool = False) -> tuple[Line, bool]:
    """Answer a job. What goes wrong with it becomes its line, so that a study goes on.

    Args:
        versions: those of the machine that started the study; elsewhere another version is an error.
        force: answer also beyond the limits on size.

    Returns:
        The line, and whether the same would come out again: no error, and no engine that crashed on the way.
    """
    started = time.perf_counter()
    lasting = False
    outcome: dict[str, Any]
    try:
        _check_versions(job, versions)
        if not force:
            check_depth(job.architecture)
        held = {"timeout": job.timeout, "memory": job.memory, "seed": job.seed, "force": force}
        with limited(**held, workers=1, progress=silent), in_shell():  # where lines are read
            document, status, engine_failed = job.answer()
        outcome = {"result": json.loads(json.dumps(document, allow_nan=False))}  # as readers will see it
        lasting = not engine_failed
    except AgattnError as error:
        outcome, status = failure(type(error).__name__, str(error)), error.exit_status
    except MemoryError:
        outcome, status = failure("MemoryError", "this machine ran out of memory; use fewer workers"), 3
    except Exception as error:  # a mistake of ours must not end a study of thousands of jobs
        if was_interrupted(error):
            raise KeyboardInterrupt from error
        outcome = failure(type(error).__name__, f"a mistake in agattn, please report it: {error}")
        status = 4
    return make_line(job, versions, outcome, status, time.perf_counter() - started), lasting


class Failure(Result):
    """Why a job has no result."""

    type: Key[str, "The kind of error, see the page on errors."]
    message: Key[str, "What went wrong, in one line."]


class StudyLine(Result, name="study", one_of=("result", "error")):
    """One line of the JSON Lines that agattn study prints: a job and what came of it."""

    key: Key[Sha256, "SHA-256 of job, architecture and versions, as JSON with sorted keys and no spaces."]
    job: Key[
        Mapping[str, Any],
        "What was asked, and the settings on which the answer depends.",
        Written(Union[tuple(question.asked for question in QUESTIONS.values())]),  # noqa: UP007 -- of many
    ]
    architecture: Key[
        Mapping[str, Any],
        f"{STUDIED.removesuffix('.')}; or a published model: its name, and the config.",
        Written(AnySubject),
    ]
    versions: Key[
        Mapping[str, str],
        "The version of agattn, a fingerprint of its code, and the versions of engines that may be used.",
        Meta(extra_json_schema={"required": ["agattn", "code"]}),
    ]
    result: Key[
        Mapping[str, Any] | UnsetType, "What the command of that name prints.", Written(dict[str, Any])
    ]
    error: Key[Mapping[str, Any] | UnsetType, "Why there is no result.", Written(Failure)]
    status: Key[Count, "The exit status for this job alone; 3 also for a dimension not proved.", Meta(le=4)]
    seconds: Key[Number, "How long the job took when it was computed."]
    cached: Key[bool, "Whether the result comes from an earlier study."]


def failure(kind: str, message: str) -> dict[str, Any]:
    """What comes of a job that ends in an error."""
    return {"error": Failure(kind, " ".join(message.split())).as_json()}


def make_line(job: Job, versions: Versions, outcome: Mapping[str, Any], status: int, seconds: float) -> Line:
    """The line of a job that was just done by what has these versions.

    Args:
        outcome: ``result``, the JSON of the command that answers such a question, or ``error``.
        status: the exit status that the command would have had; 3 also for a dimension that is not proved.
    """
    return StudyLine(
        key=job.key(versions),
        job=job.settings,
        architecture=job.architecture.as_json(),
        versions=dict(versions),
        result=outcome.get("result", UNSET),
        error=outcome.get("error", UNSET),
        status=status,
        seconds=round(seconds, 3),
        cached=False,
    ).as_json()


def _check_versions(job: Job, versions: Versions) -> None:
    """Refuse a job of a study that was started with other versions."""
    here = versions_for(job.engine)
    for name in sorted({*versions, *here}):
        if versions.get(name) != here.get(name):
            what = "code of agattn" if name == "code" else name
            raise InputError(
                f"the worker has {what} {here.get(name, 'nowhere')} and the study was started with "
                f"{versions.get(name, 'none')}; install the same on all machines"
            )


# What came of them ------------------------------------------------------------------------------------------

#: What becomes of a job or a claim, in the order in which it is counted.
WORDS = ("confirmed", "refuted", "undecided", "inapplicable", "proved", "modular", "numerical", "failed")


def words(line: Mapping[str, Any]) -> list[str]:
    """What came out: verdicts on claims, how runs ended, or how a result is known; or ``failed``."""
    if "error" in line:
        return ["failed"]
    ask, result = line["job"]["ask"], line["result"]
    if ask == "train":
        return [run["outcome"] for run in result["runs"]]
    if ask == "verify":
        return [claim["verdict"] for claim in result["claims"]]
    return [_evidence(ask, result)]


def _evidence(ask: str, result: Mapping[str, Any]) -> str:
    """How a result is known."""
    if ask == "ideal":
        return weakest(Evidence(degree["evidence"]) for degree in result["degrees"]).value
    if ask == "strata":
        return "proved" if all(row["singular"] is not None for row in result["strata"]) else "undecided"
    return "proved" if "model" in result else result["evidence"] or "bounds"


def summary(line: Mapping[str, Any]) -> str:
    """What came out of a job, in a few words."""
    ask, result = line["job"]["ask"], line.get("result")
    if result is None:
        return str(line["error"]["message"])
    if ask == "verify":
        return _verdicts(result["claims"])
    if ask == "strata":
        singular = sum(stratum["singular"] is True for stratum in result["strata"])
        return f"{len(result['strata'])} strata, {singular} singular"
    if ask == "symmetries":
        return f"{result['dimension']}: {result['type']}"
    if ask == "ideal":
        counts = {piece["degree"]: piece["minimal_generators"] for piece in result["degrees"]}
        equations = ", ".join(f"{many} of degree {n}" for n, many in counts.items() if many) or "none"
        dense = result["dimension"] == result["ambient"]
        return equations + (" in any degree" if dense else f", to degree {max(counts)}")
    if "model" in result:
        total, most = result["model"]["total"], result["model"]["upper_bound"]
        return f"{most} of {total} parameters count, at most"
    interval = f"from {result['lower_bound']} to {result['upper_bound']}"
    if result["dimension"] is None:
        return interval
    return f"{result['dimension']}{'' if result['evidence'] == 'proved' else f', {interval}'}"


def _verdicts(claims: Sequence[Mapping[str, Any]]) -> str:
    """How many claims have each verdict, and which are refuted or undecided."""
    parts = []
    for verdict in WORDS:
        ids = [claim["id"] for claim in claims if claim["verdict"] == verdict]
        if ids:
            named = f" ({', '.join(ids)})" if verdict in ("refuted", "undecided") else ""
            parts.append(f"{len(ids)} {verdict}{named}")
    return ", ".join(parts)


#: The columns of the table of a study; and of that about published models.
_COLUMNS = ("architecture", "asked", Wide("answer"), "evidence")
_OF_PUBLISHED = ("family", "model", "parameters", "redundant ≥", "per mille", "evidence")


def row(line: Mapping[str, Any]) -> tuple[Cell, ...]:
    """The row of a line in the table of a study: the architecture, the question, the answer, the evidence.

    Of a published model: its family and name, its parameters, how many are redundant, and the evidence.
    """
    text, ask, result = summary(line), line["job"]["ask"], line.get("result", {})
    name = subject_of(line["architecture"]).name
    if "model" in result:
        total = result["model"]["total"]
        redundant = total - result["model"]["upper_bound"]
        share = f"{1000 * redundant / total:.2f}"
        return result["config"]["family"], name, total, redundant, share, words(line)[0]
    paper = result.get("paper")
    if paper and result["predicted"] != result["dimension"]:
        text += f"; general formula: {result['predicted']}"
    elif paper and paper["defect"]:
        text += f"; HMK: {paper['value']}"
    evidence = "" if result and ask == "verify" else words(line)[0]
    return name, ask, text, evidence


def rows_sheet(rows: Sequence[tuple[Cell, ...]]) -> Sheet:
    """The table that a study shows; published models have one of their own."""
    tables = [
        Table(caption, columns, tuple(row for row in rows if len(row) == len(columns)))
        for caption, columns in (("", _COLUMNS), ("Published models", _OF_PUBLISHED))
    ]
    return Sheet("", tuple(table for table in tables if table.rows) or (tables[0],))


@dataclass(frozen=True, eq=False, repr=False)
class JsonLines(Described, Sequence[Line]):
    """JSON documents, each of which has its own schema, with one table of them all."""

    lines: tuple[Line, ...]

    def __getitem__(self, n: Any) -> Any:
        return self.lines[n]

    def __len__(self) -> int:
        return len(self.lines)

    def as_json(self) -> list[Line]:  # type: ignore[override]  # JSON Lines are no one document
        """The documents."""
        return list(self.lines)


class StudyLines(JsonLines):
    """What came of the jobs of a study, in their order."""

    def sheet(self) -> Sheet:
        """A row for each job."""
        return rows_sheet([row(line) for line in self])

    def summary(self) -> str:
        """How many jobs there are, and how many of their results are of which kind."""
        return f"{len(self)} jobs: {counted(word for line in self for word in words(line))}"


def is_open(line: Mapping[str, Any]) -> bool:
    """Whether something in a line is undecided, or not proved."""
    return any(word in ("undecided", "modular", "numerical") for word in words(line))


def exit_status(lines: Iterable[Mapping[str, Any]]) -> int:
    """1 if a claim was refuted; else 4 if a job failed as an engine did; 3 if one stayed open; else 0.

    A job that was refused, being too large for instance, stayed open.
    """
    statuses = {line["status"] for line in lines}
    return next((status for status in (1, 4) if status in statuses), 3 if statuses - {0} else 0)


def counted(words: Iterable[str]) -> str:
    """How many of each; words that are not in ``WORDS`` come last.

    >>> counted(["confirmed", "refuted", "confirmed"]), counted(["proved in part", "proved"])
    ('2 confirmed, 1 refuted', '1 proved, 1 proved in part')
    """
    counts = Counter(words)
    order = [*WORDS, *sorted(set(counts) - set(WORDS))]
    return ", ".join(f"{counts[word]} {word}" for word in order if counts[word])


def written(line: Line) -> str:
    """A line as text."""
    return json.dumps(line, ensure_ascii=False)


def read_lines(text: str) -> list[Line]:
    """Read what a study printed. Of several lines about the same job the last counts.

    Raises:
        InputError: if a line is no result of a study; names its number.
    """
    lines: dict[str, Line] = {}
    first = None
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        line = _checked(row, f"line {number}")
        ask = line["job"]["ask"]
        first = first or ask
        if ask != first and not {ask, first} <= set(TOGETHER):
            raise InputError(
                f"line {number} asks for {ask} and the lines above for {first}; make a report for each"
            )
        lines[line["key"]] = line
    if not lines:
        raise InputError("the file has no line; write results with: agattn study GRID.toml -O RESULTS.jsonl")
    return list(lines.values())


def _checked(row: str, where: str) -> Line:
    try:
        line = json.loads(row, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)[:100]
        raise InputError(f"{where} is not JSON: {reason}") from None
    with about(f"{where} is no result of a study"):
        line = named("study", line)
        check(StudyLine, line)
        result = line.get("result")
        if result is not None:
            ask = line["job"]["ask"]
            check_one_of(QUESTIONS[ask].results, named(ask, result))
        subject = subject_of(line["architecture"])
        if subject.as_json() != line["architecture"]:
            raise InputError("its architecture is not a layer, a network or a model")
        if result is not None and not _is_about(result, subject):
            raise InputError("its result is about another architecture")
        if line["key"] != key_of(line["job"], line["architecture"], line["versions"]):
            raise InputError("its key is not that of its job")
    return dict(line)


def _is_about(result: Mapping[str, Any], subject: Any) -> bool:
    if isinstance(subject, PublishedModel):
        return subject.is_answered(result)
    return bool(result.get("architecture") == subject.as_json())


def named(schema: str, document: Any) -> Any:
    """A document with the name of its schema, which those of earlier versions do not say.

    >>> named("study", {"cached": True})
    {'schema': 'agattn/study/1', 'cached': True}
    """
    return {"schema": f"agattn/{schema}/1", **document} if isinstance(document, dict) else document


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")
