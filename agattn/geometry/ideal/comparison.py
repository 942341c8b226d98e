"""Whether an ideal of somebody else is the ideal of M̄, is contained in it, or is larger.

A generator that does not vanish at one point of M is outside I(M̄). One that vanishes on the parametrization,
expanded exactly, is inside. An equation g of degree n is in a homogeneous ideal J if it is a combination of
the products of degree n of monomials and generators of J: linear algebra over ℚ, one block for each set of
monomials that no product joins to the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from math import comb
from typing import Literal

import numpy as np

from agattn.algebra.echelon import sparse_rows
from agattn.algebra.polynomial import Exponents, Polynomial
from agattn.evidence import Evidence, weakest
from agattn.geometry.ideal.generation import generated_in
from agattn.geometry.ideal.ideal import Ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal
from agattn.geometry.ideal.torus_weights import generic_coordinates
from agattn.limits import limits
from agattn.sheet.data import Note, Sheet
from agattn.sheet.result import Key, Result

Relation = Literal[
    "equal", "equal so far", "contained", "larger", "not contained", "different", "not contradicted"
]
#: At so many points of M a generator is evaluated before it is expanded.
POINTS = 10
#: So many products and monomials of one degree are compared.
MOST_PRODUCTS, LARGEST_BLOCK = 100_000, 3000

_WORDS = {
    "equal": "equal: it is the ideal of M̄",
    "equal so far": "equal so far: both have the same equations to degree {degree}; I(M̄) may need more",
    "contained": "contained: all its generators vanish on M",
    "larger": "larger: it has all equations of M̄, and a generator that does not vanish on M",
    "not contained": "not contained: a generator does not vanish on M",
    "different": "different from what is known",
    "not contradicted": "nothing that is known contradicts it",
}


class IdealComparison(Result, name="comparison"):
    """How an ideal stands to the ideal of M̄."""

    relation: Key[Relation, "What the ideal is in comparison with the ideal of the closure of M."]
    evidence: Key[Evidence, "How this is known."]
    missing: Key[str | None, "The first known generator that is not in the ideal; null if there is none."]
    extra: Key[str | None, "The first generator that does not vanish on M, or what is wrong; null if none."]
    degree: int = 0  # to which the two were compared
    at: str = ""  # the point of M and the value there, for ``extra``
    open: str = ""  # why nothing was said of missing equations

    def summary(self) -> str:
        """How the two stand to each other; of an answer that is no ideal, whether it is the native one."""
        if self.relation == "equal" and not self.degree:  # of other answers than an ideal
            return "equal to what is known natively"
        return _WORDS[self.relation].format(degree=self.degree)

    def sheet(self) -> Sheet:
        """What differs, and where it does."""
        lines = [f"does not vanish on M: {self.extra}" if self.at else self.extra] if self.extra else []
        lines += [f"  {self.at}"] if self.at else []
        lines += [f"missing: {self.missing}"] if self.missing else []
        lines += [self.open] if self.open else []
        return Sheet(f"{self.summary()} ({self.evidence})", tuple(Note(line, apart=False) for line in lines))


def compare(known: Ideal | ModelIdeal, generators: Sequence[Polynomial]) -> IdealComparison:
    """Compare generators with the ideal of M̄ as it is known natively.

    Args:
        known: the ideal of M̄ up to a degree.
        generators: polynomials over ℚ in its coordinates, in their order.

    See Also:
        ``agattn read`` in a shell.

    >>> import agattn as ag
    >>> quartic = ag.ideal(ag.SingleLayer(2, 1), max_degree=4)
    >>> [f] = [equation.polynomial(quartic.ring) for equation in quartic]
    >>> compare(quartic, [f]).relation, compare(quartic, [f * f]).relation
    ('equal', 'contained')
    >>> compare(quartic, [f + f.ring.gens[0] ** 4]).relation
    'not contained'
    """
    image = _image(known)
    extra, at = _outside(generators, image)
    equations = [equation.polynomial(known.ring) for equation in known]
    missing, reason = None, ""
    try:
        missing = _first_missing(equations, generators)
    except _TooManyError as error:
        reason = str(error)
    has_all = missing is None and not reason
    if extra is not None:
        relation: Relation = "larger" if has_all and _is_complete(known) else "not contained"
    elif not has_all:
        relation = "contained"
    else:
        relation = "equal" if _is_complete(known) else "equal so far"
    return IdealComparison(
        relation,
        Evidence.PROVED if extra is not None else weakest(piece.evidence for piece in known.degrees),
        None if missing is None else missing.macaulay2(),
        None if extra is None else extra.macaulay2(),
        known.max_degree,
        at,
        reason,
    )


def _is_complete(known: Ideal | ModelIdeal) -> bool:
    """Whether no generators of higher degree are missing from what is known."""
    if known.complete_by is not None:
        return True
    bound = generated_in(known.layer) if isinstance(known, Ideal) else None
    return bound is not None and bound.degree <= known.max_degree


def _image(known: Ideal | ModelIdeal) -> list[Polynomial]:
    """The coordinates as polynomials in weights, of which M̄ is the closure of the image."""
    if isinstance(known, Ideal):
        return [generic_coordinates(known.layer)[index] for index in known.coordinates]
    one = known.source.ring.one()
    return [known.source.polynomials[index[0] - 1] if index[0] else one for index in known.coordinates]


def _outside(generators: Iterable[Polynomial], image: Sequence[Polynomial]) -> tuple[Polynomial | None, str]:
    """The first generator that does not vanish on the image, with a point of M and the value there."""
    names, draw = image[0].ring.variables, np.random.default_rng(limits().seed)
    points = []
    for _ in range(POINTS):
        weights = [int(x) for x in draw.integers(-9, 10, len(names))]
        points.append((weights, [polynomial(*weights) for polynomial in image]))
    for f in generators:
        for weights, point in points:
            if value := f(*point):
                at = ", ".join(f"{name.macaulay2()} = {x}" for name, x in zip(names, weights, strict=True))
                return f, f"it is {value} at the weights {at}"
        if f.compose(image):
            return f, "it is not 0 as a polynomial in the weights"
    return None, ""


class _TooManyError(Exception):
    """Linear algebra in too many products of one degree."""


def _first_missing(equations: Sequence[Polynomial], generators: Sequence[Polynomial]) -> Polynomial | None:
    """The first of some homogeneous equations that is not in the ideal of the generators; exact.

    Raises:
        _TooManyError: if that takes more linear algebra than is allowed, or a generator is not homogeneous.
    """
    if any(len({sum(exponents) for exponents in f.terms}) > 1 for f in generators):
        raise _TooManyError("a generator is not homogeneous: what is missing was not looked for")
    generators = [f.primitive() for f in generators if f]
    by_degree: dict[int, list[Polynomial]] = {}
    for equation in equations:
        by_degree.setdefault(equation.degree(), []).append(equation)
    for n, due in sorted(by_degree.items()):
        products = [*_products(generators, n)]
        own = _rank(products)
        if _rank([*products, *(f.integer_terms for f in due)]) > own:
            return next(f for f in due if _rank([*products, f.integer_terms]) > own)
    return None


Terms = Mapping[Exponents, int]


def _products(generators: Sequence[Polynomial], n: int) -> Iterator[Terms]:
    """All products of degree n of a monomial and a generator."""
    lower = [(n - f.degree(), f) for f in generators if f.degree() <= n]
    many = sum(comb(len(f.ring) + k - 1, k) for k, f in lower)
    if many > MOST_PRODUCTS:
        raise _TooManyError(f"{many} products of degree {n}: what is missing was not looked for")
    for k, f in lower:
        terms = f.integer_terms.items()
        for chosen in combinations_with_replacement(range(len(f.ring)), k):
            shift = [chosen.count(place) for place in range(len(f.ring))]
            yield {tuple(map(int.__add__, exponents, shift)): c for exponents, c in terms}


def _rank(rows: Sequence[Terms]) -> int:
    """The rank over ℚ of sparse rows of integers, block by block.

    >>> _rank([{(1, 0): 1, (0, 1): 1}, {(1, 0): 2, (0, 1): 2}, {(2, 0): 5}])
    2
    """
    import networkx as nx

    joined = nx.Graph()
    for n, row in enumerate(rows):
        joined.add_edges_from((n, column) for column in row)
    total = 0
    for block in nx.connected_components(joined):
        numbers = [n for n in block if isinstance(n, int)]
        if max(len(numbers), len(block) - len(numbers)) > LARGEST_BLOCK:
            raise _TooManyError("too many products of one degree: what is missing was not looked for")
        total += sparse_rows([rows[n] for n in numbers]).rank()
    return total
