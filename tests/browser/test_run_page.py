"""The pages of a run over a data set and of a comparison in a real browser."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.comparing.views.html import render_comparison_html
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.views.html import render_run_html
from tests.browser.visits import Visits, shown
from tests.evaluation.runs.finished_runs import judged, summary_of
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
    page.get_by_label("System", exact=True).select_option("mistral-7b")
    expect(said).to_have_text("12 of 36 responses")
    page.get_by_label("Outcome", exact=True).select_option("abstained")
    expect(said).to_have_text("1 of 36 responses")
    page.get_by_label("Outcome", exact=True).select_option("")
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


def test_without_a_script_everything_is_there(visits: Visits) -> None:
    page = visits.open(PAGES["run over a data set"], script=False)
    assert page.locator(ROWS).count() == 36
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.get_by_role("button")).to_have_count(0)
    page.get_by_text("The curve as a table").click()
    expect(page.locator('[aria-label="F1@K against K"] table')).to_be_visible()


@pytest.mark.parametrize("name", ["run over a data set", "comparison of evaluators"])
def test_data_are_saved_offline(visits: Visits, name: str, tmp_path: Path) -> None:
    page = visits.open(PAGES[name])
    page.context.set_offline(True)
    with page.expect_download() as waited:
        page.get_by_role("link", name="(JSON)").click()
    saved = tmp_path / "saved"
    waited.value.save_as(saved)
    raw = saved.read_bytes()
    text = gzip.decompress(raw) if waited.value.suggested_filename.endswith(".gz") else raw
    if name == "run over a data set":
        assert RunSummary.model_validate_json(text) == labelled_run()
    else:
        assert Comparison.model_validate_json(text) == two_evaluators()
    visits.requests[:] = [url for url in visits.requests if not url.startswith("data:")]  # the saved file itself


def test_flipped_claims_show_both_rationales(visits: Visits) -> None:
    page = visits.open(PAGES["comparison of evaluators"])
    total = shown(page).count()
    chip = page.locator(".toolbar").get_by_role("button", name="Supported → not supported")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    assert 0 < shown(page).count() < total
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    body = page.locator(".claim > details[open] .body")
    expect(body.get_by_role("heading", name="A’s rationale")).to_be_visible()
    expect(body).to_contain_text("said s")
    expect(body).to_contain_text("said n")
    page.get_by_label("Higher", exact=True).select_option("second")
    expect(page.locator(".tools .shown")).to_contain_text(" of 33 pairs")
    assert all(cell.startswith("+") for cell in column(page, 5))


@pytest.mark.parametrize("name", ["run over a data set", "comparison of systems"])
def test_pictures_are_seen_in_both_themes_and_on_a_phone(visits: Visits, name: str) -> None:
    for dark in (False, True):
        page = visits.open(PAGES[name], width=360, dark=dark)
        picture = page.locator("svg.picture").first
        picture.scroll_into_view_if_needed()
        expect(picture).to_be_visible()
        ink = picture.evaluate("(e) => getComputedStyle(e.querySelector('text')).fill")
        assert (ink != "rgb(28, 31, 36)") is dark


def test_thousands_of_responses_can_be_searched(visits: Visits) -> None:
    given = [judged(f"prompt {n}", "ssn", system=s) for n in range(2500) for s in "xy"]
    page = visits.open(render_run_html(summary_of(given, resamples=2)))
    said = page.locator(".tools .shown")
    expect(said).to_have_text("5,000 responses, 1 to 25 shown")
    page.get_by_role("searchbox").fill("prompt 2499")
    expect(said).to_have_text("2 of 5,000 responses")


def test_a_comparison_without_flips_has_no_list_of_them(visits: Visits) -> None:
    page = visits.open(render_comparison_html(two_evaluators().model_copy(update={"flips": ()})))
    expect(page.locator(".toolbar")).to_have_count(0)
    expect(page.locator(".tools")).to_be_visible()
