"""Data classes whose methods are written when a class is first used, so that commands start faster.

The decorator of the standard library writes and compiles up to nine methods for each class while the file of
the class is imported. That takes half a millisecond, and a command imports a hundred classes, of which it
uses twenty. The decorator of this module takes the same arguments and gives the same class; but the methods
are written when one of them is first looked up.
"""

from __future__ import annotations

import dataclasses
import inspect
from _thread import RLock  # as functools does: importing threading takes longer
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

#: What the standard library sets besides ``__init__``, with the option that asks for it.
_OPTIONAL = {
    "__repr__": "repr", "__eq__": "eq", "__hash__": "eq",
    "__lt__": "order", "__le__": "order", "__gt__": "order", "__ge__": "order",
}  # fmt: skip
_ALWAYS = ("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__init__")
_LOCK = RLock()

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """The decorator :func:`dataclasses.dataclass`, with methods that are written at their first use.

        Args:
            cls: the class.
            options: ``frozen``, ``eq``, ``order``, ``repr`` and ``kw_only``, as in the standard library.

        See Also:
            ``agattn.sheet.result.Result``: the base class of results, which are data classes.

        >>> @dataclass(frozen=True)
        ... class Size:
        ...     rows: int
        ...     columns: int = 1
        >>> type(vars(Size)["__init__"]).__name__
        'Later'
        >>> Size(2), Size(2) == Size(2, 1), [one.name for one in dataclasses.fields(Size)]
        (Size(rows=2, columns=1), True, ['rows', 'columns'])
        >>> type(vars(Size)["__init__"]).__name__
        'function'
        """
        if cls is None:
            return lambda given: dataclass(given, **options)
        asked = {"repr": True, "eq": True, **options}
        possible = [*_ALWAYS, *(name for name, option in _OPTIONAL.items() if asked.get(option))]
        names = [name for name in possible if vars(cls).get(name) is None]
        for name in names:
            setattr(cls, name, Later(cls, name, lambda: _write(cls, names, options)))
        if options.get("frozen"):
            _freeze(cls)
        return cls


class Later:
    """An attribute of a class that is made when it is first looked up.

    Args:
        cls: the class.
        name: of the attribute.
        make: sets the attribute, and may set others.

    Attributes:
        change: what the attribute made is replaced by, such as a method that calls it.
    """

    def __init__(self, cls: type, name: str, make: Callable[[], None]) -> None:
        self.cls, self.name, self.make = cls, name, make
        self.change: Callable[[Any], Any] = lambda made: made

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        with _LOCK:  # another thread may have made it since
            if vars(self.cls)[self.name] is self:
                self.make()
        made = vars(self.cls)[self.name]
        return made.__get__(instance, owner) if hasattr(made, "__get__") else made


def changed(cls: type, name: str, change: Callable[[Any], Any]) -> None:
    """Change an attribute of a class, or what is made of the attribute when it is first looked up.

    Args:
        cls: the class.
        name: of the attribute.
        change: what takes the attribute, and gives what replaces the attribute.
    """
    made = vars(cls).get(name)
    if isinstance(made, Later):
        made.change = change
    else:
        setattr(cls, name, change(getattr(cls, name)))


def _write(cls: type, names: list[str], options: dict[str, bool]) -> None:
    """Let the standard library write the methods for a class with the same fields, and take them over.

    The class itself cannot be given to the standard library: that would need the class to be without
    ``__init__`` for a moment, in which another thread may make an instance.
    """
    fields: dict[str, Any] = {}
    for base in filter(dataclasses.is_dataclass, reversed(cls.__mro__[1:])):
        fields |= {one.name: one for one in dataclasses.fields(base)}
    kinds = {name: one.type for name, one in fields.items()}
    own = inspect.get_annotations(cls)
    fields |= {name: getattr(cls, name) for name in own if hasattr(cls, name)}
    methods = {name: one for name, one in vars(cls).items() if name in _OPTIONAL and name not in names}
    if hasattr(cls, "__post_init__"):
        methods["__post_init__"] = None  # __init__ calls that of the instance
    where = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    where["__doc__"] = "A twin."  # the standard library would make a docstring of the signature
    twin = type(cls.__name__, (), {**where, **methods, **fields, "__annotations__": {**kinds, **own}})
    dataclasses.dataclass(**options)(twin)
    for name in own:
        if isinstance(given := vars(cls).get(name), dataclasses.Field):
            if given.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, given.default)
    for name in names:
        setattr(cls, name, vars(cls)[name].change(vars(twin)[name]))


def _freeze(cls: Any) -> None:
    """Let no field of an instance be set or deleted, as the standard library does."""

    def is_fixed(instance: object, name: str) -> bool:
        return type(instance) is cls or name in cls.__dataclass_fields__

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807
        if is_fixed(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:  # noqa: N807
        if is_fixed(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__
