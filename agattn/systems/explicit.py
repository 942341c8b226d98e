"""The polynomial systems of some tasks, written out, for engines that have no language to build them in.

>>> from agattn import SingleLayer
>>> from agattn.systems.catalogue import build
>>> systems(build("implicit-ideal", SingleLayer(1, 1)))["graph"]
ExplicitSystem(name='graph', polynomials=(-a_(1,1) + y_(1,1,1,1),), eliminated=2, finite=False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, all_minors
from agattn.architectures import SingleLayer
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring, generic_matrices
from agattn.systems.problem import Problem

Polynomials = tuple[Polynomial, ...]


class ExplicitSystem(NamedTuple):
    """Polynomials, and what is asked of them: a Gröbner basis, or how many common zeros there are.

    Attributes:
        name: by which the answer is known.
        polynomials: at least one, of one ring over the field of the problem.
        eliminated: how many variables, the first ones, the basis is to be without.
        finite: whether zeros are counted, of which there are finitely many.
    """

    name: str
    polynomials: Polynomials
    eliminated: int = 0
    finite: bool = False

    @property
    def ring(self) -> PolynomialRing:
        """The ring of the polynomials."""
        return self.polynomials[0].ring


def systems(problem: Problem) -> dict[str, ExplicitSystem]:
    """The systems that answer a problem together, by name.

    Raises:
        KeyError: if those of its task are not written out.
    """
    return {system.name: system for system in _SYSTEMS[problem.form](problem)}


def _lifted(f: Polynomial, ring: PolynomialRing) -> Polynomial:
    """A polynomial in a ring that has more variables, after its own."""
    more = (0,) * (len(ring) - len(f.ring))
    return ring.from_terms({(*exponents, *more): c for exponents, c in f.terms.items()})


def _graph(values: Sequence[Polynomial], coordinates: Iterable[Variable], p: int) -> ExplicitSystem:
    """The ideal of the graph of a map by its coordinates; without its own variables that of the image."""
    own = values[0].ring.variables
    ring = PolynomialRing((*own, *coordinates), p)
    pairs = zip(ring.gens[len(own) :], values, strict=True)
    return ExplicitSystem("graph", tuple(y - _lifted(value, ring) for y, value in pairs), len(own))


def _layer_graph(problem: Problem) -> Iterator[ExplicitSystem]:
    """The graph of φ where V begins with 1; A is a matrix of variables, or KᵀQ where its rank is bounded.

    As (sA, V/s) has the same image as (A, V), the image of these is dense.
    """
    layer, p = problem.layer, problem.characteristic
    d, r = layer.d, layer.a
    if r >= d:
        A, V = generic_matrices({"a": (d, d), "v": (layer.d_out, d)}, p)
    else:
        K, Q, V = generic_matrices({"k": (r, d), "q": (r, d), "v": (layer.d_out, d)}, p)
        A = K.T @ Q
    V[0, 0] = V[0, 0].ring.one()
    yield _graph(list(coefficients(layer, A, V)), coordinate_ring(layer).variables, p)


def _model_graph(problem: Problem) -> Iterator[ExplicitSystem]:
    polynomials = problem.data["polynomials"]
    coordinates = (Variable("y", (k + 1,)) for k in range(len(polynomials)))
    yield _graph(polynomials, coordinates, problem.characteristic)


def _fiber(layer: SingleLayer, values: Iterable[Fraction], p: int) -> Polynomials:
    """The ideal of all weights with these coefficients: φ(A, V) − values, and the minors that bound rk A."""
    A, V = generic_matrices({"a": (layer.d, layer.d), "v": (layer.d_out, layer.d)}, p)
    differences = [y - value for y, value in zip(coefficients(layer, A, V), values, strict=True)]
    bounds = all_minors(A.tolist(), layer.a + 1) if layer.a < layer.d else ()
    return (*differences, *bounds)


def _membership(problem: Problem) -> Iterator[ExplicitSystem]:
    yield ExplicitSystem("fiber", _fiber(problem.layer, problem.data["target"], problem.characteristic))


def _fibers(problem: Problem) -> Iterator[ExplicitSystem]:
    """The fibers over the functions of points, on the hyperplane l = 0 and on l = l(A).

    Each consists of curves {(sA, V/s)}. For l = Σ (d(i−1) + b) a_{i,b} the second meets each of them once,
    but for those that lie on l = 0.
    """
    layer = problem.layer
    for point in problem.points:
        equations = _fiber(layer, coefficients(layer, point.A, point.V), problem.characteristic)
        ring, entries = equations[0].ring, [entry for row in point.A for entry in row]
        form = sum((gen * n for n, gen in enumerate(ring.gens[: len(entries)], 1)), ring.zero())
        value = sum((entry * n for n, entry in enumerate(entries, 1)), Fraction(0))
        yield ExplicitSystem(f"infinity@{point.label}", (*equations, form))
        yield ExplicitSystem(f"fiber@{point.label}", (*equations, form - value), finite=True)


def _model_fiber(problem: Problem) -> Iterator[ExplicitSystem]:
    """The parameters with the same function as the point's; and the differentials there, linear forms."""
    polynomials, point = problem.data["polynomials"], problem.data["point"]
    ring = PolynomialRing(polynomials[0].ring.variables, problem.characteristic)
    yield ExplicitSystem("fiber", tuple(ring.from_terms((f - f(*point)).terms) for f in polynomials))
    differentials = (
        sum((x * f.derivative(of)(*point) for x, of in zip(ring.gens, f.ring.gens, strict=True)), ring.zero())
        for f in polynomials
    )
    yield ExplicitSystem("tangent", tuple(differentials))


def _weighted(y: Sequence[Polynomial], block: Sequence[Sequence[int]]) -> Polynomials:
    """G y, where G has a block for each output of the layer."""
    size, zero = len(block), y[0].ring.zero()
    rows = ((block[n % size], y[n - n % size :][:size]) for n in range(len(y)))
    return tuple(sum((g * w for w, g in zip(row, part, strict=True)), zero) for row, part in rows)


def _critical_points(problem: Problem) -> Iterator[ExplicitSystem]:
    """``critical@i``: the critical points on the i-th stratum, with s times what is avoided equal to 1.

    ``lower@i.j``: those of them on its j-th lower strata.
    """
    layer, data = problem.layer, problem.data
    for i, part in enumerate(data["parts"], 1):
        ring = PolynomialRing(part.variables, problem.characteristic)
        A, V = (
            np.array([[_lifted(f, ring) for f in row] for row in rows], dtype=object)
            for rows in (part.A, part.V)
        )
        y = list(coefficients(layer, A, V))
        triples = zip(y, _weighted(y, data["block"]), data["linear"][0], strict=True)
        value = sum((f * (g - 2 * u) for f, g, u in triples), ring.zero())
        *variables, s = ring.gens
        system = (*(value.derivative(x) for x in variables), s * _lifted(part.avoided, ring) - 1)
        yield ExplicitSystem(f"critical@{i}", system)
        for j, ideal in enumerate(part.lower, 1):
            yield ExplicitSystem(f"lower@{i}.{j}", (*system, *(_lifted(f, ring) for f in ideal)))


def _critical_equations(problem: Problem) -> Iterator[ExplicitSystem]:
    """The equations of M̄, and the gradient of the loss as a combination of those of some."""
    data = problem.data
    ring = PolynomialRing((*data["coordinates"], *data["multipliers"]), problem.characteristic)
    size = len(data["coordinates"])
    y, multipliers = ring.gens[:size], ring.gens[size:]
    pairs = [(l, _lifted(h, ring)) for l, h in zip(multipliers, data["independent"], strict=True)]
    gradients = (g - u for g, u in zip(_weighted(y, data["block"]), data["linear"][0], strict=True))
    normals = (sum((l * h.derivative(x) for l, h in pairs), ring.zero()) for x in y)
    critical = (gradient - normal for gradient, normal in zip(gradients, normals, strict=True))
    yield ExplicitSystem("critical", (*(_lifted(f, ring) for f in data["equations"]), *critical))


_SYSTEMS: Mapping[str, Callable[[Problem], Iterator[ExplicitSystem]]] = {
    "critical-equations": _critical_equations,
    "critical-points": _critical_points,
    "fiber": _fibers,
    "hilbert-function": _layer_graph,
    "implicit-ideal": _layer_graph,
    "membership": _membership,
    "model-fiber": _model_fiber,
    "model-hilbert-function": _model_graph,
    "model-implicit-ideal": _model_graph,
}
