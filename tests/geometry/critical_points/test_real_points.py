"""Real critical points: proved, all of them, with indices that add up and weights that give the point."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest

from agattn import SingleLayer
from agattn.algebra.echelon import fraction, kernel_basis, rational_matrix
from agattn.algebra.residue_fields import ResidueField
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.charts import chart_of
from agattn.geometry.critical_points.elimination import (
    _in_parameter,
    eliminate,
    equation,
    part_by_elimination,
)
from agattn.geometry.critical_points.loss import loss, loss_of_data
from agattn.geometry.critical_points.real_points import CriticalEquations, expected_sum, least_numbers
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.variety.coordinates import coefficients, coordinates
from agattn.verification.critical_points import count_critical_points

LAYER = SingleLayer(2, 1)
PARTS = (None, Stratum(1, 1, 1), Stratum(1, 1, 2))


@pytest.mark.parametrize("seed", range(20))
def test_all_real_critical_points_of_random_data(seed):
    """20 data sets: every point proved, its gradient contains 0, and the indices add up to χ = 0."""
    L = loss(LAYER, seed=seed)
    gram, b = np.array(L.gram, dtype=float), np.array(L.linear, dtype=float)
    values = []
    for stratum, complex_number in zip(PARTS, (14, 14, 10), strict=True):
        part = part_by_elimination(LAYER, L, stratum)
        assert (part.undecided, part.complete) == (0, Evidence.PROVED)
        assert part.complex_number == complex_number
        assert part.alternating_sum == part.expected_sum == 0
        for point in part.points:
            assert point.gradient < 1e-15 and point.multiplicity == 1 and point.radius < 1e-12
            assert (point.stratum.r_v, point.stratum.r_a) == ((1, 2) if stratum is None else (1, 1))
            y = point.coordinates
            assert y @ gram @ y - 2 * b @ y + float(L.constant) == pytest.approx(float(point.loss.mid()))
            for weights in point.weights:
                exact = coefficients(LAYER, weights.A, weights.V)
                assert all(x.overlaps(y) for x, y in zip(exact, point.y, strict=True))
        values.append([float(point.loss.mid()) for point in part.points if point.in_m])
        if stratum is None:
            # ℝP¹ has a minimum and a maximum for every function.
            found = Counter(point.index for point in part.points)
            assert all(found[i] >= n for i, n in enumerate(least_numbers(LAYER)))
            assert set(found) == {0, 1}
    assert values[0][0] < min(values[1] + values[2])  # a general loss has its minimum at a regular point


def test_the_list_is_what_a_grid_of_the_reduced_loss_shows():
    """min over A for each direction of V, on a fine grid of the circle: the same number of extrema."""
    L = loss(LAYER, seed=1)
    gram, b = np.array(L.gram, dtype=float), np.array(L.linear, dtype=float)
    values = []
    for angle in np.linspace(0, np.pi, 1000, endpoint=False):
        V = np.array([[np.cos(angle), np.sin(angle)]])
        basis = np.array([coefficients(LAYER, E.reshape(2, 2), V) for E in np.eye(4)])
        right = basis @ b
        values.append(float(L.constant) - right @ np.linalg.solve(basis @ gram @ basis.T, right))
    v = np.array(values)
    part = part_by_elimination(LAYER, L)
    minima = np.sort(v[(v < np.roll(v, 1)) & (v < np.roll(v, -1))])
    maxima = np.sort(v[(v > np.roll(v, 1)) & (v > np.roll(v, -1))])
    for index, found in ((0, minima), (1, maxima)):
        proved = [float(p.loss.mid()) for p in part.points if p.index == index]
        assert found == pytest.approx(proved, rel=1e-3)


def test_points_outside_m_have_no_real_weights():
    part = part_by_elimination(LAYER, loss(LAYER, "bombieri-weyl", seed=1), Stratum(1, 1, 2))
    assert [point.in_m for point in part.points] == [True, False]
    assert [len(point.weights) for point in part.points] == [2, 0]
    assert "outside M" in str(part.points[1]) and part.complex_number == 2


def test_known_numbers_of_complex_points():
    for metric, number in (("gaussian", 6), ("bombieri-weyl", 4), ("coefficients", 6)):
        assert part_by_elimination(LAYER, loss(LAYER, metric)).complex_number == number
    # M̄(2, 1, 1) is the cone over the Segre variety P¹ × P², of generic Euclidean distance degree 10.
    small = SingleLayer(2, 1, 1)
    part = part_by_elimination(small, loss(small))
    assert part.complex_number == 10 and part.regular and part.points[0].stratum == Stratum(1, 1, 2)


def test_special_data():
    zero = loss_of_data(LAYER, np.eye(2)[None, :, :].repeat(3, 0) + np.arange(12).reshape(3, 2, 2) ** 2 % 5,
                        np.zeros((3, 1, 2)))  # fmt: skip
    part = part_by_elimination(LAYER, zero)
    assert part.points == () and part.complete is Evidence.PROVED and part.complex_number is None
    with pytest.raises(InputError, match="W has rank 4, not 6"):
        part_by_elimination(LAYER, loss(LAYER, samples=2))
    with pytest.raises(InputError, match="more than one parameter"):
        part_by_elimination(SingleLayer(2, 2), loss(SingleLayer(2, 2)))


def test_degenerate_losses_are_said_to_be():
    """In the Bombieri–Weyl metric min L for V = (z, −x), x² + z² = 1, is the sum of the T_b(x, z)²."""
    # (1 + x² − xz)² + (1 − 2x² + xz)² has two derivatives 0 at x = 0, where det A = 1.
    part = part_by_elimination(LAYER, loss(LAYER, "bombieri-weyl", target=[2, -1, 1, -1, 1, 1]))
    (point,) = (point for point in part.points if point.index is None)
    assert (point.kind, point.multiplicity, float(point.loss.mid())) == ("degenerate", 2, pytest.approx(2))
    assert part.alternating_sum is None and "degenerate on (1,2,2)" in str(part)
    # Constant on the circle.
    with pytest.raises(InputError, match=r"infinitely many critical points on the smooth part of M\(2,1,2\)"):
        part_by_elimination(LAYER, loss(LAYER, "bombieri-weyl", target=[1, 0, 1, 0, 0, 0]))
    # x⁴ + z⁴: at x = 0 and z = 0 the best A has rank one, so that these points are not regular.
    part = part_by_elimination(LAYER, loss(LAYER, "bombieri-weyl", target=[1, 0, 0, 0, 0, 1]))
    assert (len(part.points), part.undecided, part.complete, part.complex_number) == (2, 2, None, 2)


def test_candidates_are_proved_or_undecided():
    chart, L = chart_of(LAYER, seed=1), loss(LAYER)
    known = part_by_elimination(LAYER, L)
    found = next(f for n in range(9) if (f := eliminate(chart_of(LAYER, None, n), L)) and (chart := f.chart))
    starts = [[float(x.mid()) for x in found.point(r)] for r, _ in found.roots if r.imag.is_zero()]
    part = CriticalEquations(chart, L).part_near([*starts, starts[0]], 14, "somebody")
    assert part.undecided == 1 and part.complete is None  # one was given twice
    for one, other in zip(part.points, known.points, strict=True):
        assert all(x.overlaps(y) for x, y in zip(one.y, other.y, strict=True)) and one.index == other.index
    others = [found.point(r) for r, _ in found.roots if r.imag > 0]
    part = CriticalEquations(chart, L).part_near(starts, 14, "somebody", others, 14)
    assert part.complete is Evidence.MODULAR and part.isolated is Evidence.PROVED
    part = CriticalEquations(chart, L).part_near([*starts, starts[0]], 14, "somebody", others, 14)
    assert (part.undecided, part.isolated) == (1, None)
    for fewer in (others[:-1], [*others[:-1], others[0]]):
        part = CriticalEquations(chart, L).part_near(starts, 14, "somebody", fewer, 14)
        assert part.isolated is Evidence.MODULAR


def test_what_is_in_the_part_parametrized():
    """On the smooth part for a = 1 not both ranks are one; on a stratum all three ranks are the largest."""
    line, plane, both = [[1.0, 2], [0, 0]], [[1.0, 2], [3, -1]], [[3.0, 0], [5, 0]]
    chart = chart_of(SingleLayer(2, 2, 1))
    for V, inside in ((line, False), (plane, True)):
        at = chart.near(np.array(both), np.array(V))
        for ball in flint.arb, flint.acb:
            assert chart.is_inside(list(map(ball, at))) == inside
    chart = chart_of(SingleLayer(3, 2, 2), Stratum(2, 1, 3))
    at = {str(x): flint.arb(n + 2) for n, x in enumerate(chart.ring.gens)}
    assert chart.is_inside(list(at.values()))
    assert not chart.is_inside([flint.arb(0) if x.startswith("h") else value for x, value in at.items()])


def test_equations_divided_by_the_scale_are_the_gradient():
    layer = SingleLayer(2, 2)
    L = loss(layer, seed=3)
    chart = chart_of(layer, Stratum(1, 1, 1))
    assert not chart.linear
    value = L.value(chart.y)
    at = [Fraction(n + 2, 3) for n in range(len(chart.ring))]
    for x, f, scale in zip(chart.ring.gens, chart.equations(L), chart.scales, strict=True):
        assert value.derivative(x)(*at) == 2 * f(*at) * scale(*at)


def test_the_index_is_that_of_the_hessian_where_equations_are_divided():
    layer = SingleLayer(2, 2)
    L = loss(layer, "bombieri-weyl", seed=3)
    found = {}
    for seed in range(2):
        chart = chart_of(layer, Stratum(1, 1, 1), seed)
        equations, value = CriticalEquations(chart, L), L.value(chart.y)
        gens = chart.ring.gens
        hessian = [[value.derivative(a).derivative(b) for b in gens] for a in gens]
        for start in np.random.default_rng(seed).standard_normal((6, 4)):
            point, zero = equations.point(start.tolist())
            if point is None:
                continue
            at = [Fraction(float(x.mid())) for x in zero.point]
            H = np.array([[float(f(*at)) for f in row] for row in hessian])
            assert point.index == (np.linalg.eigvalsh(H) < 0).sum()
            found.setdefault(round(float(point.loss.mid()), 6), set()).add((point.index, at[0] > 0))
    assert {index for kinds in found.values() for index, _ in kinds} >= {0, 1}
    assert {positive for kinds in found.values() for _, positive in kinds} == {True, False}  # λ of both signs


def test_expected_sums():
    assert expected_sum(SingleLayer(3, 1)) == 1  # χ(ℝP²)
    assert expected_sum(SingleLayer(3, 1, 2)) == 1  # χ(Gr(2, 3))·χ(ℝP²)
    assert expected_sum(SingleLayer(3, 1), Stratum(1, 1, 2)) is None
    assert expected_sum(SingleLayer(3, 2, 1)) == 1  # χ(Gr(1, 3))·χ(ℝP²), linear in V
    assert expected_sum(SingleLayer(3, 2, 2), Stratum(2, 1, 3)) == 1  # that of M(3, 2, 1)
    assert (
        expected_sum(SingleLayer(2, 2), Stratum(1, 1, 1)) is None
    )  # h, q ∈ ℝ²: b(h, ·, k²) = 0 has solutions
    assert least_numbers(SingleLayer(2, 2)) == (1, 1, 1, 1) and least_numbers(SingleLayer(3, 2, 2)) == (1,)


# Common roots of P and D ------------------------------------------------------------------------------------

TOKENS = ([3, -2], [2, 2])
SYMMETRIC = [
    [[i * x for x in TOKENS[m]], [j * x for x in TOKENS[1 - m]]]
    for i in (1, -1) for j in (1, -1) for m in (0, 1)
]  # fmt: skip
OUTPUTS = [
    [[-33, -17]], [[-18, 38]], [[-29, -11]], [[-14, 34]], [[29, 11]], [[14, -34]], [[33, 17]], [[18, -38]],
]  # fmt: skip


def test_critical_points_over_common_roots_are_counted():
    """Ten roots of P outside of D = 0, and four points over θ² + 4 = 0, as Singular counts by equations."""
    part = part_by_elimination(LAYER, loss_of_data(LAYER, SYMMETRIC, OUTPUTS))
    assert (part.complex_number, len(part.points), part.complete) == (14, 4, Evidence.PROVED)
    found = equation(LAYER, loss_of_data(LAYER, SYMMETRIC, OUTPUTS))
    assert found.polynomial.gcd(found.determinant).degree() == 2 and len(found.roots) == 10
    assert [found.number(p) for p in (32003, 32009, 7)] == [14, 14, None]


def degenerate_losses():
    """Losses with G(θ)x = b(θ) solvable where one quadratic factor of D = det G is 0, or both are."""
    L = loss_of_data(LAYER, SYMMETRIC, OUTPUTS)
    found = equation(LAYER, L)
    columns = [[_in_parameter(f.derivative(x)) for f in found.chart.y] for x in found.chart.ring.gens[:4]]
    factors = [f for f, _ in found.determinant.factor()[1] if f.degree() == 2]
    conditions = []
    for f in factors:
        field = ResidueField(f)
        _, [kernel] = field.solve(found.gram, [field.zero] * 4)
        dots = [
            field.reduce(sum((k * column[n] for k, column in zip(kernel, columns, strict=True)), field.zero))
            for n in range(6)
        ]
        conditions.append([[fraction(dot[power]) for dot in dots] for power in range(2)])
    random = np.random.default_rng(0)
    for rows in (conditions[0], conditions[1], conditions[0] + conditions[1]):
        basis = kernel_basis(rational_matrix(rows, 6))
        for _ in range(3):
            weights = random.integers(-9, 10, len(basis))
            b = [sum(int(w) * fraction(v[n]) for w, v in zip(weights, basis, strict=True)) for n in range(6)]
            yield len(rows), replace(L, linear=tuple(b))


def test_all_losses_with_solutions_over_common_roots():
    for conditions, L in degenerate_losses():
        found = equation(LAYER, L)
        assert len(found.roots) == 14 - 2 * conditions
        assert found.number() == found.number(1000003) == 14


def test_singular_counts_as_many_by_equations(singular):
    """Over ℚ, by the equation of the hypersurface, which proves the number for the given loss."""
    for _, L in list(degenerate_losses())[::4]:
        found = count_critical_points(L, singular, method="equations", characteristic=0)
        assert (found.regular, found.evidence) == (14, Evidence.PROVED)


@pytest.mark.parametrize("sizes", [(2, 1), (2, 2), (3, 2), (3, 3), (2, 3)])
def test_every_index_below_the_largest_rank_of_b_occurs(sizes):
    """The rank of B(A, V) = bᵀy is min(d², dd') for b = δδ, so for general b."""
    layer = SingleLayer(*sizes)
    d, d_out = sizes
    b = np.array([int(c == j and i == k) for c, j, i, k in coordinates(layer)])
    rows = np.eye(d * d, dtype=int).reshape(-1, d, d)
    columns = np.eye(d * d_out, dtype=int).reshape(-1, d_out, d)
    B = [[b @ coefficients(layer, A, V) for V in columns] for A in rows]
    assert np.linalg.matrix_rank(np.array(B, float)) == len(least_numbers(layer)) == min(d * d, d * d_out)
