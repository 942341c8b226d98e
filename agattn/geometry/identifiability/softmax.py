"""One normalized layer, X ↦ V X W with W_{jτ} = S(x_jᵀ A x_τ) / Σ_k S(x_kᵀ A x_τ), for any injective S > 0.

HMK, equation 15. Unlike a lightning layer, the function determines A and V (Theorem 3.9); the proof is an
algorithm, and :func:`recover` is that algorithm. It is exact for two functions S at rational weights. One is
rational, ``S(x) = 2 + x/(1 + |x|)``. The other, S(x) = 2^x, is the softmax itself: with A' = T·log 2·A for an
integer matrix A, exp(xᵀA'z/T) = 2^{xᵀAz}, a rational number at integer tokens.

>>> A = np.array([[1, -2], [0, Fraction(1, 3)]], dtype=object)
>>> V = np.array([[0, 5]], dtype=object)
>>> A_found, V_found = recover(lambda X: normalized(A, V, X, bounded), 2, 3, bounded, unbounded)
>>> bool((A_found == A).all() and (V_found == V).all())
True
>>> recovered_exactly(d=2, d_out=1, a=1, t=3)
[('2^x', True), ('2^x, V = 0', True), ('2 + x/(1 + |x|)', True), ('2 + x/(1 + |x|), V = 0', True)]
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from agattn.algebra.scalars import TOLERANCE, Array, as_floats, scalars
from agattn.errors import InputError
from agattn.geometry.identifiability.gauge import rational_inverse
from agattn.limits import limits

Scalar = Any
Function = Callable[[Scalar], Scalar]


def normalized(A: Array, V: Array, X: Array, S: Function) -> Array:
    """The output d' × t of one normalized layer at X, d × t (HMK, equation 15)."""
    weights = np.frompyfunc(S, 1, 1)(X.T @ A @ X)
    result: Array = V @ X @ (weights / weights.sum(axis=0, keepdims=True))
    return result


def recover(
    layer: Callable[[Array], Array],
    d: int,
    t: int,
    S: Function,
    S_inverse: Function,
    one: Scalar = Fraction(1),
    inverse: Callable[[Array], Array] = rational_inverse,
    is_zero: Callable[[Array], bool] = lambda a: not a.any(),
) -> tuple[Array | None, Array]:
    """Recover (A, V) from a normalized layer that can only be evaluated (HMK, Theorem 3.9).

    Equal tokens z give Vz. The inputs (x, z, ..., z) give, in the column of a z, the ratio S(xᵀAz)/S(zᵀAz)
    wherever V(x − z) ≠ 0; with x = 0 that is S(zᵀAz) from the known S(0), hence S(xᵀAz) and by S⁻¹ the
    number xᵀAz. For z in a basis on which V does not vanish, and x in a basis that avoids
    V(x − z) = 0, this is a linear system for A.

    A is ``None`` if V = 0, when the layer is zero whatever A is.

    Args:
        layer: maps a d × t array to a d' × t array.
        d: number of rows of the input.
        t: number of tokens, at least 2.
        S: the positive injective function.
        S_inverse: its inverse, on the values of S.
        one: the number 1 in the kind of scalars that ``layer`` takes.
        inverse: inverts a matrix of such scalars.
        is_zero: whether an array counts as 0; give one with a tolerance for floating-point scalars.

    Raises:
        InputError: if t < 2: one token carries no attention.
    """
    if t < 2:
        raise InputError(f"t is {t}; A can be recovered only from inputs of at least 2 tokens")
    basis = [np.array([one if i == k else 0 * one for i in range(d)], dtype=object) for k in range(d)]
    V = np.stack([layer(np.stack([e] * t, axis=1))[:, 0] for e in basis], axis=1)
    if is_zero(V):
        return None, V
    seen = next(e for e in basis if not is_zero(V @ e))
    Z = [e if not is_zero(V @ e) else e + seen for e in basis]

    def ratio(x: Array, z: Array) -> Scalar:
        """S(xᵀAz)/S(zᵀAz), given V(x − z) ≠ 0."""
        out = layer(np.stack([x] + [z] * (t - 1), axis=1))[:, 1]
        change, moved = out - V @ z, V @ (x - z)
        k = max(range(len(moved)), key=lambda i: abs(moved[i]))
        w = change[k] / moved[k]  # the weight of the token x in this column
        return (t - 1) * w / (1 - w)

    products = np.empty((d, d), dtype=object)
    for b, z in enumerate(Z):
        at_z = S(0 * one) / ratio(0 * z, z)
        X = [x if not is_zero(V @ (x - z)) else 2 * x for x in Z]
        values = np.array([S_inverse(ratio(x, z) * at_z) for x in X], dtype=object)
        products[:, b] = inverse(np.stack(X)) @ values
    return products @ inverse(np.stack(Z, axis=1)), V


def identify_softmax(
    function: Function, d: int, t: int, temperature: float = 1.0, tolerance: float = TOLERANCE
) -> tuple[Array | None, Array]:
    """(A, V) of a softmax layer that can only be evaluated: the fiber is one point (HMK, Theorem 3.9).

    This is :func:`recover` in floating point. A is ``None`` if V = 0, to the tolerance.

    Raises:
        InputError: if t < 2, or if an output has the wrong shape.

    >>> A, V = np.array([[0.5, -1.0], [0.0, 2.0]]), np.array([[1.0, 3.0]])
    >>> found = identify_softmax(lambda X: normalized(A, V, X, np.exp), d=2, t=3)
    >>> bool(np.allclose(found[0], A) and np.allclose(found[1], V))
    True
    """

    def evaluate(X: Array) -> Array:
        output = scalars(function(as_floats(X)), "the output of the function")
        if output.ndim != 2 or output.shape[1] != t:
            raise InputError(f"the output of the function has the shape {output.shape}; it must be d' × {t}")
        return as_floats(output)

    def is_zero(values: Array) -> bool:
        return bool(np.abs(as_floats(np.asarray(values))).max() <= tolerance)

    A, V = recover(
        evaluate,
        d,
        t,
        S=lambda x: np.exp(float(x) / temperature),
        S_inverse=lambda y: temperature * np.log(float(y)),
        one=1.0,
        inverse=lambda M: np.linalg.inv(as_floats(M)),
        is_zero=is_zero,
    )
    return (None if A is None else as_floats(A)), as_floats(V)


def bounded(x: Fraction) -> Fraction:
    r"""2 + x/(1 + \|x\|), injective with values between 1 and 3."""
    return 2 + x / (1 + abs(x))


def unbounded(y: Fraction) -> Fraction:
    """The inverse of :func:`bounded`."""
    return (y - 2) / (1 - abs(y - 2))


def recovered_exactly(d: int, d_out: int, a: int, t: int) -> list[tuple[str, bool]]:
    """Whether the weights come back: for each function S, at random integer A = KᵀQ and V, and at V = 0.

    K and Q are a × d and V is d' × d; InputError if t < 2.
    """
    generator = np.random.default_rng(limits().seed)

    def draw(*shape: int) -> Array:
        return scalars(generator.integers(-2, 3, shape), "the weights")

    results = []
    two: tuple[Function, Function] = (  # at integers and powers of two
        lambda x: Fraction(2) ** x,
        lambda y: Fraction(y.numerator.bit_length() - y.denominator.bit_length()),
    )
    functions = (("2^x", *two), ("2 + x/(1 + |x|)", bounded, unbounded))
    for name, S, S_inverse in functions:
        A, V = draw(a, d).T @ draw(a, d), draw(d_out, d)
        while not V.any():
            V = draw(d_out, d)
        for W, label in ((V, name), (0 * V, f"{name}, V = 0")):
            layer = partial(normalized, A, W, S=S)
            A_found, V_found = recover(layer, d, t, S, S_inverse)
            same = A_found is None if label != name else A_found is not None and (A_found == A).all()
            results.append((label, bool(same and (V_found == W).all())))
    return results
