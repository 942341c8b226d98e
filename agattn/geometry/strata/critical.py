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

from agattn.algebra.echelon import Matrix, fraction, kernel_basis, rational_matrix
from agattn.algebra.rank import proved_rank
from agattn.architectures import SingleLayer
from agattn.geometry.identifiability.fibers import kernel_of_differential
from agattn.geometry.strata.strata import Stratum, representative, require_two_tokens
from agattn.geometry.variety.determinantal import compression, in_tangent_cone

RationalMatrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Criticality:
    """Whether a pair (A, V) is critical.

    Attributes:
        critical: the answer; ``None`` where no such direction was found nor excluded.
        kernel_dimension: of ker dφ on all (Ȧ, V̇).
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
    kernel = kernel_of_differential(A, V)
    scaling = [x for row in A for x in row] + [-x for row in V for x in row]
    width = len(scaling)
    trivial = proved_rank(rational_matrix([scaling], width))
    if len(kernel) == trivial:
        return Criticality(False, len(kernel), None, "the kernel of dφ is spanned by (A, −V)")

    def split(vector: list[flint.fmpq]) -> tuple[RationalMatrix, RationalMatrix]:
        entries = [fraction(x) for x in vector]
        rows = [tuple(entries[start : start + d]) for start in range(0, width, d)]
        return tuple(rows[:d]), tuple(rows[d:])

    # Directions in the span of ker A and coker A stay in the cone: this subspace is enough for HMK's lemma.
    directions = rational_matrix([vector[: d * d] for vector in kernel], d * d)
    relations = kernel_basis(compression(A) * directions.transpose())
    inside = rational_matrix(relations, len(kernel)) * rational_matrix(kernel, width)
    for vector in [*inside.tolist(), *kernel]:
        if proved_rank(rational_matrix([scaling, vector], width)) > trivial and in_tangent_cone(
            A, layer.alpha, split(vector)[0]
        ):
            how = "a kernel vector of dφ in the tangent cone besides (A, −V)"
            return Criticality(True, len(kernel), split(vector), how)
    if layer.alpha == proved_rank(rational_matrix(A, d)):
        # Here the cone is the subspace of directions with vanishing compression, searched above.
        how = "only (A, −V) is in the kernel of dφ and tangent to {rk ≤ a}"
        return Criticality(False, len(kernel), None, how)
    return Criticality(None, len(kernel), None, "no kernel vector found in the tangent cone, none excluded")


def orbits_over_zero(layer: SingleLayer) -> list[Stratum]:
    """The ranks of the orbits of pairs (A, V) with A = 0 or V = 0, whose function is 0.

    >>> [str(ranks) for ranks in orbits_over_zero(SingleLayer(2, 1))]
    ['(0,0,0)', '(1,0,1)', '(0,1,1)', '(0,2,2)']
    """
    require_two_tokens(layer)
    return [
        *(Stratum(r_v, 0, r_v) for r_v in range(min(layer.d, layer.d_out) + 1)),
        *(Stratum(0, r_a, r_a) for r_a in range(1, layer.alpha + 1)),
    ]


def stratum_criticality(layer: SingleLayer, stratum: Stratum) -> Criticality:
    """Criticality of the pairs (A, V) over a stratum; at 0, of all the orbits of pairs over it.

    The stratum 0 is called critical when every pair over it is.

    >>> stratum_criticality(SingleLayer(4, 1, 2), Stratum(1, 1, 1)).critical
    True
    """
    orbits = orbits_over_zero(layer) if stratum.is_zero else [stratum]
    answers = [criticality(layer, *representative(layer, ranks)) for ranks in orbits]
    return next((answer for answer in answers if answer.critical is not True), answers[0])
