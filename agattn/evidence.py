"""Evidence as part of the type: how a result is known, and what was concluded from it.

Three kinds of evidence are kept apart everywhere, strongest first:

- ``proved``: exact over ℚ or ℤ, or two exact inequalities that meet;
- ``modular``: exact over a finite field 𝔽_p at random points or for one prime;
- ``numerical``: floating point at a stated precision.

A conclusion is as strong as the weakest thing it uses:

>>> weakest([Evidence.PROVED, Evidence.MODULAR])
<Evidence.MODULAR: 'modular'>
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, Self, cast, get_args

from msgspec import structs

from agattn.sheet.data import Cell, Sheet, Table, Wide
from agattn.sheet.result import UNSET, Key, Meta, Named, Result, UnsetType, Written, field, key, keys

#: How what a verdict rests on is known: in part where the claim says more.
Judged = Literal["proved", "modular", "numerical", "proved in part", "modular in part", "numerical in part"]
Strings = Annotated[list[str], Meta(min_length=1)]
#: The names of the engines, in the order in which they are asked; see :mod:`agattn.engines.catalogue`.
ENGINES = ("macaulay2", "singular", "msolve")
#: An engine in a document, and who computed a table, natively or as an engine.
EngineName: Any = Literal[ENGINES]
Method: Any = Literal["native", *ENGINES]
#: Wall-clock seconds, in thousandths.
SECONDS = Written(Annotated[float, Meta(ge=0)], lambda seconds: round(seconds, 3))


class Evidence(Enum):
    """How a result is known; the strongest evidence comes first."""

    PROVED = "proved"
    MODULAR = "modular"
    NUMERICAL = "numerical"

    def __str__(self) -> str:
        return self.value


#: Evidence that is never ``numerical``.
ProvedOrModular = Annotated[Evidence, Written(Literal["proved", "modular"])]


class Status(Enum):
    """What is concluded about a claim.

    ``INAPPLICABLE`` means that the hypotheses of the claim do not hold. A verdict of this kind shows what is
    true of the architecture instead, unless the claim is about random weights. ``UNDECIDED`` is an answer,
    not an error: a timeout never refutes anything.
    """

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    INAPPLICABLE = "inapplicable"

    def __str__(self) -> str:
        return self.value


def weakest(evidence: Iterable[Evidence]) -> Evidence:
    """Return the weakest of some pieces of evidence: that of a conclusion which uses them all.

    Raises:
        ValueError: if there are none; nothing follows from no evidence.
    """
    return max(evidence, key=list(Evidence).index)


class Source(Result):
    """Who found one part of a finding, and who checked it.

    >>> print(Source("equations", "native", "macaulay2 1.26.06"))
    equations: native, checked by macaulay2 1.26.06
    """

    part: Key[str, "The part of the finding."]
    found_by: Key[str, "`native`, the name and version of an engine, or `theorem`: not computed."]
    checked_by: Key[
        str,
        "Who checked the part exactly; null where nobody else did.",
        Written(str | None, lambda name: name or None),
    ] = ""

    def summary(self) -> str:
        """The source in a line."""
        return f"{self.part}: {self.found_by}{f', checked by {self.checked_by}' if self.checked_by else ''}"


def plain(value: Any) -> Any:
    """A value as JSON-ready data: with names as an object, in order as a list, anything else as its text.

    >>> plain({Evidence.PROVED: (1, None)})
    {'proved': [1, None]}
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return str(value)


#: How a value of a claim is written.
PLAIN = Written(Any, plain)
#: How texts are written that there need not be.
IF_ANY = Written(Strings | UnsetType, lambda texts: plain(texts) or UNSET)


class Verdict(Result, extensible=True):
    """The status of one claim for one architecture, with everything needed to doubt it."""

    claim: Key[str, "The claim, by its id, such as `corollary-3.3`.", Named("id")]
    status: Key[Status, "What is concluded.", Named("verdict")]
    hypotheses_hold: Key[bool, "Whether the claim speaks about this architecture."]
    predicted: Key[Any, "What the claim says for this architecture; null where it says nothing.", PLAIN]
    computed: Key[Any, "What was computed; null where nothing could be.", PLAIN]
    evidence: Evidence | None  #: how ``computed`` is known; ``None`` where nothing was computed
    witness: Key[str, "The reason in words; for a refuted claim a point at which it fails."]
    engine: Key[str, "Who found the values: engines with their versions, or `native`."]
    seconds: Key[float, "Wall-clock time of the tasks that this claim needed.", SECONDS]
    #: more data, each with a key of its own; ``scope`` says where the claim was checked if it says more
    details: Mapping[str, object] = field(default_factory=dict)
    sources: Key[
        tuple[Source, ...], "Who found which part of what the verdict rests on, and who checked it."
    ] = ()
    shown: str = ""  #: ``computed`` in a few words, where it does not print itself well
    meaning: str = ""  #: the claim in words, for who reads ``short``
    fails_at: Key[tuple[Any, ...], "The strata at which a refuted claim fails.", IF_ANY] = ()
    brief: str = ""  #: in ten words; ``{}`` stands for ``short``, ``{key}`` for a part of ``computed``

    def __post_init__(self) -> None:
        decided = self.status in (Status.CONFIRMED, Status.REFUTED)
        if decided and self.evidence is None:
            raise ValueError(f"{self.claim}: a {self.status} verdict needs evidence")
        if decided and not self.hypotheses_hold:
            raise ValueError(f"{self.claim}: a claim is {self.status} only where its hypotheses hold")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The verdict that a document is of, with its evidence and its details."""
        made = super().from_json(data)
        known, names = data["evidence"], {entry.name for entry in keys(cast(Any, cls))}
        structs.force_setattr(made, "evidence", known and Evidence(known.removesuffix(" in part")))
        structs.force_setattr(made, "details", {name: data[name] for name in data if name not in names})
        return made

    def consistent(self: Any) -> None:
        """Check a document: a claim is decided only where its hypotheses hold, and with evidence."""
        known = self.hypotheses_hold and self.strength is not None
        other = {Status.UNDECIDED: True, Status.INAPPLICABLE: not self.hypotheses_hold}
        if not other.get(self.status, known):
            raise ValueError("a claim is decided only where its hypotheses hold, and with evidence")
        in_part = self.status is Status.CONFIRMED and isinstance(self.scope, str)
        if (self.strength or "").endswith(" in part") != in_part:
            raise ValueError("a claim is confirmed in part just where there is a scope")

    @key(Written(str | UnsetType, lambda words: words or UNSET))
    def scope(self) -> str:
        """What was checked, if the claim says more."""
        return str(self.details.get("scope", "")) if self.status is Status.CONFIRMED else ""

    @key(IF_ANY)
    def assumes(self) -> tuple[str, ...]:
        """The hypotheses that do not hold, if inapplicable."""
        failing = self.details.get("assumes")
        return tuple(failing) if isinstance(failing, list) else ()

    @key(Written(Judged | None, lambda words: words or None), name="evidence")
    def strength(self) -> str:
        """How `computed` is known, in part if the claim says more; null where nothing was computed."""
        return f"{self.evidence or ''}{' in part' if self.scope else ''}"

    @property
    def short(self) -> str:
        """The computed value in a few words, for a table."""
        value = plain(self.computed)
        if self.shown or value is None:
            return self.shown
        if isinstance(value, dict):
            return _in_words({key: x for key, x in value.items() if not isinstance(x, (dict, list))})
        if isinstance(value, list) and not 0 < len(value) <= 6:
            return f"{len(value)} strata"
        return _in_words(value)

    @property
    def label(self) -> str:
        """The claim's number in the paper, or its id without the name of this project.

        >>> from agattn import SingleLayer, verify
        >>> [verdict.label for verdict in verify(SingleLayer(2, 1), ["3.4.closed", "agattn.degree"]).values()]
        ['3.4', 'degree']
        """
        number = re.search(r"-([A\d]+(\.\d+)?)", self.claim)
        return number[1] if number else self.claim.removeprefix("agattn.")

    @property
    def in_brief(self) -> str:
        """What the claim says, with what was computed, in some ten words; why, where it is undecided."""
        if self.status is Status.UNDECIDED:
            return textwrap.shorten(self.witness, max(30, 58 - len(self.label)), placeholder=" …")
        computed = plain(self.computed)
        named = {key: _in_words(x) for key, x in computed.items()} if isinstance(computed, dict) else {}
        words = self.meaning if computed is None else self.brief.format(self.short, **named) or self.meaning
        return f"{words} (in part)" if self.scope else words

    @property
    def exception(self) -> str:
        """Where a refuted claim fails, in some words; empty for other claims."""
        if self.status is not Status.REFUTED:
            return ""
        if not self.fails_at:
            return textwrap.shorten(self.witness, 100, placeholder=" …")
        *points, last = map(str, self.fails_at)
        few = points[:2] + ["…"] * (len(points) > 2)
        return f"but not at {', '.join([*few, last])}"

    @property
    def is_terse(self) -> bool:
        """Whether the computed value is words, such as ``boundary = critical``, that say little alone."""
        return self.status is Status.CONFIRMED and bool(self.short) and not re.search(r"[1-9(]", self.short)

    def summary(self) -> str:
        """The verdict and its reason in a line."""
        return f"{self.claim}: {self._concluded}. {self.witness}"

    def sheet(self) -> Sheet:
        """What was concluded, and why."""
        rows: tuple[tuple[Cell, ...], ...] = (
            ("claim", self.claim),
            ("verdict", self._concluded),
            ("computed", _in_words(plain(self.computed))),
            (Wide("why"), self.witness),
            (Wide("engine"), self.engine),
        )
        return Sheet(self.summary(), (Table("", (), rows),))

    @property
    def _concluded(self) -> str:
        return f"{self.status} ({self.strength})" if self.evidence else str(self.status)

    def as_json(self) -> dict[str, Any]:
        """The JSON document of the verdict: its keys, and its details by name."""
        return super().as_json() | {name: plain(value) for name, value in self.details.items()}


def _in_words(value: Any) -> str:
    """A value as plain as JSON, for people.

    >>> _in_words(["(1,1,1)", "(2,1,2)"]), _in_words({"invariant": True, "fiber": 9, "other": None})
    ('(1,1,1) (2,1,2)', 'invariant: yes, fiber: 9')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_in_words(x)}" for key, x in value.items() if x is not None)
    if isinstance(value, list):
        return " ".join(map(str, value))
    return {"None": "", "True": "yes", "False": "no"}.get(str(value), str(value))


#: The keys of a claim and their values: it is decided only where its hypotheses hold, and with evidence.
CASES: tuple[dict[str, list[object]], ...] = (
    {"verdict": ["undecided"]},
    {"verdict": ["inapplicable"], "hypotheses_hold": [False]},
    {"evidence": list(get_args(Judged)), "hypotheses_hold": [True]},
)
CONSISTENT = [{"properties": {key: {"enum": allowed} for key, allowed in case.items()}} for case in CASES]
#: Verdicts in a document, of which each is one of the cases.
Verdicts = tuple[Annotated[Verdict, Meta(extra_json_schema={"anyOf": CONSISTENT})], ...]
