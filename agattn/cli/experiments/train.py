"""``agattn train``: experiments of training, and where in the geometry they end."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli import options
from agattn.cli.jobs import Work, carry_out, example_option, job_options, number_of_jobs, read_asked
from agattn.cli.output import check_report, say_on_stderr
from agattn.errors import InputError

if TYPE_CHECKING:
    from agattn.experiments.studies.jobs import Line
    from agattn.experiments.training.training import RunEnd


@click.command(
    epilog="Examples: agattn train --example > train.toml; agattn train train.toml --workers 2 --report DIR"
)
@click.argument("config", metavar="CONFIG.toml", type=options.INPUT)
@example_option("a file of experiments", "agattn.experiments.training.experiment")
@job_options
@click.option("--seeds", metavar="A..B", help="Seeds of all experiments, in place of those in the file.")
@click.option(
    "--dry-run", is_flag=True, help="Only say how many runs there are, and how many jobs of them are cached."
)
@options.file_option("--report", "Write report.html and report.md about the runs there.", folder=True)
def command(config: Path, work: Work, seeds: str | None, dry_run: bool, report: Path | None) -> int:
    """Train attention from many seeds, and print a table of where in the geometry the runs ended.

    The method is gradient flow, gradient descent or Langevin dynamics; one layer has an exact loss. With
    --json, or -O, each run is one JSON document on a line (JSON Lines), with the loss, stratum, ranks and
    distances, the drift of conserved quantities, and the zeros of the Hessian. agattn keeps finished runs.
    After an interrupt the same command goes on where it stopped.
    """
    from agattn.experiments.studies.jobs import versions_for
    from agattn.experiments.training.experiment import read_experiments
    from agattn.experiments.training.training import check, runs_sheet, training_jobs

    text = read_asked(config, "a file of experiments")
    experiments = read_experiments(text, seeds)
    for experiment in experiments:
        try:
            check(experiment)
        except InputError as error:
            raise InputError(f"{experiment.name}: {error}") from None
    jobs = training_jobs(experiments)
    versions = versions_for("native")
    if dry_run:
        known = work.cached(jobs, versions)
        runs = sum(len(experiment.seeds) for experiment in experiments)
        click.echo(f"{runs} runs in {number_of_jobs(len(jobs))}, {known} of them cached")
        return 0
    if report is not None:
        from agattn.reports.training_report import TITLE

        check_report(report, TITLE)
    lines: list[dict[str, Any]] = []
    names = iter([job.name for job in jobs])
    failures: list[str] = []
    ended: list[RunEnd] = []

    def write(line: Line) -> list[str]:
        name = next(names)
        if "error" in line:
            failures.append(f"{name}: {line['error']['message']}")
            return []
        runs = [{**run, "experiment": name} for run in line["result"]["runs"]]
        lines.extend(runs if report is not None else [])
        ended.extend((name, run["outcome"], run["stratum"], run["loss"], run["drift"]) for run in runs)
        return [json.dumps(run, ensure_ascii=False) for run in runs]

    status = carry_out(jobs, versions, work, write, lambda: runs_sheet(ended))
    for failure in dict.fromkeys(failures):
        say_on_stderr(failure)
    if report is not None and lines:
        from importlib.util import find_spec

        from agattn.reports.training_report import training_report

        made_by = f"agattn train {shlex.quote(config.name)} --report DIR"
        pictures = find_spec("matplotlib") is not None
        files = training_report(lines, text, made_by, pictures).save(report)
        say_on_stderr(f"wrote {files[0]} and {len(files) - 1} more")
    return status
