from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from factloop import TrustScorer, UnscoredReason
from factloop.agents.trustscore.records import TrustReport
from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json import to_json
from factloop.trust.estimate import TrustEstimate, estimate_trust
from factloop.trust.question_answers import QuestionAnswer, load_question_answers
from factloop.trust.settings import TrustSettings
from factloop.trust.views.html import render_trust_html
from factloop.trust.views.terminal import print_trust_report
from tests.checking.simulated import simulated_scorer
from tests.simulator import Simulator
from tests.trust.trust_items import known_to

QUESTION = "Who built Rome?"

ODD = {
    "Chinese": ("谁建造了耶路撒冷的第一座圣殿？", "所罗门王建造了它。"),
    "one number": ("When was it founded?", "2017"),
    "a thousand words": (QUESTION, "Rome was built by Romulus, and then by others. " * 110),
    "no letter": ("???", "???"),
    "the question itself": ("Rome was built by Romulus.", "Rome was built by Romulus."),
    "NUL and controls": (QUESTION, "Romulus \x00 built \x01 Rome \x08 in 1848."),
    "escapes": (f"\x1b]0;title\x07{QUESTION}", "\x1b[31mRomulus\x1b[0m built \x9b31mRome in 1848."),
    "overrides": (QUESTION, "Romulus \u202eemoR tliub\u202c in \u20661848\u2069."),
    "markup": ("<b>Who</b> built {{ Rome }}?", "[red]Romulus[/red] built <script>alert(1)</script> Rome in 1848."),
    "lines": (QUESTION, "A) Romulus\nB) Remus\n\nAnswer: C\n"),
    "one word of 50 kB": (QUESTION, "a" * 50_000),
    "emoji": (QUESTION, "👩‍👩‍👧‍👦 built 🏛️ in 1848"),
}


@pytest.mark.parametrize(("question", "response"), ODD.values(), ids=ODD.keys())
async def test_odd_text_gets_a_score_or_a_named_reason(sim: Simulator, question: str, response: str) -> None:
    async with simulated_scorer(sim, max_checks=2) as scorer:
        report = await scorer.ascore(question, response)
    bc = report.trust_bc
    assert (report.question, report.response, report.answered_by) == (question, response, None)
    assert bc.value is not None or bc.unscored_reason is UnscoredReason.TOO_FEW_DISTRACTORS
    assert len({distractor.text for distractor in bc.distractors} | {response}) == len(bc.distractors) + 1
    assert TrustReport.model_validate_json(to_json(report)) == report
    assert "alert(1)</script> Rome" not in render_trust_html(report)
    assert not set(terminal(report)) & set("\x00\x01\x07\x08\x1b\x9b\u202e\u2066")


def terminal(report: TrustReport) -> str:
    out = io.StringIO()
    print_trust_report(report, Console(file=out, width=60, emoji=False, markup=False, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"response": ""}, 'response must be non-empty text, not ""'),
        ({"response": "half \ud83d"}, "response contains half a character .* at position 5"),
        ({"question": None}, "question must be non-empty text, not null"),
        ({"id": ""}, "id must be non-empty text"),
    ],
)
async def test_what_is_no_text_is_refused_before_anything_is_spent(
    sim: Simulator, given: dict[str, Any], complaint: str
) -> None:
    async with simulated_scorer(sim) as scorer:
        with pytest.raises(DataError, match=complaint):
            await scorer.ascore(**{"question": QUESTION, "response": "Romulus.", **given})
    assert sim.stats().model.requests == 0


async def test_a_number_of_distractors_is_not_negative() -> None:
    scorer = TrustScorer()
    with pytest.raises(ConfigError, match="n = -1"):
        await scorer.adistractors(QUESTION, "Romulus built Rome in 1848.", n=-1)
    found = await scorer.adistractors(QUESTION, "Romulus built Rome in 1848.", n=0)
    assert (found.wanted, found.distractors) == (0, ())


async def test_without_a_response_the_subject_answers_and_is_asked_about_its_answer(sim: Simulator) -> None:
    (pair,) = known_to(sim, "known", 1)
    async with simulated_scorer(sim) as scorer:
        report = await scorer.ascore(pair.question)
    assert (report.response, report.answered_by, report.trust_bc.value) == (pair.answer, "openai:sim", 1)
    assert sim.stats().stages["ClosedBookAnswer"].requests == 1
    assert report.usage.stages["answer"].calls == 1


async def test_answers_keep_their_order_and_need_different_ids(sim: Simulator) -> None:
    items = [
        QuestionAnswer(id=str(n), question=QUESTION, response=f"Romulus built Rome in {1900 - n}.") for n in range(5)
    ]
    async with simulated_scorer(sim, max_checks=1) as scorer:
        run = await scorer.ascore_many(items)
        with pytest.raises(DataError, match="two answers have the id '3'"):
            await scorer.ascore_many([*items, items[3]])
    assert [report.id for report in run.reports] == [item.id for item in items]
    assert [report.response for report in run.reports] == [item.response for item in items]


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
    with pytest.raises(DataError, match=r":\d: field 'response': required"):
        load(tmp_path, name, text)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("qa.jsonl", "", "the file has no rows"),
        ("qa.jsonl", '{"response": "x"}', "1: field 'question': must be set"),
        ("qa.jsonl", '{"question": "x", "response": {}}', "1: field 'response': must be a string, not an object"),
        ("qa.jsonl", '{"question": "x", "response": "y", "id": []}', "1: field 'id': must be a string, not a list"),
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
        ("qa.csv", "question,id,ID\nx,1,2\n", "1: field 'id': this column appears twice in the header"),
        ("qa.csv", "question,response\nx\n", "2: wrong number of cells: 1 instead of 2"),
        ("qa.csv", 'question,response\nx,"y\n', "2: this is not CSV: unexpected end of data"),
        ("qa.csv", "question,response\n ,y\n", "2: field 'question': must be non-empty text, not \" \""),
    ],
)
def test_a_malformed_file_names_its_place(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, name, text)
    separator = ":" if message[0].isdigit() else ": "
    assert str(caught.value) == f"{tmp_path / name}{separator}{message}"


MODEL = "openai:gpt-4o-mini"
ITEM = QuestionAnswer(id="1", question="Who built it?", response="King Solomon built the first temple.")


def estimated(**settings: Any) -> TrustEstimate:
    return estimate_trust(TrustSettings(subject_model=MODEL, judge_model=MODEL, max_checks=4, **settings), [ITEM])


def test_proposals_of_distractors_are_a_call_an_answer() -> None:
    without, with_proposals = estimated(), estimated(distractors="model")
    assert (without.most_calls, with_proposals.most_calls) == (4, 5)
    assert with_proposals.most_prompt_tokens > without.most_prompt_tokens
    assert with_proposals.most_usd is not None
    assert without.most_usd is not None
    assert with_proposals.most_usd > without.most_usd
