"""Questions of the data sets that MixedQA draws from, as their authors publish them (Zheng et al. 2024, appendix A.3).

| source | file | fields |
|---|---|---|
| NaturalQuestions | `NQ-open.dev.jsonl`, JSON Lines | `question`, `answer` (a list) |
| WebQuestions | `webquestions.examples.test.json`, an array | `utterance`, `targetValue`: `(list (description "A"))` |
| TriviaQA | `unfiltered-web-dev.json`, an object | `Data`: `Question`, `QuestionId`, `Answer`: `Value`, `Aliases` |
| HotpotQA | `hotpot_dev_distractor_v1.json`, an array | `_id`, `question`, `answer`, `type` |
| PopQA | `popQA.tsv`, tab-separated | `id`, `question`, `possible_answers` (a JSON list) |

Contexts are not read: questions are asked closed-book.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json_array import read_json_array
from factloop.core.files.jsonl import read_jsonl
from factloop.core.files.lines import place_name, read_lines
from factloop.core.files.rows import Identifier, NotBlank, Row
from factloop.core.records import Record


class SourceQuestion(Record):
    """One question of one source."""

    id: Identifier
    """Its id in the file, or the number of its line or place."""
    question: NotBlank
    reference_answers: Annotated[tuple[str, ...], Field(min_length=1)]
    """Right answers, each once, in the order of the file."""
    source: str
    is_comparison: bool = False
    """Whether its source says that it compares things that it names."""


Load = Callable[[str], Iterator[SourceQuestion]]

_DESCRIPTION = re.compile(r'\(description\s+(?:"((?:[^"\\]|\\.)*)"|([^()"]+?))\s*\)')
_LONGEST_CELL = 2**31 - 1


def load_natural_questions(place: str) -> Iterator[SourceQuestion]:
    """Natural Questions, open (Lee et al. 2019), as google-research-datasets publishes it."""
    for row in read_jsonl(place):
        yield _question(row, "NaturalQuestions", row.fields.get("question"), row.fields.get("answer"), "answer")


def load_webquestions(place: str) -> Iterator[SourceQuestion]:
    """WebQuestions (Berant et al. 2013): its answers stand in a list of descriptions."""
    for number, row in enumerate(read_json_array(place)):
        target = row.fields.get("targetValue")
        if not isinstance(target, str):
            raise row.error("a text is needed", "targetValue")
        answers = [_unescaped(quoted) if quoted else bare for quoted, bare in _DESCRIPTION.findall(target)]
        if not answers:
            raise row.error('no answer is in it: it is like (list (description "A"))', "targetValue")
        yield _question(row, "WebQuestions", row.fields.get("utterance"), answers, "targetValue", id=number)


def load_triviaqa(place: str) -> Iterator[SourceQuestion]:
    """TriviaQA (Joshi et al. 2017): the value first, then its aliases. Reads the whole file into memory."""
    path = place_name(place)
    try:
        whole = json.loads("\n".join(line for _, line in read_lines(place)))
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is not JSON ({error})", path=path) from error
    items = whole.get("Data") if isinstance(whole, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise DataError("an object with a list of objects as Data is needed", path=path)
    for number, item in enumerate(items):
        row = Row(path, number + 1, item)
        answer = item.get("Answer")
        if not isinstance(answer, dict):
            raise row.error("an object is needed", "Answer")
        answers = [answer.get("Value"), *(answer.get("Aliases") or ())]
        yield _question(row, "TriviaQA", item.get("Question"), answers, "Answer", id=item.get("QuestionId") or number)


def load_hotpotqa(place: str) -> Iterator[SourceQuestion]:
    """HotpotQA (Yang et al. 2018): it says itself which of its questions compare."""
    for row in read_json_array(place):
        given = row.fields
        yield _question(
            row,
            "HotpotQA",
            given.get("question"),
            [given.get("answer")],
            "answer",
            id=given.get("_id"),
            is_comparison=given.get("type") == "comparison",
        )


def load_popqa(place: str) -> Iterator[SourceQuestion]:
    """PopQA (Mallen et al. 2022): tab-separated, its answers as a JSON list in one cell."""
    path = place_name(place)
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.DictReader((line for _, line in read_lines(place)), dialect="excel-tab")
    for fields in reader:
        row = Row(path, reader.line_num, fields)
        if "possible_answers" not in fields:
            raise DataError("the header has no column 'possible_answers'", path=path, line=1)
        try:
            answers = json.loads(fields["possible_answers"] or "")
        except ValueError as error:
            raise row.error("a JSON list of texts is needed", "possible_answers") from error
        yield _question(row, "PopQA", fields.get("question"), answers, "possible_answers", id=fields.get("id"))


SOURCES: Mapping[str, Load] = {
    "NaturalQuestions": load_natural_questions,
    "WebQuestions": load_webquestions,
    "TriviaQA": load_triviaqa,
    "HotpotQA": load_hotpotqa,
    "PopQA": load_popqa,
}
"""The five sources of the paper, by the names that MixedQA has for them."""


def load_source(name: str, place: str | Path) -> Iterator[SourceQuestion]:
    """The questions of one source, in the order of the file.

    Raises ConfigError for an unknown source, and DataError, when it gets there, for a malformed row.
    """
    if name not in SOURCES:
        raise ConfigError(f"there is no source {name!r}; there are {', '.join(SOURCES)}")
    return SOURCES[name](str(place))


def _question(
    row: Row, source: str, question: Any, answers: Any, field: str, *, id: Any = None, is_comparison: bool = False
) -> SourceQuestion:
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        raise row.error("a list of texts is needed", field)
    distinct = tuple(dict.fromkeys(text for answer in answers if (text := answer.strip())))
    fields = {
        "id": str(row.line if id is None else id),
        "question": " ".join(question.split()) if isinstance(question, str) else question,
        "reference_answers": distinct,
        "source": source,
        "is_comparison": is_comparison,
    }
    return row.renamed(fields, {"reference_answers": field}).read_as(SourceQuestion)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
