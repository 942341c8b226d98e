"""The group of a small model without softmax, norms and roots, as tangents over any field.

Such a model is a polynomial, which ``evaluate`` in ``redundancy.py`` computes. It has more rewrites than the
stored model: linear maps of the residual stream in place of orthogonal ones, translations of the stream
between any two halves of blocks, linear maps among the heads that share keys and values, factors of what is
written against the gain behind it. It also has fewer: no bias of keys or values is invisible.
"""

import itertools

import numpy as np


def unit(shape, *index):
    """The array of ints with the entry 1 at an index."""
    array = np.zeros(shape, dtype=object)
    array[index] = 1
    return array


def score_moves(a, p):
    """What moves keys and queries of a rows together and keeps scores: as pairs of matrices.

    Complex numbers on each of the first p pairs of rows, c on keys and 1/c̄ on queries; on the rows that do
    not turn N on keys and −Nᵀ on queries.
    """
    for f in range(p):
        same, turn = np.zeros((a, a), dtype=object), np.zeros((a, a), dtype=object)
        same[f, f] = same[p + f, p + f] = 1
        turn[f, p + f], turn[p + f, f] = -1, 1
        yield same, -same
        yield turn, turn
    for i, j in itertools.product(range(2 * p, a), repeat=2):
        N = unit((a, a), i, j)
        yield N, -N.T


def rows(arrays, part, change):
    """A change of rows (before the last axis) of a matrix, and the same of its bias."""
    moved = {part: change(arrays[part])}
    if f"{part}.bias" in arrays:
        moved[f"{part}.bias"] = change(arrays[f"{part}.bias"][..., None])[..., 0]
    return moved


def tangents(m, w, readers):
    """The directions of the group at w, one by one, as the arrays that move; readers: those of each norm."""
    group = _Group(m, w, readers)
    yield from group.stream()
    yield from group.translations()
    yield from group.norms()
    for l in range(m.layers):
        yield from group.attention(l)
        yield from group.perceptron(l)


class _Group:
    def __init__(self, m, w, readers):
        self.m, self.w, self.readers, self.unity = m, w, readers, w["E"][0, 0] ** 0
        self.tables = [name for name in ("E", "positions", "types") if name in w]

    def gain(self, name):
        return self.w.get(f"{name}.gain", np.full(self.m.dim, self.unity))

    def columns(self, names, i, sign):
        """The column i of matrices, added or subtracted."""
        return {name: sign * self.w[name] * unit(self.m.dim, i) for name in names}

    def writers(self, l, half):
        """The matrix that a half of a block writes with, and its bias."""
        part = f"{l}.{'O' if half == 'attention' else 'D'}"
        return part, f"{part}.bias"

    # The residual stream.

    def stream(self):
        """x → Rx, so that writers W become RW and readers WΓ become WΓR⁻¹."""
        m, d = self.m, self.m.dim
        if m.model.place == "post":
            yield from self.factors_of_sums()
            return
        first, last = self.gain("embedding"), self.gain("final")
        for i, j in itertools.product(range(d), repeat=2):
            N, of_gain = unit((d, d), i, j), {}
            if m.tied and i < j:
                # E becomes EMᵀ, M = Γ₀⁻¹NΓ₀, at both ends: MᵀΓ + ΓN = 0 but for what Γ itself changes.
                N[j, i] = -first[j] * last[i] / (first[i] * last[j])
            elif m.tied and (i > j or "final.gain" not in self.w):
                continue
            elif m.tied:
                of_gain = {"final.gain": -2 * last * unit(d, i)}
            yield self.moved_stream(N, first) | of_gain

    def moved_stream(self, N, first):
        """x → x + Nx in all arrays; the first gain stands behind the embedding."""
        m, w = self.m, self.w
        M = N * first / first[:, None]
        moved = {name: w[name] @ M.T for name in self.tables}
        if "embedding.bias" in w:
            moved["embedding.bias"] = N @ w["embedding.bias"]
        for l, half in itertools.product(range(m.layers), ("attention", "perceptron")):
            part, bias = self.writers(l, half)
            behind = self.gain(f"{l}.after {half}")
            within = N * behind / behind[:, None]
            moved[part] = within @ w[part]
            if bias in w:
                moved[bias] = w[bias] @ within.T
        readers = self.readers
        if m.model.place == "after":
            readers = readers | {f"{l}.none": self.of_block(l) for l in range(m.layers)}
        for name, parts in readers.items():
            γ = self.gain(name)
            moved |= {part: -(w[part] * γ) @ N / γ for part in parts}
            if f"{name}.bias" in w:
                moved[f"{name}.bias"] = γ * (N @ (w[f"{name}.bias"] / γ))
        if m.tied and "final.bias" in w:
            moved["final.bias"] = -M.T @ w["final.bias"]
        return moved

    def of_block(self, l):
        """What reads the stream, where no norm stands before a block."""
        return [f"{l}.{part}" for part in "QKPGUR" if f"{l}.{part}" in self.w]

    def segments(self):
        """Of post-norm models: the norm before a half of a block, that after it, what reads, what writes."""
        halves = list(itertools.product(range(self.m.layers), ("attention", "perceptron")))
        before = ["embedding"] + [f"{l}.after {half}" for l, half in halves]
        for name, following, (l, half) in zip(before, before[1:], halves, strict=False):
            parts = ["Q", "K", "P"] if half == "attention" else ["G"]
            yield name, following, [f"{l}.{part}" for part in parts], self.writers(l, half)

    def factors_of_sums(self):
        w, d = self.w, self.m.dim
        for i in range(d):
            mask = unit(d, i)
            yield self.columns(self.tables, i, 1) | {"embedding.gain": -w["embedding.gain"] * mask}
            for name, following, readers, (writer, bias) in self.segments():
                moved = {f"{name}.{part}": w[f"{name}.{part}"] * mask for part in ("gain", "bias")}
                moved |= self.columns(readers, i, -1) | {bias: w[bias] * mask}
                moved[writer] = w[writer] * mask[:, None]
                yield moved | {f"{following}.gain": -w[f"{following}.gain"] * mask}

    # Translations.

    def translations(self):
        m, w, d = self.m, self.w, self.m.dim
        tables = self.tables[m.tied :]
        for i in range(d):
            for first, second in itertools.pairwise(tables):
                yield self.shifted(first, i, 1) | self.shifted(second, i, -1)
        if m.model.place == "post":
            for i in range(d):
                back = -self.gain("embedding") * unit(d, i)
                yield self.shifted("E", i, 1) | {"embedding.bias": back}
                for name, following, readers, (_, bias) in self.segments():
                    moved = {f"{name}.bias": unit(d, i), bias: -unit(d, i)}
                    yield moved | {f"{part}.bias": -w[part][..., i] for part in readers}
                    yield {bias: unit(d, i), f"{following}.bias": -self.gain(following) * unit(d, i)}
        elif m.norm_biases and m.model.place == "before":
            yield from self.translations_between_halves(tables)

    def shifted(self, table, i, sign):
        return {table: sign * unit((1, self.m.dim), 0, i) + 0 * self.w[table]}

    def translations_between_halves(self, tables):
        """x + c between two halves: one writes it, the next takes it back, as the biases of norms do.

        What is written without a bias has no part in it, and both segments have one c.
        """
        m, w, d = self.m, self.w, self.m.dim
        every = ["attention", "perceptron"]
        steps = [[(l, half) for half in every] for l in range(m.layers)]
        if not m.parallel:
            steps = [[step] for pair in steps for step in pair]
        written = [next((b for step in both if (b := self.writers(*step)[1]) in w), None) for both in steps]
        norms = [[f"{l}.{half}" for l, half in both if f"{l}.{half}" in self.readers] for both in steps]
        start = "embedding.bias" if "embedding.bias" in w else tables[0] if tables else None
        groups = [[0]]
        for number, bias in enumerate(written, 1):
            groups += [[number]] if bias else []
            groups[-1] += [] if bias else [number]
        for group, i in itertools.product(groups, range(d)):
            before = start if group[0] == 0 else written[group[0] - 1]
            if before is None:
                continue
            moved = {before: unit(d, i)} if before.endswith("bias") else self.shifted(before, i, 1)
            if group[-1] < len(written):
                moved[written[group[-1]]] = -unit(d, i)
            for name in [name for number in group for name in [*norms, ["final"]][number]]:
                moved[f"{name}.bias"] = -self.gain(name) * unit(d, i)
            yield moved

    # Norms, which are γ ⊙ x + β here.

    def norms(self):
        m, w, d = self.m, self.w, self.m.dim
        for (name, readers), i in itertools.product(self.readers.items(), range(d)):
            if f"{name}.gain" in w:
                moved = {f"{name}.gain": w[f"{name}.gain"] * unit(d, i)} | self.columns(readers, i, -1)
                if f"{name}.bias" in w:
                    moved[f"{name}.bias"] = w[f"{name}.bias"] * unit(d, i)
                yield moved
            if f"{name}.bias" in w and all(f"{part}.bias" in w for part in readers):
                yield {f"{name}.bias": unit(d, i)} | {f"{part}.bias": -w[part][..., i] for part in readers}
        if m.model.place in ("after", "both"):
            for l, half, i in itertools.product(range(m.layers), ("attention", "perceptron"), range(d)):
                name, (part, _) = f"{l}.after {half}", self.writers(l, half)
                yield {f"{name}.gain": w[f"{name}.gain"] * unit(d, i), part: -w[part] * unit(d, i)[:, None]}
        if m.model.embedding_norm and m.model.place != "post":
            for i in range(d):
                moved = self.columns(["E"], i, -1) | {"embedding.gain": w["embedding.gain"] * unit(d, i)}
                if m.tied:
                    moved |= {f"final.{part}": w[f"final.{part}"] * unit(d, i) for part in ("gain", "bias")}
                yield moved

    # Attention.

    def attention(self, l):
        m, w = self.m, self.w
        g, p = m.kinds[0].kv_heads, m.kinds[0].rotary_pairs
        a, b, s = m.rank, m.value_rank, m.heads // g
        Q, K, P, O = (f"{l}.{part}" for part in "QKPO")
        for group in range(g):
            heads = range(group * s, group * s + s)

            def scores(of_keys, of_queries, group=group, heads=heads):
                return self.changed(l, K, of_keys, [group]) | self.changed(l, Q, of_queries, heads)

            yield from itertools.starmap(scores, score_moves(a, p))
            for i, j in itertools.product(range(b), repeat=2):
                N = unit((b, b), i, j)
                moved = self.changed(l, P, N, [group])
                moved[O] = np.zeros_like(w[O])
                for h in heads:
                    moved[O][h] = -w[O][h] @ N
                yield moved
            if p or m.positions:  # not ALiBi
                for h, k in itertools.product(heads, repeat=2):
                    yield self.exchanged(l, h, k)
        if m.parallel and f"{O}.bias" in w and f"{l}.D.bias" in w:
            for i in range(m.dim):
                yield {f"{O}.bias": unit(m.dim, i), f"{l}.D.bias": -unit(m.dim, i)}
        yield from self.gains_of_keys(l)

    def scale(self, l, part):
        """The gains behind queries or keys, for each head."""
        name = {f"{l}.Q": "query", f"{l}.K": "key"}.get(part)
        gain = self.w.get(f"{l}.{name}.gain", np.full(self.w[part].shape[1], self.unity))
        return np.broadcast_to(gain, (len(self.w[part]), gain.shape[-1]))

    def changed(self, l, part, N, members):
        """Γ⁻¹NΓ times the rows of some heads."""

        def change(array):
            moved = np.zeros_like(array)
            for h in members:
                γ = self.scale(l, part)[h][:, None]
                moved[h] = N @ (array[h] * γ) / γ
            return moved

        return rows(self.w, part, change)

    def exchanged(self, l, h, k):
        """Q_h + cQ_k, O_k − cO_h: of heads with the same keys and values only Σ O_h ⊗ Q_h counts."""
        O = f"{l}.O"
        of_outputs = np.zeros_like(self.w[O])
        of_outputs[k] = -self.w[O][h]
        γ = self.scale(l, f"{l}.Q")

        def change(array):
            moved = np.zeros_like(array)
            moved[h] = array[k] * (γ[k] / γ[h])[:, None]
            return moved

        return rows(self.w, f"{l}.Q", change) | {O: of_outputs}

    def gains_of_keys(self, l):
        for part, name in (("Q", "query"), ("K", "key")):
            gain = self.w.get(f"{l}.{name}.gain")
            for index in np.ndindex(*np.shape(gain) if gain is not None else (0,)):
                mask = unit(gain.shape, *index)
                moved = rows(self.w, f"{l}.{part}", lambda array, mask=mask: -array * mask[..., None])
                yield moved | {f"{l}.{name}.gain": gain * mask}

    # Neurons and experts.

    def perceptron(self, l):
        m, w = self.m, self.w
        D, experts = f"{l}.D", (m.experts,) if m.experts else ()
        for index in np.ndindex(*experts, m.neurons) if m.gated else ():
            mask = unit((*experts, m.neurons), *index)
            moved = rows(self.w, f"{l}.U", lambda array, mask=mask: array * mask[..., None])
            yield moved | {D: -w[D] * mask[..., None, :]}
        for expert in range(m.experts):
            mask = unit(m.experts, expert)
            moved = rows(self.w, f"{l}.R", lambda array, mask=mask: array * mask[:, None])
            moved[D] = -w[D] * mask[:, None, None]
            yield moved | ({f"{D}.bias": -w[f"{D}.bias"] * mask[:, None]} if f"{D}.bias" in w else {})
