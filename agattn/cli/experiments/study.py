"""``agattn study``: the same questions about many architectures."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agattn.cli import options
from agattn.cli.jobs import Work, carry_out, example_option, job_options, number_of_jobs, read_asked
from agattn.cli.output import check_report, say_on_stderr

if TYPE_CHECKING:
    from agattn.experiments.studies.jobs import Line


@click.command(
    epilog="Examples: agattn study --example > grid.toml; agattn study grid.toml --workers 4 -O results.jsonl"
)
@click.argument("grid", metavar="GRID.toml", type=options.INPUT)
@example_option("a grid", "agattn.experiments.studies.grid")
@job_options
@click.option("--part", metavar="K/N", help="Only every N-th job, from the K-th on.")
@click.option("--retry-undecided", is_flag=True, help="Repeat the jobs that were undecided, or not proved.")
@click.option(
    "--timeout", type=float, metavar="SECONDS", help="Time limit in seconds, in place of the grid's."
)
@click.option("--memory", type=int, metavar="MIB", help="Memory limit in MiB, in place of the grid's.")
@click.option("--seed", type=int, metavar="N", help="Seed, in place of the grid's.")
@click.option("--force", is_flag=True, help="Go beyond the limits on the number of jobs and on their size.")
@click.option(
    "--dry-run", is_flag=True, help="Only say how many jobs there are, and how many of them are cached."
)
@options.file_option("--report", "Write report.html and report.md about the results there.", folder=True)
def command(
    grid: Path, work: Work, part: str | None, retry_undecided: bool, timeout: float | None,
    memory: int | None, seed: int | None, force: bool, dry_run: bool, report: Path | None,
) -> int:  # fmt: skip
    """Ask one question, or several, about all architectures of a grid; print a table of the answers.

    With --json, or -O, each answer is one JSON document on a line (JSON Lines). Jobs that are done are kept.
    After an interrupt the same command goes on where it stopped.
    """
    from agattn.experiments.studies.grid import read_grid
    from agattn.experiments.studies.jobs import versions_for
    from agattn.experiments.studies.lines import row, sheet, written

    given = {"timeout": timeout, "memory": memory, "seed": seed}
    chosen = {k: v for k, v in given.items() if v is not None}
    wanted = read_grid(read_asked(grid, "a grid"), chosen, force=force)
    jobs = wanted.jobs if part is None else wanted.part(part)
    versions = versions_for(jobs[0].engine) if jobs else {}
    if dry_run:
        known = work.cached(jobs, versions, retry_undecided)
        click.echo(f"{number_of_jobs(len(jobs))}, {known} of them cached")
        return 0
    if report is not None:
        check_report(report, "Study of")
    lines: list[Line] = []
    rows: list[tuple[str, str, str, str]] = []

    def write(line: Line) -> list[str]:
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
