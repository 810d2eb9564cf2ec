"""Embeds data in a page as download links that work offline and comply with the page's security policy."""

from __future__ import annotations

import base64
import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from factloop.reports.visible import visible

LONGEST_PLAIN = 400_000
"""Default maximum size, in bytes, of a file that a link contains uncompressed."""
LONGEST_ADDRESS = 1_900_000  # maximum number of characters in a URL that browsers follow
_FORMULA = (*"=+-@\t\n", *"\uff1d\uff0b\uff0d\uff20")
"""Characters that make a spreadsheet treat a cell as a formula if it starts with one."""

Cell = str | int | float | None


@dataclass(frozen=True)
class DownloadLink:
    """A download link that contains the data as a URL. Browsers do not follow URLs of more than two million characters.
    Long data is therefore compressed, and has no URL if it is still too long."""

    words: str
    file: str
    address: str | None
    size: int
    """Size in bytes before compression."""


def json_download(words: str, file: str, text: str) -> DownloadLink:
    return text_download(words, file, "application/json", text)


def csv_download(words: str, file: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> DownloadLink:
    return text_download(words, file, "text/csv", csv_text(head, rows))


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Returns a table as CSV. None becomes an empty cell, and all other cells are made `harmless`."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerows([harmless(cell) for cell in row] for row in (head, *rows))
    return written.getvalue()


def harmless(cell: Cell) -> Cell:
    """Makes control characters in text visible, and puts an apostrophe before text that a spreadsheet would treat as a
    formula. Returns other values unchanged."""
    text = visible(cell) if isinstance(cell, str) else ""
    return f"'{text}" if text.startswith(_FORMULA) else text or cell


def without_apostrophe(cell: str) -> str:
    """Removes the apostrophe added by `harmless`."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def text_download(words: str, file: str, kind: str, text: str, *, longest_plain: int = LONGEST_PLAIN) -> DownloadLink:
    """Returns a link that downloads text with the media type `kind`, compressed above `longest_plain` bytes."""
    held = text.encode("utf-8", "replace")
    if len(held) <= longest_plain:
        return DownloadLink(words, file, _address(f"{kind};charset=utf-8", held), len(held))
    # level 6 takes half as long as the highest level, and the result is a tenth larger
    packed = _address("application/gzip", gzip.compress(held, compresslevel=6, mtime=0))
    return DownloadLink(words, f"{file}.gz", packed if len(packed) <= LONGEST_ADDRESS else None, len(held))


def _address(kind: str, held: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(held).decode('ascii')}"
