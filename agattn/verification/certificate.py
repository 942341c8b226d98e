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
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

from agattn._version import __version__
from agattn.architectures import Architecture, DeepNetwork, Network, SingleLayer, as_attention
from agattn.architectures.forms import Studied
from agattn.checker import CLAIMS as CERTIFIABLE
from agattn.checker import (
    COORDINATES,
    DEEP,
    DEEP_CLAIMS,
    FORMAT,
    HEADS,
    LEARNING,
    LETTERS,
    OTHERS,
    TODAY,
    TODAY_CLAIMS,
    UnreadableError,
    check,
)
from agattn.checker import Layer as CheckedLayer
from agattn.claims import claims_about
from agattn.claims.claim import Claim
from agattn.claims.proof import NO_PROOF, Entry, Proof, entries
from agattn.errors import DisagreementError, InputError, TooLargeError
from agattn.evidence import Evidence, Status, Verdict
from agattn.files import write
from agattn.geometry.dimension.formulas import reduced
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.strata.critical import boundary, stratum_criticality
from agattn.geometry.strata.strata import Stratum, representative, require_two_tokens, strata
from agattn.geometry.strata.tangent import Arc, Vector, representative_point, tangent_bounds
from agattn.sheet.data import Cell, Sheet, Table, Wide, Word
from agattn.sheet.result import Described, Key, Result
from agattn.verification.verify import verify

#: Verdicts on layers are certified up to so many coordinates: then the native facts take up to a minute.
#: Networks are certified up to the size that the checker reads.
MOST_COORDINATES = 2500
DECIDED = (Status.CONFIRMED, Status.REFUTED)
#: Learning coefficients are certified up to so many coordinates: at M(4,4,4) the file has 5 MB.
MOST_CERTIFIED = 160
#: Dimensions are certified up to so many parameters: then the checker takes half a minute.
MOST_PARAMETERS = 400
#: The claim that a limit of several heads proves.
HEADS_CLAIM = "agattn.heads-not-closed"


class Certificate(Described, dict[str, Any]):
    """A certificate: a JSON document that prints as a summary."""

    def as_json(self) -> dict[str, Any]:
        """The document itself."""
        return dict(self)

    def sheet(self) -> Sheet:
        """The verdict on each claim, or why it has none."""
        reasons = self.uncertified
        fails_at = {claim["id"]: claim.get("fails_at", []) for claim in self.get("claims", ())}
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name, Word(word), " ".join(str(tuple(s)).replace(" ", "") for s in fails_at.get(name, [])))
            for name, word in self.verdicts.items()
        )
        rows += tuple((name, Word("not certified"), reason) for name, reason in reasons.items())
        table = Table(self.summary(), ("claim", "verdict", Wide("fails at, or why not")), rows)
        return Sheet(self.summary(), (table,))

    def summary(self) -> str:
        """What is certified, in a line."""
        if self["format"] == HEADS:
            return f"Certificate: {self['about'].partition(', computed')[0]} that is no function of it"
        if self["format"] == TODAY:
            return f"Certificate of {self['about'].partition(', computed')[0]}: dimension {self['dimension']}"
        if self["format"] == DEEP:
            certified = ", ".join(name.rpartition(".")[2] for name in self.certified)
            return f"Certificate of {self['about'].split(', t = ')[0]}, t ≥ 2: {certified}"
        claims = self["claims"]
        words = [claim["verdict"] for claim in claims if "verdict" in claim]
        counts = ", ".join(f"{words.count(word)} {word}" for word in ("confirmed", "refuted"))
        about = self["about"].split(":")[0]
        number = f"{len(claims)} claim{'s' * (len(claims) != 1)}"
        return f"Certificate of {about}, t ≥ 2: {number}, {len(words)} certified ({counts})"

    @property
    def uncertified(self) -> dict[str, str]:
        """The claims that were asked for and are not certified, each with the reason."""
        records = [*self.get("claims", ()), *self.get("uncertified", ())]
        return {record["id"]: record["reason"] for record in records if "reason" in record}

    @property
    def certified(self) -> list[str]:
        """The claims that are certified."""
        return [*self.verdicts]

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdicts that are certified, by claim; of networks confirmed claims alone are."""
        if self["format"] == FORMAT:
            return {claim["id"]: claim["verdict"] for claim in self["claims"] if "verdict" in claim}
        named = {HEADS: [HEADS_CLAIM], TODAY: [self.get("claim", "")]}
        names = named.get(self["format"]) or [n for n, key in DEEP_CLAIMS.items() if key in self]
        return dict.fromkeys(names, str(Status.CONFIRMED))

    def save(self, path: str | Path) -> None:
        """Write the document into a file, for ``agattn check``."""
        write(path, dump(self) + "\n")


class CertifiedClaims(Result, name="certificate"):
    """A certificate, with what it proves and what it does not."""

    architecture: Key[Studied, "What the certificate is about."]
    file: Key[str | None, "Where the certificate was written; null where it was not."]
    certified: Key[Mapping[str, str], "The verdicts that the certificate proves, by claim."]
    uncertified: Key[Mapping[str, str], "The other claims that were asked for, each with the reason."]
    certificate: Key[Mapping[str, Any], "The certificate, which `agattn check` reads from a file of its own."]

    @classmethod
    def of(cls, architecture: Any, found: Certificate, file: str | None) -> CertifiedClaims:
        """The document about a certificate that was written into a file, or nowhere."""
        return cls(architecture, file, found.verdicts, found.uncertified, found.as_json())

    def summary(self) -> str:
        """How many claims are certified, in a line."""
        return f"{self.architecture}: {len(self.certified)} claims certified, {len(self.uncertified)} not"


def certificate(layer: Architecture, claims: str | Sequence[str] = ()) -> Certificate:
    """Integers that prove verdicts to anyone: a JSON document that :func:`agattn.check` verifies.

    The document names the claims that have no certificate; the other claims are certified all the same.

    Args:
        layer: one layer; or a network, of which zeros, limits, critical and singular points are certified, or
            for one layer of several heads ``agattn.heads-not-closed``; or one layer with groups of heads,
            latents or a state, of which the dimension is certified; t ≥ 2.
        claims: their ids; none for all.

    Raises:
        InputError: for t = 1, for another model, if there is no such claim, or where no claim can be
            certified.

    See Also:
        :func:`agattn.check`, :func:`agattn.verify`; ``agattn certificate`` in a shell.

    >>> import agattn as ag
    >>> ag.certificate(ag.SingleLayer(2, 1), "theorem-3.4")
    Certificate of M(2,1,2), t ≥ 2: 3 claims, 3 certified (3 confirmed, 0 refuted)
    >>> ag.certificate(ag.DeepNetwork((3, 3, 2), (3, 3), t=3))
    Certificate of M(3,3,2; 3,3), t ≥ 2: deep-zeros, deep-not-closed, deep-boundary, deep-critical,
    deep-singular
    """
    return certify(layer, (claims,) if isinstance(claims, str) else claims)


def certify(
    architecture: Architecture, claims: Sequence[str] = (), verdicts: Iterable[Verdict] = ()
) -> Certificate:
    """A certificate of those of the claims that have a proof; the certificate names the other claims.

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
    assert isinstance(known, (SingleLayer, DeepNetwork, Network))
    found = Certificate(make_certificate(known, claims, verdicts))
    if not found.certified:
        why = "; ".join(f"{name}: {reason}" for name, reason in found.uncertified.items())
        raise InputError(f"{known.name} cannot be certified. {why}")
    return found


def check_certifiable(architecture: Architecture, claims: Sequence[str] = ()) -> None:
    """Refuse claims of which none has a certificate, before any verdict is computed.

    Raises:
        InputError: also if there is no such claim, or for one token.
        TooLargeError: beyond the limits on sizes.

    >>> from agattn import Linear, Network
    >>> check_certifiable(Network([Linear(2)], dim=2))
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: no claim about this model has a certificate; layers
    and networks of attention have some
    """
    known = as_attention(architecture)
    chosen = claims_about(known, tuple(claims))
    able = [claim.id for claim in claims_about(known) if isinstance(claim.certificate, Proof)]
    if not able:
        raise InputError(
            f"no claim about this {known.kind} has a certificate; layers and networks of attention have some"
        )
    if not any(claim.id in able for claim in chosen):
        names, have = ", ".join(claim.id for claim in chosen), "has" if len(chosen) == 1 else "have"
        raise InputError(f"{names} {have} no certificate; only {', '.join(able)} have one")
    if known.t < 2:
        raise InputError(f"t is {known.t}; a certificate needs t ≥ 2")
    size, most, what = known.parameters, COORDINATES, "parameters"
    if isinstance(known, SingleLayer):
        size, most, what = known.ambient_dimension, MOST_COORDINATES, "coordinates"
    if size > most and not isinstance(known, Network):  # whose size is that of the layer in use
        raise TooLargeError(f"{known.name} has {size} {what}; certificates are made for at most {most}")


def make_certificate(
    layer: SingleLayer | DeepNetwork | Network,
    claims: Sequence[str] = (),
    verdicts: Iterable[Verdict] = (),
) -> dict[str, Any]:
    """A certificate of the verdicts on some claims about a layer or a deep network, t ≥ 2.

    Args:
        layer: the architecture; for a network see :func:`make_deep_certificate`, for a layer with groups,
            latents or a state :func:`make_dimension_certificate`.
        claims: their ids; all of them if there are none.
        verdicts: those that were found already, with an engine perhaps: they must agree.

    Raises:
        InputError: if there is no such claim, if t = 1, where no claim applies, or if the layer is too large.
        DisagreementError: if a verdict given is another one, or if the checker rejects the certificate.
    """
    if isinstance(layer, DeepNetwork) and max(layer.heads_by_layer) > 1 and layer.depth == 1:
        return make_heads_certificate(layer, [claim.id for claim in claims_about(layer, tuple(claims))])
    if isinstance(layer, DeepNetwork):
        return make_deep_certificate(layer, claims, verdicts)
    if isinstance(layer, Network):
        return make_dimension_certificate(layer, claims, verdicts)
    if not layer.has_orbits:
        raise InputError("t is 1, where no claim applies; there is nothing to certify for less than 2 tokens")
    native = verify(layer, claims, "native", force=True).verdicts
    _compare(layer, native, verdicts)
    proofs = [claim.certificate for claim in claims_about(layer, tuple(claims))]
    with_spaces = any(isinstance(proof, Proof) and proof.spaces for proof in proofs)
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
    """The document, if the checker finds no flaw; where nothing is certified, that is no flaw."""
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
    from agattn.claims.learning_coefficients import germs

    if layer.ambient_dimension > MOST_CERTIFIED:
        raise InputError(
            f"{layer.name} has more than {MOST_CERTIFIED} coordinates; there a certificate of λ is too large"
        )
    require_two_tokens(layer)
    document: dict[str, Any] = {
        "format": LEARNING,
        "about": f"learning coefficients of {layer}, computed natively by agattn {__version__}",
        "d": layer.d,
        "d_out": layer.d_out,
        "a": layer.a,
        "head": "softmax" if softmax else "lightning",
        "points": germs(layer, softmax),
    }
    return _accepted(document, str(layer))


def make_heads_certificate(network: DeepNetwork, claims: Sequence[str] = ()) -> dict[str, Any]:
    """A certificate that the functions of one layer of several heads are not a closed set: a limit outside.

    Args:
        network: of one layer.
        claims: ids of claims, which the certificate names if it does not prove them.

    Raises:
        InputError: if the set is closed, or not known not to be; if the network has more layers or is too
            large; or if the claim was not asked for.
        DisagreementError: if the checker rejects the certificate.

    >>> check(make_heads_certificate(DeepNetwork((3, 1), (1,), t=2, heads=2)))["claims"][0]["reason"]
    'confirmed: M(3,1,1) with 2 heads is not closed: y is a limit of sums of 2 heads, and none.'
    """
    others = _uncertified(network, claims or [HEADS_CLAIM], [HEADS_CLAIM])
    limit = _proofs(network, [HEADS_CLAIM])
    (d, d_out), [a], [h] = network.dims, network.ranks, network.heads_by_layer
    document: dict[str, Any] = {
        "format": HEADS,
        "about": f"a limit of {network}, computed natively by agattn {__version__}",
        **{"d": d, "d_out": d_out, "a": min(a, d), "h": h},
        **limit,
        **others,
    }
    return _accepted(document, str(network))


def _uncertified(
    network: Architecture, claims: Sequence[str], certified: Sequence[str], verdicts: Iterable[Verdict] = ()
) -> dict[str, list[dict[str, str]]]:
    """The claims about a network that a certificate does not prove, each with the reason.

    Raises:
        InputError: if none of the claims is one of those certified.
    """
    chosen = claims_about(network, tuple(claims))
    if not any(claim.id in certified for claim in chosen):
        names, have = ", ".join(certified), "have" if len(certified) > 1 else "has"
        raise InputError(f"of the claims about {network.name} only {names} {have} a certificate")
    reasons = {v.claim: _undecided(v) for v in verdicts}
    records = [
        {"id": claim.id, "reason": reasons.get(claim.id) or _absent(claim, network)}
        for claim in chosen
        if claim.id not in certified
    ]
    return {"uncertified": records} if records else {}


def _proofs(network: Architecture, ids: Sequence[str]) -> dict[str, Any]:
    """The proofs of these claims, in this order; all draw from one generator."""
    generator, found = np.random.default_rng(0), dict[str, Any]()
    for claim in claims_about(network, tuple(ids)):
        assert isinstance(claim.certificate, Proof)
        found |= claim.certificate.document(network, generator)
    return found


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
    heading = {
        "format": DEEP,
        "about": f"{network}, computed natively by agattn {__version__}, for all t ≥ 2",
        "dims": list(network.dims),
        "ranks": list(network.ranks),
    }
    return _confirmed(network, [*DEEP_CLAIMS], heading, claims, verdicts)


def make_dimension_certificate(
    network: Network, claims: Sequence[str] = (), verdicts: Iterable[Verdict] = ()
) -> dict[str, Any]:
    """A certificate of the dimension of one layer with groups of heads, latents, or a state.

    A nonzero minor of a Jacobian and the orbits of the layer's group at the same weights meet.

    Args:
        network: of one layer without softmax, to which the theorem about such layers applies.
        claims: ids of claims, of which that theorem counts; all claims if there are none.
        verdicts: those that were found already: they must agree.

    Raises:
        InputError: if there is no such claim, the theorem does not apply, the layer has a softmax, or it is
            too large.
        DisagreementError: if a verdict given is another one, or if the checker rejects the certificate.

    >>> from agattn import Recurrence
    >>> document = make_dimension_certificate(Network([Recurrence(2, 2, "delta")], dim=4, tokens=3))
    >>> check(document)["claims"][0]["reason"].partition(",")[0]
    'confirmed: dim M = 22 = 24 − 2'
    """
    smaller = reduced(network)
    if smaller.degree is None:
        raise InputError(f"{network} has a softmax; no integers prove the dimension of its functions")
    if smaller.parameters > MOST_PARAMETERS:
        raise InputError(
            f"{network} uses {smaller.parameters} parameters; above {MOST_PARAMETERS} a certificate of the "
            "dimension takes too long to check"
        )
    heading = {
        "format": TODAY,
        "about": f"{network}, computed natively by agattn {__version__}",
    }
    return _confirmed(network, TODAY_CLAIMS, heading, claims, verdicts)


def _confirmed(
    network: DeepNetwork | Network,
    able: Sequence[str],
    heading: dict[str, Any],
    claims: Sequence[str],
    verdicts: Iterable[Verdict],
) -> dict[str, Any]:
    """A certificate of those of the claims that have one and are confirmed, after its heading."""
    mine = [claim.id for claim in claims_about(network) if claim.id in able]
    _uncertified(network, claims, mine)
    asked = [claim.id for claim in claims_about(network, tuple(claims)) if claim.id in mine]
    native = verify(network, asked, "native", force=True).verdicts
    _compare(network, native, verdicts)
    decided = [v.claim for v in native if v.status is Status.CONFIRMED]
    if not decided:
        raise InputError(f"{network} cannot be certified: {'; '.join(_reasons(native))}")
    document = heading | _proofs(network, [name for name in able if name in decided])
    return _accepted(document | _uncertified(network, claims, decided, native), str(network))


def _compare(layer: Architecture, native: Iterable[Verdict], others: Iterable[Verdict]) -> None:
    found = {verdict.claim: verdict.status for verdict in native}
    for verdict in others:
        mine = found.get(verdict.claim)
        if verdict.status in DECIDED and mine in DECIDED and verdict.status is not mine:
            raise DisagreementError(
                f"{layer.name}: {verdict.claim} is {verdict.status} by {verdict.engine}, but natively {mine}"
            )


def _absent(claim: Claim[Any], architecture: Architecture) -> str:
    """Why no certificate proves a claim: it does not apply, or the reason that its file says."""
    if failing := claim.failing_hypotheses(architecture):
        return _inapplicable(failing)
    return NO_PROOF if isinstance(claim.certificate, Proof) else claim.certificate


def _reasons(verdicts: Iterable[Verdict]) -> list[str]:
    """Why claims are not confirmed, each reason once, after the claims that have it."""
    claims = dict[str, list[str]]()
    for v in verdicts:
        claims.setdefault(_undecided(v).rstrip("."), []).append(v.claim)
    return [f"{', '.join(names)}: {reason}" for reason, names in claims.items()]


def _inapplicable(hypotheses: Iterable[str]) -> str:
    return f"it does not apply: it assumes {' and '.join(hypotheses)}"[:LETTERS]


def _undecided(verdict: Verdict) -> str:
    if verdict.assumes:
        return _inapplicable(verdict.assumes)
    return f"it is {verdict.status}: {' '.join(verdict.witness.split())}"[:LETTERS]


def _claim(layer: SingleLayer, verdict: Verdict) -> dict[str, Any]:
    """The verdict, with the strata where the claim fails; or the reason why it is not certified."""
    [claim] = claims_about(layer, (verdict.claim,))
    proof, reason = claim.certificate, ""
    if verdict.status not in DECIDED or verdict.evidence is not Evidence.PROVED:
        reason = _undecided(verdict)
    elif not isinstance(proof, Proof) or verdict.claim not in CERTIFIABLE:
        reason = _absent(claim, layer)
    elif verdict.status is Status.REFUTED and not verdict.fails_at:
        reason = "it is refuted in a way that no certificate is known for"
    elif not CERTIFIABLE[verdict.claim].applies(CheckedLayer(layer.d, layer.d_out, layer.alpha)):
        reason = "a certificate has a = min(a, d), for which the hypotheses of this claim fail"
    if reason or not isinstance(proof, Proof):
        return {"id": verdict.claim, "certificate": None, "reason": reason}
    fails_at = [[s.r_v, s.r_a, s.r] for s in sorted(verdict.fails_at)]
    return {"id": verdict.claim, "verdict": verdict.status.value, "fails_at": fails_at} | proof.record(
        verdict
    )


def _stratum(layer: SingleLayer, stratum: Stratum, with_spaces: bool) -> dict[str, Any]:
    """The proof of the facts about one stratum; the checker needs every number."""
    A, V = representative(layer, stratum)
    bounds = tangent_bounds(layer, stratum)
    record: dict[str, Any] = {
        "ranks": [stratum.r_v, stratum.r_a, stratum.r],
        "A": entries(A),
        "V": entries(V),
        "y": _point(representative_point(layer, stratum)),
    }
    if bounds.fiber is None:
        raise DisagreementError(f"{layer.name} at {stratum}: a nonzero stratum without a fiber")
    if len(bounds.fiber.points) > 1:
        pairs = ([entries(point.A), entries(point.V)] for point in bounds.fiber.points)
        [record["second"]] = [pair for pair in pairs if pair != [record["A"], record["V"]]]
    direction = stratum_criticality(layer, stratum).direction
    if direction is not None:
        scale = lcm(*(Fraction(x).denominator for part in direction for row in part for x in row))
        record["critical"] = [entries(part, scale) for part in direction]
    sequence = boundary(layer, stratum).sequence
    if sequence is not None:
        record["approach"] = _point(dict(sequence.linear))
    if bounds.lower > bounds.dimension:
        record["tangent"] = bounds.lower
        record["arcs"] = [_arc(arc) for arc in bounds.arcs]
    if bounds.equations and (with_spaces or bounds.upper == bounds.dimension):
        record["equations"] = [_equation(equation) for equation in bounds.equations]
    return record


def _point(y: Vector) -> list[Entry]:
    return [[*name, value] for name, value in sorted(y.items())]


def _arc(arc: Arc) -> dict[str, list[Entry]]:
    """An arc, and its expansion without the constant term."""
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
    for row, found in K.items():
        place = first.setdefault(found, row)
        sums[place] = sums.get(place, frozenset()) | Q.get(row, frozenset())
    return sums, {row: found for found, row in first.items()}


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
