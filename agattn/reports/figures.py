"""The figures of the paper, by their numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from agattn.architectures import SingleLayer
from agattn.calls import one_of, positive_integer, refuse_unless
from agattn.errors import InputError
from agattn.limits import limits, takes
from agattn.reports.figure2 import Figure2

#: Figures that other commands draw now.
MOVED = {
    "critical": "is drawn by agattn critical-points 2 1 -O loss.html",
    "deep": "is a picture in the gallery of the documentation",
    "spectrum": "is drawn by agattn spectrum, with its network and -O spectrum.png",
}


def figure(number: int | str, **options: Any) -> Any:
    """A figure of the paper, recomputed.

    Args:
        number: 1, a surface in M̄ with its singular points; 2, the unrolled network as a tree; 3, dimensions
            of normalized networks.
        options: of figure 1 ``layer``, ``slice`` (also the path of a JSON file), ``engine``, ``radius``,
            ``timeout``, ``memory`` and ``force``; of figure 2 ``layers``; of figure 3 ``seed``.

    Returns:
        What was computed, which ``save(path)`` draws: as .png, .svg or .pdf; figure 1 also as a page to turn
        it, .html. Figure 2 is also the sequence of the factors of the product, and figure 3 that of its rows,
        one for each width.

    Raises:
        InputError: if there is no such figure, or it has no such option.
        EngineError: if an engine is named for figure 1, and is missing or fails.

    See Also:
        :func:`agattn.report`, :func:`agattn.critical_points`, :func:`agattn.strata`; ``agattn figure`` in a
        shell.

    >>> import agattn as ag
    >>> print(ag.figure(1, engine="native").section.equation)
    x^2*w + y^2
    >>> list(ag.figure(2, layers=2))
    [(1, False), (1, True), (2, False), (1, False)]
    """
    if str(number) in MOVED:
        raise InputError(f"figure {number} {MOVED[str(number)]}")
    name = one_of(str(number), _FIGURES, "figure")
    names = inspect.signature(_FIGURES[name]).parameters
    for option in options:
        if option not in names:
            raise InputError(f"figure {name} has no option {option!r}; it takes {', '.join(names)}")
    return _FIGURES[name](**options)


_SMALLEST = SingleLayer(2, 1)


@takes("timeout", "memory", "force")
def _figure_1(
    layer: SingleLayer = _SMALLEST, slice: Any = None, engine: str = "auto", radius: int = 1
) -> Any:
    from agattn.reports.figure1 import compute_figure_1
    from agattn.systems.points import slice_of
    from agattn.systems.problem import check_size

    positive_integer("radius", radius)
    refuse_unless(isinstance(layer, SingleLayer), "layer", layer, "a layer such as ag.SingleLayer(2, 1)")
    if not limits().force:
        check_size(layer)
    chosen = None if slice is None else slice_of(slice, layer)
    return compute_figure_1(layer, chosen, engine=engine, radius=radius)


def _figure_2(layers: int = 2) -> Figure2:
    return Figure2(positive_integer("layers", layers))


@takes("seed")
def _figure_3() -> Any:
    from agattn.reports.figure3 import figure_3

    return figure_3()


#: What computes each figure, from its options.
_FIGURES: Mapping[str, Callable[..., Any]] = {"1": _figure_1, "2": _figure_2, "3": _figure_3}
