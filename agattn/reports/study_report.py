"""The report of a study: what came out for many architectures, the refutations first.

Here values are computed; the sentences are in the template ``study.j2``.

>>> from agattn import SingleLayer
>>> from agattn.experiments.studies.jobs import Job, perform, versions_for
>>> versions = versions_for("native")
>>> jobs = [Job(SingleLayer(3, 2, a), "verify", ("theorem-3.4.singular",)) for a in (1, 2, 3)]
>>> lines = [perform(job, versions)[0] for job in jobs]
>>> document = study_report(lines, pictures=False)
>>> document.summary
'3 jobs: 2 confirmed, 1 refuted. Refuted somewhere: Theorem 3.4, singular points.'
>>> [section.title for section in document.sections][:3]
['Refuted', 'Claims', 'Verdicts']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, compress, product
from typing import Any

from agattn.architectures import SingleLayer
from agattn.claims import CLAIMS
from agattn.errors import InputError
from agattn.experiments.studies.jobs import (
    TOGETHER,
    Line,
    StudyLines,
    canonical,
    counted,
    summary,
    words,
    written,
)
from agattn.experiments.studies.published import subject_of
from agattn.reports.document import Attachment, Block, Document, Folded, Picture, Text, sections
from agattn.reports.drawing import as_file
from agattn.reports.study_figures import EVIDENCES, MARKS, draw_dimensions, draw_verdicts
from agattn.sheet.data import Cell, Code, Lines, Math, Table, Word

#: A condition on d, d', a is looked for in no more layers, and none larger, than these.
_MOST_DESCRIBED, _LARGEST_DESCRIBED = 400, 10
_MOST_DRAWN = 2_000  # architectures
_VERDICTS = ("confirmed", "refuted", "undecided", "inapplicable")

#: What the template shows, by name.
Values = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A line, to be asked for its parts."""

    line: Line

    @cached_property
    def architecture(self) -> Any:
        """What it is about."""
        return subject_of(self.line["architecture"])

    @property
    def name(self) -> str:
        """The architecture in a few letters; t where it is not 2, as every t ≥ 2 gives a layer the same M."""
        name: str = self.architecture.name
        if self.architecture.kind == "model":  # which has its inputs in its name
            return name
        tokens = f", t = {self.architecture.t}"
        return name if name.endswith(tokens) or tokens == ", t = 2" else name + tokens

    @property
    def result(self) -> dict[str, Any]:
        """What came out; nothing where there was an error."""
        result: dict[str, Any] = self.line.get("result", {})
        return result

    @property
    def claims(self) -> dict[str, dict[str, Any]]:
        """The verdicts by claim."""
        return {claim["id"]: claim for claim in self.result.get("claims", [])}

    def verdict(self, claim: str) -> str:
        """The verdict on a claim."""
        return str(self.claims.get(claim, {}).get("verdict", "failed"))

    @property
    def interval(self) -> str:
        """The proved bounds of a dimension."""
        return f"{self.result['lower_bound']} to {self.result['upper_bound']}"


def study_report(
    lines: Sequence[Line], *, grid: str = "", command: str = "", pictures: bool = True
) -> Document:
    """Write down what came out of a study.

    Args:
        lines: its lines; of one kind of question, or of several that can be asked together.
        grid: the file that asked for them, if it is known.
        command: the command line that makes this report.
        pictures: whether to draw, which needs matplotlib; without it the report says so.
    """
    entries = [Entry(line) for line in lines]
    asks = tuple(dict.fromkeys(line["job"]["ask"] for line in lines))
    ask = asks[0] if asks[0] not in TOGETHER or asks == ("dimension",) else "several"
    kinds = _by_kind(next(iter(row.values())) for row in _together(entries))
    subject = " and ".join(_count(len(those), kind) for kind, those in kinds.items())
    seeds = _values({"seed": line["job"]["seed"]} for line in lines if "seed" in line["job"])
    versions = _values(line["versions"] for line in lines)
    versions = {"fingerprint of the code" if key == "code" else key: versions[key] for key in versions}
    made_by: dict[str, Cell] = {"command": Code(command or "agattn report --study FILE -O DIR")}
    failures = [(entry, entry.line["error"]) for entry in entries if "error" in entry.line]
    text = "".join(written(line) + "\n" for line in lines)
    read = {"verify": _verify, "dimension": _dimension, "strata": _strata, "several": _several}
    refuted = [name for name in _ids(entries) if _those(entries, name, "refuted")]
    return Document(
        f"Study of {subject}",
        f"{_count(len(lines), 'job')}: {counted(word for line in lines for word in words(line))}."
        + (f" Refuted somewhere: {'; '.join(map(_printed, refuted))}." if refuted else ""),
        sections(
            "study",
            ask=ask,
            asks=asks,
            subject=subject,
            **read[ask](entries, pictures),
            settings=_pairs("Settings", _values((line["job"] for line in lines), in_words)),
            grid=Attachment("grid.toml", grid, "the grid of architectures") if grid else (),
            errors=_table(
                "Jobs that ended in an error",
                ("architecture", "error", "what it says"),
                [(entry.name, error["type"], error["message"]) for entry, error in failures],
            ),
            versions=_pairs("Versions, seed and command", {**made_by, **seeds, **versions}),
            several=len({canonical(line["versions"]) for line in lines}) > 1,
            results=Attachment("results.jsonl", text, "the results, one JSON document on each line", False),
        ),
        clock=f"To compute the results took {sum(line['seconds'] for line in lines):.1f} s in all.",
        subject="Study of ",
    )


def in_words(value: object) -> str:
    """A JSON-ready value for people.

    >>> in_words({"fiber": 4, "zero": ["A = 0", "V = 0"]})
    'fiber: 4; zero: A = 0, V = 0'
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{key}: {in_words(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(in_words, value))
    return "" if value is None else str(value)


def _by_kind(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The entries about each kind of architecture, in the order of the kinds' names."""
    kinds: dict[str, list[Entry]] = {}
    for entry in entries:
        kinds.setdefault(entry.architecture.kind, []).append(entry)
    return dict(sorted(kinds.items()))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _table(caption: str, headings: tuple[str, ...], rows: Sequence[tuple[Cell, ...]]) -> tuple[Table, ...]:
    """A table; none if there are no rows."""
    return (Table(caption, headings, tuple(rows)),) if rows else ()


def _pairs(caption: str, values: Mapping[str, Cell]) -> tuple[Table, ...]:
    return _table(caption, ("what", "value"), [*values.items()])


def _values(documents: Iterable[Mapping[str, Any]], shown: Callable[[Any], str] = str) -> dict[str, str]:
    """For each key the values that it has somewhere."""
    values: dict[str, dict[str, None]] = {}
    for keys in documents:
        for key, value in keys.items():
            values.setdefault(key, {})[shown(value)] = None
    return {key: "; ".join(several) for key, several in values.items()}


def _ids(entries: Sequence[Entry]) -> list[str]:
    """The claims that were judged, in the order of the paper."""
    judged = {name for entry in entries for name in entry.claims}
    return [*(name for name in CLAIMS if name in judged), *sorted(judged - set(CLAIMS))]


def _printed(name: str) -> str:
    """A claim as it is called; results may be of claims that are not known here."""
    return CLAIMS[name].name if name in CLAIMS else name


def _those(entries: Sequence[Entry], claim: str, verdict: str) -> list[Entry]:
    return [entry for entry in entries if entry.verdict(claim) == verdict]


def _verify(entries: Sequence[Entry], pictures: bool) -> Values:
    """Where claims are refuted, with witnesses, how often each came out which way, and every verdict."""
    refuted, counts = list[Values](), list[tuple[Cell, ...]]()
    undecided = [
        (entry.name, _printed(name), claim["witness"])
        for entry in entries
        for name, claim in entry.claims.items()
        if claim["verdict"] == "undecided"
    ]
    for name in _ids(entries):
        claim, printed = CLAIMS.get(name), _printed(name)
        which = {verdict: _those(entries, name, verdict) for verdict in _VERDICTS}
        failing, decided = which["refuted"], [*which["confirmed"], *which["refuted"]]
        titled: tuple[Cell, Cell] = (name, "")
        if claim is not None:
            titled = Lines((claim.name, Code(name))), Lines((claim.statement, Math(claim.latex)))
        evidence = counted(entry.claims[name]["evidence"] for entry in decided)
        counts.append((*titled, *(str(len(those)) for those in which.values()), evidence))
        if failing:
            columns = ("architecture", "evidence", "witness", "predicted", "computed")
            rows = [_refutation(entry.name, entry.claims[name]) for entry in failing]
            refuted.append(
                {
                    "name": printed,
                    "claim": claim,
                    "number": len(failing),
                    "decided": _count(len(decided), "architecture"),
                    "where": _where(failing, which["confirmed"]),
                    "table": _table(f"Refutations of {printed}", columns, rows),
                }
            )
    headings = ("claim", "statement", *_VERDICTS, "evidence of the decided")
    return {
        "refuted": refuted,
        "claims": _table("How often each claim came out which way", headings, counts),
        "verdicts": tuple(
            block
            for kind, those in _by_kind(entries).items()
            for block in _verdicts(those, f"{kind}s", pictures)
        ),
        "undecided": _table("Claims that stayed undecided", ("architecture", "claim", "reason"), undecided),
    }


def _refutation(name: str, claim: Mapping[str, Any]) -> tuple[Cell, ...]:
    predicted, computed = in_words(claim["predicted"]), in_words(claim["computed"])
    return name, Word(claim["evidence"]), claim["witness"], predicted, computed


def _where(failing: Sequence[Entry], holding: Sequence[Entry]) -> str:
    """The shortest condition on d, d', a that tells the layers where a claim fails from the others."""
    inside, outside = ([entry.architecture for entry in those] for those in (failing, holding))
    layers = [*inside, *outside]
    if (
        not all(isinstance(layer, SingleLayer) for layer in layers)
        or not outside
        or len(layers) > _MOST_DESCRIBED
        or max(max(layer.d, layer.d_out) for layer in layers) > _LARGEST_DESCRIBED
    ):
        return ""
    condition = describe(inside, outside)
    if condition is None:
        return "No short condition on d, d' and a describes them."
    return f"Of these it fails exactly where {condition}."


def _verdicts(entries: Sequence[Entry], noun: str, pictures: bool) -> tuple[Block, ...]:
    """Each verdict on these architectures, drawn and as a table."""
    ids = _ids(entries)
    if not ids:
        return ()
    headings = [_printed(name) for name in ids]
    rows = [(entry.name, *(_cell(entry, name) for name in ids)) for entry in entries]
    table = _table(f"Verdict and evidence for the {noun}", ("architecture", *headings), rows)
    if not pictures:
        return table
    if len(entries) > _MOST_DRAWN:
        return (Text(f"Not drawn: {len(entries)} {noun} are more than {_MOST_DRAWN}."), *table)
    verdicts = [[entry.verdict(name) for name in ids] for entry in entries]
    present = [word for row in verdicts for word in row]
    somewhere = "; ".join(_printed(name) for name in ids if _those(entries, name, "refuted"))
    alternative = (
        f"A grid of {_count(len(entries), 'row')}, one for each of the {noun}, and "
        f"{_count(len(ids), 'column')}, one for each claim, coloured by verdict: {counted(present)}. "
        f"{f'Red, with a cross, somewhere in {somewhere}' if somewhere else 'None is refuted'}."
    )
    colours = ", ".join(f"{MARKS[word].name}: {word}" for word in MARKS if word in present)
    caption = f"The verdicts on the {noun}: architectures below each other. {colours.capitalize()}."
    names = [entry.name for entry in entries]
    drawn = _picture(f"{noun}.svg", lambda: draw_verdicts(names, headings, verdicts), alternative, caption)
    if isinstance(drawn, Text):
        return (drawn, *table)
    return drawn, Folded(f"Each verdict on the {noun}, with its evidence", table)


def _cell(entry: Entry, name: str) -> Cell:
    claim = entry.claims.get(name)
    if claim is None:
        return Word("failed") if "error" in entry.line else ""
    parts = [Word(claim["verdict"])]
    if claim["evidence"] and claim["verdict"] in ("confirmed", "refuted"):
        parts.append(Word(claim["evidence"]))
    return Lines(tuple(parts))


def _picture(file: str, draw: Callable[[], Any], alternative: str, caption: str) -> Block:
    try:
        return Picture(file, as_file(draw(), ".svg"), alternative, caption)
    except InputError as error:
        return Text(f"Not drawn: {error}.")


def _dimension(entries: Sequence[Entry], pictures: bool) -> Values:
    """Dimensions beside what the formulas give, where a formula fails, and what is not proved."""
    published = tuple(entry.line for entry in entries if "model" in entry.result)
    answered = [entry for entry in entries if "architecture" in entry.result]
    compared = [entry for entry in answered if entry.result["paper"]]  # for models there is no formula
    holding = [entry for entry in compared if entry.result["paper"]["hypotheses_hold"]]
    formulas = {
        "HMK's formula, where its hypotheses hold": [(e, e.result["paper"]["value"]) for e in holding],
        "The general formula": [(entry, entry.result["predicted"]) for entry in compared],
    }
    headings = ("network", "formula", "dimension, proved", "upper bound")
    missed = []
    for formula, values in formulas.items():
        failing = [
            (entry.name, str(value), entry.interval, entry.result["upper_bound_reason"])
            for entry, value in values
            if not entry.result["lower_bound"] <= value <= entry.result["upper_bound"]
        ]
        if failing:
            table = _table(f"{formula}, refuted", headings, failing)
            missed.append((formula, _count(len(failing), "network"), table))
    points: dict[str, list[tuple[int, int]]] = {}
    for entry in compared:
        pair = entry.result["predicted"], entry.result["dimension"]
        points.setdefault(entry.result["evidence"], []).append(pair)
    proved = sum(entry.result["evidence"] == "proved" for entry in answered)
    shown = _count(len(answered), "architecture")
    outcome, scatter = _against_formula(points, pictures)
    formulas_of = ("general formula", "HMK", "its hypotheses")
    return {
        "missed": missed,
        "outcome": f"The dimension of {proved} of {shown} is proved. {outcome}",
        "scatter": scatter,
        "dimensions": _table(
            "Dimension, and what the formulas say",
            ("network", "parameters", "dimension", "evidence", *formulas_of, "upper bound"),
            [_dimension_row(entry.name, entry.result) for entry in answered],
        ),
        "published": StudyLines(published).sheet().parts if published else (),
        "observed": _table(
            "Dimensions that are observed, not proved",
            ("network", "observed", "evidence", "proved interval", "chance of an error"),
            [_observed_row(entry) for entry in answered if entry.result["evidence"] != "proved"],
        ),
    }


def _dimension_row(name: str, result: Mapping[str, Any]) -> tuple[Cell, ...]:
    formulas = "", "", ""
    if paper := result["paper"]:
        failing = f"fail: {'; '.join(paper['failing'])}" if paper["failing"] else "hold"
        formulas = str(result["predicted"]), str(paper["value"]), failing
    known = str(result["dimension"]), Word(result["evidence"])
    upper = f"{result['upper_bound']}: {result['upper_bound_reason']}"
    return name, str(result["parameters"]), *known, *formulas, upper


def _observed_row(entry: Entry) -> tuple[Cell, ...]:
    observed, evidence = entry.result["dimension"], entry.result["evidence"]
    chance = f"{entry.result['error_probability']:.1e}" if evidence == "modular" else ""
    return entry.name, str(observed), Word(evidence), entry.interval, chance


def _against_formula(
    points: Mapping[str, Sequence[tuple[int, int]]], pictures: bool
) -> tuple[str, tuple[Block, ...]]:
    """How often the general formula gives the dimension, in a sentence and drawn, by evidence."""
    pairs = [pair for kind in points.values() for pair in kind]
    if not pairs:
        return "For models there is no formula.", ()
    below = sum(dimension < formula for formula, dimension in pairs)
    agreement = f"The general formula gives {len(pairs) - below} of {len(pairs)} dimensions that were found."
    if not pictures:
        return agreement, ()
    alternative = (
        f"{_count(len(pairs), 'point')}, dimension against the general formula, up to "
        f"{max(dimension for _, dimension in pairs)}: {len(pairs) - below} on the line where "
        f"both agree, {below} below it."
    )
    colours = ", ".join(f"{EVIDENCES[word].name}: {word}" for word in EVIDENCES if word in points)
    caption = f"Dimension against the general formula, a point for each network. {colours.capitalize()}."
    return agreement, (_picture("dimensions.svg", lambda: draw_dimensions(points), alternative, caption),)


def _several(entries: Sequence[Entry], _: bool) -> Values:
    """What is known of each architecture, in one row: dimension, linear symmetries, equations."""
    named = {"dimension": "dimension", "symmetries": "linear symmetries", "ideal": "minimal equations"}
    together = _together(entries)
    asks = [ask for ask in named if any(ask in row for row in together)]
    rows: list[tuple[Cell, ...]] = []
    for row in together:
        first = next(iter(row.values()))
        answers = (_answer(row[ask].line) if ask in row else "" for ask in asks)
        rows.append((first.name, str(first.architecture.parameters), *answers))
    headings = ("architecture", "parameters", *(named[ask] for ask in asks))
    return {"together": _table("What is known of each architecture", headings, rows)}


def _answer(line: Line) -> Cell:
    if "error" in line:
        return "not done"
    [evidence] = words(line)
    return Lines((summary(line), Word(evidence)))


def _together(entries: Sequence[Entry]) -> list[dict[str, Entry]]:
    """For each architecture the entries about it, by what is asked."""
    together: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        row = together.setdefault(canonical(entry.line["architecture"]), {})
        row[entry.line["job"]["ask"]] = entry
    return list(together.values())


def _strata(entries: Sequence[Entry], _: bool) -> Values:
    """The strata of every layer, and where HMK's Theorem 3.4 says something else about them."""
    differing, agreeing = list[Entry](), list[Entry]()
    rows, differences = list[tuple[Cell, ...]](), list[tuple[Cell, ...]]()
    for entry in entries:
        if not (result := entry.result):
            continue
        strata, dimension = result["strata"], str(result["dimension"])
        applies = all(row["singular_by_paper"] is not None for row in strata)
        others = [row for row in strata if {row["singular"], row["singular_by_paper"]} == {True, False}]
        for row in others:
            tangent, *answers = row["tangent_bounds"][0], row["singular"], row["singular_by_paper"]
            differences.append(
                (entry.name, _triple(row), in_words(tangent), dimension, *map(in_words, answers))
            )
        if others or applies:
            (differing if others else agreeing).append(entry)
        sizes = dimension, str(result["ambient"]), str(len(strata))
        by_paper = _triples(strata, "singular_by_paper") if applies else "does not apply"
        kinds = _triples(strata, "singular"), by_paper, _triples(strata, "boundary")
        rows.append((entry.name, *sizes, *kinds, _triples(strata, "singular", None)))
    sizes_and_kinds = "dimension", "coordinates", "strata", "singular", "singular by HMK", "boundary", "open"
    return {
        "number": len(differing),
        "applying": _count(len(differing) + len(agreeing), "layer"),
        "where": _where(differing, agreeing),
        "differing": _table(
            "Strata that are singular, and smooth by HMK, or the other way round",
            ("layer", "stratum", "tangent space", "dimension of M", "singular", "by HMK"),
            differences,
        ),
        "strata": _table(
            "Strata (rk V, rk A, rk [V; Aᵀ]) of every layer (proved)", ("layer", *sizes_and_kinds), rows
        ),
    }


def _triple(row: Mapping[str, Any]) -> str:
    return f"({row['r_v']},{row['r_a']},{row['r']})"


def _triples(strata: Iterable[Mapping[str, Any]], name: str, value: bool | None = True) -> str:
    return " ".join(_triple(row) for row in strata if row[name] is value)


# Where a claim fails ---------------------------------------------------------------------------------------


def describe(inside: Sequence[SingleLayer], outside: Sequence[SingleLayer]) -> str | None:
    """A shortest condition on d, d' and a that holds for all layers inside and for none outside.

    It is a conjunction of at most three conditions, each of which is a comparison or an alternative of two.
    ``None`` if there is no such condition.

    >>> grid = [SingleLayer(d, 1, a) for d in (1, 2, 3) for a in range(1, d + 1)]
    >>> describe([x for x in grid if x.a < x.d], [x for x in grid if x.a == x.d])
    'a < d'
    """
    if not outside:
        return "always"
    tests = _comparisons([*inside, *outside])
    inner = frozenset(range(len(inside)))
    outer = frozenset(range(len(inside), len(inside) + len(outside)))
    always = [text for text in tests if inner <= tests[text]]
    pairs = combinations([text for text in tests if text not in always], 2)
    useful: dict[frozenset[int], tuple[str, ...]] = {}  # what a condition excludes, and the first that does
    for condition in [*combinations(always, 1), *pairs]:
        held = frozenset[int]().union(*(tests[text] for text in condition))
        if inner <= held and (excluded := outer - held):
            useful.setdefault(excluded, condition)
    complete = [
        [useful[excluded] for excluded in chosen]
        for length in (1, 2, 3)
        for chosen in combinations(useful, length)
        if frozenset[int]().union(*chosen) == outer
    ]
    if not complete:
        return None
    best = min(complete, key=lambda conditions: sum(map(len, conditions)))
    alternatives = [" or ".join(condition) for condition in best]
    return " and ".join(f"({text})" if " or " in text and len(best) > 1 else text for text in alternatives)


def _comparisons(layers: Sequence[SingleLayer]) -> dict[str, frozenset[int]]:
    """For which layers a comparison holds of d, d', a with each other or a small number; simplest first."""
    letters = {"a": [x.a for x in layers], "d'": [x.d_out for x in layers], "d": [x.d for x in layers]}
    tests = {"a < d": [x.a < x.d for x in layers], "a = d": [x.a == x.d for x in layers]}
    largest = max(letters["d"] + letters["d'"])
    for n, (letter, values) in product(range(1, largest + 1), letters.items()):
        tests[f"{letter} ≥ {n}"] = [value >= n for value in values]
        tests[f"{letter} = {n}"] = [value == n for value in values]
    return {text: frozenset(compress(range(len(layers)), holds)) for text, holds in tests.items()}
