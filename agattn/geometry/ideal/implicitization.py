r"""The homogeneous ideal of the image of any polynomial map, degree by degree and multidegree by multidegree.

Let y_k = f_k(θ), k = 1, ..., N. Weights of the parameters under which every f_k is homogeneous grade the
polynomials in y, and with them the ideal I of all forms that vanish on the image. In one multidegree μ the
monomials of y are functions of θ; I_μ is the space of their linear relations.

**Numbers.** A monomial order is fixed. The *standard* monomials B_μ are those that are not combinations of
smaller ones as functions of θ; divisors of standard monomials are standard. So only products of y_k with
standard monomials of one degree less are candidates, and those that remain independent at random points
modulo a prime are B_μ: the rank of one matrix. The rest of the candidates gives new equations.

**Minimal generators.** Let A = ℚ[y]/I. In the degrees of I_{n−1} the Koszul relations present the quotient by
the equations of lower degree,

    Λ²R_1 ⊗ A_{n−2} → R_1 ⊗ A_{n−1} → (R/(R_1·I_{n−1}))_n → 0,

so only normal forms of y_k·b, b standard, are needed, and never all of I_{n−1}. A few random combinations of
the relations mostly show that they give all equations; only elsewhere is the rank of all relations computed.

**Proof.** A rank modulo a prime is a lower bound for the rank over ℚ: there are *no more* equations. Minimal
generators are lifted to ℚ by the Chinese remainder theorem, and composed with f exactly; modulo the prime
they generate as much as vanishes there, so over ℚ *no fewer*. docs/layer/equations/models-proofs.md has the
argument in full.

>>> import agattn as ag
>>> cubic = ag.PolynomialMap(lambda s: [s[0]**3, s[0]**2*s[1], s[0]*s[1]**2, s[1]**3], {"s": 2})
>>> from agattn.geometry.variety.coefficient_map import coefficient_map
>>> image = Implicitization(coefficient_map(cubic))
>>> [(piece.hilbert_function, piece.minimal_generators) for piece in image.pieces(3)]
[(7, 3), (10, 0)]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, combinations_with_replacement, islice, pairwise, product
from math import log2, prod
from typing import Any, NamedTuple, TypeVar

import flint
import numpy as np

from agattn.algebra.echelon import primitive, short_basis
from agattn.algebra.polynomial import Polynomial
from agattn.algebra.residues import (
    Residues,
    RowSpace,
    less_product,
    matmul,
    rational_number,
    reduce,
)
from agattn.errors import TooLargeError, argument
from agattn.evidence import Evidence
from agattn.geometry.ideal.multigrading import (
    IntArray,
    MapArrays,
    pivot_columns,
    pivots_and_rest,
    products_of_rows,
)
from agattn.geometry.variety.coefficient_map import CoefficientMap
from agattn.geometry.variety.coordinates import Coordinate
from agattn.limits import limits
from agattn.memory import allow
from agattn.workers import EACH, share

#: Values of several multidegrees that are held at a time.
_TOGETHER = 2_000_000
#: Monomials that are replaced by smaller ones at a time.
_REPLACED = 64
#: Primes that a generator may need to be lifted to the rationals.
_MOST_PRIMES = 60
#: A kernel with at most this many entries is made short by lattice reduction.
_REDUCED = 12_000
#: The largest multidegree, in monomials, unless forced.
MOST_CANDIDATES = 10_000
#: The largest matrix, in entries, whose rank over ℚ is asked for to prove that generators are minimal.
MOST_ENTRIES = 3_000_000
#: Products of terms that an exact composition may take.
MOST_PRODUCTS = 2e8

#: A form by its monomials, sorted indices of coordinates from 0, with integer coefficients.
Form = dict[tuple[int, ...], int]

K = TypeVar("K", int, Coordinate)
#: Where each coordinate goes, and its sign.
Signed = Mapping[K, tuple[K, int]]

_Orbits = dict[int, dict[int, tuple[int, ...]]]
#: Which multidegrees of a degree decide whether it has minimal generators, by their standard monomials.
Decisive = Callable[[int, Mapping[int, int]], Set[int]]
#: A multidegree of a degree, and bounds for the standard monomials of some: all are met if its own is.
Bounds = Callable[[int], tuple[int, Mapping[int, int]]]


@dataclass(eq=False)
class _Degree:
    """One degree: the border (y_k times standard monomials) by multidegree, each in increasing order.

    ``rows`` are monomials, indices of coordinates that do not increase; a larger one of the ``codes`` is a
    smaller monomial. ``keys`` are multidegrees, which begin at ``starts``.
    """

    n: int
    rows: IntArray
    codes: IntArray
    keys: Any
    candidate: Any
    standard: Any
    starts: IntArray
    groups: dict[int, slice]
    normal_forms: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict)

    def count(self, marked: Any) -> list[int]:
        """How many monomials are marked in each multidegree."""
        return list(np.add.reduceat(marked, self.starts, dtype=np.int64).tolist()) if len(marked) else []


@dataclass(frozen=True, eq=False)
class Border:
    """The border monomials of one multidegree, and the products of :meth:`Implicitization._products`.

    The ``codes`` increase; ``held`` bytes are held beside.
    """

    degree: int
    key: int
    prime: int
    held: int
    codes: IntArray
    candidate: Any
    standard: Any
    products: list[tuple[IntArray, IntArray, IntArray]]

    @property
    def missing(self) -> int:
        """The number of equations."""
        return int(self.candidate.sum() - self.standard.sum())

    def new(self) -> tuple[int, IntArray]:
        """The number of minimal generators, and the equations of lower degree where there are any."""
        if self._all_are_lower():
            return 0, self.codes[:0]
        relations = self._lower()
        whole = len(self.candidate) - len(relations) - int(self.standard.sum())
        return whole if len(relations) else self.missing, relations

    def _all_are_lower(self) -> bool:
        """Whether equations of lower degree are seen to be all equations of a multidegree.

        A border monomial that is no candidate is a product of a coordinate and a monomial that is not
        standard: modulo the equations it is a combination of smaller monomials. So all equations come down to
        equations between candidates. Random ones are taken, which are true whatever is drawn: "yes" is right.
        """
        codes, candidate, products, p = self.codes, self.candidate, self.products, self.prime
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(lead for _, lead, _ in products)])
        at = np.minimum(np.searchsorted(codes, numbers), len(codes) - 1)
        inside = codes[at] == numbers
        outside = np.flatnonzero(~inside)
        outside = outside[np.argsort(numbers[outside], kind="stable")]
        _, first = np.unique(numbers[outside], return_index=True)
        others, missing = np.flatnonzero(~candidate), self.missing
        count = missing + 4
        if len(numbers) - len(first) - len(others) < missing:
            return False  # too few
        # What the monomials are equal to, the weights, and of one coordinate the combinations.
        largest = max((combinations.size for _, _, combinations in products), default=0)
        size = 8 * (len(others) * len(codes) + 4 * count * (len(numbers) + len(codes)) + 4 * largest)
        allow(self.held + size, f"degree {self.degree}: combinations of {len(numbers)} products")
        weights = np.random.default_rng(self.key).integers(0, p, (count, len(numbers)))
        # The weights of each product that is not in the border cancel.
        if len(first):
            weights[:, outside[first]] -= np.add.reduceat(weights[:, outside], first, axis=1)
        weights %= p
        combined = np.zeros((count, len(codes)))
        rules, place, start = np.zeros((len(others), len(codes))), np.cumsum(~candidate) - 1, 0
        known = candidate.copy()
        for columns, lead, combinations in products:
            part = slice(start, start := start + len(lead))
            values, drawn = combinations.astype(np.float64), weights[:, part].astype(np.float64)
            combined[:, columns] += matmul(drawn, values, p)
            within, to = inside[part], at[part][inside[part]]
            combined[:, to] -= drawn[:, within]
            combined = reduce(combined, p)
            new = ~known[to]
            rules[np.ix_(place[to[new]], columns)] = values[within][new]
            known[to] = True
        smaller = np.arange(len(codes)) < others[:, None]
        if not known.all() or rules[~smaller].any():
            return False
        return len(pivot_columns(_rewritten(combined, rules, others, p), p)) == missing

    def _lower(self) -> IntArray:
        """A basis of the equations from lower degrees, the Koszul relations, in the columns of the border."""
        codes, width, products = self.codes, len(self.codes), self.products
        height = sum(len(lead) for _, lead, _ in products)
        size = _bytes_of_relations(height, width)
        allow(self.held + size, f"degree {self.degree}: a matrix of {height} products in {width} monomials")
        # Each row is a normal form minus a monomial, which is in the border or else meets other rows there.
        space, kept = RowSpace(width, self.prime), [np.zeros((0, width), dtype=np.int64)]
        outside: dict[int, IntArray] = {}  # the first row of each monomial that is not in the border
        for columns, lead, combinations in products:
            rows = np.zeros((len(lead), width), dtype=np.int64)
            rows[:, columns] = combinations
            at = np.minimum(np.searchsorted(codes, lead), width - 1)
            known = codes[at] == lead
            rows[np.flatnonzero(known), at[known]] -= 1
            for row in np.flatnonzero(~known).tolist():
                rows[row] -= outside.setdefault(int(lead[row]), rows[row].copy())
            kept.append(rows[rows.any(axis=1)] % self.prime)
            space.add(kept[-1])
        return np.concatenate(kept)[sorted(space.rows)]


@dataclass(frozen=True, eq=False)
class NewEquations:
    """Minimal generators in one multidegree, and where permutations take them.

    They are ``count`` combinations of the ``candidates``, monomials, independent modulo the rows of
    ``lower``, which span the equations of lower degree; the candidates are its columns ``places``.
    ``images`` say where permutations take each coordinate, and with what sign.
    """

    candidates: IntArray
    count: int
    images: tuple[Signed[int], ...]
    lower: IntArray
    places: IntArray
    standard: Any


@dataclass(frozen=True, eq=False)
class GradedPiece:
    """One degree modulo the prime.

    ``multidegrees`` has, by fingerprint, how many standard monomials and how many minimal generators there
    are in each multidegree; those that are missing have none of either.
    """

    degree: int
    hilbert_function: int
    blocks: tuple[NewEquations, ...]
    multidegrees: dict[int, tuple[int, int]]

    @property
    def minimal_generators(self) -> int:
        """The number of minimal generators."""
        return sum(block.count * len(block.images) for block in self.blocks)


class Implicitization:
    """The ideal of the image of a map modulo a prime, computed degree by degree, and lifted from there.

    Args:
        source: the coordinates as polynomials in parameters.

    Attributes:
        prime: modulo which is computed.
        keys: fingerprints of the multidegrees of the coordinates, which add up modulo 2⁶⁴.
    """

    def __init__(self, source: CoefficientMap) -> None:
        self.map = MapArrays(source)
        self._held, self._orbits_held = 0, 0
        self.prime = self.map.prime
        self._points: dict[int, IntArray] = {}
        hashing = np.random.default_rng(limits().seed + 1)
        degrees = self.map.degrees
        # Sums of these stand for multidegrees; two that met would be computed together, which is as right.
        self.keys = _fingerprints(degrees, hashing)
        heights = degrees @ hashing.integers(1, 1 << 20, size=degrees.shape[1])
        self._heights = heights.astype(np.uint64)  # negative ones too, modulo 2⁶⁴
        self._leads = [_fingerprints(self.map.leading(hashing), hashing) for _ in range(3)]
        self._permutations = self.map.permutations()

    def values(self, rows: IntArray, count: int, p: int) -> IntArray:
        """Monomials at ``count`` random points of the image modulo p, (..., count)."""
        known = self._points.get(p, np.zeros((len(self.map), 0), dtype=np.int64))
        if known.shape[1] < count:
            more = self.map.points(p, max(count - known.shape[1], known.shape[1]))
            known = self._points[p] = np.concatenate([known, more], axis=1)
        flat = products_of_rows(rows.reshape(-1, rows.shape[-1]), known[:, :count], p)
        return flat.reshape(*rows.shape[:-1], count)

    @cached_property
    def _general(self) -> tuple[IntArray, int]:
        """Random parameters modulo the prime, and the rank of the Jacobian there."""
        theta = self.map.random.integers(self.prime, size=len(self.map.weights))
        jacobian = self.map.jacobian(theta, self.prime)
        return theta, len(pivot_columns(jacobian, self.prime))

    @property
    def dimension_at_least(self) -> int:
        """A lower bound for the dimension of the image: a rank modulo the prime is none too large."""
        return self._general[1]

    def dimension_at_most(self, equations: Iterable[Form]) -> int:
        """An upper bound for the dimension of the image, from forms that vanish there.

        Their gradients at any point of the image, also modulo a prime, are orthogonal to its tangent space,
        which has at least the dimension of the image. No more of them are taken than the lower bound leaves
        room for.
        """
        values = self.map.values(self._general[0][:, None], self.prime)[:, 0].tolist()
        cone, left = len(self.map) - self.map.affine, iter(equations)
        codimension, rank = cone - self.dimension_at_least, 0
        gradients: list[list[int]] = []
        while rank < codimension:
            forms = list(islice(left, max(codimension - rank, len(gradients))))
            if not forms:
                break
            gradients += [_gradient(form, values, self.prime) for form in forms]
            rank = len(pivot_columns(np.array(gradients), self.prime))
        return cone - rank

    # --- multidegrees ---

    def _plan(self, last: int) -> tuple[list[Any], list[_Orbits]]:
        """For each degree the multidegrees to compute, and the orbits of the permutations.

        Of an orbit the highest one is computed, and below it what its border needs.
        """
        # What adds up: keys, heights, and the keys of the images under each permutation.
        added = np.array([self.keys, self._heights, *(self.keys[image] for image, _ in self._permutations)])
        added = added[:, np.unique(self.keys, return_index=True)[1]]
        sums, variables = np.zeros((len(added), 1), dtype=np.uint64), added.shape[1]
        every: list[Any] = []
        orbits: list[_Orbits] = []
        for n in range(last + 1):
            if n:
                # The products with a coordinate each, and their sorted keys.
                size = 8 * sums.shape[1] * variables * (2 * n + 6)
                self._allow(size, f"the multidegrees of degree {n}")
                products = np.add.outer(sums[0], added[0]).ravel()
                below, factors = np.divmod(np.unique(products, return_index=True)[1], max(1, variables))
                sums = np.array([row[below] + more[factors] for row, more in zip(sums, added, strict=True)])
            self._orbits_held += 400 * sums.shape[1]  # a place and a path in a dict
            every.append(sums[0].copy())
            orbits.append(self._orbits(sums) if n > 1 else {})
        needed = [*every, sums[0, :0]]
        for n in range(last, 1, -1):
            tops = np.array([*orbits[n]], dtype=np.uint64)
            wanted = np.concatenate([tops, np.subtract.outer(needed[n + 1], added[0]).ravel()])
            at = np.minimum(every[n].searchsorted(wanted), len(every[n]) - 1)
            marked = np.zeros(len(every[n]), dtype=bool)
            marked[at[every[n][at] == wanted]] = True
            needed[n] = every[n][marked]
        return needed, orbits

    @staticmethod
    def _orbits(sums: Any) -> _Orbits:
        """The orbits of multidegrees by their highest element, with the permutations to each.

        Args:
            sums: the increasing keys of the multidegrees, their heights, and for each permutation the keys of
                their images, in rows.
        """
        keys, heights = sums[:2]
        moves = keys.searchsorted(sums[2:].T)
        order, names = np.lexsort((keys, -heights.view(np.int64))).tolist(), keys.tolist()
        left = [True] * len(names)
        orbits: _Orbits = {}
        for top in order:
            if not left[top]:
                continue
            orbit: dict[int, tuple[int, ...]] = {top: ()}
            waiting = [top]
            while waiting:
                place = waiting.pop()
                left[place] = False
                for number, there in enumerate(moves[place].tolist()):
                    if there not in orbit:
                        orbit[there] = (*orbit[place], number)
                        waiting.append(there)
            orbits[names[top]] = {names[place]: path for place, path in orbit.items()}
        return orbits

    # --- standard monomials ---

    def _codes(self, rows: IntArray) -> IntArray:
        """Numbers that order monomials, whose indices do not increase; larger for smaller monomials."""
        n, size = rows.shape[1], len(self.map)
        if n * log2(size + 1) < 62:
            powers = size ** np.arange(n - 1, -1, -1, dtype=np.int64)
            return np.asarray(rows @ powers)
        if size * log2(n + 1) < 62:
            powers = (n + 1) ** np.arange(size, dtype=np.int64)
            return np.asarray(powers[rows].sum(axis=1))
        raise TooLargeError(f"monomials of degree {n} in {size} coordinates are too many to be numbered")

    def _border(self, below: _Degree, needed: Any) -> _Degree:
        """The products of coordinates and standard monomials in the multidegrees needed."""
        rows, keys = below.rows[below.standard], below.keys[below.standard]
        next_needed = np.concatenate([needed, needed[:1]])  # the first is no larger number
        kept = []
        for key in self.keys:
            sums = keys + key
            kept.append((next_needed[needed.searchsorted(sums)] == sums).nonzero()[0])
        factors = np.arange(len(kept)).repeat([*map(len, kept)])
        # The products, and again without repetition, sorted, with their numbers, keys and counts.
        size = 8 * len(factors) * (3 * (below.n + 1) + 14)
        self._allow(
            size, f"degree {below.n + 1}: {len(factors)} products of coordinates and standard monomials"
        )
        places = np.concatenate([np.zeros(0, dtype=np.int64), *kept])
        found, keys = _times(rows[places], factors), keys[places] + self.keys[factors]
        codes = self._codes(found)
        order = np.lexsort((-codes, keys))
        first = _starts(codes[order])
        counts = np.concatenate([first[1:], [len(codes)]])[: len(first)] - first
        order = order[first]
        found, codes, keys = found[order], codes[order], keys[order]
        different = 1 + (found[:, 1:] != found[:, :-1]).sum(axis=1)
        starts = _starts(keys)
        ends = pairwise([*starts.tolist(), len(keys)])
        groups = {key: slice(a, b) for key, (a, b) in zip(keys[starts].tolist(), ends, strict=True)}
        candidate = counts == different  # all its divisors of one degree less are standard
        # Of both degrees the monomials, numbers and keys.
        self._held = 8 * ((len(found) + len(below.rows)) * (below.n + 4))
        return _Degree(below.n + 1, found, codes, keys, candidate, candidate.copy(), starts, groups)

    def _standard(self, degree: _Degree, orbits: _Orbits, bounds: Bounds | None) -> None:
        """The candidates that are no linear combinations of smaller candidates.

        They span: so they are all standard where they are no more than these are known to be.
        """
        places = degree.candidate.nonzero()[0]
        sizes = np.array(degree.count(degree.candidate), dtype=np.int64)
        rows, group = degree.rows[places], np.arange(len(sizes)).repeat(sizes)
        open_, neighbours = sizes > 1, group[1:] == group[:-1]
        for leads in self._leads:
            # Different leading terms are independent.
            leading = leads[rows].sum(axis=1)
            leading = leading[np.lexsort((leading, group))]
            again = group[1:][neighbours & (leading[1:] == leading[:-1])]
            open_ &= np.bincount(again, minlength=len(sizes)) > 0
        if sizes.max(initial=0) > MOST_CANDIDATES and not limits().force:
            raise TooLargeError(
                f"a multidegree of degree {degree.n} needs a matrix of {sizes.max()} columns; the limit is "
                f"{MOST_CANDIDATES}. Lower {argument('max_degree')}, or use {argument('force', True)}"
            )
        # The values, transposed, and their echelon form; and those of many small matrices at a time.
        most, together = int(sizes.max(initial=0)) + 4, int((sizes[open_] ** 2).sum())
        size = 8 * 5 * (most**2 + min(_TOGETHER, together))
        what = f"degree {degree.n}: a matrix of {most - 4} columns"
        self._allow(size, what)
        begins = np.cumsum(sizes) - sizes
        if bounds is not None:
            counts = self._counted(degree, orbits, *bounds(degree.n))
            open_ &= sizes != [counts.get(key) for key in degree.groups]
        lots: list[IntArray] = []
        for columns in sorted(set(sizes[open_].tolist())):
            starts, step = begins[open_ & (sizes == columns)], max(1, _TOGETHER // columns**2)
            for first in range(0, len(starts), step):
                lots.append(places[starts[first : first + step, None] + np.arange(columns)])
        values = (self.values(degree.rows[lot], lot.shape[1] + 4, self.prime) for lot in lots)
        eliminate = partial(_pivots_of_each, p=self.prime)
        for lot, pivots in zip(lots, share(eliminate, values, len(lots), size, what), strict=True):
            degree.standard[lot] = False
            for at, own in zip(lot, pivots, strict=True):
                degree.standard[at[own]] = True

    def _counted(
        self, degree: _Degree, orbits: _Orbits, decisive: int, bounds: Mapping[int, int]
    ) -> dict[int, int]:
        """The numbers of standard monomials, where a rank shows that bounds for them are met; else none."""
        tops = {place: key for key, orbit in orbits.items() for place in orbit.keys() & bounds}
        own = degree.groups.get(tops[decisive], slice(0))
        rows = degree.rows[own][degree.candidate[own]]
        if len(rows) < bounds[decisive]:
            return {}
        values = self.values(rows, bounds[decisive] + 4, self.prime)
        if len(pivot_columns(values.T, self.prime)) < bounds[decisive]:
            return {}
        return {other: bounds[place] for place, key in tops.items() for other in orbits[key]}

    def _normal_forms(self, degree: _Degree, key: int) -> tuple[IntArray, IntArray]:
        """The border monomials of a multidegree, and each as a combination of standard monomials."""
        if key not in degree.normal_forms:
            own = degree.groups[key]
            standard = degree.standard[own]
            rows = degree.rows[own]
            at, others = np.flatnonzero(standard), np.flatnonzero(~standard)
            combinations = np.zeros((0, len(at)), dtype=np.int64)
            if len(others):
                values = self.values(rows[np.concatenate([at, others])], len(at) + 4, self.prime)
                pivots, _, combinations = pivots_and_rest(values.T, self.prime)
                assert pivots.tolist() == list(range(len(at)))
            degree.normal_forms[key] = rows[others], combinations
        return degree.normal_forms[key]

    # --- generators ---

    def _products(
        self, degree: _Degree, below: _Degree, key: int
    ) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """The products of coordinates and monomials that are not standard, by coordinate.

        Each product is a combination of border monomials. Given are the columns of these, the numbers of the
        products, and the combinations, a row for each product.
        """
        codes = -degree.codes[degree.groups[key]]  # increasing
        for k, one in enumerate(self.keys):
            rest = (key - int(one)) % (1 << 64)
            if rest not in below.groups:
                continue
            monomials, combinations = self._normal_forms(below, rest)
            if len(monomials):
                inside = below.groups[rest]
                standard = below.rows[inside][below.standard[inside]]
                columns = np.searchsorted(codes, -self._codes(_times(standard, k)))
                yield columns, -self._codes(_times(monomials, k)), combinations

    def pieces(
        self, last: int, decisive: Decisive | None = None, bounds: Bounds | None = None
    ) -> Iterator[GradedPiece]:
        """The degrees 2, 3, ..., ``last`` of the ideal in the independent coordinates, one by one.

        Args:
            last: the last degree.
            decisive: from a degree and the numbers of standard monomials by multidegree, multidegrees such
                that there are no minimal generators at all if there are none in these; by default all.
            bounds: from a degree a multidegree, and bounds for the numbers of standard monomials in several,
                one among them, all of which are met if this one is.
        """
        needed, orbits = self._plan(last)
        start, true = np.zeros(1, dtype=np.int64), np.ones(1, dtype=bool)
        one = _Degree(
            0, np.zeros((1, 0), np.int64), start, start.astype(np.uint64), true, true, start, {0: slice(1)}
        )
        below, lower = self._border(one, needed[1]), False
        for n in range(2, last + 1):
            degree = self._border(below, needed[n])
            self._standard(degree, orbits[n], bounds)
            lower |= bool((below.candidate != below.standard).any())
            if lower:
                self._allow_normal_forms(below)
            counts = self._counts(degree, orbits[n])
            chosen = decisive(n, counts) if decisive and lower else counts.keys()
            first = {key: orbit for key, orbit in orbits[n].items() if orbit.keys() & chosen}
            found = self._new(degree, below, first, lower)
            if found and len(first) < len(orbits[n]):
                found = self._new(degree, below, orbits[n], lower)
            blocks = tuple(self._block(degree, orbits[n][key], key, found[key]) for key in found)
            new = {place: found[key][0] for key in found for place in orbits[n][key]}
            multidegrees = {key: (count, new.get(key, 0)) for key, count in counts.items()}
            below = degree
            yield GradedPiece(n, sum(counts.values()), blocks, multidegrees)

    @staticmethod
    def _counts(degree: _Degree, orbits: _Orbits) -> dict[int, int]:
        """The number of standard monomials in every multidegree that has a border.

        Raises:
            ArithmeticError: if multidegrees that permutations exchange have different numbers.
        """
        own = dict(zip(degree.groups, degree.count(degree.standard), strict=True))
        counts = {place: own[key] for key, orbit in orbits.items() if key in own for place in orbit}
        if any(counts.get(key, 0) != count for key, count in own.items()):
            raise ArithmeticError(f"degree {degree.n}: a prime was unlucky; give another seed")
        return counts

    def _new(
        self, degree: _Degree, below: _Degree, orbits: _Orbits, lower: bool
    ) -> dict[int, tuple[int, IntArray]]:
        """The number of minimal generators where there are any, and the equations of lower degree there."""
        missing = dict(zip(degree.groups, degree.count(degree.candidate & ~degree.standard), strict=True))
        counts = {key: missing[key] for key in orbits if missing.get(key)}
        if not lower:
            return {key: (count, degree.rows[:0]) for key, count in counts.items()}
        widths = {key: degree.groups[key].stop - degree.groups[key].start for key in counts}
        widest = max(counts, key=lambda key: widths[key], default=None)
        each = 0 if widest is None else self._bytes(below, widest, widths[widest])
        borders = (self._with_products(degree, below, key) for key in counts)
        found = share(Border.new, borders, len(counts), each, f"degree {degree.n}: relations")
        return {key: new for key, new in zip(counts, found, strict=True) if new[0]}

    def _bytes(self, below: _Degree, key: int, width: int) -> int:
        """What the relations of one multidegree need."""
        rests = ((key - int(own)) % (1 << 64) for own in self.keys)
        groups = [below.groups[rest] for rest in rests if rest in below.groups]
        return _bytes_of_relations(sum(int((~below.standard[group]).sum()) for group in groups), width)

    def _with_products(self, degree: _Degree, below: _Degree, key: int) -> Border:
        """The border of one multidegree."""
        own, products = degree.groups[key], [*self._products(degree, below, key)]
        of = -degree.codes[own], degree.candidate[own], degree.standard[own]
        return Border(degree.n, key, self.prime, self._orbits_held + self._held, *of, products)

    def _block(
        self, degree: _Degree, orbit: Mapping[int, tuple[int, ...]], key: int, new: tuple[int, IntArray]
    ) -> NewEquations:
        own, (count, relations) = degree.groups[key], new
        candidate, standard = degree.candidate[own], degree.standard[own]
        images = tuple(map(self._along, orbit.values()))
        rows, places = degree.rows[own][candidate], np.flatnonzero(candidate)
        return NewEquations(rows, count, images, relations, places, standard[candidate])

    def _allow_normal_forms(self, below: _Degree) -> None:
        """Refuse normal forms, kept for one degree, that the memory does not hold."""
        counts = zip(below.count(below.standard), below.count(~below.standard), strict=True)
        size = 8 * sum(standard * others for standard, others in counts)
        self._allow(size, f"degree {below.n + 1}: the normal forms of degree {below.n}")
        self._held += size

    def _allow(self, size: float, what: str) -> None:
        """Refuse what the memory does not hold beside all that is kept."""
        allow(self._orbits_held + self._held + size, what)

    def _along(self, path: Sequence[int]) -> Signed[int]:
        """The composition of permutations."""
        image, signs = np.arange(len(self.map)), np.ones(len(self.map), dtype=np.int64)
        for number in path:
            further, others = self._permutations[number]
            signs = signs * others[image]
            image = further[image]
        return dict(enumerate(zip(image.tolist(), signs.tolist(), strict=True)))

    # --- over the rationals ---

    def lift(self, block: NewEquations) -> list[Form]:
        """Minimal generators of a multidegree over ℤ, not yet proved; none if they take too many primes."""
        pivots, free, combinations = pivots_and_rest(
            self.values(block.candidates, len(block.candidates) + 4, self.prime).T, self.prime
        )
        order = np.concatenate([pivots, free])
        modulus, total = self.prime, combinations.astype(object)
        primes = [self.prime]
        rational: list[list[Any]] | None = None
        while len(primes) <= _MOST_PRIMES:
            rational = _rationals(total, modulus)
            p = next((q for q in self._points if q not in primes), 0) or self.map.new_prime()
            if p in primes:
                continue
            primes.append(p)
            values = self.values(block.candidates[order], len(pivots) + 4, p)
            there, _, other = pivots_and_rest(values.T, p)
            if there.tolist() != list(range(len(pivots))):
                continue  # an unlucky prime
            if rational is not None and _agree(rational, other, p):
                break
            total = total + modulus * ((other - total) * pow(modulus, -1, p) % p)
            modulus *= p
        else:  # too many, or the first of them is the unlucky one
            return []
        kernel = np.zeros((len(free), len(order)), dtype=object)
        for row, numbers in enumerate(rational):
            kernel[row, [free[row], *pivots]] = primitive([1, *(-x for x in numbers)])
        vectors = kernel.tolist()
        if kernel.size <= _REDUCED:
            vectors = short_basis(flint.fmpz_mat(vectors))
        if known := len(block.lower):
            space = RowSpace(block.lower.shape[1], self.prime)
            rows = np.zeros((len(vectors), block.lower.shape[1]))
            rows[:, block.places] = [[x % self.prime for x in vector] for vector in vectors]
            space.add(block.lower)
            space.add(rows)
            vectors = [vectors[row - known] for row in sorted(space.rows) if row >= known]
        assert len(vectors) == block.count
        monomials = [tuple(sorted(row)) for row in block.candidates.tolist()]
        return [{m: x for m, x in zip(monomials, vector, strict=True) if x} for vector in vectors]

    def __getstate__(self) -> dict[str, Any]:
        """All but polynomials, which only their own process has."""
        return {name: value for name, value in vars(self).items() if name != "_sliced"}

    @cached_property
    def _sliced(self) -> list[Polynomial]:
        return self.map.slice()[1]

    def vanish(self, forms: Sequence[Form]) -> bool | None:
        """Whether all forms vanish on the image, by exact composition; ``None`` if that takes too long."""
        products: dict[tuple[int, ...], Polynomial] = {}
        budget = MOST_PRODUCTS

        def product(monomial: tuple[int, ...]) -> Polynomial | None:
            nonlocal budget
            if len(monomial) == 1:
                return self._sliced[monomial[0]]
            if monomial not in products:
                if (start := product(monomial[:-1])) is None:
                    return None
                factor = self._sliced[monomial[-1]]
                budget -= len(start) * len(factor)
                if budget < 0:
                    return None
                products[monomial] = start * factor
            return products[monomial]

        for form in forms:
            total = self._sliced[0].ring.zero()
            for monomial, x in form.items():
                if (value := product(monomial)) is None:
                    return None
                total = total + value * x
            if total:
                return False
        return True


def permuted(terms: Mapping[tuple[K, ...], int], image: Signed[K]) -> dict[tuple[K, ...], int]:
    """A form with each coordinate replaced by another one, or its negative.

    >>> permuted({(0, 1): 5, (1, 1): 7}, {0: (1, 1), 1: (0, -1)})
    {(0, 1): -5, (0, 0): 7}
    """
    moved = {}
    for monomial, x in terms.items():
        places, signs = zip(*(image[k] for k in monomial), strict=True)
        moved[tuple(sorted(places))] = prod(signs) * x
    return moved


@dataclass(frozen=True)
class _Moved:
    """A minimal generator of a representative multidegree, moved to another one of its orbit."""

    degree: int
    form: Form
    image: Signed[int]

    @cached_property
    def terms(self) -> Form:
        """Written out where it is needed, as most are not."""
        return permuted(self.form, self.image)


class _Products(NamedTuple):
    """Products of generators of lower degree as rows, whose ``last`` columns are standard monomials.

    Modulo the prime so many generators are ``new``.
    """

    matrix: Any
    last: int
    new: int
    prime: int


def _are_minimal(products: _Products | None) -> bool:
    """Whether the equations of lower degree span no more over ℚ than modulo the prime.

    They never span less. All of them vanish at points of the image, which are as many independent functionals
    on the forms of this multidegree as there are standard monomials; each new generator needs one more, 0 on
    standard monomials, which is found over ℚ and annihilates all products.
    """
    if products is None:
        return False
    matrix, last, new, p = products
    space = RowSpace(matrix.shape[1], p)
    space.add(matrix % p)
    others = sorted(set(range(matrix.shape[1] - last)) - set(space.columns))
    # A new generator without a place here is a monomial that no product has.
    if space.rank + len(others) + last != matrix.shape[1] or len(others) > new:
        return False
    if not others:
        return True
    chosen = flint.fmpq_mat(matrix[np.ix_(space.rows, space.columns)].tolist())
    right = flint.fmpq_mat(matrix[np.ix_(space.rows, others)].tolist())
    numerators, scale = chosen.solve(right).numer_denom()
    left = flint.fmpz_mat(matrix[:, space.columns].tolist()) * numerators
    return bool(left == flint.fmpz_mat(matrix[:, others].tolist()) * scale)


class Generators:
    """Minimal generators over ℤ of an image, degree by degree, and what they prove.

    ``complete`` says whether all so far were lifted and vanish: then the Hilbert function is proved.
    """

    def __init__(self, image: Implicitization) -> None:
        self.image = image
        self.complete = True
        self._forms: list[tuple[int, _Moved]] = []  # with the keys of their multidegrees
        self._tables: dict[int, dict[int, list[tuple[int, ...]]]] = {}

    def add(self, piece: GradedPiece) -> Iterator[tuple[NewEquations, list[Form], Evidence]]:
        """The generators of one degree, multidegree by multidegree; none if they could not be lifted."""
        n, blocks = piece.degree, piece.blocks
        bases = share(self.image.lift, blocks, len(blocks), EACH, f"degree {n}: generators over the integers")
        for block, basis in zip(blocks, bases, strict=True):
            vanish = self.image.vanish(basis) if basis else None
            if vanish is False:
                raise ArithmeticError(f"an equation of degree {n} that was found does not vanish")
            self.complete &= vanish is True
            for image, form in product(block.images, basis):
                place = [image[k][0] for k in next(iter(form))]
                self._forms.append((self._key(place), _Moved(n, form, image)))
            yield block, basis, Evidence.PROVED if vanish else Evidence.MODULAR

    def proved_forms(self) -> Iterator[Form]:
        """The minimal generators, where all that were found are proved to vanish."""
        yield from (moved.terms for _, moved in self._forms) if self.complete else ()

    def all_proved(self, piece: GradedPiece) -> bool:
        """Whether the numbers of the last degree are proved, that of minimal generators too."""
        if not self.complete:
            return False
        blocks = [block for block in piece.blocks if len(block.lower)]
        products = (self._products(piece.degree, block) for block in blocks)
        what = f"degree {piece.degree}: products over the rationals"
        return all(share(_are_minimal, products, len(blocks), 64 * MOST_ENTRIES, what))

    def _key(self, monomial: Sequence[int]) -> int:
        return int(sum(int(self.image.keys[k]) for k in monomial) % (1 << 64))

    def _products(self, n: int, block: NewEquations) -> _Products | None:
        """The products of generators of lower degree in the multidegree of a block; none if too many."""
        key = self._key(block.candidates[0])
        rows = []
        for own, moved in self._forms:
            if moved.degree < n:
                for factor in self._monomials(n - moved.degree).get((key - own) % (1 << 64), ()):
                    rows.append({tuple(sorted((*m, *factor))): x for m, x in moved.terms.items()})
        last = [tuple(sorted(row)) for row in block.candidates[block.standard].tolist()]
        occurring = dict.fromkeys(monomial for row in rows for monomial in row)
        for monomial in last:
            occurring.pop(monomial, None)
        columns = {monomial: place for place, monomial in enumerate([*occurring, *last])}
        if len(rows) * len(columns) > MOST_ENTRIES:
            return None
        small = all(abs(x) < 1 << 62 for row in rows for x in row.values())
        matrix = np.zeros((len(rows), len(columns)), dtype=np.int64 if small else object)
        for values, row in zip(matrix, rows, strict=True):
            values[[columns[m] for m in row]] = list(row.values())
        return _Products(matrix, len(last), block.count, self.image.prime)

    def _monomials(self, n: int) -> dict[int, list[tuple[int, ...]]]:
        """All monomials of one degree by multidegree."""
        if n not in self._tables:
            table: defaultdict[int, list[tuple[int, ...]]] = defaultdict(list)
            for monomial in combinations_with_replacement(range(len(self.image.map)), n):
                table[self._key(monomial)].append(monomial)
            self._tables[n] = table
        return self._tables[n]


def _gradient(form: Form, values: Sequence[int], p: int) -> list[int]:
    """The derivatives of a form at a point modulo p."""
    gradient = [0] * len(values)
    for monomial, x in form.items():
        for place, k in enumerate(monomial):
            others = (*monomial[:place], *monomial[place + 1 :])
            gradient[k] += x * prod(values[other] for other in others)
    return [derivative % p for derivative in gradient]


def _rationals(residues: Any, modulus: int) -> list[list[Fraction]] | None:
    """The rational numbers with these residues; ``None`` if a residue belongs to no small fraction."""
    numbers: dict[int, Fraction] = {}
    for x in dict.fromkeys(residues.ravel().tolist()):
        if (number := rational_number(x, modulus)) is None:
            return None
        numbers[x] = number
    return [[numbers[x] for x in row] for row in residues.tolist()]


def _agree(rational: list[list[Fraction]], residues: IntArray, p: int) -> bool:
    pairs = zip(chain.from_iterable(rational), residues.ravel().tolist(), strict=True)
    return not any((x.numerator - y * x.denominator) % p for x, y in pairs)


def _fingerprints(vectors: IntArray, hashing: np.random.Generator) -> Any:
    factors = hashing.integers(1 << 62, size=vectors.shape[1], dtype=np.uint64)
    return (vectors.astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)


def _starts(numbers: Any) -> IntArray:
    """Where equal numbers, which are neighbours, begin."""
    new = np.ones(len(numbers), dtype=bool)
    new[1:] = numbers[1:] != numbers[:-1]
    return new.nonzero()[0]


def _times(rows: IntArray, k: int | IntArray) -> IntArray:
    """The monomials multiplied by coordinate k, or each by its own."""
    new = np.empty((len(rows), rows.shape[1] + 1), dtype=np.int64)
    new[:, :-1] = rows
    new[:, -1] = k
    new.sort(axis=1)
    return new[:, ::-1]


def _rewritten(rows: Residues, rules: Residues, places: IntArray, p: int) -> Residues:
    """Rows without the columns at some places, which increase, modulo p.

    An entry x at ``places[i]`` is replaced by x·``rules[i]``, which has entries before that place alone.
    """
    for stop in range(len(places), 0, -_REPLACED):
        block = slice(max(0, stop - _REPLACED), stop)
        own, end = places[block], int(places[stop - 1])
        inner, factors = rules[block][:, own].astype(np.int64), rows[:, own].astype(np.int64)
        for i in range(len(own) - 1, 0, -1):
            factors[:, :i] = (factors[:, :i] + factors[:, i : i + 1] * inner[i, :i]) % p
        less = (-factors % p).astype(np.float64)
        rows[:, :end] = less_product(rows[:, :end], less, rules[block, :end], p)
    return np.delete(rows, places, axis=1)


def _bytes_of_relations(height: int, width: int) -> int:
    """The rows in parts and together, their residues, and the echelon form."""
    return 8 * width * (4 * height + width)


def _pivots_of_each(values: IntArray, p: int) -> list[IntArray]:
    """The pivots of transposed matrices."""
    return [pivot_columns(matrix, p) for matrix in values.swapaxes(1, 2)]
