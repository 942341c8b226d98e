r"""Fewer keys and values: the nearest layers, and the bounds that nothing in this norm beats.

Scores of a head without positions are those of A = KᵀQ, what it adds is V = OP. Heads of a set share keys of
a rows exactly if the A_h side by side have rank ≤ a, and values of b rows if the V_h, one above the other,
do. So of all layers that share, the nearest in

.. math:: \sum_h \lVert C_1^{1/2} (A_h - A'_h) C_2^{1/2} \rVert^2 +
   w \sum_h \lVert (V_h - V'_h) C_3^{1/2} \rVert^2

is the truncated singular value decomposition of each whitened stack, by Eckart and Young, and the tail of
the singular values is its error. It comes as a product of a thin and a wide matrix, L·N, which is decomposed
by QR of both: with L N = U Σ W* the new keys are the combinations N W Σ⁻¹ of the old ones, and the queries
become U* L times theirs, so that no metric is inverted and biases, one more column, go along.

Rotary pairs share if conj(k) qᵀ, side by side, have rank one over ℂ. A pair that goes around the circle
within the context has, on average, half of the complex norm; for a slower one the average over the distances
of tokens is another norm, in which the answer is a local search from the complex optimum, without a bound.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from math import pi
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from agattn.algebra.scalars import Array
from agattn.calls import one_of, positive_integer
from agattn.checkpoints.folding import SECONDS, fold_biases
from agattn.checkpoints.forward import attention_inputs
from agattn.checkpoints.reading import SHARED, read_transformer, write_transformer
from agattn.checkpoints.stored import Arrays, Facts, Transformer, extended, put_extended
from agattn.checkpoints.weight_files import WeightFile
from agattn.errors import InputError, argument
from agattn.files import parsed, read_text
from agattn.limits import takes
from agattn.sheet.data import Note, Sheet, Table
from agattn.sheet.result import Count, Key, Positive, Result, Written, key
from agattn.workers import spread, threads


class ConvertedLayer(Result):
    """One layer: how far the nearest one with fewer keys and values is, and how far others are.

    All numbers but the weight are in one norm: √(scores² + weight · values²).
    """

    layer: Key[Count, "The layer, counted from 0."]
    groups: Key[tuple[tuple[Count, ...], ...], "Old sets of keys and values by the new set that they share."]
    error: Key[float, "The distance of the layer that is written."]
    bound: Key[
        float | None,
        "No layer with these groups is nearer: the tail of singular values; null where slow rotary pairs are "
        "found by a local search.",
    ]
    mean: Key[float | None, "The distance if keys and values are averaged; null if none are shared."]
    procrustes: Key[float | None, "The same with each set of rows first turned to the first of its group."]
    scores: Key[float, "The part of the error in scores."]
    values: Key[float, "The part of the error in values."]
    norm: Key[float, "The norm of the layer itself."]
    weight: Key[float, "What the square of an error in values counts: both norms are made equal."]


class Conversion(Result, name="convert", eq=False):
    """A model with fewer keys and values.

    Attributes:
        transformer: the model; where its family has no shared heads, the shared arrays are repeated.
        width: that of the model.
    """

    layers: Key[tuple[ConvertedLayer, ...], "One entry for each layer."]
    tokens: Key[Count, "The tokens of the data; 0 without data."]
    kind: Key[str, "What is made smaller.", Written(Literal["kv_heads", "rank", "latent"])]
    size: Key[Positive, "The new number."]
    pairs: Key[Count, "Rotary pairs of a layer."]
    slow: Key[Count, "Rotary pairs of a layer, the most, that are found by a local search."]
    transformer: Transformer | None = None
    width: int = 0

    @key(Written(Literal["identity", "data"]))
    def metric(self) -> str:
        """Whether inputs are those of data, or all directions count alike."""
        return "data" if self.tokens else "identity"

    def sheet(self) -> Sheet:
        """A row for each layer, relative to its norm; what is optimal, and what is not claimed."""
        rows = tuple(
            (
                line.layer,
                _relative(line.error, line.norm),
                "none" if line.bound is None else _relative(line.bound, line.norm),
                _relative(line.mean, line.norm),
                _relative(line.procrustes, line.norm),
            )
            for line in self.layers
        )
        what = {
            "kv_heads": f"{self.size} sets of keys and values",
            "rank": f"heads of {self.size} rows",
            "latent": f"one latent of rank {self.size}",
        }[self.kind]
        by = f"{self.tokens} tokens of data" if self.tokens else "all directions alike"
        optimal = "The error is optimal in this norm, with these groups: it is the bound. "
        if self.slow:
            optimal = (
                f"{self.slow} of {self.pairs} rotary pairs turn less than once in the context: a local search"
                " finds what is written for them, and no bound is known. "
            )
        elif self.pairs:
            optimal += (
                "Rotary pairs are taken in the complex norm, which is right for those that go around the"
                " circle within the context. "
            )
        note = (
            f"{optimal}The norm takes tokens as independent and heads one by one; nothing is claimed of the"
            " loss, nor of the groups."
        )
        headings = ("layer", "error", "bound", "averages", "Procrustes")
        table = Table("Relative distances of layers from the original", headings, rows)
        notes = [Note(note, folded=True)]
        if 0 < self.tokens < self.width:
            few = (
                f"The data has {self.tokens} tokens, and the model is {self.width} wide: directions that no"
                f" token has do not count. Give at least {self.width} tokens."
            )
            notes.append(Note(few, folded=True))
        return Sheet(f"{what}; metric: {by}", (table, *notes))


def _relative(x: float | None, norm: float) -> str:
    return "–" if x is None else f"{x / norm if norm else 0.0:.4f}"


#: What a conversion reads of a block.
_PARTS = ("Q", "K", "P", "O", "Q.bias", "K.bias", "P.bias", "O.bias")


class Metric(NamedTuple):
    """Roots F of the moments FᵀF of a layer's inputs; ``None`` for the identity.

    Attributes:
        centered: of the covariance: what is constant over tokens does not count.
        second: of the second moment.
        whole: of the second moment of inputs with 1 appended.
    """

    centered: Array | None = None
    second: Array | None = None
    whole: Array | None = None

    @classmethod
    def of(cls, X: Array) -> Metric:
        """The metric of inputs, n × d."""
        whole = np.hstack([X, np.ones((len(X), 1))])
        return cls(*(_triangle(M / len(X) ** 0.5) for M in (X - X.mean(axis=0), X, whole)))


#: All directions count alike.
IDENTITY = Metric()


class Heads(NamedTuple):
    """What belongs to sets of keys or of values, and what to the heads that use them.

    Of whitened rows g × … and H × …; of new rows, as combinations of those of a set, N × a × m × a,
    and for each head of its own, H × a × a.
    """

    shared: Array
    own: Array


class MeasuredLayer:
    """One block with its metric: the nearest blocks of some kinds, and how far blocks are.

    Attributes:
        free: whether what is constant over tokens is invisible in scores, and may move to the output bias.
        slow: whether each rotary pair turns less than once in the context.
    """

    def __init__(
        self,
        block: Arrays,
        facts: Facts,
        number: int = 0,
        metric: Metric = IDENTITY,
        context: int | None = None,
        one_metric: bool = False,
    ) -> None:
        self.block = {part: np.array(block[part], float) for part in _PARTS if part in block}
        self.metric, self.heads = metric, len(self.block["Q"])
        self.free = (not facts.score_cap, "O.bias" in block)
        self.one_metric = one_metric
        if one_metric:
            self.free = (all(self.free),) * 2
        angles = facts.angles[number] if facts.angles else ()
        self.pairs = len(angles)
        if all(self.free) or not one_metric:
            fold_biases(self.block, facts, self.pairs)
        self.slow = [context is not None and abs(angle) * context < 2 * pi for angle in angles]
        self.cost = [
            average(angle, context, facts.causal) if context and slow else np.eye(2) / 2
            for angle, slow in zip(angles, self.slow, strict=True)
        ]
        self.scores, self.turning, self.values = self.sides(self.block)
        zero = {part: np.zeros_like(array) for part, array in self.block.items()}
        scores, values = self.distances(zero)
        self.weight = scores / values if scores and values else 1.0
        self.norm = (scores + self.weight * values) ** 0.5

    def taken(self, groups: Sequence[int]) -> MeasuredLayer:
        """Some sets of keys and values with their heads, in this order."""
        share = self.heads // len(self.block["K"])
        heads = [share * g + i for g in groups for i in range(share)]
        other, groups = copy(self), [*groups]
        other.heads = len(heads)
        other.block = {
            part: array if part == "O.bias" else array[groups if part[0] in "KP" else heads]
            for part, array in self.block.items()
        }
        sides = (
            Heads(side.shared[groups], side.own[heads]) for side in (self.scores, self.values, *self.turning)
        )
        other.scores, other.values, *other.turning = sides
        return other

    def alike(self, size: int) -> list[int]:
        """An order that puts sets of keys and values together by what sharing costs each two of them."""
        left, order = [*range(len(self.block["K"]))], list[int]()
        while left:
            first = left[0]
            cost = {g: self.taken((first, g)).nearest(1)[1] if g != first else -1.0 for g in left}
            chosen = sorted(left, key=cost.__getitem__)[:size]
            order += sorted(chosen)
            left = [g for g in left if g not in chosen]
        return order

    def sides(self, block: Arrays) -> tuple[Heads, list[Heads], Heads]:
        """Whitened rows of scores that do not turn, of each pair that does, and of values."""
        keys, queries, P = (extended(block, part) for part in "KQP")
        turn, whole = 2 * self.pairs, self.metric.whole
        queries = weighed(queries, whole)
        roots = (self.metric.second if self.one_metric else self.metric.centered, self.metric.second)
        still, values = (
            weighed(M[..., :-1], root) if free else weighed(M, whole)
            for M, root, free in zip((keys[:, turn:], P), roots, self.free, strict=True)
        )
        turning = weighed(keys[:, :turn], whole)
        pairs = [slice(f, turn, self.pairs) for f in range(self.pairs)]
        return (
            Heads(still, queries[:, turn:]),
            [Heads(turning[:, rows], queries[:, rows]) for rows in pairs],
            Heads(values, block["O"].swapaxes(1, 2)),
        )

    def distances(self, block: Arrays) -> tuple[float, float]:
        """The squares of the distances of scores and of values to another block with these heads."""
        scores, turning, values = self.sides(block)
        pairs = zip(self.turning, turning, self.cost, strict=True)
        return (
            gap(self.scores, scores) + sum(spread(lambda pair: gap(*pair), pairs)),
            gap(self.values, values),
        )

    def nearest(self, sets: int, rank: int | None = None) -> tuple[dict[str, Array], float]:
        """The nearest block in which consecutive heads share, and the square of its distance.

        Args:
            rank: of each head, where that is to be smaller; further rows are 0.
        """
        QK, OP = self._mixings(sets)
        turn = 2 * self.pairs

        def of_set(n: int) -> float:
            lost = 0.0
            for mixing, side, start, weight in (
                (QK, self.scores, turn, 1.0),
                (OP, self.values, 0, self.weight),
            ):
                shared, own = _set(side, n, sets)
                m, rows, _ = shared.shape
                size = min(rows, rank or rows)
                beside = [_beside(heads) for heads in own]
                T, B, tail = factored(shared.reshape(m * rows, shared.shape[-1]), beside, size)
                mixing.shared[n, start : start + size, :, start:] = T.T.reshape(size, m, rows)
                B = B.reshape(1, size, m, rows).transpose(2, 0, 1, 3)
                _heads(mixing, n, sets, m)[..., start : start + size, start:] = B
                lost += weight * tail**2
            for f, (side, cost) in enumerate(zip(self.turning, self.cost, strict=True)):
                shared, own = _set(side, n, sets)
                t, s, tail = shared_pair(shared, own, cost if self.slow[f] and len(shared) > 1 else None)
                rows = slice(f, turn, self.pairs)
                QK.shared[n, rows, :, rows] = np.stack([t.real, t.imag])
                _heads(QK, n, sets, len(shared))[..., rows, rows] = np.stack([s.real, s.imag], axis=-2)
                lost += tail**2 / 2
            return lost

        lost = sum(spread(of_set, range(sets)))
        return self._written(QK, OP), lost

    def averages(self, sets: int, turned: bool) -> dict[str, Array]:
        """The block of averages over sets, as they are or with rows turned to those of the first of a set."""
        from scipy.linalg import orthogonal_procrustes

        QK, OP = self._mixings(sets)
        turn = 2 * self.pairs
        parts = [(QK, self.scores, slice(turn, None)), (OP, self.values, slice(0, None))]
        parts += [(QK, side, slice(f, turn, self.pairs)) for f, side in enumerate(self.turning)]
        for mixing, side, rows in parts:
            m = len(side.shared) // sets
            for g, shared in enumerate(side.shared):
                first = side.shared[g - g % m]
                R = np.eye(len(shared))
                if turned and rows.step:
                    R = _turn(shared, first)
                elif turned:
                    R = orthogonal_procrustes(shared.T, first.T)[0].T
                mixing.shared[g // m, rows, g % m, rows] = R / m
                _heads(mixing, g // m, sets, m)[g % m, :, rows, rows] = R
        return self._written(QK, OP)

    def latent(self, rank: int) -> tuple[dict[str, Array], float]:
        """The nearest block with keys and values of one latent, and the square of its distance."""
        sides = (self.scores, self.values)
        own = [_set(side, 0, 1).own for side in sides]
        N = [*map(_beside, own[0]), *(self.weight**0.5 * _beside(heads) for heads in own[1])]
        rows = np.concatenate([side.shared.reshape(-1, side.shared.shape[-1]) for side in sides])
        T, B, tail = factored(rows, N, rank)
        K, P = (extended(self.block, part) for part in "KP")
        new = (T @ B).T @ np.concatenate([K.reshape(-1, K.shape[2]), P.reshape(-1, P.shape[2])])
        block, split = dict(self.block), K.shape[0] * K.shape[1]
        put_extended(block, K=new[:split].reshape(K.shape), P=new[split:].reshape(P.shape))
        return block, tail**2

    def _mixings(self, sets: int) -> tuple[Heads, Heads]:
        """Combinations of scores and of values, 0 yet."""
        (groups, a, _), (_, b, _) = self.block["K"].shape, self.block["P"].shape
        QK, OP = (Heads(np.zeros((sets, n, groups // sets, n)), np.zeros((self.heads, n, n))) for n in (a, b))
        return QK, OP

    def _written(self, QK: Heads, OP: Heads) -> dict[str, Array]:
        """The block of these combinations, with exact biases."""
        new = dict(self.block)
        for mixing, part in ((QK, "K"), (OP, "P")):
            old = extended(self.block, part)
            old = old.reshape(len(mixing.shared), -1, *old.shape[1:])
            rows = np.einsum("nimj,nmjd->nid", mixing.shared, old, optimize=True)
            put_extended(new, **{part: rows})
        put_extended(new, Q=QK.own @ extended(self.block, "Q"))
        new["O"] = new["O"] @ OP.own.swapaxes(1, 2)
        return new


@takes("workers")
def convert(
    model: Transformer | str | Path | Mapping[str, Any],
    *,
    kv_heads: int | None = None,
    rank: int | None = None,
    latent: int | None = None,
    groups: Literal["adjacent", "nearest"] = "adjacent",
    data: Any = None,
    context: int | None = None,
) -> Conversion:
    """Find the nearest model with fewer keys and values, and the proof that none with these groups is nearer.

    For each layer the error is the lower bound that it attains, in a norm that takes tokens as independent.
    Nothing is claimed of the loss of the model, nor of the groups.

    Args:
        model: the folder of a checkpoint, its file, or a transformer.
        kv_heads: so many sets of keys and values are left.
        rank: of each head, for models without rotary positions; further rows are 0.
        latent: the rank of one latent, from which all keys and values of a layer are made.
        groups: which sets share: adjacent ones, or those whose sharing costs least, found greedily.
        data: token ids (sequences of numbers), or by layer, from 0, hidden states that its attention reads
            (n × d); arrays or a file of them. Without data all directions count alike.
        context: so many tokens: rotary pairs that turn less than once in them are found by a local search.
            Without it the complex norm is taken for all pairs.

    Raises:
        InputError: if a number does not fit the model, keys are normalized, or the data has another width.

    See Also:
        :func:`agattn.classify`.

    >>> from agattn.checkpoints.stored import Facts
    >>> K, Q, P, O = np.random.default_rng(0).standard_normal((4, 4, 2, 6))
    >>> block = {"K": K, "Q": Q, "P": P, "O": O.swapaxes(1, 2)}
    >>> facts = Facts("rms", 0.0, "before", False, True, "silu", True, "", True, 1, 1, 0, 0, 1, (), ())
    >>> [line] = convert(Transformer("tiny", facts, {}, [block]), kv_heads=2).layers
    >>> line.groups, abs(line.error - line.bound) < 1e-12, line.error < line.procrustes < line.mean
    (((0, 1), (2, 3)), True, True)
    """
    if not isinstance(model, Transformer):
        model = read_transformer(model)
    given = {"kv_heads": kv_heads, "rank": rank, "latent": latent}
    (kind, size), *others = [item for item in given.items() if item[1] is not None] or [("", 0)]
    if not kind or others:
        raise InputError(f"give one of {', '.join(map(argument, given))}")
    size = positive_integer(kind, size)
    _refuse(model, kind, size)
    one_of(groups, ("adjacent", "nearest"), "way to choose groups")
    if groups == "nearest" and kind != "kv_heads":
        raise InputError(f"{argument('groups')} is for {argument('kv_heads')}; leave it out")
    if context is not None:
        positive_integer("context", context)
        if not any(model.facts.angles):
            raise InputError(
                f"{argument('context')} is for rotary positions, which {model.name} has not; leave it out"
            )
    metrics, tokens = ([IDENTITY] * len(model.blocks), 0) if data is None else _metrics(model, data)
    lines, blocks, slow, pairs = [], [], 0, 0
    for n, (block, metric) in enumerate(zip(model.blocks, metrics, strict=True)):
        with threads(SECONDS / 2 * model.size):
            layer = MeasuredLayer(block, model.facts, n, metric, context, kind == "latent")
            line, new = _converted(layer, n, kind, size, groups == "nearest")
        lines.append(line)
        dtype = np.float64 if model.dtype == "float64" else np.float32
        blocks.append(
            ChainMap(
                {part: array.astype(dtype) for part, array in new.items()}, cast(dict[str, Array], block)
            )
        )
        pairs = max(pairs, layer.pairs)
        slow = max(slow, sum(layer.slow) if line.bound is None else 0)
    converted = replace(model, blocks=blocks)
    width = model.blocks[0]["K"].shape[-1]
    return Conversion(tuple(lines), tokens, kind, size, pairs, slow, converted, width)


def _converted(
    layer: MeasuredLayer, number: int, kind: str, size: int, alike: bool
) -> tuple[ConvertedLayer, dict[str, Array]]:
    """A layer, and its arrays with as many sets of keys and values as it had."""
    old = len(layer.block["K"])
    sets = size if kind == "kv_heads" else old
    order = layer.alike(old // sets) if alike else [*range(old)]
    layer = layer.taken(order)
    new, lost = (
        layer.latent(size) if kind == "latent" else layer.nearest(sets, size if kind == "rank" else None)
    )
    scores, values = layer.distances(new)
    rivals: list[float | None] = [None, None]
    if kind == "kv_heads":
        distances = [layer.distances(layer.averages(sets, turned)) for turned in (False, True)]
        rivals = [float(x + layer.weight * y) ** 0.5 for x, y in distances]
    together = tuple(tuple(order[n * old // sets : (n + 1) * old // sets]) for n in range(sets))
    line = ConvertedLayer(
        layer=number,
        groups=(tuple(order),) if kind == "latent" else together,
        error=(scores + layer.weight * values) ** 0.5,
        bound=None if any(layer.slow) and sets < old else lost**0.5,
        mean=rivals[0],
        procrustes=rivals[1],
        scores=scores**0.5,
        values=values**0.5,
        norm=layer.norm,
        weight=layer.weight,
    )
    for part in new.keys() & SHARED:
        new[part] = np.repeat(new[part], old // len(new[part]), axis=0)
    return line, new


def _refuse(model: Transformer, kind: str, size: int) -> None:
    """Refuse what a model cannot become.

    Raises:
        InputError: with what it can become.
    """
    block, facts = model.blocks[0], model.facts
    (old, a, d), b = block["K"].shape, block["P"].shape[1]
    turning = 2 * max(map(len, facts.angles), default=0)
    if facts.qk_norm:
        raise InputError(f"{model.name} normalizes queries and keys, so that its scores are no products KᵀQ")
    if kind == "kv_heads" and old % size:
        divisors = ", ".join(str(n) for n in range(1, old + 1) if old % n == 0)
        raise InputError(f"{argument(kind)} is {size}; the {old} sets of {model.name} can become {divisors}")
    if kind == "latent" and turning:
        raise InputError(
            f"{turning} of the {a} rows of the keys of {model.name} turn with the position, and no latent"
            " without positions gives these; DeepSeek's way is separate rotary keys beside the latent"
            f" (qk_rope_head_dim); give {argument('kv_heads')}"
        )
    if kind == "rank" and turning:
        raise InputError(
            f"{turning} of the {a} rows of a head of {model.name} turn, each pair by an angle that the number"
            f" of rows decides, so that none can be left out; give {argument('kv_heads')}"
        )
    most = max(a, b) if kind == "rank" else min(d, old * (a + b))
    if kind != "kv_heads" and size > most:
        raise InputError(f"{argument(kind)} is {size}; it must be from 1 to {most} for {model.name}")


def _metrics(model: Transformer, data: Any) -> tuple[list[Metric], int]:
    """The metric of each layer for token ids or hidden states, and how many tokens there are."""
    if isinstance(data, (str, Path)):
        is_json = Path(data).suffix.lower() == ".json"
        data = parsed("JSON", read_text(Path(data)), data) if is_json else WeightFile([data])
    if isinstance(data, Mapping) and len(data) == 1 and "0" not in data:
        data = next(iter(data.values()))
    names = [str(n) for n in range(len(model.blocks))]
    if isinstance(data, Mapping):
        if missing := [name for name in names if name not in data]:
            raise InputError(f"the data has no array {missing[0]}; name hidden states 0 to {names[-1]}")
        states: Iterator[Array] = (np.asarray(data[name]) for name in names)
    else:
        states = attention_inputs(model, _sequences(data))
    metrics, tokens, d = list[Metric](), 0, model.blocks[0]["K"].shape[-1]
    for name, X in zip(names, states, strict=True):
        if X.ndim < 2 or np.iscomplexobj(X) or not X.size or not np.isfinite(X := X.astype(float)).all():
            raise InputError(f"the data of layer {name} is no array of finite numbers, tokens × width")
        if X.shape[-1] != d:
            raise InputError(f"the data has width {X.shape[-1]}; {model.name} has {d}")
        X = X.reshape(-1, d)
        if tokens not in (0, len(X)):
            raise InputError(f"the data of layer {name} is of {len(X)} tokens, and before of {tokens}")
        metrics.append(Metric.of(X))
        tokens = len(X)
    return metrics, tokens


def _sequences(data: Any) -> list[list[int]]:
    """Token ids, of one text or of several."""
    rows = [*data] if np.iterable(data) else []
    with suppress(ValueError):  # of lists of several lengths
        sequences = [np.asarray(row) for row in ([rows] if {*map(np.ndim, rows)} == {0} else rows)]
        if sequences and all(row.ndim == 1 and row.dtype.kind in "iu" for row in sequences):
            return [row.tolist() for row in sequences]
    raise InputError("data is neither sequences of whole numbers nor hidden states named by layer")


def write_conversion(like: str | Path, conversion: Conversion, out: str | Path) -> bool:
    """Write a converted model as its checkpoint is stored.

    Returns:
        Whether it has fewer sets of keys and values in the file, too. Else shared arrays are repeated.
    """
    assert conversion.transformer is not None
    kv_heads = conversion.size if conversion.kind == "kv_heads" else None
    return write_transformer(like, conversion.transformer, out, kv_heads)


def factored(rows: Array, N: Sequence[Array], rank: int) -> tuple[Array, Array, float]:
    """The nearest matrix of a rank to L·N, where L has these rows as columns and N is of diagonal blocks.

    Returns:
        T and B, so that it is (LT)(BN), with zeros beyond the rank of L·N; and its distance.

    >>> T, B, tail = factored(np.eye(3), [np.diag([3.0, 2.0, 1.0])], 2)
    >>> np.round(T @ B, 9).tolist(), round(tail, 9)
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], 1.0)
    """
    R = _triangle(rows.T)
    from scipy.linalg import block_diag

    S = block_diag(*(_triangle(block.conj().T).conj().T for block in N))
    U, sigma, W = np.linalg.svd(R @ S, full_matrices=False)
    kept = min(rank, int(np.sum(sigma > len(rows) * np.finfo(float).eps * sigma.max(initial=0))))
    T = np.zeros((len(rows), rank), S.dtype)
    B = np.zeros((rank, len(rows)), S.dtype)
    T[:, :kept] = S @ W[:kept].conj().T / sigma[:kept]
    B[:kept] = U[:, :kept].conj().T @ R
    return T, B, float(np.linalg.norm(sigma[rank:]))


def shared_pair(keys: Array, queries: Array, cost: Array | None) -> tuple[Array, Array, float]:
    """One rotary pair for a set: the nearest in the complex norm, or by a local search in that of ``cost``.

    Args:
        keys, queries: m × 2 × · and m × s × 2 × ·.

    Returns:
        The new k as a combination of all rows of keys, m × 2 complex numbers; of each head the same for its
        own rows, m × s × 2; and the tail of the singular values over ℂ.
    """
    T, B, tail = factored(_complex(keys).conj(), [_complex(q).reshape(1, -1) for q in queries], 1)
    t = np.multiply.outer(T[:, 0].conj(), [1, 1j])
    s = np.broadcast_to(np.multiply.outer(B[0], [1, 1j])[:, None], queries.shape[:3])
    if cost is None:
        return t, s, tail
    m = len(keys)
    k = _triangle(keys.reshape(2 * m, -1).T)
    q = _triangle(queries.swapaxes(2, 3))
    at, root = _complex(k.T.reshape(m, 2, -1)).conj(), _root(cost)
    Z = np.einsum("mx,mhy->mhxy", at, q @ [1, 1j])
    shape = queries.shape[:3]

    def difference(v: Array) -> Array:
        z = v.view(complex)
        D = Z - np.einsum("x,mhy->mhxy", z[: len(k)].conj(), z[len(k) :].reshape(shape))
        return np.asarray(root @ np.stack([D.real.ravel(), D.imag.ravel()])).ravel()

    # From the optimum in the complex norm, and from that of a pair that does not turn at all.
    T, B, _ = factored(keys.reshape(2 * m, -1), [_beside(q) for q in queries], 2)
    still = T @ [1, 1j], np.broadcast_to(([1, 1j] @ B).reshape(m, 1, 2), shape)
    starts = [np.concatenate([k @ x, (q @ y[..., None]).ravel()]) for x, y in ((t.ravel(), s), still)]
    from scipy.optimize import least_squares

    ends = [least_squares(difference, start.view(float)) for start in starts]
    z = min(ends, key=lambda end: end.cost).x.view(complex)
    t = np.linalg.lstsq(k, z[: len(k)])[0].reshape(m, 2)
    return t, (np.linalg.pinv(q) @ z[len(k) :].reshape(*shape, 1))[..., 0], tail


def gap(here: Heads, there: Heads, cost: Array | None = None) -> float:
    """Σ_h ‖KᵀQ_h − K'ᵀQ'_h‖², or with a cost the same of pairs."""
    sets = max(len(here.shared), len(there.shared))
    size = len(here.own) // sets

    def of_set(g: int) -> float:
        k, l = (side.shared[g * len(side.shared) // sets] for side in (here, there))
        K, total = _triangle(np.concatenate([k, l]).T), 0.0
        heads, others = (side.own[g * size : (g + 1) * size] for side in (here, there))
        for q, Q in zip(heads, _triangle(np.concatenate([heads, others], 1).swapaxes(1, 2)), strict=True):
            if cost is None:
                Q[:, len(q) :] *= -1
                total += float(np.linalg.norm(K @ Q.T) ** 2)
            else:
                k, q = (np.asarray(M[:, ::2] + 1j * M[:, 1::2]) for M in (K, Q))
                Z = (k.conj() * [1, -1]) @ q.T
                parts = np.stack([Z.real.ravel(), Z.imag.ravel()])
                total += float(np.sum(cost * (parts @ parts.T)))
        return total

    return sum(spread(of_set, range(sets)))


def average(angle: float, context: int, causal: bool) -> Array:
    """C, with which c₀₀‖Re Z‖² + 2c₀₁⟨Re Z, Im Z⟩ + c₁₁‖Im Z‖² is the mean of ‖Re(e^{iθΔ} Z)‖² over Δ < T.

    >>> average(0.0, 8, True).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    turns = angle * np.arange(context)
    wave = np.stack([np.cos(turns), -np.sin(turns)])
    C = wave @ wave.T / context
    return C if causal else np.diag(np.diag(C))


def weighed(rows: Array, root: Array | None) -> Array:
    """Rows in the metric FᵀF; as they are if that is the identity."""
    return rows if root is None else np.asarray(rows @ root.T)


def _set(side: Heads, n: int, sets: int) -> Heads:
    """Of one of consecutive sets the rows m × a × · that are to be shared, and m × s × a × · of its heads."""
    shared, own = (M[n * len(M) // sets : (n + 1) * len(M) // sets] for M in side)
    return Heads(shared, own.reshape(len(shared), len(own) // len(shared), *own.shape[1:]))


def _heads(mixing: Heads, n: int, sets: int, m: int) -> Array:
    """The combinations of the heads of a set, m × s × a × a, to be written to."""
    heads = mixing.own.reshape(sets, m, len(mixing.own) // (sets * m), *mixing.own.shape[1:])
    return np.asarray(heads[n])


def _beside(heads: Array) -> Array:
    """Matrices side by side."""
    return np.concatenate([*heads], axis=1)


def _complex(rows: Array) -> Array:
    """x + iy of rows x and y."""
    return np.asarray(rows[..., 0, :] + 1j * rows[..., 1, :])


def _triangle(M: Array) -> Array:
    """The R of M = QR, of one matrix or of each of a stack."""
    return np.asarray(np.linalg.qr(M, mode="r"))


def _root(C: Array) -> Array:
    """A matrix F with FᵀF = C."""
    values, vectors = np.linalg.eigh(C)
    result: Array = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    return result


def _turn(rows: Array, first: Array) -> Array:
    """The multiplication by a complex number for which R·rows is nearest to others."""
    z = np.vdot(_complex(rows), _complex(first))
    c = z / abs(z) if z else 1.0
    return np.array([[c.real, -c.imag], [c.imag, c.real]])
