"""Results that describe themselves: a struct whose described fields are its JSON document and its schema.

A field whose type is ``Key[type, "description"]`` is a key of the document. A field of another type is for
Python alone. A key that is computed when it is first asked for is a method under :func:`key`, whose docstring
describes the key. So each key is said once: its name, its type, its meaning, and how a value is written that
is no JSON.

>>> from fractions import Fraction
>>> class Half(Result, name="half"):
...     value: Key[Fraction, "A number."]
...     source: str = "for Python alone"
...
...     @key
...     def twice(self) -> int:
...         "Twice the number."
...         return int(2 * self.value)
...
...     def summary(self) -> str:
...         return f"the half of {self.twice}"
>>> half = Half(Fraction(1, 2))
>>> half
the half of 1
>>> half.as_json()
{'schema': 'agattn/half/1', 'value': '1/2', 'twice': 1}
>>> Half.from_json(half.as_json())
Half: value 1/2, twice 1
>>> half.replace(value=Fraction(3, 2)).twice
3
>>> schema(Half)["properties"]["twice"]
{'description': 'Twice the number.', 'type': 'integer'}
>>> check(Half, {"schema": "agattn/half/1", "value": "1/2", "twice": "one"})
Traceback (most recent call last):
agattn.errors.InputError: Expected `int`, got `str` - at `$.twice`
>>> half.sheet().tables[0].rows
(('value', '1/2'), ('twice', '1'))
>>> half.to_dict()
{'schema': 'agattn/half/1', 'value': '1/2', 'twice': 1}
"""

from __future__ import annotations

import inspect
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property
from math import isfinite
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)
from typing import Annotated as Key

import msgspec
import numpy as np
from msgspec import NODEFAULT, UNSET, Meta, Struct, StructMeta, UnsetType, field, structs

from agattn.errors import InputError, needs, printable
from agattn.sheet.data import Cell, Sheet, Table, Wide, Word, array_cell, plain_cell
from agattn.sheet.latex import booktabs, comma_separated, latex, tables_on_screen

__all__ = [
    "ENTRIES", "EXACTNESS", "FINITE", "PROVED_OR_MODULAR", "SCALAR", "UNSET", "ByKey", "Count", "Described",
    "Key", "Matrix", "Meta", "Named", "Number", "Place", "Positive", "Probability", "Result", "Sha256",
    "UnsetType", "Written", "check", "check_one_of", "document", "field", "key", "schema", "written",
]  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True)
class Written:
    """How a value that is no JSON is written: as which type, and if not as usual, how; how it is read back.

    It stands in the type of a key: ``Key[Array, "The matrix.", Written(list[list[str]])]``. A list that is
    not read back stays as it is written.
    """

    kind: Any
    function: Callable[[Any], Any] | None = None
    read: Callable[[Any], Any] | None = None


#: A matrix in JSON: exact entries are text, others numbers.
Matrix = list[list[float | str]]
#: How a number is written that may be exact, which is text then.
SCALAR = Written(float | str | None, read=lambda x: _number(x))
#: How an array with two axes is written.
ENTRIES = Written(Matrix, read=lambda rows: _array(rows))


@dataclass(frozen=True)
class Named:
    """The key, where that is not the name of the field: ``Key[Array, "The matrix A.", Named("a")]``."""

    key: str


class Computed(cached_property[T]):
    """A key that is computed when it is first asked for; ``notes`` are what else stands in its type."""

    def __init__(self, method: Callable[[Any], T], more: tuple[Any, ...] = (), name: str = "") -> None:
        super().__init__(method)
        described = any(isinstance(note, str) for note in more)
        docstring = " ".join((method.__doc__ or "").split())
        self.notes = (*more, *([] if described else [docstring]), *([Named(name)] if name else []))


@overload
def key(method: Callable[[Any], T], /) -> Computed[T]: ...
@overload
def key(*more: str | Meta | Written, name: str = "") -> Callable[[Callable[[Any], T]], Computed[T]]: ...
def key(*given: Any, name: str = "") -> Any:
    """Make a method a key of the document; its docstring describes the key.

    Args:
        given: the method; or limits on the values, how these are written, and a description instead of the
            docstring, where several results share the key.
        name: the key, where it cannot be the name of the method, such as ``lambda``.
    """
    if len(given) == 1 and inspect.isfunction(given[0]):
        return Computed(given[0])
    return lambda method: Computed(method, given, name)


#: How a float is written that may be infinite or no number: as null.
FINITE = Written(float | None)
#: How evidence is written that is ``proved`` where what was given is exact, else ``numerical``.
EXACTNESS = Written(Literal["proved", "numerical"])
#: How evidence is written that is never ``numerical``.
PROVED_OR_MODULAR = Written(Literal["proved", "modular"])
#: A whole number that is not negative.
Count = Annotated[int, Meta(ge=0)]
#: A whole number above 0.
Positive = Annotated[int, Meta(ge=1)]
#: A number that is not negative.
Number = Annotated[float, Meta(ge=0)]
#: A SHA-256 in hexadecimal digits.
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
#: A point in space.
Place = Annotated[list[float], Meta(min_length=3, max_length=3)]
#: A number from 0 to 1.
Probability = Annotated[float, Meta(ge=0, le=1)]


class Described:
    """What has a line, a sheet, a JSON document and the schema of that document.

    Attributes:
        schema_name: what the key ``schema`` of its documents says, such as ``agattn/verify/1``, made of the
            ``name`` and the ``number`` in the class line; empty for a part of another result. The number is
            raised when a key is renamed or removed, or gets another type.
        extensible: whether its documents may have further keys.
        tag: a key and its value, by which its documents are told from those of other results.
        one_of: keys of which exactly one is in each of its documents.
        has_defaults: whether a document may leave out a key whose field has a default, which is meant then.
    """

    schema_name: ClassVar[str] = ""
    extensible: ClassVar[bool] = False
    tag: ClassVar[tuple[str, str | int] | None] = None
    one_of: ClassVar[tuple[str, ...]] = ()
    has_defaults: ClassVar[bool] = False

    def __init_subclass__(cls, name: str = "", number: int = 1, **settings: Any) -> None:
        super().__init_subclass__()
        if name:
            cls.schema_name = f"agattn/{name}/{number}"
        if other := settings.keys() - _SETTINGS:
            raise TypeError(f"{cls.__name__} has no setting {', '.join(other)}")
        for setting, value in settings.items():
            setattr(cls, setting, value)

    def consistent(self) -> None:
        """Check what the types do not say of a document; ValueError if it does not hold."""
        if self.one_of and sum(getattr(self, name) is not UNSET for name in self.one_of) != 1:
            raise ValueError(f"exactly one of {', '.join(self.one_of)} must be there")

    def summary(self) -> str:
        """The result in a line: the title of its own sheet, or its fields."""
        if type(self).sheet is not Described.sheet:
            return self.sheet().title
        values = (f"{name}={getattr(self, name)!r}" for name in _arguments(type(self)))
        return f"{type(self).__name__}({', '.join(values)})"

    def sheet(self) -> Sheet:
        """What notebooks and terminals show: here a row for each key, and a table for each list of parts."""
        values, title = _shown(self), self.summary()
        tables = {name: value for name, value in values.items() if _is_table(value)}
        rows = tuple((name, _cell(value)) for name, value in values.items() if name not in tables)
        parts = []
        for name, results in tables.items():
            words = tuple(_shown(results[0]))
            cells = (map(_shown(result).get, words) for result in results)
            parts.append(Table(name, words, tuple(tuple(map(_cell, row)) for row in cells)))
        return Sheet(title, (Table(title, ("key", Wide("value")), rows, ruled=False), *parts))

    def as_json(self) -> dict[str, Any]:
        """The JSON document of the result."""
        return vars(self).get("_document") or document(self)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of the result, as Python's own types."""
        return self.as_json()

    def tables(self) -> Sequence[Table]:
        """The tables of the result, as files have them."""
        sheet = self.sheet()
        return tables_on_screen(sheet) or Described.sheet(self).tables

    def to_latex(self) -> str:
        """The tables in LaTeX, for a paper that loads booktabs and amsmath."""
        return booktabs(self.tables())

    def to_csv(self) -> str:
        """The tables as comma-separated values, with an empty line between two."""
        return comma_separated(self.tables())

    def to_pandas(self) -> Any:
        """The first table as a DataFrame.

        Raises:
            InputError: if pandas is not installed.
        """
        with needs("to_pandas()", "pandas", "pandas"):
            import pandas
        table = self.tables()[0]
        rows = [[x if isinstance(x, int) else plain_cell(x) for x in row] for row in table.rows]
        return pandas.DataFrame(rows, columns=list(table.headings) or None)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The result that a document is of, which shows its keys.

        What is for Python alone is in no document: where it has no default it is ``UNSET``.

        Raises:
            InputError: if the document is not that of such a result; says where.
        """
        kind: Any = cls
        check(kind, data)
        values = {entry.attribute: _value(data.get(entry.name, UNSET), entry.kind) for entry in keys(kind)}
        arguments = _arguments(cls).items()
        due = [name for name, default in arguments if name in values or default is NODEFAULT]
        made: Self = _read(kind)(**{name: values.pop(name, UNSET) for name in due})
        vars(made).update(values, _document=dict(data))
        return made

    def __str__(self) -> str:
        return printable(self.summary())

    def __repr__(self) -> str:
        return str(self)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _HIDDEN and name[0] != "_"]

    def _repr_html_(self) -> str | None:
        from agattn.sheet.html import html

        return html(self.sheet())

    def _repr_latex_(self) -> str | None:
        return latex(self.sheet())


_SETTINGS = {"schema_name", "extensible", "tag", "one_of", "has_defaults"}
_HIDDEN = _SETTINGS | {"consistent"}


def _arguments(kind: Any) -> dict[str, Any]:
    """The arguments of a class, each with its default."""
    if not issubclass(kind, Struct):
        parameters = inspect.signature(kind).parameters
        return {name: NODEFAULT if x.default is x.empty else x.default for name, x in parameters.items()}
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    return dict(zip(names, (*[NODEFAULT] * (len(names) - len(defaults)), *defaults), strict=True))


@cache
def _read(kind: Any) -> Any:
    """The class of what is read back, whose own sheet may need what is in no document."""
    if not issubclass(kind, Result):
        return kind
    shown = ("summary", "sheet", "__str__", "_repr_html_", "_repr_latex_")
    return type(kind)(kind.__name__, (kind,), {name: getattr(_ByKeys, name) for name in shown})


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _Kind(StructMeta, ABCMeta):
    """Takes what describes whole documents from the class line; all fields of structs are frozen."""

    def __new__(cls, kind: str, bases: Any, space: dict[str, Any], /, **given: Any) -> Any:
        settings = {name: given.pop(name) for name in ("eq", "kw_only") if name in given}
        made: Any = super().__new__(cls, kind, bases, space, frozen=True, dict=True, **settings)
        super(made, made).__init_subclass__(**given)
        return made


class Result(Described, Struct, metaclass=_Kind):
    """A result: a struct, whose fields with a described type are the keys of its document."""

    def replace(self, **changes: Any) -> Self:
        """The result with other values of fields; what is computed is computed anew."""
        return structs.replace(self, **changes)


class _ByKeys(Described):
    """What shows its keys alone."""

    def summary(self) -> str:
        """The numbers, the words and what they are about."""
        shown = (int, float, Fraction, Enum, Described)
        values = {name: value for name, value in _shown(self).items() if isinstance(value, shown)}
        words = ", ".join(f"{name} {_short(value)}" for name, value in values.items())
        return f"{type(self).__name__}: {words}"


def _shown(result: Described) -> dict[str, Any]:
    """The values of the keys, by the words for them."""
    kind: Any = type(result)
    return {entry.attribute.replace("_", " "): getattr(result, entry.attribute) for entry in keys(kind)}


def _is_table(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(x, Described) for x in value)


def _cell(value: Any) -> Cell:
    if isinstance(value, Enum):
        return Word(str(value))
    return array_cell(value) if getattr(value, "ndim", 0) == 2 else _short(value)


def _short(value: Any) -> str:
    """A value in few words."""
    if value is None or value is UNSET:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return str(len(value)) if _is_table(value) else ", ".join(map(_short, value)) or "none"
    return str(value if isinstance(value, Enum) else getattr(value, "name", value))


class KeyOfDocument(NamedTuple):
    """A key of a document: its name there, the attribute, and its type."""

    name: str
    attribute: str
    kind: Any


@cache
def keys(cls: Any) -> tuple[KeyOfDocument, ...]:
    """The keys of a result, those of its base classes first, fields before what is computed."""
    entries: dict[str, KeyOfDocument] = {}
    for part in reversed(cls.__mro__):
        # Only the types of keys are resolved: others may stand under TYPE_CHECKING.
        own, is_key = inspect.get_annotations(part), ("Key[", "typing.Annotated[")
        hints = {name: kind for name, kind in own.items() if str(kind).startswith(is_key)}
        computed = {name: member for name, member in vars(part).items() if isinstance(member, Computed)}
        hints |= {name: member.func.__annotations__["return"] for name, member in computed.items()}
        stub = type(part.__name__, (), {"__annotations__": hints})
        names = {**vars(sys.modules[part.__module__]), **vars(part), part.__name__: part}
        for name, kind in get_type_hints(stub, names, include_extras=True).items():
            if name in computed:
                kind = Annotated[(kind, *computed[name].notes)]
            other = next((note.key for note in kind.__metadata__ if isinstance(note, Named)), name)
            entries[name] = KeyOfDocument(other, name, kind)
    return tuple(entries.values())


def document(result: Described) -> dict[str, Any]:
    """The JSON document of a result: its keys, with their values written as their types say.

    A key whose value is ``UNSET``, or is written so, is left out.
    """
    cls: Any = type(result)
    data: dict[str, Any] = {"schema": cls.schema_name} if cls.schema_name else {}
    data |= dict([cls.tag] if cls.tag else [])
    for entry in keys(cls):
        value = getattr(result, entry.attribute)
        if value is not UNSET and (value := written(value, entry.kind)) is not UNSET:
            data[entry.name] = value
    return data


def _way(kind: Any) -> Written | None:
    return next((note for note in getattr(kind, "__metadata__", ()) if isinstance(note, Written)), None)


def _plain_kind(kind: Any) -> Any:
    """A type without its notes; of several but ``None`` the first, and text for ``float | str``."""
    if get_origin(kind) is Annotated:
        kind = kind.__origin__
    if get_origin(kind) not in (Union, UnionType):
        return kind
    kinds = [part for part in get_args(kind) if part not in (NoneType, UnsetType)]
    return str if kinds == [float, str] else _plain_kind(kinds[0])


def _kind_of_parts(kind: Any) -> Any:
    """The type of the parts of a list, or of the values of a mapping."""
    inner = [part for part in get_args(kind) if part is not Ellipsis]
    return inner[-1] if inner else Any


def written(value: Any, kind: Any) -> Any:
    """A value as JSON: exact numbers as text, ``None`` for what is infinite, parts as documents."""
    way = _way(kind)
    if way and value is not None:
        return way.function(value) if way.function else written(value, way.kind)
    if isinstance(value, float):
        return value if isfinite(value) else None
    kind = _plain_kind(kind)
    if value is None or (isinstance(value, (bool, int, str)) and kind is not str):
        return value
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "tolist"):  # of numpy
        return written(value.tolist(), kind)
    if isinstance(value, Mapping):
        return {str(name): written(part, _kind_of_parts(kind)) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [written(part, _kind_of_parts(kind)) for part in value]
    return str(value)


def _value(data: Any, kind: Any) -> Any:
    """The value of a type that is written so."""
    if data is None or data is UNSET:
        return data
    way = _way(kind)
    if way and way.read:
        return way.read(data)
    kind = _plain_kind(kind)
    if isinstance(data, (list, dict)) and way:
        return data
    if isinstance(data, list):
        return tuple(_value(part, _kind_of_parts(kind)) for part in data)
    if isinstance(data, dict) and hasattr(kind, "from_json"):
        return kind.from_json(data)
    if isinstance(data, dict):
        return {name: _value(part, _kind_of_parts(kind)) for name, part in data.items()}
    is_named = isinstance(kind, type) and issubclass(kind, (Enum, Fraction))
    return kind(data) if is_named else data


def _number(data: float | str) -> float | Fraction:
    """A number that was written so."""
    return Fraction(data) if isinstance(data, str) else data


def _array(rows: list[list[float | str]]) -> Any:
    """An array of numpy that was written so."""
    exact = any(isinstance(entry, str) for row in rows for entry in row)
    return np.array([list(map(_number, row)) for row in rows], dtype=object if exact else float)


class ByKey:
    """A part of documents that is one of several results, each of which has a key that no other has."""

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        """The results by that key."""
        raise NotImplementedError

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Any of them, with the schemas of their parts."""
        refs, parts = _components(map(record, cls.kinds().values()))
        return {"anyOf": [parts.pop(ref["$ref"].removeprefix("#/$defs/")) for ref in refs], "$defs": parts}

    @classmethod
    def check_json(cls, value: Any) -> Self:
        """Check one of them; ValueError if it is none."""
        kinds = cls.kinds()
        kind = next((kinds[key] for key in kinds if key in value), next(iter(kinds.values())))
        try:
            msgspec.convert(value, record(kind), dec_hook=_check_part)
        except msgspec.ValidationError as error:
            raise ValueError(str(error).partition(" - at")[0]) from None
        return cls()


def _check_part(part: type[ByKey], value: Any) -> ByKey:
    return part.check_json(value)


@cache
def record(cls: Any) -> Any:
    """The document of a result as a struct of its keys alone, from which schemas are made."""
    fields = []
    for entry in keys(cls):
        kind = _json_type(entry.kind)
        fields.append((entry.attribute, kind, _left_out(cls, entry.attribute, kind)))
    if cls.schema_name:
        name = Literal[(cls.schema_name,)]  # type: ignore[valid-type]
        meaning = Meta(description="The schema of the document, with its number.")
        fields.insert(0, ("schema", Annotated[name, meaning], NODEFAULT))
    tag_field, tag = cls.tag or (None, None)
    return msgspec.defstruct(
        cls.__name__,
        fields,
        module=cls.__module__,
        namespace={
            "__doc__": _first_paragraph(cls.__doc__ or ""),
            "__post_init__": cls.consistent,
            "one_of": cls.one_of,
        },
        rename={entry.attribute: entry.name for entry in keys(cls) if entry.name != entry.attribute},
        forbid_unknown_fields=not cls.extensible,
        kw_only=True,
        tag_field=tag_field,
        tag=tag,
    )


def _first_paragraph(text: str) -> str:
    """The first paragraph of a docstring as a description."""
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`")


def _left_out(cls: Any, attribute: str, kind: Any) -> Any:
    """What stands for a key of this type that is not there."""
    if UnsetType in get_args(kind.__origin__):
        return UNSET
    return _arguments(cls).get(attribute, NODEFAULT) if cls.has_defaults else NODEFAULT


def as_record(kind: Any) -> Any:
    """The struct of keys for a result; any other type as it is."""
    is_result = isinstance(kind, type) and issubclass(kind, Described)
    if not is_result or not kind.one_of:
        return record(kind) if is_result else kind
    choices = [{"required": [name]} for name in kind.one_of]
    return Annotated[record(kind), Meta(extra_json_schema={"oneOf": choices})]


def _json_type(kind: Any) -> Any:
    """The type of msgspec for what is written for a value of this type."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner = kind.__origin__
        if way := _way(kind):
            inner = Union[(way.kind, *(part for part in get_args(inner) if part in (NoneType, UnsetType)))]
        notes = [Meta(description=note) if isinstance(note, str) else note for note in kind.__metadata__]
        metas = [note for note in notes if isinstance(note, Meta)]
        return Annotated[(_json_type(inner), *metas)] if metas else _json_type(inner)
    if origin in (Union, UnionType):
        return Union[tuple(map(_json_type, parts))]  # noqa: UP007 -- of as many types as there are
    if origin in (list, dict, tuple):
        return origin[tuple(part if part is Ellipsis else _json_type(part) for part in parts)]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[(str, _json_type(parts[1]))]  # type: ignore[misc]
    if (as_written := getattr(kind, "__json__", None)) is not None:
        return _json_type(as_written)
    return str if kind is Fraction else as_record(kind)


def schema(*results: Any, title: str = "") -> dict[str, Any]:
    """The JSON schema, in the 2020-12 draft, of the documents of a result, or of one of several."""
    tops, parts = _components(map(as_record, results))
    top: dict[str, Any] = dict(tops[0]) if len(tops) == 1 else {"anyOf": list(tops)}
    if "$ref" in top:
        top = {**parts.pop(top.pop("$ref").removeprefix("#/$defs/")), **top}
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**draft, **top, **({"title": title} if title else {}), "$defs": parts}


def _components(types: Iterable[Any]) -> tuple[Sequence[dict[str, Any]], dict[str, Any]]:
    """The schemas of types of msgspec, and those of their parts by name."""
    shared: dict[str, Any] = {}

    def part_schema(part: Any) -> dict[str, Any]:
        own = dict(part.json_schema())
        shared.update(own.pop("$defs", {}))
        return own

    tops, parts = msgspec.json.schema_components(
        list(types), schema_hook=part_schema, ref_template="#/$defs/{name}"
    )
    for part in parts.values():
        if "description" in part:  # of an enumeration the whole docstring
            part["description"] = _first_paragraph(part["description"])
    return tops, parts | shared


def check(result: Any, data: object) -> None:
    """Check that a document is that of a result.

    Raises:
        InputError: if the document is not; says where, such as ``$.claims[0].verdict``.
    """
    try:
        msgspec.convert(data, as_record(result), dec_hook=_check_part)
    except msgspec.ValidationError as error:
        raise InputError(str(error)) from None


def check_one_of(results: Sequence[Any], data: object) -> Any:
    """Check that a document is that of one of several results, and return this one.

    Raises:
        InputError: if the document is none of these; says where the one with its tag differs, or the last.
    """
    given = data if isinstance(data, Mapping) else {}
    tagged = [kind for kind in results if kind.tag and given.get(kind.tag[0]) == kind.tag[1]]
    *others, last = tagged or results
    for other in others:
        with suppress(InputError):
            check(other, data)
            return other
    check(last, data)
    return last
