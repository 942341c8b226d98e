r"""Charts of strata, in which every point has a known number of weights, and a loss there.

A pair with ranks (r_V, r_A, r) is V = V′P, A = PᵀA′, where the rows of P span the space, of dimension r, that
the rows of V and the columns of A span together. In a chart all gauge is fixed: P = (I B); a factor of rank
below its size is H (I B), or (I B)ᵀ Q; and the first entry of V′ or H is 1, which fixes the scaling of A
against V. P is left out where r = min(d, r_V + r_A), as V and A of these ranks are then general. The number
of variables is the dimension of the stratum, and the critical points of a loss on the stratum are zeros of
as many derivatives.

A chart is the part of a stratum where certain minors are not 0. A second one has rows and columns in
opposite order. Critical points of a loss with a general target are in both.

>>> from agattn.geometry.critical_points.loss import loss
>>> chart = chart_of(SingleLayer(2, 1), Stratum(1, 1, 2))
>>> print(chart.V)
[[1 v_(1,2)]]
>>> print(chart.A)
[[q_(1,1) q_(1,2)]
 [k_(1,2)*q_(1,1) k_(1,2)*q_(1,2)]]
>>> chart.preimages, sorted(str(f) for f, _ in chart.avoided.factors())
(2, ['85*q_(1,1) + 64*q_(1,2)', 'k_(1,2) - v_(1,2)'])
>>> [f.degree() for f in chart.derivatives(loss(SingleLayer(2, 1)))]
[5, 5, 5, 5]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, all_minors
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import Array
from agattn.geometry.critical_points.loss import Loss
from agattn.geometry.strata.strata import (
    Stratum,
    image_dimension,
    open_stratum,
    require_stratum,
    singular_by_ranks,
    strata,
    stratum_fiber,
)
from agattn.geometry.variety.coordinates import coefficients


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart of a stratum.

    Attributes:
        layer, stratum: which stratum, of which layer.
        ring: the variables of the chart, as many as the stratum has dimensions.
        A, V: matrices over the ring, d × d and d' × d.
        preimages: how many points (A, V) of the chart a general point of the stratum has.
        avoided: a polynomial that is 0 where φ = 0, and where two preimages meet; every loss can be critical
            there. It is a random combination of polynomials.
        lower: ideals of points in lower strata, as generators; a general loss has no critical point there.
    """

    layer: SingleLayer
    stratum: Stratum
    ring: PolynomialRing
    A: Array
    V: Array
    preimages: int
    avoided: Polynomial
    lower: tuple[tuple[Polynomial, ...], ...]

    @cached_property
    def y(self) -> list[Polynomial]:
        """The coordinates of φ on the chart."""
        return list(coefficients(self.layer, self.A, self.V))

    def derivatives(self, loss: Loss) -> list[Polynomial]:
        """The derivatives of L(φ(A, V)) by the variables of the chart, in their order."""
        value = loss.value(self.y)
        return [value.derivative(x) for x in self.ring.gens]

    @property
    def avoided_strictly(self) -> Polynomial:
        """A multiple of :attr:`avoided` that is also 0 on each of :attr:`lower`."""
        result = self.avoided
        for seed, ideal in enumerate(self.lower, 1):
            result *= _combination(ideal, seed)
        return result


def singular_strata(layer: SingleLayer) -> tuple[Stratum, ...]:
    """The strata of singular points of M̄, without 0.

    >>> [str(s) for s in singular_strata(SingleLayer(2, 1))]
    ['(1,1,1)', '(1,1,2)']
    """
    return tuple(s for s in strata(layer)[1:] if singular_by_ranks(layer, s))


def chart_of(
    layer: SingleLayer, stratum: Stratum | None = None, opposite: bool = False, characteristic: int = 0
) -> Chart:
    """A chart of a stratum other than 0, by default of the open one.

    The chart of the open stratum has also the points of M̄ with smaller ranks. Its :attr:`Chart.lower` are
    those that are singular on M̄.

    Args:
        layer: the layer, with t ≥ 2 unless only the open stratum is asked for.
        stratum: one of :func:`agattn.geometry.strata.strata.strata`.
        opposite: whether the rows and columns are in opposite order.
        characteristic: of the ring.

    Raises:
        InputError: for t = 1, or if there is no such stratum.
    """
    ranks = stratum or open_stratum(layer)
    require_stratum(layer, ranks)
    d, d_out, r_v, r_a = layer.d, layer.d_out, ranks.r_v, ranks.r_a
    r = d if ranks.r == min(d, r_v + r_a) else ranks.r
    shapes = {"p": (r, r, d)} if r < d else {}
    shapes |= {"w": (r_v, r_v, r)} if r_v < min(d_out, r) else {}
    shapes |= {"k": (r_a, r_a, r)} if r_a < r else {}
    factors = {"p": np.eye(r, dtype=int), "w": np.eye(r, dtype=int), "k": np.eye(r, dtype=int)}
    rest = {"v": (d_out, r_v if "w" in shapes else r), "q": (r_a, d)}
    names = [Variable(x, (i + 1, j + 1)) for x, (m, left, n) in shapes.items()
             for i in range(m) for j in range(left, n)]  # fmt: skip
    names += [Variable(x, (i + 1, j + 1)) for x, (m, n) in rest.items() for i in range(m) for j in range(n)]
    names.remove(scale := Variable("v", (1, 1)))
    ring = PolynomialRing(names, characteristic)
    entry = dict(zip(ring.variables, ring.gens, strict=True)) | {scale: ring.one()}

    def matrix(x: str, rows: int, columns: int, left: int = 0) -> Array:
        """(I B) with an identity of ``left`` columns."""
        found = np.full((rows, columns), ring.zero(), dtype=object)
        for i, j in np.ndindex(rows, columns):
            if j >= left:
                found[i, j] = entry[Variable(x, (i + 1, j + 1))]
            elif i == j:
                found[i, j] = ring.one()
        return found

    for x, (m, left, n) in shapes.items():
        factors[x] = matrix(x, m, n, left)
    H, Q = (matrix(x, *rest[x]) for x in "vq")
    V, A = H @ factors["w"] @ factors["p"], factors["p"].T @ factors["k"].T @ Q
    assert len(ring) == image_dimension(layer, ranks)
    number = stratum_fiber(layer, ranks).number
    avoided = _combination(Q.ravel(), 0)
    if number == 2:  # A = k qᵀ, V = h vᵀ, with v and k of first entry 1
        v = factors["w"] if "w" in shapes else V
        avoided *= _combination((v - factors["k"])[0, 1:], 0)
    step = -1 if opposite else 1
    return Chart(
        layer, ranks, ring, A[::step], V[::step, ::step], number, avoided, tuple(_lower(layer, ranks, A, V))
    )


def _lower(layer: SingleLayer, ranks: Stratum, A: Array, V: Array) -> Iterator[tuple[Polynomial, ...]]:
    """Ideals of points which the chart has beyond its stratum, or, of the open one, of singular points.

    Those of rank 0 have φ = 0, and (1,1,1) in the closure of (1,1,2) is where preimages meet.
    """

    def of_size(matrix: Array, size: int) -> tuple[Polynomial, ...]:
        return tuple(f for f in all_minors(matrix.tolist(), size) if f)

    if ranks != open_stratum(layer):
        for matrix, rank in ((V, ranks.r_v), (A, ranks.r_a)):
            if rank > 1:
                yield of_size(matrix, rank)
        if ranks.r > max(ranks.r_v, ranks.r_a) > 1:
            yield of_size(np.vstack([V, A.T]), ranks.r)
    elif 1 < layer.a < layer.d:
        yield of_size(A, layer.a)
    elif layer.d > 1 and (layer.a, layer.d_out) != (1, 1):
        yield (*of_size(A, 2), *of_size(V, 2))


def _combination(polynomials: Iterable[Polynomial], seed: int) -> Polynomial:
    """A random combination of polynomials of one ring."""
    random = np.random.default_rng(seed)
    total, *others = [int(random.integers(1, 100)) * f for f in polynomials]
    for f in others:
        total += f
    return total
