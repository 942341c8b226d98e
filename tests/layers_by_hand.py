"""Layers against what is known of them by hand: their formulas entry by entry, and their groups."""

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import RowSpace, matmul, random_residues
from agattn.architectures import draw_parameters
from agattn.architectures.contractions import gauge_groups
from agattn.architectures.layers import rotations
from agattn.architectures.protocol import symmetry_tangents
from agattn.geometry.dimension.jacobian import jacobian

P = 1_000_003


def of_attention(layer, weights, X):
    """The layer as its docstring defines it, entry by entry."""
    t, Y = X.shape[1], np.zeros((layer.out, X.shape[1]), dtype=object)
    seen = weights["C"] @ X if layer.kv_latent else X
    asking = weights["D"] @ X if layer.q_latent else X
    for head in range(layer.heads):
        group, place = divmod(head, layer.heads // layer.groups)
        own = (group, place) if layer.is_grouped else (head,)
        K = weights.get("K", weights.get("UK"))[group] @ seen
        Q = weights.get("Q", weights.get("UQ"))[own] @ asking
        V = weights.get("P", weights.get("UV", weights.get("V")))[group]
        V = weights["O"][own] @ V if "O" in weights else V
        for j in range(t):
            for i in range(t):
                if (layer.mask == "causal" and i > j) or (
                    isinstance(layer.mask, tuple) and not layer.mask[i][j]
                ):
                    continue
                R = np.eye(layer.rank, dtype=int).astype(object)
                for n, (c, s) in enumerate(rotations(layer.pairs)):
                    turn = np.array([[c, -s], [s, c]])
                    for _ in range(abs(j - i)):
                        pair = slice(2 * n, 2 * n + 2)
                        R[pair, pair] = R[pair, pair] @ (turn if j > i else turn.T)
                Y[:, j] += (K[:, i] @ R @ Q[:, j]) * (V @ seen[:, i])
    return Y + X if layer.skip else Y


def of_recurrence(layer, weights, X):
    """The states of the table, token by token."""
    Y = np.zeros((layer.out, X.shape[1]), dtype=object)
    for head in range(layer.heads):
        S = np.zeros((layer.out, layer.rank), dtype=object)
        for j, x in enumerate(X.T):
            k, q, v = (weights[letter][head] @ x for letter in "KQV")
            if layer.rule == "sum":
                S = S + np.outer(v, k)
            elif layer.rule == "decay":
                S = weights["gamma"][head] * S + np.outer(v, k)
            elif layer.rule == "scalar-gate":
                S = (weights["w"][head] @ x) * S + np.outer(v, k)
            elif layer.rule == "diagonal-gate":
                S = S @ np.diag(weights["G"][head] @ x) + np.outer(v, k)
            elif layer.rule == "delta":
                S = S + np.outer(v - S @ k, k)
            else:
                S = S + (weights["w"][head] @ x) * np.outer(v - S @ k, k)
            Y[:, j] += S @ q
    return Y + X if layer.skip else Y


def formula(layer, weights, X):
    """A layer as its docstring defines it, entry by entry, at one input."""
    kind = type(layer).__name__
    if kind == "Attention":
        return of_attention(layer, weights, X)
    if kind == "Recurrence":
        return of_recurrence(layer, weights, X)
    if kind == "CrossAttention":
        Y, asking = X[:, : layer.context], X[:, layer.context :]
        K, Q, V = (weights[letter] for letter in "KQV")
        return sum(V[h] @ Y @ (K[h] @ Y).T @ (Q[h] @ asking) for h in range(layer.heads))
    if kind == "Perceptron":
        Y = X
        for n in range(1, len(layer.widths) + 1):
            Y = weights[f"W_{n}"] @ (Y if n == 1 else Y**layer.degree)
            Y = Y + weights[f"b_{n}"][:, None] if layer.bias else Y
        return Y + X if layer.skip else Y
    if kind == "Bilinear":
        Y = weights["D"] @ ((weights["G"] @ X) * (weights["U"] @ X))
        return Y + X if layer.skip else Y
    if kind == "Convolution":
        Z = X.T if X.shape[1] == 1 else X
        positions = range(0, Z.shape[1] - layer.filter + 1, layer.stride)
        window = [Z[:, j : j + layer.filter] for j in positions]
        Y = np.array([[(W * z).sum() ** layer.degree for z in window] for W in weights["W"]])
        return Y.T if X.shape[1] == 1 == layer.channels else Y
    if kind == "Linear":
        return weights["W"] @ X + (weights["b"][:, None] if layer.bias else 0)
    if kind == "Power":
        return X**layer.degree
    if kind == "Sum":
        return X.sum(axis=1)[:, None]
    Y = X
    for n, inner in enumerate(layer.layer, 1):
        Y = formula(inner, inner_weights(weights, n), Y)
    return Y + X


def inner_weights(weights, n):
    """Those of a layer with this number: W_2_1 is W_1 of layer 2."""
    parts = {name: name.split("_") for name in weights}
    return {"_".join([k[0], *k[2:]]): weights[name] for name, k in parts.items() if k[1] == str(n)}


def rank(rows):
    return RowSpace(rows.shape[1], P).add(rows)


def compared(architecture):
    """The ranks of the tangent vectors of known groups, of groups from contractions, and of both together."""
    generator = np.random.default_rng(0)
    weights = draw_parameters(architecture, lambda shape: random_residues(generator, shape, P))
    known = symmetry_tangents(architecture, weights, P)
    shown = symmetry_tangents(architecture, weights, P, gauge_groups(architecture))
    if architecture.degree is not None:
        X = random_residues(generator, (40, *architecture.input_shape), P)
        cotangents = random_residues(generator, (40, 1, *architecture.output_shape), P)
        J = jacobian(architecture, weights, X, ModularArithmetic(P), cotangents).reshape(40, -1)
        assert J.any()
        assert not matmul(J, shown.T, P).any()  # orbits lie in the fibers
    return rank(known), rank(shown), rank(np.concatenate([known, shown]))
