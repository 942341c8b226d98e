r"""What is special to models that are no networks of attention among the arguments about singular points.

Of their structure nothing is known, so preimages of a function f are looked for along directions where φ is
constant (*tangent vectors*), and then

- at *degenerations*, where a parameter becomes 0 along such a direction: two equal neurons are merged into
  one, and the other is free;
- with other *signs* of matrices, rows and columns, and with two matrices *exchanged*, which may lead to
  another branch of M̄ through f.

*Equations* of M̄ in low degree may have so many independent differentials at f that the tangent space is no
larger than dim M̄; then f is smooth. The page on models has the proofs. Whether M is closed is known where
:mod:`~agattn.geometry.closedness.closed_images` proves it.

>>> from agattn.architectures import Network, Perceptron
>>> from agattn.geometry.singular_points.singularities import singularities
>>> found = singularities(Network([Perceptron([2, 1], degree=3)], dim=3))
>>> print(found["row 1 of W_1_1 is 0"])
row 1 of W_1_1 is 0: differential of rank 3 of 6, tangent space of dimension 10 or more: singular (proved)
>>> print(found["generic"])
generic: differential of rank 6 of 6, tangent space of dimension 6 or more: smooth (proved)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import ClassVar

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import fraction, kernel_basis, rational_matrix, rational_rank
from agattn.algebra.lie_algebras import Sparse
from agattn.architectures import Architecture, draw_parameters
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.closedness.question import Closed, is_closed_set
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.identifiability.families import ExactWeights, Vector, same_function, with_all_symmetries
from agattn.geometry.singular_points.arguments import (
    Argument,
    Closure,
    Inquiry,
    Said,
    affine_space,
    cone,
    coordinates,
    immersion,
    second_order,
    tangent_vectors,
    within,
)
from agattn.geometry.singular_points.kind import Kind
from agattn.geometry.singular_points.tangents import Tangents
from agattn.geometry.variety.coefficient_map import CoefficientMap
from agattn.limits import log

#: So often numbers are drawn for a kind: small ones can be more special than it by chance.
_ATTEMPTS = 3
#: Weights at which parameters become 0 along such directions, and how often one goes on from there.
_SPECIAL, _ROUNDS = 3, 2
#: So many pairs of matrices are exchanged at most.
_MOST_EXCHANGES = 300
#: Equations are looked for in degrees with no more monomials.
_MOST_MONOMIALS = 1_500


def degenerations(inquiry: Inquiry) -> Said | None:
    """Tangent vectors where parameters become 0 along directions in which φ is constant, and further on."""
    if not inquiry.is_open:
        return None
    tangents, closure = inquiry.tangents, inquiry.closure
    start: list[tuple[ExactWeights, tuple[Vector, ...]]] = [(inquiry.here.at, inquiry.here.directions)]
    for _ in range(_ROUNDS):
        reached = [point for place in start for point in _zeros_along(*place)][:_SPECIAL]
        reached += [point for at, _ in start if (point := _without_idle(at, tangents))]
        families = [(point, inquiry.family(point, tangents.rank_at(point))) for point in reached]
        start = [(point, () if family is None else family[0]) for point, family in families]
        if not start:
            return None
        given = [*inquiry.preimages, *reached]
        inquiry.preimages, found = tangents.preimages(given, start, closure.patience)
        if said := inquiry.found(found, "tangent vectors"):
            return said
    return None


def signs(inquiry: Inquiry) -> Said | None:
    """Tangent vectors at weights that differ in the sign of a matrix, row or column, if that adds any."""

    def turned() -> Iterator[tuple[Array, Array]]:
        same = np.arange(inquiry.parameters)
        for line in _lines(inquiry.preimages[0]):
            sign = np.ones_like(same)
            sign[line] = -1
            yield same, sign

    return _elsewhere(inquiry, turned())


def exchanges(inquiry: Inquiry) -> Said | None:
    """Tangent vectors at weights with two matrices of one shape exchanged, if that adds any.

    So the gate of a state may be 0: then the key, the query and the value of a layer of rank one with one
    output are three factors of one cubic form, in any order.
    """

    def exchanged() -> Iterator[tuple[Array, Array]]:
        same = np.arange(inquiry.parameters)
        for one, other in islice(combinations(_matrices(inquiry.preimages[0]), 2), _MOST_EXCHANGES):
            if one.shape == other.shape:
                order = same.copy()
                order[one], order[other] = other, one
                yield order, np.ones_like(same)

    return _elsewhere(inquiry, exchanged())


def _elsewhere(inquiry: Inquiry, moves: Iterator[tuple[Array, Array]]) -> Said | None:
    """Tangent vectors at the weights w_order·sign, where these have the same function and add any."""
    if not inquiry.is_open:
        return None
    tangents, at = inquiry.tangents, inquiry.preimages[0]
    vector, found = at.residues(tangents.p)[0], inquiry.tangent_lower
    f = tangents.values(vector[None])
    for order, sign in moves:
        other = vector[order] * sign % tangents.p
        if (other == vector).all() or (tangents.values(other[None]) != f).any():
            continue
        turned = at.at(np.array(at.vector, dtype=object)[order] * sign)
        span = tangents.span([*inquiry.preimages, turned])
        if span > found and same_function(at, turned)[:2] == (True, Evidence.PROVED):
            inquiry.preimages, found = [*inquiry.preimages, turned], span
    immersed = inquiry.ranks[0] == inquiry.tangent_lower == inquiry.closure.at_most
    return inquiry.found(found, "several branches" if immersed else "tangent vectors")


def equations(inquiry: Inquiry) -> Said | None:
    """T_f M̄ is in the space on which the differentials of all equations of M̄ vanish."""
    source = inquiry.closure.source
    if source is None or not inquiry.closure.equations:
        return None
    values = source.values(inquiry.kind.weights)
    point = {(0,): 1} | {(k,): y for k, y in enumerate(values, 1) if y}
    gradients = [equation.gradient(point) for equation in inquiry.closure.equations]
    rows = [[of.get((k,), 0) for k in range(1, len(values) + 1)] for of in gradients]
    inquiry.tangent_upper = upper = len(values) - rational_rank(rows)
    is_proved = inquiry.tangent_evidence is Evidence.PROVED
    assert inquiry.tangent_lower <= upper or not is_proved, (
        f"{inquiry.kind.name}: more tangent vectors than the equations allow"
    )
    if upper > inquiry.closure.known.lower_bound:
        return None
    return Said("smooth", "equations", Evidence.PROVED)


@dataclass(frozen=True, eq=False)
class ModelClosure(Closure):
    """The closure of a polynomial model that is no network of attention.

    >>> from agattn.architectures import Linear, Network
    >>> closure = ModelClosure.of(Network([Linear(1), Linear(2)], dim=2))
    >>> closure.known.dimension, closure.is_affine, len(closure.equations)
    (3, False, 1)
    """

    arguments: ClassVar[tuple[Argument, ...]] = (
        affine_space, cone, tangent_vectors, degenerations, signs, exchanges, second_order, equations,
        immersion,
    )  # fmt: skip
    orders: ClassVar[int] = 2
    searches_everywhere: ClassVar[bool] = True
    patience: ClassVar[int] = 3

    @classmethod
    def of(cls, architecture: Architecture) -> ModelClosure:
        """The closure, with coordinates, linear symmetries and equations where these are easily found."""
        source = coordinates(architecture)
        known, is_affine = within(dimension(architecture, force=True), source)
        further: tuple[Sparse, ...] = ()
        if known.upper_bound == 0:  # a point, and every map of the parameters is a symmetry
            is_affine = True
        else:
            zeros = draw_parameters(architecture, lambda shape: np.zeros(shape, dtype=int).astype(object))
            further = with_all_symmetries(ExactWeights(architecture, zeros)).further
        log.info("equations")
        found = () if source is None or is_affine else _equations(source)
        return cls(architecture, known, known.upper_bound, is_affine, source, found, further)

    def chosen(self, draw: Callable[[int], list[Kind]]) -> Iterator[Kind]:
        """Of several draws of each kind that with the largest rank of dφ, and if possible with f ≠ 0."""
        tangents = self.tangents

        def generality(kind: Kind) -> tuple[int, bool]:
            [at] = self.weights(kind)
            return tangents.rank_at(at), bool(tangents.values(at.residues(tangents.p)[0][None]).any())

        for several in zip(*map(draw, range(_ATTEMPTS)), strict=True):
            yield max(several, key=generality)

    def closedness(self) -> Closed:
        """Whether M is closed, where blocks of parameters prove it."""
        return is_closed_set(self.architecture, self.source, self.is_affine)


def _equations(source: CoefficientMap) -> tuple[Equation, ...]:
    """Equations of M̄ that are proved, in the degrees up to 3 that have few monomials."""
    N = len(source.coordinates) + 1
    degree = max((n for n in range(1, 4) if comb(N + n - 1, n) <= _MOST_MONOMIALS), default=0)
    if not degree:
        return ()
    with suppress(TooLargeError):
        groups = compute_model_ideal(source, degree).found
        return tuple(one for group in groups if group.evidence is Evidence.PROVED for one in group)
    return ()


def _matrices(at: ExactWeights) -> Iterator[Array]:
    """The places of the matrices of all arrays."""
    for array in at.arrays(np.arange(len(at.vector))).values():
        yield from array.reshape(-1, *(1, 1, *array.shape)[-2:])


def _lines(at: ExactWeights) -> Iterator[list[int]]:
    """The places of the matrices of all arrays, of their rows and of their columns."""
    for matrix in _matrices(at):
        yield matrix.ravel().tolist()
        yield from matrix.tolist()
        yield from matrix.T.tolist()


def _without_idle(at: ExactWeights, tangents: Tangents) -> ExactWeights | None:
    """The weights with rows and columns set to 0 as long as that leaves f as it is; ``None`` if none does."""
    flat, vector = np.array(at.vector, dtype=object), at.residues(tangents.p)[0]
    f = tangents.values(vector[None])
    for line in _lines(at):
        without = vector.copy()
        without[line] = 0
        if flat[line].any() and (tangents.values(without[None]) == f).all():
            vector, flat[line] = without, 0
    if tuple(flat) == at.vector:
        return None
    equal, evidence, _ = same_function(at, found := at.at(flat))
    return found if equal and evidence is Evidence.PROVED else None


def _zeros_along(at: ExactWeights, directions: Sequence[Vector]) -> list[ExactWeights]:
    """The weights moved along directions to where a matrix, a row or a column is 0; most zeros first."""
    points = []
    for line in _lines(at) if directions else ():
        rows = [[*(v[i] for v in directions), at.vector[i]] for i in line]
        solved = [s for s in kernel_basis(rational_matrix(rows, len(directions) + 1)) if s[-1]]
        if any(at.vector[i] for i in line) and solved:
            point = np.array(at.vector, dtype=object)
            for s, v in zip(solved[0], directions, strict=False):
                point = point + fraction(s) / fraction(solved[0][-1]) * np.array(v, dtype=object)
            points.append(point)
    points.sort(key=lambda point: int(np.count_nonzero(point)))
    return [at.at(point) for point in points[:_SPECIAL]]
