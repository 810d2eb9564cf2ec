"""The report page in a real browser, opened from a file as a user opens it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from factloop.evaluation.reports.html import render_html
from factloop.records import FactualityReport
from tests.evaluation.reports.sample import hostile_report, large_report, make_report, sample_report

PATIENCE_MS = 20_000
"""For a busy machine: each wait ends as soon as what it waits for is there."""

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# Plain JavaScript: each control with neither text nor label, and each box that sticks out to the right.
NAMELESS = """() => [...document.querySelectorAll('a, button, input, summary, svg[role=img], [role=region]')].filter(
  (e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


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
    """Opens reports from files, and keeps whatever the pages complained about or asked for."""

    browser: Browser
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(
        self,
        report: FactualityReport,
        *,
        width: int = 1280,
        dark: bool = False,
        fragment: str = "",
    ) -> Page:
        file = self.folder / "report.html"
        file.write_text(render_html(report), encoding="utf-8")
        context = self.browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.as_uri() + fragment)
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


def test_verdicts_filter_the_claims(visits: Visits) -> None:
    page = visits.open(sample_report())
    assert shown(page) == 20
    page.get_by_role("button", name="Contradicted 1").click()
    assert shown(page) == 1
    page.get_by_role("button", name="No evidence found 2").click()
    assert shown(page) == 3
    expect(page.get_by_role("status")).to_have_text("3 of 20 claims")
    page.get_by_role("button", name="All 20").click()
    assert shown(page) == 20
    page.get_by_text("Not scored, by reason").click()
    page.get_by_role("button", name="The budget was used up 1").click()
    assert shown(page) == 1
    expect(page.locator(".claim:visible .outcome")).to_contain_text("Not scored: the budget was used up")


def test_words_are_searched_in_claims_and_evidence(visits: Visits) -> None:
    page = visits.open(sample_report())
    search = page.get_by_role("searchbox")
    search.fill("HUCKNALL")
    expect(page.get_by_role("status")).to_have_text("7 of 20 claims")
    search.fill("no such words")
    expect(page.get_by_text("No claim matches.")).to_be_visible()
    page.get_by_role("button", name="Show all claims").click()
    assert shown(page) == 20
    expect(search).to_be_focused()


def test_claims_are_read_by_keyboard(visits: Visits) -> None:
    page = visits.open(sample_report())
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
    page = visits.open(sample_report())
    page.get_by_label("Single-key shortcuts").uncheck()
    page.get_by_role("searchbox").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "open-all"


def test_the_first_tab_stop_skips_to_the_claims(visits: Visits) -> None:
    page = visits.open(sample_report())
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the claims")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="All 20")).to_be_focused()


def test_a_sentence_leads_to_its_claims_and_back(visits: Visits) -> None:
    page = visits.open(sample_report())
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
    page = visits.open(sample_report(), fragment="#claim-13")
    page.locator("#claim-13").get_by_role("link", name="claim 3").click()
    expect(page.locator("#claim-3 .body")).to_be_visible()


def test_the_theme_follows_the_system_until_it_is_chosen(visits: Visits) -> None:
    page = visits.open(sample_report(), dark=True)
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(background)
    theme = page.get_by_role("button", name="Theme")
    theme.click()
    expect(theme).to_have_text("Theme: light")
    light = page.evaluate(background)
    assert light != dark
    theme.click()
    expect(theme).to_have_text("Theme: dark")
    assert page.evaluate(background) == dark
    page.reload()
    expect(theme).to_have_text("Theme: dark")


def test_on_paper_every_claim_is_open(visits: Visits) -> None:
    page = visits.open(sample_report())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("main details:not([open])").count() == 0
    expect(page.locator("#claim-8 .rationale")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".claim details[open]").count() == 0


@pytest.mark.parametrize("width", [320, 768, 1100])
@pytest.mark.parametrize("report", [sample_report(), hostile_report()], ids=["sample", "hostile"])
def test_nothing_sticks_out_to_the_side(visits: Visits, report: FactualityReport, width: int) -> None:
    page = visits.open(report, width=width)
    page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    assert page.evaluate(OVERFLOW) == 0


@pytest.mark.parametrize("report", [sample_report(), hostile_report(), make_report("I don't know.", ())])
def test_every_control_has_a_name(visits: Visits, report: FactualityReport) -> None:
    page = visits.open(report)
    assert page.evaluate(NAMELESS) == []
    assert page.locator("h1").count() == 1


def test_five_thousand_claims_can_be_filtered_and_searched(visits: Visits) -> None:
    page = visits.open(large_report(5000))
    page.get_by_role("button", name="Contradicted 1,000").click()
    expect(page.get_by_role("status")).to_have_text("1,000 of 5,000 claims")
    page.get_by_role("searchbox").fill("number 4995 ")
    expect(page.get_by_role("status")).to_have_text("1 of 5,000 claims")


def test_without_a_script_the_page_can_be_read(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(render_html(sample_report()), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    expect(page.locator(".toolbar")).to_be_hidden()
    page.locator("#claim-8 > summary").click()
    expect(page.locator("#claim-8 .rationale")).to_be_visible()
    context.close()
