"""What can be found out about a network, by engines and natively.

Tasks about zeros of deep lightning networks, and about limits that are no functions of the network, are for
wide networks, d_i ≥ d_0 for i < l and a_i ≥ d_0, so that their virtual weights M_1, ..., M_l and L are any
matrices of their shapes. Where M_(l−1) = k qᵀ has rank 1 and M_l = K is skew-symmetric, φ = 0; so with
M_(l−1) = k qᵀ + εN, M_l = K + εP and L/ε the function has a limit as ε goes to 0, the coefficient of ε in φ.
Scripts compute it as that; what is computed natively is a formula.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb, inf
from typing import Any, NamedTuple, cast

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ModularArithmetic
from agattn.algebra.echelon import rational_rank
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, jacobian_at
from agattn.algebra.residues import RowSpace, random_prime, random_residues
from agattn.architectures import Architecture, DeepNetwork
from agattn.errors import InputError
from agattn.evidence import Source
from agattn.geometry.dimension.dimension import MAX_BALL_RANK, dimension
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.identifiability.virtual_weights import (
    generic_fiber,
    local_fiber,
    monomials_of_network,
    random_virtual_weights,
    recovered_exactly,
    theorem_3_7_hypotheses,
    token_mixings,
)
from agattn.limits import limits, takes
from agattn.systems.consistency import NoChecks, between, check_generators, components_of, demand
from agattn.systems.problem import ENGINE, Answer, Fact, Facts, Printed, Problem, Task, matrix

# Engines expand the difference of two functions: so many monomials take seconds, more take minutes.
MAX_MONOMIALS = 3 * 10**7
# The rank of a matrix with so many columns takes some seconds.
MAX_COLUMNS = 2500
# The recovery of A evaluates the layer more than d² times, with exact fractions.
MAX_RECOVERY_WIDTH = 16


network_task = partial(Task[DeepNetwork], about=DeepNetwork, reference="section 3.3, virtual weights")


# The fiber over virtual weights, and that of virtual weights ------------------------------------------------


def no_virtual_weights(network: DeepNetwork) -> str:
    """Which networks virtual weights are for, if not for this one; else an empty string.

    >>> no_virtual_weights(DeepNetwork((2, 2), (1,), t=2, heads=2))
    'virtual weights are for lightning networks with one head and without skip connections'
    """
    if not network.is_lightning or network.skip or set(network.heads_by_layer) != {1}:
        return "virtual weights are for lightning networks with one head and without skip connections"
    return ""


def _too_many_columns(network: DeepNetwork) -> str:
    d_0, d_l = network.dims[0], network.dims[-1]
    columns = network.depth * d_0**2 + d_0 * d_l
    wide = f"(M, L) has {columns} entries; ranks of so many columns, more than {MAX_COLUMNS}, take long"
    return no_virtual_weights(network) or (wide if columns > MAX_COLUMNS else "")


BASIS_FIBER = network_task(
    "basis-fiber",
    "the fiber over (M, L)",
    native=lambda network: generic_fiber(network.dims),
    infeasible=_too_many_columns,
)
LOCAL_FIBER = network_task(
    "local-fiber",
    "the fiber of (M, L) ↦ φ near a point",
    native=lambda network: local_fiber(*random_virtual_weights(network), network.t),
    infeasible=_too_many_columns,
)


class FiberComponents(NamedTuple):
    """The components of a fiber of (M, L) ↦ φ: their dimensions, and how many are no rescalings."""

    dimensions: tuple[int, ...]
    others: int


def _random_point(network: DeepNetwork) -> dict[str, Any]:
    """Random integer virtual weights (M, L) of the network.

    A component of the fiber through them consists of rescalings exactly if the 2 × 2 minors of (M'_i | M_i)
    and (L' | L), as pairs of vectors, vanish on it. The last virtual weight is a product of the V_i and has
    any rank here.
    """
    _refuse(no_virtual_weights(network).replace("virtual weights are for", "virtual-fiber is about"))
    _refuse("" if network.value_rank is None else ANY_RANK)
    M, L = random_virtual_weights(network)
    return {"M": tuple(matrix(m.tolist()) for m in M), "L": matrix(L.tolist())}


ANY_RANK = "virtual-fiber is about networks whose V may have any rank; leave out value_rank"


def _read_components(answer: Answer) -> FiberComponents:
    components = range(1, answer.integers["components"] + 1)
    parts = [answer.at(i, "component-dimension", "rescaling") for i in components]
    return FiberComponents(tuple(sorted(dim for dim, _ in parts)), sum(not scaled for _, scaled in parts))


def will_not_finish(network: DeepNetwork) -> str:
    """The reason why engines are not asked about virtual weights of a network, or an empty string."""
    if network.depth > 2 or network.dims[0] > 2 or network.dims[-1] > 3 or network.t > 3:
        return "engines were asked for at most two layers, d_0 ≤ 2, d_l ≤ 3 and t ≤ 3: beyond, few finish"
    return ""


def _components_do_not_finish(network: DeepNetwork) -> str:
    rank_one = min(*network.dims[:-1], *network.ranks) < 2
    excluded = "engines were not asked where some M_i has rank 1, which Theorem 3.7 excludes" * rank_one
    any_rank = "" if network.value_rank is None else ANY_RANK
    return no_virtual_weights(network) or will_not_finish(network) or excluded or any_rank


def too_many_monomials(network: DeepNetwork) -> str:
    """What is too large for a script that expands φ in virtual weights and X, or an empty string."""
    # The inner widths do not matter: virtual weights are d_0 × d_0 and d_l × d_0.
    as_virtual = DeepNetwork((*network.dims[:1] * network.depth, network.dims[-1]), network.ranks, network.t)
    monomials = monomials_of_network(as_virtual, MAX_MONOMIALS)
    described = f"{network} expands at least {monomials:.0e} monomials; the limit is {MAX_MONOMIALS:.0e}"
    return described if monomials > MAX_MONOMIALS else ""


def _check_components(answer: Answer) -> None:
    """The components of a fiber over virtual weights, one of which runs through the point that is known.

    If φ is not 0 there, the rescalings with the same function, λ Π μ_i^{3^{l−i}} = 1, are irreducible, of
    dimension l. So their closure is a component where the fiber has no larger dimension, near the point or
    anywhere; and no other component consists of rescalings.
    """
    for i in range(1, answer.integers["components"] + 1):
        between(0, f"the value of rescaling@{i}", answer.integers[f"rescaling@{i}"], 1)
    dims = components_of(answer, "the fiber contains a point")
    data, p = answer.problem.data, answer.problem.characteristic
    t = cast(DeepNetwork, answer.problem.architecture).t
    *M, L = (np.array([[int(x) for x in row] for row in m], object) for m in (*data["M"], data["L"]))
    low, high = local_fiber(M, L, t, p=p, seed=0)
    fault = f"no component has the dimension of the fiber near the point, {low} to {high}"
    demand(any(low <= n <= high for n in dims), fault)
    X = np.random.default_rng(0).integers(-9, 10, (L.shape[1], t)).astype(object)
    value = L @ X @ token_mixings(M, X)[-1]
    if not (value % p if p else value).any():
        return
    rescalings = [n for i, n in enumerate(dims, 1) if answer.integers[f"rescaling@{i}"]]
    consist = f"consist of rescalings, which are one set of dimension {low}"
    demand(rescalings in ([], [low]), f"components of dimension {', '.join(map(str, rescalings))} {consist}")
    open_ = high > low and max(dims) > low
    demand(open_ or bool(rescalings), f"no component consists of rescalings of dimension {low}")


COMPONENTS = network_task(
    "virtual-fiber",
    "the fiber of (M, L) ↦ φ",
    infeasible=_components_do_not_finish,
    summary="all virtual weights of a network with the same function as random ones",
    title="All virtual weights with the same function, for the network {M}",
    reference="Theorem 3.7",
    results=(
        Printed("dimension", "dimension of the fiber"),
        Printed("components", "how many components follow"),
        Printed("component-dimension", "dimension of a component", per_item="components"),
        Printed("rescaling", "1 if all its points are rescalings", per_item="components"),
    ),
    data=_random_point,
    read=_read_components,
    too_large=too_many_monomials,
    seeded=True,
    parts=(Source("components of the fiber of (M, L) ↦ φ", ENGINE), Source("the point (M, L)", "native")),
    check=_check_components,
)


# The weights of one normalized layer ------------------------------------------------------------------------


def _recovery_is_for_others(network: DeepNetwork) -> str:
    if network.is_lightning or network.depth > 1 or network.skip or network.heads_by_layer != (1,):
        return "the recovery is for one normalized layer with one head and without skip connections"
    if network.normalization != "softmax":
        return "the recovery is known for the softmax and for the functions S that it names"
    if network.t < 2:
        return "one token carries no attention, so A cannot be recovered"
    if network.dims[0] > MAX_RECOVERY_WIDTH:
        return f"the recovery with exact fractions was not tried for d_0 > {MAX_RECOVERY_WIDTH}"
    return ""


RECOVERY = network_task(
    "recovery",
    "the recovery of (A, V)",
    native=lambda network: recovered_exactly(network.dims[0], network.dims[1], network.ranks[0], network.t),
    infeasible=_recovery_is_for_others,
)


# Dimension --------------------------------------------------------------------------------------------------


def _too_large_for_balls(network: DeepNetwork) -> str:
    if network.normalization not in ("none", "softmax"):
        return "a normalizer that is given by Taylor coefficients has no values; its jets have dimensions"
    if network.is_lightning or (rank := network_bound(network).value) <= MAX_BALL_RANK:
        return ""
    return f"the rank may be {rank}, more than {MAX_BALL_RANK}, the most taken in balls"


DIMENSION = network_task(
    "dimension",
    "the dimension",
    native=lambda network: dimension(network, force=True),
    evidence=lambda dimension: dimension.evidence,
    infeasible=_too_large_for_balls,
)


# What all have in common ------------------------------------------------------------------------------------


def _not_wide(network: DeepNetwork, task: str) -> str:
    """Which networks the tasks about zeros and limits are for, if not for this one; else an empty string."""
    if reason := no_virtual_weights(network):
        return reason.replace("virtual weights are for", f"{task} is about")
    if network.value_rank is not None:
        return ANY_RANK.replace("virtual-fiber", task)
    if min(*network.dims[:-1], *network.ranks) < network.dims[0]:
        return f"{task} is about virtual weights of any rank; give d_i ≥ d_0 for i < l, and all a_i ≥ d_0"
    return ""


def weights_ring(network: DeepNetwork, data: Mapping[str, Any] | None = None) -> PolynomialRing:
    """The ring of the entries of M_1, ..., M_l and L, in the order that scripts have."""
    d, e = range(1, network.dims[0] + 1), range(1, network.dims[-1] + 1)
    names = [Variable("m", x) for x in itertools.product(range(1, network.depth + 1), d, d)]
    return PolynomialRing([*names, *(Variable("l", x) for x in itertools.product(e, d))])


def _charts(network: DeepNetwork) -> tuple[tuple[Variable, ...], ...]:
    """Pairs, for l = 2, of an entry of M_1 and one of L; in general of every M_i with i < l and of L.

    M_i and L can be rescaled if M_l makes up for it, so a function other than 0 has, with any preimage, one
    in which one of these tuples is (1, ..., 1).
    """
    blocks: dict[tuple[int, ...], list[Variable]] = {}
    for variable in weights_ring(network).variables:
        block = variable.indices[:1] if variable.letter == "m" else ()
        blocks.setdefault(block, []).append(variable)
    blocks.pop((network.depth,))
    return tuple(itertools.product(*blocks.values()))


# k, q, K, N, P and L of a limit that no weights reach, for d_0 = 2, d_l = 1 and l = 2.
_KNOWN_LIMIT: Mapping[str, Any] = {
    "k": [[1, 2]], "q": [[1, -1]], "K": [[0, 1], [-1, 0]], "N": [[1, 0], [2, 1]], "P": [[1, 1], [0, 2]],
    "L": [[1, 3]],
}  # fmt: skip


def _limit_and_point(network: DeepNetwork) -> dict[str, Any]:
    """A limit of functions of the network, k, q, K, N, P and L, and a point (M, L); integers other than 0.

    The limit is that of M_(l−1) = k qᵀ + εN, M_l = K + εP with K skew-symmetric, L/ε, and the first M_i of
    the point. N is not k aᵀ + b qᵀ, which has no influence: then the limit is the function of k qᵀ, P, L.
    """
    d, e, l = network.dims[0], network.dims[-1], network.depth
    generator = np.random.default_rng(limits().seed)

    def draw(*shape: int) -> Array:
        return generator.integers(1, 4, shape) * generator.choice([-1, 1], shape)

    shapes = {"k": (1, d), "q": (1, d), "K": (d, d), "N": (d, d), "P": (d, d), "L": (e, d)}
    drawn = {name: draw(*shape) for name, shape in shapes.items()}
    drawn["K"] = np.triu(drawn["K"], 1) - np.triu(drawn["K"], 1).T
    while rational_rank(np.block([[drawn["N"], drawn["k"].T], [drawn["q"], np.zeros((1, 1), int)]])) < 3:
        drawn["N"] = draw(d, d)
    M = [draw(d, d) for _ in range(l)]
    while theorem_3_7_hypotheses(M, drawn["L"], 3):
        M = [draw(d, d) for _ in range(l)]
    if limits().seed == 0 and (d, e, l) == (2, 1, 2):
        drawn |= {name: np.array(rows) for name, rows in _KNOWN_LIMIT.items()}
    data: dict[str, Any] = {name: matrix(rows.tolist()) for name, rows in drawn.items()}
    return data | {"M": tuple(matrix(m.tolist()) for m in M)}


def _refuse(reason: str) -> None:
    if reason:
        raise InputError(reason)


def _no_limit(network: DeepNetwork, task: str) -> str:
    if reason := _not_wide(network, task):
        return reason
    for name, value in (("l", network.depth), ("t", network.t), ("d_0", network.dims[0])):
        if value < 2:
            return f"{task} is about limits that are no functions of the network; with {name} = 1 it has none"
    return ""


def _network(problem: Problem) -> DeepNetwork:
    """The network that a problem is about."""
    return cast(DeepNetwork, problem.architecture)


# Fibers -----------------------------------------------------------------------------------------------------


class FibersModuloScaling(NamedTuple):
    """Dimensions of fibers of (M, L) ↦ φ modulo rescaling, −1 if empty: over a limit and two functions."""

    limit: int
    point: int
    rank_one: int


def _fiber_data(network: DeepNetwork) -> dict[str, Any]:
    _refuse(_no_limit(network, "deep-fiber"))
    data = _limit_and_point(network)
    generator = np.random.default_rng(0)
    while True:  # tokens at which no entry of the limit is 0, so that its value says something
        X = generator.integers(-2, 3, network.input_shape)
        if limit_value(network, data, X).all():
            return data | {"X": matrix(X.tolist()), "charts": _charts(network)}


def _read_fibers(answer: Answer) -> FibersModuloScaling:
    names = ("limit-dimension", "point-dimension", "rank-one-dimension")
    charts = (answer.at(i + 1, *names) for i in range(answer.integers["charts"]))
    return FibersModuloScaling(*map(max, zip(*charts, strict=True)))


_IN_CHART = "dimension of the fiber over {} in a chart; -1 if it is empty"


def _facts_of_fibers(problem: Problem) -> Facts:
    """In all charts both controls have their known preimages."""
    network, charts = _network(problem), len(problem.data["charts"])
    size = len(weights_ring(network).gens)
    yield "charts", Fact(charts, charts, "the number of charts")
    # Over the second control M_l is determined up to a skew-symmetric matrix at best.
    least = {"limit": -1, "point": 0, "rank-one": comb(network.dims[0], 2)}
    for i, (name, low) in itertools.product(range(1, charts + 1), least.items()):
        result = f"{name}-dimension@{i}"
        yield result, Fact(low, size - network.depth, f"the value of {result}")


def _check_fibers(answer: Answer) -> None:
    """The limit against a formula; and in all charts both controls have preimages."""
    network, data, p = _network(answer.problem), answer.problem.data, answer.problem.characteristic
    integers = answer.integers
    # Singular lists no zeros, which there are in finite fields.
    printed = [f for f in answer.polynomials["limit"] if f]
    for f in printed:
        demand(f.degree() == 0, f"the limit at X0 has the entry {f}, which is no number")
    values = [Fraction(f.constant) for f in printed]
    limit = limit_value(network, data, np.array(data["X"])).ravel()
    in_field = limit % p if p else limit  # integers
    expected = [Fraction(x) for x in in_field if x]
    shown, due = (", ".join(map(str, numbers)) for numbers in (values, expected))
    demand(values == expected, f"the limit at X0 is {shown}; it must be {due}")
    for i, name in itertools.product(range(1, integers["charts"] + 1), ("point", "rank-one")):
        demand(integers[f"{name}-degree@{i}"] > 0, f"{name}-degree@{i} is not positive")


DEEP_FIBER = network_task(
    "deep-fiber",
    "the fiber of (M, L) ↦ φ over a limit of functions",
    infeasible=lambda network: _no_limit(network, "deep-fiber") or will_not_finish(network),
    summary="whether a certain limit of functions of a deep network is the function of any weights",
    title="The fiber of (M,L) -> phi over a limit of functions, for the network {M}",
    results=(
        Printed("limit", "the value of the limit y at some tokens", ring=weights_ring),
        Printed("charts", "how many charts follow, which contain each preimage up to rescaling"),
        Printed("limit-dimension", _IN_CHART.format("the limit y"), per_item="charts"),
        Printed("point-dimension", _IN_CHART.format("a function of the network"), per_item="charts"),
        Printed("point-degree", "its degree there", per_item="charts"),
        Printed("rank-one-dimension", _IN_CHART.format("one with a head of rank 1"), per_item="charts"),
        Printed("rank-one-degree", "its degree there", per_item="charts"),
    ),
    data=_fiber_data,
    read=_read_fibers,
    too_large=too_many_monomials,
    seeded=True,
    parts=(Source("fibers in all charts", ENGINE), Source("integers that define the limit", "native")),
    facts=_facts_of_fibers,
    check=_check_fibers,
)


# Zeros ------------------------------------------------------------------------------------------------------


class ZeroSet(NamedTuple):
    """Virtual weights with φ = 0: an irreducible set, its dimension, and its points in parameters.

    Its prime ideal is generated by so many linear forms and so many quadrics, 2 × 2 minors.
    """

    name: str
    dimension: int
    points: tuple[Polynomial, ...]
    linear_forms: int
    quadrics: int = 0


def zero_sets(network: DeepNetwork, characteristic: int = 0) -> Iterator[ZeroSet]:
    """Irreducible sets of virtual weights (M, L) with φ = 0, none in another.

    For t ≥ 2 these are M_i = 0, L = 0, and rk M_i ≤ 1 with M_j skew-symmetric, i < j: then the tokens after
    layer i are parallel, u wᵀ, and layer j multiplies them with uᵀ M_j u. For t = 1 the tokens are x, and
    M_i skew-symmetric gives zero by itself.

    >>> [zeros[:2] for zeros in zero_sets(DeepNetwork((2, 2, 1), (2, 2), t=2))]
    [('M_1 = 0', 6), ('M_2 = 0', 6), ('L = 0', 8), ('rk M_1 ≤ 1, M_2 skew-symmetric', 6)]
    """
    d, l = network.dims[0], network.depth
    weights = weights_ring(network).variables
    factors = [Variable(letter, (b,)) for letter in "kq" for b in range(1, d + 1)]
    ring = PolynomialRing([*weights, *factors], characteristic)
    names = dict(zip(ring.variables, ring.gens, strict=True))
    zero, size = ring.zero(), len(weights)

    def skew(v: Variable) -> Polynomial:
        i, b, c = v.indices
        upper = names[Variable("m", (i, min(b, c), max(b, c)))]
        return zero if b == c else upper if b < c else -upper

    def rank_one(v: Variable) -> Polynomial:
        return names[Variable("k", v.indices[1:2])] * names[Variable("q", v.indices[2:])]

    def points(**images: Any) -> tuple[Polynomial, ...]:
        chosen = (images.get(v.letter if v.letter == "l" else f"m{v.indices[0]}") for v in weights)
        return tuple(image(v) if image else names[v] for v, image in zip(weights, chosen, strict=True))

    layers, symmetric = range(1, l + 1), d * (d + 1) // 2
    for i in layers:
        if network.t > 1:
            yield ZeroSet(f"M_{i} = 0", size - d * d, points(**{f"m{i}": lambda v: zero}), d * d)
        else:
            yield ZeroSet(f"M_{i} skew-symmetric", size - symmetric, points(**{f"m{i}": skew}), symmetric)
    entries = d * network.dims[-1]
    yield ZeroSet("L = 0", size - entries, points(l=lambda v: zero), entries)
    for i, j in itertools.combinations(layers, 2):
        if network.t > 1 and d > 1:
            name, codimension = f"rk M_{i} ≤ 1, M_{j} skew-symmetric", (d - 1) ** 2 + symmetric
            images = points(**{f"m{i}": rank_one, f"m{j}": skew})
            yield ZeroSet(name, size - codimension, images, symmetric, comb(d, 2) ** 2)


def vanish_on(generators: tuple[Polynomial, ...], zeros: ZeroSet) -> bool:
    """Whether polynomials in the virtual weights are 0 on one of the sets."""
    return not any(f.compose(zeros.points) for f in generators)


def _read_zeros(answer: Answer) -> dict[str, int]:
    """The components of the zeros of (M, L) ↦ φ and their dimensions, by name or else by their equations.

    Of two irreducible sets of one dimension, one in the other, both are the same.
    """
    sets, dims = list(zero_sets(_network(answer.problem), answer.problem.characteristic)), {}
    for i in range(1, answer.integers["components"] + 1):
        generators, dim = answer.polynomials[f"component@{i}"], answer.integers[f"component-dimension@{i}"]
        names = [zeros.name for zeros in sets if zeros.dimension == dim and vanish_on(generators, zeros)]
        dims[names[0] if names else ", ".join(f.macaulay2() for f in generators) + " = 0"] = dim
    return dims


def _zeros_data(network: DeepNetwork) -> dict[str, Any]:
    _refuse(_not_wide(network, "deep-base-locus"))
    return {"charts": _charts(network)}


def _facts_of_zeros(problem: Problem) -> Facts:
    most = max(zeros.dimension for zeros in zero_sets(_network(problem), problem.characteristic))
    yield "dimension", Fact(most, len(weights_ring(_network(problem)).gens), "the dimension")


def _check_generates(generators: Sequence[Polynomial], zeros: ZeroSet, name: str) -> None:
    """Generators of a prime ideal span its linear forms, and have at least its number of new quadrics."""
    linear = [f for f in generators if f.degree() == 1]
    rank = int(jacobian_at(linear, (0,) * len(zeros.points)).rank()) if linear else 0
    between(zeros.linear_forms, f"the number of linear forms of {name}", rank, zeros.linear_forms)
    quadrics = sum(f.degree() == 2 for f in generators)
    between(zeros.quadrics, f"the number of quadrics of {name}", quadrics, inf)


def _check_zeros(answer: Answer) -> None:
    """All known zeros lie in components, and determine these, but for ones through none of them.

    Near a point of a component its dimension is at most the number of weights minus the rank of gradients.
    """
    network, p = _network(answer.problem), answer.problem.characteristic
    dims = dict(enumerate(components_of(answer, "φ = 0 where L = 0"), 1))
    components = {i: answer.polynomials[f"component@{i}"] for i in dims}
    size = len(weights_ring(network).gens)
    high = dict.fromkeys(components, size)
    random = np.random.default_rng(0)
    for zeros in zero_sets(network, p):
        through = [i for i, generators in components.items() if vanish_on(generators, zeros)]
        demand(bool(through), f"φ = 0 where {zeros.name}, which lies in no component")
        values = [int(n) for n in random.integers(1, 50, len(zeros.points[0].ring.gens))]
        point = [image(*values) for image in zeros.points]
        for i in through:
            high[i] = min(high[i], size - int(jacobian_at(components[i], point).rank()))
            between(zeros.dimension, f"the dimension of component@{i}", dims[i], high[i])
            if dims[i] == zeros.dimension:  # both are irreducible, and one lies in the other
                _check_generates(components[i], zeros, f"component@{i}")
    for i, dim in dims.items():
        check_generators(components[i])
        between(0, f"the dimension of component@{i}", dim, high[i])


DEEP_BASE_LOCUS = network_task(
    "deep-base-locus",
    "the zeros of (M, L) ↦ φ",
    native=lambda network: {zeros.name: zeros.dimension for zeros in zero_sets(network)},
    infeasible=lambda network: _not_wide(network, "deep-base-locus") or will_not_finish(network),
    summary="virtual weights of a deep network whose function is zero",
    title="The virtual weights (M,L) with phi = 0, for the network {M}",
    results=(
        Printed("dimension", "dimension of the zeros"),
        Printed("components", "how many components follow"),
        Printed("component-dimension", "dimension of a component", per_item="components"),
        Printed("component", "its prime ideal", per_item="components", ring=weights_ring),
    ),
    data=_zeros_data,
    read=_read_zeros,
    too_large=too_many_monomials,
    parts=(Source("components of {φ = 0}", ENGINE, "native"),),
    facts=_facts_of_zeros,
    check=_check_zeros,
)


# The dimension of the limits --------------------------------------------------------------------------------


class LimitDimension(NamedTuple):
    """The ranks of the differentials of two maps at a point, the dimensions of their images from below.

    Of the limits, and of the functions of the network.
    """

    limits: int
    network: int


@dataclass(frozen=True)
class _Limits:
    """Limits as an architecture with the parameters M_1, ..., M_(l−2), k, q, N, half of K, P and L.

    >>> network, unit = DeepNetwork((2, 2, 1), (2, 2), t=2), [[1, 0], [0, 1]]
    >>> data = {"M": (unit, unit), **_KNOWN_LIMIT}
    >>> limit_value(network, data, np.array([[1, 2], [0, 1]])).tolist()
    [[6237, 6279]]
    """

    network: DeepNetwork

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        d, e = self.network.dims[0], self.network.dims[-1]
        first = {f"M_{i}": (d, d) for i in range(1, self.network.depth - 1)}
        return first | {"k": (d, 1), "q": (d, 1), "N": (d, d), "K": (d, d), "P": (d, d), "L": (e, d)}

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The coefficient of ε in φ(X), where M_(l−1) = k qᵀ + εN, M_l = K − Kᵀ + εP; a formula."""

        def product(*factors: Array) -> Array:
            result = factors[0]
            for factor in factors[1:]:
                result = arithmetic.matmul(result, factor)
            return result

        def turned(a: Array) -> Array:
            return a.swapaxes(-1, -2)

        for i in range(1, self.network.depth - 1):
            X = product(X, turned(X), parameters[f"M_{i}"], X)
        k, q, N, K, P, L = (parameters[name] for name in "kqNKPL")
        K = arithmetic.clean(K - turned(K))
        u, row = product(X, turned(X), k), turned(product(turned(X), q))
        C, norm = product(turned(X), N, X), product(row, turned(row))
        along = product(row, turned(C), turned(X), K, u) + product(norm, turned(u), P, u)
        bracket = product(arithmetic.clean(along), row) + product(norm, turned(u), K, X, C)
        return product(L, u, arithmetic.clean(bracket))


def _limit_parameters(network: DeepNetwork, data: Mapping[str, Any]) -> dict[str, Array]:
    arrays = {name: np.array(data[name], dtype=object) for name in "kqNKPL"}
    arrays |= {"k": arrays["k"].T, "q": arrays["q"].T, "K": np.triu(arrays["K"], 1)}
    return arrays | {f"M_{i}": np.array(m, dtype=object) for i, m in enumerate(data["M"], 1)}


def limit_value(network: DeepNetwork, data: Mapping[str, Any], X: Array) -> Array:
    """The limit of the problem's data at integer tokens X, d_l × t; exact."""
    parameters = _limit_parameters(network, data)
    return _Limits(network).evaluate(Arithmetic(), parameters, np.array(X, dtype=object))


@takes("seed")
def limit_ranks(network: DeepNetwork, data: Mapping[str, Any]) -> LimitDimension:
    """The ranks of both differentials at the problem's data, modulo a random prime: proved from below."""
    generator = np.random.default_rng(limits().seed)
    p = random_prime(generator)
    exact = _limit_parameters(network, data).items()
    parameters = {name: np.array(np.vectorize(int)(x) % p, dtype=np.float64) for name, x in exact}
    rows = sum(map(np.size, parameters.values())) + 10
    X = random_residues(generator, (rows, *network.input_shape), p)
    cotangents = random_residues(generator, (rows, 1, *network.output_shape), p)
    # Shapes and values are all that a Jacobian asks of an architecture.
    J = jacobian(cast(Architecture, _Limits(network)), parameters, X, ModularArithmetic(p), cotangents)
    *M, L = (np.vectorize(int)(np.array(m, dtype=object)) for m in (*data["M"], data["L"]))
    columns, fiber = sum(m.size for m in (*M, L)), local_fiber(M, L, network.t)
    return LimitDimension(RowSpace(J.shape[1], p).add(J), columns - fiber.upper_bound)


# Engines evaluate networks at polynomials, which takes a minute for about so many products of two of them.
MAX_PRODUCTS = 10**5


def _limit_entries(network: DeepNetwork) -> int:
    d, e, l = network.dims[0], network.dims[-1], network.depth
    return 2 * d + l * d * d + comb(d, 2) + d * e


def _inputs(network: DeepNetwork) -> int:
    """How many inputs determine the ranks: one more tells the d_l t numbers of L u rᵀ, or d_0 of them."""
    numbers = min(network.dims[0], network.dims[-1] * network.t)
    return (_limit_entries(network) + 4) // numbers + 1


def _limit_data(network: DeepNetwork) -> dict[str, Any]:
    _refuse(_no_limit(network, "deep-limit"))
    shape = (_inputs(network), *network.input_shape)
    X = np.random.default_rng(limits().seed).integers(-3, 4, shape)
    return _limit_and_point(network) | {"tokens": tuple(matrix(x.tolist()) for x in X)}


def _too_many_products(network: DeepNetwork) -> str:
    evaluations = 2 * _limit_entries(network) * _inputs(network)
    products = evaluations * network.t**2 * 4 ** min(network.depth - 2, 50)
    described = f"{network} takes about {products:.0e} products; the limit is {MAX_PRODUCTS:.0e}"
    return described if products > MAX_PRODUCTS else ""


def _facts_of_limits(problem: Problem) -> Facts:
    """Ranks of differentials against those modulo another prime, and against the count of symmetries.

    A limit does not change with the skew-symmetric part of P, if k aᵀ + b qᵀ is added to N, or if the
    matrices are rescaled, which leaves limits one dimension less than functions.
    """
    network = _network(problem)
    low = limit_ranks(network, problem.data, seed=0) if problem.is_exact else (0, 0)
    most = network_bound(network).value
    for name, least, high in (("limit-rank", low[0], most - 1), ("network-rank", low[1], most)):
        yield name, Fact(least, high, f"the {name}")


DEEP_LIMIT = network_task(
    "deep-limit",
    "the dimension of the limits of functions",
    native=lambda network: limit_ranks(network, _limit_data(network)),
    infeasible=lambda network: _no_limit(network, "deep-limit") or _too_many_products(network),
    summary="dimension of the limits of the functions of a deep network that no weights reach",
    title="The dimension of limits of functions, for the network {M}",
    results=(
        Printed("limit-rank", "rank of the differential of the limits: their dimension, at least"),
        Printed("network-rank", "rank of the differential of (M, L) -> phi: that of the neuromanifold"),
    ),
    data=_limit_data,
    too_large=_too_many_products,
    seeded=True,
    read=lambda answer: LimitDimension(answer.integers["limit-rank"], answer.integers["network-rank"]),
    parts=(Source("ranks of differentials", ENGINE), Source("points and inputs", "native")),
    facts=_facts_of_limits,
    check=NoChecks("each result is a rank, and its facts bound it from both sides"),
)
