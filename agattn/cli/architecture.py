"""The options that describe a layer, a network, a model or a published transformer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import click

from agattn.architectures import Architecture, DeepNetwork, SingleLayer, as_attention
from agattn.architectures.composition import check_depth
from agattn.architectures.jet import Jet
from agattn.architectures.model_file import read_model
from agattn.calls import positive_integer
from agattn.errors import InputError
from agattn.heads.published import Published, from_config


def whole_number(text: Any) -> Any:
    """Text as a whole number where it is one, else as it is, for the architecture to refuse by name."""
    try:
        return int(text)
    except ValueError:
        return text


def whole_numbers(text: str) -> tuple[Any, ...]:
    """Return the comma-separated numbers in ``text``, each as :func:`whole_number` does.

    >>> whole_numbers("4, 3,x")
    (4, 3, 'x')
    """
    return tuple(whole_number(part.strip()) for part in text.split(","))


def _temperature(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _normalization(text: str) -> Any:
    """Return the Taylor coefficients in ``text`` as an architecture takes them, or the name of a normalizer.

    >>> _normalization("softmax"), _normalization("1,1,1/2")
    ('softmax', {'series': ['1', '1', '1/2']})
    """
    return {"series": [part.strip() for part in text.split(",")]} if "," in text else text


class _Described(NamedTuple):
    """An option that describes an architecture: its names, its metavar, how it is read, and its help."""

    flags: str
    metavar: str | None
    read: Callable[[str], Any]
    help: str

    @property
    def flag(self) -> str:
        """The name by which messages call it."""
        return self.flags.split()[0]


_LAYER = {
    "d": _Described("-d --embed-dim", "D", whole_number, "Embedding dimension d of the layer."),
    "d_out": _Described("-o --out-dim", "D'", whole_number, "Output dimension d' of the layer."),
    "a": _Described("-a --attn-dim", "A", whole_number, "Attention dimension a of the layer.  [default: d]"),
}
_TOKENS = {
    "t": _Described("-t --tokens", "T", whole_number, "Number of tokens t.  [default: 2, for a network 3]"),
}
_NETWORK = {
    "dims": _Described("--dims", "D0,...,DL", whole_numbers, "Widths d_0, ..., d_l of a network."),
    "ranks": _Described(
        "--ranks", "A1,...,AL", whole_numbers, "Attention dimensions a_1, ..., a_l of the network."
    ),
    "heads": _Described("--heads", "H", whole_numbers, "Heads in every layer, or H1,...,HL.  [default: 1]"),
    "value_rank": _Described(
        "--value-rank", "B", whole_number, "Largest rank of each V_h.  [default: no restriction]"
    ),
    "skip": _Described("--skip", None, bool, "Each layer adds its input to its output."),
    "normalization": _Described(
        "--normalization",
        "none|softmax|C0,C1,...",
        _normalization,
        "How scores become weights; C0,C1,... are Taylor coefficients of a normalizer.  [default: none]",
    ),
    "temperature": _Described(
        "--temperature", "T", _temperature, "Temperature of the softmax.  [default: 1]"
    ),
}
_FILES = {
    "model": _Described(
        "--model",
        "FILE",
        str,
        "A model in place of a layer: FILE.toml, or FILE.py:name; the Python file is run.",
    ),
    "config": _Described(
        "--config", "FILE", str, "The config.json of a published transformer: one layer of its attention."
    ),
}
_CONFIG = {
    "family": _Described(
        "--family", "NAME", str, "The family as which a configuration is read, such as llama."
    ),
    "ignore": _Described(
        "--ignore", "KEY,...", str, "Keys of a configuration that are passed over, known or not."
    ),
}
_JET = {
    "jet": _Described(
        "--jet",
        "N",
        whole_number,
        "The jet of order N of the network or model, at the zero input: a polynomial model.",
    ),
}
_ALL = {**_LAYER, **_TOKENS, **_NETWORK, **_FILES, **_CONFIG, **_JET}
#: Help that is otherwise where only layers are meant, and where heads are also those of a checkpoint.
_OF_ONE_LAYER = {"t": "Number of tokens t.  [default: 2]"}
_OF_CHECKPOINTS = {"heads": "Heads per layer, or H1,...,HL.  [default: config.json's, or 1]"}


class Architectures(NamedTuple):
    """Which architectures a command takes.

    Attributes:
        layers: whether it takes single layers; with ``networks``, whether it takes anything else.
        by_place: whether D D' and D D' A stand without options, as for commands that read no other words.
        checkpoints: whether ``--heads`` is also that of a checkpoint.
        published: whether a configuration stays a published transformer; else one layer of it is meant.
        instead: tells of all parameters whether one stands in the place of the architecture, which is then
            ``None``.
    """

    layers: bool = True
    networks: bool = True
    by_place: bool = True
    checkpoints: bool = False
    published: bool = False
    instead: Callable[[Mapping[str, Any]], bool] = lambda _: False

    def described(self) -> dict[str, _Described]:
        """The options, by the names of their parameters."""
        if not self.networks:
            return {**_LAYER, **_TOKENS, **_FILES, **_CONFIG}
        return {name: one for name, one in _ALL.items() if self.layers or name not in _LAYER}

    def parameters(self) -> list[click.Parameter]:
        """The parameters of click."""
        help_of = _OF_CHECKPOINTS if self.checkpoints else _OF_ONE_LAYER if not self.networks else {}
        sizes = [click.Argument(["sizes"], nargs=-1, metavar="[D D_OUT [A]]")] if self.by_place else []
        return [
            *sizes,
            *(
                click.Option(
                    [*one.flags.split(), name],
                    metavar=one.metavar,
                    is_flag=not one.metavar,
                    default=None,
                    help=help_of.get(name, one.help),
                )
                for name, one in self.described().items()
            ),
        ]

    def read(self, given: dict[str, Any]) -> Any:
        """The architecture that parameters describe, which are taken out of those given."""
        sizes = given.pop("sizes", ())
        own = {name: given.pop(name) for name in self.described()}
        own |= _by_place(sizes, own)
        if self.published and own["config"] is not None:
            return _published(own)
        if own["model"] is not None or own["config"] is not None:
            return self._refuse_others(_architecture(own))
        return None if self.instead(own | given) else _architecture(own)

    def _refuse_others(self, model: Architecture) -> Architecture:
        """A model, unless it is one that the command does not take."""
        path = click.get_current_context().command_path
        if not self.networks and not isinstance(model, SingleLayer):
            raise InputError(f"{path} is about one layer of one lightning head, and not about {model}")
        if not self.layers and model.degree is None:
            raise InputError(f"{path} is about polynomial models; {model} is normalized")
        return model


def _by_place(sizes: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, str]:
    """The sizes of a layer given without options; an error for any other words."""
    if not sizes:
        return {}
    for name in _FILES:
        if options.get(name) is not None:
            raise click.UsageError(f"--{name} describes everything by itself; leave out {' '.join(sizes)}")
    others = any(options.get(name) is not None for name in (*_LAYER, *_NETWORK))
    if len(sizes) not in (2, 3) or others or not all(size.isdecimal() for size in sizes):
        raise stray(sizes, click.get_current_context())
    return dict(zip(_LAYER, sizes, strict=False))


def stray(words: tuple[str, ...], context: click.Context) -> Exception:
    """The error for words that no argument takes, with the line to type where they are sizes or a model."""
    if typed := _model_typed(words, context) or _sizes_typed(words, context):
        return InputError(typed)
    several = "s" if len(words) > 1 else ""
    return click.UsageError(f"Got unexpected extra argument{several} ({' '.join(words)})", context)


def _model_typed(words: tuple[str, ...], context: click.Context) -> str:
    """The line to type where the file of a model stands without its option; empty where there is none."""
    takes_models = any("--model" in parameter.opts for parameter in context.command.params)
    if takes_models and len(words) == 1 and re.fullmatch(r"\S+(\.toml|\.py(:\w+)?)", words[0]):
        return f"a model follows its option: type {context.command_path} --model {words[0]}"
    return ""


#: Parameters that are sizes, in the order in which they are typed.
_SIZES = ("d", "d_out", "a", "t")


def _sizes_typed(words: tuple[str, ...], context: click.Context) -> str:
    """The line to type where sizes stand without their options; empty where the words are no sizes."""
    given = context.params
    if not all(word.isdecimal() for word in words):
        numbers = re.findall(r"\d+", " ".join(words))
        pattern = r"(\w{1,5} ?= ?)?\d+([ ,;:x×*/()-]+(\w{1,5} ?= ?)?\d+)+\W?"
        if not re.fullmatch(pattern, " ".join(words).strip("([")):
            return ""
        return f"numbers are separate words: type {context.command_path} {' '.join(numbers)}"
    if widths := given.get("dims"):
        return f"numbers are joined by commas: type --dims {','.join([widths, *words])}"
    sizes = sorted(
        (parameter for parameter in context.command.params if parameter.name in _SIZES),
        key=lambda parameter: _SIZES.index(parameter.name or ""),
    )
    if not sizes:
        return ""
    typed = {p.opts[0]: given[p.name or ""] for p in sizes if _is_typed(p, context)}
    for flag, value in typed.items():
        if not str(value).isdecimal():
            return f"{flag} is {value!r}; it must be a number"
    left = [p.opts[0] for p in sizes if p.opts[0] not in typed]
    typed |= dict(zip(left, words, strict=False))
    needed = {"-d": "D", "-o": "D'"} if "-d" in [*typed, *left] else {}
    line = " ".join(f"{flag} {number}" for flag, number in (needed | typed).items())
    before = "".join(f" {given[name]}" for name in ("task", "file", "number") if given.get(name))
    return f"give sizes by their options: type {context.command_path}{before} {line}"


def _is_typed(parameter: click.Parameter, context: click.Context) -> bool:
    return context.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE


def _architecture(options: Mapping[str, Any]) -> Architecture:
    """The layer, network or model that options describe; an error if they describe several, or none."""
    for name, text in options.items():
        _refuse_signs(_ALL[name].flag, text, several=_ALL[name].read is whole_numbers)
    given = {name: _ALL[name].read(text) for name, text in options.items() if text is not None}
    if "jet" in given:
        order = positive_integer("--jet", given["jet"])
        return Jet(_architecture({**options, "jet": None}), order)
    if "config" in given:
        return as_attention(_published(options).network)
    for name in _CONFIG:
        if name in given:
            raise click.UsageError(f"--{name} is for --config; leave --{name} out")
    if "model" in given:
        for name in given:
            if name != "model":
                raise click.UsageError(f"--model describes everything by itself; leave out {_ALL[name].flag}")
        return _model(given["model"])
    of_layer = [_ALL[name].flag for name in _LAYER if name in given]
    of_network = [_ALL[name].flag for name in _NETWORK if name in given]
    if of_layer and of_network:
        raise click.UsageError(
            f"{of_layer[0]} describes a single layer and {of_network[0]} a network; give -d and -o, or "
            "--dims and --ranks"
        )
    for name in ("dims", "ranks") if of_network else ("d", "d_out"):
        if name not in given:
            hint = _hint(name, given, "dims" in options)
            raise click.UsageError(f"Missing option '{_ALL[name].flag}': {hint}")
    if "temperature" in given and given.get("normalization") != "softmax":
        raise InputError(
            "--temperature belongs to the softmax; leave --temperature out, or add --normalization softmax"
        )
    for name in {"d_out", "value_rank"} & set(given):  # which have other names in Python
        positive_integer(_ALL[name].flag, given[name])
    return DeepNetwork(**given) if of_network else SingleLayer(**given)


def _refuse_signs(flag: str, text: Any, several: bool) -> None:
    """Refuse numbers with the signs of another notation, and say how they are typed.

    >>> _refuse_signs("--dims", "4x3x4", True)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: --dims is '4x3x4'; numbers are joined by commas: type --dims 4,3,4
    """
    if isinstance(text, str) and re.fullmatch(r"=\d+", text):
        raise InputError(f"{flag} is {text!r}; leave out the sign: type {flag} {text[1:]}")
    if several and isinstance(text, str) and re.fullmatch(r"[(\[]?\d+([ ;:x×/-]+\d+)+[)\]]?", text):
        numbers = ",".join(re.findall(r"\d+", text))
        raise InputError(f"{flag} is {text!r}; numbers are joined by commas: type {flag} {numbers}")


def _published(options: Mapping[str, Any]) -> Published:
    """The published transformer of ``--config``; an error if there are other descriptions."""
    given = {name: text for name, text in options.items() if text}
    others = [_ALL[name].flag for name in given if name not in ("config", *_CONFIG)]
    if others:
        raise click.UsageError(f"--config describes everything by itself; leave out {others[0]}")
    return from_config(given["config"], **configured(given))


def configured(options: Mapping[str, Any]) -> dict[str, Any]:
    """``--family`` and ``--ignore``, as :func:`agattn.from_config` takes them."""
    return {
        "family": options.get("family"),
        "ignore": tuple(filter(None, (options.get("ignore") or "").split(","))),
    }


def _model(name: str) -> Architecture:
    """What a file describes; where that is attention alone, the layer or the network."""
    model = as_attention(read_model(name))
    if click.get_current_context().params.get("force") is False:
        check_depth(model)
    return model


def _hint(missing: str, given: Mapping[str, Any], networks: bool) -> str:
    """What to type where the option of a size is missing."""
    layer, network = "a layer, such as -d 2 -o 1", "a network, such as --dims 4,3,4 --ranks 2,2"
    if missing == "dims":
        widths = [*given.get("ranks", (2, 2))[:1], *given.get("ranks", (2, 2))]
        return f"give all widths, such as --dims {','.join(map(str, widths))}"
    if missing == "ranks":
        ranks = ",".join(map(str, given["dims"][:-1])) or "2"
        return f"give the attention dimension of each layer, such as --ranks {ranks}"
    if given or not networks:
        return {"d": "give d, such as -d 2", "d_out": "give d', such as -o 1"}[missing]
    return f"give {layer}, or {network}"
