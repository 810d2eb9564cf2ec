from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.runs.records import RunSummary
from tests.browser.visits import Visits, save_by
from tests.evaluation.runs.views.run_samples import labelled_run, two_evaluators
from tests.reports.page_samples import PAGES

ROWS = "table.rows tbody tr:visible"


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"{ROWS} > :nth-child({number})").all_inner_texts()


def test_responses_are_filtered_sorted_and_paged(visits: Visits) -> None:
    page = visits.open(PAGES["run over a data set"])
    said = page.locator(".tools .shown")
    expect(said).to_have_text("36 responses, 1 to 25 shown")
    page.get_by_role("button", name="Next").click()
    expect(said).to_have_text("36 responses, 26 to 36 shown")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("combobox", name="System").select_option("mistral-7b")
    expect(said).to_have_text("12 of 36 responses")
    page.get_by_role("combobox", name="Outcome").select_option("abstained")
    expect(said).to_have_text("1 of 36 responses")
    page.get_by_role("combobox", name="Outcome").select_option("")
    page.get_by_role("combobox", name="Precision").select_option("middle")
    assert all(0.5 <= float(cell) < 0.8 for cell in column(page, 4))
    page.get_by_role("combobox", name="Precision").select_option("")
    page.get_by_role("button", name="Not supported").click()
    numbers = [int(cell) for cell in column(page, 7)]
    assert numbers == sorted(numbers)
    page.get_by_role("button", name="Not supported").click()
    assert [int(cell) for cell in column(page, 7)] == sorted(numbers, reverse=True)
    expect(page.get_by_role("columnheader", name="Not supported").last).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Precision", exact=True).click()
    assert column(page, 4)[-1] == "–"  # what has no value is last, whichever way
    page.get_by_role("button", name="Precision", exact=True).click()
    assert column(page, 4)[-1] == "–"
    page.get_by_role("searchbox").fill("FACT-003")
    expect(said).to_have_text("1 of 36 responses")
    page.get_by_text("Columns", exact=True).last.click()
    page.get_by_role("checkbox", name="Outcome").uncheck()
    page.reload()  # the browser remembers what is hidden
    expect(page.get_by_text("Columns (1 hidden)")).to_be_visible()


@pytest.mark.parametrize("name", ["run over a data set", "comparison of evaluators"])
def test_data_are_saved_offline(visits: Visits, name: str, tmp_path: Path) -> None:
    page = visits.open(PAGES[name])
    page.context.set_offline(True)
    saved = tmp_path / "saved"
    download = save_by(page.get_by_role("link", name="(JSON)"), saved)
    raw = saved.read_bytes()
    text = gzip.decompress(raw) if download.suggested_filename.endswith(".gz") else raw
    if name == "run over a data set":
        assert RunSummary.model_validate_json(text) == labelled_run()
    else:
        assert Comparison.model_validate_json(text) == two_evaluators()
    visits.requests[:] = [url for url in visits.requests if not url.startswith("data:")]  # the saved file itself
