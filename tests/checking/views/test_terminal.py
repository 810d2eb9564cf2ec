from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from factloop.checking.views.terminal import print_report
from factloop.core.records import FactualityReport
from tests.reports.sample import hostile_report, large_report, make_report, sample_report
from tests.work import LINEAR, growth


def printed(report: FactualityReport, *, width: int = 120, terminal: bool = False, **environ: str) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, _environ={"TERM": "xterm-256color", **environ})
    print_report(report, console)
    return file.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_response_carries_the_mark_of_each_sentence() -> None:
    text = words(printed(sample_report()))
    assert "✓ Ada Lovelace was born in London on 10 December 1815" in text
    assert "- ✗ The Analytical Engine was completed in 1845 and ran her program." in text
    assert "– London is the capital of the United Kingdom. ○ She kept a parrot" in text
    assert "? She also owned a share" in text
    assert "**What she is known for**" in text


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_every_claim_is_listed_at_every_width(width: int) -> None:
    report = sample_report()
    text = printed(report, width=width)
    assert max(map(len, text.splitlines())) <= width
    claims = words(text.split("Claims ─")[1])
    for number in range(1, len(report.claims) + 1):
        assert f" {number} " in claims
    assert "sources/analytical-engine.md" in claims
    assert "same as claim 3" in claims


@pytest.mark.parametrize("width", [80, 200])
def test_in_a_cascade_every_claim_says_which_stage_judged_it(width: int) -> None:
    report = sample_report()
    first, second, *others = report.claims
    stages = {"cheap": "lexical", "model": "openai:gpt-4o-mini"}
    judged = [
        claim.model_copy(update={"judgement": claim.judgement.model_copy(update={"stage": stage, "judged_by": judge})})
        for claim, (stage, judge) in zip((first, second), stages.items(), strict=True)
    ]
    text = words(printed(report.model_copy(update={"claims": (*judged, *others)}), width=width))
    assert text.count("the cheap stage: lexical") == text.count("the model: openai:gpt-4o-mini") == 1
    assert "stage" not in printed(report, width=width)


def test_the_result_says_what_it_rests_on() -> None:
    result = words(printed(sample_report(), width=200).split("Result ─")[1])
    for line in (
        "✓ 9 supported ✗ 1 contradicted ○ 2 no evidence found – 1 irrelevant ? 8 unscored",
        "Precision 0.75 (9 of 12 scored claims supported, 8 unscored)",
        "Unscored 1 × the budget was used up",
        "F1@8 0.86 (recall 1.00)",  # P 0.75, R min(1, 9/8): 2 * 0.75 / 1.75 = 0.857
        "F1@64 0.24 (recall 0.14)",  # R 9/64 = 0.1406: 2 * 0.75 * 0.1406 / 0.8906 = 0.2368
        "31 model calls, 2 failed, 4 cache hits, 17 searches",
        "13,482 prompt + 1,706 completion (approximate)",
        "Cost $0.00305",
        "Judge openai:gpt-4o-mini, fused plan",
        "Time 4.8 s",
        "Warning 2 calls failed and were retried.",
    ):
        assert line in result


def test_colour_is_used_on_a_terminal_only_and_never_against_the_users_wish() -> None:
    assert "\x1b[32m✓ supported" in printed(sample_report(), terminal=True)
    assert "\x1b[32m" not in printed(sample_report(), terminal=True, NO_COLOR="1")
    assert "\x1b" not in printed(sample_report())


def test_web_sources_are_links_on_a_terminal() -> None:
    text = printed(sample_report(), terminal=True)
    assert ";https://encyclopaedia.example.org/ada-lovelace\x1b\\" in text
    assert ";sources/analytical-engine.md" not in text


@pytest.mark.parametrize("report", [sample_report(), hostile_report()], ids=["sample", "hostile"])
def test_a_terminal_is_sent_styles_and_links_and_no_other_escape(report: FactualityReport) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*\x1b\\", "", printed(report, terminal=True))
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [60, 120])
def test_hostile_text_neither_steers_the_terminal_nor_is_read_as_markup(width: int) -> None:
    text = printed(hostile_report(), width=width)
    assert not set(text) & set("\x1b\x00\x07\r\x9b\u202e\u2066")
    assert "[red]alert[/red] [/]" in words(text)
    assert "␛[31mred␛[0m" in text


def test_a_claim_free_response_says_so() -> None:
    text = printed(make_report("I don't know.", ()))
    assert "none. The response makes no claim that can be checked." in text
    assert "Claims ─" not in text
    assert "F1@64" in text


def test_an_empty_response_and_no_prompt() -> None:
    assert "(empty)" in printed(make_report("", (), prompt=None))


def test_work_is_linear_in_the_claims() -> None:
    assert growth(lambda n: printed(large_report(n)), 10) < LINEAR
