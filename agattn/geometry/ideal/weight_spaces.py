r"""All modules of a layer degree by degree, from weight spaces modulo a prime, proved over ℚ; t ≥ 2.

The multiplicities of S_λE ⊗ S_μF ⊗ S_νU (:mod:`~agattn.geometry.ideal.isotypic`) do not depend on the
dimensions of E, F and U, where the module occurs at all. So they are found for small spaces and hold for all:

- a module with ℓ(λ) > d or ℓ(μ) > α lies whole in the ideal, as the coordinate ring is a quotient of
  Sym(E ⊗ U) ⊗ Sym(F ⊗ U) that has no such functions;
- one with ℓ(λ) > d + 1 or ℓ(μ) > α + 1 has no minimal generators: a box less leaves more than d, or α, rows,
  so that all of R_{n−1} which maps to it lies in the ideal already.

So E of dimension min(d', d + 1) and F of dimension min(d, α + 1) are enough. In these spaces
:class:`~agattn.geometry.ideal.implicitization.Implicitization` finds, for each weight, the dimension h of the
coordinate ring and the number g of minimal generators modulo a prime p > 2n; it solves for equations that do
not follow from lower degrees, and for no others. Dominant weights determine both characters, and these the
multiplicities c_p and g_p.

**Proof.** Suppose that degree n − 1 is proved: dim I_{n−1} is the dimension modulo p in every weight. Ranks
modulo p are lower bounds: dim (R/I)_n ≥ h and dim R_1·I_{n−1} ≥ its dimension modulo p in every weight. So
g = 0 in a weight proves there that h is right, and that I_n is R_1·I_{n−1}.

*Without minimal generators.* Every module of degree n has vectors of the weight (⌈n/e⌉, ..., ⌊n/e⌋) that is
spread evenly, as dominance order ends there. So g = 0 in this weight proves that there are no minimal
generators. Multiplicities c are at most Littlewood-Richardson numbers, and zero where ℓ(μ) > α, or where
λ = μ = (n) and ν = (2n − k, k) with k odd, as functions agree on the two preimages of points of rank one.
Where c_p is less than this bound, g = 0 is found in the weight of the module, too. Then c = c_p for all
modules, from the highest weight down: c = h − Σ (multiplicities above) · (Kostka numbers) ≥ c_p, and either
c_p meets the bound, or h is right.

*With minimal generators.* As p exceeds the degrees, polynomial representations of GL modulo p are sums of
irreducible ones, as in characteristic 0. For each module w with g_p(w) > 0 the multiplicity of w in I_n is
computed exactly over ℚ by :class:`~agattn.geometry.ideal.isotypic.IsotypicComponent`, and must be that modulo
p. Then R_1·I_{n−1} and these modules together are at least as large over ℚ as all of the kernel modulo p. As
they lie in I_n, dim (R/I)_n ≤ h. So both are equal, and I_n is R_1·I_{n−1} and the modules w: no other module
has minimal generators. For these the number of minimal generators is computed exactly over ℚ, too.

**One matrix in place of many.** Bounds for the multiplicities c bound the dimension of each weight of R/I by
Kostka numbers, also modulo p. No Kostka number is 0 in the weight that is spread evenly. So where a rank
shows that the bound is met there, all bounds are met, and all dimensions are known. A weight that has as many
candidates needs no matrix, as candidates span.

The multiplicities in the polynomial ring are a formula of characters (:func:`ring_multiplicities`).

**Other images.** For t = 1 GL(d')×GL(d) acts on the coordinates, and both act on other images than M̄. Where
the image of a map is invariant under the group, its ideal is a sum of modules in each degree, and dominant
weights determine them. :class:`~agattn.geometry.ideal.implicitization.Generators` proves the dimensions.

>>> from agattn.architectures import SingleLayer
>>> layer = SingleLayer(2, 7, 1)
>>> smallest_spaces(layer, 5)
(3, 2)
>>> *_, cubics = modules_by_weights(layer, 3)
>>> {shape: numbers for shape, numbers in cubics.items() if numbers.minimal_generators}
{((1, 1, 1), (3,), (3, 3)): Multiplicities(ring=1, coordinate_ring=0, minimal_generators=1)}
>>> layer = SingleLayer(2, 2, t=1)
>>> *_, (n, modules, evidence) = modules_of_image(one_token_image(layer, 4), 4)
>>> n, {shape: numbers for shape, numbers in modules.items() if numbers.minimal_generators}, str(evidence)
(4, {((2, 2), (8, 4)): Multiplicities(ring=2, coordinate_ring=1, minimal_generators=1)}, 'proved')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.characters import (
    Partition,
    centralizer_order,
    decompose,
    kostka,
    littlewood_richardson,
    module_dimension,
    module_name,
    partitions,
    schur_dimension,
    specht_dimension,
    symmetric_character,
)
from agattn.algebra.residues import RowSpace
from agattn.architectures import PolynomialMap, SingleLayer
from agattn.errors import TooLargeError, argument
from agattn.evidence import Evidence
from agattn.geometry.ideal.implicitization import Generators, GradedPiece, Implicitization
from agattn.geometry.ideal.isotypic import Shape, component, shapes
from agattn.geometry.ideal.torus_weights import monomials_of_weight
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.limits import limits, log

#: The largest number of monomials of one degree, unless forced.
MOST_MONOMIALS = 20_000_000
#: The largest Specht module that is computed with unless forced; degree 5 needs 768, degree 6 up to 7700.
LARGEST_SPECHT_MODULE = 1500


class Multiplicities(NamedTuple):
    """How often a module occurs."""

    ring: int
    coordinate_ring: int
    minimal_generators: int


def multiplicities(shape: Shape, alpha: int) -> Multiplicities:
    """How often a module occurs for t ≥ 2 and this α, from matrices of Specht modules."""
    space = component(shape)
    return Multiplicities(space.ring, space.coordinate(alpha), space.minimal_generators(alpha))


@dataclass(frozen=True, eq=False)
class InvariantImage:
    """An image on which the groups of a layer act, in spaces that show all modules.

    Attributes:
        layer: in whose coordinates the image is.
        source: the map; no linear form vanishes on its image.
        names: the letters of each coordinate, counted from 0, in its order.
        sizes: the dimensions of the spaces.
    """

    layer: SingleLayer
    source: CoefficientMap
    names: Sequence[tuple[int, ...]]
    sizes: Sequence[int]

    @cached_property
    def ideal(self) -> Implicitization:
        """The ideal of the image modulo a prime."""
        return Implicitization(self.source)

    @cached_property
    def _fingerprints(self) -> dict[tuple[int, ...], int]:
        return dict(zip(self.names, map(int, self.ideal.keys), strict=True))

    def weights(self, n: int) -> Iterator[tuple[Any, int]]:
        """The dominant weights of degree n, with their fingerprints."""
        for weight in product(*(partitions(size, k) for size, k in self.shares(n))):
            yield weight, self._key(weight)

    def even_weight(self, n: int) -> tuple[Partition, ...]:
        """The weight of degree n that is spread most evenly."""
        parts = (((size + k - 1 - row) // k for row in range(min(size, k))) for size, k in self.shares(n))
        return tuple(map(tuple, parts))

    def even(self, n: int) -> int:
        """Its fingerprint."""
        return self._key(self.even_weight(n))

    def shares(self, n: int) -> list[tuple[int, int]]:
        """For each space the degree in it, and its dimension."""
        return [(n * degree, k) for degree, k in zip(self.layer.gl_degrees, self.sizes, strict=True)]

    def _key(self, weight: tuple[Partition, ...]) -> int:
        # Any monomial of the weight has its multidegree: the letters of each space are dealt out in order.
        hands = []
        for part, degree in zip(weight, self.layer.gl_degrees, strict=True):
            letters = [letter for letter, many in enumerate(part) for _ in range(many)]
            hands.append([tuple(letters[k : k + degree]) for k in range(0, len(letters), degree)])
        return sum(self._fingerprints[sum(index, ())] for index in zip(*hands, strict=True)) % (1 << 64)

    def modules(self, piece: GradedPiece) -> dict[Any, Multiplicities]:
        """The modules of one degree of the polynomial ring of the layer, from dominant weight spaces."""
        n = piece.degree
        weights = {w: piece.multidegrees[key] for w, key in self.weights(n) if key in piece.multidegrees}
        coordinate = decompose({weight: standard for weight, (standard, _) in weights.items()})
        generators = decompose({weight: new for weight, (_, new) in weights.items()})
        return {
            shape: Multiplicities(many, coordinate.get(shape, 0), generators.get(shape, 0))
            for shape, many in ring_of_layer(self.layer, n).items()
        }

    def linear_forms(self) -> dict[Any, Multiplicities]:
        """The modules of degree 1, none of which vanishes."""
        return {shape: Multiplicities(many, many, 0) for shape, many in ring_of_layer(self.layer, 1).items()}


def modules_by_weights(layer: SingleLayer, last: int) -> Iterator[dict[Shape, Multiplicities]]:
    """The modules of the polynomial ring of a layer with t ≥ 2 in degrees 1, ..., ``last``.

    Highest weights come first. No result depends on the seed.

    Raises:
        TooLargeError: if a weight space or the memory it needs is beyond the limits.
        ArithmeticError: if a prime was unlucky; another seed helps.
    """
    image = _in_small_spaces(layer, last)
    yield image.linear_forms()
    for piece in image.ideal.pieces(last, partial(_decisive, image), partial(_bounds, image)):
        modules = image.modules(piece)
        for shape, numbers in modules.items():
            if numbers.minimal_generators:
                _prove(shape, numbers, layer.alpha)
        yield modules


def hilbert_value(layer: SingleLayer, n: int) -> int | None:
    """The Hilbert function of a layer with t ≥ 2 in one degree, if a rank in one weight shows it; else None.

    That is where the bounds for all multiplicities are met, as in the module docstring.

    >>> hilbert_value(SingleLayer(2, 1), 4), hilbert_value(SingleLayer(3, 2), 5)
    (125, 289656)
    """
    image = _in_small_spaces(layer, n)
    (even, bounds), places = _bounds(image, n), {name: k for k, name in enumerate(image.names)}
    most, step = bounds[even], bounds[even] // 2 + 1
    space = RowSpace(most + 4, image.ideal.prime)
    monomials = monomials_of_weight(image.even_weight(n))
    rows = np.array([[places[tuple(i - 1 for i in index)] for index in monomial] for monomial in monomials])
    image.ideal.map.random.shuffle(rows)
    for start in range(0, len(rows), step):
        space.add(image.ideal.values(rows[start : start + step], most + 4, space.p))
        if space.rank == most:
            multiplicities = _most(image, n).items()
            return sum(many * module_dimension(shape, layer.gl_sizes) for shape, many in multiplicities)
    return None


def _in_small_spaces(layer: SingleLayer, last: int) -> InvariantImage:
    """M̄ of a layer with t ≥ 2, in spaces that show all modules up to a degree."""
    outputs, columns = smallest_spaces(layer, last)
    y: list[tuple[int, ...]] = [
        (c, b, i, k)
        # In this order equations have leading terms of lower degrees than in that of the layer.
        for i, k in combinations_with_replacement(range(layer.d), 2)
        for c, b in product(range(outputs), range(columns))
    ]
    source = coefficient_map(_parametrization(layer, outputs, columns, y))
    return InvariantImage(layer, source, y, (outputs, columns, layer.d))


def _decisive(image: InvariantImage, n: int, standard: Mapping[int, int]) -> set[int]:
    """The weight that is spread evenly, and those of modules that occur less often than their bound."""
    coordinate = decompose({weight: standard.get(key, 0) for weight, key in image.weights(n)})
    most = _most(image, n)
    below = {key for weight, key in image.weights(n) if coordinate.get(weight, 0) < most[weight]}
    return below | {image.even(n)}


def _bounds(image: InvariantImage, n: int) -> tuple[int, dict[int, int]]:
    """The weight that is spread evenly, and bounds for the weights of the coordinate ring.

    They are sums of bounds for multiplicities times Kostka numbers. These are not 0 in the weight that is
    spread evenly: if the bound is met there, that for each multiplicity is.
    """
    tables = [list(partitions(size, k)) for size, k in image.shares(n)]
    counts = np.array([*_most(image, n).values()], dtype=object).reshape([*map(len, tables)])
    for table in tables:
        numbers = np.array([[kostka(nu, weight) for weight in table] for nu in table], dtype=object)
        counts = np.tensordot(counts, numbers, (0, 0))  # the first axis becomes the last
    keys = (key for _, key in image.weights(n))
    return image.even(n), dict(zip(keys, counts.ravel().tolist(), strict=True))


def _most(image: InvariantImage, n: int) -> dict[Any, int]:
    """Bounds for the multiplicities in the coordinate ring."""
    ring, alpha = ring_of_layer(image.layer, n), image.layer.alpha
    return {shape: min(ring.get(shape, 0), _on_the_source(shape, alpha)) for shape, _ in image.weights(n)}


def _on_the_source(shape: Shape, alpha: int) -> int:
    """A bound for the multiplicity in the functions on the source that respect preimages."""
    lam, mu, nu = shape
    n = sum(lam)
    if len(mu) > alpha or (lam == mu == (n,) and len(nu) == 2 and nu[1] % 2):
        return 0
    return littlewood_richardson(nu, lam, mu)


def _prove(shape: Shape, modular: Multiplicities, alpha: int) -> None:
    """Compute a module of minimal generators over ℚ."""
    if not limits().force and (rows := specht_dimension(shape[2])) > LARGEST_SPECHT_MODULE:
        raise TooLargeError(
            f"{module_name(shape)} has minimal generators, and their proof needs matrices of {rows} "
            f"rows; the limit is {LARGEST_SPECHT_MODULE}. Lower {argument('max_degree')}, or use "
            f"{argument('force', True)}"
        )
    if (exact := multiplicities(shape, alpha)) != modular:
        raise ArithmeticError(
            f"{module_name(shape)}: {exact} over ℚ and {modular} modulo a prime, which was unlucky; give "
            "another seed"
        )


def one_token_image(layer: SingleLayer, last: int) -> InvariantImage:
    """The neuromanifold of a layer with t = 1, in spaces that show all modules up to a degree.

    The coordinate ring is part of Sym(E ⊗ U) ⊗ Sym(S²U) and has no modules with ℓ(λ) > d, so that minimal
    generators have ℓ(λ) ≤ d + 1: E of dimension min(d', d + 1) is enough.
    """
    outputs = min(layer.d_out, layer.d + 1, last)
    # Over ℂ the symmetric part of A is any symmetric matrix of rank at most 2a.
    rank = min(layer.a, (layer.d + 1) // 2)
    source = coefficient_map(type(layer)(layer.d, outputs, rank, 1))
    names = [
        (one.row - 1, *(letter for letter, times in enumerate(one.exponents) for _ in range(times)))
        for one in source.coordinates
    ]
    return InvariantImage(layer, source, names, (outputs, layer.d))


def modules_of_image(
    image: InvariantImage, last: int
) -> Iterator[tuple[int, dict[Any, Multiplicities], Evidence]]:
    """The modules in the coordinates of a layer of degrees 1, ..., ``last``, and how they are known.

    Raises:
        TooLargeError: beyond the stated limits, or before a step that would take more memory than is allowed.
        ArithmeticError: if a prime was unlucky; another seed helps.
    """
    check_size(len(image.names), last)
    # The coordinates are an irreducible module: no linear form vanishes.
    yield 1, image.linear_forms(), Evidence.PROVED
    generators = Generators(image.ideal)
    for piece in image.ideal.pieces(last):
        log.info(f"degree {piece.degree}: {piece.minimal_generators} new equations")
        for _ in generators.add(piece):
            pass
        evidence = Evidence.PROVED if generators.all_proved(piece) else Evidence.MODULAR
        yield piece.degree, image.modules(piece), evidence


def check_size(coordinates: int, max_degree: int) -> None:
    """Refuse a degree with too many monomials, unless forced.

    Raises:
        TooLargeError: above :data:`MOST_MONOMIALS`.
    """
    if not limits().force and (size := comb(coordinates + max_degree - 1, max_degree)) > MOST_MONOMIALS:
        raise TooLargeError(
            f"degree {max_degree} in {coordinates} coordinates has {size} monomials; the limit is "
            f"{MOST_MONOMIALS}. Lower {argument('max_degree')}, or use {argument('force', True)}"
        )


def smallest_spaces(layer: SingleLayer, last: int) -> tuple[int, int]:
    """Dimensions of E and F in which all modules up to a degree show that the coordinate ring or minimal
    generators may have."""
    return min(layer.d_out, layer.d + 1, last), min(layer.d, layer.alpha + 1, last)


def _parametrization(
    layer: SingleLayer, outputs: int, columns: int, y: Sequence[tuple[int, ...]]
) -> PolynomialMap:
    """(V, A) ↦ y for V of some rows and A of some columns; A = KᵀQ where its rank is bounded."""

    def forms(V: Any, A: Any) -> list[Any]:
        return [V[c, i] * A[k, b] + (V[c, k] * A[i, b] if i < k else 0) for c, b, i, k in y]

    if layer.alpha >= columns:
        return PolynomialMap(forms, {"V": (outputs, layer.d), "A": (layer.d, columns)})

    def bounded(V: Any, K: Any, Q: Any) -> list[Any]:
        return forms(V, K.T @ Q)

    rank = layer.alpha
    return PolynomialMap(bounded, {"V": (outputs, layer.d), "K": (rank, layer.d), "Q": (rank, columns)})


# --- the polynomial ring ---


#: Complete symmetric functions: k!·h_k = Σ c·p_ρ, by the parts of ρ.
_COMPLETE: dict[int, dict[Partition, int]] = {2: {(1, 1): 1, (2,): 1}, 3: {(1, 1, 1): 1, (2, 1): 3, (3,): 2}}


def ring_multiplicities(
    lams: Sequence[Partition], mus: Sequence[Partition], nus: Sequence[Partition], power: int = 2
) -> dict[Shape, int]:
    r"""The multiplicities of S_λ ⊗ S_μ ⊗ S_ν in Symⁿ(E ⊗ F ⊗ S^k U), those that are not 0; k = 2 or 3.

    With p_ρ the power sums and z_ρ the orders of centralizers, the character of Symⁿ is

        Σ_ρ p_ρ(E)·p_ρ(F)·p_ρ[h_k](U) / z_ρ,     p_r[h_2] = (p_r² + p_{2r}) / 2,
                                                 p_r[h_3] = (p_r³ + 3 p_r p_{2r} + 2 p_{3r}) / 6,

    and the coefficient of s_λ in p_ρ is the character of the symmetric group.

    >>> ring_multiplicities([(2,)], [(2,), (1, 1)], [(4,), (3, 1), (2, 2)])
    {((2,), (2,), (4,)): 1, ((2,), (2,), (2, 2)): 1, ((2,), (1, 1), (3, 1)): 1}
    >>> ring_multiplicities([(2,)], [(2,)], [(6,), (5, 1), (4, 2)], power=3)
    {((2,), (2,), (6,)): 1, ((2,), (2,), (4, 2)): 1}
    """
    n = sum(lams[0])
    classes = list(partitions(n))
    # Python's integers, as sums over all permutations grow beyond 64 bits.
    first, second = (
        np.array([[symmetric_character(shape, rho) for rho in classes] for shape in table], dtype=object)
        for table in (lams, mus)
    )
    grown = [_plethysm(rho, power) for rho in classes]
    third = np.array(
        [[sum(c * symmetric_character(nu, one) for one, c in f.items()) for f in grown] for nu in nus], object
    )
    scale = factorial(power)
    sizes = np.array(
        [factorial(n) // centralizer_order(rho) * scale ** (n - len(rho)) for rho in classes], dtype=object
    )
    pairs = (first[:, None, :] * second[None, :, :] * sizes).reshape(-1, len(classes))
    totals = (pairs @ third.T).ravel().tolist()
    return {
        shape: total // (factorial(n) * scale**n)
        for shape, total in zip(product(lams, mus, nus), totals, strict=True)
        if total
    }


def _plethysm(rho: Partition, power: int) -> Counter[Partition]:
    """Π_r k!·p_r[h_k] over the parts r of ρ, as power sums."""
    found: Counter[Partition] = Counter({(): 1})
    for length in rho:
        grown: Counter[Partition] = Counter()
        for cycles, times in found.items():
            for parts, coefficient in _COMPLETE[power].items():
                more = (*cycles, *(length * part for part in parts))
                grown[tuple(sorted(more, reverse=True))] += times * coefficient
        found = grown
    return found


def ring_of_layer(layer: SingleLayer, n: int) -> dict[Any, int]:
    """The modules of degree n of the polynomial ring of a layer."""
    shares = zip(layer.gl_degrees, layer.gl_sizes, strict=True)
    tables = [list(partitions(n * degree, min(k, n * degree))) for degree, k in shares]
    lams, *mus, nus = tables
    if mus:
        return dict(ring_multiplicities(lams, mus[0], nus))
    found = ring_multiplicities(lams, [(n,)], nus, power=3)
    return {(lam, nu): many for (lam, _, nu), many in found.items()}


# --- what each way costs ---


def seconds_by_weights(layer: SingleLayer, last: int) -> float:
    """About how long weight spaces take, fitted to measurements on one core.

    The coordinate ring is a part of Sym(E ⊗ U) ⊗ Sym(F ⊗ U); a weight stands for all its permutations.
    """
    outputs, columns = smallest_spaces(layer, last)
    coordinates = outputs * columns * layer.d * (layer.d + 1) // 2
    total = 0.0
    for n in range(2, last + 1):
        rows = partitions(n, min(n, layer.alpha, columns))
        attention = sum(schur_dimension(mu, layer.d) * schur_dimension(mu, columns) for mu in rows)
        sizes = ((n, outputs), (n, columns), (2 * n, layer.d))
        orbit = prod(comb(size + k - 1, size) / _sums(size, min(k, size), 0) for size, k in sizes)
        total += comb(n + outputs * layer.d - 1, n) * attention * coordinates / orbit
    return 0.1 + 1.7e-5 * total


@cache
def _sums(size: int, rows: int, power: int) -> int:
    return sum(specht_dimension(shape) ** power for shape in partitions(size, rows))


def seconds_by_modules(layer: SingleLayer, last: int) -> float:
    """About how long Specht modules take, fitted to measurements on one core."""
    total = 0.0
    for n in range(2, last + 1):
        e, f, u = min(n, layer.d_out), min(n, layer.d), min(2 * n, layer.d)
        widths = [(kostka(nu, (2,) * n), specht_dimension(nu)) for nu in partitions(2 * n, u)]
        squares, cubes = (sum(w**power for w, _ in widths) for power in (2, 3))
        # Each tensor of S^λ ⊗ S^μ ⊗ W_ν is moved by the exchanges of neighbours in W_ν and S^λ ⊗ S^μ.
        moved = _sums(n, e, 1) * _sums(n, f, 2) * cubes + _sums(n, e, 2) * _sums(n, f, 3) * squares
        # A Specht module of 𝔖_{2n} is inverted, and its matrices applied to the images.
        inverted = sum(2 * n * size**3 + size * w * w * 500 for w, size in widths)
        number = sum(1 for _ in shapes(n, e, f)) if n < 3 else _sums(n, e, 0) * _sums(n, f, 0) * len(widths)
        total += n * n / 2 * moved * 1e-9 + inverted * 1e-9 + 1e-4 * number
    return total


def bytes_by_modules(layer: SingleLayer, last: int) -> int:
    """A bound on the memory of Specht modules: their matrices, all of which are kept, as floats.

    For 𝔖_{2n} they are those of 2n − 1 exchanges of neighbours and n − 1 of pairs, and twice the former while
    they are made.
    """
    kept = 0
    for n in range(2, last + 1):
        for size, k, matrices in ((n, layer.d_out, n), (n, layer.d, n), (2 * n, layer.d, 3 * n)):
            kept += matrices * _sums(size, min(k, size), 2)
    largest = max((specht_dimension(nu) for nu in partitions(2 * last, min(layer.d, 2 * last))), default=0)
    return 8 * (kept + 4 * last * largest**2)
