"""What to type in place of an option that a command has not, and of a word that is missing."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import click

from agattn.names import COMMANDS

#: Options that no command has, but that one may try, and why none is needed.
_NEEDLESS = {
    "--verbose": "progress is shown on a terminal, and --json has all details",
    "--quiet": "results go to stdout, all else to stderr",
    "--yes": "no command asks",
    "--gpu": "everything is computed on the processor",
}
#: Options that say where to write, in version 1 or in other programs.
_WRITES = ("--out", "--report", "--keep", "--plot", "--hasse", "--write", "--save", "--file", "-f")


def suggested(
    error: click.NoSuchOption | click.MissingParameter, context: click.Context, typed: Sequence[str]
) -> str:
    """What is wrong with an option or a missing word, and what to type in place of the words typed."""
    if isinstance(error, click.NoSuchOption):
        return _former(error.option_name, context, typed) or _no_such_option(error.option_name, context)
    return f"{_missing(error, context)}; see {context.command_path} --help"


def _missing(error: click.MissingParameter, context: click.Context) -> str:
    """A message about a missing word, with an example of a whole line."""
    message = error.format_message().partition(". Choose from:")[0].rstrip(".")
    parameter = error.param
    if parameter is not None and parameter.name == "task":
        return f"{message}: agattn emit --list names the tasks, such as implicit-ideal"
    choices = getattr(parameter.type, "choices", ()) if parameter is not None else ()
    listed = f", one of {', '.join(choices)}" if choices else ""
    example = (context.command.epilog or "").partition(": ")[2].partition(";")[0]
    return f"{message}{listed}; for example {example}"


def _former(option: str, context: click.Context, typed: Sequence[str]) -> str:
    """What is typed in place of an option of version 1, or of other programs; empty where that is nothing."""
    own = {parameter.name for parameter in context.command.params}
    command, _, name = context.command_path.partition(" ")
    if option in ("--value-rank", "--temperature") and "normalization" in own:
        return f"{option} is no option any more; {option[2:].replace('-', '_')} is a key of model files"
    place = next((n for n, word in enumerate(typed) if word.partition("=")[0] == option), len(typed))
    in_word = "=" in "".join(typed[place : place + 1])
    value = [typed[place].partition("=")[2]] if in_word else typed[place + 1 : place + 2]
    before, after = typed[:place], typed[place + 1 + (not in_word) :]
    if option in ("--model", "--config") and "words" in own:
        said, words = "the file stands alone", [name, *before, *after, *(value or ["FILE"])]
    elif option == "--certificate" and name in ("verify", "rlct"):
        rest = [*before, *after, *["--claim", "agattn.learning-coefficient"] * (name == "rlct")]
        kept = [w for w, last in zip(rest, ["", *rest], strict=False) if "--engine" not in (w[:8], last)]
        said, words = "agattn certificate writes it", ["certificate", *kept, "-O", *(value or ["FILE.json"])]
    elif option == "--method" and name == "ideal":
        said, words = "--engine names it", [name, *before, "--engine", *(value or ["native"]), *after]
    elif option in ("--metric", "--target") and name == "figure":
        said = "agattn critical-points has it, and draws this figure"
        words = ["critical-points", "2", "1", option, *(value or ["VALUE"]), "-O", "loss.html"]
    elif option in _WRITES and "output" in own:
        said, words = "-O says where to write", [name, *before, "-O", *(value or ["PATH"]), *after]
    else:
        return ""
    return f"{context.command_path} has no option {option}; {said}: type {shlex.join([command, *words])}"


def _no_such_option(option: str, context: click.Context) -> str:
    """Where an option is that this command has not, or what this command has instead."""
    path = context.command_path
    own = _options(context.command)
    if option in ("--dims", "--ranks") and "d_out" in own.values():
        return f"{path} is about one layer; give -d and -o instead of {option}"
    lacks = f"{path} has no option {option}"
    if option in _NEEDLESS:
        return f"{lacks}; {_NEEDLESS[option]}"
    if option == "--softmax" and "--normalization" in own:
        return f"{lacks}; type --normalization softmax"
    if hint := _near(option, own):
        return f"{lacks}; did you mean {hint}?"
    others = _others(context)
    if having := [f"agattn {name}" for name, options in others.items() if option in options]:
        more = f" and {len(having) - 4} other commands" * (len(having) > 4)
        return f"{lacks}; it is an option of {', '.join(having[:4])}{more}. See {path} --help"
    if hint := _near(option, [one for options in others.values() for one in options]):
        name = next(name for name, options in others.items() if hint in options)
        return f"{lacks}; agattn {name} has {hint}. See {path} --help"
    return f"{lacks}; see {path} --help"


def _near(option: str, options: Iterable[str]) -> str:
    """The option that is spelled like another one, or that contains the word of it."""
    alike = difflib.get_close_matches(option, list(options), n=1, cutoff=0.75)
    inside = [name for name in options if len(option) > 5 and f"-{option.strip('-')}" in name]
    return next(iter(alike + inside), "")


def _options(command: click.Command) -> dict[str, str]:
    """The options of a command, each with the name of its parameter."""
    shown = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    return {name: parameter.name or "" for parameter in shown for name in parameter.opts}


def _others(context: click.Context) -> dict[str, dict[str, str]]:
    """The options of all other commands; they are imported for this."""
    group: Any = context.find_root().command
    return {name: _options(group.get_command(None, name)) for name in COMMANDS if name != context.info_name}
