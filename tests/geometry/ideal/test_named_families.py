"""Families of one formula each: they vanish on M̄ alone, and are the minimal generators to degree 5."""

import json
import random

import flint
import pytest
from command_line import call, document

import agattn as ag
from agattn.architectures import SingleLayer
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.generators import follows_from, highest_weight_generators, name_of
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.invariants import compare
from agattn.geometry.ideal.isotypic import component, shapes
from agattn.geometry.ideal.named_families import named, named_families
from agattn.geometry.variety.coordinates import coefficients

FAMILIES = named_families()
VERTEX, IN_SPACE = named((4, 1), (4, 1), (4, 3, 3)), named((3, 2), (3, 2), (4, 3, 2, 1))


def smallest(family):
    """The smallest layer with room for a family."""
    lam, mu, nu = family.shapes
    return SingleLayer(max(len(mu), len(nu)), len(lam))


def on_the_variety(rng, sizes):
    """The matrices of second derivatives of products of random linear forms."""
    rows, columns, d = sizes
    V, A = ([[rng.randint(-4, 4) for _ in range(d)] for _ in range(n)] for n in (rows, columns))
    return [[[[v[i] * a[k] + v[k] * a[i] for k in range(d)] for i in range(d)] for a in A] for v in V]


def anywhere(rng, sizes):
    """Random symmetric matrices."""
    rows, columns, d = sizes
    forms = [
        [[[rng.randint(-4, 4) for _ in range(d)] for _ in range(d)] for _ in range(columns)]
        for _ in range(rows)
    ]
    return [
        [[[form[i][k] + form[k][i] for k in range(d)] for i in range(d)] for form in row] for row in forms
    ]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_formula_is_a_highest_weight_vector_that_vanishes_on_the_variety_alone(family):
    equation, layer = family.highest, smallest(family)
    assert equation.torus_weight == family.shapes
    # Raising an index kills it, so that its base changes span one irreducible module, for all d and d'.
    raises = [(factor, r) for factor, part in enumerate(family.shapes) for r in range(1, len(part))]
    assert not any(equation.move(factor, r + 1, r).terms for factor, r in raises)
    assert equation.vanishes_on(layer)
    first, *others = equation.terms.items()
    assert not Equation(dict([(first[0], first[1] + 1), *others])).vanishes_on(layer)
    rng, sizes = random.Random(7), tuple(map(len, family.shapes))
    assert family.formula(on_the_variety(rng, sizes)) == 0
    assert any(family.formula(anywhere(rng, sizes)) for _ in range(3))


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, marks=[pytest.mark.slow] * (family.degree == 5 and family is not VERTEX))
        for family in FAMILIES
    ],
    ids=lambda family: family.name,
)
def test_a_formula_is_the_new_equation_of_its_module(family):
    layer = smallest(family)
    [generator] = highest_weight_generators(family.shapes, layer)
    # In space equations of lower degree can be added, and the shortest has another number of terms.
    assert (family.highest.terms == generator.primitive().terms) == (family is not IN_SPACE)
    assert not follows_from(generator, [], layer)
    assert follows_from(generator, [family.highest], layer)


def base_change(rng, forms):
    """The forms after base changes of rows, columns and variables."""
    rows, columns, d = len(forms), len(forms[0]), len(forms[0][0])
    h, q, p = ([[rng.randint(-99, 99) for _ in range(n)] for _ in range(n)] for n in (rows, columns, d))

    def mixed(c, b):
        total = flint.fmpz_mat(d, d)
        for i in range(rows):
            for k in range(columns):
                total += h[c][i] * q[b][k] * flint.fmpz_mat(forms[i][k])
        return (flint.fmpz_mat(p) * total * flint.fmpz_mat(p).transpose()).tolist()

    return [[[[int(x) for x in row] for row in mixed(c, b)] for b in range(columns)] for c in range(rows)]


@pytest.mark.parametrize(
    ("family", "sizes", "dimension"),
    [
        (VERTEX, (2, 2, 3), 48),
        pytest.param(named((3, 2), (3, 2), (5, 3, 2)), (2, 2, 3), 60, marks=pytest.mark.slow),
        (named((2, 2), (2, 2), (5, 1, 1, 1)), (2, 2, 4), 35),
        (named((3,), (1, 1, 1), (3, 3)), (2, 3, 3), 40),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_base_changes_of_a_formula_fill_the_module(family, sizes, dimension):
    assert family.dimension(sizes) == dimension
    rng, count = random.Random(2), dimension + 3
    points = [anywhere(rng, sizes) for _ in range(count)]
    values = []
    for _ in range(count):
        seed = rng.random()
        values.append([family.formula(base_change(random.Random(seed), point)) for point in points])
    p = 2**61 - 1
    assert flint.nmod_mat([[x % p for x in row] for row in values], p).rank() == dimension


def unnamed(degree, largest):
    """The modules of minimal generators of all layers with a ≤ largest that have no name."""
    for shape in shapes(degree, degree, 2 * degree):
        for a in range(1, largest + 1):
            if component(shape).ring and component(shape).minimal_generators(a):
                assert component(shape).minimal_generators(a) == 1
                if not name_of(shape, SingleLayer(2 * degree, degree, a)):
                    yield shape


# Beyond a = n the ideal to degree n is the same for all a.
@pytest.mark.parametrize("degree", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_every_minimal_generator_has_a_name(degree):
    assert list(unnamed(degree, degree)) == []


def test_families_fill_all_modules_of_an_ideal():
    compared = compare(compute_ideal(SingleLayer(2, 3, 1), 4))
    assert (compared.spans, compared.unnamed) == ((), ())
    filled = {row.family: sum(module.spanned for module in row.modules) for row in compared.named}
    assert filled == {
        "minors of the forms": 15, "three forms of a column": 4, "resultants of a row": 0,
        "resultants of a column": 30, "minors of the flattening with rows b": 36,
    }  # fmt: skip
    assert "resultants of a row, 15: in the ideal of lower degrees" in str(compared)


def test_a_family_that_is_missing_is_told(monkeypatch):
    from agattn.geometry.ideal import invariants

    few = [family for family in FAMILIES if family.name != "rank of a form"]
    monkeypatch.setattr(invariants, "named_families", lambda: few)
    compared = compare(compute_ideal(SingleLayer(3, 2), 3))
    assert [str(module) for module in compared.unnamed] == ["S(3)⊗S(3)⊗S(2,2,2)"]
    assert "in no family: S(3)⊗S(3)⊗S(2,2,2)" in str(compared)


@pytest.mark.slow
def test_the_command_names_the_quintics():
    found = document("ideal", "-d", "3", "-o", "2", "-a", "2", "--max-degree", "5", "--invariants")
    assert all(module["name"] for module in found["generators"]) and len(found["generators"]) == 10
    quintics = {row["family"]: row["equations"] for row in found["named_families"][-4:-1]}
    numbers = {"vertex of a form": 288, "Jacobian and vertex": 4032, "Jacobian and transvectant": 450}
    assert quintics == numbers
    assert all(
        sum(module["spanned"] for module in row["modules"]) == row["equations"]
        for row in found["named_families"][:-1]
    )


def test_which_families_vanish_at_a_point(tmp_path):
    layer = SingleLayer(3, 2, 2)
    A, V = [[1, 2, 3], [0, 1, 1], [1, 3, 4]], [[1, 0, 2], [3, 1, 1]]
    y = [int(x) for x in coefficients(layer, A, V)]
    inside, other = ({row.family: row.vanishes for row in ag.invariants(layer, 3, coefficients=t).named}
                     for t in (y, [y[0] + 1, *y[1:]]))  # fmt: skip
    assert set(inside.values()) == {True}
    assert set(other.values()) == {False}
    # Of rank three: only the flattening tells this from a point of M̄(3,2,2).
    A[2][2] = 5
    y = [int(x) for x in coefficients(layer, A, V)]
    rows = ag.invariants(layer, 3, coefficients=y).named
    assert [row.family for row in rows if not row.vanishes] == ["minors of the flattening with rows b"]
    path = tmp_path / "y.json"
    path.write_text(json.dumps(["1/2", *y[1:]]))
    arguments = "ideal", "-d", "3", "-o", "2", "-a", "2", "--max-degree", "2", "--coefficients", str(path)
    assert "2; does not vanish at y" not in call(*arguments, "--invariants").out
    assert "S(1,1)⊗S(1,1)⊗S(4); does not vanish at y" in call(*arguments, "--invariants").out


def test_the_families_of_the_literature_at_a_point():
    layer = SingleLayer(2, 1)
    for y, vanish in ([5, 22, 21, 10, 34, 28], True), ([1, 0, 0, 0, 0, 1], False):
        compared = ag.invariants(layer, coefficients=y)
        assert [row.vanishes for row in compared.spans] == [vanish] * 4
        assert [row.vanishes for row in compared.named] == [vanish]
