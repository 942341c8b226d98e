"""Polynomial identities of a layer, checked by expansion."""

from __future__ import annotations

from itertools import product

import numpy as np

from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.geometry.variety.coefficients import (
    coefficients,
    evaluate,
    full_tensor,
    generic_weights,
    weight_ring,
)


def outputs_are_products(layer: SingleLayer) -> bool:
    """Whether V X Xᵀ A X has the coefficients of :mod:`agattn.geometry.variety.coefficients`.

    Both sides are expanded with symbolic V and A and min(t, 2) symbolic tokens, and compared as polynomials.
    One row of V is enough: every output is computed from its own row by the same formula.

    Source: HMK, Proposition A.5.

    >>> outputs_are_products(SingleLayer(2, 3, 1))
    True
    """
    small = SingleLayer(layer.d, 1, layer.a, min(layer.t, 2))
    weights = weight_ring(small)
    tokens = [Variable("x", index) for index in product(range(1, small.d + 1), range(1, small.t + 1))]
    ring = PolynomialRing([*weights.variables, *tokens])
    A, V = generic_weights(ring, small)
    X = np.array([[ring.gen("x", i, j) for j in range(1, small.t + 1)] for i in range(1, small.d + 1)])
    claimed = evaluate(small, full_tensor(small, coefficients(small, A, V)), X)
    return bool((claimed == phi(A, V, X)).all())
