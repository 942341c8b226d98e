"""What ``verify``, ``certificate`` and ``check`` do in a shell beyond their verbs."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import click

from agattn.cli.generator import WORDS, JsonFile, Option
from agattn.cli.kinds import STDOUT, Destination, leave_out
from agattn.cli.output import as_text, print_json, say_on_stderr, show_result, write_file
from agattn.errors import InputError
from agattn.files import check_file
from agattn.sheet.terminal import print_folded
from agattn.verification.certificate import certify, check_certifiable, dump
from agattn.verification.checked import Checked


def verify(
    architecture: Any,
    *,
    list_claims: bool = False,
    report: Annotated[Path | None, Option(Destination(folder=True), metavar="DIR")] = None,
    certificate: Annotated[Path | None, JsonFile] = None,
    in_full: Annotated[bool, Option(flags="--all")] = False,
    as_json: bool = False,
    **given: Any,
) -> Any:
    """Check the paper's claims, and this project's, for one layer, one network or one model.

    Args:
        report: save verdicts, scripts and transcripts there.
        certificate: write integers that prove the verdicts there; see agattn check.
        in_full: show witnesses, hypotheses and engines, and the claims that say nothing here.
    """
    from agattn.verification.verify import verify

    if given["characteristic"] and given["engine"] == "native":
        leave_out("is for engines; native results hold over QQ", "characteristic")
    if certificate is not None:
        check_certifiable(architecture, given["claims"])
    result = verify(architecture, keep=report, **given)
    words = click.get_current_context().meta[WORDS]
    result = result.replace(command=words, in_full=in_full or result.in_full)
    if report is not None:
        write_file(report / "report.json", as_text(result.as_json()), tell=False)
        write_file(report / "report.md", _page(result), tell=False)
    if certificate is not None:
        _certify(result, certificate)
    if as_json and result.idle:
        say_on_stderr(result.idle)
    return result.exit_status if certificate == STDOUT else result


def _certify(report: Any, file: Path) -> None:
    """Write the certificate of those of the claims that have one, and say which these are."""
    made = certify(report.layer, [*report], report.verdicts)
    write_file(file, dump(made) + "\n")
    print_folded(f"certified: {', '.join(made.verdicts)}", sys.stderr)
    if made.uncertified:
        print_folded(f"not certified: {', '.join(made.uncertified)}", sys.stderr)


def _page(report: Any) -> str:
    """The report as Markdown."""
    lines = [f"# {report.layer}", "", "| claim | verdict | evidence | why |", "| --- | --- | --- | --- |"]
    for v in report.verdicts:
        lines.append(f"| {v.claim} | {v.status} | {v.known} | {v.witness.replace('|', chr(92) + '|')} |")
    lines += ["", *(f"{v.claim}: checked {v.scope}.\n" for v in report.verdicts if v.scope)]
    lines += ["Scripts and transcripts of the engines lie beside this file."]
    lines += [f"- {run.problem.task}, {run.installation}: `{run.script_sha256}`" for run in report.runs]
    return "\n".join(lines) + "\n"


def certificate(
    architecture: Any,
    *,
    list_claims: bool = False,
    output: Annotated[Path | None, Option(Destination(".json"), "-O --output", "FILE")] = None,
    as_json: bool = False,
    **given: Any,
) -> Any:
    """Write a certificate: integers that prove the verdicts on claims, which anyone can check again.

    The verdicts are computed natively, without an engine. A refuted claim is certified as well, by the points
    at which the claim fails. Claims without a certificate are named, with the reason. Without -O the table
    says what a certificate would prove, and nothing is written.

    Exit status: 0 every certified claim is confirmed; 1 a refutation is certified; 2 no claim can be
    certified.

    Args:
        output: write the certificate there, for agattn check.
    """
    from agattn.verification.certificate import CertifiedClaims, certificate, dump

    made = certificate(architecture, **given)
    if output is not None:
        write_file(output, dump(made) + "\n")
    file = None if output is None else str(output)
    if as_json:
        show_result(CertifiedClaims.of(architecture, made, file), True)
    elif output != STDOUT:
        show_result(made, False)
        if output is None:
            say_on_stderr("nothing was written; -O FILE.json writes the certificate")
    return int("refuted" in made.verdicts.values())


def check(
    path: Annotated[
        str | None, Option(click.Path(allow_dash=True), metavar="[FILE]", more={"required": False})
    ],
    *,
    write: Annotated[Path | None, Option(Destination(".py"), metavar="FILE")] = None,
    as_json: bool = False,
) -> Any:
    """Check the certificate in FILE (- is stdin) with Python's integers alone.

    No engine, no FLINT and no sympy is used. The checker is one file of Python; --write copies the file, so
    that you can read it, or run it where agattn is not installed.

    Exit status: 0 valid; 1 not valid; 2 unreadable, malformed or too large.

    Args:
        write: write the checker as one file of Python.
    """
    from agattn.checker import UnreadableError, check, described

    if (not path) == (write is None):
        raise InputError("give either a certificate to check, or --write FILE for a copy of the checker")
    if write is not None:
        write_file(write, files("agattn").joinpath("checker.py").read_text(encoding="utf-8"))
        return 0
    if path is not None and path != "-":
        check_file(Path(path))
    try:
        result = check(path)
    except UnreadableError as error:
        raise InputError(f"{path} cannot be checked: {error}") from error
    if as_json:
        print_json(Checked(result).as_json())
    else:
        print_folded(described(result))
    return 0 if result["valid"] else 1
