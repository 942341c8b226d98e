r"""How the indices of the real critical points of a loss must add up.

Let the loss be definite. A family of points y = λ·u or y = Σ x_i u_i(θ), linear in one factor x, with θ in
a compact manifold Θ, has for each θ one best x, and

.. math:: g(θ) = \min_x L = c - b(θ)^{\mathsf T} G(θ)^{-1} b(θ)

is a smooth function on Θ as long as y ≠ 0 for x ≠ 0. Its critical points are those of L, and as L is convex
in x, of the same index (the Schur complement of the block of x). If all are nondegenerate, Morse theory
says

.. math:: \sum_p (-1)^{\operatorname{ind} p} = χ(Θ).

- *Regular part*, not a = d' = 1: A = KᵀQ with the row space of K in Gr(α, d), and V up to scale, Θ = Gr(α,
  d) × ℝP^{dd'−1}, x = Q. For general b no critical point has A = 0, rk A < α < d, or rk A = rk V = 1: these
  are more conditions than such points have parameters. So the sum is χ(Gr(α, d))·χ(ℝP^{dd'−1}).
- *The same with more*: for a ≥ d, Θ = ℝP^{dd'−1}, so indices are at most dd' − 1, and as Θ has Betti
  numbers 1, ..., 1 modulo 2, there is a critical point of each index 0, ..., dd' − 1. With A and V
  exchanged, Θ = ℝP^{d²−1}, so indices are at most d² − 1.
- *Stratum (1,1,1)*: y = h ⊗ q ⊗ k², Θ = ℝP^{d'−1} × ℝP^{d−1} of the h and k.
- *Stratum (1,1,2)* with d = 2: y = h ⊗ q ⊗ S with any S, which is not of rank one for general b; points
  outside M count. Θ = ℝP^{d'−1} × ℝP^{1} of the h and q, x = S.
- *Strata (min(d, d'), r_A, r)* with r_A < α and r as large as possible: the regular part of M(d, d', r_A).

Elsewhere, as for (1,1,2) with d ≥ 3, where points of (1,1,1) come in, nothing is claimed.

>>> from agattn.architectures import SingleLayer
>>> expected_sum(SingleLayer(3, 1)), expected_sum(SingleLayer(2, 2))
(1, 0)
>>> least_numbers(SingleLayer(2, 2))
(1, 1, 1, 1)
"""

from __future__ import annotations

from math import comb

from agattn.architectures import SingleLayer
from agattn.geometry.strata.strata import Stratum


def expected_sum(layer: SingleLayer, stratum: Stratum | None = None) -> int | None:
    """Σ (−1)^index of a definite, general loss on a stratum, or the regular part; ``None`` if not known."""
    d, e, alpha = layer.d, layer.d_out, layer.alpha
    if stratum is None and layer.a == e == 1 and d > 1:
        stratum = Stratum(1, 1, 2)
    if stratum is None:
        return _grassmannian(alpha, d) * _projective_space(d * e - 1)
    ranks = (stratum.r_v, stratum.r_a, stratum.r)
    if ranks == (1, 1, 1):
        return _projective_space(e - 1) * _projective_space(d - 1)
    if ranks == (1, 1, 2):
        return _projective_space(e - 1) * _projective_space(d - 1) if d == 2 else None
    if stratum.r_v == min(d, e) and stratum.r == min(d, stratum.r_v + stratum.r_a):
        return _grassmannian(stratum.r_a, d) * _projective_space(d * e - 1)
    return None


def least_numbers(layer: SingleLayer) -> tuple[int, ...]:
    """Lower bounds for the numbers of critical points of index 0, 1, ... of the regular part, for a ≥ d."""
    return (1,) * min(layer.d * layer.d_out, layer.d**2) if layer.a >= layer.d else (1,)


def _projective_space(n: int) -> int:
    """χ(ℝPⁿ)."""
    return 1 - n % 2


def _grassmannian(k: int, n: int) -> int:
    """χ of the real Grassmannian: binomial coefficients at q = −1.

    >>> [_grassmannian(k, 4) for k in range(5)]
    [1, 0, 2, 0, 1]
    """
    return 0 if k % 2 and not n % 2 else comb(n // 2, k // 2)
