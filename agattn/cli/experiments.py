"""What ``train`` and ``study`` do in a shell beyond their verbs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import click

from agattn.cli.generator import Option, Writes
from agattn.cli.jobs import carry_out, check_report, example, number_of_jobs, read_asked, work_of
from agattn.cli.kinds import InputFile, Outputs, chosen
from agattn.cli.output import DOCUMENTS, say_on_stderr, write_documents
from agattn.files import about

#: Lines of JSON, the table, and a folder for the report about them.
Lines = Writes((".jsonl",), folder=True, default=".jsonl")


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
    output: Annotated[Outputs, Lines] = (),
    as_json: bool = False,
    **given: Any,
) -> int:
    """Ask one question, or several, about all architectures of a grid; print a table of the answers.

    Grids that ship have names: audit, every claim about small layers; atlas, dimensions of small networks;
    zoo, models of all kinds; published, whole published models. With --json, or -O x.jsonl, each answer is
    one JSON document on a line (JSON Lines). Jobs that are done are kept. After an interrupt the same command
    goes on where it stopped.

    Args:
        part: only every N-th job, from the K-th on.
        retry_undecided: repeat the jobs that were undecided, or not proved.
        dry_run: only say how many jobs there are, and how many of them are cached.
        output: write the lines that --json prints, the table, or a report about the results.
    """
    from agattn.experiments.studies.grid import grid_text, read_grid
    from agattn.experiments.studies.jobs import StudyLines, row, rows_sheet, versions_for, written

    report = next(iter(chosen(output, "")), None)
    work = work_of(output=output, as_json=as_json, **given)
    instead = {"timeout": timeout, "memory": memory, "seed": seed}
    asked = {k: v for k, v in instead.items() if v is not None}
    wanted = read_grid(read_asked(grid, "a grid", grid_text), asked, force=force)
    jobs = wanted.jobs if part is None else wanted.part(part)
    versions = versions_for(jobs[0].engine) if jobs else {}
    if dry_run:
        known = work.cached(jobs, versions, retry_undecided)
        click.echo(f"{number_of_jobs(len(jobs))}, {known} of them cached")
        return 0
    if report is not None:
        check_report(report, "Study of")
    lines: list[Any] = []
    rows: list[Any] = []

    def write(line: Any) -> list[str]:
        rows.append(row(line))
        if report is not None or chosen(output, *DOCUMENTS):
            lines.append(line)
        return [written(line)]

    status = carry_out(
        jobs, versions, work, write, lambda: rows_sheet(rows), retry_open=retry_undecided, force=force
    )
    write_documents(StudyLines(tuple(lines)), output)
    if report is not None and lines:
        from agattn.reports.study_report import study_report

        made_by = f"agattn study {shlex.quote(grid.name)} -O DIR"
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
    output: Annotated[Outputs, Lines] = (),
    as_json: bool = False,
    **given: Any,
) -> int:
    """Train attention from many seeds, and print a table of where in the geometry the runs ended.

    The method is gradient flow, gradient descent or Langevin dynamics; one layer has an exact loss. With
    --json, or -O x.jsonl, each run is one JSON document on a line (JSON Lines), with the loss, stratum, ranks
    and distances, the drift of conserved quantities, and the zeros of the Hessian. agattn keeps finished
    runs. After an interrupt the same command goes on where it stopped.

    Args:
        seeds: seeds of all experiments, in place of those in the file.
        dry_run: only say how many runs there are, and how many jobs of them are cached.
        output: write the lines that --json prints, the table, or a report about the runs.
    """
    from agattn.experiments.studies.jobs import versions_for
    from agattn.experiments.training.experiment import read_experiments
    from agattn.experiments.training.training import Runs, check, training_jobs

    report = next(iter(chosen(output, "")), None)
    work = work_of(output=output, as_json=as_json, **given)
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

    status = carry_out(jobs, versions, work, write, lambda: Runs(tuple(lines)).sheet())
    write_documents(Runs(tuple(lines)), output)
    for failure in dict.fromkeys(failures):
        say_on_stderr(failure)
    if report is not None and lines:
        made_by = f"agattn train {shlex.quote(config.name)} -O DIR"
        files = training_report(lines, text, made_by).save(report)
        say_on_stderr(f"wrote {files[0]} and {len(files) - 1} more")
    return status
