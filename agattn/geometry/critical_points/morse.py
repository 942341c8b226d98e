r"""What the indices of the real critical points of a loss must add up to.

Let the loss be definite, and let points be linear in one factor x ∈ ℝᵐ and otherwise given by θ in a
compact manifold Θ of dimension below m: y = Σ x_i u_i(θ), with independent u_i(θ). Then

.. math:: g(θ) = \min_x L = c - b(θ)^{\mathsf T} G(θ)^{-1} b(θ)

is a smooth function on Θ. L is strictly convex in x, so g and L have the same critical points and indices,
as the Schur complement of the block of x in the Hessian shows. A critical point has x = 0 where b(θ) = 0,
which for general b happens nowhere, being m conditions. If all critical points are nondegenerate, Morse
theory says

.. math:: \sum_p (-1)^{\operatorname{ind} p} = χ(Θ).

- *Regular part* (not for a = d' = 1): A = KᵀQ with the row space of K in Gr(α, d). With x = Q, Θ = Gr(α, d) ×
  ℝP^{dd'−1}; with x = V, Θ is a bundle over Gr(α, d) with fiber ℝP^{αd−1}. For general b no critical point
  has rk A < α < d or rk A = rk V = 1, as these are more conditions than such points have parameters.
- *Strata (min(d, d'), r_A, r)* with r_A < α and r as large as possible: as the smooth part of M(d, d', r_A).
- *Stratum (1,1,1)*: y = h ⊗ q ⊗ k², linear in h and in q.
- *Stratum (1,1,2) with d = 2*: y = h ⊗ q ⊗ S with any S, which is not of rank one for general b. Points
  outside of M count, too.

Where no factor is large enough nothing is claimed, nor for (1,1,2) with d ≥ 3, where points of (1,1,1) come
in.

For a ≥ d there is more. If B is the bilinear form b(A, V), of rank ρ, then g on ℝP^{dd'−1} is smaller than
c exactly outside the kernel of B, and that set retracts to ℝP^{ρ−1}. So there is a critical point of each
index 0, ..., ρ − 1, as the Betti numbers of ℝP^{ρ−1} modulo 2 are 1; and indices are at most dd' − 1 and,
with A and V exchanged, d² − 1. ρ is min(d², dd') for general b, as it is for b_{c,j,{i,k}} = δ_{cj} δ_{ik},
where B = Σ V_{ci} A_{ic}.

>>> from agattn.architectures import SingleLayer
>>> expected_sum(SingleLayer(3, 1)), expected_sum(SingleLayer(2, 2)), expected_sum(SingleLayer(3, 2, 2))
(1, 0, None)
>>> least_numbers(SingleLayer(2, 2))
(1, 1, 1, 1)
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, prod

from agattn.architectures import SingleLayer
from agattn.geometry.critical_points.charts import PAIR
from agattn.geometry.strata.strata import Stratum


def expected_sum(layer: SingleLayer, stratum: Stratum | None = None) -> int | None:
    """Σ (−1)^index for a definite, general loss on a stratum, or the smooth part; ``None`` if not known."""
    d, e = layer.d, layer.d_out
    if stratum is None and layer.a == e == 1 and d > 1:
        stratum = PAIR
    if stratum == PAIR:
        return _sum((e, d, 3), 0, 1) if d == 2 else None
    if stratum == Stratum(1, 1, 1):
        return _sum((e, d), d - 1, _projective_space(d - 1))
    rank = layer.alpha if stratum is None else stratum.r_a
    if stratum and (stratum.r_v, stratum.r) != (min(d, e), min(d, stratum.r_v + rank)):
        return None
    return _sum((d * e, rank * d), rank * (d - rank), _grassmannian(rank, d))


def _sum(sizes: Iterable[int], base: int, characteristic: int) -> int | None:
    """χ(Θ), Θ the other factors up to scale over a base, if one factor is larger than its dimension."""
    sizes = sorted(sizes)
    x, others = sizes[-1], sizes[:-1]
    if x <= base + sum(size - 1 for size in others):
        return None
    return characteristic * prod(_projective_space(size - 1) for size in others)


def least_numbers(layer: SingleLayer) -> tuple[int, ...]:
    """Lower bounds for the numbers of regular critical points of index 0, 1, ..., for general b."""
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
