r"""Dimensions that a theorem proves, at any size and without a Jacobian.

Every id is the name of a place on the page on dimensions; the proofs are in docs/networks/dimension-proofs.md
and stacks-proofs.md. All count the weights, and subtract the dimension of a general fiber.

- ``theorem-3.2``: one lightning head, t ≥ 2. By the fibers of HMK's Theorem 3.2, in (A, V) space, the
  dimension is α(2d − α) + β(d + d' − β) − 1, α = min(a, d), where V has rank at most β.
- ``theorem-3.9``: one normalized head, t ≥ 2. By HMK's Theorem 3.9 fibers are points; nothing is subtracted.
- ``agattn.network-dimension``: one lightning head in each layer, any widths, ranks and t. The dimension is
  the bound by counting, so equation 14 under HMK's hypotheses.

>>> from agattn.architectures import DeepNetwork, SingleLayer
>>> known = by_theorem(SingleLayer(768, 64, 64).as_network())
>>> known.theorem, known.value
('theorem-3.2', 143359)
>>> by_theorem(DeepNetwork((5, 4, 1), (2, 1), t=3)).value
28
>>> by_theorem(DeepNetwork((5, 1), (3,), t=2, heads=2)) is None
True

**One layer** with groups of heads, latents, positions or a state, on the page on today's attention. Each of
these theorems says that the groups that leave a layer with the sizes in use as it is act freely at general
weights, and that nothing else does: the dimension is the number of parameters in use, less that of the
groups.

>>> from agattn.architectures import Attention, Network, Recurrence
>>> def proved(layer, d, t=2):
...     found = by_layer(Network([layer], d, t))
...     return found and (found.theorem, found.value)
>>> proved(Attention(3, 2, heads=3, kv_heads=1, value_rank=2), 5)
('agattn.grouped-dimension', 51)
>>> proved(Attention(3, 2, heads=2, value_rank=1, kv_latent=4, q_latent=4), 7)
('agattn.latent-dimension', 58)
>>> proved(Recurrence(2, 2, "gated-delta"), 4)
('agattn.recurrent-dimension', 25)
>>> proved(Attention(3, 2, heads=3, kv_heads=1, value_rank=3), 4) is None  # a + b > d
True

**Large sums of heads**: the rank of the differential at weights with supports chosen so that it falls apart.

The heads y = Σ_h V_h·A_h of one lightning layer, where a token sees another one, have a differential

    (V̇, Ȧ) ↦ Σ_h V̇_{h,c}·A_{h,b} + V_{h,c}·Ȧ_{h,b},      c = 1..d', b = 1..d,

products of linear forms in d variables u_x. Let every A_h and V_h be sums of matrix units: the entries of A_h
are ones at places (k, q), no two of a head in one row or column, and those of V_h are ones at places (c, p).
The rank of the differential is known if

- no variable is both a k and a p;
- (a) all places of the A_h are different, and all places of the V_h;
- (b) of every head h: no variable k occurs, in all columns q of A_h, at places of other heads; no variable p
  occurs, in all rows c of V_h, at places of other heads;
- (c) for any two heads h ≠ h' some place (k, q) of A_h lies neither in a row nor in a column of A_{h'} and
  rk A_{h'} is restricted, or some place (c, p) of V_{h'} lies neither in a row nor in a column of V_h and
  rk V_h is restricted.

Then the rank is Σ_h (dim of the A_h + dim of the V_h − 1), so that this is the dimension of the sum of heads:
no sum can have more (docs/networks/stacks-proofs.md). The weights are searched for, and (a), (b), (c) are
checked; this takes a second for a hundred heads of width 768, and no Jacobian.

Neurons x ↦ Σ_j w_j (v_j·x)^r with r ≥ 3 are taken at unit vectors w_j and sums v_j of two variables: each
pair of variables for one neuron alone, and pairs without a common variable for neurons with the same w_j.
For even d the pairs fall into d − 1 matchings, for odd d into d, of ⌊d/2⌋ pairs each. So there is room for
min(d', matchings) ⌊d/2⌋ neurons, and each neuron has d + d' − 1 dimensions. For r = 2 and d' ≥ 2 there is
room for d neurons: different variables v_j, and w_j of which no two are dependent.

Bilinear layers of one width are one bilinear layer with all of their neurons, of degree 2.

Layers with skip connections, all of one width: the part of degree 3 in X of (1 + g_l)∘...∘(1 + g_1) is
g_1 + ... + g_l for layers g_i of attention, a sum of all heads of all layers. With perceptrons of degree r
among the g_i the part of degree r is the sum of these perceptrons, and of what the layers of lower degree
give, so that the differential is block triangular. For r = 3 the coefficients of monomials with entries of
another token tell heads from neurons.

>>> by_supports(DeepNetwork((768,) * 13, (64,) * 12, t=2, heads=12, skip=True, value_rank=64)).value
27131760
>>> by_supports(DeepNetwork((2, 2), (2,), t=2, heads=2)) is None  # A and V are any matrices: GL(2) mixes them
True

Large networks whose layers have no skip connections: both bounds, layer by layer, without a Jacobian.

A network f_l∘...∘f_1 of lightning attention, perceptrons, bilinear layers and matrices is cut between its
layers. Let n_i be the dimension of layer i alone. The matrices in GL(e_i) act on layers i and i + 1 and
change no function, and the theorem in docs/networks/stacks-proofs.md says that nothing else is lost: if every
layer contains a map to e_i rows whose image is dense, and every later layer a map that is injective near a
general point, then

.. math:: \dim = \sum_i n_i - \sum_{0<i<l} e_i^2 .

Layers with skip connections between these layers add their dimensions. Where a later layer has fewer rows
than its input, only a part of what the layers before know is proved to be seen, and an interval remains:
for m = ⌈e_i / rows⌉ the first i + 1 layers have at least the dimension n_{i+1} + (N_i − e_i²)/m, where N_i is
that of the first i layers. Networks of perceptrons alone lose nothing there.

>>> from agattn.architectures import DeepNetwork
>>> lower, upper = cut(DeepNetwork((768,) * 13, (64,) * 12, t=2, heads=12))
>>> lower.value, upper.value, lower.checked[1:]
(92012400, 92012400, ('12 layers without skip connections', 'two tokens of which one sees the other'))
>>> [bound.value for bound in cut(DeepNetwork((768, 768, 10), (64, 64), t=2, heads=12))]
[1312479, 8841192]
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, combinations, pairwise
from math import comb
from typing import Any

import numpy as np

from agattn.architectures import (
    Architecture,
    Attention,
    Bilinear,
    DeepNetwork,
    Linear,
    Network,
    Perceptron,
    Power,
    Recurrence,
)
from agattn.architectures.layers import Layer, Mask
from agattn.geometry.dimension.formulas import (
    Bound,
    bound_at_any_size,
    in_place,
    least,
    network_bound,
    products_bound,
    reduced,
    reduced_widths,
    single_layer_bounds,
    sums_of_powers,
    whole,
)
from agattn.geometry.dimension.symmetries import known_groups

GROUPED, LATENT, RECURRENT = (f"agattn.{kind}-dimension" for kind in ("grouped", "latent", "recurrent"))
Places = tuple[tuple[int, int], ...]  # of the ones of a matrix: line and variable, counted from 0

# Weights that are tried before the search is given up, fewer where there are many places, and a bound on
# their size.
_TRIES, _FEWEST = 20, 3
_TRIED_PLACES = 10**5
_MOST_PLACES = 10**8
#: The name of the theorem, and of the place in the documentation where its proof is.
SUPPORTS = "agattn.disjoint-supports"
#: The same of bilinear layers.
BILINEAR = "agattn.bilinear-outputs"


@dataclass(frozen=True)
class Side:
    """One of the two matrices of each head, A or V, by the places of its ones.

    Attributes:
        lines: the size of the index that is no variable: d for the columns b of A, d' for the rows c of V.
        places: of each head the places of its ones.
        restricted: of each head whether the rank of the matrix is bounded, by the number of these ones.
    """

    lines: int
    places: tuple[Places, ...]
    restricted: tuple[bool, ...]

    def variables(self) -> set[int]:
        """The variables that occur."""
        return {x for _, x in chain.from_iterable(self.places)}

    def are_different(self) -> bool:
        """Condition (a), and that no two ones of a head share a line or a variable."""
        everywhere = list(chain.from_iterable(self.places))
        return len(set(everywhere)) == len(everywhere) and all(
            len({y for y, _ in own}) == len({x for _, x in own}) == len(own) for own in self.places
        )

    def are_apart(self) -> bool:
        """Condition (b)."""
        lines = defaultdict[int, set[tuple[int, int]]](set)  # the variables on each line, with their heads
        for head, own in enumerate(self.places):
            for y, x in own:
                lines[y].add((x, head))

        def of_others(y: int, head: int) -> set[int]:
            return {x for x, other in lines[y] if other != head}

        return not any(
            set.intersection(*(of_others(y, head) for y, _ in own)) for head, own in enumerate(self.places)
        )

    def leaves(self) -> np.ndarray:
        """Half of condition (c): in [g, h] whether a place of g is on no line and at no variable of h.

        Only heads h of restricted rank count.
        """
        heads, size = len(self.places), 1 + max(self.variables())
        on, at = np.zeros((heads, self.lines), bool), np.zeros((heads, size), bool)
        for head, own in enumerate(self.places):
            for y, x in own:
                on[head, y] = at[head, x] = True
        leaving = np.zeros((heads, heads), bool)
        for head, own in enumerate(self.places):
            y, x = np.array(own).T
            leaving[head] = (~on[:, y] & ~at[:, x]).any(axis=1)
        leaving &= np.array(self.restricted)
        return leaving


def are_independent(queries: Side, values: Side) -> bool:
    """Whether the rank of the differential is known at these weights: all conditions.

    >>> A = Side(3, (((0, 0),), ((1, 1),)), (True, True))  # two heads of rank 1 at d = 3
    >>> V = Side(2, (((0, 2),), ((1, 2),)), (False, False))
    >>> are_independent(A, V), are_independent(A, A)
    (True, False)
    """
    if queries.variables() & values.variables():
        return False
    if not all(side.are_different() and side.are_apart() for side in (queries, values)):
        return False
    # A_h leaves A_{h'}, or V_{h'} leaves V_h
    left = queries.leaves() | values.leaves().T
    return bool((left | np.eye(len(left), dtype=bool)).all())


def supports(
    d: int, d_out: int, ranks: Sequence[int], value_ranks: Sequence[int], columns: int | None = None
) -> tuple[Side, Side] | None:
    """Weights of heads with the rank known, or ``None`` where none are found.

    Args:
        d, d_out: the widths of the input and the output.
        ranks: the rank of each A; from d on, any matrix.
        value_ranks: the rank of each V; from min(d, d') on, any matrix.
        columns: how many each A has, d by default; A is any matrix from a rank of min(d, columns) on.
    """
    if len(ranks) * (d + d_out + max(ranks) + max(value_ranks)) > _MOST_PLACES:
        return None
    columns = d if columns is None else columns
    whole, most = min(d, columns), min(d, d_out)
    keys, outputs = ([r if r < n else 1 for r in given] for given, n in ((ranks, whole), (value_ranks, most)))
    free = [r >= whole for r in ranks], [r >= most for r in value_ranks]
    # (c) needs of h ≠ h' that A_{h'} or V_h is restricted
    any_A, any_V = ({head for head, one in enumerate(side) if one} for side in free)
    if len(any_A) * len(any_V) > len(any_A & any_V):
        return None
    for attempt in range(max(_FEWEST, min(_TRIES, _TRIED_PLACES // sum(keys + outputs)))):
        generator = np.random.default_rng(attempt)
        # Variables for the keys, the others for the values: in proportion, or as few as may be for one side.
        share = (sum(keys) / (sum(keys) + sum(outputs)), 1.0, 0.0)[attempt % 3]
        low, high = max(keys), d - max(outputs)
        if low > high:
            return None
        first = round(low + share * (high - low))
        one = _places(keys, columns, range(first), generator)
        other = _places(outputs, d_out, range(first, d), generator)
        if one is None or other is None:
            continue
        sides = (
            Side(columns, one, tuple(not any_matrix for any_matrix in free[0])),
            Side(d_out, other, tuple(not any_matrix for any_matrix in free[1])),
        )
        if are_independent(*sides):
            return sides
    return None


def _places(
    sizes: Sequence[int], lines: int, variables: range, generator: np.random.Generator
) -> tuple[Places, ...] | None:
    """Places of so many ones for each head; lines of its own for a head as long as there are enough."""
    single = [head for head, size in enumerate(sizes) if size == 1]
    shared, alone = list(range(lines)), dict[int, list[int]]()
    if sum(sizes) <= lines:
        for head, size in enumerate(sizes):
            alone[head], shared = shared[:size], shared[size:]
    elif len(single) < lines:
        for head in single:  # one line must be of its own, by (b)
            alone[head], shared = shared[:1], shared[1:]
    else:
        return None
    taken, chosen = defaultdict[int, set[int]](set), []
    for head, size in enumerate(sizes):
        if size > len(variables) or (head not in alone and size > len(shared)):
            return None
        own = alone[head] if head in alone else generator.permutation(shared)[:size].tolist()
        places, left = [], generator.permutation(variables).tolist()
        for y in own:
            x = next((x for x in left if x not in taken[y]), None)
            if x is None:
                return None
            left.remove(x)
            taken[y].add(x)
            places.append((y, x))
        chosen.append(tuple(places))
    return tuple(chosen)


@dataclass
class Parts:
    """The heads and neurons that a network is the sum of, up to its other degrees.

    Attributes:
        d, d_out: the widths of the input and the output.
        ranks, value_ranks: of each head the largest ranks of A and V.
        neurons: the number of neurons of each degree.
        products: the number of neurons of bilinear layers.
    """

    d: int
    d_out: int
    ranks: list[int] = field(default_factory=list)
    value_ranks: list[int] = field(default_factory=list)
    neurons: Counter[int] = field(default_factory=Counter)
    products: int = 0

    @property
    def dimension(self) -> int:
        """The sum over the heads of dim A + dim V − 1, and over the neurons of d + d' − 1, or 2d + d' − 2.

        dim A = α(2d − α) for matrices of rank at most α, and dim V = β(d + d' − β).
        """
        d, d_out, total = self.d, self.d_out, 0
        for a, b in zip(self.ranks, self.value_ranks, strict=True):
            alpha, beta = min(a, d), min(b, d, d_out)
            total += alpha * (2 * d - alpha) + beta * (d + d_out - beta) - 1
        return total + self.neurons.total() * (d + d_out - 1) + self.products * (2 * d + d_out - 2)

    @property
    def is_empty(self) -> bool:
        """Whether there are neither heads nor neurons."""
        return not self.ranks and not self.neurons and not self.products

    def room(self, degree: int) -> int:
        """The number of neurons of a degree for which there are weights.

        >>> Parts(4, 4).room(3), Parts(4, 4).room(2), Parts(4, 1).room(2)
        (6, 4, 0)
        """
        if degree == 2:
            return self.d if self.d_out >= 2 else 0
        matchings = self.d - 1 + self.d % 2  # of d // 2 pairs each, all pairs of variables together
        return min(self.d_out, matchings) * (self.d // 2)

    @property
    def fit(self) -> bool:
        """Whether weights are found at which the differential has this rank."""
        if any(number > self.room(degree) for degree, number in self.neurons.items()):
            return False
        if self.products:
            free = self.products * (2 * self.d + self.d_out - 2)
            if self.neurons[2] or products_at_least(self.d, self.products, self.d_out) < free:
                return False
        return not self.ranks or supports(self.d, self.d_out, self.ranks, self.value_ranks) is not None

    def take(self, layer: object) -> bool:
        """Take up the heads or neurons of a layer; whether the layer is of a kind that is known."""
        if isinstance(layer, Attention):
            if layer.heads > _MOST_PLACES // self.d:
                return False
            self.ranks += [layer.rank] * layer.heads
            self.value_ranks += [layer.value_rank or self.d] * layer.heads
            return layer.normalization == "none" and not layer.rotary and layer.is_plain
        if isinstance(layer, Perceptron):
            self.neurons[layer.degree] += layer.widths[0]
            return len(layer.widths) == 2 and not layer.bias and layer.degree >= 2
        if isinstance(layer, Bilinear):
            self.products += layer.neurons
            return True
        return False

    def at(self, width: int) -> Parts:
        """The same heads and neurons at smaller widths of the input and the output."""
        return Parts(width, width, self.ranks, self.value_ranks, self.neurons, self.products)

    def least(self) -> Counter[int]:
        """Of each degree the dimension of as many heads and neurons as weights are found for."""

        def heads(number: int) -> Parts:
            return Parts(self.d, self.d_out, self.ranks[:number], self.value_ranks[:number])

        most = len(self.ranks)
        if not heads(most).fit:
            most = bisect(range(1, most), False, key=lambda number: not heads(number).fit)
        dimensions = Counter({3: heads(most).dimension})
        for degree, number in self.neurons.items():
            dimensions[degree] += min(number, self.room(degree)) * (self.d + self.d_out - 1)
        if self.products:
            dimensions[2] = max(dimensions[2], products_at_least(self.d, self.products, self.d_out))
        return +dimensions


def parts(architecture: Architecture) -> Parts | None:
    """The heads and neurons of one layer, or of layers with skip connections; ``None`` of anything else.

    >>> from agattn.architectures import Attention, Network, Perceptron
    >>> block = Attention(4, rank=1, heads=2, skip=True), Perceptron([6, 4], degree=3, skip=True)
    >>> found = parts(Network(block, dim=4, tokens=2))
    >>> found.ranks, found.neurons, found.dimension
    ([1, 1], Counter({3: 6}), 86)
    """
    if (layers := layers_of(architecture)) is None:
        return None
    total, alone = Parts(architecture.input_shape[0], architecture.output_shape[0]), len(layers) == 1
    for layer in layers:
        if not total.take(layer) or not (alone or getattr(layer, "skip", False)):
            return None
    return total if see_another(layers, architecture.t) else None


def see_another(layers: Sequence[Layer], t: int) -> bool:
    """Whether there are tokens i ≠ j such that j sees i in every layer of attention, all of t tokens."""
    masks = {layer.mask for layer in layers if isinstance(layer, Attention)}
    return not masks or next(pairs_of_tokens(masks, t), None) is not None


def pairs_of_tokens(masks: Collection[Mask], t: int) -> Iterator[dict[Mask, np.ndarray]]:
    """For tokens i ≠ j such that j sees i under all masks: what these two see, a matrix for each mask."""
    t = t if any(isinstance(mask, tuple) for mask in masks) else min(t, 2)
    matrices = {mask: seen(mask, t) for mask in masks}
    together = np.logical_and.reduce(list(matrices.values()))
    for first, second in combinations(range(t), 2):
        for i, j in ((first, second), (second, first)):
            if together[i, j]:
                yield {mask: M[np.ix_([i, j], [i, j])] for mask, M in matrices.items()}


def seen(mask: Mask, t: int) -> np.ndarray:
    """A mask for t tokens as a matrix of booleans: rows i, columns j, whether j sees i.

    >>> seen("causal", 2).tolist()
    [[True, True], [False, True]]
    """
    if isinstance(mask, tuple):
        return np.array(mask, dtype=bool)
    everything = np.ones((t, t), dtype=bool)
    return np.triu(everything) if mask == "causal" else everything


def layers_of(architecture: Architecture) -> Sequence[Layer] | None:
    """The layers of a model or of a network of attention; ``None`` of what has none."""
    network = architecture if isinstance(architecture, Network) else architecture.as_network()
    return network.layers if network else None


def theorem(name: str, value: int, checked: Sequence[str]) -> Bound:
    """The dimension by a theorem whose hypotheses hold."""
    return Bound(value, f"{name}, as its hypotheses hold: {', '.join(checked)}", name, tuple(checked))


def by_supports(architecture: Architecture) -> Bound | None:
    """The dimension of a layer, or of layers with skip connections, if weights as above are found."""
    total = parts(architecture)
    if total is None or not total.fit:
        return None
    what = [f"{len(total.ranks)} heads at t ≥ 2"] if total.ranks else []
    what += [f"{number} neurons of degree {r}" for r, number in sorted(total.neurons.items())]
    checked = ["no normalization"]
    if what:
        checked.append(f"weights of {' and '.join(what)} with disjoint supports were found")
    if total.products:
        checked.append(f"{total.products} neurons of bilinear layers, with the dimension by {BILINEAR}")
    if len(layers_of(architecture) or ()) > 1:
        checked.insert(1, "skip connections")
    return theorem(SUPPORTS, total.dimension, tuple(checked))


def by_theorem(architecture: Architecture) -> Bound | None:
    """The first theorem that says what the dimension of an architecture is, or ``None``."""
    network = architecture.as_network()
    known = network and one_head(network)
    return known or by_products(architecture) or by_supports(architecture) or by_layer(architecture)


def by_products(architecture: Architecture) -> Bound | None:
    """The dimension of a bilinear layer, where :func:`products_at_least` meets the bound from above."""
    lower, upper = at_least(architecture), products_bound(architecture)
    return lower if lower and upper and lower.value == upper.value else None


def at_least(architecture: Architecture) -> Bound | None:
    """The lower bound on a bilinear layer; ``None`` of anything else."""
    if products_bound(architecture) is None:
        return None
    assert isinstance(architecture, Network)
    layer: Any = architecture.layers[0]
    value = products_at_least(architecture.dim, layer.neurons, layer.out)
    few = layer.neurons <= layer.out
    how = "no more neurons than outputs" if few else "neurons that are spread over pairs of outputs"
    return theorem(BILINEAR, value, ("one bilinear layer", how))


def products_at_least(d: int, neurons: int, d_out: int) -> int:
    r"""The rank of the differential of D (G x ⊙ U x) at weights whose D_i lie in lines and planes.

    It bounds the dimension from below. ℝ^{d'} is the direct sum of lines and planes W_c. The image of the
    differential is the sum over c of that of the s_c neurons with D_i in W_c, and of W_c ⊗ g_i u_i for the
    n − s_c others; all else is general. Let F = d(d + 1)/2. For
    dim W_c = 1 and r = min(2s, d) it has the rank

    .. math:: r(2d − r + 1)/2 + \min(n − s, (d − r)(d − r + 1)/2),

    and for dim W_c = 2 and s ≥ 2 the rank min(2sd + 2(n − s), 2F). For n ≤ d' each D_i has a line of its own;
    else the lines are taken in pairs, but for one if d' is odd, and the neurons are spread evenly over these.

    >>> products_at_least(5, 2, 1), products_at_least(512, 64, 512) == 64 * (3 * 512 - 2)
    (14, True)
    >>> products_at_least(5, 4, 3)  # of 44
    42
    """
    n, forms = neurons, comb(d + 1, 2)
    if n <= d_out:
        return n * (2 * d - 1 + min(n - 1, comb(d - 1, 2))) + (d_out - n) * min(n, forms)
    pairs, single = divmod(d_out, 2)

    def on_a_line(s: int) -> int:
        r = min(2 * s, d)
        return r * (2 * d - r + 1) // 2 + min(n - s, comb(d - r + 1, 2))

    def on_a_plane(s: int) -> int:
        return min(2 * s * d + 2 * (n - s), 2 * forms)

    def on_planes(number: int) -> int:
        s, more = divmod(number, pairs)
        return more * on_a_plane(s + 1) + (pairs - more) * on_a_plane(s)

    if not pairs:
        return on_a_line(n)
    if not single:
        return on_planes(n)
    most = min(n - 2 * pairs, (d + 1) // 2)
    return max(on_a_line(s) + on_planes(n - s) for s in range(most + 1))


def one_head(network: DeepNetwork) -> Bound | None:
    """The theorem that the bound by counting is attained, or ``None``."""
    softmax, lightning = network.normalization == "softmax", network.is_lightning
    if set(network.heads_by_layer) != {1} or not (softmax or lightning):
        return None
    name, checked = "theorem-3.2", ("one layer", "one head", "no normalization", "t ≥ 2")
    if softmax:
        name, checked = "theorem-3.9", ("one layer", "one head", "an injective normalization", "t ≥ 2")
    if network.depth > 1 or network.t == 1:
        if softmax or not _any_values(network) or (network.skip and network.depth > 1):
            return None
        name = "agattn.network-dimension"
        checked = "one head in each layer", "no normalization", "no skip connections", "V_i of any rank"
    # A skip connection around the only layer adds X to every function.
    return theorem(name, network_bound(replace(network, skip=False)).value, checked)


def irreducible_fibers(network: DeepNetwork) -> str | None:
    """The id of the theorem by which general fibers of (K, Q, V) ↦ φ are irreducible over ℂ, or ``None``.

    The proof is in docs/networks/identifiability-proofs.md. Where general A and V have rank one, factors can
    be exchanged, so that the fiber has two components. Where a layer does not see all of its input, nothing
    is said.

    >>> irreducible_fibers(DeepNetwork((3, 2), (2,), t=2)), irreducible_fibers(DeepNetwork((3, 1), (1,), t=2))
    ('theorem-3.2', None)
    >>> irreducible_fibers(DeepNetwork((3, 2, 3), (2, 2), t=2))
    'agattn.network-dimension'
    """
    if set(network.heads_by_layer) != {1} or not network.is_lightning or network.t == 1:
        return None
    dims, beta = network.dims, network.value_rank
    alphas = [min(a, d) for a, d in zip(network.ranks, dims, strict=False)]
    one_line = dims[0] == 1
    exchanged = alphas[-1] == 1 and min(*dims, beta or dims[0]) == 1 and not one_line
    if network.depth == 1:
        return None if exchanged else "theorem-3.2"
    if network.skip or not _any_values(network) or one_line or exchanged:
        return None
    widths_seen = reduced_widths(network)[1:-1] == dims[1:-1]
    if not widths_seen or min(alphas[:-1]) < 2 or beta is not None:
        return None
    return "agattn.network-dimension"


def one_layer(architecture: Architecture) -> Network | None:
    """The only layer of an architecture as a network; ``None`` where there are several, or none of these."""
    layers = layers_of(architecture)
    if layers is None or len(layers) != 1 or not isinstance(layers[0], (Attention, Recurrence)):
        return None
    return Network((layers[0],), *architecture.input_shape)


def less_groups(network: Network) -> int:
    """The parameters less the dimensions of all groups that leave the function as it is."""
    return network.parameters - sum(group.dimension for group in known_groups(network))


def by_layer(architecture: Architecture) -> Bound | None:
    """The theorem that gives the dimension of one layer, or ``None``: the formula may hold all the same."""
    network = one_layer(architecture)
    if network is None or network.t < 2:
        return None
    smaller = reduced(network)
    layer = smaller.layers[0]
    holds = _state if isinstance(layer, Recurrence) else _attention
    if (held := holds(layer, network.dim, network.t)) is None:
        return None
    name, checked = held
    changes = in_place(network, smaller)
    used = (f"the sizes that heads can use: {changes}",) if changes else ()
    return theorem(name, less_groups(smaller), (*checked, *used))


def _attention(layer: Any, d: int, t: int) -> tuple[str, tuple[str, ...]] | None:
    """The theorem whose hypotheses hold for a reduced layer, with these.

    It has g groups of s heads with keys of rank a and values of rank b, which are read from r dimensions, and
    queries that are read from ρ.
    """
    if not see_another([layer], t) or layer.normalization not in ("none", "softmax"):
        return None
    g, s = layer.groups, layer.heads // layer.groups
    r, rho = layer.kv_latent or d, layer.q_latent or d
    a, b = min(layer.rank, r, s * rho), min(layer.value_rank or layer.out, s * layer.out, r)
    name, why = LATENT if has_latents(layer) else GROUPED, "g(a + b) ≤ d"
    if layer.normalization == "softmax":
        if layer.mask != "none":
            return None  # the proof is of the softmax over all tokens
        if layer.rotary and (t != 2 or a < layer.rank or has_latents(layer)):
            return None
        return name, ("one layer", "t ≥ 2", "a softmax")
    if layer.rotary:
        if isinstance(layer.mask, tuple) or (layer.mask == "causal" and t == 2):
            return None  # positions enter by R alone, which is taken up by Q
        if layer.rank > min(r, rho * s):
            return None
        alone = Network((replace(layer, rotary=False),), d, t)
        if (bound := by_supports(alone) or by_layer(alone)) is None:
            return None
        return str(bound.theorem), (*bound.checked, "positions at two distances")
    if has_latents(layer):
        why = "weights of the heads behind the latents with disjoint supports were found"
        holds = s == 1 and (g == 1 or _apart(g, r, layer.out, a, b, rho))
    else:
        holds = g * (a + b) <= d
    return (name, ("one layer", "t ≥ 2", why)) if holds else None


def has_latents(layer: Attention) -> bool:
    """Whether keys and values, or queries, are read from a latent."""
    return layer.kv_latent is not None or layer.q_latent is not None


@cache
def _apart(heads: int, r: int, d_out: int, a: int, b: int, rho: int) -> bool:
    """Whether weights with disjoint supports are found for heads behind latents."""
    return supports(r, d_out, [a] * heads, [b] * heads, rho) is not None


def _state(layer: Any, d: int, t: int) -> tuple[str, tuple[str, ...]] | None:
    """The theorem on a layer with a state; with a diagonal gate where the proof goes through."""
    a = layer.rank
    by_restriction = a <= d and a - 1 <= comb(d - 1, 2) if d > 1 else a == 1
    goes_through = by_restriction or d == a == 3 or (d == a == 2 and t >= 3)
    holds = layer.heads == 1 and (layer.rule != "diagonal-gate" or goes_through)
    return (RECURRENT, ("one layer", "one head", "t ≥ 2")) if holds else None


def _any_values(network: DeepNetwork) -> bool:
    """Whether every V_i may be any matrix."""
    largest = max(map(min, pairwise(network.dims)))
    return network.value_rank is None or network.value_rank >= largest


#: The name of the theorem, and of the place in the documentation where its proof is.
ID = "agattn.stacks"
# The largest degree of a perceptron for which monomials are counted.
_MOST_DEGREE = 1000
# Heads with more places of weights count as one head, and longer stacks are not cut.
_MOST_PLACES, _MOST_LAYERS = 5_000_000, 2_000
# The layers that are cut between.
_KINDS = Attention, Bilinear, Linear, Perceptron, Power


@dataclass(frozen=True)
class PlainLayer:
    """A layer without a skip connection; a matrix if there are neither heads nor neurons.

    Attributes:
        rows: of its output.
        heads: the layer of attention, if it is one.
        neurons: of a perceptron with two matrices, or of a bilinear layer.
        degree: in the input.
        products: whether it is a bilinear layer, which contains the perceptrons of degree 2.
    """

    rows: int
    heads: Attention | None = None
    neurons: int = 0
    degree: int = 1
    products: bool = False

    @property
    def value_rank(self) -> int:
        """The largest rank of the V of each head."""
        return (self.heads.value_rank if self.heads else None) or self.rows

    def powers(self, d: int) -> int:
        """The monomials of the degree of a perceptron in d variables, or the neurons if these are fewer."""
        if min(d, self.degree) > _MOST_DEGREE:
            return self.neurons
        return min(self.neurons, comb(d + self.degree - 1, self.degree))

    def image(self, d: int) -> int:
        """How many dimensions the outputs span at most, for d rows of the input."""
        if self.heads:
            return min(self.heads.heads * min(self.value_rank, d), d * comb(d + 1, 2))
        return self.powers(d) if self.neurons else d

    def seen(self, d_out: int) -> int:
        """How many linear functions of the input determine the output, if it has this number of rows."""
        if self.heads:
            return self.heads.heads * (2 * self.heads.rank + min(self.value_rank, d_out))
        return (1 + self.products) * self.neurons or d_out

    def copied(self, d: int, pairs: bool = False) -> int:
        """How many of d rows the values can copy, or fewer; ``pairs``: two keys are needed for each row.

        Heads that share keys and values copy the same rows. Behind a latent of fewer than d rows, two are
        left for the forms in the keys and the queries.
        """
        if self.heads is None:
            return d
        keys, latent = self.heads.groups, self.heads.kv_latent
        rows = (keys // 2 if pairs else keys) * min(self.value_rank, d)
        if latent is not None and latent < d:
            rows = min(rows, latent - 2)
        return max(0, min(d, rows))

    def independent(self, d: int, d_out: int) -> int:
        """How many rows of the output are linearly independent functions, or fewer."""
        return min(d_out, self.powers(d) if self.neurons else self.copied(d))

    def dominated(self, d: int, d_out: int, sees_back: bool) -> int:
        """How many rows, at most min(d, d'), a map with a dense image may have.

        If ``sees_back``, both tokens see both; then heads whose A has rank 1 are taken in pairs.
        """
        most = min(d, d_out)
        if self.heads is None:
            return min(most, self.neurons or most)
        if sees_back and 1 in (self.heads.kv_latent, self.heads.q_latent):
            return 0
        return min(most, self.copied(d, pairs=sees_back and min(self.heads.rank, d) == 1))

    def least(self, d: int, d_out: int) -> int:
        """The dimension of this layer alone at these widths, or less."""
        if self.products:
            return products_at_least(d, self.neurons, d_out)
        if self.heads is None:
            return _neurons(d, d_out, self.neurons, self.degree) if self.neurons else d * d_out
        if not self.heads.is_plain:
            return _inside(self.heads, d, d_out)
        return _heads(d, d_out, min(self.heads.rank, d), min(self.value_rank, d, d_out), self.heads.heads)

    def most(self, d: int, d_out: int) -> Bound:
        """The dimension of this layer alone at these widths, or more."""
        if self.products:
            bound = products_bound(Network((Bilinear(self.neurons, d_out),), dim=d))
            assert bound is not None
            return bound
        if self.heads and not self.heads.is_plain:
            return _at_most(self.heads, d, d_out)
        if self.heads:
            return least(*single_layer_bounds(d, d_out, self.heads.rank, self.heads.heads, self.value_rank))
        if not self.neurons:
            return whole([d, d_out], [])
        counted = Bound(self.neurons * (d + d_out - 1), "the parameters less a factor of each neuron")
        if d_out > 1 and min(d, self.degree) > _MOST_DEGREE:
            return counted
        return least(whole([d, self.neurons, d_out], [self.degree]), counted)


@cache
def _heads(d: int, d_out: int, a: int, b: int, heads: int) -> int:
    """The dimension of a sum of heads at t ≥ 2, or of as many of the heads as weights are found for.

    >>> _heads(4, 4, 1, 4, 2), _heads(2, 2, 2, 2, 2)  # of the second layer, of one head
    (44, 7)
    """
    one = Parts(d, d_out, [a], [b]).dimension
    if heads * (d + d_out + a + b) > _MOST_PLACES:
        return one
    sizes = {(a, b), (max(1, min(a, d - 1)), b), (a, max(1, min(b, min(d, d_out) - 1)))}
    several = (Parts(d, d_out, [alpha] * heads, [beta] * heads) for alpha, beta in sizes)
    return max(one, *(parts.least()[3] for parts in several))


@cache
def _inside(layer: Attention, d: int, d_out: int) -> int:
    """The largest dimension that a theorem knows of layers with fewer or smaller groups, or fewer heads.

    >>> _inside(Attention(4, 2, heads=4, kv_heads=2, value_rank=2), 6, 4)  # a = 2, b = 1
    82
    """

    def proved(smaller: Attention) -> int:
        alone = Network((replace(smaller, out=d_out, mask="none"),), d, 2)
        bound = by_theorem(alone)
        return bound.value if bound else 0

    g, s, a, b = layer.groups, layer.heads // layer.groups, layer.rank, layer.value_rank or d_out
    if layer.kv_latent is not None or layer.q_latent is not None:  # the more heads the better
        numbers = (g >> n for n in range(g.bit_length()))
        heads = (proved(replace(layer, heads=n, kv_heads=None)) for n in numbers)
        return next(filter(None, heads), 0)
    sizes = [(min(g, d // (a + b)), a, b), (1, a, b), (1, min(a, d - 1), 1)]
    fewest = max(1, min(b, d // g - a))  # with fewer rows of values as many of the keys
    sizes += [(g, min(a, d // g - rows), rows) for rows in range(fewest, min(b, d // g - 1) + 1)]
    groups = (
        replace(layer, heads=n * s, kv_heads=n, rank=rank, value_rank=rows)
        for n, rank, rows in sizes
        if n > 0 and rank > 0
    )
    one_head_each = _heads(d, d_out, min(a, d), min(b, d, d_out), g)
    return max(one_head_each, *map(proved, groups))


@cache
def _at_most(layer: Attention, d: int, d_out: int) -> Bound:
    """The parameters less the groups that the contractions of the layer show, with the sizes in use."""
    network = Network((replace(layer, out=d_out, mask="none"),), d, 2)
    return bound_at_any_size(reduced(network))


@cache
def _neurons(d: int, d_out: int, neurons: int, degree: int) -> int:
    """The dimension of a perceptron with two matrices, or less.

    Neurons with disjoint supports; or neurons shared among the outputs, each a sum of powers.

    >>> _neurons(4, 4, 6, 3), _neurons(3, 1, 5, 4)
    (42, 14)
    """
    fitting = min(neurons, Parts(d, d_out).room(degree))
    each, more = divmod(neurons, d_out)
    shared = [each + 1] * more + [each] * (d_out - more)
    alone = sum(sums_of_powers(d, number, degree) for number in shared if number)
    return max(fitting * (d + d_out - 1), alone)


@dataclass(frozen=True)
class Stack:
    """Layers without skip connections, and the layers with skip connections before, between and after these.

    Attributes:
        d: the rows of the input.
        t: the number of tokens.
        blocks: the layers without skip connections.
        residual: of each place before, between and after them the layers with skip connections there.
    """

    d: int
    t: int
    blocks: tuple[PlainLayer, ...]
    residual: tuple[Parts, ...]
    masks: frozenset[Mask] = field(default_factory=frozenset)

    @property
    def widths(self) -> list[int]:
        """The rows of the input, and of the outputs of the blocks."""
        return [self.d, *(block.rows for block in self.blocks)]

    def upper(self) -> Bound:
        """The dimensions of all layers, less the orbits of the groups between them."""
        widths, inner = self.widths, range(1, len(self.blocks))
        while True:
            before = list(widths)
            for i in (*inner, *reversed(inner)):
                if self.residual[i].is_empty:
                    image = self.blocks[i - 1].image(widths[i - 1])
                    widths[i] = min(widths[i], image, self.blocks[i].seen(widths[i + 1]))
            if widths == before:
                break
        sizes = zip(self.blocks, pairwise(widths), strict=True)
        bounds = [block.most(d, d_out) for block, (d, d_out) in sizes]
        if len(bounds) == 1 and all(part.is_empty for part in self.residual):
            return bounds[0]
        total = sum(part.dimension for part in self.residual) + sum(bound.value for bound in bounds)
        groups = sum(widths[i] * self.blocks[i - 1].independent(*widths[i - 1 : i + 1]) for i in inner)
        less = ", minus those of the groups between them" * bool(groups)
        return Bound(total - groups, f"the dimensions of the layers{less}")

    def lower(self) -> int | None:
        """The largest dimension that the theorem proves; ``None`` if it says nothing."""
        sees_back = self._tokens()
        if sees_back is None:
            return None
        widths = self._dense_widths(sees_back)
        if min(widths) < 1:
            return None
        return self._without_skip(widths, sees_back) + self._residual(widths, sees_back)

    def _dense_widths(self, sees_back: Sequence[bool]) -> list[int]:
        """Widths e_0 ≥ e_1 ≥ ... of maps with dense images, and of all that the next layer sees."""
        widths, last = self.widths, len(self.blocks)
        while True:
            before = list(widths)
            for i, block in enumerate(self.blocks, 1):
                if i < last or not self.residual[last].is_empty:
                    widths[i] = block.dominated(widths[i - 1], widths[i], sees_back[i - 1])
            for i in range(last - 1, 0, -1):
                if not self.blocks[i].heads:
                    widths[i] = min(widths[i], self.blocks[i].seen(widths[i + 1]))
            if widths == before:
                return widths

    def _without_skip(self, widths: Sequence[int], sees_back: Sequence[bool]) -> int:
        """The blocks alone: N_{i+1} ≥ n_{i+1} + (N_i − e_i²)/m."""
        if not self.blocks:
            return 0
        total, finite = self.blocks[0].least(*widths[:2]), True
        for i in range(1, len(self.blocks)):
            finite = finite and not self.blocks[i - 1].heads
            block, e = self.blocks[i], widths[i]
            rows = block.dominated(e, widths[i + 1], sees_back[i])
            alone = block.least(e, widths[i + 1])
            if finite and not block.heads:
                total = alone + total - e * e
            elif rows and e >= 2:
                parts = -(-e // rows)
                total = alone + max(0, -((e * e - total) // parts))
            else:
                total = max(alone, total if rows == e else 0)
        return total

    def _residual(self, widths: Sequence[int], sees_back: Sequence[bool]) -> int:
        """What the layers with skip connections add, with one summand for each degree of the coefficients."""
        added, degree, last = Counter[int](), 1, len(self.blocks)
        for i, part in enumerate(self.residual):
            if i:
                degree *= self.blocks[i - 1].degree
            injective = all(
                self.blocks[k].dominated(widths[k], widths[k + 1], sees_back[k]) == widths[i]
                for k in range(i, last)
            )
            if injective and widths[i] > 0:
                for r, dimension in part.at(widths[i]).least().items():
                    offset = degree * (r - 1)
                    added[offset] = max(added[offset], dimension)
        return added.total()

    def _tokens(self) -> list[bool] | None:
        """For two tokens i ≠ j such that j sees i in all layers, whether both see both, by the block.

        ``None`` if there are no such tokens, or if a layer maps some of these two to 0.
        """
        if not self.masks:
            return [False] * len(self.blocks)
        masks = [block.heads.mask if block.heads else None for block in self.blocks]
        for pair in pairs_of_tokens(self.masks, self.t):
            both = {mask: bool(M.all()) for mask, M in pair.items()}
            regular = {mask for mask, M in pair.items() if (M[0, 0] and M[1, 1]) != (M[0, 1] and M[1, 0])}
            if all(mask is None or both[mask] or mask in regular for mask in masks):
                return [mask is not None and both[mask] for mask in masks]
        return None


def stack(architecture: Architecture) -> Stack | None:
    """The blocks of a network of lightning attention, perceptrons and matrices; ``None`` of anything else.

    >>> from agattn.architectures import Network
    >>> layers = [Linear(4), Attention(4, rank=2, skip=True), Perceptron([6, 5, 2], degree=3)]
    >>> found = stack(Network(layers, dim=3, tokens=2))
    >>> [(block.rows, block.neurons) for block in found.blocks], [part.ranks for part in found.residual]
    ([(4, 0), (5, 6), (2, 5)], [[], [2], [], []])
    """
    layers = layers_of(architecture)
    if layers is None or (pieces := _joined(layers)) is None:
        return None
    d, t = architecture.input_shape
    blocks, residual, masks = list[PlainLayer](), [Parts(d, d)], set[Mask]()
    for piece in pieces:
        if isinstance(piece, PlainLayer):
            blocks.append(piece)
            residual.append(Parts(piece.rows, piece.rows))
            masks |= {piece.heads.mask} if piece.heads else set()
        elif not residual[-1].take(piece):
            return None
        elif isinstance(piece, Attention):
            masks.add(piece.mask)
    return Stack(d, t, tuple(blocks), tuple(residual), frozenset(masks))


def _joined(layers: Sequence[Layer]) -> list[PlainLayer | Layer] | None:
    """Matrices and powers joined to perceptrons of two matrices; layers with skip connections as they are."""
    pieces: list[PlainLayer | Layer] = []
    steps: list[int | Power] = []  # rows of matrices, and the powers between them
    for layer in layers:
        if isinstance(layer, Linear) and not layer.bias:
            steps.append(layer.out)
        elif isinstance(layer, Power):
            steps.append(layer)
        elif isinstance(layer, Perceptron) and not layer.bias and not layer.skip:
            for i, width in enumerate(layer.widths):
                steps += [Power(layer.degree), width] if i else [width]
        else:
            if (closed := _perceptrons(steps)) is None:
                return None
            pieces, steps = [*pieces, *closed], []
            if isinstance(layer, Attention):
                if layer.normalization != "none" or layer.rotary or (layer.skip and not layer.is_plain):
                    return None
                pieces.append(layer if layer.skip else PlainLayer(layer.out, layer, degree=3))
            elif isinstance(layer, Bilinear) and not layer.skip:
                pieces.append(PlainLayer(layer.out, neurons=layer.neurons, degree=2, products=True))
            elif isinstance(layer, (Perceptron, Bilinear)):
                pieces.append(layer)
            else:
                return None
    closed = _perceptrons(steps)
    return None if closed is None else [*pieces, *closed]


def _perceptrons(steps: Sequence[int | Power]) -> list[PlainLayer] | None:
    """Pieces of matrices with powers between them; ``None`` if a power is at an end, or follows another."""
    pieces = list[PlainLayer]()
    for k, step in enumerate(steps):
        before, after = steps[k - 1 : k], steps[k + 1 : k + 2]
        if isinstance(step, Power):
            if not before or not after or isinstance(after[0], Power) or step.degree < 2:
                return None
            neurons, rows = before[0], after[0]
            if isinstance(neurons, Power):
                return None
            pieces.append(PlainLayer(rows, neurons=neurons, degree=step.degree))
        elif not (before and isinstance(before[0], Power)) and not (after and isinstance(after[0], Power)):
            pieces.append(PlainLayer(step))
    return pieces


def cut(architecture: Architecture) -> tuple[Bound, Bound] | None:
    """Both bounds; ``None`` where the theorem says nothing."""
    layers = layers_of(architecture)
    if layers is None or not all(isinstance(layer, _KINDS) for layer in layers):
        return None
    return _cut(Network(tuple(layers), *architecture.input_shape))


@cache
def _cut(network: Network) -> tuple[Bound, Bound] | None:
    pieces = stack(network)
    if pieces is None or len(pieces.blocks) > _MOST_LAYERS or (lower := pieces.lower()) is None:
        return None
    checked = ["no normalization"]
    if pieces.blocks:
        number = len(pieces.blocks)
        checked.append(f"{number} layer{'s' * (number > 1)} without skip connections")
    if any(not part.is_empty for part in pieces.residual):
        checked.append("layers with skip connections between or beside them")
    if pieces.masks:
        checked.append("two tokens of which one sees the other")
    return theorem(ID, lower, checked), pieces.upper()
