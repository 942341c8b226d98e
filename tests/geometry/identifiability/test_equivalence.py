"""Equal functions are recognised with their symmetry, and others separated by an input."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agattn.algebra.scalars import scalars
from agattn.evidence import Evidence
from agattn.geometry.identifiability.equivalence import equivalent
from agattn.geometry.identifiability.weights import rational_inverse as inverse


def integers(rng, *shape):
    return scalars(rng.integers(-5, 6, shape), "M")


def invertible(rng, n):
    return scalars(np.tril(rng.integers(-2, 3, (n, n)), -1) + np.diag(rng.choice([-2, -1, 1, 3], n)), "C")


def deep(rng, dims, ranks, heads):
    sizes = zip(dims, dims[1:], ranks, heads, strict=False)
    return [
        {"K": integers(rng, h, a, d), "Q": integers(rng, h, a, d), "V": integers(rng, h, d_out, d)}
        for d, d_out, a, h in sizes
    ]


def disguised(rng, network):
    """The network after a random symmetry of every kind."""
    back, result = None, []
    for n, layer in enumerate(network):
        K, Q, V = (layer[x] if back is None else layer[x] @ back for x in "KQV")
        heads, a, _ = K.shape
        scales = [Fraction(int(rng.integers(1, 5)), int(rng.integers(1, 5))) for _ in range(heads)]
        order, d_out = rng.permutation(heads), V.shape[1]
        C = invertible(rng, d_out) if n < len(network) - 1 else scalars(np.eye(d_out, dtype=int), "C")
        gauges = [invertible(rng, a) for _ in range(heads)]
        result.append({
            "K": np.array([inverse(gauges[h]).T @ K[h] * scales[h] for h in order]),
            "Q": np.array([gauges[h] @ Q[h] for h in order]),
            "V": np.array([C @ V[h] / scales[h] for h in order]),
        })  # fmt: skip
        back = inverse(C)
    return result


def active(layer):
    """The heads that are not zero."""
    heads = zip(layer["K"], layer["Q"], layer["V"], strict=True)
    return [h for h, (K, Q, V) in enumerate(heads) if (K.T @ Q).any() and V.any()]


@example(837, ((2, 3, 2, 2), (1, 2, 1), (2, 1, 2)))  # one head is zero
@given(st.integers(0, 10**6), st.sampled_from([((3, 2), (2,), (3,)), ((3, 2, 3), (1, 2), (2, 1)),
                                                ((2, 3, 2, 2), (1, 2, 1), (2, 1, 2))]))  # fmt: skip
def test_a_disguised_network_is_recognised_with_what_was_done(seed, sizes):
    rng = np.random.default_rng(seed)
    network = deep(rng, *sizes)
    other = disguised(rng, network)
    found = equivalent(network, other)
    assert found.equal
    assert found.symmetry or min(sizes[0]) < 3  # of small weights some are degenerate
    back, eye = None, [scalars(np.eye(sizes[0][-1], dtype=int), "C")]
    layers, bases = (found.symmetry.layers, found.symmetry.bases) if found.symmetry else ([], [])
    for layer, image, relations, C in zip(network, other, layers, [*bases, *eye], strict=False):
        assert sorted(r.head for r in relations) == active(layer)
        assert sorted(r.other for r in relations) == active(image)
        for r in relations:
            if r.component != "rescaling":
                continue
            K, Q, V = (layer[x][r.head] if back is None else layer[x][r.head] @ back for x in "KQV")
            new_K, new_Q, new_V = (image[x][r.other] for x in "KQV")
            assert (new_K.T @ new_Q == r.s * (K.T @ Q)).all()
            assert (new_V * r.s == C @ V).all()
            if r.C is not None:
                assert (new_Q == r.C @ Q).all()
        back = inverse(C)
    if found.symmetry:
        assert found.evidence is Evidence.PROVED


def evaluate(network, X):
    for layer in network:
        S = X @ X.T
        heads = zip(layer["K"], layer["Q"], layer["V"], strict=True)
        X = sum(V @ S @ K.T @ Q @ X for K, Q, V in heads)
    return X


@given(st.integers(0, 10**6))
def test_answers_agree_with_outputs(seed):
    rng = np.random.default_rng(seed)
    network = deep(rng, (2, 2, 2), (1, 1), (2, 1))
    other = disguised(rng, network)
    if rng.integers(2):
        other[rng.integers(2)]["V"][0, 0, 0] += int(rng.integers(1, 3))
    X = scalars(rng.integers(-(10**6), 10**6, (2, 2)), "X")
    gap = evaluate(other, X) - evaluate(network, X)
    found = equivalent(network, other)
    assert found.equal == (not gap.any())
    if not found.equal:
        there = evaluate(other, found.X) - evaluate(network, found.X)
        assert there[found.place] == found.difference != 0


def test_a_change_of_basis_between_layers_is_found():
    rng = np.random.default_rng(4)
    A, V = [integers(rng, 3, 3), integers(rng, 2, 2)], [integers(rng, 2, 3), integers(rng, 3, 2)]
    C = scalars([[1, 2], [0, 3]], "C")
    back = inverse(C)
    new_A, new_V = [A[0], back.T @ A[1] @ back], [C @ V[0], V[1] @ back]
    names = {f"{x}_{i}": M for x, part in (("A", new_A), ("V", new_V)) for i, M in enumerate(part, 1)}
    found = equivalent([{"A": A[i], "V": V[i]} for i in range(2)], names)
    assert found.equal
    assert (found.symmetry.bases[0] == C).all()
    assert found.evidence is Evidence.PROVED
    assert [[r.s for r in layer] for layer in found.symmetry.layers] == [[1], [1]]


def test_inner_heads_are_matched_by_their_attention_also_where_all_of_v_is_minus_one():
    """Two heads with the same V and the same largest entry of A are told apart by the rest of A."""
    one, two, V = [[5, 1], [0, 1]], [[5, 0], [2, 1]], [[-1, -1]]
    last = {"A": [[1]], "V": [[1]]}
    found = equivalent([{"A": [one, two], "V": [V, V]}, last], [{"A": [two, one], "V": [V, V]}, last])
    assert found.equal and found.evidence is Evidence.PROVED
    assert [(r.head, r.other, r.s) for r in found.symmetry.layers[0]] == [(0, 1, 1), (1, 0, 1)]


def test_heads_that_are_regrouped_are_equal_by_their_tensors():
    A, V, W = [[1, 2], [3, 5]], [[1, 0]], [[0, 1]]
    found = equivalent({"A": [A, A], "V": [V, W]}, {"A": A, "V": [[1, 1]]})
    assert found.equal
    assert found.evidence is Evidence.PROVED
    assert not found.symmetry
    different = equivalent({"A": [A, A], "V": [V, W]}, {"A": A, "V": [[1, 2]]})
    assert different.equal is False
    assert different.difference


def test_a_wide_middle_is_equal_by_outputs_only():
    # A third row of V_1 that no later weight reads: C_1 is not determined, and the widths may differ.
    narrow = [{"A": [[1, 2], [0, 1]], "V": [[1, 1], [0, 1]]}, {"A": [[1, 0], [1, 1]], "V": [[2, 1]]}]
    wide = [
        {"A": [[1, 2], [0, 1]], "V": [[1, 1], [0, 1], [7, 3]]},
        {"A": [[1, 0, 0], [1, 1, 0], [0, 0, 0]], "V": [[2, 1, 0]]},
    ]
    found = equivalent(narrow, wide)
    assert found.equal
    assert found.evidence is Evidence.MODULAR


def test_floating_networks():
    rng = np.random.default_rng(1)
    network = deep(rng, (3, 2, 3), (2, 2), (2, 1))
    other = disguised(rng, network)
    exact = equivalent(network, other)
    assert exact.symmetry
    assert exact.evidence is Evidence.PROVED
    floats = [{x: M.astype(float) for x, M in layer.items()} for layer in other]
    found = equivalent(network, floats)
    assert found.equal
    assert found.evidence is Evidence.NUMERICAL
    assert found.symmetry
    assert found.residual < 1e-9
    floats[1]["V"][0, 1, 0] *= 1 + 1e-3
    assert equivalent(network, floats).equal is False
    assert prod(equivalent(network, floats).X.shape) == 9


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_every_kind_of_array_is_read():
    """Lists, numpy's arrays of any type, and its matrices, which have two axes whatever is done to them."""
    lists = {"A": [[1, 2], [0, 1]], "V": [[1, 3]]}
    for convert in (np.array, np.matrix, lambda M: np.array(M, dtype=object), lambda M: np.array(M, "int8")):
        found = equivalent({name: convert(M) for name, M in lists.items()}, lists)
        assert (found.equal, found.evidence) == (True, Evidence.PROVED)


def test_what_floating_point_does_not_tell_is_undecided():
    # The function moves by 1/√2 of what V moves, as A is near e_1 e_1ᵀ.
    A = np.diag([1.0, 0.01])
    for moved, tolerance, equal in ((1.2e-9, 1e-9, None), (1.2e-9, 1e-7, True), (1.2e-9, 1e-11, False)):
        found = equivalent({"A": A, "V": [[1.0, 0.0]]}, {"A": A, "V": [[1.0, moved]]}, tolerance=tolerance)
        assert found.equal is equal and found.residual == pytest.approx(moved / np.sqrt(2), rel=1e-3)
        assert (found.margin > 10) == (equal is not None) and found.dtype == "float64"
    found = equivalent({"A": A, "V": [[1.0, 0.0]]}, {"A": A, "V": [[1.0, 1.2e-9]]}, tolerance=1e-9)
    assert "undecided (numerical): the relative distance 1.2e-09 is within a factor of 10 of the" in str(
        found
    )
    K, V = np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]])
    assert equivalent({"K": K, "Q": K, "V": V}, {"K": -K, "Q": -K, "V": V}).equal
