"""The study of the equations of all small layers, and how many generators these have."""

from itertools import product
from pathlib import Path

import pytest

from agattn.architectures import SingleLayer, as_layer
from agattn.experiments.studies.grid import read_grid
from agattn.geometry.ideal.ideal import compute_ideal

ROOT = Path(__file__).parents[3]
JOBS = read_grid((ROOT / "examples" / "equations.toml").read_text(encoding="utf-8")).jobs
#: For t = 2: the minimal generators of degree 2, 3, 4 and 5, which are all.
TWO = {
    (2, 1, 1): (3, 0, 0, 0), (2, 1, 2): (0, 0, 1, 0), (2, 2, 1): (15, 0, 5, 0), (2, 2, 2): (5, 0, 10, 0),
    (2, 3, 1): (36, 4, 30, 0), (2, 3, 2): (15, 4, 45, 0),
    (2, 4, 1): (66, 16, 100, 0), (2, 5, 1): (105, 40, 250, 0),
    (2, 6, 1): (153, 80, 525, 0), (2, 7, 1): (210, 140, 980, 0),
    (2, 4, 2): (30, 16, 135, 0), (2, 5, 2): (50, 40, 320, 0),
    (2, 6, 2): (75, 80, 651, 0), (2, 7, 2): (105, 140, 1190, 0),
    (3, 1, 1): (45, 10, 0, 0), (3, 1, 2): (0, 30, 90, 0), (3, 1, 3): (0, 20, 90, 0),
    (3, 2, 1): (198, 40, 225, 0), (3, 2, 2): (45, 136, 675, 4770), (3, 2, 3): (45, 80, 675, 4770),
    (4, 1, 1): (270, 200, 0, 0), (4, 1, 2): (0, 680, 2500, 0), (4, 1, 3): (0, 400, 2535, 0),
    (4, 1, 4): (0, 400, 2500, 0),
}  # fmt: skip
#: For t = 1: those of degree 3 and 4, and of higher degrees that are known; a = 2 stands for all a ≥ 2.
#: All are known for d = 2, (3, 1, 1) and (3, 1, 2), others to degree 4, (3, 2, a) to 5, (4, 1, a) to 6.
#: The 540 sextics are S(6)⊗S(7,7,3,1).
ONE = {
    (2, 1, 2): (0, 0), (2, 2, 2): (0, 5), (2, 3, 2): (4, 30),
    (3, 1, 1): (0, 35), (3, 1, 2): (0, 0, 0, 0, 0, 35),
    (3, 2, 1): (0, 308, 510), (3, 2, 2): (0, 125, 0),
    (3, 3, 1): (65, 1347), (3, 3, 2): (64, 750), (3, 4, 1): (260, 4005), (3, 4, 2): (256, 2500),
    (4, 1, 1): (0, 1085, 0, 0), (4, 1, 2): (0, 0, 0, 540),
    (4, 2, 1): (0, 7275), (4, 2, 2): (0, 1375), (5, 1, 1): (0, 14175), (5, 1, 2): (0, 0),
}  # fmt: skip
ROWS = [*((2, *row) for row in TWO.items()), *((1, *row) for row in ONE.items())]


def test_the_study_has_every_layer_of_at_most_45_coordinates():
    asked = {(t, layer.d, layer.d_out, layer.a) for job in JOBS for layer in [as_layer(job.architecture)]
             for t in [layer.t]}  # fmt: skip
    sizes = [(t, d, d_out, a) for t, d, d_out in product((1, 2), range(2, 7), range(1, 16))
             for a in range(1, (d if t == 2 else (d + 1) // 2) + 1)]  # fmt: skip
    assert asked == {one for one in sizes if SingleLayer(*one[1:], t=one[0]).ambient_dimension <= 45}


@pytest.mark.parametrize(
    ("t", "sizes", "numbers"),
    [
        pytest.param(*row, marks=[pytest.mark.slow] if row[0] == 1 and row[1][0] * row[1][1] > 4 else [])
        for row in ROWS
    ],
    ids=str,
)
def test_layers_have_the_numbers_of_the_first_degrees(t, sizes, numbers):
    first = 2 if t == 2 else 3
    found = [piece.minimal_generators for piece in compute_ideal(SingleLayer(*sizes, t=t), 4).degrees]
    assert list(numbers[: 5 - first]) == found[first - 1 :]
