"""A test of an engine's answer to the task ``base-locus``: φ must vanish on every component it names."""

from __future__ import annotations

from fractions import Fraction

import flint

from agattn.algebra.echelon import echelon, rational_matrix
from agattn.algebra.polynomial import Polynomial
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
        images = list(phi[0].ring.gens)
        reduced, pivots = echelon(_matrix(generators, len(images), problem.characteristic))
        for i, pivot in enumerate(pivots):
            row = ((j, _exact(reduced[i, j])) for j in range(len(images)) if j != pivot)
            images[pivot] = sum((-x * phi[0].ring.gens[j] for j, x in row if x), phi[0].ring.zero())
        if any(f.compose(images) for f in phi):
            raise TranscriptError(f"φ does not vanish on {name}, which was to be a component of its zeros")


def _matrix(forms: tuple[Polynomial, ...], size: int, p: int) -> flint.nmod_mat | flint.fmpq_mat:
    """The coefficients of linear forms, one in each row."""
    rows = [[Fraction(0)] * size for _ in forms]
    for row, f in zip(rows, forms, strict=True):
        for exponents, coefficient in f.terms.items():
            if sum(exponents) != 1:
                raise TranscriptError(f"{f} is not homogeneous, and the zeros of φ are a cone")
            row[exponents.index(1)] = Fraction(coefficient)
    if not p:
        return rational_matrix(rows, size)
    entries = [c.numerator * pow(c.denominator, -1, p) for row in rows for c in row]
    return flint.nmod_mat(len(rows), size, entries, p)


def _exact(entry: flint.nmod | flint.fmpq) -> Fraction:
    return Fraction(int(entry.p), int(entry.q)) if isinstance(entry, flint.fmpq) else Fraction(int(entry))
