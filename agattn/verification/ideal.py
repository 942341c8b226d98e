"""The equations, the degree and the Hilbert function of a closure: natively, or by an engine.

And what an engine printed for a script run by hand, or an ideal of the user's own, against what is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agattn.algebra.polynomial import Polynomial
from agattn.architectures import Architecture, SingleLayer, as_layer, one_layer
from agattn.architectures.model_file import STUDIED, Studied
from agattn.engines.catalogue import ENGINES, engine_name, engine_named, refuse_characteristic
from agattn.engines.reading import READERS, read_printed, script_words, written_by
from agattn.engines.transcript import BEGIN, check_complete
from agattn.engines.transcript import read as read_block
from agattn.errors import InputError, TooLargeError, TranscriptError, UndecidedError, verb
from agattn.evidence import Evidence, weakest
from agattn.files import read_text
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.ideal.comparison import IdealComparison, Relation, compare
from agattn.geometry.ideal.ideal import Ideal, compute_ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal, compute_model_ideal
from agattn.geometry.strata.closures import compute_stratum_ideal
from agattn.geometry.strata.strata import stratum_of_ranks
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.geometry.variety.coordinates import coordinate_ring
from agattn.limits import limited, limits, log, takes
from agattn.sheet.data import Note, Sheet
from agattn.sheet.result import Count, Key, Result, Written
from agattn.systems.consistency import check_answer, degree_of_closure, native_facts
from agattn.systems.problem import Answer, Problem


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
            from agattn.engines.elimination import eliminate
            from agattn.engines.locate import locate

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
def degree(architecture: Architecture, engine: str = "native", *, characteristic: int = 0) -> Degree:
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
        from agattn.engines.elimination import eliminate
        from agattn.engines.locate import locate

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
    whole = ideal(architecture, max_degree, engine, characteristic=characteristic, memory=memory)
    values = tuple(whole.hilbert_function(n) for n in range(whole.max_degree + 1))
    return HilbertFunction(architecture, values, weakest(piece.evidence for piece in whole.degrees))


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


#: An ideal is compared in the degrees of its generators, and at least in this one.
LEAST_DEGREE = 2
IDEAL = "implicit-ideal"


class AnswerRead(Result, name="read"):
    """An answer that was read from a file, compared with what is known natively."""

    architecture: Key[Studied, STUDIED]
    task: Key[str, "What the file answers; `implicit-ideal` for an ideal of the user's own."]
    answer: Key[
        dict[str, Any],
        "Integers and lists of polynomials, as Macaulay2 writes them.",
        Written(dict[str, Any]),
    ]
    comparison: Key[IdealComparison, "How the answer stands to what is known."]

    @property
    def exit_status(self) -> int:
        """0 equal; 1 another answer; 3 nothing native decides."""
        return {"equal": 0, "equal so far": 0, "not contradicted": 3}.get(self.comparison.relation, 1)

    def summary(self) -> str:
        return f"{self.task} of {self.architecture.name}: {self.comparison.summary()}"

    def sheet(self) -> Sheet:
        """What was read, and how it stands to what is known."""
        counts = (f"{len(v)} {k}" if isinstance(v, list) else f"{k} {v}" for k, v in self.answer.items())
        read = f"{self.task} of {self.architecture.name}; read: {', '.join(counts)}"
        compared = self.comparison.sheet()
        return Sheet(read, (Note(compared.title, apart=False), *compared.parts))


@takes("seed", "force", "progress")
def read(file: str | Path, architecture: Architecture, *, max_degree: int | None = None) -> AnswerRead:
    """Read an answer that somebody else computed, and compare it with what is known natively.

    Nothing is executed. A file that ends in .m2, .sing, .json or .mrdi holds an ideal in the coordinates of
    the architecture; any other file is what an engine printed for a script of ``agattn emit``.

    Args:
        file: the file.
        architecture: whose coordinates these are.
        max_degree: up to which degree the ideals are compared; by default that of the generators.

    Raises:
        InputError: if the file cannot be read, with line and column; if it has other variables.

    See Also:
        :func:`agattn.ideal`, :func:`agattn.script`; ``agattn read`` in a shell.

    >>> import agattn as ag, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.m2"
    >>> _ = path.write_text("I = ideal(y_(1,1,1,1)*y_(1,2,1,2) + y_(1,1,1,2)*y_(1,2,1,1))")
    >>> ag.read(path, ag.SingleLayer(2, 1, a=1)).comparison.relation
    'not contained'
    """
    path = Path(file)
    text = read_text(path)
    layer = as_layer(architecture)
    if (reader := READERS.get(path.suffix)) is not None:
        space = layer or coefficient_map(architecture)
        ring = coordinate_ring(space) if isinstance(space, SingleLayer) else space.target
        generators = reader(text, ring, path)
        answer: dict[str, Any] = {"generators": [f.macaulay2() for f in generators]}
        return AnswerRead(layer or architecture, IDEAL, answer, _compared(space, generators, max_degree))
    problem, made = _answer(text, architecture, path)
    comparison = _checked(made)
    if comparison is None and problem.task == IDEAL:
        space = layer or coefficient_map(architecture)
        comparison = _compared(space, made.polynomials["generators"], max_degree)
    return AnswerRead(layer or architecture, problem.task, made.as_json(), comparison or _by_value(made))


def _compared(
    space: SingleLayer | CoefficientMap, generators: tuple[Polynomial, ...], degree: int | None
) -> IdealComparison:
    """How an ideal stands to that of M̄, in the degrees of its generators.

    Raises:
        InputError: if the image of a model is no cone.
    """
    due = degree or max([LEAST_DEGREE, *(f.degree() for f in generators)])
    if isinstance(space, SingleLayer):
        return compare(compute_ideal(space, due), generators)
    known = compute_model_ideal(space, due)
    if known.affine:
        raise InputError(f"the image of {known.name} is no cone; ideals of cones are compared alone")
    return compare(known, generators)


def _answer(text: str, architecture: Architecture, path: Path) -> tuple[Problem, Answer]:
    """What a script printed: from the block that was made for reading, else from the lines for people."""
    blocks = [line.split() for line in text.split("\n") if line.startswith(BEGIN)]
    words = script_words(text)
    if blocks and len(blocks[0]) == 4:
        task = blocks[0][2]
    elif words is not None:
        task = words.split()[2]
    else:
        raise InputError(
            f"{path} does not say what it answers: expected the line 'agattn emit TASK ...' that a script "
            f"prints, or an ideal in a file that ends in {', '.join(READERS)}"
        )
    from agattn.systems.catalogue import build  # and all tasks

    problem = build(task, architecture)
    if blocks:
        return problem, read_block(text, problem)
    if words is None or words != written_by(problem, words):
        raise InputError(f"{path} answers {words!r}; expected {written_by(problem, words or '')!r}")
    rings = {result.name: result.ring for result in problem.results if result.ring is not None}
    values = read_printed(text, rings, path)
    check_complete(problem, values)
    return problem, Answer.of(problem, values)


def _checked(answer: Answer) -> IdealComparison | None:
    """That an answer contradicts what is known, or itself; ``None`` if it does not."""
    try:
        check_answer(answer)
    except TranscriptError as error:
        return IdealComparison("different", Evidence.PROVED, None, str(error))
    return None


def _by_value(answer: Answer) -> IdealComparison:
    """Whether the value of an answer is the native one, where there is one."""
    task, architecture = answer.problem.origin, answer.problem.architecture
    value, native = task.read(answer), None
    if task.native is not None:
        with suppress(InputError, TooLargeError, UndecidedError):
            native = task.native(architecture)
    if native is None:
        facts = native_facts(answer.problem)
        all_known = all(name in facts and facts[name].low == facts[name].high for name in answer.integers)
        relation: Relation = "equal" if all_known and not answer.polynomials else "not contradicted"
        return IdealComparison(relation, Evidence.PROVED, None, None)
    if native == value:
        return IdealComparison("equal", task.evidence(native), None, None)
    return IdealComparison("different", task.evidence(native), None, f"it says {value}; natively {native}")
