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

from typing import Literal

from agattn.architectures import SingleLayer
from agattn.geometry.identifiability.fibers import kernel_of_differential
from agattn.geometry.strata.strata import Stratum, image_dimension
from agattn.geometry.strata.tangent import is_one_reduced_point, source_tangent_dimension, tangent_bounds
from agattn.sheet.result import Key, Result

Name = Literal["smooth", "determinantal", "crossing", "pinch", "cone", "unknown"]


class LocalType(Result):
    """What a variety looks like near a point: in one word, and in a sentence."""

    name: Key[Name, "The name of the type."]
    description: Key[str, "The type in a sentence."]


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
    dim, excess = bounds.dimension, bounds.lower - bounds.dimension

    def times_smooth(name: Name, germ: str, dimension: int) -> LocalType:
        return LocalType(name, f"{germ}, times a smooth factor of dimension {dim - dimension}")

    if is_one_reduced_point(bounds.fiber):
        n, rank = layer.d - stratum.r_a, layer.alpha - stratum.r_a
        germ = f"{n} × {n} matrices of rank ≤ {rank} at 0"
        return times_smooth("determinantal", germ, rank * (2 * n - rank))
    if layer.a == layer.d_out == 1:
        n = layer.d - 1
        return times_smooth("determinantal", f"symmetric {n} × {n} matrices of rank ≤ 1 at 0", n)
    source = "smooth" if source_tangent_dimension(layer, stratum) == dim else "singular"
    if len(bounds.fiber.points) == 2:
        if source == "singular":
            return LocalType("crossing", "two sheets cross, each of them singular (determinantal)")
        # Both sheets are immersed, and the arcs that fill T_p M̄ are of first order: T_p M̄ is the sum of
        # their tangent spaces.
        transversal = dim - excess == image_dimension(layer, stratum)
        how = f"with tangent spaces that meet in dimension {dim - excess}"
        how = "transversally along the stratum" if transversal else how
        return LocalType("crossing", f"two smooth sheets of dimension {dim} cross {how}")
    [point] = bounds.fiber.points
    kernel = len(kernel_of_differential(point.A, point.V, modulo_scaling=True))
    if source == "singular" or kernel > 1:
        return LocalType("pinch", f"a {source} source folded along {kernel} directions")
    if excess == 1:  # without a comma, as it is one thing
        return LocalType("pinch", f"Whitney umbrella times a smooth factor of dimension {dim - 2}")
    return times_smooth("pinch", f"generalized Whitney umbrella in codimension {excess}", 1 + excess)
