"""Whether the set M of functions of an architecture is closed: one question, in a word and in a sentence.

Of one layer the theorems of :mod:`~agattn.geometry.closedness.several_heads` answer, of networks of several
layers that of :mod:`~agattn.geometry.closedness.limits`, of other models a proof that
:mod:`~agattn.geometry.closedness.closed_images` finds. Limits of diverging weights outside of M are shown
where such are known.

>>> from agattn.architectures import DeepNetwork, SingleLayer
>>> print(is_closed_set(SingleLayer(2, 1)).sentence)
M is closed (proved). φ = 0 only where A = 0 or V = 0, so M is the cone over a compact set.
>>> found = is_closed_set(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> found.closed, found.limits.dimension
(False, 7)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from agattn.architectures import Architecture, DeepNetwork
from agattn.geometry.closedness.closed_images import closed_image
from agattn.geometry.closedness.limits import LimitSet, is_closed, limit_set
from agattn.geometry.closedness.several_heads import HeadsLimit, closedness, is_one_layer
from agattn.geometry.variety.coefficient_map import CoefficientMap


class Closed(NamedTuple):
    """Whether M is closed, where a theorem says; in a sentence; and limits outside, where such are known."""

    closed: bool | None
    sentence: str
    limits: LimitSet | HeadsLimit | None = None


def is_closed_set(
    architecture: Architecture, source: CoefficientMap | None = None, is_affine: bool = False
) -> Closed:
    """Whether the set M of functions of an architecture is closed in the Euclidean topology.

    Args:
        architecture: a lightning network, where a layer is the network of one layer; or any polynomial model.
        source: the coordinates of a model, where they are known; a network needs none.
        is_affine: whether the Zariski closure is known to be an affine space.

    See Also:
        :func:`agattn.geometry.singular_points.singularities.singularities`: its sheet has this sentence.
    """
    network = architecture.as_network()
    if network is None:
        return _of_model(source, is_affine)
    return _of_one_layer(network) if is_one_layer(network) else _of_layers(network)


def _of_one_layer(network: DeepNetwork) -> Closed:
    found = closedness(network)
    if found.status == "open":
        return Closed(None, "Whether M is closed is open.")
    shown = f" A limit outside: {found.limit}." if found.limit else ""
    sentence = f"M is {found.status} (proved). {found.reason}.{shown}"
    return Closed(found.status == "closed", sentence, found.limit)


def _of_layers(network: DeepNetwork) -> Closed:
    closed = is_closed(network)
    if closed is not False:
        return Closed(closed, "M is closed (proved)." if closed else "Whether M is closed is not known.")
    outside = limit_set(network)
    low, high, i = outside.dimension, outside.upper_bound, outside.first
    size = f"dimension {low}" if low == high else f"dimension {low} to {high}"
    sentence = (
        f"M is not closed (proved). Diverging weights, where M_{i} tends to rank 1 and M_{i + 1} to a skew "
        f"matrix, have limits that no weights reach, of {size}."
    )
    return Closed(False, sentence, outside)


def _of_model(source: CoefficientMap | None, is_affine: bool) -> Closed:
    blocks = None if source is None else closed_image(source.polynomials)
    if blocks is None or source is None:
        return Closed(None, f"Whether M is {'all of M̄' if is_affine else 'closed'} is not known.")
    parts = [_block(source, places) for places in blocks.places]
    each = " and ".join(f"of degree {n} in {part}" for n, part in zip(blocks.degrees, parts, strict=True))
    zero = " or ".join(f"{part} = 0" for part in parts)
    multidegree = " and ".join(f"{n} in {part}" for n, part in zip(blocks.contains, parts, strict=True))
    sentence = (
        f"M is closed (proved), over ℝ and over ℂ: φ is homogeneous {each}, and 0 only where {zero}, as its "
        f"coordinates generate all monomials of degree {multidegree}."
    )
    return Closed(True, sentence)


def _block(source: CoefficientMap, places: Sequence[int]) -> str:
    """Some parameters in words: the names of arrays, where they are whole, and of single entries."""
    named, rest = [], list(places)
    first = 0
    for name, shape in source.architecture.shapes.items():
        whole = range(first, first := first + prod(shape))
        if set(whole) <= set(rest):
            named.append(name)
            rest = [i for i in rest if i not in whole]
    named += [str(source.ring.gens[i]) for i in rest]
    return named[0] if len(named) == 1 else f"({', '.join(named)})"
