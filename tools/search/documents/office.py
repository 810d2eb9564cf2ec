"""Word, PowerPoint and Excel files, and books in EPUB, as headings, tables and text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from factloop.tools.search.documents.sections import Block, Heading, Rows, row_lines

_HEADING = re.compile(r"(?:Heading (?P<level>[1-9])|Title)")
"""Word's names of these styles, whatever language they are shown in."""
_CONTAINER = "META-INF/container.xml"
_LARGEST_PAGE = 50_000_000
"""Bytes: a page that unfolds to more is no chapter."""


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


@dataclass(frozen=True, slots=True)
class Book:
    title: str
    """Empty if the package has none."""
    blocks: list[Block]


def read_epub(data: bytes) -> Book:
    """The text of a book. Needs lxml. Raises ValueError for what is no EPUB, BadZipFile for what is no zip file."""
    from factloop.tools.search.documents.html import read_html

    with ZipFile(BytesIO(data)) as archive:
        root = _xml(archive, _CONTAINER).find(".//{*}rootfile")
        package_name = "" if root is None else root.get("full-path", "")
        package = _xml(archive, package_name)
        address_of = {item.get("id"): item.get("href", "") for item in package.iterfind("{*}manifest/{*}item")}
        folder = posixpath.dirname(package_name)
        pages = [
            posixpath.normpath(posixpath.join(folder, unquote(address_of[item.get("idref")])))
            for item in package.iterfind("{*}spine/{*}itemref")
            if item.get("idref") in address_of
        ]
        title = package.findtext("{*}metadata/{*}title") or ""
        blocks = [block for page in pages for block in read_html(_text(archive, page)).blocks]
    return Book(" ".join(title.split()), blocks)


def _xml(archive: ZipFile, name: str) -> Any:
    """Parsed without entities and without network: a book is a stranger's file."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(_bytes(archive, name), parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"{name} is not XML: {error}") from error


def _text(archive: ZipFile, name: str) -> str:
    return _bytes(archive, name).decode("utf-8", "replace").replace("\0", " ")


def _bytes(archive: ZipFile, name: str) -> bytes:
    try:
        entry = archive.getinfo(name)
    except KeyError:
        raise ValueError(f"{name} is missing") from None
    if entry.file_size > _LARGEST_PAGE:
        raise ValueError(f"{name} unpacks to {entry.file_size:,} bytes")
    return archive.read(entry)
