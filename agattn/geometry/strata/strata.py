r"""The strata: every point of the neuromanifold at once, and how far functions are from their closures.

Let GL(d') × GL(d) × GL(d) act on (A, V) through the rows of V, the columns of A, and the index which V and A
share. A pair is then a representation ℂ^{d'} ←V— ℂ^d —Aᵀ→ ℂ^d of a quiver of type A₃; by Gabriel's theorem
there are finitely many orbits, and three ranks tell them apart:

.. math:: r_V = \operatorname{rk} V, \qquad r_A = \operatorname{rk} A, \qquad
          r = \operatorname{rk} \begin{pmatrix} V \\ A^{\mathsf T} \end{pmatrix}.

(1,1,1) means A = k qᵀ, V = h kᵀ with the same k; (1,1,2) means A = k qᵀ, V = h vᵀ with k, v independent.
The real orbits are counted by the same triples. All pairs with A = 0 or V = 0 give the function 0, which is
one stratum here. A statement that the group leaves true is decided for *all* points by looking at one
rational representative of each stratum.

>>> from agattn import SingleLayer
>>> layer = SingleLayer(d=2, d_out=1)
>>> for stratum in strata(layer):
...     print(stratum, image_dimension(layer, stratum))
(0,0,0) 0
(1,1,1) 3
(1,1,2) 4
(1,2,2) 5

**Distances** of functions from the closure of a stratum, in floating point, lie between two bounds. Norms are
the invariant one of :mod:`agattn.geometry.variety.coefficient_norm`, relative to ‖φ‖. The closure of the
stratum (i, j, k) is {rk V ≤ i, rk A ≤ j, rk [V; Aᵀ] ≤ k}. From below: the tensor T of a point of it has
flattenings of rank at most i by the index c, j by the index b, and k by one of the two others, so that by
Eckart and Young φ is at least as far away as what is left of the singular values of those of its own T. From
above: V and A are projected onto spaces of dimension k that suggest themselves, cut to their ranks, and
improved by turns, each the best of its rank for the other. Where V or A alone is bounded the two agree.

>>> A, V = np.diag([1.0, 0.1, 0.0]), np.array([[0.0, 1.0, 0.0]])
>>> [round(bound.item(), 4) for bound in distance_bounds(A, V, Stratum(1, 1, 3))]
[0.14, 0.14]
>>> [round(bound.item(), 4) for bound in distance_bounds(A, V, Stratum(1, 1, 1))]
[0.7001, 0.7106]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from agattn.algebra.echelon import Matrix, rational_rank
from agattn.algebra.scalars import Array
from agattn.architectures import SingleLayer
from agattn.calls import is_ranks, shown
from agattn.errors import InputError
from agattn.geometry.identifiability.weights import Fiber, preimages
from agattn.geometry.variety.coefficient_norm import (
    attention_gram,
    roots,
    truncated,
    value_gram,
    weights_tensor,
)
from agattn.geometry.variety.coordinates import coefficients
from agattn.sheet.result import Count, Meta, key

if TYPE_CHECKING:
    import networkx

IntegerMatrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, order=True)
class Stratum:
    """The orbit of functions φ_{A,V} with rk V = r_v, rk A = r_a and rk [V; Aᵀ] = r; (0,0,0) is φ = 0."""

    r_v: int
    r_a: int
    r: int

    #: Its form in JSON: the three ranks.
    __json__: ClassVar[Any] = Annotated[list[Count], Meta(min_length=3, max_length=3)]

    @property
    def is_zero(self) -> bool:
        """Whether the functions are 0: A = 0 or V = 0."""
        return not (self.r_v and self.r_a)

    def closure_contains(self, other: Stratum) -> bool:
        """Whether ``other`` lies in the closure of this stratum.

        For a quiver of type A the closures are cut out by the ranks (Abeasis and Del Fra), so the order is
        componentwise; and (A, V) ↦ y is projectively closed, so closures of images are images of closures.
        """
        return other.r_v <= self.r_v and other.r_a <= self.r_a and other.r <= self.r

    def as_json(self) -> list[int]:
        """The three ranks."""
        return [self.r_v, self.r_a, self.r]

    def __str__(self) -> str:
        return f"({self.r_v},{self.r_a},{self.r})"


ZERO = Stratum(0, 0, 0)
#: Where there are more strata than about so many, an error says which ranks they have.
_MOST_LISTED = 60


def require_two_tokens(layer: SingleLayer) -> None:
    """Raise an InputError for t = 1, where the function depends on A only through A + Aᵀ."""
    if not layer.has_orbits:
        raise InputError(
            "t is 1; the strata need t ≥ 2, because one token sees only V and A + Aᵀ, which have other orbits"
        )


class ByStratum:
    """The ranks of a stratum as keys of a result."""

    stratum: Stratum

    @key
    def r_v(self) -> Count:
        """The rank of V."""
        return self.stratum.r_v

    @key
    def r_a(self) -> Count:
        """The rank of A."""
        return self.stratum.r_a

    @key
    def r(self) -> Count:
        """The rank of [V; Aᵀ]."""
        return self.stratum.r


def ranks_together(layer: SingleLayer, r_v: int, r_a: int) -> range:
    """The ranks that [V; Aᵀ] can have where V has rank r_v and A has rank r_a.

    >>> ranks_together(SingleLayer(3, 2, 2), 2, 2)
    range(2, 4)
    """
    return range(max(r_v, r_a), min(layer.d, r_v + r_a) + 1)


def strata(layer: SingleLayer) -> tuple[Stratum, ...]:
    """The strata of M, 0 first, in lexicographic order of (r_v, r_a, r).

    These are also the strata of the complex variety M̄, which is the image of all complex (A, V).

    Raises:
        InputError: if t = 1.

    >>> [str(s) for s in strata(SingleLayer(1, 2))]
    ['(0,0,0)', '(1,1,1)']
    """
    require_two_tokens(layer)
    nonzero = (
        Stratum(r_v, r_a, r)
        for r_v in range(1, min(layer.d_out, layer.d) + 1)
        for r_a in range(1, layer.alpha + 1)
        for r in ranks_together(layer, r_v, r_a)
    )
    return (ZERO, *nonzero)


def stratum_of_ranks(given: Stratum | Sequence[int]) -> Stratum:
    """The stratum with the ranks (r_V, r_A, r); whether a layer has it, :func:`require_stratum` says.

    Raises:
        InputError: if these are not three whole numbers.

    >>> stratum_of_ranks((0, 0, 0)).is_zero
    True
    """
    ranks = given.as_json() if isinstance(given, Stratum) else given
    if not is_ranks(ranks) or len(ranks) != 3:
        raise InputError(
            f"the stratum is {shown(given)}; give its three ranks (r_V, r_A, r), such as (1, 1, 1)"
        )
    return Stratum(*map(int, ranks))


def open_stratum(layer: SingleLayer) -> Stratum:
    """The stratum that is dense in M̄.

    >>> open_stratum(SingleLayer(3, 1, 2))
    Stratum(r_v=1, r_a=2, r=3)
    """
    r_v = min(layer.d, layer.d_out)
    return Stratum(r_v, layer.alpha, min(layer.d, r_v + layer.alpha))


def require_stratum(layer: SingleLayer, stratum: Stratum) -> None:
    """Raise an InputError unless these are the ranks of a pair (A, V) of the layer, and t ≥ 2."""
    require_two_tokens(layer)
    rows, columns = min(layer.d_out, layer.d), layer.alpha
    sizes = 0 <= stratum.r_v <= rows and 0 <= stratum.r_a <= columns
    if sizes and stratum.r in ranks_together(layer, stratum.r_v, stratum.r_a):
        return
    # For each r_V and r_A there are at most min(r_V, r_A) + 1 strata.
    if rows * columns * (min(rows, columns) + 1) > _MOST_LISTED:
        listed = f"r_V ≤ {rows}, r_A ≤ {columns} and max(r_V, r_A) ≤ r ≤ min({layer.d}, r_V + r_A)"
    else:
        listed = f"there are {', '.join(map(str, strata(layer)))}"
    raise InputError(f"{stratum} is not a stratum of {layer.name}; {listed}")


def rank_at_most_one(layer: SingleLayer, stratum: Stratum) -> bool:
    """Whether rk A ≤ 1 and rk V ≤ 1: singular by HMK, Theorem 3.4, version 2."""
    return stratum.r_a <= 1 and stratum.r_v <= 1


def singular_by_ranks(layer: SingleLayer, stratum: Stratum) -> bool:
    """Whether the points of a stratum are singular on M̄, by the ranks alone (t ≥ 2).

    For 2 ≤ a < d also all points with rk A < a are singular, which version 2 of HMK's Theorem 3.4 leaves out;
    see the page on the corrected theorem.

    >>> singular_by_ranks(SingleLayer(3, 2, 2), Stratum(2, 1, 3))
    True
    >>> singular_by_ranks(SingleLayer(2, 1, 1), Stratum(1, 1, 1))
    False
    """
    if layer.d == 1:
        return False
    if stratum.is_zero:
        return True
    if layer.a == layer.d_out == 1:
        return layer.d >= 3 and stratum.r == 1
    return stratum.r_a == stratum.r_v == 1 or (2 <= layer.a < layer.d and stratum.r_a < layer.a)


def representative(layer: SingleLayer, stratum: Stratum) -> tuple[IntegerMatrix, IntegerMatrix]:
    """A pair (A, V) of 0/1 matrices with these ranks, and r_V·r_A nonzero coordinates y, all equal to 1.

    A has ones at (j, j) for j ≤ r_A and V at (c, r − r_V + c) for c ≤ r_V, so V_c(u)·A_b(u) is a monomial
    or 0. The ranks may be those of any pair, also of one with A = 0 or V = 0.

    >>> representative(SingleLayer(3, 2, 2), Stratum(2, 1, 3))
    (((1, 0, 0), (0, 0, 0), (0, 0, 0)), ((0, 1, 0), (0, 0, 1)))
    """
    require_stratum(layer, stratum)
    d, first = layer.d, stratum.r - stratum.r_v
    A = tuple(tuple(int(i == j < stratum.r_a) for j in range(d)) for i in range(d))
    V = tuple(tuple(int(c < stratum.r_v and i == first + c) for i in range(d)) for c in range(layer.d_out))
    return A, V


@lru_cache(maxsize=4096)
def stratum_fiber(layer: SingleLayer, stratum: Stratum) -> Fiber:
    """All preimages of the representative of a nonzero stratum.

    >>> stratum_fiber(SingleLayer(3, 1), Stratum(1, 1, 2)).number
    2
    """
    return preimages(layer, list(coefficients(layer, *representative(layer, stratum))))


def stratum_of(A: Matrix, V: Matrix) -> Stratum:
    """The stratum of φ_{A,V} for exact matrices A (d × d) and V (d' × d), whatever the attention dimension.

    >>> stratum_of([[1, 2], [2, 4]], [[1, 2], [3, 6]])
    Stratum(r_v=1, r_a=1, r=1)
    >>> stratum_of([[0, 0], [0, 0]], [[1, 2]])
    Stratum(r_v=0, r_a=0, r=0)
    """
    columns = list(zip(*A, strict=True))
    r_v, r_a, r = (rational_rank(rows) for rows in (V, columns, [*V, *columns]))
    return Stratum(r_v, r_a, r) if r_v and r_a else ZERO


def image_dimension(layer: SingleLayer, stratum: Stratum) -> int:
    """The dimension of the stratum in ℂ^N: that of its pairs (A, V) minus 1, for (sA, V/s); 0 for φ = 0.

    For the pairs choose the s-dimensional intersection of the row space of V and the column space of A, then
    the two spaces, then V and A with these spaces. Fibers over nonzero points are one or two rescaling curves
    (HMK, Theorem 3.2).

    >>> image_dimension(SingleLayer(3, 2, 2), Stratum(2, 2, 3))
    13
    """
    require_stratum(layer, stratum)
    if stratum.is_zero:
        return 0
    d, r_v, r_a = layer.d, stratum.r_v, stratum.r_a
    s = r_v + r_a - stratum.r
    pairs = s * (d - s) + (r_v - s) * (d - r_v) + (r_a - s) * (d - r_a) + layer.d_out * r_v + d * r_a
    return pairs - 1


def neuromanifold_dimension(layer: SingleLayer) -> int:
    """The dimension of M̄, which is the dimension of its open stratum.

    >>> neuromanifold_dimension(SingleLayer(3, 2, 2))
    13
    """
    return image_dimension(layer, open_stratum(layer))


def irreducible_components(layer: SingleLayer, some: Iterable[Stratum]) -> dict[Stratum, int]:
    """The irreducible components of the closure of a union of strata, as their open strata, with dimensions.

    Closures of strata are irreducible, being images of closures of orbits, so these are the maximal strata
    given. Of the singular ones, for example, this gives the components of the singular locus of M̄.

    >>> layer = SingleLayer(3, 2, 2)
    >>> some = [Stratum(1, 1, 1), Stratum(1, 2, 2), Stratum(2, 1, 3), Stratum(2, 1, 2)]
    >>> {str(s): dimension for s, dimension in irreducible_components(layer, some).items()}
    {'(1,2,2)': 10, '(2,1,3)': 10}
    """
    given = sorted(set(some))
    maximal = [s for s in given if not any(t != s and t.closure_contains(s) for t in given)]
    return {s: image_dimension(layer, s) for s in maximal}


@lru_cache(maxsize=64)
def closure_order(layer: SingleLayer) -> networkx.DiGraph:
    """The Hasse diagram: an arrow from each stratum to the strata that are maximal in its boundary.

    >>> for upper, lower in sorted(closure_order(SingleLayer(2, 1)).edges):
    ...     print(upper, "covers", lower)
    (1,1,1) covers (0,0,0)
    (1,1,2) covers (1,1,1)
    (1,2,2) covers (1,1,2)
    """
    import networkx

    order = networkx.DiGraph()
    order.add_nodes_from(strata(layer))
    order.add_edges_from((s, t) for s in order for t in order if s != t and s.closure_contains(t))
    return networkx.freeze(networkx.transitive_reduction(order))


def stratum_outside(layer: SingleLayer) -> Stratum | None:
    """The complex stratum (1,1,2) of the real points of M̄ outside M, for d ≥ 2; ``None`` for d = 1.

    They are h ⊗ q ⊗ Q with Q = ±(m² + n²), m and n independent: a second real form of (1,1,2), of the same
    dimension d' + 3d − 3. In its closure are, of the strata of M, those with rk Q ≤ 1: (1,1,1) and 0.
    """
    require_two_tokens(layer)
    return Stratum(1, 1, 2) if layer.d >= 2 else None


_ROUNDS = 4


def distance_bounds(A: Array, V: Array, stratum: Stratum) -> tuple[Array, Array]:
    """Bounds on min ‖φ_{A,V} − φ'‖ / ‖φ_{A,V}‖ over the closure of a stratum; 0 and 0 for φ = 0.

    Args:
        A: ... × d × d; the axes in front are those of the bounds.
        V: ... × d' × d.
        stratum: (0,0,0) stands for φ' = 0, at the distance 1.
    """
    lead, d, d_out = A.shape[:-2], A.shape[-1], V.shape[-2]
    A, V = A.reshape(-1, d, d), V.reshape(-1, d_out, d)
    T = weights_tensor(A, V)
    size = np.sqrt((T**2).sum((1, 2, 3, 4)))
    zero = size == 0
    size = np.where(zero, 1.0, size)
    i, j, k = min(stratum.r_v, d_out), stratum.r_a, stratum.r
    n = len(A)
    space, joint, _ = np.linalg.svd(T.transpose(0, 2, 1, 3, 4).reshape(n, d, -1), full_matrices=False)
    h, by_value, _ = np.linalg.svd(T.reshape(n, d_out, -1), full_matrices=False)
    q, by_column, _ = np.linalg.svd(T.transpose(0, 3, 1, 2, 4).reshape(n, d, -1), full_matrices=False)
    left = [(s[:, r:] ** 2).sum(1) for s, r in ((by_value, i), (by_column, j), (joint, k))]
    lower = np.sqrt(np.max(left, axis=0)) / size
    best = np.where(zero, 0.0, 1.0)
    if not stratum.is_zero:
        form = np.einsum("ncibk,nc,nb->nik", T, h[:, :, 0], q[:, :, 0])
        eigenvalues, vectors = np.linalg.eigh(form + form.swapaxes(1, 2))
        largest = np.argsort(-np.abs(eigenvalues), axis=1)[:, None, :k]
        for P in (space[:, :, :k], np.take_along_axis(vectors, largest, 2)):
            inside = P.swapaxes(1, 2) @ A
            for B in (inside, truncated(inside, j)):
                for _ in range(_ROUNDS):
                    W = _values(A, V, P, B, i)
                    B = _attention(A, V, P, W, j)
                    rest = T - weights_tensor(P @ B, W @ P.swapaxes(1, 2))
                    best = np.minimum(best, np.sqrt((rest**2).sum((1, 2, 3, 4))) / size)
    return np.minimum(lower, best).reshape(lead), best.reshape(lead)


def _values(A: Array, V: Array, P: Array, B: Array, rank: int) -> Array:
    """The W, d' × k, of this rank for which φ_{PB,WPᵀ} is nearest to φ_{A,V}; P has orthonormal columns."""
    full = P @ B
    products = (A * full).sum((1, 2), keepdims=True)
    right = ((V * products + (V @ full) @ A.swapaxes(1, 2)) / 2) @ P
    _, back = roots(value_gram(B))
    return truncated(right @ back, rank) @ back


def _attention(A: Array, V: Array, P: Array, W: Array, rank: int) -> Array:
    """The B, k × d, of this rank for which φ_{PB,WPᵀ} is nearest to φ_{A,V}."""
    full = W @ P.swapaxes(1, 2)
    products = (V * full).sum((1, 2), keepdims=True)
    right = P.swapaxes(1, 2) @ ((A * products + V.swapaxes(1, 2) @ (full @ A)) / 2)
    _, back = roots(attention_gram(W))
    return back @ truncated(back @ right, rank)
