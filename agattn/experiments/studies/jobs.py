"""A job: one architecture, what is asked about it, and the settings on which the answer depends.

Two jobs with the same canonical JSON and the same versions have the same answer; its SHA-256 is the key under
which the answer is kept.

>>> from agattn import SingleLayer
>>> job = Job(SingleLayer(2, 1), "verify", claims=("corollary-3.3",), engine="native")
>>> canonical(job.settings)
'{"ask":"verify","claims":["corollary-3.3"],"engine":"native","seed":0}'
>>> line, lasting = perform(job, versions_for(job.engine))
>>> line["result"]["claims"][0]["computed"], line["status"], lasting
(5, 0, True)
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Literal, Union

import agattn
from agattn._version import __version__
from agattn.architectures import Architecture, DeepNetwork, Network, SingleLayer, as_layer
from agattn.architectures.composition import check_depth
from agattn.architectures.forms import STUDIED, AnyArchitecture
from agattn.engines.catalogue import ENGINES, engine_named
from agattn.engines.locate import locate
from agattn.errors import AgattnError, EngineNotFoundError, InputError, in_shell, was_interrupted
from agattn.evidence import Evidence, Strings
from agattn.limits import Limits, limited, limits, silent
from agattn.sheet.result import UNSET, Count, Key, Meta, Number, Positive, Result, Sha256, UnsetType, Written
from agattn.verification.verify import verify

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


#: What can be asked, each as it is written in a line.
QUESTIONS: dict[str, type[Any]] = {
    "verify": VerifyAsked, "dimension": DimensionAsked, "symmetries": SymmetriesAsked, "ideal": IdealAsked,
    "strata": StrataAsked,
}  # fmt: skip
#: The keys of a grid that say how.
ASKS = {name: question.__struct_fields__ for name, question in QUESTIONS.items()}
#: What each is asked about.
ABOUT: dict[str, tuple[type[Any], ...]] = {
    "verify": (SingleLayer, DeepNetwork, Network),
    "dimension": (DeepNetwork, Network),
    "symmetries": (SingleLayer, DeepNetwork, Network),
    "ideal": (SingleLayer, DeepNetwork, Network),
    "strata": (SingleLayer,),
}
#: Questions that can be asked together, as their answers stand side by side in a report.
TOGETHER = ("dimension", "symmetries", "ideal")
Versions = Mapping[str, str]
Line = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One question about one architecture, answered by the command of the name ``ask``.

    :data:`ABOUT` says what can be asked about which; ``"strata"`` about layers with t ≥ 2.
    """

    architecture: Architecture
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
        settings = {key: getattr(self, key) for key in ASKS[self.ask]}
        if self.ask == "verify":
            settings |= {"claims": list(self.claims) or "all", "timeout": float(self.timeout)}
            if self.engine == "native":
                settings |= {"timeout": UNSET, "memory": UNSET}
        found: dict[str, Any] = QUESTIONS[self.ask](**settings).as_json()
        return found

    def key(self, versions: Versions) -> str:
        """The SHA-256 of everything the answer depends on, in hexadecimal digits."""
        return key_of(self.settings, self.architecture.as_json(), versions)

    def answer(self) -> tuple[dict[str, Any], int, bool]:
        """The result, the exit status, and whether an engine crashed.

        Raises:
            InputError: if the question is not asked about such architectures.
        """
        layer: Any = self.architecture
        if self.ask == "verify":
            report = verify(layer, self.claims, self.engine)
            # Engines run side by side; the order in which they complained is a matter of chance.
            document = report.as_json() | {"troubles": sorted(report.troubles)}
            return document, report.exit_status, report.engine_failed
        if not isinstance(layer, ABOUT[self.ask]):
            raise InputError(f"{self.ask} is not asked about {layer.name}")
        if self.ask == "dimension":
            from agattn.claims.network_dimension import with_paper
            from agattn.geometry.dimension.dimension import dimension

            found = dimension(layer)
            return with_paper(found).as_json(), 0 if found.evidence is Evidence.PROVED else 3, False
        if self.ask == "symmetries":
            from agattn.geometry.dimension.lie_algebra import linear_symmetries

            algebra = linear_symmetries(layer)
            return algebra.as_json(), 0 if algebra.evidence is Evidence.PROVED else 3, False
        if self.ask == "ideal":
            return _equations(self), 0, False
        from agattn.verification.strata_table import strata_table

        table = strata_table(layer, force=True).as_json()
        return table, 3 if any(row["singular"] is None for row in table["strata"]) else 0, False


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
    for found in ENGINES.values() if engine in ("auto", "all") else [engine_named(engine)]:
        try:
            versions[found.name] = locate(found).version
        except EngineNotFoundError:
            if engine != "auto" and (found.proves or engine != "all"):  # as verify does
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
    files = (path for path in root.rglob("*") if path.suffix in (".py", ".j2"))
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
    came_out: dict[str, Any]
    try:
        _check_versions(job, versions)
        if not force:
            check_depth(job.architecture)
        held = limited(timeout=job.timeout, memory=job.memory, seed=job.seed, force=force, progress=silent)
        with held, in_shell():  # where lines are read
            document, status, engine_failed = job.answer()
        came_out = {"result": json.loads(json.dumps(document, allow_nan=False))}  # as readers will see it
        lasting = not engine_failed
    except AgattnError as error:
        came_out, status = failure(type(error).__name__, str(error)), error.exit_status
    except MemoryError:
        came_out, status = failure("MemoryError", "this machine ran out of memory; use fewer workers"), 3
    except Exception as error:  # a mistake of ours must not end a study of thousands of jobs
        if was_interrupted(error):
            raise KeyboardInterrupt from error
        came_out = failure(type(error).__name__, f"a mistake in agattn, please report it: {error}")
        status = 4
    return make_line(job, versions, came_out, status, time.perf_counter() - started), lasting


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
        Written(Union[tuple(QUESTIONS.values())]),  # noqa: UP007 -- of as many types as there are
    ]
    architecture: Key[Mapping[str, Any], STUDIED, Written(AnyArchitecture)]
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


def make_line(job: Job, versions: Versions, came_out: Mapping[str, Any], status: int, seconds: float) -> Line:
    """The line of a job that was just done by what has these versions.

    Args:
        came_out: ``result``, the JSON of the command that answers such a question, or ``error``.
        status: the exit status that the command would have had; 3 also for a dimension that is not proved.
    """
    return StudyLine(
        key=job.key(versions),
        job=job.settings,
        architecture=job.architecture.as_json(),
        versions=dict(versions),
        result=came_out.get("result", UNSET),
        error=came_out.get("error", UNSET),
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


def _equations(job: Job) -> dict[str, Any]:
    """The equations: of one lightning head by their modules, of other architectures by multidegrees."""
    from agattn.geometry.dimension.dimension import dimension
    from agattn.geometry.ideal.ideal import compute_ideal
    from agattn.geometry.ideal.model_ideal import compute_model_ideal
    from agattn.geometry.variety.coefficient_map import MOST_TERMS, coefficient_map

    if as_layer(job.architecture) is not None:
        return compute_ideal(job.architecture, job.max_degree).as_json()
    source = coefficient_map(job.architecture, inf if limits().force else MOST_TERMS)
    size = dimension(job.architecture)
    proved = size.lower_bound if size.evidence is Evidence.PROVED else None
    return compute_model_ideal(source, job.max_degree, dimension=proved).as_json()
