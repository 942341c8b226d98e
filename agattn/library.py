"""What agattn can be asked, as functions: the names that ``import agattn as ag`` offers.

Most take an architecture first; each checks what it was given, and calls the room that knows. All results
print as a summary, are shown as tables by notebooks, and say how they are known.

>>> import agattn as ag
>>> layer = ag.SingleLayer(3, 2, a=2)
>>> ag.dimension(layer)
M(3,2; 2), t = 2: dimension 13 (proved), expected 13
>>> ag.tangent_space(layer, (2, 1, 2))
dim T_p = 14 > dim M̄ = 13: singular (from below: first-order arcs; from above: one reduced preimage)
>>> ag.verify(layer, "theorem-3.4.singular", engine="native")["theorem-3.4.singular"].status
<Status.REFUTED: 'refuted'>
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from agattn.architectures import (
    Architecture,
    SingleLayer,
    as_attention,
    as_layer,
)
from agattn.architectures.protocol import LARGEST_SIZE
from agattn.calls import fitted, is_list, refuse_unless, shown
from agattn.engines.catalogue import ENGINES, engine_name
from agattn.errors import EngineError, InputError, UndecidedError, nearest
from agattn.evidence import Evidence

if TYPE_CHECKING:
    from agattn.claims.network_dimension import DimensionByPaper
    from agattn.engines.locate import Installation
    from agattn.engines.run import Run
    from agattn.experiments.training.training import Training
    from agattn.geometry.critical_points.counts import CriticalPoints
    from agattn.geometry.critical_points.loss import Loss
    from agattn.geometry.critical_points.trained import NearbyCriticalPoints
    from agattn.geometry.dimension.lie_algebra import LinearSymmetries
    from agattn.geometry.ideal.ideal import Ideal
    from agattn.geometry.ideal.model_ideal import ModelIdeal
    from agattn.geometry.identifiability.equivalence import Equivalence
    from agattn.geometry.identifiability.fibers import Fiber, Weights
    from agattn.geometry.identifiability.network_fibers import NetworkFiber
    from agattn.geometry.learning_coefficients.brackets import Bracket
    from agattn.geometry.learning_coefficients.learning_coefficients import (
        LearningCoefficient,
        LearningCoefficients,
    )
    from agattn.geometry.reconstruction.membership import Identification
    from agattn.geometry.singular_points.point_facts import Singularities
    from agattn.geometry.strata.tangent import TangentBounds
    from agattn.heads.head_geometry import HeadTable
    from agattn.systems.problem import Problem
    from agattn.verification.certificate import Certificate
    from agattn.verification.checked import Checked
    from agattn.verification.strata_table import StrataTable
    from agattn.verification.verify import Report

P = ParamSpec("P")
T = TypeVar("T")

#: What messages call by its option, as it is called here.
_IN_PYTHON = {
    "--force": "force=True",
    "-d and -o": "ag.SingleLayer(d, d_out)",
    "--dims and --ranks": "ag.DeepNetwork(dims, ranks)",
    "--model": "ag.Network(layers, dim)",
    "--point FILE": "point=...",
    "--point": "point=...",
    "--slice": "slice=...",
    "leave out --certificate": "see ag.verify",
    "--max-degree": "max_degree",
    "--prime": "prime",
    "--memory": "memory",
    "--timeout": "timeout",
    "--field QQ": "characteristic=0",
    "--kv-heads": "kv_heads",
    "--heads": "heads",
    "`agattn strata`": "ag.strata(layer)",
}
_OPTION = re.compile("|".join(map(re.escape, sorted(_IN_PYTHON, key=len, reverse=True))))


def in_python(function: Callable[P, T]) -> Callable[P, T]:
    """A verb that says in one line what does not fit in a call, with the call to write instead.

    Errors of the rooms below name arguments, where the rooms name options.

    >>> import agattn as ag
    >>> ag.dimension(3, 2, 2)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: ag.dimension takes 1 argument without a name, and 3 are given. Write
    ag.dimension(ag.SingleLayer(3, 2, 2))
    >>> ag.strata(ag.SingleLayer(20, 20))
    Traceback (most recent call last):
        ...
    agattn.errors.TooLargeError: M(20,20,20): expected dim 799 in ℝ⁸⁴⁰⁰⁰, t ≥ 2 has 84000 coordinates;
    the limit is 1000. Use force=True to start all the same
    """
    signature, verb = inspect.signature(function), function.__name__

    @functools.wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> T:
        bound = fitted(f"ag.{verb}", signature, args, named, _right_call(verb, signature, args))
        _check_arguments(bound)
        try:
            return function(*bound.args, **bound.kwargs)
        except (InputError, EngineError, UndecidedError) as error:
            message = _OPTION.sub(lambda match: _IN_PYTHON[match[0]], str(error))
            raise type(error)(message) from error.__cause__

    return called


#: How arguments that a verb needs are written.
_WRITTEN = {
    "architecture": "ag.SingleLayer(3, 2, a=2)",
    "layer": "ag.SingleLayer(3, 2, a=2)",
    "network": "ag.DeepNetwork((4, 3, 4), (2, 2))",
    "weights": "{'K': K, 'Q': Q, 'V': V}",
    "w1": "{'A': A, 'V': V}",
    "w2": "{'A': B, 'V': W}",
    "V": "A=A, V=V",
    "stratum": "(2, 1, 2)",
    "tensor_or_function": "tensor",
    "task": "'implicit-ideal'",
    "document": "ag.certificate(layer)",
}


def _right_call(verb: str, signature: inspect.Signature, args: Sequence[Any]) -> str:
    """A call of a verb that works, with the sizes of a layer or of a network that were given."""
    written = {
        name: _WRITTEN[name]
        for name, one in signature.parameters.items()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD
    }
    first = next(iter(written))
    if first in _ARCHITECTURES and 2 <= len(args) <= 4:
        sizes = ", ".join(map(shown, args))
        if all(isinstance(one, int) for one in args):
            written[first] = f"ag.SingleLayer({sizes})"
        elif len(args) == 2 and all(is_list(one) and all(isinstance(n, int) for n in one) for one in args):
            written[first] = f"ag.DeepNetwork({sizes})"
    return f"ag.{verb}({', '.join(written.values())})"


#: Arguments that are architectures.
_ARCHITECTURES = ("architecture", "layer", "network")


def _is_whole(value: object) -> bool:
    try:
        return not isinstance(value, bool) and operator.index(value) >= 0  # type: ignore[arg-type]
    except TypeError:
        return False


def _is_size(value: object) -> bool:
    return _is_whole(value) and operator.index(value) <= LARGEST_SIZE  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and float(value) >= 0


def _is_flag(value: object) -> bool:
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, str) or (is_list(value) and all(isinstance(one, str) for one in value))


def _is_pair(value: object) -> bool:
    return is_list(value) and not isinstance(value, Mapping) and len(value) == 2


def _is_path(value: object) -> bool:
    return isinstance(value, (str, Path))


def _is_ranks(value: object) -> bool:
    return is_list(value) and all(map(_is_whole, value))


_FLAGS = ["force", "pairs", "softmax", "smooth", "real", "eliminate", "nearest", "prime", "components"]
#: What arguments of these names must be, for every verb: a test, and in words. The rest is read by the rooms.
_MUST_BE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("seed", "characteristic"), (_is_whole, "a whole number of at least 0")),
    **dict.fromkeys(
        ("workers", "max_degree", "samples", "heads", "kv_heads"),
        (_is_size, f"a whole number of at most {LARGEST_SIZE}"),
    ),
    **dict.fromkeys(("timeout", "memory", "tolerance", "noise"), (_is_number, "a number of at least 0")),
    **dict.fromkeys(_FLAGS, (_is_flag, "True or False")),
    **dict.fromkeys(("metric", "method", "engine", "tokens"), (_is_text, "text")),
    **dict.fromkeys(("progress", "step"), (callable, "a function of one line of text")),
    "claims": (_is_texts, "an id such as 'theorem-3.4', or a list of ids"),
    "data": (_is_pair, "a pair (X, Y)"),
    "target": (is_list, "a list of N numbers"),
    "ranks": (_is_ranks, "a list of ranks such as (1, 2)"),
    "keep": (_is_path, "the path of a folder"),
}


def _check_arguments(given: inspect.BoundArguments) -> None:
    """Refuse values that are of another kind than their name says; None only where that is the default."""
    parameters = given.signature.parameters
    options: Mapping[str, Any] = given.arguments.get("options", {})
    for name, value in {**given.arguments, **options}.items():
        left_out = value is None and name in parameters and parameters[name].default is None
        if name in _MUST_BE and not left_out:
            fits, words = _MUST_BE[name]
            refuse_unless(fits(value), name, value, words)


def _architecture(given: object, verb: str) -> Architecture:
    """An architecture, or an InputError that says how to write one."""
    if isinstance(given, type) or not all(hasattr(given, name) for name in ("shapes", "evaluate", "t")):
        how = "such as ag.SingleLayer(d=3, d_out=2, a=2)"
        if isinstance(given, (str, Path)) and Path(given).suffix.partition(":")[0] in (".toml", ".py"):
            how = f"and that in a file is agattn.architectures.model_file.read_model({str(given)!r})"
        raise InputError(f"ag.{verb} takes an architecture first, {how}; it was given {shown(given)}")
    return given  # type: ignore[return-value]


def _layer(given: object, verb: str, plural: str, instead: str) -> SingleLayer:
    """A single layer; for a network an InputError that names what to call instead."""
    if isinstance(given, SingleLayer):
        return given
    name = _architecture(given, verb)
    raise InputError(f"{plural} are those of one layer, and {name} is a network; {instead}")


def _one_of(name: str, choices: Iterable[str], what: str) -> str:
    """A name in lower case, or an InputError with the nearest one there is."""
    known = list(choices)
    if what == "engine" and isinstance(name, str):
        return engine_name(name, known)
    if not isinstance(name, str) or name.lower() not in known:
        listed = f"; there are {', '.join(known)}"
        hint = nearest(name, known, listed) if isinstance(name, str) else listed
        raise InputError(f"there is no {what} {shown(name)}{hint}")
    return name.lower()


def _installed(name: str) -> Installation:
    from agattn.engines.catalogue import engine_named
    from agattn.engines.locate import locate

    return locate(engine_named(_one_of(name, ENGINES, "engine")))


def dimension(
    architecture: Architecture,
    *,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> DimensionByPaper:
    """The dimension of the neuromanifold of any architecture, with a proof from both sides where they meet.

    Args:
        architecture: a layer, a network of attention or of any layers, a polynomial map, or anything with the
            members of :class:`agattn.architectures.protocol.Architecture`.
        seed: of all random choices.
        force: take the rank of a Jacobian of any size, also where a theorem knows it.
        progress: called with what is done next.

    Raises:
        InputError: if it is no architecture, or is beyond the limits and known by no theorem.

    >>> import agattn as ag
    >>> ag.dimension(ag.DeepNetwork(dims=(3, 3, 3), ranks=(1, 2), t=3))
    M(3,3,3; 1,2), t = 3: dimension 18 (proved), expected 18
    >>> layer = ag.dimension(ag.SingleLayer(768, 64, 64))
    >>> layer.dimension, layer.theorem
    (143359, 'theorem-3.2')
    """
    from agattn.claims.network_dimension import with_paper
    from agattn.geometry.dimension import dimension as room

    known = as_attention(_architecture(architecture, "dimension"))
    return with_paper(room.dimension(known, seed, force=force, progress=progress))


def learning_coefficient(
    architecture: Architecture | Mapping[str, Any] | Weights,
    weights: Any = None,
    *,
    softmax: bool = False,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> LearningCoefficients | LearningCoefficient | Bracket:
    """The learning coefficient λ of singular learning theory, and its multiplicity m, exactly.

    Args:
        architecture: a layer; with weights also a network, or anything polynomial with the members of
            :class:`agattn.architectures.protocol.Architecture`; or weights of one layer alone.
        weights: for a layer as for :func:`weights`, or with W_O and W_V in place of V; else an array for each
            parameter, such as K_1, Q_1, V_1, ..., taken as the exact numbers that are written.
        softmax: for one softmax head, in place of a lightning one.
        tolerance: relative, below which singular values of one layer's floating weights count as zero.
        seed: of the search for a bracket. It never changes what is proved.

    Returns:
        Of a layer the table of all kinds of weights; at weights of one layer λ, m and the terms of λ; at
        weights of anything else, and where no formula is known for one token, bounds with their reasons,
        which are λ where they meet.

    Raises:
        InputError: if weights are missing or do not fit, or a network is no polynomial in them.
        UndecidedError: for one token where the rows of K and Q do not span, and are floats.

    >>> import agattn as ag
    >>> ag.learning_coefficient(ag.SingleLayer(3, 2, a=2))
    M(3,2,2): expected dim 13 in ℝ³⁶, t ≥ 2: 9 strata, λ from 5/2 to 13/2 (proved)
    >>> ag.learning_coefficient({"K": [[1, 2]], "Q": [[0, 1]], "V": [[2, 4]]})
    λ = 7/4, m = 1 (proved)
    >>> merged = {"K_1": [[[1, 0]], [[1, 0]]], "Q_1": [[[1, 1]], [[1, 1]]], "V_1": [[[1, 2]], [[3, 4]]]}
    >>> ag.learning_coefficient(ag.DeepNetwork((2, 1), (1,), t=2, heads=2), merged)
    λ = 5/2, m = 1 (proved)
    """
    from agattn.geometry.identifiability.fibers import Weights
    from agattn.geometry.learning_coefficients import brackets, learning_coefficients

    if isinstance(architecture, (Mapping, Weights)):
        if weights is not None:
            raise InputError("weights were given twice; give the architecture, and then its weights")
        known, weights, t = None, architecture, 2
    else:
        known = _architecture(architecture, "learning_coefficient")
        t = known.t
    if weights is None:
        one = _layer(known, "learning_coefficient", "tables of learning coefficients", "give weights as well")
        return learning_coefficients.learning_coefficients(one, softmax)
    if isinstance(weights, Weights):
        parts = {"A": weights.A} if weights.K is None else {"K": weights.K, "Q": weights.Q}
        weights = {**parts, "V": weights.V}
    if known is not None and not isinstance(known, SingleLayer):
        if softmax:
            raise InputError("softmax=True is for one layer; a network says its own normalization")
        return brackets.bracket(known, weights, seed)
    if not isinstance(weights, Mapping) or not all(isinstance(name, str) for name in weights):
        raise InputError(
            f"the weights are {shown(weights)}; give arrays by their names, such as {{'A': A, 'V': V}}"
        )
    given = learning_coefficients.parameters(**weights)
    if isinstance(known, SingleLayer):
        sizes = [(x.d, x.d_out) + ((x.a,) if "K" in weights else ()) for x in (known, given.layer)]
        if sizes[0] != sizes[1]:
            raise InputError(f"the weights are those of {given.layer.name}, which is not {known.name}")
    try:
        point = learning_coefficients.weights_coefficient(given, t=t, softmax=softmax, tolerance=tolerance)
    except UndecidedError:
        if known is None or set(weights) != set(known.shapes) or not given.weights.is_exact:
            raise
        return brackets.bracket(known, weights, seed)
    return point.coefficient


def critical_points(
    layer: SingleLayer,
    metric: str = "generic",
    data: tuple[Any, Any] | None = None,
    *,
    samples: int | None = None,
    target: Sequence[Any] | None = None,
    seed: int = 0,
    engine: str = "auto",
    method: str = "weights",
    smooth: bool = False,
    real: bool = False,
    characteristic: int | None = None,
    timeout: float = 60.0,
    memory: int = 8192,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> CriticalPoints:
    """The critical points of a squared loss on M̄: on its smooth part and on each singular stratum.

    Where there are infinitely many, their dimension and degree. For general data (d' ≤ 3), and for a general
    target in the Bombieri–Weyl norm (d' = 1, a ≥ d), theorems give the numbers at once; for d = 2 and d' = 1
    elimination proves them for any loss that is a distance. Elsewhere, and where one is named, an engine
    counts, and its numbers are compared with those that are proved.

    Args:
        layer: one layer, with two tokens or more.
        metric: ``"generic"`` (random samples, enough to be generic), ``"gaussian"``, ``"bombieri-weyl"`` or
            ``"coefficients"``: see :func:`agattn.geometry.critical_points.loss.loss`.
        data: X, n × d × t, and Y, n × d' × t, instead of a metric.
        samples: the number of random samples.
        target: the N coordinates of the function that the loss is the distance to; random if not given.
        seed: of random samples and targets.
        engine: ``"auto"``: natively where the numbers are proved so, else by the first engine installed;
            ``"native"``: no engine at all; or ``"singular"``, ``"macaulay2"``, ``"msolve"``, which count for
            the random loss of the seed.
        method: ``"weights"``, by charts of the parametrization; or ``"equations"``, by the equations of M̄,
            for the smooth part alone.
        smooth: count on the smooth part alone, where the strata of singular points take too long.
        real: find all real critical points, too, and prove each: with loss, index and weights. Without an
            engine where d' = 1 and d = 2, else by msolve; numbers of complex ones are then theirs, unless an
            engine, a characteristic or the equations are asked for.
        characteristic: 0 for ℚ, or a prime; by default two primes, and another chart for each.
        timeout, memory: limits of each run of the engine, in seconds and MiB.
        force: go beyond the limits on sizes.
        progress: called with what is done next; by default that is printed on stderr after two seconds.

    Raises:
        InputError: for a network, for t = 1, for data that do not fit, beyond the limits on sizes, or where
            ``engine="native"`` proves nothing.
        EngineError: if an engine is needed and none is installed, or it fails or does not finish.
        UndecidedError: if the numbers modulo three primes differ.
        DisagreementError: if an engine's numbers are not those that are proved.

    >>> import agattn as ag
    >>> print(ag.critical_points(ag.SingleLayer(4, 1)))
    M(4,1,4), generic, general data: 35964 critical points, singular ones (1,1,1): 3772;
    (1,1,2): 100382 (proved)
    >>> found = ag.critical_points(ag.SingleLayer(2, 1), "gaussian", real=True)
    >>> print(found)
    M(2,1,2), gaussian: 6 critical points, singular ones (1,1,1): 6; (1,1,2): 6 (proved)
    >>> print(found.real[0].points[0])
    minimum on (1,2,2): loss 605.9446722 (proved)
    >>> ag.critical_points(ag.SingleLayer(2, 1), data=([[1, 2], [3, 4]], [[1, 2, 3]]))
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: X is 1 × 2 × 2 and Y is 1 × 1 × 3; they must be n × d × t and n × d' × t
    """
    from agattn.engines.run import Limits
    from agattn.patience import told
    from agattn.verification import critical_points as room

    one = _layer(layer, "critical_points", "critical points", "they are known for layers alone")
    method = _one_of(method, ("weights", "equations"), "method")
    engine = _one_of(engine, room.ENGINES, "engine")
    if data is not None and (samples is not None or target is not None or metric != "generic"):
        raise InputError(_OWN_LOSS)
    with told(f"critical points of {one.name}", progress) as tell:
        return room.critical_points(
            one, metric, data, samples=samples, target=target, seed=seed, engine=engine, method=method,
            smooth=smooth, real=real, characteristic=characteristic, limits=Limits(timeout, memory),
            force=force, progress=tell,
        )  # fmt: skip


def critical_points_near(
    layer: SingleLayer,
    weights: Any,
    metric: str = "generic",
    data: tuple[Any, Any] | None = None,
    *,
    samples: int | None = None,
    target: Sequence[Any] | None = None,
    seed: int = 0,
) -> NearbyCriticalPoints:
    """Which critical points of a squared loss are near given weights, and how gradient flow leaves them.

    For each rank that A may have, the critical point on the functions of that rank that Newton's method finds
    from the weights, with a bound on its distance; the nearest one first.

    Args:
        layer: one layer, with two tokens or more.
        weights: of it, as for :func:`fiber`.
        metric, data, samples, target, seed: the loss, as for :func:`critical_points`.

    Raises:
        InputError: if the weights do not fit the layer or give the function 0, or the loss is no distance.

    >>> import agattn as ag
    >>> w = {"K": [[1, 2], [0, 0]], "Q": [["1/2", 0], [0, 0]], "V": [[1, -1]]}
    >>> near = ag.critical_points_near(ag.SingleLayer(2, 1), w, "gaussian", target=[1, 1, 0, 0, -1, 1])
    >>> [(point.rank, point.index, point.escapes, point.is_local_minimum) for point in near]
    [(2, 0, 0, True), (1, 1, 1, False)]
    """
    from agattn.geometry.critical_points.trained import critical_points_near as near

    one = _layer(layer, "critical_points_near", "critical points", "they are known for layers alone")
    return near(_loss(one, metric, data, samples, target, seed), _weights(one, weights))


_OWN_LOSS = "data were given, which have their own loss; leave out metric, samples and target"


def _loss(
    layer: SingleLayer, metric: str, data: tuple[Any, Any] | None, samples: int | None,
    target: Sequence[Any] | None, seed: int,
) -> Loss:  # fmt: skip
    """The loss of data, or that of a metric."""
    from agattn.geometry.critical_points.loss import loss, loss_of_data

    if data is None:
        return loss(layer, metric, target, seed, samples)
    if samples is not None or target is not None or metric != "generic":
        raise InputError(_OWN_LOSS)
    return loss_of_data(layer, *data)


def strata(layer: SingleLayer, *, force: bool = False) -> StrataTable:
    """Every point of the neuromanifold of a layer, by its stratum: the orbit (rk V, rk A, rk [V; Aᵀ]).

    Each row has the dimension, the preimages, the tangent space, what M̄ looks like nearby, and the boundary;
    all of it is proved.

    Raises:
        InputError: for a network, for t = 1, or beyond the limits on sizes.

    >>> import agattn as ag
    >>> table = ag.strata(ag.SingleLayer(3, 2, a=2))
    >>> [str(row.stratum) for row in table if row.contradicts_paper]
    ['(2,1,2)', '(2,1,3)']
    """
    from agattn.systems.sizes import check_size
    from agattn.verification.strata_table import strata_table

    one = _layer(layer, "strata", "strata", "for a network use ag.dimension or ag.verify")
    if not force:
        check_size(one)
    return strata_table(one)


def symmetries(
    architecture: Architecture,
    *,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> LinearSymmetries:
    r"""All linear symmetries of the parametrization of an architecture: a Lie algebra, with a proof.

    Args:
        architecture: a lightning layer or network, or anything polynomial with the members of
            :class:`agattn.architectures.protocol.Architecture`.
        seed: of all random choices. It never changes what is proved, only (rarely) whether.
        force: attempt architectures beyond the limits on sizes too.
        progress: called with what is done next.

    Raises:
        InputError: if it is no architecture, or no polynomial.
        TooLargeError: beyond the limits on sizes.

    >>> import agattn as ag
    >>> found = ag.symmetries(ag.DeepNetwork((3, 1, 2), (2, 2), t=2))
    >>> found
    M(3,1,2; 2,2), t = 2: 13 linear symmetries, sl(2) + sl(2) + sl(2) + center of dimension 4; orbits of
    dimension 10 (proved)
    >>> for generator in found.new:
    ...     print(generator)
    K_2[1,·] → Q_2[2,·], K_2[2,·] → −Q_2[1,·]
    Q_2[1,·] → K_2[2,·], Q_2[2,·] → −K_2[1,·]
    """
    from agattn.geometry.dimension.lie_algebra import linear_symmetries

    return linear_symmetries(_architecture(architecture, "symmetries"), seed, force, progress)


def tangent_space(layer: SingleLayer, stratum: Any) -> TangentBounds:
    """The Zariski tangent space of M̄ at the points of a stratum, with both bounds on its dimension proved.

    Args:
        layer: one layer with t ≥ 2.
        stratum: three ranks (r_V, r_A, r), such as ``(2, 1, 2)``; or exact weights, whose stratum is taken.

    Raises:
        InputError: for a network, or if the layer has no such stratum.

    >>> import agattn as ag
    >>> at = ag.tangent_space(ag.SingleLayer(2, 1), ag.weights(A=[[1, 2], [2, 4]], V=[[1, 3]]))
    >>> str(at.stratum), at.value, at.singular
    ('(1,1,2)', 6, True)
    """
    from agattn.geometry.identifiability.fibers import Weights
    from agattn.geometry.strata import strata as known
    from agattn.geometry.strata.tangent import tangent_bounds

    one = _layer(layer, "tangent_space", "tangent spaces", "for a network use ag.dimension")
    if isinstance(stratum, (Weights, Mapping)):
        w = _weights(one, stratum)
        if not w.is_exact:
            raise InputError("the weights are in floating point, where ranks are a choice; give the ranks")
        return tangent_bounds(one, known.stratum_of(w.A.tolist(), w.V.tolist()))
    ranks = (stratum.r_v, stratum.r_a, stratum.r) if isinstance(stratum, known.Stratum) else stratum
    try:
        r_v, r_a, r = (int(rank) for rank in ranks)
    except (TypeError, ValueError):
        raise InputError(
            f"the stratum is {shown(stratum)}; give its three ranks (r_V, r_A, r), such as (1, 1, 1)"
        ) from None
    return tangent_bounds(one, known.Stratum(r_v, r_a, r))


def singularities(
    network: Architecture,
    pairs: bool = False,
    *,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Singularities:
    """The kinds of points of a network or a model: which are critical, which singular, and by what argument.

    Args:
        network: a lightning network, where a layer is the network of one layer; or anything polynomial.
        pairs: take all pairs of what may be special about one matrix, too.
        seed: of all random choices. It never changes what is proved, only what is found.
        force: go beyond the limits on sizes.
        progress: called with the name of each kind.

    Raises:
        InputError: if it is normalized.
        TooLargeError: beyond the limits on sizes.

    >>> import agattn as ag
    >>> found = ag.singularities(ag.DeepNetwork((3, 3, 2), (3, 3), t=3))
    >>> found["rk M_1 = 1"]
    rk M_1 = 1: differential of rank 19 of 22, tangent space of dimension 29 or more: singular (proved)
    >>> ag.singularities(ag.Network([ag.Linear(2), ag.Linear(3)], dim=3))["rk W_1 = 1"]
    rk W_1 = 1: differential of rank 7 of 8, tangent space of dimension 9 or more: singular (proved)
    """
    from agattn.geometry.singular_points import singularities as room

    return room.singularities(_architecture(network, "singularities"), pairs, seed, force, progress)


def ideal(
    layer: Architecture,
    max_degree: int = 4,
    engine: str = "native",
    *,
    workers: int = 1,
    seed: int = 0,
    characteristic: int = 0,
    timeout: float = 60.0,
    memory: int = 8192,
    force: bool = False,
    step: Callable[[str], object] = lambda _: None,
) -> Ideal | ModelIdeal:
    """The equations of M̄ up to a degree, with their symmetry; or all of them, by elimination in an engine.

    Args:
        layer: one layer, or any polynomial network, model or map.
        max_degree: the last degree.
        engine: ``"native"``, ``"macaulay2"`` or ``"singular"``.
        workers, seed: of the native computation.
        characteristic: of an engine's field: 0 for ℚ, or a prime.
        timeout, memory: limits of the engine, in seconds and MiB.
        force: go beyond the limits on sizes.
        step: of a network or model told what is being done.

    Raises:
        InputError: if the architecture is no polynomial, for an unknown engine, beyond the limits on sizes,
            or for an engine and a model whose image is no cone.
        EngineError: if the engine is missing or fails.

    >>> import agattn as ag
    >>> ag.ideal(ag.SingleLayer(3, 1), max_degree=3)
    Ideal of M(3,1,3) to degree 3: 20 cubics
    >>> ag.ideal(ag.Network([ag.Perceptron([2, 2], degree=2)], dim=2), max_degree=3)
    Ideal of 2×1 → perceptron 2,2 (degree 2) to degree 3: no equations
    """
    native = _one_of(engine, ("native", *ENGINES), "engine") == "native"
    known = _architecture(layer, "ideal")
    one = as_layer(known)
    if one is None and native:
        from agattn.geometry.ideal.model_ideal import compute_model_ideal
        from agattn.geometry.variety.coefficient_map import coefficient_map

        source = coefficient_map(known, **({"limit": math.inf} if force else {}))
        step("dimension")
        size = dimension(known, seed=seed, force=force)
        proved = size.lower_bound if size.evidence is Evidence.PROVED else None
        return compute_model_ideal(source, max_degree, dimension=proved, seed=seed, force=force, step=step)
    if one is not None and native:
        from agattn.geometry.ideal.ideal import compute_ideal

        return compute_ideal(known, max_degree, workers=workers, seed=seed, force=force)
    from agattn.engines.elimination import eliminate
    from agattn.engines.run import Limits

    return eliminate(
        known, max_degree, _installed(engine),
        characteristic=characteristic, limits=Limits(timeout, memory), force=force,
    )  # fmt: skip


def weights(*, V: Any, A: Any = None, K: Any = None, Q: Any = None, a: int | None = None) -> Weights:
    """Weights of one layer, from A and V or from K, Q and V; integers and rationals are exact.

    Args:
        V: d' × d.
        A: d × d, of rank at most ``a``.
        K, Q: a × d instead, with A = KᵀQ.
        a: the attention dimension, if it is less than d.

    Raises:
        InputError: if matrices are missing, do not fit, or have entries that are not finite numbers.

    >>> import agattn as ag
    >>> ag.weights(K=[[1, "1/2"]], Q=[[0, 1]], V=[[1, 0]]).A.tolist()[0]
    [Fraction(0, 1), Fraction(1, 1)]
    """
    from agattn.geometry.identifiability import fibers

    return fibers.weights(V=V, A=A, K=K, Q=Q, a=a)


def _weights(layer: SingleLayer, given: Any) -> Weights:
    """The weights of one head, which must be those of the layer."""
    from agattn.geometry.identifiability.equivalence import layers_of

    layers = layers_of(given)
    if len(layers) > 1 or len(layers[0]) > 1:
        raise InputError("the weights have several heads or layers; a layer has one of each here")
    w = layers[0][0]
    if (len(w.A), len(w.V)) != (layer.d, layer.d_out):
        raise InputError(f"the weights have d = {len(w.A)} and d' = {len(w.V)}, which is not {layer}")
    if w.K is None and w.a != layer.a:
        return weights(A=w.A, V=w.V, a=layer.a)
    if w.a != layer.a:
        raise InputError(f"K and Q have {w.a} rows, and a is {layer.a}")
    return w


def fiber(
    architecture: Architecture, weights: Any, *, tolerance: float = 1e-9, seed: int = 0
) -> Fiber | NetworkFiber:
    """All weights that compute the same function as these; of all but one layer, those that are known.

    Args:
        architecture: one layer, a lightning network, or anything polynomial.
        weights: of a layer from :func:`weights`, or a mapping with V and A, or K, Q and V; of a network a
            mapping with K_1, Q_1, V_1, K_2, ..., or A_i in place of K_i and Q_i; of anything else an array
            for each parameter. They are taken as the exact numbers that are written.
        tolerance: of a layer: relative, below which singular values count as zero in floating point.
        seed: but for a layer: of all random choices. It never changes what is proved, only what is found.

    Raises:
        InputError: for a layer with t = 1, a normalized network, or weights of another architecture.
        TooLargeError: if there are more than 3000 weights.

    >>> import agattn as ag
    >>> through = ag.fiber(ag.SingleLayer(2, 1, a=1), {"K": [[1, 2]], "Q": [[0, 1]], "V": [[1, 0]]})
    >>> through
    two lines (proved), in M: components over ℂ rescaling, swapped; dimension 1 in (A, V), 2 in (K, Q, V)
    >>> head = {"A_1": [[1, 2], [2, 4]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [0, 1]], "V_2": [[1, 3]]}
    >>> ag.fiber(ag.DeepNetwork((2, 2, 1), (2, 2), t=2), head)
    rank-one head: 15 of 22 dimensions (proved), 14 by the symmetries; given: 1 skew
    >>> dead = {"W_1_1": [[1, 2, 0], [1, 1, 5], [3, 1, 1]], "W_1_2": [[1, 0, -1]]}
    >>> ag.fiber(ag.Network([ag.Perceptron([3, 1], degree=3)], dim=3), dead)
    symmetries: 5 of 12 dimensions (proved), 3 by the symmetries; given: 2 found
    """
    from agattn.geometry.identifiability import fibers

    known = _architecture(architecture, "fiber")
    if not isinstance(one := known, SingleLayer):
        from agattn.geometry.identifiability.network_fibers import network_fiber

        return network_fiber(known, weights, seed)
    if not one.has_orbits:
        raise InputError("t is 1, where only V and A + Aᵀ matter; fibers are those of t ≥ 2")
    return fibers.fiber(_weights(one, weights), tolerance)


def equivalent(w1: Any, w2: Any, *, tolerance: float = 1e-9) -> Equivalence:
    """Whether two sets of weights are the same function for every t ≥ 2, and by which symmetry.

    Args:
        w1: from :func:`weights`; or a mapping with V and A, or K, Q and V, where each may be a stack with one
            matrix for each head; or for several layers a list of those, or names such as K_1, Q_1, V_1, K_2.
        w2: the same, with the same d_0 and d_l.
        tolerance: relative, below which differences count as zero in floating point.

    Raises:
        InputError: if the weights do not fit, or have other inputs or outputs.

    >>> import agattn as ag
    >>> one = {"A": [[1, 2], [0, 1]], "V": [[1, 3]]}
    >>> ag.equivalent(one, {"A": [[2, 4], [0, 2]], "V": [["1/2", "3/2"]]})
    equal (proved): A' = sA, V' = V/s with s = 2
    """
    from agattn.geometry.identifiability import equivalence

    return equivalence.equivalent(w1, w2, tolerance)


def identify(
    layer: SingleLayer, tensor_or_function: Any, *, tolerance: float = 1e-8, nearest: bool = True
) -> Identification:
    """The weights behind a coefficient tensor or a function, or the reason why there are none.

    Args:
        layer: one layer.
        tensor_or_function: the N compact coefficients, the full tensor d' × t × C(dt+2, 3), or a function
            from d × t arrays to d' × t arrays.
        tolerance: the relative residual up to which floating-point coefficients count as those of M.
        nearest: whether to look for the nearest point of M where the tensor is not in it.

    Raises:
        InputError: for a network, or if the tensor or the outputs have another shape.

    >>> import agattn as ag
    >>> ag.identify(ag.SingleLayer(2, 1), [1, 0, 1, 0, 0, 0])
    not in M, but in its Zariski closure: h ⊗ q ⊗ Q with Q definite
    >>> w = ag.weights(A=[[1, 2], [3, 4]], V=[[5, 7]])
    >>> ag.identify(ag.SingleLayer(2, 1), w).V.tolist()[0]
    [Fraction(5, 1), Fraction(7, 1)]
    """
    from agattn.geometry.reconstruction import from_values, membership

    one = _layer(layer, "identify", "coefficient tensors", "two networks are compared by ag.equivalent")
    if callable(tensor_or_function):
        return from_values.identify_function(one, tensor_or_function, tolerance)
    return membership.identify(one, tensor_or_function, tolerance, nearest)


def classify(
    weights: Any, *, heads: int | None = None, kv_heads: int | None = None, tolerance: float = 1e-6
) -> HeadTable:
    """Where heads lie on the neuromanifold M(d, d', a): stratum, distances, stable ranks.

    Args:
        weights: as for :func:`equivalent`; or the path of a checkpoint, or of several files of one.
        heads: heads in each layer of a checkpoint without ``config.json``.
        kv_heads: heads of keys and values, if they are shared.
        tolerance: relative, below which singular values count as zero; exact weights have exact ranks.

    Raises:
        InputError: if the weights do not fit or a file cannot be read.

    >>> import agattn as ag
    >>> [head] = ag.classify({"K": [[1, 2]], "Q": [[0, 1]], "V": [[1, 0]]})
    >>> head
    M(2,1,1), stratum (1,1,2) (proved): smooth; relative distance to the singular locus 1
    """
    from agattn.heads import head_geometry

    if isinstance(weights, (str, Path)):
        weights = [weights]
    if isinstance(weights, Sequence) and weights and all(isinstance(p, (str, Path)) for p in weights):
        from agattn.heads.checkpoints import Checkpoint
        from agattn.heads.weight_files import WeightFile

        checkpoint = Checkpoint(WeightFile(list(weights)), heads, kv_heads)
        return head_geometry.classify_checkpoint(checkpoint, tolerance)
    from agattn.geometry.identifiability.equivalence import layers_of

    return head_geometry.classify_weights(layers_of(weights), tolerance)


def train(
    architecture: Architecture,
    teacher: str | Sequence[int] = "generic",
    *,
    seeds: int | Sequence[int] = 10,
    method: str = "flow",
    samples: int | None = None,
    tokens: str = "gaussian",
    noise: float = 0.0,
    ranks: Sequence[int] | None = None,
    progress: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> Training:
    """Train an architecture from several seeds, and place what comes out in the geometry; numerical.

    Args:
        architecture: what is trained; for one lightning layer the loss is that of all Gaussian tokens,
            exactly, unless ``samples`` says how many.
        teacher: ``"generic"``, ``"zariski"``, ``"outside"``, ``"limit"``, ``"ranks"``, or the ranks
            (r_V, r_A, r) of a stratum of one layer.
        seeds: how many, or which.
        method: ``"flow"``, ``"descent"``, ``"langevin"`` or ``"untrained"``.
        samples, tokens, noise: what the loss sees, as
            :class:`agattn.experiments.training.teachers.Data` has it.
        ranks: of A in each layer, for the teacher ``"ranks"``.
        progress: called with what is done next.
        options: ``scale``, ``decay``, ``time``, ``steps``, ``rate`` and ``temperature``, as
            :class:`agattn.experiments.training.experiment.Experiment` has them.

    Raises:
        InputError: if the architecture has no such teacher, an option is unknown or makes no sense, or scipy
            is missing for gradient flow.

    >>> import agattn as ag
    >>> found = ag.train(ag.SingleLayer(2, 1), (1, 1, 2), seeds=3)
    >>> [(run["outcome"], run["stratum"], run["singular"]) for run in found]
    [('converged', [1, 1, 2], True), ('converged', [1, 1, 2], True), ('converged', [1, 1, 2], True)]
    """
    from agattn.experiments.training.experiment import Experiment, read_seeds
    from agattn.experiments.training.teachers import Data, Teacher
    from agattn.experiments.training.training import train as train_experiment

    known = ("scale", "decay", "time", "steps", "rate", "temperature")
    for name in options:
        if name not in known:
            listed = f"; there are {', '.join(known)}"
            raise InputError(f"there is no option {name!r}{nearest(name, known, listed)}")
    if isinstance(teacher, str):
        learned = Teacher(teacher, ranks=None if ranks is None else tuple(ranks))
    else:
        if not _is_ranks(teacher) or len(teacher) != 3:
            raise InputError(
                f"the teacher is {shown(teacher)}; it must be a name, or a triple such as (1, 1, 2)"
            )
        learned = Teacher("stratum", stratum=(teacher[0], teacher[1], teacher[2]))
    chosen = read_seeds(list(seeds) if isinstance(seeds, Iterable) and not isinstance(seeds, str) else seeds)
    experiment = Experiment(
        _architecture(architecture, "train"), learned, Data(samples, tokens, noise), method, seeds=chosen,
        **options,
    )  # fmt: skip
    return train_experiment(experiment, lambda line: progress(f"seed {line['seed']}: {line['outcome']}"))


def verify(
    architecture: Architecture,
    claims: str | Sequence[str] = (),
    engine: str = "auto",
    *,
    characteristic: int | None = None,
    timeout: float = 60.0,
    memory: int = 8192,
    eliminate: bool = False,
    seed: int = 0,
    force: bool = False,
    keep: str | Path | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> Report:
    """Every claim of the paper, and of this project, put to the test: the verdicts, by claim.

    Args:
        architecture: a layer, a network of attention or of any layers, a polynomial map, or anything with the
            members of :class:`agattn.architectures.protocol.Architecture`.
        claims: ids, or beginnings or numbers of some, such as ``"theorem-3.4"``; none for all.
        engine: ``"auto"``, ``"native"``, ``"macaulay2"``, ``"singular"`` or ``"all"``.
        characteristic: 0 for ℚ, a prime p for 𝔽_p, or ``None``: ℚ, and 𝔽_p where ℚ does not finish.
        timeout, memory: limits of each engine process, in seconds and MiB.
        eliminate: try elimination also where it is not expected to finish.
        seed: of all random choices.
        force: start however large the systems are.
        keep: a folder for scripts and transcripts.
        progress: called with a line about each step.

    Raises:
        InputError: if there is no such claim or engine, or beyond the limits on sizes.
        EngineNotFoundError: if an engine asked for by name is missing.
        DisagreementError: if two independent computations differ.

    >>> import agattn as ag
    >>> report = ag.verify(ag.SingleLayer(3, 2, a=2), ["3.4.singular", "corollary-3.3"], engine="native")
    >>> {claim: str(verdict.status) for claim, verdict in report.items()}
    {'theorem-3.4.singular': 'refuted', 'corollary-3.3': 'confirmed'}
    >>> for verdict in ag.verify(ag.Network([ag.Perceptron([5, 1], degree=4)], dim=3)).values():
    ...     print(f"{verdict.claim}: {verdict.status}, {verdict.short}")
    agattn.model-dimension: confirmed, 14
    agattn.model-symmetries: confirmed, 14
    >>> ag.verify(ag.SingleLayer(2, 1), "theorm-3.2")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: there is no claim 'theorm-3.2'; did you mean 'theorem-3.2'?
    """
    from agattn.engines.run import Limits
    from agattn.verification.verify import CHOICES, Settings
    from agattn.verification.verify import verify as judge

    known = as_attention(_architecture(architecture, "verify"))
    settings = Settings(
        _one_of(engine, CHOICES, "engine"), characteristic, Limits(timeout, memory), eliminate, seed, force,
        None if keep is None else Path(keep),
    )  # fmt: skip
    return judge(known, (claims,) if isinstance(claims, str) else claims, settings, progress)


def certificate(layer: Architecture, claims: str | Sequence[str] = ()) -> Certificate:
    """Integers that prove verdicts to anyone: a JSON document that :func:`check` verifies.

    Claims that have no certificate are named in it, and do not keep the others from theirs.

    Args:
        layer: one layer; or a network, of which zeros, limits, critical and singular points are certified, or
            for one layer of several heads ``agattn.heads-not-closed``; t ≥ 2.
        claims: their ids; none for all.

    Raises:
        InputError: for t = 1, for another model, if there is no such claim, or where no claim can be
            certified.

    >>> import agattn as ag
    >>> ag.certificate(ag.SingleLayer(2, 1), "theorem-3.4")
    Certificate of M(2,1,2), t ≥ 2: 3 claims, 3 certified (3 confirmed, 0 refuted)
    >>> ag.certificate(ag.DeepNetwork((3, 3, 2), (3, 3), t=3))
    Certificate of M(3,3,2; 3,3), t ≥ 2: deep-zeros, deep-not-closed, deep-boundary, deep-critical,
    deep-singular
    """
    from agattn.verification.certificate import certify

    known = _architecture(layer, "certificate")
    return certify(known, (claims,) if isinstance(claims, str) else claims)


def check(document: Any) -> Checked:
    """Verify a certificate again, with nothing but Python's integers.

    Args:
        document: what :func:`certificate` returns, a mapping, or the path of a JSON file.

    Raises:
        InputError: if it is no certificate.

    >>> import agattn as ag
    >>> ag.check(ag.certificate(ag.SingleLayer(2, 1), "theorem-3.4"))["valid"]
    True
    """
    from agattn import checker
    from agattn.verification.checked import Checked

    try:
        return Checked(checker.check(document))
    except checker.UnreadableError as error:
        raise InputError(f"{shown(document)} cannot be checked: {error}") from error


class Script(str):
    """A script for an engine: text that shows itself as it stands.

    Attributes:
        engine: ``"macaulay2"`` or ``"singular"``.
        task: what it computes.
    """

    engine: str
    task: str

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"

    def save(self, path: str | Path) -> None:
        """Write the script into a file."""
        Path(path).write_text(self, encoding="utf-8")


def _problem(verb: str, architecture: Any, task: str, options: Mapping[str, Any]) -> Problem:
    """The problem that a task puts to engines."""
    from agattn.geometry.identifiability.families import ExactWeights
    from agattn.geometry.identifiability.fibers import Weights
    from agattn.geometry.reconstruction.membership import compact
    from agattn.geometry.variety.coordinates import coefficients
    from agattn.systems.catalogue import TASKS, build, task_about
    from agattn.systems.points import point_of

    known = _architecture(architecture, verb)
    if not isinstance(task, str):
        raise InputError(f"the task is {shown(task)}; ag.{verb} takes the architecture, then a task's name")
    name = _one_of(task, TASKS, "task")
    for option in options:
        _one_of(
            option,
            ("characteristic", "seed", "force", "point", "max_degree", "prime", "components", "slice"),
            "option",
        )
    given = dict(options)
    point = given.pop("point", None)
    if point is not None and isinstance(known, SingleLayer):
        if "target" not in TASKS[name].takes:
            given["points"] = (point_of(_weights(known, point)),)
        elif isinstance(point, (Weights, Mapping)):
            w = point_of(_weights(known, point))
            given["target"] = tuple(coefficients(known, w.A, w.V))
        else:
            given["target"] = tuple(compact(known, point).tolist())
    elif point is not None:
        if "weights" not in task_about(name, known).takes:
            raise InputError(f"{name} looks at no point of {known}; leave it out")
        if not isinstance(point, Mapping):
            raise InputError(f"the point is {shown(point)}; give arrays by the names of the parameters")
        given["weights"] = ExactWeights(known, point).vector
    return build(name, known, **given)


def script(architecture: Architecture, task: str, engine: str = "macaulay2", **options: Any) -> Script:
    """The script for an engine that computes a task; it stands alone and can be run by hand.

    Args:
        architecture: a layer, a network or a model.
        task: a name that ``agattn emit --list`` prints, such as ``"implicit-ideal"``.
        engine: ``"macaulay2"`` or ``"singular"``.
        options: ``characteristic``, ``seed``, ``force``; and what the task takes: ``point`` (exact weights,
            for membership also N coordinates, and of a model arrays by the names of its parameters),
            ``max_degree``, ``prime``, ``components``, ``slice``.

    Raises:
        InputError: if there is no such task or engine, or the task is not about this architecture.

    >>> import agattn as ag
    >>> print(ag.script(ag.SingleLayer(2, 1), "implicit-ideal").splitlines()[0])
    -- Equations of the neuromanifold M(2,1,2), by elimination
    >>> ag.script(ag.SingleLayer(2, 1), "implicit-ideals")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: there is no task 'implicit-ideals'; did you mean 'implicit-ideal'?
    """
    from agattn.engines.catalogue import engine_named
    from agattn.engines.emit import emit

    problem = _problem("script", architecture, task, options)
    written = Script(emit(problem, engine_named(_one_of(engine, ENGINES, "engine"))))
    written.engine, written.task = engine_name(engine), problem.task
    return written


def run(
    architecture: Architecture,
    task: str,
    engine: str = "macaulay2",
    *,
    timeout: float = 60.0,
    memory: int = 8192,
    keep: str | Path | None = None,
    **options: Any,
) -> Run:
    """The same script run by its engine, and the answer read back exactly.

    Args:
        architecture, task, engine, options: as for :func:`script`.
        timeout, memory: limits of the engine, in seconds and MiB.
        keep: a folder for the script and the transcript.

    Raises:
        InputError: as for :func:`script`.
        EngineError: if the engine is missing, fails, or reaches a limit.
    """
    from agattn.engines import run as room

    problem = _problem("run", architecture, task, options)
    limits = room.Limits(timeout, memory)
    return room.run(problem, _installed(engine), limits, None if keep is None else Path(keep))
