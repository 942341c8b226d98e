r"""The number of critical points of the loss of general data: the ED degree of M̄ in the metric I ⊗ W.

The map (A, V) ↦ y is defined on a smooth variety X, the pairs of a matrix A with columns in a space U of
dimension α, up to scale, and V up to scale: :math:`X = P(S ⊗ ℂ^d) × P^{dd'-1}` over Gr(α, d), with the
tautological bundle S. If the loss of the data has no singular points on X, as it is for d' = 1, the number is

.. math:: (-1)^{\dim X} \int_X \frac{c(T_X)}{(1 + h)(1 + 2h)}, \qquad h = c_1(O(1, 1)).

For d' > 1 the quadric y(I ⊗ W)yᵀ = 0 is singular on X at V = h kᵀ with h isotropic and k in the kernel of
the quadratic form M_A(v) = ‖v·A‖²_W; the loci :math:`\{k ∈ K ⊂ \ker M_A\}`, dim K = i, are smooth, and
integrals of the same kind over them are subtracted. The page on critical points has the proof. Integrals are
sums over the fixed points of a torus (Bott's residue formula), exact in rational numbers.

Source: Aluffi and Harris, *The Euclidean distance degree of smooth complex projective varieties*, 2018;
Maxim, Rodriguez and Wang, *Defect of Euclidean distance degree*, 2020, for the correction.

>>> from agattn.architectures import SingleLayer
>>> [generic_ed_degree(SingleLayer(d, 1)) for d in (1, 2, 3, 4)]
[1, 14, 543, 35964]
>>> [generic_ed_degree(SingleLayer(2, d_out, a)) for d_out, a in ((1, 1), (2, 1), (2, 2), (3, 2))]
[10, 68, 68, 92]
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations, product
from math import prod
from typing import NamedTuple

import flint

from agattn.architectures import SingleLayer
from agattn.errors import InputError

#: Beyond it the number is not known here.
MAX_OUT = 3


class FixedPoint(NamedTuple):
    """Weights of a torus at a fixed point: tangent, of normal bundles, and of h = c_1(O(1))."""

    tangent: Sequence[int]
    normal: Sequence[int]
    h: int


@lru_cache(maxsize=64)
def generic_ed_degree(layer: SingleLayer) -> int:
    """The number of critical points of the loss of general data on the smooth part of M̄, for d' ≤ 3.

    Raises:
        InputError: if d' > 3 and d > 1, or t = 1.

    >>> generic_ed_degree(SingleLayer(3, 1, 1)), generic_ed_degree(SingleLayer(3, 1, 2))
    (1083, 7965)
    """
    d, d_out = layer.d, layer.d_out
    if not layer.has_orbits:
        raise InputError("t is 1; the ED degree is known for t ≥ 2")
    if d == 1:
        return 1
    if d_out > MAX_OUT:
        raise InputError(f"d' is {d_out}; the ED degree in the metric I ⊗ W is known for d' ≤ {MAX_OUT}")
    whole: int = _integral(partial(_pairs, layer))
    if d_out == 1:
        # For a = 1, too, each function has two pairs (k qᵀ, vᵀ), which meet at v ∥ k.
        return whole if layer.a > 1 else (whole - _integral(partial(_squares, d))) // 2
    if d_out == 2:
        return whole - 2 * _integral(partial(_kernels, layer, 1))
    signs: list[int] = [(-2) ** (i - 1) * (-1) ** (i * (i - 1) // 2) for i in range(1, d + 1)]
    parts = [_integral(partial(_kernels, layer, i)) for i in range(1, d + 1)]
    return whole - sum(c * part for c, part in zip(signs, parts, strict=True))


def _integral(points: Callable[[], Iterator[FixedPoint]]) -> int:
    """(−1)ⁿ ∫ c(T) / ((1 + h)(1 + 2h)) over the zeros, of dimension n, of a general section of a bundle."""
    total = flint.fmpq(0)
    dimension = 0
    for point in points():
        dimension = len(point.tangent) - len(point.normal)
        if dimension < 0:
            return 0
        series = [1] + [0] * dimension  # in a variable for the degree
        for weight in point.tangent:
            for n in range(dimension, 0, -1):
                series[n] += weight * series[n - 1]
        for weight in (*point.normal, point.h, 2 * point.h):
            for n in range(1, dimension + 1):
                series[n] -= weight * series[n - 1]
        total += flint.fmpq(series[dimension] * prod(point.normal), prod(point.tangent))
    assert total.q == 1
    value = int(total.p)
    return -value if dimension % 2 else value


def _weights(*sizes: int) -> list[list[int]]:
    """Characters of a torus on vector spaces, without relations that matter."""
    draw = random.Random(0)
    numbers = iter(draw.sample(range(10**6, 10**9), sum(sizes)))
    return [[next(numbers) for _ in range(size)] for size in sizes]


def _attention(
    layer: SingleLayer, rows: Sequence[int], columns: Sequence[int]
) -> Iterator[tuple[list[int], int]]:
    """Fixed points (U, A) with A a unit matrix with a column in U: tangent weights, and that of A."""
    for U in combinations(range(layer.d), layer.alpha):
        grassmannian = [rows[j] - rows[i] for i in U for j in range(layer.d) if j not in U]
        lines = [rows[i] + b for i in U for b in columns]
        for n, line in enumerate(lines):
            yield grassmannian + _others(lines, n), line


def _others(lines: Sequence[int], n: int) -> list[int]:
    """Tangent weights of a projective space at its fixed point n."""
    return [line - lines[n] for m, line in enumerate(lines) if m != n]


def _pairs(layer: SingleLayer) -> Iterator[FixedPoint]:
    """X: the pairs (U, A) and V, with O(1, 1)."""
    rows, columns, values = _weights(layer.d, layer.d, layer.d * layer.d_out)
    for (tangent, line), n in product(list(_attention(layer, rows, columns)), range(len(values))):
        yield FixedPoint(tangent + _others(values, n), (), -line - values[n])


def _squares(d: int) -> Iterator[FixedPoint]:
    """q ⊗ k²."""
    columns, rows = _weights(d, d)
    for b, i in product(range(d), repeat=2):
        yield FixedPoint(_others(columns, b) + _others(rows, i), (), -columns[b] - 2 * rows[i])


def _kernels(layer: SingleLayer, size: int) -> Iterator[FixedPoint]:
    """(A, k ∈ K, h) with K in the kernel of M_A of this dimension, and h isotropic: for d' = 2 one of two."""
    rows, columns, kernel, outputs = _weights(layer.d, layer.d, layer.d, 3)
    places = range(layer.d)
    isotropic = (
        [([], [], 0)]
        if layer.d_out == 2
        else [(_others(outputs, n), [-2 * x], x) for n, x in enumerate(outputs)]
    )
    for K in combinations(places, size):
        flag = [kernel[j] - kernel[i] for i in K for j in places if j not in K]
        pairs = {tuple(sorted((i, j))) for i in K for j in places}
        for n, (tangent, line), (other, conic, h) in product(
            range(size), list(_attention(layer, rows, columns)), isotropic
        ):
            # The entries of M_A in rows of K, each of degree 2 in A.
            entries = [-kernel[i] - kernel[j] - 2 * line for i, j in pairs]
            lines = [kernel[i] for i in K]
            yield FixedPoint(
                [*tangent, *flag, *_others(lines, n), *other], [*entries, *conic], -line - lines[n] - h
            )
