"""Reads CSV files with a header. Detects the separator, unless the first line sets one (such as `sep=|`)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from factloop.core.errors import DataError
from factloop.core.files.lines import LONGEST_LINE, place_name, read_lines
from factloop.core.files.rows import Row

_LOOKED_AT = 50  # lines examined to detect the delimiter; quoted cells may contain line breaks
_TOLD = re.compile(r"[Ss]ep=([,;|\t])\r?\n?")  # the line that tells a spreadsheet the delimiter


def read_csv(place: str | Path, *, needed: Iterable[str] = (), lower_case: bool = True) -> Iterator[Row]:
    """Yields the rows below the header, each with the number of its first line.

    Raises DataError during iteration if a column in `needed` is missing, a column name is repeated, a row has the wrong
    number of cells, quoting is broken, or there are no rows.
    """
    path = place_name(place)
    rows = read_cells((line for _, line in read_lines(place)), path)
    _, head = next(rows, (1, []))
    header = _header(head, tuple(needed), path, lower_case)
    empty = True
    for line, cells in rows:
        if cells:
            empty = False
            yield Row(path, line, _named(header, cells, path, line))
    if empty:
        raise DataError("the file has no rows", path=path)


def read_cells(lines: Iterable[str], path: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the cells of each row with the number of its first line. Raises DataError if quoting is broken."""
    csv.field_size_limit(LONGEST_LINE)  # otherwise, an unclosed quotation mark could exhaust the memory
    rest = iter(lines)
    first = list(islice(rest, _LOOKED_AT))
    told = _TOLD.fullmatch(first[0]) if first else None
    above = 0 if told is None else 1
    delimiter = _delimiter(first) if told is None else told[1]
    reader = csv.reader(chain(first[above:], rest), delimiter=delimiter, strict=True)
    start = above + 1
    try:
        for cells in reader:
            yield start, cells
            start = above + reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"this is not CSV: {error}", path=path, line=above + reader.line_num) from error


def _delimiter(first: Iterable[str]) -> str:
    try:
        commas, semicolons = ([len(cells) for cells in csv.reader(first, delimiter=mark) if cells][:2] for mark in ",;")
    except csv.Error:  # reported when the rows are read
        return ","
    return ";" if commas[:1] == [1] and len(set(semicolons)) == 1 and semicolons[0] > 1 else ","


def _header(cells: Iterable[str], needed: Iterable[str], path: str, lower_case: bool) -> list[str]:
    names = [cell.strip().lower() if lower_case else cell.strip() for cell in cells]
    absent = next((name for name in needed if name not in names), None)
    if absent is not None:
        raise DataError(f"the header has no column {absent!r}", path=path, line=1)
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise DataError("this column appears twice in the header", path=path, line=1, field=twice)
    return names


def _named(header: list[str], cells: list[str], path: str, line: int) -> dict[str, str]:
    if len(cells) != len(header):
        raise DataError(f"wrong number of cells: {len(cells)} instead of {len(header)}", path=path, line=line)
    return dict(zip(header, cells, strict=True))
