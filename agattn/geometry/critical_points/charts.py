r"""Charts of strata of M̄, and the equations of critical points of a loss there.

A chart is an open part of a stratum in as many coordinates as the stratum has dimensions. :class:`Chart` is
what all charts have in common. The charts of this file are by weights: every point has a known number of
weights, and no point is outside of M. The charts of :mod:`~agattn.geometry.critical_points.affine_charts` are
one-to-one, and have real points outside of M.

A pair with ranks (r_V, r_A, r) is V = V′P, A = PᵀA′, where the rows of P span the space, of dimension r, that
the rows of V and the columns of A span together. In a chart all gauge is fixed: P = (I B); a factor of rank
below its size is H (I B), or (I B)ᵀ Q; and the first entry of V′ or H is 1, which fixes the scaling of A
against V. P is left out where r = min(d, r_V + r_A), as V and A of these ranks are then general. The number
of variables is the dimension of the stratum, and the critical points of a loss on the stratum are zeros of
as many derivatives.

Such a chart is the part of a stratum where certain minors are not 0. A second chart has rows and columns in
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
>>> [f.degree() for f in chart.equations(loss(SingleLayer(2, 1)))]
[5, 5, 5, 5]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

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
    """An open part of a stratum, or of several, in coordinates without redundancy.

    Attributes:
        layer, stratum: which stratum, of which layer; of several strata the open one.
        ring: the coordinates.
        factors: matrices over the ring by their letters, from which A and V, or φ itself, are products.
    """

    layer: SingleLayer
    stratum: Stratum
    ring: PolynomialRing
    factors: Mapping[str, Array]

    @property
    def y(self) -> Sequence[Polynomial]:
        """The coordinates of φ on the chart."""
        raise NotImplementedError

    @property
    def avoided(self) -> Polynomial | None:
        """Where this is 0 the equations may have other solutions; ``None`` if there is no such place."""
        raise NotImplementedError

    def equations(self, loss: Loss) -> list[Polynomial]:
        """The equations of critical points, as many as coordinates: the derivatives of the loss L(y)."""
        value = loss.value(self.y)
        return [value.derivative(x) for x in self.ring.gens]


def beside_identity(
    ring: PolynomialRing, free: Iterator[Polynomial], rows: int, columns: int, left: int
) -> Array:
    """(I B): the identity in so many columns on the left, and beside it free entries, row by row."""
    entries = [
        [next(free) if j >= left else ring.one() if i == j else ring.zero() for j in range(columns)]
        for i in range(rows)
    ]
    return np.array(entries, dtype=object).reshape(rows, columns)


@dataclass(frozen=True, eq=False)
class WeightChart(Chart):
    """A chart of a stratum by weights (A, V).

    Attributes:
        factors: P as ``p``, W and K where they are no identities, H as ``v``, Q: V = H W P, A = Pᵀ Kᵀ Q.
        opposite: whether the rows and columns of A and V are in opposite order.
    """

    opposite: bool = False

    @cached_property
    def _pair(self) -> tuple[Array, Array]:
        """A and V in the order of the factors."""
        A, V = self.factors["q"], self.factors["v"]
        for letter in "kp":
            A = self.factors[letter].T @ A if letter in self.factors else A
        for letter in "wp":
            V = V @ self.factors[letter] if letter in self.factors else V
        return A, V

    @property
    def A(self) -> Array:
        """A, d × d, over the ring."""
        return self._pair[0][:: -1 if self.opposite else 1]

    @property
    def V(self) -> Array:
        """V, d' × d, over the ring."""
        step = -1 if self.opposite else 1
        return self._pair[1][::step, ::step]

    @cached_property
    def y(self) -> Sequence[Polynomial]:
        """The coordinates of φ on the chart."""
        return list(coefficients(self.layer, self.A, self.V))

    @cached_property
    def preimages(self) -> int:
        """How many points (A, V) of the chart a general point of the stratum has."""
        return stratum_fiber(self.layer, self.stratum).number

    @cached_property
    def avoided(self) -> Polynomial:
        """A polynomial that is 0 where φ = 0, and where two preimages meet; every loss can be critical there.

        It is a random combination of polynomials.
        """
        result = _combination(self.factors["q"].ravel(), 0)
        if self.preimages == 2:  # A = k qᵀ, V = h vᵀ, with v and k of first entry 1
            v = self.factors.get("w", self._pair[1])
            result *= _combination((v - self.factors["k"])[0, 1:], 0)
        return result

    @cached_property
    def lower(self) -> tuple[tuple[Polynomial, ...], ...]:
        """Ideals of points in lower strata, as generators; a general loss has no critical point there."""
        return tuple(_lower(self.layer, self.stratum, *self._pair))

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


def chart_of(layer: SingleLayer, stratum: Stratum | None = None, opposite: bool = False) -> WeightChart:
    """A chart of a stratum other than 0, by default of the open one.

    The chart of the open stratum has also the points of M̄ with smaller ranks. Its :attr:`WeightChart.lower`
    are those that are singular on M̄.

    Args:
        layer: the layer, with t ≥ 2 unless only the open stratum is asked for.
        stratum: one of :func:`agattn.geometry.strata.strata.strata`.
        opposite: whether the rows and columns are in opposite order.

    Raises:
        InputError: for t = 1, or if there is no such stratum.
    """
    ranks = stratum or open_stratum(layer)
    require_stratum(layer, ranks)
    d, d_out, r_v, r_a = layer.d, layer.d_out, ranks.r_v, ranks.r_a
    r = d if ranks.r == min(d, r_v + r_a) else ranks.r
    # Factors (I B), and general ones, as (rows, columns).
    bases = {"p": (r, d)} if r < d else {}
    bases |= {"w": (r_v, r)} if r_v < min(d_out, r) else {}
    bases |= {"k": (r_a, r)} if r_a < r else {}
    general = {"v": (d_out, r_v if "w" in bases else r), "q": (r_a, d)}
    places = [(x, i, j) for x, (m, n) in bases.items() for i in range(m) for j in range(m, n)]
    places += [(x, i, j) for x, (m, n) in general.items() for i in range(m) for j in range(n)]
    places.remove(("v", 0, 0))  # 1 in place of this entry fixes the scale
    ring = PolynomialRing([Variable(x, (i + 1, j + 1)) for x, i, j in places])
    free = iter(ring.gens)
    factors = {x: beside_identity(ring, free, m, n, m) for x, (m, n) in bases.items()}
    factors["v"] = beside_identity(ring, chain([ring.one()], free), *general["v"], 0)
    factors["q"] = beside_identity(ring, free, *general["q"], 0)
    assert len(ring) == image_dimension(layer, ranks)
    return WeightChart(layer, ranks, ring, factors, opposite)


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
