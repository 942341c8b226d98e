"""The figures: of the paper, a loss on the first, a slice of a network, and a spectrum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from agattn.architectures import SingleLayer
from agattn.calls import one_of, positive_integer, refuse_unless
from agattn.errors import InputError
from agattn.limits import KEYWORDS, limited, limits


def figure(number: int | str, **options: Any) -> Any:
    """A figure of the paper, recomputed; a loss on the first; a slice of a network; or a spectrum.

    Args:
        number: 1, a surface in M̄ with its singular points; 2, the unrolled network as a tree; 3, dimensions
            of normalized networks; ``"critical"``, a loss on the surface of figure 1; ``"deep"``, a slice of
            a network with limits that no weights reach; ``"spectrum"``, singular values of a softmax network
            as its scores get small.
        options: of figure 1 ``layer``, ``slice`` (also the path of a JSON file), ``engine``, ``radius``,
            ``timeout``, ``memory`` and ``force``; of figure 2 ``layers``; of figure 3 ``seed``; of figure
            critical ``metric``, ``target``, ``seed`` and ``radius``; of figure spectrum ``architecture``, a
            network, ``digits``, ``last`` for the least factor 2^(−last), and ``seed``.

    Returns:
        What was computed, which ``save(path)`` draws. Figure 2 is also the sequence of the factors of the
        product, and figure 3 that of its rows, one for each width.

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
    name = one_of(str(number), _FIGURES, "figure")
    place, takes = _FIGURES[name]
    for option, value in options.items():
        if option not in takes:
            listed = f"it takes {', '.join(takes)}" if takes else "it takes none"
            raise InputError(f"figure {name} has no option {option!r}; {listed}")
        if option in ("radius", "layers", "last"):
            positive_integer(option, value)
        elif option in _KINDS:
            fits, words = _KINDS[option]
            refuse_unless(fits(value), option, value, words)
    module, function = place.split(":")
    held = {option: options.pop(option) for option in KEYWORDS if option in options}
    with limited(**held):
        return getattr(import_module(f"agattn.reports.{module}"), function)(**options)


_FIGURE_1 = SingleLayer(2, 1)


def _figure_1(layer: SingleLayer = _FIGURE_1, slice: Any = None, **settings: Any) -> Any:
    from agattn.reports.figure1 import compute_figure_1
    from agattn.systems.points import read_slice
    from agattn.systems.problem import check_size

    if not limits().force:
        check_size(layer)
    chosen = read_slice(Path(slice), layer) if isinstance(slice, (str, Path)) else slice
    return compute_figure_1(layer, chosen, **settings)


def _figure_3() -> Any:
    from agattn.reports.figure3 import Figure3, figure_3

    return Figure3(tuple(figure_3()))


def _is_slice(value: Any) -> bool:
    from agattn.geometry.sections.slices import Slice

    return value is None or isinstance(value, (str, Path, Slice))


#: What some options must be: a test, and in words.
_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "layer": (lambda value: isinstance(value, SingleLayer), "a layer such as ag.SingleLayer(2, 1)"),
    "architecture": (lambda value: hasattr(value, "as_network"), "a network of attention"),
    "slice": (_is_slice, "a slice, or the path of a JSON file"),
}


#: What computes each figure, as ``module:function`` of this room, and its options.
_FIGURES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "1": ("figures:_figure_1", ("layer", "slice", "engine", "radius", "timeout", "memory", "force")),
    "2": ("figure2:Figure2", ("layers",)),
    "3": ("figures:_figure_3", ("seed",)),
    "critical": ("figure_critical:compute_figure_critical", ("metric", "target", "seed", "radius")),
    "deep": ("figure_deep:compute_figure_deep", ()),
    "spectrum": ("figure_spectrum:compute_figure_spectrum", ("architecture", "digits", "last", "seed")),
}
