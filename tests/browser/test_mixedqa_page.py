"""The page of a MixedQA run in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import Visits
from tests.reports.page_samples import PAGES


def centre(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2


@pytest.mark.parametrize("width", [360, 1280])
def test_marks_stand_where_the_axis_says(visits: Visits, width: int) -> None:
    """The first row says 0.435, with 0.313 in the paper; the axis is ticked at 0 and 0.25."""
    page = visits.open(PAGES["MixedQA"], width=width)
    row = page.locator(".forest").get_by_role("row", name="TrustBC 0.435")
    expect(row).to_contain_text("0.313")
    ticks = page.locator(".tick")
    assert ticks.first.text_content() == "0"
    assert ticks.nth(1).text_content() == "0.25"
    zero, quarter = centre(page, ".tick"), centre(page, ".tick >> nth=1")
    for selector, value in ((".forest td .ours", 0.435), (".forest td .paper path", 0.313)):
        assert (centre(page, selector) - zero) / (quarter - zero) * 0.25 == pytest.approx(value, abs=0.01)


def test_a_phone_shows_scores_with_their_plot_and_scrolls_to_the_rest(visits: Visits) -> None:
    page = visits.open(PAGES["MixedQA"], width=360)
    page.locator(".forest").first.evaluate("(table) => table.scrollIntoView()")
    for selector in (".forest tbody th[scope=row]", ".forest tbody td", ".forest td .ours", ".forest td .paper path"):
        expect(page.locator(selector).first).to_be_in_viewport(ratio=1)
    table = page.locator(".group .scroll").first
    mean = page.get_by_role("columnheader", name="Mean score")
    expect(mean).not_to_be_in_viewport(ratio=1)
    table.evaluate("(e) => { e.scrollLeft = e.scrollWidth; }")
    expect(mean).to_be_in_viewport(ratio=0.9)
    expect(page.locator(".forest tbody th[scope=row]").first).to_be_in_viewport(ratio=1)


def test_the_papers_table_opens_without_a_script(visits: Visits) -> None:
    page = visits.open(PAGES["MixedQA"], script=False)
    page.get_by_text("Table 1 of the paper, every metric").click()
    expect(page.get_by_role("cell", name="0.613").last).to_be_visible()
    expect(page.get_by_role("button", name="Theme")).to_have_count(0)
