"""The lines of a study: one JSON document for each job, counted and read back.

>>> line = {"job": {"ask": "dimension"}, "result": {"evidence": "proved"}, "status": 0}
>>> words(line), exit_status([line, {**line, "status": 3}])
(['proved'], 3)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agattn.architectures.forms import architecture_of
from agattn.claims.network_dimension import DimensionByPaper
from agattn.errors import InputError
from agattn.evidence import Evidence, weakest
from agattn.experiments.studies.jobs import TOGETHER, Line, StudyLine, key_of
from agattn.files import about
from agattn.geometry.dimension.lie_algebra import LinearSymmetries
from agattn.geometry.ideal.ideal import Ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal
from agattn.sheet.data import Sheet, Table, Wide
from agattn.sheet.result import Result, check, check_one_of
from agattn.verification.report import Report
from agattn.verification.strata_table import StrataTable

#: What comes of a question.
RESULTS: dict[str, tuple[type[Result], ...]] = {
    "dimension": (DimensionByPaper,),
    "ideal": (ModelIdeal, Ideal),
    "strata": (StrataTable,),
    "symmetries": (LinearSymmetries,),
    "verify": (Report,),
}
#: What becomes of a job or a claim, in the order in which it is told.
WORDS = ("confirmed", "refuted", "undecided", "inapplicable", "proved", "modular", "numerical", "failed")


@dataclass(frozen=True)
class Entry:
    """A line, to be asked for its parts."""

    line: Line

    @cached_property
    def architecture(self) -> Any:
        """What it is about."""
        return architecture_of(self.line["architecture"])

    @property
    def result(self) -> dict[str, Any]:
        """What came out; nothing where there was an error."""
        found: dict[str, Any] = self.line.get("result", {})
        return found

    @property
    def claims(self) -> dict[str, dict[str, Any]]:
        """The verdicts by claim."""
        return {claim["id"]: claim for claim in self.result.get("claims", [])}


def written(line: Line) -> str:
    """A line as text."""
    return json.dumps(line, ensure_ascii=False)


def words(line: Mapping[str, Any]) -> list[str]:
    """What came out: verdicts on claims, how runs ended, or how a result is known; or ``failed``."""
    if "error" in line:
        return ["failed"]
    ask, result = line["job"]["ask"], line["result"]
    if ask == "train":
        return [run["outcome"] for run in result["runs"]]
    if ask == "verify":
        return [claim["verdict"] for claim in result["claims"]]
    if ask in ("dimension", "symmetries"):
        return [result["evidence"] or "bounds"]
    if ask == "ideal":
        return [weakest(Evidence(degree["evidence"]) for degree in result["degrees"]).value]
    return ["proved" if all(row["singular"] is not None for row in result["strata"]) else "undecided"]


def row(line: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """The row of a line in the table of a study: the architecture, the question, the answer, the evidence."""
    about = architecture_of(line["architecture"]).name
    ask, result = line["job"]["ask"], line.get("result")
    if result is None:
        return about, ask, line["error"]["message"], "failed"
    if ask == "verify":
        return about, ask, counted(words(line)), ""
    known = counted(words(line)).partition(" ")[2]
    if ask == "strata":
        singular = sum(row["singular"] is True for row in result["strata"])
        return about, ask, f"{len(result['strata'])} strata, {singular} singular", known
    if ask == "ideal":
        new = ((degree["degree"], degree["minimal_generators"]) for degree in result["degrees"])
        found = ", ".join(f"{number} of degree {degree}" for degree, number in new if number)
        return about, ask, f"equations: {found or 'none'}", known
    if result["dimension"] is None:
        return about, ask, f"dimension in {result['lower_bound']}..{result['upper_bound']}", "proved"
    return about, ask, f"dimension {result['dimension']}", known


def sheet(rows: Sequence[tuple[str, str, str, str]]) -> Sheet:
    """The table that a study shows."""
    return Sheet("", (Table("", ("architecture", "asked", Wide("answer"), "evidence"), tuple(rows)),))


def is_open(line: Mapping[str, Any]) -> bool:
    """Whether something in a line is undecided, or not proved."""
    return any(word in ("undecided", "modular", "numerical") for word in words(line))


def exit_status(lines: Iterable[Mapping[str, Any]]) -> int:
    """1 if a claim was refuted; else 4 if a job failed as an engine did; 3 if one stayed open; else 0.

    A job that was refused, being too large for instance, stayed open.
    """
    found = {line["status"] for line in lines}
    return next((status for status in (1, 4) if status in found), 3 if found - {0} else 0)


def counted(words: Iterable[str]) -> str:
    """How many of each; words that are not in :data:`WORDS` come last.

    >>> counted(["confirmed", "refuted", "confirmed"]), counted(["proved in part", "proved"])
    ('2 confirmed, 1 refuted', '1 proved, 1 proved in part')
    """
    counts = Counter(words)
    order = [*WORDS, *sorted(set(counts) - set(WORDS))]
    return ", ".join(f"{counts[word]} {word}" for word in order if counts[word])


def read_lines(text: str) -> list[Line]:
    """Read what a study printed. Of several lines about the same job the last counts.

    Raises:
        InputError: if a line is no result of a study; names its number.
    """
    found: dict[str, Line] = {}
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        line = _checked(row, f"line {number}")
        first = next(iter(found.values()), line)
        asks = {line["job"]["ask"], first["job"]["ask"]}
        if len(asks) > 1 and not asks <= set(TOGETHER):
            raise InputError(
                f"line {number} asks for {line['job']['ask']} and the lines above for "
                f"{first['job']['ask']}; make a report for each"
            )
        found[line["key"]] = line
    if not found:
        raise InputError("the file has no line; write results with: agattn study GRID.toml -O RESULTS.jsonl")
    return list(found.values())


def _checked(row: str, where: str) -> Line:
    try:
        line = json.loads(row, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)[:100]
        raise InputError(f"{where} is not JSON: {reason}") from None
    with about(f"{where} is no result of a study"):
        line = named("study", line)
        check(StudyLine, line)
        result = line.get("result")
        if result is not None:
            ask = line["job"]["ask"]
            check_one_of(RESULTS[ask], named(ask, result))
        if architecture_of(line["architecture"]).as_json() != line["architecture"]:
            raise InputError("its architecture is not a layer, a network or a model")
        if result is not None and result["architecture"] != line["architecture"]:
            raise InputError("its result is about another architecture")
        if line["key"] != key_of(line["job"], line["architecture"], line["versions"]):
            raise InputError("its key is not that of its job")
    return dict(line)


def named(schema: str, document: Any) -> Any:
    """A document with the name of its schema, which those of earlier versions do not say.

    >>> named("study", {"cached": True})
    {'schema': 'agattn/study/1', 'cached': True}
    """
    return {"schema": f"agattn/{schema}/1", **document} if isinstance(document, dict) else document


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")
