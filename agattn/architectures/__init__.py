"""What can be studied: the layer and the network, and the protocol that every architecture implements."""

from agattn.architectures.layer import OneTokenLayer, SingleLayer
from agattn.architectures.network import DeepNetwork
from agattn.architectures.protocol import Acted, Architecture, Symmetry, draw_parameters, positive_integer

__all__ = [
    "Acted",
    "Architecture",
    "DeepNetwork",
    "OneTokenLayer",
    "SingleLayer",
    "Symmetry",
    "draw_parameters",
    "positive_integer",
]
