"""What is claimed about the coefficients of φ and the equations between them."""

from __future__ import annotations

from typing import NamedTuple

from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import SECTION_3_2
from agattn.claims.proof import Proof
from agattn.evidence import Evidence, weakest
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.variety.coordinates import coefficients, evaluate, full_tensor, generic_matrices
from agattn.systems.task import Task

#: The degree to which the Hilbert function is checked, which takes a second; the tests go on to 12.
CHECKED_DEGREE = 8
#: The degree to which values are shown where nothing is claimed.
SHOWN_DEGREE = 3


# Proposition A.5 --------------------------------------------------------------------------------------------


def outputs_are_products(layer: SingleLayer) -> bool:
    """Whether V X Xᵀ A X has the coefficients of :mod:`agattn.geometry.variety.coordinates`.

    Both sides are expanded with symbolic V and A and min(t, 2) symbolic tokens, and compared as polynomials.
    One row of V is enough: every output is computed from its own row by the same formula.

    Source: HMK, Proposition A.5.

    >>> outputs_are_products(SingleLayer(2, 3, 1))
    True
    """
    small = SingleLayer(layer.d, 1, layer.a, min(layer.t, 2))
    A, V, X = generic_matrices({"a": (small.d, small.d), "v": (1, small.d), "x": (small.d, small.t)})
    claimed = evaluate(small, full_tensor(small, coefficients(small, A, V)), X)
    return bool((claimed == phi(A, V, X)).all())


PRODUCTS = Task(
    "products", "the coefficients of φ", SingleLayer, lambda layer, seed: outputs_are_products(layer),
    infeasible=lambda layer: "" if layer.has_orbits else "at t = 1 each output is one cubic form",
)  # fmt: skip


def _judge_products(layer: SingleLayer, findings: Findings) -> Outcome:
    if findings.need(PRODUCTS):
        witness = (
            "expanding V X Xᵀ A X with symbolic weights and two symbolic tokens gives V_c(u)·A_b(u) and its "
            "fixed linear combinations, coefficient by coefficient; further tokens repeat them, as every "
            "column is a sum over pairs of tokens"
        )
        return Outcome(True, "products of linear forms", witness)
    witness = "the expansion of V X Xᵀ A X has other coefficients than V_c(u)·A_b(u)"
    return Outcome(False, "other coefficients", witness)


# The Hilbert function ---------------------------------------------------------------------------------------


class HilbertValues(NamedTuple):
    """The values in degrees 0, 1, ..., or ``None`` if a value is below its bound; and their evidence."""

    values: tuple[int, ...] | None
    evidence: Evidence


TWO_DIMENSIONAL = Hypothesis[SingleLayer]("d = 2 and t ≥ 2", lambda layer: layer.d == 2 and layer.has_orbits)


def _predict_hilbert_function(layer: SingleLayer) -> tuple[int, ...]:
    return tuple(double_locus_bound(layer, n) for n in range(CHECKED_DEGREE + 1))


def _hilbert_function(layer: SingleLayer, seed: int) -> HilbertValues:
    """The values in all checked degrees where the claim applies, in the first degrees elsewhere."""
    if not TWO_DIMENSIONAL.holds(layer):
        ideal = compute_ideal(layer, SHOWN_DEGREE)
        values = tuple(ideal.hilbert_function(n) for n in range(SHOWN_DEGREE + 1))
        return HilbertValues(values, weakest(piece.evidence for piece in ideal.degrees))
    # The rank mod p that fails to meet the bound would be modular; one that meets it is a proof.
    if double_locus_bound_is_sharp(layer.alpha, CHECKED_DEGREE):
        return HilbertValues(_predict_hilbert_function(layer), Evidence.PROVED)
    return HilbertValues(None, Evidence.MODULAR)


HILBERT_VALUES = Task(
    "hilbert-values", "the Hilbert function", SingleLayer, _hilbert_function,
    evidence=lambda found: found.evidence,
)  # fmt: skip


def _judge_hilbert_function(layer: SingleLayer, findings: Findings) -> Outcome:
    values = findings.need(HILBERT_VALUES).values
    if values is None:
        return Outcome(False, None, f"a weight space of degree at most {CHECKED_DEGREE} is smaller")
    shown = ", ".join(map(str, values[:5])) + ", ..."
    if not TWO_DIMENSIONAL.holds(layer):
        return Outcome(False, values, f"values in degrees up to {SHOWN_DEGREE}", shown)
    witness = f"functions of every weight, as many as the bound allows, in degrees up to {CHECKED_DEGREE}"
    return Outcome(values == _predict_hilbert_function(layer), values, witness, shown)


CLAIMS: tuple[Claim[SingleLayer], ...] = (
    Claim(
        "proposition-A.5",
        "M is linearly isomorphic to the image of the outer product of d' linear forms with d linear forms "
        "that span a space of dimension at most a",
        r"\mathcal{M} \cong \{(V_c(u) \cdot A_b(u))_{c,b}\}",
        "HMK, Proposition A.5",
        SECTION_3_2,
        (PRODUCTS,),
        lambda layer: "products of linear forms",
        _judge_products,
        certificate=Proof(),
    ),
    Claim(
        "agattn.hilbert-function",
        f"For d = 2, in degrees up to {CHECKED_DEGREE}, the functions on M̄ are those on the source that "
        "agree on the preimages of points of rank one",
        r"h_{\overline{\mathcal{M}}}(n) = \binom{n+2d'-1}{n} h_{D_\alpha}(n)"
        r" - \binom{n+d'-1}{n} (n+1) \binom{n+1}{2}",
        "agattn",
        (TWO_DIMENSIONAL,),
        (HILBERT_VALUES,),
        _predict_hilbert_function,
        _judge_hilbert_function,
        certificate="a Hilbert function takes ranks of all functions of a degree, too many for a file",
    ),
)
