from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn import SingleLayer
from agattn.errors import InputError

sizes = st.integers(1, 12)


@given(sizes, sizes, sizes, st.integers(2, 5))
def test_numbers_of_a_layer(d, d_out, a, t):
    layer = SingleLayer(d, d_out, a, t)
    assert layer.ambient_dimension == d_out * d * d * (d + 1) // 2
    assert layer.alpha == min(a, d)
    # The matrices of rank at most a, the matrices V, and one scaling between them.
    rank = min(a, d)
    assert layer.expected_dimension == d * d - (d - rank) ** 2 + d * d_out - 1
    assert layer.as_json() == {"d": d, "d_out": d_out, "a": a, "t": t}
    assert SingleLayer(**layer.as_json()) == layer


@given(sizes, sizes, sizes)
def test_one_token_has_cubic_forms_and_symmetric_matrices(d, d_out, a):
    layer = SingleLayer(d, d_out, a, 1)
    beta = min(d, 2 * a)
    symmetric = comb(d + 1, 2) - comb(d - beta + 1, 2)  # symmetric d × d matrices of rank at most β
    assert layer.expected_dimension == symmetric + d * d_out - 1
    assert layer.ambient_dimension == d_out * len(
        {(i, j, k) for i in range(d) for j in range(i, d) for k in range(j, d)}
    )


@pytest.mark.parametrize("name", ["d", "d_out", "a", "t"])
@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, "3", True, [2], float("nan")])
def test_refuses_what_is_no_size(name, value):
    with pytest.raises(InputError, match=rf"^{name} is .* at least 1$"):
        SingleLayer(**{"d": 2, "d_out": 2, "a": 2, "t": 2, name: value})


def test_whole_numbers_of_other_types_become_ints():
    layer = SingleLayer(np.int64(3), np.int8(2), np.uint16(2))
    assert layer == SingleLayer(3, 2, 2)
    assert all(type(value) is int for value in layer.as_json().values())
