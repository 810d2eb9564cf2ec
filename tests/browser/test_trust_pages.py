"""The pages of TrustScores in a real browser, opened from a file as a user opens them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from factloop.evaluation.reports.long_form_html import render_long_form_html
from factloop.evaluation.reports.trust_html import render_trust_html
from tests.browser.test_report_page import ARGUMENTS, NAMELESS, OVERFLOW, PATIENCE_MS
from tests.evaluation.reports.trust_sample import (
    firm,
    hostile_long_form,
    hostile_trust,
    large_run,
    long_form,
    mixed_run,
    trust_run,
    wavering,
)

PAGES = {
    "answer": render_trust_html(wavering()),
    "run": render_trust_html(mixed_run()),
    "long form": render_long_form_html(long_form()),
    "hostile": render_trust_html(hostile_trust()),
    "hostile run": render_trust_html(trust_run((hostile_trust(),))),
    "hostile long form": render_long_form_html(hostile_long_form()),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no chromium or google-chrome on the PATH")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS), headless=True)
        yield launched
        launched.close()


@dataclass
class Visits:
    """Opens pages from files, and keeps whatever they complained about or asked for."""

    browser: Browser
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, html: str, *, width: int = 1280, dark: bool = False, script: bool = True) -> Page:
        file = self.folder / "trust.html"
        file.write_text(html, encoding="utf-8")
        context = self.browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.as_uri())
        return page


@pytest.fixture
def visits(browser: Browser, tmp_path: Path) -> Iterator[Visits]:
    visits = Visits(browser, tmp_path)
    yield visits
    for context in browser.contexts:
        context.close()
    assert visits.complaints == []
    assert [url for url in visits.requests if not url.startswith("file://")] == []


def shown(page: Page) -> int:
    return page.locator(".claim:visible").count()


def test_the_table_filters_the_answers(visits: Visits) -> None:
    page = visits.open(PAGES["run"])
    assert shown(page) == 5
    page.get_by_role("button", name="Consistent and contradicted: 1 answer").click()
    assert shown(page) == 1
    page.get_by_role("button", name="Inconsistent: 1 answer").click()
    assert shown(page) == 2
    expect(page.get_by_role("status")).to_have_text("2 of 5 answers")
    expect(page.get_by_role("button", name="Inconsistent and supported: 0 answers")).to_be_disabled()
    page.get_by_role("button", name="All 5").click()
    assert shown(page) == 5
    page.get_by_role("searchbox").fill("RETURNED TO SPAIN")
    expect(page.get_by_role("status")).to_have_text("1 of 5 answers")


def test_the_groups_filter_the_claims_from_both_places(visits: Visits) -> None:
    page = visits.open(PAGES["long form"])
    page.locator(".matrix").get_by_role("button", name="Unsupported, but insisted upon: 2 claims").click()
    assert shown(page) == 2
    chip = page.locator(".toolbar").get_by_role("button", name="Unsupported, but insisted upon 2")
    expect(chip).to_have_attribute("aria-pressed", "true")
    chip.click()
    assert shown(page) == 15
    page.get_by_role("button", name="Wavering: 4 claims").click()
    assert shown(page) == 4


def test_a_sentence_leads_to_its_claims_and_back(visits: Visits) -> None:
    page = visits.open(PAGES["long form"])
    page.locator(".sentence.is-unsupported_wavering").press("Enter")
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


@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out_to_the_side_and_every_control_has_a_name(visits: Visits, name: str) -> None:
    page = visits.open(PAGES[name], dark="hostile" in name)
    page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    assert page.evaluate(NAMELESS) == []
    for width in (320, 768, 1100):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(OVERFLOW) == 0, width


def test_dark_mode_is_followed(visits: Visits) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = visits.open(PAGES["answer"]).evaluate(background)
    assert visits.open(PAGES["answer"], dark=True).evaluate(background) != light


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
