"""The fiber of (A, V) ↦ (M, L), the virtual weights: HMK's Lemma 3.5, near a generic point.

By the lemma it is an orbit of Π_{0<i<l} GL(d_i), of dimension Σ d_i², where d_i = δ ≤ d_0, d_l for 0 < i < l.
Elsewhere it can be larger:

>>> generic_fiber((3, 2, 3)), generic_fiber((2, 3, 2))
(BasisFiber(orbit=4, upper_bound=4), BasisFiber(orbit=9, upper_bound=13))
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agattn.algebra.arithmetic import Array, ModularArithmetic
from agattn.algebra.residues import Elimination, random_prime, random_residues
from agattn.architectures.network import transpose
from agattn.geometry.identifiability.virtual_weights import virtual_weights


@dataclass(frozen=True)
class BasisFiber:
    """The dimension of a generic fiber of (A, V) ↦ (M, L).

    Attributes:
        orbit: Σ d_i², the dimension of Π GL(d_i), which acts on the fiber.
        upper_bound: the entries of A and V minus the rank of the differential at a random point modulo a
            prime; proved, as the generic rank is at least that.
    """

    orbit: int
    upper_bound: int


def generic_fiber(dims: Sequence[int], seed: int = 0) -> BasisFiber:
    """Bounds on the dimension of a generic fiber of (A, V) ↦ (M, L), with A_i any d_{i−1} × d_{i−1} matrix.

    Where d_i = δ ≤ d_0, d_l for 0 < i < l the products L_i are generically surjective for 0 < i < l, so
    that C_i L_i = L_i only for C_i = 1: the group acts freely and ``orbit`` is a lower bound.
    """
    generator = np.random.default_rng(seed)
    p = random_prime(generator)
    arithmetic = ModularArithmetic(p)
    A = [random_residues(generator, (d, d), p) for d in dims[:-1]]
    V = [random_residues(generator, (e, d), p) for d, e in itertools.pairwise(dims)]
    M, L = virtual_weights(A, V, arithmetic)
    elimination = Elimination(sum(m.size for m in M) + L.size, p)
    for k in range(len(A)):
        elimination.add(_differential(A, V, k, "A", arithmetic))
        elimination.add(_differential(A, V, k, "V", arithmetic))
    entries = sum(a.size for a in A) + sum(v.size for v in V)
    return BasisFiber(sum(d * d for d in dims[1:-1]), entries - elimination.rank)


def _differential(A: list[Array], V: list[Array], k: int, which: str, arithmetic: ModularArithmetic) -> Array:
    """The differential of (M, L) at the elementary matrices in place of A_k or V_k, one row each."""
    mul = arithmetic.matmul
    shape = (A if which == "A" else V)[k].shape
    units = np.eye(shape[0] * shape[1]).reshape(-1, *shape)
    L_i: Array = arithmetic.identity(V[0].shape[1])
    dL: Array = np.zeros((len(units), *L_i.shape))
    rows: list[Array] = []
    for i, (A_i, V_i) in enumerate(zip(A, V, strict=True)):
        dA = units if (which, i) == ("A", k) else np.zeros((1, *A_i.shape))
        dV = units if (which, i) == ("V", k) else np.zeros((1, *V_i.shape))
        dM = mul(transpose(dL), mul(A_i, L_i)) + mul(L_i.T, mul(A_i, dL)) + mul(L_i.T, mul(dA, L_i))
        rows.append(np.broadcast_to(dM, (len(units), *dM.shape[1:])).reshape(len(units), -1))
        dL = arithmetic.clean(mul(dV, L_i) + mul(V_i, dL))
        L_i = mul(V_i, L_i)
    rows.append(dL.reshape(len(units), -1))
    return arithmetic.clean(np.concatenate(rows, axis=1))
