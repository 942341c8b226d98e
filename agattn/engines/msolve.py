"""msolve: Gröbner bases, and the solutions of systems that have finitely many, in exact boxes.

msolve has no language: it reads variables, a characteristic and polynomials, and prints one nested list. Over
ℚ it computes modulo several primes and lifts the result, which it does not prove. What is taken from it here
is checked as far as that is cheap, and the rest is said: see :class:`Solutions`.

>>> from agattn.algebra.polynomial import PolynomialRing
>>> x, y = PolynomialRing(["x", "y"]).gens
>>> found = solve([x**2 + y**2 - 3, x * y - 1])
>>> found.degree, found.points, len(found.boxes)
(4, 4, 4)
>>> all(low <= high < low + Fraction(1, 2**100) for box in found.boxes for low, high in box)
True
>>> basis = groebner_basis([x**2 + y**2 - 3, x * y - 1], prime=32003)
>>> basis.leading_monomials, basis.dimension, basis.degree
(((1, 1), (2, 0), (0, 3)), 0, 4)
"""

from __future__ import annotations

import itertools
import json
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import flint

from agattn.algebra.echelon import fraction, rational
from agattn.algebra.monomial_ideals import HilbertSeries, hilbert_series
from agattn.algebra.polynomial import Coefficient, Exponents, Polynomial, PolynomialRing
from agattn.engines.engine import MSOLVE
from agattn.engines.locate import Installation, locate
from agattn.engines.process import run_program, work_folder
from agattn.engines.run import DEFAULT_LIMITS, Limits, check_end
from agattn.errors import EngineError, InputError, TranscriptError
from agattn.evidence import Evidence

Interval = tuple[Fraction, Fraction]
Box = tuple[Interval, ...]

#: The largest prime that msolve computes with; what is not finite over ℚ is measured modulo this.
LARGEST_PRIME = 2**31 - 1


_CHECK_PRIME = 2**61 - 1


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

        >>> x, y = PolynomialRing(["x", "y"]).gens
        >>> found = solve([x**2 - 2, y - x])
        >>> found.parametrization.satisfies([x * y - 2]), found.parametrization.satisfies([x * y - 1])
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
                for point, known, e in zip(points, powers, exponents, strict=True):
                    while len(known) <= e:
                        known.append(known[-1] * point % w)
                    if e:
                        product = product * known[e] % w
                value += product
            if value % w:
                return False
        return True

    def boxes(self, precision: int) -> tuple[Box, ...]:
        """The real points, each in a box of exact intervals; the boxes are disjoint, and certified by FLINT.

        The width of an interval is about 2^−precision times the size of the coordinate, or less.

        Raises:
            ValueError: if w is not squarefree.
        """
        kept = flint.ctx.prec
        w = flint.fmpz_poly(list(self.w))
        slope = flint.fmpq_poly(w.derivative())
        if w.gcd(w.derivative()).degree() > 0:
            raise ValueError("the eliminating polynomial is not squarefree")
        numerators = [_poly(numerator) for numerator in self.numerators]
        form = list(map(rational, self.form))
        try:
            flint.ctx.prec = working = precision + 32
            while True:
                balls: list[flint.acb] = [ball for ball, _ in w.complex_roots()]  # type: ignore[misc, has-type]
                roots = sorted(
                    (ball.real for ball in balls if ball.imag == 0), key=lambda r: fraction(r.mid().fmpq())
                )
                points = [[-_at(n, r) / _at(slope, r) for n in numerators] for r in roots]
                values = [
                    sum((c * x for c, x in zip(form, point, strict=True)), flint.arb(0)) for point in points
                ]
                apart = all(one < other for one, other in itertools.pairwise(values))
                if apart and all(_is_sharp(x, precision) for point in points for x in point):
                    return tuple(sorted(tuple(map(_interval, point)) for point in points))
                flint.ctx.prec = working = 2 * working
        finally:
            flint.ctx.prec = kept


@dataclass(frozen=True)
class Solutions:
    """What msolve found about a system over ℚ.

    msolve computes modulo primes of 31 bits and lifts the result, without a proof: ``evidence`` is
    ``modular``. What it prints has been substituted into the equations modulo a prime of 61 bits, and its
    roots isolated anew by FLINT, which proves that each box holds exactly one real point of the
    parametrization. ``parametrization.satisfies(polynomials)`` proves that these solve the equations. That
    there are no other solutions, and the degree, remain modular.

    Attributes:
        ring: of the equations.
        dimension: −1 if there are no complex solutions, 0 if finitely many; else that of the zero set.
        degree: the number of complex solutions with multiplicity; 0 if there are none. For positive dimension
            the degree of the ideal: of the components of the largest dimension, with multiplicity.
        parametrization: of the complex solutions, where there are finitely many, and some.
        boxes: one for each real solution: for each variable an interval with dyadic ends, lower then upper.
        seconds: wall-clock time of msolve.
    """

    ring: PolynomialRing
    dimension: int
    degree: int
    parametrization: Parametrization | None
    boxes: tuple[Box, ...]
    seconds: float

    evidence = Evidence.MODULAR

    @property
    def points(self) -> int | None:
        """The number of distinct complex solutions; ``None`` if there are infinitely many."""
        if self.parametrization is None:
            return None if self.dimension > 0 else 0
        return self.parametrization.points


@dataclass(frozen=True)
class GroebnerBasis:
    """The reduced Gröbner basis of an ideal, for the graded reverse lexicographic order.

    Over 𝔽_p it is exact; over ℚ msolve lifts it from several primes without a proof. Either is ``modular``.

    Attributes:
        polynomials: by increasing leading monomials; none for the ideal 0.
        ring: theirs; without the variables that were eliminated.
        seconds: wall-clock time of msolve.
    """

    ring: PolynomialRing
    polynomials: tuple[Polynomial, ...]
    seconds: float

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


def solve(
    polynomials: Sequence[Polynomial],
    *,
    precision: int = 128,
    limits: Limits = DEFAULT_LIMITS,
    installation: Installation | None = None,
) -> Solutions:
    """All solutions of a system over ℚ, if they are finitely many; else their dimension and degree.

    Args:
        polynomials: from one ring over ℚ, at least one.
        precision: of the boxes, in bits.
        limits: of time and memory of msolve.
        installation: of msolve; the one that is found, by default.

    Raises:
        InputError: if there are no polynomials, or they are not over ℚ.
        EngineNotFoundError: if msolve is not installed.
        EngineError: if it does not finish, or what it prints is not right.
    """
    ring = _ring(polynomials)
    if ring.characteristic:
        raise InputError(f"the polynomials are over {ring.characteristic} elements; solve takes them over QQ")
    equations = [polynomial for polynomial in polynomials if polynomial]
    if not equations:
        return Solutions(ring, len(ring), 1, None, (), 0.0)
    options = ("-P", "1", "-p", str(precision))
    text, seconds = _run(equations, options, limits, installation)
    dimension, degree, parametrization, isolated = read_solutions(text, ring)
    if dimension > 0:
        basis = groebner_basis(equations, prime=LARGEST_PRIME, limits=limits, installation=installation)
        if basis.dimension <= 0:
            raise TranscriptError(
                f"msolve says infinitely many solutions over QQ, and none so modulo {LARGEST_PRIME}"
            )
        return Solutions(ring, basis.dimension, basis.degree, None, (), seconds + basis.seconds)
    boxes: tuple[Box, ...] = ()
    if parametrization is not None:
        if not parametrization.satisfies(equations, _CHECK_PRIME):
            raise TranscriptError("the points that msolve printed do not solve the equations")
        boxes = parametrization.boxes(precision)
        _check_same(boxes, isolated)
    return Solutions(ring, dimension, degree, parametrization, boxes, seconds)


def groebner_basis(
    polynomials: Sequence[Polynomial],
    *,
    prime: int | None = None,
    eliminate: int = 0,
    limits: Limits = DEFAULT_LIMITS,
    installation: Installation | None = None,
) -> GroebnerBasis:
    """The reduced Gröbner basis of an ideal for the graded reverse lexicographic order.

    Args:
        polynomials: from one ring, at least one.
        prime: reduce the coefficients modulo this first; at most 2³¹ − 1.
        eliminate: how many of the first variables to eliminate.
        limits: of time and memory of msolve.
        installation: of msolve; the one that is found, by default.

    Raises:
        InputError: if there are no polynomials, or a coefficient has the prime in its denominator.
        EngineNotFoundError: if msolve is not installed.
        EngineError: if it does not finish, or what it prints is not right.
    """
    ring = _ring(polynomials)
    if prime is not None:
        ring = PolynomialRing(ring.variables, prime)
        polynomials = [reduce_modulo(polynomial, ring) for polynomial in polynomials]
    if ring.characteristic > LARGEST_PRIME:
        raise InputError(f"msolve computes modulo primes up to {LARGEST_PRIME}, not {ring.characteristic}")
    equations = [polynomial for polynomial in polynomials if polynomial]
    small = PolynomialRing(ring.variables[eliminate:], ring.characteristic)
    if not equations:
        return GroebnerBasis(small, (), 0.0)
    options = ("-g", "2", *(("-e", str(eliminate)) if eliminate else ()))
    text, seconds = _run(equations, options, limits, installation)
    return GroebnerBasis(small, read_basis(text, ring, eliminate), seconds)


def reduce_modulo(polynomial: Polynomial, ring: PolynomialRing) -> Polynomial:
    """A polynomial over ℚ in the same variables over 𝔽_p.

    Raises:
        InputError: if p divides the denominator of a coefficient.
    """
    try:
        return ring.from_terms(polynomial.terms)
    except ValueError as error:
        p = ring.characteristic
        raise InputError(
            f"a coefficient of {str(polynomial)[:60]} has no residue modulo {p}; take another prime"
        ) from error


def write_system(polynomials: Sequence[Polynomial]) -> str:
    """The input of msolve: variables, characteristic, and the polynomials, none of which may be 0.

    msolve reads a number modulo p wrong if it is a fraction, or long; ours are residues.

    >>> x, y = PolynomialRing(["x", "y"], 7).gens
    >>> print(write_system([x**2 - y, 3 * y]))
    x1,x2
    7
    1*x1^2+6*x2,
    3*x2
    """
    ring = polynomials[0].ring
    names = _names(ring)
    lines = (
        "+".join(
            "*".join(
                [str(c), *(f"{x}^{e}" if e > 1 else x for x, e in zip(names, exponents, strict=True) if e)]
            )
            for exponents, c in polynomial.terms.items()
        ).replace("+-", "-")
        for polynomial in polynomials
    )
    return f"{','.join(names)}\n{ring.characteristic}\n" + ",\n".join(lines)


def _names(ring: PolynomialRing) -> list[str]:
    """The variables as msolve is told them: it calls one that it adds A."""
    return [f"x{i + 1}" for i in range(len(ring))]


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
    return ring


def _run(
    equations: Sequence[Polynomial],
    options: Sequence[str],
    limits: Limits,
    installation: Installation | None,
) -> tuple[str, float]:
    """What msolve prints about equations, and its wall-clock seconds."""
    installation = installation or locate(MSOLVE)
    try:
        with work_folder() as folder:
            file = Path(folder, "system.ms")
            file.write_text(write_system(equations) + "\n", encoding="ascii")
            command = [str(installation.path), *options, "-f", str(file)]
            ended = run_program(command, folder, timeout=limits.timeout, memory=limits.memory)
        check_end(ended, installation, limits)
    except EngineError as error:
        raise type(error)(f"msolve ({installation.path}): {error}") from error
    return ended.output, ended.seconds


# Reading ----------------------------------------------------------------------------------------------------

_NAME = re.compile(r"'(\w+)'")
_DYADIC = re.compile(r"(?<!\d)(-?\d+) ?/ ?2\^(\d+)")  # looked for at the first digit alone: numbers are long
_MAX_EXPONENT = 10**6  # of a denominator; a longer one is no precision that anybody asked for


def _nested(text: str) -> Any:
    """The list that msolve prints, with a colon after it: made JSON, with dyadic numbers as pairs."""
    text = text.strip()
    if not text.endswith("]:"):
        raise TranscriptError("it printed no whole list")
    try:
        document = _DYADIC.sub(r'{"\2":\1}', _NAME.sub(r'"\1"', text[:-1]))
        return json.loads(document, parse_int=_integer, parse_float=_refuse, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise TranscriptError(f"what it printed is no list of numbers: {text[:60]!r}") from error


def _integer(text: str) -> int:
    """As int reads it, which refuses long numbers."""
    return int(flint.fmpz(text))


def _refuse(text: str) -> None:
    raise ValueError(text)


def _number(value: object) -> Fraction:
    match value:
        case int():
            return Fraction(value)
        case dict():
            [(power, numerator)] = value.items()
            if isinstance(numerator, int) and int(power) <= _MAX_EXPONENT:
                return Fraction(numerator, 2 ** int(power))
    raise ValueError(value)


def read_solutions(
    text: str, ring: PolynomialRing
) -> tuple[int, int, Parametrization | None, tuple[Box, ...]]:
    """What msolve prints with ``-P 1`` over ℚ: dimension, degree, parametrization and boxes.

    Dimension 1 stands for any above 0, with degree 0.

    Raises:
        TranscriptError: if it is not what msolve prints about a system in this ring.
    """
    names = _names(ring)
    match _nested(text):
        case [-1]:
            return -1, 0, None, ()
        case [1, int(n), -1, []] if n == len(ring):
            return 1, 0, None, ()
        case [0, [0, int(n), int(degree), [*printed], [*form], [1, [w, derivative, [*rest]]]], [1, [*boxes]]]:
            try:
                if sorted(printed[: len(ring)]) != sorted(names) or n != len(printed):
                    raise ValueError(printed)
                place = [printed.index(name) for name in names]
                parametrization = _parametrization(ring, place, n, form, w, derivative, rest)
                if not 1 <= parametrization.points <= degree:
                    raise ValueError(degree)
                return 0, degree, parametrization, tuple(_box(box, place) for box in boxes)
            except (ValueError, TypeError, IndexError) as error:
                raise TranscriptError(f"its list is not well formed: {str(error)[:60]}") from error
    raise TranscriptError(f"its list is none that msolve prints for {len(ring)} variables: {text[:60]!r}")


def _parametrization(
    ring: PolynomialRing, place: Sequence[int], n: int, form: Any, w: Any, derivative: Any, rest: Any
) -> Parametrization:
    """From the parts of what msolve prints; ``place`` is where each variable of the ring stands in it."""
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
        ring, tuple(values[i] for i in place), eliminating, tuple(numerators[i] for i in place)
    )


def _coefficients(polynomial: Any) -> tuple[int, ...]:
    """Those of a univariate polynomial, printed as its degree, −1 for 0, and them."""
    degree, numbers = polynomial
    coefficients = tuple(operator.index(number) for number in numbers)
    if len(coefficients) != max(degree, 0) + 1:
        raise ValueError(polynomial)
    return coefficients


def _box(box: Any, place: Sequence[int]) -> Box:
    intervals = [(_number(low), _number(high)) for low, high in box]
    if len(intervals) != len(place) or any(low > high for low, high in intervals):
        raise ValueError(box)
    return tuple(intervals[i] for i in place)


def _check_same(boxes: Sequence[Box], printed: Sequence[Box]) -> None:
    """Refuse boxes that are not those of the same points."""

    def meet(one: Box, other: Box) -> bool:
        return all(a <= d and c <= b for (a, b), (c, d) in zip(one, other, strict=True))

    if len(boxes) != len(printed):
        raise TranscriptError(
            f"it printed {len(printed)} real solutions; its parametrization has {len(boxes)}"
        )
    for some, others in ((boxes, printed), (printed, boxes)):
        if not all(any(meet(one, other) for other in others) for one in some):
            raise TranscriptError("it printed a box that holds no root of its parametrization")


_FACTOR = r"[A-Za-z]\w*(?:\^[0-9]+)?"
_TERM = re.compile(rf"([+-]?)(?:([0-9]+)(?:\*({_FACTOR}(?:\*{_FACTOR})*))?|({_FACTOR}(?:\*{_FACTOR})*))")
_HEADER = re.compile(
    r"#Reduced Groebner basis data\n#---\n#field characteristic: (\d+)\n#variable order: +([\w, ]+)\n"
    r"#monomial order: +(.*)\n#length of basis: +(\d+) elements?.*\n#---\n\[([^\[\]#]*)\]:\s*"
)


def read_basis(text: str, ring: PolynomialRing, eliminate: int = 0) -> tuple[Polynomial, ...]:
    """What msolve prints with ``-g 2``: the part of the basis without the variables to be eliminated.

    Raises:
        TranscriptError: if it is not what msolve prints about an ideal of this ring.
    """
    match = _HEADER.fullmatch(text)
    if match is None:
        raise TranscriptError(f"it printed no whole basis: {text[:60]!r}")
    characteristic, order, _, length, body = match.groups()
    names = _names(ring)
    printed = order.split(", ")
    if int(characteristic) != ring.characteristic or printed not in (names, names[eliminate:]):
        raise TranscriptError(f"it printed a basis of another ring: {order[:60]!r}")
    elements = [element.strip() for element in body.split(",")]
    if len(elements) != int(length):
        raise TranscriptError(f"it printed {len(elements)} elements of a basis of {length}")
    small = PolynomialRing(ring.variables[eliminate:], ring.characteristic)
    found = (_polynomial(element, names, ring) for element in elements)
    return tuple(
        small.from_terms({e[eliminate:]: c for e, c in polynomial.terms.items()})
        for polynomial in found
        if not any(any(e[:eliminate]) for e in polynomial.terms)
    )


def _polynomial(text: str, names: Sequence[str], ring: PolynomialRing) -> Polynomial:
    terms: dict[Exponents, int] = {}
    place = {name: i for i, name in enumerate(names)}
    at = 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or (at > 0 and not match[1]):
            raise TranscriptError(f"{text[at : at + 40]!r} stands where a term was due")
        at = match.end()
        exponents = [0] * len(names)
        for factor in filter(None, (match[3] or match[4] or "").split("*")):
            name, _, power = factor.partition("^")
            if name not in place or len(power) > 4:
                raise TranscriptError(f"{factor[:40]!r} is no power of a variable")
            exponents[place[name]] += int(power or 1)
        coefficient = _integer(match[2] or "1")
        if not coefficient or tuple(exponents) in terms:
            raise TranscriptError(f"a polynomial has the term {match[0][:40]!r} twice, or zero")
        terms[tuple(exponents)] = -coefficient if match[1] == "-" else coefficient
    polynomial = ring.from_terms(terms)
    if not terms or len(polynomial) != len(terms):
        raise TranscriptError("a polynomial of the basis has a zero coefficient")
    return polynomial


# Polynomials in one variable -------------------------------------------------------------------------------


def _poly(coefficients: Sequence[Fraction]) -> flint.fmpq_poly:
    return flint.fmpq_poly([rational(c) for c in coefficients])


def _at(polynomial: flint.fmpq_poly, x: flint.arb) -> flint.arb:
    value = flint.arb(0)
    for coefficient in reversed(polynomial.coeffs()):
        value = value * x + coefficient
    return value


def _is_sharp(x: flint.arb, precision: int) -> bool:
    """Whether a ball has a radius of at most 2^−precision times its size, or than that, near zero."""
    return bool(x.is_finite() and x.rad() * 2**precision <= max(flint.arb(1), abs(x.mid())))


def _interval(x: flint.arb) -> Interval:
    return fraction(x.lower().fmpq()), fraction(x.upper().fmpq())
