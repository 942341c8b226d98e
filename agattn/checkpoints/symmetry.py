r"""The symmetry between two stored transformers: the basis of the stream, heads, neurons, and their factors.

Both are folded (:mod:`agattn.checkpoints.folding`). The basis of the residual stream follows from the
embeddings E' = E·Rᵀ: a signed permutation, by the columns of E; or, where norms stand before their blocks,
the orthogonal R̂ nearest to E'⁺E (for layer norms with R1 = 1). If the entries of E' are off by u, then E'⁺E
is off by δ, and the orthogonal factor of a matrix that is off by δ from an orthogonal one by 2δ/(2 − δ):

.. math:: δ ≤ u\,‖E'‖_F/σ_{min}(E'), \qquad ‖\hat R − R‖ ≤ δ/(1 − δ/2).

Where E'⁺E is not orthogonal up to that, it is the orthogonal R̂ nearest to E'ᵀE.

Groups, heads and neurons are matched by numbers that no other symmetry changes, at a few random z. What is
left are linear equations: P' = MP, k' = ck, U_i' = cU_i.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import linear_sum_assignment

from agattn.algebra.scalars import Array
from agattn.checkpoints.folding import FoldedBlock, norms, pieces
from agattn.workers import spread

#: Tokens that are enough to find the basis, as a multiple of the width.
TOKENS = 4
#: Rows of a product of matrices that are computed at a time.
BLOCK = 512
#: How far RᵀR may be from 1 by arithmetic, as a multiple of the width.
_ROUNDING = 4e-15
#: Random vectors at which heads and neurons are told apart.
VECTORS = 8


@dataclass(frozen=True)
class Basis:
    """R: a signed permutation, (Rx)_i = s_i·x_{order(i)}, or an orthogonal matrix known up to ``error``."""

    order: Array
    signs: Array
    matrix: Array | None = None
    error: float = 0.0

    def turn(self, rows: Array, axis: int = -1) -> Array:
        """R applied along an axis of the stream; what stands behind the width, a bias, stays."""
        if self.matrix is None:
            if np.array_equal(self.order, np.arange(len(self.order))) and (self.signs == 1).all():
                return rows
            shape = [1] * rows.ndim
            shape[axis] = -1
            return np.take(rows, self.order, axis) * self.signs.reshape(shape)
        if axis in (-1, rows.ndim - 1):
            turned: Array = rows.astype(self.matrix.dtype) @ self.matrix.T
            return turned.astype(np.float64)
        result: Array = (self.matrix @ rows.astype(self.matrix.dtype)).astype(np.float64)
        return result

    def back(self, z: Array) -> Array:
        """Rᵀz, for vectors z as columns."""
        if self.matrix is not None:
            return self.matrix.T @ z
        result = np.empty_like(z)
        result[self.order] = z * self.signs[:, None]
        return result

    def signed(self, signs: Array | float) -> Basis:
        """The basis with signs of rows changed."""
        return self if np.all(signs == 1) else replace(self, signs=self.signs * signs)

    def with_one_sign(self) -> Basis:
        """The basis with the sign that most of its rows have."""
        return replace(self, signs=np.full(len(self.signs), 1.0 if self.signs.sum() >= 0 else -1.0))


def permutation_between(first: Array, second: Array) -> Basis:
    """The signed permutation of columns that takes one embedding nearest to the other, by their products."""
    at = np.linspace(0, len(first) - 1, min(len(first), 2048)).astype(int)
    one, two = (E[at] / np.maximum(np.linalg.norm(E[at], axis=0), 1e-300) for E in (first, second))
    products = product(two.T, one)
    order = np.abs(products).argmax(1)
    if len(np.unique(order)) < len(order):
        order = linear_sum_assignment(-np.abs(products))[1]
    signs = np.sign(products[np.arange(len(order)), order])
    return Basis(order, np.where(signs == 0, 1.0, signs))


def rotation_between(first: Array, second: Array, errors: Array, centered: bool) -> Basis:
    """The orthogonal matrix that takes one embedding nearest to the other; R1 = 1 if these are centered."""
    d = first.shape[1]
    if len(first) > TOKENS * d:
        at = np.linspace(0, len(first) - 1, TOKENS * d).astype(int)
        first, second, errors = first[at], second[at], errors[at]
    products, gram = product(second.T, first), _gram(second)
    if centered:
        mean = np.full((d, d), np.trace(gram) / d**2)
        products, gram = products + mean, gram + mean
    least = np.sqrt(max(float(np.linalg.eigvalsh(gram)[0]), 0.0))
    off = float(np.linalg.norm(errors))
    error = off / (least - off) if least > 2 * off else np.inf
    R = _rotation(gram, products, error)
    if d >= 1024 and error > 2.0**-19:
        # Single precision is enough, if what it adds on some rows is far below the error.
        rows = np.random.default_rng(0).standard_normal((64, d))
        added = rows.astype(np.float32) @ R.astype(np.float32).T - rows @ R.T
        error += 4 * float((np.linalg.norm(added, axis=1) / np.linalg.norm(rows, axis=1)).max())
        R = R.astype(np.float32)
    return Basis(np.arange(d), np.ones(d), R, error)


def _rotation(gram: Array, products: Array, error: float) -> Array:
    """The orthogonal matrix nearest to G⁻¹M if this is orthogonal up to the error, else that nearest to M.

    It is the limit of R ← R − R(RᵀR − 1)/2; a step leaves less of RᵀR − 1 than its square.
    """
    rounding = _ROUNDING * len(gram)
    with suppress(LinAlgError):
        factors = cho_factor(gram, lower=True)
        R = _blocks(lambda at: cho_solve(factors, products[:, at]), len(gram), 1)
        size = 1.0
        while size**2 > rounding:
            defect = _gram(R) - np.eye(len(R))
            size = float(np.linalg.norm(defect))
            if not size <= min(3 * error + rounding, 0.5):
                break
            R -= product(R, defect) / 2
        else:
            return R
    U, _, V = np.linalg.svd(products)
    result: Array = U @ V
    return result


def product(left: Array, right: Array) -> Array:
    """A product of matrices, block by block."""
    return _blocks(lambda at: left[at] @ right, len(left))


def _gram(E: Array) -> Array:
    """EᵀE, of which one half is computed."""
    d = E.shape[1]
    result = np.zeros((d, d))

    def fill(start: int) -> None:
        at = slice(start, start + BLOCK)
        result[at, : at.stop] = E[:, at].T @ E[:, : at.stop]

    for _ in spread(fill, range(0, d, BLOCK)):
        pass
    lower = np.tril(result)
    return lower + np.tril(result, -1).T


def _blocks(do: Callable[[slice], Array], size: int, axis: int = 0) -> Array:
    """Blocks along an axis, put together."""
    blocks = [slice(start, start + BLOCK) for start in range(0, size, BLOCK)]
    return np.concatenate(list(spread(do, blocks)), axis=axis)


def matched(costs: Array, groups: int) -> tuple[Array, Array]:
    """For each group, and for each head, the other one, groups to groups, of the least total cost.

    >>> costs = np.array([[9, 9, 1, 2], [9, 9, 3, 1], [0, 4, 9, 9], [4, 4, 9, 9]])
    >>> [others.tolist() for others in matched(costs, 2)]
    [[1, 0], [2, 3, 0, 1]]
    """
    s = len(costs) // groups
    blocks = costs.reshape(groups, s, groups, s).swapaxes(1, 2)
    ways = [[linear_sum_assignment(pair)[1] for pair in row] for row in blocks]
    totals = [[blocks[g, k][range(s), ways[g][k]].sum() for k in range(groups)] for g in range(groups)]
    others = linear_sum_assignment(totals)[1]
    return others, np.concatenate([k * s + ways[g][k] for g, k in enumerate(others)])


def _logarithm(values: Array) -> Array:
    return np.log(np.maximum(values, 1e-300))


def with_bias(block: FoldedBlock, part: str, rows: Array, at: slice | Array) -> Array:
    """Rows with their bias, if there is one, as a last column."""
    bias = block.biases.get(f"{part}.bias")
    return rows if bias is None else np.concatenate([rows, bias[0][at][..., None]], axis=-1)


class HeadNumbers(NamedTuple):
    """What tells heads apart: the rows of queries and keys at random z, numbers of scores, and of values."""

    queries: Array
    keys: Array
    scores: Array
    values: Array


def head_numbers(block: FoldedBlock, z: Array) -> HeadNumbers:
    """Logarithms of what no symmetry of a head changes, at vectors z of the stream with 1 behind them."""
    stored, turning = block.stored, block.turning
    heads, groups, p = len(stored["Q"]), len(stored["K"]), turning // 2

    def rows(part: str, n: int) -> Array:
        piece = slice(n, n + 1)
        result: Array = with_bias(block, part, block.fold(part, stored[part][piece]), piece)[0]
        return result

    def of_group(g: int) -> tuple[Array, ...]:
        K, P = rows("K", g), block.fold("P", stored["P"][g : g + 1])[0]
        at_keys, at_values = K @ z[: K.shape[1]], P @ z[: P.shape[1]]
        queries, scores, values = [], [], []
        for h in range(g * heads // groups, (g + 1) * heads // groups):
            Q = rows("Q", h)
            q = Q @ z[: Q.shape[1]]
            values.append(norms(block.fold("O", stored["O"][h : h + 1])[0] @ at_values, 0))
            queries.append(q)
            if block.facts.qk_norm:
                numbers = [x[:p] ** 2 + x[p:turning] ** 2 for x in (q, at_keys)]
                numbers += [x[turning:] ** 2 for x in (q, at_keys)]
            else:
                # ‖k_f‖²|q_f·z|² of each pair that turns; ‖Az‖, ‖Aᵀz‖ and zᵀAz of the other rows.
                length = (K[:turning] ** 2).sum(1)
                numbers = [(length[:p] + length[p:])[:, None] * (q[:p] ** 2 + q[p:turning] ** 2)]
                if turning < len(K):
                    rest, other = K[turning:], Q[turning:]
                    numbers += [((rest.T @ q[turning:]) ** 2).sum(0)[None]]
                    numbers += [((other.T @ at_keys[turning:]) ** 2).sum(0)[None]]
                    numbers += [((at_keys * q)[turning:].sum(0) ** 2)[None]]
            scores.append(_logarithm(np.concatenate(numbers)).ravel())
        return np.stack(queries), at_keys[None], np.stack(scores), _logarithm(np.stack(values))

    _ = block.biases  # once
    return HeadNumbers(*map(np.concatenate, zip(*spread(of_group, range(groups)), strict=True)))


def match_heads(first: HeadNumbers, second: HeadNumbers) -> tuple[Array, Array]:
    """For each group and each head of the second model the one of the first, by least differences."""
    heads = len(second.queries)
    costs = np.zeros((heads, heads))
    for h in range(heads):
        for one, two in ((first.scores, second.scores), (first.values, second.values)):
            costs[h] += np.minimum(np.abs(one - two[h]), 1.0).mean(1)
    return matched(costs, len(second.keys))


def neuron_numbers(block: FoldedBlock, z: Array) -> Array:
    """What tells neurons apart: the rows of G at z, and the product of the norms of all their arrays."""
    stored, power = block.stored, {"relu": 1, "relu2": 2}.get(block.facts.activation, 0)
    G = stored["G"]

    def of_piece(at: slice) -> tuple[Array, Array, Array]:
        rows = with_bias(block, "G", block.fold("G", G[at]), at)
        sizes = norms(rows)
        product = sizes**power * norms(block.fold("D", stored["D"][:, at]), 0)
        if "U" in stored:
            product *= norms(with_bias(block, "U", block.fold("U", stored["U"][at]), at))
        return rows @ z[: rows.shape[1]], sizes, product

    _ = block.biases  # once
    numbers = zip(*spread(of_piece, pieces(G.shape)), strict=True)
    at_z, sizes, product = map(np.concatenate, numbers)
    scale = sizes[:, None] if power else np.sqrt((at_z**2).mean())
    return np.concatenate([at_z / np.maximum(scale, 1e-300), _logarithm(product)[:, None] / 4], axis=1)


def match_neurons(first: Array, second: Array) -> Array:
    """For each neuron of the second model the one of the first: nearest both ways, then by assignment."""
    from scipy.spatial import KDTree

    there, back = (KDTree(one).query(two)[1] for one, two in ((first, second), (second, first)))
    n = np.arange(len(second))
    order = np.where(back[there] == n, there, -1)
    left, free = np.flatnonzero(order < 0), np.setdiff1d(n, order)
    if len(left):
        costs = np.linalg.norm(second[left, None] - first[None, free], axis=2) if len(left) <= 4096 else None
        order[left] = free if costs is None else free[linear_sum_assignment(np.minimum(costs, 1e3))[1]]
    return order
