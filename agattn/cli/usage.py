"""What is wrong with a command line, in one line: click's words made plainer, and what to type instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

import click
from click.core import ParameterSource

from agattn.cli.commands import COMMANDS
from agattn.cli.output import Destination

#: Options that no command has, but that one may try, and why none is needed.
_NEEDLESS = {
    "--verbose": "progress is shown on a terminal, and --json has all details",
    "--quiet": "results go to stdout, all else to stderr",
    "--yes": "no command asks",
    "--gpu": "everything is computed on the processor",
}
#: Options that say where to write, in other programs or other commands.
_WRITES = ("-O", "--output", "--out", "--report", "--save", "--file", "--plot", "-f")
#: Parameters that are sizes, in the order in which they are typed.
_SIZES = (("d", "d_out", "a", "t"), ("max_d", "max_out"), ("max_width", "max_depth", "max_heads"))


def explained(error: click.ClickException, arguments: Sequence[str] = ()) -> str:
    """What is wrong with a command line, what to type instead, and where to read more."""
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    if context is None:
        named = next((word for word in arguments if word in COMMANDS), "")
        told = f"{message}; see agattn{named and ' '}{named} --help"
        return message if "; " in message or message.endswith("?") else told
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error.option_name, context)
    for pattern, plain in _PLAINER:
        message = re.sub(pattern, plain, message)
    if isinstance(error, click.MissingParameter):
        message = _missing(message, context)
    stray = re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", message)
    typed = (_model(stray[1], context) or _sizes(stray[1].split(), context)) if stray else ""
    return typed or f"{message}; see {context.command_path} --help"


#: How click says something, and plainer words for it.
_PLAINER = (
    (r"is not a valid integer\b.*", "is not a whole number"),
    (r"is not a valid float\b.*", "is not a number"),
    (r"is not in the range (\d+)<=x<=(\d+)", r"is not from \1 to \2"),
    (r"is not in the range x>=(\d+)", r"is not at least \1"),
    (r"is not in the range x>(\d+)", r"is not above \1"),
    (r"is not in the range (\d+)<x<(\d+)", r"is not between \1 and \2"),
    (
        r"Invalid value for '1\|2[^']*': '([^']*)' is not one of (.*)",
        r"there is no figure '\1'; there are \2",
    ),
    (r"Invalid value for '([^']*)': '([^']*)' is not one of (.*)", r"\1 is '\2'; it must be one of \3"),
)


def _missing(message: str, context: click.Context) -> str:
    """A message about a missing word, with an example of a whole line."""
    if message.endswith("Missing option '--out'"):
        return f"{message}: give a folder, such as --out report"
    if message.startswith("Missing argument 'TASK"):
        return f"{message}: agattn emit --list names the tasks, such as implicit-ideal"
    if message.startswith("Missing argument"):
        message, _, choices = message.partition(". Choose from:")
        listed = f", one of {' '.join(choices.split())}" if choices else ""
        example = (context.command.epilog or "").partition(": ")[2].partition(";")[0]
        return f"{message}{listed}; for example {example}"
    return message


def _no_such_option(option: str, context: click.Context) -> str:
    """Where an option is that this command has not, or what this command has instead."""
    path = context.command_path
    if isinstance(context.command, click.Group):
        return f"{option} follows a command, as in agattn verify -d 3 -o 2; see agattn --help"
    own = dict(_options(context.command))
    if option in ("--dims", "--ranks") and "d_out" in own.values():
        return f"{path} is about one layer; give -d and -o instead of {option}"
    told = f"{path} has no option {option}"
    if option in _NEEDLESS:
        return f"{told}; {_NEEDLESS[option]}"
    if option == "--softmax" and "--normalization" in own:
        return f"{told}; type --normalization softmax"
    if option in _WRITES:
        writing = [p.opts[0] for p in context.command.params if isinstance(p.type, Destination)]
        if writing := [*writing, *(["--json"] if "--json" in own else [])]:
            return f"{told}; {_writing(writing)} what it finds"
    if hint := _near(option, own):
        return f"{told}; did you mean {hint}?"
    others = {name: command for command, found in reversed(_others(context)) for name, _ in _options(found)}
    having = [command for command, found in _others(context) if option in dict(_options(found))]
    if having:
        return f"{told}; it is an option of {_listed(having)}. See {path} --help"
    if hint := _near(option, others):
        return f"{told}; agattn {others[hint]} has {hint}. See {path} --help"
    return f"{told}; see {path} --help"


def _writing(options: Sequence[str]) -> str:
    """Options with the verb that goes with them.

    >>> _writing(["--json"]), _writing(["-O", "--plot", "--json"])
    ('--json writes', '-O, --plot and --json write')
    """
    *others, last = options
    return f"{', '.join(others)} and {last} write" if others else f"{last} writes"


def _near(option: str, known: Iterable[str]) -> str:
    """The option that is spelled like another one, or that contains the word of it."""
    alike = difflib.get_close_matches(option, list(known), n=1, cutoff=0.75)
    inside = [name for name in known if len(option) > 5 and f"-{option.strip('-')}" in name]
    return next(iter(alike + inside), "")


def _listed(names: Sequence[str]) -> str:
    """Commands in words, the first four of them."""
    shown = [f"agattn {name}" for name in names[:4]]
    return ", ".join(shown) + (f" and {len(names) - 4} other commands" if len(names) > 4 else "")


def _options(command: click.Command) -> Iterator[tuple[str, str]]:
    """The options of a command, each with the name of its parameter."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield from ((name, parameter.name or "") for name in parameter.opts)


def _others(context: click.Context) -> list[tuple[str, click.Command]]:
    """All other commands with their names; they are imported for this."""
    group = context.find_root().command
    assert isinstance(group, click.Group)
    found = ((name, group.get_command(context, name)) for name in COMMANDS if name != context.info_name)
    return [(name, command) for name, command in found if command is not None]


def _model(word: str, context: click.Context) -> str:
    """The line to type where the file of a model stands without its option; empty where there is none."""
    is_model = re.fullmatch(r"\S+(\.toml|\.py(:\w+)?)", word) and "--model" in dict(_options(context.command))
    return f"a model follows its option: type {context.command_path} --model {word}" if is_model else ""


def _sizes(words: Sequence[str], context: click.Context) -> str:
    """The line to type where sizes stand without their options; empty where the words are no sizes."""
    given = context.params
    if not all(word.isdecimal() for word in words):
        numbers = re.findall(r"\d+", " ".join(words))
        pattern = r"(\w{1,5} ?= ?)?\d+([ ,;:x×*/()-]+(\w{1,5} ?= ?)?\d+)+\W?"
        if not re.fullmatch(pattern, " ".join(words).strip("([")):
            return ""
        return f"numbers are separate words: type {context.command_path} {' '.join(numbers)}"
    if widths := given.get("dims"):
        return f"numbers are joined by commas: type --dims {','.join([widths, *words])}"
    known = {parameter.name: parameter for parameter in context.command.params}
    sizes = [known[name] for names in _SIZES for name in names if name in known]
    if not sizes:
        return ""
    by_hand = [p for p in sizes if context.get_parameter_source(p.name or "") is ParameterSource.COMMANDLINE]
    values = {p.opts[0]: str(given[p.name or ""]) for p in by_hand}
    for flag, value in values.items():
        if not value.isdecimal():
            return f"{flag} is {value!r}; it must be a number"
    values |= dict(zip((p.opts[0] for p in sizes if p not in by_hand), words, strict=False))
    needed = {"-d": "D", "-o": "D'"} if "d" in known else {}
    typed = " ".join(f"{flag} {number}" for flag, number in (needed | values).items())
    what = "".join(f" {given[name]}" for name in ("task", "file", "number") if given.get(name))
    return f"give sizes by their options: type {context.command_path}{what} {typed}"
