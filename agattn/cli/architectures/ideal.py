"""``agattn ideal``: the equations of the neuromanifold, their number and their symmetry."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agattn.cli import options
from agattn.cli.output import STDOUT, console, print_json, progress, refuse_both, write_file
from agattn.errors import InputError

if TYPE_CHECKING:
    from agattn.architectures import Architecture, SingleLayer
    from agattn.engines.elimination import Completeness
    from agattn.engines.locate import Installation
    from agattn.geometry.ideal.ideal import Ideal
    from agattn.geometry.ideal.invariants import FamilyComparison
    from agattn.geometry.ideal.model_ideal import ModelIdeal


@click.command(
    epilog="Examples: agattn ideal -d 3 -o 1 --max-degree 4 -O equations.m2; "
    "agattn ideal -d 2 -o 1 --format latex; agattn ideal -d 2 -o 1 --complete; "
    "agattn ideal -d 3 -o 1 -t 1 --max-degree 8 --invariants; "
    "agattn ideal -d 3 -o 2 -a 2 --stratum 1,1,2; "
    "agattn ideal --model examples/maps.py:cubic --max-degree 2; "
    "agattn ideal --dims 3,1 --ranks 1 --heads 2 -t 2 --max-degree 3"
)
@options.layer_or_network
@options.option("--max-degree", type=click.IntRange(min=1), default=4, metavar="N", help="Last degree.")
@options.engine(
    "How to find the equations: modules by native linear algebra, or elimination in an engine. With "
    "--complete the engine that is asked.  [default: native; for --complete one that is installed]",
    "native", default=None,
)  # fmt: skip
@options.engine("", "native", default=None, flag="--method", hidden=True)  # the name in earlier versions
@options.option("--workers", type=click.IntRange(1, 512), default=1, metavar="N", help="Processes.")
@options.file_option(
    "-O", "--output", "Write all minimal generators found to FILE: .m2, .sing, .py (sympy), .tex or .json.",
    endings=(".m2", ".sing", ".py", ".tex", ".json"), by_ending=True, unless="form",
    otherwise=", or give --format",
)  # fmt: skip
@click.option(
    "--format", "form", is_eager=True, type=click.Choice(["sympy", "macaulay2", "singular", "latex", "json"]),
    help="Format of FILE, or without -O of all generators on stdout.  [default: by the ending of FILE]",
)  # fmt: skip
@click.option(
    "--complete",
    is_flag=True,
    help="Say whether these equations generate the whole ideal: by a theorem, else by an engine.",
)
@click.option(
    "--invariants",
    is_flag=True,
    help="Compare with the families of equations that have a name; at t = 1 for d' = 1. At t = 1 and d = 3 "
    "give --max-degree 8.",
)
@click.option(
    "--coefficients", type=options.INPUT, metavar="FILE",
    help="With --invariants: which families vanish at y, the compact coefficients in FILE.",
)  # fmt: skip
@click.option(
    "--stratum", metavar="R_V,R_A,R",
    help="Equations of the closure of a stratum of one layer: rk V, rk A, rk [V; Aᵀ], as in agattn strata.",
)  # fmt: skip
@options.field
@options.native_limits
@options.seed
@options.force
@options.json_flag
def command(
    architecture: Architecture, max_degree: int, engine_name: str | None, method: str | None, workers: int,
    output: Path | None, form: str | None, complete: bool, invariants: bool, coefficients: Path | None,
    stratum: str | None, field_name: str | None, timeout: float, memory: int | None, seed: int, force: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Find the equations of the Zariski closure of the neuromanifold up to a degree.

    Each degree of the ideal is a sum of modules under base change in the rows of V, the columns of A and the
    index that V and A share. The field matters only to an engine; native results hold over ℚ.

    Of networks and models the ideal is found multidegree by multidegree, in the coefficients of their output
    in X; or whole, by elimination in an engine.
    """
    options.one_blas_thread()
    from agattn.architectures import as_layer

    layer, chosen = as_layer(architecture), engine_name or method
    if layer is None:
        reason = f"is for one lightning head, and {architecture} is none"
        options.leave_out(reason, "workers", "complete", "invariants", "stratum")
    if stratum is not None:
        reason = "is for the equations of M̄, and --stratum asks for those of a smaller variety"
        options.leave_out(reason, "workers", "complete", "invariants", "engine_name", "method")
    if not invariants:
        options.leave_out("is for --invariants", "coefficients")
    characteristic = options.characteristic(field_name)
    if chosen not in (None, "native") and not complete:
        reason = f"is for native computation; {chosen} finds the whole ideal itself"
        options.leave_out(reason, "workers", "invariants", "output", "form", "seed")
        return _eliminated(architecture, chosen, max_degree, characteristic, timeout, memory, force, as_json)
    if complete and chosen == "native":
        raise InputError("--complete asks an engine; leave out --engine native, or name another")
    output, form = _destination(output, form)
    _check_idle(layer, complete, output)
    from agattn.limits import Limits, limited

    engines_memory = Limits.memory if memory is None else memory
    with limited(timeout=timeout, memory=engines_memory, native=memory, seed=seed, force=force):
        examined = _native(
            architecture, max_degree, form, characteristic, complete, invariants, coefficients, chosen,
            workers=workers, memory=memory,
            stratum=None if stratum is None else options.whole_numbers(stratum),
        )  # fmt: skip
    if output is not None:
        write_file(output, examined.text)
    if output != STDOUT:
        _show(examined.ideal, as_json)
    from agattn.sheet.terminal import print_folded

    for said in (examined.compared, examined.complete) if not as_json else ():
        if said is not None:
            print_folded(f"\n{said}", sys.stderr if output == STDOUT else sys.stdout)
    return 3 if examined.complete is not None and examined.complete.whole is None else 0


def _check_idle(layer: SingleLayer | None, complete: bool, output: Path | None) -> None:
    """Refuse options that mean nothing natively."""
    if not complete:
        other = "--engine" if layer is None else "--complete or another --engine"
        options.leave_out(f"is for engines, with {other}", "timeout")
        if output is None:
            engines = "" if layer is None else "engines and for "
            options.leave_out(f"is for {engines}-O; native results hold over QQ", "field_name")


class _Examined(NamedTuple):
    """An ideal, all its equations as text in some format, and what was found out about them."""

    ideal: Ideal | ModelIdeal
    text: str
    compared: FamilyComparison | None
    complete: Completeness | None


def _native(
    architecture: Architecture, max_degree: int, form: str | None, characteristic: int, complete: bool,
    invariants: bool, coefficients: Path | None, engine: str | None, **settings: Any,
) -> _Examined:  # fmt: skip
    """The ideal by linear algebra, written out and examined as asked."""
    from agattn.architectures import as_layer
    from agattn.verification.ideal import ideal

    layer = as_layer(architecture)
    complete_by, compared, text = None, None, ""
    with progress(f"{architecture.name}: equations to degree {max_degree}") as step:
        found: Any = ideal(architecture, max_degree, **settings)
        _ = found.generators  # which are found once, here
        if form is not None:
            from agattn.geometry.ideal.export import export

            step("writing out all equations")
            text = export(found, form, characteristic)
        if invariants and layer is not None:
            from agattn.geometry.ideal.invariants import compare, last_degree

            step("building the named invariants")
            y = None if coefficients is None else options.read_tensor(coefficients)
            compared = compare(found, last_degree(layer, max_degree), y)
        if complete:
            from agattn.engines.elimination import by_theorem, check_generators

            step("looking for a theorem, and for equations of higher degree")
            complete_by = None if engine is not None else by_theorem(found)
            if complete_by is None:
                step("asking the engine")
                complete_by = check_generators(found, _engine(engine), characteristic=characteristic)
    if layer is not None and settings["stratum"] is None:
        from agattn.engines.elimination import examined

        found = examined(found, compared, complete_by)
    return _Examined(found, text, compared, complete_by)


def _show(ideal: Ideal | ModelIdeal, as_json: bool) -> None:
    from agattn.sheet.terminal import show

    if as_json:
        print_json(ideal.as_json())
    else:
        show(ideal.listing(), console())


def _eliminated(
    architecture: Architecture, name: str, max_degree: int, characteristic: int, timeout: float,
    memory: int | None, force: bool, as_json: bool,
) -> int:  # fmt: skip
    from agattn.engines.catalogue import engine_named
    from agattn.verification.ideal import ideal

    with progress(f"{engine_named(name).title}: elimination for {architecture.name}"):
        found = ideal(
            architecture, max_degree, name,
            characteristic=characteristic, timeout=timeout, memory=memory, force=force,
        )  # fmt: skip
    _show(found, as_json)
    return 0


def _destination(output: Path | None, form: str | None) -> tuple[Path | None, str | None]:
    """Where equations go, and in which format."""
    if form is not None and output is None:
        refuse_both("--format without -O", bool(click.get_current_context().params["as_json"]))
        output = STDOUT
    if output is not None:
        form = form or _format_of(output)
    return output, form


def _format_of(path: Path) -> str:
    """The format that the ending of a file says; Macaulay2 on stdout."""
    from agattn.geometry.ideal.export import ENDINGS

    return "macaulay2" if path == STDOUT else ENDINGS[path.suffix.lower()]


def _engine(name: str | None) -> Installation:
    """The engine of this name, or the first that is installed and knows prime ideals."""
    from agattn.engines.catalogue import able, engine_named
    from agattn.engines.locate import candidates, locate

    if name is None:
        engines = able("complete-ideal")
        engine = next(filter(candidates, engines), engines[0])
    else:
        engine = engine_named(name)
    return locate(engine)
