r"""A two-dimensional slice of a network's neuromanifold through a head of rank one, with limits of it.

The network has d_0 = d_1 = 2, d_2 = 1 and two lightning layers for two tokens; M has dimension 8. At

.. math:: M_1 = \begin{pmatrix} 1 & 0 \\ 0 & x \end{pmatrix}, \quad
          M_2 = \begin{pmatrix} 1 & c \\ -c & 0 \end{pmatrix}, \quad L = (1, 0)

let r = x_1x_1ᵀ·x_1 + x·x_1x_2ᵀ·x_2 for the rows of X. The function is ‖r‖²r + xc·det(X)³·rJ, a polynomial
in x and y = xc: a surface in an affine space A of dimension five. A weight c = y/x exists where x ≠ 0. Where
x = 0, M_1 has rank one, all c give one function, that with y = 0, and those with y ≠ 0 are limits for c → ∞.

*M ∩ A is this surface without the line x = 0, but with the point 0.* Let weights have a function in A. For
x_2 = 0 it is L_1(M_1)_{11}³(M_2)_{11}·‖x_1‖⁸x_1, and in A it is ‖x_1‖⁸x_1. So rescaling makes these entries
1. The linear forms that vanish on A, applied to the coefficients of the function, are then equations for the
other seven. :func:`head_slice` writes them down and solves them, one unknown after the other: only the
weights above are left. So no point of the line but 0 is in M, over ℂ as well.

>>> found = head_slice()
>>> found.equation, found.dimension
(x*y - z, 5)
>>> found.weights
{'M_1': [['1', '0'], ['0', 'e']], 'M_2': [['1', '-q'], ['q', '0']], 'L': [['1', '0']]}
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agattn.algebra.echelon import fraction, kernel_basis, rational_matrix
from agattn.algebra.polynomial import Coefficient, Exponents, Polynomial, PolynomialRing, Variable
from agattn.algebra.scalars import Array
from agattn.architectures import DeepNetwork
from agattn.evidence import Evidence
from agattn.geometry.identifiability.virtual_weights import lightning

#: The entries of weights with L_1 = (M_1)_11 = (M_2)_11 = 1: L_2, then M_1 and M_2 by rows.
_UNKNOWN = "lmnepqr"
#: The coordinates that are drawn: x, y and xy, as exponents of x and y.
DRAWN = ((1, 0), (0, 1), (1, 1))

Coefficients = dict[tuple[int, Exponents], dict[Exponents, Coefficient]]


@dataclass(frozen=True)
class HeadSlice:
    """The slice of M by an affine space A; everything in it is exact.

    Attributes:
        network: the network whose M is cut.
        span: the coordinates of a point of the surface in A, as exponents of x and y; the coordinates span A.
        equation: the equation of the surface in the coordinates :data:`DRAWN`.
        weights: by entries all weights, up to scaling, whose function is in A.
    """

    network: DeepNetwork
    span: tuple[tuple[int, int], ...]
    equation: Polynomial
    weights: dict[str, list[list[str]]]
    evidence: Evidence = Evidence.PROVED

    @property
    def dimension(self) -> int:
        """The dimension of A."""
        return len(self.span)


def head_slice() -> HeadSlice:
    """Compute the slice that the module describes.

    Raises:
        AssertionError: if the equations have other solutions than those described.

    See Also:
        :func:`weights_in_slice`, :func:`relation`.
    """
    span, equations = weights_in_slice()
    ring = equations[0].ring
    l, m, n, e, p, q, r = solved = _solve(ring, equations)
    zero, one, free = ring.zero(), ring.one(), ring.gens
    assert solved == [zero, zero, zero, free[3], -free[5], free[5], zero], "other weights have functions in A"
    matrices = {"M_1": [[one, m], [n, e]], "M_2": [[one, p], [q, r]], "L": [[one, l]]}
    x, y = PolynomialRing("xy").gens
    return HeadSlice(
        DeepNetwork((2, 2, 1), (2, 2), t=2),
        span,
        relation([x**i * y**j for i, j in DRAWN], "xyz"),
        {name: [[str(f) for f in row] for row in matrix] for name, matrix in matrices.items()},
    )


def weights_in_slice() -> tuple[tuple[tuple[int, int], ...], list[Polynomial]]:
    """The coordinates that span A, and the equations of the weights, with three entries 1, that are in it."""
    ring = PolynomialRing([*_UNKNOWN, *(Variable("x", (i, j)) for i in (1, 2) for j in (1, 2))])
    l, m, n, e, p, q, r, *entries = ring.gens
    one, zero, X = ring.one(), ring.zero(), np.array(entries, dtype=object).reshape(2, 2)

    def function(M_1: object, M_2: object, L: object) -> Coefficients:
        matrices = [np.array(matrix, dtype=object) for matrix in (M_1, M_2, [[one, zero], [zero, one]], L)]
        return _coefficients(lightning(matrices[:2], matrices[2:], X))

    family = function([[one, zero], [zero, e]], [[one, -q], [q, zero]], [[one, zero]])
    generic = function([[one, m], [n, e]], [[one, p], [q, r]], [[one, l]])
    powers, places = sorted({w for terms in family.values() for w in terms}), sorted(generic)
    rows = rational_matrix([[family.get(at, {}).get(w, 0) for at in places] for w in powers], len(places))
    assert rows.rank() == len(powers), "the coordinates of the surface are independent"
    span = [(w[3] - w[5], w[5]) for w in powers]  # e^i q^j = ±x^(i − j) y^j
    assert min(map(min, span)) == 0, "the function is a polynomial in x and y"
    unknowns = PolynomialRing(_UNKNOWN)
    parts = [generic[at] for at in places]
    forms = ([fraction(c) for c in form] for form in kernel_basis(rows))
    equations = {f.primitive() for form in forms if (f := _combination(unknowns, form, parts))}
    return tuple(s for s in span if s != (0, 0)), sorted(equations, key=str)


def relation(images: Sequence[Polynomial], names: Iterable[str]) -> Polynomial:
    """The polynomial of least degree that vanishes on polynomials, where up to a factor there is just one.

    >>> s, t = PolynomialRing("st").gens
    >>> relation([s, s * t, -(t**2)], "xyw")
    x^2*w + y^2
    """
    ring = PolynomialRing(names)
    one = images[0].ring.one()
    for degree in itertools.count(1):
        powers = [e for e in itertools.product(range(degree + 1), repeat=len(images)) if sum(e) <= degree]
        products = []
        for exponents in powers:
            product = one
            for image, k in zip(images, exponents, strict=True):
                product = product * image**k
            products.append(product.terms)
        monomials = sorted({w for terms in products for w in terms})
        matrix = rational_matrix([[terms.get(w, 0) for terms in products] for w in monomials], len(powers))
        basis = kernel_basis(matrix)
        if len(basis) == 1:
            terms = {e: fraction(c) for e, c in zip(powers, basis[0], strict=True) if c}
            return ring.from_terms(terms).primitive()
        assert not basis, "several relations of the least degree"
    raise AssertionError("unreachable")


def _coefficients(outputs: Array) -> Coefficients:
    """By output and monomial of X: polynomials in the unknowns."""
    found: Coefficients = {}
    k = len(_UNKNOWN)
    for place, f in enumerate(outputs.ravel().tolist()):
        for exponents, c in f.terms.items():
            found.setdefault((place, exponents[k:]), {})[exponents[:k]] = c
    return found


def _combination(
    ring: PolynomialRing, factors: Sequence[Coefficient], parts: Sequence[Mapping[Exponents, Coefficient]]
) -> Polynomial:
    total: dict[Exponents, Coefficient] = {}
    for factor, part in zip(factors, parts, strict=True):
        for exponents, c in part.items() if factor else ():
            total[exponents] = total.get(exponents, 0) + factor * c
    return ring.from_terms({e: c for e, c in total.items() if c})


def _solve(ring: PolynomialRing, equations: Iterable[Polynomial]) -> list[Polynomial]:
    """The common zeros: the unknowns as functions of the free unknowns.

    Each step takes an equation that is a power of c·v + (terms without v) for an unknown v.

    Raises:
        AssertionError: if equations are left of which none is such.
    """
    solved, left = list(ring.gens), set(equations)
    while left:
        for f in sorted(left, key=lambda f: (f.degree(), len(f), str(f))):
            if (found := _unknown(f)) is not None:
                break
        else:
            raise AssertionError(f"no unknown can be read off {min(map(str, left))} = 0")
        step = list(ring.gens)
        step[found[0]] = found[1]
        solved = [g.compose(step) for g in solved]
        left = {g for f in left if (g := f.compose(step))}
    return solved


def _unknown(f: Polynomial) -> tuple[int, Polynomial] | None:
    """The number of an unknown and its value, if f = 0 tells it."""
    factors = f.factors()
    if len(factors) != 1:
        return None
    (g, _), ring = factors[0], f.ring
    for exponents, c in g.terms.items():
        i = next((i for i, k in enumerate(exponents) if k), None)
        if i is not None and sum(exponents) == 1 and sum(bool(w[i]) for w in g.terms) == 1:
            return i, ring.gens[i] - g / c
    return None
