"""The invariants named in the literature: how many there are, and which modules they span."""

from fractions import Fraction
from itertools import product

import flint
import pytest
from command_line import document

from agattn.algebra.characters import module_name
from agattn.architectures import SingleLayer
from agattn.geometry.ideal.equations import equations_of_weight
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.invariants import (
    EquationFamily,
    _basis,
    _lie_images,
    compare,
    families,
    lie_flattening,
    spanned,
)
from agattn.geometry.variety.coordinates import coefficients, coordinates

LOW, CROSS, CONTEXT = "low-rank minors", "cross-column cubics", "context syzygies"
TWO, THREE = "Veronese minors, r = 2", "Veronese minors, r = 3"
RESULTANTS, ALL_PLANES = "quartic resultants", "quartic resultants, all planes"
ENDS = {RESULTANTS: 72, ALL_PLANES: 90}
COUNTS = {
    (2, 1, 1): {LOW: 3, RESULTANTS: 1, ALL_PLANES: 1},
    (2, 1, 2): {TWO: 1, RESULTANTS: 1, ALL_PLANES: 1},
    (3, 1, 1): {LOW: 45, CROSS: 10, CONTEXT: 10, **ENDS},
    (3, 1, 2): {LOW: 20, CROSS: 10, CONTEXT: 10, TWO: 45, **ENDS},
    (3, 1, 3): {CROSS: 10, CONTEXT: 10, TWO: 45, THREE: 27, **ENDS},
}


@pytest.mark.parametrize("sizes", COUNTS, ids=str)
def test_how_many_there_are(sizes):
    layer = SingleLayer(*sizes)
    found = families(layer)
    assert {family.name: len(family.equations) for family in found} == COUNTS[sizes]
    # They vanish on the variety, not on all of space: at a point of it, and not all at another.
    A = [[Fraction((i + 1) * (3 - k)) for k in range(layer.d)] for i in range(layer.d)]  # of rank one
    point = dict(zip(coordinates(layer), coefficients(layer, A, [[*range(2, 2 + layer.d)]]), strict=True))
    other = {index: n * n + 1 for n, index in enumerate(coordinates(layer))}
    for family in found:
        assert not any(equation.value(point) for equation in family.equations)
        assert any(equation.value(other) for equation in family.equations)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", COUNTS, ids=str)
def test_to_degree_4_they_span_every_module(sizes):
    compared = compare(compute_ideal(SingleLayer(*sizes), 4))
    last = compared.spans[-1]
    assert last.family == "all together" and last.modules
    assert all(module.spanned == module.dimension for module in last.modules)


def test_parts_of_modules():
    spans = compare(compute_ideal(SingleLayer(3, 1, 3), 4)).spans
    parts = {
        row.family: {module_name(m.shapes): m.spanned for m in row.modules if m.spanned} for row in spans
    }
    resultant = "S(4)⊗S(2,2)⊗S(4,4)"
    assert parts[CROSS] == {"S(3)⊗S(3)⊗S(2,2,2)": 10} and parts[CONTEXT] == {"S(3)⊗S(1,1,1)⊗S(3,3)": 10}
    assert (parts[TWO], parts[RESULTANTS]) == ({resultant: 18}, {resultant: 72})
    assert parts[ALL_PLANES] == {resultant: 90} and parts[THREE] == {}


@pytest.mark.slow
@pytest.mark.parametrize(("a", "expected"), [(2, {LOW: 480, CROSS: 200}), (3, {CROSS: 200})])
def test_at_width_four_half_of_the_cubics_are_not_among_them(a, expected):
    layer = SingleLayer(4, 1, a)
    ideal = compute_ideal(layer, 3)
    found = families(layer, 3)
    assert {family.name: len(family.equations) for family in found} == expected
    assert ideal.degrees[2].minimal_generators == (680 if a == 2 else 400)
    compared = compare(ideal, 3)
    missing = {m.shapes: m.spanned for m in compared.spans[-1].modules if m.spanned < m.dimension}
    assert missing == ({} if a == 2 else {((3,), (1, 1, 1), (3, 3)): 0})
    assert {module.family for module in ideal.generators if module.shapes in missing} <= {""}


def test_a_family_of_all_equations_spans_all_and_an_empty_one_nothing():
    layer = SingleLayer(2, 1, 2)
    [module] = compute_ideal(layer, 4).generators
    weight = ((4,), (2, 2), (4, 4))
    assert spanned(EquationFamily("all", 4, equations_of_weight(layer, weight)), module, layer) == 1
    assert spanned(EquationFamily("none", 4, ()), module, layer) == 0
    assert spanned(EquationFamily("other degree", 3, ()), module, layer) == 0
    assert _basis([]) == []


def test_the_command_names_and_compares():
    found = document("ideal", "-d", "3", "-o", "1", "-a", "2", "--invariants")
    assert {g["family"] for g in found["generators"]} == {LOW, CROSS, RESULTANTS}
    last = found["invariants"][-1]
    assert last["family"] == "all together" and {m["spanned"] == m["dimension"] for m in last["modules"]} == {
        True
    }
    without = document("ideal", "-d", "2", "-o", "2", "--max-degree", "2")
    assert "invariants" not in without and {g["family"] for g in without["generators"]} == {""}


@pytest.mark.slow
def test_names_are_only_given_where_the_span_is_not_zero():
    for d, a in product((2, 3), (1, 2, 3)):
        if a <= d:
            ideal = compute_ideal(SingleLayer(d, 1, a), 4)
            named = {module.shapes: module.family for module in ideal.generators}
            for row in compare(ideal).spans:
                assert all(module.spanned or named[module.shapes] != row.family for module in row.modules)


RANKS = {(1, 1): 0, (2, 1): 3, (2, 2): 3, (3, 1): 6, (3, 2): 7, (3, 3): 7, (4, 1): 10, (4, 2): 12, (4, 4): 12}


@pytest.mark.parametrize(("d", "a"), RANKS, ids=str)
def test_the_lie_flattening_has_its_rank_at_points_of_the_layer(d, a):
    layer = SingleLayer(d, 1, a, t=1)
    K, Q = (
        [[(7 * i * i + 3 * k * k * s + s * i * k + s) % 11 - 4 for k in range(d)] for i in range(a)]
        for s in (1, 5)
    )
    A = [[sum(K[i][j] * Q[i][k] for i in range(a)) for k in range(d)] for j in range(d)]
    form = [int(x) for x in coefficients(layer, A, [[2, -3, 5, 1][:d]])]
    rows = _lie_images(d, form)
    assert len(rows) == d * d - 1
    assert lie_flattening(layer).rank == (flint.fmpz_mat(rows).rank() if rows else 0) == RANKS[d, a]


def test_images_under_the_lie_algebra():
    # x_2 ∂/∂x_1 and x_1 ∂/∂x_2 of x_1³ + 5 x_1 x_2², then the difference of the diagonal ones.
    assert sorted(_lie_images(2, [1, 0, 5, 0])) == sorted([[0, 3, 0, 5], [0, 10, 0, 0], [3, 0, -5, 0]])


@pytest.mark.slow
def test_one_token_low_rank_matrix():
    assert families(SingleLayer(3, 1, 2, t=1)) == families(SingleLayer(3, 1, 3, t=1))
    assert families(SingleLayer(4, 1, 2, t=1)) == families(SingleLayer(2, 1, t=1)) == ()
    told = str(compare(compute_ideal(SingleLayer(4, 1, 1, t=1), 4)))
    assert "low-rank matrix, 1: 1 in a sum of modules, in none alone" in told
    told = str(compare(compute_ideal(SingleLayer(3, 1, t=1), 2)))
    assert "Lie minors, 35: of degree 8, where modules are not computed" in told
