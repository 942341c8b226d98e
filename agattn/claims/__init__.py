"""What the paper says, and this project, as objects.

Every module of this package may have a tuple ``CLAIMS``; all of them are found here, and nowhere else, when
one of the tables is first asked for. Which kind of architecture a claim is about, its tasks say.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.claims.claim import Claim, select

#: All claims by id: the paper's in its order, then this project's.
CLAIMS: dict[str, Claim[Any]]
LAYER_CLAIMS: dict[str, Claim[Any]]
NETWORK_CLAIMS: dict[str, Claim[Any]]
MODEL_CLAIMS: dict[str, Claim[Any]]

#: The tables of claims about one kind of architecture, each with a title and with the kind. An architecture
#: of no other kind is a model.
KINDS: dict[str, tuple[str, type[Any]]] = {
    "LAYER_CLAIMS": ("One layer", SingleLayer),
    "NETWORK_CLAIMS": ("Networks", DeepNetwork),
    "MODEL_CLAIMS": ("Models", Architecture),
}


def _claims() -> Iterator[Claim[Any]]:
    for module in sorted(found.name for found in iter_modules(__path__)):
        yield from getattr(import_module(f"{__name__}.{module}"), "CLAIMS", ())


@cache
def _tables() -> dict[str, dict[str, Claim[Any]]]:
    found = {claim.id: claim for claim in sorted(_claims(), key=lambda claim: claim.place)}
    tables = {"CLAIMS": found}
    for table, (_, about) in KINDS.items():
        tables[table] = {name: claim for name, claim in found.items() if claim.about is about}
    return tables


def titled() -> Iterator[tuple[str, dict[str, Claim[Any]]]]:
    """The claims about each kind of architecture, with a title.

    >>> [title for title, _ in titled()]
    ['One layer', 'Networks', 'Models']
    """
    for table, (title, _) in KINDS.items():
        yield title, _tables()[table]


def __getattr__(name: str) -> dict[str, Claim[Any]]:
    if name.endswith("CLAIMS") and name in _tables():
        return _tables()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _table_about(architecture: Architecture) -> str:
    *others, models = KINDS
    return next((table for table in others if isinstance(architecture, KINDS[table][1])), models)


def claims_about(architecture: Architecture, ids: tuple[str, ...] = ()) -> list[Claim[Any]]:
    """The claims of these ids, or all claims about architectures of this kind.

    >>> from agattn import Linear, Network
    >>> [claim.id for claim in claims_about(Network([Linear(2)], dim=2))]
    ['agattn.model-dimension', 'agattn.model-symmetries']

    Raises:
        InputError: if there is no such claim, or it is about another kind.
    """
    claims = _tables()["CLAIMS"]
    mine = _tables()[_table_about(architecture)]
    abouts = {name: claim.about for name, claim in claims.items() if name not in mine}
    return select(mine, ids, {name: f"about a {x.kind}; give {x.options}" for name, x in abouts.items()})
