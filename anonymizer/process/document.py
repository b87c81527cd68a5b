"""A document of sections and blocks, as terminal text, Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

from markupsafe import Markup, escape

from anonymizer.process.text import environment, figure, is_number, printable, table

# The contents of sentences and of tables.


class Code(str):
    """A name, query or command."""


class Good(str):
    """A verdict that holds."""


class Bad(str):
    """A verdict that does not hold."""


def verdict(passed: bool) -> Good | Bad:
    """The verdict on one check."""
    return Good("holds") if passed else Bad("does not hold")


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure with a bar, whose length is a share between 0 and 1."""

    value: Any
    share: float | None


@dataclass(frozen=True, slots=True)
class Link:
    """A sentence that leads to another part of the page."""

    text: str
    target: str


@dataclass(frozen=True, slots=True)
class Value:
    """A figure of the report."""

    figure: str
    """Path of the figure in the report's JSON, with dots."""
    value: Any
    text: str


Inline: TypeAlias = Any
"""A text or figure, one of the classes above, or a tuple of these."""


def inline_text(part: Inline) -> str:
    """A part of a sentence as plain text."""
    match part:
        case tuple():
            return "".join(map(inline_text, part))
        case Bar():
            return figure(part.value)
        case Link():
            return part.text
        case Value():
            return part.text
    return figure(part)


# Blocks.


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a section."""

    kind: ClassVar[str]
    data: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that JSON contains."""

    @property
    def block(self) -> Block:
        """The block that is shown."""
        return self

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **{n: v for n, v in asdict(self).items() if n in self.data}}


@dataclass(frozen=True, slots=True)
class Text(Block):
    """A sentence, or a list of several."""

    kind: ClassVar[str] = "words"
    data: ClassVar[tuple[str, ...]] = ("sentences",)
    sentences: tuple[Inline, ...]
    style: str = ""
    """Class of the page's style sheet; `good`, `warn` and `bad` are verdicts."""
    lead: Inline = None
    """The sentence that introduces the list."""

    @property
    def loud(self) -> bool:
        return self.style in ("good", "warn", "bad")


def say(*sentences: Inline, style: str = "", lead: Inline = None) -> Text:
    """Create a text."""
    return Text(sentences, style, lead)


@dataclass(frozen=True, slots=True)
class Rows(Block):
    """A table; columns of figures are right-aligned."""

    kind: ClassVar[str] = "table"
    data: ClassVar[tuple[str, ...]] = ("caption", "head", "rows")
    caption: str
    head: tuple[str, ...]
    """Empty for a table without a header."""
    rows: tuple[tuple[Inline, ...], ...]

    @property
    def right(self) -> list[bool]:
        """For each column, whether it holds figures."""
        cells = [[inline_text(cell) for cell in row] for row in self.rows]
        width = len(self.head or (cells[0] if cells else ()))
        return [all(is_number(row[at]) for row in cells) for at in range(width)]


def facts(rows: Iterable[tuple[Inline, ...]]) -> Rows:
    """Create a table without a header."""
    return Rows("", (), tuple(rows))


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as a data URI, with a text description."""

    uri: str
    alt: str
    width: int
    height: int


class Chart(Block):
    """A picture on a page; its figures as a table elsewhere."""

    kind: ClassVar[str] = "chart"

    def figures(self) -> Rows:
        """The figures."""
        raise NotImplementedError

    def picture(self) -> Picture:
        """The drawing."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Tiles(Block):
    """The most important figures, each with its meaning and a remark."""

    kind: ClassVar[str] = "tiles"
    tiles: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Details(Block):
    """Code under a name that a page opens on request."""

    kind: ClassVar[str] = "details"
    name: str
    code: str
    language: str = "sql"


@dataclass(frozen=True, slots=True)
class Open(Block):
    """A question that only a person can answer, or a figure that needs further input."""

    kind: ClassVar[str] = "open"
    data: ClassVar[tuple[str, ...]] = ("says", "how")
    says: str
    how: str
    """Instructions for filling it in."""


@dataclass(frozen=True, slots=True)
class Section(Block):
    """A heading with its blocks, and with sections that stand beside each other."""

    kind: ClassVar[str] = "section"
    title: Inline
    blocks: tuple[Block, ...] = ()
    columns: tuple[Section, ...] = ()
    number: str = ""


def table_section(
    title: str, head: tuple[str, ...], rows: Iterable[tuple[Inline, ...]], *more: Block
) -> Section:
    """Create a section that begins with a table."""
    return Section(title, (Rows("", head, tuple(rows)), *more))


@dataclass(frozen=True, slots=True)
class Document:
    """A title, the blocks before the first section, and the sections."""

    title: str
    top: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()
    above: str = ""
    """Kind of the document, shown above its title."""
    foot: str = ""


# The terminal.


MOST_LINES = 10
"""Most lines of a `repr`."""


def terminal(document: Document) -> Iterator[str]:
    """The document as lines of text."""
    yield document.title
    yield from block_lines(*document.top)
    for section in document.sections:
        yield from ("", *str(section.title).splitlines())
        yield from block_lines(*section.blocks)


def block_lines(*blocks: Block) -> Iterator[str]:
    """Blocks as indented lines of text."""
    for block in blocks:
        match block:
            case Text():
                mark = "  - " if len(block.sentences) > 1 else "  "
                yield from (mark + inline_text(sentence) for sentence in block.sentences)
            case Rows():
                rows = [[_cell(cell) for cell in row] for row in block.rows]
                head = block.head or [""] * len(rows[0] if rows else ())
                yield from table(head, rows)[0 if block.head else 1 :]


def _cell(cell: Inline) -> Any:
    return inline_text(cell) if isinstance(cell, tuple | Bar | Link | Value) else cell


class NotebookResult:
    """A result with a short `repr` and a table in notebooks."""

    __slots__ = ()

    def _document(self) -> Document:
        raise NotImplementedError

    def __repr__(self) -> str:
        """The title and the blocks before the first section, at most ten lines."""
        document = self._document()
        lines = [document.title, *block_lines(*document.top)]
        if len(lines) > MOST_LINES:
            lines[MOST_LINES - 1 :] = [f"  and {len(lines) - MOST_LINES + 1} more"]
        return printable("\n".join(lines))

    def _repr_html_(self) -> str:
        return html(self._document(), page=False)


# Markdown, for wikis and pull requests.


def markdown(document: Document) -> str:
    """The document as Markdown, with the figures of its charts."""
    title = f"{document.above}: {document.title}" if document.above else document.title
    lines = [f"# {_mark(title)}"]
    for block in (*document.top, *document.sections):
        lines += ["", *_markdown_lines(block, 2)] if not isinstance(block, Tiles) else []
    return "\n".join(lines) + "\n"


def _markdown_lines(block: Block, level: int) -> Iterator[str]:
    match block := block.block:
        case Section():
            yield f"{'#' * level} {block.number} {_mark(block.title)}".replace("  ", " ")
            for inner in (*block.blocks, *block.columns):
                yield ""
                yield from _markdown_lines(inner, level + 1)
        case Text():
            bold = "**" if block.loud else ""
            if block.lead is not None:
                yield f"{bold}{_mark(block.lead)}{bold}"
                yield from [""] if block.sentences else []
            if block.style == "stated":
                yield from (f"> {_mark(sentence)}" for sentence in block.sentences)
            elif block.lead is None and len(block.sentences) == 1:
                yield f"{bold}{_mark(block.sentences[0])}{bold}"
            else:
                yield from (f"- {_mark(sentence)}" for sentence in block.sentences)
        case Rows():
            if block.caption:
                yield f"{block.caption}:"
                yield ""
            yield f"| {' | '.join(block.head)} |"
            yield "|" + " --- |" * len(block.head)
            yield from (f"| {' | '.join(map(_mark, row))} |" for row in block.rows)
        case Chart():
            yield from _markdown_lines(block.figures(), level)
        case Details():
            yield f"{_mark(block.name)}\n\n```{block.language}\n{block.code}\n```"
        case Open():
            line = f"{_mark(block.says)}: ______________________ ({_mark(block.how)})"
            yield f"☐ **OPEN** {line}"


def _mark(part: Inline) -> str:
    match part:
        case tuple():
            return "".join(map(_mark, part))
        case Code():
            return code(part)
        case Bad():
            return f"**{part}**"
    plain = printable(re.sub(r"\s+", " ", inline_text(part)), keep="")
    plain = re.sub("<(?=[A-Za-z/!?])", "&lt;", plain)  # (any other is no tag)
    return plain.replace("|", "\\|").replace("`", "'")


def code(text: str) -> str:
    """A name or query as code; only what would end a table's cell is escaped.

    The fence is longer than any run of backticks within (CommonMark 0.31, code spans).
    """
    plain = printable(" ".join(text.split()), keep="").replace("|", "\\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", plain)), default=0))
    inner = f" {plain} " if plain.startswith("`") or plain.endswith("`") else plain
    return f"{fence}{inner}{fence}"


# HTML: one file without script or network, readable on a phone and in print.


def html(document: Document, *, page: bool = True) -> str:
    """The document as a page, or as a part of a notebook; every text is escaped."""
    template = environment().get_template("document.html.j2")
    return template.render(document=document, page=page, inline=_inline, text=inline_text)


def _inline(part: Inline) -> Markup:
    match part:
        case tuple():
            return Markup().join(map(_inline, part))
        case Code():
            return Markup("<code>{}</code>").format(part)
        case Good():
            return Markup('<span class="holds">✓ {}</span>').format(part)
        case Bad():
            return Markup('<span class="fails">✗ {}</span>').format(part)
        case Link():
            return Markup('<a href="#{}">{}</a>').format(part.target, part.text)
        case Value():
            shown = '<data value="{}" data-figure="{}">{}</data>'
            return Markup(shown).format(part.value, part.figure, part.text)
        case Bar() if part.share is not None:
            drawn = (
                '{} <meter style="width: 8rem" value="{:.3f}" aria-label="{:.0f} percent"></meter>'
            )
            return Markup(drawn).format(figure(part.value), part.share, 100 * part.share)
    return escape(inline_text(part))
