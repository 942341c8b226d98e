"""The slice through a head of rank one: what it states, by other means."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import call
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.echelon import fraction, rational_matrix
from agattn.algebra.polynomial import PolynomialRing
from agattn.geometry.identifiability.network_fibers import network_fiber
from agattn.geometry.identifiability.virtual_weights import lightning

with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(Path(__file__).parents[2] / "docs" / "_extensions")
    from head_slice import DRAWN, _solve, head_slice, relation, weights_in_slice

INPUTS = np.random.default_rng(0).integers(-3, 4, (8, 2, 2)).tolist()


def matrix(rows: Any) -> Any:
    return np.array([[Fraction(x) for x in row] for row in rows], dtype=object)


def network(x: Any, c: Any, M_2: Any = None) -> list[Any]:
    """The values of the network at the inputs, by its recursion."""
    A = [matrix([[1, 0], [0, x]]), matrix([[1, c], [-c, 0]] if M_2 is None else M_2)]
    V = [matrix([[1, 0], [0, 1]]), matrix([[1, 0]])]
    return [e for X in INPUTS for e in lightning(A, V, matrix(X)).ravel()]


def point(x: Any, y: Any) -> list[Any]:
    """The values at a point of the surface: ‖r‖²r + y·det(X)³·rJ."""
    values = []
    for X in map(matrix, INPUTS):
        one, two = X
        r = (one @ one) * one + x * (one @ two) * two
        turned = np.array([-r[1], r[0]])
        values += list((r @ r) * r + y * (one[0] * two[1] - one[1] * two[0]) ** 3 * turned)
    return values


the_slice = cache(head_slice)  # found by the first test that needs it
numbers = st.fractions(-3, 3, max_denominator=5)


@settings(max_examples=10, deadline=None)
@given(x=numbers, c=numbers)
def test_weights_are_on_the_surface(x: Fraction, c: Fraction) -> None:
    """The coordinates of a network's function in A, found from its values, satisfy the equation."""
    values = network(x, c)
    assert values == point(x, x * c)
    # The values of the surface at nodes give those of the functions that span A, whatever they are.
    nodes = [(i, j) for i, j in itertools.product(range(4), range(2)) if i + 2 * j < 4]
    powers = [(0, 0), *the_slice().span]
    vandermonde = rational_matrix([[i**a * j**b for a, b in powers] for i, j in nodes], len(powers))
    spanning = vandermonde.inv() * rational_matrix([point(*node) for node in nodes], len(values))
    system = spanning.transpose()
    assert system.rank() == len(powers)
    square = spanning * system
    right = spanning * rational_matrix([[v] for v in values], 1)
    solution = square.inv() * right
    assert system * solution == rational_matrix([[v] for v in values], 1)
    solved = [fraction(v) for v in solution.entries()]
    at = dict(zip(powers, solved, strict=True))
    assert at[0, 0] == 1 and the_slice().equation(*(at[s] for s in DRAWN)) == 0


def test_what_the_slice_states() -> None:
    found = the_slice()
    assert (str(found.equation), found.evidence.value, found.dimension) == ("x*y - z", "proved", 5)
    assert found.weights["M_1"] == [["1", "0"], ["0", "e"]]


def test_limits_and_the_head_of_rank_one() -> None:
    """f(x, y/x) tends to the point (0, y); at x = 0 all skew parts give the point 0, as the fiber says."""
    assert network(0, 0) == network(0, 7) == point(0, 0) != point(0, 1)
    y, errors = Fraction(1, 3), []
    for n in (6, 7):
        x = Fraction(1, 10**n)
        errors.append(max(abs(a - b) for a, b in zip(network(x, y / x), point(0, y), strict=True)))
    assert 9 < errors[0] / errors[1] < 11
    weights = {"A_1": [[1, 0], [0, 0]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 0], [0, 0]], "V_2": [[1, 0]]}
    fiber = network_fiber(the_slice().network, weights)
    moved = fiber.move(along=[-5])
    assert (moved["K_2"][0].T @ moved["Q_2"][0]).tolist() == [[1, 5], [-5, 0]]


def test_the_engine_finds_no_other_weights(singular: Any, tmp_path: Path, capfd: Any) -> None:
    _, equations = weights_in_slice()
    powers = "; ".join(f"reduce(({f})^9, G)" for f in ("l", "m", "n", "p+q", "r"))
    script = tmp_path / "slice.sing"
    ideal = f"ideal G = std(ideal({','.join(map(str, equations))}))"
    script.write_text(f"ring R = 0,(l,m,n,e,p,q,r),dp; {ideal}; dim(G); {powers}; quit;")
    assert call("run", script).status == 0
    assert capfd.readouterr().out.split() == ["2", "0", "0", "0", "0", "0"]


def test_equations_with_other_solutions_are_not_solved() -> None:
    x, y, z = PolynomialRing("xyz").gens
    assert _solve(x.ring, [(x + y) ** 3, y**2 - z]) == [-y, y, y**2]
    with pytest.raises(AssertionError, match="no unknown can be read off"):
        _solve(x.ring, [x - y, x * y - x * z])
    with pytest.raises(AssertionError, match="several relations"):
        relation([x, x, x], "uvw")
