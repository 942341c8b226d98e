"""The dimension of any neuromanifold: an integer with a proof from both sides, or an interval.

*From below.* At random weights modulo a prime p < 2³⁰, the Jacobian of (K, Q, V) ↦ (⟨c_k, φ(X_k)⟩)_k at
random inputs X_k and cotangents c_k has some rank r. A minor that is nonzero modulo p is nonzero, so the
generic rank is at least r: proved. For normalized networks weights and inputs are floats, which are exact
rationals, and a minor of the Jacobian is proved in balls (:func:`agattn.algebra.rank.rank` for both).

*From above.* For networks of attention the count of :mod:`agattn.geometry.dimension.formulas`; where that is
not met, and for other architectures, the parameters minus the rank of the tangent vectors of the known
symmetries (:mod:`agattn.geometry.dimension.symmetries`), or for networks of any layers a space that they lie
in (:mod:`agattn.geometry.dimension.capacity`), whichever is less: all proved. Where that is not met either,
small architectures are searched for all linear symmetries (:mod:`agattn.geometry.dimension.lie_algebra`), and
the orbits of those that are proved take the place of the known ones'.

Where the two meet the dimension is ``proved``. Elsewhere the interval stands, and the value reported is the
rank observed at several points and primes, ``modular`` evidence, with a bound on the probability that all of
them fell below the generic rank: that a minor that is not zero vanishes at a random point (Schwartz and
Zippel), or that a random prime divides all its coefficients
(:func:`agattn.algebra.residues.chance_of_dividing`).

>>> from agattn.architectures import DeepNetwork
>>> print(dimension(DeepNetwork((3, 3, 3), (1, 2), t=3)))
M(3,3,3; 1,2), t = 3: dimension 18 (proved), expected 18
>>> print(dimension(DeepNetwork((5, 1), (3,), t=2, heads=2)))
M(5,1; 3), heads 2, t = 2: dimension 49 (modular, in 49..50), expected 50
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import log2
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agattn.algebra.arithmetic import (
    Array,
    BallArithmetic,
    FloatArithmetic,
    ModularArithmetic,
    Size,
    to_balls,
)
from agattn.algebra.rank import Point, RandomRows, rank
from agattn.algebra.residues import Residues, random_residues
from agattn.architectures import Architecture, draw_parameters
from agattn.architectures.protocol import bounds_on_outputs
from agattn.errors import TooLargeError
from agattn.evidence import Evidence, Shown
from agattn.geometry.dimension.formulas import Bound, network_bound
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.symmetries import gauge_columns, symmetry_bound

#: The largest Jacobians attempted without ``force``: by columns modulo p, and by target rank in balls.
MAX_PARAMETERS = 20_000
#: The largest rank that is certified in balls unless forced.
MAX_BALL_RANK = 800
#: The most parameters for which linear symmetries that are not known are searched for.
MAX_SEARCHED = 80


@dataclass(frozen=True, repr=False)
class Dimension(Shown):
    """What is known about the dimension of a neuromanifold.

    Attributes:
        architecture: as it was given.
        dimension: the dimension, or where it is not proved the rank observed.
        evidence: ``proved`` if the two bounds, both proved, meet; else that of the observed rank.
        predicted: by :func:`agattn.geometry.dimension.formulas.network_dimension`; ``None`` for no network.
        jacobian_shape: rows and columns of the matrix whose rank was taken.
        ranks: the rank at each point tried, with the primes (empty for normalized networks).
        precision_bits: precision of the balls (0 for lightning networks).
        error: for ``modular`` evidence, a bound on the probability that all points tried fell short.
        seconds: wall-clock time.
    """

    architecture: Architecture
    dimension: int
    evidence: Evidence
    lower_bound: int
    upper_bound: int
    upper_bound_reason: str
    predicted: int | None
    jacobian_shape: tuple[int, int]
    ranks: tuple[Point, ...]
    precision_bits: int
    error: float
    seconds: float

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return self.architecture.parameters

    @property
    def computed_of(self) -> Architecture:
        """What the Jacobian is of: the architecture, or of a single layer the network that the layer is."""
        return self.architecture.as_network() or self.architecture

    def __str__(self) -> str:
        known = str(self.evidence)
        if self.evidence is not Evidence.PROVED:
            known += f", in {self.lower_bound}..{self.upper_bound}"
        expected = "" if self.predicted is None else f", expected {self.predicted}"
        return f"{self.computed_of}: dimension {self.dimension} ({known}){expected}"

    def as_json(self) -> dict[str, object]:
        """The dimension and how it is known, JSON-ready."""
        from agattn import records

        return records.document(
            records.Dimension, self, "paper",
            points=self.ranks, error_probability=self.error, seconds=round(self.seconds, 3),
        )  # fmt: skip


def dimension(architecture: Architecture, seed: int = 0, points: int = 3, force: bool = False) -> Dimension:
    """The dimension of the neuromanifold of an architecture.

    Args:
        architecture: any.
        seed: of all random choices. It never changes what is proved, only (rarely) whether.
        points: how many points, each modulo its own prime, are tried while no upper bound is met.
        force: attempt architectures beyond the limits too.

    Raises:
        TooLargeError: if the architecture is beyond :data:`MAX_PARAMETERS` or :data:`MAX_BALL_RANK`.
    """
    start = time.perf_counter()
    network, given = architecture.as_network(), architecture
    architecture = network or architecture
    if architecture.parameters > MAX_PARAMETERS and not force:
        raise TooLargeError(
            f"the network has {architecture.parameters} parameters, more than {MAX_PARAMETERS};"
            " --force tries anyway"
        )
    counted = _counted(architecture, seed)
    if architecture.degree is None and counted.value > MAX_BALL_RANK and not force:
        raise TooLargeError(
            f"the Jacobian's rank may be {counted.value}, more than {MAX_BALL_RANK}, the most taken in"
            " balls; --force tries anyway"
        )
    found = rank(jacobian_rows(architecture, counted), seed=seed, points=points)
    lower, bound = found.lower_bound, _least_bound(architecture, counted, found.lower_bound, seed)
    return Dimension(
        architecture=given,
        dimension=found.upper_bound,
        evidence=Evidence.PROVED if lower == bound.value else found.upper_evidence,
        lower_bound=lower,
        upper_bound=bound.value,
        upper_bound_reason=bound.reason,
        predicted=counted.value if network else None,
        jacobian_shape=found.shape,
        ranks=found.points,
        precision_bits=found.precision_bits or 0,
        error=found.error,
        seconds=time.perf_counter() - start,
    )


def _counted(architecture: Architecture, seed: int) -> Bound:
    """The upper bound that is tried first."""
    if network := architecture.as_network():
        return network_bound(network)
    from agattn.geometry.dimension import capacity

    return capacity.capacity_bound(architecture, seed)


def _least_bound(architecture: Architecture, counted: Bound, lower: int, seed: int) -> Bound:
    """The least of the upper bounds, which are taken one after the other until ``lower`` is met."""
    bound = counted
    if lower < bound.value:
        bound = min(symmetry_bound(architecture, seed), counted, key=itemgetter(0))
    if lower < bound.value and (others := _by_all_symmetries(architecture, seed)):
        bound = min(bound, others, key=itemgetter(0))
    if lower < bound.value and architecture.as_network() is None:
        from agattn.geometry.dimension import capacity

        further = partial(_by_all_symmetries, seed=seed)
        if layers := capacity.layers_bound(architecture, seed, further):
            bound = min(bound, layers, key=itemgetter(0))
    return bound


def upper_bound(architecture: Architecture, lower: int = 0, seed: int = 0) -> Bound:
    """A proved upper bound on the dimension of the neuromanifold, so on the rank of dφ at all weights.

    Args:
        architecture: any.
        lower: a proved lower bound; where it is met no better one is looked for.
        seed: of all random choices.

    >>> from agattn.architectures import Network, Perceptron
    >>> upper_bound(Network([Perceptron([5, 1], degree=4)], dim=3)).value
    14
    """
    return _least_bound(architecture, _counted(architecture, seed), lower, seed)


def _by_all_symmetries(architecture: Architecture, seed: int) -> Bound | None:
    """The bound by all linear symmetries, if they can be searched for."""
    if architecture.degree is None or architecture.parameters > MAX_SEARCHED:
        return None
    with suppress(TooLargeError):
        from agattn.geometry.dimension.lie_algebra import linear_symmetries

        orbits = linear_symmetries(architecture, seed).orbit_dimension
        reason = (
            "the parameters, minus the dimension of the orbits of all linear symmetries, which were found"
        )
        return Bound(architecture.parameters - orbits, reason)
    return None


def jacobian_rows(architecture: Architecture, bound: Bound) -> RandomRows:
    """The Jacobian at random weights, one random cotangent at each of as many random inputs as are asked for.

    It is modulo primes if the architecture is polynomial, else in floating point and balls; ``bound`` is a
    proved upper bound on its rank.
    """

    def modulo(p: int, generator: np.random.Generator) -> tuple[int, Callable[[int], Residues]]:
        arithmetic = ModularArithmetic(p)

        def random(shape: tuple[int, ...]) -> Residues:
            return random_residues(generator, shape, p)

        parameters = draw_parameters(architecture, random)
        columns = np.arange(architecture.parameters)
        if architecture.as_network() is not None:
            columns = np.delete(columns, gauge_columns(architecture, parameters, p))

        def draw(rows: int) -> Residues:
            X, cotangents = random((rows, *architecture.input_shape)), random((rows, 1, *output))
            J: Residues = jacobian(architecture, parameters, X, arithmetic, cotangents)[:, columns]
            return J

        return len(columns), draw

    def real(rows: int, generator: np.random.Generator) -> tuple[NDArray[np.float64], Callable[[Any], Array]]:
        # Scaled so that XᵀAX stays of moderate size in every layer.
        parameters = draw_parameters(architecture, lambda s: generator.standard_normal(s) / np.sqrt(s[-1]))
        X = generator.standard_normal((rows, *architecture.input_shape))
        cotangents = generator.standard_normal((rows, 1, *output))
        floats: NDArray[np.float64] = jacobian(architecture, parameters, X, FloatArithmetic(), cotangents)

        def balls(chosen: Any) -> Array:
            exact = {name: to_balls(array) for name, array in parameters.items()}
            c = to_balls(cotangents[chosen])
            return jacobian(architecture, exact, to_balls(X[chosen]), BallArithmetic(), c)

        return floats, balls

    def size() -> float:
        """Of c·∂φ/∂θ: a derivative multiplies a coefficient by at most the degree."""
        total: Size = bounds_on_outputs(architecture).sum()
        return total.log2 + log2(degree or 1)

    output, degree = architecture.output_shape, architecture.degree
    return RandomRows(
        name=f"{architecture}: the Jacobian",
        upper_bound=bound.value,
        reason=bound.reason,
        modulo=modulo if degree is not None else None,
        degree=degree or 0,  # also that of an entry c·∂φ/∂θ in c, θ and X
        size=size,
        real=None if degree is not None else real,
    )
