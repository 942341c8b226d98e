"""The verbs: what agattn can be asked, by name, and the function of a room that answers each.

A verb is ``agattn.NAME`` in Python and, where there is a command of that name, ``agattn NAME`` in a shell.
Both call the same function, which is imported when the verb is first used. The verb has the signature and the
docstring of that function. Beyond it a verb in Python checks the call, with one line for what does not fit,
and tells on stderr what it does when that takes long.

>>> import agattn as ag
>>> layer = ag.SingleLayer(3, 2, a=2)
>>> ag.dimension(layer)
M(3,2,2), t = 2: dimension 13 (proved), expected 13
>>> ag.tangent_space(layer, (2, 1, 2))
dim T_p = 14 > dim M̄ = 13: singular (from below: first-order arcs; from above: one reduced preimage)
>>> ag.verify(layer, "theorem-3.4.singular", engine="native")["theorem-3.4.singular"].status
<Status.REFUTED: 'refuted'>
"""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from agattn import names
from agattn.architectures.composition import check_depth
from agattn.architectures.protocol import refuse_constant
from agattn.calls import LARGEST_SIZE, fitted, is_list, is_number, is_ranks, is_whole, refuse_unless, shown
from agattn.errors import InputError
from agattn.patience import told

#: The function of each verb, as ``module:function``.
VERBS: Mapping[str, str] = {name: verb.function for name, verb in sorted(names.VERBS.items())}

__all__ = ["VERBS", "verb", *VERBS]


def verb(name: str) -> Callable[..., Any]:
    """The verb of a name: the function of its room, with its call checked and its errors told in Python.

    >>> verb("dimension")(3, 2, 2)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: ag.dimension takes 1 argument without a name, and 3 are given. Write
    ag.dimension(ag.SingleLayer(3, 2, 2))
    >>> import agattn as ag
    >>> verb("strata")(ag.SingleLayer(20, 20))
    Traceback (most recent call last):
        ...
    agattn.errors.TooLargeError: M(20,20,20) has 84000 coordinates;
    the limit is 1000. Use force=True to start all the same
    """
    module, function = VERBS[name].split(":")
    return _as_verb(name, getattr(import_module(module), function))


@functools.cache
def _as_verb(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        given = fitted(f"ag.{name}", signature, args, named, _right_call(name, signature, args))
        _check_arguments(given)
        _check_architecture(name, given)
        with told(_work(name, given), given.arguments.pop("progress", None)):
            return function(*given.args, **given.kwargs)

    called.__name__ = called.__qualname__ = name
    return called


def _work(name: str, given: inspect.BoundArguments) -> str:
    """What a verb does, in words, such as ``"critical points of M(3,2,2)"``."""
    of = next((given.arguments[key] for key in _ARCHITECTURES if key in given.arguments), None)
    about = getattr(of, "name", "")
    return name.replace("_", " ") + f" of {about}" * isinstance(about, str) * bool(about)


def __getattr__(name: str) -> Callable[..., Any]:
    if name in VERBS:
        return verb(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


#: How arguments that a verb needs are written.
_WRITTEN = {
    "model": '"path/to/model"',
    "architecture": "ag.SingleLayer(3, 2, a=2)",
    "layer": "ag.SingleLayer(3, 2, a=2)",
    "network": "ag.DeepNetwork((4, 3, 4), (2, 2))",
    "weights": "{'K': K, 'Q': Q, 'V': V}",
    "w1": "{'A': A, 'V': V}",
    "w2": "{'A': B, 'V': W}",
    "V": "A=A, V=V",
    "stratum": "(2, 1, 2)",
    "tensor_or_function": "tensor",
    "task": "'implicit-ideal'",
    "document": "ag.certificate(layer)",
    "matrix": "[[1, 2], [2, 4]]",
    "grid": "'grid.toml'",
    "number": "1",
    "name": "'verify'",
    "config": "'config.json'",
    "file": "'ideal.m2'",
}


def _right_call(verb: str, signature: inspect.Signature, args: Sequence[Any]) -> str:
    """A call of a verb that works, with the sizes of a layer or of a network that were given."""
    written = {
        name: _WRITTEN[name]
        for name, parameter in signature.parameters.items()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }
    first = next(iter(written), "")
    if first in _ARCHITECTURES and 2 <= len(args) <= 4:
        sizes = ", ".join(map(shown, args))
        if all(isinstance(size, int) for size in args):
            written[first] = f"ag.SingleLayer({sizes})"
        elif len(args) == 2 and all(is_list(one) and all(isinstance(n, int) for n in one) for one in args):
            written[first] = f"ag.DeepNetwork({sizes})"
    return f"ag.{verb}({', '.join(written.values())})"


#: Arguments that are architectures.
_ARCHITECTURES = ("architecture", "layer", "network")


def _is_size(value: object) -> bool:
    return is_whole(value) and operator.index(value) <= LARGEST_SIZE  # type: ignore[arg-type]


def _is_tolerance(value: Any) -> bool:
    return is_number(value) and 0 < float(value) < 1


def _is_flag(value: object) -> bool:
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, str) or (is_list(value) and all(isinstance(text, str) for text in value))


def _is_pair(value: object) -> bool:
    return is_list(value) and not isinstance(value, Mapping) and len(value) == 2


def _is_names(value: object) -> bool:
    return _is_text(value) or (isinstance(value, Mapping) and all(map(_is_text, value.values())))


def _is_path(value: object) -> bool:
    return isinstance(value, (str, Path))


def _is_radius(value: object) -> bool:
    return isinstance(value, (numbers.Real, str)) and not isinstance(value, bool)


_FLAGS = (
    "components", "eliminate", "fold_norms", "force", "fresh", "machine", "nearest", "pairs", "pictures",
    "points", "prime", "real", "residual_basis", "retry_undecided", "smooth", "softmax",
)  # fmt: skip
#: What arguments of these names must be, for every verb: a test, and in words. The rest is read by the rooms.
_MUST_BE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("seed", "characteristic"), (is_whole, "a whole number of at least 0")),
    **dict.fromkeys(
        (
            "workers",
            "max_degree",
            "samples",
            "heads",
            "kv_heads",
            "precision",
            "digits",
            "layer",
            "head",
            "rank",
            "latent",
            "context",
        ),
        (_is_size, f"a whole number from 0 to {LARGEST_SIZE}"),
    ),
    **dict.fromkeys(("timeout", "memory", "noise"), (is_number, "a number from 0 to 1e300")),
    "tolerance": (_is_tolerance, "a number above 0 and below 1"),
    **dict.fromkeys(_FLAGS, (_is_flag, "True or False")),
    **dict.fromkeys(
        ("metric", "method", "engine", "tokens", "part", "command", "grid_text", "groups"), (_is_text, "text")
    ),
    "progress": (callable, "a function of one line of text"),
    "written": (callable, "a function of one estimate"),
    "claims": (_is_texts, "an id such as 'theorem-3.4', or a list of ids"),
    "match": (_is_texts, "part of the names of tensors, or a list of such parts"),
    "names": (_is_names, "the names of K, Q and V, as {'K': 'h.{layer}.k', ...}"),
    "family": (_is_text, "the name of a family, such as 'llama'"),
    "ignore": (_is_texts, "a key of a configuration, or a list of keys"),
    "radius": (_is_radius, "a number, or a number in text such as '1/3'"),
    "data": (_is_pair, "a pair (X, Y)"),
    **dict.fromkeys(("target", "coefficients"), (is_list, "a list of N numbers")),
    "ranks": (is_ranks, "a list of ranks such as (1, 2)"),
    "grid": (_is_path, "the path of a TOML file, or its text"),
    "keep": (_is_path, "the path of a folder"),
    "file": (_is_path, "the path of a file"),
}


def _check_arguments(given: inspect.BoundArguments) -> None:
    """Refuse values of another kind than their name says; None where it is the default, and as progress."""
    parameters = given.signature.parameters
    options: Mapping[str, Any] = given.arguments.get("options", {})
    for name, value in {**given.arguments, **options}.items():
        silent = name == "progress" or (name in parameters and parameters[name].default is None)
        left_out = value is None and silent
        # A layer that is no number is an architecture; data of a model are tokens or hidden states.
        kind = str(parameters[name].annotation) if name in parameters else ""
        other = (name == "layer" and "int" not in kind) or (name == "data" and "model" in parameters)
        if name in _MUST_BE and not left_out and not other:
            fits, words = _MUST_BE[name]
            refuse_unless(fits(value), name, value, words)


def _is_model_file(path: str | Path) -> bool:
    return Path(path).suffix.partition(":")[0] in (".toml", ".py")


#: What may stand in the place of an architecture, by the type as a signature writes it.
_INSTEAD: Mapping[str, Callable[[Any], bool]] = {
    "Mapping[str, Any]": lambda value: isinstance(value, Mapping),
    "Weights": lambda value: type(value).__name__ == "Weights",
    "Published": lambda value: type(value).__name__ == "Published",
    "Path": lambda value: isinstance(value, (str, Path)) and not _is_model_file(value),
    "Sequence[Line]": lambda value: (
        isinstance(value, Sequence)
        and bool(value)
        and all(isinstance(line, Mapping) and {"job", "status", "versions"} <= set(line) for line in value)
    ),
}


def _check_architecture(name: str, given: inspect.BoundArguments) -> None:
    """Refuse what is no architecture where one is taken, and say how to write one."""
    options = {**given.arguments, **given.arguments.get("options", {})}
    can_be_forced = not {"force", "options"}.isdisjoint(given.signature.parameters)
    for argument, value in given.arguments.items():
        kind, *others = str(given.signature.parameters[argument].annotation).split(" | ")
        if kind not in ("Architecture", "SingleLayer") or any(_INSTEAD[other](value) for other in others):
            continue
        members = ("shapes", "evaluate", "t")
        if isinstance(value, type) or not all(hasattr(value, member) for member in members):
            how = "such as ag.SingleLayer(d=3, d_out=2, a=2)"
            if isinstance(value, (str, Path)) and _is_model_file(value):
                how = f"and that in a file is agattn.architectures.model_file.read_model({str(value)!r})"
            order = "first" if argument == next(iter(given.arguments)) else "second"
            raise InputError(f"ag.{name} takes an architecture {order}, {how}; it was given {shown(value)}")
        refuse_constant(value)
        if can_be_forced and not options.get("force"):
            check_depth(value)
    task = given.arguments.get("task", "")
    if not isinstance(task, str):
        raise InputError(f"the task is {shown(task)}; ag.{name} takes the architecture, then a task's name")
