"""The verbs about weights: where heads lie, and their learning coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.architectures import Architecture, SingleLayer, one_layer
from agattn.calls import shown
from agattn.errors import InputError, UndecidedError
from agattn.geometry.identifiability.fibers import Weights
from agattn.patience import Progress, silent

if TYPE_CHECKING:
    from agattn.geometry.learning_coefficients.brackets import Bracket
    from agattn.geometry.learning_coefficients.learning_coefficients import (
        LearningCoefficient,
        LearningCoefficients,
    )
    from agattn.geometry.learning_coefficients.weights_coefficients import (
        HeadsCoefficients,
        WeightsCoefficient,
    )
    from agattn.heads.head_geometry import HeadTable

    #: What is said of a layer, and of weights.
    Known = LearningCoefficients | LearningCoefficient | Bracket
    #: The same, and what is said of a file with weights, and of a checkpoint.
    Coefficient = Known | WeightsCoefficient | HeadsCoefficients


def classify(
    weights: Any,
    *,
    heads: int | None = None,
    kv_heads: int | None = None,
    match: str | Sequence[str] = (),
    tolerance: float | None = None,
    family: str | None = None,
    ignore: str | Sequence[str] = (),
    progress: Progress = silent,
) -> HeadTable:
    """Where heads lie on the neuromanifold M(d, d', a): stratum, distances, stable ranks.

    Args:
        weights: as for :func:`agattn.equivalent`; or the path of a checkpoint, or of several files of one.
        heads: heads in each layer of a checkpoint without ``config.json``.
        kv_heads: heads of keys and values, if they are shared.
        match: parts of the names of the tensors that are meant, where a file has several models.
        tolerance: relative, below which singular values count as zero; by default below what the type of the
            weights, such as float32, can tell from zero. Exact weights have exact ranks.
        family: as which family ``config.json`` is read and tensors are packed, where ``model_type`` is not
            known.
        ignore: keys of ``config.json`` that are passed over although they may matter.
        progress: called with the head of a checkpoint that is next.

    Raises:
        InputError: if the weights do not fit or a file cannot be read.

    See Also:
        :func:`agattn.rlct`, :func:`agattn.fiber`, :func:`agattn.tangent_space`; ``agattn classify`` in a
        shell.

    >>> import agattn as ag
    >>> [head] = ag.classify({"K": [[1, 2]], "Q": [[0, 1]], "V": [[1, 0]]})
    >>> head
    M(2,1,1), stratum (1,1,2) (proved): smooth; relative distance to the singular locus 1
    """
    from agattn.geometry.identifiability.equivalence import layers_of
    from agattn.heads import head_geometry

    paths = [weights] if isinstance(weights, (str, Path)) else weights
    if isinstance(paths, Sequence) and paths and all(isinstance(path, (str, Path)) for path in paths):
        from agattn.heads.checkpoints import Checkpoint, refuse_counts
        from agattn.heads.weight_files import WeightFile

        parts = (match,) if isinstance(match, str) else tuple(match)
        passed = (ignore,) if isinstance(ignore, str) else tuple(ignore)
        checkpoint = Checkpoint(WeightFile(list(paths)), heads, kv_heads, parts, family, passed)
        if checkpoint.layout == "plain":
            refuse_counts(checkpoint.file, heads, kv_heads)
        return head_geometry.classify_checkpoint(checkpoint, tolerance, progress)
    return head_geometry.classify_weights(layers_of(weights), tolerance)


def rlct(
    architecture: Architecture | Mapping[str, Any] | Weights | Path,
    weights: Any = None,
    *,
    softmax: bool = False,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> Coefficient:
    """The learning coefficient λ of singular learning theory, and its multiplicity m, exactly.

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
        :func:`agattn.calibrate`, :func:`agattn.classify`, :func:`agattn.train`; ``agattn rlct`` in a shell.

    >>> import agattn as ag
    >>> ag.learning_coefficient(ag.SingleLayer(3, 2, a=2))
    M(3,2,2): expected dim 13 in ℝ³⁶, t ≥ 2: 9 strata, λ from 5/2 to 13/2 (proved)
    >>> ag.learning_coefficient({"K": [[1, 2]], "Q": [[0, 1]], "V": [[2, 4]]})
    λ = 7/4, m = 1 (proved)
    >>> merged = {"K_1": [[[1, 0]], [[1, 0]]], "Q_1": [[[1, 1]], [[1, 1]]], "V_1": [[[1, 2]], [[3, 4]]]}
    >>> ag.learning_coefficient(ag.DeepNetwork((2, 1), (1,), t=2, heads=2), merged)
    λ = 5/2, m = 1 (proved)
    """
    return _coefficient(architecture, weights, softmax, tolerance, seed)


@singledispatch
def _coefficient(model: Any, weights: Any, softmax: bool, tolerance: float, seed: int) -> Coefficient:
    """Of a network or a model: bounds at weights."""
    from agattn.geometry.learning_coefficients.brackets import bracket

    if weights is None:
        one_layer(model, "tables of learning coefficients", "give weights as well")
    if softmax:
        raise InputError("softmax=True is for one layer; a network says its own normalization")
    return bracket(model, _arrays(weights), seed)


@_coefficient.register(SingleLayer)
def _of_layer(layer: SingleLayer, weights: Any, softmax: bool, tolerance: float, seed: int) -> Known:
    """Of a layer: the table of all kinds of weights, or at weights; bounds where no formula is known."""
    from agattn.geometry.learning_coefficients import learning_coefficients as room

    if weights is None:
        return room.learning_coefficients(layer, softmax)
    arrays = _named(_arrays(weights))
    given = room.parameters(**arrays)
    sizes = [(x.d, x.d_out) + ((x.a,) if "K" in arrays else ()) for x in (layer, given.layer)]
    if sizes[0] != sizes[1]:
        raise InputError(f"the weights are those of {given.layer.name}, which is not {layer.name}")
    try:
        return room.weights_coefficient(given, t=layer.t, softmax=softmax, tolerance=tolerance).coefficient
    except UndecidedError:
        if set(arrays) != set(layer.shapes) or not given.weights.is_exact:
            raise
        from agattn.geometry.learning_coefficients.brackets import bracket

        return bracket(layer, arrays, seed)


@_coefficient.register(Mapping)
@_coefficient.register(Weights)
def _of_weights(
    arrays: Mapping[str, Any] | Weights, weights: Any, softmax: bool, tolerance: float, seed: int
) -> LearningCoefficient:
    """At weights of one layer with two tokens or more."""
    if weights is not None:
        raise InputError("weights were given twice; give the architecture, and then its weights")
    from agattn.geometry.learning_coefficients import learning_coefficients as room

    given = room.parameters(**_named(_arrays(arrays)))
    return room.weights_coefficient(given, softmax=softmax, tolerance=tolerance).coefficient


@_coefficient.register(str)
@_coefficient.register(Path)
def _of_file(
    path: str | Path, weights: Any, softmax: bool, tolerance: float, seed: int
) -> WeightsCoefficient | HeadsCoefficients:
    """At the weights in a file, or of each head of a checkpoint."""
    if weights is not None:
        raise InputError("weights were given twice; give the architecture, and then its weights")
    from agattn.heads.coefficients import of_files

    return of_files([Path(path)], softmax=softmax, tolerance=tolerance)


def _arrays(weights: Any) -> Any:
    """Weights of one head by the names of their matrices; others as they are."""
    if not isinstance(weights, Weights):
        return weights
    parts = {"A": weights.A} if weights.K is None else {"K": weights.K, "Q": weights.Q}
    return {**parts, "V": weights.V}


def _named(weights: Any) -> Mapping[str, Any]:
    if not isinstance(weights, Mapping) or not all(isinstance(name, str) for name in weights):
        raise InputError(
            f"the weights are {shown(weights)}; give arrays by their names, such as {{'A': A, 'V': V}}"
        )
    return weights
