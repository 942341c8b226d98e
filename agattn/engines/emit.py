"""Writing scripts: a problem, an engine's template, and the text that comes of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import Architecture, SingleLayer
from agattn.architectures.model_file import STUDIED, Studied
from agattn.engines.catalogue import TEMPLATES, Engine, check_can, engine_named
from agattn.engines.msolve import write_system
from agattn.engines.reading import CHECKSUM_BASE, CHECKSUM_PRIME
from agattn.errors import printable
from agattn.evidence import EngineName
from agattn.files import write
from agattn.geometry.sections.slices import Slice
from agattn.geometry.variety.coordinates import coordinate_ring
from agattn.limits import takes
from agattn.sheet.result import Described, Key, Written
from agattn.systems.model_tasks import Parameter
from agattn.systems.points import critical_factors
from agattn.systems.problem import Problem

if TYPE_CHECKING:
    import jinja2


class Script(Described, str, name="emit", extensible=True):
    """A script for an engine: a text, shown without quotes, with the task and the engine that it is for."""

    task: Key[str, "The name of the task."]
    engine: Key[str, "The engine that the script is for.", Written(EngineName)]
    architecture: Key[Studied, STUDIED]
    script: Key[str, "The script itself."]

    def __new__(cls, script: str, task: str, engine: str, architecture: Architecture) -> Script:
        """A script for the engine of this name."""
        made = super().__new__(cls, script)
        made.script, made.task, made.engine, made.architecture = script, task, engine, architecture
        return made

    def summary(self) -> str:
        """What it is, in a line."""
        return f"{self.task} of {self.architecture.name}, for {self.engine}"

    def __str__(self) -> str:
        return self.script

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.script)}</pre>"

    def save(self, path: str | Path) -> None:
        """Write the script into a file."""
        write(path, self.script)


@lru_cache(maxsize=4)
def _environment(engine: Engine) -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([TEMPLATES / engine.name, TEMPLATES]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.globals |= {"checksum_base": CHECKSUM_BASE, "checksum_prime": CHECKSUM_PRIME}
    environment.globals["coordinate_ring"] = coordinate_ring
    written = engine.written
    environment.filters |= {
        "written": written,
        "long": partial(_long, written),
        "wrapped": _wrapped,
        "parameter": partial(_parameter, written),
        "slice_images": partial(_slice_images, written),
        "m2row": _braces,
        "m2matrix": lambda rows: "matrix" + _braces(map(_braces, rows)),
        "entries": lambda rows: ",".join(str(entry) for row in rows for entry in row),
        "critical_factors": critical_factors,
        "ascii": _ascii,
        "msolve": write_system,
    }
    return environment


Writer = Callable[[Any], str]


def _braces(entries: Iterable[object]) -> str:
    return "{" + ",".join(map(str, entries)) + "}"


def _slice_images(written: Writer, chosen: Slice) -> str:
    """The slice as an engine reads it: the images of all coordinates in s_1, s_2, s_3, eight to a line."""
    from jinja2.filters import do_batch

    ring = PolynomialRing([Variable("s", (n,)) for n in (1, 2, 3)])
    images = (written(f.compose(ring.gens)) for f in chosen.images())
    return ",\n    ".join(map(", ".join, do_batch(images, 8)))


def _ascii(text: str) -> str:
    """Text for comments, on one line and without letters that older engines and terminals do not know."""
    plain = printable(" ".join(text.replace("×", "x").replace("→", "->").split()))
    return plain.encode("ascii", "replace").decode()


def _parameter(written: Writer, part: Parameter) -> str:
    """An array of parameters and the variables that are its entries."""
    size = " x ".join(map(str, part.shape)) or "1"
    variables = " to ".join(dict.fromkeys(map(written, (part.first, part.last))))
    return _ascii(f"{part.name}, {size}: {variables}")


def _long(written: Writer, polynomial: Polynomial) -> str:
    """A polynomial as an engine reads it, with line breaks between terms."""
    text = written(polynomial)
    return _wrapped(text if " " in text else re.sub(r"(?<=.)([+-])", r" \1 ", text))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def emit(problem: Problem, engine: Engine, *, machine: bool = False) -> str:
    """The script that makes an engine solve a problem and print the answer.

    The script stands alone: it can be saved, read, changed, and run by hand. With ``machine`` a last part is
    added that prints the answer once more, as :func:`agattn.engines.reading.read` reads it.

    >>> from agattn import SingleLayer
    >>> from agattn.engines.catalogue import MACAULAY2
    >>> from agattn.systems.catalogue import build
    >>> problem = build("implicit-ideal", SingleLayer(2, 1))
    >>> print(emit(problem, MACAULAY2).splitlines()[0])
    -- Equations of the neuromanifold M(2,1,2), by elimination
    >>> "agattn-data" in emit(problem, MACAULAY2), "agattn-data" in emit(problem, MACAULAY2, machine=True)
    (False, True)

    Raises:
        InputError: if the engine cannot solve it.
    """
    check_can(engine, problem)
    template = _environment(engine).get_template("script.j2")
    task = engine.template(problem.form)
    text = template.render(_names(problem, engine), task=task, for_agattn=machine)
    lines = [line.rstrip() for line in text.replace("ENGINE", engine.name).strip().splitlines()]
    # At most one empty line in a row, wherever optional parts were left out.
    kept = [line for n, line in enumerate(lines) if line or lines[n - 1]]
    return "\n".join(kept) + "\n"


def _names(problem: Problem, engine: Engine) -> dict[str, Any]:
    """What templates know by name: the problem and its parts, and the macros of the engine's common.j2."""
    of = None if problem.form != problem.task else problem.architecture
    layer = of if isinstance(of, SingleLayer) else None
    names = {
        "problem": problem,
        "data": problem.data,
        "layer": layer,
        "network": None if layer else of,
        "bounded": layer and layer.a < layer.d,
        "alpha": "r" if layer and layer.a < layer.d else "d",
        "comment": engine.comment,
    }
    return names | vars(_environment(engine).get_template("common.j2").make_module(names))


def ask_of(equations: str, problem: Problem, engine: Engine) -> str:
    """A script that is the template of the problem alone, after a script that defines an ideal I.

    Raises:
        InputError: if the engine has no such template.
    """
    check_can(engine, problem)
    template = _environment(engine).get_template(engine.template(problem.form))
    return f"{equations}{template.render(_names(problem, engine))}"


@takes("seed", "force")
def emit_task(
    architecture: Architecture, task: str, engine: str = "macaulay2", *, machine: bool = False, **options: Any
) -> Script:
    """The script for an engine that computes a task; it stands alone and can be run by hand.

    Args:
        architecture: a layer, a network or a model.
        task: a name that ``agattn emit --list`` prints, such as ``"implicit-ideal"``.
        engine: ``"macaulay2"``, ``"singular"`` or ``"msolve"``.
        machine: add the part that :func:`agattn.run` adds, and reads.
        options: ``characteristic``; and what the task takes: ``point`` (exact weights,
            for membership also N coordinates, and of a model arrays by the names of its parameters),
            ``max_degree``, ``prime``, ``components``, ``slice``, and for critical points the loss, by
            ``metric``, ``samples`` and ``data``. Points and slices may be paths of JSON files.

    Raises:
        InputError: if there is no such task or engine, or the task is not about this architecture.

    See Also:
        :func:`agattn.run`, :func:`agattn.doctor`; ``agattn emit`` in a shell.

    >>> import agattn as ag
    >>> print(ag.script(ag.SingleLayer(2, 1), "implicit-ideal").splitlines()[0])
    -- Equations of the neuromanifold M(2,1,2), by elimination
    >>> ag.script(ag.SingleLayer(2, 1), "implicit-ideals")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: there is no task 'implicit-ideals'; did you mean 'implicit-ideal'?
    """
    from agattn.systems.catalogue import asked  # a schema does without all tasks

    problem, chosen = asked(architecture, task, **options), engine_named(engine)
    text = emit(problem, chosen, machine=machine)
    return Script(text, problem.task, chosen.name, problem.architecture)
