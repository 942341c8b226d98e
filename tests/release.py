"""``python -m tests.release``: build the sdist and the wheel, and try both in empty environments.

A maintainer runs it before a release; it needs uv (``pip install uv``). Each environment is one Python, with
the lowest or the newest dependencies. The commands run in a folder outside of the clone, and find no engines
but those of the wheels. The sdist is installed without extras, the wheel with them: ``lean`` is the set-up of
the README, ``.[all]`` and the engines without the packages on which they depend; the other sets are one extra
each. The extra ``engines`` takes 2.5 GB, so it is tried only where it is named: ``--sets engines``.

At last the README's line for tests runs in the unpacked sdist. The exit status is 1 if a file is missing from
what was built, a command did something else than it should, or a test failed.
"""

import argparse
import email
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from itertools import product
from pathlib import Path
from typing import NamedTuple

CLONE = Path(__file__).parents[1]
RESOLUTIONS = ("lowest-direct", "highest")
#: Each set of what is installed, and the extras that it holds.
SETS = {
    "none": (),
    "lean": ("engines", "figures", "checkpoints", "train", "study"),
    "figures": ("figures", "train"),  # both extras are scipy, the first with more
    "checkpoints": ("checkpoints",),
    "train": ("train",),
    "study": ("study",),
    "engines": ("engines",),
}
#: What is tried unless --sets says otherwise: the first two everywhere, the others with the first Python.
EVERYWHERE, ONCE = ("none", "lean"), ("figures", "checkpoints", "train", "study")
FILES = {
    "grid.toml": 'ask = "strata"\n[layers]\nd = "2..3"\nd_out = 1\n',
    "train.toml": 'seeds = "0..1"\n[[experiment]]\nname = "one layer"\nlayer = {d = 2, d_out = 1}\n'
    'teacher = {kind = "generic"}\n',
    "m.safetensors": "",  # written anew where the extra checkpoints is installed
}
CHECKPOINT = (
    "import numpy as np; from safetensors.numpy import save_file; save_file("
    "{f'layers.0.self_attn.{x}_proj.weight': np.eye(2) for x in 'qkv'}, 'm.safetensors')"
)
LAYER, NETWORK = "-d 2 -o 1", "--dims 2,2,1 --ranks 2,2 -t 3"


class Try(NamedTuple):
    """A command line, its exit status, what must stand in what it prints, and the extra that it needs.

    Without the extra the command ends as in ``WITHOUT``, in one line that names the extra.
    """

    command: str
    status: int | None
    words: str
    extra: str = ""


SMOKE = (
    Try("agattn --version", 0, "agattn"),
    Try("agattn doctor", None, "Python"),
    # Check the theorems.
    Try(f"agattn certificate {LAYER} -O m212.json", 0, "confirmed"),
    Try("agattn verify -d 3 -o 2 -a 2 --engine native --claim theorem-3.4.singular", 1, "(2,1,3)"),
    Try(f"agattn verify {NETWORK} --engine native", 0, "confirmed"),
    Try("agattn study audit --part 5/40 --no-cache", 0, "M(2,1,1)"),
    Try("agattn check m212.json", 0, "The certificate is valid."),
    Try("python -m agattn.checker m212.json", 0, "The certificate is valid."),
    Try("agattn certificate examples/delta.toml -O delta.json", 0, "agattn.recurrent-dimension"),
    Try("agattn check delta.json", 0, "dim M = 22 = 24 − 2"),
    Try("agattn certificate --dims 3,3,2 --ranks 3,3 -t 3 -O n332.json", None, "agattn.deep-critical"),
    Try("agattn check n332.json", 0, "of 4 weights 2 are critical"),
    # Study a layer or model.
    Try("agattn dimension --dims 4,3,4 --ranks 2,2 -t 3", 0, "proved"),
    Try("agattn dimension examples/grouped-config.json", 0, "dimension: 41680768"),
    Try(f"agattn dimension {NETWORK} --jet 2", 0, "jet of order 2: dimension 0 (proved)"),
    Try("agattn dimension examples/transformer.py:gpt2", 0, "at least 83718000"),
    Try("agattn identifiability 3 2 2", 0, "the fiber has dimension 5 (proved)"),
    Try("agattn symmetries -d 2 -o 1", 0, "orbits of dimension 5 (proved)"),
    Try("agattn strata -d 3 -o 2 -a 2 --json", 0, '"singular_by_paper"'),
    Try("agattn ideal -d 2 -o 1 --complete", 0, "all of I(M̄) (over QQ: proved)"),
    Try("agattn ideal 3 2 2 --stratum 2,1,2 --max-degree 2", 0, "dimension 135: S(2)⊗S(1,1)⊗S(3,1)"),
    Try("agattn singularities --dims 2,2,1 --ranks 2,2 -t 2", 0, "M is not closed (proved)"),
    Try("agattn rlct examples/weights.json", 0, "λ = 13/2, m = 1 (proved)"),
    Try(f"agattn spectrum {NETWORK}", 0, "14 directions are in the kernel"),
    Try("agattn critical-points -d 2 -o 1", 0, "critical-points.general-data"),
    # Weights in hand.
    Try("agattn fiber examples/weights.json", 0, "rescaling"),
    Try("agattn classify examples/weights.json", 0, "M(3,2,2)"),
    Try("agattn equivalent examples/weights.json examples/others.json", 0, "equal (proved)"),
    Try("agattn identify examples/tensor.json -d 2 -o 1", 0, "in M"),
    # Engines.
    Try("agattn emit implicit-ideal -d 2 -o 1 --engine macaulay2", 0, "mingens I"),
    Try("agattn emit implicit-ideal -d 2 -o 1 --engine msolve", 0, "Written by: agattn emit"),
    Try("agattn emit slice -d 2 -o 1 --engine singular --slice examples/slice.json", 0, "ring"),
    Try("agattn emit named-equations -d 3 -o 1 --engine singular", 0, "families of equations of M(3,1,3)"),
    Try(f"agattn verify {LAYER} --engine macaulay2", 0, "confirmed", "engines"),
    Try(f"agattn verify {LAYER} --engine singular", 0, "confirmed", "engines"),
    Try(f"agattn run implicit-ideal {LAYER} --engine msolve", 0, "dimension: 5", "engines"),
    Try(f"agattn run named-equations {LAYER} --engine macaulay2", 0, "number: 1", "engines"),
    # Experiments.
    Try("agattn study atlas --part 1/500 --no-cache", 0, "M(1,1,1)"),
    Try("agattn train --example", 0, "[[experiment]]"),
    Try("agattn train train.toml", 0, "2 converged", "train"),
    Try("agattn study --example", 0, "[layers]"),
    Try("agattn study grid.toml --cache kept --json", 0, '"strata"'),
    Try("agattn study grid.toml --no-cache --workers 2 --json", 0, '"strata"', "study"),
    Try("agattn classify m.safetensors --heads 1 --json", 0, '"stable_rank_a"', "checkpoints"),
    # Documents.
    Try("agattn schema verify", 0, "properties"),
    Try("agattn rank examples/hilbert.csv", 0, "proved"),
    Try("agattn figure 2 -O figure2.svg", 0, "wrote figure2.svg", "figures"),
    Try("agattn figure 3 -O figure3.png", 0, "wrote figure3.png", "figures"),
    Try("agattn critical-points 2 1 -O loss.html", 0, "wrote loss.html", "figures"),
    Try(f"agattn report {LAYER} --engine native -O report", 0, "wrote report/report.html", "figures"),
)
WITHOUT = {"engines": 3, "figures": 2, "checkpoints": 2, "train": 2, "study": 2}


def uv(*words, **more):
    """Run uv; pip's own settings name the indices."""
    return subprocess.run(["uv", *map(str, words)], check=True, cwd=CLONE, **{"stdout": sys.stderr, **more})


def found(python):
    """The program of a Python, given by its version or its path, and its version."""
    program = uv("python", "find", python, stdout=subprocess.PIPE, text=True).stdout.strip()
    told = subprocess.run([program, "-V"], check=True, capture_output=True, text=True).stdout
    return program, told.strip()


def build(folder):
    """Build both out of the last commit, the wheel out of the sdist; return both and what is missing."""
    commit = subprocess.run(["git", "archive", "HEAD"], cwd=CLONE, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(commit)) as archive:
        archive.extractall(folder / "clone", filter="data")
        clone = {name for name in archive.getnames() if Path(folder, "clone", name).is_file()}
    uv("build", "-q", "--out-dir", folder, folder / "clone")
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        due = {name for name in clone if name.startswith("agattn/")}
        missing = [f"{name} is not in the wheel" for name in due - set(archive.namelist())]
        alien = {name.split("/")[0] for name in archive.namelist()} - {"agattn"}
        missing += [f"{name} is in the wheel" for name in alien if not name.endswith(".dist-info")]
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        due = {name for name in clone if not name.startswith((".ci/", ".gitignore"))}
        missing += [f"{name} is not in the sdist" for name in due - names]
    check = ["uv", "tool", "run", "-q", "twine", "check", "--strict", wheel, sdist]
    told = subprocess.run(check, capture_output=True, text=True)
    missing += [] if told.returncode == 0 else [f"twine check: {told.stdout}{told.stderr}"]
    return wheel, sdist, sorted(missing)


def tools(folder):
    """The system's programs without its engines, so that none is found but those of the wheels."""
    folder.mkdir()
    for program in {p.name: p for place in ("/bin", "/usr/bin") for p in Path(place).iterdir()}.values():
        if program.name not in ("M2", "Singular", "msolve"):
            (folder / program.name).symlink_to(program)


def requirements(wheel, extra):
    """What a wheel needs with an extra, as its metadata say."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        lines = email.message_from_bytes(archive.read(name)).get_all("Requires-Dist")
    parts = [line.partition("; extra == ") for line in lines]
    return [needed for needed, _, marker in parts if marker.strip('"') in ("", extra)]


def install(folder, built, python, resolution, name):
    """Install what was built in a new environment; return how many packages and megabytes that has."""
    wheel, sdist = built
    environment, bound = folder / "environment", folder / "build.txt"
    lowest = re.search(r"setuptools>=[\d.]+", (CLONE / "pyproject.toml").read_text(encoding="utf-8"))[0]
    extra = {"none": "", "lean": "all"}.get(name, name)
    into = ("pip", "install", "-q", "--python", environment / "bin/python")
    uv("venv", "-q", "--clear", "--python", python, environment)
    bound.write_text(lowest)
    if resolution == "lowest-direct":
        # uv takes the lowest version only of a package that is named, and not of what a named wheel needs.
        # A Python for which the lowest version has no wheel gets the lowest that has.
        uv(*into, "--resolution", resolution, "--no-build", *requirements(wheel, extra))
        bound.write_text(lowest.replace(">=", "=="))
    target = f"{wheel}[{extra}]" if extra else sdist
    uv(*into, "--build-constraints", bound, target)
    if name == "lean":
        uv(*into, "--resolution", resolution, "--no-deps", "-r", CLONE / "engines.txt")
    listed = uv("pip", "freeze", "--python", environment / "bin/python", stdout=subprocess.PIPE).stdout
    size = sum(path.lstat().st_size for path in environment.rglob("*") if path.is_file())
    return len(listed.splitlines()), round(size / 1e6)


def try_in(folder, extras, *, only_extras):
    """Run the commands in the environment, and return what went wrong there."""
    environment, place = folder / "environment", folder / "elsewhere"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(CLONE / "examples", place / "examples")
    for name, text in FILES.items():
        (place / name).write_text(text)
    programs = f"{environment / 'bin'}:{folder / 'tools'}"
    own = {"PATH": programs, "HOME": str(place), "MPLCONFIGDIR": str(place)}
    said = {"cwd": place, "env": own, "capture_output": True, "text": True, "timeout": 600}
    where = subprocess.run(["python", "-c", "import agattn; print(agattn.__file__)"], **said).stdout
    wrong = [] if where.startswith(str(environment)) else [f"agattn is imported from {where!r}"]
    if "checkpoints" in extras:
        subprocess.run(["python", "-c", CHECKPOINT], **said, check=True)
    for command, status, words, extra in SMOKE:
        if only_extras and not extra:
            continue
        ended = subprocess.run(command.split(), **said)
        told = ended.stderr.strip()
        if extra and extra not in extras:
            good = ended.returncode == WITHOUT[extra] and f"agattn[{extra}]" in told and "\n" not in told
        else:
            right = words in ended.stdout + told and "Traceback" not in told
            good = right and status in (None, ended.returncode)
        if not good:
            wrong.append(f"{command}: status {ended.returncode}: {(told or ended.stdout)[-300:]}")
    return wrong


def try_environment(folder, built, python, resolution, name):
    """Install a set and run the commands; return what went wrong, and the figures of the environment."""
    begun = time.monotonic()
    packages, megabytes = install(folder, built, python, resolution, name)
    installed = time.monotonic()
    wrong = try_in(folder, SETS[name], only_extras=name not in EVERYWHERE)
    figures = f"installed in {installed - begun:.0f} s, {packages} packages, {megabytes} MB"
    return wrong, f"{figures}; commands {time.monotonic() - installed:.0f} s"


def run_tests(folder, sdist, python):
    """Run the README's line for tests in the unpacked sdist; return what went wrong, and pytest's end."""
    place = folder / "unpacked"
    shutil.rmtree(place, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    [root] = place.iterdir()
    readme = (root / "README.md").read_text(encoding="utf-8")
    line = re.search(r"^python3 -m venv .*\[dev\].*-m pytest$", readme, re.MULTILINE)
    first = folder / "python"
    shutil.rmtree(first, ignore_errors=True)
    first.mkdir()
    (first / "python3").write_text(f'#!/bin/sh\nexec "{found(python)[0]}" "$@"\n')
    (first / "python3").chmod(0o755)
    own = {**os.environ, "PATH": f"{first}:{os.environ['PATH']}"}
    begun = time.monotonic()
    ended = subprocess.run(["bash", "-c", line[0]], cwd=root, env=own, capture_output=True, text=True)
    lines = [
        text for text in ended.stdout.splitlines() if text.startswith(("E  ", "FAILED", "ERROR", "===="))
    ]
    wrong = [] if ended.returncode == 0 else [*lines[-21:-1], ended.stderr[-300:]]
    last = lines[-1].strip("= ") if lines else "no test ran"
    return wrong, f"{last}; {time.monotonic() - begun:.0f} s in all"


def main():
    """Try all that was asked for, and print one line for each environment."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument("--python", nargs="*", default=["3.11", "3.12", "3.13"], help="versions, or paths")
    parser.add_argument("--resolution", nargs="*", choices=RESOLUTIONS, default=RESOLUTIONS)
    parser.add_argument(
        "--sets", nargs="*", choices=SETS, help="[default: none, lean; for the first Python also each extra]"
    )
    parser.add_argument("--tests", nargs="*", help="Pythons for the tests of the sdist  [default: the first]")
    given = parser.parse_args()
    os.environ.pop("PYTHONPATH", None)
    failed = 0

    def tell(shown, tried, *words):
        nonlocal failed
        try:
            wrong, figures = tried(*words)
        except subprocess.SubprocessError as error:
            wrong, figures = [str(error)], "no end"
        failed += bool(wrong)
        print("\n  ".join([f"{shown}: {'WRONG' if wrong else 'right'} ({figures})", *wrong]), flush=True)

    with tempfile.TemporaryDirectory(prefix="agattn-release-") as name:
        folder = Path(name)
        tools(folder / "tools")
        wheel, sdist, missing = build(folder / "dist")
        print(f"{wheel.name}, {sdist.name}: {'; '.join(missing) or 'whole'}", flush=True)
        for python, resolution in product(given.python, given.resolution):
            once = ONCE if python == given.python[0] else ()
            for what in (*EVERYWHERE, *once) if given.sets is None else given.sets:
                source = "sdist, no extra" if what == "none" else f"wheel, {what}"
                shown = f"{found(python)[1]}, {resolution}, {source}"
                tell(shown, try_environment, folder, (wheel, sdist), python, resolution, what)
        for python in given.python[:1] if given.tests is None else given.tests:
            tell(f"{found(python)[1]}, tests of the sdist", run_tests, folder, sdist, python)
    return int(bool(failed or missing))


if __name__ == "__main__":
    sys.exit(main())
