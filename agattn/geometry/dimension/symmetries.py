"""The known symmetries of the parametrization θ ↦ φ_θ, as tangent vectors in parameter space.

An architecture names the groups GL(n) that act linearly on its parameters without changing the function
(``architecture.symmetries``). Their tangent vectors at any point lie in the kernel of the Jacobian there.
At a generic point they span at least as much as at any other, so their rank at one point modulo one prime is
a proved lower bound on the dimension of the generic fiber, and

    dim ≤ parameters − rank of the tangent vectors

is a proved upper bound on the dimension of the neuromanifold.

>>> from agattn.architectures import DeepNetwork
>>> symmetry_bound(DeepNetwork((10, 10, 10), (2, 2), 3, normalization="softmax")).value
172
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np

from agattn.algebra.lie_algebras import Sparse
from agattn.algebra.residues import Residues, RowSpace, nonzero_minor, random_prime, random_residues
from agattn.architectures import Acted, Architecture, Network, Symmetry, draw_parameters
from agattn.architectures.protocol import as_parameters, symmetry_tangents
from agattn.geometry.dimension.formulas import Bound
from agattn.limits import limits

Parameters = Mapping[str, Residues]


def symmetry_matrices(
    architecture: Architecture, symmetries: Sequence[Symmetry] | None = None
) -> list[list[Sparse]]:
    """For each of some symmetries the n² matrices B by which E_{r,s} in gl(n) acts: θ ↦ Bθ.

    Of O(n) these are the n(n − 1)/2 matrices of E_{r,s} − E_{s,r}. The known symmetries of the architecture
    are taken where none are given. Rows and columns are counted over the entries of all parameters.

    >>> from agattn.architectures import SingleLayer
    >>> symmetry_matrices(SingleLayer(1, 1, 1))  # K → K/c, Q → cQ; K → cK, V → V/c
    [[{(0, 0): -1, (1, 1): 1}], [{(0, 0): 1, (2, 2): -1}]]
    """
    index, result = as_parameters(architecture, np.arange(architecture.parameters)), []
    for symmetry in architecture.symmetries if symmetries is None else symmetries:
        n = range(symmetry.size)
        matrices: list[Sparse] = [{} for _ in n for _ in n]
        for acted in symmetry.on:
            part = index[acted.parameter][acted.index]
            rows = np.moveaxis(part, acted.axis, 0) if acted.axis is not None else part[None]
            value = acted.weight if acted.axis is None else -1 if acted.dual else 1
            for (r, s), B in zip(itertools.product(n, n), matrices, strict=True):
                to, of = (s, r) if acted.dual and acted.axis is not None else (r, s)
                for place in zip(rows[to].ravel().tolist(), rows[of].ravel().tolist(), strict=True):
                    B[place] = B.get(place, 0) + value
        if symmetry.is_orthogonal:
            pairs = itertools.combinations(n, 2)
            matrices = [_difference(matrices[len(n) * r + s], matrices[len(n) * s + r]) for r, s in pairs]
        result.append([{place: x for place, x in B.items() if x} for B in matrices])
    return result


def _difference(one: Sparse, other: Sparse) -> Sparse:
    return {place: one.get(place, 0) - other.get(place, 0) for place in {**one, **other}}


def known_groups(architecture: Architecture) -> Sequence[Symmetry]:
    """The groups that the contractions of an architecture show, or else those that it names.

    >>> from agattn import Attention
    >>> [group.name for group in known_groups(Network([Attention(2, rank=2, rotary=True)], dim=3, tokens=2))]
    ['scaling', 'O(2)', 'scaling']
    """
    from agattn.architectures.contractions import gauge_groups

    with suppress(NotImplementedError):  # it does what has no rule
        return gauge_groups(architecture)
    return architecture.symmetries


def symmetry_bound(architecture: Architecture) -> Bound:
    """Parameters minus the rank of the symmetries' tangent vectors: proved, whatever the seed."""
    generator = np.random.default_rng(limits().seed)
    p = random_prime(generator)
    parameters = draw_parameters(architecture, lambda shape: random_residues(generator, shape, p))
    groups = known_groups(architecture) if isinstance(architecture, Network) else None
    tangents = symmetry_tangents(architecture, parameters, p, groups)
    space = RowSpace(tangents.shape[1], p)
    space.add(tangents)
    reason = "the parameters, minus the rank of the symmetries' tangent vectors"
    return Bound(architecture.parameters - space.rank, reason)


def gauge_columns(network: Architecture, parameters: Parameters, p: int) -> np.ndarray:
    """Parameters that can be held fixed: the Jacobian modulo p has the same rank on the other columns.

    In each head the entries of min(a, d) independent columns of Q (gl(a) moves them at will), the same for
    P, and between layers the entries of columns of V_i = [V_{i,1} ... V_{i,h}] that are a basis of its
    columns. On these entries the tangent vectors of the groups form a block triangular matrix with
    surjective blocks on the diagonal: take the layers in order, in each GL(β), then GL(d_i), and GL(a) after
    all; no group then moves the entries of an earlier one. So every column of the Jacobian in the gauge is
    a combination of the others. Their indices are returned, ascending.
    """
    index, fixed = as_parameters(network, np.arange(network.parameters)), []
    for symmetry in network.symmetries:
        acted = symmetry.leading
        if acted.axis is None:
            continue
        entries = _side_by_side(index, acted)
        fixed.append(entries[:, nonzero_minor(_side_by_side(parameters, acted), p).columns].ravel())
    return np.sort(np.concatenate(fixed)) if fixed else np.zeros(0, dtype=np.intp)


def _side_by_side(arrays: Mapping[str, np.ndarray], acted: Acted) -> np.ndarray:
    """The part that a group acts on from the left, its heads as blocks of one matrix."""
    part = arrays[acted.parameter][acted.index]
    return part if part.ndim == 2 else np.concatenate(list(part), axis=1)
