"""Word, PowerPoint and Excel files as headings, tables and text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any

from factloop.tools.search.documents.sections import Block, Heading, Rows, row_lines

_HEADING = re.compile(r"(?:Heading (?P<level>[1-9])|Title)")
"""Word's names of these styles, whatever language they are shown in."""


def docx_blocks(data: bytes) -> list[Block]:
    """The paragraphs and tables of a Word file, in order. Raises what python-docx raises for a broken file."""
    from docx import Document
    from docx.table import Table

    return [
        block
        for part in Document(BytesIO(data)).iter_inner_content()
        for block in (_docx_table(part) if isinstance(part, Table) else _docx_paragraph(part))
    ]


def _docx_paragraph(paragraph: Any) -> Iterator[Block]:
    text = paragraph.text.strip()
    style = _HEADING.fullmatch(paragraph.style.name or "") if paragraph.style is not None else None
    if text:
        yield text if style is None else Heading(int(style["level"] or 1), text)


def _docx_table(table: Any) -> Iterator[Block]:
    yield from _table([[cell.text for cell in row.cells] for row in table.rows])


def pptx_blocks(data: bytes) -> list[Block]:
    """The slides of a PowerPoint file: titles as headings, then texts, tables, notes. Raises what python-pptx does."""
    from pptx import Presentation

    return [block for slide in Presentation(BytesIO(data)).slides for block in _slide(slide)]


def _slide(slide: Any) -> Iterator[Block]:
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        yield Heading(1, " ".join(title.text_frame.text.split()))
    for shape in _shapes(slide.shapes):
        if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id):
            yield shape.text_frame.text
        elif getattr(shape, "has_table", False):
            yield from _table([[cell.text for cell in row.cells] for row in shape.table.rows])
    if slide.has_notes_slide:
        yield slide.notes_slide.notes_text_frame.text


def _shapes(shapes: Any) -> Iterator[Any]:
    """Every shape, those of groups among them."""
    for shape in shapes:
        yield from _shapes(shape.shapes) if hasattr(shape, "shapes") else (shape,)


def xlsx_blocks(data: bytes) -> list[Block]:
    """The sheets of an Excel file, each a table under its name; formulas have the value that was saved with them."""
    from openpyxl import load_workbook

    book = load_workbook(BytesIO(data), read_only=True, data_only=True)
    try:
        sheets = ((sheet.title, map(_cells, sheet.iter_rows(values_only=True))) for sheet in book.worksheets)
        tables = [(name, list(_table(rows))) for name, rows in sheets]
        return [block for name, table in tables if table for block in (Heading(1, name), *table)]
    finally:
        book.close()


def _cells(row: Sequence[Any]) -> list[str]:
    return ["" if value is None else str(value) for value in row]


def _table(rows: Iterable[Sequence[str]]) -> Iterator[Block]:
    """The first row that holds anything is the header, and a table of one row is text."""
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    if len(filled) == 1:
        yield "; ".join(" ".join(cell.split()) for cell in filled[0] if cell.strip())
    elif filled:
        yield Rows(tuple(row_lines(filled[0], filled[1:])))
