from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from factloop.checking.views.shown import render_html
from tests.browser.visits import TWO_FRAMES, Visits
from tests.reports.page_samples import PAGES
from tests.reports.sample import large_report

SAMPLE = PAGES["fact-check"]
PROBLEMS = (8, 4, 10, *range(14, 23))
"""The claims of the sample that are contradicted, without evidence or unscored, as the list has them."""


def opened_whole(visits: Visits, fragment: str = "") -> Page:
    page = visits.open(SAMPLE, fragment=fragment)
    page.get_by_role("button", name="All 22").click()
    return page


def test_problems_come_first_and_alone(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    chosen = page.get_by_role("button", name="Need review 12")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    verdicts = page.locator(".claim:visible .verdict")
    wanted = ["Contradicted", *["No evidence found"] * 2, *["Unscored"] * 9]
    expect(verdicts).to_have_count(len(wanted))
    assert [verdict.strip().partition(":")[0] for verdict in verdicts.all_text_contents()] == wanted
    page.get_by_role("button", name="All 22").click()
    expect(verdicts).to_have_count(22)
    # A claim below the window is not laid out (content-visibility), so its inner text may be empty.
    assert [verdict.strip() for verdict in verdicts.all_text_contents()[12:15]] == ["Supported"] * 3


def test_a_passage_of_several_claims_is_shown_with_each_that_is_opened(visits: Visits) -> None:
    report = large_report(10)
    page = visits.open(render_html(report))
    page.get_by_role("button", name="All 10").click()
    quotes = page.locator(".claim", has_text="Sentence number 7").locator("blockquote")
    elsewhere = "The whole passage is shown with claim"
    expect(quotes.first).to_contain_text(elsewhere)
    page.locator("#claim-8 > summary").click()
    expect(quotes.filter(has_text=elsewhere)).to_have_count(0)
    shown_passages = [" ".join(re.sub(r"\[\w+ sentence: |\]", "", text).split()) for text in quotes.all_text_contents()]
    assert sorted(shown_passages) == sorted(" ".join(item.passage.split()) for item in report.claims[7].evidence)
    word = report.claims[7].evidence[0].passage.split()[-2]
    page.get_by_role("searchbox").fill("no such words")
    expect(page.get_by_role("status")).to_have_text("0 of 10 claims")
    page.get_by_role("searchbox").fill(word)
    expect(page.get_by_role("status")).to_have_text("10 claims")


def test_claims_are_read_by_keyboard(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("#claim-4 > summary")
    expect(second).to_be_focused()
    expect(second).to_have_css("outline-style", "solid")
    page.keyboard.press("Enter")
    expect(page.locator("#claim-4 .body")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#claim-10 > summary")).to_be_focused()
    page.keyboard.press("k")
    expect(second).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("jknp/")
    expect(page.get_by_role("searchbox")).to_have_value("jknp/")


def test_n_and_p_step_from_problem_to_problem(visits: Visits) -> None:
    page = opened_whole(visits)
    for number in (*PROBLEMS, PROBLEMS[-1]):  # at the end they stay
        page.keyboard.press("n")
        expect(page.locator(f"#claim-{number} > summary")).to_be_focused()
        expect(page.locator(".claim details[open]")).to_have_count(1)
    page.keyboard.press("p")
    expect(page.locator(f"#claim-{PROBLEMS[-2]} > summary")).to_be_focused()
    expect(page.get_by_text("Problem 11 of 12")).to_be_visible()
    expect(page.locator(".sentence.is-linked").first).to_contain_text("She also owned a share")


def test_a_sentence_leads_to_its_claims_and_back(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.get_by_role("button", name="Supported 9").click()
    page.get_by_role("link", name="Contradicted, claim 8").press("Enter")
    claim = page.locator("#claim-8")
    expect(claim.locator(".body")).to_be_visible()
    expect(claim.locator("> summary")).to_be_focused()
    page.evaluate(TWO_FRAMES)
    summary, toolbar = claim.locator("> summary").bounding_box(), page.locator(".toolbar").bounding_box()
    assert summary is not None
    assert toolbar is not None
    assert summary["y"] >= toolbar["y"] + toolbar["height"]
    claim.locator("[data-sentence]").click()
    expect(page.locator("#sentence-8")).to_be_focused()


def test_without_a_script_the_page_can_be_read(visits: Visits) -> None:
    page = visits.open(SAMPLE, script=False)
    expect(page.locator(".toolbar")).to_be_hidden()
    page.locator("#claim-8 > summary").click()
    expect(page.locator("#claim-8 .body")).to_contain_text("How it was checked")
    expect(page.locator("#claim-8 .against")).to_be_visible()
