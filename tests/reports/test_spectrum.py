"""Singular values on a logarithmic scale: which are drawn, and where the rank cuts them."""

from types import SimpleNamespace

import numpy as np
import pytest

from agattn.algebra.matrices import read_matrix
from agattn.errors import TooLargeError
from agattn.reports import spectrum


@pytest.mark.parametrize(("limit", "how"), [(60, "400 bits"), (1, "float64")])
def test_logarithms_of_the_values_that_are_not_zero(monkeypatch, limit, how):
    monkeypatch.setattr(spectrum, "PRECISE_SIZE", limit)
    for matrix in ([[1000, 0], [0, 10], [0, 0]], [["1000", 0], [0, "10"]]):
        logs, found = spectrum.base_10_logarithms(read_matrix(matrix))
        assert found == how and logs == pytest.approx([3, 1], abs=1e-12)
    assert spectrum.base_10_logarithms(read_matrix([[0, 0], [0, 0]]))[0] == []
    monkeypatch.setattr(spectrum, "LARGEST_SIZE", 1)
    with pytest.raises(TooLargeError, match="a spectrum of a 2 x 2 matrix is too large"):
        spectrum.base_10_logarithms(read_matrix(np.eye(2, dtype=int)))


@pytest.mark.parametrize(
    ("rank", "label"), [(1, "the rank: all values to the left"), (None, "the rank ends here")]
)
def test_the_rank_or_its_bounds_are_drawn(monkeypatch, rank, label):
    pytest.importorskip("matplotlib")
    saved = []
    monkeypatch.setattr(spectrum, "save", lambda figure, path: saved.append(figure))
    result = SimpleNamespace(rank=rank, lower_bound=1, upper_bound=2)
    spectrum.draw(read_matrix([[10, 0], [0, 1]]), result, "nowhere.svg")
    [axes] = saved[0].axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["singular values", label]
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([1, 0], abs=1e-12)
    assert len(axes.lines) == (2 if rank else 1)
