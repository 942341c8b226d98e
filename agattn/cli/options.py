"""Options that several commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.errors import InputError

Command = Callable[..., Any]


def single_layer(command: Command) -> Command:
    """Add ``-d -o -a -t`` and pass the command an ``architecture``."""

    @click.option("-d", "--embed-dim", "d", required=True, metavar="D", help="Embedding dimension d.")
    @click.option("-o", "--out-dim", "d_out", required=True, metavar="D'", help="Output dimension d'.")
    @click.option("-a", "--attn-dim", "a", metavar="A", help="Attention dimension a.  [default: d]")
    @click.option(
        "-t", "--tokens", "t", default="2", metavar="T", show_default=True, help="Number of tokens t."
    )
    @functools.wraps(command)
    def wrapped(d: str, d_out: str, a: str | None, t: str, **others: Any) -> Any:
        numbers = {"d": d, "d_out": d_out, "a": d if a is None else a, "t": t}
        layer = SingleLayer(**{name: whole_number(value) for name, value in numbers.items()})
        return command(architecture=layer, **others)

    return wrapped


def network(command: Command) -> Command:
    """Add the options that describe any network, and pass the command an ``architecture``."""

    @click.option("--dims", required=True, metavar="D0,...,DL", help="The widths d_0, ..., d_l.")
    @click.option(
        "--ranks", required=True, metavar="A1,...,AL", help="The attention dimensions a_1, ..., a_l."
    )
    @click.option(
        "-t", "--tokens", "t", default="3", metavar="T", show_default=True, help="Number of tokens t."
    )
    @click.option(
        "--heads", default="1", metavar="H", show_default=True, help="Heads in every layer, or H1,...,HL."
    )
    @click.option("--value-rank", metavar="B", help="Largest rank of each V_h.  [default: no restriction]")
    @click.option("--skip", is_flag=True, help="Each layer adds its input to its output.")
    @click.option("--normalization", default="none", metavar="none|softmax", show_default=True)
    @click.option("--temperature", metavar="T", help="Temperature of the softmax.  [default: 1]")
    @functools.wraps(command)
    def wrapped(
        dims: str,
        ranks: str,
        t: str,
        heads: str,
        value_rank: str | None,
        skip: bool,
        normalization: Any,
        temperature: str | None,
        **others: Any,
    ) -> Any:
        architecture = DeepNetwork(
            whole_numbers(dims),
            whole_numbers(ranks),
            whole_number(t),
            heads=whole_numbers(heads),
            skip=skip,
            normalization=normalization,
            temperature=_temperature(temperature, normalization),
            value_rank=None if value_rank is None else whole_number(value_rank),
        )
        return command(architecture=architecture, **others)

    return wrapped


def layer_or_network(command: Command, instead: str = "") -> Command:
    """Add the options of both kinds of architecture, and pass the command the ``architecture`` given.

    ``instead`` is a parameter of the command that can stand in its place; the architecture is then ``None``.
    """

    @click.option("-d", "--embed-dim", "d", metavar="D", help="Embedding dimension d of a single layer.")
    @click.option("-o", "--out-dim", "d_out", metavar="D'", help="Output dimension d'.")
    @click.option("-a", "--attn-dim", "a", metavar="A", help="Attention dimension a.  [default: d]")
    @click.option(
        "-t", "--tokens", "t", metavar="T", help="Number of tokens t.  [default: 2, for a network 3]"
    )
    @click.option("--dims", metavar="D0,...,DL", help="The widths d_0, ..., d_l of a network.")
    @click.option("--ranks", metavar="A1,...,AL", help="Its attention dimensions a_1, ..., a_l.")
    @click.option("--heads", metavar="H", help="Heads in every layer, or H1,...,HL.  [default: 1]")
    @click.option("--value-rank", metavar="B", help="Largest rank of each V_h.  [default: no restriction]")
    @click.option("--skip", is_flag=True, default=None, help="Each layer adds its input to its output.")
    @click.option("--normalization", metavar="none|softmax", help="[default: none]")
    @click.option("--temperature", metavar="T", help="Temperature of the softmax.  [default: 1]")
    @functools.wraps(command)
    def wrapped(
        d: str | None, d_out: str | None, a: str | None, t: str | None, dims: str | None, ranks: str | None,
        heads: str | None, value_rank: str | None, skip: bool | None, normalization: Any,
        temperature: str | None, **others: Any,
    ) -> Any:  # fmt: skip
        if others.get(instead) is not None:
            return command(architecture=None, **others)
        of_layer = {"-d": d, "-o": d_out, "-a": a}
        of_network = {
            "--dims": dims, "--ranks": ranks, "--heads": heads, "--value-rank": value_rank, "--skip": skip,
            "--normalization": normalization, "--temperature": temperature,
        }  # fmt: skip
        layer_given = [name for name, value in of_layer.items() if value is not None]
        network_given = [name for name, value in of_network.items() if value is not None]
        if layer_given and network_given:
            raise click.UsageError(
                f"{layer_given[0]} describes a single layer and {network_given[0]} a network; give -d and "
                "-o, or --dims and --ranks"
            )
        needed = {**of_network, **of_layer}
        for name in ("--dims", "--ranks") if network_given else ("-d", "-o"):
            if needed[name] is None:
                other = "" if layer_given or network_given else ", or for a network --dims and --ranks"
                such = {"-d": "; give d with -d, such as -d 2", "-o": "; give d' with -o, such as -o 1"}
                hint = such[name] if layer_given and name in such else f"; give the architecture{other}"
                raise click.UsageError(f"Missing option '{name}'{hint}")
        architecture: Architecture
        if network_given:
            architecture = DeepNetwork(
                whole_numbers(str(dims)),
                whole_numbers(str(ranks)),
                whole_number("3" if t is None else t),
                heads=whole_numbers("1" if heads is None else heads),
                skip=bool(skip),
                normalization="none" if normalization is None else normalization,
                temperature=_temperature(temperature, normalization),
                value_rank=None if value_rank is None else whole_number(value_rank),
            )
        else:
            numbers = {"d": d, "d_out": d_out, "a": d if a is None else a, "t": "2" if t is None else t}
            architecture = SingleLayer(**{name: whole_number(str(n)) for name, n in numbers.items()})
        return command(architecture=architecture, **others)

    return wrapped


def _temperature(text: str | None, normalization: Any) -> Any:
    """The temperature, which only a softmax has."""
    if text is not None and normalization != "softmax":
        raise InputError("--temperature is that of the softmax; leave it out, or add --normalization softmax")
    return real_number("1" if text is None else text)


def leave_out(reason: str, *names: str) -> None:
    """Refuse options of the current command that would do nothing, where they were given.

    Args:
        reason: what they are for, such as ``"is for figure 1"``.
        names: of their parameters.

    Raises:
        InputError: if one of them is on the command line.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
        if parameter.name in names and given:
            raise InputError(f"{parameter.opts[0]} {reason}; leave it out")


def check_engine(name: str, choices: Sequence[str]) -> None:
    """Refuse an engine that is not among the choices, naming the nearest.

    Raises:
        InputError: if it is not.
    """
    from agattn.cli.main import nearest

    if name not in choices:
        raise InputError(f"there is no engine {name!r}{nearest(name, choices)}; use {', '.join(choices)}")


def described(architecture: Architecture) -> str:
    """The architecture and its size, for messages.

    >>> described(SingleLayer(2, 1))
    'M(2,1,2): expected dim 5 in ℝ⁶, t ≥ 2; 6 coordinates'
    """
    if isinstance(architecture, SingleLayer):
        return f"{architecture}; {architecture.ambient_dimension} coordinates"
    return f"{architecture}; {architecture.parameters} parameters"


def one_blas_thread() -> None:
    """Let BLAS use one thread, unless the user has said otherwise; call before numpy is imported.

    The products of matrices in a dimension are many and small: threads wait for each other longer than they
    compute, several times longer on a machine that is busy.
    """
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def whole_numbers(text: str) -> tuple[Any, ...]:
    """Return the comma-separated numbers in ``text``; what is no whole number is left for others to refuse.

    >>> whole_numbers("4, 3,x")
    (4, 3, 'x')
    """
    return tuple(whole_number(part.strip()) for part in text.split(","))


def real_number(text: str) -> Any:
    """Return ``text`` as a float where it is one, else as it is, for the architecture to refuse by name."""
    try:
        return float(text)
    except ValueError:
        return text


def whole_number(text: str) -> Any:
    """Return ``text`` as an int where it is one, else as it is, for the architecture to refuse by name."""
    try:
        return int(text)
    except ValueError:
        return text


def json_flag(command: Command) -> Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")(command)


def tolerance_option(default: float) -> Callable[[Command], Command]:
    """Add ``--tolerance``, relative, with this default."""
    return click.option(
        "--tolerance", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=default,
        show_default=True, help="What counts as zero in floating point, relative to the largest.",
    )  # fmt: skip


def seed(command: Command) -> Command:
    """Add ``--seed``."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random choices."
    )(command)


def limits(command: Command) -> Command:
    """Add ``--timeout`` and ``--memory``, the limits of each engine process."""
    command = click.option(
        "--memory", type=click.IntRange(min=64), default=8192, show_default=True, metavar="MIB",
        help="Memory limit of each engine process, in MiB.",
    )(command)  # fmt: skip
    return click.option(
        "--timeout", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
        metavar="SECONDS", help="Time limit of each engine process.",
    )(command)  # fmt: skip


def field(command: Command) -> Command:
    """Add ``--field``, ℚ or the prime of a finite field."""
    return click.option(
        "--field", "field_name", metavar="QQ|P", help="Field: QQ for ℚ, or a prime p for 𝔽_p."
    )(command)  # fmt: skip


def characteristic(field_name: str | None) -> int:
    """The characteristic that ``--field`` names: 0 for ℚ.

    Raises:
        InputError: if it is neither ``QQ`` nor a prime that engines accept.
    """
    if field_name is None or field_name.upper() == "QQ":
        return 0
    if len(field_name) <= 40 and field_name.isascii() and field_name.isdigit() and int(field_name) > 0:
        from agattn.systems.catalogue import check_field

        check_field(int(field_name))
        return int(field_name)
    raise InputError(f"the field is {field_name[:40]!r}; it must be QQ or a prime, such as 32003")


def force(command: Command) -> Command:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Go beyond the limit on the size of systems.")(command)


def problem(command: Command) -> Command:
    """Add what names a task's problem, and pass the command a ``problem``."""

    def show_tasks(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            from agattn.systems.catalogue import TASKS

            width = max(map(len, TASKS))
            click.echo("\n".join(f"{name:{width}}  {task.summary}" for name, task in TASKS.items()))
            ctx.exit()

    @click.argument("task")
    @click.option(
        "--list", is_flag=True, is_eager=True, expose_value=False, callback=show_tasks, help="List the tasks."
    )
    @layer_or_network
    @field
    @click.option(
        "--point",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="JSON file with exact weights A (or K and Q) and V.  [default: all strata]",
    )
    @click.option(
        "--max-degree", type=click.IntRange(min=0), metavar="N", help="For hilbert-function.  [default: 4]"
    )
    @click.option(
        "--slice",
        "slice_file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="For slice: JSON file with an origin and three directions.  [default: that of Figure 1]",
    )
    @click.option("--prime", is_flag=True, help="For implicit-ideal: decide also whether the ideal is prime.")
    @seed
    @force
    @functools.wraps(command)
    def wrapped(
        task: str, architecture: Any, field_name: str | None, point: Path | None,
        max_degree: int | None, slice_file: Path | None, prime: bool, seed: int, force: bool, **others: Any,
    ) -> Any:  # fmt: skip
        from agattn.systems.catalogue import TASKS, build
        from agattn.systems.points import read_point, read_slice, read_target

        takes = TASKS[task].takes if task in TASKS else ()
        if isinstance(architecture, DeepNetwork):
            leave_out("is for tasks about a single layer", "point", "max_degree", "slice_file", "prime")
        elif task in TASKS:
            leave_out("is for the task hilbert-function", *(["max_degree"] * ("max_degree" not in takes)))
            leave_out("is for the task implicit-ideal", *(["prime"] * ("prime" not in takes)))
        given: dict[str, Any] = {"max_degree": max_degree, "prime": prime or None}
        if point is not None and "target" in takes:
            given["target"] = read_target(point, architecture)
        elif point is not None:
            given["points"] = (read_point(point, architecture),)
        if slice_file is not None:
            given["slice"] = read_slice(slice_file, architecture)
        built = build(task, architecture, characteristic(field_name), seed=seed, force=force, **given)
        return command(problem=built, **others)

    return wrapped


def engine(command: Command) -> Command:
    """Add ``--engine`` for commands that use exactly one."""
    return click.option(
        "--engine", "engine_name", default="macaulay2", show_default=True, metavar="macaulay2|singular",
        help="The engine.",
    )(command)  # fmt: skip
