"""Tangent cones and membership, by every installation of both engines."""

from fractions import Fraction

import pytest

from agattn.architectures import SingleLayer
from agattn.engines.run import run
from agattn.geometry.identifiability.weights import preimages
from agattn.geometry.strata.strata import strata
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import coefficients
from agattn.systems.catalogue import build

# The multiplicity at each stratum.
MULTIPLICITIES = {
    SingleLayer(2, 1): {"0,0,0": 4, "1,1,1": 2, "1,1,2": 2, "1,2,2": 1},
    SingleLayer(2, 2): {"0,0,0": 20, "1,1,1": 2, "1,1,2": 2, "1,2,2": 1, "2,1,2": 1, "2,2,2": 1},
}


def ask(installation, task, layer, **others):
    return run(build(task, layer, **others), installation).answer


@pytest.mark.parametrize(("layer", "multiplicities"), MULTIPLICITIES.items(), ids=["212", "222"])
def test_tangent_cones(engine_installation, layer, multiplicities):
    answer = ask(engine_installation, "tangent-cone", layer)
    assert answer.at_points("multiplicity") == multiplicities
    assert set(answer.at_points("dimension").values()) == {layer.expected_dimension}
    check_spans(layer, answer)


def check_spans(layer, answer):
    """The cone lies in the tangent space, and in these cases spans it; its equations are homogeneous."""
    for stratum in strata(layer):
        label = str(stratum).strip("()")
        assert answer.at_points("span")[label] == tangent_bounds(layer, stratum).value, label
        cone = answer.polynomials[f"cone@{label}"]
        assert all(len({sum(exponents) for exponents in f.terms}) == 1 for f in cone)
        linear = sum(f.degree() == 1 for f in cone)
        assert linear == layer.ambient_dimension - answer.at_points("span")[label]
        # Linear equations and no others cut out a linear space: a smooth point.
        smooth = answer.at_points("multiplicity")[label] == 1
        assert smooth == (len(cone) == linear) == (not tangent_bounds(layer, stratum).singular)


@pytest.mark.parametrize("layer", [SingleLayer(2, 1, 1), SingleLayer(2, 2, 1), SingleLayer(3, 1, 1)], ids=str)
def test_more_tangent_cones(singular, layer):
    answer = ask(singular, "tangent-cone", layer)
    assert set(answer.at_points("dimension").values()) == {layer.expected_dimension}
    check_spans(layer, answer)


def test_the_multiplicity_at_zero_is_the_degree(singular):
    # M̄ is a cone, so that its tangent cone at 0 is M̄ itself.
    for layer in (SingleLayer(2, 1, 1), SingleLayer(2, 2, 1)):
        cone = ask(singular, "tangent-cone", layer)
        ideal = ask(singular, "implicit-ideal", layer)
        assert cone.integers["multiplicity@0,0,0"] == ideal.integers["degree"]
        degrees = [
            sorted(f.degree() for f in answer.polynomials[name])
            for answer, name in ((cone, "cone@0,0,0"), (ideal, "generators"))
        ]
        assert degrees[0] == degrees[1]


@pytest.mark.parametrize("layer", [SingleLayer(1, 1), SingleLayer(1, 2, 3)], ids=str)
def test_tangent_cones_of_a_linear_space(both_engines, layer):
    for installation in both_engines:
        answer = ask(installation, "tangent-cone", layer)
        for name, value in (("dimension", layer.d_out), ("span", layer.d_out), ("multiplicity", 1)):
            assert set(answer.at_points(name).values()) == {value}
        assert set(answer.polynomials.values()) == {()}


# Membership -------------------------------------------------------------------------------------------------


def fractions(*values):
    return tuple(map(Fraction, values))


def image(layer, A, V):
    return tuple(map(Fraction, coefficients(layer, A, V)))


RANK2, RANK3 = [[1, 2, 0], [0, 1, 1], [1, 3, 1]], [[1, 2, 0], [0, 1, 1], [1, 3, 2]]
VALUES = [["1/2", -1, 3], [0, 2, 5]]
VALUES = [[Fraction(entry) for entry in row] for row in VALUES]
POINTS = {
    "definite": (SingleLayer(2, 1), fractions(1, 0, 1, 0, 0, 0), 1),
    "zero": (SingleLayer(2, 1), fractions(0, 0, 0, 0, 0, 0), 1),
    "random": (SingleLayer(2, 1), fractions(1, 2, 3, 4, "5/7", 6), 0),
    "a common factor": (SingleLayer(2, 1), fractions(1, 3, 2, 1, 4, 3), 1),  # (u+v)(u+2v), (u+v)(u+3v)
    "two quadrics, a = 1": (SingleLayer(2, 1, 1), fractions(1, 3, 2, 1, 4, 3), 0),
    "proportional quadrics, a = 1": (SingleLayer(2, 1, 1), fractions(1, 3, 2, -2, -6, -4), 1),
    "weights of rank a": (SingleLayer(3, 2, 2), image(SingleLayer(3, 2, 2), RANK2, VALUES), 1),
    "weights of rank a + 1": (SingleLayer(3, 2, 2), image(SingleLayer(3, 2, 2), RANK3, VALUES), 0),
    "the same, a = 3": (SingleLayer(3, 2, 3), image(SingleLayer(3, 2, 3), RANK3, VALUES), 1),
}


@pytest.mark.parametrize(("layer", "target", "member"), POINTS.values(), ids=POINTS)
def test_membership(singular, layer, target, member):
    assert ask(singular, "membership", layer, target=target).integers == {"member": member}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["definite", "random", "weights of rank a", "weights of rank a + 1"])
def test_membership_by_macaulay2(both_engines, name):
    layer, target, member = POINTS[name]
    assert ask(both_engines[0], "membership", layer, target=target).integers == {"member": member}


@pytest.mark.parametrize(("layer", "target", "member"), POINTS.values(), ids=POINTS)
def test_membership_is_having_a_preimage(layer, target, member):
    if any(target):
        assert (preimages(layer, target).number > 0) == member


@pytest.mark.slow
def test_membership_with_one_token(both_engines):
    # The cubics V(x)·(xᵀAx) of d = 2, d' = 1: every cubic over ℂ is a linear form times a quadratic one.
    every = SingleLayer(2, 1, t=1)
    # For d' = 2 two cubics with a common quadratic factor; these two have none.
    some = SingleLayer(2, 2, t=1)
    for installation in both_engines:
        assert ask(installation, "membership", every, target=fractions(1, 2, -3, 5)).integers["member"] == 1
        cubics = fractions(1, 0, 0, 0, 0, 0, 0, 1)
        assert ask(installation, "membership", some, target=cubics).integers["member"] == 0
        cubics = image(some, [[1, 2], [0, 3]], [[1, -1], [2, 5]])
        assert ask(installation, "membership", some, target=cubics).integers["member"] == 1
