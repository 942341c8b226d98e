"""Parameters against dimension: how many numbers a network is learned from, and how many it has.

The sample complexity of learning grows linearly with the dimension of the space of functions, which can be
much less than the number of parameters. HMK's example: with a_i = d_i = d throughout there are 3d²l
parameters, and by equation 14 the dimension is (l + 1)d² − l, so the ratio tends to 3l/(l + 1) as d grows,
and to 3 for deep networks.

>>> print(*(row for row in compare(["gpt2-small"])), sep="\\n")
gpt2-small: 28311552 parameters, dimension 27131904, ratio 1.0435
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from agattn.architectures import DeepNetwork
from agattn.errors import InputError
from agattn.geometry.dimension.formulas import network_bound

#: Attention parts of published transformers: width, layers, heads, head dimension; O_h P_h of rank a.
TRANSFORMERS = {
    "transformer-base": (512, 6, 8, 64),
    "transformer-big": (1024, 6, 16, 64),
    "bert-base": (768, 12, 12, 64),
    "bert-large": (1024, 24, 16, 64),
    "gpt2-small": (768, 12, 12, 64),
    "gpt2-xl": (1600, 48, 25, 64),
    "gpt3": (12288, 96, 96, 128),
    "llama-7b": (4096, 32, 32, 128),
}


@dataclass(frozen=True)
class SampleComplexity:
    """Parameters and dimension of one network.

    Attributes:
        name: what the network is called.
        network: the network.
        parameters: its parameters.
        dimension: the value of the general formula; a proved upper bound on the dimension.
    """

    name: str
    network: DeepNetwork
    parameters: int
    dimension: int

    @property
    def ratio(self) -> Fraction:
        """Parameters for each dimension."""
        return Fraction(self.parameters, self.dimension)

    def __str__(self) -> str:
        ratio = f"ratio {float(self.ratio):.4f}"
        return f"{self.name}: {self.parameters} parameters, dimension {self.dimension}, {ratio}"


def transformer(name: str, normalization: str = "softmax", skip: bool = True) -> DeepNetwork:
    """The attention layers of a named transformer, without its other parts, as a network.

    Raises:
        InputError: if there is none of that name.
    """
    if name not in TRANSFORMERS:
        raise InputError(f"there is no transformer {name!r}; known: {', '.join(sorted(TRANSFORMERS))}")
    if normalization not in ("none", "softmax"):
        raise InputError(f"normalization is {normalization!r}; it must be 'none' or 'softmax'")
    d, layers, heads, a = TRANSFORMERS[name]
    return DeepNetwork(
        (d,) * (layers + 1), (a,) * layers, t=3, heads=heads, skip=skip, value_rank=a,
        normalization="softmax" if normalization == "softmax" else "none",
    )  # fmt: skip


def sample_complexity(name: str, network: DeepNetwork) -> SampleComplexity:
    """Parameters and dimension (by formula) of a network, named for display."""
    return SampleComplexity(name, network, network.parameters, network_bound(network).value)


def compare(names: Iterable[str] = TRANSFORMERS) -> list[SampleComplexity]:
    """The named transformers, as normalized networks with skip connections."""
    return [sample_complexity(name, transformer(name)) for name in names]


def full_rank_ratio(d: int, l: int) -> Fraction:  # the paper's l
    """Parameters by dimension for l ≥ 1 lightning layers with a_i = d_i = d: exactly 3d²l / ((l+1)d² − l).

    >>> full_rank_ratio(10**6, 1) - Fraction(3, 2) < Fraction(1, 10**6)
    True
    """
    result = sample_complexity("", DeepNetwork((d,) * (l + 1), (d,) * l, t=3)).ratio
    assert result == Fraction(3 * d * d * l, (l + 1) * d * d - l)
    return result
