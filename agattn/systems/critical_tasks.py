"""The critical points of a loss on M̄, by the parametrization and by equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.polynomial import Polynomial, Variable
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import Array
from agattn.errors import EngineError, InputError
from agattn.evidence import Source
from agattn.geometry.critical_points.charts import Chart, chart_of, singular_strata
from agattn.geometry.critical_points.loss import Loss, loss
from agattn.geometry.strata.strata import Stratum
from agattn.systems.problem import Answer, Result
from agattn.systems.task import ENGINE, Task

#: More variables than these finish rarely.
MAX_VARIABLES = 14

Integers = tuple[tuple[int, ...], ...]


class CriticalSet(NamedTuple):
    """The critical points of a loss on a stratum: their dimension, −1 if there are none, and their number.

    Where they are infinitely many, the number is the degree of their part of largest dimension.
    """

    dimension: int
    number: int


@dataclass(frozen=True)
class Part:
    """One stratum in a problem: the chart as scripts have it."""

    stratum: Stratum
    variables: tuple[Variable, ...]
    A: tuple[tuple[Polynomial, ...], ...]
    V: tuple[tuple[Polynomial, ...], ...]
    avoided: Polynomial
    lower: tuple[tuple[Polynomial, ...], ...]
    preimages: int

    @classmethod
    def of(cls, chart: Chart, strictly: bool) -> Part:
        """The chart of a stratum, where ``strictly`` without the points of lower strata."""
        avoided, lower = (chart.avoided_strictly, ()) if strictly else (chart.avoided, chart.lower)
        return cls(
            chart.stratum, (*chart.ring.variables, Variable("s")), _rows(chart.A), _rows(chart.V), avoided, lower,
            chart.preimages,
        )  # fmt: skip


def _rows(matrix: Array) -> tuple[tuple[Polynomial, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


def _whole(given: Loss) -> tuple[Integers, tuple[int, ...]]:
    """W and b, multiplied by a number that makes all entries coprime integers."""
    entries = [*chain(*given.block), *given.linear]
    scale = Fraction(lcm(*(x.denominator for x in entries)))
    scale /= gcd(*(int(x * scale) for x in entries)) or 1
    return (
        tuple(tuple(int(x * scale) for x in row) for row in given.block),
        tuple(int(x * scale) for x in given.linear),
    )


def _data(layer: SingleLayer, given: Mapping[str, Any]) -> dict[str, Any]:
    chosen: Loss = given.get("loss") or loss(layer, seed=given["seed"])
    if chosen.layer != layer:
        raise InputError(f"the loss is one of {chosen.layer.name}, and the layer is {layer.name}")
    strictly, opposite = bool(given.get("strictly")), bool(given.get("opposite"))
    charts = [chart_of(layer, stratum, opposite) for stratum in (None, *singular_strata(layer))]
    block, linear = _whole(chosen)
    random = np.random.default_rng(given["seed"])
    size = (max(len(chart.ring) for chart in charts), len(linear) + 1)
    return {
        "metric": chosen.metric, "block": block, "linear": (linear,),
        "parts": tuple(Part.of(chart, strictly) for chart in charts),
        "hyperplanes": tuple(map(tuple, random.integers(-99, 100, size).tolist())),
    }  # fmt: skip


def _read(answer: Answer) -> dict[Stratum, CriticalSet]:
    found = {}
    for i, part in enumerate(answer.problem.data["parts"], 1):
        values = (answer.integers[f"{name}@{i}"] for name in ("dimension", "degree", "lower"))
        dimension, degree, lower = values
        if lower:
            raise EngineError(
                f"there are critical points on strata lower than {part.stratum}; avoid them strictly"
            )
        if degree % part.preimages:
            raise EngineError(f"{degree} weights do not lie over points with {part.preimages} preimages each")
        found[part.stratum] = CriticalSet(dimension, degree // part.preimages)
    return found


def _infeasible(layer: SingleLayer) -> str:
    if not layer.has_orbits:
        return "with one token only V and A + Aᵀ matter, which have other strata"
    if layer.expected_dimension > MAX_VARIABLES:
        return f"{layer.expected_dimension} variables are more than finish"
    return ""


CRITICAL_POINTS = Task(
    "critical-points", "the critical points of the loss", SingleLayer,
    infeasible=_infeasible,
    summary="critical points of a squared loss on the smooth part and on the singular strata, counted",
    title="Critical points of a squared loss on the neuromanifold {M}",
    reference="Theorem 3.4",
    results=(
        Result("strata", "how many strata follow, the open one first"),
        Result("dimension", "dimension of the set of critical points; -1 if it is empty", per_item="strata"),
        Result("degree", "its degree in the coordinates of phi, times preimages", per_item="strata"),
        Result("lower", "lower strata on which there are critical points, too", per_item="strata"),
    ),
    data=_data, read=_read, takes=("loss", "strictly", "opposite", "seed"), one_token=False,
    parts=(Source("dimensions and degrees", ENGINE), Source("charts of strata", "native")),
)  # fmt: skip
