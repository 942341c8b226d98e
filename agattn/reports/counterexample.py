r"""A refuted claim about singular points, to be checked by hand: a point, curves, tangent vectors.

>>> from agattn import SingleLayer
>>> from agattn.geometry.strata.strata import IntegerMatrix, Stratum, representative
>>> shown = tangent_vectors(SingleLayer(3, 2, 2), Stratum(2, 1, 2))
>>> len(shown.vectors), shown.is_triangular
(14, True)
>>> shown.vectors[0].curve, shown.vectors[0].entries, shown.vectors[0].own
('A, \\ V + \\varepsilon E_{11}', {(1, 1, 1, 1): 1}, (1, 1, 1, 1))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agattn.algebra.echelon import echelon, rational_matrix
from agattn.architectures import SingleLayer
from agattn.claims import CLAIMS
from agattn.errors import DisagreementError
from agattn.evidence import Verdict
from agattn.geometry.strata.strata import IntegerMatrix, Stratum, representative
from agattn.geometry.strata.tangent import TangentBounds, Vector, tangent_bounds
from agattn.geometry.variety.coordinates import Coordinate, coordinates
from agattn.reports.document import Attachment
from agattn.sheet.data import Math, Table, matrix

_MOST_ROWS = 80
#: In larger spaces only one stratum is shown, and what would be a longer file of vectors is left out.
_MANY_COORDINATES = 200
_LONGEST_FILE = 400_000

Part = Mapping[tuple[int, int, int], int]
"""A matrix of polynomials in ε: (row, column, power) ↦ coefficient."""


@dataclass(frozen=True)
class TangentVector:
    """A tangent vector of M̄ by its nonzero coordinates: a coefficient of y(ε) along a curve.

    Attributes:
        curve: (A(ε), V(ε)) in LaTeX.
        power: that of ε whose coefficient it is.
        own: a coordinate in which this vector is not 0 and all those after it are; ``None`` if there is none.
    """

    curve: str
    power: int
    entries: Vector
    own: Coordinate | None = None


@dataclass(frozen=True)
class TangentVectors:
    """A point of M̄, by weights A, d × d, and V, d' × d, with independent tangent vectors.

    There are as many as the tangent space has dimensions, or more than M̄ has.
    """

    bounds: TangentBounds
    A: IntegerMatrix
    V: IntegerMatrix
    vectors: tuple[TangentVector, ...]

    @property
    def is_triangular(self) -> bool:
        """Whether every vector has a coordinate of its own, so that their independence is seen at once."""
        return all(vector.own is not None for vector in self.vectors)


def tangent_vectors(layer: SingleLayer, stratum: Stratum) -> TangentVectors:
    """Independent tangent vectors at the representative of a stratum, ordered so that this is easy to see.

    Raises:
        DisagreementError: if arcs start at other weights, as at points with several preimages.
    """
    bounds, (A, V) = tangent_bounds(layer, stratum), representative(layer, stratum)
    spanning: list[TangentVector] = []
    for arc in bounds.arcs:
        values: Counter[tuple[int, int, int]] = Counter()
        for c, i, power, x in arc.V:
            values[c, i, power] += x
        parts: tuple[Part, Part] = arc.attention(), values
        for part, start in zip(parts, (A, V), strict=True):
            there = {(i, k, 0): x for i, row in enumerate(start, 1) for k, x in enumerate(row, 1) if x}
            if {key: x for key, x in part.items() if x and not key[2]} != there:
                raise DisagreementError(f"{layer} at {stratum}: an arc starts at other weights")
        curve = rf"A{_moving(parts[0])}, \ V{_moving(parts[1])}"
        for power, vector in arc.tangent_terms():
            spanning.append(TangentVector(curve, power, dict(sorted(vector.items()))))
    independent = [spanning[n] for n in _pivots(list(zip(*_rows(layer, spanning), strict=True)))]
    if len(independent) != bounds.lower:
        raise DisagreementError(
            f"{layer} at {stratum}: {len(independent)} tangent vectors, not {bounds.lower}"
        )
    return TangentVectors(bounds, A, V, tuple(_ordered(independent)))


def _moving(part: Part) -> str:
    """The terms with ε, such as + 2ε² E_{13}."""
    text = ""
    for i, k, power in sorted(part, key=lambda key: (key[2], *key[:2])):
        if power and (value := part[i, k, power]):
            size = "" if abs(value) == 1 else str(abs(value))
            raised = "" if power == 1 else f"^{power}"
            comma = "" if max(i, k) < 10 else ","
            text += rf" {'+' if value > 0 else '-'} {size}\varepsilon{raised} E_{{{i}{comma}{k}}}"
    return text


def _rows(layer: SingleLayer, vectors: Sequence[TangentVector]) -> list[list[int]]:
    names = coordinates(layer)
    return [[vector.entries.get(name, 0) for name in names] for vector in vectors]


def _pivots(rows: Sequence[Sequence[int]]) -> list[int]:
    """The columns that are no combination of earlier ones, over ℚ."""
    return echelon(rational_matrix(rows, len(rows[0])))[1]


def _ordered(vectors: Sequence[TangentVector]) -> list[TangentVector]:
    """As far as possible, each before those that are 0 in some coordinate of it."""
    left, done = list(vectors), list[TangentVector]()
    while left:
        times = Counter(name for vector in left for name in vector.entries)
        alone = next(((v, name) for v in left for name in v.entries if times[name] == 1), None)
        if alone is None:
            return [*done, *left]
        vector, own = alone
        left.remove(vector)
        done.append(replace(vector, own=own))
    return done


def counterexample(layer: SingleLayer, verdicts: Sequence[Verdict]) -> dict[str, object]:
    """What the template of the same name needs, to show that points said to be smooth are singular.

    Everything is shown for one stratum; nothing is returned where no claim fails in this way.
    """
    against, failing = [], set[Stratum]()
    for verdict in verdicts:
        singular = {stratum for stratum in verdict.fails_at if tangent_bounds(layer, stratum).singular}
        against += [CLAIMS[verdict.claim].name] if singular else []
        failing |= singular
    if not failing:
        return {}
    try:
        strata = sorted(failing) if layer.ambient_dimension <= _MANY_COORDINATES else [min(failing)]
        first, *others = (tangent_vectors(layer, stratum) for stratum in strata)
    except DisagreementError:
        return {}
    names, number = coordinates(layer), len(first.vectors)
    headings = ("number", "curve", "tangent vector: its nonzero coordinates")
    rows = tuple((n, Math(v.curve), _entries(v)) for n, v in enumerate(first.vectors, start=1))
    return {
        "against": against,
        "shown": first,
        "A": matrix(first.A).latex,
        "V": matrix(first.V).latex,
        "forms": _forms(first.A, first.V),
        "vectors": Table(f"{number} tangent vectors at p", headings, rows) if number <= _MOST_ROWS else (),
        "pivots": [_name(names[n]) for n in _pivots(_rows(layer, first.vectors))],
        "others": [f"{len(other.vectors)} at {other.bounds.stratum}" for other in others],
        "files": tuple(
            _file(part) for part in (first, *others) if len(part.vectors) * len(names) <= _LONGEST_FILE
        ),
    }


def _entries(vector: TangentVector) -> Math:
    """The coordinates of a tangent vector; first ``own``, in which all later vectors are 0."""
    ordered = sorted(vector.entries, key=lambda name: (name != vector.own, name))
    power = "" if vector.power == 1 else rf" \quad (\varepsilon^{vector.power})"
    return Math(", \\ ".join(f"{_name(name)} = {vector.entries[name]}" for name in ordered) + power)


def _name(name: Coordinate) -> str:
    return f"y_{{{','.join(map(str, name))}}}"


def _forms(A: IntegerMatrix, V: IntegerMatrix) -> str:
    """The matrix of the products V_c·A_b, in LaTeX."""
    import sympy  # which takes a quarter of a second

    u = sympy.Matrix(sympy.symbols(f"u_1:{len(A) + 1}"))
    products = (sympy.Matrix(V) * u) * (sympy.Matrix(A).T * u).T
    return matrix([[sympy.latex(sympy.expand(form)) for form in row] for row in products.tolist()]).latex


def _file(shown: TangentVectors) -> Attachment:
    stratum = shown.bounds.stratum
    path = f"tangent-vectors-{stratum.r_v}{stratum.r_a}{stratum.r}.csv"
    says = f"tangent vectors at {stratum}; agattn rank {path} gives {len(shown.vectors)}"
    rows = _rows(shown.bounds.layer, shown.vectors)
    text = "".join(f"{','.join(map(str, row))}\n" for row in rows)
    return Attachment(path, text, says, shown=False)
