"""Sparse polynomials over ℚ and 𝔽_p, as exponent vectors with exact coefficients.

The arithmetic is FLINT's (python-flint's ``fmpq_mpoly`` and ``nmod_mpoly``); this module adds indexed
variables such as A_{1,2}, and printing in the syntax of Macaulay2, Singular and LaTeX.

>>> ring = PolynomialRing([Variable("A", (1, 2)), Variable("V", (1,))])
>>> A, V = ring.gens
>>> f = 3 * A**2 * V - V / 2
>>> print(f)
3*A_(1,2)^2*V_1 - 1/2*V_1
>>> f.singular()
'3*A(1)(2)^2*V(1)-1/2*V(1)'
>>> f.derivative(A)
6*A_(1,2)*V_1

Expressions of sympy, read by their structure and never by their text.

>>> import sympy
>>> from agattn.algebra.polynomial import PolynomialRing
>>> x, y = sympy.symbols("x y")
>>> f = evaluate((x + y) ** 2 / 2 - x * y, dict(zip((x, y), PolynomialRing(["x", "y"]).gens)))
>>> f
1/2*x^2 + 1/2*y^2

The other way, ``sympy.sympify`` takes polynomials and equations:

>>> sympy.sympify(f) == x**2 / 2 + y**2 / 2
True
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from itertools import combinations
from operator import add, mul
from typing import Any, NamedTuple

import flint

from agattn.algebra.echelon import fraction, primitive, rational_matrix
from agattn.errors import InputError

Exponents = tuple[int, ...]
Coefficient = Fraction | int


class Variable(NamedTuple):
    """An indexed variable, such as V_{1,2} with letter ``"V"`` and indices ``(1, 2)``, counted from 1."""

    letter: str
    indices: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name as an identifier.

        >>> Variable("y", (1, 1, 1, 2)).name
        'y_1_1_1_2'
        """
        return "_".join([self.letter, *map(str, self.indices)])

    def macaulay2(self) -> str:
        """The name as Macaulay2 reads it: ``y_(1,1,1,2)``, ``x_1`` or ``x``."""
        if not self.indices:
            return self.letter
        inner = ",".join(map(str, self.indices))
        return f"{self.letter}_({inner})" if len(self.indices) > 1 else f"{self.letter}_{inner}"

    def singular(self) -> str:
        """The name as Singular reads it: ``y(1)(1)(1)(2)``."""
        return self.letter + "".join(f"({i})" for i in self.indices)

    def latex(self) -> str:
        """The name in LaTeX: ``y_{1,1,1,2}``."""
        return f"{self.letter}_{{{','.join(map(str, self.indices))}}}" if self.indices else self.letter


class PolynomialRing:
    """The polynomial ring ℚ[x_1, ..., x_n], or 𝔽_p[x_1, ..., x_n] when ``characteristic`` is a prime p.

    Two rings are equal when their variables and characteristics are.
    """

    def __init__(self, variables: Iterable[Variable | str], characteristic: int = 0) -> None:
        self.variables = tuple(v if isinstance(v, Variable) else Variable(v) for v in variables)
        self.characteristic = characteristic
        names = tuple(v.name for v in self.variables)
        if len(set(names)) != len(names):
            raise ValueError("two variables of a polynomial ring have the same name")
        context: Any = flint.nmod_mpoly_ctx if characteristic else flint.fmpq_mpoly_ctx
        options = {"modulus": characteristic} if characteristic else {}
        self._context = context.get(names, ordering=flint.Ordering.degrevlex, **options)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PolynomialRing):
            return NotImplemented
        return self.variables == other.variables and self.characteristic == other.characteristic

    def __hash__(self) -> int:
        return hash((self.variables, self.characteristic))

    def __repr__(self) -> str:
        field = f"ZZ/{self.characteristic}" if self.characteristic else "QQ"
        return f"{field}[{', '.join(v.macaulay2() for v in self.variables)}]"

    def __len__(self) -> int:
        return len(self.variables)

    @cached_property
    def gens(self) -> tuple[Polynomial, ...]:
        """The variables as polynomials, in order."""
        return tuple(Polynomial(self, g) for g in self._context.gens())

    def zero(self) -> Polynomial:
        return self.from_terms({})

    def one(self) -> Polynomial:
        return self.from_terms({(0,) * len(self): 1})

    def from_terms(self, terms: Mapping[Exponents, Coefficient]) -> Polynomial:
        """The polynomial with these coefficients, keyed by exponent vectors of length ``len(self)``.

        Raises:
            ValueError: if an exponent vector has the wrong length or a negative entry.
        """
        for exponents in terms:
            if len(exponents) != len(self) or min(exponents, default=0) < 0:
                raise ValueError(f"{exponents} is not an exponent vector of a ring in {len(self)} variables")
        return Polynomial(
            self, self._context.from_dict({e: self._coefficient(c) for e, c in terms.items() if c})
        )

    def _coefficient(self, value: Coefficient) -> Any:
        if p := self.characteristic:
            return value.numerator * pow(value.denominator, -1, p) % p
        return flint.fmpq(value.numerator, value.denominator)


class Polynomial:
    """An element of a :class:`PolynomialRing`; immutable.

    Supports ``+ - * **``, division by a nonzero number, evaluation by calling it with one value per variable,
    and ``==``. Numbers may be ints and Fractions; never floats.
    """

    __slots__ = ("_poly", "ring")

    def __init__(self, ring: PolynomialRing, poly: Any) -> None:
        self.ring = ring
        self._poly = poly

    @property
    def terms(self) -> dict[Exponents, Coefficient]:
        """Nonzero coefficients by exponent vector: Fractions over ℚ, ints in [0, p) over 𝔽_p."""
        exact: Callable[[Any], Coefficient] = int if self.ring.characteristic else fraction
        return dict(zip(self._exponents(), map(exact, self._poly.coeffs()), strict=True))

    @property
    def integer_terms(self) -> dict[Exponents, int]:
        """Nonzero coefficients by exponent vector, of a polynomial with whole coefficients.

        Raises:
            ValueError: if a coefficient is no whole number.

        >>> [x] = PolynomialRing([Variable("x")]).gens
        >>> (2 * x**2 - 1).integer_terms
        {(2,): 2, (0,): -1}
        """
        coefficients = self._poly.coeffs()
        if not self.ring.characteristic:
            if any(c.q != 1 for c in coefficients):
                raise ValueError(f"{self} has a coefficient that is no whole number")
            coefficients = [c.p for c in coefficients]
        return dict(zip(self._exponents(), map(int, coefficients), strict=True))

    @property
    def flint_terms(self) -> tuple[list[Any], list[Any]]:
        """The exponent vectors and the coefficients, both in numbers of FLINT."""
        return self._poly.monoms(), self._poly.coeffs()

    def _exponents(self) -> list[Exponents]:
        """The exponent vectors, in the order of the coefficients; FLINT's ``to_dict`` takes twice as long."""
        return [tuple(map(int, exponents)) for exponents in self._poly.monoms()]

    @property
    def leading_exponents(self) -> Exponents:
        """The exponent vector of the leading monomial (degrevlex); of a polynomial that is not 0."""
        return tuple(map(int, self._poly.monoms()[0]))

    @property
    def constant(self) -> Coefficient:
        """The constant term: a Fraction over ℚ, an int in [0, p) over 𝔽_p."""
        value = self._poly[(0,) * len(self.ring)]
        return int(value) if self.ring.characteristic else fraction(value)

    def degree(self) -> int:
        """The total degree; −1 for the zero polynomial."""
        return int(self._poly.total_degree()) if self else -1

    def derivative(self, variable: Polynomial) -> Polynomial:
        """The partial derivative by one of the ring's variables."""
        return Polynomial(self.ring, self._poly.derivative(self.ring.gens.index(variable)))

    def primitive(self) -> Polynomial:
        """Over ℚ: the multiple with coprime integer coefficients and a positive leading one (degrevlex)."""
        if self.ring.characteristic or not self:
            return self
        coefficients = self._poly.coeffs()
        scale = fraction(primitive(coefficients)[0] / coefficients[0])
        return self * (scale if coefficients[0] > 0 else -scale)

    def factors(self) -> list[tuple[Polynomial, int]]:
        """The irreducible factors over the field with their exponents, without constants; nonzero.

        >>> x, y = PolynomialRing(["x", "y"]).gens
        >>> sorted((str(p), e) for p, e in (2 * x**2 * y + 2 * x**2).factors())
        [('x', 2), ('y + 1', 1)]
        """
        return [(Polynomial(self.ring, p), int(e)) for p, e in self._poly.factor()[1]]

    def compose(self, images: Sequence[Polynomial]) -> Polynomial:
        """Substitute ``images[i]``, all from one ring, for the i-th variable."""
        if len(images) != len(self.ring):
            raise ValueError(f"{len(images)} images for {len(self.ring)} variables")
        target = images[0].ring
        return Polynomial(target, self._poly.compose(*(g._poly for g in images), ctx=target._context))

    def __call__(self, *values: Coefficient) -> Coefficient:
        """Evaluate at one value per variable."""
        if len(values) != len(self.ring):
            raise ValueError(f"{len(values)} values for {len(self.ring)} variables")
        value = self._poly(*map(self.ring._coefficient, values))
        return int(value) if self.ring.characteristic else fraction(value)

    def _lift(self, other: object) -> Any:
        if isinstance(other, Polynomial):
            if other.ring is not self.ring and other.ring != self.ring:
                raise ValueError(f"polynomials of different rings: {self.ring} and {other.ring}")
            return other._poly
        if isinstance(other, (int, Fraction)):
            return self.ring._coefficient(other)
        return None

    def _binary(self, other: object, operation: Callable[[Any, Any], Any]) -> Polynomial:
        lifted = self._lift(other)
        return NotImplemented if lifted is None else Polynomial(self.ring, operation(self._poly, lifted))

    def __add__(self, other: Polynomial | Coefficient) -> Polynomial:
        return self._binary(other, operator.add)

    def __sub__(self, other: Polynomial | Coefficient) -> Polynomial:
        return self._binary(other, operator.sub)

    def __rsub__(self, other: Coefficient) -> Polynomial:
        return -self + other

    def __mul__(self, other: Polynomial | Coefficient) -> Polynomial:
        return self._binary(other, operator.mul)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, number: Coefficient) -> Polynomial:
        return self * (Fraction(1) / Fraction(number))

    def __neg__(self) -> Polynomial:
        return Polynomial(self.ring, -self._poly)

    def __pow__(self, exponent: int) -> Polynomial:
        return Polynomial(self.ring, self._poly**exponent)

    def __bool__(self) -> bool:
        return not self._poly.is_zero()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Polynomial):
            return self.ring == other.ring and bool(self._poly == other._poly)
        if isinstance(other, (int, Fraction)):
            return self.terms == self.ring.from_terms({(0,) * len(self.ring): other}).terms
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.ring, len(self), tuple(map(int, self._poly.degrees()))))

    def __repr__(self) -> str:
        return self.macaulay2()

    def __len__(self) -> int:
        return len(self._poly)

    def macaulay2(self) -> str:
        """The polynomial in Macaulay2's syntax."""
        return self._format(Variable.macaulay2, "^{}")

    def singular(self) -> str:
        """The polynomial in Singular's syntax."""
        return self._format(Variable.singular, "^{}").replace(" ", "")

    def python(self) -> str:
        """The polynomial as a Python expression in the names of its variables."""
        return self._format(lambda v: v.name, "**{}")

    def latex(self) -> str:
        """The polynomial in LaTeX."""
        return self._format(Variable.latex, "^{{{}}}", " ")

    def _sympy_(self) -> Any:
        """The expanded expression, in symbols named as the variables, for ``sympy.sympify``.

        >>> import sympy
        >>> x, y = PolynomialRing(["x", "y"]).gens
        >>> sympy.factor(x**2 - y**2)
        (x - y)*(x + y)
        """
        import sympy

        symbols = [sympy.Symbol(variable.name) for variable in self.ring.variables]
        terms = {key: sympy.Rational(c.numerator, c.denominator) for key, c in self.terms.items()}
        return sympy.Poly.from_dict(terms, *symbols, domain="QQ").as_expr()

    def _repr_latex_(self) -> str:
        """The polynomial in a notebook."""
        return f"${self.latex()}$"

    def _format(self, show: Callable[[Variable], str], power: str, times: str = "*") -> str:
        pieces: list[str] = []
        for exponents, coefficient in self.terms.items():
            factors = [
                show(v) + (power.format(e) if e > 1 else "")
                for v, e in zip(self.ring.variables, exponents, strict=True)
                if e
            ]
            size = abs(coefficient)
            if size != 1 or not factors:
                factors.insert(0, str(size))
            sign = ("- " if coefficient < 0 else "+ ") if pieces else "-" if coefficient < 0 else ""
            pieces.append(sign + times.join(factors))
        return " ".join(pieces) or "0"


def all_minors(rows: Sequence[Sequence[Polynomial]], size: int) -> Iterator[Polynomial]:
    """The minors of a matrix of polynomials, row by row, zeros among them; of size 1 at least.

    >>> x, y = PolynomialRing(["x", "y"]).gens
    >>> list(all_minors([[x, y], [y, x]], 2))
    [x^2 - y^2]
    """
    for first, *others in combinations(rows, size):
        minors: dict[tuple[int, ...], Polynomial] = {(n,): entry for n, entry in enumerate(first)}
        for count, row in enumerate(others, 2):  # Laplace expansion along the last row
            minors = {
                columns: sum(
                    (
                        minors[columns[:place] + columns[place + 1 :]]
                        * row[column]
                        * (-1) ** (count - 1 - place)
                        for place, column in enumerate(columns)
                        if row[column]
                    ),
                    start=row[0] * 0,
                )
                for columns in combinations(range(len(row)), count)
            }
        yield from minors.values()


def jacobian_at(polynomials: Sequence[Polynomial], point: Sequence[Coefficient]) -> Any:
    """The matrix of all derivatives at a point, a row for each polynomial, over their field: of FLINT.

    >>> x, y = PolynomialRing(["x", "y"]).gens
    >>> print(jacobian_at([x * y, x**2], (2, 3)))
    [3, 2]
    [4, 0]
    """
    rows = [[f.derivative(x)(*point) for x in f.ring.gens] for f in polynomials]
    p = polynomials[0].ring.characteristic if polynomials else 0
    if p:
        return flint.nmod_mat([[int(x) for x in row] for row in rows], p)
    return rational_matrix(rows, len(point))


def evaluate(expression: Any, values: Mapping[Any, Any]) -> Any:
    """The value of an expression, with these values in place of its symbols.

    Args:
        expression: of sympy: sums, products and whole powers of symbols and rational numbers. A float in it
            is the rational number that it stands for.
        values: by symbol; anything that has ``+``, ``*`` and ``**``, with each other and with fractions.

    Raises:
        InputError: if the expression has another part, or a symbol without a value, or is none of sympy.

    See Also:
        :class:`agattn.architectures.polynomial_map.PolynomialMap`, which takes expressions as a map.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> evaluate(x**2 / 3 + 1, {x: Fraction(1, 2)})
    Fraction(13, 12)
    >>> evaluate(sympy.sin(x), {x: 0})
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: the expression has sin(x), which is not polynomial; use + - * and ** with whole
    numbers
    """
    import sympy

    if not isinstance(expression, sympy.Expr):
        raise InputError(f"{expression!r} is no expression of sympy, but a {type(expression).__name__}")
    values_of: dict[Any, Any] = dict(values)
    waiting = [expression]
    while waiting:  # no recursion: an expression in Horner's form is as deep as its degree
        node = waiting[-1]
        if node not in values_of:
            parts = [part for part in _parts(node) if part not in values_of]
            if parts:
                waiting += parts
                continue
            values_of[node] = _combined(node, values_of)
        waiting.pop()
    return values_of[expression]


def _parts(node: Any) -> tuple[Any, ...]:
    """The expressions inside of a sum, a product or a whole power; none of a number."""
    if node.is_Add or node.is_Mul:
        return tuple(node.args)
    if node.is_Pow and node.exp.is_Integer and node.exp >= 0:
        return (node.base,)
    if node.is_Rational or (node.is_Float and node.is_finite):
        return ()
    if node.is_Symbol:
        raise InputError(f"the expression has the symbol {node}, which has no value")
    raise InputError(
        f"the expression has {node}, which is not polynomial; use + - * and ** with whole numbers"
    )


def _combined(node: Any, known: Mapping[Any, Any]) -> Any:
    """The value of an expression whose parts have values."""
    import sympy

    if node.is_Add or node.is_Mul:
        return reduce(add if node.is_Add else mul, [known[part] for part in node.args])
    if node.is_Pow:
        return known[node.base] ** int(node.exp)
    number = sympy.Rational(node)
    return Fraction(int(number.p), int(number.q))
