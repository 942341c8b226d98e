"""Specht modules: Coxeter relations, characters, and highest weight vectors."""

import numpy as np
import pytest

from agattn.algebra.characters import SpechtModule, partitions, specht_dimension, specht_module

SHAPES = [shape for n in range(2, 7) for shape in partitions(n)]


@pytest.mark.parametrize("shape", SHAPES)
def test_simple_transpositions_satisfy_the_coxeter_relations(shape):
    module = specht_module(shape)
    assert len(module) == specht_dimension(shape)
    one = np.eye(len(module), dtype=np.int64)
    simple = [module.transposition(i, i + 1) for i in range(module.size - 1)]
    for i, s in enumerate(simple):
        assert np.array_equal(s @ s, one)
        for j, r in enumerate(simple[i + 1 :], i + 1):
            order = 3 if j == i + 1 else 2
            assert np.array_equal(np.linalg.matrix_power(s @ r, order), one)


@pytest.mark.parametrize("shape", SHAPES)
def test_transpositions_have_the_trace_of_the_content_formula(shape):
    module = specht_module(shape)
    contents = sum(column - row for row, length in enumerate(shape) for column in range(length))
    pairs = module.size * (module.size - 1) // 2
    assert np.trace(module.transposition(0, 1)) * pairs == contents * len(module)


@pytest.mark.parametrize("shape", SHAPES)
def test_polytabloids_are_highest_weight_vectors(shape):
    module = specht_module(shape)
    place = {tuple(word): column for column, word in enumerate(module.words.tolist())}
    for letter in range(1, len(shape)):
        raised: dict[tuple[int, ...], np.ndarray] = {}
        for word, column in place.items():
            for i, x in enumerate(word):
                if x == letter:
                    image = (*word[:i], letter - 1, *word[i + 1 :])
                    raised[image] = raised.get(image, 0) + module.tensors[:, column]
        assert all(not value.any() for value in raised.values())
    assert np.linalg.matrix_rank(module.tensors) == len(module)


def test_transposition_moves_the_letters_of_words():
    module = specht_module((3, 2))
    place = {tuple(word): column for column, word in enumerate(module.words.tolist())}
    swapped = [place[tuple(np.array(word)[[0, 3, 2, 1, 4]])] for word in place]
    assert np.array_equal(module.transposition(1, 3) @ module.tensors, module.tensors[:, swapped])


@pytest.mark.parametrize(
    ("entry", "fits"), [(2**31, True), (2**32 - 1, True), (2**32, False), (2**33, False)]
)
def test_inverses_with_large_entries_are_refused(monkeypatch, entry, fits):
    """Products of larger floats need not be exact."""
    module = SpechtModule((2, 1))
    monkeypatch.setattr(module, "coefficients", lambda words: np.array([[1, entry], [0, 1]]))
    if fits:
        assert module._inverse.tolist() == [[1, -entry], [0, 1]]
    else:
        with pytest.raises(ArithmeticError, match=r"of shape \(2, 1\) could not be inverted"):
            _ = module._inverse
