r"""Sections of M̄ by an affine space of dimension three, to be drawn.

A slice is an affine map s ↦ origin + x·direction_1 + y·direction_2 + w·direction_3 into ℝ^N. Where the pulled
back equations of M̄ have a common factor, the section contains a surface.

>>> from agattn import SingleLayer
>>> layer = SingleLayer(2, 1)
>>> surface = resultant_section(layer, standard_slice(layer))
>>> print(surface.equation, "singular along", *surface.singular)
x^2*w + y^2 singular along x y
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Annotated, Any

import flint
import numpy as np

from agattn.algebra.echelon import fraction, kernel_basis, rational_matrix, rational_rank
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.variety.coordinates import Coordinate, coordinates
from agattn.sheet.data import Math, Sheet, Table
from agattn.sheet.result import Described, Key, Meta, Result, Written

Vector = tuple[Fraction, ...]
_THREE = Meta(min_length=3, max_length=3)


class Slice(Result):
    """An injective affine map from ℝ³ to the ambient space ℝ^N.

    The origin and the directions are N rationals each, in the order of the coordinates y_{c,b,i,k}.

    Raises:
        InputError: if the directions are linearly dependent, or the names are not three different letters.
    """

    origin: Key[Vector, "The image of (0, 0, 0)."]
    directions: Key[
        tuple[Vector, Vector, Vector],
        "The images of the unit vectors, less the origin.",
        Written(Annotated[list[list[str]], _THREE]),
    ]
    names: Key[
        tuple[str, str, str],
        "The names of the three coordinates.",
        Written(Annotated[list[str], _THREE]),
    ] = ("x", "y", "w")

    def __post_init__(self) -> None:
        if rational_rank(self.directions) < 3:
            raise InputError(
                "the three directions of the slice are linearly dependent; give independent ones"
            )
        usable = all(isinstance(n, str) and len(n) == 1 and n.isascii() and n.islower() for n in self.names)
        if not usable or len(set(self.names)) != 3:
            raise InputError(f"the slice's names are {self.names}; give three different small letters")

    def ring(self, characteristic: int = 0) -> PolynomialRing:
        """The polynomial ring in the three coordinates."""
        return PolynomialRing([Variable(name) for name in self.names], characteristic)

    def images(self) -> list[Polynomial]:
        """The coordinates y_{c,b,i,k} as affine-linear polynomials in the three coordinates."""
        ring = self.ring()
        return self._combination(ring.gens, ring.one())

    def point(self, s: Sequence[Fraction | int]) -> list[Fraction]:
        """The point of ℝ^N with these three coordinates."""
        return self._combination(list(map(Fraction, s)), Fraction(1))

    def _combination(self, s: Sequence[Any], one: Any) -> list[Any]:
        vectors = np.array([self.origin, *self.directions], dtype=object)
        combined: list[Any] = (np.array([one, *s], dtype=object) @ vectors).tolist()
        return combined


def standard_slice(layer: SingleLayer) -> Slice:
    """The slice y_{1,1} = u² + w v², y_{1,2} = x uv + y v² with u = u_1, v = u_2; other coordinates are 0.

    For (2, 1, 2) the section of M̄ is HMK's Figure 1. For every layer with d, a ≥ 2 the section is the same
    surface, and the same points of the surface are in M, because the slice lies in a block
    (:func:`block_of`).

    Raises:
        InputError: if d = 1 or t = 1, where there are no such coordinates.

    See Also:
        :func:`resultant_section`, which cuts M̄.

    >>> standard_slice(SingleLayer(2, 1)).point((1, 2, 3))
    [Fraction(1, 1), Fraction(0, 1), Fraction(3, 1), Fraction(0, 1), Fraction(1, 1), Fraction(2, 1)]
    """
    if layer.d < 2 or not layer.has_orbits:
        raise InputError(f"{layer.name} has no standard slice, which needs d ≥ 2 and t ≥ 2")
    index = coordinates(layer)

    def unit(*place: int) -> Vector:
        return tuple(Fraction(c == place) for c in index)

    return Slice(unit(1, 1, 1, 1), (unit(1, 2, 1, 2), unit(1, 2, 2, 2), unit(1, 1, 2, 2)))


@dataclass(frozen=True, repr=False)
class SurfaceSection(Described):
    """A surface in a slice: its squarefree equation, primitive over ℤ, and those of its singular points."""

    slice: Slice
    equation: Polynomial
    singular: tuple[Polynomial, ...]

    def summary(self) -> str:
        """The equations of the surface and of its singular points."""
        return f"surface {self.equation} = 0, singular where {' = '.join(map(str, self.singular))} = 0"

    def sheet(self) -> Sheet:
        """The same equations."""
        singular = " = ".join(f.latex() for f in self.singular)
        rows = (
            ("surface", Math(f"{self.equation.latex()} = 0")),
            ("singular points", Math(f"{singular} = 0")),
        )
        return Sheet(self.summary(), (Table("A surface in a slice", (), rows),))

    def line(self) -> tuple[Vector, Vector] | None:
        """A point and a direction of the singular locus, if it is a line: two affine-linear equations."""
        linear = [f for f in self.singular if f.degree() == 1]
        if len(linear) != 2 or len(self.singular) != 2:
            return None
        rows = [[f.terms.get(e, 0) for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0))] for f in linear]
        # The kernel of the matrix of both in homogeneous coordinates: a point in it and one at infinity.
        kernel = [[fraction(x) for x in v] for v in kernel_basis(rational_matrix(rows, 4))]
        if len(kernel) != 2 or not kernel[1][3]:
            return None
        direction, point = kernel
        return tuple(point[:3]), tuple(direction[:3])


def block_of(layer: SingleLayer, slice_: Slice) -> tuple[Coordinate, ...] | None:
    r"""A block in which a slice lies, or ``None`` where there is none; then d, a ≥ 2 and t ≥ 2.

    A block is the six coordinates y_{c,b,·} and y_{c,b',·} of one row, two columns and two variables u_i and
    u_k, in the order of the coordinates of (2, 1, 2). Let W be the space where all other coordinates are 0,
    and α = min(a, d) ≥ 2. Then M̄(d, d', a) ∩ W = M̄(2, 1, 2) and M(d, d', a) ∩ W = M(2, 1, 2) in a block.

    *Proof.* M̄ is the image of the parametrization over ℂ, and M that over ℝ; the argument is the same over
    both. ⊇: fill V_c, A_b, A_{b'} in two variables up with zeros, and take every other row of V and column of
    A as 0; the rank of A is at most 2 ≤ a. ⊆: let y ≠ 0 be in W, with y_{c,b} = V_c·A_b, say. Some product
    V_c·A_{b_1}, b_1 in {b, b'}, is not 0. The degree in a variable u_j is additive under products, so that
    V_c and A_{b_1}, whose product is free of every u_j except u_i and u_k, are free of it too. For any other
    column b_2 either A_{b_2} = 0, or the same holds for V_c·A_{b_2}; and A_{b_2} = 0 for b_2 outside {b, b'},
    since V_c ≠ 0 and W asks for V_c·A_{b_2} = 0. So V_c, A_b, A_{b'} are linear forms in u_i and u_k: a point
    of M(2, 1, 2), where the 2 × 2 matrix A has rank at most 2 anyway. ∎

    >>> layer = SingleLayer(4, 3, 2)
    >>> block_of(layer, standard_slice(layer))
    ((1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 2, 2), (1, 2, 1, 1), (1, 2, 1, 2), (1, 2, 2, 2))
    """
    if layer.alpha < 2 or not layer.has_orbits:
        return None
    vectors = (slice_.origin, *slice_.directions)
    support = [name for n, name in enumerate(coordinates(layer)) if any(v[n] for v in vectors)]
    rows = {c for c, *_ in support}
    columns, variables = {b for _, b, *_ in support}, {j for _, _, *pair in support for j in pair}
    if len(rows) > 1 or len(columns) > 2 or len(variables) > 2:
        return None
    # Where fewer take part, the smallest others do.
    two_columns, (i, k) = (sorted([*s, *sorted({1, 2} - s)][:2]) for s in (columns, variables))
    c = min(rows, default=1)
    return tuple((c, b, *pair) for b in two_columns for pair in ((i, i), (i, k), (k, k)))


def resultant_section(layer: SingleLayer, slice_: Slice) -> SurfaceSection:
    """The section by a slice that lies in a block (:func:`block_of`), computed without an engine; d, a ≥ 2.

    In the block M̄ is the quartic hypersurface M̄(2, 1, 2): the binary quadrics y_{c,b} and y_{c,b'} have a
    common factor V_c. So the equation is their Sylvester resultant. The polynomials given for the singular
    points have the right zeros, but need not generate a radical ideal.

    Raises:
        InputError: if the slice lies in no block, or the section is no surface.

    See Also:
        :func:`standard_slice`, :func:`surface`.

    >>> layer = SingleLayer(4, 3, 2)
    >>> resultant_section(layer, standard_slice(layer)).equation
    x^2*w + y^2
    """
    resultant = resultant_of(layer, slice_)
    if resultant is None:
        raise InputError(
            f"without an engine only sections by slices in one row, two columns and two variables are known, "
            f"for d, a ≥ 2, and this slice of {layer.name} is different; name an engine"
        )
    return surface(slice_, resultant)


def resultant_of(layer: SingleLayer, slice_: Slice) -> Polynomial | None:
    """The polynomial whose zeros are the section, over ℚ; ``None`` where the slice lies in no block.

    >>> layer = SingleLayer(2, 1)
    >>> resultant_of(layer, standard_slice(layer))
    x^2*w + y^2
    """
    block = block_of(layer, slice_)
    if block is None:
        return None
    at = dict(zip(coordinates(layer), slice_.images(), strict=True))
    p, q, r, s, t, u = (at[name] for name in block)
    return (p * u - r * s) ** 2 - (p * t - q * s) * (q * u - r * t)


def surface(slice_: Slice, equation: Polynomial) -> SurfaceSection:
    """The surface with an equation, which is made squarefree, and the equations of its singular points.

    Args:
        slice_: the slice in which the surface lies.
        equation: a polynomial over ℚ in the ring of the slice.

    Raises:
        InputError: if the equation is a constant.

    See Also:
        :func:`resultant_section`, which finds the equation.

    >>> slice_ = standard_slice(SingleLayer(2, 1))
    >>> x, y, w = slice_.ring().gens
    >>> surface(slice_, x**2).equation
    x
    """
    if not equation:
        raise InputError("the whole slice lies in the Zariski closure of M; choose one that does not")
    if equation.degree() < 1:
        raise InputError(
            "the section is no surface: its equations have no common factor; choose another slice"
        )
    equation = _squarefree(equation)
    partials = [equation.derivative(gen) for gen in equation.ring.gens]
    return SurfaceSection(slice_, equation, simplified([equation, *partials]))


def simplified(polynomials: Iterable[Polynomial]) -> tuple[Polynomial, ...]:
    """Simpler polynomials with the same common zeros.

    Each polynomial is made squarefree and reduced by the simpler ones, whose leading terms are divided away.

    Args:
        polynomials: of one ring over ℚ.

    >>> x, y = PolynomialRing([Variable("x"), Variable("y")]).gens
    >>> simplified([x**3 * y, x**2, x * x + y * y])
    (x, y)
    """
    simpler = {_squarefree(f) for f in polynomials if f}
    while True:
        kept: list[Polynomial] = []
        for f in sorted(simpler, key=lambda f: (f.degree(), len(f), str(f))):
            if rest := _remainder(f, kept):
                kept.append(_squarefree(rest))
        if set(kept) == simpler:
            return tuple(sorted(kept, key=lambda f: (f.degree(), [-e for e in max(f.terms)], str(f))))
        simpler = set(kept)


def _remainder(f: Polynomial, divisors: Sequence[Polynomial]) -> Polynomial:
    """What is left of f, up to a factor, when leading terms are divided away; all are primitive over ℤ."""
    names = tuple(variable.name for variable in f.ring.variables)
    context = flint.fmpz_mpoly_ctx.get(names, ordering=flint.Ordering.degrevlex)
    over_z: list[Any] = [context.from_dict({e: int(c) for e, c in g.terms.items()}) for g in (f, *divisors)]
    rest = over_z[0].reduction_primitive_part(flint.fmpz_mpoly_vec(over_z[1:], context))
    return f.ring.from_terms({e: int(c) for e, c in rest.to_dict().items()})


def _squarefree(f: Polynomial) -> Polynomial:
    _, factors = f._poly.factor_squarefree()
    product = reduce(lambda a, b: a * b, (factor for factor, _ in factors), f.ring.one()._poly)
    return Polynomial(f.ring, product).primitive()
