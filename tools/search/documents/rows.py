"""Tables as sections, one a row: JSONL, CSV and TSV, read line by line so that a file may be larger than memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from factloop.errors import DataError
from factloop.tools.search.documents.sections import Section
from factloop.tools.search.documents.text import read_lines

TEXT_KEYS = ("text", "passage", "content", "body")
URL_KEYS = ("url", "source", "link")
DATE_KEYS = ("date", "published")
_LONGEST_FIELD = 2**31 - 1
"""Characters in a CSV field: the largest limit that the csv module takes on every platform."""


def load_jsonl(path: Path) -> Iterator[Section]:
    """A section for each line that is an object with a text; blank lines are passed over.

    Raises DataError that names file, line and field.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value is too large or too deep"
            raise DataError(f"this line is no JSON: {reason}", path=str(path), line=number) from error
        if not isinstance(row, dict):
            raise DataError("this line is no JSON object", path=str(path), line=number)
        yield _section(row, path, number)


def load_csv(path: Path) -> Iterator[Section]:
    """A section for each row below the header; fields may be quoted and hold line breaks. Raises DataError."""
    csv.field_size_limit(_LONGEST_FIELD)
    lines = (line + "\n" for _, line in read_lines(path))
    reader = csv.reader(lines, strict=True)
    try:
        header = _header(next(reader, []), path)
        start = reader.line_num + 1
        for cells in reader:
            if cells:
                yield _section(_row(header, cells, path, start), path, start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"this is no CSV: {error}", path=str(path), line=reader.line_num) from error


def load_tsv(path: Path) -> Iterator[Section]:
    """A section for each line below the header. A tab always ends a cell and a line end a row, even within quotes.

    So one stray quotation mark cannot swallow the rows after it. A cell wholly in quotes loses them.
    """
    header: list[str] = []
    for number, line in read_lines(path):
        if not line:
            continue
        cells = [_unquoted(cell) for cell in line.split("\t")]
        if header:
            yield _section(_row(header, cells, path, number), path, number)
        else:
            header = _header(cells, path)


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _header(cells: list[str], path: Path) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    if names and not set(names).intersection(TEXT_KEYS):
        raise DataError(f"the header has none of the columns {', '.join(TEXT_KEYS)}", path=str(path), line=1)
    return names


def _row(header: list[str], cells: list[str], path: Path, line: int) -> dict[str, str]:
    if len(cells) != len(header):
        raise DataError(f"{len(cells)} columns where the header has {len(header)}", path=str(path), line=line)
    return dict(zip(header, cells, strict=True))


def _section(row: Mapping[str, Any], path: Path, line: int) -> Section:
    key = next((key for key in TEXT_KEYS if row.get(key) is not None), None)
    if key is None:
        raise DataError(f"one of {', '.join(TEXT_KEYS)} is needed", path=str(path), line=line, field=TEXT_KEYS[0])
    if not isinstance(row[key], str):
        raise DataError(f"a string is needed, not {type(row[key]).__name__}", path=str(path), line=line, field=key)
    identifier = _scalar(row, ("id",), path, line)
    return Section(
        text=row[key],
        title=_scalar(row, ("title",), path, line) or path.stem,
        url=_scalar(row, URL_KEYS, path, line),
        fragment=f"id={identifier}" if identifier else f"line={line}",
        published=_scalar(row, DATE_KEYS, path, line),
    )


def _scalar(row: Mapping[str, Any], keys: tuple[str, ...], path: Path, line: int) -> str | None:
    """The first of the keys that has a value, as text: numbers are common in ids and dates."""
    for key in keys:
        value = row.get(key)
        if value is None or value == "":
            continue
        if not isinstance(value, str | int | float):
            raise DataError(f"a string is needed, not {type(value).__name__}", path=str(path), line=line, field=key)
        return str(value)
    return None
