"""What claims want to know about a network, however it is found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agattn.architectures import DeepNetwork
from agattn.claims.questions import Question
from agattn.geometry.dimension.dimension import MAX_BALL_RANK, Dimension, dimension
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.identifiability import deep_identities
from agattn.geometry.identifiability.deep_identities import IdentityCheck, equation_9
from agattn.geometry.identifiability.softmax import recovered_exactly
from agattn.geometry.identifiability.virtual_weights import (
    FiberDimension,
    generic_fiber,
    local_fiber,
    monomials_of_network,
    random_virtual_weights,
)
from agattn.systems.network_catalogue import no_virtual_weights
from agattn.systems.problem import Answer

# Expanding so many monomials takes about half a second.
MAX_SYMBOLIC_MONOMIALS = 2 * 10**7
# The rank of a matrix with so many columns takes some seconds.
MAX_COLUMNS = 2500
# The recovery of A evaluates the layer more than d² times, with exact fractions.
MAX_RECOVERY_WIDTH = 16

Network = Question[DeepNetwork]


def _needs_virtual_weights(network: DeepNetwork) -> str:
    refusal = no_virtual_weights(network)
    return f"virtual weights are for {refusal}" if refusal else ""


def _never(answer: Answer) -> Any:
    raise NotImplementedError("no engine is asked about this")


# Identities -------------------------------------------------------------------------------------------------


def _identity(check: str) -> Callable[[DeepNetwork, int], IdentityCheck]:
    def native(network: DeepNetwork, seed: int) -> IdentityCheck:
        symbolic = monomials_of_network(network, MAX_SYMBOLIC_MONOMIALS) <= MAX_SYMBOLIC_MONOMIALS
        result: IdentityCheck = getattr(deep_identities, check)(network.dims, network.t, seed, symbolic)
        return result

    return native


def _identity_evidence(value: IdentityCheck) -> Any:
    return value.evidence


RECURSION = Network(
    "the recursion", "", _never, _needs_virtual_weights, _identity("lemma_3_6"), _identity_evidence
)

UNROLLED = Network(
    "the unrolled product", "", _never, _needs_virtual_weights, _identity("equation_12"), _identity_evidence
)

BASIS_CHANGE = Network(
    "the changes of basis",
    "",
    _never,
    _needs_virtual_weights,
    lambda network, seed: equation_9(network.dims, seed),
    _identity_evidence,
)


# Fibers -----------------------------------------------------------------------------------------------------


def _basis_fiber_refusal(network: DeepNetwork) -> str:
    d_0, d_l = network.dims[0], network.dims[-1]
    columns = network.layers * d_0**2 + d_0 * d_l
    return _needs_virtual_weights(network) or _too_wide(columns)


def _basis_fiber(network: DeepNetwork, seed: int) -> FiberDimension:
    return generic_fiber(network.dims, seed)


BASIS_FIBER = Network("the fiber over (M, L)", "", _never, _basis_fiber_refusal, _basis_fiber)


def _too_wide(columns: int) -> str:
    if columns > MAX_COLUMNS:
        return f"(M, L) has {columns} entries; ranks of so many columns, more than {MAX_COLUMNS}, take long"
    return ""


def _local_fiber(network: DeepNetwork, seed: int) -> FiberDimension:
    M, L = random_virtual_weights(network, seed)
    return local_fiber(M, L, network.t, seed)


LOCAL_FIBER = Network("the fiber of (M, L) ↦ φ near a point", "", _never, _basis_fiber_refusal, _local_fiber)


@dataclass(frozen=True)
class FiberComponents:
    """The components of a fiber of (M, L) ↦ φ: their dimensions, and how many are no rescalings."""

    dimensions: tuple[int, ...]
    others: int


def _read_components(answer: Answer) -> FiberComponents:
    numbers = range(1, answer.integers["components"] + 1)
    return FiberComponents(
        tuple(sorted(answer.integers[f"component-dimension@{i}"] for i in numbers)),
        sum(not answer.integers[f"rescaling@{i}"] for i in numbers),
    )


def _components_refusal(network: DeepNetwork) -> str:
    if refusal := _needs_virtual_weights(network):
        return refusal
    if network.layers > 2 or network.dims[0] > 2 or network.dims[-1] > 3 or network.t > 3:
        return "engines were asked for at most two layers, d_0 ≤ 2, d_l ≤ 3 and t ≤ 3: beyond, few finish"
    if min(network.dims[:-1]) < 2 or min(network.ranks) < 2:
        return "the fiber is larger than rescalings where some M_i has rank 1, and engines were not asked"
    return ""


COMPONENTS = Network("the fiber of (M, L) ↦ φ", "virtual-fiber", _read_components, _components_refusal)


# The weights of one normalized layer ------------------------------------------------------------------------


def _recovery_refusal(network: DeepNetwork) -> str:
    if network.is_lightning or network.layers > 1 or network.skip or network.heads_by_layer != (1,):
        return "the recovery is for one normalized layer with one head and without skip connections"
    if network.t < 2:
        return "one token carries no attention, so A cannot be recovered"
    if network.dims[0] > MAX_RECOVERY_WIDTH:
        return f"the recovery with exact fractions was not tried for d_0 > {MAX_RECOVERY_WIDTH}"
    return ""


def _recovery(network: DeepNetwork, seed: int) -> list[tuple[str, bool]]:
    d, d_out = network.dims
    return recovered_exactly(d, d_out, network.ranks[0], network.t, seed)


RECOVERY = Network("the recovery of (A, V)", "", _never, _recovery_refusal, _recovery)


# Dimension --------------------------------------------------------------------------------------------------


def _dimension_refusal(network: DeepNetwork) -> str:
    rank = 0 if network.is_lightning else network_bound(network).value
    if rank > MAX_BALL_RANK:
        return f"the rank may be {rank}, more than {MAX_BALL_RANK}, the most taken in balls"
    return ""


def _dimension(network: DeepNetwork, seed: int) -> Dimension:
    return dimension(network, seed, force=True)


DIMENSION = Network("the dimension", "", _never, _dimension_refusal, _dimension, lambda found: found.evidence)
