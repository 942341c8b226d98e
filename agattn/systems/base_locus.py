"""A test of an engine's answer to the task ``base-locus``: φ must vanish on every component it names."""

from __future__ import annotations

from fractions import Fraction

import flint

from agattn.algebra.echelon import echelon
from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.errors import TranscriptError
from agattn.geometry.variety.coordinates import parametrization
from agattn.systems.problem import Answer


def check_base_locus(answer: Answer) -> None:
    """Refuse an answer with a component on which φ does not vanish; other tasks pass.

    On the linear space where linear generators are zero, some weights are linear forms in the others; with
    these put in, every coefficient of φ must cancel. Components of higher degree are not looked at.

    Raises:
        TranscriptError: if a coefficient of φ does not cancel.
    """
    problem = answer.problem
    if problem.task != "base-locus":
        return
    phi = [f for f in parametrization(problem.layer, problem.characteristic) if f]
    for name, generators in answer.polynomials.items():
        if any(f.degree() != 1 for f in generators):
            continue
        images = _solved(generators, phi[0].ring)
        if any(f.compose(images) for f in phi):
            raise TranscriptError(f"φ does not vanish on {name}, which was to be a component of its zeros")


def _solved(generators: tuple[Polynomial, ...], ring: PolynomialRing) -> list[Polynomial]:
    """The variables of a ring, with those at the pivots replaced by linear forms in the others."""
    images = list(ring.gens)
    if not generators:
        return images
    p = ring.characteristic
    rows = [_linear(f, len(ring)) for f in generators]
    matrix: flint.nmod_mat | flint.fmpq_mat
    if p:
        matrix = flint.nmod_mat([[c.numerator * pow(c.denominator, -1, p) for c in row] for row in rows], p)
    else:
        matrix = flint.fmpq_mat([[flint.fmpq(c.numerator, c.denominator) for c in row] for row in rows])
    reduced, pivots = echelon(matrix)
    for i, pivot in enumerate(pivots):
        row = [_exact(reduced[i, j]) for j in range(len(ring))]
        terms = [-entry * ring.gens[j] for j, entry in enumerate(row) if entry and j != pivot]
        images[pivot] = sum(terms, ring.zero())
    return images


def _linear(f: Polynomial, size: int) -> list[Fraction]:
    """The coefficients of a linear form; its constant term, if there is one, makes the form unusable."""
    row = [Fraction(0)] * size
    for exponents, coefficient in f.terms.items():
        if sum(exponents) != 1:
            raise TranscriptError(f"{f} is not homogeneous, and the zeros of φ are a cone")
        row[exponents.index(1)] = Fraction(coefficient)
    return row


def _exact(entry: flint.nmod | flint.fmpq) -> Fraction:
    return Fraction(int(entry.p), int(entry.q)) if isinstance(entry, flint.fmpq) else Fraction(int(entry))
