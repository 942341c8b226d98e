"""``agattn verify``: every claim for one layer or network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli import options
from agattn.cli.output import STDOUT, progress, say_on_stderr, show_result, write_file, write_json

if TYPE_CHECKING:
    from agattn.verification.report import Report


@click.command(
    epilog="Examples: agattn verify -d 2 -o 1 --engine all; agattn verify --dims 4,3,4 --ranks 2,2 -t 3; "
    "agattn verify -d 3 -o 2 -a 2 --claim 3.4; agattn verify --model model.toml"
)
@options.layer_or_network
@options.claims
@options.list_claims
@options.engine(
    "The engine that computes; all: ask every engine, and compare the answers.", "auto", "native", "all"
)
@options.field
@options.limits
@click.option("--eliminate", is_flag=True, help="Try elimination also where it is not expected to finish.")
@options.force
@options.seed
@options.file_option("--report", "Save verdicts, scripts and transcripts there.", folder=True)
@options.file_option(
    "--certificate", "Write integers that prove the verdicts there; see agattn check.", **options.JSON_FILE
)  # fmt: skip
@options.json_flag
def command(
    architecture: Any, claims: tuple[str, ...], engine_name: str, field_name: str | None, timeout: float,
    memory: int, eliminate: bool, force: bool, seed: int, report: Path | None, certificate: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Check the paper's claims, and this project's, for one layer, one network or one model."""
    options.one_blas_thread()
    from agattn.verification.verify import verify

    characteristic = None if field_name is None else options.characteristic(field_name)
    if characteristic and engine_name == "native":
        options.leave_out("is for engines; native results hold over QQ", "field_name")
    if certificate is not None:
        from agattn.verification.certificate import check_certifiable

        check_certifiable(architecture, claims)
    with progress(str(architecture)) as update:
        result = verify(
            architecture, claims, engine_name,
            characteristic=characteristic, timeout=timeout, memory=memory, eliminate=eliminate,
            seed=seed, force=force, keep=report, progress=update,
        )  # fmt: skip
    if report is not None:
        write_json(report / "report.json", result.as_json())
        write_file(report / "report.md", _text(result), tell=False)
    if certificate is not None:
        _certify(result, certificate)
    if certificate != STDOUT:
        show_result(result, as_json)
    if as_json and result.idle:
        say_on_stderr(result.idle)
    return result.exit_status


def _certify(report: Report, file: Path) -> None:
    """Write the certificate of those of the claims that have one, and say which these are."""
    from agattn.verification.certificate import certify, dump

    found = certify(report.layer, [*report], report.verdicts)
    write_file(file, dump(found) + "\n")
    from agattn.sheet.terminal import print_folded

    print_folded(f"certified: {', '.join(found.certified)}", sys.stderr)
    if found.uncertified:
        print_folded(f"not certified: {', '.join(found.uncertified)}", sys.stderr)


def _text(report: Report) -> str:
    """The report as Markdown."""
    lines = [f"# {report.layer}", "", "| claim | verdict | evidence | why |", "| --- | --- | --- | --- |"]
    for v in report.verdicts:
        lines.append(f"| {v.claim} | {v.status} | {v.known} | {v.witness.replace('|', chr(92) + '|')} |")
    lines += ["", *(f"{v.claim}: checked {v.scope}.\n" for v in report.verdicts if v.scope)]
    lines += ["Scripts and transcripts of the engines lie beside this file."]
    lines += [f"- {run.problem.task}, {run.installation}: `{run.script_sha256}`" for run in report.runs]
    return "\n".join(lines) + "\n"
