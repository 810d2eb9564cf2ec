"""Rows of any file, and records of rows: what every loader is made of. JSON arrays and Parquet are read here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict

from factloop.core.errors import DataError
from factloop.core.extras import require
from factloop.core.files.csv_rows import read_csv
from factloop.core.files.jsonl import read_jsonl
from factloop.core.files.lines import STANDARD_INPUT, place_name, read_lines
from factloop.core.files.rows import Identifier, Row, shown
from factloop.core.records import Record

Reshape = Callable[[Row], Iterable[Row]]
"""The rows that one row of another layout holds; a `Row` without `id` gets the number of its line."""


class TableItem(Record):
    """Base of what loaders yield. Fields that the record has no place for are passed over."""

    model_config = ConfigDict(extra="ignore")

    id: Identifier
    """The id in the file, or one made of the place in it."""


T = TypeVar("T", bound=TableItem)


def read_rows(place: str | Path) -> Iterator[Row]:
    """The rows of a CSV, Parquet or JSON file (one array) where the name ends so, else of JSON Lines; `-` is stdin.

    Column names are taken as they stand. Raises DataError as the reader of the kind does.
    """
    name = str(place).lower()
    if name.endswith(".csv"):
        return read_csv(place, lower_case=False)
    if name.endswith((".parquet", ".pq")):
        return read_parquet(place)
    return read_json_array(place) if name.endswith(".json") else read_jsonl(place)


def load_items(places: Iterable[str | Path], kind: type[T], reshape: Reshape | None = None) -> Iterator[T]:
    """The items of the files one after another, read one at a time.

    Raises DataError, when it gets there, for a malformed row and for an id that came before in any of the files.
    """
    ids: dict[str, str] = {}
    for place in places:
        for row in read_rows(place):
            for part in reshape(row) if reshape else (row,):
                item = part.numbered().read_as(kind)
                if item.id in ids:
                    raise part.error(f"{ids[item.id]} has the same id, {item.id!r}", "id")
                ids[item.id] = f"{row.path}:{row.line}"
                yield item


def files_of(place: str | Path, *patterns: str) -> list[str | Path]:
    """The file itself; of a folder, those in it (and below it) that match a pattern, in the order of their paths.

    Raises DataError for a folder without any.
    """
    if str(place) == STANDARD_INPUT or not Path(place).is_dir():
        return [place]
    found = sorted({path for pattern in patterns for path in Path(place).rglob(pattern) if path.is_file()})
    if not found:
        raise DataError(f"no file in this folder is named {' or '.join(patterns)}", path=str(place))
    return list(found)


LARGEST = 256 * 2**20
"""Characters. An array has no lines to read one at a time, so the text is held whole."""

_SPACE = re.compile(r"[ \t\r\n]*")


def read_json_array(place: str | Path, *, largest: int = LARGEST) -> Iterator[Row]:
    """A row for each item; `-` is standard input.

    Raises DataError, when it gets there, for what is no array of objects, for an array of more than `largest`
    characters and for one without items.
    """
    path = place_name(place)
    text = _read(place, path, largest)
    at = _past(text, 0, "[", path)
    line, counted, empty = 1, 0, True
    while not text.startswith("]", at):
        line, counted = line + text.count("\n", counted, at), at
        item, end = _item(text, at, path, line)
        yield Row(path, line, item)
        empty = False
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]  # it matches the empty text too
        if not text.startswith("]", at):
            at = _past(text, at, ",", path)
            if text.startswith("]", at):
                raise DataError("an item is missing after the comma", path=path, line=text.count("\n", 0, at) + 1)
    if text[at + 1 :].strip():
        raise DataError("there is text after the array", path=path, line=text.count("\n", 0, at) + 1)
    if empty:
        raise DataError("it has no rows", path=path)


def _read(place: str | Path, path: str, largest: int) -> str:
    parts, size = [], 0
    for _, line in read_lines(place):
        size += len(line)
        if size > largest:
            raise DataError(f"this file is longer than {largest:,} characters and is not JSON Lines", path=path)
        parts.append(line)
    return "".join(parts)


def _past(text: str, at: int, mark: str, path: str) -> int:
    """The place of what follows `mark`. Raises DataError where something else stands."""
    at = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches the empty text too
    if not text.startswith(mark, at):
        raise DataError(
            f"an array of objects is needed: {mark!r} is not here", path=path, line=text.count("\n", 0, at) + 1
        )
    return _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]  # likewise


def _item(text: str, at: int, path: str, line: int) -> tuple[dict[str, Any], int]:
    try:
        value, end = json.JSONDecoder().raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise DataError(f"this is not JSON: {error.msg}", path=path, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise DataError("this is not JSON: a value is too large or too deep", path=path, line=line) from error
    if not isinstance(value, dict):
        raise DataError(f"an array of objects is needed, with no {shown(value)} in it", path=path, line=line)
    return value, end


_BATCH = 1024
"""Rows that are held at once."""


def read_parquet(place: str | Path, *, batch: int = _BATCH) -> Iterator[Row]:
    """A row for each row of the file; `line` is its number, from 1.

    Raises ConfigError without pyarrow, and DataError for a file that cannot be read, is not Parquet or has no row.
    """
    path = str(place)
    number = 0
    for fields in _objects(path, batch):
        number += 1
        yield Row(path, number, fields)
    if not number:
        raise DataError("it has no rows", path=path)


def _objects(path: str, batch: int) -> Iterator[dict[str, Any]]:
    require("data", "Parquet")
    import pyarrow  # type: ignore[import-untyped]  # it ships no types
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            for rows in file.iter_batches(batch_size=batch):
                yield from rows.to_pylist()
    except pyarrow.ArrowException as error:
        raise DataError(f"this is not a readable Parquet file ({_first_line(error)})", path=path) from error
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot be read ({getattr(error, 'strerror', None) or _first_line(error)})", path=path
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
