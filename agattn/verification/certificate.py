"""Certificates: integers from which anyone can verify verdicts about a layer or a deep network again.

A certificate always comes from the native computation, whatever engine decided first, and is checked by
``agattn.checker`` before it is handed out.

>>> from agattn import SingleLayer
>>> document = make_certificate(SingleLayer(3, 2, 2), ["theorem-3.4.singular"])
>>> document["claims"][0]["verdict"], document["claims"][0]["fails_at"]
('refuted', [[2, 1, 2], [2, 1, 3]])
>>> [claim["valid"] for claim in check(document)["claims"]]
[True]
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

from agattn._version import __version__
from agattn.algebra.arithmetic import ModularArithmetic, RingArithmetic
from agattn.algebra.echelon import Matrix
from agattn.algebra.polynomial import Polynomial
from agattn.algebra.residues import RowSpace, random_prime
from agattn.architectures import Architecture, DeepNetwork, SingleLayer, as_attention
from agattn.checker import CLAIMS as CERTIFIABLE
from agattn.checker import (
    DEEP,
    DEEP_CLAIMS,
    FORMAT,
    HEADS,
    LEARNING,
    LETTERS,
    OTHERS,
    UnreadableError,
    check,
)
from agattn.checker import Layer as CheckedLayer
from agattn.claims import CLAIMS, claims_about
from agattn.errors import DisagreementError, InputError
from agattn.evidence import Evidence, Status, Verdict
from agattn.geometry.closedness.limits import LimitMap, LimitSet, ZeroKind, limits, zero_kinds
from agattn.geometry.closedness.several_heads import closedness
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.identifiability.virtual_weights import virtual_jacobian
from agattn.geometry.learning_coefficients.learning_coefficients import points
from agattn.geometry.learning_coefficients.normal_form import NormalForm, joint_ranks, normal_form
from agattn.geometry.singular_points.virtual_points import special_points
from agattn.geometry.strata.boundary import boundary
from agattn.geometry.strata.critical import stratum_criticality
from agattn.geometry.strata.strata import Stratum, representative, require_two_tokens, strata
from agattn.geometry.strata.tangent import Arc, Vector, representative_point, tangent_bounds
from agattn.sheet.data import Sheet, Table, Wide, Word
from agattn.sheet.result import Result
from agattn.verification.verify import Settings, verify

DECIDED = (Status.CONFIRMED, Status.REFUTED)
Entry = list[int]
#: Learning coefficients are certified up to so many coordinates: at M(4,4,4) the file has 5 MB.
MOST_CERTIFIED = 160
#: The claim that a limit of several heads proves.
HEADS_CLAIM = "agattn.heads-not-closed"


class Certificate(Result, dict[str, Any]):
    """A certificate: a JSON document that prints as a summary."""

    def as_json(self) -> dict[str, Any]:
        """The document itself."""
        return dict(self)

    def sheet(self) -> Sheet:
        """The verdict on each claim, or why it has none."""
        rows = tuple(
            (
                claim["id"],
                Word(claim.get("verdict", "not certified")),
                claim.get("reason") or " ".join(str(tuple(s)).replace(" ", "") for s in claim["fails_at"]),
            )
            for claim in self["claims"]
        )
        table = Table(self.summary(), ("claim", "verdict", Wide("fails at, or why not")), rows)
        return Sheet(self.summary(), (table,))

    def summary(self) -> str:
        """What is certified, in a line."""
        if self["format"] == HEADS:
            return f"Certificate: {self['about'].partition(', computed')[0]} that is no function of it"
        if self["format"] == DEEP:
            certified = ", ".join(name.rpartition(".")[2] for name in self.certified)
            return f"Certificate of {self['about'].split(', t = ')[0]}, t ≥ 2: {certified}"
        claims = self["claims"]
        words = [claim["verdict"] for claim in claims if "verdict" in claim]
        counts = ", ".join(f"{words.count(word)} {word}" for word in ("confirmed", "refuted"))
        about = self["about"].split(":")[0]
        return f"Certificate of {about}, t ≥ 2: {len(claims)} claims, {len(words)} certified ({counts})"

    @property
    def uncertified(self) -> dict[str, str]:
        """The claims that were asked for and are not certified, each with the reason."""
        records = [*self.get("claims", ()), *self.get("uncertified", ())]
        return {record["id"]: record["reason"] for record in records if "reason" in record}

    @property
    def certified(self) -> list[str]:
        """The claims that are certified."""
        if self["format"] == HEADS:
            return [HEADS_CLAIM]
        if self["format"] == DEEP:
            return [name for name, key in DEEP_CLAIMS.items() if key in self]
        return [claim["id"] for claim in self["claims"] if "verdict" in claim]

    def save(self, path: str | Path) -> None:
        """Write the document into a file, for ``agattn check``."""
        Path(path).write_text(dump(self) + "\n", encoding="utf-8")


def certify(
    architecture: Architecture, claims: Sequence[str] = (), verdicts: Iterable[Verdict] = ()
) -> Certificate:
    """The certificate of those of some claims that have one; it names the others.

    Args:
        architecture: a layer, a network, or a model that is one of these.
        claims: their ids; all of them if there are none.
        verdicts: those that were found already, with an engine perhaps: they must agree.

    Raises:
        InputError: if none of the claims has a certificate, or as :func:`make_certificate`.
        DisagreementError: as :func:`make_certificate`.

    >>> network = DeepNetwork((3, 3, 2), (3, 3), t=3)
    >>> found = certify(network, ["agattn.deep-zeros", "corollary-3.8"])
    >>> print(found)
    Certificate of M(3,3,2; 3,3), t ≥ 2: deep-zeros
    >>> found.certified, [*found.uncertified]
    (['agattn.deep-zeros'], ['corollary-3.8'])
    """
    known = as_attention(architecture)
    check_certifiable(known, claims)
    assert isinstance(known, (SingleLayer, DeepNetwork))
    found = Certificate(make_certificate(known, claims, verdicts))
    if not found.certified:
        why = "; ".join(f"{name}: {reason}" for name, reason in found.uncertified.items())
        raise InputError(f"{known.name} cannot be certified. {why}")
    return found


def check_certifiable(architecture: Architecture, claims: Sequence[str] = ()) -> None:
    """Refuse claims of which none has a certificate, whatever the verdicts are: before the work.

    Raises:
        InputError: also if there is no such claim, or for one token.

    >>> from agattn import Linear, Network
    >>> check_certifiable(Network([Linear(2)], dim=2))
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: no claim about a model has a certificate; leave out --certificate
    """
    known = as_attention(architecture)
    chosen = claims_about(known, tuple(claims))
    able = [claim.id for claim in claims_about(known) if claim.certificate is not None]
    if not able:
        raise InputError(f"no claim about a {known.kind} has a certificate; leave out --certificate")
    if not any(claim.id in able for claim in chosen):
        names, have = ", ".join(claim.id for claim in chosen), "has" if len(chosen) == 1 else "have"
        raise InputError(f"{names} {have} no certificate; only {', '.join(able)} have one")
    if known.t < 2:
        raise InputError("a certificate needs t ≥ 2: nothing else is certified")


def make_certificate(
    layer: SingleLayer | DeepNetwork, claims: Sequence[str] = (), verdicts: Iterable[Verdict] = ()
) -> dict[str, Any]:
    """A certificate of the verdicts on some claims about a layer or a deep network, t ≥ 2.

    Args:
        layer: the architecture; for a network see :func:`make_deep_certificate`.
        claims: their ids; all of them if there are none.
        verdicts: those that were found already, with an engine perhaps: they must agree.

    Raises:
        InputError: if there is no such claim, if t = 1, where no claim applies, or if the layer is too large.
        DisagreementError: if a verdict given is another one, or if the checker rejects the certificate.
    """
    if isinstance(layer, DeepNetwork) and max(layer.heads_by_layer) > 1 and layer.layers == 1:
        return make_heads_certificate(layer, [claim.id for claim in claims_about(layer, tuple(claims))])
    if isinstance(layer, DeepNetwork):
        return make_deep_certificate(layer, claims, verdicts)
    if not layer.has_orbits:
        raise InputError("t is 1, where no claim applies; there is nothing to certify for less than 2 tokens")
    native = verify(layer, claims, Settings(engine="native", force=True)).verdicts
    _compare(layer, native, verdicts)
    with_spaces = any("spaces" in (CLAIMS[verdict.claim].certificate or ()) for verdict in native)
    claimed = [_claim(layer, verdict) for verdict in native]
    unknown = [claim for claim in claimed if claim["id"] not in CERTIFIABLE.keys() | OTHERS]
    others = [{"id": claim["id"], "reason": claim["reason"]} for claim in unknown]
    document: dict[str, Any] = {
        "format": FORMAT,
        "about": f"{layer}, computed natively by agattn {__version__}; a stands for min(a, d)",
        "d": layer.d,
        "d_out": layer.d_out,
        "a": layer.alpha,
        "dimension": layer.expected_dimension,
        "strata": [_stratum(layer, s, with_spaces) for s in strata(layer) if not s.is_zero],
        "claims": [claim for claim in claimed if claim not in unknown],
        **({"uncertified": others} if others else {}),
    }
    return _accepted(document, str(layer), empty=all("certificate" in claim for claim in document["claims"]))


def _accepted(document: dict[str, Any], about: str, empty: bool = False) -> dict[str, Any]:
    """The document, if the checker finds no flaw in it, or but that nothing is certified."""
    try:
        flaw = check(document)["flaw"]
    except UnreadableError as error:
        raise InputError(f"{about} cannot be certified: {error}") from error
    if flaw and not empty:
        raise DisagreementError(f"{about}: the checker rejects the certificate: {flaw}")
    return document


def make_learning_certificate(layer: SingleLayer, softmax: bool = False) -> dict[str, Any]:
    """A certificate of λ and m at every orbit of weights of a layer with t ≥ 2, by their normal forms.

    Raises:
        InputError: if t = 1, or the layer is too large.
        DisagreementError: if the checker rejects the certificate.

    >>> document = make_learning_certificate(SingleLayer(2, 1, 1))
    >>> check(document)["claims"][-1]["reason"]
    'the learning coefficient is 2, of multiplicity 1'
    """
    if layer.ambient_dimension > MOST_CERTIFIED:
        raise InputError(
            f"{layer} has more than {MOST_CERTIFIED} coordinates; there a certificate of λ is too large"
        )
    require_two_tokens(layer)
    document: dict[str, Any] = {
        "format": LEARNING,
        "about": f"learning coefficients of {layer}, computed natively by agattn {__version__}",
        "d": layer.d,
        "d_out": layer.d_out,
        "a": layer.a,
        "head": "softmax" if softmax else "lightning",
        "points": [
            _germ(normal_form(layer, p.orbit, p.rank_k or 0, p.rank_q or 0, rank_vk, softmax=softmax))
            for p in points(layer, softmax)
            for rank_vk in joint_ranks(layer, p.orbit, p.rank_k or 0)
        ],
    }
    return _accepted(document, str(layer))


def make_heads_certificate(network: DeepNetwork, claims: Sequence[str] = ()) -> dict[str, Any]:
    """A certificate that the functions of one layer of several heads are no closed set: a limit outside.

    Args:
        network: of one layer.
        claims: ids of claims, which the certificate names if it does not prove them.

    Raises:
        InputError: if they are one, if that is not known, or if the network is another or too large; or if
            the claim is none of those asked for.
        DisagreementError: if the checker rejects the certificate.

    >>> check(make_heads_certificate(DeepNetwork((3, 1), (1,), t=2, heads=2)))["claims"][0]["reason"]
    'confirmed: M(3,1,1) with 2 heads is not closed: y is a limit of sums of 2 heads, and none.'
    """
    others = _uncertified(network, claims or [HEADS_CLAIM], [HEADS_CLAIM])
    found = closedness(network)
    if found.limit is None:
        raise InputError(f"{found}; a certificate shows a limit outside M, and there is none to show")
    (d, d_out), [a], [h] = network.dims, network.ranks, network.heads_by_layer
    document: dict[str, Any] = {
        "format": HEADS,
        "about": f"a limit of {network}, computed natively by agattn {__version__}",
        **{"d": d, "d_out": d_out, "a": min(a, d), "h": h},
        **found.limit.as_json(),
        **others,
    }
    return _accepted(document, str(network))


def _uncertified(
    network: DeepNetwork, claims: Sequence[str], certified: Sequence[str], verdicts: Iterable[Verdict] = ()
) -> dict[str, list[dict[str, str]]]:
    """What a certificate about a network says of the claims that it does not prove, with the reasons.

    Raises:
        InputError: if none of the claims is one of those certified.
    """
    chosen = claims_about(network, tuple(claims))
    if not any(claim.id in certified for claim in chosen):
        names, have = ", ".join(certified), "have" if len(certified) > 1 else "has"
        raise InputError(f"of the claims about {network.name} only {names} {have} a certificate")
    reasons = {v.claim: _undecided(v) for v in verdicts}
    records = [
        {"id": claim.id, "reason": reasons.get(claim.id, NO_PROOF)}
        for claim in chosen
        if claim.id not in certified
    ]
    return {"uncertified": records} if records else {}


def make_deep_certificate(
    network: DeepNetwork, claims: Sequence[str] = (), verdicts: Iterable[Verdict] = ()
) -> dict[str, Any]:
    """A certificate of what is claimed about zeros, limits and points of a deep network, for all t ≥ 2.

    Args:
        network: a lightning network of two or more layers with one head in each, and no skip connections.
        claims: ids of claims, of which those that have certificates count; all of these if there are none.
        verdicts: those that were found already: they must agree.

    Raises:
        InputError: if there is no such claim, none of them is decided, or the network is too large.
        DisagreementError: if a verdict given is another one, or if the checker rejects the certificate.

    >>> document = make_deep_certificate(DeepNetwork((3, 2, 3), (2, 2), t=3))
    >>> check(document)["claims"][-1]["reason"].partition(":")[2].partition(":")[0]
    ' the limits outside M have dimension 17 = dim M − 1'
    """
    _uncertified(network, claims, [*DEEP_CLAIMS])
    asked = [claim.id for claim in claims_about(network, tuple(claims)) if claim.id in DEEP_CLAIMS]
    native = verify(network, asked, Settings("native", force=True)).verdicts
    _compare(network, native, verdicts)
    decided = [v.claim for v in native if v.status is Status.CONFIRMED]
    if not decided:
        reason = "; ".join(dict.fromkeys(" ".join(v.witness.split()).rstrip(".") for v in native))
        raise InputError(f"{network} cannot be certified: {reason}")
    document: dict[str, Any] = {
        "format": DEEP,
        "about": f"{network}, computed natively by agattn {__version__}, for all t ≥ 2",
        "dims": list(network.dims),
        "ranks": list(network.ranks),
    }
    generator = np.random.default_rng(0)
    two = replace(network, t=2)
    if "agattn.deep-zeros" in decided:
        document["zeros"] = [_zero(two, kind, generator) for kind in zero_kinds(two)]
    if {"agattn.deep-not-closed", "agattn.deep-boundary"} & {*decided}:
        found = limits(network)
        document["limit"] = _limit(two, found)
        if "agattn.deep-boundary" in decided:
            document["boundary"] = _boundary(two, found, generator)
    for name in ("critical", "singular"):
        if f"agattn.deep-{name}" in decided:
            document[name] = _points(two, name == "singular", generator)
    return _accepted(document | _uncertified(network, claims, decided, native), str(network))


def _points(network: DeepNetwork, singular: bool, generator: np.random.Generator) -> dict[str, Any]:
    """Points of some kinds with the rank of the differential, or with more tangent vectors than dim M."""
    l, d_out = network.layers, network.dims[-1]
    names = [f"rk M_{i} = 1" for i in range(1, l)] + [f"rk M_{l} = rk L = 1"]
    if not singular:
        names = ["generic", *names, f"M_{l} = k qᵀ, L = h kᵀ"]
    found = {point.name: point for point in special_points(network)}
    p = random_prime(generator)
    # Where rk L = 1, a pair of tokens tells two numbers, beside (d_l − 1)d_0 derivatives by L alone.
    size = found["generic"].dimension
    enough = max(size // d_out, (size - (d_out - 1) * network.dims[0]) // 2) + 4
    inputs = generator.integers(-9, 10, (enough, *network.input_shape))
    units = np.eye(2 * d_out).reshape(1, 2 * d_out, d_out, 2)
    cotangents = np.repeat(units, len(inputs), axis=0)
    points = []
    for name in names:
        space, others = RowSpace(cotangents.shape[0] * cotangents.shape[1], p), []
        for at in found[name].preimages():
            space.add(virtual_jacobian(at.M, at.L, (inputs % p).astype(np.float64), cotangents, p).T.copy())
            others.append({"M": [_matrix(m.tolist()) for m in at.M], "L": _matrix(at.L.tolist())})
            if not singular or space.rank > at.dimension:
                break
        more = {"others": others[1:], "tangent": space.rank} if singular else {"rank": space.rank}
        points.append(others[0] | more)
    return {"inputs": [_matrix(X.tolist()) for X in inputs], "points": points}


def _weights(weights: Mapping[str, Any]) -> dict[str, list[Entry]]:
    return {name: _matrix(rows) for name, rows in weights.items()}


def _zero(network: DeepNetwork, kind: ZeroKind, generator: np.random.Generator) -> dict[str, Any]:
    """Weights of one kind, with an input at which φ is not 0 if there is one."""
    record = {"weights": _weights({name: array[0].tolist() for name, array in kind.weights.items()})}
    while not kind.zero:
        X = generator.integers(-2, 3, network.input_shape).astype(object)
        value = network.evaluate(RingArithmetic(), kind.weights, X[None])[0]
        if value.any():
            return record | {"X": _matrix(X.tolist()), "value": _matrix(value.tolist())}
    return record


def _limit(network: DeepNetwork, found: LimitSet) -> dict[str, Any]:
    """A limit that no weights have, and the numbers that are not 0 for that."""
    arrays = {name: np.array([rows], dtype=object) for name, rows in found.weights.items()}
    kappa, delta = LimitMap(network, found.first).minors(arrays, np.array(found.X, dtype=object))
    return {
        "weights": _weights(found.weights),
        "X": _matrix(found.X),
        "value": _matrix(found.value),
        "kappa": kappa,
        "delta": delta,
    }


def _boundary(network: DeepNetwork, found: LimitSet, generator: np.random.Generator) -> dict[str, Any]:
    """Inputs and directions that give a minor of the differential of the limits which is not 0."""
    limit_map = LimitMap(network, found.first)
    p = random_prime(generator)
    arrays = {name: np.array([rows], dtype=np.float64) % p for name, rows in found.weights.items()}
    space, inputs = RowSpace(limit_map.parameters, p), []
    while space.rank < found.dimension:
        X = generator.integers(-3, 4, network.input_shape)
        before = space.rank
        rows = jacobian(limit_map, arrays, (X % p).astype(np.float64)[None], ModularArithmetic(p))
        if space.add(rows) > before:
            inputs.append(_matrix(X.tolist()))
    directions = sorted(column + 1 for column in space.columns)
    return {"dimension": found.dimension, "inputs": inputs, "directions": directions}


def _germ(form: NormalForm) -> dict[str, Any]:
    """A normal form, with the multipliers that prove it."""
    value, multiplicity = form.coefficient()
    p, h, n = len(form.T), len(form.N), len(form.N[0]) if form.N else 0
    return {
        "ranks": list(form.expected),
        "variables": len(form.ring),
        **{name: [[_terms(x) for x in row] for row in getattr(form, name).tolist()] for name in "KQV"},
        "free": list(form.free),
        "T": [list(row) for row in form.T],
        "N": [list(row) for row in form.N],
        "squares": list(form.squares),
        "multipliers": [
            [i, j, _terms(m)] for i, row in enumerate(form.multipliers) for j, m in sorted(row.items())
        ],
        "lambda": [value.numerator, value.denominator],
        "multiplicity": multiplicity,
        "competitors": [(h - s) * (n - s) + p * s for s in range(min(h, n) + 1)],
    }


def _terms(polynomial: Polynomial) -> list[list[int]]:
    """A polynomial over ℤ as its terms: the coefficient and the numbers of its variables, with repetition."""
    named = {
        tuple(i for i, e in enumerate(exponents) for _ in range(e)): int(c)
        for exponents, c in polynomial.terms.items()
    }
    return [[c, *name] for name, c in sorted(named.items())]


def _compare(layer: Architecture, native: Iterable[Verdict], others: Iterable[Verdict]) -> None:
    found = {verdict.claim: verdict.status for verdict in native}
    for verdict in others:
        mine = found.get(verdict.claim)
        if verdict.status in DECIDED and mine in DECIDED and verdict.status is not mine:
            raise DisagreementError(
                f"{layer}: {verdict.claim} is {verdict.status} by {verdict.engine}, but natively {mine}"
            )


NO_PROOF = "the checker knows no proof of it by finitely many integers"


def _undecided(verdict: Verdict) -> str:
    return f"it is {verdict.status}: {' '.join(verdict.witness.split())}"[:LETTERS]


def _claim(layer: SingleLayer, verdict: Verdict) -> dict[str, Any]:
    """The verdict, with the strata where the claim fails; or the reason why it is not certified."""
    holds = CLAIMS[verdict.claim].certificate
    reason = ""
    if verdict.status not in DECIDED or verdict.evidence is not Evidence.PROVED:
        reason = _undecided(verdict)
    elif holds is None:
        reason = NO_PROOF
    elif verdict.status is Status.REFUTED and not verdict.fails_at:
        reason = "it is refuted in a way that no certificate is known for"
    elif not CERTIFIABLE[verdict.claim].applies(CheckedLayer(layer.d, layer.d_out, layer.alpha)):
        reason = "a certificate has a = min(a, d), for which the hypotheses of this claim fail"
    if reason or holds is None:
        return {"id": verdict.claim, "certificate": None, "reason": reason}
    fails_at = [[s.r_v, s.r_a, s.r] for s in sorted(verdict.fails_at)]
    record = {"id": verdict.claim, "verdict": verdict.status.value, "fails_at": fails_at}
    return record | ({"degree": verdict.computed} if "degree" in holds else {})


def _stratum(layer: SingleLayer, stratum: Stratum, with_spaces: bool) -> dict[str, Any]:
    """What proves the facts about one stratum: every number of it is needed by the checker."""
    A, V = representative(layer, stratum)
    bounds = tangent_bounds(layer, stratum)
    record: dict[str, Any] = {
        "ranks": [stratum.r_v, stratum.r_a, stratum.r],
        "A": _matrix(A),
        "V": _matrix(V),
        "y": _point(representative_point(layer, stratum)),
    }
    if bounds.fiber is None:
        raise DisagreementError(f"{layer} at {stratum}: a nonzero stratum without a fiber")
    if len(bounds.fiber.points) > 1:
        pairs = ([_matrix(point.A), _matrix(point.V)] for point in bounds.fiber.points)
        [record["second"]] = [pair for pair in pairs if pair != [record["A"], record["V"]]]
    direction = stratum_criticality(layer, stratum).direction
    if direction is not None:
        scale = lcm(*(Fraction(x).denominator for part in direction for row in part for x in row))
        record["critical"] = [_matrix(part, scale) for part in direction]
    sequence = boundary(layer, stratum).sequence
    if sequence is not None:
        record["approach"] = _point(dict(sequence.linear))
    if bounds.lower > bounds.dimension:
        record["tangent"] = bounds.lower
        record["arcs"] = [_arc(arc) for arc in bounds.arcs]
    if bounds.equations and (with_spaces or bounds.upper == bounds.dimension):
        record["equations"] = [_equation(equation) for equation in bounds.equations]
    return record


def _matrix(matrix: Matrix, scale: int = 1) -> list[Entry]:
    """The nonzero entries of a matrix, which are integers after scaling."""
    found = []
    for i, row in enumerate(matrix, start=1):
        for j, entry in enumerate(row, start=1):
            value = Fraction(entry) * scale
            if value.denominator != 1:
                raise DisagreementError(f"a certificate has integers only, not {value}")
            found += [[i, j, int(value)]] if value else []
    return found


def _point(y: Vector) -> list[Entry]:
    return [[*name, value] for name, value in sorted(y.items())]


def _arc(arc: Arc) -> dict[str, list[Entry]]:
    """The arc, and its expansion beyond the constant term."""
    moving = list(enumerate(arc.coefficients()))[1:]
    rows = zip("KQ", _merge(*_merge(_rows(arc.K), _rows(arc.Q))), strict=True)
    return {
        **{name: [[row, *e] for row, entries in M.items() for e in sorted(entries)] for name, M in rows},
        "V": sorted([*entry] for entry in arc.V),
        "y": [[power, *entry] for power, vector in moving for entry in _point(vector)],
    }


Rows = dict[int, frozenset[tuple[int, ...]]]
"""The rows of K or Q: sets of (column, power of ε, coefficient)."""


def _rows(entries: Iterable[tuple[int, ...]]) -> Rows:
    groups = itertools.groupby(sorted(entries), key=lambda entry: entry[0])
    return {row: frozenset(entry[1:] for entry in group) for row, group in groups}


def _merge(K: Rows, Q: Rows) -> tuple[Rows, Rows]:
    """Q and K, in this order, after adding up the rows of Q that belong to equal rows of K.

    The checker asks for different rows, so that no row number can be changed with impunity. The sums are
    unions: the arcs have no two entries of the same power at one place.
    """
    first: dict[frozenset[tuple[int, ...]], int] = {}
    sums: Rows = {}
    for row, entries in K.items():
        place = first.setdefault(entries, row)
        sums[place] = sums.get(place, frozenset()) | Q.get(row, frozenset())
    return sums, {row: entries for entries, row in first.items()}


def _equation(equation: Equation) -> list[list[Any]]:
    return [[value, *map(list, monomial)] for monomial, value in equation.terms.items()]


def dump(document: Any, indent: int = 0) -> str:
    """JSON text, with everything on one line that has no object in it.

    >>> print(dump({"y": [[1, 2], [3, 4]], "claims": [{"id": "x"}]}))
    {
     "y": [[1,2],[3,4]],
     "claims": [
      {
       "id": "x"
      }
     ]
    }
    """
    flat = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if isinstance(document, str) or "{" not in flat:
        return flat
    gap, end = "\n" + " " * (indent + 1), "\n" + " " * indent
    if isinstance(document, dict):
        parts = [f"{json.dumps(key)}: {dump(value, indent + 1)}" for key, value in document.items()]
    else:
        parts = [dump(value, indent + 1) for value in document]
    return flat[0] + gap + f",{gap}".join(parts) + end + flat[-1]
