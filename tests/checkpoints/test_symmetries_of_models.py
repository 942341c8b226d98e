"""Rewrites of stored transformers: each changes no logit, and the nearest one that is not allowed does.

The page docs/networks/rewrites-proofs.md has the proofs; the names of the cases are those of its sections.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from decoders import GROUPS, HEADS, ROWS, VALUES, decoder
from scipy.linalg import null_space
from scipy.special import log_softmax
from scipy.stats import ortho_group

from agattn.checkpoints.forward import logits
from agattn.checkpoints.stored import Transformer

TOKENS = [3, 14, 15, 9, 2, 6, 5]
READERS = {"attention": "QKP", "perceptron": "GU"}
OF_GROUP = np.repeat(np.arange(GROUPS), HEADS // GROUPS)


class Copy:
    """A model whose arrays a rewrite may change."""

    def __init__(self, model: Transformer, seed: int):
        self.model, self.facts = model, model.facts
        self.ends = {part: array.copy() for part, array in model.ends.items()}
        self.blocks = [{part: array.copy() for part, array in block.items()} for block in model.blocks]
        self.random = np.random.default_rng(seed)
        self.width = self.ends["E"].shape[1]

    def transformer(self):
        return replace(self.model, ends=self.ends, blocks=self.blocks)

    def matrix(self, n):
        """A matrix with a small condition number, so that its inverse is good to many digits."""
        return self.random.standard_normal((n, n)) + n * np.eye(n)

    def vector(self, n=None):
        return self.random.standard_normal(self.width if n is None else n)


def heads_of(group):
    return np.flatnonzero(group == OF_GROUP)


def readers(block, *halves):
    return [part for half in halves or READERS for part in READERS[half] if part in block]


def add(arrays, part, value):
    arrays[part] = arrays.get(part, 0) + value


# 1. Scales of norms


def fold_gains(copy):
    """W → W diag(γ), γ → 1, where a norm stands before a half; the last one into the unembedding."""
    for block in copy.blocks:
        for half in READERS:
            if (gain := block.get(f"{half}.gain")) is not None:
                for part in readers(block, half):
                    block[part] *= gain
                gain[:] = 1
    copy.ends["E" if copy.facts.tied else "W"] *= copy.ends["final.gain"]
    copy.ends["final.gain"][:] = 1


def fold_gains_into_queries_and_keys_alone(copy):
    for block in copy.blocks:
        for part in "QK":
            block[part] *= block["attention.gain"]
        block["attention.gain"][:] = 1


def fold_norm_biases(copy):
    """A bias b → b + Wβ, β → 0, with the W that reads γ x̂ + β."""
    for block in copy.blocks:
        for half in READERS:
            for part in readers(block, half):
                add(block, f"{part}.bias", block[part] @ block[f"{half}.bias"])
            block[f"{half}.bias"][:] = 0
    add(copy.ends, "W.bias", copy.ends["W"] @ copy.ends["final.bias"])
    copy.ends["final.bias"][:] = 0


def fold_gains_then_biases(copy):
    fold_gains(copy)
    fold_norm_biases(copy)


def fold_biases_then_gains(copy):
    fold_norm_biases(copy)
    fold_gains(copy)


# 2. The residual stream


def change_basis(copy, R):
    """E → E Rᵀ, readers W → W R⁻¹, writers W → R W, b → R b."""
    for part in {"E", "positions", "types"} & set(copy.ends):
        copy.ends[part] = copy.ends[part] @ R.T
    if "W" in copy.ends:
        copy.ends["W"] = copy.ends["W"] @ np.linalg.inv(R)
    for block in copy.blocks:
        for part in readers(block):
            block[part] = block[part] @ np.linalg.inv(R)
        for part in {"O", "D", "O.bias", "D.bias"} & set(block):
            block[part] = R @ block[part]


def rotate(copy):
    change_basis(copy, ortho_group.rvs(copy.width, random_state=1))


def fold_and_rotate(copy):
    fold_gains(copy)
    rotate(copy)


def fold_and_change_basis(copy):
    fold_gains(copy)
    change_basis(copy, copy.matrix(copy.width))


def rotate_around_ones(copy):
    """R1 = 1, and any rotation of the vectors of mean 0."""
    fold_biases_then_gains(copy)
    ones = np.full((copy.width, 1), copy.width**-0.5)
    others = null_space(ones.T)
    R = ones @ ones.T + others @ ortho_group.rvs(copy.width - 1, random_state=2) @ others.T
    change_basis(copy, R)


def fold_layer_norms_and_rotate(copy):
    fold_biases_then_gains(copy)
    rotate(copy)


def move_means(copy, direction=None):
    """Writers W → W + 1cᵀ, b → b + s1, E and positions + w1ᵀ."""
    ones = np.ones(copy.width) if direction is None else direction
    for block in copy.blocks:
        block["O"] += ones[:, None] * copy.vector(VALUES)
        block["D"] += np.outer(ones, copy.vector(block["D"].shape[1]))
        for part in ("O.bias", "D.bias"):
            block[part] += copy.vector(1) * ones
    for part in {"E", "positions"} & set(copy.ends):
        copy.ends[part] += np.outer(copy.vector(len(copy.ends[part])), ones)


def read_means(copy, *, move_bias=True):
    """W → W + w(1/γ)ᵀ, b → b − w Σ β_i/γ_i."""
    for block in copy.blocks:
        for half in READERS:
            gain, bias = block[f"{half}.gain"], block[f"{half}.bias"]
            for part in readers(block, half):
                w = copy.random.standard_normal((*block[part].shape[:-1], 1))
                block[part] += w / gain
                block[f"{part}.bias"] -= move_bias * w[..., 0] * (bias / gain).sum()


def move_to_positions(copy):
    """E + 1cᵀ, positions − 1cᵀ."""
    c = copy.vector()
    copy.ends["E"] += c
    copy.ends["positions"] -= c


def permute_coordinates(copy, sign=None, gains=True):
    """A permutation with signs of the stream; gains and biases of the norms are carried along."""
    order = copy.random.permutation(copy.width)
    signs = copy.random.choice([-1.0, 1.0], copy.width) if sign is None else np.full(copy.width, sign)
    change_basis(copy, signs[:, None] * np.eye(copy.width)[order])
    for arrays in [copy.ends, *copy.blocks]:
        for part in arrays:
            if part.startswith(("attention.", "perceptron.", "after ", "embedding.", "final.")):
                if part.endswith("gain") and gains:
                    arrays[part] = arrays[part][order]
                elif part.endswith("bias"):
                    arrays[part] = signs * arrays[part][order]


def norms_on_the_stream(copy):
    """Each norm that makes the stream, of BERT's kind, with the half that reads and writes it next."""
    yield copy.ends, "embedding", "attention", copy.blocks[0]
    for n, block in enumerate(copy.blocks):
        yield block, "after attention", "perceptron", block
        if n + 1 < len(copy.blocks):
            yield block, "after perceptron", "attention", copy.blocks[n + 1]


def move_behind_norms(copy, *, written=True):
    """β → β + s, readers' b → b − Ws, the next written b → b − s."""
    for arrays, norm, half, block in norms_on_the_stream(copy):
        s = copy.vector()
        arrays[f"{norm}.bias"] += s
        for part in readers(block, half):
            block[f"{part}.bias"] -= block[part] @ s
        if written:
            block[f"{'O' if half == 'attention' else 'D'}.bias"] -= s


def scale_stream(copy):
    """E, writers and their biases, and gains behind the halves, × c; readers / c if no norm stands before."""
    c = 1.7
    copy.ends["E"] *= c
    for block in copy.blocks:
        if copy.facts.place == "after":
            for part in readers(block):
                block[part] /= c
        gains = [f"after {half}.gain" for half in READERS]
        scaled = gains if gains[0] in block else ["O", "D"]
        for part in scaled:
            block[part] *= c


def scale_stream_without_readers(copy):
    """What is right for norms before the halves, done to norms behind them."""
    copy.ends["E"] *= 1.7
    for block in copy.blocks:
        for half in READERS:
            block[f"after {half}.gain"] *= 1.7


def scale_norms(copy):
    """γ → cγ, β → cβ, readers / c, the next written × c: a c for each norm that makes the stream."""
    for arrays, norm, half, block in norms_on_the_stream(copy):
        c = np.exp(copy.random.standard_normal())
        for end in ("gain", "bias"):
            arrays[f"{norm}.{end}"] *= c
        for part in readers(block, half):
            block[part] /= c
        writer = "O" if half == "attention" else "D"
        block[writer] *= c
        block[f"{writer}.bias"] *= c


# 3. Values of a group


def change_values(copy, *, bias=True, transposed=False):
    """P → M P, b_v → M b_v, O_h → O_h M⁻¹ for the heads of the group."""
    for block in copy.blocks:
        for group in range(GROUPS):
            M = copy.matrix(VALUES)
            block["P"][group] = M @ block["P"][group]
            if bias and "P.bias" in block:
                block["P.bias"][group] = M @ block["P.bias"][group]
            inverse = M.T if transposed else np.linalg.inv(M)
            own = heads_of(group)
            block["O"][own] = block["O"][own] @ inverse


def change_values_of_a_head(copy):
    """A matrix for one head of a group: the values are those of both."""
    M = copy.matrix(VALUES)
    block = copy.blocks[0]
    block["P"][0] = M @ block["P"][0]
    block["O"][0] = block["O"][0] @ np.linalg.inv(M)


# 4. Scores of a group


def change_scores(copy, rows=slice(None), part="both"):
    """K → M K, b_k → M b_k, Q → M⁻ᵀ Q, b_q → M⁻ᵀ b_q, on some rows."""
    for block in copy.blocks:
        for group in range(GROUPS):
            M = copy.matrix(len(range(ROWS)[rows]))
            own = heads_of(group)
            for name, heads, by in (("K", [group], M), ("Q", own, np.linalg.inv(M).T)):
                for h in heads:
                    block[name][h, rows] = by @ block[name][h, rows]
                    if f"{name}.bias" in block and not (part == "no query bias" and name == "Q"):
                        block[f"{name}.bias"][h, rows] = by @ block[f"{name}.bias"][h, rows]


def multiply_pairs(copy, conjugate=True):
    """K → c k, q → q/c̄ for each pair z = x + iy."""
    for block, angles in zip(copy.blocks, copy.facts.angles, strict=True):
        p = len(angles)
        for group in range(GROUPS):
            c = copy.vector(p) + 1j * copy.vector(p)
            c += c / abs(c)
            for name, heads, by in (
                ("K", [group], c),
                ("Q", heads_of(group), 1 / (c.conj() if conjugate else c)),
            ):
                for array in (block[part] for part in (name, f"{name}.bias") if part in block):
                    for h in heads:
                        factor = by[:, None] if array.ndim == 3 else by
                        z = factor * (array[h, :p] + 1j * array[h, p : 2 * p])
                        array[h, :p], array[h, p : 2 * p] = z.real, z.imag


def exchange_rows(copy, pairs):
    """The same two rows of all queries and keys exchanged."""
    for block in copy.blocks:
        for part in {"Q", "K", "Q.bias", "K.bias"} & set(block):
            for one, other in pairs:
                block[part][:, [one, other]] = block[part][:, [other, one]]


def scale_gains(copy, by_pair=True):
    """γ_k → sγ_k, γ_q → γ_q/s, for each pair, and for each row that does not turn."""
    p = len(copy.facts.angles[0])
    for block in copy.blocks:
        s = copy.random.choice([-2.0, -0.5, 0.6, 1.5, 3.0], block["key.gain"].shape)
        if by_pair:
            s[..., p : 2 * p] = s[..., :p]
        else:
            s[..., p : 2 * p] = 2 * s[..., :p]
        block["key.gain"] *= s
        block["query.gain"] /= s if copy.facts.qk_norm == "head" else s[OF_GROUP]


def equal_gains(copy):
    """Of a model: the gains of a pair agree in absolute value, in both norms."""
    p = len(copy.facts.angles[0])
    for block in copy.blocks:
        for part in ("query.gain", "key.gain"):
            block[part][..., p : 2 * p] = -block[part][..., :p]


def rotate_pairs(copy, angle=0.7):
    """One rotation of a pair of a group's rows."""
    p = len(copy.facts.angles[0])
    for block in copy.blocks:
        for part, heads in (("K", [0]), ("Q", heads_of(0))):
            z = np.exp(1j * angle) * (block[part][heads, :p] + 1j * block[part][heads, p : 2 * p])
            block[part][heads, :p], block[part][heads, p : 2 * p] = z.real, z.imag


def turn_quarters(copy, *, gains=True):
    """(x, y) → (−y, x) for a pair of all heads, and its gains exchanged."""
    p = len(copy.facts.angles[0])
    for block in copy.blocks:
        for part in "QK":
            block[part][:, [0, p]] = block[part][:, [p, 0]]
            block[part][:, 0] *= -1
        for part in ("query.gain", "key.gain") if gains else ():
            block[part][[0, p]] = block[part][[p, 0]]


def negate_rows(copy, groups=slice(None)):
    """A row of all keys with its gain."""
    for block in copy.blocks:
        block["K"][groups, 1] *= -1
        block["key.gain"][1] *= -1


def scale_keys(copy):
    """K_g and Q_h times positive numbers."""
    for block in copy.blocks:
        for part in "QK":
            block[part] *= np.exp(copy.vector(len(block[part])))[:, None, None]


# 5. Biases


def move_key_biases(copy, rows=slice(None)):
    for block in copy.blocks:
        bias = block.setdefault("K.bias", np.zeros((GROUPS, ROWS)))
        bias[:, rows] += copy.random.standard_normal((GROUPS, ROWS))[:, rows]


def values_to_output(copy, *, of_heads=True):
    """b_o → b_o + Σ_h O_h b_{v,g(h)}, b_v → 0."""
    for block in copy.blocks:
        heads = np.arange(HEADS) if of_heads else np.arange(0, HEADS, HEADS // GROUPS)
        block["O.bias"] += sum(block["O"][h] @ block["P.bias"][OF_GROUP[h]] for h in heads)
        block["P.bias"][:] = 0


def hide_value_biases(copy):
    """The biases that Σ_{h in g} O_h, side by side, do not see."""
    for block in copy.blocks:
        seen = np.hstack([block["O"][heads_of(group)].sum(0) for group in range(GROUPS)])
        unseen = null_space(seen)
        block["P.bias"] += (unseen @ copy.vector(unseen.shape[1])).reshape(GROUPS, VALUES)


def move_value_biases(copy):
    for block in copy.blocks:
        block["P.bias"] += copy.random.standard_normal((GROUPS, VALUES))


def from_perceptron_to_attention(copy):
    for block in copy.blocks:
        s = copy.vector()
        block["O.bias"] += s
        block["D.bias"] -= s


# 6. Orders


def order(copy, parts, permutation):
    for block in copy.blocks:
        for part in parts:
            for name in {part, f"{part}.bias"} & set(block):
                block[name] = block[name].take(permutation, 1 if name == "D" else 0)


def order_groups(copy):
    order(copy, "KP", [1, 0])
    order(copy, "QO", [2, 3, 0, 1])


def order_neurons(copy):
    permutation = copy.random.permutation(len(copy.blocks[0]["G"]))
    for block in copy.blocks:
        parts = [part for part in ("G", "G.bias", "U", "U.bias") if part in block]
        for part in parts:
            block[part] = block[part][permutation]
        block["D"] = block["D"][:, permutation]


def order_neurons_of_a_gate(copy):
    for block in copy.blocks:
        block["G"] = block["G"][::-1]
        block["D"] = block["D"][:, ::-1]


# 7. Neurons


def scale_neurons(copy, part, positive=False, power=1, undo=True):
    """The rows of an array times c, the columns of D over a power of c."""
    for block in copy.blocks:
        c = 1 + abs(copy.vector(len(block["G"])))
        if not positive:
            c *= copy.random.choice([-1.0, 1.0], len(c))
        block[part] *= c[:, None]
        if f"{part}.bias" in block:
            block[f"{part}.bias"] *= c
        if undo:
            block["D"] /= c**power


# 8. Probabilities


def move_logits(copy):
    copy.ends["W"] += copy.vector()


def on(family, rewrite, *, prepare=None, **facts):
    """A rewrite of a model of a family with some other facts, which may be prepared before."""
    return family, rewrite, prepare, facts


def both(family, allowed, forbidden, **facts):
    """Two rewrites of one model."""
    return on(family, allowed, **facts), on(family, forbidden, **facts)


def of(rewrite, *values, **named):
    """A rewrite with some of its arguments."""
    return lambda copy: rewrite(copy, *values, **named)


ALONG_ONE = np.eye(24)[0]
AT_REST, ONE_MORE = slice(4, None), slice(3, None)
SCALED_UP = of(scale_neurons, "G", positive=True)
SCALED_BY_SQUARES = of(scale_neurons, "G", positive=True, power=2)
PERMUTED_ALONE, MOVED_AT_REST = of(permute_coordinates, gains=False), of(move_key_biases, AT_REST)
ANOTHER_PAIRING = of(exchange_rows, [(1, 2)])  # (x_0, x_1, y_0, y_1) as (x_0, y_0, x_1, y_1)
#: Rewrites that are allowed, and of each its nearest neighbour that is not, of the same model or another.
CASES = {
    "1 gains into what reads": both("llama", fold_gains, fold_gains_into_queries_and_keys_alone),
    "1 the last gain into a tied unembedding": (on("llama", fold_gains), on("llama", fold_gains, tied=True)),
    "1 biases of layer norms": both("neox", fold_biases_then_gains, fold_gains_then_biases),
    "2a rotation, gains folded or not": both("llama", fold_and_rotate, rotate),
    "2a no other change of basis": both("llama", fold_and_rotate, fold_and_change_basis),
    "2b rotation that keeps 1, or not": both("bigcode", rotate_around_ones, fold_layer_norms_and_rotate),
    "2b means that writers write": both("bigcode", move_means, of(move_means, ALONG_ONE)),
    "2b means of a tied embedding": (on("bigcode", move_means), on("gpt2", move_means)),
    "2b means that readers read": both("gpt2", read_means, of(read_means, move_bias=False)),
    "2c embedding and positions": (on("bigcode", move_to_positions), on("gpt2", move_to_positions)),
    "2d signed permutations, OLMo 2": both("olmo2", permute_coordinates, PERMUTED_ALONE),
    "2d signed permutations, Gemma 2": both("gemma2", permute_coordinates, PERMUTED_ALONE),
    "2d no rotation": both("olmo2", permute_coordinates, rotate),
    "2d permutations and one sign, BERT": both(
        "bert", of(permute_coordinates, sign=-1.0), permute_coordinates
    ),
    "2d biases behind norms": both("bert", move_behind_norms, of(move_behind_norms, written=False)),
    "2d means, BERT": both("bert", move_means, of(move_means, ALONG_ONE)),
    "2e scale of the stream": (on("llama", scale_stream, eps=0.0), on("llama", scale_stream)),
    "2e scale, Gemma 2": (
        on("gemma2", scale_stream, eps=0.0, tied=False),
        on("gemma2", scale_stream, eps=0.0),
    ),
    "2e scale, OLMo 2": both("olmo2", scale_stream, scale_stream_without_readers, eps=0.0),
    "2e scale of each norm, BERT": (on("bert", scale_norms, eps=0.0), on("bert", scale_norms, eps=1e-2)),
    "3 values, with their bias": both("qwen2", change_values, of(change_values, bias=False)),
    "3 values by the inverse": both("llama", change_values, of(change_values, transposed=True)),
    "3 values of all heads of a group": both("llama", change_values, change_values_of_a_head),
    "4 scores without positions": (on("gpt2", change_scores), on("llama", change_scores)),
    "4 scores with the queries' bias": both("gpt2", change_scores, of(change_scores, part="no query bias")),
    "4 pairs by conjugates": both("qwen2", multiply_pairs, of(multiply_pairs, conjugate=False)),
    "4 rows at rest": both("qwen2", of(change_scores, AT_REST), of(change_scores, ONE_MORE)),
    "4 order of rows at rest, of pairs": both(
        "llama", of(exchange_rows, [(4, 5)]), of(exchange_rows, [(0, 1), (2, 3)])
    ),
    "4 the other pairing": both("llama", of(exchange_rows, [(4, 5)]), ANOTHER_PAIRING),
    "4 normalized: no complex factors": (on("llama", multiply_pairs), on("qwen3", multiply_pairs)),
    "4 normalized: gains by pair": both("qwen3", scale_gains, of(scale_gains, by_pair=False)),
    "4 normalized at once: gains by pair and group": both(
        "olmo2", scale_gains, of(scale_gains, by_pair=False)
    ),
    "4 normalized: rotations of equal gains": (
        on("qwen3", rotate_pairs, prepare=equal_gains),
        on("qwen3", rotate_pairs),
    ),
    "4 normalized: quarter turns": both("qwen3", turn_quarters, of(turn_quarters, gains=False)),
    "4 normalized: signs of rows": both("qwen3", negate_rows, of(negate_rows, slice(1))),
    "4 normalized: scales": (on("qwen3", scale_keys, eps=0.0), on("qwen3", scale_keys, eps=1e-2)),
    "5 keys' bias without positions": (
        on("gpt2", move_key_biases),
        on("gpt2", move_key_biases, score_cap=2.0),
    ),
    "5 keys' bias at rest": both("qwen2", MOVED_AT_REST, move_key_biases),
    "5 keys' bias, normalized": (on("llama", MOVED_AT_REST), on("qwen3", MOVED_AT_REST)),
    "5 values' bias to the output": both("gpt2", values_to_output, of(values_to_output, of_heads=False)),
    "5 values' bias that no head sees": both("qwen2", hide_value_biases, move_value_biases, width=8),
    "5 parallel blocks": (
        on("neox", from_perceptron_to_attention),
        on("neox", from_perceptron_to_attention, parallel=False),
    ),
    "6 groups with their heads": both("qwen2", order_groups, of(order, "KP", [1, 0])),
    "6 heads of a group": both("qwen2", of(order, "QO", [1, 0, 2, 3]), of(order, "QO", [2, 1, 0, 3])),
    "6 neurons": both("llama", order_neurons, order_neurons_of_a_gate),
    "7 gated: up against down": both("llama", of(scale_neurons, "U"), of(scale_neurons, "U", undo=False)),
    "7 gated: not the gate": both("llama", of(scale_neurons, "U"), SCALED_UP),
    "7 ReLU: positive scales": both("opt", SCALED_UP, of(scale_neurons, "G")),
    "7 squared ReLU: the square": both("gpt2", SCALED_BY_SQUARES, SCALED_UP, activation="relu2"),
    "7 gated ReLU": both("llama", SCALED_UP, of(scale_neurons, "G"), activation="relu"),
    "7 GELU: no scale": (on("opt", SCALED_UP), on("gpt2", SCALED_UP)),
}
#: The same of probabilities, which do not see a constant on all logits.
OF_PROBABILITIES = {
    "2c probabilities of a tied model": both("gpt2", move_to_positions, move_means),
    "8 a constant on all logits": (on("llama", move_logits), on("llama", move_logits, logit_cap=2.0)),
}


def change(family, rewrite, prepare, facts, seen):
    """By how much a rewrite changes what is seen of a decoder, relative to the largest logit."""
    before = Copy(decoder(7, family, **facts), 1)
    if prepare is not None:
        prepare(before)
    after = Copy(before.transformer(), 2)
    rewrite(after)
    first, second = (seen(logits(copy.transformer(), TOKENS)) for copy in (before, after))
    return abs(first - second).max() / abs(first).max()


@pytest.mark.parametrize("name", [*CASES, *OF_PROBABILITIES])
def test_rewrite(name):
    """An allowed rewrite keeps the logits to 12 digits; its forbidden neighbour changes six."""
    allowed, forbidden = (CASES | OF_PROBABILITIES)[name]
    seen = partial(log_softmax, axis=1) if name in OF_PROBABILITIES else np.asarray
    assert change(*allowed, seen) < 1e-12
    assert change(*forbidden, seen) > 1e-6
