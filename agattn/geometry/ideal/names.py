"""Names of equations: what the low degrees of the ideal say about the forms y_{c,b} = V_c·A_b.

Each name belongs to a module; its highest weight vector is the determinant or resultant that is named, which
the tests write down from its definition. The others come from it by base change in ℂ^{d'}, in the columns of
A, and in the variables of the forms.

>>> from agattn.architectures import SingleLayer
>>> name_of(((4,), (2, 2), (4, 4)), SingleLayer(2, 1))
'resultants of two forms of one row, on any two-dimensional subspace'
"""

from __future__ import annotations

from agattn.algebra.characters import Partition
from agattn.architectures import SingleLayer

#: What a module of minimal generators says, by its highest weight (λ, μ, ν).
NAMES: dict[tuple[Partition, ...], str] = {
    ((1, 1), (1, 1), (4,)): "2×2 minors of the matrix of quadratic forms y_(c,b) = V_c·A_b",
    ((3,), (3,), (2, 2, 2)): "3×3 minors of the slices: every form y_(c,b) has rank at most 2",
    ((3,), (1, 1, 1), (3, 3)): (
        "3×3 minors: on any two-dimensional subspace the forms of one row are dependent"
    ),
    ((1, 1, 1), (3,), (3, 3)): (
        "3×3 minors: on any two-dimensional subspace the forms of one column are dependent"
    ),
    ((4,), (2, 2), (4, 4)): "resultants of two forms of one row, on any two-dimensional subspace",
    ((2, 2), (4,), (4, 4)): "resultants of two forms of one column, on any two-dimensional subspace",
}


def name_of(shapes: tuple[Partition, ...], layer: SingleLayer) -> str:
    """What the minimal generators in this component say in words; empty where there is no name.

    Where μ = (1, ..., 1) has α + 1 parts and degree α + 1, all of the polynomial ring is Λ^{α+1}F ⊗
    Λ^{α+1}(E ⊗ S²U), the minors of size α + 1 of the flattening with rows b, which has rank at most α as
    the columns of A do.
    """
    size = layer.alpha + 1
    if shapes in NAMES or not layer.has_orbits or not len(shapes[1]) == size == sum(shapes[1]):
        return NAMES.get(shapes, "")
    meaning = f"the columns of A span at most {layer.alpha} dimensions"
    return f"{size}×{size} minors of the flattening with rows b: {meaning}"
