"""All real critical points of a loss, on the smooth part of M̄ and on each singular stratum.

Where one parameter is left after elimination, for d = 2 and d' = 1, everything is done natively and proved.
Elsewhere msolve finds the real solutions in a chart; each is then proved natively, and that there are no
others is known as msolve knows it, modularly.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
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

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint

from agattn.algebra.echelon import rational
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.engines.locate import locate
from agattn.engines.msolve import solve
from agattn.engines.programs.msolve import MSOLVE
from agattn.errors import InputError, TooLargeError, argument
from agattn.geometry.critical_points.charts import GENERAL, chart_of
from agattn.geometry.critical_points.counts import CriticalPoints, CriticalSet
from agattn.geometry.critical_points.ed_degree import MAX_OUT, generic_ed_degree
from agattn.geometry.critical_points.elimination import ELIMINATION, is_eliminated, part_by_elimination
from agattn.geometry.critical_points.loss import Loss
from agattn.geometry.critical_points.real_points import CriticalEquations, RealPart, require_definite
from agattn.geometry.strata.boundary import boundary
from agattn.geometry.strata.strata import Stratum, require_two_tokens, singular_by_ranks, strata
from agattn.limits import limits, steps
from agattn.systems.critical_tasks import MAX_VARIABLES

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
    if layer.expected_dimension > MAX_VARIABLES and not limits().force:
        raise TooLargeError(
            f"{layer.name}: {layer.expected_dimension} variables are too many to finish. "
            f"Use {argument('force', True)} to start all the same"
        )
    require_definite(loss)
    places = (None, *lower_strata(layer))
    named = steps(places, len(places), lambda stratum: f"real ones on {stratum or 'the smooth part'}")
    return tuple(real_part(loss, stratum) for stratum in named)


def as_counts(loss: Loss, parts: Sequence[RealPart]) -> CriticalPoints | None:
    """The numbers of complex critical points that were found with the real ones, if all are known."""
    layer, found = loss.layer, {}
    for part in parts:
        if part.complex_number is None:
            return None
        if part.regular or singular_by_ranks(layer, part.stratum):
            found[part.stratum] = CriticalSet(0 if part.complex_number else -1, part.complex_number)
    by = {part.found_by for part in parts}
    native = by == {ELIMINATION}
    engine = " and ".join(sorted(by))
    return CriticalPoints(
        loss,
        found,
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
    return tuple(
        stratum
        for stratum in strata(layer)[1:]
        if singular_by_ranks(layer, stratum) or boundary(layer, stratum).on_boundary
    )


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
    found = solve(equations, precision=_BITS, installation=installation)
    if found.dimension > 0:
        raise InputError(
            f"the equations of critical points on {chart.name} of {layer.name} have infinitely many "
            f"solutions: in a chart, a set of dimension {found.dimension} and degree {found.degree}"
        )
    with flint.ctx.workprec(_BITS):
        candidates = [
            [flint.arb(rational((low + high) / 2)) for low, high in box[:size]] for box in found.boxes
        ]
        others = found.parametrization.complex_points() if found.parametrization else []
        others = [point[:size] for point in others]
        real = [[_ball(*interval) for interval in box[:size]] for box in found.boxes]
        # A special loss has solutions on lower strata as well, which are not to be counted.
        all_inside = all(map(chart.is_inside, [*real, *others]))
    # The losses of the theorem are those of data, and their limits.
    known = chart.regular and loss.metric in ("data", "generic", "gaussian") and layer.d_out <= MAX_OUT
    bound = generic_ed_degree(layer) if known else None
    number = found.degree if all_inside else None
    return CriticalEquations(chart, loss).part_near(candidates, number, str(installation), others, bound)


def _ball(low: Fraction, high: Fraction) -> Any:
    """A ball that contains an interval."""
    return flint.arb(rational((low + high) / 2), rational((high - low) / 2))


def _without(equations: Sequence[Polynomial], avoided: Polynomial) -> list[Polynomial]:
    """The equations where a polynomial is not 0: with one more variable, its inverse."""
    ring = PolynomialRing([*avoided.ring.variables, Variable("inverse")])
    *gens, inverse = ring.gens
    return [*(f.compose(gens) for f in equations), avoided.compose(gens) * inverse - 1]
