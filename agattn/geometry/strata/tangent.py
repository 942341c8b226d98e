r"""Zariski tangent spaces of M̄ at its strata, bounded from both sides exactly, and what M̄ looks like there.

**From below, by arcs.** Let y(ε) = p + ε^k v_k + ε^{k+1} v_{k+1} + ... be a polynomial arc in M̄. An equation
f of M̄ is linear in v_k, ..., v_{2k−1} modulo ε^{2k}, so f(y(ε)) = 0 says that the gradient of f at p
annihilates each of these vectors: it lies in T_p M̄. The arcs here are φ of A = K(ε)ᵀQ(ε) and V(ε), with at
most a rows in K and Q, so that they stay in M̄. There are those of first order through every preimage of p,
and where dφ has a kernel, as at A = k qᵀ, V = h kᵀ, those of second order along the kernel,

.. math:: A = (k + εw)q^{\mathsf T} + ε^2 m s^{\mathsf T}, \qquad
          V = h(k − εw)^{\mathsf T} + ε^2 g n^{\mathsf T},

with k = 2 and both of v_2 and v_3. (The leading coefficient alone misses part of T_p at pinch points.)

**From above**, by one of two arguments. If the fiber over p of the finite map P(D_α) × P(ℂ^{d'×d}) → P(ℂ^N)
is one reduced point, the map is a closed immersion near it, so M̄ near p looks like its source, and dim T_p
M̄ is that of the source, which may itself be singular. Otherwise gradients of verified equations: dim T_p M̄
≤ N − (their rank).

>>> from agattn import SingleLayer
>>> from agattn.geometry.strata.strata import Stratum
>>> print(tangent_bounds(SingleLayer(3, 2, 2), Stratum(2, 1, 2)))
dim T_p = 14 > dim M̄ = 13: singular (from below: first-order arcs; from above: one reduced preimage)

**What M̄ looks like** near a point of a stratum, up to an analytic change of coordinates, is read off the
preimages and the two-sided tangent space:

- *smooth*: dim T_p M̄ = dim M̄.
- *determinantal*: one reduced preimage, so that M̄ looks like its source, at a matrix A of rank r_A < α < d:
  a smooth factor times the (d − r_A) × (d − r_A) matrices of rank ≤ α − r_A, at 0. For a = d' = 1 the same
  with symmetric matrices: there M̄ = {q ⊗ Q : rk Q ≤ 2}, at Q of rank 1.
- *crossing*: two reduced preimages, so two branches, each of which looks like its source. Where A is a smooth
  point of D_α the branches are smooth; they cross transversally along the stratum when their tangent spaces
  meet in that of the stratum and nothing more.
- *pinch*: one preimage where the fiber has length greater than 1. If the source is smooth and the kernel of
  dφ modulo scaling is a line, spanned by z, the tangent vectors of second order are z·z and z·u modulo the
  image of dφ. As they fill T_p M̄, the germ is (u, v, z) ↦ (u, v, z², z·u_1, ..., z·u_e) in suitable
  coordinates, where e = dim T_p M̄ − dim M̄ (Whitney; Morin): for e = 1 the Whitney umbrella times a smooth
  factor.
- *cone*: the point 0, the apex of the cone M̄.

>>> local_type(SingleLayer(2, 1), Stratum(1, 1, 1)).description
'Whitney umbrella times a smooth factor of dimension 3'
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, product
from typing import Any, Literal

from agattn.algebra.echelon import Matrix, independent_vectors
from agattn.architectures import SingleLayer, one_layer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.ideal.equations import MAX_DEGREE, Equation, gradient_equations
from agattn.geometry.identifiability.weights import (
    Fiber,
    Weights,
    canonical_factors,
    kernel_of_differential,
    weights_of_layer,
)
from agattn.geometry.strata.strata import (
    Stratum,
    image_dimension,
    neuromanifold_dimension,
    representative,
    require_stratum,
    stratum_fiber,
    stratum_of,
    stratum_of_ranks,
)
from agattn.geometry.variety.coordinates import Coordinate, coefficients, coordinates
from agattn.sheet.data import Cell, Math, Sheet, Table
from agattn.sheet.result import Described, Key, Result

#: A matrix of polynomials in ε, sparsely: (row, column, power, coefficient), rows and columns from 1.
Entries = tuple[tuple[int, int, int, int], ...]


#: The nonzero coordinates of a vector in ℤ^N.
Vector = dict[Coordinate, int]


@dataclass(frozen=True)
class Arc:
    """The arc φ(K(ε)ᵀQ(ε), V(ε)) in M̄: K and Q have at most a rows and d columns, V is d' × d.

    >>> arc = Arc(K=((1, 1, 0, 1),), Q=((1, 1, 0, 1),), V=((1, 1, 0, 1), (1, 2, 1, 3)))
    >>> arc.coefficients()
    [{(1, 1, 1, 1): 1}, {(1, 1, 1, 2): 3}]
    """

    K: Entries
    Q: Entries
    V: Entries

    def attention(self) -> Counter[tuple[int, int, int]]:
        """A(ε) = K(ε)ᵀQ(ε): (row, column, power) ↦ coefficient."""
        A: Counter[tuple[int, int, int]] = Counter()
        for row, k, power, x in self.K:
            for other, b, more, z in self.Q:
                if row == other:
                    A[k, b, power + more] += x * z
        return A

    def terms(self) -> dict[int, Vector]:
        """The coefficients of y(ε) by powers of ε, which may be negative; some may be 0."""
        A = self.attention()
        result: defaultdict[int, Counter[Coordinate]] = defaultdict(Counter)
        for c, i, power, x in self.V:
            for (k, b, more), z in A.items():
                result[power + more][c, b, min(i, k), max(i, k)] += x * z
        return {n: {name: x for name, x in vector.items() if x} for n, vector in result.items()}

    def coefficients(self) -> list[Vector]:
        """The coefficients of ε^0, ε^1, ... of y(ε)."""
        terms = self.terms()
        return [terms.get(n, {}) for n in range(max(terms, default=-1) + 1)]

    def tangent_terms(self) -> list[tuple[int, Vector]]:
        """The nonzero ones of v_k, ..., v_{2k−1}, all in T_p, where v_k is the first; with their powers."""
        terms = self.coefficients()
        k = next((power for power in range(1, len(terms)) if terms[power]), len(terms))
        return [(power, vector) for power, vector in enumerate(terms) if k <= power < 2 * k and vector]


@dataclass(frozen=True, repr=False)
class TangentBounds(Described):
    """Two proved bounds on the dimension of the Zariski tangent space T_p M̄ at the points of a stratum.

    Attributes:
        stratum: the stratum; p is its representative.
        dimension: dim M̄.
        how_upper: ``"one reduced preimage"``, ``"gradients of verified equations"`` or
            ``"the ambient space"``.
        arcs: arcs through p with tangent vectors that span a space of dimension ``lower``.
        equations: N − ``upper`` equations with independent gradients at p, where these gave ``upper``.
        fiber: the preimages of p; ``None`` at 0.
    """

    layer: SingleLayer
    stratum: Stratum
    dimension: int
    lower: int
    upper: int
    how_lower: str
    how_upper: str
    arcs: tuple[Arc, ...] = field(repr=False)
    equations: tuple[Equation, ...] = field(repr=False)
    fiber: Fiber | None = field(repr=False)
    evidence: Evidence = Evidence.PROVED

    @property
    def value(self) -> int | None:
        """The dimension of T_p M̄ where the two bounds meet."""
        return self.lower if self.lower == self.upper else None

    @property
    def singular(self) -> bool | None:
        """Whether p is a singular point of M̄; ``None`` if the bounds leave it open."""
        return is_singular(self.dimension, self.lower, self.upper)

    @property
    def _word(self) -> str:
        return {True: "singular", False: "smooth", None: "undecided"}[self.singular]

    def summary(self) -> str:
        """The bounds beside dim M̄, and how they are known."""
        size = f"= {self.lower}" if self.value is not None else f"in [{self.lower}, {self.upper}]"
        relation = {True: ">", False: "=", None: "against"}[self.singular]
        return (
            f"dim T_p {size} {relation} dim M̄ = {self.dimension}: {self._word} "
            f"(from below: {self.how_lower}; from above: {self.how_upper})"
        )

    def sheet(self) -> Sheet:
        """The two bounds, and dim M̄."""
        rows: tuple[tuple[Cell, ...], ...] = (
            (Math(r"\dim T_p \geq"), self.lower, self.how_lower),
            (Math(r"\dim T_p \leq"), self.upper, self.how_upper),
            (Math(r"\dim \overline{\mathcal{M}}"), self.dimension, f"so the point is {self._word}"),
        )
        caption = f"Tangent space of {self.layer.name} at {self.stratum} ({self.evidence})"
        return Sheet(self.summary(), (Table(caption, (), rows),))


def representative_point(layer: SingleLayer, stratum: Stratum) -> Vector:
    """The nonzero coordinates of y at the representative of a stratum.

    >>> representative_point(SingleLayer(3, 2, 2), Stratum(1, 2, 3))
    {(1, 1, 1, 3): 1, (1, 2, 2, 3): 1}
    """
    y = coefficients(layer, *representative(layer, stratum))
    return {name: value for name, value in zip(coordinates(layer), y, strict=True) if value}


@lru_cache(maxsize=4096)
def tangent_bounds(layer: SingleLayer, stratum: Stratum, max_degree: int = MAX_DEGREE) -> TangentBounds:
    """Bound dim T_p M̄ from both sides at a stratum; equations are searched up to degree ``max_degree``.

    Raises:
        InputError: if the stratum is not one of the layer's, or if t = 1.

    >>> tangent_bounds(SingleLayer(2, 2, 2), Stratum(1, 1, 1)).value
    9
    """
    require_stratum(layer, stratum)
    ambient = layer.ambient_dimension
    fiber = None if stratum.is_zero else stratum_fiber(layer, stratum)
    if fiber is None:
        how, arcs, lower = "lines", tuple(arcs_through_zero(layer)), ambient
    else:
        how, candidates = "first-order arcs", list[Arc]()
        for point in fiber.points:
            candidates.extend(first_order_arcs(layer, point.A, point.V))
            if kernel_of_differential(point.A, point.V, modulo_scaling=True):
                candidates.extend(second_order_arcs(layer, point.A, point.V))
                how = "arcs of first and second order"
        if len(fiber.points) > 1:
            how += f" through {len(fiber.points)} preimages"
        vectors = [(arc, vector) for arc in candidates for _, vector in arc.tangent_terms()]
        basis = list(independent_vectors(vector for _, vector in vectors))
        lower, arcs = len(basis), tuple(dict.fromkeys(vectors[n][0] for n in basis))
    equations: tuple[Equation, ...] = ()
    if fiber is not None and is_one_reduced_point(fiber):
        upper, how_upper = source_tangent_dimension(layer, stratum), "one reduced preimage"
    elif lower == ambient:
        upper, how_upper = ambient, "the ambient space"
    else:
        point_of = representative_point(layer, stratum)
        equations = independent_gradients(layer, point_of, ambient - lower, max_degree)
        upper, how_upper = ambient - len(equations), "gradients of verified equations"
    return TangentBounds(
        layer, stratum, neuromanifold_dimension(layer), lower, upper, how, how_upper, arcs, equations, fiber
    )


def tangent_space(layer: SingleLayer, stratum: Any) -> TangentBounds:
    """The Zariski tangent space of M̄ at the points of a stratum, with both bounds on its dimension proved.

    Args:
        layer: one layer with t ≥ 2.
        stratum: three ranks (r_V, r_A, r), such as ``(2, 1, 2)``; or exact weights, whose stratum is taken.

    Raises:
        InputError: for a network, or if the layer has no such stratum.

    See Also:
        :func:`agattn.strata`, :func:`agattn.singularities`, :func:`agattn.ideal`; ``agattn strata`` in a
        shell.

    >>> import agattn as ag
    >>> at = ag.tangent_space(ag.SingleLayer(2, 1), ag.weights(A=[[1, 2], [2, 4]], V=[[1, 3]]))
    >>> str(at.stratum), at.value, at.singular
    ('(1,1,2)', 6, True)
    """
    layer = one_layer(layer, "tangent spaces", "for a network use ag.dimension")
    if isinstance(stratum, (Weights, Mapping)):
        w = weights_of_layer(layer, stratum)
        if not w.is_exact:
            raise InputError("the weights are in floating point, where ranks are a choice; give the ranks")
        return tangent_bounds(layer, stratum_of(w.A.tolist(), w.V.tolist()))
    return tangent_bounds(layer, stratum_of_ranks(stratum))


def is_singular(dimension: int, lower: int, upper: int) -> bool | None:
    """Whether a variety is singular where its tangent space has these bounds; ``None`` if they leave it open.

    >>> is_singular(13, 14, 20), is_singular(13, 13, 13), is_singular(13, 13, 14)
    (True, False, None)
    """
    return True if lower > dimension else False if upper == dimension else None


def is_one_reduced_point(fiber: Fiber) -> bool:
    """Whether a fiber is a single reduced point, so that the projective map is a closed immersion there."""
    return fiber.number == 1 and [p.length for p in fiber.points] == [1]


def source_tangent_dimension(layer: SingleLayer, stratum: Stratum) -> int:
    """The dimension of the Zariski tangent space of the source, modulo scaling, at preimages of a stratum.

    It is dim T_A D_α + d'd − 1; T_A D_α is everything at A of rank below α, and D_α is smooth elsewhere.
    """
    d, alpha = layer.d, layer.alpha
    attention = alpha * (2 * d - alpha) if stratum.r_a == alpha else d * d
    return attention + layer.d_out * d - 1


def independent_gradients(
    layer: SingleLayer, point: Vector, enough: int, max_degree: int = MAX_DEGREE
) -> tuple[Equation, ...]:
    """Verified equations with independent gradients at a sparse point: ``enough``, or up to ``max_degree``.

    >>> layer = SingleLayer(3, 1, 3)
    >>> equations = independent_gradients(layer, {(1, 1, 1, 2): 1}, enough=3)
    >>> [equation.degree for equation in equations]
    [3, 3, 3]
    """
    kept: list[Equation] = []

    def gradients() -> Iterator[Vector]:
        for equation in gradient_equations(layer, point, max_degree):
            kept.append(equation)
            yield equation.gradient(point)

    return tuple(kept[n] for n in islice(independent_vectors(gradients()), enough))


def _entries(matrix: Matrix) -> Entries:
    """The nonzero entries of an integer matrix, as those of representatives are; ValueError for another."""
    entries = [(i, k, x) for i, row in enumerate(matrix, 1) for k, x in enumerate(row, 1) if x]
    if any(int(x) != x for *_, x in entries):
        raise ValueError("arcs are written with integers; scale the matrices first")
    return tuple((i, k, 0, int(x)) for i, k, x in entries)


def first_order_arcs(layer: SingleLayer, A: Matrix, V: Matrix) -> Iterator[Arc]:
    """Arcs (A + εȦ, V) and (A, V + εV̇) of rank ≤ a through an integer pair (A, V).

    Where rk A < α they add ε times a rank-one matrix, so their directions Ȧ span all d × d matrices; where
    rk A = α they move one of the factors K and Q, which spans the tangent space of D_α.
    """
    K, Q = (_entries(factor) for factor in canonical_factors(A, layer.d))
    rank, fixed = max((row for row, *_ in K), default=0), _entries(V)
    indices = range(1, layer.d + 1)
    for c, i in product(range(1, layer.d_out + 1), indices):
        yield Arc(K, Q, (*fixed, (c, i, 1, 1)))
    if rank < layer.alpha:
        for k, b in product(indices, repeat=2):
            yield Arc((*K, (rank + 1, k, 0, 1)), (*Q, (rank + 1, b, 1, 1)), fixed)
    else:
        for row, k in product(range(1, rank + 1), indices):
            yield Arc((*K, (row, k, 1, 1)), Q, fixed)
            yield Arc(K, (*Q, (row, k, 1, 1)), fixed)


def second_order_arcs(layer: SingleLayer, A: Matrix, V: Matrix) -> Iterator[Arc]:
    """Arcs along the kernel of dφ at an integer pair A = k qᵀ, V = h kᵀ; other pairs with y ≠ 0 have none.

    The kernel directions are (w qᵀ, −h wᵀ). The arc along w adds ε² times one more matrix to A or V, or
    nothing; within rank 1 it moves q by ε² instead. Sums of two unit vectors w give the mixed terms of
    −h⊗q⊗w².
    """
    (k,), (q,) = canonical_factors(A, 1)
    first = next(i for i, x in enumerate(k) if x)
    K, Q, fixed = _entries([k]), _entries([q]), _entries(V)
    h = _entries([[row[first] / k[first]] for row in V])
    indices = range(1, layer.d + 1)

    def along(w: set[int]) -> tuple[Entries, Entries]:
        moved = ((1, i, 1, 1) for i in sorted(w))
        backwards = ((c, i, 1, -x) for c, _, _, x in h for i in sorted(w))
        return (*K, *moved), (*fixed, *backwards)

    for i in indices:
        for j in range(i, layer.d + 1):
            moved, backwards = along({i, j})
            yield Arc(moved, Q, backwards)
        moved, backwards = along({i})
        for c, n in product(range(1, layer.d_out + 1), indices):
            yield Arc(moved, Q, (*backwards, (c, n, 2, 1)))
        for s in indices:
            if layer.alpha == 1:
                yield Arc(moved, (*Q, (1, s, 2, 1)), backwards)
            else:
                for m in indices:
                    yield Arc((*moved, (2, m, 0, 1)), (*Q, (2, s, 2, 1)), backwards)


def arcs_through_zero(layer: SingleLayer) -> Iterator[Arc]:
    """The lines ε·y, which lie in the cone M̄, for y with one nonzero coordinate."""
    for c, b, i, k in coordinates(layer):
        yield Arc(((1, k, 0, 1),), ((1, b, 0, 1),), ((c, i, 1, 1),))


Name = Literal["smooth", "determinantal", "crossing", "pinch", "cone", "unknown"]


class LocalType(Result):
    """What a variety looks like near a point: in one word, and in a sentence."""

    name: Key[Name, "The name of the type."]
    description: Key[str, "The type in a sentence."]


def local_type(layer: SingleLayer, stratum: Stratum) -> LocalType:
    """Name the local type of M̄ at a stratum where it can be told.

    Raises:
        InputError: if the stratum is not one of the layer's, or if t = 1.

    >>> print(local_type(SingleLayer(3, 2, 2), Stratum(2, 1, 3)).description)
    2 × 2 matrices of rank ≤ 1 at 0, times a smooth factor of dimension 10
    """
    bounds = tangent_bounds(layer, stratum)
    if bounds.singular is False:
        return LocalType("smooth", "smooth")
    if bounds.fiber is None:
        return LocalType("cone", "the apex of the cone M̄")
    if bounds.value is None:
        return LocalType("unknown", "the bounds on the tangent space do not meet")
    dim, excess = bounds.dimension, bounds.lower - bounds.dimension

    def times_smooth(name: Name, germ: str, dimension: int) -> LocalType:
        return LocalType(name, f"{germ}, times a smooth factor of dimension {dim - dimension}")

    if is_one_reduced_point(bounds.fiber):
        n, rank = layer.d - stratum.r_a, layer.alpha - stratum.r_a
        germ = f"{n} × {n} matrices of rank ≤ {rank} at 0"
        return times_smooth("determinantal", germ, rank * (2 * n - rank))
    if layer.a == layer.d_out == 1:
        n = layer.d - 1
        return times_smooth("determinantal", f"symmetric {n} × {n} matrices of rank ≤ 1 at 0", n)
    source = "smooth" if source_tangent_dimension(layer, stratum) == dim else "singular"
    if len(bounds.fiber.points) == 2:
        if source == "singular":
            return LocalType("crossing", "two sheets cross, each of them singular (determinantal)")
        # Both sheets are immersed, and the arcs that fill T_p M̄ are of first order: T_p M̄ is the sum of
        # their tangent spaces.
        transversal = dim - excess == image_dimension(layer, stratum)
        how = f"with tangent spaces that meet in dimension {dim - excess}"
        how = "transversally along the stratum" if transversal else how
        return LocalType("crossing", f"two smooth sheets of dimension {dim} cross {how}")
    [point] = bounds.fiber.points
    kernel = len(kernel_of_differential(point.A, point.V, modulo_scaling=True))
    if source == "singular" or kernel > 1:
        return LocalType("pinch", f"a {source} source folded along {kernel} directions")
    if excess == 1:  # without a comma, as it is one thing
        return LocalType("pinch", f"Whitney umbrella times a smooth factor of dimension {dim - 2}")
    return times_smooth("pinch", f"generalized Whitney umbrella in codimension {excess}", 1 + excess)
