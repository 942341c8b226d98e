"""The ideal by elimination in an engine, and what an engine says about equations found otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from math import inf
from typing import Any

from msgspec import structs

from agattn.algebra.polynomial import Polynomial
from agattn.architectures import Architecture, SingleLayer, as_layer
from agattn.engines.catalogue import able
from agattn.engines.emit import ask_of
from agattn.engines.locate import Installation
from agattn.engines.run import run
from agattn.errors import (
    DisagreementError,
    EngineMemoryError,
    EngineTimeoutError,
    InputError,
    TooLargeError,
    argument,
)
from agattn.evidence import Evidence, weakest
from agattn.geometry.ideal.export import export
from agattn.geometry.ideal.generation import degree_as_a_set, generated_in
from agattn.geometry.ideal.ideal import DegreePiece, Ideal, compute_ideal, gradient_rank
from agattn.geometry.ideal.invariants import FamilyComparison, LieFlattening, SpannedByFamily
from agattn.geometry.ideal.model_ideal import ModelIdeal
from agattn.geometry.strata.strata import strata
from agattn.geometry.strata.tangent import representative_point
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.geometry.variety.coordinates import coordinate_ring
from agattn.sheet.result import PROVED_OR_MODULAR, UNSET, Key, Result, UnsetType, key
from agattn.systems.consistency import degree_of_closure, hilbert_bounds
from agattn.systems.ideal_tasks import COMPLETE_IDEAL
from agattn.systems.problem import Printed, Problem


def eliminate(
    architecture: Architecture, max_degree: int, installation: Installation, *, characteristic: int = 0
) -> Ideal | ModelIdeal:
    """Compute the whole ideal by elimination, and the Hilbert function to a degree.

    Raises:
        EngineError: if the engine does not finish, or finds an equation that does not hold.
        InputError: if the neuromanifold of a model is no cone.
        TooLargeError: if there are more coordinates than elimination can be expected to handle.
    """
    from agattn.systems.catalogue import build  # and all tasks

    layer, given = as_layer(architecture), architecture
    architecture = layer or architecture
    problems = (
        build("implicit-ideal", architecture, characteristic),
        build("hilbert-function", architecture, characteristic, max_degree=max_degree),
    )
    if not problems[0].data.get("cone", True):
        raise InputError(
            f"the image of {architecture} is no cone, and has no equations of a degree; use agattn run"
            " implicit-ideal"
        )
    runs = [run(problem, installation) for problem in problems]
    ideal, values = (done.answer for done in runs)
    make: Callable[..., Ideal | ModelIdeal] = ModelIdeal.eliminated if layer is None else Ideal.eliminated
    whole = make(
        layer or coefficient_map(architecture, inf),
        ideal.integers["dimension"],
        ideal.integers["degree"],
        ideal.polynomials["generators"],
        [values.integers[f"value@{n}"] for n in range(1, max_degree + 1)],
        characteristic=characteristic,
        method=installation.engine.name,
        evidence=weakest(done.evidence for done in runs),
    )
    return whole.replace(given=given) if isinstance(whole, Ideal) and given is not layer else whole


class Completeness(Result, extensible=True):
    """Whether the equations found generate the whole ideal.

    The equations hold on M̄, so they generate a part J of the prime ideal I(M̄). Native facts come first: if
    they show that equations are missing, J is not whole, whatever an engine says. An engine's figures are
    used only where they agree with these facts. Hilbert functions are in degrees 0, 1, ....

    Attributes:
        characteristic: of the field of the engine's computation.
        missing_evidence: how the equations of the missing degree are known.
    """

    dimension: Key[
        int | None,
        "The dimension of the variety that the equations cut out; null where the engine did not finish.",
    ]
    degree: Key[int | None, "The degree of this variety; null where the engine did not finish."]
    expected_dimension: Key[int, "The dimension of the neuromanifold."]
    expected_degree: Key[int | None, "The degree of its closure; null where no formula is known."]
    prime: Key[bool | None, "Whether the ideal is prime; null where that stayed open."]
    characteristic: int
    hilbert_function: Key[
        tuple[int, ...] | None,
        "The Hilbert function of the ideal that the equations generate; null where not finished.",
    ] = None
    expected_hilbert_function: Key[
        tuple[int, ...] | None, "The Hilbert function of the neuromanifold; null where not known."
    ] = None
    missing_degree: Key[
        int | None, "The degree of equations that native computation found missing; null if none are."
    ] = None
    theorem: Key[
        str | None, "The theorem by which the equations generate the whole ideal; null where none was used."
    ] = None
    regular: Key[
        bool | None,
        "Whether, modulo `modulus`, a minor that vanishes where both ranks are at most 1 is no zero divisor, "
        "so that they are all; null where that was not asked or stayed open.",
    ] = None
    modulus: Key[int | None, "The prime for `regular`; null where that was not asked."] = None
    asked_of: Key[
        str | None, "The layer with fewer outputs that was asked about instead; null where there is none."
    ] = None
    known_to: Key[int | None, "The degree to which the generators are known; null where not told."] = None
    missing_evidence: Evidence = Evidence.PROVED

    @key
    def whole(self) -> bool | None:
        """Whether the generators found generate all of the ideal; null if open."""
        return self._decided[0]

    @key
    def conclusion(self) -> str:
        """The same in a sentence, with the reason."""
        whole, reason = self._decided
        word = {True: "complete", False: "not complete", None: "not known to be complete"}[whole]
        all_to = (
            f"; all equations are known to degree {self.known_to}" if whole is None and self.known_to else ""
        )
        return f"{word}: {reason}{all_to}"

    @key(PROVED_OR_MODULAR)
    def evidence(self) -> Evidence:
        """How the conclusion is known: natively that equations are missing, else by the engine's field.

        Where ``whole`` is null nothing is concluded, and this is how the engine's figures are known.
        """
        if self.whole is False:
            return self.missing_evidence
        if self.theorem or self.regular:
            return Evidence.PROVED
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
            return self._differs
        if not self.prime or (self.missing_degree is None and not self._differs):
            return ""
        but = f"but {self._differs}"
        if self.missing_degree is not None:
            but = f"natively, equations of degree {self.missing_degree} are missing"
        return f"they generate a prime ideal of the dimension of M̄, which would be all of I(M̄); {but}"

    @property
    def _degrees(self) -> tuple[int, int] | None:
        """The degree of J and that of M̄; None where one is not known."""
        if self.degree is None or self.expected_degree is None:
            return None
        return self.degree, self.expected_degree

    @property
    def _differs(self) -> str:
        """How dimension, degree or Hilbert function show that J is not I(M̄), or an empty string."""
        if self.dimension != self.expected_dimension:
            cut = f"they cut out a variety of dimension {self.dimension}"
            return f"{cut}, and M̄ has dimension {self.expected_dimension}"
        if self._degrees and self._degrees[0] != self._degrees[1]:
            cut = f"they cut out a variety of degree {self.degree}"
            return f"{cut}, and M̄ has degree {self.expected_degree}"
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
        if self.theorem:
            return True, self.theorem
        if self.dimension is None:
            return None, "the engine did not finish within its limits"
        if self._differs:
            return False, self._differs
        of = f"; shown for {self.asked_of}, which has the same modules" if self.asked_of else ""
        if self.prime:
            prime = f"they generate a prime ideal of the dimension of M̄, {self.dimension}: all of I(M̄)"
            return True, prime + of
        if self.regular:
            return True, (
                f"modulo {self.modulus} a 2×2 minor that vanishes where both ranks are at most 1 is no zero "
                f"divisor, and where a rank is larger they define M̄: all of I(M̄){of}"
            )
        if self.prime is False:
            return False, "they generate an ideal that is not prime, and I(M̄) is"
        same = [f"dimension {self.dimension}"]
        if self._degrees:
            same.append(f"degree {self.degree}")
        if self.hilbert_function is not None and self.expected_hilbert_function is not None:
            same.append(f"Hilbert function up to degree {len(self.hilbert_function) - 1}")
        agree = f"{', '.join(same)} {'are those' if len(same) > 1 else 'is that'} of M̄"
        return None, f"{agree}, but whether they generate a prime ideal stayed open"

    @key
    def field(self) -> str:
        """The field of the computation: `QQ` or `ZZ/p`."""
        return f"ZZ/{self.characteristic}" if self.characteristic else "QQ"

    def summary(self) -> str:
        """The conclusion, and how it is known; no evidence where all stayed open."""
        known = "" if self.whole is None else f": {self.evidence}"
        return f"{self.conclusion} (over {self.field}{known})"


class ExaminedIdeal(Ideal):
    """The ideal of a layer, beside named invariants and what an engine says about the generators."""

    invariants: Key[
        tuple[SpannedByFamily, ...] | UnsetType,
        "What the families of named invariants span; with `--invariants` only.",
    ] = UNSET
    named_families: Key[
        tuple[SpannedByFamily, ...] | UnsetType,
        "What the families of one formula each span; with `--invariants` and t ≥ 2 only.",
    ] = UNSET
    lie_flattening: Key[
        LieFlattening | UnsetType, "The Lie flattening; with `--invariants` and t = 1 only."
    ] = UNSET
    complete: Key[
        Completeness | UnsetType, "Whether the equations generate the whole ideal; with `--complete` only."
    ] = UNSET


def examined(ideal: Ideal, compared: FamilyComparison | None, complete: Completeness | None) -> ExaminedIdeal:
    """An ideal with what was found out about its generators."""
    result = ExaminedIdeal(
        **structs.asdict(ideal),
        invariants=UNSET if compared is None else compared.spans,
        named_families=UNSET if compared is None or not ideal.layer.has_orbits else compared.named,
        lie_flattening=UNSET if compared is None or compared.flattening is None else compared.flattening,
        complete=UNSET if complete is None else complete,
    )
    vars(result).update(vars(ideal))  # with the generators, which take long
    return result


def check_generators(ideal: Ideal, installation: Installation, *, characteristic: int = 0) -> Completeness:
    """Whether the generators found are all: natively in the next degrees, then by an engine.

    The engine is handed them, or with many outputs those of the layer with d + 1 outputs. It is asked whether
    a minor is no zero divisor, where that is enough. If this stays open, it is asked for dimension and
    degree, then for primality where that finishes; but not where equations cut out M̄ as a set, and natively
    further ones are found. For d = 2 also for the Hilbert function, up to degree 8,
    where that of M̄ is known by a proof. Where M̄ is the whole space its ideal is 0, and nothing is asked.

    Raises:
        InputError: if the engine is one that cannot decide primality.
        EngineError: if the engine crashes; running out of time or memory is an answer.
        DisagreementError: if what it says contradicts what is known natively.
    """
    if "complete-ideal" not in installation.engine.tasks:
        others = " or ".join(argument("engine", engine.name) for engine in able("complete-ideal"))
        raise InputError(
            f"{installation.engine.title} cannot decide whether an ideal is prime; {argument('complete')} "
            f"needs {others}"
        )
    layer, size, multiplicity = ideal.layer, ideal.layer.expected_dimension, degree_of_closure(ideal.layer)
    if size == layer.ambient_dimension:
        return Completeness(size, 1, size, 1, True, characteristic)
    missing = _missing_piece(ideal, _AT_ONCE)
    small = _smallest(ideal)
    whole = partial(Completeness, size, multiplicity, size, multiplicity, known_to=ideal.max_degree)
    if missing is None and small is not ideal:
        asked = check_generators(small, installation, characteristic=characteristic)
        if asked.whole:
            shown = partial(whole, regular=asked.regular, modulus=asked.modulus, asked_of=small.name)
            return shown(asked.prime, characteristic)
    elif missing is None and _is_regular(ideal, installation):
        return whole(None, characteristic, regular=True, modulus=MODULUS)
    elif missing is not None and layer.has_orbits and ideal.max_degree >= degree_as_a_set(layer):
        # They cut out M̄ as a set, and are not all: nothing is left to ask.
        return whole(None, characteristic, missing_degree=missing.degree, missing_evidence=missing.evidence)
    figures: dict[str, Any] = {"dimension": None, "degree": None, "prime": None}
    ask = partial(_ask, ideal, installation, characteristic)
    try:
        figures["dimension"], figures["degree"] = ask(("dimension", "degree"))
        bounds = hilbert_bounds(layer, _DEGREES[-1]) if layer.d == 2 and layer.has_orbits else {}
        if bounds and all(low == high for low, high in bounds.values()):
            figures["expected_hilbert_function"] = tuple(low for low, _ in bounds.values())
            figures["hilbert_function"] = tuple(ask([f"hilbert-{n}" for n in _DEGREES]))
        figures["prime"] = bool(*ask(("prime",)))
    except (EngineTimeoutError, EngineMemoryError):
        pass
    figures |= {"expected_dimension": size, "expected_degree": multiplicity}
    result = Completeness(**figures, characteristic=characteristic, known_to=ideal.max_degree)
    if missing is None and result._by_engine[0] is False:
        missing = _missing_piece(ideal)
    if missing is not None:
        result = result.replace(missing_degree=missing.degree, missing_evidence=missing.evidence)
    if result.contradiction:
        raise DisagreementError(
            f"{layer.name}: {installation.engine.title} and the native computation disagree: of the equations"
            f" to degree {ideal.max_degree} the engine says that {result.contradiction}"
        )
    return result


#: The prime modulo which an engine is asked whether a minor is no zero divisor.
MODULUS = 32003
#: An ideal in at most so many variables is shown to be prime as fast.
_FEW_VARIABLES = 12


def by_theorem(ideal: Ideal) -> Completeness | None:
    """That the equations found are all, where this is known without an engine; else None.

    M̄ is a hypersurface, or :func:`~agattn.geometry.ideal.generation.generated_in` gives a degree in which its
    ideal is generated, and up to which no minimal generators are missing; this is computed.

    >>> from agattn.architectures import SingleLayer
    >>> by_theorem(compute_ideal(SingleLayer(2, 1), 4)).theorem
    'the one equation generates the ideal of an irreducible hypersurface: all of I(M̄)'
    >>> by_theorem(compute_ideal(SingleLayer(4, 1, 1), 2)) is None
    True
    """
    layer = ideal.layer
    if ideal.complete_by == "hypersurface":
        reason = "the one equation generates the ideal of an irreducible hypersurface: all of I(M̄)"
    else:
        generated = generated_in(layer)
        if generated is None or not _no_others_to(generated.degree, ideal):
            return None
        reason = generated.reason
        if generated.degree > ideal.max_degree:
            degrees = range(ideal.max_degree + 1, generated.degree + 1)
            reason += f"; natively no equations of degree {' or '.join(map(str, degrees))} are new"
    dimension, degree = layer.expected_dimension, degree_of_closure(layer)
    return Completeness(dimension, degree, dimension, degree, None, 0, theorem=reason)


def _no_others_to(degree: int, ideal: Ideal) -> bool:
    """Whether no minimal generators are missing up to a degree, which is proved natively degree by degree."""
    pieces = _further_pieces(ideal, degree)
    empty = takewhile(lambda n: not n.minimal_generators and n.evidence is Evidence.PROVED, pieces)
    return sum(1 for _ in empty) >= degree - ideal.max_degree


def _further_pieces(ideal: Ideal, last: int) -> Iterator[DegreePiece]:
    """The next degrees of an ideal, natively, to a last one or the first that is too large."""
    for n in range(ideal.max_degree + 1, last + 1):
        try:
            yield compute_ideal(ideal.layer, n, force=False).degrees[-1]
        except TooLargeError:
            return


def _smallest(ideal: Ideal) -> Ideal:
    """The ideal of the layer with at most d + 1 outputs, which has the same modules of minimal generators.

    They have at most d + 1 rows in λ, and their multiplicities do not depend on d'.
    """
    layer = ideal.layer
    if layer.d_out <= layer.d + 1:
        return ideal
    return compute_ideal(type(layer)(layer.d, layer.d + 1, layer.a, layer.t), ideal.max_degree, force=False)


def _is_regular(ideal: Ideal, installation: Installation) -> bool | None:
    """Whether the ideal is whole by a regular element (docs/layer/equations/whole-ideal-proofs.md); or None.

    It takes all equations to a degree in which they cut out M̄ as a set. Modulo the prime there must be as
    many equations in each degree as over ℚ, and their gradients at all strata where not both ranks are at
    most 1 must leave no more than the tangent space of M̄ for a ≥ d. Then it is enough that f is no zero
    divisor, f a minor that vanishes where both ranks are at most 1.
    """
    layer = ideal.layer
    applies = layer.has_orbits and layer.d >= 2 and layer.d_out * layer.alpha > 1
    many = layer.ambient_dimension > _FEW_VARIABLES
    enough = applies and many and ideal.max_degree >= degree_as_a_set(layer)
    if not enough or not _smooth_outside_rank_one(layer):
        return None
    degrees = range(1, ideal.max_degree + 1)
    names = ("regular", *(f"hilbert-{n}" for n in degrees))
    try:
        regular, *values = _ask(ideal, installation, MODULUS, names, _minor(layer))
    except (EngineTimeoutError, EngineMemoryError):
        return None
    return bool(regular) if values == [ideal.hilbert_function(n) for n in degrees] else None


def _minor(layer: SingleLayer) -> Polynomial:
    """A 2×2 minor of the flattening with rows b, or for a = 1 with rows c, which M̄ does not satisfy."""
    ring = coordinate_ring(layer)
    y = {variable.indices: gen for variable, gen in zip(ring.variables, ring.gens, strict=True)}
    other = (1, 2) if layer.alpha > 1 else (2, 1)
    return y[1, 1, 1, 1] * y[*other, 1, 2] - y[1, 1, 1, 2] * y[*other, 1, 1]


def _smooth_outside_rank_one(layer: SingleLayer) -> bool:
    """Whether equations to degree 4 of the layer with a = d have gradients of full rank, modulo the prime, at
    all strata where not both ranks are at most 1."""
    whole = type(layer)(layer.d, layer.d_out)
    equations = [*compute_ideal(whole, 4, force=False)]
    codimension = whole.ambient_dimension - whole.expected_dimension
    outside = (stratum for stratum in strata(layer) if max(stratum.r_v, stratum.r_a) > 1)
    ranks = (gradient_rank(equations, representative_point(layer, stratum), MODULUS) for stratum in outside)
    return all(rank >= codimension for rank in ranks)


#: Up to this degree equations are counted natively before an engine is asked: that takes seconds at most.
_AT_ONCE = 5


def _missing_piece(ideal: Ideal, last: float = inf) -> DegreePiece | None:
    """The first of the next two degrees, up to a last one, that has minimal generators, natively.

    None if neither has, or they are too large.
    """
    pieces = _further_pieces(ideal, int(min(last, ideal.max_degree + 2)))
    return next((piece for piece in pieces if piece.minimal_generators), None)


_DEGREES = range(9)  # in which Hilbert functions are compared


def _ask(
    ideal: Ideal,
    installation: Installation,
    characteristic: int,
    questions: Sequence[str],
    element: Polynomial | None = None,
) -> list[int]:
    engine, values = installation.engine, map(ideal.hilbert_function, range(ideal.max_degree + 1))
    data = {"max_degree": ideal.max_degree, "hilbert_function": tuple(values)}
    if element is not None:
        data["element"] = engine.written(element)
    printed = tuple(Printed(name, name) for name in questions)
    problem = Problem(COMPLETE_IDEAL, ideal.layer, printed, data=data, characteristic=characteristic)
    text = ask_of(export(ideal, engine.name, characteristic), problem, engine)
    answer = run(problem, installation, script=text).answer
    return [answer.integers[question] for question in questions]
