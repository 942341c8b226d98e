r"""The closures of the strata: their equations, by the machine that finds those of M̄, and their degrees.

Let t ≥ 2. The closure of the stratum (r_V, r_A, r) is the set of all φ_{A,V} with rk V ≤ r_V, rk A ≤ r_A and
rk [V; Aᵀ] ≤ r. It is the image of a smaller map. Choose r linear forms p_1, ..., p_r; let the rows of V be
combinations of the first r_V forms, and the columns of A of the last r_A forms:

    y_{c,b} = (Σ_{i ≤ r_V} G_{c,i} p_i) · (Σ_{j ≤ r_A} Q_{j,b} p_{r − r_A + j}).

**All layers at once.** GL(d') × GL(d) × GL(d) acts, so that the ideal is a sum of modules S_λE ⊗ S_μF ⊗ S_νU.
The coordinate ring has none with ℓ(λ) > r_V, ℓ(μ) > r_A or ℓ(ν) > r. A product with a coordinate adds one box
to λ and to μ. A module with ℓ(ν) ≥ r + 2 lies in the ideal of the minors of size r + 2 of the flattening with
rows i, which the minors of size r + 1 generate. So minimal generators have ℓ(λ) ≤ r_V + 1, ℓ(μ) ≤ r_A + 1 and
ℓ(ν) ≤ r + 1, and spaces E, F and U of these dimensions show all multiplicities.

>>> closure = compute_stratum_ideal(SingleLayer(3, 2, 2), Stratum(1, 1, 2), max_degree=3)
>>> closure
Ideal of the closure of (1,1,2) in M(3,2,2) to degree 3: 288 quadrics, 40 cubics
>>> closure.dimension, closure.degree
(8, 315)
>>> for module in closure.generators:
...     print(module, module.dimension, module.name)
S(2)⊗S(1,1)⊗S(3,1) 135 2×2 minors of the flattening with rows b: rk A ≤ 1
S(1,1)⊗S(2)⊗S(3,1) 90 2×2 minors of the flattening with rows c: rk V ≤ 1
S(1,1)⊗S(1,1)⊗S(4) 45 2×2 minors of the flattenings with rows c and with rows b: rk V ≤ 1 and rk A ≤ 1
S(1,1)⊗S(1,1)⊗S(2,2) 18 2×2 minors of the flattenings with rows c and with rows b: rk V ≤ 1 and rk A ≤ 1
S(3)⊗S(3)⊗S(2,2,2) 40 3×3 minors of the flattening with rows i: rk [V; Aᵀ] ≤ 2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Any

from agattn.algebra.characters import Partition, module_name, partitions, schur_dimension
from agattn.architectures import PolynomialMap, SingleLayer
from agattn.calls import positive_integer
from agattn.errors import InputError
from agattn.geometry.ideal.equations import Equation, EquationModule, multiples_of, relations
from agattn.geometry.ideal.generators import name_of, new_highest_weight_vectors
from agattn.geometry.ideal.ideal import Ideal, piece_of_modules
from agattn.geometry.ideal.torus_weights import TorusWeight, monomials_of_weight, smallest_layer
from agattn.geometry.ideal.weight_spaces import InvariantImage, modules_of_image
from agattn.geometry.strata.strata import Stratum, image_dimension, require_stratum
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.sheet.result import Key

#: Sums over more partitions than this are left out, and with them the degree.
MOST_PARTITIONS = 100_000


class StratumIdeal(Ideal, kw_only=True, name="ideal", eq=False):
    """The ideal of the closure of a stratum of one layer, up to a degree, by native computation.

    The dimension and the degree are those of the closure.

    Attributes:
        closure: the map whose image it is.
    """

    stratum: Key[Stratum, "The ranks r_V, r_A, r of the stratum whose closure it is."]
    closure: StratumClosure

    @property
    def name(self) -> str:
        """The stratum and the layer."""
        return f"the closure of {self.stratum} in {self.layer.name}"

    @cached_property
    def generators(self) -> tuple[EquationModule, ...]:
        """The modules of minimal generators, each with its highest weight vector over ℤ, proved to vanish."""
        return tuple(
            EquationModule(
                module.shapes, self.layer.gl_sizes, vector, self.closure.name_of(module.shapes, vector)
            )
            for piece in self.degrees
            for module in piece.modules or ()
            if module.minimal_generators
            for vector in self.closure.highest_weight_generators(module.shapes, module.minimal_generators)
        )

    def _heading(self) -> str:
        degree = "" if self.degree is None else f", degree {self.degree}"
        return f"{self.name}: dim {self.dimension} in {self.ambient} coordinates{degree}"


@dataclass(frozen=True, eq=False)
class StratumClosure:
    """The closure of a nonzero stratum of a layer, as the image of a map.

    Raises:
        InputError: if the layer has no such stratum, or the stratum is φ = 0.
    """

    layer: SingleLayer
    stratum: Stratum

    def __post_init__(self) -> None:
        require_stratum(self.layer, self.stratum)
        if self.stratum.is_zero:
            raise InputError(
                f"{self.stratum} is the function 0 alone, whose equations are the coordinates themselves; "
                "name a stratum with r_V, r_A ≥ 1"
            )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Dimensions of E, F and U that show all modules of the coordinate ring and minimal generators."""
        layer, (r_v, r_a, r) = self.layer, self.stratum.as_json()
        return min(layer.d_out, r_v + 1), min(layer.d, r_a + 1), min(layer.d, r + 1)

    @cached_property
    def indices(self) -> tuple[tuple[int, ...], ...]:
        """The coordinates y_{c,b,i,k} in spaces of these :attr:`sizes`, counted from 0."""
        outputs, columns, inner = self.sizes
        pairs = [*combinations_with_replacement(range(inner), 2)]
        return tuple((c, b, i, k) for c, b in product(range(outputs), range(columns)) for i, k in pairs)

    @cached_property
    def source(self) -> CoefficientMap:
        """(P, G, Q) ↦ y, as in the module docstring."""
        outputs, columns, inner = self.sizes
        r_v, r_a, r = self.stratum.as_json()

        def forms(P: Any, G: Any, Q: Any) -> list[Any]:
            V, A = G @ P[:r_v], P[r - r_a :].T @ Q
            return [V[c, i] * A[k, b] + (V[c, k] * A[i, b] if i < k else 0) for c, b, i, k in self.indices]

        return coefficient_map(
            PolynomialMap(forms, {"P": (r, inner), "G": (outputs, r_v), "Q": (r_a, columns)})
        )

    @cached_property
    def _values(self) -> dict[tuple[int, ...], Any]:
        names = (tuple(letter + 1 for letter in index) for index in self.indices)
        return dict(zip(names, self.source.polynomials, strict=True))

    @cached_property
    def equations_of_weight(self) -> Callable[[TorusWeight], list[Equation]]:
        """A basis of all equations of one torus weight, by exact expansion on the map."""
        return cache(self._equations_of_weight)

    def _equations_of_weight(self, weight: TorusWeight) -> list[Equation]:
        kind, images = type(self.layer), []
        monomials = monomials_of_weight(weight, kind.gl_degrees)
        for first, *others in monomials:
            image = prod((self._values[index] for index in others), start=self._values[first])
            images.append(image.integer_terms)
        return [Equation.from_vector(monomials, vector, kind) for vector in relations(images)]

    def highest_weight_generators(self, shapes: tuple[Partition, ...], wanted: int) -> list[Equation]:
        """Highest weight vectors of minimal generators of one module, as many as the multiplicity wanted.

        Raises:
            ArithmeticError: if there are not so many, which would be an error in this program.
        """
        lower = [*multiples_of(self.equations_of_weight, shapes, type(self.layer))]
        vectors = new_highest_weight_vectors(self.equations_of_weight(shapes), lower)
        if len(vectors) != wanted:
            raise ArithmeticError(f"{module_name(shapes)}: {len(vectors)} generators found, and not {wanted}")
        return vectors

    def name_of(self, shapes: tuple[Partition, ...], vector: Equation) -> str:
        """What a module of minimal generators says, by its highest weight vector; empty without a name.

        All modules with more than r_V rows in λ lie in the ideal of the minors of size r_V + 1 of the
        flattening with rows c. So minimal generators with so many rows have degree r_V + 1 and are such
        minors; likewise for μ and ν (docs/layer/equations/closures-proofs.md). Equations that hold for all
        weights of any rank have the name that they have for M̄.
        """
        n, letters = sum(shapes[0]), ("c", "b", "i")
        ranks = ("rk V", "rk A", "rk [V; Aᵀ]")
        bounds = [
            (letter, f"{rank} ≤ {most}")
            for shape, letter, rank, most in zip(shapes, letters, ranks, self.stratum.as_json(), strict=True)
            if len(shape) > most
        ]
        if not bounds:
            everything = type(self.layer)(self.layer.d, self.layer.d_out)
            vanishes = vector.vanishes_on(smallest_layer(shapes, everything))
            return name_of(shapes, everything) if vanishes else ""
        rows = " and ".join(f"with rows {letter}" for letter, _ in bounds)
        flattenings = f"flattening{'s' * (len(bounds) > 1)}"
        return f"{n}×{n} minors of the {flattenings} {rows}: {' and '.join(bound for _, bound in bounds)}"


def compute_stratum_ideal(layer: SingleLayer, stratum: Stratum, max_degree: int) -> StratumIdeal:
    """The ideal of the closure of a stratum up to a degree, with its modules.

    Args:
        layer: a layer with t ≥ 2, of any size.
        stratum: one of its strata with r_V, r_A ≥ 1.
        max_degree: the last degree.

    Raises:
        InputError: if there is no such stratum, or ``max_degree`` is not a positive whole number.
        TooLargeError: beyond the stated limits, or before a step that would take more memory than is allowed.
    """
    closure, max_degree = StratumClosure(layer, stratum), positive_integer("max_degree", max_degree)
    image = InvariantImage(layer, closure.source, closure.indices, closure.sizes)
    degrees = modules_of_image(image, max_degree)
    pieces = [piece_of_modules(layer, *degree, "weight spaces") for degree in degrees]
    return StratumIdeal(
        layer,
        image_dimension(layer, stratum),
        stratum_degree(layer, stratum),
        tuple(pieces),
        stratum=stratum,
        closure=closure,
    )


# --- degrees ---


def stratum_degree(layer: SingleLayer, stratum: Stratum) -> int | None:
    r"""The degree of the closure of a nonzero stratum; ``None`` beyond :data:`MOST_PARTITIONS`.

    Let W ⊂ U be the span of the rows of V and the columns of A, R_V ⊂ W that of the rows, and R_A ⊂ W that of
    the columns. The pairs of spaces in W form a bundle over the Grassmannian of all W. Over this bundle
    P(E ⊗ R_V) × P(F ⊗ R_A) maps onto the closure, two to one for (1,1,2), else birationally, and h_1 + h_2 is
    the class of hyperplanes. Classes are pushed forward in three steps:

    - the powers of h_1 to Σ_λ s_λ(1^{d'}) s_λ(R_V*), by Cauchy's formula, and the powers of h_2 likewise;
    - s_λ(R_V*) to s_{λ'}(W*), where λ' is λ without r − r_V columns of length r_V;
    - s_{λ'}(W*) s_{μ'}(W*) to 1 if λ' and μ' are complements in the box r × (d − r), and else to 0.

    So with D the projective dimension of the closure

        degree = Σ_λ binom(D, d' r_V − 1 + \|λ\|) · s_λ(1^{d'}) · s_μ(1^d), divided by 2 for (1,1,2).

    See Also:
        :func:`agattn.geometry.variety.degree.expected_degree`, of the open stratum.

    >>> layer = SingleLayer(3, 2, 2)
    >>> [stratum_degree(layer, Stratum(*ranks)) for ranks in [(1, 1, 1), (1, 1, 2), (2, 2, 3)]]
    [120, 315, 2376]
    """
    d, outputs, (r_v, r_a, r) = layer.d, layer.d_out, stratum.as_json()
    s, room = r_v + r_a - r, d - r
    if comb(s + room, s) > MOST_PARTITIONS:
        return None
    D = image_dimension(layer, stratum) - 1
    total = 0
    for middle in _in_box(s, room):
        lam = [room + r - r_v] * (r_v - s) + [part + r - r_v for part in middle]
        mu = [room + r - r_a] * (r_a - s) + [room - part + r - r_a for part in reversed(middle)]
        terms = comb(D, outputs * r_v - 1 + sum(lam))
        total += terms * schur_dimension(tuple(lam), outputs) * schur_dimension(tuple(mu), d)
    return total // 2 if (r_v, r_a, r) == (1, 1, 2) else total


def _in_box(rows: int, columns: int) -> list[tuple[int, ...]]:
    """The partitions with at most so many rows and columns, with zeros at the end."""
    sizes = range(rows * columns + 1)
    parts = (part for size in sizes for part in partitions(size, rows, columns))
    return [(*part, *(0,) * (rows - len(part))) for part in parts]
