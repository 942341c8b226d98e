"""How each type of result is shown: its tables.

>>> from agattn import SingleLayer
>>> [table] = tables(SingleLayer(3, 2, 2))
>>> [(row[0], row[2]) for row in table.rows][-2:]
[('coordinates of the ambient space', 36), ('dimension by HMK, Corollary 3.3', 13)]
"""

from __future__ import annotations

from functools import singledispatch

from agattn.architectures import DeepNetwork, Network, PolynomialMap, SingleLayer
from agattn.engines.run import Run
from agattn.evidence import Evidence, Verdict, plain, weakest
from agattn.experiments.training.training import Training
from agattn.geometry.critical_points.counts import CriticalPoints
from agattn.geometry.critical_points.real_points import RealCriticalPoint, RealPart
from agattn.geometry.critical_points.trained import NearbyCriticalPoint, NearbyCriticalPoints
from agattn.geometry.singularities.brackets import Bracket
from agattn.geometry.singularities.learning_coefficients import LearningCoefficient, LearningCoefficients
from agattn.geometry.singularities.network_fibers import Comparison, NetworkFiber
from agattn.geometry.singularities.network_points import PointFacts, Singularities
from agattn.heads.head_geometry import HeadGeometry, HeadTable
from agattn.sheet.data import Cell, Lines, Math, Table, Wide, Word, matrix
from agattn.sheet.result import Result
from agattn.verification.certificate import Certificate, Checked
from agattn.verification.verify import Report

_MOST_MODULES = 20  # of which a notebook shows an equation
_YES = {True: "yes", False: "no", None: "–"}


@singledispatch
def tables(value: object) -> list[Table]:
    """The tables that show a value, the most important one first.

    Raises:
        TypeError: if none is known for values of its type.
    """
    if isinstance(value, Result):
        return list(value.sheet().tables)
    raise TypeError(f"a {type(value).__name__} has no table")


@tables.register
def _layer(layer: SingleLayer) -> list[Table]:
    d, d_out, a = layer.d, layer.d_out, layer.a
    tokens = "t ≥ 2" if layer.has_orbits else "t = 1"
    name = (
        rf"\mathcal{{M}}({d},{d_out},{a}) \subset \mathbb{{R}}^{{{layer.ambient_dimension}}}, "
        rf"\quad \dim = {layer.expected_dimension}, \quad {tokens.replace('≥', chr(92) + 'geq')}"
    )
    shapes = (("X", d, "t"), ("K, Q", a, d), ("V", d_out, d))
    sizes = (Math(rf"{name} \in \mathbb{{R}}^{{{m} \times {n}}}") for name, m, n in shapes)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("map", Math(r"\varphi"), Math(r"X \mapsto V X X^{\top} A X, \quad A = K^{\top} Q")),
        ("sizes", "", Lines(tuple(sizes))),
        ("embedding dimension", Math("d"), d),
        ("output dimension", Math("d'"), d_out),
        ("attention dimension", Math("a"), a),
        ("tokens", Math("t"), f"{layer.t} (every t ≥ 2 gives the same)" if layer.has_orbits else 1),
        ("coordinates of the ambient space", Math("N"), layer.ambient_dimension),
        ("dimension by HMK, Corollary 3.3", Math(r"\dim \mathcal{M}"), layer.expected_dimension),
    )
    return [Table(Math(name), ("quantity", "symbol", "value"), rows)]


@tables.register
def _network(network: DeepNetwork) -> list[Table]:
    name, _, rest = str(network).partition("), ")
    words = [
        part.replace("rank V ≤", r"\operatorname{rk} V \leq") if " = " in part or "≤" in part
        else rf"\text{{{part}}}"
        for part in rest.split(", ")
    ]  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = (
        ("widths", Math(r"d_0, \ldots, d_l"), ", ".join(map(str, network.dims))),
        ("attention dimensions", Math(r"a_1, \ldots, a_l"), ", ".join(map(str, network.ranks))),
        ("heads in each layer", Math("h"), ", ".join(map(str, network.heads_by_layer))),
        ("skip connections", "", "yes" if network.skip else "no"),
        ("normalization", "", network.normalization),
        ("tokens", Math("t"), network.t),
        ("parameters", "", network.parameters),
    )
    return [
        Table(Math(rf"\mathcal{{M}}{name[1:]}), \ {', '.join(words)}"), ("quantity", "symbol", "value"), rows)
    ]


@tables.register
def _composition(network: Network) -> list[Table]:
    shape, rows = network.input_shape, list[tuple[Cell, ...]]()
    for i, layer in enumerate(network.layers, 1):
        alone = Network((layer,), *shape)
        shape = alone.output_shape
        rows.append((i, str(layer), alone.parameters, " × ".join(map(str, shape))))
    size = " × ".join(map(str, network.input_shape))
    title = f"Network for inputs of size {size}, {network.parameters} parameters"
    return [Table(title, ("layer", "", "parameters", "output"), tuple(rows))]


@tables.register
def _map(given: PolynomialMap) -> list[Table]:
    arrays = given.shapes | ({"X": given.inputs} if given.inputs else {})
    rows = tuple((name, " × ".join(map(str, shape))) for name, shape in arrays.items())
    title = f"{given.function_name}, of degree at most {given.degree}"
    return [Table(title, ("array", "size"), (*rows, ("output", " × ".join(map(str, given.output_shape)))))]


@tables.register
def _verdict(verdict: Verdict) -> list[Table]:
    known = f" ({verdict.known})" if verdict.evidence else ""
    rows: tuple[tuple[Cell, ...], ...] = (
        ("claim", verdict.claim),
        ("verdict", f"{verdict.status}{known}"),
        ("computed", "" if verdict.computed is None else str(plain(verdict.computed))),
        (Wide("why"), verdict.witness),
        (Wide("engine"), verdict.engine),
    )
    return [Table("", (), rows)]


@tables.register
def _report(report: Report) -> list[Table]:
    rows = tuple((v.claim, str(v.status), v.known, v.witness) for v in report.verdicts)
    return [Table(str(report.layer), ("claim", "verdict", "evidence", Wide("why")), rows)]


@tables.register
def _training(found: Training) -> list[Table]:
    rows = tuple(
        (
            run["seed"], run["outcome"], f"{run['loss']:.3g}", f"{run['norm']:.3g}",
            "–" if run["stratum"] is None else "({},{},{})".format(*run["stratum"]),
            "–" if run["hessian_zeros"] is None else run["hessian_zeros"], f"{run['drift']:.1e}",
        )
        for run in found
    )  # fmt: skip
    columns = ("seed", "outcome", "loss", "‖θ‖", "stratum", "Hessian zeros", "drift")
    return [Table(str(found), columns, rows)]


@tables.register
def _network_fiber(fiber: NetworkFiber) -> list[Table]:
    caption = (
        f"Fiber of {fiber.weights.architecture} ({fiber.case}): dimension {fiber.bounds} of "
        f"{fiber.parameters} at the weights ({fiber.dimension_evidence}), "
        f"{fiber.orbit_dimension} by the symmetries"
    )
    rows = tuple(
        (c.name, c.dimension, _YES[c.through], ", ".join(map(str, c.directions)), ", ".join(c.free),
         c.parametrization)
        for c in fiber.components
    )  # fmt: skip
    headings = ("component", "dimension ≥", "through", "directions", "free", Wide("parametrization"))
    return [Table(caption, headings, rows)]


@tables.register
def _comparison(found: Comparison) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        ("the two functions are", "equal" if found.equal else "different"),
        ("evidence", Word(str(found.evidence))),
    ]
    if found.equal and found.symmetry is None:
        rows.append(("connected by", "no known symmetry that was found"))
    rows += [("connected by", str(step)) for step in found.symmetry or ()]
    return [Table("Two weights of one architecture", (), tuple(rows))]


@tables.register
def _heads(found: HeadTable) -> list[Table]:
    names = ("layer", "head", "stratum", "evidence", "sing.", "bound.", "distance", "sr A", "sr V")
    rows = tuple((layer, head, *_head(one)) for (layer, head), one in zip(found.places, found, strict=True))
    caption = (
        "Heads on M(d, d', a): strata (rk V, rk A, rk [V; Aᵀ]), and relative distances to singular points"
    )
    return [Table(caption, names, rows)]


@tables.register
def _head_table(head: HeadGeometry) -> list[Table]:
    return _heads(HeadTable((head,), ((0, 0),)))


def _head(head: HeadGeometry) -> tuple[Cell, ...]:
    far = "–" if head.distance is None else f"{head.distance:.3g}"
    if head.distance_upper != head.distance:
        far += f" to {head.distance_upper:.3g}"
    return (
        f"({head.r_v},{head.r_a},{head.r})", str(head.evidence), _YES[head.singular], _YES[head.boundary],
        far, f"{head.stable_rank_a:.3g}", f"{head.stable_rank_v:.3g}",
    )  # fmt: skip


@tables.register
def _run(done: Run) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []
    for name, value in done.answer.as_json().items():
        lines = value if isinstance(value, list) else [value]
        shown = Lines(tuple(map(str, lines[:_MOST_MODULES])))
        rows.append((name, shown if len(lines) > 1 else str(lines[0]) if lines else "none"))
        if len(lines) > _MOST_MODULES:
            rows.append(("", f"and {len(lines) - _MOST_MODULES} more"))
    caption = (
        f"{done.problem.title}, over {done.problem.field_name}, by {done.installation} ({done.evidence})"
    )
    return [Table(caption, (), tuple(rows))]


@tables.register
def _certificate(document: Certificate) -> list[Table]:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            claim["id"],
            Word(claim.get("verdict", "not certified")),
            claim.get("reason") or " ".join(str(tuple(s)).replace(" ", "") for s in claim["fails_at"]),
        )
        for claim in document["claims"]
    )
    return [Table(str(document), ("claim", "verdict", Wide("fails at, or why not")), rows)]


@tables.register
def _checked(result: Checked) -> list[Table]:
    words = {True: "valid", False: "not valid", None: "not certified"}
    rows = tuple((c["id"], Word(words[c["valid"]]), c["reason"]) for c in result["claims"])
    outcome = "The certificate is valid" if result["valid"] else f"Not valid: {result['flaw']}"
    about = f", about {result['layer']}" if result["layer"] else ""
    return [Table(f"{outcome}{about}", ("claim", "result", Wide("what it says")), rows)]


@tables.register
def _coefficient(found: LearningCoefficient) -> list[Table]:
    rows: tuple[tuple[Cell, ...], ...] = tuple((str(term.value), term.reason) for term in found.terms)
    return [Table(str(found), ("part of λ", Wide("why")), rows)]


@tables.register
def _bracket(found: Bracket) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        (Math(r"\lambda \geq"), str(found.lower), Word("proved")),
        (Math(r"\lambda \leq"), str(found.upper), Word(str(found.evidence))),
        (Math("m"), found.multiplicity or "not known", ""),
        *(("", Wide(reason), "") for reason in found.reasons),
    ]
    return [Table(f"Learning coefficient of {found.architecture}: {found}", (), tuple(rows))]


@tables.register
def _coefficients(found: LearningCoefficients) -> list[Table]:
    least: tuple[tuple[Cell, ...], ...] = tuple(
        (
            str(truth), str(p.coefficient.value), p.coefficient.multiplicity, str(p.orbit), p.rank_k or 0,
            p.rank_q or 0,
        )
        for truth, p in found.least
    )  # fmt: skip
    headings = ("function", "λ", "m", "attained at", "rk K", "rk Q")
    caption = f"Least learning coefficient of each function of {found.layer}"
    return [Table(caption, headings, least)]


@tables.register
def _critical_points(found: CriticalPoints) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []
    for n, (stratum, part) in enumerate(found.found.items()):
        number = part.count if part.count is not None else f"∞, of degree {part.degree}"
        rows.append((str(stratum) if n else "smooth part", part.dimension, number))
    title = f"Critical points of the loss on {found.layer.name}: {found.data}"
    counted = Table(title, ("stratum", "dimension", "number"), tuple(rows))
    if not any(part.points for part in found.real):
        return [counted]
    real = tuple(_real_row(point) for part in found.real for point in part.points)
    return [counted, Table("Real ones", _REAL, real)]


_REAL = ("stratum", "loss", "kind", "index", "in M", "evidence")


def _real_row(point: RealCriticalPoint) -> tuple[Cell, ...]:
    return (
        "smooth part" if point.regular else str(point.stratum),
        point.loss.str(10, radius=False),
        point.kind,
        "-" if point.index is None else point.index,
        "yes" if point.in_m else "no",
        Word(str(point.evidence)),
    )


@tables.register
def _real_point(point: RealCriticalPoint) -> list[Table]:
    return [Table("A real critical point", _REAL, (_real_row(point),))]


@tables.register
def _real_part(part: RealPart) -> list[Table]:
    return [Table(part.summary, _REAL, tuple(map(_real_row, part.points)))]


@tables.register
def _nearby(found: NearbyCriticalPoints) -> list[Table]:
    title = f"Critical points near weights of {found.loss.layer.name}, where the loss is {found.value:.10g}"
    return [Table(title, _NEAR, tuple(map(_near_row, found)))]


@tables.register
def _near(near: NearbyCriticalPoint) -> list[Table]:
    return [Table("A critical point near weights", _NEAR, (_near_row(near),))]


_NEAR = ("rank of A", "distance", "loss", "stratum", "index", "rank rises", "evidence")


def _near_row(near: NearbyCriticalPoint) -> tuple[Cell, ...]:
    return (
        near.rank,
        f"{near.distance:.2g}",
        near.point.loss.str(10, radius=False),
        str(near.point.stratum),
        "-" if near.index is None else near.index,
        near.escapes,
        Word(str(near.evidence)),
    )


@tables.register
def _kinds(found: Singularities) -> list[Table]:
    generic = found.network.parameters - found.dimension.dimension
    rows = tuple(
        (
            f"{point.name} ({_marked('f = 0', point.zero_evidence, point)})" if point.is_zero else point.name,
            _marked(point.differential_rank, point.rank_evidence, point),
            _marked(_range(*(n - generic for n in point.fiber)), point.fiber_evidence, point),
            _marked(_between(point), point.tangent_evidence, point),
            f"{point.singular}{f' ({point.argument})' * (point.singular == 'singular')}",
            Word(str(point.evidence)),
        )
        for point in found.kinds
    )
    tangent = "dim T ≥" if all(point.tangent_upper is None for point in found.kinds) else "dim T"
    headings = (Wide("kind of weights"), "rk dφ", "fiber", tangent, Wide("their function f"), "evidence")
    return [Table(str(found), headings, rows)]


def _marked(shown: Cell, evidence: Evidence, point: PointFacts) -> Cell:
    """A number of a kind, with a star where its evidence is weaker than that in the kind's row."""
    return shown if weakest([evidence, point.evidence]) is point.evidence else f"{shown}*"


def _between(point: PointFacts) -> Cell:
    """The dimension of a tangent space, or its bounds."""
    low, high = point.tangent_lower, point.tangent_upper
    return low if high in (None, low) else _interval(low, high)


def _interval(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _range(low: int, high: int) -> str:
    """A dimension beyond the generic one, between two bounds."""
    return f"{low:+d}" if low == high else f"{low:+d} to {high}"


@tables.register
def _point(point: PointFacts) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        (
            "differential",
            f"rank {point.differential_rank} of {point.dimension}",
            Word(str(point.rank_evidence)),
        ),
        ("fiber", f"dimension {_interval(*point.fiber)}", Word(str(point.fiber_evidence))),
        ("tangent space", f"dimension {point.tangent_lower} or more", Word(str(point.tangent_evidence))),
        ("point", Word(point.singular), Word(str(point.evidence))),
        *(
            (name, matrix(array.reshape(-1, *(1, 1, *array.shape)[-2:])[0]), "")
            for name, array in point.preimages[0].items()
        ),
    ]
    return [Table(f"{point.name}: {point.argument}", (), tuple(rows))]
