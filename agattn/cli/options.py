"""Options that several commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli.ending import STDIN
from agattn.cli.output import DRAWINGS, FIGURES, Destination, json_option, refuse_empty
from agattn.errors import InputError
from agattn.evidence import ENGINES as ENGINE_NAMES
from agattn.files import check_file

if TYPE_CHECKING:
    from agattn.architectures import Architecture
    from agattn.engines.engine import Engine
    from agattn.heads.published import Published

Command = Callable[..., Any]


def _number(kind: type[int] | type[float], text: str) -> Any:
    """Return ``text`` as a number where it is one, else as it is, for the architecture to refuse by name."""
    try:
        return kind(text)
    except ValueError:
        return text


whole_number, real_number = partial(_number, int), partial(_number, float)


def whole_numbers(text: str) -> tuple[Any, ...]:
    """Return the comma-separated numbers in ``text``, each as ``whole_number`` does.

    >>> whole_numbers("4, 3,x")
    (4, 3, 'x')
    """
    return tuple(whole_number(part.strip()) for part in text.split(","))


def normalization(text: str) -> Any:
    """Return the Taylor coefficients in ``text`` as an architecture takes them, or the name of a normalizer.

    >>> normalization("softmax"), normalization("1,1,1/2")
    ('softmax', {'series': ['1', '1', '1/2']})
    """
    return {"series": [part.strip() for part in text.split(",")]} if "," in text else text


#: The options that describe a layer, and those that describe a network, by the name of their parameter:
#: flags, metavar, how they are read, and help.
_LAYER: dict[str, tuple[str, str | None, Command, str]] = {
    "d": ("-d --embed-dim", "D", whole_number, "Embedding dimension d of the layer."),
    "d_out": ("-o --out-dim", "D'", whole_number, "Output dimension d' of the layer."),
    "a": ("-a --attn-dim", "A", whole_number, "Attention dimension a of the layer.  [default: d]"),
    "t": ("-t --tokens", "T", whole_number, "Number of tokens t.  [default: 2, for a network 3]"),
}
_NETWORK: dict[str, tuple[str, str | None, Command, str]] = {
    "dims": ("--dims", "D0,...,DL", whole_numbers, "Widths d_0, ..., d_l of a network."),
    "ranks": ("--ranks", "A1,...,AL", whole_numbers, "Attention dimensions a_1, ..., a_l of the network."),
    "heads": ("--heads", "H", whole_numbers, "Heads in every layer, or H1,...,HL.  [default: 1]"),
    "value_rank": ("--value-rank", "B", whole_number, "Largest rank of each V_h.  [default: no restriction]"),
    "skip": ("--skip", None, bool, "Each layer adds its input to its output."),
    "normalization": (
        "--normalization",
        "none|softmax|C0,C1,...",
        normalization,
        "How scores become weights; C0,C1,... are Taylor coefficients of a normalizer.  [default: none]",
    ),
    "temperature": ("--temperature", "T", real_number, "Temperature of the softmax.  [default: 1]"),
}
_JET: dict[str, tuple[str, str | None, Command, str]] = {
    "jet": (
        "--jet", "N", whole_number,
        "The jet of order N of the network or model, at the zero input: a polynomial model.",
    ),
}  # fmt: skip
_MODEL: dict[str, tuple[str, str | None, Command, str]] = {
    "model": (
        "--model",
        "FILE",
        str,
        "A model in place of a layer: FILE.toml, or FILE.py:name; the Python file is run.",
    ),
    "config": (
        "--config",
        "FILE",
        str,
        "The config.json of a published transformer: one layer of its attention.",
    ),
}
_CONFIG: dict[str, tuple[str, str | None, Command, str]] = {
    "family": ("--family", "NAME", str, "The family as which a configuration is read, such as llama."),
    "ignore": ("--ignore", "KEY,...", str, "Keys of a configuration that are passed over, known or not."),
}
_KNOWN = {**_LAYER, **_NETWORK, **_MODEL, **_CONFIG, **_JET}


def _one_layer(given: Architecture) -> Architecture:
    from agattn.architectures import SingleLayer

    if not isinstance(given, SingleLayer):
        raise InputError(f"{_command()} is about one layer of one lightning head, and not about {given}")
    return given


def _polynomial(given: Architecture) -> Architecture:
    if given.degree is None:
        raise InputError(f"{_command()} is about polynomial models; {given} is normalized")
    return given


def _command() -> str:
    return click.get_current_context().command_path


def layer_or_network(
    command: Command,
    instead: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    described: dict[str, Any] = _KNOWN,
    of_model: Callable[[Architecture], Architecture] = lambda given: given,
    by_place: bool = True,
    of_config: Callable[[Published], Any] | None = None,
) -> Command:
    """Add the options of all kinds of architectures, and pass the command the ``architecture`` given.

    ``instead`` tells of all parameters whether one stands in its place; the architecture is then ``None``.
    ``of_model`` says what the command makes of a model, or refuses it; ``of_config`` what it makes of a
    published transformer, of which other commands take one layer. ``by_place``: take D D' and D D' A
    without options, too, as commands do that read no other words.
    """

    @wraps(command)
    def wrapped(sizes: tuple[str, ...] = (), **given: Any) -> Any:
        own = {name: given.pop(name) for name in described}
        own |= _by_place(sizes, own)
        if own["config"] is not None and of_config is not None:
            return command(architecture=of_config(_published(own)), **given)
        if own["model"] is not None or own["config"] is not None:
            return command(architecture=of_model(_architecture(own)), **given)
        return command(architecture=None if instead(own | given) else _architecture(own), **given)

    for name, (flags, shown, _, text) in reversed(described.items()):
        add = click.option(*flags.split(), name, metavar=shown, is_flag=not shown, default=None, help=text)
        wrapped = add(wrapped)
    return click.argument("sizes", nargs=-1, metavar="[D D_OUT [A]]")(wrapped) if by_place else wrapped


def _by_place(sizes: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, str]:
    """The sizes of a layer given without options; an error for any other words."""
    if not sizes:
        return {}
    others = ("d", "d_out", "a", *_NETWORK, *_MODEL)
    for name in _MODEL:
        if options.get(name) is not None:
            raise click.UsageError(f"--{name} describes everything by itself; leave out {' '.join(sizes)}")
    if len(sizes) not in (2, 3) or any(options.get(name) is not None for name in others):
        raise stray(sizes)
    if not all(size.isdecimal() for size in sizes):
        raise stray(sizes)
    return dict(zip(("d", "d_out", "a"), sizes, strict=False))


def stray(words: tuple[str, ...]) -> click.UsageError:
    """The error of click for words that no argument takes."""
    several = "s" if len(words) > 1 else ""
    context = click.get_current_context()
    return click.UsageError(f"Got unexpected extra argument{several} ({' '.join(words)})", context)


_HEADS = {"heads": (*_NETWORK["heads"][:3], "Heads per layer, or H1,...,HL.  [default: config.json's, or 1]")}
#: Adds all of them, where ``--heads`` is also that of a checkpoint; the context has what was given.
layer_network_or_checkpoint = partial(layer_or_network, described=_KNOWN | _HEADS, by_place=False)

_WITHOUT_SIZES = {name: _KNOWN[name] for name in _KNOWN if name not in ("d", "d_out", "a")}
#: The same for networks, models and checkpoints.
network_or_checkpoint = partial(
    layer_or_network, described=_WITHOUT_SIZES | _HEADS, of_model=_polynomial, by_place=False
)

_ONE_LAYER = _LAYER | {"t": (*_LAYER["t"][:3], "Number of tokens t.  [default: 2]")}
#: Adds ``-d -o -a -t`` and ``--model`` alone.
single_layer = partial(layer_or_network, described=_ONE_LAYER | _MODEL | _CONFIG, of_model=_one_layer)


def _architecture(options: Mapping[str, Any]) -> Architecture:
    """The layer, network or model that options describe; an error if they describe several, or none."""
    from agattn.architectures import DeepNetwork, SingleLayer, as_attention

    flag = {name: flags.split()[0] for name, (flags, *_) in _KNOWN.items()}
    for name, text in options.items():
        _refuse_signs(flag[name], text, several=_KNOWN[name][2] is whole_numbers)
    given = {name: _KNOWN[name][2](text) for name, text in options.items() if text is not None}
    if "jet" in given:
        from agattn.architectures.jet import Jet
        from agattn.calls import positive_integer

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
                raise click.UsageError(f"--model describes everything by itself; leave out {flag[name]}")
        return _model(given["model"])
    of_layer = [flag[name] for name in ("d", "d_out", "a") if name in given]
    of_network = [flag[name] for name in _NETWORK if name in given]
    if of_layer and of_network:
        raise click.UsageError(
            f"{of_layer[0]} describes a single layer and {of_network[0]} a network; give -d and -o, or "
            "--dims and --ranks"
        )
    for name in ("dims", "ranks") if of_network else ("d", "d_out"):
        if name not in given:
            raise click.UsageError(f"Missing option '{flag[name]}': {_hint(name, given, 'dims' in options)}")
    if "temperature" in given and given.get("normalization") != "softmax":
        raise InputError(
            "--temperature belongs to the softmax; leave --temperature out, or add --normalization softmax"
        )
    from agattn.calls import positive_integer

    for name in {"d_out", "value_rank"} & set(given):  # which have other names in Python
        positive_integer(flag[name], given[name])
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
    from agattn.heads.published import from_config

    given = {name: text for name, text in options.items() if text}
    others = [_KNOWN[name][0].split()[0] for name in given if name not in ("config", *_CONFIG)]
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
    from agattn.architectures import as_attention
    from agattn.architectures.composition import check_depth
    from agattn.architectures.model_file import read_model

    found = as_attention(read_model(name))
    if click.get_current_context().params.get("force") is False:
        check_depth(found)
    return found


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


def leave_out(reason: str, *names: str) -> None:
    """Refuse the parameters ``names`` of the current command where they were given: they would do nothing.

    ``reason`` says what they are for, such as ``"is for figure 1"``.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
        if parameter.name in names and given:
            raise InputError(f"{parameter.opts[0]} {reason}; leave {parameter.opts[0]} out")


def one_tensor(arrays: Mapping[str, Any], path: Path, or_else: str = "") -> Any:
    """The array ``y`` of a file, or the only array of the file.

    Raises:
        InputError: if it is not clear which array is meant.
    """
    if len(arrays) != 1 and "y" not in arrays:
        names = ", ".join(list(arrays)[:6]) or "none"
        raise InputError(f"{path} holds the arrays {names}; give one tensor{or_else}")
    return arrays["y" if "y" in arrays else next(iter(arrays))]


def read_tensor(path: Path) -> Any:
    """The array of a file that :func:`one_tensor` means."""
    from agattn.heads.weight_files import WeightFile

    return one_tensor(WeightFile([path]), path)


def one_blas_thread() -> None:
    """Let BLAS use one thread, unless the user has said otherwise; call before numpy is imported.

    The products of matrices in a dimension are many and small: threads wait for each other longer than they
    compute, several times longer on a machine that is busy.
    """
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


#: An option whose help ends in its default.
option = partial(click.option, show_default=True)

#: Adds --claim.
claims = click.option(
    "--claim", "claims", multiple=True, metavar="ID",
    help="Only this claim, or all claims of a theorem, such as theorem-3.4 or 3.4; may be repeated.",
)  # fmt: skip


def _list_claims(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from agattn.claims import titled
        from agattn.sheet.terminal import print_folded

        for title, claims in titled():
            print_folded(f"{title}:")
            for claim in claims.values():
                assumes = f" (assumes {', '.join(h.text for h in claim.hypotheses)})" * bool(claim.hypotheses)
                print_folded(f"  {claim.id}\n    {claim.statement}{assumes}")
        context.exit()


#: Adds --list, which lists the claims.
list_claims = click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_claims, help="List the claims."
)

json_flag = json_option("Print one JSON document on stdout.")
force = click.option("--force", is_flag=True, help="Go beyond the limit on the size of systems.")
seed = option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, help="Seed of all random choices."
)
field = click.option("--field", "field_name", metavar="QQ|P", help="Field: QQ for ℚ, or a prime p for 𝔽_p.")


def engine(
    text: str, *others: str, default: str | None = "auto", flag: str = "--engine", **more: Any
) -> Callable[[Command], Command]:
    """Add ``--engine``, one of the engines or of ``others``, in any case; ``text`` is its help."""
    choices = (*ENGINE_NAMES, *others)

    def chosen(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
        if value is None or value in choices:
            return value
        from agattn.engines.catalogue import engine_name

        return engine_name(value, choices)

    shown = "|".join(choices)
    name = "engine_name" if flag == "--engine" else flag.strip("-")
    return option(flag, name, default=default, metavar=shown, callback=chosen, help=text, **more)


def engine_for(script: Path | None, given: str | None) -> Engine:
    """The engine that the ending of a script's file or ``--engine`` says; Macaulay2 if neither does."""
    from agattn.engines.catalogue import ENGINES, engine_named

    ending = "" if script is None else script.suffix.lower()
    by_ending = next((engine for engine in ENGINES.values() if ending == engine.ending), None)
    if by_ending and given not in (None, by_ending.name):
        raise InputError(
            f"{script} is a script for {by_ending.title}, and --engine is {given}; leave --engine out"
        )
    return by_ending or engine_named(given or "macaulay2")


#: Bytes that may come on standard input.
_LARGEST_INPUT = 256 * 2**20


class InputFile(click.Path):
    """The path of a file to be read; ``-`` is standard input, kept in a file whose ending says what it is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        refuse_empty(value, param)
        if str(value) != "-" or ctx is None:
            given = Path(os.fsdecode(super().convert(value, param, ctx)))
            check_file(given)
            return given
        data = sys.stdin.buffer.read(_LARGEST_INPUT + 1)
        if len(data) > _LARGEST_INPUT:
            raise InputError("standard input has more than 256 MiB, the limit for it; give a file")
        if not data:
            raise InputError("nothing came on standard input, which - stands for")
        kinds = ((b"PK", ".npz"), (b"\x93NUMPY", ".npy"), (b"%%MatrixMarket", ".mtx"))
        ending = next((ending for mark, ending in kinds if data.startswith(mark)), ".csv")
        if data[8:9] == b"{" and b"\0" in data[:8]:
            ending = ".safetensors"
        elif data.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"[", b"{"):
            ending = ".json"
        from agattn.engines.process import work_folder

        path = ctx.with_resource(work_folder()) / f"{STDIN}{ending}"
        path.write_bytes(data)
        return path


#: What an argument or an option is that names a file to be read.
INPUT = InputFile(path_type=Path)


def file_option(
    *names: Any, endings: Sequence[str] = (), folder: bool = False, by_ending: bool = False,
    unless: str = "", otherwise: str = "", read: bool = False, **more: Any,
) -> Callable[[Command], Command]:  # fmt: skip
    """An option whose value is the path of a file, or of a folder; the last of ``names`` is its help.

    A file is written, as :class:`~agattn.cli.output.Destination` says, unless it is to be ``read``.
    """
    written = Destination(endings, folder=folder, by_ending=by_ending, unless=unless, otherwise=otherwise)
    kind, shown = INPUT if read else written, "DIR" if folder else "FILE"
    return click.option(*names[:-1], type=kind, metavar=shown, help=names[-1], **more)


#: What a file of one format ends in; a name without an ending is taken as it is.
JSON_FILE: dict[str, Any] = {"endings": (".json",)}
MARKDOWN_FILE: dict[str, Any] = {"endings": (".md",)}
#: What pictures end in, which chooses their format.
DRAWING: dict[str, Any] = {"endings": DRAWINGS, "by_ending": True}
FIGURE: dict[str, Any] = {"endings": FIGURES, "by_ending": True}


def checkpoint(command: Command, counted: bool = True) -> Command:
    """Add what tells how the heads of a checkpoint lie in it, and pass it as ``counts``.

    Without ``counted``, ``--heads`` is another option's, and ``counts`` has no number of heads.
    """

    @click.option(
        "--kv-heads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Heads of keys and values, if they are shared.",
    )
    @click.option(
        "--match", "parts", multiple=True, metavar="TEXT",
        help="Only tensors whose names contain TEXT, where a file has several models; may be repeated.",
    )  # fmt: skip
    @wraps(command)
    def wrapped(kv_heads: int | None, parts: tuple[str, ...], **given: Any) -> Any:
        heads = given.pop("heads") if counted else None
        own = {name: given.pop(name, None) for name in _CONFIG} if counted else {}
        return command(
            counts={"heads": heads, "shared": kv_heads, "parts": parts, **configured(own)}, **given
        )

    if counted:
        for name, (flag, shown, _, help_text) in _CONFIG.items():
            wrapped = click.option(flag, name, metavar=shown, help=help_text)(wrapped)
    text = "Heads per layer.  [default: from config.json]"
    return (
        click.option("--heads", type=click.IntRange(min=1), metavar="N", help=text)(wrapped)
        if counted
        else wrapped
    )


def one_head(command: Command, counted: bool = True) -> Command:
    """Add ``--layer`` and ``--head``, both from 0, and what :func:`checkpoint` adds."""
    for name in ("head", "layer"):
        text = f"Which {name} of a checkpoint or of stacked weights, from 0."
        command = click.option(f"--{name}", type=click.IntRange(min=0), metavar="N", help=text)(command)
    return checkpoint(command, counted)


def tolerance_option(default: float | None = None) -> Callable[[Command], Command]:
    """Add ``--tolerance``, relative, with this default, or that of the type in which weights are stored."""
    kind = click.FloatRange(0, 1, min_open=True, max_open=True)
    text = "What counts as zero in floating point, relative to the largest."
    if default is None:
        text += "  [default: a few roundings of the stored type]"
        return click.option("--tolerance", type=kind, metavar="X", help=text)
    return option("--tolerance", type=kind, metavar="X", default=default, help=text)


def limits(command: Command) -> Command:
    """Add ``--timeout`` and ``--memory``, the limits of each engine process."""
    bound, text = click.IntRange(min=64), "Memory limit of each engine process, in MiB."
    return _timeout(option("--memory", type=bound, default=8192, metavar="MIB", help=text)(command))


def native_limits(command: Command) -> Command:
    """Add ``--timeout``, that of each engine process, and ``--memory``, of native work as well."""
    text = "Memory limit in MiB.  [default: natively what the machine has; 8192 for each engine process]"
    return _timeout(click.option("--memory", type=click.IntRange(min=64), metavar="MIB", help=text)(command))


def _timeout(command: Command) -> Command:
    positive, text = click.FloatRange(min=0, min_open=True), "Time limit of each engine process."
    return option("--timeout", type=positive, default=60.0, metavar="SECONDS", help=text)(command)


def characteristic(field_name: str | None) -> int:
    """The characteristic that ``--field`` names: 0 for ℚ, or a prime that engines accept."""
    if field_name is None or field_name.upper() == "QQ":
        return 0
    if len(field_name) <= 40 and field_name.isascii() and field_name.isdigit() and int(field_name) > 0:
        from agattn.systems.catalogue import check_field

        check_field(int(field_name))
        return int(field_name)
    raise InputError(f"the field is {field_name[:40]!r}; it must be QQ or a prime, such as 32003")


METRICS = ("generic", "gaussian", "bombieri-weyl", "coefficients")


DATA = file_option("--data", "A file with arrays X, n × d × t, and Y, n × d' × t.", read=True)
SAMPLES = click.option(
    "--samples", type=click.IntRange(min=1), metavar="N",
    help="Number of random samples.  [default: enough to be generic]",
)  # fmt: skip
METRIC = click.option(
    "--metric", type=click.Choice(METRICS, case_sensitive=False),
    help="Distance to a random target; generic: the loss of random samples.  [default: generic]",
)  # fmt: skip


def loss(command: Command) -> Command:
    """Add what names a squared loss: ``--metric``, ``--samples`` and ``--data``."""
    return METRIC(SAMPLES(DATA(command)))


def read_data(path: Path | None, metric: str | None, samples: int | None) -> tuple[Any, Any] | None:
    """The arrays X and Y of a file, which go without a metric; ``None`` if there is no file."""
    if path is None:
        return None
    if metric or samples:
        raise InputError("--data has its own loss; leave out --metric and --samples")
    from agattn.heads.weight_files import WeightFile

    file = WeightFile([path])
    for name in "XY":
        if name not in file:
            held = ", ".join(sorted(file)) or "nothing"
            raise InputError(f"{path} has no array {name}; it must have X and Y, and holds {held}")
    return file["X"], file["Y"]


#: The options that go with a script as well as with a task.
SCRIPT = ("engine_name", "timeout", "memory")


def is_script(name: str) -> bool:
    """Whether a word names a script to be run, rather than a task: by its ending, or ``-`` for stdin."""
    from agattn.engines.catalogue import ENGINES

    return name == "-" or Path(name).suffix.lower() in {engine.ending for engine in ENGINES.values()}


def problem(command: Command, run_script: Command | None = None) -> Command:
    """Add what names a task's problem, and pass the command ``architecture``, ``task`` and ``asked``.

    ``asked`` is what the verb of the command takes besides the architecture and the task. Where the word in
    place of the task is the name of a script, ``run_script`` gets its path.
    """

    @wraps(command)
    def asks(task: str, architecture: Any, **given: Any) -> Any:
        asked = {name: given.pop(name) for name in _ASKED}
        if run_script is not None and architecture is None:
            return _run_instead(run_script, task, given)
        return command(architecture=architecture, task=task, asked=_read(task, architecture, asked), **given)

    instead = partial(
        layer_or_network,
        instead=lambda given: bool(run_script) and is_script(given["task"]),
        by_place=False,
    )
    kind = "TASK" if run_script is None else "TASK|SCRIPT"
    known = _known_task if run_script is None else _known_task_or_script
    argument = click.argument("task", metavar=kind, callback=known)
    options: list[Callable[[Command], Command]] = [argument, _LIST, instead, *_ASKED.values()]
    wrapped: Command = asks
    for add in reversed(options):
        wrapped = add(wrapped)
    return wrapped


def _known_task(context: click.Context, _: click.Parameter, name: str) -> str:
    """The name of a task; others are refused before the options are looked at."""
    from agattn.systems.catalogue import task_named

    return name if context.resilient_parsing else task_named(name).name


def _known_task_or_script(context: click.Context, parameter: click.Parameter, name: str) -> str:
    """The name of a task, or the path of a script."""
    if is_script(name):
        return name
    if Path(name).suffix or Path(name).exists():
        from agattn.engines.catalogue import of_all

        raise InputError(f"{name} is no task and no script; a script ends in {of_all('ending', 'or')}")
    return _known_task(context, parameter, name)


def _show_tasks(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from agattn.sheet.terminal import print_folded
        from agattn.systems.catalogue import MODEL_TASKS, TASKS

        width = max(map(len, TASKS))
        for name, task in TASKS.items():
            more = f"; of a model: {MODEL_TASKS[name].summary}" if name in MODEL_TASKS else ""
            print_folded(f"{name:{width}}  {task.summary}{more}")
        ctx.exit()


_LIST = click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_show_tasks, help="List the tasks."
)
#: What is asked besides the architecture and the task, by the name of the parameter, as the help lists it.
_ASKED: dict[str, Callable[[Command], Command]] = {
    "field_name": field,
    "point": file_option(
        "--point",
        "JSON file with exact weights A (or K and Q) and V, or all parameters of a model.  [default: all"
        " strata; of a model random parameters]",
        read=True,
    ),
    "max_degree": click.option(
        "--max-degree", type=click.IntRange(min=0), metavar="N",
        help="For hilbert-function.  [default: 4]  For implicit-ideal of a model.  [default: all degrees]",
    ),
    "slice": file_option(
        "--slice", "slice",
        "For slice: JSON file with an origin and three directions.  [default: that of Figure 1]", read=True,
    ),
    "prime": click.option(
        "--prime", is_flag=True, help="For implicit-ideal: decide also whether the ideal is prime."
    ),
    "metric": METRIC,
    "samples": SAMPLES,
    "data": DATA,
    "components": click.option(
        "--components", is_flag=True, help="For fiber of a model: find its components over the field."
    ),
    "seed": seed,
    "force": force,
}  # fmt: skip


def _run_instead(run_script: Command, script: str, given: dict[str, Any]) -> Any:
    """Run a script, and refuse the options of tasks."""
    context = click.get_current_context()
    names = {parameter.name or "" for parameter in context.command.params}
    leave_out("is for a task; a script asks by itself", *names - {"task", *SCRIPT})
    return run_script(INPUT(script, None, context), **given)


def _read(task: str, architecture: Architecture, asked: dict[str, Any]) -> dict[str, Any]:
    """What is asked, with the field as a number and data as arrays; points and slices stay files."""
    from agattn.systems.catalogue import task_about

    known = task_about(task, architecture)
    if "loss" in known.takes:
        asked["data"] = read_data(asked["data"], asked["metric"], asked["samples"])
    field_name = asked.pop("field_name")
    return {name: value for name, value in asked.items() if value is not None} | {
        "characteristic": characteristic(field_name)
    }
