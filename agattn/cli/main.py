"""The ``agattn`` command: finds the command asked for, and turns every expected failure into one line.

A command lives in the module ``agattn.cli.NAME`` under the name ``command`` and is imported only when used,
so that ``agattn --help`` imports click and nothing heavier.
"""

from __future__ import annotations

import difflib
import importlib
import os
import signal
import sys
from typing import Any

import click

from agattn._version import __version__
from agattn.errors import AgattnError

# Name and one-line help of every command, so that the overview needs none of their imports.
COMMANDS = {
    "atlas": "Survey small networks: where the dimension formulas are met.",
    "audit": "Put every claim to every small architecture, and state the pattern.",
    "check": "Verify a certificate with integers alone.",
    "classify": "Place the heads of a checkpoint on the neuromanifold.",
    "dimension": "Compute the exact dimension of any network.",
    "doctor": "Find Macaulay2 and Singular, and run one line in each.",
    "emit": "Print a Macaulay2 or Singular script.",
    "fiber": "Describe all weights that compute the same function.",
    "figure": "Recompute the paper's figures.",
    "ideal": "Find the equations of the neuromanifold, with their symmetry.",
    "identify": "Recover weights from a coefficient tensor, or say why there are none.",
    "rank": "Find the rank of a matrix, and say how it is known.",
    "report": "Write everything about one architecture, or a study, as one document.",
    "run": "Emit a script, run it, and read the answer back.",
    "schema": "Print the JSON schema of a command's output.",
    "strata": "List the orbits of the neuromanifold: every point at once, with its tangent space.",
    "study": "Ask one question about many architectures: cached, resumed, in parallel.",
    "verify": "Check every claim of the paper for one architecture.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; ``None`` if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"agattn.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command name, suggesting the nearest one where it is unknown."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            raise click.UsageError(f"there is no command {name!r}{nearest(name, COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview from :data:`COMMANDS`, importing nothing."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


def nearest(name: str, known: Any) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or an empty string.

    >>> nearest("verfy", ["verify", "emit"])
    "; did you mean 'verify'?"
    """
    matches = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {matches[0]!r}?" if matches else ""


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: agattn verify -d 2 -o 1",
)
@click.version_option(__version__, prog_name="agattn")
def cli() -> None:
    """The algebraic geometry of lightning self-attention, computed exactly.

    Exit status: 0 all confirmed or inapplicable; 1 a claim was refuted; 2 bad input; 3 something stayed
    undecided; 4 an engine failed and nothing else could decide.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit. No expected failure shows a traceback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end like an interrupt: leave nothing behind
    try:
        status = cli.main(args=arguments, prog_name="agattn", standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Abort:
        fail("interrupted; nothing was left behind", 130)
    except click.ClickException as error:
        fail(error.format_message(), 2)
    except AgattnError as error:
        fail(str(error), error.exit_status)
    except KeyboardInterrupt:
        fail("interrupted; nothing was left behind", 130)
    except BrokenPipeError:
        reader_has_gone()


def reader_has_gone() -> None:
    """Exit as the reader of our output (head, less) has gone: no error, and nothing more can be said."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def fail(message: str, status: int) -> None:
    """Print one line on stderr and exit."""
    click.echo(f"agattn: {' '.join(message.split())}", err=True)
    sys.exit(status)
