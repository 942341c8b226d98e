"""Bilinear layers: four bounds against ranks, a table of small shapes, and what their groups leave."""

from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.arithmetic import RingArithmetic
from agattn.algebra.rank import rank
from agattn.algebra.residues import RowSpace
from agattn.architectures.model_file import read_model
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import products_bound
from agattn.geometry.dimension.jacobian import jacobian_rows
from agattn.geometry.dimension.theorems import BILINEAR, by_supports, products_at_least
from agattn.geometry.identifiability.identifiability import Determination

ROOT = Path(__file__).parents[3]
SIZE = st.integers(1, 6)


def layer(d, n, out, **more):
    return ag.Network([ag.Bilinear(n, out, **more)], dim=d)


def table():
    """Dimensions by (d, n, d')."""
    lines = (Path(__file__).parent / "bilinear.txt").read_text(encoding="utf-8").splitlines()
    rows = [list(map(int, line.split())) for line in lines if line[0] != "#"]
    return {(d, n, out): value for out, d, *values in rows for n, value in enumerate(values, 1)}


def test_ranks_meet_the_least_bound_in_all_shapes_of_the_table():
    shapes = table()
    assert shapes.keys() == {(d, n, out) for d in range(1, 8) for n in range(1, 9) for out in range(1, 6)}
    for shape, value in shapes.items():
        network = layer(*shape)
        bound = products_bound(network)
        assert bound.value == value == rank(jacobian_rows(network, bound), points=1).lower_bound, shape


#: The shapes of the table whose dimension no theorem knows, with the lower bound.
WITHOUT_THEOREM = {
    (5, 4, 3): 42, (5, 5, 4): 56, (5, 6, 5): 72, (6, 5, 3): 61, (6, 7, 5): 101, (7, 5, 3): 73,
    (7, 6, 3): 82, (7, 7, 4): 106, (7, 8, 5): 132,
}  # fmt: skip


def test_the_lower_bound_is_the_dimension_in_all_shapes_of_the_table_but_nine():
    lower = {shape: products_at_least(*shape) for shape in table()}
    assert {
        shape: lower[shape] for shape, value in table().items() if lower[shape] < value
    } == WITHOUT_THEOREM
    assert all(lower[shape] <= value for shape, value in table().items())


def differential(d, points):
    """The rank of (Ḋ, Ġ, U̇) ↦ Σ Ḋ g u + D ġ u + D g u̇, for neurons (D, g, u) over the integers modulo p."""
    p, rows, ones = 1_000_003, [], np.eye(d, dtype=int)
    for D, g, u in points:
        terms = [np.multiply.outer(D, np.outer(x, y)) for e in ones for x, y in ((e, u), (g, e))]
        terms += [np.multiply.outer(e, np.outer(g, u)) for e in np.eye(len(D), dtype=int)]
        rows += [(term + term.swapaxes(1, 2)).ravel() for term in terms]
    space = RowSpace(len(rows[0]), p)
    return space.add(np.array(rows, dtype=np.float64) % p)


@given(SIZE, st.integers(1, 9), st.integers(1, 6))
def test_the_lower_bound_is_the_rank_at_weights_that_are_spread_over_outputs(d, n, out):
    random = Random(d + 10 * n + 100 * out)

    def numbers(size, first=0, last=None):
        return np.array([random.randint(1, 10**6) * (first <= k < (last or size)) for k in range(size)])

    pairs = out // 2
    places = [(i, i + 1) for i in range(n)]
    if n > out:
        places = [(2 * (i % pairs), 2 * (i % pairs) + 2) if pairs else (0, 1) for i in range(n)]
    at = [(numbers(out, *place), numbers(d), numbers(d)) for place in places]
    value = differential(d, at)
    if n <= out or out % 2 == 0 or out == 1:
        assert value == products_at_least(d, n, out)
    else:  # the bound spreads the neurons better
        assert value <= products_at_least(d, n, out)


@given(st.integers(1, 300), st.integers(1, 4000), st.integers(2, 300))
def test_the_lower_bound_misses_a_narrow_band_alone(d, n, out):
    lower, upper = products_at_least(d, n, out), products_bound(layer(d, n, out)).value
    assert lower <= upper
    forms = d * (d + 1) // 2
    if n <= out or out == 2:
        assert lower == upper
    if out % 2 == 0 and d > 1:  # n ≤ d'/2 ⌊x⌋, or n ≥ d'/2 ⌈x⌉
        x = Fraction(forms - n, d - 1)
        if n <= out // 2 * floor(x) or n >= out // 2 * ceil(x):
            assert lower == upper


def test_layers_in_use_are_proved_by_the_theorem():
    for shape, value in {(512, 64, 512): 98176, (768, 3072, 768): 7071744}.items():
        result = dimension(layer(*shape))
        assert (result.dimension, result.evidence, result.theorem) == (value, Evidence.PROVED, BILINEAR)


def test_a_tensor_transformer_of_the_size_of_gpt_2():
    attention = ag.Attention(768, rank=64, heads=12, value_rank=64, mask="causal", skip=True)
    network = ag.Network([attention, ag.Bilinear(3072, 768, skip=True)] * 12, dim=768, tokens=1024)
    heads = ag.Network([attention] * 12, dim=768, tokens=1024)
    result = dimension(network)
    assert result.dimension == by_supports(heads).value + 12 * 3072 * (3 * 768 - 2)
    assert result.evidence is Evidence.PROVED


@given(SIZE, SIZE, st.integers(1, 4), st.integers(1, 3))
def test_tokens_and_skip_connections_change_no_dimension(d, n, out, tokens):
    value = products_bound(layer(d, n, out)).value
    skip = out == d
    result = dimension(ag.Network([ag.Bilinear(n, out, skip=skip)], dim=d, tokens=tokens), points=1)
    assert (result.dimension, result.evidence) == (value, Evidence.PROVED)


@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 400))
def test_the_bounds_are_those_of_the_theorem(d, n, out):
    r, q = min(2 * n, d), min(n, out)
    forms = d * (d + 1) // 2
    both = r * (d - r) + q * (out - q) + q * r * (r + 1) // 2
    value = products_bound(layer(d, n, out)).value
    assert value <= min(n * (2 * d + out), both)
    if out == 1:  # the quadratic forms of rank at most r
        assert value == r * (d - r) + r * (r + 1) // 2
    elif 2 * n <= d:
        assert value == n * (2 * d + out - 2)
    if n >= out * -(-d // 2):
        assert value == out * forms
    if d == 2:  # matrices with three columns
        rho = min(n, out, 3)
        assert value == rho * (out + 3 - rho)


def test_one_output_has_the_orthogonal_group():
    """For 2n ≤ d the fiber has the dimensions of O(2n) and of D; of these the scales alone are linear."""
    for d, n in [(4, 2), (5, 2), (6, 3)]:
        assert ag.identifiability(layer(d, n, 1)).fiber_dimension == n * (2 * n - 1) + n
    assert ag.symmetries(layer(4, 2, 1)).orbit_dimension == 2 * 2


@given(SIZE, SIZE, st.integers(0, 99))
def test_the_orthogonal_group_leaves_the_function(d, n, seed):
    """Σ g_i u_i is left by g ↦ P g, u ↦ P⁻ᵀ u, u ↦ u + A g with A skew, and the exchange of g_i and u_i."""
    generator = np.random.default_rng(seed)

    def integers(*shape):
        return generator.integers(-3, 4, shape).astype(object)

    G, U, X, A = integers(n, d), integers(n, d), integers(3, d, 1), integers(n, n)
    ones = np.full((1, n), 1, dtype=object)
    N, one = np.zeros((n, n), dtype=object), np.eye(n, dtype=object)
    N[0, n - 1] = int(n > 1)
    exchanged = [np.concatenate([F[:1], E[1:]]) for F, E in [(U, G), (G, U)]]
    values = [
        layer(d, n, 1).evaluate(RingArithmetic(), {"G_1": g, "U_1": u, "D_1": ones}, X)
        for g, u in [(G, U), ((one + N) @ G, (one - N).T @ U), (G, U + (A - A.T) @ G), exchanged]
    ]
    assert all((value == values[0]).all() for value in values)


@pytest.mark.parametrize(("d", "n", "out"), [(4, 2, 2), (6, 3, 2), (4, 2, 3)])
def test_neurons_are_determined_up_to_their_scales(d, n, out):
    answer = ag.identifiability(layer(d, n, out))
    assert answer.fiber_dimension == 2 * n
    assert all(row.is_determined for row in answer.parameters)


@pytest.mark.parametrize(
    ("d", "n", "out", "theorem"),
    [
        (4, 2, 2, "agattn.bilinear-neurons"),
        (3, 1, 1, "agattn.bilinear-few-neurons"),
        (4, 3, 3, "agattn.bilinear-few-neurons"),
        (3, 3, 3, None),
        (4, 2, 1, None),
    ],
)
def test_what_is_determined_globally(d, n, out, theorem):
    answer = ag.identifiability(layer(d, n, out))
    neurons, total = answer.functions[0], answer.functions[-1]
    assert answer.theorem == theorem and total.status is Determination.GLOBALLY
    assert (neurons.status is Determination.GLOBALLY) == (theorem is not None)
    if theorem:
        assert {row.status for row in answer.parameters if row.entries > 1} == {Determination.GLOBALLY}
        assert answer["G_1"].extent.endswith("and exchanges with rows of U_1")
        assert answer["D_1"].changed_by == (f"permutations of {n} on G_1, U_1, D_1",) * (n > 1)
        assert neurons.extent == "a permutation" * (n > 1)
    exchanges = answer.symmetries.discrete[-1]
    assert (exchanges.name, exchanges.order, exchanges.arrays) == ("exchanges", 2**n, ("G_1", "U_1"))
    assert answer[neurons.expression] is neurons


def products_in_the_span(n, seed, p=19):
    """How many Σ c_i g_i u_i in 4 variables, up to factors, have at most rank 2, modulo p."""
    g, u = np.random.default_rng(seed).integers(0, p, (2, n, 4))
    forms = g[:, :, None] * u[:, None, :] + g[:, None, :] * u[:, :, None]
    c = np.stack(np.meshgrid(*[np.arange(p)] * n, indexing="ij"), axis=-1).reshape(-1, n)
    first = c[np.arange(len(c)), (c != 0).argmax(axis=1)]
    S = np.einsum("ci,iab->cab", c[first == 1], forms) % p
    for rows in combinations(range(4), 3):
        for a, b, e in combinations(range(4), 3):
            x, y, z = (S[:, rows, k] for k in (a, b, e))
            S = S[(x * np.cross(y, z)).sum(axis=1) % p == 0]
    return len(S)


def test_a_span_of_few_products_contains_no_others():
    """In 4 variables up to 3 general products are alone in their span; 4 lie in a span with 10 products."""
    for n in (2, 3):
        counts = [products_in_the_span(n, seed) for seed in range(15)]
        assert min(counts) == n and counts.count(n) >= 10
    counts = [products_in_the_span(4, seed) for seed in range(8)]
    assert max(counts) > 4


def test_a_power_behind_the_layer_hides_signs():
    answer = ag.identifiability(ag.Network([ag.Bilinear(2, 2), ag.Power(2)], dim=4))
    assert {row.status for row in answer.functions} == {Determination.LOCALLY} and answer.theorem is None


@pytest.mark.parametrize(("text", "words"), [("G_1[i,:,:]", "rows or columns"), ("G_1[9,:]", "no number 9")])
def test_rows_and_columns_in_functions_that_are_not_there(text, words):
    with pytest.raises(InputError, match=words):
        ag.identifiability(layer(3, 2, 2), text)


def test_eigenvalues_give_the_planes_of_the_neurons():
    """Two outputs as symmetric matrices: S₁⁻¹ S₂ has the eigenvalue D_2i / D_1i on the plane of neuron i."""
    generator = np.random.default_rng(0)
    G, U, D = generator.normal(size=(3, 6)), generator.normal(size=(3, 6)), generator.normal(size=(2, 3))
    S = [sum(D[c, i] * (np.outer(G[i], U[i]) + np.outer(U[i], G[i])) for i in range(3)) for c in range(2)]
    values = np.sort_complex(np.linalg.eigvals(np.linalg.solve(S[0], S[1])))
    expected = np.sort(np.repeat(D[1] / D[0], 2))
    np.testing.assert_allclose(values, expected, atol=1e-5)


def test_a_tensor_transformer_of_the_examples():
    network = read_model(str(ROOT / "examples/tensor-transformer.toml"))
    result = dimension(network)
    assert (result.dimension, result.parameters - result.dimension) == (46, 2 * 4 + 2 * 3)


def test_neurons_are_a_positive_number():
    with pytest.raises(InputError, match="neurons is 0"):
        ag.Bilinear(0, 1)
