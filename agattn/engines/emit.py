"""Writing scripts: a problem, an engine's template, and the text that comes of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from functools import lru_cache
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.engines.engine import Engine
from agattn.engines.msolve_lists import names_of, write_system
from agattn.engines.transcript import CHECKSUM_BASE, CHECKSUM_PRIME
from agattn.systems.explicit import (
    critical_equations,
    critical_points,
    fiber,
    fiber_up_to_scaling,
    graph,
    model_fiber,
    model_graph,
)
from agattn.systems.points import critical_factors
from agattn.systems.problem import Problem

if TYPE_CHECKING:
    import jinja2

    from agattn.systems.model_tasks import Parameter


@lru_cache(maxsize=4)
def _environment(engine: Engine) -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(engine.templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.globals |= {"checksum_base": CHECKSUM_BASE, "checksum_prime": CHECKSUM_PRIME}
    environment.globals |= {"graph": graph, "fiber": fiber, "fiber_up_to_scaling": fiber_up_to_scaling}
    environment.globals |= {"critical_points": critical_points, "critical_equations": critical_equations}
    environment.globals |= {"model_fiber": model_fiber, "model_graph": model_graph}
    environment.filters |= {
        "m2row": _braces,
        "rows": lambda rows: _braces(map(_braces, rows)),
        "m2matrix": lambda rows: "matrix" + _braces(map(_braces, rows)),
        "entries": lambda rows: ",".join(str(entry) for row in rows for entry in row),
        "critical_factors": critical_factors,
        "slice_images": _slice_images,
        "ascii": _ascii,
        "parameter": _parameter,
        "variables": _variables,
        "long": _long,
        "msolve": lambda polynomials: write_system(polynomials, names_of(polynomials[0].ring)),
        "m2": methodcaller("macaulay2"),
        "singular": methodcaller("singular"),
    }
    return environment


def _braces(entries: Iterable[object]) -> str:
    return "{" + ",".join(map(str, entries)) + "}"


def _slice_images(problem: Problem, engine_name: str) -> str:
    """The slice as an engine reads it: the images of all coordinates in s_1, s_2, s_3, eight to a line."""
    from jinja2.filters import do_batch

    ring = PolynomialRing([Variable("s", (n,)) for n in (1, 2, 3)])
    polynomials = [f.compose(ring.gens) for f in problem.data["slice"].images()]
    images = [f.macaulay2() if engine_name == "macaulay2" else f.singular() for f in polynomials]
    return ",\n    ".join(map(", ".join, do_batch(images, 8)))


def _ascii(text: str) -> str:
    """Text for comments, on one line and without letters that older engines and terminals do not know."""
    plain = " ".join(text.replace("×", "x").replace("→", "->").split())
    return plain.encode("ascii", "replace").decode()


def _named(variable: Variable, engine_name: str) -> str:
    names = {"macaulay2": variable.macaulay2(), "singular": variable.singular(), "msolve": variable.name}
    return names[engine_name]


def _parameter(part: Parameter, engine_name: str) -> str:
    """An array of parameters and the variables that are its entries."""
    size = " x ".join(map(str, part.shape)) or "1"
    first, last = (_named(variable, engine_name) for variable in (part.first, part.last))
    return _ascii(f"{part.name}, {size}: {first}{f' to {last}' if first != last else ''}")


def _variables(problem: Problem, engine_name: str) -> str:
    """The parameters of a model, with line breaks."""
    ring = problem.data["polynomials"][0].ring
    return _wrapped(", ".join(_named(variable, engine_name) for variable in ring.variables))


def _long(polynomial: Polynomial, engine_name: str) -> str:
    """A polynomial as an engine reads it, with line breaks between terms."""
    text = polynomial.macaulay2()
    if engine_name == "singular":
        text = re.sub(r"(?<=.)([+-])", r" \1 ", polynomial.singular())
    return _wrapped(text)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def emit(problem: Problem, engine: Engine, *, machine: bool = False) -> str:
    """The script that makes an engine solve a problem and print the answer.

    The script stands alone: it can be saved, read, changed, and run by hand. With ``machine`` a last part is
    added that prints the answer once more, as :func:`agattn.engines.transcript.read` reads it.

    >>> from agattn import SingleLayer
    >>> from agattn.engines.engine import MACAULAY2
    >>> from agattn.systems.catalogue import build
    >>> problem = build("implicit-ideal", SingleLayer(2, 1))
    >>> print(emit(problem, MACAULAY2).splitlines()[0])
    -- Equations of the neuromanifold M(2,1,2), by elimination
    >>> "agattn-data" in emit(problem, MACAULAY2), "agattn-data" in emit(problem, MACAULAY2, machine=True)
    (False, True)

    Raises:
        InputError: if the engine cannot solve it.
    """
    engine.check_can(problem)
    template = _environment(engine).get_template(f"{problem.form}.{engine.suffix}.j2")
    macros = _macros(engine)
    text = template.render(problem=problem).replace("--engine ENGINE", f"--engine {engine.name}")
    text = f"{text}\n{macros['machine'](problem) if machine else macros['close']()}"
    lines = [line.rstrip() for line in text.strip().splitlines()]
    # At most one empty line in a row, wherever optional parts were left out.
    kept = [line for n, line in enumerate(lines) if line or lines[n - 1]]
    return "\n".join(kept) + "\n"


def _macros(engine: Engine) -> dict[str, Any]:
    return vars(_environment(engine).get_template("common.j2").module)


def marks(problem: Problem, engine: Engine) -> tuple[str, str]:
    """What a script says before and after its results, ``sayInteger`` of which it is to call between."""
    macros = _macros(engine)
    return str(macros["report"](problem)), str(macros["end"]())
