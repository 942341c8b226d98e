"""Lower bounds in balls: they prove what is true and refuse what is not."""

import flint
import numpy as np
import pytest

from agattn import Evidence
from agattn.algebra.arithmetic import to_balls
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.softmax_rank import is_nonsingular, pivots, softmax_rank
from agattn.reports.figure3 import SIZES, figure_3, float32_trial, network

FIGURE_3 = dict(zip(SIZES, (25, 40, 57, 76, 97, 120, 145, 172), strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_delta_10_is_proved_for_every_seed(seed):
    result = dimension(network(10), seed)
    assert (result.dimension, result.evidence) == (172, Evidence.PROVED)


@pytest.mark.parametrize(("delta", "value"), FIGURE_3.items())
def test_figure_3(delta, value):
    (row,) = figure_3([delta])
    assert row.computed.dimension == row.expected == value
    assert row.computed.evidence is Evidence.PROVED
    assert row.float32 <= value


def test_a_float32_trial_falls_short_at_delta_10():
    assert max(float32_trial(network(10), seed) for seed in range(2)) < 172


def test_more_than_the_rank_is_never_proved():
    assert softmax_rank(network(3), target=30, attempts=2).proved == 25


def test_nonsingular():
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((30, 30))
    assert is_nonsingular(to_balls(matrix))
    # exactly singular: integer entries, the last row the sum of the others
    integers = generator.integers(-9, 10, (12, 12))
    integers[-1] = integers[:-1].sum(axis=0)
    assert not is_nonsingular(to_balls(integers))
    wide = np.array([[flint.arb(1, 0.5), flint.arb(1)], [flint.arb(1), flint.arb(1, 0.5)]], dtype=object)
    assert not is_nonsingular(wide)  # contains the singular matrix of ones


def test_nonsingular_needs_precision():
    tiny = flint.arb(2) ** -200
    matrix = np.array([[flint.arb(1), flint.arb(1)], [flint.arb(1), flint.arb(1)]], dtype=object)
    with flint.ctx.workprec(300):
        matrix[1, 1] = flint.arb(1) + tiny
        assert is_nonsingular(matrix)
    with flint.ctx.workprec(64):
        assert not is_nonsingular(np.frompyfunc(lambda x: +x, 1, 1)(matrix))


def test_pivots_find_a_nonsingular_submatrix():
    generator = np.random.default_rng(1)
    matrix = generator.standard_normal((9, 4)) @ generator.standard_normal((4, 7)) * 1e6
    rows, columns, sizes = pivots(matrix, 7)
    assert (sizes > 1e-10).sum() == 4
    assert np.linalg.matrix_rank(matrix[np.ix_(rows[:4], columns[:4])]) == 4
