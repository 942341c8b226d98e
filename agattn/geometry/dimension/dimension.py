"""The dimension of the neuromanifold of any network: an integer with a proof from both sides, or an interval.

*From below.* At random weights modulo a prime p < 2³⁰, the Jacobian of (K, Q, V) ↦ (⟨c_k, φ(X_k)⟩)_k at
random inputs X_k and cotangents c_k has some rank r. A minor that is nonzero modulo p is nonzero, so the
generic rank is at least r: proved. For normalized networks the same with balls
(:mod:`agattn.geometry.dimension.softmax_rank`).

*From above.* The count of :mod:`agattn.geometry.dimension.formulas`, and where that is not met also the
parameters minus the rank of the tangent vectors of the known symmetries
(:mod:`agattn.geometry.dimension.symmetries`): both proved.

Where the two meet the dimension is ``proved``. Elsewhere the interval stands, and the value reported is the
rank observed at several points and primes, ``modular`` evidence: the inequality of Schwartz and Zippel bounds
the probability that all of them fell below the generic rank over 𝔽_p.

>>> from agattn.architectures import DeepNetwork, draw_parameters
>>> print(dimension(DeepNetwork((3, 3, 3), (1, 2), t=3)))
M(3,3,3; 1,2), t = 3: dimension 18 (proved), expected 18
>>> print(dimension(DeepNetwork((5, 1), (3,), t=2, heads=2)))
M(5,1; 3), heads 2, t = 2: dimension 49 (modular, in 49..50), expected 50
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import RowSpace, random_prime, random_residues
from agattn.architectures import DeepNetwork, draw_parameters
from agattn.errors import DisagreementError, TooLargeError
from agattn.evidence import Evidence, Shown
from agattn.geometry.dimension.formulas import (
    Bound,
    corollary_3_8,
    degree_in_parameters_and_inputs,
    hypotheses_3_8,
    network_bound,
)
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.softmax_rank import softmax_rank
from agattn.geometry.dimension.symmetries import gauge_columns, symmetry_upper_bound

#: Rows of the Jacobian that are made and eliminated at a time.
_BLOCK = 384

#: Rows beyond the upper bound, so that a rank above it, which would refute the bound, would be seen.
_SURPLUS = 3

#: The largest Jacobians attempted without ``force``: by columns modulo p, and by target rank in balls.
MAX_PARAMETERS = 20_000
#: The largest rank that is certified in balls unless forced.
MAX_BALL_RANK = 800


@dataclass(frozen=True)
class ModularRank:
    """The rank of the Jacobian at one random point modulo one prime: a proved lower bound.

    Attributes:
        rank: the rank found.
        prime: the prime p.
        rows: the number of random inputs with one cotangent each.
        columns: the number of parameters that were not held fixed by the gauge.
        error: the probability that a random point, with as many rows, gives less than the generic rank over
            𝔽_p although that is ``rank + 1`` or more; meaningful where no upper bound is met.
    """

    rank: int
    prime: int
    rows: int
    columns: int
    error: float


@dataclass(frozen=True)
class Dimension(Shown):
    """What is known about the dimension of a network's neuromanifold.

    Attributes:
        network: the network.
        dimension: the dimension, or where it is not proved the rank observed.
        evidence: ``proved`` if the bounds meet; ``modular`` or ``numerical`` for an observed rank.
        lower_bound: proved.
        upper_bound: proved.
        upper_bound_reason: the argument behind ``upper_bound``.
        predicted: the value of the general formula
            (:func:`agattn.geometry.dimension.formulas.network_dimension`).
        paper: HMK's equation 14 or 16, or 7 for one layer, whether or not its hypotheses hold.
        paper_hypotheses_failing: the hypotheses of that statement that do not hold.
        jacobian_shape: rows and columns of the matrix whose rank was taken.
        ranks: the rank at each point tried, with the primes (empty for normalized networks).
        precision_bits: precision of the balls (0 for lightning networks).
        error: for ``modular`` evidence, a bound on the probability that all points tried fell short.
        seconds: wall-clock time.
    """

    network: DeepNetwork
    dimension: int
    evidence: Evidence
    lower_bound: int
    upper_bound: int
    upper_bound_reason: str
    predicted: int
    paper: int
    paper_hypotheses_failing: tuple[str, ...]
    jacobian_shape: tuple[int, int]
    ranks: tuple[ModularRank, ...]
    precision_bits: int
    error: float
    seconds: float

    @property
    def parameters(self) -> int:
        """The number of parameters of the network."""
        return self.network.parameters

    @property
    def defect(self) -> int:
        """How far the dimension lies below the paper's equation; 0 where it holds."""
        return self.paper - self.dimension

    def __str__(self) -> str:
        known = str(self.evidence)
        if self.evidence is not Evidence.PROVED:
            known += f", in {self.lower_bound}..{self.upper_bound}"
        return f"{self.network}: dimension {self.dimension} ({known}), expected {self.predicted}"

    def as_json(self) -> dict[str, object]:
        """Return the document that the command line prints."""
        return {
            "architecture": self.network.as_json(),
            "dimension": self.dimension,
            "predicted": self.predicted,
            "parameters": self.parameters,
            "evidence": self.evidence.value,
            "lower_bound": self.lower_bound,
            "upper_bound": self.upper_bound,
            "upper_bound_reason": self.upper_bound_reason,
            "paper": {
                "value": self.paper,
                "hypotheses_hold": not self.paper_hypotheses_failing,
                "failing": list(self.paper_hypotheses_failing),
                "defect": self.defect,
            },
            "jacobian_shape": list(self.jacobian_shape),
            "points": [{"rank": r.rank, "prime": r.prime, "rows": r.rows} for r in self.ranks],
            "precision_bits": self.precision_bits,
            "error_probability": self.error,
            "seconds": round(self.seconds, 3),
        }


def dimension(network: DeepNetwork, seed: int = 0, points: int = 3, force: bool = False) -> Dimension:
    """The dimension of the neuromanifold of a network.

    Args:
        network: the network; lightning or softmax, any widths, ranks, heads, with or without skips.
        seed: of all random choices. It never changes what is proved, only (rarely) whether.
        points: how many points, each modulo its own prime, are tried while no upper bound is met.
        force: attempt networks beyond :data:`MAX_PARAMETERS` and :data:`MAX_BALL_RANK` too.

    Raises:
        TooLargeError: if the network is beyond these limits.
    """
    start = time.perf_counter()
    if network.parameters > MAX_PARAMETERS and not force:
        raise TooLargeError(
            f"the network has {network.parameters} parameters, more than {MAX_PARAMETERS};"
            " --force tries anyway"
        )
    bound = network_bound(network)
    ranks: list[ModularRank] = []
    precision, error = 0, 0.0
    if network.is_lightning:
        for trial in range(points):
            ranks.append(modular_rank(network, bound.value, seed, trial))
            if max(r.rank for r in ranks) == bound.value:
                break
        observed = lower = max(r.rank for r in ranks)
        shape = (ranks[-1].rows, ranks[-1].columns)
        if lower < bound.value:
            error = float(np.prod([r.error for r in ranks]))
    else:
        if bound.value > MAX_BALL_RANK and not force:
            raise TooLargeError(
                f"the Jacobian's rank may be {bound.value}, more than {MAX_BALL_RANK}, the most taken in"
                " balls; --force tries anyway"
            )
        result = softmax_rank(network, bound.value, seed)
        lower, observed, shape = result.proved, max(result.observed, result.proved), result.jacobian_shape
        precision = result.precision_bits
    if lower < bound.value:
        bound = upper_bound(network, seed)
    if lower == bound.value:
        evidence = Evidence.PROVED
    else:
        evidence = Evidence.MODULAR if network.is_lightning else Evidence.NUMERICAL
    return Dimension(
        network=network,
        dimension=observed,
        evidence=evidence,
        lower_bound=lower,
        upper_bound=bound.value,
        upper_bound_reason=bound.reason,
        predicted=network_bound(network).value,
        paper=corollary_3_8(network),
        paper_hypotheses_failing=tuple(hypotheses_3_8(network)),
        jacobian_shape=shape,
        ranks=tuple(ranks),
        precision_bits=precision,
        error=error,
        seconds=time.perf_counter() - start,
    )


def upper_bound(network: DeepNetwork, seed: int = 0) -> Bound:
    """The smaller of the two proved upper bounds: by counting, and by the symmetries' tangent vectors."""
    symmetries = Bound(
        symmetry_upper_bound(network, seed),
        "the parameters, minus the rank of the symmetries' tangent vectors",
    )
    return min(symmetries, network_bound(network), key=lambda bound: bound.value)


def modular_rank(network: DeepNetwork, target: int, seed: int = 0, trial: int = 0) -> ModularRank:
    """The rank of the Jacobian of a lightning network at a random point modulo a random prime.

    Rows are streamed into the elimination, one random cotangent at one random input each, until the rank is
    ``target`` or until rows twice as many as the rank, and at least ten more, have not raised it.

    Args:
        network: a lightning network.
        target: a proved upper bound on the rank.
        seed: of the random choices.
        trial: the number of the point; each has its own prime, weights and inputs.

    Raises:
        DisagreementError: if the rank exceeds ``target``, which cannot happen if ``target`` is a bound.
    """
    generator = np.random.default_rng([seed, trial])
    p = random_prime(generator)

    def draw(shape: tuple[int, ...]) -> np.ndarray:
        return random_residues(generator, shape, p)

    weights = draw_parameters(network, draw)
    columns = np.setdiff1d(np.arange(network.parameters), gauge_columns(network, weights, p))
    space = RowSpace(len(columns), p)
    rows = 0
    wanted = target + _SURPLUS
    while space.rank <= target and rows < wanted:
        n = min(_BLOCK, wanted - rows)
        X = draw((n, network.dims[0], network.t))
        cotangents = draw((n, 1, network.dims[-1], network.t))
        J = jacobian(network, weights, X, ModularArithmetic(p), cotangents)
        space.add(J[:, columns])
        rows += n
        if rows == wanted and space.rank < target:
            wanted = max(2 * space.rank, space.rank + 10, wanted)
    if space.rank > target:
        raise DisagreementError(
            f"{network}: the Jacobian has rank {space.rank} modulo {p}, above the proved bound"
            f" {target}; one of the two is wrong, please report it"
        )
    degree = degree_in_parameters_and_inputs(network)
    return ModularRank(
        rank=space.rank,
        prime=p,
        rows=rows,
        columns=len(columns),
        error=min(1.0, degree * (space.rank + 1) / p),
    )
