"""The ideal by elimination in an engine, and what an engine says about equations found otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

from agattn.architectures import SingleLayer
from agattn.engines.emit import marks
from agattn.engines.locate import Installation
from agattn.engines.run import DEFAULT_LIMITS, Limits, run
from agattn.errors import EngineMemoryError, EngineTimeoutError
from agattn.geometry.ideal.export import export
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import Ideal
from agattn.geometry.variety.degree import expected_degree
from agattn.systems.catalogue import build
from agattn.systems.problem import Problem, Result


def eliminate(
    layer: SingleLayer,
    max_degree: int,
    installation: Installation,
    *,
    characteristic: int = 0,
    limits: Limits = DEFAULT_LIMITS,
    force: bool = False,
) -> Ideal:
    """Compute the whole ideal by elimination, and the Hilbert function to a degree.

    Raises:
        EngineError: if the engine does not finish, or finds an equation that does not hold.
        TooLargeError: if there are more coordinates than elimination can be expected to handle.
    """
    problems = (
        build("implicit-ideal", layer, characteristic, force=force),
        build("hilbert-function", layer, characteristic, force=force, max_degree=max_degree),
    )
    ideal, values = (run(problem, installation, limits).answer for problem in problems)
    return Ideal.eliminated(
        layer,
        ideal.integers["dimension"],
        ideal.integers["degree"],
        ideal.polynomials["generators"],
        characteristic=characteristic,
        method=installation.engine.name,
        hilbert_function=[values.integers[f"value@{n}"] for n in range(1, max_degree + 1)],
    )


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

    @property
    def conclusion(self) -> str:
        """The strongest statement that follows, in words.

        The equations hold on M̄, which is irreducible; so with the dimension and degree of M̄ they cut out
        M̄ and possibly components of lower dimension, and a prime ideal of that dimension is the ideal of M̄.
        """
        if self.dimension is None:
            return "undecided: the engine did not finish"
        if self.dimension != self.expected_dimension:
            return f"not the whole ideal: they cut out a variety of dimension {self.dimension}"
        if self.prime:
            return "the whole ideal: prime, and of the dimension of M̄"
        if self.hilbert_function is not None and self.hilbert_function == self.expected_hilbert_function:
            top = len(self.hilbert_function) - 1
            return f"same Hilbert function up to degree {top}: they generate all equations of these degrees"
        if self.degree == self.expected_degree:
            return "same top-dimensional part: of the dimension and the degree of M̄"
        return "same dimension as M̄"

    def as_json(self) -> dict[str, object]:
        """The findings as JSON-ready data."""
        known = {key: value for key, value in asdict(self).items() if key != "characteristic"}
        return known | {
            "field": f"ZZ/{self.characteristic}" if self.characteristic else "QQ",
            "conclusion": self.conclusion,
            "evidence": "modular" if self.characteristic else "proved",
        }


def check_generators(
    ideal: Ideal, installation: Installation, *, characteristic: int = 0, limits: Limits = DEFAULT_LIMITS
) -> Completeness:
    """Hand the generators found to an engine: dimension and degree, then primality where that finishes.

    For d = 2 also the Hilbert function, up to degree 8, where that of M̄ is known by a proof.

    Raises:
        EngineError: if the engine crashes; running out of time or memory is an answer.
    """
    layer = ideal.layer
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
    return Completeness(
        dimension, degree, layer.expected_dimension, expected, prime, characteristic, hilbert, known
    )


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
    "macaulay2": ("", 'sayInteger("{}", {})'),
    "singular": (_SINGULAR, 'sayInteger("{}", {});'),
}
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
