"""``python -m tests.release``: build the wheel and the sdist, and try the wheel in empty environments.

A maintainer runs it before a release; it needs uv (``pip install uv``). Each environment is one Python, with
the lowest or the newest dependencies, and some extras; it works in a folder outside of the clone. The exit
status is 1 if a file is missing from what was built, or if a command did something else than it should.
"""

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from itertools import product
from pathlib import Path

CLONE = Path(__file__).parents[1]
EXTRAS = ("engines", "figures", "checkpoints", "study")
EXAMPLES = ("weights.json", "tensor.json", "hilbert.csv", "slice.json")
GRID = 'ask = "strata"\n[layers]\nd = "2..3"\nd_out = 1\n'
CHECKPOINT = (
    "import numpy as np; from safetensors.numpy import save_file; save_file("
    "{f'h.0.self_attn.{x}_proj.weight'.replace('h.', 'layers.'): np.eye(2) for x in 'qkv'}, 'm.safetensors')"
)

#: Command lines, the exit status of each, and what must stand in what it prints; with an extra where one is
#: needed: without it they end as in ``WITHOUT``, in one line that names it.
SMOKE = (
    ("agattn --version", 0, "agattn", ""),
    ("agattn doctor", None, "Python", ""),
    ("agattn verify -d 2 -o 1 --engine native --certificate m212.json", 0, "confirmed", ""),
    ("agattn check m212.json", 0, "valid", ""),
    ("python -m agattn.checker m212.json", 0, "valid", ""),
    ("agattn verify -d 3 -o 2 -a 2 --engine native --claim theorem-3.4.singular", 1, "(2,1,3)", ""),
    ("agattn strata -d 3 -o 2 -a 2 --json", 0, '"singular_by_paper"', ""),
    ("agattn ideal -d 3 -o 1 --max-degree 3", 0, "degree", ""),
    ("agattn dimension --dims 4,3,4 --ranks 2,2 -t 3", 0, "proved", ""),
    ("agattn rank hilbert.csv", 0, "proved", ""),
    ("agattn fiber weights.json", 0, "rescaling", ""),
    ("agattn rlct weights.json", 0, "λ", ""),
    ("agattn equivalent weights.json weights.json", 0, "equal", ""),
    ("agattn identify tensor.json -d 2 -o 1", 0, "in M", ""),
    ("agattn emit implicit-ideal -d 2 -o 1 --engine macaulay2", 0, "mingens I", ""),
    ("agattn emit slice -d 2 -o 1 --engine singular --slice slice.json", 0, "ring", ""),
    ("agattn schema verify", 0, "properties", ""),
    ("agattn study --example", 0, "[layers]", ""),
    ("agattn study grid.toml --cache kept", 0, '"strata"', ""),
    ("agattn verify -d 2 -o 1 --engine singular", 0, "confirmed", "engines"),
    ("agattn run implicit-ideal -d 2 -o 1 --engine macaulay2", 0, "dimension", "engines"),
    ("agattn figure 2 -O figure2.svg", 0, "", "figures"),
    ("agattn figure 3 -O figure3.png", 0, "", "figures"),
    ("agattn report -d 2 -o 1 --engine native --out report", 0, "confirmed", "figures"),
    ("agattn classify m.safetensors --heads 1 --json", 0, '"stable_rank_a"', "checkpoints"),
    ("agattn study grid.toml --no-cache --workers 2", 0, '"strata"', "study"),
)
WITHOUT = {"engines": 3, "figures": 2, "checkpoints": 2, "study": 2}


def uv(*words):
    """Run uv; pip's own settings name the indices."""
    subprocess.run(["uv", *map(str, words)], check=True, cwd=CLONE, stdout=sys.stderr)


def build(folder):
    """Build both out of the last commit, the wheel out of the sdist; return the wheel and what is missing."""
    commit = subprocess.run(["git", "archive", "HEAD"], cwd=CLONE, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(commit)) as archive:
        archive.extractall(folder / "clone", filter="data")
        due = {name for name in archive.getnames() if Path(folder, "clone", name).is_file()}
    due = {name for name in due if name.startswith("agattn/")}
    uv("build", "-q", "--out-dir", folder, folder / "clone")
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        missing = [f"{name} is not in the wheel" for name in due - set(archive.namelist())]
        alien = {name.split("/")[0] for name in archive.namelist()} - {"agattn"}
        missing += [f"{name} is in the wheel" for name in alien if not name.endswith(".dist-info")]
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        due |= {"README.md", "LICENSE", "setup.cfg", "pyproject.toml"}
        missing += [f"{name} is not in the sdist" for name in due - names]
    return wheel, sorted(missing)


def tools(folder):
    """The system's programs without its engines, so that none is found but those of the wheels."""
    folder.mkdir()
    for program in {p.name: p for place in ("/bin", "/usr/bin") for p in Path(place).iterdir()}.values():
        if program.name not in ("M2", "Singular"):
            (folder / program.name).symlink_to(program)


def try_in(folder, wheel, python, resolution, extras):
    """Install the wheel in a new environment, and return what went wrong there."""
    environment, place = folder / "environment", folder / "elsewhere"
    uv("venv", "-q", "--clear", "--python", python, environment)
    target = f"{wheel}[{','.join(extras)}]" if extras else wheel
    uv("pip", "install", "-q", "--python", environment / "bin/python", "--resolution", resolution, target)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name in EXAMPLES:
        shutil.copy(CLONE / "examples" / name, place)
    (place / "grid.toml").write_text(GRID)
    (place / "m.safetensors").write_bytes(b"")
    own = {
        "PATH": f"{environment / 'bin'}:{folder / 'tools'}",
        "HOME": str(place),
        "MPLCONFIGDIR": str(place),
    }
    said = {"cwd": place, "env": own, "capture_output": True, "text": True, "timeout": 300}
    where = subprocess.run(["python", "-c", "import agattn; print(agattn.__file__)"], **said).stdout
    wrong = [] if where.startswith(str(environment)) else [f"agattn is imported from {where!r}"]
    if "checkpoints" in extras:
        subprocess.run(["python", "-c", CHECKPOINT], **said, check=True)
    for command, status, words, extra in SMOKE if len(extras) != 1 else [row for row in SMOKE if row[3]]:
        ended = subprocess.run(command.split(), **said)
        told = ended.stderr.strip()
        if extra and extra not in extras:
            good = ended.returncode == WITHOUT[extra] and f"agattn[{extra}]" in told and "\n" not in told
        else:
            good = status in (None, ended.returncode) and words in ended.stdout and "Traceback" not in told
        if not good:
            wrong.append(f"{command}: status {ended.returncode}: {(told or ended.stdout)[-300:]}")
    return wrong


def main():
    """Try all that was asked for, and print one line for each environment."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument("--python", nargs="*", default=["3.11", "3.12", "3.13"], help="versions, or paths")
    parser.add_argument("--resolution", nargs="*", default=["lowest-direct", "highest"])
    parser.add_argument("--extras", nargs="*", help="one set  [default: none, all, and with one Python each]")
    given = parser.parse_args()
    sets = [(), EXTRAS, *((extra,) for extra in EXTRAS)] if given.extras is None else [tuple(given.extras)]
    os.environ.pop("PYTHONPATH", None)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="agattn-release-") as name:
        tools(Path(name, "tools"))
        wheel, missing = build(Path(name, "dist"))
        print(f"{wheel.name}: {'; '.join(missing) or 'whole'}", flush=True)
        for python, resolution, extras in product(given.python, given.resolution, sets):
            if given.extras is None and len(extras) == 1 and python != given.python[0]:
                continue
            try:
                wrong = try_in(Path(name), wheel, python, resolution, extras)
            except subprocess.SubprocessError as error:
                wrong = [str(error)]
            shown = f"Python {python}, {resolution}, {'+'.join(extras) or 'no extra'}"
            print("\n  ".join([f"{shown}: {'WRONG' if wrong else 'right'}", *wrong]), flush=True)
            failed += bool(wrong)
    return int(bool(failed or missing))


if __name__ == "__main__":
    sys.exit(main())
