"""A grid: one question about many architectures, as a file that a mathematician writes.

>>> grid = read_grid('''
... ask = "strata"
... [layers]
... d = "2..3"
... d_out = 1
... a = "1..d"
... ''')
>>> [str(job.architecture).split(":")[0] for job in grid.jobs]
['M(2,1,1)', 'M(2,1,2)', 'M(3,1,1)', 'M(3,1,2)', 'M(3,1,3)']
>>> read_grid('[layers]\\nd = "2..x"\\nd_out = 1')
Traceback (most recent call last):
    ...
agattn.errors.InputError: layers: d is '2..x'; 'x' is no whole number
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import islice, product
from typing import Any

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.claims.network import CLAIMS as NETWORK_CLAIMS
from agattn.claims.single_layer import CLAIMS
from agattn.engines.run import DEFAULT_MEMORY, DEFAULT_TIMEOUT, Limits
from agattn.errors import InputError, TooLargeError
from agattn.studies.jobs import ASKS, Job
from agattn.verification.verify import CHOICES

#: Grids of more jobs are started only with ``force``.
MAX_JOBS = 100_000
_MAX_COUNTED = 300_000
_MAX_NUMBER = 100_000  # in a grid; no architecture of that size can be computed
_SHOWN = 80

_LAYER_KEYS = ("d", "d_out", "a", "t")
_NETWORK_KEYS = ("dims", "ranks", "t", "heads", "skip", "normalization", "temperature", "value_rank")
_SETTINGS = tuple(dict.fromkeys(key for keys in ASKS.values() for key in keys))
_RANGE = re.compile(r"\s*(\w+)\s*(?:\.\.\s*(\w+)\s*)?")
_DIGITS = re.compile(r"[0-9]{1,18}")

Table = dict[str, Any]
Numbers = Sequence[int]


@dataclass(frozen=True)
class Grid:
    """The jobs of a study, each once, in the order of the file; and the file itself."""

    jobs: tuple[Job, ...]
    text: str

    def part(self, text: str) -> tuple[Job, ...]:
        """The jobs of part ``K/N``: every N-th, from the K-th on.

        Raises:
            InputError: if that is no such fraction.
        """
        number, slash, parts = text.partition("/")
        numbers = [int(n) for n in (number, parts) if _DIGITS.fullmatch(n)]
        if not slash or len(numbers) != 2 or not 1 <= numbers[0] <= numbers[1]:
            raise InputError(f"the part is {text[:_SHOWN]!r}; write K/N with K from 1 to N, such as 1/4")
        return self.jobs[numbers[0] - 1 :: numbers[1]]


def example() -> str:
    """A grid that works, with comments."""
    return resources.files("agattn.studies").joinpath("example.toml").read_text(encoding="utf-8")


def read_grid(text: str, given: Mapping[str, Any] | None = None, force: bool = False) -> Grid:
    """Read a grid.

    Args:
        text: TOML, as :func:`example` shows it.
        given: seed, timeout or memory that count instead of those in the file.
        force: accept more than :data:`MAX_JOBS` jobs.

    Raises:
        InputError: if something in it cannot be used; names the key, the value and the fix.
        TooLargeError: if there are too many jobs.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the grid is not TOML: {error}; agattn study --example shows one") from None
    except RecursionError:
        raise InputError("the grid is not TOML that can be read: it is nested too deeply") from None
    _check_keys(table, ("ask", *_SETTINGS, "layers", "networks"), "the grid")
    ask = table.get("ask", "verify")
    if not isinstance(ask, str) or ask not in ASKS:
        raise InputError(f"ask is {_shown(ask)}; choose among {', '.join(ASKS)}")
    settings = {key: table[key] for key in _SETTINGS if key in table} | dict(given or {})
    for key in settings:
        if key not in ASKS[ask]:
            raise InputError(f'{key} means nothing where ask = "{ask}"; leave it out')
    _check_settings(settings)
    wanted: list[str] = settings.pop("claims", [])
    blocks = {"layers": _blocks(table, "layers"), "networks": _blocks(table, "networks")}
    if not any(blocks.values()):
        raise InputError("the grid names no architecture; add [layers] or [[networks]]")
    _check_kinds(ask, blocks)
    claims = {kind: _claims(wanted, kind, bool(blocks[kind])) for kind in blocks}
    if ask != "verify":
        settings["engine"] = "native"

    def jobs() -> Iterator[Job]:
        for kind, of_block in (("layers", _layers), ("networks", _networks)):
            for name, block in blocks[kind]:
                empty = True
                for architecture in of_block(name, block):
                    empty = False
                    yield Job(architecture, ask, claims[kind], **settings)
                if empty:
                    raise InputError(f"{name} has no architecture in it: a range such as 2..1 is empty")

    if force:
        return Grid(tuple(dict.fromkeys(jobs())), text)
    found = dict.fromkeys(islice(jobs(), _MAX_COUNTED + 1))
    if len(found) > MAX_JOBS:
        number = str(len(found)) if len(found) <= _MAX_COUNTED else f"more than {_MAX_COUNTED}"
        raise TooLargeError(
            f"the grid has {number} jobs; the limit is {MAX_JOBS}. Use --force to start all the same"
        )
    return Grid(tuple(found), text)


def _check_keys(table: Table, known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
            raise InputError(f"{where} has an unknown key {key[:_SHOWN]!r}; {hint}")


def _check_settings(settings: Table) -> None:
    """The settings of all jobs; what is missing keeps its default."""
    settings.setdefault("engine", "auto")
    if settings["engine"] not in CHOICES:
        raise InputError(f"engine is {_shown(settings['engine'])}; choose among {', '.join(CHOICES)}")
    for key, least in (("seed", 0), ("memory", 64)):
        value = settings.get(key, least)
        if type(value) is not int or value < least:
            raise InputError(f"{key} is {_shown(value)}; it must be a whole number of at least {least}")
    timeout = settings.get("timeout", DEFAULT_TIMEOUT)
    if type(timeout) not in (int, float):
        raise InputError(f"timeout is {_shown(timeout)}; it must be a number of seconds above 0")
    Limits(timeout, settings.get("memory", DEFAULT_MEMORY))
    claims = settings.get("claims", ["any"])
    if not isinstance(claims, list) or not claims or not all(isinstance(claim, str) for claim in claims):
        raise InputError(
            f'claims is {_shown(claims)}; it must be a list such as ["corollary-3.3"], or be left out for all'
        )


def _blocks(table: Table, kind: str) -> list[tuple[str, Table]]:
    """The tables of a kind, each with its name for messages."""
    value = table.get(kind, [])
    blocks = [value] if isinstance(value, dict) else value
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise InputError(f"{kind} is {_shown(value)}; it must be a block [{kind}] or several [[{kind}]]")
    if len(blocks) == 1:
        return [(kind, blocks[0])]
    return [(f"{kind} {n}", block) for n, block in enumerate(blocks, 1)]


def _check_kinds(ask: str, blocks: Mapping[str, list[tuple[str, Table]]]) -> None:
    if ask == "dimension" and blocks["layers"]:
        raise InputError(
            'ask = "dimension" is for [[networks]]; '
            "a layer is the network with dims = [[d, d_out]] and ranks = [[a]]"
        )
    if ask == "strata" and blocks["networks"]:
        raise InputError('ask = "strata" is for [layers]; networks of several layers have none')


def _claims(wanted: list[str], kind: str, needed: bool) -> tuple[str, ...]:
    """Those of the claims wanted that are about architectures of a kind; none for all."""
    of_kind, others = (CLAIMS, NETWORK_CLAIMS) if kind == "layers" else (NETWORK_CLAIMS, CLAIMS)
    for claim in wanted:
        if claim not in of_kind and claim not in others:
            close = difflib.get_close_matches(claim, [*CLAIMS, *NETWORK_CLAIMS], n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(of_kind)}"
            raise InputError(f"there is no claim {claim[:_SHOWN]!r}{hint}")
    mine = tuple(dict.fromkeys(claim for claim in wanted if claim in of_kind))
    if needed and wanted and not mine:
        raise InputError(f"none of the claims is about {kind}; leave out {kind}, or add one of their claims")
    return mine


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."


# Numbers ----------------------------------------------------------------------------------------------------


def numbers(where: str, value: object, letters: Mapping[str, int] | None = None) -> list[int]:
    """What a number, a range or a list of both stands for.

    Args:
        where: the key, for messages.
        value: as TOML gave it.
        letters: values of letters that may stand for numbers.

    Raises:
        InputError: if it stands for no numbers of at least 1.

    >>> numbers("d", [1, "3..5"]), numbers("a", "1..d", {"d": 2})
    ([1, 3, 4, 5], [1, 2])
    """
    entries = value if isinstance(value, list) else [value]
    if not entries:
        raise InputError(f"{where} is an empty list; give a number, a list or a range such as '1..4'")
    return [number for entry in entries for number in _entry(where, entry, letters or {})]


def _entry(where: str, entry: object, letters: Mapping[str, int]) -> Numbers:
    if type(entry) is int:
        return [_in_bounds(where, entry, entry)]
    match = _RANGE.fullmatch(entry) if isinstance(entry, str) else None
    if match is None:
        raise InputError(
            f"{where} is {_shown(entry)}; "
            "it must be a whole number, a range such as '1..4', or a list of them"
        )
    first = _end(where, entry, match[1], letters)
    last = first if match[2] is None else _end(where, entry, match[2], letters)
    constant = all(_DIGITS.fullmatch(end) for end in match.groups() if end)
    if last < first and constant:
        raise InputError(f"{where} is {_shown(entry)}, which is empty; write the smaller number first")
    return range(first, last + 1)


def _end(where: str, entry: object, text: str, letters: Mapping[str, int]) -> int:
    if text in letters:
        return letters[text]
    if not _DIGITS.fullmatch(text):
        known = f" nor one of {', '.join(letters)}" if letters else ""
        raise InputError(f"{where} is {_shown(entry)}; {text[:_SHOWN]!r} is no whole number{known}")
    return _in_bounds(where, int(text), entry)


def _in_bounds(where: str, number: int, entry: object) -> int:
    if not 1 <= number <= _MAX_NUMBER:
        raise InputError(f"{where} is {_shown(entry)}; numbers must lie between 1 and {_MAX_NUMBER}")
    return number


# Architectures ----------------------------------------------------------------------------------------------


def _layers(name: str, block: Table) -> Iterator[Architecture]:
    """Every combination of d, d', a and t; a letter stands for the value that came before it."""
    _check_keys(block, _LAYER_KEYS, name)
    for key in ("d", "d_out"):
        if key not in block:
            raise InputError(f"{name} has no {key}; add a line such as {key} = 2")
    values = {"a": "d", "t": 2} | block
    bound: dict[str, int] = {}

    def fill(keys: tuple[str, ...]) -> Iterator[Architecture]:
        if not keys:
            yield SingleLayer(**bound)
            return
        earlier = {letter: bound[letter] for letter in _LAYER_KEYS[: _LAYER_KEYS.index(keys[0])]}
        for number in numbers(f"{name}: {keys[0]}", values[keys[0]], earlier):
            bound[keys[0]] = number
            yield from fill(keys[1:])

    return fill(_LAYER_KEYS)


def _networks(name: str, block: Table) -> Iterator[Architecture]:
    """Every combination of widths, ranks and the rest."""
    _check_keys(block, _NETWORK_KEYS, name)
    for key in ("dims", "ranks"):
        if key not in block:
            raise InputError(f"{name} has no {key}; add a line such as {key} = {_PATTERNS[key]}")
    choices = {key: read(f"{name}: {key}", block[key]) for key, read in _READERS.items() if key in block}
    for combination in product(*choices.values()):
        chosen = dict(zip(choices, combination, strict=True))
        try:
            yield DeepNetwork(**chosen)
        except InputError as error:
            where = f"{name}, with dims = {list(chosen['dims'])} and ranks = {list(chosen['ranks'])}"
            raise InputError(
                f"{where}: {error}; what does not fit together belongs into separate [[networks]]"
            ) from None


def _sequences(where: str, value: object) -> list[tuple[int, ...]]:
    """Sequences of numbers; each range in one stands for each of its numbers.

    >>> _sequences("dims", [[2, "1..2"], [3, 3]])
    [(2, 1), (2, 2), (3, 3)]
    """
    key = where.split(": ")[-1]
    if not isinstance(value, list) or not value:
        raise InputError(f"{where} is {_shown(value)}; it must be a list of lists such as {_PATTERNS[key]}")
    rows = value if isinstance(value[0], list) else [value]
    found: list[tuple[int, ...]] = []
    for row in rows:
        if not isinstance(row, list) or not row:
            raise InputError(f"{where} has {_shown(row)} in it; it must be a list such as {_PATTERNS[key]}")
        found += islice(product(*(_entry(where, entry, {}) for entry in row)), _MAX_COUNTED + 1)
    return found


def _heads(where: str, value: object) -> Sequence[Any]:
    """Numbers of heads, each for all layers; or lists with one number for each layer."""
    if isinstance(value, list) and any(isinstance(entry, list) for entry in value):
        return _sequences(where, value)
    return numbers(where, value)


def _value_ranks(where: str, value: object) -> list[int | None]:
    found: list[int | None] = []
    for entry in value if isinstance(value, list) else [value]:
        found += [None] if entry == "none" else numbers(where, entry)
    if not found:
        raise InputError(f"{where} is an empty list; give a number, or 'none' for no restriction")
    return found


def _choices(kinds: tuple[type, ...], words: str) -> Callable[[str, object], list[Any]]:
    """A reader of one value, or a list of values, of some types."""

    def read(where: str, value: object) -> list[Any]:
        found = value if isinstance(value, list) else [value]
        if not found or not all(type(entry) in kinds for entry in found):
            raise InputError(f"{where} is {_shown(value)}; it must be {words}, or a list of them")
        return found

    return read


def _temperatures(where: str, value: object) -> list[float]:
    return [float(entry) for entry in _choices((int, float), "a number above 0")(where, value)]


_PATTERNS = {"dims": "[[4, 3, 4]]", "ranks": "[[2, 2]]", "heads": "[[1, 2]]"}
_READERS: dict[str, Callable[[str, object], Sequence[Any]]] = {
    "dims": _sequences,
    "ranks": _sequences,
    "t": numbers,
    "heads": _heads,
    "skip": _choices((bool,), "true or false"),
    "normalization": _choices((str,), "'none' or 'softmax'"),
    "temperature": _temperatures,
    "value_rank": _value_ranks,
}
