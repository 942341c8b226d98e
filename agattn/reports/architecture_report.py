"""The report of one architecture: what is asked, claims with their evidence, figures, scripts.

For a layer it has strata, equations, a certificate and Figure 1, for a network the dimension from both sides.
Here values are computed; the sentences are in the templates ``layer.j2``, ``network.j2`` and those that they
include.

>>> from agattn import SingleLayer
>>> document = report(SingleLayer(2, 1), "native", pictures=False)
>>> document.title
'Lightning self-attention M(2,1,2)'
>>> [section.title for section in document.sections][:4]
['What was asked', 'Claims', 'Strata', 'Equations']
>>> document = report(DeepNetwork((3, 3, 3), (1, 2), t=3), pictures=False)
>>> document.summary.partition(" Of ")[0]
'Dimension 18, proved. Equation 14 of HMK gives 20, but its hypotheses do not hold: a_i ≥ 2.'
>>> document.exit_status
0
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import replace

import flint

from agattn._version import __version__
from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.claims import CLAIMS
from agattn.claims.network_dimension import DimensionByPaper, with_paper
from agattn.engines.run import Run
from agattn.errors import AgattnError, InputError
from agattn.evidence import Evidence, Source, Status, Verdict, plain
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.ideal.export import export
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.limits import limited, limits, log
from agattn.reports.counterexample import counterexample
from agattn.reports.document import Attachment, Block, Document, Picture, Text, sections
from agattn.reports.drawing import as_file
from agattn.reports.figure2 import draw_figure_2, page_2, reading
from agattn.sheet.data import Cell, Code, Lines, Math, Table, Word
from agattn.verification.certificate import certify, dump
from agattn.verification.report import Report
from agattn.verification.strata_table import strata_table
from agattn.verification.verify import verify

_LONGEST_LISTING = 20_000  # characters of a script or transcript that are shown on the page
_LONGEST_VALUE = 500  # that is shown in full, in characters
_MOST_LAYERS_DRAWN = 3
_MOST_EQUATIONS = 3_000  # that are written out

PAPER = (
    "HMK is Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention: Identifiability and Dimension, "
    "arXiv 2408.17221, version 2, whose statements these are."
)
EVIDENCE = (
    "Evidence: proved means exact over ℚ or ℤ, or two exact inequalities that meet; modular means exact over "
    "a finite field at random points; numerical means floating point. A verdict is undecided where time or "
    "memory ran out, and inapplicable where the claim does not speak about this architecture."
)

Values = dict[str, object]


def report(
    architecture: SingleLayer | DeepNetwork,
    engine: str = "auto",
    *,
    max_degree: int = 4,
    pictures: bool = True,
    command: str = "",
) -> Document:
    """Verify all claims about an architecture and write everything down.

    Args:
        architecture: a layer or a network.
        engine: who computes, as for :func:`agattn.verification.verify.verify`.
        max_degree: of a layer's equations.
        pictures: whether to draw figures, which needs matplotlib.
        command: the command line that makes this report.

    Returns:
        The document, with the verdicts. Its exit status is that of the claims, and 3 instead of 0 if the
        dimension of a network is not proved.
    """
    verified = verify(architecture, (), engine)
    values = _shared(verified, command)
    values["architecture"] = replace(architecture.sheet().tables[0], caption="The architecture")
    said, status = summary(verified.verdicts), verified.exit_status
    clock = f"The claims took {verified.seconds:.1f} s."
    if isinstance(architecture, SingleLayer):
        values |= _of_layer(architecture, verified, engine, max_degree, pictures)
        body = sections("layer", layer=architecture, **values)
    else:
        log.info("the dimension")
        found = with_paper(dimension(architecture))
        values |= {"dimension": found.sheet().tables, **_unrolled(architecture, pictures)}
        body = sections("network", network=architecture, **values)
        said = f"{_dimension_in_words(found)} {said}"
        clock = f"The dimension took {found.seconds:.1f} s, the claims {verified.seconds:.1f} s."
        if found.evidence is not Evidence.PROVED:
            status = status or 3
    claims = tuple(verified.verdicts)
    return Document(title(architecture), said, body, clock, exit_status=status, claims=claims)


def title(architecture: Architecture) -> str:
    """The title of the report of an architecture.

    >>> title(SingleLayer(2, 1)), title(DeepNetwork((2, 2), (1,)))
    ('Lightning self-attention M(2,1,2)', 'Self-attention network M(2,2; 1), t = 3')
    """
    words = {"layer": "Lightning self-attention", "network": "Self-attention network"}
    return f"{words.get(architecture.kind, 'Model')} {architecture.name}"


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many claims came out which way, in a sentence."""
    words = [f"{n} {status}" for status in Status if (n := sum(v.status is status for v in verdicts))]
    refuted = [CLAIMS[v.claim].name for v in verdicts if v.status is Status.REFUTED]
    tail = f" Refuted: {'; '.join(refuted)}." if refuted else ""
    return f"Of {len(verdicts)} claims: {', '.join(words)}.{tail}"


def _shared(verified: Report, command: str) -> Values:
    """The values of the sections that the reports of layers and of networks share."""
    refuted: dict[str, list[str]] = {}
    for verdict in verified.verdicts:
        if verdict.status is Status.REFUTED:
            refuted.setdefault(_sentence(verdict.witness), []).append(CLAIMS[verdict.claim].name)
    runs = sorted(
        verified.runs, key=lambda r: (r.problem.task, r.installation.engine.name, r.problem.characteristic)
    )
    fingerprints = tuple(
        (Code(_files(r)[0].name), str(r.installation), r.problem.field_name, Code(r.script_sha256))
        for r in runs
    )
    return {
        "refuted": refuted,
        "claims": claims_table(verified.verdicts),
        "sources": _sources_table(verified.verdicts),
        "evidence": EVIDENCE,
        "paper": PAPER,
        "runs": tuple(file for run in runs for file in _files(run)),
        "fingerprints": Table(
            "Scripts and their fingerprints", ("script", "engine", "field", "SHA-256"), fingerprints
        ),
        "troubles": sorted(verified.troubles),
        "versions": versions(command, runs),
    }


def versions(command: str, runs: Sequence[Run] = ()) -> Table:
    """What makes a report again: the command, the seed, and all versions."""
    rows: tuple[tuple[Cell, ...], ...] = (
        ("command", Code(command or "agattn report")),
        ("seed", limits().seed),
        ("agattn", __version__),
        ("Python", platform.python_version()),
        ("python-flint", flint.__version__),
        *sorted({(run.installation.engine.name, run.installation.version) for run in runs}),
    )
    return Table("Versions, seed and command", ("what", "value"), rows)


def claims_table(verdicts: Sequence[Verdict]) -> Table:
    """Every claim with its verdict; where it is refuted, the witness stands elsewhere."""
    rows: list[tuple[Cell, ...]] = []
    for v in verdicts:
        claim, computed, why = CLAIMS[v.claim], in_words(plain(v.computed)), _sentence(v.witness)
        if len(computed) > _LONGEST_VALUE:
            computed = v.short
        computed = computed and f"Found: {computed}"
        if v.status is Status.REFUTED:
            computed += f" (predicted: {in_words(plain(v.predicted))})"
            why = "The witness stands above."
        by = f"Found by {v.engine.replace('native', 'exact linear algebra')}."
        word = Word(str(v.evidence or ""))
        rows.append(
            (
                Lines((claim.name, Code(claim.id))),
                Word(str(v.status)),
                Lines((word, f"in part: {v.scope}")) if v.scope else word,
                Lines((claim.statement, Math(claim.latex), *filter(None, (computed, why)), by)),
            )
        )
    headings = ("claim", "verdict", "evidence", "what it says, and what was found")
    return Table("Every claim, its verdict, and how it is known", headings, tuple(rows))


def _sources_table(verdicts: Sequence[Verdict]) -> Table:
    """Who found what, and for which claims."""
    claims: dict[Source, list[str]] = {}
    for verdict in verdicts:
        for source in verdict.sources:
            claims.setdefault(source, []).append(CLAIMS[verdict.claim].name)
    rows = tuple((s.part, s.found_by, s.checked_by, "; ".join(names)) for s, names in claims.items())
    if not any(source.checked_by for source in claims):
        return Table("Who found what", ("what", "found by", "for"), tuple((*row[:2], row[3]) for row in rows))
    return Table("Who found what", ("what", "found by", "checked by", "for"), rows)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith(".") else f"{text}."


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


def _of_layer(layer: SingleLayer, verified: Report, engine: str, max_degree: int, pictures: bool) -> Values:
    """The values of the sections about strata, equations, Figure 1 and the certificate."""
    values = counterexample(layer, verified.verdicts)
    if layer.has_orbits:
        log.info("the strata")
        strata = strata_table(layer)
        values |= {"strata": strata.sheet().tables[0], "outside": strata.outside, "hasse": ()}
        if pictures:
            from agattn.reports.hasse import hasse_diagram

            picture = hasse_diagram(layer, ".svg")
            below = "; ".join(
                f"{r.stratum} above {', '.join(map(str, r.below))}" for r in strata.rows if r.below
            )
            words = f"Hasse diagram of the closure order: {below}."
            caption = (
                "The closure order of the strata. Red: singular; blue: smooth; thick outline: boundary of M; "
                "dotted outline: in the real Zariski closure, not in M."
            )
            values["hasse"] = Picture("strata.svg", picture, words, caption)
    log.info("equations")
    try:
        ideal = compute_ideal(layer, max_degree)
        values |= {
            "max_degree": max_degree,
            "equations": (ideal.sheet().tables[0], *ideal.generators_tables()),
        }
        many = sum(piece.minimal_generators for piece in ideal.degrees)
        values |= {"many": many, "file": ()}
        if 0 < many <= _MOST_EQUATIONS:
            log.info("writing out all equations")
            said = f"all {many} minimal generators, for Macaulay2"
            values["file"] = _listing("equations.m2", export(ideal, "macaulay2"), said)
    except AgattnError as error:
        values["equations"] = str(error)
    if pictures:
        log.info("Figure 1")
        values["picture"] = _figure_1(layer, engine)
    if layer.has_orbits:
        log.info("the certificate")
        try:
            text = dump(certify(layer, (), verified.verdicts)) + "\n"
        except AgattnError as error:
            return values | {"certificate": str(error)}
        check = Table("To check it", ("command",), ((Code("agattn check certificate.json"),),))
        values |= {"check": check, "certificate": _listing("certificate.json", text, "the certificate")}
    return values


def _figure_1(layer: SingleLayer, engine: str) -> tuple[Block, ...] | str:
    """Figure 1, nothing where its slice has no surface, or the reason why it was not drawn."""
    if layer.alpha < 2 or not layer.has_orbits:
        return ()
    from agattn.reports.figure1 import compute_figure_1

    try:
        with limited(force=False):
            figure = compute_figure_1(layer, engine="auto" if engine == "all" else engine)
    except AgattnError as error:
        return str(error)
    caption = f"{figure.words} Computed by {figure.source}; {figure.evidence}."
    picture = Picture("figure1.png", as_file(figure.drawing(), ".png"), figure.words, caption)
    return (
        picture,
        _interactive("figure1.html", figure.page, "turned"),
        *(() if figure.run is None else _files(figure.run)),
    )


def _interactive(name: str, page: Callable[[], str], verb: str) -> Block:
    """A figure as a page of its own, or the reason why there is none."""
    try:
        return Attachment(name, page(), f"the same to be {verb} with the mouse", False)
    except InputError as error:
        return Text(f"No interactive figure: {error}.")


def _files(run: Run) -> tuple[Attachment, Attachment]:
    """The script of a run, and what the engine printed."""
    engine, modulo = run.installation.engine, run.problem.characteristic
    name = f"scripts/{run.problem.task}-{engine.name}{f'-{modulo}' * bool(modulo)}"
    return (
        _listing(f"{name}.{engine.suffix}", run.script, f"{run.problem.title}, {engine.title}"),
        _listing(f"{name}.transcript.txt", run.transcript, f"what {run.installation} printed"),
    )


def _listing(name: str, text: str, description: str) -> Attachment:
    return Attachment(name, text, description, shown=len(text) <= _LONGEST_LISTING)


def _unrolled(network: DeepNetwork, pictures: bool) -> Values:
    """Equation 12 and Figure 2, for a plain network of a few layers."""
    plain_layers = network.is_lightning and set(network.heads_by_layer) == {1} and not network.skip
    if not plain_layers or not 2 <= network.depth <= _MOST_LAYERS_DRAWN:
        return {"product": "", "tree": ()}
    values: Values = {"product": (product := f"φ(X) = L {reading(network.depth)}"), "tree": ()}
    if pictures:
        tree = as_file(draw_figure_2(network.depth), ".svg")
        caption = f"The network as a ternary tree, Figure 2 of HMK for l = {network.depth}."
        picture = Picture("tree.svg", tree, f"Ternary tree of the product {product}.", caption)
        values["tree"] = (picture, _interactive("tree.html", lambda: page_2(network.depth), "read"))
    return values


def _dimension_in_words(found: DimensionByPaper) -> str:
    known = f"Dimension {found.dimension}, {found.evidence}"
    if found.evidence is None:
        known = f"Dimension between {found.lower_bound} and {found.upper_bound}, proved"
    elif found.evidence is not Evidence.PROVED:
        known += f"; proved between {found.lower_bound} and {found.upper_bound}"
    if (paper := found.paper) is None:
        return f"{known}."
    said = f"{known}. {paper.equation.capitalize()} of HMK gives"
    if paper.failing:
        return f"{said} {paper.value}, but its hypotheses do not hold: {'; '.join(paper.failing)}."
    return f"{said} {paper.value if paper.defect else 'the same'}."
