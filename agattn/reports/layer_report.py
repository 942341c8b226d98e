"""The report of one layer: its claims with their evidence, its strata, equations, figures and scripts.

>>> from agattn import SingleLayer
>>> from agattn.verification.verify import Settings
>>> document, verified = layer_report(SingleLayer(2, 1), Settings(engine="native"), pictures=False)
>>> document.title
'Lightning self-attention M(2,1,2)'
>>> [section.title for section in document.sections][:4]
['What was asked', 'Claims', 'Strata', 'Equations']
"""

from __future__ import annotations

import platform
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import flint

from agattn._version import __version__
from agattn.architectures import SingleLayer
from agattn.claims.claim import Claim
from agattn.claims.single_layer import CLAIMS
from agattn.claims.strata_table import StrataTable, strata_table
from agattn.display.table import Cell, Code, Lines, Math, Table, Word
from agattn.engines.run import Run
from agattn.errors import AgattnError, InputError
from agattn.evidence import Status, Verdict
from agattn.geometry.ideal.ideal import Ideal, compute_ideal
from agattn.reports.counterexample import counterexample
from agattn.reports.document import Attachment, Block, Document, Picture, Section, Text
from agattn.verification.certificate import dump, make_certificate
from agattn.verification.verify import Report, Settings, verify

_LONGEST_EQUATION = 12
_LONGEST_LISTING = 20_000

PAPER = (
    "HMK is Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention: Identifiability and Dimension, "
    "arXiv 2408.17221, version 2, whose statements these are."
)
EVIDENCE = (
    "Evidence: proved means exact over ℚ or ℤ, or two exact inequalities that meet; modular means exact over "
    "a finite field at random points; numerical means floating point. A verdict is undecided where time or "
    "memory ran out, and inapplicable where the claim does not speak about this architecture."
)


def layer_report(
    layer: SingleLayer,
    settings: Settings,
    *,
    max_degree: int = 4,
    pictures: bool = True,
    command: str = "",
    progress: Callable[[str], None] = lambda message: None,
) -> tuple[Document, Report]:
    """Verify all claims about a layer and write everything down.

    Args:
        layer: the architecture.
        settings: how to verify.
        max_degree: of equations.
        pictures: whether to draw figures, which needs matplotlib.
        command: the command line that makes this report.
        progress: called with a line about each step.
    """
    verified = verify(layer, (), settings, progress)
    sections = [
        _question(layer, command),
        Section("Claims", tuple(claims_blocks(verified.verdicts, CLAIMS))),
    ]
    sections += counterexample(layer, verified.verdicts)
    if layer.t >= 2:
        progress("the strata")
        sections.append(_strata(layer, pictures))
    progress("equations")
    sections.append(_equations(layer, max_degree, settings))
    if pictures:
        progress("Figure 1")
        sections += _figure_1(layer, settings)
    sections += scripts(verified)
    if layer.t >= 2:
        progress("the certificate")
        sections.append(_certificate(layer, verified))
    sections.append(provenance(settings, command, sources(verified.verdicts)))
    document = Document(
        title(layer),
        summary(verified.verdicts),
        tuple(sections),
        clock=f"The claims took {verified.seconds:.1f} s.",
    )
    return document, verified


def title(layer: SingleLayer) -> str:
    """The title of the report of a layer.

    >>> title(SingleLayer(2, 1))
    'Lightning self-attention M(2,1,2)'
    """
    return f"Lightning self-attention {str(layer).split(':')[0]}"


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many claims came out which way, in a sentence."""
    counts = {j: sum(v.status is j for v in verdicts) for j in Status}
    words = [f"{n} {status}" for status, n in counts.items() if n]
    refuted = [v.claim for v in verdicts if v.status is Status.REFUTED]
    tail = f" Refuted: {', '.join(refuted)}." if refuted else ""
    return f"Of {len(verdicts)} claims: {', '.join(words)}.{tail}"


def _question(layer: SingleLayer, command: str) -> Section:
    blocks: list[Block] = [
        Text(
            "A layer of lightning self-attention maps a matrix X, whose t columns are tokens, to V X Xᵀ A X "
            "with A = KᵀQ. The neuromanifold M is the set of all these functions; M̄ is its Zariski closure. "
            "The question: which statements about M are true for this architecture, and how is that known?"
        ),
        Math(r"X \mapsto V X X^{\top} A X, \quad A = K^{\top} Q"),
        Math(
            rf"X \in \mathbb{{R}}^{{{layer.d} \times t}}, "
            rf"\ K, Q \in \mathbb{{R}}^{{{layer.a} \times {layer.d}}}, "
            rf"\ V \in \mathbb{{R}}^{{{layer.d_out} \times {layer.d}}}"
        ),
        Table(
            "The architecture",
            ("quantity", "symbol", "value"),
            (
                ("embedding dimension", Math("d"), str(layer.d)),
                ("output dimension", Math("d'"), str(layer.d_out)),
                ("attention dimension", Math("a"), str(layer.a)),
                ("tokens", Math("t"), "1" if layer.t == 1 else f"{layer.t} (every t ≥ 2 gives the same)"),
                ("coordinates of the ambient space", Math("N"), str(layer.ambient_dimension)),
                ("dimension by HMK, Corollary 3.3", Math(r"\dim \mathcal{M}"), str(layer.expected_dimension)),
            ),
        ),
    ]
    return Section("What was asked", tuple(blocks))


def claims_blocks(verdicts: Sequence[Verdict], claims: Mapping[str, Claim[Any]]) -> list[Block]:
    """The refutations first, then all claims in a table."""
    blocks: list[Block] = []
    grouped: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.status is Status.REFUTED:
            grouped.setdefault(verdict.witness, []).append(verdict.claim)
    blocks += [
        Text(f"Refuted: {', '.join(ids)}: {_sentence(why)}", note=True) for why, ids in grouped.items()
    ]
    rows: list[tuple[Cell, ...]] = []
    for v in verdicts:
        claim = claims.get(v.claim)
        statement: Cell = v.claim
        if claim is not None:
            statement = Lines((claim.statement, Math(claim.latex)))
        computed = in_words(v.computed)
        if v.status is Status.REFUTED:
            computed += f" (predicted: {in_words(v.predicted)})"
        refuted = v.status is Status.REFUTED
        why = "The witness stands above." if refuted else _sentence(v.witness)
        by = f"Found by {v.engine.replace('native', 'exact linear algebra')}."
        finding = Lines(tuple(filter(None, (computed, why, by))))
        word = Word(str(v.evidence or ""))
        known: Cell = Lines((word, f"in part: {v.scope}")) if v.scope else word
        source = v.claim if claim is None else Lines((v.claim, claim.source))
        rows.append((source, statement, Word(str(v.status)), known, finding))
    blocks += [
        Table(
            "Every claim, its verdict, and how it is known",
            ("claim", "statement", "verdict", "evidence", "what was found"),
            tuple(rows),
        ),
        Text(EVIDENCE),
        Text(PAPER),
    ]
    return blocks


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


def _strata(layer: SingleLayer, pictures: bool) -> Section:
    table = strata_table(layer)
    cells = [(row.cells(), row.local_type.description) for row in table.rows]
    rows = tuple((*row.values(), Lines((near,))) for row, near in cells)
    blocks: list[Block] = [
        Text(
            "Base changes of outputs, columns of A and the inner index act on M with finitely many orbits, "
            "named by (rk V, rk A, rk [V; Aᵀ]). What is proved at one point of an orbit holds at all of "
            "them, so this table decides every point of M."
        ),
        Text(
            "Preimages are counted over ℂ, up to (sA, V/s); a stratum is critical if the differential of the "
            "parametrization has more than this rescaling in its kernel. The tangent space is that of "
            "Zariski: "
            "a stratum is singular where its dimension exceeds dim M̄. Nearby: what M̄ looks like there."
        ),
        Table(f"Strata of M, of dimension {table.dimension} (proved)", (*cells[0][0], "nearby"), rows),
    ]
    outside = table.outside
    if outside is not None:
        blocks.append(Text(f"Outside M: {outside['description']}. Dimension {outside['dimension']}."))
    if pictures:
        with tempfile.TemporaryDirectory(prefix="agattn-") as folder:
            from agattn.reports.hasse import draw_hasse_diagram

            path = Path(folder, "strata.svg")
            draw_hasse_diagram(layer, path)
            blocks.append(
                Picture("strata.svg", path.read_bytes(), _hasse_in_words(table),
                        "The closure order of the strata. Red: singular; blue: smooth; thick outline: "
                        "boundary of M; dotted outline: in the real Zariski closure, not in M.")
            )  # fmt: skip
    return Section("Strata", tuple(blocks))


def _hasse_in_words(table: StrataTable) -> str:
    """The Hasse diagram for those who cannot see it."""
    parts = [f"{row.stratum} above {', '.join(map(str, row.below))}" for row in table.rows if row.below]
    return f"Hasse diagram of the closure order: {'; '.join(parts)}."


def _equations(layer: SingleLayer, max_degree: int, settings: Settings) -> Section:
    try:
        ideal = compute_ideal(layer, max_degree, seed=settings.seed, force=settings.force)
        generators = ideal.generators
    except AgattnError as error:
        return Section("Equations", (Text(f"Not computed: {error}."),))
    rows = tuple(
        (
            str(piece.degree), str(piece.ideal_dimension), str(piece.hilbert_function),
            str(piece.minimal_generators),
            Lines(tuple(_module(m.shapes, m.minimal_generators, m.dimension) for m in piece.modules or ()
                        if m.minimal_generators)),
        )
        for piece in ideal.degrees
    )  # fmt: skip
    blocks: list[Block] = [
        Text(
            f"Homogeneous equations of M̄ to degree {max_degree}: how many are linearly independent, how "
            "many of "
            "them do not follow from those of lower degree (minimal generators), and how many independent "
            "functions are left on M̄ (Hilbert function). Each degree is a sum of modules of "
            "GL(d') × GL(d) × GL(d), named by three partitions."
            if layer.t >= 2
            else f"Homogeneous equations of M̄ to degree {max_degree}; at t = 1 the group is GL(d') × GL(d)."
        ),
        Table(
            f"The ideal by degree ({ideal.degrees[0].evidence})",
            (
                "degree",
                "equations",
                "Hilbert function",
                "minimal generators",
                "modules of minimal generators",
            ),
            rows,
        ),
    ]
    if generators:
        blocks += [
            Table(
                "One equation of each module: its highest weight vector",
                ("degree", "dimension of the module", "what it says", "equation"),
                tuple(_generator(ideal, n) for n in range(len(generators))),
            )
        ]
    return Section("Equations", tuple(blocks))


def _module(shapes: tuple[tuple[int, ...], ...], multiplicity: int, dimension: int) -> Math:
    factors = r" \otimes ".join(f"S_{{({','.join(map(str, part))})}}" for part in shapes)
    times = f"{multiplicity} \\cdot " if multiplicity > 1 else ""
    return Math(rf"{times}{factors} \quad (\dim {dimension})")


def _generator(ideal: Ideal, n: int) -> tuple[Cell, ...]:
    module = ideal.generators[n]
    polynomial = module.highest.polynomial()
    equation: Cell = f"{len(polynomial)} terms"
    if len(polynomial) <= _LONGEST_EQUATION:
        equation = Math(short_latex(polynomial.latex()), is_sum=True)
    return str(module.degree), str(module.dimension), module.name, equation


def short_latex(latex: str) -> str:
    """Coordinates with one-digit indices without most commas.

    >>> short_latex("y_{1,1,1,2}^{2} y_{1,2,2,2}")
    'y_{11,12}^{2} y_{12,22}'
    """
    return re.sub(r"y_\{(\d),(\d),(\d),(\d)\}", r"y_{\1\2,\3\4}", latex)


def _figure_1(layer: SingleLayer, settings: Settings) -> list[Section]:
    if layer.alpha < 2 or layer.t == 1:
        return [Section("A picture", (Text(_why_no_picture(layer)),))]
    from agattn.reports.figure1 import compute_figure_1

    engine = settings.engine if settings.engine != "all" else "auto"
    try:
        figure = compute_figure_1(layer, engine=engine, limits=settings.limits)
    except AgattnError as error:
        return [Section("A picture", (Text(f"Not drawn: {error}."),))]
    with tempfile.TemporaryDirectory(prefix="agattn-") as folder:
        path = Path(folder, "figure1.png")
        figure.save(path)
        picture = path.read_bytes()
    words = figure.words
    blocks: list[Block] = [
        Text(
            "A three-dimensional slice of M̄: all its points whose first two forms are these, u and v being "
            "u_1 and u_2, and whose other coordinates are 0. Both forms are free of all other variables, and "
            "so are their factors; hence every layer with a, d ≥ 2 has the same slice, Figure 1 of HMK."
        ),
        Math(r"y_{1,1} = u^2 + w v^2, \quad y_{1,2} = x u v + y v^2"),
        Picture("figure1.png", picture, words, f"{words} Computed by {figure.source}; {figure.evidence}."),
    ]
    try:
        blocks.append(
            Attachment("figure1.html", figure.page(), "the same to be turned with the mouse", False)
        )
    except InputError as error:
        blocks.append(Text(f"No interactive figure: {error}."))
    if figure.run is not None:
        blocks += _script_and_transcript(figure.run)
    return [Section("A picture", tuple(blocks))]


def _why_no_picture(layer: SingleLayer) -> str:
    """Why Figure 1 cannot be drawn for a layer with t = 1, d = 1 or a = 1."""
    if layer.t == 1:
        return (
            "None: Figure 1 of HMK is a slice in the coordinates y_{c,b,{i,k}}, which are independent for "
            "two or more tokens only."
        )
    if layer.d == 1:
        return (
            f"None: for d = 1 the layer computes the functions V A x³, and M is all of the linear space of "
            f"dimension d' = {layer.d_out}; it has no singular points to show."
        )
    return (
        "None: the slice of Figure 1 of HMK contains no surface for a = 1. Its points have "
        "y_{1,1} = u² + w v² ≠ 0 and y_{1,2} = x uv + y v²; if A has rank 1 its second column is a "
        "multiple of the first, hence y_{1,2} of y_{1,1}, and so x = y = 0: a line."
    )


def scripts(verified: Report) -> list[Section]:
    """Every script that was run, with what the engine printed; nothing if none was."""
    runs = sorted(
        verified.runs, key=lambda r: (r.problem.task, r.installation.engine.name, r.problem.characteristic)
    )
    if not runs and not verified.troubles:
        return []
    blocks: list[Block] = [
        Text(
            "Every script stands alone: save it, read it, change it, run it. Beneath each is what the engine "
            "printed."
        )
    ]
    rows = []
    for run in runs:
        rows.append((Code(_script_name(run)), str(run.installation), run.problem.field_name,
                     Code(run.script_sha256)))  # fmt: skip
        blocks += _script_and_transcript(run)
    if rows:
        blocks.insert(1, Table("Scripts and their fingerprints", ("script", "engine", "field", "SHA-256"),
                               tuple(rows)))  # fmt: skip
    blocks += [Text(f"Trouble: {trouble}") for trouble in sorted(verified.troubles)]
    return [Section("Scripts and transcripts", tuple(blocks))]


def _script_name(run: Run) -> str:
    engine = run.installation.engine
    field = f"-{run.problem.characteristic}" if run.problem.characteristic else ""
    return f"scripts/{run.problem.task}-{engine.name}{field}.{engine.suffix}"


def _script_and_transcript(run: Run) -> list[Block]:
    name = _script_name(run)
    transcript = f"{name.rpartition('.')[0]}.transcript.txt"
    return [
        Attachment(path, text, description, shown=len(text) <= _LONGEST_LISTING)
        for path, text, description in (
            (name, run.script, f"{run.problem.title}, {run.installation.engine.title}"),
            (transcript, run.transcript, f"what {run.installation} printed"),
        )
    ]


def _certificate(layer: SingleLayer, verified: Report) -> Section:
    try:
        text = dump(make_certificate(layer, (), verified.verdicts)) + "\n"
    except AgattnError as error:
        return Section("Certificate", (Text(f"None: {error}."),))
    return Section(
        "Certificate",
        (
            Text(
                "The certificate holds witnesses for the verdicts. It is checked with integers alone, by a "
                "program that uses no engine and none of the code that found them."
            ),
            Table("To check it", ("command",), ((Code("agattn check certificate.json"),),)),
            Attachment("certificate.json", text, "the certificate", shown=len(text) <= _LONGEST_LISTING),
        ),
    )


def sources(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """The programs behind some verdicts, each once."""
    names = {name.split(" (because")[0] for v in verdicts for name in v.engine.split(", ")}
    return tuple(sorted(name for name in names if re.fullmatch(r"[a-z0-9]+ [0-9.]+", name)))


def provenance(settings: Settings, command: str, engines: Sequence[str]) -> Section:
    """How to make the same report again."""
    rows: list[tuple[Cell, ...]] = [
        ("command", Code(command or "agattn report")),
        ("seed", str(settings.seed)),
        ("agattn", __version__),
        ("Python", platform.python_version()),
        ("python-flint", flint.__version__),
        *((name.split(" ")[0], name.split(" ")[1]) for name in engines),
    ]
    return Section(
        "How to reproduce it",
        (
            Text(
                "The same command with the same versions writes the same files, byte for byte, but for times."
            ),
            Table("Versions, seed and command", ("what", "value"), tuple(rows)),
        ),
    )
