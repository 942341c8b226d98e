"""One row of the table for each kind of damage."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

#: right: as without damage; detected: refused, contradicted, or undecided; wrong: anything else.
OUTCOMES = ("right", "detected", "wrong")
#: Of lies also: believed where nothing native contradicts them, by the word that stands beside the value.
LIES = ("right", "detected", "believed: proved", "believed: modular", "wrong")


@dataclass
class Row:
    """What was damaged, what became of it, and the first cases that went wrong."""

    subject: str
    outcomes: tuple = OUTCOMES
    counts: Counter = field(default_factory=Counter)
    wrong: list = field(default_factory=list)

    def add(self, outcome, case=""):
        """Count a case."""
        self.counts[outcome] += 1
        if outcome == "wrong" and len(self.wrong) < 5:
            self.wrong.append(case)


def text(rows):
    """The table as Markdown."""
    lines = []
    for outcomes, group in groupby(rows, attrgetter("outcomes")):
        lines += [""] * bool(lines) + [f"| damaged | tried | {' | '.join(outcomes)} |"]
        lines.append(f"| --- |{' ---: |' * (len(outcomes) + 1)}")
        for row in group:
            numbers = [row.counts.total(), *(row.counts[outcome] for outcome in outcomes)]
            lines.append(f"| {row.subject} | {' | '.join(map(str, numbers))} |")
    for row in rows:
        lines += [f"\nwrong: {row.subject}: {case}" for case in row.wrong]
    return "\n".join(lines)
