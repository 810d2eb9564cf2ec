"""Questions are read as the five data sets publish them, and drawn by seed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.mixedqa.building.drawing import draw_open
from factloop.evaluation.mixedqa.building.filters import NotOpen
from factloop.evaluation.mixedqa.building.sources import SOURCES, SourceQuestion, load_source
from tests.evaluation.mixedqa.building.source_files import WRITERS, hotpotqa

ASKED = [
    ("where did  nixon die?", ["New York City", 'the "City"']),
    ("what is spoken in jamaica", ["Jamaican", "English"]),
]


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_in_its_own_layout(tmp_path: Path, source: str) -> None:
    name, write = WRITERS[source]
    write(tmp_path / name, ASKED)
    found = list(load_source(source, tmp_path / name))
    assert [one.question for one in found] == ["where did nixon die?", "what is spoken in jamaica"]
    wanted = [tuple(answers[:1] if source == "HotpotQA" else answers) for _, answers in ASKED]
    assert [one.reference_answers for one in found] == wanted
    assert {one.source for one in found} == {source}
    assert len({one.id for one in found}) == 2


def test_hotpotqa_says_what_compares(tmp_path: Path) -> None:
    hotpotqa(tmp_path / "h.json", ASKED[:1], comparisons=[("Grant and Lee, who was older?", ["Lee"])])
    assert [one.is_comparison for one in load_source("HotpotQA", tmp_path / "h.json")] == [False, True]


@pytest.mark.parametrize(
    ("source", "text", "said"),
    [
        ("NaturalQuestions", '{"question": "Who?", "answer": "Ann"}', "a list of texts is needed"),
        ("NaturalQuestions", '{"question": "Who?", "answer": []}', "at least one is needed"),
        ("NaturalQuestions", '{"question": " ", "answer": ["Ann"]}', "a text is needed"),
        ("WebQuestions", '[{"utterance": "Who?", "targetValue": "(list)"}]', "no answer is in it"),
        ("WebQuestions", '[{"utterance": "Who?"}]', "a text is needed"),
        ("TriviaQA", "{", "this is not JSON"),
        ("TriviaQA", '{"Data": {}}', "a list of objects as Data"),
        ("TriviaQA", '{"Data": [{"Question": "Who?", "Answer": "Ann"}]}', "an object is needed"),
        ("HotpotQA", '[{"question": "Who?"}]', "a list of texts is needed"),
        ("PopQA", "id\tquestion\n1\tWho?\n", "no column 'possible_answers'"),
        ("PopQA", "id\tquestion\tpossible_answers\n1\tWho?\tAnn\n", "a JSON list of texts is needed"),
    ],
)
def test_malformed_rows_are_named(tmp_path: Path, source: str, text: str, said: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said) as raised:
        list(load_source(source, path))
    assert str(path) in str(raised.value)


def test_an_unknown_source_is_answered_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="there is no source 'NQ'; there are NaturalQuestions, WebQuestions"):
        load_source("NQ", "x")


def questions(n: int) -> list[SourceQuestion]:
    return [
        SourceQuestion(id=f"{place:03}", question=f"Who was king number {place}?", reference_answers=("x",), source="s")
        for place in range(n)
    ]


def test_the_draw_hangs_on_the_seed_alone() -> None:
    given = questions(50)
    drawn = draw_open("s", given, 3).questions
    assert draw_open("s", reversed(given), 3).questions == drawn
    assert sorted(drawn, key=lambda one: one.id) == given
    assert draw_open("s", given, 4).questions != drawn
    assert draw_open("t", given, 3).questions != drawn


def test_every_question_is_as_likely_to_be_first() -> None:
    firsts = Counter(draw_open("s", questions(5), seed).questions[0].id for seed in range(2000))
    assert all(abs(n - 400) < 5 * (2000 * 0.2 * 0.8) ** 0.5 for n in firsts.values())


def test_what_is_left_out_is_counted() -> None:
    rows = [
        ("When did Nixon die?", False),
        ("when did nixon die?", False),
        ("Did Nixon die?", False),
        ("Who was older, Grant or Lee?", False),
        ("Of the two, name the older.", True),
    ]
    given = [
        SourceQuestion(id=str(place), question=text, reference_answers=("x",), source="s", is_comparison=compares)
        for place, (text, compares) in enumerate(rows)
    ]
    found = draw_open("s", given, 0)
    assert [one.question for one in found.questions] == ["When did Nixon die?"]
    assert (found.n_read, found.n_repeated) == (5, 1)
    assert found.not_open == {NotOpen.YES_NO: 1, NotOpen.COMPARISON: 2}
    assert json.loads(json.dumps(dict(found.not_open))) == {"yes_no": 1, "comparison": 2}
