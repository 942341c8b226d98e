"""The claims about networks: those of the paper, and the project's own.

The numbering is that of version 2 of the paper (HMK). A claim about a dimension is judged by the proved
interval: confirmed if it is the one number predicted, refuted if the prediction lies outside, undecided
otherwise; an observed rank inside an open interval is shown as what it is, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from agattn.architectures import DeepNetwork
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.identities import BASIS_CHANGE, RECURSION, UNROLLED, IdentityCheck
from agattn.geometry.dimension import formulas
from agattn.geometry.dimension.dimension import Dimension
from agattn.geometry.identifiability.virtual_weights import FiberDimension
from agattn.systems.network_tasks import (
    BASIS_FIBER,
    COMPONENTS,
    DIMENSION,
    LOCAL_FIBER,
    RECOVERY,
    FiberComponents,
)
from agattn.systems.task import Task

LIGHTNING = Hypothesis[DeepNetwork]("no normalization", lambda network: network.is_lightning)
NORMALIZED = Hypothesis[DeepNetwork]("a normalization", lambda network: not network.is_lightning)
ONE_HEAD = Hypothesis[DeepNetwork]("one head", lambda network: set(network.heads_by_layer) == {1})
ANY_VALUES = Hypothesis[DeepNetwork]("V_i of any rank", lambda network: network.value_rank is None)
HEADS = Hypothesis[DeepNetwork](
    "several heads, or values of restricted rank",
    lambda network: set(network.heads_by_layer) != {1} or network.value_rank is not None,
)
NO_SKIP = Hypothesis[DeepNetwork]("no skip connections", lambda network: not network.skip)
SKIP = Hypothesis[DeepNetwork]("skip connections", lambda network: network.skip)
ONE_LAYER = Hypothesis[DeepNetwork]("one layer", lambda network: network.layers == 1)
BOTTLENECK = Hypothesis[DeepNetwork]("d_i = δ ≤ d_0, d_l", lambda network: network.bottleneck is not None)
TWO_TOKENS = Hypothesis[DeepNetwork]("t ≥ 2", lambda network: network.t >= 2)
THREE_TOKENS = Hypothesis[DeepNetwork]("t ≥ 3", lambda network: network.t >= 3)
# Generic M_i = L_{i−1}ᵀA_iL_{i−1} have rank ≥ 2, and are not skew-symmetric, in just these networks.
RANK_TWO = Hypothesis[DeepNetwork]("rk M_i ≥ 2", lambda network: min(*network.ranks, *network.dims[:-1]) >= 2)
PLAIN = (LIGHTNING, ONE_HEAD, NO_SKIP)


def _of_3_8(name: str) -> Hypothesis[DeepNetwork]:
    return Hypothesis(name, lambda network: name not in formulas.hypotheses_3_8(network))


# "t ≥ 2" for a single layer and the others for several: those that do not concern a network hold for it.
SECTION_3_3 = tuple(
    _of_3_8(name)
    for name in (
        "one head",
        "no skip connections",
        "t ≥ 2",
        "t ≥ 3",
        "a_i ≥ 2",
        "d_i = δ ≤ d_0, d_l",
        "δ ≥ 2",
    )
)


# Identities -------------------------------------------------------------------------------------------------


def _how(check: IdentityCheck) -> str:
    if not check.holds:
        return f"the sides differ: {check.witness}"
    if not check.error:
        return "expanded symbolically in all entries of A, V and X, both sides agree"
    return (
        f"at random weights and inputs modulo random primes both sides agree; by Schwartz and Zippel a false "
        f"identity would pass with probability below {check.error:.0e}"
    )


def _identity(task: Task[DeepNetwork]) -> Callable[[DeepNetwork, Findings], Outcome]:
    def judge(network: DeepNetwork, findings: Findings) -> Outcome:
        check: IdentityCheck = findings.need(task)
        computed = "identity" if check.holds else "no identity"
        details: dict[str, object] = {"error_probability": check.error}
        return Outcome(check.holds, computed, _how(check), details=details)

    return judge


# Fibers -----------------------------------------------------------------------------------------------------


def _predict_basis(network: DeepNetwork) -> dict[str, object]:
    return {"invariant": True, "fiber": sum(d * d for d in network.dims[1:-1])}


def _judge_basis(network: DeepNetwork, findings: Findings) -> Outcome:
    check: IdentityCheck = findings.need(BASIS_CHANGE)
    fiber = findings.need(BASIS_FIBER)
    computed = {"invariant": check.holds, "fiber": fiber.upper_bound}
    witness = (
        f"(M, L) under a change of basis by random C_i: {_how(check)}; and the differential of "
        f"(A, V) ↦ (M, L) at random weights has a kernel of dimension {fiber.upper_bound}, where the group "
        f"has {fiber.lower_bound}"
    )
    details: dict[str, object] = {
        "error_probability": check.error,
        "scope": "near generic weights; elsewhere the lemma's own argument, that L'_i = C_i L_i for one C_i",
    }
    # The group gives the lower bound; an upper bound above it may only be a bad point.
    holds = (
        None if check.holds and fiber.upper_bound > fiber.lower_bound else computed == _predict_basis(network)
    )
    return Outcome(holds, computed, witness, details=details)


def _predict_fiber(network: DeepNetwork) -> dict[str, int]:
    return {"dimension": network.layers, "other_components": 0}


def _judge_fiber(network: DeepNetwork, findings: Findings) -> Outcome:
    local: FiberDimension = findings.need(LOCAL_FIBER)
    everything: FiberComponents | None = findings.get(COMPONENTS)
    near = f"at random integer weights the fiber of (M, L) ↦ φ has dimension {_interval(local)} near (M, L)"
    computed: dict[str, object]
    if everything is None:
        computed = {**_shown_fiber(local), "other_components": None}
        holds = True if local.is_exact and local.upper_bound == network.layers else None
        missing = findings.missing.get(COMPONENTS, "nothing was asked about other components")
        witness = (
            f"{near}, the rescalings {network.layers}; whether it has other components is open: {missing}"
        )
        scope = "near one random (M, L)"
    else:
        computed = {
            "dimension": max(everything.dimensions),
            "other_components": everything.others,
        }
        holds = computed == _predict_fiber(network)
        witness = (
            f"{near}; the components of the whole fiber have dimension "
            f"{', '.join(map(str, everything.dimensions))}, and {everything.others} are not of rescalings"
        )
        scope = "the whole fiber over one random (M, L)"
    return Outcome(holds, computed, witness, details={"scope": scope})


def _shown_fiber(fiber: FiberDimension) -> dict[str, object]:
    if fiber.is_exact:
        return {"dimension": fiber.upper_bound}
    return {"dimension_at_least": fiber.lower_bound, "dimension_at_most": fiber.upper_bound}


def _interval(fiber: FiberDimension) -> str:
    return str(fiber.upper_bound) if fiber.is_exact else f"{fiber.lower_bound} to {fiber.upper_bound}"


def _judge_recovery(network: DeepNetwork, findings: Findings) -> Outcome:
    results: list[tuple[str, bool]] = findings.need(RECOVERY)
    failed = [name for name, same in results if not same]
    witness = (
        f"not recovered for S = {' and '.join(failed)}"
        if failed
        else "from the values of the layer alone the proof's algorithm returned (A, V) exactly, and V' = 0 "
        f"where V = 0, for S = {' and '.join(name for name, _ in results if 'V' not in name)}; the first is "
        "the softmax, in units of T·log 2"
    )
    computed = "other weights" if failed else "(A, V)"
    return Outcome(not failed, computed, witness, details={"scope": "random weights over ℚ"})


# Dimension --------------------------------------------------------------------------------------------------


def _shown(found: Dimension) -> object:
    if found.lower_bound == found.upper_bound:
        return found.dimension
    return {"observed": found.dimension, "at_least": found.lower_bound, "at_most": found.upper_bound}


def _about(found: Dimension) -> str:
    text = f"a Jacobian has rank {found.lower_bound}; at most {found.upper_bound}: {found.upper_bound_reason}"
    if found.lower_bound < found.upper_bound:
        text += (
            f". The largest rank found is {found.dimension} ({found.evidence}), which proves no upper bound"
        )
    return text


def _exactly(
    predict: Callable[[DeepNetwork], int], scope: str = ""
) -> Callable[[DeepNetwork, Findings], Outcome]:
    """Judges an equation dim = n by the proved interval."""

    def judge(network: DeepNetwork, findings: Findings) -> Outcome:
        found: Dimension = findings.need(DIMENSION)
        predicted = predict(network)
        holds: bool | None = None
        if not found.lower_bound <= predicted <= found.upper_bound:
            holds = False
        elif found.lower_bound == found.upper_bound:
            holds = True
        # The prediction is named only where it differs: outside the hypotheses no prediction is shown.
        differs = "" if holds else f"; the formula gives {predicted}"
        details: dict[str, object] = {"scope": scope} if scope else {}
        return Outcome(holds, _shown(found), _about(found) + differs, details=details)

    return judge


def _predict_3_8(network: DeepNetwork) -> int:
    return formulas.corollary_3_8(network)


def _predict_general(network: DeepNetwork) -> int:
    return formulas.network_dimension(network)


def _predict_at_most(network: DeepNetwork) -> dict[str, int]:
    return {"at_most": formulas.network_dimension(network)}


def _judge_at_most(network: DeepNetwork, findings: Findings) -> Outcome:
    found: Dimension = findings.need(DIMENSION)
    bound = formulas.network_dimension(network)
    holds: bool | None = None
    if found.lower_bound > bound:
        holds = False
    elif found.upper_bound <= bound:
        holds = True
    if found.lower_bound == bound:
        attained = "attained"
    elif found.upper_bound < bound:
        attained = "not attained"
    else:
        attained = "not attained at any point tried"
    witness = f"{_about(found)}; the bound {bound} is {'exceeded' if holds is False else attained}"
    return Outcome(holds, _shown(found), witness, details={"bound": bound})


LOCALLY = (
    "equation 16 alone: generic fibers of (M, L) ↦ φ are discrete; that they are single points, and "
    "what holds at special points, is not checked"
)

_CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    Claim(
        "lemma-3.5",
        "If d_i = δ ≤ d_0, d_l for 0 < i < l, the weights with given virtual weights, L of rank δ, are one "
        "orbit of the changes of basis between the layers, of dimension Σ d_i²",
        r"V_i \mapsto C_i V_i C_{i-1}^{-1},\quad A_i \mapsto C_{i-1}^{-\mathsf T} A_i C_{i-1}^{-1}",
        "HMK, Lemma 3.5, equation 9",
        (*PLAIN, ANY_VALUES, BOTTLENECK),
        (BASIS_CHANGE, BASIS_FIBER),
        _predict_basis,
        _judge_basis,
    ),
    Claim(
        "lemma-3.6",
        "X_i = L_i X P_i for every layer, with P_0 = 1 and P_i = P_{i−1} P_{i−1}ᵀ (Xᵀ M_i X) P_{i−1}",
        r"X_i = L_i X P_i,\quad P_i = P_{i-1}P_{i-1}^{\mathsf T}(X^{\mathsf T}M_iX)P_{i-1}",
        "HMK, Lemma 3.6",
        PLAIN,
        (RECURSION,),
        lambda network: "identity",
        _identity(RECURSION),
    ),
    Claim(
        "equation-12",
        "φ(X) = L · Π_j (X Xᵀ M̃_j) · X, a product over j = 1, ..., (3^l − 1)/2",
        r"\varphi(X) = L \prod_{j=1}^{(3^l-1)/2} (XX^{\mathsf T}\tilde M_j)\, X",
        "HMK, equation 12",
        PLAIN,
        (UNROLLED,),
        lambda network: "identity",
        _identity(UNROLLED),
    ),
    Claim(
        "theorem-3.7",
        "If t ≥ 3, L ≠ 0, rk M_i ≥ 2 and no M_i is skew-symmetric, the virtual weights with the same "
        "function as (M, L) are its rescalings (μ_i M_i, λL) with λ Π μ_i^(3^(l−i)) = 1",
        r"\varphi_{M',L'} = \varphi_{M,L} \implies M_i' = \mu_iM_i,\ L' = \lambda L,\ "
        r"\lambda\prod\mu_i^{3^{l-i}} = 1",
        "HMK, Theorem 3.7",
        (*PLAIN, ANY_VALUES, THREE_TOKENS, RANK_TWO),
        (LOCAL_FIBER, COMPONENTS),
        _predict_fiber,
        _judge_fiber,
    ),
    Claim(
        "corollary-3.8",
        "dim M = Σ α_i(2d_{i−1} − α_i) + δ(d_0 + d_l − δ) − l, α_i = min(a_i, d_{i−1}); for l = 1 with "
        "d_0 d_1 in place of the second term",
        r"\dim\mathcal{M} = \sum_i \alpha_i(2d_{i-1} - \alpha_i) + \delta(d_0 + d_l - \delta) - l",
        "HMK, Corollary 3.8, equation 14",
        (LIGHTNING, *SECTION_3_3),
        (DIMENSION,),
        _predict_3_8,
        _exactly(_predict_3_8),
    ),
    Claim(
        "theorem-3.9",
        "A normalized layer with t ≥ 2 determines its weights: V' = 0 if V = 0; otherwise (A', V') = (A, V)",
        r"\varphi_{A',V'} = \varphi_{A,V} \neq 0 \implies (A', V') = (A, V)",
        "HMK, Theorem 3.9",
        (NORMALIZED, ONE_LAYER, ONE_HEAD, NO_SKIP, TWO_TOKENS),
        (RECOVERY,),
        lambda network: "(A, V)",
        _judge_recovery,
    ),
    Claim(
        "conjecture-3.10",
        "Generic fibers of (M, L) ↦ φ are single points for normalized networks; so that dim M is equation "
        "14 plus l, equation 16",
        r"\dim\mathcal{M} = \sum_i \alpha_i(2d_{i-1} - \alpha_i) + \delta(d_0 + d_l - \delta)",
        "HMK, Conjecture 3.10, equation 16",
        (NORMALIZED, *SECTION_3_3),
        (DIMENSION,),
        _predict_3_8,
        _exactly(_predict_3_8, LOCALLY),
    ),
    Claim(
        "agattn.network-dimension",
        "A network with one head in each layer, of any widths, ranks and t, has the dimension that counting "
        "at reduced widths e_i bounds it by. The last term is l without a normalization, for the rescalings, "
        "and 0 with one. A normalized network of one token is linear, of rank at most r = min d_i, and has "
        "the dimension r(d_0 + d_l − r)",
        r"\dim\mathcal{M} = \sum_i D_i + \sum_i e_{i-1}e_i - \sum_{0<i<l} e_i^2 - \lambda, \quad "
        r"\lambda \in \{l, 0\}",
        "agattn",
        (ONE_HEAD, ANY_VALUES, NO_SKIP),
        (DIMENSION,),
        _predict_general,
        _exactly(_predict_general),
    ),
    Claim(
        "agattn.multi-head-dimension",
        "With several heads, or values of restricted rank, the dimension is at most the least of the known "
        "bounds of each layer, added up, less the symmetries between layers",
        r"\dim\mathcal{M} \leq \sum_i \min_k B_{i,k} - \sum_{0<i<l} e_i^2",
        "agattn",
        (HEADS, NO_SKIP),
        (DIMENSION,),
        _predict_at_most,
        _judge_at_most,
    ),
    Claim(
        "agattn.skip-dimension",
        "With skip connections the dimension is the sum of those of the layers",
        r"\dim\mathcal{M} = \sum_i \dim\mathcal{M}_i",
        "agattn",
        (SKIP,),
        (DIMENSION,),
        _predict_general,
        _exactly(_predict_general),
    ),
)

CLAIMS = {claim.id: claim for claim in _CLAIMS}
