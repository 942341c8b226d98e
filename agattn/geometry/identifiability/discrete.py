r"""Finite groups that leave a model as it is: permutations of heads or neurons, roots of unity, reflections.

A search for Lie algebras finds connected groups only. What the contractions of a model show beyond these:

- *permutations*: an axis of arrays along which no index is told from another one, by the input, a constant,
  an index or the output, such as the axis of the heads. Permuting all arrays along the axis changes nothing.
- *roots*: factors of entries solve the linear equations E·u = 0 for exponents u, if they are powers of one
  number. Factors that are roots of unity e^{2πiu} need E·u to be whole numbers only. With the Smith form
  UEW = D the solutions are u = Wv with v_k in ℤ/D_k, or any v_k where D_k = 0: a torus, times a finite
  group of order ∏ D_k. Signs are the roots of order 2; over ℝ there are no others.
- *reflections*: O(n) has two components.

>>> from agattn.architectures import DeepNetwork, Network, Perceptron
>>> for found in discrete_symmetries(Network([Perceptron([2, 1], degree=2)], dim=2)):
...     print(found)
permutations of 2 on W_1_1, W_1_2
>>> print(*discrete_symmetries(DeepNetwork((2, 2), (1,), t=2, heads=3)))
permutations of 3 on K_1, Q_1, V_1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import factorial
from typing import Literal

import flint
import numpy as np

from agattn.algebra.arithmetic import Array, ModularArithmetic
from agattn.algebra.gradings import Monomial
from agattn.algebra.residues import random_prime, random_residues
from agattn.architectures import Architecture, draw_parameters
from agattn.architectures.contractions import (
    Contractions,
    Cut,
    Exponents,
    Node,
    contractions,
    cuts,
)
from agattn.errors import TooLargeError
from agattn.geometry.dimension.lie_algebra import MAX_TOKENS, at_monomials
from agattn.limits import limits
from agattn.sheet.result import Key, Positive, Result, key

Arrays = Mapping[str, Array]
#: Exponents of more entries are not searched for roots of unity.
MOST_EXPONENTS = 200
#: A prime with roots of unity of so large an order is found in seconds.
MOST_ROOTS = 50_000


class DiscreteSymmetry(Result):
    """A finite group that leaves the function as it is, beyond the connected groups.

    Attributes:
        generators: functions of arrays modulo a prime p; p − 1 is a multiple of ``root``.
    """

    name: Key[
        Literal["permutations", "roots", "reflections"],
        "`permutations` of heads or neurons, `roots` of unity as factors, `reflections` of a group O(n).",
    ]
    arrays: Key[tuple[str, ...], "The arrays that the symmetry moves."]
    size: Key[Positive, "How many heads or neurons; the order of the roots; n of O(n)."]
    generators: tuple[Callable[[Arrays, int], dict[str, Array]], ...]

    @property
    def root(self) -> int:
        """The order of the roots of unity; 1 for permutations, 2 for reflections."""
        return {"permutations": 1, "roots": self.size, "reflections": 2}[self.name]

    @key
    def order(self) -> Positive:
        """The number of elements: n!, the order of the roots, or 2."""
        return {"permutations": factorial(self.size), "roots": self.size, "reflections": 2}[self.name]

    def summary(self) -> str:
        """The group, and what it moves."""
        words = {
            "permutations": f"permutations of {self.size}",
            "roots": "signs" if self.size == 2 else f"roots of unity of order {self.size}",
            "reflections": f"reflections in O({self.size})",
        }
        return f"{words[self.name]} on {', '.join(self.arrays)}"


def discrete_symmetries(architecture: Architecture) -> list[DiscreteSymmetry]:
    """The finite groups that the contractions of a model show; each leaves the function as it is.

    Where the model computes something for which contractions have no rule, roots of unity are found from the
    monomials of its outputs, for few parameters; some of these may be in a connected group.

    Raises:
        AssertionError: if one changes the function at a random point modulo a prime.
    """
    try:
        record = contractions(architecture)
    except NotImplementedError:
        return list(_roots_of_entries(architecture))
    found, split = cuts(architecture, record)
    symmetries = [
        *_permutations(architecture, record, {node for cut in found for node in cut.sides}),
        *_roots(architecture, record, split, found),
        *(_reflections(architecture, cut) for cut in found if cut.is_orthogonal),
    ]
    for symmetry in symmetries:
        assert _is_symmetry(architecture, symmetry, limits().seed), f"{symmetry} changes {architecture}"
    return symmetries


def prime_for(order: int, generator: np.random.Generator) -> int:
    """A random prime p with roots of unity of some order modulo p.

    Raises:
        TooLargeError: if the order is so large that such a prime is not found soon, or is none.
    """
    if order > MOST_ROOTS:
        raise TooLargeError(
            f"the model has symmetries by roots of unity of order {order}; they are tested up to the order"
            f" {MOST_ROOTS}. Take smaller powers"
        )
    while True:
        p = random_prime(generator)
        if p % order == 1 % order:
            return p


def _is_symmetry(architecture: Architecture, symmetry: DiscreteSymmetry, seed: int) -> bool:
    """Whether the function stays at a random point modulo a prime: a guard, the reasons are above."""
    if architecture.degree is None:
        return True
    generator = np.random.default_rng(seed)
    p = prime_for(symmetry.root, generator)
    theta = draw_parameters(architecture, lambda shape: random_residues(generator, shape, p))
    X = random_residues(generator, (1, *architecture.input_shape), p)
    arithmetic = ModularArithmetic(p)
    before = np.asarray(architecture.evaluate(arithmetic, theta, X)) % p
    moved = (g(theta, p) for g in symmetry.generators)
    return all((np.asarray(architecture.evaluate(arithmetic, one, X)) % p == before).all() for one in moved)


def _permutations(
    architecture: Architecture, record: Contractions, acted: set[Node]
) -> Iterator[DiscreteSymmetry]:
    """A group for each set of axes that run together, if no index on them is told from another one."""
    import networkx

    together = networkx.Graph()
    for one, other, _, along in record.joined:
        together.add_edge(one, other)
        together.add_edges_from(((one[0], k), (other[0], m)) for k, m in along)
    for left, right, _ in record.equations:
        by_label: dict[int, list[Node]] = {}
        for factor in (*left, *right):
            for axis, place in enumerate(factor.places):
                if place.label is not None:
                    by_label.setdefault(place.label, []).append((factor.array, axis))
        for nodes in by_label.values():
            together.add_edges_from((nodes[0], node) for node in nodes)
    shapes = architecture.shapes
    for component in networkx.connected_components(together):
        if component & (record.pinned | acted):
            continue
        sizes = {shapes[name][axis] for name, axis in component}
        if len(sizes) == 1 and (n := sizes.pop()) > 1:
            names = tuple(name for name in shapes if any(name == one for one, _ in component))
            turns = [[1, 0, *range(2, n)], [*range(1, n), 0]]
            yield DiscreteSymmetry(
                "permutations", names, n, tuple(_permuted(frozenset(component), turn) for turn in turns)
            )


def _permuted(nodes: frozenset[Node], order: Sequence[int]) -> Callable[[Arrays, int], dict[str, Array]]:
    """The arrays with their parts along some axes in another order."""

    def move(arrays: Arrays, p: int) -> dict[str, Array]:
        found = dict(arrays)
        for name, axis in nodes:
            found[name] = np.take(found[name], order, axis=axis)
        return found

    return move


def _roots(
    architecture: Architecture, record: Contractions, split: set[Node], found: Sequence[Cut]
) -> Iterator[DiscreteSymmetry]:
    """A cyclic group for each number above 1 in the Smith form of the equations for exponents."""
    exponents = Exponents(architecture.shapes, split)
    count = exponents.first[""]
    if count > MOST_EXPONENTS:
        return
    rows = (row for equation in record.equations for row in exponents.rows(*equation))
    distinct = {tuple(sorted(row.items())) for row in rows if row}
    matrix = [[int(dict(row).get(u, 0)) for u in range(count)] for row in sorted(distinct)]
    yield from _groups_of_roots(
        exponents, matrix, [_center(exponents, cut) for cut in found if cut.is_orthogonal]
    )


def _roots_of_entries(architecture: Architecture) -> Iterator[DiscreteSymmetry]:
    """The same with an exponent for each entry, by the monomials of the outputs."""
    n, shapes = architecture.parameters, architecture.shapes
    if architecture.degree is None or n > MOST_EXPONENTS or architecture.t > MAX_TOKENS:
        return
    outputs, relations, _ = at_monomials(architecture, weighted_inputs=False)
    rows = {frozenset(one.exponents.items()) for one in outputs if isinstance(one, Monomial)} | relations
    matrix = [[dict(row).get(u, 0) for u in range(n)] for row in sorted(map(sorted, rows))]
    split = {(name, k) for name, shape in shapes.items() for k in range(len(shape))}
    for symmetry in _groups_of_roots(Exponents(shapes, split), matrix, []):
        assert _is_symmetry(architecture, symmetry, 0), f"{symmetry} changes {architecture}"
        yield symmetry


def _groups_of_roots(
    exponents: Exponents, matrix: Sequence[Sequence[int]], reflected: Sequence[tuple[int, ...]]
) -> Iterator[DiscreteSymmetry]:
    """A group for each number above 1 in the Smith form; −1 in a group O(n) is left out."""
    for order, vector in torsion(matrix, exponents.first[""]):
        powers = tuple(x % order for x in vector)
        if order == 2 and powers in reflected:
            continue
        parts = dict(_by_array(exponents, powers))
        yield DiscreteSymmetry("roots", tuple(parts), order, (_multiplied(parts, order),))


def _center(exponents: Exponents, cut: Cut) -> tuple[int, ...]:
    """The exponents of −1 in O(n)."""
    powers = [0] * exponents.first[""]
    for name, _ in cut.sides:
        for unknown in range(exponents.first[name], exponents.first[name] + _size(exponents, name)):
            powers[unknown] = 1 - powers[unknown]
    return tuple(powers)


def _size(exponents: Exponents, name: str) -> int:
    return int(np.prod(exponents.sizes(name), dtype=int))


def _by_array(exponents: Exponents, powers: Sequence[int]) -> Iterator[tuple[str, Array]]:
    """Of each array that has factors their exponents, in a shape that is broadcast to that of the array."""
    for name, shape in exponents.shapes.items():
        own = np.array(
            powers[exponents.first[name] : exponents.first[name] + _size(exponents, name)], dtype=int
        )
        if own.any():
            axes = exponents.axes(name)
            yield name, own.reshape([n if k in axes else 1 for k, n in enumerate(shape)])


def _multiplied(parts: Mapping[str, Array], order: int) -> Callable[[Arrays, int], dict[str, Array]]:
    """The arrays with roots of unity as factors."""

    def move(arrays: Arrays, p: int) -> dict[str, Array]:
        root = next(r for x in range(2, p) if _has_order(r := pow(x, (p - 1) // order, p), order, p))
        found = dict(arrays)
        for name, powers in parts.items():
            factors = np.array([pow(root, int(k), p) for k in powers.ravel()], dtype=np.float64)
            found[name] = ModularArithmetic(p).times(found[name], factors.reshape(powers.shape))
        return found

    return move


def _has_order(root: int, order: int, p: int) -> bool:
    return all(pow(root, k, p) != 1 for k in range(1, order))


def _reflections(architecture: Architecture, cut: Cut) -> DiscreteSymmetry:
    """The reflection of one coordinate of a group O(n)."""
    names = tuple(name for name in architecture.shapes if any(name == one for one, _ in cut.sides))

    def move(arrays: Arrays, p: int) -> dict[str, Array]:
        found = {name: np.array(array) for name, array in arrays.items()}
        for name, axis in cut.sides:
            rows = np.moveaxis(found[name], axis, 0)
            rows[0] = (-rows[0]) % p
        return found

    return DiscreteSymmetry("reflections", names, cut.size, (move,))


def torsion(matrix: Sequence[Sequence[int]], columns: int) -> list[tuple[int, tuple[int, ...]]]:
    """The u in (ℚ/ℤ)ⁿ with Eu = 0, beyond a torus: numbers D > 1, each with a vector w, u = w/D.

    Rows and columns are combined until each row has at most one entry, on the diagonal (Smith's form; the
    entries need not divide each other here). What is done to columns is done to the unit matrix.

    >>> torsion([[2, 0], [0, 3]], 2), torsion([[1, 1]], 2), torsion([[2, -2]], 2)
    ([(2, (1, 0)), (3, (0, 1))], [], [(2, (1, 0))])
    """
    E = flint.fmpz_mat([list(row) for row in matrix] or [[0] * columns]).hnf()
    rows = [[int(E[i, j]) for j in range(columns)] for i in range(min(E.nrows(), columns))]
    W = [[int(i == j) for j in range(columns)] for i in range(columns)]
    found, at = [], 0
    while any(any(row[at:]) for row in rows[at:]):
        i, j = min(
            (
                place
                for place in product(range(at, len(rows)), range(at, columns))
                if rows[place[0]][place[1]]
            ),
            key=lambda place: abs(rows[place[0]][place[1]]),
        )
        rows[at], rows[i] = rows[i], rows[at]
        for row in (*rows, *W):
            row[at], row[j] = row[j], row[at]
        pivot = rows[at][at]
        for r in range(at + 1, len(rows)):
            q = rows[r][at] // pivot
            rows[r] = [x - q * y for x, y in zip(rows[r], rows[at], strict=True)]
        for c in range(at + 1, columns):
            q = rows[at][c] // pivot
            for row in (*rows, *W):
                row[c] -= q * row[at]
        if any(rows[r][at] for r in range(at + 1, len(rows))) or any(rows[at][at + 1 :]):
            continue  # a smaller pivot is left over
        if abs(pivot) > 1:
            found.append((abs(pivot), tuple(row[at] for row in W)))
        at += 1
    return found
