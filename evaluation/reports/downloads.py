"""Data that a page carries with it, as links that save a file: they work offline and under the page's policy."""

from __future__ import annotations

import base64
import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST_PLAIN, LONGEST_ADDRESS = 400_000, 1_900_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would compute."""

Cell = str | int | float | None


@dataclass(frozen=True)
class Download:
    """A link to data: its words, the name of the file it saves, and the data themselves as an address.

    Browsers follow no address of more than two million characters. What is long is packed, and what is too long even
    so has no address.
    """

    words: str
    file: str
    address: str | None


def json_download(words: str, file: str, text: str) -> Download:
    return _download(words, file, "application/json", text)


def csv_download(words: str, file: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Download:
    """A table. A text that a spreadsheet would take for a formula gets an apostrophe before it; None is empty."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(head)
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return _download(words, file, "text/csv", written.getvalue())


def harmless(cell: Cell) -> Cell:
    """A text that a spreadsheet would take for a formula with an apostrophe before it; all else as it is."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _download(words: str, file: str, kind: str, text: str) -> Download:
    held = text.encode("utf-8", "replace")
    if len(held) <= LONGEST_PLAIN:
        return Download(words, file, _address(f"{kind};charset=utf-8", held))
    packed = _address("application/gzip", gzip.compress(held, mtime=0))
    return Download(words, f"{file}.gz", packed if len(packed) <= LONGEST_ADDRESS else None)


def _address(kind: str, held: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(held).decode('ascii')}"
