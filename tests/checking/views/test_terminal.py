from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from factloop.checking.views.terminal import print_report
from factloop.core.records import FactualityReport
from tests.reports.claims_about import claim
from tests.reports.sample import hostile_report, large_report, make_report, markdown_report, sample_report
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


@pytest.mark.parametrize("width", [60, 120])
def test_every_claim_is_listed_at_every_width(width: int) -> None:
    report = sample_report()
    text = printed(report, width=width)
    assert max(map(len, text.splitlines())) <= width
    claims = words(text.split("Problems ─")[1])
    for number in range(1, len(report.claims) + 1):
        assert f" {number} " in claims
    assert "sources/analytical-engine.md" in claims
    assert "same as claim 3" in claims


@pytest.mark.parametrize("width", [80])
def test_a_long_claim_that_repeats_another_takes_one_line(width: int) -> None:
    first = claim("A very long claim " * 50, "It is so.")
    again = first.model_copy(update={"id": "again", "duplicate_of": first.id})
    told = printed(make_report(first.sentence, (first, again)), width=width).split("Problems ─")[1]
    (line,) = (line for line in told.splitlines() if re.match(" +2 +✗ ", line))
    assert re.search(r"A very long claim A very long claim A very … +\(same as claim 1\)$", line.rstrip())


def test_problems_come_first_with_the_sentence_that_decides_and_its_source() -> None:
    text = printed(markdown_report(), width=80)
    assert max(map(len, text.splitlines())) <= 80
    problems, others = text.split("Problems ─")[1].split("Other claims ─")
    assert words(problems.partition("\n")[2]) == (
        "1 ✗ Team costs 19 €. contradicted: 19 € · the source says 29 € The price is another. "
        "“The team plan costs 29 €.” Plans https://example.org/plans"
    )
    assert "“It listens on port 8080.” notes/ports.md" in words(others)


def test_only_the_words_that_fail_are_coloured() -> None:
    assert "\x1b[1;31m✗ \x1b[0mTeam | \x1b[1;31m19 €\x1b[0m" in printed(markdown_report(), terminal=True)


def test_web_sources_are_links_on_a_terminal() -> None:
    text = printed(sample_report(), terminal=True)
    assert ";https://encyclopaedia.example.org/ada-lovelace\x1b\\" in text
    assert ";sources/analytical-engine.md" not in text


@pytest.mark.parametrize("width", [60, 120])
def test_hostile_text_neither_steers_the_terminal_nor_is_read_as_markup(width: int) -> None:
    text = printed(hostile_report(), width=width)
    assert not set(text) & set("\x1b\x00\x07\r\x9b\u202e\u2066")
    assert "[red]alert[/red] [/]" in words(text)
    assert "␛[31mred␛[0m" in text


def test_work_is_linear_in_the_claims() -> None:
    assert growth(lambda n: printed(large_report(n)), 10) < LINEAR
