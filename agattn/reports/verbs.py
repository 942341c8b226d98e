"""The verbs that write documents: figures, and reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.architectures import Architecture, SingleLayer, as_attention
from agattn.calls import one_of, positive_integer, refuse_unless
from agattn.engines.catalogue import engine_name
from agattn.errors import InputError
from agattn.patience import Progress, silent

if TYPE_CHECKING:
    from agattn.experiments.studies.jobs import Line
    from agattn.reports.document import Document

#: Reports show equations up to this degree.
MOST_DEGREES = 8


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
    return getattr(import_module(f"agattn.reports.{module}"), function)(**options)


_FIGURE_1 = SingleLayer(2, 1)


def _figure_1(
    layer: SingleLayer = _FIGURE_1, slice: Any = None, timeout: float = 60.0, memory: int = 8192,
    force: bool = False, **settings: Any,
) -> Any:  # fmt: skip
    from agattn.engines.run import Limits
    from agattn.reports.figure1 import compute_figure_1
    from agattn.systems.points import read_slice
    from agattn.systems.sizes import check_size

    if not force:
        check_size(layer)
    chosen = read_slice(Path(slice), layer) if isinstance(slice, (str, Path)) else slice
    return compute_figure_1(layer, chosen, limits=Limits(timeout, memory), force=force, **settings)


def _figure_3(seed: int = 0) -> Any:
    from agattn.reports.figure3 import Figure3, figure_3

    return Figure3(tuple(figure_3(seed=seed)))


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
    "1": ("verbs:_figure_1", ("layer", "slice", "engine", "radius", "timeout", "memory", "force")),
    "2": ("figure2:Figure2", ("layers",)),
    "3": ("verbs:_figure_3", ("seed",)),
    "critical": ("figure_critical:compute_figure_critical", ("metric", "target", "seed", "radius")),
    "deep": ("figure_deep:compute_figure_deep", ()),
    "spectrum": ("figure_spectrum:compute_figure_spectrum", ("architecture", "digits", "last", "seed")),
}


def report(
    architecture: Architecture | Sequence[Line],
    *,
    engine: str = "auto",
    max_degree: int = 3,
    pictures: bool = True,
    timeout: float = 60.0,
    memory: int = 8192,
    force: bool = False,
    seed: int = 0,
    grid_text: str = "",
    command: str = "",
    progress: Progress = silent,
) -> Document:
    """Everything about one architecture, or the results of a study, as one document.

    Args:
        architecture: a layer, a network or a polynomial model; or the lines of :func:`agattn.study`.
        engine: of a layer or a network of attention who computes, as for :func:`agattn.verify`.
        max_degree: the last degree of the equations of a layer or a model, at most 8.
        pictures: draw figures, which needs matplotlib.
        timeout, memory: limits of each engine process, in seconds and MiB.
        force: go beyond the limits on sizes.
        seed: of all random choices.
        grid_text: of a study: its grid, which stands beside the results.
        command: the command line that makes the report, as the document names it.
        progress: called with a line about each step.

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
    known = as_attention(architecture)
    if known.as_network() is None:
        from agattn.reports.model_report import model_report

        return model_report(
            known, max_degree=max_degree, seed=seed, force=force, command=command, progress=progress
        )
    from agattn.engines.run import Limits
    from agattn.reports import architecture_report as room
    from agattn.verification.verify import CHOICES, Settings

    settings = Settings(engine_name(engine, CHOICES), limits=Limits(timeout, memory), force=force, seed=seed)
    attention: Any = known
    return room.report(
        attention, settings, max_degree=max_degree, pictures=pictures, command=command, progress=progress
    )
