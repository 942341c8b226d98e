"""The report of a study: what came out for many architectures, the refutations first.

>>> from agattn import SingleLayer
>>> from agattn.studies.jobs import Job, perform, versions_for
>>> versions = versions_for("native")
>>> jobs = [Job(SingleLayer(3, 2, a), "verify", ("theorem-3.4.singular",)) for a in (1, 2, 3)]
>>> lines = [perform(job, versions)[0] for job in jobs]
>>> document = study_report(lines, pictures=False)
>>> document.summary
'3 jobs: 2 confirmed, 1 refuted. Refuted somewhere: theorem-3.4.singular.'
>>> [section.title for section in document.sections][:3]
['What was asked', 'Refuted', 'Claims']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.claims import CLAIMS
from agattn.display.table import Cell, Code, Lines, Math, Table, Word
from agattn.errors import InputError
from agattn.reports.architecture_report import EVIDENCE, PAPER, in_words
from agattn.reports.document import Attachment, Block, Document, Picture, Section, Text
from agattn.reports.study_figures import as_svg, draw_dimensions, draw_verdicts
from agattn.studies.audit import describe
from agattn.studies.jobs import Line, canonical
from agattn.studies.lines import Entry, counted, words, written

#: A condition on d, d', a is looked for in no more layers, and none larger, than these.
_MOST_DESCRIBED, _LARGEST_DESCRIBED = 400, 10
_MOST_SHOWN = 5_000  # characters of a grid that are shown on the page
_MOST_DRAWN = 2_000  # architectures

Row = tuple[Cell, ...]
_QUESTIONS = {
    "verify": "Which claims are true, and how is that known?",
    "dimension": "What is the dimension of the neuromanifold, and do the formulas give it?",
    "strata": "Which strata does the neuromanifold have, and which of its points are singular?",
}


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
    layers = sum(isinstance(entry.architecture, SingleLayer) for entry in entries)
    numbers = ((layers, "layer"), (len(entries) - layers, "network"))
    subject = " and ".join(_count(number, noun) for number, noun in numbers if number)
    settings = _table(
        "Settings", ("what", "value"), _values((line["job"] for line in lines), in_words).items()
    )
    asked: list[Block] = [Text(f"The same question about {subject}. {_QUESTIONS[ask]}"), *settings]
    if grid:
        asked.append(Attachment("grid.toml", grid, "the grid of architectures", len(grid) <= _MOST_SHOWN))
    errors = [
        (_name(e), e.line["error"]["type"], e.line["error"]["message"]) for e in entries if "error" in e.line
    ]
    body = {"verify": _verify, "dimension": _dimension, "strata": _strata}[ask]
    sections = {
        "What was asked": asked,
        **body(entries, pictures),
        "Not done": _table("Jobs that ended in an error", ("architecture", "error", "what it says"), errors),
        "How to reproduce it": _source(lines, command),
    }
    refuted = [name for name in _ids(entries) if _those(entries, name, "refuted")]
    return Document(
        f"Study of {subject}",
        f"{_count(len(lines), 'job')}: {counted(word for line in lines for word in words(line))}."
        + (f" Refuted somewhere: {', '.join(refuted)}." if refuted else ""),
        tuple(Section(title, tuple(blocks)) for title, blocks in sections.items() if blocks),
        clock=f"To compute the results took {sum(line['seconds'] for line in lines):.1f} s in all.",
        subject="Study of ",
    )


def _name(entry: Entry) -> str:
    """The architecture in a few letters; t only where it is not 2, as every t ≥ 2 gives the same M."""
    if isinstance(entry.architecture, DeepNetwork):
        return str(entry.architecture)
    t = entry.architecture.t
    return str(entry.architecture).split(":")[0] + (f", t = {t}" if t != 2 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _table(caption: str, headings: Sequence[str], rows: Iterable[Row]) -> list[Block]:
    """A table; none if it has no rows."""
    found = tuple(rows)
    return [Table(caption, tuple(headings), found)] if found else []


def _values(documents: Iterable[Mapping[str, Any]], shown: Callable[[Any], str] = str) -> dict[str, str]:
    """For each key the values that it has somewhere."""
    found: dict[str, dict[str, None]] = {}
    for document in documents:
        for key, value in document.items():
            found.setdefault(key, {})[shown(value)] = None
    return {key: "; ".join(values) for key, values in found.items()}


# Verdicts ---------------------------------------------------------------------------------------------------


def _verify(entries: Sequence[Entry], pictures: bool) -> dict[str, list[Block]]:
    undecided = [
        (_name(entry), name, claim["witness"])
        for entry in entries
        for name, claim in entry.claims.items()
        if claim["verdict"] == "undecided"
    ]
    headings = ("architecture", "claim", "reason")
    return {
        "Refuted": [block for name in _ids(entries) for block in _refuted(entries, name)],
        "Claims": [*_claims(entries), Text(EVIDENCE), Text(PAPER)],
        "Verdicts": [
            *_verdicts([e for e in entries if isinstance(e.architecture, SingleLayer)], "layers", pictures),
            *_verdicts([e for e in entries if isinstance(e.architecture, DeepNetwork)], "networks", pictures),
        ],
        "Undecided": _table("Claims that stayed undecided", headings, undecided),
    }


def _ids(entries: Sequence[Entry]) -> list[str]:
    """The claims that were judged, in the order of the paper."""
    judged = {name for entry in entries for name in entry.claims}
    return [*(name for name in CLAIMS if name in judged), *sorted(judged - set(CLAIMS))]


def _verdict(entry: Entry, claim: str) -> str:
    return str(entry.claims.get(claim, {}).get("verdict", "failed"))


def _those(entries: Sequence[Entry], claim: str, verdict: str) -> list[Entry]:
    return [entry for entry in entries if _verdict(entry, claim) == verdict]


def _refuted(entries: Sequence[Entry], name: str) -> list[Block]:
    """Where a claim fails, and with which witness; nothing if it fails nowhere."""
    refuted, confirmed = _those(entries, name, "refuted"), _those(entries, name, "confirmed")
    if not refuted:
        return []
    statement = f" It says: {CLAIMS[name].statement.rstrip('.')}." if name in CLAIMS else ""
    decided = _count(len(refuted) + len(confirmed), "architecture")
    rows: list[Row] = []
    for entry in refuted:
        claim = entry.claims[name]
        values = in_words(claim["predicted"]), in_words(claim["computed"])
        rows.append((_name(entry), Word(claim["evidence"]), claim["witness"], *values))
    return [
        Text(
            f"{name} is refuted for {len(refuted)} of the {decided} for which it was decided."
            f"{_where(refuted, confirmed)}{statement}",
            note=True,
        ),
        *_table(
            f"Refutations of {name}", ("architecture", "evidence", "witness", "predicted", "computed"), rows
        ),
    ]


def _where(failing: Sequence[Entry], holding: Sequence[Entry]) -> str:
    """The shortest condition on d, d', a that tells the layers where a claim fails from the others."""
    inside = [e.architecture for e in failing if isinstance(e.architecture, SingleLayer)]
    outside = [e.architecture for e in holding if isinstance(e.architecture, SingleLayer)]
    layers = [*inside, *outside]
    if (
        len(inside) < len(failing)
        or not outside
        or len(layers) > _MOST_DESCRIBED
        or max(max(layer.d, layer.d_out) for layer in layers) > _LARGEST_DESCRIBED
    ):
        return ""
    condition = describe(inside, outside)
    if condition is None:
        return " No short condition on d, d' and a describes them."
    return f" Of these it fails exactly where {condition}."


def _claims(entries: Sequence[Entry]) -> list[Block]:
    verdicts = ("confirmed", "refuted", "undecided", "inapplicable")
    rows: list[Row] = []
    for name in _ids(entries):
        judged = [entry.claims[name] for entry in entries if name in entry.claims]
        known = counted(_known(c) for c in judged if c["verdict"] in ("confirmed", "refuted"))
        claim = CLAIMS.get(name)
        statement: Cell = "" if claim is None else Lines((claim.statement, Math(claim.latex)))
        rows.append((name, statement, *(str(len(_those(entries, name, word))) for word in verdicts), known))
    headings = ("claim", "statement", *verdicts, "evidence of the decided")
    return _table("How often each claim came out which way", headings, rows)


def _known(claim: Mapping[str, Any]) -> str:
    """The evidence, with a mark where a confirmed claim says more than was checked."""
    in_part = claim.get("scope") and claim["verdict"] == "confirmed"
    return f"{claim['evidence']}{' in part' if in_part else ''}"


def _verdicts(entries: Sequence[Entry], noun: str, pictures: bool) -> list[Block]:
    ids = _ids(entries)
    if not ids:
        return []
    rows = ((_name(entry), *(_cell(entry, name) for name in ids)) for entry in entries)
    table = _table(f"Verdict and evidence for the {noun}", ("architecture", *ids), rows)
    return [_heat_map(entries, ids, noun), *table] if pictures else table


def _cell(entry: Entry, name: str) -> Cell:
    claim = entry.claims.get(name)
    if claim is None:
        return Word("failed") if "error" in entry.line else ""
    parts = [Word(claim["verdict"])]
    if claim["evidence"] and claim["verdict"] in ("confirmed", "refuted"):
        parts.append(Word(_known(claim)))
    return Lines(tuple(parts))


def _heat_map(entries: Sequence[Entry], ids: Sequence[str], noun: str) -> Block:
    if len(entries) > _MOST_DRAWN:
        return Text(f"Not drawn: {len(entries)} {noun} are more than {_MOST_DRAWN}.")
    found = [[_verdict(entry, name) for name in ids] for entry in entries]
    somewhere = [name for name in ids if _those(entries, name, "refuted")]
    alternative = (
        f"A grid of {_count(len(entries), 'row')}, one for each of the {noun}, and "
        f"{_count(len(ids), 'column')}, one for each claim, coloured by verdict: "
        f"{counted(word for row in found for word in row)}. "
        + (f"Red, with a cross, somewhere in {', '.join(somewhere)}." if somewhere else "None is refuted.")
    )
    caption = f"The verdicts on the {noun}: architectures below each other."
    names = [_name(entry) for entry in entries]
    return _picture(f"{noun}.svg", lambda: draw_verdicts(names, ids, found), alternative, caption)


def _picture(file: str, draw: Callable[[], Any], alternative: str, caption: str) -> Block:
    try:
        return Picture(file, as_svg(draw()), alternative, caption)
    except InputError as error:
        return Text(f"Not drawn: {error}.")


# Dimensions -------------------------------------------------------------------------------------------------


def _dimension(entries: Sequence[Entry], pictures: bool) -> dict[str, list[Block]]:
    found = [entry for entry in entries if entry.result]
    rows: list[Row] = []
    observed: list[Row] = []
    for entry in found:
        result, paper = entry.result, entry.result["paper"]
        name, value, evidence = _name(entry), str(result["dimension"]), Word(result["evidence"])
        hypotheses = "hold" if paper["hypotheses_hold"] else f"fail: {'; '.join(paper['failing'])}"
        bound = f"{result['upper_bound']}: {result['upper_bound_reason']}"
        formulas = str(result["predicted"]), str(paper["value"]), hypotheses
        rows.append((name, str(result["parameters"]), value, evidence, *formulas, bound))
        if result["evidence"] != "proved":
            chance = f"{result['error_probability']:.1e}" if result["evidence"] == "modular" else ""
            observed.append((name, value, evidence, _interval(result), chance))
    dimensions = _table(
        "Dimension, and what the formulas say",
        ("network", "parameters", "dimension", "evidence", "general formula", "HMK", "its hypotheses",
         "upper bound"),
        rows,
    )  # fmt: skip
    if dimensions:
        dimensions = [*([_scatter(found)] if pictures else []), *dimensions, Text(EVIDENCE), Text(PAPER)]
    return {
        "Where a formula fails": [
            *_missed(
                "HMK's formula, where its hypotheses hold",
                [(e, e.result["paper"]["value"]) for e in found if e.result["paper"]["hypotheses_hold"]],
            ),
            *_missed("The general formula", [(e, e.result["predicted"]) for e in found]),
        ],
        "Dimensions": dimensions,
        "Not proved": _table(
            "Dimensions that are observed, not proved",
            ("network", "observed", "evidence", "proved interval", "chance of an error"),
            observed,
        ),
    }


def _interval(result: Mapping[str, Any]) -> str:
    return f"{result['lower_bound']} to {result['upper_bound']}"


def _missed(formula: str, values: Iterable[tuple[Entry, int]]) -> list[Block]:
    """The networks whose dimension is proved not to be what a formula that applies gives."""
    rows = [
        (_name(entry), str(value), _interval(entry.result), entry.result["upper_bound_reason"])
        for entry, value in values
        if not entry.result["lower_bound"] <= value <= entry.result["upper_bound"]
    ]
    if not rows:
        return []
    note = f"{formula}, is not the dimension of {_count(len(rows), 'network')}: that is proved."
    headings = ("network", "formula", "dimension, proved", "upper bound")
    return [Text(note, note=True), *_table(f"{formula}, refuted", headings, rows)]


def _scatter(entries: Sequence[Entry]) -> Block:
    points: dict[str, list[tuple[int, int]]] = {}
    for entry in entries:
        result = entry.result
        points.setdefault(result["evidence"], []).append((result["predicted"], result["dimension"]))
    pairs = [pair for kind in points.values() for pair in kind]
    below = sum(dimension < formula for formula, dimension in pairs)
    alternative = (
        f"{_count(len(pairs), 'point')}, dimension against the general formula, up to "
        f"{max(dimension for _, dimension in pairs)}: {len(pairs) - below} on the line where both agree, "
        f"{below} below it."
    )
    caption = "Dimension against the general formula, a point for each network."
    return _picture("dimensions.svg", lambda: draw_dimensions(points), alternative, caption)


# Strata -----------------------------------------------------------------------------------------------------


def _strata(entries: Sequence[Entry], _: bool) -> dict[str, list[Block]]:
    found = [entry for entry in entries if entry.result]
    differing = [entry for entry in found if _differing(entry)]
    agreeing = [entry for entry in found if not _differing(entry) and _paper_applies(entry)]
    blocks: list[Block] = []
    if differing:
        layers = _count(len(differing) + len(agreeing), "layer")
        note = (
            f"HMK, Theorem 3.4 describes other singular points than there are in {len(differing)} of the "
            f"{layers} to which it applies.{_where(differing, agreeing)}"
        )
        blocks = [
            Text(note, note=True),
            *_table(
                "Strata that are singular, and smooth by HMK, or the other way round",
                ("layer", "stratum", "tangent space", "dimension of M", "singular", "by HMK"),
                (row for entry in differing for row in _differing(entry)),
            ),
        ]
    table = _table(
        "Strata (rk V, rk A, rk [V; Aᵀ]) of every layer (proved)",
        ("layer", "dimension", "coordinates", "strata", "singular", "singular by HMK", "boundary", "open"),
        map(_strata_row, found),
    )
    return {"Where HMK differs": blocks, "Strata": [*table, Text(PAPER)] if table else []}


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

    by_paper = those("singular_by_paper") if _paper_applies(entry) else "does not apply"
    numbers = entry.result["dimension"], entry.result["ambient"], len(rows)
    return (
        _name(entry),
        *map(str, numbers),
        those("singular"),
        by_paper,
        those("boundary"),
        those("singular", None),
    )


# For all ----------------------------------------------------------------------------------------------------


def _source(lines: Sequence[Line], command: str) -> list[Block]:
    """How to make the same again, and the results themselves."""
    versions = _values(line["versions"] for line in lines)
    seeds = _values({"seed": line["job"]["seed"]} for line in lines if "seed" in line["job"])
    rows: list[Row] = [("command", Code(command or "agattn report --study FILE --out DIR")), *seeds.items()]
    rows += [("fingerprint of the code" if key == "code" else key, value) for key, value in versions.items()]
    blocks = _table("Versions, seed and command", ("what", "value"), rows)
    if len({canonical(line["versions"]) for line in lines}) > 1:
        blocks.append(Text("The results come from different versions.", note=True))
    text = "".join(written(line) + "\n" for line in lines)
    blocks.append(Attachment("results.jsonl", text, "the results, one JSON document on each line", False))
    return blocks
