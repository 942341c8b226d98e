"""Certificates: integers from which anyone can verify verdicts about a layer or a deep network again.

A certificate always comes from the native computation, whatever engine decided first, and is checked by
``agattn.checker`` before it is handed out.

>>> from agattn import SingleLayer
>>> document = certify(SingleLayer(3, 2, 2), ["theorem-3.4.singular"])
>>> document["claims"][0]["verdict"], document["claims"][0]["fails_at"]
('refuted', [[2, 1, 2], [2, 1, 3]])
>>> [claim["valid"] for claim in checker.check(document)["claims"]]
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

from agattn import checker
from agattn._version import __version__
from agattn.architectures import Architecture, DeepNetwork, Network, SingleLayer, as_attention
from agattn.architectures.model_file import Studied
from agattn.claims import claims_about
from agattn.claims.claim import NO_PROOF, Claim, Entry, Proof, entries
from agattn.errors import DisagreementError, InputError, TooLargeError
from agattn.evidence import Evidence, Status, Verdict
from agattn.files import write
from agattn.geometry.dimension.formulas import reduced
from agattn.geometry.dimension.theorems import one_layer
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.strata.critical import stratum_criticality
from agattn.geometry.strata.strata import Stratum, representative, require_two_tokens, strata
from agattn.geometry.strata.tangent import Arc, Vector, representative_point, tangent_bounds
from agattn.sheet.data import Cell, Sheet, Table, Wide, Word
from agattn.sheet.result import Described, Key, Result
from agattn.verification.coq import as_coq
from agattn.verification.verify import verify

#: Verdicts on layers are certified up to so many coordinates: then the native facts take up to a minute.
#: Networks are certified up to the size that the checker reads.
MOST_COORDINATES = 2500
DECIDED = (Status.CONFIRMED, Status.REFUTED)
#: Learning coefficients are certified up to so many coordinates: at M(4,4,4) the file has 5 MB.
MOST_CERTIFIED = 160
#: The claim about learning coefficients of softmax heads, which is certified alone.
_SOFTMAX = "agattn.learning-coefficient-softmax"
#: Dimensions are certified up to so many parameters: then the checker takes half a minute.
MOST_PARAMETERS = 400


class Certificate(Described, dict[str, Any]):
    """A certificate: a JSON document that prints as a summary."""

    def as_json(self) -> dict[str, Any]:
        """The document itself."""
        return dict(self)

    def sheet(self) -> Sheet:
        """The verdict on each claim, or why it has none."""
        fails_at = {claim["id"]: claim.get("fails_at", []) for claim in self["claims"]}
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name, Word(word), " ".join(str(tuple(s)).replace(" ", "") for s in fails_at[name]))
            for name, word in self.verdicts.items()
        )
        rows += tuple((name, Word("not certified"), reason) for name, reason in self.uncertified.items())
        table = Table(self.summary(), ("claim", "verdict", Wide("fails at, or why not")), rows)
        return Sheet(self.summary(), (table,))

    def summary(self) -> str:
        """What is certified, in a line."""
        words = [claim["verdict"] for claim in self["claims"] if "verdict" in claim]
        counts = ", ".join(f"{words.count(word)} {word}" for word in ("confirmed", "refuted"))
        number = len(self["claims"])
        about = self["about"].partition(", computed")[0]
        if "layer" not in self:
            about = f"{about.partition(':')[0].partition(', t = ')[0]}, t ≥ 2"
        claims = f"{number} claim{'s' * (number != 1)}"
        return f"Certificate of {about}: {claims}, {len(words)} certified ({counts})"

    @property
    def uncertified(self) -> dict[str, str]:
        """The claims that were asked for and are not certified, each with the reason."""
        return {claim["id"]: claim["reason"] for claim in self["claims"] if "reason" in claim}

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdicts that are certified, by claim."""
        return {claim["id"]: claim["verdict"] for claim in self["claims"] if "verdict" in claim}

    def text(self, ending: str) -> str:
        """The document as the text of a file: for Coq if its ending is ``".v"``, or for ``agattn check``.

        Raises:
            InputError: if Coq cannot check what it is about.
        """
        return as_coq(self) if ending == ".v" else dump(self) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the document into a file: with the ending ``.v`` for Coq, or for ``agattn check``.

        Raises:
            InputError: if Coq cannot check what it is about.
        """
        write(path, self.text(Path(path).suffix))


class CertifiedClaims(Result, name="certificate"):
    """A certificate, with what it proves and what it does not."""

    architecture: Key[Studied, "What the certificate is about."]
    file: Key[str | None, "Where the certificate was written; null where it was not."]
    certified: Key[Mapping[str, str], "The verdicts that the certificate proves, by claim."]
    uncertified: Key[Mapping[str, str], "The other claims that were asked for, each with the reason."]
    certificate: Key[Mapping[str, Any], "The certificate, which `agattn check` reads from a file of its own."]

    @classmethod
    def of(cls, architecture: Any, made: Certificate, file: str | None) -> CertifiedClaims:
        """The document about a certificate that was written into a file, or nowhere."""
        return cls(architecture, file, made.verdicts, made.uncertified, made.as_json())

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
        claims: their ids; none for all. ``"agattn.learning-coefficient"`` alone, or the same ``-softmax``, is
            certified at all weights.

    Raises:
        InputError: for t = 1, for another model, if there is no such claim, or where no claim can be
            certified.

    See Also:
        :func:`agattn.check`, :func:`agattn.verify`; ``agattn certificate`` in a shell.

    >>> import agattn as ag
    >>> ag.certificate(ag.SingleLayer(2, 1), "theorem-3.4")
    Certificate of M(2,1,2), t ≥ 2: 3 claims, 3 certified (3 confirmed, 0 refuted)
    >>> ag.certificate(ag.DeepNetwork((3, 3, 2), (3, 3), t=3))
    Certificate of M(3,3,2; 3,3), t ≥ 2: 21 claims, 5 certified (5 confirmed, 0 refuted)
    """
    ids = [claims] if isinstance(claims, str) else list(claims)
    if isinstance(layer, SingleLayer) and ids in (["agattn.learning-coefficient"], [_SOFTMAX]):
        return make_learning_certificate(layer, ids == [_SOFTMAX])
    return certify(layer, ids)


def certify(
    architecture: Architecture, claims: Sequence[str] = (), verdicts: Iterable[Verdict] = ()
) -> Certificate:
    """A certificate of those of the claims that have a proof; the certificate names the other claims.

    Args:
        architecture: a layer, a network, or a model that is one of these.
        claims: their ids; all of them if there are none.
        verdicts: those that were found already, with an engine perhaps: they must agree.

    Raises:
        InputError: if none of the claims has a certificate or is decided, or as :func:`check_certifiable`.
        DisagreementError: if a verdict given is another one, or if the checker rejects the certificate.

    >>> network = DeepNetwork((3, 3, 2), (3, 3), t=3)
    >>> found = certify(network, ["agattn.deep-zeros", "corollary-3.8"])
    >>> print(found)
    Certificate of M(3,3,2; 3,3), t ≥ 2: 2 claims, 1 certified (1 confirmed, 0 refuted)
    >>> [*found.verdicts], [*found.uncertified]
    (['agattn.deep-zeros'], ['corollary-3.8'])
    """
    subject = as_attention(architecture)
    check_certifiable(subject, claims)
    chosen, kind = claims_about(subject, tuple(claims)), _kind(subject)
    able = {claim.id: claim.certificate for claim in chosen if claim.id in kind.RECORDS}
    native = verify(subject, [*able], "native", force=True).verdicts if able else ()
    _compare(subject, native, verdicts)
    judged, generator = {verdict.claim: verdict for verdict in native}, np.random.default_rng(0)
    records = [_record(subject, claim, judged.get(claim.id), generator) for claim in chosen]
    if not any("verdict" in record for record in records):
        reasons = _reasons(record for record in records if not able or record["id"] in able)
        raise InputError(f"{subject.name} cannot be certified: {'; '.join(reasons)}")
    document = {
        "format": checker.FORMAT,
        "about": f"{subject}, computed natively by agattn {__version__}",
        **_subject(subject, any(isinstance(proof, Proof) and proof.spaces for proof in able.values())),
        "claims": records,
    }
    return _accepted(document, str(subject))


def _kind(architecture: Architecture) -> type[checker.Subject]:
    """What the checker calls such an architecture."""
    if isinstance(architecture, DeepNetwork):
        several = architecture.depth == 1 and max(architecture.heads_by_layer) > 1
        return checker.Heads if several else checker.Deep
    return checker.Facts if isinstance(architecture, SingleLayer) else checker.Today


def _subject(architecture: Architecture, with_spaces: bool) -> dict[str, Any]:
    """What a certificate is about, and for a layer its strata."""
    if isinstance(architecture, SingleLayer):
        points = [_stratum(architecture, s, with_spaces) for s in strata(architecture) if not s.is_zero]
        sizes = {"d": architecture.d, "d_out": architecture.d_out, "a": architecture.alpha}
        return sizes | {"dimension": architecture.expected_dimension, "strata": points}
    if isinstance(architecture, DeepNetwork):
        dims, ranks = list(architecture.dims), list(architecture.ranks)
        if _kind(architecture) is checker.Deep:
            return {"dims": dims, "ranks": ranks}
        sizes = {"d": dims[0], "d_out": dims[1], "a": min(ranks[0], dims[0])}
        return sizes | {"h": architecture.heads_by_layer[0]}
    single = one_layer(architecture)
    assert single is not None  # a claim is about it
    network = reduced(single)
    layer = {key: value for key, value in network.layers[0].as_json().items() if value is not None}
    return {"layer": layer, "d": network.dim, "t": network.t}


def _record(
    architecture: Architecture, claim: Claim[Any], verdict: Verdict | None, generator: np.random.Generator
) -> dict[str, Any]:
    """The verdict on a claim with its proof; or the reason why it is not certified."""
    proof, kind, reason = claim.certificate, _kind(architecture), ""
    if verdict is None or not isinstance(proof, Proof):
        reason = _absent(claim, architecture)
    elif verdict.status not in DECIDED or (kind is checker.Facts and verdict.evidence is not Evidence.PROVED):
        reason = _undecided(verdict)
    elif verdict.status is Status.REFUTED and not verdict.fails_at:
        reason = "it is refuted in a way that no certificate is known for"
    elif isinstance(architecture, SingleLayer) and not checker.CLAIMS[claim.id].applies(
        checker.Layer(architecture.d, architecture.d_out, architecture.alpha)
    ):
        reason = "a certificate has a = min(a, d), for which the hypotheses of this claim fail"
    if reason or verdict is None or not isinstance(proof, Proof):
        return {"id": claim.id, "reason": reason}
    record: dict[str, Any] = {"id": claim.id, "verdict": verdict.status.value}
    if kind is checker.Facts:
        record |= {"fails_at": [[s.r_v, s.r_a, s.r] for s in sorted(verdict.fails_at)]}
    return record | proof.record(verdict) | proof.document(architecture, generator)


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
    given = as_attention(architecture)
    chosen = claims_about(given, tuple(claims))
    able = [claim.id for claim in claims_about(given) if isinstance(claim.certificate, Proof)]
    if not able:
        raise InputError(
            f"no claim about this {given.kind} has a certificate; layers and networks of attention have some"
        )
    if not any(claim.id in able for claim in chosen):
        names, have = ", ".join(claim.id for claim in chosen), "has" if len(chosen) == 1 else "have"
        raise InputError(f"{names} {have} no certificate; only {', '.join(able)} have one")
    if given.t < 2:
        raise InputError(f"t is {given.t}; a certificate needs t ≥ 2")
    size, most, what = given.parameters, checker.COORDINATES, "parameters"
    if isinstance(given, SingleLayer):
        size, most, what = given.ambient_dimension, MOST_COORDINATES, "coordinates"
    elif isinstance(given, Network):
        return _check_reduced(given)
    if size > most:
        raise TooLargeError(f"{given.name} has {size} {what}; certificates are made for at most {most}")


def _check_reduced(network: Network) -> None:
    """Refuse a softmax, and a layer that uses too many parameters."""
    smaller = reduced(network)
    if smaller.degree is None:
        raise InputError(f"{network} has a softmax; no integers prove the dimension of its functions")
    if smaller.parameters > MOST_PARAMETERS:
        raise InputError(
            f"{network} uses {smaller.parameters} parameters; above {MOST_PARAMETERS} a certificate of the "
            "dimension takes too long to check"
        )


def _accepted(document: dict[str, Any], about: str) -> Certificate:
    """The document, if the checker finds no flaw."""
    try:
        flaw = checker.check(document)["flaw"]
    except checker.UnreadableError as error:
        raise InputError(f"{about} cannot be certified: {error}") from error
    if flaw:
        raise DisagreementError(f"{about}: the checker rejects the certificate: {flaw}")
    return Certificate(document)


def make_learning_certificate(layer: SingleLayer, softmax: bool = False) -> Certificate:
    """A certificate of λ and m at every orbit of weights of a layer with t ≥ 2, by their normal forms.

    Raises:
        InputError: if t = 1, or the layer is too large.
        DisagreementError: if the checker rejects the certificate.

    >>> document = make_learning_certificate(SingleLayer(2, 1, 1))
    >>> checker.check(document)["claims"][-1]["reason"]
    'the learning coefficient is 2, of multiplicity 1'
    """
    from agattn.claims.learning_coefficients import germs

    if layer.ambient_dimension > MOST_CERTIFIED:
        raise InputError(
            f"{layer.name} has more than {MOST_CERTIFIED} coordinates; there a certificate of λ is too large"
        )
    require_two_tokens(layer)
    document: dict[str, Any] = {
        "format": checker.FORMAT,
        "about": f"learning coefficients of {layer}, computed natively by agattn {__version__}",
        "d": layer.d,
        "d_out": layer.d_out,
        "a": layer.a,
        "head": "softmax" if softmax else "lightning",
        "claims": [{"id": "point", "verdict": "confirmed", **germ} for germ in germs(layer, softmax)],
    }
    return _accepted(document, str(layer))


def _compare(layer: Architecture, native: Iterable[Verdict], others: Iterable[Verdict]) -> None:
    statuses = {verdict.claim: verdict.status for verdict in native}
    for verdict in others:
        mine = statuses.get(verdict.claim)
        if verdict.status in DECIDED and mine in DECIDED and verdict.status is not mine:
            raise DisagreementError(
                f"{layer.name}: {verdict.claim} is {verdict.status} by {verdict.engine}, but natively {mine}"
            )


def _absent(claim: Claim[Any], architecture: Architecture) -> str:
    """Why no certificate proves a claim: it does not apply, or the reason that its file says."""
    if failing := claim.failing_hypotheses(architecture):
        return _inapplicable(failing)
    return NO_PROOF if isinstance(claim.certificate, Proof) else claim.certificate


def _reasons(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Why claims are not certified, each reason once, after the claims that have it."""
    claims = dict[str, list[str]]()
    for record in records:
        claims.setdefault(record["reason"].rstrip("."), []).append(record["id"])
    return [f"{', '.join(names)}: {reason}" for reason, names in claims.items()]


def _inapplicable(hypotheses: Iterable[str]) -> str:
    return f"it does not apply: it assumes {' and '.join(hypotheses)}"[: checker.LETTERS]


def _undecided(verdict: Verdict) -> str:
    if verdict.assumes:
        return _inapplicable(verdict.assumes)
    return f"it is {verdict.status}: {' '.join(verdict.witness.split())}"[: checker.LETTERS]


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
    for row, vector in K.items():
        equal = first.setdefault(vector, row)
        sums[equal] = sums.get(equal, frozenset()) | Q.get(row, frozenset())
    return sums, {row: vector for vector, row in first.items()}


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
