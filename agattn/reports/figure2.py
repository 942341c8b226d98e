"""Figure 2 of HMK: the unrolled network as a ternary tree.

X P_l is a product of matrices X Xᵀ M̃_j, and X; Lemma 3.6 builds it as a tree: the node for X P_i has the
three children X P_{i−1}, (X P_{i−1})ᵀ and X P_{i−1}, with M_i between the last two; a transposed node has
its children transposed and in reverse order. Reading the leaves and the M's from left to right gives
equation 12.

>>> len(leaves(2))
9
>>> reading(2)
'X Xᵀ M₁ X Xᵀ M₁ᵀ X Xᵀ M₂ X Xᵀ M₁ X'
"""

from __future__ import annotations

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
    """A node of the tree: X P_level, or its transpose.

    Attributes:
        path: the way to it from the root, as positions 0, 1, 2.
        level: the i of X P_i; 0 for the leaves.
        transposed: whether it stands for the transpose.
    """

    path: tuple[int, ...]
    level: int
    transposed: bool

    @property
    def gap(self) -> int:
        """The child after which M_level, or its transpose, stands."""
        # X P = (X P')(X P')ᵀ M (X P'); its transpose is (X P')ᵀ Mᵀ (X P')(X P')ᵀ.
        return 0 if self.transposed else 1

    @property
    def children(self) -> tuple[Node, ...]:
        """The three children of an inner node, from left to right."""
        flips = (True, False, True) if self.transposed else (False, True, False)
        return tuple(
            Node((*self.path, n), self.level - 1, flip) for n, flip in enumerate(flips) if self.level
        )

    def __str__(self) -> str:
        if not self.level:
            return "Xᵀ" if self.transposed else "X"
        name = "XP" + str(self.level).translate(_SUBSCRIPTS)
        return f"({name})ᵀ" if self.transposed else name


def root(l: int) -> Node:  # the paper's l
    """The root X P_l of the tree of l layers.

    Raises:
        InputError: if l is not between 1 and :data:`MAX_LAYERS`.
    """
    if not 1 <= l <= MAX_LAYERS:
        raise InputError(f"l is {l}; the tree is drawn for 1 to {MAX_LAYERS} layers")
    return Node((), l, False)


def _in_order(node: Node) -> Iterator[Node]:
    """The leaves from left to right, and each inner node in its gap."""
    if not node.level:
        yield node
    for n, child in enumerate(node.children):
        yield from _in_order(child)
        if n == node.gap:
            yield node


def leaves(l: int) -> list[Node]:
    """The leaves of the tree of l layers, from left to right."""
    return [node for node in _in_order(root(l)) if not node.level]


def factors(l: int) -> list[tuple[int, bool]]:
    """The matrices M̃_1, M̃_2, ... from left to right, as (ν, whether transposed): those of equation 12.

    >>> factors(2)
    [(1, False), (1, True), (2, False), (1, False)]
    """
    return [(node.level, node.transposed) for node in _in_order(root(l)) if node.level]


def reading(l: int) -> str:
    """The product that the tree of l layers spells."""
    return " ".join(virtual_weight(node) if node.level else str(node) for node in _in_order(root(l)))


def virtual_weight(node: Node) -> str:
    """The M_i in the gap of an inner node: ``M₁`` or ``M₁ᵀ``."""
    return "M" + str(node.level).translate(_SUBSCRIPTS) + ("ᵀ" if node.transposed else "")


def draw_figure_2(l: int) -> Figure:
    """The unrolled network of l layers as a ternary tree.

    Raises:
        InputError: if l is not between 1 and :data:`MAX_LAYERS`, or matplotlib is missing.
    """
    across = {leaf: float(n) for n, leaf in enumerate(leaves(l))}
    figure, axes = empty(max(4.0, 0.42 * len(across)), 1.0 + 1.1 * l)
    size = 9 if l <= 3 else 6

    def text(x: float, y: float, word: str, color: str, pad: float, edge: str) -> None:
        box = {"boxstyle": f"round,pad={pad}", "facecolor": "white", "edgecolor": edge, "linewidth": 0.6}
        axes.text(x, y, word, ha="center", va="center", fontsize=size, color=color, bbox=box, zorder=2)

    def draw(node: Node) -> float:
        y, xs = -len(node.path), [draw(child) for child in node.children]
        x = sum(xs) / 3 if xs else across[node]
        for below in xs:
            axes.plot([x, below], [y, y - 1], color=_INK, linewidth=0.6, zorder=1)
        if xs:
            middle = (xs[node.gap] + xs[node.gap + 1]) / 2
            text(middle, y - 0.62, virtual_weight(node), _BLUE, 0.1, "none")
        text(x, y, str(node), _INK, 0.2, _INK)
        return x

    draw(root(l))
    axes.set_axis_off()
    return figure
