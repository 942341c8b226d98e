r"""Families of equations of M̄ that have a name, each written as one formula for every d and d', t ≥ 2.

A family is an irreducible module S_λ ⊗ S_μ ⊗ S_ν of GL(d') × GL(d) × GL(d), spanned by all base changes of
its highest weight vector. The vector is a formula in the symmetric matrices M_{c,b} of second derivatives of
the forms y_{c,b} = V_c·A_b, entries ∂²y_{c,b}/∂u_i ∂u_k. The formula uses the first rows c, the first columns
b, and the first directions i: those of a point p, a line through p and q, and so on, for base changes of
points of the projective space where the forms live. :func:`named_families` lists them.

The quintics use, on a plane of points,

- the vertex v of the pair of lines y_{1,1} = 0, where V_1 = A_1 = 0: adj(M_{1,1}) = −v vᵀ;
- the points α, where A_1 = A_2 = 0, and ν, where V_1 = V_2 = 0, and the line G through α and ν;
- T, the Jacobian determinant of y_{1,1}, y_{1,2}, y_{2,1}: a cubic, the line G and the pair y_{1,1} = 0;
- D, the determinant of the same forms restricted to a line: a cubic in lines, those through v, α or ν;
- X, the transvectant of y_{1,1}, y_{2,2} minus that of y_{1,2}, y_{2,1} on a line: lines through α or ν.

>>> family = named((4, 1), (4, 1), (4, 3, 3))
>>> equation = family.highest
>>> equation.degree, len(equation.terms), equation.torus_weight
(5, 70, ((4, 1), (4, 1), (4, 3, 3)))

The value at forms in three variables is that of the highest weight vector:

>>> V, A = [(1, 2, 3), (0, 1, 5)], [(2, 0, 1), (1, 1, 4)]
>>> product = [[[[v[i] * a[k] + v[k] * a[i] for k in range(3)] for i in range(3)] for a in A] for v in V]
>>> family.formula(product)
0
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

from agattn.algebra.characters import Partition, module_dimension, module_name
from agattn.algebra.polynomial import PolynomialRing, Variable, all_minors
from agattn.geometry.ideal.equations import Equation

#: A matrix, by its rows, over any ring.
Matrix = Sequence[Sequence[Any]]

#: M_{c,b} by c, then by b, both counted from 0.
Forms = Sequence[Sequence[Matrix]]

Shape = tuple[Partition, Partition, Partition]


@dataclass(frozen=True)
class NamedFamily:
    """A family of equations: the module spanned by all base changes of one formula.

    Attributes:
        name: a few words.
        says: what the equations say about the forms y_{c,b}.
        shapes: λ, μ, ν.
        formula: the highest weight vector, as a function of the matrices M_{c,b} of second derivatives, with
            entries in any commutative ring; of these it needs ℓ(λ) × ℓ(μ), of size ℓ(ν).
    """

    name: str
    says: str
    shapes: Shape
    formula: Callable[[Forms], Any]

    @property
    def degree(self) -> int:
        """The degree of the equations."""
        return sum(self.shapes[0])

    def fits(self, sizes: Sequence[int]) -> bool:
        """Whether the module is not 0 for factors of the group of these sizes."""
        return all(len(part) <= size for part, size in zip(self.shapes, sizes, strict=True))

    def dimension(self, sizes: Sequence[int]) -> int:
        """The number of independent equations for factors of the group of these sizes.

        >>> named((4, 1), (4, 1), (6, 3, 1)).dimension((2, 3, 3))
        4032
        """
        return module_dimension(self.shapes, sizes)

    @cached_property
    def highest(self) -> Equation:
        """The highest weight vector as an equation with coprime integer coefficients, written out."""
        rows, columns, size = sizes = tuple(map(len, self.shapes))
        places = list(combinations_with_replacement(range(1, size + 1), 2))
        indices = [
            (c, b, *place) for c, b in product(range(1, rows + 1), range(1, columns + 1)) for place in places
        ]
        y = dict(zip(indices, PolynomialRing([Variable("y", index) for index in indices]).gens, strict=True))
        return Equation.from_polynomial(self.formula(second_derivatives(y, sizes)))

    def vanishes_at(self, forms: Forms) -> bool:
        """Whether all equations of the family vanish at d' × d matrices M_{c,b}, d × d, of whole numbers.

        The formula at a few base changes may show that they do not. Else the formula is expanded at a base
        change by triangular matrices of variables, under which a highest weight vector spans its module.

        >>> forms = [[[[2, 0], [0, 0]], [[0, 0], [0, 2]]]]                      # u_1², u_2²
        >>> named((4,), (2, 2), (4, 4)).vanishes_at(forms), named((1, 1), (1, 1), (4,)).vanishes_at(forms)
        (False, True)
        """
        sizes = len(forms), len(forms[0]), len(forms[0][0])
        if not self.fits(sizes):
            return True
        lengths, rng = list(map(len, self.shapes)), random.Random(0)
        for _ in range(3):
            frames = [
                [[rng.randint(-3, 3) for _ in range(n)] for _ in range(m)]
                for m, n in zip(lengths, sizes, strict=True)
            ]
            if self.formula(_changed(forms, *frames)):
                return False
        places = [(f, i, k) for f in range(3) for i in range(lengths[f]) for k in range(i + 1, sizes[f])]
        ring = PolynomialRing([Variable("g", place) for place in places])
        entries = dict(zip(places, ring.gens, strict=True))
        triangular = [
            [
                [ring.one() * (i == k) + entries.get((f, i, k), 0) for k in range(sizes[f])]
                for i in range(lengths[f])
            ]
            for f in range(3)
        ]
        return not self.formula(_changed(forms, *triangular))

    def transposed(self, name: str, says: str) -> NamedFamily:
        """The family with the roles of rows and columns exchanged."""
        lam, mu, nu = self.shapes
        return NamedFamily(name, says, (mu, lam, nu), lambda y: self.formula(list(zip(*y, strict=True))))

    def __str__(self) -> str:
        return f"{self.name}: {module_name(self.shapes)}"


def second_derivatives(y: Mapping[Any, Any], sizes: Sequence[int]) -> Forms:
    """The matrices M_{c,b}, by c and b, of d' × d forms in d variables, from their coordinates.

    >>> second_derivatives({(1, 1, 1, 1): 5, (1, 1, 1, 2): 6, (1, 1, 2, 2): 7}, (1, 1, 2))
    [[[[10, 6], [6, 14]]]]
    """
    rows, columns, among = (range(1, size + 1) for size in sizes)

    def entry(c: int, b: int, i: int, k: int) -> Any:
        return y[c, b, min(i, k), max(i, k)] * (1 + (i == k))

    return [[[[entry(c, b, i, k) for k in among] for i in among] for b in columns] for c in rows]


def _changed(forms: Forms, rows: Matrix, columns: Matrix, points: Matrix) -> Forms:
    """The forms Σ h_c q_b y_{c,b} for the given h and q, in the basis of the given points."""

    def combined(h: Sequence[Any], q: Sequence[Any]) -> Matrix:
        among = range(len(points[0]))
        weighted = [(x * z, forms[c][b]) for c, x in enumerate(h) for b, z in enumerate(q)]
        total = [[_sum(x * form[i][k] for x, form in weighted) for k in among] for i in among]
        return _times(_times(points, total), list(zip(*points, strict=True)))

    return [[combined(h, q) for q in columns] for h in rows]


# Forms in one and two variables ---------------------------------------------------------------------------


def _determinant(rows: Sequence[Sequence[Any]]) -> Any:
    [value] = all_minors(rows, len(rows))
    return value


def _sum(terms: Iterable[Any]) -> Any:
    first, *others = terms
    return sum(others, start=first)


def _trace(matrix: Matrix) -> Any:
    return _sum(matrix[i][i] for i in range(len(matrix)))


def _times(first: Matrix, second: Matrix) -> Matrix:
    columns = list(zip(*second, strict=True))
    return [[_sum(x * z for x, z in zip(row, column, strict=True)) for column in columns] for row in first]


def _binary(matrix: Matrix) -> list[Any]:
    """The form on the line of p and q: twice the coefficients of s², st and t² at sp + tq."""
    return [matrix[0][0], 2 * matrix[0][1], matrix[1][1]]


def _transvectant(first: Sequence[Any], second: Sequence[Any]) -> Any:
    """4 (f_0 g_2 + f_2 g_0) − 2 f_1 g_1 of binary quadratic forms, up to the scale of :func:`_binary`."""
    return 2 * (first[0] * second[2] + first[2] * second[0]) - first[1] * second[1]


def _minor_of_forms(y: Forms) -> Any:
    return _determinant([[form[0][0] for form in row[:2]] for row in y[:2]])


def _slice(y: Forms) -> Any:
    return _determinant([row[:3] for row in y[0][0][:3]])


def _dependent(y: Forms) -> Any:
    return _determinant([_binary(form) for form in y[0][:3]])


def _resultant(y: Forms) -> Any:
    f, g = (_binary(form) for form in y[0][:2])
    ends = f[0] * g[2] - f[2] * g[0]
    return ends * ends - (f[0] * g[1] - f[1] * g[0]) * (f[1] * g[2] - f[2] * g[1])


# Partial derivatives: each row of M_{c,b} is one -----------------------------------------------------------


def _partials(y: Forms, size: int, *places: tuple[int, int, int]) -> Any:
    """The determinant of the derivatives of the forms (c, b) in the directions i, all counted from 0."""
    return _determinant([y[c][b][i][:size] for c, b, i in places])


def _two_forms(y: Forms) -> Any:
    return _partials(y, 4, (0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1))


def _jacobian(y: Forms) -> Any:
    return _partials(y, 4, (0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0))


def _five_partials(y: Forms) -> Any:
    return (
        _partials(y, 5, (0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 0))
        - _partials(y, 5, (0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0))
        + _partials(y, 5, (0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1))
    )


def _five_partials_in_three_directions(y: Forms) -> Any:
    p, q, r = range(3)

    def at(*directions: int, forms: tuple[int, ...] = (11, 11, 12, 21, 22)) -> Any:
        places = [(form // 10 - 1, form % 10 - 1, i) for form, i in zip(forms, directions, strict=True)]
        return _partials(y, 5, *places)

    once = (11, 12, 12, 21, 21)
    return (
        4 * (at(p, q, p, p, r) - at(p, r, p, p, q))
        - (at(p, q, p, r, p) - at(p, r, p, q, p))
        - (at(p, q, r, p, p) - at(p, r, q, p, p))
        + 2 * at(q, r, p, p, p)
        + 5 * (at(p, p, q, p, r, forms=once) - at(p, p, r, p, q, forms=once))
    )


def _pencil(first: Matrix, then: Matrix, third: Matrix, fourth: Matrix) -> list[Any]:
    """det(∂_p f, ∂_q f', ∂_x g, ∂_x h) − det(∂_q f, ∂_p f', ∂_x g, ∂_x h), x = sp + tq, for four forms.

    It is a quadratic form on the line of p and q: the coefficients of s², st and t².
    """

    def at(s: int, t: int) -> Any:
        last = third[s][:4], fourth[t][:4]
        return _determinant([first[0][:4], then[1][:4], *last]) - _determinant(
            [first[1][:4], then[0][:4], *last]
        )

    return [at(0, 0), at(0, 1) + at(1, 0), at(1, 1)]


def _multiple(y: Forms) -> Any:
    (m, right), (below, *_) = y[0][:2], y[1]
    w, f = _pencil(m, m, right, below), _binary(m)
    return f[0] * w[1] - f[1] * w[0]


def _apolar(y: Forms) -> Any:
    (m, right), (below, corner) = y[0][:2], y[1][:2]
    w, f, g = _pencil(m, m, right, below), _binary(m), _binary(right)
    # Column 1 becomes column 2 in one place after the other of w; in y_{1,2} there is no column 1.
    changed = zip(_pencil(m, right, right, below), _pencil(m, m, right, corner), strict=True)
    lowered = [2 * x + z for x, z in changed]
    return 2 * _transvectant(w, g) - _transvectant(lowered, f)


# Bivectors: the lines of a projective space -----------------------------------------------------------------


def _on_lines(matrices: Sequence[Matrix], lines: Sequence[Sequence[int]]) -> Any:
    """The sum over all orders of lines of tr(M ℓ M' ℓ' ...), where ℓ = e_a e_bᵀ − e_b e_aᵀ for a line (a, b).

    On one line it is, up to a factor, the transvectant of two forms and the determinant of three.
    """

    def trace(order: Sequence[Sequence[int]]) -> Any:
        # M ℓ has two columns that are not 0, and the next factor meets only the rows of these places.
        before = (order[-1], *order[:-1])
        factors = [
            [[-m[i][b], m[i][a]] for i in rows]
            for m, rows, (a, b) in zip(matrices, before, order, strict=True)
        ]
        return _trace(reduce(_times, factors))

    return _sum(count * trace(order) for order, count in Counter(permutations(lines)).items())


def _on_points(matrices: Sequence[Matrix], points: Sequence[int], plane: Sequence[int] = (0, 1, 2)) -> Any:
    """The sum over all orders of points of det(M p, M' p', M'' p'') in three directions: the Jacobian."""
    return _sum(
        _determinant([[m[p][i] for i in plane] for m, p in zip(matrices, order, strict=True)])
        for order in permutations(points)
    )


#: The lines of a plane of points where one coordinate is 0, by this coordinate.
_SIDES = (1, 2), (2, 0), (0, 1)


def _corner(y: Forms, size: int) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """M_{1,1}, M_{1,2}, M_{2,1} and M_{2,2} in the first directions; the last may be empty."""
    below = [*y[1], []]
    m, right, left, corner = ([row[:size] for row in form[:size]] for form in (*y[0][:2], *below[:2]))
    return m, right, left, corner


def _adjugate(m: Matrix) -> Matrix:
    def cofactor(i: int, k: int) -> Any:
        (a, b), (c, d) = ((i + 1) % 3, (i + 2) % 3), ((k + 1) % 3, (k + 2) % 3)
        return m[a][c] * m[b][d] - m[a][d] * m[b][c]

    return [[cofactor(k, i) for k in range(3)] for i in range(3)]


def _vertex(y: Forms) -> Any:
    m, right, below, _ = _corner(y, 3)
    n = _times(_times(right, _adjugate(m)), below)
    axis = [[n[1][2] - n[2][1]], [n[2][0] - n[0][2]], [n[0][1] - n[1][0]]]
    return _times(m[:1], axis)[0][0]


def _polar_line(y: Forms) -> Any:
    m, right, below, _ = _corner(y, 3)
    # D at the line of p and q twice and at the polar line of p, which has the coordinates m[0].
    polar = _sum(m[0][k] * _on_lines((m, right, below), (_SIDES[2], _SIDES[2], _SIDES[k])) for k in range(3))
    return 8 * _determinant([m[0], right[0], below[0]]) * _adjugate(m)[2][2] + m[0][0] * polar


def _transvectants(m: Matrix, right: Matrix, below: Matrix, corner: Matrix) -> Callable[..., Any]:
    return lambda *lines: _on_lines((m, corner), lines) - _on_lines((right, below), lines)


def _contractions(y: Forms) -> Any:
    forms = _corner(y, 3)
    x, three = _transvectants(*forms), forms[:3]
    _, second, third = _SIDES  # the lines through p are those of the pencil of these two
    contracted = _sum(x(third, side) * _on_points(three, (k, 0, 0)) for k, side in enumerate(_SIDES))
    paired = (
        x(second, second) * _on_lines(three, (third, third, third))
        + x(third, third) * _on_lines(three, (second, second, third))
        - 2 * x(second, third) * _on_lines(three, (second, third, third))
    )
    return 4 * contracted + paired


def _contractions_in_space(y: Forms) -> Any:
    """Sums over the orders of the columns of (4, 3, 2, 1), each once where they are antisymmetric anyway."""
    forms = _corner(y, 4)
    x, three, found = _transvectants(*forms), forms[:3], []
    for i, k in combinations(range(4), 2):
        others = sorted({0, 1, 2, 3} - {i, k})
        for last in (1, 2):
            # The sign of the orders (i, k, others) of four and (rest, last) of three.
            sign = (-1) ** (i + k + last + 1)
            rest = sorted({0, 1, 2} - {last})
            found.append(
                -5 * sign * x(tuple(others), (last, 0)) * _on_lines(three, ((i, k), tuple(rest), (0, 1)))
            )
    for i, last, side in product(range(4), range(3), range(2)):
        sign = (-1) ** (3 - i + 2 - last + side)
        rest = sorted({0, 1, 2} - {last})
        plane = sorted({0, 1, 2, 3} - {i})
        found.append(3 * sign * x(tuple(rest), (i, side)) * _on_points(three, (last, 1 - side, 0), plane))
    return _sum(found)


# The list --------------------------------------------------------------------------------------------------


@cache
def named_families() -> tuple[NamedFamily, ...]:
    """All families, in the order of their degrees.

    They are the minimal generators of degree at most 5 of all layers with t ≥ 2, but for the minors of size
    α + 1 of the flattening with rows b.

    >>> [family.name for family in named_families() if family.degree == 3]
    ['rank of a form', 'three forms of a row', 'three forms of a column']
    """
    return *_to_degree_4(), *_quintics(), *_minors_of_degree_5()


def _to_degree_4() -> tuple[NamedFamily, ...]:
    dependent = NamedFamily(
        "three forms of a row",
        "3×3 minors: on any two-dimensional subspace the forms of one row are dependent",
        ((3,), (1, 1, 1), (3, 3)),
        _dependent,
    )
    resultant = NamedFamily(
        "resultants of a row",
        "resultants of two forms of one row, on any two-dimensional subspace",
        ((4,), (2, 2), (4, 4)),
        _resultant,
    )
    two_forms = NamedFamily(
        "derivatives of two forms of a row",
        "4×4 minors: the partial derivatives of two forms of one row span at most three dimensions",
        ((4,), (2, 2), (3, 3, 1, 1)),
        _two_forms,
    )
    return (
        NamedFamily(
            "minors of the forms",
            "2×2 minors of the matrix of quadratic forms y_(c,b) = V_c·A_b",
            ((1, 1), (1, 1), (4,)),
            _minor_of_forms,
        ),
        NamedFamily(
            "rank of a form",
            "3×3 minors of the slices: every form y_(c,b) has rank at most 2",
            ((3,), (3,), (2, 2, 2)),
            _slice,
        ),
        dependent,
        dependent.transposed("three forms of a column", dependent.says.replace("row", "column")),
        resultant,
        resultant.transposed("resultants of a column", resultant.says.replace("row", "column")),
        two_forms,
        two_forms.transposed("derivatives of two forms of a column", two_forms.says.replace("row", "column")),
        NamedFamily(
            "Jacobian of four forms",
            "4×4 minors: at any point the derivatives of four forms in two rows and columns are dependent",
            ((2, 2), (2, 2), (5, 1, 1, 1)),
            _jacobian,
        ),
    )


def _quintics() -> tuple[NamedFamily, ...]:
    line, plane = "on any two-dimensional subspace", "on any three-dimensional subspace"
    three = "the Jacobian of y_(1,1), y_(1,2), y_(2,1)"
    apolar = NamedFamily(
        "derivatives apolar to a row",
        f"{line}: the determinants W of derivatives are apolar to a row: 2 (W_1, y_(1,2)) = (W_2, y_(1,1))",
        ((4, 1), (3, 2), (4, 4, 1, 1)),
        _apolar,
    )
    return (
        NamedFamily(
            "vertex of a form",
            f"{plane}: M_(1,1) w = 0, w the skew part of M_(1,2) adj(M_(1,1)) M_(2,1): the vertex of y_(1,1)",
            ((4, 1), (4, 1), (4, 3, 3)),
            _vertex,
        ),
        NamedFamily(
            "Jacobian and vertex",
            f"{plane}: {three} times adj M_(1,1) is y_(1,1) times a polar of D",
            ((4, 1), (4, 1), (6, 3, 1)),
            _polar_line,
        ),
        NamedFamily(
            "Jacobian and transvectant",
            f"{plane}: the transvectant X contracts with {three} as with D",
            ((3, 2), (3, 2), (5, 3, 2)),
            _contractions,
        ),
        NamedFamily(
            "Jacobian and transvectant in space",
            f"on any four-dimensional subspace: the transvectant X contracts with {three} as with D",
            ((3, 2), (3, 2), (4, 3, 2, 1)),
            _contractions_in_space,
        ),
        NamedFamily(
            "derivatives on a line",
            f"{line}: det(∂_p y_(1,1), ∂_q y_(1,1), ∂ y_(1,2), ∂ y_(2,1)) is a multiple of y_(1,1)",
            ((4, 1), (4, 1), (5, 3, 1, 1)),
            _multiple,
        ),
        apolar,
        apolar.transposed(
            "derivatives apolar to a column",
            f"{line}: the determinants W of derivatives are apolar to a column: "
            "2 (W_1, y_(2,1)) = (W_2, y_(1,1))",
        ),
    )


def _minors_of_degree_5() -> tuple[NamedFamily, ...]:
    says = (
        "5×5 minors: the partial derivatives of four forms in two rows and columns span at most four "
        "dimensions"
    )
    return (
        NamedFamily(
            "derivatives of four forms, two directions",
            says,
            ((3, 2), (3, 2), (4, 3, 1, 1, 1)),
            _five_partials,
        ),
        NamedFamily(
            "derivatives of four forms, three directions",
            says,
            ((3, 2), (3, 2), (4, 2, 2, 1, 1)),
            _five_partials_in_three_directions,
        ),
    )


def named(*shapes: Partition) -> NamedFamily | None:
    """The family that is a module, or ``None``.

    >>> print(named((2, 2), (4,), (4, 4)))
    resultants of a column: S(2,2)⊗S(4)⊗S(4,4)
    """
    return _by_shapes().get(shapes)


@cache
def _by_shapes() -> dict[tuple[Partition, ...], NamedFamily]:
    return {family.shapes: family for family in named_families()}
