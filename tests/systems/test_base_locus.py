"""Engines' components of {φ = 0}: φ must vanish on them."""

import pytest

from agattn import SingleLayer
from agattn.errors import TranscriptError
from agattn.geometry.variety.coordinates import parametrization
from agattn.systems.base_locus import check_base_locus
from agattn.systems.catalogue import build
from agattn.systems.problem import Answer


def answer(layer, characteristic, *components):
    problem = build("base-locus", layer, characteristic=characteristic)
    named = {f"component@{n}": tuple(c) for n, c in enumerate(components, 1)}
    return Answer(problem, {"components": len(components)}, named)


@pytest.mark.parametrize("characteristic", [0, 32003])
def test_the_two_components_pass_and_a_changed_digit_does_not(characteristic):
    layer = SingleLayer(2, 1)
    ring = parametrization(layer, characteristic)[0].ring
    A, V = ring.gens[:4], ring.gens[4:]
    check_base_locus(answer(layer, characteristic, A, V))
    check_base_locus(answer(layer, characteristic, (A[0] + 3 * A[1], A[1], A[2] - A[3], A[3] / 7), V))
    for wrong in ((A[0], A[1], A[2], A[2]), A[:3], (A[0], A[1], A[2], A[3] - V[0]), ()):
        with pytest.raises(TranscriptError, match="does not vanish on component@1"):
            check_base_locus(answer(layer, characteristic, wrong, V))
    with pytest.raises(TranscriptError, match="is not homogeneous"):
        check_base_locus(answer(layer, characteristic, (A[0] + 1, *A[1:]), V))


def test_with_one_token_a_skew_matrix_gives_zero():
    layer = SingleLayer(2, 1, t=1)
    ring = parametrization(layer)[0].ring
    a, b, c, d, *V = ring.gens
    check_base_locus(answer(layer, 0, (a, b + c, d), V))
    with pytest.raises(TranscriptError, match="component@1"):
        check_base_locus(answer(layer, 0, (a, b - c, d), V))
