r"""Two folded transformers, array by array: what the symmetry makes of A, against B, with derived bounds.

The hypothesis is that B is g·A, each stored entry rounded once: x is off by u|x| (of float16 also 2⁻²⁵).
Let e be what this makes of an array of B with its folds, and u‖E‖/σ_min(E) of its size more if the basis of
the stream is a rotation that was found from E. Then for the first array of a pair, P' = MP, and the second

.. math:: ‖\hat M P − P'‖ ≤ e, \qquad
    ‖O\hat M^{-1} − O'‖ ≤ e' + \frac{ε}{1−ε}(‖O'‖ + e'), \qquad ε = \frac{e}{σ_{min}(P') − e},

where a rotation counts in e by σ_max(P'). For pairs of rows and neurons, where M is a number, ‖P'‖ stands for
σ_min(P').
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.scalars import Array
from agattn.checkpoints.folding import READERS, FoldedBlock, norms, pieces
from agattn.checkpoints.symmetry import (
    VECTORS,
    Basis,
    head_numbers,
    match_heads,
    match_neurons,
    neuron_numbers,
    with_bias,
)
from agattn.workers import spread

#: What arithmetic in float64 may add to a residual, relative to the array.
ARITHMETIC = 1e-12
#: The most pieces of an array that are named where they do not fit; of more their number is.
MOST_NAMED = 3
#: The arrays in the order in which they are compared, with their names.
NAMES = {
    "E": "embedding",
    "positions": "positions",
    "types": "types of tokens",
    "embedding.gain": "gain of the embedding's norm",
    "embedding.bias": "bias of the embedding's norm",
    "K": "keys",
    "key.gain": "gain of the keys' norm",
    "Q": "queries",
    "query.gain": "gain of the queries' norm",
    "P": "values",
    "O": "outputs",
    "after attention.gain": "gain behind attention",
    "P.bias": "value bias",
    "O.bias": "output bias",
    "after attention.bias": "bias of the norm behind attention",
    "G": "gate",
    "U": "up",
    "D": "down",
    "after perceptron.gain": "gain behind the perceptron",
    "D.bias": "down bias",
    "after perceptron.bias": "bias of the norm behind the perceptron",
    "W": "unembedding",
    "W.bias": "bias of the logits",
}


class Check(NamedTuple):
    """An array of a layer (−1: no layer): its worst piece with residual and bound, relative to its size.

    Attributes:
        misfits: the number of its pieces that do not fit.
        named: the first of these.
    """

    layer: int
    part: str
    piece: tuple[int, ...]
    units: str
    residual: float
    bound: float
    ratio: float
    misfits: int
    named: tuple[tuple[int, ...], ...] = ()
    expected: Array | None = None
    actual: Array | None = None

    @property
    def words(self) -> str:
        """The array and its worst piece."""
        return f"{self._array}{' of ' * bool(self.piece)}{self.at(self.piece)}"

    @property
    def all_misfits(self) -> str:
        """The array and its pieces that do not fit, or their number and the worst, if there are many."""
        if self.misfits <= MOST_NAMED:
            *some, last = [f"of {self.at(piece)}" for piece in self.named]
            return f"{self._array} {', '.join(some)}{', and ' * bool(some)}{last}"
        return f"{self._array} of {self.misfits} {self.units.split()[-1]}s, the worst {self.at(self.piece)}"

    @property
    def _array(self) -> str:
        return f"{f'layer {self.layer}, ' if self.layer >= 0 else ''}{NAMES[self.part]}"

    def at(self, piece: tuple[int, ...]) -> str:
        """A piece in words."""
        return ", ".join(f"{unit} {n}" for unit, n in zip(self.units.split(), piece, strict=False))


@dataclass
class Checks:
    """All comparisons, one for each array of a layer, in whichever order its pieces come."""

    all: dict[tuple[int, str], Check] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)

    def add(
        self,
        layer: int,
        part: str,
        units: str,
        expected: Array,
        actual: Array,
        bound: Array,
        start: int = 0,
        axes: int = 1,
    ) -> None:
        """Compare along the first ``axes`` axes, a bound for each of these pieces."""
        residual, size = (norms(x.reshape(*x.shape[:axes], -1)) for x in (expected - actual, actual))
        bound = bound + ARITHMETIC * size
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(residual > 0, residual / bound, 0.0)
            ratios = np.where(np.isinf(bound) & (residual > 0), np.nan, ratios)
        ratios = np.nan_to_num(ratios, nan=1.0 + 1e-9, posinf=np.inf)
        worst = np.unravel_index(int(ratios.argmax()), ratios.shape)
        scale = float(size[worst]) or 1.0
        piece = (start + int(worst[0]), *map(int, worst[1:]))
        kept = (expected[worst], actual[worst]) if ratios[worst] > 1 else (None, None)
        values = float(residual[worst]) / scale, float(bound[worst]) / scale, float(ratios[worst])
        misfits = [(start + first, *others) for first, *others in np.argwhere(ratios > 1).tolist()]
        check = Check(layer, part, piece, units, *values, len(misfits), tuple(misfits[:MOST_NAMED]), *kept)
        with self.lock:
            before = self.all.get((layer, part), check._replace(misfits=0, named=()))
            first = min(check, before, key=lambda each: (-each.ratio, each.piece))
            named = tuple(sorted(before.named + check.named)[:MOST_NAMED])
            self.all[layer, part] = first._replace(misfits=before.misfits + check.misfits, named=named)

    @property
    def misfits(self) -> list[Check]:
        """The arrays that do not fit, in order."""
        order = list(NAMES)
        layers = [check for check in self.all.values() if check.ratio > 1]
        end = max((check.layer for check in layers), default=0) + 1
        return sorted(layers, key=lambda c: (end if c.part.startswith("W") else c.layer, order.index(c.part)))

    @property
    def worst(self) -> Check:
        """The array nearest to its bound, or farthest above it."""
        return max(self.all.values(), key=lambda check: check.ratio)


def second_bound(error: Array, least: Array, own: Array, size: Array) -> Array:
    """The bound for the second array of a pair, from e, σ_min(P') or ‖P'‖, e' and ‖O'‖."""
    with np.errstate(divide="ignore", invalid="ignore"):
        eps = np.where(error == 0, 0.0, error / (least - error))
        amplified = np.where((eps >= 0) & (eps < 1), eps / (1 - eps), np.inf)
        result: Array = own + np.where(amplified == 0, 0.0, amplified * (size + own))
    return result


def factor(first: Array, second: Array) -> Array:
    """c with second = c·first by least squares along the last axis, 1 where one of them is 0."""
    products = np.einsum("...i,...i->...", first.conj(), second)
    squares = norms(first) ** 2
    return np.where(products == 0, 1.0, products / np.where(squares == 0, 1.0, squares))


class LayerComparison:
    """One layer of both models.

    Attributes:
        basis: of the stream in front of the layer, then behind it.
        below: the same before the last norm.
        one, two: the halves that are compared.
        read: the basis in which these read the stream, after its norm.
        write: the basis in which they write.
    """

    def __init__(
        self, n: int, one: FoldedBlock, two: FoldedBlock, basis: Basis, below: Basis, checks: Checks
    ) -> None:
        self.n, self.blocks, self.checks, self.check = n, (one, two), checks, partial(checks.add, n)
        self.basis, self.below = basis, below
        self.head: int | None = None
        self.symmetry: dict[str, Array] = {}
        self.post = one.facts.place == "post"

    def run(self, head: int | None = None) -> tuple[Basis, Basis]:
        """Compare both halves, or the attention of one head; the bases behind, and before the last norm."""
        self.head = head
        halves = ("attention", "perceptron") if head is None else ("attention",)
        for half in halves:
            self.one, self.two = (block.half(half) for block in self.blocks)
            names = {**self.one.biases, **self.two.biases}
            self._biased = {part: f"{part}.bias" in names for part in READERS}
            self.write = self._after(half, gains=True)
            self.read = self.below if self.post else self.basis
            if half == "attention":
                self._attention()
            else:
                self._perceptron()
            if head is None:
                self._bias("O.bias" if half == "attention" else "D.bias")
            if self.post:
                self.below, self.basis = self.basis, self.basis.signed(self._sign)
            self._after(half, gains=False)
        return self.basis, self.below

    def own(self, group: int) -> range:
        """The heads of a group that are compared."""
        size = len(self.symmetry["heads"]) // len(self.symmetry["groups"])
        heads = range(group * size, (group + 1) * size)
        if self.head is None:
            return heads
        return range(self.head, self.head + 1) if self.head in heads else range(0)

    def _after(self, half: str, gains: bool) -> Basis:
        """Compare a norm behind a half: first its gain, which may have signs of its own, then its bias."""
        name = f"after {half}.{'gain' if gains else 'bias'}"
        self._sign = 1.0 if gains else getattr(self, "_sign", 1.0)
        if name not in self.one.stored:
            return self.basis
        expected, (actual, error) = self.one[name], self.two.gain(name)
        if not gains:
            self.check(name, "coordinate", self.basis.turn(expected), actual, error)
            return self.basis
        expected = self.basis.signed(self.basis.signs).turn(expected)
        signs = np.where(expected * actual < 0, -1.0, 1.0)
        if self.one.facts.norm == "layer":
            signs = np.full(len(signs), 1.0 if signs.sum() >= 0 else -1.0)
        self.check(name, "coordinate", signs * expected, actual, error)
        if self.post:
            self._sign = float(signs[0])
            return self.basis
        return self.basis.signed(signs)

    def _rows(self, block: FoldedBlock, part: str, n: int, basis: Basis | None = None) -> Array:
        at = slice(n, n + 1)
        rows = block.fold(part, block.stored[part][at])
        result: Array = self._with_bias(block, part, rows if basis is None else basis.turn(rows), at)[0]
        return result

    def _with_bias(self, block: FoldedBlock, part: str, rows: Array, at: slice | Array) -> Array:
        """Rows with their bias as a last column; without one, 0 stands there if the other model has one."""
        biased = with_bias(block, part, rows, at)
        if biased is rows and self._biased[part]:
            return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, 1)])
        return biased

    def _errors(self, part: str, at: slice, sizes: Array) -> Array:
        """What rows of B with their biases, or columns of what it writes, may be off by."""
        stored = self.two.stored[part]
        error = self.two.error(part, stored[:, at] if part == "D" else stored[at])
        if part in READERS and (bias := self.two.biases.get(f"{part}.bias")) is not None:
            error = np.hypot(error, bias[1][at])
        return error + (self.read if part in READERS else self.write).error * sizes

    def _attention(self) -> None:
        one, two, width = self.one, self.two, self.one.stored["O"].shape[1]
        z = np.random.default_rng(self.n).standard_normal((width, VECTORS))
        ones = np.ones((1, VECTORS))
        first = head_numbers(one, np.concatenate([self.read.back(z), ones]))
        second = head_numbers(two, np.concatenate([z, ones]))
        groups, heads = match_heads(first, second)
        self.symmetry |= {"groups": groups, "heads": heads}
        normalized = _Normalized(self, first.keys[groups], second.keys) if one.facts.qk_norm else None

        def compare(g: int) -> Array:
            own = self.own(g)
            K, K2 = self._rows(one, "K", int(groups[g]), self.read), self._rows(two, "K", g)
            Q = np.stack([self._rows(one, "Q", int(heads[h]), self.read) for h in own])
            Q2 = np.stack([self._rows(two, "Q", h) for h in own])
            e = self._errors("K", slice(g, g + 1), norms(K2))[0]
            e2 = self._errors("Q", slice(own[0], own[-1] + 1), norms(Q2))
            if normalized:
                normalized.rows(g, own, (K, K2, e), (Q, Q2, e2))
            else:
                self._pairs(g, own, (K, K2, e), (Q, Q2, e2))
                self._other_rows(g, own, (K, K2, e), (Q, Q2, e2))
            return self._values(g, own)

        chosen = [g for g in range(len(groups)) if self.own(g)]
        # Heads that share a gain take its signs from the first group.
        self.symmetry["values"] = np.stack([*(map if normalized else spread)(compare, chosen)])
        if normalized:
            normalized.gains()
        if self.head is not None:
            [group] = chosen
            for name in ("keys", "pairs"):
                if name in self.symmetry:
                    self.symmetry[name] = self.symmetry[name][group : group + 1]
            self.symmetry |= {"groups": groups[group : group + 1], "heads": heads[self.head : self.head + 1]}

    def _pairs(self, g: int, own: range, keys: tuple[Array, ...], queries: tuple[Array, ...]) -> None:
        """k' = ck and q' = q/c̄ for each pair of rows that turns."""
        turning = self.one.turning
        p = turning // 2
        if not p:
            return
        k, k2, q, q2 = (x[..., :p, :] + 1j * x[..., p:turning, :] for x in (*keys[:2], *queries[:2]))
        e, e2 = (np.hypot(x[..., :p], x[..., p:turning]) for x in (keys[2], queries[2]))
        c = factor(k, k2)
        self.symmetry.setdefault("pairs", np.empty((len(self.symmetry["groups"]), p), complex))[g] = c
        self.check("K", "group pair", (c[:, None] * k)[None], k2[None], e[None], g, 2)
        gone = np.asarray((k == 0).all(-1) & (k2 == 0).all(-1))
        expected = np.where(gone[:, None], q2, q / c.conj()[:, None])
        bound = second_bound(e, norms(k2), e2, norms(q2))
        self.check("Q", "head pair", expected, q2, bound, own[0], 2)

    def _other_rows(self, g: int, own: range, keys: tuple[Array, ...], queries: tuple[Array, ...]) -> None:
        """K' = MK and Q' = M⁻ᵀQ on the rows that do not turn."""
        K, K2, Q, Q2 = (x[..., self.one.turning :, :] for x in (*keys[:2], *queries[:2]))
        if not K.shape[0]:
            return
        e, e2 = (np.linalg.norm(x[..., self.one.turning :], axis=-1) for x in (keys[2], queries[2]))
        M, inverse, least, moved = self._linear("K", g, K, K2, e)
        self.symmetry.setdefault("keys", np.empty((len(self.symmetry["groups"]), *M.shape)))[g] = M
        bound = second_bound(moved, least, e2, np.linalg.norm(Q2, axis=(1, 2)))
        self.check("Q", "head", inverse.T @ Q, Q2, bound, own[0])

    def _linear(self, part: str, g: int, first: Array, second: Array, e: Any) -> tuple[Array, ...]:
        """M of X' = MX, M⁻¹, σ_min(X'), and what X' is off by with σ_max(X') for its norm."""
        M, (least, most) = _least_squares(first, second)
        self.check(part, "group", (M @ first)[None], second[None], np.array([e]), g)
        moved = np.array(e - self.read.error * (np.linalg.norm(second) - most))
        return M, np.linalg.pinv(M), least, moved

    def _values(self, g: int, own: range) -> Array:
        """P' = MP, O' = OM⁻¹."""
        one, two, write = self.one, self.two, self.write
        group, heads = int(self.symmetry["groups"][g]), self.symmetry["heads"]
        P, P2 = self.read.turn(one.fold("P", one.stored["P"][group])), two.fold("P", two.stored["P"][g])
        e = np.linalg.norm(two.error("P", two.stored["P"][g])) + self.read.error * np.linalg.norm(P2)
        M, inverse, least, moved = self._linear("P", g, P, P2, e)
        O = np.stack([write.turn(one.fold("O", one.stored["O"][heads[h]]), -2) for h in own])
        O2 = two.fold("O", two.stored["O"][own[0] : own[-1] + 1])
        e2 = np.linalg.norm(two.error("O", two.stored["O"][own[0] : own[-1] + 1]), axis=-1)
        sizes = np.linalg.norm(O2, axis=(1, 2))
        bound = second_bound(moved, least, e2 + write.error * sizes, sizes)
        self.check("O", "head", O @ inverse if P2.any() or P.any() else O2, O2, bound, own[0])
        return M

    def _bias(self, part: str) -> None:
        """A bias that is written; 0 where a model has none."""
        first, second = (block.biases.get(part) for block in (self.one, self.two))
        if first is None and second is None:
            return
        nothing = (np.zeros(len(self.basis.order)),) * 2
        (b, _), (b2, error) = first or nothing, second or nothing
        bound = error + self.write.error * np.linalg.norm(b2)
        self.check(part, "coordinate", self.write.turn(b), b2, bound)
        ratios = [self.checks.all[self.n, name].ratio for name in ("P", "O", part) if part == "O.bias"]
        if part == "O.bias" and max(ratios[:2]) <= 1 < ratios[2]:
            self._value_bias(self.write.turn(b) - b2, bound)

    def _value_bias(self, gap: Array, bound: Array) -> None:
        """Where Σ O_h b_v + b_o does not fit, but b_o does: which b_v does not."""
        first, second = self.one.value_bias(), self.two.value_bias()
        if first is None or second is None:
            return
        zero = np.zeros(len(self.basis.order))
        stored = [block.stored.get("O.bias", zero) for block in (self.one, self.two)]
        b, b2 = (x - x.mean() if self.one.facts.norm == "layer" else x for x in stored)
        if np.linalg.norm(self.write.turn(b) - b2) > 1e-2 * np.linalg.norm(b2) + 1e-30:
            self._one_value_bias(second, gap, bound)
            return
        expected = np.einsum("gij,gj->gi", self.symmetry["values"], first[0][self.symmetry["groups"]])
        bound = np.linalg.norm(second[1], axis=1) + 1e-2 * np.linalg.norm(second[0], axis=1)
        self.check("P.bias", "group", expected, second[0], bound)
        if self.checks.all[self.n, "P.bias"].ratio <= 1:
            del self.checks.all[self.n, "P.bias"]

    def _one_value_bias(self, values: tuple[Array, Array], gap: Array, bound: Array) -> None:
        """If b_o has moved, too: the group whose values explain what is missing, Σ_h O_h x, if one does."""
        O, groups, most = self.two["O"], len(values[0]), np.linalg.norm(bound)
        for g, matrix in enumerate(O.reshape(groups, -1, *O.shape[1:]).sum(1)):
            x = np.linalg.lstsq(matrix, gap, rcond=None)[0]
            if matrix.shape[0] > matrix.shape[1] and np.linalg.norm(gap - matrix @ x) <= most:
                b, error = values[0][g], np.linalg.norm(values[1][g])
                self.check("P.bias", "group", (b + x)[None], b[None], np.array([error]), g)

    def _perceptron(self) -> None:
        one, two, width = self.one, self.two, len(self.basis.order)
        z = np.random.default_rng(self.n).standard_normal((width, VECTORS))
        ones = np.ones((1, VECTORS))
        first = neuron_numbers(one, np.concatenate([self.read.back(z), ones]))
        order = match_neurons(first, neuron_numbers(two, np.concatenate([z, ones])))
        self.symmetry["neurons"] = order
        powers = {"G": {"relu": 1, "relu2": 2}.get(one.facts.activation, 0), "U": 1}

        def compare(at: slice) -> Array:
            some = order[at]
            total, error, least = np.ones(len(some)), np.zeros(len(some)), np.ones(len(some))
            dead = np.zeros(len(some), bool)
            for part in ("G", "U") if "U" in two.stored else ("G",):
                rows = self.read.turn(one.fold(part, one.stored[part][some]))
                first_rows = self._with_bias(one, part, rows, some)
                second_rows = self._with_bias(two, part, two.fold(part, two.stored[part][at]), at)
                sizes = norms(second_rows)
                own = self._errors(part, at, sizes)
                if part == "U" or powers["G"]:
                    c = factor(first_rows, second_rows)
                    c = np.abs(c) if part == "G" else c
                    total, first_rows = total * c ** powers[part], c[:, None] * first_rows
                    with np.errstate(divide="ignore", invalid="ignore"):
                        error += np.where(own > 0, own / sizes, 0.0) * powers[part]
                    dead |= ~first_rows.any(1) & ~second_rows.any(1)
                self.check(part, "neuron", first_rows, second_rows, own, at.start)
            D, D2 = one.fold("D", one.stored["D"][:, some]), two.fold("D", two.stored["D"][:, at])
            sizes = norms(D2, 0)
            bound = second_bound(error, least, self._errors("D", at, sizes), sizes)
            expected = np.where(dead, D2, self.write.turn(D, 0) / total)
            self.check("D", "neuron", expected.T, D2.T, bound, at.start)
            return total

        self.symmetry["scales"] = np.concatenate([*spread(compare, pieces(two.stored["G"].shape))])


class _Normalized:
    """Rows of normalized queries and keys: signs, quarter turns of pairs, and factors between the gains."""

    def __init__(self, layer: LayerComparison, keys: Array, keys2: Array) -> None:
        one, two = layer.one, layer.two
        self.layer, self.p, self.turning = layer, one.turning // 2, one.turning
        a = keys.shape[1]
        groups, heads = layer.symmetry["groups"], layer.symmetry["heads"]
        self.shared = one["key.gain"].ndim == 1
        self.gain, self.gain2 = (block["key.gain"].reshape(-1, a) for block in (one, two))
        self.query, self.query2 = (block["query.gain"].reshape(-1, a) for block in (one, two))
        if not self.shared:
            self.gain, self.query = self.gain[groups], self.query[heads]
        self.errors = [two.gain(f"{name}.gain")[1].reshape(-1, a) for name in ("key", "query")]
        # Products of rows at random z say which row is which, and with what sign.
        p, turning = self.p, self.turning
        straight = np.abs((keys * keys2).sum(-1))
        crossed = (
            np.abs((keys[:, :p] * keys2[:, p:turning]).sum(-1)),
            np.abs((keys[:, p:turning] * keys2[:, :p]).sum(-1)),
        )
        better = crossed[0] + crossed[1] > straight[:, :p] + straight[:, p:turning]
        compared = [g for g in range(len(groups)) if layer.own(g)]
        self.first = compared[0]
        if self.shared:
            better = np.broadcast_to(better[compared].mean(0) > 0.5, better.shape)
        self.turned = better
        self.signs = np.ones(self.gain.shape), np.ones(self.query.shape)

    def rows(self, g: int, own: range, keys: tuple[Array, ...], queries: tuple[Array, ...]) -> None:
        """Each row of K and Q up to its sign, which goes to the gain; heads may share it."""
        for part, (rows, rows2, e), numbers, signs in zip(
            "KQ", (keys, queries), (range(g, g + 1), own), self.signs, strict=True
        ):
            if part == "K":
                rows, rows2, e = rows[None], rows2[None], e[None]
            rows = rows[:, self._order(g)]
            products = np.sign((rows * rows2).sum(-1))
            products[products == 0] = 1.0
            if not self.shared:
                signs[numbers.start : numbers.stop] = products
            elif g == self.first:
                signs[0] = products[0]
            used = signs[0] if self.shared else signs[numbers.start : numbers.stop]
            units = "group row" if part == "K" else "head row"
            self.layer.check(part, units, used[..., None] * rows, rows2, e, numbers.start, 2)

    def _order(self, g: int) -> Array:
        """The rows of A in the order of B: in a pair that makes a quarter turn they are exchanged."""
        order, first = np.arange(self.gain.shape[1]), np.flatnonzero(self.turned[g])
        order[first], order[self.p + first] = self.p + first, first
        return order

    def gains(self) -> None:
        """γ_k' = sγ_k and γ_q' = γ_q/s, s one number for each pair and for each row that does not turn."""
        p, turning = self.p, self.turning
        for g in range(len(self.gain)):
            heads = range(1) if self.shared else self.layer.own(g)
            if not heads:
                continue
            own = slice(heads.start, heads.stop)
            order = self._order(g)
            # A quarter turn takes (x, y) to (−y, x).
            quarter = np.ones(len(order))
            quarter[:p] = np.where(self.turned[g], -1.0, 1.0)
            first = self.signs[0][g] * quarter * self.gain[g, order]
            second = self.signs[1][own] * quarter * self.query[own][:, order]
            for start, stop, name in ((0, turning, "pair"), (turning, len(order), "row")):
                if start == stop:
                    continue

                parts = partial(_parts, start=start, stop=stop)
                k, k2, q, q2 = map(parts, (first, self.gain2[g], second, self.query2[own]))
                e, e2 = (np.linalg.norm(parts(x), axis=-1) for x in (self.errors[0][g], self.errors[1][own]))
                s = factor(k, k2)
                check = self.layer.check
                check("key.gain", f"group {name}", (s[:, None] * k)[None], k2[None], e[None], g, 2)
                bound = second_bound(e, norms(k2), e2, norms(q2))
                check("query.gain", f"head {name}", q / s[:, None], q2, bound, own.start, 2)


def _least_squares(first: Array, second: Array) -> tuple[Array, Array]:
    """M with second = M·first by least squares, and the least and largest singular values of the second."""
    first_basis, corner = np.linalg.qr(first.T)
    M = np.linalg.lstsq(corner, first_basis.T @ second.T, rcond=None)[0].T
    values = np.linalg.svd(np.linalg.qr(second.T, "r"), compute_uv=False)
    return M, np.array([values[-1] if len(second) <= second.shape[1] else 0.0, values[0]])


def _parts(x: Array, start: int, stop: int) -> Array:
    """The rows that turn (from 0) by pairs, the others one by one."""
    part = x[..., start:stop]
    halves = np.split(part, 2, axis=-1) if start == 0 and stop else [part]
    return np.stack(halves, axis=-1)
