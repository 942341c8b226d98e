"""Models of all kinds: this package against its rivals, side by side in one run.

    python benchmarks/models.py [--limit SECONDS] [--quick]

*Dimension*, here proved, against

    JAX         the rank of a Jacobian in float64, at a quarter more rows than parameters; "again" is without
                compilation. It evaluates this package's own formulas, so both see the same function
    Macaulay2   numericalImageDim of the package NumericalImplicitization: a singular value decomposition
                at a random point; it takes the coefficients of the function, expanded
    FLINT       for maps without inputs: the function called on polynomials modulo a prime, all derivatives
                at a random point, and the rank of this matrix; no upper bound, no proof

Of maps our time is that of recording the function, and of the dimension with its proof.

*Minimal equations* up to a degree, here proved and written out over ℤ, against Macaulay2 over a prime field

    multigraded componentsOfKernel of the package MultigradedImplicitization
    kernel      a Gröbner basis of the graph of the map, graded and only up to the degree wanted

Times are processor time in seconds, also of JAX's threads; those of Macaulay2 have its start in them. A rival
that is stopped counts as at least that slow. All answers are compared; one that is missing is said to be.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

# As the command line does: one thread, before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import flint
import numpy as np
from implicitization import installations, macaulay2_script, numbers, timed

import agattn as ag
from agattn.algebra.arithmetic import FloatArithmetic
from agattn.algebra.polynomial import Polynomial, Variable
from agattn.architectures import Architecture, as_layer
from agattn.engines.locate import Installation
from agattn.errors import TooLargeError
from agattn.evidence import weakest
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


def spent(function: Callable[[], Any], who: int = resource.RUSAGE_SELF) -> tuple[float, Any]:
    """Processor time of this process, or of those that it waited for, and the value."""
    before = resource.getrusage(who)
    value = function()
    after = resource.getrusage(who)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, value


def macaulay2(engine: Installation, script: str, limit: int) -> tuple[float, str | None, str]:
    """Processor time, what was printed, and why nothing was."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"script.{engine.engine.suffix}")
        file.write_text(script, encoding="utf-8")
        limited = ["sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh"]
        command = [*limited, str(engine.path), *engine.engine.arguments, str(file)]
        seconds, (_, output, problem) = spent(
            lambda: timed(command, 20 * limit, Path(folder)), resource.RUSAGE_CHILDREN
        )
    return seconds, output, "stopped at the limit" if problem and seconds > limit - 1 else problem


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
        f"R = CC[{source}]\nF = {{{images}}}\n"
        "<< toString {numericalImageDim(F, ideal 0_R)} << endl\n"
    )


def compare(name: str, seconds: float, ours: float, answer: object, wanted: object, problem: str = "") -> str:
    """A line about a rival; whoever is stopped is at least that slow."""
    mark = "≥" if problem.startswith("stopped") else " "
    note = problem or ("agrees" if answer == wanted else f"DIFFERS: {answer}")
    return f"  {name:24} {seconds:9.3f} s  {mark}{seconds / ours:8.1f}×   {note}"


def absent(name: str, why: str) -> str:
    return f"  {name:24} {'absent':>9}                {why}"


def a_dimension(
    architecture: Architecture, engine: Installation | None, limit: int, jax: bool, made: float = 0.0
) -> None:
    seconds, found = spent(lambda: ag.dimension(architecture))
    seconds += made
    print(f"\n{architecture}, {found.parameters} parameters")
    print(f"  {'agattn':24} {seconds:9.3f} s               dimension {found.dimension} ({found.evidence})")
    if isinstance(architecture, ag.PolynomialMap) and architecture.inputs is None:
        took, rank = spent(lambda: bare_rank(architecture))
        print(compare("FLINT, bare", took, seconds, rank, found.dimension), flush=True)
    if jax:
        rival = Jax(architecture)
        for name in ("JAX", "JAX again"):
            took, rank = spent(rival.rank)
            print(compare(name, took, seconds, rank, found.dimension), flush=True)
    else:
        print(absent("JAX", "pip install 'agattn[benchmarks]'"))
    name = "NumericalImplicitization"
    if engine is None:
        print(absent(name, "no Macaulay2"))
        return
    try:
        script = numerical_script(architecture)
    except TooLargeError as error:
        print(absent(name, f"not asked: {error}"))
        return
    took, output, problem = macaulay2(engine, script, limit)
    print(compare(name, took, seconds, numbers(output or ""), [found.dimension], problem), flush=True)


def forms(architecture: Architecture) -> tuple[Sequence[Polynomial], Sequence[Variable]]:
    """The coefficients of the output, with names; of a layer in the entries of A and V, which is easier."""
    if (layer := as_layer(architecture)) is not None:
        return list(coefficients(layer, *generic_point(layer))), coordinate_ring(layer).variables
    f = coefficient_map(architecture)
    return f.polynomials, f.target.variables


def an_ideal(architecture: Architecture, degree: int, engine: Installation | None, limit: int) -> None:
    start = time.process_time()
    found = ag.ideal(architecture, degree)
    written = sum(1 for _ in found.equations())
    seconds = time.process_time() - start
    wanted = [piece.minimal_generators for piece in found.degrees]
    print(f"\n{architecture}: minimal equations to degree {degree}")
    assert written == sum(wanted)
    evidence = weakest(piece.evidence for piece in found.degrees)
    print(f"  {'agattn':24} {seconds:9.3f} s               {wanted} by degree ({evidence})")
    values, names = forms(architecture)
    for name, rival in (("multigraded", "multigraded"), ("kernel", "graded, truncated")):
        if engine is None:
            print(absent(name, "no Macaulay2"))
            continue
        script = macaulay2_script(values, names, degree, rival)
        took, output, problem = macaulay2(engine, script, limit)
        print(compare(name, took, seconds, numbers(output or ""), wanted, problem), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--limit", type=int, default=120, help="seconds of processor time after which a rival is stopped"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    options = parser.parse_args()
    engine = installations().get("macaulay2")
    try:
        import jax

        version = f"JAX {jax.__version__}"
    except ImportError:
        version = "no JAX"
    print(f"{version}, {f'Macaulay2 {engine.version}' if engine else 'no Macaulay2'}")
    for architecture in dimensions(options.quick):
        a_dimension(architecture, engine, options.limit, version != "no JAX")
    ag.dimension(ag.PolynomialMap(cubic, {"s": 2}))  # imports
    for make in maps(options.quick):
        made, known = spent(make)
        a_dimension(known, engine, options.limit, version != "no JAX", made)
    for architecture, degree in ideals(options.quick):
        an_ideal(architecture, degree, engine, options.limit)


if __name__ == "__main__":
    main()
