"""Brackets for learning coefficients: against the theorem on one layer and formulas of the literature."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import ceil
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.polynomial import PolynomialRing
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.evidence import Evidence
from agattn.geometry.identifiability import families
from agattn.geometry.identifiability.families import ExactWeights, widest_family
from agattn.geometry.learning_coefficients.brackets import Bracket, _of_monomials, bracket
from agattn.geometry.learning_coefficients.learning_coefficients import MatrixProduct, points, product_at_zero
from agattn.geometry.learning_coefficients.newton import polyhedron, reading
from agattn.geometry.learning_coefficients.normal_form import normal_form

ONE = [[1, 0], [0, 1]]


def germ(generators):
    """What is known of λ and m of an ideal: free coordinates, bounds for the rest, m."""
    return reading(generators)[:4]


def linear(widths: tuple[int, ...]) -> ag.PolynomialMap:
    """The map X ↦ W_L ... W_1 X, of which the program knows no theorem."""
    shapes = {f"W_{i}": (n, m) for i, (m, n) in enumerate(pairwise(widths), 1)}

    def product(X: Any, **weights: Any) -> Any:
        for name in shapes:
            X = weights[name] @ X
        return X

    return ag.PolynomialMap(product, shapes, (widths[0], 1))


def check(found: Bracket, value: Fraction | int, m: int | None = None) -> bool:
    """Assert that λ and m are as they must be, where they are decided; whether λ is."""
    assert found.evidence is Evidence.PROVED
    assert found.lower <= value <= found.upper, found
    if found.value is not None and None not in (m, found.multiplicity):
        assert found.multiplicity == m, found
    return found.value is not None


def diagonal(rows: int, columns: int, rank: int) -> list[list[int]]:
    return [[int(i == j < rank) for j in range(columns)] for i in range(rows)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "decided"),
    [((2, 1, 1), 9), ((3, 1, 1), 9), ((2, 1, 2), 19), ((2, 2, 2), 28), ((3, 1, 2), 20), ((3, 2, 2), 33)],
)
def test_one_layer_at_all_kinds_of_weights(sizes: tuple[int, int, int], decided: int) -> None:
    """Where λ is decided, m is, and both are those of the theorem on one layer."""
    layer = SingleLayer(*sizes)
    count = 0
    for point in points(layer):
        form = normal_form(layer, point.stratum, point.rank_k, point.rank_q)  # type: ignore[arg-type]
        weights = {f"{name}_1": M.tolist() for name, M in zip("KQV", form.at_zero, strict=True)}
        found = bracket(layer.as_network(), weights)
        count += check(found, point.coefficient.value, point.coefficient.multiplicity)
        assert (found.multiplicity is None) == (found.value is None), found
        assert not any("None" in reason for reason in found.reasons)
    assert count == decided  # the others are φ = 0, or a product of inner width 2 at zero


def test_an_ideal_that_is_not_monomial_is_not_called_so() -> None:
    """At zero the ideal of (2,1,1) has binomial generators; its integral closure is that of monomials."""
    zero = {"K_1": [[0, 0]], "Q_1": [[0, 0]], "V_1": [[0, 0]]}
    found = bracket(SingleLayer(2, 1, 1).as_network(), zero)
    assert (found.value, found.multiplicity, found.evidence) == (1, 3, Evidence.PROVED)
    assert found.reasons[-1].endswith("has the integral closure of one of monomials, with m = 3")


# (columns, inner, rows), ranks of W_2 and W_1, whether λ is decided.
RANKS = [
    ((2, 2, 2), 1, 1, True), ((2, 2, 2), 2, 1, True), ((3, 2, 2), 1, 1, True), ((3, 2, 3), 1, 1, True),
    ((2, 1, 3), 0, 0, True), ((3, 1, 3), 0, 0, True), ((2, 3, 2), 2, 2, True), ((3, 3, 3), 2, 2, True),
    ((3, 3, 2), 1, 1, False), ((2, 2, 2), 0, 0, False), ((3, 2, 4), 0, 0, False), ((2, 2, 2), 0, 1, True),
]  # fmt: skip


@pytest.mark.parametrize(("widths", "left", "right", "decided"), RANKS)
def test_reduced_rank_regression(widths: Any, left: int, right: int, decided: bool) -> None:
    """Aoyagi and Watanabe, after free coordinates are split off (Lemma 2 of the page)."""
    columns, inner, rows = widths
    r = min(left, right)
    weights = {"W_1": diagonal(inner, columns, right), "W_2": diagonal(rows, inner, left)}
    p, n, h = MatrixProduct(rows, columns, inner, left, right, r).product
    product = product_at_zero(p, n, h)
    value = Fraction(rows * columns - p * n + product.twice, 2)
    found = bracket(linear(widths), weights)
    assert check(found, value, product.multiplicity) == decided
    assert found.upper == value  # the widest family is always found here


@pytest.mark.parametrize(
    ("widths", "ranks"), [((3, 2, 2), (1, 2)), ((2, 2, 3), (0, 1)), ((2, 2, 2), (0, 0)), ((3, 3, 3), (1, 2))]
)
def test_a_model_of_two_linear_layers_is_decided(widths: Any, ranks: Any) -> None:
    """Aoyagi and Watanabe at every weight; within what is found for the same map without the theorem."""
    columns, inner, rows = widths
    weights = {"W_1": diagonal(inner, columns, ranks[0]), "W_2": diagonal(rows, inner, ranks[1])}
    other = bracket(linear(widths), weights)
    for layers in [ag.Perceptron([inner, rows], degree=1)], [ag.Linear(inner), ag.Linear(rows)]:
        model = ag.Network(layers, dim=columns)
        found = bracket(model, dict(zip(model.shapes, weights.values(), strict=True)))
        assert found.value is not None
        check(other, found.value, found.multiplicity)


def aoyagi(widths: tuple[int, ...], r: int = 0) -> tuple[Fraction, int]:
    """Deep linear networks (Aoyagi 2024, Theorem 1), at true rank r and weights where λ is least."""
    spare = [w - r for w in widths]
    for size in range(2, len(spare) + 1):
        for chosen in combinations(range(len(spare)), size):
            M, l = [spare[i] for i in chosen], size - 1
            others = [spare[i] for i in range(len(spare)) if i not in chosen]
            if sum(M) < l * max(M) or any(m <= max(M) or sum(M) >= l * m for m in others):
                continue
            a = sum(M) - (ceil(Fraction(sum(M), l)) - 1) * l
            pairs = sum(x * y for x, y in combinations(M, 2))
            value = Fraction(-r * r + r * (widths[0] + widths[-1]), 2) + Fraction(a * (l - a), 4 * l)
            value += Fraction(pairs, 2) - Fraction(l - 1, 4 * l) * sum(M) ** 2
            return value, a * (l - a) + 1
    raise AssertionError(widths)


@pytest.mark.parametrize(
    ("widths", "decided"),
    [((1, 1, 1, 1), True), ((2, 1, 1, 2), True), ((1, 1, 1, 1, 1), True), ((1, 2, 2, 1), False),
     ((2, 2, 2, 2), False), ((2, 1, 2, 1), False)],
)  # fmt: skip
def test_deep_linear_networks_at_zero(widths: tuple[int, ...], decided: bool) -> None:
    network = linear(widths)
    zero = {name: np.zeros(shape, dtype=int) for name, shape in network.shapes.items()}
    found = bracket(network, zero)
    value, m = aoyagi(widths)
    assert check(found, value, m) == decided


def depth_two(**changed: Any) -> dict[str, Any]:
    generic = {
        "K_1": ONE, "Q_1": [[1, 2], [3, 1]], "V_1": [[1, 1], [0, 1]],
        "K_2": [[1, 3], [2, 1]], "Q_2": [[1, 1], [0, 1]], "V_2": [[2, 1], [1, 1]],
    }  # fmt: skip
    return generic | changed


def test_a_rank_one_head_makes_the_next_one_symmetric() -> None:
    network = DeepNetwork((2, 2, 2), (2, 2), t=3)
    found = bracket(network, depth_two(Q_1=[[1, 2], [2, 4]]))
    assert (found.rank, found.value, found.multiplicity) == (9, Fraction(9, 2), 1)
    assert found.fiber == 24 - 9  # of 16 parameters in (A, V) seven, and GL(2) twice
    generic = bracket(network, depth_two())
    assert (generic.value, generic.multiplicity, generic.evidence) == (5, 1, Evidence.PROVED)
    # K_1 and Q_1 both of rank one: a product at zero, and the interval says so.
    both = bracket(network, depth_two(K_1=[[1, 2], [0, 0]], Q_1=[[1, 3], [0, 0]]))
    assert (both.lower, both.upper, both.multiplicity) == (4, Fraction(9, 2), None)


def test_three_layers_lose_two_skew_parts() -> None:
    network = DeepNetwork((2, 2, 2, 2), (2, 2, 2), t=2)
    three = depth_two(K_3=[[1, 0], [1, 1]], Q_3=ONE, V_3=[[1, 2], [1, 1]])
    generic, lost = bracket(network, three), bracket(network, three | {"Q_1": [[1, 2], [2, 4]]})
    assert generic.value is not None and lost.value == generic.value - 1


def test_heads_that_are_dead_or_merged() -> None:
    network = DeepNetwork((2, 2), (2,), t=2, heads=2)
    alive = {"K_1": [[[1, 3], [0, 2]], [[1, 2], [1, 3]]], "Q_1": [ONE, [[2, 1], [1, 3]]],
             "V_1": [[[1, 2], [5, 1]], [[1, 7], [3, 1]]]}  # fmt: skip
    generic = bracket(network, alive)
    # Twelve coordinates, and the differential is onto; the known symmetries leave 14 dimensions.
    assert (
        (generic.value, generic.multiplicity) == (Fraction(ag.dimension(network).dimension, 2), 1) == (6, 1)
    )
    dead = bracket(network, alive | {"V_1": [ONE, [[0, 0], [0, 0]]]})
    # The dead head's K and Q move freely: at least the layer of the other head, at most all.
    assert Fraction(7, 2) < dead.lower <= dead.upper == Fraction(11, 2)
    merged = bracket(network, {"K_1": [ONE, ONE], "Q_1": [ONE, ONE], "V_1": [ONE, [[1, 2], [0, 1]]]})
    assert merged.value == 5 < generic.value  # V_1 + N, V_2 − N is the same function


@pytest.mark.parametrize("skip", [False, True])
def test_generic_weights_have_half_the_dimension(skip: bool) -> None:
    network = DeepNetwork((2, 2, 2), (1, 2), t=2, skip=skip)
    draw = np.random.default_rng(0)
    weights = {name: draw.integers(-9, 10, shape) for name, shape in network.shapes.items()}
    known = ag.dimension(network)
    found = bracket(network, weights)
    assert found.lower == Fraction(known.dimension, 2) <= found.upper


def test_symmetries_change_nothing() -> None:
    network = DeepNetwork((2, 2, 2), (2, 2), t=2)
    weights = {k: np.array(x, dtype=object) for k, x in depth_two(Q_1=[[1, 2], [2, 4]]).items()}
    C = np.array([[1, 1], [0, 1]], dtype=object)
    back = np.array([[1, -1], [0, 1]], dtype=object)
    moved = weights | {"V_1": C @ weights["V_1"]} | {k: weights[k] @ back for k in ("K_2", "Q_2", "V_2")}
    one, other = bracket(network, weights), bracket(network, moved)
    assert (one.lower, one.upper) == (other.lower, other.upper)


@pytest.mark.slow
def test_families_are_proved_by_symbols_or_said_to_be_modular(monkeypatch: pytest.MonkeyPatch) -> None:
    network = DeepNetwork((2, 2, 2), (2, 2), t=3)
    weights = depth_two(Q_1=[[1, 2], [2, 4]])
    at = ExactWeights(network, weights)
    proved = widest_family(at)
    assert (proved.dimension, len(proved.directions), proved.evidence) == (15, 1, Evidence.PROVED)
    generator = np.random.default_rng(1)
    p = at.prime(generator)
    assert at.is_constant(proved.directions, p, generator)
    (skew,) = proved.directions
    spoiled = (skew[0] + 1, *skew[1:])
    assert not at.is_constant([spoiled], p, generator)
    with pytest.raises(AssertionError, match="not over ℚ"):
        families._evidence(at, [spoiled], generator)
    monkeypatch.setattr(families, "MOST_MONOMIALS", 0)
    modular = widest_family(at)
    assert (modular.dimension, modular.evidence) == (15, Evidence.MODULAR) and 0 < modular.error < 1e-9
    with pytest.raises(AssertionError, match="another"):
        families._evidence(at, [spoiled], generator)
    found = bracket(network, weights)
    assert (found.value, found.evidence) == (Fraction(9, 2), Evidence.MODULAR)


def test_the_fiber_has_evidence_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """λ is proved by monomials; that φ is constant on a family is known modulo primes."""
    zero = {"K_1": [[0, 0]], "Q_1": [[0, 0]], "V_1": [[0, 0]]}
    network = SingleLayer(2, 1, 1).as_network()
    assert bracket(network, zero).fiber_evidence is Evidence.PROVED
    monkeypatch.setattr(families, "MOST_MONOMIALS", 0)
    found = bracket(network, zero)
    assert (found.value, found.evidence, found.fiber) == (1, Evidence.PROVED, 4)
    assert found.fiber_evidence is Evidence.MODULAR
    assert found.as_json()["fiber_dimension_evidence"] == "modular"


# --- Newton polyhedra ---


def monomials(variables: int) -> st.SearchStrategy[list[tuple[int, ...]]]:
    exponents = st.tuples(*[st.integers(0, 3)] * variables).filter(any)
    return st.lists(exponents, min_size=1, max_size=4, unique=True)


def vertices(exponents: list[tuple[int, ...]]) -> Iterator[tuple[Fraction, ...]]:
    """All vertices of {ω ≥ 0, ω·α ≥ 1}, by solving all square systems."""
    n = len(exponents[0])
    rows = [(*a, 1) for a in exponents] + [(*(int(i == j) for j in range(n)), 0) for i in range(n)]
    for chosen in combinations(rows, n):
        square = flint.fmpq_mat([[flint.fmpq(x) for x in row[:n]] for row in chosen])
        if square.det():
            solved = square.solve(flint.fmpq_mat([[flint.fmpq(row[n])] for row in chosen]))
            omega = tuple(Fraction(int(x.p), int(x.q)) for x in solved.entries())
            if min(omega) >= 0 and all(np.dot(omega, a) >= 1 for a in exponents):
                yield omega


@settings(deadline=None, max_examples=60)
@given(monomials(3))
def test_the_program_finds_the_least_vertex_and_all_optima(exponents: list[tuple[int, ...]]) -> None:
    corners = list(vertices(exponents))
    value = min(map(sum, corners))
    found = polyhedron(exponents)
    assert found.value == sum(found.weights) == value
    assert all(np.dot(found.weights, a) >= 1 for a in exponents) and min(found.weights) >= 0
    # Optima have bounded coordinates, so they are the hull of the optimal vertices; m − 1 is its dimension.
    best = [(*w, 1) for w in corners if sum(w) == value]
    rank = flint.fmpq_mat(
        [[flint.fmpq(x.numerator, x.denominator) for x in map(Fraction, w)] for w in best]
    ).rank()
    assert found.codimension == rank


@settings(deadline=None, max_examples=40)
@given(monomials(2), monomials(2))
def test_sums_and_products_in_different_variables(I: list[Any], J: list[Any]) -> None:
    one, other = polyhedron(I), polyhedron(J)
    total = polyhedron([*((*a, 0, 0) for a in I), *((0, 0, *b) for b in J)])
    assert total.value == one.value + other.value
    assert total.codimension == one.codimension + other.codimension - 1
    product = polyhedron([(*a, *b) for a in I for b in J])
    assert product.value == min(one.value, other.value)
    equal, less = one.value == other.value, min(one, other, key=lambda p: p.value)
    assert product.codimension == (one.codimension + other.codimension if equal else less.codimension)


def test_germs() -> None:
    ring = PolynomialRing(["x", "y", "z", "w"])
    x, y, z, w = ring.gens
    unit = 1 + x - 2 * w
    assert germ([x * unit + y * z, w]) == (2, 0, 0, 1)  # smooth
    assert germ([y * z * unit + x * y, x]) == (1, Fraction(1, 2), Fraction(1, 2), 2)
    assert germ([(y + z) * (y - z) * unit]) == (0, Fraction(1, 2), Fraction(1, 2), 2)
    assert germ([x**2 - y**3]) == (0, 0, Fraction(5, 12), None)  # a cusp is no normal crossing
    assert germ([x * y + x * y * z, x * z * w, x**3]) == germ([x * y, x * z * w, x**3])
    # A term that a monomial divides may be all that keeps another one from being a monomial.
    assert germ([y * z + x * y * w, x * w, x * z]) == germ([y * z, x * w, x * z])
    assert germ([x + y * z, x * w]) == (1, Fraction(1, 2), Fraction(1, 2), 3)  # y·z·w is left
    assert germ([x * (1 + w) - y * z, x * y + y**2 * z]) == (1, Fraction(1, 4), Fraction(1, 4), 1)  # y²·z
    assert germ([]) == (0, 0, 0, 1)


def test_monomials_on_both_sides_decide_m_where_they_agree() -> None:
    ring = PolynomialRing(["a", "b", "c", "d", "e", "f"])
    a, b, c, d, e, f = ring.gens
    agree = reading([a * b, c * d, a * c * e + b**3 * f])
    assert agree == (0, 1, 1, 3, False, False)
    assert _of_monomials(agree).endswith("and m = 3 as for the monomials in it and for all its terms")
    differ = reading([a * b, c * d, a * d + b * c + b * d**2])
    assert differ == (0, 1, 1, None, False, False)
    assert _of_monomials(differ) == "has weights with half their sum 1; m is not known"


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_products_of_forms_have_the_integral_closure_of_their_monomials(n: int, k: int, power: int) -> None:
    """The coefficients of a product of linear forms, one of them to a power: fact 3 has λ and m."""
    ring = PolynomialRing([f"{x}_{i}" for x in "uv" for i in range(n)])
    u, v = ring.gens[:n], ring.gens[n:]
    terms = {(i, j): u[i] ** power * v[j] for i, j in product(range(n), repeat=2)}
    forms = [sum((terms[i, j] for i, j in terms if sorted((i, j)) == [x, y]), ring.zero())
             for x in range(n) for y in range(x, n)]  # fmt: skip
    less = Fraction(n, 2 * power)
    expected = (0, less, less, 2 if power == 1 else 1)
    assert germ([f * (1 + k * u[0]) for f in forms]) == expected


# --- the verb ---


def test_the_verb() -> None:
    network = DeepNetwork((2, 2, 2), (2, 2), t=3)
    found = ag.learning_coefficient(network, depth_two(Q_1=[[1, 2], [2, 4]]))
    assert str(found) == "λ = 9/2, m = 1 (proved)" and "9/2" in found._repr_html_()
    layer = SingleLayer(2, 1, 1)
    w = {"K": [[1, 2]], "Q": [[0, 1]], "V": [[2, 4]]}
    assert ag.learning_coefficient(layer, w).value == Fraction(7, 4)
    assert ag.learning_coefficient(layer, ag.weights(**w)).value == Fraction(7, 4)
    assert ag.learning_coefficient(layer, w, softmax=True).value == Fraction(5, 2)
    assert ag.learning_coefficient(SingleLayer(2, 1, 1, t=1), w).value == Fraction(7, 4)
    # No formula is known where the rows of K and Q do not span, and the bracket closes.
    alone = ag.learning_coefficient(SingleLayer(2, 1, 1, t=1), {"K": [[1, 2]], "Q": [[2, 4]], "V": [[1, 0]]})
    assert isinstance(alone, Bracket) and (alone.value, alone.multiplicity) == (Fraction(7, 4), 1)
    # Floats are the numbers that they are.
    floats = {name: np.array(x, dtype=float) / 4 for name, x in depth_two(Q_1=[[1, 2], [2, 4]]).items()}
    assert ag.learning_coefficient(network, floats).value == Fraction(9, 2)
