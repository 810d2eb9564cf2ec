from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # no types
from playwright.sync_api import Page, expect

from tests.browser.service.conftest import Looking
from tests.browser.service.serving import Serving
from tests.browser.service.test_page import HOSTILE, button, done

OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"


def looked_at(page: Page) -> None:
    """Runs axe on the page and checks that it does not scroll sideways."""
    expect(page.locator("h1")).to_have_count(1)
    found = Axe().run(page, options={"iframes": False}).response["violations"]
    assert [f"{rule['id']}: {node['html']}" for rule in found for node in rule["nodes"]] == []
    for width in (320, 640, 768, 1280):  # 640 is 1280 at 200 %
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERFLOW) == 0, width


@pytest.mark.parametrize("dark", [False, True])
def test_every_view_has_names_contrast_and_no_sideways_scrolling(
    looking: Looking, offline: Serving, service: Serving, dark: bool
) -> None:
    job = done(offline, HOSTILE)
    page = looking.at(offline.url, dark=dark)
    button(page, "Load an example").click()
    page.get_by_text("Advanced").click()
    looked_at(page)
    for address, words in (
        (f"#/jobs/{job}", "could not be decided"),
        ("#/history", "precision"),
        ("#/history?text=no+such+words", "Nothing matches."),
        ("#/results", "There are no results."),
        ("#/nowhere", "There is nothing at this address"),
    ):
        page.goto(f"{offline.url}/{address}")
        expect(page.get_by_role("main")).to_contain_text(words)
        looked_at(page)
    expect(page.get_by_role("link", name="Results", include_hidden=True)).to_be_hidden()
    page = looking.at(f"{service.url}/#/results", dark=dark)
    expect(page.locator(".job")).to_have_count(4)
    looked_at(page)
    page.goto(f"{service.url}/#/trust")
    expect(button(page, "Score")).to_be_visible()
    looked_at(page)
