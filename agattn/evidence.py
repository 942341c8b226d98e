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

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Evidence(Enum):
    """How a result is known; the strongest first."""

    PROVED = "proved"
    MODULAR = "modular"
    NUMERICAL = "numerical"

    def __str__(self) -> str:
        return self.value


class Status(Enum):
    """What is concluded about a claim.

    ``INAPPLICABLE`` means that the hypotheses of the claim do not hold; what is true of the architecture
    instead is shown where the claim is about such a thing, and nothing where it is about random weights.
    ``UNDECIDED`` is an answer, not an error: a timeout never refutes anything.
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


class Shown:
    """A result that prints as a summary and that notebooks show as tables; ``agattn.display`` knows both.

    One that says itself in a line defines ``__str__``. Data classes among them need ``repr=False``.
    """

    def __str__(self) -> str:
        return str(importlib.import_module("agattn.display.text").text(self))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(importlib.import_module("agattn.display").html(self))

    def _repr_latex_(self) -> str:
        return str(importlib.import_module("agattn.display").latex(self))


@dataclass(frozen=True)
class Source:
    """Who found one part of a finding, and who checked it; ``checked_by`` is empty where nobody did.

    >>> print(Source("equations", "native", "macaulay2 1.26.06"))
    equations: native, checked by macaulay2 1.26.06
    """

    part: str
    found_by: str
    checked_by: str = ""

    def __str__(self) -> str:
        return f"{self.part}: {self.found_by}{f', checked by {self.checked_by}' if self.checked_by else ''}"

    def as_json(self) -> dict[str, str | None]:
        """The source with the keys of the command line's contract."""
        return {"part": self.part, "found_by": self.found_by, "checked_by": self.checked_by or None}


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


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """The status of one claim for one architecture, with everything needed to doubt it.

    Attributes:
        claim: the claim's id, such as ``"corollary-3.3"``.
        status: confirmed, refuted, undecided or inapplicable.
        hypotheses_hold: whether the claim speaks about this architecture at all.
        predicted: what the claim says: numbers, strata, names, or tuples and mappings of these.
        computed: what was computed, of the same type; ``None`` where nothing could be.
        evidence: how ``computed`` is known; ``None`` where nothing was computed.
        witness: the reason in words, and for a refutation the point at which the claim fails.
        engine: name and version of what computed it, such as ``"macaulay2 1.26.06"`` or ``"native"``.
        seconds: wall-clock time spent on the tasks this claim needed.
        details: more data; ``scope`` says where the claim was checked if it says more.
        sources: who found which part.
        shown: ``computed`` in a few words, where it does not print itself well.
        fails_at: the strata at which a claim about strata fails.
    """

    claim: str
    status: Status
    hypotheses_hold: bool
    predicted: Any
    computed: Any
    evidence: Evidence | None
    witness: str
    engine: str
    seconds: float
    details: Mapping[str, object] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    shown: str = ""
    fails_at: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        decided = self.status in (Status.CONFIRMED, Status.REFUTED)
        if decided and self.evidence is None:
            raise ValueError(f"{self.claim}: a {self.status} verdict needs evidence")
        if decided and not self.hypotheses_hold:
            raise ValueError(f"{self.claim}: a claim is {self.status} only where its hypotheses hold")

    @property
    def scope(self) -> str:
        """Where the claim was checked, if it says more than that; empty if it was checked as it stands."""
        return str(self.details.get("scope", "")) if self.status is Status.CONFIRMED else ""

    @property
    def assumes(self) -> tuple[str, ...]:
        """The hypotheses of the claim that do not hold."""
        failing = self.details.get("assumes")
        return tuple(failing) if isinstance(failing, list) else ()

    @property
    def known(self) -> str:
        """The evidence in words: such as ``proved``, or ``proved in part`` where there is a scope."""
        return f"{self.evidence or ''}{' in part' if self.scope else ''}"

    @property
    def short(self) -> str:
        """The computed value in a few words, for a table."""
        value = plain(self.computed)
        if self.shown or value is None:
            return self.shown
        if isinstance(value, dict):
            simple = {key: x for key, x in value.items() if x is not None and not isinstance(x, (dict, list))}
            return ", ".join(f"{key}: {x}" for key, x in simple.items())
        if isinstance(value, list):
            return " ".join(map(str, value)) if 0 < len(value) <= 6 else f"{len(value)} strata"
        return str(value)

    def __str__(self) -> str:
        known = f" ({self.known})" if self.evidence else ""
        return f"{self.claim}: {self.status}{known}. {self.witness}"

    def as_json(self) -> dict[str, object]:
        """Return the verdict with the keys of the command line's contract."""
        return {
            "id": self.claim,
            "hypotheses_hold": self.hypotheses_hold,
            "predicted": plain(self.predicted),
            "computed": plain(self.computed),
            "verdict": self.status.value,
            "evidence": self.known or None,
            "witness": self.witness,
            "engine": self.engine,
            "sources": [source.as_json() for source in self.sources],
            "seconds": round(self.seconds, 3),
            **({"fails_at": plain(self.fails_at)} if self.fails_at else {}),
            **{name: plain(value) for name, value in self.details.items()},
        }
