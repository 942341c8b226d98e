import re
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.polynomial import PolynomialRing, Variable

VARIABLES = (Variable("A", (1, 2)), Variable("V", (1,)), Variable("x"))
RATIONALS = PolynomialRing(VARIABLES)
PRIME = 101
MODULAR = PolynomialRing(VARIABLES, PRIME)

numbers = st.fractions(min_value=-50, max_value=50, max_denominator=60)
exponents = st.tuples(*[st.integers(0, 4)] * 3)
points = st.tuples(*[numbers] * 3)


def polynomials(ring):
    return st.builds(ring.from_terms, st.dictionaries(exponents, numbers, max_size=5))


rings = pytest.mark.parametrize("ring", [RATIONALS, MODULAR], ids=repr)


@rings
@given(st.data())
def test_ring_axioms(ring, data):
    f, g, h = (data.draw(polynomials(ring)) for _ in range(3))
    zero, one = ring.zero(), ring.one()
    assert f + g == g + f and (f + g) + h == f + (g + h)
    assert f * g == g * f and (f * g) * h == f * (g * h)
    assert f * (g + h) == f * g + f * h
    assert f + zero == f == f * one and f - f == zero and f + (-f) == zero
    assert f * zero == zero and not zero and one
    assert f**0 == one and f**3 == f * f * f
    # A domain: no product of two polynomials vanishes unless one of them does.
    assert bool(f * g) == (bool(f) and bool(g))
    if f and g:
        assert (f * g).degree() == f.degree() + g.degree()


@rings
@given(st.data(), numbers)
def test_numbers_act_as_constants(ring, data, number):
    f = data.draw(polynomials(ring))
    constant = ring.from_terms({(0, 0, 0): number})
    assert f + number == number + f == f + constant
    assert f * number == number * f == f * constant
    assert number - f == constant - f == -(f - number)
    assert constant == number
    if constant:
        assert f / number * number == f


@rings
@given(st.data())
def test_evaluation_is_a_homomorphism_and_terms_say_all(ring, data):
    f, g = data.draw(polynomials(ring)), data.draw(polynomials(ring))
    if ring.characteristic:
        point, modulo = data.draw(st.tuples(*[st.integers(0, PRIME - 1)] * 3)), lambda x: x % PRIME
    else:
        point, modulo = data.draw(points), lambda x: x
    assert (f + g)(*point) == modulo(f(*point) + g(*point))
    assert (f * g)(*point) == modulo(f(*point) * g(*point))
    by_hand = sum(c * point[0] ** e[0] * point[1] ** e[1] * point[2] ** e[2] for e, c in f.terms.items())
    assert f(*point) == modulo(by_hand)
    assert ring.from_terms(f.terms) == f
    assert hash(ring.from_terms(f.terms)) == hash(f)


@rings
@given(st.data())
def test_derivative_is_a_derivation(ring, data):
    f, g = data.draw(polynomials(ring)), data.draw(polynomials(ring))
    for x in ring.gens:
        assert (f * g).derivative(x) == f.derivative(x) * g + f * g.derivative(x)
        assert [y.derivative(x) for y in ring.gens] == [int(x == y) for y in ring.gens]


@given(polynomials(RATIONALS))
def test_euler(f):
    for degree in range(f.degree() + 1):
        part = RATIONALS.from_terms({e: c for e, c in f.terms.items() if sum(e) == degree})
        assert sum((x * part.derivative(x) for x in RATIONALS.gens), RATIONALS.zero()) == degree * part


@given(polynomials(RATIONALS), st.tuples(*[polynomials(RATIONALS)] * 3), points)
def test_composition_is_substitution(f, images, point):
    if f.degree() * max(g.degree() for g in images) <= 12:
        assert f.compose(images)(*point) == f(*(g(*point) for g in images))


def sympy_poly(f):
    terms = {e: sympy.Rational(c.numerator, c.denominator) for e, c in f.terms.items()}
    return sympy.Poly.from_dict(terms, *sympy.symbols("x:3"), domain="QQ")


@given(polynomials(RATIONALS), polynomials(RATIONALS))
def test_sympy_computes_the_same(f, g):
    assert sympy_poly(f) * sympy_poly(g) == sympy_poly(f * g)


@given(st.dictionaries(exponents, numbers, max_size=5))
def test_reduction_modulo_a_prime(terms):
    f = MODULAR.from_terms(terms)
    for e, c in terms.items():
        assert (f.terms.get(e, 0) * c.denominator - c.numerator) % PRIME == 0
    assert all(0 < c < PRIME for c in f.terms.values())


def test_frobenius():
    f = MODULAR.from_terms({(1, 0, 0): 3, (0, 2, 0): 5, (0, 0, 0): 7})
    assert f**PRIME == MODULAR.from_terms({(PRIME, 0, 0): 3, (0, 2 * PRIME, 0): 5, (0, 0, 0): 7})


@given(polynomials(RATIONALS))
def test_primitive_part(f):
    p = f.primitive()
    assert p.primitive() == p
    if f:
        assert all(c.denominator == 1 for c in p.terms.values())
        ratios = {p.terms[e] / c for e, c in f.terms.items()}
        assert p.terms.keys() == f.terms.keys() and len(ratios) == 1
        assert (-3 * f / 7).primitive() == p


# Printing: a reader of its own for each syntax, so that nothing is checked by the code that wrote it. -------

NAMES = {
    "macaulay2": {"A_(1,2)": 0, "V_1": 1, "x": 2},
    "singular": {"A(1)(2)": 0, "V(1)": 1, "x": 2},
    "latex": {"A_{1,2}": 0, "V_{1}": 1, "x": 2},
}


def parse(text, syntax):
    """Terms of a printed polynomial."""
    times = " " if syntax == "latex" else "*"
    if syntax != "singular":
        text = text.replace(" + ", "\n+").replace(" - ", "\n-")
    else:
        text = text.replace("+", "\n+").replace("-", "\n-").lstrip("\n")
    terms = {}
    for piece in text.split("\n"):
        coefficient, vector = Fraction(-1 if piece.startswith("-") else 1), [0, 0, 0]
        for factor in piece.lstrip("+-").split(times):
            if re.fullmatch(r"\d+(/\d+)?", factor):
                coefficient *= Fraction(factor)
            else:
                name, _, power = factor.partition("^")
                vector[NAMES[syntax][name]] += int(power.strip("{}") or 1)
        assert tuple(vector) not in terms
        if coefficient:
            terms[tuple(vector)] = coefficient
    return terms


@pytest.mark.slow
@rings
@pytest.mark.parametrize("syntax", NAMES)
@given(st.data())
def test_printing_loses_nothing(ring, syntax, data):
    f = data.draw(polynomials(ring))
    assert parse(getattr(f, syntax)(), syntax) == f.terms


def test_printing_reads_well():
    A, V, x = RATIONALS.gens
    f = A**2 * V - V / 2 + 1
    assert str(f) == repr(f) == f.macaulay2() == "A_(1,2)^2*V_1 - 1/2*V_1 + 1"
    assert f.singular() == "A(1)(2)^2*V(1)-1/2*V(1)+1"
    assert f.latex() == "A_{1,2}^{2} V_{1} - 1/2 V_{1} + 1"
    assert str(RATIONALS.zero()) == "0" and str(-x) == "-x" and str(RATIONALS.one()) == "1"


# Misuse -----------------------------------------------------------------------------------------------------


def test_rings_do_not_mix():
    with pytest.raises(ValueError, match="different rings"):
        RATIONALS.one() + MODULAR.one()
    assert RATIONALS.one() != MODULAR.one()
    assert RATIONALS != MODULAR and PolynomialRing(VARIABLES) == RATIONALS
    assert hash(PolynomialRing(VARIABLES)) == hash(RATIONALS)


@pytest.mark.parametrize("wrong", [(1, 2), (1, 2, 3, 4), (1, -1, 0)])
def test_wrong_exponent_vectors_are_refused(wrong):
    with pytest.raises(ValueError, match="exponent vector"):
        RATIONALS.from_terms({wrong: 1})


def test_floats_are_no_numbers():
    with pytest.raises(TypeError):
        RATIONALS.one() * 0.5
    with pytest.raises(TypeError):
        RATIONALS.one() + 1.0


def test_wrong_numbers_of_values_are_refused():
    with pytest.raises(ValueError, match="2 values for 3"):
        RATIONALS.one()(1, 2)
    with pytest.raises(ValueError, match="1 images for 3"):
        RATIONALS.one().compose([RATIONALS.one()])
    with pytest.raises(ValueError, match="same name"):
        PolynomialRing(["x", "x"])
