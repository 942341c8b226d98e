r"""Does the free energy of Bayesian learning grow like λ log n − (m − 1) log log n, stratum by stratum?

The model is one lightning layer, the data are n inputs of Gaussian tokens and outputs φ_{w₀} + N(0, 1). With
a prior π on a small ball around w₀ the free energy F_n = −log ∫ Π p(Y_i | X_i, w) π(w) dw has, by Watanabe,

.. math:: E[F_n] − n S_n = λ \log n − (m − 1) \log \log n + O(1),

where nS_n is −log of the likelihood of w₀. The difference needs the data only through W_n = Σ f fᵀ, a sum
over inputs and tokens of the features of :mod:`agattn.geometry.critical_points.loss`, and ξ = Σ f ε, which
given the inputs is normal with covariance W_n (W_n itself is drawn from 10⁵ inputs; for larger n its
deviation from nG, G = E f fᵀ, is scaled by the root of n, so that mean and covariance are right):

.. math:: F_n − n S_n = −\log ∫ \exp\bigl(−\tfrac12 (y − y_0)^{\mathsf T} W_n (y − y_0)
          + ξ^{\mathsf T}(y − y_0)\bigr) π(w)\, dw .

The exponent is a square and a constant, so the chains of
:mod:`agattn.experiments.calibration.estimators`, annealed from the prior, find the integral. For different n
the noise is ξ = W_n^{1/2} z with the same z, which leaves each
expectation as it is and takes most of the noise out of the slope. All is numerical.

>>> from agattn.experiments.calibration.points import calibration_points
>>> point = calibration_points()[4]
>>> found = by_free_energy(point, sizes=(10**6, 10**7, 10**8), data_sets=2, chains=16, steps=30)
>>> print(point.value, abs(found.slope - 9 / 4) < 0.5)
9/4 True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agattn.algebra.scalars import Array
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.experiments.calibration.estimators import PointLoss, annealed
from agattn.experiments.calibration.points import CalibrationPoint
from agattn.geometry.critical_points.loss import gaussian_gram
from agattn.limits import log

#: The inputs that are drawn.
DRAWN = 100_000
_GROUPS = 4


@dataclass(frozen=True, repr=False)
class FreeEnergy:
    """The slope of the free energy in log n at one point.

    Attributes:
        sizes: the n.
        energies: the means of F_n − nS_n over data sets.
        slope: of F_n − nS_n + (m − 1) log log n in log n, by least squares; its mean over data sets.
        error: the standard error of the slope, from the data sets.
    """

    sizes: tuple[int, ...]
    energies: tuple[float, ...]
    slope: float
    error: float
    evidence: Evidence = Evidence.NUMERICAL

    def __repr__(self) -> str:
        return f"λ ≈ {self.slope:.2f} ± {self.error:.2f} ({self.evidence})"


class Posterior(PointLoss):
    """f = −log of the likelihood ratio, plus a constant: a square in the coordinates."""

    def __init__(self, point: CalibrationPoint, gram: Array, z: Array) -> None:
        super().__init__(point)
        values, vectors = np.linalg.eigh(gram)
        root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        # ½‖W^{1/2}(y − y₀) − z‖², with ξ = W^{1/2} z.
        self.slope = self.slope @ root / np.sqrt(2)
        self.M0 = self.features(self.A0)
        self.truth = self.center[2] @ self.M0 + z / np.sqrt(2)


def by_free_energy(
    point: CalibrationPoint,
    *,
    sizes: Sequence[int] | None = None,
    data_sets: int = 8,
    chains: int = 64,
    steps: int = 100,
    seed: int = 0,
) -> FreeEnergy:
    """λ by the slope of the free energy at a point.

    Args:
        point: a lightning layer with t ≥ 2, and weights with known λ and m.
        sizes: the n, rising, from :data:`DRAWN` up; by default 10⁵ to 10¹⁰, and to the truth 0, whose
            loss is of degree six, 10¹⁰ to 10¹⁵.
        data_sets: how many, of each size.
        chains: for each data set, a multiple of 4.
        steps: of annealing.
        seed: of all random choices.

    Raises:
        InputError: for softmax or one token, or if there are fewer than two sizes, data sets or steps.
    """
    if point.head != "lightning" or point.layer.t == 1:
        raise InputError(f"{point.name}: free energies are found for lightning layers with t ≥ 2")
    if sizes is None:
        first = 10 if point.known.orbit.is_zero else 5
        sizes = [10**k for k in range(first, first + 6)]
    if min(len(sizes), data_sets, steps) < 2 or sizes[0] < DRAWN or chains % _GROUPS or chains < 2 * _GROUPS:
        raise InputError(
            f"a free energy needs two sizes from {DRAWN} up, two data sets and steps, 8, 12, ... chains"
        )
    energies = []
    for number in range(data_sets):
        draw = np.random.default_rng([seed, number])
        z = draw.standard_normal((point.layer.d_out, PointLoss(point).M0.shape[-1]))
        mean = gaussian_gram(point.layer)
        deviation = (_gram(point, draw) - DRAWN * mean) / DRAWN**0.5
        row = []
        for n in sizes:
            log.info(f"{point.name}, data set {number + 1}, n = {n}")
            loss = Posterior(point, n * mean + n**0.5 * deviation, z)
            start = loss.start(chains, draw)
            lowest = 0.1 / max(float(loss(start).mean()), 1.0)
            ladder = [0.0, *np.geomspace(lowest, 1.0, steps - 1).tolist()]
            logs = annealed(loss, start, ladder, _GROUPS, draw)[2]
            largest = logs.max()
            row.append(-float(largest + np.log(np.exp(logs - largest).mean())) - float((z**2).sum()) / 2)
        energies.append(row)
    table = np.array(energies)
    x = np.log(sizes)
    corrected = table + (point.multiplicity - 1) * np.log(x)
    slopes = np.polyfit(x, corrected.T, 1)[0]
    error = float(slopes.std(ddof=1) / data_sets**0.5)
    return FreeEnergy(tuple(sizes), tuple(map(float, table.mean(0))), float(slopes.mean()), error)


def _gram(point: CalibrationPoint, draw: np.random.Generator) -> Array:
    """Σ f fᵀ for inputs of Gaussian tokens."""
    layer = point.layer
    i, k = np.triu_indices(layer.d)
    X = draw.standard_normal((DRAWN, layer.d, layer.t))
    squares = (X @ X.swapaxes(1, 2))[:, i, k]
    F = (X.swapaxes(1, 2)[:, :, :, None] * squares[:, None, None, :]).reshape(DRAWN * layer.t, -1)
    total: Array = F.T @ F
    return total
