"""The unrolled network as a ternary tree (HMK, Figure 2).

X P_l is a product of matrices X Xᵀ M̃_j, and X; Lemma 3.6 builds it as a tree: the node for X P_i has the
three children X P_{i−1}, (X P_{i−1})ᵀ and X P_{i−1}, with M_i between the last two; a transposed node has
its children transposed and in reverse order. Reading the leaves and the M's from left to right gives
equation 12.

>>> tree = ternary_tree(2)
>>> tree.number_of_nodes(), len(leaves(tree))
(13, 9)
>>> reading(tree)
'X Xᵀ M₁ X Xᵀ M₁ᵀ X Xᵀ M₂ X Xᵀ M₁ X'
"""

from __future__ import annotations

import networkx as nx

from agattn.errors import InputError

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

#: The most layers whose tree is built: 3⁶ = 729 leaves.
MAX_LAYERS = 6

Node = tuple[int, ...]


def ternary_tree(l: int) -> nx.DiGraph[Node]:  # the paper's l
    """The tree of X P_l. A node is the path to it from the root, as positions 0, 1, 2; the root is ().

    Node attributes: ``level`` (the i of X P_i), ``transposed``, ``label``, and for inner nodes ``between``:
    the matrix in the gap it stands in, as (i, transposed, gap), the gap counted from 0 after its first
    child.

    Raises:
        InputError: if l is not between 1 and :data:`MAX_LAYERS`.
    """
    if not 1 <= l <= MAX_LAYERS:
        raise InputError(f"l is {l}; the tree is drawn for 1 to {MAX_LAYERS} layers")
    tree: nx.DiGraph[Node] = nx.DiGraph()

    def grow(node: Node, level: int, transposed: bool) -> None:
        tree.add_node(node, level=level, transposed=transposed, label=_label(level, transposed))
        if level == 0:
            return
        # X P = (X P')(X P')ᵀ M (X P'); its transpose is (X P')ᵀ Mᵀ (X P')(X P')ᵀ.
        tree.nodes[node]["between"] = (level, transposed, 0 if transposed else 1)
        for position, flipped in enumerate((True, False, True) if transposed else (False, True, False)):
            child = (*node, position)
            grow(child, level - 1, flipped)
            tree.add_edge(node, child)

    grow((), l, False)
    return tree


def leaves(tree: nx.DiGraph[Node]) -> list[Node]:
    """The leaves from left to right."""
    return sorted(node for node in tree if not tree.out_degree(node))


def factors(tree: nx.DiGraph[Node]) -> list[tuple[int, bool]]:
    """The matrices M̃_1, M̃_2, ... from left to right, as (ν, whether transposed): those of equation 12."""
    found: list[tuple[int, bool]] = []

    def walk(node: Node) -> None:
        if "between" not in tree.nodes[node]:
            return
        level, transposed, gap = tree.nodes[node]["between"]
        for position in range(3):
            walk((*node, position))
            if position == gap:
                found.append((level, transposed))

    walk(())
    return found


def reading(tree: nx.DiGraph[Node]) -> str:
    """The product that the tree spells."""

    def walk(node: Node) -> str:
        data = tree.nodes[node]
        if "between" not in data:
            return str(data["label"])
        level, transposed, gap = data["between"]
        words = []
        for position in range(3):
            words.append(walk((*node, position)))
            if position == gap:
                words.append(virtual_weight_label(level, transposed))
        return " ".join(words)

    return walk(())


def virtual_weight_label(i: int, transposed: bool) -> str:
    """``M₁`` or ``M₁ᵀ``."""
    return "M" + str(i).translate(_SUBSCRIPTS) + ("ᵀ" if transposed else "")


def _label(level: int, transposed: bool) -> str:
    if level == 0:
        return "Xᵀ" if transposed else "X"
    name = "XP" + str(level).translate(_SUBSCRIPTS)
    return f"({name})ᵀ" if transposed else name
