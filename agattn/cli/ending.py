"""How a command ends that fails: one line on stderr, and an exit status."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn

import click

from agattn.cli import interrupts


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
    message = " ".join(message.split())
    if len(message) > 2000:  # what it quotes is longer than anybody reads
        message = f"{message[:1000]} ... {message[-1000:]}"
    with suppress(OSError, ValueError):
        click.echo(f"agattn: {message}", err=True)
    sys.exit(status)
