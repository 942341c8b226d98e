"""Equations, dimensions and degrees of closures of strata."""

import subprocess
from itertools import product
from math import comb, factorial

import numpy as np
import pytest

from agattn.architectures import SingleLayer
from agattn.engines.elimination import by_theorem
from agattn.evidence import Evidence
from agattn.geometry.ideal.export import export
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.strata.closures import compute_stratum_ideal, stratum_degree
from agattn.geometry.strata.strata import Stratum, image_dimension, open_stratum, representative, strata
from agattn.geometry.variety import rank_one_locus
from agattn.geometry.variety.coordinates import coefficients
from agattn.geometry.variety.degree import expected_degree

LAYERS = [SingleLayer(d, d_out, a) for d, d_out in product(range(1, 6), range(1, 5)) for a in range(1, d + 1)]


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_degree_of_strata_with_another_formula(layer):
    assert stratum_degree(layer, open_stratum(layer)) == expected_degree(layer)
    d, outputs = layer.d, layer.d_out
    # h ⊗ q ⊗ k²: a Segre product of two spaces and a quadratic Veronese variety.
    e = outputs + 2 * d - 3
    segre = factorial(e) // (factorial(outputs - 1) * factorial(d - 1) ** 2)
    assert stratum_degree(layer, Stratum(1, 1, 1)) == segre * 2 ** (d - 1)
    if d > 1:
        assert stratum_degree(layer, Stratum(1, 1, 2)) == rank_one_locus.predicted_degree(layer)


def test_degree_by_the_hilbert_function():
    """The highest difference of the Hilbert function, which is a polynomial here."""
    layer = SingleLayer(2, 2)
    for stratum in strata(layer)[1:]:
        e = image_dimension(layer, stratum) - 1
        ideal = compute_stratum_ideal(layer, stratum, e + 1)
        values = [ideal.hilbert_function(n) for n in range(1, e + 2)]
        difference = sum((-1) ** (e - n) * comb(e, n) * value for n, value in enumerate(values))
        assert difference == ideal.degree == stratum_degree(layer, stratum)


def test_degree_of_a_large_layer_is_left_out():
    assert stratum_degree(SingleLayer(64, 40, 40), Stratum(30, 30, 40)) is None


@pytest.mark.parametrize("layer", [SingleLayer(2, 2), SingleLayer(3, 1, 2), SingleLayer(3, 2, 1)], ids=str)
def test_the_open_stratum_has_the_ideal_of_the_layer(layer):
    closure, whole = compute_stratum_ideal(layer, open_stratum(layer), 4), compute_ideal(layer, 4)
    assert [piece.modules for piece in closure.degrees] == [piece.modules for piece in whole.degrees]
    assert (closure.dimension, closure.degree) == (whole.dimension, whole.degree)
    assert [m.shapes for m in closure.generators] == [m.shapes for m in whole.generators]


def invertible(size, random):
    """An integer matrix of determinant 1, as Python's integers."""
    lower, upper = (
        np.tril(random.integers(-2, 3, size=(size, size)), -1) + np.eye(size, dtype=int) for _ in range(2)
    )
    return (lower @ upper.T).astype(object)


@pytest.mark.parametrize("layer", [SingleLayer(2, 1), SingleLayer(2, 3), SingleLayer(3, 1, 2)], ids=str)
def test_equations_hold_on_the_closure_and_on_no_other_stratum(layer):
    random = np.random.default_rng(0)
    for stratum in strata(layer)[1:]:
        ideal = compute_stratum_ideal(layer, stratum, 4)
        assert {piece.evidence for piece in ideal.degrees} == {Evidence.PROVED}
        equations = [*ideal]
        assert len(equations) == sum(piece.minimal_generators for piece in ideal.degrees)
        for other in strata(layer):
            A, V = (np.array(matrix, dtype=object) for matrix in representative(layer, other))
            E, F, U = (invertible(k, random) for k in layer.gl_sizes)
            values = coefficients(layer, U @ A @ F, E @ V @ U.T)
            point = dict(zip(ideal.coordinates, values, strict=True))
            holds = not any(equation.value(point) for equation in equations)
            assert holds == stratum.closure_contains(other), (stratum, other)


def test_all_layers_at_once():
    """The rank-one locus of a layer that is too large for its own coordinates, by its Hilbert function."""
    layer = SingleLayer(9, 5, 4)
    ideal = compute_stratum_ideal(layer, Stratum(1, 1, 2), 4)
    assert ideal.generators_by_degree.keys() == {2, 3}
    for n in range(1, 5):
        assert ideal.hilbert_function(n) == rank_one_locus.hilbert_function(layer, n)


def test_minors_are_named_by_the_rank_that_they_bound():
    said = {str(m): m.name for m in compute_stratum_ideal(SingleLayer(3, 1), Stratum(1, 2, 3), 4).generators}
    assert said["S(3)⊗S(1,1,1)⊗S(3,3)"] == "3×3 minors of the flattening with rows b: rk A ≤ 2"
    assert said["S(3)⊗S(3)⊗S(2,2,2)"].startswith("3×3 minors of the slices")
    assert said["S(4)⊗S(2,2)⊗S(4,4)"].startswith("resultants of two forms of one row")


JACOBIAN = """
K = radical(I + minors(codim I, jacobian I))
{}
print(sub(K, S) == I)
"""


@pytest.mark.parametrize(("sizes", "singular"), [((2, 1, 2), (1, 1, 2)), ((2, 1, 1), None)], ids=str)
def test_the_jacobian_criterion_gives_the_closures_of_strata(macaulay2, tmp_path, sizes, singular):
    """With the whole ideal, its Jacobian drops rank on the stratum (1,1,2), or for (2,1,1) at 0 alone."""
    layer = SingleLayer(*sizes)
    whole = compute_ideal(layer, 4)
    assert by_theorem(whole).whole
    if singular is None:
        locus = "I = ideal gens S"
    else:
        locus = export(compute_stratum_ideal(layer, Stratum(*singular), 4), "macaulay2")
    path = tmp_path / "jacobian.m2"
    path.write_text(export(whole, "macaulay2") + JACOBIAN.format(locus))
    command = [macaulay2.path, *macaulay2.engine.arguments, path]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.stdout.split()[-1:] == ["true"], ended.stdout + ended.stderr
