"""``agattn report``: everything about one architecture, or the results of a study, as one document."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.cli import options
from agattn.cli.output import check_destination, check_drawing, print_json, progress
from agattn.errors import InputError


@click.command(
    epilog="Examples: agattn report -d 2 -o 1 --out report; agattn report --dims 4,3,4 --ranks 2,2 --out deep"
)
@functools.partial(options.layer_or_network, instead="results")
@click.option(
    "--out", "folder", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR",
    help="Write report.html, report.md, figures, scripts and transcripts there.",
)  # fmt: skip
@click.option(
    "--engine", "engine_name", default="auto", show_default=True, metavar="NAME",
    help="auto, macaulay2, singular, native or all: every engine, and they must agree.",
)  # fmt: skip
@click.option(
    "--max-degree", type=click.IntRange(1, 8), default=3, show_default=True, metavar="N",
    help="Last degree of equations.",
)  # fmt: skip
@options.limits
@options.force
@options.seed
@click.option(
    "--study", "results", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Instead of an architecture: the lines that agattn study wrote.",
)  # fmt: skip
@click.option(
    "--grid", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="With --study: the grid that asked for them, to be put beside the report.",
)  # fmt: skip
@options.json_flag
def command(
    architecture: Any | None, folder: Path, engine_name: str, max_degree: int, timeout: float,
    memory: int, force: bool, seed: int, results: Path | None, grid: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Write a report: claims with their evidence, strata, equations, figures, scripts and how to redo it.

    With --study, a report of all the results of a study. report.html is one page that needs no network;
    report.md is the same as Markdown.
    """
    options.one_blas_thread()
    check_destination(folder, folder=True)
    check_drawing()
    if results is not None or architecture is None:
        return _of_study(results or Path(), grid, folder, as_json)
    if grid is not None:
        raise InputError("--grid belongs to --study; give the results of the study too")
    from agattn.engines.run import Limits
    from agattn.verification.verify import CHOICES, Settings

    options.check_engine(engine_name, CHOICES)
    settings = Settings(engine=engine_name, limits=Limits(timeout, memory), force=force, seed=seed)
    if isinstance(architecture, DeepNetwork):
        options.leave_out("is for single layers", "max_degree")
        words = _words(architecture)
    else:
        words = [f"-d {architecture.d} -o {architecture.d_out} -a {architecture.a} -t {architecture.t}"]
        words += [f"--max-degree {max_degree}"]
    words += [f"--engine {engine_name} --timeout {timeout:g} --memory {memory} --seed {seed}"]
    written = " ".join(["agattn report", *words, *(["--force"] if force else []), "--out DIR"])

    from agattn.reports import layer_report, network_report
    from agattn.reports.document import refuse_another_report

    if isinstance(architecture, SingleLayer):
        refuse_another_report(folder, layer_report.title(architecture))
    else:
        refuse_another_report(folder, network_report.title(architecture))
    with progress(f"{architecture}") as update:
        if isinstance(architecture, SingleLayer):
            document, verified = layer_report.layer_report(
                architecture, settings, max_degree=max_degree, command=written, progress=update
            )
            claims, status = [v.as_json() for v in verified.verdicts], verified.exit_status
        else:
            document, claims, status = network_report.network_report(
                architecture, settings, command=written, progress=update
            )
        files = document.save(folder)
    if as_json:
        print_json(
            {"architecture": architecture.as_json(), "claims": claims, "files": [str(path) for path in files]}
        )
    else:
        click.echo(document.summary)
        click.echo(f"wrote {files[0]} and {len(files) - 1} more")
    return status


def _words(network: DeepNetwork) -> list[str]:
    """The options that describe a network."""
    n = network
    words = [f"--dims {_joined(n.dims)}", f"--ranks {_joined(n.ranks)}", f"-t {n.t}"]
    words += ["--skip"] if n.skip else []
    words += [f"--heads {_joined(n.heads_by_layer)}"] if set(n.heads_by_layer) != {1} else []
    words += [f"--value-rank {n.value_rank}"] if n.value_rank is not None else []
    words += [] if n.is_lightning else [f"--normalization {n.normalization} --temperature {n.temperature!r}"]
    return words


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _of_study(results: Path, grid: Path | None, folder: Path, as_json: bool) -> int:
    """Report what a study wrote."""
    everything = {parameter.name or "" for parameter in click.get_current_context().command.params}
    others = everything - {"results", "grid", "folder", "as_json"}
    options.leave_out("is not for --study, whose results are there already", *others)
    from agattn.cli.output import read_text
    from agattn.reports.study_report import study_report
    from agattn.studies.lines import exit_status, read_lines

    try:
        lines = read_lines(read_text(results))
    except InputError as error:
        raise InputError(f"{results}: {error}") from None
    text = "" if grid is None else read_text(grid)
    written = (
        f"agattn report --study {results.name}{'' if grid is None else f' --grid {grid.name}'} --out DIR"
    )
    document = study_report(lines, grid=text, command=written)
    files = document.save(folder)
    if as_json:
        print_json(
            {"study": {"jobs": len(lines), "summary": document.summary}, "files": list(map(str, files))}
        )
    else:
        click.echo(document.summary)
        click.echo(f"wrote {files[0]} and {len(files) - 1} more")
    return exit_status(lines)
