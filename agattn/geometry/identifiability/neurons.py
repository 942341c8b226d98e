"""Neurons of bilinear layers: the products that a layer adds up, and where its function determines these.

A bilinear layer is Σ_i D_i (g_i x)(u_i x), with rows g_i, u_i of G, U and columns D_i of D. So the function
of the layer is the tensor Σ_i D_i ⊗ (g_iᵀu_i + u_iᵀg_i), and *neuron* i is one of its terms. The theorems on
the page of proofs on bilinear layers say when general weights with one function have the same terms in
another order: then they differ by two scales of each neuron, exchanges of g_i and u_i, and a permutation.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

from agattn.architectures import Architecture, Bilinear, Network

#: The names of the theorems, and of the places in the documentation where their proofs are.
NEURONS, FEW_NEURONS = "agattn.bilinear-neurons", "agattn.bilinear-few-neurons"


class NeuronTerms(NamedTuple):
    """Functions of the weights of a bilinear layer, as text.

    Attributes:
        layer: its number.
        each: the term of every neuron.
        total: their sum, twice the coefficients of the layer.
    """

    layer: str
    each: str
    total: str


def terms(architecture: Architecture) -> list[NeuronTerms]:
    """Of each bilinear layer of a network the terms of its neurons, and their sum.

    >>> for text in terms(Network([Bilinear(2, 3)], dim=4))[0]:
    ...     print(text)
    1
    D_1[:,i] ⊗ (G_1[i,:]^T U_1[i,:] + U_1[i,:]^T G_1[i,:])
    sum_i D_1[:,i] ⊗ (G_1[i,:]^T U_1[i,:] + U_1[i,:]^T G_1[i,:])
    """
    listed = []
    for step in architecture.places if isinstance(architecture, Network) else ():
        if isinstance(step.layer, Bilinear):
            G, U, D = (step.names[letter] for letter in "GUD")
            each = f"{D}[:,i] ⊗ ({G}[i,:]^T {U}[i,:] + {U}[i,:]^T {G}[i,:])"
            total = f"sum_i {each}" if step.layer.neurons > 1 else each
            listed.append(NeuronTerms(step.label, each, total))
    return listed


def alone(architecture: Architecture) -> Bilinear | None:
    """The bilinear layer that is all of a network; ``None`` of anything else."""
    layers = architecture.layers if isinstance(architecture, Network) else ()
    return layers[0] if len(layers) == 1 and isinstance(layers[0], Bilinear) else None


def neurons_determined(architecture: Architecture) -> str | None:
    """The theorem by which the function of general weights of one bilinear layer determines its neurons.

    >>> for n, out in [(2, 2), (3, 3), (2, 1)]:
    ...     print(neurons_determined(Network([Bilinear(n, out)], dim=4)))
    agattn.bilinear-neurons
    agattn.bilinear-few-neurons
    None
    """
    if (layer := alone(architecture)) is None:
        return None
    d, n, out = architecture.input_shape[0], layer.neurons, layer.out
    if out >= 2 and 2 * n <= d:
        return NEURONS
    return FEW_NEURONS if n == 1 or n <= min(out, comb(d - 1, 2)) else None
