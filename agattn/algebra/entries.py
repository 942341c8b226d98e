r"""Reading numbers: which entries are exact, and how far the others may be from what is written.

Integers and rationals (``3``, ``"22/7"``, ``Fraction``, ``fmpq``) are exact. Every other number is a ball, a
midpoint with a radius, and the radius is *stated*; a number of radius 0 is exact, too:

- an ``arb`` states its own;
- otherwise the argument ``radius`` of the caller, the same for all entries;
- otherwise a binary float is taken as rounded to nearest (half a unit in the last place), an mpmath number
  likewise at mpmath's working precision, and a decimal with at least 16 significant digits in its last digit;
  a shorter decimal is exact as written.

>>> read_number("-6/4"), read_number("0.25")
((-3/2, None), (1/4, None))
>>> read_number(0.5), read_number("0.5", radius=flint.fmpq(1, 4))
((1/2, 1/18014398509481984), (1/2, 1/4))
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from agattn.calls import shown
from agattn.errors import InputError, worded

# Beyond this a decimal exponent is a mistake or an attack: the exact number would fill the memory.
LARGEST_EXPONENT = 10**6
ROUNDED_DIGITS = 16
NO_COMPLEX = "only real matrices are read: give [[Re, -Im], [Im, Re]], which has twice the rank"

_RATIONAL = re.compile(r"([+-]?\d+)(?:\s*/\s*(\d+))?", re.ASCII)
# Possessive: a run of digits is read once, not in every way to divide it.
_DECIMAL = re.compile(r"([+-]?)(\d*+)\.?(\d*+)(?:[eE]([+-]?\d{1,9}))?", re.ASCII)

Ball = tuple[Any, Any]


def read_number(x: Any, radius: Any = None) -> Ball:
    """Return (midpoint, radius) as ``fmpq``; the radius is ``None`` for an exact number.

    Raises:
        InputError: for anything that is not a finite real number, naming it.
    """
    midpoint, around = _ball(x, radius)
    return midpoint, around or None


def _ball(x: Any, radius: Any) -> Ball:
    if isinstance(x, (bool, np.bool_, int, np.integer)):
        return flint.fmpq(int(x)), None
    if isinstance(x, (flint.fmpz, flint.fmpq)):
        return flint.fmpq(x), None
    if isinstance(x, Fraction):
        return flint.fmpq(x.numerator, x.denominator), None
    if isinstance(x, (float, np.floating)):
        return _float(x, radius)
    if isinstance(x, str):
        return _text(x, radius)
    if isinstance(x, Decimal):
        return _text(str(x), radius)
    if isinstance(x, (complex, np.complexfloating, flint.acb)):
        raise InputError(f"{x} is complex; {NO_COMPLEX}")
    if isinstance(x, flint.arb):
        if not x.is_finite():
            raise InputError(f"{x} is not a finite number")
        return _arb_midpoint(x.mid()), _arb_midpoint(x.rad())
    if hasattr(x, "_mpf_"):
        return _mpf(x, radius)
    if getattr(x, "is_Rational", False) and hasattr(x, "p"):
        return flint.fmpq(int(x.p), int(x.q)), None
    if getattr(x, "is_real", None) is True:  # of sympy
        raise InputError(f"{shown(x)} is not rational: give a decimal such as 1.4142 or sympy.N(x, 30)")
    raise InputError(f"{shown(x)} is not a real number")


def _float(x: Any, radius: Any) -> Ball:
    if not np.isfinite(x):
        raise InputError(f"{x} is not a finite number")
    if radius is None:
        # A zero is exact. Halved as a rational: half of the smallest float is not a float.
        radius = flint.fmpq(*np.spacing(np.abs(x)).as_integer_ratio()) / 2 if x else flint.fmpq(0)
    return flint.fmpq(*x.as_integer_ratio()), radius


def _mpf(x: Any, radius: Any) -> Ball:
    import mpmath

    value = mpmath.mpmathify(x) if not hasattr(x, "is_Float") else x
    sign, mantissa, exponent, bits = value._mpf_
    if not mantissa and exponent:
        raise InputError(f"{x} is not a finite number")
    if abs(exponent) > 4 * LARGEST_EXPONENT:
        raise InputError(f"{shown(x)} has an exponent beyond ±{LARGEST_EXPONENT}")
    midpoint = _power(flint.fmpz(int(mantissa)) * (-1 if sign else 1), 2, int(exponent))
    if radius is None:
        unit = int(exponent) + int(bits) - max(mpmath.mp.prec, int(bits)) - 1
        radius = _power(flint.fmpz(1), 2, unit) if mantissa else flint.fmpq(0)
    return midpoint, radius


def _text(text: str, radius: Any) -> Ball:
    stripped = text.strip()
    rational = _RATIONAL.fullmatch(stripped)
    if rational:
        denominator = flint.fmpz(rational[2] or 1)
        if not denominator:
            raise InputError(f"{shown(text)} has the denominator 0")
        return flint.fmpq(flint.fmpz(rational[1].removeprefix("+")), denominator), None
    if "+/-" in text or "±" in text:
        raise InputError(
            f"{shown(text)} states its own radius; write the number alone, and for a rank the radius of all"
            f" entries as {worded('--radius=5e-4', 'radius=5e-4')}"
        )
    decimal = _DECIMAL.fullmatch(stripped)
    if not decimal or not (decimal[2] or decimal[3]):
        raise InputError(f"{shown(text)} is not a number: write 3, 22/7, 0.25 or 1e-9")
    sign, whole, part, exponent = decimal.groups("")
    power = int(exponent or 0)
    if abs(power) > LARGEST_EXPONENT:
        raise InputError(f"{shown(text)} has an exponent beyond ±{LARGEST_EXPONENT}")
    digits, power = flint.fmpz(whole + part), power - len(part)
    if radius is None:
        is_rounded = len((whole + part).lstrip("0")) >= ROUNDED_DIGITS
        radius = _power(flint.fmpz(1), 10, power) / 2 if is_rounded else flint.fmpq(0)
    return _power(-digits if sign == "-" else digits, 10, power), radius


def _power(factor: Any, base: int, exponent: int) -> Any:
    scale = flint.fmpz(base) ** abs(exponent)
    return flint.fmpq(factor * scale) if exponent >= 0 else flint.fmpq(factor, scale)


def _arb_midpoint(x: Any) -> Any:
    mantissa, exponent = x.man_exp()
    if abs(exponent) > 4 * LARGEST_EXPONENT:
        raise InputError(f"{x} has an exponent beyond ±{LARGEST_EXPONENT}")
    return _power(mantissa, 2, int(exponent))
