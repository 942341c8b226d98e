"""Calls that do not fit: one line that says what is wrong with a call, and what to write instead.

>>> import inspect
>>> def layer(d, d_out, a=None, t=2): ...
>>> fitted("ag.layer", inspect.signature(layer), (3,), {"d_out": 2, "tokens": 5}).arguments
{'d': 3, 'd_out': 2, 't': 5}
>>> fitted("layer", inspect.signature(layer), (3,), {"attn_dim": 2})
Traceback (most recent call last):
    ...
agattn.errors.InputError: layer takes no 'attn_dim'; did you mean 'a'? Write layer(d, d_out, a=None, t=2)
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import numbers
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar, cast, get_type_hints

from agattn.errors import InputError, nearest
from agattn.sheet.result import keys

C = TypeVar("C")

#: Two names for one argument, each of which stands for the other where that is what is taken.
_SAME = {"t": "tokens", "tokens": "t", "step": "progress"}
#: What the command line calls it, and what it is called here.
_IN_THE_SHELL = {"embed_dim": "d", "out_dim": "d_out", "attn_dim": "a"}


def shown(value: object, most: int = 60) -> str:
    """A value as a message quotes it: on one line, and without the end of a long one.

    >>> shown([1, 2]), shown("9" * 50, 43), shown(10**4400)
    ('[1, 2]', "'999999999999999999999999999999999999999...", 'a number of more than 4000 digits')
    """
    if isinstance(value, int) and value.bit_length() > 13288:  # which Python refuses to write
        return "a number of more than 4000 digits"
    text = " ".join(repr(value).split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def fitted(
    call: str,
    signature: inspect.Signature,
    args: Sequence[Any],
    named: Mapping[str, Any],
    write: str = "",
) -> inspect.BoundArguments:
    """The arguments of a call by the names in a signature.

    Args:
        call: what is called, such as ``"ag.dimension"``.
        signature: of what is called.
        args, named: the arguments; ``t`` and ``tokens`` are one.
        write: the call that a message shows as right; that with all arguments by default.

    Raises:
        InputError: if an argument is missing, not known or given twice, or there are too many.
    """
    parameters = signature.parameters
    renamed = {_known(name, parameters): value for name, value in named.items()}
    try:
        if len(renamed) == len(named):
            return signature.bind(*args, **renamed)
    except TypeError:
        pass
    wrong = _what_is_wrong(parameters, args, named)
    raise InputError(f"{call} {wrong} Write {write or _plain(call, signature)}")


def _known(name: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    """A name, or the other one for the same argument where that is what is taken."""
    other = _SAME.get(name, "")
    return other if name not in parameters and other in parameters else name


def _what_is_wrong(
    parameters: Mapping[str, inspect.Parameter], args: Sequence[Any], named: Mapping[str, Any]
) -> str:
    """Why arguments do not fit: one is not known, given twice, too many, or missing."""
    by_name = [name for name, parameter in parameters.items() if parameter.kind in (_EITHER, _BY_NAME)]
    by_place = [name for name, parameter in parameters.items() if parameter.kind is _EITHER]
    given = set(by_place[: len(args)])
    for name in named:
        suggestion = _known(name, parameters)
        if suggestion not in by_name and len(by_name) == len(parameters):
            shell = _IN_THE_SHELL.get(name)
            hint = f"; did you mean {shell!r}?" if shell in by_name else nearest(name, by_name)
            return f"takes no {name!r}{hint or '.'}"
        if suggestion in given:
            return f"is given {suggestion!r} twice."
        given.add(suggestion)
    if len(args) > len(by_place):
        most = f"{len(by_place)} argument{'s' * (len(by_place) != 1)}" if by_place else "no arguments"
        verb = "is" if len(args) == 1 else "are"
        return f"takes {most} without a name, and {len(args)} {verb} given."
    needed = [name for name in by_name if parameters[name].default is inspect.Parameter.empty]
    return f"needs {' and '.join(name for name in needed if name not in given)}."


_EITHER, _BY_NAME = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


def _plain(call: str, signature: inspect.Signature) -> str:
    """A call with all that it takes, without types."""
    untyped = inspect.Parameter.empty
    plain = (parameter.replace(annotation=untyped) for parameter in signature.parameters.values())
    return f"{call}{inspect.Signature(list(plain))}"


def constructed(cls: type[C]) -> type[C]:
    """Let a class check the arguments of its constructor by :func:`fitted`; its signature stays as it is.

    The docstring gets a list of the arguments that are described as keys of the class's JSON.

    >>> @constructed
    ... class Power:
    ...     def __init__(self, degree, tokens=1):
    ...         self.degree, self.tokens = degree, tokens
    >>> Power(3, t=2).tokens, str(inspect.signature(Power))
    (2, '(degree, tokens=1)')
    >>> Power()
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: ag.Power needs degree. Write ag.Power(degree, tokens=1)
    """
    make: Callable[..., None] = cls.__init__
    whole = inspect.signature(make)
    signature = whole.replace(parameters=list(whole.parameters.values())[1:])

    @functools.wraps(make)
    def checked(self: C, *args: Any, **named: Any) -> None:
        try:
            make(self, *args, **named)
        except TypeError:  # of the call, most often
            bound = fitted(f"ag.{cls.__name__}", signature, args, named)
            make(self, *bound.args, **bound.kwargs)

    described = {key.attribute: key.kind for key in keys(cast(Any, cls)) if key.attribute in whole.parameters}
    checked.__signature__ = _without_descriptions(whole, described)  # type: ignore[attr-defined]
    cls.__init__ = checked  # type: ignore[assignment, method-assign]
    cls.__doc__ = _with_attributes(inspect.cleandoc(cls.__doc__ or ""), described)
    return cls


def _without_descriptions(signature: inspect.Signature, described: Mapping[str, Any]) -> inspect.Signature:
    """A signature whose types say nothing but the types."""
    plain = get_type_hints(type("Plain", (), {"__annotations__": dict(described)}))
    shown = (
        parameter.replace(annotation=inspect.formatannotation(plain[name])) if name in plain else parameter
        for name, parameter in signature.parameters.items()
    )
    return signature.replace(parameters=list(shown))


def _with_attributes(text: str, described: Mapping[str, Any]) -> str:
    """A docstring with those of these arguments that it does not describe itself."""
    lines = [
        f"    {name}: {more}"
        for name, kind in described.items()
        for more in kind.__metadata__
        if isinstance(more, str) and f"{name}:" not in text
    ]
    return "\n".join([text, "", "Attributes:", *lines]) if lines else text


def refuse_unless(fits: bool, name: str, value: object, what: str) -> None:
    """Raise an InputError that names an argument, its value, and what it must be.

    >>> refuse_unless(False, "seed", -1, "a whole number of at least 0")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: seed is -1; it must be a whole number of at least 0
    """
    if not fits:
        raise InputError(f"{name} is {shown(value)}; it must be {what}")


def is_list(value: object) -> TypeGuard[Collection[Any]]:
    """Whether a value is a list of some kind, and no text.

    >>> is_list((1, 2)), is_list("12"), is_list(12)
    (True, False, False)
    """
    return hasattr(value, "__iter__") and hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def is_whole(value: object) -> bool:
    """Whether a value is a whole number of at least 0.

    >>> is_whole(0), is_whole(-1), is_whole(True), is_whole(1.0)
    (True, False, False, False)
    """
    try:
        return not isinstance(value, bool) and operator.index(value) >= 0  # type: ignore[arg-type]
    except TypeError:
        return False


def is_number(value: object) -> TypeGuard[numbers.Real]:
    """Whether a value is a number from 0 to 1e300.

    >>> is_number(0.5), is_number(-1), is_number(float("nan")), is_number(10**400)
    (True, False, False, False)
    """
    with contextlib.suppress(OverflowError):  # of an int that is no float
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 <= float(value) <= 1e300
    return False


def is_ranks(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list of whole numbers of at least 0."""
    return is_list(value) and all(map(is_whole, value))


def one_of(name: object, choices: Iterable[str], what: str) -> str:
    """A name in lower case, or an InputError with the nearest one there is.

    >>> one_of("Weights", ("weights", "equations"), "method")
    'weights'
    """
    words = list(choices)
    if not isinstance(name, str) or name.lower() not in words:
        listed = f"; there are {', '.join(words)}"
        hint = nearest(name, words, listed) if isinstance(name, str) else listed
        raise InputError(f"there is no {what} {shown(name)}{hint}")
    return name.lower()


#: No size is larger: nothing could be computed, and formulas would fill the memory with digits.
LARGEST_SIZE = 10**9


def positive_integer(name: str, value: object) -> int:
    """Return ``value`` as an int, or raise an InputError that names it.

    >>> positive_integer("d", 10**10)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: d is 10000000000; it must be a whole number of at most 1000000000
    """
    number = 0
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):
            number = operator.index(value)  # type: ignore[arg-type]
    if 1 <= number <= LARGEST_SIZE:
        return number
    # Text of decimals only is a number that Python refuses to read, because it is too long.
    too_large = number > LARGEST_SIZE or (isinstance(value, str) and value.isdecimal() and len(value) > 10)
    bound = f"at most {LARGEST_SIZE}" if too_large else "at least 1"
    raise InputError(f"{name} is {shown(value, 43)}; it must be a whole number of {bound}")


def positive_integers(name: str, value: Any, example: str) -> tuple[int, ...]:
    """Return a list of positive integers as a tuple, or raise an InputError; ``example`` is a valid list.

    >>> positive_integers("ranks", 2, "(2, 2)")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: ranks is 2; it must be a list of numbers such as (2, 2)
    """
    if not is_list(value) or not len(value):
        raise InputError(f"{name} is {shown(value)}; it must be a list of numbers such as {example}")
    return tuple(positive_integer(f"{name}[{k}]", number) for k, number in enumerate(value))
