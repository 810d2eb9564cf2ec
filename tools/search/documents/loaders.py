"""Files as sections, by their extension."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

from factloop.core.errors import DataError
from factloop.core.extras import require
from factloop.tools.search.documents.front_matter import FrontMatter, read_front_matter
from factloop.tools.search.documents.markdown import markdown_blocks
from factloop.tools.search.documents.names import extension_of, readable_name
from factloop.tools.search.documents.rows import load_csv, load_jsonl, load_tsv
from factloop.tools.search.documents.sections import LONGEST_TITLE, Block, Heading, Section, first_heading, sections_of
from factloop.tools.search.documents.text import read_bytes, read_text

_LONGEST_TITLE_LINE = 100
_SENTENCE_MARKS = (".", "!", "?", ":", ";", ",")


def load_sections(path: Path) -> Iterator[Section]:
    """The sections of one file, in order. Raises DataError where it cannot be read to its end.

    The extension must be one of `files.EXTENSIONS`.
    """
    return _LOADERS[extension_of(path)](path)


def _load_txt(path: Path) -> Iterator[Section]:
    """Plain text; a title is a short first line that stands alone."""
    front, text = read_front_matter(_text(path))
    title, rest = _title_line(text)
    blocks: list[Block] = [Heading(1, title), rest] if title else [text]
    return _sections(blocks, front, path)


def _title_line(text: str) -> tuple[str, str]:
    """The first line, if it is short, alone, and ends as no sentence does, with what is below; else nothing."""
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
    """Loads one section a page. A PDF without any text (a scan) is an error: its content would be silently missing."""
    require("documents", f"{path}: reading PDF", "pypdf")
    from pypdf import PdfReader

    data = read_bytes(path)
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError("the PDF is protected by a password; save a copy without one", path=str(path))
        title = ((reader.metadata and reader.metadata.title) or "").strip()[:LONGEST_TITLE] or readable_name(path)
        pages = [page.extract_text() for page in reader.pages]
    except DataError:
        raise
    except Exception as error:  # pypdf raises whatever a broken file leads it into, not only its own errors
        raise DataError(f"the PDF cannot be read ({type(error).__name__}): {error}", path=str(path)) from error
    if not any(page.strip() for page in pages):
        raise DataError("the PDF holds no text, probably scanned images: run OCR over it first", path=str(path))
    for number, text in enumerate(pages, 1):
        yield Section(text.replace("\0", " "), title, fragment=f"page={number}", goes_on=number > 1)


_LOADERS: dict[str, Callable[[Path], Iterator[Section]]] = {
    ".txt": _load_txt,
    ".md": _load_markdown,
    ".html": _load_html,
    ".htm": _load_html,
    ".pdf": _load_pdf,
    ".jsonl": load_jsonl,
    ".csv": load_csv,
    ".tsv": load_tsv,
    ".jsonl.gz": load_jsonl,
    ".csv.gz": load_csv,
    ".tsv.gz": load_tsv,
}
