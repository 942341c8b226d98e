"""The checker of certificates: one file that needs Python 3.11 or newer, and nothing else.

    python checker.py FILE        verify the certificate in FILE, or from the standard input if FILE is -

Exit status: 0 the certificate is valid; 1 it is not, as a statement or a number in it is false; 2 it cannot
be checked: it cannot be read, is malformed, or is larger than what is stated below.

``agattn check FILE``, ``python -m agattn.checker FILE`` and, in Python, ``agattn.check(document)`` run this
very file, and ``agattn check --write FILE`` copies it as it stands.

It is meant to be read in one sitting, and trusts no word and no number of a certificate: every consequence
is computed here, and every word that is printed stands in this file. In short
(docs/trust/certificates.md of agattn says more):

- A pair (A, V), rk A ≤ a, gives the point y with y_{c,b}(u) = V_c(u)·A_b(u), products of the row V_c and the
  column A_b read as linear forms. M is the set of these points, M̄ its complex closure; y has the coordinates
  (c, b, i, k), i ≤ k, the coefficients of u_i u_k. Products of nonzero forms are not 0: y = 0 means that
  A = 0 or V = 0.
- A group acts on pairs with finitely many orbits, told apart by rk V, rk A and rk [V; Aᵀ], and it acts
  linearly on the points y. What holds at one pair of each orbit holds everywhere.
- Nothing here depends on t ≥ 2, or on a ≥ d: certificates name no t and write min(a, d) for a.

Certificates of learning coefficients, of zeros and limits of deep networks, and of the dimension of layers as
they are built today have formats of their own: see the classes Germ, Deep, Shared and State, which say what
they prove, and what they take from a theorem.

A number in a certificate is recomputed and compared, or enters a product that is compared with numbers stated
elsewhere: changing any single one makes the certificate invalid.

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
from itertools import pairwise, product
from math import comb, gcd, isqrt, prod
from pathlib import Path
from typing import Any

FORMAT = "agattn certificate 1"
LEARNING = "agattn learning coefficients 1"
HEADS = "agattn limits of several heads 1"
DEEP = "agattn deep limits 1"
TODAY = "agattn dimensions of layers 1"

# What is larger than this is not checked, so that no file takes much more than a minute or half a gigabyte.
# The certificate of M(8,8,3), with 2304 coordinates, takes less than a hundredth of the steps.
BYTES = 10**7  #: in a file
DIGITS = 300  #: of an integer
LETTERS = 1000  #: in a text
COORDINATES = 10**4  #: of a layer
POWERS = 1000  #: of ε
VARIABLES = 1000  #: of the coordinates near a point
DEGREE = 10  #: of a polynomial near a point
INPUTS = 1000  #: of a network or layer
TERMS = 2 * 10**5  #: of an equation, once it is expanded
STEPS = 10**8  #: of all arithmetic together; one is a product of two integers of less than 128 bits
ENTRIES = 2 * 10**6  #: that are not 0, in a matrix brought to echelon form, or in a sum

LARGEST = 10**DIGITS
ALWAYS = (0, 0)
"""The power of ε in what does not depend on ε; it is not written."""

ANY = (0, POWERS)

Sparse = dict[tuple[Any, ...], int]
"""What is not 0, by index from 1: a matrix by (row, column, power of ε), a point by (power, c, b, i, k)."""

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


def inputs_in(value: Any) -> list[Any]:
    """A JSON array of inputs, not too many, as each becomes a matrix with all its entries."""
    inputs = array(value)
    form(len(inputs) <= INPUTS, f"there are more than {INPUTS} inputs")
    return inputs


def text(value: Any) -> None:
    """See that a text, which is never printed, is short and has printable characters only."""
    form(isinstance(value, str), "something else stands where a text belongs")
    form(len(value) <= LETTERS and value.isprintable(), "a text is too long, or is not printable")


def sparse(value: Any, *bounds: tuple[int, int]) -> Sparse:
    """A list [[index..., value], ...] with increasing indices within bounds, and no value 0.

    A bound (0, 0) stands for an index that is always 0 and is not written.
    """
    written = [n for n, bound in enumerate(bounds) if bound != ALWAYS]
    found: Sparse = {}
    last: tuple[int, ...] = ()
    for entry in array(value):
        *place, x = integers(entry)
        form(len(place) == len(written) and x != 0, "an entry has a wrong length, or is 0")
        index = dict(zip(written, place, strict=True))
        key = tuple(index.get(n, 0) for n in range(len(bounds)))
        form(all(low <= n <= high for n, (low, high) in zip(key, bounds, strict=True)), "no such index")
        form(last < key, "entries are out of order")
        found[key] = x
        last = key
    return found


# Algebra: exact, and small enough to see through ------------------------------------------------------------


def rank(rows: Iterable[Sparse], modulus: int = 0) -> int:
    """The rank over ℚ of some vectors, by fraction-free elimination; or that modulo a prime."""
    pivots: dict[tuple[Any, ...], Sparse] = {}
    kept = 0
    for row in rows:
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


def lines(matrix: Sparse, axis: int) -> list[Sparse]:
    """The nonzero rows (axis 0) or columns (axis 1) of a matrix, as vectors."""
    found: dict[int, Sparse] = {}
    for key, x in matrix.items():
        found.setdefault(key[axis], {})[key[1 - axis],] = x
    return [found[n] for n in sorted(found)]


def collected(terms: Iterable[tuple[tuple[Any, ...], int]]) -> Sparse:
    """Terms, each with its name: those of one name added up, without what is then 0."""
    total: Sparse = {}
    for name, x in terms:
        total[name] = total.get(name, 0) + x
        if len(total) > ENTRIES:
            raise UnreadableError(f"a sum has more than {ENTRIES} entries")
    return {name: x for name, x in total.items() if x}


def added(vectors: Iterable[Sparse]) -> Sparse:
    """The sum of some vectors, or polynomials."""

    def terms() -> Iterator[tuple[tuple[Any, ...], int]]:
        for vector in vectors:
            WORK.more(len(vector) + 1)
            yield from vector.items()

    return collected(terms())


def phi(A: Sparse, V: Sparse) -> Sparse:
    """The point V_c(u)·A_b(u), with powers of ε where A and V have them."""
    WORK.more((len(A) + 1) * (len(V) + 1))
    return collected(
        ((p + q, c, b, min(i, k), max(i, k)), x * z)
        for ((c, i, p), x), ((k, b, q), z) in product(V.items(), A.items())
    )


def attention(K: Sparse, Q: Sparse) -> Sparse:
    """A = KᵀQ, with powers of ε where K and Q have them."""
    WORK.more((len(K) + 1) * (len(Q) + 1))
    return collected(
        ((k, b, p + q), x * z)
        for ((row, k, p), x), ((other, b, q), z) in product(K.items(), Q.items())
        if row == other
    )


def differential(A: Sparse, V: Sparse, dA: Sparse, dV: Sparse) -> Sparse:
    """The derivative of φ at (A, V) along (Ȧ, V̇)."""
    return added([phi(dA, V), phi(A, dV)])


def expand(equation: Sparse, size: int) -> Sparse:
    """The equation in the entries of V and A, or for size > 0 in those of V and of K and Q with size rows."""
    terms_of = [(2 * max(size, 1)) ** min(len(monomial), DIGITS) for monomial in equation]
    form(sum(terms_of) <= TERMS, f"an equation has more than {TERMS} terms")
    expanded = []
    for monomial, coefficient in equation.items():
        terms: Sparse = {(): coefficient}
        for c, b, i, k in monomial:
            WORK.more(len(terms) * 2 * max(size, 1))
            factors = [
                [("V", c, one), *([("K", n, other), ("Q", n, b)] if size else [("A", other, b)])]
                for (one, other), n in product({(i, k), (k, i)}, range(max(size, 1)))
            ]
            pairs = product(terms.items(), factors)
            terms = collected((tuple(sorted([*name, *factor])), x) for (name, x), factor in pairs)
        expanded.append(terms)
    return added(expanded)


def gradient(equation: Sparse, y: Sparse) -> Sparse:
    """The gradient of an equation at the point y."""
    return collected(
        (name, coefficient * prod(y.get((0, *other), 0) for other in names[:n] + names[n + 1 :]))
        for names, coefficient in equation.items()
        for n, name in enumerate(names)
    )


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

    def matrix(self, value: Any, rows: int, powers: tuple[int, int] = ALWAYS) -> Sparse:
        """A matrix [[row, column, value], ...] with d columns, or with a power of ε before each value."""
        return sparse(value, (1, rows), (1, self.d), powers)

    def point(self, value: Any, powers: tuple[int, int] = ALWAYS) -> Sparse:
        """Coordinates [[c, b, i, k, value], ...], or with a power of ε in front of each."""
        y = sparse(value, powers, (1, self.o), (1, self.d), (1, self.d), (1, self.d))
        form(all(i <= k for *_, i, k in y), "a coordinate has i > k")
        return y


class Orbit:
    """All that is proved about one orbit, at the point p of the pair (A, V)."""

    def __init__(self, layer: Layer, record: Any) -> None:
        self.layer = layer
        self.found = fields(record, "ranks A V y", "second critical approach arcs tangent equations")
        self.A, self.V = layer.matrix(self.found["A"], layer.d), layer.matrix(self.found["V"], layer.o)
        rows, columns = lines(self.V, 0), lines(self.A, 1)
        self.ranks = rank(rows), rank(columns), rank(rows + columns)
        require(list(self.ranks) == integers(self.found["ranks"]), f"the ranks are {named(self.ranks)}")
        self.y = phi(self.A, self.V)
        require(self.y == layer.point(self.found["y"]), "y is not φ(A, V)")
        self.preimages = self._fiber()
        self.critical = self._critical()
        self._approach()
        self.lower, self.upper = self._tangent()

    def _pair(self, name: str) -> tuple[Sparse, Sparse]:
        """A pair [A, V]."""
        A, V = array(self.found[name])
        return self.layer.matrix(A, self.layer.d), self.layer.matrix(V, self.layer.o)

    def _fiber(self) -> int:
        """How many pairs have the point p, up to (sA, V/s). At most 2, as linear forms are prime.

        Take V_c, A_b ≠ 0. A pair (A', V') over p has V'_c A'_b = V_c A_b, so up to scaling V'_c = V_c, and
        then A' = A, V' = V by division; or V'_c = A_b and A'_b = V_c. This is another pair only where these
        are not parallel; then A_b divides V_c A_{b'}, hence A_{b'}, for all b', and V_c divides all V_{c'}:
        so rk A = rk V = 1, and the other pair is (v qᵀ, h kᵀ) for A = k qᵀ, V = h vᵀ.
        """
        exists = self.ranks == (1, 1, 2)
        require(("second" in self.found) == exists, "a preimage is missing, or is one too many")
        if exists:
            A, V = self._pair("second")
            require(phi(A, V) == self.y and rank([A, self.A]) == 2, "the second preimage is none")
        return 2 if exists else 1

    def _critical(self) -> bool:
        """Whether dφ kills more than (A, −V) in the tangent cone of {rk ≤ a} times all V̇.

        No, if it kills nothing else at all. Yes, if it kills the direction given and A + εȦ has rank ≤ a.
        """
        A, V, d, o = self.A, self.V, self.layer.d, self.layer.o
        units = [differential(A, V, {(k, b, 0): 1}, {}) for k, b in self.layer.places(d)]
        units += [differential(A, V, {}, {(c, i, 0): 1}) for c, i in self.layer.places(o)]
        kernel = len(units) - rank(units)
        require(("critical" in self.found) == (kernel > 1), f"the kernel of dφ has dimension {kernel}")
        if kernel == 1:
            return False
        dA, dV = self._pair("critical")
        require(differential(A, V, dA, dV) == {}, "dφ does not kill the critical direction")
        # As dφ(0, V̇) = 0 only for V̇ = 0, a multiple of (A, −V) can be told by Ȧ.
        require(rank([dA, A]) == 2, "the critical direction is a rescaling")
        thin = min(rank(lines(dA, axis) + lines(A, axis)) for axis in (0, 1))
        require(thin <= self.layer.a, "A + εȦ is not seen to have rank ≤ a")
        return True

    def _approach(self) -> None:
        """If p is critical it is a limit of real points of M̄ outside M, and only then.

        Real points outside M have two complex-conjugate preimages, which converge to preimages of p. All of
        these are real, so the two limits agree; near it φ is not injective modulo scaling: it is critical.
        Conversely let A = k qᵀ, V = h kᵀ, and n a unit vector not parallel to k. Then h⊗q⊗(k² + εn²), ε > 0,
        is in M̄, k² + εn² being a product of complex linear forms, and not in M, as it is none of real ones.
        """
        require(("approach" in self.found) == self.critical, "a sequence is missing, or is one too many")
        if self.critical:
            require(self.ranks == (1, 1, 1), "a critical point that has other ranks than 1, 1, 1")
            k, i = lines(self.A, 1)[0], min(self.A)[0]
            n = next(n for n in range(1, self.layer.d + 1) if set(k) != {(n,)})  # as it is critical, d ≥ 2
            q, h = lines(self.A, 0)[0], {c: x for (c, j, _), x in self.V.items() if j == i}
            direction = phi({(n, b, 0): x for (b,), x in q.items()}, {(c, n, 0): x for c, x in h.items()})
            require(direction == self.layer.point(self.found["approach"]), "another sequence than h⊗q⊗n²")

    def _tangent(self) -> tuple[int, int]:
        """Bounds of dim T_p M̄: arcs from below; from above the source, or equations."""
        layer, found = self.layer, self.found
        lower, upper = layer.source(layer.a), layer.ambient  # dim M̄, as Facts proves, and N
        if self.preimages == 1 and not self.critical:
            # One reduced preimage: the map, finite on projective varieties, is a local isomorphism onto M̄.
            lower = upper = layer.source(self.ranks[1])
        require(("arcs" in found) == ("tangent" in found), "arcs and a tangent dimension go together")
        if "arcs" in found:
            spanned = rank(vector for arc in array(found["arcs"]) for vector in self._arc(arc))
            require(spanned == integer(found["tangent"]), f"the arcs span {spanned} dimensions")
            lower = max(lower, spanned)
        if "equations" in found:
            gradients = [gradient(equation, self.y) for equation in equations(layer, found["equations"])]
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
            rows: dict[int, set[Any]] = {}
            for (row, *place), x in matrix.items():
                rows.setdefault(row, set()).add((*place, x))
            require(len(set(map(frozenset, rows.values()))) == len(rows), "two rows are equal")
        moving = layer.point(arc["y"], (1, 3 * POWERS))
        constant_and_moving = phi(attention(K, Q), layer.matrix(arc["V"], layer.o, ANY))
        require(bool(moving) and constant_and_moving == self.y | moving, "an arc has another expansion")
        vectors: dict[int, Sparse] = {}
        for (power, *name), x in moving.items():
            vectors.setdefault(power, {})[tuple(name)] = x
        return [vector for power, vector in vectors.items() if power < 2 * min(vectors)]


def equations(layer: Layer, value: Any) -> Iterable[Sparse]:
    """Polynomials [[coefficient, [c, b, i, k], ...], ...] that vanish on M̄, read and verified."""
    for terms in array(value):
        equation: Sparse = {}
        last: tuple[Any, ...] = ()
        for coefficient, *names in map(array, array(terms)):
            key = tuple(tuple(name) for factor in names for _, *name in layer.point([[*array(factor), 1]]))
            form(all(one <= other for one, other in pairwise(key)) and last < key, "a term is out of order")
            form(integer(coefficient) != 0, "a term is 0")
            equation[key] = coefficient
            last = key
        # If it vanishes for all A, then for those of rank ≤ a; otherwise A = KᵀQ is put in.
        vanishes = not expand(equation, 0) or (layer.a < layer.d and not expand(equation, layer.a))
        require(bool(equation) and vanishes, "an equation does not vanish on M̄")
        yield equation


# The claims -------------------------------------------------------------------------------------------------

ZERO, PINCH, CROSSING = (0, 0, 0), (1, 1, 1), (1, 1, 2)
Ranks = tuple[int, ...]


def named(ranks: Ranks) -> str:
    """An orbit's name.

    >>> named((2, 1, 3))
    '(2,1,3)'
    """
    return f"({','.join(map(str, ranks))})"


class Facts:
    """All that a certificate proves about one layer: every orbit, and dim M̄."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.layer = Layer(*(integer(found[name]) for name in ("d", "d_out", "a")))
        # First what is quick to compare: nothing below runs over many indices that a wrong d or d' makes up.
        self.dimension = self.layer.source(self.layer.a)
        require(self.dimension == integer(found["dimension"]), f"the dimension is {self.dimension}")
        records, expected = array(found["strata"]), self.layer.orbits()
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

    def _moves(self) -> list[Sparse]:
        """The derivatives of (K, Q) ↦ KᵀQ at a pair over A in the open orbit, where rk A = a."""
        A, indices = self.top.A, range(1, self.layer.d + 1)
        moves = [{(k, *b, 0): x for b, x in q.items()} for k in indices for q in lines(A, 0)]
        return moves + [{(*k, b, 0): x for k, x in column.items()} for b in indices for column in lines(A, 1)]

    def _dimension(self) -> None:
        """The parameters modulo scaling bound dim M̄; the rank of the derivative of φ(KᵀQ, V) meets that."""
        velocities = [phi(move, self.top.V) for move in self._moves()]
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
        require(rank(self._moves()) == self.moving, "the derivative of KᵀQ has another rank")
        return []

    def failing(self, fails: Callable[[Orbit], bool]) -> list[Ranks]:
        """The orbits where a statement fails."""
        return [orbit.ranks for orbit in self.orbits.values() if fails(orbit)]

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

    def paper(self, ranks: Ranks) -> bool:
        """Whether a point is singular, as the paper says: rk V ≤ 1 and rk A ≤ 1."""
        return ranks[0] <= 1 and ranks[1] <= 1

    def corrected(self, ranks: Ranks) -> bool:
        """Whether a point is singular, by the corrected theorem."""
        d, o, a = self.layer.d, self.layer.o, self.layer.a
        if ranks == ZERO or a == o == 1:
            return ranks == ZERO or (d >= 3 and ranks == PINCH)
        return ranks[:2] == (1, 1) or (2 <= a < d and ranks[1] < a)

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

    def degree(self) -> int:
        """deg M̄: that of the Segre product of P{rk A ≤ a} and P(ℂ^{d'd}), over the preimages of a point.

        It is projected without base points. deg {rk A ≤ a} is Giambelli's formula.
        """
        d, o, a = self.layer.d, self.layer.o, self.layer.a
        matrices = prod(comb(d + i, a) for i in range(d - a)) // prod(comb(a + i, a) for i in range(d - a))
        return comb(self.layer.source(a) - 1, o * d - 1) * matrices // self.top.preimages

    def products(self) -> list[Ranks]:
        """Nowhere, if the coefficients of V X Xᵀ A X are those of V_c(u)·A_b(u), and fixed combinations.

        Both are linear in A and in V: it is enough to try A = e_k e_bᵀ, V = e_iᵀ, for which φ(X)_τ is
        Σ_j x_{ij} x_{kj} x_{bτ}. Two tokens j ≠ τ tell; of one token come the sums over the places of b.
        """
        for i, k, b in product(range(1, self.layer.d + 1), repeat=3):
            found, claimed = phi({(k, b, 0): 1}, {(1, i, 0): 1}), {(0, 1, b, *sorted((i, k))): 1}
            require(found == claimed, "V X Xᵀ A X has other coefficients")
        return []


@dataclass(frozen=True)
class Claim:
    """What is certified: the statement, where it applies, and where it fails."""

    statement: Callable[[Facts], str]
    fails: Callable[[Facts], list[Ranks]]
    wide: bool = True
    no_product: bool = True

    def applies(self, layer: Layer) -> bool:
        """Whether its hypotheses hold; t ≥ 2 always does."""
        return not (self.wide and layer.d < 2) and not (self.no_product and layer.a == layer.o == 1)


def by_paper(facts: Facts) -> str:
    """What the paper says of singular points."""
    return f"{facts.layer} is singular exactly at rk A ≤ 1, rk V ≤ 1"


HALVED = {1: "", 2: "/2"}
CLOSED = Claim(lambda f: f"{f.layer} is closed", Facts.closed)
CLAIMS = {
    "lemma-3.1": Claim(
        lambda f: (
            "K and Q with KᵀQ of rank a ≤ d are unique up to one C in GL(a); fibers have dimension "
            f"a² = {f.layer.a**2}, {{rk A ≤ a}} has dimension a(2d − a) = {f.moving}"
        ),
        Facts.factorization,
        wide=False,
        no_product=False,
    ),
    "theorem-3.2": Claim(
        lambda f: (
            "over φ(A, V) ≠ 0 lie the rescalings of (A, V), and of (v qᵀ, h kᵀ) for A = k qᵀ, V = h vᵀ"
            "; over 0 the pairs with A = 0 or V = 0"
        ),
        Facts.fibers,
        wide=False,
        no_product=False,
    ),
    "corollary-3.3": Claim(
        lambda f: f"dim {f.layer} = a(2d − a) + dd' − 1 = {f.dimension}", lambda facts: [], wide=False
    ),
    "theorem-3.4.closed": CLOSED,
    "theorem-3.4.boundary": Claim(
        lambda f: f"the boundary of {f.layer} in M̄(ℝ) is {{A = k qᵀ, V = h kᵀ}}", Facts.critical
    ),
    "theorem-3.4.singular": Claim(by_paper, lambda facts: facts.singular(facts.paper)),
    "corollary-A.1": CLOSED,
    "corollary-A.2": Claim(
        lambda f: "up to scaling φ is birational, with fibers of at most 2", Facts.birational
    ),
    "lemma-A.3": Claim(
        lambda f: "(A, V) is critical iff A = 0, V = 0, or A = k qᵀ and V = h kᵀ", Facts.critical
    ),
    "corollary-A.4": Claim(by_paper, lambda facts: facts.singular(facts.paper)),
    "proposition-A.5": Claim(
        lambda f: "φ has the coefficients of the products V_c(u)·A_b(u)", Facts.products
    ),
    "corollary-A.6": Claim(
        lambda f: f"the boundary of {f.layer} is the image of the critical points", lambda facts: []
    ),
    "agattn.degree": Claim(
        lambda f: (
            f"deg M̄ = C(a(2d − a) + dd' − 2, dd' − 1)·deg {{rk A ≤ a}}{HALVED[f.top.preimages]} "
            f"= {f.degree()}"
        ),
        lambda facts: facts.failing(
            lambda orbit: (
                orbit is facts.top
                and orbit.preimages != 1 + (facts.layer.a == facts.layer.o == 1 < facts.layer.d)
            )
        ),
        wide=False,
        no_product=False,
    ),
    "agattn.singular-locus": Claim(
        lambda f: (
            "M̄ is singular exactly at 0, at rk A = rk V = 1, and at rk A < a if 2 ≤ a < d; "
            "for a = d' = 1 at 0 and, if d ≥ 3, at (1,1,1)"
        ),
        lambda facts: facts.singular(facts.corrected),
        no_product=False,
    ),
    "agattn.tangent-dimension": Claim(
        lambda f: (
            "dim T_p M̄ is what the closed formula says, on every stratum: "
            + ", ".join(f"{named(ranks)} {orbit.lower}" for ranks, orbit in f.orbits.items())
        ),
        Facts.tangents,
        no_product=False,
    ),
}

OTHERS = frozenset({
    "agattn.learning-coefficient", "agattn.learning-coefficient-softmax",
    "lemma-3.5", "lemma-3.6", "equation-12", "theorem-3.7", "corollary-3.8", "theorem-3.9", "conjecture-3.10",
    "agattn.hilbert-function", "agattn.multi-head-dimension", "agattn.network-dimension",
    "agattn.learning-degree",
    "agattn.rank-one-locus", "agattn.skip-dimension", "agattn.heads-not-closed",
    "agattn.deep-zeros", "agattn.deep-not-closed", "agattn.deep-boundary",
    "agattn.deep-critical", "agattn.deep-singular", "agattn.jet-order", "agattn.equations",
    "agattn.softmax-identifiable",
    "agattn.softmax-collapse", "agattn.contact-spectrum", "agattn.softmax-heads",
    "agattn.grouped-dimension", "agattn.latent-dimension", "agattn.recurrent-dimension",
    "agattn.model-dimension", "agattn.model-symmetries",
})  # fmt: skip
"""The claims of agattn that no certificate about M(d, d', a) proves; some have others, or none."""

UNKNOWN = "a claim that is not known here"
"""Stands for a claim that a later agattn may know, which no certificate proves here."""


# Learning coefficients --------------------------------------------------------------------------------------

Polynomial = Sparse
"""Coefficients by monomial, the increasing numbers of its coordinates: {(): 1, (2, 2): −3} is 1 − 3 z_2²."""


def times(one: Polynomial, other: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    WORK.more((len(one) + 1) * (len(other) + 1))
    pairs = product(one.items(), other.items())
    return collected((tuple(sorted(m + n)), x * y) for (m, x), (n, y) in pairs)


class Germ:
    """The learning coefficient λ and its multiplicity m at one point of a layer, or of a softmax head.

    K and Q (a × d) and V (d' × d) are polynomials in coordinates z, and the weights are their values at
    z = 0. GL(a) leaves A = KᵀQ as it is, and with it φ; and (sA, V/s) leaves φ. If the derivatives of these
    motions and those by z span all directions, λ and m are those of the ideal (f) at z = 0, f being the
    coordinates of φ(z) − φ(0). The entries of g are single coordinates, those of T·N for matrices T (p × h)
    and N (h × n) of coordinates, and products of two of the coordinates α. Where f = M·g for a matrix M of
    polynomials, (f) ⊂ (g); where M(0) has as many independent rows as there are g, (g) ⊂ (f) + 𝔪(g), so
    (g) = (f) by Nakayama's lemma. Each coordinate gives 1/2; each α gives 1/4, as Σ(αᵢαⱼ)² lies between
    multiples of ‖α‖⁴; and T·N gives half the least of (h−s)(n−s) + ps over 0 ≤ s ≤ min(h, n), with as many
    for m as there are least (Aoyagi and Watanabe 2005; docs/layer/learning-coefficients.md of agattn
    has a proof).

    A softmax head is an immersion in (A, V) where V ≠ 0, so there f are the entries of A and V, less those at
    0; and where V = 0 those of V. Where A = 0 and V = 0 in a lightning layer, ‖φ‖ lies between multiples of
    ‖V‖·‖A‖: the ideals of A and of V are taken apart, the smaller λ counts, and equal ones add their m.
    """

    def __init__(self, d: int, o: int, a: int, softmax: bool, record: Any) -> None:
        found = fields(
            record, "ranks variables K Q V free T N squares multipliers lambda multiplicity competitors"
        )
        self.size = integer(found["variables"])
        form(0 <= self.size <= VARIABLES, f"a point has more than {VARIABLES} coordinates")
        K, Q = self._matrix(found["K"], a, d), self._matrix(found["Q"], a, d)
        V = self._matrix(found["V"], o, d)
        A = {(i, b): added(times(K[e, i], Q[e, b]) for e in range(a)) for i in range(d) for b in range(d)}
        self._ranks(found["ranks"], A, K, Q, V)
        free, squares = self._numbers(found["free"]), self._numbers(found["squares"])
        T, N = ([self._numbers(row) for row in array(found[letter])] for letter in "TN")
        p, h, n = len(T), len(N), len(N[0]) if N else 0
        form({*map(len, T)} <= {h} and {*map(len, N)} <= {n}, "T and N do not fit")
        used = [*free, *squares, *(z for row in T + N for z in row)]
        require(len(set(used)) == len(used), "a coordinate has two parts")
        g: list[Polynomial] = [{(z,): 1} for z in free]
        g += [
            added({tuple(sorted(pair)): 1} for pair in zip(row, column, strict=True))
            for row in T
            for column in zip(*N, strict=True)
        ]
        g += [{tuple(sorted((x, y))): 1} for e, x in enumerate(squares) for y in squares[e:]]
        values = [V[c, i] for c in range(o) for i in range(d)]
        apart = softmax or not (self.r_v or self.r_a)
        f = [A[i, b] for i in range(d) for b in range(d)] if apart and (self.r_v or not softmax) else []
        of_attention = len(f)
        f += (
            values
            if apart
            else [
                added([times(V[c, i], A[k, b])] + [times(V[c, k], A[i, b])] * (i < k))
                for c in range(o)
                for b in range(d)
                for i in range(d)
                for k in range(i, d)
            ]
        )
        own = {z for x in values for name in x for z in name}
        M = self._multipliers(found["multipliers"], len(f), len(g))
        for e, x in enumerate(f):
            x = {name: c for name, c in x.items() if name}
            require(x == added(times(m, g[j]) for j, m in M[e].items()), "f is not M·g")
        constants = [{(j,): m[()] for j, m in row.items() if () in m} for row in M]
        require(rank(constants) == len(g), "M(0) has too few independent rows")
        self._directions(a, d, o, K, Q, V, scaled=not apart)
        competitors = [(h - s) * (n - s) + p * s for s in range(min(h, n) + 1)]
        require(integers(found["competitors"]) == competitors, f"the competitors are {competitors}")
        least, most = min(competitors), competitors.count(min(competitors))
        four, m = 2 * len(free) + 2 * least + len(squares), most
        if not (softmax or self.r_v or self.r_a):
            mine = [j for j, z in enumerate(free) if z in own]
            require(  # so M is one matrix for A and one for V, which use different entries of g
                all((j in mine) == (e >= of_attention) for e, row in enumerate(M) for j in row),
                "A and V are not apart",
            )
            one, other = four - 2 * len(mine), 2 * len(mine)
            four, m = min(one, other), most + 1 if one == other else most if one < other else 1
        divisor = gcd(four, 4)
        stated = integers(found["lambda"])
        require(stated == [four // divisor, 4 // divisor], f"λ is {four // divisor}/{4 // divisor}")
        require(integer(found["multiplicity"]) == m, f"m is {m}")
        self.value = f"{four // divisor}" + f"/{4 // divisor}" * (divisor < 4)
        self.multiplicity = m

    def _numbers(self, value: Any) -> list[int]:
        """Numbers of coordinates, from 0."""
        numbers = integers(value)
        form(all(0 <= x < self.size for x in numbers), "there is no such coordinate")
        return numbers

    def _polynomial(self, value: Any) -> Polynomial:
        """A polynomial, as [[coefficient, coordinate, ...], ...]."""
        total: Polynomial = {}
        for term in array(value):
            x, *name = array(term)
            key = tuple(self._numbers(name))
            form(len(key) <= DEGREE, f"a polynomial has a degree above {DEGREE}")
            form(integer(x) != 0 and list(key) == sorted(key) and key not in total, "a term is out of order")
            total[key] = x
        return total

    def _matrix(self, value: Any, rows: int, columns: int) -> dict[tuple[int, int], Polynomial]:
        """A matrix of polynomials, all of whose entries are written."""
        table = [[self._polynomial(x) for x in array(row)] for row in array(value)]
        form(len(table) == rows and all(len(row) == columns for row in table), "a matrix has other sizes")
        return {(i, j): x for i, row in enumerate(table) for j, x in enumerate(row)}

    def _multipliers(self, value: Any, rows: int, columns: int) -> list[dict[int, Polynomial]]:
        """The entries of M that are not 0, as [[row, column, polynomial], ...]."""
        M: list[dict[int, Polynomial]] = [{} for _ in range(rows)]
        for entry in array(value):
            e, j, polynomial = array(entry)
            form(
                0 <= integer(e) < rows and 0 <= integer(j) < columns and j not in M[e], "M has no such entry"
            )
            M[e][j] = self._polynomial(polynomial)
        return M

    def _ranks(self, stated: Any, A: Any, K: Any, Q: Any, V: Any) -> None:
        """The ranks at z = 0: of V, A, [V; Aᵀ], K, Q and [V; K]."""

        def at_zero(M: Mapping[tuple[int, int], Polynomial]) -> Sparse:
            return {(i, j): x[()] for (i, j), x in M.items() if () in x}

        rows, columns = lines(at_zero(V), 0), lines(at_zero(A), 1)
        keys, queries = lines(at_zero(K), 0), lines(at_zero(Q), 0)
        found = [*map(rank, (rows, columns, rows + columns, keys, queries, rows + keys))]
        require(integers(stated) == found, f"the ranks are {found}")
        self.ranks = found
        self.r_v, self.r_a = found[:2]

    def _directions(self, a: int, d: int, o: int, K: Any, Q: Any, V: Any, *, scaled: bool) -> None:
        """See that the coordinates, GL(a) and the scaling move the weights in all directions."""
        whole = {(name, *place): x for name, M in (("K", K), ("Q", Q), ("V", V)) for place, x in M.items()}
        at = {place: x[()] for place, x in whole.items() if () in x}

        def vectors() -> Iterator[Sparse]:
            for z in range(self.size):
                yield {place: x[z,] for place, x in whole.items() if (z,) in x}
            for i, j in product(range(a), repeat=2):  # K̇ = −EᵀK, Q̇ = EQ for E with a 1 at (i, j)
                WORK.more(2 * a * d)
                left = {("K", j, e): -at["K", i, e] for e in range(d) if ("K", i, e) in at}
                yield left | {("Q", i, e): at["Q", j, e] for e in range(d) if ("Q", j, e) in at}
            if scaled:
                yield {place: -x if place[0] == "V" else x for place, x in at.items() if place[0] != "Q"}

        directions = 2 * a * d + o * d
        require(rank(vectors()) == directions, "the coordinates and the motions leave a direction out")


def stated(name: str, reason: str, valid: bool | None = True) -> dict[str, Any]:
    """The verdict on one claim."""
    return {"id": name, "valid": valid, "reason": reason}


def concluded(
    layer: str, claims: list[dict[str, Any]], flaw: str, others: Iterable[str] = ()
) -> dict[str, Any]:
    """The verdict on a certificate, and on each of its claims, of which one must be certified."""
    flaw = flaw or ("" if any(claim["valid"] for claim in claims) else "nothing is certified")
    result = {"valid": not flaw, "flaw": flaw, "layer": layer, "claims": claims}
    return {**result, "uncertified": [*others]} if others else result


def uncertified(found: dict[str, Any]) -> list[str]:
    """The claims that a certificate names beside those in it; the name is one that stands in this file."""
    records = [fields(record, "id reason") for record in array(found.get("uncertified", []))]
    for record in records:
        text(record["id"])
        text(record["reason"])
    names = [record["id"] for record in records]
    return [name if name in CLAIMS or name in OTHERS else UNKNOWN for name in names]


def _learned(found: dict[str, Any]) -> dict[str, Any]:
    """The verdict on each point of a certificate of learning coefficients."""
    d, o, a = (integer(found[name]) for name in ("d", "d_out", "a"))
    form(min(d, o, a) >= 1, "d, d', a are not possible")
    form(o * d * d * (d + 1) // 2 <= COORDINATES and a * d <= COORDINATES, "it is about too large a layer")
    form(found["head"] in ("lightning", "softmax"), "the head is neither lightning nor softmax")
    results, flaw, softmax = [], "", found["head"] == "softmax"
    try:
        for record in array(found["points"]):
            germ = Germ(d, o, a, softmax, record)
            r_v, r_a, r, rank_k, rank_q, rank_vk = germ.ranks
            at = f"({r_v},{r_a},{r}), rk K = {rank_k}, rk Q = {rank_q}, rk [V; K] = {rank_vk}"
            reason = f"the learning coefficient is {germ.value}, of multiplicity {germ.multiplicity}"
            results.append(stated(at, reason))
    except Flaw as error:
        flaw = str(error)
        results = [stated(f"point {n}", flaw, False) for n in range(1, len(results) + 2)]
    layer = f"{found['head']} attention with d = {d}, d' = {o}, a = {a}, t ≥ 2"
    return concluded(layer, results, flaw)


# Several heads ----------------------------------------------------------------------------------------------


class HeadsLimit:
    """A limit y of sums of h heads that is no such sum over ℂ: M, the set of these sums, is not closed.

    Heads whose K, Q, V are Laurent polynomials in ε add up to y plus terms with positive powers of ε. The
    sum of h heads is y = P·R, where column j of P is V_j(u) and row j of R is A_j(u), linear forms in u. Row
    1 of a sum is a sum of heads. docs/networks/several-heads.md of agattn has the proofs at length.

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

    def __init__(self, found: dict[str, Any]) -> None:
        d, o, a, self.h = (integer(found[name]) for name in ("d", "d_out", "a", "h"))
        self.layer = Layer(d, o, a)
        self.y = self.layer.point(found["y"])
        heads = array(found["heads"])
        require(len(heads) == self.h, f"there are {len(heads)} heads")
        total = added(phi(*self._head(record)) for record in heads)
        powers = [name[0] for name in total]
        require(min(powers, default=0) >= 0, "what diverges does not cancel")
        limit = {name: x for name, x in total.items() if not name[0]}
        require(limit == self.y, "the heads do not converge to y")
        proofs = {"squares": self._squares, "products": self._products, "pencil": self._pencil}
        kind = found["obstruction"].get("kind")
        form(kind in proofs, "the obstruction is of no known kind")
        proofs[kind](found["obstruction"])

    def __str__(self) -> str:
        """The name of M."""
        return f"{self.layer} with {self.h} heads"

    def _head(self, record: Any) -> tuple[Sparse, Sparse]:
        """A = KᵀQ and V, with powers of ε."""
        found, powers = fields(record, "K Q V"), (-POWERS, POWERS)
        K, Q = (self.layer.matrix(found[name], self.layer.a, powers) for name in "KQ")
        return attention(K, Q), self.layer.matrix(found["V"], self.layer.o, powers)

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
        found = fields(record, "kind rows columns")
        rows, columns = (self._places(found[name], 3) for name in ("rows", "columns"))
        forms: dict[int, Sparse] = {}
        for (_, c, b, i, k), x in self.y.items():
            if c == 1:
                forms.setdefault(b, {})[i, k] = x
        require(self.layer.a == 1, "a is not 1")
        require(len(forms) == rank(forms.values()) == self.h, "row 1 has not h independent columns")

        def entry(i: int, k: int) -> Polynomial:
            """Twice the entry of the symmetric matrix of Σλ_b y_b, λ_b as coordinate b."""
            place = (min(i, k), max(i, k))
            return {(b,): f[place] * (1 + (i == k)) for b, f in forms.items() if place in f}

        terms = []
        for sign, order in (
            (1, (0, 1, 2)),
            (1, (1, 2, 0)),
            (1, (2, 0, 1)),
            (-1, (0, 2, 1)),
            (-1, (2, 1, 0)),
            (-1, (1, 0, 2)),
        ):
            term: Polynomial = {(): sign}
            for i, n in zip(rows, order, strict=True):
                term = times(term, entry(i, columns[n]))
            terms.append(term)
        require([len(set(name)) for name in added(terms)] == [1], "the minor is not a multiple of one cube")

    def _pencil(self, record: Any) -> None:
        found = fields(record, "kind v w A B rows columns")
        d, n = self.layer.d, self.layer.a + 2
        rows, columns = (self._places(found[name], n) for name in ("rows", "columns"))
        A, B = (self.layer.matrix(found[name], d) for name in "AB")
        v, w = (sparse(found[name], (1, d)) for name in "vw")
        require(self.h == 2, "there are not two heads")

        def times_form(linear: Sparse, matrix: Sparse) -> Sparse:
            return phi(matrix, {(1, i, 0): x for (i,), x in linear.items()})

        total = added([times_form(v, B), times_form(w, A)])
        require(total == {name: x for name, x in self.y.items() if name[1] == 1}, "y is not vB + wA")
        used = {i for i, *_ in [*A, *B, *v]}
        require(used <= set(rows), "A, B or v has something in other rows")
        values = {
            determinant([[B.get((i, b, 0), 0) + t * A.get((i, b, 0), 0) for b in columns] for i in rows])
            for t in range(n + 1)
        }  # a polynomial in t of degree at most n that has one value at n + 1 places is constant
        require(len(values) == 1 and values != {0}, "det(sB + tA) is no multiple of a power of s")
        span = lines(A, 1)
        require(rank(span) >= 2 and rank([*span, v]) > rank(span), "v is in the span of the columns of A")
        require(rank([v, w]) == 2, "v and w are dependent")

    def _places(self, value: Any, size: int) -> list[int]:
        """So many different indices from 1 to d."""
        numbers = integers(value)
        form(all(1 <= n <= self.layer.d for n in numbers), "there is no such row or column")
        form(len(numbers) == len(set(numbers)) == size, f"there are not {size} different ones")
        return numbers


def determinant(matrix: list[list[int]]) -> int:
    """The determinant of an integer matrix, by fraction-free elimination (Bareiss).

    >>> determinant([[0, 2, 1], [3, 1, 1], [1, 1, 5]])
    -26
    """
    rows, sign, last = [list(row) for row in matrix], 1, 1
    WORK.more(len(rows) ** 3 + 1)
    for k in range(len(rows) - 1):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, len(rows)):
            rows[i] = [(rows[k][k] * rows[i][j] - rows[i][k] * rows[k][j]) // last for j in range(len(rows))]
        last = rows[k][k]
    return sign * rows[-1][-1]


def _not_closed(found: dict[str, Any]) -> dict[str, Any]:
    """The verdict on a certificate of a limit of several heads."""
    layer, flaw, reason = "", "", ""
    try:
        limit = HeadsLimit(found)
        layer = f"{limit}, t ≥ 2"
        reason = f"confirmed: {limit} is not closed: y is a limit of sums of {limit.h} heads, and none."
    except Flaw as error:
        reason = flaw = str(error)
    claims = [stated("agattn.heads-not-closed", reason, not flaw)]
    return concluded(layer, claims, flaw, uncertified(found))


# Zeros and limits of deep networks --------------------------------------------------------------------------

Matrix = list[list[int]]
Jet = dict[int, Matrix]
"""A matrix with nilpotents: coefficients of 1, ε, η, εη at 0, 1, 2, 3, where ε² = η² = 0; 0 is left out."""

PRIME = 2**61 - 1  #: modulo which a rank is taken; it can only be smaller than over ℚ


def multiplied(one: Jet, other: Jet, modulus: int = 0) -> Jet:
    """The product of two matrices with nilpotents, over ℤ or modulo a prime."""
    result: Jet = {}
    for (s, A), (t, B) in product(one.items(), other.items()):
        if not s & t:
            bits = 0 if modulus else max(x.bit_length() for M in (A, B) for row in M for x in row)
            WORK.more(len(A) * len(B) * len(B[0]) * (1 + (bits >> 7) ** 2))
            columns = [*zip(*B, strict=True)]
            C = [[sum(map(int.__mul__, row, column)) for column in columns] for row in A]
            if s | t in result:
                C = plus(result[s | t], C)
            result[s | t] = [[x % modulus for x in row] for row in C] if modulus else C
    return result


def turned(matrix: Matrix) -> Matrix:
    """The transpose."""
    return [list(column) for column in zip(*matrix, strict=True)]


def transposed(one: Jet) -> Jet:
    """The transposes."""
    return {s: turned(A) for s, A in one.items()}


def plus(one: Matrix, other: Matrix) -> Matrix:
    """The sum of two matrices."""
    return [[*map(int.__add__, *rows)] for rows in zip(one, other, strict=True)]


def dense_rank(matrix: Matrix, modulus: int = 0) -> int:
    """The rank over ℚ, or modulo a prime."""
    rows = ([x % modulus for x in row] if modulus else row for row in matrix)
    return rank([{(j,): x for j, x in enumerate(row) if x} for row in rows], modulus)


def nonzero(matrix: Matrix) -> bool:
    """Whether a matrix is not 0."""
    return any(map(any, matrix))


def symmetric(matrix: Matrix) -> Matrix:
    """Twice the symmetric part of a square matrix."""
    return plus(matrix, turned(matrix))


def skew(matrix: Matrix) -> bool:
    """Whether a square matrix is skew-symmetric."""
    return not nonzero(symmetric(matrix))


class Deep:
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
    det(XᵀM_s X) = εδ + O(ε²) and XᵀKX = (0 κ; −κ 0). The checker verifies these conditions and the limit's
    value, and takes the theorem from there.

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

    def __init__(self, found: dict[str, Any]) -> None:
        self.dims, self.ranks = integers(found["dims"]), integers(found["ranks"])
        self.l = len(self.ranks)
        form(self.l >= 2 and len(self.dims) == self.l + 1, "it is about no network of two layers or more")
        form(min(self.dims + self.ranks) >= 1, "a width or rank is not possible")
        self.shapes = {
            f"{name}_{i}": (d_out if name == "V" else a, d)
            for i, (d, d_out, a) in enumerate(zip(self.dims, self.dims[1:], self.ranks, strict=False), 1)
            for name in "KQV"
        }
        form(sum(m * n for m, n in self.shapes.values()) <= COORDINATES, "it is about too large a network")
        alpha = [min(a, *self.dims[:i]) for i, a in enumerate(self.ranks, 1)]
        self.first = (alpha.index(1) if 1 in alpha else self.l) - 1

    def __str__(self) -> str:
        """The name of M."""
        dims, ranks = (",".join(map(str, numbers)) for numbers in (self.dims, self.ranks))
        return f"M({dims}; {ranks}), one head, l = {self.l}, t ≥ 2"

    def matrix(self, value: Any, rows: int, columns: int) -> Matrix:
        """A matrix [[row, column, value], ...]."""
        WORK.more(rows * columns)
        entries = sparse(value, (1, rows), (1, columns))
        return [[entries.get((i, j), 0) for j in range(1, columns + 1)] for i in range(1, rows + 1)]

    def weights(self, value: Any) -> dict[str, Matrix]:
        """All K_i, Q_i and V_i."""
        found = fields(value, " ".join(self.shapes))
        return {name: self.matrix(found[name], *shape) for name, shape in self.shapes.items()}

    def moving(self, weights: Mapping[str, Jet]) -> dict[str, Jet]:
        """The weights with ε, for a limit; V_l is not divided."""
        s, result = self.first, dict(weights)
        below = {i: [[0] * len(row) for row in A] for i, A in weights[f"Q_{s}"].items()}
        result[f"Q_{s}"] = {i: [A[0], *below[i][1:]] for i, A in weights[f"Q_{s}"].items()}
        result[f"Q_{s}"] |= {i | 1: [below[i][0], *A[1:]] for i, A in weights[f"Q_{s}"].items()}
        turned = {}
        for i, A in weights[f"K_{s + 1}"].items():
            pairs = zip(A[0::2], A[1::2], strict=False)
            rows = [row for one, other in pairs for row in (other, [-x for x in one])]
            turned[i] = rows + [[0] * len(A[0])] * (len(A) % 2)
        result[f"Q_{s + 1}"] = turned | {i | 1: A for i, A in weights[f"Q_{s + 1}"].items()}
        return result

    def values(self, weights: Mapping[str, Jet], X: Jet, layers: Iterable[int], modulus: int = 0) -> Jet:
        """The output of some layers, one after the other."""
        for i in layers:
            K, Q, V = (weights[f"{name}_{i}"] for name in "KQV")
            scores = multiplied(transposed(multiplied(K, X, modulus)), multiplied(Q, X, modulus), modulus)
            X = multiplied(V, multiplied(X, scores, modulus), modulus)
        return X

    def limit(self, weights: Mapping[str, Jet], X: Matrix, modulus: int = 0) -> Jet:
        """The limit at X."""
        Y = self.values(self.moving(weights), {0: X}, range(1, self.first + 2), modulus)
        require(not nonzero(Y[0]), "the functions do not vanish in the limit, before they are divided")
        Y = {i ^ 1: A for i, A in Y.items() if i & 1}
        return self.values(weights, Y, range(self.first + 2, self.l + 1), modulus)

    def virtual(self, weights: Mapping[str, Jet]) -> tuple[list[Jet], Matrix]:
        """M_1, ..., M_l and L."""
        size = range(self.dims[0])
        M, L = [], {0: [[int(i == j) for j in size] for i in size]}
        for i in range(1, self.l + 1):
            keys, queries = (multiplied(weights[f"{name}_{i}"], L) for name in "KQ")
            M.append(multiplied(transposed(keys), queries))
            L = multiplied(weights[f"V_{i}"], L)
        return M, L[0]

    def zeros(self, record: Any) -> int:
        """See that at weights φ is 0 or not, as the theorem says; whether it is."""
        found = fields(record, "weights", "X value")
        weights = {name: {0: A} for name, A in self.weights(found["weights"]).items()}
        M, L = self.virtual(weights)
        at = [m[0] for m in M]
        ones = [i for i, m in enumerate(at) if dense_rank(m) == 1]
        invisible = any(skew(m) for i in ones for m in at[i + 1 :])
        zero = not nonzero(L) or not all(map(nonzero, at)) or invisible
        seen = ("X" in found) != zero and ("value" in found) != zero
        require(seen, "a zero is none, or is not seen as one")
        if not zero:
            X = self.matrix(found["X"], self.dims[0], 2)
            y = self.values(weights, {0: X}, range(1, self.l + 1))[0]
            require(y == self.matrix(found["value"], self.dims[-1], 2) and nonzero(y), "φ(X) is another one")
        return int(zero)

    def outside(self, found: dict[str, Any]) -> str:
        """Check that the stated point is a limit, and that the limit meets the conditions of the theorem."""
        record = fields(found["limit"], "weights X value kappa delta")
        self.at, s = self.weights(record["weights"]), self.first
        require(s >= 1, "such a network is closed")
        weights = {name: {0: A} for name, A in self.at.items()}
        X = self.matrix(record["X"], self.dims[0], 2)
        y = self.limit(weights, X)[0]
        require(y == self.matrix(record["value"], self.dims[-1], 2), "the limit has another value")
        M, L = self.virtual(self.moving(weights))
        require(nonzero(L), "L is 0")
        require(all(dense_rank(m[0]) >= 2 for m in M[: s - 1]), "some M_i before M_s has rank 1")
        others = [m[0] for i, m in enumerate(M, 1) if i not in (s, s + 1)]
        require(not any(map(skew, [*others, M[s][1]])), "some M_i or P is skew-symmetric")
        require(dense_rank(M[s - 1][0]) == 1 and skew(M[s][0]), "M_s and M_{s+1} are none of a limit")
        one, other = (multiplied(transposed({0: X}), multiplied(m, {0: X})) for m in M[s - 1 : s + 1])
        (a, b), (c, d) = one[0]
        (e, f), (g, h) = one[1]
        delta, kappa = a * h + d * e - b * g - c * f, other[0][0][1]
        require([kappa, delta] == integers([record["kappa"], record["delta"]]), "κ or δ is another one")
        require(kappa * delta != 0, "κδ is 0")
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

    def boundary(self, found: dict[str, Any]) -> str:
        """See that the limits have the dimension stated, near the one that was seen to be outside."""
        record = fields(found["boundary"], "dimension inputs directions")
        inputs = [self.matrix(X, self.dims[0], 2) for X in inputs_in(record["inputs"])]
        places = [(name, i, j) for name, (m, n) in self.shapes.items() for i in range(m) for j in range(n)]
        numbers = integers(record["directions"])
        form(all(1 <= x <= len(places) for x in numbers), "there is no such direction")
        columns = []
        for name, i, j in (places[x - 1] for x in numbers):
            m, n = self.shapes[name]
            unit = [[int((r, c) == (i, j)) for c in range(n)] for r in range(m)]
            weights = {other: {0: A} for other, A in self.at.items()}
            weights[name] = {0: self.at[name], 2: unit}
            moved = [self.limit(weights, X, PRIME)[2] for X in inputs]
            columns.append([x for A in moved for row in A for x in row])
        low, high = dense_rank(columns, PRIME), self.bound() - 1
        require(low == integer(record["dimension"]), f"the differential of the limits has rank {low}")
        require(low == high, f"the limits are only known to have dimension {low} to {high}")
        return (
            f"the limits outside M have dimension {low} = dim M − 1: so large is the rank of their "
            "differential, and dim M is no larger, by the count of docs/networks/dimension.md"
        )

    def points(self, found: Any, names: str) -> tuple[list[Matrix], list[dict[str, Any]]]:
        """Inputs, and weights (M, L) with what is stated of them; the network must be wide enough for all."""
        record = fields(found, "inputs points")
        wide = min(*self.dims[:-1], *self.ranks) == self.dims[0] >= 2
        require(wide, "not all matrices M_1, ..., M_l, L are virtual weights")
        self.size = sum(self.dims[0] ** 2 - 1 for _ in self.ranks) + self.dims[0] * self.dims[-1]
        inputs = [self.matrix(X, self.dims[0], 2) for X in inputs_in(record["inputs"])]
        return inputs, [fields(entry, names) for entry in array(record["points"])]

    def pair(self, value: Mapping[str, Any]) -> tuple[list[Matrix], Matrix]:
        """M_1, ..., M_l and L."""
        d, matrices = self.dims[0], array(value["M"])
        form(len(matrices) == self.l, "there are more M_i than layers, or fewer")
        return [self.matrix(m, d, d) for m in matrices], self.matrix(value["L"], self.dims[-1], d)

    def derivatives(self, M: list[Matrix], L: Matrix, inputs: list[Matrix]) -> Matrix:
        """The derivatives of φ at some inputs, modulo a prime: a row for each entry of the M_i and L.

        X XᵀMX has the derivative Ẋ·XᵀMX + X(Ẋᵀ·MX + XᵀM·Ẋ), and by the entry (i, j) of M, XXᵀe_i·e_jᵀX.
        """

        def times(A: Matrix, B: Matrix) -> Matrix:
            return multiplied({0: A}, {0: B}, PRIME)[0]

        blocks: list[Matrix] = []
        for X in inputs:
            states = []
            for m in M:
                right = times(m, X)
                states.append((X, times(X, turned(X)), turned(times(turned(m), X)), right))
                X = times(X, times(turned(X), right))
            rows = []
            for n, (at, square, *_) in enumerate(states):
                for i, j in product(range(len(at)), repeat=2):
                    D = [[row[i] * x % PRIME for x in at[j]] for row in square]
                    for Z, _, left, right in states[n + 1 :]:
                        tail = times(Z, plus(times(turned(D), right), times(left, D)))
                        D = plus(times(D, times(turned(Z), right)), tail)
                    rows.append([x for line in times(L, D) for x in line])
            for c, i in product(range(len(L)), range(len(X))):
                rows.append([x * (c == e) for e in range(len(L)) for x in X[i]])
            blocks.append(rows)
        return [[x for row in rows for x in row] for rows in zip(*blocks, strict=True)]

    def critical(self, found: dict[str, Any]) -> str:
        """See where the differential has a smaller rank than dim M, and that it is where the theorem says."""
        inputs, points = self.points(found["critical"], "M L rank")
        kinds = []
        for point in points:
            M, L = self.pair(point)
            require(nonzero(L) and not any(map(skew, M)), "L is 0, or an M_i is skew-symmetric")
            pair = dense_rank(M[-1]) == dense_rank(L) == dense_rank(turned(M[-1]) + L) == 1
            kinds.append(pair or any(dense_rank(m) == 1 for m in M[:-1]))
            low = dense_rank(self.derivatives(M, L, inputs), PRIME)
            require(low == integer(point["rank"]), f"a differential has rank {low}")
            require(kinds[-1] or low == self.size, f"a differential has rank {low}, not {self.size}")
        require(0 < sum(kinds) < len(kinds), "critical points and others are not both there")
        return (
            f"of {len(kinds)} weights {sum(kinds)} are critical, just those with rk M_i = 1, i < l, or M_l = "
            f"k qᵀ, L = h kᵀ; at the others the rank is {self.size}, and nowhere is it larger. That it is so "
            "at all weights without skew-symmetric M_i is Theorem 2 of docs/networks/deep-singularities.md, "
            "and not checked here"
        )

    def singular(self, found: dict[str, Any]) -> str:
        """See that there are too many tangent vectors where an M_i, i < l, or M_l and L have rank 1."""
        inputs, points = self.points(found["singular"], "M L others tangent")
        require(len(points) == self.l, "there is not one point for each layer")
        for i, point in enumerate(points):
            M, L = self.pair(point)
            last = i == self.l - 1
            require(dense_rank(M[i]) == 1 and (not last or dense_rank(L) == 1), "a rank is not 1")
            rows = self.derivatives(M, L, inputs)
            for value in array(point["others"]):
                N, other = self.pair(fields(value, "M L"))
                same = M[: i + (not last)] == N[: i + (not last)] and (
                    symmetrized(L, M[i]) == symmetrized(other, N[i])
                    if last
                    else other == L and [*map(symmetric, M[i + 1 :])] == [*map(symmetric, N[i + 1 :])]
                )
                require(same, "two weights are not seen to have the same function")
                rows += self.derivatives(N, other, inputs)
            low = dense_rank(rows, PRIME)
            require(low == integer(point["tangent"]), f"tangent vectors span {low} dimensions")
            require(low > self.size, f"tangent vectors span {low} dimensions, no more than {self.size}")
        spans = ", ".join(str(integer(point["tangent"])) for point in points)
        return (
            f"tangent vectors span {spans} dimensions, dim M ≤ {self.size}, so M̄ is singular where rk M_i ≤ "
            "1 for an i < l, or rk M_l ≤ 1 and rk L ≤ 1. That it is smooth at all other weights without "
            "skew-symmetric M_i is Theorem 4 of docs/networks/deep-singularities.md, and not checked here"
        )


def symmetrized(L: Matrix, M: Matrix) -> list[int]:
    """The coefficients of L X Xᵀ M X: those of (L_c u)(uᵀ M_b) for the rows L_c and columns M_b."""
    size = range(len(M))
    return [
        row[i] * M[j][b] + row[j] * M[i][b] for row in L for b in size for i in size for j in range(i + 1)
    ]


DEEP_CLAIMS = {
    "agattn.deep-zeros": "zeros",
    "agattn.deep-not-closed": "limit",
    "agattn.deep-boundary": "boundary",
    "agattn.deep-critical": "critical",
    "agattn.deep-singular": "singular",
}


def _deep(found: dict[str, Any]) -> dict[str, Any]:
    """The verdict on each claim of a certificate about a deep network."""
    names = [name for name, key in DEEP_CLAIMS.items() if key in found]
    form("limit" in found or "boundary" not in found, "a key is missing: limit")
    network, results, flaw = Deep(found), [], ""
    try:
        for name in names:
            if name == "agattn.deep-zeros":
                points = [network.zeros(record) for record in array(found["zeros"])]
                require(0 < sum(points) < len(points), "zeros and other weights are not both there")
                said = (
                    f"of {len(points)} weights φ = 0 at {sum(points)}, just those with L = 0, some M_i = 0, "
                    "or rk M_i = 1 and skew-symmetric M_j, i < j. That it is so at all weights is Theorem 1 "
                    "of docs/networks/deep-limits.md, and not checked here"
                )
            else:
                see = {"limit": network.outside, "boundary": network.boundary}
                see |= {"critical": network.critical, "singular": network.singular}
                said = see[DEEP_CLAIMS[name]](found)
            results.append(stated(name, f"confirmed: {said}."))
    except Flaw as error:
        flaw = str(error)
        results = [stated(name, flaw, False) for name in names]
    return concluded(str(network), results, flaw, uncertified(found))


# One layer of attention as it is built today ----------------------------------------------------------------


def entrywise(one: Jet, other: Jet) -> Jet:
    """The products of equal entries of two matrices with nilpotents, modulo a prime."""
    result: Jet = {}
    for (s, A), (t, B) in product(one.items(), other.items()):
        if not s & t:
            WORK.more(len(A) * len(A[0]))
            C = [[x * y % PRIME for x, y in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]
            result[s | t] = plus(result[s | t], C) if s | t in result else C
    return result


def summed(jets: Iterable[Jet]) -> Jet:
    """The sum of matrices with nilpotents, modulo a prime."""
    result: Jet = {}
    for jet in jets:
        for s, A in jet.items():
            total = plus(result[s], A) if s in result else A
            result[s] = [[x % PRIME for x in row] for row in total]
    return result


def units(n: int, *, diagonal: bool = False) -> Iterator[Matrix]:
    """The matrices of size n with one entry 1, one at a time, or those with the entry on the diagonal."""
    for place in ((i, i) for i in range(n)) if diagonal else product(range(n), repeat=2):
        WORK.more(n * n)
        yield [[int((i, j) == place) for j in range(n)] for i in range(n)]


def minus(A: Matrix) -> Matrix:
    """−A."""
    return [[-x for x in row] for row in A]


Motion = dict[tuple[str, tuple[int, ...]], Matrix]
"""A tangent vector of weights: the matrices that move, by array and place in it."""


class Today:
    """One layer without softmax: heads in groups, behind latents, or with a state. dim M from two sides.

    - A minor of the Jacobian at the weights and inputs of the certificate is not 0 modulo a prime: dim M is
      at least its size. An entry of the Jacobian is the coefficient of ε of an output, if ε is added to an
      entry of the weights.
    - A group acts linearly on the weights and changes no function. Its orbits have at general weights at
      least the dimension that they have at the weights of the certificate, the rank of the tangent vectors
      of :meth:`motions`. So dim M is at most the number of parameters less this rank.

    A skip connection adds the same X to all functions, and is left out.
    """

    shapes: dict[str, tuple[int, ...]]  #: of the arrays, in the order in which their entries are numbered

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.d, self.t = integer(found["d"]), integer(found["t"])
        self.o, self.a = (integer(found["layer"][name]) for name in ("out", "rank"))
        form(min(self.d, self.t, self.o, self.a) >= 1, "d, d', a or t is not possible")
        form(self.d * self.t <= COORDINATES, "it is about too large a layer")
        form(type(found["layer"].get("skip", False)) is bool, "skip is neither true nor false")

    def numbers(self, table: Mapping[str, Any], names: str) -> list[int]:
        """Numbers of a layer that must be positive; 0 for those that are left out or null."""
        found = [0 if table.get(name) is None else integer(table[name]) for name in names.split()]
        given = [x for name, x in zip(names.split(), found, strict=True) if table.get(name) is not None]
        form(min(given, default=1) >= 1, "a number of the layer is not possible")
        return found

    def see(self, found: Mapping[str, Any]) -> str:
        """Check the minor and the orbit."""
        sizes = {name: prod(shape) for name, shape in self.shapes.items()}
        form(sum(sizes.values()) <= COORDINATES, "it is about too large a layer")
        given = fields(found["weights"], " ".join(sizes))
        self.at = {
            name: self._array(sparse(given[name], *((1, n) for n in shape)), shape)
            for name, shape in self.shapes.items()
        }
        orbit = rank([self._vector(motion) for motion in self.motions()], PRIME)
        parameters, size = sum(sizes.values()), integer(found["dimension"])
        high = parameters - orbit
        low = self._minor(found)
        require(low == size, f"the minor has rank {low}, not {size}")
        require(low == high, f"the dimension is only known to be {low} to {high}")
        require(low == self.formula(), f"the formula gives {self.formula()}")
        return (
            f"dim M = {low} = {parameters} − {orbit}, as the formula says: a minor of size {low} of a "
            f"Jacobian is not 0, and the orbits of the group on the {parameters} parameters have dimension "
            f"at least {orbit}"
        )

    def _array(self, entries: Sparse, shape: tuple[int, ...]) -> dict[tuple[int, ...], Matrix]:
        """The matrices of an array, by the indices of the groups and heads."""
        *axes, m, n = shape
        return {
            place: [[entries.get((*place, i, j), 0) for j in range(1, n + 1)] for i in range(1, m + 1)]
            for place in product(*(range(1, size + 1) for size in axes))
        }

    def _vector(self, motion: Motion) -> Sparse:
        """A tangent vector that is given by the matrices that move."""
        return {
            (*name, i, j): x % PRIME
            for name, A in motion.items()
            for i, row in enumerate(A)
            for j, x in enumerate(row)
            if x % PRIME
        }

    def _minor(self, found: Mapping[str, Any]) -> int:
        """The rank, modulo a prime, of the rows and columns of the Jacobian that the certificate names."""
        inputs = [
            [[x.get((i, j), 0) for j in range(1, self.t + 1)] for i in range(1, self.d + 1)]
            for x in (sparse(X, (1, self.d), (1, self.t)) for X in inputs_in(found["inputs"]))
        ]
        places = [
            (name, index)
            for name, shape in self.shapes.items()
            for index in product(*(range(1, n + 1) for n in shape))
        ]
        columns = integers(found["columns"])
        form(all(1 <= n <= len(places) for n in columns), "there is no such parameter")
        rows = [tuple(integers(row)) for row in array(found["rows"])]
        bounds = (len(inputs), self.o, self.t)
        form(
            all(
                len(row) == 3 and all(1 <= n <= most for n, most in zip(row, bounds, strict=True))
                for row in rows
            ),
            "there is no such output",
        )
        require(len(rows) == len(columns), "the minor is not square")
        weights = {name: {at: {0: A} for at, A in part.items()} for name, part in self.at.items()}
        matrix = []
        for name, (*head, i, j) in (places[n - 1] for n in columns):
            part, at = weights[name], tuple(head)
            unit = [
                [int((r, c) == (i - 1, j - 1)) for c in range(len(row))] for r, row in enumerate(part[at][0])
            ]
            moving = weights | {name: part | {at: part[at] | {1: unit}}}
            derivatives = [self.values(moving, X)[1] for X in inputs]
            matrix.append([derivatives[x - 1][c - 1][token - 1] for x, c, token in rows])
        return dense_rank(matrix, PRIME)

    def motions(self) -> Iterable[Motion]:
        """Tangent vectors of the group at the weights."""
        raise NotImplementedError

    def values(self, weights: Mapping[str, Mapping[tuple[int, ...], Jet]], X: Matrix) -> Jet:
        """The output at X, modulo a prime."""
        raise NotImplementedError

    def formula(self) -> int:
        """The dimension by the theorem on docs/networks/todays-attention.md of agattn."""
        raise NotImplementedError


class Shared(Today):
    """Heads in g groups of s: X ↦ Σ_γ Σ_i O_γi P_γ X (M ∘ (K_γ X)ᵀ Q_γi X), with a mask M.

    With latents K and P read C X, and Q reads D X. With rotary positions keys and queries of token j are
    turned by R^j; R turns the k-th pair of rows by the argument of (x + iy)², where x² + y² is the k-th prime
    of this form and x > y. It turns all pairs (rotary is true), or the first p (rotary is p). A layer without
    values P has V_γ in place of O_γi P_γ, and s = 1.

    The sizes are those that heads can use, as docs/networks/todays-attention.md says: it takes a layer with
    larger ones to have the same functions, up to limits. The group, for general g of GL:

    - K → gK, Q → g⁻ᵀQ; with positions g commutes with R: a complex number for each pair of rows that is
      turned, and GL on the others;
    - P → gP, O → Og⁻¹;
    - Q_i → Σ_j g_ij Q_j, O_j → Σ_i O_i (g⁻¹)_ij inside of a group, which leaves Σ_i O_i ⊗ Q_i;
    - C → gC, K → Kg⁻¹, P → Pg⁻¹; and D → gD, Q → Qg⁻¹.
    """

    def __init__(self, found: Mapping[str, Any]) -> None:
        names = "heads value_rank kv_heads kv_latent q_latent"
        table = fields(found["layer"], "type out rank", f"{names} mask rotary skip normalization")
        super().__init__(found)
        heads, b, groups, r, rho = self.numbers(table, names)
        heads = heads or 1
        self.g = groups or heads
        form(heads % self.g == 0, "heads is no multiple of kv_heads")
        self.s, self.has_values = heads // self.g, bool(b)
        form(self.has_values or self.s == 1, "groups have no value_rank")
        form(table.get("normalization", "none") == "none", "a softmax is not checked here")
        rotary, self.latents = table.get("rotary", False), (bool(r), bool(rho))
        form(rotary is not True or self.a % 2 == 0, "an odd rank has no pairs of rows")
        self.pairs = integer(rotary) if not isinstance(rotary, bool) else self.a // 2 * rotary
        form(0 <= 2 * self.pairs <= self.a, "there are not so many pairs of rows")
        self.mask = self._mask(table.get("mask", "none"))
        given = self.a, b or self.o, r or self.d, rho or self.d, self.s
        self.a, self.b, self.r, self.rho, self.s = self._used(*given)
        self.is_smaller = given != (self.a, self.b, self.r, self.rho, self.s)
        g, s = self.g, self.s
        self.shapes = {"C": (self.r, self.d)} if self.latents[0] else {}
        self.shapes |= {"D": (self.rho, self.d)} if self.latents[1] else {}
        self.shapes |= {"K": (g, self.a, self.r), "Q": (g, s, self.a, self.rho)}
        self.shapes |= (
            {"O": (g, s, self.o, self.b), "P": (g, self.b, self.r)}
            if self.has_values
            else {"V": (g, self.o, self.r)}
        )

    def __str__(self) -> str:
        """The layer with its sizes, its mask and its positions."""
        heads = f"{self.g} group{'s' * (self.g > 1)} of {self.s} head{'s' * (self.s > 1)}"
        read = zip(self.latents, (self.r, self.rho), ("keys and values", "queries"), strict=True)
        latents = "".join(f", a latent of {n} rows for {what}" for there, n, what in read if there)
        masks = {"": "none", ", a causal mask": "causal"}
        mask = next((f for f, name in masks.items() if self.mask == self._mask(name)), ", a mask of its own")
        return (
            f"{heads}{latents}{mask}{', rotary positions' * bool(self.pairs)}; d = {self.d}, "
            f"d' = {self.o}, a = {self.a}, b = {self.b}, t = {self.t}"
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

    def _used(self, a: int, b: int, r: int, rho: int, s: int) -> tuple[int, int, int, int, int]:
        """The sizes that heads can use."""
        while True:
            before = a, b, r, rho, s
            r = min(r, self.d, self.g * (a + b)) if self.latents[0] else r
            rho = min(rho, self.d, self.g * s * a) if self.latents[1] else rho
            if self.latents[1] and not self.pairs:
                rho = min(rho, self.o * r * (r + 1) // 2)
            a, b = a if self.pairs else min(a, r, s * rho), min(b, r, s * self.o)
            b = b if self.has_values else self.o
            s = min(s, b * self.o, a * rho)
            if before == (a, b, r, rho, s):
                return before

    def _turns(self) -> Iterator[Matrix]:
        """Matrices that commute with R: complex numbers on pairs that are turned, all on the other rows."""
        size, turned = range(self.a), 2 * self.pairs
        for n, m in product(range(turned, self.a), repeat=2):
            WORK.more(self.a**2)
            yield [[int((i, j) == (n, m)) for j in size] for i in size]
        for k, (one, other) in product(range(0, turned, 2), ((1, 0), (0, 1))):
            WORK.more(self.a**2)
            pair = {(k, k): one, (k + 1, k + 1): one, (k, k + 1): -other, (k + 1, k): other}
            yield [[pair.get((i, j), 0) for j in size] for i in size]

    def motions(self) -> Iterable[Motion]:
        """The groups of K, of P, of the heads, and of the latents."""
        values, groups, heads = ("P" if self.has_values else "V"), range(1, self.g + 1), range(1, self.s + 1)

        def times(A: Matrix, B: Matrix) -> Matrix:
            return multiplied({0: A}, {0: B}, PRIME)[0]

        for n in groups:
            K, Q = self.at["K"][(n,)], [self.at["Q"][n, i] for i in heads]
            for E in self._turns():
                moved: Motion = {("Q", (n, i)): minus(times(turned(E), A)) for i, A in enumerate(Q, 1)}
                yield moved | {("K", (n,)): times(E, K)}
            if not self.has_values:
                yield {("Q", (n, 1)): Q[0], ("V", (n,)): minus(self.at["V"][(n,)])}
                continue
            P, O = self.at["P"][(n,)], [self.at["O"][n, i] for i in heads]
            for E in units(self.b):
                moved = {("O", (n, i)): minus(times(A, E)) for i, A in enumerate(O, 1)}
                yield moved | {("P", (n,)): times(E, P)}
            for i, j in product(heads, repeat=2):
                yield {("Q", (n, i)): Q[j - 1], ("O", (n, j)): minus(O[i - 1])}
        for latent, readers, size in (("C", ("K", values), self.r), ("D", ("Q",), self.rho)):
            for E in units(size) if latent in self.at else ():
                moved = {(name, n): minus(times(A, E)) for name in readers for n, A in self.at[name].items()}
                yield moved | {(latent, ()): times(E, self.at[latent][()])}

    def values(self, weights: Mapping[str, Mapping[tuple[int, ...], Jet]], X: Matrix) -> Jet:
        """The heads added up."""

        def times(one: Jet, other: Jet) -> Jet:
            return multiplied(one, other, PRIME)

        seen = times(weights["C"][()], {0: X}) if self.latents[0] else {0: X}
        asking = times(weights["D"][()], {0: X}) if self.latents[1] else {0: X}
        parts = []
        for n in range(1, self.g + 1):
            keys = transposed(self._placed(times(weights["K"][(n,)], seen)))
            read = times(weights["P" if self.has_values else "V"][(n,)], seen)
            for i in range(1, self.s + 1):
                queries = self._placed(times(weights["Q"][n, i], asking))
                Y = times(read, entrywise(times(keys, queries), {0: self.mask}))
                parts.append(times(weights["O"][n, i], Y) if self.has_values else Y)
        return summed(parts)

    def _placed(self, rows: Jet) -> Jet:
        """Keys or queries, that of token j turned by R^j."""
        found: Jet = {}
        for s, A in rows.items():
            B = [list(row) for row in A]
            for k, (cos, sin) in enumerate(rotations(self.pairs)):
                c, z = 1, 0
                for j in range(self.t):
                    x, y = A[2 * k][j], A[2 * k + 1][j]
                    B[2 * k][j], B[2 * k + 1][j] = (c * x - z * y) % PRIME, (z * x + c * y) % PRIME
                    c, z = (c * cos - z * sin) % PRIME, (c * sin + z * cos) % PRIME
            found[s] = B
        return found

    def formula(self) -> int:
        """For groups, or for one head a group behind latents; positions add a² − 2p − (a − 2p)² each."""
        d, o, g, s, a, b, r, rho = self.d, self.o, self.g, self.s, self.a, self.b, self.r, self.rho
        more = g * (a * a - 2 * self.pairs - (a - 2 * self.pairs) ** 2)
        if not any(self.latents):
            return g * (a * (d - a) + b * (d - b) + s * (a * d + b * o - s)) + more
        require(s == 1, "no theorem is known here for groups behind latents")
        b = min(b, r, o)
        heads = g * (b * (o + r - b) + a * (r + rho - a) - 1)
        return r * (d - r) + rho * (d - rho) + heads + more


def rotations(pairs: int) -> list[tuple[int, int]]:
    """Cosines and sines, modulo a prime, of the arguments of (x + iy)² for the first primes x² + y²."""
    p, found = 5, list[tuple[int, int]]()
    while len(found) < pairs:
        if all(p % q for q in range(3, isqrt(p) + 1, 2)):
            y, x = next((y, isqrt(p - y * y)) for y in range(1, p) if isqrt(p - y * y) ** 2 == p - y * y)
            found.append(((x * x - y * y) * pow(p, -1, PRIME) % PRIME, 2 * x * y * pow(p, -1, PRIME) % PRIME))
        p += 4
    return found


class State(Today):
    """Token by token y = S Q x, after the state S has taken up x, with k = K x, v = V x and a rule.

    The rules are S + v kᵀ (sum), γ S + v kᵀ (decay), (wᵀx) S + v kᵀ (scalar-gate), S diag(G x) + v kᵀ
    (diagonal-gate), S + (v − S k) kᵀ (delta), S + (wᵀx)(v − S k) kᵀ (gated-delta). More than d rows of K and
    Q give no more functions, but for a diagonal gate.

    The group: (K, Q) → (gK, g⁻ᵀQ), g diagonal with a diagonal gate and orthogonal with a delta rule;
    (Q, V) → (cQ, V/c); and with a gated delta rule (K, Q, w) → (cK, cQ, w/c²), as S becomes S/c.
    """

    RULES = ("sum", "decay", "scalar-gate", "diagonal-gate", "delta", "gated-delta")

    def __init__(self, found: Mapping[str, Any]) -> None:
        table = fields(found["layer"], "type out rank rule", "heads skip")
        super().__init__(found)
        self.rule = table["rule"]
        form(self.rule in self.RULES, "there is no such rule")
        form(self.numbers(table, "heads") in ([0], [1]), "more than one state is not checked here")
        given, d = self.a, self.d
        self.a = given if self.rule == "diagonal-gate" else min(given, d)
        self.is_smaller = self.a < given
        self.shapes = {"K": (self.a, d), "Q": (self.a, d), "V": (self.o, d)}
        gates = {"decay": ("gamma", 1, 1), "diagonal-gate": ("G", self.a, d)}
        gates |= dict.fromkeys(("scalar-gate", "gated-delta"), ("w", 1, d))
        if self.rule in gates:
            name, *shape = gates[self.rule]
            self.shapes[name] = (shape[0], shape[1])

    def __str__(self) -> str:
        """The rule with its sizes."""
        rule = next(rule for rule in self.RULES if rule == self.rule)
        return f"a state with the rule {rule}; d = {self.d}, d' = {self.o}, a = {self.a}, t = {self.t}"

    def motions(self) -> Iterable[Motion]:
        """The group of the state, and the factors."""
        at = {name: part[()] for name, part in self.at.items()}

        def times(A: Matrix, B: Matrix) -> Matrix:
            return multiplied({0: A}, {0: B}, PRIME)[0]

        for E in units(self.a, diagonal=self.rule == "diagonal-gate"):
            if "delta" in self.rule:
                E = plus(E, minus(turned(E)))
            yield {("K", ()): times(E, at["K"]), ("Q", ()): minus(times(turned(E), at["Q"]))}
        yield {("Q", ()): at["Q"], ("V", ()): minus(at["V"])}
        if self.rule == "gated-delta":
            w = [[-2 * x for x in row] for row in at["w"]]
            yield {("K", ()): at["K"], ("Q", ()): at["Q"], ("w", ()): w}

    def values(self, weights: Mapping[str, Mapping[tuple[int, ...], Jet]], X: Matrix) -> Jet:
        """One token after the other."""
        at = {name: part[()] for name, part in weights.items()}

        def times(one: Jet, other: Jet) -> Jet:
            return multiplied(one, other, PRIME)

        def diagonal(column: Jet) -> Jet:
            """The diagonal matrix of a column, or of one number for all."""
            return {
                s: [[A[i if len(A) > 1 else 0][0] * (i == j) for j in range(self.a)] for i in range(self.a)]
                for s, A in column.items()
            }

        S: Jet = {}
        outputs: list[Jet] = []
        for j in range(self.t):
            x = {0: [[row[j]] for row in X]}
            k, v = times(at["K"], x), times(at["V"], x)
            if "delta" in self.rule:
                v = summed([v, {s: minus(A) for s, A in times(S, k).items()}])
            if self.rule == "gated-delta":
                v = times(v, times(at["w"], x))
            gate = {"decay": at.get("gamma"), "scalar-gate": at.get("w"), "diagonal-gate": at.get("G")}
            if (kept := gate.get(self.rule)) is not None:
                S = times(S, diagonal(kept if self.rule == "decay" else times(kept, x)))
            S = summed([S, times(v, transposed(k))])
            outputs.append(times(S, times(at["Q"], x)))
        zero = [[0]] * self.o
        return {
            s: [
                [x for row in rows for x in row]
                for rows in zip(*(Y.get(s, zero) for Y in outputs), strict=True)
            ]
            for s in (0, 1)
        }

    def formula(self) -> int:
        """The parameters less the group of the state and the factors."""
        a, d = self.a, self.d
        pairs = 2 * a * d + d * self.o - 1
        return {
            "sum": pairs - a * a,
            "decay": pairs - a * a + 1,
            "scalar-gate": pairs - a * a + d,
            "diagonal-gate": pairs + a * d - a,
            "delta": pairs - a * (a - 1) // 2,
            "gated-delta": pairs - a * (a - 1) // 2 + d - 1,
        }[self.rule]


def _extent(found: dict[str, Any]) -> dict[str, Any]:
    """The verdict on the dimension of one layer."""
    table = found["layer"]
    kinds: Mapping[str, type[Shared | State]] = {"attention": Shared, "recurrence": State}
    form(isinstance(table, dict) and table.get("type") in kinds, "it is about no layer that is known here")
    layer = kinds[table["type"]](found)
    grouped, latent, recurrent = TODAY_CLAIMS
    name = recurrent if isinstance(layer, State) else latent if any(layer.latents) else grouped
    flaw = ""
    try:
        require(found["claim"] == name, f"the claim about such a layer is {name}")
        require(layer.t >= 2, "there is one token")
        said = f"confirmed: {layer.see(found)}."
        if layer.is_smaller:
            said += " The sizes are those that heads can use, by docs/networks/todays-attention.md."
    except Flaw as error:
        said = flaw = str(error)
    return concluded(str(layer), [stated(name, said, not flaw)], flaw, uncertified(found))


TODAY_CLAIMS = ("agattn.grouped-dimension", "agattn.latent-dimension", "agattn.recurrent-dimension")


WORDS = {True: "valid", False: "NOT VALID", None: "not checked"}


def described(result: Mapping[str, Any]) -> str:
    """What :func:`check` found, for people: a line for each claim, or one that names the flaw."""
    if not result["valid"]:
        return f"NOT VALID: {result['flaw']}."
    names = {claim["id"] for claim in result["claims"]}
    width = max(map(len, names))
    said = [f"{c['id']:{width}}  {WORDS[c['valid']]:11}  {c['reason']}" for c in result["claims"]]
    left = sorted(CLAIMS.keys() - names)
    legend = "; a stands for min(a, d), and (r_V, r_A, r) for a stratum."
    legend += f"\nNothing is said of {', '.join(left)}." if left else ""
    if names <= DEEP_CLAIMS.keys():
        legend = ". What is taken from a page of docs/ is not checked here."
    elif len(left) == len(CLAIMS):  # it is about points, or about networks
        legend = "." if names & OTHERS else "; (r_V, r_A, r) are the ranks of V, A and [V; Aᵀ]."
    if others := result.get("uncertified"):
        legend += f"\nNot certified: {', '.join(dict.fromkeys(others))}."
    return "\n".join([*said, "", f"About {result['layer']}{legend}", "The certificate is valid."])


def check(document: Any) -> dict[str, Any]:
    """Verify a certificate: whether it is valid as a whole, and the verdict on each claim.

    A claim that the document does not certify has ``valid`` None; a flaw anywhere makes all others invalid.

    Args:
        document: the JSON document, as :func:`load` gives it, or the path of its file.

    Raises:
        UnreadableError: if the document is no certificate, is malformed, or is too large.

    >>> check({"format": "agattn certificate 1"})
    Traceback (most recent call last):
    ...
    agattn.checker.UnreadableError: a key is missing: about, d, d_out, a, dimension, strata, claims
    """
    document = read(document) if isinstance(document, str | os.PathLike) else document
    if not (isinstance(document, Mapping) and document.get("format") in [*FORMATS]):
        raise UnreadableError(f"it is not a certificate of the format {FORMAT!r}")
    WORK.done = 0
    verdict, required, optional = FORMATS[document["format"]]
    try:
        found = fields(dict(document), f"format about {required}", optional)
        text(found["about"])
        return verdict(found)
    except UnreadableError:
        raise
    except MALFORMED as error:
        raise UnreadableError("it does not have the form of a certificate") from error


def _checked(found: dict[str, Any]) -> dict[str, Any]:
    """The verdict on each claim of a certificate, all of which are read before anything is computed."""
    records = [_record(record) for record in array(found["claims"])]
    names = [record["id"] for record in records]
    form(len(set(names)) == len(names), "a claim occurs twice")
    layer, flaw = "", ""
    try:
        facts = Facts(found)
        layer = f"{facts.layer}, t ≥ 2"
        results = [_claim(facts, record) for record in records]
    except Flaw as error:
        flaw = str(error)
        results = [stated(record["id"], flaw, False) for record in records if "verdict" in record]
    return concluded(layer, results, flaw, uncertified(found))


def _record(record: Any) -> dict[str, Any]:
    """What a certificate says of one claim, if it has the form of that."""
    form(isinstance(record, dict) and isinstance(record.get("id"), str), "a claim has no id")
    name = record["id"]
    form(name in CLAIMS or name in OTHERS, "a claim is none of those that are known here")
    if "certificate" in record:
        found = fields(record, "id certificate reason")
        form(found["certificate"] is None, f"{name} has another certificate than null")
        text(found["reason"])
        return found
    form(name in CLAIMS, f"{name} is not a claim that can be certified")
    found = fields(record, "id verdict fails_at" + (" degree" if name == "agattn.degree" else ""))
    form(found["verdict"] in ("confirmed", "refuted"), f"{name} has no verdict")
    found["fails_at"] = [tuple(integers(ranks)) for ranks in array(found["fails_at"])]
    return found


def _claim(facts: Facts, record: dict[str, Any]) -> dict[str, Any]:
    """What a certificate says of one claim, if that follows from the facts."""
    name = record["id"]
    if "verdict" not in record:
        why = (
            "a certificate of a layer holds no proof of this claim"
            if name in OTHERS
            else (
                "there is none in the file"
                if CLAIMS[name].applies(facts.layer)
                else f"its hypotheses fail for {facts.layer}"
            )
        )
        return stated(name, f"not certified: {why}", None)
    claim = CLAIMS[name]
    require(claim.applies(facts.layer), f"{name} does not apply to {facts.layer}")
    fails = claim.fails(facts)
    require(record["fails_at"] == fails, f"{name} fails at {', '.join(map(named, fails)) or 'no stratum'}")
    verdict = "refuted" if fails else "confirmed"
    require(record["verdict"] == verdict, f"{name} is {verdict}")
    if "degree" in record:
        require(integer(record["degree"]) == facts.degree(), f"the degree is {facts.degree()}")
    return stated(name, f"{verdict}: {claim.statement(facts)}.{_where(facts, fails)}")


def _where(facts: Facts, fails: list[Ranks]) -> str:
    """The orbits at which a statement fails, with what is known of their tangent spaces."""
    if not fails:
        return ""
    spaces = [(f"≥ {lower}" if lower < upper else f"{lower}") for lower, upper in map(facts.space, fails)]
    there = f"dim M̄ = {facts.dimension} and dim T_p M̄ = {', '.join(spaces)}".replace("= ≥", "≥")
    return f" It fails at {', '.join(map(named, fails))}. There {there}."


#: For each format what gives the verdict, and the keys beside "format" and "about": required and optional.
FORMATS: Mapping[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str, str]] = {
    FORMAT: (_checked, "d d_out a dimension strata claims", "uncertified"),
    LEARNING: (_learned, "d d_out a head points", ""),
    HEADS: (_not_closed, "d d_out a h y heads obstruction", "uncertified"),
    DEEP: (_deep, "dims ranks", "zeros limit boundary critical singular uncertified"),
    TODAY: (_extent, "claim layer d t weights inputs columns rows dimension", "uncertified"),
}


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
