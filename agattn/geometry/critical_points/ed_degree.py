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

On (1,1,1) and (1,1,2) a function is h ⊗ y, and its quadric the product of hᵀh and yᵀWy. So there are three
divisors with normal crossings instead of two, and the same integral with 1/((1 + 2η)(1 + 2(ξ − η))(1 + ξ)),
η = c_1(O(1)) of the space of h and ξ = c_1(O(1)) of all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

import flint

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.strata.strata import Stratum, open_stratum, singular_by_ranks, strata

#: Beyond it the number is not known here.
MAX_OUT = 3
#: Ids of the theorems of the page on critical points: labels there, whatever the page is called.
GENERAL_DATA = "critical-points.general-data"
SINGULAR_STRATA = "critical-points.singular-strata"
BOMBIERI_WEYL = "critical-points.bombieri-weyl"


class FixedPoint(NamedTuple):
    """Weights of a torus at a fixed point: tangent, of normal bundles, of ξ = c_1(O(1)), and of η."""

    tangent: Sequence[int]
    normal: Sequence[int]
    h: int
    eta: int = 0


def size_of_sums(layer: SingleLayer) -> int:
    """About how many multiplications the numbers for general data take: fixed points times dimension squared.

    >>> size_of_sums(SingleLayer(4, 1)) < 10**6 < size_of_sums(SingleLayer(12, 1))
    True
    """
    d, d_out, alpha = layer.d, layer.d_out, layer.alpha
    attention = comb(d, alpha) * alpha * d
    kernels = d * 2 ** (d - 1) * d_out if d_out > 1 else 0
    whole = attention * (d * d_out + kernels) * layer.expected_dimension**2
    return whole + d_out * d**3 * (3 * d + d_out) ** 2


#: Sums are done up to so many multiplications: a minute.
MAX_SUMS = 2 * 10**8


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
        return whole if layer.a > 1 else (whole - _integral(partial(_vectors, d, 1, [2]))) // 2
    if d_out == 2:
        return whole - 2 * _integral(partial(_kernels, layer, 1))
    signs: list[int] = [(-2) ** (i - 1) * (-1) ** (i * (i - 1) // 2) for i in range(1, d + 1)]
    parts = [_integral(partial(_kernels, layer, i)) for i in range(1, d + 1)]
    return whole - sum(c * part for c, part in zip(signs, parts, strict=True))


def stratum_ed_degree(layer: SingleLayer, stratum: Stratum) -> int | None:
    """The number of critical points of the loss of general data on a stratum of singular points.

    ``None`` where no theorem says: where r_A > 1, or r_V > 1, and r_V or r is not as large as possible.

    >>> layer = SingleLayer(3, 2)
    >>> [stratum_ed_degree(layer, Stratum(1, 1, r)) for r in (1, 2)]
    [426, 2154]
    >>> stratum_ed_degree(SingleLayer(3, 2, 2), Stratum(2, 1, 2)) is None
    True
    """
    d, d_out, r_v, r_a, r = layer.d, layer.d_out, stratum.r_v, stratum.r_a, stratum.r
    if (r_v, r_a) == (1, 1):
        squares = _integral(partial(_vectors, d, d_out, [2]))
        return squares if r == 1 else (_integral(partial(_vectors, d, d_out, [1, 1])) - squares) // 2
    if d_out > MAX_OUT or (r_v, r) != (min(d, d_out), min(d, r_v + r_a)):
        return None
    return generic_ed_degree(SingleLayer(d, d_out, r_a, layer.t))


def bombieri_weyl_ed_degree(layer: SingleLayer) -> int | None:
    """The number of critical points of the distance to a general target in the Bombieri–Weyl norm.

    On the smooth part; ``None`` where no theorem says.

    >>> [bombieri_weyl_ed_degree(SingleLayer(d, 1)) for d in (1, 2, 3, 4)]
    [1, 4, 13, 40]
    >>> bombieri_weyl_ed_degree(SingleLayer(2, 1, 1)), bombieri_weyl_ed_degree(SingleLayer(3, 1, 2))
    (2, None)
    """
    if not layer.has_orbits or layer.d_out > 1:
        return None
    if layer.a >= layer.d:
        return int((3**layer.d - 1) // 2)
    return 2 if layer.d == 2 else None


def numbers_by_theorem(
    layer: SingleLayer, metric: str, smooth: bool = False
) -> dict[Stratum, tuple[int, str]]:
    """Numbers of critical points for general data, or a general target, that theorems give, with their ids.

    On the smooth part, by the open stratum, which stands first, and on strata of singular points; empty where
    no theorem gives the first.

    Args:
        layer: the layer.
        metric: ``"generic"`` or ``"bombieri-weyl"``; nothing is known for others.
        smooth: the smooth part alone.

    >>> numbers_by_theorem(SingleLayer(4, 1), "bombieri-weyl")
    {Stratum(r_v=1, r_a=4, r=4): (40, 'critical-points.bombieri-weyl')}
    >>> for stratum, (number, theorem) in numbers_by_theorem(SingleLayer(2, 2), "generic").items():
    ...     print(stratum, number, theorem)
    (2,2,2) 68 critical-points.general-data
    (1,1,1) 24 critical-points.singular-strata
    (1,1,2) 20 critical-points.singular-strata
    """
    if not layer.has_orbits:
        return {}
    open_ = open_stratum(layer)
    if metric == "bombieri-weyl":
        number = bombieri_weyl_ed_degree(layer)
        return {} if number is None else {open_: (number, BOMBIERI_WEYL)}
    if metric != "generic" or (layer.d > 1 and layer.d_out > MAX_OUT):
        return {}
    numbers = {open_: (generic_ed_degree(layer), GENERAL_DATA)}
    for stratum in () if smooth else strata(layer)[1:]:
        if singular_by_ranks(layer, stratum) and (number := stratum_ed_degree(layer, stratum)) is not None:
            numbers[stratum] = number, SINGULAR_STRATA
    return numbers


def _integral(points: Callable[[], Iterator[FixedPoint]]) -> int:
    """(−1)ⁿ ∫ c(T) / ((1 + ξ)(1 + 2(ξ − η))(1 + 2η)) over the zeros, of dimension n, of a general section."""
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
        for weight in (*point.normal, point.h, 2 * (point.h - point.eta), 2 * point.eta):
            for n in range(1, dimension + 1):
                series[n] -= weight * series[n - 1]
        total += flint.fmpq(series[dimension] * prod(point.normal), prod(point.tangent))
    assert total.q == 1
    value = int(total.p)
    return -value if dimension % 2 else value


def _weights(*sizes: int, seed: int = 0) -> list[list[int]]:
    """Characters of a torus on vector spaces, without relations that matter: sums do not depend on them."""
    draw = random.Random(seed)
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


def _vectors(d: int, d_out: int, powers: Sequence[int]) -> Iterator[FixedPoint]:
    """Vectors h, q, k, ... up to scale, by the powers of k, ... in a product: h ⊗ q ⊗ k², or h ⊗ q ⊗ kv."""
    spaces = _weights(d_out, d, *(d for _ in powers))
    for numbers in product(*(range(len(space)) for space in spaces)):
        at = list(zip(spaces, numbers, strict=True))
        tangent = [weight for space, n in at for weight in _others(space, n)]
        h, q, *more = (space[n] for space, n in at)
        xi = h + q + sum(power * weight for power, weight in zip(powers, more, strict=True))
        yield FixedPoint(tangent, (), -xi, -h)


def _kernels(layer: SingleLayer, size: int) -> Iterator[FixedPoint]:
    """(A, k ∈ K, h) with K in the kernel of M_A of this dimension, and h isotropic: for d' = 2 one of two."""
    rows, columns, kernel, outputs = _weights(layer.d, layer.d, layer.d, 3)
    indices = range(layer.d)
    isotropic = (
        [([], [], 0)]
        if layer.d_out == 2
        else [(_others(outputs, n), [-2 * x], x) for n, x in enumerate(outputs)]
    )
    for K in combinations(indices, size):
        flag = [kernel[j] - kernel[i] for i in K for j in indices if j not in K]
        pairs = {tuple(sorted((i, j))) for i in K for j in indices}
        for n, (tangent, line), (other, conic, h) in product(
            range(size), list(_attention(layer, rows, columns)), isotropic
        ):
            # The entries of M_A in rows of K, each of degree 2 in A.
            entries = [-kernel[i] - kernel[j] - 2 * line for i, j in pairs]
            lines = [kernel[i] for i in K]
            yield FixedPoint(
                [*tangent, *flag, *_others(lines, n), *other], [*entries, *conic], -line - lines[n] - h
            )
