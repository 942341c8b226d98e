"""Families of published transformers, from ``families.toml``: which key of a ``config.json`` says what.

>>> family = families()["falcon"]
>>> family.keys["kv_heads"], family.causal.default, family.layout
(('num_kv_heads', 'n_head_kv'), True, 'falcon')
>>> find("RefinedWebModel").name
'falcon'
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import structs

from agattn.calls import refuse_unless, shown
from agattn.errors import InputError, argument, nearest


class Switch(msgspec.Struct, frozen=True):
    """What is true or false: always, or as a key says.

    Attributes:
        key: of a ``config.json``; empty if it is always ``default``.
        default: what is meant without the key.
        negated: whether the key says the opposite.
        value: the text that the key has if it is true; ``None`` if the key is true or false itself.
        unless: a key that makes it false where it is true.
    """

    key: str = ""
    default: bool = False
    negated: bool = False
    value: str | None = None
    unless: str = ""

    def of(self, table: Mapping[str, Any]) -> bool:
        """Whether it is true of a model.

        Raises:
            InputError: if a key is neither true nor false.
        """
        if self.unless and boolean(self.unless, table.get(self.unless, False)):
            return False
        given = table.get(self.key)
        if given is None:
            return self.default
        if self.value is not None:
            return bool(given == self.value)
        return boolean(self.key, given) != self.negated


def boolean(key: str, value: object) -> bool:
    """A value that is true or false.

    Raises:
        InputError: if it is something else.
    """
    refuse_unless(isinstance(value, bool), key, value, "true or false")
    return bool(value)


class Layout(msgspec.Struct, frozen=True):
    """The names of the tensors of a layer: of queries, keys and values, or of one tensor with the three."""

    q: str = ""
    k: str = ""
    v: str = ""
    fused: str = ""
    packing: str = ""
    transposed: bool = False
    by_head: bool = False

    @property
    def names(self) -> dict[str, str]:
        """The names by the letter of the part."""
        return {"fused": self.fused} if self.fused else {"q": self.q, "k": self.k, "v": self.v}


class Described(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a table says of models, which are named by their ``model_type``."""

    name: str
    models: tuple[str, ...]


S = TypeVar("S", bound=Described)


class Family(Described, frozen=True):
    """What ``families.toml`` says of a family."""

    keys: dict[str, tuple[str, ...]]  #: by role
    positions: str
    norm: str
    perceptron: str
    default: dict[str, Any] = {}  #: by role
    causal: Switch = Switch(default=True)
    biases: dict[str, Switch] = {}  #: by the letters of the matrices
    qk_norm: Switch = Switch()
    alibi: Switch = Switch()
    rotary: Switch = Switch(default=True)  #: whether positions that are rotary are there
    multi_query: Switch = Switch()
    layout: str = ""
    output_gate: bool = False
    relative: str = ""
    others: str = ""
    turning: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()

    @property
    def read(self) -> set[str]:
        """The keys that are read."""
        switches = [self.causal, self.qk_norm, self.alibi, self.rotary, self.multi_query]
        switches += self.biases.values()
        own = {name for names in self.keys.values() for name in names} | {self.relative}
        own |= {key for switch in switches for key in (switch.key, switch.unless)}
        return (own | {"layer_types", "rope_scaling", "rope_parameters"}) - {""}

    def letters(self, table: Mapping[str, Any]) -> str:
        """The letters of the matrices of a model that have a bias."""
        return "".join(letters for letters, switch in self.biases.items() if switch.of(table))


class Storage(Described, frozen=True):
    """How a model is stored that is read as a whole, as ``families.toml`` says it."""

    facts: dict[str, Any]
    tensors: dict[str, str]  #: by parts
    perceptron_bias: Switch = Switch()
    packing: Literal["stacked", "by group"] = "stacked"
    transposed: bool = False
    interleaved: str = ""
    gain: float = 0.0
    left_out: tuple[str, ...] = ()


class Common(msgspec.Struct, frozen=True):
    """What ``families.toml`` says of all families."""

    words: tuple[str, ...]  #: of names of keys that may matter
    attention: tuple[str, ...]
    other_layers: tuple[str, ...]
    refused: dict[str, str]
    named: dict[str, str]
    named_if: dict[str, str]  #: unless that key is false
    harmless: tuple[str, ...]
    rope: tuple[str, ...]
    layouts: dict[str, Layout]
    activations: dict[str, str]
    buffers: tuple[str, ...]
    unless: dict[str, tuple[Any, ...]]

    def is_harmless(self, key: str, family: Family | None = None) -> bool:
        """Whether a key changes no matrix of attention and no function of them."""
        own = () if family is None else family.harmless
        return any(fnmatchcase(key, pattern) for pattern in (*self.harmless, *own))


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("families.toml").read_text(encoding="utf-8"))


@cache
def common() -> Common:
    """What is said of all families."""
    table = _tables()
    lists = {"harmless": table["harmless"]["keys"], "rope": table["rope"]["harmless"]}
    lists["buffers"] = table["buffers"]["names"]
    return msgspec.convert(table | lists, Common)


#: Tables of which the entries are taken one by one from what a table is ``like``.
_JOINED = ("keys", "default", "facts", "tensors")


def described(kind: type[S], tables: Mapping[str, Any]) -> dict[str, S]:
    """The structs in tables of families or models; what one lacks is as in the one that it is ``like``.

    A key may stand for a list of keys, and true or false for a switch without a key.
    """
    switches = {field.name for field in structs.fields(kind) if field.type is Switch}

    def full(part: str, value: Any) -> Any:
        if part == "keys":
            return {role: [key] if isinstance(key, str) else key for role, key in value.items()}
        if part == "biases":
            return {letters: full("causal", switch) for letters, switch in value.items()}
        return {"default": value} if part in switches and isinstance(value, bool) else value

    entries = dict[str, dict[str, Any]]()
    for name, table in tables.items():
        own = {part: full(part, value) for part, value in table.items() if part != "like"}
        other = entries.get(table.get("like", ""), {"name": name})
        own |= {part: other.get(part, {}) | own[part] for part in _JOINED if part in own}
        entries[name] = other | own | {"name": name}
    return {name: msgspec.convert(entry, kind) for name, entry in entries.items()}


@cache
def families() -> Mapping[str, Family]:
    """All families by name."""
    return described(Family, _tables()["families"])


@cache
def wholes() -> Mapping[str, Storage]:
    """How models are stored that are read as a whole, by ``model_type``."""
    return by_model(described(Storage, _tables()["whole"]))


def by_model(described: Mapping[str, S]) -> dict[str, S]:
    """What is said of models, by ``model_type``."""
    return {model: each for each in described.values() for model in each.models}


def find(model: object, family: str | None = None) -> Family:
    """The family of a ``model_type``, or the one that is asked for.

    Raises:
        InputError: if there is none.

    >>> find("resnet")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: model_type is 'resnet', which is no family that is known here; if its keys mean
    what those of one mean, such as llama, add family=llama
    """
    table = families()
    if family is not None:
        if family not in table:
            hint = nearest(family, table, f"; the families are {', '.join(table)}")
            raise InputError(
                f"{argument('family')} is {shown(family)}, which is no family that is known here{hint}"
            )
        return table[family]
    if model is None:
        raise InputError(f"there is no model_type; add the family, such as {argument('family')}=llama")
    models = by_model(table)
    if str(model) not in models:
        near = nearest(str(model), [*models])
        begun = f"{near} If" if near else "; if"
        raise InputError(
            f"model_type is {shown(model)}, which is no family that is known here{begun} its keys mean"
            f" what those of one mean, such as llama, add {argument('family')}=llama"
        )
    return models[str(model)]
