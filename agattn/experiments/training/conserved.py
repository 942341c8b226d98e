r"""What gradient flow conserves: quadratic forms of the weights, from the symmetries of the parametrization.

Let a group of matrices act linearly on the weights and leave φ_θ as it is, and let B, in its Lie algebra,
be a *symmetric* matrix. A loss L that depends on φ_θ alone has ⟨∇L(θ), Bθ⟩ = 0, so along θ' = −∇L − μθ

.. math:: \frac{d}{dt}\, θ^{\mathsf T}Bθ = 2 ⟨Bθ, θ'⟩ = −2μ\, θ^{\mathsf T}Bθ ,

that is, θᵀBθ is constant without weight decay μ, and falls like e^{−2μt} with it. For GL(n) acting by g on
the rows of a parameter M the matrices B with a symmetric generator give M Mᵀ; for g⁻ᵀ its negative; for the
columns MᵀM. A symmetry GL(n) so conserves n(n + 1)/2 quadratic forms, the entries of a symmetric matrix:

- GL(a) inside a head: Q Qᵀ − K Kᵀ;
- the scaling of a lightning head: ‖K‖² − ‖V‖²;
- GL(d_i) between layers without skip connections, summed over heads: Σ V_i V_iᵀ less
  Σ (K_{i+1}ᵀK_{i+1} + Q_{i+1}ᵀQ_{i+1} + V_{i+1}ᵀV_{i+1}).

Softmax has no scaling, skips no GL(d_i). All come from the ``symmetries`` of the architecture, whatever it
is. At t = 1 a lightning layer sees only A + Aᵀ, and K Qᵀ − Q Kᵀ is conserved as well: it comes from
K ↦ K + εΩQ, Q ↦ Q − εΩK with Ω skew-symmetric. :func:`count` decides for small polynomial architectures
whether there are others.

>>> from agattn import SingleLayer
>>> found = conserved(SingleLayer(2, 1, a=1))
>>> found.names, found.values(np.array([1, 2, 3, 0, 1, 1])).tolist()
(('GL(a)', 'scaling'), [4, 3])
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import NamedTuple

import flint
import numpy as np

from agattn.algebra.polynomial import Polynomial
from agattn.algebra.scalars import Array
from agattn.architectures import Architecture
from agattn.architectures.protocol import as_parameters
from agattn.geometry.dimension.symmetries import symmetry_matrices
from agattn.geometry.variety.coefficient_map import coefficient_map


class Conserved(NamedTuple):
    """Quadratic forms that gradient flow conserves.

    Attributes:
        names: of the symmetry that each comes from.
        forms: symmetric integer matrices B, one for each, with rows and columns for all D weights; entries
            beside the diagonal count for both of their places.
    """

    names: tuple[str, ...]
    forms: Array

    def values(self, theta: Array) -> Array:
        """θᵀBθ, for weights of any kind of numbers: ... × D gives ... × number of forms."""
        return np.stack([((theta @ B) * theta).sum(-1) for B in self.forms], axis=-1)


def conserved(architecture: Architecture) -> Conserved:
    """The forms of all known symmetries, n(n + 1)/2 for each GL(n); at one token also those of lightning."""
    size = architecture.parameters
    names, forms = list[str](), list[Array]()
    for symmetry, matrices in zip(architecture.symmetries, symmetry_matrices(architecture), strict=True):
        n = 0 if symmetry.is_orthogonal else symmetry.size  # θᵀBθ = 0 for the skew B of O(n)
        for r, s in combinations_with_replacement(range(n), 2):
            B = np.zeros((size, size), dtype=int)
            for i in {r * n + s, s * n + r}:
                for entry, value in matrices[i].items():
                    B[entry] += value
            assert (B == B.T).all()
            names.append(symmetry.name)
            forms.append(B)
    network = architecture.as_network()
    if architecture.t == 1 and network is not None and network.is_lightning:
        index = as_parameters(network, np.arange(size))
        for layer in range(1, network.depth + 1):
            K, Q = index[f"K_{layer}"], index[f"Q_{layer}"]
            for head, (r, s) in product(range(len(K)), combinations(range(K.shape[1]), 2)):
                B = np.zeros((size, size), dtype=int)
                for sign, k, q in ((1, K[head, r], Q[head, s]), (-1, K[head, s], Q[head, r])):
                    B[k, q] = B[q, k] = sign
                names.append("one token")
                forms.append(B)
    return Conserved(tuple(names), np.array(forms, dtype=int).reshape(-1, size, size))


def drift(architecture: Architecture, path: Array, times: Array, decay: float = 0.0) -> float:
    """The largest change of a conserved form along a path, from what theory says; 0 if there is none.

    Args:
        architecture: whose weights they are.
        path: weights at some times, n × D.
        times: these n times, from 0.
        decay: μ, for which the forms fall like e^{−2μt}.
    """
    forms = conserved(architecture)
    if not forms.names:
        return 0.0
    expected = np.exp(-2 * decay * times)[:, None] * forms.values(path[0])
    return float(np.abs(forms.values(path) - expected).max())


#: The prime at which ranks are found.
_PRIME = 2_147_483_647


class Count(NamedTuple):
    """How many independent functions are conserved: at least by the symmetries, at most by brackets."""

    known: int
    bound: int

    @property
    def complete(self) -> bool:
        """Whether the forms of :func:`conserved` are all there is; proved."""
        return self.known == self.bound


def count(architecture: Architecture, seed: int = 0, limit: int = 20_000) -> Count:
    """The number of independent functions that the flows of all losses ℓ(φ_θ) conserve, from both sides.

    A conserved function has a gradient orthogonal to those of all coordinates y_j of φ, hence to their
    brackets [∇y_i, ∇y_j] = H_j∇y_i − H_i∇y_j. So there are at most D less the dimension of the span of both
    at one point (Marcotte, Gribonval and Peyré, 2023); modulo a prime the span is no larger. At least there
    are as many as the conserved forms have independent differentials there.

    Args:
        architecture: polynomial, and small enough for its coefficients.
        seed: of the point.
        limit: on the terms of the coefficients, as ``coefficient_map`` has it.

    Raises:
        TooLargeError: if the coefficients are too many.

    >>> from agattn import SingleLayer
    >>> count(SingleLayer(2, 1)), count(SingleLayer(2, 1)).complete
    (Count(known=4, bound=4), True)
    """
    f = coefficient_map(architecture, limit=limit)
    gens = f.ring.gens
    theta = np.random.default_rng(seed).integers(-99, 100, len(gens)).tolist()
    forms = conserved(architecture).forms
    differentials = [[int(x) for x in B @ np.array(theta)] for B in forms]
    known = flint.nmod_mat(differentials, _PRIME).rank() if differentials else 0
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
