"""Writing scripts: a problem, an engine's template, and the text that comes of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from pathlib import Path

import jinja2
from jinja2.filters import do_batch

from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.engines.engine import Engine
from agattn.engines.transcript import CHECKSUM_BASE, CHECKSUM_PRIME
from agattn.geometry.variety.coordinates import coordinate_ring, coordinates
from agattn.systems.points import critical_factors
from agattn.systems.problem import Problem


@lru_cache(maxsize=4)
def _environment(engine_name: str) -> jinja2.Environment:
    folder = Path(str(resources.files("agattn.engines").joinpath("templates", engine_name)))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.globals |= {"checksum_base": CHECKSUM_BASE, "checksum_prime": CHECKSUM_PRIME}
    environment.filters |= {
        "m2row": _braces,
        "m2matrix": lambda rows: "matrix" + _braces(map(_braces, rows)),
        "entries": lambda rows: ",".join(str(entry) for row in rows for entry in row),
        "critical_factors": critical_factors,
        "coordinates": lambda problem: coordinates(problem.layer),
        "slice_images": _slice_images,
        "coordinate_names": _coordinate_names,
    }
    return environment


def _braces(entries: Iterable[object]) -> str:
    return "{" + ",".join(map(str, entries)) + "}"


def _slice_images(problem: Problem, engine_name: str) -> str:
    """The slice as an engine reads it: the images of all coordinates in s_1, s_2, s_3, eight to a line."""
    ring = PolynomialRing([Variable("s", (n,)) for n in (1, 2, 3)])
    polynomials = [f.compose(ring.gens) for f in problem.data["slice"].images()]
    images = [f.macaulay2() if engine_name == "macaulay2" else f.singular() for f in polynomials]
    return ",\n    ".join(map(", ".join, do_batch(images, 8)))


def _coordinate_names(problem: Problem) -> str:
    """The names of the coordinates for Singular, eight to a line."""
    names = (variable.singular() for variable in coordinate_ring(problem.layer).variables)
    return ",\n          ".join(map(",".join, do_batch(names, 8)))


def emit(problem: Problem, engine: Engine) -> str:
    """The script that makes an engine solve a problem, ending in a data block.

    The script stands alone: it can be saved, read, changed, and run by hand.

    >>> from agattn import SingleLayer
    >>> from agattn.engines.engine import MACAULAY2
    >>> from agattn.systems.catalogue import build
    >>> print(emit(build("implicit-ideal", SingleLayer(2, 1)), MACAULAY2).splitlines()[0])
    -- Equations of the neuromanifold M(2,1,2), by elimination
    """
    template = _environment(engine.name).get_template(f"{problem.task}.{engine.suffix}.j2")
    text = template.render(problem=problem).replace("--engine ENGINE", f"--engine {engine.name}")
    lines = [line.rstrip() for line in text.strip().splitlines()]
    # At most one empty line in a row, wherever optional parts were left out.
    kept = [line for n, line in enumerate(lines) if line or lines[n - 1]]
    return "\n".join(kept) + "\n"


def marks(problem: Problem, engine: Engine) -> tuple[str, str]:
    """What a script says before and after its results, ``sayInteger`` of which it is to call between."""
    common = vars(_environment(engine.name).get_template("common.j2").module)
    return str(common["report"](problem)), str(common["end"]())
