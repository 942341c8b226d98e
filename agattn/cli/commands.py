"""What cannot be derived of the commands: examples, short flags, and which function of a shell they have."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import click

from agattn.cli.architecture import Architectures
from agattn.cli.generator import Option, Shell, command
from agattn.cli.kinds import Choice, EngineName, Whole

_EVERY_ENGINE = Option(
    EngineName("auto", "native", "all"),
    help="The engine that computes; all: ask every engine, and compare the answers.",
)
_NATIVE_MEMORY = Option(
    Whole(64),
    metavar="MIB",
    default=None,
    help="Memory limit in MiB.  [default: natively what the machine has; 8192 for each engine process]",
)
_LINES = "Print one JSON document on a line for each job, or run, instead of the table."


def _is_about_files(given: Mapping[str, object]) -> bool:
    return bool(given["files"]) and not given["words"] and given["dims"] is None is given["ranks"]


def _is_unnamed(given: Mapping[str, object]) -> bool:
    return given["number"] != "1" or not any(given[name] for name in ("words", "d", "d_out", "a"))


#: What a shell has of each command.
SHELL: Mapping[str, Shell] = {
    "verify": Shell(
        "agattn verify 2 1 --engine all; agattn verify --dims 4,3,4 --ranks 2,2 -t 3; "
        "agattn verify 3 2 2 --claim 3.4; agattn verify model.toml",
        "agattn.cli.theorems:verify",
        hidden=("keep",),
        options={"engine": _EVERY_ENGINE},
    ),
    "certificate": Shell(
        "agattn certificate 3 2 2 -O m322.json; agattn check m322.json; "
        "agattn certificate --dims 3,3,2 --ranks 3,3 -t 3 -O n332.json; "
        "agattn certificate 3 2 2 --claim theorem-3.4.singular --json; "
        "agattn certificate model.toml",
        "agattn.cli.theorems:certificate",
    ),
    "check": Shell(
        "agattn certificate 3 2 2 -O m322.json; agattn check m322.json; "
        "agattn check -O checker.py; python3 checker.py m322.json",
        "agattn.cli.theorems:check",
        json="Print one JSON document.",
    ),
    "dimension": Shell(
        "agattn dimension 3 2 2; "
        "agattn dimension --dims 10,10,10 --ranks 2,2 -t 3 --normalization softmax; "
        "agattn dimension config.json",
    ),
    "identifiability": Shell(
        "agattn identifiability 3 2 2; agattn identifiability model.toml "
        "--functions 'K_1[1]^T Q_1[1]'; agattn identifiability 3 2 2 --at weights.json",
        "agattn.cli.geometry:identifiability",
    ),
    "symmetries": Shell(
        "agattn symmetries 3 2 2; agattn symmetries --dims 3,1,2 --ranks 2,2 -t 2",
    ),
    "strata": Shell(
        "agattn strata 3 2 2",
        "agattn.cli.geometry:strata",
        architectures=Architectures(networks=False),
    ),
    "ideal": Shell(
        "agattn ideal 3 1 --max-degree 4 -O equations.m2; "
        "agattn ideal 2 1 --format tex; agattn ideal 2 1 --complete; "
        "agattn ideal 3 1 -t 1 --max-degree 8 --invariants; "
        "agattn ideal 3 2 2 --stratum 1,1,2; "
        "agattn ideal examples/maps.py:cubic --max-degree 2; "
        "agattn ideal --dims 3,1 --ranks 1 --heads 2 -t 2 --max-degree 3",
        "agattn.cli.geometry:ideal",
        options={"memory": _NATIVE_MEMORY},
    ),
    "singularities": Shell(
        "agattn singularities --dims 3,3,2 --ranks 3,3 -t 3; "
        "agattn singularities --dims 2,2,1 --ranks 2,2 -t 2 --pairs; agattn singularities model.toml",
    ),
    "rlct": Shell(
        "agattn rlct 3 2 2; agattn rlct weights.npz; agattn rlct model.safetensors; "
        "agattn rlct --dims 2,2,2 --ranks 2,2 -t 3 network.json",
        "agattn.cli.geometry:rlct",
        architectures=Architectures(files=True, instead=_is_about_files),
        wide=True,
    ),
    "spectrum": Shell(
        "agattn spectrum --dims 2,2,2 --ranks 1,1 -t 2 --normalization softmax; "
        "agattn spectrum --dims 4,4,4,4 --ranks 2,2,2 -t 4 --normalization softmax -O spectrum.png",
        "agattn.cli.geometry:spectrum",
    ),
    "critical-points": Shell(
        "agattn critical-points 4 1; agattn critical-points 2 1 --samples 2; "
        "agattn critical-points 2 1 --real -O loss.html; "
        "agattn critical-points 2 1 --weights w.json --data data.json",
        "agattn.cli.geometry:critical_points",
        hidden=("target",),
        options={"method": Option(Choice("weights", "equations"))},
        architectures=Architectures(networks=False),
    ),
    "classify": Shell(
        "agattn classify model.safetensors -O heads.csv -O stable_ranks.svg; "
        "agattn classify path/to/model --json; agattn classify encoder.safetensors --heads 8",
        "agattn.cli.weights:classify",
        hidden=("weights",),
        wide=True,
    ),
    "fiber": Shell(
        "agattn fiber weights.npz; agattn fiber --dims 2,2,2 --ranks 2,2 -t 3 network.json; "
        "agattn fiber model.toml weights.json --other others.json",
        "agattn.cli.weights:fiber",
        architectures=Architectures(layers=False, files=True, instead=_is_about_files),
    ),
    "equivalent": Shell(
        "agattn equivalent before.npz after.npz; "
        "agattn equivalent base tuned --layer 3 --head 7 --tolerance 1e-6",
        "agattn.cli.weights:equivalent",
    ),
    "identify": Shell(
        "agattn identify tensor.npy 2 1",
        "agattn.cli.weights:identify",
        architectures=Architectures(networks=False),
    ),
    "emit": Shell(
        "agattn emit implicit-ideal 2 1 -O ideal.m2 && agattn run ideal.m2",
        "agattn.cli.engines:emit",
        more="agattn.cli.engines:asked_of_tasks",
    ),
    "run": Shell(
        "agattn run implicit-ideal 2 1 --engine singular --json; agattn run fiber "
        "examples/maps.py:cubic --components; agattn run ideal.m2",
        "agattn.cli.engines:run",
        more="agattn.cli.engines:asked_of_tasks",
        architectures=Architectures(instead=lambda given: _is_script(str(given["task"]))),
    ),
    "doctor": Shell("agattn doctor", "agattn.cli.engines:doctor"),
    "train": Shell(
        "agattn train --example > train.toml; agattn train train.toml --workers 2 -O DIR",
        "agattn.cli.experiments:train",
        more="agattn.cli.jobs:work_of",
        json=_LINES,
    ),
    "study": Shell(
        "agattn study --example > grid.toml; agattn study grid.toml --workers 4 -O results.jsonl; "
        "agattn study audit -O audit",
        "agattn.cli.experiments:study",
        more="agattn.cli.jobs:work_of",
        json=_LINES,
    ),
    "report": Shell(
        "agattn report 2 1 -O report; agattn report --dims 4,3,4 --ranks 2,2 -O r; "
        "agattn report model.toml -O r",
        "agattn.cli.documents:report",
        hidden=("pictures", "grid_text", "command"),
        options={"engine": _EVERY_ENGINE},
        architectures=Architectures(instead=lambda given: given["study"] is not None),
    ),
    "figure": Shell(
        "agattn figure 1 -O umbrella.html; agattn figure 2 --layers 3 -O tree.png",
        "agattn.cli.documents:figure",
        architectures=Architectures(networks=False, instead=_is_unnamed),
    ),
    "schema": Shell("agattn schema verify", "agattn.cli.documents:schema", json=""),
    "rank": Shell("agattn rank hilbert.json", "agattn.cli.weights:rank"),
}


def _is_script(name: str) -> bool:
    from agattn.cli.engines import is_script

    return is_script(name)


def __getattr__(name: str) -> click.Command:
    """The command of a name with _ for -."""
    command = name.replace("_", "-")
    if command not in SHELL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return made(command)


@functools.cache
def made(name: str) -> click.Command:
    """The command of a name."""
    return command(name, SHELL[name])
