"""What an engine printed for a script run by hand, or an ideal of the user's own, against what is known."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from agattn.algebra.polynomial import Polynomial
from agattn.architectures import Architecture, SingleLayer, as_layer
from agattn.architectures.model_file import STUDIED, Studied
from agattn.engines.reading import READERS, read_printed, script_words, written_by
from agattn.engines.transcript import BEGIN, check_complete
from agattn.engines.transcript import read as read_block
from agattn.errors import InputError, TooLargeError, TranscriptError, UndecidedError
from agattn.evidence import Evidence
from agattn.files import read_text
from agattn.geometry.ideal.comparison import IdealComparison, Relation, compare
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.geometry.variety.coordinates import coordinate_ring
from agattn.limits import takes
from agattn.sheet.data import Note, Sheet
from agattn.sheet.result import Key, Result, Written
from agattn.systems.catalogue import build
from agattn.systems.consistency import check_answer, native_facts
from agattn.systems.problem import Answer, Problem

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
