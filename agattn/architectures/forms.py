"""How the documents of all commands write an architecture: by the keys of its kind.

>>> from agattn.architectures import SingleLayer
>>> check(AnyArchitecture, SingleLayer(3, 2).as_json())
>>> check(AnyArchitecture, {"d": 3, "d_out": 2, "a": 3, "t": 0})
Traceback (most recent call last):
agattn.errors.InputError: Expected `int` >= 1
"""

from __future__ import annotations

from typing import Annotated, Any

from agattn.architectures.protocol import Architecture
from agattn.sheet.result import ByKey, Written, check

__all__ = ["STUDIED", "AnyArchitecture", "Studied", "check", "kinds"]


def kinds() -> dict[str, Any]:
    """The kinds of architectures, each by a key that no other kind has."""
    from agattn.architectures.composition import Network
    from agattn.architectures.jet import Jet
    from agattn.architectures.layer import SingleLayer
    from agattn.architectures.network import DeepNetwork
    from agattn.architectures.polynomial_map import PolynomialMap

    return {
        "dims": DeepNetwork, "d": SingleLayer, "layer": Network, "function": PolynomialMap, "jet": Jet,
    }  # fmt: skip


class AnyArchitecture(ByKey):
    """The document of an architecture of one of :func:`kinds`; its keys tell which."""

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        """All kinds."""
        return kinds()


#: What the key of an architecture means, in every document that names one.
STUDIED = "What was studied: a layer, a network, a model, or a polynomial map."
#: An architecture of any kind, as the type of a key.
Studied = Annotated[Architecture, Written(AnyArchitecture, lambda architecture: architecture.as_json())]
