"""Questions with the responses to be scored, as JSON Lines or CSV.

Columns: `question`, `response`, `id`, `reference_answers`.
"""

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
    """A list, of one where a text is given; an empty cell is an empty list."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return ()
    return (value,) if isinstance(value, str) else value


class QuestionAnswer(TableItem):
    """A question, and the response to it where there is one. The id is that of the file, or the number of the line."""

    question: NotBlank
    response: str | None = None
    reference_answers: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    """Right answers, where they are known. Scores do without; a model that proposes distractors may give none of them.
    In CSV a cell holds one."""

    @field_validator("response")
    @classmethod
    def _says_something(cls, response: str | None) -> str | None:
        """The response; a blank one counts as None, since CSV cannot tell them apart."""
        return response if response and response.strip() else None


class OwnAnswer(QuestionAnswer):
    """An answer of one of several systems: the model behind that system is asked about it, and no other."""

    subject: str
    """The name that `TrustScorer(subjects=...)` has for the model."""


def load_question_answers(place: str | Path, *, responses_needed: bool = True) -> Iterator[QuestionAnswer]:
    """The rows in the order of the file, one at a time: CSV where its name ends so, else JSON Lines.

    `-` is standard input, as JSON Lines.

    Raises DataError, when it gets there, for a malformed row, an id that came before, a row without a response where
    `responses_needed`, and a file without rows. Other fields are ignored.
    """
    rows = read_csv(place, needed=("question",)) if str(place).lower().endswith(".csv") else read_jsonl(place)
    ids: dict[str, int] = {}
    for row in rows:
        item = row.numbered().read_as(QuestionAnswer)
        first = ids.setdefault(item.id, row.line)
        if first != row.line:
            raise row.error(f"line {first} has the same id, {item.id!r}", "id")
        if responses_needed and item.response is None:
            raise row.error("a response is needed, unless the subject model is asked for it", "response")
        yield item
