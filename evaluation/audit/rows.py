"""Reads labelled claims with scores from JSON Lines, JSON, CSV or Parquet into columns.

    dataset, system, response_id, claim_id    strings or whole numbers
    label                                     1 attributable, 0 not
    evaluators                                an object that maps names to scores in [0, 1]; null or absent if no score
    task, prompt_id, claim, document          present in all rows or in none
    probability                               that the claim was drawn for labelling; present in all rows or in none

A CSV file contains either one `evaluator:NAME` column per evaluator, in which an empty cell means no score, or an
`evaluators` column of JSON objects. A Parquet file may also use a struct or a map. Other columns are ignored.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Mapping, Sized
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, ConfigDict

from factloop.core.errors import DataError
from factloop.core.files.jsonl import parse_object
from factloop.core.files.lines import place_name, read_lines
from factloop.core.files.rows import NotBlank, Row, shown
from factloop.core.files.tables import read_rows
from factloop.core.records import Record
from factloop.evaluation.audit.table import Codes, Column, PredictionTable, responses_of
from factloop.reports.labels import Probability

_MISSING = float("nan")
_OTHERS = (".csv", ".parquet", ".pq", ".json")
_PREFIX = "evaluator:"
_NUMBERS = ("label", "probability")
_WITHOUT_NOUGHT = re.compile(r"\.\d{1,17}")
"""A fraction without a leading zero, such as `.7`. Spreadsheets may write it, but JSON does not allow it."""

Numbered = tuple[int, Mapping[str, Any]]
MOST_EVALUATORS = 100
LONGEST_NAME = 1_000  # characters; a report repeats each name many times, but contains no ids
NEEDED = ("dataset", "system", "response_id", "claim_id", "label", "evaluators")


def _id(value: Any) -> Any:
    if type(value) is float:
        raise ValueError("must be a string or a whole number")
    return str(value) if type(value) is int else value


def _name(value: str) -> str:
    if len(value) > LONGEST_NAME:
        raise ValueError(f"must have at most {LONGEST_NAME:,} characters")
    return value


def _label(value: Any) -> Any:
    if type(value) is not int or value not in (0, 1):
        raise ValueError("must be 1 (attributable) or 0 (unattributable)")
    return value


def _score(value: Any) -> Any:
    if value is not None and (type(value) not in (int, float) or not 0.0 <= value <= 1.0):
        raise ValueError("must be a number from 0 to 1, or null")
    return value


Id = Annotated[NotBlank, BeforeValidator(_id)]
Name = Annotated[Id, AfterValidator(_name)]


class PredictionRow(Record):
    model_config = ConfigDict(extra="ignore")

    dataset: Name
    system: Name
    response_id: Id
    claim_id: Id
    label: Annotated[Literal[0, 1], BeforeValidator(_label)]
    evaluators: dict[Annotated[NotBlank, AfterValidator(_name)], Annotated[float | None, BeforeValidator(_score)]]
    task: Name | None = None
    prompt_id: Id | None = None
    probability: Probability | None = None
    """The probability that the claim was drawn for labelling, as written by `factloop research labels next`."""
    claim: str | None = None
    document: str | None = None


def load_predictions(place: str | Path) -> PredictionTable:
    """Loads the whole file into columns, reading one row at a time. `-` reads JSON Lines from standard input.

    Raises DataError, with line and field, for:
    - a malformed row, or a claim that is repeated in a response;
    - an optional field that only some rows have;
    - a data set with two tasks, or a response with two prompts;
    - a file without rows or scores.
    """
    columns = _Columns(place_name(place))
    for line, fields in read_fields(place):
        columns.add(line, fields)
    return columns.table()


def _refuse_without(fields: Mapping[str, Any], path: str, line: int) -> None:
    """Reports all missing fields in one error, because users' own files often lack several."""
    absent = [name for name in NEEDED if name not in fields]
    if not absent or (len(absent) == 1 and absent[0] != "evaluators"):
        return  # reading the row reports a single missing field
    first, *others = absent
    too = f", and so {'is' if len(others) == 1 else 'are'} {', '.join(others)}" if others else ""
    where = f"each row needs {', '.join(NEEDED)}; in CSV, use one `evaluator:NAME` column per evaluator"
    raise DataError(f"is missing{too}; {where}", path=path, line=line, field=first)


class _Names(dict[str, int]):
    def __missing__(self, name: str) -> int:
        self[name] = code = len(self)
        return code


class _Columns:
    def __init__(self, path: str) -> None:
        self.path = path
        self.lines, self.labels, self.probabilities = array("q"), array("b"), array("d")
        self.names = {name: _Names() for name in ("dataset", "system", "response_id", "claim_id", "task", "prompt_id")}
        self.codes = {name: array("i") for name in self.names}
        self.texts: dict[str, list[str]] = {"claim": [], "document": []}
        self.known: dict[str, str] = {}
        """Holds one copy of each document, because many claims share a document."""
        self.scores: dict[str, array[float]] = {}
        self.named: set[str] = set()

    def add(self, line: int, fields: Mapping[str, Any]) -> None:
        if not self.lines:
            _refuse_without(fields, self.path, line)
        row = Row(self.path, line, fields).read_as(PredictionRow).model_dump()
        self._refuse_gaps(line, row)
        for name, code_of in self.names.items():
            if row[name] is not None:
                self.codes[name].append(code_of[row[name]])
        if row["claim"] is not None:
            self.texts["claim"].append(row["claim"])
        if row["document"] is not None:
            self.texts["document"].append(self.known.setdefault(row["document"], row["document"]))
        if row["probability"] is not None:
            self.probabilities.append(row["probability"])
        self.named.update(row["evaluators"])
        if len(self.named) > MOST_EVALUATORS:
            message = f"there are more than {MOST_EVALUATORS} evaluators up to this line; audit fewer at a time"
            raise DataError(message, path=self.path, line=line, field="evaluators")
        for name, score in row["evaluators"].items():
            if score is not None:
                self._column_of(name).append(score)
        self.labels.append(row["label"])
        self.lines.append(line)

    def _column_of(self, evaluator: str) -> array[float]:
        column = self.scores.setdefault(evaluator, array("d"))
        if len(column) < len(self.lines):
            column.extend([_MISSING] * (len(self.lines) - len(column)))
        return column

    def _refuse_gaps(self, line: int, row: Mapping[str, Any]) -> None:
        given: dict[str, Sized] = {name: self.codes[name] for name in ("task", "prompt_id")}
        for name, column in (*given.items(), ("probability", self.probabilities), *self.texts.items()):
            n_given = len(column)
            if len(self.lines) and (row[name] is None) == bool(n_given):
                reason = "missing here but present" if n_given else "present here but missing"
                message = f"is {reason} in line {self.lines[0]}; set this field in every row or in none"
                raise DataError(message, path=self.path, line=line, field=name)

    def table(self) -> PredictionTable:
        if not self.lines:
            raise DataError("the file has no rows", path=self.path)
        if not self.scores:
            raise DataError("at least one row must contain a score", path=self.path, field="evaluators")
        columns = {name: _column(self.names[name], codes) for name, codes in self.codes.items() if codes}
        response = responses_of(columns["dataset"], columns["system"], columns["response_id"])
        self._refuse_repeated(response, columns["claim_id"])
        self._refuse_second(columns["dataset"], columns.get("task"), "task", "data set")
        self._refuse_second(response, columns.get("prompt_id"), "prompt_id", "response")
        return PredictionTable(
            dataset=columns["dataset"],
            system=columns["system"],
            response=response,
            label=np.frombuffer(self.labels, np.int8),
            scores={name: np.frombuffer(self._column_of(name), np.float64) for name in sorted(self.scores)},
            task=columns.get("task"),
            prompt=columns.get("prompt_id"),
            probability=np.frombuffer(self.probabilities, np.float64) if self.probabilities else None,
            claim_text=self.texts["claim"] or None,
            document=self.texts["document"] or None,
            without_scores=tuple(sorted(self.named.difference(self.scores))),
        )

    def _refuse_repeated(self, response: Column, claim: Column) -> None:
        key = response.codes.astype(np.int64) * len(claim.names) + claim.codes
        row = _first_of(key, key, is_repeat=True)
        if row is not None:
            first = self.lines[int(np.flatnonzero(key == key[row])[0])]
            message = f"{claim.names[claim.codes[row]]!r} is already used in line {first}; use unique ids in a response"
            raise DataError(message, path=self.path, line=self.lines[row], field="claim_id")

    def _refuse_second(self, owner: Column, value: Column | None, field: str, noun: str) -> None:
        row = None if value is None else _first_of(owner.codes, value.codes, is_repeat=False)
        if value is not None and row is not None:
            first = int(np.flatnonzero(owner.codes == owner.codes[row])[0])
            was, name = value.names[value.codes[first]], owner.names[owner.codes[row]]
            message = f"{noun} {name!r} has {was!r} in line {self.lines[first]}; use one {field} per {noun}"
            raise DataError(message, path=self.path, line=self.lines[row], field=field)


def _first_of(owner: NDArray[Any], value: NDArray[Any], *, is_repeat: bool) -> int | None:
    """Returns the first row whose owner occurred before (with a different value, unless `is_repeat` is set)."""
    _, first, number = np.unique(owner, return_index=True, return_inverse=True)
    first_row = first[number]
    wrong = first_row != np.arange(len(owner)) if is_repeat else value[first_row] != value
    found = np.flatnonzero(wrong)
    return int(found[0]) if len(found) else None


def _column(code_of: Mapping[str, int], codes: array[int]) -> Column:
    names = sorted(code_of)
    place: Codes = np.empty(len(names), np.int32)
    place[[code_of[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return Column(tuple(names), place[np.frombuffer(codes, np.int32)])


def read_fields(place: str | Path) -> Iterator[Numbered]:
    """Yields each record's line (or row) number and fields. Raises DataError during iteration."""
    name = str(place).lower()
    if not name.endswith(_OTHERS):
        return _json_lines(place)
    return ((row.line, gathered(row, is_text=name.endswith(".csv"))) for row in read_rows(place))


def _json_lines(place: str | Path) -> Iterator[Numbered]:
    """Yields the same data as `read_jsonl` in a third of the time, because an audit may read a million rows."""
    path = place_name(place)
    for number, line in read_lines(place):
        if not line.isspace():
            try:
                fields = orjson.loads(line)
            except orjson.JSONDecodeError:
                fields = None
            yield number, fields if type(fields) is dict else parse_object(line.rstrip("\r\n"), path, number)


def gathered(row: Row, *, is_text: bool) -> dict[str, Any]:
    """Gathers the `evaluator:NAME` columns into one `evaluators` object. In CSV, numeric strings become numbers. Raises
    DataError if the row also has an `evaluators` column, or if that column is not a JSON object."""
    scores = {name.removeprefix(_PREFIX): value for name, value in row.fields.items() if name.startswith(_PREFIX)}
    fields = {name: value for name, value in row.fields.items() if not name.startswith(_PREFIX)}
    if is_text:
        scores = {name: _number(value) for name, value in scores.items()}
        fields = {name: _number(value) if name in _NUMBERS else value or None for name, value in fields.items()}
    if scores and "evaluators" in fields:
        raise row.error("put scores in `evaluators` or in `evaluator:NAME` columns, not in both", "evaluators")
    if scores:
        return {**fields, "evaluators": scores}
    if "evaluators" in fields:
        fields["evaluators"] = _object(row, fields["evaluators"])
    return fields


def _number(text: str) -> Any:
    """Returns the number in a cell, or None for an empty cell. Other text is returned unchanged."""
    try:
        value = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return float(text) if _WITHOUT_NOUGHT.fullmatch(text.strip()) else text
    return value if type(value) in (int, float) or (value is None and not text.strip()) else text


def _object(row: Row, value: Any) -> Any:
    """Parses a JSON string, or converts the pairs that Parquet returns for a map."""
    if isinstance(value, str):
        try:
            return parse_object(value, row.path, row.line)
        except DataError as error:
            raise row.error(f"must be an object of scores, not {shown(value)}", "evaluators") from error
    if isinstance(value, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return dict(value)
    return value
