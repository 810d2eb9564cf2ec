from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from factloop.tools.search.documents.rows import LONGEST_LABEL
from factloop.tools.search.documents.sections import Block, Heading, Rows, row_lines

_HEADING = re.compile(r"(?:Heading (?P<level>[1-9])|Title)")
"""Matches Word's internal names for heading styles, which are the same in every language."""
_MOST_PARAGRAPHS = 100_000
"""Maximum number of paragraphs in a Word file, including those in tables. A long book has far fewer."""
_MOST_SLIDES, _MOST_CELLS = 5_000, 500_000  # a file of a few kilobytes can list the same slide or row without end
_MOST_CHARACTERS = 10_000_000  # in the cells of an Excel file, which may use the same long text again and again
_LONGEST_REPEATED = 200
"""A merged cell with at most this many characters is repeated. Longer cells are not labels and would fill memory."""


def docx_blocks(data: bytes) -> list[Block]:
    """Returns the paragraphs and tables of a Word file, in order.

    Raises python-docx's errors if the file is broken, and ValueError if it has too many paragraphs.
    """
    from docx import Document
    from docx.oxml.ns import qn
    from docx.table import Table

    document = Document(BytesIO(data))
    of_parts = document.element.body.iter(qn("w:p"), qn("w:gridSpan"))  # a cell is returned for each column it spans
    if sum(max(1, int(part.get(qn("w:val"), 1))) for part in of_parts) > _MOST_PARAGRAPHS:
        raise ValueError(f"the file has more than {_MOST_PARAGRAPHS:,} paragraphs")
    names = {style.style_id: style.name or "" for style in document.styles}  # single look-ups are slow
    return [
        block
        for part in document.iter_inner_content()
        for block in (_docx_table(part) if isinstance(part, Table) else _docx_paragraph(part, names))
    ]


def _docx_paragraph(paragraph: Any, names: Mapping[str, str]) -> Iterator[Block]:
    if text := paragraph.text.strip():
        style = _HEADING.fullmatch(names.get(paragraph._p.style, ""))
        yield text if style is None else Heading(int(style["level"] or 1), text)


def _docx_table(table: Any) -> Iterator[Block]:
    """Repeats the short text of a merged cell in each row and column that the cell spans. python-docx would find this
    text by going up row by row, which takes quadratic time and fails at 1,000 rows.
    """
    from docx.table import _Cell

    rows: list[list[str]] = []
    above: dict[int, str] = {}
    for row in table.rows:
        column, here, below = row.grid_cols_before, dict[int, str](), dict[int, str]()
        for cell in row._tr.tc_lst:
            text = above.get(column, "") if cell.vMerge == "continue" else _Cell(cell, table).text
            repeated = text if len(text) <= _LONGEST_REPEATED else ""
            if not rows and cell.vMerge == "restart" and not repeated:  # too long for a column name
                yield text
                text = ""
            here |= {column: text} | dict.fromkeys(range(column + 1, column + cell.grid_span), repeated)
            below |= dict.fromkeys(range(column, column + cell.grid_span), repeated)
            column += cell.grid_span
        rows.append(list(here.values()))
        above = below
    yield from _table(rows)


def pptx_blocks(data: bytes) -> list[Block]:
    """Returns the slides of a PowerPoint file, each as a heading, text, tables and notes.

    Raises python-pptx's errors, and ValueError if there are too many slides.
    """
    from pptx import Presentation

    if len(slides := Presentation(BytesIO(data)).slides) > _MOST_SLIDES:
        raise ValueError(f"the file has more than {_MOST_SLIDES:,} slides")
    return [block for slide in slides for block in _slide(slide)]


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
    for shape in shapes:
        yield from _shapes(shape.shapes) if hasattr(shape, "shapes") else (shape,)


def xlsx_blocks(data: bytes) -> list[Block]:
    """Returns the sheets of an Excel file, each as a table under its name, with the saved values of formulas. Raises
    ValueError if there are too many cells or characters."""
    from openpyxl import load_workbook

    n_cells = n_characters = 0

    def cells(row: Sequence[Any]) -> list[str]:
        nonlocal n_cells, n_characters
        texts = ["" if value is None else str(value) for value in row]
        n_cells, n_characters = n_cells + len(row), n_characters + sum(map(len, texts))
        if n_cells > _MOST_CELLS or n_characters > _MOST_CHARACTERS:
            most = f"{_MOST_CELLS:,} cells or {_MOST_CHARACTERS:,} characters"
            raise ValueError(f"the file has more than {most}; save its sheets as CSV files")
        return texts

    book = load_workbook(BytesIO(data), read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # the file's dimensions may hide cells, or include billions of empty cells
        sheets = ((sheet.title, map(cells, sheet.iter_rows(values_only=True))) for sheet in book.worksheets)
        tables = [(name, list(_table(rows))) for name, rows in sheets]
        return [block for name, table in tables if table for block in (Heading(1, name), *table)]
    finally:
        book.close()


def _table(rows: Iterable[Sequence[str]]) -> Iterator[Block]:
    """The header is the first nonempty row. A table with only one row becomes text."""
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    if len(filled) == 1:
        yield "; ".join(" ".join(cell.split()) for cell in filled[0] if cell.strip())
    elif filled:
        yield Rows(tuple(row_lines([cell[:LONGEST_LABEL] for cell in filled[0]], filled[1:])))
