"""HMK's identities for deep lightning networks, checked exactly: Lemmas 3.5 and 3.6, and equation 12.

An identity between polynomials is checked symbolically where the network is small, which proves it for that
size, and otherwise by evaluation at random points of 𝔽_p: a polynomial of degree D that is not zero
vanishes at a random point with probability at most D/p (Schwartz and Zippel).

>>> print(equation_12((1, 2, 1), t=1, symbolic=True))
equation-12 for widths (1, 2, 1), t = 1: holds (proved, symbolically)
>>> print(lemma_3_6((4, 5, 3, 4), t=3))  # doctest: +ELLIPSIS
lemma-3.6 for widths (4, 5, 3, 4), t = 3: holds (modular, by evaluation, wrong with probability below 1e-2...)
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log10

import flint
import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ModularArithmetic, RingArithmetic
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.algebra.residues import random_prime, random_residues
from agattn.evidence import Evidence
from agattn.geometry.identifiability import virtual_weights as deep

#: Evaluations at random points, each modulo its own prime.
_TRIALS = 3


@dataclass(frozen=True)
class IdentityCheck:
    """Whether a polynomial identity holds.

    Attributes:
        claim: the claim's id.
        dims: the widths d_0, ..., d_l.
        t: number of tokens.
        holds: whether both sides agree.
        evidence: ``proved`` symbolically; ``modular`` by evaluation. A failure is always ``proved``.
        error: a bound on the probability that a false identity passed; 0 if symbolic.
        witness: for a failure, where the sides differ.
    """

    claim: str
    dims: tuple[int, ...]
    t: int
    holds: bool
    evidence: Evidence
    error: float
    witness: str

    def __str__(self) -> str:
        how = "symbolically" if not self.error else "by evaluation"
        if self.error:
            how += f", wrong with probability below 1e{ceil(log10(self.error))}"
        outcome = "holds" if self.holds else f"FAILS at {self.witness}"
        return f"{self.claim} for widths {self.dims}, t = {self.t}: {outcome} ({self.evidence}, {how})"


Sides = Callable[[list[Array], list[Array], Array, Arithmetic], list[tuple[Array, Array]]]


def lemma_3_6(dims: Sequence[int], t: int, seed: int = 0, symbolic: bool = False) -> IdentityCheck:
    """X_i = L_i X P_i for every layer i: the recursion that computes the network from virtual weights."""

    def sides(A: list[Array], V: list[Array], X: Array, arithmetic: Arithmetic) -> list[tuple[Array, Array]]:
        M, _ = deep.virtual_weights(A, V, arithmetic)
        mixings = deep.token_mixings(M, X, arithmetic)
        products = deep.partial_products(V, arithmetic)
        outputs = deep.layer_outputs(A, V, X, arithmetic)
        mul = arithmetic.matmul
        return [(out, mul(L, mul(X, P))) for out, L, P in zip(outputs, products, mixings, strict=True)]

    return _check("lemma-3.6", dims, t, sides, seed, symbolic)


def equation_12(dims: Sequence[int], t: int, seed: int = 0, symbolic: bool = False) -> IdentityCheck:
    """φ(X) = L · Π_j (X Xᵀ M̃_j) · X: the network as one product of (3^l − 1)/2 factors."""

    def sides(A: list[Array], V: list[Array], X: Array, arithmetic: Arithmetic) -> list[tuple[Array, Array]]:
        M, L = deep.virtual_weights(A, V, arithmetic)
        return [(deep.lightning(A, V, X, arithmetic), deep.unrolled(M, L, X, arithmetic))]

    return _check("equation-12", dims, t, sides, seed, symbolic)


def equation_9(dims: Sequence[int], seed: int = 0) -> IdentityCheck:
    """The action of Π GL(d_i) between the layers leaves the virtual weights unchanged: Lemma 3.5, one
    half."""

    # Another stream than that of the weights, which C must not depend on.
    generator = np.random.default_rng([seed, 9])

    def sides(A: list[Array], V: list[Array], X: Array, arithmetic: Arithmetic) -> list[tuple[Array, Array]]:
        assert isinstance(arithmetic, ModularArithmetic)
        while True:
            C = [random_residues(generator, (d, d), arithmetic.p) for d in dims[1:-1]]
            with contextlib.suppress(ZeroDivisionError):
                moved = deep.change_basis(A, V, C, arithmetic, lambda M: _inverse_mod(M, arithmetic.p))
                break
        M, L = deep.virtual_weights(A, V, arithmetic)
        M_moved, L_moved = deep.virtual_weights(*moved, arithmetic)
        return [*zip(M, M_moved, strict=True), (L, L_moved)]

    # Cleared of the denominators det C_i both sides are polynomials, of degree at most 2d_i in C_i and C_i⁻¹.
    extra = 4 * sum(dims[1:-1])
    return _check("lemma-3.5", dims, 1, sides, seed, False, extra_degree=extra)


def _check(
    claim: str,
    dims: Sequence[int],
    t: int,
    sides: Sides,
    seed: int,
    symbolic: bool,
    extra_degree: int = 0,
) -> IdentityCheck:
    dims = tuple(dims)
    if symbolic:
        A, V, X = _symbolic_weights(dims, t)
        witness = _difference(sides(A, V, X, RingArithmetic()))
        return IdentityCheck(claim, dims, t, not witness, Evidence.PROVED, 0.0, witness)
    generator = np.random.default_rng(seed)
    error = 1.0
    for _ in range(_TRIALS):
        p = random_prime(generator)
        A = [random_residues(generator, (d, d), p) for d in dims[:-1]]
        V = [random_residues(generator, (e, d), p) for d, e in itertools.pairwise(dims)]
        X = random_residues(generator, (dims[0], t), p)
        witness = _difference(sides(A, V, X, ModularArithmetic(p)))
        if witness:
            # Different values at one point of 𝔽_p are a proof that the integer polynomials differ.
            return IdentityCheck(claim, dims, t, False, Evidence.PROVED, 0.0, f"{witness} modulo {p}")
        error *= (_degree(len(dims) - 1) + extra_degree) / p
    return IdentityCheck(claim, dims, t, True, Evidence.MODULAR, error, "")


def _degree(layers: int) -> int:
    """The degree of an entry of φ(X) in A, V and X together: k → 3k + 2 from 1."""
    degree = 1
    for _ in range(layers):
        degree = 3 * degree + 2
    return degree


def _symbolic_weights(dims: tuple[int, ...], t: int) -> tuple[list[Array], list[Array], Array]:
    shapes = [("A", i, (d, d)) for i, d in enumerate(dims[:-1], 1)]
    shapes += [("V", i, (e, d)) for i, (d, e) in enumerate(itertools.pairwise(dims), 1)]
    shapes.append(("x", 0, (dims[0], t)))
    variables = [
        Variable(letter, (i, r, c)) for letter, i, (m, n) in shapes for r in _upto(m) for c in _upto(n)
    ]
    gens = iter(PolynomialRing(variables).gens)
    arrays = [
        np.array([next(gens) for _ in range(m * n)], dtype=object).reshape(m, n) for _, _, (m, n) in shapes
    ]
    layers = len(dims) - 1
    return arrays[:layers], arrays[layers:-1], arrays[-1]


def _difference(pairs: list[tuple[Array, Array]]) -> str:
    for k, (left, right) in enumerate(pairs):
        for (i, j), value in np.ndenumerate(left):
            if value != right[i, j]:
                return f"entry ({i + 1}, {j + 1}) of identity {k + 1}: {value} against {right[i, j]}"
    return ""


def _inverse_mod(matrix: Array, p: int) -> Array:
    inverse = flint.nmod_mat(matrix.astype(int).tolist(), p).inv()
    return np.array([[int(x) for x in row] for row in inverse.tolist()], dtype=float)


def _upto(n: int) -> range:
    return range(1, n + 1)
