"""Random copies of random models, and copies with a mistake: how often is the verdict right?

``python -m tests.checkpoints.many_copies --count 1000``
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np

from agattn.checkpoints.same_model import SameModel, compare_models
from tests.checkpoints.copies import (
    FAMILIES,
    MISTAKES,
    can_have,
    mistaken_copy,
    symmetric_copy,
    transformer,
)

DTYPES = ("float32", "float16", "bfloat16")


def right_array(result: SameModel, parts: set[str], layer: int) -> bool:
    """Whether the first array that does not fit is the one with the mistake."""
    misfits = [check for check in result.checks if check.ratio > 1]
    return any(c.part in parts and c.layer == layer and c.words == result.first for c in misfits)


def mistakes(count: int) -> Iterator[tuple[str, str, str, SameModel, set[str], int]]:
    """Comparisons with copies with a mistake of at least ten times its bound: kind, family, type, result."""
    cases = itertools.cycle(itertools.product(DTYPES, FAMILIES, MISTAKES))
    seed = made = 0
    while made < count:
        dtype, family, kind = next(cases)
        rng = np.random.default_rng([seed, 1])
        seed += 1
        model = transformer(family, rng, dtype)
        if not can_have(model, kind):
            continue
        copy, parts, layer = mistaken_copy(model, rng, kind)
        result = compare_models(model, copy)
        if max(check.ratio for check in result.checks) < 10:
            continue
        made += 1
        yield kind, family, dtype, result, parts, layer


def main() -> None:
    """Count verdicts, and print them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    count = parser.parse_args().count
    words, largest = Counter[str](), 0.0
    cases = itertools.cycle(itertools.product(FAMILIES, DTYPES))
    for seed, (family, dtype) in zip(range(count), cases, strict=False):
        rng = np.random.default_rng([seed, 0])
        model = transformer(family, rng, dtype)
        result = compare_models(model, symmetric_copy(model, rng))
        words[result.word] += 1
        largest = max(largest, max(check.ratio for check in result.checks))
        if not result.equivalent:
            print("copy", family, dtype, seed, result.summary())
    print(f"{count} copies: {dict(words)}, largest ratio {largest:.3f}")
    words = Counter()
    named = Counter[str]()
    kinds = Counter[str]()
    for kind, family, dtype, result, parts, layer in mistakes(count):
        words[result.word] += 1
        kinds[kind] += 1
        right = right_array(result, parts, layer)
        named[result.word] += right
        if result.word != "different" or not right:
            print(kind, family, dtype, layer, sorted(parts), result.summary())
    print(f"{count} mistakes: {dict(words)}, of these named rightly {dict(named)}; {dict(kinds)}")


if __name__ == "__main__":
    main()
