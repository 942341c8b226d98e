"""The options that describe a layer, a network, a model or a published transformer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click

from agattn.architectures import Architecture, DeepNetwork, SingleLayer, as_attention
from agattn.architectures.composition import check_depth
from agattn.architectures.jet import Jet
from agattn.architectures.model_file import read_model
from agattn.calls import positive_integer
from agattn.cli.kinds import InputFile
from agattn.errors import InputError
from agattn.files import parsed, read_text


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
    "t": _Described("-t --tokens", "T", whole_number, "Number of tokens t.  [default: 2, for a network 3]")
}
_NETWORK = {
    "dims": _Described("--dims", "D0,...,DL", whole_numbers, "Widths d_0, ..., d_l of a network."),
    "ranks": _Described(
        "--ranks", "A1,...,AL", whole_numbers, "Attention dimensions a_1, ..., a_l of the network."
    ),
    "heads": _Described("--heads", "H", whole_numbers, "Heads in every layer, or H1,...,HL.  [default: 1]"),
    "skip": _Described("--skip", None, bool, "Each layer adds its input to its output."),
    "normalization": _Described(
        "--normalization",
        "none|softmax|C0,C1,...",
        _normalization,
        "How scores become weights; C0,C1,... are Taylor coefficients of a normalizer.  [default: none]",
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
    )
}
_ALL = {**_LAYER, **_TOKENS, **_NETWORK, **_CONFIG, **_JET}
#: Help that is otherwise where only layers are meant, and where heads are also those of a checkpoint.
_OF_ONE_LAYER = {"t": "Number of tokens t.  [default: 2]"}
_OF_CHECKPOINTS = {"heads": "Heads per layer, or H1,...,HL.  [default: config.json's, or 1]"}

#: The lines of the help about an architecture, by the parameters that each is about.
HELP: Mapping[tuple[str, ...], tuple[str, str]] = {
    ("words",): ("ARCH", "Sizes 3 2 2; model.toml, maps.py:NAME or config.json"),
    ("d", "d_out", "a"): ("-d D -o D' -a A", "Input and output width, rank of KᵀQ  [default of A: D]"),
    ("t",): ("-t T", "Number of tokens  [default: 2, of a network 3]"),
    ("dims", "ranks"): ("--dims, --ranks", "Of a network: D0,...,DL and A1,...,AL"),
    ("heads",): ("--heads H", "Heads in every layer, or H1,...,HL  [default: 1]"),
    ("skip",): ("--skip", "Each layer adds its input to its output"),
    ("normalization",): ("--normalization N", "none, softmax, or the Taylor coefficients C0,C1,..."),
    ("family", "ignore"): ("--family, --ignore", "How config.json is read: NAME; KEY,... left out"),
    ("jet",): ("--jet N", "The jet of order N of a network or model"),
}
#: Endings of files with weights, which are no architectures.
_WEIGHTS = (".npz", ".npy", ".safetensors")


class Architectures(NamedTuple):
    """Which architectures a command takes.

    Attributes:
        layers: whether it takes single layers; with ``networks``, whether it takes anything else.
        files: whether files with weights stand among the words; ``--heads`` is also that of a checkpoint.
        published: whether a configuration stays a published transformer; else one layer of it is meant.
        instead: tells of all parameters whether one stands in the place of the architecture, which is then
            ``None``.
    """

    layers: bool = True
    networks: bool = True
    files: bool = False
    published: bool = False
    instead: Callable[[Mapping[str, Any]], bool] = lambda _: False

    def described(self) -> dict[str, _Described]:
        """The options, by the names of their parameters."""
        if not self.networks:
            return {**_LAYER, **_TOKENS, **_CONFIG}
        return {name: option for name, option in _ALL.items() if self.layers or name not in _LAYER}

    def parameters(self) -> list[click.Parameter]:
        """The parameters of click."""
        help_of = _OF_CHECKPOINTS if self.files else _OF_ONE_LAYER if not self.networks else {}
        metavar = "[FILE...] [ARCH]" if self.files else "[ARCH]"
        made: list[click.Parameter] = [click.Argument(["words"], nargs=-1, metavar=metavar)]
        for name, option in self.described().items():
            flags, text = [*option.flags.split(), name], help_of.get(name, option.help)
            is_flag = not option.metavar
            made.append(click.Option(flags, metavar=option.metavar, is_flag=is_flag, default=None, help=text))
        return made

    def read(self, given: dict[str, Any]) -> Any:
        """The architecture that parameters describe, which are taken out of those given."""
        words = given.pop("words")
        if self.files:
            given["files"], words = _files_among(words)
        if self.files and not self.layers and not given["files"]:
            raise click.UsageError("Missing argument 'FILE...': give weights, such as weights.npz")
        own = {name: given.pop(name) for name in self.described()}
        if self.instead(own | given | {"words": words}):
            return None
        if len(words) == 1 and is_description(words[0]):
            return self._refuse_others(self._in_file(words[0], own))
        sizes = _sizes(words, own)
        if sizes and given.get("files"):
            raise InputError(f"{given['files'][0]} has its own sizes; leave out {' '.join(words)}")
        return _architecture(own | sizes)

    def _in_file(self, name: str, own: Mapping[str, Any]) -> Any:
        """What a file describes, as the command takes it."""
        for option, value in own.items():
            if value and option not in (*_CONFIG, *_JET):
                raise click.UsageError(
                    f"{name} describes everything by itself; leave out {_ALL[option].flag}"
                )
        if _is_model(name):
            for option in _CONFIG:
                if own.get(option):
                    raise click.UsageError(f"--{option} is for a configuration; leave --{option} out")
            described: Any = _model(name)
        else:
            from agattn.checkpoints.published import from_config

            described = from_config(name, **configured(own))
            if not (self.published and own.get("jet") is None):
                described = as_attention(described.network)
        return described if own.get("jet") is None else _jet(described, own["jet"])

    def _refuse_others(self, model: Any) -> Any:
        """An architecture, unless it is one that the command does not take."""
        path = click.get_current_context().command_path
        if not self.networks and not isinstance(model, SingleLayer):
            raise InputError(f"{path} is about one layer of one lightning head, and not about {model}")
        if not self.layers and model.degree is None:
            raise InputError(f"{path} is about polynomial models; {model} is normalized")
        return model


def _is_model(word: str) -> bool:
    """Whether a word names a model file, or a name in a program."""
    return bool(re.search(r"\.(toml|py(:[^/]*)?)$", word, re.IGNORECASE))


def is_description(word: str) -> bool:
    """Whether a word names a file, or a folder, that describes an architecture.

    >>> [is_description(word) for word in ("model.toml", "maps.py:cubic", "config.json", "w.npz", "3,2")]
    [True, True, True, False, False]
    """
    return _is_model(word) or word.lower().endswith(".json") or (_there(word) and Path(word).is_dir())


def _there(word: str) -> bool:
    """Whether there is a file or folder of this name; a word that is too long for a name is none."""
    with suppress(OSError):
        return Path(word).exists()
    return False


def _files_among(words: tuple[str, ...]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The files with weights among words, and the words of an architecture."""
    context, files, others = click.get_current_context(), [], []
    for word in words:
        sizes = _SIZES.fullmatch(word) and not _there(word)
        if sizes or _is_model(word) or (word.lower().endswith(".json") and _has_model_type(Path(word))):
            others.append(word)
        else:
            files.append(InputFile().convert(word, None, context))
    return tuple(files), tuple(others)


def _has_model_type(path: Path) -> bool:
    """Whether a file is the configuration of a model, rather than arrays."""
    try:
        table = parsed("JSON", read_text(path), path)
    except InputError:  # which whoever reads the arrays says better
        return False
    return isinstance(table, dict) and "model_type" in table


#: Sizes in one word, in all notations that are understood.
_SIZES = re.compile(r"[(\[]?\d+([ ,;:x×*/-]+\d+)*[)\]]?,?")


def _sizes(words: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, str]:
    """The sizes of a layer in words; an error for any other words.

    >>> _sizes(("3,2,2",), {}), _sizes(("3", "2"), {})
    ({'d': '3', 'd_out': '2', 'a': '2'}, {'d': '3', 'd_out': '2'})
    """
    if not words:
        return {}
    sizes = [size for word in words for size in word.split(",")]
    path = click.get_current_context().command_path if click.get_current_context(silent=True) else "agattn"
    if not all(size.isdecimal() for size in sizes):
        raise InputError(_no_architecture(words, path))
    if (widths := options.get("dims")) is not None:
        raise InputError(f"numbers are joined by commas: type --dims {','.join([widths, *words])}")
    for name in _LAYER:
        flag, value = _ALL[name].flag, options.get(name)
        if value is not None and not value.isdecimal():
            raise InputError(f"{flag} is {value!r}; it must be a whole number of at least 1")
        if value is not None:
            raise InputError(
                f"{' '.join(words)} and {flag} {value} both describe a layer; leave one of them out"
            )
    if len(sizes) == 4:
        raise InputError(f"tokens follow -t: type {path} {' '.join(sizes[:3])} -t {sizes[3]}")
    if len(sizes) not in (2, 3):
        raise InputError(f"{' '.join(words)} is no layer; give d and d', or d, d' and a, as in 3 2 2")
    return dict(zip(_LAYER, sizes, strict=False))


def _no_architecture(words: tuple[str, ...], path: str) -> str:
    """Why words are no architecture, with the line to type where they are sizes in another notation."""
    text = " ".join(words)
    if re.fullmatch(r"\W*(\w{1,5} ?= ?)?\d+([ ,;:x×*/()-]+(\w{1,5} ?= ?)?\d+)+\W*", text):
        return f"sizes are separate words: type {path} {' '.join(re.findall(r'[0-9]+', text))}"
    word = next(word for word in words if not all(map(str.isdecimal, word.split(","))))
    if word.lower().endswith(_WEIGHTS):
        how = "sizes, as in 3 2 2, or a file that describes one"
        return f"{word} holds weights, and {path} takes an architecture: {how}"
    if len(words) > 1 and any(map(is_description, words)):
        return f"give one architecture, and not {text}"
    files = "model.toml, maps.py:cubic or config.json"
    return f"{word!r} is no architecture; give sizes, as in 3 2 2, or a file: {files}"


def _architecture(options: Mapping[str, Any]) -> Architecture:
    """The layer, network or model that options describe; an error if they describe several, or none."""
    for name, text in options.items():
        _refuse_signs(_ALL[name].flag, text, several=_ALL[name].read is whole_numbers)
    given = {name: _ALL[name].read(text) for name, text in options.items() if text is not None}
    if "jet" in given:
        return _jet(_architecture({**options, "jet": None}), given["jet"])
    for name in _CONFIG:
        if name in given:
            raise click.UsageError(f"--{name} is for a configuration; leave --{name} out")
    of_layer = [_ALL[name].flag for name in _LAYER if name in given]
    of_network = [_ALL[name].flag for name in _NETWORK if name in given]
    if of_layer and of_network:
        raise click.UsageError(
            f"{of_layer[0]} describes a single layer and {of_network[0]} a network; give one of them"
        )
    for name in ("dims", "ranks") if of_network else ("d", "d_out"):
        if name not in given:
            raise click.UsageError(f"Missing {_missing(name, given, 'dims' in options)}")
    if "d_out" in given:  # which has another name in Python
        positive_integer("-o", given["d_out"])
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


def _jet(architecture: Any, order: Any) -> Jet:
    return Jet(architecture, positive_integer("--jet", whole_number(order)))


def configured(options: Mapping[str, Any]) -> dict[str, Any]:
    """``--family`` and ``--ignore``, as :func:`agattn.from_config` takes them."""
    ignored = (options.get("ignore") or "").split(",")
    return {"family": options.get("family"), "ignore": tuple(filter(None, ignored))}


def _model(name: str) -> Architecture:
    """What a file describes; where that is attention alone, the layer or the network."""
    model = as_attention(read_model(name))
    if click.get_current_context().params.get("force") is False:
        check_depth(model)
    return model


def _missing(name: str, given: Mapping[str, Any], networks: bool) -> str:
    """What is missing where the option of a size is not given, and what to type."""
    flag = f"option '{_ALL[name].flag}'"
    if name == "dims":
        widths = [*given.get("ranks", (2, 2))[:1], *given.get("ranks", (2, 2))]
        return f"{flag}: give all widths, such as --dims {','.join(map(str, widths))}"
    if name == "ranks":
        ranks = ",".join(map(str, given["dims"][:-1])) or "2"
        return f"{flag}: give the attention dimension of each layer, such as --ranks {ranks}"
    if {"d", "d_out"} & set(given):
        return f"{flag}: " + {"d": "give d, such as -d 2", "d_out": "give d', such as -o 1"}[name]
    network = "; of a network --dims 4,3,4 --ranks 2,2" if networks else ""
    return f"architecture: give its sizes, as in 3 2 2{network}; or a file, such as model.toml"
