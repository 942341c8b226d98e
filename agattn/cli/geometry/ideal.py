"""``agattn ideal``: the equations of the neuromanifold, their number and their symmetry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.algebra.characters import module_name
from agattn.architectures import Architecture, SingleLayer, as_layer
from agattn.cli import options
from agattn.cli.output import STDOUT, check_destination, print_json, progress, write_file
from agattn.errors import InputError

if TYPE_CHECKING:
    from agattn.engines.locate import Installation
    from agattn.engines.run import Limits


@click.command(
    epilog="Examples: agattn ideal -d 3 -o 1 --max-degree 4 -O equations.m2; "
    "agattn ideal -d 2 -o 1 --format latex; agattn ideal -d 2 -o 1 --complete; "
    "agattn ideal -d 3 -o 1 -t 1 --max-degree 8 --invariants; "
    "agattn ideal --model examples/maps.py:cubic --max-degree 2; "
    "agattn ideal --dims 3,1 --ranks 1 --heads 2 -t 2 --max-degree 3"
)
@options.layer_or_network
@options.option("--max-degree", type=click.IntRange(min=1), default=4, metavar="N", help="Last degree.")
@options.engine(
    "Who finds the equations: modules by native linear algebra, or elimination in an engine. With --complete "
    "the engine that is asked.  [default: native; for --complete one that is installed]",
    "native", default=None,
)  # fmt: skip
@options.engine("", "native", default=None, flag="--method", hidden=True)  # the name in earlier versions
@options.option("--workers", type=click.IntRange(1, 512), default=1, metavar="N", help="Processes.")
@options.file_option(
    "-O", "--output", "Write all minimal generators found to FILE: .m2, .sing, .py (sympy), .tex or .json."
)
@click.option(
    "--format", "form", type=click.Choice(["sympy", "macaulay2", "singular", "latex", "json"]),
    help="Format of FILE, or without -O of all generators on stdout.  [default: by the ending of FILE]",
)  # fmt: skip
@click.option(
    "--complete", is_flag=True, help="Ask an engine whether these generate the whole ideal, in all degrees."
)
@click.option(
    "--invariants",
    is_flag=True,
    help="Compare with the invariants that are named in the literature, for d' = 1. At t = 1 and d = 3 give "
    "--max-degree 8.",
)
@options.field
@options.limits
@options.seed
@options.force
@options.json_flag
def command(
    architecture: Architecture, max_degree: int, engine_name: str | None, method: str | None, workers: int,
    output: Path | None, form: str | None, complete: bool, invariants: bool, field_name: str | None,
    timeout: float, memory: int, seed: int, force: bool, as_json: bool,
) -> int:  # fmt: skip
    """Find the equations of the Zariski closure of the neuromanifold up to a degree.

    Each degree of the ideal is a sum of modules under base change in the rows of V, the columns of A and the
    index that V and A share. The field matters only to an engine; native results hold over ℚ.

    Of networks and models the ideal is found multidegree by multidegree, in the coefficients of their output
    in X; or whole, by elimination in an engine.
    """
    options.one_blas_thread()
    layer, chosen = as_layer(architecture), engine_name or method
    if layer is None:
        reason = f"is for one lightning head, and {architecture} is none"
        options.leave_out(reason, "workers", "complete", "invariants")
    characteristic = options.characteristic(field_name)
    if chosen not in (None, "native") and not complete:
        reason = f"is for native computation; {chosen} finds the whole ideal itself"
        options.leave_out(reason, "workers", "invariants", "output", "form", "seed")
        return _eliminated(architecture, chosen, max_degree, characteristic, timeout, memory, force, as_json)
    if complete and chosen == "native":
        raise InputError("--complete asks an engine; leave out --engine native, or name another")
    output, form = _destination(output, form)
    if not complete:
        other = "--engine" if layer is None else "--complete or another --engine"
        options.leave_out(f"is for engines, with {other}", "timeout", "memory")
        if output is None:
            engines = "" if layer is None else "engines and for "
            options.leave_out(f"is for {engines}-O; native results hold over QQ", "field_name")
    from agattn.verification.verbs import ideal

    complete_by, compared, text = None, None, ""
    with progress(f"{layer or architecture}: equations to degree {max_degree}") as step:
        found: Any = ideal(architecture, max_degree, workers=workers, seed=seed, force=force, progress=step)
        _ = found.generators  # which are found once, here
        if form is not None:
            from agattn.geometry.ideal.export import export

            step("writing out all equations")
            text = export(found, form, characteristic)
        if invariants and layer is not None:
            from agattn.geometry.ideal.invariants import compare, last_degree

            step("building the named invariants")
            compared = compare(found, last_degree(layer, max_degree))
        if complete:
            from agattn.engines.elimination import check_generators

            step("asking the engine")
            installation, limits = _engine(chosen, timeout, memory)
            complete_by = check_generators(found, installation, characteristic=characteristic, limits=limits)
    if output is not None:
        write_file(output, text)
    if output != STDOUT:
        if layer is not None:
            from agattn.engines.elimination import examined

            found = examined(found, compared, complete_by)
        _show(architecture, found.as_json(), as_json)
    if compared is not None and not as_json:
        click.echo(f"\n{compared}", err=output == STDOUT)
    if complete_by is not None and not as_json:
        click.echo(f"\n{complete_by}", err=output == STDOUT)
    return 3 if complete_by is not None and complete_by.whole is None else 0


def _show(architecture: Architecture, document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(document)
    elif (layer := as_layer(architecture)) is not None:
        _show_layer(layer, document)
    else:
        _show_model(architecture, document)


def _show_model(architecture: Architecture, document: dict[str, Any]) -> None:
    dimension = "dimension not proved" if document["dimension"] is None else f"dim {document['dimension']}"
    click.echo(f"{architecture}: {dimension} in {document['ambient']} coordinates")
    _table(document)
    if document["affine"]:
        click.echo(
            "\nThe image is no cone: y_0 = 1, and degree n is that of polynomials of degree at most n."
        )
    click.echo()
    coordinates = document["coordinates"]
    for coordinate in coordinates[:MOST_COORDINATES]:
        click.echo(f"{coordinate['name']}: {coordinate['meaning']}")
    if len(coordinates) > MOST_COORDINATES:
        click.echo(f"... and {len(coordinates) - MOST_COORDINATES} more coordinates, which --json lists")
    if document["whole"]:
        click.echo("")
    for equation in document["whole"] or []:
        click.echo(_short(equation))
    for group in document["generators"] or []:
        several = "equations" if group["dimension"] > 1 else "equation"
        known = "" if group["evidence"] == "proved" else f" ({group['evidence']})"
        weight = ", ".join(map(str, group["multidegree"][:-1]))
        click.echo(
            f"\ndegree {group['degree']}, {group['dimension']} {several}{known}, multidegree ({weight})"
        )
        for equation in group["equations"]:
            click.echo(f"  {_short(equation)}")


def _eliminated(
    architecture: Architecture, name: str, max_degree: int, characteristic: int, timeout: float, memory: int,
    force: bool, as_json: bool,
) -> int:  # fmt: skip
    from agattn.engines.engine import engine_named
    from agattn.verification.verbs import ideal

    with progress(f"{engine_named(name).title}: elimination for {architecture}"):
        found = ideal(
            architecture, max_degree, name,
            characteristic=characteristic, timeout=timeout, memory=memory, force=force,
        )  # fmt: skip
    _show(architecture, found.as_json(), as_json)
    if not as_json:
        degrees = ", ".join(f"{many} of degree {n}" for n, many in found.generators_by_degree.items())
        field, evidence = f"ZZ/{characteristic}" if characteristic else "QQ", found.degrees[0].evidence
        said = f"elimination finds all of I(M̄); generators: {degrees or 'none'} (over {field}: {evidence})"
        click.echo(f"\ncomplete: {said}")
    return 0


def _destination(output: Path | None, form: str | None) -> tuple[Path | None, str | None]:
    """Where equations go, and in which format."""
    if form is not None and output is None:
        output = STDOUT
    if output is not None:
        form = form or _format_of(output)
        check_destination(output)
    return output, form


def _format_of(path: Path) -> str:
    """The format that the ending of a file says; Macaulay2 on stdout."""
    from agattn.geometry.ideal.export import ENDINGS

    if path == STDOUT:
        return "macaulay2"
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"cannot tell a format by {path}; end it in {', '.join(ENDINGS)}, or give --format")
    return ENDINGS[path.suffix.lower()]


def _engine(name: str | None, timeout: float, memory: int) -> tuple[Installation, Limits]:
    """The engine of this name, or the first that is installed and knows prime ideals, and its limits."""
    from agattn.engines.elimination import DECIDE_PRIMALITY
    from agattn.engines.engine import engine_named
    from agattn.engines.locate import candidates, locate
    from agattn.engines.run import Limits

    if name is None:
        name = next((name for name in DECIDE_PRIMALITY if candidates(engine_named(name))), "macaulay2")
    return locate(engine_named(name)), Limits(timeout, memory)


#: Coordinates of a model that are explained on the screen.
MOST_COORDINATES = 40
#: By the letter of the coordinates.
LEGEND = {
    "y": "y_(c,b,i,k): coefficient of u_i u_k in V_c·A_b; S(λ)⊗S(μ)⊗S(ν): module of GL(d')×GL(d)×GL(d).",
    "z": "z_(c,i,j,k): coefficient of x_i x_j x_k in entry c; S(λ)⊗S(μ): module of GL(d')×GL(d).",
}


def _show_layer(layer: SingleLayer, document: dict[str, Any]) -> None:
    degree = "" if document["degree"] is None else f", degree {document['degree']}"
    click.echo(f"{layer}{degree}")
    _table(document)
    if document["generators"]:
        click.echo(f"\n{LEGEND[layer.letter]}")
    for module in document["generators"] or []:
        name = module_name(module["highest_weight"])
        click.echo(f"\ndegree {module['degree']}, {module['dimension']} equations {name}")
        if module["name"]:
            click.echo(f"  {module['name']}")
        if layer.d_out == 1 and layer.has_orbits:
            click.echo(f"  named invariants: {module['family'] or 'none'}")
        click.echo(f"  {_short(module['equation'])}")


def _table(document: dict[str, Any]) -> None:
    """The degrees."""
    keys = ("degree", "ideal_dimension", "hilbert_function", "minimal_generators", "evidence")
    rows = [["n", "equations", "Hilbert function", "minimal generators", "evidence"]]
    rows += [[str(piece[key]) for key in keys] for piece in document["degrees"]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    click.echo()
    for row in rows:
        click.echo("   ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip())


def _short(equation: str) -> str:
    """The beginning of a long equation."""
    return equation if len(equation) <= 1000 else equation[:1000] + " ..."
