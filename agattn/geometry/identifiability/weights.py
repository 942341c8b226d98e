r"""Weights of heads, exact or floating, how far they can be trusted, and their gauge.

The gauge says which keys and queries (K, Q) have the same attention matrix A = KᵀQ:
C ∈ GL(a) acts by (K, Q) ↦ (C⁻ᵀK, CQ) and leaves KᵀQ as it is. If A has rank a ≤ d, exactly one C relates any
two factorizations (HMK, Lemma 3.1): the rows of Q are a basis of the row space of A, and C is the change of
basis. A canonical factorization is therefore a choice of basis. Over ℚ it is the reduced row echelon form; in
floating point the *balanced* one, KKᵀ = QQᵀ diagonal and falling, which the singular value decomposition
gives, and which is unique up to signs where the singular values differ.

>>> K, Q = canonical_factors([[1, 2], [2, 4]], a=1)
>>> K.tolist() == [[1, 2]], Q.tolist() == [[1, 2]]
(True, True)
>>> C = gauge_between(([[1, 2]], [[1, 2]]), ([[5, 10]], [["1/5", "2/5"]]))
>>> print(C[0, 0])
1/5
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agattn.algebra.echelon import echelon
from agattn.algebra.scalars import (
    FLOATS,
    TOLERANCE,
    Array,
    RankDecision,
    as_floats,
    coarsest,
    decide_from_singular_values,
    decide_rank,
    flint_matrix,
    fraction_matrix,
    is_exact,
    matrix,
    rounding,
    scalars,
    scaled,
    stored_type,
    unread_matrix,
)
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.calls import positive_integer
from agattn.errors import InputError


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of one layer: A d × d of rank ≤ a, V d' × d; K, Q a × d, where they are known (A = KᵀQ).

    Attributes:
        dtype: the type in which floats were stored, such as ``float32``; it says how far they can be trusted.
    """

    A: Array
    V: Array
    a: int
    K: Array | None = None
    Q: Array | None = None
    dtype: str = "float64"

    @property
    def is_exact(self) -> bool:
        """Whether all entries are rational."""
        return is_exact(self.A, self.V)

    @property
    def is_zero(self) -> bool:
        """Whether the function is 0, exactly."""
        return not self.A.any() or not self.V.any()

    @property
    def tolerances(self) -> tuple[float, float]:
        """By how much A and V, relative to their Frobenius norms, may differ from what was rounded to them.

        They are :data:`UNITS` times the roundoff of the stored type, with what arithmetic in float64 adds,
        for A = KᵀQ relative to ‖K‖‖Q‖. They are 0 for exact weights, and infinite where A or V is 0.
        """
        of_v = tolerance_of(self.V, self.dtype)
        if self.K is None or self.Q is None or self.is_exact:
            return tolerance_of(self.A, self.dtype), of_v
        K, Q = scaled(as_floats(self.K))[0], scaled(as_floats(self.Q))[0]
        return tolerance_of_product(K, Q, float(np.linalg.norm(K.T @ Q)), self.dtype), of_v

    def __call__(self, X: Any) -> Array:
        """φ(X), d' × t, for X of shape d × t."""
        return phi(self.A, self.V, X)


def tolerance_of(M: Array, dtype: str) -> float:
    """By how much a matrix, relative to its norm, may differ from what was rounded to it."""
    if is_exact(M):
        return 0.0
    arithmetic = 8 * max(M.shape) * FLOATS["float64"].roundoff
    return UNITS * (rounding(M, dtype) + arithmetic) if M.any() else np.inf


def tolerance_of_product(K: Array, Q: Array, size: float, dtype: str) -> float:
    """The same for KᵀQ, which has the Frobenius norm ``size``."""
    if not size:
        return np.inf
    # ‖ĖᵀQ‖ ≤ ‖Ė‖‖Q‖₂ in the Frobenius norm, for the rounding Ė of K, and so for Q.
    arithmetic = 8 * sum(K.shape) * FLOATS["float64"].roundoff
    of_k = (rounding(K, dtype) + arithmetic) * np.linalg.norm(K) * np.linalg.norm(Q, 2)
    of_q = (rounding(Q, dtype) + arithmetic) * np.linalg.norm(Q) * np.linalg.norm(K, 2)
    return float(UNITS * (of_k + of_q) / size)


#: How many times the rounding of stored numbers counts as zero.
UNITS = 4.0
#: A decision in floats that another tolerance, within this factor, would turn is not safe.
SAFE = 10.0


def weights(*, V: Any, A: Any = None, K: Any = None, Q: Any = None, a: int | None = None) -> Weights:
    """Weights of one layer, from A and V or from K, Q and V; integers and rationals are exact.

    Args:
        V: d' × d.
        A: d × d, of rank at most ``a``.
        K, Q: a × d instead, with A = KᵀQ.
        a: the attention dimension, if it is less than d.

    Raises:
        InputError: if matrices are missing, do not fit, or have entries that are not finite numbers; or if A
            has rank above a.

    See Also:
        :func:`agattn.fiber`, :func:`agattn.equivalent`, :func:`agattn.classify`.

    >>> import agattn as ag
    >>> ag.weights(K=[[1, "1/2"]], Q=[[0, 1]], V=[[1, 0]]).A.tolist()[0]
    [Fraction(0, 1), Fraction(1, 1)]
    """
    V = unread_matrix(V, "V")
    if (A is None) == (K is None) or (K is None) != (Q is None):
        names = [name for name, M in (("A", A), ("K", K), ("Q", Q)) if M is not None]
        there = ", ".join(names) or "none of these"
        raise InputError(f"weights are V together with either A, or both K and Q; beside V there is {there}")
    if K is not None:
        K, Q = unread_matrix(K, "K"), unread_matrix(Q, "Q")
        if K.shape != Q.shape:
            raise InputError(f"K is {size_of(K)} and Q is {size_of(Q)}; both must be a × d")
        if a not in (None, len(K)):
            raise InputError(f"a is {a}, but K and Q have {len(K)} rows")
    else:
        A = unread_matrix(A, "A")
        if A.shape[0] != A.shape[1]:
            raise InputError(f"A is {size_of(A)}; it must be d × d")
    d = (A if K is None else K).shape[1]
    if V.shape[1] != d:
        raise InputError(f"V is {size_of(V)}; with d = {d} it must be d' × {d}")
    a = None if a is None else positive_integer("a", a)
    named = {"A": A, "V": V, "K": K, "Q": Q}
    dtype = coarsest(stored_type(M) for M in named.values() if M is not None)
    A, V, K, Q = (None if M is None else scalars(M, name) for name, M in named.items())
    given = [M for M in (A, V, K, Q) if M is not None]
    if not is_exact(*given):
        A, V, K, Q = (None if M is None else as_floats(M) for M in (A, V, K, Q))
    if K is not None and Q is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            A = K.T @ Q
        if not is_exact(A) and not np.isfinite(A).all():
            raise InputError("KᵀQ is too large for floating point; scale K and Q")
        return Weights(A, V, len(K), K, Q, dtype)
    assert A is not None
    w = Weights(A, V, a or d, dtype=dtype)
    if w.a < d and (rank := ranks_of(w)[1].rank) > w.a:
        raise InputError(f"A has rank {rank}, above a = {a}")
    return w


def ranks_of(w: Weights, tolerance: float | None = None) -> tuple[RankDecision, RankDecision]:
    """The ranks of V and A: singular values below the tolerance, relative to the largest, are 0.

    Without a tolerance it is that of the stored type.
    """
    of_a, of_v = w.tolerances
    return _rank(w.V, of_v, tolerance), _rank(as_short(w), of_a, tolerance)


def as_short(w: Weights) -> Array:
    """Aᵀ, or for floats an isometry times Aᵀ with as few rows as Q: their singular values are the same."""
    if w.K is None or w.Q is None or w.is_exact:
        return w.A.T
    return np.asarray(np.linalg.qr(w.Q.T, mode="r") @ w.K)


def _rank(M: Array, stored: float, tolerance: float | None) -> RankDecision:
    if is_exact(M):
        return decide_rank(M)
    sigma = np.linalg.svd(scaled(M)[0], compute_uv=False)
    least = relative_to_largest(sigma, stored) if tolerance is None else tolerance
    return decide_from_singular_values(sigma, least)


def relative_to_largest(sigma: Array, tolerance: float) -> float:
    """A tolerance that is relative to the Frobenius norm, relative to the largest singular value."""
    return tolerance * float(np.linalg.norm(sigma)) / float(sigma[0]) if sigma[0] else tolerance


def size_of(M: Array) -> str:
    """The rows and columns of a matrix, in words."""
    return f"{M.shape[0]} × {M.shape[1]}"


def joint_rank(A: Array, V: Array, tolerance: float = TOLERANCE) -> RankDecision:
    """The rank of [V; Aᵀ]; in floating point both blocks are first scaled to spectral norm 1.

    The row spaces are what matters, and no scale relates A to V.
    """
    if is_exact(A, V):
        return decide_rank(np.vstack([V, A.T]))
    blocks = [M / (np.linalg.norm(M, 2) or 1.0) for M in (scaled(V)[0], scaled(A.T)[0])]
    return decide_from_singular_values(np.linalg.svd(np.vstack(blocks), compute_uv=False), tolerance)


def rank_one(M: Array) -> tuple[Array, Array]:
    """Vectors x, y with x yᵀ = M (the nearest such matrix in floating point), for M ≠ 0."""
    if is_exact(M):
        i, j = next((i, j) for i, j in np.ndindex(*M.shape) if M[i, j])
        return M[:, j], M[i] / M[i, j]
    U, sigma, W = np.linalg.svd(M)
    return sigma[0] * U[:, 0], W[0]


#: Layers of heads.
Network = tuple[tuple[Weights, ...], ...]


def layers_of(given: Any) -> Network:
    """Weights as layers of heads.

    Args:
        given: :class:`Weights`; or arrays by name, V with A or with K and Q, each a matrix or a stack of
            matrices, one for each head; or for several layers a sequence of such, or names with numbers such
            as K_1, Q_1, V_1, K_2, ..., as in :attr:`agattn.architectures.layered.Layered.shapes`.

    Raises:
        InputError: if matrices are missing or do not fit.

    >>> [[head.V.shape for head in heads] for heads in layers_of({"A_1": [[1]], "V_1": [[[1]], [[2]]]})]
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: A, V: some are stacks of one matrix for each head, and others are not
    """
    if isinstance(given, Weights):
        return ((given,),)
    if isinstance(given, Mapping):
        matches = (re.fullmatch(r"[AKQV]_([1-9]\d{0,2})", str(name)) for name in given)
        numbers = sorted({int(match[1]) for match in matches if match})
        if not numbers:
            return (_heads(given),)
        if numbers != list(range(1, len(numbers) + 1)):
            raise InputError(f"there are weights of the layers {numbers}; number them from 1 without gaps")
        return layers_of([_heads(given, f"_{n}") for n in numbers])
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise InputError(
            f"weights are given by {type(given).__name__}; give ag.weights(K=..., Q=..., V=...), or a "
            "mapping with V and A, or K, Q and V, or a list of those, one for each layer"
        )
    layers = tuple((layer,) if isinstance(layer, Weights) else _heads(layer) for layer in given)
    for n, (heads, following) in enumerate(itertools.pairwise(layers), 1):
        if len(heads[0].V) != len(following[0].A):
            raise InputError(
                f"layer {n} has outputs of dimension {len(heads[0].V)}, and layer {n + 1} takes dimension "
                f"{len(following[0].A)}"
            )
    return layers


def weights_of_layer(layer: SingleLayer, given: Any) -> Weights:
    """Weights of one head, as :func:`layers_of` reads them, which must be those of a layer.

    Raises:
        InputError: if they are not, or there are several heads or layers.

    >>> weights_of_layer(SingleLayer(2, 1), {"A": [[1]], "V": [[1]]})
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: the weights have d = 1 and d' = 1, which is not M(2,1,2)
    """
    layers = layers_of(given)
    if len(layers) > 1 or len(layers[0]) > 1:
        raise InputError("the weights have several heads or layers; give those of one head of one layer")
    w = layers[0][0]
    if (len(w.A), len(w.V)) != (layer.d, layer.d_out):
        raise InputError(f"the weights have d = {len(w.A)} and d' = {len(w.V)}, which is not {layer.name}")
    if w.K is None and w.a != layer.a:
        return weights(A=w.A, V=w.V, a=layer.a)
    if w.a != layer.a:
        raise InputError(f"K and Q have {w.a} rows, and a is {layer.a}")
    return w


def _heads(given: Any, suffix: str = "") -> tuple[Weights, ...]:
    """The heads of one layer, from arrays by name, or as they are; with the type in which they are stored."""
    if isinstance(given, Sequence) and given and all(isinstance(head, Weights) for head in given):
        return tuple(given)
    if not isinstance(given, Mapping):
        raise InputError(
            f"a layer is given by {type(given).__name__}; name its matrices, as in {{'A': A, 'V': V}} or "
            "{'K': K, 'Q': Q, 'V': V}"
        )
    letters = [x for x in "AKQV" if x + suffix in given]
    if not {"V"} < set(letters):
        names = ", ".join(map(str, itertools.islice(given, 6))) or "none"
        raise InputError(f"a layer has V together with A, or with K and Q; there are {names}")
    arrays: dict[str, Any] = {x: scalars(given[x + suffix], x) for x in letters}
    stored = given.dtype if hasattr(given, "dtype") else lambda name: stored_type(given[name])  # of files
    dtype = coarsest(str(stored(x + suffix)) for x in letters)
    axes = {array.ndim for array in arrays.values()}
    if 3 not in axes:
        arrays = {x: array[None] for x, array in arrays.items()}
    elif len(axes) > 1:
        raise InputError(
            f"{', '.join(letters)}: some are stacks of one matrix for each head, and others are not"
        )
    if len({len(array) for array in arrays.values()}) > 1 or not len(arrays["V"]):
        raise InputError(f"{', '.join(letters)} have different numbers of heads, or none")
    heads = (weights(**{x: array[h] for x, array in arrays.items()}) for h in range(len(arrays["V"])))
    return tuple(replace(head, dtype=dtype) for head in heads)


Pair = tuple[Any, Any]


def canonical_factors(A: Any, a: int, tolerance: float = TOLERANCE) -> tuple[Array, Array]:
    """The canonical (K, Q), both a × d, with KᵀQ = A; rows beyond the rank of A are zero.

    Raises:
        InputError: if the rank of A is above a.
    """
    A = matrix(A, "A")
    if is_exact(A):
        reduced, pivots = echelon(flint_matrix(A))
        rank, left, right = len(pivots), A[:, pivots].T, fraction_matrix(reduced)[: len(pivots)]
    else:
        U, sigma, W = np.linalg.svd(A)
        rank = int((sigma > tolerance * sigma[0]).sum()) if sigma[0] else 0
        kept = np.arange(min(a, len(sigma)))
        # The largest entry of every row of Q is positive.
        root = (np.sign(W[kept, np.abs(W[kept]).argmax(axis=1)]) * np.sqrt(sigma[kept]))[:, None]
        left, right = root * U[:, kept].T, root * W[kept]
    if rank > a:
        raise InputError(f"A has rank {rank}; KᵀQ with a = {a} rows has at most rank {a}")
    zero = A.flat[0] * 0
    K, Q = np.full((a, len(A)), zero), np.full((a, A.shape[1]), zero)
    K[: len(left)], Q[: len(right)] = left, right
    return K, Q


def gauge_between(first: Pair, second: Pair, tolerance: float = TOLERANCE) -> Array | None:
    """The C ∈ GL(a) with K' = C⁻ᵀK and Q' = CQ, or ``None`` if these pairs are not related in this way.

    Where both K and Q have rank below a there may be many C or none, and ``None`` is returned as well.

    Raises:
        InputError: if the four matrices have not the same shape.
    """
    K, Q, K2, Q2 = (
        matrix(x, name) for x, name in zip((*first, *second), ("K", "Q", "K'", "Q'"), strict=True)
    )
    if len({K.shape, Q.shape, K2.shape, Q2.shape}) > 1:
        raise InputError(f"the shapes {K.shape}, {Q.shape}, {K2.shape}, {Q2.shape} differ; all are a × d")
    exact = is_exact(K, Q, K2, Q2)
    if not exact:
        K, Q, K2, Q2 = map(as_floats, (K, Q, K2, Q2))
    C = change_of_basis(Q, Q2, tolerance)
    if C is None and (other := change_of_basis(K, K2, tolerance)) is not None:
        C = inverse(other.T)
    there = inverse(C)
    if C is None or there is None:
        return None
    for expected, moved in ((K2, there.T @ K), (Q2, C @ Q)):
        close = 0 if exact else tolerance * max(np.abs(expected).max(), 1e-300)
        if np.abs(expected - moved).max() > close:
            return None
    return C


def change_of_basis(rows: Array, others: Array, tolerance: float = TOLERANCE) -> Array | None:
    """C with C·rows = others on the span of ``rows``; ``None`` if the rows are dependent."""
    a = len(rows)
    if is_exact(rows, others):
        pivots = echelon(flint_matrix(rows))[1]
        if len(pivots) < a:
            return None
        back = inverse(rows[:, pivots])
        return None if back is None else others[:, pivots] @ back
    sigma = np.linalg.svd(rows, compute_uv=False)
    if len(sigma) < a or sigma[-1] <= tolerance * sigma[0]:
        return None
    return np.asarray(np.linalg.lstsq(rows.T, others.T, rcond=None)[0].T)


def inverse(square: Array | None) -> Array | None:
    """The inverse of a square matrix, exact or floating; ``None`` if it has none."""
    if square is None:
        return None
    try:
        if is_exact(square):
            return rational_inverse(square)
        result: Array = np.linalg.inv(square)
        return result if np.isfinite(result).all() else None
    except (ZeroDivisionError, np.linalg.LinAlgError):
        return None


def rational_inverse(square: Array) -> Array:
    """The inverse of a square array of ints or Fractions; ZeroDivisionError if it has none."""
    return fraction_matrix(flint_matrix(square).inv())


def canonical_scale(A: Array, V: Array) -> tuple[Array, Array]:
    """The representative of {(sA, V/s)}, for A and V not zero.

    Over ℚ the first nonzero entry of A, row by row, becomes 1. In floating point A and V get the same
    Frobenius norm, and the largest entry of A becomes positive.

    >>> A, V = canonical_scale(matrix([[0, 2]], "A"), matrix([[3]], "V"))
    >>> print(A[0, 1], V[0, 0])
    1 6
    """
    if is_exact(A, V):
        first = next(x for x in A.flat if x)
        return A / first, V * first
    (A, of_a), (V, of_v) = scaled(A), scaled(V)
    half, odd = divmod(of_a + of_v, 2)
    scale = np.sqrt(2**odd * np.linalg.norm(V) / np.linalg.norm(A)) * np.sign(A.flat[np.abs(A).argmax()])
    return np.ldexp(A * scale, half), np.ldexp(V / scale, half + odd)
