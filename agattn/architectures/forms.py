"""How architectures are written in the documents of all commands: each kind as its own keys say.

>>> from agattn.architectures import SingleLayer
>>> check(AnyArchitecture, SingleLayer(3, 2).as_json())
>>> check(AnyArchitecture, {"d": 3, "d_out": 2, "a": 3, "t": 0})
Traceback (most recent call last):
agattn.errors.InputError: Expected `int` >= 1
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from agattn.architectures.protocol import Architecture
from agattn.sheet.result import Json, Written, check, record

__all__ = ["STUDIED", "AnyArchitecture", "Studied", "check", "kinds"]


def kinds() -> dict[str, Any]:
    """What can be studied, by a key that no other kind has."""
    from agattn.architectures.composition import Network
    from agattn.architectures.layer import SingleLayer
    from agattn.architectures.network import DeepNetwork
    from agattn.architectures.polynomial_map import PolynomialMap

    return {"d": SingleLayer, "dims": DeepNetwork, "layer": Network, "function": PolynomialMap}


class AnyArchitecture(Json):
    """The form of one of :func:`kinds`, which its keys tell."""

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Any of them, with the schemas of their parts."""
        records = map(record, kinds().values())
        refs, parts = msgspec.json.schema_components(records, ref_template="#/$defs/{name}")
        return {"anyOf": [parts.pop(ref["$ref"].removeprefix("#/$defs/")) for ref in refs], "$defs": parts}

    @classmethod
    def check_json(cls, value: Any) -> None:
        """Check one of them; ValueError if it is none."""
        known = kinds()
        try:
            msgspec.convert(value, record(next((known[key] for key in known if key in value), known["dims"])))
        except msgspec.ValidationError as error:
            raise ValueError(str(error).partition(" - at")[0]) from None


#: What the key of an architecture means, in every document that names one.
STUDIED = "What was studied: a layer, a network, a model, or a polynomial map."
#: An architecture of any kind, as the type of a key.
Studied = Annotated[Architecture, Written(AnyArchitecture, lambda architecture: architecture.as_json())]
