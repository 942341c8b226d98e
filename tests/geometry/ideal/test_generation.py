"""In which degree the whole ideal is generated, and the count of functions that this rests on."""

from itertools import product
from math import comb

import pytest

from agattn.algebra.characters import littlewood_richardson, module_dimension, partitions
from agattn.architectures import SingleLayer
from agattn.geometry.ideal import generation
from agattn.geometry.ideal.generation import generated_in, odd_functions
from agattn.geometry.ideal.ideal import compute_ideal


def pairs(layer, n):
    """The dimension of the functions of bidegree (n, n) on all pairs (V, A)."""
    d, d_out = layer.d, layer.d_out
    return comb(n + d * d_out - 1, n) * comb(n + d * d - 1, n)


def modules_missing(layer, n):
    """The modules of functions on the pairs that are no functions on M̄, each with its multiplicity."""
    found = compute_ideal(layer, n).modules(n, "coordinate_ring")
    shapes = product(partitions(n, layer.d_out), partitions(n, layer.d), partitions(2 * n, layer.d))
    every = {shape: littlewood_richardson(shape[2], *shape[:2]) - found.get(shape, 0) for shape in shapes}
    return {shape: many for shape, many in every.items() if many}


@pytest.mark.parametrize(
    ("sizes", "last"), [((2, 1), 8), ((2, 2), 6), ((3, 1), 6), ((4, 1), 4), ((5, 1), 4)], ids=str
)
def test_the_odd_functions_are_missing_and_no_others(sizes, last):
    layer = SingleLayer(*sizes)
    for n in range(1, last + 1):
        found = compute_ideal(layer, n).hilbert_function(n)
        assert found + odd_functions(layer.d, layer.d_out, n) == pairs(layer, n)


def test_functions_without_a_sheaf_are_missing_in_two_degrees_only():
    """For (3,2,3) two further modules are missing: one in degree 2 and one in degree 3."""
    layer = SingleLayer(3, 2)
    further = {2: ((1, 1), (1, 1), (2, 1, 1)), 3: ((2, 1), (2, 1), (3, 2, 1))}
    for n in (1, 2, 3, 4):
        missing, odd = modules_missing(layer, n), odd_functions(3, 2, n)
        total = sum(many * module_dimension(shape, layer.gl_sizes) for shape, many in missing.items())
        others = module_dimension(further[n], layer.gl_sizes) if n in further else 0
        assert total == odd + others
        assert n not in further or missing.pop(further[n]) == 1
        for lam, mu, nu in missing:
            rows = len(lam) + len(mu) - 1
            assert nu == (2 * n - rows, *(1,) * rows) or ((lam, mu) == ((n,), (n,)) and nu[1] % 2 == 1)


@pytest.mark.parametrize(
    ("sizes", "degree"),
    [((1, 5, 1), 0), ((2, 1, 2, 1), 0), ((2, 1, 1), 2), ((7, 1, 1), 3), ((2, 1, 2), 4), ((2, 2, 1), 5),
     ((2, 9, 2), 5), ((3, 1, 2), 6), ((3, 2, 1), 6), ((4, 1, 3), 6), ((3, 3, 3), None), ((5, 1, 2), None),
     ((3, 1, 3, 1), None)],
)  # fmt: skip
def test_degrees_in_which_ideals_are_generated(sizes, degree):
    found = generated_in(SingleLayer(*sizes))
    assert (found and found.degree) == degree


def test_another_number_of_functions_proves_nothing(monkeypatch):
    generation._only_odd_functions_are_missing.cache_clear()
    monkeypatch.setattr(generation, "odd_functions", lambda d, d_out, n: 1)
    assert generated_in(SingleLayer(2, 2)) is None
    generation._only_odd_functions_are_missing.cache_clear()


@pytest.mark.parametrize("sizes", [(2, 1, 2), (2, 3, 1), (2, 4, 2), (3, 1, 3), (3, 2, 1)], ids=str)
def test_no_minimal_generator_has_a_higher_degree(sizes):
    layer = SingleLayer(*sizes)
    bound = generated_in(layer).degree
    assert all(n <= bound for n in compute_ideal(layer, 7).generators_by_degree)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 1), (3, 2), (4, 1)], ids=str)
@pytest.mark.parametrize("fewer", [1, 2])
def test_for_a_smaller_rank_only_minors_are_added(sizes, fewer):
    """What is new in the ideal of (d, d', a), against (d, d', d), is a sum of modules with ℓ(μ) > a."""
    d, d_out = sizes
    if fewer >= d:
        return
    whole, layer = SingleLayer(d, d_out), SingleLayer(d, d_out, d - fewer)
    for n in (1, 2, 3, 4):
        all_of_it, larger = (compute_ideal(one, n).modules(n) for one in (whole, layer))
        assert {shape: many for shape, many in larger.items() if len(shape[1]) <= layer.a} == {
            shape: many for shape, many in all_of_it.items() if len(shape[1]) <= layer.a
        }
