"""Modules from weight spaces: against Specht modules, against elimination, and their memory."""

from math import comb, prod

import numpy as np
import pytest

import agattn as ag
from agattn.algebra.characters import kostka, module_dimension
from agattn.architectures import SingleLayer
from agattn.engines.elimination import eliminate
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.ideal import weight_spaces
from agattn.geometry.ideal.ideal import _by_modules, compute_ideal
from agattn.geometry.ideal.implicitization import Border, Implicitization
from agattn.geometry.ideal.isotypic import component, shapes
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.ideal.weight_spaces import (
    Multiplicities,
    hilbert_value,
    modules_by_weights,
    ring_of_layer,
    smallest_spaces,
)
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.limits import limited
from agattn.memory import allow


def by_modules(layer, last):
    """What Specht modules say, without modules that do not occur."""
    return [{s: m for s, m in one.items() if m.ring} for one in _by_modules(layer, last, 1)]


@pytest.mark.parametrize(
    ("sizes", "last"),
    [
        ((1, 3, 1), 3), ((2, 1, 1), 4), ((2, 1, 2), 5), ((2, 2, 2), 5), ((2, 3, 1), 4), ((2, 5, 2), 3),
        ((3, 1, 1), 4), ((3, 1, 2), 4), ((3, 1, 3), 4), ((3, 2, 1), 3), ((3, 2, 2), 3), ((3, 2, 3), 3),
        ((4, 1, 2), 3), ((4, 5, 1), 2),
        *(pytest.param(*case, marks=pytest.mark.slow)
          for case in [((3, 1, 3), 5), ((3, 2, 2), 5), ((2, 2, 1), 6)]),
    ],
)  # fmt: skip
def test_weight_spaces_and_specht_modules_agree(sizes, last):
    layer = SingleLayer(*sizes)
    assert list(modules_by_weights(layer, last)) == by_modules(layer, last)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_characters_count_the_modules_of_the_polynomial_ring(degree):
    found = ring_of_layer(SingleLayer(3, 3), degree)
    for shape in shapes(degree, 3, 3):
        assert found.get(shape, 0) == component(shape).ring


@pytest.mark.parametrize(("d", "d_out", "degree"), [(3, 2, 6), (2, 7, 5), (4, 1, 5), (2, 1, 9)])
def test_the_modules_of_the_polynomial_ring_add_up(d, d_out, degree):
    layer = SingleLayer(d, d_out)
    total = sum(m * module_dimension(s, layer.gl_sizes) for s, m in ring_of_layer(layer, degree).items())
    assert total == comb(layer.ambient_dimension + degree - 1, degree)


def test_modules_of_many_rows_are_found_in_small_spaces():
    assert smallest_spaces(SingleLayer(2, 7, 1), 8) == (3, 2)
    assert smallest_spaces(SingleLayer(4, 1, 2), 8) == (1, 3)
    *_, cubics = modules_by_weights(SingleLayer(2, 7, 2), 3)
    assert cubics[(1, 1, 1), (3,), (3, 3)] == Multiplicities(1, 0, 1)


def test_a_module_that_is_not_the_same_over_the_rationals_is_noticed(monkeypatch):
    monkeypatch.setattr(component(((3,), (3,), (2, 2, 2))), "coordinate_ring", 1)
    with pytest.raises(ArithmeticError, match="another seed"):
        list(modules_by_weights(SingleLayer(3, 1), 3))


def test_one_weight_decides_where_there_are_no_minimal_generators(monkeypatch):
    solved = []
    all_are_lower = Border._all_are_lower

    def counted(border):
        solved.append(border.degree)
        return all_are_lower(border)

    monkeypatch.setattr(Border, "_all_are_lower", counted)
    *_, quintics = modules_by_weights(SingleLayer(3, 1, 3), 5)
    assert not any(numbers.minimal_generators for numbers in quintics.values())
    # In degree 5 the evenly spread weight, and modules below their bound such as S(5)⊗S(4,1)⊗S(8,1,1).
    assert 1 <= solved.count(5) <= 4 < solved.count(4)


@pytest.mark.parametrize(
    ("sizes", "last"), [((2, 1, 2), 6), ((2, 2, 2), 5), ((3, 1, 2), 5), ((3, 1, 3), 5), ((3, 2, 2), 3)]
)
def test_bounds_that_are_met_in_one_weight_are_the_dimensions_of_all(monkeypatch, sizes, last):
    layer, counted, met = SingleLayer(*sizes), Implicitization._counted, []

    def watched(image, degree, *given):
        numbers = counted(image, degree, *given)
        met.append(bool(numbers))
        return numbers

    monkeypatch.setattr(Implicitization, "_counted", watched)
    found = list(modules_by_weights(layer, last))
    assert any(met)
    monkeypatch.setattr(Implicitization, "_counted", lambda *given: {})
    assert list(modules_by_weights(layer, last)) == found


@pytest.mark.parametrize(
    "sizes", [(2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 3, 2), (3, 1, 2), (3, 2, 1), (4, 1, 3)]
)
def test_one_weight_shows_the_hilbert_function(sizes):
    layer = SingleLayer(*sizes)
    ideal = compute_ideal(layer, 4)
    values = [hilbert_value(layer, n) for n in range(1, 5)]
    assert None not in values and values == [ideal.hilbert_function(n) for n in range(1, 5)]


def test_a_bound_that_is_not_met_shows_nothing(monkeypatch):
    monkeypatch.setattr(weight_spaces, "_on_the_source", lambda shape, alpha: 2)
    assert hilbert_value(SingleLayer(2, 2), 3) is None


# --- hypersurfaces ---


def test_the_quartic_is_the_whole_ideal():
    ideal = compute_ideal(SingleLayer(2, 1), 8)
    assert [piece.way for piece in ideal.degrees] == ["modules"] * 4 + ["hypersurface"] * 4
    assert ideal.complete_by == "hypersurface" and ideal.generators_by_degree == {4: 1}
    assert all(piece.evidence is Evidence.PROVED for piece in ideal.degrees)
    for piece, found in zip(ideal.degrees, modules_by_weights(SingleLayer(2, 1), 8), strict=True):
        modules = {m.shapes: (m.ring, m.coordinate_ring, m.minimal_generators) for m in piece.modules}
        assert modules == found
    assert compute_ideal(SingleLayer(2, 1), 3).complete_by is None


def test_hilbert_function_of_the_quartic_is_that_of_elimination(macaulay2):
    native, engine = compute_ideal(SingleLayer(2, 1), 7), eliminate(SingleLayer(2, 1), 7, macaulay2)
    assert [p.hilbert_function for p in native.degrees] == [p.hilbert_function for p in engine.degrees]
    assert native.generators_by_degree == engine.generators_by_degree
    assert engine.complete_by == "elimination"


def test_an_image_that_is_everything_is_complete():
    squares = ag.PolynomialMap(lambda a, b: [a * a, a * b + b], {"a": (), "b": ()})
    ideal = compute_model_ideal(coefficient_map(squares), 5)
    assert ideal.affine and ideal.complete_by == "whole space" and ideal.dimension == 2
    assert [piece.hilbert_function for piece in ideal.degrees] == [comb(2 + n, n) for n in range(1, 6)]
    assert "all of the span" in str(ideal.listing())


def test_equations_prove_a_dimension_without_symmetries(monkeypatch):
    def never(*given, **named):
        raise AssertionError("no symmetries are needed")

    monkeypatch.setattr("agattn.verification.ideal.dimension", never)
    grassmannian = ag.PolynomialMap(
        lambda a, b: [a[i] * b[j] - a[j] * b[i] for i in range(5) for j in range(i)], {"a": 5, "b": 5}
    )
    assert ag.ideal(grassmannian, 2).dimension == 7


def test_derivatives_are_those_of_differences():
    source = coefficient_map(ag.PolynomialMap(lambda a, b: [a**3 * b / 2, a * b + b**2], {"a": (), "b": ()}))
    image, p = Implicitization(source), 10007
    theta = np.array([3, 5])
    expected = [[3 * 9 * 5 * pow(2, -1, p) % p, 27 * pow(2, -1, p) % p], [5, 3 + 2 * 5]]
    rows = {tuple(row) for row in image.map.jacobian(theta, p).tolist()}
    assert {tuple(row) for row in expected} <= rows


# --- raising operators ---


@pytest.mark.parametrize("sizes", [(2, 2, 1), (3, 1, 3), (3, 1, 1, 1)])
def test_weight_spaces_of_modules_have_the_dimension_of_kostka_numbers(sizes):
    for module in compute_ideal(SingleLayer(*sizes), 4).generators:
        found = {}
        for equation in module:
            found.setdefault(equation.torus_weight, []).append(equation)
        for weight, equations in found.items():
            expected = prod(map(kostka, module.shapes, weight))
            assert len(equations) == expected
        assert sum(map(len, found.values())) == module.dimension


def test_raising_and_lowering_commute_to_the_weight():
    [module] = compute_ideal(SingleLayer(3, 1), 4).generators[-1:]
    equations = list(module)[::7]
    for equation in equations:
        for factor, size in ((1, 3), (2, 3)):
            weight = (*equation.torus_weight[factor], 0, 0, 0)
            for r in range(1, size):
                first = equation.move(factor, r, r + 1).move(factor, r + 1, r).terms
                second = equation.move(factor, r + 1, r).move(factor, r, r + 1).terms
                difference = {m: first.get(m, 0) - second.get(m, 0) for m in first.keys() | second.keys()}
                h = weight[r - 1] - weight[r]
                assert {m: x for m, x in difference.items() if x} == {
                    m: h * x for m, x in equation.terms.items() if h
                }


# --- memory ---


@pytest.mark.parametrize(("sizes", "last"), [((3, 1, 3), 6), ((4, 1, 4), 5)])
def test_more_memory_than_allowed_is_refused(sizes, last):
    layer = SingleLayer(*sizes)
    refused = pytest.raises(TooLargeError, match=r"degree \d.*: up to .* MiB .* use force=True$")
    with refused, limited(native=1):
        compute_ideal(layer, last)


def test_force_goes_beyond_the_memory():
    said = []
    with limited(native=0, force=True, progress=said.append):
        assert compute_ideal(SingleLayer(2, 1), 4).generators_by_degree == {4: 1}
        allow(2**31, "a large matrix")
    assert said == ["a large matrix: up to 2.0 GiB of memory"]
