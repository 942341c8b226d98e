r"""A document: sections made of blocks, rendered as Markdown and as one self-contained HTML page.

>>> section = Section("Dimension", (Text("It is proved."), Math(r"\dim \mathcal{M} = 5"),
...     Table("Bounds", ("bound", "value"), (("lower", "5"), ("upper", Word("proved"))))))
>>> print(markdown(Document("M(2,1,2)", "A report.", (section,), clock="")).strip())
# M(2,1,2)
<BLANKLINE>
A report.
<BLANKLINE>
## Dimension
<BLANKLINE>
It is proved.
<BLANKLINE>
$$\dim \mathcal{M} = 5$$
<BLANKLINE>
**Bounds**
<BLANKLINE>
| bound | value |
| --- | --- |
| lower | 5 |
| upper | **proved** |
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib import resources
from pathlib import Path

import jinja2
from markupsafe import Markup

from agattn.errors import InputError
from agattn.notebook import with_indices
from agattn.reports.mathml import mathml

_MIME = {".svg": "image/svg+xml", ".png": "image/png"}


@dataclass(frozen=True)
class Text:
    """A paragraph; ``note`` sets it apart, as something a reader must not miss."""

    text: str
    note: bool = False
    kind: str = "text"


@dataclass(frozen=True)
class Math:
    """A formula in LaTeX, on its own line or in a cell."""

    latex: str
    kind: str = "math"


@dataclass(frozen=True)
class Word:
    """A verdict or a kind of evidence, coloured where there are colours."""

    word: str


@dataclass(frozen=True)
class Code:
    """Something to be typed or compared letter by letter."""

    code: str


@dataclass(frozen=True)
class Lines:
    """Several things in one cell, below each other."""

    parts: tuple[str | Math | Word | Code, ...]


@dataclass(frozen=True)
class Terms:
    """A long sum in LaTeX, one part for each term with its sign; a page breaks the line between them."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, latex: str) -> Terms:
        """Break a sum before each sign that stands alone.

        >>> Terms.of("x^{2} y - y_{-1} + 2").parts
        ('x^{2} y', '- y_{-1}', '+ 2')
        """
        return cls(tuple(re.split(r"\s+(?=[+-]\s)", latex)))


Cell = str | Math | Word | Code | Lines | Terms


@dataclass(frozen=True)
class Table:
    """A table; every row has as many cells as there are headings. On a page its columns can be sorted."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    kind: str = "table"


@dataclass(frozen=True)
class Picture:
    """A picture, saved as ``name``; ``alternative`` says what it shows to those who cannot see it."""

    name: str
    data: bytes
    alternative: str
    caption: str
    kind: str = "picture"

    @property
    def uri(self) -> str:
        """The picture as a data URI."""
        encoded = base64.b64encode(self.data).decode()
        return f"data:{_MIME[Path(self.name).suffix]};base64,{encoded}"


@dataclass(frozen=True)
class Attachment:
    """A text file that belongs to the report; shown folded on the page, unless it is too long."""

    name: str
    text: str
    description: str
    shown: bool = True
    kind: str = "attachment"


Block = Text | Math | Table | Picture | Attachment


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def anchor(self) -> str:
        """The heading as an identifier."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


@dataclass(frozen=True)
class Document:
    """A report.

    Attributes:
        title: its heading.
        summary: one paragraph that says what came out.
        sections: its body.
        clock: all that may differ between two runs with the same input: how long things took.
        subject: how titles of reports begin that may replace each other; the title if empty.
    """

    title: str
    summary: str
    sections: tuple[Section, ...]
    clock: str
    subject: str = ""

    def save(self, folder: Path) -> list[Path]:
        """Write ``report.html``, ``report.md``, pictures and attachments into a folder; return their paths.

        Raises:
            InputError: if they cannot be written, or the folder has the report of something else.
        """
        refuse_another_report(folder, self.subject or self.title)
        files: dict[str, str | bytes] = {"report.html": html(self), "report.md": markdown(self)}
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Picture):
                    files[block.name] = block.data
                elif isinstance(block, Attachment):
                    files[block.name] = block.text
        try:
            for name, content in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise InputError(f"cannot write {error.filename}: {error.strerror}") from error
        return [folder / name for name in files]


def refuse_another_report(folder: Path, title: str) -> None:
    """Keep the files of two reports apart.

    Args:
        folder: where a report shall be written.
        title: its title, or the beginning of it.

    Raises:
        InputError: if ``report.md`` there has a title that does not begin so.
    """
    try:
        with (folder / "report.md").open(encoding="utf-8") as file:
            there = file.readline().removeprefix("# ").strip()
    except (OSError, UnicodeDecodeError):
        return
    if not there.startswith(_markdown_text(title)):
        raise InputError(f"{folder} holds another report, {there!r}; choose another --out, or remove it")


def markdown(document: Document) -> str:
    """The document as Markdown, with formulas between dollars and links to attachments."""
    text = _environment().get_template("report.md.j2").render(document=document)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def html(document: Document) -> str:
    """The document as one HTML page that needs no network: formulas are MathML, pictures are inside."""
    return _environment().get_template("report.html.j2").render(document=document)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    folder = Path(str(resources.files("agattn.reports").joinpath("templates")))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=jinja2.select_autoescape(["html.j2"]),
    )
    environment.filters["html_cell"] = _html_cell
    environment.filters["running"] = _running
    environment.filters["is_wide"] = _is_wide
    environment.filters["md_cell"] = _markdown_cell
    environment.filters["md_text"] = _markdown_text
    environment.filters["mathml"] = lambda latex: Markup(mathml(latex, "block"))
    return environment


def _is_wide(cell: Cell) -> bool:
    """Whether a cell holds several things to be read, not only words."""
    return isinstance(cell, Terms) or (
        isinstance(cell, Lines) and not all(isinstance(part, Word) for part in cell.parts)
    )


def _html_cell(cell: Cell) -> Markup:
    if isinstance(cell, Math):
        return Markup(f'<div class="line">{mathml(cell.latex)}</div>')
    if isinstance(cell, Terms):
        # An empty group first, or the sign would be set as that of a number.
        return Markup(" ".join(mathml("{}" * (n > 0) + part) for n, part in enumerate(cell.parts)))
    if isinstance(cell, Word):
        return Markup(f'<span class="word {escape(cell.word)}">{escape(cell.word)}</span>')
    if isinstance(cell, Code):
        return Markup(f"<code>{escape(cell.code)}</code>")
    if isinstance(cell, Lines):
        return Markup().join(Markup("<div>{}</div>").format(_html_cell(part)) for part in cell.parts)
    # One element, as a cell that is laid out as a grid makes an item of each of its children.
    return Markup("<span>{}</span>").format(_running(cell)) if cell else Markup("")


def _running(text: str) -> Markup:
    return Markup(with_indices(escape(text)))


def _markdown_cell(cell: Cell) -> str:
    if isinstance(cell, Math):
        return f"${cell.latex.replace('|', chr(92) + 'vert ')}$"
    if isinstance(cell, Terms):
        return f"${' '.join(cell.parts)}$"
    if isinstance(cell, Word):
        return f"**{cell.word}**" if cell.word else ""
    if isinstance(cell, Code):
        plain = cell.code.translate({ord("`"): "'", ord("|"): r"\|", ord("\n"): " "})
        return f"`{plain}`"
    if isinstance(cell, Lines):
        return " <br> ".join(_markdown_cell(part) for part in cell.parts)
    return _markdown_text(cell).replace("|", "\\|")


def _markdown_text(text: str) -> str:
    """Text in which Markdown finds neither tags nor links nor a new line.

    >>> _markdown_text("a < d, <b>, [x](y)")
    'a < d, &lt;b>, [x&#93;(y)'
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text).replace("](", "&#93;(").replace("\n", " ")
