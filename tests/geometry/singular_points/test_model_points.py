"""Kinds of points of models: against the literature, and against derivatives of the coefficients over ℚ."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.evidence import Evidence
from agattn.geometry.identifiability.families import WeightFamily
from agattn.geometry.singular_points import arguments
from agattn.geometry.singular_points import singularities as room
from agattn.geometry.singular_points.arguments import is_cone
from agattn.geometry.singular_points.kinds import kinds
from agattn.geometry.singular_points.singularities import PointFacts, singularities
from agattn.geometry.variety.coefficient_map import coefficient_map

CUBES = ag.Network([ag.Perceptron([2, 1], degree=3)], dim=3)


def tangents_over_the_rationals(point: PointFacts, model: ag.Network) -> int:
    """The rank of the derivatives of all coefficients at all preimages, which have one function."""
    f = coefficient_map(model)
    rows, values = [], set()
    for weights in point.preimages:
        flat = [Fraction(x) for name in model.shapes for x in weights[name].flat]
        values.add(tuple(polynomial(*flat) for polynomial in f.polynomials))
        for i in range(len(flat)):
            rows.append([p.derivative(f.ring.gens[i])(*flat) for p in f.polynomials])
    assert len(values) == 1
    return int(flint.fmpq_mat([[flint.fmpq(x.numerator, x.denominator) for x in row] for row in rows]).rank())


def test_secants_of_the_cubic_veronese_surface():
    """Sums of two cubes in three variables are singular exactly at cubes (Kanev); a zero or merged neuron."""
    found = singularities(CUBES)
    assert found.dimension.dimension == 6
    singular = {point.name for point in found.kinds if point.singular == "singular"}
    assert {point.singular for point in found.kinds} == {"singular", "smooth"}
    assert singular == {
        "rk W_1_1 = 1", "W_1_1 = 0", "row 1 of W_1_1 is 0", "W_1_2 = 0", "column 1 of W_1_2 is 0",
        "row 1 of W_1_1 is 0 and column 1 of W_1_2 is 0", "all parameters are 0",
    }  # fmt: skip
    for point in found.kinds:
        assert point.evidence is Evidence.PROVED
        low, high = point.fiber
        assert low <= high <= 8 - point.differential_rank
        assert point.tangent_lower == point.tangent_upper == (10 if point.singular == "singular" else 6)
        if point.argument == "tangent vectors":
            assert point.tangent_lower == tangents_over_the_rationals(point, CUBES) > 6


@settings(max_examples=4, deadline=None)
@given(st.tuples(st.integers(2, 3), st.integers(1, 2), st.integers(2, 3)), st.integers(0, 99))
def test_deep_linear_networks_are_singular_at_lower_rank(widths: tuple[int, int, int], seed: int) -> None:
    """Determinantal varieties: matrices of rank at most h are singular exactly where the rank is less."""
    d, h, e = widths
    model = ag.Network([ag.Linear(h), ag.Linear(e)], dim=d)
    found = singularities(model, seed=seed)
    for point in found.kinds:
        C = point.preimages[0]["W_2"] @ point.preimages[0]["W_1"]
        rank = flint.fmpz_mat(C.tolist()).rank()
        expected = "singular" if rank < h < min(d, e) else "smooth"
        assert h == min(d, e) or point.tangent_upper == point.tangent_lower  # by minors
        assert (point.singular, point.evidence) == (expected, Evidence.PROVED), point.name
        assert point.is_zero == (rank == 0)


def test_quadrics_of_bounded_rank_and_a_convolution():
    quadrics = singularities(ag.Network([ag.Perceptron([2, 1], degree=2)], dim=3))
    assert Counter(point.singular for point in quadrics.kinds) == {"singular": 7, "smooth": 4}
    assert {point.tangent_lower for point in quadrics.kinds if point.singular == "singular"} == {6}
    slides = ag.Network([ag.Convolution(2, degree=2), ag.Convolution(2, degree=1)], dim=1, tokens=3)
    found = singularities(slides)
    assert [p.name for p in found.kinds if p.singular == "singular"] == found.zeros
    assert found["W_1 = 0"].argument == "cone" and found["W_1 = W_2"].argument == "equations"


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Ask of kinds with these names alone."""

    def chosen(*given, **more):
        return [kind for kind in kinds(*given, **more) if kind.name in names]

    monkeypatch.setattr(room, "kinds", chosen)


def test_heads_that_are_equal(monkeypatch):
    only(monkeypatch, "generic", "V_1[1] = V_1[2]", "K_1[1] = K_1[2] and Q_1[1] = Q_1[2]")
    model = ag.Network([ag.Attention(1, rank=1, heads=2, mask="causal")], dim=3, tokens=2)
    found = singularities(model)
    equal = found["K_1[1] = K_1[2] and Q_1[1] = Q_1[2]"]
    assert equal.is_critical and equal.singular == "singular"
    assert equal.tangent_lower == tangents_over_the_rationals(equal, model)
    assert equal.tangent_upper == equal.tangent_lower == 18
    merged = found["V_1[1] = V_1[2]"]  # one head of rank 2: critical, as more weights have its function
    assert merged.is_critical and (merged.singular, merged.argument) == ("smooth", "equations")
    assert found["generic"].singular == "smooth"


def test_maps_without_inputs_and_pairs():
    cubic = ag.PolynomialMap(lambda s: [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3], {"s": 2})
    found = singularities(cubic)
    assert [point.singular for point in found.kinds] == ["smooth", "singular", "smooth", "smooth"]
    assert found["s = 0"].tangent_lower == 4 and found.closed is True
    assert found["s = 0"].rank_evidence is Evidence.PROVED  # by all derivatives over ℚ
    names = [kind.name for kind in kinds(CUBES, pairs=True)]
    assert "rk W_1_1 = 1; W_1_2 = 0" in names and len(set(names)) == len(names)


def test_an_affine_space_has_no_singular_points(monkeypatch):
    only(monkeypatch, "generic", "V_1[1] = 0")
    heads = ag.Network([ag.Attention(1, rank=1, heads=2, mask="causal")], dim=2, tokens=2)
    found = singularities(heads)
    assert found.dimension.upper_bound_reason == "the dimension of the ambient space"
    assert found.dimension.evidence is Evidence.PROVED
    assert {(point.singular, point.argument) for point in found.kinds} == {("smooth", "affine space")}


def test_fibers_have_at_least_the_dimension_of_a_general_one(monkeypatch):
    """Over ℂ: the known symmetries of two heads leave two dimensions of six unexplained."""
    only(monkeypatch, "generic", "V_1[1] = 0", "K_1[1] = 0", "V_1[1] = V_1[2]")
    heads = ag.Network([ag.Attention(1, rank=1, heads=2, mask="causal")], dim=2, tokens=2)
    found = singularities(heads)
    general = heads.parameters - found.dimension.dimension
    for point in found.kinds:
        assert general <= point.fiber[0] <= point.fiber[1], point.name
    nothing = WeightFamily(0, (), Evidence.MODULAR)
    monkeypatch.setattr(arguments, "widest_family", lambda *given: nothing)  # where no search finds anything
    assert min(point.fiber[0] for point in singularities(heads).kinds) == general


def test_a_surface_with_a_double_line_and_a_pinch_point():
    """The Whitney umbrella y_1 y_3² = y_2²: two branches meet at t = 0, for s and -s."""
    umbrella = ag.PolynomialMap(lambda s, t: [s**2, s * t, t], {"s": (), "t": ()})
    found = singularities(umbrella)
    said = {point.name: (point.singular, point.tangent_lower, point.tangent_upper) for point in found.kinds}
    assert said == {
        "generic": ("smooth", 2, 2), "s = 0": ("smooth", 2, 2), "t = 0": ("singular", 3, 3),
        "all parameters are 0": ("undecided", 2, 3),
    }  # fmt: skip
    assert found["t = 0"].argument == "several branches" and len(found["t = 0"].preimages) == 2
    assert found.as_json()["kinds"][1]["witness"][0]["s"] == [["0"]]
    assert ag.fiber(umbrella, {"s": 3, "t": 2}).compare({"s": -3, "t": 2}).equal is False


def test_a_branch_counts_only_where_its_function_is_proved_to_be_the_same(monkeypatch):
    """The umbrella with s = u³ + v³: turned weights add a tangent vector, and fibers are more than orbits."""

    def f(w, t):
        s = w[0] ** 3 + w[1] ** 3
        return [s**2, s * t, t]

    folded = ag.PolynomialMap(f, {"w": 2, "t": ()})
    assert singularities(folded)["t = 0"].tangent_lower == 3
    proved = arguments.same_function
    monkeypatch.setattr(arguments, "same_function", lambda *given: (proved(*given)[0], Evidence.MODULAR, ""))
    assert singularities(folded)["t = 0"].tangent_lower == 2


def test_without_equations_a_branch_is_known(monkeypatch):
    monkeypatch.setattr(arguments, "_MOST_MONOMIALS", 0)
    found = singularities(ag.Network([ag.Linear(1), ag.Linear(2)], dim=2))
    assert (found["generic"].singular, found["generic"].tangent_upper) == ("smooth branch", None)
    assert found["generic"].argument == "immersion"


def test_cones():
    biased = ag.Network([ag.Perceptron([2, 1], degree=2, bias=True)], dim=2)
    assert is_cone(CUBES) and is_cone(biased)
    assert not is_cone(ag.Network([ag.Perceptron([2, 2], degree=2, skip=True)], dim=2))
    weighted = ag.PolynomialMap(lambda s, t: [s**2, s * t, t**4], {"s": (), "t": ()})
    assert not is_cone(weighted)  # s², st and t⁴ have one degree for no weights
