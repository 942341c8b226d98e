"""msolve: what it prints about small systems is read exactly, and checked; damaged output is refused."""

import itertools
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.echelon import rational
from agattn.algebra.graded_ideals import hilbert_series
from agattn.algebra.polynomial import PolynomialRing
from agattn.architectures import SingleLayer
from agattn.engines.catalogue import MSOLVE
from agattn.engines.locate import locate
from agattn.engines.msolve import groebner_basis, read, read_basis, read_solutions, solve, write_system
from agattn.engines.run import run
from agattn.errors import (
    EngineCrashedError,
    EngineMemoryError,
    EngineTimeoutError,
    InputError,
    TranscriptError,
)
from agattn.evidence import Evidence
from agattn.geometry.critical_points.loss import loss
from agattn.limits import limited
from agattn.systems.catalogue import build

R = PolynomialRing(["x", "y", "z"])
x, y, z = R.gens
THIRD = Fraction(1, 3)


def holds(balls, point):
    """Whether balls contain the coordinates of a point, in ℚ."""
    with flint.ctx.workprec(500):
        return all(ball.contains(rational(value)) for ball, value in zip(balls, point, strict=True))


@pytest.mark.parametrize(
    ("system", "degree", "points", "real"),
    [
        # Known by hand; with multiplicities, other orders of the variables, a variable added, rationals.
        ([x - 1, y - 2, z - x * y], 1, 1, [(1, 2, 2)]),
        ([x**2, y**2, z - 5], 4, 1, [(0, 0, 5)]),
        ([x**2 - 1, y**2 - 4, 3 * z + 1], 4, 4, [(a, b, -THIRD) for a in (-1, 1) for b in (-2, 2)]),
        ([x**2 - 4, y - 3, z], 2, 2, [(-2, 3, 0), (2, 3, 0)]),
        ([x**2 + 1, y**2 + 1, z], 4, 4, []),
        ([(x - 1) ** 2 * (x - 2), y - x, z - x**2], 3, 2, [(1, 1, 1), (2, 2, 4)]),
        ([10**30 * x - 1, y - 10**40, z], 1, 1, [(Fraction(1, 10**30), 10**40, 0)]),
    ],
)  # fmt: skip
def test_solutions_known_by_hand(msolve_installation, system, degree, points, real):
    solutions = solve(system, msolve_installation)
    parametrization = solutions.parametrization
    assert (solutions.dimension, solutions.degree, parametrization.points) == (0, degree, points)
    assert parametrization.satisfies(system)
    found = parametrization.real_points(128)
    assert len(found) == len(real)
    assert all(any(holds(balls, point) for balls in found) for point in real)
    assert solutions.evidence is Evidence.MODULAR


def test_real_points_are_as_sharp_as_asked_and_apart(msolve_installation):
    system = [x**2 - 2, (y - x) * (y - x - Fraction(1, 2**70)), z - y**2]
    parametrization = solve(system, msolve_installation).parametrization
    for precision in (8, 300):
        points = parametrization.real_points(precision)
        assert len(points) == 4
        with flint.ctx.workprec(500):
            for point in points:
                assert (point[0] ** 2).contains(2)
                assert all(ball.rad() * 2**precision <= max(1, abs(ball.mid())) for ball in point)
        for one, other in itertools.combinations(points, 2):
            assert not all(a.overlaps(b) for a, b in zip(one, other, strict=True))


def test_no_solutions_and_infinitely_many(msolve_installation):
    none = solve([x, x + 1], msolve_installation)
    assert (none.dimension, none.degree, none.parametrization) == (-1, 0, None)
    # A plane, with multiplicity 2, and a line.
    many = solve([x**2 * y, x**2 * z], msolve_installation)
    assert (many.dimension, many.degree, many.parametrization) == (2, 2, None)
    everything = solve([R.zero()], msolve_installation)
    assert (everything.dimension, everything.degree) == (3, 1)


@given(st.data())
def test_the_groebner_basis_of_points_has_their_ideal(msolve_installation, data):
    """Of the ideal of k points modulo p: degree k, the products of linear forms reduce to 0."""
    p = 32003
    ring = PolynomialRing(["x", "y"], p)
    u, v = ring.gens
    xs = data.draw(st.lists(st.integers(0, p - 1), min_size=1, max_size=3, unique=True))
    ys = data.draw(st.lists(st.integers(0, p - 1), min_size=1, max_size=3, unique=True))
    f, g = ring.one(), ring.one()
    for a in xs:
        f *= u - a
    for b in ys:
        g *= v - b
    basis = groebner_basis([f + g * (u + 3 * v), g], msolve_installation)
    assert (basis.dimension, basis.degree) == (0, len(xs) * len(ys))
    assert all(h(a, b) == 0 for h in basis.polynomials for a in xs for b in ys)


def test_a_basis_over_the_rationals(msolve_installation):
    twisted = [x - z**2 / 2, y - z**3]
    basis = groebner_basis(twisted, msolve_installation)
    assert (basis.dimension, basis.degree, basis.ring) == (1, 3, R)
    assert groebner_basis([x, x + 1], msolve_installation).dimension == -1
    nothing = groebner_basis([R.zero()], msolve_installation)
    assert (nothing.polynomials, nothing.dimension, nothing.degree) == ((), 3, 1)


def test_coefficients_that_msolve_would_read_wrong_are_written_as_residues(msolve_installation):
    """Modulo p msolve takes 3/2 for 3, and cuts long numbers off."""
    modular = PolynomialRing(["x", "y", "z"], 101).gens[0]
    basis = groebner_basis([Fraction(3, 2) * modular - 10**30], msolve_installation)
    [f] = basis.polynomials
    assert f(10**30 * 2 * pow(3, -1, 101) % 101, 0, 0) == 0
    assert write_system([Fraction(3, 2) * x - 10**30]).splitlines() == ["x,y,z", "0", f"3/2*x-{10**30}"]


def test_what_cannot_be_asked(msolve_installation):
    msolve = msolve_installation
    modular = PolynomialRing(["x"], 7).gens
    for ask, reason in [
        (lambda: solve([], msolve), "no polynomials"),
        (lambda: solve(modular, msolve), "over QQ"),
        (lambda: solve([x, *PolynomialRing(["x"]).gens], msolve), "different rings"),
        (lambda: groebner_basis(PolynomialRing(["x"], 2**31 + 11).gens, msolve), "primes up to 2147483647"),
        (lambda: groebner_basis([PolynomialRing([]).one()], msolve), "no variables"),
        (lambda: solve(PolynomialRing(["A"]).gens, msolve), "msolve calls a variable that it adds A"),
    ]:
        with pytest.raises(InputError, match=reason):
            ask()


def test_limits_and_crashes(msolve_installation, fakes, monkeypatch):
    variables = PolynomialRing([f"x_{i}" for i in range(9)]).gens
    squares = [u**2 for u in variables]
    hard = [
        sum(pow(k + 2, i + 3, 97) * f for k, f in enumerate(squares)) + u - i for i, u in enumerate(variables)
    ]
    monkeypatch.setenv("PATH", f"{fakes.folder}:/usr/bin:/bin")  # scripts for the shell need its tools
    with pytest.raises(EngineTimeoutError, match="time limit"), limited(timeout=0.3):
        solve(hard, msolve_installation)
    fakes.write("msolve", "echo no >&2; exit 7")
    with pytest.raises(EngineCrashedError, match="exit status 7: no"):
        solve([x], locate(MSOLVE))
    fakes.write("msolve", "kill -SEGV $$")  # as it ends when it gets no memory
    with (
        pytest.raises(EngineMemoryError, match="with 500 MiB allowed; raise memory"),
        limited(timeout=10, memory=500),
    ):
        solve([x], locate(MSOLVE))


PRINTED = """[0, [0,
2,
4,
['x1', 'x2'],
[0, 1],
[1,
[[4, [1, 0, -3, 0, 1]],
[3, [0, -6, 0, 4]],
[
[[3, [6, 0, -4, 0]],
1]
]]]]]:
"""


def test_what_is_no_list_of_msolve_is_refused_whatever_it_is():
    """Numbers longer than Python prints, denominators 0, letters for numbers, depths without end."""
    two, long = PolynomialRing(["x1", "x2"]), "9" * 5000
    for old, new in [
        ("[0, 1]", f"[{long}, 1]"), ("1]\n]]]]", "0]\n]]]]"), ("['x1', 'x2']", "['x1', 3]"),
        ("[4, [", "[[], ["),
        ("[3, [0, -6", "[3, ['a', -6"), ("[4, [1,", "[4, [1.5,"), ("[1,", "[" * 10**5),
    ]:  # fmt: skip
        assert old in PRINTED
        with pytest.raises(TranscriptError):
            read_solutions(PRINTED.replace(old, new, 1), two)
    header = "#Reduced Groebner basis data\n#---\n#field characteristic: {0}\n#variable order: x1, x2\n"
    header += "#monomial order: a\n#length of basis: {0} elements\n#---\n[x1^{0}]:"
    with pytest.raises(TranscriptError):
        read_basis(header.format(long), two)


def test_damaged_solutions_are_refused(fakes):
    """Every change of one letter, and every end cut off, is refused, or says the same."""
    two = PolynomialRing(["x1", "x2"])
    u, v = two.gens
    system = [u**2 + v**2 - 3, u * v - 1]
    fakes.write_python("msolve", "print(open(sys.argv[0] + '.out').read())")
    whole = None
    refused = 0
    texts = [PRINTED, *(PRINTED[:n] for n in range(0, len(PRINTED) - 3, 7))]
    texts += [
        PRINTED[:n] + other + PRINTED[n + 1 :] for n in range(0, len(PRINTED) - 1, 3) for other in "9[,"
    ]
    for text in texts:
        try:
            dimension, degree, parametrization = read_solutions(text, two)
            if not parametrization.satisfies(system, 2**61 - 1):
                raise TranscriptError("no solutions")
        except TranscriptError:
            refused += 1
            continue
        answer = (dimension, degree, parametrization)
        whole = whole or answer
        assert answer[2].w == whole[2].w and answer[2].numerators == whole[2].numerators
    assert refused > len(texts) / 3


@pytest.fixture(scope="module")
def several_answers(msolve_installation):
    problem = build(
        "critical-points", SingleLayer(2, 1), 32003, loss=loss(SingleLayer(2, 1), "bombieri-weyl")
    )
    return run(problem, msolve_installation)


def test_damaged_answers_of_scripts_are_refused(several_answers):
    """Within the block every letter counts: changed, left out, doubled or cut off there, all is refused."""
    problem, text = several_answers.problem, several_answers.transcript
    assert read(text, problem).integers == several_answers.answer.integers
    start, end = text.index("agattn-data"), text.rindex("\n")
    damaged = [text[:n] for n in range(0, end - 12, 29)]  # the names in the last line are checked, too
    for n in range(start, end, 5):
        for other in ("", "7", "\n", text[n] * 2):
            if other != text[n]:
                damaged.append(text[:n] + other + text[n + 1 :])
    lines = text[start:].splitlines(keepends=True)
    for n, line in enumerate(lines):
        damaged += [
            text[:start] + "".join(lines[:n] + lines[n + 1 :]),
            text[:start] + "".join([*lines[:n], line, *lines[n:]]),
        ]
    for one in damaged:
        with pytest.raises(TranscriptError):
            read(one, problem)


def test_answers_that_are_whole_and_wrong_are_refused(fakes, monkeypatch):
    """Bases of another system, or no bases, and one of too small an image."""
    problem = build("hilbert-function", SingleLayer(1, 1), max_degree=1)
    monkeypatch.setenv("PATH", f"{fakes.folder}:/usr/bin:/bin")
    header = "#Reduced Groebner basis data\n#---\n#field characteristic: {}\n#variable order: {}\n"
    header += "#monomial order: graded reverse lexicographical\n#length of basis: {}\n#---\n{}:"
    names = "a_1_1, v_1_1, y_1_1_1_1"
    for said, reason in [
        (header.format(0, names, "1 element", "[a_1_1-y_1_1_1_1]"), None),
        (header.format(7, names, "1 element", "[1]"), "a basis of another ring"),
        (header.format(0, "x, y", "1 element", "[1]"), "a basis of another ring"),
        (header.format(0, names, "2 elements", "[1]"), "1 elements of a basis of 2"),
        (header.format(0, names, "1 element", "[b]"), "no power of a variable"),
        (header.format(0, names, "1 element", "[a_1_1 2]"), "stands where a term was due"),
        (header.format(0, names, "1 element", "[a_1_1+a_1_1]"), "twice, or zero"),
        (header.format(0, names, "1 element", "[y_1_1_1_1]"), "the value in degree 1 is 0"),
        ("[-1]:", "no whole basis"),
        ("", "no whole basis"),
    ]:
        fakes.write_python("msolve", f"print({said!r})")
        if reason is None:
            assert run(problem, locate(MSOLVE)).answer.integers == {"values": 1, "value@1": 1}
            continue
        with pytest.raises(TranscriptError, match=reason):
            run(problem, locate(MSOLVE))


def test_hilbert_series_against_counting():
    squares = [(3, 0, 0), (0, 2, 0), (0, 0, 2), (1, 1, 1)]
    for ideal in ([(2, 0, 0), (1, 1, 0), (0, 3, 1)], [(1, 1, 1)], squares, []):
        series = hilbert_series(ideal, 3)
        for n, value in enumerate(series.values(6)):
            monomials = [(i, j, n - i - j) for i in range(n + 1) for j in range(n - i + 1)]
            assert value == sum(
                not any(all(a <= b for a, b in zip(g, m, strict=True)) for g in ideal) for m in monomials
            )
