from fractions import Fraction

import pytest

from agattn.architectures import SingleLayer
from agattn.geometry.identifiability.weights import preimages
from agattn.geometry.strata.critical import boundary
from agattn.geometry.strata.strata import ZERO, Stratum, representative, strata
from agattn.geometry.variety.coordinates import coefficients

LAYERS = [SingleLayer(d, d_out, a) for d in range(1, 5) for d_out in range(1, 4) for a in range(1, d + 1)]


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_boundary_strata(layer):
    found = {s for s in strata(layer) if boundary(layer, s).on_boundary}
    assert found == ({ZERO, Stratum(1, 1, 1)} if layer.d > 1 else set())


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_the_sequence_is_outside_m_and_converges(layer):
    for stratum in strata(layer):
        answer = boundary(layer, stratum)
        if not answer.on_boundary:
            assert answer.sequence is None
            continue
        assert answer.sequence.point(0) == list(coefficients(layer, *representative(layer, stratum)))
        for epsilon in (Fraction(1, 10**n) for n in range(4)):
            fiber = preimages(layer, answer.sequence.point(epsilon))
            assert (fiber.number, fiber.is_real) == (2, False)
        # On the other side of 0 the points are in M: the sign matters.
        if stratum != ZERO:
            assert preimages(layer, answer.sequence.point(Fraction(-1, 9))).is_real
