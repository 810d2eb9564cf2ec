from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from factloop.entrance.keys import ApiKeys
from factloop.evaluation.labels.exporting import export_labels
from tests.browser.service.conftest import Looking, held
from tests.browser.service.serving import Serving, simulated
from tests.browser.visits import save_by
from tests.simulator import Simulator
from tests.tools.search.documents.made_files import pdf

KELL, DORN, MIRK = (
    "The Kell bridge was opened in 1931.",
    "The Dorn tower was built in 1874.",
    "The Mirk canal was dug in 1820.",
)
ASK = {"response": f"{KELL} {DORN} {MIRK}", "documents": [{"title": "One", "text": f"{KELL} {MIRK}"}]}
RESPONSE, DOCUMENT = "Response to check", "Text of document 1"
PENDING = ".live .verdict.is-pending"
BOTH = f"main:has({PENDING}):has(.live .verdict:not(.is-pending))"
"""The page while some claims are judged and others are not."""
KEY = "a-key-of-twenty-eight-letters"
SENT = "() => dispatchEvent(new Event('beforeunload', { cancelable: true }))"
"""Whether the page would let its reader go: the service has all labels."""


def rows(n: int) -> list[dict[str, Any]]:
    told = {"dataset": "d", "system": "s", "claim_id": "1"}
    return [
        {**told, "response_id": str(at), "label": at % 2, "evaluators": {"right": float(at % 2)}} for at in range(n)
    ]


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def ask(page: Page, response: str, against: str | None = None) -> None:
    page.get_by_label(RESPONSE).fill(response)
    if against is not None:
        page.get_by_role("radio", name=against).check()
    button(page, "Check").click()


def job_of(page: Page) -> str:
    return page.url.rpartition("/")[2]


def report(page: Page) -> FrameLocator:
    frame = page.frame_locator("iframe.report")
    expect(frame.get_by_role("heading", level=1)).to_be_visible()
    return frame


def done(offline: Serving, asked: dict[str, Any]) -> str:
    offline.post("/v1/checks?wait=true", asked)
    found: str = offline.get("/v1/jobs?limit=1")["jobs"][0]["id"]
    return found


def test_claims_turn_from_found_to_judged_and_end_in_a_report(
    looking: Looking, service: Serving, halfway: Simulator, tmp_path: Path
) -> None:
    response = halfway.world.one_response(30)
    page = looking.at(service.url)
    ask(page, response.text, "The service's own search")
    expect(page.locator(BOTH)).to_be_visible()
    page.reload()
    expect(page.locator(BOTH)).to_be_visible()
    expect(page.locator("#spoken")).to_have_text(re.compile(r"^\d+ of \d+ claims judged$"))
    halfway.set(dies_after=None)
    claims = report(page).locator(".claim")
    expect(page.locator(".live")).to_have_count(0)
    found = service.get(f"/v1/jobs/{job_of(page)}/result")
    expect(claims).to_have_count(len(found["claims"]))
    expect(page.locator(".intro")).to_contain_text(f"precision {found['precision']:.2f}")
    for kind, suffix in (("JSON", "json"), ("CSV", "csv"), ("HTML", "html")):
        download = save_by(button(page, f"Download {kind}"), tmp_path / f"report.{suffix}")
        assert download.suggested_filename == f"check-{job_of(page)}.{suffix}"
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == found
    assert (tmp_path / "report.csv").read_text(encoding="utf-8-sig").startswith("number,claim,verdict")


def test_a_check_is_stopped_and_what_was_judged_stays(looking: Looking, service: Serving, halfway: Simulator) -> None:
    response = halfway.world.one_response(30)
    page = looking.at(service.url)
    ask(page, response.text, "The service's own search")
    expect(page.locator(BOTH)).to_be_visible()
    button(page, "Stop").click()
    usage = service.get(f"/v1/jobs/{job_of(page)}")["progress"]["usage"]
    expect(page.locator(".intro")).to_contain_text("stopped")
    expect(page.locator(".intro")).to_contain_text(re.compile(rf"price unknown, {usage['calls']} model calls"))
    expect(page.locator(".live li")).not_to_have_count(0)
    button(page, "Edit and repeat").click()
    expect(page.get_by_label(RESPONSE)).to_have_value(response.text)
    page.go_back()
    n_claims = service.get(f"/v1/jobs/{job_of(page)}")["progress"]["n_claims_found"]
    expect(page.locator(".live li")).to_have_count(n_claims)
    button(page, "Delete").click()
    button(page, "Delete permanently?").click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()


def test_the_service_goes_in_mid_check_and_comes_back(looking: Looking, halfway: Simulator, tmp_path: Path) -> None:
    with Serving(tmp_path, simulated(halfway, concurrency=4)) as serving:
        page = looking.at(serving.url)
        ask(page, halfway.world.one_response(30).text)
        expect(page.locator(BOTH)).to_be_visible()
        serving.stop()
        expect(page.locator(".intro")).to_contain_text("The service is not responding; trying again.")
        halfway.set(dies_after=None)
        serving.start()
        expect(report(page).locator(".claim").first).to_be_attached()
        page.get_by_role("link", name="New check").click()
        serving.stop()
        page.get_by_role("link", name="History").click()
        expect(page.locator("h1")).to_have_text("The service is not responding")
        serving.start()
        button(page, "Try again").click()
        expect(page.locator("h1")).to_have_text("History")


def test_two_runs_among_the_results_are_compared(looking: Looking, service: Serving) -> None:
    page = looking.at(f"{service.url}/#/results")
    boxes = {name: page.get_by_label(f"Compare {name}") for name in ("first", "second", "other")}
    boxes["first"].check()
    expect(button(page, "Compare")).to_be_disabled()
    boxes["second"].check()
    button(page, "Compare").click()
    expect(report(page).get_by_role("heading", level=1)).to_have_text("Two evaluators on 10 responses")
    page.go_back()
    boxes["first"].check()
    boxes["other"].check()
    button(page, "Compare").click()
    expect(page.get_by_role("alert")).to_contain_text("the runs have no prompts in common")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("guarded"), keys=ApiKeys([KEY])) as serving:
        yield serving


def test_a_key_is_asked_for_kept_in_this_tab_and_opens_the_report(looking: Looking, guarded: Serving) -> None:
    page = looking.at(guarded.url)
    dialog = page.get_by_role("dialog", name="Key")
    expect(dialog).to_contain_text("This service requires a key.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("alert")).to_contain_text("an API key is required")
    button(page, "Try again").click()
    expect(page.get_by_label("API key for this service")).to_be_focused()
    page.keyboard.type("not the key, and long enough")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("The service does not accept this key.")
    page.keyboard.type(KEY)
    page.keyboard.press("Enter")
    button(page, "Load an example").click()
    button(page, "Check").click()
    expect(report(page).locator(".claim").first).to_be_attached()
    page.reload()
    expect(report(page).locator(".claim").first).to_be_attached()
    assert KEY not in page.url + page.content() + str(page.evaluate("JSON.stringify(localStorage)"))
    kept = page.evaluate("({ ...sessionStorage })")
    assert KEY not in kept.pop("factloop-draft-2")
    assert list(kept.values()) == [KEY]
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open in a new tab").click()
    expect(opened.value.get_by_role("heading", level=1)).to_be_visible()
    assert opened.value.evaluate("window.opener") is None
    assert KEY not in opened.value.url


def labelled(frame: FrameLocator, n: int) -> None:
    expect(frame.get_by_text(f"{n} of 3 labelled", exact=True)).to_be_visible()


def test_labels_given_in_the_frame_are_kept_with_the_check(looking: Looking, offline: Serving, tmp_path: Path) -> None:
    job = done(offline, ASK)
    page = looking.at(f"{offline.url}/#/jobs/{job}")
    frame = report(page)
    frame.get_by_role("button", name="Label claims").click()
    labelled(frame, 0)
    page.keyboard.press("1")
    page.keyboard.press("b")
    page.keyboard.press("c")
    page.keyboard.type("1874 or 1875?")
    page.keyboard.press("Enter")
    page.keyboard.press("4")
    labelled(frame, 2)
    page.context.set_offline(True)
    page.keyboard.press("2")
    expect(frame.locator(".label-trouble")).to_contain_text("Not saved: The service is not responding")
    page.context.set_offline(False)
    page.keyboard.press("u")
    labelled(frame, 2)
    page.wait_for_function(SENT)
    kept = offline.get(f"/v1/jobs/{job}/labels")["labels"]
    assert [(one["label"], one["comment"], one["blind"]) for one in kept] == [
        ("supported", "", True),
        ("cannot_tell", "1874 or 1875?", False),
    ]
    page.reload()
    frame = report(page)
    frame.get_by_role("button", name="Label claims").click()
    labelled(frame, 2)
    save_by(frame.get_by_role("button", name="Save labels"), tmp_path / "labels.json")
    found = export_labels([tmp_path / "labels.json"])
    assert ([row["label"] for row in found.rows], found.left_out.total()) == ([1], 1)


MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script>'
HOSTILE = {
    "response": f"Granite {MARKUP} is a rock. Slate {{{{7*7}}}} is a rock.",
    "question": f"Say {MARKUP} pay\u202eelif.exe\u202c now",
    "documents": [{"title": MARKUP, "text": f"Granite is a rock. {MARKUP}", "source": "javascript:alert(1)"}],
}


def test_the_frame_is_as_high_as_the_report_whose_tools_stay_in_the_window(looking: Looking, offline: Serving) -> None:
    long = {**ASK, "response": " ".join(f"The Kell bridge was opened in {year}." for year in range(1900, 1940))}
    page = looking.at(f"{offline.url}/#/jobs/{done(offline, long)}")
    frame = report(page)
    while not page.evaluate("document.querySelector('iframe.report').clientHeight > 3 * innerHeight"):
        page.wait_for_timeout(20)
    assert frame.locator("html").evaluate("root => root.scrollHeight - root.clientHeight") == 0
    frame.locator(".sentence .signs").last.click()
    for shown in ("#claim-40 > summary", ".toolbar", ".response h2"):
        expect(frame.locator(shown)).to_be_in_viewport()


def test_the_policy_forbids_what_is_not_the_services_own(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    expect(page).to_have_title("New check · factloop")
    page.evaluate("""() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "taken over"';
      document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<p id="painted" style="color: red" onclick="1">x</p>');
    }""")
    page.locator("#painted").click()  # since its version 150 Chromium reads a handler when it is to act
    while len(looking.complaints) < 3:  # the script, the style and the handler
        page.wait_for_timeout(20)
    assert page.title() == "New check · factloop"
    assert all("Content Security Policy" in text for text in looking.complaints)
    looking.complaints.clear()


def test_the_form_says_what_is_wrong_at_its_field(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    response, document, calls = (page.get_by_label(name) for name in (RESPONSE, DOCUMENT, "Model calls"))
    button(page, "Check").click()
    expect(response).to_be_focused()
    assert response.evaluate("(e) => e.validity.valueMissing")
    response.fill(KELL)
    button(page, "Check").click()
    expect(page.get_by_role("alert")).to_contain_text("document")
    expect(document).to_be_focused()
    document.fill(KELL)
    page.get_by_text("Advanced").click()
    calls.fill("2.5")
    page.get_by_text("Advanced").click()
    button(page, "Check").click()
    expect(calls).to_be_focused()
    calls.fill("7")
    button(page, "Add another document").click()
    button(page, "Add another document").click()
    page.get_by_label("Text of document 3").fill(KELL)
    page.get_by_label("Title of document 3").fill("t" * 1001)  # the second of those that are sent
    button(page, "Check").click()
    expect(page.get_by_label("Text of document 3")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text("at most 1000 characters")
    page.get_by_label("Title of document 3").fill("t")
    page.get_by_label("K for F1@K").fill("3, 12")
    page.get_by_label("Deadline in seconds").fill("90.5")
    page.reload()
    expect(response).to_have_value(KELL)
    response.press("Control+Enter")
    expect(report(page).locator(".figures")).to_contain_text("F1@12")
    request = offline.get(f"/v1/jobs/{job_of(page)}/request")
    assert (request["k"], request["limits"]) == ([3, 12], {"deadline_s": 90.5, "max_calls": 7, "budget_usd": None})
    button(page, "Edit and repeat").click()
    expect(page.get_by_label("K for F1@K")).to_have_value("3, 12")


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("checks")) as serving:
        for at in range(26):
            text = KELL if at else f"{KELL.replace('1931', '1934')} It is painted green."
            asked = {"question": f"Question {at}", "response": text, "documents": [{"text": KELL}] * (1 + (at == 1))}
            serving.post("/v1/checks?wait=true", asked)
        yield serving


def test_the_history_is_paged_and_its_filters_are_in_the_address(looking: Looking, checks: Serving) -> None:
    page = looking.at(f"{checks.url}/#/history")
    expect(page.locator(".job")).to_have_count(25)
    expect(page.locator(".job").first).to_contain_text("1 of 1 claim decided: 1 supported, precision 1.00")
    expect(page.locator(".job").first).to_contain_text("against 1 document")
    button(page, "Show more").click()
    expect(page.get_by_role("link", name="Question 0")).to_be_visible()
    page.get_by_label("Verdicts").select_option("Problems")
    expect(page.locator(".job")).to_have_count(1)
    expect(page.locator(".job")).to_contain_text("1 could not be decided · 1 of 2 claims decided: 0 supported")
    expect(page).to_have_url(re.compile(r"#/history\?outcome=problems$"))
    page.reload()
    expect(page.locator(".job")).to_have_count(1)
    page.go_back()
    expect(page.locator(".job")).to_have_count(25)
    page.get_by_label("Search history").fill("Question 25")
    expect(page.locator(".job")).to_have_count(1)
    expect(page.get_by_label("Search history")).to_be_focused()
    page.context.set_offline(True)
    page.get_by_label("Kind").select_option("Check")
    expect(page.get_by_role("alert")).to_contain_text("The service is not responding.")
    expect(page.locator(".job")).to_have_count(1)
    page.context.set_offline(False)
    with held(page, "**/v1/jobs?*"):
        page.get_by_label("Kind").select_option("Audit")
        expect(button(page, "Show more")).to_be_hidden()
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".job")).to_have_count(25)


def test_a_score_an_audit_and_a_result_are_shown_as_their_pages(
    looking: Looking, service: Serving, world: Simulator
) -> None:
    known = world.world.questions[0]
    page = looking.at(service.url)
    page.get_by_role("link", name="TrustScore").click()
    page.get_by_role("textbox", name="Question").fill(known.question)
    page.get_by_role("textbox", name="Answer").fill(known.answer)
    page.get_by_role("radio", name="No documents").check()
    button(page, "Score").click()
    expect(report(page).locator(".figures")).to_contain_text("TrustBC")
    button(page, "Edit and repeat").click()
    expect(page.get_by_role("textbox", name="Question")).to_have_value(known.question)
    service.post("/v1/audits", {"rows": rows(6)})
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="6 labelled claims").first.click()
    expect(report(page).locator("body")).to_contain_text("right")
    page.get_by_role("link", name="Results").click()
    expect(page.locator(".job").last).to_contain_text("balanced accuracy on 240 claims")
    page.get_by_role("link", name="3 evaluators on 240 labelled claims").click()
    expect(report(page).locator("body")).to_contain_text("strict")


def test_files_of_any_kind_are_read_beside_what_cannot_be(looking: Looking, offline: Serving, tmp_path: Path) -> None:
    (tmp_path / "bridges.html").write_text(f"<title>Bridges</title><p>{KELL}</p>", encoding="utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "pages.pdf").write_bytes(pdf("Granite is a rock.", "Slate is a rock."))
    for name in ("none.csv", "none.txt"):
        (tmp_path / name).touch()
    page = looking.at(offline.url)
    page.route("**/v1/documents", lambda route: route.continue_() if button(page, "Check").is_disabled() else None)
    page.locator("input[type=file]").set_input_files(sorted(tmp_path.glob("*.*")))
    for said in ("broken.pdf: the PDF cannot be read", "none.csv contains no text", "none.txt contains no text"):
        expect(page.locator(".trouble")).to_contain_text(said)
    expect(page.locator(".documents li")).to_have_count(2)
    expect(page.locator(".documents")).to_contain_text("bridges.html")
    ask(page, KELL)
    expect(report(page).locator(".overview")).to_contain_text("1 claim supported")
    first = job_of(page)
    button(page, "Edit and repeat").click()
    expect(page.locator(".documents")).to_contain_text("2 pages")
    ask(page, KELL)
    expect(report(page).locator(".overview")).to_contain_text("1 claim supported")
    repeated, given = (offline.get(f"/v1/jobs/{one}/request")["documents"] for one in (job_of(page), first))
    assert job_of(page) != first
    assert (repeated, [one["metadata"] for one in given]) == (given, [{}, {"page": 1}, {"page": 2}])
