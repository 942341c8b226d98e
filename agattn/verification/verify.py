"""Verification: the tasks that some claims need, each done once, and the verdicts that follow.

With ``auto`` the native computations come first, and engines are asked only about what stays open. A named
engine is asked everything that it can do. With ``all`` every engine is asked everything that it can do, and
the engines that answer must agree.

>>> from agattn import SingleLayer
>>> report = verify(SingleLayer(2, 1), ["corollary-3.3"])
>>> print(report.verdicts[0])
corollary-3.3: confirmed (proved). dim M = 5: rank of the differential, and parameters
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from agattn.architectures import Architecture, as_attention
from agattn.claims import claims_about
from agattn.claims.claim import Claim, Finding, Findings
from agattn.engines.catalogue import ENGINES, engine_name, engine_named, refuse_characteristic
from agattn.engines.locate import INSTALL, Installation, locate
from agattn.engines.run import Run, run
from agattn.errors import (
    AgattnError,
    DisagreementError,
    EngineError,
    EngineNotFoundError,
    EngineVariableError,
)
from agattn.evidence import Evidence, Status, Verdict
from agattn.limits import limited, limits, log, numbered, silent, takes
from agattn.systems.problem import Task, check_size
from agattn.verification.report import Report

# After an interrupt engines are killed within moments; not even a stuck file system may hold the user longer.
KILLED_WITHIN = 5.0
# How often, in seconds, the main thread looks up: a signal just before it waits would not wake it.
LOOKS_UP = 0.2

T = TypeVar("T")

WORKERS = 2

CHOICES = ("auto", *ENGINES, "native", "all")


@takes("timeout", "memory", "seed", "force", "progress")
def verify(
    architecture: Architecture,
    claims: str | Sequence[str] = (),
    engine: str = "auto",
    *,
    characteristic: int | None = None,
    eliminate: bool = False,
    keep: str | Path | None = None,
) -> Report:
    """Test the claims of the paper and of this project: the verdicts, by claim.

    Args:
        architecture: a layer, a network of attention or of any layers, a polynomial map, or anything with the
            members of :class:`agattn.architectures.protocol.Architecture`.
        claims: ids, or beginnings or numbers of some, such as ``"theorem-3.4"``; none for all.
        engine: ``"auto"``, ``"native"``, ``"macaulay2"``, ``"singular"``, ``"msolve"`` or ``"all"``.
        characteristic: 0 for ℚ, a prime p for 𝔽_p, or ``None``: ℚ, and 𝔽_p where ℚ does not finish.
        eliminate: try elimination also where it is not expected to finish.
        keep: a folder for scripts and transcripts.

    Raises:
        InputError: if there is no such claim or engine, or beyond the limits on sizes.
        EngineNotFoundError: if an engine asked for by name is missing.
        DisagreementError: if two independent computations differ.

    See Also:
        :func:`agattn.certificate`, :func:`agattn.study`, :func:`agattn.report`; ``agattn verify`` in a shell.

    >>> import agattn as ag
    >>> report = ag.verify(ag.SingleLayer(3, 2, a=2), ["3.4.singular", "corollary-3.3"], engine="native")
    >>> {claim: str(verdict.status) for claim, verdict in report.items()}
    {'theorem-3.4.singular': 'refuted', 'corollary-3.3': 'confirmed'}
    >>> for verdict in ag.verify(ag.Network([ag.Perceptron([5, 1], degree=4)], dim=3)).values():
    ...     print(f"{verdict.claim}: {verdict.status}, {verdict.short}")
    agattn.model-dimension: confirmed, 14
    agattn.model-symmetries: confirmed, 14
    >>> ag.verify(ag.SingleLayer(2, 1), "theorm-3.2")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: there is no claim 'theorm-3.2'; did you mean 'theorem-3.2'?
    """
    if characteristic:
        from agattn.systems.catalogue import check_field  # which imports all tasks

        check_field(characteristic)
        if engine == "native":
            refuse_characteristic(characteristic)
    engine = engine_name(engine, CHOICES)
    layer = as_attention(architecture)
    chosen = claims_about(layer, (claims,) if isinstance(claims, str) else tuple(claims))
    if not limits().force:
        check_size(layer)
    with limited(force=False):  # the size of the architecture alone is forced
        started = time.monotonic()
        work = _Work(layer, engine, characteristic, eliminate, None if keep is None else Path(keep))
        if engine != "auto":
            work.do(_tasks(chosen, layer), natively=engine == "native")
        else:
            work.do([task for task in _tasks(chosen, layer) if task.native], natively=True)
            open_ = _tasks((claim for claim in chosen if _is_open(work.by_findings(claim))), layer)
            work.do([t for t in open_ if t.results and t not in work.findings.found], natively=False)
        return Report(
            layer,
            tuple(work.judge(claim) for claim in chosen),
            tuple(work.runs),
            tuple(work.troubles),
            work.engine_failed,
            time.monotonic() - started,
            characteristic,
            in_full=bool(claims),
        )


def _tasks(claims: Iterable[Claim[Any]], layer: Architecture) -> list[Task[Any]]:
    """The tasks that some claims need, each once, in the order in which they first occur."""
    return list(dict.fromkeys(task for claim in claims for task in claim.needed(layer)))


def _is_open(verdict: Verdict) -> bool:
    """Whether an engine could add to a verdict: it is undecided, holds in part, or nothing was computed."""
    return verdict.status is Status.UNDECIDED or verdict.computed is None or bool(verdict.scope)


@dataclass
class _Work:
    """Does tasks in parallel, natively or by engines, and remembers what came of it."""

    layer: Any
    engine: str
    characteristic: int | None
    eliminate: bool
    keep: Path | None
    findings: Findings = field(default_factory=lambda: Findings({}, {}))
    natively: dict[Task[Any], Finding | str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    engine_failed: bool = False
    judged: dict[str, tuple[object, Verdict]] = field(default_factory=dict)
    cancelled: threading.Event = field(default_factory=threading.Event)
    engines_running: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(WORKERS))

    def __post_init__(self) -> None:
        self.installations = self._locate()

    def _locate(self) -> list[Installation]:
        """The engines to use, in order of preference; notes trouble with an engine that the user named."""
        if self.engine == "native":
            return []
        if self.engine not in ("auto", "all"):
            return [locate(engine_named(self.engine))]
        installations = []
        for engine in ENGINES.values():
            try:
                installations.append(locate(engine))
            except EngineNotFoundError as error:
                misnamed = isinstance(error, EngineVariableError)
                if self.engine == "all" and (misnamed or engine.proves):
                    raise
                if misnamed:
                    self.troubles.append(str(error))
        return installations

    def do(self, tasks: Sequence[Task[Any]], natively: bool) -> None:
        """Do tasks, two at a time, and add to the findings.

        An interrupt or a contradiction ends this at once: engines are killed, and a native computation, which
        nothing can stop, is left to a daemon thread that ends with the program.
        """
        waiting = enumerate(tasks, 1)  # which the workers share: taking the next one is a single step
        done: SimpleQueue[tuple[Task[Any], Finding | str | BaseException]] = SimpleQueue()

        def work() -> None:
            for number, task in waiting:
                if self.cancelled.is_set():
                    return
                try:
                    with numbered(number, len(tasks)):
                        done.put((task, self._compute(task) if natively else self._answer(task)))
                except BaseException as error:
                    done.put((task, error))

        results: dict[Task[Any], Finding | str] = {}
        workers = [
            threading.Thread(target=copy_context().run, args=(work,), daemon=True)
            for _ in range(min(WORKERS, len(tasks)))
        ]
        try:
            for worker in workers:
                worker.start()
            for _ in tasks:
                task, result = _next(done)
                if isinstance(result, BaseException):
                    raise result
                results[task] = result
            for worker in workers:  # nothing is left to do: a caller who forks next forks no thread of these
                worker.join()
        except BaseException:
            self.cancelled.set()
            for _ in range(WORKERS):  # all of them can be had once no engine runs
                self.engines_running.acquire(timeout=KILLED_WITHIN)
            raise
        found, missing = dict(self.findings.found), dict(self.findings.missing)
        for task in tasks:  # in this order, not in that of the answers
            result = results[task]
            if isinstance(result, Finding):
                found[task] = result
            elif result not in missing.get(task, ""):
                missing[task] = "; ".join(filter(None, (missing.get(task), result)))
        self.findings = Findings(found, missing)

    def by_findings(self, claim: Claim[Any]) -> Verdict:
        """The verdict on a claim by the findings for its own tasks, judged anew only after a further one."""
        found = {task: self.findings.found[task] for task in claim.tasks if task in self.findings.found}
        missing = {task: self.findings.missing[task] for task in claim.tasks if task in self.findings.missing}
        known = (set(found), missing)
        if claim.id not in self.judged or self.judged[claim.id][0] != known:
            self.judged[claim.id] = known, claim.verdict(self.layer, Findings(found, missing))
        return self.judged[claim.id][1]

    def judge(self, claim: Claim[Any]) -> Verdict:
        """The verdict on a claim, compared with what the native computation finds where one engine answered.

        One engine alone refutes nothing: a second engine, or the native computation, must agree. A claim sees
        the findings for its own tasks alone, so that the word of another engine cannot enter.

        Raises:
            DisagreementError: if the native computation comes to another verdict or another value.
        """
        found = {task: f for task, f in self.findings.found.items() if task in claim.tasks}
        verdict = self.by_findings(claim)
        others = {t: f for t, f in found.items() if len(f.engines) > 1 or f.engines == ("native",)}
        alone = {task: finding for task, finding in found.items() if task not in others}
        if not alone or verdict.status is Status.UNDECIDED:
            return verdict
        natively = {task: self._native(task) for task in alone}
        known = {task: finding for task, finding in natively.items() if isinstance(finding, Finding)}
        check = claim.verdict(self.layer, Findings(others | known, {}))
        partly = check.computed is None or "scope" in check.details
        undecided = check.status is Status.UNDECIDED or partly
        if not undecided and (check.status, check.computed) != (verdict.status, verdict.computed):
            raise DisagreementError(
                f"{self.layer.name}, {claim.id}: {verdict.engine} and the native computation disagree. "
                + "; ".join(
                    f"about {task.finds} {alone[task].engines[0]} says {alone[task].value}; "
                    f"native says {native.value}"
                    for task, native in known.items()
                    if native.value != alone[task].value
                )
            )
        if verdict.status is not Status.REFUTED or check.status is Status.REFUTED:
            return verdict
        who = next(iter(alone.values())).engines[0]
        reason = f"{who} alone would refute it, and one engine alone refutes nothing: {verdict.witness}"
        return verdict.replace(status=Status.UNDECIDED, witness=reason, fails_at=())

    def _native(self, task: Task[Any]) -> Finding | str:
        """The native value of a task, computed once, or the reason why there is none."""
        if task not in self.natively:
            self.natively[task] = self._compute(task)
        return self.natively[task]

    def _infeasible(self, task: Task[Any]) -> str:
        forced = self.eliminate and getattr(self.layer, "has_orbits", False)
        return "" if forced else task.infeasible(self.layer)

    def _compute(self, task: Task[Any]) -> Finding | str:
        """The native value, or the reason why there is none."""
        reason = self._infeasible(task)
        if task.native is None:
            return reason or f"{task.finds} can only be found by an engine"
        if reason and not task.results:
            return reason
        log.info(f"native: {task.finds}")
        started = time.monotonic()
        try:
            with limited(progress=silent):
                value = task.native(self.layer)
        except DisagreementError:
            raise
        except AgattnError as error:
            return "; ".join(filter(None, (reason, str(error))))
        seconds = time.monotonic() - started
        return Finding(value, task.evidence(value), ("native",), task.sources(), seconds)

    def _answer(self, task: Task[Any]) -> Finding | str:
        """The value by engines, or why there is none; the native value if engines have no script."""
        if not task.results:
            return self._compute(task)
        if reason := self._infeasible(task):
            return reason
        findings: list[Finding] = []
        failures: list[str] = []
        able = [there for there in self.installations if task.form in there.engine.tasks]
        for installation in able:
            result = self._ask(task, installation)
            if isinstance(result, str):
                failures.append(result)
                continue
            findings.append(result)
            if self.engine != "all":
                return result
        if not findings:
            if self.installations and not able:
                names = " and ".join(there.engine.title for there in self.installations)
                failures = [f"{names} cannot find {task.finds}"]
            return "; ".join(failures) or f"no engine was found; install them with: {INSTALL}"
        for pair in itertools.pairwise(findings):
            if pair[0].value != pair[1].value:
                both = "; ".join(f"{finding.engines[0]} says {finding.value}" for finding in pair)
                raise DisagreementError(f"{self.layer.name}: the engines disagree about {task.finds}. {both}")
        alone = f" (alone: {'; '.join(failures)})" if failures and len(findings) == 1 else ""
        return Finding(
            findings[0].value,
            max(findings, key=lambda f: f.evidence is Evidence.PROVED).evidence,
            tuple(f"{finding.engines[0]}{alone}" for finding in findings),
            tuple(dict.fromkeys(source for finding in findings for source in finding.sources)),
            sum(finding.seconds for finding in findings),
        )

    def _ask(self, task: Task[Any], installation: Installation) -> Finding | str:
        """Ask one engine, over ℚ and then, if that does not finish and no field was asked for, over 𝔽_p."""
        from agattn.systems.catalogue import MODULAR_PRIME, build  # these import every task

        asked = self.characteristic
        reasons = []
        for characteristic in [0, MODULAR_PRIME] if asked is None else [asked]:
            where = f"ZZ/{characteristic}" if characteristic else "QQ"
            log.info(f"{installation.engine.title}: {task.name} over {where}")
            try:
                problem = build(task.name, self.layer, characteristic, force=True)
                with self.engines_running:
                    done = run(problem, installation, self.keep, self.cancelled)
                value = task.read(done.answer)
            except EngineError as error:
                self.engine_failed |= error.exit_status == 4
                self.troubles.append(str(error))
                reasons.append(str(error))
                if error.exit_status == 4:
                    break
                continue
            self.runs.append(done)
            name = str(installation)
            return Finding(value, done.evidence, (name,), task.sources(name), done.seconds)
        return "; ".join(dict.fromkeys(reasons))  # over both fields, usually the same


def _next(queue: SimpleQueue[T]) -> T:
    """The next element of a queue; an interrupt ends the waiting within moments."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=LOOKS_UP)
