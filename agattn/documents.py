"""The JSON document of each command, by name: the results that describe it, and the schema made from these.

>>> schema("identify")["properties"]["schema"]["enum"]
['agattn/identify/1']
>>> layer = {"d": 2, "d_out": 1, "a": 2, "t": 2}
>>> script = {"schema": "agattn/emit/1", "task": "fiber", "engine": "singular", "architecture": layer}
>>> check("emit", script | {"script": 3})
Traceback (most recent call last):
agattn.errors.InputError: Expected `str`, got `int` - at `$.script`
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from agattn.calls import one_of
from agattn.names import COMMANDS
from agattn.sheet import result

#: The result, or the results, of each command that has documents, as ``module:class``.
RESULTS = {name: command.results for name, command in COMMANDS.items() if command.results}

#: Commands that print a document on each of many lines, which the description of the result says.
LINES = ("study", "train")
#: The names of all schemas.
NAMES = sorted(RESULTS)


def results(name: str) -> tuple[Any, ...]:
    """The results of the command ``name``."""
    places = (place.split(":") for place in RESULTS[name])
    return tuple(getattr(import_module(module), kind) for module, kind in places)


def schema(name: str) -> dict[str, Any]:
    """The JSON schema, in the 2020-12 draft, of what a command prints with ``--json``.

    Args:
        name: of the command; :data:`~agattn.documents.NAMES` has those that print JSON.

    Raises:
        InputError: if there is no such schema.

    See Also:
        :func:`agattn.check`, :func:`agattn.certificate`; ``agattn schema`` in a shell.

    >>> import agattn as ag
    >>> ag.schema("rank")["title"]
    'agattn rank --json'
    >>> ag.schema("rang")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: there is no schema 'rang'; did you mean 'rank'?
    """
    name = one_of(name, NAMES, "schema")
    document = result.schema(*results(name), title=f"agattn {name} --json")
    if "anyOf" not in document and name not in LINES:
        document.pop("description", None)  # what the command does says more than the class of its result
    return document


def check(name: str, document: object) -> None:
    """Check that ``document`` is what the command ``name`` prints with ``--json``.

    Raises:
        InputError: if it is not; says where, such as ``$.claims[0].verdict``.
    """
    result.check_one_of(results(name), document)
