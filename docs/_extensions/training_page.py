"""Write the page of the training runs from a report: ``python docs/_extensions/training_page.py FOLDER``.

``agattn train … --report FOLDER`` wrote the folder. Its figures go to ``docs/experiments/training``.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parent.parent / "experiments"
TITLE = "# Training: all runs"
INTRODUCTION = (
    "This page has the numbers of all training runs, with intervals. It is for readers who want the numbers "
    "behind [training meets the geometry](training.md), which defines the words."
)
FINDINGS = (
    "## What came out\n\n[Training meets the geometry](training.md#what-came-out) tells the findings. "
    "This table has the answers, by experiment and layer."
)
NEXT = "Next: [training meets the geometry](training.md) says what the numbers mean, and what is proved."


def page_of(report: str) -> str:
    """The page from the text of ``report.md``: its files are one folder below.

    The findings stand on the page that explains them, so here they are left out, and their table is kept.

    >>> page = page_of("# Training: the results\\n\\n4 runs.\\n\\n![Shares.](learned.svg)\\n")
    >>> print(page.split(chr(10))[6])
    ![Shares.](training/learned.svg)
    """
    _, _, body = report.partition("\n\n")
    body = re.sub(r"^## What came out$.*?(?=^(?:<details|## ))", f"{FINDINGS}\n\n", body, flags=re.M | re.S)
    body = re.sub(r"\]\(([a-z]+\.(?:svg|toml))\)", r"](training/\1)", body)
    return f"{TITLE}\n\n{INTRODUCTION}\n\n{body.rstrip()}\n\n{NEXT}\n"


def write(folder: Path, experiments: Path = EXPERIMENTS) -> None:
    """Write the page, and put the figures where it looks for them."""
    report = (folder / "report.md").read_text(encoding="utf-8")
    (experiments / "training-runs.md").write_text(page_of(report), encoding="utf-8")
    for figure in folder.glob("*.svg"):
        shutil.copyfile(figure, experiments / "training" / figure.name)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
