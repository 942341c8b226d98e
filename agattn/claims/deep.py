"""What this project states about zeros, limits, critical and singular points of deep lightning networks.

The claims are theorems; docs/networks/deep-limits.md and docs/networks/deep-singularities.md have the proofs.
The tasks compute exact ranks at special points over ℤ: a point with another rank would refute the theorem.

>>> from agattn import DeepNetwork
>>> from agattn.verification.verify import verify
>>> network = DeepNetwork((3, 3, 2), (3, 3), t=3)
>>> for verdict in verify(network, [claim.id for claim in CLAIMS], "native").verdicts:
...     print(verdict.claim, verdict.status, verdict.known, verdict.short)
agattn.deep-zeros confirmed proved in part kinds: 12, zero: 4
agattn.deep-not-closed confirmed proved not closed
agattn.deep-boundary confirmed proved 21
agattn.deep-critical confirmed proved in part points: 23, critical: 8
agattn.deep-singular confirmed proved in part points: 23, singular: 10
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic, RingArithmetic
from agattn.algebra.residues import RowSpace, random_prime
from agattn.architectures import DeepNetwork
from agattn.claims.claim import (
    ANY_VALUES,
    DEEP,
    PLAIN,
    TWO_TOKENS,
    Claim,
    Entry,
    Findings,
    Hypothesis,
    Outcome,
    Proof,
    entries,
)
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
from agattn.geometry.identifiability.virtual_weights import is_covered, virtual_jacobian
from agattn.geometry.singular_points.virtual_points import PointRanks, is_wide, ranks_at, special_points
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


def _zeros_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    two = replace(network, t=2)
    return {"points": [_zero(two, kind, generator) for kind in zero_kinds(two, seed=0)]}


def _limit_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    found = _limits(network)
    return {"weights": _weights(found.weights), "X": entries(found.X)}


def _boundary_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    """The limit, and inputs at which the differential of the limits has a rank."""
    found, two = _limits(network), replace(network, t=2)
    limit_map, p = LimitMap(two, found.first), random_prime(generator)
    arrays = {name: np.array([rows], dtype=np.float64) % p for name, rows in found.weights.items()}
    space, inputs = RowSpace(limit_map.parameters, p), []
    while space.rank < found.dimension:
        X, rank = generator.integers(-3, 4, two.input_shape), space.rank
        rows = jacobian(limit_map, arrays, (X % p).astype(np.float64)[None], ModularArithmetic(p))
        if space.add(rows) > rank:
            inputs.append(entries(X.tolist()))
    return _limit_proof(network, generator) | {"inputs": inputs, "dimension": found.dimension}


#: Two claims show the same limit.
@lru_cache(maxsize=4)
def _limits(network: DeepNetwork) -> LimitSet:
    with by_default():
        return limit_set(network)


HYPOTHESES = (*PLAIN, ANY_VALUES, DEEP, TWO_TOKENS)


WIDE = Hypothesis[DeepNetwork](
    "d_i ≥ d_0 and a_i ≥ d_0", lambda network: min(*network.dims[:-1], *network.ranks) >= network.dims[0]
)
MATRICES = Hypothesis[DeepNetwork]("d_0 ≥ 2", lambda network: network.dims[0] >= 2)
NO_CURVES = Hypothesis[DeepNetwork]("d_0 ≥ 3", lambda network: network.dims[0] >= 3)
#: The differential has a column for each entry of (M, L): so many take some seconds for each point.
MOST_ENTRIES = 150


def _too_large(network: DeepNetwork) -> str:
    if not is_wide(network) or network.t < 2:
        return "the theorem is about other networks"
    entries = network.depth * network.dims[0] ** 2 + network.dims[0] * network.dims[-1]
    return f"(M, L) has {entries} entries; more than {MOST_ENTRIES} take long" * (entries > MOST_ENTRIES)


POINTS = Task(
    "deep-points",
    "ranks at special points",
    DeepNetwork,
    lambda network: tuple(ranks_at(point, network.t) for point in special_points(network)),
    infeasible=_too_large,
)


def _refuted(points: Sequence[PointRanks], wrong: Sequence[PointRanks], singular: bool) -> Outcome:
    point = wrong[0]
    dim, drop = point.dimension, point.theorem.drop
    what = f"a differential of rank {point.rank}, said to be {f'at most {dim - drop}' if drop else dim}"
    if singular:
        what = f"room for {point.tangent_lower} tangent vectors, where M̄ is said to be smooth; dim M = {dim}"
    found = {"points": len(points), "against": len(wrong)}
    where = f"at {point.name}, M = {[m.tolist() for m in point.point.M]}, L = {point.point.L.tolist()}"
    return Outcome(False, found, f"{where} there is {what}", details={"point": point.point.as_json()})


def _judge_critical(network: DeepNetwork, findings: Findings) -> Outcome:
    points: tuple[PointRanks, ...] = findings.need(POINTS)
    if wrong := [point for point in points if point.contradicts_critical]:
        return _refuted(points, wrong, False)
    critical = [point for point in points if point.is_critical]
    computed = {"points": len(points), "critical": len(critical)}
    listed = "; ".join(f"{point.name}: rank {point.rank}" for point in critical)
    witness = (
        f"of {len(points)} points over ℤ exactly these are critical, dim M = {points[0].dimension}: {listed}"
    )
    return Outcome(True, computed, witness, details={"scope": _scope(points)})


def _judge_singular(network: DeepNetwork, findings: Findings) -> Outcome:
    points: tuple[PointRanks, ...] = findings.need(POINTS)
    if wrong := [point for point in points if point.contradicts_singular]:
        return _refuted(points, wrong, True)
    singular = [point for point in points if point.theorem.singular]
    shown = [point for point in singular if point.tangent_lower > point.dimension]
    computed = {"points": len(points), "singular": len(singular)}
    listed = "; ".join(f"{point.name}: {point.tangent_lower}" for point in shown)
    witness = f"more tangent vectors than dim M = {points[0].dimension} at {listed}"
    if others := [point.name for point in singular if point not in shown and point.is_critical]:
        witness += f". M̄ is singular at critical points: {'; '.join(others)}"
    details: dict[str, object] = {"scope": _scope(points)}
    details["tangent_lower"] = {point.name: point.tangent_lower for point in shown}
    return Outcome(True, computed, witness, details=details)


def _scope(points: Sequence[PointRanks]) -> str:
    return (
        f"the ranks at {len(points)} points, one of each kind without skew-symmetric M_i; for all points it "
        "is the theorem in docs/networks/deep-singularities.md"
    )


def _proof(network: DeepNetwork, generator: np.random.Generator, singular: bool) -> dict[str, Any]:
    """Points of some kinds with the rank of the differential, or with more tangent vectors than dim M."""
    network = replace(network, t=2)
    l, d_out = network.depth, network.dims[-1]
    names = [f"rk M_{i} = 1" for i in range(1, l)] + [f"rk M_{l} = rk L = 1"]
    if not singular:
        names = ["generic", *names, f"M_{l} = k qᵀ, L = h kᵀ"]
    found = {point.name: point for point in special_points(network, seed=0)}
    p = random_prime(generator)
    # Where rk L = 1, a pair of tokens tells two numbers, beside (d_l − 1)d_0 derivatives by L alone.
    size = found["generic"].dimension
    enough = max(size // d_out, (size - (d_out - 1) * network.dims[0]) // 2) + 4
    inputs = generator.integers(-9, 10, (enough, *network.input_shape))
    units = np.eye(2 * d_out).reshape(1, 2 * d_out, d_out, 2)
    cotangents = np.repeat(units, len(inputs), axis=0)
    points = []
    for name in names:
        space, others = RowSpace(cotangents.shape[0] * cotangents.shape[1], p), []
        for at in found[name].preimages(seed=0):
            space.add(virtual_jacobian(at.M, at.L, (inputs % p).astype(np.float64), cotangents, p).T.copy())
            others.append({"M": [entries(m.tolist()) for m in at.M], "L": entries(at.L.tolist())})
            if not singular or space.rank > at.dimension:
                break
        more: dict[str, Any] = {"others": others[1:]} if singular else {}
        points.append(others[0] | more | {"rank": space.rank})
    return {"inputs": [entries(X.tolist()) for X in inputs], "points": points}


CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    Claim(
        "agattn.deep-zeros",
        "φ = 0 exactly if L = 0, or some M_i = 0, or rk M_i = 1 and M_j is skew-symmetric for an i < j",
        r"\varphi = 0 \iff L = 0 \lor \exists i\colon M_i = 0 \lor \exists i < j\colon "
        r"\operatorname{rk} M_i = 1,\ M_j = -M_j^{\mathsf T}",
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
        (*HYPOTHESES, NOT_ONE),
        (LIMITS,),
        _predict_boundary,
        _judge_boundary,
        certificate=Proof(_boundary_proof),
        beyond=False,
    ),
    Claim(
        "agattn.deep-critical",
        "Where f ≠ 0 and no M_i is skew-symmetric, (M, L) is critical exactly if rk M_i = 1 for an i < l, or "
        "M_l = k qᵀ and L = h kᵀ; the rank drops by (l − i)·C(d_0, 2) or more for the first such i, else by "
        "d_0 − 1",
        r"\operatorname{rk} d\varphi < \dim\mathcal{M} \iff \exists i < l\colon \operatorname{rk} M_i = 1 "
        r"\lor M_l = kq^{\mathsf T},\ L = hk^{\mathsf T}",
        (*HYPOTHESES, WIDE, MATRICES),
        (POINTS,),
        lambda network: "rk M_i = 1 for an i < l, or M_l = k qᵀ and L = h kᵀ",
        _judge_critical,
        certificate=Proof(partial(_proof, singular=False)),
        beyond=False,
    ),
    Claim(
        "agattn.deep-singular",
        "Where f ≠ 0 and no M_i is skew-symmetric, M̄ is singular exactly if rk M_i = 1 for an i < l, or "
        "rk M_l = rk L = 1",
        r"f \in \operatorname{Sing}\overline{\mathcal{M}} \iff \exists i < l\colon \operatorname{rk} M_i = 1 "
        r"\lor \operatorname{rk} M_l = \operatorname{rk} L = 1",
        (*HYPOTHESES, WIDE, NO_CURVES),
        (POINTS,),
        lambda network: "rk M_i = 1 for an i < l, or rk M_l = rk L = 1",
        _judge_singular,
        certificate=Proof(partial(_proof, singular=True)),
        beyond=False,
    ),
)
