"""Reads the fields of each row of predictions, with the scores gathered under `evaluators`, from any format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from factloop.core.errors import DataError
from factloop.core.files.jsonl import parse_object
from factloop.core.files.lines import place_name, read_lines
from factloop.core.files.rows import Row, shown
from factloop.core.files.tables import read_rows

_OTHERS = (".csv", ".parquet", ".pq", ".json")
_PREFIX = "evaluator:"
_NUMBERS = ("label", "probability")
_WITHOUT_NOUGHT = re.compile(r"\.\d{1,17}")
"""A share as spreadsheets may write it, which JSON does not: *.7*"""

Numbered = tuple[int, Mapping[str, Any]]


def read_fields(place: str | Path) -> Iterator[Numbered]:
    """Line (row, in Parquet) and fields, one at a time. Raises DataError, when it gets there, as the readers do."""
    name = str(place).lower()
    if not name.endswith(_OTHERS):
        return _json_lines(place)
    is_text = name.endswith(".csv")
    return ((row.line, gathered(row, is_text=is_text)) for row in read_rows(place))


def _json_lines(place: str | Path) -> Iterator[Numbered]:
    """Reads as `read_jsonl` does, in a third of the time: a million rows are read on every audit."""
    path = place_name(place)
    for number, line in read_lines(place):
        if not line.isspace():
            try:
                fields = orjson.loads(line)
            except orjson.JSONDecodeError:
                fields = None
            yield number, fields if type(fields) is dict else parse_object(line.rstrip("\r\n"), path, number)


def gathered(row: Row, *, is_text: bool) -> dict[str, Any]:
    """The row with its columns `evaluator:NAME` as one object `evaluators`; in CSV the texts of numbers as numbers.

    Raises DataError for a row that has both, and for a column `evaluators` that holds no JSON object.
    """
    scores = {name.removeprefix(_PREFIX): value for name, value in row.fields.items() if name.startswith(_PREFIX)}
    fields = {name: value for name, value in row.fields.items() if not name.startswith(_PREFIX)}
    if is_text:
        scores = {name: _number(value) for name, value in scores.items()}
        fields = {name: _number(value) if name in _NUMBERS else value or None for name, value in fields.items()}
    if scores and "evaluators" in fields:
        raise row.error("scores stand here or in columns `evaluator:NAME`, not in both", "evaluators")
    if scores:
        return {**fields, "evaluators": scores}
    if "evaluators" in fields:
        fields["evaluators"] = _object(row, fields["evaluators"])
    return fields


def _number(text: str) -> Any:
    """The number that a cell holds, None for an empty one; anything else as it stands, to be refused by name."""
    try:
        value = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return float(text) if _WITHOUT_NOUGHT.fullmatch(text.strip()) else text
    return value if type(value) in (int, float) or (value is None and not text.strip()) else text


def _object(row: Row, value: Any) -> Any:
    """An object as it is, from its JSON, or from the pairs that Parquet makes of a map."""
    if isinstance(value, str):
        try:
            return parse_object(value, row.path, row.line)
        except DataError as error:
            raise row.error(f"an object of scores is needed, not {shown(value)}", "evaluators") from error
    if isinstance(value, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return dict(value)
    return value
