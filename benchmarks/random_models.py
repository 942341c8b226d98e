"""Dimensions of random models with three seeds each: do they agree, and how many are proved?

    python benchmarks/random_models.py
    python benchmarks/random_models.py --mixed --seeds 1 -O bounds.json
    python benchmarks/random_models.py --mixed --seeds 1 --against bounds.json

Models have one to three layers of all kinds, widths and ranks up to 4, at most three tokens; with ``--mixed``
two to four layers of lightning attention, perceptrons without biases and matrices. A disagreement between
seeds, or of a lower bound with an upper one, would be an error: of the program, or of a theorem; it is
printed, and the exit status is 1. So it is where a bound is worse than that of a file written before.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# As the command line does: one thread, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import agattn as ag
from agattn.architectures.layers import Layer
from agattn.geometry.dimension.dimension import dimension


class Draw:
    """Random layers and networks."""

    depths = 1, 3

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
                for _ in range(self.number(*self.depths)):
                    layers.append(self.layer(now[0]))
                    now = ag.Network(layers, *shape).output_shape
            except ag.InputError:
                continue
            network = ag.Network(layers, *shape)
            if network.parameters and (network.degree or 0) < 300:
                return network


class Mixed(Draw):
    """Networks of lightning attention, perceptrons and matrices."""

    depths = 2, 4

    def layer(self, dim: int) -> Layer:
        """A layer for an input with so many rows."""
        number, skip = self.number, self.number(0, 3) == 0
        kind, out = number(0, 5), dim if skip else number(1, 4)
        if kind <= 2:
            heads, values = number(1, 3), [None, 1, 2][number(0, 2)]
            return ag.Attention(out, number(1, 3), heads=heads, value_rank=values, skip=skip)
        if kind <= 4:
            return ag.Perceptron([number(1, 5), out], number(2, 3), skip=skip)
        return ag.Linear(out)


def features(tables: Any) -> Iterator[str]:
    """The kinds of layers in a model, given as JSON, and what is special about them."""
    for table in tables:
        yield table["type"]
        yield from (name for name in ("rotary", "skip", "bias") if table.get(name) is True)
        if table.get("mask", "none") != "none":
            yield "causal"
        if table.get("value_rank") is not None:
            yield "V = OP"
        if isinstance(table.get("layer"), list):
            yield from features(table["layer"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument(
        "--seed", type=int, default=11, help="of the models; each is asked with seeds 0, 1, 2"
    )
    parser.add_argument("--mixed", action="store_true", help="attention, perceptrons and matrices alone")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds each model is asked with")
    parser.add_argument("-O", "--output", type=Path, help="a file for the bounds of each model")
    parser.add_argument("--against", type=Path, help="a file of bounds that were written before")
    given = parser.parse_args()
    draw, start = (Mixed if given.mixed else Draw)(given.seed), time.process_time()
    proved, having, disagree, parameters = Counter[str](), Counter[str](), 0, 0
    bounds: dict[str, tuple[int, int]] = {}
    for _ in range(given.count):
        model = draw.network()
        found = [dimension(model, seed=seed) for seed in range(given.seeds)]
        lowest, highest = max(one.lower_bound for one in found), min(one.upper_bound for one in found)
        if len({one.dimension for one in found}) > 1 or lowest > highest:
            print(f"{model}: {[(one.dimension, one.lower_bound, one.upper_bound) for one in found]}")
            disagree += 1
        bounds[json.dumps(model.as_json())] = lowest, highest
        parameters = max(parameters, model.parameters)
        kinds = {"all", *features(model.as_json()["layer"])}
        having.update(kinds)
        proved.update(kinds if lowest == highest else ())
    seconds = time.process_time() - start
    what = f"{given.count} models of up to {parameters} parameters, with {given.seeds} seeds each"
    print(f"{what}: {disagree} disagree")
    for kind, number in having.most_common():
        print(f"{kind:12} {number:5}, of these {proved[kind]:5} proved, {proved[kind] / number:4.0%}")
    print(f"{seconds:.0f} s of processor time")
    if given.output:
        given.output.write_text(json.dumps(bounds))
    worse = compare(json.loads(given.against.read_text()), bounds) if given.against else 0
    return 1 if disagree or worse else 0


def compare(before: dict[str, list[int]], now: dict[str, tuple[int, int]]) -> int:
    """Print how many are proved, and how many bounds are better; returns how many are worse."""
    pairs = [(before[model], now[model]) for model in now.keys() & before.keys()]
    proved = [sum(low == high for low, high in side) for side in zip(*pairs, strict=True)]
    counts = Counter[str]()
    for (low, high), (lower, upper) in pairs:
        counts["lower bounds better"] += lower > low
        counts["lower bounds worse"] += lower < low
        counts["upper bounds better"] += upper < high
        counts["upper bounds worse"] += upper > high
    print(f"{len(pairs)} models: proved before {proved[0]}, now {proved[1]}; {dict(counts)}")
    return counts["lower bounds worse"] + counts["upper bounds worse"]


if __name__ == "__main__":
    raise SystemExit(main())
