"""ED degrees by Bott's residue formula, against Chern classes of products and known values."""

from functools import partial
from itertools import product
from math import comb

import pytest

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.critical_points import counts
from agattn.geometry.critical_points.counts import (
    FixedPoint,
    generic_ed_degree,
    numbers_by_theorem,
    stratum_ed_degree,
)
from agattn.geometry.strata.strata import Stratum


def of_products(sizes, multiples):
    """Σ (−1)ⁱ (2ⁿ⁺¹⁻ⁱ − 1) c_i hⁿ⁻ⁱ for a product of projective spaces with O(multiples)."""
    n, total = sum(sizes), 0
    for parts in product(*(range(size + 1) for size in sizes)):
        # c_i has the coefficient Π C(size + 1, part) of Π x^part; h^(n − i) the multinomial one of the rest.
        rest, left = [size - part for size, part in zip(sizes, parts, strict=True)], 0
        term = 1
        for size, part, other, multiple in zip(sizes, parts, rest, multiples, strict=True):
            left += other
            term *= comb(size + 1, part) * comb(left, other) * multiple**other
        i = sum(parts)
        total += (-1) ** i * (2 ** (n + 1 - i) - 1) * term
    return total


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_segre_and_rank_one(d):
    assert generic_ed_degree(SingleLayer(d, 1)) == of_products((d * d - 1, d - 1), (1, 1))
    pairs = of_products((d - 1,) * 3, (1, 1, 1)) - of_products((d - 1,) * 2, (1, 2))
    assert generic_ed_degree(SingleLayer(d, 1, 1)) == pairs / 2
    # For d = 2 that is P¹ × P² itself, whose forms of degree two are all products.
    assert d > 2 or pairs / 2 == of_products((1, 2), (1, 1)) == 10


@pytest.mark.parametrize(
    ("d", "a", "expected"), [(3, 1, 39), (3, 2, 39), (4, 1, 284), (4, 2, 1350), (4, 3, 284)]
)
def test_determinantal_varieties_alone(d, a, expected):
    """Known generic ED degrees, equal for ranks a and d − a by duality (Draisma and others, 2016)."""
    layer = SingleLayer(d, 1, a)
    rows, columns = counts._weights(d, d)
    points = [FixedPoint(tangent, (), -line) for tangent, line in counts._attention(layer, rows, columns)]
    assert counts._integral(lambda: iter(points)) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"), [((2, 2, 1), 68), ((2, 2, 2), 68), ((2, 3, 1), 68), ((2, 3, 2), 92)]
)
def test_losses_that_do_not_mix_outputs(sizes, expected):
    """As many as engines count for random data, modulo two primes."""
    assert generic_ed_degree(SingleLayer(*sizes)) == expected


def test_a_k3_surface():
    """Z_1 for M(2,2,2): two equations of degree (2,1) in P³ × P¹; 7·12 + 24."""
    assert counts._integral(lambda: counts._kernels(SingleLayer(2, 2), 1)) == 108


@pytest.mark.parametrize(
    ("stratum", "expected"),
    [
        (Stratum(1, 1, 1), {2: [14, 24, 28, 28, 28], 3: [219, 426, 591]}),
        (Stratum(1, 1, 2), {2: [10, 20, 27, 30, 30], 3: [1083, 2154, 3165]}),
    ],
    ids=str,
)
def test_the_strata_of_rank_one(stratum, expected):
    """For d = 2 and (3,1), (3,2) also what engines count; the rest is the table of the page."""
    for d, numbers in expected.items():
        found = [stratum_ed_degree(SingleLayer(d, e), stratum) for e in range(1, len(numbers) + 1)]
        assert found == numbers


def test_strata_of_smaller_rank_are_those_of_smaller_layers():
    layer = SingleLayer(4, 1, 3)
    found = numbers_by_theorem(layer, "generic")
    assert [str(s) for s in found] == ["(1,3,4)", "(1,1,1)", "(1,1,2)", "(1,2,3)"]
    assert found[Stratum(1, 2, 3)][0] == generic_ed_degree(SingleLayer(4, 1, 2))
    assert found[Stratum(1, 1, 2)][0] == generic_ed_degree(SingleLayer(4, 1, 1))
    assert stratum_ed_degree(layer, Stratum(1, 2, 2)) is None
    assert not numbers_by_theorem(layer, "gaussian") and not numbers_by_theorem(layer, "coefficients")
    assert not numbers_by_theorem(SingleLayer(2, 1, t=1), "generic")


def test_the_torus_does_not_matter(monkeypatch):
    layers = SingleLayer(3, 1, 2), SingleLayer(3, 2), SingleLayer(3, 3, 2), SingleLayer(3, 1, 1)
    numbers, drawn = [generic_ed_degree(layer) for layer in layers], counts._weights
    for seed in (1, 2):
        monkeypatch.setattr(counts, "_weights", partial(drawn, seed=seed))
        assert [generic_ed_degree.__wrapped__(layer) for layer in layers] == numbers


def test_what_is_not_known():
    with pytest.raises(InputError, match="d' is 4; the ED degree in the metric I ⊗ W is known for d' ≤ 3"):
        generic_ed_degree(SingleLayer(2, 4))
    with pytest.raises(InputError, match="t is 1"):
        generic_ed_degree(SingleLayer(2, 1, t=1))
    assert generic_ed_degree(SingleLayer(1, 9)) == 1
