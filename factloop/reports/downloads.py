"""Data that a page carries with it, as links that save a file: they work offline and under the page's policy."""

from __future__ import annotations

import base64
import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST_PLAIN = 400_000
"""Bytes of a file that a link holds as it is, where the page says nothing less; what is longer is packed."""
LONGEST_ADDRESS = 1_900_000
"""Most characters of an address that browsers follow."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would compute."""

Cell = str | int | float | None


@dataclass(frozen=True)
class DownloadLink:
    """A link to data: its words, the name of the file it saves, the data themselves as an address, and their bytes.

    Browsers follow no address of more than two million characters. What is long is packed, and what is too long even
    so has no address.
    """

    words: str
    file: str
    address: str | None
    size: int
    """Before packing."""


def json_download(words: str, file: str, text: str) -> DownloadLink:
    return text_download(words, file, "application/json", text)


def csv_download(words: str, file: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> DownloadLink:
    """A table, as `csv_text` writes it."""
    return text_download(words, file, "text/csv", csv_text(head, rows))


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table. A text that a spreadsheet would take for a formula gets an apostrophe before it; None is empty."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerows([harmless(cell) for cell in row] for row in (head, *rows))
    return written.getvalue()


def harmless(cell: Cell) -> Cell:
    """A text that a spreadsheet would take for a formula with an apostrophe before it; all else as it is."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def without_apostrophe(cell: str) -> str:
    """The text that `harmless` put an apostrophe before; all else as it is."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def text_download(words: str, file: str, kind: str, text: str, *, longest_plain: int = LONGEST_PLAIN) -> DownloadLink:
    """A text of a media type, as it is up to `longest_plain` bytes."""
    held = text.encode("utf-8", "replace")
    if len(held) <= longest_plain:
        return DownloadLink(words, file, _address(f"{kind};charset=utf-8", held), len(held))
    # level 6 takes half the time of the highest, for a tenth more
    packed = _address("application/gzip", gzip.compress(held, compresslevel=6, mtime=0))
    return DownloadLink(words, f"{file}.gz", packed if len(packed) <= LONGEST_ADDRESS else None, len(held))


def _address(kind: str, held: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(held).decode('ascii')}"
