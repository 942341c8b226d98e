"""Verification: which claims need which questions, who answers them, and the verdicts that follow.

Claims, questions and the problems behind them form a directed graph; a question shared by several claims is
answered once. With two engines each question is put to both, and they must agree.

>>> from agattn import SingleLayer
>>> plan = plan_of(SingleLayer(2, 1), select(CLAIMS, ("corollary-A.1", "corollary-A.2")))
>>> sorted(q.name for q in questions_of(plan))
['the fibers', 'the zeros of φ']
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import networkx as nx

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.claims.claim import Claim, select
from agattn.claims.network import CLAIMS as NETWORK_CLAIMS
from agattn.claims.questions import Finding, Findings, Question
from agattn.claims.single_layer import CLAIMS
from agattn.engines.engine import ENGINES, engine_named
from agattn.engines.locate import INSTALL, Installation, locate
from agattn.engines.run import DEFAULT_LIMITS, Limits, Run, run
from agattn.errors import (
    AgattnError,
    DisagreementError,
    EngineError,
    EngineNotFoundError,
    EngineVariableError,
    TooLargeError,
)
from agattn.evidence import Evidence, Judgement, Verdict
from agattn.geometry.dimension.dimension import MAX_PARAMETERS
from agattn.notebook import InNotebooks, Table, Wide
from agattn.systems.catalogue import MODULAR_PRIME, build, check_size
from agattn.systems.network_catalogue import build_for_network, no_fiber
from agattn.systems.problem import Problem

# With more coordinates an engine takes minutes for what the native computation does in seconds.
MAX_AUTO_COORDINATES = 100

# The identities of a network are checked with exact numbers in matrices of t × t entries, and with 300 tokens
# that takes minutes.
MAX_TOKENS = 100

# After an interrupt engines are killed within moments; not even a stuck file system may hold the user longer.
KILLED_WITHIN = 5.0

CHOICES = ("auto", *ENGINES, "native", "all")


@dataclass(frozen=True)
class Settings:
    """How to verify.

    Attributes:
        engine: ``"auto"``: the first engine found, and what it cannot decide another way; the name of an
            engine; ``"native"``: no engine at all; ``"all"``: every engine, and those that answer must agree.
        characteristic: 0 for ℚ, a prime p for 𝔽_p, or ``None``: ℚ, and 𝔽_p where ℚ does not finish.
        limits: of each engine process.
        eliminate: put elimination to an engine even where it is not expected to finish.
        seed: of all random choices.
        force: start however large the systems are.
        keep: a folder for scripts and transcripts.
    """

    engine: str = "auto"
    characteristic: int | None = None
    limits: Limits = DEFAULT_LIMITS
    eliminate: bool = False
    seed: int = 0
    force: bool = False
    keep: Path | None = None


@dataclass(frozen=True)
class Report(InNotebooks):
    """The verdicts for one layer or network, the engine runs behind them, and what went wrong on the way."""

    layer: Architecture
    verdicts: tuple[Verdict, ...]
    runs: tuple[Run, ...]
    troubles: tuple[str, ...]
    engine_failed: bool
    seconds: float

    @property
    def exit_status(self) -> int:
        """0 all confirmed or inapplicable; 1 a claim refuted; 3 undecided; 4 as an engine failed."""
        judgements = {verdict.judgement for verdict in self.verdicts}
        if Judgement.REFUTED in judgements:
            return 1
        if Judgement.UNDECIDED in judgements:
            return 4 if self.engine_failed else 3
        return 0

    def _notebook(self) -> Table:
        rows = ((v.claim, str(v.judgement), v.known, v.witness) for v in self.verdicts)
        return Table(str(self.layer), ("claim", "verdict", "evidence", Wide("why")), tuple(rows))

    def as_json(self) -> dict[str, object]:
        """The report with the keys of the command line's contract."""
        return {
            "architecture": self.layer.as_json(),
            "claims": [verdict.as_json() for verdict in self.verdicts],
            "troubles": list(self.troubles),
            "seconds": round(self.seconds, 3),
        }


Progress = Callable[[str], None]


def plan_of(layer: Architecture, claims: Sequence[Claim[Any]]) -> nx.DiGraph[object]:
    """The graph of what needs what: from claims to questions to tasks."""
    plan: nx.DiGraph[object] = nx.DiGraph()
    for claim in claims:
        plan.add_node(claim.id, kind="claim")
        for question in claim.questions:
            plan.add_node(question, kind="question")
            plan.add_edge(claim.id, question)
            if question.task:
                plan.add_node(question.task, kind="task")
                plan.add_edge(question, question.task)
    return plan


def questions_of(plan: nx.DiGraph[object]) -> list[Question[Any]]:
    """The questions of a plan, each once, in the order in which claims first ask them."""
    return [node for node in plan.nodes if isinstance(node, Question)]


def verify(
    layer: Architecture,
    claims: Sequence[str] = (),
    settings: Settings | None = None,
    progress: Progress = lambda message: None,
) -> Report:
    """Judge claims about a layer or a network.

    Args:
        layer: the architecture, a single layer or a network.
        claims: their ids; if there are none, all claims about architectures of its kind.
        settings: how.
        progress: called with a line about each step.

    Raises:
        InputError: if there is no such claim or engine.
        TooLargeError: if the systems would be too large.
        EngineNotFoundError: if an engine asked for by name is missing.
        DisagreementError: if two independent computations differ.
    """
    started = time.monotonic()
    settings = settings or Settings()
    chosen = claims_about(layer, tuple(claims))
    if not settings.force:
        _check_size(layer)
    installations, troubles = _installations(settings)
    inquiry = _Inquiry(layer, settings, installations, troubles, progress)
    findings = inquiry.pursue(questions_of(plan_of(layer, chosen)))
    verdicts = tuple(claim.verdict(layer, findings) for claim in chosen)
    return Report(
        layer,
        verdicts,
        tuple(inquiry.runs),
        tuple(inquiry.troubles),
        inquiry.engine_failed,
        time.monotonic() - started,
    )


def claims_about(layer: Architecture, ids: tuple[str, ...] = ()) -> Sequence[Claim[Any]]:
    """The claims of these ids, or all claims about architectures of this kind.

    Raises:
        InputError: if there is no such claim, or it is about the other kind.
    """
    if isinstance(layer, DeepNetwork):
        return select(NETWORK_CLAIMS, ids, dict.fromkeys(CLAIMS, "about a single layer; give -d and -o"))
    return select(CLAIMS, ids, dict.fromkeys(NETWORK_CLAIMS, "about a network; give --dims and --ranks"))


def _check_size(layer: Any) -> None:
    if not isinstance(layer, DeepNetwork):
        check_size(layer)
        return
    for size, limit, what in (
        (layer.parameters, MAX_PARAMETERS, "parameters"),
        (layer.t, MAX_TOKENS, "tokens"),
    ):
        if size > limit:
            raise TooLargeError(
                f"{layer} has {size} {what}; the limit is {limit}. Use --force to start all the same"
            )


def _installations(settings: Settings) -> tuple[list[Installation], list[str]]:
    """The engines to use, in order of preference, and what was wrong with what the user named."""
    if settings.engine == "native":
        return [], []
    if settings.engine not in ("auto", "all"):
        return [locate(engine_named(settings.engine))], []
    found, troubles = [], []
    for engine in ENGINES.values():
        try:
            found.append(locate(engine))
        except EngineNotFoundError as error:
            if settings.engine == "all":
                raise
            if isinstance(error, EngineVariableError):
                troubles.append(str(error))
    return found, troubles


class _Inquiry:
    """One pursuit of answers: puts questions to engines in parallel and remembers what came of it."""

    def __init__(
        self,
        layer: Architecture,
        settings: Settings,
        installations: list[Installation],
        troubles: list[str],
        progress: Progress,
    ) -> None:
        self.layer: Any = layer
        self.settings = settings
        self.installations = installations
        self.progress = progress
        self.runs: list[Run] = []
        self.troubles = troubles
        self.engine_failed = False
        self.cancelled = threading.Event()
        self.engines_running = 0
        self.engines_ended = threading.Condition()

    def pursue(self, questions: Sequence[Question[Any]]) -> Findings:
        found: dict[Question[Any], Finding] = {}
        missing: dict[Question[Any], str] = {}
        for question, result in self._answers(questions):
            if isinstance(result, str):
                missing[question] = result
            else:
                found[question] = result
        order = {question: n for n, question in enumerate(questions)}
        return Findings(dict(sorted(found.items(), key=lambda item: order[item[0]])), missing)

    def _answers(self, questions: Sequence[Question[Any]]) -> Iterator[tuple[Question[Any], Finding | str]]:
        """Answer questions, two at a time, in the order in which the answers come.

        An interrupt or a contradiction ends this at once: engines are killed, and a native computation, which
        nothing can stop, is left to a daemon thread that ends with the program.
        """
        waiting, done = iter(questions), SimpleQueue[tuple[Question[Any], Future[Finding | str]]]()
        lock = threading.Lock()

        def work() -> None:
            while not self.cancelled.is_set():
                with lock:
                    question = next(waiting, None)
                if question is None:
                    return
                future: Future[Finding | str] = Future()
                try:
                    future.set_result(self._answer(question))
                except BaseException as error:
                    future.set_exception(error)
                done.put((question, future))

        workers = [threading.Thread(target=work, daemon=True) for _ in range(min(2, len(questions)))]
        try:
            for worker in workers:
                worker.start()
            for _ in questions:
                question, future = done.get()
                yield question, future.result()
        except BaseException:
            self.cancelled.set()
            with self.engines_ended:
                self.engines_ended.wait_for(lambda: not self.engines_running, KILLED_WITHIN)
            raise

    @contextlib.contextmanager
    def _engine_running(self) -> Iterator[None]:
        """Count an engine while it runs, so that an interrupt can wait until it has been killed."""
        with self.engines_ended:
            self.engines_running += 1
        try:
            yield
        finally:
            with self.engines_ended:
                self.engines_running -= 1
                self.engines_ended.notify_all()

    def _answer(self, question: Question[Any]) -> Finding | str:
        """The finding for a question, or the reason why there is none."""
        if self.settings.engine == "all" and question.task:
            return self._ask_all(question)
        reasons: list[str] = []
        refusal, size = self._refusal(question), _coordinates(self.layer)
        if not question.task:
            if refusal:
                return refusal
        elif refusal:
            reasons.append(refusal)
        elif self.settings.engine == "auto" and question.native and size > MAX_AUTO_COORDINATES:
            reasons.append(
                f"{size} coordinates are many for an engine; --engine macaulay2 asks it all the same"
            )
        else:
            for installation in self.installations:
                result = self._ask(question, installation)
                if isinstance(result, Finding):
                    return result
                reasons.append(result)
            if not self.installations and self.settings.engine == "auto":
                reasons.append(f"no engine was found; install them with: {INSTALL}")
        native_allowed = self.settings.engine in ("auto", "native") or not question.task
        if question.native is not None and native_allowed:
            return self._compute(question, reasons)
        return "; ".join(reasons) or f"{question.name} can only be found by an engine"

    def _refusal(self, question: Question[Any]) -> str:
        reason = question.refusal(self.layer)
        if isinstance(self.layer, DeepNetwork):
            about = no_fiber(self.layer) if question.task and not reason else ""
            return reason or (f"{question.task} is about {about}" if about else "")
        forced = self.settings.eliminate and self.layer.t >= 2
        return "" if forced else reason

    def _ask_all(self, question: Question[Any]) -> Finding | str:
        """What every engine says; where some fail, the sources say that the others answered alone."""
        refusal = self._refusal(question)
        if refusal:
            return refusal
        results = [self._ask(question, installation) for installation in self.installations]
        findings = [result for result in results if isinstance(result, Finding)]
        failures = [result for result in results if isinstance(result, str)]
        if not findings:
            return "; ".join(failures)
        for one, other in itertools.pairwise(findings):
            if one.value != other.value:
                said = "; ".join(f"{', '.join(f.sources)} says {f.value}" for f in (one, other))
                raise DisagreementError(f"{self.layer}: the engines disagree about {question.name}. {said}")
        evidence = max(findings, key=lambda f: f.evidence is Evidence.PROVED).evidence
        sources = tuple(source for finding in findings for source in finding.sources)
        if failures:
            sources = tuple(f"{source} (alone: {'; '.join(failures)})" for source in sources)
        return Finding(findings[0].value, evidence, sources, sum(f.seconds for f in findings))

    def _ask(self, question: Question[Any], installation: Installation) -> Finding | str:
        """Ask one engine, over ℚ and then, if that does not finish and no field was asked for, over 𝔽_p."""
        fields = (
            [0, MODULAR_PRIME] if self.settings.characteristic is None else [self.settings.characteristic]
        )
        reasons = []
        for characteristic in fields:
            where = f"ZZ/{characteristic}" if characteristic else "QQ"
            self.progress(f"{installation.engine.title}: {question.task} over {where}")
            try:
                problem = self._problem(question.task, characteristic)
                with self._engine_running():
                    done = run(
                        problem, installation, self.settings.limits, self.settings.keep, self.cancelled
                    )
                value = question.read(done.answer)
            except EngineError as error:
                self.engine_failed |= error.exit_status == 4
                self.troubles.append(str(error))
                reasons.append(str(error))
                if error.exit_status == 4:
                    break
                continue
            self.runs.append(done)
            evidence = Evidence.MODULAR if characteristic else Evidence.PROVED
            return Finding(value, evidence, (str(installation),), done.seconds)
        return "; ".join(dict.fromkeys(reasons))  # over both fields, usually the same

    def _problem(self, task: str, characteristic: int) -> Problem:
        if isinstance(self.layer, DeepNetwork):
            seed = self.settings.seed
            return build_for_network(task, self.layer, characteristic=characteristic, seed=seed, force=True)
        return build(task, self.layer, characteristic=characteristic, force=True)

    def _compute(self, question: Question[Any], reasons: list[str]) -> Finding | str:
        self.progress(f"native: {question.name}")
        assert question.native is not None
        started = time.monotonic()
        try:
            value = question.native(self.layer, self.settings.seed)
        except DisagreementError:
            raise
        except AgattnError as error:
            return "; ".join([*reasons, str(error)])
        second_choice = reasons and self.settings.engine != "native"
        source = f"native (because {'; '.join(reasons)})" if second_choice else "native"
        return Finding(value, question.evidence(value), (source,), time.monotonic() - started)


def _coordinates(layer: Architecture) -> int:
    """The coordinates of the ambient space; of networks, whose systems are not in them, none."""
    return layer.ambient_dimension if isinstance(layer, SingleLayer) else 0
