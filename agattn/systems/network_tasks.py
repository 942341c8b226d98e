"""What can be found out about a network, by engines and natively."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from agattn.architectures import DeepNetwork
from agattn.errors import InputError
from agattn.evidence import Source
from agattn.geometry.dimension.dimension import MAX_BALL_RANK, dimension
from agattn.geometry.dimension.formulas import network_bound
from agattn.systems.consistency import between, components_of, demand
from agattn.systems.problem import ENGINE, Answer, Printed, Task, matrix

if TYPE_CHECKING:
    from agattn.geometry.identifiability.virtual_weights import FiberDimension

# Engines expand the difference of two functions: so many monomials take seconds, more take minutes.
MAX_MONOMIALS = 3 * 10**7
# The rank of a matrix with so many columns takes some seconds.
MAX_COLUMNS = 2500
# The recovery of A evaluates the layer more than d² times, with exact fractions.
MAX_RECOVERY_WIDTH = 16


# The fiber over virtual weights, and that of virtual weights ------------------------------------------------


def no_virtual_weights(network: DeepNetwork) -> str:
    """Which networks virtual weights are for, if not for this one; else an empty string.

    >>> no_virtual_weights(DeepNetwork((2, 2), (1,), t=2, heads=2))
    'virtual weights are for lightning networks with one head and without skip connections'
    """
    if not network.is_lightning or network.skip or set(network.heads_by_layer) != {1}:
        return "virtual weights are for lightning networks with one head and without skip connections"
    return ""


def _too_many_columns(network: DeepNetwork) -> str:
    d_0, d_l = network.dims[0], network.dims[-1]
    columns = network.depth * d_0**2 + d_0 * d_l
    wide = f"(M, L) has {columns} entries; ranks of so many columns, more than {MAX_COLUMNS}, take long"
    return no_virtual_weights(network) or (wide if columns > MAX_COLUMNS else "")


def _generic_fiber(network: DeepNetwork) -> FiberDimension:
    from agattn.geometry.identifiability.virtual_weights import generic_fiber

    return generic_fiber(network.dims)


BASIS_FIBER = Task(
    "basis-fiber",
    "the fiber over (M, L)",
    DeepNetwork,
    _generic_fiber,
    infeasible=_too_many_columns,
)


def _local_fiber(network: DeepNetwork) -> FiberDimension:
    from agattn.geometry.identifiability.virtual_weights import local_fiber, random_virtual_weights

    M, L = random_virtual_weights(network)
    return local_fiber(M, L, network.t)


LOCAL_FIBER = Task(
    "local-fiber",
    "the fiber of (M, L) ↦ φ near a point",
    DeepNetwork,
    _local_fiber,
    infeasible=_too_many_columns,
)


class FiberComponents(NamedTuple):
    """The components of a fiber of (M, L) ↦ φ: their dimensions, and how many are no rescalings."""

    dimensions: tuple[int, ...]
    others: int


def _random_point(network: DeepNetwork, given: Mapping[str, Any]) -> dict[str, Any]:
    """Random integer virtual weights (M, L) of the network.

    A component of the fiber through them consists of rescalings exactly if the 2 × 2 minors of (M'_i | M_i)
    and (L' | L), as pairs of vectors, vanish on it. The last virtual weight is a product of the V_i and has
    any rank here.
    """
    if reason := no_virtual_weights(network):
        raise InputError(reason.replace("virtual weights are for", "virtual-fiber is about"))
    if network.value_rank is not None:
        raise InputError(ANY_RANK)
    from agattn.geometry.identifiability.virtual_weights import random_virtual_weights

    M, L = random_virtual_weights(network)
    return {"M": tuple(matrix(m.tolist()) for m in M), "L": matrix(L.tolist())}


ANY_RANK = "virtual-fiber is about networks whose V may have any rank; leave out --value-rank"


def _read_components(answer: Answer) -> FiberComponents:
    numbers = range(1, answer.integers["components"] + 1)
    return FiberComponents(
        tuple(sorted(answer.integers[f"component-dimension@{i}"] for i in numbers)),
        sum(not answer.integers[f"rescaling@{i}"] for i in numbers),
    )


def will_not_finish(network: DeepNetwork) -> str:
    """The reason why engines are not asked about virtual weights of a network, or an empty string."""
    if network.depth > 2 or network.dims[0] > 2 or network.dims[-1] > 3 or network.t > 3:
        return "engines were asked for at most two layers, d_0 ≤ 2, d_l ≤ 3 and t ≤ 3: beyond, few finish"
    return ""


def _components_do_not_finish(network: DeepNetwork) -> str:
    if reason := no_virtual_weights(network) or will_not_finish(network):
        return reason
    if min(network.dims[:-1]) < 2 or min(network.ranks) < 2:
        return "engines were not asked where some M_i has rank 1, which Theorem 3.7 excludes"
    return "" if network.value_rank is None else ANY_RANK


def too_many_monomials(network: DeepNetwork) -> str:
    """What is too large for a script that expands φ in virtual weights and X, or an empty string."""
    from agattn.geometry.identifiability.virtual_weights import monomials_of_network

    # The inner widths do not matter: virtual weights are d_0 × d_0 and d_l × d_0.
    as_virtual = DeepNetwork((*network.dims[:1] * network.depth, network.dims[-1]), network.ranks, network.t)
    monomials = monomials_of_network(as_virtual, MAX_MONOMIALS)
    described = f"{network} expands at least {monomials:.0e} monomials; the limit is {MAX_MONOMIALS:.0e}"
    return described if monomials > MAX_MONOMIALS else ""


def _check_components(answer: Answer) -> None:
    """The components of a fiber over virtual weights, one of which runs through the point that is known.

    If φ is not 0 there, the rescalings with the same function, λ Π μ_i^{3^{l−i}} = 1, are irreducible, of
    dimension l. So their closure is a component where the fiber has no larger dimension, near the point or
    anywhere; and no other component consists of rescalings.
    """
    for i in range(1, answer.integers["components"] + 1):
        between(0, f"the value of rescaling@{i}", answer.integers[f"rescaling@{i}"], 1)
    dims = components_of(answer, "the fiber contains a point")
    data, p = answer.problem.data, answer.problem.characteristic
    t = cast(DeepNetwork, answer.problem.architecture).t
    *M, L = (np.array([[int(x) for x in row] for row in m], object) for m in (*data["M"], data["L"]))
    from agattn.geometry.identifiability.virtual_weights import local_fiber, token_mixings

    low, high = local_fiber(M, L, t, p=p, seed=0)
    demand(
        any(low <= n <= high for n in dims),
        f"no component has the dimension of the fiber near the point, {low} to {high}",
    )
    X = np.random.default_rng(0).integers(-9, 10, (L.shape[1], t)).astype(object)
    value = L @ X @ token_mixings(M, X)[-1]
    if not (value % p if p else value).any():
        return
    rescalings = [n for i, n in enumerate(dims, 1) if answer.integers[f"rescaling@{i}"]]
    consist = f"consist of rescalings, which are one set of dimension {low}"
    demand(rescalings in ([], [low]), f"components of dimension {', '.join(map(str, rescalings))} {consist}")
    open_ = high > low and max(dims) > low
    demand(open_ or bool(rescalings), f"no component consists of rescalings of dimension {low}")


COMPONENTS = Task(
    "virtual-fiber",
    "the fiber of (M, L) ↦ φ",
    DeepNetwork,
    infeasible=_components_do_not_finish,
    summary="all virtual weights of a network with the same function as random ones",
    title="All virtual weights with the same function, for the network {M}",
    reference="Theorem 3.7",
    results=(
        Printed("dimension", "dimension of the fiber"),
        Printed("components", "how many components follow"),
        Printed("component-dimension", "dimension of a component", per_item="components"),
        Printed("rescaling", "1 if all its points are rescalings", per_item="components"),
    ),
    data=_random_point,
    read=_read_components,
    too_large=too_many_monomials,
    takes=("seed",),
    parts=(Source("components of the fiber of (M, L) ↦ φ", ENGINE), Source("the point (M, L)", "native")),
    check=_check_components,
)


# The weights of one normalized layer ------------------------------------------------------------------------


def _recovery_is_for_others(network: DeepNetwork) -> str:
    if network.is_lightning or network.depth > 1 or network.skip or network.heads_by_layer != (1,):
        return "the recovery is for one normalized layer with one head and without skip connections"
    if network.normalization != "softmax":
        return "the recovery is known for the softmax and for the functions S that it names"
    if network.t < 2:
        return "one token carries no attention, so A cannot be recovered"
    if network.dims[0] > MAX_RECOVERY_WIDTH:
        return f"the recovery with exact fractions was not tried for d_0 > {MAX_RECOVERY_WIDTH}"
    return ""


def _recovered(network: DeepNetwork) -> list[tuple[str, bool]]:
    from agattn.geometry.identifiability.softmax import recovered_exactly

    return recovered_exactly(network.dims[0], network.dims[1], network.ranks[0], network.t)


RECOVERY = Task(
    "recovery",
    "the recovery of (A, V)",
    DeepNetwork,
    _recovered,
    infeasible=_recovery_is_for_others,
)


# Dimension --------------------------------------------------------------------------------------------------


def _too_large_for_balls(network: DeepNetwork) -> str:
    if network.normalization not in ("none", "softmax"):
        return "a normalizer that is given by Taylor coefficients has no values; its jets have dimensions"
    if network.is_lightning or (rank := network_bound(network).value) <= MAX_BALL_RANK:
        return ""
    return f"the rank may be {rank}, more than {MAX_BALL_RANK}, the most taken in balls"


DIMENSION = Task(
    "dimension",
    "the dimension",
    DeepNetwork,
    lambda network: dimension(network, force=True),
    evidence=lambda found: found.evidence,
    infeasible=_too_large_for_balls,
)
