"""An experiment: what is trained, on what, how, and from which seeds; as a file that a person writes.

>>> [experiment] = read_experiments('''
... [[experiment]]
... layer = {d = 3, d_out = 2, a = 2}
... teacher = {kind = "stratum", stratum = [1, 1, 1]}
... seeds = "0..9"
... ''')
>>> print(experiment)
M(3,2,2), teacher (1,1,1), gradient flow to t = 1e+06, scale 0.5
>>> len(experiment.seeds)
10
>>> read_experiments('[experiment]\\nlayer = {d = 2, d_out = 1}\\nmetod = "flow"')
Traceback (most recent call last):
    ...
agattn.errors.InputError: experiment has an unknown key 'metod'; did you mean 'method'?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import resources
from operator import index
from typing import Any

from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.architectures.model_file import check_keys, from_table
from agattn.calls import is_number, is_whole, one_of, positive_integer, refuse_unless, shown
from agattn.errors import InputError
from agattn.experiments.training.teachers import Data, Teacher
from agattn.files import about, parsed

METHODS = {
    "flow": "gradient flow",
    "descent": "gradient descent",
    "langevin": "Langevin dynamics",
    "untrained": "untrained",
}
#: The most seeds of one experiment.
MOST_SEEDS = 100_000
_ARCHITECTURES = ("layer", "network", "model")


@dataclass(frozen=True)
class Experiment:
    """Training from several seeds.

    Attributes:
        architecture: what is trained.
        teacher: what is learned.
        data: what the loss sees.
        method: ``"flow"``, ``"descent"``, ``"langevin"``, or ``"untrained"`` for the start alone.
        scale: the standard deviation of the weights at the start.
        decay: μ of the weight decay μ/2 ‖θ‖².
        time: until when the flow goes.
        steps, rate: of descent and Langevin dynamics.
        temperature: of Langevin dynamics.
        compiled: whether JAX compiles the loss of samples for the flow; numbers differ by rounding.
        name: of the experiment, for tables.
        seeds: each gives a start, and a teacher if that has no seed of its own.
    """

    architecture: Architecture
    teacher: Teacher = field(default_factory=Teacher)
    data: Data = field(default_factory=Data)
    method: str = "flow"
    scale: float = 0.5
    decay: float = 0.0
    time: float = 1e6
    steps: int = 10_000
    rate: float = 1e-2
    temperature: float = 0.0
    compiled: bool = False
    name: str = ""
    seeds: tuple[int, ...] = tuple(range(10))

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", one_of(self.method, METHODS, "method"))
        for name in ("scale", "time", "rate", "decay", "temperature"):
            value: Any = getattr(self, name)
            positive = name in ("scale", "time", "rate")
            least = "a number above 0" if positive else "a number of at least 0"
            refuse_unless(is_number(value) and not (positive and value == 0), name, value, least)
            object.__setattr__(self, name, float(value))
        object.__setattr__(self, "steps", positive_integer("steps", self.steps))
        if (self.temperature > 0) != (self.method == "langevin"):
            raise InputError(
                'method = "langevin" needs a temperature above 0, and no other method has a temperature'
            )
        refuse_unless(type(self.compiled) is bool, "compiled", self.compiled, "true or false")
        if self.compiled and (self.method != "flow" or self.data.samples is None):
            raise InputError("compiled is for gradient flow with samples; leave it out")
        if not self.name:
            object.__setattr__(self, "name", str(self))

    def as_json(self) -> dict[str, Any]:
        """All that a run depends on, besides the architecture and its seed."""
        of_method = {"flow": ("time",), "untrained": ()}.get(self.method, ("steps", "rate", "temperature"))
        given = {name: getattr(self, name) for name in ("method", "scale", "decay", *of_method)}
        compiled = {"compiled": True} if self.compiled else {}
        return {"teacher": self.teacher.as_json(), "data": asdict(self.data)} | given | compiled

    def __str__(self) -> str:
        teacher, how = self.teacher, METHODS[self.method]
        ranks = ",".join(map(str, teacher.stratum or teacher.ranks or ()))
        learned = {"stratum": f"({ranks})", "ranks": f"of ranks {ranks}"}.get(teacher.kind, teacher.kind)
        if self.method == "flow":
            how += f" to t = {self.time:g}"
        elif self.method != "untrained":
            how += f", {self.steps} steps of {self.rate:g}"
        words = [self.architecture.name, f"teacher {learned}", how, f"scale {self.scale:g}"]
        words += [f"decay {self.decay:g}"] if self.decay else []
        words += [f"temperature {self.temperature:g}"] if self.temperature else []
        words += [] if self.data.samples is None else [f"{self.data.samples} samples"]
        return ", ".join(words)


def example() -> str:
    """A file of experiments that works, with comments."""
    return resources.files("agattn.experiments.training").joinpath("example.toml").read_text(encoding="utf-8")


def read_experiments(text: str, seeds: str | None = None) -> list[Experiment]:
    """The experiments of a file, in its order.

    Args:
        text: TOML with an ``[[experiment]]`` for each, and perhaps ``seeds`` for all of them.
        seeds: that count instead of those in the file.

    Raises:
        InputError: if something in it cannot be used; names the key, the value and the fix.
    """
    table = parsed("TOML", text, "the file", "; agattn train --example shows one")
    check_keys("the file", table, ("experiment", "seeds"), ("experiment",))
    tables = table["experiment"]
    tables = [tables] if isinstance(tables, dict) else tables
    if not isinstance(tables, list) or not tables or not all(isinstance(entry, dict) for entry in tables):
        raise InputError("experiment must be a table [experiment], or several [[experiment]]")
    experiments: list[Experiment] = []
    for number, entry in enumerate(tables, 1):
        where = "experiment" if len(tables) == 1 else f"experiment {number}"
        with about(where):
            experiment = _experiment(where, entry, table.get("seeds", 10))
        if seeds is not None:
            experiment = replace(experiment, seeds=read_seeds(seeds))
        if experiment.name in (other.name for other in experiments):
            raise InputError(
                f"{where}: there is an experiment {experiment.name!r} before; give it another name"
            )
        experiments.append(experiment)
    return experiments


def _experiment(where: str, table: Mapping[str, Any], seeds: Any) -> Experiment:
    settings = [field.name for field in fields(Experiment) if field.name != "architecture"]
    check_keys(where, table, (*_ARCHITECTURES, *settings))
    kinds = [kind for kind in _ARCHITECTURES if kind in table]
    if len(kinds) != 1:
        raise InputError(f"{where} must have one of {', '.join(_ARCHITECTURES)}")
    given = {key: value for key, value in table.items() if key not in _ARCHITECTURES}
    given["seeds"] = read_seeds(table.get("seeds", seeds))
    for key, kind in (("teacher", Teacher), ("data", Data)):
        if key in given:
            given[key] = _value(kind, f"{where}: {key}", given[key])
    refuse_unless(isinstance(given.get("name", ""), str), "name", given.get("name"), "text")
    return Experiment(_architecture(f"{where}: {kinds[0]}", kinds[0], table[kinds[0]]), **given)


def _value(kind: Any, where: str, table: Any, needed: Sequence[str] = (), example: str = "") -> Any:
    """A dataclass from a table; the number of tokens of an architecture has two names."""
    refuse_unless(isinstance(table, dict), where, table, f"a table{example}")
    check_keys(where, table, [*(field.name for field in fields(kind)), *["tokens"] * bool(needed)], needed)
    with about(where):
        return kind(**table)


def _architecture(where: str, kind: str, table: Any) -> Any:
    example = " such as {d = 3, d_out = 2, a = 2}"
    if kind == "layer":
        return _value(SingleLayer, where, table, ("d", "d_out"), example)
    if kind == "network":
        return _value(DeepNetwork, where, table, ("dims", "ranks"), example)
    refuse_unless(isinstance(table, dict), where, table, f"a table{example}")
    model = from_table(table)
    return model.as_network() or model


def read_seeds(given: Any) -> tuple[int, ...]:
    """Seeds from their number, a range such as ``"0..99"``, or a list.

    >>> read_seeds(3), read_seeds("5..6"), read_seeds("4"), read_seeds([7, 7])
    ((0, 1, 2), (5, 6), (0, 1, 2, 3), (7,))
    """
    bad = InputError(
        f"seeds is {shown(given)}; it must be a number of seeds, a range such as '0..99', or a list"
    )
    numbers: Sequence[Any] = list(given) if isinstance(given, Iterable) else ()
    if isinstance(given, str):
        match = re.fullmatch(r"\s*(?:([0-9]{1,30})\s*\.\.\s*)?([0-9]{1,30})\s*", given)
        if match is None:
            raise bad
        first, last = (int(match[1]), int(match[2])) if match[1] else (0, int(match[2]) - 1)
        if match[1] and last < first:
            raise InputError(f"seeds is {shown(given)}; the range ends before it begins")
        numbers = range(first, min(last, first + MOST_SEEDS) + 1)
    elif is_whole(given):
        numbers = range(min(given, MOST_SEEDS + 1))
    if len(numbers) > MOST_SEEDS:
        raise InputError(f"there are more than {MOST_SEEDS} seeds; split the experiment")
    if not numbers or not all(map(is_whole, numbers)):
        raise bad
    return tuple(dict.fromkeys(map(index, numbers)))
