"""The tasks: every polynomial problem that agattn can write down for a layer.

A task is a name, a summary, and a function from a layer and a field to a :class:`Problem`. Engines find their
template by the task's name, so a new task is one entry here and one template for each engine.

>>> from agattn import SingleLayer
>>> problem = build("implicit-ideal", SingleLayer(2, 1))
>>> problem.title
'Equations of the neuromanifold M(2,1,2), by elimination'
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import comb

from agattn.algebra.polynomial import Exponents, Polynomial
from agattn.architectures import SingleLayer
from agattn.errors import InputError, TooLargeError
from agattn.geometry.sections.slices import Slice, standard_slice
from agattn.geometry.strata.strata import strata
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import coordinate_ring, coordinates, parametrization
from agattn.systems.points import strata_points, zero_points
from agattn.systems.problem import Kind, Point, Problem, Result

PAPER = "Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2)"
MODULAR_PRIME = 32003

# Beyond these a script is refused unless forced: elimination in more coordinates has no hope of finishing,
# and linear algebra in more would fill the memory.
MAX_ELIMINATION_COORDINATES = 60
MAX_LINEAR_COORDINATES = 1000
#: Equations for the strata are sought for at most this many coordinates.
MAX_EQUATION_COORDINATES = 160

INTEGER, POLYNOMIALS = Kind.INTEGER, Kind.POLYNOMIALS


@dataclass(frozen=True)
class Task:
    """A kind of problem.

    Attributes:
        name: as the command line knows it.
        summary: one line for ``agattn emit --list``.
        make: builds the problem; sizes and options are checked by :func:`build`.
        eliminates: whether the kernel of the parametrization is computed by elimination.
        one_token: whether the task makes sense at t = 1.
        uses_points: whether ``--point`` may name weights for it.
        uses_target: whether ``--point`` must name a point of the ambient space for it.
        uses_slice: whether ``--slice`` may name a slice for it.
    """

    name: str
    summary: str
    make: Callable[[SingleLayer, tuple[Point, ...] | None, Mapping[str, int]], Problem]
    eliminates: bool = False
    one_token: bool = False
    uses_points: bool = False
    uses_target: bool = False
    uses_slice: bool = False


def build(
    task: str,
    layer: SingleLayer,
    *,
    characteristic: int = 0,
    points: tuple[Point, ...] | None = None,
    target: tuple[Fraction, ...] | None = None,
    slice: Slice | None = None,
    options: Mapping[str, int] | None = None,
    force: bool = False,
) -> Problem:
    """Build the problem that a task is for a layer.

    Args:
        task: one of :data:`TASKS`.
        layer: the architecture.
        characteristic: 0 for ℚ, or a prime for 𝔽_p.
        points: instead of one representative of each stratum, for tasks that look at points.
        target: all coordinates of a point of the ambient space, for ``membership``.
        slice: for the task ``slice``, instead of that of Figure 1.
        options: ``max_degree`` for ``hilbert-function``, ``prime`` for ``implicit-ideal``.
        force: build it however large it is.

    Raises:
        InputError: if there is no such task, or it does not apply to the layer.
        TooLargeError: if the system is beyond the stated limit.
    """
    if task == "virtual-fiber":
        raise InputError("virtual-fiber is about a network; give --dims and --ranks")
    if task not in TASKS:
        close = difflib.get_close_matches(task, TASKS, n=1)
        raise InputError(f"there is no task {task!r}{f'; did you mean {close[0]!r}?' if close else ''}")
    entry = TASKS[task]
    if layer.t == 1 and not entry.one_token:
        raise InputError(
            f"{task} needs t ≥ 2: with one token only V and A + Aᵀ matter, which have other orbits"
        )
    if points is not None and not entry.uses_points:
        raise InputError(f"{task} looks at no points; leave out --point")
    if slice is not None and not entry.uses_slice:
        raise InputError(f"{task} looks at no slice; leave out --slice")
    if slice is not None and len(slice.origin) != layer.ambient_dimension:
        raise InputError(
            f"the slice is in {len(slice.origin)} coordinates; {layer} has {layer.ambient_dimension}"
        )
    if entry.uses_target and target is None:
        raise InputError(f'{task} needs --point FILE, with {{"y": [...]}} or with weights A and V')
    check_field(characteristic)
    limit = MAX_ELIMINATION_COORDINATES if entry.eliminates else MAX_LINEAR_COORDINATES
    size = layer.ambient_dimension
    if size > limit and not force:
        raise TooLargeError(
            f"{task} for d = {layer.d}, d' = {layer.d_out} is a system in {size} coordinates; the limit is "
            f"{limit}. Use --force to write it all the same"
        )
    problem = entry.make(layer, points, options or {})
    _check_entries(problem.points, target or (), slice, characteristic)
    given = points is not None or target is not None
    command = _command(problem, characteristic, given)
    if slice is not None:
        results = tuple(replace(r, ring=slice.ring()) if r.ring else r for r in problem.results)
        problem, command = replace(problem, slice=slice, results=results), f"{command} --slice FILE"
    return replace(problem, characteristic=characteristic, target=target or (), command=command)


def check_size(layer: SingleLayer) -> None:
    """Refuse a layer with more coordinates than linear algebra can hold.

    Raises:
        TooLargeError: if there are more than 1000.
    """
    size = layer.ambient_dimension
    if size > MAX_LINEAR_COORDINATES:
        raise TooLargeError(
            f"{layer} has {size} coordinates; the limit is {MAX_LINEAR_COORDINATES}. Use --force to start "
            "all the same"
        )


def _check_entries(
    points: tuple[Point, ...], target: tuple[Fraction, ...], slice: Slice | None, characteristic: int
) -> None:
    """Refuse entries that are no elements of the field.

    Raises:
        InputError: if the prime divides a denominator of what was given, or of a preimage known from it.
    """
    if not characteristic:
        return
    matrices = [M for p in points for M in (p.A, p.V, *(N for pair in p.preimages for N in pair))]
    rows = [row for M in matrices for row in M] + [target]
    rows += [] if slice is None else [slice.origin, *slice.directions]
    for entry in (entry for row in rows for entry in row):
        if entry.denominator % characteristic == 0:
            raise InputError(
                f"{entry} is no element of the field with {characteristic} elements; use another prime, or QQ"
            )


def check_field(characteristic: int) -> None:
    """Refuse what is no usable field.

    Raises:
        InputError: if the characteristic is neither 0 nor a prime that says something and engines accept.
    """
    if characteristic and not is_prime(characteristic):
        raise InputError(f"the field is ℤ/{characteristic}, which is no field; use QQ or a prime")
    if characteristic and characteristic < 100:
        raise InputError(
            f"the prime {characteristic} is too small to say anything about ℚ; use one above 100"
        )
    if characteristic > 32749:
        raise InputError(f"the prime {characteristic} is too large for older engines; use one up to 32749")


def is_prime(number: int) -> bool:
    """Whether a number is prime; exact."""
    import flint

    return number > 1 and bool(flint.fmpz(number).is_prime())


def _command(problem: Problem, characteristic: int, point_given: bool) -> str:
    layer = problem.layer
    words = [f"agattn emit {problem.task} --engine ENGINE -d {layer.d} -o {layer.d_out} -a {layer.a}"]
    if layer.t == 1:
        words.append("-t 1")
    if characteristic:
        words.append(f"--field {characteristic}")
    if problem.options.get("prime"):
        words.append("--prime")
    if "max_degree" in problem.options:
        words.append(f"--max-degree {problem.options['max_degree']}")
    if point_given:
        words.append("--point FILE")
    return " ".join(words)


def _problem(
    layer: SingleLayer, task: str, title: str, reference: str, results: list[Result], **others: object
) -> Problem:
    name = str(layer).split(":")[0]
    return Problem(task, title.format(M=name), f"{PAPER}, {reference}", layer, 0, tuple(results), **others)  # type: ignore[arg-type]


def _implicit_ideal(
    layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]
) -> Problem:
    prime = bool(options.get("prime"))
    results = [
        Result("dimension", INTEGER, "dimension of the affine cone"),
        Result("degree", INTEGER, "degree"),
        *([Result("prime", INTEGER, "1 if the ideal is prime, else 0")] if prime else []),
        Result("generators", POLYNOMIALS, "minimal generators", ring=coordinate_ring(layer)),
    ]
    title = "Equations of the neuromanifold {M}, by elimination"
    chosen = {"prime": 1} if prime else {}
    return _problem(
        layer, "implicit-ideal", title, "Section 3.2 and Proposition A.5", results, options=chosen
    )


def _hilbert_function(
    layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]
) -> Problem:
    max_degree = options.get("max_degree", 4)
    if max_degree < 0:
        raise InputError(f"the largest degree is {max_degree}; it must be at least 0")
    results = [
        Result("values", INTEGER, "how many values follow, from degree 1"),
        Result("value", INTEGER, "dimension of degree n of the coordinate ring", per_item="values"),
    ]
    title = "Hilbert function of the neuromanifold {M}"
    chosen = {"max_degree": max_degree}
    return _problem(layer, "hilbert-function", title, "Section 3.2", results, options=chosen)


def _singular_locus(
    layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]
) -> Problem:
    minors = minors_are_feasible(layer)
    results = [
        Result("dimension", INTEGER, "dimension of the affine cone"),
        Result("jacobian-rank", INTEGER, "rank of the Jacobian of the equations", per_point=True),
    ]
    if minors:
        results += [
            Result("locus-dimension", INTEGER, "dimension of the singular locus"),
            Result("locus-degree", INTEGER, "degree of the singular locus, reduced"),
        ]
    return _problem(
        layer,
        "singular-locus",
        "Singular points of the neuromanifold {M}",
        "Theorem 3.4 and Corollary A.4",
        results,
        points=points or strata_points(layer),
        options={"strata": int(points is None), **({"minors": 1} if minors else {})},
    )


def minors_are_feasible(layer: SingleLayer) -> bool:
    """Whether the maximal minors of the Jacobian are few: so far for N = 6 and few equations only."""
    codimension = layer.ambient_dimension - layer.expected_dimension
    return comb(layer.ambient_dimension, codimension) <= 20


def _critical_locus(
    layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]
) -> Problem:
    results = [
        Result("kernel-dimension", INTEGER, "dimension of the kernel of the differential", per_point=True),
        Result("cone-dimension", INTEGER, "dimension of its part in the tangent cone", per_point=True),
    ]
    title = "Critical points of (A, V) -> phi for the neuromanifold {M}"
    return _problem(
        layer,
        "critical-locus",
        title,
        "Lemma A.3",
        results,
        points=points or (*zero_points(layer), *strata_points(layer, zero=False)),
        options={"strata": int(points is None)},
    )


def _base_locus(layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]) -> Problem:
    results = [
        Result("components", INTEGER, "how many components follow"),
        Result(
            "component",
            POLYNOMIALS,
            "a minimal prime",
            per_item="components",
            ring=parametrization(layer)[0].ring,
        ),
    ]
    title = "The weights (A, V) with phi = 0, for the neuromanifold {M}"
    return _problem(layer, "base-locus", title, "Theorem 3.2 (ii) and Corollary A.1", results)


def _fiber(layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]) -> Problem:
    chosen = points or strata_points(layer, zero=False)
    for point in chosen:
        if point.label == "0,0,0" or not any(map(any, point.A)) or not any(map(any, point.V)):
            raise InputError("the fiber over 0 is the base locus; use the task base-locus")
    results = [
        Result("escapes", INTEGER, "1 if a preimage lies on the hyperplane at infinity", per_point=True),
        Result("length", INTEGER, "preimages up to scaling, with multiplicity", per_point=True),
        Result("points", INTEGER, "preimages up to scaling", per_point=True),
    ]
    title = "Fibers of (A, V) -> phi up to scaling, for the neuromanifold {M}"
    return _problem(
        layer,
        "fiber",
        title,
        "Theorem 3.2 and Corollary A.2",
        results,
        points=chosen,
        options={"strata": int(points is None)},
    )


def _strata_tangents(
    layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]
) -> Problem:
    chosen = points or strata_points(layer)
    labels = {point.label for point in chosen}
    results = [
        Result("equations", INTEGER, "equations used for the upper bounds"),
        Result("failures", INTEGER, "how many of them do not vanish on the parametrization"),
        Result("differential-rank", INTEGER, "rank of the differential at (A, V)", per_point=True),
        Result("curve-rank", INTEGER, "tangent vectors from curves: a lower bound", per_point=True),
        Result("equation-rank", INTEGER, "independent gradients of equations", per_point=True),
    ]
    switches = {"curved": "1,1,1" in labels, "zero": "0,0,0" in labels}
    return _problem(
        layer,
        "strata-tangents",
        "Tangent spaces of the neuromanifold {M}, from below and from above",
        "Theorem 3.4 and Corollary A.4",
        results,
        points=chosen,
        equations=gradient_equations(layer),
        options={name: 1 for name, on in switches.items() if on},
    )


@lru_cache(maxsize=64)
def gradient_equations(layer: SingleLayer) -> tuple[Polynomial, ...]:
    """Equations of M̄ with independent gradients at the strata where the fiber is not one reduced point.

    Beyond :data:`MAX_EQUATION_COORDINATES` coordinates there are none.

    >>> [f.degree() for f in gradient_equations(SingleLayer(2, 2))]
    [2, 2, 2, 2]
    """
    if layer.ambient_dimension > MAX_EQUATION_COORDINATES:
        return ()
    ring = coordinate_ring(layer)
    positions = {index: n for n, index in enumerate(coordinates(layer))}
    polynomials: dict[Polynomial, None] = {}
    for stratum in strata(layer):
        for equation in tangent_bounds(layer, stratum).equations:
            terms: Counter[Exponents] = Counter()
            for monomial, coefficient in equation.terms:
                exponents = [0] * len(ring)
                for index in monomial:
                    exponents[positions[index]] += 1
                terms[tuple(exponents)] += coefficient
            polynomials[ring.from_terms(terms).primitive()] = None
    return tuple(polynomials)


def _zariski_singular_locus(
    layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]
) -> Problem:
    if layer.d < 2:
        raise InputError("d is 1: the neuromanifold is a linear space and nothing on it is singular")
    results = [
        Result("dimension", INTEGER, "dimension of the affine cone"),
        Result("degree", INTEGER, "degree"),
        Result("failures", INTEGER, "equations that do not vanish on the parametrization"),
        Result("generators", POLYNOMIALS, "minimal generators", ring=coordinate_ring(layer)),
    ]
    return _problem(
        layer,
        "zariski-singular-locus",
        "Zariski closure of the points with rk A, rk V <= 1 in {M}: h (x) q (x) Q with rk Q <= 2",
        "Theorem 3.4 and Figure 1",
        results,
    )


def _tangent_cone(
    layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]
) -> Problem:
    results = [
        Result("dimension", INTEGER, "dimension of the tangent cone", per_point=True),
        Result("multiplicity", INTEGER, "its degree: the multiplicity of the point", per_point=True),
        Result("span", INTEGER, "dimension of the linear space it spans", per_point=True),
        Result("cone", POLYNOMIALS, "its minimal generators", per_point=True, ring=coordinate_ring(layer)),
    ]
    return _problem(
        layer,
        "tangent-cone",
        "Tangent cones of the neuromanifold {M}",
        "Theorem 3.4 and Figure 1",
        results,
        points=points or strata_points(layer),
        options={"strata": int(points is None)},
    )


def _membership(layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]) -> Problem:
    results = [Result("member", INTEGER, "1 if the point is in the Zariski closure of the neuromanifold")]
    title = "Is a point in the Zariski closure of the neuromanifold {M}?"
    return _problem(layer, "membership", title, "Corollary A.6", results)


def _slice(layer: SingleLayer, points: tuple[Point, ...] | None, options: Mapping[str, int]) -> Problem:
    chosen = standard_slice(layer)
    results = [
        Result("dimension", INTEGER, "dimension of the section; -1 if it is empty"),
        Result("equation", POLYNOMIALS, "equation of its surface, squarefree; 1 if none", ring=chosen.ring()),
        Result("singular", POLYNOMIALS, "radical ideal of the surface's singular points", ring=chosen.ring()),
    ]
    title = "A section of the neuromanifold {M} by an affine space of dimension 3"
    return _problem(layer, "slice", title, "Figure 1", results, slice=chosen)


#: The tasks about layers, by name.
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            "implicit-ideal",
            "generators, dimension and degree of the ideal of the neuromanifold",
            _implicit_ideal,
            eliminates=True,
            one_token=True,
        ),
        Task(
            "hilbert-function",
            "Hilbert function of the neuromanifold, up to --max-degree",
            _hilbert_function,
            eliminates=True,
            one_token=True,
        ),
        Task(
            "singular-locus",
            "where the Jacobian of the equations drops rank",
            _singular_locus,
            eliminates=True,
            uses_points=True,
        ),
        Task(
            "critical-locus",
            "kernel of the differential, within the tangent cone",
            _critical_locus,
            uses_points=True,
        ),
        Task("base-locus", "weights whose function is zero", _base_locus, one_token=True),
        Task(
            "fiber", "all weights with the same function, at --point or all strata", _fiber, uses_points=True
        ),
        Task(
            "strata-tangents",
            "tangent spaces at the strata: curves from below, equations from above",
            _strata_tangents,
            uses_points=True,
        ),
        Task(
            "zariski-singular-locus",
            "ideal, dimension and degree of the closure of the singular points of Theorem 3.4",
            _zariski_singular_locus,
        ),
        Task(
            "tangent-cone",
            "tangent cones and multiplicities, at --point or all strata",
            _tangent_cone,
            eliminates=True,
            uses_points=True,
        ),
        Task(
            "membership",
            "whether the coefficients in --point are in the Zariski closure",
            _membership,
            one_token=True,
            uses_target=True,
        ),
        Task(
            "slice",
            "a surface in the neuromanifold and its singular points: Figure 1, or --slice",
            _slice,
            eliminates=True,
            uses_slice=True,
        ),
    )
}
