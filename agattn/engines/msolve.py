"""msolve: Gröbner bases, and the solutions of systems that have finitely many, in balls.

msolve has no language: it reads variables, a characteristic and polynomials, and prints one nested list. Over
ℚ it computes modulo several primes and lifts the result, which it does not prove. What is cheap to check of
an answer is checked here; :class:`Solutions` says what remains unproved.

What it prints is read strictly, and exactly. A script of ours prints the lists of a task between two marks,
each list after its name, its checksum and its size:

    agattn-data 1 TASK DIGEST
    agattn-answer NAME CHECKSUM SIZE
    ...
    agattn-end NAME ...

The checksum is that of POSIX ``cksum``.

>>> from agattn.engines.catalogue import MSOLVE
>>> from agattn.engines.locate import locate
>>> x, y = PolynomialRing(["x", "y"]).gens
>>> solutions = solve([x**2 + y**2 - 3, x * y - 1], locate(MSOLVE))
>>> solutions.degree, solutions.parametrization.points
(4, 4)
>>> len(solutions.parametrization.real_points(100))
4
>>> x, y = PolynomialRing(["x", "y"], 32003).gens
>>> basis = groebner_basis([x**2 + y**2 - 3, x * y - 1], locate(MSOLVE))
>>> basis.leading_monomials, basis.dimension, basis.degree
(((1, 1), (2, 0), (0, 3)), 0, 4)
"""

from __future__ import annotations

import itertools
import json
import operator
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint

from agattn.algebra.echelon import rational
from agattn.algebra.graded_ideals import HilbertSeries, hilbert_series
from agattn.algebra.polynomial import Coefficient, Exponents, Polynomial, PolynomialRing, Variable
from agattn.engines.locate import Installation
from agattn.engines.transcript import END, framed
from agattn.errors import InputError, TranscriptError
from agattn.evidence import Evidence
from agattn.systems.problem import Answer, Explicit, Problem


@dataclass(frozen=True)
class Parametrization:
    """Points as the roots of a polynomial: the i-th coordinate is −numerators[i](u)/w′(u), where w(u) = 0.

    Attributes:
        ring: of the equations, over ℚ.
        form: u as a linear form in the coordinates.
        w: coefficients of the eliminating polynomial of u, from the constant term; squarefree.
        numerators: coefficients of one polynomial for each variable of the ring.
    """

    ring: PolynomialRing
    form: tuple[Fraction, ...]
    w: tuple[int, ...]
    numerators: tuple[tuple[Fraction, ...], ...]

    @property
    def points(self) -> int:
        """The number of points: the degree of w."""
        return len(self.w) - 1

    def satisfies(self, polynomials: Sequence[Polynomial], prime: int | None = None) -> bool:
        """Whether every point is a common zero: by substitution modulo w, over ℚ a proof.

        The points are distinct where it is so, as u is seen to take the value u. For 60 points and more this
        takes seconds; with a prime everything is done modulo it, at once, and is evidence only.

        >>> ring = PolynomialRing(["x", "y"])
        >>> x, y = ring.gens
        >>> points = Parametrization(ring, (Fraction(0), Fraction(1)), (-2, 0, 1), ((Fraction(-4),),) * 2)
        >>> points.satisfies([x**2 - 2, y - x]), points.satisfies([x * y - 1])
        (True, False)
        """

        def univariate(coefficients: Iterable[Coefficient]) -> Any:
            if prime is None:
                return flint.fmpq_poly(list(map(rational, coefficients)))
            return flint.nmod_poly(
                [c.numerator * pow(c.denominator, -1, prime) % prime for c in coefficients], prime
            )

        w = univariate(self.w)
        unit, inverse, _ = w.derivative().xgcd(w)
        if unit != univariate([1]):
            return False
        points = [-univariate(numerator) * inverse % w for numerator in self.numerators]
        u = sum((univariate([c]) * x for c, x in zip(self.form, points, strict=True)), univariate([]))
        if (u - univariate([0, 1])) % w:
            return False
        powers = [[univariate([1])] for _ in points]
        for polynomial in polynomials:
            value = univariate([])
            for exponents, coefficient in polynomial.terms.items():
                product = univariate([coefficient])
                for point, ladder, e in zip(points, powers, exponents, strict=True):
                    while len(ladder) <= e:
                        ladder.append(ladder[-1] * point % w)
                    if e:
                        product = product * ladder[e] % w
                value += product
            if value % w:
                return False
        return True

    def real_points(self, precision: int) -> list[list[flint.arb]]:
        """Balls around the coordinates of the real points, apart from each other, and certified by FLINT.

        The radius of a ball is at most 2^−precision times the size of the coordinate, or than that, near 0.

        Raises:
            ValueError: if w is not squarefree.
        """
        w = flint.fmpz_poly(list(self.w))
        if w.gcd(w.derivative()).degree() > 0:
            raise ValueError("the eliminating polynomial is not squarefree")
        working = precision + 32
        while True:
            with flint.ctx.workprec(working):
                points = [self._at(root.real) for root in self._roots() if root.imag == 0]
                sharp = all(_is_sharp(x, precision) for point in points for x in point)
                pairs = (zip(*pair, strict=True) for pair in itertools.combinations(points, 2))
                if sharp and not any(all(x.overlaps(y) for x, y in pair) for pair in pairs):
                    return points
            working *= 2

    def complex_points(self) -> list[list[Any]]:
        """Balls around the points that are not real, one of each two conjugate ones, at FLINT's precision."""
        return [self._at(root) for root in self._roots() if root.imag > 0]

    def _roots(self) -> list[Any]:
        """The roots of w as complex balls, isolated from each other."""
        roots: list[Any] = list(flint.fmpz_poly(list(self.w)).complex_roots())
        return [ball for ball, _ in roots]

    @cached_property
    def _quotients(self) -> tuple[list[flint.fmpq_poly], flint.fmpz_poly]:
        numerators = [flint.fmpq_poly(list(map(rational, numerator))) for numerator in self.numerators]
        return numerators, flint.fmpz_poly(list(self.w)).derivative()

    def _at(self, root: Any) -> list[Any]:
        """The point at a root of w, a real or complex ball."""
        ball = flint.arb_poly if isinstance(root, flint.arb) else flint.acb_poly
        numerators, slope = self._quotients
        return [-ball(numerator)(root) / ball(slope)(root) for numerator in numerators]


@dataclass(frozen=True)
class GroebnerBasis:
    """The reduced Gröbner basis of an ideal, for the graded reverse lexicographic order.

    Over 𝔽_p it is exact; over ℚ msolve lifts it from several primes without a proof. Either is ``modular``.

    Attributes:
        polynomials: by increasing leading monomials; none for the ideal 0.
        ring: theirs; without the variables that were eliminated.
    """

    ring: PolynomialRing
    polynomials: tuple[Polynomial, ...]

    evidence = Evidence.MODULAR

    @cached_property
    def leading_monomials(self) -> tuple[Exponents, ...]:
        """The generators of the initial ideal, as exponent vectors."""
        return tuple(polynomial.leading_exponents for polynomial in self.polynomials)

    @cached_property
    def hilbert_series(self) -> HilbertSeries:
        """That of the ring modulo the initial ideal: of the quotient filtered by degree."""
        return hilbert_series(self.leading_monomials, len(self.ring))

    @property
    def dimension(self) -> int:
        """Of the zero set; −1 for the ideal 1."""
        return self.hilbert_series.dimension

    @property
    def degree(self) -> int:
        """Of the ideal: for dimension 0 the number of solutions with multiplicity; 0 for the ideal 1."""
        return self.hilbert_series.degree


# Writing --------------------------------------------------------------------------------------------------


def write_system(polynomials: Sequence[Polynomial]) -> str:
    """The input of msolve: variables, characteristic, and the polynomials, none of which may be 0.

    msolve reads a number modulo p wrong if it is a fraction, or long; ours are residues.

    >>> x, y = PolynomialRing(["x", "y"], 7).gens
    >>> print(write_system([x**2 - y, 3 * y]))
    x,y
    7
    x^2+6*y,
    3*y
    """
    ring = polynomials[0].ring
    names = _names(ring)
    lines = (
        "+".join(_term(c, zip(names, exponents, strict=True)) for exponents, c in polynomial.terms.items())
        for polynomial in polynomials
    )
    return f"{','.join(names)}\n{ring.characteristic}\n" + ",\n".join(lines).replace("+-", "-")


def _term(coefficient: Coefficient, powers: Iterable[tuple[str, int]]) -> str:
    factors = [f"{name}^{e}" if e > 1 else name for name, e in powers if e]
    if not factors or abs(coefficient) != 1:
        return "*".join([str(coefficient), *factors])
    return ("-" if coefficient < 0 else "") + "*".join(factors)


def _names(ring: PolynomialRing) -> list[str]:
    return [variable.name for variable in ring.variables]


# Reading ----------------------------------------------------------------------------------------------------

_NAME = re.compile(r"'(\w+)'")


def _nested(text: str) -> Any:
    """The list that msolve prints, with a colon after it: JSON but for the quotes."""
    text = text.strip()
    if not text.endswith("]:"):
        raise TranscriptError("it printed no whole list")
    try:
        document = _NAME.sub(r'"\1"', text[:-1])
        return json.loads(document, parse_int=_integer, parse_float=_refuse, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise TranscriptError(f"what it printed is no list of numbers: {text[:60]!r}") from error


def _integer(text: str) -> int:
    """As int reads it, which refuses long numbers."""
    return int(flint.fmpz(text))


def _refuse(text: str) -> None:
    raise ValueError(text)


def read_solutions(text: str, ring: PolynomialRing) -> tuple[int, int, Parametrization | None]:
    """What msolve prints with ``-P 2`` over ℚ: dimension, degree and parametrization.

    Dimension 1 stands for any above 0, with degree 0.

    Raises:
        TranscriptError: if it is not what msolve prints about a system in this ring.
    """
    names = _names(ring)
    match _nested(text):
        case [-1]:
            return -1, 0, None
        case [1, int(n), -1, []] if n == len(ring):
            return 1, 0, None
        case [0, [0, int(n), int(degree), [*printed], [*form], [1, [w, derivative, [*rest]]]]]:
            try:
                if sorted(printed[: len(ring)]) != sorted(names) or n != len(printed):
                    raise ValueError(printed)
                order = [printed.index(name) for name in names]
                parametrization = _parametrization(ring, order, n, form, w, derivative, rest)
                if not 1 <= parametrization.points <= degree:
                    raise ValueError(degree)
                return 0, degree, parametrization
            except (ValueError, TypeError, IndexError, ArithmeticError) as error:
                raise TranscriptError("its list is not well formed") from error
    raise TranscriptError(f"its list has no form that msolve prints for {len(ring)} variables: {text[:60]!r}")


def _parametrization(
    ring: PolynomialRing, order: Sequence[int], n: int, form: Any, w: Any, derivative: Any, rest: Any
) -> Parametrization:
    """From the parts of what msolve prints; ``order`` says where each variable of the ring stands in it."""
    eliminating = _coefficients(w)
    slope = tuple(i * c for i, c in enumerate(eliminating))[1:]
    if len(form) != n or len(rest) != n - 1 or _coefficients(derivative) != slope or len(eliminating) < 2:
        raise ValueError(w)
    numerators = [tuple(Fraction(x, c) for x in _coefficients(f)) for f, c in rest]
    if n == len(ring):  # u is the last variable
        if form != [0] * (n - 1) + [1]:
            raise ValueError(form)
        numerators.append((Fraction(0), *(Fraction(-c) for c in slope)))
        values = [Fraction(c) for c in form]
    elif n == len(ring) + 1:  # u is an added variable, with which the form is 0
        values = [-Fraction(c, form[-1]) for c in form]
    else:
        raise ValueError(n)
    return Parametrization(
        ring, tuple(values[i] for i in order), eliminating, tuple(numerators[i] for i in order)
    )


def _coefficients(polynomial: Any) -> tuple[int, ...]:
    """Those of a univariate polynomial, printed as its degree, −1 for 0, and them."""
    degree, numbers = polynomial
    coefficients = tuple(operator.index(number) for number in numbers)
    if len(coefficients) != max(degree, 0) + 1:
        raise ValueError(polynomial)
    return coefficients


_FACTOR = r"[A-Za-z]\w*(?:\^[0-9]+)?"
_TERM = re.compile(rf"([+-]?)(?:([0-9]+)(?:\*({_FACTOR}(?:\*{_FACTOR})*))?|({_FACTOR}(?:\*{_FACTOR})*))")
_HEADER = re.compile(
    r"#Reduced Groebner basis data\n#---\n#field characteristic: (\d{1,10})\n#variable order: +([\w, ]+)\n"
    r"#monomial order: +(.*)\n#length of basis: +(\d{1,9}) elements?.*\n#---\n\[([^\[\]#]*)\]:\s*"
)


def read_basis(text: str, ring: PolynomialRing, eliminate: int = 0) -> GroebnerBasis:
    """What msolve prints with ``-g 2``: the part of the basis without the variables to be eliminated.

    Raises:
        TranscriptError: if it is not what msolve prints about an ideal of this ring.
    """
    match = _HEADER.fullmatch(text)
    if match is None:
        raise TranscriptError(f"it printed no whole basis: {text[:60]!r}")
    characteristic, order, _, length, body = match.groups()
    names, printed = _names(ring), order.split(", ")
    if int(characteristic) != ring.characteristic or printed not in (names, names[eliminate:]):
        raise TranscriptError(f"it printed a basis of another ring: {order[:60]!r}")
    small = PolynomialRing(ring.variables[eliminate:], ring.characteristic)
    elements = [element.strip() for element in body.split(",")]
    if elements == ["0"] and length in ("0", "1"):
        return GroebnerBasis(small, ())
    if len(elements) != int(length):
        raise TranscriptError(f"it printed {len(elements)} elements of a basis of {length}")
    basis = (_polynomial(element, names, ring).terms for element in elements)
    kept = (terms for terms in basis if not any(any(e[:eliminate]) for e in terms))
    made = (small.from_terms({e[eliminate:]: c for e, c in terms.items()}) for terms in kept)
    return GroebnerBasis(small, tuple(made))


def _polynomial(text: str, names: Sequence[str], ring: PolynomialRing) -> Polynomial:
    terms: dict[Exponents, int] = {}
    index = {name: i for i, name in enumerate(names)}
    at = 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or (at > 0 and not match[1]):
            raise TranscriptError(f"{text[at : at + 40]!r} stands where a term was due")
        at = match.end()
        exponents = [0] * len(names)
        for factor in filter(None, (match[3] or match[4] or "").split("*")):
            name, _, power = factor.partition("^")
            if name not in index or len(power) > 4:
                raise TranscriptError(f"{factor[:40]!r} is no power of a variable")
            exponents[index[name]] += int(power or 1)
        coefficient = _integer(match[2] or "1")
        if not coefficient or tuple(exponents) in terms:
            raise TranscriptError(f"a polynomial has the term {match[0][:40]!r} twice, or zero")
        terms[tuple(exponents)] = -coefficient if match[1] == "-" else coefficient
    polynomial = ring.from_terms(terms)
    if not terms or len(polynomial) != len(terms):
        raise TranscriptError("a polynomial of the basis has a zero coefficient")
    return polynomial


# What scripts print -----------------------------------------------------------------------------------------


def read(text: str, problem: Problem) -> Answer:
    """Read the output of a script as the answer to a problem.

    Raises:
        TranscriptError: if there is not exactly one whole data block, it belongs to another problem, or an
            answer in it was damaged, or is not what msolve prints about the system that was put to it.
    """
    answers = _answers(text, problem)
    bases = {name: _result(answers, system) for name, system in problem.systems.items()}
    return Answer.of(problem, problem.origin.values(bases, problem))


def cksum(data: bytes) -> int:
    """The checksum of POSIX ``cksum``: CRC-32 of the bytes and their number, without reflection.

    >>> cksum(b"123456789")
    930766865
    """
    size = len(data)
    data += size.to_bytes((size.bit_length() + 7) // 8, "little")
    return int(f"{zlib.crc32(data.translate(_REFLECTED), 0xFFFFFFFF):032b}"[::-1], 2)


_REFLECTED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_ANSWER = "agattn-answer"


def _answers(text: str, problem: Problem) -> dict[str, str]:
    """What msolve printed on each question, by its name."""
    lines, end = framed(text, problem)
    block = "".join(f"{line}\n" for line in lines)
    first, *parts = re.split(rf"^{_ANSWER} (\S+) (.*)\n", block, flags=re.MULTILINE)
    if first:
        raise TranscriptError(f"{lines[0][:80]!r} stands where an answer was due")
    names, seals, answers = parts[::3], parts[1::3], parts[2::3]
    if end.split(" ") != [END, *names] or len(set(names)) < len(names):
        raise TranscriptError(
            f"the data block has the answers {', '.join(names)[:80]!r} but ends with {end[:80]!r}"
        )
    for name, seal, answer in zip(names, seals, answers, strict=True):
        data = answer.encode("utf-8", errors="replace")
        if seal != f"{cksum(data)} {len(data)}":
            raise TranscriptError(
                f"the answer {name[:40]!r} was damaged: its checksum is not that of its lines"
            )
    return dict(zip(names, answers, strict=True))


def _result(answers: Mapping[str, str], system: Explicit) -> GroebnerBasis:
    if system.name not in answers:
        raise TranscriptError(f"the answer {system.name!r} is missing from the data block")
    return read_basis(answers[system.name], system.ring, system.eliminated)


# Solving ----------------------------------------------------------------------------------------------------

#: The largest prime that msolve computes with; what is not finite over ℚ is measured modulo this.
LARGEST_PRIME = 2**31 - 1
_CHECK_PRIME = 2**61 - 1


@dataclass(frozen=True)
class Solutions:
    """What msolve found about a system over ℚ.

    msolve computes modulo primes of 31 bits and lifts the result, without a proof: ``evidence`` is
    ``modular``. What it prints has been substituted into the equations modulo a prime of 61 bits.
    ``parametrization.satisfies(polynomials)`` proves that its points solve the equations, and
    ``parametrization.real_points(precision)`` isolates the real ones, by FLINT. That there are no other
    solutions, and the degree, remain modular.

    Attributes:
        dimension: −1 if there are no complex solutions, 0 if finitely many; else that of the zero set.
        degree: the number of complex solutions with multiplicity; 0 if there are none. For positive dimension
            the degree of the ideal: of the components of the largest dimension, with multiplicity.
        parametrization: of the complex solutions, where there are finitely many, and some.
    """

    dimension: int
    degree: int
    parametrization: Parametrization | None = None

    evidence = Evidence.MODULAR


def solve(polynomials: Sequence[Polynomial], installation: Installation) -> Solutions:
    """All solutions of a system over ℚ, if they are finitely many; else their dimension and degree.

    Args:
        polynomials: from one ring over ℚ, at least one.
        installation: of msolve, such as :func:`~agattn.engines.locate.locate` finds.

    Raises:
        InputError: if there are no polynomials, or they are not over ℚ.
        EngineError: if it does not finish, or what it prints is not right.
    """
    ring = _ring(polynomials)
    if ring.characteristic:
        raise InputError(f"the polynomials are over {ring.characteristic} elements; solve takes them over QQ")
    equations = [polynomial for polynomial in polynomials if polynomial]
    if not equations:
        return Solutions(len(ring), 1)
    dimension, degree, parametrization = read_solutions(_run(equations, "-P 2", installation), ring)
    if dimension > 0:
        modular = PolynomialRing(ring.variables, LARGEST_PRIME)
        residues = [modular.from_terms(polynomial.primitive().terms) for polynomial in equations]
        basis = groebner_basis(residues, installation)
        if basis.dimension <= 0:
            raise TranscriptError(
                f"msolve finds infinitely many solutions over QQ, and finitely many modulo {LARGEST_PRIME}"
            )
        return Solutions(basis.dimension, basis.degree)
    if parametrization is not None and not parametrization.satisfies(equations, _CHECK_PRIME):
        raise TranscriptError("the points that msolve printed do not solve the equations")
    return Solutions(dimension, degree, parametrization)


def groebner_basis(polynomials: Sequence[Polynomial], installation: Installation) -> GroebnerBasis:
    """The reduced Gröbner basis of an ideal for the graded reverse lexicographic order.

    Args:
        polynomials: from one ring, at least one.
        installation: of msolve, such as :func:`~agattn.engines.locate.locate` finds.

    Raises:
        InputError: if there are no polynomials.
        EngineError: if it does not finish, or what it prints is not right.
    """
    ring = _ring(polynomials)
    equations = [polynomial for polynomial in polynomials if polynomial]
    if not equations:
        return GroebnerBasis(ring, ())
    return read_basis(_run(equations, "-g 2", installation), ring)


def _ring(polynomials: Sequence[Polynomial]) -> PolynomialRing:
    if not polynomials:
        raise InputError(
            "there are no polynomials; give at least one, which may be 0, as it has the variables"
        )
    ring = polynomials[0].ring
    if any(polynomial.ring != ring for polynomial in polynomials):
        raise InputError("the polynomials are from different rings")
    if not len(ring):
        raise InputError("the ring has no variables")
    if ring.characteristic > LARGEST_PRIME:
        raise InputError(f"msolve computes modulo primes up to {LARGEST_PRIME}, not {ring.characteristic}")
    if Variable("A") in ring.variables:
        raise InputError("msolve calls a variable that it adds A; call yours otherwise")
    return ring


def _run(equations: Sequence[Polynomial], options: str, installation: Installation) -> str:
    """What msolve prints about equations."""
    system = f"cat > system.ms << 'end'\n{write_system(equations)}\nend\n"
    with installation.blamed():
        ended = installation.execute(f'{system}"$1" {options} -f system.ms\n')
        installation.check_end(ended)
    return ended.output


# Polynomials in one variable -------------------------------------------------------------------------------


def _is_sharp(x: flint.arb, precision: int) -> bool:
    """Whether a ball has a radius of at most 2^−precision times its size, or than that, near zero."""
    return bool(x.is_finite() and x.rad() * 2**precision <= max(flint.arb(1), abs(x.mid())))
