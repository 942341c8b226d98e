"""What can be studied: the layer, networks of attention or of any layers, and the protocol of them all."""

from agattn.architectures.composition import Network
from agattn.architectures.jet import Jet
from agattn.architectures.layer import OneTokenLayer, SingleLayer, as_attention, as_layer, one_layer
from agattn.architectures.layers import (
    Attention,
    Bilinear,
    Convolution,
    CrossAttention,
    Linear,
    Perceptron,
    Power,
    Recurrence,
    Skip,
    Sum,
)
from agattn.architectures.network import DeepNetwork
from agattn.architectures.polynomial_map import PolynomialMap
from agattn.architectures.protocol import Architecture, draw_parameters
from agattn.architectures.symmetry import Acted, Symmetry

__all__ = [
    "Acted",
    "Architecture",
    "Attention",
    "Bilinear",
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
