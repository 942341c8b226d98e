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
from typing import Any, Literal

import msgspec

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


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What ``families.toml`` says of a family."""

    name: str
    models: tuple[str, ...]
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


class Storage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model is stored that is read as a whole, as ``families.toml`` says it."""

    name: str
    models: tuple[str, ...]
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

    words: tuple[str, ...]
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

    def is_suspicious(self, key: str) -> bool:
        """Whether the name of a key says that it may matter."""
        return any(word in key.lower() for word in self.words)

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


@cache
def families() -> Mapping[str, Family]:
    """All families by name."""
    tables = _tables()["families"]
    return {name: msgspec.convert({"name": name, **_inherited(name, tables)}, Family) for name in tables}


def _inherited(name: str, tables: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a family, and those of the family that it is like; of keys and defaults each."""
    own = dict(tables[name])
    keys = own.get("keys", {})
    own["keys"] = {role: [names] if isinstance(names, str) else names for role, names in keys.items()}
    switches = ("causal", "qk_norm", "alibi", "rotary", "multi_query")
    own |= {name: _switch(own[name]) for name in switches if name in own}
    if "biases" in own:
        own["biases"] = {letters: _switch(given) for letters, given in own["biases"].items()}
    if "like" not in own:
        return own
    other = _inherited(own.pop("like"), tables)
    both = {part: {**other.get(part, {}), **own.get(part, {})} for part in ("keys", "default")}
    return {**other, **own, **both}


@cache
def wholes() -> Mapping[str, Storage]:
    """How models are stored that are read as a whole, by ``model_type``."""
    tables, models = _tables()["whole"], dict[str, Storage]()
    for name in tables:
        whole = msgspec.convert({"name": name, **_whole(name, tables)}, Storage)
        models |= dict.fromkeys(whole.models, whole)
    return models


def _whole(name: str, tables: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a whole model, and those of the one that it is like; of facts and tensors each."""
    own = dict(tables[name])
    if "perceptron_bias" in own:
        own["perceptron_bias"] = _switch(own["perceptron_bias"])
    if "like" not in own:
        return own
    other = _whole(own.pop("like"), tables)
    both = {part: {**other[part], **own.get(part, {})} for part in ("facts", "tensors")}
    return {**other, **own, **both}


def _switch(given: Any) -> Any:
    return {"default": given} if isinstance(given, bool) else given


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
    by_model = {name: kind for kind in table.values() for name in kind.models}
    if str(model) not in by_model:
        near = nearest(str(model), [*by_model])
        begun = f"{near} If" if near else "; if"
        raise InputError(
            f"model_type is {shown(model)}, which is no family that is known here{begun} its keys mean"
            f" what those of one mean, such as llama, add {argument('family')}=llama"
        )
    return by_model[str(model)]
