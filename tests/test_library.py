"""The face of the library: what it names, how its results print, and what its errors say."""

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from installed import require

import agattn as ag
from agattn import library
from agattn.architectures.model_file import read_toml
from agattn.engines.catalogue import ENGINES
from agattn.errors import EngineTimeoutError
from agattn.experiments.training.experiment import read_experiments

LAYER, NETWORK = ag.SingleLayer(3, 2, a=2), ag.DeepNetwork((3, 3, 3), (1, 2), t=3)
SMALL = ag.SingleLayer(2, 1)


def test_the_table_of_contents_is_what_is_typed_and_what_is_found():
    tree = ast.parse(Path(ag.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {
        (alias.asname or alias.name, f"{node.module}:{alias.name}")
        for node in block.body for alias in node.names
    }  # fmt: skip
    homes = {(name, f"{home}:{name}") for home, names in ag._HOMES.items() for name in names}
    assert typed == homes | set(library.VERBS.items())
    assert dir(ag) == sorted(ag.__all__) == sorted({name for name, _ in typed} | {"__version__"})
    for name, place in typed:
        home, _, function = place.partition(":")
        found = getattr(ag, name)
        assert inspect.unwrap(found) is inspect.unwrap(getattr(sys.modules[home], function))
        assert getattr(ag, name).__doc__


def test_importing_loads_nothing_heavy():
    code = "import sys, agattn; dir(agattn); print(sorted({'numpy', 'flint', 'sympy', 'networkx', 'rich', 'jinja2'} & set(sys.modules)))"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


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
    given = {"A": np.array([[1, 0], [0, 1e-12]]), "V": [[1.0, 2.0]]}
    [rounded] = ag.classify(given)  # float64 tells 1e-12 from 0, and float32 does not
    assert (rounded.r_a, rounded.evidence, rounded.singular) == (2, ag.Evidence.NUMERICAL, False)
    [rounded] = ag.classify({name: np.asarray(M, np.float32) for name, M in given.items()})
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


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_is_shown_and_agrees_with_the_native_ideal(engine):
    require(engine)
    done = ag.run(SMALL, "implicit-ideal", engine)
    assert repr(done) == str(done)
    assert "dimension: 5" in str(done)
    assert "<table>" in done._repr_html_()
    assert ag.ideal(SMALL, 4, engine).generators_by_degree == {4: 1}
    if "membership" not in ENGINES[engine].tasks:
        return
    point = ag.run(SMALL, "membership", engine, point=[1, 0, 0, 0, 0, 1])
    inside = ag.run(SMALL, "membership", engine, point=ag.weights(A=[[1, 2], [0, 1]], V=[[1, 1]]))
    assert point.answer.as_json() != inside.answer.as_json()


W = {"A": [[1, 0], [0, 1]], "V": [[1, 2]]}


def test_a_time_limit_names_the_argument(singular, monkeypatch):
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    with pytest.raises(EngineTimeoutError, match=r"its time limit; raise timeout$"):
        ag.critical_points(ag.SingleLayer(3, 2, 2), engine="singular", smooth=True, timeout=0.5)


A, V, K = [[1, 2], [0, 1]], [[1, 3]], [[1, 0]]
MODEL = ag.Network([ag.Linear(2)], dim=2)
#: What a new user writes instead of an architecture or weights, without it, or behind one.
INSTEAD = [
    (), (None,), (3,), (3, 2), (3, 2, 2), (2.5, 2), ((3, 3, 3), (1, 2)), ("3 2 2",), ("model.toml",),
    ("a", "b"), (Path("nowhere/model.toml"),), (b"3",), (A, V), (K, K, V), ([A, V],), ((K, K, V),),
    (np.array(A),), (np.array(A), np.array(V)), ([np.array(A), np.array(V)],), (ag.SingleLayer,),
    (ag.DeepNetwork,), ({},), ({1: 2},), ({"K": K},), ({"A": None, "V": V},), ([],), (object(),), ({3, 2},),
    (float("nan"),), (len,),
]  # fmt: skip
BEHIND = [
    (), (None,), (3,), (2.5,), ("abc",), (A, V), (K, K, V), ((K, K, V),), (np.array(A),), ([1, 2],), ([A],),
    ([np.array(A)],), ({},), ({1: 2},), ({"A": "abc", "V": None},), ({"W_1": "x"},), (object(),), (SMALL,),
    (ag.SingleLayer,), (lambda: 1,), ("implicit-ideal", None), ("implicit-ideal", 3),
]  # fmt: skip
NAMED = [
    {"embed_dim": 3, "out_dim": 2, "attn_dim": 2}, {"d": 3, "d_out": 2}, {"dims": (3, 3), "ranks": (1,)},
    {"tokens": 2}, {"t": 2}, {"K": K, "Q": K, "V": V}, {"layer": 3}, {"nonsense": 1},
]  # fmt: skip
#: What an argument that every verb takes by name may be given instead of what it is.
VALUES = [None, -1, 2.5, "a", [], [1], {}, {"a": 1}, np.eye(2), np.zeros(0), object(), SMALL, b"x", (1, 2)]
VERBS = [name for name in ag.__all__ if name.islower() and name[0] != "_"]


def _signature(verb):
    return inspect.signature(getattr(library, verb))


def _by_name(verb):
    """The arguments that a verb takes by name alone."""
    return {name for name, one in _signature(verb).parameters.items() if one.kind is one.KEYWORD_ONLY}


NAMES = sorted(
    {name for verb in VERBS for name in _by_name(verb)} - {"A", "K", "Q", "V", "a", "data", "seeds"}
)


@pytest.mark.parametrize("verb", VERBS)
def test_no_call_ends_in_an_error_of_python(verb, monkeypatch):
    """Whatever is given: a result where it fits, else one line that is agattn's own."""

    def stop(*_, **__):
        raise ag.InputError("the call fits, and this test computes no more")

    for room in (
        "agattn.verification.critical_points.count_critical_points",
        "agattn.experiments.training.training.train",
        "agattn.experiments.studies.study.study",
        "agattn.engines.locate._examined",
        "agattn.reports.report.of_attention",
        "agattn.reports.report.of_model",
        "agattn.reports.figure1.compute_figure_1",
        "agattn.reports.figure3.figure_3",
    ):
        monkeypatch.setattr(room, stop)
    calls = [(args, {}) for args in INSTEAD] + [((), named) for named in NAMED]
    calls += [((first, *args), {}) for first in (SMALL, MODEL, W) for args in BEHIND]
    calls += [((SMALL,), named) for named in NAMED]
    for args, named in calls:
        try:
            getattr(ag, verb)(*args, **named)
        except ag.AgattnError as error:
            assert "\n" not in str(error) and 10 < len(str(error)) < 700, (args, named)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_are_checked_by_their_names(name):
    """The same of all verbs, before anything is computed; no argument is without a check by forgetting."""
    fits, words = library._MUST_BE[name]
    verb = next(verb for verb in VERBS if name in _by_name(verb))
    default = _signature(verb).parameters[name].default
    own = {"equivalent": (W, W), "classify": (W,), "rank": ([[1]],), "study": ("a = 1\n",)}
    first = (own | {"read": ("x.m2", SMALL)}).get(verb, (SMALL, "implicit-ideal", W))
    parameters = _signature(verb).parameters.values()
    count = sum(one.default is one.empty for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD)
    assert default is None or fits(default)
    silent = name == "progress"  # None is then as if nothing were given
    refused = [v for v in VALUES if not fits(v) and not (v is None and (default is None or silent))]
    assert refused
    for value in refused:
        with pytest.raises(ag.InputError) as caught:
            getattr(ag, verb)(*first[:count], **{name: value})
        assert str(caught.value).startswith(f"{name} is ") and str(caught.value).endswith(words)
        assert "\n" not in str(caught.value)


CONSTRUCTORS = [
    name for name in ag.__all__ if isinstance(getattr(ag, name), type)
    and not issubclass(getattr(ag, name), Exception)
    and name not in ("Evidence", "Status", "Stratum", "Verdict")
]  # fmt: skip


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_constructors_show_their_signature_and_refuse_the_rest_of_calls(name):
    made = getattr(ag, name)
    parameters = inspect.signature(made).parameters
    assert "args" not in parameters and "named" not in parameters
    assert all(key == "skip" or key in (made.__doc__ or "") for key in parameters)
    values = [
        None, "a", 3, -1, 2.5, [], [3], [A], np.eye(2), {}, object(), ag.SingleLayer, ag.Linear(2), SMALL,
    ]  # fmt: skip
    for args in [(), *((value,) for value in values), *((value,) * 2 for value in values), (1,) * 9]:
        for named in ({}, {"nonsense": 1}, {"embed_dim": 3}, {"t": "a"}, {"tokens": [2]}):
            try:
                made(*args, **named)
            except ag.InputError as error:
                assert "\n" not in str(error)


def test_tokens_and_t_are_one():
    assert ag.DeepNetwork((2, 2), (2,), tokens=2) == ag.DeepNetwork((2, 2), (2,), t=2)
    assert ag.Network([ag.Linear(2)], 2, t=3) == ag.Network([ag.Linear(2)], 2, tokens=3)
    assert ag.SingleLayer(2, 1, tokens=1) == ag.SingleLayer(2, 1, t=1)
    for one in (ag.DeepNetwork((2, 2), (2,), tokens=4), ag.Network([ag.Linear(2)], 2, t=4)):
        assert one.t == one.tokens == 4
    [file] = read_experiments("[experiment]\nnetwork = {dims = [2, 1], ranks = [2], tokens = 2}")
    assert file.architecture == ag.DeepNetwork((2, 1), (2,), t=2)
    assert read_toml("input = {dim = 2, t = 3}\nlayer = [{type = 'linear', out = 1}]", "a file").t == 3
