"""Gradings under which a formula is homogeneous, found by following one monomial of each of its scalars.

Evaluated at the variables as :class:`Monomial`, a formula of sums and products gives for every scalar the
exponents of one of its monomials, and notes for every sum the difference of two exponents. Weights of the
variables that are 0 on all these differences make every scalar that occurs homogeneous, and so the result:
nothing is expanded, and nothing is random. (Where terms cancel there may be more such weights.)

>>> relations = set()
>>> x, y, z = (Monomial({i: 1}, relations) for i in range(3))
>>> f = x * x * y + 3 * z * z
>>> f.exponents, [sorted(relation) for relation in relations]
({0: 2, 1: 1}, [[(0, -2), (1, -1), (2, 2)]])
>>> int(homogeneous_weights(relations, 3, np.random.default_rng(0)) @ [2, 1, -2])
0
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from math import lcm
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import kernel_basis, primitive
from agattn.algebra.polynomial import Polynomial
from agattn.algebra.residues import (
    RowSpace,
    matmul,
    random_prime,
    rational_number,
    residues,
)

Relation = frozenset[tuple[int, int]]


class Monomial:
    """A scalar of a formula: the exponents of one of its monomials, by the number of the variable.

    ``relations`` collects the differences of the exponents of what is added. A number is the monomial 1;
    0 has none.
    """

    __slots__ = ("exponents", "relations")

    def __init__(self, exponents: dict[int, int], relations: set[Relation]) -> None:
        self.exponents, self.relations = exponents, relations

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Monomial):
            return self if other else 0
        product = dict(self.exponents)
        for variable, exponent in other.exponents.items():
            product[variable] = product.get(variable, 0) + exponent
        return Monomial(product, self.relations)

    def __add__(self, other: Any) -> Monomial:
        if isinstance(other, Monomial):
            added = other.exponents
        elif other:
            added = {}
        else:
            return self
        if added != self.exponents:
            both = {v: added.get(v, 0) - self.exponents.get(v, 0) for v in {**added, **self.exponents}}
            self.relations.add(frozenset((v, e) for v, e in both.items() if e))
        return self

    def __pow__(self, exponent: int) -> Any:
        if not exponent:
            return 1
        return Monomial({v: exponent * e for v, e in self.exponents.items()}, self.relations)

    def __neg__(self) -> Monomial:
        return self

    def __truediv__(self, number: Any) -> Monomial:
        return self

    __rmul__, __radd__, __sub__, __rsub__ = __mul__, __add__, __add__, __add__


def homogeneous_weights(
    relations: AbstractSet[Relation], variables: int, generator: np.random.Generator
) -> np.ndarray:
    """General integer weights of the variables that are 0 on all relations, (variables,), as int64.

    They are zero where none that are small enough were found; what is returned is checked exactly.
    """
    p = random_prime(generator)
    rows = np.zeros((len(relations), variables))
    for row, relation in zip(rows, sorted(map(sorted, relations)), strict=True):
        for variable, exponent in relation:
            row[variable] = exponent % p
    space = RowSpace(variables, p)
    space.add(rows)
    kernel = space.kernel()
    fractions = {r: rational_number(int(r), p) for r in np.unique(kernel)}
    scale = lcm(*(x.denominator for x in fractions.values() if x is not None)) % p
    free = scale * generator.integers(1 << 20, size=len(kernel))
    weights: np.ndarray = matmul(residues(free[None], p), kernel, p)[0].astype(np.int64)
    weights = np.where(weights > p // 2, weights - p, weights)
    exact = weights.tolist()
    if not any(sum(exponent * exact[v] for v, exponent in relation) for relation in relations):
        return weights
    return np.zeros(variables, dtype=np.int64)


#: Steps from the weights nearest to 1, ..., 1 to positive ones.
_STEPS = 1000


def positive_grading(polynomials: Iterable[Polynomial]) -> tuple[int, ...]:
    """Positive integer weights of the variables under which every polynomial is homogeneous.

    They are in the integer kernel of all differences of exponents: 1, ..., 1 if that is, and otherwise the
    vector nearest to it, to which the projections of units are added where it is not positive.

    Args:
        polynomials: from one ring, at least one.

    Returns:
        A weight for each variable; none if the search ended without, where almost surely there are none.

    >>> from agattn.algebra.polynomial import PolynomialRing
    >>> x, y = PolynomialRing(["x", "y"]).gens
    >>> positive_grading([x * y, x**2 + 3 * y**2]), positive_grading([x**2 + y]), positive_grading([x + 1])
    ((1, 1), (1, 2), ())
    """
    forms = list(polynomials)
    n = len(forms[0].ring)
    gram = np.zeros((n, n), dtype=object)  # with the same kernel as the differences
    for f in forms:
        exponents = np.array(list(f.terms), dtype=object).reshape(len(f), n)
        differences = exponents[1:] - exponents[:1]
        gram += differences.T @ differences
    if not gram.sum(axis=1).any():
        return (1,) * n
    if not (basis := kernel_basis(flint.fmpq_mat(n, n, gram.ravel().tolist()))):
        return ()
    K = flint.fmpq_mat(basis)
    projection = K.transpose() * (K * K.transpose()).inv() * K
    weights = flint.fmpq_mat(n, 1)
    raised = [1] * n
    for _ in range(_STEPS):
        weights += projection * flint.fmpq_mat(n, 1, raised)
        raised = [int(x <= 0) for x in weights.entries()]
        if not any(raised):
            return tuple(primitive(weights.entries()))
    return ()
