"""The known symmetries of the parametrization (K, Q, V) ↦ φ, as tangent vectors in parameter space.

Four families act on the weights without changing the function:

- GL(a) inside a head: K → C⁻ᵀK, Q → CQ (HMK, Lemma 3.1); GL(β) where V = OP: O → OC⁻¹, P → CP;
- the scaling of a lightning head: A → sA, V → V/s (HMK, Theorem 3.2);
- GL(d_i) between layers without skip connections: V_i → CV_i, then K, Q, V of layer i+1 → ·C⁻¹
  (HMK, equation 9).

Their tangent vectors at any point lie in the kernel of the Jacobian there. At a generic point they span at
least as much as at any other, so their rank at one point modulo one prime is a proved lower bound on the
dimension of the generic fiber, and

    dim ≤ parameters − rank of the tangent vectors

is a proved upper bound on the dimension of the neuromanifold.

>>> from agattn.architectures.architecture import DeepNetwork
>>> symmetry_upper_bound(DeepNetwork((10, 10, 10), (2, 2), 3, normalization="softmax"))
172
"""

from __future__ import annotations

import numpy as np

from agattn.algebra.residues import Elimination, Residues, random_prime, random_residues, reduced_echelon
from agattn.architectures.architecture import DeepNetwork
from agattn.architectures.forward import LayerWeights, Weights, draw_weights

_BLOCK = 512


def symmetry_tangents(network: DeepNetwork, weights: Weights, p: int) -> Residues:
    """The tangent vectors of all families at the weights modulo p, as rows; columns as in the Jacobian.

    A row is one generator: an elementary matrix E_{r,s} of gl(a), gl(β) or gl(d_i), or a scaling. The shape
    is (generators, parameters).
    """
    blocks: list[Residues] = []
    for i, layer in enumerate(weights):
        h, a, _ = layer.K.shape
        for head in range(h):
            blocks.append(_flat(weights, {i: _inside_attention(layer, head, a)}))
            if layer.P is not None:
                blocks.append(_flat(weights, {i: _inside_value(layer, head)}))
            if network.is_lightning:
                blocks.append(_flat(weights, {i: _scaling(layer, head)}))
        if i + 1 < len(weights) and not network.skip:
            following = weights[i + 1]
            blocks.append(_flat(weights, {i: _outgoing(layer), i + 1: _incoming(following)}))
    return np.concatenate(blocks) % p


def symmetry_rank(network: DeepNetwork, p: int, generator: np.random.Generator) -> int:
    """The rank modulo p of the tangent vectors at random weights: a lower bound on the fibers' dimension."""
    weights = draw_weights(network, lambda shape: random_residues(generator, shape, p))
    tangents = symmetry_tangents(network, weights, p)
    elimination = Elimination(tangents.shape[1], p)
    for start in range(0, len(tangents), _BLOCK):
        elimination.add(tangents[start : start + _BLOCK])
    return elimination.rank


def symmetry_upper_bound(network: DeepNetwork, seed: int = 0) -> int:
    """Parameters minus the rank of the symmetries' tangent vectors: proved, whatever the seed."""
    generator = np.random.default_rng(seed)
    return network.parameters - symmetry_rank(network, random_prime(generator), generator)


def gauge_columns(network: DeepNetwork, weights: Weights, p: int) -> np.ndarray:
    """Parameters that can be held fixed: the Jacobian modulo p has the same rank on the other columns.

    In each head the entries of min(a, d) independent columns of Q (gl(a) moves them at will), the same for
    P, and between layers the entries of columns of V_i = [V_{i,1} ... V_{i,h}] that are a basis of its
    columns. On these entries the tangent vectors of the families above form a block triangular matrix with
    surjective blocks on the diagonal: take the layers in order, in each GL(β), then GL(d_i), and GL(a) after
    all; no family then moves the entries of an earlier one. So every column of the Jacobian in the gauge is
    a combination of the others.

    Returns:
        The indices to leave out, ascending.
    """
    indices = _indices(network)
    fixed: list[np.ndarray] = []
    for i, (layer, index) in enumerate(zip(weights, indices, strict=True)):
        for matrices, where in ((layer.Q, index.Q), (layer.P, index.P)):
            if matrices is None or where is None:
                continue
            for matrix, entries in zip(matrices, where, strict=True):
                fixed.append(entries[:, _independent_columns(matrix, p)])
        if i + 1 < len(weights) and not network.skip:
            side_by_side = np.concatenate(list(layer.O), axis=1)
            entries = np.concatenate(list(index.O), axis=1)
            fixed.append(entries[:, _independent_columns(side_by_side, p)])
    flat = [f.ravel() for f in fixed]
    return np.sort(np.concatenate(flat)) if flat else np.zeros(0, dtype=np.intp)


def _independent_columns(matrix: Residues, p: int) -> list[int]:
    return reduced_echelon(matrix, p)[0]


def _indices(network: DeepNetwork) -> list[LayerWeights]:
    """The position of every parameter among all, in arrays of the weights' shapes."""
    position = 0

    def count(shape: tuple[int, ...]) -> np.ndarray:
        nonlocal position
        size = int(np.prod(shape))
        position += size
        return np.arange(position - size, position).reshape(shape)

    return draw_weights(network, count)


Tangent = dict[str, Residues]  # letter of the weight → (generators, *shape of the weight)


def _flat(weights: Weights, tangents: dict[int, Tangent]) -> Residues:
    """Rows over all parameters from tangent vectors that touch a few layers."""
    generators = len(next(iter(next(iter(tangents.values())).values())))
    parts: list[Residues] = []
    for i, layer in enumerate(weights):
        for letter, array in zip("KQOP", layer.arrays, strict=False):
            part = tangents.get(i, {}).get(letter)
            parts.append(np.zeros((generators, array.size)) if part is None else part.reshape(generators, -1))
    return np.concatenate(parts, axis=1)


def _left(matrix: Residues) -> Residues:
    """E_{r,s} M for all r, s: row s of M put into row r. Shape (n², ..., n, m) for M (..., n, m)."""
    n = matrix.shape[-2]
    result = np.zeros((n, n, *matrix.shape))
    for r in range(n):
        for s in range(n):
            result[r, s, ..., r, :] = matrix[..., s, :]
    return result.reshape(n * n, *matrix.shape)


def _right(matrix: Residues) -> Residues:
    """M E_{r,s} for all r, s: column r of M put into column s. Shape (m², ..., n, m) for M (..., n, m)."""
    m = matrix.shape[-1]
    result = np.zeros((m, m, *matrix.shape))
    for r in range(m):
        for s in range(m):
            result[r, s, ..., s] = matrix[..., r]
    return result.reshape(m * m, *matrix.shape)


def _in_head(tangent: Residues, head: int, shape: tuple[int, ...]) -> Residues:
    result = np.zeros((len(tangent), *shape))
    result[:, head] = tangent
    return result


def _inside_attention(layer: LayerWeights, head: int, a: int) -> Tangent:
    # −ĊᵀK for Ċ = E_{r,s} is −E_{s,r}K: the generators of K come in transposed order.
    transposed = np.arange(a * a).reshape(a, a).T.ravel()
    K = -_left(layer.K[head])[transposed]
    return {
        "K": _in_head(K, head, layer.K.shape),
        "Q": _in_head(_left(layer.Q[head]), head, layer.Q.shape),
    }


def _inside_value(layer: LayerWeights, head: int) -> Tangent:
    assert layer.P is not None
    return {
        "O": _in_head(-_right(layer.O[head]), head, layer.O.shape),
        "P": _in_head(_left(layer.P[head]), head, layer.P.shape),
    }


def _scaling(layer: LayerWeights, head: int) -> Tangent:
    return {
        "K": _in_head(layer.K[head][None], head, layer.K.shape),
        "O": _in_head(-layer.O[head][None], head, layer.O.shape),
    }


def _outgoing(layer: LayerWeights) -> Tangent:
    return {"O": _left(layer.O)}


def _incoming(layer: LayerWeights) -> Tangent:
    letter, value = ("O", layer.O) if layer.P is None else ("P", layer.P)
    return {"K": -_right(layer.K), "Q": -_right(layer.Q), letter: -_right(value)}
