"""The jets of a network at the zero input: its Taylor polynomials, as polynomial models.

The N-jet of X ↦ φ_θ(X) is φ_θ without the monomials in X of degree above N. If the scores of every softmax
vanish at X = 0, each coefficient of the jet is a polynomial in θ with rational coefficients: the denominator
Σ_k exp(w_k) is t plus a series without constant term. So whatever can be asked of a polynomial model can be
asked of a softmax network through its jets.

A jet is evaluated without being expanded. Its value at X is the sum of the coefficients of s⁰, …, s^N in the
power series φ_θ(sX) (:mod:`agattn.algebra.series`).

>>> from agattn.architectures import DeepNetwork, Jet
>>> network = DeepNetwork((2, 1), (1,), t=2, normalization="softmax")
>>> jet = Jet(network, 3)
>>> print(jet)
M(2,1,1), softmax, t = 2, jet of order 3
>>> jet.degree  # 1 + 2 weights, and three entries of X
6
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar

from agattn.algebra.arithmetic import Arithmetic, Array, DegreeArithmetic, of_degree
from agattn.algebra.series import SeriesArithmetic
from agattn.architectures.composition import Network
from agattn.architectures.layered import Layered
from agattn.architectures.layers import read_fields
from agattn.architectures.network import DeepNetwork
from agattn.architectures.parametrized import Parametrized
from agattn.architectures.protocol import Architecture, draw_parameters
from agattn.architectures.symmetry import Symmetry
from agattn.calls import constructed, shown
from agattn.errors import InputError
from agattn.sheet.result import ByKey, Key, Named, Positive, Written


class AnyNetwork(ByKey):
    """The form of a network of attention, or of any layers."""

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        """Both kinds, each by a key that the other kind does not have."""
        return {"dims": DeepNetwork, "layer": Network}


#: The largest order: the series of a jet takes a number of products that is quadratic in the order.
MOST_ORDER = 1000

_Developed = Annotated[Architecture, Written(AnyNetwork)]


@constructed
@dataclass(frozen=True, repr=False)
class Jet(Parametrized):
    """The Taylor polynomial of a network at the zero input, up to an order: a polynomial model.

    The parameters are those of the network. The neuromanifold of the jet is the set of the Taylor polynomials
    of all φ_θ. Its dimension does not decrease with N, and is a lower bound on the dimension of the network.

    Args:
        network: a network of attention or of any layers, or a layer.
        order: N.

    Raises:
        InputError: if the order is no number from 1 to 1000, or scores of a softmax do not vanish at X = 0.

    See Also:
        :func:`agattn.dimension`, which proves the dimension of a jet from both sides where the bounds meet.

    Source: Konda, *Identifiability and Observability of Deep Normalized Attention* (preprint, 2026).

    >>> import agattn as ag
    >>> softmax = DeepNetwork((2, 2, 1), (2, 2), t=2, normalization="softmax")
    >>> ag.dimension(Jet(softmax, 7)).dimension
    10
    >>> Jet(softmax, 0)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: order is 0; it must be a whole number of at least 1
    """

    network: Key[_Developed, "The network whose jet is meant."]
    order: Key[Positive, "The order N: monomials of higher degree in X are left out.", Named("jet")]

    options: ClassVar[tuple[str, str]] = ("--jet", "ag.Jet(network, N)")

    def __post_init__(self) -> None:
        read_fields(self)
        if self.order > MOST_ORDER:
            raise InputError(f"the order of the jet is {self.order}; it must be at most {MOST_ORDER}")
        network = self.network
        if not isinstance(network, Layered):
            attention = network.as_network() if hasattr(network, "as_network") else None
            if attention is None:
                raise InputError(f"{shown(network)} has no jet; give a network or a layer")
            object.__setattr__(self, "network", attention)
        self._degrees  # noqa: B018  that scores vanish where they must

    @property
    def input_shape(self) -> tuple[int, int]:
        """The shape of X."""
        return self.network.input_shape

    @property
    def output_shape(self) -> tuple[int, int]:
        """The shape of the output."""
        return self.network.output_shape

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The parameters of the network."""
        return self.network.shapes

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The symmetries of the network: what keeps the function keeps its Taylor polynomials."""
        return self.network.symmetries

    @cached_property
    def _degrees(self) -> dict[int, int]:
        """The degrees n in X that may occur, and for each a bound on the degree of its coefficients in θ."""
        network: Any = self.network
        return _degrees(network, self.order)

    @property
    def input_degrees(self) -> tuple[int, ...]:
        """The degrees in X of monomials that may occur."""
        return tuple(self._degrees)

    @property
    def degree(self) -> int:
        """The degree of the jet in θ and X together, or more."""
        return max((n + weights for n, weights in self._degrees.items()), default=0)

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The jet on a stack of inputs X, (n, d_0, t): Σ_{k ≤ N} of the coefficients of s^k in φ(sX)."""
        series = SeriesArithmetic(arithmetic, self.order)
        return series.value(self.network.evaluate(series, parameters, series.variable(X)))

    @property
    def arguments(self) -> str:
        """The jet as the command line names it, such as ``--dims 2,1 --ranks 1 -t 2 --jet 3``."""
        return f"{getattr(self.network, 'arguments', 'FILE')} --jet {self.order}"

    def summary(self) -> str:
        """The network and the order in a line."""
        return f"{self.network}, jet of order {self.order}"


@lru_cache(maxsize=1000)
def _degrees(network: DeepNetwork | Network, order: int) -> dict[int, int]:
    """The degrees of a jet, kept because one jet is made at several places."""
    theta = draw_parameters(network, lambda shape: of_degree(1, shape))
    X = of_degree(0, (1, *network.input_shape))
    series = SeriesArithmetic(DegreeArithmetic(), order)
    out = series.series(network.evaluate(series, theta, series.variable(X)))
    return {n: int(a.max()) for n, a in enumerate(out.coefficients) if a is not None}
