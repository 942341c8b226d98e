r"""The symmetry between two stored transformers: the basis of the stream, heads, neurons, and their factors.

Both are folded (:mod:`agattn.checkpoints.folding`). The basis of the residual stream follows from the
embeddings E' = E·Rᵀ: a signed permutation, by the columns of E; or, where norms stand before their blocks,
the orthogonal R nearest to E'ᵀE (for layer norms with R1 = 1). If the entries of E' are off by u, then

.. math:: ‖\hat R − R‖ ≤ u\,‖E'‖_F/σ_{min}(E').

Groups, heads and neurons are matched by numbers that no other symmetry changes, at a few random z. What is
left are linear equations: P' = MP, k' = ck, U_i' = cU_i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agattn.algebra.scalars import Array
from agattn.checkpoints.folding import FoldedBlock, pieces

#: Tokens that are enough to find the basis, as a multiple of the width.
TOKENS = 4
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
            permuted: Array = np.take(rows, self.order, axis) * self.signs.reshape(shape)
            return permuted
        if axis in (-1, rows.ndim - 1):
            turned: Array = rows.astype(self.matrix.dtype) @ self.matrix.T
            return turned.astype(np.float64)
        result: Array = (self.matrix @ rows.astype(self.matrix.dtype)).astype(np.float64)
        return result

    def back(self, z: Array) -> Array:
        """Rᵀz, for vectors z as columns."""
        if self.matrix is not None:
            turned: Array = self.matrix.T @ z
            return turned
        result = np.empty_like(z)
        result[self.order] = z * self.signs[:, None]
        return result

    def signed(self, signs: Array | float) -> Basis:
        """The basis with signs of rows changed."""
        return self if np.all(signs == 1) else replace(self, signs=self.signs * signs)


def permutation_between(first: Array, second: Array) -> Basis:
    """The signed permutation of columns that takes one embedding nearest to the other, by their products."""
    at = np.linspace(0, len(first) - 1, min(len(first), 2048)).astype(int)
    one, two = (E[at] / np.maximum(np.linalg.norm(E[at], axis=0), 1e-300) for E in (first, second))
    products = two.T @ one
    order = np.abs(products).argmax(1)
    if len(np.unique(order)) < len(order):
        order = _assignment(-np.abs(products))
    signs = np.sign(products[np.arange(len(order)), order])
    return Basis(order, np.where(signs == 0, 1.0, signs))


def rotation_between(first: Array, second: Array, errors: Array, centered: bool) -> Basis:
    """The orthogonal matrix that takes one embedding nearest to the other; R1 = 1 if these are centered."""
    d = first.shape[1]
    at = np.linspace(0, len(first) - 1, min(len(first), TOKENS * d)).astype(int)
    products, gram = np.zeros((d, d)), np.zeros((d, d))
    for piece in pieces((len(at), d)):
        two = second[at[piece]]
        products += two.T @ first[at[piece]]
        gram += two.T @ two
    if centered:
        mean = np.full((d, d), np.trace(gram) / d**2)
        products, gram = products + mean, gram + mean
    U, _, V = np.linalg.svd(products)
    least = np.sqrt(max(float(np.linalg.eigvalsh(gram)[0]), 0.0))
    off = float(np.linalg.norm(errors[at]))
    error = off / (least - off) if least > 2 * off else np.inf
    R = U @ V
    if d >= 1024 and error > 2.0**-19:
        # Single precision is enough, if what it adds on some rows is far below the error.
        rows = np.random.default_rng(0).standard_normal((64, d))
        added = rows.astype(np.float32) @ R.astype(np.float32).T - rows @ R.T
        error += 4 * float((np.linalg.norm(added, axis=1) / np.linalg.norm(rows, axis=1)).max())
        R = R.astype(np.float32)
    return Basis(np.arange(d), np.ones(d), R, error)


def _assignment(costs: Array) -> Array:
    from scipy.optimize import linear_sum_assignment

    columns: Array = linear_sum_assignment(costs)[1]
    return columns


def _logarithm(values: Array) -> Array:
    result: Array = np.log(np.maximum(values, 1e-300))
    return result


def with_bias(block: FoldedBlock, part: str, rows: Array, at: slice) -> Array:
    """Rows with their bias as a last column, 0 where there is none."""
    bias = block.biases().get(f"{part}.bias")
    column = np.zeros((*rows.shape[:-1], 1)) if bias is None else bias[0][at][..., None]
    return np.concatenate([rows, column], axis=-1)


@dataclass
class HeadNumbers:
    """What tells heads apart: the rows of queries and keys at random z, numbers of scores, and of values."""

    queries: Array
    keys: Array
    scores: Array
    values: Array


def head_numbers(block: FoldedBlock, z: Array) -> HeadNumbers:
    """Logarithms of what no symmetry of a head changes, at vectors z of the stream with 1 behind them."""
    stored, turning = block.stored, block.turning
    heads, groups, p = len(stored["Q"]), len(stored["K"]), block.turning // 2

    def rows(part: str, n: int) -> Array:
        piece = slice(n, n + 1)
        matrix: Array = with_bias(block, part, block.fold(part, stored[part][piece]), piece)[0]
        return matrix

    keys = [rows("K", g) for g in range(groups)]
    at_keys = np.stack([K @ z for K in keys])
    values = [block.fold("P", stored["P"][g : g + 1])[0] @ z[:-1] for g in range(groups)]
    queries, scores, of_values = [], [], []
    for h in range(heads):
        g = h * groups // heads
        Q = rows("Q", h)
        K, q = keys[g], Q @ z
        of_values.append(np.linalg.norm(block.fold("O", stored["O"][h : h + 1])[0] @ values[g], axis=0))
        queries.append(q)
        if block.facts.qk_norm:
            numbers = [x[:p] ** 2 + x[p:turning] ** 2 for x in (q, at_keys[g])]
            numbers += [x[turning:] ** 2 for x in (q, at_keys[g])]
        else:
            # ‖k_f‖²|q_f·z|² of each pair that turns; ‖Az‖, ‖Aᵀz‖ and zᵀAz of the other rows.
            length = (K[:turning] ** 2).sum(1)
            numbers = [(length[:p] + length[p:])[:, None] * (q[:p] ** 2 + q[p:turning] ** 2)]
            if turning < len(K):
                rest, other = K[turning:], Q[turning:]
                numbers += [((rest.T @ q[turning:]) ** 2).sum(0)[None]]
                numbers += [((other.T @ at_keys[g][turning:]) ** 2).sum(0)[None]]
                numbers += [((at_keys[g] * q)[turning:].sum(0) ** 2)[None]]
        scores.append(_logarithm(np.concatenate(numbers)).ravel())
    return HeadNumbers(np.stack(queries), at_keys, np.stack(scores), _logarithm(np.stack(of_values)))


def match_heads(first: HeadNumbers, second: HeadNumbers) -> tuple[Array, Array]:
    """For each group and each head of the second model the one of the first, by least differences."""
    heads, groups = len(second.queries), len(second.keys)
    size = heads // groups
    costs = np.zeros((heads, heads))
    for h in range(heads):
        for one, two in ((first.scores, second.scores), (first.values, second.values)):
            costs[h] += np.minimum(np.abs(one - two[h]), 1.0).mean(1)
    by_group = costs.reshape(groups, size, groups, size).swapaxes(1, 2)
    orders = [[_assignment(by_group[g, k]) for k in range(groups)] for g in range(groups)]
    totals = [[by_group[g, k][range(size), orders[g][k]].sum() for k in range(groups)] for g in range(groups)]
    chosen = _assignment(np.array(totals))
    return chosen, np.concatenate([k * size + orders[g][k] for g, k in enumerate(chosen)])


def neuron_numbers(block: FoldedBlock, z: Array) -> Array:
    """What tells neurons apart: the rows of G at z, and the product of the norms of all their arrays."""
    stored, power = block.stored, {"relu": 1, "relu2": 2}.get(block.facts.activation, 0)
    G = stored["G"]
    at_z, norms, product = np.empty((len(G), z.shape[1])), np.empty(len(G)), np.empty(len(G))
    for (at,) in pieces(G.shape):
        rows = with_bias(block, "G", block.fold("G", G[at]), at)
        at_z[at], norms[at] = rows @ z, np.linalg.norm(rows, axis=1)
        product[at] = norms[at] ** power * np.linalg.norm(block.fold("D", stored["D"][:, at]), axis=0)
        if "U" in stored:
            product[at] *= np.linalg.norm(with_bias(block, "U", block.fold("U", stored["U"][at]), at), axis=1)
    scale = norms[:, None] if power else np.sqrt((at_z**2).mean())
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
        order[left] = free if costs is None else free[_assignment(np.minimum(costs, 1e3))]
    return order
