"""Hypotheses that several claims share."""

from __future__ import annotations

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.claims.claim import Hypothesis

TWO_TOKENS = Hypothesis[Architecture]("t ≥ 2", lambda architecture: architecture.t >= 2)
NOT_A_PRODUCT = Hypothesis[SingleLayer]("a > 1 or d' > 1", lambda layer: layer.a > 1 or layer.d_out > 1)
WIDE = Hypothesis[SingleLayer]("d ≥ 2", lambda layer: layer.d >= 2)
SECTION_3_2 = (TWO_TOKENS, NOT_A_PRODUCT, WIDE)

LIGHTNING = Hypothesis[DeepNetwork]("no normalization", lambda network: network.is_lightning)
NORMALIZED = Hypothesis[DeepNetwork]("a normalization", lambda network: not network.is_lightning)
INJECTIVE = Hypothesis[DeepNetwork](
    "a normalizer that is injective near 0",
    lambda network: network.is_lightning or network.first_degree % 2 == 1,
)
SOFTMAX = Hypothesis[DeepNetwork]("softmax", lambda network: network.normalization == "softmax")
ONE_LAYER = Hypothesis[DeepNetwork]("one layer", lambda network: network.depth == 1)
DEEP = Hypothesis[DeepNetwork]("l ≥ 2", lambda network: network.depth >= 2)
ONE_HEAD = Hypothesis[DeepNetwork]("one head", lambda network: set(network.heads_by_layer) == {1})
ANY_VALUES = Hypothesis[DeepNetwork]("V_i of any rank", lambda network: network.value_rank is None)
NO_SKIP = Hypothesis[DeepNetwork]("no skip connections", lambda network: not network.skip)
PLAIN = (LIGHTNING, ONE_HEAD, NO_SKIP)
