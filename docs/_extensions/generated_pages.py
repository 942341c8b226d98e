"""The pages on commands, JSON and claims, from what the package has, and the notebooks with their outputs."""

from __future__ import annotations

import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import agattn
from agattn.checkpoints.families import Family, Switch, common, families
from agattn.claims import titled
from agattn.documents import NAMES, schema
from agattn.names import COMMANDS, GROUPS, VERBS


def command_page() -> str:
    """The help of all commands, by sphinx-click, in the order of ``agattn --help``.

    >>> "agattn.cli.commands:critical_points" in command_page()
    True
    """
    lines = []
    for name in COMMANDS:
        place = f"agattn.cli.commands:{name.replace('-', '_')}"
        directive = f".. click:: {place}\n   :prog: agattn {name}\n   :nested: full"
        lines += ["```{eval-rst}", directive, "```", ""]
    return "\n".join(lines)


#: The pages of public names, each with the groups of verbs of :data:`agattn.names.GROUPS` that it shows.
PAGES = {
    "theorems": ("Check the theorems",),
    "geometry": ("Study a layer or model",),
    "weights": ("Weights in hand",),
    "engines": ("Engines",),
    "experiments": ("Experiments",),
    "documents": ("Documents", "Tools"),
}


def verbs_of(page: str) -> list[str]:
    """The verbs of a page; one without a command of its own stands beside the command that asks the same.

    >>> verbs_of("engines")
    ['emit', 'run', 'read', 'doctor', 'script']
    """
    commands = [name for group in PAGES[page] for name in GROUPS[group]]
    beside = [name for name, verb in VERBS.items() if verb.command.split()[1:2] in [[c] for c in commands]]
    own = [name.replace("-", "_") for name in commands]
    return [*own, *beside, *(["weights"] if page == "weights" else [])]


def results_of(verb: str) -> Iterator[type]:
    """The classes of agattn that a verb returns, in lists too, and those of its command's documents."""
    function = pkgutil.resolve_name(VERBS[verb].function)
    module = import_module(function.__module__)
    named = re.findall(r"\w+", str(function.__annotations__.get("return")))
    documents = [pkgutil.resolve_name(name) for name in VERBS[verb].results]
    for kind in [*(getattr(module, name, None) for name in named), *documents]:
        if isinstance(kind, type) and kind.__module__.startswith("agattn."):
            yield kind


@cache
def homes() -> dict[type, str]:
    """The page of each class of results: that of the first verb which returns it."""
    public = {getattr(agattn, name) for name in agattn.__all__}
    return {
        kind: page
        for page in reversed(PAGES)
        for verb in reversed(verbs_of(page))
        for kind in results_of(verb)
        if kind not in public
    }


def names_page(page: str) -> str:
    """The verbs of a page with the classes of their results.

    >>> "autoclass:: agattn.engines.run.Run" in names_page("engines")
    True
    """
    lines = ["```{eval-rst}"]
    for verb in verbs_of(page):
        lines += [f".. autofunction:: agattn.{verb}", ""]
    for kind, home in reversed(homes().items()):
        if home == page:
            lines += [f".. autoclass:: {kind.__module__}.{kind.__qualname__}", "   :members:", ""]
    return "\n".join([*lines, "```"])


def classes_page() -> str:
    """The public names that are no verbs.

    >>> ".Perceptron" in classes_page()
    True
    """
    lines = ["```{eval-rst}"]
    for name in agattn.__all__:
        if isinstance(kind := getattr(agattn, name), type):
            directive = "autoexception" if issubclass(kind, Exception) else "autoclass"
            lines += [f".. {directive}:: {kind.__module__}.{kind.__qualname__}", "   :members:", ""]
    return "\n".join([*lines, "```"])


def schema_page() -> str:
    """All schemas as MyST, in alphabetical order.

    >>> "## agattn verify" in schema_page()
    True
    """
    verify = schema("verify")
    network, layer, model, polynomial, jet = verify["properties"]["architecture"]["anyOf"]
    architectures = [
        "## Architectures", "", "The key `architecture` of a layer:", "", *table(layer, verify), "",
        "Of a network:", "", *table(network, verify), "",
        "Of a [model](../guides/models.md):", "", *table(model, verify), "",
        "Of a polynomial map:", "", *table(polynomial, verify), "",
        "And of a [jet](../networks/softmax.md) of a network:", "", *table(jet, verify), "",
    ]  # fmt: skip
    return "\n".join([*architectures, *map(section, sorted(NAMES))])


def section(name: str) -> str:
    """The schema of a command: a heading, what it is about, and a table of its keys."""
    root = schema(name)
    lines = [f"## agattn {name}", "", root.get("description", COMMANDS[name].about), ""]
    tops = root.get("anyOf", [root])
    for part in chain.from_iterable(top.get("anyOf", [top]) for top in tops):
        part = resolve(part, root)
        if part is not root:
            lines += [part["description"], ""]
        lines += [*table(part, root), ""]
    return "\n".join(lines)


def table(part: dict[str, Any], root: dict[str, Any]) -> list[str]:
    """The keys of an object as the lines of a table."""
    body = [f"| `{key}` | {type_} | {meaning} |" for key, type_, meaning in rows(part, root)]
    return ["| key | type | meaning |", "| --- | --- | --- |", *body]


def rows(part: dict[str, Any], root: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Every key below a schema, as its path, type and meaning; ``[]`` stands for each entry of an array.

    >>> layer = {"properties": {"d": {"type": "integer", "description": "the width"}}, "required": ["d"]}
    >>> list(rows({"properties": {"layers": {"type": "array", "description": "all", "items": layer}}}, {}))
    [('layers', 'array, optional', 'All.'), ('layers[].d', 'integer', 'The width.')]
    """
    for key, value in part.get("properties", {}).items():
        value = resolve(value, root)
        path = f"{prefix}{key}"
        absent = "" if key in part.get("required", ()) else ", optional"
        said = value.get("description", part.get("description", ""))  # a tag is what its record is
        meaning = " ".join(str(said).split()).replace("|", "\\|")
        meaning = meaning[:1].upper() + meaning[1:].rstrip(".") + "."
        if key == "architecture" or "jet" in part["properties"]:  # the same everywhere
            yield path, "object" + absent, f"{meaning} See [architectures](#architectures)."
        else:
            yield path, type_of(value, root) + absent, meaning
            yield from inside(value, root, path)


def inside(value: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    """The keys of an object, of the entries of an array, and of every alternative."""
    value = resolve(value, root)
    yield from rows(value, root, f"{path}.")
    for choice in value.get("anyOf", ()):
        if choice.keys() & {"type", "$ref"}:  # else it only says which values go together
            yield from inside(choice, root, path)
    if isinstance(value.get("items"), dict):
        yield from inside(value["items"], root, f"{path}[]")


def resolve(value: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference to one of the schema's own definitions."""
    if "$ref" not in value:
        return value
    definition: dict[str, Any] = root["$defs"][value["$ref"].rsplit("/", 1)[-1]]
    return {**definition, **{key: part for key, part in value.items() if key != "$ref"}}


def type_of(value: dict[str, Any], root: dict[str, Any]) -> str:
    """The type in words.

    >>> type_of({"type": ["integer", "null"]}, {}), type_of({"enum": ["none", "softmax"]}, {})
    ('integer or null', '"none" or "softmax"')
    """
    value = resolve(value, root)
    if "enum" in value:
        return " or ".join(json.dumps(word, ensure_ascii=False) for word in value["enum"])
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(type_of(choice, root) for choice in value["anyOf"]))
    types = value.get("type", "any")
    return types if isinstance(types, str) else " or ".join(types)


def claim_page() -> str:
    """All claims with their statements and hypotheses, those about one layer first.

    >>> "| `theorem-3.4.closed` |" in claim_page()
    True
    """
    lines = []
    for title, claims in titled():
        lines += [f"## {title}", "", "| id | statement | assumes | source |", "| --- | --- | --- | --- |"]
        for claim in claims.values():
            assumes = ", ".join(hypothesis.text for hypothesis in claim.hypotheses)
            statement = claim.statement.replace("|", "\\|")
            lines.append(f"| `{claim.id}` | {statement}. | {assumes} | {claim.source} |")
        lines.append("")
    return "\n".join(lines)


def family_page() -> str:
    """The families of published transformers: what each key says, positions, biases and tensors.

    >>> "| falcon | heads | `num_attention_heads`, `n_head` |" in family_page()
    True
    """
    lines = ["## Keys", "", "| family | says | key | without it |", "| --- | --- | --- | --- |"]
    for name, family in families().items():
        for role, keys in family.keys.items():
            without = family.default.get(role, "" if role in ("width", "heads", "layers") else "–")
            said = ", ".join(f"`{key}`" for key in keys)
            lines.append(f"| {name} | {ROLES[role]} | {said} | {without} |")
        for what, switch in switches_of(family):
            lines.append(f"| {name} | {what} | `{switch.key}` | {str(switch.default).lower()} |")
    lines += ["", "## Models", "", "| family | `model_type` | positions | biases of | tensors of a layer |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for name, family in families().items():
        layout = common().layouts.get(family.layout)
        stored = ", ".join(f"`{one}`" for one in layout.names.values()) if layout else "not read"
        packed = f" ({layout.packing})" if layout and layout.packing else ""
        biases = ", ".join(letters for letters, switch in family.biases.items() if switch.default) or "–"
        models = ", ".join(f"`{model}`" for model in family.models)
        lines.append(f"| {name} | {models} | {family.positions} | {biases} | {stored}{packed} |")
    return "\n".join(lines)


#: What the keys of a role say.
ROLES = {
    "width": "d", "heads": "heads", "kv_heads": "sets of keys and values", "head": "rows of a head",
    "layers": "layers", "groups": "sets of keys and values", "kv_latent": "latent of keys and values",
    "q_latent": "latent of queries", "rank": "rows of keys", "value_rank": "rows of values",
    "fraction": "part of the rows that turn", "turned": "rows that turn",
    "period": "attention in each so many layers", "offset": "the first layer of attention",
    "cycle": "types of layers, again and again", "indices": "layers of attention, from 0",
    "types": "the type of each layer", "full_period": "a layer without window in each so many",
    "turns": "layers whose keys turn", "no_rope_period": "a layer without positions in each so many",
    "kv_by_layer": "sets of keys and values by layer", "blocks": "heads that share keys, by layer",
}  # fmt: skip


def switches_of(family: Family) -> Iterator[tuple[str, Switch]]:
    """What a key switches on or off in a family."""
    named = {
        "one set of keys and values": family.multi_query,
        "QK-norm": family.qk_norm,
        "ALiBi": family.alibi,
        "rotary positions": family.rotary,
    }
    named |= {f"biases of {letters}": switch for letters, switch in family.biases.items()}
    named["causal"] = family.causal
    yield from ((what, switch) for what, switch in named.items() if switch.key)


NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


def notebook_page(name: str) -> str:
    """The cells of a notebook, each with the output that its file holds.

    >>> "ag.strata(layer)" in notebook_page("one-layer")
    True
    """
    parts = []
    for cell in json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(
            source if cell["cell_type"] == "markdown" else f"```{{code-block}} python\n{source}\n```"
        )
        for output in cell.get("outputs", ()):
            data = {kind: "".join(lines) for kind, lines in output["data"].items()}
            html = data.get("text/html")
            shown = (
                f'{{raw}} html\n<div class="table-wrapper output">{html}</div>'
                if html
                else f"{{code-block}} text\n{data['text/plain']}"
            )
            parts.append(f"````{shown}\n````")
    return "\n\n".join(parts)


GENERATED: dict[str, Callable[[], str]] = {
    "layer/claims": claim_page,
    "reference/cli": command_page,
    "reference/api/classes": classes_page,
    **{f"reference/api/{page}": partial(names_page, page) for page in PAGES},
    "reference/families": family_page,
    "reference/json": schema_page,
    **{
        f"start/notebooks/{path.stem}": partial(notebook_page, path.stem)
        for path in NOTEBOOKS.glob("*.ipynb")
    },
}


def complete(app: Any, page: str, source: list[str]) -> None:
    """Put what is generated at the end of the page, as it is read; a notebook at its begin."""
    if page in GENERATED:
        parts = [source[0], GENERATED[page]()]
        source[0] = "\n".join(reversed(parts) if page.startswith("start/notebooks/") else parts)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
