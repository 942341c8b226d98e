r"""Dimension formulas and proved upper bounds, for every network this package can describe.

**One layer.** Every bound is the dimension of a variety that contains the neuromanifold of one layer of h
heads; see :func:`single_layer_bounds`.

**Smaller widths.** A layer sees its input only through V_h X, K_h X and Q_h X, so if its own output may be
replaced by one of width e_i, its input may be replaced by one of width h(2a_i + min(β, e_i)); and the
columns of X_i lie in a space whose dimension is at most h·min(β, d_{i−1}). So the network has the same
Zariski closure as one of widths e_0 = d_0, e_1, ..., e_l = d_l given by :func:`reduced_widths`.

**Symmetric layers.** If t = 1, or if an earlier layer has one head with A of rank 1, the input of a
layer is w uᵀ, and each head maps it to (uᵀu)(wᵀAw)(Vw)uᵀ: only the symmetric part of A matters.

**Counting.** Let layer i, a function f_i of all inputs of width e_{i−1} (of all w uᵀ if it is symmetric), be
from a family of dimension at most n_i. Π_{0<i<l} GL(e_i) acts on these, C_i f_i C_{i−1}⁻¹, and leaves the
network as it is. Let r_i of the e_i coordinates of f_i be linearly independent functions: the values of f_i
span a space of dimension r_i. If (C_i) fixes all layers then C_i f_i = f_i C_{i−1}, so given C_{i−1} two such
C_i differ by one that is zero on that space, e_i(e_i − r_i) dimensions. So orbits have dimension Σ e_i r_i or
more, and

.. math:: \dim \le \sum_i n_i - \sum_{0<i<l} e_i r_i .

All these are upper bounds, proved by the arguments just given. That they are attained is proved for each
network by a rank (:mod:`agattn.geometry.dimension.dimension`), and in general only where HMK prove it:

>>> from agattn.architectures import DeepNetwork
>>> network_dimension(DeepNetwork((3, 3, 3), (1, 2), t=3))
18
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import comb
from typing import NamedTuple

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import RowSpace, random_prime, random_residues
from agattn.architectures import DeepNetwork


class Bound(NamedTuple):
    """An upper bound on a dimension, and why it is one."""

    value: int
    reason: str


def single_layer_bounds(
    d: int,
    d_out: int,
    a: int,
    heads: int = 1,
    value_rank: int | None = None,
    symmetric: bool = False,
) -> list[Bound]:
    """Upper bounds on the dimension of Σ_h V_h X Xᵀ A_h X, rk A_h ≤ a, rk V_h ≤ β.

    For t ≥ 2 the layer is a d'×d matrix of quadratic forms y_{c,b} = Σ_h V_{h,c}·A_{h,b}, and A lies in a
    variety of dimension α(2d − α), α = min(a, d), in a space of dimension d². With ``symmetric``
    (t = 1, or after a head of rank 1) the layer is d' cubic forms, and A in a variety of dimension
    b(2d − b + 1)/2, b = min(2a, d), in a space of dimension d(d+1)/2.

    >>> [bound.value for bound in single_layer_bounds(3, 2, 1, heads=5, value_rank=1)]
    [36, 40, 50, 36, 36, 36, 36]
    """
    beta = min(d, d_out, d if value_rank is None else value_rank)
    squares = comb(d + 1, 2)
    rank = min(2 * a if symmetric else a, d)
    if symmetric:
        attention, attention_space = rank * (2 * d - rank + 1) // 2, squares
        forms, degree = d_out, 3  # how many, and of which degree
    else:
        attention, attention_space = rank * (2 * d - rank), d * d
        forms, degree = d * d_out, 2
    ambient = forms * comb(d + degree - 1, degree)

    def vanishing(r: int) -> int:
        """Coefficients of forms that vanish on some common subspace of codimension r, with its choice."""
        return r * (d - r) + ambient - forms * comb(d - r + degree - 1, degree)

    def of_rank(r: int, m: int, n: int) -> int:
        """Dimension of the m × n matrices of rank at most r."""
        r = min(r, m, n)
        return r * (m + n - r)

    bounds = [
        Bound(ambient, "the dimension of the ambient space"),
        Bound(
            heads * (attention + beta * (d + d_out - beta) - 1),
            "A and V of each head, up to the scaling A → sA, V → V/s",
        ),
        Bound(of_rank(heads, d * d_out, attention_space), "Σ V_h ⊗ A_h has rank at most the number of heads"),
        Bound(of_rank(heads * beta, d_out, ambient // d_out), "the outputs span at most hβ functions"),
        Bound(vanishing(min(heads * beta, d)), "everything vanishes on the common kernel of the V_h"),
        Bound(vanishing(min(heads * rank, d)), "everything vanishes on the common kernel of the A_hᵀ"),
    ]
    if not symmetric:
        spanned = of_rank(heads * rank, d, d_out * squares)
        bounds.insert(4, Bound(spanned, "the columns of all A_h span at most hα dimensions"))
    return bounds


def reduced_widths(network: DeepNetwork) -> tuple[int, ...]:
    """Widths e_0, ..., e_l through which every function of the network factors (skip connections: the d_i).

    e_i = min(d_i, h_i·min(β, e_{i−1}), h_{i+1}(2a_{i+1} + min(β, e_{i+1}))) for 0 < i < l, the largest
    solution with e_0 = d_0 and e_l = d_l; for lightning layers also e_i ≤ e_{i−1}·S, the number of cubic
    functions that a layer of width e_{i−1} has to choose from (for symmetric layers, the number of cubic
    forms). With one head: e_i = min(d_0, ..., d_i, 2a_{i+1} + e_{i+1}).

    >>> reduced_widths(DeepNetwork((5, 4, 1), (2, 1), t=3))
    (5, 3, 1)
    """
    if network.skip:
        return network.dims
    widths = list(network.dims)
    heads, beta = network.heads_by_layer, network.value_rank or max(widths)
    while True:
        before = list(widths)
        for i in range(1, network.layers):
            image = heads[i - 1] * min(widths[i - 1], beta)
            if network.is_lightning:
                d, symmetric = widths[i - 1], symmetric_layers(network, widths)[i - 1]
                image = min(image, comb(d + 2, 3) if symmetric else d * comb(d + 1, 2))
            seen = heads[i] * (2 * network.ranks[i] + min(widths[i + 1], beta))
            widths[i] = min(widths[i], image, seen)
        if widths == before:
            return tuple(widths)


def symmetric_layers(network: DeepNetwork, widths: Sequence[int] | None = None) -> list[bool]:
    """For each layer, whether only the symmetric part of A matters: t = 1, or an earlier A of rank 1.

    Never so with skip connections at t ≥ 2, or with softmax.
    """
    widths = reduced_widths(network) if widths is None else widths
    result, collapsed = [], False
    for i, (a, h) in enumerate(zip(network.ranks, network.heads_by_layer, strict=True)):
        result.append(network.is_lightning and (network.t == 1 or collapsed))
        collapsed = not network.skip and (collapsed or (h == 1 and min(a, widths[i]) == 1))
    return result


def network_bound(network: DeepNetwork) -> Bound:
    """The best proved upper bound that counting gives, for any network; see the top of this module.

    >>> network_bound(DeepNetwork((5, 4, 1), (2, 1), t=3)).value
    28
    >>> network_bound(DeepNetwork((3, 3, 3), (2, 2), t=3, skip=True)).value
    32
    """
    if not network.is_lightning and network.t == 1:
        return _linear_bound(network)
    widths = reduced_widths(network)
    layers = zip(network.ranks, network.heads_by_layer, symmetric_layers(network, widths), strict=True)
    total = 0
    for (d, d_out), (a, h, symmetric) in zip(pairwise(widths), layers, strict=True):
        if network.is_lightning:
            total += min(single_layer_bounds(d, d_out, a, h, network.value_rank, symmetric)).value
        else:
            alpha = min(a, d)
            beta = min(d, d_out, network.value_rank or d)
            total += h * (alpha * (2 * d - alpha) + beta * (d + d_out - beta))
    if network.skip:
        return Bound(total, "the dimensions of the layers, added up")
    total -= sum(e * r for e, r in zip(widths[1:-1], _independent_coordinates(network, widths), strict=True))
    return Bound(
        total, f"the layers at widths {','.join(map(str, widths))}, minus the symmetries between them"
    )


def network_dimension(network: DeepNetwork) -> int:
    """The value that the dimension is expected to have: the bound of :func:`network_bound`.

    It agrees with HMK's equations 7, 14 and 16 where they apply, and with the dimension of every network with
    one head that was computed. With several heads or restricted values there are exceptions, such as this
    layer, of dimension 49.

    >>> network_dimension(DeepNetwork((5, 1), (3,), t=2, heads=2))
    50
    """
    return network_bound(network).value


def _independent_coordinates(network: DeepNetwork, widths: tuple[int, ...]) -> list[int]:
    """For 0 < i < l, a proved lower bound on how many of the e_i coordinates of layer i are independent.

    With one head e_i ≤ e_{i−1} and V_i is surjective, so all are. With softmax all are, too: for t ≥ 2 the
    output at (x, z, ..., z) is Σ_h V_h z + σ_h V_h (x − z) up to constants inside σ_h, the logistic
    function of (x − z)ᵀA_h z/T; for generic A_h no two of these share a pole, and at each pole the
    coefficient v·V_h (x − z) would have to vanish. With several lightning heads a random layer is evaluated
    modulo p: independent values prove independent functions. A symmetric layer is evaluated at parallel
    tokens, that is at one: of two variables it has four cubic forms to choose from, not six functions.

    >>> _independent_coordinates(DeepNetwork((2, 2, 6, 2), (1, 1, 2), t=3, heads=(1, 3, 1)), (2, 2, 6, 2))
    [2, 4]
    """
    result = []
    for i, symmetric in zip(range(1, network.layers), symmetric_layers(network, widths), strict=False):
        d, e, h = *widths[i - 1 : i + 1], network.heads_by_layer[i - 1]
        t = 1 if symmetric else network.t
        if h == 1 or not network.is_lightning:
            result.append(e)
            continue
        layer = DeepNetwork((d, e), (network.ranks[i - 1],), t, heads=h, value_rank=network.value_rank)
        generator = np.random.default_rng(0)
        p = random_prime(generator)
        weights = {name: random_residues(generator, shape, p) for name, shape in layer.shapes.items()}
        out = layer.evaluate(ModularArithmetic(p), weights, random_residues(generator, (2 * e + 2, d, t), p))
        values = out.transpose(1, 0, 2).reshape(e, -1)
        result.append(RowSpace(values.shape[1], p).add(values))
    return result


def _linear_bound(network: DeepNetwork) -> Bound:
    """One token is its own softmax: the network is a product of matrices Σ_h V_h, or of 1 + Σ_h V_h."""
    dims, beta = network.dims, network.value_rank or max(network.dims)
    ranks = [min(d, e, h * beta) for d, e, h in zip(dims, dims[1:], network.heads_by_layer, strict=False)]
    if network.skip:
        r = min(dims[0], sum(ranks))
        return Bound(r * (2 * dims[0] - r), "one token: the network is linear, 1 plus a matrix of this rank")
    r = min(ranks)
    return Bound(r * (dims[0] + dims[-1] - r), "one token: a normalized network is linear of this rank")
