"""The report of a verification: a verdict on each claim, who computed what, and what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from agattn.architectures.model_file import STUDIED, Studied
from agattn.engines.run import Run
from agattn.errors import nearest
from agattn.evidence import SECONDS, Status, Verdict, Verdicts
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word
from agattn.sheet.result import Key, Named, Result
from agattn.sheet.terminal import text

#: The verdicts that one screen lists, in this order; inapplicable claims are counted.
SHOWN = (Status.REFUTED, Status.UNDECIDED, Status.CONFIRMED)
LEGEND = "(r_V, r_A, r) names the functions with rk V = r_V, rk A = r_A, rk [V; Aᵀ] = r; (0,0,0) is φ = 0."


class Report(Result, Mapping[str, Verdict], name="verify", extensible=True):
    """The verdicts for one architecture, by claim; the engine runs behind them, and what went wrong."""

    layer: Key[Studied, STUDIED, Named("architecture")]
    verdicts: Key[Verdicts, "One verdict for each claim.", Named("claims")]
    runs: tuple[Run, ...]
    troubles: Key[tuple[str, ...], "Engine runs that failed, one line each."]
    engine_failed: bool
    seconds: Key[float, "Wall-clock time of everything.", SECONDS]
    characteristic: int | None = None  # of the field that engines were to use
    in_full: bool = False  # whether the sheet has witnesses and hypotheses, or a line for each claim
    command: str = ""  # that was typed in a shell, for what to type next

    def __getitem__(self, claim: str) -> Verdict:
        """The verdict on a claim; KeyError with the nearest one if there is none."""
        for verdict in self.verdicts:
            if verdict.claim == claim:
                return verdict
        raise KeyError(f"no claim {claim!r} in this report{nearest(claim, self)}")

    def __iter__(self) -> Iterator[str]:
        return (verdict.claim for verdict in self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def exit_status(self) -> int:
        """0 all confirmed or inapplicable; 1 a claim refuted; 3 undecided; 4 as an engine failed."""
        statuses = {verdict.status for verdict in self.verdicts}
        if Status.REFUTED in statuses:
            return 1
        if Status.UNDECIDED in statuses:
            return 4 if self.engine_failed else 3
        return 0

    @property
    def idle(self) -> str:
        """What was asked for, and changed nothing; empty if all did something."""
        if not self.characteristic or self.runs or self.troubles:
            return ""
        field = f"The field of {self.characteristic} elements changed nothing"
        return f"{field}: no engine was asked, and native results hold over ℚ."

    @property
    def engines(self) -> list[str]:
        """The engines that answered, with their versions."""
        installations = (run.installation for run in self.runs)
        return [*dict.fromkeys(f"{there.engine.title} {there.version}" for there in installations)]

    @property
    def found_by(self) -> dict[str, list[str]]:
        """What the verdicts rest on, by who found and who checked it, in words."""
        groups: dict[str, list[str]] = {}
        for source in dict.fromkeys(s for verdict in self.verdicts for s in verdict.sources):
            checked = f", checked by {source.checked_by}" if source.checked_by else ""
            who = f"Found by {source.found_by}{checked}".replace("by native", "natively")
            groups.setdefault(who, []).append(source.part)
        return groups

    def summary(self) -> str:
        """How many claims there are, and what was concluded."""
        counts = Counter(str(verdict.status) for verdict in self.verdicts)
        words = ", ".join(f"{number} {word}" for word, number in counts.items())
        return f"{self.layer}: {len(self)} claim{'s' * (len(self) != 1)}{f', {words}' if words else ''}"

    def __str__(self) -> str:
        return text(self.sheet())

    def sheet(self) -> Sheet:
        """The verdicts: their reasons on a page; on a terminal one screen, or everything if `in_full`."""
        reasons = tuple((v.claim, str(v.status), v.strength, v.short, v.witness) for v in self.verdicts)
        headings = ("claim", "verdict", "evidence", Wide("computed"))
        page = Table(str(self.layer), (*headings, Wide("why")), reasons, where="page")
        if not self.in_full:
            return Sheet(str(self.layer), (page, *self._screen()))
        values = tuple((v.claim, Word(str(v.status)), v.strength, v.short) for v in self.verdicts)
        meanings = [f"{v.claim}: {v.meaning}." for v in self.verdicts if v.is_terse and v.meaning]
        return Sheet(
            str(self.layer),
            (
                page,
                Table("", headings, values, ruled=False, where="terminal"),
                *([Note(LEGEND, folded=True)] if getattr(self.layer, "has_orbits", False) else []),
                *([Note("\n".join(meanings), folded=True)] if meanings else []),
                *map(Note, self._remarks()),
            ),
        )

    def _screen(self) -> Iterator[Table | Note]:
        """One screen: the counts, a line for claims that say the same, and what to type next."""
        counts = Counter(verdict.status for verdict in self.verdicts)
        words = [f"{counts[status]} {status}" for status in SHOWN if counts[status]]
        silent = counts[Status.INAPPLICABLE]
        words += [f"{silent} say{'s' * (silent == 1)} nothing here"] * (silent > 0)
        engines = [f"asked: {', '.join(self.engines)}"] * bool(self.runs)
        yield Note(f"{', '.join([*words, *engines])}\n", apart=False)
        alike: dict[tuple[Status, str, str], list[Verdict]] = {}
        shown = [verdict for verdict in self.verdicts if verdict.status in SHOWN]
        for verdict in sorted(shown, key=lambda verdict: SHOWN.index(verdict.status)):
            key = verdict.status, str(verdict.evidence or ""), verdict.in_brief
            alike.setdefault(key, []).append(verdict)
        rows: list[tuple[Cell, ...]] = []
        for (status, known, says), group in alike.items():
            labels = ", ".join(verdict.label for verdict in group)
            rows += [(Word(str(status)), known, f"{labels.ljust(8)} {says}")]
            rows += [("", "", f"{'':8} {group[0].exception}")] * bool(group[0].exception)
        if rows:
            yield Table("", ("", "", Wide("")), tuple(rows), ruled=False, where="terminal")
        yield from (Note(f"trouble: {trouble}") for trouble in dict.fromkeys(self.troubles))
        if self.idle:
            yield Note(self.idle)
        if self.command:
            doubtful = [v.label for v in self.verdicts if v.status in SHOWN[:2]]
            witness = f" --claim {doubtful[0]}: the witness;" if doubtful else ""
            yield Note(f"{self.command}{witness} --all: everything")

    def _remarks(self) -> list[str]:
        """What a reader must not miss: refutations with their witness, doubts, troubles, who computed."""
        grouped: dict[tuple[str, str], list[str]] = {}
        silent: dict[tuple[str, ...], list[str]] = {}
        for verdict in self.verdicts:
            if verdict.status.value in ("refuted", "undecided"):
                grouped.setdefault((verdict.status.value, verdict.witness), []).append(verdict.claim)
            if verdict.assumes:
                silent.setdefault(verdict.assumes, []).append(verdict.claim)
        lines = [f"{', '.join(ids)}, {word}: {witness}." for (word, witness), ids in grouped.items()]
        for hypotheses, ids in silent.items():
            do, they = ("do", "they assume") if len(ids) > 1 else ("does", "it assumes")
            lines.append(f"{', '.join(ids)} {do} not apply: {they} {' and '.join(hypotheses)}.")
        # A claim that is confirmed by one limit, which a reader wants to see.
        shown = (v for v in self.verdicts if v.status is Status.CONFIRMED and "limit" in v.details)
        lines += [f"{v.claim}: {v.witness}." for v in shown]
        lines += [f"{v.claim}: checked {v.scope}." for v in self.verdicts if v.scope]
        lines += [f"trouble: {trouble}" for trouble in dict.fromkeys(self.troubles)]
        by = ", ".join(self.engines) or "exact linear algebra"
        computed = [f"Computed by {by} in {self.seconds:.1f} s."]
        if self.engines:
            computed += [f"{who}: {'; '.join(parts)}." for who, parts in self.found_by.items()]
        computed += [self.idle] if self.idle else []
        return [*lines, "\n".join(computed)]
