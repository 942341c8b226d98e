"""All real critical points of a loss, on the regular part of M̄ and on each singular stratum.

Where one parameter is left after elimination, for d = 2 and d' = 1, everything is done natively and proved.
Elsewhere msolve finds the real solutions in a chart; each is then proved natively, and that there are no
others is known as msolve knows it, modularly.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
>>> for part in real_critical_points(loss(SingleLayer(2, 1), seed=1)):
...     print(part)
regular part: 6 real critical points of 14 complex ones (all: proved, by elimination)
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

import flint

from agattn.algebra.echelon import rational
from agattn.architectures import SingleLayer
from agattn.engines.engine import MSOLVE
from agattn.engines.locate import locate
from agattn.engines.msolve import solve
from agattn.engines.run import DEFAULT_LIMITS, Limits
from agattn.errors import InputError
from agattn.geometry.critical_points.affine_charts import affine_chart
from agattn.geometry.critical_points.elimination import part_by_elimination
from agattn.geometry.critical_points.loss import Loss
from agattn.geometry.critical_points.real_points import RealPart, part_from_candidates, require_definite
from agattn.geometry.strata.boundary import boundary
from agattn.geometry.strata.strata import Stratum, require_two_tokens, singular_by_ranks, strata

_BITS = 256


def real_critical_points(
    loss: Loss, strata: Sequence[Stratum | None] | None = None, *, limits: Limits = DEFAULT_LIMITS
) -> tuple[RealPart, ...]:
    """All real critical points of a loss, stratum by stratum.

    Args:
        loss: a definite loss: a distance, or the loss of enough data.
        strata: ``None`` in it is the regular part. By default that and :func:`lower_strata`.
        limits: of each process of msolve.

    Raises:
        InputError: for one token, for a loss that is not definite, and where there are infinitely many.
        EngineNotFoundError: if msolve is needed and not installed.
        EngineError: if msolve does not finish.
    """
    layer = loss.layer
    require_two_tokens(layer)
    require_definite(loss)
    chosen = (None, *lower_strata(layer)) if strata is None else tuple(strata)
    return tuple(real_part(loss, stratum, limits=limits) for stratum in chosen)


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


def real_part(loss: Loss, stratum: Stratum | None = None, *, limits: Limits = DEFAULT_LIMITS) -> RealPart:
    """The real critical points on one stratum, or on the regular part of M̄; raises as above."""
    layer = loss.layer
    chart = affine_chart(layer, stratum)
    if not any(loss.linear) or (chart.linear and len(chart.parameters) == 1):
        return part_by_elimination(layer, loss, stratum)
    installation = locate(MSOLVE)
    found = solve(
        [f.primitive() for f in chart.equations(loss)],
        precision=_BITS,
        limits=limits,
        installation=installation,
    )
    if found.dimension > 0:
        raise InputError(
            f"the equations of critical points on {chart.name} of {layer.name} have infinitely many "
            f"solutions: in a chart, a set of dimension {found.dimension} and degree {found.degree}"
        )
    with flint.ctx.workprec(_BITS):
        candidates = [[flint.arb(rational((low + high) / 2)) for low, high in box] for box in found.boxes]
    return part_from_candidates(chart, loss, candidates, found.points or 0, str(installation))
