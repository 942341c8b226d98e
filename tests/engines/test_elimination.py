"""Engines against the native ideal: the same by elimination, and whether the equations found are all."""

import os

import pytest

from agattn.architectures import SingleLayer
from agattn.engines.elimination import Completeness, check_generators, eliminate
from agattn.engines.engine import engine_named
from agattn.engines.locate import locate
from agattn.engines.run import Limits
from agattn.errors import EngineNotFoundError
from agattn.geometry.ideal.ideal import compute_ideal


@pytest.fixture(params=["macaulay2", "singular"])
def installation(request):
    try:
        return locate(engine_named(request.param))
    except EngineNotFoundError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.mark.engine
@pytest.mark.parametrize("layer", [SingleLayer(2, 1), SingleLayer(2, 2, 1), SingleLayer(2, 1, 1)], ids=str)
def test_elimination_agrees_with_the_native_ideal(installation, layer):
    found = eliminate(layer, 4, installation, characteristic=32003)
    ideal = compute_ideal(layer, 4)
    assert [p.hilbert_function for p in found.degrees] == [p.hilbert_function for p in ideal.degrees]
    assert found.generators_by_degree == ideal.generators_by_degree


@pytest.mark.engine
def test_the_whole_ideal_is_recognized(installation):
    complete = check_generators(compute_ideal(SingleLayer(2, 2, 1), 4), installation)
    assert complete.prime is True
    assert complete.conclusion == "the whole ideal: prime, and of the dimension of M̄"


@pytest.mark.engine
def test_the_hilbert_function_tells_missing_generators(installation):
    layer = SingleLayer(2, 2, 1)
    whole = check_generators(compute_ideal(layer, 4), installation)
    assert whole.hilbert_function == whole.expected_hilbert_function
    assert whole.hilbert_function[:3] == (1, 12, 63)  # C(13, 2) - 15 quadrics
    part = check_generators(compute_ideal(layer, 2), installation)  # without the quartics
    assert part.hilbert_function[:4] == whole.hilbert_function[:4]
    assert part.hilbert_function[4] == whole.hilbert_function[4] + 5


@pytest.mark.engine
def test_missing_equations_are_recognized(installation):
    complete = check_generators(compute_ideal(SingleLayer(2, 2, 1), 1), installation)
    assert complete.conclusion.startswith("not the whole ideal")


@pytest.mark.engine
def test_out_of_time_is_undecided(installation):
    complete = check_generators(
        compute_ideal(SingleLayer(3, 2, 1), 4), installation, limits=Limits(timeout=0.05)
    )
    assert complete.conclusion.startswith("undecided")


def test_conclusions():
    assert Completeness(7, 20, 6, 20, None, 0).conclusion.startswith("not the whole ideal")
    assert Completeness(6, 20, 6, 20, True, 0).conclusion.startswith("the whole ideal")
    same = Completeness(6, 20, 6, 20, None, 0)
    assert same.conclusion.startswith("same top-dimensional part")
    series = Completeness(6, 20, 6, 20, None, 0, (1, 12), (1, 12))
    assert (
        series.conclusion
        == "same Hilbert function up to degree 1: they generate all equations of these degrees"
    )
    assert Completeness(6, 21, 6, 20, False, 0).conclusion == "same dimension as M̄"
    assert Completeness(6, 21, 6, 20, None, 32003).as_json()["evidence"] == "modular"
