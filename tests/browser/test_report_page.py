"""The page of a fact-check in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from factloop.checking.views.html import render_html
from tests.browser.visits import Visits, shown
from tests.reports.page_samples import PAGES
from tests.reports.sample import large_report

SAMPLE = PAGES["fact-check"]


def test_verdicts_filter_the_claims(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    assert shown(page) == 20
    page.get_by_role("button", name="Contradicted 1").click()
    assert shown(page) == 1
    page.get_by_role("button", name="No evidence found 2").click()
    assert shown(page) == 3
    expect(page.get_by_role("status")).to_have_text("3 of 20 claims")
    page.get_by_role("button", name="All 20").click()
    assert shown(page) == 20
    page.get_by_text("Unscored, by reason").click()
    page.get_by_role("button", name="The budget was used up 1").click()
    assert shown(page) == 1
    expect(page.locator(".claim:visible .outcome")).to_contain_text("Unscored: the budget was used up")


def test_words_are_searched_in_claims_and_evidence(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    search = page.get_by_role("searchbox")
    search.fill("HUCKNALL")
    expect(page.get_by_role("status")).to_have_text("7 of 20 claims")
    search.fill("no such words")
    expect(page.get_by_text("No claim matches.")).to_be_visible()
    page.get_by_role("button", name="Show all claims").click()
    assert shown(page) == 20
    expect(search).to_be_focused()


def test_claims_are_read_by_keyboard(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("#claim-2 > summary")
    expect(second).to_be_focused()
    assert second.evaluate("(e) => getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#claim-2 .body")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#claim-3 > summary")).to_be_focused()
    page.keyboard.press("k")
    expect(second).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("jk/")
    expect(page.get_by_role("searchbox")).to_have_value("jk/")


def test_single_keys_can_be_switched_off(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.get_by_label("Single-key shortcuts").uncheck()
    page.get_by_role("searchbox").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "open-all"


def test_the_first_tab_stop_skips_to_the_claims(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the claims")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="All 20")).to_be_focused()


def test_a_sentence_leads_to_its_claims_and_back(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.get_by_role("button", name="Supported 9").click()
    page.locator(".sentence.is-contradicted").press("Enter")
    claim = page.locator("#claim-8")
    expect(claim.locator(".body")).to_be_visible()
    expect(claim.locator("> summary")).to_be_focused()
    summary, toolbar = claim.locator("> summary").bounding_box(), page.locator(".toolbar").bounding_box()
    assert summary is not None
    assert toolbar is not None
    assert summary["y"] >= toolbar["y"] + toolbar["height"]
    claim.locator("[data-sentence]").click()
    expect(page.locator("#sentence-8")).to_be_focused()


def test_a_duplicate_leads_to_the_claim_judged(visits: Visits) -> None:
    page = visits.open(SAMPLE, fragment="#claim-13")
    page.locator("#claim-13").get_by_role("link", name="claim 3").click()
    expect(page.locator("#claim-3 .body")).to_be_visible()


def test_on_paper_every_claim_is_open(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("main details:not([open])").count() == 0
    expect(page.locator("#claim-8 .rationale")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".claim details[open]").count() == 0


def test_five_thousand_claims_can_be_filtered_and_searched(visits: Visits) -> None:
    page = visits.open(render_html(large_report(5000)))
    page.get_by_role("button", name="Contradicted 1,000").click()
    expect(page.get_by_role("status")).to_have_text("1,000 of 5,000 claims")
    page.get_by_role("searchbox").fill("number 4995 ")
    expect(page.get_by_role("status")).to_have_text("1 of 5,000 claims")


def test_without_a_script_the_page_can_be_read(visits: Visits) -> None:
    page = visits.open(SAMPLE, script=False)
    expect(page.locator(".toolbar")).to_be_hidden()
    page.locator("#claim-8 > summary").click()
    expect(page.locator("#claim-8 .rationale")).to_be_visible()
