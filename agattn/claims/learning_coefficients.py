"""What this project says about learning coefficients: the formula, point by point against the normal form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

from agattn.architectures import SingleLayer
from agattn.claims.claim import TWO_TOKENS, Claim, Findings, Outcome
from agattn.errors import DisagreementError
from agattn.geometry.learning_coefficients.learning_coefficients import (
    CoefficientPoint,
    LearningCoefficient,
    learning_coefficients,
    points,
)
from agattn.geometry.learning_coefficients.normal_form import NormalForm, Sparse, joint_ranks, normal_form
from agattn.geometry.strata.strata import Stratum
from agattn.systems.problem import Task

#: All orbits of weights are checked up to so many coordinates; beyond it those of least λ for each stratum.
MOST_COORDINATES = 60
#: Layers with more coordinates are not checked: their identities have too many terms.
MOST_CHECKED = 200


class CoefficientAtRanks(NamedTuple):
    """λ and m at weights of these ranks."""

    stratum: Stratum
    rank_k: int
    rank_q: int
    rank_vk: int
    value: Fraction
    multiplicity: int

    def __str__(self) -> str:
        return f"{self.stratum}: {self.value}" + f" ({self.multiplicity})" * (self.multiplicity > 1)


def _orbits(
    layer: SingleLayer, kinds: Iterable[CoefficientPoint]
) -> Iterator[tuple[tuple[Stratum, int, int, int], LearningCoefficient]]:
    """The ranks of the orbits of weights of some kinds, and λ and m by the formula."""
    for point in kinds:
        ranks = point.stratum, point.rank_k or 0, point.rank_q or 0
        for rank_vk in joint_ranks(layer, point.stratum, point.rank_k or 0):
            yield (*ranks, rank_vk), point.coefficient


@lru_cache(maxsize=2)
def _predicted(layer: SingleLayer, *, softmax: bool) -> tuple[CoefficientAtRanks, ...]:
    """λ and m by the formula at the orbits of weights at which it is checked."""
    kinds: Iterable[CoefficientPoint] = points(layer, softmax)
    if layer.ambient_dimension > MOST_COORDINATES:
        kinds = (least.point for least in learning_coefficients(layer, softmax).least)
    return tuple(
        CoefficientAtRanks(*ranks, coefficient.value, coefficient.multiplicity)
        for ranks, coefficient in _orbits(layer, kinds)
    )


def _by_normal_form(layer: SingleLayer, softmax: bool) -> tuple[CoefficientAtRanks, ...]:
    """λ and m of the normal form at each kind of weights.

    Raises:
        DisagreementError: if one of the identities that prove the normal form does not hold.
    """
    found = []
    for expected in _predicted(layer, softmax=softmax):
        form = normal_form(layer, *expected[:4], softmax=softmax)
        if flaw := form.flaw():
            raise DisagreementError(f"{layer.name}: the normal form at {form.expected}: {flaw}")
        found.append(CoefficientAtRanks(*expected[:4], *form.coefficient()))
    return tuple(found)


def _task(name: str, words: str, softmax: bool) -> Task[SingleLayer]:
    too_many = f"more than {MOST_CHECKED} coordinates: their identities were not computed"
    return Task(
        name,
        f"the normal forms of {words}",
        SingleLayer,
        lambda layer: _by_normal_form(layer, softmax),
        infeasible=lambda layer: "" if layer.ambient_dimension <= MOST_CHECKED else too_many,
    )


NORMAL_FORMS = _task("learning-coefficients", "one lightning layer", softmax=False)
SOFTMAX_FORMS = _task("learning-coefficients-softmax", "one softmax head", softmax=True)


def _judge(task: Task[SingleLayer], softmax: bool) -> Callable[[SingleLayer, Findings], Outcome]:
    def judge(layer: SingleLayer, findings: Findings) -> Outcome:
        found = findings.need(task)
        expected = _predicted(layer, softmax=softmax)
        wrong = tuple(x for x, y in zip(found, expected, strict=True) if x != y)
        values = sorted({x.value for x in found})
        words = f"λ {values[0]} to {values[-1]}, {len(found)} orbits"
        witness = (
            f"λ from {values[0]} to {values[-1]} at {len(found)} orbits of weights, by the normal form "
            "of the ideal at each, an exact identity of polynomials"
        )
        if wrong:
            witness = f"the normal form has other values than the formula: {', '.join(map(str, wrong))}"
        scope = {"scope": "at the weights of least λ of each stratum"}
        details = scope if layer.ambient_dimension > MOST_COORDINATES else {}
        failing = tuple(dict.fromkeys(x.stratum for x in wrong))
        return Outcome(not wrong, found, witness, words, failing, details)

    return judge


def germs(layer: SingleLayer, softmax: bool) -> list[dict[str, Any]]:
    """The normal forms at all orbits of weights as JSON, for a certificate of learning coefficients."""
    return [
        _germ(normal_form(layer, *ranks, softmax=softmax))
        for ranks, _ in _orbits(layer, points(layer, softmax))
    ]


def _germ(form: NormalForm) -> dict[str, Any]:
    """A normal form, with the multipliers that prove it."""
    value, multiplicity = form.coefficient()
    return {
        "ranks": list(form.expected),
        "variables": len(form.variables),
        **{
            name: [[_terms(x) for x in row] for row in rows]
            for name, rows in zip("KQV", form.weights, strict=True)
        },
        "free": list(form.free),
        "T": [list(row) for row in form.T],
        "N": [list(row) for row in form.N],
        "squares": list(form.squares),
        "multipliers": [
            [i, j, _terms(m)] for i, row in enumerate(form.multipliers) for j, m in sorted(row.items())
        ],
        "lambda": [value.numerator, value.denominator],
        "multiplicity": multiplicity,
    }


def _terms(polynomial: Sparse) -> list[list[int]]:
    """The terms of a polynomial: the coefficient, and the numbers of its variables, repeated."""
    return [[c, *monomial] for monomial, c in sorted(polynomial.items())]


CLAIMS: tuple[Claim[SingleLayer], ...] = tuple(
    Claim(
        name,
        f"The learning coefficient of {words} depends on rk K, rk Q and the stratum alone: a closed formula",
        latex,
        (TWO_TOKENS,),
        (task,),
        partial(_predicted, softmax=softmax),
        _judge(task, softmax),
        certificate=f"it is certified alone: agattn certificate --claim {name}",
        brief="{}",
    )
    for name, words, latex, task, softmax in (
        (
            "agattn.learning-coefficient",
            "a lightning layer",
            r"2\lambda = dd' - 1 + R(\kappa, \rho, r_A) - \tfrac{d-1}{2}\,[(1,1,1)]",
            NORMAL_FORMS,
            False,
        ),
        (
            "agattn.learning-coefficient-softmax",
            "a softmax head",
            r"2\lambda = dd' + R(\kappa, \rho, r_A)",
            SOFTMAX_FORMS,
            True,
        ),
    )
)
