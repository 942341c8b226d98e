"""The ``agattn`` command: finds the command asked for, and turns every expected failure into one line.

A command is made by :mod:`agattn.cli.generator` when it is used, so that ``agattn --help`` imports click and
nothing heavier.
"""

from __future__ import annotations

import codecs
import os
import sys
import traceback

import click

from agattn._version import __version__
from agattn.cli import interrupts
from agattn.cli.ending import fail, forget_output
from agattn.errors import AgattnError, InputError, in_shell, nearest, was_interrupted
from agattn.names import COMMANDS, GROUPS, STATUSES, VERBS

#: The environment variable by which a shell asks for completions.
COMPLETION = "_AGATTN_COMPLETE"
#: What stands in the place of commands of earlier versions.
_FORMER = {
    "atlas": "type agattn study atlas",
    "audit": "type agattn study audit",
    "calibrate": "examples/calibration.py has weights with known learning coefficients, and tries devinterp",
}
#: The paper and this software, in BibTeX.
_CITATION = f"""@inproceedings{{henry2025geometry,
  title     = {{Geometry of Lightning Self-Attention: Identifiability and Dimension}},
  author    = {{Henry, Nathan W. and Marchetti, Giovanni Luca and Kohn, Kathl{{\\'e}}n}},
  booktitle = {{International Conference on Learning Representations}},
  year      = {{2025}},
  note      = {{arXiv:2408.17221}}
}}
@software{{agattn,
  title   = {{agattn: the algebraic geometry of lightning self-attention}},
  author  = {{{{The agattn authors}}}},
  year    = {{2026}},
  version = {{{__version__}}}
}}"""
_ENDINGS = "; ".join(f"{status} {meaning}" for status, meaning in STATUSES.items())


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the overview."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; ``None`` if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        from agattn.workers import one_blas_thread

        one_blas_thread()
        from agattn.cli.commands import made

        return made(cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words before a command."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            example = "as in agattn verify 3 2; see agattn --help"
            raise InputError(f"{error.option_name} follows a command, {example}") from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command name, suggesting the nearest one where it is unknown."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            raise InputError(f"there is no command {name!r}{_instead(name)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview from the table of names, importing nothing."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, verb.about) for name, verb in commands.items() if name != "schema"]
                )


def _instead(name: str) -> str:
    """What to type instead of a word that is no command."""
    if name.isdecimal():
        return "; sizes follow a command, as in agattn verify 3 2 2"
    if name in _FORMER:
        return f" any more; {_FORMER[name]}"
    verb = VERBS.get(name.replace("-", "_"))
    if verb is not None:
        return f"; {verb.command} finds it"
    return nearest(name, COMMANDS, "; agattn --help lists the commands")


def _cite(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        click.echo(_CITATION)
        context.exit()


@click.group(
    cls=LazyGroup,
    help=f"""The algebraic geometry of lightning self-attention, computed exactly.

    Exit status: {_ENDINGS}.""",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: agattn verify 2 1",
)
@click.version_option(__version__, prog_name="agattn")
@click.option(
    "--cite",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_cite,
    help="Show what to cite, and exit.",
)
def cli() -> None:
    """The command that has all commands."""


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit status."""
    try:
        with in_shell(), cli.make_context("agattn", arguments) as context:
            status = cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.ClickException, AgattnError, BrokenPipeError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        models = sys.modules.get("agattn.architectures.model_file")
        message = models.said_by_program(error) if models else ""
        if message and not was_interrupted(error):
            raise InputError(message) from error
        raise
    return status if isinstance(status, int) else 0


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit. No expected failure shows a traceback, and none has the status 1."""
    try:
        replace_closed_streams()
        interrupts.catch()
        print_in_any_encoding()
        if arguments is None:
            arguments = sys.argv[1:] or ["help"]
        if arguments[:1] == ["help"]:
            arguments = [*arguments[1:], "--help"]
        if instruction := os.environ.get(COMPLETION):
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(cli, {}, "agattn", COMPLETION, instruction))
        # click's own main would end a broken pipe with the status 1, which says that a claim was refuted.
        status = run(arguments)
        sys.stdout.flush()  # a full disk may show only here
        sys.exit(status)
    except (click.exceptions.Abort, KeyboardInterrupt):
        fail("interrupted; nothing was left behind", interrupts.STATUS)
    except click.ClickException as error:
        fail(_explained(error), 2)
    except AgattnError as error:
        fail(str(error), error.exit_status)
    except BrokenPipeError:  # nobody reads the output any more, as with head or less
        forget_output()
        sys.exit(141)
    except MemoryError as error:
        fail(f"memory ran out{f': {error}' if str(error) else ''}; nothing was decided", 3)
    except OSError as error:
        what = "the output" if error.filename is None else os.fsdecode(error.filename)
        fail(f"cannot read or write {what}: {error.strerror or error}", 2)
    except (UnicodeError, OverflowError) as error:
        fail(f"cannot use what was given: {error}", 2)
    except Exception as error:
        if was_interrupted(error):
            fail("interrupted; nothing was left behind", interrupts.STATUS)
        if isinstance(error, ValueError) and "integer string conversion" in str(error):
            long = f"a number read or computed has more than {sys.get_int_max_str_digits()} digits"
            fail(f"{long}, Python's limit; PYTHONINTMAXSTRDIGITS=0 in the environment lifts it", 2)
        if type(error).__name__ == "LinAlgError":  # of numpy, which is not imported for this
            fail(f"the numerical computation did not converge: {error}; nothing was decided", 3)
        traceback.print_exc()
        request = "please report it with the lines above, and with the command line"
        fail(f"this is an error of agattn; {request}", 70)


def _explained(error: click.ClickException) -> str:
    """What is wrong with a command line, and where to read more."""
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message}; see {context.command_path if context else 'agattn'} --help"


def print_in_any_encoding() -> None:
    """Make stdout and stderr write what their encoding lacks as an escape, such as ``\\u2265`` for ≥.

    An ASCII stream says that nobody chose an encoding; it becomes UTF-8, as in Python's UTF-8 mode.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding="utf-8" if is_ascii else None, errors="backslashreplace")


def replace_closed_streams() -> None:
    """Give a stream that is closed, as by ``>&-``, a file of its own: what is told on stderr is lost there.

    What is printed on stdout fails, as on a full disk, and the command with it. No file that is opened later
    gets the number of the stream, by which a program that is started would write into it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    if sys.stdout is None:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 1)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
