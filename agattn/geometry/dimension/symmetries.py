"""The known symmetries of the parametrization θ ↦ φ_θ, as tangent vectors in parameter space.

An architecture names the groups GL(n) that act linearly on its parameters without changing the function
(``architecture.symmetries``). Their tangent vectors at any point lie in the kernel of the Jacobian there.
At a generic point they span at least as much as at any other, so their rank at one point modulo one prime is
a proved lower bound on the dimension of the generic fiber, and

    dim ≤ parameters − rank of the tangent vectors

is a proved upper bound on the dimension of the neuromanifold.

>>> from agattn.architectures import DeepNetwork
>>> symmetry_upper_bound(DeepNetwork((10, 10, 10), (2, 2), 3, normalization="softmax"))
172
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from agattn.algebra.residues import Residues, RowSpace, nonzero_minor, random_prime, random_residues
from agattn.architectures import Acted, Architecture, DeepNetwork, draw_parameters

_BLOCK = 512

Parameters = Mapping[str, Residues]


def symmetry_tangents(architecture: Architecture, parameters: Parameters, p: int) -> Residues:
    """The tangent vectors of all symmetries at parameters modulo p, as rows; columns as in the Jacobian.

    A row is the elementary matrix E_{r,s} of one of the Lie algebras gl(n). The shape is (Σ n², parameters).
    """
    return np.concatenate(list(_tangents(architecture, parameters))) % p


def _tangents(architecture: Architecture, parameters: Parameters) -> Iterator[Residues]:
    """A block of n² rows for each group GL(n)."""
    for symmetry in architecture.symmetries:
        n = symmetry.size
        block = {name: np.zeros((n, n, *shape)) for name, shape in architecture.shapes.items()}
        for acted in symmetry.on:
            part = acted.part(parameters[acted.parameter])
            moved = block[acted.parameter]
            moved = moved[(slice(None), slice(None), *acted.index)]
            if acted.axis is None:
                moved += acted.weight * part
                continue
            rows, into = np.moveaxis(part, acted.axis, 0), np.moveaxis(moved, acted.axis, 2)
            for r in range(n):
                if acted.dual:  # -E_{s,r} for all s: row r goes into row s
                    into[r, range(n), range(n)] -= rows[r]
                else:  # E_{r,s} for all s: row s goes into row r
                    into[r, :, r] += rows
        yield np.concatenate([a.reshape(n * n, -1) for a in block.values()], axis=1)


def symmetry_rank(architecture: Architecture, p: int, generator: np.random.Generator) -> int:
    """The rank modulo p of the tangent vectors at random parameters: at most the dimension of the fibers."""
    parameters = draw_parameters(architecture, lambda shape: random_residues(generator, shape, p))
    tangents = symmetry_tangents(architecture, parameters, p)
    space = RowSpace(tangents.shape[1], p)
    for start in range(0, len(tangents), _BLOCK):
        space.add(tangents[start : start + _BLOCK])
    return space.rank


def symmetry_upper_bound(architecture: Architecture, seed: int = 0) -> int:
    """Parameters minus the rank of the symmetries' tangent vectors: proved, whatever the seed."""
    generator = np.random.default_rng(seed)
    return architecture.parameters - symmetry_rank(architecture, random_prime(generator), generator)


def gauge_columns(network: DeepNetwork, parameters: Parameters, p: int) -> np.ndarray:
    """Parameters that can be held fixed: the Jacobian modulo p has the same rank on the other columns.

    In each head the entries of min(a, d) independent columns of Q (gl(a) moves them at will), the same for
    P, and between layers the entries of columns of V_i = [V_{i,1} ... V_{i,h}] that are a basis of its
    columns. On these entries the tangent vectors of the groups form a block triangular matrix with
    surjective blocks on the diagonal: take the layers in order, in each GL(β), then GL(d_i), and GL(a) after
    all; no group then moves the entries of an earlier one. So every column of the Jacobian in the gauge is
    a combination of the others.

    Returns:
        The indices to leave out, ascending.
    """
    sizes = [int(np.prod(shape)) for shape in network.shapes.values()]
    starts = np.cumsum([0, *sizes])
    index = {
        name: np.arange(start, start + size).reshape(shape)
        for start, size, (name, shape) in zip(starts, sizes, network.shapes.items(), strict=False)
    }
    fixed = []
    for symmetry in network.symmetries:
        if symmetry.is_scaling:
            continue
        acted = next(part for part in symmetry.on if not part.dual)
        entries = _side_by_side(index, acted)
        fixed.append(entries[:, nonzero_minor(_side_by_side(parameters, acted), p).columns].ravel())
    return np.sort(np.concatenate(fixed)) if fixed else np.zeros(0, dtype=np.intp)


def _side_by_side(arrays: Mapping[str, np.ndarray], acted: Acted) -> np.ndarray:
    """The part that a group acts on from the left, its heads as blocks of one matrix."""
    part = acted.part(arrays[acted.parameter])
    return part if part.ndim == 2 else np.concatenate(list(part), axis=1)
