"""Characters: dimensions, Kostka and Littlewood-Richardson numbers, and peeling."""

from itertools import product
from math import comb, factorial, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.characters import (
    conjugate,
    decompose,
    kostka,
    littlewood_richardson,
    module_dimension,
    partitions,
    schur_dimension,
    specht_dimension,
)

small_partitions = st.lists(st.integers(1, 4), max_size=3).map(lambda p: tuple(sorted(p, reverse=True)))


def test_partition_counts_are_those_of_euler():
    assert [len(list(partitions(n))) for n in range(11)] == [1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42]


@given(small_partitions)
def test_conjugation_is_an_involution(shape):
    assert conjugate(conjugate(shape)) == shape
    assert sum(conjugate(shape)) == sum(shape)


@given(small_partitions, st.integers(1, 4))
def test_dimension_is_the_sum_of_weight_spaces(shape, n):
    size = sum(shape)
    weights = [w for w in product(range(size + 1), repeat=n) if sum(w) == size]
    assert sum(kostka(shape, w) for w in weights) == schur_dimension(shape, n)


@given(small_partitions)
def test_kostka_numbers_are_symmetric_in_the_weight(shape):
    for weight in partitions(sum(shape)):
        assert kostka(shape, weight) == kostka(shape, weight[::-1])
    assert kostka(shape, (1,) * sum(shape)) == specht_dimension(shape)


@pytest.mark.parametrize("n", range(1, 8))
def test_squares_of_specht_dimensions_add_up_to_the_group_order(n):
    assert sum(specht_dimension(shape) ** 2 for shape in partitions(n)) == factorial(n)


@given(small_partitions, small_partitions, st.integers(1, 4))
def test_littlewood_richardson_decomposes_the_tensor_product(first, second, n):
    total = sum(
        littlewood_richardson(outer, first, second) * schur_dimension(outer, n)
        for outer in partitions(sum(first) + sum(second), n)
    )
    assert total == schur_dimension(first, n) * schur_dimension(second, n)


@given(small_partitions, small_partitions)
def test_littlewood_richardson_is_symmetric(first, second):
    for outer in partitions(sum(first) + sum(second), 4):
        assert littlewood_richardson(outer, first, second) == littlewood_richardson(outer, second, first)


@given(st.dictionaries(st.tuples(st.sampled_from(list(partitions(4))), st.sampled_from(list(partitions(3)))),
                       st.integers(1, 5), max_size=6))  # fmt: skip
def test_peeling_recovers_the_multiplicities(multiplicities):
    def at(weight):
        return sum(m * prod(map(kostka, shape, weight)) for shape, m in multiplicities.items())

    character = {weight: at(weight) for weight in product(partitions(4), partitions(3))}
    assert decompose(character) == multiplicities


def test_peeling_refuses_what_is_no_character():
    with pytest.raises(ValueError, match="not a character"):
        decompose({((2,),): 1, ((1, 1),): 0})


def test_module_dimension_of_symmetric_powers():
    assert module_dimension([(3,), (1, 1)], [4, 5]) == comb(6, 3) * comb(5, 2)
