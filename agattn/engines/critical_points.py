"""Counting the critical points of a loss with an engine: over two finite fields in two charts, or over ℚ."""

from __future__ import annotations

from collections.abc import Mapping

from agattn.architectures import SingleLayer
from agattn.engines.locate import Installation
from agattn.engines.run import run
from agattn.errors import TooLargeError, UndecidedError, argument
from agattn.geometry.critical_points.charts import FIRST
from agattn.geometry.critical_points.counts import CriticalPoints, CriticalSet
from agattn.geometry.critical_points.loss import Loss, turned
from agattn.geometry.strata.strata import Stratum
from agattn.limits import limits, log
from agattn.systems.catalogue import build, check_field, task_named
from agattn.systems.critical_tasks import LowerStrataError
from agattn.systems.problem import Task

#: Each with its own charts; the third decides where two disagree.
PRIMES = (32003, 32009, 31991)

Counts = Mapping[Stratum, CriticalSet]


def count_critical_points(
    loss: Loss,
    installation: Installation,
    *,
    method: str = "weights",
    smooth: bool = False,
    characteristic: int | None = None,
) -> CriticalPoints:
    """The complex critical points of a loss on the smooth part of M̄ and on each singular stratum.

    Args:
        loss: the loss. One that no seed drew may have critical points outside of a chart; they are counted
            after changes of basis, others for each field, which move them to general places.
        installation: the engine.
        method: ``"weights"``, by charts of the parametrization; or ``"equations"``, by the equations of M̄
            with multipliers, for the smooth part alone.
        smooth: leave out the strata of singular points.
        characteristic: of the field: 0, or a prime; by default the two of :data:`PRIMES` which agree first.

    Raises:
        InputError: for t = 1.
        TooLargeError: for layers beyond what engines finish.
        EngineError: if the engine does not finish or fails.
        UndecidedError: if three primes give three answers.
    """
    task = countable(loss.layer, method, characteristic)
    answers: dict[int, Counts] = {}
    for seed, prime in enumerate(PRIMES if characteristic is None else (characteristic,), FIRST):
        log.info(f"over {f'ZZ/{prime}' if prime else 'QQ'}")
        general, chart = (loss, seed) if loss.drawn else (turned(loss, prime), FIRST)
        counts = _ask(installation, task.name, smooth, general, prime, chart)
        agreeing = [p for p, other in answers.items() if other == counts]
        answers[prime] = counts
        if agreeing or characteristic is not None:
            engine = f"{installation.engine.name} {installation.version}"
            primes, exact = (*agreeing, prime), installation.engine.proves
            return CriticalPoints(loss, counts, primes, engine, method, exact=exact)
    each = "; ".join(f"modulo {p}: {', '.join(map(str, counts.values()))}" for p, counts in answers.items())
    other = argument("characteristic", 0)
    raise UndecidedError(f"the numbers of critical points differ, {each}; try {other}")


def countable(layer: SingleLayer, method: str, characteristic: int | None) -> Task[SingleLayer]:
    """The task that counts the critical points on a layer by this method, over this field.

    Raises:
        InputError: if the characteristic is no prime that engines take, or t = 1.
        TooLargeError: for layers beyond what engines finish.
    """
    task = task_named("critical-points" if method == "weights" else "critical-equations")
    if not layer.has_orbits:
        build(task.name, layer)  # which refuses one token
    if not limits().force and (reason := task.infeasible(layer)):
        raise TooLargeError(f"{layer.name}: {reason}. Use {argument('force', True)} to start all the same")
    check_field(characteristic or 0)
    return task


def _ask(installation: Installation, task: str, smooth: bool, loss: Loss, prime: int, chart: int) -> Counts:
    """What an engine finds over a field; where it meets lower strata, asked once more outside of them."""
    more = {"chart": chart, "smooth": smooth} if task == "critical-points" else {}

    def ask(strictly: bool | None = None) -> Counts:
        problem = build(task, loss.layer, prime, seed=0, loss=loss, strictly=strictly, **more)
        counts: Counts = task_named(task).read(run(problem, installation).answer)
        return counts

    try:
        return ask()
    except LowerStrataError:
        return ask(strictly=True)
