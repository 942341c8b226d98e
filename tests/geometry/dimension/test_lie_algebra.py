"""All linear symmetries of a parametrization, against those that are known and against exact evaluation."""

import itertools
from math import prod
from time import process_time

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn import Network, PolynomialMap
from agattn.algebra.arithmetic import RingArithmetic
from agattn.algebra.echelon import PRIME, fraction, independent_columns, independent_vectors, kernel_basis
from agattn.algebra.lie_algebras import Span, bracket, structure
from agattn.algebra.polynomial import PolynomialRing
from agattn.algebra.residues import random_residues
from agattn.architectures import Acted, DeepNetwork, OneTokenLayer, SingleLayer, Symmetry
from agattn.architectures.protocol import as_parameters, symmetry_tangents
from agattn.errors import DisagreementError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.dimension import lie_algebra
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.lie_algebra import leaves_unchanged, linear_symmetries
from agattn.geometry.dimension.symmetries import symmetry_matrices
from agattn.sheet.terminal import text

P = 2**29 + 11


def perceptron(n, s, r):
    """x ↦ W_2 (W_1 x)^r as a map that declares no symmetries."""
    return PolynomialMap(lambda W_1, W_2, X: W_2 @ (W_1 @ X) ** r, {"W_1": (s, n), "W_2": (1, s)}, (n, 1))


def changes_nothing(architecture, B, seed=0):
    """Whether the outputs at θ + εBθ have no term in ε, with random integers for θ and X."""
    ring = PolynomialRing(["e"])
    (e,) = ring.gens
    draw = np.random.default_rng(seed).integers
    theta = [int(x) for x in draw(1, 99, architecture.parameters)]
    moved = [ring.one() * x for x in theta]
    for (i, j), x in B.items():
        moved[i] += e * x * theta[j]
    arrays, at = {}, 0
    for name, shape in architecture.shapes.items():
        arrays[name] = np.array(moved[at : at + prod(shape)], dtype=object).reshape(shape)
        at += prod(shape)
    X = draw(1, 99, (1, *architecture.input_shape)).astype(object)
    out = architecture.evaluate(RingArithmetic(), arrays, X)
    return not any(f.derivative(e).constant for f in np.asarray(out).ravel().tolist())


# Known values: gl(a) for each head, one scaling for each, gl(d_i) between layers; with d_{i-1} = 1 or t = 1
# the pairing of K and Q has all of so(2a) in place of gl(a), more by a(a - 1).
NETWORKS = [
    (DeepNetwork((3, 2), (2,), t=2), 5, 0),
    (DeepNetwork((3, 3, 2), (3, 3), t=3), 9 + 1 + 9 + 9 + 1, 0),
    (DeepNetwork((3, 3, 3), (2, 2), t=2, skip=True), 10, 0),
    (DeepNetwork((2, 2, 2), (2, 1), t=2, heads=(2, 1)), 2 * 5 + 4 + 2, 0),
    # What layer 2 sees is O_1 y with numbers y: a row of K_2, Q_2 or P_2 may change by (o_2, -o_1).
    (DeepNetwork((3, 2, 2), (1, 2), t=2, value_rank=1), 3 + 4 + 6, 5 + 2),
    (DeepNetwork((3, 2), (3,), t=1), 10, 6),
    (DeepNetwork((2, 2, 2), (2, 2), t=1), 2 * 5 + 4, 4),
    (DeepNetwork((2, 2, 2), (2, 1), t=1, skip=True), 7, 2),
    (DeepNetwork((2, 1, 2), (1, 2), t=2), 2 + 1 + 5, 2),
    (DeepNetwork((5, 1), (3,), t=2, heads=2), 20, 0),  # of 70 parameters: 50 are left, of which 49 count
]


@pytest.mark.parametrize(("network", "known", "new"), NETWORKS, ids=str)
def test_networks(network, known, new):
    found = linear_symmetries(network)
    assert (found.dimension - len(found.new), len(found.new)) == (known, new)
    assert sum(family.dimension for family in found.families) == found.dimension == found.at_most
    for family, symmetry in zip(found.families, network.symmetries, strict=False):
        assert (family.name, family.dimension) == (symmetry.name, symmetry.size**2)
    assert found.evidence is Evidence.PROVED and found.error == 0
    assert all(changes_nothing(network, g.matrix) for g in found.generators)
    assert found.orbit_dimension <= network.parameters - dimension(network).lower_bound


@given(st.integers(0, 10**6))
@settings(max_examples=6, deadline=None)
def test_brackets_and_seeds(seed):
    draw = np.random.default_rng(seed)
    l = int(draw.integers(1, 3))
    dims, ranks = draw.integers(1, 3, l + 1).tolist(), draw.integers(1, 3, l).tolist()
    network = DeepNetwork(
        tuple(dims), tuple(ranks), t=int(draw.integers(1, 3)), heads=int(draw.integers(1, 3))
    )
    found, again = linear_symmetries(network, seed=seed), linear_symmetries(network, seed=seed + 1)
    assert [g.matrix for g in found.generators] == [g.matrix for g in again.generators]
    span = Span([g.matrix for g in found.generators])
    for a, b in itertools.combinations(found.generators, 2):
        assert span.coordinates(bracket(a.matrix, b.matrix)) is not None
    outside = {(0, network.parameters - 1): 1}  # K_1 moves by V_l
    assert span.coordinates(outside) is None and not changes_nothing(network, outside, seed)


@pytest.mark.parametrize(("s", "r"), [(2, 2), (2, 3), (3, 3)])
def test_perceptron(s, r):
    known = Network([ag.Perceptron([s, 1], degree=r)], dim=2)
    found, silent = linear_symmetries(known), linear_symmetries(perceptron(2, s, r))
    # Of W_1 x squared only: the quadratic form W_1ᵀ diag(W_2) W_1 has further symmetries, but none is linear.
    assert [f.dimension for f in found.families] == [1] * s
    assert found.evidence is Evidence.PROVED
    assert silent.dimension == s == len(silent.new) and silent.families[0].arrays == ("W_1", "W_2")
    assert {str(g) for g in silent.generators} == {
        f"W_1[{j},·] → W_1[{j},·], W_2[·,{j}] → −{r} W_2[·,{j}]" for j in range(1, s + 1)
    }
    assert str(found.structure) == f"abelian of dimension {s}"


def test_dimension_by_symmetries_that_were_found():
    """Without a declared symmetry the scalings of the neurons are found, and the dimension is proved."""
    found = dimension(perceptron(3, 2, 3))
    assert (found.dimension, found.upper_bound, found.evidence) == (6, 6, Evidence.PROVED)
    assert "all linear symmetries, which were found" in found.upper_bound_reason
    # Alexander and Hirschowitz: one less than the 15 which the linear symmetries leave.
    defect = dimension(perceptron(3, 5, 4))
    assert (defect.lower_bound, defect.upper_bound, defect.evidence) == (14, 15, Evidence.MODULAR)


def test_maps_of_varieties():
    """Classical symmetries: the form of a Gram matrix, SL(2) of Plücker's coordinates, and none at all."""

    def gram(W):
        return W @ W.T

    def minors(U):
        return [U[0, i] * U[1, j] - U[0, j] * U[1, i] for i in range(4) for j in range(i)]

    def cubes(u, v):  # sums of two cubes of linear forms: roots of unity and a swap, which are discrete
        return [u[0] ** 3 + v[0] ** 3, u[0] ** 2 * u[1] + v[0] ** 2 * v[1], u[1] ** 3 + v[1] ** 3,
                u[0] * u[1] ** 2 + v[0] * v[1] ** 2]  # fmt: skip

    orthogonal = linear_symmetries(PolynomialMap(gram, {"W": (3, 3)}))
    assert orthogonal.dimension == 3 == orthogonal.structure.derived and orthogonal.structure.simple is None
    plane = linear_symmetries(PolynomialMap(minors, {"U": (2, 4)}))
    assert str(plane.structure) == "sl(2)" and plane.orbit_dimension == 3  # 8 - 3 = 5: the cone over Gr(2,4)
    none = linear_symmetries(PolynomialMap(cubes, {"u": 2, "v": 2}))
    assert (none.dimension, none.at_most, none.orbit_dimension, none.evidence) == (0, 0, 0, Evidence.PROVED)
    assert str(none).startswith("cubes") and ": 0 linear symmetries; orbits of dimension 0" in str(none)
    assert str(none.structure) == "0" and "At most 0" in text(none.sheet())


def test_parameters_without_effect():
    """Of x ↦ W_2 W_1 x with one neuron, and a third array that is not used: no longer reductive."""

    shapes = {"W_1": (1, 2), "W_2": (1, 1), "U": (1, 1)}
    found = linear_symmetries(
        PolynomialMap(lambda W_1, W_2, U, X: W_2 @ W_1 @ X + 0 * U @ W_1 @ X, shapes, (2, 1))
    )
    # W_1, W_2 scale against each other, and U goes where it likes: 4 entries in its row.
    assert (found.dimension, found.orbit_dimension, found.evidence) == (5, 2, Evidence.PROVED)
    assert str(found.structure) == "radical of dimension 5" and found.structure.derived == 3


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(0, 8), st.integers(0, 5), st.integers(0, 10**6))
def test_independent_sparse_vectors_are_independent_columns(rows, columns, rank, seed):
    random = np.random.default_rng(seed)
    matrix = random.integers(-2, 3, (rows, rank)) @ random.integers(-2, 3, (rank, columns))
    matrix = matrix.astype(object) * int(random.choice([1, 2**70, PRIME]))
    vectors = [{i: int(x) for i, x in enumerate(column) if x} for column in matrix.T]
    expected = independent_columns(flint.fmpz_mat(matrix.tolist())) if columns else []
    assert list(independent_vectors(vectors)) == expected


def test_all_linear_maps_are_symmetries_of_0():
    start = process_time()
    found = linear_symmetries(PolynomialMap(lambda A: 0 * A, {"A": (2, 31)}))
    assert process_time() - start < 8  # a second; 17 of 20 went to the independence of 3844 unit vectors
    assert found.dimension == found.at_most == 62**2 and found.orbit_dimension == 62
    assert found.evidence is Evidence.PROVED


def test_known_structures():
    one_token = linear_symmetries(DeepNetwork((3, 2), (4,), t=1)).structure
    assert (one_token.dimension, one_token.simple) == (29, ("so(8)",))
    layer = linear_symmetries(SingleLayer(3, 2, 2)).structure
    assert (layer.dimension, layer.center, layer.derived, layer.radical) == (5, 2, 3, 2)
    assert linear_symmetries(OneTokenLayer(2, 1, 2)).structure.simple == ("sl(2)", "sl(2)")
    clebsch = linear_symmetries(Network([ag.Perceptron([5, 1], degree=4)], dim=3)).structure
    assert (clebsch.dimension, clebsch.center) == (5, 5)  # which leave 15 of 20 parameters, and 14 count

    def preserving(form):
        """The matrices that are skew for a form, from their linear equations."""
        n = len(form)
        columns = [(E.T @ form + form @ E).ravel() for E in np.eye(n * n, dtype=int).reshape(-1, n, n)]
        basis = kernel_basis(flint.fmpq_mat(flint.fmpz_mat(np.array(columns).T.tolist())))
        return [
            {place: fraction(x) for place, x in zip(np.ndindex(n, n), v, strict=True) if x} for v in basis
        ]

    # gl(2), and a rotation that commutes with it: it is no diagonal matrix, but in the center.
    plane = [{(0, 0): 1}, {(0, 1): 1}, {(1, 0): 1}, {(1, 1): 1}, {(2, 3): 1, (3, 2): -1}]
    assert str(structure(plane)) == "sl(2) + center of dimension 2"
    # Brackets with numbers from 2⁻¹⁰ to 2¹¹.
    assert str(structure([{(0, 0): 1024, (1, 1): -1024}, {(0, 1): 1}, {(1, 0): 1}])) == "sl(2)"
    swap = np.eye(7, dtype=int)[::-1]
    signed = np.diag([1, 1, 1, -1, -1, -1]) @ np.eye(6, dtype=int)[::-1]
    assert str(structure(preserving(swap))) == "so(7)"
    assert str(structure(preserving(signed))) == "sp(6)"
    compact = structure(preserving(np.eye(3, dtype=int)))
    assert str(compact) == "semisimple part of dimension 3" and compact.simple is None


def test_matrices_of_known_symmetries():
    """The matrices of gl(n) at a point are the tangent vectors there."""
    network = DeepNetwork((2, 3, 2), (2, 1), t=2, heads=2, value_rank=2)
    draw = np.random.default_rng(3)
    parameters = {name: random_residues(draw, shape, P) for name, shape in network.shapes.items()}
    flat = np.concatenate([a.ravel() for a in parameters.values()]).astype(int).tolist()
    moved = []
    for B in itertools.chain.from_iterable(symmetry_matrices(network)):
        row = [0] * len(flat)
        for (i, j), x in B.items():
            row[i] += x * flat[j]
        moved.append([x % P for x in row])
    assert moved == symmetry_tangents(network, parameters, P).astype(int).tolist()


def test_what_symbols_cannot_prove_is_modular(monkeypatch):
    monkeypatch.setattr("agattn.geometry.dimension.lie_algebra.MOST_PRODUCTS", (10,))
    found = linear_symmetries(DeepNetwork((2, 2), (1,), t=2))
    assert (found.dimension, found.evidence) == (2, Evidence.MODULAR)
    assert found.orbit_dimension == 0 and 0 < found.error < 1e-20
    chances = [lie_algebra._error(found.architecture, g.matrix) for g in found.generators]
    assert found.error == sum(chances) > max(chances)  # that of any one of them


def test_nothing_false_is_proved(monkeypatch):
    monkeypatch.setattr("agattn.geometry.dimension.lie_algebra.MOST_PRODUCTS", (5000,))
    network = DeepNetwork((2, 2, 2), (1, 1), t=2)
    true = [g.matrix for g in linear_symmetries(network).generators]
    for number, B in enumerate(true):
        place = list(B)[number % len(B)]
        assert not leaves_unchanged(network, B | {place: B[place] + 1})
        assert not leaves_unchanged(network, {q: x for q, x in B.items() if q != place})


def test_failures(monkeypatch):
    wrong = perceptron(2, 2, 3)
    wrong.symmetries = (Symmetry("scaling", 1, (Acted("W_1"), Acted("W_2", weight=-2))),)  # for a square
    with pytest.raises(DisagreementError, match="declares the symmetry scaling, which changes the function"):
        linear_symmetries(wrong)
    monkeypatch.setattr(lie_algebra, "MAX_UNKNOWNS", 20)
    with pytest.raises(TooLargeError, match=r"systems of up to \d+ unknowns; the limit is 20\. Use force"):
        linear_symmetries(DeepNetwork((3, 3, 2), (3, 3)))


def test_keys_that_move_by_queries_are_proved_with_few_products(monkeypatch):
    """With one token a skew-symmetric change of A is not seen; here that of the second layer."""
    network = DeepNetwork((4, 4, 4), (3, 3), 1)
    numbers = as_parameters(network, np.arange(network.parameters))
    K, Q = numbers["K_2"].reshape(3, 4), numbers["Q_2"].reshape(3, 4)
    moves = {(int(K[0, j]), int(Q[1, j])): 1 for j in range(4)}
    moves |= {(int(K[1, j]), int(Q[0, j])): -1 for j in range(4)}
    monkeypatch.setattr(lie_algebra, "MOST_PRODUCTS", (500,))
    assert leaves_unchanged(network, moves)
    assert not leaves_unchanged(network, dict.fromkeys(moves, 1))


def test_kernels_of_many_small_matrices_are_those_of_each():
    """Of those that have one, by elimination in all at once and one by one; all entries modulo a prime."""
    p = 10007
    random = np.random.default_rng(0)
    factors = random.integers(0, p, (2, 6, 4, 4)).astype(float)
    factors[0, :4, :, 2:] = 0  # products of rank 2, and at last two of rank 4
    stack = factors[0] @ factors[1] % p
    large = dict(lie_algebra._large_kernels(stack.copy(), p))
    small = dict(lie_algebra._small_kernels(stack.copy(), p))
    assert list(large) == list(small) == [0, 1, 2, 3]
    for number, kernel in small.items():
        assert kernel.shape == large[number].shape == (2, 4)
        assert not (stack[number] @ kernel.T % p).any() and np.linalg.matrix_rank(kernel) == 2
