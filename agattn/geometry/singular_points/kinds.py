r"""Kinds of points: special weights of any architecture, each with a name, over ℤ.

**Networks of attention.** With one head a layer and no skip connections a function sees the weights only
through the virtual weights M_i = L_{i−1}ᵀ A_i L_{i−1} and L = V_l ⋯ V_1. The inner V_i are the identity,
padded with zeros; up to changes of basis between the layers and of the tokens this is no restriction where
V_i has full rank. So M_i is a block of A_i, of size e × e for the least width e up to there, and of rank at
most a_i. A kind says what is special about one matrix, or several:

- the rank of an M_i, of an inner V_i or of L; M_i = 0, V_i = 0 or L = 0;
- M_i symmetric or skew, of the largest rank or, if symmetric, of a lower one;
- an M_i of rank one before a skew or a symmetric one; M_l and L both of rank one, in general and with
  M_l = k qᵀ, L = h kᵀ;
- two M_i that are equal, skew, or have a common kernel; M_1 = k qᵀ, M_2 = q qᵀ and L = h qᵀ;
- M_i = K skew of rank 2 and M_{i+1} = A in the plane of K, which can be exchanged; or M_i = M_{i+1} = K;
- M_i skew before an M_l of rank one: any, one in the plane of K = M_{l−1}, or k kᵀ.

With skip connections, or several heads, the same is asked of A_i and V_i of the first head, and what two
heads can have in common is added (:mod:`~agattn.geometry.closedness.several_heads`).

**Other models.** Something is special about one array of parameters, all others are general: a matrix of
lower rank, a row or a column that is 0 or equal to another, a matrix that is symmetric or skew; two heads
that are equal; two arrays of one shape that are equal; what a symmetry acts on 0, as a neuron with nothing
before and behind it. These are the natural degenerations of layers: zero and equal neurons, heads and
filters, bottlenecks.

>>> from agattn.architectures import DeepNetwork, Linear, Network
>>> for architecture in (DeepNetwork((2, 2, 1), (2, 2), t=2), Network([Linear(2), Linear(2)], dim=2)):
...     print([kind.name for kind in kinds(architecture)][:4])
['generic', 'rk M_1 = 1', 'M_1 symmetric', 'M_1 symmetric of rank 1']
['generic', 'rk W_1 = 1', 'W_1 = 0', 'row 1 of W_1 is 0']
>>> kinds(DeepNetwork((2, 2, 1), (2, 2), t=2))[1].ranks
{'A': (1, 2), 'V': (2, 1), 'M': (1, 2), 'L': (1,)}
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import rational_rank
from agattn.architectures import Architecture, DeepNetwork, Network, draw_parameters
from agattn.errors import InputError, argument
from agattn.geometry.closedness.several_heads import head_kinds
from agattn.geometry.dimension.formulas import reduced_widths
from agattn.geometry.identifiability.virtual_weights import head_matrices, is_plain, virtual, virtual_weights
from agattn.limits import limits, takes


@dataclass(frozen=True, eq=False)
class Kind:
    """Weights of an architecture, of some kind.

    Attributes:
        name: what is special about them.
        architecture: whose weights they are.
        preimages: weights that have one function, known by the structure: an integer array for each
            parameter. The first are the weights that were asked about.
    """

    name: str
    architecture: Architecture
    preimages: tuple[Mapping[str, Array], ...]

    @property
    def weights(self) -> Mapping[str, Array]:
        """The weights that were asked about, which come first."""
        return self.preimages[0]

    @cached_property
    def virtual(self) -> tuple[list[Array], Array] | None:
        """The virtual weights (M, L) of a network with one head in each layer and no skip connections."""
        return virtual(self.architecture, self.weights)

    @cached_property
    def factorizations(self) -> tuple[int, ...]:
        """Which preimages have the A_i and V_i of the weights asked about: the first, and other K_i and Q_i.

        >>> from agattn import DeepNetwork
        >>> from agattn.geometry.singular_points.kinds import network_kinds
        >>> in_a_plane = network_kinds(DeepNetwork((2, 2, 1), (2, 2), t=2))[-5]
        >>> in_a_plane.name, len(in_a_plane.preimages), in_a_plane.factorizations
        ('M_1 = K skew, M_2 = A in its plane', 2, (0,))
        """
        if not isinstance(network := self.architecture, DeepNetwork):
            return (0,)

        def matrices(weights: Mapping[str, Array]) -> list[list[list[object]]]:
            layers = head_matrices(network, weights)
            return [matrix.tolist() for of in layers for layer in of for matrix in layer]

        asked = matrices(self.weights)
        return tuple(n for n, weights in enumerate(self.preimages) if matrices(weights) == asked)

    @property
    def ranks(self) -> dict[str, tuple[int, ...]]:
        """The ranks of all A_i and V_i, head by head, and of the M_i and L where there are such.

        Of what is no network of attention those of the matrices in each array that has rows and columns.
        """
        arrays = {name: array for name, array in self.weights.items() if array.ndim > 1}
        groups = {name: list(array.reshape(-1, *array.shape[-2:])) for name, array in arrays.items()}
        if isinstance(self.architecture, DeepNetwork):
            layers = head_matrices(self.architecture, self.weights)
            groups = {x: list(itertools.chain(*of)) for x, of in zip("AV", layers, strict=True)}
        if self.virtual is not None:
            groups |= {"M": self.virtual[0], "L": [self.virtual[1]]}
        return {name: tuple(map(rational_rank, matrices)) for name, matrices in groups.items()}


#: A matrix as a product of two.
Factors = tuple[Array, Array]
#: Numbers are drawn between minus this and this.
_LARGEST = 3
#: Factorizations KᵀQ of matrices of rank below a < d that are tried.
_FACTORIZATIONS = 4


def _padded(matrix: Array, rows: int, columns: int) -> Array:
    result = np.zeros((rows, columns), dtype=object)
    result[: matrix.shape[0], : matrix.shape[1]] = matrix
    return result


def rank_one_factors(matrix: Array) -> Factors:
    """h and v with h v the matrix, of rank one: a column and a row."""
    row = next(r for r in matrix.tolist() if any(r))
    v = np.array(row, dtype=object) // int(np.gcd.reduce(np.array(row, dtype=object)))
    column = int(np.flatnonzero(v)[0])
    return matrix[:, column : column + 1] // v[column], v[None]


@dataclass(frozen=True)
class _Matrices:
    """A as factors d_{i−1} × r and r × d_{i−1}, and V, for each layer and head."""

    network: DeepNetwork
    A: list[list[Factors]]
    V: list[list[Array]]

    def preimages(self) -> Iterator[dict[str, Array]]:
        """K, Q and V; as they are and with all that is known to have the same function."""
        for given in self._same():
            layers = zip(given.A, self.network.ranks, strict=True)
            below = any(B.shape[1] < a < len(B) for layer, a in layers for B, _ in layer)
            yield from (given.factored(seed) for seed in range(_FACTORIZATIONS if below else 1))

    def _same(self) -> Iterator[_Matrices]:
        yield self
        network = self.network
        if not is_plain(network):
            return
        A, V = [layer[0] for layer in self.A], [layer[0] for layer in self.V]
        for i, ((B, C), W) in enumerate(zip(A, V, strict=True)):
            if rational_rank(B @ C) == 1 == rational_rank(W):  # HMK, Theorem 3.2
                (k, q), (h, v) = rank_one_factors(B @ C), rank_one_factors(W)
                yield self._with({i: (v.T, q)}, {i: h @ k.T})
        d = network.dims[0]
        if min(network.dims[:-1]) == d:  # (M, L) themselves are weights
            _, L = virtual_weights([B @ C for B, C in A], V)
            product, straight = np.eye(d, dtype=object), {}
            for i, ((B, C), W) in enumerate(zip(A, V, strict=True)):
                e = network.dims[i]
                straight[i] = _padded(product.T @ B, e, B.shape[1]), _padded(C @ product, C.shape[0], e)
                product = W @ product
            ones = {i: _padded(np.eye(d, dtype=object), *W.shape) for i, W in enumerate(V[:-1])}
            moved = self._with(straight, ones | {len(V) - 1: _padded(L, *V[-1].shape)})
            if any((moved.V[i][0] != W).any() for i, W in enumerate(V)):
                yield moved

    def _with(self, A: Mapping[int, Factors], V: Mapping[int, Array]) -> _Matrices:
        """The same with other matrices of the first heads of some layers."""
        return _Matrices(
            self.network,
            [[A[i], *layer[1:]] if i in A else layer for i, layer in enumerate(self.A)],
            [[V[i], *layer[1:]] if i in V else layer for i, layer in enumerate(self.V)],
        )

    def factored(self, seed: int) -> dict[str, Array]:
        """K_i, Q_i and V_i, with A_i = K_iᵀ Q_i.

        Where a_i is at least the width, K_i is the identity and Q_i is A_i, with rows of zeros. Elsewhere
        further rows make K_i or Q_i, by turns of the seed, as large in rank as possible.
        """
        generator = np.random.default_rng(seed)
        result: dict[str, Array] = {}
        for i, (layer, a) in enumerate(zip(self.A, self.network.ranks, strict=True), 1):
            pairs = []
            for B, C in layer:
                d = len(B)
                if a >= d:
                    pairs.append((np.eye(a, d, dtype=object), _padded(B @ C, a, d)))
                    continue
                rows = generator.integers(-_LARGEST, _LARGEST + 1, (a - len(C), d)).astype(object)
                one, other = (0 * rows, rows) if seed % 2 else (rows, 0 * rows)
                pairs.append((np.concatenate([B.T, one]), np.concatenate([C, other])))
            result |= {f"K_{i}": np.array([K for K, _ in pairs]), f"Q_{i}": np.array([Q for _, Q in pairs])}
        return result | {f"V_{i}": np.array(layer) for i, layer in enumerate(self.V, 1)}


class _Catalogue:
    """Makes matrices of each type, and kinds of weights of them."""

    def __init__(self, network: DeepNetwork) -> None:
        self.network, self.generator = network, np.random.default_rng(limits().seed)
        self.plain = is_plain(network)
        widths = list(itertools.accumulate(network.dims[:-1], min))
        seen = zip(widths, reduced_widths(network), strict=False)
        self.sizes = [min(e, r) for e, r in seen] if self.plain else list(network.dims[:-1])
        self.most = [min(e, a) for e, a in zip(self.sizes, network.ranks, strict=True)]
        self.of_L = min(network.dims)
        layers = zip(self.sizes, self.most, network.heads_by_layer, strict=True)
        self.A = [[self.general(e, r) for _ in range(heads)] for e, r, heads in layers]
        shapes = zip(network.dims[1:], network.dims, network.heads_by_layer, strict=False)
        self.V = [
            [np.eye(e, d, dtype=object)] if self.plain else [self.full(e, d) for _ in range(heads)]
            for e, d, heads in shapes
        ]
        if self.plain:
            self.V[-1] = [self.last(self.of_L)]

    def letter(self, name: str, i: int) -> str:
        """A_i or V_i of the first head in print, or the virtual weight."""
        if self.plain:
            return f"{'M' if name == 'A' else name}_{i + 1}"
        return f"{name}_{i + 1}" + ",1" * (self.network.heads_by_layer[i] > 1)

    def draw(self, rows: int, columns: int) -> Array:
        return self.generator.integers(-_LARGEST, _LARGEST + 1, (rows, columns)).astype(object)

    def full(self, rows: int, columns: int, good: Callable[[Array], bool] = lambda m: True) -> Array:
        """A random matrix of the largest rank that fits, with no zero among its entries if there is time."""
        for tried in range(1000):
            matrix = self.draw(rows, columns)
            if rational_rank(matrix) == min(rows, columns) and good(matrix) and (matrix.all() or tried > 50):
                return matrix
        raise AssertionError("no random matrix was good")

    def general(self, e: int, r: int) -> Factors:
        """Of rank r, neither symmetric nor skew where there are others."""
        B = np.eye(e, dtype=object) if r == e else self.full(e, r)

        def good(C: Array) -> bool:
            A = B @ C
            return e == 1 or (rational_rank(A - A.T) > 0 and rational_rank(A + A.T) == min(e, 2 * r))

        return B, self.full(r, e, good)

    def symmetric(self, e: int, r: int) -> Factors:
        B = self.full(e, r)
        signs = np.diag([(-1) ** n for n in range(r)]).astype(object)
        return B, signs @ B.T

    def skew(self, e: int, r: int) -> Factors:
        """Of the largest even rank up to r."""
        r -= r % 2
        B, J = self.full(e, r), np.zeros((r, r), dtype=object)
        J[0::2, 1::2], J[1::2, 0::2] = np.eye(r // 2, dtype=int), -np.eye(r // 2, dtype=int)
        return B, J @ B.T

    def last(self, r: int) -> Array:
        """V_l such that L has rank r: only its first columns are seen."""
        d, d_out = self.network.dims[-2:]
        B, C = self.full(d_out, r), self.full(r, min(self.network.dims[:-1]))
        return _padded(B @ C, d_out, d)

    def kind(self, name: str, A: Mapping[int, Factors] = {}, V: Mapping[int, Array] = {}) -> Kind:
        """Weights that are generic but for these matrices of first heads; layers are counted from 0."""
        heads_A = [[A.get(i, layer[0]), *layer[1:]] for i, layer in enumerate(self.A)]
        sized = [
            [(_padded(B, d, B.shape[1]), _padded(C, C.shape[0], d)) for B, C in layer]
            for layer, d in zip(heads_A, self.network.dims, strict=False)
        ]
        heads_V = [[V.get(i, layer[0]), *layer[1:]] for i, layer in enumerate(self.V)]
        return Kind(name, self.network, tuple(_Matrices(self.network, sized, heads_V).preimages()))

    def types(self, i: int) -> Iterator[tuple[str, Factors]]:
        """What M_{i+1} may be: its name, and the matrix."""
        e, r, name = self.sizes[i], self.most[i], self.letter("A", i)
        for low in range(1, r):
            yield f"rk {name} = {low}", self.general(e, low)
        if e > 1:
            yield f"{name} symmetric", self.symmetric(e, r)
            for low in range(1, r):
                yield f"{name} symmetric of rank {low}", self.symmetric(e, low)
        if r > 1:
            yield f"{name} skew", self.skew(e, r)
        yield f"{name} = 0", (self.draw(e, 0), self.draw(0, e))

    def singles(self) -> Iterator[tuple[str, dict[int, Factors], dict[int, Array]]]:
        """What may be special about one matrix."""
        for i in range(self.network.depth):
            for name, A in self.types(i):
                yield name, {i: A}, {}
        for i, (V, *_) in enumerate(self.V[:-1] if self.plain else self.V):
            name = self.letter("V", i)
            for low in range(min(V.shape)):
                given = _padded(np.eye(low, dtype=object), *V.shape)
                yield f"rk {name} = {low}" if low else f"{name} = 0", {}, {i: given}
        for low in range(self.of_L - 1, -1, -1) if self.plain else ():
            name = f"rk L = {low}" if low else "L = 0"
            yield name, {}, {len(self.V) - 1: self.last(low) if low else 0 * self.V[-1][0]}

    def shared(self) -> Iterator[Kind]:
        """Relations between two or three matrices."""
        l, e = self.network.depth, self.sizes
        k, q = self.full(e[-1], 1), self.full(1, e[-1])
        h = self.full(self.network.dims[-1], 1)

        def rows_of(v: Array) -> Array:
            return h @ _padded(v, 1, self.network.dims[-2])

        yield self.kind(f"rk M_{l} = rk L = 1", {l - 1: (k, q)}, {l - 1: rows_of(self.full(1, e[-1]))})
        yield self.kind(f"M_{l} = k qᵀ, L = h kᵀ", {l - 1: (k, q)}, {l - 1: rows_of(k.T)})
        yield self.kind(f"M_{l} = k qᵀ, L = h qᵀ", {l - 1: (k, q)}, {l - 1: rows_of(q)})
        for i, j in itertools.combinations(range(l), 2):
            if e[i] != e[j]:
                continue
            of = f"M_{i + 1}", f"M_{j + 1}"
            first, other = self.general(e[i], 1), self.full(e[i], 1)
            q_i = first[1]
            square = {i: first, j: (q_i.T, q_i)}
            low = rows_of(q_i) if j == l - 1 else None
            yield self.kind(f"{of[0]} = k qᵀ, {of[1]} = q qᵀ", square)
            if low is not None:
                yield self.kind(f"{of[0]} = k qᵀ, {of[1]} = q qᵀ, L = h qᵀ", square, {l - 1: low})
            if self.most[i] < 2 or self.most[j] < 2:
                continue
            yield self.kind(f"{of[0]} = k qᵀ, {of[1]} skew", {i: first, j: self.skew(e[i], self.most[j])})
            yield self.kind(
                f"{of[0]} = k qᵀ, {of[1]} symmetric", {i: first, j: self.symmetric(e[i], self.most[j])}
            )
            yield self.kind(f"rk {of[0]} = rk {of[1]} = 1", {i: first, j: (other, self.full(1, e[i]))})
            yield self.kind(f"{of[0]} and {of[1]} skew", {n: self.skew(e[i], self.most[n]) for n in (i, j)})
            if self.most[i] == self.most[j]:
                yield self.kind(f"{of[0]} = {of[1]}", {i: self.A[i][0], j: self.A[i][0]})
            r = min(self.most[i], self.most[j], e[i] - 1)
            if r > 1 or (r == 1 and e[i] == 2):
                rows = self.full(r, e[i])
                with_kernel = {n: (self.full(e[i], r), rows) for n in (i, j)}
                yield self.kind(f"{of[0]} and {of[1]} of rank {r} with one kernel", with_kernel)
            if j == i + 1:
                yield from self.in_a_plane(i)
        yield from self.before_rank_one()

    def before_rank_one(self) -> Iterator[Kind]:
        """M_i skew and rk M_l = 1, where M_i and M_l have one size."""
        l, e, last = self.network.depth, self.sizes[-1], self.network.depth - 1
        for i in range(last):
            if self.sizes[i] != e or self.most[i] < 2:
                continue
            K = self.skew(e, self.most[i])
            yield self.kind(f"M_{i + 1} skew, rk M_{l} = 1", {i: K, last: self.general(e, 1)})
            if i == last - 1:
                k = self.full(e, 1)
                yield self.kind(f"M_{i + 1} skew, M_{l} = k kᵀ", {i: K, last: (k, k.T)})
                K = self.skew(e, 2)
                in_plane = K[0] @ self.full(2, 1), self.full(1, 2) @ K[0].T
                name = f"M_{i + 1} = K skew, M_{l} = k qᵀ in its plane"
                yield self.kind(name, {i: K, last: in_plane})

    def in_a_plane(self, i: int) -> Iterator[Kind]:
        """M_i = K, M_{i+1} = A with K = abᵀ − baᵀ and A in a, b: F_A∘F_K is F_K∘F_A if A has determinant 1.

        Source: docs/networks/deep-singularities-proofs.md, counterexamples to smoothness.
        """
        K, of = self.skew(self.sizes[i], 2), (f"M_{i + 1}", f"M_{i + 2}")
        A = K[0], np.array([[2, 1], [3, 2]], dtype=object) @ K[0].T
        name = f"{of[0]} = K skew, {of[1]} = A in its plane"
        one, other = (self.kind(name, dict(zip((i, i + 1), pair, strict=True))) for pair in ((K, A), (A, K)))
        yield Kind(name, self.network, (*one.preimages, *other.preimages))
        yield self.kind(f"{of[0]} = {of[1]} skew of rank 2", {i: K, i + 1: K})


def network_kinds(network: DeepNetwork, pairs: bool = False) -> list[Kind]:
    """The catalogue of kinds of points of a network, each with weights over ℤ.

    Args:
        network: a lightning network.
        pairs: also all pairs of what may be special about single matrices.

    Raises:
        InputError: if it is a normalized network, or one whose V have a bounded rank.
    """
    if not network.is_lightning:
        raise InputError(f"{network}: kinds of points are known for lightning networks")
    if network.value_rank is not None:
        raise InputError(
            f"{network}: kinds of points are known where V may have any rank; leave out "
            f"{argument('value_rank')}"
        )
    catalogue = _Catalogue(network)
    single = list(catalogue.singles())
    result = [catalogue.kind("generic"), *(catalogue.kind(*special) for special in single)]
    if catalogue.plain:
        result += catalogue.shared()
    result += [Kind(name, network, (weights,)) for name, weights in head_kinds(network) if name != "generic"]
    if pairs:
        for (name, A, V), (other, B, W) in itertools.combinations(single, 2):
            if not (A.keys() & B.keys() or V.keys() & W.keys()):
                result.append(catalogue.kind(f"{name}, {other}", A | B, V | W))
    return result


#: What is special: a name, and the arrays that replace those of general weights.
Special = tuple[str, dict[str, Array]]


def model_kinds(architecture: Architecture, pairs: bool = False) -> list[Kind]:
    """The kinds of weights of an architecture; with ``pairs`` also any two on different arrays.

    >>> from agattn.architectures import Linear, Network
    >>> [kind.name for kind in model_kinds(Network([Linear(2), Linear(2)], dim=2))][:5]
    ['generic', 'rk W_1 = 1', 'W_1 = 0', 'row 1 of W_1 is 0', 'column 1 of W_1 is 0']
    """
    generator = np.random.default_rng(limits().seed)

    def draw(shape: tuple[int, ...]) -> Array:
        numbers = [*range(-_LARGEST, 0), *range(1, _LARGEST + 1)]
        return np.array(generator.choice(numbers, shape), dtype=object)

    general = draw_parameters(architecture, draw)
    special = list(_special(architecture, general, draw))
    if pairs:
        special += [
            (f"{name}; {other}", arrays | others)
            for (name, arrays), (other, others) in itertools.combinations(special, 2)
            if not arrays.keys() & others.keys()
        ]
    given = [("generic", {}), *special]
    return [Kind(name, architecture, (general | arrays,)) for name, arrays in given]


def _special(
    architecture: Architecture, general: Mapping[str, Array], draw: Callable[[tuple[int, ...]], Array]
) -> Iterator[Special]:
    for name, array in general.items():
        for text, changed in _of_array(name, array, draw):
            yield text, {name: changed}
    for name, other in itertools.combinations(general, 2):
        if general[name].shape == general[other].shape and general[name].size > 1:
            yield f"{name} = {other}", {other: general[name].copy()}
    if isinstance(architecture, Network):
        for place in architecture.places:
            if names := [place.names[letter] for letter in place.derived.alike]:
                copies = {name: general[name].copy() for name in names}
                for array in copies.values():
                    array[1] = array[0]
                yield " and ".join(f"{name}[1] = {name}[2]" for name in names), copies
    seen = set[tuple[str, ...]]()
    zero = {name: np.zeros_like(array) for name, array in general.items()}
    for symmetry in architecture.symmetries:
        copies = {acted.parameter: general[acted.parameter].copy() for acted in symmetry.on}
        if len(copies) < 2 or tuple(copies) in seen:
            continue
        seen.add(tuple(copies))
        for acted in symmetry.on:
            part = copies[acted.parameter][acted.index]
            (part if acted.axis is None else np.moveaxis(part, acted.axis, 0)[:1])[...] = 0
        if len(copies) < len(zero) or any(array.any() for array in copies.values()):
            yield " and ".join(_zero_in(name, array) for name, array in copies.items()), copies
    if len(zero) > 1:
        yield "all parameters are 0", zero


def _zero_in(name: str, array: Array) -> str:
    """Which part of an array is 0, in words."""
    label = name
    if array.ndim > 2 and prod(array.shape[:-2]) > 1 and array.any():
        label = f"{name}[1]"
    first = array.reshape(-1, *(1, 1, *array.shape)[-2:])[0]
    if not first.any():
        return f"{label} = 0"
    for word, lines in (("row", first), ("column", first.T)):
        if not lines[0].any():
            return f"{word} 1 of {label} is 0"
    return f"a part of {label} is 0"


def _of_array(
    name: str, array: Array, draw: Callable[[tuple[int, ...]], Array]
) -> Iterator[tuple[str, Array]]:
    """What may be special about one array, or about the first of several matrices in it."""

    def with_first(matrix: Array) -> Array:
        changed = array.copy()
        changed[(0,) * (array.ndim - matrix.ndim)] = matrix
        return changed

    if array.ndim == 0:
        yield f"{name} = 0", np.zeros_like(array)
        return
    if array.ndim == 1:
        yield f"{name} = 0", np.zeros_like(array)
        if len(array) > 1:
            yield f"{name}[1] = 0", np.concatenate([array[:1] * 0, array[1:]])
            yield f"{name}[1] = {name}[2]", np.concatenate([array[:1], array[:1], array[2:]])
        return
    several = prod(array.shape[:-2]) > 1
    first = array.reshape(-1, *array.shape[-2:])[0]
    label, (m, n) = f"{name}[1]" if several else name, first.shape
    for r in range(min(m, n) - 1, 0, -1):
        yield f"rk {label} = {r}", with_first(draw((m, r)) @ draw((r, n)))
    yield f"{label} = 0", with_first(first * 0)
    for lines, word, count, other in ((first, "row", m, n), (first.T, "column", n, m)):
        if count > 1:
            for text, line in (("is 0", lines[0] * 0), ("is equal to the next", lines[1])):
                if text == "is 0" or count > 2 or other == 1:  # else a rank
                    changed = lines.copy()
                    changed[0] = line
                    text = f"{word} 1 of {label} {text}"
                    yield text, with_first(changed if word == "row" else changed.T)
    if m == n > 1:
        yield f"{label} symmetric", with_first(first + first.T)
        yield f"{label} skew", with_first(first - first.T)
    if several and len(array) > 1:
        changed = array.copy()
        changed[1] = array[0]
        yield f"{name}[1] = {name}[2]", changed


@takes("seed")
def kinds(architecture: Architecture, pairs: bool = False) -> list[Kind]:
    """The kinds of points of an architecture, each with weights over ℤ; the first are generic.

    Args:
        architecture: a lightning network, where a layer is the network of one layer; or another polynomial
            model.
        pairs: also all pairs of what may be special about single matrices.

    Raises:
        InputError: if it is a normalized network, or one whose V have a bounded rank.

    See Also:
        :func:`agattn.geometry.singular_points.singularities.singularities`: what is known at each kind.
    """
    network = architecture.as_network()
    if network is None:
        return model_kinds(architecture, pairs)
    return network_kinds(network, pairs)
