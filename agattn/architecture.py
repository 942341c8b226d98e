"""Architectures: what the neuromanifold is the neuromanifold of.

>>> layer = SingleLayer(d=2, d_out=1)
>>> print(layer)
M(2,1,2): dim 5 in ℝ⁶, t ≥ 2
>>> layer.ambient_dimension, layer.alpha
(6, 2)
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from math import comb

from agattn.errors import InputError

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class SingleLayer:
    """One layer of lightning self-attention, φ(X) = V X Xᵀ A X with A = KᵀQ.

    X is a d × t matrix whose columns are the tokens; K and Q are a × d; V is d' × d.

    Attributes:
        d: embedding dimension, the number of rows of X.
        d_out: output dimension d'.
        a: attention dimension, the number of rows of Q and K; ``None`` means a = d.
        t: number of tokens. Every t ≥ 2 gives the same neuromanifold up to a linear isomorphism.

    Raises:
        InputError: if one of them is not an integer or is below 1.

    Source: HMK, Definition 1 and equation 3.

    >>> SingleLayer(3, 2, 2)
    SingleLayer(d=3, d_out=2, a=2, t=2)
    >>> SingleLayer(3, 0)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: d_out is 0; it must be a whole number of at least 1
    """

    d: int
    d_out: int
    a: int = None  # type: ignore[assignment]  # None stands for d until __post_init__
    t: int = 2

    def __post_init__(self) -> None:
        if self.a is None:
            object.__setattr__(self, "a", self.d)
        for name in ("d", "d_out", "a", "t"):
            object.__setattr__(self, name, positive_integer(name, getattr(self, name)))

    @property
    def alpha(self) -> int:
        """α = min(a, d), the largest rank of A."""
        return min(self.a, self.d)

    @property
    def ambient_dimension(self) -> int:
        """N = d'·d·C(d+1, 2), the number of coordinates y; at t = 1, d'·C(d+2, 3)."""
        if self.t == 1:
            return self.d_out * comb(self.d + 2, 3)
        return self.d_out * self.d * comb(self.d + 1, 2)

    @property
    def expected_dimension(self) -> int:
        """The dimension of the neuromanifold by the formula of HMK, Corollary 3.3; at t = 1 its variant.

        At t = 1 only the symmetric part of A matters, of rank at most β = min(d, 2a).
        """
        if self.t == 1:
            beta = min(self.d, 2 * self.a)
            return beta * (2 * self.d - beta + 1) // 2 + self.d * self.d_out - 1
        return self.alpha * (2 * self.d - self.alpha) + self.d * self.d_out - 1

    def __str__(self) -> str:
        tokens = "t = 1" if self.t == 1 else "t ≥ 2"
        ambient = str(self.ambient_dimension).translate(_SUPERSCRIPTS)
        return f"M({self.d},{self.d_out},{self.a}): dim {self.expected_dimension} in ℝ{ambient}, {tokens}"

    def as_json(self) -> dict[str, int]:
        """Return the four numbers that define the layer."""
        return {"d": self.d, "d_out": self.d_out, "a": self.a, "t": self.t}


def positive_integer(name: str, value: object) -> int:
    """Return ``value`` as an int, or raise an InputError that names it.

    >>> positive_integer("d", 2.5)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: d is 2.5; it must be a whole number of at least 1
    """
    if not isinstance(value, bool):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            number = 0
        if number >= 1:
            return number
    raise InputError(f"{name} is {value!r}; it must be a whole number of at least 1")
