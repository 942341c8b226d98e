"""``agattn report``: everything about one architecture, or the results of a study, as one document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agattn.architecture import DeepNetwork, SingleLayer
from agattn.cli import options
from agattn.cli.output import print_json, progress
from agattn.errors import InputError


@click.command(
    epilog="Examples: agattn report -d 2 -o 1 --out report; agattn report --dims 4,3,4 --ranks 2,2 --out deep"
)
@click.option("-d", "--embed-dim", "d", metavar="D", help="Embedding dimension d.")
@click.option("-o", "--out-dim", "d_out", metavar="D'", help="Output dimension d'.")
@click.option("-a", "--attn-dim", "a", metavar="A", help="Attention dimension a.  [default: d]")
@click.option("-t", "--tokens", "t", metavar="T", help="Number of tokens t.  [default: 2; 3 for a network]")
@click.option(
    "--dims", metavar="D0,...,DL", help="Instead of -d and -o: the widths d_0, ..., d_l of a network."
)
@click.option("--ranks", metavar="A1,...,AL", help="With --dims: the attention dimensions a_1, ..., a_l.")
@click.option(
    "--heads", default="1", metavar="H", show_default=True, help="With --dims: heads, or H1,...,HL."
)
@click.option("--skip", is_flag=True, help="With --dims: each layer adds its input to its output.")
@click.option(
    "--normalization", default="none", metavar="none|softmax", show_default=True, help="With --dims."
)
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
    d: str | None, d_out: str | None, a: str | None, t: str | None, dims: str | None, ranks: str | None,
    heads: str, skip: bool, normalization: Any, folder: Path, engine_name: str, max_degree: int,
    timeout: float, memory: int, force: bool, seed: int, results: Path | None, grid: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Write a report: claims with their evidence, strata, equations, figures, scripts and how to redo it.

    With --study, a report of all the results of a study. report.html is one page that needs no network;
    report.md is the same as Markdown.
    """
    options.one_blas_thread()
    if results is not None:
        return _of_study(results, grid, folder, as_json)
    if grid is not None:
        raise InputError("--grid belongs to --study; give the results of the study too")
    from agattn.engines.run import Limits
    from agattn.verify import CHOICES, Settings

    if engine_name not in CHOICES:
        raise InputError(f"there is no engine {engine_name!r}; choose among {', '.join(CHOICES)}")
    settings = Settings(engine=engine_name, limits=Limits(timeout, memory), force=force, seed=seed)
    number = options.whole_number
    architecture: SingleLayer | DeepNetwork
    if dims is not None:
        if ranks is None or d is not None or d_out is not None or a is not None:
            raise InputError("a network needs --dims and --ranks, and none of -d, -o, -a")
        architecture = DeepNetwork(
            options.whole_numbers(dims), options.whole_numbers(ranks), number(t or "3"),
            heads=options.whole_numbers(heads), skip=skip, normalization=normalization,
        )  # fmt: skip
        words = [
            f"--dims {','.join(map(str, architecture.dims))}",
            f"--ranks {','.join(map(str, architecture.ranks))}",
        ]
        words += [f"-t {architecture.t}", *(["--skip"] if skip else [])]
        words += [f"--heads {heads}"] if set(architecture.heads_by_layer) != {1} else []
        words += [f"--normalization {normalization}"] if normalization != "none" else []
    else:
        if d is None or d_out is None or ranks is not None:
            raise InputError("give -d and -o for a layer, or --dims and --ranks for a network")
        architecture = SingleLayer(number(d), number(d_out), number(d if a is None else a), number(t or "2"))
        words = [f"-d {architecture.d} -o {architecture.d_out} -a {architecture.a} -t {architecture.t}"]
        words += [f"--max-degree {max_degree}"]
    words += [f"--engine {engine_name} --timeout {timeout:g} --memory {memory} --seed {seed}"]
    written = " ".join(["agattn report", *words, *(["--force"] if force else []), "--out DIR"])

    with progress(f"{architecture}") as update:
        if isinstance(architecture, SingleLayer):
            from agattn.reports.layer_report import layer_report

            document, verified = layer_report(
                architecture, settings, max_degree=max_degree, command=written, progress=update
            )
            claims, status = [v.as_json() for v in verified.verdicts], verified.exit_status
        else:
            from agattn.reports.network_report import network_report

            document, claims, status = network_report(
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


def _of_study(results: Path, grid: Path | None, folder: Path, as_json: bool) -> int:
    """Report what a study wrote."""
    context = click.get_current_context()
    mine = {"results", "grid", "folder", "as_json"}
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in mine:
            raise InputError(f"{parameter.opts[0]} is not for --study, whose results are there already")
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
