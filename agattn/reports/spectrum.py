"""Singular values on a logarithmic scale, and where the rank cuts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agattn.algebra.rank import RankResult
from agattn.errors import TooLargeError
from agattn.reports.drawing import empty, save

# Above this size the picture is drawn from float64 singular values; it says so.
PRECISE_SIZE = 60
LARGEST_SIZE = 3000


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
        axes.axvspan(
            result.lower_bound + 0.5,
            result.upper_bound + 0.5,
            color="C3",
            alpha=0.2,
            linewidth=0,
            label="the rank ends here",
        )
    axes.set_title(str(result))
    axes.set_xlabel("number of the singular value")
    axes.set_ylabel(f"log₁₀ of the singular value ({how})")
    axes.locator_params(axis="x", integer=True)
    axes.legend(frameon=False, loc="lower left", fontsize=9.5)
    save(figure, path)


def base_10_logarithms(matrix: Any) -> tuple[list[float], str]:
    """Base-10 logarithms of the nonzero singular values, and how they were computed."""
    import mpmath
    import numpy as np

    from agattn.algebra.matrices import real_matrix as real
    from agattn.algebra.spectrum import midpoints, singular_values

    m, n = matrix.shape
    if m * n > LARGEST_SIZE**2:
        raise TooLargeError(
            f"a spectrum of a {m} x {n} matrix is too large to draw; at most {LARGEST_SIZE} squared"
        )
    if min(m, n) <= PRECISE_SIZE and max(m, n) <= 10 * PRECISE_SIZE:
        values, how = singular_values(midpoints(real(matrix).balls(400), 400), 400), "400 bits"
    else:
        dense = getattr(matrix, "integers", None)
        if not isinstance(dense, np.ndarray) or matrix.row_scales:
            dense = [[float(x) for x in row] for row in midpoints(real(matrix).balls(64), 64)]
        values, how = np.linalg.svd(np.array(dense, dtype=float), compute_uv=False).tolist(), "float64"
    return [float(mpmath.log10(x)) for x in values if x], how
