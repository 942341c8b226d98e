"""Models from files: TOML that lists layers, or a Python program that makes an architecture.

>>> text = '''
... [input]
... dim = 3
...
... [[layer]]
... type = "perceptron"
... widths = [5, 1]
... degree = 4
... '''
>>> print(read_toml(text, "sums.toml"))
3×1 → perceptron 5,1 (degree 4)
>>> read_toml(text.replace("degree", "degre"), "sums.toml")
Traceback (most recent call last):
    ...
agattn.errors.InputError: sums.toml: layer 1 (perceptron) has an unknown key 'degre'; did you mean 'degree'?

How the documents of all commands write an architecture: by the keys of its kind.

>>> from agattn.architectures import SingleLayer
>>> check(AnyArchitecture, SingleLayer(3, 2).as_json())
>>> check(AnyArchitecture, {"d": 3, "d_out": 2, "a": 3, "t": 0})
Traceback (most recent call last):
agattn.errors.InputError: Expected `int` >= 1
"""

from __future__ import annotations

import difflib
import json
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from importlib import util
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

from agattn.architectures.composition import Network
from agattn.architectures.jet import Jet
from agattn.architectures.layer import SingleLayer
from agattn.architectures.layers import LAYERS, Layer, Skip
from agattn.architectures.network import DeepNetwork
from agattn.architectures.polynomial_map import PolynomialMap
from agattn.architectures.protocol import Architecture, refuse_constant
from agattn.calls import shown
from agattn.errors import InputError, nearest
from agattn.files import about, check_file, parsed, read_text
from agattn.sheet.result import ByKey, Written, check

_EXAMPLE = '[[layer]] with type = "perceptron", widths = [5, 1], degree = 2'
_DEEPEST = 20
#: The program that was run last.
_program: Path | None = None


def read_model(name: str) -> Architecture:
    """The architecture in ``FILE.toml``, or in ``FILE.py:name``, whose program is run.

    Raises:
        InputError: if the file or the name does not exist, or cannot be used; the message says where.
    """
    path, colon, inside = name.rpartition(":")
    of_program = bool(colon) and Path(path).suffix.lower() == ".py"
    file = Path(path if of_program else name)
    if not file.is_file():
        raise InputError(_no_model(name, file))
    if of_program:
        return read_program(file, inside)
    ending = file.suffix.lower()
    if ending == ".py":
        raise InputError(f"{name} is a program; say which name in it is the model, as in {name}:network")
    if ending != ".toml":
        raise InputError(f"the model is {name!r}; it must be a file FILE.toml, or FILE.py:name")
    return read_toml(read_text(Path(name)), name)


def _no_model(name: str, file: Path) -> str:
    """Why there is no model in a file that does not exist, and which files are near.

    >>> _no_model("x", Path("nowhere", "x"))
    "the model is 'x', and there is no folder nowhere; give FILE.toml, or FILE.py:name"
    """
    check_file(file)
    folder = file if file.is_dir() else file.parent
    if not folder.is_dir():
        return f"the model is {name!r}, and there is no folder {folder}; give FILE.toml, or FILE.py:name"
    files = sorted(str(one) for ending in ("toml", "py") for one in folder.glob(f"*.{ending}"))
    there = f"that folder has {', '.join(files[:6])}{' and more' * (len(files) > 6)}" if files else ""
    if file.is_dir():
        return f"the model is {name!r}, a folder; give FILE.toml, or FILE.py:name{f'; {there}' * bool(there)}"
    alike = difflib.get_close_matches(file.stem, [Path(one).stem for one in files], n=1)
    near = [one for one in files if Path(one).stem in alike]
    how = (
        f"did you mean {near[0]!r}?"
        if near
        else f"give FILE.toml, or FILE.py:name{f'; {there}' * bool(there)}"
    )
    return f"the model is {name!r}, and there is no such file; {how}"


def read_toml(text: str, where: str) -> Network:
    """The network that the text of a model file describes; ``where`` is what messages call it.

    Raises:
        InputError: if it is not TOML, a key or a type is unknown, or the layers do not fit together.
    """
    table = parsed("TOML", text, where)
    with about(where):
        return from_table(table)


def from_table(table: Mapping[str, Any]) -> Network:
    """The network that a table describes: ``as_json`` of a network, or a model file that was read.

    Raises:
        InputError: if a key or a type is unknown, the layers do not fit together, or none has parameters.

    >>> from_table({"input": {"dim": 2}, "layer": [{"type": "linear", "out": 3}]}).output_shape
    (3, 1)
    """
    check_keys("the model", table, ("input", "layer"), ("input", "layer"))
    given = table["input"]
    if not isinstance(given, dict):
        raise InputError(f"input is {shown(given)}; it must be a table [input] with dim = 3")
    check_keys("[input]", given, ("dim", "tokens", "t"), ("dim",))
    layers = [_layer(f"layer {i}", one, 0) for i, one in enumerate(_tables("layer", table["layer"]), 1)]
    network = Network(tuple(layers), **given)
    refuse_constant(network)
    return network


def _tables(where: str, value: Any) -> list[Any]:
    tables = [value] if isinstance(value, dict) else value
    if not isinstance(tables, list) or not tables:
        raise InputError(f"{where} is {shown(value)}; it must be tables such as {_EXAMPLE}")
    return tables


def _layer(where: str, table: Any, depth: int) -> Layer:
    """A layer from its table."""
    if not isinstance(table, dict):
        raise InputError(f"{where} is {shown(table)}; it must be a table such as {_EXAMPLE}")
    if "type" not in table:
        raise InputError(f"{where} has no type; there are {', '.join(LAYERS)}")
    kind = table["type"]
    if not isinstance(kind, str) or kind not in LAYERS:
        hint = nearest(str(kind), LAYERS, f"; there are {', '.join(LAYERS)}")
        raise InputError(f"{where} has an unknown type {shown(kind)}{hint}")
    where, layer = f"{where} ({kind})", LAYERS[kind]
    keys = fields(layer)
    needed = [one.name for one in keys if one.default is MISSING]
    check_keys(where, table, ("type", *(one.name for one in keys)), needed)
    given = {key: value for key, value in table.items() if key != "type"}
    with about(where):
        if layer is Skip:
            if depth == _DEEPEST:
                raise InputError(f"there are more than {_DEEPEST} layers inside of each other")
            inside = enumerate(_tables("layer", given["layer"]), 1)
            return Skip(tuple(_layer(f"layer {i}", one, depth + 1) for i, one in inside))
        return layer(**given)


def check_keys(
    where: str, table: Mapping[str, Any], known: Collection[str], needed: Collection[str] = ()
) -> None:
    """Raise an InputError for a key that is not known, with the nearest one, or for one that is missing."""
    for key in table:
        if key not in known:
            hint = nearest(key, known, f"; there are {', '.join(known)}")
            raise InputError(f"{where} has an unknown key {shown(key)}{hint}")
    for key in needed:
        if key not in table:
            raise InputError(f"{where} has no {key}; add it")


def read_program(path: Path, name: str) -> Architecture:
    """The architecture of this name in a Python program, which is run; a function of this name is called.

    The program imports from its own folder first, as if it was run by itself, but ``__name__`` is not
    ``"__main__"``.

    Raises:
        InputError: if the program raises, or the name is not that of an architecture.
    """
    global _program
    read_text(path)
    _program = path
    spec = util.spec_from_file_location("agattn_model", path.absolute())
    assert spec is not None and spec.loader is not None  # of .py there is always one
    module = util.module_from_spec(spec)
    sys.modules["agattn_model"] = module
    sys.path.insert(0, str(path.absolute().parent))
    try:
        with _raising(path):
            spec.loader.exec_module(module)
        names = [key for key in vars(module) if not key.startswith("_")]
        if not name or name not in vars(module):
            listed = f"; there are {', '.join(names[:20]) or 'no names'}"
            raise InputError(f"{path} has no {name or 'name given'}{nearest(name, names, listed)}")
        model = vars(module)[name]
        if callable(model) and not _is_architecture(model):
            if needed := _arguments(model):
                raise InputError(
                    f"{path}: {name} is a function of {', '.join(needed)}; name an architecture, such as"
                    f" {name}_model = ag.PolynomialMap({name}, ...) with the shapes of the parameters"
                )
            with _raising(path):
                model = model()
    finally:
        sys.path.remove(str(path.absolute().parent))
    if not _is_architecture(model):
        made = "makes" if callable(vars(module)[name]) else "is"
        raise InputError(
            f"{path}: {name} {made} {shown(model)}, which is no architecture; give an ag.Network, an"
            " ag.PolynomialMap, or a function without arguments that makes one"
        )
    with _raising(path):
        refuse_constant(model)
    result: Architecture = model
    return result


def _arguments(function: Any) -> list[str]:
    """The arguments without which a function cannot be called."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):  # as of functions in C
        return []
    several = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [one.name for one in parameters if one.default is one.empty and one.kind not in several]


def _is_architecture(value: Any) -> bool:
    return not isinstance(value, type) and all(hasattr(value, key) for key in ("shapes", "evaluate", "t"))


@contextmanager
def _raising(path: Path) -> Iterator[None]:
    """Turn whatever a program raises into one line with the number of the line."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (Exception, SystemExit) as error:
        message = said_by_program(error) or f"{path}: {type(error).__name__}: {' '.join(str(error).split())}"
        raise InputError(message) from None


def said_by_program(error: BaseException) -> str:
    """What a program of a model raised, with its last line that was run; empty where agattn alone was run.

    The program is all files in the folder of the model.
    """
    if _program is None:
        return ""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    message = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, SyntaxError):
        places.append((str(error.filename), error.lineno))
        message = str(error.msg)
    own = [(name, line) for name, line in places if Path(name).parent == _program.absolute().parent]
    if not own:
        return ""
    name, line = own[-1]
    return f"{_program.with_name(Path(name).name)}, line {line}: {message}"


__all__ = ["STUDIED", "AnyArchitecture", "Studied", "architecture_of", "check", "kinds"]


def kinds() -> dict[str, Any]:
    """The kinds of architectures, each by a key that no other kind has."""
    return {
        "dims": DeepNetwork,
        "d": SingleLayer,
        "layer": Network,
        "function": PolynomialMap,
        "jet": Jet,
    }


class AnyArchitecture(ByKey):
    """The document of an architecture of one of :func:`kinds`; its keys tell which."""

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        return kinds()


def architecture_of(document: Mapping[str, Any]) -> Architecture:
    """The architecture that ``as_json`` turned into a document.

    Raises:
        InputError: if it is none; a function of Python is in no document.

    >>> from agattn.architectures import SingleLayer
    >>> architecture_of(SingleLayer(3, 2).as_json())
    SingleLayer(d=3, d_out=2, a=3, t=2)
    """
    if "layer" in document:
        return from_table(document)
    try:
        if "jet" in document:
            return Jet(architecture_of(document["network"]), document["jet"])
        return (DeepNetwork if "dims" in document else SingleLayer)(**document)
    except TypeError:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        raise InputError(f"{text[:200]} is no layer, network or model") from None


#: What the key of an architecture means, in every document that names one.
STUDIED = "What was studied: a layer, a network, a model, or a polynomial map."
#: An architecture of any kind, as the type of a key.
Studied = Annotated[
    Architecture,
    Written(AnyArchitecture, read=lambda found: found if "function" in found else architecture_of(found)),
]
