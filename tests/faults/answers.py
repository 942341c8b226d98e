"""Live answers of engines, damaged on their way to us, or sealed by an engine that itself is wrong."""

import contextlib
import random
import re
from functools import cache
from unittest import mock

from agattn.architectures import SingleLayer
from agattn.claims import claims_about
from agattn.engines.catalogue import ENGINES, check_can
from agattn.engines.locate import locate
from agattn.engines.reading import BEGIN, END, checksum, read
from agattn.engines.run import Run, read_answer, run
from agattn.errors import AgattnError, EngineNotFoundError, TranscriptError
from agattn.evidence import Status
from agattn.limits import limited
from agattn.systems import catalogue
from agattn.systems.catalogue import build
from agattn.systems.consistency import check_answer
from agattn.verification import verify as verification
from tests.faults.table import Row

LAYERS = (SingleLayer(2, 1), SingleLayer(3, 1), SingleLayer(3, 2, 2))
DECIDED = (Status.CONFIRMED, Status.REFUTED)
# The engines that print blocks; damage of the lists of msolve is tried in tests/engines/test_msolve.py.
BLOCKS = tuple(name for name, engine in ENGINES.items() if not engine.by_shell)


def tasks_of(layer):
    """The tasks that engines can do for a layer, with the claims that use each."""
    uses = {}
    for claim in claims_about(layer, ()):
        for task in claim.tasks:
            if task.results and not task.infeasible(layer):
                uses.setdefault(task, []).append(claim.id)
    return uses


def running(engines, say):
    """The installations of engines that run here; the others are told of, and left out."""
    found = {}
    for name in engines:
        try:
            there = locate(ENGINES[name])
        except EngineNotFoundError as error:
            say(f"left out: {error}")
            continue
        if trouble := there.problem():
            say(f"left out: {there.engine.title}: {trouble}")
        else:
            found[name] = there
    return found


def record(layers, installations, say):
    """One live run of each task by each engine."""
    found = {}
    for name, installation in installations.items():
        for layer in layers:
            for task in tasks_of(layer):
                with contextlib.suppress(AgattnError):
                    problem = build(task.name, layer, 0, seed=0, force=True)
                    check_can(installation.engine, problem)
                    with limited(timeout=120):
                        found[name, layer, task.name] = run(problem, installation), task
                    say(f"recorded {name} {layer.as_json()} {task.name}")
    return found


# Damage -----------------------------------------------------------------------------------------------------


def parts(text):
    """What stands before the block, the lines between its marks, and what follows."""
    lines = text.split("\n")
    begin = next(n for n, line in enumerate(lines) if line.startswith(BEGIN))
    end = next(n for n, line in enumerate(lines) if line.startswith(END))
    return lines[: begin + 1], lines[begin + 1 : end], lines[end:]


def sealed(before, body, after):
    """A block as an engine prints it that finds these lines."""
    return "\n".join([*before, *body, f"{END} {len(body)} {checksum(body)}", *after[1:]])


def change(chosen, body):
    """One number changed: a digit, by one, its sign, or to a number that stands elsewhere."""
    body = list(body)
    places = [(n, m) for n, line in enumerate(body) for m in re.finditer(r"(?<=[ ,])-?\d+", line)]
    n, m = chosen.choice(places)
    value = int(m[0])
    other = int(body[chosen.choice(places)[0]].split()[-1].split(",")[0].split("/")[0])
    value = chosen.choice([value + 1, value - 1, -value, 0, 1, other, value + 10, chosen.randrange(100)])
    body[n] = body[n][: m.start()] + str(value) + body[n][m.end() :]
    return body


def lines(chosen, body):
    """Lines swapped, deleted or repeated."""
    body, i, j = list(body), chosen.randrange(len(body)), chosen.randrange(len(body))
    how = chosen.randrange(3)
    if how == 0:
        body[i], body[j] = body[j], body[i]
    elif how == 1:
        del body[i]
    else:
        body.insert(j, body[i])
    return body


def letters(chosen, text, letter):
    """One letter replaced, anywhere from the begin mark on."""
    start = text.index(BEGIN)
    n = chosen.randrange(start, len(text))
    return text[:n] + letter(text[n]) + text[n + 1 :]


def digit(chosen, text):
    """One digit replaced, anywhere in the block."""
    n = chosen.choice([m.start() for m in re.finditer(r"\d", text)])
    return text[:n] + chosen.choice("0123456789".replace(text[n], "")) + text[n + 1 :]


def damage(chosen, text, others):
    """A damaged transcript, and in words what was done to it."""
    before, body, after = parts(text)
    other = chosen.choice(others)
    kinds = {
        "digit": lambda: digit(chosen, text),
        "bit": lambda: letters(chosen, text, lambda x: chr(ord(x) ^ 1 << chosen.randrange(7))),
        "byte": lambda: letters(chosen, text, lambda x: chr(chosen.randrange(256))),
        "lines": lambda: "\n".join([*before, *lines(chosen, body), *after]),
        "cut off": lambda: text[: chosen.randrange(len(text))],
        "another answer": lambda: other,
        "sealed: value": lambda: sealed(before, change(chosen, body), after),
        "sealed: values": lambda: sealed(before, change(chosen, change(chosen, body)), after),
        "sealed: lines": lambda: sealed(before, lines(chosen, body), after),
        "sealed: another answer": lambda: sealed(before, parts(other)[1], after),
    }
    weights = [2, 1, 1, 1, 1, 1, 6, 3, 2, 1]
    [kind] = chosen.choices(list(kinds), weights)
    return kind, kinds[kind]()


# Judging again, without processes ---------------------------------------------------------------------------


@contextlib.contextmanager
def replayed(transcripts):
    """Engines answer from a table by (engine, layer, task); native values are computed once."""
    natives, compute = {}, verification._Work._compute

    def answer(problem, installation, keep=None, cancelled=None):
        text = transcripts.get((installation.engine.name, problem.architecture, problem.task))
        if text is None:
            raise TranscriptError("nothing was recorded")
        answer = read_answer(installation.engine, text, problem)
        check_answer(answer)
        return Run(problem, installation, "", text, answer, 0.0)

    def natively(work, task):
        key = work.layer, task
        if key not in natives:
            natives[key] = compute(work, task)
        return natives[key]

    with (
        mock.patch.object(catalogue, "build", cache(build)),
        mock.patch.object(verification, "run", answer),
        mock.patch.object(verification, "locate", cache(locate)),
        mock.patch.object(verification._Work, "_compute", natively),
    ):
        yield


def judged(layer, claims, engine):
    """Status and computed value of claims, or None if the whole was stopped as contradictory or broken."""
    try:
        report = verification.verify(layer, claims, engine)
    except AgattnError:
        return None
    return {v.claim: (v.status, v.computed) for v in report.verdicts}


def compared(truth, found):
    """Right, detected, or wrong."""
    if found is None:
        return "detected"
    outcome = "right"
    for claim, (status, computed) in found.items():
        if (status, computed) == truth[claim]:
            continue
        if status in DECIDED:
            return "wrong"
        outcome = "detected"
    return outcome


def _read(text, problem):
    """What an answer says, or that it is refused."""
    try:
        answer = read(text, problem)
        check_answer(answer)
    except AgattnError:
        return "refused"
    return repr((answer.integers, answer.polynomials))


def tried(cases, seed=0, layers=LAYERS, engines=BLOCKS, say=lambda line: None):
    """Rows about so many damaged answers."""
    installations = running(engines, say)
    engines = tuple(installations)
    recorded = record(layers, installations, say)
    transcripts = {key: done.transcript for key, (done, _) in recorded.items()}
    texts = list(transcripts.values())
    rows, outcomes = [], {}
    chosen = random.Random(seed)
    with replayed(transcripts):
        for mode in (*engines, "auto"):
            row = Row(f"answers, `{mode}`")
            seals = Row(f"answers of a wrong engine, `{mode}`")
            keys = [key for key in transcripts if mode in ("auto", key[0])]
            truths = {}
            for _ in range(cases // (len(engines) + 1)):
                key = chosen.choice(keys)
                _, layer, name = key
                claims = tasks_of(layer)[recorded[key][1]]
                if (layer, name) not in truths:
                    truths[layer, name] = judged(layer, claims, mode)
                    assert truths[layer, name] == judged(layer, claims, "native") or name == "implicit-ideal"
                kind, text = damage(chosen, transcripts[key], texts)
                # What is refused, and what reads the same, is judged once.
                what = mode, key, _read(text, recorded[key][0].problem)
                if what not in outcomes:
                    good, transcripts[key] = transcripts[key], text
                    outcomes[what] = compared(truths[layer, name], judged(layer, claims, mode))
                    transcripts[key] = good
                outcome = outcomes[what]
                (seals if kind.startswith("sealed") else row).add(
                    outcome, f"{kind} in {name} at {layer}: {text[:400]!r}"
                )
            rows += [row, seals]
    return rows
