"""The ideal by elimination in an engine, and what an engine says about equations found otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from math import inf
from typing import Any

from msgspec import UNSET, UnsetType

from agattn.architectures import Architecture, as_layer
from agattn.engines.catalogue import able
from agattn.engines.emit import ask_of
from agattn.engines.locate import Installation
from agattn.engines.run import DEFAULT_LIMITS, Limits, run
from agattn.errors import (
    DisagreementError,
    EngineMemoryError,
    EngineTimeoutError,
    InputError,
    TooLargeError,
)
from agattn.evidence import Evidence, weakest
from agattn.geometry.ideal.export import export
from agattn.geometry.ideal.ideal import EXACT, DegreePiece, Ideal, compute_ideal
from agattn.geometry.ideal.invariants import FamilyComparison, LieFlattening, SpannedByFamily
from agattn.geometry.ideal.model_ideal import ModelIdeal
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.sheet.result import Key, Result, key
from agattn.systems.catalogue import build
from agattn.systems.layer_tasks import COMPLETE_IDEAL
from agattn.systems.native_facts import degree_of_closure, hilbert_bounds
from agattn.systems.problem import Printed, Problem


def eliminate(
    architecture: Architecture,
    max_degree: int,
    installation: Installation,
    *,
    characteristic: int = 0,
    limits: Limits = DEFAULT_LIMITS,
    force: bool = False,
) -> Ideal | ModelIdeal:
    """Compute the whole ideal by elimination, and the Hilbert function to a degree.

    Raises:
        EngineError: if the engine does not finish, or finds an equation that does not hold.
        InputError: if the neuromanifold of a model is no cone.
        TooLargeError: if there are more coordinates than elimination can be expected to handle.
    """
    layer, given = as_layer(architecture), architecture
    architecture = layer or architecture
    problems = (
        build("implicit-ideal", architecture, characteristic, force=force),
        build("hilbert-function", architecture, characteristic, force=force, max_degree=max_degree),
    )
    if not problems[0].data.get("cone", True):
        raise InputError(
            f"the image of {architecture} is no cone, and has no equations of a degree; use agattn run"
            " implicit-ideal"
        )
    runs = [run(problem, installation, limits) for problem in problems]
    ideal, values = (done.answer for done in runs)
    make: Callable[..., Ideal | ModelIdeal] = Ideal.eliminated
    about: Any = layer
    if layer is None:
        make, about = ModelIdeal.eliminated, coefficient_map(architecture, inf)
    found = make(
        about,
        ideal.integers["dimension"],
        ideal.integers["degree"],
        ideal.polynomials["generators"],
        [values.integers[f"value@{n}"] for n in range(1, max_degree + 1)],
        characteristic=characteristic,
        method=installation.engine.name,
        evidence=weakest(done.evidence for done in runs),
    )
    return replace(found, given=given) if isinstance(found, Ideal) and given is not layer else found


@dataclass(frozen=True, repr=False)
class Completeness(Result, extensible=True):
    """Whether the equations found generate the whole ideal; None where that stayed open.

    The equations hold on M̄, so they generate a part J of the prime ideal I(M̄). Native facts come first: if
    they show that equations are missing, J is not whole, whatever an engine says. An engine's figures are
    used only where they agree with these facts. Hilbert functions are in degrees 0, 1, ....

    Attributes:
        characteristic: of the field of the engine's computation.
        missing_evidence: how the equations of the missing degree are known.
    """

    dimension: Key[int | None, "That of the variety they cut out; null where the engine did not finish."]
    degree: Key[int | None, "Its degree; null where the engine did not finish."]
    expected_dimension: Key[int, "The dimension of the neuromanifold."]
    expected_degree: Key[int | None, "The degree of its closure; null where no formula is known."]
    prime: Key[bool | None, "Whether the ideal is prime; null where that stayed open."]
    characteristic: int
    hilbert_function: Key[
        tuple[int, ...] | None, "That of the ideal they generate; null where not finished."
    ] = None
    expected_hilbert_function: Key[
        tuple[int, ...] | None, "That of the neuromanifold; null where not known."
    ] = None
    missing_degree: Key[int | None, "Of equations that are missing, natively; null if of none."] = None
    missing_evidence: Evidence = Evidence.PROVED

    @property
    @key
    def whole(self) -> bool | None:
        """Whether the generators found generate all of the ideal; null if open."""
        return self._decided[0]

    @property
    @key
    def conclusion(self) -> str:
        """The same in a sentence, with the reason."""
        whole, reason = self._decided
        word = {True: "complete", False: "not complete", None: "not known to be complete"}[whole]
        return f"{word}: {reason}"

    @property
    @key(EXACT)
    def evidence(self) -> Evidence:
        """How the conclusion is known: natively that equations are missing, else by the engine's field."""
        if self.whole is False:
            return self.missing_evidence
        return Evidence.MODULAR if self.characteristic else Evidence.PROVED

    @property
    def contradiction(self) -> str:
        """What an engine's figures say against what is known natively; an empty string if nothing.

        J lies in I(M̄). So where J cuts out a variety of the dimension of M̄, M̄ is one of its components, and
        the degree of J is at least that of M̄. If J is prime besides, it is I(M̄).
        """
        if self.dimension != self.expected_dimension:
            return ""
        if self._degrees and self._degrees[0] < self._degrees[1]:
            return self._other_degree
        if not self.prime:
            return ""
        prime = "they generate a prime ideal of the dimension of M̄, which would be all of I(M̄)"
        if self.missing_degree is not None:
            return f"{prime}; natively, equations of degree {self.missing_degree} are missing"
        if differs := self._differs:
            return f"{prime}; but {differs}"
        return ""

    @property
    def _degrees(self) -> tuple[int, int] | None:
        """The degree of J and that of M̄; None where one is not known."""
        if self.degree is None or self.expected_degree is None:
            return None
        return self.degree, self.expected_degree

    @property
    def _other_degree(self) -> str:
        cut = f"they cut out a variety of degree {self.degree}"
        return f"{cut}, and M̄ has degree {self.expected_degree}"

    @property
    def _differs(self) -> str:
        """How degree or Hilbert function show that J is not I(M̄), in words, or an empty string."""
        if self._degrees and self._degrees[0] != self._degrees[1]:
            return self._other_degree
        values = zip(self.hilbert_function or (), self.expected_hilbert_function or (), strict=False)
        wrong = next((n for n, (value, expected) in enumerate(values) if value > expected), None)
        missing = f"by the Hilbert function of M̄, equations of degree {wrong} are missing"
        return "" if wrong is None else missing

    @property
    def _decided(self) -> tuple[bool | None, str]:
        """Whether they are all, and why. That they are not takes more than an engine's word."""
        if self.contradiction:
            return None, f"the engine says that {self.contradiction}"
        whole, reason = self._by_engine
        if self.missing_degree is not None:
            missing = f"natively, equations of degree {self.missing_degree} are missing"
            return False, missing if whole is None else f"{reason}; {missing}"
        if whole is not False:
            return whole, reason
        alone = "one engine alone refutes nothing, and natively no further equation was found"
        return None, f"the engine says that {reason}; but {alone}"

    @property
    def _by_engine(self) -> tuple[bool | None, str]:
        """What follows from the engine's figures, and from what is known of M̄.

        If dimension, degree, Hilbert function or primality of J differ from those of I(M̄), it is not I(M̄). If
        none does and J is prime, it is I(M̄); else M̄ and what J cuts out differ at most in dimensions below
        that of M̄.
        """
        if self.dimension is None:
            return None, "the engine did not finish within its limits"
        if self.dimension != self.expected_dimension:
            cut = f"they cut out a variety of dimension {self.dimension}"
            return False, f"{cut}, and M̄ has dimension {self.expected_dimension}"
        if differs := self._differs:
            return False, differs
        if self.prime:
            return True, f"they generate a prime ideal of the dimension of M̄, {self.dimension}: all of I(M̄)"
        if self.prime is False:
            return False, "they generate an ideal that is not prime, and I(M̄) is"
        same = [f"dimension {self.dimension}"]
        if self._degrees:
            same.append(f"degree {self.degree}")
        if self.hilbert_function is not None and self.expected_hilbert_function is not None:
            same.append(f"Hilbert function up to degree {len(self.hilbert_function) - 1}")
        return None, f"{', '.join(same)} are those of M̄, but whether they generate a prime ideal stayed open"

    @property
    @key
    def field(self) -> str:
        """The field of the computation: `QQ` or `ZZ/p`."""
        return f"ZZ/{self.characteristic}" if self.characteristic else "QQ"

    def summary(self) -> str:
        """The conclusion, and how it is known."""
        return f"{self.conclusion} (over {self.field}: {self.evidence})"


@dataclass(frozen=True, eq=False, repr=False)
class ExaminedIdeal(Ideal, name="ideal"):
    """The ideal of a layer, beside named invariants and what an engine says about the generators."""

    invariants: Key[tuple[SpannedByFamily, ...] | UnsetType, "With `--invariants` only."] = UNSET
    lie_flattening: Key[LieFlattening | UnsetType, "With `--invariants` and t = 1 only."] = UNSET
    complete: Key[Completeness | UnsetType, "What an engine says about them; with `--complete` only."] = UNSET


def examined(ideal: Ideal, compared: FamilyComparison | None, complete: Completeness | None) -> ExaminedIdeal:
    """An ideal with what was found out about its generators."""
    known = vars(ideal)
    found = ExaminedIdeal(
        **{one.name: known[one.name] for one in fields(ideal)},
        invariants=UNSET if compared is None else compared.spans,
        lie_flattening=UNSET if compared is None or compared.flattening is None else compared.flattening,
        complete=UNSET if complete is None else complete,
    )
    vars(found).update(known)  # with the generators, which take long
    return found


def check_generators(
    ideal: Ideal, installation: Installation, *, characteristic: int = 0, limits: Limits = DEFAULT_LIMITS
) -> Completeness:
    """Whether the generators found are all: natively in the next degrees, then by an engine.

    The engine is handed them, and asked for dimension and degree, then for primality where that finishes. For
    d = 2 also for the Hilbert function, up to degree 8, where that of M̄ is known by a proof. Where M̄ is the
    whole space its ideal is 0, and nothing is asked.

    Raises:
        InputError: if the engine is one that cannot decide primality.
        EngineError: if the engine crashes; running out of time or memory is an answer.
        DisagreementError: if what it says contradicts what is known natively.
    """
    if not installation.engine.has_script("complete-ideal"):
        others = " or ".join(f"--engine {engine.name}" for engine in able("complete-ideal"))
        raise InputError(
            f"{installation.engine.title} cannot decide whether an ideal is prime; --complete needs {others}"
        )
    layer = ideal.layer
    if layer.expected_dimension == layer.ambient_dimension:
        return Completeness(layer.expected_dimension, 1, layer.expected_dimension, 1, True, characteristic)
    missing = _missing_piece(ideal, _AT_ONCE)
    dimension = degree = prime = hilbert = known = None
    ask = partial(_ask, ideal, installation, characteristic, limits)
    try:
        dimension, degree = ask(("dimension", "degree"))
        bounds = hilbert_bounds(layer, _DEGREES[-1]) if layer.d == 2 and layer.has_orbits else {}
        if bounds and all(low == high for low, high in bounds.values()):
            known = tuple(low for low, _ in bounds.values())
            hilbert = tuple(ask([f"hilbert-{n}" for n in _DEGREES]))
        [decided] = ask(("prime",))
        prime = bool(decided)
    except (EngineTimeoutError, EngineMemoryError):
        pass
    found = Completeness(
        dimension, degree, layer.expected_dimension, degree_of_closure(layer), prime, characteristic, hilbert,
        known,
    )  # fmt: skip
    if missing is None and found._by_engine[0] is False:
        missing = _missing_piece(ideal)
    if missing is not None:
        found = replace(found, missing_degree=missing.degree, missing_evidence=missing.evidence)
    if found.contradiction:
        raise DisagreementError(
            f"{layer.name}: {installation.engine.title} and the native computation disagree: of the equations"
            f" to degree {ideal.max_degree} the engine says that {found.contradiction}"
        )
    return found


#: Up to this degree equations are counted natively before an engine is asked: that takes seconds at most.
_AT_ONCE = 5


def _missing_piece(ideal: Ideal, last: float = inf) -> DegreePiece | None:
    """The first of the next two degrees, up to a last one, that has minimal generators, natively.

    None if neither has, or they are too large.
    """
    for n in (ideal.max_degree + 1, ideal.max_degree + 2):
        try:
            if n <= last and (piece := compute_ideal(ideal.layer, n).degrees[-1]).minimal_generators:
                return piece
        except TooLargeError:
            break
    return None


_DEGREES = range(9)  # in which Hilbert functions are compared


def _ask(
    ideal: Ideal, installation: Installation, characteristic: int, limits: Limits, questions: Sequence[str]
) -> list[int]:
    problem = Problem(
        COMPLETE_IDEAL,
        COMPLETE_IDEAL.title,
        COMPLETE_IDEAL.reference,
        ideal.layer,
        tuple(Printed(name, name) for name in questions),
        data={
            "max_degree": ideal.max_degree,
            "hilbert_function": tuple(map(ideal.hilbert_function, range(ideal.max_degree + 1))),
        },
        characteristic=characteristic,
    )
    engine = installation.engine
    text = ask_of(export(ideal, engine.name, characteristic), problem, engine)
    found = run(problem, installation, limits, script=text)
    return [found.answer.integers[question] for question in questions]
