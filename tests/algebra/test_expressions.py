"""Expressions of sympy become polynomials and maps by their structure; polynomials become expressions."""

from fractions import Fraction
from itertools import product

import sympy
from hypothesis import given
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.polynomial import PolynomialRing, evaluate

X, Y, Z = sympy.symbols("x y z")
RING = PolynomialRing(["x", "y", "z"])
leaves = st.sampled_from([X, Y, Z]) | st.fractions(max_denominator=9).map(sympy.Rational)
expressions = st.recursive(
    leaves,
    lambda inner: (
        st.builds(sympy.Add, inner, inner)
        | st.builds(sympy.Mul, inner, inner)
        | st.builds(sympy.Pow, inner, st.integers(1, 3))
    ),
    max_leaves=8,
)


@given(expressions)
def test_there_and_back(expression):
    gens = dict(zip((X, Y, Z), RING.gens, strict=True))
    found = RING.one() * evaluate(expression, gens)  # which is a number for an expression without symbols
    assert sympy.expand(sympy.sympify(found) - expression) == 0
    assert RING.one() * evaluate(sympy.sympify(found), gens) == found


@given(expressions, st.tuples(*[st.fractions(max_denominator=5)] * 3))
def test_values_are_those_of_sympy(expression, point):
    value = evaluate(expression, dict(zip((X, Y, Z), point, strict=True)))
    expected = expression.subs({s: sympy.Rational(v) for s, v in zip((X, Y, Z), point, strict=True)})
    assert Fraction(int(expected.p), int(expected.q)) == value


def test_floats_are_the_numbers_that_they_stand_for():
    assert evaluate(0.5 * X + 0.1, {X: Fraction(1)}) == Fraction(1, 2) + Fraction(0.1)


def test_a_deep_expression_needs_no_recursion():
    deep = X
    for _ in range(5000):
        deep = sympy.Add(sympy.Mul(X, deep, evaluate=False), sympy.Integer(1), evaluate=False)
    assert evaluate(deep, {X: 1}) == 5001


def test_a_map_of_expressions_is_the_map_of_the_function():
    a, b, x, y = sympy.symbols("a b x y")
    given_as = sympy.Matrix([[a * x + b * y, a * y], [b * x, (a + b) ** 2 * x]])
    made = ag.PolynomialMap.of_expressions(given_as, [a, b], [x, y], name="mixed")

    def mixed(a, b, X):
        return [[a * X[0] + b * X[1], a * X[1]], [b * X[0], (a + b) ** 2 * X[0]]]

    same = ag.PolynomialMap(mixed, {"a": (), "b": ()}, inputs=2)
    assert (str(made), made.output_shape, made.degree) == (str(same), same.output_shape, same.degree)
    assert ag.dimension(made).dimension == ag.dimension(same).dimension == 2


def test_equations_in_sympy_vanish_on_the_layer():
    layer = ag.SingleLayer(2, 1)
    k = sympy.Matrix(2, 2, sympy.symbols("a:4"))
    v = sympy.symbols("v:2")
    u = sympy.symbols("u:2")
    forms = [
        sympy.Poly(sum(v[i] * u[i] for i in range(2)) * sum(k[i, b] * u[i] for i in range(2)), *u)
        for b in range(2)
    ]
    values = {
        sympy.Symbol(f"y_1_{b + 1}_{i + 1}_{j + 1}"): forms[b].coeff_monomial(u[i] * u[j])
        for b, (i, j) in product(range(2), ((0, 0), (0, 1), (1, 1)))
    }
    equations = [sympy.sympify(equation) for equation in ag.ideal(layer, max_degree=4)]
    assert equations and all(sympy.expand(equation.subs(values)) == 0 for equation in equations)
