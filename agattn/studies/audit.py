"""The audit: every claim for every small architecture, and the pattern of where each fails.

>>> table = audit(3, 2, ("theorem-3.4.singular",))
>>> [row.cells for row in table.rows if row.layer == SingleLayer(3, 2, 2)]
[{'theorem-3.4.singular': 'fails at (2,1,2), (2,1,3)'}]
>>> print(table.pattern("theorem-3.4.singular", "fails").condition)
a < d and a ≥ 2 and d' ≥ 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product

from agattn.architectures import SingleLayer
from agattn.claims.claim import select
from agattn.claims.single_layer import CLAIMS
from agattn.evidence import Evidence, Status, Verdict
from agattn.verification.certificate import failing_strata
from agattn.verification.verify import Settings, verify

WORDS = {
    Status.CONFIRMED: "holds",
    Status.REFUTED: "fails",
    Status.INAPPLICABLE: "inapplicable",
    Status.UNDECIDED: "undecided",
}
MAX_CONDITIONS = 3
Condition = tuple[str, ...]
"""Comparisons of which at least one holds."""


@dataclass(frozen=True)
class Row:
    """One architecture, and the verdict on every claim."""

    layer: SingleLayer
    verdicts: tuple[Verdict, ...]

    @property
    def words(self) -> dict[str, str]:
        """``holds``, ``fails``, ``inapplicable`` or ``undecided``, by claim."""
        return {verdict.claim: WORDS[verdict.status] for verdict in self.verdicts}

    @property
    def cells(self) -> dict[str, str]:
        """The words, with the strata where a claim fails."""
        return {
            verdict.claim: f"fails at {', '.join(map(triple, failing_strata(verdict)))}"
            if verdict.status is Status.REFUTED
            else WORDS[verdict.status]
            for verdict in self.verdicts
        }


@dataclass(frozen=True)
class Pattern:
    """Where a word stands in a column of the table.

    Attributes:
        condition: in d, d', a; ``None`` if no short one describes it.
        rows: the number of rows it was found and checked on.
        where: how many of them have the word.
    """

    condition: str | None
    rows: int
    where: int


@dataclass(frozen=True)
class Audit:
    """A table, architecture by claim."""

    max_d: int
    max_out: int
    claims: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def exit_status(self) -> int:
        """1 if a claim was refuted anywhere, 3 if one stayed undecided, else 0."""
        words = {word for row in self.rows for word in row.words.values()}
        return 1 if "fails" in words else 3 if "undecided" in words else 0

    def pattern(self, claim: str, word: str) -> Pattern | None:
        """Describe the rows where a claim has a word; ``None`` if there are none.

        Failures are told from the rows where the claim applies, the other words from all rows.
        """
        rows = [row for row in self.rows if word != "fails" or row.words[claim] != "inapplicable"]
        inside = [row.layer for row in rows if row.words[claim] == word]
        outside = [row.layer for row in rows if row.words[claim] != word]
        return Pattern(describe(inside, outside), len(rows), len(inside)) if inside else None

    def as_json(self) -> dict[str, object]:
        """The table and its patterns, JSON-ready."""
        return {
            "max_d": self.max_d,
            "max_out": self.max_out,
            "rows": [
                {
                    "architecture": row.layer.as_json(),
                    "claims": [
                        {
                            "id": verdict.claim,
                            "verdict": verdict.status.value,
                            "evidence": verdict.evidence.value if verdict.evidence else None,
                            "witness": verdict.witness,
                        }
                        for verdict in row.verdicts
                    ],
                }
                for row in self.rows
            ],
            "patterns": [
                {"id": claim, "word": word, "condition": p.condition, "rows": p.rows, "where": p.where}
                for claim in self.claims
                for word in ("fails", "inapplicable", "undecided")
                if (p := self.pattern(claim, word)) is not None
            ],
        }


def triple(ranks: Sequence[int]) -> str:
    """The name of a stratum.

    >>> triple([2, 1, 3])
    '(2,1,3)'
    """
    return f"({','.join(map(str, ranks))})"


def audit(
    max_d: int,
    max_out: int,
    claims: Sequence[str] = (),
    progress: Callable[[str], None] = lambda message: None,
) -> Audit:
    """Judge claims natively for all architectures d ≤ max_d, d' ≤ max_out, a ≤ d, at t = 2.

    Nothing depends on t ≥ 2, nor on a ≥ d, so the table covers all t ≥ 2 and all a.

    Raises:
        InputError: if a bound is no positive integer, or if there is no such claim.
    """
    largest = SingleLayer(max_d, max_out)
    chosen = tuple(claim.id for claim in select(CLAIMS, tuple(claims)))
    rows = []
    for d in range(1, largest.d + 1):
        for d_out in range(1, largest.d_out + 1):
            for a in range(1, d + 1):
                layer = SingleLayer(d, d_out, a)
                progress(str(layer))
                report = verify(layer, chosen, Settings(engine="native", force=True))
                rows.append(Row(layer, report.verdicts))
    return Audit(largest.d, largest.d_out, chosen, tuple(rows))


# The pattern: the shortest condition that separates some rows from the others -------------------------------


def describe(inside: Sequence[SingleLayer], outside: Sequence[SingleLayer]) -> str | None:
    """A shortest condition on d, d' and a that holds for all layers inside and for none outside.

    It is a conjunction of at most three conditions, each of which is a comparison or an alternative of two.
    ``None`` if there is no such condition.

    >>> grid = [SingleLayer(d, 1, a) for d in (1, 2, 3) for a in range(1, d + 1)]
    >>> describe([x for x in grid if x.a < x.d], [x for x in grid if x.a == x.d])
    'a < d'
    """
    layers = [*inside, *outside]
    if not outside:
        return "always"
    tests = {text: [holds(layer) for layer in layers] for text, holds in _comparisons(layers)}
    size = len(inside)
    candidates: list[tuple[Condition, frozenset[int]]] = []
    for length in (1, 2):
        for condition in combinations(tests, length):
            values = [any(tests[text][n] for text in condition) for n in range(len(layers))]
            excluded = frozenset(n for n in range(size, len(layers)) if not values[n])
            weaker = any(set(shorter) < set(condition) and excluded <= gone for shorter, gone in candidates)
            if all(values[:size]) and excluded and not weaker:
                candidates.append((condition, excluded))
    everything = frozenset(range(size, len(layers)))
    # Of the conditions that exclude the same rows the first is as good as any.
    useful = {gone: condition for condition, gone in reversed(candidates)}
    found: list[tuple[Condition, ...]] = []
    for length in range(1, MAX_CONDITIONS + 1):
        for chosen in combinations(reversed(useful), length):
            if frozenset[int]().union(*chosen) == everything:
                found.append(tuple(useful[gone] for gone in chosen))
    if not found:
        return None
    best = min(found, key=lambda conditions: sum(map(len, conditions)))
    alternatives = [" or ".join(condition) for condition in best]
    return " and ".join(f"({text})" if " or " in text and len(best) > 1 else text for text in alternatives)


def _comparisons(layers: Iterable[SingleLayer]) -> list[tuple[str, Callable[[SingleLayer], bool]]]:
    """Comparisons of d, d', a with each other and with the numbers that occur, the simplest first."""
    found: list[tuple[str, Callable[[SingleLayer], bool]]] = [
        ("a < d", lambda layer: layer.a < layer.d),
        ("a = d", lambda layer: layer.a == layer.d),
    ]
    letters: dict[str, Callable[[SingleLayer], int]] = {
        "a": lambda layer: layer.a,
        "d'": lambda layer: layer.d_out,
        "d": lambda layer: layer.d,
    }
    largest = max(max(layer.d, layer.d_out) for layer in layers)
    for n, (letter, value) in product(range(1, largest + 1), letters.items()):
        if n > 1:
            found.append((f"{letter} ≥ {n}", partial(_at_least, value, n)))
        found.append((f"{letter} = {n}", partial(_equals, value, n)))
    return found


def _at_least(value: Callable[[SingleLayer], int], n: int, layer: SingleLayer) -> bool:
    return value(layer) >= n


def _equals(value: Callable[[SingleLayer], int], n: int, layer: SingleLayer) -> bool:
    return value(layer) == n


# As a document ----------------------------------------------------------------------------------------------


def markdown(table: Audit) -> str:
    """The table as a page, which says what wrote it."""
    command = f"agattn audit --max-d {table.max_d} --max-out {table.max_out}"
    if table.claims != tuple(CLAIMS):
        command += "".join(f" --claim {claim}" for claim in table.claims)
    applying = [v for row in table.rows for v in row.verdicts if v.hypotheses_hold]
    proved = sum(v.evidence is Evidence.PROVED for v in applying)
    lines = [
        f"<!-- Written by `{command} -O FILE`. Do not edit. -->",
        "",
        "# Audit",
        "",
        f"`{command}` put {len(table.claims)} claims to the {len(table.rows)} architectures with "
        f"d ≤ {table.max_d}, d' ≤ {table.max_out} and a ≤ d, natively. Every t ≥ 2 gives the same "
        "neuromanifold up to a linear isomorphism, and a > d the same as a = d. The numbering is that "
        "of version 2 of the paper.",
        "",
        f"A claim applies in {len(applying)} cells of the table; the verdict is proved in {proved} of them. "
        "Strata are written (rk V, rk A, rk [V; Aᵀ]).",
        "",
        "## What emerges",
        "",
        "The conditions below were found from the table: each is a shortest one that is true in exactly the "
        "rows in question. For all architectures, see [the corrected theorem](corrected-theorem.md).",
        "",
        *_patterns(table),
        "",
        "## Where a claim fails",
        "",
        *_failures(table),
        "",
        "## All cells",
        "",
        *_cells(table),
    ]
    return "\n".join(lines) + "\n"


def _patterns(table: Audit) -> list[str]:
    """One line for the claims that share a pattern."""
    grouped: dict[str, list[str]] = {}
    for claim in table.claims:
        parts = []
        for word in ("fails", "undecided", "inapplicable"):
            found = table.pattern(claim, word)
            if found is None:
                continue
            among = "rows where it applies" if word == "fails" else "rows"
            if found.condition is None:
                parts.append(f"{word} in {found.where} of {found.rows} {among}, by no short pattern")
            else:
                parts.append(
                    f"{word} exactly where {found.condition}: {found.where} of {found.rows} {among}, "
                    "and no row is an exception"
                )
        if not any(part.startswith(("fails", "undecided")) for part in parts):
            parts.insert(0, "holds wherever it applies")
        grouped.setdefault("; ".join(parts), []).append(claim)
    return [f"- {', '.join(f'`{claim}`' for claim in claims)}: {text}." for text, claims in grouped.items()]


def _failures(table: Audit) -> list[str]:
    failing = [claim for claim in table.claims if any(row.words[claim] == "fails" for row in table.rows)]
    if not failing:
        return ["Nowhere."]
    lines = ["| (d, d', a) | " + " | ".join(failing) + " |", "| --- |" + " --- |" * len(failing)]
    for row in table.rows:
        if any(row.words[claim] == "fails" for claim in failing):
            lines.append(f"| {_name(row)} | " + " | ".join(row.cells[claim] for claim in failing) + " |")
    return lines


def _cells(table: Audit) -> list[str]:
    marks = {"holds": "✓", "fails": "✗", "inapplicable": "–", "undecided": "?"}
    lines = [
        "✓ holds, ✗ fails, – inapplicable" + (", ? undecided" if table.exit_status == 3 else "") + ".",
        "",
        "| (d, d', a) | " + " | ".join(table.claims) + " |",
        "| --- |" + " :-: |" * len(table.claims),
    ]
    for row in table.rows:
        lines.append(f"| {_name(row)} | " + " | ".join(marks[word] for word in row.words.values()) + " |")
    return lines


def _name(row: Row) -> str:
    return triple((row.layer.d, row.layer.d_out, row.layer.a))
