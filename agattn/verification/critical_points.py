"""How many critical points a loss has: by a theorem, by elimination, or by an engine, compared with both.

What is proved natively comes first: for general data, or a general target, the theorems; for a given loss,
where d = 2 and d' = 1, elimination. An engine is asked where neither applies, or where the user names the
engine. The numbers of the engine are compared with what is proved, and refused where they differ.

>>> from agattn.architectures import SingleLayer
>>> print(critical_points(SingleLayer(4, 1), "bombieri-weyl"))
M(4,1,4), bombieri-weyl, general target: 40 critical points (proved)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from agattn.architectures import SingleLayer, one_layer
from agattn.calls import one_of
from agattn.engines.catalogue import able, engine_name, engine_named
from agattn.engines.critical_points import count_critical_points, countable
from agattn.engines.locate import Installation, locate
from agattn.engines.programs.singular import SINGULAR
from agattn.errors import DisagreementError, EngineNotFoundError, InputError, TooLargeError
from agattn.geometry.critical_points.counts import (
    CriticalPoints,
    counts_by_elimination,
    counts_by_theorem,
    proved_of_general,
)
from agattn.geometry.critical_points.elimination import ELIMINATION
from agattn.geometry.critical_points.loss import Loss, loss
from agattn.geometry.strata.strata import Stratum
from agattn.limits import limits, log, takes
from agattn.verification.real_critical_points import as_counts, real_critical_points

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
        engine: ``"auto"``: natively where the numbers are proved so, else by the first engine installed;
            ``"native"``: no engine at all; or ``"singular"``, ``"macaulay2"``, ``"msolve"``, which count for
            the random loss of the seed.
        method: ``"weights"``, by charts of the parametrization; or ``"equations"``, by the equations of M̄,
            for the smooth part alone.
        smooth: count on the smooth part alone, where the strata of singular points take too long.
        real: find all real critical points, too, and prove each: with loss, index and weights. For d' = 1 and
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
    >>> found = ag.critical_points(ag.SingleLayer(2, 1), "gaussian", real=True)
    >>> print(found)
    M(2,1,2), gaussian: 6 critical points, singular ones (1,1,1): 6; (1,1,2): 6 (proved)
    >>> print(found.real[0].points[0])
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
