"""Printing results: one JSON document, or text for people."""

from __future__ import annotations

import codecs
import contextlib
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli.kinds import STDOUT, Outputs
from agattn.errors import printable
from agattn.files import write
from agattn.limits import log, silent
from agattn.patience import told
from agattn.sheet.result import Described
from agattn.sheet.terminal import Paper, print_folded, show

if TYPE_CHECKING:
    from rich.console import Console

#: Variables of the environment by which rich takes a pipe for a terminal.
_COLOURS_ASKED = ("FORCE_COLOR", "TTY_COMPATIBLE")


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document on stdout; where that is not UTF-8, in ASCII, as JSON is one or the other."""
    is_utf8 = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    click.echo(printable(json.dumps(document, indent=2, ensure_ascii=not is_utf8)))


def as_text(document: Mapping[str, object]) -> str:
    """A JSON document as it stands in a file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def console(**options: Any) -> Console | Paper:
    """What to print on: a console of rich in a terminal, or wherever colours are asked for, else paper."""
    if not (sys.stdout.isatty() or any(os.environ.get(name) for name in _COLOURS_ASKED)):
        return Paper(sys.stdout, _width())
    return rich_console(**options)


def rich_console(**options: Any) -> Console:
    """A console of rich that leaves a broken pipe to :func:`agattn.cli.main.main`; rich would exit with 1."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(highlight=False, **options)


def _width() -> int:
    """The width that rich takes: ``COLUMNS``, that of the terminal of any standard stream, or 80."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit():
        return int(asked) or 80
    for number in range(3):
        with contextlib.suppress(OSError):
            return os.get_terminal_size(number).columns or 80
    return 80


def say_on_stderr(line: str) -> None:
    """Print a line on stderr, in which names from outside may stand."""
    click.echo(printable(line), err=True)


class _OnStderr(logging.Handler):
    """Prints what a computation warns of, also where its steps are not shown."""

    def emit(self, record: logging.LogRecord) -> None:
        say_on_stderr(record.getMessage())


log.addHandler(_OnStderr(logging.WARNING))


def write_file(path: Path, text: str, *, tell: bool = True) -> None:
    """Write a file, or print if its name is ``-``, and tell where; an :class:`InputError` says why not."""
    if path == STDOUT:
        click.echo(printable(text), nl=False)
        return
    write(path, text)
    if tell:
        say_on_stderr(f"wrote {path}")


#: How every result can be written.
_TEXTS: Mapping[str, Callable[[Described], str]] = {
    ".json": lambda result: as_text(result.as_json()),
    ".csv": Described.to_csv,
    ".tex": Described.to_latex,
}
DOCUMENTS = tuple(_TEXTS)


def write_documents(result: Described, outputs: Outputs) -> None:
    """Write a result as those files that every result can be written as."""
    for path, ending in outputs:
        if ending in DOCUMENTS:
            write_file(path, _TEXTS[ending](result))


def show_result(
    result: Described, as_json: bool, outputs: Outputs = (), text: str = "", wide: bool = False
) -> None:
    """Write a result as files and on stdout, as asked; or show its sheet, or a text, on a console.

    The document is made only where it is written: some take longer than the sheet.
    """
    write_documents(result, outputs)
    if as_json:
        print_json(result.as_json())
    elif STDOUT in [output.path for output in outputs]:
        return
    elif text:
        print_folded(text)
    else:
        show(result.sheet(), console(**{"soft_wrap": True} if wide else {}))


@contextlib.contextmanager
def progress(message: str) -> Iterator[Callable[[str], None]]:
    """Say on stderr, if that is a terminal, what takes longer than two seconds; yields what is told steps."""
    with told(message, None if sys.stderr.isatty() else silent) as tell:
        yield tell
