r"""One token: the orbits of pairs (V, S), where S is the symmetric part of A.

For t = 1 the layer is the d' cubic forms V_c(x)·S(x) with S(x) = xᵀAx, a quadratic form of rank at most
β = min(d, 2a). GL(d') × GL(d) acts by V ↦ Z V M and S ↦ Mᵀ S M. A pair is the row space W of V and the form
S, which makes its column space R a space with a nondegenerate form, S*(Sx, Sz) = xᵀSz. By Witt's theorem the
complex orbits are finitely many, told apart by

.. math:: r_V = \operatorname{rk} V, \quad r_S = \operatorname{rk} S, \quad s = \dim W ∩ R, \quad
          ρ = \operatorname{rk} S^*|_{W ∩ R}, \qquad 2s − r_S ≤ ρ ≤ s.

(The real ones also by the signatures of S and of S* on W ∩ R.) Two orbits can give the same cubic forms: for
r_V = 1 and r_S ≤ 2 the form v·S is a product of three linear forms, and l²m comes from (l, lm) and (m, l²).

>>> from agattn import SingleLayer
>>> layer = SingleLayer(2, 1, 1, t=1)
>>> for stratum in one_token_strata(layer):
...     print(stratum, image_dimension(layer, stratum), preimage_count(stratum))
(0,0,0,0) 0 None
(1,1,1,1) 2 1
(1,2,1,0) 3 2
(1,2,1,1) 4 3
"""

from __future__ import annotations

from dataclasses import dataclass

import flint

from agattn.algebra.echelon import Matrix, kernel_basis, rational_matrix
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.strata.strata import IntegerMatrix


@dataclass(frozen=True, order=True)
class OneTokenStratum:
    """The functions with rk V = r_v, rk S = r_s, dim W ∩ R = common, and S* of rank ``rho`` on W ∩ R.

    l²m is listed as (1,2,1,0), and (1,1,0,0), which gives the same functions, is not listed.
    """

    r_v: int
    r_s: int
    common: int
    rho: int

    @property
    def is_zero(self) -> bool:
        """Whether this is the function 0."""
        return self.r_v == 0

    def __str__(self) -> str:
        return f"({self.r_v},{self.r_s},{self.common},{self.rho})"


def orbits(layer: SingleLayer) -> tuple[OneTokenStratum, ...]:
    """The complex orbits of pairs (V, S) with V and S nonzero, rk S ≤ β.

    Raises:
        InputError: if t is not 1.
    """
    if layer.t != 1:
        raise InputError(f"t is {layer.t}; the orbits of pairs (V, sym A) are those of one token, t = 1")
    d = layer.d
    return tuple(
        OneTokenStratum(r_v, r_s, s, rho)
        for r_v in range(1, min(layer.d_out, d) + 1)
        for r_s in range(1, min(d, 2 * layer.a) + 1)
        for s in range(max(0, r_v + r_s - d), min(r_v, r_s) + 1)
        for rho in range(max(0, 2 * s - r_s), s + 1)
    )


def one_token_strata(layer: SingleLayer) -> tuple[OneTokenStratum, ...]:
    """The strata of M for t = 1: the function 0, and one for each orbit, l²m only once.

    Raises:
        InputError: if t is not 1.
    """
    kept = (s for s in orbits(layer) if s != OneTokenStratum(1, 1, 0, 0))
    return (OneTokenStratum(0, 0, 0, 0), *kept)


def image_dimension(layer: SingleLayer, stratum: OneTokenStratum) -> int:
    """The dimension of the stratum: that of the orbit of (V, S), less one for the rescaling.

    Choose S; then W ∩ R in R, where S* having corank s − ρ on it costs C(s − ρ + 1, 2); then W; then V.
    """
    if stratum.is_zero:
        return 0
    d, r_v, r_s, s = layer.d, stratum.r_v, stratum.r_s, stratum.common
    corank = s - stratum.rho
    form = r_s * (2 * d - r_s + 1) // 2
    intersection = s * (r_s - s) - corank * (corank + 1) // 2
    return form + intersection + (r_v - s) * (d - r_v) + layer.d_out * r_v - 1


def preimage_count(stratum: OneTokenStratum) -> int | None:
    """The number of pairs (V, S) over ℂ up to scaling that give a function of the stratum; ``None`` at 0.

    Where r_V ≥ 2, S is the greatest common divisor of the forms V_c·S. Where r_V = 1 and S is irreducible it
    is found by unique factorization; otherwise every linear factor of the cubic v·S can play the part of v.
    """
    if stratum.is_zero:
        return None
    if stratum.r_v > 1 or stratum.r_s > 2:
        return 1
    if stratum.r_s == 1:
        return 1 if stratum.common else 2
    return 2 if (stratum.common, stratum.rho) == (1, 0) else 3


def representative(layer: SingleLayer, orbit: OneTokenStratum) -> tuple[IntegerMatrix, IntegerMatrix]:
    """A pair (S, V) of integer matrices in an orbit; S has at most a positive and at most a negative squares.

    >>> representative(SingleLayer(2, 1, 1, t=1), OneTokenStratum(1, 2, 1, 0))
    (((0, 1), (1, 0)), ((1, 0),))

    Raises:
        InputError: if it is not an orbit of the layer.
    """
    if orbit not in orbits(layer):
        raise InputError(f"{orbit} is not an orbit of pairs (V, S) for {layer}")
    d, s, rho = layer.d, orbit.common, orbit.rho
    planes = s - rho  # hyperbolic planes, of which V takes one isotropic line each
    S = [[0] * d for _ in range(d)]
    for j in range(planes):
        S[2 * j][2 * j + 1] = S[2 * j + 1][2 * j] = 1
    for j in range(2 * planes, orbit.r_s):
        S[j][j] = (-1) ** j
    columns = [2 * j for j in range(planes)] + [2 * planes + j for j in range(rho)]
    columns += [orbit.r_s + j for j in range(orbit.r_v - s)]
    V = [[int(c < len(columns) and columns[c] == i) for i in range(d)] for c in range(layer.d_out)]
    return tuple(map(tuple, S)), tuple(map(tuple, V))


def orbit_of(S: Matrix, V: Matrix) -> OneTokenStratum:
    """The orbit of an exact pair (S, V) with S symmetric; (0,0,0,0) where S = 0 or V = 0.

    >>> orbit_of([[0, 1], [1, 0]], [[1, 1]])
    OneTokenStratum(r_v=1, r_s=2, common=1, rho=1)
    """
    d = len(S)
    form, values = rational_matrix(S, d), rational_matrix(V, d)
    r_v, r_s = values.rank(), form.rank()
    if not r_v or not r_s:
        return OneTokenStratum(0, 0, 0, 0)
    # Relations Sx = Vᵀz: then Sx runs over W ∩ R, and xᵀSx is S* there.
    stacked = rational_matrix([*V, *S], d).transpose()
    relations = rational_matrix(
        [relation[len(V) :] for relation in kernel_basis(stacked)], d
    )  # the sign of x does not matter
    gram: flint.fmpq_mat = relations * form * relations.transpose()
    common = r_v + r_s - stacked.rank()
    return OneTokenStratum(r_v, r_s, common, gram.rank())
