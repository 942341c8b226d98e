"""What the paper says, and this project, as objects.

Every file of this package may have a tuple ``CLAIMS``, which is where a claim is registered.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.claims.claim import Claim, select
from agattn.errors import worded

#: The tables of claims about one kind of architecture, each with a title and with the kind. An architecture
#: of no other kind is a model.
KINDS: dict[str, tuple[str, type[Any]]] = {
    "LAYER_CLAIMS": ("One layer", SingleLayer),
    "NETWORK_CLAIMS": ("Networks", DeepNetwork),
    "MODEL_CLAIMS": ("Models", Architecture),
}


def _table(about: type[Any] | None = None) -> dict[str, Claim[Any]]:
    """All claims by id, or those about one kind of architecture."""
    files = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]
    claims = [
        claim for file in files for claim in getattr(file, "CLAIMS", ()) if about in (None, claim.about)
    ]
    return {claim.id: claim for claim in sorted(claims, key=lambda claim: claim.order)}


def table_of(identifier: str) -> str:
    """The name of the table that has the claim of exactly this id; empty if there is no such claim.

    >>> table_of("corollary-3.8"), table_of("corollary-3"), table_of("agattn.model-dimension")
    ('NETWORK_CLAIMS', '', 'MODEL_CLAIMS')
    """
    tables = {kind: name for name, (_, kind) in KINDS.items()}
    claim = _table().get(identifier)
    return tables[claim.about] if claim else ""


def titled() -> list[tuple[str, dict[str, Claim[Any]]]]:
    """The claims about each kind of architecture, with a title.

    >>> [title for title, _ in titled()]
    ['One layer', 'Networks', 'Models']
    """
    return [(title, _table(about)) for title, about in KINDS.values()]


def __getattr__(name: str) -> dict[str, Claim[Any]]:
    """``CLAIMS``: all claims by id, the paper's in its order, then this project's; or one of the tables."""
    if name in KINDS:
        return _table(KINDS[name][1])
    if name == "CLAIMS":
        return _table()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def claims_about(architecture: Architecture, ids: tuple[str, ...] = ()) -> list[Claim[Any]]:
    """The claims of these ids, or all claims that speak of this architecture.

    >>> from agattn import Linear, Network
    >>> [claim.id for claim in claims_about(Network([Linear(2)], dim=2))]
    ['agattn.model-dimension', 'agattn.model-symmetries']

    Raises:
        InputError: if there is no such claim, or it is about another kind.
    """
    *others, models = (kind for _, kind in KINDS.values())
    about = next((kind for kind in others if isinstance(architecture, kind)), models)
    mine = _table(about)
    if not ids:
        return [claim for claim in mine.values() if claim.subject(architecture)]
    kinds = {name: claim.about for name, claim in _table().items() if name not in mine}
    elsewhere = {name: f"about a {kind.kind}; give {worded(*kind.options)}" for name, kind in kinds.items()}
    return select(mine, ids, elsewhere)
