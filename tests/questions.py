"""One question or more of each task, and which values of an answer nothing native contradicts."""

from fractions import Fraction

from agattn import DeepNetwork, Linear, Network, PolynomialMap, SingleLayer
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.sections.slices import Slice
from agattn.systems.problem import Point, matrix

LAYER = SingleLayer(2, 1)
RANKS = SingleLayer(3, 2, 2)
TWO = SingleLayer(2, 2)
SMALL = SingleLayer(2, 2, 1)
NETWORK = DeepNetwork((2, 2, 1), (2, 2), t=3)
DEEP = DeepNetwork((2, 2, 1), (2, 2), t=2)
TARGET = {"target": tuple(map(Fraction, (5, 22, 21, 10, 34, 28)))}
POINT = {"points": (Point(matrix([[1, 2], [3, 4]]), matrix([[5, 6]])),)}
UNITS = matrix([[int(i == j) for j in range(6)] for i in range(6)])
NORM = {"loss": loss(LAYER, "coefficients")}
OTHER = {"slice": Slice(tuple(map(Fraction, (1, 0, 2, 0, 1, 1))), (UNITS[0], UNITS[3], UNITS[4]))}

CUBIC = PolynomialMap(lambda s: [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3], {"s": 2})
AFFINE = PolynomialMap(lambda s: [s[0], s[0] ** 2 + s[1], s[1] * s[0] + 1], {"s": 2})
LINEAR = Network([Linear(1), Linear(2)], dim=2)

#: Which values of an answer may be other ones without a contradiction, where that is so.
OPEN = {
    # Nothing native is known of the degree of a singular locus; a tangent cone is bounded from outside only.
    ("critical-locus", RANKS): "cone-dimension",
    ("singular-locus", LAYER): "locus-degree",
    # Numbers that have critical points of lower strata among them are not used.
    ("critical-points", LAYER): "lower",
    ("tangent-cone", LAYER): "term",
    # Degrees are bounded by Bézout's theorem only, and dimensions of fibers from below only.
    ("implicit-ideal", CUBIC): "degree",
    ("fiber", CUBIC): "dimension|degree",
    ("fiber", LINEAR): "degree|component-degree",
    # The dimension of a critical locus is bounded from below; its codimension is told alike or not at all.
    ("critical-locus", LINEAR): "dimension|degree|codimension",
    # Of fibers only some points are known.
    ("deep-fiber", DEEP): "(limit|point|rank-one)-(dimension|degree)",
}

#: The task, the architecture, and what is given.
QUESTIONS = [
    ("implicit-ideal", LAYER, {"prime": True}),
    ("implicit-ideal", SMALL, {}),
    ("implicit-ideal", SingleLayer(3, 1, 1), {}),
    ("hilbert-function", LAYER, {}),
    ("hilbert-function", SMALL, {"max_degree": 6}),
    ("singular-locus", LAYER, {}),
    ("critical-locus", LAYER, {}),
    ("critical-locus", LAYER, POINT),
    ("critical-locus", RANKS, {}),
    ("critical-points", LAYER, NORM),
    ("critical-equations", LAYER, NORM),
    ("base-locus", LAYER, {}),
    ("base-locus", SingleLayer(2, 1, t=1), {}),
    ("fiber", LAYER, {}),
    ("fiber", RANKS, {}),
    ("fiber", LAYER, POINT),
    ("strata-tangents", LAYER, {}),
    ("strata-tangents", TWO, {}),
    ("tangent-cone", LAYER, {}),
    ("rank-one-locus", LAYER, {}),
    ("rank-one-locus", TWO, {}),
    ("rank-one-locus", SingleLayer(3, 1), {}),
    ("named-equations", LAYER, {}),
    ("named-equations", SMALL, {}),
    ("membership", LAYER, TARGET),
    ("rlct-normal-form", LAYER, {}),
    ("slice", LAYER, {}),
    ("slice", LAYER, OTHER),
    ("virtual-fiber", NETWORK, {}),
    ("virtual-fiber", DeepNetwork((2, 2, 1), (2, 1), t=3), {}),
    ("deep-fiber", DEEP, {}),
    ("deep-base-locus", DEEP, {}),
    ("deep-limit", DEEP, {}),
    ("implicit-ideal", CUBIC, {"prime": True}),
    ("implicit-ideal", LINEAR, {"max_degree": 2}),
    ("implicit-ideal", LINEAR, {}),
    ("fiber", CUBIC, {}),
    ("fiber", LINEAR, {"components": True}),
    ("critical-locus", LINEAR, {}),
    ("hilbert-function", LINEAR, {}),
    ("hilbert-function", AFFINE, {"max_degree": 2}),
]
