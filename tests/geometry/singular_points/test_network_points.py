"""Kinds of points of networks: known values, an independent differential, and the strata of one layer."""

from types import SimpleNamespace

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import DeepNetwork, SingleLayer
from agattn.algebra.arithmetic import RingArithmetic
from agattn.evidence import Evidence
from agattn.geometry.identifiability.families import ExactWeights
from agattn.geometry.singular_points import tangents as room
from agattn.geometry.singular_points.arguments import by_theorem
from agattn.geometry.singular_points.kinds import kinds
from agattn.geometry.singular_points.singularities import closure_of, facts, singularities
from agattn.geometry.singular_points.tangents import Tangents
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.verification.strata_table import strata_table

WIDE = DeepNetwork((3, 3, 2), (3, 3), t=3)
P = 2**31 - 1


@pytest.fixture(scope="module")
def wide():
    return singularities(WIDE)


def named(network, *names):
    """What is known at the kinds of these names."""
    closure = closure_where_the_dimension_is_known(network)
    found = {kind.name: kind for kind in kinds(network)}
    return [facts(found[name], closure) for name in names]


def closure_where_the_dimension_is_known(network):
    closure = closure_of(network)
    assert closure.known.lower_bound == closure.known.upper_bound == closure.at_most
    return closure


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


@pytest.mark.slow
def test_conclusions_follow_from_what_was_found(wide):
    for point in wide.kinds:
        more = point.tangent_lower > point.dimension
        limit = point.name == "M_1 = K skew, M_2 = k qᵀ in its plane"  # of singular points
        assert (point.singular == "singular") == (more or limit)
        if point.singular == "smooth branch":
            assert point.differential_rank == point.dimension and point.argument == "immersion"
        low, high = point.fiber
        assert low <= high and high >= WIDE.parameters - 22
    assert [point.name for point in wide.kinds if point.is_zero] == wide.zeros
    assert wide["M_1 = k qᵀ, M_2 skew"].is_zero and not wide["M_1 and M_2 skew"].is_zero
    assert wide["rk M_1 = 1"].fiber == (32, 32)  # three dimensions of skew matrices beyond the generic 29


def test_the_kinds_are_found_by_name_and_in_their_order(wide):
    assert list(wide) == list(wide.kinds) and len(wide) == len(wide.kinds) > 20
    assert wide["rk M_1 = 1"] is wide.kinds[1] and wide["rk M_1 = 1"] in wide
    with pytest.raises(KeyError, match="no such kind"):
        wide["no such kind"]


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
    found = facts(kind, closure_where_the_dimension_is_known(network))
    M, L = kind.virtual
    through_values = min(flint.fmpz_mat(kind.weights["V_1"][0].tolist()).rank(), 2)
    largest = differential_rank(M, L, 2, 8)
    if through_values == 2:  # K, Q and V move (M, L) in all directions
        assert found.differential_rank == largest
    assert found.differential_rank <= largest


@pytest.mark.slow
@pytest.mark.parametrize(
    "network",
    [
        DeepNetwork((3, 3, 1), (3, 3), t=1),
        DeepNetwork((2, 2, 1), (2, 2), t=2),
        DeepNetwork((3, 2), (2,), t=2),
    ],
    ids=str,
)
def test_ranks_and_fibers_are_those_of_weights_of_the_kind(network):
    """Other weights with the function may have another rank; the first witness has the one that is said."""
    closure, n = closure_where_the_dimension_is_known(network), network.parameters
    dim = closure.dimension
    for kind in kinds(network):
        found = facts(kind, closure)
        first = found.preimages[0]
        assert ExactWeights(network, first).differential_rank(seed=7) == found.differential_rank, kind.name
        assert found.as_json()["witness"][0]["V_1"] == [
            [str(x) for x in row] for row in kind.weights["V_1"][0].tolist()
        ]
        products = [(w["K_1"][0].T @ w["Q_1"][0]).tolist() for w in (first, kind.weights)]
        assert products[0] == products[1] and found.kind.ranks == kind.ranks
        low, high = found.fiber
        assert n - dim <= low <= high <= n - found.differential_rank, kind.name


def test_a_skew_matrix_before_one_in_its_plane_has_rank_zero_at_one_token():
    """F_K(X) = 0 at one token, to second order; the exchanged order has rank 6."""
    (found,) = named(DeepNetwork((3, 3, 1), (3, 3), t=1), "M_1 = K skew, M_2 = A in its plane")
    assert found.differential_rank == 0 and found.is_zero and found.is_critical


def test_every_number_has_its_own_evidence():
    """Purity proves the point singular; the eighth tangent vector rests on a rank modulo a prime."""
    low, generic = named(DeepNetwork((2, 2, 1), (2, 2), t=2), "rk V_1 = 1", "generic")
    assert (low.singular, low.argument, low.evidence.value) == ("singular", "purity", "proved")
    assert (low.tangent_lower, low.tangent_evidence.value) == (8, "modular")
    document = low.as_json()
    assert document["tangent_lower_evidence"] == "modular" and document["evidence"] == "proved"
    assert document["zero_evidence"] == "proved"
    keys = ("rank", "critical", "tangent_lower", "fiber_dimension_at_most")
    assert {generic.as_json()[f"{key}_evidence"] for key in keys} == {"proved"}
    (factors,) = named(DeepNetwork((2, 2, 1), (2, 2), t=2), "M_2 = k qᵀ, L = h kᵀ")
    assert factors.rank_evidence is factors.fiber_evidence is factors.critical_evidence is Evidence.MODULAR
    assert factors.fiber[1] < 22 - factors.differential_rank  # by second derivatives, so as the rank is


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "filled"),
    [
        (DeepNetwork((2, 1), (1,), t=2, heads=2), True),
        (DeepNetwork((2, 1), (1,), t=1), True),  # all binary cubics with a real factor; V x · xᵀAx
        (DeepNetwork((1, 1, 1), (1, 1), t=2), True),
        (DeepNetwork((1, 1), (1,), t=2, skip=True), True),
        (DeepNetwork((3, 1), (2,), t=2, heads=2), False),
        (DeepNetwork((2, 2), (2,), t=2, skip=True), False),
    ],
    ids=str,
)
def test_a_network_that_fills_its_space_is_smooth_everywhere(network, filled):
    found = singularities(network)
    count = len(coefficient_map(network).coordinates)
    assert (found.dimension.dimension == count) == filled
    if not filled:
        assert "affine space" not in {point.argument for point in found.kinds}
        return
    assert found.closedness.startswith("M̄ is an affine space, smooth everywhere.")
    assert found.dimension.evidence is Evidence.PROVED
    for point in found.kinds:
        assert (point.singular, point.argument) == ("smooth", "affine space"), point.name
        assert point.evidence is point.tangent_evidence is Evidence.PROVED
        assert point.tangent_lower == count


def test_that_heads_cancel_is_proved_by_all_coefficients():
    heads = DeepNetwork((3, 2), (2,), t=2, heads=2)
    (found,) = named(heads, "heads that cancel")
    assert found.is_zero and found.zero_evidence is Evidence.PROVED
    assert (found.singular, found.argument, found.evidence) == ("singular", "cone", Evidence.PROVED)


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
    assert sum(have_one_function(network, kind) > 1 for kind in kinds(network, pairs=True)) > 3


def have_one_function(network, kind):
    """How many preimages are named, which must have one function."""
    X = np.random.default_rng(3).integers(-4, 5, (3, *network.input_shape)).astype(object)
    values = [network.evaluate(RingArithmetic(), weights, X).tolist() for weights in kind.preimages]
    assert all(value == values[0] for value in values), kind.name
    return len(values)


def test_moved_weights_have_one_function(wide):
    """What is called a preimage is one, also where skew matrices were added."""
    found = {point.name: have_one_function(WIDE, point) for point in wide.kinds}
    assert found["rk M_1 = 1"] > 3


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


@pytest.mark.slow
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
    [kind] = [kind for kind in kinds(WIDE) if kind.name == "M_1 and M_2 skew"]
    at = ExactWeights(WIDE, kind.preimages[0])
    said = by_theorem(at, is_critical=True)
    assert said and (said.conclusion, said.argument) == ("singular", "purity")
    assert by_theorem(at, is_critical=False) is None


@pytest.mark.parametrize("dims", [(2, 2, 1), (2, 2, 2), (2, 3, 2)])
def test_skew_points_of_two_dimensional_tokens_are_singular(dims):
    """The differential has rank dim M there, and the function no other weights where rk M_2 = 1."""
    found = named(DeepNetwork(dims, (2, 2), t=2), "M_1 skew", "M_2 skew", "M_1 skew, rk M_2 = 1")
    assert {(one.singular, one.evidence.value, one.is_critical) for one in found} == {
        ("singular", "proved", False)
    }


def test_kinds_with_a_skew_matrix_before_one_of_rank_one(wide):
    """Decided where Proposition 9 decides; with k kᵀ and three tokens only the branch is known."""
    said = {name: wide[name].singular for name in wide.zeros + [point.name for point in wide]}
    assert said["M_1 skew"] == said["M_2 skew"] == said["M_1 skew, rk M_2 = 1"] == "smooth"
    assert said["M_1 = K skew, M_2 = k qᵀ in its plane"] == "singular"
    assert said["M_1 skew, M_2 = k kᵀ"] == said["M_1 and M_2 skew"] == "smooth branch"
    [two_tokens] = named(DeepNetwork((3, 3, 2), (3, 3), t=2), "M_1 skew, M_2 = k kᵀ")
    assert (two_tokens.singular, two_tokens.argument, two_tokens.is_critical) == ("singular", "purity", False)


def test_proportional_quadrics_at_one_token_drop_the_rank_by_all_forms_of_their_degree():
    """σ_1 = σ_2 of rank 3: the kernel has the six quadratic forms modulo a scaling."""
    [equal] = named(DeepNetwork((3, 3, 1), (3, 3), t=1), "M_1 = M_2")
    assert (equal.differential_rank, equal.dimension) == (8, 13)


def test_functions_of_different_weights_are_no_preimages():
    tangents = Tangents(WIDE, 22)
    one, other = (ExactWeights(WIDE, kind.preimages[0]) for kind in kinds(WIDE)[:2])
    with pytest.raises(AssertionError, match="two"):
        tangents.span([one, other])


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        ({(0, 0): 1, (1, 2): 1}, {(0, 0): 1, (1, 1): 1, (2, 2): 1}, (False, "one-point fiber")),
        ({(0, 0): 1, (1, 2): 1}, {(1, 2): 1}, (True, "several branches")),
        ({(0, 0): 1, (1, 2): 1}, {(1, 1): 1, (2, 2): 1}, (True, "several branches")),
        ({(0, 1): 1}, {(1, 1): 1, (2, 2): 1}, (True, "purity")),  # x₁ divides the form of M_1 and L
        ({(1, 2): 1}, {(0, 1): 1, (1, 1): 1}, (True, "purity")),  # x₂ divides those of M_1 and M_2
    ],
)
def test_points_at_one_token_by_the_factors_of_their_forms(first, last, found):
    """Where L = (1, 0, 0): M̄ has several branches if the last form is a product of two linear forms."""
    M = []
    for entries in (first, last):
        matrix = np.zeros((3, 3), dtype=object)
        for place, x in entries.items():
            matrix[place] = x
        M.append(matrix)
    point = SimpleNamespace(M=M, L=np.array([[1, 0, 0]], dtype=object))
    assert room._at_one_token(point) == found
