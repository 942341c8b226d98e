r"""The squared loss as a quadratic function of the coordinates of a layer, over ℚ.

The output (c, τ) at the tokens X is linear in the coordinates y of
:mod:`agattn.geometry.variety.coordinates`,

.. math:: φ(X)_{cτ} = \sum_{b,\,i ≤ k} y_{c,b,i,k}\, f_{b,i,k}(X, τ), \qquad
          f_{b,i,k}(X, τ) = x_{bτ} (X X^{\mathsf T})_{ik},

with the same features f for every c. So the loss Σ ‖φ(X) − Y‖² of data is L(y) = yᵀGy − 2 bᵀy + c with
G = I ⊗ W, where W, the Gram matrix of the features, has d C(d+1, 2) rows: a loss does not mix outputs. The
other metrics here are of the same kind; their losses are distances (y − u)ᵀG(y − u) to a target u.

>>> from agattn.architectures import SingleLayer
>>> layer = SingleLayer(2, 1)
>>> distance = loss(layer, "bombieri-weyl", target=[1, 0, 0, 0, 2, 0])
>>> [int(2 * row[i]) for i, row in enumerate(distance.gram)]
[2, 1, 2, 2, 1, 2]
>>> distance.value([0] * 6), distance.value([1, 0, 0, 0, 2, 1])
(Fraction(3, 1), Fraction(1, 1))
>>> loss(layer, samples=2).rank, loss(layer).rank
(4, 6)
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, factorial, prod
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import fraction, rational_matrix
from agattn.algebra.matrices import read_number
from agattn.algebra.scalars import Array, fraction_matrix, unread
from agattn.architectures import SingleLayer
from agattn.errors import InputError, TooLargeError, nearest
from agattn.geometry.variety.coordinates import coordinates
from agattn.limits import limits, takes
from agattn.sheet.result import Positive, Result, key

METRICS = ("generic", "gaussian", "bombieri-weyl", "coefficients")

#: Random tokens and targets are integers up to this.
_LARGEST = 9
#: G is kept as a whole; its products take the square of this.
MAX_COORDINATES = 400
#: The most random samples; fewer are generic for every layer within that bound.
MOST_SAMPLES = 100_000

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Loss:
    """L(y) = yᵀGy − 2 bᵀy + c on the coordinates y of a layer.

    Attributes:
        layer: the layer.
        block: W, symmetric and positive semidefinite.
        linear: b, of length N; it lies in the image of G.
        constant: c.
        metric: one of the four in ``METRICS``, or ``"data"``.
        samples: the number of samples, where the loss is one of data.
        drawn: whether a seed drew the data or the target. Others may be special.
    """

    layer: SingleLayer
    block: tuple[Row, ...]
    linear: Row
    constant: Fraction
    metric: str
    samples: int | None = None
    drawn: bool = False

    def gradient(self, y: Sequence[Any]) -> list[Any]:
        """2(Gy − b), for coordinates y from any ring over ℚ.

        >>> loss(SingleLayer(1, 1), "coefficients", target=[3]).gradient([5])
        [Fraction(4, 1)]
        """
        return [2 * (part - b) for part, b in zip(self.times(y), self.linear, strict=True)]

    def value(self, y: Sequence[Any]) -> Any:
        """L(y), for coordinates y from any ring over ℚ: numbers, or polynomials in whatever."""
        parts = zip(self.times(y), self.linear, y, strict=True)
        return sum((part - 2 * b) * entry for part, b, entry in parts) + self.constant

    def times(self, y: Sequence[Any]) -> list[Any]:
        """Gy."""
        if len(y) != (count := self.layer.ambient_dimension):
            raise InputError(f"{len(y)} coordinates were given; {self.layer.name} has {count}")
        zero, size = 0 * y[0], self.size
        rows = [(row, y[n : n + size]) for n in range(0, len(y), size) for row in self.block]
        return [sum((g * x for g, x in zip(row, part, strict=True) if g), zero) for row, part in rows]

    @cached_property
    def gram(self) -> tuple[Row, ...]:
        """G = I ⊗ W, N × N."""
        zeros, last = (Fraction(0),) * self.size, self.layer.d_out - 1
        return tuple(zeros * c + row + zeros * (last - c) for c in range(last + 1) for row in self.block)

    @cached_property
    def matrices(self) -> tuple[flint.fmpq_mat, flint.fmpq_mat]:
        """G and the column b over ℚ."""
        size = len(self.linear)
        return rational_matrix(self.gram, size), rational_matrix([self.linear], size).transpose()

    @property
    def size(self) -> int:
        """The number of rows of W."""
        return len(self.block)

    @property
    def rank(self) -> int:
        """The rank of W; the loss is a distance where that is d C(d+1, 2), the number of its rows."""
        return int(rational_matrix(self.block, self.size).rank())


@dataclass(frozen=True)
class GeneralLoss:
    """The losses of general data with enough samples, or the distances to a general target.

    What a theorem says of them holds for all but those in a set of measure 0. It says nothing about the loss
    of given data, which may be in that set.

    Attributes:
        layer: the layer.
        metric: one of the four in ``METRICS``.
        samples: a number of samples that is enough; ``None`` where no number was asked for.
    """

    layer: SingleLayer
    metric: str
    samples: int | None = None

    @property
    def size(self) -> int:
        """The number of rows of W."""
        return self.layer.ambient_dimension // self.layer.d_out

    @property
    def rank(self) -> int:
        """The rank of W: such a loss is a distance."""
        return self.size


class AboutLoss(Result):
    """What is found about a loss of a layer.

    Attributes:
        loss: by a theorem, that of general data, or with a general target.
    """

    loss: Loss | GeneralLoss

    @key(name="architecture")
    def layer(self) -> SingleLayer:
        """The layer."""
        return self.loss.layer

    @key
    def metric(self) -> str:
        """The metric of the loss; `data` for samples that were given."""
        return self.loss.metric

    @key
    def samples(self) -> Positive | None:
        """The number of samples; null for a metric without any, or if enough."""
        return self.loss.samples


def enough_samples(loss: Loss) -> bool:
    """Whether general data with as many samples as a random loss are those of the theorem on general data.

    >>> from agattn.architectures import SingleLayer
    >>> [enough_samples(loss(SingleLayer(2, 1), samples=n)) for n in (3, 5)]
    [False, True]
    """
    enough = loss.samples is not None and loss.samples >= _generic_number(loss.layer)
    return enough and loss.rank == loss.size


@takes("seed")
def loss(
    layer: SingleLayer,
    metric: str = "generic",
    data: tuple[Any, Any] | None = None,
    *,
    samples: int | None = None,
    target: Sequence[Any] | None = None,
) -> Loss:
    """The loss of given or random data, or the squared distance to a target in a metric of the coordinates.

    Args:
        layer: the layer; t tokens matter for data and Gaussian tokens.
        metric: ``"generic"``: samples with random integers as tokens and outputs, enough to be generic unless
            ``samples`` says how many; ``"gaussian"``: E‖φ(X) − φ_u(X)‖² for tokens of independent standard
            Gaussians; ``"bombieri-weyl"``: the invariant norm of the quadratic forms y_{c,b} (at t = 1 of the
            cubic forms); ``"coefficients"``: Σ y².
        data: X and Y, as for :func:`loss_of_data`, instead of a metric.
        samples: the number of samples, for ``"generic"``.
        target: u, the N coordinates of the target; random integers if not given. For ``"generic"`` outputs
            are then those of u.

    Raises:
        InputError: for an unknown metric, a target of the wrong length, a number of samples below 1 or for
            another metric than ``"generic"``, or data with any of these.
        TooLargeError: beyond :data:`MAX_COORDINATES` coordinates.

    >>> from agattn.architectures import SingleLayer
    >>> gaussian = loss(SingleLayer(1, 1, t=3), "gaussian", target=[0])
    >>> gaussian.value([1])  # 3 E (x_1 (x_1² + x_2² + x_3²))² = 3 (15 + 2·2·3 + 2·3 + 2·1)
    Fraction(105, 1)
    """
    if data is not None:
        if samples is not None or target is not None or metric != "generic":
            raise InputError(
                "data were given, which have their own loss; leave out metric, samples and target"
            )
        return loss_of_data(layer, *data)
    if metric not in METRICS:
        raise InputError(
            f"{metric!r} is no metric; use one of {', '.join(METRICS)}{nearest(metric, METRICS)}"
        )
    if samples is not None and metric != "generic":
        raise InputError(f"a number of samples is for random data; the metric {metric} has none")
    if samples is not None and not 1 <= samples <= MOST_SAMPLES:
        least = f"it must be from 1 to {MOST_SAMPLES}: more random samples are as generic as these"
        raise InputError(f"the number of samples is {samples}; {least}")
    _check_size(layer)
    if target is not None and len(target) != layer.ambient_dimension:
        raise InputError(
            f"the target has {len(target)} coordinates; {layer.name} has {layer.ambient_dimension}"
        )
    draw = np.random.default_rng(limits().seed)
    u = [] if target is None else [fraction(read_number(x)[0]) for x in target]
    if metric != "generic":
        block = _gaussian(layer) if metric == "gaussian" else _diagonal(layer, metric)
        u = u or [Fraction(int(x)) for x in draw.integers(-_LARGEST, _LARGEST + 1, layer.ambient_dimension)]
        distance = Loss(layer, block, (), Fraction(0), metric, None, target is None)
    else:
        number = samples or _generic_number(layer)
        while True:
            X = draw.integers(-_LARGEST, _LARGEST + 1, (number, layer.d, layer.t))
            Y = draw.integers(-_LARGEST, _LARGEST + 1, (number, layer.d_out, layer.t))
            drawn = loss_of_data(layer, X, Y)
            if samples or drawn.rank == drawn.size:
                break
        distance = replace(drawn, metric=metric, drawn=target is None)
    if not u:
        return distance
    linear = tuple(distance.times(u))
    constant = sum((b * x for b, x in zip(linear, u, strict=True)), Fraction(0))
    return replace(distance, linear=linear, constant=constant)


@lru_cache(maxsize=32)
def gaussian_gram(layer: SingleLayer) -> Array:
    """W for Gaussian tokens in floating point: E f fᵀ, summed over tokens; not to be written to.

    >>> from agattn.architectures import SingleLayer
    >>> gaussian_gram(SingleLayer(1, 1, t=3))
    array([[105.]])
    """
    gram = np.array(_gaussian(layer), dtype=float)
    gram.setflags(write=False)
    return gram


def loss_of_data(layer: SingleLayer, X: Any, Y: Any) -> Loss:
    """Σ ‖φ(X) − Y‖² over samples: X is n × d × t and Y is n × d' × t, exact numbers or floats as they are.

    Any number of tokens will do, unless the layer is one of one token.

    Raises:
        InputError: if shapes do not fit, there are no samples, or a number is not finite.

    >>> from agattn.architectures import SingleLayer
    >>> L = loss_of_data(SingleLayer(2, 1), X=[[[1, 0], [0, 1]]], Y=[[[1, 2]]])
    >>> L.value([1, 0, 0, 0, 0, 1]), L.rank
    (Fraction(1, 1), 2)
    """
    _check_size(layer)
    tokens, outputs = _samples(X, "X", layer.d), _samples(Y, "Y", layer.d_out)
    x, y = (" × ".join(map(str, array.shape)) for array in (tokens, outputs))
    if tokens.shape[::2] != outputs.shape[::2]:
        raise InputError(f"X is {x} and Y is {y}; they must be n × d × t and n × d' × t")
    if not layer.has_orbits and tokens.shape[2] != 1:
        raise InputError(f"X is {x}, which has {tokens.shape[2]} tokens; {layer.name} was given with t = 1")
    F = _features(layer, tokens)
    targets = outputs.swapaxes(1, 2).reshape(-1, layer.d_out)
    features, goals = (rational_matrix(m, m.shape[1]) for m in (F, targets))
    products = (features.transpose() * goals).transpose().entries()
    total = sum((x * x for x in goals.entries()), flint.fmpq(0))
    block, linear = _rows(features.transpose() * features), tuple(map(fraction, products))
    return Loss(layer, block, linear, fraction(total), "data", len(tokens))


def turned(loss: Loss, seed: int) -> Loss:
    """The loss after random changes of basis of the rows of V, the columns of A, and what V and A share.

    Its critical points are those of the loss, moved by changes of basis, which keep all strata. So there are
    as many, and none lies at a special place, as those of a loss with many zeros may do. The change for the
    rows of V is a reflection, which keeps G = I ⊗ W.

    >>> from agattn.architectures import SingleLayer
    >>> special = loss(SingleLayer(2, 1), "bombieri-weyl", target=[1, 0, 1, 0, 1, 0])
    >>> [0 in one.linear for one in (special, turned(special, seed=0))]
    [True, False]
    """
    layer, draw = loss.layer, random.Random(seed)
    F, U = (unimodular(layer.d, lambda: draw.randint(1, 9)) for _ in range(2))
    w = np.array([draw.randint(1, 9) for _ in range(layer.d_out)], dtype=object)
    reflection = np.eye(len(w), dtype=object) - np.outer(w, w) * Fraction(2, w @ w)

    def entry(new: tuple[int, ...], old: tuple[int, ...]) -> int:
        """Of the form b with u_j u_m, in the form b2 with u_i u_k: u ↦ U u, and columns mixed by F."""
        (_, b, i, k), (_, b2, j, m) = ([x - 1 for x in index] for index in (new, old))
        return int(F[b, b2] * (U[j, i] * U[m, k] + (i < k) * U[j, k] * U[m, i]))

    names, size = _one_output(layer), loss.size
    T = rational_matrix([[entry(new, old) for old in names] for new in names], size)
    rows = [loss.linear[n : n + size] for n in range(0, len(loss.linear), size)]
    linear = rational_matrix(reflection.tolist(), len(w)) * rational_matrix(rows, size) * T
    block = _rows(T.transpose() * rational_matrix(loss.block, size) * T)
    return replace(loss, block=block, linear=tuple(map(fraction, linear.entries())))


def _rows(matrix: flint.fmpq_mat) -> tuple[Row, ...]:
    return tuple(map(tuple, fraction_matrix(matrix).tolist()))


def unimodular(d: int, draw: Callable[[], int]) -> Array:
    """A lower times an upper triangular matrix with 1 on the diagonal, both with drawn entries."""
    lower, upper = (np.eye(d, dtype=object) for _ in range(2))
    for i, j in zip(*np.tril_indices(d, -1), strict=True):
        lower[i, j], upper[j, i] = draw(), draw()
    return np.asarray(lower @ upper)


def _samples(given: Any, name: str, size: int) -> Array:
    """An array n × ``size`` × t of exact numbers, from sequences or an array; one matrix is a sample."""
    try:
        array = unread(given, name)
    except InputError:
        raise InputError(f"{name} is ragged; it must be an array n × {size} × t") from None
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3 or array.shape[1] != size or not array.size:
        shape = " × ".join(map(str, array.shape)) or "a number"
        raise InputError(f"{name} is {shape}; it must be n × {size} × t with at least one sample")
    exact = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        try:
            exact[index] = read_number(value)[0]
        except InputError as error:
            at = ", ".join(str(i + 1) for i in index)
            raise InputError(f"{name} at ({at}): {error}") from None
    return exact


def _features(layer: SingleLayer, X: Array) -> Array:
    """The features f, one row for each sample and token and one column for each coordinate of an output."""
    squares = np.matmul(X, X.swapaxes(1, 2))  # X Xᵀ for each sample
    columns = [X[:, b - 1, :] * squares[:, i - 1, k - 1, None] for _, b, i, k in _one_output(layer)]
    return np.stack(columns, axis=-1).reshape(-1, len(columns))


def _one_output(layer: SingleLayer) -> tuple[tuple[int, ...], ...]:
    names = coordinates(layer)
    return names[: len(names) // layer.d_out]


def _generic_number(layer: SingleLayer) -> int:
    """How many samples are general enough: W has full rank, and what the theorem on ED degrees asks for."""
    attention = layer.alpha * (2 * layer.d - layer.alpha) - 1
    forms = attention + comb(layer.d + 1, 2) if layer.d_out > 1 else 0
    return max(-(-len(_one_output(layer)) // layer.t), layer.expected_dimension, forms)


def _gaussian(layer: SingleLayer) -> tuple[Row, ...]:
    """The expectation of f fᵀ, summed over τ: f is a sum over tokens j, which is τ or one of t − 1 others."""
    t, names = layer.t, _one_output(layer)
    pairs = Counter({(0, 0): 1, (0, 1): t - 1, (1, 0): t - 1, (1, 1): t - 1, (1, 2): (t - 1) * (t - 2)})

    def moment(left: tuple[int, ...], right: tuple[int, ...]) -> Fraction:
        (_, b, i, k), (_, b2, i2, k2) = left, right
        value = 0
        for (j, j2), number in pairs.items():
            powers = Counter([(b, 0), (b2, 0), (i, j), (k, j), (i2, j2), (k2, j2)])
            value += number * prod(map(_standard_moment, powers.values()))
        return Fraction(t * value)

    return tuple(tuple(moment(left, right) for right in names) for left in names)


def _standard_moment(n: int) -> int:
    """E xⁿ for a standard Gaussian: 0 for odd n, else (n − 1)!!."""
    return 0 if n % 2 else factorial(n) // (2 ** (n // 2) * factorial(n // 2))


def _diagonal(layer: SingleLayer, metric: str) -> tuple[Row, ...]:
    """W for Σ y², or divided by multinomial coefficients of the forms in each group of letters."""

    def weight(index: tuple[int, ...]) -> Fraction:
        if metric == "coefficients":
            return Fraction(1)
        form = index[2:] if layer.has_orbits else index[1:]
        arrangements = factorial(len(form)) // prod(map(factorial, Counter(form).values()))
        return Fraction(1, arrangements)

    names = _one_output(layer)
    return tuple(tuple(weight(a) if a == b else Fraction(0) for b in names) for a in names)


def _check_size(layer: SingleLayer) -> None:
    if layer.ambient_dimension > MAX_COORDINATES:
        raise TooLargeError(
            f"{layer.name} has {layer.ambient_dimension} coordinates; the limit of losses is "
            f"{MAX_COORDINATES}"
        )
