"""Which points of wide lightning networks are critical, and which are singular.

Both claims are theorems; docs/networks/deep-singularities.md has the proofs. The tasks
compute exact ranks at special points over ℤ: a point with another rank would refute the theorem.

>>> from agattn import DeepNetwork
>>> from agattn.verification.verify import verify
>>> network = DeepNetwork((3, 3, 2), (3, 3), t=3)
>>> for verdict in verify(network, [claim.id for claim in CLAIMS], "native").verdicts:
...     print(verdict.claim, verdict.status, verdict.known, verdict.short)
agattn.deep-critical confirmed proved in part points: 23, critical: 8
agattn.deep-singular confirmed proved in part points: 23, singular: 10
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from agattn.algebra.residues import RowSpace, random_prime
from agattn.architectures import DeepNetwork
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import ANY_VALUES, DEEP, PLAIN, TWO_TOKENS
from agattn.claims.proof import Proof, entries
from agattn.geometry.identifiability.virtual_weights import virtual_jacobian
from agattn.geometry.singular_points.virtual_points import PointRanks, is_wide, ranks_at, special_points
from agattn.systems.problem import Task

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


HYPOTHESES = (*PLAIN, ANY_VALUES, DEEP, TWO_TOKENS, WIDE)

CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    Claim(
        "agattn.deep-critical",
        "Where f ≠ 0 and no M_i is skew-symmetric, (M, L) is critical exactly if rk M_i = 1 for an i < l, or "
        "M_l = k qᵀ and L = h kᵀ; the rank drops by (l − i)·C(d_0, 2) or more for the first such i, else by "
        "d_0 − 1",
        r"\operatorname{rk} d\varphi < \dim\mathcal{M} \iff \exists i < l\colon \operatorname{rk} M_i = 1 "
        r"\lor M_l = kq^{\mathsf T},\ L = hk^{\mathsf T}",
        "agattn",
        (*HYPOTHESES, MATRICES),
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
        "agattn",
        (*HYPOTHESES, NO_CURVES),
        (POINTS,),
        lambda network: "rk M_i = 1 for an i < l, or rk M_l = rk L = 1",
        _judge_singular,
        certificate=Proof(partial(_proof, singular=True)),
        beyond=False,
    ),
)
