"""One JSON array of objects, as several data sets are published, item by item with the line that each starts on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factloop.core.errors import DataError
from factloop.core.files.lines import place_name, read_lines
from factloop.core.files.rows import Row, shown

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
        raise DataError("there is more after the array", path=path, line=text.count("\n", 0, at) + 1)
    if empty:
        raise DataError("there is no row in it", path=path)


def _read(place: str | Path, path: str, largest: int) -> str:
    parts, size = [], 0
    for _, line in read_lines(place):
        size += len(line)
        if size > largest:
            raise DataError(f"this file is longer than {largest:,} characters, and no JSON Lines", path=path)
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
