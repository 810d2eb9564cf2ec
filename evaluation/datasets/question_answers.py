"""Questions with the responses to be scored, as JSON Lines or CSV: `question`, `response`, `id`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, field_validator

from factloop.errors import DataError
from factloop.evaluation.datasets.jsonl import read_jsonl
from factloop.evaluation.datasets.lines import place_name, read_lines
from factloop.evaluation.datasets.rows import Identifier, NotBlank, Row
from factloop.records import Record

if TYPE_CHECKING:
    from _csv import Reader

_NEEDED = "question"
_LONGEST_FIELD = 2**31 - 1
"""Characters in a CSV field: the largest limit that the csv module takes on every platform."""


class QuestionAnswer(Record):
    """A question, and the response to it where there is one."""

    model_config = ConfigDict(extra="ignore")

    id: Identifier
    """That of the file, or the number of the line that the row starts on."""
    question: NotBlank
    response: str | None = None

    @field_validator("response")
    @classmethod
    def _says_something(cls, response: str | None) -> str | None:
        """A blank response is none: CSV cannot tell them apart."""
        return response if response and response.strip() else None


def load_question_answers(place: str | Path, *, responses_needed: bool = True) -> Iterator[QuestionAnswer]:
    """The rows in the order of the file, one at a time: CSV where its name ends so, else JSON Lines.

    `-` is standard input, as JSON Lines.

    Raises DataError, when it gets there, for a malformed row, an id that came before, a row without a response where
    `responses_needed`, and a file without rows. Other fields are passed over.
    """
    rows = read_csv(place) if str(place).lower().endswith(".csv") else read_jsonl(place)
    ids: dict[str, int] = {}
    for row in rows:
        item = row.numbered().read_as(QuestionAnswer)
        first = ids.setdefault(item.id, row.line)
        if first != row.line:
            raise row.error(f"line {first} has the same id, {item.id!r}", "id")
        if responses_needed and item.response is None:
            raise row.error("a response is needed, unless the subject model is asked for it", "response")
        yield item


def read_csv(place: str | Path) -> Iterator[Row]:
    """The rows below the header; names are taken in lower case, cells may be quoted and hold line breaks.

    Raises DataError for a header without `question`, a row of another width, and broken quoting.
    """
    path = place_name(place)
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader((line for _, line in read_lines(place)), strict=True)
    try:
        yield from _rows(reader, path)
    except csv.Error as error:
        raise DataError(f"this is no CSV: {error}", path=path, line=reader.line_num) from error


def _rows(reader: Reader, path: str) -> Iterator[Row]:
    header = _header(next(reader, []), path)
    start, empty = reader.line_num + 1, True
    for cells in reader:
        if cells:
            empty = False
            yield Row(path, start, _named(header, cells, path, start))
        start = reader.line_num + 1
    if empty:
        raise DataError("there is no row in it", path=path)


def _header(cells: Iterable[str], path: str) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    if _NEEDED not in names:
        raise DataError(f"the header has no column {_NEEDED!r}", path=path, line=1)
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise DataError("the header has this column twice", path=path, line=1, field=twice)
    return names


def _named(header: list[str], cells: list[str], path: str, line: int) -> dict[str, str]:
    if len(cells) != len(header):
        raise DataError(f"{len(cells)} columns where the header has {len(header)}", path=path, line=line)
    return dict(zip(header, cells, strict=True))
