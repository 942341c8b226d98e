"""A grid: questions about many architectures, as a file that a mathematician writes.

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

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain, product
from math import prod
from typing import Any

from agattn import claims
from agattn.architectures import Architecture, DeepNetwork, Network, SingleLayer
from agattn.architectures.model_file import check_keys, from_table
from agattn.calls import shown
from agattn.claims.claim import ids_named, no_claim
from agattn.engines.catalogue import engine_name
from agattn.errors import InputError, TooLargeError, argument
from agattn.experiments.studies.jobs import ABOUT, ASKS, TOGETHER, Job
from agattn.files import about, parsed
from agattn.limits import Limits, limits, takes
from agattn.verification.verify import CHOICES

#: Grids of more jobs are started only with ``force``.
MAX_JOBS = 10_000
#: Grids of more jobs are not started at all: they would fill the memory before the first job.
MAX_FORCED = 1_000_000
_MAX_NUMBER = 10_000  # in a grid; no architecture of that size can be computed
_LAYERS_PER_JOB = 100  # that a grid of as many jobs as it may have can have on average
_MAX_LETTERS = 2_000_000
_SHOWN = 80

_KINDS: dict[str, type[Any]] = {"layers": SingleLayer, "networks": DeepNetwork, "models": Network}
_CLAIMED = {"layers": "LAYER_CLAIMS", "networks": "NETWORK_CLAIMS", "models": "MODEL_CLAIMS"}
_SHOWN_KINDS = {"layers": "[layers]", "networks": "[[networks]]", "models": "[[models]]"}
_SETTINGS = tuple(dict.fromkeys(chain(*ASKS.values())))
_OWN = ("ask", "max_degree")  # what a block may have for itself
_RANGE = re.compile(r"\s*(\w+)\s*(?:\.\.\s*(\w+)\s*)?")
_DIGITS = "[0-9]{1,18}"

Table = dict[str, Any]
_PATTERNS = {"dims": "[[4, 3, 4]]", "ranks": "[[2, 2]]", "heads": "[[1, 2]]"}


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
        match = re.fullmatch(f"({_DIGITS})/({_DIGITS})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise InputError(f"the part is {text[:_SHOWN]!r}; write K/N with K from 1 to N, such as 1/4")
        return self.jobs[int(match[1]) - 1 :: int(match[2])]


def example() -> str:
    """A grid that works, with comments."""
    return resources.files("agattn.experiments.studies").joinpath("example.toml").read_text(encoding="utf-8")


@takes("force")
def read_grid(text: str, given: Mapping[str, Any] | None = None) -> Grid:
    """Read a grid.

    Args:
        text: TOML, as :func:`example` shows it.
        given: seed, timeout or memory that count instead of those in the file.

    Raises:
        InputError: if something in it cannot be used; names the key, the value and the fix.
        TooLargeError: if there are too many jobs; they are counted before they are made.
    """
    if len(text) > _MAX_LETTERS:
        raise InputError(f"the grid has {len(text)} letters; at most {_MAX_LETTERS} are read. Write ranges")
    table = parsed("TOML", text, "the grid", "; agattn study --example shows one")
    _check_keys(table, ("ask", *_SETTINGS, *_KINDS), "the grid")
    asks = _asks("ask", table.get("ask", "verify"))
    shared = {key: table[key] for key in _SETTINGS if key in table} | dict(given or {})
    _check_settings(shared)
    blocks = [_Block(kind, *block, asks, shared) for kind in _KINDS for block in _blocks(table, kind)]
    if not blocks:
        raise InputError("the grid names no architecture; add [layers], [[networks]] or [[models]]")
    every = dict.fromkeys(one for block in blocks for one in block.asks)
    for one in every:
        if len(every) > 1 and one not in TOGETHER:
            raise InputError(f'ask = "{one}" is asked alone; together can be asked {", ".join(TOGETHER)}')
    _check_means_something(shared, every)
    for block in blocks:
        block.check()
    wanted: list[str] = shared.get("claims", [])
    chosen = {kind: _claims(wanted, kind, any(block.kind == kind for block in blocks)) for kind in _CLAIMED}

    limit = _Limit()
    found: dict[Job, None] = {}
    for block in blocks:
        architectures = _READ[block.kind](block.name, block.table, limit)
        if not architectures:
            raise InputError(f"{block.name} has no architecture in it: a range such as 2..1 is empty")
        limit.check(block.name, len(architectures) * len(block.asks))
        for architecture, ask in product(architectures, block.asks):
            found[Job(architecture, ask, **block.of(ask, chosen))] = None
        limit.left -= len(architectures) * len(block.asks)
    return Grid(tuple(found), text)


class _Block:
    """A table of architectures, what is asked about them, and how."""

    def __init__(self, kind: str, name: str, table: Table, asks: tuple[str, ...], shared: Table) -> None:
        self.kind, self.name, self.table = kind, name, {k: v for k, v in table.items() if k not in _OWN}
        self.asks = _asks(f"{name}: ask", table["ask"]) if "ask" in table else asks
        own = {key: table[key] for key in _OWN[1:] if key in table}
        _check_settings(own, f"{name}: ")
        _check_means_something(own, self.asks, f"{name}: ")
        self.settings = shared | own

    def check(self) -> None:
        """Refuse a question that is not about such architectures."""
        for ask in self.asks:
            if _KINDS[self.kind] not in ABOUT[ask]:
                known = " and ".join(_SHOWN_KINDS[kind] for kind in _KINDS if _KINDS[kind] in ABOUT[ask])
                same = "a layer is the network with dims = [[d, d_out]] and ranks = [[a]]"
                hint = f"; {same}" if ask == "dimension" and self.kind == "layers" else ""
                raise InputError(f'ask = "{ask}" is for {known}{hint}')

    def of(self, ask: str, claims: Mapping[str, tuple[str, ...]]) -> Table:
        """The settings of a question."""
        settings = {key: value for key, value in self.settings.items() if key in ASKS[ask]}
        if ask == "verify":
            settings = {"engine": "auto"} | settings | {"claims": claims[self.kind]}
        return settings


class _Limit:
    """How many jobs a grid may still have."""

    def __init__(self) -> None:
        force = limits().force
        self.all = self.left = MAX_FORCED if force else MAX_JOBS
        self.fix = "split the grid" if force else f"use {argument('force', True)} to start all the same"

    def check(self, where: str, count: int, exactly: bool = True) -> None:
        """Refuse so many combinations, of which none has been made."""
        if count > self.left:
            jobs = f"{count:,} job{'s' * (count > 1)}" if count < 10**15 else "more than 10^15 jobs"
            before = f", {self.all - self.left:,} come before," if self.left < self.all else ""
            raise TooLargeError(
                f"{where} makes {'' if exactly else 'at least '}{jobs}{before} and the limit is "
                f"{self.all:,}; {self.fix}"
            )


def _bad(where: str, value: object, fix: str) -> InputError:
    return InputError(f"{where} is {shown(value)}; {fix}")


def _check_keys(table: Table, known: Sequence[str], where: str, needed: Sequence[str] = ()) -> None:
    check_keys(where, table, known)
    for key in needed:
        if key not in table:
            raise InputError(f"{where} has no {key}; add a line such as {key} = {_PATTERNS.get(key, 2)}")


def _asks(where: str, value: object) -> tuple[str, ...]:
    """The questions that are named."""
    asks = value if isinstance(value, list) else [value]
    if not asks or not all(isinstance(one, str) and one in ASKS for one in asks):
        raise _bad(where, value, f"choose among {', '.join(ASKS)}")
    return tuple(dict.fromkeys(asks))


def _check_means_something(settings: Table, asks: Collection[str], where: str = "") -> None:
    """Refuse settings that none of the questions depends on."""
    for key in settings:
        if not any(key in ASKS[one] for one in asks):
            asked = " and ".join(f'"{one}"' for one in asks)
            raise InputError(f"{where}{key} means nothing where ask = {asked}; leave it out")


def _check_settings(settings: Table, where: str = "") -> None:
    """Check settings; what is missing keeps its default."""
    for key, value in settings.items():
        if key == "engine":
            try:
                settings[key] = engine_name(str(value), CHOICES)
            except InputError:
                raise _bad(key, value, f"choose among {', '.join(CHOICES)}") from None
        least = {"seed": 0, "memory": 64, "max_degree": 1}.get(key)
        if least is not None and (type(value) is not int or value < least):
            raise _bad(f"{where}{key}", value, f"it must be a whole number of at least {least}")
        if key == "timeout" and type(value) not in (int, float):
            raise _bad(key, value, "it must be a number of seconds above 0")
        is_list = isinstance(value, list) and value and all(isinstance(claim, str) for claim in value)
        if key == "claims" and not is_list:
            raise _bad(key, value, 'it must be a list such as ["corollary-3.3"], or be left out for all')
    Limits(**{key: settings[key] for key in ("timeout", "memory") if key in settings})


def _blocks(table: Table, kind: str) -> list[tuple[str, Table]]:
    """The tables of a kind, each with its name for messages."""
    value = table.get(kind, [])
    blocks = [value] if isinstance(value, dict) else value
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise _bad(kind, value, f"it must be a block [{kind}] or several [[{kind}]]")
    if len(blocks) == 1:
        return [(kind, blocks[0])]
    return [(f"{kind} {n}", block) for n, block in enumerate(blocks, 1)]


def _claims(wanted: list[str], kind: str, needed: bool) -> tuple[str, ...]:
    """The claims wanted that are about architectures of a kind; none for all."""
    tables: dict[str, str] = {}
    for text in wanted:
        found = [text] if claims.table_of(text) else ids_named(text, claims.CLAIMS)
        if not found:
            raise no_claim(text, getattr(claims, _CLAIMED[kind]), claims.CLAIMS)
        tables |= {claim: claims.table_of(claim) for claim in found}
    mine = tuple(claim for claim, table in tables.items() if table == _CLAIMED[kind])
    if needed and wanted and not mine:
        raise InputError(f"none of the claims is about {kind}; leave out {kind}, or add a claim about {kind}")
    return mine


# Values -----------------------------------------------------------------------------------------------------


def numbers(where: str, value: object, letters: Mapping[str, int] | None = None) -> list[range]:
    """What a number, a range or a list of both stands for; letters may stand for numbers in it.

    Raises:
        InputError: if it stands for no numbers of at least 1; names the key, ``where``.

    >>> numbers("d", [1, "3..5"]), numbers("a", "1..d", {"d": 2})
    ([range(1, 2), range(3, 6)], [range(1, 3)])
    """
    letters = letters or {}

    def one(text: str, entry: object) -> int:
        if text in letters:
            return letters[text]
        if not re.fullmatch(_DIGITS, text):
            known = f" nor one of {', '.join(letters)}" if letters else ""
            raise _bad(where, entry, f"{text[:_SHOWN]!r} is no whole number{known}")
        return int(text)

    entries = value if isinstance(value, list) else [value]
    if not entries:
        raise InputError(f"{where} is an empty list; give a number, a list or a range such as '1..4'")
    found: list[range] = []
    for entry in entries:
        sides: tuple[str, ...] = ()
        if type(entry) is int:
            first = last = entry
        elif isinstance(entry, str) and (match := _RANGE.fullmatch(entry)):
            sides = (match[1], match[2] or match[1])
            first, last = (one(side, entry) for side in sides)
        else:
            raise _bad(where, entry, "it must be a whole number, a range such as '1..4', or a list of them")
        if not all(1 <= number <= _MAX_NUMBER for number in (first, last)):
            raise _bad(where, entry, f"numbers must lie between 1 and {_MAX_NUMBER}")
        if last < first and not letters.keys() & set(sides):
            raise InputError(f"{where} is {shown(entry)}, which is empty; write the smaller number first")
        found.append(range(first, last + 1))
    return found


def _numbers(where: str, value: object, limit: _Limit) -> list[int]:
    """The numbers one by one, which are counted first."""
    found = numbers(where, value)
    limit.check(where, sum(map(len, found)))
    return [*chain(*found)]


def _sequences(where: str, value: object, limit: _Limit) -> list[tuple[int, ...]]:
    """Sequences of numbers; each range in one stands for each of its numbers.

    >>> _sequences("dims", [[2, "1..2"], [3, 3]], _Limit())
    [(2, 1), (2, 2), (3, 3)]
    """
    pattern = _PATTERNS[where.split(": ")[-1]]
    if not isinstance(value, list) or not value:
        raise _bad(where, value, f"it must be a list of lists such as {pattern}")
    rows: list[list[list[range]]] = []
    for row in value if isinstance(value[0], list) else [value]:
        if not isinstance(row, list) or not row:
            raise InputError(f"{where} has {shown(row)} in it; it must be a list such as {pattern}")
        rows.append([numbers(where, entry) for entry in row])
    limit.check(where, sum(prod(sum(map(len, entry)) for entry in row) for row in rows))
    return [found for row in rows for found in product(*(chain(*entry) for entry in row))]


def _heads(where: str, value: object, limit: _Limit) -> Sequence[Any]:
    """Numbers for all layers; or lists with one number for each layer."""
    lists = isinstance(value, list) and any(isinstance(entry, list) for entry in value)
    return _sequences(where, value, limit) if lists else _numbers(where, value, limit)


def _value_ranks(where: str, value: object, limit: _Limit) -> list[int | None]:
    entries = value if isinstance(value, list) and value else [value]
    limit.check(where, len(entries))
    read: list[list[range] | None] = [None if e == "none" else numbers(where, e) for e in entries]
    limit.check(where, sum(1 if ranks is None else sum(map(len, ranks)) for ranks in read))
    return [rank for ranks in read for rank in ([None] if ranks is None else chain(*ranks))]


def _choices(kinds: tuple[type, ...], words: str) -> Callable[[str, object, _Limit], list[Any]]:
    """A reader of one value, or a list of values, of some types; the first of them is what they become."""

    def read(where: str, value: object, limit: _Limit) -> list[Any]:
        found = value if isinstance(value, list) else [value]
        if not found or not all(type(entry) in kinds for entry in found):
            raise _bad(where, value, f"it must be {words}, or a list of them")
        return [kinds[0](entry) for entry in found]

    return read


# Architectures ----------------------------------------------------------------------------------------------


def _layers(name: str, block: Table, limit: _Limit) -> list[Architecture]:
    """Every combination of d, d', a and t; a letter stands for the value that came before it."""
    _check_keys(block, ("d", "d_out", "a", "t"), name, ("d", "d_out"))
    found: list[dict[str, int]] = [{}]
    for key in ("d", "d_out", "a", "t"):
        shorter, found, count = found, [], 0
        for values in shorter:
            ranges = numbers(f"{name}: {key}", block.get(key, "d" if key == "a" else 2), values)
            count += sum(max(len(one), 1) for one in ranges)  # what is empty takes time, too
            limit.check(f"{name}: {key} = {shown(block.get(key))}", count, exactly=len(shorter) == 1)
            found += [{**values, key: number} for number in chain(*ranges)]
    return [SingleLayer(**values) for values in found]


def _networks(name: str, block: Table, limit: _Limit) -> list[Architecture]:
    """Every combination of widths, ranks and the rest."""
    _check_keys(block, tuple(_READERS), name, ("dims", "ranks"))
    choices = {
        key: read(f"{name}: {key}", block[key], limit) for key, read in _READERS.items() if key in block
    }
    many = " × ".join(f"{len(values):,} {key}" for key, values in choices.items())
    count = prod(map(len, choices.values()))
    limit.check(f"{name}: {many}", count)
    if (layers := count * max(map(len, choices["dims"]))) > _LAYERS_PER_JOB * limit.left:
        raise TooLargeError(
            f"{name}: {many} are {layers:,} layers; the limit is {_LAYERS_PER_JOB * limit.left:,}"
        )
    found: list[Architecture] = []
    for combination in product(*choices.values()):
        chosen: dict[str, Any] = dict(zip(choices, combination, strict=True))
        try:
            found.append(DeepNetwork(**chosen))
        except InputError as error:
            where = f"{name}, with dims = {list(chosen['dims'])} and ranks = {list(chosen['ranks'])}"
            raise InputError(
                f"{where}: {error}; put values that do not fit together into separate [[networks]]"
            ) from None
    return found


def _models(name: str, block: Table, limit: _Limit) -> list[Architecture]:
    """One model, written as in a file of its own."""
    limit.check(name, 1)
    with about(name):
        model = from_table(block)
    return [model.as_network() or model]


_READ: dict[str, Callable[[str, Table, _Limit], Sequence[Architecture]]] = {
    "layers": _layers,
    "networks": _networks,
    "models": _models,
}
_READERS: dict[str, Callable[[str, object, _Limit], Sequence[Any]]] = {
    "dims": _sequences,
    "ranks": _sequences,
    "t": _numbers,
    "heads": _heads,
    "skip": _choices((bool,), "true or false"),
    "normalization": _choices((str,), "'none' or 'softmax'"),
    "temperature": _choices((float, int), "a number above 0"),
    "value_rank": _value_ranks,
}
