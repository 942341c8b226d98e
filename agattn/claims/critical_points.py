"""What is claimed about the number of critical points of the squared loss."""

from __future__ import annotations

from typing import NamedTuple

from agattn.architectures import SingleLayer
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import TWO_TOKENS
from agattn.errors import UndecidedError
from agattn.geometry.critical_points.ed_degree import (
    BOMBIERI_WEYL,
    GENERAL_DATA,
    MAX_OUT,
    bombieri_weyl_ed_degree,
    generic_ed_degree,
    size_of_sums,
)
from agattn.geometry.critical_points.elimination import equation
from agattn.geometry.critical_points.loss import loss
from agattn.limits import limits
from agattn.systems.problem import Task


class EDDegrees(NamedTuple):
    """Numbers of critical points on the smooth part: for general data, and in the Bombieri–Weyl norm.

    ``bombieri_weyl`` is ``None`` where no theorem gives the number.
    """

    generic: int
    bombieri_weyl: int | None


#: Sums are done up to so many multiplications: seconds.
MAX_SUMS = 2 * 10**7

FEW_OUTPUTS = Hypothesis[SingleLayer](
    f"d' ≤ {MAX_OUT} or d = 1", lambda layer: layer.d_out <= MAX_OUT or layer.d == 1
)
HYPOTHESES = (TWO_TOKENS, FEW_OUTPUTS)


def predicted_ed_degrees(layer: SingleLayer) -> EDDegrees:
    """The numbers by the theorems.

    >>> predicted_ed_degrees(SingleLayer(2, 1)), predicted_ed_degrees(SingleLayer(2, 1, a=1))
    (EDDegrees(generic=14, bombieri_weyl=4), EDDegrees(generic=10, bombieri_weyl=2))
    >>> predicted_ed_degrees(SingleLayer(3, 2, a=2))
    EDDegrees(generic=143802, bombieri_weyl=None)
    """
    return EDDegrees(generic_ed_degree(layer), bombieri_weyl_ed_degree(layer))


def _is_counted(layer: SingleLayer) -> bool:
    return (layer.d, layer.d_out) == (2, 1)


def _count(layer: SingleLayer) -> EDDegrees:
    """The numbers of random losses, by eliminating all parameters but one."""
    numbers = []
    for metric, general in predicted_ed_degrees(layer)._asdict().items():
        name = metric.replace("_", "-")
        found = equation(layer, loss(layer, name, seed=limits().seed)).number()
        if found is None or found < general:
            raise UndecidedError(
                f"the random loss of seed {limits().seed} ({name}) is special; use another seed"
            )
        numbers.append(found)
    return EDDegrees(*numbers)


def _infeasible(layer: SingleLayer) -> str:
    if not all(hypothesis.holds(layer) for hypothesis in HYPOTHESES):
        return "counting is left to engines"
    return "" if size_of_sums(layer) <= MAX_SUMS else "the sums of the theorem on general data take long"


NUMBERS = Task(
    "learning-degree",
    "the critical points of two losses",
    SingleLayer,
    _count,
    infeasible=lambda layer: _infeasible(layer) if _is_counted(layer) else "counting is left to engines",
)
THEOREM = Task(
    "learning-degree-theorem",
    "the numbers of critical points",
    SingleLayer,
    predicted_ed_degrees,
    by="theorem",
    infeasible=lambda layer: "the critical points are counted" if _is_counted(layer) else _infeasible(layer),
)


def _judge(layer: SingleLayer, findings: Findings) -> Outcome:
    if _is_counted(layer):
        found, expected = findings.need(NUMBERS), predicted_ed_degrees(layer)
    else:
        found = expected = findings.need(THEOREM)
    norm = found.bombieri_weyl
    witness = f"by theorem {GENERAL_DATA} general data have {expected.generic}"
    witness += (
        "" if norm is None else f", by theorem {BOMBIERI_WEYL} general targets {expected.bombieri_weyl}"
    )
    theorems = [GENERAL_DATA] + ([] if norm is None else [BOMBIERI_WEYL])
    details: dict[str, object] = {"theorems": theorems}
    if _is_counted(layer):
        witness += (
            f"; eliminating all but one parameter leaves {found.generic} and {norm} for the random losses of "
            "the seed"
        )
    else:
        details["scope"] = "nowhere by counting, as the numbers are those of the theorems"
    shown = f"{found.generic}" + ("" if norm is None else f", Bombieri–Weyl: {norm}")
    return Outcome(found == expected, found, witness, shown, details=details)


CLAIMS: tuple[Claim[SingleLayer], ...] = (
    Claim(
        "agattn.learning-degree",
        "The squared loss of general data with enough samples has as many critical points on the smooth "
        "part of M̄ as the theorem says: the integral for d' = 1 and a ≥ 2, the integral with corrections "
        "otherwise. The distance to a general target in the Bombieri–Weyl norm has (3^d - 1)/2 for d' = 1 "
        "and a ≥ d, and 2 for (2,1,1)",
        r"(-1)^{D} \int_X \frac{c(T_X)}{(1+h)(1+2h)} \text{ for } d' = 1,\ a \geq 2, \quad "
        r"\frac{3^d - 1}{2} \text{ for } d' = 1,\ a \geq d",
        "agattn",
        HYPOTHESES,
        (THEOREM, NUMBERS),
        lambda layer: None if _infeasible(layer) else predicted_ed_degrees(layer),
        _judge,
        certificate="the checker counts no critical points",
        beyond=False,
    ),
)
