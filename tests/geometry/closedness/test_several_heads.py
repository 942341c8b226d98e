"""One layer of several heads: closed or not, limits outside, and special weights."""

import subprocess
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.arithmetic import RingArithmetic
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.closedness.several_heads import closedness, head_kinds
from agattn.geometry.identifiability.families import ExactWeights, widest_family
from agattn.geometry.variety.coordinates import coefficients, coordinates, generic_matrices

SMALL = list(product(range(1, 5), range(1, 4), range(1, 5), range(1, 4)))  # d, d', a, h
OUTSIDE = {1: (3, 2, 1, 3), 2: (4, 1, 1, 3), 3: (5, 1, 3, 2)}  # by the number of the theorem


def layer(d, d_out, a, h, **options):
    return DeepNetwork((d, d_out), (a,), t=2, heads=h, **options)


def value(network, weights, X):
    return network.evaluate(RingArithmetic(), weights, X[None])[0]


def weights_at(arc, epsilon):
    """The weights of an arc at a number ε ≠ 0, as arrays of fractions."""
    weights = {}
    for name, shape in arc.network.shapes.items():
        weights[name] = np.full(shape, Fraction(0), dtype=object)
        for matrix, head in zip(weights[name], arc.heads, strict=True):
            for row, column, power, x in getattr(head, name[0]):
                matrix[row - 1, column - 1] += x * Fraction(epsilon) ** power
    return weights


def value_of_limit(limit, X):
    """Σ_j y(x_j) X for tokens X = (x_1, ..., x_t)."""
    d_out, total = limit.arc.network.dims[-1], X @ X.T
    attention = np.zeros((d_out, len(X)), dtype=object)
    for (c, b, i, k), x in limit.y.items():
        attention[c - 1, b - 1] += x * total[i - 1, k - 1]
    return attention @ X


def test_every_small_layer_is_decided():
    statuses = {shape: closedness(layer(*shape)).status for shape in SMALL}
    closed = {s for s, status in statuses.items() if status == "closed"}
    assert set(statuses.values()) == {"closed", "not closed"}
    assert closed == {
        (d, o, a, h) for d, o, a, h in SMALL
        if d == 1 or h == 1 or (o == 1 and a >= d - 1) or (d, h) == (2, 3) or (d, o, a, h) == (4, 1, 2, 3)
    }  # fmt: skip


@pytest.mark.parametrize("shape", [s for s in SMALL if s[2] <= s[0]] + list(OUTSIDE.values()))
def test_a_limit_is_one_and_has_its_obstruction(shape):
    found = closedness(layer(*shape))
    limit = found.limit
    assert (limit is None) == (found.status == "closed")
    if limit is not None:
        assert limit.flaw() == ""
        entries = [[(3 * i * i - 7 * j) % 11 - 5 for j in range(2)] for i in range(shape[0])]
        X, expected = np.array(entries, dtype=object), value_of_limit(limit, np.array(entries, dtype=object))
        near = [value(found.network, weights_at(limit.arc, Fraction(1, 10**n)), X) for n in (4, 6)]
        errors = [abs(at - expected).max() for at in near]
        assert errors[1] <= errors[0] / 99 < 1


@pytest.mark.parametrize("theorem", OUTSIDE)
def test_what_is_wrong_with_a_limit_is_found(theorem):
    limit = closedness(layer(*OUTSIDE[theorem])).limit
    arc, d = limit.arc, OUTSIDE[theorem][0]
    X = np.array([[2 + i * i, 1 - 3 * i] for i in range(d)], dtype=object)
    wrong = 0
    for (h, head), letter in product(enumerate(arc.heads), "KQV"):
        for n, entry in enumerate(getattr(head, letter)):
            rest = getattr(head, letter)[:n] + getattr(head, letter)[n + 1 :]
            for changed in ((*entry[:-1], entry[-1] + 1), (*entry[:-2], entry[-2] - 1, entry[-1])):
                moved = replace(head, **{letter: (*rest, changed)})
                other = replace(limit, arc=replace(arc, heads=(*arc.heads[:h], moved, *arc.heads[h + 1 :])))
                far = value(arc.network, weights_at(other.arc, Fraction(1, 10**6)), X)
                far -= value_of_limit(limit, X)
                assert bool(other.flaw()) == (abs(far).max() > Fraction(1, 100)), (letter, entry)
                wrong += bool(other.flaw())
    assert wrong > 10
    for name in limit.y:
        less = {other: x for other, x in limit.y.items() if other != name}
        assert limit.obstruction.flaw(arc.network, less)
        assert replace(limit, y=less).flaw() == "the arc has another limit"


def test_a_generic_sum_of_heads_has_no_obstruction():
    """At ε = 1 the arcs are sums of h heads, so that no obstruction may hold for them."""
    for shape in OUTSIDE.values():
        limit = closedness(layer(*shape)).limit
        y = dict.fromkeys((name for part in limit.arc.expansion().values() for name in part), 0)
        for part in limit.arc.expansion().values():
            y = {name: x + part.get(name, 0) for name, x in y.items()}
        y = {name: x for name, x in y.items() if x}
        weights = weights_at(limit.arc, 1)
        heads = zip(*(weights[f"{letter}_1"] for letter in "KQV"), strict=True)
        single = SingleLayer(*shape[:3])
        total = sum(coefficients(single, K.T @ Q, V) for K, Q, V in heads)
        assert {n: x for n, x in zip(coordinates(single), total, strict=True) if x} == y
        assert limit.obstruction.flaw(limit.arc.network, y)


@given(st.lists(st.integers(-3, 3), min_size=18, max_size=18))
@settings(max_examples=30, deadline=None)
def test_three_heads_give_every_matrix_of_binary_quadratic_forms(numbers):
    """Theorem 5: y_1 − ℓ_3p and y_2 − ℓ_3p are divisible by ℓ_1 and by ℓ_2, p by interpolation."""
    y = np.array(numbers, dtype=object).reshape(3, 2, 3)  # d' = 3, two columns; u², uw, w²
    roots = [(1, 0), (0, 1), (1, 1)]  # the points where ℓ_i = x u_2 − z u_1 is 0
    forms = [np.array([-z, x], dtype=object) for x, z in roots]

    def at(point):
        x, z = point
        return y @ np.array([x * x, x * z, z * z], dtype=object)

    at_first, at_second = at(roots[0])[:, 0] / Fraction(-1), at(roots[1])[:, 1] / Fraction(1)
    p = np.stack([at_first, at_second], axis=1)  # p(1, 0) and p(0, 1): a linear form in each row
    product = np.stack(
        [p[:, 0] * forms[2][0], p[:, 0] * forms[2][1] + p[:, 1] * forms[2][0], p[:, 1] * forms[2][1]], axis=1
    )
    heads = [(p, forms[2], [1, 1])]
    first, second = y[:, 0] - product, y[:, 1] - product
    assert not first[:, 0].any() and not second[:, 2].any()
    heads += [(first[:, 1:], forms[0], [1, 0]), (second[:, :2] * -1, forms[1], [0, 1])]
    single = SingleLayer(2, 3, 1)
    total = sum(coefficients(single, np.outer(k, q), V) for V, k, q in heads)
    assert (total.reshape(3, 2, 3) == y).all()


def roots_of(values):
    """How many different real roots in ℙ¹ the form has that takes these values at (t, 1), t = 0, 1, ..."""
    n = len(values) - 1
    vandermonde = flint.fmpq_mat(
        n + 1, n + 1, [flint.fmpq(t) ** e for t in range(n + 1) for e in range(n + 1)]
    )
    solved = vandermonde.solve(flint.fmpq_mat(n + 1, 1, values))
    polynomial = flint.fmpq_poly([solved[e, 0] for e in range(n + 1)])
    if not polynomial:
        return n + 1
    numerator = flint.fmpz_poly([int(c) for c in (polynomial * polynomial.denom()).coeffs()])
    real = sum(root.imag == 0 for root, _ in numerator.complex_roots())
    return real + (polynomial.degree() < n)


def most_roots(A, B):
    """The most real roots of det(s(B + wq) + t(A − vq)) for v = u_1, w = u_2 and small integers q."""
    d = len(A)
    ends = [(t, 1) for t in range(d + 1)]

    def values(q):
        members = (B * s + A * t + np.outer([-t, s, *[0] * (d - 2)], q) for t, s in ends)
        return [int(flint.fmpz_mat(member.tolist()).det()) for member in members]

    return max(roots_of(values(q)) for q in product(range(-2, 3), repeat=d))


@given(st.sampled_from([2, 3]), st.data())
@settings(max_examples=40, deadline=None)
def test_two_singular_matrices_suffice(d, data):
    """Theorem 4 for h = 2, a = d − 1, over ℝ: some q gives two singular members, whatever A and B are."""
    entries = st.lists(st.lists(st.integers(-1, 1), min_size=d, max_size=d), min_size=d, max_size=d)
    A, B = (np.array(data.draw(entries), dtype=object) for _ in "AB")
    assert most_roots(A, B) >= 2


def test_two_singular_matrices_suffice_where_all_roots_agree():
    """B = I and A nilpotent with Aw = −v: every form is a multiple of s³, and one of them is 0."""
    A = np.array([[0, -1, 0], [0, 0, 1], [0, 0, 0]], dtype=object)
    assert most_roots(A, np.eye(3, dtype=int).astype(object)) > 3


def test_other_networks_are_refused():
    for network in (
        DeepNetwork((2, 2, 2), (2, 2), t=2, heads=2),
        DeepNetwork((2, 1), (1,), t=1, heads=2),
        DeepNetwork((2, 1), (1,), t=2, heads=2, normalization="softmax"),
        DeepNetwork((3, 3), (1,), t=2, heads=2, value_rank=1),
    ):
        with pytest.raises(InputError, match="one lightning layer with V of any rank and t ≥ 2"):
            closedness(network)
    assert closedness(layer(3, 3, 1, 2, value_rank=3)).status == "not closed"


# Special weights --------------------------------------------------------------------------------------------


def test_special_weights_are_what_their_names_say():
    network = layer(3, 2, 2, 3)
    X = np.array([[1, 2], [3, -1], [0, 2]], dtype=object)
    kinds = dict(head_kinds(network))
    assert len(kinds) == 21

    def part(name, *heads):
        chosen = {letter: array[list(heads)] for letter, array in kinds[name].items()}
        return value(layer(3, 2, 2, len(heads)), chosen, X)

    def rank(name, letter, head):
        K, Q, V = (kinds[name][f"{x}_1"][head] for x in "KQV")
        return flint.fmpz_mat((V if letter == "V" else K.T @ Q).tolist()).rank()

    for name in ("V = 0 in head 1", "K = 0 in head 1", "K = Q = 0 in head 1", "K = Q = V = 0 in head 1"):
        assert not part(name, 0).any() and part(name, 1).any()
    assert (part("equal heads", 0) == part("equal heads", 1)).all() and part("equal heads", 0).any()
    for name in ("heads that cancel", "k qᵀ, p vᵀ and v qᵀ, −p kᵀ"):
        assert not part(name, 0, 1).any() and part(name, 0).any()
    assert (part("k qᵀ, p vᵀ and v qᵀ, p kᵀ", 0) == part("k qᵀ, p vᵀ and v qᵀ, p kᵀ", 1)).all()
    assert not part("all V = 0", 0, 1, 2).any()
    for common, letters in {"A": "KQ", "V": "V", "K": "K", "Q": "Q"}.items():
        heads = kinds[f"a common {common}"]
        same = {x for x in "KQV" if (heads[f"{x}_1"][0] == heads[f"{x}_1"][1]).all()}
        assert same == set(letters)
    for common in "kq":
        name = f"A = k qᵀ with a common {common}"
        A = [kinds[name]["K_1"][h].T @ kinds[name]["Q_1"][h] for h in (0, 1)]
        assert rank(name, "A", 0) == rank(name, "A", 1) == 1
        joined = np.concatenate(A, axis=int(common == "k"))
        assert flint.fmpz_mat(joined.tolist()).rank() == 1
    for name in ("rk A = 1 in head 1", "rk A = 1 in two heads", "A = k qᵀ, V = p kᵀ in head 1"):
        assert (rank(name, "A", 0), rank(name, "A", 2)) == (1, 2)
    for common, axis in (("p", 1), ("v", 0)):
        V = kinds[f"V = p vᵀ with a common {common}"]["V_1"]
        assert flint.fmpz_mat(np.concatenate(V[:2], axis=axis).tolist()).rank() == 1


#: The rank of the differential at special weights of two heads, and the dimension of the fiber: of families
#: that are found, and of the kernel.
SPECIAL = """
generic                      26 10 to 10
V = 0 in head 1              19 17 to 17
K = 0 in head 1              19 17 to 17
K = Q = 0 in head 1          13 17 to 23
K = Q = V = 0 in head 1      13 17 to 23
equal heads                  13 16 to 23
heads that cancel            13 23 to 23
a common A                   20 16 to 16
a common V                   19 13 to 17
a common K                   24 10 to 12
a common Q                   24 10 to 12
V = p vᵀ with a common p     23 11 to 13
V = p vᵀ with a common v     26 10 to 10
rk A = 1 in head 1           25 11 to 11
rk A = 1 in two heads        24 12 to 12
A = k qᵀ with a common k     22 12 to 14
A = k qᵀ with a common q     20 14 to 16
A = k qᵀ, V = p kᵀ in head 1 23 11 to 13
k qᵀ, p vᵀ and v qᵀ, p kᵀ    16 15 to 20
k qᵀ, p vᵀ and v qᵀ, −p kᵀ   16 16 to 20
all V = 0                    12 24 to 24
"""


def test_the_differential_at_special_weights():
    """Two equal heads add nothing to one, ..."""
    network, one = layer(3, 2, 2, 2), SingleLayer(3, 2, 2)
    at = {name: ExactWeights(network, w) for name, w in head_kinds(network)}
    ranks = {name: point.differential_rank() for name, point in at.items()}
    assert ranks["generic"] == 26 and one.expected_dimension == 13
    assert ranks["equal heads"] == ranks["heads that cancel"] == ranks["K = Q = V = 0 in head 1"] == 13
    assert ranks["V = 0 in head 1"] == 13 + 6  # and A_1(u) ⊗ all V, without what is tangent already
    assert ranks["all V = 0"] == 2 * 6
    lines = []
    for name, point in at.items():
        kernel = network.parameters - ranks[name]
        family = widest_family(point, most=kernel, orders=0)
        assert family.evidence is Evidence.PROVED
        lines.append(f"{name:28} {ranks[name]} {family.dimension} to {kernel}")
    assert lines == SPECIAL.strip().splitlines()


def test_heads_of_every_layer_and_other_networks():
    network = DeepNetwork((2, 2, 1), (1, 1), t=2, heads=(2, 3))
    names = [name for name, _ in head_kinds(network)]
    assert len(names) == len(set(names)) and sum(name.endswith(", layer 2") for name in names) == 14
    for (_, one), (_, other) in combinations(list(head_kinds(network))[:3], 2):
        assert {n: a.shape for n, a in one.items()} == network.shapes
        assert any((one[n] != other[n]).any() for n in one)
    assert list(head_kinds(DeepNetwork((2, 2), (1,), t=2))) == []
    with pytest.raises(InputError, match="are known for lightning networks"):
        next(head_kinds(DeepNetwork((2, 2), (1,), t=2, heads=2, normalization="softmax")))


# By engines -------------------------------------------------------------------------------------------------


def are_sums_of_heads(installation, shape, targets, tmp_path):
    """Whether complex heads add up to each of them: the equations for K, Q and V have not the unit ideal."""
    d, d_out, a, h = shape
    single, is_singular = SingleLayer(d, d_out, a), installation.engine.name == "singular"
    shapes = {f"{x}{n}": (d_out if x == "v" else a, d) for n in range(1, h + 1) for x in "kqv"}
    arrays = generic_matrices(shapes)
    heads = zip(arrays[::3], arrays[1::3], arrays[2::3], strict=True)
    total = sum(coefficients(single, K.T @ Q, V) for K, Q, V in heads)
    variables = total[0].ring.variables
    listed = ",".join(v.singular() if is_singular else v.macaulay2() for v in variables)
    script = f"ring r=0,({listed}),dp;ideal i,g;" if is_singular else f"R=QQ[{listed}];"
    for y in targets:
        equations = [x - y.get(name, 0) for name, x in zip(coordinates(single), total, strict=True)]
        joined = ",".join(x.singular() if is_singular else x.macaulay2() for x in equations)
        script += (
            f'i={joined};g=slimgb(i);if(g[1]==1){{"none";}}else{{"some";}};'
            if is_singular
            else f'print if 1_R % ideal({joined}) == 0 then "none" else "some";'
        )
    path = tmp_path / "heads"
    path.write_text(script + ("quit;\n" if is_singular else "exit 0\n"), encoding="utf-8")
    command = [installation.path, *installation.engine.arguments, path]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert set(ended.stdout.split()) <= {"none", "some"}, ended.stdout
    return [word == "some" for word in ended.stdout.split()]


@pytest.mark.slow
def test_no_complex_heads_add_up_to_the_limit(engine_installation, tmp_path):
    shapes = [(2, 2, 1, 2), (3, 1, 1, 2)]
    for shape in shapes if engine_installation.engine.name == "singular" else shapes[:1]:
        limit = closedness(layer(*shape)).limit
        y = {}
        for part in limit.arc.expansion().values():  # at ε = 1 it is a sum
            y = {name: y.get(name, 0) + part.get(name, 0) for name in y | part}
        assert are_sums_of_heads(engine_installation, shape, [limit.y, y], tmp_path) == [False, True]
