"""Exports load: into Python, JSON, Macaulay2 and Singular, and the parametrization kills what was loaded."""

import json
import re
from math import prod

import numpy as np
import pytest
from installed import require

from agattn.architectures import SingleLayer
from agattn.engines.process import run_program
from agattn.errors import InputError
from agattn.geometry.ideal.export import export
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.variety.coordinates import coefficients, coordinates

LAYERS = [
    SingleLayer(2, 1),
    SingleLayer(2, 2, 1),
    SingleLayer(3, 1),
    SingleLayer(3, 1, 1, 1),
    SingleLayer(2, 1, 1, 1),
]


def points(layer):
    """Two integer points of the neuromanifold, by coordinates."""
    random = np.random.default_rng(0)
    for _ in range(2):
        K, Q = random.integers(-3, 4, (2, layer.a, layer.d))
        yield [int(y) for y in coefficients(layer, K.T @ Q, random.integers(-3, 4, (layer.d_out, layer.d)))]


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_sympy_module_runs_and_vanishes(layer):
    ideal = compute_ideal(layer, 4)
    namespace: dict[str, object] = {}
    exec(export(ideal, "sympy"), namespace)
    assert len(namespace["symbols"]) == layer.ambient_dimension
    assert len(namespace["equations"]) == sum(piece.minimal_generators for piece in ideal.degrees)
    for values in points(layer):
        substitution = dict(zip(namespace["symbols"], values, strict=True))
        assert all(equation.subs(substitution) == 0 for equation in namespace["equations"][:20])


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_json_vanishes(layer):
    document = json.loads(export(compute_ideal(layer, 4), "json"))
    assert [tuple(index) for index in document["coordinates"]] == list(coordinates(layer))
    for values in points(layer):
        for module in document["modules"]:
            for equation in module["equations"]:
                assert sum(c * prod(values[i] ** e for i, e in factors) for c, factors in equation) == 0


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("name", ["macaulay2", "singular"])
@pytest.mark.parametrize("layer", [SingleLayer(2, 2, 1), SingleLayer(3, 1), SingleLayer(3, 1, 1, 1)], ids=str)
def test_engine_loads_the_file_and_the_parametrization_kills_it(name, layer, tmp_path):
    installation = require(name)
    engine = installation.engine
    from agattn.geometry.ideal.torus_weights import generic_point

    a, v = generic_point(layer)
    values = list(coefficients(layer, a, v))
    ring = values[0].ring
    text = export(compute_ideal(layer, 4), name)
    if name == "macaulay2":
        names = ", ".join(x.macaulay2() for x in ring.variables)
        images = ", ".join(f.macaulay2() for f in values)
        text += f"T = QQ[{names}]\nf = map(T, S, {{{images}}})\n"
        text += '<< "generators " << numgens I << endl\n<< "killed " << (f I == 0) << endl\n'
    else:
        names = ",".join(x.singular() for x in ring.variables)
        images = ",".join(f.singular() for f in values)
        text += f"ring T = 0,({names}),dp;\nideal images = {images};\nmap f = S,images;\nsetring S;\n"
        text += '"generators " + string(size(I));\nsetring T;\n"killed " + string(size(f(I)) == 0);\nquit;\n'
    file = tmp_path / f"script.{engine.suffix}"
    file.write_text(text, encoding="utf-8")
    command = [str(installation.path), *engine.arguments, str(file)]
    ended = run_program(command, timeout=60, memory=8192)
    found = dict(re.findall(r"(generators|killed) (\w+)", ended.output))
    count = sum(piece.minimal_generators for piece in compute_ideal(layer, 4).degrees)
    assert found == {"generators": str(count), "killed": "true" if name == "macaulay2" else "1"}, ended.errors


def test_no_equations_is_the_zero_ideal():
    ideal = compute_ideal(SingleLayer(2, 1), 2)
    assert "ideal(0_S)" in export(ideal, "macaulay2")
    assert "ideal I = 0;" in export(ideal, "singular")
    assert "equations = [\n]" in export(ideal, "sympy")


def test_unknown_format():
    with pytest.raises(InputError, match="maple"):
        export(compute_ideal(SingleLayer(2, 1), 1), "maple")
