"""Reads the rows of a file in any supported format and converts them to records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict

from factloop.core.errors import DataError
from factloop.core.extras import require
from factloop.core.files.csv_rows import read_csv
from factloop.core.files.jsonl import read_jsonl
from factloop.core.files.lines import STANDARD_INPUT, open_given, place_name, read_lines
from factloop.core.files.rows import Identifier, Row, shown
from factloop.core.records import Record

Reshape = Callable[[Row], Iterable[Row]]
"""Splits a row with a different layout into standard rows. Rows without an id get their line number as id."""


class TableItem(Record):
    """Base class for the items in a data set. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    id: Identifier
    """The id in the file, or the line number if there is none."""


T = TypeVar("T", bound=TableItem)


def read_rows(place: str | Path) -> Iterator[Row]:
    """Reads CSV, Parquet, a JSON array or (by default) JSON Lines, depending on the extension. `-` is stdin."""
    name = str(place).lower()
    if name.endswith(".csv"):
        return read_csv(place, lower_case=False)
    if name.endswith((".parquet", ".pq")):
        return read_parquet(place)
    return read_json_array(place) if name.endswith(".json") else read_jsonl(place)


def load_items(places: Iterable[str | Path], kind: type[T], reshape: Reshape | None = None) -> Iterator[T]:
    """Reads items one at a time. Raises DataError at the first row that is malformed or repeats an earlier id."""
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
    """The file itself or, for a folder, all matching files below it, sorted. Raises DataError if there are none."""
    if str(place) == STANDARD_INPUT or not Path(place).is_dir():
        return [place]
    found = sorted({path for pattern in patterns for path in Path(place).rglob(pattern) if path.is_file()})
    if not found:
        raise DataError(f"this folder contains no {' or '.join(patterns)} files", path=str(place))
    return list(found)


LARGEST = 256 * 2**20
"""In characters. An array cannot be read line by line, so it must fit in memory."""


def read_json_array(place: str | Path, *, largest: int = LARGEST) -> Iterator[Row]:
    """Yields one row per item. A row's `line` is the number of the item, starting at 1. `-` is stdin.

    The array may be the field `rows` of an object, as in requests to the service. Raises DataError if the text has more
    than `largest` characters, or is not an array of at least one object.
    """
    path = place_name(place)
    try:
        items = json.loads(_read(place, path, largest))
    except json.JSONDecodeError as error:
        raise DataError(f"this is not JSON: {error.msg}", path=path, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise DataError("this is not JSON: a value is too large or too deeply nested", path=path) from error
    if isinstance(items, dict) and [*items] == ["rows"]:
        items = items["rows"]
    if not isinstance(items, list):
        raise DataError(f"must be an array of objects, not {shown(items)}", path=path)
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict):
            raise DataError(f"must be an object, not {shown(item)}", path=path, line=number)
        yield Row(path, number, item)
    if not items:
        raise DataError("the file has no rows", path=path)


def _read(place: str | Path, path: str, largest: int) -> str:
    parts, size = [], 0
    for _, line in read_lines(place):
        size += len(line)
        if size > largest:
            raise DataError(f"a JSON array must not exceed {largest:,} characters; use JSON Lines", path=path)
        parts.append(line)
    return "".join(parts)


_BATCH = 1024  # maximum number of rows in memory


def read_parquet(place: str | Path, *, batch: int = _BATCH) -> Iterator[Row]:
    """Yields the rows. A row's `line` is its number, starting at 1.

    Raises ConfigError if pyarrow is missing, and DataError if the file is unreadable, is not Parquet or has no rows.
    """
    path = str(place)
    number = 0
    for fields in _objects(path, batch):
        number += 1
        yield Row(path, number, fields)
    if not number:
        raise DataError("the file has no rows", path=path)


def _objects(path: str, batch: int) -> Iterator[dict[str, Any]]:
    require("data", "Parquet")
    import pyarrow  # type: ignore[import-untyped]  # it ships no types
    from pyarrow import parquet

    try:
        with open_given(path), parquet.ParquetFile(path) as file:
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
