"""What is stated about zeros, limits, critical and singular points of deep networks, and about their jets.

The claims are theorems, proved in docs/networks/deep-limits-proofs.md and deep-singularities-proofs.md.
The tasks compute exact ranks at special points over ℤ: a point with another rank would refute the theorem.

>>> from agattn import DeepNetwork
>>> from agattn.verification.verify import verify
>>> network = DeepNetwork((3, 3, 2), (3, 3), t=3)
>>> for verdict in verify(network, [claim.id for claim in CLAIMS[:5]], "native").verdicts:
...     print(verdict.claim, verdict.status, verdict.strength, verdict.short)
agattn.deep-zeros confirmed proved in part kinds: 12, zero: 4
agattn.deep-not-closed confirmed proved not closed
agattn.deep-boundary confirmed proved 21
agattn.deep-critical confirmed proved in part points: 23, critical: 8
agattn.deep-singular confirmed proved in part points: 23, singular: 10

Of softmax networks their jets at the zero input are computed, about which there is a preprint (Konda, 2026).
A theorem that is only cited decides nothing: each verdict is about what was computed, and its scope names the
theorem and what is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic, RingArithmetic
from agattn.algebra.rank import RankResult, rank
from agattn.algebra.residues import RowSpace, random_prime
from agattn.architectures import DeepNetwork, Jet
from agattn.architectures.normalizer import Normalizer
from agattn.claims.claim import (
    ANY_VALUES,
    DEEP,
    INJECTIVE,
    NO_SKIP,
    NORMALIZED,
    ONE_HEAD,
    PLAIN,
    SOFTMAX,
    TWO_TOKENS,
    Claim,
    Entry,
    Findings,
    Hypothesis,
    Outcome,
    Proof,
    entries,
)
from agattn.claims.network_dimension import NO_RANKS
from agattn.evidence import weakest
from agattn.geometry.closedness.question import (
    LimitMap,
    LimitSet,
    ZeroKind,
    first_of_pair,
    limit_set,
    special_weights,
    zero_kinds,
)
from agattn.geometry.dimension.contact import MOST_PARAMETERS, ContactSpectrum, contact_spectrum
from agattn.geometry.dimension.formulas import network_bound, seen_scores
from agattn.geometry.dimension.jacobian import jacobian, jacobian_rows
from agattn.geometry.identifiability.virtual_weights import (
    MOST_COLUMNS,
    PREPRINT,
    Seen,
    is_covered,
    least_order,
    seen_at_random_weights,
    virtual_jacobian,
)
from agattn.geometry.identifiability.virtual_weights import MOST_LAYERS as MOST_IN_JETS
from agattn.geometry.singular_points.tangents import PointRanks, is_wide, ranks_at, special_points
from agattn.limits import by_default
from agattn.systems.network_tasks import DIMENSION
from agattn.systems.problem import Task

NOT_ONE = Hypothesis[DeepNetwork](
    "d_0, d_1, a_1, a_2 ≥ 2", lambda network: min(*network.dims[:2], *network.ranks[:2]) >= 2
)
#: Letters of weights that are listed in a verdict.
LONGEST = 300
#: The differential has a column for each weight: so many take a minute.
MOST_WEIGHTS = 4000
#: There are more kinds of zeros than the square of the number of layers.
MOST_LAYERS = 16


def _no_zeros(network: DeepNetwork) -> str:
    if not is_covered(network) or network.t < 2:
        return "the zeros of other networks are not known"
    l = network.depth  # the paper's l
    return f"{l} layers, more than {MOST_LAYERS}, have many kinds of zeros" if l > MOST_LAYERS else ""


def _no_limits(network: DeepNetwork) -> str:
    if not is_covered(network) or first_of_pair(network) is None:
        return "limits are taken where one head of rank one makes a later one invisible"
    many = network.parameters
    return f"{many} weights, more than {MOST_WEIGHTS}, take long" if many > MOST_WEIGHTS else ""


ZEROS = Task("deep-zeros", "zeros at special weights", DeepNetwork, zero_kinds, infeasible=_no_zeros)
LIMITS = Task("deep-limits", "limits that no weights reach", DeepNetwork, limit_set, infeasible=_no_limits)


def _predict_zeros(network: DeepNetwork) -> dict[str, int]:
    kinds = special_weights(network)
    return {"kinds": len(kinds), "zero": sum(zero for _, _, zero in kinds)}


def _judge_zeros(network: DeepNetwork, findings: Findings) -> Outcome:
    kinds: tuple[ZeroKind, ...] = findings.need(ZEROS)
    computed = {"kinds": len(kinds), "zero": sum(kind.zero for kind in kinds)}
    wrong = [kind.name for kind in kinds if kind.zero != kind.by_theorem]
    if wrong:
        return Outcome(False, computed, f"not as stated at random weights with {'; '.join(wrong)}")
    zero = ", ".join(f"({kind.name})" for kind in kinds if kind.zero)
    scope = (
        f"one point of each of {len(kinds)} kinds; that φ is 0 for all inputs there and nowhere else is the "
        "proof in docs/networks/deep-limits-proofs.md"
    )
    holds = computed == _predict_zeros(network)
    return Outcome(holds, computed, f"φ = 0 exactly at {zero}", details={"scope": scope})


def _judge_not_closed(network: DeepNetwork, findings: Findings) -> Outcome:
    found: LimitSet = findings.need(LIMITS)
    s, m = found.first, LimitMap(network, found.first).order
    listed = ", ".join(f"{name} = {rows}" for name, rows in found.weights.items())
    listed = listed if len(listed) <= LONGEST else "the integer weights that the JSON lists"
    witness = (
        f"with {listed}, but the rows of Q_{s} after the first times ε, ΩK_{s + 1} + εQ_{s + 1} for "
        f"Q_{s + 1} and V_{network.depth} divided by ε{f'^{m}' if m > 1 else ''}, the functions tend to "
        f"one whose value at X = {found.X} is {found.value}. No weights have it: at this X δ and κ are not "
        "0, and the other hypotheses of the theorem in docs/networks/deep-limits.md hold"
    )
    return Outcome(True, "not closed", witness, details={"limit": found.witness})


def _predict_boundary(network: DeepNetwork) -> int:
    return network_bound(network).value - 1


def _judge_boundary(network: DeepNetwork, findings: Findings) -> Outcome:
    found: LimitSet = findings.need(LIMITS)
    low, high = found.dimension, found.upper_bound
    s = found.first
    witness = (
        f"at integer weights the differential of the limits through rk M_{s} = 1 and skew-symmetric "
        f"M_{s + 1} has rank {low}; what the closure of M adds has dimension at most dim M − 1 ≤ {high}"
    )
    if low < high:
        witness += "; whether other limits are more is open"
        return Outcome(None, {"at_least": low, "at_most": high}, witness)
    return Outcome(True, low, witness)


# The certificate ------------------------------------------------------------------------------------------


def _weights(weights: Mapping[str, Any]) -> dict[str, list[Entry]]:
    return {name: entries(rows) for name, rows in weights.items()}


def _zero(network: DeepNetwork, kind: ZeroKind, generator: np.random.Generator) -> dict[str, Any]:
    """Weights of one kind; where φ is not 0, an input at which φ is not 0."""
    record = {"weights": _weights({name: array[0] for name, array in kind.weights.items()})}
    while not kind.zero:
        X = generator.integers(-2, 3, network.input_shape).astype(object)
        value = network.evaluate(RingArithmetic(), kind.weights, X[None])[0]
        if value.any():
            return record | {"X": entries(X)}
    return record


def _zeros_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    two = replace(network, t=2)
    return {"points": [_zero(two, kind, generator) for kind in zero_kinds(two, seed=0)]}


def _limit_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    found = _limits(network)
    return {"weights": _weights(found.weights), "X": entries(found.X)}


def _boundary_proof(network: DeepNetwork, generator: np.random.Generator) -> dict[str, Any]:
    """The limit, and inputs at which the differential of the limits has a rank."""
    found, two = _limits(network), replace(network, t=2)
    limit_map, p = LimitMap(two, found.first), random_prime(generator)
    arrays = {name: np.array([rows], dtype=np.float64) % p for name, rows in found.weights.items()}
    space, inputs = RowSpace(limit_map.parameters, p), []
    while space.rank < found.dimension:
        X, rank = generator.integers(-3, 4, two.input_shape), space.rank
        rows = jacobian(limit_map, arrays, (X % p).astype(np.float64)[None], ModularArithmetic(p))
        if space.add(rows) > rank:
            inputs.append(entries(X))
    return _limit_proof(network, generator) | {"inputs": inputs, "dimension": found.dimension}


#: Two claims show the same limit.
@lru_cache(maxsize=4)
def _limits(network: DeepNetwork) -> LimitSet:
    with by_default():
        return limit_set(network)


HYPOTHESES = (*PLAIN, ANY_VALUES, DEEP, TWO_TOKENS)


WIDE = Hypothesis[DeepNetwork](
    "d_i ≥ d_0 and a_i ≥ d_0", lambda network: min(*network.dims[:-1], *network.ranks) >= network.dims[0]
)
MATRICES = Hypothesis[DeepNetwork]("d_0 ≥ 2", lambda network: network.dims[0] >= 2)
NO_CURVES = Hypothesis[DeepNetwork]("d_0 ≥ 3", lambda network: network.dims[0] >= 3)
#: The differential has a column for each entry of (M, L): so many take some seconds for each point.
MOST_ENTRIES = 150


def _too_large(network: DeepNetwork) -> str:
    if not is_wide(network) or network.t < 2:
        return "the theorem is about other networks"
    entries = network.depth * network.dims[0] ** 2 + network.dims[0] * network.dims[-1]
    return f"(M, L) has {entries} entries; more than {MOST_ENTRIES} take long" * (entries > MOST_ENTRIES)


POINTS = Task(
    "deep-points",
    "ranks at special points",
    DeepNetwork,
    lambda network: tuple(ranks_at(point, network.t) for point in special_points(network)),
    infeasible=_too_large,
)


def _refuted(points: Sequence[PointRanks], wrong: Sequence[PointRanks], singular: bool) -> Outcome:
    point = wrong[0]
    dim, drop = point.dimension, point.theorem.drop
    what = f"a differential of rank {point.rank}, said to be {f'at most {dim - drop}' if drop else dim}"
    if singular:
        what = f"room for {point.tangent_lower} tangent vectors, where M̄ is said to be smooth; dim M = {dim}"
    found = {"points": len(points), "against": len(wrong)}
    where = f"at {point.name}, M = {[m.tolist() for m in point.point.M]}, L = {point.point.L.tolist()}"
    return Outcome(False, found, f"{where} there is {what}", details={"point": point.point.as_json()})


def _judge_critical(network: DeepNetwork, findings: Findings) -> Outcome:
    points: tuple[PointRanks, ...] = findings.need(POINTS)
    if wrong := [point for point in points if point.contradicts_critical]:
        return _refuted(points, wrong, False)
    critical = [point for point in points if point.is_critical]
    computed = {"points": len(points), "critical": len(critical)}
    listed = "; ".join(f"{point.name}: rank {point.rank}" for point in critical)
    witness = (
        f"of {len(points)} points over ℤ exactly these are critical, dim M = {points[0].dimension}: {listed}"
    )
    return Outcome(True, computed, witness, details={"scope": _scope(points)})


def _judge_singular(network: DeepNetwork, findings: Findings) -> Outcome:
    points: tuple[PointRanks, ...] = findings.need(POINTS)
    if wrong := [point for point in points if point.contradicts_singular]:
        return _refuted(points, wrong, True)
    singular = [point for point in points if point.theorem.singular]
    shown = [point for point in singular if point.tangent_lower > point.dimension]
    computed = {"points": len(points), "singular": len(singular)}
    listed = "; ".join(f"{point.name}: {point.tangent_lower}" for point in shown)
    witness = f"more tangent vectors than dim M = {points[0].dimension} at {listed}"
    if others := [point.name for point in singular if point not in shown and point.is_critical]:
        witness += f". M̄ is singular at critical points: {'; '.join(others)}"
    details: dict[str, object] = {"scope": _scope(points)}
    details["tangent_lower"] = {point.name: point.tangent_lower for point in shown}
    return Outcome(True, computed, witness, details=details)


def _scope(points: Sequence[PointRanks]) -> str:
    return (
        f"the ranks at {len(points)} points, one of each kind without skew-symmetric M_i; for all points it "
        "is the theorem in docs/networks/deep-singularities.md"
    )


def _proof(network: DeepNetwork, generator: np.random.Generator, singular: bool) -> dict[str, Any]:
    """Points of some kinds with the rank of the differential, or with more tangent vectors than dim M."""
    network = replace(network, t=2)
    l, d_out = network.depth, network.dims[-1]
    names = [f"rk M_{i} = 1" for i in range(1, l)] + [f"rk M_{l} = rk L = 1"]
    if not singular:
        names = ["generic", *names, f"M_{l} = k qᵀ, L = h kᵀ"]
    found = {point.name: point for point in special_points(network, seed=0)}
    p = random_prime(generator)
    # Where rk L = 1, a pair of tokens tells two numbers, beside (d_l − 1)d_0 derivatives by L alone.
    size = found["generic"].dimension
    enough = max(size // d_out, (size - (d_out - 1) * network.dims[0]) // 2) + 4
    inputs = generator.integers(-9, 10, (enough, *network.input_shape))
    cotangents = np.tile(np.eye(2 * d_out).reshape(1, 2 * d_out, d_out, 2), (len(inputs), 1, 1, 1))
    points = []
    for name in names:
        space, others = RowSpace(cotangents.shape[0] * cotangents.shape[1], p), []
        for at in found[name].preimages(seed=0):
            *M, L, X = ((m % p).astype(np.float64) for m in (*at.M, at.L, inputs))
            space.add(virtual_jacobian(network, M, L, X, cotangents, ModularArithmetic(p)).T.copy())
            others.append({"M": [entries(m) for m in at.M], "L": entries(at.L)})
            if not singular or space.rank > at.dimension:
                break
        more: dict[str, Any] = {"others": others[1:]} if singular else {}
        points.append(others[0] | more | {"rank": space.rank})
    return {"inputs": [entries(X) for X in inputs], "points": points}


# Softmax networks, by their jets at the zero input ---------------------------------------------------------


class JetRanks(NamedTuple):
    """The ranks of two jets of a network: of the least order that sees all scores, and of one less.

    ``most_below`` is a proved upper bound on the second rank.
    """

    order: int
    full: RankResult
    below: RankResult
    most_below: int


def jet_ranks(network: DeepNetwork) -> JetRanks:
    """The ranks of the Jacobians of both jets at random weights, modulo random primes."""
    order = least_order(network)
    bounds = [network_bound(network, seen_scores(network, n)) for n in (order, order - 1)]
    full, below = (
        rank(jacobian_rows(Jet(network, n), bound))
        for n, bound in zip((order, order - 1), bounds, strict=True)
    )
    return JetRanks(order, full, below, bounds[1].value)


SEEN_BY_JETS = (NORMALIZED, ONE_HEAD, ANY_VALUES, NO_SKIP, TWO_TOKENS)


def _not_tried(network: DeepNetwork) -> str:
    """Why the jets are not computed; of networks that the claim is not about they would say nothing."""
    if not all(hypothesis.holds(network) for hypothesis in SEEN_BY_JETS):
        return "jets are compared for softmax networks with one head in each layer"
    layers, order = network.depth, least_order(network)
    given = network.normalization
    if isinstance(given, Normalizer) and order // 2 >= len(given.series):
        return (
            f"the jet of order {order} needs the Taylor coefficients of the normalizer up to w^{order // 2}"
        )
    return f"{layers} layers need a jet of order {order}" if layers > MOST_IN_JETS else ""


def _too_wide(network: DeepNetwork) -> str:
    d, columns = network.dims[0], network.depth * network.dims[0] ** 2 + network.dims[0] * network.dims[-1]
    wide = f"(M, L) has {columns} entries, {network.depth} times {d}² and those of L"
    return _not_tried(network) or (wide if columns > MOST_COLUMNS else "")


JET_RANKS = Task(
    "jet-ranks",
    "the ranks of jets",
    DeepNetwork,
    native=jet_ranks,
    evidence=lambda found: weakest([found.full.evidence, found.below.evidence]),
    infeasible=_not_tried,
)
#: The differential of a jet that is injective modulo a prime is injective.
SEEN = Task(
    "seen-in-virtual-weights",
    "the differential of a jet in (M, L)",
    DeepNetwork,
    native=lambda network: seen_at_random_weights(network)[0],
    infeasible=_too_wide,
)
SEEN_BEHIND = Task(
    "seen-behind-collapse",
    "the differential where a layer collapses",
    DeepNetwork,
    native=lambda network: seen_at_random_weights(network, range(1, network.depth + 1)),
    infeasible=_too_wide,
)


def _too_many_orders(network: DeepNetwork) -> str:
    if not all(hypothesis.holds(network) for hypothesis in SPECTRUM):
        return "contact orders are compared for networks of one width with one head in each layer"
    if network.depth > MOST_IN_JETS or network.parameters > MOST_PARAMETERS:
        return f"contact orders are for {MOST_IN_JETS} layers and {MOST_PARAMETERS} parameters at most"
    last = network.first_degree * 3 ** (network.depth - 1)
    given = network.normalization
    if isinstance(given, Normalizer) and last >= len(given.series):
        return f"the power series need the Taylor coefficients of the normalizer up to w^{last}"
    return ""


SPECTRUM = (
    *SEEN_BY_JETS,
    Hypothesis[DeepNetwork]("all widths equal", lambda network: len(set(network.dims)) == 1),
    Hypothesis[DeepNetwork]("a_i ≤ d", lambda network: max(network.ranks) <= network.dims[0]),
)
CONTACT = Task(
    "contact-spectrum",
    "the contact orders",
    DeepNetwork,
    native=contact_spectrum,
    evidence=lambda found: found.evidence,
    infeasible=_too_many_orders,
)


def _judge_jets(network: DeepNetwork, findings: Findings) -> Outcome:
    found, whole = findings.need(JET_RANKS), findings.need(DIMENSION)
    full, below = found.full.lower_bound, found.below.lower_bound
    computed = {"order": found.order, "dimension": full, "one_less": below}
    most = ", and at most that" if below == found.most_below else f", and at most {found.most_below}"
    witness = (
        f"the jet of order {found.order} has rank {full}, the jet of order {found.order - 1} rank {below}"
        f"{most}; the dimension of the network is {whole.dimension}"
    )
    return Outcome(
        below < full == whole.dimension,
        computed,
        witness,
        predicted={"order": found.order, "dimension": whole.dimension},
    )


IDENTIFIABLE = (
    "near one random (M, L), whose M_i are as general as those of the network. That the whole fiber is this "
    f"point is not checked: {PREPRINT} (Theorem 1)"
)


def _predict_identifiable(network: DeepNetwork) -> dict[str, int]:
    d = network.dims[0]
    return {"rank": network.depth * d * d + d * network.dims[-1]}


def _judge_identifiable(network: DeepNetwork, findings: Findings) -> Outcome:
    seen: Seen = findings.need(SEEN)
    # A rank that is too small at one point modulo one prime refutes nothing.
    holds = True if seen.rank == seen.parameters else None
    isolated = "so that the point is isolated in its fiber" if holds else "which decides nothing"
    witness = (
        f"the differential of the jet of order {least_order(network)} in the {seen.parameters} entries of "
        f"(M, L) has rank {seen.rank} at random (M, L), {isolated}"
    )
    return Outcome(holds, {"rank": seen.rank}, witness, details={"scope": IDENTIFIABLE})


def _collapse_scope(network: DeepNetwork) -> str:
    known = "near one random (M, L) for each s. That the whole fiber is this is"
    if network.t == 2:
        return f"{known} not checked: {PREPRINT} (Theorem 2)"
    if network.depth <= 2:
        return f"{known} not checked: {PREPRINT} (Theorem 3, for two layers)"
    return f"{known} open for softmax with three tokens or more and three layers or more"


def _predict_collapse(network: DeepNetwork) -> Mapping[str, object]:
    d, d_out = network.dims[0], network.dims[-1]
    return {"ranks": [s * d * d + d * d_out for s in range(1, network.depth + 1)], "later": 0}


def _judge_collapse(network: DeepNetwork, findings: Findings) -> Outcome:
    found: tuple[Seen, ...] = findings.need(SEEN_BEHIND)
    computed = {"ranks": [seen.rank for seen in found], "later": max(seen.later for seen in found)}
    later = computed["later"]
    holds = False if later else True if computed == _predict_collapse(network) else None
    each = "; ".join(
        f"M_{seen.layer} {'= 0' if seen.score == 'zero' else 'skew-symmetric'}: rank {seen.rank} in the "
        f"{seen.parameters} entries of M_1, ..., M_{seen.layer} and L, {seen.later} in later M_i"
        for seen in found
    )
    witness = f"differential of the jet of order {least_order(network)} at random (M, L): {each}"
    shown = f"ranks {', '.join(str(seen.rank) for seen in found)}, later {later}"
    return Outcome(holds, computed, witness, shown, details={"scope": _collapse_scope(network)})


def predict_spectrum(network: DeepNetwork) -> Mapping[str, object]:
    """The multiplicities of Theorem 4 of the preprint by order, and the dimension of the kernel.

    >>> predict_spectrum(DeepNetwork((4,) * 4, (2,) * 3, t=4, normalization="softmax"))
    {'orders': {'0': 16, '1': 12, '5': 12, '17': 12}, 'kernel': 44}
    """
    d, l = network.dims[0], network.depth
    orders = {"0": d * d}
    for i, r in enumerate(network.ranks):
        orders[str(2 * network.first_degree * 3**i - 1)] = r * (2 * d - r)
    return {"orders": orders, "kernel": (l - 1) * d * d + sum(r * r for r in network.ranks)}


def _judge_spectrum(network: DeepNetwork, findings: Findings) -> Outcome:
    found: ContactSpectrum = findings.need(CONTACT)
    orders = {str(one.order): one.multiplicity for one in found.orders}
    computed = {"orders": orders, "kernel": found.kernel}
    witness = f"Smith factors modulo {found.prime} along random keys and queries: {found}"
    shown = "; ".join([*(f"{n} of order {order}" for order, n in orders.items()), f"kernel {found.kernel}"])
    scope = "at random weights and inputs modulo one prime"
    holds = computed == predict_spectrum(network)
    return Outcome(holds, computed, witness, shown, details={"scope": scope})


CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    Claim(
        "agattn.deep-zeros",
        "φ = 0 exactly if L = 0, or some M_i = 0, or rk M_i = 1 and M_j is skew-symmetric for an i < j",
        r"\varphi = 0 \iff L = 0 \lor \exists i\colon M_i = 0 \lor \exists i < j\colon "
        r"\operatorname{rk} M_i = 1,\ M_j = -M_j^{\mathsf T}",
        HYPOTHESES,
        (ZEROS,),
        _predict_zeros,
        _judge_zeros,
        certificate=Proof(_zeros_proof),
        beyond=False,
        brief="which weights have φ = 0",
    ),
    Claim(
        "agattn.deep-not-closed",
        "M is not closed: limits along diverging weights through rk M_s = 1, M_{s+1} skew-symmetric, are the "
        "function of no real or complex weights. Where d_0, d_1, a_1 or a_2 is 1, M is closed",
        r"\overline{\mathcal{M}} \neq \mathcal{M}",
        (*HYPOTHESES, NOT_ONE),
        (LIMITS,),
        lambda network: "not closed",
        _judge_not_closed,
        certificate=Proof(_limit_proof),
        beyond=False,
        brief="M is {}",
    ),
    Claim(
        "agattn.deep-boundary",
        "The limits of functions in M that are not in M have dimension dim M − 1",
        r"\dim(\overline{\mathcal{M}} - \mathcal{M}) = \dim\mathcal{M} - 1",
        (*HYPOTHESES, NOT_ONE),
        (LIMITS,),
        _predict_boundary,
        _judge_boundary,
        certificate=Proof(_boundary_proof),
        beyond=False,
        brief="limits outside M have dimension {}",
    ),
    Claim(
        "agattn.deep-critical",
        "Where f ≠ 0 and no M_i is skew-symmetric, (M, L) is critical exactly if rk M_i = 1 for an i < l, or "
        "M_l = k qᵀ and L = h kᵀ; the rank drops by (l − i)·C(d_0, 2) or more for the first such i, else by "
        "d_0 − 1",
        r"\operatorname{rk} d\varphi < \dim\mathcal{M} \iff \exists i < l\colon \operatorname{rk} M_i = 1 "
        r"\lor M_l = kq^{\mathsf T},\ L = hk^{\mathsf T}",
        (*HYPOTHESES, WIDE, MATRICES),
        (POINTS,),
        lambda network: "rk M_i = 1 for an i < l, or M_l = k qᵀ and L = h kᵀ",
        _judge_critical,
        certificate=Proof(partial(_proof, singular=False)),
        beyond=False,
        brief="critical points are those with rk M_i = 1, i < l, or the layer's",
    ),
    Claim(
        "agattn.deep-singular",
        "Where f ≠ 0 and no M_i is skew-symmetric, M̄ is singular exactly if rk M_i = 1 for an i < l, or "
        "rk M_l = rk L = 1",
        r"f \in \operatorname{Sing}\overline{\mathcal{M}} \iff \exists i < l\colon \operatorname{rk} M_i = 1 "
        r"\lor \operatorname{rk} M_l = \operatorname{rk} L = 1",
        (*HYPOTHESES, WIDE, NO_CURVES),
        (POINTS,),
        lambda network: "rk M_i = 1 for an i < l, or rk M_l = rk L = 1",
        _judge_singular,
        certificate=Proof(partial(_proof, singular=True)),
        beyond=False,
        brief="singular points are those with rk M_i = 1, i < l, or the layer's",
    ),
    Claim(
        "agattn.softmax-identifiable",
        "If L ≠ 0 and no M_i is skew-symmetric, then (M, L) is the only point with its function, for one "
        "head in each layer and an injective analytic normalizer",
        r"\varphi_{M',L'} = \varphi_{M,L} \implies (M', L') = (M, L)",
        (NORMALIZED, INJECTIVE, ONE_HEAD, ANY_VALUES, NO_SKIP, TWO_TOKENS),
        (SEEN,),
        _predict_identifiable,
        _judge_identifiable,
        source="Konda, preprint of 2026, Theorem 1",
        certificate=NO_RANKS,
        beyond=False,
        brief="φ determines (M, L) but for L = 0, skew M_i",
    ),
    Claim(
        "agattn.softmax-collapse",
        "If L ≠ 0 and s is the first layer with M_s = 0, or for two tokens with a skew-symmetric M_s, the "
        "points with the function of (M, L) are those with the same M_1, ..., M_s and L, and any later M_i",
        r"\varphi_{M',L'} = \varphi_{M,L} \iff (M_1', \ldots, M_s', L') = (M_1, \ldots, M_s, L)",
        (SOFTMAX, ONE_HEAD, ANY_VALUES, NO_SKIP, TWO_TOKENS),
        (SEEN_BEHIND,),
        _predict_collapse,
        _judge_collapse,
        source="Konda, preprint of 2026, Theorem 2, for softmax",
        certificate=NO_RANKS,
        beyond=False,
        brief="after M_s = 0 any M_i do",
    ),
    Claim(
        "agattn.jet-order",
        "For one head in each layer the jet of order 2κ·3^(l−1) + 1 at X = 0 has the dimension of the "
        "network, and the jet of order one less a smaller one; κ is 1 for softmax",
        r"\dim J_{N-1} < \dim J_N = \dim\mathcal{M}, \quad N = 2\kappa \cdot 3^{l-1} + 1",
        SEEN_BY_JETS,
        (JET_RANKS, DIMENSION),
        lambda network: {"order": least_order(network)},
        _judge_jets,
        source="Konda, preprint of 2026, Theorem 3",
        certificate=NO_RANKS,
        brief="the jet of order {order} has the whole dimension",
    ),
    Claim(
        "agattn.contact-spectrum",
        "Where K_i and Q_i are multiplied by a small number s, with V_i = 1, the Jacobian has d² singular "
        "values of order 0 in s, a_i(2d − a_i) of order 2κ·3^(i−1) − 1 for each layer, and a kernel of "
        "dimension (l − 1)d² + Σ a_i²; κ is 1 for softmax",
        r"\beta_i = 2\kappa \cdot 3^{i-1} - 1, \quad \dim\ker = (l-1)d^2 + \sum_i a_i^2",
        SPECTRUM,
        (CONTACT,),
        predict_spectrum,
        _judge_spectrum,
        source="Konda, preprint of 2026, Theorem 4",
        certificate=NO_RANKS,
        beyond=False,
        brief="singular values near K = Q = 0",
    ),
)
