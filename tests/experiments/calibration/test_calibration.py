"""The calibration: points whose λ is known, estimates that meet it, and the command that makes them."""

import json
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import ROOT, call, document, start, validate

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.experiments.calibration import calibration, langevin
from agattn.experiments.calibration.calibration import relative_error, rules
from agattn.experiments.calibration.estimators import PointLoss, annealed, by_chains, by_volumes
from agattn.experiments.calibration.free_energy import Posterior
from agattn.experiments.calibration.langevin import Setting, by_devinterp, by_sgld, data, largest_curvature
from agattn.experiments.calibration.points import CalibrationPoint, calibration_points
from agattn.geometry.learning_coefficients.weights_coefficients import (
    parameters,
    weights_coefficient,
)

SPECIAL = {
    "generic": {"kind": "generic", "head": "lightning"},
    "boundary": {"kind": "boundary (1,1,1)", "multiplicity": 1},
    "softmax": {"kind": "generic", "head": "softmax"},
    "cube": {"kind": "S = cV²"},
}


def at(**wanted):
    """The first point with these properties."""
    return next(
        p for p in calibration_points() if all(getattr(p, key) == value for key, value in wanted.items())
    )


@cache
def special(name):
    """A point by its name, found by the first test that needs it and not when tests are collected."""
    return at(**SPECIAL[name])


@pytest.fixture
def point(request):
    """The point that a test is given by name."""
    return special(request.param)


def test_the_points_are_of_all_kinds():
    assert len(calibration_points()) == len({point.name for point in calibration_points()}) == 100
    kinds = {(point.head, point.layer.t, point.kind) for point in calibration_points()[:30]}
    assert {head for head, _, _ in kinds} == {"lightning", "softmax"} and {t for _, t, _ in kinds} == {1, 2}
    assert {point.multiplicity for point in calibration_points()[:30]} == {1, 2, 3}
    names = {kind for _, _, kind in kinds}
    assert {"generic", "lower rank", "boundary (1,1,1)", "crossing (1,1,2)", "A = 0", "V = 0"} <= names
    assert {"A = V = 0", "V does not divide S", "S = V·g", "S = cV²", "S = 0", "S = V = 0"} <= names
    assert max(point.layer.d for point in calibration_points()) == 4


def test_the_document_says_what_the_theorem_says():
    """λ and m of each point in the JSON document, computed again from the integers in it."""
    for row in document("calibrate")["points"]:
        given = parameters(K=row["K"], Q=row["Q"], V=row["V"])
        found = weights_coefficient(given, t=row["architecture"]["t"], softmax=row["head"] == "softmax")
        assert Fraction(row["lambda"]) == found.coefficient.value
        assert row["multiplicity"] == found.coefficient.multiplicity
        assert row["stratum"] == found.orbit.as_json()


def test_the_page_has_the_first_thirty_points():
    """And says of each what is known; its estimates are all within 3 %."""
    text = (ROOT / "docs" / "experiments" / "calibration.md").read_text(encoding="utf-8")
    rows = [
        line.strip("| ").split(" | ")
        for line in text.splitlines()
        if "| lightning M" in line or "| softmax M" in line
    ]
    assert [row[:4] for row in rows] == [
        [str(n), p.name, str(p.value), str(p.multiplicity)] for n, p in enumerate(calibration_points()[:30])
    ]
    for points, told in (
        (calibration_points(), "$\\lambda$ goes"),
        (calibration_points()[:30], "among the first thirty"),
    ):
        values, sizes = [p.value for p in points], [p.parameters for p in points]
        told += f" from {min(values)} to {max(values)}, for {min(sizes)} to {max(sizes)} parameters"
        assert told in text
    off = [float(row[column].removesuffix(" %")) for row in rows for column in (5, 7)]
    assert len(off) == 60 and max(map(abs, off)) <= 3
    assert [float(row[4].split()[0]) for row in rows] == pytest.approx(
        [float(p.value) for p in calibration_points()[:30]], rel=0.03
    )


@pytest.mark.parametrize("point", ["generic", "softmax", "cube"], indirect=True)
def test_the_moves_along_symmetries_change_no_function(point):
    draw, loss = np.random.default_rng(1), PointLoss(point)
    w = loss.start(50, draw)
    moved, _ = loss.along_symmetries(w, draw)
    assert max(np.abs(a - b).max() for a, b in zip(w, moved, strict=True)) > 0.1
    np.testing.assert_allclose(loss(moved), loss(w), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("point", ["generic", "softmax", "cube"], indirect=True)
def test_the_linear_model_is_the_differential(point):
    draw, loss = np.random.default_rng(2), PointLoss(point)
    w = [np.repeat(M, 3, axis=0) for M in loss.center]
    size = 1e-5
    for block in range(3):
        moved = [*w]
        step = draw.standard_normal(w[block].shape)
        moved[block] = w[block] + size * step
        gram, gradient = loss.linear_model(w, block)
        flat = step.reshape(3, -1)
        np.testing.assert_allclose(gradient, 0, atol=1e-12)
        expected = np.einsum("ni,nij,nj->n", flat, gram, flat)
        np.testing.assert_allclose(loss(moved) / size**2, expected, rtol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["boundary", "softmax"], indirect=True)
def test_the_estimates_meet_the_theorem(point):
    """Loosely; at (1,1,1) a regular count of parameters would be off by 11 %."""
    value = float(point.value)
    chains = by_chains(point, sweeps=80, seed=3)
    assert abs(chains.value / value - 1) < 0.06 and 0 < chains.error < 0.05 * value
    volumes = by_volumes(point, particles=64, seed=3)
    assert abs(volumes.value / value - 1) < 0.09 and 0 < volumes.error < 0.07 * value


def test_sgld_is_near_where_its_setting_fits_and_says_where_it_diverged():
    settings = [Setting(100.0, 1.0, 1e-3), Setting(1000.0, 1.0, 1.0), Setting(100.0, 1e4, 1e-5)]
    right, wrong, stuck = by_sgld(special("softmax"), settings, steps=1500)
    assert abs(right.value / float(special("softmax").value) - 1) < 0.4
    assert wrong.value is None and "diverged" in str(wrong)
    assert stuck.value < 0.2  # held at w₀


@pytest.mark.parametrize("point", ["generic", "softmax", "cube"], indirect=True)
def test_the_gradient_of_sgld_is_that_of_its_loss(point):
    draw = np.random.default_rng(4)
    w = [np.array([M], dtype=float) for M in (point.K, point.Q, point.V)]
    w = [M + 0.1 * draw.standard_normal(M.shape) for M in w]
    X = np.moveaxis(data(point, 8).inputs, 0, 1)[None]
    target = langevin._outputs(point.head, w, X)[0] + 1
    _, gradient = langevin._loss(point.head, w, X, target)
    for block in range(3):
        step = draw.standard_normal(w[block].shape)
        sides = []
        for size in (1e-5, -1e-5):
            moved = [*w]
            moved[block] = w[block] + size * step
            sides.append(langevin._loss(point.head, moved, X, target)[0][0])
        assert (sides[0] - sides[1]) / 2e-5 == pytest.approx((gradient[block] * step).sum(), rel=1e-5)


def test_the_curvature_bounds_the_loss():
    """At V = 0 with nothing else special, the largest eigenvalue is positive; at A = V = 0 it is 0."""
    assert largest_curvature(at(kind="A = V = 0", head="lightning"), 100) == 0
    assert largest_curvature(special("generic"), 1000) > 1


def test_numbers_that_make_no_sense_are_refused():
    for call_it in (
        lambda: by_chains(special("generic"), beta=1.0),
        lambda: by_chains(special("generic"), groups=1),
        lambda: by_volumes(special("generic"), smallest=0.0),
        lambda: by_sgld(special("generic"), []),
    ):
        with pytest.raises(InputError):
            call_it()


def test_rules_are_sorted_by_how_often_they_are_right():
    line = {"method": "sgld", "lambda": "2", "n_beta": 10.0, "gamma": 1.0, "curvature": 1.0}
    good = [line | {"point": point, "step": 1e-3, "estimate": 2.1} for point in (0, 1)]
    bad = [
        line | {"point": 0, "step": 1e-1, "estimate": None},
        line | {"point": 1, "step": 1e-1, "estimate": 5.0},
    ]
    found = rules([*bad, *good])
    assert (found[0].right, found[0].diverged) == (2, 0) and found[0].median_error == pytest.approx(0.05)
    assert "largest ε with ε·nβ·h ≤ 0.01" in {rule.name.split(", ")[-1] for rule in found if rule.right == 2}
    (fixed,) = [rule for rule in found if rule.name == str(Setting(10.0, 1.0, 0.1))]
    assert (fixed.right, fixed.diverged, relative_error(bad[0])) == (0, 1, None)


@pytest.mark.slow
def test_the_command_writes_the_same_files_for_the_same_seed(tmp_path):
    names = ["bias.svg", "estimates.jsonl", "points.json", "report.md"]
    words = ("--quick", "--points", 1)
    shown = call("calibrate", "--out", tmp_path / "a", *words)
    assert shown.status == 0 and "within 10 %" in shown.out, shown.err
    found = document("calibrate", "--out", tmp_path / "b", *words)
    for name in names:
        assert sorted(path.name for path in (tmp_path / "b").iterdir()) == names
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    lines = [json.loads(line) for line in (tmp_path / "a" / "estimates.jsonl").read_text().splitlines()]
    assert {line["method"] for line in lines} == {"chains", "volumes", "sgld"} and len(lines) == 38
    assert found["estimates"] == lines
    tiny = {"groups": 2, "chains": 2, "sweeps": 2}
    assert (
        by_chains(special("generic"), **tiny)
        == by_chains(special("generic"), **tiny)
        != by_chains(special("generic"), seed=1, **tiny)
    )


def test_free_energies_are_the_integrals_they_stand_for():
    one = ((1,),)
    point = CalibrationPoint(SingleLayer(1, 1), "lightning", "", one, one, one)
    gram, z = np.array([[400.0]]), np.array([[0.7]])
    loss = Posterior(point, gram, z)
    grid = np.linspace(1 - loss.radius, 1 + loss.radius, 81)
    w = [x.reshape(-1, 1, 1) for x in np.meshgrid(grid, grid, grid)]
    exponent = 200 * (w[0] * w[1] * w[2] - 1)[:, 0, 0] ** 2 - 20 * 0.7 * (w[0] * w[1] * w[2] - 1)[:, 0, 0]
    assert np.allclose(loss(w), exponent + 0.7**2 / 2)
    prior = np.exp(loss.prior(w))
    exact = np.log((np.exp(-exponent) * prior).sum() / prior.sum()) - 0.7**2 / 2
    draw = np.random.default_rng(0)
    ladder = [0.0, *np.geomspace(1e-3, 1, 30)]
    found = annealed(loss, loss.start(800, draw), ladder, 8, draw)[2]
    assert found.mean() == pytest.approx(exact, abs=5 * found.std() / 8**0.5)
    assert found.std() < 0.2


@pytest.mark.slow
def test_the_command_finds_slopes_of_free_energies(tmp_path):
    shown = call("calibrate", "--out", tmp_path / "x", "--quick", "--points", 2, "--free-energy")
    lines = [json.loads(line) for line in (tmp_path / "x" / "estimates.jsonl").read_text().splitlines()]
    assert shown.status == 0 and "slope" in shown.out, shown.err
    assert "## Slopes of free energies" in (tmp_path / "x" / "report.md").read_text()
    assert [line["method"] for line in lines] == ["free-energy"] * 2
    for line in lines:
        assert abs(relative_error(line)) < 0.3 and len(line["sizes"]) == len(line["energies"]) == 6
        assert line["energies"] == sorted(line["energies"])
    validate("calibrate", {"schema": "agattn/calibrate/1", "points": [], "estimates": lines})


def test_the_command_refuses_what_it_cannot_use(tmp_path):
    (tmp_path / "file").touch()
    for words, message in (
        (("--quick",), "--quick is for sampling, with --out; leave --quick out"),
        (("--out", tmp_path / "file"), "it is no folder"),
        (("--out", tmp_path / "x", "--points", 101), "101 is not from 1 to 100"),
    ):
        ended = call("calibrate", *words)
        assert ended.status == 2 and message in ended.err and ended.err.count("\n") == 1


@pytest.mark.slow
def test_an_interrupt_leaves_what_was_done(tmp_path):
    process = start("calibrate", "--out", tmp_path / "x")
    path = tmp_path / "x" / "estimates.jsonl.part"
    while process.poll() is None and not (path.exists() and path.read_text(encoding="utf-8")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=60)[1]
    count = len(path.read_text(encoding="utf-8").splitlines())
    assert process.returncode == 130 and f"interrupted; {count} estimates are in" in err and count >= 1


devinterp = pytest.mark.skipif(
    langevin.find_spec("devinterp") is None, reason="devinterp is not installed: pip install 'agattn[slt]'"
)


@devinterp
def test_devinterp_agrees_with_our_sgld():
    setting = Setting(100.0, 1.0, 1e-3)
    theirs = by_devinterp(special("softmax"), setting, chains=4, steps=1500)
    ours = by_sgld(special("softmax"), [setting], chains=4, steps=1500)[0]
    assert abs(theirs.value - ours.value) < 4 * (theirs.error + ours.error)


@devinterp
def test_the_lines_of_the_page_load_a_point_into_devinterp(tmp_path):
    """As they stand there; they print what the page says, but for the last digits."""
    page = (ROOT / "docs" / "experiments" / "calibration.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```python\n(import json\n.*?)^```", page, re.MULTILINE | re.DOTALL)
    (told,) = re.findall(r"they print `([\d.]+), and λ = 5/2`", page)
    (tmp_path / "points.json").write_text(call("calibrate", "--json").out, encoding="utf-8")
    command = [sys.executable, "-I", "-W", "ignore", "-c", lines]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found, value = done.stdout.splitlines()[-1].split(", and λ = ")
    assert value == "5/2" and abs(float(found) - float(told)) < 0.1


@pytest.mark.skipif(langevin.find_spec("devinterp") is not None, reason="devinterp is installed")
def test_without_devinterp_the_command_says_what_to_install(tmp_path):
    ended = call("calibrate", "--out", tmp_path / "x", "--devinterp", "--quick", "--points", 1)
    assert ended.status == 2 and "pip install 'agattn[slt]'" in ended.err and not (tmp_path / "x").exists()


def test_the_kind_of_a_point_is_that_of_its_weights():
    for point in calibration_points():
        K, Q, V = map(np.array, (point.K, point.Q, point.V))
        A = K.T @ Q
        if point.layer.t == 1:
            S = A + A.T
            assert point.kind.endswith("= 0") is not (S.any() and V.any())
            assert (point.kind == "S = 0") is bool(V.any() and not S.any())
        else:
            is_zero = point.kind in ("V = 0", "A = 0", "A = V = 0")
            assert is_zero is not (V.any() and (A.any() or point.head == "softmax"))
            assert point.kind != "A = 0" or V.any()


def test_each_estimate_is_handed_over_as_soon_as_it_is_there(monkeypatch):
    lines = [SimpleNamespace(name=name) for name in "ab"]
    monkeypatch.setattr(calibration, "calibrate", lambda points, **settings: iter(lines[: len(points)]))
    for count in (0, 1, 2):
        found = []
        calibration.calibration(count, written=found.append)
        assert found == lines[:count]
