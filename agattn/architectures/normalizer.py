"""Normalizers φ of attention, X ↦ V X W with W_{jτ} = φ(w_{jτ})/Σ_k φ(w_{kτ}), by Taylor coefficients.

The softmax has φ = exp. Any other φ that is analytic at 0 is given by its first coefficients there, which
are all that a jet of the network needs (:mod:`agattn.architectures.jet`).

>>> normalizer = read_normalization("normalization", {"series": ["1", "1", "1/2"]})
>>> normalizer, normalizer.coefficient(2), normalizer.first_degree
(φ = 1 + w + 1/2 w² + …, Fraction(1, 2), 1)
>>> read_normalization("normalization", "relu")
Traceback (most recent call last):
    ...
agattn.errors.InputError: normalization is 'relu'; it must be 'none' or 'softmax', or the Taylor coefficients
of a normalizer, such as {series = ["1", "1", "1/2"]}; a function with a corner at 0, such as ReLU, has none
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.calls import is_list, shown
from agattn.errors import InputError, nearest
from agattn.sheet.result import Described, Key


@dataclass(frozen=True, repr=False)
class Normalizer(Described):
    """A function φ that is positive and analytic at 0, by its first Taylor coefficients.

    Args:
        series: the coefficients of w⁰, w¹, …: whole numbers, fractions, or text such as ``"1/2"``.

    Raises:
        InputError: if there is no coefficient beyond the first, or none of these differs from 0, or one
            is no rational number, or φ(0) is not above 0.

    >>> Normalizer(["1", 0, "0"])
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: series is ['1', 0, '0']; a coefficient beyond the first must differ from 0
    """

    series: Key[tuple[Fraction, ...], "The coefficients of w⁰, w¹, … of a normalizer, as text."]

    def __post_init__(self) -> None:
        given = self.series
        if not is_list(given) or not all(isinstance(x, (int, str, Fraction)) for x in given):
            raise InputError(
                f"series is {shown(given)}; it must be a list of rational numbers such as"
                ' ["1", "1", "1/2"], the Taylor coefficients at 0'
            )
        try:
            coefficients = tuple(Fraction(x) for x in given)
        except (ValueError, ZeroDivisionError):
            raise InputError(
                f"series is {shown(given)}; its coefficients must be rational numbers such as 1/2"
            ) from None
        if not coefficients or coefficients[0] <= 0:
            raise InputError(f"series is {shown(given)}; its first coefficient, φ(0), must be above 0")
        if not any(coefficients[1:]):
            raise InputError(f"series is {shown(given)}; a coefficient beyond the first must differ from 0")
        object.__setattr__(self, "series", coefficients)

    def coefficient(self, k: int) -> Fraction:
        """The coefficient of wᵏ.

        Raises:
            InputError: if it was not given.
        """
        if k >= len(self.series):
            raise InputError(
                f"a jet of this order needs the coefficient of w^{k} in the series of the normalizer, which"
                f' ends before; give it, or "0" if there is none'
            )
        return self.series[k]

    @property
    def first_degree(self) -> int:
        """The least k ≥ 1 whose coefficient is not 0."""
        return next(k for k, x in enumerate(self.series) if k and x)

    def summary(self) -> str:
        """The first terms."""
        powers = ("", " w", *(f" w{raised(k)}" for k in range(2, len(self.series))))
        terms = (
            f"{'' if x == 1 and k else x}{power}".strip()
            for k, (x, power) in enumerate(zip(self.series, powers, strict=False))
            if x
        )
        return f"φ = {' + '.join(terms).replace('+ -', '− ')} + …"

    @property
    def argument(self) -> str:
        """The coefficients as the command line takes them."""
        return ",".join(map(str, self.series))


def raised(k: int) -> str:
    """A number as an exponent.

    >>> raised(-12)
    '⁻¹²'
    """
    return str(k).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


#: How the weights of attention are made of the scores.
Normalization = Literal["none", "softmax"] | Normalizer


def weights_of(arithmetic: Arithmetic, scores: Array, normalization: Any, seen: Array | None = None) -> Array:
    """The weights of attention for a softmax or another normalizer."""
    if isinstance(normalization, Normalizer):
        return arithmetic.normalized(scores, normalization.coefficient, seen)
    return arithmetic.softmax(scores, seen)


def read_normalization(name: str, value: Any) -> Any:
    """``"none"``, ``"softmax"`` or a normalizer, which may be given as ``{"series": [...]}``."""
    if isinstance(value, Normalizer) or (isinstance(value, str) and value in ("none", "softmax")):
        return value
    if isinstance(value, Mapping) and list(value) == ["series"]:
        return Normalizer(value["series"])
    choices = (
        "; it must be 'none' or 'softmax', or the Taylor coefficients of a normalizer, such as"
        ' {series = ["1", "1", "1/2"]}; a function with a corner at 0, such as ReLU, has none'
    )
    hint = nearest(value, ("none", "softmax"), choices) if isinstance(value, str) else choices
    raise InputError(f"{name} is {shown(value)}{hint}")
