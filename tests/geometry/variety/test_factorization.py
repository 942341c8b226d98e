import flint
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.variety.factorization import Factorization, factorization_at_full_rank


@pytest.mark.parametrize(("a", "d"), [(a, d) for d in range(1, 7) for a in range(1, d + 1)])
def test_fibers_have_the_dimension_of_the_group(a, d):
    assert factorization_at_full_rank(SingleLayer(d, 1, a)) == Factorization(a * a, a * (2 * d - a), True)


@st.composite
def pairs(draw):
    d = draw(st.integers(1, 4))
    a = draw(st.integers(1, d))
    rows = st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=a, max_size=a)
    return draw(rows), draw(rows)


@given(pairs())
def test_one_pair_speaks_for_all_of_full_rank(pair):
    """The differential K̇ᵀQ + KᵀQ̇ at any K, Q of rank a has the rank found at one of them."""
    K, Q = map(flint.fmpz_mat, pair)
    a, d = K.nrows(), K.ncols()
    assume(K.rank() == Q.rank() == a)
    images = []
    for i in range(a):
        for j in range(d):
            unit = flint.fmpz_mat(a, d)
            unit[i, j] = 1
            images += [(unit.transpose() * Q).entries(), (K.transpose() * unit).entries()]
    found = factorization_at_full_rank(SingleLayer(d, 1, a))
    rank = flint.fmpz_mat(images).rank()
    assert (found.image_dimension, found.fiber_dimension) == (rank, 2 * a * d - rank)


def test_there_is_no_such_pair_for_more_rows_than_columns():
    with pytest.raises(InputError, match="a is 3 and d is 2"):
        factorization_at_full_rank(SingleLayer(2, 1, 3))
