from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.datasets.mapping import ColumnMapping
from factloop.evaluation.datasets.responses import GivenResponse, load_responses
from tests.evaluation.verification.world_pairs import write_rows


def load(path: Path, **columns: str) -> list[GivenResponse]:
    return list(load_responses(path, ColumnMapping(columns=columns)))


def test_what_rows_do_not_say_is_made_of_what_they_do(tmp_path: Path) -> None:
    rows = [
        {"prompt": "Who?", "response": "Ada.", "topic": "passed over"},
        {"prompt": "What?", "response": "That."},
        {"prompt": None, "response": "Alone."},
    ]
    first, second, third = load(write_rows(tmp_path / "gpt-9.jsonl", rows))
    assert (first.id, first.system, first.prompt, first.response) == ("1", "gpt-9", "Who?", "Ada.")
    assert first.prompt_id != second.prompt_id
    assert (third.prompt, third.prompt_id) == (None, "3")
    (other,) = load(write_rows(tmp_path / "other.jsonl", [{"prompt": "Who?", "response": "Bob."}]))
    assert other.prompt_id == first.prompt_id  # two files share a prompt, so that their systems can be paired


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["One.", {"text": "Two.", "title": "T", "source": None, "score": 0.4}], [("One.", "", ""), ("Two.", "T", "")]),
        ("One.", [("One.", "", "")]),
        ([], []),
        (None, None),
        ("", None),
    ],
)
def test_documents_are_texts_or_objects(tmp_path: Path, given: object, read: list[tuple[str, ...]] | None) -> None:
    row = {"prompt": "Who?", "response": "Ada.", "contexts": given}
    (found,) = load(write_rows(tmp_path / "x.jsonl", [row]), documents="contexts")
    documents = found.documents
    assert read == (documents if documents is None else [(one.text, one.title, one.source) for one in documents])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"response": "Bob."}, "x.jsonl:2: field 'prompt': must be set"),
        ({"prompt": "", "response": "Bob."}, "x.jsonl:2: field 'prompt': must be non-empty text"),
        ({"prompt": "Why?"}, "x.jsonl:2: field 'response': must be set"),
        (
            {"prompt": "Why?", "response": None},
            "field 'response': must be a string (empty if the system declined to answer), not null",
        ),
        ({"prompt": "Why?", "response": 3}, "x.jsonl:2: field 'response': must be a string, not 3"),
        ({"prompt": "Why?", "response": ["x"]}, "x.jsonl:2: field 'response': must be a string, not a list"),
        ({"prompt": "Why?", "response": "B", "system": {}}, "x.jsonl:2: field 'system'"),
        ({"prompt": "Why?", "response": "B", "id": "1"}, "x.jsonl:2: field 'id': line 1 has the same id, '1'"),
        ({"prompt": "Who?", "response": "B"}, "x.jsonl:2: field 'system': line 1 also answers this prompt"),
        ([], "x.jsonl:2: each line must be a JSON object, not a list"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, row: Any, said: str) -> None:
    path = write_rows(tmp_path / "x.jsonl", [{"prompt": "Who?", "response": "Ada."}, row])
    with pytest.raises(DataError) as found:
        load(path)
    assert said in str(found.value)


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        (
            ("one", "two", None),
            "x.jsonl:3: field 'who': line 1 names its system, but this line does not; set the system",
        ),
        (("one", "two", " "), "x.jsonl:3: field 'who': line 1 names its system"),
        ((None, None, "one"), "x.jsonl:3: field 'who': this line names its system, but line 1 does not"),
    ],
)
def test_systems_are_named_in_each_row_or_in_none(tmp_path: Path, systems: Sequence[str | None], said: str) -> None:
    rows = [{"prompt": f"{n}?", "response": "x", "who": system} for n, system in enumerate(systems)]
    with pytest.raises(DataError) as found:
        load(write_rows(tmp_path / "x.jsonl", rows), system="who")
    assert said in str(found.value)


def test_two_prompts_under_one_id_are_told_of_once(tmp_path: Path) -> None:
    asked = [
        ("1", "Who?"), ("1", " Who? "), ("2", "What?"), ("1", "Why?"), ("2", "When?"), (None, "Who?"), ("3", None),
    ]  # fmt: skip
    rows = [
        {"prompt_id": name, "prompt": prompt, "response": "x", "system": f"s{n}"}
        for n, (name, prompt) in enumerate(asked)
    ]
    told: list[str] = []
    path = write_rows(tmp_path / "x.jsonl", rows)
    assert len(list(load_responses(path, warn=told.append))) == len(rows)
    (said,) = told
    assert said.startswith(f'{path}:4: prompt_id "1" also belongs to another prompt, in line 1. ')
