r"""Points with known learning coefficients, to calibrate what estimates them by sampling.

One hundred weights of small layers, d ≤ 4, with λ and m by the theorem on the page about learning
coefficients, computed from the weights themselves. They are representatives of their kinds, in other bases
by unimodular integer matrices, and come in an order in which every kind occurs early: the first N are a
smaller set of the same variety.

>>> known = calibration_points()
>>> len(known), len({point.name for point in known}), sorted({point.multiplicity for point in known})
(100, 100, [1, 2, 3])
>>> print(known[0])
lightning M(2,1,2) at (0,0,0), rk K = 0, rk Q = 0: λ = 1, m = 1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from agattn.algebra.scalars import Array
from agattn.architectures import SingleLayer
from agattn.geometry.learning_coefficients.learning_coefficients import CoefficientPoint, points
from agattn.geometry.learning_coefficients.weights_coefficients import parameters, weights_coefficient
from agattn.geometry.strata.strata import Stratum, representative
from agattn.sheet.result import Count, Key, Named, Positive, Result, key

Head = Literal["lightning", "softmax"]

#: The layers (d, d', a) that points are taken from.
LAYERS = (
    (2, 1, 2), (3, 2, 2), (2, 1, 1), (2, 2, 2), (3, 1, 2), (3, 1, 3), (4, 1, 2), (2, 3, 2), (3, 1, 1),
    (3, 3, 2), (2, 2, 1), (2, 1, 3), (2, 4, 2), (3, 2, 3),
)  # fmt: skip
ONE_TOKEN = ((2, 1), (3, 1), (2, 2), (3, 2), (4, 1))


class CalibrationPoint(Result):
    """Weights of one layer with known λ and m."""

    layer: Key[
        SingleLayer,
        "The layer; t is 1 where the point is one of a single token, else 2.",
        Named("architecture"),
    ]
    head: Key[Head, "The kind of attention."]
    kind: Key[str, "What is special about the weights."]
    K: Key[tuple[tuple[int, ...], ...], "The keys, a × d."]
    Q: Key[tuple[tuple[int, ...], ...], "The queries, a × d."]
    V: Key[tuple[tuple[int, ...], ...], "The values, d' × d."]

    @cached_property
    def known(self) -> CoefficientPoint:
        """The ranks at these weights, λ with its reasons, and m: exact."""
        given = parameters(K=self.K, Q=self.Q, V=self.V)
        return weights_coefficient(given, t=self.layer.t, softmax=self.head == "softmax")

    @key
    def stratum(self) -> Stratum:
        """The ranks of V, A and [V; Aᵀ]."""
        return self.known.orbit

    @key
    def rank_k(self) -> Count:
        """The rank of K."""
        assert self.known.rank_k is not None  # points are given by K, Q and V
        return self.known.rank_k

    @key
    def rank_q(self) -> Count:
        """The rank of Q."""
        assert self.known.rank_q is not None
        return self.known.rank_q

    @key(name="lambda")
    def value(self) -> Fraction:
        """The learning coefficient λ, a fraction such as `9/4`; proved."""
        return self.known.coefficient.value

    @key
    def multiplicity(self) -> Positive:
        """The multiplicity m of λ; proved."""
        return self.known.coefficient.multiplicity

    @property
    def parameters(self) -> int:
        """The number of parameters, 2ad + d'd."""
        return 2 * self.layer.a * self.layer.d + self.layer.d_out * self.layer.d

    @property
    def name(self) -> str:
        """The point in words; no two have the same."""
        layer, at = self.layer, self.known
        one = ", t = 1" if layer.t == 1 else ""
        where = f"{self.kind}" if layer.t == 1 else f"{at.orbit}, rk K = {at.rank_k}, rk Q = {at.rank_q}"
        return f"{self.head} M({layer.d},{layer.d_out},{layer.a}){one} at {where}"

    def summary(self) -> str:
        """The point in words, λ and m."""
        return f"{self.name}: λ = {self.value}, m = {self.multiplicity}"


@lru_cache(maxsize=1)
def calibration_points() -> tuple[CalibrationPoint, ...]:
    """The hundred points, always the same ones in the same order."""
    kinds: dict[object, dict[SingleLayer, list[CalibrationPoint]]] = {}
    for point in (*_orbits(), *_one_token()):
        kind = kinds.setdefault((point.head, point.layer.t, point.kind, point.multiplicity), {})
        kind.setdefault(point.layer, []).append(point)
    return tuple(_by_turns(_by_turns(layers.values()) for layers in kinds.values()))[:100]


def _by_turns(lists: Iterable[Iterable[CalibrationPoint]]) -> Iterator[CalibrationPoint]:
    """The first of each, the second of each, and so on."""
    return (point for row in zip_longest(*lists) for point in row if point is not None)


def _kind(layer: SingleLayer, at: CoefficientPoint, softmax: bool) -> str:
    """What is special about weights, t ≥ 2."""
    r_v, r_a, r = at.orbit.r_v, at.orbit.r_a, at.orbit.r
    if not r_v or (not r_a and not softmax):
        return "V = 0" if r_a else "A = 0" if r_v else "A = V = 0"
    if not softmax and r == 1 and layer.d > 1:
        return "boundary (1,1,1)"
    if not softmax and (r_v, r_a, r) == (1, 1, 2):
        return "crossing (1,1,2)"
    full = r_a == layer.alpha and (at.rank_k, at.rank_q) == (r_a, r_a)
    return "generic" if full and r_v == min(layer.d, layer.d_out) else "lower rank"


def _orbits() -> Iterator[CalibrationPoint]:
    """A point of every kind of weights of the layers, t ≥ 2, in bases of its own."""
    number = 0
    for sizes in LAYERS:
        layer = SingleLayer(*sizes)
        for head in ("lightning", "softmax"):
            for at in points(layer, head == "softmax"):
                _, V = representative(layer, at.orbit)
                number += 1
                weights = _in_other_bases(*_factors(layer, at), np.array(V), number)
                kind = _kind(layer, at, head == "softmax")
                yield CalibrationPoint(layer, head, kind, *map(_rows, weights))


def _factors(layer: SingleLayer, at: CoefficientPoint) -> tuple[Array, Array]:
    """K and Q of these ranks with KᵀQ the identity of rank r_A, with zeros around it."""
    assert at.rank_k is not None and at.rank_q is not None
    K, Q = np.zeros((2, layer.a, layer.d), dtype=int)
    r = at.orbit.r_a
    for i in range(at.rank_k):
        K[i, i] = 1
    for i in range(at.rank_q):
        Q[i if i < r else at.rank_k + i - r, i] = 1
    return K, Q


def _in_other_bases(K: Array, Q: Array, V: Array, number: int) -> tuple[Array, Array, Array]:
    """Weights of the same kind, by shears and permutations of all spaces, which the number chooses."""
    draw = np.random.default_rng(number)

    def basis(n: int) -> tuple[Array, Array]:
        """A unimodular matrix and its inverse: one shear, permuted."""
        g = np.eye(n, dtype=int)
        inverse = g.copy()
        if n > 1 and number % 2:
            i, j = draw.choice(n, 2, replace=False)
            g[i, j], inverse[i, j] = 1, -1
        order = draw.permutation(n)
        return g[order], inverse[:, order]

    (g, g_inverse), (h, _), (b, _), (c, _) = (basis(n) for n in (len(K), K.shape[1], K.shape[1], len(V)))
    return g @ K @ h, g_inverse.T @ Q @ b, c @ V @ h


def _one_token() -> Iterator[CalibrationPoint]:
    """Points at t = 1, where φ = V·S with S = A + Aᵀ, by what V and S have to do with each other."""
    for d, d_out in ONE_TOKEN:
        layer = SingleLayer(d, d_out, d, t=1)
        one, none = np.eye(d, dtype=int), np.zeros((d, d), dtype=int)
        V = np.zeros((d_out, d), dtype=int)
        V[0, 0] = 1
        square, product, skew = np.zeros((3, d, d), dtype=int)
        square[0, 0] = product[0, 1] = skew[0, 1] = 1
        skew[1, 0] = -1
        for kind, A, values in (
            ("V does not divide S", one, V),
            ("S = V·g", product, V),
            ("S = cV²", square, V),
            ("S = 0", skew, V),
            ("V = 0", one, 0 * V),
            ("S = V = 0", none, 0 * V),
        ):
            yield CalibrationPoint(layer, "lightning", kind, _rows(A.T), _rows(one), _rows(values))


def _rows(M: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(x) for x in row) for row in M)
