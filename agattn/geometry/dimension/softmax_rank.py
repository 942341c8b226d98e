"""A proved lower bound on the rank of a normalized network's Jacobian, by balls.

Over the reals there are no residues to compute with. Instead: draw weights and inputs as floats, which are
exact rationals; pick pivots of the float64 Jacobian by elimination with complete pivoting; compute the
square submatrix at these pivots again in ball arithmetic, from the exact weights up; and prove it
nonsingular. If B encloses the submatrix and C is any matrix, ‖1 − CB‖ < 1 is such a proof; C is the inverse
of the midpoints.

>>> from agattn.architectures import DeepNetwork, draw_parameters
>>> network = DeepNetwork((2, 2), (1,), t=2, normalization="softmax")
>>> softmax_rank(network, target=7, seed=0).proved
7
"""

from __future__ import annotations

from typing import NamedTuple

import flint
import numpy as np
from numpy.typing import NDArray

from agattn.algebra.arithmetic import Array, BallArithmetic, FloatArithmetic, to_balls
from agattn.architectures import DeepNetwork, draw_parameters
from agattn.geometry.dimension.jacobian import jacobian

_FIRST_PRECISION = 96
_LAST_PRECISION = 1536
#: Pivots below this, relative to the first, are not told apart from rounding in float64.
_NOISE = 1e-13


class SoftmaxRank(NamedTuple):
    """Outcome of :func:`softmax_rank`.

    Attributes:
        proved: a proved lower bound on the generic rank.
        observed: the numerical rank in float64, which proves nothing.
        precision_bits: the precision of the balls at which ``proved`` was established.
        jacobian_shape: the shape of the matrix in which pivots were sought.
    """

    proved: int
    observed: int
    precision_bits: int
    jacobian_shape: tuple[int, int]


def softmax_rank(network: DeepNetwork, target: int, seed: int = 0, attempts: int = 4) -> SoftmaxRank:
    """Prove that the generic rank is at least as large as can be seen, and at best ``target``.

    Args:
        network: a network with softmax normalization.
        target: an upper bound on the rank; the search ends when it is reached.
        seed: of the random weights and inputs.
        attempts: how many points are tried, each with more inputs than the one before.
    """
    generator = np.random.default_rng(seed)
    best = SoftmaxRank(0, 0, 0, (0, network.parameters))
    for attempt in range(attempts):
        rows = (target + 8) * (attempt + 5) // 4
        weights, X, cotangents = _draw(network, rows, generator)
        J = jacobian(network, weights, X, FloatArithmetic(), cotangents)
        row_pivots, column_pivots, sizes = pivots(J, target)
        observed = int(np.sum(sizes > _NOISE * sizes[0])) if len(sizes) and sizes[0] > 0 else 0
        best = best._replace(observed=max(best.observed, observed), jacobian_shape=J.shape)
        if observed <= best.proved:
            continue
        chosen = row_pivots[:observed]
        bits = _FIRST_PRECISION
        while bits <= _LAST_PRECISION:
            with flint.ctx.workprec(bits):
                balls = _ball_rows(network, weights, X[chosen], cotangents[chosen])
                if is_nonsingular(balls[:, column_pivots[:observed]]):
                    best = best._replace(proved=observed, precision_bits=bits)
                    break
            bits *= 2
        if best.proved >= target:
            break
    return best


def _draw(
    network: DeepNetwork, rows: int, generator: np.random.Generator
) -> tuple[dict[str, Array], NDArray[np.float64], NDArray[np.float64]]:
    """Gaussian weights, inputs and cotangents, scaled so that XᵀAX stays of moderate size in every layer."""

    def weight(shape: tuple[int, ...]) -> NDArray[np.float64]:
        scale: float = 1 / np.sqrt(shape[-1])
        return scale * generator.standard_normal(shape)

    weights = draw_parameters(network, weight)
    X = generator.standard_normal((rows, network.dims[0], network.t))
    cotangents = generator.standard_normal((rows, 1, network.dims[-1], network.t))
    return weights, X, cotangents


def _ball_rows(network: DeepNetwork, weights: dict[str, Array], X: Array, cotangents: Array) -> Array:
    exact = {name: to_balls(array) for name, array in weights.items()}
    return jacobian(network, exact, to_balls(X), BallArithmetic(), to_balls(cotangents))


def pivots(
    matrix: NDArray[np.float64], limit: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Rows, columns and sizes of at most ``limit`` pivots of an elimination with complete pivoting.

    Rows and then columns are first scaled to unit length, which changes no rank and makes sizes comparable.

    >>> rows, columns, sizes = pivots(np.array([[0.0, 2.0], [3.0, 0.0]]), 2)
    >>> sorted(zip(rows.tolist(), columns.tolist())), sizes.tolist()
    ([(0, 1), (1, 0)], [1.0, 1.0])
    """
    work = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), np.finfo(float).tiny)
    work /= np.maximum(np.linalg.norm(work, axis=0, keepdims=True), np.finfo(float).tiny)
    rows, columns = np.arange(work.shape[0]), np.arange(work.shape[1])
    sizes: list[float] = []
    for k in range(min(limit, *work.shape)):
        block = np.abs(work[k:, k:])
        i, j = np.unravel_index(int(block.argmax()), block.shape)
        size = float(block[i, j])
        if size == 0.0:
            break
        sizes.append(size)
        row, column = k + int(i), k + int(j)
        work[[k, row]] = work[[row, k]]
        work[:, [k, column]] = work[:, [column, k]]
        rows[[k, row]] = rows[[row, k]]
        columns[[k, column]] = columns[[column, k]]
        factors = work[k + 1 :, k] / work[k, k]
        work[k + 1 :, k:] -= np.outer(factors, work[k, k:])
    return rows[: len(sizes)], columns[: len(sizes)], np.array(sizes)


def is_nonsingular(balls: Array) -> bool:
    """Whether a square array of ``flint.arb`` is proved nonsingular at the current precision.

    True is a proof for every matrix inside the balls; False says nothing.

    >>> is_nonsingular(to_balls(np.array([[1.0, 2.0], [3.0, 4.0]])))
    True
    >>> is_nonsingular(to_balls(np.array([[1.0, 2.0], [2.0, 4.0]])))
    False
    """
    n = len(balls)
    B = flint.arb_mat(n, n, balls.ravel().tolist())
    # Doubles give a good enough C unless the matrix is badly conditioned; then C is computed in balls.
    for inverse in (_inverse_in_doubles, _inverse_in_balls):
        C = inverse(balls)
        if C is not None and _is_inverse(C, B):
            return True
    return False


def _inverse_in_doubles(balls: Array) -> flint.arb_mat | None:
    try:
        C = np.linalg.inv(balls.astype(float))
    except np.linalg.LinAlgError:
        return None
    return flint.arb_mat(len(C), len(C), C.ravel().tolist()) if np.isfinite(C).all() else None


def _inverse_in_balls(balls: Array) -> flint.arb_mat | None:
    n = len(balls)
    try:
        return flint.arb_mat(n, n, balls.ravel().tolist()).mid().inv().mid()
    except ZeroDivisionError:
        return None


def _is_inverse(C: flint.arb_mat, B: flint.arb_mat) -> bool:
    """Whether ‖1 − CB‖ < 1 is proved, in the norm that is the largest row sum of absolute values."""
    n, one = B.nrows(), flint.arb(1)
    defect = C * B - flint.arb_mat(n, n, np.eye(n, dtype=int).ravel().tolist())
    return all(sum((abs(entry) for entry in row), flint.arb(0)) < one for row in defect.tolist())
