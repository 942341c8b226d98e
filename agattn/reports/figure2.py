"""Figure 2 of HMK: the unrolled network as a ternary tree.

X P_l is a product of matrices X Xᵀ M̃_j, and X; Lemma 3.6 builds it as a tree: the node for X P_i has the
three children X P_{i−1}, (X P_{i−1})ᵀ and X P_{i−1}, with M_i between the last two; a transposed node has
its children transposed and in reverse order. Reading the leaves and the M's from left to right gives
equation 12.

>>> reading(2)
'X Xᵀ M₁ X Xᵀ M₁ᵀ X Xᵀ M₂ X Xᵀ M₁ X'
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agattn.errors import InputError
from agattn.geometry.identifiability.virtual_weights import unrolled_factors
from agattn.reports.drawing import Figure, FigureResult, empty
from agattn.sheet.result import Key, Positive, Result, key

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_INK, _BLUE = "#222222", "#2b6cb0"

#: The most layers whose tree is built: 3⁶ = 729 leaves.
MAX_LAYERS = 6


class Node(NamedTuple):
    """A node of the tree: X P_level, or its transpose; at level 0 a leaf, X or Xᵀ."""

    level: int
    transposed: bool = False

    @property
    def gap(self) -> int:
        """The child after which M_level, or its transpose, stands."""
        # X P = (X P')(X P')ᵀ M (X P'); its transpose is (X P')ᵀ Mᵀ (X P')(X P')ᵀ.
        return 0 if self.transposed else 1

    @property
    def children(self) -> list[Node]:
        """The three children of an inner node, from left to right."""
        flips = (True, False, True) if self.transposed else (False, True, False)
        return [Node(self.level - 1, flip) for flip in flips if self.level]

    @property
    def matrix(self) -> str:
        """The matrix in the gap of an inner node: ``M₁`` or ``M₁ᵀ``."""
        return "M" + str(self.level).translate(_SUBSCRIPTS) + ("ᵀ" if self.transposed else "")

    def __str__(self) -> str:
        name = "XP" + str(self.level).translate(_SUBSCRIPTS) if self.level else "X"
        return name if not self.transposed else f"({name})ᵀ" if self.level else "Xᵀ"


def in_order(l: int) -> list[Node]:  # the paper's l
    """The tree of X P_l from left to right: its leaves, and each inner node in its gap.

    Raises:
        InputError: if l is not between 1 and :data:`MAX_LAYERS`.

    >>> [node.level for node in in_order(1)]
    [0, 0, 1, 0]
    >>> [(node.level, node.transposed) for node in in_order(2) if node.level]  # equation 12
    [(1, False), (1, True), (2, False), (1, False)]
    """
    if not 1 <= l <= MAX_LAYERS:
        raise InputError(f"l is {l}; the tree is drawn for 1 to {MAX_LAYERS} layers")

    return list(_walk(Node(l)))


def _walk(node: Node) -> Iterator[Node]:
    """What is below a node from left to right, and the node in its gap."""
    if not node.level:
        yield node
    for n, child in enumerate(node.children):
        yield from _walk(child)
        if n == node.gap:
            yield node


def reading(l: int) -> str:
    """The product that the tree of X P_l spells."""
    return " ".join(node.matrix if node.level else str(node) for node in in_order(l))


class Factor(Result):
    """A factor of equation 12."""

    i: Key[Positive, "The index of the virtual weight M_i."]
    transposed: Key[bool, "Whether M_i is transposed."]


class Figure2(FigureResult, Sequence[tuple[int, bool]], tag=("figure", 2)):
    """Figure 2: the unrolled network as a tree; also the factors (i, whether it is transposed) in order."""

    layers: Key[Positive, "The number of layers l."] = 2

    @key
    def factors(self) -> list[Factor]:
        """The factors of equation 12, from left to right."""
        return [Factor(*factor) for factor in unrolled_factors(self.layers)]

    @key
    def product(self) -> str:
        """The product as a formula."""
        return f"L {reading(self.layers)}"

    def __getitem__(self, index: Any) -> Any:
        return unrolled_factors(self.layers)[index]

    def __len__(self) -> int:
        return len(unrolled_factors(self.layers))

    @property
    def words(self) -> str:
        """The figure in words, for those who cannot see it."""
        return f"The network as a ternary tree with leaves X and Xᵀ, Figure 2 of HMK for l = {self.layers}."

    @property
    def lines(self) -> list[str]:
        """The product."""
        return [f"φ(X) = {self.product}"]

    def drawing(self) -> Figure:
        """The tree on paper, each node above the middle of its children.

        Raises:
            InputError: if there are not 1 to :data:`MAX_LAYERS` layers, or matplotlib is missing.
        """
        leaves = sum(not node.level for node in in_order(self.layers))
        figure, axes = empty(max(4.0, 0.42 * leaves), 1.0 + 1.1 * self.layers)
        size, bottom = 9 if self.layers <= 3 else 6, itertools.count()

        def text(x: float, y: float, word: str, color: str, pad: float, edge: str) -> None:
            box = {"boxstyle": f"round,pad={pad}", "facecolor": "white", "edgecolor": edge, "linewidth": 0.6}
            axes.text(x, y, word, ha="center", va="center", fontsize=size, color=color, bbox=box, zorder=2)

        def draw(node: Node) -> float:
            children = [draw(child) for child in node.children]
            x = sum(children) / 3 if children else float(next(bottom))
            for child in children:
                axes.plot([x, child], [node.level, node.level - 1], color=_INK, linewidth=0.6, zorder=1)
            if children:
                gap = sum(children[node.gap : node.gap + 2]) / 2
                text(gap, node.level - 0.62, node.matrix, _BLUE, 0.1, "none")
            text(x, node.level, str(node), _INK, 0.2, _INK)
            return x

        draw(Node(self.layers))
        axes.set_axis_off()
        return figure
