import random
from itertools import pairwise, product

import flint
import pytest
from points_of_strata import rank_of_monomials

from agattn.architectures import SingleLayer
from agattn.geometry.strata.strata import Stratum, image_dimension
from agattn.geometry.variety.rank_one_locus import (
    closure_degree,
    closure_dimension,
    hilbert_function,
    numbers_of_generators,
    predicted_degree,
)

LAYERS = [SingleLayer(d, d_out) for d in range(2, 7) for d_out in range(1, 6)]
P = (1 << 61) - 1
KNOWN = {(2, 1): 3, (2, 2): 12, (2, 3): 30, (3, 1): 45, (3, 2): 315}


def random_point(randomness, d, d_out):
    """The coordinates of h ⊗ q ⊗ l·m, and their derivatives, for random h, q, l and m modulo P."""
    h, q, left, right = ([randomness.randrange(P) for _ in range(n)] for n in (d_out, d, d, d))

    def tensor(h, q, left, right):
        pairs = [(i, k) for i in range(d) for k in range(i, d)]
        forms = [left[i] * right[k] + (left[k] * right[i] if i < k else 0) for i, k in pairs]
        return [x * y * z % P for x in h for y in q for z in forms]

    factors = (h, q, left, right)
    velocities = [
        tensor(*(unit if m == n else factors[m] for m in range(4)))
        for n in range(4)
        for j in range(len(factors[n]))
        for unit in [[int(i == j) for i in range(len(factors[n]))]]
    ]
    return tensor(*factors), velocities


@pytest.mark.parametrize(("shape", "degree"), KNOWN.items(), ids=str)
def test_known_degrees(shape, degree):
    assert closure_degree(SingleLayer(*shape)) == predicted_degree(SingleLayer(*shape)) == degree


@pytest.mark.parametrize("layer", LAYERS, ids=lambda x: f"{x.d},{x.d_out}")
def test_the_hilbert_function_and_the_segre_formula_agree(layer):
    assert closure_degree(layer) == predicted_degree(layer) > 0
    e = closure_dimension(layer) - 1
    # A polynomial of degree e: the next difference vanishes.
    values = [hilbert_function(layer, n) for n in range(e + 6)]
    for _ in range(e + 1):
        values = [b - a for a, b in pairwise(values)]
    assert set(values) == {0}


@pytest.mark.parametrize(
    "layer", [x for x in LAYERS if x.d <= 4 and x.d_out <= 3], ids=lambda x: f"{x.d},{x.d_out}"
)
def test_the_dimension_is_the_rank_of_a_parametrization(layer):
    _, velocities = random_point(random.Random(1), layer.d, layer.d_out)
    rank = flint.nmod_mat(velocities, P).rank()
    assert closure_dimension(layer) == rank == image_dimension(layer, Stratum(1, 1, 2))


@pytest.mark.parametrize(
    ("d", "d_out", "n"), [(2, 1, 1), (2, 1, 2), (2, 1, 4), (2, 2, 2), (2, 2, 3), (3, 1, 2)]
)
def test_the_hilbert_function_counts_functions_on_the_variety(d, d_out, n):
    """The rank of the monomials of degree n at more random points than there are monomials."""
    layer, randomness = SingleLayer(d, d_out), random.Random(n)
    points = [random_point(randomness, d, d_out)[0] for _ in range(hilbert_function(layer, n) + 10)]
    assert rank_of_monomials(points, n, P) == hilbert_function(layer, n)


@pytest.mark.parametrize(("shape", "numbers"), [((2, 2), {2: 24, 3: 0}), ((3, 2), {2: 288, 3: 40})])
def test_the_numbers_of_generators_are_those_of_engines(shape, numbers):
    assert numbers_of_generators(SingleLayer(*shape)) == numbers


def test_no_functions_but_constants_in_degree_zero():
    for d, d_out in product((2, 3, 5), (1, 4)):
        layer = SingleLayer(d, d_out)
        assert hilbert_function(layer, 0) == 1 and hilbert_function(layer, 1) == layer.ambient_dimension
