"""Singular values on a logarithmic scale: where the rank cuts them, and the bands of a softmax network."""

import numpy as np
import pytest
from command_line import call

import agattn as ag
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


@pytest.fixture(scope="module")
def bands():
    small = ag.DeepNetwork((2, 2, 2), (1, 1), t=2, normalization="softmax")
    return spectrum.bands(ag.spectrum(small), digits=40, last=9)


def test_high_precision_has_the_slopes_of_the_smith_form_and_floats_lose_a_band(bands):
    assert [(one.order, one.multiplicity) for one in bands.spectrum.orders] == [(0, 4), (1, 3), (5, 3)]
    before, last = bands.scales[-2:]
    slopes = [(x - y) / 0.30103 for x, y in zip(before.values, last.values, strict=True)]
    assert slopes == pytest.approx([0] * 4 + [1] * 3 + [5] * 3, abs=0.02)
    assert bands.scales[0].above == 10 and last.above == 7
    assert last.floats[:7] == pytest.approx(last.values[:7], abs=1e-6)
    assert max(last.floats[7:]) < last.cutoff < min(last.values[:7])
    assert bands.words.count(", 7 values, and 10 are not 0 in 40 digits") == 1


def test_the_command_draws_them(tmp_path):
    pytest.importorskip("matplotlib")
    words = ["spectrum", "--dims", "2,2", "--ranks", "1", "-t", "2", "--normalization", "softmax", "-O"]
    assert call(*words, tmp_path / "bands.svg").status == 0
    assert (tmp_path / "bands.svg").stat().st_size > 10_000


@pytest.mark.slow
def test_twelve_of_ninety_six_drown_in_floats():
    network = ag.DeepNetwork((4, 4, 4, 4), (2, 2, 2), t=4, normalization="softmax")
    found = spectrum.bands(ag.spectrum(network), last=5)
    assert found.spectrum.kernel == 44 and found.spectrum.parameters == 96
    last = found.scales[-1]
    assert (len(last.values), last.above) == (52, 40)
