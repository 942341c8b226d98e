"""What is claimed about the number of critical points of the squared loss."""

from __future__ import annotations

from typing import NamedTuple

from agattn.architectures import SingleLayer
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import TWO_TOKENS
from agattn.errors import UndecidedError
from agattn.geometry.critical_points.affine_charts import affine_chart
from agattn.geometry.critical_points.ed_degree import generic_ed_degree
from agattn.geometry.critical_points.elimination import eliminate
from agattn.geometry.critical_points.loss import loss
from agattn.systems.task import Task


class EDDegrees(NamedTuple):
    """Numbers of critical points on the smooth part: of the loss of data, and in the Bombieri–Weyl norm."""

    generic: int
    bombieri_weyl: int


ONE_PARAMETER = Hypothesis[SingleLayer]("d = 2 and d' = 1", lambda layer: (layer.d, layer.d_out) == (2, 1))
HYPOTHESES = (TWO_TOKENS, ONE_PARAMETER)


def predicted_ed_degrees(layer: SingleLayer) -> EDDegrees:
    """The numbers by the theorems; for a = 1 M̄ is the cone of 2 × 3 matrices of rank one (Eckart and Young).

    >>> predicted_ed_degrees(SingleLayer(2, 1)), predicted_ed_degrees(SingleLayer(2, 1, a=1))
    (EDDegrees(generic=14, bombieri_weyl=4), EDDegrees(generic=10, bombieri_weyl=2))
    """
    return EDDegrees(generic_ed_degree(layer), (3**layer.d - 1) // 2 if layer.a >= layer.d else 2)


def _count(layer: SingleLayer, seed: int) -> EDDegrees:
    """The numbers of roots of the equation for the one parameter that is left, which are all simple."""
    numbers = []
    for metric in ("generic", "bombieri-weyl"):
        found = eliminate(affine_chart(layer), loss(layer, metric, seed=seed))
        if found is None or any(multiplicity > 1 for _, multiplicity in found.roots):
            raise UndecidedError(f"the random loss of seed {seed} is special; use another seed")
        numbers.append(len(found.roots))
    return EDDegrees(*numbers)


NUMBERS = Task(
    "learning-degree", "the critical points of two losses", SingleLayer, _count,
    infeasible=lambda layer: "" if all(h.holds(layer) for h in HYPOTHESES) else "counting is left to engines",
)  # fmt: skip


def _judge(layer: SingleLayer, findings: Findings) -> Outcome:
    found = findings.need(NUMBERS)
    expected = predicted_ed_degrees(layer)
    witness = (
        f"eliminating all but one parameter leaves equations with {found.generic} and {found.bombieri_weyl} "
        "simple roots, for the random losses of the seed"
    )
    shown = f"{found.generic}, Bombieri–Weyl: {found.bombieri_weyl}"
    return Outcome(found == expected, found, witness, shown)


CLAIMS = (
    Claim(
        "agattn.learning-degree",
        "The squared loss of some random integer data has as many critical points on the smooth part of M̄ as "
        "that of general data, by the theorem; and so has a random distance in the Bombieri–Weyl norm",
        r"(-1)^{D} \int_X \frac{c(T_X)}{(1+h)(1+2h)}, \quad \frac{3^d - 1}{2}",
        "agattn",
        HYPOTHESES,
        (NUMBERS,),
        predicted_ed_degrees,
        _judge,
        beyond=False,
    ),
)
