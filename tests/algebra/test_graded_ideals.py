"""Minimal generators of ideals, against ranks in all monomials of a degree."""

from itertools import combinations_with_replacement

import flint
from hypothesis import assume, given
from hypothesis import strategies as st

from agattn.algebra.graded_ideals import minimal_generators
from agattn.algebra.polynomial import PolynomialRing

SIZE, P = 3, 32003


def monomials(degree, size=SIZE):
    chosen = combinations_with_replacement(range(size), degree) if degree >= 0 else ()
    return [tuple(indices.count(i) for i in range(size)) for indices in chosen]


@st.composite
def forms(draw):
    """Some forms of degrees 1 to 3, each of few monomials, so that many have weights and syzygies."""
    ring = PolynomialRing(["x", "y", "z"], draw(st.sampled_from([0, P])))

    def form():
        terms = monomials(draw(st.integers(1, 3)))
        return ring.from_terms(
            draw(st.dictionaries(st.sampled_from(terms), st.integers(1, 3), min_size=1, max_size=3))
        )

    return [form() for _ in range(draw(st.integers(1, 5)))]


def rank(polynomials, degree):
    """The dimension of what forms generate in a degree: all multiples, in all monomials."""
    rows = []
    for f in polynomials:
        for m in monomials(degree - f.degree()):
            product = f * f.ring.from_terms({m: 1})
            rows.append([int(product.terms.get(e, 0)) for e in monomials(degree)])
    if not rows:
        return 0
    p = polynomials[0].ring.characteristic
    return int((flint.nmod_mat(rows, p) if p else flint.fmpq_mat(flint.fmpz_mat(rows))).rank())


@given(forms())
def test_as_many_are_needed_in_each_degree_as_multiples_of_lower_ones_leave(basis):
    found = minimal_generators(basis)
    assert set(found) <= set(basis)
    for degree in range(1, 4):
        lower = [f for f in basis if f.degree() < degree]
        new = rank([f for f in basis if f.degree() <= degree], degree) - rank(lower, degree)
        assert sum(f.degree() == degree for f in found) == new


@given(forms(), st.data())
def test_a_combination_of_the_others_is_not_needed(basis, data):
    ring, basis = basis[0].ring, list(minimal_generators(basis))
    degree = data.draw(st.integers(min(f.degree() for f in basis), 4))
    more = ring.zero()
    for f in basis:
        for m in monomials(degree - f.degree()):
            more += f * ring.from_terms({m: data.draw(st.integers(-2, 2))})
    assume(more)
    place = data.draw(st.integers(0, len(basis)))
    assert len(minimal_generators([*basis[:place], more, *basis[place:]])) == len(basis)


def test_equations_that_are_homogeneous_for_nothing_are_made_linearly_independent():
    x, y, z = PolynomialRing(["x", "y", "z"]).gens
    f, g = x**2 + x + y, x * z + 1
    assert minimal_generators([f, g, 2 * f - g, f * g]) == (f, g, f * g)
    # Homogeneous if x, y and z have the degrees 1, 2 and 3, and not taken as that.
    curve = (x**2 - y, x * y - z, y**2 - x * z)
    assert minimal_generators(curve) == curve[:2] and minimal_generators(curve, ()) == curve
