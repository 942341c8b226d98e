r"""Identifying a layer that can only be evaluated: which inputs to ask, and the weights from the answers.

For t ≥ 2 and an input whose first token is u and whose others are w_2, ..., w_t,

.. math:: φ(u, w_2, ..., w_t) - φ(0, w_2, ..., w_t) = (0 \text{ or more},\; Y(u)w_2, ..., Y(u)w_t)

in columns 2, ..., t, with Y(u) = (Vu)(Aᵀu)ᵀ: the first token enters the other columns by its square only.
With u = e_i and e_i + e_k and the w a basis this gives all N coefficients in ⌈d/(t−1)⌉·(C(d+1,2) + 1)
evaluations, exactly if the function is exact, and then membership is decided as for any tensor. Beyond
`LARGEST_TENSOR` coefficients the action u ↦ Y(u) takes their place
(:mod:`agattn.geometry.reconstruction.action`), with
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

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations_with_replacement
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
)
from agattn.architectures import SingleLayer, one_layer
from agattn.errors import AgattnError, InputError
from agattn.evidence import Evidence
from agattn.geometry.identifiability.weights import canonical_scale
from agattn.geometry.reconstruction import membership
from agattn.geometry.reconstruction.action import action_residual, weights_from_action
from agattn.geometry.reconstruction.membership import RESIDUAL_TOLERANCE, Identification
from agattn.geometry.variety.coefficient_norm import nearest_of_rank

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
    one = one_layer(layer, "coefficient tensors", "two networks are compared by ag.equivalent")
    if callable(tensor_or_function):
        return identify_function(one, tensor_or_function, tolerance)
    if isinstance(tensor_or_function, Mapping) and {"X", "Y"} <= set(tensor_or_function):
        return identify_table(one, tensor_or_function["X"], tensor_or_function["Y"], tolerance)
    return membership.identify(one, tensor_or_function, tolerance, nearest)


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
        return membership.identify(layer, y, tolerance)
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
            said = " ".join(str(error).split())
            size = "×".join(map(str, X.shape))
            raise InputError(
                f"the function raised {type(error).__name__} at a {size} array: {said}"
            ) from error

    return answer


def function_action(layer: SingleLayer, function: Function, u: Array) -> Array:
    """Y(u), d' × d in floating point, from 2·⌈d/(t−1)⌉ evaluations."""
    parts = []
    for W in _blocks(layer):
        there, base = (np.stack([start, *as_floats(W)], axis=1) for start in (u, u * 0))
        difference = as_floats(_output(layer, function(there))) - as_floats(_output(layer, function(base)))
        parts.append(difference[:, 1:])
    return np.concatenate(parts, axis=1)[:, : layer.d]


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
    return membership.identify(layer, y, tolerance)


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
        found = _output(layer, function(X))
        expected = (_features(layer, X[None]) @ y.reshape(layer.d_out, -1).T).T
        gap = np.abs(as_floats(found - expected)).max()
        bound = tolerance * max(1.0, float(np.abs(as_floats(found)).max()))
        if gap > (0.0 if is_exact(found, expected) else bound):
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
