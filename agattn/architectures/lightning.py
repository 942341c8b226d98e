"""φ itself: one layer of lightning self-attention, over any scalars.

>>> from fractions import Fraction
>>> X = [[1, 2], [3, Fraction(1, 2)]]
>>> phi(A=[[0, 1], [0, 0]], V=[[1, 0]], X=X)
array([[Fraction(15, 1), Fraction(5, 2)]], dtype=object)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agattn.errors import InputError

Array = npt.NDArray[Any]


def as_array(matrix: Any, name: str = "the matrix") -> Array:
    """Return a matrix of any scalars as a two-dimensional numpy array, losing nothing.

    Accepts nested sequences, numpy arrays, and the matrices of sympy, mpmath and FLINT. Integers become
    Python ints (dtype ``object``), so that no product overflows; floating-point arrays stay as they are.

    Raises:
        InputError: if the matrix is not two-dimensional, or its rows differ in length.
    """
    rows = matrix
    if not isinstance(rows, np.ndarray):
        read = getattr(rows, "tolist", None) or getattr(rows, "table", None)
        rows = read() if read else rows
    try:
        array = np.asarray(rows)
    except ValueError as error:
        raise InputError(f"{name} is not a matrix with rows of equal length") from error
    if array.dtype.kind not in "fc":
        array = np.asarray(rows, dtype=object)
        if array.dtype == object and isinstance(rows, np.ndarray):
            array = np.array(rows.tolist(), dtype=object)  # numpy integers become Python ints
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions; it must be a matrix with rows of equal length")
    return array


def phi(A: Any, V: Any, X: Any) -> Array:
    """The output V X Xᵀ A X of a layer, d' × t, for A d × d, V d' × d, and the tokens as columns of X, d × t.

    Raises:
        InputError: if the shapes do not fit.

    Source: HMK, equation 2.
    """
    A, V, X = as_array(A, "A"), as_array(V, "V"), as_array(X, "X")
    d = X.shape[0]
    if A.shape != (d, d) or V.shape[1] != d:
        a, v, x = (" × ".join(map(str, matrix.shape)) for matrix in (A, V, X))
        raise InputError(f"A is {a}, V is {v} and X is {x}; they must be d × d, d' × d and d × t")
    result: Array = V @ (X @ (X.T @ (A @ X)))
    return result
