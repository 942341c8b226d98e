"""Singular values on logarithmic scales: of a matrix, cut by its rank; and of a Jacobian, in bands.

>>> from agattn.architectures import DeepNetwork
>>> from agattn.geometry.dimension.contact import contact_spectrum
>>> small = DeepNetwork((2, 2, 2), (1, 1), t=2, normalization="softmax")
>>> words = bands(contact_spectrum(small), digits=40, last=9).words
>>> print(words.partition("cutoff ")[2].partition(" Orders")[0])
counts 10, 10, 10, 10, 10, 10, 9, 7, 7 values, and 10 are not 0 in 40 digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agattn.algebra.matrices import real_matrix
from agattn.algebra.rank import RankResult
from agattn.algebra.spectrum import logarithm, singular_values
from agattn.architectures.normalizer import raised
from agattn.errors import TooLargeError
from agattn.geometry.dimension.contact import ContactSpectrum, ScaledWeights
from agattn.limits import limits, steps
from agattn.reports.drawing import Drawable, Figure, empty, save

# Above this size the picture is drawn from float64 singular values; it says so.
PRECISE_SIZE = 60
LARGEST_SIZE = 3000
#: The factor s of keys and queries is 1/2, 1/4, ..., 2 to the power −7.
LAST = 7
_COLORS = ("#3b82c4", "#2f9e57", "#c78a12", "#d9663a", "#8452a8", "#555555")
_FLOATS, _CUTOFF = "#222222", "#b3261e"


def draw(matrix: Any, result: RankResult, path: Path) -> None:
    """Draw the singular values of an exact or ball matrix on a logarithmic scale.

    Raises:
        InputError: if matplotlib is missing, the file cannot be written, or its ending is unknown.
        TooLargeError: if the matrix is too large.
    """
    figure, axes = empty(5.2, 3.8)
    logs, how = base_10_logarithms(matrix)
    axes.plot(range(1, len(logs) + 1), logs, "o", markersize=3, color="0.25", label="singular values")
    if result.rank is not None:
        axes.axvline(result.rank + 0.5, color="C3", linewidth=1, label="the rank: all values to the left")
    else:
        low, high = result.lower_bound + 0.5, result.upper_bound + 0.5
        axes.axvspan(low, high, color="C3", alpha=0.2, linewidth=0, label="the rank ends here")
    axes.set_title(str(result))
    axes.set_xlabel("number of the singular value")
    axes.set_ylabel(f"log₁₀ of the singular value ({how})")
    axes.locator_params(axis="x", integer=True)
    axes.legend(frameon=False, loc="lower left", fontsize=9.5)
    save(figure, path)


def base_10_logarithms(matrix: Any) -> tuple[list[float], str]:
    """Base-10 logarithms of the nonzero singular values, and how they were computed."""
    m, n = matrix.shape
    if m * n > LARGEST_SIZE**2:
        raise TooLargeError(
            f"a spectrum of a {m} x {n} matrix is too large to draw; at most {LARGEST_SIZE} squared"
        )
    if min(m, n) <= PRECISE_SIZE and max(m, n) <= 10 * PRECISE_SIZE:
        values, how = singular_values(real_matrix(matrix).balls(400), 400), "400 bits"
    else:
        dense = getattr(matrix, "integers", None)
        if not isinstance(dense, np.ndarray) or matrix.row_scales:
            dense = [[float(x) for x in row] for row in real_matrix(matrix).balls(64).mid().tolist()]
        values, how = np.linalg.svd(np.array(dense, dtype=float), compute_uv=False).tolist(), "float64"
    return [logarithm(x, 10) for x in values if x > 0], how


@dataclass(frozen=True)
class Scale:
    """The logarithms to base 10 of the singular values at s = 2^(−halvings), from the largest on.

    Attributes:
        values: in high precision, one for each factor of the Smith form.
        floats: all nonzero ones that float64 gives.
        cutoff: below this numpy counts as 0: the largest times the larger size of the matrix times 2^(−52).
    """

    halvings: int
    values: tuple[float, ...]
    floats: tuple[float, ...]
    cutoff: float

    @property
    def above(self) -> int:
        """How many values of float64 are above the cutoff."""
        return sum(x > self.cutoff for x in self.floats)


@dataclass(frozen=True)
class Bands(Drawable):
    """The singular values of the Jacobian of a softmax network, all keys and queries multiplied by s."""

    spectrum: ContactSpectrum
    digits: int
    scales: tuple[Scale, ...]

    @property
    def words(self) -> str:
        """What it shows, for those who cannot see it, and how that is known."""
        last, counted = self.scales[-1], ", ".join(str(scale.above) for scale in self.scales)
        orders = ", ".join(f"{order.multiplicity} of order {order.order}" for order in self.spectrum.orders)
        return (
            f"Singular values of the Jacobian of {self.spectrum.architecture.name}, against a factor s of all"
            " keys and queries, both on logarithmic scales. The values fall in bands along straight lines,"
            f" whose slopes are the orders: {orders}. In float64 no value falls below the rounding errors of"
            f" the largest ones. From s = 1/2 to 2{raised(-last.halvings)} numpy's cutoff counts {counted}"
            f" values, and {len(last.values)} are not 0 in {self.digits} digits."
            f" Orders: {self.spectrum.evidence}, modulo a prime. Singular values: numerical."
        )

    def drawing(self) -> Figure:
        """The bands on paper."""
        figure, axes = empty(6.2, 4.8)
        n, start = [scale.halvings for scale in self.scales], 0
        values = np.array([scale.values for scale in self.scales])
        for i, order in enumerate(self.spectrum.orders):
            color, stop = _COLORS[i % len(_COLORS)], start + order.multiplicity
            axes.plot(n, values[:, start:stop], color=color, linewidth=1)
            label = f"{order.multiplicity} of order {order.order}, {self.digits} digits"
            axes.plot([], [], color=color, linewidth=2, label=label)
            start = stop
        circles = {"color": _FLOATS, "markerfacecolor": "none", "markersize": 2.4, "markeredgewidth": 0.6}
        for scale in self.scales:
            axes.plot([scale.halvings] * len(scale.floats), scale.floats, "o", **circles)
        axes.plot([], [], "o", label="float64", **circles)
        cutoffs = [scale.cutoff for scale in self.scales]
        axes.plot(n, cutoffs, "--", color=_CUTOFF, linewidth=1.2, label="cutoff of a rank in float64")
        axes.set_xticks(n, [f"$2^{{{-k}}}$" for k in n])
        axes.set_xlabel("s, the factor of all keys and queries")
        axes.set_ylabel("log₁₀ of the singular values")
        counted = f"{start} of {self.spectrum.parameters} singular values are not 0"
        axes.set_title(f"{self.spectrum.architecture.name}:\n{counted}", fontsize=11)
        axes.legend(frameon=False, loc="lower left", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        return figure


def bands(spectrum: ContactSpectrum, digits: int = 120, last: int = LAST) -> Bands:
    """The singular values at s = 1/2, 1/4, ..., 2^(−last), in so many digits and in float64."""
    count = sum(order.multiplicity for order in spectrum.orders)
    generator = np.random.default_rng(limits().seed)
    network: Any = spectrum.architecture
    scaled, scales = ScaledWeights(network, count + 6, generator), []
    for n in steps(range(1, last + 1), last, "singular values at s = 2^-{}".format):
        floats, cutoff = scaled.in_floats(n)
        values = tuple(logarithm(x, 10) for x in scaled.singular_values(n, digits)[:count])
        logs = tuple(float(np.log10(x)) for x in floats if x)
        scales.append(Scale(n, values, logs, float(np.log10(cutoff))))
    return Bands(spectrum, digits, tuple(scales))
