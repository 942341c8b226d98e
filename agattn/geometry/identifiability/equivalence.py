r"""Are two sets of weights the same function, and by which symmetry?

For one head the fiber of the first weights is known, and the second are on it or not. For several heads and
layers the symmetries are composed of those of the heads, of permutations of the heads of a layer, and of
changes of basis between layers (HMK, equation 9): with C_0 = C_l = 1,

.. math:: A'_i = s C_{i-1}^{-\mathsf T} A_i C_{i-1}^{-1}, \qquad V'_i = C_i V_i C_{i-1}^{-1} / s.

Layer by layer, heads are matched by A up to the scale s, and C_i follows from the V of all heads, if these
together span ℝ^{d_i}. Where such a symmetry is found, exact weights are proved to be equal. Where there is
none, one layer is decided by the sum of the coefficient tensors of its heads, and several layers by outputs:
they depend on X only through S = XXᵀ and linearly on the token, so d_0 tokens say what happens for any
number. One input at which exact outputs differ is a proof; equal outputs at a random one are not, and the
evidence then is ``modular``: wrong with a probability below 3^l / 2^31.

>>> w = {"K": [[1, 2]], "Q": [[0, 1]], "V": [[1, 0]]}
>>> print(equivalent(w, {"K": [[3, 6]], "Q": [[0, 5]], "V": [["1/15", 0]]}))
equal (proved): A' = sA, V' = V/s with s = 15; K' = sC⁻ᵀK, Q' = CQ with C = [[5]]
>>> print(equivalent(w, {"A": [[0, 2], [0, 0]], "V": [["1/2", 1]]}))
equal (proved): A' = s·v qᵀ, V' = h kᵀ/s with s = 2, where A = k qᵀ, V = h vᵀ
>>> print(equivalent(w, {"A": [[0, 1], [0, 1]], "V": [[1, 0]]}))
different (proved): the outputs at X = [[1, 0], [1, 1]] differ by -1 in entry (1, 1)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from agattn.algebra.scalars import Array, as_floats, coarsest, is_exact, scalars, scaled
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.identifiability.weights import (
    SAFE,
    SWAPPED,
    HeadEquivalence,
    Network,
    Weights,
    change_of_basis,
    fiber,
    gauge_between,
    inverse,
    layers_of,
    nearness,
    scale_between,
)
from agattn.geometry.variety.coefficient_norm import relative_change
from agattn.geometry.variety.coordinates import coefficients
from agattn.sheet.data import Cell, Sheet, Table, Wide, array_cell
from agattn.sheet.result import ENTRIES, FINITE, SCALAR, Count, Key, Matrix, Named, Result, Written, key

#: The largest coefficient tensors that are compared.
MOST_COORDINATES = 10**6
#: Matchings of the heads of a layer that are tried.
MOST_MATCHINGS = 720
#: An input, and the entry in which outputs differ most there, by how much.
Difference = tuple[Array, tuple[int, int], Any]


class HeadRelation(Result, eq=False):
    """How one head of the second weights comes from one of the first."""

    head: Key[Count, "The head of W1, from 0 in its layer."]
    other: Key[Count, "The head of W2 that is the same function."]
    component: Key[str, "The component of the fiber: `rescaling`, `swapped`, `A = 0` or `V = 0`."]
    s: Key[Any, "A' is s times the A of that component; null for the function 0.", SCALAR] = None
    C: Key[
        Array | None,
        "The C with K' = sC⁻ᵀK and Q' = CQ, if there is exactly one; else null.",
        Named("gauge"),
        ENTRIES,
    ] = None

    def summary(self) -> str:
        """The relation in formulas."""
        if self.s is None:
            return "both are the function 0"
        if self.component == SWAPPED[0]:
            return f"A' = s·v qᵀ, V' = h kᵀ/s with s = {self.s}, where A = k qᵀ, V = h vᵀ"
        gauge = ""
        if self.C is not None:
            C = f"C = {_rows(self.C)}" if self.C.size <= 9 else f"one C ∈ GL({len(self.C)})"
            gauge = f"; K' = sC⁻ᵀK, Q' = CQ with {C}"
        return f"A' = sA, V' = V/s with s = {self.s}{gauge}"


class Relations(Result, eq=False):
    """A symmetry that relates two sets of weights; that of the heads is relative to the changes of basis."""

    layers: Key[tuple[tuple[HeadRelation, ...], ...], "By layer, how each head is related."]
    bases: Key[tuple[Array, ...], "The changes of basis between layers.", Written(list[Matrix])]


class Equivalence(Result, name="equivalent", eq=False):
    """Whether two sets of weights have the same function, with the reason.

    It is ``proved`` for exact weights, and ``modular`` where they are equal by outputs alone.

    Attributes:
        relative: the relative distance of the functions, or of some outputs, in floating point; ``None`` for
            exact weights.
        distance: how far the weights or the functions are from each other, relatively, if that decides.
        place: the entry (row, column), from 0, in which the outputs at X differ most, by ``difference``.
    """

    equal: Key[bool | None, "Whether both are the same function; null if undecided.", Named("equivalent")]
    evidence: Key[Evidence, "How the result is known."]
    relative: float | None
    reason: Key[str, "Why the weights are, or are not, the same function."]
    symmetry: Key[Relations | None, "The symmetry that relates them; null if none was found."] = None
    X: Key[
        Array | None,
        "An input X on which the functions differ; null where none was found.",
        Named("input"),
        ENTRIES,
    ] = None
    place: tuple[int, int] | None = None
    difference: Key[Any, "The largest difference of the outputs at this input.", SCALAR] = None
    dtype: Key[
        str, "The type in which the weights are stored, the coarser one; `exact` for exact weights."
    ] = "exact"
    tolerance: Key[float | None, "Below this a relative distance may be rounding; null if exact."] = None
    distance: float | None = None

    @key(FINITE)
    def margin(self) -> float | None:
        """The factor by which the relative distance is away from the tolerance; below 10 nothing is decided;
        null if exact or infinite."""
        if self.distance is None or self.tolerance is None:
            return None
        if not self.distance or not self.tolerance:
            return np.inf
        return float(max(self.distance / self.tolerance, self.tolerance / self.distance))

    @key(FINITE)
    def residual(self) -> float | None:
        """The relative distance of the functions; null where not known."""
        return 0.0 if self.relative is None and self.equal else self.relative

    @property
    def only(self) -> HeadRelation | None:
        """The relation of the only head, if there is one head in one layer and it has one."""
        layers = self.symmetry.layers if self.symmetry else ()
        return layers[0][0] if [len(heads) for heads in layers] == [1] else None

    @property
    def word(self) -> str:
        """``equal``, ``different`` or ``undecided``."""
        return {True: "equal", False: "different", None: "undecided"}[self.equal]

    def summary(self) -> str:
        """The answer, and why."""
        return f"{self.word} ({self.evidence}): {self.reason}"

    @property
    def closeness(self) -> str:
        """How far the functions are from each other, and the tolerance; empty for exact weights."""
        if self.relative is None:
            return ""
        near = "" if self.margin is None else f"; margin: {self.margin:.2g}"
        stored = f"stored as {self.dtype}; tolerance: {self.tolerance:.3g}"
        return f"relative distance: {self.relative:.3g}; {stored}{near}"

    def sheet(self) -> Sheet:
        """The answer, and of several heads the symmetry head by head."""
        rows: list[tuple[Cell, ...]] = [
            ("the two functions are", self.word),
            ("evidence", str(self.evidence)),
        ]
        if self.residual is not None:
            rows.append(("relative distance", f"{self.residual:.3g}"))
        if self.relative is not None:
            rows += [("stored as", self.dtype), ("tolerance", f"{self.tolerance:.3g}")]
        rows.append((Wide("why"), self.reason))
        if self.X is not None:
            rows.append(("X", array_cell(self.X)))
        shown = [Table("Equivalence of two sets of weights", (), tuple(rows))]
        if self.symmetry and not self.only:
            heads = tuple(
                (layer, r.head, r.other, r.component, str(r.s), "" if r.C is None else array_cell(r.C))
                for layer, relations in enumerate(self.symmetry.layers)
                for r in relations
            )
            names = ("layer", "head", "becomes head", "component", "s", "gauge C")
            bases = tuple(
                ("change of basis after layer", n, array_cell(C)) for n, C in enumerate(self.symmetry.bases)
            )
            shown.append(Table("The symmetry, head by head", names, heads))
            shown += [Table("", ("what", "layer", "C"), bases)] if bases else []
        return Sheet(self.summary(), tuple(shown))

    def of_head(self) -> HeadEquivalence:
        """What it says of one head, beside the fiber of that head."""
        component, s, C = (self.only.component, self.only.s, self.only.C) if self.only else (None, None, None)
        functions = self.X, self.difference, self.relative, self.evidence
        return HeadEquivalence(self.equal, component, s, C, *functions)


def _rows(M: Array) -> str:
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in M.tolist()) + "]"


def equivalent(w1: Any, w2: Any, *, tolerance: float | None = None) -> Equivalence:
    """Whether two sets of weights are the same function for every t ≥ 2, and by which symmetry.

    Args:
        w1: from :func:`agattn.weights`; or a mapping with V and A, or K, Q and V, where each may be a stack
            with one matrix for each head; or for several layers a list of those, or names such as K_1, Q_1,
            V_1, K_2.
        w2: the same, with the same d_0 and d_l.
        tolerance: relative, below which differences of floats may be rounding; by default that of their
            type, such as float32. Where a tenth or ten times of it would give another answer, nothing is
            decided.

    Raises:
        InputError: if the weights do not fit, or have other inputs or outputs.

    See Also:
        :func:`agattn.fiber`, :func:`agattn.identify`, :func:`agattn.weights`; ``agattn equivalent`` in a
        shell.

    >>> import agattn as ag
    >>> one = {"A": [[1, 2], [0, 1]], "V": [[1, 3]]}
    >>> ag.equivalent(one, {"A": [[2, 4], [0, 2]], "V": [["1/2", "3/2"]]})
    equal (proved): A' = sA, V' = V/s with s = 2
    >>> one = {"A": [[[1, 0], [0, 0]], [[0, 1], [1, 0]]], "V": [[[1, 2]], [[3, 4]]]}
    >>> two = {"A": [[[0, 3], [3, 0]], [[1, 0], [0, 0]]], "V": [[[1, "4/3"]], [[1, 2]]]}
    >>> answer = equivalent(one, two)
    >>> print(answer)
    equal (proved): head by head
    >>> [(r.head, r.other, str(r.s)) for r in answer.symmetry.layers[0]]
    [(0, 1, '1'), (1, 0, '3')]
    """
    first, second = layers_of(w1), layers_of(w2)
    if not all(w.is_exact for layer in (*first, *second) for w in layer):
        first, second = (tuple(tuple(map(_floating, heads)) for heads in w) for w in (first, second))
    ends = [(len(network[0][0].A), len(network[-1][0].V)) for network in (first, second)]
    if ends[0] != ends[1]:
        raise InputError(
            f"the first weights have d = {ends[0][0]} and d' = {ends[0][1]}, and the second have "
            f"d = {ends[1][0]} and d' = {ends[1][1]}; only layers of the same d and d' can be compared"
        )
    tolerance = _tolerance(first, second) if tolerance is None else tolerance
    if all(len(network) == len(network[0]) == 1 for network in (first, second)):
        answer = _one_head(first[0][0], second[0][0], tolerance)
    else:
        answer = _heads_and_layers(first, second, tolerance)
    if answer.relative is None:
        return answer
    dtype = coarsest(w.dtype for heads in (*first, *second) for w in heads)
    return answer.replace(tolerance=tolerance, dtype=dtype)


def _tolerance(first: Network, second: Network) -> float:
    """How far two functions may be from each other, relatively, if both were rounded as their types say.

    A layer takes relative errors of its input three times.
    """
    total = 0.0
    for layer in zip_longest(first, second, fillvalue=()):
        largest = 0.0
        for heads in layer:
            tolerances = [w.tolerances for w in heads if not w.is_zero]
            largest += max((max(of_a, of_v) for of_a, of_v in tolerances), default=0.0)
        total = 3 * total + largest
    return total


def _floating(w: Weights) -> Weights:
    K, Q = (None if M is None else as_floats(M) for M in (w.K, w.Q))
    dtype = w.dtype if w.dtype != "exact" else "float64"
    return Weights(as_floats(w.A), as_floats(w.V), w.a, K, Q, dtype)


def _one_head(first: Weights, second: Weights, tolerance: float) -> Equivalence:
    """One head in one layer: the second weights are on the fiber of the first, or not."""
    if first.is_exact:
        related = _relation(first, second, tolerance)
        if related is not None:
            return Equivalence(True, Evidence.PROVED, None, str(related), Relations(((related,),), ()))
        apart = _separating_input(first, second)
        assert apart is not None  # the functions differ
        return _different(Evidence.PROVED, None, apart)
    if first.is_zero or second.is_zero:
        relative = 0.0 if first.is_zero and second.is_zero else np.inf
    else:
        relative = relative_change(first.A, first.V, second.A, second.V)
    near, related = _nearest_relation(first, second, tolerance)
    farther = max(near, relative)
    if farther <= tolerance / SAFE and related is not None:
        symmetry = Relations(((related,),), ())
        return Equivalence(True, Evidence.NUMERICAL, relative, str(related), symmetry, distance=farther)
    apart = _separating_input(first, second)
    if farther >= SAFE * tolerance and relative > tolerance and apart is not None:
        return _different(Evidence.NUMERICAL, relative, apart).replace(distance=farther)
    if relative <= tolerance < near / SAFE:
        reason = (
            f"the functions differ by less than {tolerance:.3g}, and the weights are not related within it"
        )
        return Equivalence(None, Evidence.NUMERICAL, relative, reason)
    return _undecided(relative, farther, tolerance)


def _undecided(relative: float, distance: float, tolerance: float) -> Equivalence:
    """Nothing is said where a factor of 10 in the tolerance would change the answer."""
    reason = (
        f"the relative distance {distance:.3g} is within a factor of {SAFE:g} of the tolerance"
        f" {tolerance:.3g}: it may be rounding, or not"
    )
    return Equivalence(None, Evidence.NUMERICAL, relative, reason, distance=distance)


def _nearest_relation(first: Weights, second: Weights, tolerance: float) -> tuple[float, HeadRelation | None]:
    """How near floating weights are to the fiber of others, relatively; and the relation at that point."""
    if first.is_zero or second.is_zero:
        related = _relation(first, second, tolerance)
        return (0.0 if related else np.inf), related
    through = fiber(first)
    by_point = [(*nearness(point, second), point) for point in through.points]
    s, distance, component = min(by_point, key=lambda nearest: nearest[1])
    if not s:
        return np.inf, None
    C = _gauge(first, second, s, tolerance) if component.name == "rescaling" else None
    return distance, HeadRelation(0, 0, component.name, s, C)


def _different(evidence: Evidence, relative: float | None, apart: Difference) -> Equivalence:
    X, entry, by = apart
    at = f"X = {_rows(X)}" if X.size <= 16 and is_exact(X) else f"one input X, {len(X)} × {X.shape[1]},"
    reason = f"the outputs at {at} differ by {by} in entry ({entry[0] + 1}, {entry[1] + 1})"
    return Equivalence(False, evidence, relative, reason, X=X, place=entry, difference=by)


def _relation(w: Weights, v: Weights, tolerance: float, head: int = 0, other: int = 0) -> HeadRelation | None:
    """How one head comes from another, if they have the same function."""
    through = fiber(w, tolerance)
    component = through.component_of(v)
    if component is None:
        return None
    s = None if through.case == "zero" else scale_between(component, v, tolerance)
    C = _gauge(w, v, s, tolerance) if s is not None and component.name == "rescaling" else None
    return HeadRelation(head, other, component.name, s, C)


def _gauge(w: Weights, v: Weights, s: Any, tolerance: float) -> Array | None:
    if w.K is None or w.Q is None or v.K is None or v.Q is None or w.a != v.a:
        return None
    return gauge_between((w.K * s, w.Q), (v.K, v.Q), tolerance)


def _heads_and_layers(first: Network, second: Network, tolerance: float) -> Equivalence:
    exact = first[0][0].is_exact
    symmetry = _symmetry(first, second, tolerance)
    reason = "head by head" + ", after a change of basis between the layers" * (len(first) > 1)
    if symmetry and exact:
        return Equivalence(True, Evidence.PROVED, None, reason, symmetry)
    if (same := _same_tensors(first, second)) and exact:
        reason = "the coefficient tensors of the heads have the same sum, though not head by head"
        return Equivalence(True, Evidence.PROVED, None, reason)
    relative, apart = _compare_outputs(first, second)
    evidence = Evidence.PROVED if exact else Evidence.NUMERICAL
    if apart is not None and (exact or (relative >= SAFE * tolerance and not symmetry)):
        size = None if exact else relative
        return _different(evidence, size, apart).replace(distance=size)
    if exact:
        if same is False:
            raise InputError(
                "the coefficient tensors differ, but the outputs that were tried agree; please report it"
            )
        reason = f"equal outputs at a random input of {len(first[0][0].A)} tokens; no symmetry was found"
        return Equivalence(True, Evidence.MODULAR, None, reason)
    if symmetry and not relative <= tolerance:
        reason = f"related within {tolerance:.3g}, but outputs differ by {relative:.3g} of their size"
        return Equivalence(None, evidence, relative, reason, symmetry)
    if relative > tolerance / SAFE:
        return _undecided(relative, relative, tolerance)
    reason = reason if symmetry else "equal outputs at random inputs; no symmetry was found"
    return Equivalence(True, evidence, relative, reason, symmetry, distance=relative)


def _symmetry(first: Network, second: Network, tolerance: float) -> Relations | None:
    """The relations of all heads, and the changes of basis between layers; ``None`` if none are found."""
    if len(first) != len(second):
        return None
    relations, bases = [], list[Array]()
    back: Array | None = None  # the inverse of C_{i−1}
    for n, (heads, others) in enumerate(zip(first, second, strict=True)):
        last = n == len(first) - 1
        moved = [w if back is None else _in_basis(w, back) for w in heads]
        # A head that is 0 has no counterpart to look for.
        left, right = ([(h, w) for h, w in enumerate(group) if not w.is_zero] for group in (moved, others))
        if len(left) != len(right) or {w.V.shape for w in moved} != {w.V.shape for w in others}:
            return None
        relate = _relation if last else _scaled
        candidates = [
            [relation for g, v in right if (relation := relate(w, v, tolerance, h, g))] for h, w in left
        ]
        for matching in itertools.islice(_matchings(candidates), 1 if last else MOST_MATCHINGS):
            if last or (C := _basis(matching, moved, others, tolerance)) is not None:
                break
        else:
            return None
        relations.append(matching)
        if not last:
            assert C is not None
            bases.append(C)
            back = inverse(C)
    return Relations(tuple(relations), tuple(bases))


def _in_basis(w: Weights, back: Array) -> Weights:
    """The head for tokens C·x, given C⁻¹."""
    K, Q = (None if M is None else M @ back for M in (w.K, w.Q))
    return Weights(back.T @ w.A @ back, w.V @ back, w.a, K, Q, w.dtype)


def _scaled(w: Weights, v: Weights, tolerance: float, head: int, other: int) -> HeadRelation | None:
    """The relation of two heads whose A are proportional, whatever their V are."""
    if w.A.shape != v.A.shape:
        return None
    ones = w.V * 0 + 1
    largest = _largest(w.A)
    if not (s := v.A[largest] / w.A[largest]):
        return None
    component = fiber(Weights(w.A, ones, w.a), tolerance).components[0]
    if scale_between(component, Weights(v.A, ones / s, v.a), tolerance) is None:
        return None
    return HeadRelation(head, other, "rescaling", s, _gauge(w, v, s, tolerance))


def _matchings(candidates: list[list[HeadRelation]]) -> Iterator[tuple[HeadRelation, ...]]:
    """All ways to choose one relation for each head such that no other head is chosen twice."""

    def extend(chosen: tuple[HeadRelation, ...]) -> Iterator[tuple[HeadRelation, ...]]:
        if len(chosen) == len(candidates):
            yield chosen
            return
        for relation in candidates[len(chosen)]:
            if all(relation.other != r.other for r in chosen):
                yield from extend((*chosen, relation))

    return extend(())


def _basis(
    matching: tuple[HeadRelation, ...], heads: Sequence[Weights], others: Sequence[Weights], tolerance: float
) -> Array | None:
    """The one C with C·V_h = s·V'_h for all heads; ``None`` if there is none, or more than one."""
    if not matching:
        return None
    V = np.hstack([heads[r.head].V for r in matching])
    image = np.hstack([others[r.other].V * r.s for r in matching])
    # The columns of V span ℝ^d; change_of_basis wants independent rows, and V has them in that case.
    C = change_of_basis(V, image, tolerance)
    if C is None or inverse(C) is None:
        return None
    close = 0 if is_exact(C) else tolerance * np.abs(image).max()
    return C if np.abs(C @ V - image).max() <= close else None


def _same_tensors(first: Network, second: Network) -> bool | None:
    """Whether the heads of single layers have coefficient tensors of the same sum; ``None`` if not asked."""
    layer = SingleLayer(len(first[0][0].A), len(first[-1][0].V))
    exact = first[0][0].is_exact
    if not len(first) == len(second) == 1 or not exact or layer.ambient_dimension > MOST_COORDINATES:
        return None
    y, z = (sum(coefficients(layer, w.A, w.V) for w in heads) for (heads,) in (first, second))
    return bool(np.all(y == z))


def _outputs(network: Network, X: Array) -> Array:
    for heads in network:
        S = X @ X.T
        X = sum(w.V @ S @ w.A @ X for w in heads)
    return X


def _compare_outputs(first: Network, second: Network) -> tuple[float, Difference | None]:
    """The relative distance of outputs at random inputs; and the first X where they differ, and how."""
    d, exact, rng = len(first[0][0].A), first[0][0].is_exact, np.random.default_rng(0)
    worst, apart = 0.0, None
    for size in (1, 9, 2**30):
        shape = (d, max(2, d))
        if exact:
            X = scalars(rng.integers(-size, size + 1, shape), "X")
        else:
            X = rng.standard_normal(shape) / np.sqrt(d)
        with np.errstate(over="ignore", invalid="ignore"):
            Y, Z = _outputs(first, X), _outputs(second, X)
            gap = Z - Y
            if exact and not gap.any():
                continue
            if not exact:
                relative = float(np.linalg.norm(gap) / (np.linalg.norm(Y) or 1.0))
                if not np.isfinite(relative):
                    raise InputError("the outputs are too large for floating point; scale the weights")
                if relative <= worst:
                    continue
                worst = relative
        apart = X, (entry := _largest(gap)), gap[entry]
        if exact:
            break
    return worst, apart


def _separating_input(first: Weights, second: Weights) -> Difference | None:
    """An input of 0s and ±1s on which two different functions of t ≥ 2 tokens differ most; ``None`` if none.

    The second column of the output at (u, w), less that at (0, w), is Y(u)w. If the tensors differ, some
    Y(u)w does, with u a unit vector or a sum of two, and w a unit vector.
    """
    exponent = 0
    exact = first.is_exact and second.is_exact
    if not exact:
        first, second, exponent = _at_unit_scale(first, second)
    best: tuple[Array, tuple[int, int]] | None = None
    largest: Any = 0
    for count, (u, w) in enumerate(_probes(len(first.A))):
        inputs = [np.stack([start, w], axis=1) for start in (u, u * 0)]
        points = inputs if exact else [as_floats(X) for X in inputs]
        gaps = [second(X) - first(X) for X in points]
        if not (gaps[0] - gaps[1])[:, 1].any():
            continue
        for X, gap in zip(inputs, gaps, strict=True):
            entry = _largest(gap)
            if abs(gap[entry]) > largest:
                best, largest = (X, entry), abs(gap[entry])
        if best is not None and (exact or count >= 32):
            break
    if best is None:
        return None
    X, entry = best
    gap = (second(X) - first(X))[entry]
    return X, entry, np.ldexp(gap, exponent) if exponent else gap


def _largest(M: Array) -> tuple[int, int]:
    """The place of the largest entry, row and column."""
    row, column = divmod(int(np.abs(M).argmax()), M.shape[1])
    return row, column


def _at_unit_scale(first: Weights, second: Weights) -> tuple[Weights, Weights, int]:
    """Weights whose functions are these divided by one power of two; and its exponent."""
    pairs = [(scaled(as_floats(w.A)), scaled(as_floats(w.V))) for w in (first, second)]
    top, a = max(of_a + of_v for (_, of_a), (_, of_v) in pairs), first.a
    first, second = (Weights(A, np.ldexp(V, of_a + of_v - top), a) for (A, of_a), (V, of_v) in pairs)
    return first, second, top


def _probes(d: int) -> Iterator[tuple[Array, Array]]:
    """Pairs of vectors of 0s and ±1s: for d > 4 first random ones, most of which separate; then all units."""
    if d > 4:
        rng = np.random.default_rng(0)
        for _ in range(32):
            u, w = scalars(rng.integers(-1, 2, (2, d)), "u")
            yield u, w
    units = scalars(np.eye(d, dtype=int), "u")
    points = [*units, *(units[i] + units[k] for i in range(d) for k in range(i))]
    yield from itertools.product(points, units)
