r"""What M̄ looks like near a point of a stratum, up to an analytic change of coordinates.

Everything here is read off the preimages and the two-sided tangent space:

- *smooth*: dim T_p M̄ = dim M̄.
- *determinantal*: one reduced preimage, so that M̄ looks like its source, at a matrix A of rank r_A < α < d:
  a smooth factor times the (d − r_A) × (d − r_A) matrices of rank ≤ α − r_A, at 0. For a = d' = 1 the same
  with symmetric matrices: there M̄ = {q ⊗ Q : rk Q ≤ 2}, at Q of rank 1.
- *crossing*: two reduced preimages, so two branches, each of which looks like its source. Where A is a smooth
  point of D_α the branches are smooth; they cross transversally along the stratum when their tangent spaces
  meet in that of the stratum and nothing more.
- *pinch*: one preimage where the fiber has length greater than 1. If the source is smooth and the kernel of
  dφ modulo scaling is a line, spanned by z, the tangent vectors of second order are z·z and z·u modulo the
  image of dφ. As they fill T_p M̄, the germ is (u, v, z) ↦ (u, v, z², z·u_1, ..., z·u_e) in suitable
  coordinates, where e = dim T_p M̄ − dim M̄ (Whitney; Morin): for e = 1 the Whitney umbrella times a smooth
  factor.
- *cone*: the point 0, the apex of the cone M̄.

>>> from agattn import SingleLayer
>>> from agattn.geometry.strata.strata import Stratum
>>> local_type(SingleLayer(2, 1), Stratum(1, 1, 1)).description
'Whitney umbrella times a smooth factor of dimension 3'
"""

from __future__ import annotations

from dataclasses import dataclass

from agattn.architectures import SingleLayer
from agattn.geometry.identifiability.fibers import Component
from agattn.geometry.identifiability.preimages import kernel_of_differential
from agattn.geometry.strata.strata import Stratum, image_dimension
from agattn.geometry.strata.tangent import (
    TangentBounds,
    is_one_reduced_point,
    source_tangent_dimension,
    tangent_bounds,
)


@dataclass(frozen=True)
class LocalType:
    """The local type of M̄ at a stratum.

    Attributes:
        name: ``smooth``, ``determinantal``, ``crossing``, ``pinch``, ``cone`` or ``unknown``.
        description: the same in more words.
    """

    name: str
    description: str


def local_type(layer: SingleLayer, stratum: Stratum) -> LocalType:
    """Name the local type of M̄ at a stratum where it can be told.

    Raises:
        InputError: if the stratum is not one of the layer's, or if t = 1.

    >>> print(local_type(SingleLayer(3, 2, 2), Stratum(2, 1, 3)).description)
    2 × 2 matrices of rank ≤ 1 at 0, times a smooth factor of dimension 10
    """
    bounds = tangent_bounds(layer, stratum)
    if bounds.singular is False:
        return LocalType("smooth", "smooth")
    if bounds.fiber is None:
        return LocalType("cone", "the apex of the cone M̄")
    if bounds.value is None:
        return LocalType("unknown", "the bounds on the tangent space do not meet")
    points = bounds.fiber.points
    if is_one_reduced_point(bounds.fiber):
        size, rank = layer.d - stratum.r_a, layer.alpha - stratum.r_a
        what = f"{size} × {size} matrices of rank ≤ {rank} at 0"
        return LocalType("determinantal", f"{what}, {_times(bounds.dimension - rank * (2 * size - rank))}")
    if layer.a == layer.d_out == 1:
        size = layer.d - 1
        what = f"symmetric {size} × {size} matrices of rank ≤ 1 at 0"
        return LocalType("determinantal", f"{what}, {_times(bounds.dimension - size)}")
    smooth_source = source_tangent_dimension(layer, stratum) == bounds.dimension
    if len(points) == 2:
        return _crossing(layer, stratum, bounds, smooth_source)
    return _pinch(bounds, points[0], smooth_source)


def _times(dimension: int) -> str:
    return f"times a smooth factor of dimension {dimension}"


def _crossing(layer: SingleLayer, stratum: Stratum, bounds: TangentBounds, smooth_source: bool) -> LocalType:
    if not smooth_source:
        return LocalType("crossing", "two sheets cross, each of them singular (determinantal)")
    # Both sheets are immersed, and the arcs that fill T_p M̄ are of first order: T_p M̄ is the sum of their
    # tangent spaces.
    common = 2 * bounds.dimension - bounds.lower
    if common == image_dimension(layer, stratum):
        how = "transversally along the stratum"
    else:
        how = f"with tangent spaces that meet in dimension {common}"
    return LocalType("crossing", f"two smooth sheets of dimension {bounds.dimension} cross {how}")


def _pinch(bounds: TangentBounds, point: Component, smooth_source: bool) -> LocalType:
    kernel = len(kernel_of_differential(point.A, point.V, modulo_scaling=True))
    excess = bounds.lower - bounds.dimension
    if not smooth_source:
        return LocalType("pinch", f"a singular source folded along {kernel} directions")
    if kernel > 1:
        return LocalType("pinch", f"a smooth source folded along {kernel} directions")
    if excess == 1:
        return LocalType("pinch", f"Whitney umbrella {_times(bounds.dimension - 2)}")
    what = f"generalized Whitney umbrella in codimension {excess}"
    return LocalType("pinch", f"{what}, {_times(bounds.dimension - 1 - excess)}")
