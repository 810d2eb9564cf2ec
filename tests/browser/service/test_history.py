"""The history: rows that tell runs apart, and filters that stand in the address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.service.conftest import Looking, held
from tests.browser.service.serving import Serving

KELL = "The Kell bridge was opened in 1931."
QUESTION = "When was it opened?"


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service with three checks of one question: right, wrong, and of two documents."""
    with Serving(tmp_path_factory.mktemp("checks")) as serving:
        for year, documents in (("1931", 1), ("1934", 1), ("1931", 2)):
            asked = {
                "prompt": QUESTION,
                "response": KELL.replace("1931", year),
                "documents": [{"text": KELL}] * documents,
            }
            serving.post("/v1/checks?wait=true", asked)
        yield serving


def rows(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(".job .first-words").all_text_contents()]


def test_rows_of_one_question_are_told_apart(looking: Looking, checks: Serving) -> None:
    page = looking.at(f"{checks.url}/#/history")
    expect(page.locator(".job")).to_have_count(3)
    assert rows(page) == [KELL, KELL.replace("1931", "1934"), KELL]
    third, second, _ = page.locator(".job").all()
    expect(second.get_by_role("img", name="1 contradicted")).to_be_visible()
    expect(third.get_by_role("img", name="1 supported")).to_be_visible()
    expect(third).to_contain_text("against 2 documents")
    expect(second).to_contain_text("against 1 document")
    expect(second).to_contain_text("The offline engine (a baseline)")
    expect(second).to_contain_text("no model calls")
    expect(second.locator("time")).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$"))


def test_filters_stand_in_the_address_and_come_back(looking: Looking, checks: Serving) -> None:
    page = looking.at(f"{checks.url}/#/history")
    expect(page.locator(".job")).to_have_count(3)
    page.get_by_label("Verdicts").select_option("With problems")
    expect(page.locator(".job")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"#/history\?outcome=problems$"))
    page.reload()
    expect(page.locator(".job")).to_have_count(1)
    expect(page.get_by_label("Verdicts")).to_have_value("problems")
    page.get_by_role("link", name=QUESTION).click()
    expect(page.get_by_role("heading", name="Claims")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Verdicts")).to_have_value("problems")
    expect(page.locator(".job")).to_have_count(1)
    page.go_back()
    expect(page.locator(".job")).to_have_count(3)
    expect(page.get_by_label("Verdicts")).to_have_value("")


def test_words_are_looked_for_in_answers_and_judges(looking: Looking, checks: Serving) -> None:
    page = looking.at(f"{checks.url}/#/history")
    search = page.get_by_label("Search history")
    search.fill("1934 offline")
    expect(page.locator(".job")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"#/history\?text=1934\+offline$"))
    expect(search).to_be_focused()
    search.fill("no such words")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.reload()
    expect(search).to_have_value("no such words")
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".job")).to_have_count(3)


def test_a_list_that_is_left_or_cannot_be_had_breaks_nothing(looking: Looking, checks: Serving) -> None:
    page = looking.at(f"{checks.url}/#/history")
    expect(page.locator(".job")).to_have_count(3)
    page.context.set_offline(True)
    page.get_by_label("Verdicts").select_option("With problems")
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer.")
    expect(page.locator(".job")).to_have_count(3)
    page.context.set_offline(False)
    page.get_by_label("Kind").select_option("Check")
    expect(page.locator(".job")).to_have_count(1)
    expect(page.get_by_role("alert")).to_be_hidden()
    with held(page, "**/v1/jobs?*"):
        page.get_by_label("Kind").select_option("Audit")
        page.get_by_role("link", name="New check").click()
        expect(page.get_by_role("button", name="Check", exact=True)).to_be_visible()


def test_the_claims_of_a_check_are_downloaded_as_a_table(looking: Looking, checks: Serving) -> None:
    page = looking.at(f"{checks.url}/#/history")
    page.get_by_role("link", name=QUESTION).first.click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download CSV").click()
    assert started.value.suggested_filename.endswith(".csv")
    lines = Path(started.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("number,claim,verdict")
    assert lines[1].startswith(f"1,{KELL},supported")
