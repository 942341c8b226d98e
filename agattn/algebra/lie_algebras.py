r"""The structure of a Lie algebra of matrices over ℚ, from a basis: exact linear algebra on its brackets.

Over a field of characteristic 0 the radical is the orthogonal complement of [𝔤, 𝔤] under the Killing form
(Bourbaki, Lie I.5.5), 𝔤 is reductive if it is the center, and then [𝔤, 𝔤] is semisimple. Let 𝔥 be the sum of
the center and the diagonal matrices in 𝔤. If nothing else in 𝔤 commutes with these, 𝔥 is a Cartan subalgebra:
it is abelian, and x with [x, 𝔥] ⊂ 𝔥 has no part of another weight than 0. Then the roots are read off the
places of the entries, and the simple parts off their number, their rank and their lengths.

>>> unit = lambda i, j: {(i, j): 1}
>>> print(structure([unit(i, j) for i in range(3) for j in range(3)]))
sl(3) + center of dimension 1
>>> upper = structure([unit(0, 0), unit(1, 1), unit(0, 1)])
>>> print(upper)
radical of dimension 3
>>> upper.center, upper.derived
(1, 1)
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import fraction, independent_columns, kernel_basis, rational_matrix, sparse_rows
from agattn.errors import DisagreementError

#: The entries of a square matrix that are not 0, by row and column.
Sparse = dict[tuple[int, int], int | Fraction]

_Root = tuple[int, ...]


@dataclass(frozen=True)
class Structure:
    """Dimensions of a Lie algebra and of its ideals.

    Attributes:
        dimension: its own.
        center: of its center.
        derived: of [𝔤, 𝔤].
        radical: of its largest solvable ideal.
        simple: the simple parts of 𝔤 modulo its radical where the diagonal matrices in 𝔤 and its center
            span a Cartan subalgebra and 𝔤 is reductive; else ``None``.
    """

    dimension: int
    center: int
    derived: int
    radical: int
    simple: tuple[str, ...] | None

    def __str__(self) -> str:
        if not self.derived:
            return f"abelian of dimension {self.dimension}" if self.dimension else "0"
        semisimple = self.dimension - self.radical
        parts = [f"semisimple part of dimension {semisimple}"] if semisimple else []
        parts = [*self.simple] if self.simple is not None else parts
        if self.radical:
            word = "center" if self.radical == self.center else "radical"
            parts.append(f"{word} of dimension {self.radical}")
        return " + ".join(parts)


def bracket(A: Sparse, B: Sparse) -> Sparse:
    """AB − BA.

    >>> bracket({(0, 1): 1}, {(1, 0): 2})
    {(0, 0): 2, (1, 1): -2}
    """
    total: Sparse = {}
    for left, right, sign in ((A, B, 1), (B, A, -1)):
        rows: dict[int, list[tuple[int, int | Fraction]]] = {}
        for (i, j), x in right.items():
            rows.setdefault(i, []).append((j, x))
        for (i, j), x in left.items():
            for k, y in rows.get(j, ()):
                total[i, k] = total.get((i, k), 0) + sign * x * y
    return {place: x for place, x in total.items() if x}


class Span:
    """The span of independent sparse matrices, which finds coordinates exactly.

    Raises:
        ValueError: if the matrices are dependent.

    >>> span = Span([{(0, 0): 1}, {(0, 1): 2, (1, 1): 1}])
    >>> span.coordinates({(0, 1): 1, (1, 1): Fraction(1, 2)}), span.coordinates({(1, 1): 1})
    ([Fraction(0, 1), Fraction(1, 2)], None)
    """

    def __init__(self, basis: Sequence[Sparse]) -> None:
        self.basis = basis
        places = sorted({place for B in basis for place in B})
        scaled = ((B, _scale(B)) for B in basis)
        whole = flint.fmpz_mat([[int(B.get(q, 0) * x) for q in places] for B, x in scaled] or [[]])
        self.places = [places[k] for k in independent_columns(whole)] if basis else []
        if len(self.places) < len(basis):
            raise ValueError("the matrices are dependent")
        square = rational_matrix([[B.get(q, 0) for q in self.places] for B in basis], len(basis))
        self._inverse = square.inv() if basis else square

    def coordinates(self, B: Sparse) -> list[Fraction] | None:
        """The coordinates of a matrix in the basis; ``None`` if it is not in the span."""
        row = rational_matrix([[B.get(q, 0) for q in self.places]], len(self.places)) * self._inverse
        x = [fraction(row[0, k]) for k in range(len(self.basis))]
        rest = dict(B)
        for c, part in zip(x, self.basis, strict=True):
            for place, entry in part.items() if c else ():
                rest[place] = rest.get(place, 0) - c * entry
        return None if any(rest.values()) else x


def structure(basis: Sequence[Sparse]) -> Structure:
    """The structure of the Lie algebra with this basis.

    Raises:
        DisagreementError: if the bracket of two of the matrices is not in their span.
    """
    if not basis:
        return Structure(0, 0, 0, 0, ())
    n, span = len(basis), Span(basis)
    ad = np.zeros((n, n, n), dtype=object)  # [x_a, x_b] = Σ_c ad[a, b, c] x_c
    for (a, A), (b, B) in itertools.combinations(enumerate(basis), 2):
        if product := bracket(A, B):
            if (x := span.coordinates(product)) is None:
                raise DisagreementError(f"the bracket of generators {a} and {b} is not in the Lie algebra")
            ad[a, b] = x
            ad[b, a] = [-entry for entry in x]
    scale = lcm(*(x.denominator for x in ad.flat))
    ad = np.frompyfunc(lambda x: int(x * scale), 1, 1)(ad)
    # No number below is above (n · largest)³: the products of brackets with the Killing form.
    ad = ad.astype(np.int64 if n * int(np.abs(ad).max()) < 2**21 else object)
    killing = ad.reshape(n, -1) @ ad.swapaxes(1, 2).reshape(n, -1).T
    brackets = _distinct(ad.reshape(-1, n))
    center = n - _rank(_distinct(ad.reshape(n, -1).T))
    radical = n - _rank(brackets @ killing if len(brackets) else brackets)
    simple = _simple_parts(basis, center) if radical == center else None
    return Structure(n, center, _rank(brackets), radical, simple)


def _scale(B: Sparse) -> int:
    return lcm(*(x.denominator for x in B.values()))


def _distinct(rows: Any) -> Any:
    kept = sorted({row for row in map(tuple, rows.tolist()) if any(row)})
    return np.array(kept, dtype=rows.dtype).reshape(-1, rows.shape[1])


def _rank(rows: Any) -> int:
    matrix = rows.tolist()
    return int(flint.fmpz_mat(matrix).rank()) if matrix and matrix[0] else 0


def _simple_parts(basis: Sequence[Sparse], center: int) -> tuple[str, ...] | None:
    """The simple parts of a reductive Lie algebra whose center has some dimension, by name."""
    diagonal = _diagonal(basis)
    weights: dict[_Root, list[Sparse]] = {}
    for B in basis:  # each part of one weight is in the Lie algebra too
        parts: dict[_Root, Sparse] = {}
        for (i, j), x in B.items():
            weight = tuple(int(H.get((i, i), 0) - H.get((j, j), 0)) for H in diagonal)
            parts.setdefault(weight, {})[i, j] = x
        for weight, part in parts.items():
            weights.setdefault(weight, []).append(part)
    sizes = {weight: int(sparse_rows(parts, flint.fmpq_mat).rank()) for weight, parts in weights.items()}
    zero = (0,) * len(diagonal)
    roots = {weight for weight in sizes if weight != zero}
    # The roots vanish on just the diagonal matrices in the center.
    if sizes.get(zero, 0) != center + _rank(np.array(sorted(roots))) or any(
        sizes[root] != 1 for root in roots
    ):
        return None
    names: list[str] = []
    while roots:
        component = {next(iter(roots))}
        while more := {b for b in roots - component if _touches(b, component, roots)}:
            component |= more
        roots -= component
        if (name := _named(component)) is None:
            return None
        names.append(name)
    return tuple(sorted(names, key=lambda name: (int(name[3:-1]), name)))


def _touches(b: _Root, component: set[_Root], roots: set[_Root]) -> bool:
    """Whether a root is in the component of some roots: its sum or difference with one is a root, or 0."""
    return any(_sum(b, a, sign) in roots or not any(_sum(b, a)) for a in component for sign in (1, -1))


def _diagonal(basis: Sequence[Sparse]) -> list[Sparse]:
    """A basis, over ℤ, of the diagonal matrices in the span."""
    off = sorted({(i, j) for B in basis for i, j in B if i != j})
    combinations = kernel_basis(rational_matrix([[B.get(q, 0) for B in basis] for q in off], len(basis)))
    result = []
    for x in combinations:
        total: Sparse = {}
        for c, B in zip(map(fraction, x), basis, strict=True):
            for place, entry in B.items() if c else ():
                total[place] = total.get(place, 0) + c * entry
        result.append({place: entry * _scale(total) for place, entry in total.items() if entry})
    return result


def _sum(a: _Root, b: _Root, sign: int = 1) -> _Root:
    return tuple(x + sign * y for x, y in zip(a, b, strict=True))


def _named(roots: set[_Root]) -> str | None:
    """The split simple Lie algebra with this irreducible root system; ``None`` if it is exceptional."""
    rank, number = int(flint.fmpz_mat([list(root) for root in roots]).rank()), len(roots)

    def multiple(a: _Root, b: _Root) -> int:
        """⟨b, a^∨⟩, from the string of roots b + ka."""
        steps = [0, 0]
        for side, sign in enumerate((-1, 1)):
            at = _sum(b, a, sign)
            while at in roots:
                steps[side] += 1
                at = _sum(at, a, sign)
        return steps[0] - steps[1]

    pairs = [(a, b) for a, b in itertools.permutations(roots, 2) if any(_sum(a, b))]
    strings = Counter(a for a, b in pairs if abs(multiple(a, b)) == 2)  # by short roots a
    if number == rank * (rank + 1) and not strings:
        return f"sl({rank + 1})"
    if number == 2 * rank * (rank - 1) and not strings and rank > 3:
        return f"so({2 * rank})"
    if number == 2 * rank * rank and strings:
        short = len(strings)
        return f"so({2 * rank + 1})" if short == 2 * rank and rank > 2 else f"sp({2 * rank})"
    return None
