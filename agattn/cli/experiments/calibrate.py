"""``agattn calibrate``: points with known learning coefficients, and what samplers make of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from agattn.cli import interrupts, output
from agattn.cli.options import file_option, json_flag, leave_out, one_blas_thread, option, seed
from agattn.cli.output import progress, say_on_stderr, write_file
from agattn.files import growing


@click.command(epilog="Examples: agattn calibrate; agattn calibrate --out calibration --quick")
@file_option("--out", "folder", "Sample, and write points, estimates, tables and a plot there.", folder=True)
@option(
    "--points",
    "number",
    type=click.IntRange(1, 100),
    metavar="N",
    default=30,
    help="With --out: how many points.",
)
@click.option("--quick", is_flag=True, help="With --out: few samples and 3 points unless --points is given.")
@click.option("--devinterp", is_flag=True, help="With --out: run devinterp, too; needs the extra slt.")
@click.option("--free-energy", is_flag=True, help="With --out: only slopes of free energies in log n.")
@seed
@json_flag
def command(
    folder: Path | None, number: int, quick: bool, devinterp: bool, free_energy: bool, seed: int,
    as_json: bool,
) -> None:  # fmt: skip
    """List 100 weights with known learning coefficients λ, or estimate λ there by sampling.

    Three samplers are tried: tempered Markov chains and volumes, which are exact in the limit, and at every
    third point SGLD with 36 settings. An interrupted run keeps its estimates. The same seed
    gives the same files.
    """
    one_blas_thread()
    from agattn.experiments.calibration.calibration import calibration
    from agattn.sheet.terminal import show

    if folder is None:
        leave_out("is for sampling, with --out", "number", "quick", "devinterp", "free_energy")
        found = calibration()
        if not as_json:
            show(found.sheet(), output.console(soft_wrap=True))
    else:
        context = click.get_current_context()
        chosen = context.get_parameter_source("number") is not click.core.ParameterSource.DEFAULT
        count = number if chosen or not quick else 3
        found = calibration(devinterp=devinterp)
        words = "--quick " * quick + "--free-energy " * free_energy
        shown = f"agattn calibrate --points {count} {words}--seed {seed} --out DIR"
        write_file(folder / "points.json", output.as_text({"points": found["points"]}), tell=False)
        lines = _sample(folder, count, quick, devinterp, free_energy, seed)
        _write_report(folder, lines, shown, say=not as_json)
        found = replace(found, estimates=tuple(lines))
    if as_json:
        output.print_json(found.as_json())


def _sample(
    folder: Path, count: int, quick: bool, devinterp: bool, free_energy: bool, seed: int
) -> list[dict[str, Any]]:
    """Estimate, and write each line as soon as it is there."""
    from agattn.cli.ending import fail
    from agattn.experiments.calibration.calibration import calibration

    lines: list[dict[str, Any]] = []
    path = folder / "estimates.jsonl"
    try:
        with growing(path) as file, progress("calibrate") as tell:

            def write(line: dict[str, Any]) -> None:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
                lines.append(line)

            options = {"quick": quick, "devinterp": devinterp, "free_energy": free_energy}
            calibration(count, **options, seed=seed, progress=tell, written=write)
    except KeyboardInterrupt:
        fail(f"interrupted; {len(lines)} estimates are in {path}.part", interrupts.STATUS)
    return lines


def _write_report(folder: Path, lines: list[dict[str, Any]], shown: str, say: bool) -> None:
    import importlib.util

    from agattn.reports.calibration_report import calibration_page, draw_bias, tables
    from agattn.reports.drawing import save
    from agattn.sheet.terminal import print_table

    write_file(folder / "report.md", calibration_page(lines, shown), tell=False)
    sgld = any(line["method"] == "sgld" for line in lines)
    if sgld and importlib.util.find_spec("matplotlib") is not None:
        save(draw_bias(lines), folder / "bias.svg")
    if say:
        console = output.console(soft_wrap=True)
        for table in tables(lines, 10):
            print_table(table, console)
            console.print()
    say_on_stderr(f"wrote {folder}")
