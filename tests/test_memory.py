"""What a computation takes is compared with the bound that was told before."""

import subprocess
import sys

import pytest

from agattn import DeepNetwork, Network, Perceptron, SingleLayer, ideal, memory
from agattn.geometry.dimension.dimension import dimension

#: A process of its own, as the most that a process ever held is measured.
TAKING = """
import sys
import numpy as np
from agattn.memory import Memory
from agattn.limits import limited
memory = Memory()
with limited(progress=print):
    memory.allow(float(sys.argv[1]), "a vector")
    taken = np.ones(int(sys.argv[2]) // 8)
    memory.check()
    memory.check()
    memory.allow(2**20, "a small vector")
    memory.check()
"""


def taking(need, taken):
    done = subprocess.run(
        [sys.executable, "-c", TAKING, str(need), str(taken)], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_what_is_taken_is_told_if_it_is_beyond_the_bound_or_the_need_was_large():
    [said] = taking(2**25, 2**28)
    assert said.startswith("a vector: 2")  # MiB, and some for the interpreter
    assert said.endswith("MiB of memory were taken, more than the bound of 32 MiB; please report it")
    first, second = taking(2**31, 2**28)
    assert first == "a vector: up to 2.0 GiB of memory"
    assert second.startswith("a vector: at most 2") and second.endswith("MiB of memory were taken")
    assert taking(2**28, 2**28) == []


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
def test_dimensions_and_ideals_compare_their_bounds_with_what_they_took(run, monkeypatch):
    monkeypatch.setattr(memory, "LARGE", 0)
    said: list[str] = []
    run(said.append)
    told = [line for line in said if ": up to " in line]
    after = [line for line in said if line.endswith(" of memory were taken")]
    assert told and after
    assert {line.split(": at most")[0] for line in after} <= {line.split(": up to")[0] for line in told}
    assert not any("more than the bound" in line for line in said)
