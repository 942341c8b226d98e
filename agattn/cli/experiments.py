"""What ``train``, ``study`` and ``atlas`` do in a shell beyond their verbs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import click

from agattn.cli.generator import Option
from agattn.cli.jobs import carry_out, check_report, example, number_of_jobs, read_asked, work_of
from agattn.cli.kinds import Destination, InputFile, Whole, leave_out
from agattn.cli.output import say_on_stderr, write_file
from agattn.files import about

Folder = Option(Destination(folder=True), metavar="DIR")
Page = Option(Destination(".md"), "-O --output", "FILE", "Write the Markdown page there.  [default: stdout]")


def study(
    grid: Annotated[Path, Option(InputFile(), metavar="GRID.toml")],
    *,
    example: Annotated[bool, example("a grid", "agattn.experiments.studies.grid")] = False,
    part: Annotated[str | None, Option(metavar="K/N")] = None,
    retry_undecided: bool = False,
    timeout: Annotated[
        float | None,
        Option(click.FLOAT, metavar="SECONDS", help="Time limit in seconds, in place of the grid's."),
    ] = None,
    memory: Annotated[
        int | None, Option(click.INT, metavar="MIB", help="Memory limit in MiB, in place of the grid's.")
    ] = None,
    seed: Annotated[int | None, Option(click.INT, metavar="N", help="Seed, in place of the grid's.")] = None,
    force: Annotated[
        bool, Option(help="Go beyond the limits on the number of jobs and on their size.")
    ] = False,
    dry_run: bool = False,
    report: Annotated[Path | None, Folder] = None,
    as_json: bool = False,
    **given: Any,
) -> int:
    """Ask one question, or several, about all architectures of a grid; print a table of the answers.

    With --json, or -O, each answer is one JSON document on a line (JSON Lines). Jobs that are done are kept.
    After an interrupt the same command goes on where it stopped.

    Args:
        part: only every N-th job, from the K-th on.
        retry_undecided: repeat the jobs that were undecided, or not proved.
        dry_run: only say how many jobs there are, and how many of them are cached.
        report: write report.html and report.md about the results there.
    """
    from agattn.experiments.studies.grid import read_grid
    from agattn.experiments.studies.jobs import versions_for
    from agattn.experiments.studies.lines import row, sheet, written

    work = work_of(as_json=as_json, **given)
    instead = {"timeout": timeout, "memory": memory, "seed": seed}
    chosen = {k: v for k, v in instead.items() if v is not None}
    wanted = read_grid(read_asked(grid, "a grid"), chosen, force=force)
    jobs = wanted.jobs if part is None else wanted.part(part)
    versions = versions_for(jobs[0].engine) if jobs else {}
    if dry_run:
        known = work.cached(jobs, versions, retry_undecided)
        click.echo(f"{number_of_jobs(len(jobs))}, {known} of them cached")
        return 0
    if report is not None:
        check_report(report, "Study of")
    lines: list[Any] = []
    rows: list[tuple[str, str, str, str]] = []

    def write(line: Any) -> list[str]:
        rows.append(row(line))
        lines.extend([line] * (report is not None))
        return [written(line)]

    status = carry_out(
        jobs, versions, work, write, lambda: sheet(rows), retry_open=retry_undecided, force=force
    )
    if report is not None and lines:
        from agattn.reports.study_report import study_report

        made_by = f"agattn study {shlex.quote(grid.name)} --report DIR"
        files = study_report(lines, grid=wanted.text, command=made_by).save(report)
        say_on_stderr(f"wrote {files[0]} and {len(files) - 1} more")
    return status


def train(
    config: Annotated[Path, Option(InputFile(), metavar="CONFIG.toml")],
    *,
    example: Annotated[
        bool, example("a file of experiments", "agattn.experiments.training.experiment")
    ] = False,
    seeds: Annotated[str | None, Option(metavar="A..B")] = None,
    dry_run: bool = False,
    report: Annotated[Path | None, Folder] = None,
    as_json: bool = False,
    **given: Any,
) -> int:
    """Train attention from many seeds, and print a table of where in the geometry the runs ended.

    The method is gradient flow, gradient descent or Langevin dynamics; one layer has an exact loss. With
    --json, or -O, each run is one JSON document on a line (JSON Lines), with the loss, stratum, ranks and
    distances, the drift of conserved quantities, and the zeros of the Hessian. agattn keeps finished runs.
    After an interrupt the same command goes on where it stopped.

    Args:
        seeds: seeds of all experiments, in place of those in the file.
        dry_run: only say how many runs there are, and how many jobs of them are cached.
        report: write report.html and report.md about the runs, and a figure, there.
    """
    from agattn.experiments.studies.jobs import versions_for
    from agattn.experiments.training.experiment import read_experiments
    from agattn.experiments.training.training import check, runs_sheet, training_jobs

    work = work_of(as_json=as_json, **given)
    text = read_asked(config, "a file of experiments")
    experiments = read_experiments(text, seeds)
    for experiment in experiments:
        with about(experiment.name):
            check(experiment)
    jobs = training_jobs(experiments)
    versions = versions_for("native")
    if dry_run:
        cached = work.cached(jobs, versions)
        runs = sum(len(experiment.seeds) for experiment in experiments)
        click.echo(f"{runs} runs in {number_of_jobs(len(jobs))}, {cached} of them cached")
        return 0
    if report is not None:
        from agattn.reports.training_report import TITLE, training_report

        check_report(report, TITLE)
    lines: list[dict[str, Any]] = []
    names = iter([job.experiment.name for job in jobs])
    failures: list[str] = []

    def write(line: Any) -> list[str]:
        name = next(names)
        if "error" in line:
            failures.append(f"{name}: {line['error']['message']}")
            return []
        runs = [{**run, "experiment": name} for run in line["result"]["runs"]]
        lines.extend(runs)
        return [json.dumps(run, ensure_ascii=False) for run in runs]

    status = carry_out(jobs, versions, work, write, lambda: runs_sheet(lines))
    for failure in dict.fromkeys(failures):
        say_on_stderr(failure)
    if report is not None and lines:
        made_by = f"agattn train {shlex.quote(config.name)} --report DIR"
        files = training_report(lines, text, made_by).save(report)
        say_on_stderr(f"wrote {files[0]} and {len(files) - 1} more")
    return status


def atlas(
    max_width: Annotated[int, Option(Whole(1, 8), metavar="N")] = 5,
    max_depth: Annotated[int, Option(Whole(1, 4), metavar="N")] = 3,
    max_heads: Annotated[int, Option(Whole(1, 8), metavar="N")] = 3,
    limit: Annotated[int, Option(Whole(1), metavar="N")] = 400,
    *,
    points: bool = False,
    output: Annotated[Path | None, Page] = None,
    seed: int = 0,
    as_json: bool = False,
) -> Any:
    """Survey small networks: where equation 14, the general formula and the multi-head bounds are met.

    With --points the page has the kinds of points of some networks, and says which are critical or singular.

    Args:
        max_width: largest width.
        max_depth: most layers.
        max_heads: most heads.
        limit: networks drawn from a family that has more.
        points: survey kinds of critical and singular points instead.
    """
    from agattn.experiments.studies.atlas import Atlas, atlas
    from agattn.reports.pages import atlas_page, points_page

    if points:
        leave_out("is for dimensions", "max_width", "max_depth", "max_heads", "limit")
        leave_out("is for dimensions; agattn singularities --json has the points of a network", "as_json")
    surveyed: Any = atlas(
        max_width, max_depth, max_heads, limit, points=points, seed=seed, progress=say_on_stderr
    )
    sizes = f"--max-width {max_width} --max-depth {max_depth} --max-heads {max_heads}"
    if points:
        page = points_page(surveyed, f"agattn atlas --points --seed {seed}")
    else:
        page = atlas_page(surveyed, f"agattn atlas {sizes} --limit {limit} --seed {seed}", limit, seed)
    if output is not None:
        write_file(output, page)
    if as_json:
        return Atlas(seed, limit, surveyed)
    if output is None:
        click.echo(page, nl=False)
    return 0
