"""The modules of the ideal of any image on which the group of a layer acts, proved by equations over ℤ.

GL(d')×GL(d)×GL(d) acts on the coordinates of a layer, for t = 1 GL(d')×GL(d). Where the image of a map is
invariant under the group, its ideal is a sum of modules in each degree.
:class:`~agattn.geometry.ideal.implicitization.Implicitization` finds the dimensions of all weight spaces, and
:class:`~agattn.geometry.ideal.implicitization.Generators` proves them over ℚ. Dominant weights determine the
characters, and these the multiplicities of all modules.

>>> from agattn.architectures import SingleLayer
>>> layer = SingleLayer(2, 2, t=1)
>>> *_, (n, modules, evidence) = modules_of_image(layer, one_token_image(layer, 4), 4)
>>> n, {shape: found for shape, found in modules.items() if found.minimal_generators}, str(evidence)
(4, {((2, 2), (8, 4)): Multiplicities(ring=2, coordinate_ring=1, minimal_generators=1)}, 'proved')
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, NamedTuple

from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError, argument
from agattn.evidence import Evidence
from agattn.geometry.ideal.implicitization import Generators, Implicitization
from agattn.geometry.ideal.weight_spaces import Multiplicities, Spaces, ring_of_layer
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.limits import limits, log

#: The largest number of monomials of one degree, unless forced.
MOST_MONOMIALS = 20_000_000


class InvariantImage(NamedTuple):
    """An image on which the group acts, in spaces that show all modules.

    Attributes:
        source: the map; no linear form vanishes on its image.
        names: the letters of each coordinate, counted from 0, in its order.
        sizes: the dimensions of the spaces.
    """

    source: CoefficientMap
    names: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]


def one_token_image(layer: SingleLayer, last: int) -> InvariantImage:
    """The neuromanifold of a layer with t = 1, in spaces that show all modules up to a degree.

    The coordinate ring is part of Sym(E ⊗ U) ⊗ Sym(S²U) and has no modules with ℓ(λ) > d, so that minimal
    generators have ℓ(λ) ≤ d + 1: E of dimension min(d', d + 1) is enough.
    """
    outputs = min(layer.d_out, layer.d + 1, last)
    # Over ℂ the symmetric part of A is any symmetric matrix of rank at most 2a.
    rank = min(layer.a, (layer.d + 1) // 2)
    source = coefficient_map(type(layer)(layer.d, outputs, rank, 1))
    names = tuple(
        (one.row - 1, *(letter for letter, times in enumerate(one.exponents) for _ in range(times)))
        for one in source.coordinates
    )
    return InvariantImage(source, names, (outputs, layer.d))


def modules_of_image(
    layer: SingleLayer, image: InvariantImage, last: int
) -> Iterator[tuple[int, dict[Any, Multiplicities], Evidence]]:
    """The modules in the coordinates of a layer of degrees 1, ..., ``last``, and how they are known.

    Raises:
        TooLargeError: beyond the stated limits, or before a step that would take more memory than is allowed.
        ArithmeticError: if a prime was unlucky; another seed helps.
    """
    check_size(len(image.names), last)
    # The coordinates are an irreducible module: no linear form vanishes.
    yield 1, {shape: Multiplicities(1, 1, 0) for shape in ring_of_layer(layer, 1)}, Evidence.PROVED
    found = Implicitization(image.source)
    keys = dict(zip(image.names, map(int, found.keys), strict=True))
    spaces, generators = Spaces(layer.gl_degrees, image.sizes, keys), Generators(found)
    for piece in found.pieces(last):
        log.info(f"degree {piece.degree}: {piece.minimal_generators} new equations")
        for block in piece.blocks:
            generators.add(piece.degree, block)
        evidence = Evidence.PROVED if generators.all_proved(piece) else Evidence.MODULAR
        yield piece.degree, spaces.modules(layer, piece), evidence


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
