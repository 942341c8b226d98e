r"""The invariant inner product on coefficient tensors, in which best approximation is closed form.

Write the quadratic form y_{c,b} as a symmetric matrix T_{c,b}, so that y_{c,b}(u) = uᵀ T_{c,b} u. The inner
product used throughout is the sum of ⟨T_{c,b}, T'_{c,b}⟩ (Frobenius): in coordinates, squares y_{ii}² plus
half the squares y_{ik}², i < k. Orthogonal changes of basis preserve it, which the plain sum of squares of
the y does not. For tensors of weights it needs only matrices:

.. math:: ⟨φ_{A,V}, φ_{A',V'}⟩ = \tfrac12\bigl(⟨V, V'⟩⟨A, A'⟩ + ⟨VA', V'A⟩\bigr),

because ⟨sym(v kᵀ), sym(v' k'ᵀ)⟩ = ((v·v')(k·k') + (v·k')(k·v'))/2. With one of A, V fixed, φ is linear in
the other, with Gram matrix G = (‖A‖²·1 + A Aᵀ)/2 for the rows of V and (‖V‖²·1 + VᵀV)/2 for the columns of A.
The condition number of either is at most 2.

>>> import numpy as np
>>> A, V = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 7.0]])
>>> T = symmetric_tensor(np.array([5.0, 22, 21, 10, 34, 28]), 2, 1)
>>> bool(np.allclose(T, weights_tensor(A, V))), norm_squared(A, V) == (T**2).sum()
(True, np.True_)
"""

from __future__ import annotations

import numpy as np

from agattn.algebra.scalars import Array, scaled

_MOST_BITS = 450  # norms are squared
_TINY = 1e-300


def symmetric_tensor(y: Array, d: int, d_out: int) -> Array:
    """The symmetric matrices T_{c,b} of a function, from its compact coefficients.

    Args:
        y: the N coefficients, in the order of :func:`~agattn.geometry.variety.coordinates.coordinates`.
        d, d_out: the sizes d and d' of the layer.

    Returns:
        An array (d', d, d, d), whose entry [c, i, b, k] is the entry (i, k) of T_{c,b}.

    See Also:
        :func:`weights_tensor`, which makes the same array from weights.

    >>> symmetric_tensor(np.array([3.0]), 1, 1).shape
    (1, 1, 1, 1)
    """
    rows, columns = np.triu_indices(d)
    half = np.where(rows == columns, 1.0, 0.5)
    values = (y.reshape(d_out, d, -1) * half).swapaxes(1, 2)
    by_pair = np.empty((d, d, d_out, d))
    by_pair[rows, columns] = by_pair[columns, rows] = values.swapaxes(0, 1)
    return np.ascontiguousarray(by_pair.transpose(2, 0, 3, 1))


def weights_tensor(A: Array, V: Array) -> Array:
    """The symmetric matrices T_{c,b} of the function of weights.

    Args:
        A: d × d, or a stack (..., d, d).
        V: d' × d, or a stack (..., d', d).

    Returns:
        An array (..., d', d, d, d), as :func:`symmetric_tensor` orders it.

    >>> weights_tensor(np.array([[2.0]]), np.array([[3.0]])).tolist()
    [[[[6.0]]]]
    """
    T: Array = V[..., None, None] * A.swapaxes(-1, -2)[..., None, None, :, :]
    return (T + T.swapaxes(-3, -1)) / 2


def inner_product(A: Array, V: Array, A2: Array, V2: Array) -> float:
    """The inner product ⟨φ_{A,V}, φ_{A',V'}⟩ of two functions.

    Args:
        A, A2: A and A', both m × n.
        V, V2: V and V', both d' × m.

    See Also:
        :func:`norm_squared`, :func:`relative_change`.

    >>> one, two = np.array([[1.0]]), np.array([[2.0]])
    >>> inner_product(one, one, two, one)
    2.0
    """
    return float((V * V2).sum() * (A * A2).sum() + ((V @ A2) * (V2 @ A)).sum()) / 2


def norm_squared(A: Array, V: Array) -> float:
    """The square ‖φ_{A,V}‖² of the norm of a function; A is m × n, and V is d' × m.

    >>> norm_squared(np.array([[2.0]]), np.array([[3.0]]))
    36.0
    """
    return inner_product(A, V, A, V)


def relative_change(A: Array, V: Array, A2: Array, V2: Array) -> float:
    """The relative distance ‖φ_{A,V} − φ_{A',V'}‖ / ‖φ_{A,V}‖ of two functions, in floating point.

    The difference is computed as φ_{A−A',V} + φ_{A',V−V'}, after A' and V' are scaled against each other. Few
    digits are lost where the two pairs are close up to a scale. Where A has rank one, the other pair of
    weights with the same function may be far away; there a distance below 1e-8 cannot be told from 0.

    Args:
        A, A2: A and A', both d × d.
        V, V2: V and V', both d' × d, with φ_{A,V} ≠ 0.

    Returns:
        The distance; ``inf`` where the second function is too much larger for floating point.

    >>> one = np.array([[1.0]])
    >>> relative_change(one, one, 2 * one, one / 2), relative_change(one, one, 3 * one, one)
    (0.0, 2.0)
    """
    (A, a), (V, v), (A2, a2), (V2, v2) = map(scaled, (A, V, A2, V2))
    larger = a2 + v2 - a - v
    if larger > _MOST_BITS:
        return float("inf")
    V2 = np.ldexp(V2, larger)
    scale = float((A * A2).sum() / max((A2**2).sum(), _TINY))
    if scale:
        A2, V2 = A2 * scale, V2 / scale
    dA, dV = A - A2, V - V2
    total = norm_squared(dA, V) + norm_squared(A2, dV) + 2 * inner_product(dA, V, A2, dV)
    return float(np.sqrt(max(total, 0.0) / norm_squared(A, V)))


def value_gram(A: Array) -> Array:
    """The Gram matrix (‖A‖²·1 + A Aᵀ)/2 of the linear map that takes a row V_c to the forms (V_c·A_b)_b.

    Args:
        A: d × d.

    Returns:
        A symmetric d × d matrix. For A = 0 a tiny multiple of 1 stands for it, so that the matrix is always
        positive definite.

    See Also:
        :func:`attention_gram`, of the map from A.

    >>> value_gram(np.array([[2.0]])).tolist()
    [[4.0]]
    """
    squares = np.maximum((A**2).sum((-2, -1), keepdims=True), _TINY)
    gram: Array = (squares * np.eye(A.shape[-2]) + A @ A.swapaxes(-1, -2)) / 2
    return gram


def attention_gram(V: Array) -> Array:
    """The Gram matrix (‖V‖²·1 + VᵀV)/2 of the linear map that takes a column A_b to the forms (V_c·A_b)_c.

    Args:
        V: d' × d.

    Returns:
        A symmetric d × d matrix, positive definite also for V = 0, as in :func:`value_gram`.

    See Also:
        :func:`value_gram`, of the map from V.

    >>> attention_gram(np.array([[2.0]])).tolist()
    [[4.0]]
    """
    return value_gram(V.swapaxes(-1, -2))


def roots(gram: Array) -> tuple[Array, Array]:
    """The symmetric square root of a Gram matrix, or of a stack of such, and its inverse."""
    values, vectors = np.linalg.eigh(gram)
    root, turned = np.sqrt(np.maximum(values, _TINY))[..., None, :], vectors.swapaxes(-1, -2)
    return (vectors * root) @ turned, (vectors / root) @ turned


def truncated(M: Array, rank: int) -> Array:
    """The matrix of at most this rank, or a stack of such, that is nearest in the Frobenius norm."""
    U, sigma, W = np.linalg.svd(M, full_matrices=False)
    result: Array = (U[..., :rank] * sigma[..., None, :rank]) @ W[..., :rank, :]
    return result


def nearest_of_rank(A: Array, V: Array, rank: int) -> Array:
    """The matrix A' of rank at most ``rank`` for which φ_{A',V} is nearest to φ_{A,V}.

    With G = :func:`attention_gram` the distance is ‖φ_{A−A',V}‖ = ‖G^{1/2}(A − A')‖. So A' is found from a
    truncated singular value decomposition (Eckart and Young).

    Args:
        A: d × d.
        V: d' × d, not 0.
        rank: the largest rank of A'.

    >>> nearest_of_rank(np.diag([3.0, 1.0]), np.array([[1.0, 1.0]]), 2).round(6).tolist()
    [[3.0, 0.0], [0.0, 1.0]]
    """
    root, back = roots(attention_gram(V))
    result: Array = back @ truncated(root @ A, rank)
    return result
