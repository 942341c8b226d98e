"""The group of a whole model against the kernel of the Jacobian of its logits, at small sizes.

``python -m tests.checkpoints.redundancy`` prints the first table of the page of proofs on whole models,
and with ``proved`` that of ``proved_ranks.py``. The Jacobian is taken by complex steps,
f'(θ) = Im f(θ + ih)/h with h = 10⁻³⁰, so that no digits are lost; its rank is where the singular values fall
by the largest factor, which is printed: numerical, not proved. The tangents of the group are written here a
second time, array by array, apart from the formulas of the program.
"""

import itertools
import sys

import numpy as np

import agattn as ag
from tests.checkpoints.polynomial_group import rows, score_moves

SMALL = {"num_hidden_layers": 2, "vocab_size": 24, "intermediate_size": 5}
LLAMA = SMALL | {"hidden_size": 6, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4}
GPT2 = {"n_embd": 6, "n_head": 2, "n_layer": 2, "vocab_size": 24, "n_inner": 5, "n_positions": 5}
NEOX = SMALL | {"hidden_size": 8, "num_attention_heads": 2}
PLAIN = SMALL | {"hidden_size": 6, "num_attention_heads": 2, "max_position_embeddings": 5}
TIED = {"tie_word_embeddings": True}

#: Small models, by the type of whose models each is one.
MODELS = {
    "llama": {"model_type": "llama"} | LLAMA,
    "llama, tied": {"model_type": "llama"} | LLAMA | TIED,
    "mixtral": {"model_type": "mixtral", "num_local_experts": 3} | LLAMA,
    "qwen2": {"model_type": "qwen2"} | LLAMA,
    "qwen3": {"model_type": "qwen3"} | LLAMA,
    "gemma2": {"model_type": "gemma2", "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0} | LLAMA,
    "gpt_oss": {"model_type": "gpt_oss", "num_local_experts": 3} | LLAMA,
    "olmo": {"model_type": "olmo"} | LLAMA,
    "olmo, tied": {"model_type": "olmo"} | LLAMA | TIED,
    "olmo2": {"model_type": "olmo2"} | LLAMA,
    "cohere": {"model_type": "cohere"} | LLAMA,
    "starcoder2": {"model_type": "starcoder2"} | LLAMA,
    "gpt2": {"model_type": "gpt2"} | GPT2,
    "gpt2, untied": {"model_type": "gpt2", "tie_word_embeddings": False} | GPT2,
    "phi": {"model_type": "phi"} | NEOX,
    "gpt_neox": {"model_type": "gpt_neox", "rotary_pct": 0.5} | NEOX,
    "falcon": {"model_type": "falcon", "alibi": False, "ffn_hidden_size": 5} | NEOX,
    "bloom": {"model_type": "bloom", "hidden_size": 6, "n_head": 2, "n_layer": 2, "vocab_size": 24,
              "n_inner": 5},
    "opt": {"model_type": "opt", "ffn_dim": 5} | PLAIN,
    "bert": {"model_type": "bert", "type_vocab_size": 2} | PLAIN,
}  # fmt: skip

#: Weights at which every neuron of a ReLU is on at some tokens, and off at others.
SEEDS = {"opt": 2, "gpt_oss": 1}
#: Where each expert and each clamp needs tokens of its own.
MORE = {"gpt_oss": 4.0}


def stored(name):
    """The sizes of a small model."""
    config = ag.from_config(MODELS[name])
    assert config.stored is not None, config.lacks
    return config.stored


# The model --------------------------------------------------------------------------------------------------


def shapes(m):
    """The arrays by name; those of block l begin with l."""
    g = m.kinds[0].kv_heads
    d, a, b, n, H = m.dim, m.rank, m.value_rank, m.neurons, m.heads
    table = {"E": (m.vocabulary, d)}
    table |= {"positions": (m.positions - m.model.plus, d)} if m.positions else {}
    table |= {"types": (m.types, d)} if m.types else {}
    names = ["embedding"] * m.model.embedding_norm + ["final"] * m.final_norm
    place = m.model.place
    for l in range(m.layers):
        block = {"Q": (H, a, d), "K": (g, a, d), "P": (g, b, d), "O": (H, d, b)}
        biases = {"q": ("Q", (H, a)), "k": ("K", (g, a)), "v": ("P", (g, b)), "o": ("O", (d,))}
        block |= {f"{biases[letter][0]}.bias": biases[letter][1] for letter in m.biases}
        if m.qk_norm:
            every = m.qk_norm == "all"
            block |= {"query.gain": (H, a) if every else (a,), "key.gain": (g, a) if every else (a,)}
        block |= {"sinks": (H,)} if m.model.sinks else {}
        experts = (m.experts,) if m.experts else ()
        block |= {"G": (*experts, n, d), "D": (*experts, d, n)} | ({"U": (*experts, n, d)} if m.gated else {})
        if m.perceptron_biases:
            block |= {"G.bias": (*experts, n), "D.bias": (*experts, d)}
            block |= {"U.bias": (*experts, n)} if m.gated else {}
        if m.experts:
            block |= {"R": (m.experts, d)} | ({"R.bias": (m.experts,)} if m.model.router_bias else {})
        table |= {f"{l}.{part}": shape for part, shape in block.items()}
        halves = ["attention", "perceptron"][: m.model.norms]
        if place in ("before", "both"):
            names += [f"{l}.{half}" for half in halves]
        if place != "before":
            names += [f"{l}.after {half}" for half in halves]
    if m.model.unembedding and not m.tied:
        table["W"] = (m.vocabulary, d)
    if m.model.unembedding_bias:
        table["W.bias"] = (m.vocabulary,)
    if m.model.gains:
        table |= {f"{name}.gain": (d,) for name in names}
        table |= {f"{name}.bias": (d,) for name in names} if m.norm_biases else {}
    return table


def general(m, random):
    """Weights in general position."""
    return {
        name: random.normal(size=shape) * 0.6 + (1.0 if name.endswith("gain") else 0.0)
        for name, shape in shapes(m).items()
    }


def angles(length, pairs):
    """By how much each pair of rows is turned at each position."""
    return np.arange(length)[:, None] * np.array([1.0, 0.37, 0.2][:pairs])


def evaluate(m, w, tokens, types, eps=0.1, turns=None, polynomial=False):
    """The logits, or the last vectors, of sequences of tokens: exact for complex weights, too.

    ``turns`` are the cosines and sines of the angles, for weights that are no floats. As a polynomial a model
    is without softmax, norms and roots: a token sees others with their scores as weights, norms are
    γ ⊙ x + β, act(x) = x + x² + x⁴, and experts have the logits of the router as weights.
    """
    g, p = m.kinds[0].kv_heads, m.kinds[0].rotary_pairs
    place = m.model.place

    def norm(x, name):
        if m.layer_norm and not polynomial:
            x = x - x.mean(-1, keepdims=True)
        if not polynomial:
            x = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
        return x * w.get(f"{name}.gain", 1) + w.get(f"{name}.bias", 0)

    def read(u, name):
        y = np.einsum("...ri,bti->...btr" if w[name].ndim > 2 else "ri,bti->btr", w[name], u)
        bias = w.get(f"{name}.bias")
        return y if bias is None else y + bias[..., None, None, :]

    def turned(y):
        first, second = y[..., :p], y[..., p : 2 * p]
        return np.concatenate([first * cos - second * sin, first * sin + second * cos, y[..., 2 * p :]], -1)

    def normalized(y, gain):
        if not m.qk_norm:
            return y
        axes = (0, -1) if m.qk_norm == "all" else (-1,)
        if not polynomial:
            y = y / np.sqrt((y * y).mean(axes, keepdims=True) + eps)
        return y * gain[..., None, None, :]

    def attention(u, l):
        q, k, v = (read(u, f"{l}.{part}") for part in "QKP")
        q = turned(normalized(q, w.get(f"{l}.query.gain")))
        k = turned(normalized(k, w.get(f"{l}.key.gain")))
        of = np.arange(m.heads) // (m.heads // g)
        scores = np.einsum("hbta,hbja->hbtj", q, k[of])
        scores = scores if polynomial else scores / np.sqrt(m.rank)
        if m.capped and not polynomial:
            scores = 2 * np.tanh(scores / 2)
        steps = np.arange(tokens.shape[1])
        if not (p or m.positions):  # ALiBi
            slopes = np.array([2, 1]) if polynomial else np.array([0.5, 0.25])
            scores = scores - slopes[:, None, None, None] * (steps[:, None] - steps)
        causal = place != "post"
        weights = np.where(
            (steps[:, None] >= steps) | (not causal), scores if polynomial else np.exp(scores), 0
        )
        if not polynomial:
            total = weights.sum(-1, keepdims=True)
            if m.model.sinks:
                total = total + np.exp(w[f"{l}.sinks"])[:, None, None, None]
            weights = weights / total
        y = np.einsum("hbtj,hbjv->hbtv", weights, v[of])
        return np.einsum("hdv,hbtv->btd", w[f"{l}.O"], y) + w.get(f"{l}.O.bias", 0)

    def act(x):
        if polynomial:
            return x + x**2 + x**4
        if m.activation == "relu":
            return x * (x.real > 0)
        if m.activation == "gelu":
            return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
        return x / (1 + np.exp(-x))

    def clamped(x, least):
        return np.where(x.real > 0.7, x - x + 0.7, np.where(x.real < least, x - x + least, x))

    def perceptron(u, l):
        gate, up = read(u, f"{l}.G"), read(u, f"{l}.U") if m.gated else 1
        if m.activation == "clamped":
            gate, up = clamped(gate, -np.inf), clamped(up, -0.7) + 1
        y = act(gate) * up
        D, bias = w[f"{l}.D"], w.get(f"{l}.D.bias", np.zeros(1, int))
        if not m.experts:
            return y @ D.T + bias
        y = np.einsum("mbtn,mdn->mbtd", y, D) + bias[..., None, None, :]
        logits = read(u, f"{l}.R")
        if polynomial:
            return np.einsum("btm,mbtd->btd", logits, y)
        chosen = logits.real >= np.sort(logits.real, -1)[..., -2:-1]
        weights = np.where(chosen, np.exp(logits), 0)
        weights = weights / weights.sum(-1, keepdims=True)
        return np.einsum("btm,mbtd->btd", weights, y)

    angle = angles(tokens.shape[1], p)
    cos, sin = turns or (np.cos(angle), np.sin(angle))
    x = w["E"][tokens]
    x = x + w["positions"][: tokens.shape[1]] if m.positions else x
    x = x + w["types"][types] if m.types else x
    x = norm(x, "embedding") if m.model.embedding_norm else x
    for l in range(m.layers):
        if m.parallel:
            second = "perceptron" if m.model.norms == 2 else "attention"
            x = x + attention(norm(x, f"{l}.attention"), l) + perceptron(norm(x, f"{l}.{second}"), l)
            continue
        for half, function in (("attention", attention), ("perceptron", perceptron)):
            y = function(norm(x, f"{l}.{half}") if place in ("before", "both") else x, l)
            if place == "post":
                x = norm(x + y, f"{l}.after {half}")
            else:
                x = x + (y if place == "before" else norm(y, f"{l}.after {half}"))
    if not m.model.unembedding:
        return x
    return norm(x, "final") @ w["E" if m.tied else "W"].T + w.get("W.bias", 0)


def flat(arrays, names):
    return np.concatenate([np.asarray(arrays[name]).ravel() for name in names])


def jacobian(m, w, random, more=1.5, batch=None):
    """The derivatives of the outputs at random tokens by all entries: outputs × parameters."""
    names = list(w)
    count = sum(w[name].size for name in names)
    # A token tells of the blocks no more than the d − 1 numbers that the last norm leaves; and each occurs.
    length = 5
    batch = batch or int(more * count / (length * (m.dim - 1))) + 12
    tokens = random.integers(0, m.vocabulary, (batch, length))
    tokens.flat[: m.vocabulary] = np.arange(m.vocabulary)[: tokens.size]
    types = random.integers(0, max(m.types, 1), (batch, length))
    columns = []
    for name in names:
        for place in np.ndindex(w[name].shape):
            moved = w[name].astype(complex)
            moved[place] += 1e-30j
            columns.append(evaluate(m, w | {name: moved}, tokens, types).imag.ravel() * 1e30)
    return np.array(columns).T


def kernel(J):
    """The dimension of the kernel, and the factor by which singular values fall there."""
    sizes = np.linalg.norm(J, axis=0)
    J = J / np.maximum(sizes, 1e-3 * sizes.max())
    values = np.linalg.svd(J, compute_uv=False)
    values = np.maximum(values / values[0], 1e-15)
    falls = values[:-1] / values[1:]
    rank = int(np.argmax(falls * (values[1:] < 1e-9))) + 1
    if values[-1] > 1e-9:
        return 0, np.inf
    return J.shape[1] - rank, falls[rank - 1]


# The group --------------------------------------------------------------------------------------------------


def unit(shape, *place):
    array = np.zeros(shape)
    array[place] = 1.0
    return array


def tangents(m, w):
    """The directions of the group at w, one by one, as the arrays that move."""
    yield from _ends(m, w)
    for l in range(m.layers):
        block = {name.split(".", 1)[1]: array for name, array in w.items() if name.startswith(f"{l}.")}
        for moved in itertools.chain(
            _scores(m, block), _values(m, block), _perceptron(m, block), _writers(m, block)
        ):
            yield {f"{l}.{part}": array for part, array in moved.items()}
    for name, readers in read_by(m):
        yield from _norm(m, w, name, readers)
    if m.model.place == "post":
        yield from _post(m, w)


def _scores(m, block):
    g, p = m.kinds[0].kv_heads, m.kinds[0].rotary_pairs
    a, s = m.rank, m.heads // g
    for group in range(g):
        heads = range(group * s, group * s + s)

        here, these = unit((g, 1, 1), group), np.isin(np.arange(m.heads), heads)[:, None, None]

        def linear(of_keys, of_queries, here=here, these=these):
            keys = rows(block, "K", lambda array: here * (of_keys @ array))
            return keys | rows(block, "Q", lambda array: these * (of_queries @ array))

        if not m.qk_norm:
            for of_keys, of_queries in score_moves(a, p):
                yield linear(of_keys.astype(float), of_queries.astype(float))
            if "K.bias" in block and not m.model.sinks and not m.capped:
                for i in range(2 * p, a):
                    yield {"K.bias": unit((g, a), group, i)}
        elif m.qk_norm == "all" or group == 0:
            for places in [[f, p + f] for f in range(p)] + [[i] for i in range(2 * p, a)]:
                mask = np.zeros(a)
                mask[places] = 1
                key, query = block["key.gain"] * mask, -block["query.gain"] * mask
                if m.qk_norm == "all":
                    key = key * unit((g, 1), group)
                    query = query * np.isin(np.arange(m.heads), heads)[:, None]
                yield {"key.gain": key, "query.gain": query}


def _values(m, block):
    g = m.kinds[0].kv_heads
    b, s = m.value_rank, m.heads // g
    for group in range(g):
        heads = range(group * s, group * s + s)
        for N in np.eye(b * b).reshape(-1, b, b):
            here = unit((g, 1, 1), group)
            moved = rows(block, "P", lambda array, N=N, here=here: here * (N @ array))
            yield moved | {"O": np.isin(np.arange(m.heads), heads)[:, None, None] * (block["O"] @ -N)}
    if "P.bias" not in block or m.model.sinks:
        return
    seen = block["O"].reshape(g, s, m.dim, b).sum(1).transpose(1, 0, 2).reshape(m.dim, g * b)
    output = "O.bias" if "O.bias" in block else "D.bias" if m.parallel and "D.bias" in block else None
    if output:
        for i in range(g * b):
            yield {"P.bias": unit(g * b, i).reshape(g, b), output: -seen[:, i]}
    else:
        if m.layer_norm:
            seen = seen - seen.mean(0)
        _, values, right = np.linalg.svd(seen)
        for row in right[int((values > 1e-9).sum()) :]:
            yield {"P.bias": row.reshape(g, b)}


def _perceptron(m, block):
    experts = (m.experts,) if m.experts else ()
    for place in np.ndindex(*experts, m.neurons):
        mask = unit((*experts, m.neurons), *place)
        for part in (["U"] if m.gated and m.activation != "clamped" else []) + ["G"] * (
            m.activation == "relu"
        ):
            moved = rows(block, part, lambda array, mask=mask: array * mask[..., None])
            yield moved | {"D": -block["D"] * mask[..., None, :]}
    if m.experts:
        for i in range(m.dim):
            yield {"R": unit((1, m.dim), 0, i) + np.zeros_like(block["R"])}
        if m.model.router_bias:
            yield {"R.bias": np.ones(m.experts)}
    if m.parallel and "O.bias" in block and "D.bias" in block:
        for i in range(m.dim):
            yield {"O.bias": unit(m.dim, i), "D.bias": -unit(m.dim, i)}


def _writers(m, block):
    if not m.layer_norm:
        return
    for part in ("O", "D"):
        for place in np.ndindex(*block[part].shape[:-2], block[part].shape[-1]):
            *before, i = place
            yield {part: unit(block[part].shape, *before, slice(None), i)}
        if f"{part}.bias" in block:
            yield {f"{part}.bias": np.ones(m.dim)}


def read_by(m):
    """Norms and the matrices that read them alone."""
    attention, perceptron = ["Q", "K", "P"], ["G"] + ["U"] * m.gated + ["R"] * bool(m.experts)
    for l in range(m.layers):
        halves = {f"{l}.attention": attention, f"{l}.perceptron": perceptron}
        if m.model.norms == 1:
            halves = {f"{l}.attention": attention + perceptron}
        for name, parts in halves.items():
            if m.model.place in ("before", "both"):
                yield name, [f"{l}.{part}" for part in parts]
    if m.model.unembedding and not m.tied:
        yield "final", ["W"]


def _norm(m, w, name, readers):
    d = m.dim
    gain, bias = w.get(f"{name}.gain"), w.get(f"{name}.bias")
    p = m.kinds[0].rotary_pairs
    γ = np.ones(d) if gain is None else gain
    if gain is not None:
        for i in range(d):
            moved = {f"{name}.gain": unit(d, i) * gain} | {r: -w[r] * unit(d, i) for r in readers}
            yield moved | ({} if bias is None else {f"{name}.bias": unit(d, i) * bias})
    if not m.layer_norm:
        return
    total = 0.0 if bias is None else (bias / γ).sum()
    if bias is not None:
        for i in range(d):
            moved = {f"{name}.bias": unit(d, i)}
            for r in readers:
                if f"{r}.bias" in w:
                    moved[f"{r}.bias"] = -w[r][..., i]
                else:
                    moved[r] = -w[r][..., i, None] / γ / total
            yield moved
    for r in readers:
        for place in np.ndindex(w[r].shape[:-1]):
            moved = {r: unit(w[r].shape, *place) / γ}
            if f"{r}.bias" in w:
                yield moved | {f"{r}.bias": -total * unit(w[r].shape[:-1], *place)}
            elif bias is None or (r.endswith(".K") and place[-1] >= 2 * p):
                yield moved


def _post(m, w):
    d = m.dim
    names = ["embedding"] + [
        f"{l}.after {half}" for l in range(m.layers) for half in ("attention", "perceptron")
    ]
    for number, name in enumerate(names[:-1]):
        l, perceptron = divmod(number, 2)
        readers = [f"{l}.G"] if perceptron else [f"{l}.{part}" for part in "QKP"]
        written = f"{l}.D.bias" if perceptron else f"{l}.O.bias"
        γ, β = w[f"{name}.gain"], w[f"{name}.bias"]
        for i in range(d):
            moved = {f"{name}.bias": unit(d, i), written: -unit(d, i)}
            yield moved | {f"{r}.bias": -w[r][..., i] for r in readers}
        for r in readers:
            for place in np.ndindex(w[r].shape[:-1]):
                back = -(β / γ).sum() * unit(w[r].shape[:-1], *place)
                yield {r: unit(w[r].shape, *place) / γ, f"{r}.bias": back}


def _ends(m, w):
    d, gained = m.dim, m.final_norm and m.model.gains
    alone = not m.tied or not gained
    tables = ["E"] * (not m.tied) + [name for name in ("positions", "types") if name in w]
    if m.layer_norm:
        for name in ["E"] * alone + [name for name in ("positions", "types") if name in w]:
            for row in range(len(w[name])):
                yield {name: unit(w[name].shape, row)}
        if m.model.embedding_norm and m.model.place != "post":
            yield {"embedding.bias": np.ones(d)}
    for first, second in itertools.pairwise(tables):
        for i in range(d):
            yield {first: unit((1, d), 0, i) + 0 * w[first], second: -unit((1, d), 0, i) + 0 * w[second]}
    if m.model.place != "before" or not alone or m.model.embedding_norm:
        return
    basis = np.eye(d)
    if m.layer_norm:
        basis = np.linalg.qr(np.column_stack([np.ones(d), np.eye(d)[:, 1:]]))[0][:, 1:]
    for i, j in itertools.combinations(range(basis.shape[1]), 2):
        X = np.outer(basis[:, i], basis[:, j]) - np.outer(basis[:, j], basis[:, i])
        moved = {name: w[name] @ X.T for name in ("E", "positions", "types") if name in w}
        for name, array in w.items():
            if name.endswith((".O", ".D")):
                moved[name] = X @ array
            elif name.endswith((".O.bias", ".D.bias")):
                moved[name] = array @ X.T
        for name, readers in read_by(m):
            γ, β = w.get(f"{name}.gain", np.ones(d)), w.get(f"{name}.bias")
            moved |= {r: (w[r] * γ) @ X.T / γ for r in readers}
            if β is not None:
                moved[f"{name}.bias"] = γ * (X @ (β / γ))
        yield moved


def orbit(m, w):
    """The tangents as rows."""
    names = list(w)
    return np.array(
        [flat({n: moved.get(n, np.zeros_like(w[n])) for n in names}, names) for moved in tangents(m, w)]
    )


def compared(name):
    """Parameters, the program's number, the rank of the tangents, the kernel, its gap, and J·tangents."""
    from agattn.checkpoints.whole_model import whole_model

    m = stored(name)
    random = np.random.default_rng(SEEDS.get(name, 0))
    w = general(m, random)
    result = whole_model(m)
    J, T = jacobian(m, w, random, MORE.get(name, 1.5)), orbit(m, w)
    moved = np.linalg.norm(J @ T.T, axis=0) / np.linalg.norm(T, axis=1)
    number = np.linalg.matrix_rank(T, tol=1e-9 * np.linalg.norm(T, 2))
    size, gap = kernel(J)
    unused = m.model.plus * m.dim
    said = result.total - result.upper_bound - unused
    return result.total - unused, said, int(number), size, gap, moved.max() / np.linalg.norm(J, 2)


def main(names):
    if names[:1] == ["proved"]:
        from tests.checkpoints.proved_ranks import table

        for line in table(names[1:] or MODELS):
            print(line, flush=True)
        return
    print("| model | parameters | the program | rank of the tangents | kernel of the Jacobian | gap |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in names or MODELS:
        total, said, number, size, gap, _ = compared(name)
        print(f"| {name} | {total} | {said} | {number} | {size} | 10^{int(np.log10(gap))} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
