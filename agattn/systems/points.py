"""Points for problems: a rational representative of each stratum, or a point the user gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from agattn.algebra.scalars import is_exact, scalars
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import Array
from agattn.calls import shown
from agattn.checkpoints.weight_files import ENDINGS, WeightFile
from agattn.errors import InputError
from agattn.files import about, parsed, read_text
from agattn.geometry.identifiability.weights import Weights, fiber, rank_one, weights, weights_of_layer
from agattn.geometry.reconstruction.membership import compact
from agattn.geometry.sections.slices import Slice
from agattn.geometry.strata.critical import orbits_over_zero
from agattn.geometry.strata.strata import Stratum, representative, strata
from agattn.geometry.variety.coordinates import coefficients
from agattn.systems.problem import Matrix, Point, matrix

_MAX_DIGITS = 4000  # Python refuses to write longer integers by default


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


def point_of(given: Any, layer: SingleLayer) -> Point:
    """Exact weights of a layer, as they are or by the path of their file, as a point.

    Raises:
        InputError: if they are in floating point, or not weights of the layer.

    >>> point_of({"A": [[2]], "V": [["1/3"]]}, SingleLayer(1, 1)).label
    'point'
    """
    with _opened(given) as arrays:
        w = weights_of_layer(layer, arrays)
        A, V = (matrix(_exact(entries, "the weights").tolist()) for entries in (w.A, w.V))
    return Point(A, V, known_preimages(A, V))


def target_of(given: Any, layer: SingleLayer) -> tuple[Fraction, ...]:
    """A point of the ambient space: coordinates, under ``"y"`` in a file, or weights, as for a point.

    Raises:
        InputError: if they are in floating point, or do not fit the layer.
    """
    with _opened(given) as target:
        if isinstance(target, Mapping) and "y" in target:
            target = target["y"]
        if not isinstance(target, (Weights, Mapping)):
            return tuple(_exact(compact(layer, target), "the coordinates").tolist())
    point = point_of(given, layer)
    return tuple(coefficients(layer, point.A, point.V))


def slice_of(given: Any, layer: SingleLayer) -> Slice:
    """A slice as it is, or by the path of its file.

    The file holds ``{"origin": [...], "directions": [[...], [...], [...]]}``, N exact entries each. The
    coordinates are called x, y, w unless ``"names"`` says otherwise.

    Raises:
        InputError: if it is neither, the file is missing or no such JSON, or does not fit the layer.
    """
    if isinstance(given, Slice):
        return given
    if not isinstance(given, (str, Path)):
        raise InputError(f"slice is {shown(given)}; give the path of a JSON file, or a Slice")
    data, size = parsed("JSON", read_text(Path(given)), given), layer.ambient_dimension
    if not isinstance(data, dict) or not {"origin", "directions"} <= set(data):
        raise InputError(f'{given} must hold {{"origin": [...], "directions": [[...], [...], [...]]}}')
    origin, directions, names = data["origin"], data["directions"], data.get("names", ["x", "y", "w"])
    with about(given):
        vectors = scalars([origin, *directions] if isinstance(directions, list) else [], "the slice")
        if vectors.shape != (4, size):
            raise InputError(f"origin and the three directions must have {size} entries each")
        first, *others = matrix(_exact(vectors, "the vectors"))
        return Slice(first, tuple(others), tuple(names) if isinstance(names, list) else ())  # type: ignore[arg-type]


@contextmanager
def _opened(given: Any) -> Iterator[Any]:
    """The arrays of a file that is given by its path, in errors, too; or what is given.

    A file without one of the endings of files of weights, such as a pipe of a shell, is read as JSON.
    """
    if not isinstance(given, (str, Path)):
        yield given
        return
    path = Path(given)
    arrays = WeightFile([path]) if path.suffix in ENDINGS else parsed("JSON", read_text(path), path)
    with about(path):
        yield arrays


def _exact(array: Array, what: str) -> Array:
    """An array of exact numbers that scripts can hold."""
    if not is_exact(array):
        raise InputError(f'{what} are in floating point; an engine needs exact ones, such as 3 or "1/3"')
    if any(max(abs(x.numerator), x.denominator) >= 10**_MAX_DIGITS for x in array.flat):
        raise InputError(f"{what} have an entry of more than {_MAX_DIGITS} digits, which no script can hold")
    return array
