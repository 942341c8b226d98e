"""Learning coefficients of layers, and at weights: arrays, those of files, or heads of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import structs

from agattn.algebra.scalars import TOLERANCE
from agattn.architectures import Architecture, SingleLayer, one_layer
from agattn.calls import shown
from agattn.checkpoints.checkpoints import Checkpoint, refuse_counts
from agattn.checkpoints.weight_files import WeightFile
from agattn.errors import InputError, UndecidedError
from agattn.geometry.identifiability.weights import Weights
from agattn.geometry.learning_coefficients.brackets import Bracket, bracket
from agattn.geometry.learning_coefficients.learning_coefficients import (
    AtHead,
    HeadsCoefficients,
    LearningCoefficient,
    LearningCoefficients,
    WeightsCoefficient,
    learning_coefficients,
    parameters,
    weights_coefficient,
)
from agattn.limits import steps, takes

#: What is said of a layer, of weights, of a file with weights, and of a checkpoint.
Coefficient = LearningCoefficients | LearningCoefficient | Bracket | WeightsCoefficient | HeadsCoefficients


def of_files(
    files: Sequence[Path],
    *,
    t: int = 2,
    softmax: bool = False,
    tolerance: float = TOLERANCE,
    curve: bool = False,
    **counts: Any,
) -> WeightsCoefficient | HeadsCoefficients:
    """λ at the weights of one layer, or at those of every head of a checkpoint.

    Args:
        files: arrays K and Q or A, with V or W_O and W_V; or a checkpoint.
        t: 1 for one token; otherwise every t ≥ 2 is the same.
        softmax: for softmax heads, t ≥ 2.
        tolerance: of the decisions for floats, above 0 and below 1.
        curve: take λ at every tolerance, too, t ≥ 2.
        counts: ``heads``, ``kv_heads``, ``match``, ``family``, ``ignore``, ``names`` of a
            :class:`agattn.checkpoints.checkpoints.Checkpoint`.

    Raises:
        InputError: if a file cannot be read or has no weights, or the tolerance makes no sense.
        UndecidedError: if t = 1 and the rows of K and Q together do not span ℝᵈ, where that matters.
    """
    if curve and t == 1:
        raise InputError("--curve is for t ≥ 2; leave it out, or -t 1")
    file = WeightFile(files)
    plain = [name for name in ("A", "K", "Q", "V", "W_O", "W_V") if name in file]
    normalization: Literal["none", "softmax"] = "softmax" if softmax else "none"
    settings: dict[str, Any] = {"t": t, "softmax": softmax, "tolerance": tolerance, "curve": curve}
    if (
        counts.get("names") is None
        and {"A", "K"} & set(plain)
        and all(len(file.shape(name)) < 3 for name in plain)
    ):
        refuse_counts(file, counts.get("heads"), counts.get("kv_heads"))
        given = parameters(**{name: file[name] for name in plain})
        at = weights_coefficient(given, **settings)
        layer = SingleLayer(given.layer.d, given.layer.d_out, given.layer.a, t)
        return WeightsCoefficient(layer, normalization, at)
    rows: list[AtHead] = []
    checkpoint = Checkpoint(file, **counts)
    for head in steps(checkpoint, len(checkpoint), lambda head: head.place):
        at = weights_coefficient(parameters(K=head.K, Q=head.Q, V=head.V), **settings)
        rows.append(AtHead(**structs.asdict(at), layer=head.layer, head=head.head))
    return HeadsCoefficients(normalization, tolerance, tuple(rows))


@takes("seed")
def rlct(
    architecture: Architecture | Mapping[str, Any] | Weights | Path,
    weights: Any = None,
    *,
    softmax: bool = False,
    tolerance: float = 1e-6,
) -> Coefficient:
    """The learning coefficient λ of singular learning theory, and its multiplicity m: exactly, or in bounds.

    Args:
        architecture: a layer; with weights also a network, or anything polynomial with the members of
            :class:`agattn.architectures.protocol.Architecture`; or weights of one layer alone; or the path of
            a checkpoint, or of a file with weights of one layer.
        weights: for a layer as for :func:`agattn.weights`, or with W_O and W_V in place of V; else an array
            for each parameter, such as K_1, Q_1, V_1, ..., taken as the exact numbers that are written.
        softmax: for one softmax head, in place of a lightning one.
        tolerance: relative, below which singular values of one layer's floating weights count as zero.
        seed: of the search for a bracket. It never changes what is proved.

    Returns:
        Of a layer the table of all kinds of weights; at weights of one layer λ, m and the terms of λ; at
        weights of anything else, and where no formula is known for one token, bounds with their reasons,
        which are λ where they meet; of a file with arrays K, Q or A, with V or W_O and W_V, λ and the layer;
        of a checkpoint λ of each head.

    Raises:
        InputError: if weights are missing or do not fit, or a network is no polynomial in them.
        UndecidedError: for one token where the rows of K and Q do not span, and are floats.

    See Also:
        :func:`agattn.classify`, :func:`agattn.train`; ``agattn rlct`` in a shell.

    >>> import agattn as ag
    >>> ag.learning_coefficient(ag.SingleLayer(3, 2, a=2))
    M(3,2,2): dimension 13 in ℝ³⁶, t ≥ 2: 9 strata, λ from 5/2 to 13/2 (proved)
    >>> ag.learning_coefficient({"K": [[1, 2]], "Q": [[0, 1]], "V": [[2, 4]]})
    λ = 7/4, m = 1 (proved)
    >>> merged = {"K_1": [[[1, 0]], [[1, 0]]], "Q_1": [[[1, 1]], [[1, 1]]], "V_1": [[[1, 2]], [[3, 4]]]}
    >>> ag.learning_coefficient(ag.DeepNetwork((2, 1), (1,), t=2, heads=2), merged)
    λ = 5/2, m = 1 (proved)
    """
    settings: dict[str, Any] = {"softmax": softmax, "tolerance": tolerance}
    if isinstance(architecture, Mapping | Weights | str | Path):
        if weights is not None:
            raise InputError("weights were given twice; give the architecture, and then its weights")
        if isinstance(architecture, str | Path):
            return of_files([Path(architecture)], **settings)
        return weights_coefficient(parameters(**_named(architecture)), **settings).coefficient
    if isinstance(architecture, SingleLayer):
        if weights is None:
            return learning_coefficients(architecture, softmax)
        return _at_weights(architecture, _named(weights), settings)
    if weights is None:
        one_layer(architecture, "tables of learning coefficients", "give weights as well")
    if softmax:
        raise InputError("softmax=True is for one layer; a network says its own normalization")
    return bracket(architecture, _named(weights))


def _at_weights(layer: SingleLayer, arrays: Mapping[str, Any], settings: dict[str, Any]) -> Coefficient:
    """At weights of a layer; bounds where no formula is known."""
    given = parameters(**arrays)
    sizes = [(x.d, x.d_out) + ((x.a,) if "K" in arrays else ()) for x in (layer, given.layer)]
    if sizes[0] != sizes[1]:
        raise InputError(f"the weights are those of {given.layer.name}, which is not {layer.name}")
    try:
        return weights_coefficient(given, t=layer.t, **settings).coefficient
    except UndecidedError:
        if set(arrays) != set(layer.shapes) or not given.weights.is_exact:
            raise
        return bracket(layer, arrays)


def _named(weights: Any) -> Mapping[str, Any]:
    """Arrays by their names."""
    if isinstance(weights, Weights):
        parts = {"A": weights.A} if weights.K is None else {"K": weights.K, "Q": weights.Q}
        return {**parts, "V": weights.V}
    if not isinstance(weights, Mapping) or not all(isinstance(name, str) for name in weights):
        raise InputError(
            f"the weights are {shown(weights)}; give arrays by their names, such as {{'A': A, 'V': V}}"
        )
    return weights
