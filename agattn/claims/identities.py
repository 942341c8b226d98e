"""The identities of networks that claims are about, as tasks."""

from __future__ import annotations

from collections.abc import Callable

from agattn.architectures import DeepNetwork
from agattn.geometry.identifiability.deep_identities import (
    IdentityCheck,
    equation_9,
    equation_12,
    lemma_3_6,
)
from agattn.geometry.identifiability.virtual_weights import monomials_of_network
from agattn.systems.network_tasks import no_virtual_weights
from agattn.systems.task import Task

# Expanding so many monomials takes about half a second.
MAX_SYMBOLIC_MONOMIALS = 2 * 10**7


def _identity(name: str, finds: str, check: Callable[..., IdentityCheck]) -> Task[DeepNetwork]:
    def native(network: DeepNetwork, seed: int) -> IdentityCheck:
        symbolic = monomials_of_network(network, MAX_SYMBOLIC_MONOMIALS) <= MAX_SYMBOLIC_MONOMIALS
        return check(network.dims, network.t, seed, symbolic)

    return Task(
        name, finds, DeepNetwork, native, evidence=lambda found: found.evidence, infeasible=no_virtual_weights
    )


RECURSION = _identity("recursion", "the recursion", lemma_3_6)
UNROLLED = _identity("unrolled-product", "the unrolled product", equation_12)
BASIS_CHANGE = _identity(
    "basis-change", "the changes of basis", lambda dims, t, seed, symbolic: equation_9(dims, seed)
)
