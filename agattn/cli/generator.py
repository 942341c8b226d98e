"""Commands made from functions: the options of a command are the parameters of its verb.

The signature of a function gives the names, types and defaults of the options, the ``Args:`` of its docstring
their help, and what it returns is shown. A command that does more than its verb, such as drawing a picture,
has a function of its own in a module beside this one; where that takes ``**given``, the other parameters of
the verb become options, too, and are passed on.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import click

from agattn.cli import output
from agattn.cli.architecture import HELP, Architectures
from agattn.cli.kinds import Choice, Cores, EngineName, InputFile, OutputPath, Real, Whole, outputs_of
from agattn.errors import InputError
from agattn.names import COMMANDS


class Option(NamedTuple):
    """What a signature and a docstring do not say of an option.

    Attributes:
        kind: how its value is read.
        flags: its names; by default that of the parameter.
        metavar: what stands for its value in the help.
        help: in place of what the docstring says.
        default: in place of that of the signature.
        more: further arguments of :class:`click.Option`.
    """

    kind: click.ParamType[Any] | None = None
    flags: str = ""
    metavar: str = ""
    help: str = ""
    default: Any = inspect.Parameter.empty
    more: Mapping[str, Any] = {}


class Writes(NamedTuple):
    """What ``-O`` of a command writes by its own function.

    Attributes:
        endings: of the files.
        folder: whether it writes folders.
        default: the ending that stands for ``-``.
        documents: whether it writes its result as all commands do, too.
        required: whether it writes anyway.
    """

    endings: tuple[str, ...] = ()
    folder: bool = False
    default: str = ".json"
    documents: bool = True
    required: bool = False


class Reply(NamedTuple):
    """A result with the text that is shown in place of its sheet, and the exit status."""

    result: Any
    text: str = ""
    status: int = 0


#: A file that is read.
Input = Option(InputFile(), metavar="FILE")
#: The distances that a loss may be.
METRICS = ("generic", "gaussian", "bombieri-weyl", "coefficients")


def characteristic(context: click.Context, _: click.Parameter, name: str | None) -> int | None:
    """The characteristic that ``--field`` names: 0 for ℚ, or a prime that engines accept."""
    if name is None or context.resilient_parsing:
        return None
    if name.upper() == "QQ":
        return 0
    if len(name) <= 40 and name.isascii() and name.isdigit() and int(name) > 0:
        from agattn.systems.catalogue import check_field

        check_field(int(name))
        return int(name)
    raise InputError(f"the field is {name[:40]!r}; it must be QQ or a prime, such as 32003")


def _list_claims(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from agattn.claims import titled
        from agattn.sheet.terminal import print_folded

        for title, claims in titled():
            print_folded(f"{title}:")
            for claim in claims.values():
                assumes = f" (assumes {', '.join(h.text for h in claim.hypotheses)})" * bool(claim.hypotheses)
                print_folded(f"  {claim.id}\n    {claim.statement}{assumes}")
        context.exit()


def listing(show: Callable[[click.Context, click.Parameter, bool], None], what: str) -> Option:
    """An option ``--list`` that prints something, and nothing else."""
    more = {"is_flag": True, "is_eager": True, "expose_value": False, "callback": show}
    return Option(flags="--list", help=f"List the {what}.", more=more)


#: Options that read the same in every command, by the name of the parameter.
OPTIONS: Mapping[str, Option] = {
    "seed": Option(Whole(0), metavar="N", help="Seed of all random choices."),
    "force": Option(help="Go beyond the limits on sizes."),
    "timeout": Option(Real(), metavar="SECONDS", help="Time limit of each engine process."),
    "memory": Option(Whole(64), metavar="MIB", help="Memory limit of each engine process, in MiB."),
    "engine": Option(EngineName("auto", "native")),
    "characteristic": Option(
        click.STRING,
        flags="--field",
        metavar="QQ|P",
        help="Field: QQ for ℚ, or a prime p for 𝔽_p.",
        default=None,
        more={"callback": characteristic},
    ),
    "tolerance": Option(
        Real(0, 1), metavar="X", help="What counts as zero in floating point, relative to the largest."
    ),
    "claims": Option(
        flags="--claim",
        metavar="ID",
        help="Only this claim, or all claims of a theorem, such as theorem-3.4 or 3.4; may be repeated.",
    ),
    "list_claims": listing(_list_claims, "claims"),
    "max_degree": Option(Whole(1), metavar="N"),
    "metric": Option(
        Choice(*METRICS),
        help="Distance to a random target; generic: the loss of random samples.  [default: generic]",
    ),
    "samples": Option(
        Whole(1), metavar="N", help="Number of random samples.  [default: enough to be generic]"
    ),
    "data": Option(InputFile(), metavar="FILE", help="A file with arrays X, n × d × t, and Y, n × d' × t."),
    "digits": Option(Whole(10), metavar="N"),
    "workers": Option(Cores(), metavar="N"),
    "precision": Option(Whole(8, 1_000_000), metavar="BITS"),
    "heads": Option(Whole(1), metavar="N", help="Heads per layer.  [default: from config.json]"),
    "kv_heads": Option(Whole(1), metavar="N", help="Heads of keys and values, if they are shared."),
    "family": Option(metavar="NAME", help="The family as which a configuration is read, such as llama."),
    "ignore": Option(metavar="KEY,...", help="Keys of a configuration that are passed over, known or not."),
    "match": Option(
        metavar="TEXT",
        more={"multiple": True},
        help="Only tensors whose names contain TEXT, where a file has several models; may be repeated.",
    ),
    "names": Option(
        metavar="K=NAME,...",
        help="Names of the tensors of K, Q, V if no layout has them: K=h.{layer}.k,...; O=NAME is ignored.",
    ),
    "functions": Option(metavar="TEXT"),
    "radius": Option(metavar="R"),
    "stratum": Option(metavar="R_V,R_A,R"),
}
#: Options that the help lists last, in this order.
_LAST = (
    "list_claims", "list_tasks", "characteristic", "timeout", "memory", "seed", "force", "output", "form",
    "as_json",
)  # fmt: skip
#: Parameters that the generator gives by itself.
_GIVEN = ("progress", "as_json", "output")


class Shell(NamedTuple):
    """What a shell has of a command beyond its verb.

    Attributes:
        examples: lines that work.
        module: of this package, with the function of the same name that stands in place of the verb.
        more: the function whose parameters are options, too, in place of the verb's.
        hidden: parameters of the verb that are no options.
        options: options that read otherwise than elsewhere.
        architectures: those that it takes, where the verb's type does not say that.
        json: the help of ``--json``; empty for a command without documents.
        wide: whether lines of its tables are never folded.
    """

    examples: str
    module: str = ""
    more: str = ""
    hidden: tuple[str, ...] = ()
    options: Mapping[str, Option] = {}
    architectures: Architectures | None = None
    json: str = "Print one JSON document on stdout."
    wide: bool = False


def command(name: str, shell: Shell, place: str) -> click.Command:
    """The command of this name, which calls the function at a place."""
    function = imported(place)
    parameters = list(_parameters(function, shell))
    if _takes_more(function):
        own = {parameter.name for parameter in parameters}
        others = _parameters(imported(shell.more or COMMANDS[name].function), shell)
        parameters += [one for one in others if one.name not in own and isinstance(one, click.Option)]
    takes = shell.architectures or _architectures(function)
    described = [] if takes is None else takes.parameters()
    if shell.json:
        parameters += _of_outputs(function)
        parameters.append(click.Option(["--json", "as_json"], is_flag=True, help=shell.json))
    arguments = [one for one in parameters if isinstance(one, click.Argument)]
    options = [one for one in parameters if isinstance(one, click.Option)]
    options.sort(key=lambda option: _LAST.index(option.name) if option.name in _LAST else -1)

    def run(**given: Any) -> int:
        return _run(name, function, takes, shell, given)

    return Command(
        name,
        params=[*arguments, *described, *options],
        callback=run,
        help=_without_arguments(function),
        short_help=COMMANDS[name].about,
        epilog=f"Example{'s' * ('; ' in shell.examples)}: {shell.examples}",
    )


def imported(path: str) -> Callable[..., Any]:
    """The function at ``module:function``."""
    module, _, function = path.partition(":")
    made: Callable[..., Any] = getattr(import_module(module), function)
    return made


def _run(
    name: str, function: Callable[..., Any], takes: Architectures | None, shell: Shell, given: dict[str, Any]
) -> int:
    """Call the function of a command with what was given, and show what it returns."""
    as_json = given.get("as_json", False)
    outputs = outputs_of(given.get("output", ()), given.pop("form", None), as_json)
    writes = _writes(function)
    if writes.required and not outputs:
        raise InputError(f"say where to write, as by -O {name}")
    if "output" in given:
        given["output"] = outputs
    parameters = inspect.signature(function).parameters
    if takes is not None:
        first = _architecture(function)
        given = {first.name: takes.read(given), **given} if first else given
    if not _takes_more(function):
        given = {key: value for key, value in given.items() if key in parameters}
    else:
        for own in ("as_json", "output"):
            if own not in parameters:
                given.pop(own, None)
    about = next((str(getattr(given[one], "name", "")) for one in _ARCHITECTURES if given.get(one)), "")
    passes_on = _takes_more(function) and not shell.more
    verb = imported(COMMANDS[name].function) if passes_on else function
    if "progress" not in {*parameters, *inspect.signature(verb).parameters}:
        result = function(**given)
    else:
        with output.progress(f"{name} of {about[:60]}" if about else name) as tell:
            result = function(**given, progress=tell)
    if result is None or isinstance(result, int):
        return result or 0
    outputs = tuple(one for one in outputs if one.ending not in writes.endings)
    if not isinstance(result, Reply):
        result = Reply(result, status=getattr(result, "exit_status", 0))
    output.show_result(result.result, as_json, outputs, result.text, wide=shell.wide)
    return int(result.status)


#: Parameters that are architectures.
_ARCHITECTURES = ("architecture", "layer", "network")


def _writes(function: Callable[..., Any]) -> Writes:
    """What a function writes by itself."""
    if not function.__module__.startswith("agattn.cli"):
        return Writes()
    hint = get_type_hints(function, include_extras=True).get("output")
    return next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Writes)), Writes())


def _of_outputs(function: Callable[..., Any]) -> Iterator[click.Parameter]:
    """The options that say what a command writes, and where."""
    writes = _writes(function)
    documents = output.DOCUMENTS if writes.documents else ()
    kind = OutputPath(
        *dict.fromkeys((*writes.endings, *documents)), folder=writes.folder, default=writes.default
    )
    text = described(function.__doc__ or "").get("output", "Write the result.")
    yield click.Option(
        ["-O", "--output", "output"],
        type=kind,
        multiple=True,
        metavar="PATH",
        help=f"{text.rstrip('.')}; PATH {kind.listed}; may be repeated.",
    )
    if len(kind.formats) > 1:
        yield click.Option(
            ["--format", "form"],
            type=Choice(*kind.formats),
            is_eager=True,
            metavar="FORMAT",
            help=f"Print on stdout in this format ({', '.join(filter(None, kind.formats))}).",
        )


def _takes_more(function: Callable[..., Any]) -> bool:
    """Whether a function takes the other parameters of its verb."""
    kinds = [one.kind for one in inspect.signature(function).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds


def _architecture(function: Callable[..., Any]) -> inspect.Parameter | None:
    """The parameter of a function that is an architecture, if there is one."""
    for name, parameter in inspect.signature(function).parameters.items():
        if name in _ARCHITECTURES and not str(parameter.annotation).startswith("Annotated"):
            return parameter
    return None


def _architectures(function: Callable[..., Any]) -> Architectures | None:
    """The architectures that a function takes by the type of its parameter; ``None`` if it takes none."""
    parameter = _architecture(function)
    if parameter is None:
        return None
    kind = str(parameter.annotation)
    return Architectures(networks="SingleLayer" not in kind, published="Published" in kind)


def _parameters(function: Callable[..., Any], shell: Shell) -> Iterator[click.Parameter]:
    """The parameters of a function as those of a command, without an architecture."""
    texts = described(function.__doc__ or "")
    own = function.__module__.startswith("agattn.cli")
    hints = get_type_hints(function, include_extras=True) if own else {}
    for name, parameter in inspect.signature(function).parameters.items():
        named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if not named or name in (*_GIVEN, *shell.hidden) or parameter == _architecture(function):
            continue
        if name == "files" and shell.architectures and shell.architectures.files:
            continue  # they stand among the words of the architecture
        hint, *more = (
            get_args(hints[name]) if get_origin(hints.get(name)) is Annotated else (hints.get(name),)
        )
        kind = str(parameter.annotation) if hint is None else getattr(hint, "__name__", str(hint))
        option = shell.options.get(name) or next(iter(more), None) or OPTIONS.get(name, Option())
        yield _parameter(name, kind, parameter.default, option, texts.get(name, ""))


def _parameter(name: str, kind: str, default: Any, option: Option, text: str) -> click.Parameter:
    """A parameter of a command, of a type that is written as ``kind``."""
    if option.default is not inspect.Parameter.empty:
        default = option.default
    if default is inspect.Parameter.empty and not option.flags:
        return click.Argument([name], type=option.kind, metavar=option.metavar or None, **option.more)
    is_flag = kind.startswith("bool")
    words = "|".join(option.kind.words) if isinstance(option.kind, EngineName) else None
    settings = {
        **({"is_flag": True} if is_flag else {"type": option.kind or _kind(kind)}),
        "multiple": "Sequence[str]" in kind,
        "metavar": option.metavar or words,
        "help": option.help or text,
        "show_default": True,
    }
    if is_flag or default not in (None, (), inspect.Parameter.empty):
        settings["default"] = default is True if is_flag else default
    flags = option.flags.split() or [f"--{name.replace('_', '-')}"]
    return click.Option([*flags, name], **{**settings, **option.more})


def _kind(kind: str) -> click.ParamType[Any]:
    """How a value of a type is read where no option says that."""
    if kind.startswith("int"):
        return Whole()
    return Real() if kind.startswith("float") else click.STRING


def described(docstring: str) -> dict[str, str]:
    """The ``Args:`` of a docstring by the names of the parameters, as sentences.

    >>> described("Adds.\\n\\nArgs:\\n    a, b: the two\\n        numbers.\\n\\nRaises:\\n    E: never.")
    {'a': 'The two numbers.', 'b': 'The two numbers.'}
    """
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", inspect.cleandoc(docstring), re.DOTALL | re.MULTILINE)
    texts: dict[str, str] = {}
    for names, text in re.findall(r"(?m)^    (\w[\w, ]*): (.*(?:\n {8}.*)*)", section[1] if section else ""):
        line = " ".join(text.split()).replace("``", "").replace(" [default", "  [default")
        texts |= dict.fromkeys(names.split(", "), line[:1].upper() + line[1:])
    return texts


def _without_arguments(function: Callable[..., Any]) -> str:
    """What a docstring says before its sections and its examples."""
    text = inspect.cleandoc(function.__doc__ or "")
    return re.split(r"\n\n(?:Args|Returns|Raises|See Also):\n|\n\n>>> ", text)[0].replace("``", "")


#: Where a context keeps the line that was typed.
WORDS = "agattn.words"


#: The section of the help for options of these names, which every command has alike.
_LIMITS = ("engine", "characteristic", "timeout", "memory", "workers", "seed", "force")
#: The most lines of a screen of help.
_SCREEN = 40


class HelpLine:
    """What a screen of help says of an option: its names, the clauses of its help, and a short default."""

    def __init__(self, option: click.Option, context: click.Context) -> None:
        words = getattr(option.type, "words" if option.metavar else "choices", ())
        metavar = "" if option.is_flag else f" {'WORD' if words else option.make_metavar(context)}"
        self.names = ", ".join(option.opts) + metavar
        text, _, said = (option.help or "").partition("  [default: ")
        given = option.default if type(option.default) in (str, int, float) else said.partition("]")[0]
        self.default = f"  [default: {given}]" if 0 < len(str(given)) < 8 else ""
        self.clauses = [f"{', '.join(words)}: "] * bool(words) + re.findall(
            r".+?(?:[.;:,] (?![^(]*\))|$)", text
        )

    @property
    def text(self) -> str:
        """What is left of the clauses, and the default."""
        return "".join(self.clauses).strip(" .;:,") + self.default


class Command(click.Command):
    """A command that says what is wrong with a line, and what to type instead."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write as much as fits on one screen of the description and of the options; the page has all."""
        about, *more = (self.help or "").split("\n\n")
        status = [text for text in more if text.startswith("Exit status")]
        more = [text for text in more if text not in status]
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option) and not one.hidden]
        lines = {option.name or "": HelpLine(option, ctx) for option in options}
        fits = False
        while not fits:
            screen = ctx.make_formatter()
            self._write(ctx, screen, [about, *more, *status], lines)
            fits = screen.getvalue().count("\n") < _SCREEN
            if not fits and not (more and more.pop()):
                folded = [line for line in lines.values() if len(line.text) > screen.width - 24]
                longest = max(folded, key=lambda line: len(line.text) * (len(line.clauses) > 1), default=None)
                if longest is None or len(longest.clauses) == 1:
                    break
                longest.clauses.pop()
        formatter.write(screen.getvalue())

    def _write(
        self, ctx: click.Context, screen: click.HelpFormatter, about: list[str], lines: dict[str, HelpLine]
    ) -> None:
        """Write the paragraphs, the options in sections, and examples on two lines."""
        self.format_usage(ctx, screen)
        for paragraph in about:
            screen.write_paragraph()
            with screen.indentation():
                screen.write_text(paragraph)
        rows = {row: text for row, text in HELP.items() if {*row} & {one.name for one in self.params}}
        rows = rows if ("words",) in rows else {}
        sections = {"Options": [], "Architecture": [*rows.values()], "Limits and engines": []}
        for name, line in lines.items():
            if not any(name in row for row in rows):
                sections["Limits and engines" if name in _LIMITS else "Options"].append(
                    (line.names, line.text)
                )
        for title, section in sections.items():
            if section:
                with screen.section(title):
                    screen.write_dl(section, col_max=26)
        screen.write_paragraph()
        screen.write_text(self.epilog or "")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words after the name, and keep them for what a result tells to type next."""
        typed = [*args]
        ctx.meta[WORDS] = shlex.join([*ctx.command_path.split(), *typed])
        try:
            return super().parse_args(ctx, args)
        except (click.NoSuchOption, click.MissingParameter) as error:
            from agattn.cli.suggestions import suggested

            raise InputError(suggested(error, ctx, typed)) from None
