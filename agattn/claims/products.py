"""Polynomial identities of a layer, checked by expansion."""

from __future__ import annotations

from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.geometry.variety.coordinates import coefficients, evaluate, full_tensor, generic_matrices


def outputs_are_products(layer: SingleLayer) -> bool:
    """Whether V X Xᵀ A X has the coefficients of :mod:`agattn.geometry.variety.coordinates`.

    Both sides are expanded with symbolic V and A and min(t, 2) symbolic tokens, and compared as polynomials.
    One row of V is enough: every output is computed from its own row by the same formula.

    Source: HMK, Proposition A.5.

    >>> outputs_are_products(SingleLayer(2, 3, 1))
    True
    """
    small = SingleLayer(layer.d, 1, layer.a, min(layer.t, 2))
    A, V, X = generic_matrices({"a": (small.d, small.d), "v": (1, small.d), "x": (small.d, small.t)})
    claimed = evaluate(small, full_tensor(small, coefficients(small, A, V)), X)
    return bool((claimed == phi(A, V, X)).all())
