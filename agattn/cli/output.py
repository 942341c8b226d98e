"""Printing results: one JSON document, or text for people."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from agattn.errors import InputError, printable
from agattn.files import can_be_replaced, write
from agattn.limits import silent
from agattn.patience import told

if TYPE_CHECKING:
    from rich.console import Console

    from agattn.sheet.result import Result
    from agattn.sheet.terminal import Paper

#: The name of a file that stands for stdout.
STDOUT = Path("-")
#: What pictures are written as.
DRAWINGS = (".png", ".svg", ".pdf")
#: Drawings, and pages to point at.
FIGURES = (*DRAWINGS, ".html")
#: Endings with which nobody names a folder.
_FILES = (*FIGURES, ".md", ".tex", ".txt", ".json", ".jsonl", ".csv", ".toml", ".zip")


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document on stdout; where that is not UTF-8, in ASCII, as JSON is one or the other."""
    is_utf8 = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    click.echo(printable(json.dumps(document, indent=2, ensure_ascii=not is_utf8)))


def as_text(document: Mapping[str, object]) -> str:
    """A JSON document as it stands in a file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def console(**options: Any) -> Console | Paper:
    """What to print on: a console of rich in a terminal, or wherever colours are asked for, else paper."""
    from agattn.sheet.terminal import Paper

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


#: Variables of the environment by which rich takes a pipe for a terminal.
_COLOURS_ASKED = ("FORCE_COLOR", "TTY_COMPATIBLE")


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


def write_file(path: Path, text: str, *, tell: bool = True) -> None:
    """Write a file, or print if its name is ``-``, and tell where; an :class:`InputError` says why not."""
    if path == STDOUT:
        click.echo(printable(text), nl=False)
        return
    write(path, text)
    if tell:
        say_on_stderr(f"wrote {path}")


def check_destination(path: Path, *, folder: bool = False) -> None:
    """Refuse a file, or a folder, that cannot be written."""
    if path.exists():
        if path.is_dir() != folder:
            raise InputError(f"cannot write {path}: it is {'no folder' if folder else 'a folder'}")
        if not os.access(path, os.W_OK):
            raise InputError(f"cannot write {path}: there is no permission")
        if not folder and not can_be_replaced(path):
            return
    above = path.absolute().parents
    there = next(p for p in ((path, *above) if folder else above) if p.exists())
    if not there.is_dir():
        raise InputError(f"cannot write {path}: {there} is no folder")
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=there):
            pass  # permission alone says little: of the superuser, nothing
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error


def check_drawing(path: Path | None = None) -> None:
    """Refuse to draw without the library for it, or into a folder that does not exist."""
    if path is not None and not path.absolute().parent.exists():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}")
    from importlib.util import find_spec

    library = "plotly" if path is not None and path.suffix.lower() == ".html" else "matplotlib"
    if find_spec(library) is None:
        raise InputError(f"drawing needs {library}; install it with: pip install 'agattn[figures]'")


class Destination(click.Path):
    """The path of a file, or of a folder, that a command writes.

    What cannot be written is refused while the options are read, before the command imports or computes
    anything.
    """

    def __init__(
        self, endings: Sequence[str] = (), *, folder: bool = False, by_ending: bool = False,
        unless: str = "", otherwise: str = "",
    ) -> None:  # fmt: skip
        """Take files with some endings.

        Args:
            endings: of the file, all of them if there are none.
            folder: whether the path is that of a folder.
            by_ending: whether the ending chooses the format, so that a name without one is refused.
            unless: the name of another parameter that chooses the format, whatever the ending is. It is read
                first.
            otherwise: what a message says beside the known endings.
        """
        super().__init__(path_type=Path, readable=False)
        self.endings, self.folder, self.by_ending = endings, folder, by_ending
        self.unless, self.otherwise = unless, otherwise
        self.drawn = bool(set(endings) & set(DRAWINGS))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        refuse_empty(value, param)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path == STDOUT and not self.folder and not self.drawn:
            refuse_both(f"{param.opts[0] if param else '-O'} -", _is_given(ctx, "as_json"))
            return path
        ending = path.suffix.lower()
        if self.folder and ending in _FILES and not path.is_dir():
            raise InputError(f"{path} would be a folder; give one, such as {path.stem}")
        known = not self.endings or ending in self.endings or _is_given(ctx, self.unless)
        if not known and (ending or self.by_ending):
            *others, last = self.endings
            listed = f"{', '.join(others)} or {last}" if others else last
            raise InputError(f"cannot write {path}; its name must end in {listed}{self.otherwise}")
        check_destination(path, folder=self.folder)
        if self.drawn:
            check_drawing(path)
        return path


def refuse_empty(value: Any, parameter: click.Parameter | None) -> None:
    """Refuse an empty name, which would stand for the current folder."""
    if str(value) == "":
        name = parameter.make_metavar(click.get_current_context()) if parameter else "the name"
        given = parameter.opts[0] if isinstance(parameter, click.Option) else name
        raise InputError(f"{given} is empty; give a name")


def _is_given(context: click.Context | None, name: str) -> bool:
    """Whether an option was typed, as far as options have been read."""
    return context is not None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_both(option: str, as_json: bool) -> None:
    """Refuse --json beside an option that prints on stdout, too."""
    if as_json:
        raise InputError(f"{option} and --json both print on stdout; give one of them")


def _alone_on_stdout(context: click.Context, _: click.Parameter, wanted: bool) -> bool:
    """Refuse --json where a file that was read before is stdout."""
    for p in context.command.params:
        if (
            isinstance(p.type, Destination)
            and context.params.get(p.name or "") == STDOUT
            and not p.type.folder
        ):
            refuse_both(f"{p.opts[0]} -", wanted)
    return wanted


def json_option(text: str) -> Callable[[Any], Any]:
    """Add --json, which prints on stdout and goes with no -O -."""
    return click.option("--json", "as_json", is_flag=True, callback=_alone_on_stdout, help=text)


def check_report(folder: Path, title: str) -> None:
    """Refuse a folder that has a report with another title: before the work."""
    from agattn.reports.document import refuse_another_report

    refuse_another_report(folder, title)


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


def show_result(found: Result, as_json: bool, destination: Path | None = None, **options: Any) -> None:
    """Write a result as :func:`write_result` does, or show its sheet on a console with these options.

    The document is made only where it is written: some take longer than the sheet.
    """
    written = as_json or destination is not None
    if not written or write_result(found.as_json(), destination, as_json):
        from agattn.sheet.terminal import show

        show(found.sheet(), console(**options))


@contextlib.contextmanager
def progress(message: str) -> Iterator[Callable[[str], None]]:
    """Say on stderr, if that is a terminal, what takes longer than two seconds; yields what is told steps."""
    with told(message, None if sys.stderr.isatty() else silent) as tell:
        yield tell
