r"""Is this tensor in the neuromanifold, and which weights does it come from?

For exact tensors the answer is a proof. All complex preimages come from unique factorization
(:mod:`agattn.geometry.identifiability.weights`), so a tensor is

- in M, with its weights up to the fiber;
- in M̄(ℝ) and not in M: h ⊗ q ⊗ Q with Q definite of rank 2;
- the tensor of an A of rank above a;
- or not in M̄ at all: then it violates an equation, and one is named
  (:mod:`agattn.geometry.reconstruction.separating_equations`).

For floating-point tensors the same is decided up to a stated tolerance on the relative residual, from the
best approximation by alternating least squares (:mod:`agattn.geometry.reconstruction.nearest_point`); the
evidence is ``numerical``. Where a tensor is not in M, the weights returned are those of the nearest point
found.

With one token, t = 1, only V and S = (A + Aᵀ)/2 can be recovered, from the cubic forms V_c(x)·xᵀSx
(:mod:`agattn.geometry.reconstruction.nearest_point`).

>>> from agattn.architectures import SingleLayer
>>> found = identify(SingleLayer(2, 1), [5, 22, 21, 10, 34, 28])
>>> print(found)
in M: unique factorization of y_{1,1} into linear forms
>>> [[str(x) for x in row] for row in found.A], [[str(x) for x in row] for row in found.V]
([['1', '2'], ['3', '4']], [['5', '7']])
>>> print(identify(SingleLayer(2, 1), [1, 0, 1, 0, 0, 0]))
not in M, but in its Zariski closure: h ⊗ q ⊗ Q with Q definite
>>> print(identify(SingleLayer(2, 1), [1, 0, 0, 0, 0, 1]))
not in the Zariski closure of M: the resultant of y_{1,1} and y_{1,2} on the plane (1, 0), (0, 1) is 1
>>> print(identify(SingleLayer(2, 1, 1), [5, 22, 21, 10, 34, 28]).reason)
the rank of A is 2, above a = 1: the 2 × 2 minor, rows b = 1, 2, columns (c,i,k) = (1,1,1), (1,1,2),
of the matrix of all y_{c,b,i,k} is -50

**A layer that can only be evaluated** is identified from its values at chosen inputs.
For t ≥ 2 and an input whose first token is u and whose others are w_2, ..., w_t,

.. math:: φ(u, w_2, ..., w_t) - φ(0, w_2, ..., w_t) = (0 \text{ or more},\; Y(u)w_2, ..., Y(u)w_t)

in columns 2, ..., t, with Y(u) = (Vu)(Aᵀu)ᵀ: the first token enters the other columns by its square only.
With u = e_i and e_i + e_k and the w a basis this gives all N coefficients in ⌈d/(t−1)⌉·(C(d+1,2) + 1)
evaluations, exactly if the function is exact, and then membership is decided as for any tensor. Beyond
`LARGEST_TENSOR` coefficients the action u ↦ Y(u) takes their place
(:mod:`agattn.geometry.reconstruction.nearest_point`), with
at most (6d + 22)·⌈d/(t−1)⌉ evaluations, where membership is checked at random points.
At t = 1 the C(d+2, 3) points with whole coordinates and sum 3 determine the cubic forms.

A table of inputs and outputs that were not chosen is linear in the coefficients.

>>> from agattn.architectures.lightning import phi
>>> layer = SingleLayer(2, 1, t=3)
>>> len(queries(layer))
4
>>> def function(X): return phi([[1, 2], [3, 4]], [[5, 7]], X)
>>> found = identify_function(layer, function)
>>> print(found, [[str(x) for x in row] for row in found.A])
in M: unique factorization of y_{1,1} into linear forms [['1', '2'], ['3', '4']]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from agattn.algebra.scalars import (
    TOLERANCE,
    Array,
    as_floats,
    decide_rank,
    flint_matrix,
    fraction_matrix,
    is_exact,
    scalars,
    scaled,
    unread,
)
from agattn.architectures import SingleLayer, one_layer
from agattn.errors import AgattnError, InputError
from agattn.evidence import Evidence
from agattn.geometry.identifiability.weights import canonical_scale, preimages
from agattn.geometry.reconstruction.nearest_point import (
    Approximation,
    action_residual,
    dominant_form,
    factorizations,
    nearest_forms,
    nearest_weights,
    signature,
    weights_from_action,
)
from agattn.geometry.reconstruction.separating_equations import Violation, find_violation
from agattn.geometry.variety.coefficient_norm import nearest_of_rank, symmetric_tensor
from agattn.geometry.variety.coordinates import compact_coefficients, full_tensor, monomials
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, array_cell
from agattn.sheet.result import ENTRIES, EXACTNESS, FINITE, Key, Named, Result

_ONLY = "only V and A + Aᵀ are determined, up to scale"
RESIDUAL_TOLERANCE = 1e-8
"""Relative residual below which a floating-point tensor counts as a point of M, unless said otherwise."""


class Identification(Result, name="identify", eq=False):
    """What is known about a tensor.

    A, d × d, is in the canonical scale, and V is d' × d. Both are exact where the tensor is exact and has
    rational weights, and ``None`` where the weights are not rational and beyond the range of floats.
    """

    layer: Key[SingleLayer, "The layer.", Named("architecture")]
    in_neuromanifold: Key[bool | None, "Whether the tensor is in M; null where that stayed open."]
    in_zariski_closure: Key[bool | None, "Whether it is in the Zariski closure; null where that stayed open."]
    A: Key[
        Array | None,
        "A, or at t = 1 its symmetric part; of the nearest point found, if not in M.",
        Named("a"),
        ENTRIES,
    ]
    V: Key[Array | None, "V, of the same point as `a`.", Named("v"), ENTRIES]
    residual: Key[float, "‖y − φ_{A,V}‖ / ‖y‖ in the norm that orthogonal changes of basis keep.", FINITE]
    evidence: Key[Evidence, "`proved` where what was given is exact, else `numerical`.", EXACTNESS]
    reason: Key[str, "Why the tensor is in M, or is not."]
    violation: Key[
        Violation | None,
        "An equation that fails at the tensor; null if the tensor is in the closure, or none was sought.",
    ] = None
    preimages: Key[int | None, "The number of preimages over ℂ up to scaling; null in floating point."] = None

    def summary(self) -> str:
        """Where the tensor is, and why."""
        outside = {
            True: "not in M, but in its Zariski closure",
            None: "not in M",
            False: "not in the Zariski closure of M",
        }
        where = {True: "in M", None: "undecided", False: outside[self.in_zariski_closure]}
        return f"{where[self.in_neuromanifold]}: {self.reason}"

    def sheet(self) -> Sheet:
        """The answers, and the weights."""
        words = {True: "yes", False: "no", None: "undecided"}
        rows: list[tuple[Cell, ...]] = [
            ("in M", words[self.in_neuromanifold]),
            ("in its Zariski closure", words[self.in_zariski_closure]),
            ("evidence", str(self.evidence)),
            (Wide("why"), self.reason),
            ("relative distance of A, V", f"{float(self.residual):.3g}"),
        ]
        weights = [(name, M) for name, M in (("A", self.A), ("V", self.V)) if M is not None]
        rows += [(name, array_cell(M)) for name, M in weights]
        if self.violation is not None:
            rows.append((Wide("violated equation"), str(self.violation)))
        lines = []
        for name, M in weights:
            if M.size <= 100:
                cells = [[f"{x:.6g}" if isinstance(x, float) else str(x) for x in row] for row in M.tolist()]
                lines.append(f"{name} = " + "\n    ".join(map("  ".join, cells)))
        if not self.in_neuromanifold and self.A is not None:
            lines.append(f"these weights are at the relative distance {self.residual:.6g}")
        notes = (Note("\n".join(lines), apart=False),) if lines else ()
        table = Table(str(self.layer), (), tuple(rows), where="page")
        return Sheet(f"{self} ({self.evidence})", (table, *notes))


def identify_tensor(
    layer: SingleLayer, tensor: Any, tolerance: float = RESIDUAL_TOLERANCE, nearest: bool = True
) -> Identification:
    """Recover the weights of a coefficient tensor, or say why there are none.

    Args:
        layer: the layer; it says how many tokens a full tensor has.
        tensor: the N compact coefficients in the order of
            :func:`agattn.geometry.variety.coordinates.coefficients`, or the full tensor d' × t × C(dt+2, 3).
            Integers and rationals are exact; floats are not.
        tolerance: the relative residual up to which a floating-point tensor counts as one of M.
        nearest: whether to look for the nearest point of M where the tensor is not in it.

    Raises:
        InputError: if the tensor has the wrong shape or an entry that is not a finite number; or if it is a
            full tensor that is not the expansion of any compact one.
    """
    y = compact(layer, tensor, tolerance)
    if not y.any():
        A, V = (y[0] * np.zeros((n, layer.d), dtype=np.int64) for n in (layer.d, layer.d_out))
        evidence = Evidence.PROVED if is_exact(y) else Evidence.NUMERICAL
        reason = "the tensor is 0: A = 0 or V = 0" if layer.has_orbits else "the tensor is 0"
        return Identification(layer, True, True, A, V, 0.0, evidence, reason)
    if not layer.has_orbits:
        return _one_token(layer, y, tolerance)
    return _exact(layer, y, nearest) if is_exact(y) else _floating(layer, y, tolerance)


def compact(layer: SingleLayer, tensor: Any, tolerance: float = RESIDUAL_TOLERANCE) -> Array:
    """The N coefficients of a compact or full tensor, exact or in float64; InputError as in identify."""
    y = unread(tensor, "the tensor")
    N, full = layer.ambient_dimension, (layer.d_out, layer.t, comb(layer.d * layer.t + 2, 3))
    if y.size == N and (y.ndim == 1 or layer.has_orbits):
        return scalars(y, "the tensor").reshape(N)
    if y.shape != full:
        raise InputError(
            f"the tensor has the shape {y.shape}; {layer.name} needs N = {N} compact coefficients"
            f" or all of them, {full[0]} × {full[1]} × {full[2]}"
        )
    y = scalars(y, "the tensor")
    y_compact = compact_coefficients(layer, y)
    gap = np.abs(full_tensor(layer, y_compact) - y)
    if gap.any() and (is_exact(y) or gap.max() > tolerance * np.abs(y).max()):
        c, tau, m = np.unravel_index(int(gap.argmax()), gap.shape)
        name = "·".join(f"x_{{{i},{j}}}" for i, j in monomials(layer.d, layer.t)[m])
        raise InputError(
            f"the full tensor is that of no layer: the coefficient of {name} in output ({c + 1}, {tau + 1})"
            " does not follow from the others"
        )
    return y_compact


def _unit_scale(y: Array) -> tuple[Array, int]:
    """As :func:`~agattn.algebra.scalars.scaled`, in floats, for a tensor that may be exact."""
    if not is_exact(y):
        return scaled(y)
    largest = Fraction(max(abs(x) for x in y.tolist()))
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    return as_floats(y / Fraction(2) ** exponent), exponent


def _at_scale(near: Approximation, exponent: int) -> tuple[Array, Array] | tuple[None, None]:
    """The weights in the canonical scale, their function multiplied by a power of two.

    ``None`` where that function has coefficients beyond the range of floats.
    """
    if not -1074 <= exponent <= 1024:
        return None, None
    A, V = np.ldexp(near.A, exponent // 2), np.ldexp(near.V, exponent - exponent // 2)
    return canonical_scale(A, V) if A.any() and V.any() else (A, V)


def _exact(layer: SingleLayer, y: Array, nearest: bool) -> Identification:
    """For t ≥ 2, from all preimages of the tensor."""
    free = SingleLayer(layer.d, layer.d_out)
    fiber = preimages(free, y.tolist())
    rank = decide_rank(fiber.points[0].A).rank if fiber.points else 1
    fits = fiber.number > 0 and rank <= layer.alpha
    member, reason, violation = fits and fiber.is_real, fiber.reason, None
    if fiber.discriminant is not None:
        reason = "h ⊗ q ⊗ Q with Q definite"
        if member:
            reason = f"h ⊗ q ⊗ Q with Q = l·l', which are conjugate over ℚ(√{fiber.discriminant})"
            reason += "; the weights shown are rounded"
    elif fiber.number and not fits:
        violation = find_violation(layer, y, rank_only=True)
        reason = f"the rank of A is {rank}, above a = {layer.a}: {violation}"
    elif not fiber.number:
        # Unique factorization has decided; an equation is for the reader.
        violation = find_violation(free, y)
        reason = str(violation or f"{reason}; no violated equation was found among some hundreds")
    A, V, residual = None, None, float("nan")
    if member and fiber.points:
        (A, V), residual = canonical_scale(fiber.points[0].A, fiber.points[0].V), 0.0
    elif member or nearest:
        floats, exponent = _unit_scale(y)
        T = symmetric_tensor(floats, layer.d, layer.d_out)
        near = nearest_weights(T, 1 if member else layer.alpha)
        (A, V), residual = _at_scale(near, exponent), near.residual
    return Identification(
        layer, member, fits, A, V, residual, Evidence.PROVED, reason, violation, fiber.number
    )


def _floating(layer: SingleLayer, y: Array, tolerance: float) -> Identification:
    """For t ≥ 2, from the best approximations."""
    floats, exponent = scaled(y)
    T = symmetric_tensor(floats, layer.d, layer.d_out)
    near = nearest_weights(T, layer.alpha)
    A, V = _at_scale(near, exponent)
    residual, violation, closure = near.residual, None, None
    member = residual <= tolerance
    if member:
        closure, reason = True, f"the relative residual {residual:.3g} is at most {tolerance:g}"
    elif layer.d > 1 and _is_definite(T, tolerance):
        closure, reason = True, "h ⊗ q ⊗ Q with Q definite"
    elif layer.alpha < layer.d and (free := nearest_weights(T, layer.d)).residual <= tolerance:
        rank = decide_rank(free.A, max(TOLERANCE, tolerance))
        violation = find_violation(layer, y, tolerance=tolerance, rank_only=True)
        detail = f": {violation}" if violation else f" by a factor of {rank.margin:.3g} over the tolerance"
        closure, reason = False, f"the rank of A is {rank.rank}, above a = {layer.a}{detail}"
    else:
        violation = find_violation(SingleLayer(layer.d, layer.d_out), y, tolerance=tolerance)
        closure = False if violation else None
        far = f"the nearest point found is at the relative distance {residual:.3g}, above {tolerance:g}"
        reason = str(violation or far)
    return Identification(layer, member, closure, A, V, residual, Evidence.NUMERICAL, reason, violation)


def _one_token(layer: SingleLayer, z: Array, tolerance: float) -> Identification:
    """For t = 1, from the factorizations of the cubic forms, or the nearest product to them.

    Some A of rank ≤ a has the symmetric part S if and only if S has at most a positive and at most a negative
    eigenvalues: pair the squares of a diagonal form as x² − y² = (x − y)(x + y), which is the symmetric part
    of a matrix of rank one, as is ±x².
    """
    exact = factorizations(layer, z) if is_exact(z) else None
    given: Sequence[tuple[Array, Array] | tuple[None, None]]
    if exact is not None and exact.pairs:
        given = pairs = [canonical_scale(*pair) for pair in exact.pairs]
        residual = 0.0
    else:
        floats, exponent = _unit_scale(z)
        near = nearest_forms(layer, floats, tolerance)
        pairs, residual = [canonical_scale(near.A, near.V)], near.residual
        given = [_at_scale(near, exponent)]
    signatures = [signature(S) for S, _ in pairs]
    proved = residual == 0.0 and exact is not None
    fitting = next((n for n, pair in enumerate(signatures) if max(pair) <= layer.a), None)
    member, evidence = fitting is not None, Evidence.PROVED if proved else Evidence.NUMERICAL
    closure: bool | None = True
    (plus, minus), beta = signatures[0], min(layer.d, 2 * layer.a)
    if exact is not None and not exact.pairs and not (exact.irreducible and exact.parallel):
        member, closure, evidence = False, False, Evidence.PROVED
        reason = "the cubic forms are not linear forms times one quadratic form"
        if exact.irreducible:
            reason += f": z_{exact.first + 1} is irreducible over ℚ, and not all are multiples of it"
    elif not residual <= tolerance:
        member, closure = False, None
        reason = f"the nearest forms found are at the relative distance {residual:.3g}, above {tolerance:g}"
    elif not member:
        reason = f"A + Aᵀ has {plus} positive and {minus} negative eigenvalues, above a = {layer.a}"
        closure = any(sum(pair) <= beta for pair in signatures)
        if proved and not closure:
            reason += f", and rank {plus + minus}, above min(d, 2a) = {beta}"
    elif exact is not None and proved:
        choices = f", and there are {len(pairs)} choices" if len(pairs) > 1 else ""
        reason = f"z_{exact.first + 1} has a linear factor; {_ONLY}{choices}"
    else:
        reason = f"the relative residual {residual:.3g} is at most {tolerance:g}; {_ONLY}"
    if exact is not None and evidence is Evidence.NUMERICAL:
        # A form that is irreducible over ℚ with a linear factor over ℂ is a norm from a cubic field.
        reason += f"; z_{exact.first + 1} is irreducible over ℚ, so the weights are irrational and rounded"
    A, V = given[fitting or 0]
    return Identification(layer, member, closure, A, V, residual, evidence, reason)


def _is_definite(T: Array, tolerance: float) -> bool:
    """Whether T is h ⊗ q ⊗ Q with Q = ±(l² + m²), up to the tolerance on the relative residual."""
    h, q, form = dominant_form(T)
    values, vectors = np.linalg.eigh(form)
    top = np.argsort(-np.abs(values))[:2]
    if values[top].prod() <= 0:
        return False
    Q = (vectors[:, top] * values[top]) @ vectors[:, top].T
    model = np.einsum("c,b,ik->cibk", h, q, Q)
    return bool(np.linalg.norm(T - model) <= tolerance * np.linalg.norm(T))


Function = Callable[[Array], Any]


LARGEST_TENSOR = 20_000


def queries(layer: SingleLayer) -> list[Array]:
    """The inputs, d × t, whose outputs determine all N coefficients; entries are Python ints."""
    units = np.eye(layer.d, dtype=object)
    if not layer.has_orbits:
        # A homogeneous cubic form that vanishes on all sums of three unit vectors is 0.
        return [units[list(m)].sum(axis=0)[:, None] for m in combinations_with_replacement(range(layer.d), 3)]
    pairs = combinations_with_replacement(range(layer.d), 2)
    points = [units[i] if i == k else units[i] + units[k] for i, k in pairs]
    return [np.stack([u, *W], axis=1) for W in _blocks(layer) for u in (units[0] * 0, *points)]


def tensor_from_answers(layer: SingleLayer, answers: list[Any]) -> Array:
    """The N compact coefficients from the outputs, d' × t, at :func:`queries`.

    Raises:
        InputError: if their number or a shape is wrong, or an entry is not a finite number.
    """
    asked = queries(layer)
    if len(answers) != len(asked):
        raise InputError(f"there are {len(answers)} outputs for {len(asked)} queries; give one for each")
    given = [_output(layer, answer) for answer in answers]
    outputs = np.stack(given if is_exact(*given) else [as_floats(output) for output in given])
    if not layer.has_orbits:
        return _solve(_features(layer, np.stack(asked)), outputs[:, :, 0], RESIDUAL_TOLERANCE)
    i, k = np.triu_indices(layer.d)
    outputs = outputs.reshape(-1, len(i) + 1, layer.d_out, layer.t)
    # y_{c,b}(u) at every u, from the difference to u = 0; then, by polarization, its coefficients.
    values = (outputs[:, 1:] - outputs[:, :1])[..., 1:].transpose(2, 0, 3, 1)
    y: Array = values.reshape(layer.d_out, -1, len(i))[:, : layer.d].copy()
    square, mixed = np.flatnonzero(i == k), i < k
    y[..., mixed] -= y[..., square[i[mixed]]] + y[..., square[k[mixed]]]
    return y.ravel()


def identify(
    layer: SingleLayer,
    tensor_or_function: Any,
    *,
    tolerance: float = RESIDUAL_TOLERANCE,
    nearest: bool = True,
) -> Identification:
    """The weights behind a coefficient tensor or a function, or the reason why there are none.

    Args:
        layer: one layer.
        tensor_or_function: the N compact coefficients, the full tensor d' × t × C(dt+2, 3), a function from
            d × t arrays to d' × t arrays, or a mapping with X, n × d × t, and Y, n × d' × t: a table of its
            values.
        tolerance: the relative residual up to which floating-point coefficients count as those of M.
        nearest: whether to look for the nearest point of M where the tensor is not in it.

    Raises:
        InputError: for a network, if the tensor or the outputs have another shape, or if the inputs of a
            table do not determine the coefficients.

    See Also:
        :func:`agattn.equivalent`, :func:`agattn.fiber`, :func:`agattn.weights`; ``agattn identify`` in a
        shell.

    >>> import agattn as ag
    >>> ag.identify(ag.SingleLayer(2, 1), [1, 0, 1, 0, 0, 0])
    not in M, but in its Zariski closure: h ⊗ q ⊗ Q with Q definite
    >>> w = ag.weights(A=[[1, 2], [3, 4]], V=[[5, 7]])
    >>> ag.identify(ag.SingleLayer(2, 1), w).V.tolist()[0]
    [Fraction(5, 1), Fraction(7, 1)]
    """
    single = one_layer(layer, "coefficient tensors", "two networks are compared by ag.equivalent")
    if callable(tensor_or_function):
        return identify_function(single, tensor_or_function, tolerance)
    if isinstance(tensor_or_function, Mapping) and {"X", "Y"} <= set(tensor_or_function):
        return identify_table(single, tensor_or_function["X"], tensor_or_function["Y"], tolerance)
    return identify_tensor(single, tensor_or_function, tolerance, nearest)


def identify_function(
    layer: SingleLayer, function: Function, tolerance: float = RESIDUAL_TOLERANCE
) -> Identification:
    """Identify a function from d × t arrays to d' × t arrays by evaluating it at chosen inputs.

    It is asked with Python ints while there are at most ``LARGEST_TENSOR`` coefficients, else with floats.
    The function is trusted to be a homogeneous cubic map as a lightning layer is; from the coefficients the
    outputs at two more inputs are checked.

    Raises:
        InputError: if the function raises, or an output has the wrong shape or entries, or contradicts the
            coefficients.
    """
    function = _asked(function)
    if layer.ambient_dimension <= LARGEST_TENSOR or not layer.has_orbits:
        y = tensor_from_answers(layer, [function(X) for X in queries(layer)])
        _check_elsewhere(layer, y, function, tolerance)
        return identify_tensor(layer, y, tolerance)
    action = partial(function_action, layer, function)
    A, V = weights_from_action(action, layer.d)
    if layer.alpha < layer.d and V.any():
        A = nearest_of_rank(A, V, layer.alpha)
    residual = action_residual(action, A, V, points=8)
    if A.any() and V.any():
        A, V = canonical_scale(A, V)
    member = residual <= tolerance
    reason = f"the relative residual at random points is {residual:.3g}, "
    reason += f"{'at most' if member else 'above'} {tolerance:g}"
    closure = True if member else None
    return Identification(layer, member, closure, A, V, residual, Evidence.NUMERICAL, reason)


def _asked(function: Function) -> Function:
    """A function whose errors are one line."""

    def answer(X: Array) -> Any:
        try:
            return function(X)
        except (AgattnError, MemoryError):
            raise
        except Exception as error:
            message = " ".join(str(error).split())
            size = "×".join(map(str, X.shape))
            raise InputError(
                f"the function raised {type(error).__name__} at a {size} array: {message}"
            ) from error

    return answer


def function_action(layer: SingleLayer, function: Function, u: Array) -> Array:
    """Y(u), d' × d in floating point, from 2·⌈d/(t−1)⌉ evaluations."""
    parts = []
    for W in _blocks(layer):
        there, base = (np.stack([start, *as_floats(W)], axis=1) for start in (u, u * 0))
        difference = as_floats(_output(layer, function(there))) - as_floats(_output(layer, function(base)))
        parts.append(difference[:, 1:])
    return scalars(np.concatenate(parts, axis=1)[:, : layer.d], "a difference of outputs")


def identify_table(
    layer: SingleLayer, inputs: Any, outputs: Any, tolerance: float = RESIDUAL_TOLERANCE
) -> Identification:
    """Identify a layer from a table of inputs, n × d × t, and outputs, n × d' × t.

    Raises:
        InputError: if the shapes do not fit, if the inputs do not determine all coefficients, or if no
            coefficients give these outputs.

    >>> from agattn.architectures.lightning import phi
    >>> X = np.random.default_rng(0).integers(-3, 4, (4, 2, 2))
    >>> Y = np.stack([phi([[1, 2], [3, 4]], [[5, 7]], x) for x in X])
    >>> identify_table(SingleLayer(2, 1), X, Y).in_neuromanifold
    True
    """
    X, Y = scalars(inputs, "the inputs"), scalars(outputs, "the outputs")
    n = len(X) if X.ndim else 0
    if X.shape != (n, layer.d, layer.t) or Y.shape != (n, layer.d_out, layer.t):
        raise InputError(
            f"the inputs are {X.shape} and the outputs {Y.shape}; they must be n × {layer.d} × {layer.t}"
            f" and n × {layer.d_out} × {layer.t}"
        )
    if not is_exact(X, Y):
        X, Y = as_floats(X), as_floats(Y)
    y = _solve(_features(layer, X), Y.swapaxes(1, 2).reshape(-1, layer.d_out), tolerance)
    return identify_tensor(layer, y, tolerance)


def _features(layer: SingleLayer, X: Array) -> Array:
    """For each column τ of each input the factors (XXᵀ)_{ik} x_{b,τ} of y_{c,b,i,k}; or x_i x_j x_k."""
    if not layer.has_orbits:
        triples = np.array(list(combinations_with_replacement(range(layer.d), 3))).T
        return np.asarray(X[:, triples, 0].prod(axis=1))
    i, k = np.triu_indices(layer.d)
    squares = np.array([x @ x.T for x in X])[:, i, k]
    features = X.swapaxes(1, 2)[:, :, :, None] * squares[:, None, None, :]
    return np.asarray(features.reshape(len(X) * layer.t, -1))


def _solve(features: Array, values: Array, tolerance: float) -> Array:
    """y, c by c, from features·y_c = values[:, c]."""
    unknowns = features.shape[1]
    rank = decide_rank(features).rank
    if rank < unknowns:
        raise InputError(
            f"the inputs determine only {rank} of {unknowns} coefficients of each output; add inputs"
        )
    if is_exact(features, values):
        reduced, total = flint_matrix(np.concatenate([features, values], axis=1)).rref()
        if total > unknowns:
            raise InputError("no coefficients give these outputs: no lightning layer has them")
        return np.asarray(fraction_matrix(reduced)[:unknowns, unknowns:].T.ravel())
    features, values = as_floats(features), as_floats(values)
    solution = np.linalg.lstsq(features, values, rcond=None)[0]
    error = np.linalg.norm(features @ solution - values) / max(float(np.linalg.norm(values)), 1e-300)
    if error > max(tolerance, TOLERANCE):
        raise InputError(
            f"no coefficients give these outputs: the best leave a relative error of {error:.3g};"
            " raise the tolerance if the outputs are noisy"
        )
    return np.asarray(solution.T.ravel())


def _check_elsewhere(layer: SingleLayer, y: Array, function: Function, tolerance: float) -> None:
    """Compare with the function where it was not asked, so that a function of another kind is noticed."""
    for X in np.random.default_rng(0).integers(-3, 4, (2, layer.d, layer.t)).astype(object):
        output = _output(layer, function(X))
        expected = (_features(layer, X[None]) @ y.reshape(layer.d_out, -1).T).T
        gap = np.abs(as_floats(output - expected)).max()
        bound = tolerance * max(1.0, float(np.abs(as_floats(output)).max()))
        if gap > (0.0 if is_exact(output, expected) else bound):
            raise InputError(
                "the function is not a lightning layer: its values contradict the coefficients they give"
            )


def _output(layer: SingleLayer, answer: Any) -> Array:
    output = scalars(answer, "the output of the function")
    if output.shape != (layer.d_out, layer.t):
        raise InputError(
            f"the output of the function has the shape {output.shape}; it must be {layer.d_out} × {layer.t}"
        )
    return output


def _blocks(layer: SingleLayer) -> Array:
    """The unit vectors in blocks of t − 1, the last one filled with zeros."""
    size = layer.t - 1
    return np.eye(layer.d + -layer.d % size, layer.d, dtype=object).reshape(-1, size, layer.d)
