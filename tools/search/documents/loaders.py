from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zipfile import ZipFile

from factloop.core.errors import DataError
from factloop.core.extras import require
from factloop.tools.search.documents.files import extension_of, readable_name
from factloop.tools.search.documents.markdown import markdown_blocks
from factloop.tools.search.documents.rows import load_csv, load_json, load_jsonl, load_tsv
from factloop.tools.search.documents.sections import (
    LONGEST_TITLE,
    Block,
    Heading,
    Section,
    first_heading,
    sections_of,
    written_blocks,
)
from factloop.tools.search.documents.text import FrontMatter, read_bytes, read_front_matter, read_text
from factloop.tools.text.blocks import ASKS, WRAPPED_FROM, awaits_more

if TYPE_CHECKING:
    from pypdf import PageObject

T = TypeVar("T")
_LONGEST_TITLE_LINE = 100
_MOST_UNPACKED = 500_000_000
"""Maximum unpacked size of a zipped document, in bytes. Larger ones are assumed to be zip bombs."""
_SENTENCE_MARKS = (".", "!", "?", ":", ";", ",")
_MOST_PAGES = 5_000
_NARROWEST = 30
_PLAIN_TITLE = re.compile(r"[^\W_a-z](?:[^.!?…:;,。！？|]|[:;,](?!\s|$)|\.(?![\s.]|$))*")


def load_sections(path: Path) -> Iterator[Section]:
    """Yields the sections of a file, in order. Raises DataError if the file cannot be read to the end.

    The extension must be in `files.EXTENSIONS`.
    """
    yield from _LOADERS[extension_of(path)](path)


def _load_txt(path: Path) -> Iterator[Section]:
    """A short, separate first line is the title. A line that heads a paragraph is split off."""
    front, text = read_front_matter(_text(path))
    title, rest = _title_line("\n".join(_parted(text.split("\n"))))
    blocks: list[Block] = [Heading(1, title), rest] if title else [rest]
    return _sections(blocks, front, path)


def _parted(lines: Sequence[str]) -> Iterator[str]:
    for above, line, below in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        yield line
        if not above.strip() and below.strip() and _heads_paragraph(line.strip(), below.strip()):
            yield ""


def _heads_paragraph(line: str, below: str) -> bool:
    """A heading is a short line that is not a sentence. It must leave enough room for the next word, because wrapped
    text would have filled that room.
    """
    goes_on = awaits_more(line) and not ASKS.match(line)
    if goes_on or len(line) >= WRAPPED_FROM or not _PLAIN_TITLE.fullmatch(line):
        return False
    is_paragraph = len(below) >= WRAPPED_FROM or below.endswith((".", "!", "?"))
    width = max(len(below), _NARROWEST)
    return is_paragraph and not below[0].islower() and len(line) + 1 + len(below.split(maxsplit=1)[0]) <= width


def _title_line(text: str) -> tuple[str, str]:
    line, _, rest = text.lstrip().partition("\n")
    line, (below, _, more) = line.rstrip(), rest.partition("\n")
    is_title = len(line) <= _LONGEST_TITLE_LINE and not line.endswith(_SENTENCE_MARKS) and any(map(str.isalnum, line))
    return (line.lstrip("# "), more) if is_title and not below.strip() and more.strip() else ("", text)


def _load_markdown(path: Path) -> Iterator[Section]:
    front, text = read_front_matter(_text(path))
    return _sections(markdown_blocks(text), front, path)


def _load_html(path: Path) -> Iterator[Section]:
    require("documents", f"{path}: reading HTML", "lxml")
    from factloop.tools.search.documents.html import read_html

    page = read_html(read_text(path))
    return _sections(page.blocks, FrontMatter(title=page.title), path)


def _text(path: Path) -> str:
    return read_text(path).replace("\r\n", "\n")


def _sections(blocks: Sequence[Block], front: FrontMatter, path: Path) -> Iterator[Section]:
    title = front.title or first_heading(blocks) or readable_name(path)
    return sections_of(blocks, title=title[:LONGEST_TITLE], url=front.url, published=front.published)


def _load_pdf(path: Path) -> Iterator[Section]:
    """Loads one section per page. A PDF without text (a scan) is an error, so that it does not go unnoticed."""
    require("documents", f"{path}: reading PDF", "pypdf")
    from pypdf import PdfReader

    from factloop.tools.search.documents.pdf import page_blocks

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # errors are reported once, below

    data = read_bytes(path)
    with _foreign_reader(path, "the PDF"):
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError("the PDF is protected by a password; save a copy without a password", path=str(path))
        if len(reader.pages) > _MOST_PAGES:
            raise DataError(f"the PDF has more than {_MOST_PAGES:,} pages; split it", path=str(path))
        title = ((reader.metadata and reader.metadata.title) or "").strip()[:LONGEST_TITLE] or readable_name(path)
        pages = [page.extract_text() for page in reader.pages]
        layouts = [_layout(page, path) for page in reader.pages]
    if not any(page.strip() for page in pages):
        raise DataError("the PDF contains no text (it may be a scan); run OCR on it first", path=str(path))
    for number, (text, layout) in enumerate(zip(pages, layouts, strict=True), 1):
        written, tables = written_blocks(page_blocks(text.replace("\0", " "), layout.replace("\0", " ")))
        yield Section(written, title, fragment=f"page={number}", tables=tables, goes_on=number > 1)


def _layout(page: PageObject, path: Path) -> str:
    try:
        with _foreign_reader(path, "the layout"):
            return page.extract_text(extraction_mode="layout")
    except DataError:
        return ""


def _load_docx(path: Path) -> Iterator[Section]:
    require("documents", f"{path}: reading Word files", "docx")
    from factloop.tools.search.documents.office import docx_blocks

    return _sections(_unzipped(path, "the Word file", docx_blocks), FrontMatter(), path)


def _load_pptx(path: Path) -> Iterator[Section]:
    require("documents", f"{path}: reading PowerPoint files", "pptx")
    from factloop.tools.search.documents.office import pptx_blocks

    return _sections(_unzipped(path, "the PowerPoint file", pptx_blocks), FrontMatter(), path)


def _load_xlsx(path: Path) -> Iterator[Section]:
    require("documents", f"{path}: reading Excel files", "openpyxl")
    from factloop.tools.search.documents.office import xlsx_blocks

    return _sections(_unzipped(path, "the Excel file", xlsx_blocks), FrontMatter(), path)


def _unzipped(path: Path, what: str, read: Callable[[bytes], T]) -> T:
    data = read_bytes(path)
    with _foreign_reader(path, what):
        with ZipFile(BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MOST_UNPACKED:
                raise DataError(f"{what} is larger than {_MOST_UNPACKED:,} bytes when unpacked", path=str(path))
        return read(data)


@contextmanager
def _foreign_reader(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"{what} cannot be read ({type(error).__name__}): {error}", path=str(path)) from error


_LOADERS: dict[str, Callable[[Path], Iterator[Section]]] = {
    ".txt": _load_txt,
    ".md": _load_markdown,
    ".html": _load_html,
    ".htm": _load_html,
    ".pdf": _load_pdf,
    ".docx": _load_docx,
    ".pptx": _load_pptx,
    ".xlsx": _load_xlsx,
    ".json": load_json,
    ".jsonl": load_jsonl,
    ".csv": load_csv,
    ".tsv": load_tsv,
    ".jsonl.gz": load_jsonl,
    ".csv.gz": load_csv,
    ".tsv.gz": load_tsv,
}
