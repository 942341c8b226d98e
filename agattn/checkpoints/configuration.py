"""The facts of a whole transformer, from its ``config.json``: all that is no weight.

Which keys say what is said in ``families.toml``; the angles of rotary positions are computed here. A key that
makes another function than the one that is read is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from agattn.calls import is_number, refuse_unless, shown
from agattn.checkpoints.families import Storage, boolean, common, wholes
from agattn.checkpoints.published import Published
from agattn.checkpoints.stored import Facts
from agattn.errors import InputError


class Configuration:
    """The keys of a configuration, as facts."""

    def __init__(self, table: Mapping[str, Any], whole: Storage, published: Published) -> None:
        self.table, self.own = table, whole.facts
        self.width, self.layers, self.size = published.dim, published.layers, published.rank
        self.pairs, self.causal = published.kinds[0].rotary_pairs, published.causal

    def value(self, role: str, otherwise: Any = None) -> tuple[str, Any]:
        """The key that says it, and what it says: ``None`` for null."""
        entry = self.own.get(role, otherwise)
        if not isinstance(entry, Mapping):
            return role, entry
        keys = [entry["key"]] if isinstance(entry["key"], str) else list(entry["key"])
        key = next((key for key in keys if key in self.table), keys[0])
        return key, self.table.get(key, entry.get("default"))

    def number(self, role: str) -> float:
        """A number of at least 0, which null and no key mean."""
        key, value = self.value(role)
        if value is None:
            return 0.0
        refuse_unless(is_number(value) and float(value) >= 0, key, value, "a number of at least 0")
        return float(value)

    def switch(self, role: str, default: bool = False) -> bool:
        """What is true or false."""
        return boolean(*self.value(role, default))

    def facts(self) -> Facts:
        """All of them."""
        key, name = self.value("activation")
        if name not in common().activations:
            known = ", ".join(common().activations)
            raise InputError(
                f"{key} is {shown(name)}, which is no activation that is read; it may be {known}"
            )
        scale = self.number("query_scalar") or float(self.size)
        turning = [self._rope(kind) for kind in self.kinds] if self.pairs else []
        if len({factor for _, factor in turning}) > 1:
            raise InputError("layers differ in the factor of what turns, which is not read")
        return Facts(
            norm=self.own["norm"],
            eps=self.number("eps"),
            place=self.own["place"],
            parallel=self.switch("parallel"),
            causal=self.causal,
            activation=common().activations[name],
            gated=self.switch("gated"),
            qk_norm=self.own.get("qk_norm", ""),
            tied=self.switch("tied"),
            embedding_scale=math.sqrt(self.width) if self.switch("root_of_width") else 1.0,
            score_scale=scale**-0.5 if self.switch("scaled", default=True) else 1.0,
            score_cap=self.number("score_cap"),
            logit_cap=self.number("logit_cap"),
            logit_scale=1.0,
            windows=self.windows(),
            angles=tuple(angles for angles, _ in turning),
            turning_scale=turning[0][1] if turning else 1.0,
        )

    @cached_property
    def kinds(self) -> list[str]:
        """Of each layer whether its attention is full or sliding."""
        listed = self.table.get("layer_types")
        if listed is not None and self.own.get("window") is not None:
            for kind in listed:
                if kind not in ("full_attention", "sliding_attention"):
                    raise InputError(f"layer_types has {shown(kind)}, which is not read as a whole")
            return list(listed)
        if not self.number("window") or not self.switch("window_if", default=True):
            return ["full_attention"] * self.layers
        period, first = self.number("full_period"), self.number("full_layers")
        return [
            "full_attention" if n < first or (period and (n + 1) % period == 0) else "sliding_attention"
            for n in range(self.layers)
        ]

    def windows(self) -> tuple[int, ...]:
        """Of each layer how many tokens a token sees; 0 for all."""
        window = int(self.number("window")) if "sliding_attention" in self.kinds else 0
        if "sliding_attention" in self.kinds and not window:
            raise InputError("layer_types has sliding_attention, and there is no sliding_window")
        return tuple(window if kind == "sliding_attention" else 0 for kind in self.kinds)

    def _rope(self, kind: str) -> tuple[tuple[float, ...], float]:
        """The angles in a layer, and the factor of what turns."""
        table = self.table.get("rope_parameters") or self.table.get("rope_scaling") or {}
        local = "local_theta" in self.own and kind == "sliding_attention"
        if isinstance(table.get(kind), Mapping):
            table = table[kind]
        elif local:
            table = {}
        theta = table.get("rope_theta") or self.number("local_theta" if local else "theta")
        return angles(table, self.pairs, float(theta), self.table.get("max_position_embeddings"))


def angles(
    rope: Mapping[str, Any], pairs: int, theta: float, positions: int | None = None
) -> tuple[tuple[float, ...], float]:
    r"""The angles by which pairs turn from a token to the next, and the factor of what turns.

    Pair f of p turns by :math:`θ^{-f/p}`, which ``rope_scaling`` makes smaller: divided by a factor
    (``linear``), divided where a turn takes longer than some tokens (``llama3``), or by a ramp (``yarn``).

    Raises:
        InputError: if they are of another type, or what the type needs is missing.

    >>> angles({"rope_type": "linear", "factor": 2.0}, 2, 100.0)
    ((0.5, 0.05), 1.0)
    """
    kind = rope.get("rope_type", rope.get("type", "default"))
    plain = theta ** (-np.arange(pairs) / pairs)

    def number(name: str, default: float | None = None) -> float:
        value = default if rope.get(name) is None else rope[name]
        refuse_unless(is_number(value), f"{name} of rope_scaling", value, "a number")
        return float(value)  # type: ignore[arg-type]  # it is a number

    turning = 1.0
    if kind == "default":
        result = plain
    elif kind == "linear":
        result = plain / number("factor")
    elif kind == "llama3":
        low, high, old = (
            number(name)
            for name in ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
        )
        turns = old * plain / (2 * math.pi)
        kept = np.clip((turns - low) / (high - low), 0, 1)
        result = plain * (kept + (1 - kept) / number("factor"))
    elif kind == "yarn":
        factor, old = number("factor"), number("original_max_position_embeddings", positions)
        ends = [
            2 * pairs * math.log(old / (2 * math.pi * number(name, default))) / (2 * math.log(theta))
            for name, default in (("beta_fast", 32.0), ("beta_slow", 1.0))
        ]
        if rope.get("truncate", True):
            ends = [math.floor(ends[0]), math.ceil(ends[1])]
        start, end = max(ends[0], 0), min(ends[1], 2 * pairs - 1)
        ramp = np.clip((np.arange(pairs) - start) / ((end - start) or 0.001), 0, 1)
        result = plain * (1 - ramp + ramp / factor)
        scales = [
            1.0 if factor <= 1 else 0.1 * number(name, 1.0) * math.log(factor) + 1.0
            for name in ("mscale", "mscale_all_dim")
        ]
        both = bool(rope.get("mscale") and rope.get("mscale_all_dim"))
        alone = 1.0 if factor <= 1 else 0.1 * math.log(factor) + 1.0
        turning = number("attention_factor", scales[0] / scales[1] if both else alone)
    else:
        raise InputError(
            f"rope_type is {shown(kind)}, whose angles are not read; those of default, linear, llama3 and"
            " yarn are"
        )
    return tuple(result.tolist()), turning


def whole_of(table: Mapping[str, Any]) -> Storage:
    """How a model with these keys is stored.

    Raises:
        InputError: if its family is not read as a whole.
    """
    kind = table.get("model_type")
    if kind not in wholes():
        raise InputError(f"model_type is {shown(kind)}; whole models are read of {', '.join(wholes())}")
    return wholes()[str(kind)]


def refuse_keys(table: Mapping[str, Any]) -> None:
    """Refuse keys that make another function.

    Raises:
        InputError: if there is one.
    """
    for key, harmless in common().unless.items():
        value = table.get(key)
        if value is None or value in harmless:
            continue
        if key == "quantization_config" and isinstance(value, Mapping):
            method = value.get("quant_method", "unknown")
            raise InputError(
                f"the weights are quantized ({method}), which is not read; save the model in float32, float16"
                " or bfloat16"
            )
        raise InputError(f"{key} is {shown(value)}; whole models with it are not read")
