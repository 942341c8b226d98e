"""Reading what an engine printed.

A data block stands between two marks; every line between them is one item:

    agattn-data 1 TASK DIGEST
    integer NAME VALUE
    polynomials NAME COUNT
    polynomial TERMS
    term COEFFICIENT e1,e2,...,en
    agattn-end LINES CHECKSUM

The checksum is a polynomial hash of all lines between the marks, which the engine's script computes over what
it prints: a change of any one letter changes it, and another change goes unseen once in 10¹⁸ times.
Numbers are exact and exponents are vectors, so that reading needs no expression parser. A block that is
truncated, garbled, repeated or for another problem is refused whole; nothing is ever half-read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from agattn.algebra.polynomial import Exponents, Polynomial, PolynomialRing
from agattn.errors import TranscriptError
from agattn.systems.problem import Answer, Problem

BEGIN, END = "agattn-data", "agattn-end"

# The hash of letters with codes c_1, ..., c_n is Σ c_i B^{n−i} modulo P; the digest of the problem says which
# problem is answered, so it need not depend on that.
CHECKSUM_BASE, CHECKSUM_PRIME = 1000003, 2**61 - 1

_INTEGER = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?")
_MAX_DIGITS = 4000  # Python refuses to read longer integers by default
_MAX_EXPONENT = 9999  # no equation comes near; a longer exponent is two that ran together


def read(text: str, problem: Problem) -> Answer:
    """Read an engine's output as the answer to a problem.

    Raises:
        TranscriptError: if there is not exactly one whole data block, it belongs to another problem, or it
            does not hold exactly the results the problem asks for.
    """
    body, end = framed(text, problem)
    fields = end.split(" ")
    if fields[:2] != [END, str(len(body))]:
        raise TranscriptError(f"the data block has {len(body)} lines but ends with {end[:80]!r}")
    if fields[2:] != [str(checksum(body))]:
        raise TranscriptError("the data block was damaged: its checksum is not that of its lines")
    items, p = iter(body), problem.characteristic
    rings = {r.name: PolynomialRing(r.ring.variables, p) for r in problem.results if r.ring is not None}
    values: dict[str, Any] = {}
    for line in items:
        word, name, number = _fields(line, 3)
        ring = rings.get(name.partition("@")[0])
        if name in values:
            raise TranscriptError(f"the result {name[:80]!r} stands in the data block twice")
        if word == "integer" and ring is None:
            values[name] = _integer(number)
        elif word == "polynomials" and ring is not None:
            values[name] = tuple(_polynomial(items, ring) for _ in _count(number))
        else:
            raise TranscriptError(f"{line[:80]!r} is no result of {problem.task}")
    check_complete(problem, values)
    return Answer.of(problem, values)


def check_complete(problem: Problem, values: Mapping[str, Any]) -> None:
    """Refuse an answer that lacks a result or has one that was not asked for."""
    due = set()
    for result in problem.results:
        labels = [""]
        if result.per_point:
            labels = [f"@{point.label}" for point in problem.points]
        elif result.per_item:
            # One name more than there can be is enough to show that some are missing.
            items = _count(str(values.get(result.per_item, 0)))[: len(values) + 1]
            labels = [f"@{i + 1}" for i in items]
        due |= {result.name + label for label in labels}
    if missing := sorted(due - values.keys()):
        raise TranscriptError(f"the result {missing[0]!r} is missing from the data block")
    if extra := sorted(values.keys() - due):
        raise TranscriptError(f"{extra[0][:80]!r} is no result of {problem.task}")


def framed(text: str, problem: Problem) -> tuple[list[str], str]:
    """The lines between the two marks, and the second mark.

    Raises:
        TranscriptError: if there is not exactly one whole block, or it answers another problem.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    begins = [n for n, line in enumerate(lines) if line.startswith(BEGIN)]
    ends = [n for n, line in enumerate(lines) if line.startswith(END)]
    if not begins:
        raise TranscriptError("it printed no data block")
    if not ends:
        raise TranscriptError("the data block is cut off: its end mark is missing")
    if len(begins) > 1 or len(ends) > 1 or ends[0] < begins[0]:
        raise TranscriptError("it printed more than one data block")
    expected = f"{BEGIN} 1 {problem.task} {problem.digest}"
    if lines[begins[0]] != expected:
        raise TranscriptError(
            f"the data block answers another problem: it begins {lines[begins[0]][:80]!r}, not {expected!r}"
        )
    return lines[begins[0] + 1 : ends[0]], lines[ends[0]]


def checksum(lines: Sequence[str]) -> int:
    """The hash of lines, each with its end, as the scripts compute it.

    >>> checksum([]), checksum(["integer dimension 5"])
    (0, 1941178685364598960)
    """
    value = 0
    for code in "".join(f"{line}\n" for line in lines).encode("utf-8", errors="replace"):
        value = (CHECKSUM_BASE * value + code) % CHECKSUM_PRIME
    return value


def _fields(line: str | None, count: int) -> list[str]:
    if line is None:
        raise TranscriptError("the data block ends in the middle of a polynomial")
    fields = line.split(" ")
    if len(fields) != count:
        raise TranscriptError(f"{line[:80]!r} is no item of a data block")
    return fields


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text) or len(text) > _MAX_DIGITS:
        raise TranscriptError(f"{text[:80]!r} is not an integer")
    return int(text)


def _count(text: str) -> range:
    if (count := _integer(text)) < 0:
        raise TranscriptError(f"{count} is not how many items can follow")
    return range(count)


def _polynomial(items: Iterator[str], ring: PolynomialRing) -> Polynomial:
    word, size = _fields(next(items, None), 2)
    if word != "polynomial":
        raise TranscriptError(f"{word[:80]!r} stands where a polynomial was due")
    terms: dict[Exponents, Fraction | int] = {}
    for _ in _count(size):
        word, coefficient, vector = _fields(next(items, None), 3)
        if word != "term" or not _NUMBER.fullmatch(coefficient) or len(coefficient) > _MAX_DIGITS:
            raise TranscriptError(f"'{word[:20]} {coefficient[:60]}' is not a term with an exact coefficient")
        exponents = tuple(_integer(e) for e in vector.split(","))
        usable = len(exponents) == len(ring) and min(exponents) >= 0 and max(exponents) <= _MAX_EXPONENT
        if not usable or exponents in terms:
            raise TranscriptError(f"{vector[:80]!r} is not a new exponent vector in {len(ring)} variables")
        terms[exponents] = Fraction(coefficient)
        p = ring.characteristic
        if p and terms[exponents].denominator % p == 0:
            raise TranscriptError(f"{coefficient[:60]} is not in the field of {p} elements")
    polynomial = ring.from_terms(terms)
    if len(polynomial) != len(terms):
        raise TranscriptError("a polynomial has a zero coefficient")
    return polynomial
