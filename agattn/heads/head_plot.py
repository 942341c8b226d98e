"""Stable ranks of all heads by layer, as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agattn.errors import InputError


def plot_stable_ranks(rows: Sequence[dict[str, Any]], path: Path, title: str = "") -> None:
    """Draw the stable ranks of A and of V of every head over its layer into a .png, .svg or .pdf file.

    Raises:
        InputError: if matplotlib is missing or the file cannot be written.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("the plot needs matplotlib: pip install 'agattn[figures]'") from error
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"cannot draw into {path}; use .png, .svg or .pdf")
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for key, label, marker, shift in (
        ("stable_rank_a", "A = KᵀQ", "o", -0.12),
        ("stable_rank_v", "V", "x", 0.12),
    ):
        axes.scatter(
            [row["layer"] + 1 + shift for row in rows], [row[key] for row in rows], marker=marker, label=label
        )
    layers = sorted({row["layer"] + 1 for row in rows})
    axes.set_xticks(layers)
    axes.set_xlabel("layer")
    axes.set_ylabel("stable rank ‖·‖²_F / ‖·‖²")
    axes.set_yscale("log")
    axes.axhline(1, color="0.7", linewidth=0.8)
    axes.set_title(title)
    axes.legend()
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": "agattn", "svg.fonttype": "none"}):
            figure.savefig(path, dpi=150, metadata=metadata)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
