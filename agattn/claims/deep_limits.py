"""What this project states about zeros and limits of deep lightning networks.

The proofs are in docs/networks/deep-limits.md.

>>> from agattn import DeepNetwork
>>> from agattn.verification.verify import verify
>>> network = DeepNetwork((3, 3, 2), (3, 3), t=3)
>>> for verdict in verify(network, [claim.id for claim in CLAIMS], "native").verdicts:
...     print(verdict.claim, verdict.status, verdict.known, verdict.short)
agattn.deep-zeros confirmed proved in part kinds: 12, zero: 4
agattn.deep-not-closed confirmed proved not closed
agattn.deep-boundary confirmed proved 21
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic, RingArithmetic
from agattn.algebra.residues import RowSpace, random_prime
from agattn.architectures import DeepNetwork
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import ANY_VALUES, DEEP, PLAIN, TWO_TOKENS
from agattn.claims.proof import Entry, Proof, entries
from agattn.geometry.closedness.limits import (
    LimitMap,
    LimitSet,
    ZeroKind,
    first_of_pair,
    limit_set,
    special_weights,
    zero_kinds,
)
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.identifiability.virtual_weights import is_covered
from agattn.limits import by_default
from agattn.systems.problem import Task

NOT_ONE = Hypothesis[DeepNetwork](
    "d_0, d_1, a_1, a_2 ≥ 2", lambda network: min(*network.dims[:2], *network.ranks[:2]) >= 2
)
#: Letters of weights that are listed in a verdict.
LONGEST = 300
#: The differential has a column for each weight: so many take a minute.
MOST_WEIGHTS = 4000
#: There are more kinds of zeros than the square of the number of layers.
MOST_LAYERS = 16


def _no_zeros(network: DeepNetwork) -> str:
    if not is_covered(network) or network.t < 2:
        return "the zeros of other networks are not known"
    l = network.depth  # the paper's l
    return f"{l} layers, more than {MOST_LAYERS}, have many kinds of zeros" if l > MOST_LAYERS else ""


def _no_limits(network: DeepNetwork) -> str:
    if not is_covered(network) or first_of_pair(network) is None:
        return "limits are taken where one head of rank one makes a later one invisible"
    many = network.parameters
    return f"{many} weights, more than {MOST_WEIGHTS}, take long" if many > MOST_WEIGHTS else ""


ZEROS = Task("deep-zeros", "zeros at special weights", DeepNetwork, zero_kinds, infeasible=_no_zeros)
LIMITS = Task("deep-limits", "limits that no weights reach", DeepNetwork, limit_set, infeasible=_no_limits)


def _predict_zeros(network: DeepNetwork) -> dict[str, int]:
    kinds = special_weights(network)
    return {"kinds": len(kinds), "zero": sum(zero for _, _, zero in kinds)}


def _judge_zeros(network: DeepNetwork, findings: Findings) -> Outcome:
    kinds: tuple[ZeroKind, ...] = findings.need(ZEROS)
    computed = {"kinds": len(kinds), "zero": sum(kind.zero for kind in kinds)}
    wrong = [kind.name for kind in kinds if kind.zero != kind.by_theorem]
    if wrong:
        return Outcome(False, computed, f"not as stated at random weights with {'; '.join(wrong)}")
    zero = ", ".join(f"({kind.name})" for kind in kinds if kind.zero)
    scope = (
        f"one point of each of {len(kinds)} kinds; that φ is 0 for all inputs there and nowhere else is the "
        "proof in docs/networks/deep-limits.md"
    )
    holds = computed == _predict_zeros(network)
    return Outcome(holds, computed, f"φ = 0 exactly at {zero}", details={"scope": scope})


def _judge_not_closed(network: DeepNetwork, findings: Findings) -> Outcome:
    found: LimitSet = findings.need(LIMITS)
    s, m = found.first, LimitMap(network, found.first).order
    listed = ", ".join(f"{name} = {rows}" for name, rows in found.weights.items())
    listed = listed if len(listed) <= LONGEST else "the integer weights that the JSON lists"
    witness = (
        f"with {listed}, but the rows of Q_{s} after the first times ε, ΩK_{s + 1} + εQ_{s + 1} for "
        f"Q_{s + 1} and V_{network.depth} divided by ε{f'^{m}' if m > 1 else ''}, the functions tend to "
        f"one whose value at X = {found.X} is {found.value}. No weights have it: at this X δ and κ are not "
        "0, and the other hypotheses of the theorem in docs/networks/deep-limits.md hold"
    )
    return Outcome(True, "not closed", witness, details={"limit": found.witness})


def _predict_boundary(network: DeepNetwork) -> int:
    return network_bound(network).value - 1


def _judge_boundary(network: DeepNetwork, findings: Findings) -> Outcome:
    found: LimitSet = findings.need(LIMITS)
    low, high = found.dimension, found.upper_bound
    s = found.first
    witness = (
        f"at integer weights the differential of the limits through rk M_{s} = 1 and skew-symmetric "
        f"M_{s + 1} has rank {low}; what the closure of M adds has dimension at most dim M − 1 ≤ {high}"
    )
    if low < high:
        witness += "; whether other limits are more is open"
        return Outcome(None, {"at_least": low, "at_most": high}, witness)
    return Outcome(True, low, witness)


# The certificate ------------------------------------------------------------------------------------------


def _weights(weights: Mapping[str, Any]) -> dict[str, list[Entry]]:
    return {name: entries(rows) for name, rows in weights.items()}


def _zero(network: DeepNetwork, kind: ZeroKind, generator: np.random.Generator) -> dict[str, Any]:
    """Weights of one kind; where φ is not 0, an input at which φ is not 0."""
    record = {"weights": _weights({name: array[0].tolist() for name, array in kind.weights.items()})}
    while not kind.zero:
        X = generator.integers(-2, 3, network.input_shape).astype(object)
        value = network.evaluate(RingArithmetic(), kind.weights, X[None])[0]
        if value.any():
            return record | {"X": entries(X.tolist())}
    return record


def _boundary(network: DeepNetwork, found: LimitSet, generator: np.random.Generator) -> dict[str, Any]:
    """Inputs at which the differential of the limits has a rank."""
    limit_map = LimitMap(network, found.first)
    p = random_prime(generator)
    arrays = {name: np.array([rows], dtype=np.float64) % p for name, rows in found.weights.items()}
    space, inputs = RowSpace(limit_map.parameters, p), []
    while space.rank < found.dimension:
        X = generator.integers(-3, 4, network.input_shape)
        before = space.rank
        rows = jacobian(limit_map, arrays, (X % p).astype(np.float64)[None], ModularArithmetic(p))
        if space.add(rows) > before:
            inputs.append(entries(X.tolist()))
    return {"inputs": inputs, "dimension": found.dimension}


def _zeros_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    two = replace(network, t=2)
    return {"points": [_zero(two, kind, generator) for kind in zero_kinds(two, seed=0)]}


def _limit_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    found = _limits(network)
    return {"weights": _weights(found.weights), "X": entries(found.X)}


def _boundary_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    found = _boundary(replace(network, t=2), _limits(network), generator)
    return _limit_proof(network, generator) | found


#: Two claims show the same limit.
@lru_cache(maxsize=4)
def _limits(network: DeepNetwork) -> LimitSet:
    with by_default():
        return limit_set(network)


HYPOTHESES = (*PLAIN, ANY_VALUES, DEEP, TWO_TOKENS)

CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    Claim(
        "agattn.deep-zeros",
        "φ = 0 exactly if L = 0, or some M_i = 0, or rk M_i = 1 and M_j is skew-symmetric for an i < j",
        r"\varphi = 0 \iff L = 0 \lor \exists i\colon M_i = 0 \lor \exists i < j\colon "
        r"\operatorname{rk} M_i = 1,\ M_j = -M_j^{\mathsf T}",
        "agattn",
        HYPOTHESES,
        (ZEROS,),
        _predict_zeros,
        _judge_zeros,
        certificate=Proof(_zeros_proof),
        beyond=False,
    ),
    Claim(
        "agattn.deep-not-closed",
        "M is not closed: limits along diverging weights through rk M_s = 1, M_{s+1} skew-symmetric, are the "
        "function of no real or complex weights. Where d_0, d_1, a_1 or a_2 is 1, M is closed",
        r"\overline{\mathcal{M}} \neq \mathcal{M}",
        "agattn",
        (*HYPOTHESES, NOT_ONE),
        (LIMITS,),
        lambda network: "not closed",
        _judge_not_closed,
        certificate=Proof(_limit_proof),
        beyond=False,
    ),
    Claim(
        "agattn.deep-boundary",
        "The limits of functions in M that are not in M have dimension dim M − 1",
        r"\dim(\overline{\mathcal{M}} - \mathcal{M}) = \dim\mathcal{M} - 1",
        "agattn",
        (*HYPOTHESES, NOT_ONE),
        (LIMITS,),
        _predict_boundary,
        _judge_boundary,
        certificate=Proof(_boundary_proof),
        beyond=False,
    ),
)
