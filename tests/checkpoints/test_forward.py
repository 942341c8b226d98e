"""The function of a stored transformer: what a token sees, and what every array does to it."""

from dataclasses import replace

import numpy as np
import pytest
from decoders import FAMILIES, WITHOUT_ROTARY, decoder
from decoders import TOKENS as COUNT

from agattn.checkpoints.forward import logits, moved
from agattn.errors import InputError

TOKENS = [3, 14, 15, 9, 2, 6]


@pytest.mark.parametrize("family", FAMILIES)
def test_causal_models_do_not_look_ahead(family):
    """A later token changes earlier logits in BERT alone."""
    model = decoder(1, family)
    first, second = logits(model, TOKENS), logits(model, [*TOKENS[:-1], 7])
    assert np.allclose(first[:-1], second[:-1], rtol=0, atol=1e-13) == model.facts.causal
    assert not np.allclose(first[-1], second[-1])


@pytest.mark.parametrize("causal", [True, False])
def test_windows(causal):
    """Through one layer a token sees three: itself and two before it, or one on each side."""
    model = decoder(2, "llama", layers=1, windows=(3,), causal=causal)
    difference = abs(logits(model, TOKENS) - logits(model, [TOKENS[0], TOKENS[1], 8, *TOKENS[3:]])).max(1)
    assert [bool(x > 1e-9) for x in difference] == (
        [False, False, True, True, True, False] if causal else [False, True, True, True, False, False]
    )


def test_positions_that_turn_are_relative():
    """Far from the start a window forgets where it is; learned positions never do."""
    turned = logits(decoder(3, "llama", layers=1, windows=(2,)), [5] * 6)
    assert np.allclose(turned[1], turned[5], rtol=0, atol=1e-13)
    order = [
        logits(decoder(3, "llama", layers=1, pairs=p), t)[-1] for p in (0, 2) for t in ([1, 2, 3], [2, 1, 3])
    ]
    assert np.allclose(order[0], order[1], rtol=0, atol=1e-13)
    assert not np.allclose(order[2], order[3])
    learned = logits(decoder(3, "gpt2"), [5] * 6)
    assert not np.allclose(learned[1], learned[5])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_array_counts(family):
    """Twice an array is another function, but for biases that a softmax or layer norm may not see."""
    model = decoder(4, family)
    before = logits(model, TOKENS)
    for part in model.ends:
        after = replace(model, ends={**model.ends, part: 2 * model.ends[part]})
        assert not np.allclose(before, logits(after, TOKENS)), part
    unseen = {"K.bias"} if family in WITHOUT_ROTARY else set()
    for part in model.blocks[1]:
        blocks = [model.blocks[0], {**model.blocks[1], part: 2 * model.blocks[1][part]}]
        changed = not np.allclose(before, logits(replace(model, blocks=blocks), TOKENS))
        assert changed == (part not in unseen), part


@pytest.mark.parametrize("family", FAMILIES)
def test_moved(family):
    """Every entry moves by u; the same seed moves it the same way, and outputs move in proportion."""
    model = decoder(5, family)
    one, again, other = (moved(model, 1e-6, seed) for seed in (1, 1, 2))
    for before, after in zip([model.ends, *model.blocks], [one.ends, *one.blocks], strict=True):
        for part in before:
            assert np.allclose(abs(after[part] / before[part] - 1), 1e-6, rtol=1e-6), part
    assert np.array_equal(one.blocks[0]["Q"], again.blocks[0]["Q"])
    assert not np.array_equal(one.blocks[0]["Q"], other.blocks[0]["Q"])
    assert not np.allclose(np.sign(one.blocks[0]["Q"] - model.blocks[0]["Q"]), np.sign(model.blocks[0]["Q"]))
    small, large = (logits(moved(model, u, 1), TOKENS) - logits(model, TOKENS) for u in (1e-7, 1e-5))
    assert np.allclose(100 * small, large, rtol=0, atol=1e-2 * abs(large).max())


@pytest.mark.parametrize("tokens", [[], [COUNT], [-1], [0] * 17])
def test_tokens_that_are_none(tokens):
    """A model says which tokens, and how many, it can read."""
    with pytest.raises(InputError, match="tokens"):
        logits(decoder(6, "gpt2"), tokens)
