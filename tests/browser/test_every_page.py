from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # no types
from playwright.sync_api import expect

from tests.browser.visits import OPEN_ALL, Visits, reload_with_theme
from tests.reports.page_samples import PAGES

# Plain JavaScript: each control with neither text nor label, and each box that sticks out to the right.
NAMELESS = """() => [...document.querySelectorAll('a, button, input, summary, svg[role=img], [role=group]')].filter(
  (e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
SCROLLED = "() => Math.max(0, ...[...document.querySelectorAll('.prose')].map((e) => e.scrollHeight - e.clientHeight))"
BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out_to_the_side_and_every_control_has_a_name(visits: Visits, name: str) -> None:
    page = visits.open(PAGES[name], dark="hostile" in name)
    page.evaluate(OPEN_ALL)
    assert page.evaluate(NAMELESS) == []
    for width in (320, 768, 1100):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(OVERFLOW) == 0, width
    page.set_viewport_size({"width": 1100, "height": 9_000})
    assert page.evaluate(SCROLLED) == 0, "there is room for the whole response"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_wrong(visits: Visits, name: str, dark: bool) -> None:
    page = visits.open(PAGES[name], dark=dark)
    page.evaluate(OPEN_ALL)
    found = Axe().run(page)
    assert [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found.response["violations"]
    ] == []


@pytest.mark.parametrize("name", ["fact-check", "answer", "long form", "MixedQA"])
def test_the_theme_follows_the_system_until_it_is_chosen(visits: Visits, name: str) -> None:
    page = visits.open(PAGES[name], dark=True)
    dark = page.evaluate(BACKGROUND)
    theme = page.get_by_role("button", name="Theme")
    theme.click()
    expect(theme).to_have_text("Theme: light")
    assert page.evaluate(BACKGROUND) != dark
    theme.click()
    expect(theme).to_have_text("Theme: dark")
    assert page.evaluate(BACKGROUND) == dark
    reload_with_theme(page, "dark")
    expect(theme).to_have_text("Theme: dark")


@pytest.mark.parametrize("name", ["fact-check", "answer", "run", "MixedQA"])
def test_on_paper_everything_is_open(visits: Visits, name: str) -> None:
    page = visits.open(PAGES[name])
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("main details:not([open])").count() == 0
    expect(page.locator(".run .trail").last).to_be_visible()
    for control in ("button:not(.matrix *)", "input", ".skip", ".keys"):
        expect(page.locator(control).filter(visible=True)).to_have_count(0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details[open]").count() == 0
