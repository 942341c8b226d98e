"""The verbs whose answers join what is known natively with what engines say, or are put to the test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.architectures import Architecture, SingleLayer, as_attention, as_layer, one_layer
from agattn.architectures.forms import STUDIED, Studied
from agattn.calls import one_of, shown
from agattn.engines.catalogue import ENGINES, engine_name, engine_named
from agattn.errors import InputError
from agattn.errors import verb as named_verb
from agattn.evidence import Evidence, weakest
from agattn.patience import Progress, silent
from agattn.sheet.data import Sheet, Table
from agattn.sheet.result import Count, Key, Result

if TYPE_CHECKING:
    from agattn.algebra.memory import Memory
    from agattn.engines.run import Limits
    from agattn.geometry.critical_points.counts import CriticalPoints
    from agattn.geometry.critical_points.trained import NearbyCriticalPoints
    from agattn.geometry.ideal.ideal import Ideal
    from agattn.geometry.ideal.model_ideal import ModelIdeal
    from agattn.geometry.singular_points.point_facts import Singularities
    from agattn.verification.certificate import Certificate
    from agattn.verification.checked import Checked
    from agattn.verification.report import Report
    from agattn.verification.strata_table import StrataTable


def strata(layer: SingleLayer, *, force: bool = False) -> StrataTable:
    """Every point of the neuromanifold of a layer, by its stratum: the orbit (rk V, rk A, rk [V; Aᵀ]).

    Each row has the dimension, the preimages, the tangent space, what M̄ looks like nearby, and the boundary;
    all of it is proved.

    Args:
        layer: one layer with t ≥ 2.
        force: go beyond the limits on sizes.

    Raises:
        InputError: for a network, for t = 1, or beyond the limits on sizes.

    See Also:
        :func:`agattn.tangent_space`, :func:`agattn.singularities`, :func:`agattn.classify`; ``agattn strata``
        in a shell.

    >>> import agattn as ag
    >>> table = ag.strata(ag.SingleLayer(3, 2, a=2))
    >>> [str(row.stratum) for row in table if row.contradicts_paper]
    ['(2,1,2)', '(2,1,3)']
    """
    from agattn.systems.sizes import check_size
    from agattn.verification.strata_table import strata_table

    one = one_layer(layer, "strata", "for a network use ag.dimension or ag.verify")
    if not force:
        check_size(one)
    return strata_table(one)


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
    progress: Progress = silent,
) -> CriticalPoints:
    """The critical points of a squared loss on M̄: on its smooth part and on each singular stratum.

    If a stratum has infinitely many critical points, the result has their dimension and degree. For general
    data (d' ≤ 3), and for a general target in the Bombieri–Weyl norm (d' = 1, a ≥ d), theorems give the
    numbers at once. For d = 2 and d' = 1 elimination proves the numbers for any loss that is a distance. In
    other cases, or if an engine is named, an engine counts, and its numbers are compared with proved ones.

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
        real: find all real critical points, too, and prove each: with loss, index and weights. For d' = 1 and
            d = 2 no engine is needed; otherwise msolve finds them. The numbers of complex points then come
            from the same computation, unless an engine, a characteristic or the equations are asked for.
        characteristic: 0 for ℚ, or a prime; by default two primes, and another chart for each.
        timeout, memory: limits of each run of the engine, in seconds and MiB.
        force: go beyond the limits on sizes.
        progress: called with what is done next.

    Raises:
        InputError: for a network, for t = 1, for data that do not fit, beyond the limits on sizes, or where
            ``engine="native"`` proves nothing.
        EngineError: if an engine is needed and none is installed, or it fails or does not finish.
        UndecidedError: if the numbers modulo three primes differ.
        DisagreementError: if an engine's numbers are not those that are proved.

    See Also:
        :func:`agattn.critical_points_near`, :func:`agattn.train`, :func:`agattn.figure`; ``agattn
        critical-points`` in a shell.

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
    from agattn.geometry.critical_points.loss import check_loss
    from agattn.verification import critical_points as room

    one = one_layer(layer, "critical points", "they are known for layers alone")
    method = one_of(method, ("weights", "equations"), "method")
    engine = engine_name(engine, room.ENGINES)
    check_loss(metric, data, samples, target)
    return room.critical_points(
        one, metric, data, samples=samples, target=target, seed=seed, engine=engine, method=method,
        smooth=smooth, real=real, characteristic=characteristic, limits=Limits(timeout, memory),
        force=force, progress=progress,
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
        weights: of it, as for :func:`agattn.fiber`.
        metric, data, samples, target, seed: the loss, as for :func:`agattn.critical_points`.

    Raises:
        InputError: if the weights do not fit the layer or give the function 0, or the loss is no distance.

    See Also:
        :func:`agattn.critical_points`, :func:`agattn.classify`, :func:`agattn.train`; ``agattn
        critical-points --weights`` in a shell.

    >>> import agattn as ag
    >>> w = {"K": [[1, 2], [0, 0]], "Q": [["1/2", 0], [0, 0]], "V": [[1, -1]]}
    >>> near = ag.critical_points_near(ag.SingleLayer(2, 1), w, "gaussian", target=[1, 1, 0, 0, -1, 1])
    >>> [(point.rank, point.index, point.escapes, point.is_local_minimum) for point in near]
    [(2, 0, 0, True), (1, 1, 1, False)]
    """
    from agattn.geometry.critical_points.loss import chosen_loss
    from agattn.geometry.critical_points.trained import critical_points_near as near
    from agattn.geometry.identifiability.equivalence import weights_of_layer

    one = one_layer(layer, "critical points", "they are known for layers alone")
    loss = chosen_loss(one, metric, data, samples, target, seed)
    return near(loss, weights_of_layer(one, weights))


def singularities(
    network: Architecture,
    pairs: bool = False,
    *,
    seed: int = 0,
    force: bool = False,
    progress: Progress = silent,
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

    See Also:
        :func:`agattn.strata`, :func:`agattn.tangent_space`, :func:`agattn.critical_points`; ``agattn
        singularities`` in a shell.

    >>> import agattn as ag
    >>> found = ag.singularities(ag.DeepNetwork((3, 3, 2), (3, 3), t=3))
    >>> found["rk M_1 = 1"]
    rk M_1 = 1: differential of rank 19 of 22, tangent space of dimension 29 or more: singular (proved)
    >>> ag.singularities(ag.Network([ag.Linear(2), ag.Linear(3)], dim=3))["rk W_1 = 1"]
    rk W_1 = 1: differential of rank 7 of 8, tangent space of dimension 9 or more: singular (proved)
    """
    from agattn.geometry.singular_points import singularities as room

    return room.singularities(network, pairs, seed, force, progress)


def ideal(
    layer: Architecture,
    max_degree: int = 4,
    engine: str = "native",
    stratum: Sequence[int] | None = None,
    *,
    workers: int = 1,
    seed: int = 0,
    characteristic: int = 0,
    timeout: float = 60.0,
    memory: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Ideal | ModelIdeal:
    """The equations of M̄ up to a degree, with their symmetry; or all of them, by elimination in an engine.

    Args:
        layer: one layer, or any polynomial network, model or map.
        max_degree: the last degree.
        engine: ``"native"``, ``"macaulay2"``, ``"singular"`` or ``"msolve"``.
        stratum: the ranks (r_V, r_A, r) of a stratum of a layer with t ≥ 2: the equations of its closure in
            place of those of M̄, natively.
        workers: the number of processes, natively and for one layer.
        seed: of the native computation.
        characteristic: of an engine's field: 0 for ℚ, or a prime.
        timeout: limit of the engine, in seconds.
        memory: limit in MiB; by default 8192 for an engine, and natively what the machine has.
        force: go beyond the limits on sizes and, natively, on memory.
        progress: called with what is done next.

    Raises:
        InputError: if the architecture is no polynomial, for an unknown engine, beyond the limits on sizes
            or memory, for an engine and a model whose image is no cone, for a stratum that does not exist, or
            for ``characteristic`` or ``workers`` where nothing uses them.
        EngineError: if the engine is missing or fails.

    See Also:
        :func:`agattn.hilbert_function`, :func:`agattn.degree`, :func:`agattn.invariants`,
        :func:`agattn.tangent_space`; ``agattn ideal`` in a shell.

    >>> import agattn as ag
    >>> ag.ideal(ag.SingleLayer(3, 1), max_degree=3)
    Ideal of M(3,1,3) to degree 3: 20 cubics
    >>> ag.ideal(ag.Network([ag.Perceptron([2, 2], degree=2)], dim=2), max_degree=3)
    Ideal of 2×1 → perceptron 2,2 (degree 2) to degree 3: no equations
    >>> ag.ideal(ag.SingleLayer(3, 1), max_degree=3, stratum=(1, 1, 2))
    Ideal of the closure of (1,1,2) in M(3,1,3) to degree 3: 45 quadrics, 10 cubics
    """
    from agattn.engines.run import DEFAULT_MEMORY, Limits

    native = engine_name(engine, ("native", *ENGINES)) == "native"
    is_model = as_layer(layer) is None
    if native:
        _no_characteristic(characteristic)
    elif stratum is not None:
        raise InputError(f"the equations of a stratum are found natively; leave out engine={engine!r}")
    if workers != 1 and (is_model or stratum is not None or not native):
        raise InputError(f"workers={workers} is for the equations of one layer, found natively; leave it out")
    if not native:
        limits = Limits(timeout, DEFAULT_MEMORY if memory is None else memory)
        return _eliminated(layer, max_degree, engine, characteristic, limits, force)
    from agattn.algebra.memory import Memory

    allowed = Memory(None if memory is None else memory * 2**20, force, progress)
    if stratum is not None:
        return _ideal_of_stratum(layer, stratum, max_degree, seed, force, allowed, progress)
    if is_model:
        return _ideal_of_model(layer, max_degree, seed, force, allowed, progress)
    from agattn.geometry.ideal.ideal import compute_ideal

    return compute_ideal(layer, max_degree, workers=workers, seed=seed, force=force, memory=allowed)


@dataclass(frozen=True, repr=False)
class Degree(Result):
    """The degree of M̄, with how it is known."""

    architecture: Key[Studied, STUDIED]
    degree: Key[Count, "The degree of the Zariski closure."]
    evidence: Key[Evidence, "How the degree is known."]
    reason: Key[str, "The argument, or the engine that eliminated."]

    def summary(self) -> str:
        """The degree in a line."""
        return f"{self.architecture.name}: degree {self.degree} ({self.evidence})"

    def sheet(self) -> Sheet:
        """The degree with its reason."""
        headings = ("degree", "evidence", "reason")
        return Sheet(
            self.summary(),
            (Table(self.summary(), headings, ((self.degree, str(self.evidence), self.reason),)),),
        )


#: How the degree is known for t ≥ 2.
_BY_INTERSECTION = (
    "intersection theory: the degree of the variety of all pairs (A, V) up to scaling, divided by the number "
    "of pairs over a general function"
)


def degree(
    architecture: Architecture,
    engine: str = "native",
    *,
    characteristic: int = 0,
    timeout: float = 60.0,
    memory: int = 8192,
    force: bool = False,
) -> Degree:
    """The degree of the Zariski closure of a neuromanifold.

    Args:
        architecture: one layer; with an engine also any polynomial network, model or map.
        engine: ``"native"``, by intersection theory; or ``"macaulay2"``, ``"singular"`` or ``"msolve"``, by
            elimination.
        characteristic: of an engine's field: 0 for ℚ, or a prime.
        timeout, memory: limits of the engine, in seconds and MiB.
        force: go beyond the limits on sizes.

    Raises:
        InputError: if no formula is known and no engine is named, or as for :func:`agattn.ideal`.
        EngineError: if the engine is missing or fails.

    See Also:
        :func:`agattn.hilbert_function`, :func:`agattn.ideal`, :func:`agattn.dimension`; ``agattn ideal`` in a
        shell.

    >>> import agattn as ag
    >>> ag.degree(ag.SingleLayer(3, 1))
    M(3,1,3): degree 45 (proved)
    """
    from agattn.engines.run import Limits
    from agattn.systems.native_facts import degree_of_closure

    if engine_name(engine, ("native", *ENGINES)) != "native":
        found = _eliminated(architecture, 1, engine, characteristic, Limits(timeout, memory), force)
        assert found.degree is not None  # every elimination finds the degree
        return Degree(architecture, found.degree, found.degrees[0].evidence, f"elimination by {engine}")
    _no_characteristic(characteristic)
    layer = as_layer(architecture)
    known = None if layer is None else degree_of_closure(layer)
    if known is None:
        raise InputError(
            f"no formula for the degree of {architecture} is known; name an engine: {', '.join(ENGINES)}"
        )
    reason = _BY_INTERSECTION if architecture.t > 1 else "M̄ is all of the space"
    return Degree(architecture, known, Evidence.PROVED, reason)


@dataclass(frozen=True, repr=False)
class HilbertFunction(Result):
    """The Hilbert function of M̄ up to a degree."""

    architecture: Key[Studied, STUDIED]
    values: Key[tuple[Count, ...], "The dimension of the coordinate ring in the degrees 0, 1, ...."]
    evidence: Key[Evidence, "How the weakest value is known."]

    def summary(self) -> str:
        """The values in a line."""
        values = ", ".join(map(str, self.values))
        return f"Hilbert function of {self.architecture.name}: {values} ({self.evidence})"

    def sheet(self) -> Sheet:
        """A row for each degree."""
        return Sheet(
            self.summary(), (Table(self.summary(), ("degree", "value"), tuple(enumerate(self.values))),)
        )


def hilbert_function(
    architecture: Architecture,
    max_degree: int = 4,
    engine: str = "native",
    *,
    workers: int = 1,
    seed: int = 0,
    characteristic: int = 0,
    timeout: float = 60.0,
    memory: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> HilbertFunction:
    """The dimensions of the coordinate ring of M̄, degree by degree.

    Args:
        architecture, max_degree, engine, workers, seed, characteristic, timeout, memory, force, progress: as
            for :func:`agattn.ideal`.

    Raises:
        InputError: as for :func:`agattn.ideal`.
        EngineError: if the engine is missing or fails.

    See Also:
        :func:`agattn.ideal`, :func:`agattn.degree`; ``agattn ideal`` in a shell.

    >>> import agattn as ag
    >>> ag.hilbert_function(ag.SingleLayer(2, 1), 5)
    Hilbert function of M(2,1,2): 1, 6, 21, 56, 125, 246 (proved)
    """
    found = ideal(
        architecture, max_degree, engine, workers=workers, seed=seed, characteristic=characteristic,
        timeout=timeout, memory=memory, force=force, progress=progress,
    )  # fmt: skip
    values = tuple(found.hilbert_function(n) for n in range(found.max_degree + 1))
    return HilbertFunction(architecture, values, weakest(piece.evidence for piece in found.degrees))


def _no_characteristic(given: int) -> None:
    """Refuse the characteristic of a field without an engine."""
    if given:
        raise InputError(
            f"characteristic={given} is for an engine, and native results hold over ℚ; leave it out, or name "
            f"an engine: {', '.join(ENGINES)}"
        )


def _eliminated(
    architecture: Architecture, max_degree: int, engine: str, characteristic: int, limits: Limits, force: bool
) -> Ideal | ModelIdeal:
    """The whole ideal, by an engine."""
    from agattn.engines.elimination import eliminate
    from agattn.engines.locate import locate

    return eliminate(
        architecture, max_degree, locate(engine_named(engine)),
        characteristic=characteristic, limits=limits, force=force,
    )  # fmt: skip


def _ideal_of_stratum(
    given: Architecture, ranks: Sequence[int], max_degree: int, seed: int, force: bool, memory: Memory,
    progress: Progress,
) -> Ideal:  # fmt: skip
    """The equations of the closure of a stratum of a layer."""
    from agattn.geometry.strata.closures import compute_stratum_ideal
    from agattn.geometry.strata.strata import stratum_of_ranks

    layer = one_layer(
        as_layer(given) or given, "strata", f"{named_verb('singularities')} finds the kinds of its points"
    )
    found = compute_stratum_ideal(
        layer, stratum_of_ranks(ranks), max_degree, seed=seed, force=force, memory=memory, step=progress
    )
    return found if layer is given else replace(found, given=given)


def _ideal_of_model(
    model: Architecture, max_degree: int, seed: int, force: bool, memory: Memory, progress: Progress
) -> ModelIdeal:
    """The equations of a network or a model, natively.

    Where these do not prove the dimension, symmetries may.
    """
    from agattn.geometry.dimension.dimension import dimension
    from agattn.geometry.ideal.model_ideal import compute_model_ideal
    from agattn.geometry.variety.coefficient_map import coefficient_map

    source = coefficient_map(model, **({"limit": math.inf} if force else {}))
    found = compute_model_ideal(source, max_degree, seed=seed, force=force, memory=memory, step=progress)
    if found.dimension is not None:
        return found
    progress("dimension")
    size = dimension(as_attention(model), seed, force=force)
    return replace(found, dimension=size.lower_bound) if size.evidence is Evidence.PROVED else found


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
    progress: Progress = silent,
) -> Report:
    """Test the claims of the paper and of this project: the verdicts, by claim.

    Args:
        architecture: a layer, a network of attention or of any layers, a polynomial map, or anything with the
            members of :class:`agattn.architectures.protocol.Architecture`.
        claims: ids, or beginnings or numbers of some, such as ``"theorem-3.4"``; none for all.
        engine: ``"auto"``, ``"native"``, ``"macaulay2"``, ``"singular"``, ``"msolve"`` or ``"all"``.
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

    See Also:
        :func:`agattn.certificate`, :func:`agattn.audit`, :func:`agattn.report`; ``agattn verify`` in a shell.

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

    if characteristic:
        from agattn.systems.catalogue import check_field  # which imports all tasks

        check_field(characteristic)
        if engine == "native":
            _no_characteristic(characteristic)
    settings = Settings(
        engine_name(engine, CHOICES), characteristic, Limits(timeout, memory), eliminate, seed, force,
        None if keep is None else Path(keep),
    )  # fmt: skip
    chosen = (claims,) if isinstance(claims, str) else claims
    return judge(as_attention(architecture), chosen, settings, progress)


def certificate(layer: Architecture, claims: str | Sequence[str] = ()) -> Certificate:
    """Integers that prove verdicts to anyone: a JSON document that :func:`agattn.check` verifies.

    The document names the claims that have no certificate; the other claims are certified all the same.

    Args:
        layer: one layer; or a network, of which zeros, limits, critical and singular points are certified, or
            for one layer of several heads ``agattn.heads-not-closed``; or one layer with groups of heads,
            latents or a state, of which the dimension is certified; t ≥ 2.
        claims: their ids; none for all.

    Raises:
        InputError: for t = 1, for another model, if there is no such claim, or where no claim can be
            certified.

    See Also:
        :func:`agattn.check`, :func:`agattn.verify`; ``agattn certificate`` in a shell.

    >>> import agattn as ag
    >>> ag.certificate(ag.SingleLayer(2, 1), "theorem-3.4")
    Certificate of M(2,1,2), t ≥ 2: 3 claims, 3 certified (3 confirmed, 0 refuted)
    >>> ag.certificate(ag.DeepNetwork((3, 3, 2), (3, 3), t=3))
    Certificate of M(3,3,2; 3,3), t ≥ 2: deep-zeros, deep-not-closed, deep-boundary, deep-critical,
    deep-singular
    """
    from agattn.verification.certificate import certify

    return certify(layer, (claims,) if isinstance(claims, str) else claims)


def check(document: Any) -> Checked:
    """Verify a certificate again, with nothing but Python's integers.

    Args:
        document: what :func:`agattn.certificate` returns, a mapping, or the path of a JSON file.

    Raises:
        InputError: if it is no certificate.

    See Also:
        :func:`agattn.certificate`, :func:`agattn.verify`; ``agattn check`` in a shell.

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
