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

from dataclasses import replace
from itertools import product
from typing import Any

from agattn.architectures import Architecture, Attention, Convolution, DeepNetwork, Network, Perceptron
from agattn.architectures.layers import LAYERS, Layer, Skip
from agattn.errors import InputError

# Widths and numbers of heads that are tried, the largest first.
_WIDTHS, _HEADS = (24, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1), (4, 3, 2, 1)
# So many tokens are kept where none can be left out: with the matrices of attention, and without.
_MOST_TOKENS, _MOST_POSITIONS = 8, 1000


def smaller(architecture: Architecture, parameters: int) -> Architecture | None:
    """A model of at most so many parameters inside another; ``None`` if none is known."""
    models = (one for size in product(_WIDTHS, _HEADS) if (one := _inside(architecture, *size)))
    fitting = [one for one in models if one.parameters <= parameters and one.t <= _most_tokens(one)]
    return max(fitting, key=lambda one: one.parameters, default=None)


def _most_tokens(architecture: Architecture) -> int:
    """Heads have a matrix of t × t entries each."""
    steps = architecture.places if isinstance(architecture, Network) else None
    attends = steps is None or any(isinstance(step.layer, Attention) for step in steps)
    return _MOST_TOKENS if attends else _MOST_POSITIONS


def _inside(architecture: Architecture, width: int, heads: int) -> Architecture | None:
    """The model with at most so large widths, and so many heads."""
    if isinstance(architecture, DeepNetwork):
        return _network(architecture, width, heads)
    if not isinstance(architecture, Network):
        return None
    kinds = [type(step.layer) for step in architecture.places]
    if not all(kind in LAYERS.values() for kind in kinds):
        return None  # of other layers it is not known that rows and tokens that are 0 play no role
    softmax = any(getattr(step.layer, "normalization", "none") != "none" for step in architecture.places)
    tokens = architecture.t if softmax or Convolution in kinds else min(architecture.t, 3)
    layers = [_layer(layer, width, heads, tokens, tokens == architecture.t) for layer in architecture.layers]
    positions = architecture.t == 1 and any(isinstance(layer, Convolution) for layer in layers)
    rows = architecture.dim if positions else min(architecture.dim, width)
    try:
        inside = Network(tuple(layers), rows, tokens)
    except InputError:  # a filter that is longer than what is left
        return None
    # A convolution makes tokens of the rows of a single token: with fewer rows there may be others.
    same = [step.shape[1] for step in inside.places] == [step.shape[1] for step in architecture.places]
    same = same and inside.output_shape[1] == architecture.output_shape[1]
    return inside if tokens < architecture.t or same else None


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


def _layer(layer: Layer, width: int, heads: int, tokens: int, biases: bool) -> Layer:
    """A layer with smaller numbers, and with its biases if tokens stay."""
    if isinstance(layer, Skip):
        return Skip(tuple(_layer(one, width, heads, tokens, biases) for one in layer.layer))
    limits = {"out": width, "rank": width, "value_rank": width, "channels": width, "heads": heads}
    limits["neurons"] = 2 * width
    changed: dict[str, Any] = {
        name: min(size, most) for name, most in limits.items() if (size := getattr(layer, name, None))
    }
    if getattr(layer, "bias", False):
        changed["bias"] = biases
    if isinstance(layer, Perceptron):
        *inner, last = layer.widths
        changed["widths"] = (*(min(n, 2 * width) for n in inner), min(last, width))
    if isinstance(layer, Attention):
        groups = min(layer.groups, heads)
        changed["heads"] = groups * min(layer.heads // layer.groups, max(1, heads // groups))
        changed["kv_heads"] = layer.kv_heads and groups
        if layer.rotary:
            pairs = min(layer.pairs, max(1, changed["rank"] // 2))
            changed["rank"] = 2 * pairs if layer.rotary is True else max(changed["rank"], 2 * pairs)
            changed["rotary"] = layer.rotary is True or pairs
        if isinstance(layer.mask, tuple):
            changed["mask"] = tuple(row[:tokens] for row in layer.mask[:tokens])
    return replace(layer, **changed)
