"""The form of a new check: the button in sight, errors beside their fields, files, the keyboard, what is folded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.service.conftest import Looking, held
from tests.browser.service.serving import Serving
from tests.browser.service.test_checking import finished, job_of

TEXT = "Granite is a rock."
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00"
RESPONSE, DOCUMENT = "Response to check", "Text of document 1"
# Plain JavaScript: until the page has dealt with the answers that were there before this one.
ANOTHER_ANSWER = "async () => { await (await fetch('v1/info')).json(); }"
FILES = """(files) => {
  const held = new DataTransfer();
  files.forEach(([name, bytes]) => held.items.add(new File([new Uint8Array(bytes)], name)));
  return held;
}"""


def drop(on: Locator, files: dict[str, bytes]) -> None:
    held = on.page.evaluate_handle(FILES, [[name, [*data]] for name, data in files.items()])
    for kind in ("dragover", "drop"):
        on.dispatch_event(kind, {"dataTransfer": held})


def press_check(page: Page) -> None:
    page.get_by_role("button", name="Check", exact=True).click()


def test_the_button_is_in_sight_however_long_the_form(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    page.set_viewport_size({"width": 1280, "height": 800})
    go = page.get_by_role("button", name="Check", exact=True)
    expect(go).to_be_in_viewport(ratio=1)
    response = page.get_by_label(RESPONSE).bounding_box()
    assert response is not None
    assert response["y"] + response["height"] < 740  # and covers nothing of the field
    for _ in range(5):
        page.get_by_role("button", name="Add another document").click()
    expect(page.get_by_label("Title of document 6")).to_be_focused()
    expect(go).to_be_in_viewport(ratio=1)


def test_an_error_stands_beside_its_field_until_that_is_changed(looking: Looking, offline: Serving) -> None:
    before = len(offline.get("/v1/jobs")["jobs"])
    page = looking.at(offline.url)
    response, document = page.get_by_label(RESPONSE), page.get_by_label(DOCUMENT)
    press_check(page)
    expect(response).to_be_focused()
    expect(response).to_have_accessible_description(re.compile("^There is nothing to check yet: paste a response."))
    assert response.evaluate("(e) => e.nextElementSibling.textContent.startsWith('There is nothing to check')")
    response.fill(TEXT)
    expect(response).not_to_have_attribute("aria-invalid", "true")
    expect(response).to_have_accessible_description(re.compile("^What it answered"))
    press_check(page)
    expect(document).to_be_focused()
    expect(document).to_have_accessible_description(re.compile("^Paste at least one document"))
    expect(page.locator(".is-beside")).to_have_count(1)
    assert len(offline.get("/v1/jobs")["jobs"]) == before


def test_a_refusal_of_the_service_stands_beside_the_field_that_it_names(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    page.get_by_label(RESPONSE).fill(TEXT)
    page.get_by_label(DOCUMENT).fill(TEXT)
    page.get_by_role("button", name="Add another document").click()
    page.get_by_role("button", name="Add another document").click()
    page.get_by_label("Text of document 3").fill(TEXT)
    page.get_by_label("Title of document 3").fill("t" * 1001)  # the second of those that are sent
    press_check(page)
    third = page.get_by_label("Text of document 3")
    expect(third).to_be_focused()
    expect(third).to_have_accessible_description(re.compile("at most 1000 characters"))


def test_files_are_dropped_where_they_belong(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    drop(page.get_by_label("Prompt"), {"stray.txt": b"stray"})
    drop(page.get_by_label(RESPONSE), {"answer.md": TEXT.encode()})
    expect(page.get_by_label(RESPONSE)).to_have_value(TEXT)
    expect(page.get_by_label("Prompt")).to_have_value("")
    drop(page.get_by_label(DOCUMENT), {"one.txt": b"First.", "two.md": "Zw\u00f6lf.".encode()})
    expect(page.get_by_label("Title of document 2")).to_have_value("two.md")
    expect(page.get_by_label("Text of document 2")).to_have_value("Zw\u00f6lf.")
    drop(page.get_by_label(RESPONSE), {"picture.png": PICTURE})
    expect(page.get_by_label(RESPONSE)).to_have_accessible_description(re.compile("^picture.png is not a text file"))
    expect(page.get_by_label(RESPONSE)).to_have_value(TEXT)
    drop(page.get_by_label(DOCUMENT), {"picture.png": PICTURE, "three.txt": b"Third."})
    expect(page.get_by_label("Title of document 3")).to_have_value("three.txt")
    expect(page.locator(".is-beside")).to_contain_text("picture.png is not a text file")


def test_documents_are_dropped_on_registered_ones_and_taken_instead(looking: Looking, service: Serving) -> None:
    page = looking.at(service.url)
    drop(page.get_by_role("group", name="Check against"), {"one.txt": TEXT.encode()})
    expect(page.get_by_role("radio", name="Documents I paste")).to_be_checked()
    expect(page.get_by_label(DOCUMENT)).to_have_value(TEXT)


def test_files_are_chosen_with_a_button(looking: Looking, offline: Serving, tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(TEXT, encoding="utf-8")
    page = looking.at(offline.url)
    for name, label in (("Read it from a file", RESPONSE), ("Read text files", DOCUMENT)):
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name=name).click()
        chooser.value.set_files(tmp_path / "answer.txt")
        expect(page.get_by_label(label)).to_have_value(TEXT)


@pytest.mark.parametrize("keys", ["Control+Enter", "Meta+Enter"])
def test_the_form_is_sent_from_any_field_by_keyboard(looking: Looking, offline: Serving, keys: str) -> None:
    page = looking.at(offline.url)
    page.get_by_label(DOCUMENT).fill(TEXT)
    page.get_by_label(RESPONSE).fill(TEXT)
    page.get_by_label(RESPONSE).press("Enter")
    expect(page.get_by_label(RESPONSE)).to_have_value(f"{TEXT}\n")
    page.get_by_label(RESPONSE).press(keys)
    finished(page)


def test_the_example_takes_nothing_away_unasked(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    page.get_by_label(DOCUMENT).fill(TEXT)
    page.get_by_role("button", name="Load an example").click()
    expect(page.get_by_label(DOCUMENT)).to_have_value(TEXT)
    page.get_by_role("button", name="Replace what you typed?").click()
    expect(page.get_by_label(RESPONSE)).to_have_value(re.compile("Menai"))
    page.get_by_role("button", name="Load an example").click()  # nothing of the reader's is lost: it is not asked again
    expect(page.get_by_role("button", name="Load an example")).to_be_visible()


def test_what_is_typed_after_the_question_is_asked_about_again(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    page.get_by_label(DOCUMENT).fill(TEXT)
    page.get_by_role("button", name="Load an example").click()
    page.get_by_label(RESPONSE).fill(TEXT)
    page.get_by_role("button", name="Load an example").click()
    expect(page.get_by_role("button", name="Replace what you typed?")).to_be_visible()
    expect(page.get_by_label(RESPONSE)).to_have_value(TEXT)
    page.get_by_role("button", name="Replace what you typed?").click()
    expect(page.get_by_label(RESPONSE)).to_have_value(re.compile("Menai"))


def test_what_was_typed_is_there_after_a_reload(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    page.get_by_label(RESPONSE).fill(TEXT)
    page.get_by_role("button", name="Add another document").click()
    page.get_by_label("Text of document 2").fill("It is hard.")
    page.get_by_text("Advanced").click()
    page.get_by_label("Model calls").fill("7")
    page.reload()
    expect(page.get_by_label(RESPONSE)).to_have_value(TEXT)
    expect(page.get_by_label("Text of document 2")).to_have_value("It is hard.")
    expect(page.get_by_label("Model calls")).to_have_value("7")
    other = looking.at(offline.url)
    expect(other.get_by_label(RESPONSE)).to_have_value("")


@pytest.mark.parametrize(
    "kept", ["[", "null", "7", '{"response": 7, "check": {"pasted": "x", "kind": 1}, "limits": null}']
)
def test_a_draft_of_another_shape_leaves_the_form_empty(looking: Looking, offline: Serving, kept: str) -> None:
    page = looking.at(f"{offline.url}/openapi.json")
    page.evaluate("(kept) => sessionStorage.setItem('factloop-draft', kept)", kept)
    page.goto(offline.url)
    expect(page.get_by_label(RESPONSE)).to_have_value("")
    expect(page.get_by_label(DOCUMENT)).to_have_value("")


def test_who_has_gone_elsewhere_is_not_called_back(looking: Looking, offline: Serving) -> None:
    """Neither by a check that is sent, nor by one that is deleted."""
    page = looking.at(offline.url)
    page.get_by_role("button", name="Load an example").click()
    with page.expect_response("**/v1/checks"), held(page, "**/v1/checks"):
        press_check(page)
        page.get_by_role("link", name="History").click()
        expect(page.get_by_role("heading", name="History")).to_be_visible()
    page.evaluate(ANOTHER_ANSWER)
    expect(page).to_have_url(f"{offline.url}/#/history")
    job = offline.get("/v1/jobs?limit=1")["jobs"][0]["id"]
    page.goto(f"{offline.url}/#/checks/{job}")
    page.get_by_role("button", name="Delete").click()
    with page.expect_response(f"**/v1/jobs/{job}"), held(page, f"**/v1/jobs/{job}"):
        page.get_by_role("button", name="Delete it for good?").click()
        page.get_by_role("link", name="New check").click()
        expect(page.get_by_label(RESPONSE)).to_be_visible()
    page.evaluate(ANOTHER_ANSWER)
    expect(page).to_have_url(f"{offline.url}/#/")


def test_k_and_limits_are_folded_away_and_kept(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    page.get_by_role("button", name="Load an example").click()
    k, calls = page.get_by_label("K of F1@K"), page.get_by_label("Model calls")
    expect(k).to_be_hidden()
    page.get_by_text("Advanced").click()
    calls.fill("2.5")
    page.get_by_text("Advanced").click()
    press_check(page)
    expect(calls).to_be_focused()
    expect(calls).to_have_accessible_description(re.compile("^The calls are a whole number"))
    calls.fill("7")
    k.fill("ten")
    press_check(page)
    expect(k).to_have_accessible_description(re.compile("^K is a whole number"))
    k.fill("3, 12")
    page.get_by_label("Deadline in seconds").fill("90.5")
    press_check(page)
    finished(page)
    request = offline.get(f"/v1/jobs/{job_of(page)}/request")
    assert (request["k"], request["limits"]) == ([3, 12], {"deadline_s": 90.5, "max_calls": 7, "budget_usd": None})
    assert page.locator(".figures dt").all_text_contents()[1:3] == ["F1@3", "F1@12"]
    page.get_by_role("button", name="Edit and check again").click()
    expect(k).to_have_value("3, 12")
    expect(page.get_by_label("Deadline in seconds")).to_have_value("90.5")
