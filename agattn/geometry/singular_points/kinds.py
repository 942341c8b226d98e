"""The catalogue of kinds of points of any architecture: of a network of attention, or of another model.

>>> from agattn.architectures import DeepNetwork, Linear, Network
>>> for architecture in (DeepNetwork((2, 2, 1), (2, 2), t=2), Network([Linear(2), Linear(2)], dim=2)):
...     print([kind.name for kind in kinds(architecture)][:4])
['generic', 'rk M_1 = 1', 'M_1 symmetric', 'M_1 symmetric of rank 1']
['generic', 'rk W_1 = 1', 'W_1 = 0', 'row 1 of W_1 is 0']
"""

from __future__ import annotations

from agattn.architectures import Architecture
from agattn.geometry.singular_points.kind import Kind
from agattn.geometry.singular_points.model_kinds import model_kinds
from agattn.geometry.singular_points.network_kinds import network_kinds
from agattn.limits import takes


@takes("seed")
def kinds(architecture: Architecture, pairs: bool = False) -> list[Kind]:
    """The kinds of points of an architecture, each with weights over ℤ; the first are generic.

    Args:
        architecture: a lightning network, where a layer is the network of one layer; or another polynomial
            model.
        pairs: also all pairs of what may be special about single matrices.

    Raises:
        InputError: if it is a normalized network, or one whose V have a bounded rank.

    See Also:
        :func:`agattn.geometry.singular_points.singularities.singularities`: what is known at each kind.
    """
    network = architecture.as_network()
    if network is None:
        return model_kinds(architecture, pairs)
    return network_kinds(network, pairs)
