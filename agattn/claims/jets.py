"""What is claimed about the jets of softmax networks at the zero input."""

from __future__ import annotations

from typing import NamedTuple

from agattn.algebra.rank import RankResult, rank
from agattn.architectures import DeepNetwork, Jet
from agattn.claims.claim import Claim, Findings, Outcome
from agattn.claims.hypotheses import ANY_VALUES, NO_SKIP, NORMALIZED, ONE_HEAD, TWO_TOKENS
from agattn.claims.network_dimension import NO_RANKS
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import jacobian_rows
from agattn.geometry.dimension.symmetries import symmetry_bound
from agattn.systems.network_tasks import DIMENSION
from agattn.systems.task import Task

#: Jets of order 19 take seconds, and of order 55, which four layers need, hours.
MOST_LAYERS = 3


class JetRanks(NamedTuple):
    """The ranks of two jets of a network: of the least order that sees all scores, and of one less."""

    order: int
    full: RankResult
    below: RankResult


def least_order(network: DeepNetwork) -> int:
    """2·3^(l−1) + 1.

    >>> [least_order(DeepNetwork((1,) * n, (1,) * (n - 1), normalization="softmax")) for n in (2, 3, 4, 5)]
    [3, 7, 19, 55]
    """
    order: int = 2 * 3 ** (network.layers - 1) + 1
    return order


def jet_ranks(network: DeepNetwork, seed: int = 0) -> JetRanks:
    """The ranks of the Jacobians of both jets at random weights, modulo random primes."""
    order, bound = least_order(network), symmetry_bound(network, seed)
    full, below = (rank(jacobian_rows(Jet(network, n), bound), seed=seed) for n in (order, order - 1))
    return JetRanks(order, full, below)


HYPOTHESES = (NORMALIZED, ONE_HEAD, ANY_VALUES, NO_SKIP, TWO_TOKENS)


def _not_tried(network: DeepNetwork) -> str:
    """Why the jets are not computed; of networks that the claim is not about they would say nothing."""
    if not all(hypothesis.holds(network) for hypothesis in HYPOTHESES):
        return "jets are compared for softmax networks with one head in each layer"
    layers = network.layers
    return f"{layers} layers need a jet of order {least_order(network)}" if layers > MOST_LAYERS else ""


JET_RANKS = Task(
    "jet-ranks", "the ranks of jets", DeepNetwork,
    native=jet_ranks,
    # No proof bounds the rank of the lower jet from above.
    evidence=lambda found: Evidence.MODULAR,
    infeasible=_not_tried,
)  # fmt: skip


def _judge(network: DeepNetwork, findings: Findings) -> Outcome:
    found, whole = findings.need(JET_RANKS), findings.need(DIMENSION)
    full, below = found.full.lower_bound, found.below.lower_bound
    computed = {"order": found.order, "dimension": full, "one_less": below}
    witness = (
        f"the jet of order {found.order} has rank {full}, the jet of order {found.order - 1} rank {below}, "
        f"modulo primes; the dimension of the network is {whole.dimension}"
    )
    return Outcome(
        below < full == whole.dimension, computed, witness,
        predicted={"order": found.order, "dimension": whole.dimension},
    )  # fmt: skip


CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    Claim(
        "agattn.jet-order",
        "For one softmax head in each layer the jet of order 2·3^(l−1) + 1 at X = 0 has the dimension of the "
        "network, and the jet of order one less a smaller one",
        r"\dim J_{N-1} < \dim J_N = \dim\mathcal{M}, \quad N = 2 \cdot 3^{l-1} + 1",
        "Konda 2026, Theorem 3, for softmax",
        HYPOTHESES,
        (JET_RANKS, DIMENSION),
        lambda network: {"order": least_order(network)},
        _judge,
        certificate=NO_RANKS,
    ),
)
