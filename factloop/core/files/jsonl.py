"""Reads JSON Lines files (one object per line) without loading them whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factloop.core.errors import DataError
from factloop.core.files.lines import LONGEST_LINE, place_name, read_lines
from factloop.core.files.rows import Row, shown


def read_jsonl(place: str | Path, *, longest: int = LONGEST_LINE) -> Iterator[Row]:
    """Yields one row per line. Skips blank lines and replaces lone surrogates with U+FFFD.

    Raises DataError during iteration if the file cannot be read, a line is not a JSON object, or there are no rows.
    """
    path, empty = place_name(place), True
    for number, line in read_lines(place, longest=longest):
        if line.strip():
            empty = False
            yield Row(path, number, parse_object(line.rstrip("\r\n"), path, number))
    if empty:
        raise DataError("the file has no rows", path=path)


def parse_object(line: str, path: str, number: int) -> dict[str, Any]:
    """Replaces lone surrogates with U+FFFD. Raises DataError if the line is not a JSON object."""

    def refuse(constant: str) -> None:  # such as NaN, which Python's parser accepts although JSON does not allow it
        raise DataError(f"this line is not JSON: {constant} is not a JSON number", path=path, line=number)

    try:
        value = json.loads(line, parse_constant=refuse)
        value = _in_whole_characters(value) if "\\ud" in line.lower() else value
    except (ValueError, RecursionError) as error:
        raise DataError(f"this line is not JSON: {_why(error)}", path=path, line=number) from error
    if not isinstance(value, dict):
        raise DataError(f"each line must be a JSON object, not {shown(value)}", path=path, line=number)
    return value


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    return "a value is too large or too deeply nested"


def _in_whole_characters(value: object) -> Any:
    """Replaces lone surrogates, which JSON can escape but UTF-8 cannot encode."""
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
