"""Products of adjacent arrays: which are listed, and that those without a free axis are invariants."""

import numpy as np
import pytest

import agattn as ag
from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import random_residues
from agattn.architectures.contractions import gauge_groups
from agattn.architectures.functions import read_function
from agattn.architectures.products import adjacent_products
from agattn.architectures.protocol import symmetry_tangents
from agattn.geometry.identifiability.symmetries import derivative

P = 1_000_003


def group(K, P, Q, O, X):
    """Heads that share K and P, as stacks of Q and O."""
    S = P @ X @ X.T @ K.T
    return (O @ (S[None] @ (Q @ X[None]))).sum(0)


def separate(K, P, Q_1, Q_2, O_1, O_2, X):
    """Two heads that share K and P, each array by itself."""
    S = P @ X @ X.T @ K.T
    return O_1 @ S @ Q_1 @ X + O_2 @ S @ Q_2 @ X


GROUP = ag.PolynomialMap(group, {"K": (2, 4), "P": (2, 4), "Q": (2, 2, 4), "O": (2, 3, 2)}, (4, 2))
SEPARATE = ag.PolynomialMap(
    separate, {"K": (2, 4), "P": (2, 4), **dict.fromkeys(("Q_1", "Q_2"), (2, 4)),
               **dict.fromkeys(("O_1", "O_2"), (3, 2))}, (4, 2),
)  # fmt: skip


@pytest.mark.parametrize(
    ("architecture", "pairs", "closed"),
    [
        (ag.SingleLayer(3, 2, 2), ["K^T Q"], []),
        (ag.SingleLayer(3, 2, 2, t=1), ["K^T Q"], []),
        (GROUP, ["K^T Q", "O P", "sum_i Q ⊗ O"], ["sum_i K^T Q ⊗ O P"]),
        (SEPARATE, ["K^T Q_1", "K^T Q_2", "O_1 P", "O_2 P"], []),
        (
            ag.DeepNetwork((3, 3, 2), (2, 2), t=2),
            ["K_1^T Q_1", "K_2 V_1", "Q_2 V_1", "K_2^T Q_2", "V_2 V_1"],
            ["V_1^T K_2^T Q_2 V_1"],
        ),
        (
            ag.DeepNetwork((3, 3, 2), (1, 1), t=2, heads=2, value_rank=1),
            ["K_1^T Q_1", "O_1 P_1", "K_2 O_1[j]", "Q_2 O_1[j]", "K_2^T Q_2", "P_2 O_1[j]", "O_2 P_2"],
            ["P_1^T O_1^T K_2[j]^T Q_2[j] O_1[k] P_1[k]", "O_2 P_2 O_1[j] P_1[j]"],
        ),
        (
            ag.DeepNetwork((3, 3, 3), (2, 2), t=2, skip=True),
            ["K_1^T Q_1", "K_2 V_1", "Q_2 V_1", "K_2^T Q_2", "V_2 V_1"],
            [],
        ),
        (
            ag.Network([ag.Linear(3), ag.Attention(3, rank=2, skip=True), ag.Linear(2)], dim=4, tokens=2),
            ["K_2 W_1", "Q_2 W_1", "K_2^T Q_2", "V_2 W_1", "W_3 V_2"],
            ["W_1^T K_2^T Q_2 W_1", "W_3 V_2 W_1"],
        ),
        (ag.Network([ag.Perceptron([3, 2], degree=3)], dim=4), [], []),
        # An entry of the last row meets two rows of the first matrix.
        (ag.Network([ag.Linear(3), ag.Convolution(2, degree=1), ag.Linear(1)], dim=2), [], []),
        (ag.Network([ag.Attention(2, rank=4, rotary=True)], dim=3, tokens=2), ["K_1^T Q_1"], []),
    ],
)
def test_products_are_those_of_the_graph(architecture, pairs, closed):
    found = adjacent_products(architecture)
    assert sorted(found) == sorted([*pairs, *closed])
    generator = np.random.default_rng(0)
    theta = random_residues(generator, (architecture.parameters,), P)
    arrays, start = {}, 0
    for name, shape in architecture.shapes.items():
        stop = start + int(np.prod(shape))
        arrays[name], start = theta[start:stop].reshape(shape), stop
    groups = [one for one in gauge_groups(architecture) if one.size > 1]
    tangents = symmetry_tangents(architecture, arrays, P, groups)
    for text in closed:  # of these no group of matrices changes anything
        assert not derivative(read_function(text, architecture.shapes), theta, tangents, P)[1].any()


def test_no_products_of_what_contractions_have_no_rule_for():
    assert adjacent_products(ag.PolynomialMap(lambda s: [s[0] ** 2, s[1]], {"s": 2})) == []


def test_programs_run_one_by_one_as_together():
    """Contractions need each operation by itself; over residues both ways give the same numbers."""

    class OneByOne(ModularArithmetic):
        one_by_one = True

    generator = np.random.default_rng(1)
    sums = ag.PolynomialMap(lambda s, u: [2 * s[0] ** 2 - u, s.sum()], {"s": 2, "u": ()})
    for model in (GROUP, SEPARATE, sums):
        weights = {name: random_residues(generator, shape, P) for name, shape in model.shapes.items()}
        X = random_residues(generator, (5, *model.input_shape), P)
        values = [model.evaluate(kind(P), weights, X) % P for kind in (ModularArithmetic, OneByOne)]
        assert (values[0] == values[1]).all()
