r"""Brackets for learning coefficients: λ between two bounds, at any weights of any polynomial architecture.

At weights w₀ with n parameters let the fiber be the set of weights with the same function. Then

.. math:: \tfrac12 \operatorname{rk} d\varphi(w_0) ≤ λ ≤ \tfrac12 (n − \dim_{w_0} \text{fiber}),

and where the two are equal, the fiber is smooth there and m = 1. The rank is bounded from below modulo a
prime, the dimension of the fiber by :mod:`~agattn.geometry.identifiability.families`. Where they do not meet
and the architecture is small, the ideal of φ(w) − φ(w₀) is written down on a slice through the orbit of the
symmetries, and :mod:`~agattn.geometry.learning_coefficients.newton` splits off free coordinates and
bounds the rest. Of a product of two matrices λ is known at all weights. The page on learning coefficients
has the proofs.

Of a softmax network the coefficients of a jet are among those of the function, so that λ of the network is at
least λ of the jet. The fiber is that of the network (:mod:`~agattn.geometry.identifiability.network_fibers`).

>>> from agattn import DeepNetwork
>>> one = [[1, 0], [0, 1]]
>>> weights = {"K_1": one, "Q_1": [[1, 2], [2, 4]], "V_1": one, "K_2": one, "Q_2": [[1, 1], [0, 1]],
...            "V_2": [[1, 2], [0, 1]]}
>>> found = bracket(DeepNetwork((2, 2, 2), (2, 2), t=3), weights)
>>> found
λ = 9/2, m = 1 (proved)
>>> for reason in found.reasons:
...     print(reason)
at least 9/2: the differential has rank 9
at most 9/2: the fiber has dimension 15 of 24: 14 by the symmetries, and 1 more where φ is constant
the bounds meet: the fiber is smooth, and m = 1
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb, floor
from typing import Any

import numpy as np

from agattn.algebra.echelon import rational_matrix
from agattn.algebra.polynomial import Exponents, Polynomial, PolynomialRing, Variable
from agattn.algebra.residues import nonzero_minor
from agattn.architectures import Architecture, Jet, Network
from agattn.architectures.layered import Place
from agattn.architectures.model_file import Studied
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.identifiability.families import (
    MOST_PARAMETERS,
    ExactWeights,
    general_inputs,
    rank_and_bound,
    widest_family,
    with_all_symmetries,
)
from agattn.geometry.identifiability.network_fibers import network_fiber
from agattn.geometry.learning_coefficients.learning_coefficients import MatrixProduct, product_at_zero
from agattn.geometry.learning_coefficients.newton import Reading, reading
from agattn.limits import limits
from agattn.sheet.data import Cell, Math, Note, Sheet, Table, Wide, Word
from agattn.sheet.result import PROVED_OR_MODULAR, Count, Key, Meta, Named, Positive, Probability, Result, key

#: The ideal is written down if it has at most so many monomials in the coordinates and the inputs.
MOST_MONOMIALS = 400_000
#: Random orders in which families are looked for.
_ORDERS = 40


class Bracket(Result):
    """λ at given weights, between two bounds.

    Attributes:
        architecture: what the weights are of.
    """

    architecture: Architecture
    lower: Key[Fraction, "λ is at least this fraction, proved."]
    upper: Key[Fraction, "λ is at most this fraction."]
    multiplicity: Key[Positive | None, "The multiplicity m of λ, or null where it is not known."]
    rank: Key[
        Count, "A lower bound, proved, on the rank of the differential, which almost surely is the rank."
    ]
    fiber: Key[Count, "A lower bound on the local dimension of the fiber.", Named("fiber_dimension")]
    evidence: Key[Evidence, "How the bounds on λ, and m, are known.", PROVED_OR_MODULAR]
    error: Key[
        Probability,
        "Of modular evidence a bound on the probability that the upper bound fails; else 0.",
        Named("error_probability"),
    ]
    reasons: Key[tuple[str, ...], "Where the bounds come from.", Meta(min_length=1)]
    fiber_evidence: Key[
        Evidence,
        "How the bound on the fiber is known, also where λ rests on other things.",
        Named("fiber_dimension_evidence"),
        PROVED_OR_MODULAR,
    ]

    @key(name="lambda")
    def value(self) -> Fraction | None:
        """λ where the bounds meet, or null."""
        return self.lower if self.lower == self.upper else None

    def summary(self) -> str:
        """λ and m, or the bounds."""
        if self.value is None:
            return f"{self.lower} ≤ λ ≤ {self.upper} ({self.evidence})"
        m = "" if self.multiplicity is None else f", m = {self.multiplicity}"
        return f"λ = {self.value}{m} ({self.evidence})"

    def sheet(self) -> Sheet:
        """The bounds, with their evidence and their reasons."""
        rows: list[tuple[Cell, ...]] = [
            (Math(r"\lambda \geq"), str(self.lower), Word("proved")),
            (Math(r"\lambda \leq"), str(self.upper), Word(str(self.evidence))),
            (Math("m"), self.multiplicity or "not known", ""),
            *(("", Wide(reason), "") for reason in self.reasons),
        ]
        caption = f"Learning coefficient of {self.architecture}: {self}"
        return Sheet(str(self), (Table(caption, (), tuple(rows), where="page"),))


class CoefficientBounds(Result, name="rlct"):
    """The learning coefficient at weights of a network or a model, with what they are weights of."""

    architecture: Key[Studied, "The network or the model."]
    bracket: Key[Bracket, "Bounds for λ at the weights of a network in FILE."]

    def sheet(self) -> Sheet:
        """The bounds, with their reasons."""
        network = self.bracket.architecture
        lines = "\n".join([str(self.bracket), *(f"  {reason}" for reason in self.bracket.reasons)])
        parts: tuple[Table | Note, ...] = (*self.bracket.sheet().tables, Note(lines, apart=False))
        return Sheet(f"{network}, {network.parameters} parameters", parts)


def bracket(architecture: Architecture, weights: Mapping[str, Any]) -> Bracket:
    """λ at weights of any architecture that is polynomial in them, or of a softmax network.

    Args:
        architecture: a layer, a network, or a class with the members of
            :class:`~agattn.architectures.protocol.Architecture`. Of softmax networks those that have fibers
            (:func:`~agattn.geometry.identifiability.network_fibers.network_fiber`).
        weights: an array for each parameter, taken as the exact numbers that are written.

    Raises:
        InputError: if the weights do not fit, or the architecture is another one that is no polynomial.
        TooLargeError: if it has more parameters than
            :data:`~agattn.geometry.identifiability.families.MOST_PARAMETERS`.

    >>> from agattn import SingleLayer
    >>> weights = {"K": [[1, 0], [0, 0]], "Q": [[1, 0], [0, 0]], "V": [[0, 1]]}
    >>> bracket(SingleLayer(2, 1), weights)
    λ = 5/2, m = 2 (proved)
    """
    if (n := architecture.parameters) > MOST_PARAMETERS:
        raise TooLargeError(
            f"{architecture.name} has {n} parameters; brackets are for {MOST_PARAMETERS} at most"
        )
    if architecture.degree is None:
        return _of_softmax(architecture, weights)
    return _of_polynomial(ExactWeights(architecture, weights))


def _of_polynomial(at: ExactWeights) -> Bracket:
    """λ between half the rank and half of what the fiber leaves, or by the ideal on a slice."""
    architecture, n = at.architecture, len(at.vector)
    rank, bound = rank_and_bound(at)
    lower, m, orders = Fraction(rank, 2), None, min(_ORDERS, 2000 // n)
    reasons = [f"at least {lower}: the differential has rank {rank}"]

    def known(m: int | None, fiber: int, fiber_evidence: Evidence) -> Bracket:
        """λ is ``lower``, as the last reason says."""
        how = Evidence.PROVED, 0.0, tuple(reasons), fiber_evidence
        return Bracket(architecture, lower, lower, m, rank, fiber, *how)

    if (product := _of_two_matrices(at)) is not None:
        lower, multiplicity, reason = product
        reasons.append(reason)
        family = widest_family(at, n - rank, 0)
        return known(multiplicity, family.dimension, family.evidence)
    if rank == bound.value:
        no_larger = f"it has no larger rank anywhere ({bound.reason}), so the same nearby"
        reasons += [f"at most {lower}: {no_larger}", "the bounds meet: the fiber is smooth, and m = 1"]
        return known(1, n - rank, Evidence.PROVED)
    family = widest_family(at, n - rank, 0)
    if family.dimension < n - rank and (wider := with_all_symmetries(at)).further:
        at, family = wider, widest_family(wider, n - rank, 0)
    orbit = at.orbit_dimension()
    if family.dimension < n - rank and (functions := _on_slice(at)) is not None:
        read = reading(functions)
        free = Fraction(read.free, 2)
        split = f"{read.free} coordinates are free, and the ideal of the others"
        if free + read.lower > lower:
            lower = free + read.lower
            contains = "has in its integral closure" if read.is_closed else "contains"
            reasons.append(f"at least {lower}: {split} {contains} monomials with λ = {read.lower}")
        if read.upper == read.lower:
            reasons.append(f"at most {lower}: {split} {_of_monomials(read)}")
            return known(read.multiplicity, family.dimension, family.evidence)
        family = widest_family(at, floor(n - 2 * lower), orders)
        weighted = None if read.upper is None else free + read.upper
    else:
        weighted = None
        if family.dimension < n - rank:
            family = widest_family(at, n - rank, orders)
    upper, evidence, error = Fraction(n - family.dimension, 2), family.evidence, family.error
    more = f", and {family.dimension - orbit} more where φ is constant" if family.directions else ""
    if weighted is not None and weighted < upper:
        upper, evidence, error = weighted, Evidence.PROVED, 0.0
        reasons.append(f"at most {upper}: {split} has weights with half their sum {upper - free}")
    else:
        reasons.append(
            f"at most {upper}: the fiber has dimension {family.dimension} of {n}: {orbit} by the symmetries"
            + more
        )
    if 2 * upper == rank:
        m = 1
        reasons.append("the bounds meet: the fiber is smooth, and m = 1")
    how = evidence, error, tuple(reasons), family.evidence
    return Bracket(architecture, lower, upper, m, rank, family.dimension, *how)


def _of_softmax(architecture: Architecture, weights: Mapping[str, Any]) -> Bracket:
    """λ of a softmax network: at least that of its jets, and at most what the fiber leaves."""
    through = network_fiber(architecture, weights)
    n, rank, jet = through.parameters, through.differential_rank, through.weights.architecture
    assert isinstance(jet, Jet)
    lower, upper = Fraction(rank, 2), Fraction(n - through.dimension, 2)
    reasons = [f"at least {lower}: the differential of the jet of order {jet.order} has rank {rank}"]
    for order in range(3, jet.order + 1, 2) if lower < upper else ():
        part = ExactWeights(Jet(jet.network, order), through.weights.exact())
        if (functions := _on_slice(part)) is None:
            break
        read = reading(functions)
        if (bound := Fraction(read.free, 2) + read.lower) > lower:
            lower = bound
            reasons.append(
                f"at least {lower}: in the jet of order {order}, {read.free} coordinates are free, and "
                f"the ideal of the others has λ of at least {read.lower}"
            )
    more = through.dimension - through.orbit_dimension
    reasons.append(
        f"at most {upper}: the fiber has dimension {through.dimension} of {n}: {through.orbit_dimension} by"
        f" the symmetries{f', and {more} more where φ is constant' if more else ''}"
    )
    smooth = 2 * upper == rank
    reasons += ["the bounds meet: the fiber is smooth, and m = 1"] if smooth else []
    how = Evidence.PROVED, 0.0, tuple(reasons), through.dimension_evidence
    return Bracket(architecture, lower, upper, 1 if smooth else None, rank, through.dimension, *how)


def _of_monomials(read: Reading) -> str:
    """What an ideal has to do with monomials of the same λ, in words."""
    half, m = read.upper, read.multiplicity
    if read.is_monomial:
        return f"{'has the integral closure of' if read.is_closed else 'is'} one of monomials, with m = {m}"
    multiplicity = "; m is not known"
    if m is not None:
        multiplicity = f", and m = {m} as for the monomials in it and for all its terms"
    return f"has weights with half their sum {half}{multiplicity}"


def _of_two_matrices(at: ExactWeights) -> tuple[Fraction, int, str] | None:
    """λ, m and the reason, 2λ = rows · columns − pq + 2λ(p, q, h), for X ↦ W_2 W_1 X; ``None`` for others."""
    model = at.architecture
    linear = isinstance(model, Network) and all(
        isinstance(step, Place) and (step.is_matrix or step.power == 1) for step in model.steps
    )
    if not linear or len(model.shapes) != 2:
        return None
    W_1, W_2 = (rational_matrix(M.tolist(), M.shape[1]) for M in at.exact().values())
    C = W_2 * W_1
    rows, columns = C.nrows(), C.ncols()
    p, q, h = MatrixProduct(rows, columns, W_1.nrows(), W_2.rank(), W_1.rank(), C.rank()).product
    least = product_at_zero(p, q, h)
    value = Fraction(rows * columns - p * q + least.twice, 2)
    reason = (
        f"equal to {value}: φ is a product of two matrices, that of a {p} × {h} and a {h} × {q} "
        "matrix at zero and free coordinates (Aoyagi and Watanabe)"
    )
    return value, least.multiplicity, reason


def _on_slice(at: ExactWeights) -> list[Polynomial] | None:
    """The coefficients of φ(w₀ + z) − φ(w₀) in all inputs, for z in some of the parameters.

    Together with the tangent vectors of the symmetries these directions span all others, so that the germ of
    the ideal is the one on the slice, with further coordinates that do not occur.
    """
    generator = np.random.default_rng(limits().seed)
    n, p = len(at.vector), at.prime(generator)
    moved = nonzero_minor(at.tangents(p), p).columns
    free = [i for i in range(n) if i not in moved]
    inputs = int(general_inputs(at.architecture).sum())
    in_inputs, in_weights = at.degrees(generator)
    if comb(len(free) + in_weights, in_weights) * comb(inputs + in_inputs - 1, in_inputs) > MOST_MONOMIALS:
        return None
    coefficients: dict[tuple[int, Exponents], dict[Exponents, Fraction | int]] = {}
    for output, f in enumerate(at.expanded(at.units(free))):
        for e, c in f.terms.items():
            powers, monomial = e[: len(free)], e[len(free) :]
            if any(powers):
                coefficients.setdefault((output, monomial), {})[powers] = c
    target = PolynomialRing([Variable("s", (i + 1,)) for i in range(len(free))])
    return [target.from_terms(terms) for terms in coefficients.values()]
