"""Figures as files, drawn or as pages to turn them; the same input gives the same file, byte for byte."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.errors import InputError, needs
from agattn.files import write
from agattn.reports.document import environment
from agattn.sheet.data import Note, Sheet
from agattn.sheet.result import Key, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure  # heavy
else:
    Figure = Any

SUFFIXES = (".png", ".svg", ".pdf")
#: plotly.js with its three-dimensional traces alone: plotly.js-gl3d-dist-min 4.1.1 of npm, MIT license.
#:
#: :meta hide-value:
PLOTLY = Path(__file__).with_name("plotly-gl3d.min.js")


class Drawable(ABC):
    """What is drawn and said in words."""

    @property
    def words(self) -> str:
        """What it shows, for those who cannot see it, and how that is known; empty where its lines say so."""
        return ""

    @property
    def caption(self) -> str:
        """What stands below the picture in a report."""
        return self.words

    @abstractmethod
    def drawing(self) -> Figure:
        """The figure on paper.

        Raises:
            InputError: if matplotlib is missing.
        """

    def save(self, path: str | Path) -> None:
        """Write the figure to a .png, .svg or .pdf file.

        Raises:
            InputError: if the suffix is another one, the folder does not exist, matplotlib is missing, or the
                file cannot be written.
        """
        save(self.drawing(), Path(path))


class FigureResult(Drawable, Result, name="figure", kw_only=True):
    """A figure of the paper, and what it states.

    Attributes:
        file: of the drawing.
    """

    file: Key[str | None, "Where the figure was drawn."] = None

    @property
    @abstractmethod
    def lines(self) -> list[str]:
        """What the figure states, line by line."""

    def sheet(self) -> Sheet:
        """What the figure states, in lines."""
        first, *others = self.lines
        return Sheet(first, (Note("\n".join(others), apart=False),) if others else ())


def save(figure: Figure | bytes | str, path: Path) -> None:
    """Write a figure, drawn or not yet, or a page that :func:`page` made; the suffix chooses the format.

    Raises:
        InputError: if the suffix is not one of :data:`SUFFIXES`, the folder does not exist, or the file
            cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in ((".html",) if isinstance(figure, str) else SUFFIXES):
        raise InputError(
            f"{path} does not end in {'.html' if isinstance(figure, str) else '.png, .svg or .pdf'}"
        )
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist")
    write(path, figure if isinstance(figure, (bytes, str)) else as_file(figure, suffix))


def as_file(figure: Figure, suffix: str) -> bytes:
    """A figure as the content of a file with one of :data:`SUFFIXES`."""
    import matplotlib

    # Without these, files would carry the date and random identifiers.
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    content = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "agattn"}):
        figure.savefig(content, format=suffix[1:], metadata=metadata, dpi=200, bbox_inches="tight")
    return content.getvalue()


def empty(width: float, height: float) -> tuple[Figure, Any]:
    """A figure of this size in inches, and its axes.

    Raises:
        InputError: if matplotlib is missing.
    """
    with needs("drawing", "matplotlib", "figures"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def page(title: str, words: str, note: str, traces: list[dict[str, Any]], layout: dict[str, Any]) -> str:
    """An interactive figure of plotly as one HTML page, which holds plotly.js and needs no network.

    Args:
        title, words, note: the heading, what the figure shows, and how to use it.
        traces, layout: of the figure, where the layout may leave out what all figures here share.
    """
    clear = "rgba(0,0,0,0)"
    shared = {"font": {"family": "system-ui, sans-serif"}, "paper_bgcolor": clear, "plot_bgcolor": clear}
    drawing = json.dumps({"data": traces, "layout": shared | layout}, sort_keys=True, separators=(",", ":"))
    template, library = environment().get_template("figure.html.j2"), PLOTLY.read_text(encoding="utf-8")
    return template.render(title=title, words=words, note=note, library=library, drawing=drawing)
