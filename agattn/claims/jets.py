"""What is claimed about softmax networks by their jets at the zero input, in a preprint of 2026 (Konda).

A theorem that is only cited decides nothing: each verdict is about what was computed, and its scope names the
theorem and what is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agattn.algebra.rank import RankResult, rank
from agattn.architectures import DeepNetwork, Jet
from agattn.architectures.normalizer import Normalizer
from agattn.claims.claim import (
    ANY_VALUES,
    INJECTIVE,
    NO_SKIP,
    NORMALIZED,
    ONE_HEAD,
    SOFTMAX,
    TWO_TOKENS,
    Claim,
    Findings,
    Hypothesis,
    Outcome,
)
from agattn.claims.network_dimension import NO_RANKS
from agattn.evidence import weakest
from agattn.geometry.dimension.contact import MOST_PARAMETERS, ContactSpectrum, contact_spectrum
from agattn.geometry.dimension.formulas import network_bound, seen_scores
from agattn.geometry.dimension.jacobian import jacobian_rows
from agattn.geometry.identifiability.softmax import (
    MOST_COLUMNS,
    MOST_LAYERS,
    PREPRINT,
    Seen,
    least_order,
    seen_at_random_weights,
    seen_behind_each,
)
from agattn.systems.network_tasks import DIMENSION
from agattn.systems.problem import Task


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


HYPOTHESES = (NORMALIZED, ONE_HEAD, ANY_VALUES, NO_SKIP, TWO_TOKENS)


def _not_tried(network: DeepNetwork) -> str:
    """Why the jets are not computed; of networks that the claim is not about they would say nothing."""
    if not all(hypothesis.holds(network) for hypothesis in HYPOTHESES):
        return "jets are compared for softmax networks with one head in each layer"
    layers, order = network.depth, least_order(network)
    given = network.normalization
    if isinstance(given, Normalizer) and order // 2 >= len(given.series):
        return (
            f"the jet of order {order} needs the Taylor coefficients of the normalizer up to w^{order // 2}"
        )
    return f"{layers} layers need a jet of order {order}" if layers > MOST_LAYERS else ""


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
    native=seen_at_random_weights,
    infeasible=_too_wide,
)
SEEN_BEHIND = Task(
    "seen-behind-collapse",
    "the differential where a layer collapses",
    DeepNetwork,
    native=seen_behind_each,
    infeasible=_too_wide,
)


def _too_large(network: DeepNetwork) -> str:
    if not all(hypothesis.holds(network) for hypothesis in SPECTRUM):
        return "contact orders are compared for networks of one width with one head in each layer"
    if network.depth > MOST_LAYERS or network.parameters > MOST_PARAMETERS:
        return f"contact orders are for {MOST_LAYERS} layers and {MOST_PARAMETERS} parameters at most"
    last = network.first_degree * 3 ** (network.depth - 1)
    given = network.normalization
    if isinstance(given, Normalizer) and last >= len(given.series):
        return f"the power series need the Taylor coefficients of the normalizer up to w^{last}"
    return ""


SPECTRUM = (
    *HYPOTHESES,
    Hypothesis[DeepNetwork]("all widths equal", lambda network: len(set(network.dims)) == 1),
    Hypothesis[DeepNetwork]("a_i ≤ d", lambda network: max(network.ranks) <= network.dims[0]),
)
CONTACT = Task(
    "contact-spectrum",
    "the contact orders",
    DeepNetwork,
    native=contact_spectrum,
    evidence=lambda found: found.evidence,
    infeasible=_too_large,
)


def _judge(network: DeepNetwork, findings: Findings) -> Outcome:
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
    ),
    Claim(
        "agattn.jet-order",
        "For one head in each layer the jet of order 2κ·3^(l−1) + 1 at X = 0 has the dimension of the "
        "network, and the jet of order one less a smaller one; κ is 1 for softmax",
        r"\dim J_{N-1} < \dim J_N = \dim\mathcal{M}, \quad N = 2\kappa \cdot 3^{l-1} + 1",
        HYPOTHESES,
        (JET_RANKS, DIMENSION),
        lambda network: {"order": least_order(network)},
        _judge,
        source="Konda, preprint of 2026, Theorem 3",
        certificate=NO_RANKS,
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
    ),
)
