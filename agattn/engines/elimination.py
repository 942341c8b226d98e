"""The ideal by elimination in an engine, and what an engine says about equations found otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import inf
from typing import Any

from agattn.architectures import Architecture, as_layer
from agattn.engines.emit import marks
from agattn.engines.locate import Installation
from agattn.engines.run import DEFAULT_LIMITS, Limits, run
from agattn.errors import EngineMemoryError, EngineTimeoutError, InputError, TooLargeError
from agattn.evidence import weakest
from agattn.geometry.ideal.export import export
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import Ideal, compute_ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.geometry.variety.degree import expected_degree
from agattn.systems.catalogue import build
from agattn.systems.problem import Problem, Result


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


@dataclass(frozen=True)
class Completeness:
    """Whether the equations found generate the whole ideal; None where the engine did not finish."""

    dimension: int | None  #: of the variety they cut out, as a cone
    degree: int | None  #: its degree
    expected_dimension: int  #: the dimension of M̄
    expected_degree: int | None  #: the degree of M̄; None for t = 1
    prime: bool | None  #: whether they generate a prime ideal
    characteristic: int  #: the field of the engine's computation
    #: Of the equations found, in degrees 0, 1, ...; None where it was not asked for.
    hilbert_function: tuple[int, ...] | None = None
    #: That of M̄ in the same degrees, where it is known by a proof.
    expected_hilbert_function: tuple[int, ...] | None = None
    #: A degree of which the native computation knows minimal generators beyond those found; None if of none.
    missing_degree: int | None = None

    @property
    def whole(self) -> bool | None:
        """Whether the equations generate all of I(M̄), in every degree; None where that stayed open."""
        return self._decided[0]

    @property
    def conclusion(self) -> str:
        """The same in a sentence, with the reason."""
        whole, reason = self._decided
        word = {True: "complete", False: "not complete", None: "not known to be complete"}[whole]
        return f"{word}: {reason}"

    @property
    def _decided(self) -> tuple[bool | None, str]:
        """Whether they are all, and why; that they are not takes more than one engine's word."""
        whole, reason = self._by_engine
        if whole is not False:
            return whole, reason
        if self.missing_degree is None:
            alone = "one engine alone refutes nothing, and natively no further equation was found"
            return None, f"the engine says that {reason}; but {alone}"
        return False, f"{reason}; natively, equations of degree {self.missing_degree} are missing"

    @property
    def _by_engine(self) -> tuple[bool | None, str]:
        """What follows from the engine's figures.

        The equations hold on M̄, so they generate a part J of the prime ideal I(M̄). If J is prime and of the
        same dimension, it is I(M̄). If dimension, degree, Hilbert function or primality differ, it is not. If
        none does, M̄ and what J cuts out differ at most in dimensions below that of M̄.
        """
        if self.dimension is None:
            return None, "the engine did not finish within its limits"
        if self.dimension != self.expected_dimension:
            cut = f"they cut out a variety of dimension {self.dimension}"
            return False, f"{cut}, and M̄ has dimension {self.expected_dimension}"
        if self.prime:
            return True, f"they generate a prime ideal of the dimension of M̄, {self.dimension}: all of I(M̄)"
        if self.prime is False:
            return False, "they generate an ideal that is not prime, and I(M̄) is"
        same = [f"dimension {self.dimension}"]
        if self.degree is not None and self.expected_degree is not None:
            if self.degree != self.expected_degree:
                cut = f"they cut out a variety of degree {self.degree}"
                return False, f"{cut}, and M̄ has degree {self.expected_degree}"
            same.append(f"degree {self.degree}")
        if self.hilbert_function is not None and self.expected_hilbert_function is not None:
            pairs = enumerate(zip(self.hilbert_function, self.expected_hilbert_function, strict=True))
            wrong = next((n for n, (one, other) in pairs if one != other), None)
            if wrong is not None:
                return False, f"by the Hilbert function of M̄, equations of degree {wrong} are missing"
            same.append(f"Hilbert function up to degree {len(self.hilbert_function) - 1}")
        return None, f"{', '.join(same)} are those of M̄, but whether they generate a prime ideal stayed open"

    def as_json(self) -> dict[str, object]:
        """The findings as JSON-ready data."""
        known = {key: value for key, value in asdict(self).items() if key != "characteristic"}
        return known | {
            "whole": self.whole,
            "field": f"ZZ/{self.characteristic}" if self.characteristic else "QQ",
            "conclusion": self.conclusion,
            "evidence": "modular" if self.characteristic else "proved",
        }


def check_generators(
    ideal: Ideal, installation: Installation, *, characteristic: int = 0, limits: Limits = DEFAULT_LIMITS
) -> Completeness:
    """Hand the generators found to an engine: dimension and degree, then primality where that finishes.

    For d = 2 also the Hilbert function, up to degree 8, where that of M̄ is known by a proof. Where M̄ is the
    whole space its ideal is 0, and nothing is asked.

    Raises:
        InputError: if the engine is one that cannot decide primality.
        EngineError: if the engine crashes; running out of time or memory is an answer.
    """
    if installation.engine.name not in DECIDE_PRIMALITY:
        able = " or ".join(f"--engine {name}" for name in DECIDE_PRIMALITY)
        raise InputError(
            f"{installation.engine.title} cannot decide whether an ideal is prime; --complete needs {able}"
        )
    layer = ideal.layer
    if layer.expected_dimension == layer.ambient_dimension:
        return Completeness(layer.expected_dimension, 1, layer.expected_dimension, 1, True, characteristic)
    dimension = degree = prime = hilbert = known = None
    ask = partial(_ask, ideal, installation, characteristic, limits)
    try:
        dimension, degree = ask(("dimension", "degree"))
        if layer.d == 2 and layer.has_orbits and double_locus_bound_is_sharp(layer.alpha, _DEGREES[-1]):
            known = tuple(double_locus_bound(layer, n) for n in _DEGREES)
            hilbert = tuple(ask([f"hilbert-{n}" for n in _DEGREES]))
        [decided] = ask(("prime",))
        prime = bool(decided)
    except (EngineTimeoutError, EngineMemoryError):
        pass
    expected = expected_degree(layer) if layer.has_orbits else None
    found = Completeness(
        dimension, degree, layer.expected_dimension, expected, prime, characteristic, hilbert, known
    )
    return replace(found, missing_degree=_missing_degree(ideal)) if found._by_engine[0] is False else found


def _missing_degree(ideal: Ideal) -> int | None:
    """A degree of the next two that has minimal generators, natively; None if none, or they are too large."""
    for n in (ideal.max_degree + 1, ideal.max_degree + 2):
        try:
            if compute_ideal(ideal.layer, n).degrees[-1].minimal_generators:
                return n
        except TooLargeError:
            break
    return None


_DEGREES = range(9)  # in which Hilbert functions are compared

# Singular's minAssGTZ gives the minimal primes; an ideal is prime if it equals the only one. The coordinate
# ring of M̄ is nonzero in every degree, so that no basis of it is empty.
_SINGULAR = """LIB "primdec.lib";
ideal G = std(I);
proc isPrime(ideal I)
{
  list primes = minAssGTZ(I);
  if (size(primes) != 1) { return(0); }
  ideal P = primes[1];
  return(size(reduce(P, std(I))) == 0);
}"""

#: For each engine: what is needed before, and how an integer is printed.
_SCRIPTS = {
    "macaulay2": ('needsPackage "PrimaryDecomposition"', 'sayInteger("{}", {})'),
    "singular": (_SINGULAR, 'sayInteger("{}", {});'),
}
#: The engines that can be asked whether equations are all.
DECIDE_PRIMALITY = tuple(_SCRIPTS)
_QUESTIONS = {
    "macaulay2": {"dimension": "dim I", "degree": "degree I", "prime": "if isPrime I then 1 else 0"}
    | {f"hilbert-{n}": f"hilbertFunction({n}, I)" for n in _DEGREES},
    "singular": {"dimension": "dim(G)", "degree": "mult(G)", "prime": "isPrime(I)"}
    | {f"hilbert-{n}": f"size(kbase(G,{n}))" for n in _DEGREES},
}


def _ask(
    ideal: Ideal, installation: Installation, characteristic: int, limits: Limits, questions: Sequence[str]
) -> list[int]:
    problem = Problem(
        "complete-ideal",
        "Do the equations found generate the whole ideal?",
        "Proposition A.5",
        ideal.layer,
        tuple(Result(name, name) for name in questions),
        data={"max_degree": ideal.max_degree},
        characteristic=characteristic,
    )
    name = installation.engine.name
    before, say = _SCRIPTS[name]
    begin, end = marks(problem, installation.engine)
    asked = (say.format(question, _QUESTIONS[name][question]) for question in questions)
    text = export(ideal, name, characteristic) + "\n".join([before, begin, *asked, end]) + "\n"
    found = run(problem, installation, limits, script=text)
    return [found.answer.integers[question] for question in questions]
