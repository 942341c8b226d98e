"""The report of one polynomial model: its dimension, symmetries, equations, kinds of points, and a fiber.

Here values are computed; the sentences are in the template ``model.j2``. What is beyond a limit is left out,
and the report says which limit.

>>> from agattn.architectures import Network, Perceptron
>>> document = model_report(Network([Perceptron([2, 1], degree=3)], dim=3))
>>> document.title
'Model 3×1 → perceptron 2,1 (degree 3)'
>>> document.summary
'Dimension 6 in 10 coordinates, proved. Of 11 kinds of points: 7 singular, 4 smooth.'
>>> [section.title for section in document.sections][1:5]
['Dimension', 'Symmetries', 'Equations', 'Kinds of points']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb
from typing import TypeVar

from agattn.architectures import Architecture
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.dimension.lie_algebra import linear_symmetries
from agattn.geometry.ideal.model_ideal import ModelIdeal, compute_model_ideal
from agattn.geometry.identifiability.network_fibers import network_fiber
from agattn.geometry.learning_coefficients.brackets import bracket
from agattn.geometry.singular_points.kinds import kinds
from agattn.geometry.singular_points.singularities import Singularities, singularities
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.limits import limits, log
from agattn.reports.architecture_report import EVIDENCE, title, versions
from agattn.reports.document import Document, sections
from agattn.sheet.data import Cell, Math, Table
from agattn.sheet.result import Described, Result

#: Coordinates are expanded if they have no more terms, and written out if they are so few.
_MOST_TERMS, _MOST_SHOWN = 100_000, 12
_LONGEST = 8  # terms of a coordinate that is written out
_BOUNDS = ("quantity", "value", "evidence")
#: Equations are looked for in degrees with no more monomials.
_MOST_MONOMIALS = 5_000

T = TypeVar("T")


class _Missing:
    """What a report leaves out, a line for each thing."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def unless_found(self, what: str, find: Callable[[], T]) -> T | None:
        """What is found; ``None``, and a line that says why, if it is too large."""
        log.info(what)
        try:
            return find()
        except TooLargeError as error:
            self.lines.append(f"{what[0].upper()}{what[1:]}: {error}.")
            return None


def _equations(
    coordinates: CoefficientMap | None, max_degree: int, known: Dimension, missing: _Missing
) -> ModelIdeal | None:
    """The equations to the last degree that is not too large; ``None`` if there is no such degree."""
    if coordinates is None:
        return None
    degree = _last_degree(coordinates, max_degree)
    if degree < max_degree:
        missing.lines.append(
            f"Equations of degree {degree + 1}: there are more than {_MOST_MONOMIALS} monomials, which"
            " is the limit of reports; agattn ideal goes further."
        )
    if not degree:
        return None
    proved = known.lower_bound if known.evidence is Evidence.PROVED else None
    return missing.unless_found(
        "the equations", lambda: compute_model_ideal(coordinates, degree, dimension=proved)
    )


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


def model_report(
    model: Architecture,
    *,
    max_degree: int = 3,
    command: str = "",
) -> Document:
    """Write down everything that is found out about a polynomial model.

    Args:
        model: any polynomial architecture; of layers and networks of attention
            :func:`~agattn.reports.architecture_report.report` says more.
        max_degree: of the equations.
        command: the command line that makes this report.

    Returns:
        The document. Its exit status is 3 if the dimension is not proved, else 0.

    Raises:
        InputError: if the model is normalized.
    """
    if model.degree is None:
        raise InputError(f"{model} is normalized; only polynomial models have a report")
    missing = _Missing()
    find = missing.unless_found
    log.info("the dimension")
    known = dimension(model)
    coordinates = find("the coordinates", lambda: coefficient_map(model, limit=_MOST_TERMS))
    ideal = _equations(coordinates, max_degree, known, missing)
    symmetries = find("the symmetries", lambda: linear_symmetries(model))
    points = find("the kinds of points", lambda: singularities(model))
    general = kinds(model)[0].weights if points is None else points.kinds[0].preimages[0]
    fiber = find("the fiber", lambda: network_fiber(model, general))
    coefficient = find("the learning coefficient", lambda: bracket(model, general))
    if points is not None:
        known = points.dimension
        missing.lines += _open_questions(points)
    if known.evidence is not Evidence.PROVED:
        missing.lines.insert(0, f"The dimension: between {known.lower_bound} and {known.upper_bound}.")
    body = sections(
        "model",
        architecture=replace(_described(model), caption="The model"),
        ambient=_ambient(coordinates),
        coordinates=_coordinates(coordinates),
        dimension=_tables(known),
        symmetries=_tables(symmetries),
        equations=_tables(ideal),
        degree=0 if ideal is None else len(ideal.degrees),
        points=_tables(points),
        closedness="" if points is None else points.closedness,
        fiber=_tables(fiber),
        weights=Table("The weights", ("array", "value"), _weights(model, general)),
        coefficient=tuple(replace(table, headings=_BOUNDS) for table in _tables(coefficient)),
        missing=missing.lines,
        evidence=EVIDENCE,
        versions=versions(command),
    )
    status = 0 if known.evidence is Evidence.PROVED else 3
    clock = f"The dimension took {known.seconds:.1f} s."
    return Document(title(model), _summary(known, coordinates, points), body, clock, exit_status=status)


def _tables(found: Result | None) -> tuple[Table, ...]:
    """The tables of a result; none where it was left out."""
    return () if found is None else found.sheet().tables


def _last_degree(coordinates: CoefficientMap, max_degree: int) -> int:
    """The last degree, at most the one asked for, whose monomials are not too many."""
    N = len(coordinates.coordinates) + 1
    degrees = range(1, max_degree + 1)
    return max((n for n in degrees if limits().force or comb(N + n - 1, n) <= _MOST_MONOMIALS), default=0)


def _summary(known: Dimension, coordinates: CoefficientMap | None, points: Singularities | None) -> str:
    size = "" if coordinates is None else f" in {len(coordinates.coordinates)} coordinates"
    said = f"Dimension {known.dimension}{size}, {known.evidence}."
    if known.evidence is None:
        said = f"Dimension between {known.lower_bound} and {known.upper_bound}{size}, proved."
    if points is not None:
        said += f" Of {points.counted}."
    return said


def _described(model: Architecture) -> Table:
    """The model as its own sheet has it; one line where it is an architecture without any."""
    if isinstance(model, Described):
        return model.sheet().tables[0]
    return Table("", (), (("model", str(model)),))


def _ambient(coordinates: CoefficientMap | None) -> str:
    return "" if coordinates is None else f"{len(coordinates.coordinates)}"


def _coordinates(found: CoefficientMap | None) -> tuple[Table, ...]:
    """The first coordinates as polynomials in the parameters."""
    if found is None:
        return ()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (str(where), Math(f.latex(), is_sum=True) if len(f) <= _LONGEST else f"{len(f)} terms")
        for where, f in zip(found.coordinates[:_MOST_SHOWN], found.polynomials, strict=False)
    )
    more = len(found.coordinates) - len(rows)
    caption = "The coordinates, in the parameters" + (f"; {more} more are left out" if more else "")
    return (Table(caption, ("coordinate", "polynomial"), rows),)


def _weights(model: Architecture, weights: object) -> tuple[tuple[str, str], ...]:
    assert isinstance(weights, dict)
    return tuple((name, str(weights[name].tolist())) for name in model.shapes)
