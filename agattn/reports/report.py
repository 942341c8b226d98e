"""The report of an architecture of any kind, or of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agattn.architectures import Architecture, as_attention
from agattn.calls import positive_integer
from agattn.errors import InputError
from agattn.limits import takes

if TYPE_CHECKING:
    from agattn.experiments.studies.jobs import Line
    from agattn.reports.document import Document

#: Reports show equations up to this degree.
MOST_DEGREES = 8


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
        from agattn.reports.study_report import study_report

        return study_report(architecture, grid=grid_text, command=command, pictures=pictures)
    if positive_integer("max_degree", max_degree) > MOST_DEGREES:
        raise InputError(
            f"max_degree is {max_degree}; reports have equations of degree at most {MOST_DEGREES}"
        )
    from agattn.reports import architecture_report  # and all of geometry

    attention = as_attention(architecture)
    return architecture_report.report(
        attention, engine, max_degree=max_degree, pictures=pictures, command=command
    )
