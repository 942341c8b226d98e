"""The polynomial systems of some tasks, written out, for engines that have no language to build them in.

>>> from agattn import SingleLayer
>>> system, eliminated = graph(SingleLayer(1, 1))
>>> system, eliminated
((-a_(1,1)*v_(1,1) + y_(1,1,1,1),), 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, all_minors
from agattn.architectures import SingleLayer
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring, generic_matrices
from agattn.systems.problem import Point, Problem

Polynomials = tuple[Polynomial, ...]


def graph(layer: SingleLayer, characteristic: int = 0) -> tuple[Polynomials, int]:
    """The ideal of the graph of φ, and how many variables are weights, which come first.

    A is a matrix of variables, or KᵀQ where its rank is bounded. Without the weights the ideal is that of M̄.
    """
    d, r = layer.d, layer.a
    if r >= d:
        A, V = generic_matrices({"a": (d, d), "v": (layer.d_out, d)}, characteristic)
    else:
        K, Q, V = generic_matrices({"k": (r, d), "q": (r, d), "v": (layer.d_out, d)}, characteristic)
        A = K.T @ Q
    values: list[Polynomial] = list(coefficients(layer, A, V))
    weights = values[0].ring
    both = PolynomialRing((*weights.variables, *coordinate_ring(layer).variables), characteristic)
    size = len(weights)
    pairs = zip(both.gens[size:], values, strict=True)
    return tuple(y - value.compose(both.gens[:size]) for y, value in pairs), size


def fiber(layer: SingleLayer, values: Iterable[Fraction], characteristic: int = 0) -> Polynomials:
    """The ideal of all weights with these coefficients: φ(A, V) − values, and the minors that bound rk A."""
    A, V = generic_matrices({"a": (layer.d, layer.d), "v": (layer.d_out, layer.d)}, characteristic)
    differences = [y - value for y, value in zip(coefficients(layer, A, V), values, strict=True)]
    bounds = all_minors(A.tolist(), layer.a + 1) if layer.a < layer.d else ()
    return (*differences, *bounds)


def fiber_up_to_scaling(
    layer: SingleLayer, point: Point, characteristic: int = 0
) -> tuple[Polynomials, Polynomials]:
    """The fiber over the function of a point, on the hyperplane l = 0 and on l = l(A).

    It consists of curves {(sA, V/s)}. For l = Σ (d(i−1) + b) a_{i,b} the second meets each of them once, but
    for those that lie on l = 0.
    """
    equations = fiber(layer, coefficients(layer, point.A, point.V), characteristic)
    ring, d = equations[0].ring, layer.d
    entries = [entry for row in point.A for entry in row]
    form = sum((gen * (n + 1) for n, gen in enumerate(ring.gens[: d * d])), ring.zero())
    value = sum((entry * (n + 1) for n, entry in enumerate(entries)), Fraction(0))
    return (*equations, form), (*equations, form - value)


def critical_points(problem: Problem) -> Iterator[tuple[str, Polynomials]]:
    """The systems of the task critical-points with their names.

    ``critical@i`` has the critical points on the i-th stratum, with s times what is avoided equal to 1;
    ``lower@i.j`` those of them on its j-th lower strata.
    """
    layer, data = problem.layer, problem.data
    block, (target,) = data["block"], data["linear"]
    size = len(block)
    for i, part in enumerate(data["parts"], 1):
        ring = PolynomialRing(part.variables, problem.characteristic)

        def lifted(f: Polynomial, ring: PolynomialRing = ring) -> Polynomial:
            return ring.from_terms({(*exponents, 0): c for exponents, c in f.terms.items()})

        A, V = (np.array([list(map(lifted, row)) for row in rows], dtype=object) for rows in (part.A, part.V))
        y = list(coefficients(layer, A, V))
        value = ring.zero()
        for n, f in enumerate(y):
            first = n - n % size
            row = zip(block[n % size], y[first : first + size], strict=True)
            value += f * (sum((g * w for w, g in row), ring.zero()) - 2 * target[n])
        *variables, s = ring.gens
        system = (*(value.derivative(x) for x in variables), s * lifted(part.avoided) - 1)
        yield f"critical@{i}", system
        for j, ideal in enumerate(part.lower, 1):
            yield f"lower@{i}.{j}", (*system, *map(lifted, ideal))


def critical_equations(problem: Problem) -> Polynomials:
    """The system of the task critical-equations: equations, and the gradient as a combination of theirs."""
    data = problem.data
    block, (target,) = data["block"], data["linear"]
    size, number = len(block), len(data["multipliers"])
    ring = PolynomialRing((*data["coordinates"], *data["multipliers"]), problem.characteristic)

    def lifted(f: Polynomial) -> Polynomial:
        return ring.from_terms({(*exponents, *(0,) * number): c for exponents, c in f.terms.items()})

    y, multipliers = ring.gens[: len(target)], ring.gens[len(target) :]
    pairs = list(zip(multipliers, map(lifted, data["independent"]), strict=True))
    system = list(map(lifted, data["equations"]))
    for n, x in enumerate(y):
        first = n - n % size
        row = zip(block[n % size], y[first : first + size], strict=True)
        gradient = sum((g * w for w, g in row), ring.zero()) - target[n]
        system.append(gradient - sum((l * h.derivative(x) for l, h in pairs), ring.zero()))
    return tuple(system)


def model_graph(problem: Problem) -> tuple[Polynomials, int]:
    """The ideal of the graph of a model, and how many variables are parameters, which come first."""
    polynomials = problem.data["polynomials"]
    parameters = polynomials[0].ring.variables
    coordinates = [Variable("y", (k + 1,)) for k in range(len(polynomials))]
    ring = PolynomialRing((*parameters, *coordinates), problem.characteristic)
    size = len(parameters)
    more = (0,) * len(polynomials)
    images = (ring.from_terms({(*e, *more): c for e, c in f.terms.items()}) for f in polynomials)
    return tuple(y - f for y, f in zip(ring.gens[size:], images, strict=True)), size


def model_fiber(problem: Problem) -> tuple[Polynomials, Polynomials]:
    """The parameters with the same function as the point's; and the differentials there, linear forms."""
    polynomials, point = problem.data["polynomials"], problem.data["point"]
    ring = PolynomialRing(polynomials[0].ring.variables, problem.characteristic)
    differentials = (
        sum((x * f.derivative(of)(*point) for x, of in zip(ring.gens, f.ring.gens, strict=True)), ring.zero())
        for f in polynomials
    )
    return tuple(ring.from_terms((f - f(*point)).terms) for f in polynomials), tuple(differentials)
