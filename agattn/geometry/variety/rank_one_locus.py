r"""The Zariski closure of the singular points of HMK, Theorem 3.4: {h ⊗ q ⊗ Q, rank Q ≤ 2}.

It is the Segre product of ℙ^{d'−1}, ℙ^{d−1} and the symmetric d × d matrices of rank at most 2. In degree n
its coordinate ring is Sym^n(ℂ^{d'}) ⊗ Sym^n(ℂ^d) ⊗ R_n, where R_n is the sum of the Schur modules S_{2λ}(ℂ^d)
over the partitions λ of n with at most two parts (Weyman, *Cohomology of Vector Bundles and Syzygies*,
Section 6.3).

>>> from agattn.architectures import SingleLayer
>>> [hilbert_function(SingleLayer(2, 1), n) for n in range(4)]
[1, 6, 18, 40]
>>> closure_degree(SingleLayer(3, 2))
315
"""

from __future__ import annotations

from math import comb, factorial, prod

from agattn.algebra.characters import module_dimension, schur_dimension
from agattn.architectures import SingleLayer


def closure_dimension(layer: SingleLayer) -> int:
    """The dimension d' + d + (2d − 1) − 2 of the cone {h ⊗ q ⊗ Q, rank Q ≤ 2}, for d ≥ 2.

    >>> closure_dimension(SingleLayer(2, 1))
    4
    """
    return layer.d_out + 3 * layer.d - 3


def hilbert_function(layer: SingleLayer, n: int) -> int:
    """The dimension of the part of degree n of the coordinate ring of the cone {h ⊗ q ⊗ Q, rank Q ≤ 2}.

    See Also:
        :func:`closure_degree`, which follows from it.

    >>> hilbert_function(SingleLayer(2, 1), 1)
    6
    """
    d = layer.d
    forms = sum(schur_dimension((2 * (n - k), 2 * k), d) for k in range(n // 2 + 1))
    return comb(n + layer.d_out - 1, n) * comb(n + d - 1, n) * forms


def numbers_of_generators(layer: SingleLayer) -> dict[int, int]:
    """How many minimal generators the ideal of the cone has in degrees 2 and 3; there are no others.

    Those of the Segre product of all h, q and Q are quadrics. Modulo these the ideal is in degree n the
    product of Sⁿ, Sⁿ and the ideal of {rank Q ≤ 2}, which the 3 × 3 minors generate: S_222, over every field.

    >>> numbers_of_generators(SingleLayer(2, 1)), numbers_of_generators(SingleLayer(3, 1))
    ({2: 3, 3: 0}, {2: 45, 3: 10})
    """
    quadrics = comb(layer.ambient_dimension + 1, 2) - hilbert_function(layer, 2)
    return {2: quadrics, 3: module_dimension(((3,), (3,), (2, 2, 2)), layer.gl_sizes)}


def closure_degree(layer: SingleLayer) -> int:
    """The degree of the cone {h ⊗ q ⊗ Q, rank Q ≤ 2}, from its Hilbert function.

    The rings of symmetric determinantal varieties are Cohen-Macaulay with negative a-invariant. So the
    Hilbert function is a polynomial in n for all n ≥ 0, of degree e = d' + 3d − 4, and its e-th difference is
    the degree of the cone.

    See Also:
        :func:`predicted_degree`, the same by a formula.

    >>> closure_degree(SingleLayer(2, 1))
    3
    """
    e = closure_dimension(layer) - 1
    return sum((-1) ** (e - n) * comb(e, n) * hilbert_function(layer, n) for n in range(e + 1))


def predicted_degree(layer: SingleLayer) -> int:
    """The degree by the formula for Segre products: multinomial times the degrees of the factors.

    The degree of the symmetric matrices of rank at most 2 is that of Harris and Tu.

    >>> [predicted_degree(SingleLayer(*a)) for a in [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)]]
    [3, 12, 30, 45, 315]
    """
    d, d_out = layer.d, layer.d_out
    numerator = prod(comb(d + i, d - 2 - i) for i in range(d - 2))
    symmetric = numerator // prod(comb(2 * i + 1, i) for i in range(d - 2))
    e = closure_dimension(layer) - 1
    return factorial(e) // (factorial(d_out - 1) * factorial(d - 1) * factorial(2 * d - 2)) * symmetric
