"""The benchmarks still run: their smallest cases, whose times nobody looks at here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def benchmark(name, *arguments):
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / name), *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.engine
def test_equations():
    assert "agrees" in benchmark("implicitization.py", "--limit", "5", "--case", "2,1,2,3")


@pytest.mark.slow
@pytest.mark.engine("macaulay2", "singular")
def test_scripts():
    assert "\n2,1,2 " in benchmark("emitted_scripts.py", "--cutoff", "5", "--layers", "2,1,2")


@pytest.mark.engine("singular")
def test_critical_points():
    said = benchmark("critical_points.py", "--cases", "1")
    assert said.rstrip().endswith("14, 14, 10")


def test_landscapes():
    said = benchmark("landscapes.py", "--data", "1", "--layer", "2,1,2")
    assert said.count("\n   0  ") == 3 and said.rstrip().endswith("all consistent")


@pytest.mark.slow
@pytest.mark.engine("macaulay2")
def test_models_against_rivals():
    said = benchmark("models.py", "--quick", "--limit", "60")
    assert "dimension [14] (proved)" in said and "by degree [0, 3, 0] (proved)" in said
    assert said.count("agrees") >= 3 and "DIFFERS" not in said


@pytest.mark.slow
def test_dimensions():
    said = benchmark("dimension.py", "--quick", "--limit", "60")
    assert "dimension [51] (proved)" in said and "DIFFERS" not in said


def test_shapes_of_todays_attention():
    said = benchmark("todays_attention.py", "--quick")
    assert said.count("| one group | ") == said.count("| latents | ") == 1


@pytest.mark.slow
def test_training():
    said = benchmark("training.py", "--seeds", "2", "--cases", "2", "--time", "100", "--no-diffrax")
    rows = [line.split() for line in said.splitlines() if line.startswith("LSODA")]
    assert [row[1] for row in rows] == ["numpy", "numpy", "JAX"]  # the third case is of the second one's kind
    assert all(int(row[5]) == 2 and float(row[6]) < 1e-8 and float(row[7]) < 1e-8 for row in rows)


def test_symmetries():
    said = benchmark("symmetries.py", "--sizes", "1", "--networks", "2")
    assert "2 all known symmetries found, independent" in said and "2 as many new as predicted" in said


@pytest.mark.slow
def test_random_models():
    said = benchmark("random_models.py", "8", "--seed", "3")
    assert said.startswith("8 models of up to ") and "with 3 seeds each: 0 disagree" in said
    assert re.search(r"^all +8, of these +[1-8] proved", said, re.MULTILINE)


def test_ranks_can_be_called():
    assert "--large" in benchmark("rank.py", "--help")


@pytest.mark.slow
def test_commands_against_another_version():
    """This version against itself: every ratio is near 1, whatever it is."""
    line = "verify -d 1 -o 1 --engine native {shared}"
    said = benchmark("commands.py", "--against", sys.executable, "--runs", "1", "--command", line)
    command, total = said.splitlines()[-2:]
    assert command.endswith(line) and total.endswith("  all")
