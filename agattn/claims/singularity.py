"""Which strata are singular, from what was found out about each.

At a point p of M̄ other than 0:

- more than dim M̄ independent tangent vectors, from curves in M̄ through p, prove that p is singular;
- where the fiber is one reduced point, (A, V) ↦ φ is a local isomorphism onto M̄, being finite as a map of
  projective varieties, so that M̄ is smooth there iff the variety of pairs (A, V) is;
- the gradients of generators of the whole ideal settle either.
"""

from __future__ import annotations

from dataclasses import dataclass

from agattn.architectures import SingleLayer
from agattn.claims.claim import Findings
from agattn.errors import DisagreementError, UndecidedError
from agattn.geometry.strata.strata import Stratum, strata
from agattn.geometry.strata.tangent import is_singular, source_tangent_dimension
from agattn.systems.layer_tasks import CRITICAL, FIBERS, GENERIC_RANK, IDEAL, TANGENTS


@dataclass(frozen=True)
class StratumFacts:
    """What is known of M̄ at a stratum: whether singular, bounds on the tangent dimension, and why."""

    stratum: Stratum
    singular: bool
    lower: int
    upper: int
    reason: str

    @property
    def tangent_dimension(self) -> int | None:
        """The dimension of the tangent space where the two bounds meet."""
        return self.lower if self.lower == self.upper else None


def dimension(layer: SingleLayer, findings: Findings) -> int:
    """The dimension of M̄: the rank of the differential where the source is smooth, which parameters bound.

    The pairs (A, V) form a variety of dimension α(2d − α) + dd', and φ is constant along (sA, V/s), so M̄ has
    dimension at most one less; at t = 1 only A + Aᵀ counts, of rank at most β = min(d, 2a), and the pairs are
    of dimension β(2d − β + 1)/2 + dd'. The rank of the differential at a smooth point bounds dim M̄ from
    below.

    Raises:
        UndecidedError: if the two bounds do not meet, or nothing was found out.
    """
    upper = layer.expected_dimension
    ideal, tangents = findings.get(IDEAL), findings.get(TANGENTS)
    lower = findings.get(GENERIC_RANK)
    if tangents is not None:
        ranks = (t.differential_rank for s, t in tangents.items() if s.r_a == layer.alpha)
        lower = max((rank for rank in (lower, *ranks) if rank is not None), default=None)
    if ideal is not None:
        if lower == upper != ideal.dimension:
            raise DisagreementError(
                f"{layer}: elimination says that the dimension is {ideal.dimension}, "
                f"but ranks and parameters say {upper}"
            )
        return int(ideal.dimension)
    if lower is None:
        findings.need(GENERIC_RANK)
    if lower != upper:
        raise UndecidedError(f"the dimension lies between {lower} and {upper}")
    return upper


def singularities(layer: SingleLayer, findings: Findings) -> dict[Stratum, StratumFacts]:
    """Decide for every stratum whether M̄ is singular along it.

    Raises:
        UndecidedError: if some stratum cannot be decided.
        DisagreementError: if elimination and ranks contradict each other.
    """
    if not layer.has_orbits:
        raise UndecidedError("at t = 1 the strata are other ones, and not decided here")
    dim = dimension(layer, findings)
    return {stratum: _facts(layer, stratum, dim, findings) for stratum in strata(layer)}


def _facts(layer: SingleLayer, stratum: Stratum, dim: int, findings: Findings) -> StratumFacts:
    size = layer.ambient_dimension
    lower, upper, reasons = dim, size, []
    tangents, ideal = findings.get(TANGENTS), findings.get(IDEAL)
    if tangents is not None:
        lower, upper = max(dim, tangents[stratum].lower), tangents[stratum].upper
        if lower > dim:
            reasons.append(f"curves through it span a tangent space of dimension {lower} > {dim}")
    if ideal is not None:
        exact = ideal.tangent_dimension[stratum]
        if not lower <= exact <= upper:
            raise DisagreementError(
                f"{layer} at {stratum}: elimination says that the tangent space has dimension {exact}, "
                f"but curves and equations say from {lower} to {upper}"
            )
        lower = upper = exact
        reasons.append(f"the gradients of the ideal leave a tangent space of dimension {exact}")
    if not stratum.is_zero and _is_local_isomorphism(stratum, findings):
        source = source_tangent_dimension(layer, stratum)
        if not lower <= source <= upper:
            raise DisagreementError(
                f"{layer} at {stratum}: the fiber is one reduced point, so the tangent space has dimension "
                f"{source}, but other computations say from {lower} to {upper}"
            )
        if lower < upper:  # only then does the conclusion rest on them
            findings.need(FIBERS)
            findings.need(CRITICAL)
            lower = upper = source
            reasons.append(
                f"its fiber is one reduced point, at which (A, V) have {source} tangent dimensions"
            )
    singular = is_singular(dim, lower, upper)
    if singular is not None:
        if not reasons:  # curves and equations, or curves and the source, leave one dimension
            reasons.append(f"the tangent space has dimension {lower}, by bounds from both sides that meet")
        return StratumFacts(stratum, singular, lower, upper, " and ".join(reasons))
    raise UndecidedError(f"at {stratum} the tangent space has a dimension from {lower} to {upper}")


def _is_local_isomorphism(stratum: Stratum, findings: Findings) -> bool:
    """Whether the fiber is one reduced point, so that M̄ looks there like the variety of pairs (A, V)."""
    fibers, critical = findings.found.get(FIBERS), findings.found.get(CRITICAL)
    if fibers is None or critical is None:
        return False
    fiber = fibers.value[stratum]
    return bool(fiber.points == fiber.length == 1 and not critical.value[stratum])
