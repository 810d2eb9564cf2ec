"""Reads tables as sections, one per row.

JSONL, CSV and TSV are read line by line, so a file may be larger than memory. They may be compressed with gzip, as the
published passages of wiki-dpr are. JSON is read in full and must not be compressed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloop.core.errors import DataError
from factloop.core.files.csv_rows import read_cells
from factloop.tools.search.documents.files import readable_name
from factloop.tools.search.documents.sections import Section, row_lines, with_items_apart
from factloop.tools.search.documents.text import read_lines, read_text
from factloop.tools.search.passages import PARAGRAPHS

TEXT_KEYS = ("text", "passage", "content", "body")
URL_KEYS = ("url", "source", "link")
DATE_KEYS = ("date", "published")
LONGEST_LABEL = 300
"""Maximum number of characters in a column name. The names are repeated in every row that is read as a whole."""


def load_jsonl(path: Path) -> Iterator[Section]:
    """Yields a section for each line, which must be an object with text. Skips blank lines.

    Raises a DataError that gives the file, line and field.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        row = _parsed(line, "this line is not JSON", path, number)
        if not isinstance(row, dict):
            raise DataError("this line must be a JSON object", path=str(path), line=number)
        yield _section(row, _Place(path, f"line={number}", number))


def load_json(path: Path) -> Iterator[Section]:
    """Yields a section for each record, which must have text. The file contains one object or an array of objects.

    Raises a DataError that gives the file, record and field.
    """
    whole = _parsed(read_text(path), "this is not JSON", path)
    if not isinstance(whole, dict | list):
        raise DataError("the file must contain an object or an array of objects", path=str(path))
    for number, row in enumerate(whole if isinstance(whole, list) else [whole], 1):
        if not isinstance(row, dict):
            raise DataError(f"record {number} must be a JSON object", path=str(path))
        yield _section(row, _Place(path, f"record={number}", named=f"record {number}: "))


def _parsed(text: str, otherwise: str, path: Path, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value is too large or too deep"
        raise DataError(f"{otherwise}: {reason}", path=str(path), line=line) from error


def load_csv(path: Path) -> Iterator[Section]:
    """Yields a section for each row below the header. Quoted fields may contain newlines. Raises DataError."""
    rows = read_cells((line + "\n" for _, line in read_lines(path)), str(path))
    return _table(((line, cells) for line, cells in rows if cells or line == 1), path)


def load_tsv(path: Path) -> Iterator[Section]:
    """Yields a section for each line below the header. Quotes around a whole cell are removed.

    Tabs end cells and newlines end rows, even within quotes, so a stray quotation mark cannot swallow later rows.
    """
    lines = ((number, line.split("\t")) for number, line in read_lines(path) if line)
    return _table(((number, [*map(_unquoted, cells)]) for number, cells in lines), path)


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _table(rows: Iterator[tuple[int, list[str]]], path: Path) -> Iterator[Section]:
    """If several columns have the same name, the last one is used. Without a text column, each row is read in full,
    together with the header.
    """
    _, header = next(rows, (1, []))
    header = [cell if len(cell) <= LONGEST_LABEL else f"{cell[:LONGEST_LABEL]}…" for cell in header]
    names = [cell.strip().lower() for cell in header]
    has_text = not set(TEXT_KEYS).isdisjoint(names)
    for line, cells in rows:
        if not has_text:
            text = PARAGRAPHS.join(row_lines(header, [cells]))
            yield Section(text, readable_name(path), fragment=f"line={line}", tables=((0, len(text)),))
        elif len(cells) != len(header):
            found = f"the row has {len(cells)} column{'s' * (len(cells) != 1)}, but the header has {len(header)}"
            raise DataError(found, path=str(path), line=line)
        else:
            yield _section(dict(zip(names, cells, strict=True)), _Place(path, f"line={line}", line))


@dataclass(frozen=True, slots=True)
class _Place:
    path: Path
    fragment: str
    line: int | None = None
    named: str = ""

    def error(self, message: str, field: str | None = None) -> DataError:
        return DataError(f"{self.named}{message}", path=str(self.path), line=self.line, field=field)


def _section(row: Mapping[str, Any], place: _Place) -> Section:
    key = next((key for key in TEXT_KEYS if row.get(key) is not None), None)
    if key is None:
        raise place.error(f"must have one of these fields: {', '.join(TEXT_KEYS)}")
    if not isinstance(row[key], str):
        raise place.error(f"must be a string, not {type(row[key]).__name__}", key)
    identifier = _scalar(row, ("id",), place)
    return Section(
        text=with_items_apart(row[key]),
        title=_scalar(row, ("title",), place) or readable_name(place.path),
        url=_scalar(row, URL_KEYS, place),
        fragment=f"id={identifier}" if identifier else place.fragment,
        published=_scalar(row, DATE_KEYS, place),
    )


def _scalar(row: Mapping[str, Any], keys: tuple[str, ...], place: _Place) -> str | None:
    for key in keys:
        value = row.get(key)
        if value is None or value == "":
            continue
        if not isinstance(value, str | int | float):
            raise place.error(f"must be a string, not {type(value).__name__}", key)
        return str(value)
    return None
