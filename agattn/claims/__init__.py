"""What the paper says, and this project, as objects.

Every module of this package may have a tuple ``CLAIMS``; all of them are found here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.claims.claim import Claim, select


def _claims() -> Iterator[Claim[Any]]:
    for module in sorted(found.name for found in iter_modules(__path__)):
        yield from getattr(import_module(f"{__name__}.{module}"), "CLAIMS", ())


#: All claims by id: the paper's in its order, then this project's.
CLAIMS: dict[str, Claim[Any]] = {claim.id: claim for claim in sorted(_claims(), key=lambda c: c.place)}

LAYER_CLAIMS = {name: claim for name, claim in CLAIMS.items() if claim.about is SingleLayer}
NETWORK_CLAIMS = {name: claim for name, claim in CLAIMS.items() if claim.about is DeepNetwork}


def claims_about(architecture: Architecture, ids: tuple[str, ...] = ()) -> list[Claim[Any]]:
    """The claims of these ids, or all claims about architectures of this kind.

    Raises:
        InputError: if there is no such claim, or it is about the other kind.
    """
    if isinstance(architecture, DeepNetwork):
        return select(
            NETWORK_CLAIMS, ids, dict.fromkeys(LAYER_CLAIMS, "about a single layer; give -d and -o")
        )
    elsewhere = dict.fromkeys(NETWORK_CLAIMS, "about a network; give --dims and --ranks")
    return select(LAYER_CLAIMS, ids, elsewhere)
