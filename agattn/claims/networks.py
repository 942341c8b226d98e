"""Fibers and identities of networks, by the paper (HMK), and limits of one layer of several heads.

Lemmas 3.5 and 3.6 and equation 12 are identities for deep lightning networks, and checked exactly.

An identity between polynomials is expanded symbolically where the network is small, which proves the identity
for that size; otherwise both sides are evaluated at random points modulo random primes. An entry of either
side is an entry of a product of at most n matrices, each A_i, V_i, X, C_i or a transpose, with at most w rows
and columns: a sum of at most w^(n−1) monomials, of degree at most n. If the sides differ, their difference
has a coefficient of absolute value from 1 to 2w^(n−1), which few primes divide
(:func:`agattn.algebra.residues.chance_of_dividing`); and modulo a prime p that does not divide it, the
difference vanishes at a random point with probability at most n/p (Schwartz and Zippel).

>>> print(equation_12((1, 2, 1), t=1, symbolic=True))
expanded symbolically in all entries of the matrices, both sides agree
>>> lemma_3_6((4, 5, 3, 4), t=3).error < 1e-12
True

The proofs about limits of several heads are in docs/networks/several-heads-proofs.md.

>>> from agattn import DeepNetwork
>>> from agattn.verification.verify import verify
>>> for dims, ranks in (((3, 1), (1,)), ((3, 1), (2,))):
...     network = DeepNetwork(dims, ranks, t=2, heads=2)
...     [verdict] = verify(network, ["agattn.heads-not-closed"], "native").verdicts
...     print(verdict.status, verdict.strength, verdict.short)
confirmed proved not closed
inapplicable proved closed
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log2
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ModularArithmetic, RingArithmetic
from agattn.algebra.residues import PRIME_BITS, chance_of_dividing, random_prime, random_residues
from agattn.architectures import DeepNetwork
from agattn.claims.claim import (
    ANY_VALUES,
    LIGHTNING,
    NO_SKIP,
    NORMALIZED,
    ONE_HEAD,
    ONE_LAYER,
    PLAIN,
    TWO_TOKENS,
    Claim,
    Findings,
    Hypothesis,
    Outcome,
    Proof,
)
from agattn.errors import InputError, UndecidedError
from agattn.evidence import Evidence
from agattn.geometry.closedness.several_heads import Closedness, closedness, is_one_layer
from agattn.geometry.identifiability import virtual_weights as deep
from agattn.geometry.identifiability.virtual_weights import FiberDimension
from agattn.geometry.variety.coordinates import generic_matrices
from agattn.limits import limits
from agattn.systems.network_tasks import (
    BASIS_FIBER,
    COMPONENTS,
    LOCAL_FIBER,
    RECOVERY,
    FiberComponents,
    no_virtual_weights,
)
from agattn.systems.problem import Task

THREE_TOKENS = Hypothesis[DeepNetwork]("t ≥ 3", lambda network: network.t >= 3)
# Generic M_i = L_{i−1}ᵀA_iL_{i−1} have rank ≥ 2, and are not skew-symmetric, in just these networks.
RANK_TWO = Hypothesis[DeepNetwork]("rk M_i ≥ 2", lambda network: min(*network.ranks, *network.dims[:-1]) >= 2)


def _predict_fiber(network: DeepNetwork) -> dict[str, int]:
    return {"dimension": network.depth, "other_components": 0}


def _judge_fiber(network: DeepNetwork, findings: Findings) -> Outcome:
    local: FiberDimension = findings.need(LOCAL_FIBER)
    everything: FiberComponents | None = findings.get(COMPONENTS)
    low, high = local
    size, sizes = f"{low} to {high}", {"dimension_at_least": low, "dimension_at_most": high}
    if local.is_exact:
        size, sizes = str(high), {"dimension": high}
    near = f"at random integer weights the fiber of (M, L) ↦ φ has dimension {size} near (M, L)"
    computed: dict[str, object]
    if everything is None:
        computed = {**sizes, "other_components": None}
        holds = True if local.is_exact and local.upper_bound == network.depth else None
        missing = findings.missing.get(COMPONENTS, "nothing was asked about other components")
        witness = (
            f"{near}, the rescalings {network.depth}; whether it has other components is open: {missing}"
        )
        scope = "near one random (M, L)"
    else:
        computed = {"dimension": max(everything.dimensions), "other_components": everything.others}
        holds = computed == _predict_fiber(network)
        witness = (
            f"{near}; the components of the whole fiber have dimension "
            f"{', '.join(map(str, everything.dimensions))}, and {everything.others} are not of rescalings"
        )
        scope = "the whole fiber over one random (M, L)"
    return Outcome(holds, computed, witness, details={"scope": scope})


def _judge_recovery(network: DeepNetwork, findings: Findings) -> Outcome:
    results: list[tuple[str, bool]] = findings.need(RECOVERY)
    failed = [name for name, same in results if not same]
    witness = (
        f"not recovered for S = {' and '.join(failed)}"
        if failed
        else "from the values of the layer alone the proof's algorithm returned (A, V) exactly, and V' = 0 "
        f"where V = 0, for S = {' and '.join(name for name, _ in results if 'V' not in name)}; the first is "
        "the softmax, in units of T·log 2"
    )
    computed = "other weights" if failed else "(A, V)"
    return Outcome(not failed, computed, witness, details={"scope": "random weights over ℚ"})


# Expanding so many monomials takes about half a second.
MAX_SYMBOLIC_MONOMIALS = 2 * 10**7
# Terms of one entry of (M, L) that take a tenth of a second.
MAX_SYMBOLIC_TERMS = 2 * 10**4
# There are as many evaluations, each modulo its own prime, as make the error smaller than this; none where
# one does not halve it, as where the degree is larger than the primes.
LARGEST_ERROR = 2.0**-40


class IdentityCheck(NamedTuple):
    """Whether a polynomial identity holds; the witness is a place where the sides differ.

    The error bounds the probability that a false identity passed by evaluation, which is ``modular``; it is 0
    where the identity was expanded symbolically or fails, either of which is ``proved``, and 1 where nothing
    was evaluated, as the degree is too large for the primes.
    """

    witness: str
    evidence: Evidence = Evidence.PROVED
    error: float = 0.0

    @property
    def holds(self) -> bool | None:
        """Whether both sides agree; ``None`` where that is not known."""
        return None if self.error > LARGEST_ERROR else not self.witness

    def __str__(self) -> str:
        if self.witness:
            return f"the sides differ: {self.witness}"
        if not self.error:
            return "expanded symbolically in all entries of the matrices, both sides agree"
        if self.error > LARGEST_ERROR:
            return f"its degree is too large for primes of {PRIME_BITS} bits"
        return (
            f"at random weights and inputs modulo random primes both sides agree; a false identity would "
            f"pass with probability below {self.error:.0e}, primes that divide all coefficients included"
        )


Arrays = list[Array]
Pairs = list[tuple[Array, Array]]
Sides = Callable[[Arrays, Arrays, Arrays, Arithmetic], Pairs]
"""A, V, further matrices and their arithmetic ↦ pairs of arrays that an identity says are equal."""


def lemma_3_6(dims: Sequence[int], t: int, symbolic: bool = False) -> IdentityCheck:
    """X_i = L_i X P_i for every layer i: the recursion that computes the network from virtual weights."""

    def sides(A: Arrays, V: Arrays, inputs: Arrays, arithmetic: Arithmetic) -> Pairs:
        (X,) = inputs
        M, _ = deep.virtual_weights(A, V, arithmetic)
        mixings = deep.token_mixings(M, X, arithmetic)
        products = deep.partial_products(V, arithmetic)
        outputs = deep.layer_outputs(A, V, X, arithmetic)
        mul = arithmetic.matmul
        return [(out, mul(L, mul(X, P))) for out, L, P in zip(outputs, products, mixings, strict=True)]

    return _check(dims, {"x": (dims[0], t)}, _degree(dims), sides, symbolic)


def equation_12(dims: Sequence[int], t: int, symbolic: bool = False) -> IdentityCheck:
    """φ(X) = L · Π_j (X Xᵀ M̃_j) · X: the network as one product of (3^l − 1)/2 factors."""

    def sides(A: Arrays, V: Arrays, inputs: Arrays, arithmetic: Arithmetic) -> Pairs:
        (X,) = inputs
        M, L = deep.virtual_weights(A, V, arithmetic)
        return [(deep.lightning(A, V, X, arithmetic), deep.unrolled(M, L, X, arithmetic))]

    return _check(dims, {"x": (dims[0], t)}, _degree(dims), sides, symbolic)


def _degree(dims: Sequence[int]) -> int:
    """How many factors of A, V and X an entry of φ(X) has: 3n + 2 where the layer before has n, 1 at first.

    L_i X P_i has as many, and so has the product of equation 12: with p_i factors of P_i and 2i − 1 of M_i
    p_i = 3p_(i−1) + 2i + 1, so that i + 1 + p_i = 3(i + p_(i−1)) + 2; an M_ν counts 2ν − 1 with weight
    3^(l−ν), and X Xᵀ two for each of the (3^l − 1)/2.
    """
    return int(2 * 3 ** (len(dims) - 1) - 1)


def equation_9(dims: Sequence[int], symbolic: bool = False) -> IdentityCheck:
    """The action of Π GL(d_i) between the layers leaves (M, L) unchanged: one half of Lemma 3.5.

    For invertible C_i all weights are A_i = C_{i−1}ᵀ B_i C_{i−1}, V_i = W_i C_{i−1}, and are moved to
    (B_i, C_i W_i): without denominators, an identity of polynomials in B, W and C.
    """

    def sides(B: Arrays, W: Arrays, C: Arrays, arithmetic: Arithmetic) -> Pairs:
        mul, one = arithmetic.matmul, arithmetic.identity
        before, after = [one(dims[0]), *C], [*C, one(dims[-1])]
        A = [mul(c.T, mul(b, c)) for b, c in zip(B, before, strict=True)]
        M, L = deep.virtual_weights(A, [*map(mul, W, before)], arithmetic)
        M_moved, L_moved = deep.virtual_weights(B, [*map(mul, after, W)], arithmetic)
        return [*zip(M, M_moved, strict=True), (L, L_moved)]

    # M_l has one B, 2(l − 1) factors W and as many C, and L has l and l − 1.
    changes = {f"C{i}": (d, d) for i, d in enumerate(dims[1:-1], 1)}
    return _check(dims, changes, 4 * len(dims) - 7, sides, symbolic)


def _check(
    dims: Sequence[int],
    further: Mapping[str, tuple[int, int]],
    degree: int,
    sides: Sides,
    symbolic: bool,
) -> IdentityCheck:
    layers = len(dims) - 1
    shapes = {f"A{i}": (d, d) for i, d in enumerate(dims[:-1], 1)}
    shapes |= {f"V{i}": (e, d) for i, (d, e) in enumerate(pairwise(dims), 1)} | dict(further)

    def difference(arrays: list[Array], arithmetic: Arithmetic) -> str:
        pairs = sides(arrays[:layers], arrays[layers : 2 * layers], arrays[2 * layers :], arithmetic)
        for k, (left, right) in enumerate(pairs, 1):
            for (i, j), value in np.ndenumerate(left):
                if value != right[i, j]:
                    return f"entry ({i + 1}, {j + 1}) of identity {k}: {value} against {right[i, j]}"
        return ""

    if symbolic:
        return IdentityCheck(difference(generic_matrices(shapes), RingArithmetic()))
    if degree.bit_length() >= PRIME_BITS:  # and may be no float
        return IdentityCheck("", Evidence.MODULAR, 1.0)
    size = 1 + (degree - 1) * log2(max(map(max, shapes.values())))
    chance = degree / 2 ** (PRIME_BITS - 1) + chance_of_dividing(size)
    generator = np.random.default_rng(limits().seed)
    error = 1.0
    while error > LARGEST_ERROR and chance <= 0.5:
        p = random_prime(generator)
        drawn = [random_residues(generator, shape, p) for shape in shapes.values()]
        witness = difference(drawn, ModularArithmetic(p))
        if witness:
            # Different values at one point of 𝔽_p are a proof that the integer polynomials differ.
            return IdentityCheck(f"{witness} modulo {p}")
        error *= chance
    return IdentityCheck("", Evidence.MODULAR, error)


def _identity(name: str, finds: str, check: Callable[..., IdentityCheck]) -> Task[DeepNetwork]:
    def native(network: DeepNetwork) -> IdentityCheck:
        symbolic = deep.monomials_of_network(network, MAX_SYMBOLIC_MONOMIALS) <= MAX_SYMBOLIC_MONOMIALS
        return check(network.dims, network.t, symbolic)

    return Task(
        name, finds, DeepNetwork, native, evidence=lambda found: found.evidence, infeasible=no_virtual_weights
    )


RECURSION = _identity("recursion", "the recursion", lemma_3_6)
UNROLLED = _identity("unrolled-product", "the unrolled product", equation_12)
BASIS_CHANGE = Task(
    "basis-change",
    "the changes of basis",
    DeepNetwork,
    lambda network: equation_9(
        network.dims, max(network.dims) ** (4 * network.depth - 3) <= MAX_SYMBOLIC_TERMS
    ),
    evidence=lambda found: found.evidence,
    infeasible=no_virtual_weights,
)


def _judge_identity(task: Task[DeepNetwork]) -> Callable[[DeepNetwork, Findings], Outcome]:
    def judge(network: DeepNetwork, findings: Findings) -> Outcome:
        check: IdentityCheck = findings.need(task)
        if check.holds is None:
            raise UndecidedError(str(check))
        computed = "identity" if check.holds else "no identity"
        details: dict[str, object] = {"error_probability": check.error}
        return Outcome(check.holds, computed, str(check), details=details)

    return judge


def _predict_basis(network: DeepNetwork) -> dict[str, object]:
    return {"invariant": True, "fiber": sum(d * d for d in network.dims[1:-1])}


def _judge_basis(network: DeepNetwork, findings: Findings) -> Outcome:
    check: IdentityCheck = findings.need(BASIS_CHANGE)
    fiber = findings.need(BASIS_FIBER)
    if check.holds is None:
        raise UndecidedError(str(check))
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

#: Why an identity has no certificate.
EXPANDED = "an identity is proved by expanding both sides, and no integers make that shorter"


def _of_one_layer(network: DeepNetwork) -> str:
    return "" if is_one_layer(network) else "closedness of other networks is a claim of its own"


CLOSEDNESS = Task(
    "heads-closed",
    "closedness",
    DeepNetwork,
    lambda network: closedness(network),
    infeasible=_of_one_layer,
)


def _judge_not_closed(network: DeepNetwork, findings: Findings) -> Outcome:
    found: Closedness = findings.need(CLOSEDNESS)
    if found.status == "open":
        raise UndecidedError(f"whether M is closed is open: {found.reason}")
    if found.limit is None:
        return Outcome(False, found.status, f"{found.reason} ({found.theorem})")
    if flaw := found.limit.flaw():
        raise UndecidedError(f"the witness is wrong: {flaw}")
    witness = (
        f"the heads that the JSON lists, with weights that diverge, add up to {found.limit} for ε → 0, which "
        f"no {network.heads_by_layer[0]} heads do, real or complex. {found.reason} ({found.theorem})"
    )
    return Outcome(True, found.status, witness, details={"limit": found.limit.as_json()})


def _is_small(network: DeepNetwork) -> bool:
    (d, d_out), a, h = network.dims[:2], network.ranks[0], network.heads_by_layer[0]
    return d_out >= 2 or (a <= d - 2 and (a == 1 or h == 2))


def _limit_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    found = closedness(network)
    if found.limit is None:
        raise InputError(f"{found}; a certificate shows a limit outside M, and there is none to show")
    return found.limit.as_json()


CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    Claim(
        "theorem-3.7",
        "If t ≥ 3, L ≠ 0, rk M_i ≥ 2 and no M_i is skew-symmetric, the virtual weights with the same "
        "function as (M, L) are its rescalings (μ_i M_i, λL) with λ Π μ_i^(3^(l−i)) = 1",
        r"\varphi_{M',L'} = \varphi_{M,L} \implies M_i' = \mu_iM_i,\ L' = \lambda L,\ "
        r"\lambda\prod\mu_i^{3^{l-i}} = 1",
        (*PLAIN, ANY_VALUES, THREE_TOKENS, RANK_TWO),
        (LOCAL_FIBER, COMPONENTS),
        _predict_fiber,
        _judge_fiber,
        certificate="the checker finds no fibers of networks, which takes an elimination",
        beyond=False,
        brief="(M, L) is determined up to scaling",
    ),
    Claim(
        "theorem-3.9",
        "A normalized layer with t ≥ 2 determines its weights: V' = 0 if V = 0; otherwise (A', V') = (A, V)",
        r"\varphi_{A',V'} = \varphi_{A,V} \neq 0 \implies (A', V') = (A, V)",
        (NORMALIZED, ONE_LAYER, ONE_HEAD, NO_SKIP, TWO_TOKENS),
        (RECOVERY,),
        lambda network: "(A, V)",
        _judge_recovery,
        certificate="the checker has no exponential functions",
        beyond=False,
        brief="a normalized layer determines its weights",
    ),
    Claim(
        "lemma-3.5",
        "If d_i = δ ≤ d_0, d_l for 0 < i < l, the weights with given virtual weights, L of rank δ, are one "
        "orbit of the changes of basis between the layers, of dimension Σ d_i²",
        r"V_i \mapsto C_i V_i C_{i-1}^{-1},\quad A_i \mapsto C_{i-1}^{-\mathsf T} A_i C_{i-1}^{-1}",
        (*PLAIN, ANY_VALUES, BOTTLENECK),
        (BASIS_CHANGE, BASIS_FIBER),
        _predict_basis,
        _judge_basis,
        source="HMK, Lemma 3.5, equation 9",
        certificate=EXPANDED,
        beyond=False,
        brief="weights with equal (M, L) are one orbit",
    ),
    Claim(
        "lemma-3.6",
        "X_i = L_i X P_i for every layer, with P_0 = 1 and P_i = P_{i−1} P_{i−1}ᵀ (Xᵀ M_i X) P_{i−1}",
        r"X_i = L_i X P_i,\quad P_i = P_{i-1}P_{i-1}^{\mathsf T}(X^{\mathsf T}M_iX)P_{i-1}",
        PLAIN,
        (RECURSION,),
        lambda network: "identity",
        _judge_identity(RECURSION),
        certificate=EXPANDED,
        beyond=False,
        brief="X_i = L_i X P_i, with a recursion for P_i",
    ),
    Claim(
        "equation-12",
        "φ(X) = L · Π_j (X Xᵀ M̃_j) · X, a product over j = 1, ..., (3^l − 1)/2",
        r"\varphi(X) = L \prod_{j=1}^{(3^l-1)/2} (XX^{\mathsf T}\tilde M_j)\, X",
        PLAIN,
        (UNROLLED,),
        lambda network: "identity",
        _judge_identity(UNROLLED),
        source="HMK, equation 12, after Lemma 3.6",
        certificate=EXPANDED,
        beyond=False,
        brief="φ = L · Π_j (X Xᵀ M̃_j) · X",
    ),
    Claim(
        "agattn.heads-not-closed",
        "M of one layer with h heads, 2 ≤ h ≤ d, is not closed if d' ≥ 2, or if a ≤ d − 2 and a = 1 or "
        "h = 2: limits of heads with diverging weights are no sum of h heads, real or complex. If d' = 1 and "
        "a ≥ d − 1, it is closed",
        r"\overline{\mathcal{M}} \neq \mathcal{M}",
        (
            LIGHTNING,
            ONE_LAYER,
            ANY_VALUES,
            TWO_TOKENS,
            Hypothesis[DeepNetwork](
                "2 ≤ h ≤ d", lambda network: 2 <= network.heads_by_layer[0] <= network.dims[0]
            ),
            Hypothesis[DeepNetwork]("d' ≥ 2, or a ≤ d − 2 with a = 1 or h = 2", _is_small),
        ),
        (CLOSEDNESS,),
        lambda network: "not closed",
        _judge_not_closed,
        certificate=Proof(_limit_proof),
        brief="M is {}",
    ),
)
