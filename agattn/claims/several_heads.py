"""What this project states about limits of one layer of several heads.

The proofs are in docs/networks/several-heads.md.

>>> from agattn import DeepNetwork
>>> from agattn.verification.verify import verify
>>> for dims, ranks in (((3, 1), (1,)), ((3, 1), (2,))):
...     network = DeepNetwork(dims, ranks, t=2, heads=2)
...     [verdict] = verify(network, ["agattn.heads-not-closed"], "native").verdicts
...     print(verdict.status, verdict.known, verdict.short)
confirmed proved not closed
inapplicable proved closed
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agattn.architectures import DeepNetwork
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import ANY_VALUES, LIGHTNING, ONE_LAYER, TWO_TOKENS
from agattn.claims.proof import Proof
from agattn.errors import InputError, UndecidedError
from agattn.geometry.closedness.several_heads import Closedness, closedness, is_one_layer
from agattn.systems.problem import Task


def _of_one_layer(network: DeepNetwork) -> str:
    return "" if is_one_layer(network) else "closedness of other networks is a claim of its own"


CLOSEDNESS = Task(
    "heads-closed",
    "closedness",
    DeepNetwork,
    lambda network: closedness(network),
    infeasible=_of_one_layer,
)


def _judge(network: DeepNetwork, findings: Findings) -> Outcome:
    found: Closedness = findings.need(CLOSEDNESS)
    if found.status == "open":
        raise UndecidedError(f"whether M is closed is open: {found.reason}")
    if found.limit is None:
        return Outcome(False, found.status, f"{found.reason} ({found.theorem})")
    if flaw := found.limit.flaw():
        raise UndecidedError(f"the witness is wrong: {flaw}")
    witness = (
        f"the heads that the JSON lists, with weights that diverge, add up to {found.limit} for ε → 0, which "
        f"no {network.heads_by_layer[0]} heads do, real or complex. {found.reason} ({found.theorem})"
    )
    return Outcome(True, found.status, witness, details={"limit": found.limit.as_json()})


def _is_small(network: DeepNetwork) -> bool:
    (d, d_out), a, h = network.dims[:2], network.ranks[0], network.heads_by_layer[0]
    return d_out >= 2 or (a <= d - 2 and (a == 1 or h == 2))


def _limit_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    found = closedness(network)
    if found.limit is None:
        raise InputError(f"{found}; a certificate shows a limit outside M, and there is none to show")
    return found.limit.as_json()


CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    Claim(
        "agattn.heads-not-closed",
        "M of one layer with h heads, 2 ≤ h ≤ d, is not closed if d' ≥ 2, or if a ≤ d − 2 and a = 1 or "
        "h = 2: limits of heads with diverging weights are no sum of h heads, real or complex. If d' = 1 and "
        "a ≥ d − 1, it is closed",
        r"\overline{\mathcal{M}} \neq \mathcal{M}",
        "agattn",
        (
            LIGHTNING,
            ONE_LAYER,
            ANY_VALUES,
            TWO_TOKENS,
            Hypothesis[DeepNetwork](
                "2 ≤ h ≤ d", lambda network: 2 <= network.heads_by_layer[0] <= network.dims[0]
            ),
            Hypothesis[DeepNetwork]("d' ≥ 2, or a ≤ d − 2 with a = 1 or h = 2", _is_small),
        ),
        (CLOSEDNESS,),
        lambda network: "not closed",
        _judge,
        certificate=Proof(_limit_proof),
    ),
)
