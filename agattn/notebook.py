r"""How results show themselves in notebooks: one description of a table, as HTML and as LaTeX.

JupyterLab, the classic notebook, Colab and VS Code show HTML where an object offers both, and only
conversions to PDF take the LaTeX. So the HTML is what people see: it holds everything, in plain tags, because
nothing outside the notebook would typeset it. The LaTeX is what people paste into a paper: an ``array``
without the columns and rows of running text, which an array cannot break into lines.

>>> table = Table(Math(r"\mathcal{M}(2,1,2) \subset \mathbb{R}^{6}"), ("stratum", Wide("why")),
...     (("(1,1,1)", "a < b"), ("(1,1,2)", Math("k^{2}"))))
>>> table.html().count("<tr>"), "a &lt; b" in table.html(), "<i>k</i><sup>2</sup>" in table.html()
(3, True, True)
>>> print(table.latex())
$\begin{array}{l} \text{stratum} \\ \hline \text{(1,1,1)} \\ \text{(1,1,2)} \end{array}$
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Math:
    """A formula, in LaTeX."""

    latex: str


class Wide(str):
    """A heading, or the heading of a row, over running text, which only the HTML shows."""


Cell = str | int | Math

_LEFT = ' style="text-align:left;vertical-align:top;padding:2px 8px"'


@dataclass(frozen=True)
class Table:
    """A table for a notebook; every row is as long as the headings, if there are any.

    Attributes:
        caption: what the table is about.
        headings: of the columns; none if the first cell of each row is its heading.
        rows: the cells.
    """

    caption: str | Math
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def html(self) -> str:
        """The table in HTML; everything in it is escaped."""
        head = "".join(f'<th scope="col"{_LEFT}>{escape(name)}</th>' for name in self.headings)
        first = "" if self.headings else ' scope="row"'
        lines = []
        for row in self.rows:
            tags = ["td" if self.headings or n else "th" for n in range(len(row))]
            cells = (
                f"<{tag}{first if tag == 'th' else ''}{_LEFT}>{_html(cell)}</{tag}>"
                for tag, cell in zip(tags, row, strict=True)
            )
            lines.append(f"<tr>{''.join(cells)}</tr>")
        head = f"<thead><tr>{head}</tr></thead>" if head else ""
        caption = (
            f'<caption style="text-align:left;white-space:nowrap">{_html(self.caption)}</caption>'
            if self.caption
            else ""
        )
        return f"<table>{caption}{head}<tbody>{''.join(lines)}</tbody></table>"

    def latex(self) -> str:
        """The table as an array between dollars, without its caption and its running text."""
        kept = [n for n, name in enumerate(self.headings) if not isinstance(name, Wide)]
        rows = [row for row in self.rows if self.headings or not isinstance(row[0], Wide)]
        shown = [kept or range(len(row)) for row in rows]
        lines = [
            " & ".join(_latex(row[n]) for n in columns) for row, columns in zip(rows, shown, strict=True)
        ]
        if self.headings:
            lines[0:0] = [" & ".join(latex_text(self.headings[n]) for n in kept)]
        columns = "l" * max((len(columns) for columns in shown), default=len(kept) or 1)
        body = r" \\ ".join(lines)
        if self.headings:
            body = body.replace(r" \\ ", r" \\ \hline ", 1)
        return rf"$\begin{{array}}{{{columns}}} {body} \end{{array}}$"


class InNotebooks:
    """An object that a notebook shows as a table."""

    def _notebook(self) -> Table:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._notebook().html()

    def _repr_latex_(self) -> str:
        return self._notebook().latex()


def matrix(rows: Iterable[Iterable[object]]) -> Math:
    r"""A matrix of numbers.

    >>> matrix([[1, 0], [0, 2]]).latex
    '\\begin{pmatrix} 1 & 0 \\\\ 0 & 2 \\end{pmatrix}'
    """
    body = r" \\ ".join(" & ".join(_number(x) for x in row) for row in rows)
    return Math(rf"\begin{{pmatrix}} {body} \end{{pmatrix}}")


def _number(x: object) -> str:
    return f"{x:.6g}" if isinstance(x, float) else str(x)


def tensor_product(shapes: Iterable[Sequence[int]]) -> str:
    r"""The module with these highest weights, in LaTeX.

    >>> tensor_product([(2,), (1, 1)])
    'S_{(2)} \\otimes S_{(1,1)}'
    """
    return r" \otimes ".join(f"S_{{({','.join(map(str, part))})}}" for part in shapes)


def _html(cell: Cell) -> str:
    return typeset(cell.latex) if isinstance(cell, Math) else with_indices(escape(str(cell)))


_INDEX = re.compile(
    r"(?<=\w)_\{((?:[^{}]|\{[^{}]*\})*)\}"
    r"|(?<=[A-Za-zα-ωΑ-Ω\u0303\u0304])(?<!\w\w)_([A-Za-zα-ω0-9]{1,2})(?![A-Za-zα-ω0-9_])"
    r"|(?<=[a-z])_\(([^()]*)\)"
)


def with_indices(html: str) -> str:
    """Running text with its indices set as such: after an underscore, in braces or up to two letters.

    >>> with_indices("y_{1,2} is V_c A_b, in d_out, and Σ d_i²")
    'y<sub>1,2</sub> is V<sub>c</sub> A<sub>b</sub>, in d_out, and Σ d<sub>i</sub>²'
    """
    return _INDEX.sub(lambda match: f"<sub>{next(filter(None, match.groups()), '')}</sub>", html)


def _latex(cell: Cell) -> str:
    if isinstance(cell, Math):
        return cell.latex
    return str(cell) if isinstance(cell, int) else latex_text(cell)


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$", "·": r"$\cdot$", "×": r"$\times$", "⊗": r"$\otimes$",
    "−": "$-$", "∈": r"$\in$", "ε": r"$\varepsilon$", "φ": r"$\varphi$", "α": r"$\alpha$", "δ": r"$\delta$",
    "ᵀ": r"$^{\top}$", "ℝ": r"$\mathbb{R}$", "ℂ": r"$\mathbb{C}$", "ℚ": r"$\mathbb{Q}$", "↦": r"$\mapsto$",
    "√": r"$\surd$", "–": "--", "²": "$^2$", "\u0304": "",
}  # fmt: skip


def latex_text(text: str) -> str:
    r"""Text inside a formula.

    >>> latex_text("d_1 ≥ 2")
    '\\text{d\\_1 $\\geq$ 2}'
    """
    return rf"\text{{{''.join(_SPECIAL.get(letter, letter) for letter in text)}}}"


_SIGNS = {
    "otimes": "⊗", "oplus": "⊕", "subset": "⊂", "leq": "≤", "geq": "≥", "neq": "≠", "mapsto": "↦", "in": "∈",
    "times": "×", "cdot": "·", "top": "⊤", "quad": "\u2003", ",": "\u202f", " ": " ", "dim": "dim",
    "deg": "deg", "varepsilon": "ε", "ldots": "…", "{": "{", "}": "}", "mathcal{M}": "𝓜",
    "overline{\\mathcal{M}}": "𝓜̄", "mathbb{R}": "ℝ", "mathbb{C}": "ℂ", "mathbb{Q}": "ℚ", "mathbb{F}": "𝔽",
    "infty": "∞", "sqrt": "√",
}  # fmt: skip
_TOKEN = re.compile(
    r"\\begin\{pmatrix\}(?P<matrix>.*?)\\end\{pmatrix\}|\\(?:text|operatorname)\{(?P<text>(?:\\.|[^{}])*)\}"
    r"|\\(?P<sign>overline\{\\mathcal\{M\}\}|math(?:cal|bb)\{\w\}|[a-zA-Z]+|.)"
    r"|(?P<script>[_^])(?:\{(?P<group>(?:[^{}]|\{[^{}]*\})*)\}|(?P<one>\\[a-zA-Z]+|.))"
    r"|(?P<letter>[a-zA-Z])|(?P<other>.)",
    re.DOTALL,
)


def typeset(latex: str) -> str:
    r"""The LaTeX that results use, in plain HTML: letters, indices, a few signs and matrices.

    >>> typeset(r"y_{12}^{2} \leq d'")
    "<i>y</i><sub>12</sub><sup>2</sup> ≤ <i>d</i>'"
    >>> typeset(r"\text{a < b}")
    'a &lt; b'
    """
    return "".join(_typeset(match) for match in _TOKEN.finditer(latex.strip()))


def _typeset(match: re.Match[str]) -> str:
    part = match.groupdict()
    if part["matrix"] is not None:
        lines = [
            "".join(f'<td style="text-align:center">{typeset(cell)}</td>' for cell in line.split("&"))
            for line in part["matrix"].split(r"\\")
        ]
        rows = "".join(f"<tr>{line}</tr>" for line in lines)
        border = "display:inline-table;vertical-align:middle;border-left:1px solid;border-right:1px solid"
        return f'<table style="{border};border-radius:6px;margin:0">{rows}</table>'
    if part["text"] is not None:
        return escape(re.sub(r"\\(.)", r"\1", part["text"]))
    if part["sign"] is not None:
        return _SIGNS.get(part["sign"], escape(f"\\{part['sign']}"))
    if part["script"] is not None:
        tag = "sub" if part["script"] == "_" else "sup"
        inner = part["group"] if part["group"] is not None else part["one"]
        return f"<{tag}>{typeset(inner)}</{tag}>"
    if part["letter"] is not None:
        return f"<i>{part['letter']}</i>"
    return {"-": "−", "~": " "}.get(match[0], escape(match[0], quote=False))
