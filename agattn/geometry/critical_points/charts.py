r"""Strata of M̄ in coordinates without redundancy, and the equations of critical points there.

**Strata.** The points of the stratum (r_V, r_A, r) are y = φ_{A,V} where the row space of V and the column
space of A lie in a common space U of dimension r. With bases in echelon form, W = (1 B) times a fixed
invertible matrix,

.. math:: V = H\, W_V W_U, \qquad A = W_U^{\mathsf T} W_A^{\mathsf T} Q,

which is one-to-one up to the scale (sA, V/s) where r_V, r_A and r are the ranks. On (1,1,2), where (A, V) has
two preimages, the form k·v is taken as a whole instead: y = h ⊗ q ⊗ S for a symmetric S of rank 2 on a
space U of dimension 2. So the real points outside M are found, too: those with S definite. *Regular points*
of M̄ are those with A of rank α = min(a, d) and V ≠ 0, not both of rank one: A = W_UᵀQ with U of dimension
α, and V free. For a = d' = 1 they are those of (1,1,2).

**Equations.** Let y be linear in one factor x, and the other factors be normalized by an affine form of their
entries; θ are the coordinates of those. L is a quadratic function of y, so the critical points are the zeros
of (Gy − b)·∂y for the derivatives ∂ by all coordinates. Where x has more entries than θ, x = 0 solves them
for special b only. Otherwise *all* factors are normalized and y = λ·u(θ). Then ∂y/∂θ = λ ∂u/∂θ, and the
equations are divided by λ: (Gy − b)·∂u/∂θ = 0 and (Gy − b)·u = 0, whose zeros with λ = 0 are the singular
points of {b = 0} on the projective stratum: none for general b.

A chart leaves out a hyperplane for each factor that is normalized, and for each basis: those where a minor of
the first coordinates is 0, or random ones. Critical points for general data are on none of these.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.strata.strata import Stratum
>>> for seed in (FIRST, 0):
...     chart = chart_of(SingleLayer(2, 1), Stratum(1, 1, 1), seed)       # y = q ⊗ k²
...     print(chart.ring, chart.linear, chart.y[0].factors())
QQ[q_1, q_2, b_1] q [(q_1, 1)]
QQ[q_1, q_2, b_1] q [(q_1, 1), (b_1 + 1, 2)]
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, cast

import flint
import numpy as np

from agattn.algebra.interval_newton import evaluate
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, all_minors
from agattn.algebra.scalars import Array
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.critical_points.loss import Loss, unimodular
from agattn.geometry.strata.strata import (
    Stratum,
    open_stratum,
    require_stratum,
    require_two_tokens,
    singular_by_ranks,
    strata,
)
from agattn.geometry.variety.coordinates import coefficients

PAIR = Stratum(1, 1, 2)

Shapes = dict[str, tuple[int, int]]


def singular_strata(layer: SingleLayer) -> tuple[Stratum, ...]:
    """The strata of singular points of M̄, without 0.

    >>> [str(s) for s in singular_strata(SingleLayer(2, 1))]
    ['(1,1,1)', '(1,1,2)']
    """
    return tuple(s for s in strata(layer)[1:] if singular_by_ranks(layer, s))


@dataclass(frozen=True, eq=False)
class Chart:
    """An open part of a stratum, or of the regular points of M̄, in as many coordinates as it has dimensions.

    Attributes:
        layer: the layer.
        stratum: the open stratum of what is parametrized.
        ring: the coordinates.
        factors: matrices of polynomials: ``V``, ``K``, ``Q`` with A = KᵀQ; for (1,1,2) ``h``, ``q``, ``W``,
            ``S``.
        regular: whether these are regular points of M̄, of whatever stratum.
        linear: the letter of the factor in which y is linear and which is not normalized; "" if there is
            none.
        forms: for each factor that is normalized, an affine form: its first entry is 1 plus this
            combination of the others.
    """

    layer: SingleLayer
    stratum: Stratum
    ring: PolynomialRing
    factors: Mapping[str, Array]
    regular: bool
    linear: str
    forms: Mapping[str, tuple[int, ...]]

    @cached_property
    def y(self) -> tuple[Polynomial, ...]:
        """The N coordinates as polynomials in the coordinates of the chart."""
        if not self.is_pair:
            V, K, Q = (self.factors[name] for name in "VKQ")
            return tuple(coefficients(self.layer, K.T @ Q, V))
        h, q, W, S = (self.factors[name] for name in "hqWS")
        form = W.T @ S @ W
        squares = [form[i, k] * (1 if i == k else 2) for i, k in zip(*np.triu_indices(len(q)), strict=True)]
        return tuple(np.multiply.outer(np.multiply.outer(h, q), np.array(squares, dtype=object)).ravel())

    @property
    def is_pair(self) -> bool:
        """Whether points are h ⊗ q ⊗ S, with two preimages each."""
        return "S" in self.factors

    @property
    def name(self) -> str:
        """What is parametrized, in words."""
        return "the smooth part" if self.regular else f"the stratum {self.stratum}"

    @cached_property
    def parameters(self) -> tuple[Polynomial, ...]:
        """θ: the coordinates outside of the linear factor; without one, all but λ."""
        return self.ring.gens[len(_with_letter(self.ring, self.linear or "lambda")) :]

    @cached_property
    def scales(self) -> tuple[Polynomial, ...]:
        """For each coordinate the factor by which its equation was divided: λ or 1."""
        one = self.ring.one()
        scale = one if self.linear else self.ring.gens[0]
        return (one, *(scale for _ in self.ring.gens[1:]))

    def equations(self, loss: Loss) -> list[Polynomial]:
        """The equations of critical points, as many as coordinates, divided by :attr:`scales`."""
        force = [entry / 2 for entry in loss.gradient(self.y)]
        shape = list(self.y) if self.linear else [y.derivative(self.ring.gens[0]) for y in self.y]  # u
        rows = [[f.derivative(x) for f in shape] for x in self.ring.gens]
        if not self.linear:
            rows[0] = shape
        zero = self.ring.zero()
        return [sum((f * g for f, g in zip(force, row, strict=True) if g), zero) for row in rows]

    def at(self, matrices: Sequence[Array], point: Sequence[Any]) -> list[Array]:
        """Matrices of polynomials at a point of balls."""
        return [np.array(evaluate(list(M.ravel()), point), dtype=object).reshape(M.shape) for M in matrices]

    @property
    def avoided(self) -> Polynomial | None:
        """Where this is 0 the equations have other solutions: for d ≥ 3 det S, on (1,1,2); else ``None``.

        At S = k² every U that contains k gives the same y, so that there are solutions over critical points
        on (1,1,1).
        """
        if not self.is_pair or self.layer.d == 2:
            return None
        S = self.factors["S"]
        return cast(Polynomial, S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0])

    @cached_property
    def _full(self) -> tuple[tuple[tuple[Array, int], ...], ...]:
        """A point is in the part parametrized iff of each group one matrix has at least its rank there."""
        if self.is_pair:
            pairs = zip("hqS", (1, 1, 2), strict=True)
            return tuple(((np.atleast_2d(self.factors[name]), rank),) for name, rank in pairs)
        V, K, Q = (self.factors[name] for name in ("V", "K", "Q"))
        ranks = self.stratum
        if not self.regular:
            both = ((np.vstack([V, Q.T @ K]), ranks.r),)
            joint = (both,) if ranks.r > max(ranks.r_v, ranks.r_a) else ()
            return ((V, ranks.r_v),), ((Q, ranks.r_a),), *joint
        if self.layer.alpha < self.layer.d:
            return ((V, 1 if ranks.r_a > 1 else 2),), ((Q, ranks.r_a),)  # not both of rank one
        rank = min(2, self.layer.d)
        return ((V, 1),), ((Q, 1),), ((V, rank), (K.T @ Q, rank))

    @cached_property
    def outside(self) -> tuple[tuple[Polynomial, ...], ...]:
        """Groups of polynomials: a point is not in the part parametrized iff all of one group are 0 there."""
        return tuple(
            tuple(f for M, rank in group for f in all_minors(M.tolist(), rank) if f) for group in self._full
        )

    @property
    def lower(self) -> tuple[tuple[Polynomial, ...], ...]:
        """Ideals of points with lower ranks, but not 0: a general loss is critical at none of them."""
        ideals = zip(self._full, self.outside, strict=True)
        return tuple(ideal for group, ideal in ideals if max(rank for _, rank in group) > 1)

    def is_inside(self, at: Sequence[Any]) -> bool:
        """Whether a point of balls, real or complex, is proved to be in the part parametrized."""
        groups = (zip(self.at([M for M, _ in group], at), group, strict=True) for group in self._full)
        return all(any(_has_rank(M, rank) for M, (_, rank) in group) for group in groups)

    def near(self, A: Array, V: Array) -> list[float] | None:
        """The coordinates of φ_{A,V} in a chart of the regular part, with the nearest A of rank α, in floats.

        ``None`` if that point is at infinity in this chart, as for A = 0 or V = 0 in every one.
        """
        rank = self.layer.alpha
        left, sizes, right = np.linalg.svd(A)
        A = (left[:, :rank] * sizes[:rank]) @ right[:rank]
        values: dict[str, Array] = {}
        if self.is_pair:
            k, h, q = left[:, 0], V @ np.linalg.svd(V)[2][0], sizes[0] * right[0]
            v = np.linalg.svd(V)[2][0]
            W = self._basis("W", np.stack([k, v]), values)
            back = np.linalg.pinv(W)
            S = back.T @ (np.outer(k, v) + np.outer(v, k)) @ back / 2
            values |= {"h": h, "q": q, "s": S[[0, 0, 1], [0, 1, 1]]}
        else:
            K = self._basis("K", left[:, :rank].T, values)
            values |= {"v": V.ravel(), "q": np.linalg.lstsq(K.T, A, rcond=None)[0].ravel()}
        scale = 1.0
        for name, form in self.forms.items():
            size = float(values[name][0] - np.array(form) @ values[name][1:])
            if abs(size) < 1e-9 * np.abs(values[name]).max() or not size:
                return None
            scale *= size
            values[name] = values[name][1:] / size
        values |= {self.linear: values[self.linear] * scale} if self.linear else {"lambda": np.array([scale])}
        letters = [(v.letter, v.indices[0] - 1 if v.indices else 0) for v in self.ring.variables]
        return [float(values[letter][i]) for letter, i in letters]

    def _basis(self, name: str, rows: Array, values: dict[str, Array]) -> Array:
        """The basis (I B)·LU that the chart has of the row space; its coordinates go to ``values``."""
        size, first = len(rows), self.factors[name][0]
        free = _with_letter(self.ring, "b")[: rows.shape[1] - size]  # the first row of B
        top = [[float(f.constant) for f in row] for row in self.factors[name]]
        turn = np.array(top + [[float(f.derivative(x).constant) for f in first] for x in free])
        left, right = np.split(rows @ np.linalg.inv(turn), [size], axis=1)
        B: Array = np.linalg.lstsq(left, right, rcond=None)[0]
        values["b"] = B.ravel()
        return np.asarray(np.hstack([np.eye(size), B]) @ turn)


#: The seed of charts with fewest terms: they leave out points where a minor of the first coordinates is 0.
FIRST = -1
#: The seed of charts with so many choices of hyperplanes that no given point is on one of those left out.
GENERAL = 40


def _with_letter(ring: PolynomialRing, letter: str) -> list[Polynomial]:
    """The variables with a letter."""
    return [x for x, v in zip(ring.gens, ring.variables, strict=True) if v.letter == letter]


def _has_rank(M: Array, rank: int) -> bool:
    """Whether a minor of this size of a matrix of balls excludes 0."""
    kind: Any = flint.acb_mat if isinstance(M[0, 0], flint.acb) else flint.arb_mat
    return any(
        not kind(M[np.ix_(rows, columns)].tolist()).det().contains(0)
        for rows in combinations(range(len(M)), rank)
        for columns in combinations(range(M.shape[1]), rank)
    )


def _shapes(layer: SingleLayer, ranks: Stratum, regular: bool) -> tuple[Shapes, Shapes]:
    """The numbers of rows and columns of factors and of bases, by their letters."""
    d, e, r_v, r_a, r = layer.d, layer.d_out, ranks.r_v, ranks.r_a, ranks.r
    if ranks == PAIR:
        return {"h": (1, e), "q": (1, d), "s": (1, 3)}, {"b": (2, d)}
    if regular:
        return {"v": (e, d), "q": (r_a, d)}, {"b": (r_a, d)}
    return {"h": (e, r_v), "q": (r_a, d)}, {"b": (r, d), "f": (r_v, r), "g": (r_a, r)}


@lru_cache(maxsize=64)
def chart_of(layer: SingleLayer, stratum: Stratum | None = None, seed: int = 0) -> Chart:
    """A chart of a stratum, or of the regular part of M̄ if there is none given.

    Args:
        layer: the layer.
        stratum: one of :func:`agattn.geometry.strata.strata.strata`, but 0.
        seed: of the hyperplanes that the chart leaves out.

    Raises:
        InputError: if the layer has no such stratum, or for 0, or for one token.
    """
    require_two_tokens(layer)
    ranks = stratum or open_stratum(layer)
    require_stratum(layer, ranks)
    if ranks.is_zero:
        raise InputError("the function 0 is a stratum by itself; every loss is critical on a point")
    shapes, bases = _shapes(layer, ranks, stratum is None)
    sizes = {name: rows * columns for name, (rows, columns) in shapes.items()}
    free = {name: rows * (columns - rows) for name, (rows, columns) in bases.items()}
    linear = max(reversed(sizes), key=lambda name: sizes[name])
    if 2 * sizes[linear] <= sum(sizes.values()) - len(sizes) + 1 + sum(free.values()):
        linear = ""  # x = 0 would solve too many equations
    # The linear factor or λ comes first, then normalized factors, which have one entry less, and bases.
    counts = {linear: sizes[linear]} if linear else {}
    counts |= {name: size - 1 for name, size in sizes.items() if name != linear} | free
    variables = [Variable(name, (n + 1,)) for name, count in counts.items() for n in range(count)]
    ring = PolynomialRing(variables if linear else [Variable("lambda"), *variables])
    entries = {name: _with_letter(ring, name) for name in counts}
    draw, turns = random.Random(f"{layer.name} {ranks} {seed}"), (-2, -1, 1, 2)
    slopes: tuple[int, ...] = (-1, 1) if seed > FIRST else (0,)
    if seed > 1:  # other ones for other seeds: finitely many points are all in some chart
        slopes = turns = (*range(-seed - 1, -1), *range(2, seed + 2))
    forms: dict[str, tuple[int, ...]] = {}

    def factor(name: str) -> Array:
        """A factor; if it is normalized, its first entry is 1 + Σ cᵢxᵢ, with xᵢ the other entries."""
        numbers = entries[name]
        if name != linear:
            form = forms[name] = tuple(draw.choice(slopes) for _ in numbers)
            first = sum((c * x for c, x in zip(form, numbers, strict=True)), ring.one())
            numbers = [first, *numbers]
        return np.array(numbers, dtype=object).reshape(shapes[name])

    def basis(name: str) -> Array:
        """The rows (I B)·LU, with L and U unitriangular, so that the hyperplanes left out become general."""
        rows, columns = bases[name]
        B = np.array(entries[name], dtype=object).reshape(rows, columns - rows)
        W = np.hstack([np.eye(rows, dtype=object) * ring.one(), B])
        if rows == columns or seed == FIRST:
            return W
        return np.asarray(W @ unimodular(columns, lambda: draw.choice(turns)))

    scale = ring.one() if linear else ring.gens[0]  # λ
    if ranks == PAIR:
        [h], [q], [[a, b, c]] = map(factor, "hqs")
        S = np.array([[a, b], [b, c]], dtype=object)
        factors = {"h": h * scale, "q": q, "W": basis("b"), "S": S}
    elif stratum is None:
        factors = {"V": factor("v") * scale, "K": basis("b"), "Q": factor("q")}
    else:
        U, H = basis("b"), factor("h") * scale
        factors = {"V": H @ basis("f") @ U, "K": basis("g") @ U, "Q": factor("q")}
    return Chart(layer, ranks, ring, factors, stratum is None, linear, forms)
