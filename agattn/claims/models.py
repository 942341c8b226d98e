"""What is claimed about every other architecture: networks of any layers, and polynomial maps.

An upper bound on the dimension is a theorem (:mod:`agattn.geometry.dimension.dimension`). The rank of a
differential is found without the theorem: a rank above the bound would refute the claim, and a rank that
meets the bound proves the dimension.

>>> from agattn import Network, Perceptron
>>> from agattn.verification.verify import verify
>>> for verdict in verify(Network([Perceptron([3, 1], degree=2)], dim=2), (), "native").verdicts:
...     print(f"{verdict.claim}: {verdict.status} ({verdict.strength}), {verdict.short}")
agattn.model-dimension: confirmed (proved), 3
agattn.model-symmetries: confirmed (proved in part), 3

About one layer with groups of heads, latents, or a state more is known:
docs/networks/todays-attention-proofs.md has the proofs.

>>> from agattn import Attention, Network
>>> from agattn.verification.verify import verify
>>> layer = Attention(3, 2, heads=3, kv_heads=1, value_rank=2)
>>> for d in (5, 3):
...     [verdict] = verify(Network([layer], d, 2), ["agattn.grouped-dimension"], "native").verdicts
...     print(verdict.status, verdict.strength, verdict.short)
confirmed proved 51
inapplicable proved 31
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, cast

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import RowSpace, random_prime
from agattn.architectures import Architecture, Attention, Network, Recurrence, draw_parameters
from agattn.architectures.layers import Layer
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome, Proof, entries
from agattn.claims.network_dimension import attained, computed_dimension, unproved
from agattn.errors import TooLargeError, UndecidedError
from agattn.geometry.dimension.dimension import MAX_BALL_RANK, Dimension, dimension
from agattn.geometry.dimension.formulas import Bound, capacity_bound, in_place, reduced, symmetry_bound
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.lie_algebra import linear_symmetries
from agattn.geometry.dimension.theorems import (
    GROUPED,
    LATENT,
    RECURRENT,
    by_layer,
    has_latents,
    one_layer,
    see_another,
)
from agattn.systems.problem import Task


class Extent(NamedTuple):
    """How large a model is.

    Attributes:
        dimension: with its proof from both sides, where the two meet.
        by_symmetries: the number of parameters, minus the dimension of the orbits of the linear symmetries;
            proved. Where the symmetries that the model names do not explain the dimension, all linear
            symmetries are computed.
    """

    dimension: Dimension
    by_symmetries: Bound


def _extent(model: Architecture) -> Extent:
    found, bound = dimension(model, force=True), symmetry_bound(model)
    if found.lower_bound < bound.value and model.degree is not None:
        with suppress(TooLargeError):
            orbits = linear_symmetries(model).orbit_dimension
            reason = "the parameters, minus the dimension of the orbits of all linear symmetries"
            bound = Bound(model.parameters - orbits, reason)
    return Extent(found, bound)


def _too_large_for_balls(model: Architecture) -> str:
    if model.degree is not None or (rank := capacity_bound(model).value) <= MAX_BALL_RANK:
        return ""
    return f"the rank may be {rank}, more than {MAX_BALL_RANK}, the most taken in balls"


EXTENT = Task[Architecture](
    "model-dimension",
    "the dimension",
    cast("type[Any]", Architecture),
    _extent,
    evidence=lambda found: found.dimension.known,
    infeasible=_too_large_for_balls,
)


def _judge_dimension(model: Architecture, findings: Findings) -> Outcome:
    found: Dimension = findings.need(EXTENT).dimension
    low, high = found.lower_bound, found.upper_bound
    witness = f"a Jacobian has rank {low}; at most {high}: {found.upper_bound_reason}{unproved(found)}"
    holds = False if low > high else True if low == high else None
    return Outcome(holds, computed_dimension(found), witness, predicted=high)


def _judge_symmetries(model: Architecture, findings: Findings) -> Outcome:
    found, by = findings.need(EXTENT)
    bound, reason = by.value, by.reason
    low = found.lower_bound
    witness = f"a Jacobian has rank {low}; the bound {bound} is {attained(found, bound)}"
    witness += ": near general parameters only symmetries keep the function" * (low == bound)
    scope = f"that no computed Jacobian has a larger rank; for all Jacobians the bound is proved: {reason}"
    details = {"bound": bound, "scope": scope}
    return Outcome(
        low <= bound, computed_dimension(found), witness, details=details, predicted={"at_most": bound}
    )


def _found_by_judging(model: Architecture) -> None:
    """Nothing: the task computes the bounds, which take the most time, once, and the judge names them."""


#: Why claims about all models have no certificate.
NO_MODELS = "the checker knows layers and networks of attention, and not all models"


def _predicted(architecture: Architecture) -> int | None:
    theorem = by_layer(architecture)
    return theorem.value if theorem else None


def _judge(architecture: Architecture, findings: Findings) -> Outcome:
    """Both bounds are found without the theorem."""
    found, predicted = findings.need(EXTENT).dimension, _predicted(architecture)
    low, high = found.lower_bound, found.upper_bound
    witness = f"a Jacobian has rank {low}; at most {high}: {found.upper_bound_reason}"
    network = one_layer(architecture)
    if network is not None and (said := in_place(network, reduced(network))):
        witness += f". The heads use {said}"
    holds = None if low < high else low == predicted
    if predicted is not None and not low <= predicted <= high:
        holds = False
    return Outcome(holds, computed_dimension(found), witness)


def _is(fits: Callable[[Layer], bool]) -> Callable[[Architecture], bool]:
    """Whether an architecture is one layer of some kind."""

    def subject(architecture: Architecture) -> bool:
        network = one_layer(architecture)
        return network is not None and fits(network.layers[0])

    return subject


def _is_grouped(layer: Layer) -> bool:
    return isinstance(layer, Attention) and layer.is_grouped and not has_latents(layer)


def _sees(architecture: Architecture) -> bool:
    network = one_layer(architecture)
    return network is not None and network.t >= 2 and see_another(network.layers, network.t)


SEES = Hypothesis[Architecture]("t ≥ 2, and some token sees another one", _sees)


def _proved(text: str) -> Hypothesis[Architecture]:
    """What the proof needs beyond :data:`SEES`, and where that fails nothing else."""
    return Hypothesis(
        text, lambda architecture: not _sees(architecture) or by_layer(architecture) is not None
    )


def _general_weights(architecture: Architecture, generator: np.random.Generator) -> dict[str, Any]:
    """Weights of the layer with the sizes that heads can use, and inputs at which its Jacobian has full rank.

    The checker has an axis for the heads of a group also where a group is one head, and no letters of its own
    for arrays behind latents.
    """
    network, theorem = one_layer(architecture), by_layer(architecture)
    assert network is not None and theorem is not None  # the claim is confirmed
    smaller = reduced(network)
    weights, inputs, _ = _general(smaller, theorem.value, generator)
    return {
        "weights": {letter: entries(array) for letter, array in _as_checked(smaller, weights).items()},
        "inputs": [entries(X) for X in inputs],
        "dimension": theorem.value,
    }


def _general(
    network: Network, dimension: int, generator: np.random.Generator
) -> tuple[dict[str, Any], list[Any], RowSpace]:
    """Weights and inputs at which the Jacobian has this rank, and its rows there modulo a prime.

    Raises:
        UndecidedError: if no weights that are drawn have this rank.
    """

    def draw(shape: tuple[int, ...]) -> Any:
        return generator.integers(1, 10, shape) * generator.choice([-1, 1], shape)

    for _ in range(_DRAWS):
        p, inputs, idle = random_prime(generator), list[Any](), 0
        weights, space = draw_parameters(network, draw), RowSpace(network.parameters, p)
        residues = {name: (array % p).astype(np.float64) for name, array in weights.items()}
        while space.rank < dimension and idle < _DRAWS:
            before, X = space.rank, draw(network.input_shape)
            space.add(jacobian(network, residues, (X % p).astype(np.float64)[None], ModularArithmetic(p)))
            idle = idle + 1 if space.rank == before else 0
            inputs.append(X)
        if space.rank == dimension:
            return weights, inputs, space
    raise UndecidedError(f"{network}: no weights were found at which a Jacobian has rank {dimension}")


def _as_checked(network: Network, weights: dict[str, Any]) -> dict[str, Any]:
    """The arrays by the letters of the checker."""
    [place] = network.places
    values = "P" if "O" in place.names else "V"
    found, checked = {}, {"UK": "K", "UQ": "Q", "UV": values}
    for letter, name in place.names.items():
        array, layer = weights[name], place.layer
        if isinstance(layer, Recurrence):
            array = array.reshape(-1, network.dim if letter != "gamma" else 1)
        elif letter in ("Q", "UQ", "O") and array.ndim == 3:  # a group is one head
            array = array[:, None]
        found[checked.get(letter, letter)] = array
    return found


#: So many weights are drawn, and so many inputs one after the other that add nothing.
_DRAWS = 5
PROOF = Proof(_general_weights)


CLAIMS: tuple[Claim[Architecture], ...] = (
    Claim[Architecture](
        "agattn.model-dimension",
        "The dimension of a model is the least of its known upper bounds: the parameters minus the orbits of "
        "the linear symmetries, the number of coefficients of the output, and the bounds of the layers, "
        "added up, less the groups between them",
        r"\dim\mathcal{M} = \min_k B_k",
        (),
        (EXTENT,),
        _found_by_judging,
        _judge_dimension,
        certificate=NO_MODELS,
        brief="dim M = {}",
    ),
    Claim[Architecture](
        "agattn.model-symmetries",
        "The dimension of a model is at most the number of parameters minus the dimension of the orbits of "
        "the linear symmetries of its parametrization",
        r"\dim\mathcal{M} \leq n - \max_\theta \dim \mathfrak{g}\theta",
        (),
        (EXTENT,),
        _found_by_judging,
        _judge_symmetries,
        certificate=NO_MODELS,
        brief="dim M at most {} by symmetries",
    ),
    Claim[Architecture](
        "agattn.grouped-dimension",
        "A layer of g groups of s heads with common keys and values, g(a + b) ≤ d, has the dimension of its "
        "parameters less that of GL(a), GL(b) and GL(s) for each group; with a softmax less that of GL(a) "
        "and GL(b), for all a, b ≤ d",
        r"\dim\mathcal{M} = g\,(a(d-a) + b(d-b) + s(ad + bd' - s))",
        (SEES, _proved("g(a + b) ≤ d or a softmax; positions at two distances, with a softmax t = 2")),
        (EXTENT,),
        _predicted,
        _judge,
        certificate=PROOF,
        subject=_is(_is_grouped),
        brief="dim M = {}",
    ),
    Claim[Architecture](
        "agattn.latent-dimension",
        "A layer of H heads that read keys and values from r dimensions and queries from ρ dimensions has "
        "the dimension r(d − r) + ρ(d − ρ) and that of the heads behind the latents, if there are weights of "
        "these heads with disjoint supports",
        r"\dim\mathcal{M} = r(d-r) + \rho(d-\rho) + H(b(d'+r-b) + a(r+\rho-a) - 1)",
        (SEES, _proved("one head a group and disjoint supports, or a softmax without positions")),
        (EXTENT,),
        _predicted,
        _judge,
        certificate=PROOF,
        subject=_is(lambda layer: isinstance(layer, Attention) and has_latents(layer)),
        brief="dim M = {}",
    ),
    Claim[Architecture](
        "agattn.recurrent-dimension",
        "Causal linear attention with a state has the dimension of its parameters less that of the group of "
        "the state, which is GL(a), a torus with a diagonal gate, and O(a) with a delta rule, and less the "
        "factors that the function does not see",
        r"\dim\mathcal{M} = n - \dim G - \#\text{factors}",
        (SEES, _proved("one head; with a diagonal gate a ≤ d, and not a = d = 2 at t = 2")),
        (EXTENT,),
        _predicted,
        _judge,
        certificate=PROOF,
        subject=_is(lambda layer: isinstance(layer, Recurrence)),
        brief="dim M = {}",
    ),
)
assert [claim.id for claim in CLAIMS[-3:]] == [GROUPED, LATENT, RECURRENT]
