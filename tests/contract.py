"""The contract: what programs rely on, in a file that a test compares with the package.

    python -m tests.contract    writes ``contract.txt`` anew, once a version is released

It has the keys of all documents, the commands with their options and exit statuses, the verbs and classes of
``import agattn`` with their parameters, and the names of claims, tasks and engines. It is made of the package
itself. What a version promised stays in the file until the next is released; until then the changelog names
every difference.
"""

import inspect
import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

import click

import agattn as ag
from agattn import claims, errors
from agattn.cli.main import COMPLETION, cli
from agattn.documents import NAMES, schema
from agattn.engines.catalogue import ENGINES
from agattn.names import COMMANDS, STATUSES
from agattn.systems.catalogue import MODEL_TASKS, TASKS

FILE = Path(__file__).with_name("contract.txt")
PAGE = "docs/reference/changelog.md"
CHANGELOG = Path(__file__).parents[1] / PAGE
HEAD = """# What programs may rely on in agattn {version}. `python -m tests.contract` writes this file,
# tests/test_contract.py compares it with the package, and docs/extend/contributing.md says how it is changed.
"""
#: The title of what all keys ``architecture`` may hold.
ARCHITECTURE = "architecture"


# What the package has now: entries by section, each with its meaning.


def contract():
    """Everything, by section and entry."""
    return {
        "exit statuses": {str(status): meaning for status, meaning in STATUSES.items()},
        "agattn": options_of(click.Context(cli, info_name="agattn", **cli.context_settings)),
        **{f"agattn {name}": command(name) for name in COMMANDS},
        **dict(sorted(documents().items())),
        **{f"ag.{name}": python_name(name) for name in ag.__all__},
        "exceptions": {name: raised(one) for name, one in vars(errors).items() if is_exception(one)},
        "claims": {name: title.lower() for title, table in claims.titled() for name in table},
        "tasks": {name: "of a layer, network or model" if name in MODEL_TASKS else "" for name in TASKS},
        "engines": {name: f"scripts end in {engine.ending}" for name, engine in ENGINES.items()},
        "environment": {
            **{engine.variable: f"the program of {name}" for name, engine in ENGINES.items()},
            COMPLETION: "completions for a shell",
        },
    }


def command(name):
    """The arguments and options of a command, and what its status 1 says."""
    group = click.Context(cli, info_name="agattn", **cli.context_settings)
    context = click.Context(cli.get_command(group, name), info_name=name, parent=group)
    refusal = {"status 1": COMMANDS[name].refused} if COMMANDS[name].refused else {}
    return refusal | options_of(context)


def options_of(context):
    """Every parameter: its other names, what it takes, and what is meant where it is left out."""
    found, place = {}, 0
    for one in context.command.get_params(context):
        if one.param_type_name == "argument":
            place += 1
            name, others = f"argument {place}", []
        else:
            *others, name = sorted([*one.opts, *one.secondary_opts], key=len)
        flags = (
            "required" * one.required,
            "repeats" * (one.multiple or one.nargs == -1),
            "hidden" * getattr(one, "hidden", False),
            default_of(one, context),
        )
        found[name] = ", ".join(filter(None, [*others, taken_by(one), *flags]))
    return found


def taken_by(parameter):
    """The type of what a parameter takes, or the words that it takes."""
    if getattr(parameter, "is_flag", False):
        return "flag"
    known = parameter.type.to_info_dict()
    words = known.get("choices") or ("|" in (parameter.metavar or "") and parameter.metavar.split("|"))
    if words:
        return " | ".join(map(json.dumps, words))
    above = {True: "above", False: "of at least"}[known.get("min_open", False)]
    bounds = [f"{above} {known['min']}"] if known.get("min") is not None else []
    bounds += [f"at most {known['max']}"] if known.get("max") is not None else []
    return " ".join([known["name"].removesuffix(" range"), " and ".join(bounds)]).strip()


def default_of(parameter, context):
    """What is meant where an option is left out; its help says that where the default depends on others."""
    value = parameter.get_default(context)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return f"default {json.dumps(value)}"
    said = re.findall(r"\[default: (.*?)\]", getattr(parameter, "help", None) or "")
    return f"default {'; '.join(said)}" if said else ""


def documents():
    """The keys of all documents, by what their key ``schema`` says; those of architectures by themselves."""
    verify = schema("verify")
    shared, forms = {}, {}
    for one in verify["properties"]["architecture"]["anyOf"]:
        _, keys = described(one, verify, shared)
        shared[frozenset(keys.items())] = f"{ARCHITECTURE} {one['title']}"
        forms |= {f"({one['title']}){key}": kind for key, kind in keys.items()}
    found = {ARCHITECTURE: forms}
    for name in NAMES:
        root = schema(name)
        parts = [resolve(top, root) for top in root.get("anyOf", [root])]
        titles = [part["properties"]["schema"]["enum"] for part in parts]
        for part in parts:
            _, keys = described(part, root, shared)
            title = keys.pop(".schema").split('"')[1]
            place = f"({part['title']})" if titles.count([title]) > 1 else ""
            entries = {(place + key).strip(". "): kind for key, kind in keys.items()}
            found.setdefault(title, {}).update(entries)
    return found


def described(part, root, shared):
    """The JSON type of a part of a schema in words, and the types of the keys below, by their paths.

    Below an array a path goes on with ``[]``, below an object of any keys with ``.*``, and below one of
    several objects with the title of this one in parentheses.
    """
    part = resolve(part, root)
    if "enum" in part:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in part["enum"]), {}
    if "anyOf" in part and "type" not in part:  # beside a type it only says which values go together
        return one_of(part["anyOf"], root, shared)
    kind = part.get("type", "any")
    if kind == "array" and "prefixItems" in part:
        return f"[{', '.join(described(one, root, shared)[0] for one in part['prefixItems'])}]", {}
    if kind == "array":
        inner, keys = described(part.get("items", {}), root, shared)
        return f"array of {inner}", {f"[]{path}": kind for path, kind in keys.items()}
    if kind == "object":
        return an_object(part, root, shared)
    return kind if isinstance(kind, str) else " | ".join(kind), {}


def one_of(parts, root, shared):
    """The same of several parts, of which one is there."""
    several = [(resolve(part, root), *described(part, root, shared)) for part in parts]
    # Versions of msgspec list them in other orders.
    kinds = sorted({kind for _, kind, _ in several}, key=lambda kind: (kind == "null", kind))
    forms = {kind for kind in kinds if kind.startswith(f"{ARCHITECTURE} ")}
    if len(forms) > 1 and forms == set(shared.values()):
        kinds = [ARCHITECTURE, *(kind for kind in kinds if kind not in forms)]
    with_keys = [(part, keys) for part, _, keys in several if keys]
    if len(with_keys) == 1:
        return " | ".join(kinds), with_keys[0][1]
    found = {}
    for part, keys in with_keys:
        title = f"({part['title']})" if "title" in part else ""
        found |= {f"{title}{path}": kind for path, kind in keys.items()}
    assert len(found) == sum(len(keys) for _, keys in with_keys), found
    return " | ".join(kinds), found


def an_object(part, root, shared):
    """The same of an object."""
    found = {}
    for key, value in part.get("properties", {}).items():
        kind, keys = described(value, root, shared)
        default = f", default {json.dumps(value['default'])}" if "default" in value else ""
        found[f".{key}"] = kind + ("" if key in part.get("required", ()) else ", optional") + default
        found |= {f".{key}{path}": kind for path, kind in keys.items()}
    if choices := [key for choice in part.get("oneOf", ()) for key in choice["required"]]:
        found[" exactly one of"] = ", ".join(choices)
    more = part.get("additionalProperties", True)
    if isinstance(more, dict):
        kind, keys = described(more, root, shared)
        return f"object of {kind}", found | {f".*{path}": kind for path, kind in keys.items()}
    known = shared.get(frozenset(found.items()))
    return (known, {}) if known else ("object" if more is False else "object with further keys", found)


def resolve(part, root):
    """Follow a reference to one of the schema's own definitions."""
    if "$ref" not in part:
        return part
    return {**root["$defs"][part["$ref"].rsplit("/", 1)[-1]], **part}


def python_name(name):
    """The parameters of a verb or class; the values of an enumeration."""
    found = getattr(ag, name)
    if hasattr(found, "__members__"):
        return {one.name: json.dumps(one.value) for one in found}
    if not callable(found) or is_exception(found):
        return {}
    return dict(map(parameter, enumerate(inspect.signature(found).parameters.values(), 1)))


def parameter(numbered):
    """A parameter: how it is given, and what is meant where it is left out."""
    place, one = numbered
    ways = {one.KEYWORD_ONLY: "by name", one.VAR_KEYWORD: "further names", one.VAR_POSITIONAL: "any number"}
    way = ways.get(one.kind, f"position {place}" + ", without name" * (one.kind is one.POSITIONAL_ONLY))
    default = getattr(one.default, "__name__", repr(one.default))
    return one.name, way + f", default {default}" * (one.default is not one.empty)


def is_exception(found):
    return isinstance(found, type) and issubclass(found, errors.AgattnError)


def raised(cls):
    return f"{' and '.join(base.__name__ for base in cls.__bases__)}, exit status {cls.exit_status}"


# The file: a line for each entry.


class Kept(NamedTuple):
    """What a version of agattn promised."""

    version: str
    sections: dict[str, dict[str, str]]


def written(version, sections):
    """The text of the file."""
    lines = [HEAD.format(version=version)]
    for section, entries in sections.items():
        lines += [f"[{section}]", *(f"{name}: {meaning}".rstrip() for name, meaning in entries.items()), ""]
    return "\n".join(lines)


def read(text):
    """What a file says."""
    sections = {}
    for line in text.splitlines():
        if heading := re.fullmatch(r"\[(.+)\]", line):
            entries = sections[heading[1]] = {}
        elif line and not line.startswith("#"):
            name, _, meaning = line.partition(":")
            entries[name] = meaning.strip()
    return Kept(re.search(r"in agattn (\S+)\. ", text)[1], sections)


# What changed since the version of the file, and what the changelog must say of it.


class Change(NamedTuple):
    """An entry that differs, or with an empty entry a whole section; before or now is ``None``."""

    section: str
    entry: str
    before: str | None
    now: str | None

    def __str__(self):
        return f"{self.section} {self.entry}".rstrip() + f": {self.before!r} became {self.now!r}"

    @property
    def breaks(self):
        """Whether what relied on the entry may no longer work.

        Further words and JSON types break nothing; null does.
        """
        if self.before is None or self.now is None:
            return self.now is None
        (before, rest), (now, more) = (map(set, parts_of(text)) for text in (self.before, self.now))
        return not before < now or rest != more or "null" in now - before


def parts_of(meaning):
    """What may stand at an entry, and all else that is said of it.

    >>> parts_of('-m, "auto" | "ball", default "auto"')
    (['"auto"', '"ball"'], ['-m', 'default "auto"'])
    """
    parts = [part.split(" | ") for part in meaning.split(", ")]
    several = next((part for part in parts if len(part) > 1), parts[0])
    return several, [" | ".join(part) for part in parts if part is not several]


def changes(kept, found):
    """All entries that differ, and sections and kinds of documents that came or went.

    Keys below an added key are not listed.
    """
    for section in dict.fromkeys([*kept, *found]):
        old, new = kept.get(section), found.get(section)
        if old is None or new is None:
            yield Change(section, "", *("" if one is not None else None for one in (old, new)))
            continue
        for kind in sorted(set(kinds_of(old)) - set(kinds_of(new))):
            yield Change(section, kind, "", None)
            old = {name: meaning for name, meaning in old.items() if not name.startswith(kind)}
        added = [name for name in new if name not in old]
        below = tuple(f"{name}{sign}" for name in added for sign in ".[(")
        for name in dict.fromkeys([*old, *new]):
            if old.get(name) != new.get(name) and not (name in added and name.startswith(below)):
                yield Change(section, name, old.get(name), new.get(name))


def kinds_of(entries):
    """The kinds of documents that entries are about, such as ``(HeadTable)``."""
    return [match[0] for match in map(re.compile(r"\(\w+\)").match, entries) if match]


def sections_of(changelog):
    """The sections of the changelog, the newest first: version, whether it is released, and the points."""
    for text in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        heading, _, body = text.partition("\n")
        version, _, when = heading.partition(", ")
        yield version, when != "not yet released", re.split(r"^- ", body, flags=re.MULTILINE)[1:]


def is_told(change, points):
    """Whether a point of the changelog has the section of a change, and the entry as code."""
    entry = re.compile(rf"(?<![\w.-]){re.escape(change.entry)}(?![\w-])")
    return any(
        change.section.lower() in point.lower() and any(map(entry.search, re.findall(r"`[^`]+`", point)))
        for point in points
    )


def keeps_its_number(change, kept, found):
    """Whether something is taken from a document whose number was not raised."""
    if change.section == ARCHITECTURE:
        holding = {name for name, keys in kept.items() if any(ARCHITECTURE in kind for kind in keys.values())}
        return change.breaks and not holding.isdisjoint(found)
    is_key = change.before != ""
    return change.breaks and is_key and change.section.startswith("agattn/") and change.section in found


def complaints(kept, found, changelog):
    """What the changelog does not say of the changes since the version of the file, a line each."""
    version, released, points = next(sections_of(changelog))
    for change in changes(kept.sections, found):
        if released and version == kept.version:
            begin = f"begin {PAGE} with a section `## VERSION, not yet released`"
            yield f"{change}; {version} is released: {begin}"
        elif not is_told(change, points):
            yield f"{change}; {PAGE} must tell it under {version}, with the section and the entry as code"
        if keeps_its_number(change, kept.sections, found):
            yield f"{change}; raise the number of the schema, by `number=...` in the class line of the result"


def main():
    """Write the file of a version that has got its date."""
    found, changelog = contract(), CHANGELOG.read_text(encoding="utf-8")
    version, released, _ = next(sections_of(changelog))
    kept = read(FILE.read_text(encoding="utf-8"))
    lines = [*complaints(kept, found, changelog)]
    if lines or not released:
        stays = f"tests/contract.txt stays what {kept.version} promised until {version} is released"
        sys.exit("\n".join([stays, *lines]))
    FILE.write_text(written(version, found), encoding="utf-8")


if __name__ == "__main__":
    main()
