"""Maps given as Python functions: the same values and dimensions as what they spell out, and clear errors."""

import tracemalloc
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import agattn as ag
from agattn.algebra.arithmetic import FloatArithmetic, ModularArithmetic, RingArithmetic
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.architectures.polynomial_map import numbers_held
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import capacity_bound
from agattn.geometry.dimension.jacobian import jacobian_rows
from agattn.geometry.dimension.lie_algebra import leaves_unchanged

P = 1073741789


def attention(K, Q, V, X):
    return V @ X @ X.T @ K.T @ Q @ X


HALF = Fraction(1, 2)


def everything(A, b, X):
    """Every operation that is allowed, on exact numbers."""
    total = (
        -(A @ X) + 2 * (X[:1] - HALF) * b[:, None] ** 2 + np.eye(3, 2, dtype=int) @ X[:2] - 1 / Fraction(3)
    )
    rows = [row.sum() for row in total]
    return [
        [rows[0] + b @ b, A[0, 1] ** 0],
        [np.sum(A, axis=0) @ X[:, -1], (np.array([1, 2, 0]) @ A).transpose()[0] / Fraction(4)],
    ]


def test_values_are_those_of_numpy():
    network = ag.PolynomialMap(everything, {"A": (3, 2), "b": 3}, (2, 2))
    generator = np.random.default_rng(0)
    weights = {
        name: generator.integers(-5, 6, shape).astype(object) for name, shape in network.shapes.items()
    }
    X = generator.integers(-5, 6, (4, 2, 2)).astype(object)
    X = np.frompyfunc(Fraction, 1, 1)(X)
    known = np.array([everything(weights["A"], weights["b"], x) for x in X], dtype=object)
    assert (network.evaluate(RingArithmetic(), weights, X) == known).all()
    modular = ModularArithmetic(P)
    residues = {name: modular.constant(array) for name, array in weights.items()}
    assert (network.evaluate(modular, residues, modular.constant(X)) == modular.constant(known)).all()
    copies = {name: np.repeat(array[None], 4, axis=0) for name, array in residues.items()}
    assert (network.evaluate(modular, copies, modular.constant(X)) == modular.constant(known)).all()
    floats = {name: array.astype(float) for name, array in weights.items()}
    assert np.allclose(network.evaluate(FloatArithmetic(), floats, X.astype(float)), known.astype(float))
    ring = PolynomialRing([Variable("x", (i,)) for i in (1, 2, 3, 4)])
    symbols = np.array(ring.gens, dtype=object).reshape(1, 2, 2)
    half = ag.PolynomialMap(lambda b, X: 0.5 * b @ X, {"b": 2}, (2, 2))  # 0.5 is exact, and so is the result
    found = half.evaluate(RingArithmetic(), {"b": np.array([1, 4])}, X)
    assert found[0, 0, 0] == (X[0, 0, 0] + 4 * X[0, 1, 0]) / 2
    out = network.evaluate(RingArithmetic(), weights, symbols)[0, 1, 0]
    assert len(out.terms) == 2  # (1ᵀA) X's last column


def minors(M):
    return [M[0, i] * M[1, j] - M[0, j] * M[1, i] for i, j in combinations(range(4), 2)]


@pytest.mark.parametrize(
    ("function", "shapes", "inputs", "value", "degree"),
    [
        (lambda s: [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3], {"s": 2}, None, 2, 3),
        (minors, {"M": (2, 4)}, None, 5, 2),  # the cone over Gr(2,4)
        (lambda u, v: u[:, None] * v[None], {"u": 2, "v": 3}, None, 4, 2),  # Segre
        (lambda U, V: U @ V.T, {"U": (4, 2), "V": (3, 2)}, None, 10, 2),  # matrices of rank at most 2
        (attention, {"K": (2, 3), "Q": (2, 3), "V": (2, 3)}, (3, 2), 13, 6),
        (lambda W, U, V, X: V @ ((W @ X) * (U @ X)), {"W": (3, 2), "U": (3, 2), "V": (2, 3)}, 2, 6, 5),
        (lambda W, x, X: (x * (W @ X) ** 4).sum(), {"W": (5, 3), "x": 5}, 3, 14, 9),
    ],
)  # fmt: skip
def test_dimensions(function, shapes, inputs, value, degree):
    found = ag.dimension(ag.PolynomialMap(function, shapes, inputs))
    assert (found.dimension, found.lower_bound, found.architecture.degree) == (value, value, degree)


@pytest.mark.parametrize(
    ("function", "degrees"),
    [
        (lambda A, X: (A @ X) * (1 + X), range(1, 3)),
        (lambda A, X: A + X @ X, range(3)),
        (lambda A, X: X @ (A + X) @ X + A @ X, range(1, 4)),
    ],
)
def test_degrees_in_the_input(function, degrees):
    assert ag.PolynomialMap(function, {"A": (2, 2)}, (2, 2)).input_degrees == degrees


@pytest.mark.parametrize(
    "function",
    [
        lambda A, X: [A, A[0]], lambda A, X: None, lambda A, X: A / X, lambda A, X: A / 0, lambda A, X: 1 / X,
        lambda A, X: A**-1, lambda A, X: A ** Fraction(1, 2), lambda A, X: A.sum(axis=2), lambda A, X: "A",
        lambda A, X: len(A[0, 0]), lambda A, X: np.array([A[0, 0]]), lambda A, X: A[A > 0],
        lambda A, X: A[0.5], lambda A, X: np.exp(A), lambda A, X: np.sort(A), lambda A, X: A % 2,
        lambda A, X: A.max(),
    ],
)  # fmt: skip
def test_what_is_no_polynomial_is_refused(function):
    with pytest.raises(ag.InputError, match="<lambda>"):
        ag.PolynomialMap(function, {"A": (2, 2)}, (2, 2))


def test_a_bound_by_the_coordinates():
    found = dimension(ag.PolynomialMap(lambda A: A @ A.T, {"A": (1, 3)}))
    assert (found.dimension, found.evidence, found.upper_bound_reason) == (
        1, Evidence.PROVED, "the coordinates of the output",
    )  # fmt: skip


def grouped(K, Q, V, X):
    """Attention whose four heads of queries share two of keys and values."""
    return sum(V[h // 2] @ X @ X.T @ K[h // 2].T @ Q[h] @ X for h in range(4))


@pytest.mark.slow
def test_an_arithmetic_that_gives_up_is_no_error_of_the_function():
    network = ag.PolynomialMap(grouped, {"K": (2, 2, 4), "Q": (4, 2, 4), "V": (2, 2, 4)}, (4, 4))
    assert network.parameters == 64
    assert not leaves_unchanged(network, {(0, 0): 1})  # too long for symbols
    scaling = {(i, i): 1 for i in range(16)} | {(i, i): -1 for i in range(16, 48)}
    assert leaves_unchanged(network, scaling)


def test_running_out_of_memory_is_no_error_of_the_function():
    def hungry(A, X):
        raise MemoryError

    with pytest.raises(MemoryError):
        ag.PolynomialMap(hungry, {"A": (2, 2)}, 2)


@pytest.mark.parametrize(
    ("function", "shapes", "inputs"),
    [
        (lambda u, v: u[:, None] * v, {"u": 80, "v": 80}, None),
        (lambda u, v: [u[i] * v[j] for i in range(50) for j in range(50)], {"u": 50, "v": 50}, None),
        (lambda W, U, V, X: V @ ((W @ X) * (U @ X)), dict.fromkeys("WUV", (9, 9)), 9),
        (lambda W, U, X: [sum(w[k] * X[k] * u[k] for k in range(8)) for w in W for u in U],
         {"W": (8, 8), "U": (7, 8)}, 8),
    ],
)  # fmt: skip
def test_the_memory_of_a_jacobian_is_bounded(function, shapes, inputs):
    known = ag.PolynomialMap(function, shapes, inputs)
    generator = np.random.default_rng(0)
    _, draw = jacobian_rows(known, capacity_bound(known)).modulo(P, generator)
    tracemalloc.start()
    try:
        draw(min(384, known.parameters))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * numbers_held(known) < 20 * peak


def test_a_jacobian_that_fills_the_memory_is_refused(monkeypatch):
    known = ag.PolynomialMap(lambda u, v: u[:, None] * v, {"u": 10, "v": 10})
    monkeypatch.setattr("agattn.architectures.polynomial_map.LARGEST_RUN", numbers_held(known) - 1)
    with pytest.raises(
        ag.AgattnError, match=r"takes 120 intermediate numbers, .* take smaller arrays, or force=True"
    ):
        dimension(known)
    assert dimension(known, force=True).dimension == 19


def test_a_constant_whose_denominator_the_trial_prime_divides():
    network = ag.PolynomialMap(lambda A, X: A @ X / (3 * P), {"A": (2, 2)}, 2)
    assert ag.dimension(network).dimension == 4
    with pytest.raises(ag.InputError, match=f"prime {P} divides the denominator of a constant; take another"):
        network.evaluate(ModularArithmetic(P), {"A": np.ones((2, 2))}, np.ones((1, 2, 1)))


def test_a_parameter_may_be_called_inputs():
    assert ag.PolynomialMap(lambda inputs, X: inputs * X, {"inputs": ()}, 3).shapes == {"inputs": ()}
    cube = ag.PolynomialMap(lambda inputs, X: inputs[0] @ X, {"inputs": (1, 3, 3)}, 3)
    assert ag.dimension(cube).dimension == 9


calls, kept = [], []


def counts(A, X):
    calls.append(1)
    return A @ X * len(calls)


def keeps(A, X):
    kept.append(A)
    return kept[0] @ X


def random(A, X):
    return A @ X * np.random.default_rng().integers(10**9)


def raises(A, X):
    return {}["key"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, X: np.linalg.inv(A) @ X, "makes a numpy array|uses np.inv"),
        (raises, "raises raised KeyError: 'key'"),
        (counts, "counts gives two different results for the same arguments"),
        (random, "random gives two different results for the same arguments"),
        (keeps, "keeps keeps an array from one call to the next"),
    ],
)
def test_errors_are_one_clear_line(function, message):
    with pytest.raises(ag.InputError, match=message) as caught:
        ag.PolynomialMap(function, {"A": (2, 2)}, 2)
    assert "\n" not in str(caught.value)


def test_signs_are_folded_as_in_arithmetic():
    """Of −x, −y and constants in sums, differences and products; the values are those of numbers."""

    def signs(x, y):
        return [+x, 0 - (-x), x + (-y), x - (-y), x * (-y), (-x) + y, (-x) - y, (-x) * y, (-x) - (-y),
                (-x) * (-y), 2 + x, 2 - x, -2 * x, x * 0 + y, 1 * x]  # fmt: skip

    found = ag.PolynomialMap(lambda s: signs(s[0], s[1]), {"s": 2})
    values = found.evaluate(RingArithmetic(), {"s": np.array([3, 7], dtype=object)}, np.zeros((1, 0, 0)))
    assert list(np.ravel(values)) == signs(3, 7)
