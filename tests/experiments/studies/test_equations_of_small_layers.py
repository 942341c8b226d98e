"""The study of the equations of all small layers, and the tables on the page on equations."""

import re
from itertools import product
from pathlib import Path

import pytest

from agattn.architectures import SingleLayer, as_layer
from agattn.experiments.studies.grid import read_grid
from agattn.geometry.ideal.ideal import compute_ideal

ROOT = Path(__file__).parents[3]
JOBS = read_grid((ROOT / "examples" / "equations.toml").read_text(encoding="utf-8")).jobs
PAGE = (ROOT / "docs" / "layer" / "equations" / "whole-ideal.md").read_text(encoding="utf-8")
PAGE = PAGE[PAGE.index("## Beyond degree 4") : PAGE.index("## Equations that cut out the closure")]


def rows(text, t):
    """The rows that are about one layer, or about all with a ≥ 2: t, sizes and numbers."""
    for line in text.splitlines():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if sizes := re.fullmatch(r"\((\d),(\d),([\da])\)(?:, a ≥ 2)?", first):
            layer = tuple(int(size.replace("a", "2")) for size in sizes.groups())
            yield t, layer, [int(cell or 0) for cell in cells[:-1]]


TWO, ONE = PAGE.split("with one token, ")
ROWS = [*rows(TWO, 2), *rows(ONE, 1)]


def test_the_study_has_every_layer_of_at_most_45_coordinates():
    asked = {(t, layer.d, layer.d_out, layer.a) for job in JOBS for layer in [as_layer(job.architecture)]
             for t in [layer.t]}  # fmt: skip
    sizes = [(t, d, d_out, a) for t, d, d_out in product((1, 2), range(2, 7), range(1, 16))
             for a in range(1, (d if t == 2 else (d + 1) // 2) + 1)]  # fmt: skip
    assert asked == {one for one in sizes if SingleLayer(*one[1:], t=one[0]).ambient_dimension <= 45}


@pytest.mark.parametrize(
    ("t", "sizes", "cells"),
    [
        pytest.param(*row, marks=[pytest.mark.slow] if row[0] == 1 and row[1][0] * row[1][1] > 4 else [])
        for row in ROWS
    ],
    ids=str,
)
def test_tables_have_the_numbers_of_the_first_degrees(t, sizes, cells):
    first = 2 if t == 2 else 3
    found = [piece.minimal_generators for piece in compute_ideal(SingleLayer(*sizes, t=t), 4).degrees]
    assert cells[: 5 - first] == found[first - 1 :]


def test_every_row_of_one_layer_is_read():
    assert [t for t, *_ in ROWS] == [2] * 16 + [1] * 17
