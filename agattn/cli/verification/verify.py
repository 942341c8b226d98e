"""``agattn verify``: every claim for one layer or network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli import options, output
from agattn.cli.output import check_destination, print_json, progress, write_file, write_json

if TYPE_CHECKING:
    from agattn.verification.verify import Report


def _list_claims(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from agattn.claims import LAYER_CLAIMS, NETWORK_CLAIMS

        for title, claims in (("One layer", LAYER_CLAIMS), ("Networks", NETWORK_CLAIMS)):
            click.echo(f"{title}:")
            for claim in claims.values():
                assumes = f" (assumes {', '.join(h.text for h in claim.hypotheses)})" * bool(claim.hypotheses)
                click.echo(f"  {claim.id}\n    {claim.statement}{assumes}")
        context.exit()


@click.command(
    epilog="Examples: agattn verify -d 2 -o 1 --engine all; agattn verify --dims 4,3,4 --ranks 2,2 -t 3; "
    "agattn verify -d 3 -o 2 -a 2 --claim 3.4"
)
@options.attention_alone
@click.option(
    "--claim", "claims", multiple=True, metavar="ID",
    help="Only this claim, or all that it begins, such as theorem-3.4; may be repeated.",
)  # fmt: skip
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_claims, help="List the claims."
)
@options.engine("Who computes; all: every engine, and those that answer must agree.", "auto", "native", "all")
@options.field
@options.limits
@click.option("--eliminate", is_flag=True, help="Try elimination also where it is not expected to finish.")
@options.force
@options.seed
@options.file_option("--report", "Save verdicts, scripts and transcripts there.", folder=True)
@options.file_option("--certificate", "Write integers that prove the verdicts there; see agattn check.")
@options.json_flag
def command(
    architecture: Any, claims: tuple[str, ...], engine_name: str, field_name: str | None, timeout: float,
    memory: int, eliminate: bool, force: bool, seed: int, report: Path | None, certificate: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Check the paper's claims, and this project's, for one layer or one network."""
    options.one_blas_thread()
    from agattn import library
    from agattn.errors import InputError

    characteristic = None if field_name is None else options.characteristic(field_name)
    document: dict[str, Any] = {}
    if certificate is not None:
        check_destination(certificate)
        if max(getattr(architecture, "heads_by_layer", (1,))) > 1:
            from agattn.verification.certificate import make_heads_certificate

            document = make_heads_certificate(architecture)
        elif architecture.t < 2:
            raise InputError("--certificate needs t ≥ 2: nothing else is certified")
    if report is not None:
        check_destination(report, folder=True)
    with progress(str(architecture)) as update:
        result = library.verify(
            architecture, claims, engine_name,
            characteristic=characteristic, timeout=timeout, memory=memory, eliminate=eliminate,
            seed=seed, force=force, keep=report, progress=update,
        )  # fmt: skip
    if report is not None:
        write_json(report / "report.json", result.as_json())
        write_file(report / "report.md", _text(result), tell=False)
    if certificate is not None:
        from agattn.verification.certificate import dump, make_certificate

        ids = [verdict.claim for verdict in result.verdicts]
        document = document or make_certificate(architecture, ids, result.verdicts)
        write_file(certificate, dump(document) + "\n")
    if as_json:
        print_json(result.as_json())
    else:
        from agattn.display.text import show

        show(result, output.console())
    return result.exit_status


def _text(report: Report) -> str:
    """The report as Markdown."""
    lines = [f"# {report.layer}", "", "| claim | verdict | evidence | why |", "| --- | --- | --- | --- |"]
    for v in report.verdicts:
        lines.append(f"| {v.claim} | {v.status} | {v.known} | {v.witness.replace('|', chr(92) + '|')} |")
    lines += ["", *(f"{v.claim}: checked {v.scope}.\n" for v in report.verdicts if v.scope)]
    lines += ["Scripts and transcripts of the engines lie beside this file."]
    lines += [f"- {run.problem.task}, {run.installation}: `{run.script_sha256}`" for run in report.runs]
    return "\n".join(lines) + "\n"
