r"""Weights of heads, exact or floating, how far they can be trusted, their gauge, and their fiber.

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

**The fiber** through given weights is everything else that computes the same function. In (A, V) space there
are three cases (HMK, Theorem 3.2, for t ≥ 2):

1. rk A = rk V = 1, A = k qᵀ, V = h vᵀ: the rescalings (sA, V/s) of (k qᵀ, h vᵀ) and those of (v qᵀ, h kᵀ).
   The two curves are one if k and v are parallel.
2. A = 0 or V = 0: all pairs with A = 0, and all pairs with V = 0.
3. Otherwise: the rescalings, and nothing else.

Weights given by K, Q and V have in addition the gauge (C⁻ᵀK, CQ). A component of the fiber is a variety with
a parametrization; moving along it changes the weights and not the function (*teleportation*).

>>> from agattn import weights
>>> w = weights(K=[[1, 2]], Q=[[0, 1]], V=[[1, 0]])
>>> line = fiber(w)
>>> line.case, line.dimension, [component.name for component in line.components]
('two lines', 1, ['rescaling', 'swapped'])
>>> other = line.move(s=3, C=[[5]])
>>> print(other.A.tolist() == (3 * w.A).tolist(), line.contains(other))
True True

**Preimages.** All preimages of a point are found exactly, by unique factorization. A point y of ℂ^N is a d' ×
d matrix of quadratic forms y_{c,b}(u), and (A, V) is a preimage when y_{c,b} = V_c·A_b for all c and b. Take
one nonzero form y_{c,b} = l·m. Linear forms are prime in ℂ[u_1, ..., u_d], so up to the rescaling (sA, V/s)
every preimage has V_c = l, A_b = m or V_c = m, A_b = l. The other columns of A and rows of V follow by
dividing y_{c,b'} by V_c and y_{c',b} by A_b. So there are at most two preimages up to scaling, and this finds
them all (HMK, Theorem 3.2 and Corollary A.2).

>>> from agattn import SingleLayer
>>> over = preimages(SingleLayer(2, 1), [0, 1, 0, 0, 0, 0])     # y_{1,1} = u_1 u_2
>>> for point in over.points:
...     print([[int(x) for x in row] for row in point.A], [[int(x) for x in row] for row in point.V])
[[0, 0], [1, 0]] [[1, 0]]
[[1, 0], [0, 0]] [[0, 1]]
>>> [point.length for point in over.points]
[1, 1]
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import isqrt
from typing import Any, Literal

import flint
import numpy as np

from agattn.algebra.echelon import (
    Matrix,
    echelon,
    fraction,
    kernel_basis,
    rational,
    rational_matrix,
    rational_rank,
)
from agattn.algebra.rank import proved_rank
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
from agattn.evidence import Evidence
from agattn.geometry.variety.coordinates import coefficients, differential, nonzero_rows
from agattn.geometry.variety.determinantal import tangent_space_equations
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, array_cell
from agattn.sheet.result import (
    ENTRIES,
    EXACTNESS,
    FINITE,
    SCALAR,
    UNSET,
    Count,
    Key,
    Meta,
    Result,
    UnsetType,
    Written,
    field,
    key,
)


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


Case = Literal["line", "two lines", "double line", "zero", "conjugate lines", "empty"]
Ranks = dict[Literal["r_v", "r_a", "r"], RankDecision]
#: Name, dimension and parametrization of the components of case 1 and 3.
RESCALING = ("rescaling", 1, "(sA, V/s), s ≠ 0")
SWAPPED = ("swapped", 1, "(s·v qᵀ, h kᵀ/s), s ≠ 0, where A = k qᵀ, V = h vᵀ")


class CanonicalWeights(Result):
    """The canonical representative of a fiber."""

    A: Key[Array, "The attention matrix.", ENTRIES]
    V: Key[Array, "The value matrix.", ENTRIES]
    K: Key[Array | UnsetType, "The keys; absent for weights given by A.", ENTRIES] = UNSET
    Q: Key[Array | UnsetType, "The queries; absent for weights given by A.", ENTRIES] = UNSET


class DecidedRanks(Result):
    """The ranks of weights."""

    r_v: Key[RankDecision, "The rank of V."]
    r_a: Key[RankDecision, "The rank of A."]
    r: Key[RankDecision, "The rank of [V; Aᵀ]."]


class HeadEquivalence(Result, eq=False):
    """Where other weights of one head are, relative to the fiber."""

    equal: Key[bool | None, "Whether both compute the same function; null if undecided."]
    component: Key[str | None, "The component with the other weights; null if there is none."]
    s: Key[Any, "For equal nonzero functions: the other A is s times its A.", SCALAR]
    gauge: Key[
        Array | None, "The C with K' = sC⁻ᵀK and Q' = CQ, if there is exactly one; else null.", ENTRIES
    ]
    input: Key[Array | None, "An input X on which the functions differ; null where they are equal.", ENTRIES]
    difference: Key[Any, "The largest difference of the outputs at this input; null where equal.", SCALAR]
    relative: Key[float | None, "The relative distance of the functions; null for exact weights.", FINITE]
    evidence: Key[Evidence, "`proved` where what was given is exact, else `numerical`.", EXACTNESS]


class Component(Result, eq=False):
    """One component of a fiber in (A, V) space; over a point ``conjugate`` for one that is not rational.

    Attributes:
        weights: a point of it; ``None`` where it has no rational one.
        length: of the fiber of P(D_α) × P(ℂ^{d'×d}) → P(ℂ^N), as a scheme, at this point: 1 if it is reduced
            there; ``None`` where second-order information does not tell, or was not computed.
    """

    name: Key[
        str,
        "Which component: `rescaling` is (sA, V/s), `swapped` that of (v qᵀ, h kᵀ).",
        Written(Literal["rescaling", "swapped", "A = 0", "V = 0"]),
    ]
    dimension: Key[Count, "The dimension of the component in (A, V) space."]
    parametrization: Key[str, "The component in a formula."]
    weights: Weights | None
    length: int | None = None

    def summary(self) -> str:
        """The name and the formula."""
        return f"{self.name}: {self.parametrization}"

    @property
    def A(self) -> Array:
        """d × d, of the point."""
        assert self.weights is not None, "a component without a rational point"
        return self.weights.A

    @property
    def V(self) -> Array:
        """d' × d, of the point."""
        assert self.weights is not None, "a component without a rational point"
        return self.weights.V


class Fiber(Result, name="fiber", eq=False):
    """All weights with one function, over ℂ.

    :func:`fiber` finds them through weights, and
    :func:`~agattn.geometry.identifiability.weights.preimages` over a point. There the case is also
    ``conjugate lines``, two over a quadratic field, for h ⊗ q ⊗ Q with Q = l·l̄; or ``empty``, for a point
    outside M̄. The component of given weights comes first. A fiber over a point has no JSON document.

    Attributes:
        reason: in words, how this is known.
        tolerance: relative to the norms of A and V, below which differences count as zero.
        discriminant: of conjugate lines, the D of their field ℚ(√D), up to squares; negative if they are not
            real, so that the point is outside M.
    """

    case: Key[
        Case,
        "HMK, Theorem 3.2: line is case (iii), two lines and double line are case (i), zero is case (ii).",
        Written(Literal["line", "two lines", "double line", "zero"]),
    ]
    components: Key[tuple[Component, ...], "The components of the fiber in (A, V) space.", Meta(min_length=1)]
    reason: str
    ranks: Key[Ranks, "The three ranks, each with how safely it was decided.", Written(DecidedRanks)] = field(
        default_factory=dict
    )
    tolerance: float = TOLERANCE
    discriminant: Fraction | None = None
    equivalent: Key[HeadEquivalence | None, "The comparison with the weights of `--other`; null without."] = (
        None
    )

    @key
    def architecture(self) -> SingleLayer:
        """The layer."""
        w = self.weights
        return SingleLayer(len(w.A), len(w.V), w.a)

    @key
    def generic(self) -> bool:
        """Whether nothing but rescalings computes the same function: the case `line`."""
        return self.case == "line"

    @key(name="canonical")
    def representative(self) -> CanonicalWeights:
        """The canonical representative; exact entries are text."""
        w = self.canonical()
        return CanonicalWeights(w.A, w.V, *(key for key in (w.K, w.Q) if key is not None))

    @property
    def points(self) -> tuple[Component, ...]:
        """The components with a known point: all but conjugate ones."""
        return tuple(component for component in self.components if component.weights is not None)

    @property
    def number(self) -> int:
        """The number of components over ℂ; of preimages up to scaling, where the function is not 0."""
        return len(self.components)

    @property
    def is_real(self) -> bool:
        """Whether the fiber has a real point: whether the function is in M."""
        return bool(self.components) and (self.discriminant is None or self.discriminant > 0)

    @property
    def weights(self) -> Weights:
        """The given weights; over a point, those of the first component.

        Raises:
            InputError: if there are no rational ones.
        """
        first = next(iter(self.points), None)
        if first is None or first.weights is None:
            raise InputError("the fiber has no rational weights")
        return first.weights

    @key
    def dimension(self) -> Count:
        """The dimension of the fiber in (A, V) space."""
        return max((component.dimension for component in self.components), default=0)

    @key
    def dimension_with_keys(self) -> Count | None:
        """The dimension of the fiber in (K, Q, V) space; null for weights given by A."""
        # For a nonzero function, 1 plus the dimension of {KᵀQ = A}. Over A of rank s the K of rank m whose
        # rows span a space containing the column space of A have dimension am + (m − s)(d − m), and each
        # leaves an affine space of dimension d(a − m) for Q. The zero function has the pairs with A = 0, V
        # arbitrary, and the pairs with V = 0, K and Q arbitrary.
        if not self.points or self.weights.K is None:
            return None
        (a, d), d_out = self.weights.K.shape, len(self.weights.V)
        s = 0 if self.case == "zero" else self.ranks["r_a"].rank
        factorizations: int = max(a * m + (m - s) * (d - m) + d * (a - m) for m in range(s, min(a, d) + 1))
        return max(factorizations + d * d_out, 2 * a * d) if self.case == "zero" else 1 + factorizations

    @key
    def dtype(self) -> str:
        """The type in which weights are stored: `exact`, `float64`, `float32`, `float16` or `bfloat16`."""
        return "exact" if self.evidence is Evidence.PROVED else self.weights.dtype

    @property
    def unsafe(self) -> str:
        """Which ranks another tolerance, within a factor of 10, would change, in words; empty if none."""
        names = {"r_v": "rk V", "r_a": "rk A", "r": "rk [V; Aᵀ]"}
        margins = [(x.margin, names[name]) for name, x in self.ranks.items() if x.margin is not None]
        least, rank = min(margins, default=(SAFE, ""))
        return f"{rank} hangs on a factor of {least:.2g} in the tolerance" if least < SAFE else ""

    @key(EXACTNESS)
    def evidence(self) -> Evidence:
        """`proved` where what was given is exact, else `numerical`."""
        exact = all(c.weights is None or c.weights.is_exact for c in self.components)
        return Evidence.PROVED if exact else Evidence.NUMERICAL

    @property
    def _where(self) -> str:
        return "in M" if self.is_real else "in M̄, not in M" if self.components else "not in M̄"

    @property
    def _dimensions(self) -> str:
        keys = self.dimension_with_keys
        return f"dimension {self.dimension} in (A, V)" + f", {keys} in (K, Q, V)" * (keys is not None)

    def summary(self) -> str:
        """The case, the components and the dimensions."""
        names = ", ".join(c.name for c in self.components) or "–"
        about = f"{self.case} ({self.evidence}), {self._where}"
        return f"{about}: components over ℂ {names}; {self._dimensions}"

    def sheet(self) -> Sheet:
        """The components, each with a point."""
        caption = f"{self.number} components over ℂ ({self.case}), {self._where}, {self._dimensions}"
        ranks = "".join(f", {name} = {decision.rank}" for name, decision in self.ranks.items())
        rows: list[tuple[Cell, ...]] = []
        for c in self.components:
            point = ("", "") if c.weights is None else (array_cell(c.A), array_cell(c.V))
            length = "" if c.length is None else c.length
            rows.append((c.name, c.dimension, length, c.parametrization, *point))
        headings = ("component", "dimension", "length", Wide("parametrization"), "A", "V")
        caption = f"{caption}{ranks} ({self.evidence}): {self.reason}"
        if not self.ranks:  # over a point
            return Sheet(self.summary(), (Table(caption, headings, tuple(rows)),))
        table = Table(caption, headings, tuple(rows), where="page")
        w = self.weights
        title = f"d = {len(w.A)}, d' = {len(w.V)}, a = {w.a}: {self.case} ({self.evidence})"
        return Sheet(title, (table, Note("\n".join(self._lines()), apart=False)))

    def _lines(self) -> list[str]:
        """What a terminal says of the fiber through weights, below the case."""
        lines = [f"  {c.name}: {c.parametrization}; dim {c.dimension}" for c in self.components]
        margins = ["" if x.margin is None else f" (margin {x.margin:.3g})" for x in self.ranks.values()]
        ranks = zip(("V", "A", "[V; Aᵀ]"), self.ranks.values(), margins, strict=True)
        decided = ", ".join(f"rk {name} = {x.rank}{margin}" for name, x, margin in ranks)
        stored = "" if self.dtype == "exact" else f"stored as {self.dtype}; tolerance {self.tolerance:.2g}"
        return [*lines, self._dimensions, *filter(None, (decided, stored, self.unsafe))]

    def canonical(self) -> Weights:
        """The canonical representative, zeros for the zero function.

        Scale and gauge are those of :func:`~agattn.geometry.identifiability.weights.canonical_scale` and
        :func:`~agattn.geometry.identifiability.weights.canonical_factors`. Of two lines, that
        with the lexicographically larger A after scaling is taken.
        """
        w = self.weights
        if self.case == "zero":
            A, V = w.A * 0, w.V * 0
        else:
            scaled_points = (canonical_scale(c.A, c.V) for c in self.points)
            A, V = max(scaled_points, key=lambda pair: pair[0].ravel().tolist())
        factors = () if w.K is None else canonical_factors(A, w.a, self.tolerance)
        return Weights(A, V, w.a, *factors)

    def move(self, component: int = 0, s: Any = 1, C: Any = None, A: Any = None, V: Any = None) -> Weights:
        """Other weights with the same function.

        Args:
            component: number of the component, from 0.
            s: nonzero; (A, V) becomes (sA, V/s). With K and Q, K becomes sK.
            C: for weights with K and Q, an invertible a × a matrix; they become C⁻ᵀK and CQ.
            A: on the component ``V = 0``, the new A, with rank at most a.
            V: on the component ``A = 0``, the new V.

        Raises:
            InputError: if there is no such component, or if s = 0 or C has no inverse.
        """
        if not 0 <= component < len(self.points):
            raise InputError(f"there is no component {component}; the fiber has {len(self.points)}")
        w, chosen = self.weights, self.points[component]
        scale = self._like([[s]], (1, 1), "s")[0, 0]
        if not scale:
            raise InputError("s is 0; the rescaling (sA, V/s) needs s ≠ 0")
        if (A is not None and chosen.name != "V = 0") or (V is not None and chosen.name != "A = 0"):
            raise InputError(
                f"the component is {chosen.name}; A is free on V = 0, V on A = 0, and neither on any other"
            )
        new_A = chosen.A * scale if A is None else self._like(A, w.A.shape, "A")
        new_V = chosen.V / scale if V is None else self._like(V, w.V.shape, "V")
        if A is not None and decide_rank(new_A, self.tolerance).rank > w.a:
            raise InputError(f"A has rank above a = {w.a}")
        if w.K is None or w.Q is None:
            if C is not None:
                raise InputError("C acts on K and Q; these weights were given by A")
            return Weights(new_A, new_V, w.a)
        if component == 0 and A is None:
            K, Q = w.K * scale, w.Q
        else:
            K, Q = canonical_factors(new_A, w.a, self.tolerance)
        if C is not None:
            C = self._like(C, (w.a, w.a), "C")
            back = inverse(C)
            if back is None:
                raise InputError("C has no inverse; the gauge (C⁻ᵀK, CQ) needs one")
            K, Q = back.T @ K, C @ Q
        return Weights(K.T @ Q, new_V, w.a, K, Q)

    def _like(self, values: Any, shape: tuple[int, ...], name: str) -> Array:
        array = matrix(values, name)
        if array.shape != shape:
            raise InputError(f"{name} is {size_of(array)}; it must be {shape[0]} × {shape[1]}")
        return array if self.weights.is_exact else as_floats(array)

    def contains(self, other: Weights) -> bool:
        """Whether other weights have the same function; InputError if their shapes differ."""
        return self.component_of(other) is not None

    def component_of(self, other: Weights) -> Component | None:
        """The component on which other weights lie, or ``None`` if their function is another one."""
        w = self.weights
        if (w.A.shape, w.V.shape) != (other.A.shape, other.V.shape):
            own, others = (f"{size_of(x.A)} and {size_of(x.V)}" for x in (w, other))
            raise InputError(
                f"A and V are {own}, and {others}; only layers of the same d and d' can be compared"
            )
        if self.case == "zero":
            wanted = "V = 0" if other.A.any() else "A = 0"
            return next(c for c in self.components if c.name == wanted) if other.is_zero else None
        if other.is_zero:
            return None
        on = (c for c in self.points if scale_between(c, other, self.tolerance) is not None)
        return next(on, None)


def fiber(w: Weights, tolerance: float | None = None) -> Fiber:
    """The fiber through weights, t ≥ 2.

    Ranks of exact weights are exact. In floating point singular values below ``tolerance`` times the largest
    are zero, by default below what the stored type can tell from 0, and the fiber says by what margin;
    weights are zero only if all their entries are.
    """
    rank_v, rank_a = ranks_of(w, tolerance)
    coarser = tolerance if tolerance is not None else max(rank_v.tolerance or 0.0, rank_a.tolerance or 0.0)
    rank_joint = joint_rank(as_short(w).T, w.V, coarser)

    def answer(case: Case, *components: Component) -> Fiber:
        ranks: Ranks = {"r_v": rank_v, "r_a": rank_a, "r": rank_joint}
        return Fiber(case, components, "HMK, Theorem 3.2", ranks, coarser)

    if w.is_zero:
        d, alpha = len(w.A), min(w.a, len(w.A))
        other = Weights(w.A * 0, w.V if w.A.any() else w.V * 0, w.a, dtype=w.dtype)
        at_a, at_v = (other, w) if w.A.any() else (w, other)
        rank = f"rk A ≤ {w.a}" if w.a < d else "A any d × d matrix"
        zero_a = Component("A = 0", d * len(w.V), "(0, V), V any d' × d matrix", at_a)
        zero_v = Component("V = 0", alpha * (2 * d - alpha), f"(A, 0), {rank}", at_v)
        return answer("zero", *((zero_v, zero_a) if w.A.any() else (zero_a, zero_v)))
    line = Component(*RESCALING, w)
    if (rank_a.rank, rank_v.rank) != (1, 1):
        return answer("line", line)
    if rank_joint.rank == 1:
        return answer("double line", line)
    (k, q), (h, v) = rank_one(w.A), rank_one(w.V)
    swapped = Weights(np.multiply.outer(v, q), np.multiply.outer(h, k), w.a, dtype=w.dtype)
    return answer("two lines", line, Component(*SWAPPED, swapped))


def scale_between(component: Component, other: Weights, tolerance: float) -> Any:
    """The s with other = (sA, V/s) for the point (A, V) of a component, or ``None``."""
    s, distance = nearness(component, other)
    return s if distance <= tolerance else None


def nearness(component: Component, other: Weights) -> tuple[Any, float]:
    """The s for which (sA, V/s) of a component is nearest to other weights, and how near, relatively.

    The distance is that of A or of V, the larger one, each relative to its own Frobenius norm; for exact
    weights it is 0 or infinite.
    """
    A, V, A2, V2 = component.A, component.V, other.A, other.V
    if is_exact(A, V, A2, V2):
        entry = next(index for index in np.ndindex(*A.shape) if A[index])
        scale: Any = A2[entry] / A[entry]
        same = scale != 0 and not (A2 - scale * A).any() and not (V2 * scale - V).any()
        return scale, 0.0 if same else np.inf
    (A, a), (V, v), (A2, a2), (V2, v2) = (scaled(as_floats(M)) for M in (A, V, A2, V2))
    s = float((A * A2).sum() / (A**2).sum())
    if s == 0:
        return 0.0, np.inf
    of_a = np.linalg.norm(A2 - s * A) / np.linalg.norm(A2)
    of_v = np.linalg.norm(np.ldexp(V2 * s, a2 + v2 - a - v) - V) / np.linalg.norm(V)
    return float(np.ldexp(s, a2 - a)), float(max(of_a, of_v))


def preimages(layer: SingleLayer, y: Sequence[Any]) -> Fiber:
    """All (A, V) over ℂ with rk A ≤ a and φ_{A,V} = y, up to (sA, V/s), for a rational y ≠ 0 of length N.

    Raises:
        InputError: if t = 1, if y has not N entries, or if y = 0, whose fiber is {A = 0} ∪ {V = 0}.

    >>> preimages(SingleLayer(2, 1), [1, 0, 1, 0, 0, 0]).discriminant  # y_{1,1} = u_1² + u_2²
    Fraction(-4, 1)
    >>> preimages(SingleLayer(2, 1), [1, 0, 0, 0, 0, 1]).number
    0
    """
    if not layer.has_orbits:
        raise InputError("preimages are found for t ≥ 2; with one token only V and A + Aᵀ are determined")
    if len(y) != layer.ambient_dimension:
        raise InputError(f"the tensor has {len(y)} entries; {layer.name} needs N = {layer.ambient_dimension}")
    values = np.array([fraction(rational(x)) for x in y], dtype=object)
    if not values.any():
        raise InputError("the tensor is 0, whose fiber is {A = 0} ∪ {V = 0}; give a nonzero one")
    i, k = np.triu_indices(layer.d)
    forms = np.empty((layer.d_out, layer.d, layer.d, layer.d), dtype=object)
    forms[:, :, i, k] = forms[:, :, k, i] = values.reshape(layer.d_out, layer.d, -1)
    c, b = next(entry for entry in np.ndindex(layer.d_out, layer.d) if forms[entry].any())
    label = f"y_{{{c + 1},{b + 1}}}"
    factors = factor_quadratic_form(forms[c, b])
    if factors is None:
        return Fiber("empty", (), f"{label} is not a product of two linear forms, so the tensor is not in M̄")
    if isinstance(factors, Fraction):
        return _conjugate_fiber(forms, (c, b), factors, label)
    parallel = np.multiply.outer(*factors)
    points: list[Component] = []
    for left, right in [factors] if (parallel == parallel.T).all() else [factors, factors[::-1]]:
        columns = [right if n == b else _quotient(form, left) for n, form in enumerate(forms[c])]
        rows = [left if n == c else _quotient(form, right) for n, form in enumerate(forms[:, b])]
        A, V = np.array(columns).T, np.array(rows)
        if (coefficients(layer, A, V) == values).all() and rational_rank(A) <= layer.alpha:
            w = Weights(A, V, layer.a)
            points.append(Component(*(SWAPPED if points else RESCALING), w, fiber_length(layer, A, V)))
    case: Case = "two lines" if len(points) == 2 else "line" if points else "empty"
    if case == "line" and all(decide_rank(M).rank == 1 for M in (points[0].A, points[0].V)):
        case = "double line"
    return Fiber(case, tuple(points), f"unique factorization of {label} into linear forms")


def _conjugate_fiber(forms: Array, entry: tuple[int, int], D: Fraction, label: str) -> Fiber:
    """The fiber where the form at ``entry`` has factors l, m that are conjugate over ℚ(√D).

    With one preimage its conjugate is a second. So both l and m divide every form in the same row, and in
    the same column, which are then multiples q_b·lm and h_c·lm; and y = h ⊗ q ⊗ lm. Conversely such a y has
    the two preimages A = l qᵀ, V = h mᵀ and A = m qᵀ, V = h lᵀ. That is a condition over ℚ.
    """
    (c, b), Q = entry, forms[entry]
    at = next(index for index in np.ndindex(*Q.shape) if Q[index])
    h, q = forms[(slice(None), b, *at)] / Q[at], forms[(c, slice(None), *at)] / Q[at]
    if (forms != np.multiply.outer(np.multiply.outer(h, q), Q)).any():
        reason = f"{label} has conjugate factors over ℚ(√{D}), and the tensor is not of the form h ⊗ q ⊗ Q"
        return Fiber("empty", (), reason)
    pairs = ("(s·l qᵀ, h mᵀ/s)", "(s·m qᵀ, h lᵀ/s)")
    components = tuple(Component("conjugate", 1, f"{pair}, s ≠ 0, where Q = l·m", None) for pair in pairs)
    reason = f"h ⊗ q ⊗ Q, where Q has conjugate factors over ℚ(√{D})"
    return Fiber("conjugate lines", components, reason, discriminant=D)


def factor_quadratic_form(form: Any) -> tuple[Array, Array] | Fraction | None:
    """The two linear factors over ℚ of Σ_{i≤k} form[i][k]·u_i·u_k ≠ 0, a form with Fractions.

    Or a rational D, not a square, if the factors are conjugate over ℚ(√D); or ``None`` if the form has rank 3
    or more, and so does not factor over ℂ either.

    >>> one, zero = Fraction(1), Fraction(0)
    >>> print(*factor_quadratic_form([[one, zero], [zero, -one]]))
    [Fraction(1, 1) Fraction(-1, 1)] [Fraction(1, 1) Fraction(1, 1)]
    >>> factor_quadratic_form([[one, zero], [zero, -2 * one]])
    Fraction(8, 1)
    """
    F = np.array(form, dtype=object)
    F = np.where(np.triu(np.ones(F.shape, dtype=bool)), F, F.T)
    p = next((i for i, x in enumerate(F.diagonal()) if x), None)
    if p is None:
        # F = u_p·L + (terms without u_p), so if it factors, L is the factor free of u_p.
        L = next(row for row in F if row.any())
        other = _quotient(F, L)
        return (other, L) if (_product(other, L) == F).all() else None
    # 4 F_pp F = (2 F_pp u_p + L)² − D, with D = L² − 4 F_pp R free of u_p: a product when D is a square.
    D = _product(F[p], F[p]) - 4 * F[p, p] * F
    D[p] = D[:, p] = Fraction(0)
    root = D[p]
    j = next((i for i, x in enumerate(D.diagonal()) if x), None)
    if j is not None:
        root = D[j] / 2
        root[j] = D[j, j]  # D_jj D = root², if D has rank 1
        if (D[j, j] * D != _product(root, root)).any():
            return None
        square = D[j, j].numerator * D[j, j].denominator
        if square < 0 or isqrt(square) ** 2 != square:
            return Fraction(D[j, j])
        root = root * D[j, j].denominator / isqrt(square)
    elif D.any():
        return None
    half = F[p].copy()
    half[p] *= 2
    # Scaled so that the first factor has u_p-coefficient F_pp and the second 1.
    return (half - root) / 2, (half + root) / (2 * F[p, p])


def _product(one: Array, other: Array) -> Array:
    """The coefficients of a product of linear forms, each off-diagonal one in both of its places."""
    outer = np.multiply.outer(one, other)
    return np.asarray(np.where(np.eye(len(one), dtype=bool), outer, outer + outer.T))


def _quotient(F: Array, factor: Array) -> Array:
    """F / factor where that is a linear form, else another one; F as in ``_product``, factor ≠ 0."""
    p = next(i for i, x in enumerate(factor) if x)
    top = F[p, p] / factor[p]
    quotient: Array = (F[p] - factor * top) / factor[p]
    quotient[p] = top
    return quotient


def kernel_of_differential(A: Matrix, V: Matrix, modulo_scaling: bool = False) -> list[list[flint.fmpq]]:
    """A basis of ker dφ at (A, V): vectors list the d² entries of Ȧ, then the d'd of V̇, row by row.

    Modulo the scaling (A, −V), for V ≠ 0, it is that of the vectors with 0 in the place of an entry of V ≠ 0.

    >>> kernel_of_differential([[1]], [[5]]), kernel_of_differential([[1]], [[5]], modulo_scaling=True)
    ([[-1/5, 1]], [])
    """
    return _kernel(tuple(map(tuple, A)), tuple(map(tuple, V)), modulo_scaling)


@lru_cache(maxsize=256)
def _kernel(A: Matrix, V: Matrix, modulo_scaling: bool) -> list[list[flint.fmpq]]:
    d, rows = len(A), list(nonzero_rows(A, V).values())
    if modulo_scaling:
        column = next(d * c + i for c, row in enumerate(V) for i, x in enumerate(row) if x)
        rows.append({d * d + column: flint.fmpq(1)})
    matrix = flint.fmpq_mat(len(rows), d * d + len(V) * d)
    for i, entries in enumerate(rows):
        for column, x in entries.items():
            matrix[i, column] = x
    return kernel_basis(matrix)


def fiber_length(layer: SingleLayer, A: Matrix, V: Matrix) -> int | None:
    """The length, at (A, V), of the scheme-theoretic fiber of P(D_α) × P(ℂ^{d'×d}) → P(ℂ^N) through it.

    Its tangent space is ker dφ ∩ (T_A D_α × ℂ^{d'×d}) modulo (A, −V), of dimension e say; e = 0 means that it
    is reduced: length 1. Otherwise let 𝔪 be the maximal ideal of the fiber without the rank condition.
    Equations V_c·A_b = y_{c,b} with vanishing linear part give quadratic forms on ker dφ; if these are all
    quadratic forms, then 𝔪² ⊂ 𝔪³, so 𝔪² = 0 (Nakayama), and the length is 1 + e. Otherwise ``None``.

    >>> fiber_length(SingleLayer(3, 1), [[1, 0, 0], [0, 0, 0], [0, 0, 0]], [[1, 0, 0]])
    3
    """
    kernel = kernel_of_differential(A, V, modulo_scaling=True)
    if not kernel:
        return 1
    # (A, −V) is in the tangent space of D_α, so its equations descend to the kernel modulo scaling.
    attention = rational_matrix([v[: layer.d**2] for v in kernel], layer.d**2)
    e = len(kernel) - proved_rank(tangent_space_equations(A, layer.alpha) * attention.transpose())
    if e == 0:
        return 1
    # Do the terms V̇_c·Ȧ_b, modulo the image of dφ, give all quadratic forms on the kernel?
    matrix = differential(A, V)
    directions = [np.array(vector, dtype=object).reshape(-1, layer.d) for vector in kernel]
    d, pairs = layer.d, combinations_with_replacement(directions, 2)
    bilinear = [coefficients(layer, u[:d], v[d:]) + coefficients(layer, v[:d], u[d:]) for u, v in pairs]
    cokernel = rational_matrix(kernel_basis(matrix.transpose()), matrix.nrows())
    second = rational_matrix(np.array(bilinear), matrix.nrows()) * cokernel.transpose()
    return 1 + e if proved_rank(second) == len(bilinear) else None
