"""The members that every architecture has, and that all generic computations use.

An architecture is a value: a family of maps X ↦ φ_θ(X) from ℝ^{d_0×t} to ℝ^{d_l×t} with parameters θ. A new
kind of layer is one class with the members of :class:`Architecture`.

>>> from agattn.architectures import SingleLayer
>>> layer = SingleLayer(3, 2, a=1)
>>> dict(layer.shapes), layer.parameters
({'K': (1, 3), 'Q': (1, 3), 'V': (2, 3)}, 12)
>>> [(symmetry.name, symmetry.size) for symmetry in layer.symmetries]
[('GL(a)', 1), ('scaling', 1)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import ClassVar, Protocol

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, RingArithmetic, Size
from agattn.architectures.network import DeepNetwork
from agattn.architectures.symmetry import Symmetry
from agattn.errors import InputError


class Architecture(Protocol):
    """A family of polynomial or normalized maps with parameters; ``str`` gives a line about the family."""

    #: What an architecture of this kind is called, such as ``"layer"``; a model, if it is of no other kind.
    kind: ClassVar[str] = "model"
    #: The options of the command line that give one.
    options: ClassVar[tuple[str, str]] = ("a model file", "ag.Network(layers, dim)")

    @property
    def name(self) -> str:
        """The name that tells the architecture from others of its kind, such as ``"M(3,2,2)"``."""

    @property
    def t(self) -> int:
        """The number of tokens, the columns of X."""

    @property
    def input_shape(self) -> tuple[int, int]:
        """The shape (d_0, t) of X."""

    @property
    def output_shape(self) -> tuple[int, int]:
        """The shape (d_l, t) of φ(X)."""

    @property
    def ambient_dimension(self) -> int | None:
        """The number of coordinates of the neuromanifold; ``None`` where only values are known."""

    @property
    def degree(self) -> int | None:
        """The degree of φ_θ(X) in θ and X together, or an upper bound; ``None`` if it is no polynomial."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The parameters by name, in the order in which their entries are counted, with their shapes."""

    @property
    def parameters(self) -> int:
        """The number of entries of all parameters."""

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The known linear symmetries of θ ↦ φ_θ."""

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """φ_θ on a stack of inputs X, (n, d_0, t), as (n, d_l, t); scalars are the arithmetic's.

        Each parameter has its shape, or a first axis more of length n: one value for each input. Besides the
        arithmetic's operations only sums, differences, ``swapaxes``, ``sum(axis)`` and indices may be used,
        as arrays may be traced (:mod:`agattn.algebra.tracing`).
        """

    def as_network(self) -> DeepNetwork | None:
        """The same maps as a network of attention layers; ``None`` if there is none."""

    def as_json(self) -> Mapping[str, object]:
        """What the documents of all commands say under ``architecture``: all that defines the architecture.

        A document says this of the architecture that was asked about, also where a result was computed of
        another that is the same: {"d", "d_out", "a", "t"} of a layer, {"dims", "ranks", ...} of a network.
        """


def refuse_constant(architecture: Architecture) -> None:
    """Refuse what has no parameters: its functions are one function, about which there is nothing to ask.

    Raises:
        InputError: if there is no parameter.
    """
    if not architecture.shapes:
        raise InputError(f"{architecture} has no parameters; add a layer that has, such as attention")


def has_inputs(architecture: Architecture) -> bool:
    """Whether φ depends on X; a polynomial map without inputs is a map of the parameters alone.

    >>> from agattn.architectures import PolynomialMap, SingleLayer
    >>> has_inputs(SingleLayer(2, 1)), has_inputs(PolynomialMap(lambda s: s[0] * s[1], {"s": 2}))
    (True, False)
    """
    return getattr(architecture, "inputs", True) is not None


def draw_parameters(architecture: Architecture, draw: Callable[[tuple[int, ...]], Array]) -> dict[str, Array]:
    """Parameters whose arrays are what ``draw`` returns for each shape, in their order."""
    return {name: draw(shape) for name, shape in architecture.shapes.items()}


def as_parameters(architecture: Architecture, theta: Array) -> dict[str, Array]:
    """The parameters by name, from rows (..., D) of their entries; each has the same axes in front.

    >>> from agattn.architectures import SingleLayer
    >>> import numpy as np
    >>> numbers = as_parameters(SingleLayer(2, 1, a=1), np.arange(6))
    >>> {name: array.tolist() for name, array in numbers.items()}
    {'K': [[0, 1]], 'Q': [[2, 3]], 'V': [[4, 5]]}
    """
    parameters, start = {}, 0
    for name, shape in architecture.shapes.items():
        stop = start + prod(shape)
        parameters[name] = theta[..., start:stop].reshape((*theta.shape[:-1], *shape))
        start = stop
    return parameters


def as_rows(architecture: Architecture, parameters: Mapping[str, Array]) -> Array:
    """The entries of all parameters, from arrays with the same axes in front: the inverse."""
    rows = []
    for name, shape in architecture.shapes.items():
        values = parameters[name]
        rows.append(values.reshape((*values.shape[: values.ndim - len(shape)], prod(shape))))
    return np.concatenate(rows, axis=-1)


def bounds_on_outputs(architecture: Architecture, bits: float = 0.0) -> Array:
    """The outputs at bounds in place of θ and X, :class:`~agattn.algebra.arithmetic.Size`.

    Args:
        architecture: a polynomial one.
        bits: log₂ of the bound in place of each parameter; in place of each entry of X there is 1.

    Returns:
        An array (1, d_l, t): of each output as a polynomial in θ and X, if all bounds are 1, a bound on the
        sum of the absolute values of its coefficients.
    """
    theta = draw_parameters(architecture, lambda shape: np.full(shape, Size(bits), dtype=object))
    X = np.full((1, *architecture.input_shape), Size(0.0), dtype=object)
    out = architecture.evaluate(RingArithmetic(), theta, X)
    return np.frompyfunc(Size.of, 1, 1)(out)  # also of outputs that are constant


def symmetry_tangents(
    architecture: Architecture,
    parameters: Mapping[str, Array],
    p: int,
    symmetries: Sequence[Symmetry] | None = None,
) -> Array:
    """The tangent vectors of symmetries at parameters modulo p, as rows; columns as in the Jacobian.

    A row is the elementary matrix E_{r,s} of one of the Lie algebras gl(n), or E_{r,s} − E_{s,r} of so(n).
    The known symmetries of the architecture are taken where none are given. The shape is
    (Σ dim of the groups, parameters).
    """
    blocks = []
    for symmetry in architecture.symmetries if symmetries is None else symmetries:
        n = symmetry.size
        block = {name: np.zeros((n, n, *shape)) for name, shape in architecture.shapes.items()}
        for acted in symmetry.on:
            part = parameters[acted.parameter][acted.index]
            moved = block[acted.parameter][(slice(None), slice(None), *acted.index)]
            if acted.axis is None:
                moved += acted.weight * part
                continue
            rows, into = np.moveaxis(part, acted.axis, 0), np.moveaxis(moved, acted.axis, 2)
            for r in range(n):
                if acted.dual:  # -E_{s,r} for all s: row r goes into row s
                    into[r, range(n), range(n)] -= rows[r]
                else:  # E_{r,s} for all s: row s goes into row r
                    into[r, :, r] += rows
        tangents = np.concatenate([a.reshape(n, n, -1) for a in block.values()], axis=2)
        if symmetry.is_orthogonal:
            above = np.triu_indices(n, 1)
            blocks.append((tangents - tangents.swapaxes(0, 1))[above])
        else:
            blocks.append(tangents.reshape(n * n, -1))
    return np.concatenate(blocks) % p if blocks else np.zeros((0, architecture.parameters))
