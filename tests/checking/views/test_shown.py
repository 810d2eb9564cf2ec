from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from factloop.checking.views.plain import render_csv
from factloop.checking.views.segments import segments
from factloop.checking.views.shown import print_report, render_html
from factloop.core.records import Claim, FactualityReport, Judgement, UnscoredReason, Verdict
from factloop.reports.claims import Status, tally
from factloop.reports.figures import BASELINE_IS_RIGHT, how_far, how_often_right, name_of, precision_interval
from tests.reports.claims_about import claim
from tests.reports.html_page import AA_CONTRAST, Page, colours, contrast, words
from tests.reports.page_samples import PAGES
from tests.reports.sample import (
    hostile_report,
    large_report,
    make_report,
    markdown_report,
    sample_claims,
    sample_report,
)
from tests.work import LINEAR, growth


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(render_html(sample_report()))


def test_the_response_is_laid_out_with_the_signs_of_its_sentences(page: Page) -> None:
    prose = page.text_in("prose", without=("mark", "unseen"))
    assert prose.startswith("Ada LovelaceAda Lovelace was born in London on 10 December 1815")
    assert "**" not in prose
    assert len(page.of("strong")) == 1
    signs = [link for link in page.of("a") if link.get("class") == "signs"]
    assert len(signs) == 12
    assert signs[0]["href"] == "#claim-1"
    sentences = [piece for piece in page.of("span") if "sentence" in piece.get("class", "")]
    assert sentences[0]["data-claims"].split() == ["1", "2", "3"]
    assert any("is-contradicted" in piece["class"] for piece in sentences)


def test_every_claim_opens_to_what_the_report_holds(page: Page) -> None:
    body = " ".join(page.text_in("claims", without=("unseen",)).split())
    for one in sample_report().claims:
        for text in (one.self_contained, one.text, one.sentence, one.judgement.rationale, *one.queries):
            assert text in body
        for item in one.evidence:
            assert item.passage in body
            assert item.source in body
    assert "says the same as claim 3" in body
    assert "Unscored: the budget was used up" in body
    assert "who taught her, and from what age" in body
    assert "0.97 of 1" in body
    assert body.count("cited") >= 9


def test_web_addresses_become_links_that_tell_the_target_nothing() -> None:
    links = [link for link in Page(render_html(sample_report())).of("a") if not link["href"].startswith("#")]
    assert {link["rel"] for link in links} == {"noopener noreferrer"}
    addresses = {item.source for claim in sample_report().claims for item in claim.evidence}
    assert {link["href"] for link in links} == addresses - {"sources/analytical-engine.md"}


def test_the_head_says_what_the_figures_rest_on(page: Page) -> None:
    head = " ".join(" ".join(data for names, data in page.texts if "overview" in names).split())
    for said in (
        "2 not in the sources",
        "Decided 12 of 21 claims 9 supported: precision 0.75",
        "F1@64 0.24",
        "The figures treat every verdict as correct; the documentation",
    ):
        assert said in head
    assert "Checked against encyclopaedia.example.org/ada-lovelace," in head
    assert "~15,188 tokens · $0.00305 · 4.8 s" not in head
    assert "~15,188 tokens · $0.00305 · 4.8 s" in " ".join(page.text_in("run").split())


def test_the_judge_is_named_with_what_is_known_of_it() -> None:
    accuracy = (Path(__file__).parents[3] / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert f"`supported` verdicts that are right | {BASELINE_IS_RIGHT}".replace(" %", "%") in accuracy
    offline = sample_report().fingerprint.model_copy(update={"engine": "offline"})
    assert BASELINE_IS_RIGHT in how_often_right(offline)
    assert BASELINE_IS_RIGHT in words(printed(sample_report().model_copy(update={"fingerprint": offline})))
    assert how_often_right(sample_report().fingerprint) == "The accuracy of openai:gpt-4o-mini has not been measured."


def test_without_a_question_the_file_is_the_title() -> None:
    page = render_html(make_report("It is so.", (), prompt=None), "answer.md")
    assert "<title>answer.md · fact-check</title>" in page
    assert Page(page).text_in("overview").split()[0] == "answer.md"
    assert "fact-check of answer.md" in words(Page(render_html(sample_report(), "answer.md")).text_in("masthead"))


@pytest.mark.parametrize(
    ("n_scored", "n_supported", "said"),
    # for 9 of 12: (0.75 + 0.160 -/+ 1.96 * sqrt(0.75 * 0.25 / 12 + 0.0067)) / 1.320
    [(0, 0, ""), (1, 1, "0.21 to 1.00"), (10, 0, "0.00 to 0.28"), (12, 9, "0.47 to 0.91")],
)
def test_precision_has_the_interval_of_wilson(n_scored: int, n_supported: int, said: str) -> None:
    held = claim("x", verdict=Verdict.SUPPORTED), claim("y")
    claims = [held[0]] * n_supported + [held[1]] * (n_scored - n_supported)
    claims = [one.model_copy(update={"id": str(number)}) for number, one in enumerate(claims)]
    report = make_report("x", tuple(claims))
    assert precision_interval(report) == (said and f"95% interval {said}")
    assert how_far(report).startswith(precision_interval(report))


def test_the_words_that_fail_stand_marked_with_what_the_source_says() -> None:
    page = Page(PAGES["fact-check of Markdown"])
    assert page.text_in("fault", without=("unseen",)) == "✗19 €"
    assert [mark["title"] for mark in page.of("mark") if "fault" in mark["class"]] == ["19 € · the source says 29 €"]
    assert "Contradicted · 19 € · the source says 29 €" in words(page.text_in("outcome"))
    assert (page.text_in("removed"), page.text_in("inserted")) == ("19 €", "29 €")


def test_a_passage_that_many_claims_show_stands_once() -> None:
    few, many = (render_html(large_report(number)) for number in (10, 110))
    page = Page(many)
    passages = {item.passage for claim in large_report(110).claims for item in claim.evidence}
    assert len(passages) > 1
    whole = words(page.text_in("evidence", without=("unseen",)))
    assert {whole.count(passage) for passage in passages} == {1}
    assert (len(many) - len(few)) / 100 < 3_000, "bytes a claim of two passages"
    addresses = {link["href"].removeprefix("#") for link in page.of("a") if link["href"].startswith("#passage-")}
    assert addresses == {quote["id"] for quote in page.of("blockquote") if "id" in quote}


@pytest.mark.parametrize(
    ("prompt", "response", "name"),
    [
        ("Who was she?", "A poet.", "Who was she?"),
        (None, f"## Ada <b>\n\n{'x' * 90}", "Ada <b>"),
        (None, "word " * 40, f"{'word ' * 15}word…"),
        (None, "x" * 90, f"{'x' * 79}…"),
        (None, "", "An empty answer"),
    ],
)
def test_a_page_is_named_by_the_question_or_by_how_the_answer_begins(
    prompt: str | None, response: str, name: str
) -> None:
    assert name_of(make_report(response, (), prompt=prompt)) == name


def test_a_claim_free_response_says_so() -> None:
    page = Page(render_html(make_report("I don't know.", ())))
    assert "The response makes no claims that can be checked." in page.text_in("claims")
    assert page.text_in("prose").strip() == "I don't know."
    assert not page.of("svg")


def test_work_is_linear_in_the_claims() -> None:
    assert growth(lambda n: render_html(large_report(n)), 25) < LINEAR


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(theme: int) -> None:
    named = colours("base.css", theme)
    statuses = ("supported", "contradicted", "no_evidence", "irrelevant", "unscored")
    grounds = ("paper", "surface", "sunken")
    tested = [(text, ground) for text in ("ink", "muted", "accent", *statuses) for ground in grounds]
    tested += [("ink", "deciding"), ("ink", "no_evidence-tint")]
    tested += [(text, f"{status}-tint") for status in statuses for text in ("ink", status)]
    for text, ground in tested:
        assert contrast(named[text], named[ground]) >= AA_CONTRAST, (text, ground)


MODEL = sample_claims()[0]


def claim_at(number: int, start: int, end: int) -> Claim:
    return MODEL.model_copy(update={"id": f"c{number}", "span": (start, end)})


def cut(response: str, *spans: tuple[int, int]) -> list[tuple[str, list[str]]]:
    claims = tuple(claim_at(number, *span) for number, span in enumerate(spans, 1))
    return [(part.text, [claim.id for claim in part.claims]) for part in segments(make_report(response, claims))]


def test_claims_of_one_sentence_share_a_segment_and_stray_spans_show_each_character_once() -> None:
    assert cut("One. Two!", (5, 9), (0, 4), (5, 9)) == [("One.", ["c2"]), (" ", []), ("Two!", ["c1", "c3"])]
    assert cut("abcdef", (0, 4), (2, 6)) == [("abcd", ["c1"]), ("ef", ["c2"])]
    assert cut("abcdef", (0, 4), (1, 3)) == [("abcd", ["c1"]), ("ef", [])]
    assert cut("abc", (1, 99), (50, 60), (2, 2)) == [("a", []), ("bc", ["c1"])]


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6))
def test_no_character_is_lost_or_doubled(response: str, spans: list[tuple[int, int]]) -> None:
    ordered = [(min(span), max(span)) for span in spans]
    assert "".join(text for text, _ in cut(response, *ordered)) == response


def test_the_row_of_a_table_comes_with_the_head_of_its_table() -> None:
    response = "Plans.\n\n| Plan | Price |\n|---|---|\n| Team | 19 |\n\nTeam is 19."
    start, last = response.index("Team"), response.index("Team is")
    parts = segments(make_report(response, (claim_at(1, start, start + 9), claim_at(2, last, last + 11))))
    assert [(part.text, part.table_head) for part in parts if part.claims] == [
        ("Team | 19", "Plan | Price"),
        ("Team is 19.", None),
    ]


def rows(report: FactualityReport) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render_csv(report), newline="")))


def test_every_claim_is_a_row_with_its_grounds() -> None:
    report = sample_report()
    found = rows(report)
    assert [row["claim"] for row in found] == [claim.self_contained for claim in report.claims]
    assert [int(row["number"]) for row in found] == list(range(1, len(report.claims) + 1))
    for status, n in tally(report.claims).items():
        assert sum(row["verdict"] == status.words for row in found) == n
    unscored = [row for row in found if row["verdict"] == Status.UNSCORED.words]
    assert all(row["unscored_reason"] and not row["score"] for row in unscored)
    for row, one in zip(found, report.claims, strict=True):
        cited = dict.fromkeys(item.source for item in one.evidence if item.id in one.judgement.cited)
        assert (row["sentence"], row["sources"]) == (one.sentence, "; ".join(cited))
    numbers = {one.id: str(number) for number, one in enumerate(report.claims, 1)}
    assert [row["duplicate_of"] for row in found] == [numbers.get(c.duplicate_of or "", "") for c in report.claims]


def test_no_cell_of_a_hostile_report_is_a_formula() -> None:
    cells = [cell for row in rows(hostile_report()) for cell in row.values()]
    assert cells
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []


def printed(report: FactualityReport, *, width: int = 120, terminal: bool = False, **environ: str) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, _environ={"TERM": "xterm-256color", **environ})
    print_report(report, console)
    return file.getvalue()


def test_the_response_carries_the_mark_of_each_sentence() -> None:
    text = words(printed(sample_report()))
    assert "✓ Ada Lovelace was born in London on 10 December 1815" in text
    assert "- ✗ The Analytical Engine was completed in 1845 and ran her program." in text
    assert "– London is the capital of the United Kingdom. ○ She kept a parrot" in text
    assert "? She also owned a share" in text
    assert "**What she is known for**" in text


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        ({"verdict": Verdict.SUPPORTED}, "the response does what its prompt asks"),
        ({"verdict": Verdict.NOT_SUPPORTED, "contradicted": False}, "the response does not do what its prompt asks"),
        ({"verdict": None, "unscored_reason": UnscoredReason.TIMEOUT}, "not judged: no answer in time"),
    ],
)
def test_eligibility_is_shown_once_in_each_view(judged: dict[str, Any], said: str) -> None:
    report = sample_report().model_copy(update={"eligibility": Judgement(**judged)})
    assert words(printed(report)).count(f"Eligible {said}") == 1
    assert words(render_html(report)).count(said) == 1
    assert "Eligible" not in printed(sample_report()) + render_html(sample_report())


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


def test_a_long_claim_that_repeats_another_takes_one_line() -> None:
    first = claim("A very long claim " * 50, "It is so.")
    again = first.model_copy(update={"id": "again", "duplicate_of": first.id})
    told = printed(make_report(first.sentence, (first, again)), width=80).split("Problems ─")[1]
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
    assert "Team | \x1b[1;31m✗ \x1b[0m\x1b[1;31m19 €\x1b[0m" in printed(markdown_report(), terminal=True)


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


def test_printing_is_linear_in_the_claims() -> None:
    assert growth(lambda n: printed(large_report(n)), 10) < LINEAR
