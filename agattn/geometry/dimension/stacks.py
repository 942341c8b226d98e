r"""Large networks whose layers have no skip connections: both bounds, layer by layer, without a Jacobian.

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

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from math import comb

from agattn.architectures import Architecture, Attention, Bilinear, Linear, Network, Perceptron, Power
from agattn.architectures.layers import Layer, Mask
from agattn.geometry.dimension.formulas import (
    Bound,
    bound_at_any_size,
    least,
    products_bound,
    reduced,
    single_layer_bounds,
    sums_of_powers,
    whole,
)
from agattn.geometry.dimension.theorems import (
    Parts,
    by_theorem,
    layers_of,
    pairs_of_tokens,
    products_at_least,
    theorem,
)

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
