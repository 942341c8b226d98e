"""Figures of matplotlib as files; the same input gives the same file, byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the suffix of the path chooses the format.

    Raises:
        InputError: if the suffix is not one of :data:`SUFFIXES`, or the folder does not exist.
    """
    import matplotlib

    if path.suffix not in SUFFIXES:
        raise InputError(f"{path} does not end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist")
    # Without these, files would carry the date and random identifiers.
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
    with matplotlib.rc_context({"svg.hashsalt": "agattn"}):
        figure.savefig(path, metadata=metadata, dpi=200, bbox_inches="tight")


def image(name: str, draw: Callable[[Path], None]) -> bytes:
    """What a function draws into a file of some name."""
    with tempfile.TemporaryDirectory(prefix="agattn-") as folder:
        draw(Path(folder, name))
        return Path(folder, name).read_bytes()


def empty(width: float, height: float) -> tuple[Figure, Any]:
    """A figure of this size in inches, and its axes.

    Raises:
        InputError: if matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "drawing needs matplotlib; install it with: pip install 'agattn[figures]'"
        ) from error
    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()
