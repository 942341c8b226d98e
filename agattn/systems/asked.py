"""The problem that a task puts to engines, from what is given in Python or in a shell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agattn.architectures import Architecture, SingleLayer
from agattn.calls import shown
from agattn.errors import InputError, argument
from agattn.geometry.identifiability.fibers import Weights
from agattn.geometry.variety.coordinates import coefficients
from agattn.systems.catalogue import build, not_taken, task_about
from agattn.systems.points import point_of, read_point, read_target, slice_of
from agattn.systems.problem import Problem, Task

#: What may be asked of a task besides the architecture.
OPTIONS = (
    "characteristic", "point", "max_degree", "prime", "components", "slice", "metric",
    "samples", "data",
)  # fmt: skip


def asked(
    architecture: Architecture,
    task: str,
    *,
    point: Any = None,
    slice: Any = None,
    metric: str | None = None,
    samples: int | None = None,
    data: Any = None,
    **given: Any,
) -> Problem:
    """The problem of a task.

    Args:
        architecture: a layer, a network or a model.
        task: its name.
        point: exact weights of a layer, arrays by the names of a model's parameters, for membership also N
            coordinates; or the path of a JSON file with such.
        slice: a :class:`~agattn.geometry.sections.slices.Slice`, or the path of a JSON file.
        metric, samples, data: the loss of critical points; ``data`` are arrays X and Y.
        given: ``characteristic``, ``max_degree``, ``prime`` and ``components``, as
            :func:`agattn.systems.catalogue.build` takes them.

    Raises:
        InputError: if there is no such task, or it looks at none of what is given.
        TooLargeError: if the system is beyond the limits on sizes.
    """
    known = task_about(task, architecture)
    more = {key: value or None for key, value in given.items() if key in ("prime", "components")}
    if point is not None:
        more |= _at(point, architecture, known)
    if slice is not None:
        more["slice"] = slice
        if "slice" in known.takes:
            more["slice"] = slice_of(slice, architecture)  # type: ignore[arg-type]
    if metric or samples or data is not None:
        if "loss" not in known.takes:
            option = "metric" if metric else "samples" if samples else "data"
            raise InputError(not_taken(task, architecture, argument(option)))
        more["loss"] = _loss(architecture, metric, samples, data)
    return build(task, architecture, **given | more)


def _loss(layer: Any, metric: str | None, samples: int | None, data: Any) -> Any:
    from agattn.geometry.critical_points.loss import loss

    return loss(layer, metric or "generic", data, samples=samples)


def _at(point: Any, architecture: Architecture, task: Task[Any]) -> dict[str, Any]:
    """A point as a task takes it: exact weights, all coordinates, or all parameters of a model."""
    takes = next((key for key in ("target", "weights") if key in task.takes), "points")
    if isinstance(point, (str, Path)):
        return {takes: _in_file(Path(point), architecture, takes) if takes in task.takes else point}
    if not isinstance(architecture, SingleLayer) or takes == "weights":
        if takes != "weights":
            raise InputError(f"{task.name} looks at no point of {architecture.name}; leave the point out")
        if not isinstance(point, Mapping):
            raise InputError(f"the point is {shown(point)}; give arrays by the names of the parameters")
        from agattn.geometry.identifiability.families import ExactWeights

        return {takes: ExactWeights(architecture, point).vector}
    if takes == "target" and not isinstance(point, (Weights, Mapping)):
        from agattn.geometry.reconstruction.membership import compact

        return {takes: tuple(compact(architecture, point).tolist())}
    from agattn.geometry.identifiability.equivalence import weights_of_layer

    at = point_of(weights_of_layer(architecture, point))
    return {takes: tuple(coefficients(architecture, at.A, at.V)) if takes == "target" else (at,)}


def _in_file(path: Path, architecture: Any, takes: str) -> Any:
    from agattn.systems.model_tasks import read_weights

    if takes == "points":
        return (read_point(path, architecture),)
    return read_target(path, architecture) if takes == "target" else read_weights(path, architecture)
