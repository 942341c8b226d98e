"""What a computation takes is within the bound that is told before."""

import re
import tracemalloc

import pytest

from agattn import DeepNetwork, Network, Perceptron, SingleLayer, ideal, memory
from agattn.geometry.dimension.dimension import dimension


@pytest.mark.parametrize(
    "run",
    [
        lambda step: dimension(DeepNetwork((6, 6), (3,), 2), progress=step),
        lambda step: dimension(DeepNetwork((3, 3), (2,), 2, normalization="softmax"), progress=step),
        lambda step: ideal(SingleLayer(3, 1), 4, progress=step),
        lambda step: ideal(SingleLayer(2, 3), 6, progress=step),
        lambda step: ideal(SingleLayer(3, 2, 1, t=1), 3, progress=step),
        lambda step: ideal(Network([Perceptron([2, 1], 2)], 4), 3, progress=step),
    ],
)
def test_dimensions_and_ideals_take_no_more_than_they_say(run, monkeypatch):
    monkeypatch.setattr(memory, "LARGE", 0)
    steps: list[str] = []
    tracemalloc.start()
    run(steps.append)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bounds = [int(MiB) for step in steps for MiB in re.findall(r": up to (\d+) MiB of memory$", step)]
    assert bounds and peak <= 2**20 * (max(bounds) + 64)
