"""What commands about a layer or a model do in a shell beyond their verbs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from agattn.architectures import SingleLayer, as_layer
from agattn.calls import positive_integer
from agattn.checkpoints.checkpoints import read_weights
from agattn.checkpoints.weight_files import WeightFile
from agattn.cli.architecture import whole_number, whole_numbers
from agattn.cli.generator import Input, Option, Reply, Writes
from agattn.cli.kinds import DRAWINGS, FIGURES, STDOUT, EngineName, InputFile, Outputs, chosen, leave_out
from agattn.cli.output import console, print_json, say_on_stderr, write_file
from agattn.cli.weights import counts, read_tensor
from agattn.engines.catalogue import able, engine_named
from agattn.errors import InputError
from agattn.geometry.ideal.export import ENDINGS, export
from agattn.geometry.ideal.invariants import compare, last_degree
from agattn.limits import Limits, limited, log
from agattn.sheet.terminal import print_folded, show

if TYPE_CHECKING:
    from agattn.reports.drawing import Drawable


def identifiability(
    architecture: Any,
    *,
    at: Annotated[Path | None, Option(InputFile(), "--at --weights", "FILE")] = None,
    **given: Any,
) -> Any:
    """Say for each parameter array of a polynomial model whether the function determines it, and up to what.

    A softmax network of at most three layers without skip connections is decided by its jet.

    agattn says the same for each product of arrays that the model contracts with each other, such as K^T Q,
    and for the functions that --functions names. An array with one matrix for each head has an index: K_1[2]
    is the second head, sum_i V_1[i] adds up the heads, ⊗ or ** is the tensor product.

    "locally" and "not" come from ranks of the differential, "globally" from theorems that say that the set
    of weights with one function is irreducible. "free" is the number of directions in which something can
    move while the function stays the same. Finite symmetries, such as permutations of heads, are listed
    below.

    Args:
        at: given weights, an array for each parameter, in place of general ones.
    """
    from agattn.geometry.identifiability.identifiability import identifiability

    return identifiability(architecture, at=None if at is None else WeightFile([at]), **given)


def strata(
    architecture: Any,
    *,
    output: Annotated[Outputs, Writes(DRAWINGS)] = (),
    force: bool = False,
    progress: Any,
) -> Any:
    """List the strata of the neuromanifold: orbits (r_V, r_A, r) of functions under base change.

    r_V and r_A are the ranks of V and A, and r is the rank of the rows of V and the columns of A together.
    Every property shown holds at all points of a stratum, and is proved by exact computation at one of them.

    Args:
        output: write the table, or draw the closure order, which needs matplotlib.
    """
    from agattn.verification.strata_table import strata_table

    table = strata_table(architecture, force=force)
    for picture in chosen(output, *DRAWINGS):
        from agattn.reports.hasse import HasseDiagram  # and networkx

        progress("drawing them")
        HasseDiagram(architecture).save(picture)
        say_on_stderr(f"wrote {picture}")
    return table


def critical_points(
    architecture: Any,
    metric: str | None = None,
    samples: int | None = None,
    data: Path | None = None,
    *,
    weights: Annotated[Path | None, Input] = None,
    output: Annotated[Outputs, Writes(FIGURES)] = (),
    **given: Any,
) -> Any:
    """Count the critical points of a squared loss on the functions of a layer, and find the real ones.

    The loss is that of samples, which are random integers or stand in a FILE with arrays X (n × d × t) and Y
    (n × d' × t); or with --metric the squared distance to a random function. Its critical points are counted,
    with multiplicity, on the smooth part of M̄ and on each stratum of singular points; where there are
    infinitely many, dimension and degree are printed.

    For general data (d' ≤ 3), and a general target in the Bombieri–Weyl norm (d' = 1, a ≥ d), theorems give
    the numbers; for d = 2 and d' = 1 elimination proves them for a given loss. Elsewhere an engine counts,
    modulo two primes, in different charts of the weights, unless --field says otherwise.

    With --weights, arrays K, Q, V or A, V: is this head a critical point? For each rank of A agattn finds the
    critical point near the head and proves it, with a bound on the distance and the directions in which the
    loss falls.

    Args:
        weights: weights of one head: find the critical points near the head, and how the loss falls there.
        output: write the result, or for d = 2 and d' = 1 draw the loss and its critical points on the surface
            of figure 1.
    """
    from agattn.geometry.critical_points.real_points import critical_points_near
    from agattn.verification.critical_points import critical_points

    arrays = read_data(data, metric, samples)
    how: dict[str, Any] = {"metric": metric or "generic", "data": arrays, "samples": samples}
    if weights is None:
        from agattn.geometry.critical_points.loss import loss
        from agattn.reports.loss import LossFigure

        _draw(output, given["seed"], lambda: LossFigure(loss(architecture, **how)))
        return critical_points(architecture, **how, **given)
    for picture in chosen(output, *FIGURES):
        raise InputError(f"cannot write {picture}; with --weights nothing is drawn")
    counting = ("method", "smooth", "real", "characteristic", "engine", "force", "timeout", "memory")
    leave_out("is for counting; with --weights nothing is counted", *counting)
    head = read_weights(WeightFile([weights]))
    near: Any = critical_points_near(architecture, head, **how, seed=given["seed"])
    return Reply(near, str(near))


def spectrum(architecture: Any, *, output: Annotated[Outputs, Writes(DRAWINGS)] = (), **given: Any) -> Any:
    """Find how fast the singular values of the Jacobian of a network fall as all scores get small.

    Keys and queries are multiplied by s. Then the Jacobian is a matrix of power series in s, and the contact
    orders are the exponents in the Smith form, which is computed modulo a prime.

    Args:
        output: write the result, or draw the singular values for s = 1/2, 1/4, ..., in the digits of
            --digits, or 120, and in float64.
    """
    from agattn.geometry.dimension.contact import contact_spectrum
    from agattn.reports.spectrum import bands

    known = contact_spectrum(architecture, **given)
    _draw(output, given["seed"], lambda: bands(known, given["digits"] or 120))
    return known


def _draw(outputs: Outputs, seed: int, compute: Callable[[], Drawable]) -> None:
    """Draw a figure as the pictures that are to be written, and say on stderr what it shows."""
    pictures = chosen(outputs, *FIGURES)
    if not pictures:
        return
    with limited(seed=seed):
        figure = compute()
        for picture in pictures:
            figure.save(picture)
    print_folded(figure.words, sys.stderr)
    for picture in pictures:
        say_on_stderr(f"wrote {picture}")


def read_data(path: Path | None, metric: str | None, samples: int | None) -> tuple[Any, Any] | None:
    """The arrays X and Y of a file, which go without a metric; ``None`` if there is no file."""
    if path is None:
        return None
    if metric or samples:
        raise InputError("--data has its own loss; leave out --metric and --samples")
    file = WeightFile([path])
    for name in "XY":
        if name not in file:
            held = ", ".join(sorted(file)) or "nothing"
            raise InputError(f"{path} has no array {name}; it must have X and Y, and holds {held}")
    return file["X"], file["Y"]


def rlct(
    files: tuple[Path, ...],
    architecture: Any,
    *,
    softmax: bool = False,
    tolerance: float = 1e-6,
    curve: bool = False,
    kv_heads: int | None = None,
    match: tuple[str, ...] = (),
    names: str | None = None,
    progress: Any,
) -> Any:
    """Compute learning coefficients λ (real log canonical thresholds) and their m: exactly, or in bounds.

    For a layer: at all kinds of weights, which are the strata (r_V, r_A, r) times the ranks of K and Q, and
    for each function the least λ over all weights that compute this function. For weights in FILE (.npz,
    .json, .safetensors, .npy): at these weights, with each summand of λ and its reason. FILE holds K and Q,
    or A, with V, or W_O and W_V. Of a checkpoint, every head is placed. With -t 1 and FILE: for one token.

    For a network, --dims and --ranks with its weights K_1, Q_1, V_1, K_2, ... in FILE, or a model file with
    those of any polynomial model: two bounds on λ with their reasons; with softmax for one head in each
    layer. Where the bounds meet, λ is known. Floating-point weights are taken as exact.

    Args:
        softmax: take a softmax head in place of a lightning head.
        curve: with FILE: λ at every tolerance.
    """
    from agattn.checkpoints.coefficients import of_files, rlct
    from agattn.geometry.learning_coefficients.brackets import CoefficientBounds

    of_checkpoints = ("kv_heads", "match", "names")
    if architecture is not None and (files or not isinstance(architecture, SingleLayer)):
        leave_out("is for one layer", "softmax", "curve")
        leave_out("is for heads, one by one", "tolerance", *of_checkpoints)
        network = architecture.as_network() or architecture
        if not files:
            *letters, last = network.shapes
            raise InputError(f"give a FILE with weights {', '.join(letters)} and {last} of {network}")
        bounds: Any = rlct(network, WeightFile(files))
        return CoefficientBounds(architecture, bounds)
    if architecture is not None:
        leave_out("is for weights in FILE", "tolerance", "curve", *of_checkpoints)
        return rlct(architecture, softmax=softmax)
    leave_out("describes a layer, and FILE has its own sizes", "d", "d_out", "a")
    leave_out("describes a network, and there are no --dims and --ranks", "skip", "normalization")
    which = {"kv_heads": kv_heads, "match": match, "names": names, **counts()}
    t = positive_integer("t", whole_number(click.get_current_context().params.get("t") or "2"))
    return of_files(files, t=t, softmax=softmax, tolerance=tolerance, curve=curve, **which)


def ideal(
    architecture: Any,
    max_degree: int = 4,
    engine: Annotated[str | None, Option(EngineName("native"))] = None,
    stratum: str | None = None,
    *,
    output: Annotated[Outputs, Writes(tuple(ENDINGS), default=".m2", documents=False)] = (),
    complete: bool = False,
    invariants: bool = False,
    coefficients: Annotated[Path | None, Input] = None,
    as_json: bool = False,
    **given: Any,
) -> Any:
    """Find the equations of the Zariski closure of the neuromanifold up to a degree.

    Each degree of the ideal is a sum of modules under base change in the rows of V, the columns of A and the
    index that V and A share. The field matters only to an engine; native results hold over ℚ.

    Of networks and models the ideal is found multidegree by multidegree, in the coefficients of their output
    in X; or whole, by elimination in an engine.

    Args:
        max_degree: last degree.
        engine: how to find the equations: modules by native linear algebra, or elimination in an engine. With
            --complete the engine that is asked.  [default: native; for --complete one that is installed]
        output: write all minimal generators found, as .py for sympy.
        complete: say whether these equations generate the whole ideal: by a theorem, else by an engine.
        invariants: compare with the families of equations that have a name; at t = 1 for d' = 1. At t = 1 and
            d = 3 give --max-degree 8.
        coefficients: with --invariants: which families vanish at y, the compact coefficients in FILE.
        stratum: equations of the closure of a stratum (rk V, rk A, rk [V; Aᵀ]) of one layer.
    """
    from agattn.verification.ideal import ideal

    layer: Any = as_layer(architecture)
    if layer is None:
        reason = f"is for one lightning head, and {architecture} is none"
        leave_out(reason, "complete", "invariants", "stratum")
    if stratum is not None:
        reason = "is for the equations of M̄, and --stratum asks for those of a smaller variety"
        leave_out(reason, "complete", "invariants", "engine")
    if not invariants:
        leave_out("is for --invariants", "coefficients")
    given["characteristic"] = given["characteristic"] or 0
    if engine not in (None, "native") and not complete:
        reason = f"is for native computation; {engine} finds the whole ideal itself"
        leave_out(reason, "workers", "invariants", "output", "form", "seed")
        _show(ideal(architecture, max_degree, engine, **given), as_json)
        return 0
    _refuse_idle(layer is None, complete, not output, engine)
    native = {name: value for name, value in given.items() if name not in ("characteristic", "timeout")}
    kind = None if stratum is None else whole_numbers(stratum)
    equations: Any = ideal(architecture, max_degree, stratum=kind, **native)
    _ = equations.generators  # computed here, while progress is shown
    if output:
        log.info("writing out all equations")
    texts = {path: export(equations, ENDINGS[ending], given["characteristic"]) for path, ending in output}
    compared = None
    if invariants:
        log.info("building the named invariants")
        y = None if coefficients is None else read_tensor(coefficients)
        compared = compare(equations, last_degree(layer, max_degree), y)
    whole = _completeness(equations, engine, given) if complete else None
    if layer is not None and stratum is None:
        from agattn.engines.elimination import examined

        equations = examined(equations, compared, whole)
    for path, text in texts.items():
        write_file(path, text)
    if STDOUT not in texts:
        _show(equations, as_json)
    for answer in (compared, whole) if not as_json else ():
        if answer is not None:
            print_folded(f"\n{answer}", sys.stderr if STDOUT in texts else sys.stdout)
    return 3 if whole is not None and whole.whole is None else 0


def _refuse_idle(is_model: bool, complete: bool, unwritten: bool, engine: str | None) -> None:
    """Refuse options that mean nothing natively, or beside an engine that is none."""
    if complete and engine == "native":
        raise InputError("--complete asks an engine; leave out --engine native, or name another")
    if not complete:
        other = "--engine" if is_model else "--complete or another --engine"
        leave_out(f"is for engines, with {other}", "timeout")
        if unwritten:
            engines = "" if is_model else "engines and for "
            leave_out(f"is for {engines}-O; native results hold over QQ", "characteristic")


def _completeness(equations: Any, name: str | None, given: dict[str, Any]) -> Any:
    """Whether equations generate the whole ideal: by a theorem unless an engine is named, or by an engine."""
    from agattn.engines.elimination import by_theorem, check_generators
    from agattn.engines.locate import candidates, locate

    memory = given["memory"]
    held = {name: given[name] for name in ("timeout", "force", "workers")}
    held |= {"native": memory, "memory": Limits.memory if memory is None else memory}
    with limited(**held):
        if name is None:
            log.info("looking for a theorem, and for equations of higher degree")
            if theorem := by_theorem(equations):
                return theorem
        log.info("asking the engine")
        engines = able("complete-ideal")
        engine = next(filter(candidates, engines), engines[0]) if name is None else engine_named(name)
        return check_generators(equations, locate(engine), characteristic=given["characteristic"])


def _show(equations: Any, as_json: bool) -> None:
    if as_json:
        print_json(equations.as_json())
    else:
        show(equations.listing(), console())
