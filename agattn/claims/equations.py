"""What is claimed about the coefficients of φ and the equations between them."""

from __future__ import annotations

from typing import NamedTuple

from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import SECTION_3_2, TWO_TOKENS, WIDE
from agattn.claims.proof import Proof
from agattn.evidence import Evidence, weakest
from agattn.geometry.ideal.generation import Generated, degree_as_a_set, generated_in
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.variety.coordinates import (
    coefficients,
    coordinate_index,
    evaluate,
    full_tensor,
    generic_matrices,
)
from agattn.systems.problem import Task

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
    "products",
    "the coefficients of φ",
    SingleLayer,
    outputs_are_products,
    infeasible=lambda layer: "" if layer.has_orbits else "at t = 1 each output is one cubic form",
)


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


def _hilbert_function(layer: SingleLayer) -> HilbertValues:
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
    "hilbert-values",
    "the Hilbert function",
    SingleLayer,
    _hilbert_function,
    evidence=lambda found: found.evidence,
)


def _judge_hilbert_function(layer: SingleLayer, findings: Findings) -> Outcome:
    values = findings.need(HILBERT_VALUES).values
    if values is None:
        return Outcome(False, None, f"a weight space of degree at most {CHECKED_DEGREE} is smaller")
    shown = ", ".join(map(str, values[:5])) + ", ..."
    if not TWO_DIMENSIONAL.holds(layer):
        return Outcome(False, values, f"values in degrees up to {SHOWN_DEGREE}", shown)
    witness = f"functions of every weight, as many as the bound allows, in degrees up to {CHECKED_DEGREE}"
    return Outcome(values == _predict_hilbert_function(layer), values, witness, shown)


# The degrees of equations -----------------------------------------------------------------------------------


class Equations(NamedTuple):
    """How many minimal generators each degree has, and which points off M̄ satisfy the equations.

    ``generators`` begins with degree 1. ``kept`` names the points of :func:`points_outside` that satisfy all
    equations of a degree in which these cut M̄ out as a set; it is None where the points are not tried.
    ``ideal`` is a degree in which the ideal is generated, with the theorem, if one is known.
    """

    generators: tuple[int, ...]
    kept: tuple[str, ...] | None
    ideal: Generated | None
    evidence: Evidence

    @property
    def degrees(self) -> dict[int, int]:
        """The numbers that are not 0, by degree."""
        return {n: number for n, number in enumerate(self.generators, 1) if number}


def points_outside(layer: SingleLayer) -> dict[str, dict[tuple[int, ...], int]]:
    """Points that are not in M̄, each because of one of the conditions that cut M̄ out; entries that are not 0.

    An entry at (c, b, i, k) is the coefficient of u_i u_k in the quadratic form of row c and column b.

    >>> sorted(points_outside(SingleLayer(2, 1)))
    ['two forms of a row without a common factor']
    """
    d = layer.d
    squares: dict[tuple[int, ...], int] = {(1, 1, 1, 1): 1}
    points = {"two forms of a row without a common factor": {**squares, (1, 2, 2, 2): 1}} if d > 1 else {}
    if d > 1 and layer.d_out > 1:
        points["two forms of a column without a common factor"] = {**squares, (2, 1, 2, 2): 1}
        points["a matrix of forms of rank 2"] = {**squares, (2, 2, 1, 1): 1}
    if d > 2:
        points["a form of rank 3"] = {(1, 1, i, i): 1 for i in (1, 2, 3)}
        points["three forms, each two of them with a common factor"] = {
            (1, 1, 2, 3): 1, (1, 2, 1, 3): 1, (1, 3, 1, 2): 1,
        }  # fmt: skip
    if layer.alpha < d:
        points["a matrix A of rank a + 1"] = {(1, b, 1, b): 1 for b in range(1, layer.alpha + 2)}
    return points


def _equations(layer: SingleLayer) -> Equations:
    """Degree 4 takes at most seconds for any layer; where the whole ideal is known, degree 5 does too."""
    ideal_degree = generated_in(layer)
    known = _MOST_DEGREES if ideal_degree is None else min(ideal_degree.degree, _MOST_DEGREES + 1)
    ideal, kept = compute_ideal(layer, max(known, 1)), None
    last = degree_as_a_set(layer)
    if layer.ambient_dimension <= _MOST_COORDINATES and last <= _MOST_DEGREES:
        places, cutting = coordinate_index(layer), ideal
        if ideal.max_degree != last:
            cutting = compute_ideal(layer, last)
        kept = tuple(
            name
            for name, point in points_outside(layer).items()
            if cutting.contains([point.get(place, 0) for place in places])
        )
    evidence = weakest(piece.evidence for piece in ideal.degrees)
    return Equations(tuple(p.minimal_generators for p in ideal.degrees), kept, ideal_degree, evidence)


_MOST_DEGREES = 4
#: In so many coordinates all equations of degree 4 are written out in seconds.
_MOST_COORDINATES = 20

EQUATIONS = Task(
    "equations",
    "the minimal generators",
    SingleLayer,
    _equations,
    evidence=lambda found: found.evidence,
)


def _predict_equations(layer: SingleLayer) -> dict[str, int]:
    """The degrees of the theorems; that of the ideal only where one is known."""
    known = generated_in(layer)
    least = degree_as_a_set(layer) if known is None else min(degree_as_a_set(layer), known.degree)
    return {"as a set": least} | ({} if known is None else {"ideal": known.degree})


def _judge_equations(layer: SingleLayer, findings: Findings) -> Outcome:
    found, predicted = findings.need(EQUATIONS), _predict_equations(layer)
    as_a_set = predicted["as a set"]
    largest, known_to = max(found.degrees, default=0), len(found.generators)
    details, computed = (
        {"generators_by_degree": found.degrees},
        {"ideal": largest, "known to degree": known_to},
    )
    if found.kept:
        witness = f"off M̄, and no equation of degree at most {as_a_set} tells: {found.kept[0]}"
        return Outcome(False, computed, witness, details=details)
    tried = "" if found.kept is None else "; these equations exclude the points off M̄ that were tried"
    said = [f"cut out as a set by equations of degree at most {as_a_set}, a theorem{tried}"]
    if found.ideal is None:
        said.append(f"minimal generators are known to degree {known_to}, the ideal may need more")
        shown = f"as a set: {as_a_set}, ideal: at least {largest}"
        return Outcome(True, computed, "; ".join(said), shown, details=details)
    bound = predicted["ideal"]
    said.append(f"the ideal is generated in degree at most {bound}: {found.ideal.reason}")
    said.append(f"minimal generators to degree {known_to} have degree at most {largest}")
    shown = (
        f"as a set: {predicted['as a set']}, ideal: {largest if known_to >= bound else f'at most {bound}'}"
    )
    return Outcome(largest <= bound, computed, "; ".join(said), shown, details=details)


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
    Claim(
        "agattn.equations",
        "M̄ is cut out as a set by equations of degree at most 4, for a < d at most max(4, a + 1); the ideal "
        "of all equations is generated in the degree that is given, where a theorem gives one",
        r"\overline{\mathcal{M}} = V(I_{\leq \max(4, a + 1)}), \quad I = (I_{\leq g(d, d', a)})",
        "agattn",
        (TWO_TOKENS, WIDE),
        (EQUATIONS,),
        _predict_equations,
        _judge_equations,
        certificate="the checker computes no ideals",
        beyond=False,
    ),
)
