"""How a command ends that fails: one line on stderr, and an exit status."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import NoReturn

import click

from agattn.cli import interrupts
from agattn.errors import printable

#: The name, without its ending, of the file in which standard input lies while a command reads it.
STDIN = "agattn-stdin"
_STDIN = re.compile(rf"\S*/{STDIN}\.\w+")


def forget_output() -> None:
    """Discard what is still to be printed on stdout, so that closing it cannot fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, status: int) -> NoReturn:
    """Print one line on stderr and exit."""
    interrupts.settle()
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        forget_output()  # a full disk: trying again at the end would change the exit status
    message = printable(" ".join(message.split()))
    if len(message) > 2000:  # what it quotes is longer than anybody reads
        message = f"{message[:1000]} ... {message[-1000:]}"
    message = _STDIN.sub("standard input", message)
    with suppress(OSError, ValueError):
        click.echo(f"agattn: {message}", err=True)
    sys.exit(status)
