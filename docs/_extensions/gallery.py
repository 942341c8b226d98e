"""The pictures of the gallery, made when the site is built, most by the commands that stand beneath them.

The inputs are small and are written here. No engine is used, so that the pictures are the same everywhere.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

COMMANDS = (
    "agattn figure 1 --engine native -O umbrella.png",
    "agattn figure 1 --engine native -O umbrella.html",
    "agattn figure 1 --engine native --slice slice.json -O quartic.png",
    "agattn critical-points 2 1 -O loss.png",
    "agattn critical-points 2 1 -O loss.html",
    "agattn strata 3 2 2 -O strata.svg",
    "agattn figure 2 -O tree.svg",
    "agattn spectrum --dims 4,4,4,4 --ranks 2,2,2 -t 4 --normalization softmax -O bands.png",
    "agattn figure 3 -O dimensions.svg",
    "agattn rank hilbert.json -O spectrum.svg",
    "agattn classify model.npz --heads 4 -O heads.svg",
    "agattn classify model.npz --heads 4 -O heads.html",
    "agattn report 2 1 --engine native --max-degree 4 -O layer",
    "agattn report --dims 4,3,4 --ranks 2,2 --engine native -O network",
)


def write_inputs(folder: Path) -> None:
    """A slice of M(2,1,2), the Hilbert matrix of size 20, and a model of six layers with four heads each.

    Layer by layer the model comes closer to rank one: in layer i the singular values of each matrix are the
    powers (9/10)^{ij}, j = 0, ..., 7.
    """
    import numpy as np

    axes = [[0, 0, 0, 0, 1, 0], [0, 0, 0, "1/2", 0, 1], [0, 0, 1, 0, "1/3", 0]]
    quartic = {"origin": [1, 0, 0, 0, 0, 0], "directions": axes}
    (folder / "slice.json").write_text(json.dumps(quartic), encoding="utf-8")
    hilbert = [[str(Fraction(1, i + j + 1)) for j in range(20)] for i in range(20)]
    (folder / "hilbert.json").write_text(json.dumps(hilbert), encoding="utf-8")
    draw = np.random.default_rng(0)
    arrays: dict[str, Any] = {}
    for layer in range(6):
        for name in ("query", "key", "value"):
            heads = []
            for _ in range(4):
                left, _, right = np.linalg.svd(draw.standard_normal((8, 32)), full_matrices=False)
                heads.append(left * (9 / 10) ** (layer * np.arange(8)) @ right)
            arrays[f"encoder.layer.{layer}.attention.self.{name}.weight"] = np.concatenate(heads)
    np.savez(folder / "model.npz", **arrays)


def draw_limits(path: Path) -> None:
    """The slice through a head of rank one: curves of constant c, and the limits that no weights reach."""
    import numpy as np
    from head_slice import DRAWN, head_slice

    from agattn.reports.drawing import save
    from agattn.reports.surface import Array, Line, Marks, Scene, draw, grid_triangles, joined

    def point(x: Array, y: Array) -> Array:
        return np.stack([x**i * y**j for i, j in DRAWN], axis=-1)

    grid, none = np.linspace(-1, 1, 61), np.zeros((0, 3, 3))
    x = np.linspace(-1, 1, 81)
    skew = [sign * c for c in (0, 0.25, 0.5, 1, 2, 4, 10) for sign in (1, -1)]
    curves = joined(point(x / max(1, abs(c)), c * x / max(1, abs(c))) for c in skew)
    ends = point(np.zeros((1, 2)), np.array([[-1.0, 1.0]]))
    limits = Line(ends, "limits, which no weights reach", dotted=True)
    scene = Scene(
        ("x", "y", "z"),
        head_slice().equation.latex(),
        1,
        (grid_triangles(point, grid, grid), none),
        curves,
        (limits,),
        (Marks(np.zeros((1, 3)), "a head of rank one"),),
        "weights with a fixed skew part of M₂",
        47,
    )
    save(draw(scene), path)


def make(folder: Path) -> None:
    """Write the inputs and run the commands in a folder.

    Raises:
        RuntimeError: if a command ends with a status that is not 0.
    """
    from agattn.cli.main import cli
    from agattn.workers import one_blas_thread

    one_blas_thread()
    logging.getLogger("matplotlib").setLevel(logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    write_inputs(folder)
    draw_limits(folder / "limits.png")
    for line in COMMANDS:
        said = io.StringIO()
        into = contextlib.redirect_stdout(said), contextlib.redirect_stderr(said)
        with contextlib.chdir(folder), into[0], into[1]:
            status = cli.main(shlex.split(line)[1:], prog_name="agattn", standalone_mode=False)
        if status:
            raise RuntimeError(f"{line} ended with status {status}: {said.getvalue()}")


def setup(app: Any) -> dict[str, bool]:
    """Make the gallery before anything is read."""
    app.connect("builder-inited", lambda app: make(Path(app.srcdir) / "_gallery" / "gallery"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
