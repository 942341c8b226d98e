"""How the documents of all commands write an architecture: by the keys of its kind.

>>> from agattn.architectures import SingleLayer
>>> check(AnyArchitecture, SingleLayer(3, 2).as_json())
>>> check(AnyArchitecture, {"d": 3, "d_out": 2, "a": 3, "t": 0})
Traceback (most recent call last):
agattn.errors.InputError: Expected `int` >= 1
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from agattn.architectures.composition import Network
from agattn.architectures.jet import Jet
from agattn.architectures.layer import SingleLayer
from agattn.architectures.model_file import from_table
from agattn.architectures.network import DeepNetwork
from agattn.architectures.polynomial_map import PolynomialMap
from agattn.architectures.protocol import Architecture
from agattn.errors import InputError
from agattn.sheet.result import ByKey, Written, check

__all__ = ["STUDIED", "AnyArchitecture", "Studied", "architecture_of", "check", "kinds"]


def kinds() -> dict[str, Any]:
    """The kinds of architectures, each by a key that no other kind has."""
    return {
        "dims": DeepNetwork,
        "d": SingleLayer,
        "layer": Network,
        "function": PolynomialMap,
        "jet": Jet,
    }


class AnyArchitecture(ByKey):
    """The document of an architecture of one of :func:`kinds`; its keys tell which."""

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        return kinds()


def architecture_of(document: Mapping[str, Any]) -> Architecture:
    """The architecture that ``as_json`` turned into a document.

    Raises:
        InputError: if it is none; a function of Python is in no document.

    >>> from agattn.architectures import SingleLayer
    >>> architecture_of(SingleLayer(3, 2).as_json())
    SingleLayer(d=3, d_out=2, a=3, t=2)
    """
    if "layer" in document:
        return from_table(document)
    classes = kinds()
    try:
        if "jet" in document:
            made: Architecture = classes["jet"](architecture_of(document["network"]), document["jet"])
        else:
            made = classes["dims" if "dims" in document else "d"](**document)
        return made
    except TypeError:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        raise InputError(f"{text[:200]} is no layer, network or model") from None


#: What the key of an architecture means, in every document that names one.
STUDIED = "What was studied: a layer, a network, a model, or a polynomial map."
#: An architecture of any kind, as the type of a key.
Studied = Annotated[
    Architecture,
    Written(AnyArchitecture, read=lambda found: found if "function" in found else architecture_of(found)),
]
