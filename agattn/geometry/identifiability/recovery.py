"""HMK's Theorem 3.9 at work: one normalized layer gives back its weights, exactly, from its values alone.

Two functions S are used at rational weights. One is rational. The other, S(x) = 2^x, is the softmax itself:
with A' = T·log 2·A for an integer matrix A, exp(xᵀA'z/T) = 2^{xᵀAz}, a rational number at integer tokens.

>>> recovered_exactly(d=2, d_out=1, a=1, t=3)
[('2^x', True), ('2^x, V = 0', True), ('2 + x/(1 + |x|)', True), ('2 + x/(1 + |x|), V = 0', True)]
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.geometry.identifiability.softmax_layer import normalized, recover

Scalar = Fraction


def power_of_two(x: Scalar) -> Scalar:
    """2^x for an integer x.

    Raises:
        ValueError: if x is no integer: then 2^x is irrational.
    """
    if x.denominator != 1:
        raise ValueError(f"2^({x}) is irrational")
    return Fraction(2) ** x.numerator


def logarithm(y: Scalar) -> Scalar:
    """The x with 2^x = y, for a power of two.

    Raises:
        ValueError: if y is none.
    """
    x = Fraction(y.numerator.bit_length() - y.denominator.bit_length())
    if power_of_two(x) != y:
        raise ValueError(f"{y} is no power of two")
    return x


def bounded(x: Scalar) -> Scalar:
    r"""2 + x/(1 + \|x\|), injective with values between 1 and 3."""
    return 2 + x / (1 + abs(x))


def unbounded(y: Scalar) -> Scalar:
    """The inverse of :func:`bounded`."""
    return (y - 2) / (1 - abs(y - 2))


FUNCTIONS: dict[str, tuple[Callable[[Scalar], Scalar], Callable[[Scalar], Scalar]]] = {
    "2^x": (power_of_two, logarithm),
    "2 + x/(1 + |x|)": (bounded, unbounded),
}


def recovered_exactly(d: int, d_out: int, a: int, t: int, seed: int = 0) -> list[tuple[str, bool]]:
    """Whether the weights come back: for each function S, at random integer A = KᵀQ and V, and at V = 0.

    Args:
        d: number of rows of the input.
        d_out: number of rows of the output.
        a: number of rows of K and Q.
        t: number of tokens, at least 2.
        seed: of the weights.

    Raises:
        InputError: if t < 2.
    """
    generator = np.random.default_rng(seed)

    def draw(*shape: int) -> Array:
        return np.vectorize(Fraction, otypes=[object])(generator.integers(-2, 3, shape))

    results = []
    for name, (S, S_inverse) in FUNCTIONS.items():
        A, V = draw(a, d).T @ draw(a, d), draw(d_out, d)
        while not V.any():
            V = draw(d_out, d)
        A_found, V_found = recover(lambda X, A=A, V=V, S=S: normalized(A, V, X, S), d, t, S, S_inverse)  # type: ignore[misc]
        same = A_found is not None and bool((A_found == A).all() and (V_found == V).all())
        A_found, V_found = recover(lambda X, A=A, V=V, S=S: normalized(A, 0 * V, X, S), d, t, S, S_inverse)  # type: ignore[misc]
        results += [(name, same), (f"{name}, V = 0", A_found is None and not V_found.any())]
    return results
