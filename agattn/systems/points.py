"""Points for problems: a rational representative of each stratum, or a point the user gives."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np

from agattn.architectures import SingleLayer
from agattn.calls import shown
from agattn.errors import InputError
from agattn.files import parsed, read_text
from agattn.geometry.identifiability.fibers import fiber
from agattn.geometry.identifiability.weights import Weights, rank_one, weights
from agattn.geometry.sections.slices import Slice
from agattn.geometry.strata.critical import orbits_over_zero
from agattn.geometry.strata.strata import Stratum, representative, strata, stratum_of
from agattn.geometry.variety.coordinates import coefficients
from agattn.systems.problem import Matrix, Point, matrix

_RATIONAL = re.compile(r"-?[0-9]{1,4000}(/0*[1-9][0-9]{0,4000})?")


@lru_cache(maxsize=8)
def strata_points(layer: SingleLayer, *, zero: bool = True) -> tuple[Point, ...]:
    """One point for each stratum, labelled ``r_V,r_A,r``; that of 0 is (A, V) = (0, 0).

    >>> [p.label for p in strata_points(SingleLayer(2, 1))]
    ['0,0,0', '1,1,1', '1,1,2', '1,2,2']
    """
    points = []
    for stratum in strata(layer)[0 if zero else 1 :]:
        A, V = map(matrix, representative(layer, stratum))
        points.append(Point(A, V, known_preimages(A, V), stratum))
    return tuple(points)


def zero_points(layer: SingleLayer) -> tuple[Point, ...]:
    """One point for each orbit of pairs (A, V) with A = 0 or V = 0, which all have φ = 0.

    They are labelled like strata, by rk V, rk A and the rank of both together.

    >>> [p.label for p in zero_points(SingleLayer(2, 1))]
    ['0,0,0', '1,0,1', '0,1,1', '0,2,2']
    """
    pairs = {ranks: representative(layer, ranks) for ranks in orbits_over_zero(layer)}
    return tuple(Point(matrix(A), matrix(V), ranks=ranks) for ranks, (A, V) in pairs.items())


def known_preimages(A: Matrix, V: Matrix) -> tuple[tuple[Matrix, Matrix], ...]:
    """(A, V), and for A = k qᵀ, V = h vᵀ with k, v independent also (v qᵀ, h kᵀ), which has the same φ.

    Source: HMK, Theorem 3.2 (i).

    >>> A, V = known_preimages(matrix([[1, 0], [0, 0]]), matrix([[0, 2]]))[1]
    >>> A == matrix([[0, 0], [1, 0]]), V == matrix([[2, 0]])
    (True, True)
    """
    through = fiber(weights(A=A, V=V))
    points = through.points if through.case == "two lines" else through.points[:1]
    return tuple((matrix(c.A.tolist()), matrix(c.V.tolist())) for c in points)


def critical_factors(points: tuple[Point, ...]) -> tuple[Matrix, Matrix, Matrix]:
    """For the point A = k qᵀ, V = h kᵀ among the representatives: k, q and h as columns."""
    point = next(p for p in points if p.ranks == Stratum(1, 1, 1))
    (k, q), (h, v) = (rank_one(np.array(rows)) for rows in (point.A, point.V))
    ratio = next(b / a for a, b in zip(k, v, strict=True) if a)
    return matrix(k[:, None]), matrix(q[:, None]), matrix(h[:, None] * ratio)


def read_point(path: Path, layer: SingleLayer) -> Point:
    """Read a point from a JSON file ``{"A": [[...]], "V": [[...]]}`` with integers or rationals ``"p/q"``.

    Instead of A there may be K and Q, both a × d.

    Raises:
        InputError: if the file is missing, is not such JSON, or does not fit the layer.
    """
    data = parsed("JSON", read_text(path), path)
    if not isinstance(data, dict) or "V" not in data or not ("A" in data or {"K", "Q"} <= set(data)):
        raise InputError(f'{path} must hold {{"A": [[...]], "V": [[...]]}}, or K and Q instead of A')
    if "A" in data and not {"K", "Q"}.isdisjoint(data):
        raise InputError(f"{path} has A, and K or Q as well; leave out A, or K and Q")
    V = _exact(data["V"], "V", (layer.d_out, layer.d), path)
    if "A" in data:
        A = _exact(data["A"], "A", (layer.d, layer.d), path)
    else:
        K, Q = (_exact(data[name], name, (layer.a, layer.d), path) for name in "KQ")
        A = matrix((np.array(K).T @ np.array(Q)).tolist())
    stratum = stratum_of(A, V)
    if stratum.r_a > layer.alpha:
        raise InputError(
            f"A in {path} has rank {stratum.r_a}; with a = {layer.a} it is at most {layer.alpha}"
        )
    return Point(A, V, known_preimages(A, V))


def point_of(w: Weights) -> Point:
    """Exact weights as a point.

    Raises:
        InputError: if they are in floating point.

    >>> point_of(weights(A=[[2]], V=[[3]])).label
    'point'
    """
    if not w.is_exact:
        raise InputError('the weights are in floating point; an engine needs exact ones, such as 3 or "1/3"')
    A, V = matrix(w.A.tolist()), matrix(w.V.tolist())
    return Point(A, V, known_preimages(A, V))


def read_target(path: Path, layer: SingleLayer) -> tuple[Fraction, ...]:
    """Read a point of the ambient space: ``{"y": [...]}`` with all N coordinates, or weights, as for a point.

    Raises:
        InputError: if the file is missing, is not such JSON, or does not fit the layer.
    """
    data = parsed("JSON", read_text(path), path)
    if not isinstance(data, dict) or "y" not in data:
        point = read_point(path, layer)
        return tuple(coefficients(layer, point.A, point.V))
    values = data["y"] if isinstance(data["y"], list) else []
    return _exact([values], "y", (1, layer.ambient_dimension), path)[0]


def read_slice(path: Path, layer: SingleLayer) -> Slice:
    """Read a slice: ``{"origin": [...], "directions": [[...], [...], [...]]}``, N exact entries each.

    The coordinates are called x, y, w unless ``"names"`` says otherwise.

    Raises:
        InputError: if the file is missing, is not such JSON, or does not fit the layer.
    """
    data = parsed("JSON", read_text(path), path)
    if not isinstance(data, dict) or not {"origin", "directions"} <= set(data):
        raise InputError(f'{path} must hold {{"origin": [...], "directions": [[...], [...], [...]]}}')
    size = layer.ambient_dimension
    [origin] = _exact([data["origin"]], "origin", (1, size), path)
    first, second, third = _exact(data["directions"], "directions", (3, size), path)
    names = data.get("names", ["x", "y", "w"])
    if not isinstance(names, list) or len(names) != 3:
        raise InputError(f"names in {path} must be three letters")
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"names in {path} must be three different small letters")
    return Slice(origin, (first, second, third), tuple(names))


def slice_of(given: object, layer: SingleLayer) -> Slice:
    """A slice as it is given: itself, or the path of its file.

    Raises:
        InputError: if it is neither, or as :func:`read_slice`.
    """
    if isinstance(given, (str, Path)):
        return read_slice(Path(given), layer)
    if not isinstance(given, Slice):
        raise InputError(f"slice is {shown(given)}; give the path of a JSON file, or a Slice")
    return given


def _exact(rows: object, name: str, shape: tuple[int, int], path: Path) -> Matrix:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError(f"{name} in {path} is not a matrix; write it as a list of rows, such as [[1, 2]]")
    if len(rows) != shape[0] or any(len(row) != shape[1] for row in rows):
        raise InputError(f"{name} in {path} must be {shape[0]} × {shape[1]}")
    for entry in (entry for row in rows for entry in row):
        exact = isinstance(entry, int) and not isinstance(entry, bool)
        if not exact and not (isinstance(entry, str) and _RATIONAL.fullmatch(entry)):
            written = json.dumps(entry)[:40]
            raise InputError(
                f'{name} in {path} has the entry {written}; write exact ones, such as 3 or "1/3"'
            )
    return matrix(rows)
