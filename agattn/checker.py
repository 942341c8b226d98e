"""The checker of certificates: one file that needs Python 3.11 or newer, and nothing else.

    python checker.py FILE        verify the certificate in FILE, or from the standard input if FILE is -

Exit status: 0 the certificate is valid; 1 it is not, as a statement or a number in it is false; 2 it cannot
be checked: it cannot be read, is malformed, or is larger than what is stated below.

``agattn check FILE``, ``python -m agattn.checker FILE`` and, in Python, ``agattn.check(document)`` run this
very file, and ``agattn check -O FILE.py`` copies it as it stands.

It is meant to be read in one sitting, and trusts no word and no number of a certificate: every consequence
is computed here, and every word that is printed stands in this file
(docs/trust/certificates.md of agattn says more).

A certificate says what it is about (a layer, several heads, weights, a network, a layer with groups, latents
or a state), and then has a record for each claim. Whatever it is about, it proves by four things:

- *Integers*: weights, inputs, and numbers that follow from them. What follows is computed here, and compared
  where it is stated. This proves a statement about these weights, no more.
- *A rank*. Vectors of a space span at least the rank that some of them have, over ℚ or modulo a prime. So a
  Jacobian at one point, modulo a prime, bounds the dimension of an image from below; the tangent vectors of
  the orbit of a group at one point bound the dimension of general orbits from below, hence that of the
  functions from above; and coefficients of arcs bound a tangent space from below.
- *A product*: y = φ(A, V), A = KᵀQ, f = M·g, a sum of heads. Multiplied out, it is an identity of
  polynomials over ℤ, and holds for all values of their variables. So y is in M; f is in the ideal (g); a
  limit of heads is in the closure of M.
- *A vanishing*. A polynomial that is 0 after φ is put in, term by term over ℤ, vanishes on M and on its
  closure M̄; its gradient bounds tangent spaces of M̄ from above. A direction that a differential kills makes a
  point critical.

From these to a claim about all points or all weights leads a theorem, and it stands beside the lines that use
it, with its proof or with the page of agattn that has one. No certificate can prove more: if its integers are
others, then its statements are those about the other integers, or it is refused.

>>> rank([{(1,): 2, (2,): 4}, {(1,): 3, (2,): 6}])
1
>>> phi({(1, 2, 0): 5}, {(1, 3, 0): 7})     # A has 5 at (1, 2), V has 7 at (1, 3)
{(0, 1, 2, 1, 3): 35}
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain, product
from math import comb, gcd, isqrt, prod
from pathlib import Path
from typing import Any, ClassVar

FORMAT = "agattn certificate 2"

# What is larger than this is not checked, so that no file takes much more than a minute or half a gigabyte.
# The certificate of M(8,8,3), with 2304 coordinates, takes less than a hundredth of the steps.
BYTES = 10**7  #: in a file
DIGITS = 300  #: of an integer
LETTERS = 1000  #: in a text
COORDINATES = 10**4  #: of a layer
POWERS = 1000  #: of ε
VARIABLES = 1000  #: of the coordinates near a point
DEGREE = 20  #: of a polynomial
INPUTS = 1000  #: of a network or layer
OUTPUTS = 5 * 10**5  #: of a network or layer, at all inputs together
TERMS = 2 * 10**5  #: of an equation, once it is expanded
STEPS = 10**8  #: of all arithmetic together; one is a product of two integers of less than 128 bits
ENTRIES = 2 * 10**6  #: that are not 0, in a matrix brought to echelon form, or in a sum

LARGEST = 10**DIGITS
ANY = (0, POWERS)

Sparse = dict[tuple[Any, ...], int]
"""What is not 0, by index from 1: a matrix by (row, column, power of ε), a point by (power, c, b, i, k)."""

Polynomial = Sparse
"""Coefficients by monomial, the sorted names of its variables: {(): 1, (2, 2): −3} is 1 − 3 z_2²."""

Matrix = list[list[int]]
Weights = dict[Any, Matrix]
"""Matrices by name, and the numbers of the group and head where there are some."""

PRIME = 2**61 - 1  #: p, modulo which a rank is taken; it can only be smaller than over ℚ
SQUARE = PRIME**2  #: modulo p² a multiple of p has the square 0

MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What Python raises where a document has something else than what is looked for."""


class UnreadableError(ValueError):
    """Raised for what cannot be checked: no certificate, a malformed one, or one that is too large."""


class Flaw(Exception):  # noqa: N818
    """Raised where a certificate does not prove what it says."""


def require(condition: bool, flaw: str) -> None:
    """Raise a :class:`Flaw` unless the condition holds."""
    if not condition:
        raise Flaw(flaw)


def form(condition: bool, words: str) -> None:
    """Raise an :class:`UnreadableError` unless the condition holds."""
    if not condition:
        raise UnreadableError(words)


class Work(threading.local):
    """The steps that were done for one certificate."""

    done = 0

    def more(self, steps: int) -> None:
        """Count steps that are about to be done."""
        self.done += steps
        form(self.done <= STEPS, f"it takes more than {STEPS} steps of arithmetic")


WORK = Work()


# Reading: integers only, no key that would be passed over, no text that could be taken for a verdict -------


def read(path: str | os.PathLike[str]) -> Any:
    """The JSON document in a file, or on the standard input for ``-``.

    Raises:
        UnreadableError: if it cannot be read, or :func:`load` refuses it.
    """
    try:
        if os.fspath(path) == "-":
            form(sys.stdin is not None, "the standard input is closed")
            data = sys.stdin.buffer.read(BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(BYTES + 1)
    except OSError as error:
        raise UnreadableError(error.strerror or "it cannot be read") from error
    form(len(data) <= BYTES, f"it has more than {BYTES} bytes")
    try:
        return load(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableError("it is not UTF-8") from error


def load(text: str) -> Any:
    """Read JSON whose numbers are all integers, and where no key occurs twice.

    Raises:
        UnreadableError: if it is not, or is too long.
    """
    form(len(text) <= BYTES, f"it has more than {BYTES} bytes")

    def refuse(what: Any) -> None:
        raise UnreadableError("a number in it is not an integer")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        form(len(dict(pairs)) == len(pairs), "a key occurs twice")
        return dict(pairs)

    def short(digits: str) -> int:
        form(len(digits) <= DIGITS, f"an integer has more than {DIGITS} digits")
        return int(digits)

    try:
        return json.loads(
            text, parse_int=short, parse_float=refuse, parse_constant=refuse, object_pairs_hook=once
        )
    except json.JSONDecodeError as error:
        raise UnreadableError(f"it is not JSON: line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise UnreadableError("it is nested too deeply") from error


def fields(value: Any, required: str, optional: str = "") -> dict[str, Any]:
    """A JSON object with all of the required keys, and no others than the optional ones."""
    form(isinstance(value, dict), "something else stands where an object belongs")
    missing = [name for name in required.split() if name not in value]
    form(not missing, f"a key is missing: {', '.join(missing)}")
    form(value.keys() <= set(f"{required} {optional}".split()), "there is an unknown key")
    return dict(value)


def integer(value: Any) -> int:
    """A whole number, which true and false are not."""
    form(type(value) is int, "something else stands where an integer belongs")
    form(-LARGEST < value < LARGEST, f"an integer has more than {DIGITS} digits")
    return int(value)


def array(value: Any) -> list[Any]:
    """A JSON array."""
    form(isinstance(value, list), "something else stands where an array belongs")
    return list(value)


def integers(value: Any) -> list[int]:
    """A JSON array of whole numbers."""
    return [integer(x) for x in array(value)]


def text(value: Any) -> None:
    """See that a text, which is never printed, is short and has printable characters only."""
    form(isinstance(value, str), "something else stands where a text belongs")
    form(len(value) <= LETTERS and value.isprintable(), "a text is too long, or is not printable")


def sparse(value: Any, *bounds: tuple[int, int]) -> Sparse:
    """A list [[index..., value], ...] with increasing indices within bounds, and no value 0."""
    values: Sparse = {}
    last: tuple[int, ...] = ()
    for entry in array(value):
        *index, x = integers(entry)
        form(len(index) == len(bounds) and x != 0, "an entry has a wrong length, or is 0")
        form(all(low <= n <= high for n, (low, high) in zip(index, bounds, strict=True)), "no such index")
        form(last < tuple(index), "entries are out of order")
        last = tuple(index)
        values[last] = x
    return values


def polynomial(value: Any, factor: Callable[[Any], Any]) -> Polynomial:
    """A polynomial [[coefficient, factor, ...], ...], each of whose factors is read as a name."""
    terms: Polynomial = {}
    for coefficient, *factors in map(array, array(value)):
        form(len(factors) <= DEGREE, f"a polynomial has a degree above {DEGREE}")
        name = tuple(map(factor, factors))
        form(name == tuple(sorted(name)) and name not in terms, "a term is out of order")
        form(integer(coefficient) != 0, "a term is 0")
        terms[name] = coefficient
    return terms


def dense(value: Any, rows: int, columns: int) -> Matrix:
    """A matrix [[row, column, value], ...], with all its entries."""
    return arrays({"X": value}, {"X": (rows, columns)})["X",]


def arrays(value: Any, shapes: Mapping[str, tuple[int, ...]]) -> Weights:
    """The matrices in arrays [[index, ..., value], ...], by name and by the indices before the last two."""
    given, matrices = fields(value, " ".join(shapes)), Weights()
    for name, shape in shapes.items():
        WORK.more(prod(shape))
        entries = sparse(given[name], *((1, n) for n in shape))
        *axes, rows, columns = (range(1, n + 1) for n in shape)
        for at in product(*axes):
            matrices[name, *at] = [[entries.get((*at, i, j), 0) for j in columns] for i in rows]
    return matrices


def inputs_in(value: Any, d: int, o: int, t: int = 2) -> list[Matrix]:
    """A JSON array of inputs of t tokens, not too many, as each has d·t entries and o·t outputs."""
    many = len(array(value)) > INPUTS or len(value) * max(d, o) * t > OUTPUTS
    form(not many, f"there are more than {INPUTS} inputs, or they have more than {OUTPUTS} outputs")
    return [dense(X, d, t) for X in value]


# Algebra: exact, and small enough to see through ------------------------------------------------------------


def rank(rows: Iterable[Sparse], modulus: int = 0) -> int:
    """The rank over ℚ of some vectors, by fraction-free elimination; or that modulo a prime."""
    pivots: dict[tuple[Any, ...], Sparse] = {}
    kept = 0
    for row in rows:
        row = {n: x % modulus for n, x in row.items() if x % modulus} if modulus else row
        while row:
            first = min(row)
            if first not in pivots:
                pivots[first] = row
                kept += len(row)
                form(kept <= ENTRIES, f"a matrix has more than {ENTRIES} entries")
                break
            other = pivots[first]
            both = {n: other[first] * row.get(n, 0) - row[first] * other.get(n, 0) for n in row | other}
            bits = 0 if modulus else max(map(int.bit_length, both.values()))
            WORK.more(len(both) * (1 + (bits >> 7) ** 2))
            if modulus:
                both, divisor = {n: x % modulus for n, x in both.items()}, 1
            else:
                divisor = gcd(*both.values())
            row = {n: x // divisor for n, x in both.items() if x}
    return len(pivots)


def grouped(vectors: Sparse, axis: int) -> dict[Any, Sparse]:
    """Vectors by the index at one place, each by the others: the rows of a matrix, or its columns."""
    parts: dict[Any, Sparse] = {}
    for key, x in vectors.items():
        parts.setdefault(key[axis], {})[key[:axis] + key[axis + 1 :]] = x
    return parts


def lines(matrix: Sparse, axis: int) -> list[Sparse]:
    """The nonzero rows (axis 0) or columns (axis 1) of a matrix, as vectors."""
    return [line for _, line in sorted(grouped(matrix, axis).items())]


def collected(terms: Iterable[tuple[tuple[Any, ...], int]]) -> Sparse:
    """Terms, each with its name: those of one name added up, without what is then 0."""
    total: Sparse = {}
    kept = 0
    for name, x in terms:
        kept += 0 if name in total else length(name)
        total[name] = total.get(name, 0) + x
        if kept > ENTRIES:
            raise UnreadableError(f"a sum has more than {ENTRIES} entries")
    return {name: x for name, x in total.items() if x}


def length(name: tuple[Any, ...]) -> int:
    """How much a name counts, as names of monomials may be long."""
    return 1 + sum(len(part) if isinstance(part, tuple) else 1 for part in name) // 16


def meetings(A: Sparse, B: Sparse) -> int:
    """The steps that a product of all entries takes."""
    longest = (max(map(length, M), default=1) for M in (A, B))
    return (len(A) + 1) * (len(B) + 1) * (sum(longest) - 1)


def added(vectors: Iterable[Sparse]) -> Sparse:
    """The sum of some vectors, or polynomials."""

    def terms() -> Iterator[tuple[tuple[Any, ...], int]]:
        for vector in vectors:
            WORK.more(len(vector) + 1)
            yield from vector.items()

    return collected(terms())


def times(f: Polynomial, g: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    WORK.more(meetings(f, g))
    terms = product(f.items(), g.items())
    return collected((joined(m, n), x * y) for (m, x), (n, y) in terms)


def joined(m: Any, n: Any) -> Any:
    """The product of two monomials, or of two powers of ε, which are numbers."""
    return tuple(sorted(m + n)) if isinstance(m, tuple) else m + n


def phi(A: Sparse, V: Sparse) -> Sparse:
    """The point V_c(u)·A_b(u), with powers of ε, or monomials, where A and V have them."""
    WORK.more(meetings(A, V))
    return collected(
        ((joined(p, q), c, b, min(i, k), max(i, k)), x * z)
        for ((c, i, p), x), ((k, b, q), z) in product(V.items(), A.items())
    )


def attention(K: Sparse, Q: Sparse) -> Sparse:
    """A = KᵀQ, with powers of ε, or monomials, where K and Q have them."""
    WORK.more(meetings(K, Q))
    return collected(
        ((k, b, joined(p, q)), x * z)
        for ((row, k, p), x), ((other, b, q), z) in product(K.items(), Q.items())
        if row == other
    )


def differential(A: Sparse, V: Sparse, dA: Sparse, dV: Sparse) -> Sparse:
    """The derivative of φ at (A, V) along (Ȧ, V̇)."""
    return added([phi(dA, V), phi(A, dV)])


def parted(vectors: Sparse, axis: int) -> dict[tuple[Any, ...], Polynomial]:
    """Polynomials by the index but for one place, at which their monomials stand."""
    parts: dict[tuple[Any, ...], Polynomial] = {}
    for key, x in vectors.items():
        parts.setdefault(key[:axis] + key[axis + 1 :], {})[key[axis]] = x
    return parts


def put_in(equation: Polynomial, y: Mapping[Any, Polynomial]) -> Polynomial:
    """The equation at a point whose coordinates are polynomials."""
    terms = sum(prod(len(y[name]) for name in names) for names in equation)
    form(terms <= TERMS, f"an equation has more than {TERMS} terms")
    summands = []
    for names, coefficient in equation.items():
        summand: Polynomial = {(): coefficient}
        for name in names:
            summand = times(summand, y[name])
        summands.append(summand)
    return added(summands)


def gradient(equation: Polynomial, y: Sparse) -> Sparse:
    """The gradient of an equation at the point y."""
    bits = max(map(int.bit_length, y.values()), default=0)
    WORK.more(sum(len(names) * (1 + (len(names) ** 2 * bits >> 11)) for names in equation))
    return collected(
        (name, coefficient * prod(y.get((0, *other), 0) for other in names[:n] + names[n + 1 :]))
        for names, coefficient in equation.items()
        for n, name in enumerate(names)
    )


def determinant(matrix: list[list[Polynomial]]) -> Polynomial:
    """The determinant, by its first row.

    >>> determinant([[{(): 2}, {(1,): 1}], [{(1,): 1}, {(): 3}]])
    {(): 6, (1, 1): -1}
    """
    WORK.more(len(matrix) ** 2)
    if not matrix:
        return {(): 1}
    terms = []
    for n, x in enumerate(matrix[0]):
        if x:
            signed = {name: (-1) ** n * c for name, c in x.items()}
            terms.append(times(signed, determinant([row[:n] + row[n + 1 :] for row in matrix[1:]])))
    return added(terms)


def multiplied(A: Matrix, B: Matrix, modulus: int = 0) -> Matrix:
    """The product of two matrices, over ℤ or modulo a number."""
    bits = 0 if modulus else max(x.bit_length() for M in (A, B) for row in M for x in row)
    WORK.more(len(A) * len(B) * len(B[0]) * (1 + (bits >> 7) ** 2))
    columns = turned(B)
    C = [[sum(map(int.__mul__, row, column)) for column in columns] for row in A]
    return [[x % modulus for x in row] for row in C] if modulus else C


def turned(matrix: Matrix) -> Matrix:
    """The transpose."""
    return [list(column) for column in zip(*matrix, strict=True)]


def plus(A: Matrix, B: Matrix) -> Matrix:
    """The sum of two matrices."""
    return [[*map(int.__add__, *rows)] for rows in zip(A, B, strict=True)]


def minus(A: Matrix) -> Matrix:
    """−A."""
    return [[-x for x in row] for row in A]


def units(n: int) -> Iterator[Matrix]:
    """The matrices of size n with one entry 1, one at a time."""
    form(n**4 <= STEPS, f"it takes more than {STEPS} steps of arithmetic")  # one alone may be large
    for index in product(range(n), repeat=2):
        WORK.more(n * n)
        yield [[int((i, j) == index) for j in range(n)] for i in range(n)]


def entries(matrix: Matrix) -> Sparse:
    """What is not 0, by row, column and the power 0 of ε."""
    return {(i, j, 0): x for i, row in enumerate(matrix) for j, x in enumerate(row) if x}


def dense_rank(rows: Iterable[list[int]], modulus: int = 0) -> int:
    """The rank over ℚ, or modulo a prime."""
    return rank(({(j,): x for j, x in enumerate(row) if x} for row in rows), modulus)


def nonzero(matrix: Matrix) -> bool:
    """Whether a matrix is not 0."""
    return any(map(any, matrix))


def symmetric(matrix: Matrix) -> Matrix:
    """Twice the symmetric part of a square matrix."""
    return plus(matrix, turned(matrix))


def skew(matrix: Matrix) -> bool:
    """Whether a square matrix is skew-symmetric."""
    return not nonzero(symmetric(matrix))


Values = Callable[[Weights], Callable[[Matrix], Matrix]]
"""A network: the output for some weights and an input, a polynomial in both, modulo p²."""


def jacobian(values: Values, weights: Weights, inputs: list[Matrix]) -> Iterator[list[int]]:
    """The derivatives of all outputs at some inputs, modulo p: a row for each entry of the weights.

    f(w + pE) = f(w) + p·Df(w)E modulo p², for a polynomial f, weights w and an integer matrix E.
    """

    def outputs(at: Weights) -> list[int]:
        function = values(at)
        return [x for X in inputs for row in function(X) for x in row]

    still = outputs(weights)
    for name, A in weights.items():
        for i, j in product(range(len(A)), range(len(A[0]))):
            moved = [*map(list, A)]
            moved[i][j] += PRIME
            pairs = zip(outputs(weights | {name: moved}), still, strict=True)
            yield [(x - y) % SQUARE // PRIME for x, y in pairs]


# What certificates are about, and the claims in them --------------------------------------------------------


class Subject:
    """What a certificate is about. Each kind says what it proves, and what it takes from a theorem."""

    KEYS: ClassVar[str] = ""  #: of the document, beside "format", "about" and "claims"
    RECORDS: ClassVar[Mapping[str, str]] = {}  #: the claims, and the keys of their records
    ENDING: ClassVar[str] = "."  #: of what is printed

    def __init__(self, document: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def prove(self, record: dict[str, Any]) -> tuple[str, str]:
        """The name of what a record proves, and what that is.

        Raises:
            Flaw: if it does not.
        """
        raise NotImplementedError


# One layer, one orbit ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layer:
    """The numbers d, d', a ≤ d."""

    d: int
    o: int
    a: int

    def __post_init__(self) -> None:
        form(1 <= self.a <= self.d and self.o >= 1, "d, d', a are not possible; a must be at most d")
        form(self.ambient <= COORDINATES, f"it is about more than {COORDINATES} coordinates")

    def __str__(self) -> str:
        """The name of M, as in the paper."""
        return f"M({self.d},{self.o},{self.a})"

    @property
    def ambient(self) -> int:
        """N, the number of coordinates."""
        return self.o * self.d * self.d * (self.d + 1) // 2

    def source(self, r_a: int) -> int:
        """The tangent dimension of the variety of pairs, modulo scaling, where rk A = r_a.

        {rk A ≤ a} is smooth of dimension a(2d − a) where rk A = a; where rk A < a < d the minors of size
        a + 1 vanish to second order.
        """
        return self.o * self.d + (self.a * (2 * self.d - self.a) if r_a == self.a else self.d**2) - 1

    def orbits(self) -> list[tuple[int, int, int]]:
        """All triples rk V, rk A, rk [V; Aᵀ] of pairs with A ≠ 0 and V ≠ 0."""
        d, ranks = self.d, product(range(1, min(self.d, self.o) + 1), range(1, self.a + 1))
        return [(v, r, n) for v, r in ranks for n in range(max(v, r), min(d, v + r) + 1)]

    def places(self, rows: int) -> list[tuple[int, int]]:
        """The indices of a matrix with d columns."""
        return list(product(range(1, rows + 1), range(1, self.d + 1)))

    def matrix(self, value: Any, rows: int, *powers: tuple[int, int]) -> Sparse:
        """A matrix [[row, column, value], ...] with d columns, or with a power of ε before each value."""
        M = sparse(value, (1, rows), (1, self.d), *powers)
        return M if powers else {(*index, 0): x for index, x in M.items()}

    def point(self, value: Any, *powers: tuple[int, int]) -> Sparse:
        """Coordinates [[c, b, i, k, value], ...], or with a power of ε in front of each."""
        y = sparse(value, *powers, (1, self.o), (1, self.d), (1, self.d), (1, self.d))
        form(all(i <= k for *_, i, k in y), "a coordinate has i > k")
        return y if powers else {(0, *name): x for name, x in y.items()}


class Orbit:
    """All that is proved about one orbit, at the point p of the pair (A, V)."""

    def __init__(self, layer: Layer, record: Any) -> None:
        self.layer = layer
        self.record = fields(record, "ranks A V y", "second critical arcs tangent equations")
        self.A, self.V = layer.matrix(self.record["A"], layer.d), layer.matrix(self.record["V"], layer.o)
        rows, columns = lines(self.V, 0), lines(self.A, 1)
        self.ranks = rank(rows), rank(columns), rank(rows + columns)
        require(list(self.ranks) == integers(self.record["ranks"]), f"the ranks are {named(self.ranks)}")
        self.y = phi(self.A, self.V)
        require(self.y == layer.point(self.record["y"]), "y is not φ(A, V)")
        self.preimages = self._fiber()
        self.critical = self._critical()
        self.lower, self.upper = self._tangent()

    def _pair(self, name: str) -> tuple[Sparse, Sparse]:
        """A pair [A, V]."""
        A, V = array(self.record[name])
        return self.layer.matrix(A, self.layer.d), self.layer.matrix(V, self.layer.o)

    def _fiber(self) -> int:
        """How many pairs have the point p, up to (sA, V/s). At most 2, as linear forms are prime.

        Take V_c, A_b ≠ 0. A pair (A', V') over p has V'_c A'_b = V_c A_b, so up to scaling V'_c = V_c, and
        then A' = A, V' = V by division; or V'_c = A_b and A'_b = V_c. This is another pair only where these
        are not parallel; then A_b divides V_c A_{b'}, hence A_{b'}, for all b', and V_c divides all V_{c'}:
        so rk A = rk V = 1, and the other pair is (v qᵀ, h kᵀ) for A = k qᵀ, V = h vᵀ.
        """
        exists = self.ranks == (1, 1, 2)
        require(("second" in self.record) == exists, "a preimage is missing, or is one too many")
        if exists:
            A, V = self._pair("second")
            require(phi(A, V) == self.y and rank([A, self.A]) == 2, "the second preimage is none")
        return 2 if exists else 1

    def _critical(self) -> bool:
        """Whether dφ kills more than (A, −V) in the tangent cone of {rk ≤ a} times all V̇.

        No, if it kills nothing else at all. Yes, if it kills the direction given and A + εȦ has rank ≤ a.

        If p is critical it is a limit of real points of M̄ outside M, and only then. Real points outside M
        have two complex-conjugate preimages, which converge to preimages of p. All of these are real, so the
        two limits agree; near it φ is not injective modulo scaling: it is critical. Conversely let A = k qᵀ,
        V = h kᵀ, and n not parallel to k, as d ≥ 2 where φ is not injective. Then h⊗q⊗(k² + εn²), ε > 0, is
        in M̄, k² + εn² being a product of complex linear forms, and not in M, as it is none of real ones.
        """
        A, V, d, o = self.A, self.V, self.layer.d, self.layer.o
        units = [differential(A, V, {(k, b, 0): 1}, {}) for k, b in self.layer.places(d)]
        units += [differential(A, V, {}, {(c, i, 0): 1}) for c, i in self.layer.places(o)]
        kernel = len(units) - rank(units)
        require(("critical" in self.record) == (kernel > 1), f"the kernel of dφ has dimension {kernel}")
        if kernel == 1:
            return False
        dA, dV = self._pair("critical")
        require(differential(A, V, dA, dV) == {}, "dφ does not kill the critical direction")
        # As dφ(0, V̇) = 0 only for V̇ = 0, a multiple of (A, −V) can be told by Ȧ.
        require(rank([dA, A]) == 2, "the critical direction is a rescaling")
        thin = min(rank(lines(dA, axis) + lines(A, axis)) for axis in (0, 1))
        require(thin <= self.layer.a, "A + εȦ is not seen to have rank ≤ a")
        require(self.ranks == (1, 1, 1), "a critical point that has other ranks than 1, 1, 1")
        return True

    def _tangent(self) -> tuple[int, int]:
        """Bounds of dim T_p M̄: arcs from below; from above the source, or equations."""
        layer, record = self.layer, self.record
        lower, upper = layer.source(layer.a), layer.ambient  # dim M̄, as Facts proves, and N
        if self.preimages == 1 and not self.critical:
            # One reduced preimage: the map, finite on projective varieties, is a local isomorphism onto M̄.
            lower = upper = layer.source(self.ranks[1])
        require(("arcs" in record) == ("tangent" in record), "arcs and a tangent dimension go together")
        if "arcs" in record:
            spanned = rank(vector for arc in array(record["arcs"]) for vector in self._arc(arc))
            require(spanned == integer(record["tangent"]), f"the arcs span {spanned} dimensions")
            lower = max(lower, spanned)
        if "equations" in record:
            gradients = [gradient(equation, self.y) for equation in equations(layer, record["equations"])]
            require(rank(gradients) == len(gradients), "the gradients of the equations are dependent")
            upper = min(upper, layer.ambient - len(gradients))
        require(lower <= upper, f"a tangent space of at least {lower} and at most {upper} dimensions")
        return lower, upper

    def _arc(self, value: Any) -> list[Sparse]:
        """Tangent vectors of M̄ at p from the arc φ(K(ε)ᵀQ(ε), V(ε)), where K and Q have a rows.

        Modulo ε^{2m} an equation of M̄ at p + ε^m v_m + ε^{m+1} v_{m+1} + ... is linear in v_m, ..., v_{2m−1}.
        """
        layer, arc = self.layer, fields(value, "K Q V y")
        K, Q = (layer.matrix(arc[name], layer.a, ANY) for name in "KQ")
        for matrix in (K, Q):  # if two rows of K are equal, what is in one row of Q could be in either
            rows = [frozenset(row.items()) for row in lines(matrix, 0)]
            require(len(set(rows)) == len(rows), "two rows are equal")
        moving = layer.point(arc["y"], (1, 3 * POWERS))
        constant_and_moving = phi(attention(K, Q), layer.matrix(arc["V"], layer.o, ANY))
        require(bool(moving) and constant_and_moving == self.y | moving, "an arc has another expansion")
        vectors = grouped(moving, 0)
        return [vector for power, vector in vectors.items() if power < 2 * min(vectors)]


def equations(layer: Layer, value: Any) -> Iterator[Sparse]:
    """Polynomials [[coefficient, [c, b, i, k], ...], ...] that vanish on M̄, read and verified."""

    def coordinate(name: Any) -> Any:
        [(_, *index)] = layer.point([[*array(name), 1]])
        return tuple(index)

    for terms in array(value):
        equation = polynomial(terms, coordinate)
        # If it vanishes for all A, then for those of rank ≤ a; otherwise A = KᵀQ is put in.
        sizes = (0, layer.a) if layer.a < layer.d else (0,)
        vanishes = any(not put_in(equation, general(layer, size)) for size in sizes)
        require(bool(equation) and vanishes, "an equation does not vanish on M̄")
        yield equation


@lru_cache(maxsize=4)
def general(layer: Layer, size: int) -> dict[tuple[Any, ...], Polynomial]:
    """φ(A, V) in the entries of V and A, or for size > 0 in those of V and of K and Q with size rows."""
    A, K, Q, V = (
        {(i, j, ((name, i, j),)): 1 for i, j in layer.places(rows)}
        for name, rows in (("A", layer.d), ("K", size), ("Q", size), ("V", layer.o))
    )
    return parted(phi(attention(K, Q) if size else A, V), 0)


ZERO, PINCH, CROSSING = (0, 0, 0), (1, 1, 1), (1, 1, 2)
Ranks = tuple[int, ...]


def named(ranks: Ranks) -> str:
    """An orbit's name.

    >>> named((2, 1, 3))
    '(2,1,3)'
    """
    return f"({','.join(map(str, ranks))})"


class Facts(Subject):
    """One layer: every orbit, and dim M̄, for all t ≥ 2.

    - A pair (A, V), rk A ≤ a, gives the point y with y_{c,b}(u) = V_c(u)·A_b(u), products of the row V_c and
      the column A_b read as linear forms. M is the set of these points, M̄ its complex closure; y has the
      coordinates (c, b, i, k), i ≤ k, the coefficients of u_i u_k. Products of nonzero forms are not 0: y = 0
      means that A = 0 or V = 0.
    - Output c at token τ of V X Xᵀ A X is Σ_{i,k,b} V_ci A_kb Σ_j x_ij x_kj x_bτ. The terms with j ≠ τ have
      one monomial for each (c, b, {i, k}): their coefficients are the y_{c,b,i,k}, and the others follow.
    - A group acts on pairs with finitely many orbits, told apart by rk V, rk A and rk [V; Aᵀ], and it acts
      linearly on the points y. What holds at one pair of each orbit holds everywhere.
    - Nothing here depends on t ≥ 2, or on a ≥ d: certificates name no t and write min(a, d) for a.
    """

    KEYS = "d d_out a dimension strata"
    ENDING = "; a stands for min(a, d), and (r_V, r_A, r) for a stratum."

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.layer = Layer(*(integer(document[name]) for name in ("d", "d_out", "a")))
        # First what is quick to compare: nothing below runs over many indices that a wrong d or d' makes up.
        self.dimension = self.layer.source(self.layer.a)
        require(self.dimension == integer(document["dimension"]), f"the dimension is {self.dimension}")
        records, expected = array(document["strata"]), self.layer.orbits()
        require(len(records) == len(expected), f"there are {len(expected)} strata, not {len(records)}")
        self.orbits: dict[Ranks, Orbit] = {}
        for ranks, record in zip(expected, records, strict=True):
            try:
                orbit = Orbit(self.layer, record)
                require(orbit.ranks == ranks, f"the ranks are {named(orbit.ranks)}")
            except (Flaw, UnreadableError) as error:
                raise type(error)(f"at {named(ranks)}, {error}") from error
            self.orbits[ranks] = orbit
        self.top = self.orbits[max(self.orbits)]
        self._dimension()

    def __str__(self) -> str:
        """The name of M."""
        return f"{self.layer}, t ≥ 2"

    def prove(self, record: dict[str, Any]) -> tuple[str, str]:
        """The verdict on a claim, if that follows from the orbits."""
        name = record["id"]
        claim = CLAIMS[name]
        require(claim.applies(self.layer), f"{name} does not apply to {self.layer}")
        fails, claimed = claim.fails(self), [tuple(integers(ranks)) for ranks in array(record["fails_at"])]
        require(claimed == fails, f"{name} fails at {', '.join(map(named, fails)) or 'no stratum'}")
        verdict = "refuted" if fails else "confirmed"
        require(record["verdict"] == verdict, f"{name} is {verdict}")
        if "degree" in record:
            require(integer(record["degree"]) == self.degree, f"the degree is {self.degree}")
        halves = "/2" if self.top.preimages == 2 else ""
        spaces = ", ".join(f"{named(ranks)} {orbit.lower}" for ranks, orbit in self.orbits.items())
        statement = claim.statement.format(f=self, square=self.layer.a**2, halves=halves, spaces=spaces)
        return name, f"{verdict}: {statement}.{self.where(fails)}"

    def left_out(self, name: str) -> str:
        """Why a claim is not certified."""
        if name in OTHERS:
            return "a certificate of a layer holds no proof of this claim"
        holds = CLAIMS[name].applies(self.layer)
        return "there is none in the file" if holds else f"its hypotheses fail for {self.layer}"

    def where(self, fails: list[Ranks]) -> str:
        """The orbits at which a statement fails, with what is known of their tangent spaces."""
        if not fails:
            return ""
        spaces = [(f"≥ {lower}" if lower < upper else f"{lower}") for lower, upper in map(self.space, fails)]
        there = f"dim M̄ = {self.dimension} and dim T_p M̄ = {', '.join(spaces)}".replace("= ≥", "≥")
        return f" It fails at {', '.join(map(named, fails))}. There {there}."

    def moves(self) -> list[Sparse]:
        """The derivatives of (K, Q) ↦ KᵀQ at a pair over A in the open orbit, where rk A = a."""
        A, indices = self.top.A, range(1, self.layer.d + 1)
        rows, columns = lines(A, 0), lines(A, 1)
        moves = [{(k, *b): x for b, x in row.items()} for k in indices for row in rows]
        return moves + [{(*k[:1], b, 0): x for k, x in column.items()} for b in indices for column in columns]

    def _dimension(self) -> None:
        """The parameters modulo scaling bound dim M̄; the rank of the derivative of φ(KᵀQ, V) meets that."""
        velocities = [phi(move, self.top.V) for move in self.moves()]
        velocities += [phi(self.top.A, {(c, i, 0): 1}) for c, i in self.layer.places(self.layer.o)]
        require(rank(velocities) == self.dimension, "the dimension is not proved")

    @property
    def moving(self) -> int:
        """The dimension of {rk A ≤ a}."""
        return self.layer.a * (2 * self.layer.d - self.layer.a)

    def factorization(self) -> list[Ranks]:
        """Nowhere, if the derivative of (K, Q) ↦ KᵀQ has rank a(2d − a), and so a kernel of dimension a².

        Where rk KᵀQ = a the rows of K and Q are independent: from K'ᵀQ' = KᵀQ follows Q' = CQ with exactly
        one C, as the rows of both span the row space of A, and then K' = C⁻ᵀK.
        """
        require(rank(self.moves()) == self.moving, "the derivative of KᵀQ has another rank")
        return []

    def failing(self, fails: Callable[[Orbit], bool]) -> list[Ranks]:
        """The orbits where a statement fails."""
        return [orbit.ranks for orbit in self.orbits.values() if fails(orbit)]

    def nowhere(self) -> list[Ranks]:
        """Nowhere: what is said follows from the facts about all layers."""
        return []

    def by_paper(self) -> list[Ranks]:
        """Where M̄ is singular against the paper, which says where rk V ≤ 1 and rk A ≤ 1; or the reverse."""
        return self.singular(lambda ranks: max(ranks[:2]) <= 1)

    def by_theorem(self) -> list[Ranks]:
        """Where M̄ is singular against the corrected theorem, or the reverse."""
        d, o, a = self.layer.d, self.layer.o, self.layer.a
        if a == o == 1:
            return self.singular(lambda ranks: ranks == ZERO or (d >= 3 and ranks == PINCH))
        return self.singular(lambda ranks: ranks[:2] in ((0, 0), (1, 1)) or (2 <= a < d and ranks[1] < a))

    def generic(self) -> list[Ranks]:
        """The open orbit, if it has two preimages where a > 1 or d' > 1, or one elsewhere."""
        layer = self.layer
        expected = 1 + (layer.a == layer.o == 1 < layer.d)
        return [] if self.top.preimages == expected else [self.top.ranks]

    def fibers(self) -> list[Ranks]:
        """Where there are other preimages than (A, V) and, at (1,1,2), (v qᵀ, h kᵀ)."""
        return self.failing(lambda orbit: orbit.preimages != 1 + (orbit.ranks == CROSSING))

    def birational(self) -> list[Ranks]:
        """Where there are too many preimages: more than 2, or more than 1 on the open orbit."""
        return self.failing(lambda orbit: orbit.preimages > 2 - (orbit is self.top))

    def closed(self) -> list[Ranks]:
        """Where y = 0 though A ≠ 0 and V ≠ 0. If nowhere, M is a cone over the image of a compact space."""
        return self.failing(lambda orbit: not orbit.y)

    def critical(self) -> list[Ranks]:
        """Where a point is critical, and so on the boundary, against what is said, or the reverse.

        The point 0 is both: for d ≥ 2 dφ kills (Ȧ, 0) at (A, 0), and (0, V̇) at (0, V), and there is more than
        one direction Ȧ in the tangent cone; and M̄ is a cone that contains points outside M.
        """
        return self.failing(lambda orbit: orbit.critical != (orbit.ranks == PINCH))

    def space(self, ranks: Ranks) -> tuple[int, int]:
        """Bounds of dim T_p M̄.

        M̄ is a cone with all unit vectors φ(e_k e_bᵀ, e_c e_iᵀ) in it: its tangent space at 0 is everything.
        """
        if ranks == ZERO:
            return self.layer.ambient, self.layer.ambient
        return self.orbits[ranks].lower, self.orbits[ranks].upper

    def singular(self, predicted: Callable[[Ranks], bool]) -> list[Ranks]:
        """Where M̄ is singular against the prediction, or the reverse."""
        wrong: list[Ranks] = []
        for ranks in (ZERO, *self.orbits):
            lower, upper = self.space(ranks)
            open_still = lower <= self.dimension < upper
            require(not open_still, f"at {named(ranks)}, singular or not is open")
            if (lower > self.dimension) != predicted(ranks):
                wrong.append(ranks)
        return wrong

    def tangents(self) -> list[Ranks]:
        """Where dim T_p M̄ is another than by the formula."""
        d, o, a = self.layer.d, self.layer.o, self.layer.a

        def formula(ranks: Ranks) -> int:
            if ranks in (PINCH, CROSSING):
                inner = d * (d + 1) // 2 if ranks == PINCH else 2 * d - 1
                return (d + o - 1) * inner if a >= 2 else o * inner + d - 1
            return self.layer.source(ranks[1])

        require(all(orbit.lower == orbit.upper for orbit in self.orbits.values()), "a tangent space is open")
        return self.failing(lambda orbit: orbit.lower != formula(orbit.ranks))

    @property
    def degree(self) -> int:
        """deg M̄: that of the Segre product of P{rk A ≤ a} and P(ℂ^{d'd}), over the preimages of a point.

        It is projected without base points. deg {rk A ≤ a} is Giambelli's formula.
        """
        d, o, a = self.layer.d, self.layer.o, self.layer.a
        matrices = prod(comb(d + i, a) for i in range(d - a)) // prod(comb(a + i, a) for i in range(d - a))
        return comb(self.layer.source(a) - 1, o * d - 1) * matrices // self.top.preimages


@dataclass(frozen=True)
class Claim:
    """What is certified: the statement, where it applies, and where it fails."""

    statement: str
    fails: Callable[[Facts], list[Ranks]]
    wide: bool = True
    no_product: bool = True

    def applies(self, layer: Layer) -> bool:
        """Whether its hypotheses hold; t ≥ 2 always does."""
        return not (self.wide and layer.d < 2) and not (self.no_product and layer.a == layer.o == 1)


ALL = {"wide": False, "no_product": False}
SINGULAR = Claim("{f.layer} is singular exactly at rk A ≤ 1, rk V ≤ 1", Facts.by_paper)
CLOSED = Claim("{f.layer} is closed", Facts.closed)
CLAIMS = {
    "lemma-3.1": Claim(
        "K and Q with KᵀQ of rank a ≤ d are unique up to one C in GL(a); fibers have dimension "
        "a² = {square}, {{rk A ≤ a}} has dimension a(2d − a) = {f.moving}",
        Facts.factorization,
        **ALL,
    ),
    "theorem-3.2": Claim(
        "over φ(A, V) ≠ 0 lie the rescalings of (A, V), and of (v qᵀ, h kᵀ) for A = k qᵀ, V = h vᵀ"
        "; over 0 the pairs with A = 0 or V = 0",
        Facts.fibers,
        **ALL,
    ),
    "corollary-3.3": Claim("dim {f.layer} = a(2d − a) + dd' − 1 = {f.dimension}", Facts.nowhere, wide=False),
    "theorem-3.4.closed": CLOSED,
    "theorem-3.4.boundary": Claim(
        "the boundary of {f.layer} in M̄(ℝ) is {{A = k qᵀ, V = h kᵀ}}", Facts.critical
    ),
    "theorem-3.4.singular": SINGULAR,
    "corollary-A.1": CLOSED,
    "corollary-A.2": Claim("up to scaling φ is birational, with fibers of at most 2", Facts.birational),
    "lemma-A.3": Claim("(A, V) is critical iff A = 0, V = 0, or A = k qᵀ and V = h kᵀ", Facts.critical),
    "corollary-A.4": SINGULAR,
    "proposition-A.5": Claim("φ has the coefficients of the products V_c(u)·A_b(u)", Facts.nowhere),
    "corollary-A.6": Claim("the boundary of {f.layer} is the image of the critical points", Facts.nowhere),
    "agattn.degree": Claim(
        "deg M̄ = C(a(2d − a) + dd' − 2, dd' − 1)·deg {{rk A ≤ a}}{halves} = {f.degree}",
        Facts.generic,
        **ALL,
    ),
    "agattn.singular-locus": Claim(
        "M̄ is singular exactly at 0, at rk A = rk V = 1, and at rk A < a if 2 ≤ a < d; "
        "for a = d' = 1 at 0 and, if d ≥ 3, at (1,1,1)",
        Facts.by_theorem,
        no_product=False,
    ),
    "agattn.tangent-dimension": Claim(
        "dim T_p M̄ is what the closed formula says, on every stratum: {spaces}",
        Facts.tangents,
        no_product=False,
    ),
}

Facts.RECORDS = {name: "fails_at degree" if name == "agattn.degree" else "fails_at" for name in CLAIMS}

OTHERS = frozenset({
    "agattn.contact-spectrum", "agattn.deep-boundary", "agattn.deep-critical", "agattn.deep-not-closed",
    "agattn.deep-singular", "agattn.deep-zeros", "agattn.equations", "agattn.grouped-dimension",
    "agattn.heads-not-closed", "agattn.hilbert-function", "agattn.jet-order", "agattn.latent-dimension",
    "agattn.learning-coefficient", "agattn.learning-coefficient-softmax", "agattn.learning-degree",
    "agattn.model-dimension", "agattn.model-symmetries", "agattn.multi-head-dimension",
    "agattn.network-dimension", "agattn.rank-one-locus", "agattn.recurrent-dimension",
    "agattn.skip-dimension", "agattn.softmax-collapse", "agattn.softmax-heads",
    "agattn.softmax-identifiable", "conjecture-3.10", "corollary-3.8", "equation-12", "lemma-3.5",
    "lemma-3.6", "theorem-3.7", "theorem-3.9",
})  # fmt: skip
"""The claims of agattn that no certificate about M(d, d', a) proves; some have others, or none."""

NAMES = CLAIMS.keys() | OTHERS
UNKNOWN = "a claim that is not known here"
"""Stands for a claim that a later agattn may know, which no certificate proves here."""


# Learning coefficients --------------------------------------------------------------------------------------


class Points(Subject):
    """The learning coefficient λ and its multiplicity m at points of a layer, or of a softmax head, t ≥ 2.

    K and Q (a × d) and V (d' × d) are polynomials in coordinates z, and the weights are their values at
    z = 0. GL(a) leaves A = KᵀQ as it is, and with it φ; and (sA, V/s) leaves φ. If the derivatives of these
    motions and those by z span all directions, λ and m are those of the ideal (f) at z = 0, f being the
    coordinates of φ(z) − φ(0). The entries of g are single coordinates, those of T·N for matrices T (p × h)
    and N (h × n) of coordinates, and products of two of the coordinates α. Where f = M·g for a matrix M of
    polynomials, (f) ⊂ (g); where M(0) has as many independent rows as there are g, (g) ⊂ (f) + 𝔪(g), so
    (g) = (f) by Nakayama's lemma. Each coordinate gives 1/2; each α gives 1/4, as Σ(αᵢαⱼ)² lies between
    multiples of ‖α‖⁴; and T·N gives half the least of (h−s)(n−s) + ps over 0 ≤ s ≤ min(h, n), with as many
    for m as there are least (Aoyagi and Watanabe 2005; docs/layer/learning-coefficients-proofs.md of
    agattn has a proof).

    A softmax head is an immersion in (A, V) where V ≠ 0, so there f are the entries of A and V, less those at
    0; and where V = 0 those of V. Where A = 0 and V = 0 in a lightning layer, ‖φ‖ lies between multiples of
    ‖V‖·‖A‖: the ideals of A and of V are taken apart, the smaller λ counts, and equal ones add their m.
    """

    KEYS = "d d_out a head"
    RECORDS: ClassVar = {"point": "ranks variables K Q V free T N squares multipliers lambda multiplicity"}
    ENDING = "; (r_V, r_A, r) are the ranks of V, A and [V; Aᵀ]."

    def __init__(self, document: Mapping[str, Any]) -> None:
        d, o, a = self.d, self.o, self.a = tuple(integer(document[name]) for name in ("d", "d_out", "a"))
        form(min(d, o, a) >= 1, "d, d', a are not possible")
        size = max(o * d * d * (d + 1) // 2, a * d)
        form(size <= COORDINATES, "it is about too large a layer")
        form(document["head"] in ("lightning", "softmax"), "the head is neither lightning nor softmax")
        self.head, self.softmax = document["head"], document["head"] == "softmax"

    def __str__(self) -> str:
        """The head with its sizes."""
        return f"{self.head} attention with d = {self.d}, d' = {self.o}, a = {self.a}, t ≥ 2"

    def prove(self, record: dict[str, Any]) -> tuple[str, str]:
        """λ and m at one point."""
        size = integer(record["variables"])
        form(0 <= size <= VARIABLES, f"a point has more than {VARIABLES} coordinates")

        def coordinate(z: Any) -> int:
            form(0 <= integer(z) < size, "there is no such coordinate")
            return int(z)

        def matrix(name: str, rows: int) -> Sparse:
            table = [array(row) for row in array(record[name])]
            form([*map(len, table)] == [self.d] * rows, "a matrix has other sizes")
            return {
                (i, j, monomial): x
                for i, row in enumerate(table, 1)
                for j, terms in enumerate(row, 1)
                for monomial, x in polynomial(terms, coordinate).items()
            }

        K, Q, V = matrix("K", self.a), matrix("Q", self.a), matrix("V", self.o)
        A = attention(K, Q)
        ranks = _ranks(A, K, Q, V)
        require(integers(record["ranks"]) == ranks, f"the ranks are {ranks}")
        r_v, r_a, r, rank_k, rank_q, rank_vk = ranks
        apart = self.softmax or not (r_v or r_a)
        f = self._functions(A, V, apart, r_v)
        free, squares = ([*map(coordinate, array(record[name]))] for name in ("free", "squares"))
        T, N = ([[*map(coordinate, array(row))] for row in array(record[name])] for name in "TN")
        p, h, n = len(T), len(N), len(N[0]) if N else 0
        form({*map(len, T)} <= {h} and {*map(len, N)} <= {n}, "T and N do not fit")
        used = [*free, *squares, *chain(*T, *N)]
        require(len(set(used)) == len(used), "a coordinate has two parts")
        g: list[Polynomial] = [{(z,): 1} for z in free]
        pairs = (zip(row, column, strict=True) for row in T for column in zip(*N, strict=True))
        g += [added({joined((x,), (y,)): 1} for x, y in pair) for pair in pairs]
        g += [{joined((x,), (y,)): 1} for e, x in enumerate(squares) for y in squares[e:]]
        M: list[dict[int, Polynomial]] = [{} for _ in f]
        for e, j, terms in map(array, array(record["multipliers"])):
            inside = 0 <= integer(e) < len(f) and 0 <= integer(j) < len(g)
            form(inside and j not in M[e], "M has no such entry")
            M[e][j] = polynomial(terms, coordinate)
        for x, row in zip(f, M, strict=True):
            moving = {name: c for name, c in x.items() if name}
            require(moving == added(times(m, g[j]) for j, m in row.items()), "f is not M·g")
        constants = [{(j,): m[()] for j, m in row.items() if () in m} for row in M]
        require(rank(constants) == len(g), "M(0) has too few independent rows")
        self._directions({"K": K, "Q": Q, "V": V}, scaled=not apart)
        halves = competitors(p, h, n)
        least, most = min(halves), halves.count(min(halves))
        four, multiplicity = 2 * len(free) + 2 * least + len(squares), most
        if not (self.softmax or r_v or r_a):
            own = {z for *_, monomial in V for z in monomial}
            mine = [j for j, z in enumerate(free) if z in own]
            of_attention = len(f) - self.o * self.d
            # M must be one matrix for A and one for V, which use different entries of g.
            split = all((j in mine) == (e >= of_attention) for e, row in enumerate(M) for j in row)
            require(split, "A and V are not apart")
            attention_part, values_part = four - 2 * len(mine), 2 * len(mine)
            four, smaller = min(attention_part, values_part), attention_part < values_part
            multiplicity = most + 1 if attention_part == values_part else most if smaller else 1
        value = Fraction(four, 4)
        agrees = integers(record["lambda"]) == [value.numerator, value.denominator]
        require(agrees, f"λ is {value.numerator}/{value.denominator}")
        require(integer(record["multiplicity"]) == multiplicity, f"m is {multiplicity}")
        at = f"({r_v},{r_a},{r}), rk K = {rank_k}, rk Q = {rank_q}, rk [V; K] = {rank_vk}"
        return at, f"the learning coefficient is {value}, of multiplicity {multiplicity}"

    def _functions(self, A: Sparse, V: Sparse, apart: bool, r_v: int) -> list[Polynomial]:
        """The entries of A and V, or the coordinates of φ."""
        d, rows = range(1, self.d + 1), range(1, self.o + 1)
        Parts = list[tuple[Mapping[Any, Polynomial], Iterable[tuple[int, ...]]]]
        parts: Parts = [(parted(A, 2), product(d, d))] if r_v or not self.softmax else []
        parts.append((parted(V, 2), product(rows, d)))
        if not apart:
            indices = (index for index in product(rows, d, d, d) if index[2] <= index[3])
            parts = [(parted(phi(A, V), 0), indices)]
        return [part.get(index, {}) for part, indices in parts for index in indices]

    def _directions(self, weights: Mapping[str, Sparse], *, scaled: bool) -> None:
        """See that the coordinates, GL(a) and the scaling move the weights in all directions."""
        linear = grouped({(name, *index): x for name, M in weights.items() for index, x in M.items()}, 3)
        at, columns = linear.get((), {}), range(1, self.d + 1)

        def vectors() -> Iterator[Sparse]:
            yield from (vector for monomial, vector in linear.items() if len(monomial) == 1)
            for i, j in product(range(1, self.a + 1), repeat=2):  # K̇ = −EᵀK, Q̇ = EQ, E with a 1 at (i, j)
                WORK.more(2 * self.a * self.d)
                left = {("K", j, e): -at["K", i, e] for e in columns if ("K", i, e) in at}
                yield left | {("Q", i, e): at["Q", j, e] for e in columns if ("Q", j, e) in at}
            if scaled:
                yield {index: -x if index[0] == "V" else x for index, x in at.items() if index[0] != "Q"}

        directions = (2 * self.a + self.o) * self.d
        require(rank(vectors()) == directions, "the coordinates and the motions leave a direction out")


def competitors(p: int, h: int, n: int) -> list[int]:
    """Those of T·N, for T (p × h) and N (h × n): the least of them is 2λ, and m the number of these."""
    return [(h - s) * (n - s) + p * s for s in range(min(h, n) + 1)]


def _ranks(A: Sparse, K: Sparse, Q: Sparse, V: Sparse) -> list[int]:
    """The ranks at z = 0: of V, A, [V; Aᵀ], K, Q and [V; K]."""
    still = ({key: x for key, x in M.items() if key[2] == ()} for M in (V, A, K, Q))
    rows, columns, keys, queries = (lines(M, axis) for M, axis in zip(still, (0, 1, 0, 0), strict=True))
    return [*map(rank, (rows, columns, rows + columns, keys, queries, rows + keys))]


# Several heads ----------------------------------------------------------------------------------------------


class Heads(Subject):
    """A limit y of sums of h heads that is no such sum over ℂ: M, the set of these sums, is not closed.

    Heads whose K, Q, V are Laurent polynomials in ε add up to y plus terms with positive powers of ε. The
    sum of h heads is y = P·R, where column j of P is V_j(u) and row j of R is A_j(u), linear forms in u. Row
    1 of a sum is a sum of heads. docs/networks/several-heads-proofs.md of agattn has the proofs at length.

    - ``squares``: row 1 of y has, up to factors, the squares of h variables in h columns; row 2 has one
      entry, below one of them, which is the square of another. If y = P·R put the other variables to 0. As
      the squares are in the ideal of row 1 of P, its h entries are independent, and in a basis of the heads
      they are u = (u_1, ..., u_h). So the columns of R are C_k u, where C_k has the symmetric part of a
      multiple of E_kk; let uᵀB ≠ 0 be row 2 of P. Then uᵀBC_k u is 0 for k ≠ m and a multiple of u_n² for
      k = m, m ≠ n. An eigenvector x of Bᵀ with a value λ ≠ 0 has x_k = 0 for k ≠ m, and λx_m² is a multiple
      of x_n² = 0, so x = 0. So B is nilpotent, and there are x ≠ 0 and z with xᵀB = 0, zᵀB = xᵀ. At
      u = x + εz is uᵀB = εxᵀ; the terms with ε give x_k = 0 for k ≠ m, and then, as x_n = 0, x_m = 0.
    - ``products``, a = 1: heads are q⊗s, s = V(u)K(u), of row 1. There the h columns y_b are independent, so
      a sum of h heads would have its s in the span of the y_b, and they would span it. As a minor of size 3
      of the symmetric matrix of Σλ_b y_b is a multiple of one λ_b³, and is 0 for every s, they do not.
    - ``pencil``, h = 2: row 1 of y is vB + wA, column by column, for linear forms v and w. At a point x where
      it vanishes xᵀ(v(x)B + w(x)A) = 0. As det(sB + tA) is a multiple of s^{a+2} on rows that hold all of B,
      A and v, v(x) ≠ 0 would give x = 0 on these rows, hence v(x) = 0. So v = 0 there, and on a subspace
      w = 0, or all columns of A are 0, which with v = 0 is codimension 3. Two heads of row 1 vanish on a
      subspace of codimension 2, which must be v = w = 0: they are independent members of the pencil
      sB' + tA', where vB' + wA' = vB + wA, so that B' = B + w⊗q, A' = A − v⊗q. One of them has s ≠ 0, hence
      rank at least a + 1.
    """

    KEYS = "d d_out a h"
    RECORDS: ClassVar = {"agattn.heads-not-closed": "y heads obstruction"}

    def __init__(self, document: Mapping[str, Any]) -> None:
        d, o, a, self.h = (integer(document[name]) for name in ("d", "d_out", "a", "h"))
        self.layer = Layer(d, o, a)

    def __str__(self) -> str:
        """The name of M."""
        return f"{self.layer} with {self.h} heads, t ≥ 2"

    def prove(self, record: dict[str, Any]) -> tuple[str, str]:
        """A limit, and why it is none of the sums."""
        self.y, heads = self.layer.point(record["y"]), array(record["heads"])
        require(len(heads) == self.h, f"there are {len(heads)} heads")
        total = added(phi(*self._head(head)) for head in heads)
        require(all(name[0] >= 0 for name in total), "what diverges does not cancel")
        limit = {name: x for name, x in total.items() if not name[0]}
        require(limit == self.y, "the heads do not converge to y")
        proofs = {"squares": self._squares, "products": self._products, "pencil": self._pencil}
        kind = record["obstruction"].get("kind")
        form(kind in proofs, "the obstruction is of no known kind")
        proofs[kind](record["obstruction"])
        name = f"{self.layer} with {self.h} heads"
        statement = f"{name} is not closed: y is a limit of sums of {self.h} heads, and none"
        return record["id"], f"confirmed: {statement}."

    def _head(self, record: Any) -> tuple[Sparse, Sparse]:
        """A = KᵀQ and V, with powers of ε."""
        head, powers = fields(record, "K Q V"), (-POWERS, POWERS)
        K, Q = (self.layer.matrix(head[name], self.layer.a, powers) for name in "KQ")
        return attention(K, Q), self.layer.matrix(head["V"], self.layer.o, powers)

    def _squares(self, record: Any) -> None:
        fields(record, "kind")
        first = {b: (i, k) for (_, c, b, i, k) in self.y if c == 1}
        second = [(b, i, k) for (_, c, b, i, k) in self.y if c == 2]
        squares = {i for i, k in first.values() if i == k}
        row = sum(name[1] == 1 for name in self.y)
        require(row == len(first) == len(squares) == self.h, "row 1 has not h squares in h columns")
        below = len(second) == 1 and second[0][0] in first
        require(below, "row 2 has not one entry, below a square")
        [(b, i, k)] = second
        other = i == k and i in squares and first[b] != (i, k)
        require(other, "row 2 has not the square of another column")

    def _products(self, record: Any) -> None:
        minors = fields(record, "kind rows columns")
        rows, columns = (self._places(minors[name], 3) for name in ("rows", "columns"))
        row = {tuple(name): x for (_, c, *name), x in self.y.items() if c == 1}
        forms = grouped(row, 0)
        require(self.layer.a == 1, "a is not 1")
        require(len(forms) == rank(forms.values()) == self.h, "row 1 has not h independent columns")

        def entry(i: int, k: int) -> Polynomial:
            """Twice the entry of the symmetric matrix of Σλ_b y_b, λ_b as coordinate b."""
            index = (min(i, k), max(i, k))
            return {(b,): y[index] * (1 + (i == k)) for b, y in forms.items() if index in y}

        minor = determinant([[entry(i, k) for k in columns] for i in rows])
        require([len(set(name)) for name in minor] == [1], "the minor is not a multiple of one cube")

    def _pencil(self, record: Any) -> None:
        pencil = fields(record, "kind v w A B rows columns")
        d, n = self.layer.d, self.layer.a + 2
        rows, columns = (self._places(pencil[name], n) for name in ("rows", "columns"))
        A, B = (self.layer.matrix(pencil[name], d) for name in "AB")
        v, w = ({(1, *i, 0): x for i, x in sparse(pencil[name], (1, d)).items()} for name in "vw")
        require(self.h == 2, "there are not two heads")
        total = added([phi(B, v), phi(A, w)])
        require(total == {name: x for name, x in self.y.items() if name[1] == 1}, "y is not vB + wA")
        used = {i for i, *_ in [*A, *B]} | {i for _, i, _ in v}
        require(used <= set(rows), "A, B or v has something in other rows")

        def entry(i: int, b: int) -> Polynomial:
            """That of sB + tA."""
            pair = {("s",): B.get((i, b, 0), 0), ("t",): A.get((i, b, 0), 0)}
            return {name: x for name, x in pair.items() if x}

        minor = determinant([[entry(i, b) for b in columns] for i in rows])
        require([*minor] == [("s",) * n], "det(sB + tA) is no multiple of a power of s")
        span = lines(A, 1)
        outside = rank(span) >= 2 and rank([*span, *lines(v, 0)]) > rank(span)
        require(outside, "v is in the span of the columns of A")
        require(rank([v, w]) == 2, "v and w are dependent")

    def _places(self, value: Any, size: int) -> list[int]:
        """So many different indices from 1 to d."""
        numbers = integers(value)
        form(all(1 <= n <= self.layer.d for n in numbers), "there is no such row or column")
        form(len(numbers) == len(set(numbers)) == size, f"there are not {size} different ones")
        return numbers


# Zeros and limits of deep networks --------------------------------------------------------------------------


class Deep(Subject):
    """A lightning network with one head in each layer, no skip connections and l ≥ 2 layers, for all t ≥ 2.

    Layer i is X ↦ V_i X Xᵀ K_iᵀ Q_i X. With L_i = V_i...V_1, M_i = L_{i−1}ᵀ K_iᵀ Q_i L_{i−1} and L = L_l, the
    network is φ = L F_l ∘ ... ∘ F_1, F_i(Y) = Y Yᵀ M_i Y. If M_i = k qᵀ, then F_i(Y) = u wᵀ with u = YYᵀk and
    w = Yᵀq, and F_j(u wᵀ) = (wᵀw)(uᵀM_j u) u wᵀ. So φ = 0 if L = 0, or some M_i = 0, or rk M_i = 1 and M_j is
    skew-symmetric for some i < j. That φ = 0 nowhere else is Theorem 1 of docs/networks/deep-limits.md of
    agattn, of which the checker verifies no more than single weights.

    Limits: let α_i = min(a_i, d_0, ..., d_{i−1}), and s + 1 the last layer before the first of α_i = 1, or l.
    In Q_s all rows but the first are multiplied by ε, and Q_{s+1} is replaced by ΩK_{s+1} + εQ_{s+1}, with
    blocks (0 1; −1 0) in Ω. Then M_s = k qᵀ + εN and M_{s+1} = K + εP with K skew-symmetric, layer s + 1 has
    the values εY + O(ε²), and with V_l divided by ε^(3^(l−s−1)) the functions tend to the rest of the network
    at Y. Theorem 2 there: this limit is the function of no real or complex weights, if L ≠ 0, rk M_i ≥ 2 for
    i < s, M_i for i ≠ s, s + 1 and P are not skew-symmetric, and δκ ≠ 0 at some d_0 × 2 matrix X, where
    det(XᵀM_s X) = εδ + O(ε²) and XᵀKX = (0 κ; −κ 0). The checker verifies these conditions, and takes the
    theorem from there.

    The limits that meet the conditions, an open set of them, are outside M and in its closure: they have
    dimension at most dim M − 1, and at least the rank of their differential at one point. Two tokens tell.
    And dim M is at most what counting parameters, less symmetries, gives (docs/networks/dimension.md):
    with e_0 = d_0, e_l = d_l, e_i = min(d_0, ..., d_i, 2a_{i+1} + e_{i+1}), this is
    Σ D_i + Σ e_{i−1}e_i − Σ_{0<i<l} e_i² − l, where
    D_i = α(2e − α), e = e_{i−1}, α = min(a_i, e), or β(2e − β + 1)/2, β = min(2a_i, e), behind a layer with
    α = 1, where only symmetric parts matter.

    Critical and singular points, where all d_i with i < l and all a_i are at least d = d_0: then (M, L) are
    any matrices, and dim M ≤ l·d² + d_l·d − l, as M_i → μ_i M_i, L → λL with λ Π μ_i^(3^(l−i)) = 1 change no
    function. If M_i = k qᵀ, i < l, then M_j + K with skew-symmetric K, j > i, has the same function; and
    (v qᵀ, h kᵀ) has that of M_l = k qᵀ, L = h vᵀ, for which (m qᵀ, −h mᵀ) is in the kernel of the
    differential if v = k. So these are critical, if no M_i is skew-symmetric. The images of the differential
    at all weights of one function f are in the tangent space of the closure M̄ at f. They span at general
    weights of a kind at least what they span at one, and dim T_f M̄ is at special ones at least what it is
    at general ones: where they have more than dim M dimensions at one point, M̄ is singular at all of its
    kind, as the matrices of rank ≤ 1 are an irreducible variety.
    """

    KEYS = "dims ranks"
    RECORDS: ClassVar = {
        "agattn.deep-zeros": "points",
        "agattn.deep-not-closed": "weights X",
        "agattn.deep-boundary": "weights X inputs dimension",
        "agattn.deep-critical": "inputs points",
        "agattn.deep-singular": "inputs points",
    }
    ENDING = ". What is taken from a page of docs/ is not checked here."

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.dims, self.ranks = integers(document["dims"]), integers(document["ranks"])
        self.l = len(self.ranks)
        form(self.l >= 2 and len(self.dims) == self.l + 1, "it is about no network of two layers or more")
        form(min(self.dims + self.ranks) >= 1, "a width or rank is not possible")
        self.shapes = {
            f"{name}_{i}": (d_out if name == "V" else a, d)
            for i, (d, d_out, a) in enumerate(zip(self.dims, self.dims[1:], self.ranks, strict=False), 1)
            for name in "KQV"
        }
        form(sum(map(prod, self.shapes.values())) <= COORDINATES, "it is about too large a network")
        alpha = [min(a, *self.dims[:i]) for i, a in enumerate(self.ranks, 1)]
        self.first = (alpha.index(1) if 1 in alpha else self.l) - 1

    def __str__(self) -> str:
        """The name of M."""
        dims, ranks = (",".join(map(str, numbers)) for numbers in (self.dims, self.ranks))
        return f"M({dims}; {ranks}), one head, l = {self.l}, t ≥ 2"

    def prove(self, record: dict[str, Any]) -> tuple[str, str]:
        """What is said of zeros, limits, critical or singular points."""
        see = getattr(self, record["id"].removeprefix("agattn.deep-").replace("-", "_"))
        return record["id"], f"confirmed: {see(record)}."

    def virtual(self, weights: Weights, modulus: int = 0) -> tuple[list[Matrix], Matrix]:
        """M_1, ..., M_l and L."""
        M, L = [], [[int(i == j) for j in range(self.dims[0])] for i in range(self.dims[0])]
        for i in range(1, self.l + 1):
            keys, queries = (multiplied(weights[f"{name}_{i}",], L, modulus) for name in "KQ")
            M.append(multiplied(turned(keys), queries, modulus))
            L = multiplied(weights[f"V_{i}",], L, modulus)
        return M, L

    def zeros(self, record: dict[str, Any]) -> str:
        """See that φ is 0 at some weights and not at others, at an input each, as the theorem says."""
        zero = []
        for point in array(record["points"]):
            kept = fields(point, "weights", "X")
            M, L = self.virtual(arrays(kept["weights"], self.shapes))
            ones = [i for i, m in enumerate(M) if dense_rank(m) == 1]
            invisible = any(skew(m) for i in ones for m in M[i + 1 :])
            zero.append(invisible or not nonzero(L) or not all(map(nonzero, M)))
            require(("X" in kept) != zero[-1], "a zero is none, or is not seen as one")
            if "X" in kept:
                value = network(dict(enumerate([*M, L])))(dense(kept["X"], self.dims[0], 2))
                require(nonzero(value), "φ(X) is 0")
        require(0 < sum(zero) < len(zero), "zeros and other weights are not both there")
        return (
            f"of {len(zero)} weights φ = 0 at {sum(zero)}, just those with L = 0, some M_i = 0, or rk M_i = "
            "1 and skew-symmetric M_j, i < j: so at all weights, by Theorem 1 of docs/networks/deep-limits.md"
        )

    def expansion(self, weights: Weights, modulus: int = 0) -> tuple[list[Matrix], list[Matrix], Matrix]:
        """M_1, ..., M_l of a limit at ε = 0; the same where M_s and M_{s+1} are their parts with ε; and L."""
        s = self.first
        Q, K = weights[f"Q_{s}",], weights[f"K_{s + 1}",]
        zero = [[0] * len(row) for row in Q]
        turns = [row for x, y in zip(K[0::2], K[1::2], strict=False) for row in (y, *minus([x]))]
        turns += [[0] * len(K[0])] * (len(K) % 2)
        still, L = self.virtual(weights | {(f"Q_{s}",): [Q[0], *zero[1:]], (f"Q_{s + 1}",): turns}, modulus)
        moving, _ = self.virtual(weights | {(f"Q_{s}",): [zero[0], *Q[1:]]}, modulus)
        return still, moving, L

    def limit(self, weights: Weights) -> Callable[[Matrix], Matrix]:
        """The limit, modulo p².

        Where F_s ∘ ... ∘ F_1 is U + εW, with U = u wᵀ, what F_{s+1} makes of it is up to ε²
        εU(Uᵀ(KW + PU) + WᵀKU), as UᵀKU = w(uᵀKu)wᵀ is 0.
        """
        s, (M, N, L) = self.first, self.expansion(weights, SQUARE)

        def value(X: Matrix) -> Matrix:
            U, W = through(M[:s], X), through([*M[: s - 1], N[s - 1]], X)
            KW, KU, PU = (multiplied(A, Y, SQUARE) for A, Y in ((M[s], W), (M[s], U), (N[s], U)))
            scores = plus(multiplied(turned(U), plus(KW, PU), SQUARE), multiplied(turned(W), KU, SQUARE))
            return multiplied(L, through(M[s + 1 :], multiplied(U, scores, SQUARE)), SQUARE)

        return value

    def not_closed(self, record: dict[str, Any]) -> str:
        """See that the limit at some weights meets the conditions of the theorem."""
        s = self.first
        require(s >= 1, "such a network is closed")
        X = dense(record["X"], self.dims[0], 2)
        M, N, L = self.expansion(arrays(record["weights"], self.shapes))
        require(nonzero(L), "L is 0")
        require(all(dense_rank(m) >= 2 for m in M[: s - 1]), "some M_i before M_s has rank 1")
        require(not any(map(skew, [*M[: s - 1], *M[s + 1 :], N[s]])), "some M_i or P is skew-symmetric")
        require(dense_rank(M[s - 1]) == 1, "M_s is none of a limit")
        one, other, turn = (multiplied(turned(X), multiplied(m, X)) for m in (M[s - 1], N[s - 1], M[s]))
        (a, b), (c, d), (e, f), (g, h) = *one, *other
        require(turn[0][1] * (a * h + d * e - b * g - c * f) != 0, "κδ is 0")
        return (
            f"a limit of functions through rk M_{s} = 1, M_{s + 1} skew-symmetric, is as stated and meets "
            "the conditions under which, by Theorem 2 of docs/networks/deep-limits.md, no weights have it"
        )

    def bound(self) -> int:
        """What counting gives for dim M."""
        e, total, behind = [*self.dims], -self.l, False
        for i in range(self.l - 1, 0, -1):
            e[i] = min(*self.dims[: i + 1], 2 * self.ranks[i] + e[i + 1])
        for n, m, a in zip(e, e[1:], self.ranks, strict=False):
            alpha, beta = min(a, n), min(2 * a, n)
            total += n * m + (beta * (2 * n - beta + 1) // 2 if behind else alpha * (2 * n - alpha))
            behind = behind or alpha == 1
        return total - sum(n * n for n in e[1:-1])

    def boundary(self, record: dict[str, Any]) -> str:
        """See that the limits have the dimension stated, near one that is outside."""
        self.not_closed(record)
        weights = arrays(record["weights"], self.shapes)
        inputs = inputs_in(record["inputs"], self.dims[0], self.dims[-1])
        low, high = dense_rank(jacobian(self.limit, weights, inputs), PRIME), self.bound() - 1
        require(low == integer(record["dimension"]), f"the differential of the limits has rank {low}")
        require(low == high, f"the limits are only known to have dimension {low} to {high}")
        return (
            f"the limits outside M have dimension {low} = dim M − 1: so large is the rank of their "
            "differential, and dim M is no larger, by the count of docs/networks/dimension.md"
        )

    def points(self, record: dict[str, Any]) -> list[tuple[list[Matrix], Matrix, int]]:
        """Weights (M, L) with the rank stated: of the differential, there and at others of equal function."""
        wide = min(*self.dims[:-1], *self.ranks) == self.dims[0] >= 2
        require(wide, "not all matrices M_1, ..., M_l, L are virtual weights")
        self.size = self.l * (self.dims[0] ** 2 - 1) + self.dims[0] * self.dims[-1]
        inputs, points = inputs_in(record["inputs"], self.dims[0], self.dims[-1]), []
        for i, point in enumerate(array(record["points"])):
            stated = fields(point, "M L rank", "others")
            others = (fields(other, "M L") for other in array(stated.get("others", [])))
            at, *equal = (self.pair(value) for value in (stated, *others))
            alike = all(self.alike(i, at, other) for other in equal)
            require(alike, "two weights are not seen to have the same function")
            rows = (jacobian(network, dict(enumerate(weights)), inputs) for weights in (at, *equal))
            low = dense_rank(chain.from_iterable(rows), PRIME)
            require(low == integer(stated["rank"]), f"derivatives have rank {low}")
            points.append((at[:-1], at[-1], low))
        return points

    def pair(self, value: Mapping[str, Any]) -> list[Matrix]:
        """M_1, ..., M_l and L."""
        d, matrices = self.dims[0], array(value["M"])
        form(len(matrices) == self.l, "there are more M_i than layers, or fewer")
        return [*(dense(m, d, d) for m in matrices), dense(value["L"], self.dims[-1], d)]

    def alike(self, i: int, at: list[Matrix], other: list[Matrix]) -> bool:
        """Whether other weights have the same function, as each of the i-th kind has a change like this.

        Behind M_i = k qᵀ only symmetric parts matter. Of M_l and L the coefficients of L X Xᵀ M_l X matter,
        those of (L_c u)(uᵀ m_b) for the rows L_c of L and columns m_b of M_l.
        """
        if i < self.l - 1:
            behind, alike = ([*map(symmetric, weights[i + 1 : -1])] for weights in (at, other))
            return at[: i + 1] == other[: i + 1] and at[-1] == other[-1] and behind == alike
        first, second = (phi(entries(A), entries(V)) for *_, A, V in (at, other))
        return at[:-2] == other[:-2] and first == second

    def critical(self, record: dict[str, Any]) -> str:
        """See where the differential has a smaller rank than dim M, and that it is where the theorem says."""
        form(not any("others" in point for point in record["points"]), "there is an unknown key")
        kinds = []
        for M, L, low in self.points(record):
            require(nonzero(L) and not any(map(skew, M)), "L is 0, or an M_i is skew-symmetric")
            pair = dense_rank(M[-1]) == dense_rank(L) == dense_rank(turned(M[-1]) + L) == 1
            kinds.append(pair or any(dense_rank(m) == 1 for m in M[:-1]))
            require(kinds[-1] or low == self.size, f"a differential has rank {low}, not {self.size}")
        require(0 < sum(kinds) < len(kinds), "critical points and others are not both there")
        return (
            f"of {len(kinds)} weights {sum(kinds)} are critical, just those with rk M_i = 1, i < l, or M_l = "
            f"k qᵀ, L = h kᵀ; at the others the rank is {self.size}, and nowhere is it larger: so "
            "at all L ≠ 0 without skew-symmetric M_i, by Theorem 2 of docs/networks/deep-singularities.md"
        )

    def singular(self, record: dict[str, Any]) -> str:
        """See that there are too many tangent vectors where an M_i, i < l, or M_l and L have rank 1."""
        points = self.points(record)
        require(len(points) == self.l, "there is not one point for each layer")
        for i, (M, L, low) in enumerate(points):
            last = i == self.l - 1
            require(dense_rank(M[i]) == 1 and (not last or dense_rank(L) == 1), "a rank is not 1")
            require(low > self.size, f"tangent vectors span {low} dimensions, no more than {self.size}")
        spans = ", ".join(str(low) for *_, low in points)
        return (
            f"tangent vectors span {spans} dimensions, dim M ≤ {self.size}, so M̄ is singular where rk M_i ≤ "
            "1 for an i < l, or rk M_l ≤ 1 and rk L ≤ 1; and smooth at all other L ≠ 0 without "
            "skew-symmetric M_i, by Theorem 4 of docs/networks/deep-singularities.md"
        )


def through(M: list[Matrix], X: Matrix) -> Matrix:
    """F_l ∘ ... ∘ F_1 at X for some matrices M_1, ..., M_l, modulo p²."""
    for m in M:
        X = multiplied(X, multiplied(turned(X), multiplied(m, X, SQUARE), SQUARE), SQUARE)
    return X


def network(weights: Weights) -> Callable[[Matrix], Matrix]:
    """φ modulo p², for M_1, ..., M_l and L."""
    *M, L = weights.values()
    return lambda X: multiplied(L, through(M, X), SQUARE)


# One layer of attention as it is built today ----------------------------------------------------------------


Names = Iterable[tuple[Any, ...]]


class Today(Subject):
    """One layer without softmax: heads in groups, behind latents, or with a state. dim M from two sides.

    - The Jacobian at the weights and inputs of the certificate has a rank modulo a prime: dim M is at least
      this rank.
    - A group acts linearly on the weights and changes no function. Its orbits have at general weights at
      least the dimension that they have at the weights of the certificate, the rank of the tangent vectors
      of :meth:`motions`. So dim M is at most the number of parameters less this rank.

    Where both meet and the orbits have the dimension of the group, dim M is the number of parameters less
    that of the group: the formula on docs/networks/todays-attention-proofs.md. The sizes must be those that
    heads can use; larger ones have the same functions, up to limits, as that page says, and are not
    certified. A skip connection adds the same X to all functions, and is left out.
    """

    KEYS = "layer d t"
    CLAIMS: ClassVar = ("agattn.grouped-dimension", "agattn.latent-dimension", "agattn.recurrent-dimension")
    RECORDS: ClassVar = dict.fromkeys(CLAIMS, "weights inputs dimension")
    claim: str  #: the one about such layers
    group: int  #: its dimension
    shapes: dict[str, tuple[int, ...]]  #: of the arrays

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.d, self.t = integer(document["d"]), integer(document["t"])
        self.o, self.a = (integer(document["layer"][name]) for name in ("out", "rank"))
        form(min(self.d, self.t, self.o, self.a) >= 1, "d, d', a or t is not possible")
        form(max(self.d, self.o, self.a) * self.t <= COORDINATES, "it is about too large a layer")
        form(type(document["layer"].get("skip", False)) is bool, "skip is neither true nor false")

    def prove(self, record: dict[str, Any]) -> tuple[str, str]:
        """The dimension, by a Jacobian and the orbit of the group."""
        require(record["id"] == self.claim, f"the claim about such a layer is {self.claim}")
        require(self.t >= 2, "there is one token")
        parameters = sum(map(prod, self.shapes.values()))
        form(parameters <= COORDINATES, "it is about too large a layer")
        self.at = arrays(record["weights"], self.shapes)
        inputs = inputs_in(record["inputs"], self.d, self.o, self.t)
        orbit = rank(map(tangent, self.motions()), PRIME)
        rows = jacobian(lambda at: partial(self.value, at), self.at, inputs)
        low, high = dense_rank(rows, PRIME), parameters - orbit
        require(low == integer(record["dimension"]), f"the Jacobian has rank {low}")
        require(low == high, f"the dimension is only known to be {low} to {high}")
        require(orbit == self.group, f"the formula gives {parameters - self.group}")
        return self.claim, (
            f"confirmed: dim M = {low} = {parameters} − {orbit}, as the formula says: a minor of size {low} "
            f"of a Jacobian is not 0, and the orbits of the group on the {parameters} parameters have "
            f"dimension at least {orbit}."
        )

    def moved(self, E: Matrix, up: Names, down: Names = (), dual: Names = ()) -> Weights:
        """The tangent vector of A ↦ gA for the arrays ``up``, Ag⁻¹ for ``down`` and g⁻ᵀA for ``dual``."""
        parts = {name: multiplied(E, self.at[name], PRIME) for name in up}
        parts |= {name: multiplied(self.at[name], minus(E), PRIME) for name in down}
        return parts | {name: multiplied(minus(turned(E)), self.at[name], PRIME) for name in dual}

    def motions(self) -> Iterator[Weights]:
        """Tangent vectors of the group at the weights."""
        raise NotImplementedError

    def value(self, weights: Weights, X: Matrix) -> Matrix:
        """The output at X, modulo p²."""
        raise NotImplementedError


def tangent(motion: Weights) -> Sparse:
    """A tangent vector that is given by the matrices that move."""
    return {(*name, *index): x for name, A in motion.items() for index, x in entries(A).items()}


class Shared(Today):
    """Heads in g groups of s: X ↦ Σ_γ Σ_i O_γi P_γ X (M ∘ (K_γ X)ᵀ Q_γi X), with a mask M.

    With latents K and P read C X, and Q reads D X. With rotary positions keys and queries of token j are
    turned by R^j; R turns the k-th pair of rows by the argument of (x + iy)², where x² + y² is the k-th prime
    of this form and x > y. It turns all pairs (rotary is true), or the first p (rotary is p). A layer without
    values P has V_γ in place of O_γi P_γ, and s = 1. The group, for general g of GL:

    - K → gK, Q → g⁻ᵀQ; with positions g commutes with R: a complex number for each pair of rows that is
      turned, and GL on the others;
    - P → gP, O → Og⁻¹;
    - Q_i → Σ_j g_ij Q_j, O_j → Σ_i O_i (g⁻¹)_ij inside of a group, which leaves Σ_i O_i ⊗ Q_i;
    - C → gC, K → Kg⁻¹, P → Pg⁻¹; and D → gD, Q → Qg⁻¹.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        optional = "heads value_rank kv_heads kv_latent q_latent"
        table = fields(document["layer"], "type out rank", f"{optional} mask rotary skip normalization")
        super().__init__(document)
        heads, b, groups, r, rho = numbers = [table.get(name) for name in optional.split()]
        form(all(n is None or integer(n) >= 1 for n in numbers), "a number of the layer is not possible")
        self.g: int = groups or heads or 1
        self.s = (heads or 1) // self.g
        form((heads or 1) % self.g == 0, "heads is no multiple of kv_heads")
        self.reads, self.b, self.latents = "P" if b else "V", b or 0, (r or 0, rho or 0)
        form(bool(b) or self.s == 1, "groups have no value_rank")
        form(table.get("normalization", "none") == "none", "a softmax is not checked here")
        rotary = table.get("rotary", False)
        form(rotary is not True or self.a % 2 == 0, "an odd rank has no pairs of rows")
        self.pairs = integer(rotary) if not isinstance(rotary, bool) else self.a // 2 * rotary
        form(0 <= 2 * self.pairs <= self.a, "there are not so many pairs of rows")
        self.mask = self._mask(table.get("mask", "none"))
        g, s, r, rho = self.g, self.s, integer(r or self.d), integer(rho or self.d)
        self.claim = self.CLAIMS[any(self.latents)]
        require(s == 1 or not any(self.latents), "no theorem is known here for groups behind latents")
        self.shapes = {"C": (r, self.d)} if self.latents[0] else {}
        self.shapes |= {"D": (rho, self.d)} if self.latents[1] else {}
        self.shapes |= {"K": (g, self.a, r), "Q": (g, s, self.a, rho)}
        self.shapes |= {"O": (g, s, self.o, b), "P": (g, b, r)} if b else {"V": (g, self.o, r)}
        turns = 2 * self.pairs + (self.a - 2 * self.pairs) ** 2
        self.group = g * (turns + self.b**2 + s**2) + sum(n**2 for n in self.latents)

    def __str__(self) -> str:
        """The layer with its sizes, its mask and its positions."""
        heads = f"{self.g} group{'s' * (self.g > 1)} of {self.s} head{'s' * (self.s > 1)}"
        names = zip(self.latents, ("keys and values", "queries"), strict=True)
        latents = "".join(f", a latent of {n} rows for {what}" for n, what in names if n)
        masks = {"": "none", ", a causal mask": "causal"}
        mask = next((f for f, name in masks.items() if self.mask == self._mask(name)), ", a mask of its own")
        return (
            f"{heads}{latents}{mask}{', rotary positions' * bool(self.pairs)}; d = {self.d}, "
            f"d' = {self.o}, a = {self.a}, b = {self.b or self.o}, t = {self.t}"
        )

    def _mask(self, value: Any) -> Matrix:
        """The mask as a matrix; 1 where token j sees token i."""
        form(self.t**2 <= COORDINATES, "it is about too many tokens")
        size = range(self.t)
        if value in ("none", "causal"):
            return [[int(value == "none" or i <= j) for j in size] for i in size]
        rows = [integers(row) for row in array(value)]
        square = [len(row) for row in rows] == [self.t] * self.t
        form(square and {x for row in rows for x in row} <= {0, 1}, "the mask is none")
        return rows

    def turns(self) -> Iterator[Matrix]:
        """Matrices that commute with R: complex numbers on pairs that are turned, all on the other rows."""
        for n, E in enumerate(units(self.a)):
            i, j = divmod(n, self.a)
            if min(i, j) >= 2 * self.pairs:
                yield E
            elif j // 2 == i // 2 and i % 2 == 0:  # from e_ij the complex number of the pair
                E[i + 1][j ^ 1] = 1 if i == j else -1
                yield E

    def motions(self) -> Iterator[Weights]:
        """The groups of K, of P, of the heads, and of the latents."""
        heads = range(1, self.s + 1)
        for n in range(1, self.g + 1):
            queries = [("Q", n, i) for i in heads]
            outputs = [("O", n, i) for i in heads] if self.b else [("V", n)]
            for E in self.turns():
                yield self.moved(E, up=[("K", n)], dual=queries)
            for E in units(self.b):
                yield self.moved(E, up=[("P", n)], down=outputs)
            for i, j in product(range(self.s), repeat=2):
                yield {queries[i]: self.at[queries[j]], outputs[j]: minus(self.at[outputs[i]])}
        for latent, size, readers in zip("CD", self.latents, (("K", self.reads), ("Q",)), strict=True):
            for E in units(size):
                yield self.moved(E, up=[(latent,)], down=[name for name in self.at if name[0] in readers])

    def value(self, weights: Weights, X: Matrix) -> Matrix:
        """The heads added up."""
        seen = multiplied(weights["C",], X, SQUARE) if self.latents[0] else X
        asking = multiplied(weights["D",], X, SQUARE) if self.latents[1] else X
        Y = [[0] * self.t] * self.o
        for n in range(1, self.g + 1):
            keys = turned(self.placed(multiplied(weights["K", n], seen, SQUARE)))
            read = multiplied(weights[self.reads, n], seen, SQUARE)
            for i in range(1, self.s + 1):
                queries = self.placed(multiplied(weights["Q", n, i], asking, SQUARE))
                pairs = zip(multiplied(keys, queries, SQUARE), self.mask, strict=True)
                head = multiplied(read, [[*map(int.__mul__, *rows)] for rows in pairs], SQUARE)
                Y = plus(Y, multiplied(weights["O", n, i], head, SQUARE) if self.b else head)
        return Y

    def placed(self, rows: Matrix) -> Matrix:
        """Keys or queries, that of token j turned by R^j."""
        turned = [*map(list, rows)]
        for k, (cos, sin) in enumerate(rotations(self.pairs)):
            c, z = 1, 0
            for j in range(self.t):
                x, y = rows[2 * k][j], rows[2 * k + 1][j]
                turned[2 * k][j], turned[2 * k + 1][j] = (c * x - z * y) % SQUARE, (z * x + c * y) % SQUARE
                c, z = (c * cos - z * sin) % SQUARE, (c * sin + z * cos) % SQUARE
        return turned


@lru_cache(maxsize=4)
def rotations(pairs: int) -> list[tuple[int, int]]:
    """Cosines and sines, modulo p², of the arguments of (x + iy)² for the first primes n = x² + y²."""
    n, turns = 5, list[tuple[int, int]]()
    while len(turns) < pairs:
        if all(n % q for q in range(3, isqrt(n) + 1, 2)):
            y, x = next((y, isqrt(n - y * y)) for y in range(1, n) if isqrt(n - y * y) ** 2 == n - y * y)
            over = pow(n, -1, SQUARE)
            turns.append(((x * x - y * y) * over % SQUARE, 2 * x * y * over % SQUARE))
        n += 4
    return turns


class State(Today):
    """Token by token y = S Q x, after the state S has taken up x, with k = K x, v = V x and a rule.

    The rules are S + v kᵀ (sum), γ S + v kᵀ (decay), (wᵀx) S + v kᵀ (scalar-gate), S diag(G x) + v kᵀ
    (diagonal-gate), S + (v − S k) kᵀ (delta), S + (wᵀx)(v − S k) kᵀ (gated-delta).

    The group: (K, Q) → (gK, g⁻ᵀQ), g diagonal with a diagonal gate and orthogonal with a delta rule;
    (Q, V) → (cQ, V/c); and with a gated delta rule (K, Q, w) → (cK, cQ, w/c²), as S becomes S/c.
    """

    RULES = ("sum", "decay", "scalar-gate", "diagonal-gate", "delta", "gated-delta")
    claim = Today.CLAIMS[2]

    def __init__(self, document: Mapping[str, Any]) -> None:
        table = fields(document["layer"], "type out rank rule", "heads skip")
        super().__init__(document)
        form(table["rule"] in self.RULES, "there is no such rule")
        heads = table.get("heads")
        form(heads is None or integer(heads) == 1, "more than one state is not checked here")
        self.rule, a, d = table["rule"], self.a, self.d
        self.shapes = {"K": (a, d), "Q": (a, d), "V": (self.o, d)}
        gates = {"decay": {"gamma": (1, 1)}, "diagonal-gate": {"G": (a, d)}}
        self.shapes |= gates.get(self.rule, {"w": (1, d)} if "gate" in self.rule else {})
        alike = {"diagonal-gate": a, "delta": a * (a - 1) // 2, "gated-delta": a * (a - 1) // 2}
        self.group = alike.get(self.rule, a * a) + 1 + (self.rule == "gated-delta")

    def __str__(self) -> str:
        """The rule with its sizes."""
        return f"a state with the rule {self.rule}; d = {self.d}, d' = {self.o}, a = {self.a}, t = {self.t}"

    def motions(self) -> Iterator[Weights]:
        """The group of the state, and the factors."""
        K, Q, V = (self.at[name,] for name in "KQV")
        for n, E in enumerate(units(self.a)):
            i, j = divmod(n, self.a)
            E = plus(E, minus(turned(E))) if "delta" in self.rule else E
            if self.rule != "diagonal-gate" or i == j:
                yield self.moved(E, up=[("K",)], dual=[("Q",)])
        yield {("Q",): Q, ("V",): minus(V)}
        if self.rule == "gated-delta":
            yield {("K",): K, ("Q",): Q, ("w",): [[-2 * x for x in row] for row in self.at["w",]]}

    def value(self, weights: Weights, X: Matrix) -> Matrix:
        """One token after the other."""
        at = {name: A if name == ("gamma",) else multiplied(A, X, SQUARE) for name, A in weights.items()}
        gate = next((at[name,] for name in ("gamma", "w", "G") if (name,) in at), [[1] * self.t])
        S, outputs = [[0] * self.a] * self.o, []
        for j in range(self.t):
            k, q, v = ([row[j : j + 1] for row in at[name,]] for name in "KQV")
            forget = [row[j % len(row)] for row in gate] * (self.a // len(gate))
            if "delta" in self.rule:
                v = plus(v, minus(multiplied(S, k, SQUARE)))
                v = [[forget[0] * x for x in row] for row in v]
            else:
                S = [[x * y % SQUARE for x, y in zip(row, forget, strict=True)] for row in S]
            S = plus(S, multiplied(v, turned(k), SQUARE))
            outputs.append(turned(multiplied(S, q, SQUARE))[0])
        return turned(outputs)


# A certificate ----------------------------------------------------------------------------------------------

WORDS = {True: "valid", False: "NOT VALID", None: "not checked"}
SUBJECTS: Mapping[str, type[Subject]] = {"strata": Facts, "dims": Deep, "head": Points, "h": Heads}
LAYERS: Mapping[str, type[Subject]] = {"attention": Shared, "recurrence": State}


def check(document: Any) -> dict[str, Any]:
    """Verify a certificate: whether it is valid as a whole, and the verdict on each claim.

    A claim that the document does not certify has ``valid`` None; a flaw anywhere makes all others invalid.

    Args:
        document: the JSON document, as :func:`load` gives it, or the path of its file.

    Raises:
        UnreadableError: if the document is no certificate, is malformed, or is too large.

    >>> check({"format": "agattn certificate 2", "strata": []})
    Traceback (most recent call last):
    ...
    agattn.checker.UnreadableError: a key is missing: about, claims, d, d_out, a, dimension
    """
    document = read(document) if isinstance(document, str | os.PathLike) else document
    format = document.get("format") if isinstance(document, Mapping) else None
    old = isinstance(format, str) and format.startswith("agattn ") and format.endswith(" 1")
    form(not old, "agattn 1 wrote it; take checker-1.0.py, from the page on certificates of agattn")
    form(format == FORMAT, f"it is not a certificate of the format {FORMAT!r}")
    WORK.done = 0
    try:
        return _verdict(dict(document))
    except UnreadableError:
        raise
    except MALFORMED as error:
        raise UnreadableError("it does not have the form of a certificate") from error


def _verdict(document: dict[str, Any]) -> dict[str, Any]:
    """The verdict on each claim of a certificate, all of which are read before anything is computed."""
    kind = next((kind for key, kind in SUBJECTS.items() if key in document), None)
    if "layer" in document:
        kind = LAYERS.get(document["layer"].get("type"))
    if kind is None:
        raise UnreadableError("it is about nothing that is known here")
    document = fields(document, f"format about claims {kind.KEYS}")
    text(document["about"])
    records = [_record(kind, record) for record in array(document["claims"])]
    names = [record["id"] for record in records if record["id"] != "point"]
    form(len(set(names)) == len(names), "a claim occurs twice")
    subject, flaw, claims, others = "", "", list[dict[str, Any]](), list[str]()
    try:
        about = kind(document)
        subject = str(about)
        for record in records:
            name = record["id"]
            if "verdict" in record:
                claims.append(verdict(*about.prove(record), True))
            elif isinstance(about, Facts) and name in NAMES:
                claims.append(verdict(name, f"not certified: {about.left_out(name)}", None))
            else:
                others.append(name if name in NAMES else UNKNOWN)
        flaw = "" if any(claim["valid"] for claim in claims) else "nothing is certified"
    except Flaw as error:
        flaw = str(error)
        claims = [verdict(record["id"], flaw, False) for record in records if "verdict" in record]
    result = {"valid": not flaw, "flaw": flaw, "layer": subject, "claims": claims}
    return {**result, "uncertified": others} if others else result


def verdict(name: str, reason: str, valid: bool | None) -> dict[str, Any]:
    """The verdict on one claim."""
    return {"id": name, "valid": valid, "reason": reason}


def _record(kind: type[Subject], record: Any) -> dict[str, Any]:
    """What a certificate says of one claim, if it has the form of that."""
    form(isinstance(record, dict) and isinstance(record.get("id"), str), "a claim has no id")
    name = record["id"]
    if "verdict" not in record:
        text(name)
        text(fields(record, "id reason")["reason"])
        return dict(record)
    form(name in kind.RECORDS, "a claim is none of those that can be certified here")
    verdicts = ("confirmed", "refuted") if kind is Facts else ("confirmed",)
    form(record["verdict"] in verdicts, f"{name} has no verdict")
    return fields(record, f"id verdict {kind.RECORDS[name]}")


def described(result: Mapping[str, Any]) -> str:
    """What :func:`check` found, for people: a line for each claim, or one that names the flaw."""
    if not result["valid"]:
        return f"NOT VALID: {result['flaw']}."
    names = {claim["id"] for claim in result["claims"]}
    width = max(map(len, names))
    rows = [f"{c['id']:{width}}  {WORDS[c['valid']]:11}  {c['reason']}" for c in result["claims"]]
    kinds = chain(SUBJECTS.values(), LAYERS.values())
    kind = next((kind for kind in kinds if names & kind.RECORDS.keys()), Points)
    rows += ["", f"About {result['layer']}{kind.ENDING}"]
    if kind is Facts and (left := sorted(CLAIMS.keys() - names)):
        rows.append(f"Nothing is said of {', '.join(left)}.")
    if others := result.get("uncertified"):
        rows.append(f"Not certified: {', '.join(dict.fromkeys(others))}.")
    return "\n".join([*rows, "The certificate is valid."])


# The command ------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Print what the certificate in a file proves; the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print((__doc__ or "").partition("\n\nIt is meant")[0])
        return 0 if arguments in (["-h"], ["--help"]) else 2
    try:
        result = check(arguments[0])
    except UnreadableError as error:
        print(f"this file cannot be checked: {error}", file=sys.stderr)
        return 2
    print(described(result))
    return 0 if result["valid"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
