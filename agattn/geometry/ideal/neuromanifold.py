"""The neuromanifold of a single layer, as a variety.

>>> neuromanifold = Neuromanifold(d=3, d_out=1)
>>> neuromanifold
Neuromanifold(d=3, d_out=1, a=3, t=2)
>>> ideal = neuromanifold.ideal(max_degree=4)
>>> ideal
Ideal of M(3,1,3) to degree 4: 20 cubics, 90 quartics
>>> ideal.hilbert_function(3)
1120
"""

from __future__ import annotations

from typing import Any

from agattn.architectures import SingleLayer
from agattn.geometry.ideal.ideal import Ideal, compute_ideal
from agattn.geometry.variety.coordinates import coefficients
from agattn.geometry.variety.degree import expected_degree


class Neuromanifold:
    """The set M(d, d', a) of functions that one layer can express, and its Zariski closure M̄ in ℂ^N.

    Args:
        d: embedding dimension.
        d_out: output dimension d'.
        a: attention dimension; ``None`` means a = d.
        t: number of tokens.

    Raises:
        InputError: if one of them is not a positive whole number.

    Source: HMK, Section 3.2.
    """

    def __init__(self, d: int, d_out: int, a: int | None = None, t: int = 2) -> None:
        self.layer = SingleLayer(d, d_out, a, t)  # type: ignore[arg-type]  # None stands for d

    @classmethod
    def of(cls, layer: SingleLayer) -> Neuromanifold:
        """The neuromanifold of an architecture."""
        return cls(layer.d, layer.d_out, layer.a, layer.t)

    @property
    def ambient_dimension(self) -> int:
        """N, the number of coordinates."""
        return self.layer.ambient_dimension

    @property
    def dimension(self) -> int:
        """The dimension, as an affine cone (HMK, Corollary 3.3)."""
        return self.layer.expected_dimension

    @property
    def degree(self) -> int | None:
        """The degree of M̄ as a projective variety; None for t = 1, where no formula is known here."""
        return None if self.layer.t == 1 else expected_degree(self.layer)

    def ideal(self, max_degree: int = 4, *, workers: int = 1, seed: int = 0, force: bool = False) -> Ideal:
        """The ideal of M̄ up to a degree; see :func:`agattn.geometry.ideal.ideal.compute_ideal`."""
        return compute_ideal(self.layer, max_degree, workers=workers, seed=seed, force=force)

    def point(self, A: Any, V: Any) -> list[Any]:
        """The coordinates of the function with these weights, A of shape d × d and V of shape d' × d.

        >>> Neuromanifold(1, 1).point([[2]], [[3]])
        [6]
        """
        return list(coefficients(self.layer, A, V))

    def __repr__(self) -> str:
        return repr(self.layer).replace("SingleLayer", "Neuromanifold")

    def _repr_latex_(self) -> str:
        layer = self.layer
        return (
            rf"$\mathcal{{M}}({layer.d},{layer.d_out},{layer.a})"
            rf" \subset \mathbb{{R}}^{{{self.ambient_dimension}}},"
            rf"\ \dim = {self.dimension}$"
        )

    def _repr_html_(self) -> str:
        return self.layer._repr_html_()
