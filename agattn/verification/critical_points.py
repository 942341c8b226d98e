"""How many critical points a loss has: by a theorem, by elimination, or by an engine, compared with both.

What is proved natively comes first: for general data, or a general target, the theorems; for a given loss,
where d = 2 and d' = 1, elimination. An engine is asked where neither applies, or where the user names the
engine. The numbers of the engine are compared with what is proved, and refused where they differ.

>>> from agattn.architectures import SingleLayer
>>> print(critical_points(SingleLayer(4, 1), "bombieri-weyl"))
M(4,1,4), bombieri-weyl, general target: 40 critical points (proved)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from agattn.architectures import SingleLayer
from agattn.engines.catalogue import able, engine_named
from agattn.engines.critical_points import count_critical_points, countable
from agattn.engines.locate import Installation, locate
from agattn.engines.programs.singular import SINGULAR
from agattn.engines.run import DEFAULT_LIMITS, Limits
from agattn.errors import DisagreementError, EngineNotFoundError, InputError, TooLargeError, argument
from agattn.geometry.critical_points.counts import (
    CriticalPoints,
    counts_by_elimination,
    counts_by_theorem,
    proved_of_general,
)
from agattn.geometry.critical_points.ed_degree import MAX_OUT, MAX_SUMS, size_of_sums
from agattn.geometry.critical_points.elimination import ELIMINATION
from agattn.geometry.critical_points.loss import Loss, chosen_loss, enough_samples
from agattn.geometry.strata.strata import Stratum
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
        seed: of what is random.
        smooth: whether the smooth part alone is meant.
        force: whether limits on sizes are ignored.
    """

    layer: SingleLayer
    metric: str
    data: tuple[Any, Any] | None
    samples: int | None
    target: Sequence[Any] | None
    seed: int
    smooth: bool
    force: bool

    @cached_property
    def loss(self) -> Loss:
        """The loss of the data, of the target, or of what the seed draws."""
        return chosen_loss(self.layer, self.metric, self.data, self.samples, self.target, self.seed)

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
        if summed and not self.force and size_of_sums(layer) > MAX_SUMS:
            raise TooLargeError(
                f"{layer.name}: the sums of the theorem on general data have more than {MAX_SUMS:.0e} terms. "
                f"Use {argument('force', True)} to start all the same"
            )
        return counts_by_theorem(layer, self.metric, self.samples, self.smooth)

    @cached_property
    def by_elimination(self) -> CriticalPoints | None:
        """What elimination proves of the loss."""
        return counts_by_elimination(self.loss, self.smooth)


def critical_points(
    layer: SingleLayer,
    metric: str = "generic",
    data: tuple[Any, Any] | None = None,
    *,
    samples: int | None = None,
    target: Sequence[Any] | None = None,
    seed: int = 0,
    engine: str = "auto",
    method: str = "weights",
    smooth: bool = False,
    real: bool = False,
    characteristic: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> CriticalPoints:
    """The critical points of a loss; see :func:`agattn.critical_points`.

    Args:
        limits: of each run of an engine.

    Raises:
        InputError: for data that do not fit, or if ``engine`` is ``"native"`` and nothing is proved natively.
        TooLargeError: beyond the limits on sizes.
        EngineError: if an engine is needed, and none is installed, or it fails or does not finish.
        UndecidedError: if the numbers modulo three primes differ.
        DisagreementError: if an engine's numbers are not those that are proved.
    """
    question = Question(layer, metric, data, samples, target, seed, smooth, force)
    chosen = engine == "native" or (engine, method, characteristic) == ("auto", "weights", None)
    if real:
        parts = real_critical_points(question.loss, limits=limits, force=force, progress=progress)
        counts = as_counts(question.loss, parts)
        if counts and chosen and not smooth:
            return _compared(counts, question)
        return replace(
            critical_points(
                layer, metric, data, samples=samples, target=target, seed=seed, engine=engine, method=method,
                smooth=smooth, characteristic=characteristic, limits=limits, force=force, progress=progress,
            ),
            real=parts,
        )  # fmt: skip
    if chosen:
        progress("natively")
        if found := question.by_theorem or question.by_elimination:
            return found
    if engine == "native":
        raise InputError(
            f"natively nothing is proved about critical points on {layer.name} of this loss ({metric}); "
            f"name an engine: {', '.join(ORDER)}"
        )
    countable(layer, method, characteristic, force)  # before an engine is looked for
    counted = count_critical_points(
        question.loss, installed(engine), method=method, smooth=smooth, characteristic=characteristic,
        limits=limits, force=force, progress=progress,
    )  # fmt: skip
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
    hint = f". The engine is wrong, or the loss of seed {question.seed} is special: try another seed"
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
    return replace(counted, proofs=proofs)


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
