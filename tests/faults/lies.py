"""Engines that lie: values of live answers changed, and the checksums made anew.

Lies are told at every door that believes engines. They are *wrong* where they are believed against what is
known natively, or decide a verdict otherwise; believed where nothing native contradicts them, they are
counted by the evidence that stands beside them.
"""

import contextlib
import random
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from unittest import mock

import agattn
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.engines import elimination
from agattn.engines.catalogue import ENGINES, check_can
from agattn.engines.elimination import check_generators
from agattn.engines.msolve import cksum
from agattn.engines.run import Run, read_answer, run
from agattn.errors import AgattnError
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.limits import limited
from agattn.systems import consistency as native
from agattn.systems.catalogue import build
from agattn.systems.consistency import check_answer
from agattn.systems.ideal_tasks import vanishes_where
from agattn.verification import critical_points
from tests.faults.answers import compared, judged, parts, record, replayed, running, sealed, tasks_of
from tests.faults.table import LIES, Row
from tests.questions import OPEN, QUESTIONS

ALL = tuple(ENGINES)
JUDGED = (SingleLayer(2, 1), SingleLayer(2, 2), SingleLayer(3, 2, 2), DeepNetwork((2, 2, 1), (2, 2), t=2))
#: Layers, and degrees up to which their equations are handed to an engine: too few, or enough.
GENERATED = {SingleLayer(2, 1): (3, 4), SingleLayer(2, 2): (3,), SingleLayer(2, 2, 1): (4,)}
#: Losses on M(2, 1), whose critical points elimination counts; and others, of which less is proved.
LOSSES = (
    *((SingleLayer(2, 1), metric) for metric in ("generic", "bombieri-weyl", "coefficients")),
    (SingleLayer(2, 2), "bombieri-weyl"),
    (SingleLayer(3, 1, 1), "bombieri-weyl"),
)

# Lies -------------------------------------------------------------------------------------------------------

_INTEGER = re.compile(r"^integer \S+ (-?\d+)$")
_TERM = re.compile(r"^term (-?\d+)(?:/\d+)? (?:\d+,)*(\d+)")
_NUMBER = re.compile(r"(?<![\w.^])-?(\d+)|\^(\d+)")
_ANSWER = "agattn-answer "


def numbers(body):
    """Where values stand, by line and span: integers, coefficients and exponents; in lists, all numbers."""
    found = []
    for n, line in enumerate(body):
        if line.startswith(("#", _ANSWER)):
            continue
        if line.startswith(("integer ", "polynomial", "term ")):
            matches = [m for m in (_INTEGER.match(line), _TERM.match(line)) if m]
        else:
            matches = list(_NUMBER.finditer(line))
        found += [(n, *m.span(i)) for m in matches for i in range(1, m.re.groups + 1) if m[i]]
    return found


def resealed(text, change):
    """A transcript with the lines of its block changed, and all checksums made anew."""
    before, body, after = parts(text)
    body = change(body)
    if not any(line.startswith(_ANSWER) for line in body):
        return sealed(before, body, after)
    starts = [n for n, line in enumerate(body) if line.startswith(_ANSWER)]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        data = "".join(f"{line}\n" for line in body[start + 1 : end]).encode()
        body[start] = f"{_ANSWER}{body[start].split(' ')[1]} {cksum(data)} {len(data)}"
    return "\n".join([*before, *body, *after])


def another(chosen, value, others):
    """Another value: a little more or less, twice, with the other sign, 0, 1, as elsewhere, or any."""
    near = [value + 1, value - 1, -value, 2 * value, 0, 1, value + 10, *others, chosen.randrange(100)]
    return chosen.choice([x for x in near if x != value])


def lie(chosen, text):
    """An answer with one value changed, or some, or all that are equal to one, alike."""

    def change(body):
        body, places = list(body), numbers(body)
        if not places:
            return body
        integers = [place for place in places if body[place[0]].startswith("integer ")]

        def value(place):
            n, start, end = place
            return int(body[n][start:end])

        pool = integers if integers and chosen.random() < 0.8 else places
        others = [value(chosen.choice(pool))]
        how = chosen.choice(("one", "one", "some", "alike"))
        if how == "alike":
            old = value(chosen.choice(pool))
            new = another(chosen, old, others)
            told = {place: new for place in pool if value(place) == old}
        else:
            some = chosen.sample(pool, min(len(pool), 1 if how == "one" else chosen.randrange(2, 5)))
            told = {place: another(chosen, value(place), others) for place in some}
        for (n, start, end), new in sorted(told.items(), reverse=True):
            body[n] = body[n][:start] + str(new) + body[n][end:]
        return body

    return resealed(text, change)


#: The results that are generators of an ideal.
_GENERATORS = re.compile(r"^polynomials ((?:generators|component|cone)(?:@\S+)?) (\d+)$")


def repeated(chosen, text):
    """An answer with a dependent generator: another one's multiple, or a sum of two, put in or exchanged.

    The number of generators is told as it then is.
    """

    def change(body):
        starts = [n for n, line in enumerate(body) if (m := _GENERATORS.match(line)) and int(m[2])]
        if not starts:
            return body
        start = chosen.choice(starts)
        _, name, number = body[start].split()
        forms, at = [], start + 1
        for _ in range(int(number)):
            end = at + 1 + int(body[at].split()[1])
            forms.append([line.split()[1:] for line in body[at + 1 : end]])
            at = end
        known = chosen.sample(forms, min(len(forms), chosen.choice((1, 2))))
        if len({sum(map(int, form[0][1].split(","))) for form in known}) > 1:
            known = known[:1]  # forms of two degrees have no sum
        total = Counter()
        for form in known:
            factor = chosen.choice((1, -1, 2))
            for coefficient, exponents in form:
                total[exponents] += factor * Fraction(coefficient)
        new = [[str(c), exponents] for exponents, c in total.items() if c]
        if chosen.random() < 0.2:  # times a variable
            k = chosen.randrange(len(new[0][1].split(",")))
            new = [[c, _times(exponents, k)] for c, exponents in new]
        others = [form for form in forms if form not in known]
        if others and chosen.random() < 0.5:
            forms.remove(chosen.choice(others))
        forms.insert(chosen.randrange(len(forms) + 1), new)
        told = [f"polynomials {name} {len(forms)}"]
        for form in forms:
            told += [f"polynomial {len(form)}", *(f"term {c} {exponents}" for c, exponents in form)]
        counted = [re.sub(r"^(integer number) \d+$", rf"\1 {len(forms)}", line) for line in body]
        return counted[:start] + told + counted[at:]

    return resealed(text, change)


def _times(exponents, k):
    numbers = exponents.split(",")
    numbers[k] = str(int(numbers[k]) + 1)
    return ",".join(numbers)


@contextlib.contextmanager
def remembered():
    """What is known natively of a problem, and of further equations, is computed once."""
    facts, known, missing = {}, native.native_facts, elimination._missing_piece

    def native_facts(problem):
        if problem.digest not in facts:
            facts[problem.digest] = known(problem)
        return facts[problem.digest]

    @cache
    def counted(layer, degree, *last):
        return missing(compute_ideal(layer, degree), *last)

    with (
        mock.patch.object(native, "native_facts", native_facts),
        mock.patch.object(
            elimination, "_missing_piece", lambda ideal, *last: counted(ideal.layer, ideal.max_degree, *last)
        ),
    ):
        yield


# Doors ------------------------------------------------------------------------------------------------------


def differing(answer, truth):
    """The kinds of values in which two answers differ; of polynomials, those with other common zeros."""
    names = [n for n, value in truth.integers.items() if answer.integers.get(n) != value]
    names += set(answer.integers) - set(truth.integers)
    for name in {*truth.polynomials, *answer.polynomials}:
        names += ["term"] * (not _same(answer.polynomials.get(name, ()), truth.polynomials.get(name, ())))
    return {name.partition("@")[0] for name in names}


def _same(one, other):
    if [f.primitive() for f in one if f] == [f.primitive() for f in other if f]:
        return True
    pairs = [(f, other) for f in one] + [(f, one) for f in other]
    return bool(one and other) and all(vanishes_where(ideal, f) for f, ideal in pairs)


def answers(chosen, number, installation, say):
    """Lies to ``agattn run``: an answer is accepted or not."""
    row = Row(f"`agattn run`, `{installation.engine.name}`", LIES)
    return _told(chosen, number, row, lie, _live(installation, say))


def _told(chosen, number, row, lie, live):
    """A row about so many lies of a kind, told about live answers by turns."""
    for n in range(number if live else 0):
        done, may = live[n % len(live)]
        text = lie(chosen, done.transcript)
        case = f"{done.problem.task} of {done.problem.architecture}: {text[:1500]!r}"
        row.add(_accepted(done, text, may), case)
    return row


def _live(installation, say):
    """Live answers to the questions, each with the values that may be other ones."""
    live = []
    for task, architecture, given in QUESTIONS:
        with contextlib.suppress(AgattnError):
            problem = build(task, architecture, **given)
            check_can(installation.engine, problem)
            with limited(timeout=120):
                done = run(problem, installation)
            live.append((done, OPEN.get((task, architecture), "")))
            say(f"recorded {installation.engine.name} {architecture} {task}")
    return live


def dependent(chosen, number, installation, say):
    """Dependent generators told to ``agattn run``, which are never right."""
    row = Row(f"`agattn run`, dependent generators, `{installation.engine.name}`", LIES)
    live = [(done, None) for done, _ in _live(installation, say) if _changed(done, repeated)]
    return _told(chosen, number, row, repeated, live)


def _changed(done, lie):
    """Whether a kind of lie changes an answer, as it does where the answer has what the lie is about."""
    with contextlib.suppress(StopIteration):  # lists of msolve have no blocks
        return lie(random.Random(0), done.transcript) != done.transcript
    return False


def _accepted(done, text, may):
    """What becomes of a text: ``may`` are the values that may be other ones, or None if it is never right."""
    try:
        answer = read_answer(done.installation.engine, text, done.problem)
        check_answer(answer)
    except AgattnError:
        return "detected"
    if may is None:
        return "wrong"
    if not (different := differing(answer, done.answer)):
        return "right"
    return f"believed: {done.evidence}" if all(re.fullmatch(may, name) for name in different) else "wrong"


def verdicts(chosen, number, installation, say):
    """Lies to ``agattn verify``, about one task: the verdicts on the claims that use the task."""
    name = installation.engine.name
    row, recorded = Row(f"`agattn verify`, `{name}`", LIES), record(JUDGED, {name: installation}, say)
    transcripts, outcomes, truths = {key: done.transcript for key, (done, _) in recorded.items()}, {}, {}
    with replayed(transcripts):
        for n in range(number if recorded else 0):
            key = list(recorded)[n % len(recorded)]
            done, task = recorded[key]
            claims = tasks_of(key[1])[task]
            if key not in truths:
                truths[key] = judged(key[1], claims, name)
            text = lie(chosen, done.transcript)
            if (key, text) not in outcomes:
                transcripts[key] = text
                outcomes[key, text] = compared(truths[key], judged(key[1], claims, name))
                transcripts[key] = done.transcript
            row.add(outcomes[key, text], f"{task.name} of {key[1]}: {text[:1500]!r}")
    return row


class Replay:
    """In the place of ``run``: the live answer to a problem, or what a liar makes of it."""

    def __init__(self):
        self.live, self.change, self.told = {}, None, 0

    def __call__(self, problem, installation, *arguments, **more):
        key = problem.digest, tuple(result.name for result in problem.results)
        if key not in self.live:
            with limited(timeout=120):
                self.live[key] = run(problem, installation, **more)
        done = self.live[key]
        text = self.change(done.transcript) if self.change else done.transcript
        self.told += text != done.transcript
        answer = read_answer(installation.engine, text, problem)
        check_answer(answer)
        return Run(problem, installation, "", text, answer, 0.0)


def generators(chosen, number, installation, say):
    """Lies to ``agattn ideal --complete``, about some of its questions: whether equations are all."""
    name = installation.engine.name
    row, replay = Row(f"`agattn ideal --complete`, `{name}`", LIES), Replay()
    if "complete-ideal" not in installation.engine.tasks:
        return row
    with mock.patch.object(elimination, "run", replay):
        ideals = [compute_ideal(layer, degree) for layer, last in GENERATED.items() for degree in last]
        truths = [check_generators(ideal, installation) for ideal in ideals]
        for n in range(number):
            ideal, truth = ideals[n % len(ideals)], truths[n % len(ideals)]
            replay.change = lambda text: lie(chosen, text) if chosen.random() < 0.6 else text
            row.add(_complete(ideal, truth, installation), f"{ideal.layer} to degree {ideal.max_degree}")
    return row


def _complete(ideal, truth, installation):
    try:
        found = check_generators(ideal, installation)
    except AgattnError:
        return "detected"
    if found == truth:
        return "right"
    if found.whole is None:
        return "detected"
    return f"believed: {found.evidence}" if found.whole is truth.whole else "wrong"


def counts(chosen, number, installation, say):
    """Lies to ``agattn critical-points``, told alike over all primes: numbers of critical points.

    Where elimination does not know a number, it is proved to be finite, and on (2, 2) to be even.
    """
    name = installation.engine.name
    row, replay = Row(f"`agattn critical-points`, `{name}`", LIES), Replay()

    def count(layer, metric):
        return agattn.critical_points(layer, metric, engine=name, smooth=True)

    with mock.patch.object(critical_points, "run", replay):
        truths = {asked: count(*asked) for asked in LOSSES}
        for n in range(number):
            asked, seed = LOSSES[n % len(LOSSES)], chosen.randrange(2**32)
            replay.change = lambda text, seed=seed: lie(random.Random(seed), text)
            try:
                found = count(*asked)
            except AgattnError:
                row.add("detected")
                continue
            if found == truths[asked]:
                row.add("right")
            elif (
                asked[0] != SingleLayer(2, 1)
                and found.dimension < 1
                and (asked[0].a == 1 or found.regular % 2 == 0)
            ):
                row.add(f"believed: {found.evidence}")
            else:
                row.add("wrong", f"{asked}: {found}, not {truths[asked]}")
            replay.change = None
    return row


#: The doors, and which share of the lies is told at each.
DOORS = {answers: 0.55, dependent: 0.05, verdicts: 0.25, generators: 0.1, counts: 0.05}


def tried(number, seed=0, engines=ALL, doors=tuple(DOORS), say=lambda line: None):
    """Rows about so many lies, for each engine that runs here."""
    chosen, installations = random.Random(seed), running(engines, say)
    rows = []
    with remembered():
        for door in doors:
            for installation in installations.values():
                share = int(number * DOORS[door] / len(installations))
                rows.append(door(chosen, share, installation, say))
                say(f"lied to {rows[-1].subject}")
    return [row for row in rows if row.counts]
