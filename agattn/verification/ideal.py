"""The equations, the degree and the Hilbert function of a closure: natively, or by an engine."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agattn.architectures import Architecture, as_layer, one_layer
from agattn.architectures.model_file import STUDIED, Studied
from agattn.engines.catalogue import ENGINES, engine_name, engine_named, refuse_characteristic
from agattn.engines.elimination import eliminate
from agattn.engines.locate import locate
from agattn.errors import InputError, verb
from agattn.evidence import Evidence, weakest
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.ideal.ideal import Ideal, compute_ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal, compute_model_ideal
from agattn.geometry.strata.closures import compute_stratum_ideal
from agattn.geometry.strata.strata import stratum_of_ranks
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.limits import limited, limits, log, takes
from agattn.sheet.result import Count, Key, Result
from agattn.systems.consistency import degree_of_closure


@takes("seed", "timeout", "force", "workers", "progress")
def ideal(
    layer: Architecture,
    max_degree: int = 4,
    engine: str = "native",
    stratum: Sequence[int] | None = None,
    *,
    characteristic: int = 0,
    memory: int | None = None,
) -> Ideal | ModelIdeal:
    """The equations of M̄ up to a degree, with their symmetry; or all of them, by elimination in an engine.

    Args:
        layer: one layer, or any polynomial network, model or map.
        max_degree: the last degree.
        engine: ``"native"``, ``"macaulay2"``, ``"singular"`` or ``"msolve"``.
        stratum: the ranks (r_V, r_A, r) of a stratum of a layer with t ≥ 2: the equations of its closure in
            place of those of M̄, natively.
        seed: of the native computation.
        characteristic: of an engine's field: 0 for ℚ, or a prime.
        memory: limit in MiB; by default 8192 for an engine, and natively what the machine has.
        force: go beyond the limits on sizes and, natively, on memory.

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
    native = engine_name(engine, ("native", *ENGINES)) == "native"
    if native:
        refuse_characteristic(characteristic)
    elif stratum is not None:
        raise InputError(f"the equations of a stratum are found natively; leave out engine={engine!r}")
    if not native:
        if (workers := limits().workers or 1) > 1:
            raise InputError(f"workers={workers} is for equations found natively; leave it out")
        with limited(**({} if memory is None else {"memory": memory})):
            return eliminate(layer, max_degree, locate(engine_named(engine)), characteristic=characteristic)
    with limited(native=memory):
        if stratum is not None:
            return _ideal_of_stratum(layer, stratum, max_degree)
        if as_layer(layer) is None:
            return _ideal_of_model(layer, max_degree)
        return compute_ideal(layer, max_degree)


class Degree(Result):
    """The degree of M̄, with how it is known."""

    architecture: Key[Studied, STUDIED]
    degree: Key[Count, "The degree of the Zariski closure."]
    evidence: Key[Evidence, "How the degree is known."]
    reason: Key[str, "The argument, or the engine that eliminated."]

    def summary(self) -> str:
        """The degree in a line."""
        return f"{self.architecture.name}: degree {self.degree} ({self.evidence})"


#: How the degree is known for t ≥ 2.
_BY_INTERSECTION = (
    "intersection theory: the degree of the variety of all pairs (A, V) up to scaling, divided by the number "
    "of pairs over a general function"
)


@takes("timeout", "memory", "force")
def degree(
    architecture: Architecture,
    engine: str = "native",
    *,
    characteristic: int = 0,
) -> Degree:
    """The degree of the Zariski closure of a neuromanifold.

    Args:
        architecture: one layer; with an engine also any polynomial network, model or map.
        engine: ``"native"``, by intersection theory; or ``"macaulay2"``, ``"singular"`` or ``"msolve"``, by
            elimination.
        characteristic: of an engine's field: 0 for ℚ, or a prime.

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
    if engine_name(engine, ("native", *ENGINES)) != "native":
        found = eliminate(architecture, 1, locate(engine_named(engine)), characteristic=characteristic)
        assert found.degree is not None  # every elimination finds the degree
        return Degree(architecture, found.degree, found.degrees[0].evidence, f"elimination by {engine}")
    refuse_characteristic(characteristic)
    layer = as_layer(architecture)
    known = None if layer is None else degree_of_closure(layer)
    if known is None:
        raise InputError(
            f"no formula for the degree of {architecture} is known; name an engine: {', '.join(ENGINES)}"
        )
    reason = _BY_INTERSECTION if architecture.t > 1 else "M̄ is all of the space"
    return Degree(architecture, known, Evidence.PROVED, reason)


class HilbertFunction(Result):
    """The Hilbert function of M̄ up to a degree."""

    architecture: Key[Studied, STUDIED]
    values: Key[tuple[Count, ...], "The dimension of the coordinate ring in the degrees 0, 1, ...."]
    evidence: Key[Evidence, "How the weakest value is known."]

    def summary(self) -> str:
        """The values in a line."""
        values = ", ".join(map(str, self.values))
        return f"Hilbert function of {self.architecture.name}: {values} ({self.evidence})"


@takes("seed", "timeout", "force", "workers", "progress")
def hilbert_function(
    architecture: Architecture,
    max_degree: int = 4,
    engine: str = "native",
    *,
    characteristic: int = 0,
    memory: int | None = None,
) -> HilbertFunction:
    """The dimensions of the coordinate ring of M̄, degree by degree.

    Args:
        architecture, max_degree, engine, characteristic, memory: as for :func:`agattn.ideal`.

    Raises:
        InputError: as for :func:`agattn.ideal`.
        EngineError: if the engine is missing or fails.

    See Also:
        :func:`agattn.ideal`, :func:`agattn.degree`; ``agattn ideal`` in a shell.

    >>> import agattn as ag
    >>> ag.hilbert_function(ag.SingleLayer(2, 1), 5)
    Hilbert function of M(2,1,2): 1, 6, 21, 56, 125, 246 (proved)
    """
    found = ideal(architecture, max_degree, engine, characteristic=characteristic, memory=memory)
    values = tuple(found.hilbert_function(n) for n in range(found.max_degree + 1))
    return HilbertFunction(architecture, values, weakest(piece.evidence for piece in found.degrees))


def _ideal_of_stratum(given: Architecture, ranks: Sequence[int], max_degree: int) -> Ideal:
    """The equations of the closure of a stratum of a layer."""
    layer = one_layer(
        as_layer(given) or given, "strata", f"{verb('singularities')} finds the kinds of its points"
    )
    found = compute_stratum_ideal(layer, stratum_of_ranks(ranks), max_degree)
    return found if layer is given else found.replace(given=given)


def _ideal_of_model(model: Architecture, max_degree: int) -> ModelIdeal:
    """The equations of a network or a model, natively.

    Where these do not prove the dimension, symmetries may.
    """
    source = coefficient_map(model, **({"limit": math.inf} if limits().force else {}))
    found = compute_model_ideal(source, max_degree)
    if found.dimension is not None:
        return found
    log.info("dimension")
    size = dimension(model)
    return found.replace(dimension=size.lower_bound) if size.evidence is Evidence.PROVED else found
