"""Dimensions of random models with three seeds each: do they agree, and how many are proved?

    python benchmarks/random_models.py 500 --seed 11

Models have one to three layers of all kinds, widths and ranks up to 4, at most three tokens. A disagreement
between seeds, or of a lower bound with an upper one, would be an error: of the program, or of a theorem.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter

# As the command line does: one thread, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import agattn as ag
from agattn.architectures.layers import Layer
from agattn.geometry.dimension.dimension import dimension


class Draw:
    """Random layers and networks."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def number(self, low: int, high: int) -> int:
        return int(self.generator.integers(low, high + 1))

    def layer(self, dim: int) -> Layer:
        """A layer for an input with so many rows."""
        number, kind = self.number, self.number(0, 9)
        if kind <= 2:
            rotary, skip = number(0, 3) == 0, number(0, 2) == 0
            return ag.Attention(
                dim if skip else number(1, 4),
                2 * number(1, 1) if rotary else number(1, 3),
                heads=number(1, 2),
                value_rank=[None, 1, 2][number(0, 2)],
                mask="causal" if number(0, 1) else "none",
                rotary=rotary,
                skip=skip,
            )
        if kind <= 4:
            skip, widths = number(0, 2) == 0, [number(1, 4) for _ in range(number(1, 3))]
            widths[-1] = dim if skip else widths[-1]
            return ag.Perceptron(widths, number(1, 3), bias=number(0, 2) == 0, skip=skip)
        if kind == 5:
            return ag.Convolution(number(1, 3), number(1, 2), number(1, 2), number(1, 2))
        if kind == 6:
            return ag.Linear(number(1, 4), bias=bool(number(0, 1)))
        if kind == 7:
            return ag.Power(number(1, 2))
        if kind == 8:
            return ag.Sum()
        return ag.Skip([ag.Perceptron([number(1, 3), dim], number(1, 3)), ag.Linear(dim)])

    def network(self) -> ag.Network:
        """A network with parameters whose layers fit together."""
        while True:
            shape = now = self.number(1, 4), self.number(1, 3)
            layers: list[Layer] = []
            try:
                for _ in range(self.number(1, 3)):
                    layers.append(self.layer(now[0]))
                    now = ag.Network(layers, *shape).output_shape
            except ag.InputError:
                continue
            network = ag.Network(layers, *shape)
            if network.parameters and (network.degree or 0) < 300:
                return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=11)
    given = parser.parse_args()
    draw, known, start = Draw(given.seed), Counter[str](), time.perf_counter()
    for _ in range(given.count):
        model = draw.network()
        found = [dimension(model, seed) for seed in range(3)]
        lowest, highest = max(one.lower_bound for one in found), min(one.upper_bound for one in found)
        if len({one.dimension for one in found}) > 1 or lowest > highest:
            print(f"{model}: {[(one.dimension, one.lower_bound, one.upper_bound) for one in found]}")
            known["disagree"] += 1
        known["proved" if lowest == highest else "modular"] += 1
    print(f"{given.count} models: {dict(known)}, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
