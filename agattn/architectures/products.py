r"""Products of parameter arrays that a model contracts with each other, found from its contractions.

Where GL(n) or O(n) acts on an axis of two arrays, the function sees neither of the two alone. It may see
their product along this axis, such as KᵀQ. :func:`adjacent_products` lists the product of each two arrays
that are contracted with each other and no third one. It also lists products of more arrays in which no axis
is left that GL(n) or O(n) acts on, such as V_1ᵀK_2ᵀQ_2V_1, or Σᵢ KᵀQᵢ ⊗ OᵢP of heads that share K and P. No
group of matrices changes these. The products are texts that
:func:`agattn.architectures.functions.read_function` reads.

>>> from agattn.architectures import DeepNetwork, SingleLayer
>>> adjacent_products(SingleLayer(3, 2, 2))
['K^T Q']
>>> adjacent_products(DeepNetwork((3, 3, 2), (2, 2), t=2))
['K_1^T Q_1', 'K_2 V_1', 'Q_2 V_1', 'K_2^T Q_2', 'V_2 V_1', 'V_1^T K_2^T Q_2 V_1']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agattn.architectures.contractions import Node, contractions, cuts
from agattn.architectures.functions import LETTERS
from agattn.architectures.protocol import Architecture

#: Products of more arrays are not looked for.
MOST_ARRAYS = 12
#: The search for products without a free axis ends after so many.
MOST_PRODUCTS = 40

Slot = tuple[int, int]  # an array of a product by its number, and one of its axes
Pairs = frozenset[tuple[int, int]]  # axes of two arrays that run along


@dataclass(frozen=True)
class Contracted:
    """Arrays, contracted along pairs of axes.

    Attributes:
        arrays: their names; an array may occur several times.
        edges: the pairs, with the axes of both arrays that run along.
    """

    arrays: tuple[str, ...]
    edges: tuple[tuple[Slot, Slot, Pairs], ...] = ()

    def slots(self) -> set[Slot]:
        """The axes that are contracted."""
        return {slot for one, other, _ in self.edges for slot in (one, other)}


@dataclass(frozen=True)
class Neighbours:
    """The arrays of a model with their shapes, and what each axis that a group acts on is contracted with."""

    shapes: Mapping[str, tuple[int, ...]]
    of: Mapping[Node, Iterable[tuple[Node, Pairs]]]

    def open(self, product: Contracted) -> list[Slot]:
        """The axes of a product that a group acts on."""
        taken = product.slots()
        every = ((n, k) for n, name in enumerate(product.arrays) for k in range(len(self.shapes[name])))
        return [slot for slot in every if slot not in taken and (product.arrays[slot[0]], slot[1]) in self.of]

    def closed(self, product: Contracted) -> Iterator[Contracted]:
        """The products that begin with this one and have no axis left that a group acts on."""
        left = self.open(product)
        if not left:
            yield product
            return
        (n, k), *others = left
        for (name, axis), along in self.of[product.arrays[n], k]:
            slot_taken = next(
                (slot for slot in others if (product.arrays[slot[0]], slot[1]) == (name, axis)), None
            )
            arrays = product.arrays if slot_taken else (*product.arrays, name)
            slot = slot_taken or (len(product.arrays), axis)
            if len(arrays) <= MOST_ARRAYS:
                yield from self.closed(Contracted(arrays, (*product.edges, ((n, k), slot, along))))


def adjacent_products(architecture: Architecture) -> list[str]:
    """The products of adjacent arrays of a model, and those in which no axis is left that a group acts on.

    None are listed where the model computes something for which contractions have no rule.
    """
    try:
        record = contractions(architecture)
    except NotImplementedError:
        return []
    shapes = architecture.shapes
    groups, _ = cuts(architecture, record)
    acted = {node for cut in groups for node in cut.sides}
    of: dict[Node, dict[tuple[Node, Pairs], None]] = {}
    pairs = []
    for one, other, along in record.met:
        if shapes[one[0]][one[1]] != shapes[other[0]][other[1]]:
            continue  # a filter along the axis: each index of one meets several of the other
        pairs.append(Contracted((one[0], other[0]), (((0, one[1]), (1, other[1]), along),)))
        if one not in acted or other not in acted:
            continue
        back = frozenset((m, k) for k, m in along)
        of.setdefault(one, {})[other, along] = None
        of.setdefault(other, {})[one, back] = None
    neighbours = Neighbours(shapes, of)
    texts = {text: None for pair in pairs if (text := written(pair, shapes))}
    count = 0
    for name in dict.fromkeys(node[0] for node in of):
        for product in neighbours.closed(Contracted((name,))):
            if text := written(product, shapes):
                texts[text] = None
            count += 1
            if count == MOST_PRODUCTS:
                return list(texts)
    return list(texts)


def written(product: Contracted, shapes: Mapping[str, tuple[int, ...]]) -> str | None:
    """A product as text; ``None`` where its matrices are contracted in a circle, so that they have no ends.

    A product and its transpose have one text, and so have arrays in another order.
    """
    front = {n: max(0, len(shapes[name]) - 2) for n, name in enumerate(product.arrays)}
    if any((one[1] < front[one[0]]) != (other[1] < front[other[0]]) for one, other, _ in product.edges):
        return None  # the rows of one array are contracted with the stack of another
    chains = _chains(product, shapes, [(one, other) for one, other, _ in product.edges])
    if chains is None:
        return None
    letters = _letters(product, shapes, [n for chain in chains for n, _ in chain])
    outer = (one for one, _, _ in product.edges if one[1] < front[one[0]])
    summed = sorted({letters[one] for one in outer if one in letters})
    names = []
    for n, name in enumerate(product.arrays):
        own = [letters.get((n, k), LETTERS[k]) for k in range(front[n])]
        names.append(name if own == list(LETTERS[: front[n]]) else f"{name}[{','.join(own)}]")
    texts = [" ".join(names[n] + "^T" * turned for n, turned in chain) for chain in chains]
    return "".join(f"sum_{letter} " for letter in summed) + " ⊗ ".join(texts)


def _letters(
    product: Contracted, shapes: Mapping[str, tuple[int, ...]], order: Sequence[int]
) -> dict[Slot, str]:
    """A letter for each axis before rows and columns that is longer than 1; axes that run along share it.

    Letters are given in an order of the arrays.
    """
    import networkx

    together = networkx.Graph()
    for n, name in enumerate(product.arrays):
        together.add_nodes_from((n, k) for k, size in enumerate(shapes[name][:-2]) if size > 1)
    for (n, k), (m, j), along in product.edges:
        pairs = [((n, k), (m, j)), *(((n, x), (m, y)) for x, y in along)]
        together.add_edges_from((a, b) for a, b in pairs if a in together and b in together)
    letters: dict[Slot, str] = {}
    components = networkx.connected_components(together)
    for slots in sorted(components, key=lambda slots: min((order.index(n), k) for n, k in slots)):
        wanted = LETTERS[min(k for _, k in slots) :] + LETTERS
        letter = next(one for one in wanted if one not in letters.values())
        letters |= dict.fromkeys(slots, letter)
    return letters


Chain = list[tuple[int, bool]]  # arrays by number, each with whether it is transposed


def _chains(
    product: Contracted, shapes: Mapping[str, tuple[int, ...]], edges: list[tuple[Slot, Slot]]
) -> list[Chain] | None:
    """The matrices as products in a row; ``None`` if some are in a circle."""
    to = {slot: end for one, other in edges for slot, end in ((one, other), (other, one))}
    left, chains = list(range(len(product.arrays))), list[Chain]()
    numbers = {name: k for k, name in enumerate(shapes)}

    def slot(n: int, is_column: bool) -> Slot:
        axes = len(shapes[product.arrays[n]])
        return n, max(0, axes - 2) + is_column

    def order(chain: Chain) -> tuple[int, list[int]]:
        """As few transposes as possible, then the order of the model's arrays."""
        return sum(turned for _, turned in chain), [numbers[product.arrays[n]] for n, _ in chain]

    while left:
        ends = [(n, c) for n in left for c in (False, True) if slot(n, c) not in to]
        if not ends:
            return None
        n, is_column = ends[0]
        chain: Chain = []
        while True:
            chain.append((n, is_column))
            left.remove(n)
            if (end := to.get(slot(n, not is_column))) is None:
                break
            n = end[0]
            is_column = end == slot(n, True)
        back = [(n, not turned) for n, turned in reversed(chain)]
        chains.append(min((chain, back), key=order))
    return sorted(chains, key=lambda chain: order(chain)[1])
