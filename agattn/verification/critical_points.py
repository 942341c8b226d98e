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
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agattn.architectures import SingleLayer, one_layer
from agattn.calls import one_of
from agattn.engines.catalogue import SINGULAR, able, engine_name, engine_named
from agattn.engines.critical_points import count_critical_points, countable
from agattn.engines.locate import Installation, locate
from agattn.errors import DisagreementError, EngineNotFoundError, InputError, TooLargeError, argument
from agattn.geometry.critical_points.counts import (
    CriticalPoints,
    counts_by_elimination,
    counts_by_theorem,
    proved_of_general,
)
from agattn.geometry.critical_points.ed_degree import MAX_OUT, MAX_SUMS, size_of_sums
from agattn.geometry.critical_points.elimination import ELIMINATION
from agattn.geometry.critical_points.loss import Loss, check_loss, chosen_loss, enough_samples
from agattn.geometry.strata.strata import Stratum
from agattn.limits import limits, log, takes
from agattn.verification.real_critical_points import as_counts, real_critical_points

#: The engines that count; the first that is installed is asked. Singular is the fastest.
ORDER = tuple(engine.name for engine in sorted(able("critical-points"), key=lambda e: e is not SINGULAR))
ENGINES = ("auto", "native", *ORDER)


@dataclass(frozen=True)
class Question:
    """The loss, and the part of M̄ on which critical points are counted.

    Attributes:
        layer: the layer.
        metric: of the loss.
        data: X and Y instead of a metric.
        samples: the number of random samples, for the metric ``"generic"``.
        target: the coordinates of the function that the loss is the distance to.
        smooth: whether the smooth part alone is meant.
    """

    layer: SingleLayer
    metric: str
    data: tuple[Any, Any] | None
    samples: int | None
    target: Sequence[Any] | None
    smooth: bool

    @cached_property
    def loss(self) -> Loss:
        """The loss of the data, of the target, or of what the seed draws."""
        return chosen_loss(self.layer, self.metric, self.data, self.samples, self.target)

    @cached_property
    def by_theorem(self) -> CriticalPoints | None:
        """What theorems say, where the loss is one of general data, or with a general target.

        Raises:
            TooLargeError: if the sums take long.
        """
        layer = self.layer
        if self.data is not None or self.target is not None or not layer.has_orbits:
            return None
        if self.samples is not None and not (self.metric == "generic" and enough_samples(layer, self.loss)):
            return None
        summed = self.metric == "generic" and layer.d_out <= MAX_OUT
        if summed and not limits().force and size_of_sums(layer) > MAX_SUMS:
            raise TooLargeError(
                f"{layer.name}: the sums of the theorem on general data have more than {MAX_SUMS:.0e} terms. "
                f"Use {argument('force', True)} to start all the same"
            )
        return counts_by_theorem(layer, self.metric, self.samples, self.smooth)

    @cached_property
    def by_elimination(self) -> CriticalPoints | None:
        """What elimination proves of the loss."""
        return counts_by_elimination(self.loss, self.smooth)


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
    check_loss(metric, data, samples, target)
    question = Question(layer, metric, data, samples, target, smooth)
    natively = engine == "native" or (engine, method, characteristic) == ("auto", "weights", None)
    if not real:
        return _counted(question, engine, method, characteristic, natively)
    parts = real_critical_points(question.loss)
    counts = as_counts(question.loss, parts)
    if counts and natively and not smooth:
        return _compared(counts, question)
    return _counted(question, engine, method, characteristic, natively).replace(real=parts)


def _counted(
    question: Question, engine: str, method: str, characteristic: int | None, natively: bool
) -> CriticalPoints:
    """The numbers of complex critical points: natively where they are proved so, else by an engine."""
    if natively:
        log.info("natively")
        if found := question.by_theorem or question.by_elimination:
            return found
    layer = question.layer
    if engine == "native":
        raise InputError(
            f"natively nothing is proved about critical points on {layer.name} of this loss "
            f"({question.metric}); name an engine: {', '.join(ORDER)}"
        )
    countable(layer, method, characteristic)  # before an engine is looked for
    counted = count_critical_points(
        question.loss,
        installed(engine),
        method=method,
        smooth=question.smooth,
        characteristic=characteristic,
    )
    return _compared(counted, question)


def installed(engine: str) -> Installation:
    """The engine of this name; for ``"auto"`` the first that is installed and counts."""
    if engine != "auto":
        return locate(engine_named(engine))
    for name in ORDER[:-1]:
        try:
            return locate(engine_named(name))
        except EngineNotFoundError:
            continue
    return locate(engine_named(ORDER[-1]))


def _compared(counted: CriticalPoints, question: Question) -> CriticalPoints:
    """The numbers counted for a loss, compared with theorems, or with elimination for this loss.

    Raises:
        DisagreementError: if a number is not as it is proved to be for this loss, or for general ones.
    """
    hint = f". The engine is wrong, or the loss of seed {limits().seed} is special: try another seed"
    eliminated = question.by_elimination.found if question.by_elimination else {}
    general = _theorems(question)
    proofs = {}
    for n, (stratum, said) in enumerate(counted.found.items()):
        known = eliminated.get(stratum)
        expected = general.found.get(stratum) if general else None
        if said == expected and general:
            proofs[stratum] = general.proofs[stratum]
        elif said == known:
            proofs[stratum] = ELIMINATION  # the loss is a special one
        elif known is not None:
            proved = f"{known} are proved for this loss, by elimination"
            raise DisagreementError(_difference(counted, stratum, proved))
        elif expected is not None and general:
            proved = f"{expected} are proved for general losses, by theorem {general.theorem_on(stratum)}"
            raise DisagreementError(_difference(counted, stratum, proved) + hint)
        elif proved := proved_of_general(question.loss, stratum if n else None, said):
            raise DisagreementError(
                _difference(counted, stratum, f"{proved} proved for general losses") + hint
            )
    return counted.replace(proofs=proofs)


def _theorems(question: Question) -> CriticalPoints | None:
    """What theorems say, where their sums take no time."""
    try:
        return question.by_theorem
    except TooLargeError:
        return None


def _difference(counted: CriticalPoints, stratum: Stratum, proved: str) -> str:
    over = " and ".join(f"modulo {p}" if p else "over ℚ" for p in counted.fields)
    found = counted.found[stratum]
    said = f"critical points {found}" if found.count is None else f"{found} critical points"
    return (
        f"{counted.engine} says that there are {said} on {stratum} of {counted.layer.name}, {over}; {proved}"
    )
