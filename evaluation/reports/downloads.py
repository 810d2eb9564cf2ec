"""Data that a page carries with it, as links that save a file: they work offline and under the page's policy."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would compute."""

Cell = str | int | float | None


@dataclass(frozen=True)
class Download:
    """A link to data: its words, the name of the file it saves, and the data themselves as an address."""

    words: str
    file: str
    address: str


def json_download(words: str, file: str, text: str) -> Download:
    return Download(words, file, _address("application/json", text))


def csv_download(words: str, file: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Download:
    """A table. A text that a spreadsheet would take for a formula gets an apostrophe before it; None is empty."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(head)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return Download(words, file, _address("text/csv", written.getvalue()))


def _harmless(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _address(kind: str, text: str) -> str:
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    return f"data:{kind};charset=utf-8;base64,{encoded}"
