r"""A refuted claim about singular points, to be checked by hand: a point, curves, tangent vectors.

>>> from agattn import SingleLayer
>>> from agattn.geometry.strata.strata import Stratum
>>> shown = tangent_vectors(SingleLayer(3, 2, 2), Stratum(2, 1, 2))
>>> len(shown.vectors), shown.is_triangular
(14, True)
>>> shown.vectors[0].curve, shown.vectors[0].entries, shown.vectors[0].own
('A, \\ V + \\varepsilon E_{11}', {(1, 1, 1, 1): 1}, (1, 1, 1, 1))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import flint

from agattn.algebra.echelon import echelon
from agattn.architectures import SingleLayer
from agattn.display.table import Cell, Math, Table
from agattn.errors import DisagreementError
from agattn.evidence import Status, Verdict
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.strata.tangent import Arc, Entries, TangentBounds, Vector, tangent_bounds
from agattn.geometry.variety.coordinates import Coordinate, coordinates
from agattn.reports.document import Attachment, Block, Section, Text
from agattn.verification.certificate import failing_strata

_MOST_ROWS = 80
#: In larger spaces only one stratum is shown, and what would be a longer file of vectors is left out.
_MANY_COORDINATES = 200
_LONGEST_FILE = 400_000

Part = dict[tuple[int, int, int], int]
"""A matrix of polynomials in ε: (row, column, power) ↦ coefficient."""


@dataclass(frozen=True)
class TangentVector:
    """A tangent vector of M̄ at a point, and where it comes from.

    Attributes:
        curve: (A(ε), V(ε)) in LaTeX.
        power: the vector is the coefficient of this power of ε in y(ε).
        entries: its nonzero coordinates.
        own: a coordinate in which this vector is not 0 and all those after it are; ``None`` if there is none.
    """

    curve: str
    power: int
    entries: Vector
    own: Coordinate | None


@dataclass(frozen=True)
class Shown:
    """A point of M̄ with linearly independent tangent vectors.

    Attributes:
        bounds: what is known about the tangent space there.
        A: d × d, and
        V: d' × d: weights of the point.
        vectors: as many as the tangent space has dimensions, or more than M̄ has.
    """

    bounds: TangentBounds
    A: list[list[int]]
    V: list[list[int]]
    vectors: tuple[TangentVector, ...]

    @property
    def is_triangular(self) -> bool:
        """Whether every vector has a coordinate of its own, so that their independence is seen at once."""
        return all(vector.own is not None for vector in self.vectors)


def tangent_vectors(layer: SingleLayer, stratum: Stratum) -> Shown:
    """Independent tangent vectors at the representative of a stratum, ordered so that this is easy to see.

    Raises:
        DisagreementError: if the arcs start at different weights, as at points with several preimages.
    """
    bounds = tangent_bounds(layer, stratum)
    starts = {(tuple(sorted(_at_zero(_attention(arc)))), tuple(sorted(_at_zero(_values(arc.V)))))
              for arc in bounds.arcs}  # fmt: skip
    if len(starts) != 1:
        raise DisagreementError(f"{layer} at {stratum}: the arcs start at {len(starts)} pairs of weights")
    [(A, V)] = starts
    found = [
        TangentVector(_curve(arc), power, dict(sorted(vector.items())), None)
        for arc in bounds.arcs
        for power, vector in arc.tangent_terms()
    ]
    independent = _independent(layer, found)
    if len(independent) != bounds.lower:
        raise DisagreementError(
            f"{layer} at {stratum}: {len(independent)} tangent vectors, not {bounds.lower}"
        )
    return Shown(
        bounds, _full(A, layer.d, layer.d), _full(V, layer.d_out, layer.d), tuple(_ordered(independent))
    )


def _attention(arc: Arc) -> Part:
    return {place: value for place, value in arc.attention().items() if value}


def _values(V: Entries) -> Part:
    total: Counter[tuple[int, int, int]] = Counter()
    for c, i, power, x in V:
        total[c, i, power] += x
    return {place: value for place, value in total.items() if value}


def _at_zero(part: Part) -> Iterable[tuple[int, int, int]]:
    return [(i, j, value) for (i, j, power), value in part.items() if power == 0]


def _full(entries: Iterable[tuple[int, int, int]], rows: int, columns: int) -> list[list[int]]:
    matrix = [[0] * columns for _ in range(rows)]
    for i, j, value in entries:
        matrix[i - 1][j - 1] = value
    return matrix


def _curve(arc: Arc) -> str:
    return rf"A{_moving(_attention(arc))}, \ V{_moving(_values(arc.V))}"


def _moving(part: Part) -> str:
    """The terms with ε, such as + 2ε² E_{13}."""
    text = ""
    for i, j, power in sorted(part, key=lambda place: (place[2], *place[:2])):
        if power:
            value = part[i, j, power]
            size = "" if abs(value) == 1 else str(abs(value))
            raised = "" if power == 1 else f"^{power}"
            comma = "" if max(i, j) < 10 else ","
            text += rf" {'+' if value > 0 else '-'} {size}\varepsilon{raised} E_{{{i}{comma}{j}}}"
    return text


def _independent(layer: SingleLayer, found: Sequence[TangentVector]) -> list[TangentVector]:
    """Those that are no combination of earlier ones, over ℚ."""
    pivots = echelon(_matrix(layer, [v.entries for v in found]).transpose())[1]
    return [found[n] for n in pivots]


def _matrix(layer: SingleLayer, vectors: Sequence[Vector]) -> flint.fmpq_mat:
    names = coordinates(layer)
    return flint.fmpq_mat(len(vectors), len(names), [v.get(name, 0) for v in vectors for name in names])


def _ordered(vectors: Sequence[TangentVector]) -> list[TangentVector]:
    """As far as possible, each before those that are 0 in some coordinate of it."""
    left: list[TangentVector] = list(vectors)
    done: list[TangentVector] = []
    while left:
        times = Counter(name for vector in left for name in vector.entries)
        alone = next(((v, name) for v in left for name in v.entries if times[name] == 1), None)
        if alone is None:
            return [*done, *left]
        vector, own = alone
        left.remove(vector)
        done.append(TangentVector(vector.curve, vector.power, vector.entries, own))
    return done


def counterexample(layer: SingleLayer, verdicts: Sequence[Verdict]) -> list[Section]:
    """A section that shows at one stratum, in full, that points said to be smooth are singular; or none."""
    claims, failing = [], set()
    for verdict in verdicts:
        if verdict.status is not Status.REFUTED:
            continue
        try:
            triples = failing_strata(verdict)
        except DisagreementError:
            continue
        found = {s for s in (Stratum(*ranks) for ranks in triples) if tangent_bounds(layer, s).singular}
        claims += [verdict.claim] if found else []
        failing |= found
    if not failing:
        return []
    try:
        strata = sorted(failing) if layer.ambient_dimension <= _MANY_COORDINATES else [min(failing)]
        shown = [tangent_vectors(layer, stratum) for stratum in strata]
    except DisagreementError:
        return []
    blocks = _blocks(layer, shown[0], claims)
    if len(shown) > 1:
        others = ", ".join(f"{len(s.vectors)} at {s.bounds.stratum}" for s in shown[1:])
        blocks.append(Text(f"The same at the other strata where the claim fails; tangent vectors: {others}."))
    blocks.append(
        Text(
            f"The vectors as files: one in each row, its {layer.ambient_dimension} coordinates "
            f"y_{{c,b,i,k}}, "
            "i ≤ k, in the order of c, b, i, k."
        )
    )
    for one in shown:
        if len(one.vectors) * layer.ambient_dimension > _LONGEST_FILE:
            continue
        name = "".join(map(str, (one.bounds.stratum.r_v, one.bounds.stratum.r_a, one.bounds.stratum.r)))
        path = f"tangent-vectors-{name}.csv"
        blocks.append(Attachment(path, _csv(layer, one), f"tangent vectors at {one.bounds.stratum}; "
                                 f"agattn rank {path} gives {len(one.vectors)}", shown=False))  # fmt: skip
    return [Section("The counterexample, by hand", tuple(blocks))]


def _blocks(layer: SingleLayer, shown: Shown, claims: Sequence[str]) -> list[Block]:
    bounds, number = shown.bounds, len(shown.vectors)
    a, stratum = layer.alpha, bounds.stratum
    rank = stratum.r_a
    blocks: list[Block] = [
        Text(
            f"Against {', '.join(claims)}: the point p below, in the stratum {stratum}, is singular, though "
            f"rk V = {stratum.r_v} and rk A = {rank} are not both at most 1. Its weights, and its "
            "coordinates "
            f"written as the {layer.d_out} × {layer.d} matrix of forms y_{{c,b}} = V_c(u)·A_b(u) in "
            "u_1, u_2, ...:"
        ),
        Math(rf"A = {_latex(shown.A)}, \quad V = {_latex(shown.V)}, \quad p = {_forms(shown.A, shown.V)}"),
        Text(
            f"Each row of the table moves the weights along a curve: A(ε) keeps rank at most a = {a}, so "
            "y(ε) "
            f"stays in M̄. Every equation f of M̄ vanishes along the curve, and the first terms of f(y(ε)) = "
            "0 "
            f"say that the gradient of f at p is orthogonal to the tangent vector v, the coefficient of ε in "
            f"y(ε)"
            + (
                ""
                if all(v.power == 1 for v in shown.vectors)
                else ", or where y(ε) has none, of ε² or ε³, as given"
            )
            + f". So these {number} vectors lie in the Zariski tangent space of M̄ at p. E_ik is the matrix "
            f"with 1 in row i, column k, and 0 elsewhere."
        ),
    ]
    if number <= _MOST_ROWS:
        rows = tuple(_row(n, vector) for n, vector in enumerate(shown.vectors, start=1))
        headings = ("number", "curve", "tangent vector: its nonzero coordinates")
        blocks.append(Table(f"{number} tangent vectors at p", headings, rows))
    blocks.append(Text(_conclusion(layer, shown), note=True))
    return blocks


def _row(n: int, vector: TangentVector) -> tuple[Cell, ...]:
    """The vector, its own coordinate first."""
    ordered = sorted(vector.entries, key=lambda name: (name != vector.own, name))
    entries = ", \\ ".join(f"{_name(name)} = {vector.entries[name]}" for name in ordered)
    power = "" if vector.power == 1 else rf" \quad (\varepsilon^{vector.power})"
    return str(n), Math(vector.curve), Math(entries + power)


def _conclusion(layer: SingleLayer, shown: Shown) -> str:
    bounds, number, a = shown.bounds, len(shown.vectors), layer.alpha
    if shown.is_triangular:
        why = (
            "They are linearly independent: the coordinate named first is not 0 in its own row and 0 in all "
            "later ones, so in a linear relation the coefficients vanish one after the other."
        )
    else:
        names = ", ".join(_plain(name) for name in _pivots(layer, shown))
        why = f"They are linearly independent: their minor in the coordinates {names} is not 0."
    text = (
        f"{why} So the tangent space has dimension at least {number}, and M̄ has dimension a(2d − a) + dd' − "
        "1 = "
        f"{a}·{2 * layer.d - a} + {layer.d * layer.d_out} − 1 = {bounds.dimension}: p is singular, and so is "
        "every point of its orbit."
    )
    if bounds.value is not None and bounds.how_upper == "one reduced preimage":
        text += (
            f" What goes on: rk A = {bounds.stratum.r_a} < a = {layer.alpha}, where the variety of matrices "
            "of "
            f"rank at most {layer.alpha} is itself singular; and (A, V) is, up to scale, the only preimage "
            "of p, "
            "a reduced one, so that M̄ looks near p like the space of weights. The tangent space has "
            "dimension "
            f"exactly {bounds.value}."
        )
    return text


def _pivots(layer: SingleLayer, shown: Shown) -> list[Coordinate]:
    names = coordinates(layer)
    return [names[n] for n in echelon(_matrix(layer, [v.entries for v in shown.vectors]))[1]]


def _csv(layer: SingleLayer, shown: Shown) -> str:
    names = coordinates(layer)
    return "".join(
        ",".join(str(vector.entries.get(name, 0)) for name in names) + "\n" for vector in shown.vectors
    )


def _latex(matrix: Sequence[Sequence[object]]) -> str:
    rows = r" \\ ".join(" & ".join(map(str, row)) for row in matrix)
    return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"


def _forms(A: list[list[int]], V: list[list[int]]) -> str:
    """The matrix of the products V_c·A_b."""
    columns = list(zip(*A, strict=True))
    return _latex([[_product(row, column) for column in columns] for row in V])


def _product(row: Sequence[int], column: Sequence[int]) -> str:
    terms: Counter[tuple[int, int]] = Counter()
    for i, x in enumerate(row, start=1):
        for k, z in enumerate(column, start=1):
            terms[min(i, k), max(i, k)] += x * z
    text = ""
    for (i, k), value in sorted(terms.items()):
        if value:
            size = "" if abs(value) == 1 else str(abs(value))
            monomial = f"u_{{{i}}}^2" if i == k else f"u_{{{i}}} u_{{{k}}}"
            text += f" {'+' if value > 0 else '-'} {size}{monomial}"
    return text.removeprefix(" + ").strip() or "0"


def _name(name: Coordinate) -> str:
    c, b, i, k = name
    return f"y_{{{c}{b},{i}{k}}}" if max(name) < 10 else f"y_{{{c},{b},{i},{k}}}"


def _plain(name: Coordinate) -> str:
    return f"y_{{{','.join(map(str, name))}}}"
