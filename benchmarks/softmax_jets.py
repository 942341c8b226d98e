"""Ranks of softmax networks: jets modulo primes against the function in balls.

    python benchmarks/softmax_jets.py [--networks 500] [--seed 0] [--figure-3]

The rank of a jet modulo a prime is a proved lower bound on the dimension of the network. The function itself
has a Jacobian in floating point, a minor of which is proved to be nonzero in balls. The order of the jet
rises, 1, 3, 5, ..., until both ranks are equal, or to the last order that is tried. A jet of order 2·3^(D−1)
+ 1 sees all scores of a network of D layers with one head; several heads need more. Random networks have 1
or 2 layers, widths 1 to 4, ranks 1 to 3, 1 or 2 heads, 2 or 3 tokens, with and without skip connections.
Times are processor time in seconds, of all threads; that of the jet is the time of the last order.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from agattn import DeepNetwork, Jet
from agattn.algebra.rank import rank
from agattn.architectures import Architecture
from agattn.geometry.dimension.formulas import symmetry_bound
from agattn.geometry.dimension.jacobian import jacobian_rows
from agattn.reports.figure3 import SIZES, network

#: Orders beyond this are not tried.
LAST = 15


def random_network(draw: random.Random) -> DeepNetwork:
    """A small softmax network."""
    layers, skip = draw.randint(1, 2), draw.random() < 0.3
    width = draw.randint(1, 4)
    dims = tuple(width if skip else draw.randint(1, 4) for _ in range(layers + 1))
    ranks = tuple(draw.randint(1, 3) for _ in range(layers))
    heads = draw.randint(1, 2)
    return DeepNetwork(dims, ranks, draw.randint(2, 3), heads, skip=skip, normalization="softmax")


def lower_bound(architecture: Architecture, upper: int) -> tuple[int, float]:
    """A proved lower bound on the dimension by a rank, and its seconds."""
    begun = time.process_time()
    bound = symmetry_bound(architecture)
    found = rank(jacobian_rows(architecture, bound), points=1).lower_bound
    assert found <= upper
    return found, time.process_time() - begun


def compare(one: DeepNetwork) -> tuple[str, float, float, int, int]:
    """The order by which both bounds agree, the seconds of both, and both bounds."""
    upper = symmetry_bound(one).value
    in_balls, by_balls = lower_bound(one, upper)
    for order in range(1, LAST + 1, 2):
        of_jet, by_jet = lower_bound(Jet(one, order), upper)
        if of_jet >= in_balls:
            break
    met = "proved from both sides" if in_balls == of_jet == upper else "equal"
    heads = "one head" if {*one.heads_by_layer} == {1} else "more heads"
    layers = f"{one.layers} layer{'s' * (one.layers > 1)}"
    said = f"{met} by order {order}" if of_jet == in_balls else f"differ at order {order}"
    return f"{layers}, {heads}: {said}", by_jet, by_balls, of_jet, in_balls


def main() -> None:
    """Print a line for each size or kind of agreement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure-3", action="store_true", help="the networks of HMK's Figure 3 instead")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    if arguments.figure_3:
        networks = [network(size) for size in SIZES]
    else:
        networks = [random_network(draw) for _ in range(arguments.networks)]
    found: Counter[str] = Counter()
    totals = [0.0, 0.0]
    for one in networks:
        said, by_jet, by_balls, of_jet, in_balls = compare(one)
        found[said] += 1
        totals = [totals[0] + by_jet, totals[1] + by_balls]
        if arguments.figure_3 or "differ" in said:
            jet, balls = f"{of_jet} by the jet in {by_jet:.2f} s", f"{in_balls} in balls in {by_balls:.2f} s"
            print(f"{one}: {jet}, {balls}; {said}", flush=True)
    for said, count in sorted(found.items()):
        print(f"{count:5} {said}")
    print(f"{len(networks)} networks; {totals[0]:.1f} s by jets, {totals[1]:.1f} s in balls")


if __name__ == "__main__":
    main()
