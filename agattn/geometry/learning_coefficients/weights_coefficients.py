r"""Learning coefficients at the weights of one layer, and at those of the heads of a checkpoint.

>>> from agattn.geometry.learning_coefficients.learning_coefficients import parameters
>>> found = at_weights(parameters(K=[[1.0, 0], [0, 1e-3]], Q=[[1.0, 0], [0, 1]], V=[[1.0, 1e-2]]), curve=True)
>>> print(found, found.deficit)
λ = 5/2, m = 1 (numerical) 5/2
>>> print("; ".join(map(str, found.curve)))
5/2 from 1e-12; 5/2 from 0.001; 9/4 from 0.005
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import structs

from agattn.algebra.scalars import TOLERANCE
from agattn.architectures import SingleLayer
from agattn.evidence import Evidence
from agattn.geometry.learning_coefficients.learning_coefficients import (
    CoefficientPoint,
    Parameters,
    spectra,
    tolerance_curve,
    weights_coefficient,
)
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
        at = f"; stratum {point.orbit}"
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


def at_weights(
    given: Parameters,
    *,
    t: int = 2,
    softmax: bool = False,
    tolerance: float = TOLERANCE,
    curve: bool = False,
) -> AtWeights:
    """λ and m at given weights, and how far λ is below half the number of parameters.

    Args:
        given: the parameters; see
            :func:`~agattn.geometry.learning_coefficients.learning_coefficients.parameters`.
        t: 1 for one token; otherwise every t ≥ 2 is the same.
        softmax: for a softmax head, t ≥ 2.
        tolerance: of the decisions for floats, above 0 and below 1.
        curve: take λ at every tolerance, too, t ≥ 2.

    Raises:
        InputError: if the tolerance makes no sense.
        UndecidedError: if t = 1 and the rows of K and Q together do not span ℝᵈ, where that matters.
    """
    known = None if given.weights.is_exact else spectra(given)
    point = weights_coefficient(given, t=t, softmax=softmax, tolerance=tolerance, known=known)
    steps = tolerance_curve(given, softmax=softmax, known=known) if curve else ()
    return AtWeights(
        **structs.asdict(point),
        deficit=Fraction(given.number, 2) - point.value,
        curve=tuple(CurveStep(start, at.value) for start, at in steps) if curve else UNSET,
    )
