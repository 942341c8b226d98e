r"""Dimension formulas and proved upper bounds, for every network this package can describe.

**One layer.** Every bound is the dimension of a variety that contains the neuromanifold of one layer of h
heads; see :func:`single_layer_bounds`.

**Smaller widths.** A layer sees its input only through V_h X, K_h X and Q_h X, so if its own output may be
replaced by one of width e_i, its input may be replaced by one of width h(2a_i + min(β, e_i)); and the
columns of X_i lie in a space whose dimension is at most h·min(β, d_{i−1}). So the network has the same
Zariski closure as one of widths e_0 = d_0, e_1, ..., e_l = d_l given by :func:`reduced_widths`.

**Symmetric layers.** If t = 1, or if an earlier layer has one head with A of rank 1, the input of a
layer is w uᵀ, and each head maps it to (uᵀu)(wᵀAw)(Vw)uᵀ: only the symmetric part of A matters.

**Counting.** Let layer i, a function f_i of all inputs of width e_{i−1} (of all w uᵀ if it is symmetric), be
from a family of dimension at most n_i. Π_{0<i<l} GL(e_i) acts on these, C_i f_i C_{i−1}⁻¹, and leaves the
network as it is. Let r_i of the e_i coordinates of f_i be linearly independent functions: the values of f_i
span a space of dimension r_i. If (C_i) fixes all layers then C_i f_i = f_i C_{i−1}, so given C_{i−1} two such
C_i differ by one that is zero on that space, e_i(e_i − r_i) dimensions. So orbits have dimension Σ e_i r_i or
more, and

.. math:: \dim \le \sum_i n_i - \sum_{0<i<l} e_i r_i .

**All coefficients.** The dimension is at most that of the space in which the functions lie. By induction over
the layers φ(X) = G(XXᵀ)X with a matrix G of polynomials, d_l × d_0: the rows of φ are maps of degree 3^l to
ℝᵗ that commute with the orthogonal group of the tokens; see :func:`equivariant_maps`.

All these are upper bounds, proved by the arguments just given. That they are attained is proved for each
network by a rank (:mod:`agattn.geometry.dimension.dimension`), and in general for lightning networks with one
head in each layer (:mod:`agattn.geometry.dimension.theorems`):

>>> from agattn.architectures import DeepNetwork
>>> network_dimension(DeepNetwork((3, 3, 3), (1, 2), t=3))
18

**All monomials.** An output of a network is a polynomial in X of known degrees. If every token is mapped by
itself, it is one in the d entries of a token, and the network is given by its rows; if tokens are mixed
without regard to their order, by its rows at the first token, in all entries of X.

**Perceptrons, cut into pieces.** Let W_1, ..., W_L be matrices with powers between them, and B(i, j) a bound
for W_{i+1}, ..., W_j, of widths n_i to n_j. Then B(i, j) ≤ B(i, k) + B(k, j) − n_k, as a factor for each
neuron at the cut can be moved from one piece to the other, and these n_k factors act freely where no row is
zero. Pieces are bounded by their monomials; without powers by the matrices of rank at most m = min n_k, of
which there are m(n_i + n_j − m) dimensions; and with two matrices, the second with one row, by the theorem on
sums of powers:

**Alexander and Hirschowitz** (1995): sums of s r-th powers of linear forms in n variables, r ≥ 3, have the
dimension min(sn, C(n+r−1, r)), and one less for (n, r, s) = (3, 4, 5), (4, 4, 9), (5, 4, 14) and (5, 3, 7).
For r = 2 they are the quadrics of rank at most s.

**Rotary positions.** Rotations of the pairs of rows of K and Q that positions turn commute with these, and so
leave the function. They are one-parameter groups with tangent vectors like those of the known symmetries.

**Layer by layer.** The bounds of the layers add up, less the groups between them: the factors of neurons,
and d·r for GL(d) if r rows of the layer before are linearly independent functions, as is shown above. Where
skip connections leave no group between the layers, these bounds are simply added.

>>> from agattn.architectures import Network, Perceptron
>>> capacity_bound(Network([Perceptron([5, 1], degree=4)], dim=3)).reason
'sums of 5 powers of degree 4 in 3 variables (Alexander and Hirschowitz)'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from itertools import islice, pairwise
from math import comb, prod
from operator import attrgetter

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.characters import partitions, schur_dimension
from agattn.algebra.rank import RankResult
from agattn.algebra.residues import RowSpace, random_prime, random_residues
from agattn.architectures import (
    Architecture,
    Attention,
    Bilinear,
    Convolution,
    DeepNetwork,
    Network,
    PolynomialMap,
    draw_parameters,
)
from agattn.architectures.layered import Wire
from agattn.architectures.protocol import symmetry_tangents
from agattn.geometry.dimension.symmetries import known_groups, orbit_dimension
from agattn.limits import limits

# A space of polynomials is not measured if its degree and the number of its variables are both larger.
_MOST_DEGREES = 1000
# The most modules whose dimensions are added up, and their largest degree.
_MOST_MODULES, _LARGEST_MODULE = 500, 250
#: Degree, number of powers and of variables where sums of powers fill one dimension less than expected.
_DEFECTIVE = {(3, 4, 5), (4, 4, 9), (5, 4, 14), (5, 3, 7)}
# With more groups that are known, the contractions are not gone through.
_MOST_GROUPS = 5000


@dataclass(frozen=True, order=True)
class Bound:
    """A proved bound on a dimension, from above or from below, and the reason for it.

    Attributes:
        value: the bound.
        reason: why the dimension is not larger, or not less.
        theorem: the id of a theorem that proves it, a place in the documentation.
        checked: the hypotheses of the theorem, which hold.
        inside: the smaller model inside that the bound is of.
        rank: of a Jacobian, where the bound is one.
    """

    value: int
    reason: str
    theorem: str | None = None
    checked: tuple[str, ...] = ()
    inside: str | None = None
    rank: RankResult | None = field(default=None, compare=False)


def least(*bounds: Bound | None) -> Bound:
    """The first of the least bounds among those that are known."""
    return min((bound for bound in bounds if bound), key=attrgetter("value"))


def independent_rows(layer: Architecture) -> int:
    """How many rows of a layer are independent functions, or fewer: proved by their values modulo p."""
    generator = np.random.default_rng(limits().seed)
    p, rows = random_prime(generator), layer.output_shape[0]
    random = partial(random_residues, generator, p=p)
    weights, X = draw_parameters(layer, random), random((2 * rows + 2, *layer.input_shape))
    values = layer.evaluate(ModularArithmetic(p), weights, X).swapaxes(0, 1).reshape(rows, -1)
    return RowSpace(values.shape[1], p).add(values)


def monomials(variables: int, degrees: Sequence[int]) -> int | None:
    """The number of monomials of these degrees, unless counting them takes long.

    >>> monomials(2, range(4)), monomials(10**6, [10**6])
    (10, None)
    """
    if isinstance(degrees, range) and degrees[-1] - degrees[0] > _MOST_DEGREES:  # too long for len
        return None
    if len(degrees) > _MOST_DEGREES or min(variables, degrees[-1]) > _MOST_DEGREES:
        return None
    return sum(comb(variables + k - 1, k) for k in degrees)


def all_of(outputs: int, variables: int, degrees: Sequence[int]) -> Bound | None:
    """The bound by all monomials of these degrees, for so many outputs, unless counting them takes long."""
    space = monomials(variables, degrees)
    reason = f"{outputs} times the {space} monomials in {variables} variables"
    return None if space is None else Bound(outputs * space, reason)


@cache
def equivariant_maps(d: int, t: int, degree: int) -> int | None:
    r"""The dimension of the polynomial maps f: ℝ^{d×t} → ℝᵗ of odd degree with f(XR) = f(X)R for R ∈ O(t).

    They are the maps X ↦ g(XXᵀ)X with a row g of d polynomials of degree (degree − 1)/2. If t ≥ d, different
    g give different maps, as a general XXᵀ is any symmetric matrix and a general X is surjective. For any t
    (Cauchy) the polynomials of degree k on ℝ^{d×t} are the sum of S_λ(ℝᵈ) ⊗ S_λ(ℝᵗ) over the partitions λ of
    k with at most min(d, t) parts. ℝᵗ occurs in S_λ(ℝᵗ) as often as S_λ(ℝᵗ) ⊗ ℝᵗ has an invariant of O(t).
    That product is the sum of the S_μ(ℝᵗ) with one box more than λ, and S_μ(ℝᵗ) has an invariant, and only
    one, if and only if all parts of μ are even (Cartan and Helgason). So every λ with exactly one odd part
    counts once, and no other.

    ``None`` where counting takes long. Where there are many λ at t < d: how many g there are, no less.

    >>> [equivariant_maps(d, t, k) for d, t, k in [(3, 2, 3), (2, 1, 9), (3, 3, 9), (3, 2, 9)]]
    [18, 10, 378, 315]
    """
    if t == 1:
        return monomials(d, [degree])
    if t < d and degree <= _LARGEST_MODULE:
        shapes = list(islice(partitions(degree, t), _MOST_MODULES + 1))
        if len(shapes) <= _MOST_MODULES:
            return sum(schur_dimension(x, d) for x in shapes if sum(part % 2 for part in x) == 1)
    forms = monomials(comb(d + 1, 2), [(degree - 1) // 2])
    return None if forms is None else d * forms


def single_layer_bounds(
    d: int, d_out: int, a: int, heads: int = 1, value_rank: int | None = None, symmetric: bool = False
) -> list[Bound]:
    """Upper bounds on the dimension of Σ_h V_h X Xᵀ A_h X, rk A_h ≤ a, rk V_h ≤ β.

    For t ≥ 2 the layer is a d'×d matrix of quadratic forms y_{c,b} = Σ_h V_{h,c}·A_{h,b}, and A lies in a
    variety of dimension α(2d − α), α = min(a, d), in a space of dimension d². With ``symmetric``
    (t = 1, or after a head of rank 1) the layer is d' cubic forms, and A in a variety of dimension
    b(2d − b + 1)/2, b = min(2a, d), in a space of dimension d(d+1)/2.

    >>> [bound.value for bound in single_layer_bounds(3, 2, 1, heads=5, value_rank=1)]
    [36, 40, 50, 36, 36, 36, 36]
    """
    beta = min(d, d_out, d if value_rank is None else value_rank)
    squares = comb(d + 1, 2)
    rank = min(2 * a if symmetric else a, d)
    if symmetric:
        attention, attention_space = rank * (2 * d - rank + 1) // 2, squares
        forms, degree = d_out, 3  # how many, and of which degree
    else:
        attention, attention_space = rank * (2 * d - rank), d * d
        forms, degree = d * d_out, 2
    ambient = forms * comb(d + degree - 1, degree)
    of_head = attention + _of_rank(beta, d, d_out) - 1
    by_columns = None if symmetric else _of_rank(heads * rank, d, d_out * squares)
    by_values, by_keys = (_vanishing(forms, degree, d, heads * r) for r in (beta, rank))
    counts = {
        "the dimension of the ambient space": ambient,
        "A and V of each head, up to the scaling A → sA, V → V/s": heads * of_head,
        "Σ V_h ⊗ A_h has rank at most the number of heads": _of_rank(heads, d * d_out, attention_space),
        "the outputs span at most hβ functions": _of_rank(heads * beta, d_out, ambient // d_out),
        "the columns of all A_h span at most hα dimensions": by_columns,
        "everything vanishes on the common kernel of the V_h": by_values,
        "everything vanishes on the common kernel of the A_hᵀ": by_keys,
    }
    return [Bound(value, reason) for reason, value in counts.items() if value is not None]


def _of_rank(r: int, m: int, n: int) -> int:
    """The dimension of the m × n matrices of rank at most r."""
    r = min(r, m, n)
    return r * (m + n - r)


def _vanishing(forms: int, degree: int, d: int, r: int) -> int:
    """Coefficients of forms that vanish on some common subspace of codimension r, with its choice."""
    r = min(r, d)
    return r * (d - r) + forms * (comb(d + degree - 1, degree) - comb(d - r + degree - 1, degree))


def shared_forms_bounds(r: int, rho: int, d_out: int, a: int, b: int, pairs: int, heads: int) -> list[Bound]:
    """Upper bounds on the dimension of Σ_γ pᵀ_γ T_γ k_γ: d'·ρ quadratic forms in r variables.

    Each of the pairs of keys k = K z and values p = P z has a and b rows, and T_γ is a b × a matrix for each
    form: a lightning layer whose heads share keys and values, or the heads behind latents.

    >>> [bound.value for bound in shared_forms_bounds(2, 2, 2, 1, 1, pairs=2, heads=4)]
    [12, 10, 12, 12]
    >>> shared_forms_bounds(4, 4, 2, 3, 3, pairs=1, heads=5)[-1].value  # 71 by GL(a), GL(b) and GL(s)
    70
    """
    forms, squares = d_out * rho, comb(r + 1, 2)
    spanned = _of_rank(pairs * a * b, forms, squares)
    bounds = [
        Bound(forms * squares, "the dimension of the ambient space"),
        Bound(spanned, "the products of a value and a key span all forms"),
        Bound(_vanishing(forms, 2, r, pairs * b), "everything vanishes where all values do"),
        Bound(_vanishing(forms, 2, r, pairs * a), "everything vanishes where all keys do"),
    ]
    if pairs == heads:
        reason = "Σ V_h ⊗ A_h has rank at most the number of heads"
        bounds.append(Bound(_of_rank(heads, d_out * r, r * rho), reason))
    if pairs == 1 and a + b > r:
        seen = forms * (a * b - comb(a + b - r, 2))
        reason = "the antisymmetric part of T on the common rows of P and K is not seen"
        bounds.append(Bound(a * (r - a) + b * (r - b) + seen, reason))
    return bounds


def reduced_widths(network: DeepNetwork, scores: int | None = None) -> tuple[int, ...]:
    """Widths e_0, ..., e_l through which every function of the network factors (skip connections: the d_i).

    Of a jet that sees the scores of the first layers alone, as many as ``scores`` says, the layers behind are
    linear, X ↦ Σ_h V_h X: for these a_i = 0, and e_i ≤ e_{i−1}.

    e_i = min(d_i, h_i·min(β, e_{i−1}), h_{i+1}(2a_{i+1} + min(β, e_{i+1}))) for 0 < i < l, the largest
    solution with e_0 = d_0 and e_l = d_l; for lightning layers also e_i ≤ e_{i−1}·S, the number of cubic
    functions that a layer of width e_{i−1} has to choose from (for symmetric layers, the number of cubic
    forms). With one head: e_i = min(d_0, ..., d_i, 2a_{i+1} + e_{i+1}).

    >>> reduced_widths(DeepNetwork((5, 4, 1), (2, 1), t=3))
    (5, 3, 1)
    """
    if network.skip:
        return network.dims
    widths, inner = list(network.dims), range(1, network.depth)
    heads, beta = network.heads_by_layer, network.value_rank or max(widths)
    seen_ranks = [*network.ranks[:scores], *[0] * (network.depth - len(network.ranks[:scores]))]
    while True:
        before, symmetric = list(widths), symmetric_layers(network, widths)
        for i in (*inner, *reversed(inner)):  # what a layer has to choose from, then what is seen of it
            image = heads[i - 1] * min(widths[i - 1], beta)
            if network.is_lightning:
                d = widths[i - 1]
                image = min(image, comb(d + 2, 3) if symmetric[i - 1] else d * comb(d + 1, 2))
            if not seen_ranks[i - 1]:
                image = min(image, widths[i - 1])
            seen = heads[i] * (2 * seen_ranks[i] + min(widths[i + 1], beta))
            widths[i] = min(widths[i], image, seen)
        if widths == before:
            return tuple(widths)


def symmetric_layers(network: DeepNetwork, widths: Sequence[int] | None = None) -> list[bool]:
    """For each layer, whether only the symmetric part of A matters: t = 1, or an earlier A of rank 1.

    Never so with skip connections at t ≥ 2, or with softmax.
    """
    widths = reduced_widths(network) if widths is None else widths
    result, collapsed = [], False
    for i, (a, h) in enumerate(zip(network.ranks, network.heads_by_layer, strict=True)):
        result.append(network.is_lightning and (network.t == 1 or collapsed))
        collapsed = not network.skip and (collapsed or (h == 1 and min(a, widths[i]) == 1))
    return result


def network_bound(network: DeepNetwork, scores: int | None = None) -> Bound:
    """The best proved upper bound that counting gives, for any network; see the top of this module.

    ``scores`` is for a jet of a normalized network, which sees the scores of so many layers, the first ones
    (:func:`seen_scores`).

    >>> network_bound(DeepNetwork((5, 4, 1), (2, 1), t=3)).value
    28
    >>> network_bound(DeepNetwork((3, 3, 3), (2, 2), t=3, skip=True)).value
    32
    """
    if not network.is_lightning and network.t == 1:
        return _linear_bound(network)
    widths = reduced_widths(network, scores)
    layers = zip(network.ranks, network.heads_by_layer, symmetric_layers(network, widths), strict=True)
    total = 0
    for i, ((d, d_out), (a, h, symmetric)) in enumerate(zip(pairwise(widths), layers, strict=True)):
        if network.is_lightning:
            total += min(single_layer_bounds(d, d_out, a, h, network.value_rank, symmetric)).value
        elif scores is not None and i >= scores:  # a matrix Σ_h V_h
            total += _of_rank(h * (network.value_rank or d), d, d_out)
        else:
            total += h * (_of_rank(a, d, d) + _of_rank(network.value_rank or d, d, d_out))
    if network.skip:
        return Bound(total, "the dimensions of the layers, added up")
    total -= sum(e * r for e, r in zip(widths[1:-1], _independent_coordinates(network, widths), strict=True))
    text = f"the layers at widths {','.join(map(str, widths))}, minus the symmetries between them"
    return least(Bound(total, text), _all_coefficients(network))


def seen_scores(network: DeepNetwork, order: int) -> int:
    r"""How many layers of a normalized network, the first ones, have scores that its jet of this order sees.

    Let κ be the degree of the first term of log φ − log φ(0), which is 1 for softmax. The tokens that layer
    i gives differ from each other by terms of order δ_i in X or more:

    .. math:: \delta_0 = 1, \quad \delta_i = 3\delta_{i-1} + 2(\kappa - 1).

    For two weights of a column are equal if their tokens are: they differ by a difference of tokens times a
    query, times κ − 1 scores, of order δ_{i−1} + 1 + 2(κ − 1). The weights add up to 1, so that
    Σ_j W_{jτ} x_j is the mean of the tokens plus Σ_j (W_{jτ} − 1/t)(x_j − x̄), of order n_i = 2δ_{i−1} +
    2κ − 1, which is 2κ·3^(i−1) + 1. The mean does not depend on A_i. So no jet of an order below n_i sees
    A_i. In the difference of two columns a difference of queries takes the place of a query, so that its
    order is n_i − 1 + δ_{i−1} = δ_i.

    With skip connections all scores may be seen.

    >>> [seen_scores(DeepNetwork((2, 2, 2), (1, 1), normalization="softmax"), n) for n in (1, 2, 3, 6, 7)]
    [0, 0, 1, 1, 2]
    """
    if network.skip:
        return network.depth
    first = network.first_degree
    return sum(order >= 2 * first * 3**i + 1 for i in range(network.depth))


def _all_coefficients(network: DeepNetwork) -> Bound | None:
    """All maps of the degree of a lightning network; with one head in each layer they are never fewer."""
    if not network.is_lightning or set(network.heads_by_layer) == {1}:
        return None
    d, t, d_out, degree = network.dims[0], network.t, network.dims[-1], 3**network.depth
    if t == 1:
        return all_of(d_out, d, [degree])
    if (space := equivariant_maps(d, t, degree)) is None:
        return None
    return Bound(d_out * space, f"{d_out} times the {space} maps X ↦ g(XXᵀ)X of degree {degree}")


def network_dimension(network: DeepNetwork) -> int:
    """The value that the dimension is expected to have: the bound of :func:`network_bound`.

    It agrees with HMK's equations 7, 14 and 16 where they apply. With one head in each layer and no
    normalization and skip connections it is the dimension. With several heads or restricted values there are
    exceptions, such as this layer, of dimension 49.

    >>> network_dimension(DeepNetwork((5, 1), (3,), t=2, heads=2))
    50
    """
    return network_bound(network).value


def _independent_coordinates(network: DeepNetwork, widths: tuple[int, ...]) -> list[int]:
    """For 0 < i < l, a proved lower bound on how many of the e_i coordinates of layer i are independent.

    With one head e_i ≤ e_{i−1} and V_i is surjective, so all are. With softmax all are, too: for t ≥ 2 the
    output at (x, z, ..., z) is Σ_h V_h z + σ_h V_h (x − z) up to constants inside σ_h, the logistic
    function of (x − z)ᵀA_h z/T; for generic A_h no two of these share a pole, and at each pole the
    coefficient v·V_h (x − z) would have to vanish. With several lightning heads and e_i ≤ e_{i−1}, e_i ≤ hβ
    all are: take A_h = ℓℓᵀ for all heads, and V_h that copy different rows, e_i in all; at one token row c is
    x_c ℓ(x)². Else a random layer is evaluated modulo p: independent values prove independent functions. Two
    tokens are enough, as they determine the layer. A symmetric layer is evaluated at parallel tokens, that
    is at one: of two variables it has four cubic forms to choose from, not six functions.

    >>> _independent_coordinates(DeepNetwork((2, 2, 6, 2), (1, 1, 2), t=3, heads=(1, 3, 1)), (2, 2, 6, 2))
    [2, 4]
    """
    result = []
    for i, symmetric in zip(range(1, network.depth), symmetric_layers(network, widths), strict=False):
        d, e, h = *widths[i - 1 : i + 1], network.heads_by_layer[i - 1]
        t = 1 if symmetric else min(network.t, 2)
        if not network.is_lightning or e <= min(d, h * min(network.value_rank or d, d)):
            result.append(e)
            continue
        layer = DeepNetwork((d, e), (network.ranks[i - 1],), t, heads=h, value_rank=network.value_rank)
        result.append(independent_rows(layer))
    return result


def _linear_bound(network: DeepNetwork) -> Bound:
    """One token is its own softmax: the network is a product of matrices Σ_h V_h, or of 1 + Σ_h V_h."""
    dims, beta = network.dims, network.value_rank or max(network.dims)
    ranks = [min(d, e, h * beta) for d, e, h in zip(dims, dims[1:], network.heads_by_layer, strict=False)]
    if network.skip:
        r = min(dims[0], sum(ranks))
        return Bound(r * (2 * dims[0] - r), "one token: the network is linear, 1 plus a matrix of this rank")
    value = _of_rank(min(ranks), dims[0], dims[-1])
    return Bound(value, "one token: a normalized network is linear of this rank")


# --- networks of any layers ---


def symmetry_bound(architecture: Architecture) -> Bound:
    """Parameters minus the rank of the symmetries' tangent vectors: proved, whatever the seed.

    >>> symmetry_bound(DeepNetwork((10, 10, 10), (2, 2), 3, normalization="softmax")).value
    172
    """
    generator = np.random.default_rng(limits().seed)
    p = random_prime(generator)
    parameters = draw_parameters(architecture, partial(random_residues, generator, p=p))
    groups = known_groups(architecture) if isinstance(architecture, Network) else None
    tangents = symmetry_tangents(architecture, parameters, p, groups)
    space = RowSpace(tangents.shape[1], p)
    space.add(tangents)
    reason = "the parameters, minus the rank of the symmetries' tangent vectors"
    return Bound(architecture.parameters - space.rank, reason)


def capacity_bound(network: Architecture) -> Bound:
    """The least of the known bounds; another seed rarely gives another bound, and always a proved one."""
    if isinstance(network, PolynomialMap):
        outputs, variables = prod(network.output_shape), prod(network.inputs or (1,))
        coordinates = Bound(outputs, "the coordinates of the output") if network.inputs is None else None
        every = None if coordinates else all_of(outputs, variables, network.input_degrees)
        return least(Bound(network.parameters, "the parameters"), coordinates, every)
    if not isinstance(network, Network):
        return symmetry_bound(network)
    if len(network.layers) == 1 and (inner := network.layers[0].residual()):  # a translation of these
        return capacity_bound(Network(inner, *network.input_shape))
    if (smaller := reduced(network)) != network:
        bound = capacity_bound(smaller)
        used = f"{bound.reason}, with the sizes that heads can use: {in_place(network, smaller)}"
        return Bound(bound.value, used)
    attention = network.as_network()
    return least(
        symmetry_bound(network),
        _monomials(network),
        _pieces(network),
        layers_bound(network),
        network_bound(attention) if attention else None,
        _shared_forms(network),
        products_bound(network),
    )


def reduced(network: Network) -> Network:
    """A network with the same functions, up to limits, and no latent, rank or group larger than needed.

    >>> from agattn import Attention
    >>> given = Network([Attention(3, 2, heads=2, value_rank=1, kv_latent=9)], dim=8, tokens=2)
    >>> in_place(given, reduced(given))
    'kv_latent 6 in place of 9'
    """
    shape, layers = network.input_shape, []
    for layer in network.layers:
        layers.append(layer.reduced(shape))
        shape = Network((layer,), *shape).output_shape
    return Network(tuple(layers), *network.input_shape)


def in_place(network: Network, smaller: Network) -> str:
    """The sizes that are smaller, in words."""
    changes = [
        f"{key.name} {now} in place of {before}"
        for given, layer in zip(network.layers, smaller.layers, strict=True)
        for key in fields(given)
        if (now := getattr(layer, key.name)) != (before := getattr(given, key.name)) and now is not None
    ]
    return ", ".join(changes)


def _shared_forms(network: Network) -> Bound | None:
    """The forms of one lightning layer with groups or latents, after the choice of the latents."""
    layer, d = network.layers[0], network.dim
    if len(network.layers) > 1 or not isinstance(layer, Attention) or layer.is_plain:
        return None
    if layer.rotary or layer.normalization != "none":
        return None
    r, rho = layer.kv_latent or d, layer.q_latent or d
    a, b = min(layer.rank, r), min(layer.value_rank or layer.out, r)
    forms = min(shared_forms_bounds(r, rho, layer.out, a, b, layer.groups, layer.heads))
    latents = r * (d - r) + rho * (d - rho)
    return Bound(forms.value + latents, f"{forms.reason}{', and the choice of the latents' * bool(latents)}")


def bound_at_any_size(network: Network) -> Bound:
    """The least of the bounds that need no matrices of the size of a Jacobian.

    The groups are those that contractions of the whole network show; with very many neurons, or with filters,
    those of its layers and between them, which are found sooner.
    """
    filters = any(isinstance(step.layer, Convolution) for step in network.places)
    many = len(network.symmetries) > _MOST_GROUPS
    groups = network.symmetries if many or filters else known_groups(network)
    orbit = orbit_dimension(groups, network.shapes)
    left = f", but for {', '.join(dict.fromkeys(map(str, orbit.left_out)))}" if orbit.left_out else ""
    reason = f"the parameters, minus the dimension of the symmetries' orbits{left}"
    orbits = Bound(network.parameters - orbit.dimension, reason)
    return least(orbits, _monomials(network), _pieces(network))


def products_bound(architecture: Architecture) -> Bound | None:
    """The least of four bounds on D (G x ⊙ U x), of n neurons from d to d' rows; ``None`` of anything else.

    The proofs are on the page on bilinear layers.

    >>> from agattn import Bilinear
    >>> shapes = [(5, 2, 1), (4, 6, 4), (2, 2, 3)]
    >>> [products_bound(Network([Bilinear(n, out)], d)).value for d, n, out in shapes]
    [14, 40, 8]
    """
    layers = architecture.layers if isinstance(architecture, Network) else ()
    if len(layers) != 1 or not isinstance(layer := layers[0], Bilinear):
        return None
    d, n, out = architecture.input_shape[0], layer.neurons, layer.out
    r, q, forms = min(2 * n, d), min(n, out), d * (d + 1) // 2
    return least(
        Bound(n * (2 * d + out - 2), f"the parameters less two scales for each of {n} neurons"),
        Bound(out * forms, f"{out} times the {forms} monomials of degree 2 in {d} variables"),
        Bound(
            r * (d - r) + out * r * (r + 1) // 2,
            f"{r} linear forms in {d} variables, and {out} times the quadratic forms in these",
        ),
        Bound(
            q * (out - q) + q * forms,
            f"quadratic forms in {d} variables with values in {q} of {out} dimensions",
        ),
    )


def layers_bound(
    network: Architecture, further: Callable[[Network], Bound | None] = lambda layer: None
) -> Bound | None:
    """The bounds of all layers, less the groups between them; ``further`` may know another of a layer.

    ``None`` for what has not several layers.
    """
    if not isinstance(network, Network) or len(network.layers) < 2:
        return None
    shape, layers = network.input_shape, list[Network]()
    for layer in network.layers:
        layers.append(Network((layer,), *shape))
        shape = layers[-1].output_shape
    total, reasons = 0, []
    for i, alone in enumerate(layers, 1):
        if alone.parameters:
            inner = Network(alone.layers[0].residual() or alone.layers, *alone.input_shape)
            bound = least(capacity_bound(alone), further(inner))
            total += bound.value
            reasons.append(f"{bound.value} for layer {i} ({bound.reason})")
    groups = 0
    for wire in network.wires:
        one, two = (int(step.label.partition("_")[0]) for step in (wire.before, wire.after))
        groups += _orbit(wire, layers[one - 1]) if one != two else 0
    return Bound(total - groups, f"{', '.join(reasons)}, less {groups} for the groups between them")


def _orbit(wire: Wire, before: Network) -> int:
    """The dimension of the orbits of the group behind a layer, or less."""
    (first, *_) = wire.symmetries()
    if first.name != "GL(d)":
        return len(wire.symmetries())
    # A softmax has no values modulo p.
    return 0 if before.degree is None else first.size * independent_rows(before)


def sums_of_powers(n: int, s: int, r: int) -> int:
    """The dimension of the sums of s r-th powers of linear forms in n variables, with coefficients.

    >>> [sums_of_powers(3, 5, 4), sums_of_powers(3, 6, 4), sums_of_powers(3, 2, 2)]
    [14, 15, 5]
    """
    if r == 1:
        return n
    if r == 2:
        rank = min(n, s)
        return rank * (2 * n - rank + 1) // 2
    return min(s * n, comb(n + r - 1, r)) - ((n, r, s) in _DEFECTIVE)


def _monomials(network: Network) -> Bound | None:
    """The monomials in the entries of X of the degrees that may occur, for all outputs that may differ."""
    degrees = network.input_degrees
    if degrees is None:
        return None
    rows, tokens = network.output_shape
    alone, ordered, pooled = True, False, False
    for step in network.places:
        layer, powers = step.layer, step.derived.degrees
        linear = powers is not None and powers.most <= 1  # else products of tokens after their sum
        alone = alone and layer.mixes in ("nothing", "sum") and (linear or not pooled)
        ordered, pooled = ordered or layer.mixes == "order", pooled or layer.mixes == "sum"
    variables, outputs = (network.dim, rows) if alone else (network.dim * network.t, rows)
    if ordered:
        outputs *= tokens
    return all_of(outputs, variables, degrees)


def _pieces(network: Network) -> Bound | None:
    """The bound of a network of matrices and powers, cut into pieces as is best."""
    widths, powers, power, pooled = [network.dim], [], 1, False
    for i, step in enumerate(network.steps):
        if isinstance(step, str):  # a skip connection
            return None
        if step.is_matrix:
            powers += [power] if i else []
            widths.append(step.layer.output_shape(step.shape)[0])
            power = 1
        elif step.power and i and not pooled:
            power *= step.power
        elif step.layer.mixes == "sum" and step.derived.passes == power == 1 and not step.names:
            pooled = True
        else:
            return None
    last = len(widths) - 1
    if last < 1 or power > 1:
        return None
    best: dict[tuple[int, int], Bound] = {}
    for size in range(1, last + 1):
        for i in range(last + 1 - size):
            j = i + size
            pieces = [whole(widths[i : j + 1], powers[i : j - 1])]
            for k in range(i + 1, j):
                one, two, n = best[i, k], best[k, j], widths[k]
                cut = f"{one.reason}; and {two.reason}; less {n} factors of neurons between them"
                pieces.append(Bound(one.value + two.value - n, cut))
            best[i, j] = least(*pieces)
    return best[0, last]


def whole(widths: list[int], powers: list[int]) -> Bound:
    """The bound of matrices of these widths, with powers between them, as one piece."""
    n, *_, m = widths
    if not powers:
        return Bound(n * m, f"matrices of size {m} × {n}")
    r = prod(powers)
    if r == 1:
        rank = min(widths)
        return Bound(_of_rank(rank, n, m), f"matrices of size {m} × {n} and rank at most {rank}")
    if len(powers) == 1 and m == 1:
        s = widths[1]
        what = f"sums of {s} powers of degree {r} in {n} variables"
        return Bound(sums_of_powers(n, s, r), f"{what}{' (Alexander and Hirschowitz)' if r > 2 else ''}")
    space = comb(n + r - 1, r)
    return Bound(m * space, f"{m} times the {space} monomials of degree {r} in {n} variables")
