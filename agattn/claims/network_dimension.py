"""What is claimed about the dimension of networks.

A claim about a dimension is judged by the proved interval: confirmed if it is the one number predicted,
refuted if the prediction lies outside, undecided otherwise; an observed rank inside an open interval is shown
as what it is, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


def _judge(
    predict: Callable[[DeepNetwork], Any], scope: str = ""
) -> Callable[[DeepNetwork, Findings], Outcome]:
    """Judges dim = n, or dim ≤ n where the prediction is ``{"at_most": n}``, by the proved interval."""

    def judge(network: DeepNetwork, findings: Findings) -> Outcome:
        found: Dimension = findings.need(DIMENSION)
        low, high, predicted = found.lower_bound, found.upper_bound, predict(network)
        witness = f"a Jacobian has rank {low}; at most {high}: {found.upper_bound_reason}"
        computed: Any = found.dimension
        if low < high:
            computed = {"observed": found.dimension, "at_least": low, "at_most": high}
            best = f"The largest rank found is {found.dimension} ({found.evidence})"
            witness += f". {best}, which proves no upper bound"
        if isinstance(predicted, dict):
            bound = predicted["at_most"]
            holds = False if low > bound else True if high <= bound else None
            attained = "attained" if low == bound else "not attained" if high < bound else (
                "not attained at any point tried"
            )  # fmt: skip
            witness += f"; the bound {bound} is {'exceeded' if holds is False else attained}"
            return Outcome(holds, computed, witness, details={"bound": bound})
        holds = False if not low <= predicted <= high else True if low == high else None
        # The prediction is named only where it differs: outside the hypotheses no prediction is shown.
        witness += "" if holds else f"; the formula gives {predicted}"
        return Outcome(holds, computed, witness, details={"scope": scope} if scope else {})

    return judge


def _predict_3_8(network: DeepNetwork) -> int:
    return formulas.corollary_3_8(network)


def _predict_general(network: DeepNetwork) -> int:
    return formulas.network_dimension(network)


def _predict_at_most(network: DeepNetwork) -> dict[str, int]:
    return {"at_most": formulas.network_dimension(network)}


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
        (LIGHTNING, *SECTION_3_3, _of_3_8("a > 1 or d' > 1")),
        (DIMENSION,),
        _predict_3_8,
        _judge(_predict_3_8),
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
        _judge(_predict_3_8, LOCALLY),
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
        _judge(_predict_general),
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
        _judge(_predict_at_most),
    ),
    Claim(
        "agattn.skip-dimension",
        "With skip connections the dimension is the sum of those of the layers",
        r"\dim\mathcal{M} = \sum_i \dim\mathcal{M}_i",
        "agattn",
        (SKIP,),
        (DIMENSION,),
        _predict_general,
        _judge(_predict_general),
    ),
)
