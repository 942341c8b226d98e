"""HMK's statements about deep lightning networks, checked exactly: Lemmas 3.5 and 3.6, equation 12, Theorem
3.7.

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
from fractions import Fraction
from math import ceil, log10

import flint
import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ModularArithmetic, RingArithmetic
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.algebra.residues import Elimination, random_prime, random_residues, reduced_echelon
from agattn.architectures import DeepNetwork
from agattn.architectures.network import LayerWeights
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.identifiability import virtual_weights as deep
from agattn.geometry.identifiability.gauge import inverse

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


def recover_change_of_basis(V: Sequence[Array], V_moved: Sequence[Array]) -> list[Array]:
    """The C_1, ..., C_{l−1} that relate two networks with the same virtual weights: Lemma 3.5, the other
    half.

    If L = V_l ... V_1 has rank δ = d_1 = ... = d_{l−1}, every L_i has rank δ and the row space of L, so
    that L'_i = C_i L_i for exactly one C_i, invertible. Then V'_i C_{i−1} L_{i−1} = C_i V_i L_{i−1} and
    L_{i−1}ᵀ(C_{i−1}ᵀ A'_i C_{i−1} − A_i)L_{i−1} = 0 with L_{i−1} surjective give equation 9. So these are
    all.

    Args:
        V: value matrices over ℚ (ints or Fractions in object arrays).
        V_moved: those of the other network.

    Raises:
        InputError: if some L_i does not have full row rank, if the products V_l ... V_1 differ, or if they
            are not of rank δ.

    >>> V = [np.array([[1, 2, 0], [0, 1, 1]], dtype=object), np.array([[1, 1], [0, 3]], dtype=object)]
    >>> C = np.array([[2, 1], [1, 1]], dtype=object)
    >>> _, moved = deep.change_basis([np.eye(3, dtype=int), np.eye(2, dtype=int)], V, [C])
    >>> bool((recover_change_of_basis(V, moved)[0] == C).all())
    True
    """
    products, products_moved = deep.partial_products(V), deep.partial_products(V_moved)
    if (products[-1] != products_moved[-1]).any():
        raise InputError(
            "the products of the value matrices differ, so the networks have other virtual weights"
        )
    found = []
    for L, L_moved in zip(products[1:-1], products_moved[1:-1], strict=True):
        gram = L @ L.T  # invertible over ℚ exactly when L has full row rank
        try:
            C = (L_moved @ L.T) @ deep.rational_inverse(gram)
        except ZeroDivisionError as error:
            raise InputError(
                "a product V_i ... V_1 does not have full row rank; Lemma 3.5 needs that"
            ) from error
        if not (L_moved == C @ L).all() or inverse(C) is None:
            raise InputError("the products V_i ... V_1 have other row spaces or ranks, so L is not of rank δ")
        found.append(C)
    return found


@dataclass(frozen=True)
class VirtualFiber:
    """The dimension of the fiber of (M, L) ↦ φ at a rational point, from both sides.

    Attributes:
        lower_bound: the dimension of the rescalings through the point: l where L and all M_i are nonzero.
        upper_bound: the parameters minus the rank of the differential there modulo a prime; proved.
        prime: that prime.
    """

    lower_bound: int
    upper_bound: int
    prime: int

    @property
    def is_exact(self) -> bool:
        """Whether the fiber is proved to have the dimension of the rescalings, near this point."""
        return self.lower_bound == self.upper_bound


def theorem_3_7_hypotheses(M: Sequence[Array], L: Array, t: int) -> list[str]:
    """The hypotheses of Theorem 3.7 that fail at integer virtual weights.

    >>> M = np.array([[0, 1], [-1, 0]])
    >>> theorem_3_7_hypotheses([M], np.zeros((1, 2), dtype=int), t=2)
    ['t ≥ 3', 'L ≠ 0', 'M_1 is not skew-symmetric']
    """
    failing = []
    if t < 3:
        failing.append("t ≥ 3")
    if not L.any():
        failing.append("L ≠ 0")
    for i, M_i in enumerate(M, 1):
        if flint.fmpz_mat(M_i.tolist()).rank() < 2:
            failing.append(f"rk M_{i} ≥ 2")
        if (M_i == -M_i.T).all():
            failing.append(f"M_{i} is not skew-symmetric")
    return failing


def theorem_3_7_local(M: Sequence[Array], L: Array, t: int, seed: int = 0) -> VirtualFiber:
    """The dimension of the fiber of (M, L) ↦ φ through a given point, exactly where the bounds meet.

    The M_i range over all d_0 × d_0 matrices and L over all d_l × d_0 matrices. By Theorem 3.7 the fiber
    consists of the rescalings of equation 13, of dimension l.

    Args:
        M: integer matrices d_0 × d_0.
        L: an integer matrix d_l × d_0.
        t: number of tokens.
        seed: of the random inputs and the prime.

    >>> M = [np.array([[1, 2], [0, 1]]), np.array([[0, 1], [3, 1]])]
    >>> theorem_3_7_local(M, np.array([[1, 0]]), t=3).is_exact
    True
    """
    generator = np.random.default_rng(seed)
    p = random_prime(generator)
    d, d_out, l = L.shape[1], L.shape[0], len(M)
    # As a network: K_i = 1, Q_i = M_i, V_i = 1 but for V_l = L; only Q_1, ..., Q_l and V_l vary.
    network = DeepNetwork((*[d] * l, d_out), (d,) * l, t)
    one = np.eye(d)[None]
    residues = [(np.asarray(m) % p).astype(float)[None] for m in (*M, L)]
    weights = [LayerWeights(one, Q, one) for Q in residues[: l - 1]]
    weights.append(LayerWeights(one, residues[l - 1], residues[l]))
    columns: list[int] = []
    start = 0
    for i, layer in enumerate(weights):
        columns += range(start + d * d, start + 2 * d * d)
        if i == l - 1:
            columns += range(start + 2 * d * d, start + 2 * d * d + d * d_out)
        start += sum(array.size for array in layer.arrays)
    rows = len(columns) + 10
    X = random_residues(generator, (rows, d, t), p)
    cotangents = random_residues(generator, (rows, 1, d_out, t), p)
    J = jacobian(network, weights, X, ModularArithmetic(p), cotangents)
    rank = Elimination(len(columns), p).add(J[:, columns])
    nonzero = sum(bool(np.any(m)) for m in M)
    lower = nonzero if np.any(L) and nonzero == l else 0
    return VirtualFiber(lower, len(columns) - rank, p)


def fiber_equations(M: Sequence[Array], L: Array, t: int) -> list[Polynomial]:
    """Polynomials in M', L' whose zeros are the virtual weights with the same function: Theorem 3.7,
    globally.

    The coefficients of φ_{M',L'}(X) − φ_{M,L}(X) as a polynomial in X; for small sizes, to be given to an
    engine. The variables are M_{i,b,c} and L_{c,b}, counted from 1.

    >>> M = [np.array([[1, 2], [0, 1]], dtype=object)]
    >>> equations = fiber_equations(M, np.array([[1, 0]], dtype=object), t=2)
    >>> len(equations), equations[0].degree()
    (8, 2)
    """
    d, d_out = L.shape[1], L.shape[0]
    unknowns = [Variable("M", (i, b, c)) for i in _upto(len(M)) for b in _upto(d) for c in _upto(d)]
    unknowns += [Variable("L", (c, b)) for c in _upto(d_out) for b in _upto(d)]
    inputs = [Variable("x", (b, s)) for b in _upto(d) for s in _upto(t)]
    ring, small = PolynomialRing([*unknowns, *inputs]), PolynomialRing(unknowns)
    flat = np.array(ring.gens, dtype=object)
    M_new = [flat[i * d * d : (i + 1) * d * d].reshape(d, d) for i in range(len(M))]
    L_new = flat[len(M) * d * d : len(unknowns)].reshape(d_out, d)
    X = flat[len(unknowns) :].reshape(d, t)
    difference = deep.from_virtual(M_new, L_new, X) - deep.from_virtual(M, L, X)
    equations: dict[str, Polynomial] = {}
    for entry in difference.ravel():
        by_input: dict[tuple[int, ...], dict[tuple[int, ...], Fraction | int]] = {}
        for exponents, coefficient in entry.terms.items():
            unknown, known = exponents[: len(unknowns)], exponents[len(unknowns) :]
            by_input.setdefault(known, {})[unknown] = coefficient
        for terms in by_input.values():
            polynomial = small.from_terms(terms).primitive()
            equations.setdefault(str(polynomial), polynomial)
    return list(equations.values())


def monomials_of_network(network: DeepNetwork) -> int:
    """How many monomials in A, V and X the outputs of a lightning network have, counted with coefficients.

    The sum of the coefficients of φ(X), which is its value where all entries of A, V and X are 1: how much
    work it is to expand φ.

    >>> monomials_of_network(DeepNetwork((2, 2, 2), (2, 2), t=3))
    1990656
    """
    dims, t, entry = network.dims, network.t, 1
    for d in dims[:-1]:
        entry *= d * t * d * d * entry**2
    return dims[-1] * t * entry


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
    n = len(matrix)
    order, rows = reduced_echelon(np.concatenate([matrix, np.eye(n)], axis=1), p)
    if sorted(order) != list(range(n)):
        raise ZeroDivisionError("a singular matrix modulo p")
    return rows[np.argsort(order), n:]


def _upto(n: int) -> range:
    return range(1, n + 1)
