"""Results that describe themselves: a class whose described fields are its JSON document and its schema.

A result is a frozen data class. A field whose type is ``Key[type, "description"]`` is a key of its document.
A field of another type is for Python alone. A key that is computed is a property under :func:`key`, whose
docstring describes the key. So each key is said once: its name, its type, its meaning, and how a value is
written that is no JSON.

>>> from fractions import Fraction
>>> @dataclass(frozen=True, repr=False)
... class Half(Result, name="half"):
...     value: Key[Any, "A number.", Written(str, str)]
...     source: str = "for Python alone"
...
...     @property
...     @key
...     def twice(self) -> int:
...         "Twice the number."
...         return int(2 * self.value)
...
...     def summary(self) -> str:
...         return f"the half of {self.twice}"
>>> Half(Fraction(1, 2))
the half of 1
>>> Half(Fraction(1, 2)).as_json()
{'schema': 'agattn/half/1', 'value': '1/2', 'twice': 1}
>>> schema(Half)["properties"]["twice"]
{'description': 'Twice the number.', 'type': 'integer'}
>>> check(Half, {"schema": "agattn/half/1", "value": "1/2", "twice": "one"})
Traceback (most recent call last):
agattn.errors.InputError: Expected `int`, got `str` - at `$.twice`
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)  # fmt: skip

from agattn.errors import InputError, printable
from agattn.sheet.data import Sheet

__all__ = [
    "ENTRIES",
    "EXACTNESS",
    "FINITE",
    "PROVED_OR_MODULAR",
    "SCALAR",
    "UNSET",
    "ByKey",
    "Count",
    "Json",
    "Key",
    "Matrix",
    "Meta",
    "Named",
    "Number",
    "Place",
    "Positive",
    "Probability",
    "Result",
    "Sha256",
    "UnsetType",
    "Written",
    "check",
    "check_one_of",
    "document",
    "key",
    "schema",
    "written",
]  # fmt: skip

if TYPE_CHECKING:
    from typing import Annotated as Key
else:

    class Key:
        """A type with the description of the key, such as ``Key[int, "The degree."]``."""

        def __class_getitem__(cls, item):
            value, description, *more = item
            return Annotated[value, Meta(description=description), *more]


class Meta:
    """Limits on the values of a key, as the class of this name in msgspec takes them.

    That class is made of this one for schemas and checks: all else does without msgspec, whose import takes
    longer than that of most rooms.

    Args:
        said: ``ge``, ``gt``, ``le``, ``pattern``, ``min_length``, ``max_length``, ``extra_json_schema`` or
            ``description``.
    """

    def __init__(self, **said: Any) -> None:
        self.said = said
        self.description: str = said.get("description", "")

    def __repr__(self) -> str:
        return f"Meta({', '.join(f'{name}={value!r}' for name, value in self.said.items())})"


class UnsetType(Enum):
    """The type of :data:`UNSET`."""

    UNSET = "unset"

    def __bool__(self) -> bool:
        return False


#: The value of a key that is left out.
UNSET: Final = UnsetType.UNSET

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True)
class Written:
    """How a value that is no JSON is written: as which type, and by which function.

    It stands in the type of a key: ``Key[Array, "The matrix.", Written(list[list[str]], as_text)]``.
    """

    kind: Any
    function: Callable[[Any], Any]


#: A matrix in JSON: exact entries are text, others numbers.
Matrix = list[list[float | str]]
#: How a number is written that may be exact, which is text then.
SCALAR = Written(float | str | None, lambda number: written(number, float | str))
#: How an array with two axes is written.
ENTRIES = Written(Matrix, lambda array: written(array.tolist(), Matrix))


@dataclass(frozen=True)
class Named:
    """The key, where that is not the name of the field: ``Key[Array, "The matrix A.", Named("a")]``."""

    key: str


class Json:
    """A part of documents with a schema and a check of its own, for types that msgspec cannot tell apart."""

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The schema of the part; what it refers to is under ``$defs``."""
        raise NotImplementedError

    @classmethod
    def check_json(cls, value: Any) -> None:
        """Check a part of a document.

        Raises:
            ValueError: if the value is not what the schema says.
        """
        raise NotImplementedError


@overload
def key(function: F, /) -> F: ...
@overload
def key(*more: Meta | Written, name: str = "") -> Callable[[F], F]: ...
def key(*given: Any, name: str = "") -> Any:
    """Mark a method under ``property`` as a key of the document; its docstring describes the key.

    Args:
        given: the method; or limits on the values, how these are written, and a description instead of the
            docstring, where several results share the key.
        name: the key, where it cannot be the name of the method, such as ``lambda``.
    """
    if len(given) == 1 and not isinstance(given[0], Meta | Written):
        return _marked(given[0], (), name)
    return lambda method: _marked(method, given, name)


def _marked(method: F, more: tuple[Any, ...], name: str) -> F:
    method.__key__ = (name or method.__name__, more)  # type: ignore[attr-defined]
    return method


#: How a float is written that may be infinite or no number: as null.
FINITE = Written(float | None, lambda number: number if isfinite(number) else None)
#: How evidence is written that is ``proved`` where what was given is exact, else ``numerical``.
EXACTNESS = Written(Literal["proved", "numerical"], str)
#: How evidence is written that is never ``numerical``.
PROVED_OR_MODULAR = Written(Literal["proved", "modular"], str)
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


class Described(NamedTuple):
    """A key of a document: its name there, the attribute, and its type."""

    name: str
    attribute: str
    kind: Any


class Result:
    """A result, which has a line, a sheet, a JSON document and the schema of that document.

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

    def __init_subclass__(
        cls,
        name: str = "",
        number: int = 1,
        extensible: bool = False,
        tag: tuple[str, str | int] | None = None,
        one_of: tuple[str, ...] = (),
        has_defaults: bool = False,
        **more: Any,
    ) -> None:
        super().__init_subclass__(**more)
        cls.schema_name = f"agattn/{name}/{number}" if name else ""
        cls.extensible, cls.tag = extensible, tag
        cls.one_of, cls.has_defaults = one_of, has_defaults

    def summary(self) -> str:
        """The result in a line: the title of its sheet, or the values of its fields where it has none."""
        if self._has_sheet():
            return self.sheet().title
        fields = (one.name for one in dataclasses.fields(cast(Any, self)) if one.repr)
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields)})"

    def sheet(self) -> Sheet:
        """What notebooks and terminals show: a title, tables and paragraphs.

        Raises:
            TypeError: if the result has none.
        """
        raise TypeError(f"a {type(self).__name__} has no table")

    def as_json(self) -> dict[str, Any]:
        """The JSON document of the result."""
        return document(self)

    def __str__(self) -> str:
        return printable(self.summary())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        from agattn.sheet.html import html

        return html(self.sheet()) if self._has_sheet() else None

    def _repr_latex_(self) -> str | None:
        from agattn.sheet.latex import latex

        return latex(self.sheet()) if self._has_sheet() else None

    def _has_sheet(self) -> bool:
        return type(self).sheet is not Result.sheet


def printed_as(name: str) -> Callable[[type[T]], type[T]]:
    """Give a class another name in schemas and in print than in the package, where each name is one class.

    >>> @printed_as("Place")
    ... class PlaceOnLine:
    ...     pass
    >>> PlaceOnLine.__name__
    'Place'
    """

    def rename(cls: type[T]) -> type[T]:
        cls.__name__ = name
        return cls

    return rename


@cache
def keys(cls: Any) -> tuple[Described, ...]:
    """The keys of a result, those of its base classes first, fields before properties."""
    found: dict[str, Described] = {}
    for part in reversed(cls.__mro__):
        described = {
            name: kind
            for name, kind in inspect.get_annotations(part).items()
            if str(kind).startswith(("Key[", "typing.Annotated["))
        }
        # Only the types of keys are resolved: others may stand under TYPE_CHECKING.
        stub = type(part.__name__, (), {"__annotations__": described})
        names = {**vars(sys.modules[part.__module__]), **vars(part), part.__name__: part}
        for name, kind in get_type_hints(stub, names, include_extras=True).items():
            said = next((more.key for more in kind.__metadata__ if isinstance(more, Named)), name)
            found[name] = Described(said, name, kind)
        for name, member in vars(part).items():
            method: Any = getattr(member, "fget", None)
            if hasattr(method, "__key__"):
                said, more = method.__key__
                value = get_type_hints(method, names, include_extras=True)["return"]
                if not any(isinstance(one, Meta) and one.description for one in more):
                    more = (Meta(description=" ".join((method.__doc__ or "").split())), *more)
                found[name] = Described(said, name, Annotated[(value, *more)])
    return tuple(found.values())


def document(result: Result) -> dict[str, Any]:
    """The JSON document of a result: its keys, with their values written as their types say.

    A key whose value is ``UNSET``, or is written so, is left out.
    """
    cls: Any = type(result)
    found: dict[str, Any] = {"schema": cls.schema_name} if cls.schema_name else {}
    found |= dict([cls.tag] if cls.tag else [])
    for one in keys(cls):
        value = getattr(result, one.attribute)
        if value is not UNSET and (value := written(value, one.kind)) is not UNSET:
            found[one.name] = value
    return found


def written(value: Any, kind: Any) -> Any:
    """A value as JSON: exact numbers as text, ``None`` for what is infinite, parts as documents."""
    for more in getattr(kind, "__metadata__", ()):
        if isinstance(more, Written) and value is not None:
            return more.function(value)
    if get_origin(kind) is Annotated:
        kind = kind.__origin__
    if get_origin(kind) in (Union, UnionType):
        kinds = [one for one in get_args(kind) if one not in (NoneType, UnsetType)]
        return written(value, str if kinds == [float, str] and not isinstance(value, float) else kinds[0])
    if isinstance(value, float) and not isfinite(value):
        return None
    if value is None or (isinstance(value, (bool, int, float, str)) and kind is not str):
        return value
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "tolist"):  # of numpy
        return written(value.tolist(), kind)
    inner = [one for one in get_args(kind) if one is not Ellipsis]
    part = inner[-1] if inner else Any
    if isinstance(value, Mapping):
        return {str(name): written(one, part) for name, one in value.items()}
    return [written(one, part) for one in value] if isinstance(value, (list, tuple)) else str(value)


class ByKey(Json):
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
    def check_json(cls, value: Any) -> None:
        """Check one of them; ValueError if it is none."""
        import msgspec

        known = cls.kinds()
        first = next(iter(known.values()))
        try:
            kind = next((known[key] for key in known if key in value), first)
            msgspec.convert(value, record(kind), dec_hook=_check_part)
        except msgspec.ValidationError as error:
            raise ValueError(str(error).partition(" - at")[0]) from None


@cache
def record(cls: Any) -> Any:
    """The document of a result as a type of msgspec, from which schemas are made."""
    import msgspec

    described = keys(cls)
    fields = [(one.attribute, kind := _json_type(one.kind), _left_out(cls, one, kind)) for one in described]
    if cls.schema_name:
        name = Literal[(cls.schema_name,)]  # type: ignore[valid-type]
        meaning = msgspec.Meta(description="The schema of the document, with its number.")
        fields.insert(0, ("schema", Annotated[name, meaning], msgspec.NODEFAULT))
    tag_field, tag = cls.tag or (None, None)
    return msgspec.defstruct(
        cls.__name__,
        fields,
        module=cls.__module__,
        namespace={"__doc__": _first_paragraph(cls), **_checks(cls)},
        rename={one.attribute: one.name for one in described if one.name != one.attribute},
        forbid_unknown_fields=not cls.extensible,
        kw_only=True,
        tag_field=tag_field,
        tag=tag,
    )


def _checks(cls: Any) -> dict[str, Any]:
    """What is checked of a document besides the types of its keys."""
    if hasattr(cls, "consistent"):
        return {"__post_init__": cls.consistent}

    def exactly_one(found: Any) -> None:
        from msgspec import UNSET

        if sum(getattr(found, one) is not UNSET for one in cls.one_of) != 1:
            raise ValueError(f"exactly one of {', '.join(cls.one_of)} must be there")

    return {"__post_init__": exactly_one} if cls.one_of else {}


def _first_paragraph(cls: Any) -> str:
    return _paragraph(cls.__doc__ or "")


def _paragraph(text: str) -> str:
    """The first paragraph of a docstring as a description."""
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`")


def _left_out(cls: Any, one: Described, kind: Any) -> Any:
    """What stands for a key of this type of msgspec that is not there."""
    import msgspec

    inner = kind.__origin__ if get_origin(kind) is Annotated else kind
    if msgspec.UnsetType in get_args(inner):
        return msgspec.UNSET
    defaults = {field.name: field.default for field in dataclasses.fields(cls)} if cls.has_defaults else {}
    default = defaults.get(one.attribute, dataclasses.MISSING)
    return msgspec.NODEFAULT if default is dataclasses.MISSING else default


def as_record(kind: Any) -> Any:
    """The type of msgspec for a result; any other type as it is."""
    is_result = isinstance(kind, type) and issubclass(kind, Result)
    if not is_result or not kind.one_of:
        return record(kind) if is_result else kind
    import msgspec

    choices = [{"required": [name]} for name in kind.one_of]
    return Annotated[record(kind), msgspec.Meta(extra_json_schema={"oneOf": choices})]


def _json_type(kind: Any) -> Any:
    """The type of msgspec for what is written for a value of this type."""
    from fractions import Fraction

    import msgspec

    if kind is UnsetType:
        return msgspec.UnsetType
    if get_origin(kind) is Annotated:
        metas = [msgspec.Meta(**more.said) for more in kind.__metadata__ if isinstance(more, Meta)]
        ways = [_json_type(more.kind) for more in kind.__metadata__ if isinstance(more, Written)]
        inner = _json_type(kind.__origin__)
        if ways:
            absent = [_json_type(one) for one in get_args(kind.__origin__) if one in (NoneType, UnsetType)]
            inner = Union[(ways[0], *absent)]
        return Annotated[(inner, *metas)] if metas else inner
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return Union[tuple(map(_json_type, parts))]  # noqa: UP007 -- of as many types as there are
    if origin in (list, dict, tuple):
        return origin[tuple(part if part is Ellipsis else _json_type(part) for part in parts)]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[(str, _json_type(parts[1]))]  # type: ignore[misc]
    if (said := getattr(kind, "__json__", None)) is not None:  # as what its values are written
        return _json_type(said)
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
    import msgspec

    shared: dict[str, Any] = {}

    def part_schema(part: Any) -> dict[str, Any]:
        found = dict(part.json_schema())
        shared.update(found.pop("$defs", {}))
        return found

    tops, parts = msgspec.json.schema_components(
        list(types), schema_hook=part_schema, ref_template="#/$defs/{name}"
    )
    for part in parts.values():
        if "description" in part:  # of an enumeration the whole docstring
            part["description"] = _paragraph(part["description"])
    return tops, parts | shared


def check(result: Any, found: object) -> None:
    """Check that a document is that of a result.

    Raises:
        InputError: if the document is not; says where, such as ``$.claims[0].verdict``.
    """
    import msgspec

    try:
        msgspec.convert(found, as_record(result), dec_hook=_check_part)
    except msgspec.ValidationError as error:
        raise InputError(str(error)) from None


def check_one_of(results: Sequence[Any], found: object) -> None:
    """Check that a document is that of one of several results.

    Raises:
        InputError: if the document is none of these; says where the one with its tag differs, or the last.
    """
    given = found if isinstance(found, Mapping) else {}
    tagged = [one for one in results if one.tag and given.get(one.tag[0]) == one.tag[1]]
    *others, last = tagged or results
    for other in others:
        with suppress(InputError):
            check(other, found)
            return
    check(last, found)


def _check_part(part: type[Json], value: Any) -> Json:
    part.check_json(value)
    return part()
