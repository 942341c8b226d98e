"""The project's own claim about the Hilbert function for d = 2."""

from __future__ import annotations

from agattn.architectures import SingleLayer
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.errors import TooLargeError, UndecidedError
from agattn.evidence import Evidence, weakest
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import compute_ideal

#: The degree to which the claim is checked: a second; the tests go on to 12.
CHECKED_DEGREE = 8

#: The degree to which values are shown where nothing is claimed.
SHOWN_DEGREE = 3

TWO_DIMENSIONAL: Hypothesis[SingleLayer] = Hypothesis(
    "d = 2 and t ≥ 2", lambda layer: layer.d == 2 and layer.t >= 2
)


def _predict(layer: SingleLayer) -> list[int] | None:
    if not TWO_DIMENSIONAL.holds(layer):
        return None
    return [double_locus_bound(layer, n) for n in range(CHECKED_DEGREE + 1)]


def _judge(layer: SingleLayer, findings: Findings) -> Outcome:
    if not TWO_DIMENSIONAL.holds(layer):
        return _elsewhere(layer)
    # The rank mod p that fails to meet the bound would be modular; one that meets it is a proof.
    if double_locus_bound_is_sharp(layer.alpha, CHECKED_DEGREE):
        witness = f"functions of every weight, as many as the bound allows, in degrees up to {CHECKED_DEGREE}"
        return Outcome(True, _predict(layer), witness, Evidence.PROVED)
    return Outcome(
        False, None, f"a weight space of degree at most {CHECKED_DEGREE} is smaller", Evidence.MODULAR
    )


def _elsewhere(layer: SingleLayer) -> Outcome:
    """The first values for a layer about which nothing is claimed."""
    try:
        ideal = compute_ideal(layer, SHOWN_DEGREE)
    except TooLargeError as error:
        raise UndecidedError(str(error)) from error
    values = [ideal.hilbert_function(n) for n in range(SHOWN_DEGREE + 1)]
    evidence = weakest(piece.evidence for piece in ideal.degrees)
    return Outcome(False, values, f"values in degrees up to {SHOWN_DEGREE}", evidence)


HILBERT_FUNCTION = Claim(
    "agattn.hilbert-function",
    f"For d = 2, in degrees up to {CHECKED_DEGREE}, the functions on M̄ are those on the source that agree on "
    "the preimages of points of rank one",
    r"h_{\overline{\mathcal{M}}}(n) = \binom{n+2d'-1}{n} h_{D_\alpha}(n)"
    r" - \binom{n+d'-1}{n} (n+1) \binom{n+1}{2}",
    "agattn",
    (TWO_DIMENSIONAL,),
    (),
    _predict,
    _judge,
)
