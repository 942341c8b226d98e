"""Minimal generators of the ideal: highest weight vectors with small integer coefficients, proved to vanish.

For t ≥ 2 they come from the kernel of φ on the multiplicity space of
:mod:`agattn.geometry.ideal.isotypic`, over ℤ. For t = 1 they are found in their weight space modulo a prime
and lifted to ℚ. Either way each is then expanded exactly on the parametrization.

>>> from agattn.architectures import SingleLayer
>>> [equation] = highest_weight_generators(((4,), (2, 2), (4, 4)), SingleLayer(2, 1))
>>> len(equation.terms), max(map(abs, equation.terms.values()))
(7, 2)
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from agattn.algebra.characters import Partition, module_name
from agattn.algebra.echelon import echelon
from agattn.algebra.specht import FloatArray, specht_module
from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError
from agattn.geometry.ideal.equations import PRIME, Equation
from agattn.geometry.ideal.graded import PRIME as SMALL_PRIME
from agattn.geometry.ideal.graded import GradedIdeal
from agattn.geometry.ideal.isotypic import IsotypicComponent, component, pair_invariants, saturate
from agattn.geometry.ideal.torus_weights import Monomial, smallest_layer

#: The longest tensor, as a number of words, that is expanded into monomials.
MOST_WORDS = 5_000_000


def highest_weight_generators(
    shapes: tuple[Partition, ...], layer: SingleLayer, graded: GradedIdeal | None = None
) -> list[Equation]:
    """Highest weight vectors of the minimal generators of the ideal of M̄ in one isotypic component.

    Args:
        shapes: (λ, μ, ν), or (λ, ν) for t = 1.
        layer: the architecture.
        graded: for t = 1, the weight spaces of this layer if they are at hand.

    Returns:
        As many as the multiplicity of the module in the minimal generators, with coprime integer
        coefficients, independent modulo R_1·I_{n−1}, each proved to vanish on the neuromanifold.

    Raises:
        ArithmeticError: if one of them does not vanish, which would be an error in this program.
        TooLargeError: if the tensors have more than :data:`MOST_WORDS` entries.
    """
    if layer.has_orbits:
        lam, mu, nu = shapes
        found = _from_tensors(component((lam, mu, nu)), layer.alpha)
    else:
        found = _from_weight_space(shapes, graded or GradedIdeal(layer))
    small = smallest_layer(shapes, layer)
    if not all(equation.vanishes_on(small) for equation in found):
        raise ArithmeticError(f"{shapes}: an equation that was found does not vanish on {layer}")
    return found


def _modulo(products: list[list[Any]], candidates: list[list[Any]], prime: int) -> list[list[Any]]:
    """The first of the candidates that are independent, mod p, of the products and of each other."""
    if not candidates:
        return []
    pivots = echelon(flint.nmod_mat([*products, *candidates], prime).transpose())[1]
    return [candidates[place - len(products)] for place in pivots if place >= len(products)]


def _from_tensors(space: IsotypicComponent, alpha: int) -> list[Equation]:
    wanted = space.minimal_generators(alpha)
    if not wanted:
        return []
    tensors, products = space.ideal_tensors(alpha), space.product_tensors(alpha)
    columns: dict[Monomial, int] = {}
    rows = [_expand(tensor, space) for tensor in (*tensors, *products)]
    for terms in rows:
        for monomial in terms:
            columns.setdefault(monomial, len(columns))
    entries = [[terms.get(monomial, 0) for monomial in columns] for terms in rows]
    basis = saturate(flint.fmpz_mat(entries[: len(tensors)])).lll().tolist()
    short = sorted(basis, key=lambda vector: sum(int(x) ** 2 for x in vector))
    chosen = _modulo(entries[len(tensors) :], short, PRIME)
    if len(chosen) != wanted:
        name = module_name(space.shape)
        raise ArithmeticError(f"{name}: {len(chosen)} generators found where there should be {wanted}")
    return [Equation.from_vector(columns, vector, SingleLayer) for vector in chosen]


def _expand(tensor: FloatArray, space: IsotypicComponent) -> dict[Monomial, int]:
    """The polynomial of an invariant tensor in S^λ ⊗ S^μ ⊗ W_ν, given in its coordinates.

    A word i_1 ... i_{2n} in the indices of U stands for Π_j u_{i_{2j−1}}·u_{i_{2j}}; and u_i·u_k is y_{ik},
    u_i·u_i is 2·y_{ii}.
    """
    lam, mu, nu = (specht_module(part) for part in space.shape)
    if len(lam.words) * len(mu.words) * len(nu.words) > MOST_WORDS:
        name = module_name(space.shape)
        raise TooLargeError(f"{name}: the tensors of this module are too long to be written out")
    coefficients = (tensor @ pair_invariants(space.shape.nu)).reshape(len(lam), len(mu), len(nu))
    words = np.einsum(
        "lmn,la,mb,nc->abc", coefficients, lam.tensors, mu.tensors, nu.tensors, optimize="optimal"
    )
    first, second, third = np.nonzero(words)
    inner = np.sort(nu.words[third].reshape(len(third), -1, 2), axis=2)
    size = max(8, len(space.shape.nu) + 1)
    digits = (lam.words[first], mu.words[second], inner[:, :, 0], inner[:, :, 1])
    # One number for each coordinate, so that the coordinates of a monomial can be sorted.
    codes = np.sort(np.ravel_multi_index(digits, (size,) * 4), axis=1)
    values = words[first, second, third].astype(np.int64) << np.sum(inner[:, :, 0] == inner[:, :, 1], axis=1)
    unique, place = np.unique(codes, axis=0, return_inverse=True)
    totals = np.zeros(len(unique), dtype=np.int64)
    np.add.at(totals, place.reshape(-1), values)
    monomials = (np.stack(np.unravel_index(unique, (size,) * 4), axis=-1) + 1).tolist()
    pairs = zip(monomials, totals.tolist(), strict=True)
    return {tuple(map(tuple, monomial)): total for monomial, total in pairs if total}


def _from_weight_space(shapes: tuple[Partition, ...], graded: GradedIdeal) -> list[Equation]:
    """The highest weight vectors of I_n modulo those of R_1·I_{n−1}, found mod p and lifted to ℤ."""
    monomials, kind = graded.monomials(shapes), type(graded.layer)
    highest = _annihilated(monomials, graded.kernel(shapes), kind)
    products = _annihilated(monomials, graded.products(shapes), kind)
    return [
        Equation.from_vector(monomials, list(map(_rational, row)), kind)
        for row in _modulo(products, highest, SMALL_PRIME)
    ]


def _annihilated(
    monomials: list[Monomial], rows: list[list[int]], kind: type[SingleLayer]
) -> list[list[int]]:
    """The reduced echelon basis of the highest weight vectors in the span of some rows, modulo the prime."""
    if not rows:
        return []
    matrix, rank = flint.nmod_mat(rows, SMALL_PRIME).rref()
    matrix = flint.nmod_mat(matrix.tolist()[:rank], SMALL_PRIME)
    columns: dict[Any, int] = {}
    entries = []
    for row, monomial in enumerate(monomials):
        unit = Equation({monomial: 1}, kind)
        for factor, weight in enumerate(unit.torus_weight):
            for r in range(1, len(weight)):
                for image, value in unit.move(factor, r + 1, r).terms.items():
                    entries.append((row, columns.setdefault((factor, r, image), len(columns)), value))
    operators = flint.nmod_mat(len(monomials), max(1, len(columns)), SMALL_PRIME)
    for row, column, value in entries:
        operators[row, column] = value
    relations, nullity = (matrix * operators).transpose().nullspace()
    if not nullity:
        return []
    combinations = flint.nmod_mat(relations.transpose().tolist()[:nullity], SMALL_PRIME)
    reduced, rank = (combinations * matrix).rref()
    return [[int(x) for x in row] for row in reduced.tolist()[:rank]]


def _rational(residue: int) -> flint.fmpq:
    """The fraction of small height with this residue modulo the prime."""
    r0, r1, t0, t1 = SMALL_PRIME, residue, 0, 1
    while 2 * r1 * r1 > SMALL_PRIME:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    return flint.fmpq(r1, t1)
