"""The report of an architecture of any kind: what is asked, claims with their evidence, figures, scripts.

For a layer it has strata, equations, a certificate and Figure 1, for a network the dimension from both sides,
for a polynomial model symmetries, equations, kinds of points and a fiber; what is beyond a limit is left out,
and the report says which limit. Values are those of the results' own sheets; the sentences between them are
in the templates ``layer.j2``, ``network.j2``, ``model.j2`` and those that they include.

>>> from agattn import Network, Perceptron, SingleLayer
>>> document = report(SingleLayer(2, 1), engine="native", pictures=False)
>>> document.title
'Lightning self-attention M(2,1,2)'
>>> [section.title for section in document.sections][:4]
['What was asked', 'Claims', 'Strata', 'Equations']
>>> document = report(DeepNetwork((3, 3, 3), (1, 2), t=3), pictures=False)
>>> document.summary.partition(" Of ")[0]
'Dimension 18, proved. Equation 14 of HMK gives 20, but its hypotheses do not hold: a_i ≥ 2.'
>>> document.exit_status
0
>>> document = report(Network([Perceptron([2, 1], degree=3)], dim=3))
>>> document.title
'Model 3×1 → perceptron 2,1 (degree 3)'
>>> document.summary
'Dimension 6 in 10 coordinates, proved. Of 11 kinds of points: 7 singular, 4 smooth.'
>>> [section.title for section in document.sections][1:5]
['Dimension', 'Symmetries', 'Equations', 'Kinds of points']
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any, TypeVar

import flint

from agattn._version import __version__
from agattn.architectures import Architecture, DeepNetwork, SingleLayer, as_attention
from agattn.calls import positive_integer
from agattn.claims import CLAIMS
from agattn.claims.network_dimension import DimensionByPaper, with_paper
from agattn.engines.run import Run
from agattn.errors import AgattnError, InputError, TooLargeError
from agattn.evidence import Evidence, Source, Status, Verdict, plain
from agattn.experiments.studies.jobs import Line
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.dimension.lie_algebra import linear_symmetries
from agattn.geometry.ideal.export import export
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal, compute_model_ideal
from agattn.geometry.identifiability.network_fibers import network_fiber
from agattn.geometry.learning_coefficients.brackets import bracket
from agattn.geometry.singular_points.kinds import kinds
from agattn.geometry.singular_points.singularities import Singularities, singularities
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.limits import limited, limits, log, takes
from agattn.reports.counterexample import counterexample
from agattn.reports.document import Attachment, Block, Document, Picture, sections
from agattn.reports.drawing import Drawable, as_file
from agattn.reports.figure2 import Figure2
from agattn.reports.study_report import Values, in_words, study_report
from agattn.sheet.data import Cell, Code, Lines, Math, Table, Word
from agattn.sheet.result import Described
from agattn.verification.certificate import certify, dump
from agattn.verification.report import Report
from agattn.verification.strata_table import strata_table
from agattn.verification.verify import verify

#: Reports show equations up to this degree.
MOST_DEGREES = 8
_LONGEST_VALUE = 500  # that is shown in full, in characters
_MOST_LAYERS_DRAWN = 3
_MOST_EQUATIONS = 3_000  # that are written out
#: Coordinates of models are expanded if they have no more terms, and written out if they are so few.
_MOST_TERMS, _MOST_SHOWN = 100_000, 12
_LONGEST = 8  # terms of a coordinate that is written out
_BOUNDS = ("quantity", "value", "evidence")
#: Equations of models are looked for in degrees with no more monomials.
_MOST_MONOMIALS = 5_000

T = TypeVar("T")


@takes("timeout", "memory", "force", "seed", "progress")
def report(
    architecture: Architecture | Sequence[Line],
    *,
    engine: str = "auto",
    max_degree: int = 3,
    pictures: bool = True,
    grid_text: str = "",
    command: str = "",
) -> Document:
    """Everything about one architecture, or the results of a study, as one document.

    Args:
        architecture: a layer, a network or a polynomial model; or the lines of :func:`agattn.study`.
        engine: of a layer or a network of attention who computes, as for :func:`agattn.verify`.
        max_degree: the last degree of the equations of a layer or a model, at most 8.
        pictures: draw figures, which needs matplotlib.
        grid_text: of a study: its grid, which stands beside the results.
        command: the command line that makes the report, as the document names it.

    Returns:
        The document: ``save(folder)`` writes it as HTML and Markdown.

    Raises:
        InputError: if a model is normalized, there is no such engine, or matplotlib is missing.
        TooLargeError: beyond the limits on sizes.

    See Also:
        :func:`agattn.verify`, :func:`agattn.study`, :func:`agattn.figure`; ``agattn report`` in a shell.

    >>> import agattn as ag
    >>> ag.report(ag.Network([ag.Linear(1)], dim=1), max_degree=1).title
    'Model 1×1 → linear 1'
    """
    if isinstance(architecture, Sequence):
        return study_report(architecture, grid=grid_text, command=command, pictures=pictures)
    if positive_integer("max_degree", max_degree) > MOST_DEGREES:
        raise InputError(
            f"max_degree is {max_degree}; reports have equations of degree at most {MOST_DEGREES}"
        )
    attention = as_attention(architecture)
    if attention.as_network() is None:
        return of_model(attention, max_degree, command)
    return of_attention(attention, engine, max_degree, pictures, command)


def of_attention(attention: Any, engine: str, max_degree: int, pictures: bool, command: str) -> Document:
    """Everything about a layer or a network of attention.

    The exit status is that of the claims; instead of 0 it is 3 if the dimension of a network is not proved.
    """
    verified = verify(attention, (), engine)
    values = _of_claims(verified)
    values["architecture"] = replace(attention.sheet().tables[0], caption="The architecture")
    values["versions"] = versions(command, verified.runs)
    text, status, clock = summary(verified.verdicts), verified.exit_status, ""
    if isinstance(attention, SingleLayer):
        values |= _of_layer(attention, verified, engine, max_degree, pictures)
        body = sections("layer", layer=attention, **values)
    else:
        log.info("the dimension")
        result = with_paper(dimension(attention))
        values |= {"dimension": result, "product": "", "tree": ()}
        body = sections("network", network=attention, **values | _unrolled(attention, pictures))
        text = f"{_dimension_in_words(result)}{_by_paper(result)} {text}"
        clock = f"The dimension took {result.seconds:.1f} s. "
        status = status or 3 * (result.evidence is not Evidence.PROVED)
    clock += f"The claims took {verified.seconds:.1f} s."
    claims = tuple(verified.verdicts)
    return Document(title(attention), text, body, clock, exit_status=status, claims=claims)


def title(architecture: Architecture) -> str:
    """The title of the report of an architecture.

    >>> title(SingleLayer(2, 1)), title(DeepNetwork((2, 2), (1,)))
    ('Lightning self-attention M(2,1,2)', 'Self-attention network M(2,2,1), t = 3')
    """
    words = {"layer": "Lightning self-attention", "network": "Self-attention network"}
    return f"{words.get(architecture.kind, 'Model')} {architecture.name}"


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many claims came out which way, in a sentence."""
    words = [f"{n} {status}" for status in Status if (n := sum(v.status is status for v in verdicts))]
    refuted = [CLAIMS[v.claim].name for v in verdicts if v.status is Status.REFUTED]
    tail = f" Refuted: {'; '.join(refuted)}." if refuted else ""
    return f"Of {len(verdicts)} claims: {', '.join(words)}.{tail}"


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


def _of_claims(verified: Report) -> Values:
    """The values of the sections that the reports of layers and of networks share."""
    refuted: dict[str, list[str]] = {}
    for verdict in verified.verdicts:
        if verdict.status is Status.REFUTED:
            refuted.setdefault(_sentence(verdict.witness), []).append(CLAIMS[verdict.claim].name)
    runs = sorted(
        verified.runs, key=lambda r: (r.problem.task, r.installation.engine.name, r.problem.characteristic)
    )
    headings = ("script", "engine", "field", "SHA-256")
    fingerprints = tuple(
        (Code(_files(r)[0].name), str(r.installation), r.problem.field_name, Code(r.script_sha256))
        for r in runs
    )
    return {
        "refuted": refuted,
        "claims": claims_table(verified.verdicts),
        "sources": _sources_table(verified.verdicts),
        "runs": tuple(file for run in runs for file in _files(run)),
        "fingerprints": Table("Scripts and their fingerprints", headings, fingerprints),
        "troubles": sorted(verified.troubles),
    }


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
        evidence = Word(str(v.evidence or ""))
        how = Lines((evidence, f"in part: {v.scope}")) if v.scope else evidence
        what = Lines((claim.statement, Math(claim.latex), *filter(None, (computed, why)), by))
        rows.append((Lines((claim.name, Code(claim.id))), Word(str(v.status)), how, what))
    headings = ("claim", "verdict", "evidence", "what it says, and what was found")
    return Table("Every claim, its verdict, and how it is known", headings, tuple(rows))


def _sources_table(verdicts: Sequence[Verdict]) -> Table:
    """Who found what, and for which claims."""
    claims: dict[Source, list[str]] = {}
    for verdict in verdicts:
        for source in verdict.sources:
            claims.setdefault(source, []).append(CLAIMS[verdict.claim].name)
    rows = []
    for source, names in claims.items():
        checked = f", checked by {source.checked_by}" if source.checked_by else ""
        rows.append((source.part, f"{source.found_by}{checked}", "; ".join(names)))
    return Table("Who found what", ("what", "found by", "for"), tuple(rows))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith(".") else f"{text}."


def _picture(name: str, figure: Drawable) -> Picture:
    """A figure as a picture of the document."""
    drawn = as_file(figure.drawing(), name[name.index(".") :])
    return Picture(name, drawn, figure.words, figure.caption)


def _files(run: Run) -> tuple[Attachment, Attachment]:
    """The script of a run, and what the engine printed."""
    engine, modulo = run.installation.engine, run.problem.characteristic
    name = f"scripts/{run.problem.task}-{engine.name}{f'-{modulo}' * bool(modulo)}"
    return (
        Attachment(f"{name}.{engine.suffix}", run.script, f"{run.problem.title}, {engine.title}"),
        Attachment(f"{name}.transcript.txt", run.transcript, f"what {run.installation} printed"),
    )


def _of_layer(layer: SingleLayer, verified: Report, engine: str, max_degree: int, pictures: bool) -> Values:
    """The values of the sections about strata, equations, Figure 1 and the certificate."""
    values = counterexample(layer, verified.verdicts)
    if layer.has_orbits:
        log.info("the strata")
        strata = strata_table(layer)
        values |= {"strata": strata.sheet().tables[0], "outside": strata.outside, "hasse": ()}
        if pictures:
            from agattn.reports.hasse import HasseDiagram

            values["hasse"] = _picture("strata.svg", HasseDiagram(layer))
    log.info("equations")
    try:
        ideal = compute_ideal(layer, max_degree)
        many = sum(piece.minimal_generators for piece in ideal.degrees)
        tables = (ideal.sheet().tables[0], *ideal.generators_tables())
        values |= {"max_degree": max_degree, "equations": tables, "many": many, "file": ()}
        if 0 < many <= _MOST_EQUATIONS:
            log.info("writing out all equations")
            what = f"all {many} minimal generators, for Macaulay2"
            values["file"] = Attachment("equations.m2", export(ideal, "macaulay2"), what)
    except AgattnError as error:
        values["equations"] = str(error)
    if pictures:
        log.info("Figure 1")
        values["picture"] = _figure_1(layer, engine)
    if layer.has_orbits:
        log.info("the certificate")
        values["check"] = Table("To check it", ("command",), ((Code("agattn check certificate.json"),),))
        try:
            text = dump(certify(layer, (), verified.verdicts)) + "\n"
            values["certificate"] = Attachment("certificate.json", text, "the certificate")
        except AgattnError as error:
            values["certificate"] = str(error)
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
    page = Attachment("figure1.html", figure.page(), "the same to be turned with the mouse", shown=False)
    files = () if figure.run is None else _files(figure.run)
    return (_picture("figure1.png", figure), page, *files)


def _unrolled(network: DeepNetwork, pictures: bool) -> Values:
    """Equation 12 and Figure 2, for a plain network of a few layers."""
    plain_layers = network.is_lightning and set(network.heads_by_layer) == {1} and not network.skip
    if not plain_layers or not 2 <= network.depth <= _MOST_LAYERS_DRAWN:
        return {}
    figure = Figure2(network.depth)
    return {"product": figure.lines[0], "tree": _picture("tree.svg", figure) if pictures else ()}


def _dimension_in_words(result: Dimension, size: str = "") -> str:
    if result.evidence is None:
        return f"Dimension between {result.lower_bound} and {result.upper_bound}{size}, proved."
    bounds = f"; proved between {result.lower_bound} and {result.upper_bound}"
    is_proved = result.evidence is Evidence.PROVED
    return f"Dimension {result.dimension}{size}, {result.evidence}{'' if is_proved else bounds}."


def _by_paper(result: DimensionByPaper) -> str:
    if (paper := result.paper) is None:
        return ""
    words = f" {paper.equation.capitalize()} of HMK gives"
    if paper.failing:
        return f"{words} {paper.value}, but its hypotheses do not hold: {'; '.join(paper.failing)}."
    return f"{words} {paper.value if paper.defect else 'the same'}."


def of_model(model: Architecture, max_degree: int, command: str) -> Document:
    """Everything that is found out about a polynomial model that is no layer or network of attention.

    The exit status is 3 if the dimension is not proved.

    Raises:
        InputError: if the model is normalized.
    """
    if model.degree is None:
        raise InputError(f"{model} is normalized; only polynomial models have a report")
    missing: list[str] = []
    unless_large = partial(_unless_large, missing)
    log.info("the dimension")
    result = dimension(model)
    coordinates = unless_large("the coordinates", lambda: coefficient_map(model, limit=_MOST_TERMS))
    ideal = None if coordinates is None else _equations(coordinates, max_degree, result, missing)
    symmetries = unless_large("the symmetries", lambda: linear_symmetries(model))
    points = unless_large("the kinds of points", lambda: singularities(model))
    general = kinds(model)[0].weights if points is None else points.kinds[0].preimages[0]
    fiber = unless_large("the fiber", lambda: network_fiber(model, general))
    coefficient = unless_large("the learning coefficient", lambda: bracket(model, general))
    if points is not None:
        result = points.dimension
        missing += _open_questions(points)
    if result.evidence is not Evidence.PROVED:
        missing.insert(0, f"The dimension: between {result.lower_bound} and {result.upper_bound}.")
    size = "" if coordinates is None else f" in {len(coordinates.coordinates)} coordinates"
    named = Table("", (), (("model", str(model)),))
    described = model.sheet().tables[0] if isinstance(model, Described) else named
    weights = tuple((name, str(general[name].tolist())) for name in model.shapes)
    body = sections(
        "model",
        architecture=replace(described, caption="The model"),
        coordinates=coordinates,
        written=() if coordinates is None else _coordinates(coordinates),
        dimension=result,
        symmetries=symmetries,
        equations=ideal,
        points=points,
        fiber=fiber,
        weights=Table("The weights", ("array", "value"), weights),
        coefficient=None if coefficient is None else replace(coefficient.sheet().tables[0], headings=_BOUNDS),
        missing=missing,
        versions=versions(command),
    )
    text = _dimension_in_words(result, size) + ("" if points is None else f" Of {points.counted}.")
    status = 0 if result.evidence is Evidence.PROVED else 3
    clock = f"The dimension took {result.seconds:.1f} s."
    return Document(title(model), text, body, clock, exit_status=status)


def _unless_large(missing: list[str], what: str, compute: Callable[[], T]) -> T | None:
    """What is computed; ``None``, and a line that says why, if it is too large."""
    log.info(what)
    try:
        return compute()
    except TooLargeError as error:
        missing.append(f"{what[0].upper()}{what[1:]}: {error}.")
        return None


def _equations(
    coordinates: CoefficientMap, max_degree: int, result: Dimension, missing: list[str]
) -> ModelIdeal | None:
    """The equations to the last degree whose monomials are few enough; ``None`` if no degree is."""
    N = len(coordinates.coordinates) + 1
    degrees = range(1, max_degree + 1)
    degree = max((n for n in degrees if limits().force or comb(N + n - 1, n) <= _MOST_MONOMIALS), default=0)
    if degree < max_degree:
        missing.append(
            f"Equations of degree {degree + 1}: there are more than {_MOST_MONOMIALS} monomials, which"
            " is the limit of reports; agattn ideal goes further."
        )
    if not degree:
        return None
    proved = result.lower_bound if result.evidence is Evidence.PROVED else None
    compute = partial(compute_model_ideal, coordinates, degree, dimension=proved)
    return _unless_large(missing, "the equations", compute)


def _open_questions(points: Singularities) -> list[str]:
    """What was not decided about the points of a model."""
    lines = [
        f"Whether M̄ is singular at {point.name}: no more tangent vectors than its dimension were found, "
        f"and the differential has rank {point.differential_rank} there."
        for point in points.kinds
        if point.singular == "undecided"
    ]
    if points.closed is None:
        lines.append("Whether M is closed: no theorem says so for models in general.")
    return lines


def _coordinates(coordinates: CoefficientMap) -> Table:
    """The first coordinates as polynomials in the parameters."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (str(name), Math(f.latex(), is_sum=True) if len(f) <= _LONGEST else f"{len(f)} terms")
        for name, f in zip(coordinates.coordinates[:_MOST_SHOWN], coordinates.polynomials, strict=False)
    )
    more = len(coordinates.coordinates) - len(rows)
    caption = "The coordinates, in the parameters" + (f"; {more} more are left out" if more else "")
    return Table(caption, ("coordinate", "polynomial"), rows)
