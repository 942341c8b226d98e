"""Figure 3 of HMK: dimensions of normalized networks with two layers, δ = 3, ..., 10.

The paper estimates them as the largest numerical rank over several trials, from 250 Gaussian inputs. Here
each is computed with a proof from both sides; what one float32 trial of the paper's experiment gives is
shown next to it.

>>> figure_3([3])[0].dimension
25
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agattn.algebra.arithmetic import FloatArithmetic
from agattn.architectures import DeepNetwork, draw_parameters
from agattn.claims.network_dimension import equation_14
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.jacobian import jacobian
from agattn.limits import limits
from agattn.reports.drawing import Figure, FigureResult, empty
from agattn.sheet.result import Count, Key, Result

#: The sizes in the paper.
SIZES = tuple(range(3, 11))

_INPUTS = 250
_INK, _BLUE, _RED = "#222222", "#2b6cb0", "#c05621"


class Figure3Row(Result):
    """One δ of Figure 3: all widths are d_0 = d_1 = d_2 = δ, a_1 = a_2 = 2 and t = 3."""

    delta: Key[Count, "The width δ."]
    expected: Key[Count, "Equation 16, δ² + 8δ − 8."]
    float32: Key[Count, "The numerical rank in one trial in float32."]
    dimension: Key[Count, "The dimension computed."]
    evidence: Key[Evidence, "How the result is known."]
    lower_bound: Key[Count, "The proved lower bound."]
    upper_bound: Key[Count, "The proved upper bound."]

    def summary(self) -> str:
        """The numbers in columns."""
        computed = f"{self.delta:2}  {self.dimension:9}  {self.evidence!s:9}"
        return f"{computed}  {self.expected:6}  {self.float32:17}"


class Figure3(FigureResult, Sequence[Figure3Row], tag=("figure", 3)):
    """Figure 3: dimensions of normalized networks; also the sequence of its rows."""

    rows: Key[tuple[Figure3Row, ...], "One entry for each δ."]

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lines(self) -> list[str]:
        """A line for each δ, and what the last column is."""
        head = " δ  dimension  evidence   eq. 16  one float32 trial"
        foot = (
            "The last column is one rank in floating point, as an experiment finds it; nothing rests on it."
        )
        return [head, *map(str, self.rows), foot]

    def drawing(self) -> Figure:
        """Computed and expected dimension against δ, and what single float32 trials give."""
        figure, axes = empty(5.2, 4.0)
        delta, expected = [row.delta for row in self], [row.expected for row in self]
        computed, trials = [row.dimension for row in self], [row.float32 for row in self]
        evidence = ", ".join(sorted({str(row.evidence) for row in self}))
        axes.plot(delta, expected, color=_BLUE, linewidth=1.2, label="equation 16", zorder=1)
        axes.scatter(delta, computed, s=26, color=_INK, zorder=3, label=f"computed ({evidence})")
        circle = {"s": 60, "facecolors": "none", "edgecolors": _RED}
        axes.scatter(delta, trials, zorder=2, label="one float32 trial", **circle)
        axes.set_title("Two normalized layers of width δ", fontsize=11)
        axes.set_xlabel("width δ")
        axes.set_ylabel("dimension")
        axes.set_xticks(delta)
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        return figure


def network(delta: int) -> DeepNetwork:
    """The network of Figure 3 with width δ."""
    return DeepNetwork((delta, delta, delta), (2, 2), 3, normalization="softmax")


def figure_3(sizes: Iterable[int] = SIZES) -> Figure3:
    """Compute the figure's numbers."""
    return Figure3(tuple(map(_row, sizes)))


def _row(delta: int) -> Figure3Row:
    net = network(delta)
    result = dimension(net)
    bounds = result.observed, result.known, result.lower_bound, result.upper_bound
    return Figure3Row(delta, equation_14(net), float32_trial(net), *bounds)


def float32_trial(net: DeepNetwork) -> int:
    """The numerical rank of one float32 Jacobian at standard Gaussian weights and inputs; proves nothing."""
    generator = np.random.default_rng(limits().seed)

    def draw(shape: tuple[int, ...]) -> NDArray[np.float32]:
        return generator.standard_normal(shape).astype(np.float32)

    weights = draw_parameters(net, draw)
    cotangents = np.eye(net.dims[-1] * net.t, dtype=np.float32).reshape(1, -1, net.dims[-1], net.t)
    everything = np.broadcast_to(cotangents, (_INPUTS, *cotangents.shape[1:]))
    X = draw((_INPUTS, net.dims[0], net.t))
    return int(np.linalg.matrix_rank(jacobian(net, weights, X, FloatArithmetic(), everything)))
