"""What is claimed about the dimension of networks.

A claim about a dimension is judged by the proved interval: confirmed if it is the one number predicted,
refuted if the prediction lies outside, undecided otherwise; an observed rank inside an open interval is shown
as what it is, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from agattn.architectures import DeepNetwork
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import ANY_VALUES, LIGHTNING, NO_SKIP, NORMALIZED, ONE_HEAD
from agattn.geometry.dimension import formulas
from agattn.geometry.dimension.dimension import Dimension
from agattn.systems.network_tasks import DIMENSION

HEADS = Hypothesis[DeepNetwork](
    "several heads, or values of restricted rank",
    lambda network: set(network.heads_by_layer) != {1} or network.value_rank is not None,
)
SKIP = Hypothesis[DeepNetwork]("skip connections", lambda network: network.skip)


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

CLAIMS = (
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
