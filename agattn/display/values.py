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
from agattn.evidence import Verdict, plain
from agattn.experiments.training.training import Training
from agattn.geometry.critical_points.counts import CriticalPoints
from agattn.geometry.critical_points.real_points import RealCriticalPoint, RealPart
from agattn.geometry.critical_points.trained import NearbyCriticalPoint, NearbyCriticalPoints
from agattn.heads.head_geometry import HeadGeometry, HeadTable
from agattn.sheet.data import Cell, Lines, Math, Table, Wide, Word
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
