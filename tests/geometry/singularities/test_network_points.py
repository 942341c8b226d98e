"""Kinds of points of networks: known values, an independent differential, and the strata of one layer."""

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import DeepNetwork, InputError, SingleLayer
from agattn.algebra.arithmetic import RingArithmetic
from agattn.errors import TooLargeError
from agattn.geometry.singularities.families import Weights
from agattn.geometry.singularities.kinds import kinds
from agattn.geometry.singularities.network_points import by_theorem, facts, singularities
from agattn.geometry.singularities.tangents import Tangents
from agattn.verification.strata_table import strata_table

WIDE = DeepNetwork((3, 3, 2), (3, 3), t=3)
P = 2**31 - 1


@pytest.fixture(scope="module")
def wide():
    return singularities(WIDE)


def named(network, *names):
    """What is known at the kinds of these names."""
    dimension = singularities_dimension(network)
    found = {kind.name: kind for kind in kinds(network)}
    return [facts(found[name], dimension, dimension) for name in names]


def singularities_dimension(network):
    from agattn.geometry.dimension.dimension import dimension

    found = dimension(network)
    assert found.lower_bound == found.upper_bound
    return found.dimension


@pytest.mark.parametrize(
    ("dims", "t", "name", "rank", "span"),
    [
        ((3, 3, 2), 3, "rk M_1 = 1", 19, 29),
        ((4, 4, 1), 2, "rk M_1 = 1", 28, 59),
        ((3, 3, 3, 2), 3, "rk M_1 = 1", 24, 34),
        ((3, 3, 3, 2), 3, "rk M_2 = 1", 27, 37),
        ((3, 3, 2), 3, "rk M_2 = rk L = 1", 22, 28),
        ((4, 4, 1), 2, "rk M_2 = rk L = 1", 34, 43),
        ((3, 3, 3, 2), 3, "rk M_3 = rk L = 1", 30, 36),
        ((2, 2, 2), 3, "rk M_1 = 1", 9, 10),
        ((2, 2, 2), 3, "M_1 and M_2 skew", 7, None),
        ((2, 2, 2), 3, "M_1 = k qᵀ, M_2 = q qᵀ, L = h qᵀ", 8, None),
        ((3, 3, 2), 3, "M_2 = k qᵀ, L = h kᵀ", 20, None),
    ],
)
def test_the_ranks_and_spans_of_the_literature(dims, t, name, rank, span):
    """At (4,1,2,2) four preimages span 52 dimensions, all of them 59."""
    (found,) = named(DeepNetwork(dims, dims[:-1], t=t), name)
    assert found.differential_rank == rank
    if span is not None:
        assert found.tangent_lower == span
        assert (found.singular == "singular") == (span > found.dimension)
        assert found.evidence.value == "proved"


def test_conclusions_follow_from_what_was_found(wide):
    for point in wide.kinds:
        more = point.tangent_lower > point.dimension
        assert (point.singular == "singular") == more
        if point.singular == "smooth branch":
            assert point.differential_rank == point.dimension and point.argument == "immersion"
        low, high = point.fiber
        assert low <= high and high >= WIDE.parameters - 22
    assert [point.name for point in wide.kinds if point.is_zero] == wide.zeros
    assert wide["M_1 = k qᵀ, M_2 skew"].is_zero and not wide["M_1 and M_2 skew"].is_zero
    assert wide["rk M_1 = 1"].fiber == (32, 32)  # three dimensions of skew matrices beyond the generic 29


def evaluated(M, L, X):
    """L·F_l(…F_1(X)) and F_i(Y) = Y YᵀM_i Y, modulo P."""
    for m in M:
        X = X.dot(X.T.dot(m).dot(X)) % P
    return L.dot(X) % P


def differential_rank(M, L, t, rows):
    """The rank of (M, L) ↦ φ by differences in each coordinate, which are exact for a polynomial."""
    generator = np.random.default_rng(5)
    inputs = [generator.integers(0, P, (L.shape[1], t)).astype(object) for _ in range(rows)]
    degree = 3 ** len(M)
    table = flint.nmod_mat(
        degree + 1, degree + 1, [pow(s, n, P) for s in range(degree + 1) for n in range(degree + 1)], P
    )
    row = [int(table.inv()[1, n]) for n in range(degree + 1)]
    images = []
    for which in range(len(M) + 1):
        for place in np.ndindex((*M, L)[which].shape):
            value = 0
            for s, c in enumerate(row):
                moved = [m.copy() for m in (*M, L)]
                moved[which][place] += s
                values = np.concatenate([evaluated(moved[:-1], moved[-1], X).ravel() for X in inputs])
                value = (value + c * values) % P
            images.append(value.tolist())
    return flint.nmod_mat(len(images), len(images[0]), [int(x) for image in images for x in image], P).rank()


@settings(max_examples=12)
@given(st.data())
def test_the_rank_is_that_of_an_independent_differential(data):
    network = data.draw(
        st.sampled_from([DeepNetwork((2, 2, 1), (2, 2), t=2), DeepNetwork((2, 3, 2), (2, 3), t=2)])
    )
    kind = data.draw(st.sampled_from(kinds(network, pairs=True, seed=data.draw(st.integers(0, 9)))))
    dimension = singularities_dimension(network)
    found = facts(kind, dimension, dimension)
    M, L = kind.virtual
    assert found.differential_rank == differential_rank(M, L, 2, 8)


@pytest.mark.parametrize(
    "network",
    [
        DeepNetwork((3, 3, 2), (2, 3), t=2),
        DeepNetwork((3, 2, 3), (2, 1), t=2),
        DeepNetwork((2, 3, 2), (3, 2), t=3),
        DeepNetwork((2, 2, 2), (2, 1), t=1),
    ],
    ids=str,
)
def test_preimages_have_one_function_over_the_integers(network):
    X = np.random.default_rng(3).integers(-4, 5, (3, *network.input_shape)).astype(object)
    several = 0
    for kind in kinds(network, pairs=True):
        values = [network.evaluate(RingArithmetic(), weights, X).tolist() for weights in kind.preimages]
        assert all(value == values[0] for value in values), kind.name
        several += len(values) > 1
    assert several > 3


def test_moved_weights_have_one_function(wide):
    """What is called a preimage is one, also where skew matrices were added."""
    X = np.random.default_rng(3).integers(-4, 5, (2, 3, 3)).astype(object)
    for point in wide.kinds:
        values = [WIDE.evaluate(RingArithmetic(), w, X).tolist() for w in point.preimages]
        assert all(value == values[0] for value in values), point.name
    assert len(wide["rk M_1 = 1"].preimages) > 3


@pytest.mark.parametrize("layer", [SingleLayer(3, 2, 2), SingleLayer(2, 2, 1), SingleLayer(3, 1, 3)], ids=str)
def test_one_layer_agrees_with_its_strata(layer):
    """Every function of a stratum is singular or none is, which is proved there by other computations."""
    table = {(row.stratum.r_v, row.stratum.r_a, row.stratum.r): row for row in strata_table(layer).rows}
    decided = 0
    for point in singularities(layer.as_network(), pairs=True).kinds:
        weights = point.preimages[0]
        A, V = weights["K_1"][0].T @ weights["Q_1"][0], weights["V_1"][0]
        r_v, r_a = (int(flint.fmpz_mat(m.tolist()).rank()) for m in (V, A))
        both = np.concatenate([V, A.T]).tolist()
        stratum = (0, 0, 0) if 0 in (r_v, r_a) else (r_v, r_a, int(flint.fmpz_mat(both).rank()))
        singular = table[stratum].tangent.singular
        if point.singular == "singular":
            assert singular is True, (point.name, stratum)
            decided += 1
        elif point.singular == "smooth branch" and singular:
            assert stratum == (1, 1, 2)  # two branches
    assert decided


def test_several_heads_and_skips_are_asked_of_their_matrices():
    names = {point.name for point in singularities(DeepNetwork((2, 2, 2), (2, 2), t=2, skip=True)).kinds}
    assert "rk A_1 = 1" in names and not any("M_1" in name for name in names)
    heads = singularities(DeepNetwork((3, 2), (2,), t=2, heads=2))
    assert heads["V_1,1 = 0"].is_critical and not heads["generic"].is_critical
    assert heads["heads that cancel"].is_zero and heads["a common V"].is_critical


def test_a_kernel_that_symmetries_explain_proves_the_rank(wide):
    assert {point.rank_evidence.value for point in wide.kinds if point.differential_rank == 22} == {"proved"}
    assert wide["rk M_1 = 1"].rank_evidence.value == "proved"


def test_critical_skew_points_are_singular_by_purity_in_three_dimensions():
    """Theorem 3 speaks where none of the others does, and of points that are proved critical alone."""
    for network, expected in ((WIDE, ("singular", "purity")), (DeepNetwork((2, 2, 1), (2, 2), t=2), None)):
        [kind] = [kind for kind in kinds(network) if kind.name == "M_1 = M_2 skew of rank 2"]
        at = Weights(network, kind.preimages[0])
        assert by_theorem(at, is_critical=True) == expected
        assert by_theorem(at, is_critical=False) is None


def test_functions_of_different_weights_are_no_preimages():
    tangents = Tangents(WIDE, 22, 0)
    one, other = (Weights(WIDE, kind.preimages[0]) for kind in kinds(WIDE)[:2])
    with pytest.raises(AssertionError, match="two"):
        tangents.span([one, other])


@pytest.mark.parametrize(
    ("network", "error", "words"),
    [
        (DeepNetwork((9, 9, 9), (9, 9), t=2), TooLargeError, "parameters; the limit is 300"),
        (DeepNetwork((1,) * 8, (1,) * 7, t=2), TooLargeError, "layers; the limit is 5"),
        (DeepNetwork((2, 2), (2,), t=2, normalization="softmax"), InputError, "lightning"),
        (DeepNetwork((2, 2), (2,), t=2, value_rank=1), InputError, "--value-rank"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused(network, error, words):
    with pytest.raises(error, match=words):
        singularities(network)
