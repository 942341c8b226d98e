"""Models of all kinds: this package against its rivals, side by side in one run.

    python benchmarks/models.py [--limit SECONDS] [--quick]

*Dimension*, here proved, against

    JAX         the rank of a Jacobian in float64, at a quarter more rows than parameters, with compilation in
                the time; "compiled" is the second call, without. It evaluates this package's own formulas, so
                both see the same function
    Macaulay2   numericalImageDim of the package NumericalImplicitization: a singular value decomposition
                at a random point; it takes the coefficients of the function, expanded
    FLINT       for maps without inputs: the function called on polynomials modulo a prime, all derivatives
                at a random point, and the rank of this matrix; no upper bound, no proof

Of maps our time is that of recording the function, and of the dimension with its proof.

*Minimal equations* up to a degree, here proved and written out over ℤ, against the rivals of ``rivals.py``
over a prime field, with the settings named there.

Every row is a process of its own; ``rivals.py`` says what the columns mean. All answers are compared.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

# As the command line does: one thread, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import flint
import numpy as np
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
)

import agattn as ag
from agattn.algebra.arithmetic import FloatArithmetic
from agattn.algebra.polynomial import Polynomial, Variable
from agattn.architectures import Architecture, as_layer
from agattn.engines.locate import Installation
from agattn.errors import TooLargeError
from agattn.evidence import weakest
from agattn.geometry.dimension.symmetries import symmetry_bound
from agattn.geometry.ideal.torus_weights import generic_point
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring

#: Coefficients of more terms than this are not handed to Macaulay2.
MOST_TERMS = 3e5


def block(d: int, heads: int, rank: int, tokens: int) -> ag.Network:
    """A block of a transformer without softmax and normalization."""
    attention = ag.Attention(d, rank, heads, rank, "causal", rotary=True, skip=True)
    return ag.Network([attention, ag.Perceptron([4 * d, d], 2, skip=True)], d, tokens)


def dimensions(quick: bool) -> list[Architecture]:
    """What the dimension is asked of."""
    clebsch = ag.Network([ag.Perceptron([5, 1], 4)], 3)
    others = [
        ag.Network([ag.Perceptron([14, 1], 4)], 5),
        ag.Network([ag.Perceptron([8, 8, 4], 2)], 6),
        ag.Network([ag.Convolution(3, 2), ag.Convolution(3, 2), ag.Convolution(3, 1)], 9),
        ag.DeepNetwork((2, 2, 2), (1, 1), t=2),
        ag.DeepNetwork((3, 3, 3), (2, 2), t=3),
        ag.DeepNetwork((12, 12, 12), (3, 3), t=3),
        block(4, 2, 2, 3),
        block(16, 4, 4, 4),
    ]
    return [clebsch] if quick else [clebsch, *others]


def rank_one_list(a, b):  # type: ignore[no-untyped-def]
    return [a[i] * b[j] for i in range(20) for j in range(50)]


def rank_one_array(a, b):  # type: ignore[no-untyped-def]
    return a[:, None] * b


def determinant(rows):  # type: ignore[no-untyped-def]
    """By the first row."""
    first, *others = rows
    if not others:
        return first[0]
    return sum(
        (-1) ** j * x * determinant([row[:j] + row[j + 1 :] for row in others]) for j, x in enumerate(first)
    )


def quadrifocal(A, B, C, D):  # type: ignore[no-untyped-def]
    cameras = [[[M[i, j] for j in range(4)] for i in range(3)] for M in (A, B, C, D)]
    return [determinant(list(rows)) for rows in itertools.product(*cameras)]


def secants(u, v):  # type: ignore[no-untyped-def]
    entries = []
    for places in itertools.product(range(2), repeat=8):
        one = other = 1
        for k, i in enumerate(places):
            one, other = one * u[k, i], other * v[k, i]
        entries.append(one + other)
    return entries


def maps(quick: bool) -> list[Callable[[], ag.PolynomialMap]]:
    """Maps as users write them: most are lists of numbers."""
    sizes = {"a": 20, "b": 50}
    others = [
        partial(ag.PolynomialMap, rank_one_array, sizes, name="20×50 matrices of rank one, by array"),
        partial(ag.PolynomialMap, quadrifocal, dict.fromkeys("ABCD", (3, 4)), name="quadrifocal tensors"),
        partial(ag.PolynomialMap, secants, {"u": (8, 2), "v": (8, 2)}, name="σ₂((ℙ¹)⁸)"),
    ]
    listed = partial(ag.PolynomialMap, rank_one_list, sizes, name="20×50 matrices of rank one, by list")
    return [listed] if quick else [listed, *others]


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


def minors(n: int) -> ag.PolynomialMap:
    """The cone over the Grassmannian Gr(2, n)."""

    def plucker(M):  # type: ignore[no-untyped-def]
        return [M[0, i] * M[1, j] - M[0, j] * M[1, i] for j in range(n) for i in range(j)]

    return ag.PolynomialMap(plucker, {"M": (2, n)}, name=f"Gr(2,{n})")


def cubic(s):  # type: ignore[no-untyped-def]
    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]


def ideals(quick: bool) -> list[tuple[Architecture, int]]:
    """What equations are asked of, up to which degree."""
    twisted = ag.PolynomialMap(cubic, {"s": 2}, name="twisted cubic"), 3
    others = [
        (minors(4), 3),
        (minors(5), 3),
        (minors(6), 3),
        (ag.DeepNetwork((2, 1), (2,), t=2, heads=2), 4),
        (ag.SingleLayer(3, 1, 3), 4),
        (ag.Network([ag.Perceptron([2, 1], 2)], 4), 3),
        (ag.Network([ag.Attention(2, 1, mask="causal")], 2, 2), 3),
    ]
    return [twisted] if quick else [twisted, *others]


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


def everything() -> list[Callable[[], Architecture]]:
    """All architectures whose dimension is asked, each made when it is called."""
    return [*(partial(lambda known: known, known) for known in dimensions(False)), *maps(False)]


def _timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    value = function()
    return time.process_time() - start, value


def alone(way: str, number: int) -> None:
    """Do one row in this process: print the time inside, without imports, the answer, and its evidence."""
    said = ""
    if way == "ideal":
        others = ag.SingleLayer(2, 1, 1), ag.Network([ag.Attention(1, 1, mask="causal")], 1, 2)
        for known in (ag.PolynomialMap(cubic, {"s": 2}), *others):
            ag.ideal(known, 2)  # imports
        architecture, degree = ideals(False)[number]
        if isinstance(architecture, ag.Network):
            symmetry_bound(others[1])  # imports networkx
        seconds, found = _timed(lambda: _written(architecture, degree))
        answer = [piece.minimal_generators for piece in found.degrees]
        said = str(weakest(piece.evidence for piece in found.degrees))
    elif way == "dimension":
        for known in (ag.PolynomialMap(cubic, {"s": 2}), ag.Network([ag.Perceptron([2, 1], 2)], 2)):
            ag.dimension(known)  # imports
        seconds, found = _timed(lambda: ag.dimension(everything()[number]()))
        answer, said = [found.dimension], str(found.evidence)
    elif way == "flint":
        known = everything()[number]()
        seconds, rank = _timed(lambda: bare_rank(known))  # type: ignore[arg-type]
        answer = [rank]
    else:
        rival = Jax(everything()[number]())
        seconds, rank = _timed(rival.rank)
        if way == "jax-compiled":
            seconds, rank = _timed(rival.rank)
        answer = [rank]
    print(f"inside {seconds}\n{said}\n{answer}")


def _written(architecture: Architecture, degree: int) -> Any:
    found = ag.ideal(architecture, degree)
    assert sum(1 for _ in found.equations()) == sum(piece.minimal_generators for piece in found.degrees)
    return found


def _row(way: str, number: int, limit: float) -> Run:
    return process([sys.executable, __file__, "--alone", way, str(number)], limit, memory=24_000)


def _agrees(run: Run, wanted: object) -> str:
    found = numbers(run.output)
    return "agrees" if found == wanted else f"DIFFERS: {found}"


def _ours(way: str, number: int, limit: float, words: str) -> tuple[Run, list[int]]:
    """Print our own row; the run and the answer."""
    run = _row(way, number, limit)
    answer = numbers(run.output)
    if run.problem or answer is None:
        raise SystemExit(f"{words}: {run.problem}")
    print(line("agattn", run, note=f"{words} {answer} ({run.output.splitlines()[1]})"), flush=True)
    return run, answer


def a_dimension(number: int, engine: Installation | None, limit: float, jax: bool) -> None:
    """Print the rows about one dimension."""
    architecture = everything()[number]()
    print(f"\n{architecture}, {architecture.parameters} parameters")
    ours, wanted = _ours("dimension", number, limit, "dimension")
    rows = {}
    if isinstance(architecture, ag.PolynomialMap) and architecture.inputs is None:
        rows["FLINT, bare"] = "flint"
    if jax:
        rows |= {"JAX": "jax", "JAX, compiled": "jax-compiled"}
    else:
        print(not_run("JAX", "pip install 'agattn[benchmarks]'"))
    for name, way in rows.items():
        run = _row(way, number, limit)
        print(line(name, run, ours, _agrees(run, wanted)), flush=True)
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
    print(line(name, run, ours, _agrees(run, wanted)), flush=True)


def forms(architecture: Architecture) -> tuple[Sequence[Polynomial], Sequence[Variable]]:
    """The coefficients of the output, with names; of a layer in the entries of A and V, which is easier."""
    if (layer := as_layer(architecture)) is not None:
        return list(coefficients(layer, *generic_point(layer))), coordinate_ring(layer).variables
    f = coefficient_map(architecture)
    return f.polynomials, f.target.variables


def an_ideal(number: int, engines: dict[str, Installation], limit: float) -> None:
    """Print the rows about one ideal."""
    architecture, degree = ideals(False)[number]
    print(f"\n{architecture}: minimal equations to degree {degree}")
    ours, wanted = _ours("ideal", number, limit, "by degree")
    for name, run in relations(*forms(architecture), degree, limit, engines).items():
        if isinstance(run, str):
            print(not_run(name, run))
        else:
            print(line(name, run, ours, _agrees(run, wanted)), flush=True)


def main() -> None:
    """Print all tables, or do one row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--limit", type=int, default=120, help="seconds of processor time after which a rival is stopped"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--alone", nargs=2, metavar=("WAY", "NUMBER"), help="one row, in this process")
    options = parser.parse_args()
    if options.alone:
        alone(options.alone[0], int(options.alone[1]))
        return
    engines = installations()
    jax = importlib.util.find_spec("jax") is not None
    print(f"{header()}\nrivals are stopped after {options.limit:g} s; settings for equations:\n{settings()}")
    first_map = len(dimensions(False))
    for number in (0, first_map) if options.quick else range(len(everything())):
        a_dimension(number, engines.get("macaulay2"), options.limit, jax)
    for number in (0,) if options.quick else range(len(ideals(False))):
        an_ideal(number, engines, options.limit)


if __name__ == "__main__":
    main()
