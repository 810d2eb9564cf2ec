from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.visits import Visits, shown
from tests.reports.page_samples import PAGES


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
