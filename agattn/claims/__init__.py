"""What the paper says, and this project, as objects."""

from __future__ import annotations

from typing import Any

from agattn.architectures import Architecture, DeepNetwork
from agattn.claims import network, single_layer
from agattn.claims.claim import Claim, select

#: All claims by id.
CLAIMS: dict[str, Claim[Any]] = {**single_layer.CLAIMS, **network.CLAIMS}


def claims_about(architecture: Architecture, ids: tuple[str, ...] = ()) -> list[Claim[Any]]:
    """The claims of these ids, or all claims about architectures of this kind.

    Raises:
        InputError: if there is no such claim, or it is about the other kind.
    """
    about_networks = isinstance(architecture, DeepNetwork)
    mine = {name: claim for name, claim in CLAIMS.items() if (name in network.CLAIMS) == about_networks}
    where = "a single layer; give -d and -o" if about_networks else "a network; give --dims and --ranks"
    return select(mine, ids, {name: f"about {where}" for name in CLAIMS if name not in mine})
