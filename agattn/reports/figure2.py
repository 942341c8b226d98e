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
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from agattn.errors import InputError
from agattn.reports.drawing import empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

    def walk(node: Node) -> Iterator[Node]:
        if not node.level:
            yield node
        for n, child in enumerate(node.children):
            yield from walk(child)
            if n == node.gap:
                yield node

    return list(walk(Node(l)))


def reading(l: int) -> str:
    """The product that the tree of X P_l spells."""
    return " ".join(node.matrix if node.level else str(node) for node in in_order(l))


def draw_figure_2(l: int) -> Figure:
    """The unrolled network of l layers as a ternary tree.

    Raises:
        InputError: if l is not between 1 and :data:`MAX_LAYERS`, or matplotlib is missing.
    """
    bottom = itertools.count()
    leaves = sum(not node.level for node in in_order(l))
    figure, axes = empty(max(4.0, 0.42 * leaves), 1.0 + 1.1 * l)
    size = 9 if l <= 3 else 6

    def text(x: float, y: float, word: str, color: str, pad: float, edge: str) -> None:
        box = {"boxstyle": f"round,pad={pad}", "facecolor": "white", "edgecolor": edge, "linewidth": 0.6}
        axes.text(x, y, word, ha="center", va="center", fontsize=size, color=color, bbox=box, zorder=2)

    def draw(node: Node) -> float:
        y, xs = node.level - l, [draw(child) for child in node.children]
        x = sum(xs) / 3 if xs else float(next(bottom))
        for below in xs:
            axes.plot([x, below], [y, y - 1], color=_INK, linewidth=0.6, zorder=1)
        if xs:
            text((xs[node.gap] + xs[node.gap + 1]) / 2, y - 0.62, node.matrix, _BLUE, 0.1, "none")
        text(x, y, str(node), _INK, 0.2, _INK)
        return x

    draw(Node(l))
    axes.set_axis_off()
    return figure
