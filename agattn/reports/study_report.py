"""The report of a study: what came out for many architectures, the refutations first.

>>> from agattn import SingleLayer
>>> from agattn.studies.jobs import Job, perform, versions_for
>>> from agattn.studies.lines import make_line
>>> versions = versions_for("native")
>>> jobs = [Job(SingleLayer(3, 2, a), "verify", ("theorem-3.4.singular",)) for a in (1, 2, 3)]
>>> lines = [make_line(job, versions, perform(job, versions)) for job in jobs]
>>> document = study_report(lines, pictures=False)
>>> document.summary
'3 jobs: 2 confirmed, 1 refuted. Refuted somewhere: theorem-3.4.singular.'
>>> [section.title for section in document.sections][:3]
['What was asked', 'Refuted', 'Claims']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.claims.claim import Claim
from agattn.claims.network import CLAIMS as NETWORK_CLAIMS
from agattn.claims.single_layer import CLAIMS
from agattn.display.table import Cell, Code, Lines, Math, Table, Word
from agattn.errors import InputError
from agattn.reports.document import Attachment, Block, Document, Picture, Section, Text
from agattn.reports.layer_report import EVIDENCE, PAPER, in_words
from agattn.studies.audit import describe
from agattn.studies.lines import Entry, Line, counted, words, written

#: A condition on d, d', a is looked for in no more layers, and none larger, than these.
_MOST_DESCRIBED, _LARGEST_DESCRIBED = 400, 10
_MOST_SHOWN = 5_000  # characters of a grid that are shown on the page
_MOST_DRAWN = 2_000  # architectures

Row = tuple[Cell, ...]
_EVERY_CLAIM: dict[str, Claim[Any]] = {**CLAIMS, **NETWORK_CLAIMS}


def _name(entry: Entry) -> str:
    """The architecture in a few letters; t only where it is not 2, as every t ≥ 2 gives the same M."""
    if isinstance(entry.architecture, DeepNetwork):
        return str(entry.architecture)
    t = entry.architecture.t
    return str(entry.architecture).split(":")[0] + (f", t = {t}" if t != 2 else "")


def study_report(
    lines: Sequence[Line], *, grid: str = "", command: str = "", pictures: bool = True
) -> Document:
    """Write down what came out of a study.

    Args:
        lines: its lines; of one kind of question.
        grid: the file that asked for them, if it is known.
        command: the command line that makes this report.
        pictures: whether to draw, which needs matplotlib; without it the report says so.
    """
    entries = [Entry.of(line) for line in lines]
    ask = lines[0]["job"]["ask"]
    body = {"verify": _verify, "dimension": _dimension, "strata": _strata}[ask]
    sections = [_question(entries, grid), *body(entries, pictures), _errors(entries), _source(lines, command)]
    came_out = counted(word for line in lines for word in words(line))
    return Document(
        f"Study of {_number_of(entries)}",
        f"{_count(len(lines), 'job')}: {came_out}.{_refuted_somewhere(entries)}",
        tuple(section for section in sections if section.blocks),
        clock=f"To compute the results took {sum(line['seconds'] for line in lines):.1f} s in all.",
        subject="Study of ",
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _number_of(entries: Sequence[Entry]) -> str:
    layers = sum(isinstance(entry.architecture, SingleLayer) for entry in entries)
    numbers = ((layers, "layer"), (len(entries) - layers, "network"))
    return " and ".join(_count(number, noun) for number, noun in numbers if number)


def _refuted_somewhere(entries: Sequence[Entry]) -> str:
    ids = dict.fromkeys(
        name for entry in entries for name, claim in entry.claims.items() if claim["verdict"] == "refuted"
    )
    return f" Refuted somewhere: {', '.join(ids)}." if ids else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _question(entries: Sequence[Entry], grid: str) -> Section:
    asked = {
        "verify": "Which claims are true, and how is that known?",
        "dimension": "What is the dimension of the neuromanifold, and do the formulas give it?",
        "strata": "Which strata does the neuromanifold have, and which of its points are singular?",
    }[entries[0].line["job"]["ask"]]
    settings: dict[str, dict[str, None]] = {}
    for entry in entries:
        for name, value in entry.line["job"].items():
            settings.setdefault(name, {})[in_words(value)] = None
    rows = tuple((name, "; ".join(values)) for name, values in settings.items())
    blocks: list[Block] = [
        Text(f"The same question about {_number_of(entries)}. {asked}"),
        Table("Settings", ("what", "value"), rows),
    ]
    if grid:
        blocks.append(Attachment("grid.toml", grid, "the grid of architectures", len(grid) <= _MOST_SHOWN))
    return Section("What was asked", tuple(blocks))


# Verdicts ---------------------------------------------------------------------------------------------------


def _verify(entries: Sequence[Entry], pictures: bool) -> Iterator[Section]:
    yield Section("Refuted", tuple(_refuted(entries)))
    yield Section("Claims", (_claims(entries), Text(EVIDENCE), Text(PAPER)))
    yield Section("Verdicts", tuple(_verdicts(entries, pictures)))
    rows: list[Row] = [
        (_name(entry), name, _one_line(claim["witness"]))
        for entry in entries
        for name, claim in entry.claims.items()
        if claim["verdict"] == "undecided"
    ]
    table = Table("Claims that stayed undecided", ("architecture", "claim", "reason"), tuple(rows))
    yield Section("Undecided", (table,) if rows else ())


def _ids(entries: Sequence[Entry]) -> list[str]:
    """The claims that were judged, in the order of the paper."""
    judged = {name for entry in entries for name in entry.claims}
    return [*(name for name in _EVERY_CLAIM if name in judged), *sorted(judged - set(_EVERY_CLAIM))]


def _refuted(entries: Sequence[Entry]) -> Iterator[Block]:
    """Each refuted claim: where it fails, and with which witness."""
    for name in _ids(entries):
        refuted = [entry for entry in entries if _verdict(entry, name) == "refuted"]
        if not refuted:
            continue
        confirmed = [entry for entry in entries if _verdict(entry, name) == "confirmed"]
        claim = _EVERY_CLAIM.get(name)
        statement = "" if claim is None else f" It says: {claim.statement.rstrip('.')}."
        decided = _count(len(refuted) + len(confirmed), "architecture")
        yield Text(
            f"{name} is refuted for {len(refuted)} of the {decided} for which it was decided."
            f"{_where(refuted, confirmed)}{statement}",
            note=True,
        )
        yield Table(
            f"Refutations of {name}",
            ("architecture", "evidence", "witness", "predicted", "computed"),
            tuple(_refutation(entry, entry.claims[name]) for entry in refuted),
        )


def _verdict(entry: Entry, claim: str) -> str:
    found = entry.claims.get(claim)
    return "" if found is None else str(found["verdict"])


def _refutation(entry: Entry, claim: dict[str, Any]) -> Row:
    return (
        _name(entry),
        Word(claim["evidence"]),
        _one_line(claim["witness"]),
        _one_line(in_words(claim["predicted"])),
        _one_line(in_words(claim["computed"])),
    )


def _where(failing: Sequence[Entry], holding: Sequence[Entry]) -> str:
    """The shortest condition on d, d', a that tells the layers where a claim fails from the others."""
    inside = [e.architecture for e in failing if isinstance(e.architecture, SingleLayer)]
    outside = [e.architecture for e in holding if isinstance(e.architecture, SingleLayer)]
    if len(inside) < len(failing) or not outside:
        return ""
    layers = [*inside, *outside]
    largest = max(max(layer.d, layer.d_out) for layer in layers)
    if len(layers) > _MOST_DESCRIBED or largest > _LARGEST_DESCRIBED:
        return ""
    condition = describe(inside, outside)
    if condition is None:
        return " No short condition on d, d' and a describes them."
    return f" Of these it fails exactly where {condition}."


def _claims(entries: Sequence[Entry]) -> Table:
    verdicts = ("confirmed", "refuted", "undecided", "inapplicable")
    rows: list[Row] = []
    for name in _ids(entries):
        judged = [entry.claims[name] for entry in entries if name in entry.claims]
        counts = Counter(claim["verdict"] for claim in judged)
        known = counted(_known(c) for c in judged if c["verdict"] in ("confirmed", "refuted"))
        claim = _EVERY_CLAIM.get(name)
        statement: Cell = "" if claim is None else Lines((claim.statement, Math(claim.latex)))
        rows.append((name, statement, *(str(counts[word]) for word in verdicts), known))
    headings = ("claim", "statement", *verdicts, "evidence of the decided")
    return Table("How often each claim came out which way", headings, tuple(rows))


def _verdicts(entries: Sequence[Entry], pictures: bool) -> Iterator[Block]:
    for kind, noun, file in (
        (SingleLayer, "layers", "layers.svg"),
        (DeepNetwork, "networks", "networks.svg"),
    ):
        mine = [entry for entry in entries if isinstance(entry.architecture, kind)]
        ids = _ids(mine)
        if not ids:
            continue
        if pictures:
            yield _heat_map(mine, ids, noun, file)
        yield Table(
            f"Verdict and evidence for the {noun}",
            ("architecture", *ids),
            tuple((_name(entry), *(_cell(entry, name) for name in ids)) for entry in mine),
        )


def _known(claim: Mapping[str, Any]) -> str:
    """The evidence, with a mark where a confirmed claim says more than was checked."""
    return (
        f"{claim['evidence']}{' in part' if claim.get('scope') and claim['verdict'] == 'confirmed' else ''}"
    )


def _cell(entry: Entry, name: str) -> Cell:
    claim = entry.claims.get(name)
    if claim is None:
        return Word("failed") if "error" in entry.line else ""
    parts = [Word(claim["verdict"])]
    if claim["evidence"] and claim["verdict"] in ("confirmed", "refuted"):
        parts.append(Word(_known(claim)))
    return Lines(tuple(parts))


def _heat_map(entries: Sequence[Entry], ids: Sequence[str], noun: str, file: str) -> Block:
    found = [[_verdict(entry, name) or "failed" for name in ids] for entry in entries]
    if len(entries) > _MOST_DRAWN:
        return Text(f"Not drawn: {len(entries)} {noun} are more than {_MOST_DRAWN}.")
    somewhere = [name for n, name in enumerate(ids) if any(row[n] == "refuted" for row in found)]
    alternative = (
        f"A grid of {_count(len(entries), 'row')}, one for each of the {noun}, and "
        f"{_count(len(ids), 'column')}, one for each claim, coloured by verdict: "
        f"{counted(word for row in found for word in row)}. "
        + (f"Red, with a cross, somewhere in {', '.join(somewhere)}." if somewhere else "None is refuted.")
    )

    def draw() -> bytes:
        from agattn.reports.study_figures import as_svg, draw_verdicts

        return as_svg(draw_verdicts([_name(entry) for entry in entries], ids, found))

    return _picture(file, draw, alternative, f"The verdicts on the {noun}: architectures below each other.")


def _picture(file: str, draw: Callable[[], bytes], alternative: str, caption: str) -> Block:
    try:
        return Picture(file, draw(), alternative, caption)
    except InputError as error:
        return Text(f"Not drawn: {error}.")


# Dimensions -------------------------------------------------------------------------------------------------


def _dimension(entries: Sequence[Entry], pictures: bool) -> Iterator[Section]:
    found = [entry for entry in entries if entry.result]
    blocks: list[Block] = [*_missed(found, "paper"), *_missed(found, "predicted")]
    yield Section("Where a formula fails", tuple(blocks))
    blocks = []
    if pictures and found:
        blocks.append(_scatter(found))
    if found:
        blocks.append(
            Table(
                "Dimension, and what the formulas say",
                ("network", "parameters", "dimension", "evidence", "general formula", "HMK", "its hypotheses",
                 "upper bound"),
                tuple(_dimension_row(entry) for entry in found),
            )
        )  # fmt: skip
        blocks += [Text(EVIDENCE), Text(PAPER)]
    yield Section("Dimensions", tuple(blocks))
    rows: list[Row] = []
    for entry in found:
        result = entry.result
        if result["evidence"] != "proved":
            interval = f"{result['lower_bound']} to {result['upper_bound']}"
            chance = f"{result['error_probability']:.1e}" if result["evidence"] == "modular" else ""
            rows.append((_name(entry), str(result["dimension"]), Word(result["evidence"]), interval, chance))
    headings = ("network", "observed", "evidence", "proved interval", "chance of an error")
    table = Table("Dimensions that are observed, not proved", headings, tuple(rows))
    yield Section("Not proved", (table,) if rows else ())


def _missed(entries: Sequence[Entry], formula: str) -> Iterator[Block]:
    """The networks whose dimension is proved not to be what a formula that applies gives."""
    rows: list[Row] = []
    for entry in entries:
        result = entry.result
        value = result["paper"]["value"] if formula == "paper" else result["predicted"]
        applies = formula != "paper" or result["paper"]["hypotheses_hold"]
        if applies and not result["lower_bound"] <= value <= result["upper_bound"]:
            interval = f"{result['lower_bound']} to {result['upper_bound']}"
            rows.append((_name(entry), str(value), interval, _one_line(result["upper_bound_reason"])))
    if rows:
        title = "HMK's formula, where its hypotheses hold" if formula == "paper" else "The general formula"
        number = _count(len(rows), "network")
        yield Text(f"{title}, is not the dimension of {number}: that is proved.", note=True)
        headings = ("network", "formula", "dimension, proved", "upper bound")
        yield Table(f"{title}, refuted", headings, tuple(rows))


def _dimension_row(entry: Entry) -> Row:
    result = entry.result
    paper = result["paper"]
    failing = "; ".join(paper["failing"])
    return (
        _name(entry),
        str(result["parameters"]),
        str(result["dimension"]),
        Word(result["evidence"]),
        str(result["predicted"]),
        str(paper["value"]),
        "hold" if paper["hypotheses_hold"] else _one_line(f"fail: {failing}"),
        f"{result['upper_bound']}: {_one_line(result['upper_bound_reason'])}",
    )


def _scatter(entries: Sequence[Entry]) -> Block:
    points: dict[str, list[tuple[int, int]]] = {}
    for entry in entries:
        result = entry.result
        points.setdefault(result["evidence"], []).append((result["predicted"], result["dimension"]))
    pairs = [pair for kind in points.values() for pair in kind]
    below = sum(dimension < formula for formula, dimension in pairs)
    largest = max(dimension for _, dimension in pairs)
    alternative = (
        f"{_count(len(pairs), 'point')}, dimension against the general formula, up to {largest}: "
        f"{len(pairs) - below} on the line where both agree, {below} below it."
    )

    def draw() -> bytes:
        from agattn.reports.study_figures import as_svg, draw_dimensions

        return as_svg(draw_dimensions(points))

    return _picture(
        "dimensions.svg",
        draw,
        alternative,
        "Dimension against the general formula, a point for each network.",
    )


# Strata -----------------------------------------------------------------------------------------------------


def _strata(entries: Sequence[Entry], _: bool) -> Iterator[Section]:
    found = [entry for entry in entries if entry.result]
    differing = [entry for entry in found if _differing(entry)]
    agreeing = [entry for entry in found if not _differing(entry) and _paper_applies(entry)]
    blocks: list[Block] = []
    if differing:
        blocks = [
            Text(
                f"HMK, Theorem 3.4 describes other singular points than there are in {len(differing)} of the "
                f"{_count(len(differing) + len(agreeing), 'layer')} to which it applies."
                f"{_where(differing, agreeing)}",
                note=True,
            ),
            Table(
                "Strata that are singular, and smooth by HMK, or the other way round",
                ("layer", "stratum", "tangent space", "dimension of M", "singular", "by HMK"),
                tuple(row for entry in differing for row in _differing(entry)),
            ),
        ]
    yield Section("Where HMK differs", tuple(blocks))
    rows = tuple(_strata_row(entry) for entry in found)
    headings = (
        "layer",
        "dimension",
        "coordinates",
        "strata",
        "singular",
        "singular by HMK",
        "boundary",
        "open",
    )
    table = Table("Strata (rk V, rk A, rk [V; Aᵀ]) of every layer (proved)", headings, rows)
    yield Section("Strata", (table, Text(PAPER)) if rows else ())


def _paper_applies(entry: Entry) -> bool:
    return all(row["singular_by_paper"] is not None for row in entry.result["strata"])


def _differing(entry: Entry) -> list[Row]:
    return [
        (
            _name(entry), _triple(row), in_words(row["tangent_bounds"][0]), str(entry.result["dimension"]),
            in_words(row["singular"]), in_words(row["singular_by_paper"]),
        )
        for row in entry.result["strata"]
        if None not in (row["singular"], row["singular_by_paper"])
        and row["singular"] != row["singular_by_paper"]
    ]  # fmt: skip


def _triple(row: dict[str, Any]) -> str:
    return f"({row['r_v']},{row['r_a']},{row['r']})"


def _strata_row(entry: Entry) -> Row:
    rows = entry.result["strata"]

    def those(name: str, value: bool | None = True) -> str:
        return " ".join(_triple(row) for row in rows if row[name] is value)

    return (
        _name(entry),
        str(entry.result["dimension"]),
        str(entry.result["ambient"]),
        str(len(rows)),
        those("singular"),
        those("singular_by_paper") if _paper_applies(entry) else "does not apply",
        those("boundary"),
        those("singular", None),
    )


# For all ----------------------------------------------------------------------------------------------------


def _errors(entries: Sequence[Entry]) -> Section:
    rows: list[Row] = [
        (_name(entry), error["type"], _one_line(error["message"]))
        for entry in entries
        if (error := entry.line.get("error")) is not None
    ]
    table = Table("Jobs that ended in an error", ("architecture", "error", "what it says"), tuple(rows))
    return Section("Not done", (table,) if rows else ())


def _source(lines: Sequence[Line], command: str) -> Section:
    """How to make the same again, and the results themselves."""
    versions: dict[str, dict[str, None]] = {}
    for line in lines:
        for name, version in line["versions"].items():
            versions.setdefault(name, {})[version] = None
    seeds = dict.fromkeys(str(line["job"]["seed"]) for line in lines if "seed" in line["job"])
    rows: list[Row] = [("command", Code(command or "agattn report --study FILE --out DIR"))]
    rows += [("seed", ", ".join(seeds))] if seeds else []
    rows += [
        ("fingerprint of the code" if name == "code" else name, ", ".join(versions[name]))
        for name in versions
    ]
    blocks: list[Block] = [Table("Versions, seed and command", ("what", "value"), tuple(rows))]
    if any(len(found) > 1 for found in versions.values()):
        blocks.append(Text("The results come from different versions.", note=True))
    text = "".join(written(line) + "\n" for line in lines)
    blocks.append(Attachment("results.jsonl", text, "the results, one JSON document on each line", False))
    return Section("How to reproduce it", tuple(blocks))
