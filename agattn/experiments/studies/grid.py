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
from pathlib import Path
from typing import Any, NamedTuple

from agattn import claims
from agattn.architectures import Architecture, DeepNetwork, Network, SingleLayer
from agattn.architectures.model_file import check_keys, from_table
from agattn.calls import shown
from agattn.claims.claim import ids_named, no_claim
from agattn.engines.catalogue import engine_name
from agattn.errors import InputError, TooLargeError, argument
from agattn.experiments.studies.jobs import QUESTIONS, TOGETHER, Job
from agattn.experiments.studies.published import PublishedModel
from agattn.files import about, parsed, read_text
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

#: The kinds of blocks: what is in them, the table of claims about it, and how their headings look.
_KINDS: dict[str, tuple[type[Any], str, str]] = {
    "layers": (SingleLayer, "LAYER_CLAIMS", "[layers]"),
    "networks": (DeepNetwork, "NETWORK_CLAIMS", "[[networks]]"),
    "models": (Network, "MODEL_CLAIMS", "[[models]]"),
    "configurations": (PublishedModel, "", "[[configurations]]"),
}
_SETTINGS = tuple(dict.fromkeys(chain(*(question.settings for question in QUESTIONS.values()))))
_RANGE = re.compile(r"\s*(\w+)\s*(?:\.\.\s*(\w+)\s*)?")
_DIGITS = "[0-9]{1,18}"

Table = dict[str, Any]
_PATTERNS = {
    "dims": "[[4, 3, 4]]",
    "ranks": "[[2, 2]]",
    "heads": "[[1, 2]]",
    "name": '"gpt2"',
    "config": '{ model_type = "gpt2", n_embd = 768 }',
}

#: The grids that ship, by name.
NAMES = ("audit", "atlas", "zoo", "published")
_FOLDER = resources.files("agattn.experiments.studies")


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
    return _FOLDER.joinpath("example.toml").read_text(encoding="utf-8")


def grid_text(grid: Path) -> str:
    """The text of a grid that ships, by its name, or of a file.

    Raises:
        InputError: if the file cannot be read.
    """
    if str(grid) in NAMES:
        return _FOLDER.joinpath("grids", f"{grid}.toml").read_text(encoding="utf-8")
    return read_text(grid)


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
    check_keys("the grid", table, ("ask", *_SETTINGS, *_KINDS))
    asks = _asks("ask", table.get("ask", "verify"))
    shared = {key: table[key] for key in _SETTINGS if key in table} | dict(given or {})
    _check_settings(shared)
    blocks = [_Block.read(kind, *block, asks, shared) for kind in _KINDS for block in _blocks(table, kind)]
    if not blocks:
        raise InputError(
            "the grid names no architecture; add [layers], [[networks]], [[models]] or [[configurations]]"
        )
    every = dict.fromkeys(ask for block in blocks for ask in block.asks)
    for ask in every:
        if len(every) > 1 and ask not in TOGETHER:
            raise InputError(f'ask = "{ask}" is asked alone; together can be asked {", ".join(TOGETHER)}')
    _check_means_something(shared, every)
    for block in blocks:
        block.check()
    kinds = {block.kind for block in blocks}
    chosen = {kind: _claims(shared.get("claims", []), kind, kind in kinds) for kind in _KINDS}
    limit = _Limit()
    jobs: dict[Job, None] = {}
    for block in blocks:
        architectures = _READ[block.kind](block.name, block.table, limit)
        if not architectures:
            raise InputError(f"{block.name} has no architecture in it: a range such as 2..1 is empty")
        count = len(architectures) * len(block.asks)
        limit.check(block.name, count)
        for architecture, ask in product(architectures, block.asks):
            jobs[Job(architecture, ask, **block.of(ask, chosen[block.kind]))] = None
        limit.left -= count
    return Grid(tuple(jobs), text)


class _Block(NamedTuple):
    """A table of architectures, what is asked about them, and how."""

    kind: str
    name: str
    table: Table
    asks: tuple[str, ...]
    settings: Table

    @classmethod
    def read(cls, kind: str, name: str, table: Table, asks: tuple[str, ...], shared: Table) -> _Block:
        """A block, which may have questions and a last degree of its own."""
        rest = dict(table)
        own = {"max_degree": rest.pop("max_degree")} if "max_degree" in rest else {}
        asks = _asks(f"{name}: ask", rest.pop("ask")) if "ask" in rest else asks
        _check_settings(own, f"{name}: ")
        _check_means_something(own, asks, f"{name}: ")
        return cls(kind, name, rest, asks, shared | own)

    def check(self) -> None:
        """Refuse a question that is not about such architectures."""
        for ask in self.asks:
            headings = [heading for kind, _, heading in _KINDS.values() if kind in QUESTIONS[ask].about]
            if _KINDS[self.kind][2] not in headings:
                same = "a layer is the network with dims = [[d, d_out]] and ranks = [[a]]"
                hint = f"; {same}" if ask == "dimension" and self.kind == "layers" else ""
                raise InputError(f'ask = "{ask}" is for {" and ".join(headings)}{hint}')

    def of(self, ask: str, claims: tuple[str, ...]) -> Table:
        """The settings of a question."""
        settings = {key: value for key, value in self.settings.items() if key in QUESTIONS[ask].settings}
        return {"engine": "auto"} | settings | {"claims": claims} if ask == "verify" else settings


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


def _check_keys(table: Table, known: Sequence[str], where: str, needed: Sequence[str]) -> None:
    check_keys(where, table, known)
    for key in needed:
        if key not in table:
            raise InputError(f"{where} has no {key}; add a line such as {key} = {_PATTERNS.get(key, 2)}")


def _asks(where: str, value: object) -> tuple[str, ...]:
    """The questions that are named."""
    asks = value if isinstance(value, list) else [value]
    if not asks or not all(isinstance(ask, str) and ask in QUESTIONS for ask in asks):
        raise _bad(where, value, f"choose among {', '.join(QUESTIONS)}")
    return tuple(dict.fromkeys(asks))


def _check_means_something(settings: Table, asks: Collection[str], where: str = "") -> None:
    """Refuse settings that none of the questions depends on."""
    for key in settings:
        if not any(key in QUESTIONS[ask].settings for ask in asks):
            asked = " and ".join(f'"{ask}"' for ask in asks)
            raise InputError(f"{where}{key} means nothing where ask = {asked}; leave it out")


def _check_settings(settings: Table, where: str = "") -> None:
    """Check settings; what is missing keeps its default."""
    for key, value in settings.items():
        least = {"seed": 0, "memory": 64, "max_degree": 1}.get(key)
        if key == "engine":
            try:
                settings[key] = engine_name(str(value), CHOICES)
            except InputError:
                raise _bad(key, value, f"choose among {', '.join(CHOICES)}") from None
        elif least is not None and (type(value) is not int or value < least):
            raise _bad(f"{where}{key}", value, f"it must be a whole number of at least {least}")
        elif key == "timeout" and type(value) not in (int, float):
            raise _bad(key, value, "it must be a number of seconds above 0")
        elif key == "claims" and not (
            value and isinstance(value, list) and all(type(c) is str for c in value)
        ):
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
    mine = _KINDS[kind][1]
    ids: dict[str, None] = {}
    for text in wanted:
        named = [text] if claims.table_of(text) else ids_named(text, claims.CLAIMS)
        if not named:
            raise no_claim(text, getattr(claims, mine), claims.CLAIMS)
        ids |= dict.fromkeys(claim for claim in named if claims.table_of(claim) == mine)
    if needed and wanted and not ids:
        raise InputError(f"none of the claims is about {kind}; leave out {kind}, or add a claim about {kind}")
    return tuple(ids)


# Values -----------------------------------------------------------------------------------------------------


def numbers(where: str, value: object, letters: Mapping[str, int] | None = None) -> list[range]:
    """What a number, a range or a list of both stands for; letters may stand for numbers in it.

    Raises:
        InputError: if it stands for no numbers of at least 1; names the key, ``where``.

    >>> numbers("d", [1, "3..5"]), numbers("a", "1..d", {"d": 2})
    ([range(1, 2), range(3, 6)], [range(1, 3)])
    """
    letters = letters or {}

    def number(text: str, entry: object) -> int:
        if text in letters:
            return letters[text]
        if not re.fullmatch(_DIGITS, text):
            known = f" nor one of {', '.join(letters)}" if letters else ""
            raise _bad(where, entry, f"{text[:_SHOWN]!r} is no whole number{known}")
        return int(text)

    entries = value if isinstance(value, list) else [value]
    if not entries:
        raise InputError(f"{where} is an empty list; give a number, a list or a range such as '1..4'")
    ranges: list[range] = []
    for entry in entries:
        sides: tuple[str, ...] = ()
        if type(entry) is int:
            first = last = entry
        elif isinstance(entry, str) and (match := _RANGE.fullmatch(entry)):
            sides = (match[1], match[2] or match[1])
            first, last = (number(side, entry) for side in sides)
        else:
            raise _bad(where, entry, "it must be a whole number, a range such as '1..4', or a list of them")
        if not 1 <= min(first, last) <= max(first, last) <= _MAX_NUMBER:
            raise _bad(where, entry, f"numbers must lie between 1 and {_MAX_NUMBER}")
        if last < first and not letters.keys() & set(sides):
            raise InputError(f"{where} is {shown(entry)}, which is empty; write the smaller number first")
        ranges.append(range(first, last + 1))
    return ranges


def _numbers(where: str, value: object, limit: _Limit) -> list[int]:
    """The numbers one by one, which are counted first."""
    ranges = numbers(where, value)
    limit.check(where, sum(map(len, ranges)))
    return [*chain(*ranges)]


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
    return [sequence for row in rows for sequence in product(*(chain(*entry) for entry in row))]


def _heads(where: str, value: object, limit: _Limit) -> Sequence[Any]:
    """Numbers for all layers; or lists with one number for each layer."""
    lists = isinstance(value, list) and any(isinstance(entry, list) for entry in value)
    return _sequences(where, value, limit) if lists else _numbers(where, value, limit)


def _value_ranks(where: str, value: object, limit: _Limit) -> list[int | None]:
    entries = value if isinstance(value, list) and value else [value]
    read = [*chain(*([[None]] if entry == "none" else numbers(where, entry) for entry in entries))]
    limit.check(where, sum(map(len, read)))
    return [*chain(*read)]


def _choices(kinds: tuple[type, ...], words: str) -> Callable[[str, object, _Limit], list[Any]]:
    """A reader of one value, or a list of values, of some types; the first of them is what they become."""

    def read(where: str, value: object, limit: _Limit) -> list[Any]:
        entries = value if isinstance(value, list) else [value]
        if not entries or not all(type(entry) in kinds for entry in entries):
            raise _bad(where, value, f"it must be {words}, or a list of them")
        return [kinds[0](entry) for entry in entries]

    return read


# Architectures ----------------------------------------------------------------------------------------------


def _layers(name: str, block: Table, limit: _Limit) -> list[Architecture]:
    """Every combination of d, d', a and t; a letter stands for the value that came before it."""
    _check_keys(block, ("d", "d_out", "a", "t"), name, ("d", "d_out"))
    sizes: list[dict[str, int]] = [{}]
    for key in ("d", "d_out", "a", "t"):
        shorter, sizes, count = sizes, [], 0
        for values in shorter:
            ranges = numbers(f"{name}: {key}", block.get(key, "d" if key == "a" else 2), values)
            count += sum(max(len(each), 1) for each in ranges)  # what is empty takes time, too
            limit.check(f"{name}: {key} = {shown(block.get(key))}", count, exactly=len(shorter) == 1)
            sizes += [{**values, key: number} for number in chain(*ranges)]
    return [SingleLayer(**values) for values in sizes]


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
    networks: list[Architecture] = []
    for combination in product(*choices.values()):
        chosen: dict[str, Any] = dict(zip(choices, combination, strict=True))
        try:
            networks.append(DeepNetwork(**chosen))
        except InputError as error:
            where = f"{name}, with dims = {list(chosen['dims'])} and ranks = {list(chosen['ranks'])}"
            raise InputError(
                f"{where}: {error}; put values that do not fit together into separate [[networks]]"
            ) from None
    return networks


def _models(name: str, block: Table, limit: _Limit) -> list[Architecture]:
    """One model, written as in a file of its own."""
    limit.check(name, 1)
    with about(name):
        model = from_table(block)
    return [model.as_network() or model]


def _configurations(name: str, block: Table, limit: _Limit) -> list[PublishedModel]:
    """One published model, with the keys of its ``config.json``."""
    limit.check(name, 1)
    _check_keys(block, ("name", "config"), name, ("name", "config"))
    for key, kind in (("name", str), ("config", dict)):
        if not isinstance(block[key], kind):
            raise _bad(f"{name}: {key}", block[key], f"write {key} = {_PATTERNS[key]}")
    with about(name):
        model = PublishedModel.of(**block)
        _ = model.whole
    return [model]


_READ: dict[str, Callable[[str, Table, _Limit], Sequence[Architecture | PublishedModel]]] = {
    "layers": _layers,
    "networks": _networks,
    "models": _models,
    "configurations": _configurations,
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
