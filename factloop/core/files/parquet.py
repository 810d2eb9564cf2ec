"""Parquet, read in batches: the file may be larger than memory. Needs the extra `data` (pyarrow)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factloop.core.errors import DataError
from factloop.core.extras import require
from factloop.core.files.rows import Row

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
        raise DataError("there is no row in it", path=path)


def _objects(path: str, batch: int) -> Iterator[dict[str, Any]]:
    require("data", "Parquet")
    import pyarrow  # type: ignore[import-untyped]  # it ships no types
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            for rows in file.iter_batches(batch_size=batch):
                yield from rows.to_pylist()
    except pyarrow.ArrowException as error:
        raise DataError(f"this is not Parquet that can be read ({_first_line(error)})", path=path) from error
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot be read ({getattr(error, 'strerror', None) or _first_line(error)})", path=path
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
