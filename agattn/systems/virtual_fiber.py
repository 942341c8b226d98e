"""The fiber of a deep lightning network over its virtual weights, as a problem: Theorem 3.7, globally."""

from __future__ import annotations

from agattn.architecture import DeepNetwork
from agattn.errors import InputError
from agattn.geometry.virtual_point import random_virtual_weights
from agattn.systems.problem import Kind, Problem, Result, matrix


def virtual_fiber(network: DeepNetwork, seed: int) -> Problem:
    """All (M', L') with the same function as (M, L) at random integer weights of the network.

    A component consists of rescalings of (M, L) exactly if the 2 × 2 minors of (M'_i | M_i) and (L' | L), as
    pairs of vectors, vanish on it.

    Raises:
        InputError: if the network has several heads, skip connections or a normalization: then it is not a
            function of virtual weights.
    """
    if refusal := no_virtual_weights(network):
        raise InputError(f"virtual-fiber is about {refusal}")
    M, L = random_virtual_weights(network, seed)
    return Problem(
        "virtual-fiber",
        f"All virtual weights with the same function, for the network {str(network).split(', t =')[0]}",
        "Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Theorem 3.7",
        network,
        0,
        (
            Result("dimension", Kind.INTEGER, "dimension of the fiber"),
            Result("components", Kind.INTEGER, "how many components follow"),
            Result("component-dimension", Kind.INTEGER, "dimension of a component", per_item="components"),
            Result(
                "rescaling", Kind.INTEGER, "1 if all its points are rescalings, else 0", per_item="components"
            ),
        ),
        virtual_weights=tuple(matrix(m.tolist()) for m in (*M, L)),
        options={"seed": seed},
    )


def no_virtual_weights(network: DeepNetwork) -> str:
    """Which networks virtual weights are for, if not for this one; else an empty string."""
    if not network.is_lightning or network.skip or set(network.heads_by_layer) != {1}:
        return "lightning networks with one head and without skip connections"
    return ""
