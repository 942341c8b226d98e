"""Functions of parameter arrays: what is read, what is computed, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.arithmetic import ModularArithmetic, RingArithmetic
from agattn.architectures.functions import read_function, whole_array

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


def test_indices_tell_stacks_apart_and_a_stack_of_one_matrix_has_none():
    assert read_function("A[i] B[j]", {"A": (2, 3, 3), "B": (4, 3, 3)}).shape == (2, 4, 3, 3)
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
