"""Linear symmetries: how long they take, and what is found on random lightning networks.

    python benchmarks/symmetries.py             # some sizes; --networks 100 for random networks as well

Of each random network the dimension of the Lie algebra is compared with that of the known symmetries; the new
generators are shown, by the arrays that they move. Times are seconds of processor time, of one run.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter

# As the command line does: one thread, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from agattn import Attention, DeepNetwork, Network, Perceptron, SingleLayer, Skip
from agattn.architectures import Architecture
from agattn.geometry.dimension.lie_algebra import LinearSymmetries, linear_symmetries

SIZES = (
    SingleLayer(3, 2, 2),
    DeepNetwork((3, 3, 2), (3, 3), t=3),
    DeepNetwork((4, 4, 4), (2, 2), t=3, heads=2),
    DeepNetwork((6, 6, 6), (3, 3), t=3),
    DeepNetwork((8, 8, 8), (4, 4), t=3),
    DeepNetwork((10, 10, 10), (2, 2), t=3),
)

BLOCK = Network(
    [
        Attention(16, rank=4, heads=4, value_rank=4, mask="causal", rotary=True, skip=True),
        Skip([Perceptron([64, 16], degree=2)]),
    ],
    dim=16,
    tokens=4,
)


def timed(network: Architecture, seed: int = 0) -> tuple[LinearSymmetries, float]:
    start = time.process_time()
    found = linear_symmetries(network, seed=seed, force=True)
    _ = found.structure
    return found, time.process_time() - start


def random_network(seed: int) -> DeepNetwork:
    """One to three layers of widths 1 to 3, one to three tokens, one or two heads, skips and products OP."""
    draw = np.random.default_rng(seed).integers
    layers = int(draw(1, 4))
    dims, ranks = draw(1, 4, layers + 1).tolist(), draw(1, 4, layers).tolist()
    skip = bool(draw(0, 4) == 0)
    return DeepNetwork(
        tuple(dims[:1] * (layers + 1) if skip else dims),
        tuple(ranks),
        t=int(draw(1, 4)),
        heads=tuple(draw(1, 3, layers).tolist()),
        skip=skip,
        value_rank=int(draw(1, 3)) if draw(0, 4) == 0 else None,
    )


def predicted(network: DeepNetwork) -> int:
    """How many generators are new by the three propositions of docs/networks/symmetries-proofs.md."""
    total, parallel, beta = 0, False, network.value_rank
    heads, ranks = network.heads_by_layer, network.ranks
    for i in range(network.depth):
        d, d_out, h, a = network.dims[i], network.dims[i + 1], heads[i], ranks[i]
        alone = i > 0 and not network.skip and heads[i - 1] == 1
        line = alone and (beta == 1 or (beta is None and network.dims[i - 1] == 1))
        behind = i > 0 and not network.skip and parallel
        parallel = network.t == 1 or d == 1 or behind or line or (alone and ranks[i - 1] == 1)
        total += h * a * (a - 1) * parallel
        total += h * (2 * a + (beta or d_out)) * d * (d - 1) // 2 * line
        if beta is not None:
            total += h * (d_out * (d == 1) + d * (d_out == 1)) * beta * (beta - 1) // 2
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", type=int, default=0, help="How many random networks.")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="How many of the fixed sizes.")
    parser.add_argument("--block", action="store_true", help="A block of a transformer as well: a minute.")
    given = parser.parse_args()
    for network in (*SIZES[: given.sizes], *[BLOCK] * given.block):
        found, seconds = timed(network)
        n = found.architecture.parameters
        print(f"{found}: {n} parameters, {found.systems} systems, {seconds:.2f} s", flush=True)
    kinds: Counter[str] = Counter()
    for seed in range(given.networks):
        network = random_network(seed)
        found, seconds = timed(network, seed)
        known = found.dimension - len(found.new)
        expected = sum(symmetry.size**2 for symmetry in network.symmetries)
        kinds["all known symmetries found, independent" if known == expected else "known ones dependent"] += 1
        kinds["nothing new" if not found.new else "new generators"] += 1
        kinds["as many new as predicted" if len(found.new) == predicted(network) else "others"] += 1
        kinds[str(found.evidence)] += 1
        moved = Counter(
            "".join(sorted({part[0] for part in g.moves.split() if part[1:2] == "_"})) for g in found.new
        )
        print(
            f"{network}: {known} known, {dict(moved) or 'nothing'} new, {found.evidence}, {seconds:.2f} s",
            flush=True,
        )
    if kinds:
        print(", ".join(f"{count} {kind}" for kind, count in kinds.items()))


if __name__ == "__main__":
    main()
