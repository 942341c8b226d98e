r"""Kinds of points of any polynomial model: special weights, and what is known of their functions.

A kind is weights over the integers with something special about one array of parameters, all others general:
a matrix of lower rank, a row or a column that is 0 or equal to another, a matrix that is symmetric or skew;
two heads that are equal; two arrays of one shape that are equal; what a symmetry acts on 0, as a neuron with
nothing before and behind it. These are the natural degenerations of layers: zero and equal neurons, heads and
filters, bottlenecks.

For each the rank of the differential is found exactly, the fiber is bounded from both sides, and tangent
vectors of the closure M̄ at f are collected (:mod:`~agattn.geometry.singular_points.tangents`) at the weights
and at others with the same function. Those are looked for along directions where f is constant, at general
places and where a parameter becomes 0: two equal neurons are merged into one, and the other is free. Also
the signs of matrices, rows and columns are tried.

- *singular*: more independent tangent vectors than dim M̄, which has a proved upper bound; at f = 0, where M
  is a cone, more independent functions than that.
- *smooth*: equations of M̄ in low degree have so many independent differentials at f that the tangent space
  is no larger than dim M̄; or M̄ is an affine space, of as many dimensions as there are coordinates.
- *smooth branch*: the differential has the rank dim M̄, so the functions of the weights nearby are a manifold
  of this dimension; other branches of M̄ may pass through f.
- *undecided*: none of these.

The page on models has the proofs. Whether M is closed is known where
:mod:`~agattn.geometry.closedness.closed_images` proves it.

>>> from agattn.architectures import Network, Perceptron
>>> found = model_singularities(Network([Perceptron([2, 1], degree=3)], dim=3))
>>> print(found["row 1 of W_1_1 is 0"])
row 1 of W_1_1 is 0: differential of rank 3 of 6, tangent space of dimension 10 or more: singular (proved)
>>> print(found["generic"])
generic: differential of rank 6 of 6, tangent space of dimension 6 or more: smooth (proved)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import comb, prod
from typing import NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import fraction, kernel_basis, rational_matrix, rational_rank
from agattn.algebra.gradings import Monomial, homogeneous_weights
from agattn.algebra.lie_algebras import Sparse
from agattn.architectures import Architecture, Network, draw_parameters
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.closedness.closed_images import Blocks, closed_image
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.dimension.lie_algebra import at_monomials
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.identifiability.families import (
    Vector,
    Weights,
    same_function,
    widest_family,
    with_all_symmetries,
)
from agattn.geometry.singular_points.kinds import Kind
from agattn.geometry.singular_points.network_points import (
    AFFINE,
    MOST_KINDS,
    MOST_PARAMETERS,
    Argument,
    Conclusion,
    PointFacts,
    Singularities,
    coordinates,
    critical_evidence,
    within,
)
from agattn.geometry.singular_points.tangents import Tangents
from agattn.geometry.variety.coefficient_map import CoefficientMap

#: Numbers are drawn between minus this and this, without 0.
_LARGEST = 3
#: So often numbers are drawn for a kind: small ones can be more special than it by chance.
_ATTEMPTS = 3
#: Random orders in which directions of constant functions are looked for.
_ORDERS = 2
#: Weights at which parameters become 0 along such directions, and how often one goes on from there.
_SPECIAL, _ROUNDS = 3, 2
#: So many moves that add no tangent vectors end a search.
_PATIENCE = 3
#: Equations are looked for in degrees with no more monomials.
_MOST_MONOMIALS = 1_500
#: Coordinates with more terms are not differentiated one by one.
_MOST_DIFFERENTIATED = 5_000
_FORCE = "Use --force to start all the same"


class _Special(NamedTuple):
    """What is special: a name, and the arrays that replace those of general weights."""

    name: str
    arrays: dict[str, Array]


def model_kinds(architecture: Architecture, pairs: bool = False, seed: int = 0) -> list[Kind]:
    """The kinds of weights of an architecture; ``pairs``: also any two that are about different arrays.

    >>> from agattn.architectures import Linear, Network
    >>> [kind.name for kind in model_kinds(Network([Linear(2), Linear(2)], dim=2))][:5]
    ['generic', 'rk W_1 = 1', 'W_1 = 0', 'row 1 of W_1 is 0', 'column 1 of W_1 is 0']
    """
    generator = np.random.default_rng(seed)

    def draw(shape: tuple[int, ...]) -> Array:
        numbers = [*range(-_LARGEST, 0), *range(1, _LARGEST + 1)]
        return np.array(generator.choice(numbers, shape), dtype=object)

    general = draw_parameters(architecture, draw)
    special = list(_special(architecture, general, draw))
    if pairs:
        special += [
            _Special(f"{one.name}; {other.name}", one.arrays | other.arrays)
            for one, other in itertools.combinations(special, 2)
            if not one.arrays.keys() & other.arrays.keys()
        ]
    kinds = [Kind("generic", architecture, (general,))]
    return kinds + [Kind(one.name, architecture, (general | one.arrays,)) for one in special]


def _special(
    architecture: Architecture, general: Mapping[str, Array], draw: Callable[[tuple[int, ...]], Array]
) -> Iterator[_Special]:
    for name, array in general.items():
        for text, changed in _of_array(name, array, draw):
            yield _Special(text, {name: changed})
    for one, other in itertools.combinations(general, 2):
        if general[one].shape == general[other].shape and general[one].size > 1:
            yield _Special(f"{one} = {other}", {other: general[one].copy()})
    if isinstance(architecture, Network):
        for place in architecture.places:
            if names := [place.names[letter] for letter in place.layer.alike()]:
                copies = {name: general[name].copy() for name in names}
                for array in copies.values():
                    array[1] = array[0]
                yield _Special(" and ".join(f"{name}[1] = {name}[2]" for name in names), copies)
    seen = set[tuple[str, ...]]()
    zero = {name: np.zeros_like(array) for name, array in general.items()}
    for symmetry in architecture.symmetries:
        copies = {acted.parameter: general[acted.parameter].copy() for acted in symmetry.on}
        if len(copies) < 2 or tuple(copies) in seen:
            continue
        seen.add(tuple(copies))
        for acted in symmetry.on:
            part = copies[acted.parameter][acted.index]
            (part if acted.axis is None else np.moveaxis(part, acted.axis, 0)[:1])[...] = 0
        if len(copies) < len(zero) or any(array.any() for array in copies.values()):
            yield _Special(" and ".join(_zero_in(name, array) for name, array in copies.items()), copies)
    if len(zero) > 1:
        yield _Special("all parameters are 0", zero)


def _zero_in(name: str, array: Array) -> str:
    """Which part of an array is 0, in words."""
    label = name
    if array.ndim > 2 and prod(array.shape[:-2]) > 1 and array.any():
        label = f"{name}[1]"
    first = array.reshape(-1, *(1, 1, *array.shape)[-2:])[0]
    if not first.any():
        return f"{label} = 0"
    for word, lines in (("row", first), ("column", first.T)):
        if not lines[0].any():
            return f"{word} 1 of {label} is 0"
    return f"a part of {label} is 0"


def _of_array(
    name: str, array: Array, draw: Callable[[tuple[int, ...]], Array]
) -> Iterator[tuple[str, Array]]:
    """What may be special about one array, or about the first of several matrices in it."""

    def with_first(matrix: Array) -> Array:
        changed = array.copy()
        changed[(0,) * (array.ndim - matrix.ndim)] = matrix
        return changed

    if array.ndim == 0:
        yield f"{name} = 0", np.zeros_like(array)
        return
    if array.ndim == 1:
        yield f"{name} = 0", np.zeros_like(array)
        if len(array) > 1:
            yield f"{name}[1] = 0", np.concatenate([array[:1] * 0, array[1:]])
            yield f"{name}[1] = {name}[2]", np.concatenate([array[:1], array[:1], array[2:]])
        return
    several = prod(array.shape[:-2]) > 1
    first = array.reshape(-1, *array.shape[-2:])[0]
    label, (m, n) = f"{name}[1]" if several else name, first.shape
    for r in range(min(m, n) - 1, 0, -1):
        yield f"rk {label} = {r}", with_first(draw((m, r)) @ draw((r, n)))
    yield f"{label} = 0", with_first(first * 0)
    for lines, word, count, other in ((first, "row", m, n), (first.T, "column", n, m)):
        if count > 1:
            for text, line in (("is 0", lines[0] * 0), ("is equal to the next", lines[1])):
                if text == "is 0" or count > 2 or other == 1:  # else a rank
                    changed = lines.copy()
                    changed[0] = line
                    text = f"{word} 1 of {label} {text}"
                    yield text, with_first(changed if word == "row" else changed.T)
    if m == n > 1:
        yield f"{label} symmetric", with_first(first + first.T)
        yield f"{label} skew", with_first(first - first.T)
    if several and len(array) > 1:
        changed = array.copy()
        changed[1] = array[0]
        yield f"{name}[1] = {name}[2]", changed


def is_cone(architecture: Architecture) -> bool:
    """Whether with each f its neuromanifold contains sf for all s > 0, by a grading of the parameters.

    If φ_θ(X), as it is written, is homogeneous of degree D ≠ 0 for some weights w of the parameters alone,
    then φ(s^w θ) = s^D φ(θ). "No" means that none is found.

    >>> from agattn.architectures import Linear, Network, Skip
    >>> is_cone(Network([Linear(2)], dim=2)), is_cone(Network([Skip([Linear(2)])], dim=2))
    (True, False)
    """
    out, relations, count = at_monomials(architecture, weighted_inputs=False)
    outputs = [f for f in out if isinstance(f, Monomial)]
    if len(outputs) < sum(map(bool, out)) or not outputs:
        return False  # a constant
    for f in outputs[1:]:
        outputs[0] + f  # notes that they are of one degree
    weights = homogeneous_weights(relations, count, np.random.default_rng(0))
    return bool(sum(e * int(weights[v]) for v, e in outputs[0].exponents.items()))


def model_singularities(
    architecture: Architecture,
    pairs: bool = False,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Singularities:
    """The kinds of points of a polynomial architecture, and what is known at each.

    Args:
        architecture: any that is polynomial. More is known of networks of attention:
            :func:`~agattn.geometry.singular_points.network_points.singularities`.
        pairs: take all pairs of what may be special about different arrays, too.
        seed: of all random choices. It never changes what is proved, only what is found.
        force: start although it is large.
        progress: called with the name of each kind.

    Raises:
        InputError: if it is normalized.
        TooLargeError: if it has more parameters or kinds than the limits.
    """
    if architecture.degree is None:
        raise InputError(f"{architecture} is normalized; kinds of points are those of polynomial models")
    if (n := architecture.parameters) > MOST_PARAMETERS and not force:
        raise TooLargeError(f"{architecture} has {n} parameters; the limit is {MOST_PARAMETERS}. {_FORCE}")
    known = dimension(architecture, seed, force=True)
    source = coordinates(architecture)
    known, is_affine = within(known, source)
    further = with_all_symmetries(Weights(architecture, _zeros(architecture)), seed).further
    progress("equations")
    equations = () if source is None or is_affine else _equations(source, seed, force)
    asked = _Model(architecture, known, is_affine, further, source, equations)
    found = [model_kinds(architecture, pairs, seed + attempt) for attempt in range(_ATTEMPTS)]
    if len(found[0]) > MOST_KINDS and not force:
        raise TooLargeError(
            f"{architecture} has {len(found[0])} kinds of points; the limit is {MOST_KINDS}. {_FORCE}"
        )
    points = []
    for kinds in zip(*found, strict=True):
        progress(kinds[0].name)
        tangents = Tangents(architecture, known.upper_bound, seed)
        points.append(asked.facts(asked.most_general(kinds, tangents), tangents, seed))
    blocks = None if source is None else closed_image(source.polynomials, seed)
    said = f"{AFFINE} " * is_affine + _closedness(blocks, source, is_affine)
    return Singularities(architecture, known, tuple(points), None if blocks is None else True, said, None)


def _closedness(blocks: Blocks | None, source: CoefficientMap | None, is_affine: bool) -> str:
    """Whether M is closed, in a sentence."""
    if blocks is None or source is None:
        return f"Whether M is {'all of it' if is_affine else 'closed'} is not known."
    parts = [_block(source, places) for places in blocks.places]
    each = " and ".join(f"of degree {n} in {part}" for n, part in zip(blocks.degrees, parts, strict=True))
    zero = " or ".join(f"{part} = 0" for part in parts)
    multidegree = " and ".join(f"{n} in {part}" for n, part in zip(blocks.contains, parts, strict=True))
    return (
        f"M is closed (proved), over ℝ and over ℂ: φ is homogeneous {each}, and 0 only where {zero}, as its "
        f"coordinates generate all monomials of degree {multidegree}."
    )


def _block(source: CoefficientMap, places: Sequence[int]) -> str:
    """Some parameters in words: the names of arrays, where they are whole, and of single entries."""
    named, rest = [], list(places)
    first = 0
    for name, shape in source.architecture.shapes.items():
        whole = range(first, first := first + prod(shape))
        if set(whole) <= set(rest):
            named.append(name)
            rest = [i for i in rest if i not in whole]
    named += [str(source.ring.gens[i]) for i in rest]
    return named[0] if len(named) == 1 else f"({', '.join(named)})"


def _equations(source: CoefficientMap, seed: int, force: bool) -> tuple[Equation, ...]:
    """Equations of M̄ that are proved, in the degrees up to 3 that have few monomials."""
    N = len(source.coordinates) + 1
    degree = max((n for n in range(1, 4) if comb(N + n - 1, n) <= _MOST_MONOMIALS), default=0)
    if not degree:
        return ()
    with suppress(TooLargeError):
        groups = compute_model_ideal(source, degree, seed=seed, force=force).found
        return tuple(one for group in groups if group.evidence is Evidence.PROVED for one in group)
    return ()


def _zeros(architecture: Architecture) -> dict[str, Array]:
    return draw_parameters(architecture, lambda shape: np.zeros(shape, dtype=int).astype(object))


class _Model(NamedTuple):
    """What is asked for once."""

    architecture: Architecture
    known: Dimension
    is_affine: bool
    further: tuple[Sparse, ...]
    source: CoefficientMap | None
    equations: tuple[Equation, ...]

    @property
    def at_most(self) -> int:
        """A proved upper bound of the dimension."""
        return self.known.upper_bound

    def tangent_upper(self, kind: Kind) -> int | None:
        """The dimension of the space on which the differentials of all equations vanish at the function."""
        if self.source is None or not self.equations:
            return None
        values = self.source.values(kind.weights)
        point = {(0,): 1} | {(k,): y for k, y in enumerate(values, 1) if y}
        gradients = [equation.gradient(point) for equation in self.equations]
        rows = [[of.get((k,), 0) for k in range(1, len(values) + 1)] for of in gradients]
        return len(values) - rational_rank(rows)

    def rank_over_the_rationals(self, kind: Kind) -> int | None:
        """The rank of the differential, by the derivatives of all coordinates if they have few terms."""
        if self.source is None or sum(map(len, self.source.polynomials)) > _MOST_DIFFERENTIATED:
            return None
        flat = Weights(self.architecture, kind.weights).vector
        gens = self.source.ring.gens
        return rational_rank([[f.derivative(x)(*flat) for f in self.source.polynomials] for x in gens])

    def most_general(self, kinds: Sequence[Kind], tangents: Tangents) -> Kind:
        """Of some weights of one kind those with the largest rank of dφ, and if they can with f ≠ 0."""

        def generality(kind: Kind) -> tuple[int, bool]:
            at = Weights(self.architecture, kind.weights)
            return tangents.rank_at(at), bool(tangents.values(at.residues(tangents.p)[0][None]).any())

        return max(kinds, key=generality)

    def facts(self, kind: Kind, tangents: Tangents, seed: int) -> PointFacts:
        """What is known at weights of one kind."""
        at = Weights(self.architecture, kind.weights, self.further)
        n, differential = len(at.vector), tangents.rank_at(at)
        is_zero, zero_evidence, _ = same_function(at, None, seed)
        directions, fiber = _family(at, n - differential, seed)
        fiber, fiber_at_most = max(fiber, n - self.at_most), n - differential
        if differential == self.at_most:
            fiber = fiber_at_most  # the rank is constant nearby
        exact = fiber == fiber_at_most or tangents.kernel_found(at, directions) == n - differential
        exact = exact or self.rank_over_the_rationals(kind) == differential
        rank_evidence = Evidence.PROVED if exact else Evidence.MODULAR
        evidence = fiber_evidence = Evidence.PROVED
        argument: Argument = "tangent vectors"
        if self.is_affine:
            found, preimages = self.at_most, [at]
        elif is_zero and is_cone(self.architecture):
            count = 0 if self.source is None else len(self.source.coordinates)
            found, preimages, argument = tangents.span_of_functions(count), [at], "cone"
            evidence = zero_evidence
        else:
            preimages, found = _explored(at, directions, tangents, seed)
            before = found
            if found <= self.at_most:
                preimages, found = _with_signs(preimages, tangents, found, seed)
                if found > before == differential == self.at_most:
                    argument = "several branches"
            if found <= self.at_most and fiber < n - differential:
                second, immersed = tangents.second_order(at, preimages, differential)
                if immersed:
                    fiber = fiber_at_most = max(at.orbit_dimension(seed=seed), n - self.at_most)
                    fiber_evidence = rank_evidence
                if second > found:
                    found, argument, evidence = second, "second order", rank_evidence
        tangent_evidence = evidence
        conclusion: Conclusion = "undecided"
        upper = self.tangent_upper(kind)
        assert upper is None or found <= upper or evidence is not Evidence.PROVED, (
            f"{kind.name}: more tangent vectors than the equations allow"
        )
        if self.is_affine:
            conclusion, argument, evidence = "smooth", "affine space", Evidence.PROVED
        elif upper is not None and upper <= self.known.lower_bound:
            conclusion, argument, evidence = "smooth", "equations", Evidence.PROVED
        elif found > self.at_most:
            conclusion = "singular"
        elif differential == self.at_most:
            conclusion, argument, evidence = "smooth branch", "immersion", Evidence.PROVED
        else:
            argument = "none"
        return PointFacts(
            kind, is_zero, differential, (fiber, fiber_at_most), self.known.dimension, found, conclusion,
            argument, evidence, rank_evidence, tuple(point.exact() for point in preimages), upper,
            tangent_evidence, zero_evidence,
            critical_evidence(differential, self.known.dimension, self.at_most, rank_evidence),
            fiber_evidence,
        )  # fmt: skip


def _family(at: Weights, most: int, seed: int) -> tuple[tuple[Vector, ...], int]:
    """Directions along which φ is proved to be constant, and a lower bound on the dimension of the fiber."""
    family = widest_family(at, most, _ORDERS, seed)
    if family.evidence is Evidence.PROVED:
        return family.directions, family.dimension
    return (), at.orbit_dimension(seed=seed)


def _explored(
    at: Weights, directions: Sequence[Vector], tangents: Tangents, seed: int
) -> tuple[list[Weights], int]:
    """Weights with the function of the given ones, and the dimension of what tangent vectors there span."""
    n = len(at.vector)
    preimages, found = tangents.preimages([at], [(at, directions)], _PATIENCE)
    start = [(at, directions)]
    for _ in range(_ROUNDS):
        if found > tangents.at_most:
            break
        reached = [point for place in start for point in _zeros_along(*place)][:_SPECIAL]
        reached += [point for place, _ in start if (point := _without_idle(place, tangents, seed))]
        start = [(point, _family(point, n - tangents.rank_at(point), seed)[0]) for point in reached]
        if not start:
            break
        preimages, found = tangents.preimages([*preimages, *reached], start, _PATIENCE)
    return preimages, found


def _with_signs(
    preimages: list[Weights], tangents: Tangents, found: int, seed: int
) -> tuple[list[Weights], int]:
    """Also weights that differ in the sign of a matrix, row or column, where that adds tangent vectors."""
    at = preimages[0]
    vector = at.residues(tangents.p)[0]
    f = tangents.values(vector[None])
    for line in _lines(at):
        other = vector.copy()
        other[line] = -other[line] % tangents.p
        if (other == vector).all() or (tangents.values(other[None]) != f).any():
            continue
        flat = np.array(at.vector, dtype=object)
        flat[line] = -flat[line]
        span = tangents.span([*preimages, turned := at.at(flat)])
        if span > found and same_function(at, turned, seed)[:2] == (True, Evidence.PROVED):
            preimages, found = [*preimages, turned], span
    return preimages, found


def _lines(at: Weights) -> Iterator[list[int]]:
    """The places of the matrices of all arrays, of their rows and of their columns."""
    for array in at.arrays(np.arange(len(at.vector))).values():
        for matrix in array.reshape(-1, *(1, 1, *array.shape)[-2:]):
            yield matrix.ravel().tolist()
            yield from matrix.tolist()
            yield from matrix.T.tolist()


def _without_idle(at: Weights, tangents: Tangents, seed: int) -> Weights | None:
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
    equal, evidence, _ = same_function(at, found := at.at(flat), seed)
    return found if equal and evidence is Evidence.PROVED else None


def _zeros_along(at: Weights, directions: Sequence[Vector]) -> list[Weights]:
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
