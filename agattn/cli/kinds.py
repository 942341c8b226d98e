"""How words of a shell become values: numbers, choices, files that are read, and places that are written."""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from agattn.cli.ending import STDIN
from agattn.engines.catalogue import engine_name
from agattn.errors import InputError
from agattn.evidence import ENGINES
from agattn.files import can_be_replaced, check_file

#: The name of a file that stands for stdout.
STDOUT = Path("-")
#: What pictures are written as.
DRAWINGS = (".png", ".svg", ".pdf")
#: Drawings, and pages to point at.
FIGURES = (*DRAWINGS, ".html")
#: Bytes that may come on standard input.
_LARGEST_INPUT = 256 * 2**20


class Whole(click.IntRange):
    """A whole number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if self.min is not None and self.max is not None and not self.min <= number <= self.max:
            self.fail(f"{number} is not from {self.min} to {self.max}", param, ctx)
        if self.min is not None and number < self.min:
            self.fail(f"{number} is not at least {self.min}", param, ctx)
        return number


class Cores(Whole):
    """A number of workers. No worker does nothing: one is taken for it, and a line says so."""

    def __init__(self) -> None:
        super().__init__(0, 512)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        if super().convert(value, param, ctx) == 0:
            click.echo("0 workers do nothing; 1 is used", err=True)
        return max(1, int(value))


class Real(click.FloatRange):
    """A number between two others, which are not in the range."""

    def __init__(self, low: float = 0, high: float | None = None) -> None:
        super().__init__(low, high, min_open=True, max_open=high is not None)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if self.max is not None and not 0 < number < self.max:
            self.fail(f"{number} is not between {self.min:g} and {self.max:g}", param, ctx)
        if number <= (self.min or 0):
            self.fail(f"{number} is not above {self.min:g}", param, ctx)
        return number


class Choice(click.Choice):  # type: ignore[type-arg]  # click 8.1 takes no type here
    """One of some words, in any case."""

    def __init__(self, *words: str) -> None:
        super().__init__(words, case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word as it is listed."""
        for word in self.choices:
            if str(value).lower() == word:
                return word
        listed = ", ".join(map(repr, self.choices))
        if isinstance(param, click.Argument):
            named = ctx.info_name if ctx else param.name
            raise click.UsageError(f"there is no {named} {value!r}; there are {listed}", ctx)
        name = param.opts[0] if param else "the value"
        raise click.UsageError(f"{name} is {value!r}; it must be one of {listed}", ctx)


class EngineName(click.ParamType):  # type: ignore[type-arg]
    """The name of an engine, or one of some other words, in any case."""

    name = "text"

    def __init__(self, *others: str) -> None:
        self.words = (*ENGINES, *others)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """The words."""
        return "|".join(self.words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name."""
        if value in self.words:
            return value
        return engine_name(value, self.words)


class InputFile(click.Path):
    """The path of a file to be read; ``-`` is standard input, kept in a file whose ending says what it is."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        refuse_empty(value, param)
        if str(value) != "-" or ctx is None:
            path = Path(os.fsdecode(super().convert(value, param, ctx)))
            check_file(path)
            return path
        data = sys.stdin.buffer.read(_LARGEST_INPUT + 1)
        if len(data) > _LARGEST_INPUT:
            raise InputError("standard input has more than 256 MiB, the limit for it; give a file")
        if not data:
            raise InputError("nothing came on standard input, which - stands for")
        from agattn.engines.process import work_folder

        path = ctx.with_resource(work_folder()) / f"{STDIN}{_ending(data)}"
        path.write_bytes(data)
        return path


def _ending(data: bytes) -> str:
    """The ending of files that begin like this."""
    kinds = ((b"PK", ".npz"), (b"\x93NUMPY", ".npy"), (b"%%MatrixMarket", ".mtx"))
    if data[8:9] == b"{" and b"\0" in data[:8]:
        return ".safetensors"
    if data.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"[", b"{"):
        return ".json"
    return next((ending for mark, ending in kinds if data.startswith(mark)), ".csv")


class Output(NamedTuple):
    """Where a command writes: a path, and the ending that says what; none for a folder."""

    path: Path
    ending: str


#: All that one command is to write.
Outputs = tuple[Output, ...]


def chosen(outputs: Outputs, *endings: str) -> list[Path]:
    """The paths with one of some endings; the ending of a folder is empty."""
    return [output.path for output in outputs if output.ending in endings]


class OutputPath(click.Path):
    """The path of a file, whose ending says the format, or of a folder, which has no ending or exists.

    What cannot be written is refused while the options are read, before the command imports or computes
    anything. ``-`` is stdout, in the format that ``--format`` says, which is read first.
    """

    def __init__(self, *endings: str, folder: bool = False, default: str = ".json") -> None:
        """Take files with these endings, and folders; ``default`` is the ending that stands for ``-``."""
        super().__init__(path_type=Path, readable=False)
        self.endings, self.folder, self.default = endings, folder, default

    @property
    def formats(self) -> tuple[str, ...]:
        """What can be written on stdout."""
        return tuple(ending[1:] for ending in self.endings if ending not in FIGURES)

    @property
    def listed(self) -> str:
        """The endings in words.

        >>> OutputPath(".json", ".csv", folder=True).listed
        'ends in .json or .csv, or is a folder'
        """
        *others, last = tuple(filter(None, self.endings)) or ("",)
        files = f"ends in {', '.join(others)} or {last}" if others else f"ends in {last}"
        return ", or ".join(filter(None, [files * bool(self.endings), "is a folder" * self.folder]))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path and its ending."""
        if isinstance(value, Output):
            return value
        refuse_empty(value, param)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path == STDOUT and self.formats:
            is_said = ctx is not None and _is_given(ctx, "form")
            return Output(path, f".{ctx.params['form']}" if ctx and is_said else self.default)
        ending = path.suffix.lower()
        is_folder = self.folder and (path.is_dir() or not ending)
        if path == STDOUT or (not is_folder and ending not in self.endings):
            how = f"a name that {self.listed}" if self.endings else "a folder"
            raise InputError(f"cannot write {path}; give {how}")
        check_destination(path, folder=is_folder)
        if ending in FIGURES and not is_folder:
            check_drawing(path)
        return Output(path, "" if is_folder else ending)


def outputs_of(outputs: Outputs, form: str | None, as_json: bool) -> Outputs:
    """What is to be written, one of each format, and one of them on stdout."""
    on_stdout = [output for output in outputs if output.path == STDOUT]
    if form is not None and not outputs:
        on_stdout = [Output(STDOUT, f".{form}")]
        outputs = tuple(on_stdout)
    if form is not None and not on_stdout:
        raise InputError("--format is for -O -; the ending of a file says its format; leave --format out")
    if on_stdout and as_json:
        raise InputError("-O - and --json both print on stdout; give one of them")
    for output in outputs:
        if [other.ending for other in outputs].count(output.ending) > 1:
            what = f"for {output.ending}" if output.ending else "for a folder"
            raise InputError(f"-O is given twice {what}; give it once for each format")
    return tuple(outputs)


def refuse_empty(value: Any, parameter: click.Parameter | None) -> None:
    """Refuse an empty name, which would stand for the current folder."""
    if str(value) == "":
        name = parameter.make_metavar(click.get_current_context()) if parameter else "the name"
        given = parameter.opts[0] if isinstance(parameter, click.Option) else name
        raise InputError(f"{given} is empty; give a name")


def _is_given(context: click.Context | None, name: str) -> bool:
    """Whether an option was typed, as far as options have been read."""
    return context is not None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE


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

    is_page = path is not None and path.suffix.lower() == ".html"
    if not is_page and find_spec("matplotlib") is None:
        raise InputError("drawing needs matplotlib; install it with: pip install 'agattn[figures]'")


def leave_out(reason: str, *names: str) -> None:
    """Refuse the parameters ``names`` of the current command where they were given: they would do nothing.

    ``reason`` says what they are for, such as ``"is for figure 1"``.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name in names and value != () and _is_given(context, parameter.name or ""):
            word = parameter.opts[0] if isinstance(parameter, click.Option) else " ".join(value or ())
            raise InputError(f"{word} {reason}; leave {word} out")
