"""The attention of published transformers, from their ``config.json``.

The keys are those of GPT-2 (``n_embd``, ``n_head``, ``n_layer``), of Llama, Mistral and Qwen
(``hidden_size``, ``num_attention_heads``, ``num_key_value_heads``, ``head_dim``, ``num_hidden_layers``),
and of DeepSeek-V2 and V3 (``kv_lora_rank``, ``q_lora_rank``, ``qk_nope_head_dim``, ``v_head_dim``).

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> text = '{"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12}'
>>> with TemporaryDirectory() as folder:
...     path = Path(folder, "config.json")
...     _ = path.write_text(text)
...     found = from_config(path)
>>> print(found)
gpt2: 12 layers of attention of width 768, 12 heads of rank 64
>>> print(found.network)
768×2 → attention 768 (rank 64, heads 12, value rank 64, causal)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from agattn.architectures.composition import Network
from agattn.architectures.layers import Attention
from agattn.calls import refuse_unless, shown
from agattn.errors import InputError
from agattn.files import read_text
from agattn.sheet.data import Cell, Note, Sheet, Table
from agattn.sheet.result import Key, Positive, Result

_NAMES = {"width": ("hidden_size", "n_embd"), "heads": ("num_attention_heads", "n_head")}
_NAMES |= {"layers": ("num_hidden_layers", "n_layer")}
_ROTARY = ("llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe")
_KNOWN = ("gpt2", *_ROTARY, "deepseek_v2", "deepseek_v3")
_EVERYWHERE = "skip connections, perceptrons, normalization layers and embeddings"


@dataclass(frozen=True, repr=False)
class Published(Result, name="config"):
    """The attention of a published transformer: layers of one kind, and what the file has beyond them."""

    model: Key[str, "The `model_type` of the file."]
    dim: Key[Positive, "The width d of all layers."]
    layers: Key[Positive, "The number of layers."]
    heads: Key[Positive, "The heads of a layer."]
    kv_heads: Key[Positive, "The groups of heads that share keys and values."]
    rank: Key[Positive, "The rank a of keys and queries of a head."]
    value_rank: Key[Positive, "The rank b of the values of a head."]
    kv_latent: Key[Positive | None, "The width of the latent of keys and values; null without one."]
    q_latent: Key[Positive | None, "The width of the latent of queries; null without one."]
    rotary: Key[bool, "Whether keys and queries are turned by their positions."]
    left_out: Key[tuple[str, ...], "What the model has, and the layers here have not."]

    @property
    def name(self) -> str:
        """All that defines it, as it is printed."""
        return str(self)

    def layer(
        self, normalization: Literal["none", "softmax"] = "none", rotary: bool | None = None
    ) -> Network:
        """One layer: causal without softmax; with rotary positions by default if the model has them.

        There are two tokens, or three with the causal mask and positions, so that two distances are seen.
        """
        turned = self.rotary if rotary is None else rotary
        causal = normalization == "none"
        attention = Attention(
            self.dim, self.rank, heads=self.heads, value_rank=self.value_rank,
            mask="causal" if causal else "none", rotary=turned, normalization=normalization,
            kv_heads=self.kv_heads if self.kv_heads < self.heads else None,
            kv_latent=self.kv_latent, q_latent=self.q_latent,
        )  # fmt: skip
        return Network((attention,), self.dim, 3 if causal and turned else 2)

    @property
    def network(self) -> Network:
        """One layer without softmax: what stands where an architecture does."""
        return self.layer()

    def summary(self) -> str:
        """The sizes in a line."""
        groups = f" in {self.kv_heads} groups" if self.kv_heads < self.heads else ""
        latents = ((self.kv_latent, "keys and values"), (self.q_latent, "queries"))
        read = " and ".join(f"{width} for {what}" for width, what in latents if width)
        return (
            f"{self.model}: {self.layers} layers of attention of width {self.dim}, {self.heads} heads{groups}"
            f" of rank {self.rank}{', latents of width ' * bool(read)}{read}"
        )

    def sheet(self) -> Sheet:
        """The sizes, and what is left out."""
        names = [one.name for one in fields(self) if one.name != "left_out"]
        values = {name: getattr(self, name) for name in names}
        rows = tuple[tuple[Cell, ...], ...]((name, str(value)) for name, value in values.items() if value)
        left = "\n".join(f"  {one}" for one in self.left_out)
        table = Table(f"Attention of {self.model}", ("key", "value"), rows)
        return Sheet(str(self), (table, Note(f"Left out:\n{left}", apart=False)))


def from_config(path: str | Path) -> Published:
    """The attention of a published transformer, from its ``config.json``.

    Args:
        path: the file. The keys of GPT-2, Llama, Mistral, Qwen, DeepSeek-V2 and V3 are known; other models
            with these keys are read in the same way.

    Raises:
        InputError: if the file is no JSON object, keys are missing, or sizes do not fit.

    See Also:
        :func:`agattn.dimension` of what is found; ``agattn dimension --config`` in a shell.

    >>> import agattn as ag
    >>> found = ag.from_config("examples/grouped-config.json")
    >>> print(found)
    llama: 32 layers of attention of width 4096, 32 heads in 8 groups of rank 128
    """
    refuse_unless(isinstance(path, (str, Path)), "path", path, "the path of a config.json")
    file = Path(path)
    text = read_text(file)
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not JSON: {error}") from None
    if not isinstance(table, dict):
        raise InputError(f"{file} is {shown(table)}; the config.json of a transformer is an object of keys")
    try:
        return _published(table)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _published(table: Mapping[str, Any]) -> Published:
    model = str(table.get("model_type", "no model_type"))
    who = shown(model) if "model_type" in table else "the model"
    compressed = table.get("kv_lora_rank") is not None
    needed = [*_NAMES.values(), *([("qk_nope_head_dim",), ("v_head_dim",)] if compressed else [])]
    missing = [" or ".join(names) for names in needed if not any(name in table for name in names)]
    if missing:
        raise InputError(
            f"{who} lacks {', '.join(missing)}; the keys of GPT-2, Llama, Mistral, Qwen and DeepSeek"
            " are known"
        )
    width, heads, layers = (_size(table, *names) for names in _NAMES.values())
    kv_heads = heads if table.get("num_key_value_heads") is None else _size(table, "num_key_value_heads")
    if heads % kv_heads:
        raise InputError(
            f"num_attention_heads is {heads} and num_key_value_heads is {kv_heads}; the first must be"
            " a multiple of the second"
        )
    if compressed:
        rank, value_rank = _size(table, "qk_nope_head_dim"), _size(table, "v_head_dim")
    else:
        rank = value_rank = _head(table, width, heads)
    rotary = not compressed and (model in _ROTARY or "rope_theta" in table) and rank % 2 == 0
    return Published(
        model, width, layers, heads, heads if compressed else kv_heads, rank, value_rank,
        kv_latent=_size(table, "kv_lora_rank") if compressed else None,
        q_latent=None if table.get("q_lora_rank") is None else _size(table, "q_lora_rank"),
        rotary=rotary, left_out=tuple(_left_out(table, model, rotary)),
    )  # fmt: skip


def _head(table: Mapping[str, Any], width: int, heads: int) -> int:
    """The size of a head: that of the file, or the width divided by the heads."""
    if table.get("head_dim") is not None:
        return _size(table, "head_dim")
    if width % heads:
        raise InputError(f"the width {width} is no multiple of the {heads} heads; give head_dim")
    return width // heads


def _size(table: Mapping[str, Any], *names: str) -> int:
    """The first of these keys that is there, which must be a whole number of at least 1."""
    name = next(name for name in names if name in table)
    value = table[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} is {shown(value)}; it must be a whole number of at least 1")
    return value


def _left_out(table: Mapping[str, Any], model: str, rotary: bool) -> list[str]:
    """What the model has beyond these layers, in words."""
    found = [_EVERYWHERE]
    if model not in _KNOWN:
        found.append(f"whatever is special about {shown(model)}, as its keys are read like those of Llama")
    if model == "gpt2":
        found.append("positions, which are added to the embeddings")
    if model == "gpt2" or model.startswith("qwen2") or table.get("attention_bias"):
        found.append("biases of keys, queries and values")
    if model.startswith("qwen3"):
        found.append("the normalization of keys and queries")
    if rotary:
        found.append("the angles of rotary positions: here they are rational and of infinite order")
    if (turned := table.get("qk_rope_head_dim")) and table.get("kv_lora_rank") is not None:
        found.append(f"{turned} rotary keys, which all heads share, and their queries")
    if table.get("sliding_window") and table.get("use_sliding_window", True):
        found.append(f"the window of {table['sliding_window']} tokens")
    return found
