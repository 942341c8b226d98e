"""msolve: Gröbner bases, and the solutions of systems that have finitely many, in exact boxes.

msolve has no language: it reads variables, a characteristic and polynomials, and prints one nested list. Over
ℚ it computes modulo several primes and lifts the result, which it does not prove. What is cheap to check of
an answer is checked here; :class:`Solutions` says what remains unproved.

>>> from agattn.algebra.polynomial import PolynomialRing
>>> x, y = PolynomialRing(["x", "y"]).gens
>>> solutions = solve([x**2 + y**2 - 3, x * y - 1])
>>> solutions.degree, solutions.points, len(solutions.boxes)
(4, 4, 4)
>>> all(0 <= high - low < 2**-100 for box in solutions.boxes for low, high in box)
True
>>> basis = groebner_basis([x**2 + y**2 - 3, x * y - 1], prime=32003)
>>> basis.leading_monomials, basis.dimension, basis.degree
(((1, 1), (2, 0), (0, 3)), 0, 4)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.engines.catalogue import MSOLVE
from agattn.engines.locate import Installation, locate
from agattn.engines.msolve_lists import (
    Box,
    GroebnerBasis,
    Parametrization,
    read_basis,
    read_solutions,
    write_system,
)
from agattn.errors import InputError, TranscriptError
from agattn.evidence import Evidence

#: The largest prime that msolve computes with; what is not finite over ℚ is measured modulo this.
LARGEST_PRIME = 2**31 - 1


MAX_PRECISION = 10**5
_CHECK_PRIME = 2**61 - 1


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
    """

    ring: PolynomialRing
    dimension: int
    degree: int
    parametrization: Parametrization | None
    boxes: tuple[Box, ...]

    evidence = Evidence.MODULAR

    @property
    def points(self) -> int | None:
        """The number of distinct complex solutions; ``None`` if there are infinitely many."""
        if self.parametrization is None:
            return None if self.dimension > 0 else 0
        return self.parametrization.points


def solve(
    polynomials: Sequence[Polynomial], *, precision: int = 128, installation: Installation | None = None
) -> Solutions:
    """All solutions of a system over ℚ, if they are finitely many; else their dimension and degree.

    Args:
        polynomials: from one ring over ℚ, at least one.
        precision: of the boxes, in bits.
        installation: of msolve; by default the installation that :func:`~agattn.engines.locate.locate` finds.

    Raises:
        InputError: if there are no polynomials, they are not over ℚ, or the precision is none.
        EngineNotFoundError: if msolve is not installed.
        EngineError: if it does not finish, or what it prints is not right.
    """
    ring = _ring(polynomials)
    if ring.characteristic:
        raise InputError(f"the polynomials are over {ring.characteristic} elements; solve takes them over QQ")
    if not 1 <= precision <= MAX_PRECISION:
        raise InputError(f"the precision is {precision} bits; it must be from 1 to {MAX_PRECISION}")
    equations = [polynomial for polynomial in polynomials if polynomial]
    if not equations:
        return Solutions(ring, len(ring), 1, None, ())
    options = ("-P", "1", "-p", str(precision))
    text = _run(equations, options, installation)
    dimension, degree, parametrization, isolated = read_solutions(text, ring)
    if dimension > 0:
        basis = groebner_basis(equations, prime=LARGEST_PRIME, installation=installation)
        if basis.dimension <= 0:
            raise TranscriptError(
                f"msolve finds infinitely many solutions over QQ, and finitely many modulo {LARGEST_PRIME}"
            )
        return Solutions(ring, basis.dimension, basis.degree, None, ())
    boxes: tuple[Box, ...] = ()
    if parametrization is not None:
        if not parametrization.satisfies(equations, _CHECK_PRIME):
            raise TranscriptError("the points that msolve printed do not solve the equations")
        boxes = parametrization.boxes(precision)
        _check_same(boxes, isolated)
    return Solutions(ring, dimension, degree, parametrization, boxes)


def groebner_basis(
    polynomials: Sequence[Polynomial],
    *,
    prime: int | None = None,
    eliminate: int = 0,
    installation: Installation | None = None,
) -> GroebnerBasis:
    """The reduced Gröbner basis of an ideal for the graded reverse lexicographic order.

    Args:
        polynomials: from one ring, at least one.
        prime: reduce the coefficients modulo this first; at most 2³¹ − 1.
        eliminate: how many of the first variables to eliminate.
        installation: of msolve; by default the installation that :func:`~agattn.engines.locate.locate` finds.

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
        return GroebnerBasis(small, ())
    options = ("-g", "2", *(("-e", str(eliminate)) if eliminate else ()))
    return GroebnerBasis(small, read_basis(_run(equations, options, installation), ring, eliminate))


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


def _check_same(boxes: Sequence[Box], printed: Sequence[Box]) -> None:
    """Refuse boxes that are not those of the same points."""

    def meet(first: Box, second: Box) -> bool:
        return all(a <= d and c <= b for (a, b), (c, d) in zip(first, second, strict=True))

    if len(boxes) != len(printed):
        raise TranscriptError(
            f"it printed {len(printed)} real solutions; its parametrization has {len(boxes)}"
        )
    for some, others in ((boxes, printed), (printed, boxes)):
        if not all(any(meet(box, other) for other in others) for box in some):
            raise TranscriptError("it printed a box that holds no root of its parametrization")


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
    if Variable("A") in ring.variables:
        raise InputError("msolve calls a variable that it adds A; call yours otherwise")
    return ring


def _run(equations: Sequence[Polynomial], options: Sequence[str], installation: Installation | None) -> str:
    """What msolve prints about equations."""
    installation = installation or locate(MSOLVE)
    system = f"cat > system.ms << 'end'\n{write_system(equations)}\nend\n"
    with installation.blamed():
        ended = installation.execute(f'{system}"$1" {" ".join(options)} -f system.ms\n')
        installation.check_end(ended)
    return ended.output
