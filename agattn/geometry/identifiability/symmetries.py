r"""Symmetries of a model: proved vector fields, finite groups, and the element that connects two weights.

**Vector fields.** A linear symmetry is a matrix B with dφ(θ)·Bθ = 0 for all θ. For a function f of the
weights, those B with df(θ)·Bθ = 0 for all θ are a subalgebra. Its vector fields are in the kernel of the
differential of (φ, f), so the rank of these fields at one point bounds the rank of (φ, f) from above. The
same is true of those with df(θ)·Bθ = λf for numbers λ, in place of f up to factors. They are found by linear
algebra modulo a prime, lifted to ℚ, and proved by symbols.

>>> from agattn.architectures import SingleLayer
>>> from agattn.architectures.functions import read_function
>>> layer = SingleLayer(3, 2, 2)
>>> fields = SymmetryFields(layer, proved_symmetries(layer))
>>> product, keys = (read_function(text, layer.shapes) for text in ("K^T Q", "K"))
>>> len(fields.matrices), fields.changing(Change(product)), fields.changing(Change(keys))
(5, 4, 1)
>>> fields.changing(Change(product, np.zeros(9, dtype=int)))  # up to one factor
5

**Finite groups.** A search for Lie algebras finds connected groups only. What the contractions of a model
show beyond these:

- *permutations*: an axis of arrays along which no index is told from another one, by the input, a constant,
  an index or the output, such as the axis of the heads. Permuting all arrays along the axis changes nothing.
- *roots*: factors of entries solve the linear equations E·u = 0 for exponents u, if they are powers of one
  number. Factors that are roots of unity e^{2πiu} need E·u to be whole numbers only. With the Smith form
  UEW = D the solutions are u = Wv with v_k in ℤ/D_k, or any v_k where D_k = 0: a torus, times a finite
  group of order ∏ D_k. Signs are the roots of order 2; over ℝ there are no others.
- *reflections*: O(n) has two components.
- *exchanges*: of the two linear forms that a neuron of a bilinear layer multiplies.

>>> from agattn.architectures import Bilinear, DeepNetwork, Network, Perceptron
>>> for group in discrete_symmetries(Network([Perceptron([2, 1], degree=2)], dim=2)):
...     print(group)
permutations of 2 on W_1_1, W_1_2
>>> print(*discrete_symmetries(DeepNetwork((2, 2), (1,), t=2, heads=3)))
permutations of 3 on K_1, Q_1, V_1
>>> print(*discrete_symmetries(Network([Bilinear(2, 2)], dim=4)), sep="; ")
permutations of 2 on G_1, U_1, D_1; exchanges of 2 rows on G_1, U_1

**Connecting weights.** Which known symmetry takes one set of weights to another is found layer after layer.
Between two layers acts a group GL(n) or a factor for each neuron, and neurons can be permuted; so can the
heads of a layer, and each has its own GL(a) and a factor between A and V. Go through the layers from the
input on. Once the columns of a layer's matrices are as they must be, the group elements of its heads solve
linear equations, Q' = gQ and K' = sK; then the rows of its last matrix give the permutation and the factors
of neurons, or W' = gW the element of GL(n). Neurons of bilinear layers are told by the products of their two
forms, which are then exchanged and scaled. The product of these is applied at each step; where it ends in
the other weights exactly, it is proved that both have one function. Nothing is concluded where it does not:
symmetries that are new, rotations of rotary positions, or matrices of lower rank may be behind that.

>>> import agattn as ag
>>> from agattn.geometry.identifiability.families import ExactWeights, prime_for
>>> model = ag.Network([ag.Perceptron([2, 1], degree=3)], dim=2)
>>> one = ExactWeights(model, {"W_1_1": [[1, 2], [3, 1]], "W_1_2": [[2, 5]]})
>>> other = ExactWeights(model, {"W_1_1": [[3, 1], [-1, -2]], "W_1_2": [[5, -2]]})
>>> for step in connecting(one, other) or []:
...     print(step)
neurons 2, 1 with factors 1, −1 (W_1_1, W_1_2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import groupby
from math import factorial, inf, prod
from typing import Any, Literal

import flint
import numpy as np

from agattn.algebra.arithmetic import Array, ModularArithmetic
from agattn.algebra.echelon import primitive
from agattn.algebra.graded_ideals import Monomial
from agattn.algebra.lie_algebras import Sparse
from agattn.algebra.residues import (
    Residues,
    RowSpace,
    hadamard,
    matmul,
    nonzero_minor,
    random_prime,
    random_residues,
    rational_number,
)
from agattn.algebra.tracing import Pushed, Pushing
from agattn.architectures import Architecture, Bilinear, Network, Symmetry, draw_parameters
from agattn.architectures.contractions import Contractions, Cut, Exponents, Node, contractions, cuts
from agattn.architectures.functions import WeightFunction
from agattn.architectures.protocol import as_parameters, bounds_on_outputs
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.dimension.lie_algebra import (
    MAX_TOKENS,
    applied,
    at_monomials,
    changes_by_factors,
    linear_symmetries,
)
from agattn.geometry.dimension.symmetries import known_groups, symmetry_matrices
from agattn.geometry.identifiability.families import ExactWeights, prime_for
from agattn.geometry.identifiability.weights import change_of_basis, inverse
from agattn.limits import limits
from agattn.sheet.result import Key, Positive, Result, key

#: Models with more parameters are not searched for all linear symmetries.
MAX_SEARCHED = 120
#: Functions with more terms are not expanded, so that nothing is proved of these by symbols.
MOST_TERMS = 40_000
#: More vector fields than this are not combined.
MOST_GENERATORS = 600
# Points at which constant coefficients are sought.
_POINTS = 3
# Numbers held at a time.
_TOGETHER = 4_000_000


def derivative(f: WeightFunction, theta: Residues, tangents: Residues, p: int) -> tuple[Residues, Residues]:
    """The values of f at a point modulo p, (size,), and its derivatives along tangents, (count, size)."""
    pushing = Pushing(ModularArithmetic(p))
    at, parts = as_parameters(f, theta), []  # type: ignore[arg-type]
    value = np.asarray(f.evaluate(ModularArithmetic(p), at, None), dtype=np.float64).ravel() % p
    step = max(1, _TOGETHER // max(f.size, 1))
    for start in range(0, len(tangents), step):
        some = tangents[start : start + step]
        rows = as_parameters(f, some)  # type: ignore[arg-type]
        moved = {name: Pushed(at[name][None], rows[name][:, None], pushing) for name in rows}
        out: Any = f.evaluate(pushing, moved, None)
        parts.append(np.broadcast_to(out.tangents, (len(some), *out.value.shape)).reshape(len(some), -1) % p)
    return value, np.concatenate([np.zeros((0, f.size)), *parts])


def proved_symmetries(architecture: Architecture) -> list[Sparse]:
    """Linear symmetries that are proved: all that there are, where a search for them does not take long.

    Else those of the groups that the contractions show, or that the architecture names.
    """
    if architecture.parameters <= MAX_SEARCHED:
        with suppress(TooLargeError):
            generators = linear_symmetries(architecture, force=False).generators
            return [B.matrix for B in generators if B.evidence is Evidence.PROVED]
    return [B for group in symmetry_matrices(architecture, known_groups(architecture)) for B in group]


class SymmetryFields:
    """Linear symmetries of a model, which are proved, and their tangent vectors.

    Args:
        architecture: the model.
        matrices: B with dφ(θ)·Bθ = 0 for all θ; those that depend on others at a general point are left out.

    Attributes:
        p: a prime that divides no denominator.
        points: random weights modulo p, and ``tangents_at_points`` the tangent vectors there.
        rank: the dimension of the orbits at general weights, or less: a proved lower bound.
    """

    def __init__(self, architecture: Architecture, matrices: Sequence[Sparse]) -> None:
        generator = np.random.default_rng(limits().seed)
        self.architecture, self.matrices = architecture, list(matrices)[: 4 * MOST_GENERATORS]
        self.p = prime_for([Fraction(x) for B in self.matrices for x in B.values()], generator)
        self.points = random_residues(generator, (_POINTS, architecture.parameters), self.p)
        if len(self.matrices) > MOST_GENERATORS:
            kept = nonzero_minor(self.tangents(self.points[0]), self.p).rows
            self.matrices = [self.matrices[k] for k in kept]
        self.tangents_at_points = [self.tangents(theta) for theta in self.points]
        self.rank = RowSpace(architecture.parameters, self.p).add(self.tangents_at_points[0])

    def tangents(self, theta: Residues) -> Residues:
        """The vectors Bθ modulo the prime, (matrices, parameters)."""
        at = theta.astype(int).tolist()
        rows = np.zeros((len(self.matrices), len(theta)))
        for row, B in zip(rows, self.matrices, strict=True):
            touched = sorted({i for i, _ in B})
            number = {i: k for k, i in enumerate(touched)}
            small = {(number[i], j): x for (i, j), x in B.items()}
            row[touched] = applied(small, at, self.p, len(touched))
        return rows

    def moving(self, f: WeightFunction) -> Residues:
        """The derivatives of f along the symmetries at random weights modulo the prime, (matrices, size).

        What is not 0 there is not 0 at general weights, and the rank is at most that at general weights.
        """
        return derivative(f, self.points[0], self.tangents_at_points[0], self.p)[1]

    def changing(self, *changes: Change, most: float = inf) -> int:
        """The rank at general weights of the symmetries that are proved to change functions so, or less.

        Args:
            changes: those of the functions, by powers of the same factors.
            most: the largest rank that is of use, where the search ends.
        """
        if not self.matrices or not all(map(_is_short, (change.f for change in changes))):
            return 0
        solutions = self._solutions(changes)
        if not len(solutions):
            return 0
        g, rank = len(self.matrices), 0
        order = nonzero_minor(matmul(solutions[:, :g], self.tangents_at_points[0], self.p), self.p).rows
        for row in solutions[list(order)]:
            if rank >= most:
                break
            rank += self._is_proved(changes, row)
        return rank

    def _solutions(self, changes: Sequence[Change]) -> Residues:
        """Coefficients c, and rates λ, with Σ c_i df·B_iθ = kλf for all functions, at all points modulo p."""
        count = max(change.count for change in changes)
        space = RowSpace(len(self.matrices) + count, self.p)
        for theta, tangents in zip(self.points, self.tangents_at_points, strict=True):
            for change in changes:
                value, D = derivative(change.f, theta, tangents, self.p)
                scaled = np.zeros((change.f.size, count))
                if change.blocks is not None:
                    factor = np.float64(-change.exponent % self.p)
                    scaled[np.arange(change.f.size), change.blocks] = hadamard(value, factor, self.p)
                rows = np.concatenate([D.T, scaled], axis=1)
                space.add(rows if change.chosen is None else rows[change.chosen])
        return space.kernel()

    def _entries(self, f: WeightFunction) -> set[int]:
        """The parameters by number that a function depends on."""
        numbers = as_parameters(self.architecture, np.arange(self.architecture.parameters))
        return {int(i) for name in f.arrays for i in numbers[name].ravel()}

    def _is_proved(self, changes: Sequence[Change], solution: Residues) -> bool:
        """Whether the combination of symmetries, lifted to ℚ, changes the functions by the factors."""
        lifted = [x for x in (rational_number(int(x), self.p) for x in solution) if x is not None]
        if len(lifted) < len(solution):
            return False
        c = primitive(lifted)
        B: Sparse = {}
        for factor, matrix in zip(c, self.matrices, strict=False):
            for entry, x in matrix.items() if factor else ():
                B[entry] = B.get(entry, 0) + factor * x
        rates = c[len(self.matrices) :]
        for change in changes:
            seen = self._entries(change.f)  # what happens to other arrays does not change f
            own = {entry: x for entry, x in B.items() if x and entry[0] in seen}
            wanted = change.wanted(rates)
            if not (changes_by_factors(change.f, own, wanted) if own else not any(wanted)):
                return False
        return True


@dataclass(frozen=True)
class Change:
    """How a function may change: not at all, or by a factor for each block of entries.

    Attributes:
        f: the function.
        blocks: of each entry the number of its block; ``None`` if it must stay.
        chosen: a mask of the entries that are meant; all by default.
        exponent: k, if a block changes by the k-th power of its factor.
    """

    f: WeightFunction
    blocks: Array | None = None
    chosen: Array | None = None
    exponent: int = 1

    @property
    def count(self) -> int:
        """The number of blocks."""
        return 0 if self.blocks is None else int(self.blocks.max()) + 1

    def wanted(self, rates: Sequence[int]) -> list[int | Fraction | None]:
        """The rate of each entry for rates of the factors; ``None`` for entries that are not meant."""
        every: Array = np.zeros(self.f.size, dtype=object)
        if self.blocks is not None:
            every = np.array(rates, dtype=object)[self.blocks] * self.exponent
        return [x if self.chosen is None or self.chosen[e] else None for e, x in enumerate(every)]


def _is_short(f: WeightFunction) -> bool:
    """Whether a function has few enough terms to be expanded: with positive signs, its value at ones."""
    if f.size > MOST_TERMS:
        return False
    terms: Any = bounds_on_outputs(f).sum()  # type: ignore[arg-type]
    return bool(2**terms.log2 <= MOST_TERMS)


Arrays = Mapping[str, Array]
#: Weights to which symmetries are applied one after the other.
Moving = dict[str, Array]
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
        Literal["permutations", "roots", "reflections", "exchanges"],
        "`permutations` of heads or neurons, `roots` of unity as factors, `reflections` of a group O(n),"
        " `exchanges` of row i of one array and row i of another, for each i.",
    ]
    arrays: Key[tuple[str, ...], "The arrays that the symmetry moves."]
    size: Key[Positive, "How many heads, neurons or rows; the order of the roots; n of O(n)."]
    generators: tuple[Callable[[Arrays, int], dict[str, Array]], ...]

    @property
    def root(self) -> int:
        """The order of the roots of unity; 1 for permutations and exchanges, 2 for reflections."""
        return {"permutations": 1, "roots": self.size, "reflections": 2, "exchanges": 1}[self.name]

    @key
    def order(self) -> Positive:
        """The number of elements: n!, the order of the roots, 2, or 2ⁿ."""
        if self.name == "permutations":
            return factorial(self.size)
        return 1 << self.size if self.name == "exchanges" else self.root

    def summary(self) -> str:
        """The group, and what it moves."""
        words = {
            "permutations": f"permutations of {self.size}",
            "roots": "signs" if self.size == 2 else f"roots of unity of order {self.size}",
            "reflections": f"reflections in O({self.size})",
            "exchanges": f"exchanges of {self.size} row{'s' * (self.size > 1)}",
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
        symmetries = list(_roots_of_entries(architecture))
    else:
        cut_axes, split = cuts(architecture, record)
        symmetries = [
            *_permutations(architecture, record, {node for cut in cut_axes for node in cut.sides}),
            *_roots(architecture, record, split, cut_axes),
            *(_reflections(architecture, cut) for cut in cut_axes if cut.is_orthogonal),
        ]
    symmetries += _exchanges(architecture)
    for symmetry in symmetries:
        assert _is_symmetry(architecture, symmetry), f"{symmetry} changes {architecture}"
    return symmetries


def prime_with_roots(order: int, generator: np.random.Generator) -> int:
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


def _is_symmetry(architecture: Architecture, symmetry: DiscreteSymmetry) -> bool:
    """Whether the function stays at a random point modulo a prime: a guard, the reasons are above."""
    if architecture.degree is None:
        return True
    generator = np.random.default_rng(limits().seed)
    p = prime_with_roots(symmetry.root, generator)
    theta = draw_parameters(architecture, lambda shape: random_residues(generator, shape, p))
    X = random_residues(generator, (1, *architecture.input_shape), p)
    arithmetic = ModularArithmetic(p)
    before = np.asarray(architecture.evaluate(arithmetic, theta, X)) % p
    moved = (g(theta, p) for g in symmetry.generators)
    return all((np.asarray(architecture.evaluate(arithmetic, at, X)) % p == before).all() for at in moved)


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
            names = tuple(name for name in shapes if name in {array for array, _ in component})
            turns = [[1, 0, *range(2, n)], [*range(1, n), 0]]
            moves = tuple(partial(_permuted, frozenset(component), turn) for turn in turns)
            yield DiscreteSymmetry("permutations", names, n, moves)


def _exchanges(architecture: Architecture) -> Iterator[DiscreteSymmetry]:
    """D (G x ⊙ U x) is the same with row i of G and row i of U exchanged."""
    for step in architecture.places if isinstance(architecture, Network) else ():
        if isinstance(step.layer, Bilinear):
            G, U = (step.names[letter] for letter in "GU")
            yield DiscreteSymmetry("exchanges", (G, U), step.layer.neurons, (partial(_exchanged, G, U),))


def _exchanged(one: str, other: str, arrays: Arrays, p: int) -> dict[str, Array]:
    """The arrays with the first row of one and that of another exchanged."""
    pairs = ((one, arrays[one], arrays[other]), (other, arrays[other], arrays[one]))
    rows = {x: np.concatenate([b[..., :1, :], a[..., 1:, :]], axis=-2) for x, a, b in pairs}
    return {**arrays, **rows}


def _permuted(nodes: frozenset[Node], order: Sequence[int], arrays: Arrays, p: int) -> dict[str, Array]:
    """The arrays with their parts along some axes in another order."""
    moved = dict(arrays)
    for name, axis in nodes:
        moved[name] = np.take(moved[name], order, axis=axis)
    return moved


def _roots(
    architecture: Architecture, record: Contractions, split: set[Node], cut_axes: Sequence[Cut]
) -> Iterator[DiscreteSymmetry]:
    """A cyclic group for each number above 1 in the Smith form of the equations for exponents."""
    exponents = Exponents(architecture.shapes, split)
    count = exponents.first[""]
    if count > MOST_EXPONENTS:
        return
    rows = (row for equation in record.equations for row in exponents.rows(*equation))
    distinct = {tuple(sorted(row.items())) for row in rows if row}
    matrix = [[int(dict(row).get(u, 0)) for u in range(count)] for row in sorted(distinct)]
    centers = [_center(exponents, cut) for cut in cut_axes if cut.is_orthogonal]
    yield from _groups_of_roots(exponents, matrix, centers)


def _roots_of_entries(architecture: Architecture) -> Iterator[DiscreteSymmetry]:
    """The same with an exponent for each entry, by the monomials of the outputs."""
    n, shapes = architecture.parameters, architecture.shapes
    if architecture.degree is None or n > MOST_EXPONENTS or architecture.t > MAX_TOKENS:
        return
    outputs, relations, _ = at_monomials(architecture, weighted_inputs=False)
    monomials = {frozenset(f.exponents.items()) for f in outputs if isinstance(f, Monomial)}
    matrix = [[dict(row).get(u, 0) for u in range(n)] for row in sorted(map(sorted, monomials | relations))]
    split = {(name, k) for name, shape in shapes.items() for k in range(len(shape))}
    yield from _groups_of_roots(Exponents(shapes, split), matrix, [])


def _groups_of_roots(
    exponents: Exponents, matrix: Sequence[Sequence[int]], reflected: Sequence[tuple[int, ...]]
) -> Iterator[DiscreteSymmetry]:
    """A group for each number above 1 in the Smith form; −1 in a group O(n) is left out."""
    for order, vector in torsion(matrix, exponents.first[""]):
        powers = tuple(x % order for x in vector)
        if order == 2 and powers in reflected:
            continue
        parts = dict(_by_array(exponents, powers))
        yield DiscreteSymmetry("roots", tuple(parts), order, (partial(_multiplied, parts, order),))


def _center(exponents: Exponents, cut: Cut) -> tuple[int, ...]:
    """The exponents of −1 in O(n)."""
    powers = np.zeros(exponents.first[""], dtype=int)
    for name, _ in cut.sides:
        powers[_unknowns(exponents, name)] ^= 1
    return tuple(powers.tolist())


def _unknowns(exponents: Exponents, name: str) -> slice:
    """The exponents of one array."""
    first = exponents.first[name]
    return slice(first, first + prod(exponents.sizes(name)))


def _by_array(exponents: Exponents, powers: Sequence[int]) -> Iterator[tuple[str, Array]]:
    """Of each array that has factors their exponents, in a shape that is broadcast to that of the array."""
    for name, shape in exponents.shapes.items():
        own = np.array(powers[_unknowns(exponents, name)], dtype=int)
        if own.any():
            axes = exponents.axes(name)
            yield name, own.reshape([n if k in axes else 1 for k, n in enumerate(shape)])


def _multiplied(parts: Mapping[str, Array], order: int, arrays: Arrays, p: int) -> dict[str, Array]:
    """The arrays with roots of unity as factors."""
    roots = (pow(x, (p - 1) // order, p) for x in range(2, p))
    root = next(r for r in roots if all(pow(r, k, p) != 1 for k in range(1, order)))
    moved = dict(arrays)
    for name, powers in parts.items():
        factors = np.array([pow(root, int(k), p) for k in powers.ravel()], dtype=np.float64)
        moved[name] = ModularArithmetic(p).times(moved[name], factors.reshape(powers.shape))
    return moved


def _reflections(architecture: Architecture, cut: Cut) -> DiscreteSymmetry:
    """The reflection of one coordinate of a group O(n)."""
    sides = {name for name, _ in cut.sides}
    names = tuple(name for name in architecture.shapes if name in sides)
    return DiscreteSymmetry("reflections", names, cut.size, (partial(_reflected, cut),))


def _reflected(cut: Cut, arrays: Arrays, p: int) -> dict[str, Array]:
    """The arrays with another sign in the first place along some axes."""
    moved = {name: np.array(array) for name, array in arrays.items()}
    for name, axis in cut.sides:
        rows = np.moveaxis(moved[name], axis, 0)
        rows[0] = (-rows[0]) % p
    return moved


def torsion(matrix: Sequence[Sequence[int]], columns: int) -> list[tuple[int, tuple[int, ...]]]:
    """The u in (ℚ/ℤ)ⁿ with Eu = 0, beyond a torus: numbers D > 1, each with a vector w, u = w/D.

    Rows and columns are combined until each row has at most one entry, on the diagonal (Smith's form; the
    entries need not divide each other here). What is done to columns is done to the unit matrix.

    >>> torsion([[2, 0], [0, 3]], 2), torsion([[1, 1]], 2), torsion([[2, -2]], 2)
    ([(2, (1, 0)), (3, (0, 1))], [], [(2, (1, 0))])
    """
    hermite = flint.fmpz_mat([list(row) for row in matrix] or [[0] * columns]).hnf().tolist()
    E = np.array([list(map(int, row)) for row in hermite[: max(columns, 1)]], dtype=object)
    W = np.eye(columns, dtype=int).astype(object)
    orders, at = [], 0
    while E[at:, at:].any():
        i, j = min((np.argwhere(E[at:, at:]) + at).tolist(), key=lambda entry: abs(E[tuple(entry)]))
        E[[at, i]] = E[[i, at]]
        for M in (E, W):
            M[:, [at, j]] = M[:, [j, at]]
        pivot = E[at, at]
        E[at + 1 :] -= np.multiply.outer(E[at + 1 :, at] // pivot, E[at])
        quotients = E[at, at + 1 :] // pivot
        for M in (E, W):
            M[:, at + 1 :] -= np.multiply.outer(M[:, at], quotients)
        if E[at + 1 :, at].any() or E[at, at + 1 :].any():
            continue  # a smaller pivot is left over
        if abs(pivot) > 1:
            orders.append((abs(pivot), tuple(W[:, at].tolist())))
        at += 1
    return orders


class SymmetryStep(Result):
    """One symmetry of a product."""

    name: Key[str, "`GL(a)`, `GL(d)`, `scaling`, ...; `neurons`; `exchanges` of their two forms; or `heads`."]
    parameters: Key[tuple[str, ...], "The arrays that the symmetry moves."]
    order: Key[
        tuple[Positive, ...],
        "Of neurons and heads: where each comes from, from 1; of exchanges: in which neurons; else empty.",
    ] = ()
    matrix: Key[
        tuple[tuple[Fraction, ...], ...], "The element of GL(n), or a row of factors; exact, as text."
    ] = ()

    def summary(self) -> str:
        """The symmetry with its element, and what it moves."""
        numbers = [", ".join(str(x).replace("-", "−") for x in row) for row in self.matrix]
        parts = [", ".join(map(str, self.order))] if self.order else []
        if self.matrix:
            word = "with factors" if self.name == "neurons" else "by"
            rows = "; ".join(numbers)
            parts.append(f"{word} {rows if len(numbers) == 1 else f'({rows})'}")
        return f"{self.name} {' '.join(parts)} ({', '.join(self.parameters)})"


def act(arrays: dict[str, Array], symmetry: Symmetry, g: Array, back: Array, p: int = 0) -> None:
    """Let a group element g, with inverse ``back``, act on arrays, which change.

    They are exact; or residues modulo a prime p, with one axis more in front.
    """
    for acted in symmetry.on:
        part = arrays[acted.parameter][(slice(None), *acted.index) if p else acted.index]
        if acted.axis is None:
            s = (g if acted.weight > 0 else back)[0, 0]
            power = np.float64(pow(int(s), abs(acted.weight), p)) if p else s ** abs(acted.weight)
            part[...] = hadamard(part, power, p) if p else part * power
        else:
            lines = np.moveaxis(part, acted.axis, 0)
            flat = np.ascontiguousarray(lines).reshape(symmetry.size, -1)
            h = back.T if acted.dual else g
            lines[...] = (matmul(h, flat, p) if p else h @ flat).reshape(lines.shape)


def connecting(one: ExactWeights, other: ExactWeights) -> tuple[SymmetryStep, ...] | None:
    """Known symmetries whose product takes weights exactly to other weights; ``None`` if none are found."""
    arrays, target = one.exact(), other.exact()
    steps: list[SymmetryStep] = []
    for label, inside, after in _in_order(one.architecture):
        steps += _heads(label, arrays, target)
        steps += _products(one.architecture, label, arrays, target)
        for symmetry in inside:
            steps += _element(symmetry, arrays, target)
        neurons = [symmetry for symmetry in after if symmetry.name == "neuron"]
        for _, group in groupby(neurons, key=lambda neuron: [acted.parameter for acted in neuron.on]):
            steps += _neurons(list(group), arrays, target)
        for symmetry in after:
            if symmetry not in neurons:
                steps += _element(symmetry, arrays, target)
    if any((arrays[name] != array).any() for name, array in target.items()):
        return None
    return tuple(steps)


def _label(parameter: str) -> str:
    """What the parameters of one layer have in common: "1_2" of W_1_2."""
    return parameter.partition("_")[2]


def _first(symmetry: Symmetry) -> Any:
    """The part from which the element is found: of a head Q, else the first that is not dual."""
    parts = [acted for acted in symmetry.on if not acted.dual]
    return next((acted for acted in parts if acted.parameter.startswith("Q_")), parts[0])


def _in_order(architecture: Architecture) -> Iterator[tuple[str, list[Symmetry], list[Symmetry]]]:
    """The layers from the input on, each with the symmetries inside it, and those between it and the next."""
    for label in dict.fromkeys(map(_label, architecture.shapes)):
        own = [s for s in architecture.symmetries if _label(_first(s).parameter) == label]
        inside = [s for s in own if {_label(acted.parameter) for acted in s.on} == {label}]
        yield label, inside, [s for s in own if s not in inside]


def _heads(label: str, arrays: Moving, target: Moving) -> list[SymmetryStep]:
    """Permute the heads of a layer so that each KᵀQ is a multiple of the one it must become."""
    names = tuple(name for name in arrays if _label(name) == label and arrays[name].ndim == 3)
    K, Q = f"K_{label}", f"Q_{label}"
    if K not in names or Q not in names or len(arrays[K]) < 2:
        return []
    forms, wanted = (
        [(k.T @ q).ravel() for k, q in zip(given[K], given[Q], strict=True)] for given in (arrays, target)
    )
    order = _matched(forms, wanted)
    if order is None or order == sorted(order):
        return []
    for name in names:
        arrays[name] = arrays[name][order]
    return [SymmetryStep("heads", names, tuple(i + 1 for i in order))]


def _products(architecture: Architecture, label: str, arrays: Moving, target: Moving) -> list[SymmetryStep]:
    """Put the neurons of a bilinear layer in order, exchange their two forms, and scale these."""
    places = architecture.places if isinstance(architecture, Network) else ()
    if not any(step.label == label and isinstance(step.layer, Bilinear) for step in places):
        return []
    G, U, D = names = f"G_{label}", f"U_{label}", f"D_{label}"

    def products(given: dict[str, Array]) -> list[Array]:
        pairs = zip(given[G], given[U], strict=True)
        return [(np.outer(g, u) + np.outer(u, g)).ravel() for g, u in pairs]

    order = _matched(products(arrays), products(target))
    if order is None:
        return []
    G_now, U_now, D_now = arrays[G][order], arrays[U][order], arrays[D][:, order]
    exchanged = [i for i in range(len(order)) if _ratio(G_now[i], target[G][i]) is None]
    G_now[exchanged], U_now[exchanged] = U_now[exchanged], G_now[exchanged]
    first, second = (
        tuple(_ratio(row, to) or Fraction(1) for row, to in zip(now, target[name], strict=True))
        for now, name in ((G_now, G), (U_now, U))
    )
    s, t = np.array(first, dtype=object), np.array(second, dtype=object)
    arrays |= {G: G_now * s[:, None], U: U_now * t[:, None], D: D_now / (s * t)}
    steps = []
    if order != sorted(order):
        steps.append(SymmetryStep("neurons", names, tuple(i + 1 for i in order)))
    if exchanged:
        steps.append(SymmetryStep("exchanges", (G, U), tuple(i + 1 for i in exchanged)))
    if {*first, *second} != {1}:
        steps.append(SymmetryStep("neurons", names, (), (first, second)))
    return steps


def _neurons(group: Sequence[Symmetry], arrays: Moving, target: Moving) -> list[SymmetryStep]:
    """Permute neurons and scale them, so that what comes into each is what must."""

    def incoming(given: dict[str, Array]) -> list[Array]:
        parts = ([given[a.parameter][a.index].ravel() for a in neuron.on if a.weight > 0] for neuron in group)
        return list(map(np.concatenate, parts))

    lines, wanted = incoming(arrays), incoming(target)
    order = _matched(lines, wanted)
    if order is None:
        return []
    before = {name: arrays[name].copy() for name in dict.fromkeys(a.parameter for a in group[0].on)}
    for neuron, source in zip(group, order, strict=True):
        for acted, of in zip(neuron.on, group[source].on, strict=True):
            arrays[acted.parameter][acted.index] = before[of.parameter][of.index]
    factors = []
    for neuron, line, i in zip(group, wanted, order, strict=True):
        factors.append(s := _ratio(lines[i], line) or Fraction(1))
        act(arrays, neuron, np.array([[s]]), np.array([[1 / s]]))
    if order == sorted(order) and set(factors) == {1}:
        return []
    return [SymmetryStep("neurons", tuple(before), tuple(i + 1 for i in order), (tuple(factors),))]


def _matched(lines: Sequence[Array], wanted: Sequence[Array]) -> list[int] | None:
    """For each vector that is wanted one of the others, each once, that is a multiple of it."""
    left, order = list(range(len(lines))), []
    for line in wanted:
        source = next((i for i in left if _ratio(lines[i], line) is not None), None)
        if source is None:
            return None
        left.remove(source)
        order.append(source)
    return order


def _ratio(of: Array, to: Array) -> Fraction | None:
    """The s ≠ 0 with to = s·of; 1 if both are 0; ``None`` if there is none."""
    if not of.any() or not to.any():
        return None if of.any() or to.any() else Fraction(1)
    at = int(np.flatnonzero(of)[0])
    s = Fraction(to[at]) / Fraction(of[at])
    return s if s and (of * s == to).all() else None


def _matrix(symmetry: Symmetry, arrays: Moving, target: Moving) -> Array | None:
    """The element of GL(n) that makes a part what it must be, or for some entries of the first part alone.

    Another group may act on the first part, too: GL(s) mixes all Q of a group of heads; GL(a) is told by K.
    """
    first, element = _first(symmetry), None
    for acted in sorted(symmetry.on, key=lambda acted: acted is not first):
        parts = (given[acted.parameter][acted.index] for given in (arrays, target))
        rows, to = (np.moveaxis(part, acted.axis or 0, 0).reshape(symmetry.size, -1) for part in parts)
        g = change_of_basis(rows, to)
        if g is not None and (g @ rows == to).all():
            return g if not acted.dual else None if (back := inverse(g)) is None else back.T
        element = g if acted is first else element
    return element


def _element(symmetry: Symmetry, arrays: Moving, target: Moving) -> list[SymmetryStep]:
    """Apply the element of a group that makes its first part what it must be, if there is exactly one."""
    acted = _first(symmetry)
    part, wanted = (given[acted.parameter][acted.index] for given in (arrays, target))
    if acted.axis is None:
        s = _ratio(part.ravel(), wanted.ravel())
        g = None if s is None else np.array([[s if acted.weight > 0 else 1 / s]])
    else:
        g = _matrix(symmetry, arrays, target)
    back = inverse(g)
    if g is None or back is None or (g == np.eye(symmetry.size, dtype=int)).all():
        return []
    if symmetry.is_orthogonal and (back != g.T).any():
        return []  # in GL(n), and not in the group
    act(arrays, symmetry, g, back)
    names = tuple(dict.fromkeys(acted.parameter for acted in symmetry.on))
    return [SymmetryStep(symmetry.name, names, (), tuple(tuple(map(Fraction, row)) for row in g.tolist()))]
