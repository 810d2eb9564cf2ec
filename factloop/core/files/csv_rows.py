"""CSV: a header, then one row each; cells may be quoted and hold line breaks."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from factloop.core.errors import DataError
from factloop.core.files.lines import place_name, read_lines
from factloop.core.files.rows import Row

if TYPE_CHECKING:
    from _csv import Reader

_LONGEST_FIELD = 2**31 - 1
"""Characters in a CSV field: the largest limit that the csv module takes on every platform."""


def read_csv(place: str | Path, *, needed: Iterable[str] = (), lower_case: bool = True) -> Iterator[Row]:
    """The rows below the header, each with the line that it starts on; `lower_case` is about the header's names.

    Raises DataError, when it gets there, for a header without a column of `needed`, a column named twice, a row of
    another width, broken quoting, and a file without rows.
    """
    path = place_name(place)
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader((line for _, line in read_lines(place)), strict=True)
    try:
        header = _header(next(reader, []), tuple(needed), path, lower_case)
        yield from _rows(reader, header, path)
    except csv.Error as error:
        raise DataError(f"this is not CSV: {error}", path=path, line=reader.line_num) from error


def _rows(reader: Reader, header: list[str], path: str) -> Iterator[Row]:
    start, empty = reader.line_num + 1, True
    for cells in reader:
        if cells:
            empty = False
            yield Row(path, start, _named(header, cells, path, start))
        start = reader.line_num + 1
    if empty:
        raise DataError("there is no row in it", path=path)


def _header(cells: Iterable[str], needed: Iterable[str], path: str, lower_case: bool) -> list[str]:
    names = [cell.strip().lower() if lower_case else cell.strip() for cell in cells]
    absent = next((name for name in needed if name not in names), None)
    if absent is not None:
        raise DataError(f"the header has no column {absent!r}", path=path, line=1)
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise DataError("the header has this column twice", path=path, line=1, field=twice)
    return names


def _named(header: list[str], cells: list[str], path: str, line: int) -> dict[str, str]:
    if len(cells) != len(header):
        raise DataError(f"{len(cells)} columns where the header has {len(header)}", path=path, line=line)
    return dict(zip(header, cells, strict=True))
