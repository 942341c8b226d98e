from itertools import pairwise
from math import comb

import pytest

from agattn.architectures import SingleLayer
from agattn.geometry.variety.degree import (
    degree_is_below,
    determinantal_degree,
    expected_degree,
    source_degree,
)

# By elimination, over a finite field.
ELIMINATED = {
    (2, 1, 2): 4, (2, 1, 1): 3, (2, 2, 1): 20, (2, 2, 2): 20, (2, 3, 1): 42, (2, 3, 2): 56, (3, 1, 1): 45,
    (3, 1, 3): 45,
}  # fmt: skip


@pytest.mark.parametrize(("shape", "degree"), ELIMINATED.items(), ids=str)
def test_degrees_found_by_elimination(shape, degree):
    assert expected_degree(SingleLayer(*shape)) == degree


@pytest.mark.parametrize("d", range(1, 7))
def test_determinantal_varieties(d):
    assert determinantal_degree(d, d) == 1  # everything
    if d > 1:
        assert determinantal_degree(d, d - 1) == d  # the determinant
        assert determinantal_degree(d, 1) == comb(2 * d - 2, d - 1)  # ℙ^{d−1} × ℙ^{d−1}
    assert determinantal_degree(4, 2) == 20


def degree_of(hilbert_function, dimension):
    """The degree of a cone from its Hilbert function, by differences."""
    values = [hilbert_function(n) for n in range(12, 12 + dimension)]
    while len(values) > 1:
        values = [b - a for a, b in pairwise(values)]
    return values[0]


@pytest.mark.parametrize("d_out", range(1, 6))
@pytest.mark.parametrize("a", [1, 2])
def test_the_hilbert_functions_of_two_wide_layers(d_out, a):
    # Functions on the source that agree on the two preimages of every point of rank (1, 1).
    def hilbert_function(n):
        source = comb(n + 3, n) if a == 2 else (n + 1) ** 2
        glued = comb(n + d_out - 1, n) * (n + 1) * comb(n + 1, 2)
        return comb(n + 2 * d_out - 1, n) * source - glued

    layer = SingleLayer(2, d_out, a)
    assert degree_of(hilbert_function, layer.expected_dimension) == expected_degree(layer)


@pytest.mark.parametrize("d", range(2, 6))
def test_the_hilbert_function_of_products_of_a_vector_and_a_quadric(d):
    def hilbert_function(n):
        m = comb(n + d - 1, n)
        return m * m * (m + 1) // 2

    layer = SingleLayer(d, 1, 1)
    assert degree_of(hilbert_function, layer.expected_dimension) == expected_degree(layer)
    assert source_degree(layer) == 2 * expected_degree(layer)


def test_more_rows_than_columns_change_nothing():
    assert expected_degree(SingleLayer(3, 2, 7)) == expected_degree(SingleLayer(3, 2, 3))
    assert expected_degree(SingleLayer(1, 1, 1)) == 1  # one-dimensional: nothing to exchange


@pytest.mark.parametrize("layer", [SingleLayer(3, 2, 2), SingleLayer(5, 1, 1), SingleLayer(1, 4)])
def test_the_size_of_the_degree(layer):
    digits = len(str(expected_degree(layer)))
    assert degree_is_below(layer, digits) and not degree_is_below(layer, digits - 1)
