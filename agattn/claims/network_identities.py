"""HMK's identities for deep lightning networks, checked exactly: Lemmas 3.5 and 3.6, and equation 12.

An identity between polynomials is checked symbolically where the network is small, which proves it for that
size, and otherwise by evaluation at random points of 𝔽_p: a polynomial of degree D that is not zero
vanishes at a random point with probability at most D/p (Schwartz and Zippel).

>>> print(equation_12((1, 2, 1), t=1, symbolic=True))
expanded symbolically in all entries of A, V and X, both sides agree
>>> lemma_3_6((4, 5, 3, 4), t=3).error < 1e-20
True
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import flint
import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ModularArithmetic, RingArithmetic
from agattn.algebra.residues import random_prime, random_residues
from agattn.architectures import DeepNetwork
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import ANY_VALUES, PLAIN
from agattn.evidence import Evidence
from agattn.geometry.identifiability import virtual_weights as deep
from agattn.geometry.variety.coordinates import generic_matrices
from agattn.systems.network_tasks import BASIS_FIBER, no_virtual_weights
from agattn.systems.task import Task

# Expanding so many monomials takes about half a second.
MAX_SYMBOLIC_MONOMIALS = 2 * 10**7
# Evaluations at random points, each modulo its own prime.
_TRIALS = 3


class IdentityCheck(NamedTuple):
    """Whether a polynomial identity holds: both sides agree, or differ at the witness.

    The error bounds the probability that a false identity passed by evaluation, which is ``modular``; it is 0
    where the identity was expanded symbolically or fails, either of which is ``proved``.
    """

    witness: str
    evidence: Evidence = Evidence.PROVED
    error: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether both sides agree."""
        return not self.witness

    def __str__(self) -> str:
        if not self.holds:
            return f"the sides differ: {self.witness}"
        if not self.error:
            return "expanded symbolically in all entries of A, V and X, both sides agree"
        return (
            f"at random weights and inputs modulo random primes both sides agree; by Schwartz and Zippel a "
            f"false identity would pass with probability below {self.error:.0e}"
        )


Sides = Callable[[list[Array], list[Array], Array, Arithmetic], list[tuple[Array, Array]]]
"""A, V, X and their arithmetic ↦ pairs of arrays that an identity says are equal."""


def lemma_3_6(dims: Sequence[int], t: int, seed: int = 0, symbolic: bool = False) -> IdentityCheck:
    """X_i = L_i X P_i for every layer i: the recursion that computes the network from virtual weights."""

    def sides(A: list[Array], V: list[Array], X: Array, arithmetic: Arithmetic) -> list[tuple[Array, Array]]:
        M, _ = deep.virtual_weights(A, V, arithmetic)
        mixings = deep.token_mixings(M, X, arithmetic)
        products = deep.partial_products(V, arithmetic)
        outputs = deep.layer_outputs(A, V, X, arithmetic)
        mul = arithmetic.matmul
        return [(out, mul(L, mul(X, P))) for out, L, P in zip(outputs, products, mixings, strict=True)]

    return _check(dims, t, sides, seed, symbolic)


def equation_12(dims: Sequence[int], t: int, seed: int = 0, symbolic: bool = False) -> IdentityCheck:
    """φ(X) = L · Π_j (X Xᵀ M̃_j) · X: the network as one product of (3^l − 1)/2 factors."""

    def sides(A: list[Array], V: list[Array], X: Array, arithmetic: Arithmetic) -> list[tuple[Array, Array]]:
        M, L = deep.virtual_weights(A, V, arithmetic)
        return [(deep.lightning(A, V, X, arithmetic), deep.unrolled(M, L, X, arithmetic))]

    return _check(dims, t, sides, seed, symbolic)


def equation_9(dims: Sequence[int], seed: int = 0) -> IdentityCheck:
    """The action of Π GL(d_i) between the layers leaves (M, L) unchanged: one half of Lemma 3.5."""
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
    return _check(dims, 1, sides, seed, False, extra_degree=4 * sum(dims[1:-1]))


def _inverse_mod(matrix: Array, p: int) -> Array:
    inverse = flint.nmod_mat(matrix.astype(int).tolist(), p).inv()
    return np.array([*map(int, inverse.entries())], dtype=float).reshape(matrix.shape)


def _check(
    dims: Sequence[int], t: int, sides: Sides, seed: int, symbolic: bool, extra_degree: int = 0
) -> IdentityCheck:
    layers = len(dims) - 1
    shapes = {f"A{i}": (d, d) for i, d in enumerate(dims[:-1], 1)}
    shapes |= {f"V{i}": (e, d) for i, (d, e) in enumerate(pairwise(dims), 1)}
    shapes["x"] = (dims[0], t)

    def difference(arrays: list[Array], arithmetic: Arithmetic) -> str:
        pairs = sides(arrays[:layers], arrays[layers:-1], arrays[-1], arithmetic)
        for k, (left, right) in enumerate(pairs, 1):
            for (i, j), value in np.ndenumerate(left):
                if value != right[i, j]:
                    return f"entry ({i + 1}, {j + 1}) of identity {k}: {value} against {right[i, j]}"
        return ""

    if symbolic:
        return IdentityCheck(difference(generic_matrices(shapes), RingArithmetic()))
    degree = (
        2 * 3**layers - 1
    )  # of an entry of φ(X) in A, V and X together: from each layer to the next 3n + 2
    generator = np.random.default_rng(seed)
    error = 1.0
    for _ in range(_TRIALS):
        p = random_prime(generator)
        drawn = [random_residues(generator, shape, p) for shape in shapes.values()]
        witness = difference(drawn, ModularArithmetic(p))
        if witness:
            # Different values at one point of 𝔽_p are a proof that the integer polynomials differ.
            return IdentityCheck(f"{witness} modulo {p}")
        error *= (degree + extra_degree) / p
    return IdentityCheck("", Evidence.MODULAR, error)


def _identity(name: str, finds: str, check: Callable[..., IdentityCheck]) -> Task[DeepNetwork]:
    def native(network: DeepNetwork, seed: int) -> IdentityCheck:
        symbolic = deep.monomials_of_network(network, MAX_SYMBOLIC_MONOMIALS) <= MAX_SYMBOLIC_MONOMIALS
        return check(network.dims, network.t, seed, symbolic)

    return Task(
        name, finds, DeepNetwork, native, evidence=lambda found: found.evidence, infeasible=no_virtual_weights
    )


RECURSION = _identity("recursion", "the recursion", lemma_3_6)
UNROLLED = _identity("unrolled-product", "the unrolled product", equation_12)
BASIS_CHANGE = _identity(
    "basis-change", "the changes of basis", lambda dims, t, seed, symbolic: equation_9(dims, seed)
)


def _judge_identity(task: Task[DeepNetwork]) -> Callable[[DeepNetwork, Findings], Outcome]:
    def judge(network: DeepNetwork, findings: Findings) -> Outcome:
        check: IdentityCheck = findings.need(task)
        computed = "identity" if check.holds else "no identity"
        details: dict[str, object] = {"error_probability": check.error}
        return Outcome(check.holds, computed, str(check), details=details)

    return judge


def _predict_basis(network: DeepNetwork) -> dict[str, object]:
    return {"invariant": True, "fiber": sum(d * d for d in network.dims[1:-1])}


def _judge_basis(network: DeepNetwork, findings: Findings) -> Outcome:
    check: IdentityCheck = findings.need(BASIS_CHANGE)
    fiber = findings.need(BASIS_FIBER)
    computed = {"invariant": check.holds, "fiber": fiber.upper_bound}
    witness = (
        f"(M, L) under a change of basis by random C_i: {check}; and the differential of "
        f"(A, V) ↦ (M, L) at random weights has a kernel of dimension {fiber.upper_bound}, where the group "
        f"has {fiber.lower_bound}"
    )
    details: dict[str, object] = {
        "error_probability": check.error,
        "scope": "near generic weights; elsewhere the lemma's own argument, that L'_i = C_i L_i for one C_i",
    }
    # The group gives the lower bound; an upper bound above it may only be a bad point.
    holds = (
        None if check.holds and fiber.upper_bound > fiber.lower_bound else computed == _predict_basis(network)
    )
    return Outcome(holds, computed, witness, details=details)


BOTTLENECK = Hypothesis[DeepNetwork]("d_i = δ ≤ d_0, d_l", lambda network: network.bottleneck is not None)

CLAIMS = (
    Claim(
        "lemma-3.5",
        "If d_i = δ ≤ d_0, d_l for 0 < i < l, the weights with given virtual weights, L of rank δ, are one "
        "orbit of the changes of basis between the layers, of dimension Σ d_i²",
        r"V_i \mapsto C_i V_i C_{i-1}^{-1},\quad A_i \mapsto C_{i-1}^{-\mathsf T} A_i C_{i-1}^{-1}",
        "HMK, Lemma 3.5, equation 9",
        (*PLAIN, ANY_VALUES, BOTTLENECK),
        (BASIS_CHANGE, BASIS_FIBER),
        _predict_basis,
        _judge_basis,
        beyond=False,
    ),
    Claim(
        "lemma-3.6",
        "X_i = L_i X P_i for every layer, with P_0 = 1 and P_i = P_{i−1} P_{i−1}ᵀ (Xᵀ M_i X) P_{i−1}",
        r"X_i = L_i X P_i,\quad P_i = P_{i-1}P_{i-1}^{\mathsf T}(X^{\mathsf T}M_iX)P_{i-1}",
        "HMK, Lemma 3.6",
        PLAIN,
        (RECURSION,),
        lambda network: "identity",
        _judge_identity(RECURSION),
        beyond=False,
    ),
    Claim(
        "equation-12",
        "φ(X) = L · Π_j (X Xᵀ M̃_j) · X, a product over j = 1, ..., (3^l − 1)/2",
        r"\varphi(X) = L \prod_{j=1}^{(3^l-1)/2} (XX^{\mathsf T}\tilde M_j)\, X",
        "HMK, equation 12, after Lemma 3.6",
        PLAIN,
        (UNROLLED,),
        lambda network: "identity",
        _judge_identity(UNROLLED),
        beyond=False,
    ),
)
