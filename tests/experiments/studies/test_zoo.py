"""The page of the model zoo is what its study finds: each model has its row; small ones come out again."""

from pathlib import Path

from agattn.experiments.studies.grid import grid_text, read_grid
from agattn.experiments.studies.study import study
from agattn.reports.document import markdown
from agattn.reports.study_report import study_report

ROOT = Path(__file__).parents[3]
JOBS = read_grid(grid_text(Path("zoo"))).jobs


TABLE = (ROOT / "docs" / "experiments" / "tables" / "zoo.tsv").read_text(encoding="utf-8").splitlines()[1:]


def rows(text):
    """The rows of the table about architectures, with a tab between cells."""
    lines = iter(text.splitlines())
    next(line for line in lines if line.startswith("| architecture |"))
    assert next(lines).startswith("| --- |")
    found = (line.strip("|").split(" | ") for line in iter(lines.__next__, ""))
    return ["\t".join(cell.strip() for cell in cells) for cells in found]


def test_every_model_has_its_row():
    names = [*dict.fromkeys(job.architecture.name for job in JOBS)]
    assert len(names) == len(TABLE) > 12
    assert all(row.startswith(f"{name}\t") for name, row in zip(names, TABLE, strict=True))


def test_small_models_come_out_again():
    lines = list(study([job for job in JOBS if job.architecture.parameters <= 12]))
    found = rows(markdown(study_report(lines, pictures=False)))
    assert len(found) > 6 and set(found) <= set(TABLE)
