"""Verbs and commands: which command is which verb, which function answers both, and what each page says."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import agattn as ag
from agattn import library
from agattn.cli.commands import SHELL
from agattn.names import COMMANDS, VERBS

ROOT = Path(__file__).parents[1]

#: Commands that do not call the verb of their name, with the function of the room that both call, and why.
THE_SAME_BELOW = {
    "check": ("agattn.checker", "check", "the command imports the checker alone, as a referee runs it"),
    "study": (
        "agattn.experiments.studies.study", "study",
        "the command does jobs on a cluster, and writes lines while they come",
    ),
    "train": (
        "agattn.experiments.training.training", "train",
        "the command reads many experiments from a file, and does them as jobs that are kept",
    ),
}  # fmt: skip

#: Where these commands call that function, if not in their own file.
BELOW = {"study": "agattn.cli.jobs", "train": "agattn.experiments.training.training"}

#: Verbs without a command of their name, with the line of a shell that does the same; `weights` has none.
WITHOUT_A_COMMAND = {
    name: verb.command for name, verb in VERBS.items() if name.replace("_", "-") not in COMMANDS
}


def names_called(module):
    """The names that a module of the package imports from others of the package: (module, name)."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {(node.module, alias.name) for node in nodes for alias in node.names}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_the_verb_of_its_name(command):
    """It is made from it, or its function in the command line imports it; or both come to the same below."""
    module, function = COMMANDS[command].function.split(":")
    of_shell = f"agattn.cli.{SHELL[command].module}" if SHELL[command].module else ""
    if command in THE_SAME_BELOW:
        home, name, _ = THE_SAME_BELOW[command]
        caller = BELOW.get(command, of_shell)
        assert (home, name) in names_called(caller) or caller == home
        asked = (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        assert home in asked or home.rpartition(".")[0] in asked
    else:
        called = names_called(of_shell) if of_shell else {(module, function)}
        assert (module, function) in called or tuple(module.rsplit(".", 1)) in called


def test_every_verb_has_a_command_or_a_line_of_a_shell():
    named = {command.replace("-", "_") for command in COMMANDS}
    assert named | set(WITHOUT_A_COMMAND) == set(library.VERBS)
    assert not named & set(WITHOUT_A_COMMAND) and not WITHOUT_A_COMMAND["weights"]
    for line in filter(None, WITHOUT_A_COMMAND.values()):
        words = re.fullmatch(r"agattn ([a-z-]+)(?: (--[a-z]+|FILE\.json))?", line)
        assert words[1] in COMMANDS
        assert words[2] in (None, "FILE.json") or words[2] in options_of(words[1])


def options_of(command):
    from agattn.cli.main import cli

    found = cli.get_command(None, command)
    return {name for parameter in found.params for name in parameter.opts}


@pytest.mark.parametrize("name", library.VERBS)
def test_a_verb_shows_the_signature_and_the_docstring_of_its_function(name):
    verb = library.verb(name)
    function = verb.__wrapped__
    assert verb is library.verb(name)
    assert verb.__name__ == name and name in dir(ag)
    assert inspect.signature(verb) == inspect.signature(function)
    assert verb.__doc__ == function.__doc__


@pytest.mark.parametrize("name", library.VERBS)
def test_every_verb_names_its_siblings_and_its_command(name):
    text = " ".join(library.verb(name).__doc__.split())
    [said] = re.findall(r"See Also: (.*?\.)(?: >>>|$)", text)
    siblings = re.findall(r":func:`agattn\.(\w+)`", said)
    assert siblings and set(siblings) <= set(library.VERBS) - {name}
    commands = re.findall(r"``agattn ([a-z-]+)(?: (--[a-z]+|FILE\.json))?``", said)
    assert len(commands) == (name != "weights")
    for command, option in commands:
        assert command in COMMANDS and (option in ("", "FILE.json") or option in options_of(command))
        own = name.replace("_", "-") if name not in WITHOUT_A_COMMAND else command
        assert command == own
        if name in WITHOUT_A_COMMAND:
            assert f"agattn {command}{' ' + option if option else ''}" in WITHOUT_A_COMMAND[name]


def test_the_page_of_the_library_has_every_verb_in_its_table():
    page = (ROOT / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    called = {name for row in rows for name in re.findall(r"`ag\.([a-z_]+)\(", row)}
    second = {name for row in rows for name in re.findall(r"second name `ag\.([a-z_]+)`", row)}
    assert called | second == set(library.VERBS)
    assert set(re.findall(r"autofunction:: agattn\.(?:library\.)?(\w+)", page)) == set(library.VERBS)


def test_every_long_call_tells_what_it_does(monkeypatch, capsys):
    """Whatever the verb: also one that reports no steps."""
    import time

    from agattn import patience
    from agattn.geometry.identifiability import network_fibers

    real = patience.told
    monkeypatch.setattr(library, "told", lambda work, progress: real(work, progress, after=0.1))
    monkeypatch.setattr(network_fibers, "network_fiber", lambda *_: time.sleep(0.4))
    ag.fiber(ag.DeepNetwork((2, 2), (2,)), {})
    assert capsys.readouterr().err == "fiber of M(2,2,2), t = 3\n"


def test_progress_is_told_to_a_function_or_with_none_to_nobody_but_stderr():
    told = []
    ag.dimension(ag.DeepNetwork((2, 2), (2,)), progress=told.append)
    assert told
    ag.ideal(ag.Network([ag.Linear(1)], dim=1), 1, step=told.append)
    assert "dimension" in told
    assert ag.dimension(ag.SingleLayer(2, 1), progress=None).dimension == 5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e30, 1e200])
def test_training_from_weights_beyond_all_bounds_is_divergence(scale, monkeypatch):
    def svd(A, *arguments, **options):  # as the LAPACKs that refuse infinities
        if not np.isfinite(A).all():
            raise np.linalg.LinAlgError("SVD did not converge")
        return found(A, *arguments, **options)

    found = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", svd)
    [run] = ag.train(ag.SingleLayer(2, 1), seeds=1, scale=scale)
    assert run["outcome"] == "diverged"


def test_the_degree_is_known_by_the_argument_that_is_named():
    at_two, at_one = (ag.degree(ag.SingleLayer(2, 1, 1, t=t)) for t in (2, 1))
    assert (at_two.degree, at_two.reason.partition(":")[0]) == (3, "intersection theory")
    assert (at_one.degree, at_one.reason) == (1, "M̄ is all of the space")
