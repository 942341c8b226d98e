"""What the paper says about fibers of networks: of virtual weights, and of one normalized layer."""

from __future__ import annotations

from agattn.architectures import DeepNetwork
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import ANY_VALUES, NO_SKIP, NORMALIZED, ONE_HEAD, ONE_LAYER, PLAIN, TWO_TOKENS
from agattn.geometry.identifiability.virtual_weights import FiberDimension
from agattn.systems.network_tasks import COMPONENTS, LOCAL_FIBER, RECOVERY, FiberComponents

THREE_TOKENS = Hypothesis[DeepNetwork]("t ≥ 3", lambda network: network.t >= 3)
# Generic M_i = L_{i−1}ᵀA_iL_{i−1} have rank ≥ 2, and are not skew-symmetric, in just these networks.
RANK_TWO = Hypothesis[DeepNetwork]("rk M_i ≥ 2", lambda network: min(*network.ranks, *network.dims[:-1]) >= 2)


def _predict_fiber(network: DeepNetwork) -> dict[str, int]:
    return {"dimension": network.depth, "other_components": 0}


def _judge_fiber(network: DeepNetwork, findings: Findings) -> Outcome:
    local: FiberDimension = findings.need(LOCAL_FIBER)
    everything: FiberComponents | None = findings.get(COMPONENTS)
    low, high = local
    size, sizes = f"{low} to {high}", {"dimension_at_least": low, "dimension_at_most": high}
    if local.is_exact:
        size, sizes = str(high), {"dimension": high}
    near = f"at random integer weights the fiber of (M, L) ↦ φ has dimension {size} near (M, L)"
    computed: dict[str, object]
    if everything is None:
        computed = {**sizes, "other_components": None}
        holds = True if local.is_exact and local.upper_bound == network.depth else None
        missing = findings.missing.get(COMPONENTS, "nothing was asked about other components")
        witness = (
            f"{near}, the rescalings {network.depth}; whether it has other components is open: {missing}"
        )
        scope = "near one random (M, L)"
    else:
        computed = {"dimension": max(everything.dimensions), "other_components": everything.others}
        holds = computed == _predict_fiber(network)
        witness = (
            f"{near}; the components of the whole fiber have dimension "
            f"{', '.join(map(str, everything.dimensions))}, and {everything.others} are not of rescalings"
        )
        scope = "the whole fiber over one random (M, L)"
    return Outcome(holds, computed, witness, details={"scope": scope})


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


CLAIMS: tuple[Claim[DeepNetwork], ...] = (
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
        certificate="the checker finds no fibers of networks, which takes an elimination",
        beyond=False,
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
        certificate="the checker has no exponential functions",
        beyond=False,
    ),
)
