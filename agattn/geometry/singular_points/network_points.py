r"""What is special to networks of attention among the arguments about singular points: their virtual weights.

A function of a lightning network with one head in each layer and no skip connections sees the weights only
through the virtual weights (M, L). From these follow preimages
(:mod:`~agattn.geometry.singular_points.network_kinds`), directions in which no function changes, and where
φ = 0; and the theorems of the page on deep singularities are about (M, L)
(:mod:`~agattn.geometry.singular_points.virtual_points`). So little is searched for at random. A network with
several heads or with skip connections has no virtual weights, and the general arguments alone.

>>> from agattn import DeepNetwork
>>> from agattn.geometry.singular_points.singularities import singularities
>>> found = singularities(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> print(str(found).partition("; 30 ")[2])
kinds of points: 26 singular, 4 smooth
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agattn.algebra.echelon import fraction, kernel_basis, rational_rank
from agattn.architectures import Architecture, DeepNetwork
from agattn.architectures.protocol import as_parameters
from agattn.evidence import Evidence
from agattn.geometry.closedness.question import Closed, is_closed_set
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.identifiability.families import ExactWeights, Vector, largest_rank
from agattn.geometry.identifiability.network_fibers import pairing
from agattn.geometry.identifiability.virtual_weights import partial_products, vanishes, virtual
from agattn.geometry.singular_points.arguments import (
    Argument,
    Closure,
    Inquiry,
    Said,
    affine_space,
    cone,
    coordinates,
    immersion,
    second_order,
    tangent_vectors,
    within,
)
from agattn.geometry.singular_points.kind import Kind
from agattn.geometry.singular_points.tangents import Tangents
from agattn.geometry.singular_points.virtual_points import is_wide, settled

#: How often numbers are drawn anew while the generic weights are critical.
_ATTEMPTS = 5


def theorems(inquiry: Inquiry) -> Said | None:
    """The theorems of the page on deep singularities about functions that are not 0."""
    if inquiry.is_zero or inquiry.closure.is_affine:
        return None
    return by_theorem(inquiry.points[0], _show_critical(inquiry))


@dataclass(frozen=True, eq=False)
class NetworkClosure(Closure):
    """The closure of a network of attention.

    >>> from agattn.geometry.singular_points.network_kinds import network_kinds
    >>> closure = NetworkClosure.of(DeepNetwork((2, 2, 1), (2, 2), t=2))
    >>> closure.known.dimension, closure.at_most, closure.is_affine, closure.is_cone
    (8, 8, False, True)
    """

    arguments: ClassVar[tuple[Argument, ...]] = (
        affine_space, cone, tangent_vectors, second_order, theorems, immersion,
    )  # fmt: skip
    orders: ClassVar[int] = 0
    searches_everywhere: ClassVar[bool] = False
    patience: ClassVar[int] = 1

    @classmethod
    def of(cls, network: DeepNetwork) -> NetworkClosure:
        """The closure, whose coordinates are written down only where random functions span few."""
        known, is_affine = dimension(network, force=True), False
        tangents = Tangents(network, known.upper_bound)
        if tangents.span_of_functions() <= known.upper_bound + 1:  # an affine space has no more of them
            known, is_affine = within(known, coordinates(network))
        at_most = min(largest_rank(network).value, known.upper_bound)
        return cls(network, known, at_most, is_affine)

    def chosen(self, draw: Callable[[int], list[Kind]]) -> Iterator[Kind]:
        """The first catalogue whose generic weights are not critical."""
        for attempt in range(_ATTEMPTS):
            found = draw(attempt)
            if self.tangents.rank_at(self.weights(found[0])[0]) == self.dimension:
                break
        yield from found

    def vanishes(self, at: ExactWeights) -> bool | None:
        """Whether φ = 0, by the theorem on zeros of networks with virtual weights."""
        given = virtual(at.architecture, at.exact())
        return None if given is None else vanishes(*given, at.architecture.t)

    def invisible(self, at: ExactWeights) -> list[Vector]:
        """Directions that change no function: a basis of a linear space of them.

        Q_j may change M_j by a skew matrix, for all j after the first M_i of rank one: the tokens after layer
        i are parallel, and see the symmetric part of M_j alone. At one token this is so for all j. If Q_i = 0
        or V_i = 0, everything else may change.
        """
        network, weights, n = at.architecture, at.exact(), len(at.vector)
        if (given := virtual(network, weights)) is None:
            return []
        l, numbers = len(given[0]), as_parameters(network, np.arange(n))
        for name, array in weights.items():
            if name[0] in "QV" and not array.any():
                return at.units(np.delete(np.arange(n), numbers[name]).tolist())
        low = (i for i, M in enumerate(given[0], 1) if rational_rank(M) == 1)
        before = partial_products([weights[f"V_{i}"][0] for i in range(1, l + 1)])
        result = []
        for j in range(1 + (0 if network.t == 1 else next(low, l)), l + 1):
            seen = pairing(weights[f"K_{j}"][0] @ before[j - 1], before[j - 1], skew=True)
            for basis in kernel_basis(seen):
                result.append(at.with_only(**{f"Q_{j}": np.array(list(map(fraction, basis)), dtype=object)}))
        return result

    def closedness(self) -> Closed:
        """Whether M is closed, by the theorems on one layer and on several."""
        return is_closed_set(self.architecture, None, self.is_affine)


def _show_critical(inquiry: Inquiry) -> bool:
    """Whether some of the weights that move (M, L) in all directions are proved to be critical.

    Where all A_i can have full rank they do if L_{l−1} has rank d_0, and K_i or Q_i has rank d_{i−1}.
    """
    if not _is_onto(inquiry.closure.architecture):
        return False
    dim, ranks = inquiry.closure.dimension, inquiry.ranks
    critical = [n for n, rank in enumerate(ranks) if rank < dim and _moves_all(inquiry.points[n])]
    return any(inquiry.place(n).evidence is Evidence.PROVED for n in critical)


def _moves_all(at: ExactWeights) -> bool:
    """Whether K_i, Q_i and V_i move the virtual weights (M, L) of a wide network in all directions."""
    weights, network = at.exact(), at.architecture
    assert isinstance(network, DeepNetwork)
    layers = range(1, network.depth + 1)
    before = partial_products([weights[f"V_{i}"][0] for i in layers])[network.depth - 1]
    return rational_rank(before) == network.dims[0] and all(
        max(rational_rank(weights[f"{letter}_{i}"][0]) for letter in "KQ") == network.dims[i - 1]
        for i in layers
    )


def _is_onto(network: Architecture) -> bool:
    """Whether Theorem 3 is about a network, and its A_i may be any matrices."""
    if not isinstance(network, DeepNetwork):
        return False
    full = all(a >= d for a, d in zip(network.ranks, network.dims, strict=False))
    return full and is_wide(network) and network.dims[0] >= 3 and network.t >= 2


def by_theorem(at: ExactWeights, is_critical: bool) -> Said | None:
    """What the theorems of the page on deep singularities say of a function that is not 0, or ``None``.

    Args:
        at: integer weights.
        is_critical: whether some weights with this function, which move (M, L) in all directions, are proved
            to be. Where all (M, L) are virtual weights, d_0 ≥ 3 and t ≥ 2, M̄ is singular there (Theorem 3);
            used if a_i ≥ d_{i−1}, so that there are such weights. All else is in
            :func:`~agattn.geometry.singular_points.virtual_points.settled`.

    >>> from agattn.geometry.singular_points.network_kinds import network_kinds
    >>> network = DeepNetwork((3, 3, 2), (3, 3), t=2)
    >>> for kind in network_kinds(network)[:2]:
    ...     print(kind.name, by_theorem(ExactWeights(network, kind.preimages[0]), False)[:2])
    generic ('smooth', 'one-point fiber')
    rk M_1 = 1 ('singular', 'purity')
    """
    network, given = at.architecture, virtual(at.architecture, at.exact())
    if not isinstance(network, DeepNetwork) or given is None:
        return None
    if (found := settled(network, *given)) is not None:
        return Said("singular" if found[0] else "smooth", found[1], Evidence.PROVED)
    return Said("singular", "purity", Evidence.PROVED) if is_critical and _is_onto(network) else None
