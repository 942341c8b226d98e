"""What results with several parts say in a terminal: a heading, a table, and what a reader must not miss.

>>> from agattn import SingleLayer
>>> from agattn.verification.strata_table import strata_table
>>> for line in text(strata_table(SingleLayer(1, 1))).splitlines()[:5:2]:
...     print(line)
M(1,1,1): expected dim 1 in ℝ¹, t ≥ 2; strata (rk V, rk A, rk [V; Aᵀ])
stratum dim fiber critical dim T singular HMK boundary near it
(0,0,0) 0 - no 1 no - no smooth
"""

from __future__ import annotations

import io
from functools import singledispatch
from typing import TYPE_CHECKING

from agattn.display.values import tables
from agattn.evidence import Evidence
from agattn.geometry.dimension.lie_algebra import LinearSymmetries
from agattn.geometry.singularities.network_points import Singularities
from agattn.sheet.result import Result
from agattn.sheet.terminal import print_table
from agattn.sheet.terminal import show as show_sheet

if TYPE_CHECKING:
    from rich.console import Console


def text(value: object) -> str:
    """A value as plain text, at most 110 characters wide where its lines can be folded.

    Raises:
        TypeError: if nothing is known for values of its type.
    """
    from rich.console import Console

    stream = io.StringIO()
    show(value, Console(file=stream, width=110, highlight=False, color_system=None))
    return stream.getvalue().rstrip("\n")


@singledispatch
def show(value: object, console: Console) -> None:
    """Print a value.

    Raises:
        TypeError: if nothing is known for values of its type.
    """
    if isinstance(value, Result):
        show_sheet(value.sheet(), console)
        return
    raise TypeError(f"a {type(value).__name__} has no text")


@show.register(Singularities)
def _kinds_of_points(found: Singularities, console: Console) -> None:
    console.print(f"[bold]{found}[/bold]\n", soft_wrap=True)
    print_table(tables(found)[0], console)
    legend = (
        f"rk dφ: the rank of the differential, {found.dimension.dimension} at general weights. fiber: its "
        "dimension over ℂ, beyond that of a general one. dim T ≥: independent tangent vectors of the "
        "closure at f, at all preimages known; more than the dimension prove f singular. smooth branch: the "
        "functions near these weights, or near others with this function, are a manifold of full dimension; "
        "other branches may pass through f. evidence: of what is said of f; a number with a star rests on "
        "ranks modulo a prime all the same."
    )
    if any(point.tangent_upper is not None for point in found.kinds):
        legend += " Equations of low degree bound dim T from above, and prove points smooth."
    console.print(f"\n{legend}", markup=False)
    console.print(f"\n{found.closedness}", markup=False)


@show.register(LinearSymmetries)
def _symmetries(found: LinearSymmetries, console: Console) -> None:
    families, *new = tables(found)
    console.print(f"[bold]{found}[/bold]", soft_wrap=True)
    if families.rows:
        console.print()
        print_table(families, console)
    if new:
        console.print("\nNew, as θ' = Bθ:")
        for generator in found.new:
            known = "" if generator.evidence is Evidence.PROVED else f" ({generator.evidence})"
            console.print(f"  {generator}{known}", soft_wrap=True, markup=False)
    n = found.architecture.parameters
    console.print(
        f"\nAt most {found.at_most}: the rank of {found.systems} linear systems for the {found.unknowns} "
        f"entries of B modulo {found.prime}.",
        soft_wrap=True,
    )
    console.print(
        f"Dimension of the neuromanifold: at most {n - found.orbit_dimension}, the {n} parameters minus "
        f"{found.orbit_dimension}.",
        soft_wrap=True,
    )
