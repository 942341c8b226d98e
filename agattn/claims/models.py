"""What is claimed about every other architecture: networks of any layers, and polynomial maps.

An upper bound on the dimension is a theorem (:mod:`agattn.geometry.dimension.dimension`). The rank of a
differential is found without the theorem: a rank above the bound would refute the claim, and a rank that
meets the bound proves the dimension.

>>> from agattn import Network, Perceptron
>>> from agattn.verification.verify import verify
>>> for verdict in verify(Network([Perceptron([3, 1], degree=2)], dim=2), (), "native").verdicts:
...     print(f"{verdict.claim}: {verdict.status} ({verdict.known}), {verdict.short}")
agattn.model-dimension: confirmed (proved), 3
agattn.model-symmetries: confirmed (proved in part), 3
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple, cast

from agattn.architectures import Architecture
from agattn.claims.claim import Claim, Findings, Outcome
from agattn.errors import TooLargeError
from agattn.geometry.dimension.dimension import MAX_BALL_RANK, Dimension, dimension
from agattn.geometry.dimension.formulas import Bound, capacity_bound, symmetry_bound
from agattn.geometry.dimension.lie_algebra import linear_symmetries
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


def computed_dimension(found: Dimension) -> object:
    """The dimension, or the rank observed and the proved interval."""
    low, high = found.lower_bound, found.upper_bound
    if low == high:
        return found.dimension
    return {"observed": found.dimension, "at_least": low, "at_most": high}


def _judge_dimension(model: Architecture, findings: Findings) -> Outcome:
    found: Dimension = findings.need(EXTENT).dimension
    low, high = found.lower_bound, found.upper_bound
    witness = f"a Jacobian has rank {low}; at most {high}: {found.upper_bound_reason}"
    if low < high:
        best = f"The largest rank found is {found.dimension} ({found.evidence})"
        witness += f". {best}, which proves no upper bound"
    holds = False if low > high else True if low == high else None
    return Outcome(holds, computed_dimension(found), witness, predicted=high)


def _judge_symmetries(model: Architecture, findings: Findings) -> Outcome:
    found, by = findings.need(EXTENT)
    bound, reason = by.value, by.reason
    low, high = found.lower_bound, found.upper_bound
    attained = (
        "attained: near general parameters only symmetries keep the function"
        if low == bound
        else "not attained"
        if high < bound
        else "not attained at any point tried"
    )
    witness = f"a Jacobian has rank {low}; the bound {bound} is {attained}"
    scope = f"that no computed Jacobian has a larger rank; for all Jacobians the bound is proved: {reason}"
    details = {"bound": bound, "scope": scope}
    return Outcome(
        low <= bound, computed_dimension(found), witness, details=details, predicted={"at_most": bound}
    )


def _found_by_judging(model: Architecture) -> None:
    """Nothing: the task computes the bounds, which take the most time, once, and the judge names them."""


#: Why claims about all models have no certificate.
NO_MODELS = "the checker knows layers and networks of attention, and not all models"

CLAIMS: tuple[Claim[Architecture], ...] = (
    Claim[Architecture](
        "agattn.model-dimension",
        "The dimension of a model is the least of its known upper bounds: the parameters minus the orbits of "
        "the linear symmetries, the number of coefficients of the output, and the bounds of the layers, "
        "added up, less the groups between them",
        r"\dim\mathcal{M} = \min_k B_k",
        "agattn",
        (),
        (EXTENT,),
        _found_by_judging,
        _judge_dimension,
        certificate=NO_MODELS,
    ),
    Claim[Architecture](
        "agattn.model-symmetries",
        "The dimension of a model is at most the number of parameters minus the dimension of the orbits of "
        "the linear symmetries of its parametrization",
        r"\dim\mathcal{M} \leq n - \max_\theta \dim \mathfrak{g}\theta",
        "agattn",
        (),
        (EXTENT,),
        _found_by_judging,
        _judge_symmetries,
        certificate=NO_MODELS,
    ),
)
