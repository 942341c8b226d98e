"""The critical points of a loss on M̄, by the parametrization and by equations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain
from math import gcd, lcm
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import independent_columns
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.errors import EngineError, InputError
from agattn.evidence import Source
from agattn.geometry.critical_points.charts import FIRST, Chart, chart_of, singular_strata
from agattn.geometry.critical_points.counts import CriticalSet, numbers_by_theorem, proved_of_general
from agattn.geometry.critical_points.elimination import number_by_elimination
from agattn.geometry.critical_points.loss import Loss, loss
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.strata.strata import Stratum, open_stratum
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring
from agattn.limits import by_default, limits
from agattn.systems.consistency import between, demand
from agattn.systems.problem import ENGINE, Answer, Explicit, Polynomials, Printed, Problem, Task, lifted

#: More variables than these finish rarely.
MAX_VARIABLES = 14


class LowerStrataError(EngineError):
    """Raised where points of lower strata are among the critical points found; avoid them strictly."""


@dataclass(frozen=True)
class Part:
    """One stratum in a problem: the chart as scripts have it.

    Attributes:
        stratum, variables, y: of the chart, and a variable for the inverse of what is avoided.
        avoided: 0 where y = 0, and on lower strata where every loss has solutions of the equations.
        lower: ideals of lower strata on which there may be critical points, too.
    """

    stratum: Stratum
    variables: tuple[Variable, ...]
    y: tuple[Polynomial, ...]
    avoided: Polynomial
    lower: tuple[tuple[Polynomial, ...], ...]

    @classmethod
    def of(cls, chart: Chart, strictly: bool) -> Part:
        """The chart of a stratum, where ``strictly`` without the points of lower strata."""
        avoided = _combination([x for x in chart.ring.gens if x not in chart.parameters], 0)
        lower = chart.lower
        if chart.avoided is not None:
            avoided, lower = avoided * chart.avoided, ()
        if strictly:
            for seed, ideal in enumerate(lower, 1):
                avoided *= _combination(ideal, seed)
            lower = ()
        # Gröbner bases are found faster where the linear factor comes last.
        ring = PolynomialRing((*reversed(chart.ring.variables), Variable("z")))

        def moved(f: Polynomial) -> Polynomial:
            return f.compose(ring.gens[-2::-1])

        ideals = tuple(tuple(map(moved, ideal)) for ideal in lower)
        return cls(chart.stratum, ring.variables, tuple(map(moved, chart.y)), moved(avoided), ideals)


def _combination(polynomials: Sequence[Polynomial], seed: int) -> Polynomial:
    """A random combination of polynomials of one ring."""
    random = np.random.default_rng(seed)
    zero = polynomials[0].ring.zero()
    return sum((int(random.integers(1, 100)) * f for f in polynomials), zero)


def _loss_data(layer: SingleLayer, chosen: Loss | None, cuts: int) -> dict[str, Any]:
    """The loss: its W and b, by a factor that makes all entries coprime integers; random hyperplanes."""
    chosen = chosen or loss(layer)
    if chosen.layer != layer:
        raise InputError(f"the loss is for {chosen.layer.name}, and the layer is {layer.name}")
    entries = [*chain(*chosen.block), *chosen.linear]
    scale = Fraction(lcm(*(x.denominator for x in entries)))
    scale /= gcd(*(int(x * scale) for x in entries)) or 1
    block, linear = (
        tuple(tuple(int(x * scale) for x in row) for row in rows) for rows in (chosen.block, (chosen.linear,))
    )
    random = np.random.default_rng(limits().seed)
    hyperplanes = random.integers(-99, 100, (cuts, len(chosen.linear) + 1))
    data = {"metric": chosen.metric, "drawn": chosen.drawn, "block": block, "linear": linear}
    return data | {"hyperplanes": tuple(map(tuple, hyperplanes.tolist()))}


def _data(
    layer: SingleLayer,
    loss: Loss | None = None,
    smooth: bool = False,
    strictly: bool = False,
    chart: int = FIRST,
) -> dict[str, Any]:
    singular = () if smooth else singular_strata(layer)
    charts = (chart_of(layer, stratum, chart) for stratum in (None, *singular))
    parts = tuple(Part.of(chart, strictly) for chart in charts)
    return _loss_data(layer, loss, layer.expected_dimension) | {"parts": parts}


def _read(answer: Answer) -> dict[Stratum, CriticalSet]:
    sets = {}
    for i, part in enumerate(answer.problem.data["parts"], 1):
        dimension, degree, lower = answer.at(i, "dimension", "degree", "lower")
        if lower:
            raise LowerStrataError(f"there are critical points on strata lower than {part.stratum}, too")
        sets[part.stratum] = CriticalSet(dimension, degree)
    return sets


def _infeasible(layer: SingleLayer) -> str:
    many = layer.expected_dimension > MAX_VARIABLES
    return f"{layer.expected_dimension} variables are too many to finish" if many else ""


def _numbers_of_critical_points(
    answer: Answer, strata: Iterable[Stratum]
) -> dict[Stratum, tuple[int | None, int | None]]:
    """For strata, the open one first: how many critical points the loss has, and the most that are isolated.

    Where one parameter is left they are counted natively, over the field of the problem. No loss of data has
    more isolated ones than that of general data: they persist, with multiplicity, when data change.
    """
    layer, given = answer.problem.layer, _loss_of(answer.problem)
    of_data = given.metric in ("data", "generic", "gaussian")
    most = numbers_by_theorem(layer, "generic") if of_data else {}
    numbers = {}
    for n, stratum in enumerate(strata):
        number = number_by_elimination(given, stratum if n else None, answer.problem.characteristic)
        numbers[stratum] = number, most[stratum][0] if stratum in most else None
    return numbers


def _loss_of(problem: Problem) -> Loss:
    """The loss of a problem, up to a factor and a constant."""
    data = problem.data
    block, [linear] = data["block"], data["linear"]
    return Loss(problem.layer, block, linear, Fraction(0), data["metric"], drawn=data["drawn"])


def _check_number(
    problem: Problem, stratum: Stratum, dimension: int, number: int, exact: int | None, most: int | None
) -> None:
    """The number of critical points on a stratum against what is known of it."""
    name = f"the number of critical points on {stratum}"
    if exact is not None:
        between(min(exact, 1) - 1, f"the dimension on {stratum}", dimension, min(exact, 1) - 1)
        between(exact, name, number, exact)
    if most is not None and dimension <= 0:
        between(0, name, number, most)
    if problem.is_exact:
        on = None if stratum == open_stratum(problem.layer) else stratum
        points = CriticalSet(dimension, number)
        proved = proved_of_general(_loss_of(problem), on, points)
        other = f"on {stratum} the critical points are {points}; for general losses {proved} proved"
        demand(not proved, other)


def _check_critical_points(answer: Answer) -> None:
    """Sets of critical points lie in their strata, with the numbers that are known."""
    parts = answer.problem.data["parts"]
    numbers = _numbers_of_critical_points(answer, [part.stratum for part in parts])
    between(len(parts), "the number of strata", answer.integers["strata"], len(parts))
    for i, part in enumerate(parts, 1):
        dimension, degree, lower = answer.at(i, "dimension", "degree", "lower")
        between(-1, f"the dimension on {part.stratum}", dimension, len(part.variables) - 1)
        between(0, f"the value of lower@{i}", lower, len(part.lower))
        fit = degree >= 0 and (degree > 0) == (dimension >= 0)
        demand(fit, f"on {part.stratum} dimension and degree do not fit")
        if not lower:
            _check_number(answer.problem, part.stratum, dimension, degree, *numbers[part.stratum])


def _weighted(y: Sequence[Polynomial], block: Sequence[Sequence[int]]) -> Polynomials:
    """G y, where G has a block for each output of the layer."""
    size, zero = len(block), y[0].ring.zero()
    rows = ((block[n % size], y[n - n % size :][:size]) for n in range(len(y)))
    return tuple(sum((g * w for w, g in zip(row, part, strict=True)), zero) for row, part in rows)


def _systems_of_charts(problem: Problem) -> Iterator[Explicit]:
    """``critical@i``: the critical points on the i-th stratum, with z times what is avoided equal to 1.

    ``lower@i.j``: those of them on its j-th lower strata.
    """
    data = problem.data
    for i, part in enumerate(data["parts"], 1):
        ring = PolynomialRing(part.variables, problem.characteristic)
        y = [lifted(f, ring) for f in part.y]
        triples = zip(y, _weighted(y, data["block"]), data["linear"][0], strict=True)
        value = sum((f * (g - 2 * u) for f, g, u in triples), ring.zero())
        *variables, z = ring.gens
        system = (*(value.derivative(x) for x in variables), z * lifted(part.avoided, ring) - 1)
        yield Explicit(f"critical@{i}", system)
        for j, ideal in enumerate(part.lower, 1):
            yield Explicit(f"lower@{i}.{j}", (*system, *(lifted(f, ring) for f in ideal)))


def _finite(basis: Any) -> tuple[int, int]:
    """The dimension of the zeros, 0 or −1, and their number with multiplicity."""
    if basis.dimension > 0:
        raise EngineError(
            f"the critical points have dimension {basis.dimension}, and msolve's script finds no degree in "
            "the coordinates; use macaulay2 or singular"
        )
    return basis.dimension, basis.degree


def _points_of_bases(bases: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
    integers = {"strata": len(problem.data["parts"])}
    for name, basis in bases.items():
        kind, _, label = name.partition("@")
        i = label.partition(".")[0]
        if kind == "lower":
            integers[f"lower@{i}"] += basis.dimension >= 0
        else:
            dimension, degree = _finite(basis)
            integers |= {f"dimension@{i}": dimension, f"degree@{i}": degree, f"lower@{i}": 0}
    return integers


CRITICAL_POINTS = Task(
    "critical-points",
    "the critical points of the loss",
    SingleLayer,
    infeasible=_infeasible,
    summary="critical points of a squared loss on the smooth part and on the singular strata, counted",
    title="Critical points of a squared loss on the neuromanifold {M}",
    reference="Theorem 3.4",
    results=(
        Printed("strata", "how many strata follow, the open one first"),
        Printed("dimension", "dimension of the set of critical points; -1 if it is empty", per_item="strata"),
        Printed("degree", "its degree in the coordinates of phi", per_item="strata"),
        Printed("lower", "lower strata on which there are critical points, too", per_item="strata"),
    ),
    data=_data,
    read=_read,
    seeded=True,
    one_token=False,
    parts=(Source("dimensions and degrees", ENGINE), Source("charts of strata", "native")),
    check=_check_critical_points,
    systems=_systems_of_charts,
    values=_points_of_bases,
)


# By the equations of M̄ --------------------------------------------------------------------------------------

#: Equations are computed natively up to this degree, which is where those of the layers allowed end.
MAX_DEGREE = 4
#: With more coordinates than these the system rarely finishes, and is not written.
MAX_COORDINATES, MAX_WRITTEN = 12, 24


@lru_cache(maxsize=16)
def _equations(layer: SingleLayer) -> tuple[Polynomial, ...]:
    with by_default():
        ideal = compute_ideal(layer, MAX_DEGREE)
    ring = coordinate_ring(layer)
    return tuple(equation.polynomial(ring).primitive() for equation in ideal)


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


def _equations_data(layer: SingleLayer, loss: Loss | None = None) -> dict[str, Any]:
    if layer.d < 2:
        raise InputError("d is 1: the neuromanifold is a linear space, without equations")
    equations = _equations(layer)
    independent = _independent(layer, equations)
    if loss is not None and not loss.drawn:
        # Critical points of special data may be where gradients are dependent: not those of combinations.
        independent = tuple(_combination(equations, seed) for seed in range(len(independent)))
    multipliers = tuple(Variable("l", (i + 1,)) for i in range(len(independent)))
    return _loss_data(layer, loss, layer.expected_dimension) | {
        "coordinates": coordinate_ring(layer).variables,
        "multipliers": multipliers,
        "equations": equations,
        "independent": independent,
    }


def _too_many_coordinates(layer: SingleLayer, limit: int = MAX_COORDINATES) -> str:
    if layer.ambient_dimension > limit:
        return f"equations in {layer.ambient_dimension} coordinates with multipliers are too many to finish"
    return ""


def _check_critical_equations(answer: Answer) -> None:
    dimension, degree = answer.integers["dimension"], answer.integers["degree"]
    between(-1, "the dimension", dimension, answer.problem.layer.expected_dimension)
    demand(degree >= 0 and (degree > 0) == (dimension >= 0), "dimension and degree do not fit")
    stratum = open_stratum(answer.problem.layer)
    numbers = _numbers_of_critical_points(answer, [stratum])[stratum]
    _check_number(answer.problem, stratum, dimension, degree, *numbers)


def _system_with_multipliers(problem: Problem) -> Iterator[Explicit]:
    """The equations of M̄, and the gradient of the loss as a combination of those of some."""
    data = problem.data
    ring = PolynomialRing((*data["coordinates"], *data["multipliers"]), problem.characteristic)
    size = len(data["coordinates"])
    y, multipliers = ring.gens[:size], ring.gens[size:]
    pairs = [(l, lifted(h, ring)) for l, h in zip(multipliers, data["independent"], strict=True)]
    gradients = (g - u for g, u in zip(_weighted(y, data["block"]), data["linear"][0], strict=True))
    normals = (sum((l * h.derivative(x) for l, h in pairs), ring.zero()) for x in y)
    critical = (gradient - normal for gradient, normal in zip(gradients, normals, strict=True))
    yield Explicit("critical", (*(lifted(f, ring) for f in data["equations"]), *critical))


CRITICAL_EQUATIONS = Task(
    "critical-equations",
    "the critical points of the loss, by equations",
    SingleLayer,
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
    too_large=partial(_too_many_coordinates, limit=MAX_WRITTEN),
    seeded=True,
    one_token=False,
    parts=(Source("dimension and degree", ENGINE), Source("equations of the variety", "native")),
    check=_check_critical_equations,
    systems=_system_with_multipliers,
    values=lambda bases, problem: dict(zip(("dimension", "degree"), _finite(bases["critical"]), strict=True)),
)
