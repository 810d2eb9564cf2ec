from __future__ import annotations

import json
from pathlib import Path

import pytest

from factloop.core.errors import DataError
from factloop.trust.question_answers import QuestionAnswer, load_question_answers

Q = "Who wrote it?"


def load(folder: Path, name: str, text: str, *, responses_needed: bool = True) -> list[QuestionAnswer]:
    path = folder / name
    path.write_bytes(text.encode())
    return list(load_question_answers(path, responses_needed=responses_needed))


def as_tuples(items: list[QuestionAnswer]) -> list[tuple[str, str, str | None]]:
    return [(item.id, item.question, item.response) for item in items]


def test_json_lines_and_csv_say_the_same(tmp_path: Path) -> None:
    lines = [{"id": 7, "question": Q, "response": "Ada,\nthe Countess"}, {"question": "When?", "response": "1843"}]
    jsonl = "".join(json.dumps(line) + "\n" for line in lines)
    table = f'question,response,id\n{Q},"Ada,\nthe Countess",7\nWhen?,1843,\n'
    expected = [("7", Q, "Ada,\nthe Countess"), ("2", "When?", "1843")]
    assert as_tuples(load(tmp_path, "qa.jsonl", jsonl)) == expected
    expected[1] = ("4", "When?", "1843")  # the second row of the table starts on line 4
    assert as_tuples(load(tmp_path, "qa.csv", table)) == expected


@pytest.mark.parametrize("suffix", [".csv", ".CSV"])
def test_csv_as_spreadsheets_write_it(tmp_path: Path, suffix: str) -> None:
    text = '\ufeffNote, Question ,RESPONSE\r\n1,"He said ""why?""",because\r\n\r\n2,Où?,"là, ici"\r\n'
    assert as_tuples(load(tmp_path, f"qa{suffix}", text)) == [
        ("2", 'He said "why?"', "because"),
        ("4", "Où?", "là, ici"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qa.jsonl", f'{{"question": "{Q}"}}'),
        ("qa.jsonl", f'{{"question": "{Q}", "response": null}}'),
        ("qa.jsonl", f'{{"question": "{Q}", "response": " "}}'),
        ("qa.csv", f"question\n{Q}\n"),
        ("qa.csv", f"question,response\n{Q},\n"),
    ],
)
def test_the_response_may_be_left_to_the_subject_only(tmp_path: Path, name: str, text: str) -> None:
    (item,) = load(tmp_path, name, text, responses_needed=False)
    assert item.response is None
    with pytest.raises(DataError, match=r":\d: field 'response': a response is needed"):
        load(tmp_path, name, text)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("qa.jsonl", "", "it has no rows"),
        ("qa.jsonl", '{"response": "x"}', "1: field 'question': it is missing"),
        ("qa.jsonl", '{"question": "x", "response": {}}', "1: field 'response': a text is needed, not an object"),
        ("qa.jsonl", '{"question": "x", "response": "y", "id": []}', "1: field 'id': a text is needed, not a list"),
        (
            "qa.jsonl",
            '{"question":"x","response":"y","id":1}\n{"question":"z","response":"y","id":"1"}',
            "2: field 'id': line 1 has the same id, '1'",
        ),
        (
            "qa.jsonl",
            '{"question":"x","response":"y","id":2}\n{"question":"z","response":"y"}',
            "2: field 'id': line 1 has the same id, '2'",
        ),
        ("qa.csv", "q,response\nx,y\n", "1: the header has no column 'question'"),
        ("qa.csv", "question,response\n", "it has no rows"),
        ("qa.csv", "question,id,ID\nx,1,2\n", "1: field 'id': the header has this column twice"),
        ("qa.csv", "question,response\nx\n", "2: 1 columns where the header has 2"),
        ("qa.csv", 'question,response\nx,"y\n', "2: this is not CSV: unexpected end of data"),
        ("qa.csv", "question,response\n ,y\n", "2: field 'question': a text is needed, not \" \""),
    ],
)
def test_a_malformed_file_names_its_place(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, name, text)
    separator = ":" if message[0].isdigit() else ": "
    assert str(caught.value) == f"{tmp_path / name}{separator}{message}"
