r"""Several heads in one lightning layer: is the set of functions closed, and special weights.

For t ≥ 2 tokens a layer is known by its d' × d matrix y of quadratic forms, :math:`y_{c,b}(u) = \sum_h
V_{h,c}(u) A_{h,b}(u)` with rows of V and columns of A = KᵀQ read as linear forms: y = P·R with a d' × h
matrix P and an h × d matrix R of linear forms, where row h of R has at most a independent coefficients. M is
the set of all such y. Tangent vectors, and limits of higher order, are limits of several heads whose weights
diverge; some of them are not in M. The proofs are in docs/networks/several-heads-proofs.md of agattn.

>>> from agattn import DeepNetwork
>>> found = closedness(DeepNetwork((3, 1), (1,), t=2, heads=2))
>>> print(found)
M(3,1,1), heads 2, t = 2: not closed (Theorem 2). Products of linear forms do not span the y_b
>>> print(found.limit)
y_11 = u2^2 - u1 u3, y_12 = u2 u3
>>> found.limit.arc.heads[1].V  # u2 − ε u1, by row, column, power and coefficient
((1, 1, 1, -1), (1, 2, 0, 1))
>>> print(closedness(DeepNetwork((3, 1), (2,), t=2, heads=2)))
M(3,1,2), heads 2, t = 2: closed (Theorem 4). M: all y_b vanish on one subspace of codimension h
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import flint
import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import rational_rank
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, all_minors
from agattn.architectures import DeepNetwork
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.strata.tangent import Arc
from agattn.geometry.variety.coordinates import Coordinate
from agattn.limits import limits

#: Coordinates (c, b, i, k), i ≤ k, of a matrix of quadratic forms, from 1, and their values if not 0.
Target = dict[Coordinate, int]
#: A linear form or a vector with Laurent polynomials in ε: (index, power) and the coefficient.
Form = dict[tuple[int, int], int]
#: A head of an arc: the rows of V by number, and products of forms k and vectors q whose sum is A.
Head = tuple[dict[int, Form], list[tuple[Form, Form]]]


#: Numbers are drawn between minus this and this, and are not 0.
_LARGEST = 4

Matrices = Mapping[str, Array]
Draw = Callable[..., Array]
#: Changes K, Q and V, (h, rows, d) each, in place; the last argument draws arrays of a shape.
Change = Callable[[Matrices, Draw], None]


def _equal(at: Matrices, draw: Draw, letters: str, sign: int = 1) -> None:
    """Head 2 has the matrices of head 1 with these letters, V with a sign."""
    for letter in letters:
        at[letter][1] = (sign if letter == "V" else 1) * at[letter][0]


def _zero(at: Matrices, draw: Draw, letters: str, heads: slice = slice(1)) -> None:
    for letter in letters:
        at[letter][heads] = 0


def _rank_one(at: Matrices, draw: Draw, heads: int, common: str = "") -> None:
    """A_h = k qᵀ in the first heads, with a common k, or q; other rows of Q belong to rows 0 of K."""
    at["K"][:heads, 1:] = 0
    if common:
        letter = common.upper()
        at[letter][1, 0] = at[letter][0, 0]


def _outer(at: Matrices, draw: Draw, common: str) -> None:
    """V_h = p vᵀ of rank one in two heads, with a common p or a common v."""
    V = at["V"]
    vectors = {"p": draw(2, V.shape[1], 1), "v": draw(2, 1, V.shape[2])}
    vectors[common][1] = vectors[common][0]
    V[:2] = vectors["p"] * vectors["v"]


def _exchanged(at: Matrices, draw: Draw, sign: int, heads: int) -> None:
    """A_1 = k qᵀ, V_1 = p vᵀ; with a second head A_2 = v qᵀ, V_2 = ± p kᵀ, else v = k."""
    K, Q, V = at["K"], at["Q"], at["V"]
    p, v = draw(V.shape[1], 1), draw(V.shape[2])
    K[:heads, 1:] = 0
    if heads == 1:
        v = K[0, 0]
    else:
        K[1, 0], Q[1, 0], V[1] = v, Q[0, 0], sign * p * K[0, 0]
    V[0] = p * v


def _kinds(a: int, d: int, d_out: int) -> Iterator[tuple[str, Change]]:
    """The special relations between heads 1 and 2 by name, and the function that makes the heads."""
    yield "V = 0 in head 1", partial(_zero, letters="V")
    yield "K = 0 in head 1", partial(_zero, letters="K")
    yield "K = Q = 0 in head 1", partial(_zero, letters="KQ")
    yield "K = Q = V = 0 in head 1", partial(_zero, letters="KQV")
    yield "equal heads", partial(_equal, letters="KQV")
    yield "heads that cancel", partial(_equal, letters="KQV", sign=-1)
    yield "a common A", partial(_equal, letters="KQ")
    yield "a common V", partial(_equal, letters="V")
    if d > 1:
        yield "a common K", partial(_equal, letters="K")
        yield "a common Q", partial(_equal, letters="Q")
        if d_out > 1:
            yield "V = p vᵀ with a common p", partial(_outer, common="p")
            yield "V = p vᵀ with a common v", partial(_outer, common="v")
        if a > 1:
            yield "rk A = 1 in head 1", partial(_rank_one, heads=1)
            yield "rk A = 1 in two heads", partial(_rank_one, heads=2)
            yield "A = k qᵀ with a common k", partial(_rank_one, heads=2, common="k")
            yield "A = k qᵀ with a common q", partial(_rank_one, heads=2, common="q")
        yield "A = k qᵀ, V = p kᵀ in head 1", partial(_exchanged, sign=1, heads=1)
        yield "k qᵀ, p vᵀ and v qᵀ, p kᵀ", partial(_exchanged, sign=1, heads=2)
        yield "k qᵀ, p vᵀ and v qᵀ, −p kᵀ", partial(_exchanged, sign=-1, heads=2)
    yield "all V = 0", partial(_zero, letters="V", heads=slice(None))


def head_kinds(network: DeepNetwork) -> Iterator[tuple[str, dict[str, Array]]]:
    """Special weights of every layer with several heads, with random weights elsewhere.

    Two heads are special, head 1 and head 2: they coincide, share a matrix or a vector, are of rank one, or
    one of them is 0. What is random is an integer between −4 and 4, and not 0.

    Args:
        network: a lightning network; one without several heads in any layer has no such kinds.

    Yields:
        A name, followed by the layer if there are several, and integer arrays of the network's shapes.

    Raises:
        InputError: if the rank of the V_i is restricted, or the network is normalized.

    >>> for name, weights in head_kinds(DeepNetwork((2, 1), (1,), t=2, heads=2)):
    ...     if name == "k qᵀ, p vᵀ and v qᵀ, −p kᵀ":
    ...         print([weights[letter].tolist() for letter in ("K_1", "Q_1", "V_1")])
    [[[[-4, -3]], [[3, 1]]], [[[1, 4]], [[1, 4]]], [[[6, 2]], [[8, 6]]]]
    """
    if network.value_rank is not None or not network.is_lightning:
        raise InputError(
            f"head kinds are known for lightning networks with V of any rank, and not for {network}"
        )
    layers = [i for i, heads in enumerate(network.heads_by_layer, 1) if heads > 1]
    kinds: list[tuple[str, int, Change | None]] = [("generic", 0, None)] if layers else []
    for i in layers:
        d, d_out = network.dims[i - 1 : i + 1]
        where = f", layer {i}" if network.depth > 1 else ""
        kinds += [(name + where, i, make) for name, make in _kinds(network.ranks[i - 1], d, d_out)]
    for name, i, change in kinds:
        generator = np.random.default_rng(limits().seed)

        def draw(*shape: int, generator: np.random.Generator = generator) -> Array:
            size = generator.integers(1, _LARGEST + 1, shape)
            return np.asarray(size * generator.choice([-1, 1], shape)).astype(object)

        weights = {letter: draw(*shape) for letter, shape in network.shapes.items()}
        if change is not None:
            change({letter: weights[f"{letter}_{i}"] for letter in "KQV"}, draw)
        yield name, weights


# Closed or not ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeadsArc:
    """Weights of a layer that depend on ε, with Laurent polynomials over ℤ.

    Attributes:
        network: one layer with h heads.
        heads: K, Q and V of each, entry by entry.
    """

    network: DeepNetwork
    heads: tuple[Arc, ...]

    def expansion(self) -> dict[int, Target]:
        """The coefficients of y by powers of ε, expanded exactly; those that are 0 are left out."""
        sums: defaultdict[int, Counter[Coordinate]] = defaultdict(Counter)
        for head in self.heads:
            for power, y in head.terms().items():
                sums[power].update(y)
        values = {n: {name: x for name, x in y.items() if x} for n, y in sorted(sums.items())}
        return {n: y for n, y in values.items() if y}


@dataclass(frozen=True)
class Squares:
    """Why y is no product P·R with h columns in P, whatever the ranks (Theorem 1).

    In h columns the first row of y has multiples of the squares of h different variables; the second row has
    a multiple of one of these squares in another of these columns, and 0 in all others.
    """

    def flaw(self, network: DeepNetwork, y: Target) -> str:
        """Why this obstruction does not hold for a matrix y of quadratic forms; empty if it holds."""
        first = {b: (i, k) for (c, b, i, k) in y if c == 1}
        second = [(b, i, k) for (c, b, i, k) in y if c == 2]
        squares = {i for i, k in first.values() if i == k}
        heads = network.heads_by_layer[0]
        if not len(first) == len(squares) == sum(c == 1 for c, *_ in y) == heads:
            return "the first row does not have the squares of h different variables"
        if len(second) != 1 or second[0][0] not in first:
            return "the second row has not exactly one entry, below a square"
        [(b, i, k)] = second
        if i != k or i not in squares or first[b] == (i, k):
            return "the entry of the second row is not the square in another column"
        return ""

    def as_json(self) -> dict[str, object]:
        """The obstruction as in a certificate."""
        return {"kind": "squares"}


@dataclass(frozen=True)
class Products:
    """Why y is no sum of h heads with rk A = 1 (Theorem 2).

    The first row of y has h nonzero entries y_b, linearly independent, and the minor of these rows and
    columns of Σ λ_b y_b, a symmetric matrix, is a multiple of the cube of one λ_b. Of a product of linear
    forms every such minor is 0.
    """

    rows: tuple[int, int, int]
    columns: tuple[int, int, int]

    def flaw(self, network: DeepNetwork, y: Target) -> str:
        """Why this obstruction does not hold for a matrix y of quadratic forms; empty if it holds."""
        columns = sorted({b for c, b, *_ in y if c == 1})
        places = sorted({(i, k) for c, _, i, k in y if c == 1})
        entries = [[y.get((1, b, *place), 0) for place in places] for b in columns]
        if not rational_rank(entries) == len(columns) == network.heads_by_layer[0]:
            return "there are not h independent quadratic forms"
        ring = PolynomialRing([Variable("l", (b,)) for b in columns])
        gens = dict(zip(columns, ring.gens, strict=True))

        def entry(i: int, k: int) -> Polynomial:
            doubled = (1 + (i == k)) * ring.one()
            terms = (g * y.get((1, b, min(i, k), max(i, k)), 0) for b, g in gens.items())
            return doubled * sum(terms, ring.zero())

        [minor] = all_minors([[entry(i, k) for k in self.columns] for i in self.rows], 3)
        if [max(exponents) for exponents in minor.terms] != [3]:
            return "the minor is not a multiple of one cube"
        return ""

    def as_json(self) -> dict[str, object]:
        """The obstruction as in a certificate."""
        return {"kind": "products", "rows": list(self.rows), "columns": list(self.columns)}


@dataclass(frozen=True)
class Pencil:
    """Why y is no sum of two heads with rk A ≤ a, if d' = 1 (Theorem 3).

    y = v·B + w·A with linear forms v and w; all nonzero rows of A and B, and v, are within the a + 2 rows;
    det(sB + tA) on these rows and columns is a multiple of s^{a+2}; v is not in the span of the columns of A,
    of dimension at least 2, and v and w are independent.
    """

    v: tuple[int, ...]
    w: tuple[int, ...]
    A: tuple[tuple[int, ...], ...]
    B: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def flaw(self, network: DeepNetwork, y: Target) -> str:
        """Why this obstruction does not hold for a matrix y of quadratic forms; empty if it holds."""
        d, n = network.dims[0], min(network.ranks[0], network.dims[0]) + 2
        expanded: defaultdict[Coordinate, int] = defaultdict(int)
        for form, matrix in ((self.v, self.B), (self.w, self.A)):
            for i, x in enumerate(form, 1):
                for k, row in enumerate(matrix, 1):
                    for b, z in enumerate(row, 1):
                        expanded[1, b, min(i, k), max(i, k)] += x * z
        first = {name: x for name, x in y.items() if name[0] == 1}
        if {name: x for name, x in expanded.items() if x} != first:
            return "y is not vB + wA"
        if not len({*self.rows}) == len({*self.columns}) == n:
            return "the minor has not a + 2 rows and columns"
        outside = [i for i in range(d) if i + 1 not in self.rows]
        if any(any(self.A[i]) or any(self.B[i]) or self.v[i] for i in outside):
            return "A, B or v has something in other rows"
        values = {self._minor(t) for t in range(n + 1)}
        if len(values) != 1 or values == {0}:
            return "the minor is not a multiple of a power of s"
        joined = [[*row, x] for row, x in zip(self.A, self.v, strict=True)]
        rank = rational_rank(self.A)
        if rank < 2 or rational_rank(joined) == rank:
            return "v is in the span of the columns of A, or these are too few"
        if rational_rank([self.v, self.w]) < 2:
            return "v and w are dependent"
        return ""

    def as_json(self) -> dict[str, object]:
        """The obstruction as in a certificate."""
        vectors = {name: [[i, x] for i, x in enumerate(getattr(self, name), 1) if x] for name in ("v", "w")}

        def entries(matrix: Sequence[Sequence[int]]) -> list[list[int]]:
            return [[i, b, x] for i, row in enumerate(matrix, 1) for b, x in enumerate(row, 1) if x]

        matrices = {"A": entries(self.A), "B": entries(self.B)}
        places = {"rows": list(self.rows), "columns": list(self.columns)}
        return {"kind": "pencil", **vectors, **matrices, **places}

    def _minor(self, t: int) -> int:
        """The minor at s = 1. If it is the same at more places than its degree, it does not depend on t."""
        chosen = [[self.B[i - 1][b - 1] + t * self.A[i - 1][b - 1] for b in self.columns] for i in self.rows]
        return int(flint.fmpz_mat(chosen).det())


@dataclass(frozen=True, repr=False)
class HeadsLimit:
    """A matrix of quadratic forms that is a limit of sums of h heads, and no sum of h heads, not even over ℂ.

    Attributes:
        y: its coefficients.
        arc: heads whose sum converges to it for ε → 0.
        obstruction: why it is no sum of h heads.
    """

    y: Target
    arc: HeadsArc
    obstruction: Squares | Products | Pencil

    def flaw(self) -> str:
        """What is wrong with the arc or with the obstruction, by exact computation; empty if nothing is."""
        expansion = self.arc.expansion()
        if min(expansion, default=0) < 0:
            return f"a term with ε^{min(expansion)} does not cancel"
        if expansion.get(0) != self.y:
            return "the arc has another limit"
        return self.obstruction.flaw(self.arc.network, self.y)

    def as_json(self) -> dict[str, object]:
        """The limit as in a certificate: entries that are not 0, with their indices and powers of ε."""
        return {
            "y": [[*name, x] for name, x in sorted(self.y.items())],
            "heads": [
                {letter: list(map(list, entries)) for letter, entries in vars(head).items()}
                for head in self.arc.heads
            ],
            "obstruction": self.obstruction.as_json(),
        }

    def __repr__(self) -> str:
        entries: dict[tuple[int, int], list[str]] = {}
        ordered = sorted(self.y.items(), key=lambda item: (item[0][:2], item[0][2] != item[0][3]))
        for (c, b, i, k), x in ordered:
            sign = ("- " if x < 0 else "+ ") if entries.get((c, b)) else "-" * (x < 0)
            factor = f"{abs(x)} " * (abs(x) != 1)
            monomial = f"u{i}^2" if i == k else f"u{i} u{k}"
            entries.setdefault((c, b), []).append(f"{sign}{factor}{monomial}")
        return ", ".join(f"y_{c}{b} = {' '.join(terms)}" for (c, b), terms in entries.items())


@dataclass(frozen=True, repr=False)
class Closedness:
    """Whether the set M of functions of one layer with several heads is closed, over ℝ and over ℂ alike.

    Attributes:
        network: one lightning layer.
        status: ``"closed"``, ``"not closed"``, or ``"open"`` if no theorem here decides it.
        theorem: which one does, by its number in docs/networks/several-heads-proofs.md; empty if none.
        reason: what it comes from.
        evidence: proved, or ``None`` if it is open.
        limit: a limit outside M, where M is not closed.
    """

    network: DeepNetwork
    status: Literal["closed", "not closed", "open"]
    theorem: str
    reason: str
    evidence: Evidence | None = Evidence.PROVED
    limit: HeadsLimit | None = None

    def __repr__(self) -> str:
        by = f" ({self.theorem})" if self.theorem else ""
        return f"{self.network}: {self.status}{by}. {self.reason}"


def is_one_layer(network: DeepNetwork) -> bool:
    """Whether a network is one lightning layer with V of any rank and t ≥ 2."""
    free = network.value_rank is None or network.value_rank >= min(network.dims)
    return network.depth == 1 and network.is_lightning and network.t >= 2 and free


def closedness(network: DeepNetwork) -> Closedness:
    """Whether M, the set of functions of one lightning layer, is closed in the Euclidean topology.

    Args:
        network: one lightning layer with any number of heads, V of any rank and t ≥ 2. A skip connection
            only moves M, and does not matter.

    Raises:
        InputError: if it is another network.

    >>> print(closedness(DeepNetwork((2, 3), (1,), t=2, heads=2)).limit)
    y_11 = u2^2, y_12 = u1^2, y_21 = u1^2
    >>> [closedness(DeepNetwork((2, 3), (1,), t=2, heads=h)).status for h in (1, 3)]
    ['closed', 'closed']
    >>> closedness(DeepNetwork((5, 1), (3,), t=2, heads=3)).status
    'open'
    """
    if not is_one_layer(network):
        raise InputError(
            f"{network} is not one lightning layer with V of any rank and t ≥ 2; "
            "whether M is closed is known only for those layers"
        )
    (d, o), [h] = network.dims, network.heads_by_layer
    a = min(network.ranks[0], d)
    vanish = o == 1 and 2 * a + min(h, d) >= 2 * d
    for holds, theorem, reason in (
        (d == 1, "Theorem 5", "M is a linear space"),
        (h == 1, "Theorem 3.4", "φ = 0 only where A = 0 or V = 0, so M is the cone over a compact set"),
        (vanish, "Theorem 4", "M: all y_b vanish on one subspace of codimension h"),
        ((d, o, a, h) == (4, 1, 2, 3), "Theorem 6", "M: all y_b vanish on one line"),
        (_fills(d, o, a, h), "Theorem 5", "every matrix of quadratic forms is a sum of h heads"),
    ):
        if holds:
            return Closedness(network, "closed", theorem, reason)
    if h <= d and o >= 2:
        reason = "A first row of h squares and a second of one of them is no product of h columns and h rows"
        return Closedness(network, "not closed", "Theorem 1", reason, limit=_squares(network))
    if h <= d and a == 1:
        reason = "Products of linear forms do not span the y_b"
        return Closedness(network, "not closed", "Theorem 2", reason, limit=_products(network))
    if h == 2:
        reason = "Each pencil of matrices with this sum has only one member of rank at most a"
        return Closedness(network, "not closed", "Theorem 3", reason, limit=_pencil(network))
    return Closedness(network, "open", "", "no theorem here decides it", None)


def _fills(d: int, o: int, a: int, h: int) -> bool:
    """Whether every matrix of quadratic forms is a sum of h heads, by Theorem 5."""
    return (d == 2 and h >= 3) or h >= min(d * d, o * d * -(-d // a))


def _unit(*indices: int) -> Form:
    return {(i, 0): 1 for i in indices}


def _limit(
    network: DeepNetwork, heads: Sequence[Head], obstruction: Squares | Products | Pencil
) -> HeadsLimit:
    """The limit of some heads, with the reason why the limit is no sum of heads."""

    def entries(rows: Iterable[tuple[int, Form]]) -> tuple[tuple[int, int, int, int], ...]:
        return tuple(sorted((row, i, n, x) for row, form in rows for (i, n), x in form.items()))

    arcs = []
    for values, products in heads:
        K, Q = (entries(enumerate(forms, 1)) for forms in zip(*products, strict=True))
        arcs.append(Arc(K, Q, entries(values.items())))
    arc = HeadsArc(network, tuple(arcs))
    return HeadsLimit(arc.expansion()[0], arc, obstruction)


def _squares(network: DeepNetwork) -> HeadsLimit:
    """Theorem 1: y_11 = u_2², y_21 = y_12 = u_1² and y_1j = u_j², j ≥ 3.

    (u_2 − u_1/ε)(u_2 + u_1/ε)·(1, −ε²) ⊗ e_1 + u_1²·(1, 0) ⊗ (e_2 + e_1/ε²) converges to the first three.
    """
    heads = network.heads_by_layer[0]
    moving: list[Head] = [
        (
            {1: {(2, 0): 1, (1, -1): 1}, 2: {(2, 2): -1, (1, 1): -1}},
            [({(2, 0): 1, (1, -1): -1}, _unit(1))],
        ),
        ({1: _unit(1)}, [(_unit(1), {(2, 0): 1, (1, -2): 1})]),
    ]
    still: list[Head] = [({1: _unit(j)}, [(_unit(j), _unit(j))]) for j in range(3, heads + 1)]
    return _limit(network, [*moving, *still], Squares())


def _products(network: DeepNetwork) -> HeadsLimit:
    """Theorem 2: y_1 = u_2² − u_1u_3, y_2 = u_2u_3 and y_j = u_j², j ≥ 3.

    s = u_2(u_3 − ε²u_1) and s' = (u_2 − εu_1)(u_3 + εu_2) differ by ε(u_2² − u_1u_3).
    """
    heads = network.heads_by_layer[0]
    moving: list[Head] = [
        ({1: _unit(2)}, [({(3, 0): 1, (1, 2): -1}, {(2, 0): 1, (1, -1): -1})]),
        ({1: {(2, 0): 1, (1, 1): -1}}, [({(3, 0): 1, (2, 1): 1}, {(1, -1): 1})]),
    ]
    still: list[Head] = [({1: _unit(j)}, [(_unit(j), _unit(j))]) for j in range(3, heads + 1)]
    return _limit(network, [*moving, *still], Products((1, 2, 3), (1, 2, 3)))


def _pencil(network: DeepNetwork) -> HeadsLimit:
    """Theorem 3: y = u_2·I + u_{a+2}·N with N nilpotent, of two blocks, of sizes 2 and a.

    N_ε has the eigenvalues 0 and ε, each in both blocks, so that N_ε and N_ε − εI have rank a.
    """
    d, a = network.dims[0], network.ranks[0]
    n, ends = a + 2, (2, a + 2)
    inner = [i for i in range(1, n + 1) if i not in ends]
    N = [[int(k in inner and b == k + 1) for b in range(1, d + 1)] for k in range(1, d + 1)]
    identity = [[int(b == k <= n) for b in range(1, d + 1)] for k in range(1, d + 1)]
    one = [(_unit(i) | ({(i + 1, 1): 1} if i + 1 in ends else {}), _unit(i + 1)) for i in inner]
    other: list[tuple[Form, Form]] = [(_unit(i), {(i + 1, 0): 1, (i, 1): -1}) for i in inner]
    heads: list[Head] = [({1: {(n, 0): 1, (2, -1): 1}}, one), ({1: {(2, -1): -1}}, other)]
    v, w = (tuple(int(i == j) for j in range(1, d + 1)) for i in ends)
    rows = tuple(range(1, n + 1))
    A, B = (tuple(map(tuple, matrix)) for matrix in (N, identity))
    return _limit(network, heads, Pencil(v, w, A, B, rows, rows))
