"""What is claimed about coefficients of φ, the equations between them, dim M̄, deg M̄, and critical points."""

from __future__ import annotations

from typing import NamedTuple

from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.claims.claim import (
    NOT_A_PRODUCT,
    SECTION_3_2,
    TWO_TOKENS,
    WIDE,
    Claim,
    Findings,
    Hypothesis,
    Outcome,
    Proof,
)
from agattn.errors import DisagreementError, UndecidedError
from agattn.evidence import Evidence, weakest
from agattn.geometry.critical_points.counts import (
    BOMBIERI_WEYL,
    GENERAL_DATA,
    MAX_OUT,
    bombieri_weyl_ed_degree,
    generic_ed_degree,
    size_of_sums,
)
from agattn.geometry.critical_points.elimination import equation
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.ideal.generation import Generated, degree_as_a_set, generated_in
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.strata.strata import strata
from agattn.geometry.variety.coordinates import (
    coefficients,
    coordinate_index,
    evaluate,
    full_tensor,
    generic_matrices,
)
from agattn.geometry.variety.degree import expected_degree, source_degree
from agattn.limits import limits
from agattn.systems.ideal_tasks import IDEAL
from agattn.systems.layer_tasks import BASE_LOCUS, FIBERS, GENERIC_RANK, TANGENTS
from agattn.systems.problem import Task


class EDDegrees(NamedTuple):
    """Numbers of critical points on the smooth part: for general data, and in the Bombieri–Weyl norm.

    ``bombieri_weyl`` is ``None`` where no theorem gives the number.
    """

    generic: int
    bombieri_weyl: int | None


#: Sums are done up to so many multiplications: seconds.
MAX_SUMS = 2 * 10**7

FEW_OUTPUTS = Hypothesis[SingleLayer](
    f"d' ≤ {MAX_OUT} or d = 1", lambda layer: layer.d_out <= MAX_OUT or layer.d == 1
)
HYPOTHESES = (TWO_TOKENS, FEW_OUTPUTS)


def predicted_ed_degrees(layer: SingleLayer) -> EDDegrees:
    """The numbers by the theorems.

    >>> predicted_ed_degrees(SingleLayer(2, 1)), predicted_ed_degrees(SingleLayer(2, 1, a=1))
    (EDDegrees(generic=14, bombieri_weyl=4), EDDegrees(generic=10, bombieri_weyl=2))
    >>> predicted_ed_degrees(SingleLayer(3, 2, a=2))
    EDDegrees(generic=143802, bombieri_weyl=None)
    """
    return EDDegrees(generic_ed_degree(layer), bombieri_weyl_ed_degree(layer))


def _is_counted(layer: SingleLayer) -> bool:
    return (layer.d, layer.d_out) == (2, 1)


def _count(layer: SingleLayer) -> EDDegrees:
    """The numbers of random losses, by eliminating all parameters but one."""
    numbers = []
    for metric, general in predicted_ed_degrees(layer)._asdict().items():
        name = metric.replace("_", "-")
        found = equation(layer, loss(layer, name, seed=limits().seed)).number()
        if found is None or found < general:
            raise UndecidedError(
                f"the random loss of seed {limits().seed} ({name}) is special; use another seed"
            )
        numbers.append(found)
    return EDDegrees(*numbers)


def _infeasible(layer: SingleLayer) -> str:
    if not all(hypothesis.holds(layer) for hypothesis in HYPOTHESES):
        return "counting is left to engines"
    return "" if size_of_sums(layer) <= MAX_SUMS else "the sums of the theorem on general data take long"


NUMBERS = Task(
    "learning-degree",
    "the critical points of two losses",
    SingleLayer,
    _count,
    infeasible=lambda layer: _infeasible(layer) if _is_counted(layer) else "counting is left to engines",
)
THEOREM = Task(
    "learning-degree-theorem",
    "the numbers of critical points",
    SingleLayer,
    predicted_ed_degrees,
    by="theorem",
    infeasible=lambda layer: "the critical points are counted" if _is_counted(layer) else _infeasible(layer),
)


def _judge(layer: SingleLayer, findings: Findings) -> Outcome:
    if _is_counted(layer):
        found, expected = findings.need(NUMBERS), predicted_ed_degrees(layer)
    else:
        found = expected = findings.need(THEOREM)
    norm = found.bombieri_weyl
    witness = f"by theorem {GENERAL_DATA} general data have {expected.generic}"
    witness += (
        "" if norm is None else f", by theorem {BOMBIERI_WEYL} general targets {expected.bombieri_weyl}"
    )
    theorems = [GENERAL_DATA] + ([] if norm is None else [BOMBIERI_WEYL])
    details: dict[str, object] = {"theorems": theorems}
    if _is_counted(layer):
        witness += (
            f"; eliminating all but one parameter leaves {found.generic} and {norm} for the random losses of "
            "the seed"
        )
    else:
        details["scope"] = "nowhere by counting, as the numbers are those of the theorems"
    shown = f"{found.generic}" + ("" if norm is None else f", Bombieri–Weyl: {norm}")
    return Outcome(found == expected, found, witness, shown, details=details)


def dimension(layer: SingleLayer, findings: Findings) -> int:
    """The dimension of M̄: at least the rank of the differential, at most the number of parameters that count.

    The pairs (A, V) form a variety of dimension α(2d − α) + dd', and φ is constant along (sA, V/s), so M̄ has
    dimension at most one less; at t = 1 only A + Aᵀ counts, of rank at most β = min(d, 2a), and the pairs are
    of dimension β(2d − β + 1)/2 + dd'. The rank of the differential at a smooth point bounds dim M̄ from
    below.

    Raises:
        UndecidedError: if the two bounds do not meet, or nothing was found out.
    """
    upper = layer.expected_dimension
    ideal, tangents = findings.get(IDEAL), findings.get(TANGENTS)
    lower = findings.get(GENERIC_RANK)
    if tangents is not None:
        ranks = (t.differential_rank for s, t in tangents.items() if s.r_a == layer.alpha)
        lower = max((rank for rank in (lower, *ranks) if rank is not None), default=None)
    if ideal is not None:
        if lower == upper != ideal.dimension:
            raise DisagreementError(
                f"{layer.name}: elimination says that the dimension is {ideal.dimension}, "
                f"but ranks and parameters say {upper}"
            )
        return int(ideal.dimension)
    if lower is None:
        findings.need(GENERIC_RANK)
    if lower != upper:
        raise UndecidedError(f"the dimension lies between {lower} and {upper}")
    return upper


def _judge_dimension(layer: SingleLayer, findings: Findings) -> Outcome:
    found = dimension(layer, findings)
    how = "dimension of the ideal found by elimination"
    if findings.get(IDEAL) is None:
        how = "rank of the differential, and parameters"
    return Outcome(found == layer.expected_dimension, found, f"dim M = {found}: {how}")


def _judge_degree(layer: SingleLayer, findings: Findings) -> Outcome:
    ideal, geometric = findings.get(IDEAL), _degree_of_projection(layer, findings)
    degree, reasons, details = geometric, [], {}
    if ideal is not None:
        degree, details = ideal.degree, {"generators_by_degree": ideal.generators_by_degree}
        reasons.append("degree of the ideal found by elimination")
    if geometric is not None:
        ratio = source_degree(layer) // geometric
        reasons.append(
            f"a projection without base points of a Segre product of degree {source_degree(layer)}, "
            f"{ratio} to 1"
        )
        if degree != geometric:
            raise DisagreementError(
                f"{layer.name}: by elimination the degree is {degree}, by intersection theory {geometric}"
            )
    if not reasons:
        findings.need(FIBERS)
        zeros = sorted(findings.need(BASE_LOCUS))
        raise UndecidedError(f"φ = 0 at {', '.join(zeros)}, so the degree of the source says nothing")
    witness = f"deg M̄ = {degree}: {' and '.join(reasons)}"
    return Outcome(degree == expected_degree(layer), degree, witness, details=details)


def _degree_of_projection(layer: SingleLayer, findings: Findings) -> int | None:
    """The degree from the fibers, where φ has no base points; ``None`` if one of both is not known."""
    zeros, fibers = findings.get(BASE_LOCUS), findings.get(FIBERS)
    if zeros != {"A = 0", "V = 0"} or fibers is None:
        return None
    generic_length: int | None = fibers[max(strata(layer))].length
    return source_degree(layer) // generic_length if generic_length else None


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
        shown = f"as a set by degree ≤ {as_a_set}, the ideal by degree ≥ {largest}"
        return Outcome(True, computed, "; ".join(said), shown, details=details)
    bound = predicted["ideal"]
    said.append(f"the ideal is generated in degree at most {bound}: {found.ideal.reason}")
    said.append(f"minimal generators to degree {known_to} have degree at most {largest}")
    shown = (
        f"as a set by degree ≤ {as_a_set}, the ideal by degree ≤ {largest if known_to >= bound else bound}"
    )
    return Outcome(largest <= bound, computed, "; ".join(said), shown, details=details)


CLAIMS: tuple[Claim[SingleLayer], ...] = (
    Claim(
        "agattn.learning-degree",
        "The squared loss of general data with enough samples has as many critical points on the smooth "
        "part of M̄ as the theorem says: the integral for d' = 1 and a ≥ 2, the integral with corrections "
        "otherwise. The distance to a general target in the Bombieri–Weyl norm has (3^d - 1)/2 for d' = 1 "
        "and a ≥ d, and 2 for (2,1,1)",
        r"(-1)^{D} \int_X \frac{c(T_X)}{(1+h)(1+2h)} \text{ for } d' = 1,\ a \geq 2, \quad "
        r"\frac{3^d - 1}{2} \text{ for } d' = 1,\ a \geq d",
        HYPOTHESES,
        (THEOREM, NUMBERS),
        lambda layer: None if _infeasible(layer) else predicted_ed_degrees(layer),
        _judge,
        certificate="the checker counts no critical points",
        beyond=False,
        brief="critical points: {}",
    ),
    Claim(
        "corollary-3.3",
        "The dimension of the neuromanifold is α(2d − α) + dd' − 1, α = min(a, d)",
        r"\dim \mathcal{M} = \alpha(2d - \alpha) + dd' - 1",
        (TWO_TOKENS, NOT_A_PRODUCT),
        (IDEAL, TANGENTS, GENERIC_RANK),
        lambda layer: layer.expected_dimension,
        _judge_dimension,
        brief="dim M = {}",
        source="HMK, Corollary 3.3, equation 7",
    ),
    Claim(
        "agattn.degree",
        "The degree of M̄ is that of the Segre product of P(D_α) and P(ℂ^{d'×d}), divided by ε: by 2 if "
        "a = d' = 1 and d ≥ 2, else by 1",
        r"\deg\overline{\mathcal{M}} = \binom{\alpha(2d-\alpha)-1+dd'-1}{dd'-1} \deg D_\alpha / \varepsilon",
        (TWO_TOKENS,),
        (IDEAL, FIBERS, BASE_LOCUS),
        expected_degree,
        _judge_degree,
        certificate=Proof(record=lambda verdict: {"degree": verdict.computed}),
        brief="deg M̄ = {}",
    ),
    Claim(
        "proposition-A.5",
        "M is linearly isomorphic to the image of the outer product of d' linear forms with d linear forms "
        "that span a space of dimension at most a",
        r"\mathcal{M} \cong \{(V_c(u) \cdot A_b(u))_{c,b}\}",
        SECTION_3_2,
        (PRODUCTS,),
        lambda layer: "products of linear forms",
        _judge_products,
        brief="M is a set of products of linear forms",
    ),
    Claim(
        "agattn.hilbert-function",
        f"For d = 2, in degrees up to {CHECKED_DEGREE}, the functions on M̄ are those on the source that "
        "agree on the preimages of points of rank one",
        r"h_{\overline{\mathcal{M}}}(n) = \binom{n+2d'-1}{n} h_{D_\alpha}(n)"
        r" - \binom{n+d'-1}{n} (n+1) \binom{n+1}{2}",
        (TWO_DIMENSIONAL,),
        (HILBERT_VALUES,),
        _predict_hilbert_function,
        _judge_hilbert_function,
        certificate="a Hilbert function takes ranks of all functions of a degree, too many for a file",
        brief="{}",
    ),
    Claim(
        "agattn.equations",
        "M̄ is cut out as a set by equations of degree at most 4, for a < d at most max(4, a + 1); the ideal "
        "of all equations is generated in the degree that is given, where a theorem gives one",
        r"\overline{\mathcal{M}} = V(I_{\leq \max(4, a + 1)}), \quad I = (I_{\leq g(d, d', a)})",
        (TWO_TOKENS, WIDE),
        (EQUATIONS,),
        _predict_equations,
        _judge_equations,
        certificate="the checker computes no ideals",
        beyond=False,
        brief="{}",
    ),
)
