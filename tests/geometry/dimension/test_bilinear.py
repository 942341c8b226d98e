"""Bilinear layers: four bounds against ranks, the table of the documentation, and what their groups leave."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.arithmetic import RingArithmetic
from agattn.algebra.rank import rank
from agattn.architectures.model_file import read_model
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import products_bound
from agattn.geometry.dimension.jacobian import jacobian_rows

ROOT = Path(__file__).parents[3]
SIZE = st.integers(1, 6)


def layer(d, n, out, **more):
    return ag.Network([ag.Bilinear(n, out, **more)], dim=d)


def table():
    """Dimensions by (d, n, d'), as the page has them."""
    text = (ROOT / "docs/networks/bilinear-proofs.md").read_text(encoding="utf-8")
    rows = [list(map(int, re.findall(r"\d+", row))) for row in re.findall(r"^\| \d.*$", text, re.MULTILINE)]
    return {(d, n, out): value for out, d, *values in rows for n, value in enumerate(values, 1)}


def test_ranks_meet_the_least_bound_in_all_shapes_of_the_table():
    shapes = table()
    assert shapes.keys() == {(d, n, out) for d in range(1, 8) for n in range(1, 9) for out in range(1, 6)}
    for shape, value in shapes.items():
        network = layer(*shape)
        bound = products_bound(network)
        assert bound.value == value == rank(jacobian_rows(network, bound), points=1).lower_bound, shape


SHOWN = {
    (5, 2, 1): 14, (6, 2, 1): 18, (4, 3, 3): 27, (5, 3, 3): 33, (4, 6, 4): 40, (2, 2, 3): 8, (3, 3, 4): 21,
    (7, 3, 1): 27,
}  # fmt: skip


@pytest.mark.parametrize("shape, value", SHOWN.items())
def test_dimensions_are_proved(shape, value):
    result = dimension(layer(*shape))
    assert (result.dimension, result.evidence) == (value, Evidence.PROVED)


@given(SIZE, SIZE, st.integers(1, 4), st.integers(1, 3))
def test_tokens_and_skip_connections_change_no_dimension(d, n, out, tokens):
    value = products_bound(layer(d, n, out)).value
    skip = out == d
    result = dimension(ag.Network([ag.Bilinear(n, out, skip=skip)], dim=d, tokens=tokens), points=1)
    assert result.dimension == value


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


def test_sizes_in_use_have_bounds_without_a_jacobian():
    result = dimension(layer(768, 3072, 768))
    assert result.upper_bound == 3072 * (3 * 768 - 2)
    assert result.smaller is not None and result.lower_bound > 0


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
    assert {str(row.status) for row in answer.parameters} == {"locally"}


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
