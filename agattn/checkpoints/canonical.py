r"""The canonical form of a transformer: the same function, in one of all the ways in which it can be stored.

Of each group of heads the values are split by singular values of the stack of its outputs times P,

.. math:: [O_h]_h P = U Σ Wᵀ, \qquad P := Wᵀ, \quad [O_h]_h := UΣ,

and so are K and its queries on rows that do not turn. A pair of rows that turns is a complex row: k → c k,
q → q/c̄ makes the norms of k and of all q of the group equal, and the largest entry of k real and positive.
Of normalized queries and keys the gains are balanced and positive. A gated neuron has ‖U_i‖ = 1, one of ReLU
has ‖G_i‖ = 1. Signs make largest entries positive; groups, heads and neurons stand in falling order of norms.
Biases count as one more column. It is reached again from any symmetric copy of general weights, and from
itself, to rounding. Where numbers (nearly) coincide by which it is chosen, it jumps: the result names these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from agattn.algebra.scalars import Array
from agattn.checkpoints.folding import READERS, SECONDS, WRITERS, add_to, fold_biases, norms, pieces
from agattn.checkpoints.forward import logits
from agattn.checkpoints.reading import read_transformer
from agattn.checkpoints.same_model import ROUNDINGS
from agattn.checkpoints.stored import Arrays, Facts, Transformer, extended, put_extended, shape
from agattn.errors import InputError, argument
from agattn.limits import takes
from agattn.sheet.data import Cell, Sheet, Table
from agattn.sheet.result import Count, Key, Number, Result
from agattn.workers import spread, threads

Parts = dict[str, Array]
#: What reads the stream in each half of a block, and what writes to it: an array, and the axis of the stream.
HALVES = {"attention": (("Q", "K", "P"), "O", 1), "perceptron": (("G", "U"), "D", 0)}
#: Numbers that are nearer than so many roundings, relatively, may have changed places.
NEAR = 8
#: Random tokens at which outputs are compared.
TOKENS = 12


def _falling(keys: Array, near: float, what: str) -> tuple[Array, list[str]]:
    """The order of falling keys, and which of these nearly coincide."""
    order = np.argsort(-keys, kind="stable")
    gaps = keys[order[:-1]] - keys[order[1:]]
    close = np.flatnonzero(gaps <= near * keys[order[:-1]])
    return order, _named(f"order of {what}", [f"{order[i]} and {order[i + 1]}" for i in close])


def _named(what: str, names: Sequence[Any] | Array) -> list[str]:
    """What is ambiguous, with its first names; nothing if there are none."""
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return [f"{what} {', '.join(map(str, names[:4]))}{more}"] if len(names) else []


def split(left: Array, right: Array, near: float, what: str) -> tuple[Array, Array, list[str]]:
    """UΣ and Wᵀ of left · right = UΣWᵀ, in the shapes of both, and the singular values that nearly coincide.

    Left is m × r, right r × n. The entry of largest modulus in each row of Wᵀ is positive.

    >>> left, right, _ = split(np.array([[3.0], [4.0]]), np.array([[0.0, -2.0]]), 1e-9, "values")
    >>> left.round(9).tolist(), right.tolist()
    ([[-6.0], [-8.0]], [[0.0, 1.0]])
    """
    Q1, R1 = np.linalg.qr(left)
    Q2, R2 = np.linalg.qr(right.T)
    U, sigma, Wt = np.linalg.svd(R1 @ R2.T, full_matrices=False)
    count = len(sigma)
    kept = sigma > 1e-14 * sigma[0]  # rows of value 0 are arbitrary, and become 0
    U, Wt = Q1 @ (U * (sigma * kept)), (Wt @ Q2.T) * kept[:, None]
    signs, unclear = _signs(Wt, near)
    new_left, new_right = np.zeros_like(left), np.zeros_like(right)
    new_left[:, :count], new_right[:count] = U * signs, Wt * signs[:, None]
    close = np.flatnonzero(kept[:-1] & (sigma[:-1] - sigma[1:] <= near * sigma[0]))
    ambiguous = _named(f"{what}: singular values", [f"{i} and {i + 1}" for i in close])
    return new_left, new_right, ambiguous + _named(f"{what}: signs of rows", unclear[kept[unclear]])


def _signs(rows: Array, near: float) -> tuple[Array, Array]:
    """The sign of the entry of largest modulus in each row, and the rows in which that is unclear."""
    high, low = rows.max(axis=-1), -rows.min(axis=-1)
    return np.where(high >= low, 1.0, -1.0), np.flatnonzero(abs(high - low) <= near * abs(high))


def turned(K: Array, Q: Array, p: int, near: float, what: str) -> tuple[Array, Array, list[str]]:
    """K (a × n) and Q (s × a × n) of a group with the p pairs of rows that turn balanced.

    For k and q as complex rows c k and q/c̄ have equal norms, and the largest entry of c k is positive.
    """
    k, q = K[:p] + 1j * K[p : 2 * p], Q[:, :p] + 1j * Q[:, p : 2 * p]
    norm_k, norm_q = np.linalg.norm(k, axis=-1), np.linalg.norm(q, axis=(0, 2))
    sizes = np.sort(abs(k), axis=-1)
    unclear = np.flatnonzero((norm_k > 0) & (sizes[:, -1] - sizes[:, -2] <= near * sizes[:, -1]))
    c = _phase(k) * np.sqrt(ratio(norm_q, norm_k))
    d = _phase(k) * np.sqrt(ratio(norm_k, norm_q))  # 1/c̄, and 0 where k or q is
    k, q = c[:, None] * k, d[:, None] * q
    K, Q = K.copy(), Q.copy()
    K[:p], K[p : 2 * p], Q[:, :p], Q[:, p : 2 * p] = k.real, k.imag, q.real, q.imag
    return K, Q, _named(f"{what}: phases of pairs", unclear)


def _phase(k: Array) -> Array:
    """The complex number of modulus 1 for each row that makes its largest entry real and positive."""
    largest = np.take_along_axis(k, abs(k).argmax(axis=-1)[:, None], -1)[:, 0]
    result: Array = np.exp(-1j * np.angle(largest))
    return result


def ratio(x: Array, y: Array) -> Array:
    """x/y, and 0 where y = 0."""
    return np.divide(x, y, out=np.zeros_like(x), where=y > 0)


def balanced(
    K: Array, Q: Array, gain_k: Array, gain_q: Array, p: int, near: float, what: str
) -> tuple[Array, Array, Array, Array, list[str]]:
    """Rows of normalized keys (m × a × n) and queries (s × a × n) with their gains (1 or m or s, × a).

    Gains become positive, and of each pair, or row that does not turn, as large for keys as for queries. A
    quarter turn exchanges the gains of a pair so that the first is the larger one. Then the largest entry of
    a pair of keys is positive; real, too, if its gains agree, so that it can be turned.
    """
    # (γ, W) and (−γ, −W) are the same.
    K, Q = K * np.where(gain_k < 0, -1, 1)[..., None], Q * np.where(gain_q < 0, -1, 1)[..., None]
    gain_k, gain_q = abs(gain_k), abs(gain_q)
    ambiguous = list[str]()
    pairs = [[f, p + f] for f in range(p)] + [[f] for f in range(2 * p, K.shape[1])]
    for pair in pairs:
        size_k, size_q = (np.linalg.norm(gain[:, pair], axis=0) for gain in (gain_k, gain_q))
        if len(pair) == 2:
            product = size_k * size_q
            agree = all(np.ptp(size) <= near * size.max() for size in (size_k, size_q))
            if product[0] < product[1] and not agree:
                K[:, pair], Q[:, pair] = (W[:, pair[::-1]] * [[-1], [1]] for W in (K, Q))
                gain_k[:, pair], gain_q[:, pair] = gain_k[:, pair[::-1]], gain_q[:, pair[::-1]]
            elif not agree and abs(product[0] - product[1]) <= near * product[0]:
                ambiguous.append(f"{what}: gains of pair {pair[0]}")
        # γ_k → sγ_k, γ_q → γ_q/s
        s = np.sqrt(np.linalg.norm(size_q) / np.linalg.norm(size_k)) if size_q.any() and size_k.any() else 1.0
        gain_k[:, pair], gain_q[:, pair] = gain_k[:, pair] * s, gain_q[:, pair] / s
        rows = K[:, pair].swapaxes(0, 1).reshape(len(pair), 1, -1)
        z = rows[0] + 1j * rows[1] if len(pair) == 2 else rows[0].astype(complex)
        turn = _phase(z)[0] if len(pair) == 2 and agree else None
        if turn is None:
            largest = z[0, abs(z[0]).argmax()]
            turn = np.sign(max(largest.real, largest.imag, key=abs)) or 1.0
        for W in (K, Q):
            if len(pair) == 1:
                W[:, pair] = W[:, pair] * turn.real
            else:
                w = turn * (W[:, pair[0]] + 1j * W[:, pair[1]])
                W[:, pair[0]], W[:, pair[1]] = w.real, w.imag
    return K, Q, gain_k, gain_q, ambiguous


def scores(block: Parts, facts: Facts, p: int, near: float) -> list[str]:
    """Make the queries and keys of a block canonical; what is ambiguous."""
    Q, K = extended(block, "Q"), extended(block, "K")
    g, a = K.shape[:2]
    ambiguous = list[str]()
    members = np.arange(len(Q)).reshape(g, -1)
    if facts.qk_norm:
        gain_k, gain_q = (np.array(block[f"{name}.gain"], float).reshape(-1, a) for name in ("key", "query"))
        # One pair of gains for all groups, or one for each.
        alike = [(slice(n, n + 1), members[n]) for n in range(g)]
        for n, (keys, queries) in enumerate([(slice(None),) * 2] if len(gain_k) == 1 else alike):
            *new, more = balanced(K[keys], Q[queries], gain_k[keys], gain_q[queries], p, near, f"group {n}")
            K[keys], Q[queries], gain_k[keys], gain_q[queries] = new
            ambiguous += more
        for name, gain in (("key.gain", gain_k), ("query.gain", gain_q)):
            block[name] = gain.reshape(block[name].shape).astype(block[name].dtype)
    else:

        def of_group(group: int) -> list[str]:
            q, ambiguous = Q[members[group]], list[str]()
            if p:
                K[group], q, more = turned(K[group], q, p, near, f"scores of group {group}")
                ambiguous += more
            if still := a - 2 * p:
                left = q[:, 2 * p :].swapaxes(1, 2).reshape(-1, still)
                left, K[group, 2 * p :], more = split(
                    left, K[group, 2 * p :], near, f"scores of group {group}"
                )
                q[:, 2 * p :] = left.reshape(len(q), -1, still).swapaxes(1, 2)
                ambiguous += more
            Q[members[group]] = q
            return ambiguous

        ambiguous += chain.from_iterable(spread(of_group, range(g)))
    put_extended(block, Q=Q, K=K)
    return ambiguous


def values(block: Parts, near: float) -> list[str]:
    """Make the values and outputs of a block canonical; what is ambiguous."""
    P, O = extended(block, "P"), np.array(block["O"], float)
    size = len(O) // len(P)

    def of_group(group: int) -> list[str]:
        heads = slice(group * size, (group + 1) * size)
        stack = O[heads].reshape(-1, P.shape[1])
        stack, P[group], ambiguous = split(stack, P[group], near, f"values of group {group}")
        O[heads] = stack.reshape(O[heads].shape)
        return ambiguous

    ambiguous = [*chain.from_iterable(spread(of_group, range(len(P))))]
    put_extended(block, P=P)
    block["O"] = O.astype(block["O"].dtype)
    return ambiguous


def order(block: Parts, near: float) -> list[str]:
    """Put groups, and the heads of each, in falling order of their norms; which are ambiguous."""
    g, H = len(block["K"]), len(block["Q"])
    keys = [np.linalg.norm(np.asarray(block[part], float), axis=(1, 2)) ** 2 for part in ("Q", "O", "K")]
    heads = (keys[0] + keys[1]).reshape(g, -1)
    groups, ambiguous = _falling(heads.sum(axis=1) + keys[2], near, "groups")
    order = []
    for group in groups:
        within, more = _falling(heads[group], near, f"heads of group {group}")
        order.append(group * (H // g) + within)
        ambiguous += more
    stacks = {"K": groups, "P": groups, "key.gain": groups, "Q": np.concatenate(order)}
    stacks |= {"O": stacks["Q"], "query.gain": stacks["Q"]}
    for part, way in stacks.items():
        for name in (part, f"{part}.bias"):
            if name in block and name != "O.bias" and (not part.endswith("gain") or block[name].ndim == 2):
                block[name] = block[name][way]
    return ambiguous


def neurons(new: Parts, facts: Facts, near: float) -> list[str]:
    """Make the neurons of a block canonical; what is ambiguous."""
    ambiguous = list[str]()

    def scale(part: str, signs: bool) -> None:
        """Neurons with rows of norm 1: W_i, b_i → c·, D_i → D_i/c, or D_i/c² of squared ReLU."""
        size = _sizes(new, part)
        c = ratio(np.ones_like(size), size)
        if signs:
            sign, unclear = _signs(new[part], near)
            c, size = c * sign, size * sign
            ambiguous.extend(_named("signs of neurons", unclear))
        power = 2 if part == "G" and facts.activation == "relu2" else 1
        for name, factor in ((part, c[:, None]), (f"{part}.bias", c), ("D", size**power)):
            if name in new:
                new[name] = new[name] * factor.astype(new[name].dtype)

    if facts.gated:
        scale("U", True)
    if facts.activation in ("relu", "relu2"):
        scale("G", False)
    # Norms of rows of d numbers that were rounded at random change by 1/√d of a rounding.
    rows = _sizes(new, "G") ** 2 + _sizes({"D": new["D"].T}, "D") ** 2
    order, more = _falling(rows, near / np.sqrt(len(new["D"])), "neurons")
    for name in {"G", "U", "G.bias", "U.bias"} & {*new}:
        new[name] = new[name][order]
    new["D"] = new["D"][:, order]
    return ambiguous + more


def _sizes(block: Arrays, part: str) -> Array:
    """The norms of the rows of a matrix with its bias."""
    squares = np.einsum("ij,ij->i", block[part], block[part], dtype=float)
    bias = np.asarray(block.get(f"{part}.bias", np.zeros(len(squares))), float)
    result: Array = np.sqrt(squares + bias**2)
    return result


def read_through(
    block: Parts, parts: tuple[Sequence[str], str], norm: Arrays, name: str, facts: Facts
) -> Parts:
    """Fold a norm into the readers, the first of ``parts``; the gain and the bias that are left.

    W → W diag(γ), b → b + Wβ. What a norm that subtracts the mean never lets through leaves W, which is then
    orthogonal to 1/γ. Where a reader has no bias, β/γ is left. Behind a half ("post") γ acts on the stream
    itself, and is left; β goes to the bias of the writer, too.
    """
    readers, writer = parts
    stays = facts.place == "post"
    gain, beta = (
        np.asarray(norm.get(f"{name}.{end}", start), float) for end, start in (("gain", 1), ("bias", 0))
    )
    moves = not beta.any() or all(f"{part}.bias" in block for part in [*readers, *[writer] * stays])
    for part in readers:
        W = np.empty_like(block[part])
        for at in pieces(W.shape):
            rows = np.asarray(block[part][at], float)
            if moves and beta.any():
                add_to(block, f"{part}.bias", rows @ beta, at)
            rows = rows if stays else rows * gain
            if moves and facts.norm == "layer":
                unseen = np.broadcast_to(1 / gain if stays else 1.0, rows.shape[-1:])
                rows = rows - np.multiply.outer(rows @ unseen, unseen / (unseen @ unseen))
            W[at] = rows
        block[part] = W
    if stays and moves and beta.any():
        add_to(block, f"{writer}.bias", beta)
    left = {f"{name}.gain": gain if stays else np.ones_like(gain)}
    left[f"{name}.bias"] = np.zeros_like(beta) if moves else beta if stays else beta / gain
    return {part: value.astype(norm[part].dtype) for part, value in left.items() if part in norm}


def fold_norms(block: Parts, facts: Facts, before: Arrays, is_last: bool) -> None:
    """Fold the norms of a block into its readers; of norms behind halves the biases alone.

    ``before`` are the gain and the bias of the norm behind the last block, or of the embedding.
    """
    shared = facts.parallel and "perceptron.gain" not in block
    for half, (readers, writer, _) in HALVES.items():
        parts = [part for part in readers if part in block]
        if facts.place in ("before", "both") and not (shared and half == "perceptron"):
            parts += [part for part in HALVES["perceptron"][0] if shared and part in block]
            block.update(read_through(block, (parts, writer), block, half, facts))
        elif facts.place == "post" and half == "attention":
            read_through(block, (parts, writer), before, "before", facts)
        elif facts.place == "post":
            block.update(read_through(block, (parts, writer), block, "after attention", facts))
    for half, (_, writer, _) in HALVES.items():
        name = f"after {half}.gain"
        if facts.place in ("after", "both") and facts.norm == "rms" and name in block:
            signs = np.where(block[name] < 0, -1, 1).astype(
                block[name].dtype
            )  # (γ_i, row i of W) and (−γ_i, − row i) are the same
            block[name], block[writer] = abs(block[name]), signs[:, None] * block[writer]
            if (bias := f"{writer}.bias") in block:
                block[bias] = signs * block[bias]
    last = "after perceptron.bias"
    if facts.place == "post" and not is_last and {"Q.bias", "K.bias", "P.bias", "O.bias", last} <= {*block}:
        block[last] = np.zeros_like(block[last])
    if facts.norm == "layer" and facts.place != "after":
        for _, writer, axis in HALVES.values():
            block[writer] = block[writer] - block[writer].mean(axis=axis, keepdims=True)
            if (bias := f"{writer}.bias") in block:
                block[bias] = block[bias] - block[bias].mean()


def fold_ends(ends: Parts, facts: Facts) -> None:
    """Fold the last norm into an unembedding of its own; take out means; center embeddings over tokens."""
    embeddings = [part for part in ("E", "types") if part in ends and (part != "E" or not facts.tied)]
    positions = ["positions"] * ("positions" in ends)
    if facts.norm == "layer" and (facts.place == "before" or "embedding.gain" in ends):
        for part in [*embeddings, *positions]:
            ends[part] = ends[part] - ends[part].mean(axis=1, keepdims=True)
        if "embedding.bias" in ends:
            ends["embedding.bias"] = ends["embedding.bias"] - ends["embedding.bias"].mean()
    for part in embeddings if positions else ():
        mean = ends[part].mean(axis=0, dtype=float)
        ends[part] = ends[part] - mean.astype(ends[part].dtype)
        add_to(ends, "positions", mean * (facts.embedding_scale if part == "E" else 1))
    if facts.place != "post" and "W" in ends:
        ends.update(read_through(ends, (["W"], ""), ends, "final", facts))
    elif facts.place == "post" and "embedding.bias" in ends:
        ends["embedding.bias"] = np.zeros_like(ends["embedding.bias"])


def basis(ends: Arrays, facts: Facts, near: float) -> tuple[Array, list[str]]:
    """The orthogonal R, x → Rx, of the canonical basis of the residual stream, and what is ambiguous.

    Where all norms stand before their halves and have no gains left, R are the eigenvectors of EᵀE (of layer
    norms with R1 = 1); else it orders the coordinates by the columns of E, with signs (of layer norms one).
    """
    E = ends["E"]
    d = E.shape[1]
    gram = np.zeros((d, d))
    for at in pieces(E.shape):
        rows = np.asarray(E[at], float)
        gram += rows.T @ rows
    last = np.asarray(ends.get("final.gain", 1.0), float)
    if facts.place == "before" and "embedding.gain" not in ends and (not np.ptp(last) or not facts.tied):
        B, mean = np.eye(d), np.zeros((d, d))
        if facts.norm == "layer":
            # Columns of B span 1^⊥.
            B, mean = np.linalg.qr(np.eye(d) - 1 / d)[0][:, :-1], np.full((d, d), 1 / d)
        sizes, vectors = np.linalg.eigh(B.T @ gram @ B)
        sizes, vectors = sizes[::-1], vectors[:, ::-1]
        close = np.flatnonzero(sizes[:-1] - sizes[1:] <= near * sizes[0])
        signs, unclear = _signs((E @ (B @ vectors)).T, near)
        ambiguous = _named("basis: eigenvalues", [f"{i} and {i + 1}" for i in close])
        R = mean + B @ (vectors * signs).T @ B.T if facts.norm == "layer" else (vectors * signs).T
        return R, ambiguous + _named("basis: signs of coordinates", unclear)
    order, ambiguous = _falling(np.diagonal(gram), near, "coordinates")
    signs, unclear = _signs(E.T if facts.norm == "rms" else np.ravel(E)[None], near)
    R = np.eye(d)[order] * (signs[None] if facts.norm == "rms" else signs[0])
    return R, ambiguous + _named("basis: signs of coordinates", unclear)


def turn(parts: Parts, R: Array) -> None:
    """Take the arrays of a block, or the ends, to the basis x → Rx of the residual stream."""
    biases = tuple(f"{part}.bias" for part in READERS)
    for part, array in parts.items():
        if part.startswith(("query", "key", "W.bias", *biases)):
            continue
        if part.endswith(".gain"):
            new = (
                abs(R) @ array if np.ptp(array) else array
            )  # R orders coordinates unless all gains are alike
        else:
            new = R @ array if part in WRITERS or part.endswith(".bias") else array @ R.T
        parts[part] = new.astype(array.dtype)


class CanonicalBlocks(Sequence[Parts]):
    """The blocks of a model in their canonical form, computed when they are asked for; the last is kept.

    Attributes:
        changes: what is known of those that were.
    """

    def __init__(self, model: Transformer, R: Array | None, folds: bool) -> None:
        self.model, self.R, self.folds = model, R, folds
        self.near = NEAR * ROUNDINGS[model.dtype].u
        self.changes: dict[int, LayerChange] = {}
        self._last: tuple[int, Parts] = (-1, {})

    def __len__(self) -> int:
        return len(self.model.blocks)

    def __getitem__(self, n: int) -> Parts:  # type: ignore[override]  # no slices
        n = range(len(self))[n]
        if n != self._last[0]:
            self._last = (-1, {})  # it leaves before the next one comes
            self._last = (n, self._computed(n))
        return self._last[1]

    def _computed(self, n: int) -> Parts:
        facts, stored = self.model.facts, self.model.blocks[n]
        block = dict(stored)
        p = facts.pairs(n)
        if self.folds:
            name, of = ("after perceptron", self.model.blocks[n - 1]) if n else ("embedding", self.model.ends)
            norm = {f"before.{end}": of[f"{name}.{end}"] for end in ("gain", "bias") if f"{name}.{end}" in of}
            fold_norms(block, facts, norm, n == len(self) - 1)
        fold_biases(block, facts, p)
        if self.R is not None:
            turn(block, self.R)
        ambiguous = values(block, self.near) + scores(block, facts, p, self.near) + order(block, self.near)
        ambiguous += neurons(block, facts, self.near)
        if n not in self.changes:
            changed = max(_relative(block[part], stored[part]) for part in stored)
            self.changes[n] = LayerChange(n, changed, tuple(ambiguous))
        return block


def _relative(new: Array, old: Array) -> float:
    """How much an array changed, relatively to the larger norm."""

    def squares(at: slice) -> Array:
        arrays = new[at], old[at], np.subtract(new[at], old[at], dtype=float)
        return np.array([(norms(array.reshape(1, -1)) ** 2)[0] for array in arrays])

    *sizes, apart = np.sqrt(sum(spread(squares, pieces(new.shape))))
    return float(apart / max(sizes)) if any(sizes) else 0.0


class LayerChange(Result):
    """What became of a layer."""

    layer: Key[Count, "The layer, from 0."]
    changed: Key[Number, "The largest relative change of an array; near 0 where the layer was canonical."]
    ambiguous: Key[
        tuple[str, ...],
        "What (nearly) equal numbers leave open, by the groups, heads and neurons of the file.",
    ]


class CanonicalForm(Result, name="canonical", eq=False):
    """The canonical form of a transformer, layer by layer.

    Attributes:
        transformer: the form itself; its blocks are computed when they are asked for.
    """

    layers: Key[tuple[LayerChange, ...], "What became of each layer."]
    basis: Key[tuple[str, ...], "What is open in the basis of the residual stream, if that was asked for."]
    difference: Key[Number, "The largest difference of outputs at random tokens, relative to the largest."]
    transformer: Any = None

    def summary(self) -> str:
        """How many layers changed, and how outputs differ."""
        changed = sum(layer.changed > 1e-6 for layer in self.layers)
        open_ = sum(bool(layer.ambiguous) for layer in self.layers)
        text = f"{changed} of {len(self.layers)} layers changed; outputs differ by {self.difference:.2g}"
        return f"{text}; {open_} ambiguous" if open_ else text

    def sheet(self) -> Sheet:
        """A row for each layer."""
        rows: list[tuple[Cell, ...]] = [
            (layer.layer, f"{layer.changed:.2g}", "; ".join(layer.ambiguous)) for layer in self.layers
        ]
        rows += [("basis", "", "; ".join(self.basis))] if self.basis else []
        return Sheet(
            self.summary(), (Table("Canonical form", ("layer", "changed", "ambiguous"), tuple(rows)),)
        )


def difference(first: Transformer, second: Transformer) -> float:
    """The largest difference of outputs at random tokens, relative to the largest output."""
    positions = len(first.ends["positions"]) if "positions" in first.ends else TOKENS
    tokens = (
        np.random.default_rng(0).integers(shape(first.ends, "E")[0], size=min(TOKENS, positions)).tolist()
    )
    one, two = logits(first, tokens), logits(second, tokens)
    return float(abs(one - two).max() / (abs(one).max() or 1.0))


@takes("workers")
def canonical(weights: Any, *, residual_basis: bool = False, fold_norms: bool = False) -> CanonicalForm:
    """The canonical form of a checkpoint: the same function, and the same arrays of all symmetric copies.

    Args:
        weights: the folder of a checkpoint, or its file with ``config.json`` beside it; or what
            :func:`~agattn.checkpoints.reading.read_transformer` makes of tensors and a configuration.
        residual_basis: choose the basis of the residual stream, too; folds norms.
        fold_norms: fold norms into what reads them, take out means, and center embeddings.

    Raises:
        InputError: if the checkpoint cannot be read, or is of a family that is not read as a whole; if the
            basis of the residual stream is asked for, and outputs are vectors of it.

    See Also:
        :func:`agattn.equivalent`; ``agattn canonical`` in a shell, which writes it.

    >>> import agattn as ag
    >>> from agattn.checkpoints.stored import Facts
    >>> facts = Facts("rms", 0, "before", False, True, "silu", True, "", True, 1, 1, 0, 0, 1, (0,), ())
    >>> arrays = {"Q": (1, 2, 3), "K": (1, 2, 3), "P": (1, 1, 3), "O": (1, 3, 1), "G": (2, 3), "U": (2, 3)}
    >>> rng = np.random.default_rng(0)
    >>> block = {part: rng.standard_normal(shape) for part, shape in (arrays | {"D": (3, 2)}).items()}
    >>> form = ag.canonical(Transformer("tiny", facts, {"E": rng.standard_normal((5, 3))}, [block]))
    >>> form.difference < 1e-12, form.layers[0].ambiguous
    (True, ())
    >>> np.linalg.norm(form.transformer.blocks[0]["P"]).round(12)
    np.float64(1.0)
    """
    model = weights if isinstance(weights, Transformer) else read_transformer(weights)
    if residual_basis and "W" not in model.ends and not model.facts.tied:
        raise InputError(
            f"{model.name} gives vectors of the residual stream, whose basis is therefore not free; "
            f"leave {argument('residual_basis')} out"
        )
    folds = fold_norms or residual_basis
    R, ambiguous = None, list[str]()
    ends: Parts = dict(model.ends) if folds else {}
    if folds:
        fold_ends(ends, model.facts)
    if residual_basis:
        R, ambiguous = basis(ends, model.facts, NEAR * ROUNDINGS[model.dtype].u)
        turn(ends, R)
    blocks = CanonicalBlocks(model, R, folds)
    form = replace(model, ends=ends or model.ends, blocks=blocks)
    with threads(SECONDS / 2 * model.size):
        apart = difference(model, form)
    return CanonicalForm(tuple(blocks.changes[n] for n in range(len(blocks))), tuple(ambiguous), apart, form)
