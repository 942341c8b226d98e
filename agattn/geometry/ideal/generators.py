"""Minimal generators of the ideal: highest weight vectors with small integer coefficients, proved to vanish.

For t ≥ 2 they come from the kernel of φ on the multiplicity space of
:mod:`agattn.geometry.ideal.isotypic`, over ℤ. For t = 1 they are found among all equations of their torus
weight. Either way each is then expanded exactly on the parametrization.

>>> from agattn.architectures import SingleLayer
>>> [equation] = highest_weight_generators(((4,), (2, 2), (4, 4)), SingleLayer(2, 1))
>>> len(equation.terms), max(map(abs, equation.terms.values()))
(7, 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import flint
import numpy as np

from agattn.algebra.characters import FloatArray, Partition, module_name, specht_module
from agattn.algebra.echelon import independent_columns, short_basis, sparse_rows
from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError
from agattn.geometry.ideal.equations import (
    Equation,
    equations_of_weight,
    multiples,
    relations,
)
from agattn.geometry.ideal.isotypic import IsotypicComponent, component, pair_invariants
from agattn.geometry.ideal.named_families import named
from agattn.geometry.ideal.torus_weights import Monomial, smallest_layer

#: The longest tensor, as a number of words, that is expanded into monomials.
MOST_WORDS = 5_000_000


def highest_weight_generators(shapes: tuple[Partition, ...], layer: SingleLayer) -> list[Equation]:
    """Highest weight vectors of the minimal generators of the ideal of M̄ in one isotypic component.

    The component is (λ, μ, ν), or (λ, ν) for t = 1. They are as many as the multiplicity of the module in the
    minimal generators, with coprime integer coefficients, independent modulo R_1·I_{n−1}, each proved to
    vanish on the neuromanifold.

    Raises:
        ArithmeticError: if one of them does not vanish, which would be an error in this program.
        TooLargeError: if the tensors have more than :data:`MOST_WORDS` entries.
    """
    if layer.has_orbits:
        lam, mu, nu = shapes
        vectors = _from_tensors(component((lam, mu, nu)), layer.alpha)
    else:
        equations = equations_of_weight(layer, shapes)
        vectors = new_highest_weight_vectors([*equations], [*multiples(layer, shapes)])
    small = smallest_layer(shapes, layer)
    if not all(equation.vanishes_on(small) for equation in vectors):
        raise ArithmeticError(f"{shapes}: an equation that was found does not vanish on {layer}")
    return vectors


def _modulo(products: list[list[Any]], candidates: list[list[Any]]) -> list[int]:
    """Which candidates are independent, modulo a prime, of the products and of the candidates before them."""
    pivots = independent_columns(flint.fmpz_mat([*products, *candidates]).transpose())
    return [place - len(products) for place in pivots if place >= len(products)]


def _from_tensors(space: IsotypicComponent, alpha: int) -> list[Equation]:
    wanted = space.minimal_generators(alpha)
    if not wanted:
        return []
    tensors, products = space.ideal_tensors(alpha), space.product_tensors(alpha)
    rows = [_expand(tensor, space) for tensor in (*tensors, *products)]
    monomials = dict.fromkeys(monomial for terms in rows for monomial in terms)
    entries = sparse_rows(rows).tolist()
    short = short_basis(flint.fmpz_mat(entries[: len(tensors)]))
    chosen = _modulo(entries[len(tensors) :], short)
    if len(chosen) != wanted:
        name = module_name(space.shape)
        raise ArithmeticError(f"{name}: {len(chosen)} generators found where there should be {wanted}")
    return [Equation.from_vector(monomials, short[place], SingleLayer) for place in chosen]


def follows_from(equation: Equation, others: Sequence[Equation], layer: SingleLayer) -> bool:
    """Whether a highest weight vector, t ≥ 2, is a combination of others of its weight, modulo R_1·I_{n−1}.

    Exact ranks.

    >>> [equation] = highest_weight_generators(((4,), (2, 2), (4, 4)), SingleLayer(2, 1))
    >>> follows_from(equation, [], SingleLayer(2, 1)), follows_from(equation, [equation], SingleLayer(2, 1))
    (False, True)
    """
    lam, mu, nu = equation.torus_weight
    space = component((lam, mu, nu))
    lower = [_expand(tensor, space) for tensor in space.product_tensors(layer.alpha)]
    known = [*lower, *(other.terms for other in others)]
    ranks = [int(sparse_rows(rows).rank()) if rows else 0 for rows in (known, [*known, equation.terms])]
    return ranks[0] == ranks[1]


def _expand(tensor: FloatArray, space: IsotypicComponent) -> dict[Monomial, int]:
    """The polynomial of an invariant tensor in S^λ ⊗ S^μ ⊗ W_ν, given in its coordinates.

    A word i_1 ... i_{2n} in the indices of U stands for Π_j u_{i_{2j−1}}·u_{i_{2j}}; and u_i·u_k is y_{ik},
    u_i·u_i is 2·y_{ii}. The tensor is the same for all orders of the n coordinates and of both indices of
    a pair: so only words in increasing order are looked at, and the others counted.
    """
    lam, mu, nu = (specht_module(part) for part in space.shape)
    if len(lam.words) * len(mu.words) * len(nu.words) > MOST_WORDS:
        name = module_name(space.shape)
        raise TooLargeError(f"{name}: the tensors of this module are too long to be written out")
    n, outputs = space.degree, lam.words[0]
    falls = (mu.words[:, 1:] < mu.words[:, :-1]) & (outputs[1:] == outputs[:-1])
    pairs = nu.words.reshape(-1, n, 2)
    columns, indices = ~falls.any(axis=1), (pairs[:, :, 0] <= pairs[:, :, 1]).all(axis=1)
    coefficients = (tensor @ pair_invariants(space.shape[2])).reshape(len(lam), len(mu), len(nu))
    words = np.einsum(
        "lmn,l,mb,nc->bc",
        coefficients,
        lam.tensors[:, 0],
        mu.tensors[:, columns],
        nu.tensors[:, indices],
        optimize="optimal",
    )
    second, third = np.nonzero(words)
    size = max(8, len(space.shape[2]) + 1)
    inner = pairs[indices][third]
    digits = (
        outputs[np.newaxis].repeat(len(third), 0),
        mu.words[columns][second],
        inner[..., 0],
        inner[..., 1],
    )
    codes = np.ravel_multi_index(digits, (size,) * 4)  # one number for each coordinate
    increasing = (codes[:, 1:] >= codes[:, :-1]).all(axis=1)
    codes, values = codes[increasing], words[second, third][increasing].astype(np.int64)
    # A monomial with exponents m_1, m_2, ... has n!/Π m_j! orders, each with 2^n words.
    run, symmetries = np.ones(len(codes), dtype=np.int64), np.ones(len(codes), dtype=np.int64)
    for j in range(1, n):
        run = np.where(codes[:, j] == codes[:, j - 1], run + 1, 1)
        symmetries *= run
    values *= 2**n * factorial(n) // symmetries
    order = np.lexsort(codes.T[::-1])
    monomials = (np.stack(np.unravel_index(codes[order], (size,) * 4), axis=-1) + 1).tolist()
    pairs_of = zip(monomials, values[order].tolist(), strict=True)
    return {tuple(map(tuple, monomial)): value for monomial, value in pairs_of}


def new_highest_weight_vectors(equations: list[Equation], lower: list[Equation]) -> list[Equation]:
    """Highest weight vectors in the span of equations of one weight, modulo those in the span of others."""
    generated, highest = map(_highest, (lower, equations))
    rows = sparse_rows([equation.terms for equation in (*generated, *highest)]).tolist()
    return [highest[place] for place in _modulo(rows[: len(generated)], rows[len(generated) :])]


def _highest(equations: list[Equation]) -> list[Equation]:
    """Highest weight vectors that span all of them among the combinations of equations of one weight."""
    raised = [
        {
            (factor, r, image): value
            for factor, part in enumerate(equation.torus_weight)
            for r in range(1, len(part))
            for image, value in equation.move(factor, r + 1, r).terms.items()
        }
        for equation in equations
    ]
    if not (combinations := relations(raised)):
        return []
    monomials = dict.fromkeys(monomial for equation in equations for monomial in equation.terms)
    matrix = flint.fmpq_mat(sparse_rows([equation.terms for equation in equations]))
    rows = (flint.fmpq_mat(combinations) * matrix).tolist()
    return [Equation.from_vector(monomials, row, equations[0].kind) for row in rows]


def name_of(shapes: tuple[Partition, ...], layer: SingleLayer) -> str:
    """What the minimal generators in this component say in words; empty where there is no name.

    The highest weight vector is the formula of :mod:`agattn.geometry.ideal.named_families`, up to a factor
    and equations of lower degree. The others come from it by base change in ℂ^{d'}, in the columns of A, and
    in the variables of the forms.

    Where μ = (1, ..., 1) has α + 1 parts and degree α + 1, all of the polynomial ring is Λ^{α+1}F ⊗
    Λ^{α+1}(E ⊗ S²U), the minors of size α + 1 of the flattening with rows b, which has rank at most α as
    the columns of A do.
    """
    size = layer.alpha + 1
    if family := named(*shapes):
        return family.says
    if not layer.has_orbits or not len(shapes[1]) == size == sum(shapes[1]):
        return ""
    meaning = f"the columns of A span at most {layer.alpha} dimensions"
    return f"{size}×{size} minors of the flattening with rows b: {meaning}"


#: The named invariants, for d' = 1 and t ≥ 2, in which the equations of a module lie.
_FAMILIES: dict[tuple[Partition, ...], str] = {
    ((3,), (3,), (2, 2, 2)): "cross-column cubics",
    ((4,), (2, 2), (4, 4)): "quartic resultants",
}


def family_of(shapes: tuple[Partition, ...], layer: SingleLayer) -> str:
    """The named invariants that the equations of a module are, as in *Algebraic Invariants of Lightning
    Self-Attention* (2026); empty where nobody has named them.

    :mod:`agattn.geometry.ideal.invariants` builds them and finds how much of the module they span.

    >>> family_of(((3,), (1, 1, 1), (3, 3)), SingleLayer(3, 1, 3))
    'context syzygies'
    >>> family_of(((3,), (1, 1, 1), (3, 3)), SingleLayer(4, 1, 4))
    ''
    """
    if layer.d_out > 1 or not layer.has_orbits:
        return ""
    mu = shapes[1]
    exterior = len(mu) == sum(mu)
    if exterior and len(mu) == layer.alpha + 1:
        return "low-rank minors"
    if exterior and len(mu) == layer.d:
        return "context syzygies"
    return _FAMILIES.get(shapes, "")
