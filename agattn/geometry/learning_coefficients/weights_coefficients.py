r"""Learning coefficients at the weights of one layer, and at those of the heads of a checkpoint.

>>> given = parameters(K=[[1.0, 0], [0, 1e-3]], Q=[[1.0, 0], [0, 1]], V=[[1.0, 1e-2]])
>>> found = weights_coefficient(given, curve=True)
>>> print(found, found.deficit)
λ = 5/2, m = 1 (numerical) 5/2
>>> print("; ".join(map(str, found.curve)))
5/2 from 1e-12; 5/2 from 0.001; 9/4 from 0.005
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from agattn.algebra.scalars import TOLERANCE, Array, as_floats, decide_rank, is_exact, matrix, scaled
from agattn.architectures import SingleLayer
from agattn.errors import InputError, UndecidedError
from agattn.evidence import Evidence
from agattn.geometry.identifiability.weights import Weights, weights
from agattn.geometry.learning_coefficients.learning_coefficients import (
    CoefficientPoint,
    LearningCoefficient,
    MatrixProduct,
    Term,
    factored,
    free_entries,
    layer_coefficient,
    smaller,
    together,
)
from agattn.geometry.strata.strata import Stratum
from agattn.sheet.data import Cell, Note, Sheet, Table
from agattn.sheet.result import UNSET, Count, Key, Meta, Named, Result, UnsetType

NOT_MINIMIZERS = (
    "Ranks of floating weights are decided at a tolerance, and trained weights are not exact minimizers of a"
    " loss: λ is that of the truth whose weights have these ranks."
)
Tolerance = Annotated[float, Meta(ge=0)]
Normalization = Literal["none", "softmax"]


class CurveStep(Result):
    """λ from a tolerance on."""

    tolerance: Key[Tolerance, "From this tolerance on, up to that of the next step."]
    value: Key[Fraction, "λ at these ranks.", Named("lambda")]

    def summary(self) -> str:
        """λ, and the tolerance from which on λ has this value."""
        return f"{self.value} from {self.tolerance:.2g}"


class AtWeights(CoefficientPoint, kw_only=True):
    """The learning coefficient at given weights."""

    deficit: Key[Fraction, "Half the number of parameters less λ."]
    curve: Key[tuple[CurveStep, ...] | UnsetType, "λ by the tolerance of ranks; with --curve only."] = UNSET


class AtHead(AtWeights, kw_only=True):
    """The learning coefficient at a head of a checkpoint."""

    layer: Key[Count, "The layer of the checkpoint, from 0."]
    head: Key[Count, "The head of the layer, from 0."]


class WeightsCoefficient(Result, name="rlct"):
    """The learning coefficient at the weights of one layer, with the layer."""

    layer: Key[SingleLayer, "The layer.", Named("architecture")]
    normalization: Key[Normalization, "The normalization of the head."]
    weights: Key[AtWeights, "λ at the weights in FILE."]

    def summary(self) -> str:
        """λ and m."""
        return str(self.weights)

    def sheet(self) -> Sheet:
        """The summands of λ."""
        layer, point = self.layer, self.weights
        at = f"; stratum {point.stratum}"
        if not layer.has_orbits:
            at = f", t = 1; rk V = {point.r_v}, rk A = {point.r_a}"
        if point.rank_k is not None:
            at += f", rk K = {point.rank_k}, rk Q = {point.rank_q}"
        lines = [f"{point}, of which", *(f"  {term.value!s:>6}  {term.reason}" for term in point.terms)]
        lines.append(f"{point.deficit} below half the number of parameters")
        tables = (replace(table, where="page") for table in point.sheet().tables)
        title = f"d = {layer.d}, d' = {layer.d_out}, a = {layer.a}{at}"
        return Sheet(title, (*tables, Note("\n".join(lines), apart=False), *_notes([(0, 0, point)])))


class HeadsCoefficients(Result, name="rlct"):
    """The learning coefficients of the heads of a checkpoint."""

    normalization: Key[Normalization, "The normalization of the heads."]
    tolerance: Key[Tolerance, "The tolerance with which ranks were decided."]
    heads: Key[tuple[AtHead, ...], "λ of each head of a checkpoint."]

    def summary(self) -> str:
        """How many heads there are."""
        return f"Learning coefficients of {len(self.heads)} heads"

    def sheet(self) -> Sheet:
        """A row for each head."""
        rows: list[tuple[Cell, ...]] = []
        for at in self.heads:
            ranks = (0 if rank is None else rank for rank in (at.r_v, at.r_a, at.r, at.rank_k, at.rank_q))
            rows.append((at.layer, at.head, *ranks, str(at.value), at.multiplicity, str(at.deficit)))
        headings = ("layer", "head", "rk V", "rk A", "r", "rk K", "rk Q", "λ", "m", "params/2 − λ")
        heads = [(at.layer, at.head, at) for at in self.heads]
        return Sheet("", (Table("", headings, tuple(rows)), *_notes(heads)))


def _notes(heads: Sequence[tuple[int, int, AtWeights]]) -> tuple[Note, ...]:
    """λ at every tolerance, where that was asked for, and what ranks to a tolerance mean."""
    lines = [
        f"layer {layer}, head {head}: λ = {'; '.join(map(str, at.curve))}"
        for layer, head, at in heads
        if at.curve is not UNSET
    ]
    if any(at.evidence is Evidence.NUMERICAL for *_, at in heads):
        lines.append(NOT_MINIMIZERS)
    return (Note("\n".join(lines), apart=False),) if lines else ()


@dataclass(frozen=True, eq=False)
class Parameters:
    """Weights of one layer as the parameters that they are: A or (K, Q), and V or (W_O, W_V)."""

    weights: Weights
    output: tuple[Array, Array] | None = None

    @property
    def layer(self) -> SingleLayer:
        """The layer, for t ≥ 2."""
        return SingleLayer(len(self.weights.A), len(self.weights.V), self.weights.a)

    @property
    def number(self) -> int:
        """The number of parameters."""
        w = self.weights
        arrays = [*((w.A,) if w.K is None else (w.K, w.Q)), *(self.output or (w.V,))]
        return sum(M.size for M in arrays if M is not None)

    @cached_property
    def spectra(self) -> dict[str, Array]:
        """Singular values of K, Q, A, W_O, W_V, V and [V; Aᵀ], its blocks scaled; relative to the largest.

        An A or V that is a product is reduced by isometries to its inner width first.

        >>> {name: values.tolist() for name, values in parameters(A=[[2.0]], V=[[0.5]]).spectra.items()}
        {'A': [1.0], 'V': [1.0], 'joint': [1.0]}
        """
        w = self.weights
        sizes = {name: _singular_values(M) for name, M in (("K", w.K), ("Q", w.Q)) if M is not None}
        A, V = w.A.T, w.V
        if w.K is not None and w.Q is not None:
            K, Q = (scaled(as_floats(M))[0] for M in (w.K, w.Q))
            A = np.linalg.qr(Q.T, mode="r") @ K
        if self.output is not None:
            W_O, W_V = (scaled(as_floats(M))[0] for M in self.output)
            sizes |= {"W_O": _singular_values(W_O), "W_V": _singular_values(W_V)}
            V = np.linalg.qr(W_O, mode="r") @ W_V
        blocks = [scaled(as_floats(M))[0] for M in (V, A)]
        of_v, of_a = map(_singular_values, blocks)
        joint = [block / (sigma[0] or 1.0) for block, sigma in zip(blocks, (of_v, of_a), strict=True)]
        sizes |= {"A": of_a, "V": of_v, "joint": _singular_values(np.concatenate(joint))}
        return {name: sigma / (sigma[0] or 1.0) for name, sigma in sizes.items()}


def parameters(*, V: Any = None, W_O: Any = None, W_V: Any = None, **attention: Any) -> Parameters:
    """Parameters from arrays K, Q (a × d) or A (d × d), and V (d' × d) or W_O (d' × b), W_V (b × d).

    Raises:
        InputError: if matrices are missing, do not fit, or have entries that are not finite numbers.

    >>> parameters(A=[[1, 0], [0, 1]], W_O=[[1]], W_V=[[1, 2]]).weights.V.tolist()
    [[Fraction(1, 1), Fraction(2, 1)]]
    """
    if (W_O is None) != (W_V is None) or (V is None) == (W_O is None):
        names = [name for name, M in (("V", V), ("W_O", W_O), ("W_V", W_V)) if M is not None]
        there = " and ".join(names) or "none of these"
        raise InputError(f"weights have either V, or W_O and W_V with V = W_O W_V; there is {there}")
    if V is not None:
        return Parameters(weights(V=V, **attention))
    W_O, W_V = matrix(W_O, "W_O"), matrix(W_V, "W_V")
    if W_O.shape[1] != len(W_V):
        shapes = [f"{len(M)} × {M.shape[1]}" for M in (W_O, W_V)]
        raise InputError(f"W_O is {shapes[0]} and W_V is {shapes[1]}; they must be d' × b and b × d")
    if not is_exact(W_O, W_V):
        W_O, W_V = as_floats(W_O), as_floats(W_V)
    return Parameters(weights(V=W_O @ W_V, **attention), (W_O, W_V))


def _singular_values(M: Array) -> Array:
    """The singular values of a scaled matrix; a long or wide matrix is first made small by an isometry."""
    M = scaled(as_floats(M))[0]
    M = M if len(M) > M.shape[1] else M.T
    sigma: Array = np.linalg.svd(np.linalg.qr(M, mode="r"), compute_uv=False)
    return sigma


def _ranks(given: Parameters, tolerance: float) -> dict[str, int]:
    """The ranks, exact or at a tolerance; those of products and of [V; Aᵀ] within what their parts allow."""
    w = given.weights
    if w.is_exact:
        matrices = {"V": w.V, "A": w.A, "joint": np.concatenate([w.V, w.A.T]), "K": w.K, "Q": w.Q}
        matrices |= dict(zip(("W_O", "W_V"), given.output or (), strict=False))
        return {name: decide_rank(M).rank for name, M in matrices.items() if M is not None}
    ranks = {name: int((sigma > tolerance).sum()) for name, sigma in given.spectra.items()}
    for product, left, right, inner in (
        ("A", "K", "Q", w.a),
        ("V", "W_O", "W_V", len(given.output[1]) if given.output else 0),
    ):
        if left in ranks:
            least = max(0, ranks[left] + ranks[right] - inner)
            ranks[product] = min(max(ranks[product], least), ranks[left], ranks[right])
    r_v, r_a = ranks["V"], ranks["A"]
    ranks["joint"] = min(max(ranks["joint"], r_v, r_a), len(w.A), r_v + r_a)
    return ranks


def weights_coefficient(
    given: Parameters,
    *,
    t: int = 2,
    softmax: bool = False,
    tolerance: float = TOLERANCE,
    curve: bool = False,
) -> AtWeights:
    """λ and m at given weights, and how far λ is below half the number of parameters.

    Entries that are integers or rationals are exact, and λ is proved; for floats the ranks are the numbers of
    singular values above the tolerance, relative to the largest, and λ is numerical. Those of KᵀQ and of
    [V; Aᵀ] are kept within what the ranks of their parts allow.

    Args:
        given: the parameters; see :func:`parameters`.
        t: 1 for one token; otherwise every t ≥ 2 is the same.
        softmax: for a softmax head, t ≥ 2.
        tolerance: of the decisions for floats, above 0 and below 1.
        curve: take λ at every tolerance, too, t ≥ 2.

    Raises:
        InputError: if the tolerance makes no sense.
        UndecidedError: if t = 1 and the rows of K and Q together do not span ℝᵈ, where that matters.

    >>> point = weights_coefficient(parameters(K=[[1, 2]], Q=[[0, 1]], V=[[2, 4]]))
    >>> print(point.stratum, point.coefficient)
    (1,1,1) λ = 7/4, m = 1 (proved)
    >>> print(weights_coefficient(parameters(A=[[1, 2], [2, 3]], V=[[1, 0]]), t=1).coefficient)
    λ = 2, m = 1 (proved)
    """
    if not 0 < tolerance < 1:
        raise InputError(f"the tolerance is {tolerance}; it must be above 0 and below 1")
    if softmax and t == 1:
        raise InputError("with one token softmax is 1 and the layer is V x; give t ≥ 2")
    layer, output = given.layer, given.output
    evidence = Evidence.PROVED if given.weights.is_exact else Evidence.NUMERICAL
    ranks = _ranks(given, tolerance)
    stratum = Stratum(ranks["V"], ranks["A"], ranks["joint"])
    kinds = stratum, ranks.get("K"), ranks.get("Q")
    values = None
    if output is not None:
        sizes = (layer.d_out, layer.d, len(output[1]))
        values = MatrixProduct(*sizes, ranks["W_O"], ranks["W_V"], ranks["V"])
    if t == 1:
        coefficient = _one_token(given.weights, ranks, values, tolerance, evidence)
    else:
        coefficient = layer_coefficient(layer, *kinds, values=values, softmax=softmax, evidence=evidence)
    steps = tolerance_curve(given, softmax=softmax) if curve else ()
    return AtWeights.at(
        *kinds,
        coefficient,
        deficit=Fraction(given.number, 2) - coefficient.value,
        curve=tuple(CurveStep(start, at.value) for start, at in steps) if curve else UNSET,
    )


def _one_token(
    w: Weights, ranks: Mapping[str, int], values: MatrixProduct | None, tolerance: float, evidence: Evidence
) -> LearningCoefficient:
    """λ and m at t = 1, where φ = V·S with the quadratic form S = xᵀAx, and S is free near the weights."""
    d, S = len(w.A), w.A + w.A.T
    rank_s = decide_rank(S, tolerance).rank
    V = free_entries("V", len(w.V), d) if values is None else factored("V = W_O W_V", values)
    if rank_s and not ranks["V"]:
        return together([V], evidence=evidence)  # ‖φ‖ is comparable with ‖V‖, whatever K and Q are
    if w.K is not None and w.Q is not None:
        both = [M if is_exact(M) else scaled(M)[0] for M in (w.K, w.Q)]
        spanned = decide_rank(np.concatenate(both), tolerance).rank
        if spanned < d:
            raise UndecidedError(
                f"the rows of K and Q span {spanned} of {d} dimensions, so A + Aᵀ is not free near them;"
                " λ of one token is not known there"
            )
    A = LearningCoefficient((Term(Fraction(d * (d + 1), 4), f"the {d * (d + 1) // 2} entries of A + Aᵀ"),), 1)
    if not rank_s:
        return together([A], evidence=evidence) if ranks["V"] else smaller(A, V, evidence)
    terms = [Term(Fraction(-1, 2), "(sA, V/s) is the same function")]
    if d > 1 and ranks["V"] == 1 and _divides(w.V, S, tolerance):
        power, name = (3, "cubes") if rank_s == 1 else (2, "products")
        lost = Fraction(1 - d, 2) * (1 - Fraction(1, power))
        form = "S = cV²" if rank_s == 1 else "S = V·g"
        terms.append(Term(lost, f"{form}: d − 1 = {d - 1} coordinates enter by their {name} alone"))
    return together([V, A], *terms, evidence=evidence)


def _divides(V: Array, S: Array, tolerance: float) -> bool:
    """Whether the linear form of V, of rank one, divides the quadratic form S: S is 0 where V is."""
    row = max(V.tolist(), key=lambda row: max(map(abs, row)))
    pivot = max(range(len(row)), key=lambda i: abs(row[i]))
    kernel = [
        [int(i == j) - (row[i] / row[pivot]) * (j == pivot) for j in range(len(row))] for i in range(len(row))
    ]
    basis = np.array([vector for i, vector in enumerate(kernel) if i != pivot], dtype=S.dtype)
    restricted = basis @ S @ basis.T
    return not restricted.any() if is_exact(S) else np.abs(restricted).max() <= tolerance * np.abs(S).max()


def tolerance_curve(given: Parameters, *, softmax: bool = False) -> list[tuple[float, CoefficientPoint]]:
    """λ of floating weights at every tolerance from 1e-12 to 1/2, t ≥ 2.

    Each point is that from its tolerance on, up to the next one.

    >>> given = parameters(K=[[1.0, 0], [0, 1e-3]], Q=[[1.0, 0], [0, 1]], V=[[1.0, 1e-2]])
    >>> [(f"{tau:.0e}", str(point.coefficient.value)) for tau, point in tolerance_curve(given)]
    [('1e-12', '5/2'), ('1e-03', '5/2'), ('5e-03', '9/4')]
    """
    values = np.concatenate(list(given.spectra.values()))
    curve: list[tuple[float, CoefficientPoint]] = []
    for start in [1e-12, *np.unique(values[(values > 1e-12) & (values < 0.5)]).tolist()]:
        point = weights_coefficient(given, softmax=softmax, tolerance=start)
        if not curve or point.ranks != curve[-1][1].ranks:
            curve.append((start, point))
    return curve
