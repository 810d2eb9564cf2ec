"""Office files and books that the tests make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from docx import Document
from openpyxl import Workbook
from pptx import Presentation

_CONTAINER = '<container xmlns="urn:c"><rootfiles><rootfile full-path="book/it.opf"/></rootfiles></container>'


def docx(*parts: str | tuple[int, str] | list[list[str]]) -> bytes:
    """A text is a paragraph, a number and a text a heading, rows a table."""
    document = Document()
    for part in parts:
        if isinstance(part, str):
            document.add_paragraph(part)
        elif isinstance(part, tuple):
            document.add_heading(part[1], level=part[0])
        else:
            table = document.add_table(rows=0, cols=len(part[0]))
            for row in part:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
    return _saved(document)


def pptx(text: str, title: str = "", notes: str = "") -> bytes:
    """One slide with a title, a text and notes."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = title, text
    if notes:
        slide.notes_slide.notes_text_frame.text = notes
    return _saved(deck)


def xlsx(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    return _saved(book)


def epub(*pages: str, title: str = "", spine: Sequence[int] | None = None) -> bytes:
    """A book of HTML pages, read in the order of `spine`."""
    order = range(len(pages)) if spine is None else spine
    items = "".join(f'<item id="p{n}" href="a%20page{n}.xhtml"/>' for n in range(len(pages)))
    references = "".join(f'<itemref idref="p{n}"/>' for n in order)
    package = (
        f'<package xmlns="urn:p"><metadata><title>{title}</title></metadata>'
        f"<manifest>{items}</manifest><spine>{references}</spine></package>"
    )
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("META-INF/container.xml", _CONTAINER)
        archive.writestr("book/it.opf", package)
        for n, page in enumerate(pages):
            whole = f'<?xml version="1.0" encoding="utf-8"?><html><body>{page}</body></html>'
            archive.writestr(f"book/a page{n}.xhtml", whole)
    return buffer.getvalue()


def _saved(file: Any) -> bytes:
    buffer = BytesIO()
    file.save(buffer)
    return buffer.getvalue()
