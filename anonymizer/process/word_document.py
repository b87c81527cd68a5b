"""A document as a text document (DOCX), to be edited and signed; with the extra `docx`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from anonymizer.errors import EngineError
from anonymizer.process.document import (
    Bad,
    Block,
    Chart,
    Code,
    Details,
    Document,
    Good,
    Inline,
    Open,
    Rows,
    Section,
    Text,
    Tiles,
    inline_text,
)
from anonymizer.process.text import printable

HINT = "python -m pip install 'sql-anonymizer[docx]'"
MOST_LEVEL = 9
"""The deepest heading that the format has."""
LINE = "_" * 40
"""Where an open field is written by hand."""


def word(document: Document) -> bytes:
    """The document as the bytes of a .docx file, with the figures of its charts as tables.

    Raises EngineError if python-docx is not installed.
    """
    try:
        import docx
    except ImportError:
        raise EngineError.at("docx", "needs python-docx, which is not there", hint=HINT) from None
    made = docx.Document()
    # (the template of the library names itself and its author)
    properties = made.core_properties
    title = ": ".join(filter(None, (document.above, document.title)))
    properties.title, properties.author, properties.comments = _plain(title), "", ""
    properties.created = properties.modified = datetime.now(UTC)
    if document.above:
        made.add_paragraph(_plain(document.above), style="Subtitle")
    made.add_heading(_plain(document.title), 0)
    for block in (*document.top, *document.sections):
        _add(made, block, 1)
    if document.foot:
        made.add_paragraph(_plain(document.foot))
    content = BytesIO()
    made.save(content)
    return content.getvalue()


def _add(made: Any, block: Block, level: int) -> None:
    match block := block.block:
        case Section():
            title = f"{block.number} {inline_text(block.title)}".strip()
            made.add_heading(_plain(title), min(level, MOST_LEVEL))
            for inner in (*block.blocks, *block.columns):
                _add(made, inner, level + 1)
        case Text():
            _add_text(made, block)
        case Chart():
            _add(made, block.figures(), level)
        case Rows():
            _add_table(made, block)
        case Tiles():
            for figure, says, more in block.tiles:
                _write(made.add_paragraph(style="List Bullet"), f"{says}: {figure} {more}".strip())
        case Details():
            made.add_paragraph(_plain(block.name))
            made.add_paragraph(printable(block.code), style="No Spacing")
        case Open():
            field = made.add_paragraph()
            field.add_run("☐ Open: ").bold = True
            field.add_run(_plain(f"{block.says} ({block.how})"))
            made.add_paragraph(LINE)


def _add_text(made: Any, block: Text) -> None:
    if block.lead is not None:
        _write(made.add_paragraph(), block.lead, bold=block.loud)
    listed = len(block.sentences) > 1 or block.lead is not None
    style = "Quote" if block.style == "stated" else "List Bullet" if listed else "Normal"
    for sentence in block.sentences:
        _write(made.add_paragraph(style=style), sentence, bold=block.loud and not listed)


def _add_table(made: Any, block: Rows) -> None:
    if block.caption:
        made.add_paragraph(_plain(block.caption), style="Caption")
    lines = [*([block.head] if block.head else []), *block.rows]
    if not lines:
        return
    table = made.add_table(rows=0, cols=len(lines[0]), style="Table Grid")
    for at, line in enumerate(lines):
        for cell, part in zip(table.add_row().cells, line, strict=True):
            _write(cell.paragraphs[0], part, bold=bool(block.head) and at == 0)


def _write(paragraph: Any, part: Inline, *, bold: bool = False) -> None:
    """Append a part of a sentence; names are in a typewriter's letters, verdicts are bold."""
    if isinstance(part, tuple):
        for one in part:
            _write(paragraph, one, bold=bold)
        return
    run = paragraph.add_run(_plain(inline_text(part)))
    run.bold = True if bold or isinstance(part, Good | Bad) else None
    if isinstance(part, Code):
        run.font.name = "Courier New"


def _plain(text: Any) -> str:
    """A text without the characters that the format does not have."""
    return printable(re.sub(r"\s+", " ", str(text)), keep="")
