"""A claim: a statement about an architecture, when it applies, what it predicts, how findings judge it.

Beside it the integers of certificates, and the hypotheses that several claims share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.errors import DisagreementError, InputError, UndecidedError, nearest
from agattn.evidence import Evidence, Source, Status, Verdict, weakest
from agattn.systems.problem import Task

A = TypeVar("A", bound=Architecture)
B = TypeVar("B", bound=Architecture, contravariant=True)
#: The parts of a theorem that are claims of their own, as they are printed.
_PARTS = {"closed": "closed", "boundary": "boundary points", "singular": "singular points"}


@dataclass(frozen=True)
class Finding:
    """A value found for a task, by the engines of these names and versions, or by ``"native"``."""

    value: Any
    evidence: Evidence
    engines: tuple[str, ...]
    sources: tuple[Source, ...]
    seconds: float


@dataclass(frozen=True)
class Findings:
    """The values found for tasks about an architecture, and why other tasks have none.

    ``used`` remembers every finding that a judge looks at: the verdict is as strong as the weakest of them.
    """

    found: Mapping[Task[Any], Finding]
    missing: Mapping[Task[Any], str]
    used: list[Finding] = field(default_factory=list)

    def need(self, task: Task[Any]) -> Any:
        """The value found for a task.

        Raises:
            UndecidedError: if there is none.
        """
        if task not in self.found:
            raise UndecidedError(self.missing.get(task, f"nothing was asked about {task.finds}"))
        return self.get(task)

    def get(self, task: Task[Any]) -> Any | None:
        """The value found for a task, or ``None``."""
        if (finding := self.found.get(task)) is None:
            return None
        if finding not in self.used:
            self.used.append(finding)
        return finding.value


@dataclass(frozen=True)
class Hypothesis(Generic[B]):
    """A condition that a claim assumes: in words, and as a predicate."""

    text: str
    holds: Callable[[B], bool]


@dataclass(frozen=True)
class Outcome:
    """What a judge concludes, whether or not the hypotheses hold.

    ``holds`` says whether the computed value is what the claim predicts; it is ``None`` where the computed
    value decides nothing, and is shown only. ``predicted`` is what the claim predicts where the findings are
    needed to tell. The other attributes are as in :class:`~agattn.evidence.Verdict`.
    """

    holds: bool | None
    computed: Any
    witness: str
    shown: str = ""
    fails_at: tuple[Any, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    predicted: Any = None


#: The indices of a nonzero number, from 1, and the number.
Entry = list[int]
#: Why a claim has no certificate, where nothing more is to be said.
NO_PROOF = "the checker knows no proof of it by finitely many integers"


@dataclass(frozen=True)
class Proof(Generic[A]):
    """The integers from which the checker proves a claim.

    Every certificate of a layer holds points, preimages, arcs and equations for each stratum. The attributes
    say what a certificate holds for one claim beyond that.

    Attributes:
        document: keys of the document and their values as JSON, from the architecture and a generator of
            random numbers; raises an InputError where there is nothing to prove.
        record: keys of the claim's own record, from its verdict.
        spaces: whether the claim needs the tangent spaces of all strata.
    """

    document: Callable[[A, np.random.Generator], dict[str, Any]] = lambda architecture, generator: {}
    record: Callable[[Verdict], dict[str, Any]] = lambda verdict: {}
    spaces: bool = False


def entries(array: Any, scale: int = 1) -> list[Entry]:
    """The nonzero entries of an array, which are integers after scaling, such as [row, column, value].

    >>> entries([[0, 3], [0, 0]])
    [[1, 2, 3]]

    Raises:
        DisagreementError: if an entry is no integer after scaling.
    """
    nonzero = []
    for index, entry in np.ndenumerate(np.asarray(array, dtype=object)):
        value = Fraction(entry) * scale
        if value.denominator != 1:
            raise DisagreementError(f"a certificate has integers only, not {value}")
        nonzero += [[*(i + 1 for i in index), int(value)]] if value else []
    return nonzero


@dataclass(frozen=True)
class Claim(Generic[A]):
    """A statement about one kind of architecture that can be checked.

    Attributes:
        id: such as ``"theorem-3.4.singular"``.
        statement, latex: in words, and in LaTeX.
        hypotheses: the conditions under which the claim applies.
        tasks: what must be found out, at least one task; the judge says which tasks it needs.
        predict: what the claim says for an architecture; see :class:`~agattn.evidence.Verdict`. The
            ``predicted`` of an outcome comes first.
        judge: compares findings with the claim.
        certificate: what a certificate holds that proves the claim, or the reason why there is none.
        beyond: whether the tasks find a fact about the architecture also where the hypotheses fail, such as
            the dimension; the fact is then shown. What is found at random weights is not shown.
        subject: whether an architecture is what the claim speaks of. The claim is left out for any other,
            unless it is asked for.
        brief: the statement in at most ten words for a list of verdicts, ``{}`` for the computed value in
            words, ``{key}`` for a part of it; the statement itself if empty.
        source: where it is stated: here, or in the paper under the number in the id, if nothing is given.
    """

    id: str
    statement: str
    latex: str
    hypotheses: tuple[Hypothesis[A], ...]
    tasks: tuple[Task[A], ...]
    predict: Callable[[A], Any]
    judge: Callable[[A, Findings], Outcome]
    certificate: Proof[A] | str = Proof()
    beyond: bool = True
    subject: Callable[[A], bool] = lambda architecture: True
    brief: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not self.source:
            word, _, number = self.id.partition("-")
            by_paper = f"HMK, {word.capitalize()} {'.'.join(number.split('.')[:2])}"
            object.__setattr__(self, "source", "agattn" if word.startswith("agattn") else by_paper)

    @property
    def name(self) -> str:
        """The name in print: the paper's number with the part of the theorem, or the subject of the claim.

        >>> from agattn.claims import CLAIMS
        >>> CLAIMS["theorem-3.4.singular"].name, CLAIMS["agattn.hilbert-function"].name
        ('Theorem 3.4, singular points', 'Hilbert function')
        """
        part = self.id.rpartition(".")[2]
        if self.source.startswith("HMK, "):
            name = self.source.removeprefix("HMK, ") + (f", {_PARTS[part]}" if part in _PARTS else "")
        else:
            name = re.sub("(?<!rank)(?<!multi)-", " ", part.replace("-softmax", ", softmax"))
        return name[:1].upper() + name[1:]

    @property
    def about(self) -> type[A]:
        """The kind of architecture."""
        return self.tasks[0].about

    @property
    def order(self) -> tuple[bool, bool, int, int]:
        """The place in lists: the paper's claims by number, appendices last, then this project's."""
        if not (number := re.search(r"(A|\d+)\.(\d+)", self.source)):
            return True, True, 0, 0
        section, n = number.groups()
        return False, section == "A", 0 if section == "A" else int(section), int(n)

    def failing_hypotheses(self, architecture: A) -> list[str]:
        """The hypotheses that do not hold for an architecture."""
        return [h.text for h in self.hypotheses if not h.holds(architecture)]

    def needed(self, architecture: A) -> tuple[Task[A], ...]:
        """The tasks; none if the claim does not apply and shows nothing."""
        return self.tasks if self.beyond or not self.failing_hypotheses(architecture) else ()

    def verdict(self, architecture: A, findings: Findings) -> Verdict:
        """Judge the claim by what has been found out.

        Where hypotheses fail, the verdict is *inapplicable*. The witness names them, and if the claim shows
        facts there (``beyond``), the witness says what was found, or why nothing was.
        """
        failing = self.failing_hypotheses(architecture)
        mine = Findings(findings.found, findings.missing)
        outcome, used = Outcome(None, None, ""), list[Finding]()
        if self.needed(architecture):
            try:
                outcome, used = self.judge(architecture, mine), mine.used
            except UndecidedError as undecided:
                outcome = Outcome(None, None, str(undecided))
        status = Status.CONFIRMED if outcome.holds else Status.REFUTED
        if failing:
            status = Status.INAPPLICABLE
        elif outcome.holds is None:
            status = Status.UNDECIDED
        assumed = f"it assumes {' and '.join(failing)}." if failing else ""
        return Verdict(
            claim=self.id,
            status=status,
            hypotheses_hold=not failing,
            predicted=None if failing else self._predicted(architecture, outcome),
            computed=outcome.computed,
            evidence=weakest(finding.evidence for finding in used) if used else None,
            witness=" ".join(filter(None, (assumed, outcome.witness))),
            engine=", ".join(_once(finding.engines for finding in used))
            or ("none" if outcome.computed is None else "native"),
            seconds=sum(finding.seconds for finding in mine.used),
            details={**outcome.details, **({"assumes": failing} if failing else {})},
            sources=tuple(_once(finding.sources for finding in used)),
            shown=outcome.shown,
            meaning=self.statement,
            brief=self.brief,
            fails_at=outcome.fails_at if status is Status.REFUTED else (),
        )

    def _predicted(self, architecture: A, outcome: Outcome) -> Any:
        return self.predict(architecture) if outcome.predicted is None else outcome.predicted


def _once(lists: Iterable[Iterable[Any]]) -> list[Any]:
    return list(dict.fromkeys(element for elements in lists for element in elements))


def select(
    claims: Mapping[str, Claim[Any]], ids: tuple[str, ...], elsewhere: Mapping[str, str] | None = None
) -> list[Claim[Any]]:
    """The claims of these ids, or all of them.

    Args:
        claims: those to choose from.
        ids: the ids, or beginnings or numbers of some, such as ``theorem-3.4`` or ``3.4``; none for all.
        elsewhere: ids of other claims, each with the options or arguments that the claim needs.

    Raises:
        InputError: if there is no claim of an id; the nearest one is suggested.
    """
    others = elsewhere or {}
    chosen: dict[str, Claim[Any]] = {}
    for identifier in ids:
        found = ids_named(identifier, claims)
        if not found:
            elsewhere_named = [] if _containing(identifier, claims) else ids_named(identifier, others)
            for other in elsewhere_named[:1]:
                raise InputError(f"{other} is {others[other]}")
            raise no_claim(identifier, claims, others)
        chosen |= {name: claims[name] for name in found}
    return list(chosen.values()) if ids else list(claims.values())


def no_claim(identifier: str, claims: Iterable[str], others: Iterable[str] = ()) -> InputError:
    """The error for an id that no claim has: with what contains it, has its number, or is spelled alike.

    >>> print(no_claim("thm-3.4", ["theorem-3.9", "theorem-3.4.closed"]))
    there is no claim 'thm-3.4'; did you mean 'theorem-3.4.closed'?
    """
    known, all_ids = [*claims], [*claims, *others]
    numbered = ids_named(re.split(r"[-\s]", identifier)[-1], all_ids)
    hint = nearest(identifier, all_ids, f"; there are {', '.join(known)}")
    for name in (_containing(identifier, all_ids) + numbered)[:1]:
        hint = f"; did you mean {name!r}?"
    return InputError(f"there is no claim {identifier[:80]!r}{hint}")


def _containing(identifier: str, ids: Iterable[str]) -> list[str]:
    return [name for name in ids if len(identifier) > 3 and identifier.casefold() in name.casefold()]


def ids_named(text: str, ids: Iterable[str]) -> list[str]:
    """The ids that a text names: an equal id, else ids that begin with the text, else ids with this number.

    The name of this project may be left out.

    >>> ids = ["theorem-3.2", "theorem-3.4.closed", "theorem-3.4.singular", "corollary-A.4"]
    >>> ids_named("Theorem 3.4", ids), ids_named("a.4", ids), ids_named("theorem", ids)
    (['theorem-3.4.closed', 'theorem-3.4.singular'], ['corollary-A.4'], [])
    >>> ids_named("degree", ["agattn.learning-degree", "agattn.degree"]), ids_named("", ["agattn.degree"])
    (['agattn.degree'], [])
    """
    wanted = text.casefold().replace(" ", "-")
    if not wanted:
        return []
    plain = {name: name.casefold() for name in ids}
    own = {name: low.removeprefix("agattn.") for name, low in plain.items()}
    for names in (plain, own, {name: low.partition("-")[2] for name, low in plain.items()}):
        exact = [name for name, low in names.items() if low == wanted]
        if found := exact or [name for name, low in names.items() if low.startswith(f"{wanted}.")]:
            return found
    return []


TWO_TOKENS = Hypothesis[Architecture]("t ≥ 2", lambda architecture: architecture.t >= 2)
NOT_A_PRODUCT = Hypothesis[SingleLayer]("a > 1 or d' > 1", lambda layer: layer.a > 1 or layer.d_out > 1)
WIDE = Hypothesis[SingleLayer]("d ≥ 2", lambda layer: layer.d >= 2)
SECTION_3_2 = (TWO_TOKENS, NOT_A_PRODUCT, WIDE)

LIGHTNING = Hypothesis[DeepNetwork]("no normalization", lambda network: network.is_lightning)
NORMALIZED = Hypothesis[DeepNetwork]("a normalization", lambda network: not network.is_lightning)
INJECTIVE = Hypothesis[DeepNetwork](
    "a normalizer that is injective near 0",
    lambda network: network.is_lightning or network.first_degree % 2 == 1,
)
SOFTMAX = Hypothesis[DeepNetwork]("softmax", lambda network: network.normalization == "softmax")
ONE_LAYER = Hypothesis[DeepNetwork]("one layer", lambda network: network.depth == 1)
DEEP = Hypothesis[DeepNetwork]("l ≥ 2", lambda network: network.depth >= 2)
ONE_HEAD = Hypothesis[DeepNetwork]("one head", lambda network: set(network.heads_by_layer) == {1})
ANY_VALUES = Hypothesis[DeepNetwork]("V_i of any rank", lambda network: network.value_rank is None)
NO_SKIP = Hypothesis[DeepNetwork]("no skip connections", lambda network: not network.skip)
PLAIN = (LIGHTNING, ONE_HEAD, NO_SKIP)
