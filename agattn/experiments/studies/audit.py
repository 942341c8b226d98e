"""The audit: every claim for every small architecture, and the pattern of where each fails.

>>> table = audit(3, 2, ("theorem-3.4.singular",))
>>> [cells(row) for row in table.rows if row.architecture == SingleLayer(3, 2, 2)]
[{'theorem-3.4.singular': 'fails at (2,1,2), (2,1,3)'}]
>>> print(table.pattern("theorem-3.4.singular", "fails").condition)
a < d and a ≥ 2 and d' ≥ 2
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Literal, NamedTuple

from agattn.architectures import SingleLayer
from agattn.calls import positive_integer
from agattn.claims import LAYER_CLAIMS as CLAIMS
from agattn.claims.claim import select
from agattn.evidence import Judged, Status
from agattn.experiments.studies.jobs import Job
from agattn.experiments.studies.lines import Entry, exit_status
from agattn.experiments.studies.study import answers
from agattn.limits import limited, limits, takes
from agattn.sheet.data import Sheet, Table
from agattn.sheet.result import Key, Positive, Result, Written, key
from agattn.systems.problem import check_size

#: In a condition; pairs of comparisons with more numbers would take hours.
LARGEST_NUMBER = 12
WORDS = {"confirmed": "holds", "refuted": "fails"}
#: The words whose patterns are sought.
SOUGHT = ("fails", "inapplicable", "undecided")
KNOWN = "How `computed` is known, in part if the claim says more; null where nothing was computed."


class Pattern(NamedTuple):
    """In how many rows of a column of the table a word stands: in ``where`` of ``rows``.

    The condition on d, d', a describes these rows; ``None`` if no short condition does.
    """

    condition: str | None
    rows: int
    where: int


class AuditedClaim(Result):
    """What became of a claim for one architecture."""

    id: Key[str, "The claim."]
    verdict: Key[Status, "What is concluded."]
    evidence: Key[str | None, KNOWN, Written(Judged)]
    witness: Key[str, "The reason in words; for a refuted claim the strata where it fails."]

    def summary(self) -> str:
        """The verdict in a line."""
        return f"{self.id}: {self.verdict}{f' ({self.evidence})' * bool(self.evidence)}. {self.witness}"


class AuditedLayer(Result):
    """The claims about one architecture."""

    architecture: Key[SingleLayer, "The layer."]
    claims: Key[tuple[AuditedClaim, ...], "The verdict of each claim."]

    def summary(self) -> str:
        """The layer and the number of claims."""
        return f"{self.architecture.name}: {len(self.claims)} claims"


class FoundPattern(Result):
    """Where a claim has a word."""

    id: Key[str, "The claim."]
    word: Key[
        str,
        "What is true where the condition holds.",
        Written(Literal["fails", "inapplicable", "undecided"]),
    ]
    condition: Key[str | None, "A shortest condition on d, d', a for just these rows; null if none found."]
    rows: Key[int, "The rows it was found and checked on: for failures those where the claim applies."]
    where: Key[int, "In how many of them it is true."]

    def summary(self) -> str:
        """The pattern in a line."""
        return f"{self.id}: {self.word} in {self.where} of {self.rows}, {self.condition or 'no pattern'}"


class Audit(Result, name="audit"):
    """A table, architecture by claim: the lines of a study of all small layers."""

    max_d: Key[Positive, "The largest d."]
    max_out: Key[Positive, "The largest d'."]
    claims: tuple[str, ...]
    rows: tuple[Entry, ...]

    @key(name="rows")
    def layers(self) -> list[AuditedLayer]:
        """One entry for each architecture."""
        return [
            AuditedLayer(
                row.architecture,
                tuple(
                    AuditedClaim(claim["id"], Status(claim["verdict"]), claim["evidence"], claim["witness"])
                    for claim in row.claims.values()
                ),
            )
            for row in self.rows
        ]

    @key
    def patterns(self) -> list[FoundPattern]:
        """Where claims fail, are inapplicable or undecided, by d, d', a."""
        return [
            FoundPattern(claim, word, *pattern)
            for claim in self.claims
            for word in SOUGHT
            if (pattern := self.pattern(claim, word)) is not None
        ]

    def summary(self) -> str:
        """How many claims about how many architectures, in a line."""
        return f"{len(self.claims)} claims about {len(self.rows)} architectures"

    def sheet(self) -> Sheet:
        """The patterns, a row for each."""
        rows = tuple((p.id, p.word, p.condition or "", p.where, p.rows) for p in self.patterns)
        table = Table(self.summary(), ("claim", "word", "where", "rows", "of"), rows)
        return Sheet(self.summary(), (table,))

    @property
    def exit_status(self) -> int:
        """1 if a claim was refuted anywhere, 3 if one stayed undecided, else 0."""
        return exit_status(row.line for row in self.rows)

    def pattern(self, claim: str, word: str) -> Pattern | None:
        """Describe the rows where a claim has a word; ``None`` if there are none.

        Failures are told from the rows where the claim applies, the other words from all rows.
        """
        found = [(row.architecture, words(row)[claim]) for row in self.rows]
        rows = [(layer, here) for layer, here in found if word != "fails" or here != "inapplicable"]
        inside = [layer for layer, here in rows if here == word]
        outside = [layer for layer, here in rows if here != word]
        return Pattern(describe(inside, outside), len(rows), len(inside)) if inside else None


def words(row: Entry) -> dict[str, str]:
    """``holds``, ``fails``, ``inapplicable`` or ``undecided``, by claim."""
    return {name: WORDS.get(claim["verdict"], claim["verdict"]) for name, claim in row.claims.items()}


def cells(row: Entry) -> dict[str, str]:
    """The words, with the strata where a claim fails."""
    return {
        name: f"fails at {', '.join(row.claims[name]['fails_at'])}" if word == "fails" else word
        for name, word in words(row).items()
    }


@takes("force", "progress")
def audit(max_d: int = 4, max_out: int = 4, claims: str | Sequence[str] = ()) -> Audit:
    """Put every claim to all layers up to a size, natively: a table, and the pattern of where each fails.

    Each is asked at t = 2, whatever a ≤ d. Nothing depends on t ≥ 2, nor on a ≥ d, so the table covers all.

    Args:
        max_d: the largest embedding dimension d; a goes up to it.
        max_out: the largest output dimension d'.
        claims: ids, or beginnings of some; none for all.
        force: go beyond the limit on the size of systems.

    Raises:
        InputError: if a bound is no positive whole number, or there is no such claim.
        TooLargeError: beyond the limit on sizes.

    See Also:
        :func:`agattn.verify`, :func:`agattn.atlas`, :func:`agattn.study`; ``agattn audit`` in a shell.

    >>> import agattn as ag
    >>> ag.audit(2, 1, "corollary-3.3").exit_status
    0
    """
    largest = SingleLayer(positive_integer("max_d", max_d), positive_integer("max_out", max_out))
    if not limits().force:
        check_size(largest)
    named = (claims,) if isinstance(claims, str) else tuple(claims)
    chosen = tuple(claim.id for claim in select(CLAIMS, named))
    shapes = product(*(range(1, n + 1) for n in (largest.d, largest.d_out, largest.d)))
    jobs = [Job(SingleLayer(d, d_out, a), "verify", chosen) for d, d_out, a in shapes if a <= d]
    with limited(force=True):
        return Audit(largest.d, largest.d_out, chosen, answers(jobs))


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
    tests = _comparisons(layers)
    size = len(inside)
    everything = frozenset(range(size, len(layers)))
    candidates: dict[tuple[str, ...], frozenset[int]] = {}
    for condition in [*combinations(tests, 1), *combinations(tests, 2)]:
        values = [any(tests[text][n] for text in condition) for n in range(len(layers))]
        excluded = frozenset(n for n in everything if not values[n])
        weaker = any(
            set(shorter) < set(condition) and excluded <= gone for shorter, gone in candidates.items()
        )
        if all(values[:size]) and excluded and not weaker:
            candidates[condition] = excluded
    # Of the conditions that exclude the same rows the first is as good as any.
    useful = {gone: condition for condition, gone in reversed(candidates.items())}
    found = [
        tuple(useful[gone] for gone in chosen)
        for length in (1, 2, 3)
        for chosen in combinations(reversed(useful), length)
        if frozenset[int]().union(*chosen) == everything
    ]
    if not found:
        return None
    best = min(found, key=lambda conditions: sum(map(len, conditions)))
    alternatives = [" or ".join(condition) for condition in best]
    return " and ".join(f"({text})" if " or " in text and len(best) > 1 else text for text in alternatives)


def _comparisons(layers: Sequence[SingleLayer]) -> dict[str, list[bool]]:
    """For which layers a comparison holds of d, d', a with each other or a small number; simplest first."""
    letters = {"a": [x.a for x in layers], "d'": [x.d_out for x in layers], "d": [x.d for x in layers]}
    found = {"a < d": [x.a < x.d for x in layers], "a = d": [x.a == x.d for x in layers]}
    largest = min(max(letters["d"] + letters["d'"]), LARGEST_NUMBER)
    for n, (letter, values) in product(range(1, largest + 1), letters.items()):
        if n > 1:
            found[f"{letter} ≥ {n}"] = [value >= n for value in values]
        found[f"{letter} = {n}"] = [value == n for value in values]
    return found
