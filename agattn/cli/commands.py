"""What cannot be derived of the commands: examples, short flags, and which function of a shell they have."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import click

from agattn.cli.architecture import Architectures
from agattn.cli.generator import Option, Shell, command
from agattn.cli.kinds import Choice, EngineName, InputFile, Whole
from agattn.names import COMMANDS

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


_ONE_LAYER = Architectures(networks=False)
_OF_TASKS = "agattn.cli.engines:asked_of_tasks"
_OF_WORK = "agattn.cli.experiments:work_of"
#: What a shell has of each command.
SHELL: Mapping[str, Shell] = {
    "verify": Shell(
        "agattn verify 2 1 --engine all; agattn verify 3 2 2 --claim 3.4; agattn verify model.toml",
        "theorems",
        hidden=("keep",),
        options={"engine": _EVERY_ENGINE},
    ),
    "certificate": Shell("agattn certificate 3 2 2 -O m322.json; agattn check m322.json", "theorems"),
    "check": Shell("agattn check m322.json; agattn check -O checker.py", "theorems"),
    "dimension": Shell(
        "agattn dimension 3 2 2; agattn dimension --dims 4,3,4 --ranks 2,2; agattn dimension config.json"
    ),
    "identifiability": Shell(
        "agattn identifiability 3 2 2; agattn identifiability model.toml --functions 'K_1[1]^T Q_1[1]'",
        "geometry",
    ),
    "symmetries": Shell("agattn symmetries 3 2 2; agattn symmetries --dims 3,1,2 --ranks 2,2 -t 2"),
    "strata": Shell(
        "agattn strata 3 2 2; agattn strata 3 2 2 -O strata.svg", "geometry", architectures=_ONE_LAYER
    ),
    "ideal": Shell(
        "agattn ideal 3 1 --max-degree 4 -O equations.m2; agattn ideal 2 1 --complete; "
        "agattn ideal examples/maps.py:cubic --max-degree 2",
        "geometry",
        options={"memory": _NATIVE_MEMORY},
    ),
    "singularities": Shell(
        "agattn singularities --dims 2,2,1 --ranks 2,2 -t 2 --pairs; agattn singularities model.toml"
    ),
    "rlct": Shell(
        "agattn rlct 3 2 2; agattn rlct weights.npz; agattn rlct --dims 2,2,2 --ranks 2,2 -t 3 network.json",
        "geometry",
        architectures=Architectures(files=True, instead=_is_about_files),
        wide=True,
    ),
    "spectrum": Shell(
        "agattn spectrum --dims 2,2,2 --ranks 1,1 -t 2 --normalization softmax -O spectrum.png", "geometry"
    ),
    "critical-points": Shell(
        "agattn critical-points 2 1 --samples 2; agattn critical-points 2 1 --real -O loss.html",
        "geometry",
        hidden=("target",),
        options={"method": Option(Choice("weights", "equations"))},
        architectures=_ONE_LAYER,
    ),
    "classify": Shell(
        "agattn classify path/to/model -O heads.csv -O stable_ranks.svg",
        "weights",
        hidden=("weights",),
        wide=True,
    ),
    "fiber": Shell(
        "agattn fiber weights.npz; agattn fiber model.toml weights.json --other others.json",
        "weights",
        architectures=Architectures(layers=False, files=True, instead=_is_about_files),
    ),
    "equivalent": Shell(
        "agattn equivalent before.npz after.npz; agattn equivalent base tuned --layer 3 --head 7", "weights"
    ),
    "identify": Shell("agattn identify tensor.npy 2 1", "weights", architectures=_ONE_LAYER),
    "canonical": Shell(
        "agattn canonical path/to/model -O canonical; agattn canonical path/to/model --residual-basis -O c",
        "weights",
    ),
    "convert": Shell(
        "agattn convert path/to/model --kv-heads 4 -O path/to/smaller",
        "weights",
        hidden=("model",),
        options={
            "kv_heads": Option(Whole(1), metavar="N"),
            "rank": Option(Whole(1), metavar="N"),
            "latent": Option(Whole(1), metavar="R"),
            "groups": Option(Choice("adjacent", "nearest")),
            "data": Option(InputFile(), metavar="FILE"),
            "context": Option(Whole(1), metavar="TOKENS"),
        },
    ),
    "emit": Shell(
        "agattn emit implicit-ideal 2 1 -O ideal.m2 && agattn run ideal.m2", "engines", more=_OF_TASKS
    ),
    "run": Shell(
        "agattn run implicit-ideal 2 1 --engine singular; agattn run ideal.m2",
        "engines",
        more=_OF_TASKS,
        architectures=Architectures(instead=lambda given: _is_script(str(given["task"]))),
    ),
    "read": Shell(
        "agattn read mine.sing 2 1 2; agattn emit implicit-ideal 2 1 2 -O i.m2; M2 --script i.m2 > i.out; "
        "agattn read i.out",
        "engines",
        architectures=Architectures(instead=lambda given: not given["words"] and not given["dims"]),
    ),
    "doctor": Shell("agattn doctor", "engines"),
    "train": Shell(
        "agattn train --example > train.toml; agattn train train.toml -O DIR",
        "experiments",
        more=_OF_WORK,
        json=_LINES,
    ),
    "study": Shell(
        "agattn study --example > grid.toml; agattn study grid.toml -O results.jsonl -O report",
        "experiments",
        more=_OF_WORK,
        json=_LINES,
    ),
    "report": Shell(
        "agattn report 2 1 -O report; agattn report model.toml -O r",
        "documents",
        hidden=("pictures", "grid_text", "command"),
        options={"engine": _EVERY_ENGINE},
        architectures=Architectures(instead=lambda given: given["study"] is not None),
    ),
    "figure": Shell(
        "agattn figure 1 -O umbrella.html; agattn figure 2 --layers 3 -O tree.png",
        "documents",
        architectures=Architectures(networks=False, instead=_is_unnamed),
    ),
    "schema": Shell("agattn schema verify", "documents", json=""),
    "rank": Shell("agattn rank hilbert.json", "weights"),
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
    own = f"agattn.cli.{SHELL[name].module}:{name.replace('-', '_')}"
    return command(name, SHELL[name], own if SHELL[name].module else COMMANDS[name].function)
