"""The ideal: known values, two independent methods, generators over ℤ, and large layers."""

from fractions import Fraction
from itertools import combinations, permutations
from math import comb, prod

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points_of_strata import rank_of_monomials
from weight_spaces_at_points import GradedIdeal

from agattn.algebra.characters import littlewood_richardson, specht_module
from agattn.algebra.polynomial import Variable
from agattn.architectures import SingleLayer
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.ideal import hilbert
from agattn.geometry.ideal import ideal as ideal_module
from agattn.geometry.ideal.equations import Equation, EquationModule
from agattn.geometry.ideal.generators import highest_weight_generators
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.isotypic import _gram, _independent, component, pair_invariants, shapes
from agattn.geometry.ideal.named_families import named_families
from agattn.geometry.ideal.torus_weights import smallest_layer
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring
from agattn.limits import limited
from agattn.workers import processes

# Minimal generators by degree: full eliminations (finite field 32003) where the list says so, all to degree
# 4.
GENERATORS = {
    (2, 1, 2): [0, 0, 0, 1], (2, 1, 1): [0, 3, 0, 0], (2, 2, 1): [0, 15, 0, 5], (2, 2, 2): [0, 5, 0, 10],
    (2, 3, 1): [0, 36, 4, 30], (2, 3, 2): [0, 15, 4, 45], (3, 1, 1): [0, 45, 10, 0],
    (3, 1, 3): [0, 0, 20, 90], (3, 1, 2): [0, 0, 30, 90], (3, 2, 1): [0, 198, 40, 225],
}  # fmt: skip
SMALL = [
    SingleLayer(d, d_out, a)
    for d, d_out, a in [(2, 1, 2), (2, 2, 1), (2, 3, 2), (3, 1, 1), (3, 2, 2), (3, 2, 3)]
]


@pytest.mark.parametrize(("sizes", "expected"), GENERATORS.items())
def test_generators_by_degree_are_those_of_elimination(sizes, expected):
    ideal = compute_ideal(SingleLayer(*sizes), 4)
    assert [piece.minimal_generators for piece in ideal.degrees] == expected
    assert all(piece.evidence is Evidence.PROVED for piece in ideal.degrees)


def brute_force_hilbert_function(layer, degree):
    """The rank of all monomials of one degree at random points, with no symmetry used."""
    random, points = np.random.default_rng(1), []
    for _ in range(comb(layer.ambient_dimension + degree - 1, degree)):
        k, q = random.integers(1000, size=(2, layer.alpha, layer.d))
        points.append(coefficients(layer, k.T @ q, random.integers(1000, size=(layer.d_out, layer.d))))
    return rank_of_monomials(points, degree, 2**31 - 1)


@pytest.mark.parametrize(
    ("sizes", "degree"),
    [((2, 1, 2, 2), 4), ((2, 1, 1, 2), 3), ((2, 2, 1, 2), 3), ((2, 2, 2, 2), 3), ((3, 1, 2, 2), 2), ((3, 1,
    1, 2), 2),
     ((2, 2, 2, 1), 4), ((3, 1, 1, 1), 4)],
)  # fmt: skip
def test_hilbert_function_is_the_rank_of_all_monomials(sizes, degree):
    layer = SingleLayer(*sizes)
    assert compute_ideal(layer, degree).hilbert_function(degree) == brute_force_hilbert_function(
        layer, degree
    )


ONE_TOKEN = [
    SingleLayer(*sizes, t=1) for sizes in [(1, 2, 1), (2, 2, 2), (2, 5, 1), (3, 1, 1), (3, 2, 2), (4, 1, 1)]
]


@pytest.mark.parametrize("layer", [*SMALL, *ONE_TOKEN], ids=str)
def test_modules_are_those_found_at_random_points(layer):
    """By Specht modules; of one token in small spaces, with points of another parametrization."""
    points, ideal = GradedIdeal(layer), compute_ideal(layer, 4 if layer.t == 1 else 3)
    for piece in ideal.degrees:
        ring, coordinate, generators = points.characters(piece.degree)
        assert ideal.modules(piece.degree, of="ring") == ring
        assert ideal.modules(piece.degree, of="coordinate_ring") == coordinate
        assert ideal.modules(piece.degree, of="minimal_generators") == generators
        assert piece.evidence is Evidence.PROVED


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_modules_add_up_and_fit_the_source(d, d_out, a, degree):
    layer = SingleLayer(d, d_out, a)
    piece = compute_ideal(layer, degree).degrees[-1]
    assert piece.ideal_dimension + piece.hilbert_function == comb(
        layer.ambient_dimension + degree - 1, degree
    )
    assert piece.minimal_generators <= piece.ideal_dimension
    for module in piece.modules:
        lam, mu, nu = module.shapes
        assert 0 <= module.coordinate_ring <= littlewood_richardson(nu, lam, mu)
        assert 0 <= module.minimal_generators <= module.ideal
        if len(mu) > layer.alpha:
            assert module.coordinate_ring == 0
    if d >= 2:
        assert piece.hilbert_function <= double_locus_bound(layer, degree)


def test_double_locus_bound_is_not_reached_at_4_1_4():
    layer = SingleLayer(4, 1)
    assert compute_ideal(layer, 3).hilbert_function(3) == 11080
    assert double_locus_bound(layer, 3) > 11080


@pytest.mark.parametrize("d_out", range(1, 9))
@pytest.mark.parametrize("a", [1, 2])
def test_hilbert_function_for_two_dimensional_tokens(d_out, a):
    layer = SingleLayer(2, d_out, a)
    ideal = compute_ideal(layer, 5)
    for n in range(1, 6):
        assert ideal.hilbert_function(n) == double_locus_bound(layer, n)


@pytest.mark.slow
def test_double_locus_bound_is_sharp_for_two_dimensional_tokens():
    assert double_locus_bound_is_sharp(a=1, max_degree=12)
    assert double_locus_bound_is_sharp(a=2, max_degree=10)


@pytest.mark.parametrize("a", [1, 2])
def test_products_have_the_weight_that_they_are_for(a, monkeypatch):
    """A monomial of another weight would be counted as a function of this one."""
    tried, products = set(), hilbert._products

    def checked(bases, n, weight, random):
        found = products(bases, n, weight, random)
        exponents = hilbert._exponents(found)
        assert (exponents.sum(axis=1) == n).all() and (exponents @ hilbert._ONES == weight).all()
        tried.add((n, weight))
        return found

    monkeypatch.setattr(hilbert, "_products", checked)
    assert hilbert.double_locus_bound_is_sharp.__wrapped__(a, 5)
    weights = {weight for n, weight in tried if n == 5}
    assert weights >= {(c, b, i) for c in (3, 4, 5) for b in range(3, c + 1) for i in range(5, 11)}
    assert ((3, 4, 5) in weights) == (a == 1)  # for a = 2 the exchange makes (4, 3, 5) of it


@pytest.mark.parametrize("weight", [(1, 1, 1, 1), (3, 2, 2, 3), (4, 3, 2, 4), (4, 4, 2, 6)])
@pytest.mark.parametrize("a", [1, 2])
def test_a_bound_that_is_not_met_is_seen(a, weight, monkeypatch):
    bound = hilbert._bound_at
    monkeypatch.setattr(hilbert, "_bound_at", lambda a, *at: bound(a, *at) + (at == weight))
    assert not hilbert.double_locus_bound_is_sharp.__wrapped__(a, 4)


@pytest.mark.parametrize("d", [2, 3])
def test_one_output_of_rank_one_has_the_hilbert_function_of_a_symmetric_product(d):
    layer = SingleLayer(d, 1, 1)
    ideal = compute_ideal(layer, 4)
    for n in range(1, 5):
        m = comb(n + d - 1, n)
        assert ideal.hilbert_function(n) == m * m * (m + 1) // 2 == double_locus_bound(layer, n)


def test_attention_head_of_gpt2():
    layer = SingleLayer(768, 64, 64)
    ideal = compute_ideal(layer, 3)
    assert ideal.degrees[1].ideal_dimension == comb(64, 2) * comb(768, 2) * comb(771, 4)
    assert ideal.modules(2) == {((1, 1), (1, 1), (4,)): 1}
    assert ideal.degrees[2].ideal_dimension == 132011846438025762497286373376
    assert set(ideal.modules(3, of="minimal_generators")) == {
        ((3,), (3,), (2, 2, 2)), ((3,), (1, 1, 1), (3, 3)), ((1, 1, 1), (3,), (3, 3))
    }  # fmt: skip


def test_workers_change_nothing():
    layer = SingleLayer(3, 2, 2)
    assert compute_ideal(layer, 3, workers=2).as_json() == compute_ideal(layer, 3).as_json()


@pytest.mark.parametrize(("long", "memory", "expected"), [(0, None, [3]), (0, 64, [2]), (1e9, None, [])])
def test_all_processors_work_where_that_is_worth_it_and_the_memory_allows_it(
    monkeypatch, long, memory, expected
):
    started, steps = [], []

    def counted(number):
        started.append(number)
        return processes(number)

    monkeypatch.setattr("agattn.geometry.ideal.ideal.processes", counted)
    monkeypatch.setattr("agattn.workers.processors", lambda: 3)
    monkeypatch.setattr("agattn.workers.LONG", long)
    monkeypatch.setattr("agattn.geometry.ideal.ideal.bytes_by_modules", lambda layer, last: 30 * 2**20)
    layer = SingleLayer(2, 1)
    with limited(native=memory, progress=steps.append):
        found = compute_ideal(layer, 3)
    assert started == expected and found == compute_ideal(layer, 3)
    assert any("2 are used" in step for step in steps) is (memory is not None)


ALL_GENERATORS = [
    (layer, tuple(shape))
    for layer in [*SMALL, SingleLayer(4, 4, 2)]
    for degree in (2, 3, 4)
    for shape in shapes(degree, layer.d_out, layer.d)
    if (degree < 4 or layer.d < 4) and component(shape).minimal_generators(layer.alpha)
]


@pytest.mark.parametrize(("layer", "shape"), ALL_GENERATORS, ids=str)
def test_generators_are_highest_weight_vectors_that_vanish(layer, shape):
    vectors = highest_weight_generators(shape, layer)
    assert len(vectors) == component(shape).minimal_generators(layer.alpha)
    for vector in vectors:
        assert vector.torus_weight == shape
        raises = ((factor, r) for factor, size in enumerate(layer.gl_sizes) for r in range(1, size))
        assert not any(vector.move(factor, r + 1, r).terms for factor, r in raises)
        assert vector.vanishes_on(smallest_layer(shape, layer))
        assert max(map(abs, vector.terms.values())) <= 10


@pytest.mark.parametrize(("alpha", "degree"), [(1, 3), (1, 4), (2, 4)])
def test_minors_generate_all_modules_of_more_rows(alpha, degree):
    """Cauchy's formula against the products of coordinates and equations of one degree less."""
    edge = [component(shape) for shape in shapes(degree, 2, 3) if len(shape[1]) == alpha + 1]
    assert any(space.ring for space in edge)
    for space in edge:
        assert space.ideal(alpha) == (space.count_products(True) if space.ring else 0)


def test_relations_of_many_digits_are_made_short():
    space = component(((3, 2), (3, 2), (5, 3, 2)))  # some have 72 bits
    assert len(space.product_tensors(3)) == space.ideal(3) - space.minimal_generators(3) > 0


def test_a_few_seeds_give_the_invariants_that_all_give():
    for shape in shapes(3, 3, 3):
        space = component(shape)
        seeds = space._seeds(np.eye(1, len(specht_module(shape[0]))))
        from_all = _independent(space._sum(seeds, range(1, 3)))
        assert np.array_equal(space.invariants, from_all.reshape(space.invariants.shape))
        if space.ring:
            moved = type(space)(shape)
            moved.ring = space.ring + 1
            with pytest.raises(ArithmeticError, match="where the characters give"):
                _ = moved.invariants


def test_scalar_products_of_large_integers_are_exact():
    rows = np.random.default_rng(0).integers(-(2**49), 2**49, (3, 5)).astype(float)
    for scale in (2.0**-49, 2.0**-25, 2.0**-20, 1.0):
        whole = np.rint(rows * scale)
        exact = whole.astype(np.int64).astype(object)
        assert _gram(whole).tolist() == (exact @ exact.T).tolist()


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_one_functional_sees_as_much_of_the_images_as_all(degree):
    for shape in shapes(degree, 3, 3):
        space, (lam, mu, nu) = component(shape), map(specht_module, shape)
        if space.ring:
            tensors = space.invariants.reshape(space.ring, len(lam), len(mu), -1)
            sums = [
                space._sum(tensors[:, :, m] @ pair_invariants(nu.shape), range(1, degree), pairs=False)
                for m in range(len(mu))
            ]
            rank = np.linalg.matrix_rank(np.concatenate(sums, axis=1).reshape(space.ring, -1))
            assert rank == space.coordinate_ring


def test_a_changed_coefficient_does_not_vanish():
    [vector] = highest_weight_generators(((4,), (2, 2), (4, 4)), SingleLayer(2, 1))
    changed = dict(vector.terms)
    changed[next(iter(changed))] += 1
    assert not Equation(changed).vanishes_on(SingleLayer(2, 1))


@pytest.mark.parametrize(
    "layer",
    [SingleLayer(2, 2, 1), SingleLayer(3, 1, 3), SingleLayer(2, 2, 2, 1), SingleLayer(3, 1, 1, 1)],
    ids=str,
)
def test_all_equations_are_independent_and_vanish(layer):
    ideal = compute_ideal(layer, 4)
    for module in ideal.generators:
        equations = list(module)
        assert len(equations) == module.dimension
        monomials = sorted({m for e in equations for m in e.terms})
        matrix = flint.fmpz_mat([[e.terms.get(m, 0) for m in monomials] for e in equations])
        assert matrix.rank() == len(equations)
        assert all(equation.vanishes_on(layer) for equation in equations[:: max(1, len(equations) // 10)])


def test_lowering_the_wrong_vector_is_noticed():
    wrong = EquationModule(((2,), (2,), (4,)), (1, 2, 2), Equation({((1, 1, 1, 1), (1, 2, 1, 1)): 1}))
    with pytest.raises(ArithmeticError, match="where there should be"):
        list(wrong)


RING = coordinate_ring(SingleLayer(4, 3))


def y(c, b, i, k):
    return RING.gens[RING.variables.index(Variable("y", (c, b, min(i, k), max(i, k))))]


def determinant(rows):
    """By Leibniz' formula; the entries are polynomials."""
    total = RING.zero()
    for order in permutations(range(len(rows))):
        sign = (-1) ** sum(order[i] > order[j] for i, j in combinations(range(len(order)), 2))
        total = total + sign * prod((row[j] for row, j in zip(rows, order, strict=True)), start=RING.one())
    return total


def binary(c, b):
    """The coefficients of the form y_{c,b} in the first two variables."""
    return [y(c, b, 1, 1), y(c, b, 1, 2), y(c, b, 2, 2)]


def resultant(first, second):
    """The Sylvester resultant of two forms as binary quadratic forms."""
    p, q, zero = binary(*first), binary(*second), RING.zero()
    return determinant([[*p, zero], [zero, *p], [*q, zero], [zero, *q]])


def derivatives(*forms):
    """The determinant of the derivatives in the first two directions of two forms in four variables."""
    columns = [(form, k) for form in forms for k in (1, 2)]
    return determinant([[(1 + (i == k)) * y(*form, i, k) for form, k in columns] for i in (1, 2, 3, 4)])


#: The highest weight vector of each named module, from its definition.
DEFINITIONS = {
    ((1, 1), (1, 1), (4,)): determinant([[y(c, b, 1, 1) for b in (1, 2)] for c in (1, 2)]),
    # the symmetric matrix, 2y_{ii} on the diagonal, of one form in three variables
    ((3,), (3,), (2, 2, 2)): determinant(
        [[(1 + (i == k)) * y(1, 1, i, k) for k in (1, 2, 3)] for i in (1, 2, 3)]
    ),
    ((3,), (1, 1, 1), (3, 3)): determinant([binary(1, 1), binary(1, 2), binary(1, 3)]),
    ((1, 1, 1), (3,), (3, 3)): determinant([binary(1, 1), binary(2, 1), binary(3, 1)]),
    ((4,), (2, 2), (4, 4)): resultant((1, 1), (1, 2)),
    ((2, 2), (4,), (4, 4)): resultant((1, 1), (2, 1)),
    ((4,), (2, 2), (3, 3, 1, 1)): derivatives((1, 1), (1, 2)),
    ((2, 2), (4,), (3, 3, 1, 1)): derivatives((1, 1), (2, 1)),
    # the derivatives of four forms in the first direction
    ((2, 2), (2, 2), (5, 1, 1, 1)): determinant(
        [[(1 + (i == 1)) * y(c, b, 1, i) for c in (1, 2) for b in (1, 2)] for i in (1, 2, 3, 4)]
    ),
}
#: Minors of the matrix with rows b and columns (c, {i, k}), of size α + 1.
FLATTENING_MINORS = {
    ((2,), (1, 1), (3, 1)): determinant([[y(1, b, 1, 1), y(1, b, 1, 2)] for b in (1, 2)]),
    ((3,), (1, 1, 1), (4, 1, 1)): determinant([[y(1, b, 1, i) for i in (1, 2, 3)] for b in (1, 2, 3)]),
}


def test_every_name_to_degree_4_has_a_definition():
    assert {family.shapes for family in named_families() if family.degree <= 4} == set(DEFINITIONS)


@pytest.mark.parametrize("shapes", [*DEFINITIONS, *FLATTENING_MINORS], ids=str)
def test_named_equations_are_the_generators_of_their_module(shapes):
    lam, mu, nu = shapes
    minors = shapes in FLATTENING_MINORS
    layer = SingleLayer(max(len(nu), len(mu)), len(lam), len(mu) - 1 if minors else None)
    [generator] = highest_weight_generators(shapes, layer)
    named = Equation.from_polynomial((DEFINITIONS | FLATTENING_MINORS)[shapes])
    assert named.terms == generator.primitive().terms


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (2, 3)])
def test_partial_derivatives_span_no_more_than_rows_and_columns(rows, columns):
    """Of V_c·A_b they lie in the span of the V_c and A_b; the bound is sharp at random weights."""
    d, random = 7, np.random.default_rng(0)
    V, A = (random.integers(-5, 6, size=(many, d)) for many in (rows, columns))
    hessians = [np.outer(v, a) + np.outer(a, v) for v in V for a in A]
    assert flint.fmpz_mat(np.hstack(hessians).tolist()).rank() == rows + columns


def test_membership():
    layer = SingleLayer(3, 1)
    ideal = compute_ideal(layer, 4)
    point = list(coefficients(layer, [[1, 2, 3], [4, 5, 6], [7, 8, 10]], [[1, -2, 3]]))
    assert ideal.contains(point)
    point[0] += Fraction(1, 2)
    assert not ideal.contains(point)
    with pytest.raises(InputError, match="18"):
        ideal.contains([0])


def test_one_token_is_proved_and_finds_products_of_a_line_and_a_conic():
    ideal = compute_ideal(SingleLayer(3, 1, 1, 1), 4)
    assert [piece.minimal_generators for piece in ideal.degrees] == [0, 0, 0, 35]
    assert ideal.degrees[3].evidence is Evidence.PROVED
    [module] = ideal.generators
    assert module.highest.vanishes_on(SingleLayer(3, 1, 1, 1))
    # With a = 2 every cubic V(x)·q(x) has a conic of any rank: nothing new in the line times conic.
    assert compute_ideal(SingleLayer(3, 1, 2, 1), 4).hilbert_function(4) >= ideal.hilbert_function(4)


def test_shown_forms():
    ideal = compute_ideal(SingleLayer(2, 1), 4)
    assert repr(ideal) == "Ideal of M(2,1,2) to degree 4: 1 quartic"
    assert r"S_{(4)} \otimes S_{(2,2)} \otimes S_{(4,4)}" in ideal._repr_latex_()
    assert repr(compute_ideal(SingleLayer(2, 1), 2)).endswith("no equations")


@pytest.mark.parametrize(
    ("d", "d_out", "a", "t", "degree", "runs"),
    [
        (2, 1, 2, 2, 4, True), (2, 1, 2, 2, 7, True), (2, 1, 2, 2, 11, False), (3, 2, 2, 2, 5, True),
        (3, 2, 2, 2, 6, True), (3, 3, 3, 2, 10, False), (6, 1, 1, 2, 5, True),
        (6, 6, 6, 2, 6, False), (1, 1, 1, 2, 10, True),
        (1, 1, 1, 2, 11, False), (1, 3, 1, 2, 10, True), (1, 8, 1, 2, 10, True), (768, 64, 64, 2, 4, True),
        (768, 64, 64, 2, 30, False), (10**9, 10**9, 10**9, 2, 3, True), (10**9, 1, 1, 2, 10**9, False),
        (10**9, 10**9, 10**9, 2, 7, False), (2, 1, 2, 1, 12, True), (2, 1, 2, 1, 100, True),
        (3, 1, 3, 1, 13, False), (1, 1, 1, 1, 100, True), (1, 1, 1, 1, 101, False),
        (10**6, 10**6, 1, 1, 1, False), (10**6, 10**6, 1, 1, 10**6, False),
    ],
)  # fmt: skip
def test_degrees_beyond_reach_are_refused_before_anything_is_computed(
    monkeypatch, d, d_out, a, t, degree, runs
):
    class StartedError(Exception):
        pass

    def start(*given):
        raise StartedError

    monkeypatch.setattr(ideal_module, "piece_of_modules", start)
    monkeypatch.setattr(ideal_module, "_pieces_one_token", start)
    counted = []
    whole = ideal_module.specht_dimension
    monkeypatch.setattr(
        ideal_module, "specht_dimension", lambda shape: counted.append(sum(shape)) or whole(shape)
    )
    with pytest.raises(StartedError if runs else TooLargeError):
        compute_ideal(SingleLayer(d, d_out, a, t), degree)
    assert max(counted, default=0) <= 20 and len(counted) < 3000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "quintics"),
    [
        ((4, 1, 1), {}),
        ((3, 2, 2), {((4, 1), (4, 1), (6, 3, 1)): 4032, ((4, 1), (4, 1), (4, 3, 3)): 288,
                     ((3, 2), (3, 2), (5, 3, 2)): 450}),
    ],
)  # fmt: skip
def test_degree_four_suffices_for_some_layers_and_not_for_others(sizes, quintics):
    ideal = compute_ideal(SingleLayer(*sizes), max_degree=5)
    found = {module.shapes: module.dimension for module in ideal.generators if module.degree == 5}
    assert found == quintics and ideal.degrees[4].minimal_generators == sum(quintics.values())
    assert ideal.degrees[4].evidence is Evidence.PROVED


def test_with_one_token_too_large_sizes_are_computed_if_forced(monkeypatch):
    def refuse(layer, degree):
        raise TooLargeError("too large")

    monkeypatch.setattr(ideal_module, "_check_size_one_token", refuse)
    layer = SingleLayer(2, 1, t=1)
    with pytest.raises(TooLargeError):
        compute_ideal(layer, 2)
    assert compute_ideal(layer, 2, force=True).hilbert_function(2) == 10


def test_with_one_token_the_first_degree_that_is_too_large_is_named():
    with pytest.raises(TooLargeError, match="degree 3 in 336 coordinates has 6378736 monomials"):
        compute_ideal(SingleLayer(6, 6, t=1), 4)
    piece = compute_ideal(SingleLayer(6, 6, t=1), 2).degrees[-1]
    assert piece.ideal_dimension + piece.hilbert_function == 336 * 337 // 2


def test_equations_have_places_as_in_a_list():
    ideal = compute_ideal(SingleLayer(2, 1, 1), max_degree=2)
    equations = list(ideal)
    assert len(equations) == len(ideal) == 3 and ideal[:2] == equations[:2]
    assert [ideal[n] for n in range(-3, 3)] == [*equations, *equations]
    for n in (3, -4):
        with pytest.raises(IndexError, match="there are 3 equations"):
            ideal[n]
    assert ideal != compute_ideal(SingleLayer(2, 1, 2), max_degree=2) and ideal.hilbert_function(0) == 1
    with pytest.raises(InputError, match="degree 3 was not computed"):
        ideal.hilbert_function(3)
