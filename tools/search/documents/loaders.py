"""Files as sections, by their extension."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

from factloop.errors import DataError
from factloop.tools.search.documents.names import extension_of
from factloop.tools.search.documents.rows import load_csv, load_jsonl, load_tsv
from factloop.tools.search.documents.sections import Section
from factloop.tools.search.documents.text import read_bytes, read_text

_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)
_LONGEST_TITLE = 200


def load_sections(path: Path) -> Iterator[Section]:
    """The sections of one file, in order. Raises DataError where it cannot be read to its end.

    The extension must be one of `files.EXTENSIONS`.
    """
    return _LOADERS[extension_of(path)](path)


def _load_txt(path: Path) -> Iterator[Section]:
    yield Section(read_text(path), path.stem)


def _load_markdown(path: Path) -> Iterator[Section]:
    """Markdown as it stands; its first heading is the title."""
    text = read_text(path)
    heading = _HEADING.search(text)
    yield Section(text, heading[1].strip()[:_LONGEST_TITLE] if heading else path.stem)


def _load_html(path: Path) -> Iterator[Section]:
    from factloop.tools.search.documents.html import html_text

    text, title = html_text(read_text(path))
    yield Section(text, title[:_LONGEST_TITLE] or path.stem)


def _load_pdf(path: Path) -> Iterator[Section]:
    """One section a page. A PDF without any text (a scan) is an error: its content would be silently missing."""
    from pypdf import PdfReader

    data = read_bytes(path)
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError("the PDF is protected by a password; save a copy without one", path=str(path))
        title = ((reader.metadata and reader.metadata.title) or "").strip()[:_LONGEST_TITLE] or path.stem
        pages = [page.extract_text() for page in reader.pages]
    except DataError:
        raise
    except Exception as error:  # pypdf raises whatever a broken file leads it into, not only its own errors
        raise DataError(f"the PDF cannot be read ({type(error).__name__}): {error}", path=str(path)) from error
    if not any(page.strip() for page in pages):
        raise DataError("the PDF holds no text, probably scanned images: run OCR over it first", path=str(path))
    for number, text in enumerate(pages, 1):
        yield Section(text.replace("\0", " "), title, fragment=f"page={number}")


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
