r"""Critical points of (A, V) ↦ φ, decided exactly with the tangent cone.

A pair (A, V) is critical when the kernel of dφ(Ȧ, V̇) = V_c·Ȧ_b + V̇_c·A_b contains, inside the tangent cone
C_A D_α × ℝ^{d'×d} of the parameters, more than the direction (A, −V) of the rescaling (sA, V/s). HMK,
Lemma A.3: for d ≥ 2 these are A = 0, V = 0, and A = k qᵀ with V = h kᵀ. Where A has rank below α the cone is
not a linear space, and its linear span would be too large a set of directions.

>>> from agattn import SingleLayer
>>> criticality(SingleLayer(2, 1), [[1, 0], [0, 0]], [[1, 0]]).critical
True
>>> criticality(SingleLayer(2, 1), [[1, 0], [0, 0]], [[0, 1]]).critical
False
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import flint

from agattn.algebra.echelon import Matrix, kernel_basis, rational_matrix
from agattn.architectures import SingleLayer
from agattn.geometry.identifiability.preimages import kernel_of_differential
from agattn.geometry.strata.strata import (
    IntegerMatrix,
    Stratum,
    diagonal_representative,
    representative,
    require_two_tokens,
)
from agattn.geometry.variety.determinantal import compression, in_tangent_cone

RationalMatrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Criticality:
    """Whether a pair (A, V) is critical.

    Attributes:
        critical: the answer; ``None`` where neither a vector was found nor excluded.
        kernel_dimension: the dimension of ker dφ on all (Ȧ, V̇).
        direction: if critical, a (Ȧ, V̇) in the kernel and the cone that is no multiple of (A, −V).
        how: the reason in words.
    """

    critical: bool | None
    kernel_dimension: int
    direction: tuple[RationalMatrix, RationalMatrix] | None
    how: str


def criticality(layer: SingleLayer, A: Matrix, V: Matrix) -> Criticality:
    """Decide whether (A, V), with exact entries and rk A ≤ a, is critical.

    Raises:
        InputError: if t = 1.
    """
    require_two_tokens(layer)
    d = layer.d
    if not any(map(any, A)) or not any(map(any, V)):
        return _over_zero(A, V)
    kernel = kernel_of_differential(A, V)
    scaling = [x for row in A for x in row] + [-x for row in V for x in row]
    width = len(scaling)
    trivial = rational_matrix([scaling], width).rank()
    if len(kernel) == trivial:
        return Criticality(False, len(kernel), None, "the kernel of dφ is spanned by (A, −V)")

    def split(vector: list[flint.fmpq]) -> tuple[RationalMatrix, RationalMatrix]:
        rows = [
            tuple(Fraction(int(x.p), int(x.q)) for x in vector[start : start + d])
            for start in range(0, width, d)
        ]
        return tuple(rows[:d]), tuple(rows[d:])

    # Directions in the span of ker A and coker A stay in the cone: this subspace is enough for HMK's lemma.
    compressed = [compression(A, split(vector)[0]).entries() for vector in kernel]
    size = len(compressed[0])
    relations = kernel_basis(rational_matrix(compressed, size).transpose()) if size else None
    inside = (
        kernel
        if relations is None
        else [
            [
                sum((x * v[j] for x, v in zip(relation, kernel, strict=True)), flint.fmpq(0))
                for j in range(width)
            ]
            for relation in relations
        ]
    )
    for vector in [*inside, *kernel]:
        if rational_matrix([scaling, vector], width).rank() > trivial and in_tangent_cone(
            A, layer.alpha, split(vector)[0]
        ):
            return Criticality(
                True, len(kernel), split(vector), "a kernel vector of dφ in the tangent cone besides (A, −V)"
            )
    if layer.alpha == rational_matrix(A, d).rank():
        # Here the cone is the subspace of directions with vanishing compression, searched above.
        how = "only (A, −V) is in the kernel of dφ and tangent to {rk ≤ a}"
        return Criticality(False, len(kernel), None, how)
    return Criticality(None, len(kernel), None, "no kernel vector found in the tangent cone, none excluded")


def _over_zero(A: Matrix, V: Matrix) -> Criticality:
    """The same for A = 0 or V = 0.

    At A = 0 the kernel of dφ holds all (0, V̇), and nothing else if V ≠ 0, as V_c·Ȧ_b = 0 only for Ȧ = 0; at
    V = 0 likewise all (Ȧ, 0). For A ≠ 0 every Ȧ = A M is tangent to {rk ≤ a}.
    """
    d, d_out = len(A), len(V)
    zero_a, zero_v = not any(map(any, A)), not any(map(any, V))
    size = (d_out * d if zero_a else 0) + (d * d if zero_v else 0)
    if size == 1 and not (zero_a and zero_v):
        return Criticality(False, 1, None, "the kernel of dφ is spanned by (A, −V)")
    if zero_a:
        ones, other = [1], V
    else:
        ones, other = next(list(column) for column in zip(*A, strict=True) if any(column)), A
    # Ȧ with one column of A moved to column k, or V̇ with a single 1: of these at most one is a multiple.
    places = [(c, k) for c in range(1 if not zero_a else d_out) for k in range(d)]
    for c, k in places:
        moved = [[0] * d for _ in other]
        for row, x in enumerate(ones, c):
            moved[row][k] = x
        flat = [[x for line in M for x in line] for M in (other, moved)]
        if rational_matrix(flat, len(flat[0])).rank() > any(flat[0]):
            nothing = [[0] * d for _ in range(d if zero_a else d_out)]
            direction = (nothing, moved) if zero_a else (moved, nothing)
            how = "a kernel vector of dφ in the tangent cone besides (A, −V)"
            return Criticality(True, size, (_fractions(direction[0]), _fractions(direction[1])), how)
    raise AssertionError("for d > 1 or d' > 1 there is a direction besides (A, −V)")


def _fractions(matrix: Matrix) -> RationalMatrix:
    return tuple(tuple(Fraction(x) for x in row) for row in matrix)


def zero_pairs(layer: SingleLayer) -> list[tuple[IntegerMatrix, IntegerMatrix]]:
    """One pair (A, V) from each orbit with A = 0 or V = 0: the pairs whose function is 0.

    >>> len(zero_pairs(SingleLayer(2, 1)))
    4
    """
    require_two_tokens(layer)
    ranks = [(r_v, 0) for r_v in range(min(layer.d, layer.d_out) + 1)]
    ranks += [(0, r_a) for r_a in range(1, layer.alpha + 1)]
    return [diagonal_representative(layer, Stratum(r_v, r_a, max(r_v, r_a))) for r_v, r_a in ranks]


def stratum_criticality(layer: SingleLayer, stratum: Stratum) -> Criticality:
    """Criticality of the pairs (A, V) over a stratum; at 0, of all the orbits of pairs over it.

    The stratum 0 is called critical when every pair over it is.

    >>> stratum_criticality(SingleLayer(4, 1, 2), Stratum(1, 1, 1)).critical
    True
    """
    if not stratum.is_zero:
        return criticality(layer, *representative(layer, stratum))
    answers = [criticality(layer, A, V) for A, V in zero_pairs(layer)]
    for answer in answers:
        if answer.critical is not True:
            return answer
    return answers[0]
