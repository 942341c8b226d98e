"""Options that several commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import click

from agattn.architecture import DeepNetwork, SingleLayer

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
    @click.option(
        "--temperature", default="1", metavar="T", show_default=True, help="Temperature of the softmax."
    )
    @functools.wraps(command)
    def wrapped(
        dims: str,
        ranks: str,
        t: str,
        heads: str,
        value_rank: str | None,
        skip: bool,
        normalization: Any,
        temperature: str,
        **others: Any,
    ) -> Any:
        architecture = DeepNetwork(
            whole_numbers(dims),
            whole_numbers(ranks),
            whole_number(t),
            heads=whole_numbers(heads),
            skip=skip,
            normalization=normalization,
            temperature=real_number(temperature),
            value_rank=None if value_rank is None else whole_number(value_rank),
        )
        return command(architecture=architecture, **others)

    return wrapped


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
