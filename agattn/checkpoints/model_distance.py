r"""How far two transformers are from each other, layer by layer, modulo what no function sees.

Heads are compared by what they compute, not by how it is stored: the scores by A_h = K_gᵀ Q_h, the values by
V_h = O_h P_g, biases as one more column. A pair of rows that turns has the form k̄ qᵀ of its complex rows. No
d × d matrix is made:

.. math:: ⟨KᵀQ, K'ᵀQ'⟩ = ⟨KK'ᵀ, QQ'ᵀ⟩, \qquad ⟨\bar k qᵀ, \bar k' q'ᵀ⟩ = \mathrm{Re}\,⟨k', k⟩⟨q, q'⟩.

Heads are matched, group by group, by the least sum of ‖A_h − A'_h‖² + ‖V_h − V'_h‖². Norms and biases are
folded first, gains of normalized queries and keys are factors of their rows, and the basis of the residual
stream of the first model is taken to that of the second: by a signed permutation of coordinates if this takes
embeddings near to each other, else by the nearest rotation, where rotations change no function.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agattn.algebra.scalars import Array
from agattn.checkpoints.canonical import Parts, ratio
from agattn.checkpoints.folding import SECONDS, FoldedEnds, folded
from agattn.checkpoints.stored import Arrays, Transformer, extended
from agattn.checkpoints.symmetry import Basis, matched, permutation_between, rotation_between
from agattn.errors import InputError
from agattn.sheet.data import Cell, Note, Sheet, Table
from agattn.sheet.result import Count, Key, Number, Result
from agattn.workers import threads


class HeadDistance(Result):
    """Two heads that were matched, and how far they are from each other, relatively."""

    a: Key[Count, "The head of the first model, from 0."]
    b: Key[Count, "The head of the second model."]
    scores: Key[Number, "‖A − A'‖ relative to the larger norm; 0 where both are 0."]
    values: Key[Number, "‖V − V'‖ relative to the larger norm; 0 where both are 0."]


class LayerDistance(Result):
    """The heads of a layer in two models, and how far the layers are from each other."""

    layer: Key[Count, "The layer, from 0."]
    heads: Key[tuple[HeadDistance, ...], "The heads, in the order of the first model."]
    scores: Key[Number, "The distance of all A of the layer together, relatively."]
    values: Key[Number, "The distance of all V of the layer together, relatively."]


class ModelDistance(Result, name="distance"):
    """How far two transformers are from each other, layer by layer, modulo symmetries of heads."""

    layers: Key[tuple[LayerDistance, ...], "One entry for each layer."]
    basis: str = "the same"

    def summary(self) -> str:
        """The largest distances, and in which layers."""
        words = []
        for what in ("scores", "values"):
            farthest = max(self.layers, key=lambda layer: getattr(layer, what))
            words.append(f"{what} by at most {getattr(farthest, what):.3g} (layer {farthest.layer})")
        return f"the models differ relatively in {' and in '.join(words)}"

    def sheet(self) -> Sheet:
        """A row for each layer, with its farthest heads, and how many heads stand elsewhere."""
        rows: list[tuple[Cell, ...]] = []
        for layer in self.layers:
            far = [max(layer.heads, key=lambda head: getattr(head, what)) for what in ("scores", "values")]
            words = (f"{head.a} → {head.b}: {max(head.scores, head.values):.3g}" for head in far)
            moved = sum(head.a != head.b for head in layer.heads)
            rows.append((layer.layer, f"{layer.scores:.3g}", f"{layer.values:.3g}", *words, moved))
        names = ("layer", "scores", "values", "farthest scores", "farthest values", "moved heads")
        legend = f"Relative distances of A = KᵀQ and of V = OP. Basis of the residual stream: {self.basis}."
        return Sheet(self.summary(), (Table("Distance of two models", names, tuple(rows)), Note(legend)))


def inner_scores(first: Arrays, second: Arrays, p: int) -> Array:
    """⟨A_h, A'_h'⟩ for all heads h of one block and h' of another, of which p pairs of rows turn."""
    K, Q, K2, Q2 = (_with_gain(block, part) for block in (first, second) for part in ("K", "Q"))
    still = slice(2 * p, None)
    result = _inner(K[:, still], Q[:, still], K2[:, still], Q2[:, still])
    if p:
        k, q, k2, q2 = (M[:, :p] + 1j * M[:, p : 2 * p] for M in (K, Q, K2, Q2))
        keys = np.einsum("gfd,kfd->fgk", k, k2.conj())
        queries = np.einsum("hfd,jfd->fhj", q.conj(), q2)
        keys = keys.repeat(len(q) // len(k), axis=1).repeat(len(q2) // len(k2), axis=2)
        result += (keys * queries).sum(axis=0).real
    return result


def _with_gain(block: Arrays, part: str) -> Array:
    """Queries or keys with their biases, times their gains if they are normalized."""
    gain = block.get({"K": "key.gain", "Q": "query.gain"}[part])
    W = extended(block, part)
    return W if gain is None else W * np.asarray(gain, float)[..., None]


def _inner(shared: Array, own: Array, shared2: Array, own2: Array) -> Array:
    """⟨S_gᵀ W_h, S'_g'ᵀ W'_h'⟩ for stacks S of groups (g × r × n) and W of heads (H × r × m)."""
    g, r = shared2.shape[:2]
    H = len(own2)
    result = np.zeros((len(own), H))
    for h, W in enumerate(own):
        S = shared[h * len(shared) // len(own)]
        left = (S @ shared2.reshape(g * r, shared2.shape[2]).T).reshape(r, g, r).repeat(H // g, axis=1)
        right = (W @ own2.reshape(H * r, own2.shape[2]).T).reshape(r, H, r)
        result[h] = np.einsum("ihj,ihj->h", left, right)
    return result


def inner_values(first: Arrays, second: Arrays) -> Array:
    """⟨V_h, V'_h'⟩ for all heads h of one block and h' of another."""
    P, P2 = extended(first, "P"), extended(second, "P")
    O, O2 = (np.asarray(block["O"], float).swapaxes(1, 2) for block in (first, second))
    return _inner(P, O, P2, O2)


def basis_between(first: Transformer, second: Transformer) -> tuple[Basis, str]:
    """The basis of the residual stream of one model in that of the other, by embeddings, and in words."""
    ends, facts = [FoldedEnds(model) for model in (first, second)], first.facts
    tokens, d = first.ends["E"].shape
    at = np.unique(np.linspace(0, tokens - 1, min(tokens, 4 * d)).astype(int))
    E, E2 = (end.fold("E", end.stored("E")[at]) for end in ends)
    basis = permutation_between(E, E2)
    basis = basis.with_one_sign() if facts.norm == "layer" else basis
    apart = np.linalg.norm(basis.turn(E) - E2) / np.linalg.norm(E2)
    if apart > 0.5 and facts.place == "before" and "embedding.gain" not in first.ends:
        return rotation_between(E, E2, np.zeros(len(E)), facts.norm == "layer"), "rotated"
    same = (basis.order == np.arange(d)).all() and (basis.signs == 1).all()
    return basis, "the same" if same else "coordinates reordered, or with other signs"


def heads_of(block: Arrays, basis: Basis | None = None) -> Parts:
    """What of a folded block its heads are made of, taken to another basis of the residual stream."""
    parts = ("Q", "K", "P", "O", "Q.bias", "K.bias", "P.bias", "query.gain", "key.gain")
    heads = {part: block[part] for part in parts if part in block}
    if (gain := block.get("after attention.gain")) is not None:
        heads["O"] = gain[:, None] * heads["O"]
    if basis is not None:
        heads |= {part: basis.turn(heads[part]) for part in "QKP"}
        heads["O"] = basis.turn(heads["O"], 1)
    return heads


def _squares(block: Parts, inner: Callable[[Parts, Parts], Array]) -> Array:
    """The squared norms of all heads."""
    size = len(block["Q"]) // len(block["K"])

    def square(h: int) -> float:
        own = {part: h if part.startswith(("Q", "O", "query")) else h // size for part in block}
        gains = {part for part in block if part.endswith("gain") and block[part].ndim == 1}
        head = {part: block[part] if part in gains else block[part][own[part]][None] for part in block}
        return float(inner(head, head)[0, 0])

    return np.array([square(h) for h in range(len(block["Q"]))])


def layer_distance(layer: int, first: Parts, second: Parts, p: int) -> LayerDistance:
    """The heads of two folded blocks matched, and their distances; p pairs of rows turn."""
    sizes, squares = [], []
    for inner in (lambda x, y: inner_scores(x, y, p), inner_values):
        ones, twos = _squares(first, inner)[:, None], _squares(second, inner)[None]
        squares.append(np.maximum(ones + twos - 2 * inner(first, second), 0))
        sizes.append(np.maximum(ones, twos))
    partner = matched(squares[0] + squares[1], len(first["K"]))[1]
    chosen = (np.arange(len(partner)), partner)
    far = [square[chosen] for square in squares]
    relative = [np.sqrt(ratio(x, size[chosen])) for x, size in zip(far, sizes, strict=True)]
    heads = tuple(
        HeadDistance(a, int(b), float(relative[0][a]), float(relative[1][a])) for a, b in enumerate(partner)
    )
    whole = (float(np.sqrt(ratio(x.sum(), size[chosen].sum()))) for x, size in zip(far, sizes, strict=True))
    return LayerDistance(layer, heads, *whole)


def model_distance(first: Transformer, second: Transformer) -> ModelDistance:
    """How far two transformers of the same sizes are from each other, layer by layer.

    Args:
        first: a transformer.
        second: another one.

    Raises:
        InputError: if the models have other numbers of layers or heads, or other sizes of these.

    See Also:
        :func:`agattn.equivalent`, :func:`agattn.canonical`.

    >>> from agattn.checkpoints.stored import Facts
    >>> facts = Facts("rms", 0, "before", False, True, "silu", True, "", True, 1, 1, 0, 0, 1, (), ())
    >>> K, Q, P, O = np.random.default_rng(0).standard_normal((4, 2, 3, 5))
    >>> block = {"K": K, "Q": Q, "P": P, "O": O.swapaxes(1, 2)}
    >>> other = {"K": 2 * K[::-1], "Q": Q[::-1] / 2, "P": P[::-1], "O": 1.1 * block["O"][::-1]}
    >>> models = [Transformer("tiny", facts, {"E": np.eye(5)}, (block,)) for block in (block, other)]
    >>> [layer] = model_distance(*models).layers
    >>> [(head.a, head.b, round(head.values, 6)) for head in layer.heads], round(layer.scores, 6)
    ([(0, 1, 0.090909), (1, 0, 0.090909)], 0.0)
    """
    sizes = [(len(model.blocks), *model.ends["E"].shape) for model in (first, second)]
    if sizes[0] != sizes[1]:
        has = [f"{n} layers and an embedding of {V} × {d}" for n, V, d in sizes]
        raise InputError(f"the first model has {has[0]}, the second {has[1]}; only equal sizes are compared")
    with threads(SECONDS * first.size):
        basis, words = basis_between(first, second)
    layers = []
    for n, blocks in enumerate(zip(folded(first).blocks, folded(second).blocks, strict=True)):
        one, two = heads_of(blocks[0], basis), heads_of(blocks[1])
        for part in "QKPO":
            if one[part].shape != two[part].shape:
                shapes = (" × ".join(map(str, heads[part].shape)) for heads in (one, two))
                raise InputError(
                    f"layer {n}: {part} is {' and '.join(shapes)}; only equal sizes are compared"
                )
        layers.append(layer_distance(n, one, two, first.facts.pairs(n)))
    return ModelDistance(tuple(layers), words)
