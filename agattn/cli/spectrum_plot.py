"""The picture of ``agattn rank --plot``: singular values, and where the rank cuts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agattn.algebra.rank import RankResult
from agattn.errors import InputError, TooLargeError

# Above this size the picture is drawn from float64 singular values; it says so.
PRECISE_SIZE = 60
LARGEST_SIZE = 3000


def draw(matrix: Any, result: RankResult, path: str) -> None:
    """Draw the singular values of an exact or ball matrix on a logarithmic scale.

    Raises:
        InputError: if matplotlib is missing, the file cannot be written, or its ending is unknown.
    """
    if Path(path).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"{path}: a plot is written as .png, .svg or .pdf")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install 'agattn[figures]'") from None
    logs, how = base_10_logarithms(matrix)
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(range(1, len(logs) + 1), logs, "o", markersize=3, color="0.25")
    if result.rank is not None:
        axes.axvline(result.rank + 0.5, color="C3", linewidth=1)
    else:
        axes.axvspan(result.lower_bound + 0.5, result.upper_bound + 0.5, color="C3", alpha=0.2, linewidth=0)
    axes.set_title(str(result))
    axes.set_xlabel("number of the singular value")
    axes.set_ylabel(f"log10 of the singular value ({how})")
    try:
        # No date: the same input gives the same file.
        nothing = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
        figure.savefig(path, metadata=nothing[Path(path).suffix.lower()])
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


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
        values, how = singular_values(midpoints(real(matrix), 400), 400), "400 bits"
    else:
        dense = getattr(matrix, "integers", None)
        if not isinstance(dense, np.ndarray) or matrix.row_scales:
            dense = [[float(x) for x in row] for row in midpoints(real(matrix), 64)]
        values, how = np.linalg.svd(np.array(dense, dtype=float), compute_uv=False).tolist(), "float64"
    return [float(mpmath.log10(x)) for x in values if x], how
