"""``agattn fiber``: all weights with the same function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from agattn.cli.options import Command, json_flag
from agattn.cli.output import print_json
from agattn.errors import InputError


def tolerance_option(default: float) -> Callable[[Command], Command]:
    """Add ``--tolerance``, relative, with this default."""
    return click.option(
        "--tolerance",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=default,
        show_default=True,
        help="What counts as zero in floating point, relative to the largest.",
    )


def read_weights(files: tuple[Path, ...], a: int | None = None) -> Any:
    """Weights from files that hold A and V, or K, Q and V.

    Raises:
        InputError: if they cannot be read or do not fit.
    """
    from agattn.geometry.identifiability.fibers import weights
    from agattn.heads.weight_files import WeightFile

    file = WeightFile(files)
    letters = [letter for letter in ("A", "K", "Q", "V") if letter in file]
    if not {"V"} < set(letters):
        names = ", ".join(list(file)[:4]) or "none"
        raise InputError(f"{files[0]} must hold V together with A, or with K and Q; it has {names}")
    return weights(a=a, **{letter: file[letter] for letter in letters})


@click.command(epilog="Example: agattn fiber weights.npz")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "-a", "--attn-dim", "a", type=click.IntRange(min=1), help="For weights A, V: the largest rank of A."
)
@click.option(
    "--other",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Other weights: decide whether they have the same function.",
)
@tolerance_option(1e-9)
@json_flag
def command(
    files: tuple[Path, ...], a: int | None, other: Path | None, tolerance: float, as_json: bool
) -> None:
    """Describe the fiber through the weights in FILE: everything that computes the same function (t ≥ 2).

    FILE is .npz, .safetensors or .json with arrays A and V, or K, Q and V; or give .npy files whose names
    end in these letters. Integers, and rationals such as "1/3" in JSON, are exact.
    """
    from agattn.geometry.identifiability.fibers import equivalent, fiber

    w = read_weights(files, a)
    found = fiber(w, tolerance)
    d, d_out = w.A.shape[0], len(w.V)
    document: dict[str, Any] = {
        "architecture": {"d": d, "d_out": d_out, "a": w.a, "t": 2},
        "case": found.case,
        "components": [
            {"name": c.name, "dimension": c.dimension, "parametrization": c.parametrization}
            for c in found.components
        ],
        "dimension": found.dimension,
        "dimension_with_keys": found.dimension_with_keys,
        "generic": found.generic,
        "ranks": {
            name: {"rank": x.rank, "tolerance": x.tolerance, "margin": finite(x.margin)}
            for name, x in found.ranks.items()
        },
        "canonical": {
            letter: table(M)
            for letter, M in vars(found.canonical()).items()
            if letter in "AVKQ" and M is not None
        },
        "evidence": found.evidence.value,
        "equivalent": None,
    }
    if other is not None:
        answer = equivalent(w, read_weights((other,), a), tolerance)
        document["equivalent"] = {
            "equal": answer.equal,
            "component": answer.component,
            "s": None if answer.s is None else number(answer.s),
            "gauge": None if answer.C is None else table(answer.C),
            "input": None if answer.X is None else table(answer.X),
            "difference": None if answer.difference is None else number(answer.difference),
            "relative": finite(answer.relative),
            "evidence": answer.evidence.value,
        }
    if as_json:
        print_json(document)
        return
    lines = [f"d = {d}, d' = {d_out}, a = {w.a}: {found.case} ({found.evidence})"]
    lines += [f"  {c.name}: {c.parametrization}; dim {c.dimension}" for c in found.components]
    lines.append(f"dimension {found.dimension} in (A, V)")
    if found.dimension_with_keys is not None:
        lines[-1] += f", {found.dimension_with_keys} in (K, Q, V) with the gauge"
    shown = ", ".join(
        f"rk {n} = {x.rank}{margin(x.margin)}"
        for n, x in zip(("V", "A", "[V; Aᵀ]"), found.ranks.values(), strict=True)
    )
    lines.append(shown)
    if other is not None:
        lines.append(f"{other}: {answer}")
    click.echo("\n".join(lines))


def finite(x: float | None) -> float | None:
    """A number that JSON can hold: ``None`` for infinity and not-a-number."""
    return x if x is not None and abs(x) < float("inf") else None


def margin(x: float | None) -> str:
    """A margin in words, empty for exact ranks."""
    return "" if x is None else f" (margin {x:.3g})"


def number(x: Any) -> Any:
    """An exact number as text, a float as it is."""
    from fractions import Fraction

    return str(x) if isinstance(x, (Fraction, int)) else float(x)


def table(M: Any) -> list[list[Any]]:
    """A matrix for JSON, exact entries as text."""
    return [[number(x) for x in row] for row in M.tolist()]
