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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from agattn.architectures.model_file import Studied
from agattn.errors import InputError
from agattn.evidence import Verdict
from agattn.files import write
from agattn.sheet.data import Cell, Lines, Math, Table, Word
from agattn.sheet.html import cell_html, running
from agattn.sheet.markdown import cell_markdown, text_markdown
from agattn.sheet.mathml import FONT, mathml
from agattn.sheet.result import UNSET, Key, Named, Positive, Result, UnsetType

if TYPE_CHECKING:
    import jinja2


#: Characters of a file that are shown on the page.
_LONGEST_LISTING = 20_000


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Attributes:
        note: whether it is set apart, as something a reader must not miss.
    """

    text: str
    note: bool = False
    kind: str = "text"


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
        kind = {".svg": "svg+xml", ".png": "png"}[Path(self.name).suffix]
        return f"data:image/{kind};base64,{base64.b64encode(self.data).decode()}"


@dataclass(frozen=True)
class Attachment:
    """A text file that belongs to the report; shown folded on the page, unless it is too long."""

    name: str
    text: str
    description: str
    shown: bool = True
    kind: str = "attachment"

    @property
    def is_listed(self) -> bool:
        """Whether the text stands on the page."""
        return self.shown and len(self.text) <= _LONGEST_LISTING


@dataclass(frozen=True)
class Folded:
    """A part that is opened by one click, and printed in full.

    Attributes:
        title: what is seen while it is folded; it takes the place of the caption of a table inside.
        blocks: what is folded.
    """

    title: str
    blocks: tuple[Text | Math | Table | Picture, ...]
    kind: str = "folded"


Block = Text | Math | Table | Picture | Attachment | Folded


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
        summary: one paragraph that says what came out.
        clock: all that may differ between two runs with the same input: how long things took.
        subject: how titles of reports begin that may replace each other; the title if empty.
        exit_status: of the command that makes it.
        claims: the verdicts, of a report about the claims of an architecture.
    """

    title: str
    summary: str
    sections: tuple[Section, ...]
    clock: str
    subject: str = ""
    exit_status: int = 0
    claims: tuple[Verdict, ...] = ()

    def blocks(self) -> Iterator[Block]:
        """The blocks of all sections; what is folded follows the block that folds it."""
        for section in self.sections:
            for block in section.blocks:
                yield block
                if isinstance(block, Folded):
                    yield from block.blocks

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``report.html``, ``report.md``, pictures and attachments into a folder; return their paths.

        Raises:
            InputError: if they cannot be written, or the folder has the report of something else.
        """
        folder = Path(folder)
        refuse_another_report(folder, self.subject or self.title)
        files: dict[str, str | bytes] = {"report.html": html(self), "report.md": markdown(self)}
        for block in self.blocks():
            if isinstance(block, Picture | Attachment):
                files[block.name] = block.data if isinstance(block, Picture) else block.text
        for name, content in files.items():
            write(folder / name, content)
        return [folder / name for name in files]


class ModelSummary(Result):
    """What a report of a model says."""

    text: Key[str, "The result in a sentence.", Named("summary")]


class StudySummary(ModelSummary):
    """What a report of a study says."""

    jobs: Key[Positive, "How many results the study has."]


class SavedReport(Result, name="report", one_of=("claims", "model", "study")):
    """A report that was written, and what it is about."""

    files: Key[tuple[str, ...], "What was written: report.html, report.md, pictures, scripts, transcripts."]
    architecture: Key[Studied | UnsetType, "The layer, network or model."] = UNSET
    claims: Key[tuple[Verdict, ...] | UnsetType, "The verdicts, as in agattn verify --json."] = UNSET
    model: Key[
        ModelSummary | UnsetType, "The result for a model that is no layer and no network of attention."
    ] = UNSET
    study: Key[
        StudySummary | UnsetType,
        "The result for a study, instead of `architecture` and `claims`; with --study only.",
    ] = UNSET

    def summary(self) -> str:
        """Where the report is."""
        return f"wrote {self.files[0]} and {len(self.files) - 1} more"


def refuse_another_report(folder: Path, title: str) -> None:
    """Keep the files of two reports apart.

    Raises:
        InputError: if the title of ``report.md`` in the folder does not begin with this title.
    """
    if not (folder / "report.md").is_file():  # a pipe would be waited for
        return
    try:
        with (folder / "report.md").open(encoding="utf-8") as file:
            there = file.readline(10_000).removeprefix("# ").strip()
    except (OSError, UnicodeDecodeError):
        return
    if not there.startswith(text_markdown(title)):
        raise InputError(
            f"{folder} holds another report, {there!r}; choose another folder, or remove that report"
        )


def markdown(document: Document) -> str:
    """The document as Markdown, with formulas between dollars and links to attachments."""
    text = environment().get_template("report.md.j2").render(document=document)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def html(document: Document) -> str:
    """The document as one HTML page that needs no network: formulas are MathML, pictures are inside."""
    return environment().get_template("report.html.j2").render(document=document)


@lru_cache(maxsize=1)
def environment() -> jinja2.Environment:
    """The templates of this room, with what they need."""
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("agattn.reports"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=jinja2.select_autoescape(["html.j2"]),
    )
    templates.filters |= {
        "html_cell": cell_html,
        "running": running,
        "is_wide": _is_wide,
        "md_cell": cell_markdown,
        "md_text": text_markdown,
        "mathml": lambda latex: Markup(mathml(latex, "block")),
        "is_stacked": _is_stacked,
        "is_short": lambda table, n: not all(_is_wide(row[n]) for row in table.rows),
    }
    templates.globals["font"] = base64.b64encode(FONT.read_bytes()).decode()
    return templates


def _is_stacked(table: Table) -> bool:
    """Whether a row is shown as a card on a phone: where several of its cells are to be read."""
    return any(sum(map(_is_wide, row)) > 1 for row in table.rows) and len(table.headings) > 3


def _is_wide(cell: Cell) -> bool:
    """Whether a cell holds several things to be read, not only words."""
    if isinstance(cell, Math):
        return cell.is_sum
    return isinstance(cell, Lines) and not all(isinstance(part, Word) for part in cell.parts)


def sections(template: str, **values: object) -> tuple[Section, ...]:
    r"""The sections of a document from a template of ``agattn/reports``, which holds their sentences.

    In the template a line ``## Title`` begins a section, and empty lines part its blocks: paragraphs, notes
    after ``> ``, formulas between two dollars, and the names of values that are blocks, such as
    ``{{ table }}``, or results, which show their tables. Other values are text, whatever is in them, and
    nothing for ``None``. Sections without blocks are left out, and of a table without rows only the caption
    is kept, as a sentence.

    Raises:
        jinja2.UndefinedError: if a value is missing.
    """
    shown: list[Block] = []

    def show(value: object) -> str:
        if isinstance(value, Table) and not value.rows:
            return f"\n\n{show(value.caption)}.\n\n"  # which says what there is none of
        if isinstance(value, Result):
            value = value.sheet().tables
        if isinstance(value, Block):
            shown.append(value)
            return f"\n\n\0{len(shown) - 1}\n\n"
        if isinstance(value, tuple):
            return "".join(map(show, value))
        return "" if value is None else " ".join(str(value).replace("\0", "").split())

    def block(paragraph: str) -> Block:
        if paragraph.startswith("\0"):
            return shown[int(paragraph[1:])]
        if paragraph.startswith("$$"):
            return Math(paragraph.strip("$"))
        return Text(paragraph.removeprefix("> "), note=paragraph.startswith("> "))

    text = environment().overlay(finalize=show).get_template(f"{template}.j2").render(values)
    parts = [part.partition("\n") for part in re.split(r"(?m)^## ", text)[1:]]
    made = (
        Section(title, tuple(block(" ".join(p.split())) for p in re.split(r"\n\s*\n", body) if p.strip()))
        for title, _, body in parts
    )
    return tuple(section for section in made if section.blocks)
