"""Singular values of the Jacobian of a softmax network as its scores get small, in 120 digits and in float64.

>>> from agattn.architectures import DeepNetwork
>>> small = DeepNetwork((2, 2, 2), (1, 1), t=2, normalization="softmax")
>>> figure = compute_figure_spectrum(small, digits=40, last=9)
>>> print(figure.lines[-1])
s = 2⁻⁹      10 in 40 digits   7 in float64
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from agattn.architectures import DeepNetwork
from agattn.architectures.normalizer import raised
from agattn.geometry.dimension.contact import ContactSpectrum, ScaledWeights, contact_spectrum
from agattn.limits import limits, steps
from agattn.reports.drawing import FigureResult, empty, page
from agattn.sheet.result import Count, Key, Positive, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Twelve singular values each of the orders 1, 5 and 17, sixteen of order 0, and a kernel of dimension 44.
NETWORK = DeepNetwork((4, 4, 4, 4), (2, 2, 2), t=4, normalization="softmax")
#: The factor s of keys and queries is 1/2, 1/4, ..., 2 to the power −7.
LAST = 7
_COLORS = ("#3b82c4", "#2f9e57", "#c78a12", "#d9663a", "#8452a8", "#555555")
_FLOATS, _CUTOFF = "#222222", "#b3261e"


class Scale(Result):
    """The singular values at one s, as logarithms to base 10, from the largest on."""

    halvings: Key[Count, "n, for s = 2^(−n), by which keys and queries are multiplied."]
    values: Key[tuple[float, ...], "One for each factor of the Smith form, in high precision."]
    floats: Key[tuple[float, ...], "All nonzero singular values that float64 gives."]
    cutoff: Key[
        float,
        "Below this numpy counts as 0: the largest value times the larger size of the matrix times 2^(−52).",
    ]

    @property
    def above(self) -> int:
        """How many values of float64 are above the cutoff."""
        return sum(x > self.cutoff for x in self.floats)

    def summary(self) -> str:
        """How many singular values both count."""
        return f"s = 2{raised(-self.halvings)}: {len(self.values)}, and {self.above} in float64"


class FigureSpectrum(FigureResult, tag=("figure", "spectrum")):
    """The bands of singular values of a softmax network: figure spectrum."""

    spectrum: Key[ContactSpectrum, "The orders with their multiplicities, by the Smith form modulo a prime."]
    digits: Key[Positive, "Decimal digits of the values in high precision."]
    scales: Key[tuple[Scale, ...], "The singular values at each s."]

    @property
    def lines(self) -> list[str]:
        """The spectrum, and for each s how many singular values are counted."""
        rows = (
            f"s = 2{raised(-one.halvings):<6} {len(one.values):4} in {self.digits} digits"
            f" {one.above:3} in float64"
            for one in self.scales
        )
        return [str(self.spectrum), "singular values above the cutoff:", *rows]

    @property
    def words(self) -> str:
        """The figure in words, for those who cannot see it."""
        last = self.scales[-1]
        bands = ", ".join(f"{one.multiplicity} of order {one.order}" for one in self.spectrum.orders)
        return (
            f"Singular values of the Jacobian of {self.spectrum.architecture.name}, against a factor s of all"
            " keys and queries, both on logarithmic scales. The values fall in bands along straight lines,"
            f" whose slopes are the orders: {bands}. In float64 no value falls below the rounding errors of"
            f" the largest ones. At s = 2{raised(-last.halvings)} numpy's cutoff counts {last.above} values,"
            f" and {len(last.values)} are not 0."
        )

    @property
    def found_by(self) -> str:
        """How the orders and the singular values are known."""
        return f"Orders: {self.spectrum.evidence}, modulo a prime. Singular values: numerical."

    def bands(self) -> Iterator[tuple[str, str, slice]]:
        """Each order in words, its color, and its places among the singular values."""
        start = 0
        for i, one in enumerate(self.spectrum.orders):
            places = slice(start, start := start + one.multiplicity)
            yield f"{one.multiplicity} of order {one.order}", _COLORS[i % len(_COLORS)], places

    def drawing(self) -> Figure:
        """The bands on paper."""
        figure, axes = empty(6.2, 4.8)
        n = [one.halvings for one in self.scales]
        for label, color, places in self.bands():
            rows = np.array([one.values[places] for one in self.scales])
            axes.plot(n, rows, color=color, linewidth=1)
            axes.plot([], [], color=color, linewidth=2, label=f"{label}, {self.digits} digits")
        for one in self.scales:
            axes.plot(
                [one.halvings] * len(one.floats),
                one.floats,
                "o",
                markersize=2.4,
                color=_FLOATS,
                markerfacecolor="none",
                markeredgewidth=0.6,
            )
        axes.plot([], [], "o", markersize=3, color=_FLOATS, markerfacecolor="none", label="float64")
        axes.plot(
            n,
            [one.cutoff for one in self.scales],
            "--",
            color=_CUTOFF,
            linewidth=1.2,
            label="cutoff of a rank in float64",
        )
        axes.set_xticks(n, [f"$2^{{{-k}}}$" for k in n])
        axes.set_xlabel("s, the factor of all keys and queries")
        axes.set_ylabel("log₁₀ of the singular values")
        count, whole = len(self.scales[0].values), self.spectrum.parameters
        axes.set_title(
            f"{self.spectrum.architecture.name}:\n{count} of {whole} singular values are not 0", fontsize=11
        )
        axes.legend(frameon=False, loc="lower left", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        return figure

    def page(self) -> str:
        """The bands as an interactive page."""
        n = [one.halvings for one in self.scales]
        traces: list[dict[str, Any]] = []
        for label, color, places in self.bands():
            for k in range(places.start, places.stop):
                traces.append(
                    {
                        "name": label,
                        "legendgroup": label,
                        "showlegend": k == places.start,
                        "mode": "lines",
                        "x": n,
                        "y": [one.values[k] for one in self.scales],
                        "line": {"color": color, "width": 1},
                    }
                )
        points = [(one.halvings, y) for one in self.scales for y in one.floats]
        x, y = (list(axis) for axis in zip(*points, strict=True))
        marker = {"size": 4, "symbol": "circle-open", "color": _FLOATS}
        traces.append({"name": "float64", "mode": "markers", "x": x, "y": y, "marker": marker})
        cutoff = [one.cutoff for one in self.scales]
        line = {"color": _CUTOFF, "dash": "dash"}
        traces.append({"name": "cutoff", "mode": "lines", "x": n, "y": cutoff, "line": line})
        layout = {
            "xaxis": {"title": {"text": "−log₂ s"}, "dtick": 1},
            "yaxis": {"title": {"text": "log₁₀ of the singular values"}},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
            "margin": {"l": 55, "r": 10, "t": 10, "b": 45},
        }
        note = "Point at a mark for its numbers; drag over a part to enlarge it, double-click to go back."
        return page("The contact spectrum of a softmax network", self.words, note, traces, layout)


def compute_figure_spectrum(
    architecture: DeepNetwork = NETWORK, digits: int = 120, last: int = LAST
) -> FigureSpectrum:
    """Compute the orders exactly, and the singular values at s = 1/2, 1/4, ... twice.

    Args:
        architecture: the network.
        digits: of the singular values in high precision.
        last: the smallest s is 2^(−last).
    """
    spectrum = contact_spectrum(architecture)
    count = sum(one.multiplicity for one in spectrum.orders)
    scaled, scales = ScaledWeights(architecture, count + 6, np.random.default_rng(limits().seed)), []
    for n in steps(range(1, last + 1), last, "singular values at s = 2^-{}".format):
        floats, cutoff = scaled.in_floats(n)
        values = tuple(float(mpmath.log10(x)) for x in scaled.singular_values(n, digits)[:count])
        logs = tuple(float(np.log10(x)) for x in floats if x)
        scales.append(Scale(n, values, logs, float(np.log10(cutoff))))
    return FigureSpectrum(spectrum, digits, tuple(scales))
