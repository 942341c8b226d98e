r"""The coefficients of any polynomial architecture, as polynomials in its parameters.

The function X ↦ φ_θ(X) is known by the coefficients of its output entries in the entries x_{i,j} of X, each
of which is a polynomial in θ. So the neuromanifold is the image of θ ↦ (f_1(θ), ..., f_N(θ)), where the f_k
are a basis of the span of all coefficients, constants aside: the other coefficients are fixed linear
combinations of these.

>>> import agattn as ag
>>> f = coefficient_map(ag.Network([ag.Perceptron([2, 1], degree=2)], dim=2))
>>> for where, polynomial in zip(f.coordinates, f.polynomials):
...     print(f"{where}: {polynomial}")
coefficient of x_(1,1)^2: w_(1,1,1,1)^2*w_(1,2,1,1) + w_(1,1,2,1)^2*w_(1,2,1,2)
coefficient of x_(1,1)*x_(2,1): 2*w_(1,1,1,1)*w_(1,1,1,2)*w_(1,2,1,1) + 2*w_(1,1,2,1)*w_(1,1,2,2)*w_(1,2,1,2)
coefficient of x_(2,1)^2: w_(1,1,1,2)^2*w_(1,2,1,1) + w_(1,1,2,2)^2*w_(1,2,1,2)
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import flint
import numpy as np
from numpy.typing import NDArray

from agattn.algebra.arithmetic import Array, RingArithmetic
from agattn.algebra.echelon import fraction, independent_columns, independent_rows, primitive
from agattn.algebra.polynomial import Exponents, Polynomial, PolynomialRing, Variable
from agattn.algebra.rank import proved_rank
from agattn.architectures import Architecture
from agattn.architectures.layered import Layered, check_arrays
from agattn.architectures.protocol import draw_parameters, has_inputs
from agattn.errors import InputError, TooLargeError, argument

#: The most terms that are expanded, their largest degree, and the most variables: ten seconds.
MOST_TERMS, MOST_DEGREE, MOST_VARIABLES = 5_000_000, 50_000, 3_000


@dataclass(frozen=True)
class Coefficient:
    """Which coefficient of φ_θ(X) a coordinate is.

    Attributes:
        row, column: of the entry of the output, counted from 1.
        exponents: of the monomial, one for each entry of X, row by row; none for a map without X, whose
            outputs are the coordinates.
        shape: of the output, and of X.
    """

    row: int
    column: int
    exponents: Exponents
    shape: tuple[tuple[int, int], tuple[int, int]]

    @property
    def monomial(self) -> str:
        """The monomial of X, such as ``"x_(1,1)^2*x_(2,1)"``; ``"1"`` for a constant term."""
        d, t = self.shape[1]
        variables = (Variable("x", (i + 1, j + 1)) for i in range(d) for j in range(t))
        powers = zip(variables, self.exponents, strict=True)
        return "*".join(f"{v.macaulay2()}{f'^{e}' if e > 1 else ''}" for v, e in powers if e) or "1"

    def __str__(self) -> str:
        (rows, columns), _ = self.shape
        place = [str(self.row)] * (rows > 1) + [str(self.column)] * (columns > 1)
        entry = f"output {','.join(place)}" if place else ""
        if not self.exponents:
            return entry or "output"
        return f"coefficient of {self.monomial}{f' in {entry}' if entry else ''}"


class Terms(NamedTuple):
    """The terms of a polynomial: exponents, a row for each, and coefficients, numbers of FLINT."""

    exponents: NDArray[Any]
    coefficients: list[Any]


@dataclass(frozen=True)
class CoefficientMap:
    """θ ↦ y: the coordinates of a neuromanifold as polynomials in the parameters.

    Attributes:
        architecture: whose they are.
        ring: ℚ[θ], with a variable for each parameter, in their order.
        coordinates: what each coordinate is.
        terms: those of each coordinate; the coordinates are independent over ℚ where the map has inputs, and
            without constant terms then.
        dependent: the number of further coefficients, which are linear combinations of these and constants.
    """

    #: Of the coordinates in print.
    letter: ClassVar[str] = "y"

    architecture: Architecture
    ring: PolynomialRing
    coordinates: tuple[Coefficient, ...]
    terms: tuple[Terms, ...] = field(compare=False, repr=False)
    dependent: int

    @cached_property
    def polynomials(self) -> tuple[Polynomial, ...]:
        """The coordinates as polynomials."""
        return tuple(
            self.ring.from_terms(
                dict(zip(map(tuple, exponents.tolist()), map(fraction, numbers), strict=True))
            )
            for exponents, numbers in self.terms
        )

    @property
    def target(self) -> PolynomialRing:
        """ℚ[y_1, ..., y_N], the polynomials on the ambient space."""
        return PolynomialRing([Variable(self.letter, (k,)) for k in range(1, len(self.coordinates) + 1)])

    def values(self, parameters: Mapping[str, Any]) -> list[Any]:
        """The coordinates at exact parameters, arrays of ints and Fractions by name."""
        flat = [x for name in self.architecture.shapes for x in np.asarray(parameters[name], object).flat]
        return [polynomial(*flat) for polynomial in self.polynomials]


def parameter_variables(architecture: Architecture) -> list[Variable]:
    """A variable for each entry of the parameters, in their order, that every engine can read.

    ``K_2`` of shape (1, 3) becomes k_(2,1,1), k_(2,1,2), k_(2,1,3). Names that are more than a letter and
    numbers, or that would meet others, get another letter; where there are more of them than letters, all
    arrays are numbered.

    >>> import agattn as ag
    >>> parameter_variables(ag.PolynomialMap(lambda gate, y: gate * y, {"gate": (), "y": ()}))
    [Variable(letter='a', indices=()), Variable(letter='b', indices=())]
    """
    lettered: dict[str, str] = {}
    numbered: dict[str, list[tuple[int, ...]]] = {}
    for name, shape in architecture.shapes.items():
        letter, *numbers = name.lower().split("_")
        plain = letter in set(_LETTERS) and name.isascii()
        if not plain or not all(number.isdecimal() for number in numbers):
            letter, numbers = "", []  # another one below
        lettered[name] = letter
        prefix = tuple(map(int, numbers))
        numbered[name] = [(*prefix, *(i + 1 for i in index)) for index in np.ndindex(shape)]
    meeting = {}
    for name, letter in lettered.items():
        same = [indices for other in lettered if lettered[other] == letter for indices in numbered[other]]
        if not letter or len(set(same)) < len(same) or len(set(map(len, same))) > 1:
            meeting[name] = tuple(np.ndindex(architecture.shapes[name]))
    free = [c for c in _LETTERS if c not in lettered.values() or c in meeting]
    if len(meeting) > len(free):
        return _by_number(architecture)
    for letter, (name, indices) in zip(free, meeting.items(), strict=False):
        lettered[name], numbered[name] = letter, [tuple(i + 1 for i in index) for index in indices]
    return [Variable(lettered[name], indices) for name in lettered for indices in numbered[name]]


#: Every engine reads these as variables: i and j are numbers somewhere, x and y have another meaning here.
_LETTERS = "abcdefghklmnopqrstuvwz"


def _by_number(architecture: Architecture) -> list[Variable]:
    """Variables where there are more arrays than letters: one letter for all arrays with as many axes.

    The first index is the number of the array among those of its letter.
    """
    letters = dict(
        zip(sorted({len(shape) for shape in architecture.shapes.values()}), _LETTERS, strict=False)
    )
    counted: Counter[int] = Counter()
    variables = []
    for shape in architecture.shapes.values():
        axes = len(shape)
        counted[axes] += 1
        variables += [
            Variable(letters[axes], (counted[axes], *(i + 1 for i in index))) for index in np.ndindex(shape)
        ]
    return variables


class _Counts(np.ndarray[Any, np.dtype[np.float64]]):
    """Numbers of terms in an array of floats; those of a difference are those of a sum."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, _Counts) else x for x in inputs]
        if ufunc is np.negative:
            return self
        counts = getattr(np.add if ufunc is np.subtract else ufunc, method)(*plain, **named)
        return np.asarray(counts).view(_Counts)


class _Counting(RingArithmetic):
    """Numbers of terms instead of scalars: every number that is not 0 counts as one."""

    def constant(self, numbers: Array) -> Array:
        """1 for each number that is not 0."""
        return (numbers != 0).astype(float).view(_Counts)

    def identity(self, n: int) -> Array:
        return np.eye(n).view(_Counts)


def number_of_terms(architecture: Architecture) -> float:
    """The number of terms of φ_θ(X) in θ and X, before like terms are collected; rounded, ``inf`` if huge.

    The architecture evaluates itself on floats that count, so that also the largest ones take seconds.

    >>> import agattn as ag
    >>> number_of_terms(ag.Network([ag.Attention(1, 1, heads=1_000_000)], dim=2, tokens=2))
    32000000.0
    """
    theta = draw_parameters(architecture, lambda shape: np.ones(shape).view(_Counts))
    X = np.ones((1, *architecture.input_shape)).view(_Counts)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = float(np.asarray(architecture.evaluate(_Counting(), theta, X), dtype=float).sum())
    return math.inf if math.isnan(terms) else terms  # of inf · 0, as a mask has it


def _check_size(architecture: Architecture, limit: float) -> None:
    for size, most, what, instead in (
        (architecture.parameters, MOST_VARIABLES, "parameters", "smaller widths"),
        (architecture.degree or 0, MOST_DEGREE, "as its degree", "smaller powers or fewer layers"),
    ):
        if size > most:
            raise TooLargeError(
                f"{architecture} has {size} {what}; the limit is {most}. Take {instead}, or use "
                f"{argument('force', True)}"
            )
    if isinstance(architecture, Layered):
        check_arrays(architecture)
    if (terms := number_of_terms(architecture)) > limit:
        raise TooLargeError(
            f"{architecture} has up to {terms:.0e} terms; the limit is {limit:.0e}. "
            f"Take fewer tokens or smaller widths, or use {argument('force', True)}"
        )


def coefficient_map(architecture: Architecture, limit: float = MOST_TERMS) -> CoefficientMap:
    """The coordinates of the neuromanifold of any polynomial architecture, expanded exactly.

    Args:
        architecture: any with inputs or without.
        limit: on the number of terms, as :func:`number_of_terms` bounds it.

    Raises:
        InputError: if the architecture is no polynomial.
        TooLargeError: if there may be more terms than ``limit``.

    >>> from agattn.architectures import SingleLayer
    >>> f = coefficient_map(SingleLayer(2, 1, t=2))
    >>> len(f.coordinates), f.dependent
    (6, 14)
    """
    if architecture.degree is None:
        raise InputError(f"{architecture} is no polynomial; leave out the normalization")
    if limit < math.inf:
        _check_size(architecture, limit)
    coefficients = _coefficients(architecture)
    inputs = has_inputs(architecture)
    kept = _independent(coefficients) if inputs else list(coefficients)
    shape = architecture.output_shape, architecture.input_shape
    return CoefficientMap(
        architecture,
        PolynomialRing(parameter_variables(architecture)),
        tuple(Coefficient(row, column, exponents, shape) for row, column, exponents in kept),
        tuple(coefficients[key] for key in kept),
        len(coefficients) - len(kept),
    )


_Key = tuple[int, int, Exponents]


class _PackedRing(PolynomialRing):
    """Polynomials in n variables of degrees below B as polynomials in one: the k-th variable is z^(B^(n−k)).

    Of one variable FLINT gives the exponents ten times as fast as of a hundred.
    """

    def __init__(self, size: int, degree: int) -> None:
        super().__init__(["z"])
        self.size = size
        self.digits = np.dtype(">u1" if degree < 1 << 8 else ">u2" if degree < 1 << 16 else ">u8")

    @cached_property
    def gens(self) -> tuple[Polynomial, ...]:
        places = reversed(range(0, 8 * self.size * self.digits.itemsize, 8 * self.digits.itemsize))
        return tuple(Polynomial(self, self._context.from_dict({(1 << place,): 1})) for place in places)

    def terms(self, polynomial: Polynomial) -> Terms:
        """The terms of one of the polynomials, larger exponents of earlier variables first."""
        width, packed = self.size * self.digits.itemsize, polynomial.flint_terms
        codes = b"".join([int(code).to_bytes(width, "big") for (code,) in packed[0]])
        return Terms(np.frombuffer(codes, self.digits).reshape(-1, self.size), packed[1])


def _coefficients(architecture: Architecture) -> dict[_Key, Terms]:
    """All coefficients that depend on θ, without their constants; of a map without X all outputs."""
    d, t = architecture.input_shape
    inputs = has_inputs(architecture)
    entries = d * t if inputs else 0
    ring = _PackedRing(entries + architecture.parameters, architecture.degree or 0)
    gens = iter(ring.gens)

    def named(shape: tuple[int, ...]) -> Array:
        return np.array([next(gens) for _ in range(math.prod(shape))], dtype=object).reshape(shape)

    X = named((1, d, t)) if inputs else np.zeros((1, d, t), dtype=object)
    theta = draw_parameters(architecture, named)
    out = np.asarray(architecture.evaluate(RingArithmetic(), theta, X))[0]
    coefficients: dict[_Key, Terms] = {}
    for row, column in np.ndindex(out.shape):
        value = out[row, column]
        exponents, numbers = ring.terms(value if isinstance(value, Polynomial) else ring.one() * value)
        if not inputs:
            coefficients[row + 1, column + 1, ()] = Terms(exponents, numbers)
            continue
        of_input, own = exponents[:, :entries], exponents[:, entries:]
        # The terms of a monomial of X are neighbours, and its constant is the last of them.
        starts = 1 + np.flatnonzero((of_input[1:] != of_input[:-1]).any(axis=1))
        for places in np.split(np.arange(len(own)), starts):
            places = places[own[places].any(axis=1)]
            if len(places):
                key = tuple(of_input[places[0]].tolist())
                coefficients[row + 1, column + 1, key] = Terms(own[places], [numbers[k] for k in places])
    return coefficients


def _independent(coefficients: Mapping[_Key, Terms]) -> list[_Key]:
    """A basis of the span, of coefficients with as few terms as possible, in their order."""
    whole: dict[_Key, tuple[list[bytes], list[int]]] = {}
    first: dict[tuple[bytes, tuple[int, ...]], _Key] = {}
    for key in sorted(coefficients, key=lambda key: len(coefficients[key].coefficients)):
        exponents, numbers = coefficients[key]
        row = primitive(numbers if numbers[0] > 0 else [-x for x in numbers])
        if first.setdefault((exponents.tobytes(), tuple(row)), key) == key:
            whole[key] = list(map(bytes, exponents)), row
    chosen: set[_Key] = set()
    for block in _blocks({key: monomials for key, (monomials, _) in whole.items()}):
        columns = {m: k for k, m in enumerate({m: None for key in block for m in whole[key][0]})}
        rows = [[0] * len(columns) for _ in block]
        for row, key in zip(rows, block, strict=True):
            for m, x in zip(*whole[key], strict=True):
                row[columns[m]] = x
        matrix = flint.fmpz_mat(rows)
        places = independent_columns(matrix.transpose())
        if len(places) < len(block) and len(places) != proved_rank(matrix):
            places = independent_rows(rows)  # the prime was unlucky
        chosen.update(block[place] for place in places)
    return [key for key in coefficients if key in chosen]


def _blocks(monomials: Mapping[_Key, list[bytes]]) -> Iterator[list[_Key]]:
    """The coefficients in groups that share no monomials, each in the order in which they are given."""
    having: defaultdict[bytes, list[_Key]] = defaultdict(list)
    for key, own in monomials.items():
        for m in own:
            having[m].append(key)
    left = dict.fromkeys(monomials)
    while left:
        waiting, group = [next(iter(left))], set()
        while waiting:
            if (key := waiting.pop()) in left:
                del left[key]
                group.add(key)
                waiting += [other for m in monomials[key] for other in having.pop(m, ())]
        yield [key for key in monomials if key in group] if len(group) > 1 else list(group)
