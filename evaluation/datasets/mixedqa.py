"""MixedQA: questions with the responses of several systems, which people judged (Zheng et al. 2024, section 3).

One JSON object a line: `question`, `reference_answers` (a list), `source` (the data set the question is from),
`responses` (a list of `system`, `text`, `human_correct`), and `id`, which may be absent. Other fields are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from factloop.core.files.jsonl import read_jsonl
from factloop.core.files.rows import Identifier, NotBlank, Row
from factloop.core.records import Record

Label = Literal[0, 1]


def human_label(value: Any) -> Label:
    """The label as it stands: 1 for a response that was judged correct, 0 for one that was not. Raises ValueError."""
    if type(value) is not int or value not in (0, 1):
        raise ValueError("a label is the number 0 or 1")
    return 1 if value else 0


class MixedQaResponse(Record):
    """One system's answer, and whether people judged it correct. The text may be empty."""

    model_config = ConfigDict(extra="ignore")

    system: NotBlank
    text: str
    human_correct: Annotated[Label, BeforeValidator(human_label)]


class MixedQaItem(Record):
    """One question with its responses."""

    model_config = ConfigDict(extra="ignore")

    id: Identifier
    """The id in the file, or the number of its line."""
    question: NotBlank
    reference_answers: Annotated[tuple[str, ...], Field(min_length=1)]
    """Right answers, best first."""
    source: NotBlank
    responses: Annotated[tuple[MixedQaResponse, ...], Field(min_length=1)]


def load_mixedqa(place: str | Path) -> Iterator[MixedQaItem]:
    """The questions in the order of the file, one at a time. `-` is standard input.

    Raises DataError, when it gets there, for a malformed row, an id or a question (of the same source) that came
    before, and a system that answers twice: counted twice, a question would pass for more evidence than it is. Callers
    that spend money on the items read them all first.
    """
    ids: dict[str, int] = {}
    questions: dict[tuple[str, str], int] = {}
    for row in read_jsonl(place):
        item = row.numbered().read_as(MixedQaItem)
        _refuse_again(row, "id", ids.setdefault(item.id, row.line))
        _refuse_again(row, "question", questions.setdefault((item.source, item.question), row.line))
        _refuse_second_answers(row, item)
        yield item


def _refuse_again(row: Row, field: str, first: int) -> None:
    if first != row.line:
        raise row.error(f"line {first} has the same", field)


def _refuse_second_answers(row: Row, item: MixedQaItem) -> None:
    seen: set[str] = set()
    for place, response in enumerate(item.responses):
        if response.system in seen:
            raise row.error("this system has answered already", f"responses[{place}].system")
        seen.add(response.system)
