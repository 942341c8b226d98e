"""A smaller model inside a large one, whose dimension bounds that of the large one from below.

Weights that are 0 outside of some rows and columns make a model of smaller widths, with fewer heads and
neurons. On inputs that are 0 in all other rows the large model computes what the smaller one does, so that
its functions have at least the dimension of those of the smaller one. Tokens are left out in the same way
where tokens that are 0 stay 0: without filters along the tokens and the softmax, and with biases that are 0.
At a softmax equal tokens share their weight, so that each token may be repeated, and t replaced by a divisor.

>>> from agattn.architectures import DeepNetwork
>>> print(smaller(DeepNetwork((768, 768, 768), (64, 64), t=1024, heads=12, normalization="softmax"), 300))
M(5,5,5; 5,5), heads 2, softmax, t = 2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from agattn.architectures import (
    Architecture,
    Attention,
    Convolution,
    DeepNetwork,
    Linear,
    Network,
    Perceptron,
    Recurrence,
)
from agattn.architectures.layers import LAYERS, Layer, Skip
from agattn.errors import InputError

# Widths and numbers of heads that are tried, the largest first.
_WIDTHS, _HEADS = (24, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1), (4, 3, 2, 1)
# So many tokens are kept where none can be left out: with the matrices of attention, and without.
_MOST_TOKENS, _MOST_POSITIONS = 8, 1000


def smaller(architecture: Architecture, parameters: int) -> Architecture | None:
    """A model of at most so many parameters inside another; ``None`` if none is known."""
    found = [
        one
        for one in _candidates(architecture)
        if one.parameters <= parameters and one.t <= (_MOST_TOKENS if _attends(one) else _MOST_POSITIONS)
    ]
    return max(found, key=lambda one: one.parameters, default=None)


def _attends(architecture: Architecture) -> bool:
    """Whether there are heads, each with a matrix of t × t entries."""
    return not isinstance(architecture, Network) or any(
        isinstance(place.layer, Attention) for place in architecture.places
    )


def _candidates(architecture: Architecture) -> Iterator[Architecture]:
    """The models inside for all widths and numbers of heads that are tried."""
    for width, heads in product(_WIDTHS, _HEADS):
        if isinstance(architecture, DeepNetwork):
            yield _network(architecture, width, heads)
        elif isinstance(architecture, Network) and all(
            type(place.layer) in LAYERS.values() for place in architecture.places
        ):  # of other layers it is not known that rows and tokens that are 0 play no role
            tokens = _tokens(architecture)
            biases = tokens == architecture.t
            layers = [_layer(one, width, heads, tokens, biases) for one in architecture.layers]
            positions = architecture.t == 1 and any(isinstance(one, Convolution) for one in layers)
            rows = architecture.dim if positions else min(architecture.dim, width)
            try:
                inside = Network(tuple(layers), rows, tokens)
            except InputError:  # a filter that is longer than what is left
                continue
            if tokens < architecture.t or _numbers_of_tokens(inside) == _numbers_of_tokens(architecture):
                yield inside


def _numbers_of_tokens(network: Network) -> list[int]:
    """Those before every step, and at the end.

    A convolution makes tokens of the rows of a single token: with fewer rows or channels they may be others.
    """
    return [shape[1] for shape in (*(place.shape for place in network.places), network.output_shape)]


def _network(network: DeepNetwork, width: int, heads: int) -> DeepNetwork:
    """A network of attention with smaller numbers."""
    t = network.t
    if network.is_lightning:
        t = min(t, 3)
    elif t > _MOST_TOKENS:
        t = next((k for k in range(2, _MOST_TOKENS + 1) if t % k == 0), 1)
    return replace(
        network,
        dims=tuple(min(d, width) for d in network.dims),
        ranks=tuple(min(a, width) for a in network.ranks),
        heads=tuple(min(h, heads) for h in network.heads_by_layer),
        value_rank=network.value_rank and min(network.value_rank, width),
        t=t,
    )


def _tokens(network: Network) -> int:
    """How many tokens are kept: the first ones."""
    stays_zero = not any(
        isinstance(place.layer, Convolution) or getattr(place.layer, "normalization", "none") != "none"
        for place in network.places
    )
    return min(network.t, 3) if stays_zero else network.t


def _layer(layer: Layer, width: int, heads: int, tokens: int, biases: bool) -> Layer:
    """A layer with smaller numbers, and with its biases if tokens stay."""
    if isinstance(layer, Attention):
        rank, rotary = min(layer.rank, width), layer.rotary
        if rotary is True:
            rank = max(2, rank // 2 * 2)
        elif rotary:
            rotary = min(layer.pairs, max(1, rank // 2))
            rank = max(rank, 2 * rotary)
        mask = layer.mask
        if isinstance(mask, tuple):
            mask = tuple(row[:tokens] for row in mask[:tokens])
        groups = min(layer.groups, heads)
        return replace(
            layer,
            out=min(layer.out, width),
            rank=rank,
            rotary=rotary,
            heads=groups * min(layer.heads // layer.groups, max(1, heads // groups)),
            kv_heads=layer.kv_heads and groups,
            value_rank=layer.value_rank and min(layer.value_rank, width),
            mask=mask,
        )
    if isinstance(layer, Recurrence):
        sizes = {"out": width, "rank": width, "heads": heads}
        return replace(layer, **{name: min(getattr(layer, name), most) for name, most in sizes.items()})
    if isinstance(layer, Perceptron):
        *inner, last = layer.widths
        widths = (*(min(n, 2 * width) for n in inner), min(last, width))
        return replace(layer, widths=widths, bias=layer.bias and biases)
    if isinstance(layer, Linear):
        return replace(layer, out=min(layer.out, width), bias=layer.bias and biases)
    if isinstance(layer, Convolution):
        return replace(layer, channels=min(layer.channels, width))
    if isinstance(layer, Skip):
        return Skip(tuple(_layer(one, width, heads, tokens, biases) for one in layer.layer))
    return layer
