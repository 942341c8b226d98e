"""The degree of the neuromanifold as an intersection number.

Projectively M̄ is the image of P(D_α) × P(ℂ^{d'×d}), D_α = {rank A ≤ α}, under a linear projection of its
Segre embedding. If no point of the source is sent to 0, the projection is finite, and the degree of M̄ is
that of the Segre product divided by the length of the generic fiber.

>>> from agattn.architectures import SingleLayer
>>> source_degree(SingleLayer(2, 1))
4
"""

from __future__ import annotations

from math import comb, lgamma, log, prod

from agattn.architectures import SingleLayer


def determinantal_degree(d: int, rank: int) -> int:
    """The degree of the variety of d × d matrices of rank at most ``rank``.

    Source: Giambelli's formula; see Harris, *Algebraic Geometry*, Example 19.10.

    >>> determinantal_degree(3, 2), determinantal_degree(3, 1), determinantal_degree(3, 3)
    (3, 6, 1)
    """
    numerator = prod(comb(d + i, rank) for i in range(d - rank))
    return numerator // prod(comb(rank + i, rank) for i in range(d - rank))


def source_degree(layer: SingleLayer) -> int:
    """The degree of P(D_α) × P(ℂ^{d'×d}) in its Segre embedding.

    The degree is the coefficient of the top power of the sum of two hyperplane classes. So it is a binomial
    coefficient times the degrees of the two factors.

    See Also:
        :func:`determinantal_degree`, of D_α; :func:`expected_degree`, of M̄.

    >>> source_degree(SingleLayer(2, 1))
    4
    """
    p = layer.alpha * (2 * layer.d - layer.alpha) - 1
    q = layer.d * layer.d_out - 1
    return comb(p + q, q) * determinantal_degree(layer.d, layer.alpha)


def expected_degree(layer: SingleLayer) -> int:
    """The degree of M̄: that of the source, divided by the length of the generic fiber.

    For a = d' = 1 and d ≥ 2 the generic fiber has two points, as (k qᵀ, hvᵀ) and (v qᵀ, h kᵀ) are exchanged;
    otherwise it has one.

    >>> expected_degree(SingleLayer(2, 1, 1)), expected_degree(SingleLayer(3, 1))
    (3, 45)
    """
    two_to_one = layer.a == 1 and layer.d_out == 1 and layer.d >= 2
    return source_degree(layer) // (2 if two_to_one else 1)


def degree_is_below(layer: SingleLayer, digits: int) -> bool:
    """Whether the degree of M̄ is below 10^digits; of large layers its logarithm decides.

    >>> degree_is_below(SingleLayer(3, 1), 2), degree_is_below(SingleLayer(3, 1), 1)
    (True, False)
    >>> degree_is_below(SingleLayer(10**9, 1), 4000)
    False
    """
    d, rank = layer.d, layer.alpha
    p, q = rank * (2 * d - rank) - 1, d * layer.d_out - 1

    def log_comb(n: int, k: int) -> float:
        return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

    # A unit more leaves room for rounding, and for the length of the fiber.
    most = (digits + 1) * log(10)
    logarithm = log_comb(p + q, q)
    for i in range(d - rank):  # all factors are at least 1
        if logarithm > most:
            break
        logarithm += log_comb(d + i, rank) - log_comb(rank + i, rank)
    return logarithm <= most and expected_degree(layer) < 10**digits
