"""The critical points of a loss on M̄, by the parametrization and by equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain
from math import gcd, lcm
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import independent_columns
from agattn.algebra.polynomial import Polynomial, Variable
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import Array
from agattn.errors import EngineError, InputError
from agattn.evidence import Source
from agattn.geometry.critical_points.charts import WeightChart, chart_of, singular_strata
from agattn.geometry.critical_points.counts import CriticalSet
from agattn.geometry.critical_points.loss import Loss, loss
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.strata.strata import Stratum, open_stratum
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring
from agattn.systems.problem import Answer, Printed
from agattn.systems.task import ENGINE, Task

ONE_TOKEN = "with one token only V and A + Aᵀ matter, which have other strata"
#: More variables than these finish rarely.
MAX_VARIABLES = 14


class LowerStrataError(EngineError):
    """Raised where points of lower strata are among the critical points found; avoid them strictly."""


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
    def of(cls, chart: WeightChart, strictly: bool) -> Part:
        """The chart of a stratum, where ``strictly`` without the points of lower strata."""
        avoided, lower = (chart.avoided_strictly, ()) if strictly else (chart.avoided, chart.lower)
        return cls(
            chart.stratum, (*chart.ring.variables, Variable("s")), _rows(chart.A), _rows(chart.V), avoided,
            lower, chart.preimages,
        )  # fmt: skip


def _rows(matrix: Array) -> tuple[tuple[Polynomial, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


def _loss_data(layer: SingleLayer, given: Mapping[str, Any], cuts: int) -> dict[str, Any]:
    """The loss: its W and b, by a factor that makes all entries coprime integers; random hyperplanes."""
    chosen: Loss = given.get("loss") or loss(layer, seed=given["seed"])
    if chosen.layer != layer:
        raise InputError(f"the loss is one of {chosen.layer}, and the layer is {layer}")
    entries = [*chain(*chosen.block), *chosen.linear]
    scale = Fraction(lcm(*(x.denominator for x in entries)))
    scale /= gcd(*(int(x * scale) for x in entries)) or 1
    block, linear = (
        tuple(tuple(int(x * scale) for x in row) for row in rows) for rows in (chosen.block, (chosen.linear,))
    )
    random = np.random.default_rng(given["seed"])
    hyperplanes = random.integers(-99, 100, (cuts, len(chosen.linear) + 1))
    return {
        "metric": chosen.metric, "block": block, "linear": linear,
        "hyperplanes": tuple(map(tuple, hyperplanes.tolist())),
    }  # fmt: skip


def _data(layer: SingleLayer, given: Mapping[str, Any]) -> dict[str, Any]:
    strictly, opposite = bool(given.get("strictly")), bool(given.get("opposite"))
    singular = () if given.get("smooth") else singular_strata(layer)
    charts = [chart_of(layer, stratum, opposite) for stratum in (None, *singular)]
    cuts = max(len(chart.ring) for chart in charts)
    parts = tuple(Part.of(chart, strictly) for chart in charts)
    return _loss_data(layer, given, cuts) | {"parts": parts}


def _read(answer: Answer) -> dict[Stratum, CriticalSet]:
    found = {}
    for i, part in enumerate(answer.problem.data["parts"], 1):
        values = (answer.integers[f"{name}@{i}"] for name in ("dimension", "degree", "lower"))
        dimension, degree, lower = values
        if lower:
            raise LowerStrataError(f"there are critical points on strata lower than {part.stratum}, too")
        if degree % part.preimages:
            raise EngineError(f"{degree} weights do not lie over points with {part.preimages} preimages each")
        found[part.stratum] = CriticalSet(dimension, degree // part.preimages)
    return found


def _infeasible(layer: SingleLayer) -> str:
    if not layer.has_orbits:
        return ONE_TOKEN
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
        Printed("strata", "how many strata follow, the open one first"),
        Printed("dimension", "dimension of the set of critical points; -1 if it is empty", per_item="strata"),
        Printed("degree", "its degree in the coordinates of phi, times preimages", per_item="strata"),
        Printed("lower", "lower strata on which there are critical points, too", per_item="strata"),
    ),
    data=_data, read=_read, takes=("loss", "smooth", "strictly", "opposite", "seed"), one_token=False,
    parts=(Source("dimensions and degrees", ENGINE), Source("charts of strata", "native")),
)  # fmt: skip


# By the equations of M̄ --------------------------------------------------------------------------------------

#: Equations are computed natively up to this degree, which is where those of the layers allowed end.
MAX_DEGREE = 4
#: With more coordinates than these the system rarely finishes, and is not written.
MAX_COORDINATES, MAX_WRITTEN = 12, 24


@lru_cache(maxsize=16)
def _equations(layer: SingleLayer) -> tuple[Polynomial, ...]:
    ideal = compute_ideal(layer, MAX_DEGREE)
    ring = coordinate_ring(layer)
    return tuple(equation.polynomial(ring).primitive() for equation in ideal.equations())


def _independent(layer: SingleLayer, equations: Sequence[Polynomial]) -> tuple[Polynomial, ...]:
    """Of the equations of M̄, as many as its codimension, with independent gradients at a general point."""
    random = np.random.default_rng(0)
    A = random.integers(-99, 100, (layer.d, layer.alpha)) @ random.integers(-99, 100, (layer.alpha, layer.d))
    y = [int(x) for x in coefficients(layer, A, random.integers(-99, 100, (layer.d_out, layer.d)))]
    gradients = [[int(f.derivative(x)(*y)) for x in f.ring.gens] for f in equations]
    chosen = independent_columns(flint.fmpz_mat(gradients).transpose()) if gradients else []
    if len(chosen) != layer.ambient_dimension - layer.expected_dimension:
        raise InputError(
            f"the equations of {layer.name} up to degree {MAX_DEGREE} have {len(chosen)} independent "
            "gradients"
        )
    return tuple(equations[n] for n in chosen)


def _equations_data(layer: SingleLayer, given: Mapping[str, Any]) -> dict[str, Any]:
    if layer.d < 2:
        raise InputError("d is 1: the neuromanifold is a linear space, without equations")
    equations = _equations(layer)
    independent = _independent(layer, equations)
    multipliers = tuple(Variable("l", (i + 1,)) for i in range(len(independent)))
    return _loss_data(layer, given, layer.expected_dimension) | {
        "coordinates": coordinate_ring(layer).variables, "multipliers": multipliers,
        "equations": equations, "independent": independent,
    }  # fmt: skip


def _too_many_coordinates(layer: SingleLayer, limit: int = MAX_COORDINATES) -> str:
    if not layer.has_orbits:
        return ONE_TOKEN
    if layer.ambient_dimension > limit:
        return f"equations in {layer.ambient_dimension} coordinates with multipliers are more than finish"
    return ""


CRITICAL_EQUATIONS = Task(
    "critical-equations", "the critical points of the loss, by equations", SingleLayer,
    infeasible=_too_many_coordinates,
    summary="critical points of a squared loss on the smooth part, by the equations with multipliers",
    title="Critical points of a squared loss on the neuromanifold {M}, by its equations",
    reference="Theorem 3.4",
    results=(
        Printed("dimension", "dimension of the set of critical points; -1 if it is empty"),
        Printed("degree", "its degree in the coordinates"),
    ),
    data=_equations_data,
    read=lambda answer: {
        open_stratum(answer.problem.layer): CriticalSet(
            answer.integers["dimension"], answer.integers["degree"]
        )
    },
    too_large=partial(_too_many_coordinates, limit=MAX_WRITTEN), takes=("loss", "seed"), one_token=False,
    parts=(Source("dimension and degree", ENGINE), Source("equations of the variety", "native")),
)  # fmt: skip
