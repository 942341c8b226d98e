"""``agattn report``: everything about one architecture, or the results of a study, as one document."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from agattn.cli import options
from agattn.cli.output import check_drawing, print_json, progress, say_on_stderr
from agattn.errors import InputError
from agattn.files import read_text

if TYPE_CHECKING:
    from agattn.reports.document import Document


@click.command(
    epilog="Examples: agattn report -d 2 -o 1 --out report; agattn report --dims 4,3,4 --ranks 2,2 --out r; "
    "agattn report --model model.toml --out r"
)
@functools.partial(options.layer_or_network, instead=lambda given: given["results"] is not None)
@options.file_option(
    "--out", "folder",
    "Write report.html, report.md, figures, scripts and transcripts there.", folder=True, required=True,
)  # fmt: skip
@options.engine(
    "The engine that computes; all: ask every engine, and compare the answers.", "auto", "native", "all"
)
@click.option(
    "--max-degree", type=click.IntRange(1, 8), default=3, show_default=True, metavar="N",
    help="Last degree of equations.",
)  # fmt: skip
@options.limits
@options.force
@options.seed
@options.file_option(
    "--study", "results", "Instead of an architecture: the lines that agattn study wrote.", read=True
)
@options.file_option(
    "--grid", "With --study: the grid that asked for them, to be put beside the report.", read=True
)
@options.json_flag
def command(
    architecture: Any | None, folder: Path, engine_name: str, max_degree: int, timeout: float,
    memory: int, force: bool, seed: int, results: Path | None, grid: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Write a report: claims with their evidence, strata, equations, figures, scripts and the command line.

    With --model the report has dimension, symmetries, equations, kinds of points and a fiber of a polynomial
    model. With --study the report has all results of a study. report.html is one page that needs no network;
    report.md is the same as Markdown.
    """
    options.one_blas_thread()
    check_drawing()
    if results is not None or architecture is None:
        return _of_study(results or Path(), grid, folder, as_json)
    if grid is not None:
        raise InputError("--grid belongs to --study; give the results of the study too")
    from agattn.architectures import SingleLayer

    is_model = not isinstance(architecture, SingleLayer) and architecture.as_network() is None
    if is_model:
        reason = "is for layers and networks of attention, whose claims engines decide"
        options.leave_out(reason, "engine_name", "timeout", "memory")
    elif architecture.ambient_dimension is None:
        options.leave_out("is for single layers", "max_degree")
    from agattn.reports.architecture_report import title
    from agattn.reports.document import Found, refuse_another_report
    from agattn.reports.report import report

    refuse_another_report(folder, title(architecture))
    with progress(f"{architecture.name}") as update:
        document = report(
            architecture, engine=engine_name, max_degree=max_degree, timeout=timeout, memory=memory,
            force=force, seed=seed, command=_command_line(), progress=update,
        )  # fmt: skip
    about = {"model": Found(document.summary)} if is_model else {"claims": document.claims}
    _save(document, folder, as_json, architecture=architecture, **about)
    return document.exit_status


def _command_line() -> str:
    """The command with all options that were given, but for where the report goes."""
    context = click.get_current_context()
    words = ["agattn", "report"]
    for parameter in context.command.params:
        name, value = parameter.name or "", context.params[parameter.name or ""]
        if name in ("folder", "as_json") or context.get_parameter_source(name) is ParameterSource.DEFAULT:
            continue
        if isinstance(parameter, click.Argument):
            words += value  # the sizes of a layer
            continue
        words.append(parameter.opts[0])
        if value is not True:
            words.append(value.name if isinstance(value, Path) else str(value))
    return f"{shlex.join(words)} --out DIR"


def _save(document: Document, folder: Path, as_json: bool, **about: Any) -> None:
    """Write a report, and print what it says, or JSON about these values."""
    from agattn.reports.document import SavedReport

    saved = SavedReport(tuple(map(str, document.save(folder))), **about)
    if as_json:
        print_json(saved.as_json())
    else:
        from agattn.sheet.terminal import print_folded

        print_folded(f"{document.summary}\n{saved}")


#: Bytes of the results of a study: some tens of thousands of jobs.
_LARGEST_RESULTS = 512 * 2**20


def _of_study(results: Path, grid: Path | None, folder: Path, as_json: bool) -> int:
    """Report what a study wrote."""
    everything = {parameter.name or "" for parameter in click.get_current_context().command.params}
    reason = "is not for --study, whose results are there already"
    options.leave_out(reason, *everything - {"results", "grid", "folder", "as_json"})
    from agattn.experiments.studies.lines import exit_status, read_lines
    from agattn.reports.document import FoundOfStudy
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
    _save(document, folder, as_json, study=FoundOfStudy(document.summary, len(lines)))
    return exit_status(lines) or (3 if missing else 0)


def _missing(grid: str, lines: Sequence[Mapping[str, Any]]) -> int:
    """How many jobs of a grid are about architectures that no line is about."""
    from agattn.experiments.studies.grid import read_grid
    from agattn.experiments.studies.jobs import canonical

    there = {canonical(line["architecture"]) for line in lines}
    return sum(canonical(job.architecture.as_json()) not in there for job in read_grid(grid, force=True).jobs)
