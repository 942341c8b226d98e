"""Certificates: integers from which anyone can verify the verdicts about one layer again.

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
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

from agattn._version import __version__
from agattn.algebra.echelon import Matrix
from agattn.algebra.polynomial import Polynomial
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.checker import CLAIMS as CERTIFIABLE
from agattn.checker import FORMAT, HEADS, LEARNING, LETTERS, UnreadableError, check, described
from agattn.checker import Layer as CheckedLayer
from agattn.claims import CLAIMS
from agattn.errors import DisagreementError, InputError
from agattn.evidence import Evidence, Shown, Status, Verdict
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.singularities.learning_coefficients import points
from agattn.geometry.singularities.normal_form import NormalForm, joint_ranks, normal_form
from agattn.geometry.singularities.several_heads import closedness
from agattn.geometry.strata.boundary import boundary
from agattn.geometry.strata.critical import stratum_criticality
from agattn.geometry.strata.strata import Stratum, representative, require_two_tokens, strata
from agattn.geometry.strata.tangent import Arc, Vector, representative_point, tangent_bounds
from agattn.verification.verify import Settings, verify

DECIDED = (Status.CONFIRMED, Status.REFUTED)
Entry = list[int]
#: Learning coefficients are certified up to so many coordinates: at M(4,4,4) the file has 5 MB.
MOST_CERTIFIED = 160


class Certificate(Shown, dict[str, Any]):
    """A certificate: a JSON document that prints as a summary."""

    def __str__(self) -> str:
        if self["format"] == HEADS:
            return f"Certificate: {self['about'].partition(', computed')[0]} that is no function of it"
        claims = self["claims"]
        words = [claim["verdict"] for claim in claims if "verdict" in claim]
        counts = ", ".join(f"{words.count(word)} {word}" for word in ("confirmed", "refuted"))
        about = self["about"].split(":")[0]
        return f"Certificate of {about}, t ≥ 2: {len(claims)} claims, {len(words)} certified ({counts})"

    def save(self, path: str | Path) -> None:
        """Write the document into a file, for ``agattn check``."""
        Path(path).write_text(dump(self) + "\n", encoding="utf-8")


class Checked(Shown, dict[str, Any]):
    """What the checker found: ``valid``, ``flaw``, ``layer``, ``claims``; prints as the command line does."""

    def __str__(self) -> str:
        return described(self)


def make_certificate(
    layer: SingleLayer, claims: Sequence[str] = (), verdicts: Iterable[Verdict] = ()
) -> dict[str, Any]:
    """A certificate of the verdicts on some claims about a layer with t ≥ 2.

    Args:
        layer: the architecture.
        claims: their ids; all of them if there are none.
        verdicts: those that were found already, with an engine perhaps: they must agree.

    Raises:
        InputError: if there is no such claim, if t = 1, where no claim applies, or if the layer is too large.
        DisagreementError: if a verdict given is another one, or if the checker rejects the certificate.
    """
    if not layer.has_orbits:
        raise InputError("t is 1, where no claim applies; there is nothing to certify for less than 2 tokens")
    native = verify(layer, claims, Settings(engine="native", force=True)).verdicts
    _compare(layer, native, verdicts)
    with_spaces = any("spaces" in (CLAIMS[verdict.claim].certificate or ()) for verdict in native)
    document: dict[str, Any] = {
        "format": FORMAT,
        "about": f"{layer}, computed natively by agattn {__version__}; a stands for min(a, d)",
        "d": layer.d,
        "d_out": layer.d_out,
        "a": layer.alpha,
        "dimension": layer.expected_dimension,
        "strata": [_stratum(layer, s, with_spaces) for s in strata(layer) if not s.is_zero],
        "claims": [_claim(layer, verdict) for verdict in native],
    }
    try:
        flaw = check(document)["flaw"]
    except UnreadableError as error:
        raise InputError(f"{layer} cannot be certified: {error}") from error
    if flaw and any("certificate" not in claim for claim in document["claims"]):
        raise DisagreementError(f"{layer}: the checker rejects the certificate: {flaw}")
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
    try:
        flaw = check(document)["flaw"]
    except UnreadableError as error:
        raise InputError(f"{layer} cannot be certified: {error}") from error
    if flaw:
        raise DisagreementError(f"{layer}: the checker rejects the certificate: {flaw}")
    return document


def make_heads_certificate(network: DeepNetwork) -> dict[str, Any]:
    """A certificate that the functions of one layer of several heads are no closed set: a limit outside.

    Raises:
        InputError: if they are one, if that is not known, or if the network is another or too large.
        DisagreementError: if the checker rejects the certificate.

    >>> check(make_heads_certificate(DeepNetwork((3, 1), (1,), t=2, heads=2)))["claims"][0]["reason"]
    'confirmed: M(3,1,1) with 2 heads is not closed: y is a limit of sums of 2 heads, and none.'
    """
    found = closedness(network)
    if found.limit is None:
        raise InputError(f"{found}; a certificate shows a limit outside M, and there is none to show")
    (d, d_out), [a], [h] = network.dims, network.ranks, network.heads_by_layer
    document: dict[str, Any] = {
        "format": HEADS,
        "about": f"a limit of {network}, computed natively by agattn {__version__}",
        **{"d": d, "d_out": d_out, "a": min(a, d), "h": h},
        **found.limit.as_json(),
    }
    try:
        flaw = check(document)["flaw"]
    except UnreadableError as error:
        raise InputError(f"{network} cannot be certified: {error}") from error
    if flaw:
        raise DisagreementError(f"{network}: the checker rejects the certificate: {flaw}")
    return document


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


def _compare(layer: SingleLayer, native: Iterable[Verdict], others: Iterable[Verdict]) -> None:
    found = {verdict.claim: verdict.status for verdict in native}
    for verdict in others:
        mine = found.get(verdict.claim)
        if verdict.status in DECIDED and mine in DECIDED and verdict.status is not mine:
            raise DisagreementError(
                f"{layer}: {verdict.claim} is {verdict.status} by {verdict.engine}, but natively {mine}"
            )


def _claim(layer: SingleLayer, verdict: Verdict) -> dict[str, Any]:
    """The verdict, with the strata where the claim fails; or the reason why it is not certified."""
    holds = CLAIMS[verdict.claim].certificate
    reason = ""
    if verdict.status not in DECIDED or verdict.evidence is not Evidence.PROVED:
        reason = f"it is {verdict.status}: {' '.join(verdict.witness.split())}"[:LETTERS]
    elif holds is None:
        reason = "the checker knows no proof of it by finitely many integers"
    elif not CERTIFIABLE[verdict.claim].applies(CheckedLayer(layer.d, layer.d_out, layer.alpha)):
        reason = "a certificate has a = min(a, d), for which the hypotheses of this claim fail"
    if reason or holds is None:
        return {"id": verdict.claim, "certificate": None, "reason": reason}
    if verdict.status is Status.REFUTED and not verdict.fails_at:
        raise DisagreementError(f"{verdict.claim} is refuted in a way that no certificate is known for")
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
