"""What can be studied: the layer, networks of attention or of any layers, and the protocol of them all."""

from agattn.architectures.composition import Network
from agattn.architectures.layer import OneTokenLayer, SingleLayer
from agattn.architectures.layers import Attention, Convolution, Linear, Perceptron, Power, Skip, Sum
from agattn.architectures.network import DeepNetwork
from agattn.architectures.polynomial_map import PolynomialMap
from agattn.architectures.protocol import Acted, Architecture, Symmetry, draw_parameters, positive_integer

__all__ = [
    "Acted",
    "Architecture",
    "Attention",
    "Convolution",
    "DeepNetwork",
    "Linear",
    "Network",
    "OneTokenLayer",
    "Perceptron",
    "PolynomialMap",
    "Power",
    "SingleLayer",
    "Skip",
    "Sum",
    "Symmetry",
    "draw_parameters",
    "positive_integer",
]
