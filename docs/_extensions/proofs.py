"""Proofs below theorems: folded on the screen, opened by one click, printed in full.

A proof is what stands from a paragraph that begins with *Proof.*, in italics, to the sign ∎, among
paragraphs of one section.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes

#: The sign at the end of a proof.
END = "∎"


class proof(nodes.General, nodes.Element):  # noqa: N801 -- nodes of docutils are written so
    """A proof with all its paragraphs; ``summary`` is what is seen when the proof is folded."""


def proofs(document: nodes.document) -> Iterator[tuple[nodes.Element, int, int]]:
    """The place of each proof: the parent, and the numbers of its first child and of the one after its last.

    Raises:
        ValueError: if a proof has no end in its section.
    """
    for start in list(document.findall(nodes.paragraph)):
        first = start.children[0] if start.children else None
        if not isinstance(first, nodes.emphasis) or not first.astext().startswith("Proof"):
            continue
        children = start.parent.children
        i = children.index(start)
        ends = (n for n, child in enumerate(children) if n >= i and END in child.astext())
        if (last := next(ends, None)) is None:
            raise ValueError(f"{document['source']}: a proof has no end: {start.astext()[:60]}")
        yield start.parent, i, last + 1


def fold(_: Any, document: nodes.document) -> None:
    """Put each proof into a node of its own."""
    for parent, first, end in proofs(document):
        inside = parent.children[first:end]
        name = inside[0].children[0].astext().rstrip(".")
        parent.children[first:end] = []
        parent.insert(first, proof("", *inside, summary=name))


def visit(translator: Any, node: proof) -> None:
    """Begin a proof in HTML."""
    translator.body.append(f'<details class="proof"><summary>{node["summary"]}</summary>\n')


def depart(translator: Any, _: proof) -> None:
    """End a proof in HTML."""
    translator.body.append("</details>\n")


def setup(app: Any) -> dict[str, bool]:
    """Fold the proofs of every page."""
    app.add_node(proof, html=(visit, depart), text=(lambda *_: None, lambda *_: None))
    app.connect("doctree-read", fold)
    app.add_js_file("print.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
