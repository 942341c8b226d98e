"""Programs of functions, in lists and in arrays: values over all scalars and derivatives, against sympy."""

import importlib.util
import subprocess
import sys
from fractions import Fraction
from itertools import chain
from math import prod

import flint
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.arithmetic import (
    BallArithmetic,
    FloatArithmetic,
    ModularArithmetic,
    RingArithmetic,
    to_balls,
)
from agattn.algebra.programs import StraightLine
from agattn.algebra.tracing import Pushed, Pushing, Tracing
from agattn.architectures import draw_parameters
from agattn.geometry.dimension.jacobian import jacobian

P = 1073741789
M = 3

# One step: an operation, and the vectors that it takes, counted backwards; a number for those that need one.
steps = st.lists(
    st.tuples(
        st.sampled_from(["+", "-", "*", "neg", "scale", "shift", "power", "dot", "turn"]),
        st.integers(1, 4), st.integers(1, 4), st.sampled_from([2, -1, 0, 1, Fraction(-3, 2), Fraction(1, 3)]),
    ),
    min_size=1, max_size=4,
)  # fmt: skip


def by_arrays(program, a, b):
    """The steps on vectors, each of degree at most 2, then u bᵀ + bᵀ + a₀."""
    vectors = [a, b, a * b, a - b]
    for step, i, j, number in program:
        u, v = vectors[-i], vectors[-j]
        if step == "neg":
            new = -u
        elif step == "scale":
            new = number * u
        elif step == "shift":
            new = u + number - v
        elif step == "power":
            new = u + (v[0] - b) ** 2
        elif step == "dot":
            new = (u @ b) * a + (a[:, None] * b).T @ np.array([1, 0, -2])
        elif step == "turn":
            new = u[::-1] + v[1] - a[None][0]
        else:
            new = u + v if step == "+" else u - v if step == "-" else u * (a - b)
        vectors.append(new)
    return vectors[-1][:, None] * b + b + a[0]


def by_lists(program, a, b):
    """The same on numbers."""
    n = range(M)
    vectors = [list(a), list(b), [a[k] * b[k] for k in n], [a[k] - b[k] for k in n]]
    for step, i, j, number in program:
        u, v = vectors[-i], vectors[-j]
        if step == "neg":
            new = [-x for x in u]
        elif step == "scale":
            new = [x * number for x in u]
        elif step == "shift":
            new = [number + x - y for x, y in zip(u, v, strict=True)]
        elif step == "power":
            new = [x + (v[0] - y) * (v[0] - y) for x, y in zip(u, b, strict=True)]
        elif step == "dot":
            dot = sum(u[k] * b[k] for k in n)
            new = [dot * a[k] + (a[0] - a[2] * 2) * b[k] for k in n]
        elif step == "turn":
            new = [u[-1 - k] + v[1] - a[k] for k in n]
        elif step == "*":
            new = [u[k] * (a[k] - b[k]) for k in n]
        else:
            new = [x + y if step == "+" else x - y for x, y in zip(u, v, strict=True)]
        vectors.append(new)
    return [[x * y + b[k] + a[0] for k, y in enumerate(b)] for x in vectors[-1]]


def residue(x):
    return x.numerator * pow(x.denominator, -1, P) % P


@settings(max_examples=20, deadline=None)
@given(steps, st.integers(0, 2**31))
def test_lists_are_arrays_are_expansions(program, seed):
    shapes = {"a": M, "b": M}
    maps = [
        ag.PolynomialMap(lambda a, b, form=form: form(program, a, b), shapes)
        for form in (by_arrays, by_lists)
    ]
    a, b = sympy.symbols("a:3"), sympy.symbols("b:3")
    known = [sympy.Poly(x, *a, *b) for row in by_lists(program, a, b) for x in row]
    generator = np.random.default_rng(seed)
    numbers = [Fraction(int(x), 7) for x in generator.integers(-9, 10, 2 * M)]
    at = [sympy.Rational(x.numerator, x.denominator) for x in numbers]
    values = [Fraction(*f(*at).as_numer_denom()) for f in known]
    derivatives = [[Fraction(*f.diff(x)(*at).as_numer_denom()) for x in (*a, *b)] for f in known]
    exact = np.array(numbers, dtype=object)
    residues = np.array([float(residue(x)) for x in numbers])
    X = np.zeros((1, 1, 1))
    for one in maps:
        assert one.degree >= max(f.total_degree() for f in known)
        rational = {"a": exact[:M], "b": exact[M:]}
        assert one.evaluate(RingArithmetic(), rational, X).ravel().tolist() == values
        modular, weights = ModularArithmetic(P), {"a": residues[:M], "b": residues[M:]}
        assert one.evaluate(modular, weights, X).ravel().tolist() == [residue(x) for x in values]
        with flint.ctx.workprec(100):
            balls = np.array([flint.arb(flint.fmpq(x.numerator, x.denominator)) for x in numbers])
            found = one.evaluate(BallArithmetic(), {"a": balls[:M], "b": balls[M:]}, X).ravel()
            for ball, x in zip(found, values, strict=True):
                assert (ball * x.denominator).contains(x.numerator)
            J = jacobian(one, {"a": balls[:M], "b": balls[M:]}, X, BallArithmetic())
            for ball, x in zip(J.ravel(), chain.from_iterable(derivatives), strict=True):
                assert (ball * x.denominator).contains(x.numerator)
        for cotangents in (None, np.eye(9)[:4].reshape(1, 4, 3, 3)):  # forwards, as 9 > 6, and backwards
            rows = slice(None) if cotangents is None else slice(4)
            J = jacobian(one, weights, X, modular, cotangents)
            assert (J % P).tolist() == [[residue(x) for x in row] for row in derivatives[rows]]
            c = None if cotangents is None else cotangents.astype(int).astype(object)
            assert jacobian(one, rational, X, RingArithmetic(), c).tolist() == derivatives[rows]


@pytest.mark.parametrize(
    "network",
    [
        ag.Network([ag.Attention(2, 2, 2, 1, "causal", rotary=True, skip=True), ag.Perceptron([2], 3)], 2, 3),
        ag.DeepNetwork((2, 2, 2), (1, 2), 2, normalization="softmax", temperature=0.5, heads=2),
        ag.Network([ag.Convolution(2, 2), ag.Sum(), ag.Linear(2, bias=True)], 2, 3),
    ],
    ids=str,
)  # fmt: skip
def test_forwards_is_backwards(network):
    """For any architecture, one input after the other: all rows, and more combinations than parameters."""
    generator = np.random.default_rng(1)
    weights = draw_parameters(network, generator.standard_normal)
    X = generator.standard_normal((2, *network.input_shape))
    outputs = prod(network.output_shape)
    units = np.broadcast_to(np.eye(outputs).reshape(1, outputs, *network.output_shape),
                            (2, outputs, *network.output_shape))  # fmt: skip
    J = jacobian(network, weights, X, FloatArithmetic(), units).reshape(2, outputs, -1)
    many = generator.standard_normal((2, network.parameters + 1, *network.output_shape))
    combined = jacobian(network, weights, X, FloatArithmetic(), many).reshape(2, network.parameters + 1, -1)
    assert np.allclose(combined, np.einsum("nmo,nok->nmk", many.reshape(2, -1, outputs), J))


def test_tangents_of_sums_with_constants_and_differences():
    """Where a constant is larger than what it is added to, tangents are repeated along with the value."""
    pushing = Pushing(FloatArithmetic())
    x = Pushed(np.array([[2.0, 3.0]]), np.eye(2)[:, None], pushing)
    total = 1.0 - (x[:, None] + np.zeros((1, 3, 2)))
    assert total.value.tolist() == [[[-1.0, -2.0]] * 3]
    assert total.tangents.shape == (2, 1, 3, 2) and (total.tangents[0] == [-1.0, 0.0]).all()


def outer_list(a, b):
    return [a[i] * b[j] for i in range(20) for j in range(50)]


def test_a_list_is_one_operation():
    """A thousand products in a list take no more operations than their array."""
    shapes = {"a": 20, "b": 50}
    listed = ag.PolynomialMap(outer_list, shapes)
    array = ag.PolynomialMap(lambda a, b: a[:, None] * b, shapes)
    assert listed.program.operations <= array.program.operations + 1 <= 3
    assert listed.program.numbers < 5 * array.program.numbers
    generator = np.random.default_rng(0)
    weights = draw_parameters(listed, lambda shape: generator.integers(0, P, shape).astype(float))
    X, modular = np.zeros((1, 1, 1)), ModularArithmetic(P)
    one, other = (f.evaluate(modular, weights, X).ravel().tolist() for f in (listed, array))
    assert one == other


def test_what_is_computed_twice_is_one_operation():
    def twice(x):
        return [(x[0] + x[1]) ** 3, -((x[1] + x[0]) * (x[0] + x[1])), x[0] * x[1] - x[1] * x[0] + x[0]]

    known = ag.PolynomialMap(twice, {"x": 2})
    assert known.program.operations == 6  # x₀x₁ and x₀ + x₁, its square, cube and −square, x₀x₁ − x₀x₁ + x₀
    found = known.evaluate(RingArithmetic(), {"x": np.array([2, 3], dtype=object)}, np.zeros((1, 1, 1)))
    assert found.ravel().tolist() == [125, -25, 2]


def test_long_sums_are_one_operation():
    """A sum of 3,000 squares is no chain of 3,000 sums, and its gradient takes one way back."""

    def squares(x):
        return sum(x[i] * x[i] for i in range(3000))

    one = ag.PolynomialMap(squares, {"x": 3000})
    assert one.program.operations == 2
    x = np.arange(3000.0)
    assert (jacobian(one, {"x": x}, np.zeros((1, 1, 1)), ModularArithmetic(P)) == 2 * x).all()


def test_constant_outputs_have_derivatives_0():
    one = ag.PolynomialMap(lambda x: [x[0] * 0, 3 + 0 * x[1], x[0] - x[0]], {"x": 2})
    X, modular = np.zeros((1, 1, 1)), ModularArithmetic(P)
    x = {"x": np.array([2.0, 5.0])}
    assert one.evaluate(modular, x, X).ravel().tolist() == [0, 3, 0]
    for cotangents in (None, np.eye(3)[:1].reshape(1, 1, 3, 1)):
        assert not jacobian(one, x, X, modular, cotangents).any()


def test_deep_functions_need_no_recursion():
    def horner(x):
        value = x[0]
        for _ in range(3000):
            value = value * x[1] + 1
        return [value, x[1]]

    one = ag.PolynomialMap(horner, {"x": 2})
    modular = ModularArithmetic(P)
    value = 5
    for _ in range(3000):
        value = (value * 3 + 1) % P
    found = one.evaluate(modular, {"x": np.array([5.0, 3.0])}, np.zeros((1, 1, 1)))
    assert found.ravel().tolist() == [value, 3]


ON_JAX = """
import jax, numpy as np
import agattn as ag
from agattn.algebra.arithmetic import FloatArithmetic

one = ag.PolynomialMap(lambda a, X: [a[0] * X[1] + 2, X[0] * X[0] - a[1]], {"a": 2}, 2)

def values(a, X):
    return one.evaluate(FloatArithmetic(), {"a": a}, X[None, :, None]).ravel()

J = jax.jit(jax.jacrev(values))(np.array([2.0, 3.0]), np.array([5.0, 7.0]))
print(np.asarray(J).tolist())
"""


def test_programs_run_on_jax():
    """In a process of its own: JAX starts threads, beside which no other test may fork."""
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    done = subprocess.run([sys.executable, "-c", ON_JAX], capture_output=True, text=True, check=False)
    assert done.stdout.replace("-0.0", "0.0") == "[[7.0, 0.0], [0.0, -1.0]]\n", done.stderr


def test_programs_keep_arrays_of_many_entries_whole():
    """Products of matrices stay products of matrices; their rows may be taken one by one."""

    def rows(A, B, X):
        C = A @ B @ X
        return [C[i] - C[i - 1] * C[i] for i in range(12)]

    one = ag.PolynomialMap(rows, {"A": (12, 12), "B": (12, 12)}, (12, 10))
    generator = np.random.default_rng(0)
    weights = draw_parameters(one, lambda shape: generator.integers(-9, 9, shape).astype(float))
    X = generator.integers(-9, 9, (2, 12, 10)).astype(float)
    C = weights["A"] @ weights["B"] @ X
    expected = C - np.roll(C, 1, axis=1) * C
    assert (one.evaluate(FloatArithmetic(), weights, X) == expected).all()
    assert isinstance(one.program, StraightLine) and one.program.operations < 10
    tracing = Tracing(FloatArithmetic())
    copies = {name: tracing.record(np.broadcast_to(a, (2, *a.shape))) for name, a in weights.items()}
    assert (one.evaluate(tracing, copies, X).value == expected).all()
    assert to_balls(X).shape == X.shape
