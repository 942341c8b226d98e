"""All tasks, and the problems that they put to engines.

A task stands in :mod:`agattn.systems.ideal_tasks`, :mod:`agattn.systems.layer_tasks`,
:mod:`agattn.systems.critical_tasks`, :mod:`agattn.systems.network_tasks` or
:mod:`agattn.systems.model_tasks`, and is found there by its type.

>>> from agattn import DeepNetwork, SingleLayer
>>> build("implicit-ideal", SingleLayer(2, 1)).title
'Equations of the neuromanifold M(2,1,2), by elimination'
>>> build("virtual-fiber", DeepNetwork((2, 2, 1), (2, 2), t=3)).command
'agattn emit virtual-fiber --engine ENGINE --dims 2,2,1 --ranks 2,2 -t 3'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import flint

from agattn.architectures import Architecture
from agattn.calls import one_of, shown
from agattn.checkpoints.weight_files import WeightFile
from agattn.errors import InputError, argument, nearest, worded
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.identifiability.families import ExactWeights
from agattn.limits import limits, refuse, takes
from agattn.systems import critical_tasks, ideal_tasks, layer_tasks, model_tasks, network_tasks
from agattn.systems.points import point_of, slice_of, target_of
from agattn.systems.problem import Problem, Task

MODULAR_PRIME = 32003

#: The tasks that engines can be asked, by name.
TASKS: Mapping[str, Task[Any]] = {
    value.name: value
    for module in (ideal_tasks, layer_tasks, critical_tasks, network_tasks)
    for value in vars(module).values()
    if isinstance(value, Task) and value.results
}

#: Of these names, the tasks that are put to engines about any other polynomial architecture.
MODEL_TASKS: Mapping[str, Task[Any]] = {
    value.name: value for value in vars(model_tasks).values() if isinstance(value, Task)
}

#: What may be asked of a task besides the architecture.
OPTIONS = (
    "characteristic", "point", "max_degree", "prime", "components", "slice", "metric", "samples", "data",
)  # fmt: skip
#: The options by which some of what a task takes is given.
_OPTIONS = {"points": "point", "weights": "point", "target": "point", "loss": "metric"}


def task_named(name: str) -> Task[Any]:
    """The task of this name.

    Raises:
        InputError: if there is none that engines can be asked; the nearest one is suggested.
    """
    if name not in TASKS:
        described = {task.name: task.summary for task in TASKS.values()}
        hint = nearest(name, described, f"; there are {', '.join(TASKS)}")
        raise InputError(f"there is no task {name!r}{hint}")
    return TASKS[name]


def task_about(name: str, architecture: Architecture) -> Task[Any]:
    """The task of this name for an architecture: by the formulas of its kind, or for any model.

    Raises:
        InputError: if there is none, or it is about another kind of architecture.

    >>> from agattn import DeepNetwork, SingleLayer
    >>> [task_about("fiber", of).form for of in (SingleLayer(2, 1), DeepNetwork((2, 1), (1,)))]
    ['fiber', 'model-fiber']
    """
    task = task_named(name)
    fits = isinstance(architecture, task.about)
    if fits and (name not in MODEL_TASKS or task.one_token or architecture.t > 1):
        return task
    if name not in MODEL_TASKS:
        raise InputError(f"{name} is about a {task.about.kind}; give {worded(*task.about.options)}")
    if architecture.degree is None:
        raise InputError(f"{name} is about polynomials, and {architecture} is normalized")
    return MODEL_TASKS[name]


@takes("seed", "force")
def build(name: str, architecture: Architecture, characteristic: int = 0, **given: Any) -> Problem:
    """Build the problem that a task puts to an engine.

    Args:
        name: one of :data:`TASKS`.
        architecture: a single layer, a network or a model, whichever the task is about.
        characteristic: 0 for ℚ, or a prime for 𝔽_p.
        seed: of random weights, where the task needs some.
        force: build it however large it is.
        given: what the task takes: ``points`` instead of one representative of each stratum; ``target``, all
            coordinates of a point of the ambient space; ``slice`` instead of that of Figure 1;
            ``max_degree``; ``prime``, whether to decide primality; ``loss``, instead of that of generic
            samples; of a model ``weights``, all parameters in their order, and ``components``, whether to
            find these. ``None`` is as if it were not given.

    Raises:
        InputError: if there is no such task, or it does not apply to the architecture.
        TooLargeError: if the system is beyond the stated limit.
    """
    task = task_about(name, architecture)
    given = {key: value for key, value in given.items() if value is not None}
    if not task.one_token and architecture.t == 1:
        raise InputError(
            f"{name} needs t ≥ 2: with one token only V and A + Aᵀ matter, which have other orbits"
        )
    for key in given:
        if key not in task.takes:
            raise InputError(not_taken(name, architecture, argument(_OPTIONS.get(key, key))))
    if "target" in task.takes and "target" not in given:
        point = worded("--point FILE", "point=...")
        raise InputError(f'{name} needs {point}, with {{"y": [...]}} or with weights A and V')
    check_field(characteristic)
    if large := task.too_large(architecture):
        refuse(f"{name}: {large}", "write it")
    data = task.data(architecture, **given)
    due = (result for result in task.results if not result.where or data.get(result.where))
    results = tuple(replace(r, ring=r.ring(architecture, data)) if r.ring else r for r in due)
    words = [f"agattn emit {name} --engine ENGINE {getattr(architecture, 'arguments', 'FILE')}"]
    words += [f"--seed {limits().seed}"] if limits().seed and "seed" in task.takes else []
    words += [f"--field {characteristic}"] if characteristic else []
    words += [f"--{key}" for key in ("prime", "components") if data.get(key)]
    words += [f"--max-degree {data['max_degree']}"] if "max_degree" in data else []
    files = [_OPTIONS.get(key, key) for key in given]
    words += [f"--{key} FILE" for key in ("point", "slice") if key in files]
    if (chosen := given.get("loss")) is not None:
        words += ["--data FILE"] if chosen.metric == "data" else [f"--metric {chosen.metric}"]
        words += [f"--samples {chosen.samples}"] if chosen.metric == "generic" else []
    problem = Problem(task, architecture, results, " ".join(words), data, characteristic)
    for entry in problem.numbers() if characteristic else ():
        if entry.denominator % characteristic == 0:
            raise InputError(
                f"{entry} is no element of the field with {characteristic} elements; use another prime, or QQ"
            )
    return problem


def asked(architecture: Architecture, task: str, **options: Any) -> Problem:
    """The problem of a task, from what is given in Python or in a shell.

    Args:
        architecture: a layer, a network or a model.
        task: its name.
        options: of :data:`OPTIONS`: ``point``, exact weights of a layer, arrays by the names of a model's
            parameters, for membership also N coordinates; ``slice``; the loss of critical points by
            ``metric``, ``samples`` and ``data``, arrays X and Y; the others as :func:`build` takes them.
            Points and slices may be paths of JSON files.

    Raises:
        InputError: if there is no such task or option, or the task looks at none of what is given.
        TooLargeError: if the system is beyond the limits on sizes.
    """
    name = one_of(task, TASKS, "task")
    for option in options:
        one_of(option, OPTIONS, "option")
    about = task_about(name, architecture)
    given = {key: value for key, value in options.items() if value is not None and value is not False}
    if "point" in given:
        given |= _at(given.pop("point"), architecture, about)
    if "slice" in given and "slice" in about.takes:
        given["slice"] = slice_of(given["slice"], architecture)  # type: ignore[arg-type]
    if of_loss := {key: given.pop(key) for key in ("metric", "samples", "data") if key in given}:
        if "loss" not in about.takes:
            raise InputError(not_taken(name, architecture, argument(next(iter(of_loss)))))
        metric, samples, data = (of_loss.get(key) for key in ("metric", "samples", "data"))
        given["loss"] = loss(architecture, metric or "generic", data, samples=samples)
    return build(name, architecture, **given)


def _at(point: Any, architecture: Any, task: Task[Any]) -> dict[str, Any]:
    """A point as a task takes it: exact weights, all coordinates, or all parameters of a model."""
    takes = next((key for key in ("target", "weights") if key in task.takes), "points")
    if takes not in task.takes:
        return {takes: point}  # which is refused
    if takes == "weights":
        given = WeightFile([point]) if isinstance(point, (str, Path)) else point
        if not isinstance(given, Mapping):
            raise InputError(f"the point is {shown(point)}; give arrays by the names of the parameters")
        return {takes: ExactWeights(architecture, given).vector}
    return {takes: target_of(point, architecture) if takes == "target" else (point_of(point, architecture),)}


def not_taken(name: str, architecture: Architecture, option: str) -> str:
    """Why a task refuses an option.

    >>> from agattn import SingleLayer
    >>> not_taken("fiber", SingleLayer(2, 1), "--components")
    'fiber of a layer takes no --components; leave --components out'
    """
    return f"{name} of a {architecture.kind} takes no {option}; leave {option} out"


def check_field(characteristic: int) -> None:
    """Refuse what is no usable field.

    Raises:
        InputError: if the characteristic is neither 0 nor a prime that says something and engines accept.
    """
    if characteristic and not flint.fmpz(characteristic).is_prime():
        raise InputError(f"the field is ℤ/{characteristic}, which is no field; use QQ or a prime")
    if 0 < characteristic < 100:
        raise InputError(
            f"the prime {characteristic} is too small to say anything about ℚ; use one above 100"
        )
    if characteristic > 32749:
        raise InputError(f"the prime {characteristic} is too large for older engines; use one up to 32749")
