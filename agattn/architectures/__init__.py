"""What can be studied: the layer, networks of attention or of any layers, and the protocol of them all."""

from importlib import import_module
from typing import TYPE_CHECKING

from agattn.architectures.layer import OneTokenLayer, SingleLayer, as_attention, as_layer, one_layer
from agattn.architectures.network import DeepNetwork
from agattn.architectures.protocol import Architecture, draw_parameters
from agattn.architectures.symmetry import Acted, Symmetry

if TYPE_CHECKING:
    from agattn.architectures.composition import Network
    from agattn.architectures.jet import Jet
    from agattn.architectures.layers import (
        Attention,
        Convolution,
        CrossAttention,
        Linear,
        Perceptron,
        Power,
        Recurrence,
        Skip,
        Sum,
    )
    from agattn.architectures.polynomial_map import PolynomialMap

_LATER = {"Jet": "jet", "Network": "composition", "PolynomialMap": "polynomial_map"} | dict.fromkeys(
    (
        "Attention",
        "Convolution",
        "CrossAttention",
        "Linear",
        "Perceptron",
        "Power",
        "Recurrence",
        "Skip",
        "Sum",
    ),
    "layers",
)

__all__ = [
    "Acted",
    "Architecture",
    "Attention",
    "Convolution",
    "CrossAttention",
    "DeepNetwork",
    "Jet",
    "Linear",
    "Network",
    "OneTokenLayer",
    "Perceptron",
    "PolynomialMap",
    "Power",
    "Recurrence",
    "SingleLayer",
    "Skip",
    "Sum",
    "Symmetry",
    "as_attention",
    "as_layer",
    "draw_parameters",
    "one_layer",
]


def __getattr__(name: str) -> object:
    """Import what is not of attention alone when it is first asked for."""
    if name in _LATER:
        return getattr(import_module(f"agattn.architectures.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
