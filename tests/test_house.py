"""The structure of the package, as ``python -m tests.house`` measures it, stays what the pages say."""

import ast
from collections import defaultdict

import numpy as np

from agattn.algebra.arithmetic import FloatArithmetic
from agattn.architectures import DeepNetwork
from agattn.geometry.dimension.jacobian import jacobian
from tests.house import arrows_up, circles, files, floor_of, imports, trace


def test_imports_by_name_are_seen():
    assert "agattn.cli.commands" in imports("agattn.cli.main")
    assert "agattn.library" in imports("agattn")
    assert "agattn.architectures.model_file" in imports("agattn.architectures")


def test_no_file_needs_a_higher_floor():
    assert floor_of("agattn.cli.main") > floor_of("agattn.geometry.ideal.ideal") > floor_of("agattn.errors")
    assert floor_of("agattn.geometry.strata.strata") > floor_of("agattn.geometry.variety.degree")
    assert arrows_up() == []


def test_no_files_need_each_other():
    assert circles() == []


def test_every_class_has_a_name_of_its_own():
    """A name in a type hint tells which class is meant; the checker, which stands alone, has its own."""
    places = defaultdict(set)
    for module, path in files().items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and module != "agattn.checker" and node.name[0] != "_":
                places[node.name].add(module)
    assert {"ExactWeights", "Weights", "PointFacts"} <= set(places)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_evaluating_and_differentiating_a_network_makes_no_call_up():
    network = DeepNetwork((3, 2, 2), (1, 2), t=2)
    draw = np.random.default_rng(0).standard_normal
    parameters = {name: draw(shape) for name, shape in network.shapes.items()}
    X = draw((5, *network.input_shape))
    found = trace(lambda _: jacobian(network, parameters, X, FloatArithmetic()))
    assert {"agattn.algebra", "agattn.architectures", "agattn.geometry.dimension"} == set(found["rooms"])
    assert found["calls_up"] == 0
