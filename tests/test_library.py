"""The face of the library: what it names, how its results print, and what its errors say."""

import ast
import inspect
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from installed import require

import agattn as ag
from agattn.engines.engine import ENGINES
from agattn.errors import EngineTimeoutError
from agattn.evidence import Shown
from agattn.geometry.critical_points.counts import CriticalPoints, CriticalSet
from agattn.geometry.critical_points.loss import loss

LAYER, NETWORK = ag.SingleLayer(3, 2, a=2), ag.DeepNetwork((3, 3, 3), (1, 2), t=3)
SMALL = ag.SingleLayer(2, 1)


def test_the_table_of_contents_is_what_is_typed_and_what_is_found():
    tree = ast.parse(Path(ag.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {(node.module, alias.name) for node in block.body for alias in node.names}
    assert typed == {(home, name) for home, names in ag._HOMES.items() for name in names}
    assert dir(ag) == sorted(ag.__all__) == sorted({name for _, name in typed} | {"__version__"})
    for home, name in typed:
        found = getattr(ag, name)
        if isinstance(found, ModuleType):  # agattn.check, once it was imported: it is called like the verb
            certificate = ag.certificate(SMALL, "theorem-3.4")
            assert name == "check" and found(certificate) == ag.library.check(certificate)
        else:
            assert inspect.unwrap(found) is getattr(sys.modules[home], name)
        assert getattr(ag, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'dimensions'"):
        _ = ag.dimensions


def test_importing_loads_nothing_heavy():
    code = "import sys, agattn; dir(agattn); print(sorted({'numpy', 'flint', 'sympy', 'rich', 'jinja2'} & set(sys.modules)))"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def results():
    certificate = ag.certificate(SMALL, "theorem-3.4")
    weights = {"K": [[1, 2]], "Q": [[0, 1]], "V": [[1, 0]]}
    return {
        "dimension": ag.dimension(NETWORK),
        "strata": ag.strata(LAYER),
        "tangent_space": ag.tangent_space(LAYER, (2, 1, 2)),
        "ideal": ag.ideal(SMALL),
        "fiber": ag.fiber(ag.SingleLayer(2, 1, a=1), weights),
        "equivalent": ag.equivalent(weights, weights),
        "identify": ag.identify(SMALL, [1, 0, 0, 0, 0, 1]),
        "classify": ag.classify(weights),
        "learning_coefficient": ag.learning_coefficient(weights),
        "critical_points": CriticalPoints(
            loss(SMALL), {ag.Stratum(1, 2, 2): CriticalSet(0, 14)}, (32003,), "singular 4.4.1"
        ),
        "critical_points_near": ag.critical_points_near(
            SMALL, {"A": [[1, 2], [0, 1]], "V": [[1, -1]]}, "gaussian"
        ),
        "singularities": ag.singularities(ag.DeepNetwork((2, 2, 1), (2, 2), t=2)),
        "symmetries": ag.symmetries(ag.DeepNetwork((3, 1, 2), (2, 2), t=2)),
        "train": ag.train(SMALL, seeds=1, time=10.0),
        "verify": ag.verify(LAYER, "3.4", engine="native"),
        "certificate": certificate,
        "check": ag.check(certificate),
        "script": ag.script(SMALL, "implicit-ideal", "singular"),
    }


def test_every_result_prints_as_a_summary_and_shows_as_a_table():
    found = results()
    assert {*found, "run", "weights"} == {name for name in ag.__all__ if name.islower() and name[0] != "_"}
    for name, value in found.items():
        assert repr(value) == str(value), name
        assert not str(value).startswith(("<agattn", f"{type(value).__name__}(")), name
        assert "object at 0x" not in str(value), name
        assert value._repr_html_().startswith("<pre>" if name == "script" else "<table>"), name
    assert "dim T_p = 14" in repr(found["tangent_space"])
    assert re.search(r"theorem-3\.4\.singular +refuted +proved", repr(found["verify"]))
    assert "(2,1,2)" in repr(found["strata"])
    assert repr(found["check"]).endswith("The certificate is valid.")


def test_nothing_that_is_shown_prints_as_python_does():
    def below(kind):
        return [kind, *(x for one in kind.__subclasses__() for x in below(one))]

    results()
    values = {"SingleLayer", "OneTokenLayer", "DeepNetwork", "Network", "Shown"}
    for kind in below(Shown):
        if kind.__name__ not in values and kind.__module__.startswith("agattn"):
            assert kind.__repr__ is Shown.__repr__, kind


def test_a_report_is_a_mapping_of_verdicts():
    report = results()["verify"]
    assert list(report) == [verdict.claim for verdict in report.verdicts]
    assert "(2,1,2)" in report["theorem-3.4.singular"].witness
    assert report.get("theorem-3.2") is None
    with pytest.raises(KeyError, match=r"did you mean 'theorem-3\.4\.singular'"):
        _ = report["theorem-3.4.singul"]


def test_a_certificate_is_saved_and_checked(tmp_path):
    certificate = ag.certificate(LAYER, "theorem-3.4.singular")
    certificate.save(tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text()) == certificate
    assert ag.check(tmp_path / "c.json")["valid"]
    forged = json.loads(json.dumps(certificate))
    forged["claims"][0]["fails_at"] = []
    assert not ag.check(forged)["valid"]
    assert str(ag.check(forged)).startswith("NOT VALID: ")


def test_exact_weights_are_classified_exactly():
    near = [[1, 0], [0, "1/1000000000000"]]
    [exact] = ag.classify({"A": near, "V": [[1, 2]]})
    [rounded] = ag.classify({"A": np.array([[1, 0], [0, 1e-12]]), "V": [[1.0, 2.0]]})
    assert (exact.r_a, exact.evidence, exact.singular) == (2, ag.Evidence.PROVED, False)
    assert (rounded.r_a, rounded.evidence, rounded.singular) == (1, ag.Evidence.NUMERICAL, True)
    two = ag.classify({"A": [near, near], "V": [[[1, 2]], [[0, 0]]]})
    assert [head.r for head in two] == [2, 0]
    assert str(two).startswith("2 heads, 1 of them singular")


def test_functions_are_identified():
    w = ag.weights(A=[[1, 2], [3, 4]], V=[[5, 7]])
    found = ag.identify(SMALL, lambda X: w(X))
    assert found.in_neuromanifold
    assert ag.equivalent(w, {"A": found.A, "V": found.V}).equal


@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_is_shown_and_agrees_with_the_native_ideal(engine):
    require(engine)
    done = ag.run(SMALL, "implicit-ideal", engine)
    assert repr(done) == str(done)
    assert "dimension: 5" in str(done)
    assert "<table>" in done._repr_html_()
    assert ag.ideal(SMALL, 4, engine).generators_by_degree == {4: 1}
    point = ag.run(SMALL, "membership", engine, point=[1, 0, 0, 0, 0, 1])
    inside = ag.run(SMALL, "membership", engine, point=ag.weights(A=[[1, 2], [0, 1]], V=[[1, 1]]))
    assert point.answer.as_json() != inside.answer.as_json()


W = {"A": [[1, 0], [0, 1]], "V": [[1, 2]]}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ag.strata(NETWORK), "strata are those of one layer, .* use ag.dimension or ag.verify"),
        (lambda: ag.ideal(NETWORK), "has up to .* terms; the limit is .* smaller widths"),
        (lambda: ag.fiber(NETWORK, W), "A is no parameter of M"),
        (lambda: ag.fiber("layer", W), "takes an architecture first"),
        (lambda: ag.identify(NETWORK, [1]), "are those of one layer"),
        (lambda: ag.certificate(NETWORK, "equation-12"), "only agattn.deep-zeros"),
        (lambda: ag.tangent_space(NETWORK, (1, 1, 1)), "are those of one layer"),
        (lambda: ag.strata("3 2 2"), r"takes an architecture first, such as ag\.SingleLayer.* given '3 2 2'"),
        (lambda: ag.dimension(ag.SingleLayer), "takes an architecture first"),
        (lambda: ag.strata(ag.SingleLayer(2, 1, t=1)), "need t ≥ 2"),
        (lambda: ag.strata(ag.SingleLayer(900, 900)), "force=True"),
        (lambda: ag.tangent_space(LAYER, (9, 1, 1)), r"not a stratum of M\(3,2,2\).* ag\.strata\(layer\)"),
        (lambda: ag.tangent_space(LAYER, 3), "give its three ranks"),
        (lambda: ag.tangent_space(SMALL, {"A": [[1.0, 0], [0, 1]], "V": [[1, 2]]}), "floating point"),
        (lambda: ag.ideal(SMALL, engine="macaulay"), "did you mean 'macaulay2'"),
        (lambda: ag.fiber(LAYER, W), r"d = 2 and d' = 1, which is not M\(3,2,2\)"),
        (lambda: ag.fiber(SMALL, {"K": [[1, 2]], "Q": [[1, 2]], "V": [[1, 2]]}), "1 rows, and a is 2"),
        (lambda: ag.fiber(ag.SingleLayer(2, 1, t=1), W), "t is 1"),
        (lambda: ag.verify(SMALL, "theorm-3.2"), "did you mean 'theorem-3.2'"),
        (lambda: ag.verify(SMALL, "lemma-3.5"), r"about a network; give ag\.DeepNetwork\(dims, ranks\)"),
        (lambda: ag.verify(SMALL, engine="sage"), "there is no engine 'sage'"),
        (lambda: ag.check({"format": 3}), "is not a certificate"),
        (lambda: ag.check("/nowhere/c.json"), "No such file"),
        (lambda: ag.script(SMALL, "ideal"), "there is no task 'ideal'"),
        (lambda: ag.script("implicit-ideal", SMALL), "takes an architecture first"),
        (lambda: ag.script(SMALL, NETWORK), "the architecture, then a task's name"),
        (lambda: ag.script(SMALL, "implicit-ideal", "M3"), "there is no engine 'M3'"),
        (lambda: ag.script(SMALL, "implicit-ideal", max_degre=3), "did you mean 'max_degree'"),
        (lambda: ag.script(SMALL, "implicit-ideal", max_degree=3), "looks at no max_degree"),
        (lambda: ag.script(SMALL, "membership"), r"needs point=\.\.\."),
        (lambda: ag.script(SMALL, "virtual-fiber"), r"about a network; give ag\.DeepNetwork"),
        (lambda: ag.script(SMALL, "fiber", point={"A": [[0.5, 0], [0, 1]], "V": [[1, 2]]}), "exact ones"),
        (lambda: ag.classify([]), "weights are given by list"),
        (lambda: ag.classify("/nowhere.npz"), "there is no such file"),
    ],
)
def test_errors_name_the_nearest_right_call(call, message):
    with pytest.raises(ag.InputError, match=message) as caught:
        call()
    assert "--" not in str(caught.value)


# Progress ---------------------------------------------------------------------------------------------------


def test_a_long_call_tells_what_it_does_after_two_seconds(monkeypatch, capsys):
    """Nothing before, and the last step at that moment; with a function of one's own nothing on stderr."""
    from agattn.display import patience
    from agattn.verification import critical_points as room

    told = []

    def slowly(layer, *_, progress, **__):
        progress("first")
        progress("second")
        time.sleep(0.5)
        progress("third")

    monkeypatch.setattr(room, "critical_points", slowly)
    ag.critical_points(ag.SingleLayer(3, 2, 2))
    assert patience.AFTER == 2 and capsys.readouterr() == ("", "")
    with patience.told("work", after=0.2) as tell:
        slowly(None, progress=tell)
    assert capsys.readouterr().err.splitlines() == ["work: second", "work: third"]
    ag.critical_points(ag.SingleLayer(3, 2, 2), progress=told.append)
    assert told == ["first", "second", "third"] and capsys.readouterr() == ("", "")


def test_a_time_limit_names_the_argument(singular, monkeypatch):
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    with pytest.raises(EngineTimeoutError, match=r"its time limit; raise timeout$"):
        ag.critical_points(ag.SingleLayer(3, 2, 2), engine="singular", smooth=True, timeout=0.5)
