r"""A stored transformer with all folded that may be: what is left are matrices, biases and few gains.

A norm's gain γ and bias β go into what reads it; C = 1 − 11ᵀ/d where the norm subtracts the mean, else 1:

.. math:: W \mapsto W \operatorname{diag}(γ)\,C, \qquad b \mapsto b + Wβ.

Means leave the writers and the embedding where only norms that subtract them read the stream: O → CO, D → CD.
As the weights of a softmax add up to 1, b_o → b_o + Σ_h O_h b_{v,g(h)}; halves in parallel have one bias.
Keys' biases on rows that do not turn go, if nothing but a softmax sees the scores. With learned positions
the mean of E over tokens (and of types) goes to them. Multipliers go into E, Q and W; a tied model becomes
untied, and a model that gives its last vectors has W = 1.

Gains of norms behind a half (and of the embedding) stay, as they act on the stream itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from agattn.algebra.scalars import Array
from agattn.checkpoints.stored import Arrays, Facts, Transformer, shape

#: Of each array that reads the stream, the half of the block to which it belongs.
READERS = {"Q": "attention", "K": "attention", "P": "attention", "G": "perceptron", "U": "perceptron"}
#: Of each array that writes to the stream, the axis of the stream.
WRITERS = {"O": -2, "D": 0}
#: What each half of a block writes with.
WRITER = {"attention": "O", "perceptron": "D"}
#: Entries that are taken at a time.
PIECE = 2**20
#: Estimated seconds of work for an entry of a model, where a command says nothing else.
SECONDS = 1e-7


@dataclass(frozen=True)
class Rounding:
    """What a stored entry x may be off by: u|x| + tiny."""

    u: float = 0.0
    tiny: float = 0.0

    def of(self, size: Array) -> Array:
        """By how much entries may be off, from their absolute values."""
        return self.u * size + self.tiny

    def norms(self, entries: Array, gain: Array | None = None, less: float = 0.0, axis: int = -1) -> Array:
        """The norms along an axis of what entries, or their products with a gain, may be off by.

        Products are off by |x|c + r with c = e + u(|γ| + e) and r = tiny·(|γ| + e), e the error of γ.
        """
        if gain is None and not self.tiny:
            return self.u * norms(entries, axis)
        of_entries = entries.astype(np.float64)
        factor, rest = np.asarray(self.u), np.asarray(self.tiny)
        if gain is not None:
            error = self.of(abs(gain) + less)
            factor, rest = error + self.u * (abs(gain) + error), self.tiny * (abs(gain) + error)
        of_entries *= factor
        return norms(np.abs(of_entries) + rest if self.tiny else of_entries, axis)


#: Entries that are taken as they are.
EXACT = Rounding()


@dataclass(frozen=True)
class Norm:
    """The gain (none is 1), the bias, whether it subtracts the mean, and less what the gain may be stored."""

    gain: Array | None
    bias: Array | None
    centers: bool
    less: float = 0.0

    def fold(self, piece: Array) -> Array:
        """Rows that read this norm, folded: W·diag(γ)·C."""
        rows: Array = piece.astype(np.float64)
        if self.gain is not None:
            rows *= self.gain
        if self.centers:
            rows -= rows.mean(-1, keepdims=True)
        return rows

    def error(self, piece: Array, rounding: Rounding) -> Array:
        """The norms by which these rows may be off: a projection makes none longer."""
        return rounding.norms(piece, self.gain, self.less)

    def constant(self, W: Array, b: Array | None, rounding: Rounding) -> tuple[Array, Array]:
        """b + Wβ, and by how much its entries may be off."""
        value, error = np.zeros(W.shape[:-1]), np.zeros(W.shape[:-1])
        for at in pieces(W.shape) if self.bias is not None else ():
            assert self.bias is not None
            rows, bias = W[at].astype(np.float64), abs(self.bias)
            value[at], of_bias = rows @ self.bias, rounding.of(bias)
            error[at] = (abs(rows) * of_bias + rounding.of(abs(rows)) * (bias + of_bias)).sum(-1)
        return (value, error) if b is None else (value + b, error + rounding.of(np.abs(b, dtype=np.float64)))


def pieces(sizes: Sequence[int]) -> Iterator[slice]:
    """An array of these sizes in pieces of its rows, none larger than ``PIECE`` if it can be."""
    step = max(1, PIECE * sizes[0] // max(1, int(np.prod(sizes))))
    for start in range(0, sizes[0], step):
        yield slice(start, start + step)


def norms(x: Array, axis: int = -1) -> Array:
    """The norms in float64 along an axis, of real or complex numbers.

    >>> norms(np.array([[3.0, 4.0j]]))
    array([5.])
    """
    if np.iscomplexobj(x):
        return np.hypot(norms(x.real, axis), norms(x.imag, axis))
    x = np.moveaxis(x, axis, -1)
    result: Array = np.sqrt(np.einsum("...i,...i->...", x, x, dtype=np.float64))
    return result


def norm_of(arrays: Arrays, name: str, facts: Facts) -> Norm:
    """A norm by its name, such as ``attention`` or ``final``."""
    gain, bias = (arrays.get(f"{name}.{end}") for end in ("gain", "bias"))
    gain, bias = (None if x is None else x.astype(np.float64) for x in (gain, bias))
    return Norm(gain, bias, facts.norm == "layer", stored_less(facts))


def stored_less(facts: Facts) -> float:
    """Less what gains may be stored: Gemma's are γ − 1."""
    return 1.0 if facts.place == "both" else 0.0


@dataclass(eq=False)
class FoldedBlock(Mapping[str, Array]):
    """A block, folded; each array at the moment it is asked for, in float64.

    Attributes:
        stored: the block as it is stored.
        read: the norms that the two halves read.
        turning: the number of rows of queries and keys that turn.
    """

    stored: Arrays
    facts: Facts
    read: Mapping[str, Norm]
    turning: int
    rounding: Rounding = EXACT

    def fold(self, part: str, piece: Array) -> Array:
        """A piece of a reader (some of its rows) or of a writer (some heads, some neurons), folded."""
        if part in READERS:
            rows = self.read[READERS[part]].fold(piece)
            return self._scaled(rows) if part == "Q" and not self.facts.qk_norm else rows
        columns: Array = piece.astype(np.float64)
        if self.facts.norm == "layer":
            columns -= columns.mean(WRITERS[part], keepdims=True)
        return columns

    def error(self, part: str, piece: Array) -> Array:
        """The norms by which the rows of a piece of a reader, the columns of one of a writer, may be off."""
        if part in READERS:
            rows = self.read[READERS[part]].error(piece, self.rounding)
            return self._scaled(rows[..., None])[..., 0] if part == "Q" and not self.facts.qk_norm else rows
        return self.rounding.norms(piece, axis=WRITERS[part])

    def _scaled(self, rows: Array) -> Array:
        """Queries times the multipliers of scores; those of turning rows count in queries and in keys."""
        rows *= self.facts.score_scale
        rows[..., : self.turning, :] *= self.facts.turning_scale**2
        return rows

    def half(self, half: str) -> FoldedBlock:
        """The block with the arrays of one half in memory, and without those of the other."""
        own = {part for part, of_half in READERS.items() if of_half == half} | {WRITER[half]}
        arrays = {part: self.stored[part] for part in self.stored if len(part) > 1 or part in own}
        return FoldedBlock(arrays, self.facts, self.read, self.turning, self.rounding)

    def value_bias(self) -> tuple[Array, Array] | None:
        """The biases of the values before they go to the output, and what their entries may be off by."""
        b, read = self.stored.get("P.bias"), self.read["attention"]
        if "P" not in self.stored or (b is None and read.bias is None):
            return None
        return read.constant(self.stored["P"], b, self.rounding)

    @cached_property
    def biases(self) -> dict[str, tuple[Array, Array]]:
        """The biases that are left, each with what its entries may be off by."""
        stored, facts = self.stored, self.facts
        biases, written = dict[str, tuple[Array, Array]](), dict[str, tuple[Array, Array]]()
        for part, half in READERS.items():
            b = stored.get(f"{part}.bias")
            if part == "P" or part not in stored or (b is None and self.read[half].bias is None):
                continue
            bias = self.read[half].constant(stored[part], b, self.rounding)
            if part == "Q" and not facts.qk_norm:
                bias = (self._scaled(bias[0][..., None])[..., 0], self._scaled(bias[1][..., None])[..., 0])
            if part == "K" and not facts.qk_norm and not facts.score_cap:
                bias[0][:, self.turning :] = bias[1][:, self.turning :] = 0
                if not self.turning:
                    continue
            biases[f"{part}.bias"] = bias
        for part in WRITERS:
            if (b := stored.get(f"{part}.bias")) is not None:
                written[part] = b.astype(np.float64), self.rounding.of(np.abs(b, dtype=np.float64))
        if (values := self.value_bias()) is not None:
            written["O"] = _sum(written.get("O"), self._constant_values(*values))
        if facts.parallel and "D" in written:
            written["O"] = _sum(written.get("O"), written.pop("D"))
        for part, (value, error) in written.items():
            centered = (
                (value - value.mean(), error + error.mean()) if facts.norm == "layer" else (value, error)
            )
            biases[f"{part}.bias"] = centered
        return biases

    def _constant_values(self, values: Array, errors: Array) -> tuple[Array, Array]:
        """Σ_h O_h b_{v,g(h)}, and what its entries may be off by."""
        O = self.stored["O"]
        heads, d, _ = O.shape
        total, error = np.zeros(d), np.zeros(d)
        for h in range(heads):
            group = h * len(values) // heads
            matrix = O[h].astype(np.float64)
            total += matrix @ values[group]
            size = np.abs(matrix)
            error += size @ errors[group] + self.rounding.of(size) @ (abs(values[group]) + errors[group])
        return total, error

    def __getitem__(self, part: str) -> Array:
        if part in READERS or part in WRITERS:
            return self.fold(part, self.stored[part])
        return self.gain(part)[0] if part in self._gains() else self.biases[part][0]

    def gain(self, part: str) -> tuple[Array, Array]:
        """A gain or a bias of a norm that stays, and what its entries may be off by."""
        value: Array = self.stored[part].astype(np.float64)
        error = self.rounding.of(np.abs(value) + stored_less(self.facts) * part.endswith(".gain"))
        if part == "query.gain":
            value, error = (self._scaled(x[..., None])[..., 0] for x in (value, error))
        elif part.endswith(".bias") and self.facts.norm == "layer" and self.facts.place != "after":
            value, error = value - value.mean(), error + error.mean()
        return value, error

    def _gains(self) -> list[str]:
        """The gains and biases of norms that stay."""
        stay = ("query.gain", "key.gain", "after ")
        return [part for part in self.stored if part.startswith(stay)]

    def __iter__(self) -> Iterator[str]:
        yield from (part for part in self.stored if part in READERS or part in WRITERS)
        yield from self._gains()
        yield from self.biases

    def __contains__(self, part: object) -> bool:
        return part in set(self)

    def __len__(self) -> int:
        return len(list(self))


class FoldedBlocks(Sequence[FoldedBlock]):
    """The blocks of a model, folded."""

    def __init__(self, model: Transformer, rounding: Rounding = EXACT) -> None:
        self.model, self.rounding = model, rounding

    def __len__(self) -> int:
        return len(self.model.blocks)

    def __getitem__(self, n: int) -> FoldedBlock:  # type: ignore[override]  # no slices
        n = range(len(self))[n]
        block, facts = self.model.blocks[n], self.model.facts
        return FoldedBlock(block, facts, self._read(n, block), 2 * facts.pairs(n), self.rounding)

    def _read(self, n: int, block: Arrays) -> dict[str, Norm]:
        facts = self.model.facts
        if facts.place == "post":
            before = last_norm(self.model, n - 1)
            return {"attention": before, "perceptron": norm_of(block, "after attention", facts)}
        if facts.place == "after":
            return dict.fromkeys(("attention", "perceptron"), Norm(None, None, False))
        own = "perceptron.gain" in block or not facts.parallel
        return {
            "attention": norm_of(block, "attention", facts),
            "perceptron": norm_of(block, "perceptron" if own else "attention", facts),
        }


def last_norm(model: Transformer, layer: int) -> Norm:
    """The norm through which the stream behind all layers is read; if it is "post", behind this layer."""
    if model.facts.place != "post":
        return norm_of(model.ends, "final", model.facts)
    if layer < 0:
        return norm_of(model.ends, "embedding", model.facts)
    return norm_of(model.blocks[layer], "after perceptron", model.facts)


def _sum(first: tuple[Array, Array] | None, second: tuple[Array, Array] | None) -> tuple[Array, Array]:
    zero = (np.zeros(1), np.zeros(1))
    (a, e), (b, f) = first or zero, second or zero
    return a + b, e + f


def folded(model: Transformer) -> Transformer:
    """The model with norms, means, multipliers and biases folded: the same function of tokens.

    Its ends are :class:`FoldedEnds` and its blocks :class:`FoldedBlock`, which fold an array at the moment it
    is asked for.

    >>> import numpy as np
    >>> facts = Facts("rms", 0.0, "before", False, True, "silu", True, "", True, 2, 1, 0, 0, 1, (), ())
    >>> model = folded(Transformer("tiny", facts, {"E": np.eye(2), "final.gain": np.array([1.0, 3.0])}, ()))
    >>> model.ends["E"].tolist(), model.ends["W"].tolist(), model.facts.tied
    ([[2.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [0.0, 3.0]], False)
    """
    facts = replace(
        model.facts, tied=False, embedding_scale=1.0, score_scale=1.0, logit_scale=1.0, turning_scale=1.0
    )
    return replace(model, facts=facts, ends=FoldedEnds(model), blocks=FoldedBlocks(model))


class FoldedEnds(Mapping[str, Array]):
    """The ends of a model, folded; each array at the moment it is asked for, in float64."""

    def __init__(self, model: Transformer, rounding: Rounding = EXACT) -> None:
        self.model, self.rounding, self.width = model, rounding, shape(model.ends, "E")[1]
        self.last = last_norm(model, len(model.blocks) - 1)
        self._means: dict[str, tuple[Array, Array]] = {}

    def stored(self, part: str) -> Array:
        """An array as it is stored; what reads the stream at the end, if no array does, is E or 1."""
        ends = self.model.ends
        if part != "W" or "W" in ends:
            return ends[part]
        return ends["E"] if self.model.facts.tied else np.eye(self.width)

    def fold(self, part: str, piece: Array) -> Array:
        """Some rows of an embedding, of positions or of the unembedding W, or a gain or bias, folded."""
        facts = self.model.facts
        if part == "W":
            return self.last.fold(piece) * facts.logit_scale
        rows: Array = piece.astype(np.float64)
        if part == "embedding.gain":
            return rows
        if part == "E":
            rows *= facts.embedding_scale
        if self._centers or (part == "embedding.bias" and facts.norm == "layer" and facts.place != "after"):
            rows -= rows.mean(-1, keepdims=True)
        if part in ("E", "types") and "positions" in self.model.ends:
            rows -= self._mean(part)[0]
        elif part == "positions":
            rows += sum(self._mean(other)[0] for other in ("E", "types") if other in self.model.ends)
        return rows

    @property
    def _centers(self) -> bool:
        """Whether only a norm that subtracts the mean reads the embedding."""
        facts = self.model.facts
        return facts.norm == "layer" and (facts.place == "before" or "embedding.gain" in self.model.ends)

    def _mean(self, part: str) -> tuple[Array, Array]:
        """The mean over tokens, which goes to the positions, and what its entries may be off by."""
        if part not in self._means:
            stored, total, sizes = self.stored(part), np.zeros(self.width), np.zeros(self.width)
            for at in pieces(stored.shape):
                total += stored[at].sum(0, dtype=np.float64)
                sizes += np.abs(stored[at]).sum(0, dtype=np.float64)
            factor = self.model.facts.embedding_scale if part == "E" else 1.0
            mean, error = total / len(stored) * factor, self.rounding.of(sizes / len(stored)) * factor
            self._means[part] = mean - mean.mean() if self._centers else mean, error
        return self._means[part]

    def error(self, part: str, piece: Array) -> Array:
        """The norms by which rows may be off; of a gain or a bias its entries."""
        facts, rounding = self.model.facts, self.rounding
        if part == "W":
            return self.last.error(piece, rounding) * abs(facts.logit_scale)
        if part.startswith("embedding"):
            of_entries = rounding.of(np.abs(piece, dtype=np.float64))
            return of_entries + (of_entries.mean() if part.endswith(".bias") else 0.0)
        error = rounding.norms(piece)
        error *= facts.embedding_scale if part == "E" else 1.0
        if "positions" in self.model.ends:
            moved = ("E", "types") if part == "positions" else (part,)
            error += sum(np.linalg.norm(self._mean(p)[1]) for p in moved if p in self.model.ends)
        return error

    def bias(self) -> tuple[Array, Array] | None:
        """The bias of the logits, and what its entries may be off by."""
        if self.last.bias is None and "W.bias" not in self.model.ends:
            return None
        value, error = self.last.constant(self.stored("W"), self.model.ends.get("W.bias"), self.rounding)
        return value * self.model.facts.logit_scale, error * abs(self.model.facts.logit_scale)

    def __getitem__(self, part: str) -> Array:
        if part == "W.bias" and (bias := self.bias()) is not None:
            return bias[0]
        return self.fold(part, self.stored(part))

    def __iter__(self) -> Iterator[str]:
        parts = ("E", "positions", "types", "embedding.gain", "embedding.bias")
        yield from (part for part in parts if part in self.model.ends)
        yield "W"
        if self.last.bias is not None or "W.bias" in self.model.ends:
            yield "W.bias"

    def __len__(self) -> int:
        return len(list(self))


def add_to(block: dict[str, Array], bias: str, value: Array, at: Any = ...) -> None:
    """Add to a bias, or to a part of it, in its type."""
    new = np.array(block[bias])
    new[at] += value
    block[bias] = new


def fold_biases(block: dict[str, Array], facts: Facts, p: int) -> None:
    """b_o → b_o + Σ_h O_h b_{v,g(h)}; b_o + b_down of parallel halves; b_k → 0 on rows that do not turn.

    A bias moves where the block has the other one; that of keys goes if only a softmax sees the scores.
    """
    if {"P.bias", "O.bias"} <= {*block}:
        heads = len(block["O"]) // len(block["P"])
        values = np.repeat(np.asarray(block["P.bias"], float), heads, axis=0)
        add_to(block, "O.bias", np.einsum("hdb,hb->d", np.asarray(block["O"], float), values))
        block["P.bias"] = np.zeros_like(block["P.bias"])
    if facts.parallel and {"O.bias", "D.bias"} <= {*block}:
        add_to(block, "O.bias", block["D.bias"])
        block["D.bias"] = np.zeros_like(block["D.bias"])
    if "K.bias" in block and not facts.qk_norm and not facts.score_cap:
        block["K.bias"] = np.concatenate(
            [block["K.bias"][:, : 2 * p], np.zeros_like(block["K.bias"][:, 2 * p :])], axis=1
        )
