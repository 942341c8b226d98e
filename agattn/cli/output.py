"""Printing results: one JSON document, or text for people."""

from __future__ import annotations

import codecs
import contextlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

#: The name of a file that stands for stdout.
STDOUT = Path("-")
#: What pictures are written as.
DRAWINGS = (".png", ".svg", ".pdf")
#: Drawings, and pages to point at.
FIGURES = (*DRAWINGS, ".html")


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document on stdout; where that is not UTF-8, in ASCII, as JSON is one or the other."""
    is_utf8 = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    click.echo(json.dumps(document, indent=2, ensure_ascii=not is_utf8))


def as_text(document: Mapping[str, object]) -> str:
    """A JSON document as it stands in a file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def console(stderr: bool = False, **options: Any) -> Console:
    """A console of rich that leaves a broken pipe to :func:`agattn.cli.main.main`; rich would exit with 1."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(stderr=stderr, highlight=False, **options)


def write_file(path: Path, text: str, *, tell: bool = True) -> None:
    """Write a file, or print if its name is ``-``, and tell where; an :class:`InputError` says why not."""
    if path == STDOUT:
        click.echo(text, nl=False)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    if tell:
        click.echo(f"wrote {path}", err=True)


def read_text(path: Path) -> str:
    """The text in a file; an :class:`InputError` if it cannot be read, or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text") from error


def check_destination(path: Path, suffixes: Sequence[str] = (), *, folder: bool = False) -> None:
    """Refuse a file, or a folder, that cannot be written or has none of these suffixes: before the work."""
    if path == STDOUT and not folder and not set(suffixes) & set(DRAWINGS):
        context = click.get_current_context(silent=True)
        if context is not None and context.params.get("as_json"):
            raise InputError("-O - and --json both print on stdout; give one of them")
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(f"cannot write {path}; its name must end in {' or '.join(suffixes)}")
    if path.exists() and path.is_dir() != folder:
        raise InputError(f"cannot write {path}: it is {'no folder' if folder else 'a folder'}")
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    if there != path and not there.is_dir():
        raise InputError(f"cannot write {path}: {there} is no folder")
    if there.is_dir():
        try:
            with tempfile.TemporaryFile(dir=there):
                pass  # permission alone says little: of the superuser, nothing
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from error
    elif not os.access(there, os.W_OK):
        raise InputError(f"cannot write {path}: there is no permission")


def check_report(folder: Path, title: str) -> None:
    """Refuse a folder that cannot be written, or has a report with another title: before the work."""
    from agattn.reports.document import refuse_another_report

    check_destination(folder, folder=True)
    refuse_another_report(folder, title)


def check_drawing(path: Path | None = None, suffixes: Sequence[str] = DRAWINGS) -> None:
    """Refuse to draw without the library for it, or into a file that :func:`check_destination` refuses."""
    if path is not None:
        check_destination(path, suffixes)
    library = "plotly" if path is not None and path.suffix.lower() == ".html" else "matplotlib"
    if importlib.util.find_spec(library) is None:
        raise InputError(f"drawing needs {library}; install it with: pip install 'agattn[figures]'")


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write a JSON document into a file, silently."""
    write_file(path, as_text(document), tell=False)


def write_result(document: Mapping[str, object], destination: Path | None, as_json: bool) -> bool:
    """Write a result into a file and on stdout as JSON, as asked; whether it is left to show it as text."""
    if destination is not None:
        write_file(destination, as_text(document))
    if as_json:
        print_json(document)
    return not as_json and destination != STDOUT


@contextlib.contextmanager
def progress(message: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner on stderr, if that is a terminal; yields a function that adds a step to the message."""
    shown = console(stderr=True)
    if not shown.is_terminal:
        yield lambda _: None
        return
    with shown.status(message) as status:
        yield lambda step: status.update(f"{message}: {step}")
