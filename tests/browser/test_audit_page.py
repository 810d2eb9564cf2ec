from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from factloop.evaluation.audit.views.shown import render_audit_html
from tests.browser.visits import Visits
from tests.evaluation.audit.views.audit_sample import sample_audit


@pytest.fixture(scope="module")
def sample() -> str:
    return render_audit_html(sample_audit(), most_drawn=1)


def choice(page: Page, name: str) -> Locator:
    return page.get_by_role("combobox", name=name, exact=True, include_hidden=True)


def shown_sections(page: Page) -> Locator:
    return page.locator(".scope:visible > h2")


def test_the_reader_chooses_group_evaluator_and_threshold(visits: Visits, sample: str) -> None:
    page = visits.open(sample)
    expect(shown_sections(page)).to_have_text(["All data sets"])
    choice(page, "Data").select_option("Data set: news (task group summaries)")
    expect(shown_sections(page)).to_have_text(["Data set: news (task group summaries)"])
    choice(page, "Evaluator").select_option("mild")
    rates = page.locator(".scope:visible .at:visible .part").filter(has_text="How often is it right?")
    expect(rates.locator("tbody tr:visible th:first-child")).to_have_text(["mild", "mild"])
    expect(page.locator(".at:visible")).to_contain_text("At a threshold of 0.5")
    choice(page, "Threshold").select_option("0.7")
    expect(page.locator(".at:visible")).to_contain_text("At a threshold of 0.7")
    expect(page.get_by_role("status")).to_have_text(
        "Data: Data set: news (task group summaries), Evaluator: mild, Threshold: 0.7"
    )
