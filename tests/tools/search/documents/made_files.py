from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from reportlab.pdfgen.canvas import Canvas

from factloop.core.errors import DataError
from factloop.tools.search.documents.loaders import load_sections
from factloop.tools.search.documents.sections import Section


def load(folder: Path, name: str, content: str | bytes) -> list[Section]:
    """What is read from a file of that name and content; a string is written unchanged, newlines included."""
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return list(load_sections(folder / name))


def refusal(folder: Path, name: str, content: str | bytes) -> str:
    """The error message for an unreadable file, from its name on."""
    with pytest.raises(DataError) as caught:
        load(folder, name, content)
    assert caught.value.path == str(folder / name)
    return str(caught.value).removeprefix(f"{folder}/")


def pdf(*pages: str) -> bytes:
    buffer = BytesIO()
    canvas = Canvas(buffer)
    for text in pages:
        canvas.drawString(72, 720, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


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


def rewritten(zipped: bytes, old: bytes, new: bytes) -> bytes:
    """The zip file with this text replaced in all its parts."""
    made, buffer = ZipFile(BytesIO(zipped)), BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name in made.namelist():
            archive.writestr(name, made.read(name).replace(old, new))
    return buffer.getvalue()


def _saved(file: Any) -> bytes:
    buffer = BytesIO()
    file.save(buffer)
    return buffer.getvalue()
