"""The view of a reader when the service wants a key, refuses, fails or goes away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import expect

from factloop.core.records import FactualityReport
from factloop.entrance.keys import ApiKeys
from factloop.reports.status import problems_first
from factloop.service.attempts import OF_AN_ADDRESS
from tests.browser.service.conftest import Looking
from tests.browser.service.serving import Serving, simulated
from tests.browser.service.test_checking import BOTH, PENDING, ask, finished
from tests.simulator import Simulator

KEY = "a-key-of-twenty-eight-letters"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("guarded"), keys=ApiKeys([KEY])) as serving:
        yield serving


def test_a_key_is_asked_for_and_kept_in_this_tab(looking: Looking, guarded: Serving) -> None:
    page = looking.at(guarded.url)
    dialog = page.get_by_role("dialog", name="Key")
    expect(dialog).to_contain_text("This service asks for a key.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("alert")).to_contain_text("a key is needed")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_label("Key of the service")).to_be_focused()
    page.keyboard.type("not the key, and long enough")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("The service does not take this key.")
    page.keyboard.type(KEY)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Load an example")).to_be_visible()
    page.get_by_role("button", name="Load an example").click()
    page.get_by_role("button", name="Check", exact=True).click()
    finished(page)
    with page.expect_download() as started:
        page.get_by_role("button", name="Download HTML").click()
    assert "Menai" in Path(started.value.path()).read_text(encoding="utf-8")
    page.reload()
    finished(page)
    assert KEY not in page.url + page.content() + str(page.evaluate("JSON.stringify(localStorage)"))
    kept = page.evaluate("({ ...sessionStorage })")
    assert KEY not in kept.pop("factloop-draft")
    assert list(kept.values()) == [KEY]


def test_a_right_key_is_taken_after_too_many_wrong_ones(looking: Looking, guarded: Serving) -> None:
    for number in range(OF_AN_ADDRESS.amount):
        with pytest.raises(HTTPError):
            guarded.post("/v1/checks", {}, {"Authorization": f"Bearer wrong{number}"})
    page = looking.at(guarded.url)
    dialog = page.get_by_role("dialog", name="Key")
    expect(dialog).to_contain_text("This service asks for a key.")
    page.keyboard.type("not the key, and long enough")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Wrong keys were tried too often from here")
    page.keyboard.type(KEY)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Load an example")).to_be_visible()


def test_a_page_is_opened_where_a_key_is_needed(looking: Looking, guarded: Serving) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    rows = [
        {
            "dataset": "d",
            "system": "s",
            "response_id": str(n),
            "claim_id": "1",
            "label": n % 2,
            "evaluators": {"e": 0.5},
        }
        for n in range(4)
    ]
    job = guarded.post("/v1/audits", {"rows": rows}, headers)
    page = looking.at(f"{guarded.url}/#/audits/{job['id']}")
    page.get_by_label("Key of the service").fill(KEY)
    page.keyboard.press("Enter")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Open its page").click()
    expect(opened.value.get_by_role("heading", level=1)).to_be_visible()
    assert opened.value.evaluate("window.opener") is None
    opened.value.reload()
    expect(opened.value.get_by_role("heading", level=1)).to_be_visible()
    assert KEY not in opened.value.url


def test_the_service_goes_in_mid_check_and_comes_back(looking: Looking, halfway: Simulator, tmp_path: Path) -> None:
    with Serving(tmp_path, simulated(halfway, concurrency=4)) as serving:
        page = looking.at(serving.url)
        ask(page, halfway.world.one_response(30).text)
        expect(page.locator(BOTH)).to_be_visible()
        serving.stop()
        expect(page.get_by_role("alert")).to_contain_text("The service does not answer. Trying again in")
        expect(page.locator(".claim")).not_to_have_count(0)
        halfway.set(dies_after=None)
        serving.start()
        finished(page)
        expect(page.get_by_role("alert")).to_be_hidden()
        expect(page.locator(PENDING)).to_have_count(0)
        report = serving.get(f"/v1/jobs/{page.url.rpartition('/')[2]}/result")
        in_order = problems_first(FactualityReport.model_validate(report).claims)
        assert page.locator(".statement").all_text_contents() == [claim.self_contained for claim in in_order]


def test_refusals_are_told_in_the_services_words(looking: Looking, tmp_path: Path) -> None:
    with Serving(tmp_path, rate="1/minute", max_body_mb=0.01) as serving:
        page = looking.at(serving.url)
        page.get_by_role("button", name="Load an example").click()
        page.get_by_label("Response to check").fill("Granite is a rock. " * 1000)
        page.get_by_role("button", name="Check", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text(
            "Too long for this service: a request has at most 10,000 bytes"
        )
        page.get_by_label("Response to check").fill("Granite is a rock.")
        page.get_by_role("button", name="Check", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("at most 1 per 1 minute (try again in")
        expect(page.get_by_label("Response to check")).to_have_value("Granite is a rock.")


def test_a_check_that_fails_says_why(looking: Looking, tmp_path: Path) -> None:
    (tmp_path / "journals").write_text("no folder", encoding="utf-8")
    with Serving(tmp_path) as serving:
        page = looking.at(serving.url)
        page.get_by_role("button", name="Load an example").click()
        page.get_by_role("button", name="Check", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("The check failed: ")
        expect(page.locator(".byline").first).to_contain_text("This check was not finished")
        page.get_by_role("link", name="History").click()
        expect(page.locator(".job")).to_contain_text("Check, failed")


def test_a_response_without_claims_says_so(looking: Looking, offline: Serving) -> None:
    job = offline.post("/v1/checks", {"response": "Hello!", "documents": [{"text": "Granite is a rock."}]})
    page = looking.at(f"{offline.url}/#/checks/{job['id']}")
    finished(page)
    expect(page.locator(".claims")).to_contain_text("The response makes no claim that can be checked.")
    expect(page.locator(".figures dd b").first).to_have_text("–")


def test_without_a_service_the_page_can_be_tried_again(looking: Looking, tmp_path: Path) -> None:
    with Serving(tmp_path) as serving:
        page = looking.at(serving.url)
        serving.stop()
        page.get_by_role("link", name="History").click()
        expect(page.locator("h1")).to_have_text("The service does not answer")
        serving.start()
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("h1")).to_have_text("History")
