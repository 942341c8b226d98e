"""The results of a study, and the heads of a model, as pictures; the same results give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agattn.reports.drawing import Figure, empty, page


class Sign(NamedTuple):
    """How a word is drawn: its colour, the name of the colour, and a sign for those who do not see it."""

    colour: str
    name: str
    sign: str


#: The verdicts.
MARKS = {
    "confirmed": Sign("#2f9e57", "green", "✓"),
    "refuted": Sign("#c92a2a", "red", "×"),
    "undecided": Sign("#f2b134", "yellow", "?"),
    "inapplicable": Sign("#e3e6ea", "light grey", "–"),
    "failed": Sign("#4a4f57", "dark grey", "!"),
}
#: The kinds of evidence.
EVIDENCES = {
    "proved": Sign("#2b6cb0", "blue", "o"),
    "modular": Sign("#c05621", "orange", "s"),
    "numerical": Sign("#7b2d8b", "purple", "^"),
}
#: A key of a head's row, what it belongs to, and how it is marked, to the left and to the right of the layer.
_STABLE_RANKS = (("stable_rank_a", "A = KᵀQ", "o", -0.12), ("stable_rank_v", "V", "x", 0.12))
#: The colours of A and of V.
_HEADS = ("#3b82c4", "#d9663a")
_MOST_SIGNS = 1500  # beyond, the cells are too small for them
_MOST_NAMES = 120


def draw_verdicts(
    architectures: Sequence[str], claims: Sequence[str], words: Sequence[Sequence[str]]
) -> Figure:
    """A row for each architecture, a column for each claim, cells coloured and marked by the verdict."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    verdicts = list(MARKS)
    height = min(0.8 + 0.22 * len(architectures), 24.0)
    figure, axes = empty(2.6 + 0.42 * len(claims), height)
    cells = [[verdicts.index(word) for word in row] for row in words]
    colours = ListedColormap([MARKS[word].colour for word in verdicts])
    axes.pcolormesh(
        cells,
        cmap=colours,
        vmin=-0.5,
        vmax=len(verdicts) - 0.5,
        edgecolor="white",
        linewidth=0.5,
        rasterized=len(architectures) > _MOST_NAMES,
    )
    axes.invert_yaxis()
    if len(architectures) * len(claims) <= _MOST_SIGNS:
        for y, row in enumerate(words):
            for x, word in enumerate(row):
                ink = "black" if word in ("inapplicable", "undecided") else "white"
                axes.text(x + 0.5, y + 0.5, MARKS[word].sign, ha="center", va="center", color=ink, fontsize=8)
    axes.set_xticks([x + 0.5 for x in range(len(claims))], claims, rotation=60, ha="right", fontsize=8)
    step = -(-len(architectures) // _MOST_NAMES)
    shown = range(0, len(architectures), step)
    axes.set_yticks([y + 0.5 for y in shown], [architectures[y] for y in shown], fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    present = [word for word in verdicts if any(word in row for row in words)]
    axes.legend(
        handles=[Patch(color=MARKS[word].colour, label=f"{MARKS[word].sign} {word}") for word in present],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(present),
        frameon=False,
        fontsize=8,
    )
    return figure


def draw_dimensions(points: Mapping[str, Sequence[tuple[int, int]]]) -> Figure:
    """Dimension against the general formula, by evidence; on the line where they agree.

    Args:
        points: for each kind of evidence, pairs of the formula and the dimension.
    """
    figure, axes = empty(5.2, 4.6)
    largest = max(max(pair) for pairs in points.values() for pair in pairs)
    axes.plot([0, largest], [0, largest], color="#999999", linewidth=0.8, zorder=1, label="they agree")
    for evidence, (colour, _, marker) in EVIDENCES.items():
        if pairs := points.get(evidence):
            x, y = zip(*pairs, strict=True)
            axes.scatter(
                x,
                y,
                s=22,
                color=colour,
                marker=marker,
                alpha=0.7,
                zorder=2,
                label=f"{evidence} ({len(pairs)})",
            )
    axes.set_xlabel("general formula")
    axes.set_ylabel("dimension")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_stable_ranks(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """The stable ranks of A and of V of every head over its layer.

    Args:
        rows: for each head its ``layer``, from 0, ``stable_rank_a`` and ``stable_rank_v``.
    """
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    figure, axes = empty(5.2, 4.2)
    for (key, label, marker, shift), colour in zip(_STABLE_RANKS, _HEADS, strict=True):
        x, y = [row["layer"] + shift for row in rows], [row[key] for row in rows]
        axes.scatter(x, y, marker=marker, color=colour, label=label)
    axes.set_xticks(sorted({row["layer"] for row in rows}))
    axes.set_xlabel("layer, from 0")
    axes.set_ylabel(r"stable rank $\|\cdot\|_F^2 \,/\, \|\cdot\|^2$")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_title("Stable ranks of the heads", fontsize=11)
    axes.axhline(1, color="0.7", linewidth=0.8, label="rank one")
    axes.legend(frameon=False)
    return figure


def page_of_stable_ranks(rows: Sequence[Mapping[str, Any]]) -> str:
    """Stable ranks as an interactive page: each mark tells its head, and the stratum of the head.

    Args:
        rows: as for :func:`draw_stable_ranks`, with ``head``, ``r_v``, ``r_a``, ``r`` and ``evidence``.

    Raises:
        InputError: if plotly is missing.
    """
    where = [
        f"layer {row['layer']}, head {row['head']}: "
        f"stratum ({row['r_v']},{row['r_a']},{row['r']}), {row['evidence']}"
        for row in rows
    ]
    traces = [
        {
            "name": label,
            "mode": "markers",
            "x": [row["layer"] + shift for row in rows],
            "y": [row[key] for row in rows],
            "hoverinfo": "text",
            "hovertext": [f"{at}; {row[key]:.4g} for {label}" for at, row in zip(where, rows, strict=True)],
            "marker": {
                "size": 9,
                "symbol": {"o": "circle", "x": "x-thin"}[marker],
                "color": colour,
                "line": {"width": 2 * (marker == "x"), "color": colour},
            },
        }
        for (key, label, marker, shift), colour in zip(_STABLE_RANKS, _HEADS, strict=True)
    ]
    layout = {
        "xaxis": {"title": {"text": "layer, from 0"}, "dtick": 1, "zeroline": False},
        "yaxis": {"title": {"text": "stable rank"}, "type": "log", "dtick": "D2"},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "margin": {"l": 55, "r": 10, "t": 10, "b": 45},
    }  # fmt: skip
    words = f"The stable ranks ‖·‖_F² / ‖·‖² of A and of V for {len(rows)} heads, by layer."
    note = "Point at a mark to see which head it is; drag over a part to enlarge it, double-click to go back."
    return page("Stable ranks of heads", words, note, traces, layout)
