"""Rows of any file, and records of rows: what every loader is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ConfigDict

from factloop.core.errors import DataError
from factloop.core.files.csv_rows import read_csv
from factloop.core.files.json_array import read_json_array
from factloop.core.files.jsonl import read_jsonl
from factloop.core.files.lines import STANDARD_INPUT
from factloop.core.files.parquet import read_parquet
from factloop.core.files.rows import Identifier, Row
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
