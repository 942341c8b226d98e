"""The tasks about networks: polynomial problems in their virtual weights.

>>> from agattn.architectures import DeepNetwork
>>> build_for_network("virtual-fiber", DeepNetwork((2, 2, 1), (2, 2), t=3)).command
'agattn emit virtual-fiber --engine ENGINE --dims 2,2,1 --ranks 2,2 -t 3'
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import replace

from agattn.architectures import DeepNetwork
from agattn.errors import InputError, TooLargeError
from agattn.geometry.identifiability.virtual_weights import monomials_of_network, random_virtual_weights
from agattn.systems.catalogue import PAPER, TASKS, check_field
from agattn.systems.problem import Kind, Problem, Result, matrix

# Engines expand the difference of two functions: so many monomials take seconds, more take minutes.
MAX_MONOMIALS = 3 * 10**7

#: The tasks about networks, by name.
NETWORK_TASKS = {
    "virtual-fiber": "all virtual weights of a network with the same function as random ones",
}


def build_for_network(
    task: str, network: DeepNetwork, *, characteristic: int = 0, seed: int = 0, force: bool = False
) -> Problem:
    """Build the problem that a task is for a network.

    Args:
        task: one of :data:`NETWORK_TASKS`.
        network: the network.
        characteristic: 0 for ℚ, or a prime for 𝔽_p.
        seed: of the random weights.
        force: build it however large it is.

    Raises:
        InputError: if there is no such task, or it does not apply to the network.
        TooLargeError: if the system is beyond the stated limit.
    """
    if task in TASKS:
        raise InputError(f"{task} is about a single layer; give -d and -o")
    if task not in NETWORK_TASKS:
        close = difflib.get_close_matches(task, [*NETWORK_TASKS, *TASKS], n=1)
        raise InputError(f"there is no task {task!r}{f'; did you mean {close[0]!r}?' if close else ''}")
    if refusal := no_fiber(network):
        raise InputError(f"{task} is about {refusal}")
    check_field(characteristic)
    # The inner widths do not matter: virtual weights are d_0 × d_0 and d_l × d_0.
    as_virtual = DeepNetwork((*network.dims[:1] * network.layers, network.dims[-1]), network.ranks, network.t)
    monomials = monomials_of_network(as_virtual, MAX_MONOMIALS)
    if monomials > MAX_MONOMIALS and not force:
        raise TooLargeError(
            f"{task} for {network} expands at least {monomials:.0e} monomials; the limit is "
            f"{MAX_MONOMIALS:.0e}. Use --force to write it all the same"
        )
    return replace(
        _virtual_fiber(network, seed),
        characteristic=characteristic,
        command=_command(task, network, characteristic, seed),
    )


def no_virtual_weights(network: DeepNetwork) -> str:
    """Which networks virtual weights are for, if not for this one; else an empty string.

    >>> no_virtual_weights(DeepNetwork((2, 2), (1,), t=2, heads=2))
    'lightning networks with one head and without skip connections'
    """
    if not network.is_lightning or network.skip or set(network.heads_by_layer) != {1}:
        return "lightning networks with one head and without skip connections"
    return ""


def no_fiber(network: DeepNetwork) -> str:
    """Which networks ``virtual-fiber`` is about, if not about this one; else an empty string.

    The last virtual weight is a product of the V_i and has any rank in the problem that is written.

    >>> no_fiber(DeepNetwork((2, 2), (1,), t=2, value_rank=1))
    'networks whose V may have any rank; leave out --value-rank'
    """
    if network.value_rank is not None:
        return "networks whose V may have any rank; leave out --value-rank"
    return no_virtual_weights(network)


def _virtual_fiber(network: DeepNetwork, seed: int) -> Problem:
    """All (M', L') with the same function as (M, L) at random integer weights of the network.

    A component consists of rescalings of (M, L) exactly if the 2 × 2 minors of (M'_i | M_i) and (L' | L), as
    pairs of vectors, vanish on it.
    """
    M, L = random_virtual_weights(network, seed)
    results = (
        Result("dimension", Kind.INTEGER, "dimension of the fiber"),
        Result("components", Kind.INTEGER, "how many components follow"),
        Result("component-dimension", Kind.INTEGER, "dimension of a component", per_item="components"),
        Result("rescaling", Kind.INTEGER, "1 if all its points are rescalings", per_item="components"),
    )
    return Problem(
        "virtual-fiber",
        f"All virtual weights with the same function, for the network {str(network).split(', ')[0]}",
        f"{PAPER}, Theorem 3.7",
        network,
        0,
        results,
        virtual_weights=tuple(matrix(m.tolist()) for m in (*M, L)),
    )


def _command(task: str, network: DeepNetwork, characteristic: int, seed: int) -> str:
    words = [f"agattn emit {task} --engine ENGINE"]
    words.append(f"--dims {_joined(network.dims)} --ranks {_joined(network.ranks)} -t {network.t}")
    if seed:
        words.append(f"--seed {seed}")
    if characteristic:
        words.append(f"--field {characteristic}")
    return " ".join(words)


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
