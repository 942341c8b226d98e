"""``agattn ideal``: the equations of the neuromanifold, their number and their symmetry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.algebra.characters import module_name
from agattn.architectures import SingleLayer
from agattn.cli import options
from agattn.cli.output import check_destination, print_json, progress, write_file

if TYPE_CHECKING:
    from agattn.engines.locate import Installation
    from agattn.engines.run import Limits


@click.command(epilog="Example: agattn ideal -d 3 -o 1 --max-degree 4 -O equations.m2 --format macaulay2")
@options.single_layer
@options.option("--max-degree", type=click.IntRange(min=1), default=4, metavar="N", help="Last degree.")
@options.option(
    "--method", type=click.Choice(["native", "macaulay2", "singular"]), default="native",
    help="Modules by native linear algebra, or elimination in an engine.",
)  # fmt: skip
@options.option("--workers", type=click.IntRange(min=1), default=1, metavar="N", help="Processes.")
@options.file_option("-O", "--output", "Write all minimal generators found to FILE.")
@options.option(
    "--format", "form", type=click.Choice(["sympy", "macaulay2", "singular", "json"]), default="macaulay2",
    help="Format of FILE.",
)  # fmt: skip
@click.option("--complete", is_flag=True, help="Ask an engine whether these generate the whole ideal.")
@options.option(
    "--engine", "engine_name", type=click.Choice(["macaulay2", "singular"]), default="macaulay2",
    help="Engine for --complete.",
)  # fmt: skip
@options.field
@options.limits
@options.seed
@options.force
@options.json_flag
def command(
    architecture: SingleLayer, max_degree: int, method: str, workers: int, output: Path | None, form: str,
    complete: bool, engine_name: str, field_name: str | None, timeout: float, memory: int, seed: int,
    force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Find the equations of the Zariski closure of the neuromanifold up to a degree.

    Each degree of the ideal is a sum of modules under base change in the rows of V, the columns of A and the
    index that V and A share. The field matters only to an engine; native results hold over ℚ.
    """
    characteristic = options.characteristic(field_name)
    if method != "native":
        reason = f"is for --method native; {method} finds the whole ideal itself"
        options.leave_out(reason, "complete", "output", "form", "workers", "engine_name", "seed")
    if output is None:
        options.leave_out("is for the file that -O names", "form")
    else:
        check_destination(output)
    if not complete:
        options.leave_out("is for --complete", "engine_name")
    if method == "native" and not complete:
        options.leave_out("is for engines, with --complete or another --method", "timeout", "memory")
        if output is None:
            options.leave_out("is for engines and for -O; native results hold over QQ", "field_name")
    if method != "native":
        from agattn.engines.elimination import eliminate

        installation, limits = _engine(method, timeout, memory)
        with progress(f"{installation.engine.title}: elimination for {architecture}"):
            ideal = eliminate(
                architecture, max_degree, installation,
                characteristic=characteristic, limits=limits, force=force,
            )  # fmt: skip
        _show(architecture, ideal.as_json(), as_json)
        return
    options.one_blas_thread()
    from agattn.geometry.ideal.ideal import compute_ideal

    with progress(f"{architecture}: equations to degree {max_degree}") as step:
        ideal = compute_ideal(architecture, max_degree, workers=workers, seed=seed, force=force)
        document = ideal.as_json()
        if output is not None:
            from agattn.geometry.ideal.export import export

            step("writing out all equations")
            write_file(output, export(ideal, form, characteristic))
        if complete:
            from agattn.engines.elimination import check_generators

            step("asking the engine")
            installation, limits = _engine(engine_name, timeout, memory)
            found = check_generators(ideal, installation, characteristic=characteristic, limits=limits)
            document["complete"] = found.as_json()
    _show(architecture, document, as_json)
    if output is not None:
        click.echo(f"wrote {output}", err=True)


def _engine(name: str, timeout: float, memory: int) -> tuple[Installation, Limits]:
    from agattn.engines.engine import engine_named
    from agattn.engines.locate import locate
    from agattn.engines.run import Limits

    return locate(engine_named(name)), Limits(timeout, memory)


#: By the letter of the coordinates.
LEGEND = {
    "y": "y_(c,b,i,k): coefficient of u_i u_k in V_c·A_b; S(λ)⊗S(μ)⊗S(ν): module of GL(d')×GL(d)×GL(d).",
    "z": "z_(c,i,j,k): coefficient of x_i x_j x_k in entry c; S(λ)⊗S(μ): module of GL(d')×GL(d).",
}


def _show(layer: SingleLayer, document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    degree = "" if document["degree"] is None else f", degree {document['degree']}"
    click.echo(f"{layer}{degree}")
    keys = ("degree", "ideal_dimension", "hilbert_function", "minimal_generators", "evidence")
    rows = [["n", "equations", "Hilbert function", "minimal generators", "evidence"]]
    rows += [[str(piece[key]) for key in keys] for piece in document["degrees"]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    click.echo()
    for row in rows:
        click.echo("   ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip())
    if document["generators"]:
        click.echo(f"\n{LEGEND[layer.letter]}")
    for module in document["generators"] or []:
        name = module_name(module["highest_weight"])
        click.echo(f"\ndegree {module['degree']}, {module['dimension']} equations {name}")
        if module["name"]:
            click.echo(f"  {module['name']}")
        equation = module["equation"]
        click.echo(f"  {equation if len(equation) <= 1000 else equation[:1000] + ' ...'}")
    if "complete" in document:
        click.echo(f"\n{document['complete']['conclusion']} (over {document['complete']['field']})")
