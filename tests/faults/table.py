"""One row of the table for each kind of damage."""

from collections import Counter
from dataclasses import dataclass, field

#: right: as without damage; detected: refused, contradicted, or undecided; wrong: anything else.
OUTCOMES = ("right", "detected", "wrong")


@dataclass
class Row:
    """What was damaged, what became of it, and the first cases that went wrong."""

    subject: str
    counts: Counter = field(default_factory=Counter)
    wrong: list = field(default_factory=list)

    def add(self, outcome, case=""):
        """Count a case."""
        self.counts[outcome] += 1
        if outcome == "wrong" and len(self.wrong) < 5:
            self.wrong.append(case)


def text(rows):
    """The table as Markdown."""
    lines = ["| damaged | tried | right | detected | wrong |", "| --- | ---: | ---: | ---: | ---: |"]
    for row in rows:
        numbers = [row.counts.total(), *(row.counts[outcome] for outcome in OUTCOMES)]
        lines.append(f"| {row.subject} | {' | '.join(map(str, numbers))} |")
    for row in rows:
        lines += [f"\nwrong: {row.subject}: {case}" for case in row.wrong]
    return "\n".join(lines)
