"""What ``verify``, ``certificate`` and ``check`` do in a shell beyond their verbs."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import click

from agattn.cli.generator import WORDS, Option, Reply, Writes
from agattn.cli.kinds import STDOUT, Outputs, chosen, leave_out
from agattn.cli.output import as_text, say_on_stderr, show_result, write_file
from agattn.errors import InputError
from agattn.files import check_file
from agattn.verification.checked import Checked


def verify(
    architecture: Any,
    *,
    list_claims: bool = False,
    output: Annotated[Outputs, Writes(folder=True)] = (),
    in_full: Annotated[bool, Option(flags="--all")] = False,
    as_json: bool = False,
    **given: Any,
) -> Any:
    """Check the paper's claims, and this project's, for one layer, one network or one model.

    agattn certificate writes integers that prove the verdicts.

    Args:
        output: write the verdicts, in a folder with scripts and transcripts.
        in_full: show witnesses, hypotheses and engines, and the claims that say nothing here.
    """
    from agattn.verification.verify import verify

    if given["characteristic"] and given["engine"] == "native":
        leave_out("is for engines; native results hold over QQ", "characteristic")
    folders = chosen(output, "")
    result = verify(architecture, keep=next(iter(folders), None), **given)
    words = click.get_current_context().meta[WORDS]
    result = result.replace(command=words, in_full=in_full or result.in_full)
    for folder in folders:
        write_file(folder / "report.json", as_text(result.as_json()), tell=False)
        write_file(folder / "report.md", _page(result), tell=False)
    if as_json and result.idle:
        say_on_stderr(result.idle)
    return result


def _page(report: Any) -> str:
    """The report as Markdown."""
    lines = [f"# {report.layer}", "", "| claim | verdict | evidence | why |", "| --- | --- | --- | --- |"]
    for v in report.verdicts:
        lines.append(f"| {v.claim} | {v.status} | {v.strength} | {v.witness.replace('|', chr(92) + '|')} |")
    lines += ["", *(f"{v.claim}: checked {v.scope}.\n" for v in report.verdicts if v.scope)]
    lines += ["Scripts and transcripts of the engines lie beside this file."]
    lines += [f"- {run.problem.task}, {run.installation}: `{run.script_sha256}`" for run in report.runs]
    return "\n".join(lines) + "\n"


def certificate(
    architecture: Any,
    *,
    list_claims: bool = False,
    output: Annotated[Outputs, Writes((".json", ".v"), documents=False)] = (),
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
        output: write the certificate, as .json for agattn check; of one layer as .v for Coq.
    """
    from agattn.verification.certificate import CertifiedClaims, certificate

    made = certificate(architecture, **given)
    texts = {path: made.text(ending) for ending in (".json", ".v") for path in chosen(output, ending)}
    for path, text in texts.items():
        write_file(path, text)
    if as_json:
        show_result(CertifiedClaims.of(architecture, made, next(map(str, texts), None)), True)
    elif STDOUT not in texts:
        show_result(made, False)
        if not texts:
            say_on_stderr("nothing was written; -O FILE.json writes the certificate")
    return int("refuted" in made.verdicts.values())


def check(
    path: Annotated[
        str | None, Option(click.Path(allow_dash=True), metavar="[FILE]", more={"required": False})
    ],
    *,
    output: Annotated[Outputs, Writes((".py",), default=".py")] = (),
) -> Any:
    """Check the certificate in FILE (- is stdin) with Python's integers alone.

    No engine, no FLINT and no sympy is used. The checker is one file of Python; -O checker.py copies it, so
    that you can read it, or run it where agattn is not installed.

    Exit status: 0 valid; 1 not valid; 2 unreadable, malformed or too large.

    Args:
        output: write what was checked; as .py the checker itself.
    """
    from agattn.checker import UnreadableError, check, described

    copies = chosen(output, ".py")
    if (not path) == (not copies):
        raise InputError("give either a certificate to check, or -O checker.py for a copy of the checker")
    for copy in copies:
        write_file(copy, files("agattn").joinpath("checker.py").read_text(encoding="utf-8"))
        return 0
    if path is not None and path != "-":
        check_file(Path(path))
    try:
        result = check(path)
    except UnreadableError as error:
        raise InputError(f"{path} cannot be checked: {error}") from error
    return Reply(Checked(result), described(result), 0 if result["valid"] else 1)
