"""What ``report``, ``figure`` and ``schema`` do in a shell beyond their verbs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import click
from click.core import ParameterSource

from agattn.architectures import SingleLayer
from agattn.cli.generator import Input, Option, Writes
from agattn.cli.kinds import FIGURES, EngineName, Outputs, Whole, check_drawing, chosen, leave_out
from agattn.cli.output import print_json, say_on_stderr, show_result
from agattn.errors import InputError
from agattn.files import read_text
from agattn.reports import figures
from agattn.sheet.terminal import print_folded

#: Bytes of the results of a study: some tens of thousands of jobs.
_LARGEST_RESULTS = 512 * 2**20


def report(
    architecture: Any,
    *,
    output: Annotated[Outputs, Writes(folder=True, documents=False, required=True)] = (),
    max_degree: Annotated[int, Option(Whole(1, 8), metavar="N")] = 3,
    study: Annotated[Path | None, Input] = None,
    grid: Annotated[Path | None, Input] = None,
    as_json: bool = False,
    **given: Any,
) -> int:
    """Write a report: claims with their evidence, strata, equations, figures, scripts and the command line.

    Of a polynomial model it has dimension, symmetries, equations, kinds of points and a fiber. With --study
    the report has all results of a study. report.html is one page that needs no network; report.md is the
    same as Markdown.

    Args:
        output: write report.html, report.md, figures, scripts and transcripts.
        max_degree: last degree of equations.
        study: instead of an architecture: the lines that agattn study wrote.
        grid: with --study: the grid that asked for them, to be put beside the report.
    """
    check_drawing()
    [out] = chosen(output, "")
    if study is not None:
        return _of_study(study, grid, out, as_json)
    if grid is not None:
        raise InputError("--grid belongs to --study; give the results of the study too")
    from agattn.reports.document import ModelSummary, refuse_another_report
    from agattn.reports.report import report, title

    is_model = not isinstance(architecture, SingleLayer) and architecture.as_network() is None
    if is_model:
        reason = "is for layers and networks of attention, whose claims engines decide"
        leave_out(reason, "engine", "timeout", "memory")
    elif architecture.ambient_dimension is None:
        leave_out("is for single layers", "max_degree")
    refuse_another_report(out, title(architecture))
    document = report(architecture, max_degree=max_degree, command=_command_line(), **given)
    about = {"model": ModelSummary(document.summary)} if is_model else {"claims": document.claims}
    _save(document, out, as_json, architecture=architecture, **about)
    return document.exit_status


def _command_line() -> str:
    """The command with all options that were given, but for where the report goes."""
    context = click.get_current_context()
    words = ["agattn", "report"]
    for parameter in context.command.params:
        name, value = parameter.name or "", context.params[parameter.name or ""]
        if name in ("output", "as_json") or context.get_parameter_source(name) is ParameterSource.DEFAULT:
            continue
        if isinstance(parameter, click.Argument):
            words += value  # the sizes of a layer
            continue
        words.append(parameter.opts[0])
        if value is not True:
            words.append(value.name if isinstance(value, Path) else str(value))
    return f"{shlex.join(words)} -O DIR"


def _save(document: Any, folder: Path, as_json: bool, **about: Any) -> None:
    """Write a report, and print what it says, or JSON about these values."""
    from agattn.reports.document import SavedReport

    saved = SavedReport(tuple(map(str, document.save(folder))), **about)
    if as_json:
        print_json(saved.as_json())
    else:
        print_folded(f"{document.summary}\n{saved}")


def _of_study(results: Path, grid: Path | None, folder: Path, as_json: bool) -> int:
    """Report what a study wrote."""
    everything = {parameter.name or "" for parameter in click.get_current_context().command.params}
    reason = "is not for --study, whose results are there already"
    leave_out(reason, *everything - {"study", "grid", "output", "as_json"})
    from agattn.experiments.studies.jobs import exit_status, read_lines
    from agattn.reports.document import StudySummary
    from agattn.reports.report import report

    written = read_text(results, _LARGEST_RESULTS)
    try:
        lines = read_lines(written)
    except InputError as error:
        raise InputError(f"{results}: {error}") from None
    text = "" if grid is None else read_text(grid)
    document = report(lines, grid_text=text, command=_command_line())
    missing = _missing(text, lines) if text else 0
    if missing:
        say_on_stderr(f"agattn: {missing} of the grid's jobs are not in {results}")
    _save(document, folder, as_json, study=StudySummary(document.summary, len(lines)))
    return exit_status(lines) or (3 if missing else 0)


def _missing(grid: str, lines: Sequence[Mapping[str, Any]]) -> int:
    """How many jobs of a grid are about architectures that no line is about."""
    from agattn.experiments.studies.grid import read_grid
    from agattn.experiments.studies.jobs import canonical

    there = {canonical(line["architecture"]) for line in lines}
    return sum(canonical(job.architecture.as_json()) not in there for job in read_grid(grid, force=True).jobs)


#: What describes the layer of figure 1.
_LAYER = ("words", "d", "d_out", "a", "t", "family", "ignore")


def figure(
    number: Annotated[str, Option(metavar="1|2|3")],
    layer: Any,
    *,
    output: Annotated[Outputs, Writes(FIGURES)] = (),
    slice: Annotated[Path | None, Input] = None,
    radius: Annotated[int, Option(Whole(1, 1000), metavar="R")] = 1,
    engine: Annotated[str, Option(EngineName("auto", "native"))] = "auto",
    layers: Annotated[int, Option(Whole(1, 4), metavar="N")] = 2,
    timeout: float = 60.0,
    memory: int = 8192,
    force: bool = False,
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """Recompute figure 1, 2 or 3 of the paper.

    1, a surface in M, by default M(2,1,2), with its singular points, solid in M and dotted outside M; 2, the
    unrolled network as a tree; 3, dimensions of normalized networks.

    Args:
        output: draw the figure, figure 1 also as .html, a page to turn it, or write its numbers.
        slice: figure 1: JSON file with an origin and three directions in the coordinates y of `agattn emit`;
            its points are origin + x·(first) + y·(second) + w·(third).  [default: the paper's slice]
        radius: figure 1: draw coordinates from -R to R.
        engine: figure 1: the engine that eliminates.
        layers: figure 2: l.
    """
    of_layer = {"layer": layer or SingleLayer(2, 1), "slice": slice, "engine": engine, "radius": radius}
    limits = {"timeout": timeout, "memory": memory, "force": force}
    options: dict[str, Any] = {"1": of_layer | limits, "2": {"layers": layers}, "3": {"seed": seed}}
    for other in options.keys() - {number} if number in options else ():
        leave_out(f"is for figure {other}", *options[other], *_LAYER * (other == "1"))
    for page in chosen(output, ".html") if number in ("2", "3") else ():
        raise InputError(f"cannot write {page}; figure {number} is a picture: .png, .svg or .pdf")
    made = figures.figure(number, **options.get(number, {}))
    pictures = chosen(output, *FIGURES)
    for picture in pictures:
        made.save(picture)
    show_result(made.replace(file=", ".join(map(str, pictures)) or None), as_json, output)
    if made.words and not as_json:
        print_folded(made.words, sys.stderr)
    for picture in pictures:
        say_on_stderr(f"wrote {picture}")
    if not output and not as_json:
        say_on_stderr(f"nothing was drawn; -O figure{number}.png draws it")


def schema(name: Annotated[str | None, Option(more={"required": False})]) -> None:
    """Print the JSON schema of what the command NAME prints with --json; without NAME, list the schemas."""
    from agattn.documents import NAMES, schema
    from agattn.names import COMMANDS

    if name is None:
        click.echo("\n".join(NAMES))
    else:
        printed = schema(name)
        print_json({"description": COMMANDS[name.lower()].about, **printed})
