"""Weights of one kind: what is special about them, and weights with the same function.

The catalogue of networks of attention is :mod:`~agattn.geometry.singular_points.network_kinds`, that of all
other models :mod:`~agattn.geometry.singular_points.model_kinds`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import rational_rank
from agattn.architectures import Architecture, DeepNetwork
from agattn.geometry.identifiability.virtual_weights import head_matrices, virtual


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
        >>> from agattn.geometry.singular_points.network_kinds import network_kinds
        >>> in_a_plane = network_kinds(DeepNetwork((2, 2, 1), (2, 2), t=2))[-5]
        >>> in_a_plane.name, len(in_a_plane.preimages), in_a_plane.factorizations
        ('M_1 = K skew, M_2 = A in its plane', 2, (0,))
        """
        if not isinstance(network := self.architecture, DeepNetwork):
            return (0,)

        def matrices(weights: Mapping[str, Array]) -> list[list[list[object]]]:
            layers = head_matrices(network, weights)
            return [matrix.tolist() for of in layers for layer in of for matrix in layer]

        meant = matrices(self.weights)
        return tuple(n for n, weights in enumerate(self.preimages) if matrices(weights) == meant)

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
