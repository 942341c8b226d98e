"""Functions of parameter arrays: what is read, what is computed, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.arithmetic import ModularArithmetic, RingArithmetic
from agattn.architectures.functions import read_function, whole_array
from agattn.errors import InputError

SHAPES = {"K": (2, 4), "P": (2, 4), "Q": (3, 2, 4), "O": (3, 5, 2), "b": (4,), "s": ()}
GENERATOR = np.random.default_rng(0)
ARRAYS = {name: GENERATOR.integers(-3, 4, shape) for name, shape in SHAPES.items()}
K, P, Q, O, b = (ARRAYS[name] for name in "KPQOb")


def value(text):
    weights = {name: array.astype(object) for name, array in ARRAYS.items()}
    f = read_function(text, SHAPES)
    found = np.asarray(f.evaluate(RingArithmetic(), weights, None))
    assert found.shape == (1, *f.shape)
    again = read_function(f.text, SHAPES)  # what is printed can be read
    assert (np.asarray(again.evaluate(RingArithmetic(), weights, None)) == found).all()
    return found[0].astype(int)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("K^T P", K.T @ P),
        ("KᵀP", K.T @ P),
        ("(K P^T)^T", P @ K.T),
        ("K^T Q", np.stack([K.T @ q for q in Q])),
        ("K^T*Q[2]", K.T @ Q[1]),
        ("sum_i O P", O.sum(0) @ P),
        ("O[i] Q[j]", np.einsum("iar,jrc->ijac", O, Q)),
        ("O[j] Q[i]", np.einsum("jar,irc->ijac", O, Q)),
        ("sum_i O P ⊗ K^T Q", np.einsum("iar,rc,ke,ikf->acef", O, P, K, Q)),
        ("sum_i O ** Q", np.einsum("iar,ikf->arkf", O, Q)),
        ("sum_i sum_j O[i] Q[j]", O.sum(0) @ Q.sum(0)),
        ("-K + 2 P - K", 2 * P - 2 * K),
        ("K - (P - K)", 2 * K - P),
        ("K (2 P^T K)^T", 2 * K @ K.T @ P),
        ("K b", (K @ b)[:, None]),
        ("(" * 50 + "K" + ")" * 50, K),
        ("s", np.array([[ARRAYS["s"]]])),
    ],
)
def test_functions_are_what_they_say(text, expected):
    assert (value(text) == expected).all() and value(text).shape == expected.shape


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("K Q", "K is 2×4 and Q is 3 matrices 2×4; a product takes as many columns on the left as rows"),
        ("K + P^T", "K is 2×4, and P^T is 4×2"),
        ("K + Q", "summands have the same sizes and the same indices"),
        ("W^T K", "there is no array W; the arrays are K, P, Q, O, b, s"),
        ("Q[4]", "Q has 3 matrices there, numbered from 1, and no number 4"),
        ("Q[0]", "no number 0"),
        ("K[1]", "it has 0 indices before its rows and columns"),
        ("Q[1,2]", "it has 1 index before its rows and columns"),
        ("sum_j Q", "there is no index j to add up over; the indices of Q are: i"),
        ("(K ⊗ P)^T", "a transpose is one of matrices"),
        ("(K ⊗ P) Q", "matrices are multiplied here"),
        ("K^T (Q", "')' is missing at the end"),
        ("K^2", "'^' is not read here"),
        ("K;P", "';' is not read here"),
        ("", "an array is missing at the end"),
        ("3", "a number stands alone"),
        ("K^T Q)", "')' is not read here"),
        ("(" * 51 + "K" + ")" * 51, "more than 50 parentheses"),
        ("K " * 6000, "12000 characters"),
        ("K K^T " * 200 + "K", "names 401 arrays and indices; at most 100 are read"),
        ("9" * 5000 + " K", "a number has 5000 digits, more than 9"),
        ("__import__('os')", "is not read here"),
    ],
)
def test_what_is_no_function_is_one_line(text, said):
    with pytest.raises(InputError) as error:
        read_function(text, SHAPES)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_stacks_of_other_lengths_need_indices():
    shapes = {"A": (2, 3, 3), "B": (4, 3, 3)}
    with pytest.raises(InputError, match=r"2 matrices along the index i, and B has 4; write indices"):
        read_function("A B", shapes)
    assert read_function("A[i] B[j]", shapes).shape == (2, 4, 3, 3)


def test_a_stack_of_one_matrix_has_no_index():
    shapes = {"A": (1, 2, 3), "B": (4, 3, 2), "G": (2, 5, 2, 3)}
    assert read_function("A B", shapes).shape == (4, 2, 2)
    assert read_function("A^T G", shapes).shape == (2, 5, 3, 3)
    assert whole_array("G", shapes).shape == (2, 5, 2, 3)


letters = st.permutations(["i", "j"])


@settings(max_examples=20, deadline=None)
@given(letters, letters, st.integers(0, 99))
def test_indices_in_any_order_are_those_of_einsum(one, other, seed):
    generator = np.random.default_rng(seed)
    arrays = {name: generator.integers(0, 50, (3, 3, 2, 2)).astype(float) for name in "AB"}
    shapes = {name: array.shape for name, array in arrays.items()}
    text = f"A[{','.join(one)}] B[{','.join(other)}]"
    found = read_function(text, shapes).evaluate(ModularArithmetic(10007), arrays, None)
    expected = np.einsum(f"{''.join(one)}ab,{''.join(other)}bc->ijac", arrays["A"], arrays["B"])
    assert (found[0] == expected % 10007).all()
