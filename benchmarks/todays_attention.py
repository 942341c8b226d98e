"""An audit of small layers with groups of heads and with latents: which formulas hold beyond the theorems.

    python benchmarks/todays_attention.py            # one minute
    python benchmarks/todays_attention.py --quick    # the smallest shapes

Of every shape the rank of the Jacobian is taken at two points, modulo two primes. It is compared with the
formula of parameters less groups, and with the bounds on the space that the functions lie in. A rank above
the least of them would refute a proof; a rank below it is an exception. Each row of the table counts the
shapes of a kind. Exceptions are listed with (d, d', a, b, s, g) or (d, d', a, b, H, r, ρ), the rank, and
what was expected.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from itertools import product

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from agattn import Attention, Network
from agattn.algebra.rank import rank
from agattn.geometry.dimension.formulas import Bound, capacity_bound, reduced
from agattn.geometry.dimension.jacobian import jacobian_rows
from agattn.geometry.dimension.theorems import by_layer, less_groups

Shape = tuple[int | None, ...]


def groups(quick: bool, numbers: tuple[int, ...]) -> Iterator[tuple[Shape, Network]]:
    """So many groups: all a, b ≤ d for one, else a, b ≤ 2."""
    alone = numbers == (1,)
    several = (2, 3) if quick or not alone else tuple(range(2, 9))
    for d, out, s, g in product((2,) if quick else (2, 3, 4, 5), (1, 2, 3), several, numbers):
        for a, b in product(range(1, d + 1 if alone else 3), repeat=2):
            layer = Attention(out, a, heads=s * g, kv_heads=g, value_rank=b)
            yield (d, out, a, b, s, g), Network([layer], d, 2)


def latents(quick: bool) -> Iterator[tuple[Shape, Network]]:
    """Latents of all sizes."""
    widths, outs, numbers = ((3,), (1,), (1, 2)) if quick else ((3, 4, 5), (1, 2, 3), (1, 2, 3))
    for d, out, a, b, heads in product(widths, outs, (1, 2), (1, 2), numbers):
        for r, rho in product((1, 2, 3, 4), (None, 1, 2, 3, 4)):
            layer = Attention(out, a, heads=heads, value_rank=b, kv_latent=r, q_latent=rho)
            yield (d, out, a, b, heads, r, rho), Network([layer], d, 2)


def main() -> None:
    """Print the table, then the exceptions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the smallest shapes")
    quick, exceptions = parser.parse_args().quick, list[str]()
    print("| layers | shapes | by theorem | formula holds | fills its space | exceptions |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    kinds = {
        "one group": groups(quick, (1,)),
        "two and three groups": groups(quick, (2, 3)),
        "latents": latents(quick),
    }
    for name, shapes in kinds.items():
        counts = dict.fromkeys(("theorem", "formula", "space", "exception"), 0)
        for shape, network in shapes:
            formula = less_groups(reduced(network))
            expected = min(formula, capacity_bound(network).value)
            rows = jacobian_rows(network, Bound(network.parameters, "the parameters"))
            found = rank(rows, seed=1, points=2).upper_bound
            assert found <= expected, f"{shape}: rank {found} above {expected}"
            if theorem := by_layer(network):
                assert theorem.value == found, shape
                counts["theorem"] += 1
            elif found == formula:
                counts["formula"] += 1
            elif found == expected:
                counts["space"] += 1
            else:
                counts["exception"] += 1
                exceptions.append(f"{name} {shape}: {found} for {expected}")
        print("| " + " | ".join([name, str(sum(counts.values())), *map(str, counts.values())]) + " |")
    print("\n".join(["", *exceptions]))


if __name__ == "__main__":
    main()
