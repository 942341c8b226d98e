"""What the benchmarks ask of this package, and one such question, done in this process.

    python benchmarks/cases.py dimension KIND NUMBER
    python benchmarks/cases.py ideal models NUMBER

prints the seconds inside, without imports, the evidence, the memory, and the answer. This file imports only
what earlier versions of agattn have as well, so that the Python of another environment can run it.
"""

from __future__ import annotations

import itertools
import os
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

# As the command line does: one thread, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import agattn as ag
from agattn.evidence import weakest

# Networks --------------------------------------------------------------------------------------------------


def block(d: int, heads: int, rank: int, tokens: int) -> ag.Network:
    """A block of a transformer without softmax and normalization."""
    attention = ag.Attention(d, rank, heads, rank, "causal", rotary=True, skip=True)
    return ag.Network([attention, ag.Perceptron([4 * d, d], 2, skip=True)], d, tokens)


def clebsch() -> ag.Network:
    return ag.Network([ag.Perceptron([5, 1], 4)], 3)


#: The networks whose dimension is asked, each made when it is called.
NETWORKS: list[Callable[[], Any]] = [
    clebsch,
    lambda: ag.Network([ag.Perceptron([14, 1], 4)], 5),
    lambda: ag.Network([ag.Perceptron([8, 8, 4], 2)], 6),
    lambda: ag.Network([ag.Convolution(3, 2), ag.Convolution(3, 2), ag.Convolution(3, 1)], 9),
    lambda: ag.DeepNetwork((2, 2, 2), (1, 1), t=2),
    lambda: ag.DeepNetwork((3, 3, 3), (2, 2), t=3),
    lambda: ag.DeepNetwork((12, 12, 12), (3, 3), t=3),
    lambda: block(4, 2, 2, 3),
    lambda: block(16, 4, 4, 4),
]

# Polynomial maps as users write them: most are lists of numbers --------------------------------------------


def rank_one_list(a, b):  # type: ignore[no-untyped-def]
    return [a[i] * b[j] for i in range(20) for j in range(50)]


def rank_one_array(a, b):  # type: ignore[no-untyped-def]
    return a[:, None] * b


def determinant(rows):  # type: ignore[no-untyped-def]
    """By the first row."""
    first, *others = rows
    if not others:
        return first[0]
    return sum(
        (-1) ** j * x * determinant([row[:j] + row[j + 1 :] for row in others]) for j, x in enumerate(first)
    )


def quadrifocal(A, B, C, D):  # type: ignore[no-untyped-def]
    cameras = [[[M[i, j] for j in range(4)] for i in range(3)] for M in (A, B, C, D)]
    return [determinant(list(rows)) for rows in itertools.product(*cameras)]


def secants(u, v):  # type: ignore[no-untyped-def]
    entries = []
    for places in itertools.product(range(2), repeat=8):
        one = other = 1
        for k, i in enumerate(places):
            one, other = one * u[k, i], other * v[k, i]
        entries.append(one + other)
    return entries


#: The maps whose dimension is asked. Recording the function counts as well.
MAPS: list[Callable[[], ag.PolynomialMap]] = [
    partial(ag.PolynomialMap, rank_one_list, {"a": 20, "b": 50}, name="20×50 matrices of rank one, by list"),
    partial(
        ag.PolynomialMap, rank_one_array, {"a": 20, "b": 50}, name="20×50 matrices of rank one, by array"
    ),
    partial(ag.PolynomialMap, quadrifocal, dict.fromkeys("ABCD", (3, 4)), name="quadrifocal tensors"),
    partial(ag.PolynomialMap, secants, {"u": (8, 2), "v": (8, 2)}, name="σ₂((ℙ¹)⁸)"),
]

# Layers of today: groups of heads, and latents -------------------------------------------------------------


def _today(d: int, out: int, a: int, b: int, heads: int, tokens: int = 2, **sizes: int) -> ag.Network:
    return ag.Network([ag.Attention(out, a, heads=heads, value_rank=b, **sizes)], d, tokens)


#: Grouped queries (``kv_heads``), and latents of keys and values, and of queries.
TODAY: list[Callable[[], ag.Network]] = [
    partial(_today, 5, 3, 2, 2, 3, kv_heads=1),
    partial(_today, 4, 4, 2, 2, 3, tokens=3, kv_heads=1),
    partial(_today, 5, 4, 2, 1, 4, kv_heads=2),
    partial(_today, 8, 8, 2, 2, 8, kv_heads=2),
    partial(_today, 16, 16, 4, 4, 8, kv_heads=2),
    partial(_today, 7, 3, 2, 1, 2, kv_latent=4, q_latent=4),
    partial(_today, 8, 8, 2, 2, 4, kv_latent=3),
    partial(_today, 16, 16, 4, 4, 4, kv_latent=6, q_latent=8),
]

# Sizes along which the dimension grows ---------------------------------------------------------------------


def softmax(delta: int) -> ag.DeepNetwork:
    """A network of HMK's Figure 3."""
    return ag.DeepNetwork((delta,) * 3, (2, 2), 3, normalization="softmax")


def width(d: int) -> ag.DeepNetwork:
    return ag.DeepNetwork((d, d), (d,), 2)


def heads(h: int) -> ag.DeepNetwork:
    return ag.DeepNetwork((12, 12), (2,), 3, heads=h)


def depth(layers: int) -> ag.DeepNetwork:
    return ag.DeepNetwork((12,) * (layers + 1), (4,) * layers, 3)


def two_layers(d: int) -> ag.DeepNetwork:
    return ag.DeepNetwork((d,) * 3, (d // 4,) * 2, 3)


def four_layers(d: int) -> ag.DeepNetwork:
    return ag.DeepNetwork((d,) * 5, (d // 4,) * 4, 3)


#: What can be asked for by kind and number.
KINDS: dict[str, Callable[[int], Any]] = {
    "models": lambda number: [*NETWORKS, *MAPS][number](),
    "today": lambda number: TODAY[number](),
    **{make.__name__: make for make in (softmax, width, heads, depth, two_layers, four_layers)},
}

# Equations -------------------------------------------------------------------------------------------------


def minors(n: int) -> ag.PolynomialMap:
    """The cone over the Grassmannian Gr(2, n)."""

    def plucker(M):  # type: ignore[no-untyped-def]
        return [M[0, i] * M[1, j] - M[0, j] * M[1, i] for j in range(n) for i in range(j)]

    return ag.PolynomialMap(plucker, {"M": (2, n)}, name=f"Gr(2,{n})")


def cubic(s):  # type: ignore[no-untyped-def]
    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]


def ideals() -> list[tuple[Any, int]]:
    """What equations are asked of, up to which degree."""
    return [
        (ag.PolynomialMap(cubic, {"s": 2}, name="twisted cubic"), 3),
        (minors(4), 3),
        (minors(5), 3),
        (minors(6), 3),
        (ag.DeepNetwork((2, 1), (2,), t=2, heads=2), 4),
        (ag.SingleLayer(3, 1, 3), 4),
        (ag.Network([ag.Perceptron([2, 1], 2)], 4), 3),
        (ag.Network([ag.Attention(2, 1, mask="causal")], 2, 2), 3),
    ]


# One question, in this process -----------------------------------------------------------------------------


def timed(function: Callable[[], Any], least: float = 0.0) -> tuple[float, Any]:
    """Seconds of processor time, the mean of calls that take so many seconds together; the value."""
    start, calls = time.process_time(), 0
    while calls == 0 or (time.process_time() - start < least and calls < 100):
        value = function()
        calls += 1
    return (time.process_time() - start) / calls, value


def a_dimension(kind: str, number: int) -> tuple[float, Any]:
    """Maps and networks that are models once, as their functions are recorded; sizes that grow often."""
    for known in (ag.PolynomialMap(cubic, {"s": 2}), clebsch(), width(2)):
        ag.dimension(known)  # imports
    if kind in ("models", "today"):
        return timed(lambda: ag.dimension(KINDS[kind](number)))
    # With force by the rank of a Jacobian, also where a theorem knows it.
    network = KINDS[kind](number)
    return timed(lambda: ag.dimension(network, force=True), 0.1)


def an_ideal(number: int) -> tuple[float, Any]:
    """The ideal with all equations written out."""
    others = ag.SingleLayer(2, 1, 1), ag.Network([ag.Attention(1, 1, mask="causal")], 1, 2)
    for known in (ag.PolynomialMap(cubic, {"s": 2}), *others):
        ag.ideal(known, 2)  # imports
    architecture, degree = ideals()[number]
    if isinstance(architecture, ag.Network):
        ag.dimension(others[1])  # imports networkx

    def written() -> Any:
        found = ag.ideal(architecture, degree)
        assert sum(1 for _ in found) == sum(piece.minimal_generators for piece in found.degrees)
        return found

    return timed(written)


def main() -> None:
    """Print the seconds inside, the evidence, the memory and the answer."""
    way, kind, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if way == "ideal":
        seconds, found = an_ideal(number)
        answer = [piece.minimal_generators for piece in found.degrees]
        evidence, shape = weakest(piece.evidence for piece in found.degrees), (0, 0)
    else:
        seconds, found = a_dimension(kind, number)
        answer, evidence, shape = [found.dimension], found.evidence, found.jacobian_shape or (0, 0)
    columns = found.ranks[0].columns if getattr(found, "ranks", ()) else shape[1]
    print(f"inside {seconds}\nevidence {evidence}")
    print(f"MiB {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}")
    print(f"rows {shape[0]}\ncolumns {columns}\n{answer}")


if __name__ == "__main__":
    main()
