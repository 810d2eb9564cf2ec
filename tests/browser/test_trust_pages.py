"""The pages of TrustScores in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from factloop.trust.views.html import render_trust_html
from tests.browser.visits import Visits, shown
from tests.reports.page_samples import PAGES
from tests.trust.views.trust_sample import firm, large_run, trust_run


def test_the_table_filters_the_answers(visits: Visits) -> None:
    page = visits.open(PAGES["run"])
    expect(shown(page)).to_have_count(5)
    page.get_by_role("button", name="Consistent and contradicted: 1 answer").click()
    expect(shown(page)).to_have_count(1)
    page.get_by_role("button", name="Inconsistent: 1 answer").click()
    expect(shown(page)).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text("2 of 5 answers")
    expect(page.get_by_role("button", name="Inconsistent and supported: 0 answers")).to_be_disabled()
    page.get_by_role("button", name="All 5").click()
    expect(shown(page)).to_have_count(5)
    page.get_by_role("searchbox").fill("RETURNED TO SPAIN")
    expect(page.get_by_role("status")).to_have_text("1 of 5 answers")


def test_the_groups_filter_the_claims_from_both_places(visits: Visits) -> None:
    page = visits.open(PAGES["long form"])
    page.locator(".matrix").get_by_role("button", name="Unsupported, but insisted upon: 2 claims").click()
    expect(shown(page)).to_have_count(2)
    chip = page.locator(".toolbar").get_by_role("button", name="Unsupported, but insisted upon 2")
    expect(chip).to_have_attribute("aria-pressed", "true")
    chip.click()
    expect(shown(page)).to_have_count(15)
    page.get_by_role("button", name="Wavering: 4 claims").click()
    expect(shown(page)).to_have_count(4)


def test_a_sentence_leads_to_its_claims_and_back(visits: Visits) -> None:
    page = visits.open(PAGES["long form"])
    page.locator(".sentence.is-unsupported_wavering .signs").press("Enter")
    expect(page.locator("#claim-8 .check")).to_be_visible()
    page.locator('#claim-8 a[href^="#sentence-"]').click()
    expect(page.locator("#sentence-8")).to_be_focused()


def test_answers_are_read_by_keyboard(visits: Visits) -> None:
    page = visits.open(PAGES["run"])
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#claim-2 > summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#claim-2 .check").first).to_be_visible()
    made = page.locator("#claim-2 .more > summary").first
    made.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#claim-2 .made")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_without_a_script_the_page_can_be_read(visits: Visits) -> None:
    page = visits.open(PAGES["run"], script=False)
    expect(page.locator(".toolbar")).to_be_hidden()
    expect(page.locator(".matrix")).to_be_visible()
    page.locator("#claim-2 > summary").click()
    expect(page.locator("#claim-2 .check").first).to_be_visible()


def test_a_thousand_answers_can_be_filtered_and_searched(visits: Visits) -> None:
    reports = large_run(999).reports
    page = visits.open(render_trust_html(trust_run((*reports, firm())), longest_details=1_000_000))
    count = page.locator("#shown")
    page.locator('[data-filter="belief-inconsistent"]').click()
    expect(count).to_have_text("333 of 1,000 answers")
    page.locator("#search").fill("number 994?")
    expect(count).to_have_text("1 of 1,000 answers")


def test_no_more_than_a_hundred_open_at_once_and_the_button_says_so(visits: Visits) -> None:
    page = visits.open(render_trust_html(large_run(120)))
    page.get_by_role("button", name="Open the first 100").click()
    expect(page.locator(".claim > details[open]")).to_have_count(100)
    page.get_by_role("button", name="Close all").click()
    expect(page.locator(".claim > details[open]")).to_have_count(0)
    page.locator('[data-filter="belief-inconsistent"]').click()
    page.get_by_role("button", name="Open all").click()
    expect(shown(page)).to_have_count(40)
    expect(page.locator(".claim:visible > details[open]")).to_have_count(40)
