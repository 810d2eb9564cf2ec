from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from factloop.agents.trustscore.records import TrustReport
from factloop.trust.views.terminal import print_distractors, print_long_form, print_trust_report, print_trust_run
from tests.reports.sample import HOSTILE
from tests.trust.views.trust_sample import (
    broken_bc,
    distractor_set,
    firm,
    half_asked,
    hostile_long_form,
    hostile_trust,
    large_run,
    long_form,
    mixed_run,
    trust_run,
    wavering,
)
from tests.work import LINEAR, growth

Print = Callable[[Console], None]


def printed(show: Print, *, width: int = 120, terminal: bool = False) -> str:
    file = io.StringIO()
    show(Console(file=file, width=width, force_terminal=terminal, _environ={"TERM": "xterm-256color"}))
    return file.getvalue()


def answer(report: TrustReport, width: int = 120) -> str:
    return printed(lambda console: print_trust_report(report, console), width=width)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_check_is_shown_at_every_width(width: int) -> None:
    text = answer(wavering(), width)
    assert max(map(len, text.splitlines())) <= width
    shown = words(text)
    assert "> B 0.93 King Solomon built the first temple in" in shown
    assert "≠ Check 3: chose A instead of the answer, D" in shown
    assert "(not counted)" in shown
    assert text.count("= the answer") == 4
    for check in broken_bc().checks:
        letters = re.findall(r"^ [> ] ([A-E]) ", text.split(f"Check {check.number}:")[1], re.MULTILINE)[:5]
        assert letters == ["A", "B", "C", "D", "E"]
    assert "Solomon → Cyrus (entity, knowledge base:" in shown
    assert "Response of openai:gpt-4o-mini" in shown


def test_what_is_wrong_with_an_answer_stands_in_its_result() -> None:
    result = words(answer(wavering(), 200).split("Result ─")[1])
    for line in (
        "TrustOV 0.4 The model does not stand by this answer. The passages neither support nor contradict it.",
        "TrustBC ≠ 0 inconsistent in check 3, after 2 consistent",
        "Graded 0.60 mean probability of the answer; the five letters have 0.91 of the probability",
        "TrustFC ○ 0.5 neutral, 3 passages judged, none cited",
        "Limit 1 check asked along with the deciding check does not count.",
        "Note DBpedia Spotlight answered with an HTML page; the next source was used.",
        "Warning 1 call failed and was retried.",
    ):
        assert line in result


def test_a_check_without_choice_shows_the_reply() -> None:
    text = words(answer(half_asked()))
    assert "? Check 2: unscored: no choice could be read in the reply It said: It might be B or else C." in text
    assert "? Check 3: unscored: the budget was used up" in text


@pytest.mark.parametrize("width", [60, 120])
def test_a_run_is_a_table_with_its_means(width: int) -> None:
    text = printed(lambda console: print_trust_run(mixed_run(), console), width=width)
    assert max(map(len, text.splitlines())) <= width
    means, answers = words(text.split("Result ─")[0]).split("TrustScores of each answer")
    # TrustOV (1 + 0.4 + 0.2) / 3, TrustBC (1 + 0 + 1) / 3, TrustFC (1 + 0.5 + 0) / 3; two answers have none
    assert "TrustOV 0.53 3 2 TrustBC 0.67 3 2 TrustBC, graded 0.60 1 4 TrustFC 0.50 3 2" in means
    assert answers.count("unscored:") == 4


@pytest.mark.parametrize("width", [60, 120])
def test_distractors_show_what_was_put_in_and_why(width: int) -> None:
    text = words(printed(lambda console: print_distractors(distractor_set(), console), width=width))
    assert "King [David] built the first" in text
    assert "30 of 30 wanted" in text
    assert "10 DBpedia, 10 knowledge base, 10 embedding neighbour" in text
    assert "10 checks without showing a distractor twice" in text
    assert text.count("cosine 0.62") == 10


@pytest.mark.parametrize("width", [60, 120])
def test_a_long_response_is_marked_in_place_and_its_claims_grouped(width: int) -> None:
    text = printed(lambda console: print_long_form(long_form(), console), width=width)
    assert max(map(len, text.splitlines())) <= width
    shown = words(text)
    assert "[✓= ✓≠ ✓=] Ada Lovelace was born in London" in shown
    assert "[✗=] She kept a parrot" in shown
    assert "- [✗≠] The Analytical Engine was completed" in shown
    claims, result = text.split("by belief ─")[1].split("Result ─")
    signs = re.findall(r"^ ?([✗✓?][=≠]?) ", claims, re.MULTILINE)
    assert signs == ["✗=", "✗≠", "✓≠", "?", "✓="] or width == 60  # where each claim stands on lines of its own
    assert "✗= 2 unsupported, but insisted upon" in words(result)
    assert {"Analytical", "Engine"} <= set(claims.split())


SHOWN: list[Print] = [
    lambda console: print_trust_report(hostile_trust(), console),
    lambda console: print_trust_run(trust_run((hostile_trust(),)), console),
    lambda console: print_distractors(
        distractor_set(
            question=HOSTILE,
            response=hostile_trust().response,
            distractors=hostile_trust().trust_bc.distractors,
            notes=(HOSTILE,),
        ),
        console,
    ),
    lambda console: print_long_form(hostile_long_form(), console),
]


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("show", SHOWN, ids=["report", "run", "distractors", "long form"])
def test_hostile_text_neither_steers_the_terminal_nor_is_read_as_markup(show: Print, width: int) -> None:
    text = printed(show, width=width)
    assert not set(text) & set("\x1b\x00\x07\r\x9b\u202e\u2066")
    assert "[red]alert[/red] [/]" in words(text) or width == 60  # where columns fold it
    coloured = printed(show, width=width, terminal=True)
    assert "\x1b" not in re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*\x1b\\", "", coloured)


def test_work_is_linear_in_the_answers() -> None:
    assert growth(lambda n: printed(lambda console: print_trust_run(large_run(n), console)), 10) < LINEAR
    printed(lambda console: print_trust_report(firm(), console))
