r"""Where a head lies on the neuromanifold, in floating point: ranks, stable ranks, distances.

All norms of functions are the invariant norm of :mod:`agattn.geometry.variety.coefficient_norm`, relative
to ‖φ‖. Two distances are exact, because a flattening of the tensor attains its lower bound by Eckart and
Young:

- for 2 ≤ a < d the singular locus is {rk A < a}, and φ is at the distance σ_a(G^{1/2}A) from it, where
  G = (‖V‖²·1 + VᵀV)/2: the flattening with rows b has the singular values of G^{1/2}A;
- for a = d' = 1 and d ≥ 3 it is {q ⊗ Q : rk Q ≤ 1}, the smaller eigenvalue of sym(v kᵀ).

Otherwise the singular locus is {rk A ≤ 1, rk V ≤ 1}, and the distance is given by a lower and an upper bound.
A head with thousands of columns is first moved by isometries into m = min(d, a + d') dimensions.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> K, Q, V = rng.standard_normal((3, 4, 32))
>>> head = head_geometry(K, Q, V)
>>> head.r_v, head.r_a, head.r, head.singular
(4, 4, 8, False)
>>> 0 < head.distance == head.distance_upper < 1
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from agattn.algebra.scalars import TOLERANCE, Array, as_floats, decide_from_singular_values, scaled
from agattn.architectures import SingleLayer
from agattn.checkpoints.checkpoints import Checkpoint, Head, is_plain
from agattn.checkpoints.families import common
from agattn.checkpoints.weight_files import StateDict, WeightFile
from agattn.errors import InputError
from agattn.evidence import Evidence, weakest
from agattn.files import about
from agattn.geometry.identifiability.weights import (
    SAFE,
    Network,
    canonical_factors,
    layers_of,
    relative_to_largest,
    tolerance_of,
    tolerance_of_product,
)
from agattn.geometry.strata.strata import ZERO, Stratum, singular_by_ranks, stratum_of
from agattn.geometry.variety.coefficient_norm import (
    attention_gram,
    norm_squared,
    relative_change,
    roots,
    value_gram,
)
from agattn.limits import steps, takes
from agattn.sheet.data import Cell, Note, Sheet, Table
from agattn.sheet.result import EXACTNESS, Count, Key, Result, Written, key
from agattn.workers import spread, threads

#: Estimated seconds for an entry of a checkpoint.
_SECONDS = 3e-7
#: What stands for the norm of 0.
_TINY = 1e-150


class PlacedHead(Result, name="classify"):
    """One head as a point of M(d, d', a), t ≥ 2. Distances are relative; those of φ are None for φ = 0."""

    d: Key[Count, "The embedding dimension d: tokens are vectors in ℝ^d."]
    d_out: Key[Count, "The output dimension d'."]
    a: Key[Count, "The number of rows of K and Q."]
    r_v: Key[Count, "The rank of V, to the tolerance."]
    r_a: Key[Count, "The rank of A = KᵀQ, to the tolerance."]
    r: Key[Count, "The rank of [V; Aᵀ], to the tolerance, each block scaled to spectral norm 1."]
    margin: Key[float | None, "The least factor by which a rank was safe; null if exact or infinite."]
    dtype: Key[str, "The type in which the head is stored, such as `float32`; `exact` for exact weights."]
    tolerance_a: Key[
        float | None, "Singular values of A below this times the largest count as zero; null if exact."
    ]
    tolerance_v: Key[float | None, "The same of V."]
    singular: Key[bool, "Whether the stratum (r_v, r_a, r) consists of singular points."]
    boundary: Key[bool, "Whether φ is on the boundary of M relative to the real Zariski closure of M."]
    critical: Key[bool, "Whether (A, V) is a critical point of the parametrization."]
    stable_rank_a: Key[float, "‖A‖_F² / ‖A‖², and 0 for A = 0."]
    stable_rank_v: Key[float, "‖V‖_F² / ‖V‖², and 0 for V = 0."]
    rank_one_distance_a: Key[float, "The relative Frobenius distance of A to matrices of rank at most 1."]
    rank_one_distance_v: Key[float, "The relative Frobenius distance of V to matrices of rank at most 1."]
    distance: Key[float | None, "Relative distance to the singular locus, from below; null for 0, d = 1."] = (
        None
    )
    distance_upper: Key[float | None, "An upper bound on distance; equal where distance is exact."] = None
    rank_one_locus_distance: Key[
        float | None, "Relative distance to {rk A ≤ 1, rk V ≤ 1}, from below; null for 0."
    ] = None
    rank_one_locus_distance_upper: Key[float | None, "An upper bound on rank_one_locus_distance."] = None
    swap_effect: Key[
        float | None,
        "The relative change of the function when the inner vectors of the dominant parts of A and V are "
        "exchanged: 0 where both have rank one (HMK, Theorem 3.2); null for 0.",
    ] = None
    layer: Key[Count, "The layer, counted from 0 as in the checkpoint."] = 0
    head: Key[Count, "The head, counted from 0."] = 0

    @key(EXACTNESS)
    def evidence(self) -> Evidence:
        """How the ranks are known; all distances are numerical."""
        return Evidence.PROVED if self.margin is None else Evidence.NUMERICAL

    @property
    def place(self) -> str:
        """Where the head is, in words."""
        return f"layer {self.layer}, head {self.head}"

    @property
    def far(self) -> str:
        """The distance, or its bounds; empty where there is none."""
        bounds = dict.fromkeys((self.distance, self.distance_upper))
        return " to ".join(f"{bound:.3g}" for bound in bounds if bound is not None)

    def cells(self) -> tuple[Cell, ...]:
        """The row of the head in a table."""
        words = ("yes" if answer else "no" for answer in (self.singular, self.boundary))
        return (
            self.layer,
            self.head,
            f"({self.r_v},{self.r_a},{self.r})",
            str(self.evidence),
            *words,
            self.far or "–",
            f"{self.stable_rank_a:.3g}",
            f"{self.stable_rank_v:.3g}",
        )

    def summary(self) -> str:
        """The stratum, and how far singular points are, in a line."""
        where = [word for word in ("singular", "boundary", "critical") if getattr(self, word)]
        far = f"; relative distance to the singular locus {self.far}" if self.far else ""
        return (
            f"M({self.d},{self.d_out},{self.a}), stratum ({self.r_v},{self.r_a},{self.r}) ({self.evidence}): "
            f"{', '.join(where) or 'smooth'}{far}"
        )


class SharedHeads(Result):
    """Heads of one layer that share keys and values, so that GL(s) mixes them where there is no softmax."""

    layer: Key[Count, "The layer, counted from 0 as in the checkpoint."]
    heads: Key[tuple[Count, ...], "The heads of the group, counted from 0."]
    queries_rank: Key[
        Count,
        "The dimension of the span of their queries, to the tolerance: without softmax so many heads are "
        "enough.",
    ]

    def summary(self) -> str:
        """The heads, and how many are enough."""
        return f"layer {self.layer}, heads {self.heads[0]} to {self.heads[-1]}: rank {self.queries_rank}"


class HeadTable(Result, Sequence[PlacedHead], name="classify", eq=False, kw_only=True):
    """Heads in order, each with its layer and its number there, from 0."""

    layout: Key[
        str,
        "The naming and order of the arrays.",
        Written(Literal["plain", "torch", "names", *common().layouts]),
    ] = "plain"
    mixed: Key[
        tuple[SharedHeads, ...],
        "Heads that share keys and values: without softmax any invertible combination of their queries, with "
        "the inverse combination of their outputs, has the same function. Empty where no heads share.",
    ] = ()
    heads: Key[tuple[PlacedHead, ...], "One entry for each head."]

    @key(EXACTNESS)
    def evidence(self) -> Evidence:
        """How the ranks are known: the weakest of all heads."""
        return weakest([Evidence.PROVED, *(head.evidence for head in self)])

    @key
    def tolerance(self) -> float:
        """Singular values below this, relative to the largest, count as zero: the largest of all heads."""
        return max((own or 0.0 for head in self for own in (head.tolerance_a, head.tolerance_v)), default=0.0)

    def __getitem__(self, n: Any) -> Any:
        return self.heads[n]

    def __len__(self) -> int:
        return len(self.heads)

    def sheet(self) -> Sheet:
        """A row for each head, and what a terminal says of the columns."""
        names = ("layer", "head", "stratum", "evidence", "sing.", "bound.", "distance", "sr A", "sr V")
        rows = tuple(head.cells() for head in self)
        caption = (
            "Heads on M(d, d', a): strata (rk V, rk A, rk [V; Aᵀ]), and relative distances to singular points"
        )
        sizes = sorted({(head.d, head.d_out, head.a) for head in self})
        where = ", ".join(f"M({d},{d_out},{a})" for d, d_out, a in sizes)
        return Sheet(
            f"{where}; layout {self.layout}; strata (rk V, rk A, rk [V; Aᵀ])",
            (
                Table(caption, names, rows),
                Note(f"{self.summary()}."),
                *self._mixing(),
                *self._precision(),
                Note(LEGEND),
            ),
        )

    def _precision(self) -> Iterator[Note]:
        """The stored type, the tolerance and the nearest margin, and which heads are not safe."""
        types = sorted({head.dtype for head in self} - {"exact"})
        if not types:
            return
        floats = [(head.margin, head.place) for head in self if head.margin is not None]
        near = [place for margin, place in floats if margin < SAFE]
        least = min((margin for margin, _ in floats), default=np.inf)
        text = f"Stored as {', '.join(types)}; tolerance {self.tolerance:.2g}; nearest margin {least:.2g}."
        if near:
            first = "; ".join(near[:3])
            more = f" and {len(near) - 3} more" if len(near) > 3 else ""
            text += f" Hang on less than a factor of {SAFE:g} in the tolerance: {first}{more}."
        yield Note(text)

    def _mixing(self) -> Iterator[Note]:
        """Which heads can be mixed, and of which groups fewer heads are enough."""
        if not self.mixed:
            return
        groups = dict.fromkeys(group.heads for group in self.mixed)
        named = ", ".join(f"{heads[0]} to {heads[-1]}" for heads in groups)
        size = len(self.mixed[0].heads)
        fewer = [str(group) for group in self.mixed if group.queries_rank < size]
        yield Note(
            f"Heads that can be mixed, in each layer: {named}. They share keys and values, so GL({size}) on"
            " the queries and outputs of such heads changes no function without softmax, and none of them has"
            " a function of its own; with a softmax each has one."
            + (f" Their queries are dependent in {'; '.join(fewer)}." if fewer else "")
        )

    def summary(self) -> str:
        """How many heads are singular points, and which is the nearest to these, in a line."""
        if len(self) == 1:
            return self.heads[0].summary()
        singular = sum(head.singular for head in self)
        near = [(head.distance, n) for n, head in enumerate(self) if head.distance is not None]
        closest = ""
        if near:
            distance, n = min(near)
            where = f"{self[n].place}, at the relative distance {distance:.3g}"
            closest = f"; the nearest to the singular locus is {where}"
        return f"{len(self)} heads, {singular} of them singular points{closest}"


LEGEND = (
    "Layers and heads count from 0. Ranks: to the tolerance, unless proved; sing.: a singular point of"
    " the closure of M; bound.: on the boundary of M; distance: relative, of the function to the singular"
    " points; sr: stable rank ‖·‖_F² / ‖·‖². Biases, positions, scales and softmax are no part of this"
    " geometry, which is that of A = KᵀQ and V."
)


@takes("progress", "workers")
def classify(
    weights: Any,
    *,
    heads: int | None = None,
    kv_heads: int | None = None,
    match: str | Sequence[str] = (),
    tolerance: float | None = None,
    family: str | None = None,
    ignore: str | Sequence[str] = (),
    names: str | Mapping[str, str] | None = None,
) -> HeadTable:
    """Where heads lie on the neuromanifold M(d, d', a): stratum, distances, stable ranks.

    Args:
        weights: as for :func:`agattn.equivalent`; or the path of a checkpoint, or of several files of one; or
            its tensors by their names, such as torch's ``state_dict()``.
        heads: heads in each layer of a checkpoint without ``config.json``.
        kv_heads: heads of keys and values, if they are shared.
        match: parts of the names of the tensors that are meant, where a file has several models.
        tolerance: relative, below which singular values count as zero; by default below what the type of the
            weights, such as float32, can tell from zero. Exact weights have exact ranks.
        family: as which family ``config.json`` is read and tensors are packed, where ``model_type`` is not
            known.
        ignore: keys of ``config.json`` that are passed over although they may matter.
        names: of the tensors of K, Q and V where no layout has them, with {layer} for the number of the
            layer, as {"K": "h.{layer}.k", ...} or in text as in a shell. A name of O is not read.

    Raises:
        InputError: if the weights do not fit or a file cannot be read.

    See Also:
        :func:`agattn.rlct`, :func:`agattn.fiber`, :func:`agattn.tangent_space`; ``agattn classify`` in a
        shell.

    >>> import agattn as ag
    >>> [head] = ag.classify({"K": [[1, 2]], "Q": [[0, 1]], "V": [[1, 0]]})
    >>> head
    M(2,1,1), stratum (1,1,2) (proved): smooth; relative distance to the singular locus 1
    """
    paths = [weights] if isinstance(weights, (str, Path)) else weights
    if isinstance(paths, Mapping) and paths and (names is not None or not is_plain(paths)):
        file: WeightFile = StateDict(paths)
    elif isinstance(paths, Sequence) and paths and all(isinstance(path, (str, Path)) for path in paths):
        file = WeightFile(paths)
    else:
        return classify_weights(layers_of(weights), tolerance)
    return classify_checkpoint(Checkpoint(file, heads, kv_heads, match, family, ignore, names), tolerance)


def classify_checkpoint(checkpoint: Checkpoint, tolerance: float | None = None) -> HeadTable:
    """The heads of a checkpoint; where plain arrays are exact, so are the ranks.

    Raises:
        InputError: if a head has entries that are not finite.
    """
    if checkpoint.layout == "plain":
        return classify_weights(layers_of(checkpoint.file), tolerance)
    heads, mixed = list[PlacedHead](), list[SharedHeads]()
    queries: list[Array] = []  # of the group that is read

    def placed(head: Head) -> tuple[Head, PlacedHead]:
        with about(head.place):
            geometry = head_geometry(head.K, head.Q, head.V, tolerance, head.dtype)
        return head, geometry.replace(layer=head.layer, head=head.head)

    with threads(_SECONDS * checkpoint.size):
        for head, geometry in spread(placed, steps(checkpoint, len(checkpoint), lambda head: head.place)):
            heads.append(geometry)
            group = checkpoint.group(head)
            queries = [*(queries if head.head > group[0] else ()), head.Q.ravel()]
            if len(group) > 1 and head.head == group[-1]:
                together = scaled(np.array(queries))[0]
                sigma = np.linalg.svd(together, compute_uv=False)
                own = relative_to_largest(sigma, tolerance_of(together, head.dtype))
                rank = decide_from_singular_values(sigma, own if tolerance is None else tolerance).rank
                mixed.append(SharedHeads(head.layer, tuple(group), rank))
    return HeadTable(heads=tuple(heads), layout=checkpoint.layout, mixed=tuple(mixed))


def classify_weights(network: Network, tolerance: float | None = None) -> HeadTable:
    """The heads of layers given by their weights; where these are exact, so are the ranks."""
    geometries = []
    for layer, heads in enumerate(network):
        for head, w in enumerate(heads):
            if w.K is not None and w.Q is not None:
                K, Q = w.K, w.Q
            else:
                K, Q = canonical_factors(w.A, w.a, tolerance or TOLERANCE)
            geometry = head_geometry(as_floats(K), as_floats(Q), as_floats(w.V), tolerance, w.dtype)
            if w.is_exact:
                stratum = stratum_of(w.A.tolist(), w.V.tolist())
                exact = {"margin": None, "dtype": "exact", "tolerance_a": None, "tolerance_v": None}
                kind = _kind(SingleLayer(len(w.A), len(w.V), w.a), stratum)
                geometry = geometry.replace(**exact, **kind)
            geometries.append(geometry.replace(layer=layer, head=head))
    return HeadTable(heads=tuple(geometries))


def _kind(layer: SingleLayer, stratum: Stratum) -> dict[str, Any]:
    """What the ranks say."""
    degenerate = layer.d >= 2 and (stratum.is_zero or stratum == Stratum(1, 1, 1))
    singular = singular_by_ranks(layer, stratum)
    ranks = {"r_v": stratum.r_v, "r_a": stratum.r_a, "r": stratum.r}
    return {**ranks, "singular": singular, "boundary": degenerate, "critical": degenerate}


def head_geometry(
    K: Array, Q: Array, V: Array, tolerance: float | None = None, dtype: str = "float64"
) -> PlacedHead:
    """Place a head given by float64 matrices K, Q (a × d) and V (d' × d), which were stored as ``dtype``.

    Singular values below ``tolerance`` times the largest are 0; by default below what the type can tell from
    it.

    Raises:
        InputError: if the shapes do not fit, or an entry is not finite.
    """
    if K.shape != Q.shape or K.ndim != 2 or V.ndim != 2 or K.shape[1] != V.shape[1]:
        raise InputError(
            f"K is {K.shape}, Q is {Q.shape} and V is {V.shape}; they must be a × d, a × d and d' × d"
        )
    if not all(np.isfinite(M).all() for M in (K, Q, V)):
        raise InputError("the head has entries that are not finite numbers")
    (a, d), d_out = K.shape, len(V)
    # Everything below is relative.
    K, Q, V = (scaled(M)[0] for M in (K, Q, V))
    of_v = tolerance_of(V, dtype)
    A, V = reduce_width(K, Q, V)
    of_a = tolerance_of_product(K, Q, float(np.linalg.norm(A)), dtype)
    layer = SingleLayer(d, d_out, a)
    U_a, sigma, W_a = np.linalg.svd(A, full_matrices=False)
    U_v, rho, W_v = np.linalg.svd(V, full_matrices=False)
    of_v, of_a = relative_to_largest(rho, of_v), relative_to_largest(sigma, of_a)
    of_v, of_a = (of_v, of_a) if tolerance is None else (tolerance, tolerance)
    decisions = [decide_from_singular_values(s, own) for s, own in ((rho, of_v), (sigma, of_a))]
    if sigma[0] and rho[0]:
        blocks = np.concatenate([V / rho[0], A.T / sigma[0]])
        joint = np.linalg.svd(blocks, compute_uv=False)
        decisions.append(decide_from_singular_values(joint, max(of_v, of_a)))
    ranks = [decision.rank for decision in decisions]
    stratum = Stratum(*ranks) if len(ranks) == 3 and all(ranks) else ZERO
    distances = dict[str, Any]()
    if not stratum.is_zero:
        swapped_A = A + sigma[0] * np.multiply.outer(W_v[0] - U_a[:, 0], W_a[0])
        swapped_V = V + rho[0] * np.multiply.outer(U_v[:, 0], U_a[:, 0] - W_v[0])
        swap = relative_change(A, V, swapped_A, swapped_V)
        both, by_column = _rank_one_locus(A, V)
        lower, upper = _singular_locus(layer, A, V, by_column, both)
        distances = {"distance": lower, "distance_upper": upper, "swap_effect": swap}
        distances["rank_one_locus_distance"], distances["rank_one_locus_distance_upper"] = both
    return PlacedHead(
        **{"d": d, "d_out": d_out, "a": a, "dtype": dtype, "tolerance_a": of_a, "tolerance_v": of_v},
        margin=min(float(decision.margin or np.inf) for decision in decisions),
        stable_rank_a=_stable(sigma),
        stable_rank_v=_stable(rho),
        rank_one_distance_a=_tail(sigma, 1),
        rank_one_distance_v=_tail(rho, 1),
        **_kind(layer, stratum),
        **distances,
    )


def reduce_width(K: Array, Q: Array, V: Array) -> tuple[Array, Array]:
    """(A, V) in the coordinates of isometries: A is m × n, V is d' × m, with m ≤ a + d' and n ≤ a.

    The inner index lives in the span of the rows of K and V, the columns of A in the span of the rows of Q.
    """
    inner = np.linalg.qr(np.concatenate([K, V]).T)[0]
    outer = np.linalg.qr(Q.T)[0]
    return (K @ inner).T @ (Q @ outer), V @ inner


def _stable(sigma: Array) -> float:
    return float((sigma**2).sum() / sigma[0] ** 2) if sigma[0] else 0.0


def _tail(sigma: Array, rank: int) -> float:
    """The relative Frobenius distance to rank ≤ ``rank``."""
    total = float((sigma**2).sum())
    return float(np.sqrt((sigma[rank:] ** 2).sum() / total)) if total else 0.0


def _singular_locus(
    layer: SingleLayer, A: Array, V: Array, sigma: Array, rank_one: tuple[float, float]
) -> tuple[float | None, float | None]:
    """Bounds on the distance to the singular locus, from the singular values of G^{1/2}A."""
    if layer.d == 1:
        return None, None
    if 2 <= layer.a < layer.d:
        size = np.sqrt(norm_squared(A, V))
        exact = float(sigma[layer.a - 1] / size) if len(sigma) >= layer.a else 0.0
    elif layer.a == layer.d_out == 1:
        form = np.multiply.outer(V[0], np.linalg.svd(A)[0][:, 0])
        values = np.sort(np.abs(np.linalg.eigvalsh(form + form.T)))[::-1]
        exact = _tail(values, 1) if layer.d > 2 else 1.0  # for d = 2 only 0 is singular
    else:
        return rank_one
    return exact, exact


def _rank_one_locus(A: Array, V: Array) -> tuple[tuple[float, float], Array]:
    """Bounds on the relative distance to {rk A ≤ 1, rk V ≤ 1}, and the singular values of G^{1/2}A.

    From below by the flattenings with rows b and with rows c, from above by one round of nearest points.
    """
    root, back = roots(attention_gram(V))
    U, by_column, W = np.linalg.svd(root @ A)
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(V @ value_gram(A) @ V.T)[::-1], 0.0))
    lower = max(_tail(by_column, 1), _tail(values, 1))
    best = np.inf
    b = back @ U[:, 0] * by_column[0]
    for B, back in ((np.multiply.outer(b, W[0]), _inverse_root(b)), (A, roots(value_gram(A))[1])):
        for _ in range(3):
            # V, then A, each the best of rank one for φ_{A,V} with the other fixed: Σ_b T_{c,b}B_b is
            # (V_c ⟨A, B⟩ + A (VB)_cᵀ)/2.
            w, of_rows = _of_rank_one((V.T * (A * B).sum() + A @ (V @ B).T) / 2, back)
            V1 = np.multiply.outer(of_rows, w)
            b, of_columns = _of_rank_one((A * (V * V1).sum() + V.T @ (V1 @ A)) / 2, _inverse_root(w))
            B, back = np.multiply.outer(b, of_columns), _inverse_root(b)
            best = min(best, relative_change(A, V, B, V1))
    # Roundoff must not put the bounds in the wrong order.
    return (min(lower, best), best), by_column


def _of_rank_one(right: Array, back: Array) -> tuple[Array, Array]:
    """x and a unit vector y for which xyᵀ solves Gxyᵀ = right best in the norm of G = back⁻²."""
    U, sigma, W = np.linalg.svd(back @ right, full_matrices=False)
    return sigma[0] * (back @ U[:, 0]), W[0]


def _inverse_root(x: Array) -> Array:
    """((‖x‖²·1 + xxᵀ)/2)^{−1/2}, of the Gram matrix of xyᵀ for a unit vector y."""
    size = max(float(np.linalg.norm(x)), _TINY)
    x = x / size
    result: Array = (np.eye(len(x)) + (0.5**0.5 - 1) * np.multiply.outer(x, x)) * (2**0.5 / size)
    return result
