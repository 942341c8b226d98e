r"""Several heads in one lightning layer: special weights, and whether the set of functions is closed.

>>> from agattn import DeepNetwork
>>> names = [name for name, weights in head_kinds(DeepNetwork((2, 1), (1,), t=2, heads=2))]
>>> len(names), names[:3]
(15, ['generic', 'V = 0 in head 1', 'K = 0 in head 1'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.architectures import DeepNetwork
from agattn.errors import InputError

#: Numbers are drawn between minus this and this, and are not 0.
_LARGEST = 4

Change = Callable[[Array, Array, Array, Callable[..., Array]], None]
"""Changes K, Q and V, (h, rows, d) each, in place; the last argument draws arrays of a shape."""


def _rank_one(*heads: int, k: bool = False, q: bool = False) -> Change:
    """A_h = k qᵀ in some heads, with a common k, or a common q; other rows of Q belong to rows 0 of K."""

    def change(K: Array, Q: Array, V: Array, draw: Callable[..., Array]) -> None:
        for h in heads:
            K[h, 1:] = 0
        if k:
            K[heads[1]] = K[heads[0]]
        if q:
            Q[heads[1], 0] = Q[heads[0], 0]

    return change


def _equal(letters: str, sign: int = 1) -> Change:
    """Head 2 has the matrices of head 1 with these letters, V with a sign."""

    def change(K: Array, Q: Array, V: Array, draw: Callable[..., Array]) -> None:
        for letter, array in zip("KQV", (K, Q, V), strict=True):
            if letter in letters:
                array[1] = (sign if letter == "V" else 1) * array[0]

    return change


def _zero(letters: str, heads: slice = slice(1)) -> Change:
    def change(K: Array, Q: Array, V: Array, draw: Callable[..., Array]) -> None:
        for letter, array in zip("KQV", (K, Q, V), strict=True):
            if letter in letters:
                array[heads] = 0

    return change


def _outer(common: str) -> Change:
    """V_h = p vᵀ of rank one in two heads, with a common p or a common v."""

    def change(K: Array, Q: Array, V: Array, draw: Callable[..., Array]) -> None:
        p, v = draw(2, V.shape[1], 1), draw(2, 1, V.shape[2])
        if common == "p":
            p[1] = p[0]
        else:
            v[1] = v[0]
        V[:2] = p * v

    return change


def _exchanged(sign: int, heads: int) -> Change:
    """A_1 = k qᵀ, V_1 = p vᵀ; with a second head A_2 = v qᵀ, V_2 = ± p kᵀ, else v = k."""

    def change(K: Array, Q: Array, V: Array, draw: Callable[..., Array]) -> None:
        p, v = draw(V.shape[1], 1), draw(V.shape[2])
        K[:heads, 1:] = 0
        if heads == 1:
            v = K[0, 0]
        else:
            K[1, 0], Q[1, 0], V[1] = v, Q[0, 0], sign * p * K[0, 0]
        V[0] = p * v

    return change


def _kinds(a: int, d: int, d_out: int) -> Iterator[tuple[str, Change]]:
    """The names of what may be special about heads 1 and 2, and how it is made."""
    yield "V = 0 in head 1", _zero("V")
    yield "K = 0 in head 1", _zero("K")
    yield "K = Q = 0 in head 1", _zero("KQ")
    yield "K = Q = V = 0 in head 1", _zero("KQV")
    yield "equal heads", _equal("KQV")
    yield "heads that cancel", _equal("KQV", -1)
    yield "a common A", _equal("KQ")
    yield "a common V", _equal("V")
    if d > 1:
        yield "a common K", _equal("K")
        yield "a common Q", _equal("Q")
        if d_out > 1:
            yield "V = p vᵀ with a common p", _outer("p")
            yield "V = p vᵀ with a common v", _outer("v")
        if a > 1:
            yield "rk A = 1 in head 1", _rank_one(0)
            yield "rk A = 1 in two heads", _rank_one(0, 1)
            yield "A = k qᵀ with a common k", _rank_one(0, 1, k=True)
            yield "A = k qᵀ with a common q", _rank_one(0, 1, q=True)
        yield "A = k qᵀ, V = p kᵀ in head 1", _exchanged(1, 1)
        yield "k qᵀ, p vᵀ and v qᵀ, p kᵀ", _exchanged(1, 2)
        yield "k qᵀ, p vᵀ and v qᵀ, −p kᵀ", _exchanged(-1, 2)
    yield "all V = 0", _zero("V", slice(None))


def head_kinds(network: DeepNetwork, seed: int = 0) -> Iterator[tuple[str, dict[str, Array]]]:
    """Special weights of every layer with several heads, with random weights elsewhere.

    Two heads are special, head 1 and head 2: they coincide, share a matrix or a vector, are of rank one, or
    one of them is 0. What is random is an integer between −4 and 4, and not 0.

    Args:
        network: a lightning network; one without several heads in any layer has no such kinds.
        seed: of the random integers.

    Yields:
        A name, followed by the layer if there are several, and integer arrays of the network's shapes.

    Raises:
        InputError: if the rank of the V_i is restricted, or the network is normalized.

    >>> for name, weights in head_kinds(DeepNetwork((2, 1), (1,), t=2, heads=2)):
    ...     if name == "k qᵀ, p vᵀ and v qᵀ, −p kᵀ":
    ...         print([weights[letter].tolist() for letter in ("K_1", "Q_1", "V_1")])
    [[[[-4, -3]], [[3, 1]]], [[[1, 4]], [[1, 4]]], [[[6, 2]], [[8, 6]]]]
    """
    if network.value_rank is not None or not network.is_lightning:
        raise InputError(f"{network} is no lightning network with V of any rank; only such have head kinds")
    layers = [i for i, heads in enumerate(network.heads_by_layer, 1) if heads > 1]
    kinds: list[tuple[str, int, Change | None]] = [("generic", 0, None)] if layers else []
    for i in layers:
        d, d_out = network.dims[i - 1 : i + 1]
        where = f", layer {i}" if network.layers > 1 else ""
        kinds += [(name + where, i, make) for name, make in _kinds(network.ranks[i - 1], d, d_out)]
    for name, i, change in kinds:
        generator = np.random.default_rng(seed)

        def draw(*shape: int, generator: np.random.Generator = generator) -> Array:
            size = generator.integers(1, _LARGEST + 1, shape)
            return np.asarray(size * generator.choice([-1, 1], shape)).astype(object)

        weights = {letter: draw(*shape) for letter, shape in network.shapes.items()}
        if change is not None:
            change(weights[f"K_{i}"], weights[f"Q_{i}"], weights[f"V_{i}"], draw)
        yield name, weights
