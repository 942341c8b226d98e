"""msolve: Gröbner bases, and the solutions of systems that have finitely many, in balls.

msolve has no language: it reads variables, a characteristic and polynomials, and prints one nested list. Over
ℚ it computes modulo several primes and lifts the result, which it does not prove. What is cheap to check of
an answer is checked here; :class:`Solutions` says what remains unproved.

>>> from agattn.algebra.polynomial import PolynomialRing
>>> x, y = PolynomialRing(["x", "y"]).gens
>>> solutions = solve([x**2 + y**2 - 3, x * y - 1])
>>> solutions.degree, solutions.parametrization.points
(4, 4)
>>> len(solutions.parametrization.real_points(100))
4
>>> x, y = PolynomialRing(["x", "y"], 32003).gens
>>> basis = groebner_basis([x**2 + y**2 - 3, x * y - 1])
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


def solve(polynomials: Sequence[Polynomial], *, installation: Installation | None = None) -> Solutions:
    """All solutions of a system over ℚ, if they are finitely many; else their dimension and degree.

    Args:
        polynomials: from one ring over ℚ, at least one.
        installation: of msolve; by default the installation that :func:`~agattn.engines.locate.locate` finds.

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
        return Solutions(len(ring), 1)
    dimension, degree, parametrization = read_solutions(_run(equations, "-P 2", installation), ring)
    if dimension > 0:
        modular = PolynomialRing(ring.variables, LARGEST_PRIME)
        residues = [modular.from_terms(polynomial.primitive().terms) for polynomial in equations]
        basis = groebner_basis(residues, installation=installation)
        if basis.dimension <= 0:
            raise TranscriptError(
                f"msolve finds infinitely many solutions over QQ, and finitely many modulo {LARGEST_PRIME}"
            )
        return Solutions(basis.dimension, basis.degree)
    if parametrization is not None and not parametrization.satisfies(equations, _CHECK_PRIME):
        raise TranscriptError("the points that msolve printed do not solve the equations")
    return Solutions(dimension, degree, parametrization)


def groebner_basis(
    polynomials: Sequence[Polynomial], *, installation: Installation | None = None
) -> GroebnerBasis:
    """The reduced Gröbner basis of an ideal for the graded reverse lexicographic order.

    Args:
        polynomials: from one ring, at least one.
        installation: of msolve; by default the installation that :func:`~agattn.engines.locate.locate` finds.

    Raises:
        InputError: if there are no polynomials.
        EngineNotFoundError: if msolve is not installed.
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


def _run(equations: Sequence[Polynomial], options: str, installation: Installation | None) -> str:
    """What msolve prints about equations."""
    installation = installation or locate(MSOLVE)
    system = f"cat > system.ms << 'end'\n{write_system(equations)}\nend\n"
    with installation.blamed():
        ended = installation.execute(f'{system}"$1" {options} -f system.ms\n')
        installation.check_end(ended)
    return ended.output
