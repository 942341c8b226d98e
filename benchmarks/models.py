"""Models of all kinds: this package against its rivals, side by side in one run.

    python benchmarks/models.py [--limit SECONDS] [--quick] [--against OTHER/.venv/bin/python]

*Dimension*, here proved, against

    JAX         the rank of a Jacobian in float64, at a quarter more rows than parameters, with compilation in
                the time; "compiled" is the second call in the same process, without. It evaluates this
                package's own formulas, so both see the same function
    Macaulay2   numericalImageDim of the package NumericalImplicitization: a singular value decomposition
                at a random point; it takes the coefficients of the function, expanded
    FLINT       for maps without inputs: the function called on polynomials modulo a prime, all derivatives
                at a random point, and the rank of this matrix; no upper bound, no proof

Of maps our time is that of recording the function, and of the dimension with its proof.

*Minimal equations* up to a degree, here proved and written out over ℤ, against the rivals of ``rivals.py``
over a prime field, with the settings named there.

What is asked stands in ``cases.py``. Every row is a process of its own; ``rivals.py`` says what the columns
mean. All answers are compared. With ``--against`` the version of agattn that is installed beside another
Python gets a row as well.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

# As the command line does: one thread, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import flint
import numpy as np
from cases import KINDS, MAPS, NETWORKS, ideals, timed
from rivals import (
    Run,
    engine_run,
    header,
    installations,
    line,
    not_run,
    numbers,
    process,
    relations,
    settings,
    word,
)

import agattn as ag
from agattn.algebra.arithmetic import FloatArithmetic
from agattn.algebra.polynomial import Polynomial, Variable
from agattn.architectures import Architecture, as_layer
from agattn.engines.locate import Installation
from agattn.errors import TooLargeError
from agattn.geometry.ideal.torus_weights import generic_point
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring

#: Coefficients of more terms than this are not handed to Macaulay2.
MOST_TERMS = 3e5
CASES = Path(__file__).with_name("cases.py")


def bare_rank(known: ag.PolynomialMap, p: int = 1073741789) -> int:
    """The rank of the Jacobian at a random point modulo p, by FLINT's polynomials."""
    generator = np.random.default_rng(0)
    context = flint.nmod_mpoly_ctx.get([f"x{i}" for i in range(known.parameters)], modulus=p)
    gens = iter(context.gens())
    arrays = {}
    for name, shape in known.shapes.items():
        arrays[name] = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            arrays[name][place] = next(gens)
    out = known.function(**arrays)
    entries = out if isinstance(out, list) else out.ravel().tolist()
    point = generator.integers(0, p, known.parameters).tolist()
    rows = [[int(f.derivative(i)(*point)) for i in range(len(point))] for f in entries]
    return int(flint.nmod_mat(rows, p).rank())


class Jax:
    """The float rank of a Jacobian."""

    def __init__(self, architecture: Architecture, seed: int = 0) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        generator = np.random.default_rng(seed)
        self.theta = {name: generator.standard_normal(shape) for name, shape in architecture.shapes.items()}
        self.outputs = int(np.prod(architecture.output_shape))
        inputs = -(-5 * architecture.parameters // (4 * self.outputs)) + 5
        self.X = generator.standard_normal((inputs, *architecture.input_shape))

        def values(theta, X):  # type: ignore[no-untyped-def]
            return architecture.evaluate(FloatArithmetic(), theta, X[None])[0].ravel()

        self.jacobian = jax.jit(jax.vmap(jax.jacrev(values), in_axes=(None, 0)))

    def rank(self) -> int:
        import jax.numpy as jnp

        blocks = self.jacobian(self.theta, self.X).values()
        J = jnp.concatenate([block.reshape(len(self.X) * self.outputs, -1) for block in blocks], axis=1)
        return int(jnp.linalg.matrix_rank(J))


def numerical_script(architecture: Architecture) -> str:
    """The dimension by NumericalImplicitization; TooLargeError if the coefficients are too long."""
    f = coefficient_map(architecture, MOST_TERMS)
    source = ", ".join(v.macaulay2() for v in f.ring.variables)
    images = ", ".join(polynomial.macaulay2() for polynomial in f.polynomials)
    return (
        'needsPackage "NumericalImplicitization"\n'
        f"R = CC[{source}]\nF = {{{images}}}\nt0 = cpuTime()\nn = numericalImageDim(F, ideal 0_R)\n"
        '<< "inside " << toString(cpuTime() - t0) << endl\n<< toString {n} << endl\n'
    )


# Every row in a process of its own -------------------------------------------------------------------------


def alone(way: str, kind: str, number: int) -> None:
    """Do the row of a rival that runs in Python in this process: print the time inside, and the answer.

    JAX has a second row, of the second call.
    """
    known = KINDS[kind](number)
    if way == "flint":
        seconds, rank = timed(lambda: bare_rank(known))
    else:
        rival = Jax(known)
        seconds, rank = timed(rival.rank)
        again, second = timed(rival.rank)
        assert second == rank
        print(f"again {again}")
    print(f"inside {seconds}\n[{rank}]")


def _row(way: str, kind: str, number: int, limit: float) -> Run:
    return process([sys.executable, __file__, "--alone", way, kind, str(number)], limit, memory=24_000)


def _agrees(run: Run, wanted: object) -> str:
    found = numbers(run.output)
    return "agrees" if found == wanted else f"DIFFERS: {found}"


def ours(question: Sequence[object], limit: float, words: str, other: str | None) -> tuple[Run, list[int]]:
    """Print our own row, and that of another version if there is one; the run and the answer."""
    command = [sys.executable, str(CASES), *map(str, question)]
    run = process(command, limit, memory=24_000)
    answer = numbers(run.output)
    if run.problem or answer is None:
        raise SystemExit(f"{words}: {run.problem}")
    print(line("agattn", run, note=f"{words} {answer} ({word(run, 'evidence')})"), flush=True)
    if other is not None:
        earlier = process([other, *command[1:]], limit, memory=24_000, clone=False)
        print(line("agattn before", earlier, run, _agrees(earlier, answer)), flush=True)
    return run, answer


def a_dimension(
    kind: str, number: int, engine: Installation | None, limit: float, other: str | None = None
) -> None:
    """Print the rows about one dimension."""
    architecture = KINDS[kind](number)
    print(f"\n{architecture}, {architecture.parameters} parameters")
    mine, wanted = ours(("dimension", kind, number), limit, "dimension", other)
    if isinstance(architecture, ag.PolynomialMap) and architecture.inputs is None:
        run = _row("flint", kind, number, limit)
        print(line("FLINT, bare", run, mine, _agrees(run, wanted)), flush=True)
    if importlib.util.find_spec("jax"):
        run = _row("jax", kind, number, limit)
        print(line("JAX", run, mine, _agrees(run, wanted)), flush=True)
        if again := word(run, "again"):
            second = run._replace(inside=float(again))
            print(line("JAX, compiled", second, mine, _agrees(second, wanted)), flush=True)
    else:
        print(not_run("JAX", "pip install 'agattn[benchmarks]'"))
    name = "NumericalImplicitization"
    if engine is None:
        print(not_run(name, "no Macaulay2"))
        return
    try:
        script = numerical_script(architecture)
    except TooLargeError as error:
        print(not_run(name, str(error)))
        return
    run = engine_run(engine, script, limit)
    print(line(name, run, mine, _agrees(run, wanted)), flush=True)


def forms(architecture: Architecture) -> tuple[Sequence[Polynomial], Sequence[Variable]]:
    """The coefficients of the output, with names; of a layer in the entries of A and V, which is easier."""
    if (layer := as_layer(architecture)) is not None:
        return list(coefficients(layer, *generic_point(layer))), coordinate_ring(layer).variables
    f = coefficient_map(architecture)
    return f.polynomials, f.target.variables


def an_ideal(number: int, engines: dict[str, Installation], limit: float, other: str | None) -> None:
    """Print the rows about one ideal."""
    architecture, degree = ideals()[number]
    print(f"\n{architecture}: minimal equations to degree {degree}")
    mine, wanted = ours(("ideal", "models", number), limit, "by degree", other)
    for name, run in relations(*forms(architecture), degree, limit, engines).items():
        if isinstance(run, str):
            print(not_run(name, run))
        else:
            print(line(name, run, mine, _agrees(run, wanted)), flush=True)


def main() -> None:
    """Print all tables, or do one row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--limit", type=int, default=120, help="seconds of processor time after which a row is stopped"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--against", metavar="PYTHON", help="the Python that has another version of agattn")
    parser.add_argument("--alone", nargs=3, metavar=("WAY", "KIND", "NUMBER"), help="one row of a rival")
    options = parser.parse_args()
    if options.alone:
        way, kind, number = options.alone
        alone(way, kind, int(number))
        return
    engines, other = installations(), options.against
    print(f"{header(other)}\nrows are stopped after {options.limit:g} s; settings for equations:")
    print(settings())
    for number in (0, len(NETWORKS)) if options.quick else range(len(NETWORKS) + len(MAPS)):
        a_dimension("models", number, engines.get("macaulay2"), options.limit, other)
    for number in (0,) if options.quick else range(len(ideals())):
        an_ideal(number, engines, options.limit, other)


if __name__ == "__main__":
    main()
