r"""Whether the set M of functions of an architecture is closed: one question, in a word and in a sentence.

Of one layer the theorems of :mod:`~agattn.geometry.closedness.several_heads` answer, of networks of several
layers that of :mod:`~agattn.geometry.closedness.limits`, of other models the proof below. Limits of diverging
weights outside of M are shown where such are known.

**Closed images.** Let the parameters be divided into blocks θ_1, ..., θ_k, and let all coordinates of φ be
homogeneous of degree δ_i > 0 in θ_i, with the same δ = (δ_1, ..., δ_k). If φ(θ) = 0 only where some θ_i = 0,
the image of φ is closed: it is a cone over the image of a product of spheres, which is compact and does not
contain 0.

*Blocks.* The degree in a block is the same on all monomials if and only if the vector with 1 at its
parameters and 0 elsewhere has one value on all exponents. These vectors are those with entries 0 and 1 in a
linear space. A finer division has fewer conditions, so blocks that are unions of others are not tried.

*Zeros.* φ has no zero over ℂ beyond those if and only if the ideal of its coordinates contains all monomials
of some multidegree D. If it does for any, it does for D_i = (r + 1)δ_i − n_i + 1, where n_i is the size of
θ_i and r = Σ(n_i − 1): the page on model points has the proof. A rank modulo a prime that is the number of
these monomials proves it.

>>> from agattn.algebra.polynomial import PolynomialRing
>>> s, t = PolynomialRing(["s", "t"]).gens
>>> closed_image([s**3, s**2 * t, s * t**2, t**3])
Blocks(places=((0, 1),), degrees=(3,), contains=(3,))
>>> closed_image([s**2, s * t]) is None                              # zero at s = 0
True
>>> from agattn.architectures import DeepNetwork, SingleLayer
>>> print(is_closed_set(SingleLayer(2, 1)).sentence)
M is closed (proved). φ = 0 only where A = 0 or V = 0, so M is the cone over a compact set.
>>> found = is_closed_set(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> found.closed, found.limits.dimension
(False, 7)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import comb, prod
from typing import NamedTuple

import numpy as np

from agattn.algebra.echelon import echelon, fraction, kernel_basis, rational_matrix
from agattn.algebra.polynomial import Exponents, Polynomial
from agattn.algebra.residues import RowSpace, random_prime
from agattn.architectures import Architecture, DeepNetwork
from agattn.geometry.closedness.limits import LimitSet, is_closed, limit_set
from agattn.geometry.closedness.several_heads import HeadsLimit, closedness, is_one_layer
from agattn.geometry.variety.coefficient_map import CoefficientMap
from agattn.limits import limits

#: Multidegrees with more monomials are not tried, nor divisions where so many vectors have to be looked at.
MOST_MONOMIALS, MOST_VECTORS = 500, 2**12
#: Maps with more different exponents have no blocks looked for.
MOST_EXPONENTS = 5_000
#: So many divisions into blocks are tried.
_MOST_DIVISIONS = 20

Places = tuple[int, ...]


class Blocks(NamedTuple):
    """A proof that the image of a map is closed.

    Attributes:
        places: of the parameters in each block; what occurs in no coordinate is in none.
        degrees: of the coordinates in each block.
        contains: a multidegree of which the ideal of the coordinates contains all monomials.
    """

    places: tuple[Places, ...]
    degrees: tuple[int, ...]
    contains: tuple[int, ...]


def closed_image(polynomials: Sequence[Polynomial]) -> Blocks | None:
    """Blocks that prove that the image of a polynomial map is closed, over ℝ and over ℂ, or ``None``.

    ``None`` says nothing about the image. Constants are left out: they move it.

    >>> from agattn.algebra.polynomial import PolynomialRing
    >>> a, b, x, y = PolynomialRing(["a", "b", "x", "y"]).gens
    >>> closed_image([a * x, a * y + b * x + 1, b * y])               # products of two linear forms
    Blocks(places=((0, 1), (2, 3)), degrees=(1, 1), contains=(2, 2))
    """
    origin = (0,) * len(polynomials[0].ring) if polynomials else ()
    moved = [f.ring.from_terms({e: c for e, c in f.terms.items() if e != origin}) for f in polynomials]
    coordinates = [f for f in moved if f]
    exponents = list({e for f in coordinates for e in f.terms})
    if not exponents or len(exponents) > MOST_EXPONENTS:
        return None
    for blocks in itertools.islice(_divisions(exponents), _MOST_DIVISIONS):
        degrees = tuple(sum(exponents[0][i] for i in block) for block in blocks)
        if (contains := _full_multidegree(coordinates, blocks, degrees)) is not None:
            return Blocks(blocks, degrees, contains)
    return None


def _divisions(exponents: list[Exponents]) -> Iterator[tuple[Places, ...]]:
    """The divisions of all parameters that occur into least blocks with one degree each."""
    occurring = [i for i in range(len(exponents[0])) if any(e[i] for e in exponents)]
    first = exponents[0]
    differences = [[e[i] - first[i] for i in occurring] for e in exponents]
    basis = kernel_basis(rational_matrix(differences, len(occurring)))
    if not basis or 2 ** len(basis) > MOST_VECTORS:
        return
    reduced, pivots = echelon(rational_matrix(basis, len(occurring)))
    table = [[fraction(reduced[r, j]) for j in range(len(occurring))] for r in range(len(pivots))]
    candidates = []
    for chosen in itertools.product((0, 1), repeat=len(pivots)):
        vector = [
            sum(row[j] for c, row in zip(chosen, table, strict=True) if c) for j in range(len(occurring))
        ]
        if any(vector) and set(vector) <= {0, 1}:
            candidates.append(frozenset(i for i, x in zip(occurring, vector, strict=True) if x))
    least = [block for block in candidates if not any(other < block for other in candidates)]
    for cover in _covers(frozenset(occurring), sorted(least, key=sorted)):
        yield tuple(tuple(sorted(block)) for block in cover)


def _covers(indices: frozenset[int], blocks: list[frozenset[int]]) -> Iterator[list[frozenset[int]]]:
    """All ways to write a set as a disjoint union of some of the given blocks."""
    if not indices:
        yield []
        return
    for block in blocks:
        if min(indices) in block <= indices:
            for rest in _covers(indices - block, blocks):
                yield [block, *rest]


def _full_multidegree(
    coordinates: list[Polynomial], blocks: tuple[Places, ...], degrees: tuple[int, ...]
) -> tuple[int, ...] | None:
    """A multidegree of which the ideal of the coordinates contains all monomials, if one is found."""
    r = sum(len(block) - 1 for block in blocks)
    if len(coordinates) <= r:
        return None  # they have a common zero over ℂ with no block 0
    tried = set[tuple[int, ...]]()
    for factor in range(1, r + 2):
        multidegree = tuple(
            min(factor * degree, (r + 1) * degree - len(block) + 1)
            for block, degree in zip(blocks, degrees, strict=True)
        )
        count = prod(comb(len(b) + n - 1, n) for b, n in zip(blocks, multidegree, strict=True))
        if count > MOST_MONOMIALS:
            return None
        if multidegree not in tried and _contains(coordinates, blocks, degrees, multidegree):
            return multidegree
        tried.add(multidegree)
    return None


def _contains(
    coordinates: list[Polynomial],
    blocks: tuple[Places, ...],
    degrees: tuple[int, ...],
    multidegree: tuple[int, ...],
) -> bool:
    """Whether the multiples of the coordinates span all polynomials of a multidegree, modulo a prime."""
    p, size = random_prime(np.random.default_rng(limits().seed)), len(coordinates[0].ring)
    column = {e: i for i, e in enumerate(_monomials(size, blocks, multidegree))}
    factors = list(_monomials(size, blocks, tuple(n - d for n, d in zip(multidegree, degrees, strict=True))))
    space = RowSpace(len(column), p)
    for f in coordinates:
        terms = [(e, int(c) % p) for e, c in f.primitive().terms.items()]
        rows = np.zeros((len(factors), len(column)))
        for row, factor in zip(rows, factors, strict=True):
            for e, c in terms:
                row[column[tuple(x + y for x, y in zip(e, factor, strict=True))]] = c
        if space.add(rows) == len(column):
            return True
    return False


def _monomials(size: int, blocks: tuple[Places, ...], multidegree: tuple[int, ...]) -> Iterator[Exponents]:
    """The exponents of all monomials of a multidegree."""
    each = (
        itertools.combinations_with_replacement(block, n)
        for block, n in zip(blocks, multidegree, strict=True)
    )
    for chosen in itertools.product(*each):
        exponents = [0] * size
        for i in itertools.chain(*chosen):
            exponents[i] += 1
        yield tuple(exponents)


class Closed(NamedTuple):
    """Whether M is closed, where a theorem says; in a sentence; and limits outside, where such are known."""

    closed: bool | None
    sentence: str
    limits: LimitSet | HeadsLimit | None = None


def is_closed_set(
    architecture: Architecture, source: CoefficientMap | None = None, is_affine: bool = False
) -> Closed:
    """Whether the set M of functions of an architecture is closed in the Euclidean topology.

    Args:
        architecture: a lightning network, where a layer is the network of one layer; or any polynomial model.
        source: the coordinates of a model, where they are known; a network needs none.
        is_affine: whether the Zariski closure is known to be an affine space.

    See Also:
        :func:`agattn.geometry.singular_points.singularities.singularities`: its sheet has this sentence.
    """
    network = architecture.as_network()
    if network is None:
        return _of_model(source, is_affine)
    return _of_one_layer(network) if is_one_layer(network) else _of_layers(network)


def _of_one_layer(network: DeepNetwork) -> Closed:
    answer = closedness(network)
    if answer.status == "open":
        return Closed(None, "Whether M is closed is open.")
    shown = f" A limit outside: {answer.limit}." if answer.limit else ""
    sentence = f"M is {answer.status} (proved). {answer.reason}.{shown}"
    return Closed(answer.status == "closed", sentence, answer.limit)


def _of_layers(network: DeepNetwork) -> Closed:
    closed = is_closed(network)
    if closed is not False:
        return Closed(closed, "M is closed (proved)." if closed else "Whether M is closed is not known.")
    outside = limit_set(network)
    low, high, i = outside.dimension, outside.upper_bound, outside.first
    size = f"dimension {low}" if low == high else f"dimension {low} to {high}"
    sentence = (
        f"M is not closed (proved). Diverging weights, where M_{i} tends to rank 1 and M_{i + 1} to a skew "
        f"matrix, have limits that no weights reach, of {size}."
    )
    return Closed(False, sentence, outside)


def _of_model(source: CoefficientMap | None, is_affine: bool) -> Closed:
    blocks = None if source is None else closed_image(source.polynomials)
    if blocks is None or source is None:
        return Closed(None, f"Whether M is {'all of M̄' if is_affine else 'closed'} is not known.")
    parts = [_block(source, block) for block in blocks.places]
    each = " and ".join(f"of degree {n} in {part}" for n, part in zip(blocks.degrees, parts, strict=True))
    zero = " or ".join(f"{part} = 0" for part in parts)
    multidegree = " and ".join(f"{n} in {part}" for n, part in zip(blocks.contains, parts, strict=True))
    sentence = (
        f"M is closed (proved), over ℝ and over ℂ: φ is homogeneous {each}, and 0 only where {zero}, as its "
        f"coordinates generate all monomials of degree {multidegree}."
    )
    return Closed(True, sentence)


def _block(source: CoefficientMap, indices: Sequence[int]) -> str:
    """Some parameters in words: the names of arrays, where they are whole, and of single entries."""
    named, rest = [], list(indices)
    first = 0
    for name, shape in source.architecture.shapes.items():
        whole = range(first, first := first + prod(shape))
        if set(whole) <= set(rest):
            named.append(name)
            rest = [i for i in rest if i not in whole]
    named += [str(source.ring.gens[i]) for i in rest]
    return named[0] if len(named) == 1 else f"({', '.join(named)})"
