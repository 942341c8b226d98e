r"""The fiber through given weights: everything else that computes the same function.

In (A, V) space there are three cases (HMK, Theorem 3.2, for t ≥ 2):

1. rk A = rk V = 1, A = k qᵀ, V = h vᵀ: the rescalings (sA, V/s) of (k qᵀ, h vᵀ) and those of (v qᵀ, h kᵀ).
   The two curves are one if k and v are parallel.
2. A = 0 or V = 0: all pairs with A = 0, and all pairs with V = 0.
3. Otherwise: the rescalings, and nothing else.

Weights given by K, Q and V have in addition the gauge (C⁻ᵀK, CQ) of
:mod:`agattn.geometry.identifiability.gauge`. A component of the fiber is a variety with a parametrization;
moving along it changes the weights and not the function (*teleportation*).

>>> w = weights(K=[[1, 2]], Q=[[0, 1]], V=[[1, 0]])
>>> line = fiber(w)
>>> line.case, line.dimension, [component.name for component in line.components]
('two lines', 1, ['rescaling', 'swapped'])
>>> other = line.move(s=3, C=[[5]])
>>> print(other.A.tolist() == (3 * w.A).tolist(), line.contains(other))
True True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from agattn.algebra.scalars import (
    FLOATS,
    TOLERANCE,
    Array,
    RankDecision,
    as_floats,
    coarsest,
    decide_from_singular_values,
    decide_rank,
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
from agattn.geometry.identifiability.gauge import canonical_factors, canonical_scale, inverse
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

Case = Literal["line", "two lines", "double line", "zero", "conjugate lines", "empty"]
Ranks = dict[Literal["r_v", "r_a", "r"], RankDecision]
#: Name, dimension and parametrization of the components of case 1 and 3.
RESCALING = ("rescaling", 1, "(sA, V/s), s ≠ 0")
SWAPPED = ("swapped", 1, "(s·v qᵀ, h kᵀ/s), s ≠ 0, where A = k qᵀ, V = h vᵀ")


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
            raise InputError(f"K is {_by(K)} and Q is {_by(Q)}; both must be a × d")
        if a not in (None, len(K)):
            raise InputError(f"a is {a}, but K and Q have {len(K)} rows")
    else:
        A = unread_matrix(A, "A")
        if A.shape[0] != A.shape[1]:
            raise InputError(f"A is {_by(A)}; it must be d × d")
    d = (A if K is None else K).shape[1]
    if V.shape[1] != d:
        raise InputError(f"V is {_by(V)}; with d = {d} it must be d' × {d}")
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
    rank, w = d if a is None else a, Weights(A, V, d, dtype=dtype)
    if rank < d and (found := rank_of_attention(w).rank) > rank:
        raise InputError(f"A has rank {found}, above a = {rank}")
    return replace(w, a=rank)


def rank_of_attention(w: Weights, tolerance: float | None = None) -> RankDecision:
    """The rank of A: singular values below the tolerance, relative to the largest, are 0.

    Without a tolerance it is that of the stored type.
    """
    return _rank(_turned(w), w.tolerances[0], tolerance)


def _turned(w: Weights) -> Array:
    """Aᵀ, or for floats an isometry times Aᵀ with as few rows as Q: their singular values are the same."""
    if w.K is None or w.Q is None or w.is_exact:
        return w.A.T
    result: Array = np.linalg.qr(w.Q.T, mode="r") @ w.K
    return result


def rank_of_values(w: Weights, tolerance: float | None = None) -> RankDecision:
    """The same for V."""
    return _rank(w.V, w.tolerances[1], tolerance)


def _rank(M: Array, known: float, tolerance: float | None) -> RankDecision:
    if is_exact(M):
        return decide_rank(M)
    sigma = np.linalg.svd(scaled(M)[0], compute_uv=False)
    return decide_from_singular_values(
        sigma, relative_to_largest(sigma, known) if tolerance is None else tolerance
    )


def unsafe(near: Iterable[tuple[float, str]]) -> str:
    """What hangs on less than a factor of 10 in the tolerance, in words; empty where nothing does.

    >>> unsafe([(3.21, "rk A"), (100.0, "rk V")])
    'rk A hangs on a factor of 3.2 in the tolerance'
    """
    least = min(((margin, what) for margin, what in near if margin < SAFE), default=None)
    return "" if least is None else f"{least[1]} hangs on a factor of {least[0]:.2g} in the tolerance"


def relative_to_largest(sigma: Array, tolerance: float) -> float:
    """A tolerance that is relative to the Frobenius norm, relative to the largest singular value."""
    return tolerance * float(np.linalg.norm(sigma)) / float(sigma[0]) if sigma[0] else tolerance


def _by(M: Array) -> str:
    return f"{M.shape[0]} × {M.shape[1]}"


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
    :func:`~agattn.geometry.identifiability.preimages.preimages` over a point. There the case is also
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
    ranks: Key[
        Ranks,
        "The three ranks, each with how safely it was decided.",
        Written(DecidedRanks),
    ] = field(default_factory=dict)
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
        return (
            CanonicalWeights(w.A, w.V) if w.K is None or w.Q is None else CanonicalWeights(w.A, w.V, w.K, w.Q)
        )

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
        factorizations = max(
            (a * m + (m - s) * (d - m) + d * (a - m) for m in range(s, min(a, d) + 1)), default=0
        )
        return max(factorizations + d * d_out, 2 * a * d) if self.case == "zero" else 1 + factorizations

    @key
    def dtype(self) -> str:
        """The type in which weights are stored: `exact`, `float64`, `float32`, `float16` or `bfloat16`."""
        return "exact" if self.evidence is Evidence.PROVED else self.weights.dtype

    @property
    def unsafe(self) -> str:
        """Which ranks another tolerance, within a factor of 10, would change, in words; empty if none."""
        names = {"r_v": "rk V", "r_a": "rk A", "r": "rk [V; Aᵀ]"}
        near = [(x.margin, names[name]) for name, x in self.ranks.items() if x.margin is not None]
        return unsafe(near)

    @key(EXACTNESS)
    def evidence(self) -> Evidence:
        """`proved` where what was given is exact, else `numerical`."""
        exact = all(c.weights is None or c.weights.is_exact for c in self.components)
        return Evidence.PROVED if exact else Evidence.NUMERICAL

    @property
    def _where(self) -> str:
        return "in M" if self.is_real else "in M̄, not in M" if self.components else "not in M̄"

    def summary(self) -> str:
        """The case, the components and the dimensions."""
        names = "".join(f"{', ' * (n > 0)}{c.name}" for n, c in enumerate(self.components))
        keys = self.dimension_with_keys
        return (
            f"{self.case} ({self.evidence}), {self._where}: components over ℂ {names or '–'}; dimension "
            f"{self.dimension} in (A, V)" + f", {keys} in (K, Q, V)" * (keys is not None)
        )

    def sheet(self) -> Sheet:
        """The components, each with a point."""
        caption = f"{self.number} components over ℂ ({self.case}), {self._where}"
        caption += f", dimension {self.dimension} in (A, V)"
        if self.dimension_with_keys is not None:
            caption += f", {self.dimension_with_keys} in (K, Q, V)"
        ranks = "".join(f", {name} = {decision.rank}" for name, decision in self.ranks.items())
        rows: list[tuple[Cell, ...]] = []
        for c in self.components:
            known = ("", "") if c.weights is None else (array_cell(c.A), array_cell(c.V))
            rows.append(
                (c.name, c.dimension, "" if c.length is None else c.length, c.parametrization, *known)
            )
        headings = ("component", "dimension", "length", Wide("parametrization"), "A", "V")
        caption = f"{caption}{ranks} ({self.evidence}): {self.reason}"
        table = Table(caption, headings, tuple(rows), where="page")
        if not self.ranks:  # over a point
            return Sheet(self.summary(), (replace(table, where=""),))
        w = self.weights
        title = f"d = {len(w.A)}, d' = {len(w.V)}, a = {w.a}: {self.case} ({self.evidence})"
        return Sheet(title, (table, Note("\n".join(self._lines()), apart=False)))

    def _lines(self) -> list[str]:
        """What a terminal says of the fiber through weights, below the case."""
        lines = [f"  {c.name}: {c.parametrization}; dim {c.dimension}" for c in self.components]
        keys = self.dimension_with_keys
        with_keys = "" if keys is None else f", {keys} in (K, Q, V) with the gauge"
        margins = ["" if x.margin is None else f" (margin {x.margin:.3g})" for x in self.ranks.values()]
        ranks = zip(("V", "A", "[V; Aᵀ]"), self.ranks.values(), margins, strict=True)
        decided = ", ".join(f"rk {name} = {x.rank}{margin}" for name, x, margin in ranks)
        stored = [] if self.dtype == "exact" else [f"stored as {self.dtype}; tolerance {self.tolerance:.2g}"]
        warned = [self.unsafe] if self.unsafe else []
        return [*lines, f"dimension {self.dimension} in (A, V){with_keys}", decided, *stored, *warned]

    def canonical(self) -> Weights:
        """The canonical representative, zeros for the zero function.

        Scale and gauge are those of :mod:`agattn.geometry.identifiability.gauge`. Of two lines, that with the
        lexicographically larger A after scaling is taken, so that all of the fiber has one representative.
        """
        w = self.weights
        if self.case == "zero":
            A, V = w.A * 0, w.V * 0
        else:
            scaled_points = (canonical_scale(c.A, c.V) for c in self.points)
            A, V = max(scaled_points, key=lambda pair: pair[0].ravel().tolist())
        if w.K is None:
            return Weights(A, V, w.a)
        K, Q = canonical_factors(A, w.a, self.tolerance)
        return Weights(A, V, w.a, K, Q)

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
            raise InputError(f"{name} is {_by(array)}; it must be {shape[0]} × {shape[1]}")
        return array if self.weights.is_exact else as_floats(array)

    def contains(self, other: Weights) -> bool:
        """Whether other weights have the same function; InputError if their shapes differ."""
        return self.component_of(other) is not None

    def component_of(self, other: Weights) -> Component | None:
        """The component on which other weights lie, or ``None`` if their function is another one."""
        w = self.weights
        if (w.A.shape, w.V.shape) != (other.A.shape, other.V.shape):
            raise InputError(
                f"A and V are {_by(w.A)} and {_by(w.V)}, and {_by(other.A)} and {_by(other.V)};"
                " only layers of the same d and d' can be compared"
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
    rank_v, rank_a = rank_of_values(w, tolerance), rank_of_attention(w, tolerance)
    coarser = tolerance if tolerance is not None else max(rank_v.tolerance or 0.0, rank_a.tolerance or 0.0)
    rank_joint = joint_rank(_turned(w).T, w.V, coarser)

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


def scale_between(component: Component, other: Weights, tolerance: float) -> Any:
    """The s with other = (sA, V/s) for the point (A, V) of a component, or ``None``."""
    A, V, A2, V2 = component.A, component.V, other.A, other.V
    if is_exact(A, V, A2, V2):
        place = next(index for index in np.ndindex(*A.shape) if A[index])
        s: Any = A2[place] / A[place]
        same = s != 0 and not (A2 - s * A).any() and not (V2 * s - V).any()
        return s if same else None
    s, distance = nearness(component, other)
    return s if distance <= tolerance else None


def nearness(component: Component, other: Weights) -> tuple[float, float]:
    """The s for which (sA, V/s) of a component is nearest to other weights, and how near, relatively.

    The distance is that of A or of V, the larger one, each relative to its own Frobenius norm.
    """
    pairs = [scaled(as_floats(M)) for M in (component.A, component.V, other.A, other.V)]
    (A, one), (V, two), (A2, three), (V2, four) = pairs
    s = float((A * A2).sum() / (A**2).sum())
    if s == 0:
        return 0.0, np.inf
    of_a = np.linalg.norm(A2 - s * A) / np.linalg.norm(A2)
    of_v = np.linalg.norm(np.ldexp(V2 * s, three + four - one - two) - V) / np.linalg.norm(V)
    return float(np.ldexp(s, three - one)), float(max(of_a, of_v))
