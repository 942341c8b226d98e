r"""Are two stored transformers the same function, and by which symmetry; if not, which array does not fit?

The symmetry is found (:mod:`agattn.checkpoints.symmetry`), applied, and the arrays are compared
(:mod:`agattn.checkpoints.array_checks`). *The same*: every residual, of each head, pair and neuron, is below
its bound. *Different*: at some tokens the logits differ by more than twice what the rounding of both models
explains. As no derivatives are taken, this is estimated by the largest change of the logits when all weights
are multiplied by 1 ± u with random signs, times ``FACTOR``. Otherwise nothing is decided.

What is not searched: the symmetries at eps = 0, orders of rows of normalized queries and keys that do not
turn, and rotations of pairs whose gains happen to agree. By these alone nothing is called different.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from agattn.algebra.scalars import Array
from agattn.checkpoints.array_checks import NAMES, Check, Checks, LayerComparison
from agattn.checkpoints.folding import SECONDS, FoldedBlocks, FoldedEnds, Rounding, folded, norms, pieces
from agattn.checkpoints.forward import logits, moved
from agattn.checkpoints.reading import read_transformer
from agattn.checkpoints.stored import Arrays, Transformer, shape
from agattn.checkpoints.symmetry import Basis, permutation_between, rotation_between
from agattn.errors import InputError, argument
from agattn.evidence import Evidence
from agattn.geometry.identifiability.equivalence import Equivalence
from agattn.geometry.identifiability.equivalence import equivalent as of_weights
from agattn.limits import takes
from agattn.sheet.data import Note, Sheet, Table, Wide
from agattn.sheet.result import FINITE, Count, Key, Result
from agattn.workers import spread, threads

#: u of each type, and for float16 half of the least number above 0.
ROUNDINGS = {
    "float64": Rounding(2.0**-53),
    "float32": Rounding(2.0**-24),
    "float16": Rounding(2.0**-11, 2.0**-25),
    "bfloat16": Rounding(2.0**-8),
}
#: How much more than random signs of roundings may change the logits.
FACTOR = 2.0
#: Random signs that are tried for each model, and texts.
DRAWS, TEXTS, LENGTH = 3, 8, 12
#: What the rows of the embeddings are.
ROWS = {"E": "token", "positions": "position", "types": "type"}
#: What the arrays are called in the document.
COLUMNS = {"K": "K", "Q": "Q", "P": "V", "O": "O", "G": "gate", "U": "up", "D": "down"}


class WorstArray(Result):
    """An array, and how far it is from what the symmetry makes of it."""

    array: Key[str, "The array in words, with its layer and its head, pair or neuron."]
    residual: Key[float | None, "The norm of the difference, relative to B's.", FINITE]
    bound: Key[float | None, "What rounding explains; null where nothing is bounded.", FINITE]


class LayerSymmetry(Result):
    """How a layer of A becomes that of B."""

    groups: Key[tuple[Count, ...], "For each group of B that was compared that of A."]
    heads: Key[tuple[Count, ...], "For each head of B that was compared that of A."]
    neurons: Key[Count, "The number of neurons that stand elsewhere."]
    rotated: Key[Count, "The number of groups with values (or keys that do not turn) in another basis."]
    scaled: Key[Count, "The number of neurons with a factor."]


class ComparedLayer(Result):
    """A layer: its symmetry and the largest residual of each array, relative to the array."""

    layer: Key[Count, "The layer, from 0."]
    symmetry: Key[LayerSymmetry, "How the layer of A becomes that of B."]
    residuals: Key[dict[str, float], "By array (K, Q, V, O, gate, up, down) the largest residual."]


class Separating(Result):
    """Tokens at which two models differ."""

    tokens: Key[tuple[Count, ...], "The tokens, from 0."]
    difference: Key[float, "The largest difference of the logits."]
    explained: Key[float, "What the rounding of both models explains of it."]

    def summary(self) -> str:
        """The tokens, and how far the logits are from each other."""
        text = " ".join(map(str, self.tokens))
        return (
            f"tokens {text}: logits differ by {self.difference:.3g}, rounding explains {self.explained:.3g}"
        )


class SameModel(Result, name="same-model", eq=False):
    """Whether two stored transformers are the same function, array by array.

    Attributes:
        checks: the worst piece of each array with its bound.
        arrays: the symmetry, by names such as ``layers.0.values``.
    """

    equivalent: Key[bool | None, "Whether what was compared is the same function; null if undecided."]
    evidence: Key[Evidence, "How the result is known."]
    unit_roundoff: Key[float, "u of the coarser type: entries are known up to u|x|."]
    bound: Key[float | None, "The bound of the worst array, relative to it; null if there is none.", FINITE]
    worst: Key[WorstArray, "The array that is nearest to its bound, or farthest above it."]
    layers: Key[tuple[ComparedLayer, ...], "Layer by layer."]
    separating: Key[Separating | None, "Tokens at which the models differ; null where none were found."]
    reason: Key[str, "Why; where an array does not fit, the first one, in words."]
    first: Key[str | None, "The first array that does not fit, with its worst piece; null if all do."]
    names: tuple[str, str] = ("A", "B")
    basis: str = ""
    checks: tuple[Check, ...] = ()
    arrays: Mapping[str, Array] = MappingProxyType({})

    @property
    def word(self) -> str:
        """``the same``, ``different`` or ``undecided``."""
        return {True: "the same", False: "different", None: "undecided"}[self.equivalent]

    @property
    def status(self) -> int:
        """The exit status: 0 the same, 1 different, 3 undecided."""
        return {True: 0, False: 1, None: 3}[self.equivalent]

    def summary(self) -> str:
        """The answer, and why."""
        return f"{self.word} ({self.evidence}): {self.reason}"

    def sheet(self) -> Sheet:
        """The answer, and for each kind of array the worst one with its bound."""
        by_part: dict[str, Check] = {}
        for check in self.checks:
            if check.residual and (check.part not in by_part or check.ratio > by_part[check.part].ratio):
                by_part[check.part] = check
        order = [by_part[part] for part in NAMES if part in by_part]
        cells = tuple((c.words, f"{c.residual:.2g}", f"{c.bound:.2g}", f"{c.ratio:.2g}") for c in order)
        headings = (Wide("worst of each array"), "residual", "bound", "ratio")
        title = f"Residuals and bounds, relative, u = {self.unit_roundoff:.2g}"
        notes = [Note(self.summary()), Note(f"basis of the stream: {self.basis}", apart=False)]
        if self.separating is not None:
            notes.append(Note(str(self.separating), apart=False))
        return Sheet(f"{self.names[0]} and {self.names[1]}", (*notes, Table(title, headings, cells)))


@takes("workers")
def compare_models(
    a: Transformer, b: Transformer, layer: int | None = None, head: int | None = None
) -> SameModel:
    """Find the symmetry that takes one stored transformer to another, apply it, and compare array by array.

    Args:
        a: a model.
        b: another one of the same sizes, which may be stored in another type.
        layer: compare this layer alone, from 0.
        head: compare the keys, queries, values and outputs of this head of B in this layer alone, with the
            head of A that is most like it. Biases of values are not compared: what they add is constant.

    Raises:
        InputError: if the models have different sizes or other facts that are no weights; it names the first;
            if there is no such layer or head.

    See Also:
        :func:`agattn.equivalent`.

    >>> import numpy as np
    >>> from agattn.checkpoints.stored import Facts
    >>> facts = Facts("rms", 0, "before", False, True, "silu", True, "", False, 1, 1, 0, 0, 1, (), ())
    >>> E, Q = np.random.default_rng(0).standard_normal((2, 8, 4))
    >>> a = Transformer("A", facts, {"E": E, "W": E, "final.gain": np.full(4, 2.0)}, ())
    >>> print(compare_models(a, Transformer("B", facts, {"E": -E, "W": -2 * E}, ())).summary())
    the same (numerical): every array is g·A, each entry rounded once
    """
    _same_facts(a, b)
    if head is not None and layer is None:
        raise InputError(f"of which layer is this head? give {argument('layer')}, too")
    if layer is not None and not 0 <= layer < len(a.blocks):
        raise InputError(f"the models have layers 0 to {len(a.blocks) - 1}, not {layer}")
    if layer is not None and head is not None and not 0 <= head < (heads := len(b.blocks[layer]["Q"])):
        raise InputError(f"layer {layer} of {b.name} has heads 0 to {heads - 1}, not {head}")
    with threads(SECONDS * a.size):
        comparison = _Comparison(a, b)
        comparison.ends()
        if layer is None:
            layers = comparison.layers(range(len(a.blocks)), None)
            comparison.logits()
            return comparison.verdict(layers)
        ends = dict(comparison.checks.all)
        if a.facts.place == "post":  # each layer may change the signs of the stream
            comparison.layers(range(layer), None)
        comparison.checks = Checks()
        layers = comparison.layers([layer], head)
        if comparison.checks.misfits:  # the basis comes from the embedding, which may be what does not fit
            comparison.checks.all = ends | comparison.checks.all
        if head is None:
            return comparison.verdict(layers, f"layer {layer} alone")
        [other] = layers[0].symmetry.heads
        moved = f", which is head {other} of A" if other != head else ""
        arrays = "keys, queries, values, outputs"
        return comparison.verdict(layers, f"layer {layer}, head {head} alone{moved} ({arrays})")


def _same_facts(a: Transformer, b: Transformer) -> None:
    """Refuse models that differ in what is no weight, by the first difference."""
    one, two = folded(a).facts, folded(b).facts
    words = {"norm": "norms are", "place": "norms stand", "qk_norm": "norms of queries and keys:"}
    for entry in fields(one):
        x, y = getattr(one, entry.name), getattr(two, entry.name)
        if entry.name == "angles" and [*map(len, x)] == [*map(len, y)]:
            close = (np.allclose(p, q, 1e-6, 0) for p, q in zip(x, y, strict=True))
            x, y = ("", "") if all(close) else ("those of one base", "those of another")
        if x != y:
            name = words.get(entry.name, f"{entry.name.replace('_', ' ')} is")
            raise InputError(f"{name} {x or 'no'} in A and {y or 'no'} in B")
    if len(a.blocks) != len(b.blocks):
        raise InputError(f"A has {len(a.blocks)} layers and B has {len(b.blocks)}")


def _same_shapes(a: Arrays, b: Arrays, where: str = "") -> None:
    """Refuse arrays of different sizes, by the first difference."""
    units = {
        "Q": "heads",
        "K": "groups",
        "P": "groups",
        "G": "neurons",
        "E": "tokens",
        "positions": "positions",
    }
    for part in ("E", "positions", "types", "K", "Q", "P", "O", "G", "U", "D"):
        if (part in a) != (part in b):
            lacks, has = ("A", "B") if part in b else ("B", "A")
            raise InputError(f"{where}{has} has {NAMES[part]}, and {lacks} has none")
        if part not in a:
            continue
        x, y = shape(a, part), shape(b, part)
        if x != y and x[0] != y[0]:
            raise InputError(f"{where}{x[0]} {units.get(part, 'rows')} in A and {y[0]} in B")
        if x != y:
            raise InputError(
                f"{where}{NAMES[part]} are {' × '.join(map(str, x))} in A, {' × '.join(map(str, y))} in B"
            )


class _Comparison:
    """Both models, folded, with what is found on the way."""

    def __init__(self, a: Transformer, b: Transformer) -> None:
        self.a, self.b = a, b
        roundings = [ROUNDINGS[model.dtype] for model in (a, b)]
        self.rounding = max(roundings, key=lambda rounding: rounding.u)
        self.checks, self.arrays = Checks(), dict[str, Array]()
        self.one, self.two = FoldedEnds(a), FoldedEnds(b, self.rounding)
        self.basis = self.below = Basis(np.arange(self.one.width), np.ones(self.one.width))
        self.held: dict[str, tuple[Array, Array]] = {}

    def _compact(self, model: Transformer, part: str) -> Array:
        """An embedding, in the type of its file while the other one is read."""
        array = model.ends[part]
        if "16" not in model.dtype or array.nbytes <= 2**28:
            return array
        import ml_dtypes  # noqa: F401  (gives numpy the type bfloat16)

        return array.astype(model.dtype)

    def ends(self) -> None:
        """Find the basis of the stream, and compare the embedding with its positions, types and norm."""
        parts = [part for part in ("E", "positions", "types") if part in self.a.ends]
        _same_shapes(self.a.ends, self.b.ends)
        stored = {part: [self._compact(model, part) for model in (self.a, self.b)] for part in parts}
        used = parts if len(stored["E"][0]) < 2 * self.one.width else ["E"]
        first, second, errors = (
            np.concatenate([self._sample(stored[part][min(n, 1)], part, n) for part in used])
            for n in range(3)
        )
        facts = self.a.facts
        basis = permutation_between(first, second)
        if facts.place == "before" and "embedding.gain" not in self.a.ends:
            residual = np.linalg.norm(basis.turn(first) - second)
            if residual > np.linalg.norm(errors) + 1e-12 * np.linalg.norm(second):
                basis = rotation_between(first, second, errors, facts.norm == "layer")
        elif facts.norm == "layer":
            basis = basis.with_one_sign()
        self.basis = self.below = basis
        for part in parts:
            self._compare(part, ROWS[part], stored[part][0], stored[part][1], basis)
        sign = 1.0
        for part in ("embedding.gain", "embedding.bias"):
            if part in self.a.ends or part in self.b.ends:
                gain, actual = self.one[part], self.two[part]
                expected = basis.turn(gain)
                if part == "embedding.gain":
                    expected = basis.signed(basis.signs).turn(gain)
                    sign = -1.0 if (expected * actual).sum() < 0 else 1.0
                error = self.two.error(part, self.b.ends[part])
                self.checks.add(-1, part, "coordinate", sign * expected, actual, error)
        self.basis = basis = basis.signed(sign)
        if basis.matrix is None:
            self.arrays |= {"basis.order": basis.order, "basis.signs": basis.signs}
        else:
            self.arrays["basis"] = basis.matrix

    def _sample(self, array: Array, part: str, n: int) -> Array:
        """Some rows of an embedding of A (0) or B (1), or what those of B may be off by (2).

        Rows less their own mean are off by no more than the rows, as this is a projection.
        """
        ends = self.two if n else self.one
        at = np.linspace(0, len(array) - 1, min(len(array), 4 * ends.width)).astype(int)
        piece = array[np.unique(at)]
        if n == 2:
            scale = self.b.facts.embedding_scale if part == "E" else 1.0
            return self.rounding.norms(piece) * scale
        rows = ends.fold(part, piece)
        return rows - rows.mean(0) if "positions" in self.a.ends else rows

    def _compare(self, part: str, units: str, first: Array, second: Array, basis: Basis) -> None:
        """Compare an embedding or the unembedding, piece by piece."""

        def compare(at: slice) -> None:
            expected, actual = basis.turn(self.one.fold(part, first[at])), self.two.fold(part, second[at])
            bound = self.two.error(part, second[at]) + basis.error * norms(actual)
            self.checks.add(-1, part, units, expected, actual, bound, at.start)

        for _ in spread(compare, pieces(first.shape)):
            pass

    def layers(self, chosen: Iterable[int], head: int | None) -> list[ComparedLayer]:
        """Compare layers."""
        one, two = FoldedBlocks(self.a), FoldedBlocks(self.b, self.rounding)
        result = []
        for n in chosen:
            _same_shapes(self.a.blocks[n], self.b.blocks[n], f"layer {n}: ")
            layer = LayerComparison(n, one[n], two[n], self.basis, self.below, self.checks)
            self.basis, self.below = layer.run(head)
            self.arrays |= {f"layers.{n}.{name}": array for name, array in layer.symmetry.items()}
            result.append(ComparedLayer(n, _symmetry_of(layer.symmetry), dict(self._residuals(n))))
        return result

    def _residuals(self, n: int) -> Iterator[tuple[str, float]]:
        """The largest residual of each array of a layer, with that of its bias."""
        for part, name in COLUMNS.items():
            checks = [self.checks.all.get((n, key)) for key in (part, f"{part}.bias")]
            if residuals := [check.residual for check in checks if check is not None]:
                yield name, max(residuals)

    def logits(self) -> None:
        """Compare what reads the stream at the end."""
        basis = self.below if self.a.facts.place == "post" else self.basis
        first, second = self.one.stored("W"), self.two.stored("W")
        if first.shape != second.shape:
            raise InputError(f"{len(first)} logits in A and {len(second)} in B")
        self._compare("W", "token", first, second, basis)
        biases = [ends.bias() for ends in (self.one, self.two)]
        if any(bias is not None for bias in biases):
            nothing = (np.zeros(len(first)), np.zeros(len(first)))
            (expected, _), (actual, error) = (bias or nothing for bias in biases)
            self.checks.add(-1, "W.bias", "token", expected, actual, error)

    def verdict(self, layers: list[ComparedLayer], covered: str = "") -> SameModel:
        """The same if everything fits; else different if tokens say so.

        Args:
            layers: those that were compared.
            covered: what was compared, if that is not all, such as "layer 3 alone"; tokens go through the
                whole models.
        """
        worst, misfits = self.checks.worst, self.checks.misfits
        separating: Separating | None = None
        equal: bool | None = True
        if not misfits:
            reason = "every array is g·A, each entry rounded once"
        else:
            separating, ratio = _separate(self.a, self.b, self.rounding, self.checks)
            first = misfits[0]
            others = len(misfits) - 1
            plural = "array does" if others == 1 else "arrays do"
            rest = f"{others} more {plural} not fit" if others else "all other arrays fit"
            worst_piece = f"{first.at(first.piece)}: " if first.misfits > 1 else ""
            reason = f"{first.all_misfits}: {rest}; {worst_piece}{_why(self, first)}"
            equal = None if separating is None else False
            if separating is None:
                reason += f"; outputs differ by {ratio:.2g} of what rounding explains"
        if covered:
            reason = f"of {covered}, with nothing said of the rest: {reason}"
        return SameModel(
            equal,
            Evidence.NUMERICAL,
            self.rounding.u,
            worst.bound,
            WorstArray(worst.words, worst.residual, worst.bound),
            tuple(layers),
            separating,
            reason,
            misfits[0].words if misfits else None,
            names=(self.a.name, self.b.name),
            basis=self._basis_in_words(),
            checks=tuple(self.checks.all.values()),
            arrays=self.arrays,
        )

    def _basis_in_words(self) -> str:
        if self.basis.matrix is not None:
            return f"a rotation, known to {self.basis.error:.2g}"
        moved = int((self.basis.order != np.arange(len(self.basis.order))).sum())
        signs = int((self.basis.signs < 0).sum())
        return f"{moved} coordinates moved, {signs} with another sign" if moved or signs else "the same"


def _symmetry_of(symmetry: Mapping[str, Array]) -> LayerSymmetry:
    """The symmetry of a layer in numbers."""
    moved = np.zeros(len(symmetry["groups"]), bool)
    for name in ("values", "keys"):
        if name in symmetry:
            M = symmetry[name]
            moved |= np.linalg.norm(M - np.eye(M.shape[-1]), axis=(1, 2)) > 1e-2 * np.sqrt(M.shape[-1])
    neurons, scales = symmetry.get("neurons", np.arange(0)), symmetry.get("scales", np.ones(0))
    return LayerSymmetry(
        tuple(map(int, symmetry["groups"])),
        tuple(map(int, symmetry["heads"])),
        int((neurons != np.arange(len(neurons))).sum()),
        int(moved.sum()),
        int((np.abs(scales - 1) > 1e-2).sum()),
    )


def _why(comparison: _Comparison, check: Check) -> str:
    """What is wrong with an array, as far as its own entries say."""
    expected, actual = check.expected, check.actual
    residual = f"the residual is {check.residual:.2g}, the bound {check.bound:.2g}"
    if expected is None or actual is None:
        return residual
    if check.part == "P.bias":
        first = comparison.a.blocks[check.layer].get("P.bias")
        second = comparison.b.blocks[check.layer].get("P.bias")
        if first is not None and second is not None:
            group = check.piece[0]
            source = int(comparison.arrays[f"layers.{check.layer}.groups"][group])
            if np.allclose(first[source], second[group], rtol=4 * comparison.rounding.u, atol=1e-7):
                return f"the bias is that of A, not rotated; {residual}"
    difference = np.abs(expected - actual)
    products = float((expected.conj() * actual).sum().real)
    if products and difference.ndim:
        c = products / float((np.abs(expected) ** 2).sum())
        if (
            np.linalg.norm(c * expected - actual)
            <= check.bound * np.linalg.norm(actual)
            < np.linalg.norm(difference)
        ):
            return f"it is {c:.5g} times what it should be"
    if difference.ndim and (difference**2).max() > 0.98 * (difference**2).sum() and difference.size > 2:
        entry = ", ".join(str(int(n)) for n in np.unravel_index(int(difference.argmax()), difference.shape))
        return f"one entry differs, ({entry}); {residual}"
    return residual


#: What the arrays of a symmetry mean, by their names; layers.N. stands before those of layer N.
MEANINGS = {
    "basis": "R, an orthogonal matrix: E_B = E_A Rᵀ and W_B = W_A Rᵀ",
    "basis.order": "with basis.signs the same R: (Rx)_i = signs[i] · x_order[i]",
    "basis.signs": "see basis.order",
    "groups": "group i of B is group groups[i] of A: of keys K and values P",
    "heads": "head i of B is head heads[i] of A: of queries Q and outputs O",
    "values": "for each group of B an M: P_B = M P_A Rᵀ, and O_B = R O_A M⁻¹ for its heads",
    "keys": "for each group of B an M, on the rows that do not turn: K_B = M K_A Rᵀ, and Q_B = M⁻ᵀ Q_A Rᵀ",
    "pairs": "for each group of B and each pair of rows f, p + f that turns, read as k = K_f + i K_(p+f), a c"
    " as (real, imaginary): k_B = c k_A Rᵀ, and q_B = q_A Rᵀ / c̄",
    "neurons": "neuron i of B is neuron neurons[i] of A: of the gate G (or what reads), up U and down D",
    "scales": "for each neuron of B an s: U_B = s U_A Rᵀ, D_B = R D_A / s, and G_B = G_A Rᵀ; of ReLU"
    " G_B = s G_A Rᵀ, of its square √s G_A Rᵀ; with up, too, s is the product of both factors",
}
#: Which arrays these act on, and what is left out.
FOLDED = (
    "A is the first model and B the second, with norms folded: W diag(γ) for W that reads a norm with gain γ;"
    " layer norms also take the mean from the rows of what reads and from the columns of what writes. With"
    " learned positions E is less its mean over tokens. Rows that turn stand first, in pairs f and p + f. Not"
    " here are signs in which gains of norms behind the embedding, attention or perceptrons differ, and those"
    " of normalized queries and keys"
)


def write_symmetry(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write the arrays of a symmetry as .safetensors, complex numbers as pairs, and what names mean."""
    names = {re.sub(r"^layers\.\d+\.", "layers.N.", name) for name in arrays}
    meanings = {name: MEANINGS[name.removeprefix("layers.N.")] for name in sorted(names)}
    header: dict[str, Any] = {"__metadata__": {"what": FOLDED} | meanings}
    data = list[bytes]()
    start = 0
    for name, array in arrays.items():
        pairs = np.stack([array.real, array.imag], -1) if np.iscomplexobj(array) else array
        kind, dtype = ("I64", "<i8") if np.issubdtype(pairs.dtype, np.integer) else ("F64", "<f8")
        data.append(np.ascontiguousarray(pairs, dtype).tobytes())
        end = start + len(data[-1])
        header[name] = {"dtype": kind, "shape": pairs.shape, "data_offsets": (start, end)}
        start = end
    text = json.dumps(header).encode()
    path.write_bytes(b"".join((struct.pack("<Q", len(text)), text, *data)))


def _separate(
    a: Transformer, b: Transformer, rounding: Rounding, checks: Checks
) -> tuple[Separating | None, float]:
    """Tokens at which the models differ by more than rounding explains, and the largest ratio seen."""
    count, rng, largest = shape(a.ends, "E")[0], np.random.default_rng(0), 0.0
    size = min(LENGTH, shape(a.ends, "positions")[0]) if "positions" in a.ends else LENGTH
    wrong = [c.piece[0] for c in checks.misfits if c.part in ("E", "W") and c.piece[0] < count]
    for _ in range(TEXTS):
        tokens = rng.integers(count, size=size)
        tokens[: len(wrong)] = wrong[:size]
        text = tuple(map(int, tokens))
        outputs = [logits(model, text) for model in (a, b)]
        difference = np.abs(outputs[0] - outputs[1]).max(1)
        explained = np.zeros(size)
        for model, output in zip((a, b), outputs, strict=True):
            u = ROUNDINGS[model.dtype].u
            changes = [logits(moved(model, u, seed), text) - output for seed in range(DRAWS)]
            explained += 2 * FACTOR * np.abs(changes).max((0, 2))
        ratios = difference / np.maximum(explained, 1e-300)
        at = int(ratios.argmax())
        largest = max(largest, float(ratios[at]))
        if ratios[at] > 1:
            return Separating(
                text[: at + 1] if a.facts.causal else text, float(difference[at]), float(explained[at])
            ), largest
    return None, largest


@takes("workers")
def equivalent(
    w1: Any, w2: Any, *, layer: int | None = None, head: int | None = None, tolerance: float | None = None
) -> Equivalence | SameModel:
    """Whether two sets of weights, or two whole checkpoints, are the same function, and by which symmetry.

    Args:
        w1: from :func:`agattn.weights`; or a mapping with V and A, or K, Q and V, where each may be a stack
            with one matrix for each head; or for several layers a list of those, or names such as K_1, Q_1,
            V_1, K_2; or a whole checkpoint: its folder or file, with ``config.json`` beside it.
        w2: the same, with the same d_0 and d_l.
        layer: of checkpoints this layer alone, from 0.
        head: of checkpoints this head of the second model in this layer alone.
        tolerance: relative, below which differences of floats may be rounding; by default that of their
            type, such as float32. Where a tenth or ten times of it would give another answer, nothing is
            decided. Of checkpoints each array has a bound of its own.

    Raises:
        InputError: if the weights do not fit, or have other inputs or outputs; if the models are of
            different sizes or kinds.

    See Also:
        :func:`agattn.fiber`, :func:`agattn.identify`, :func:`agattn.weights`; ``agattn equivalent`` in a
        shell.

    >>> import agattn as ag
    >>> first = {"A": [[1, 2], [0, 1]], "V": [[1, 3]]}
    >>> ag.equivalent(first, {"A": [[2, 4], [0, 2]], "V": [["1/2", "3/2"]]})
    equal (proved): A' = sA, V' = V/s with s = 2
    """
    if isinstance(w1, (str, Path, Transformer)) and isinstance(w2, (str, Path, Transformer)):
        one, two = (w if isinstance(w, Transformer) else read_transformer(w) for w in (w1, w2))
        return compare_models(one, two, layer, head)
    if layer is not None or head is not None:
        raise InputError("layer and head are for two whole checkpoints, given by their paths; leave them out")
    return of_weights(w1, w2, tolerance=tolerance)
