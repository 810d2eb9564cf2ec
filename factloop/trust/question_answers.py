"""Reads questions, with the responses to score, from JSON Lines or CSV. The columns are `question`, `response`, `id`
and `reference_answers`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, field_validator

from factloop.core.files.csv_rows import read_csv
from factloop.core.files.jsonl import read_jsonl
from factloop.core.files.rows import NotBlank
from factloop.core.files.tables import TableItem


def _listed(value: Any) -> Any:
    if value is None or (isinstance(value, str) and not value.strip()):
        return ()
    return (value,) if isinstance(value, str) else value


class QuestionAnswer(TableItem):
    """A question and its response, if any. The id comes from the file, or is the line number."""

    question: NotBlank
    response: str | None = None
    reference_answers: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    """Known correct answers. Optional, and never proposed as distractors. In CSV, a cell contains one answer."""

    @field_validator("response")
    @classmethod
    def _says_something(cls, response: str | None) -> str | None:
        """Treats a blank response as missing, because CSV cannot tell them apart."""
        return response if response and response.strip() else None


class OwnAnswer(QuestionAnswer):
    """An answer from one of several systems. Only that system's model is asked about it."""

    subject: str
    """The name of the model in `TrustScorer(subjects=...)`."""


def load_question_answers(place: str | Path, *, responses_needed: bool = True) -> Iterator[QuestionAnswer]:
    """Yields the rows, in order, from a JSON Lines file or a CSV file (recognized by its extension).

    `-` is standard input, as JSON Lines. Other fields are ignored. Raises DataError if the file has no rows, or on
    reaching a malformed row, a repeated id or (if `responses_needed`) a row without a response.
    """
    rows = read_csv(place, needed=("question",)) if str(place).lower().endswith(".csv") else read_jsonl(place)
    ids: dict[str, int] = {}
    for row in rows:
        item = row.numbered().read_as(QuestionAnswer)
        first = ids.setdefault(item.id, row.line)
        if first != row.line:
            raise row.error(f"line {first} has the same id, {item.id!r}", "id")
        if responses_needed and item.response is None:
            raise row.error("required unless the subject model is asked for a response", "response")
        yield item
