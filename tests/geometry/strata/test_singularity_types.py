import pytest

from agattn.architectures import SingleLayer
from agattn.geometry.strata.strata import Stratum, image_dimension, strata
from agattn.geometry.strata.tangent import local_type, tangent_bounds


@pytest.mark.parametrize(
    ("shape", "ranks", "name", "part"),
    [
        ((2, 1, 2), (1, 1, 1), "pinch", "Whitney umbrella times a smooth factor of dimension 3"),
        ((2, 1, 2), (1, 1, 2), "crossing", "two smooth sheets of dimension 5 cross transversally"),
        ((2, 2, 1), (1, 1, 1), "pinch", "Whitney umbrella times a smooth factor of dimension 4"),
        ((2, 2, 2), (1, 1, 1), "pinch", "generalized Whitney umbrella in codimension 2"),
        ((3, 1, 3), (1, 1, 1), "pinch", "a smooth source folded along 2 directions"),
        ((3, 2, 2), (1, 1, 1), "pinch", "a singular source folded along 2 directions"),
        ((3, 2, 2), (1, 1, 2), "crossing", "each of them singular"),
        ((3, 2, 2), (2, 1, 2), "determinantal", "2 × 2 matrices of rank ≤ 1 at 0"),
        ((3, 1, 1), (1, 1, 1), "determinantal", "symmetric 2 × 2 matrices of rank ≤ 1 at 0"),
        ((2, 1, 1), (1, 1, 1), "smooth", "smooth"),
        ((3, 1, 1), (0, 0, 0), "cone", "apex"),
        ((1, 3, 1), (0, 0, 0), "smooth", "smooth"),
    ],
)
def test_known_types(shape, ranks, name, part):
    found = local_type(SingleLayer(*shape), Stratum(*ranks))
    assert found.name == name
    assert part in found.description


@pytest.mark.parametrize("shape", [(2, 1, 2), (2, 3, 2), (3, 2, 1), (3, 2, 3), (4, 3, 2), (4, 2, 4)])
def test_types_fit_the_dimensions(shape):
    layer = SingleLayer(*shape)
    for stratum in strata(layer):
        kind, bounds = local_type(layer, stratum), tangent_bounds(layer, stratum)
        assert (kind.name == "smooth") == (bounds.singular is False)
        assert kind.name != "unknown"
        if kind.name == "determinantal":
            size = layer.d - stratum.r_a
            # The embedding dimension of the model is the dimension of the tangent space.
            smooth = int(kind.description.split()[-1])
            assert size * size + smooth == bounds.value
        if kind.description.startswith("Whitney"):
            assert image_dimension(layer, stratum) == int(kind.description.split()[-1])
        if "transversally" in kind.description:
            assert 2 * bounds.dimension - bounds.value == image_dimension(layer, stratum)
