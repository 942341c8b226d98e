"""Minimal generators of the ideal: highest weight vectors with small integer coefficients, proved to vanish.

For t ≥ 2 they come from the kernel of φ on the multiplicity space of
:mod:`agattn.geometry.ideal.isotypic`, over
ℤ. For t = 1 they are found in their weight space modulo a prime and lifted to ℚ. Either way each is then
expanded exactly on the parametrization.

>>> from agattn.architectures import SingleLayer
>>> [equation] = highest_weight_generators(((4,), (2, 2), (4, 4)), SingleLayer(2, 1))
>>> len(equation.terms), max(map(abs, equation.terms.values()))
(7, 2)
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from agattn.algebra.characters import Partition
from agattn.algebra.specht import FloatArray, specht_module
from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError
from agattn.geometry.ideal.equation_modules import Equation, Terms
from agattn.geometry.ideal.graded import PRIME, GradedIdeal
from agattn.geometry.ideal.isotypic import IsotypicComponent, component, pair_invariants
from agattn.geometry.ideal.torus_weights import Index

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
    if layer.t == 1:
        found = _from_weight_space(shapes, graded or GradedIdeal(layer))
    else:
        lam, mu, nu = shapes
        found = _from_tensors(component((lam, mu, nu)), layer.alpha)
    small = smallest_layer(shapes, layer)
    for equation in found:
        if not equation.vanishes_on(small):
            raise ArithmeticError(f"{shapes}: an equation that was found does not vanish on {layer}")
    return found


def smallest_layer(shapes: tuple[Partition, ...], layer: SingleLayer) -> SingleLayer:
    """The smallest layer with the highest weight vector of this module, and the same α where α matters."""
    d = max(len(part) for part in shapes[1:])
    return SingleLayer(d, len(shapes[0]), min(layer.a, d), layer.t)


def _from_tensors(space: IsotypicComponent, alpha: int) -> list[Equation]:
    wanted = space.minimal_generators(alpha)
    if not wanted:
        return []
    tensors, products = space.ideal_tensors(alpha), space.product_tensors(alpha)
    columns: dict[tuple[Index, ...], int] = {}
    rows = [_expand(tensor, space) for tensor in (*tensors, *products)]
    for terms in rows:
        for monomial in terms:
            columns.setdefault(monomial, len(columns))
    matrix = flint.fmpz_mat(len(rows), len(columns))
    for row, terms in enumerate(rows):
        for monomial, coefficient in terms.items():
            matrix[row, columns[monomial]] = coefficient
    entries: list[list[Any]] = matrix.tolist()
    basis = _short_basis(flint.fmpz_mat(entries[: len(tensors)]))
    generated = entries[len(tensors) :]
    names = list(columns)
    found: list[Equation] = []
    rank = flint.fmpz_mat(generated).rank() if generated else 0
    short: list[list[Any]] = basis.tolist()
    for vector in sorted(short, key=lambda entry: sum(int(x) ** 2 for x in entry)):
        if flint.fmpz_mat([*generated, vector]).rank() > rank:
            generated, rank = [*generated, vector], rank + 1
            found.append(
                Equation({m: int(x) for m, x in zip(names, vector, strict=True) if x}, 2).primitive()
            )
    if len(found) != wanted:
        raise ArithmeticError(f"{space.shape}: {len(found)} generators found where there should be {wanted}")
    return found


def _short_basis(matrix: flint.fmpz_mat) -> flint.fmpz_mat:
    """A reduced basis of all integer vectors in the row space of a matrix of full row rank."""
    hermite = flint.fmpz_mat(matrix.transpose().hnf().tolist()[: matrix.nrows()])
    saturated = (flint.fmpq_mat(matrix.transpose()) * flint.fmpq_mat(hermite).inv()).numer_denom()[0]
    return saturated.transpose().lll()


def _expand(tensor: FloatArray, space: IsotypicComponent) -> Terms:
    """The polynomial of an invariant tensor in S^λ ⊗ S^μ ⊗ W_ν, given in its coordinates.

    A word i_1 ... i_{2n} in the indices of U stands for Π_j u_{i_{2j−1}}·u_{i_{2j}}; and u_i·u_k is y_{ik},
    u_i·u_i is 2·y_{ii}.
    """
    lam, mu, nu = (specht_module(part) for part in space.shape)
    if len(lam.words) * len(mu.words) * len(nu.words) > MOST_WORDS:
        raise TooLargeError(f"{space.shape}: the tensors of this module are too long to be written out")
    coefficients = (tensor @ pair_invariants(space.shape.nu)).reshape(len(lam), len(mu), len(nu))
    words = np.einsum(
        "lmn,la,mb,nc->abc", coefficients, lam.tensors, mu.tensors, nu.tensors, optimize="optimal"
    )
    first, second, third = np.nonzero(words)
    n, size = space.degree, max(8, len(space.shape.nu) + 1)
    c, b, inner = lam.words[first], mu.words[second], np.sort(nu.words[third].reshape(-1, n, 2), axis=2)
    codes = np.sort(((c * size + b) * size + inner[:, :, 0]) * size + inner[:, :, 1], axis=1)
    scale = 2 ** np.sum(inner[:, :, 0] == inner[:, :, 1], axis=1)
    values = words[first, second, third].astype(np.int64) * scale
    unique, place = np.unique(codes, axis=0, return_inverse=True)
    totals = np.zeros(len(unique), dtype=np.int64)
    np.add.at(totals, place.reshape(-1), values)
    return {
        tuple(_decode(int(code), size) for code in monomial): int(total)
        for monomial, total in zip(unique, totals, strict=True)
        if total
    }


def _decode(code: int, size: int) -> Index:
    digits = []
    for _ in range(4):
        code, digit = divmod(code, size)
        digits.append(digit)
    return tuple(reversed(digits))


def _from_weight_space(shapes: tuple[Partition, ...], graded: GradedIdeal) -> list[Equation]:
    """The highest weight vectors of I_n modulo those of R_1·I_{n−1}, found mod p and lifted to ℤ."""
    names = [tuple(graded.indices[v] for v in monomial) for monomial in graded.monomials(graded.pad(shapes))]
    highest = _annihilated(names, graded.kernel(graded.pad(shapes)), graded)
    products = _annihilated(names, graded.product_rows(graded.pad(shapes)), graded)
    found: list[Equation] = []
    chosen, rank = [*products], len(products)
    for row in highest:
        if flint.nmod_mat([*chosen, row], PRIME).rank() > rank:
            chosen, rank = [*chosen, row], rank + 1
            lifted = flint.fmpq_mat([[_rational(int(x)) for x in row]]).numer_denom()[0].tolist()[0]
            terms = {tuple(sorted(m)): int(x) for m, x in zip(names, lifted, strict=True) if x}
            found.append(Equation(terms, 1).primitive())
    return found


def _annihilated(
    names: list[tuple[Index, ...]], rows: list[list[int]], graded: GradedIdeal
) -> list[list[int]]:
    """The reduced echelon basis of the highest weight vectors in the span of some rows, modulo the prime."""
    if not rows:
        return []
    matrix, rank = flint.nmod_mat(rows, PRIME).rref()
    matrix = flint.nmod_mat(matrix.tolist()[:rank], PRIME)
    images: dict[Any, int] = {}
    raised: list[dict[int, int]] = []
    for name in names:
        own: dict[int, int] = {}
        unit = Equation({tuple(sorted(name)): 1}, graded.layer.t)
        for factor, size in enumerate(graded.factors):
            for r in range(size - 1):
                for monomial, value in unit.move(factor, r + 1, r).terms.items():
                    own[images.setdefault((factor, r, monomial), len(images))] = value
        raised.append(own)
    operators = flint.nmod_mat(len(names), max(1, len(images)), PRIME)
    for row, own in enumerate(raised):
        for column, value in own.items():
            operators[row, column] = value
    relations, nullity = (matrix * operators).transpose().nullspace()
    if not nullity:
        return []
    combinations = flint.nmod_mat([row[:nullity] for row in relations.tolist()], PRIME).transpose()
    reduced, rank = (combinations * matrix).rref()
    return [[int(x) for x in row] for row in reduced.tolist()[:rank]]


def _rational(residue: int) -> flint.fmpq:
    """The fraction of small height with this residue modulo the prime."""
    r0, r1, t0, t1 = PRIME, residue, 0, 1
    while 2 * r1 * r1 > PRIME:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    return flint.fmpq(r1, t1)
