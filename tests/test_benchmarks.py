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


SLOW, ENGINE = pytest.mark.slow, pytest.mark.engine
#: What must stand in what each prints; "DIFFERS" never does.
PRINTED = [
    pytest.param("implicitization.py --limit 5 --case 2,1,2,3", ["agrees"], marks=[SLOW, ENGINE]),
    pytest.param(
        "emitted_scripts.py --cutoff 5 --layers 2,1,2",
        ["^2,1,2 "],
        marks=[SLOW, ENGINE("macaulay2", "singular")],
    ),
    pytest.param("critical_points.py --cases 1", [r"14, 14, 10\s*\Z"], marks=ENGINE("singular")),
    pytest.param("landscapes.py --data 1 --layer 2,1,2", [r"all consistent\s*\Z", r"(?s)(\n   0  .*){3}"]),
    pytest.param(
        "models.py --quick --limit 60",
        [r"dimension \[14\] \(proved\)", r"by degree \[0, 3, 0\] \(proved\)", "(?s)(agrees.*){3}"],
        marks=[SLOW, ENGINE("macaulay2")],
    ),
    pytest.param("dimension.py --quick --limit 60", [r"dimension \[51\] \(proved\)"], marks=SLOW),
    pytest.param("todays_attention.py --quick", [r"\| one group \| ", r"\| latents \| "]),
    pytest.param(
        "symmetries.py --sizes 1 --networks 2",
        ["2 all known symmetries found, independent", "2 as many new as predicted"],
    ),
    pytest.param(
        "random_models.py 8 --seed 3",
        [r"\A8 models of up to ", "with 3 seeds each: 0 disagree", r"^all +8, of these +[1-8] proved"],
        marks=SLOW,
    ),
    pytest.param("rank.py --help", ["--large"]),
    pytest.param("large_layer.py --width 1024 --command equivalent", [r"the same \(numerical\)"], marks=SLOW),
]


@pytest.mark.parametrize(("line", "patterns"), PRINTED)
def test_what_a_benchmark_prints(line, patterns):
    said = benchmark(*line.split())
    assert all(re.search(pattern, said, re.MULTILINE) for pattern in patterns) and "DIFFERS" not in said


@pytest.mark.slow
def test_training():
    said = benchmark("training.py", "--seeds", "2", "--cases", "2", "--time", "100", "--no-diffrax")
    rows = [line.split() for line in said.splitlines() if line.startswith("LSODA")]
    assert [row[1] for row in rows] == ["numpy", "numpy", "JAX"]  # the third case is of the second one's kind
    assert all(int(row[5]) == 2 and float(row[6]) < 1e-8 and float(row[7]) < 1e-8 for row in rows)


@pytest.mark.slow
def test_commands_against_another_version():
    """This version against itself: every ratio is near 1, whatever it is."""
    line = "verify -d 1 -o 1 --engine native {shared}"
    said = benchmark("commands.py", "--against", sys.executable, "--runs", "1", "--command", line)
    command, total = said.splitlines()[-2:]
    assert command.endswith(line) and total.endswith("  all")
