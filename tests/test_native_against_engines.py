"""Wherever an engine and the native computation do the same task, they must agree.

The engines know nothing of factorization or Schur modules, and the native computations nothing of Gröbner
bases, so that an error in either shows here. Not every comparison is independent, though: each test says
whether the engine got more than the map and one pair (A, V) of each orbit, or only checks and ranks what the
native computation handed to it.
"""

from collections import Counter
from functools import cache

import pytest

from agattn.architectures import SingleLayer
from agattn.engines.run import run
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.strata.strata import strata
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.limits import limited
from agattn.systems.catalogue import build
from agattn.systems.ideal_tasks import IDEAL, RANK_ONE_LOCUS
from agattn.systems.layer_tasks import BASE_LOCUS, CRITICAL, FIBERS, GENERIC_RANK, TANGENTS

LAYERS = [SingleLayer(d, d_out, a) for d in (1, 2, 3) for d_out in (1, 2) for a in range(1, d + 1)]
WIDER = [SingleLayer(2, 3), SingleLayer(2, 1, 5), SingleLayer(4, 1, 2)]
BY_MACAULAY2 = [SingleLayer(2, 1), SingleLayer(3, 1, 2)]

both = pytest.mark.parametrize(
    ("engine", "layer"),
    [("singular", layer) for layer in LAYERS + WIDER] + [("macaulay2", layer) for layer in BY_MACAULAY2],
    ids=str,
)
pytestmark = pytest.mark.engine


@cache
def put(task, layer, installation):
    """What an engine says; each question is put once, however many tests look at the answer."""
    return task.read(run(build(task.name, layer), installation).answer)


@pytest.fixture
def installation(both_engines, engine):
    return next(i for i in both_engines if i.engine.name == engine)


@pytest.fixture
def answers(installation):
    """Puts a task to an engine, and returns its value and the native one."""
    return lambda task, layer: (put(task, layer, installation), task.native(layer))


@pytest.mark.slow
@both
def test_fibers(answers, layer):
    """Independent: the engine solves φ(A, V) = φ(A₀, V₀), native code factors quadratic forms."""
    by_engine, natively = answers(FIBERS, layer)
    assert by_engine.keys() == natively.keys() == set(strata(layer)) - {strata(layer)[0]}
    for stratum, fiber in natively.items():
        assert fiber.length is not None
        assert by_engine[stratum] == fiber, str(stratum)


@both
def test_critical_strata(answers, layer):
    """Independent: the engine computes kernels and minors, native code argues with ranks."""
    by_engine, natively = answers(CRITICAL, layer)
    assert by_engine == natively and by_engine.keys() == set(strata(layer))


@pytest.mark.slow
@both
def test_base_locus(answers, layer):
    """Independent: the engine decomposes {φ = 0}, native code looks at one point of each orbit."""
    by_engine, natively = answers(BASE_LOCUS, layer)
    assert by_engine == natively == {"A = 0", "V = 0"}


@pytest.mark.slow
@both
def test_tangent_spaces(answers, layer):
    """Not independent from above: the engine is given native equations and preimages, which it checks.

    The ranks of velocities and gradients are its own.
    """
    by_engine, natively = answers(TANGENTS, layer)
    assert by_engine.keys() == natively.keys() == set(strata(layer))
    fibers = FIBERS.native(layer)
    for stratum, bounds in by_engine.items():
        value = tangent_bounds(layer, stratum).value
        assert natively[stratum].lower == natively[stratum].upper == value
        assert bounds.lower <= value <= bounds.upper, str(stratum)
        # Where neither the source decides nor 0 is meant, the engine has equations enough to be exact.
        if fibers.get(stratum) != fibers[max(strata(layer))]:
            assert bounds.lower == bounds.upper == value, str(stratum)


@both
def test_dimension(answers, layer):
    """Independent: ranks of the differential over ℚ at given points, and modulo a prime at random ones."""
    by_engine, _ = answers(TANGENTS, layer)
    ranks = [t.differential_rank for stratum, t in by_engine.items() if stratum.r_a == layer.alpha]
    assert max(ranks) == GENERIC_RANK.native(layer) == layer.expected_dimension


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "layer"),
    [("singular", layer) for layer in LAYERS + WIDER[:2] if layer.d > 1]
    + [("macaulay2", SingleLayer(2, 2, 1)), ("macaulay2", SingleLayer(3, 1, 2))],
    ids=str,
)
def test_closure_of_the_points_of_rank_one(answers, layer):
    """Independent but for the equations, which the engine checks: Gröbner bases against formulas."""
    by_engine, natively = answers(RANK_ONE_LOCUS, layer)
    assert by_engine == natively


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "layer"),
    [("singular", SingleLayer(*sizes)) for sizes in [(2, 1), (2, 2, 1), (2, 2), (3, 1, 1)]]
    + [("macaulay2", SingleLayer(*sizes)) for sizes in [(2, 1), (2, 2, 1), (2, 2), (2, 3), (3, 1, 2)]],
    ids=str,
)
def test_named_families_span_the_equations(installation, layer):
    """Independent: the engine expands minors and resultants, native code decomposes a ring into modules.

    Both are in the ideal, and in each degree both have as many generators modulo lower degrees.
    """
    with limited(timeout=120):
        named = run(build("named-equations", layer), installation).answer.polynomials["generators"]
    ideal = compute_ideal(layer, 4)
    assert Counter(f.degree() for f in named) == ideal.generators_by_degree
    equations = [Equation.from_polynomial(f, type(layer)) for f in named]
    assert all(equation.vanishes_on(layer) for equation in equations)


@pytest.mark.parametrize(
    ("engine", "layer"),
    [("singular", layer) for layer in LAYERS if not IDEAL.infeasible(layer) and layer != SingleLayer(3, 1)]
    + [("macaulay2", SingleLayer(2, 2)), ("macaulay2", SingleLayer(3, 1, 1))],
    ids=str,
)
def test_tangent_spaces_of_the_whole_ideal(installation, layer):
    """Independent: the equations come from elimination, and only the ranks of their gradients are native."""
    ideal = put(IDEAL, layer, installation)
    assert ideal.dimension == GENERIC_RANK.native(layer)
    for stratum, dimension in ideal.tangent_dimension.items():
        assert dimension == tangent_bounds(layer, stratum).value, str(stratum)
