r"""What gradient flow conserves: a moment map for every symmetry of the parametrization.

Let a group of matrices act linearly on the weights and leave φ_θ as it is, and let B, in its Lie algebra,
be a *symmetric* matrix. A loss L that depends on φ_θ alone has ⟨∇L(θ), Bθ⟩ = 0, so along θ' = −∇L − μθ

.. math:: \frac{d}{dt}\, θᵀBθ = 2 ⟨Bθ, θ'⟩ = −2μ\, θᵀBθ ,

that is, θᵀBθ is constant without weight decay μ, and falls like e^{−2μt} with it. For GL(n) acting by g on
the rows of a parameter M the matrices B with a symmetric generator give M Mᵀ; for g⁻ᵀ its negative; for the
columns MᵀM. A symmetry GL(n) so conserves n(n + 1)/2 quadratic forms, the entries of one symmetric matrix:

- GL(a) inside a head: Q Qᵀ − K Kᵀ;
- the scaling of a lightning head: ‖K‖² − ‖V‖²;
- GL(d_i) between layers without skip connections, summed over heads: Σ V_i V_iᵀ less
  Σ (K_{i+1}ᵀK_{i+1} + Q_{i+1}ᵀQ_{i+1} + V_{i+1}ᵀV_{i+1}).

Softmax has no scaling, skips no GL(d_i). All come from the ``symmetries`` of the architecture, whatever it
is. At t = 1 a lightning layer sees only A + Aᵀ, and K Qᵀ − Q Kᵀ is conserved as well: it comes from
K ↦ K + εΩQ, Q ↦ Q − εΩK with Ω skew-symmetric. :func:`count` decides for small polynomial architectures
whether there are others.

>>> from agattn import SingleLayer
>>> layer = SingleLayer(2, 1, a=1)
>>> import numpy as np
>>> weights = {"K": np.array([[1.0, 2.0]]), "Q": np.array([[3.0, 0.0]]), "V": np.array([[1.0, 1.0]])}
>>> [(name, matrix.tolist()) for name, matrix in conserved(layer, weights)]
[('GL(a)', [[4.0]]), ('scaling', [[3.0]])]
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import flint
import numpy as np

from agattn.algebra.polynomial import Polynomial
from agattn.algebra.scalars import Array
from agattn.architectures import Architecture
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.training.losses import as_parameters


def conserved(architecture: Architecture, parameters: Mapping[str, Array]) -> list[tuple[str, Array]]:
    """The conserved matrices, each with the name of its symmetry; axes in front of the parameters stay."""
    found = []
    for symmetry in architecture.symmetries:
        parts = []
        for acted in symmetry.on:
            M = parameters[acted.parameter]
            lead = M.ndim - len(architecture.shapes[acted.parameter])
            part = M[(slice(None),) * lead + acted.index] if acted.index else M
            stacked = part.reshape(*part.shape[:lead], -1, *part.shape[-2:])
            if acted.axis is None:
                parts.append(acted.weight * (stacked**2).sum((-3, -2, -1), keepdims=True)[..., 0, :, :])
                continue
            rows = stacked if acted.axis == -2 else stacked.swapaxes(-1, -2)
            gram = (rows @ rows.swapaxes(-1, -2)).sum(-3)
            # g⁻ᵀ on rows has the generator −Sᵀ, and so has g⁻¹ from the right.
            parts.append(-gram if acted.dual else gram)
        found.append((symmetry.name, sum(parts[1:], parts[0])))
    network = architecture.as_network()
    if architecture.t == 1 and network is not None and network.is_lightning:
        for name in (name for name in architecture.shapes if name.startswith("K")):
            pairs = parameters[name] @ parameters[name.replace("K", "Q")].swapaxes(-1, -2)
            skew = pairs - pairs.swapaxes(-1, -2)
            heads = len(architecture.shapes[name]) == 3
            found += [("one token", M) for M in (np.moveaxis(skew, -3, 0) if heads else [skew])]
    return found


def drift(architecture: Architecture, start: Array, path: Array, times: Array, decay: float = 0.0) -> float:
    """The largest change of an entry of the conserved matrices along a path, from what theory says.

    Args:
        start: the weights at time 0, of length D.
        path: weights at some times, n × D.
        times: these n times.
        decay: μ, for which the conserved matrices fall like e^{−2μt}.
    """
    expected = conserved(architecture, as_parameters(architecture, start))
    largest = 0.0
    scale = np.exp(-2 * decay * times)[:, None, None]
    for (_, now), (_, then) in zip(
        conserved(architecture, as_parameters(architecture, path)), expected, strict=True
    ):
        largest = max(largest, float(np.abs(now - scale * then).max()))
    return largest


#: The prime at which ranks are found.
_PRIME = 2_147_483_647


class Count(NamedTuple):
    """How many independent functions are conserved: at least by the symmetries, at most by brackets."""

    known: int
    bound: int

    @property
    def complete(self) -> bool:
        """Whether the matrices of :func:`conserved` are all there is; proved."""
        return self.known == self.bound


def count(architecture: Architecture, seed: int = 0, limit: int = 20_000) -> Count:
    """The number of independent functions that the flows of all losses ℓ(φ_θ) conserve, from both sides.

    A conserved function has a gradient orthogonal to those of all coordinates y_j of φ, hence to their
    brackets [∇y_i, ∇y_j] = H_j∇y_i − H_i∇y_j. So there are at most D less the dimension of the span of both
    at one point (Marcotte, Gribonval and Peyré, 2023); modulo a prime the span is no larger. At least there
    are as many as the conserved matrices have independent differentials there.

    Args:
        architecture: polynomial, and small enough for its coefficients.
        seed: of the point.
        limit: on the terms of the coefficients, as :func:`coefficient_map` has it.

    Raises:
        TooLargeError: if the coefficients are too many.

    >>> from agattn import SingleLayer
    >>> count(SingleLayer(2, 1)), count(SingleLayer(2, 1)).complete
    (Count(known=4, bound=4), True)
    """
    f = coefficient_map(architecture, limit=limit)
    gens = np.array(f.ring.gens, dtype=object)
    theta = np.random.default_rng(seed).integers(-99, 100, len(gens)).tolist()
    matrices = [matrix for _, matrix in conserved(architecture, as_parameters(architecture, gens))]
    functions = [M[i, j] for M in matrices for i in range(len(M)) for j in range(i, len(M))]
    known = flint.nmod_mat([[int(h.derivative(x)(*theta)) for x in gens] for h in functions], _PRIME).rank()
    slopes = [[y.derivative(x) for x in gens] for y in f.polynomials]
    J = np.array([_residues(row, theta) for row in slopes], dtype=object)
    H = [np.array([_residues([g.derivative(x) for x in gens], theta) for g in row], object) for row in slopes]
    fields = [*J.tolist()]
    for i, j in combinations(range(len(H)), 2):
        fields.append(((H[j] @ J[i] - H[i] @ J[j]) % _PRIME).tolist())
    return Count(known, len(gens) - flint.nmod_mat(fields, _PRIME).rank())


def _residues(polynomials: list[Polynomial], theta: list[int]) -> list[int]:
    values = (Fraction(f(*theta)) for f in polynomials)
    return [x.numerator * pow(x.denominator, -1, _PRIME) % _PRIME for x in values]
