"""Equations of any polynomial map: the literature, the paper's layers, and no method at all."""

from collections import Counter
from fractions import Fraction
from itertools import accumulate, combinations, combinations_with_replacement, product
from math import comb

import flint
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.ideal import implicitization, multigrading, weight_spaces
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.implicitization import Border, Implicitization
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.ideal.multigrading import MapArrays, pivot_columns, pivots_and_rest
from agattn.geometry.ideal.weight_spaces import modules_by_weights
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.geometry.variety.coordinates import coefficients
from agattn.limits import limited
from agattn.workers import processes


def segre(*sizes):
    return tensors(1, *sizes)


def tensors(terms, *sizes):
    """Sums of so many products of vectors: the secant varieties of Segre varieties."""
    names = "abcd"[: len(sizes)]

    def entries(**factors):
        out = []
        for index in product(*map(range, sizes)):
            total = 0
            for k in range(terms):
                term = 1
                for name, i in zip(names, index, strict=True):
                    term = term * factors[name][k, i]
                total = total + term
            out.append(total)
        return out

    return ag.PolynomialMap(
        entries, {n: (terms, s) for n, s in zip(names, sizes, strict=True)}, name="tensors"
    )


def tangents(a, b, c, u, v, w):
    """The tangential variety of P¹×P¹×P¹."""
    return [
        u[i] * b[j] * c[k] + a[i] * v[j] * c[k] + a[i] * b[j] * w[k]
        for i, j, k in product(range(2), repeat=3)
    ]


def minors(columns):
    pairs = list(combinations(range(columns), 2))
    return ag.PolynomialMap(
        lambda M: [M[0, i] * M[1, j] - M[0, j] * M[1, i] for i, j in pairs], {"M": (2, columns)}
    )


def powers(terms, degree, variables):
    """Sums of powers of linear forms: secant varieties of Veronese varieties."""
    return ag.Network([ag.Perceptron([terms, 1], degree=degree)], dim=variables)


def scroll(s, u):
    return [s[k] * u[0] ** i * u[1] ** (2 - i) for k in range(2) for i in range(3)]


def sunlet(a, b):
    """A network of four species in a cycle, for two states: CFN, in Fourier coordinates."""
    out = []
    for g in product(range(2), repeat=4):
        if sum(g) % 2 == 0:
            leaves, one, two = 1, 1, 1
            for i in range(4):
                leaves = leaves * a[i, g[i]]
            for j in range(3):
                one = one * b[j, sum(g[: j + 1]) % 2]
                two = two * b[j + 1, sum(g[1 : j + 2]) % 2]
            out.append(leaves * (one + two))
    return out


def joined(s, t, m, n):
    return [s[i] * t[j] for i in range(2) for j in range(2)] + [
        m[i] * n[j] for i in range(2) for j in range(2)
    ]


LITERATURE = {
    "twisted cubic": (
        ag.PolynomialMap(lambda s: [s[0] ** (3 - i) * s[1] ** i for i in range(4)], {"s": 2}),
        [0, 3, 0],
    ),
    "the same, affine": (ag.PolynomialMap(lambda s: [s, s**2, s**3], {"s": ()}), [0, 3, 0]),
    "rational normal quartic": (powers(1, 4, 2), [0, 6, 0]),
    "scroll S(2,2)": (ag.PolynomialMap(scroll, {"s": 2, "u": 2}), [0, 6, 0]),
    "Gr(2,4)": (minors(4), [0, 1, 0]),
    "Gr(2,5)": (minors(5), [0, 5, 0]),
    "P1×P2": (segre(2, 3), [0, 3, 0]),
    "P2×P2": (segre(3, 3), [0, 9, 0]),
    "join of two P1×P1": (ag.PolynomialMap(joined, dict.fromkeys("stmn", 2)), [0, 2, 0]),
    "3×4 of rank 2": (ag.Network([ag.Linear(2), ag.Linear(3)], dim=4), [0, 0, 4]),
    "symmetric 4×4 of rank 2": (powers(2, 2, 4), [0, 0, 10]),
    "two binary quartics": (powers(2, 4, 2), [0, 0, 1, 0]),
    "two binary quintics": (powers(2, 5, 2), [0, 0, 4, 0]),
    "three ternary cubes: Aronhold": (powers(3, 3, 3), [0, 0, 0, 1]),
    "tangents of P1×P1×P1: Cayley": (ag.PolynomialMap(tangents, dict.fromkeys("abcuvw", 2)), [0, 0, 0, 1]),
    "σ2 of P1×P1×P1: everything": (tensors(2, 2, 2, 2), [0, 0, 0, 0]),
    "σ2 of P1×P1×P1×P1": (tensors(2, 2, 2, 2, 2), [0, 0, 32]),
    "σ3 of P1×P1×P1×P1, defective": (tensors(3, 2, 2, 2, 2), [0, 0, 0, 2]),
    "σ3 of P2×P2×P2: Strassen": (tensors(3, 3, 3, 3), [0, 0, 0, 27]),
    "sunlet of four species": (ag.PolynomialMap(sunlet, {"a": (4, 2), "b": (4, 2)}), [0, 1, 0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LITERATURE)
def test_generators_of_the_literature_are_proved(name):
    model, expected = LITERATURE[name]
    ideal = ag.ideal(model, len(expected))
    assert [piece.minimal_generators for piece in ideal.degrees] == expected
    assert {piece.evidence for piece in ideal.degrees} == {Evidence.PROVED}
    assert len(list(ideal)) == sum(expected)


def test_the_first_equations_of_a_grassmannian_and_of_a_cubic_curve():
    [pluecker] = ag.ideal(minors(4), 2)
    assert str(pluecker) == "y_3*y_4 - y_2*y_5 + y_1*y_6"
    curve = ag.ideal(LITERATURE["the same, affine"][0], 2)
    assert {str(equation) for equation in curve} == {
        "-y_1^2 + y_0*y_2", "-y_1*y_2 + y_0*y_3", "-y_2^2 + y_1*y_3"
    }  # fmt: skip
    assert curve.affine and curve.dimension == 1 and curve.as_json()["ambient"] == 3
    assert curve.contains([1, 2, 4, 8]) and not curve.contains([1, 2, 4, 9])


def test_deep_masked_and_multi_head_models():
    causal = ag.Network([ag.Attention(1, rank=2, mask="causal")], dim=2, tokens=2)
    found, known = ag.ideal(causal, 4), compute_ideal(ag.SingleLayer(2, 1), 4)
    assert found.hilbert_function(4) == known.hilbert_function(4)
    two = ag.DeepNetwork(dims=(2, 1), ranks=(2,), t=2, heads=2)  # fills its six coordinates
    assert ag.ideal(two, 4).generators == () and ag.dimension(two).lower_bound == 6
    # With A_1 and A_2 of rank 1 the matrix of forms with rows b has rank 2: 3-minors.
    heads = ag.ideal(ag.DeepNetwork((3, 1), (1,), 2, heads=2), 4)
    assert [piece.minimal_generators for piece in heads.degrees] == [0, 0, 20, 0]
    filters = ag.Network([ag.Convolution(2, 2), ag.Convolution(2, 1)], dim=4)
    assert ag.ideal(filters, 3).dimension == 3


def test_a_hypersurface_is_complete():
    source = coefficient_map(LITERATURE["tangents of P1×P1×P1: Cayley"][0])
    ideal = compute_model_ideal(source, 7)
    assert ideal.complete_by == "hypersurface" and ideal.dimension == 7
    computed = [(p.hilbert_function, p.minimal_generators) for p in Implicitization(source).pieces(7)]
    assert [(p.hilbert_function, p.minimal_generators) for p in ideal.degrees[1:]] == computed
    assert [piece.way for piece in ideal.degrees] == ["multidegrees"] * 4 + ["hypersurface"] * 3


PRIME = 2**31 - 1


def rank(rows):
    columns = len(rows[0]) if rows else 0
    return flint.nmod_mat(len(rows), columns, [int(x) for row in rows for x in row], PRIME).rank()


def residue(x):
    return x.numerator * pow(x.denominator, -1, PRIME) % PRIME


def brute_force(polynomials, last):
    """Hilbert function and numbers of minimal generators, by all monomials at random points."""
    p, n = PRIME, len(polynomials)
    random = np.random.default_rng(1)
    count = comb(n + last - 1, last) + 3
    points = [[int(x) for x in random.integers(p, size=len(polynomials[0].ring))] for _ in range(count)]
    values = [[residue(f(*point)) for point in points] for f in polynomials]
    kernel, found = [], []
    for degree in range(1, last + 1):
        monomials = list(combinations_with_replacement(range(n), degree))
        rows = []
        for monomial in monomials:
            row = [1] * count
            for k in monomial:
                row = [x * y % p for x, y in zip(row, values[k], strict=True)]
            rows.append(row)
        columns = {monomial: place for place, monomial in enumerate(monomials)}
        products = []
        for vector in kernel:
            for k in range(n):
                out = [0] * len(monomials)
                for monomial, x in vector.items():
                    out[columns[tuple(sorted((*monomial, k)))]] = x
                products.append(out)
        basis, nullity = flint.nmod_mat(
            count, len(monomials), [row[c] for c in range(count) for row in rows], p
        ).nullspace()
        kernel = [
            {m: int(basis[place, j]) for place, m in enumerate(monomials) if basis[place, j]}
            for j in range(nullity)
        ]
        found.append((len(monomials) - nullity, nullity - rank(products)))
    return found


@st.composite
def maps(draw):
    """Some polynomials with few terms in two or three parameters: homogeneous or not, dependent, constant."""
    variables = draw(st.integers(2, 3))
    term = st.tuples(*[st.integers(0, 2)] * variables)
    coefficient = st.sampled_from([1, -1, 2, Fraction(1, 2), Fraction(-3, 5)])
    constant = st.dictionaries(st.just((0,) * variables), coefficient, max_size=1)
    output = st.dictionaries(term, coefficient, max_size=3) | constant
    return draw(st.lists(output, min_size=2, max_size=5).filter(
        lambda found: all(any(key[v] for f in found for key in f) for v in range(variables))
    )), variables  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(maps())
def test_random_maps_against_brute_force(given_map):
    found, variables = given_map

    def function(θ):
        out = []
        for terms in found:
            total = 0 * θ[0]
            for exponents, x in terms.items():
                term = x
                for v, e in enumerate(exponents):
                    if e:
                        term = term * θ[v] ** e
                total = total + term
            out.append(total)
        return out

    source = coefficient_map(ag.PolynomialMap(function, {"θ": variables}))
    ideal = compute_model_ideal(source, 3)
    polynomials = [source.ring.one()] * ideal.affine + list(source.polynomials)
    expected = brute_force(polynomials, 3)
    found = [p.hilbert_function for p in ideal.degrees]
    assert [(p.hilbert_function, p.minimal_generators) for p in ideal.degrees] == expected
    assert all(p.evidence is Evidence.PROVED for p in ideal.degrees)
    # Polynomials of degree at most n: with y_0 = 1, whether or not the image is a cone.
    at_most = found if ideal.affine else [1 + n for n in accumulate(found)]
    assert at_most == [n for n, _ in brute_force([source.ring.one(), *source.polynomials], 3)]
    values = dict(zip(ideal.coordinates, polynomials, strict=True))
    for equation in ideal:
        f = equation.polynomial()
        assert not f.compose([values[v.indices] for v in f.ring.variables])


LAYERS = [(2, 1, 2, 2), (3, 1, 1, 2), (3, 1, 1, 1), (2, 2, 1, 2), (3, 1, 3, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", LAYERS)
def test_the_general_way_finds_the_same_ideal_as_that_of_the_layer(sizes):
    layer = ag.SingleLayer(*sizes)
    last = 4 if layer.ambient_dimension <= 12 else 3
    source = coefficient_map(layer)
    ideal, own = compute_model_ideal(source, last), compute_ideal(layer, last)
    for piece, other in zip(ideal.degrees, own.degrees, strict=True):
        numbers = (piece.ideal_dimension, piece.hilbert_function, piece.minimal_generators)
        assert numbers == (other.ideal_dimension, other.hilbert_function, other.minimal_generators)
    # Each coordinate is one of the layer's.
    random = np.random.default_rng(0)
    weights = {name: random.integers(1, 10**6, shape).astype(object) for name, shape in layer.shapes.items()}
    ys = coefficients(layer, weights["K"].T @ weights["Q"], weights["V"]).tolist()
    names = dict(zip(ys, own.coordinates, strict=True))
    moved = {(k,): names[value] for k, value in enumerate(source.values(weights), 1)}
    assert len(set(moved.values())) == len(ys)
    terms_of = [
        {tuple(sorted(moved[index] for index in monomial)): x for monomial, x in equation.terms.items()}
        for equation in ideal
    ]
    # Both vanish on the layer, and with what follows from them have the dimension of all that does.
    for equations in ([e.terms for e in own], terms_of):
        assert all(Equation(terms).vanishes_on(layer) for terms in equations)
        for n in range(2, last + 1):
            columns = {m: k for k, m in enumerate(combinations_with_replacement(own.coordinates, n))}
            rows = []
            for terms in equations:
                more = n - len(next(iter(terms)))
                for factor in combinations_with_replacement(own.coordinates, more) if more >= 0 else ():
                    row = [0] * len(columns)
                    for monomial, x in terms.items():
                        row[columns[tuple(sorted((*monomial, *factor)))]] = x
                    rows.append(row)
            assert rank(rows) == own.degrees[n - 1].ideal_dimension


def test_what_is_not_proved_says_so(monkeypatch):
    model = LITERATURE["three ternary cubes: Aronhold"][0]
    monkeypatch.setattr(implicitization, "MOST_PRODUCTS", 10)
    ideal = ag.ideal(model, 4)
    assert [piece.evidence.value for piece in ideal.degrees] == ["proved", "proved", "proved", "modular"]
    assert [group.evidence.value for group in ideal.generators] == ["modular"]
    monkeypatch.setattr(implicitization, "_MOST_PRIMES", 0)
    monkeypatch.setattr(implicitization, "_rationals", lambda *_: None)
    ideal = ag.ideal(model, 4)
    assert ideal.degrees[3].minimal_generators == 1 and ideal.generators == ()
    assert ideal.degrees[3].evidence is Evidence.MODULAR


def test_an_equation_that_does_not_vanish_is_refused(monkeypatch):
    monkeypatch.setattr(Implicitization, "lift", lambda self, block: [{(0, 0): 1}])
    with pytest.raises(ArithmeticError, match="does not vanish"):
        ag.ideal(minors(4), 2)


def test_equations_that_hold_modulo_the_first_prime_alone_are_not_lifted():
    prime = Implicitization(coefficient_map(ag.PolynomialMap(lambda s: [s[0], s[1]], {"s": 2}))).prime
    plane = ag.PolynomialMap(lambda s: [s[0] ** 50, s[0] ** 50 + prime * s[1]], {"s": 2})
    quadrics = compute_model_ideal(coefficient_map(plane), 2).degrees[1]
    assert quadrics.minimal_generators == 2 and quadrics.evidence is Evidence.MODULAR


def test_minimal_generators_in_a_degree_with_equations_from_below_are_proved_or_modular(monkeypatch):
    layer = coefficient_map(ag.SingleLayer(2, 2, 1))
    assert compute_model_ideal(layer, 4).degrees[3].evidence is Evidence.PROVED
    monkeypatch.setattr(implicitization, "MOST_ENTRIES", 0)
    assert compute_model_ideal(layer, 4).degrees[3].evidence is Evidence.MODULAR


@pytest.mark.parametrize("replaced", [3, 64])
def test_random_relations_say_what_all_relations_say(monkeypatch, replaced):
    """Whether all equations come from lower degrees, however many monomials are replaced at a time."""
    monkeypatch.setattr(implicitization, "_REPLACED", replaced)
    said, outside = Counter(), Counter()
    shortly = Border._all_are_lower

    def both(border):
        found = shortly(border)
        assert found is (len(border._lower()) == int((~border.standard).sum()))
        inside, numbers = set(border.codes.tolist()), [lead for _, lead, _ in border.products]
        outside[found] += any(number not in inside for lead in numbers for number in lead.tolist())
        said[found] += 1
        return found

    monkeypatch.setattr(Border, "_all_are_lower", both)
    *_, quartics = modules_by_weights(ag.SingleLayer(3, 2, 2), 4)
    assert sum(numbers.minimal_generators for numbers in quartics.values()) > 0
    assert min(said.values()) > 1 and min(outside[True], outside[False]) > 0, (said, outside)


def test_limits_and_refusals(monkeypatch):
    monkeypatch.setattr(weight_spaces, "MOST_MONOMIALS", 100)
    with pytest.raises(TooLargeError, match="126 monomials; the limit is 100"):
        ag.ideal(minors(4), 4)
    assert ag.ideal(minors(4), 4, force=True).hilbert_function(4) == 105
    monkeypatch.undo()
    monkeypatch.setattr(implicitization, "MOST_CANDIDATES", 1)
    with pytest.raises(TooLargeError, match="the limit is 1"):
        ag.ideal(minors(4), 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "free"),
    [
        (ag.SingleLayer(3, 2, 2, 1), 9),  # of 18: K = (1 *), less 5 rescalings
        (ag.DeepNetwork((2, 2, 1), (1, 1), 2), 4),
        (ag.DeepNetwork((2, 2), (2,), 2, heads=2), 10),
        (ag.Network([ag.Perceptron([2, 2], degree=2)], dim=3), 4),
        (ag.Network([ag.Linear(2), ag.Linear(3)], dim=3), 3),
    ],
)  # fmt: skip
def test_monomials_are_as_independent_on_the_slice_as_everywhere(model, free, monkeypatch):
    source = coefficient_map(model)
    image, there = Implicitization(source), Implicitization(source)
    ring, sliced = there.map.slice()
    assert len(ring) == free

    def points(p, count):
        theta = there.map.random.integers(p, size=(len(ring), count)).T.tolist()
        return np.array([[int(f(*at)) % p for at in theta] for f in sliced])

    monkeypatch.setattr(there.map, "points", points)
    assert [p.hilbert_function for p in there.pieces(3)] == [p.hilbert_function for p in image.pieces(3)]


@pytest.mark.parametrize(
    ("zero", "equations"),
    [
        (ag.PolynomialMap(lambda A, X: A @ X - A @ X, {"A": (2, 2)}, 2), []),
        (ag.PolynomialMap(lambda A: 0 * A, {"A": 2}), ["y_1", "y_2"]),
    ],
)
def test_a_function_that_is_0(zero, equations):
    """Its image is a point: without coordinates where there are inputs, else with all of them 0."""
    ideal = ag.ideal(zero, 3)
    assert list(map(str, ideal)) == equations
    assert [piece.hilbert_function for piece in ideal.degrees] == [0, 0, 0]
    assert all(piece.evidence is Evidence.PROVED for piece in ideal.degrees)
    found = ag.singularities(zero)
    assert found.dimension.dimension == 0 and all(kind.singular != "singular" for kind in found.kinds)


CONSTANTS = [
    (lambda s: [s[0], 3, s[0] ** 2], 1, ["3*y_0 - y_2", "-y_1^2 + y_0*y_3"]),
    (lambda s: [s[0], 3], 1, ["3*y_0 - y_2"]),
    (lambda s: [s[0], 1], 1, ["y_0 - y_2"]),
    (lambda s: [3, s[0] ** 2 + 1, s[0]], 1, ["3*y_0 - y_1", "y_0^2 - y_0*y_2 + y_3^2"]),
    (lambda s: [s[0] * s[1], s[0], 1, s[1]], 2, ["y_0 - y_3", "y_0*y_1 - y_2*y_4"]),
    (lambda s: [s[0], Fraction(1, 2), 0, 5], 1, ["y_3", "y_0 - 2*y_2", "5*y_0 - y_4"]),
    (lambda s: [7, 0 * s[0]], 0, ["y_2", "7*y_0 - y_1"]),
]


@pytest.mark.parametrize(("function", "dimension", "equations"), CONSTANTS)
def test_an_output_that_is_constant_has_an_equation(function, dimension, equations):
    ideal = ag.ideal(ag.PolynomialMap(function, {"s": max(dimension, 1)}), 2)
    assert ideal.affine and ideal.dimension == dimension
    assert sorted(map(str, ideal)) == sorted(equations)
    assert {piece.evidence for piece in ideal.degrees} == {Evidence.PROVED}


@pytest.mark.engine("macaulay2", "singular", "msolve")
@pytest.mark.parametrize("engine", ["macaulay2", "singular", "msolve"])
@pytest.mark.parametrize(("function", "dimension"), [row[:2] for row in CONSTANTS if row[1]])
def test_engines_find_the_same_equations_of_maps_with_constant_outputs(engine, function, dimension):
    model = ag.PolynomialMap(function, {"s": dimension})
    theirs = ag.run(model, "implicit-ideal", engine).answer.polynomials["generators"]
    ring = theirs[0].ring
    projective = PolynomialRing([Variable("y", (0,)), *ring.variables])
    affine = [ring.one(), *ring.gens]
    ours = [equation.polynomial(projective).compose(affine) for equation in ag.ideal(model, 3)]
    variables = sympy.symbols([variable.name for variable in ring.variables])
    assert sympy.groebner(ours, *variables) == sympy.groebner(theirs, *variables)


def test_values_modulo_a_prime_that_divides_a_denominator_are_none():
    f = MapArrays(coefficient_map(ag.PolynomialMap(lambda s: [s[0] ** 2 / 101, s[0] * s[1]], {"s": 2})))
    theta = np.array([[3], [5]])
    assert f.values(theta, 103).ravel().tolist() == [9 * pow(101, -1, 103) % 103, 15]
    for function in (f.values, lambda theta, p: f.jacobian(theta[:, 0], p)):
        with pytest.raises(ZeroDivisionError, match="101 divides a denominator"):
            function(theta, 101)


@given(st.lists(st.lists(st.integers(0, 6), min_size=5, max_size=5), max_size=6))
def test_pivots_of_small_and_of_large_matrices(rows):
    """By FLINT and by blocks; the other columns are the combinations of the pivots that are told."""
    matrix, found = np.array(rows, dtype=np.int64).reshape(-1, 5), []
    for small in (20_000, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(multigrading, "_SMALL", small)
            pivots, rest, combinations = pivots_and_rest(matrix, 7)
            assert pivot_columns(matrix, 7).tolist() == pivots.tolist()
        assert ((matrix[:, pivots] @ combinations.T - matrix[:, rest]) % 7 == 0).all()
        found.append((pivots.tolist(), rest.tolist(), combinations.tolist()))
    assert found[0] == found[1]


def test_exchanges_along_few_axes_come_first_and_end_at_the_limit(monkeypatch):
    f = MapArrays(coefficient_map(ag.PolynomialMap(lambda A, b: A @ b, {"A": (2, 3), "b": 3})))
    rows = np.concatenate(list(f._exchanges())).tolist()
    assert rows == [
        [3, 4, 5, 0, 1, 2, 6, 7, 8],
        [1, 0, 2, 4, 3, 5, 6, 7, 8], [0, 2, 1, 3, 5, 4, 6, 7, 8],
        [0, 1, 2, 3, 4, 5, 7, 6, 8], [0, 1, 2, 3, 4, 5, 6, 8, 7],
        [1, 0, 2, 4, 3, 5, 7, 6, 8], [0, 2, 1, 3, 5, 4, 6, 8, 7],
    ]  # fmt: skip
    monkeypatch.setattr(multigrading, "_MOST_EXCHANGES", 4)
    assert np.concatenate(list(f._exchanges())).tolist() == rows[:3]


def ideals():
    """An ideal by multidegrees, with equations of several degrees; and modules by weight spaces."""
    line = ag.Network([ag.Perceptron([2, 2], degree=2)] * 2, dim=2)
    modules = str([*modules_by_weights(ag.SingleLayer(3, 2, 1), 4)])
    return [compute_model_ideal(coefficient_map(line), 3).as_json(), modules]


def test_processes_give_the_same_equations(monkeypatch):
    started = []

    def counted(number):
        started.append(number)
        return processes(number)

    monkeypatch.setattr("agattn.workers.processes", counted)
    alone = ideals()
    assert not started
    monkeypatch.setattr("agattn.workers.LONG", 0)
    with limited(workers=2):
        assert ideals() == alone and set(started) == {2}
    with limited(workers=1):
        assert ideals() == alone
