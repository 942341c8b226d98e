"""How many critical points a loss has, and all real ones: natively where that is proved, else by an engine.

**Numbers.** What is proved natively comes first: for general data, or a general target, the theorems; for a
given loss, where d = 2 and d' = 1, elimination. An engine is asked where neither applies, or where the user
names the engine. The numbers of the engine are compared with what is proved, and refused where they differ.

>>> from agattn.architectures import SingleLayer
>>> print(critical_points(SingleLayer(4, 1), "bombieri-weyl"))
M(4,1,4), bombieri-weyl, general target: 40 critical points (proved)

**Real points**, on the smooth part of M̄ and on each singular stratum. Where one parameter is left after
elimination, for d = 2 and d' = 1, everything is done natively and proved. Elsewhere msolve finds the real
solutions in a chart; each is then proved natively, and that there are no others is known as msolve knows it,
modularly.

>>> for part in real_critical_points(loss(SingleLayer(2, 1), seed=1)):
...     print(part)
smooth part: 6 real critical points of 14 complex ones (all: proved, by elimination)
  minimum on (1,2,2): loss 71.85144645 (proved)
  minimum on (1,2,2): loss 75.81716935 (proved)
  saddle of index 1 on (1,2,2): loss 94.34177313 (proved)
  minimum on (1,2,2): loss 103.4510370 (proved)
  saddle of index 1 on (1,2,2): loss 122.4614085 (proved)
  saddle of index 1 on (1,2,2): loss 191.1778986 (proved)
stratum (1,1,1): 2 real critical points of 14 complex ones (all: proved, by elimination)
  minimum within (1,1,1): loss 100.8974814 (proved)
  saddle of index 1 within (1,1,1): loss 216.9317690 (proved)
stratum (1,1,2): 4 real critical points of 10 complex ones (all: proved, by elimination)
  minimum within (1,1,2): loss 77.25719391 (proved)
  minimum within (1,1,2): loss 104.4906383 (proved)
  saddle of index 1 within (1,1,2): loss 124.2254262 (proved)
  saddle of index 1 within (1,1,2): loss 191.3056462 (proved)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import flint

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import SingleLayer, one_layer
from agattn.calls import one_of
from agattn.engines.catalogue import MSOLVE, SINGULAR, able, engine_name, engine_named
from agattn.engines.locate import Installation, locate
from agattn.engines.msolve import solve
from agattn.engines.run import run
from agattn.errors import (
    DisagreementError,
    EngineNotFoundError,
    InputError,
    TooLargeError,
    UndecidedError,
    argument,
)
from agattn.geometry.critical_points.charts import FIRST, GENERAL, chart_of
from agattn.geometry.critical_points.counts import (
    MAX_OUT,
    CriticalPoints,
    CriticalSet,
    counts_by_elimination,
    counts_by_theorem,
    generic_ed_degree,
    proved_of_general,
)
from agattn.geometry.critical_points.elimination import ELIMINATION, is_eliminated, part_by_elimination
from agattn.geometry.critical_points.loss import Loss, loss, turned
from agattn.geometry.critical_points.real_points import CriticalEquations, RealPart, require_definite
from agattn.geometry.strata.critical import boundary
from agattn.geometry.strata.strata import Stratum, require_two_tokens, singular_by_ranks, strata
from agattn.limits import limits, log, refuse, steps, takes
from agattn.systems.catalogue import build, check_field, task_named
from agattn.systems.critical_tasks import LowerStrataError
from agattn.systems.problem import Task

#: The engines that count; the first that is installed is asked. Singular is the fastest.
ORDER = tuple(engine.name for engine in sorted(able("critical-points"), key=lambda e: e is not SINGULAR))
ENGINES = ("auto", "native", *ORDER)


@takes("seed", "timeout", "memory", "force", "progress")
def critical_points(
    layer: SingleLayer,
    metric: str = "generic",
    data: tuple[Any, Any] | None = None,
    *,
    samples: int | None = None,
    target: Sequence[Any] | None = None,
    engine: str = "auto",
    method: str = "weights",
    smooth: bool = False,
    real: bool = False,
    characteristic: int | None = None,
) -> CriticalPoints:
    """The critical points of a squared loss on M̄: on its smooth part and on each singular stratum.

    If a stratum has infinitely many critical points, the result has their dimension and degree. For general
    data (d' ≤ 3), and for a general target in the Bombieri–Weyl norm (d' = 1, a ≥ d), theorems give the
    numbers at once. For d = 2 and d' = 1 elimination proves the numbers for any loss that is a distance. In
    other cases, or if an engine is named, an engine counts, and its numbers are compared with proved ones.

    Args:
        layer: one layer, with two tokens or more.
        metric: ``"generic"`` (random samples, enough to be generic), ``"gaussian"``, ``"bombieri-weyl"`` or
            ``"coefficients"``: see :func:`agattn.geometry.critical_points.loss.loss`.
        data: X, n × d × t, and Y, n × d' × t, instead of a metric.
        samples: the number of random samples.
        target: the N coordinates of the function that the loss is the distance to; random if not given.
        seed: of random samples and targets.
        engine: who counts; auto: natively where the numbers are proved so, else by the first engine
            installed; native: no engine at all; one that is named counts for the random loss of the seed.
        method: solve for the weights, in charts; or for y on the equations of M̄, for the smooth part alone.
        smooth: count on the smooth part alone, where the strata of singular points take too long.
        real: find and prove all real critical points, too (loss, index, weights). For d' = 1 and
            d = 2 no engine is needed; otherwise msolve finds them. The numbers of complex points then come
            from the same computation, unless an engine, a characteristic or the equations are asked for.
        characteristic: 0 for ℚ, or a prime; by default two primes, and another chart for each.

    Raises:
        InputError: for a network, for t = 1, for data that do not fit, beyond the limits on sizes, or where
            ``engine="native"`` proves nothing.
        EngineError: if an engine is needed and none is installed, or it fails or does not finish.
        UndecidedError: if the numbers modulo three primes differ.
        DisagreementError: if an engine's numbers are not those that are proved.

    See Also:
        :func:`agattn.critical_points_near`, :func:`agattn.train`, :func:`agattn.figure`; ``agattn
        critical-points`` in a shell.

    >>> import agattn as ag
    >>> print(ag.critical_points(ag.SingleLayer(4, 1)))
    M(4,1,4), generic, general data: 35964 critical points, singular ones (1,1,1): 3772;
    (1,1,2): 100382 (proved)
    >>> points = ag.critical_points(ag.SingleLayer(2, 1), "gaussian", real=True)
    >>> print(points)
    M(2,1,2), gaussian: 6 critical points, singular ones (1,1,1): 6; (1,1,2): 6 (proved)
    >>> print(points.real[0].points[0])
    minimum on (1,2,2): loss 605.9446722 (proved)
    >>> ag.critical_points(ag.SingleLayer(2, 1), data=([[1, 2], [3, 4]], [[1, 2, 3]]))
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: X is 1 × 2 × 2 and Y is 1 × 1 × 3; they must be n × d × t and n × d' × t
    """
    layer = one_layer(layer, "critical points", "they are known for layers alone")
    method = one_of(method, ("weights", "equations"), "method")
    engine = engine_name(engine, ENGINES)
    natively = engine == "native" or (engine, method, characteristic) == ("auto", "weights", None)
    is_general = data is None and target is None
    theorems = partial(counts_by_theorem, layer, metric, samples, smooth) if is_general else lambda: None
    if natively and not real and (known := theorems()):
        return known  # no data are drawn
    given = loss(layer, metric, data, samples=samples, target=target)
    parts = real_critical_points(given) if real else ()
    counted = as_counts(given, parts) if real and natively and not smooth else None
    if counted is None and natively:
        log.info("natively")
        if known := theorems() or counts_by_elimination(given, smooth):
            return known.replace(real=parts)
    if counted is None:
        if engine == "native":
            raise InputError(
                f"natively nothing is proved about critical points on {layer.name} of this loss "
                f"({given.metric}); name an engine: {', '.join(ORDER)}"
            )
        countable(layer, method, characteristic)  # before an engine is looked for
        counted = count_critical_points(
            given, installed(engine), method=method, smooth=smooth, characteristic=characteristic
        )
    general = None
    with suppress(TooLargeError):
        general = theorems()
    return _compared(counted, given, smooth, general).replace(real=parts)


def installed(engine: str) -> Installation:
    """The engine of this name; for ``"auto"`` the first that is installed and counts."""
    *names, last = ORDER if engine == "auto" else (engine,)
    for name in names:
        with suppress(EngineNotFoundError):
            return locate(engine_named(name))
    return locate(engine_named(last))


def _compared(
    counted: CriticalPoints, given: Loss, smooth: bool, general: CriticalPoints | None
) -> CriticalPoints:
    """The numbers counted for a loss, compared with elimination for it, and with those of general losses.

    Raises:
        DisagreementError: if a number is not as it is proved to be for this loss, or for general ones.
    """
    hint = f". The engine is wrong, or the loss of seed {limits().seed} is special: try another seed"
    eliminated = counts_by_elimination(given, smooth)
    proofs = {}
    for n, (stratum, part) in enumerate(counted.found.items()):
        here = eliminated.found.get(stratum) if eliminated else None
        expected = general.found.get(stratum) if general else None
        if general and part == expected:
            proofs[stratum] = general.proofs[stratum]
        elif part == here:
            proofs[stratum] = ELIMINATION  # the loss is a special one
        elif here is not None:
            proved = f"{here} are proved for this loss, by elimination"
            raise DisagreementError(_difference(counted, stratum, proved))
        elif general and expected is not None:
            proved = f"{expected} are proved for general losses, by theorem {general.theorem_on(stratum)}"
            raise DisagreementError(_difference(counted, stratum, proved) + hint)
        elif proved := proved_of_general(given, stratum if n else None, part):
            raise DisagreementError(
                _difference(counted, stratum, f"{proved} proved for general losses") + hint
            )
    return counted.replace(proofs=proofs)


def _difference(counted: CriticalPoints, stratum: Stratum, proved: str) -> str:
    over = " and ".join(f"modulo {p}" if p else "over ℚ" for p in counted.fields)
    part = counted.found[stratum]
    points = f"critical points {part}" if part.count is None else f"{part} critical points"
    points = f"{points} on {stratum} of {counted.layer.name}"
    return f"{counted.engine} says that there are {points}, {over}; {proved}"


# By an engine: over two finite fields in two charts, or over ℚ ---------------------------------------------

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
    _check_feasible(task, layer)
    check_field(characteristic or 0)
    return task


def _check_feasible(task: Task[SingleLayer], layer: SingleLayer) -> None:
    if reason := task.infeasible(layer):
        refuse(f"{layer.name}: {reason}")


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


# All real ones ----------------------------------------------------------------------------------------------

_BITS = 256


def real_critical_points(loss: Loss) -> tuple[RealPart, ...]:
    """All real critical points of a loss: on the smooth part, and on each of the :func:`lower_strata`.

    Args:
        loss: a definite loss: a distance, or the loss of enough data.

    Raises:
        InputError: for one token, for a loss that is not definite, and where there are infinitely many.
        TooLargeError: for layers beyond what finishes.
        EngineNotFoundError: if msolve is needed and not installed.
        EngineError: if msolve does not finish.
    """
    layer = loss.layer
    require_two_tokens(layer)
    _check_feasible(task_named("critical-points"), layer)
    require_definite(loss)
    places = (None, *lower_strata(layer))
    named = steps(places, len(places), lambda stratum: f"real ones on {stratum or 'the smooth part'}")
    return tuple(real_part(loss, stratum) for stratum in named)


def as_counts(loss: Loss, parts: Sequence[RealPart]) -> CriticalPoints | None:
    """The numbers of complex critical points that were found with the real ones, if all are known."""
    layer, counts = loss.layer, {}
    for part in parts:
        if part.complex_number is None:
            return None
        if part.regular or singular_by_ranks(layer, part.stratum):
            counts[part.stratum] = CriticalSet(0 if part.complex_number else -1, part.complex_number)
    by = {part.found_by for part in parts}
    native = by == {ELIMINATION}
    engine = " and ".join(sorted(by))
    return CriticalPoints(
        loss,
        counts,
        (0,),
        engine,
        ELIMINATION if native else "weights",
        tuple(parts),
        proofs={part.stratum: ELIMINATION for part in parts if part.found_by == ELIMINATION},
    )


def lower_strata(layer: SingleLayer) -> tuple[Stratum, ...]:
    """The strata of singular points of M̄ and on the boundary of M, but 0.

    >>> [str(s) for s in lower_strata(SingleLayer(2, 1, 1))]  # a smooth M̄, and a boundary
    ['(1,1,1)']
    """
    others = strata(layer)[1:]
    return tuple(s for s in others if singular_by_ranks(layer, s) or boundary(layer, s).on_boundary)


def real_part(loss: Loss, stratum: Stratum | None = None) -> RealPart:
    """The real critical points on one stratum, or on the smooth part of M̄; raises as above."""
    layer = loss.layer
    chart = chart_of(layer, stratum, 0 if loss.drawn else GENERAL)
    if not any(loss.linear) or is_eliminated(chart):
        return part_by_elimination(layer, loss, stratum)
    installation = locate(MSOLVE)
    equations = [f.primitive() for f in chart.equations(loss)]
    size = len(equations)
    if (avoided := chart.avoided) is not None:
        equations = _without(equations, avoided)
    solutions = solve(equations, installation)
    if solutions.dimension > 0:
        raise InputError(
            f"the equations of critical points on {chart.name} of {layer.name} have infinitely many "
            f"solutions: in a chart, a set of dimension {solutions.dimension} and degree {solutions.degree}"
        )
    real, others = list[list[Any]](), list[list[Any]]()
    with flint.ctx.workprec(_BITS):
        if solutions.parametrization is not None:
            real = [point[:size] for point in solutions.parametrization.real_points(_BITS)]
            others = [point[:size] for point in solutions.parametrization.complex_points()]
        candidates = [[x.mid() for x in point] for point in real]
        # A special loss has solutions on lower strata as well, which are not to be counted.
        all_inside = all(map(chart.is_inside, [*real, *others]))
    # The losses of the theorem are those of data, and their limits.
    of_theorem = chart.regular and loss.metric in ("data", "generic", "gaussian") and layer.d_out <= MAX_OUT
    bound = generic_ed_degree(layer) if of_theorem else None
    number = solutions.degree if all_inside else None
    return CriticalEquations(chart, loss).part_near(candidates, number, str(installation), others, bound)


def _without(equations: Sequence[Polynomial], avoided: Polynomial) -> list[Polynomial]:
    """The equations where a polynomial is not 0: with one more variable, its inverse."""
    ring = PolynomialRing([*avoided.ring.variables, Variable("inverse")])
    *gens, inverse = ring.gens
    return [*(f.compose(gens) for f in equations), avoided.compose(gens) * inverse - 1]
