"""Learning coefficients at the weights in files: of one layer, or of every head of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import structs

from agattn.algebra.scalars import TOLERANCE
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.learning_coefficients.learning_coefficients import Parameters, parameters
from agattn.geometry.learning_coefficients.weights_coefficients import (
    AtHead,
    HeadsCoefficients,
    WeightsCoefficient,
    at_weights,
)
from agattn.heads.checkpoints import Checkpoint, refuse_counts
from agattn.heads.weight_files import WeightFile
from agattn.patience import Progress, silent


def of_files(
    files: Sequence[Path],
    *,
    t: int = 2,
    softmax: bool = False,
    tolerance: float = TOLERANCE,
    curve: bool = False,
    heads: int | None = None,
    kv_heads: int | None = None,
    family: str | None = None,
    ignore: Sequence[str] = (),
    progress: Progress = silent,
) -> WeightsCoefficient | HeadsCoefficients:
    """λ at the weights of one layer, or at those of every head of a checkpoint.

    Args:
        files: arrays K and Q or A, with V or W_O and W_V; or a checkpoint.
        t: 1 for one token; otherwise every t ≥ 2 is the same.
        softmax: for softmax heads, t ≥ 2.
        tolerance: of the decisions for floats, above 0 and below 1.
        curve: take λ at every tolerance, too, t ≥ 2.
        heads, kv_heads: how many a layer of a checkpoint has, where no ``config.json`` says it.
        family, ignore: how a ``config.json`` is read, as for :func:`agattn.from_config`.
        progress: called with the head that is next.

    Raises:
        InputError: if a file cannot be read or has no weights, or the tolerance makes no sense.
        UndecidedError: if t = 1 and the rows of K and Q together do not span ℝᵈ, where that matters.
    """
    if curve and t == 1:
        raise InputError("--curve is for t ≥ 2; leave it out, or -t 1")
    file = WeightFile(files)
    names = [name for name in ("A", "K", "Q", "V", "W_O", "W_V") if name in file]
    normalization: Literal["none", "softmax"] = "softmax" if softmax else "none"
    if {"A", "K"} & set(names) and all(len(file.shape(name)) < 3 for name in names):
        refuse_counts(file, heads, kv_heads)
        given = parameters(**{name: file[name] for name in names})
        at = at_weights(given, t=t, softmax=softmax, tolerance=tolerance, curve=curve)
        layer = SingleLayer(given.layer.d, given.layer.d_out, given.layer.a, t)
        return WeightsCoefficient(layer, normalization, at)
    rows: list[AtHead] = []
    for n, head, of_head in _heads(Checkpoint(file, heads, kv_heads, (), family, ignore)):
        progress(f"layer {n}, head {head}")
        at = at_weights(of_head, t=t, softmax=softmax, tolerance=tolerance, curve=curve)
        rows.append(AtHead(**structs.asdict(at), layer=n, head=head))
    return HeadsCoefficients(normalization, tolerance, tuple(rows))


def _heads(checkpoint: Checkpoint) -> Iterable[tuple[int, int, Parameters]]:
    return ((one.layer, one.head, parameters(K=one.K, Q=one.Q, V=one.V)) for one in checkpoint)
