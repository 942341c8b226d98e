"""Reading an ideal that somebody else wrote: what an engine printed, or a file in an engine's syntax.

Nothing is executed. A file holds at most a ring and an ideal, and anything else is refused with its line and
column. The variables are the coordinates of the architecture that the ideal is compared with:

>>> from agattn.algebra.polynomial import PolynomialRing, Variable
>>> ring = PolynomialRing([Variable("y", (1, 1)), Variable("y", (1, 2))])
>>> read_script("S = QQ[y_(1,1), y_(1,2)]; I = ideal(y_(1,1)^2 - 1/2*y_(1,2))", ring, "i.m2")
(y_(1,1)^2 - 1/2*y_(1,2),)
>>> read_script("ideal I = y(1)(1)**2, y(1)(3);", ring, "i.sing")
Traceback (most recent call last):
    ...
agattn.errors.InputError: i.sing, line 1, column 23: y(1)(3) is no coordinate; these are y_(1,1), y_(1,2)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import takewhile
from math import comb
from pathlib import Path
from typing import Any, NoReturn

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.errors import InputError
from agattn.files import parsed
from agattn.systems.problem import Problem

#: More terms would fill the memory, more brackets in brackets the stack.
_MAX_TERMS = 200_000
_MAX_DEPTH = 100
_MAX_EXPONENT = 9999  # no equation comes near; a longer exponent is two that ran together
_MAX_DIGITS = 4000  # Python refuses to read longer integers by default

_INDICES = r"\(\s*\d+(?:\s*,\s*\d+)*\s*\)"
_TOKEN = re.compile(
    rf"(?P<variable>[A-Za-z](?:_{_INDICES}|_\{{\s*\d+(?:\s*,\s*\d+)*\s*\}}|_\d+|(?:{_INDICES})+)?(?![A-Za-z_]))"
    r"|(?P<word>[A-Za-z]\w*)|(?P<number>\d+)|(?P<sign>\*\*|[-+*/^(){}\[\],;=])"
)
_SPACE = re.compile(r"\s*")
#: Comments of Macaulay2 and of Singular: each sign of one is an operator of the other.
_COMMENTS = {
    ".m2": re.compile(r"--[^\n]*|-\*.*?\*-", re.DOTALL),
    ".sing": re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL),
}
#: The line of an engine's output that says which script printed it.
_SCRIPT = re.compile(r"^agattn emit \S+ .*$", re.MULTILINE)


def script_words(text: str) -> str | None:
    """The command that wrote the script which printed a text; ``None`` where it does not say.

    >>> script_words("agattn emit implicit-ideal --engine macaulay2 2 1 2\\ndimension: 5")
    'agattn emit implicit-ideal --engine macaulay2 2 1 2'
    """
    match = _SCRIPT.search(text)
    return match[0].rstrip() if match else None


def written_by(problem: Problem, words: str) -> str:
    """The command that writes the script of a problem for the engine that some command names."""
    engine = re.search(r"--engine (\w+)", words)
    return problem.command.replace("ENGINE", engine[1] if engine else "")


class Reader:
    """Reads polynomials of a ring in a text, token by token."""

    def __init__(self, text: str, ring: PolynomialRing, where: object, first_line: int = 1) -> None:
        self.ring, self.where, self.first_line = ring, where, first_line
        self.text, self.position, self.depth = text, 0, 0
        self.gens: Mapping[Variable, Polynomial] = dict(zip(ring.variables, ring.gens, strict=True))

    def fail(self, what: str) -> NoReturn:
        """Refuse what stands here."""
        before = self.text[: self.position]
        line, column = before.count("\n") + self.first_line, self.position - before.rfind("\n")
        raise InputError(f"{self.where}, line {line}, column {column}: {what}")

    def peek(self) -> str:
        """The next token; empty at the end."""
        self.position = _SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]
        if self.position == len(self.text):
            return ""
        match = _TOKEN.match(self.text, self.position)
        return match[0] if match else self.text[self.position]

    def take(self, *signs: str) -> bool:
        """Pass over the next token if it is one of these."""
        token = self.peek()
        if token not in signs or not token:
            return False
        self.position += len(token)
        return True

    def need(self, sign: str, after: str) -> None:
        """Pass over a token that must stand here."""
        if not self.take(sign):
            self.expected(f"{sign!r} {after}")

    def expected(self, what: str) -> NoReturn:
        """Refuse what stands in place of something."""
        token = self.peek()
        self.fail(f"expected {what}, not {token[:40]!r}" if token else f"expected {what}, but the text ends")

    def number(self) -> int:
        """A whole number."""
        token = self.peek()
        if not token.isdecimal() or len(token) > _MAX_DIGITS:
            self.expected("a whole number")
        self.position += len(token)
        return int(token)

    def polynomials(self, closing: str = "") -> tuple[Polynomial, ...]:
        """Polynomials with commas between them, up to a closing sign."""
        made: list[Polynomial] = []
        while self.peek() not in ("", ";", closing):
            made.append(self.sum())
            if not self.take(","):
                break
        return tuple(made)

    def sum(self) -> Polynomial:
        """A sum of products, each with its sign."""
        total = self.ring.zero()
        sign = -1 if self.take("-") else 1
        while True:
            total = total + self.product() * sign
            if self.take("+"):
                sign = 1
            elif self.take("-"):
                sign = -1
            else:
                return total

    def product(self) -> Polynomial:
        """Powers with * between them, or / and a number."""
        value = self.power()
        while True:
            if self.take("*"):
                other = self.power()
                if len(value) * len(other) > _MAX_TERMS:
                    self.fail(f"a product of {len(value)} by {len(other)} terms is too large")
                value = value * other
            elif self.take("/"):
                divisor = self.number()
                if not divisor:
                    self.fail("a division by zero")
                value = value / divisor
            else:
                return value

    def power(self) -> Polynomial:
        """A factor, or a power of one."""
        base = self.factor()
        if not self.take("^", "**"):
            return base
        exponent = self.number()
        many = comb(max(len(base), 1) + exponent - 1, exponent) if exponent <= _MAX_EXPONENT else exponent
        if exponent > _MAX_EXPONENT or many > _MAX_TERMS:
            self.fail(f"the exponent {exponent} is too large")
        return base**exponent

    def factor(self) -> Polynomial:
        """A number, a coordinate, or a sum in brackets."""
        if self.take("("):
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                self.fail(f"more than {_MAX_DEPTH} brackets in brackets")
            value = self.sum()
            self.need(")", "after a sum in brackets")
            self.depth -= 1
            return value
        token = self.peek()
        if token.isdecimal():
            return self.ring.one() * self.number()
        match = _TOKEN.match(self.text, self.position)
        if match is None or match["variable"] is None:
            self.expected("a number, a coordinate or '('")
        variable = Variable(token[0], tuple(map(int, re.findall(r"\d+", token))))
        if variable not in self.gens:
            self.fail(f"{token} is no coordinate; these are {_coordinates(self.ring)}")
        self.position += len(token)
        return self.gens[variable]


def _coordinates(ring: PolynomialRing) -> str:
    names = [variable.macaulay2() for variable in ring.variables]
    return ", ".join(names if len(names) <= 6 else [*names[:3], "...", names[-1]])


def read_script(text: str, ring: PolynomialRing, where: object) -> tuple[Polynomial, ...]:
    """The generators in a file of Macaulay2 or Singular: a ring at most, and one ideal.

    Raises:
        InputError: for anything else, with its line and column.
    """
    comments = _COMMENTS.get(Path(str(where)).suffix, _COMMENTS[".m2"])
    reader = Reader(comments.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text), ring, where)
    generators: tuple[Polynomial, ...] | None = None
    while reader.peek():
        if reader.take(";"):
            continue
        if _pass_over_ring(reader):
            continue
        if generators is not None:
            reader.expected("the end of the file after the ideal")
        generators = _ideal(reader)
    if generators is None:
        reader.expected("an ideal, such as I = ideal(y_(1,1,1,1) - y_(1,1,1,2))")
    return generators


#: S = QQ[...], S = ZZ/p[...] and ring S = 0,(...),dp;
_RING = re.compile(
    r"\s*(?:(?:\w+\s*=\s*)?(?:QQ|ZZ\s*/\s*(?P<p>\d+))\s*\[[^\]]*\]"
    r"|ring\s+\w+\s*=\s*(?P<q>\d+)\s*,\s*\((?:[^()]|\([\d,\s]*\))*\)\s*,\s*\(?\s*\w+\s*\)?)[ \t]*(?=;|\n|$)"
)


def _pass_over_ring(reader: Reader) -> bool:
    """Pass over the definition of a ring, which must have the field of the coordinates."""
    match = _RING.match(reader.text, reader.position)
    if match is None:
        return False
    p = int(match["p"] or match["q"] or 0)
    if p:
        reader.fail(f"the ring has characteristic {p}; an ideal is compared over the rational numbers")
    reader.position = match.end()
    return True


_ASSIGNED = re.compile(r"\s*(?:ideal\s+)?\w+\s*=(?!=)\s*")


def _ideal(reader: Reader) -> tuple[Polynomial, ...]:
    """The generators of ``I = ideal(...)``, ``ideal I = ...;``, or of a plain list of polynomials."""
    if match := _ASSIGNED.match(reader.text, reader.position):
        reader.position = match.end()
    reader.take("trim")
    closing = ")" if reader.take("ideal") and reader.take("(") else "}" if reader.take("{") else ""
    polynomials = reader.polynomials(closing)
    if closing:
        reader.need(closing, "or ',' after a polynomial")
    elif reader.peek() not in ("", ";"):
        reader.expected("',' or ';' after a polynomial")
    return polynomials


def read_printed(text: str, rings: Mapping[str, PolynomialRing], where: object) -> dict[str, Any]:
    """What a script of ``agattn emit`` printed: integers and lists of polynomials, by name.

    Raises:
        InputError: if it has no line ``name: number``, or fewer polynomials than it says.

    >>> from agattn.algebra.polynomial import PolynomialRing
    >>> read_printed("generators: 1\\n    x^2-2*y", {"generators": PolynomialRing("xy")}, "i.out")
    {'generators': (x^2 - 2*y,)}
    """
    values: dict[str, Any] = {}
    lines = text.split("\n")
    for n, line in enumerate(lines, 1):
        match = re.fullmatch(r"([\w@,-]+): (-?\d{1,4000})\s*", line)
        if match is None:
            continue
        name, number = match[1], int(match[2])
        ring = rings.get(name.partition("@")[0])
        if ring is None:
            values[name] = number
            continue
        texts = [*takewhile(re.compile(r" {4}\s*\S").match, lines[n:])]
        if len(texts) != number:
            raise InputError(f"{where}, line {n}: {name} has {len(texts)} polynomials; it says {number}")
        values[name] = tuple(_whole(Reader(f, ring, where, n + k)) for k, f in enumerate(texts, 1))
    if not values:
        raise InputError(f"{where} has no answer: expected lines such as 'dimension: 5'")
    return values


def read_json(text: str, ring: PolynomialRing, where: object) -> tuple[Polynomial, ...]:
    """The generators in JSON: a list of texts, or a document of ``agattn ideal -O FILE.json``."""
    document = parsed("JSON", text, where)
    if isinstance(document, dict) and "generators" in document:
        document = document["generators"]
    if isinstance(document, list) and all(isinstance(f, str) for f in document):
        return tuple(_whole(Reader(f, ring, f"{where}, generator {n}")) for n, f in enumerate(document, 1))
    try:
        letter = ring.variables[0].letter
        variables = [Variable(letter, tuple(index)) for index in document["coordinates"]]
        terms = [f for module in document["modules"] for f in module["equations"]]
        vectors = [[(dict(exponents), _rational(c)) for c, exponents in equation] for equation in terms]
        return _by_vectors(variables, vectors, ring, where)
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f'{where} is no ideal: expected {{"generators": ["...", ...]}} or a document of agattn ideal'
        ) from None


def _whole(reader: Reader) -> Polynomial:
    value = reader.sum()
    if reader.peek():
        reader.expected("the end of a polynomial")
    return value


def _by_vectors(
    variables: Sequence[Variable],
    polynomials: Sequence[Sequence[tuple[Mapping[int, int], Fraction]]],
    ring: PolynomialRing,
    where: object,
) -> tuple[Polynomial, ...]:
    """Polynomials of terms with exponents by the position of a variable."""
    places = {variable: n for n, variable in enumerate(ring.variables)}
    for variable in variables:
        if variable not in places:
            raise InputError(
                f"{where}: {variable.macaulay2()} is no coordinate; these are {_coordinates(ring)}"
            )
    made = []
    for polynomial in polynomials:
        terms = {}
        for exponents, coefficient in polynomial:
            vector = [0] * len(ring)
            for n, e in exponents.items():
                if not 0 <= e <= _MAX_EXPONENT or not 0 <= n < len(variables):
                    raise ValueError("an exponent")
                vector[places[variables[n]]] = e
            if tuple(vector) in terms:
                raise ValueError("a monomial twice")
            terms[tuple(vector)] = coefficient
        made.append(ring.from_terms(terms))
    return tuple(made)


def read_mrdi(text: str, ring: PolynomialRing, where: object) -> tuple[Polynomial, ...]:
    """The generators in the format of OSCAR (namespaces Oscar and Macaulay2): an ideal over ℚ."""
    document = parsed("JSON", text, where)
    try:
        kind = document["_type"]
        referred = document["_refs"][kind["params"]]
        data = referred["data"]
        names = data["symbols"] if "symbols" in data else data["variables"]
        field = referred["_type"]["params"]
        variables = [_named(name) for name in names]
        polynomials = [
            [(dict(enumerate(map(int, exponents))), _rational(c)) for exponents, c in polynomial]
            for polynomial in document["data"]
        ]
        if kind["name"] not in ("Ideal", "MPolyIdeal") or field not in _RATIONALS:
            raise ValueError("another type")
        return _by_vectors(variables, polynomials, ring, where)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise InputError(f"{where} is no ideal of polynomials over QQ in the format .mrdi") from None


#: How the format calls the field ℚ, in Macaulay2's namespace and in OSCAR's.
_RATIONALS = ({"_type": "Ring", "data": "QQ"}, {"_type": "QQField"}, "QQ")


def _named(name: str) -> Variable:
    """The variable with a name such as ``y_(1,2)``, ``y[1,2]`` or ``y_1_2``."""
    letter, *indices = re.findall(r"[A-Za-z]+|\d+", name)
    return Variable(letter, tuple(map(int, indices)))


def _rational(coefficient: Any) -> Fraction:
    """A number as ``["-1", "2"]``, ``"-1//2"``, ``"3"`` or 3; ValueError for any other, such as 0.5."""
    parts = coefficient if isinstance(coefficient, list) else [coefficient]
    words = re.split("//?", "/".join(map(str, parts)))
    if len(words) > 2 or not all(re.fullmatch(rf"-?\d{{1,{_MAX_DIGITS}}}", word) for word in words):
        raise ValueError("no rational number")
    return Fraction(*map(int, words))


#: How a file with an ending is read.
READERS: dict[str, Callable[[str, PolynomialRing, object], tuple[Polynomial, ...]]] = {
    ".m2": read_script,
    ".sing": read_script,
    ".json": read_json,
    ".mrdi": read_mrdi,
}
