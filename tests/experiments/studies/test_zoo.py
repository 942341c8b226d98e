"""The page of the model zoo is what its study finds: each model has its row; small ones come out again."""

from pathlib import Path

from agattn.experiments.studies.grid import grid_text, read_grid
from agattn.experiments.studies.study import study
from agattn.reports.document import markdown
from agattn.reports.study_report import study_report

ROOT = Path(__file__).parents[3]
JOBS = read_grid(grid_text(Path("zoo"))).jobs


def rows(text):
    """The rows of the table about architectures."""
    lines = iter(text.splitlines())
    next(line for line in lines if line.startswith("| architecture |"))
    assert next(lines).startswith("| --- |")
    return list(iter(lines.__next__, ""))


PAGE = rows((ROOT / "docs" / "experiments" / "zoo.md").read_text(encoding="utf-8"))


def test_every_model_has_its_row():
    names = [*dict.fromkeys(job.architecture.name for job in JOBS)]
    assert len(names) == len(PAGE) > 12
    assert all(row.startswith(f"| {name}") for name, row in zip(names, PAGE, strict=True))


def test_small_models_come_out_again():
    lines = list(study([job for job in JOBS if job.architecture.parameters <= 12]))
    found = rows(markdown(study_report(lines, pictures=False)))
    assert len(found) > 6 and set(found) <= set(PAGE)
