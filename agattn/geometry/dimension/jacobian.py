"""The Jacobian of θ ↦ (φ_θ(X_1), ..., φ_θ(X_n)) at given parameters, over any scalars, for any architecture.

Its rank, over enough inputs and at generic parameters, is the dimension of the neuromanifold. The columns are
the parameters. A row belongs to an input X and a cotangent c ∈ ℝ^{d_l×t}: the gradient of ⟨c, φ(X)⟩. With all
d_l t unit cotangents at each input one gets the full Jacobian; but its rows at one input repeat much of what
other inputs say (φ(X) = L X P says only t² numbers about P once L is known), and any number of inputs that
looks natural can be too few. **One random cotangent at each of many random inputs wastes nothing:** while
some combination of parameter directions that changes φ is not yet excluded, a further random row excludes
one more, so that n rows have rank min(n, dim) with probability close to 1.

At each input there are far fewer rows than directions in parameter space, so the rows are built by the chain
rule backwards: the architecture evaluates itself on values that remember how they came about, and the
cotangents are pulled back through that record, for all inputs at once. Where one input has more rows than
there are parameters, as a map of the parameters alone has, the parameters are pushed forwards instead.

>>> import numpy as np
>>> from agattn.algebra.arithmetic import FloatArithmetic
>>> from agattn.architectures import DeepNetwork
>>> network = DeepNetwork((2, 1), (2,), t=2)
>>> draw = np.random.default_rng(0).standard_normal
>>> parameters = {name: draw(shape) for name, shape in network.shapes.items()}
>>> J = jacobian(network, parameters, draw((5, 2, 2)), FloatArithmetic())
>>> J.shape, int(np.linalg.matrix_rank(J))
((10, 10), 5)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agattn.algebra.arithmetic import (
    Arithmetic,
    Array,
    BallArithmetic,
    FloatArithmetic,
    ModularArithmetic,
    Size,
    to_balls,
)
from agattn.algebra.rank import ROWS_AT_A_TIME, RandomRows
from agattn.algebra.residues import Residues, random_residues
from agattn.algebra.tracing import Pushed, Pushing, Traced, Tracing
from agattn.architectures import Architecture, draw_parameters
from agattn.architectures.layered import Layered, check_arrays
from agattn.architectures.polynomial_map import PolynomialMap, check_run
from agattn.architectures.protocol import bounds_on_outputs, has_inputs
from agattn.geometry.dimension.formulas import Bound
from agattn.geometry.dimension.symmetries import gauge_columns
from agattn.limits import check_sizes

#: The largest Jacobian attempted without ``force``, by its columns.
MAX_PARAMETERS = 20_000


def jacobian(
    architecture: Architecture,
    parameters: Mapping[str, Array],
    X: Array,
    arithmetic: Arithmetic,
    cotangents: Array | None = None,
) -> Array:
    """The derivatives of all outputs, or of some combinations of them, by all parameters.

    Args:
        architecture: what is differentiated.
        parameters: an array for each of its ``shapes``.
        X: a stack of inputs, (n, d_0, t).
        arithmetic: that of the scalars.
        cotangents: the combinations of outputs, (n, m, d_l, t); all m = d_l·t single outputs by default.

    Returns:
        An array of shape (n·m, parameters). Rows are ordered by input, then cotangent (output coordinate,
        then token, by default).

    Raises:
        TypeError: if the architecture is normalized and the scalars have no softmax.
    """
    columns = sum(map(prod, architecture.shapes.values()))
    if cotangents is not None and cotangents.shape[1] > columns:
        return _pushed(architecture, parameters, X, arithmetic, cotangents)
    tracing = Tracing(arithmetic)
    # A copy of the parameters for each input makes the gradient for each input a gradient by its copy.
    copies = {
        name: tracing.record(np.broadcast_to(parameters[name], (len(X), *shape)))
        for name, shape in architecture.shapes.items()
    }
    out = _traced(tracing, architecture.evaluate(tracing, copies, X))
    if cotangents is None:
        if (size := out.value[0].size) > columns:
            return _pushed(architecture, parameters, X, arithmetic, None)
        units = arithmetic.identity(size).reshape(size, *out.value.shape[1:])
        cotangents = np.broadcast_to(units, (len(X), *units.shape))
    tracing.pull_back(out, np.moveaxis(cotangents, 1, 0))
    rows = cotangents.shape[0] * cotangents.shape[1]
    blocks = []
    for copy in copies.values():
        G = np.zeros((rows // len(X), *copy.shape)) if copy.gradient is None else copy.gradient
        blocks.append(np.moveaxis(G, 0, 1).reshape(rows, -1))
    return np.concatenate(blocks, axis=1)


def _traced(tracing: Tracing, out: Traced | Array) -> Traced:
    """The output, which of a function that is constant is a plain array."""
    traced: Traced = out if isinstance(out, Traced) else tracing.record(out)
    return traced


def _pushed(
    architecture: Architecture,
    parameters: Mapping[str, Array],
    X: Array,
    arithmetic: Arithmetic,
    cotangents: Array | None,
) -> Array:
    """The same by the chain rule forwards: a tangent for each parameter."""
    pushing = Pushing(arithmetic)
    units, start, moved = arithmetic.identity(sum(map(prod, architecture.shapes.values()))), 0, {}
    for name, shape in architecture.shapes.items():
        stop = start + prod(shape)
        tangents = units[:, start:stop].reshape(-1, 1, *shape)
        moved[name] = Pushed(np.broadcast_to(parameters[name], (len(X), *shape)), tangents, pushing)
        start = stop
    out = architecture.evaluate(pushing, moved, X)
    if not isinstance(out, Pushed):  # of a function that is constant
        out = Pushed(out, np.zeros((len(units), *out.shape), dtype=units.dtype), pushing)
    J = np.broadcast_to(out.tangents, (len(units), *out.value.shape)).reshape(len(units), len(X), -1)
    J = np.moveaxis(J, 0, 2)  # (n, outputs, parameters)
    if cotangents is not None:
        J = arithmetic.matmul(cotangents.reshape(*cotangents.shape[:2], -1), J)
    return J.reshape(-1, len(units))


def gradients(
    architecture: Architecture,
    parameters: Mapping[str, Array],
    X: Array,
    arithmetic: Arithmetic,
    cotangent: Callable[[Array], Array],
) -> dict[str, Array]:
    """The gradients of Σ ⟨c, φ(X_i)⟩ over the inputs, for several parameters at once.

    Args:
        architecture: what is differentiated.
        parameters: for each of its ``shapes`` an array with one axis more in front, of length m.
        X: a stack of inputs, (n, d_0, t).
        arithmetic: that of the scalars.
        cotangent: given all outputs, (m, n, d_l, t), returns c, of the same shape.

    Returns:
        Arrays of the shapes of the parameters given.

    >>> from agattn.algebra.arithmetic import FloatArithmetic
    >>> from agattn.architectures import SingleLayer
    >>> weights = {"K": np.array([[[2.0]]]), "Q": np.array([[[3.0]]]), "V": np.array([[[5.0]]])}
    >>> one = np.ones((1, 1, 1))
    >>> found = gradients(SingleLayer(1, 1, t=1), weights, one, FloatArithmetic(), np.ones_like)
    >>> {name: array.item() for name, array in found.items()}
    {'K': 15.0, 'Q': 10.0, 'V': 6.0}
    """
    tracing, copies, n = Tracing(arithmetic), {}, len(X)
    for name, values in parameters.items():
        number, shape = len(values), values.shape[1:]
        repeated = np.broadcast_to(values[:, None], (number, n, *shape)).reshape(-1, *shape)
        copies[name] = tracing.record(repeated)
    inputs = np.broadcast_to(X, (number, *X.shape)).reshape(-1, *X.shape[1:])
    out = _traced(tracing, architecture.evaluate(tracing, copies, inputs))
    values = out.value.reshape(number, n, *out.value.shape[1:])
    tracing.pull_back(out, cotangent(values).reshape(1, *out.value.shape))
    gradient = {}
    for name, copy in copies.items():
        G = np.zeros((1, *copy.shape)) if copy.gradient is None else copy.gradient
        gradient[name] = G.reshape(number, n, *copy.shape[1:]).sum(axis=1)
    return gradient


def check_size(architecture: Architecture) -> None:
    """Refuse what is too large for a Jacobian.

    Raises:
        TooLargeError: if it has more than :data:`MAX_PARAMETERS`, or its arrays would fill the memory.
    """
    check_sizes("the network", (architecture.parameters, "parameters", MAX_PARAMETERS))
    network = architecture.as_network() or architecture
    if isinstance(network, Layered):
        check_arrays(network)
    if isinstance(architecture, PolynomialMap):
        check_run(architecture)


def bytes_needed(architecture: Architecture, bound: Bound) -> float:
    """A bound on the memory for the rank of a Jacobian, beside the arrays of the architecture's evaluation.

    The factors are measured: the most that the steps of the elimination hold together at any time. A ball
    has a pointer, a Python object, and the digits at the highest precision.

    See Also:
        :func:`agattn.memory.allow`, which refuses; ``check_arrays``, for the arrays of the
        evaluation.

    >>> from agattn.architectures import SingleLayer
    >>> round(bytes_needed(SingleLayer(20, 20), Bound(799, "counted")) / 2**20)  # MiB
    59
    """
    n, r = architecture.parameters, min(bound.value, architecture.parameters)
    if architecture.degree is None:
        return 2.0 * n * r * (8 + 64 + 2 * 192)
    # A basis of k rows without its k pivot columns has k(n − k) ≤ n²/4 entries, for k up to r.
    basis, block = r * (n - r) if 2 * r < n else n * n / 4, min(ROWS_AT_A_TIME, r + 10) * n
    return 8.0 * (6 * basis + 12 * block)


def jacobian_rows(architecture: Architecture, bound: Bound) -> RandomRows:
    """The Jacobian at random weights, one random cotangent at each of as many random inputs as are asked for.

    It is modulo primes if the architecture is polynomial, else in floating point and balls; ``bound`` is a
    proved upper bound on its rank.
    """

    def modulo(p: int, generator: np.random.Generator) -> tuple[int, Callable[..., Residues]]:
        arithmetic = ModularArithmetic(p)

        def random(shape: tuple[int, ...]) -> Residues:
            return random_residues(generator, shape, p)

        parameters = draw_parameters(architecture, random)
        columns = np.arange(architecture.parameters)
        if architecture.as_network() is not None:
            columns = np.delete(columns, gauge_columns(architecture, parameters, p))

        def draw(rows: int, seen: NDArray[np.intp] | None = None) -> Residues:
            X, cotangents = random((rows, *architecture.input_shape)), random((rows, 1, *output))
            if seen is not None:
                cotangents *= (np.arange(output[0]) == seen[:, None])[:, None, :, None]
            if not has_inputs(architecture):  # all rows at one point
                X, cotangents = X[:1], cotangents.swapaxes(0, 1)
            J: Residues = jacobian(architecture, parameters, X, arithmetic, cotangents)[:, columns]
            return J

        return len(columns), draw

    def real(rows: int, generator: np.random.Generator) -> tuple[NDArray[np.float64], Callable[[Any], Array]]:
        # Scaled so that XᵀAX stays of moderate size in every layer.
        parameters = draw_parameters(architecture, lambda s: generator.standard_normal(s) / np.sqrt(s[-1]))
        X = generator.standard_normal((rows, *architecture.input_shape))
        cotangents = generator.standard_normal((rows, 1, *output))
        floats: NDArray[np.float64] = jacobian(architecture, parameters, X, FloatArithmetic(), cotangents)

        def balls(chosen: Any) -> Array:
            exact = {name: to_balls(array) for name, array in parameters.items()}
            c = to_balls(cotangents[chosen])
            return jacobian(architecture, exact, to_balls(X[chosen]), BallArithmetic(), c)

        return floats, balls

    @cache
    def size() -> float:
        """Of c·∂φ/∂θ: a derivative multiplies a coefficient by at most the degree."""
        total: Size = bounds_on_outputs(architecture).sum()
        return total.log2 + log2(degree or 1)

    output, degree = architecture.output_shape, architecture.degree
    return RandomRows(
        name=f"{architecture}: the Jacobian",
        upper_bound=bound.value,
        reason=bound.reason,
        modulo=modulo if degree is not None else None,
        outputs=output[0] if has_inputs(architecture) else 1,
        degree=degree or 0,  # also that of an entry c·∂φ/∂θ in c, θ and X
        size=size,
        real=None if degree is not None else real,
    )
