"""Dimensions that are theorems: of sums of powers, matrices, convolutions, secants of varieties of tensors.

Where no bound of this package is met the known dimension is the rank observed, and the evidence says so.
"""

from itertools import combinations
from math import comb

import numpy as np
import pytest

import agattn as ag
from agattn.evidence import Evidence


def assert_dimension(architecture, value, evidence=Evidence.PROVED):
    found = ag.dimension(architecture)
    assert (found.dimension, found.lower_bound, found.evidence) == (value, value, evidence), str(found)


# Alexander and Hirschowitz (1995): sums of s powers of degree r of linear forms in n variables ---------

EXCEPTIONS = {(3, 5, 4): 14, (4, 9, 4): 34, (5, 14, 4): 69, (5, 7, 3): 34}
#: The same with one power more or less, one variable more or less, another degree: none is an exception.
AROUND = [(n, s, r) for n, s, r in [
    (3, 4, 4), (3, 6, 4), (4, 8, 4), (4, 10, 4), (5, 13, 4), (5, 15, 4), (5, 6, 3), (5, 8, 3),
    (2, 5, 4), (3, 9, 4), (4, 14, 4), (4, 7, 3), (6, 7, 3), (3, 5, 3), (4, 5, 3), (3, 7, 5),
    (2, 3, 5),
]]  # fmt: skip


@pytest.mark.parametrize(("n", "s", "r"), [*EXCEPTIONS, *AROUND])
def test_sums_of_powers(n, s, r):
    value = EXCEPTIONS.get((n, s, r), min(s * n, comb(n + r - 1, r)))
    assert_dimension(ag.Network([ag.Perceptron([s, 1], r)], n), value)


@pytest.mark.parametrize(("n", "s"), [(n, s) for n in range(2, 6) for s in range(1, n + 2)])
def test_quadrics_of_bounded_rank(n, s):
    """Every 1 < s < n is an exception: s squares have one another's rotations."""
    rank = min(s, n)
    value = n * rank - comb(rank, 2)
    assert (value < min(s * n, comb(n + 1, 2))) == (1 < s < n)
    assert_dimension(ag.Network([ag.Perceptron([s, 1], 2)], n), value)


# Matrices and convolutions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "widths", [(3, 5, 4, 2), (4, 2, 3, 4), (4, 3, 2, 5), (6, 1, 4), (2, 5, 3), (5, 4, 4, 3, 5)]
)
def test_deep_linear_networks(widths):
    """Matrices of rank at most the least width m."""
    n, *_, k = widths
    m = min(widths)
    assert_dimension(ag.Network([ag.Linear(width) for width in widths[1:]], n, 2), m * (n + k - m))


@pytest.mark.parametrize(
    ("filters", "powers", "strides"),
    [((3,), (1,), (1,)), ((3, 2), (2, 3), (2, 1)), ((3, 2, 4), (2, 3, 1), (1, 1, 1)),
     ((2, 3, 2), (3, 2, 1), (1, 2, 1)), ((2, 2, 2, 2), (2, 2, 2, 1), (1, 1, 1, 1))],
)  # fmt: skip
def test_convolutions(filters, powers, strides):
    """Shahverdi, Marchetti, Kohn (2024): the lengths of the filters, less a factor between any two."""
    layers = [ag.Convolution(*layer) for layer in zip(filters, powers, strides, strict=True)]
    assert_dimension(ag.Network(layers, 9), sum(filters) - (len(filters) - 1))


# Secants: sums of s points of the cone over a variety ----------------------------------------------------


def sum_of_tensors(**vectors):
    """A sum of s decomposable tensors, given by their factors: one s × n array for each factor."""
    products = [1]
    for factor in vectors.values():
        products = [x * factor[:, i] for x in products for i in range(factor.shape[1])]
    return [x.sum() for x in products]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "s", "value", "defect"),
    [
        ((2, 3), 1, 4, 0),  # Segre
        ((3, 3), 2, 8, 1),  # the determinant
        ((4, 5), 2, 14, 2),  # matrices of rank 2
        ((2, 2, 2), 2, 8, 0),
        ((2, 2, 2), 1, 4, 0),
        ((3, 3, 3), 4, 26, 1),  # Strassen's hypersurface of degree 9
        ((3, 4, 4), 5, 44, 1),  # Abo, Ottaviani, Peterson (2009), as the next with a defect
        ((3, 4, 4), 4, 36, 0),
        ((2, 2, 2, 2), 3, 14, 1),  # Catalisano, Geramita, Gimigliano (2005)
        ((2, 2, 2, 2), 2, 10, 0),
        ((2, 2, 3, 3), 5, 34, 1),
        ((2, 3, 6), 4, 32, 4),  # unbalanced: matrices of size 6 × 6 and rank 4, as the first two factors span
        ((2, 2, 5), 3, 18, 2),
    ],
)
def test_secants_of_segre_varieties(sizes, s, value, defect):
    expected = min(s * (sum(sizes) - len(sizes) + 1), int(np.prod(sizes)))
    assert expected - defect == value
    shapes = {f"v{k}": (s, n) for k, n in enumerate(sizes)}
    observed = Evidence.MODULAR if defect and len(sizes) > 2 else Evidence.PROVED
    assert_dimension(ag.PolynomialMap(sum_of_tensors, shapes), value, observed)


def plucker(M):
    """The sum of the vectors of maximal minors of k × n matrices, expanded by the first row."""
    _, k, n = M.shape
    minors = {(): 1}
    for row in reversed(range(k)):
        minors = {
            columns: sum(
                (-1) ** i * M[:, row, c] * minors[columns[:i] + columns[i + 1 :]]
                for i, c in enumerate(columns)
            )
            for columns in combinations(range(n), k - row)
        }
    return [minor.sum() for minor in minors.values()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "n", "s", "value", "defect"),
    [
        (2, 4, 1, 5, 0),  # a quadric
        (2, 5, 1, 7, 0),
        (2, 6, 2, 14, 1),  # the Pfaffian: skew matrices of rank 4
        (2, 7, 2, 18, 3),  # codimension C(n - 2s, 2)
        (2, 7, 3, 21, 0),
        (3, 6, 2, 20, 0),
        (3, 7, 3, 34, 1),  # a hypersurface of degree 7
    ],
)
def test_secants_of_grassmannians(k, n, s, value, defect):
    assert min(s * (k * (n - k) + 1), comb(n, k)) - defect == value
    observed = Evidence.MODULAR if defect and k > 2 else Evidence.PROVED
    assert_dimension(ag.PolynomialMap(plucker, {"M": (s, k, n)}), value, observed)
