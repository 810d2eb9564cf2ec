"""From a pasted response to its report, in a real browser against the real service."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from factloop.core.records import FactualityReport
from factloop.reports.status import problems_first
from tests.browser.service.conftest import Looking, held
from tests.browser.service.serving import Serving
from tests.browser.visits import TWO_FRAMES
from tests.simulator import Simulator

PENDING = ".claim .verdict.is-pending"
JUDGED = ".claim .verdict:not(.is-pending)"
BOTH = f"main:has({PENDING}):has({JUDGED})"
"""The page while some claims are judged and others are not."""


def ask(page: Page, response: str, prompt: str = "", against: str | None = None) -> None:
    page.get_by_label("Prompt").fill(prompt)
    page.get_by_label("Response to check").fill(response)
    if against is not None:
        page.get_by_role("radio", name=against).check()
    page.get_by_role("button", name="Check", exact=True).click()


def job_of(page: Page) -> str:
    return page.url.rpartition("/")[2]


def finished(page: Page) -> None:
    expect(page.locator(".figures dt").first).to_have_text("Precision")


def test_claims_turn_from_found_to_judged_and_end_in_a_report(
    looking: Looking, service: Serving, halfway: Simulator, tmp_path: Path
) -> None:
    response = halfway.world.one_response(30)
    page = looking.at(service.url)
    ask(page, response.text, response.prompt, "The service's own search")
    expect(page.locator(BOTH)).to_be_visible()
    expect(page.locator(".figures dt").first).to_have_text("Judged")
    expect(page.locator(".sentence.is-pending")).not_to_have_count(0)
    with held(page, "**/result"):
        with page.expect_request("**/result"):
            halfway.set(dies_after=None)
        page.evaluate(TWO_FRAMES)
        expect(page.locator(".byline").first).to_have_text("Checking: all claims found so far are judged.")
    finished(page)
    expect(page.locator(PENDING)).to_have_count(0)
    report = service.get(f"/v1/jobs/{job_of(page)}/result")
    counts = report["counts"]
    assert page.locator(".figures dd b").first.text_content() == f"{report['precision']:.2f}"
    scored = counts["supported"] + counts["not_supported"]
    expect(page.locator(".figures .lead span")).to_contain_text(
        f"{counts['supported']} of {scored} scored claims supported"
    )
    in_order = problems_first(FactualityReport.model_validate(report).claims)
    assert page.locator(".statement").all_text_contents() == [claim.self_contained for claim in in_order]
    expect(page.locator(".prose")).to_contain_text("Supported, claim")
    expect(page.locator(".masthead + main")).to_contain_text("Checked by")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download JSON").click()
    started.value.save_as(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == report
    with page.expect_download() as started:
        page.get_by_role("button", name="Download HTML").click()
    assert started.value.suggested_filename == f"check-{job_of(page)}.html"


def test_a_check_that_is_over_says_nothing_before_it_is_all_here(
    looking: Looking, service: Serving, halfway: Simulator
) -> None:
    asked = {"response": halfway.world.one_response(30).text, "mode": "factuality"}
    stopped = service.post("/v1/checks", asked)["id"]
    page = looking.at(f"{service.url}/#/checks/{stopped}")
    expect(page.locator(BOTH)).to_be_visible()
    service.post(f"/v1/jobs/{stopped}/cancel", {})
    expect(page.locator(".byline").first).to_contain_text("This check was stopped")
    told = page.locator(".byline").first.inner_text()
    halfway.set(dies_after=None)
    service.post("/v1/checks?wait=true", asked)
    done = service.get("/v1/jobs?limit=1")["jobs"][0]["id"]
    page = looking.at(service.url)
    for job, last, words in ((stopped, "events", told), (done, "result", "Checked by")):
        with held(page, f"**/{last}"):
            page.goto(f"{service.url}/#/checks/{job}")
            expect(page.locator(".byline").first).to_have_text("Loading…")
            expect(page.locator(".figures")).to_be_empty()
            expect(page.locator("#list > .nothing").last).to_be_empty()
        expect(page.locator(".byline").first).to_contain_text(words)


def test_sentences_without_a_claim_are_shown_each_with_its_reason(looking: Looking, offline: Serving) -> None:
    """The clown's character counts one for the service and two for the browser."""
    response = "# The bridge \U0001f921\n\nWho was he? Telford built the bridge in 1826.\n\n```sh\nls\n\nls -l\n```"
    documents = [{"text": "Telford built the bridge in 1826."}]
    job = offline.post("/v1/checks", {"response": response, "documents": documents})
    page = looking.at(f"{offline.url}/#/checks/{job['id']}")
    finished(page)
    silent = page.locator(".silent")
    expect(silent).to_have_count(3)
    assert [" ".join(text.split()) for text in silent.all_text_contents()] == [
        "Heading: The bridge \U0001f921",
        "Question: Who was he?",
        "Code, not read: ls ls -l",
    ]
    assert [one.get_attribute("title") for one in silent.all()] == ["Heading", "Question", "Code, not read"]
    expect(page.get_by_text("Sentences without a claim:")).to_have_text(
        "Sentences without a claim: 3 of 4: 1 heading, 1 question, 1 code, not read."
    )
    page.locator(".sentence").click()
    expect(page.locator(".claim.is-linked")).to_have_count(1)


def test_evidence_filters_and_the_way_back_to_the_sentence(
    looking: Looking, service: Serving, world: Simulator
) -> None:
    response = world.world.one_response(30)
    page = looking.at(service.url)
    ask(page, response.text, response.prompt, "The service's own search")
    finished(page)
    report = service.get(f"/v1/jobs/{job_of(page)}/result")
    supported = sum(claim["judgement"]["verdict"] == "supported" for claim in report["claims"])
    page.get_by_role("button", name=f"All {len(report['claims'])}").click()
    page.get_by_role("button", name=f"Supported {supported}").click()
    expect(page.locator(".claim:visible")).to_have_count(supported)
    expect(page.locator(".find .shown")).to_have_text(f"{supported} of {len(report['claims'])} claims")
    page.keyboard.press("/")
    page.keyboard.type("no such words at all")
    expect(page.get_by_text("No claim matches.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".claim:visible")).to_have_count(len(report["claims"]))
    first = page.locator(".claim").first
    first.locator("summary").click()
    expect(first.locator(".evidence").first).to_be_visible()
    shown = problems_first(FactualityReport.model_validate(report).claims)[0]
    expect(first.locator(".evidence")).to_have_count(len(shown.evidence))
    expect(first.locator(".rationale")).to_have_text(shown.judgement.rationale)
    first.locator("button.link").first.click()
    expect(page.locator(".sentence.is-linked .signs")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".claim.is-linked summary")).to_be_focused()
    page.get_by_role("button", name="Open all").click()
    page.locator(".claim summary").last.scroll_into_view_if_needed()
    page.locator(".sentence").nth(2).evaluate("(e) => e.click()")
    expect(page.locator(".claim.is-linked summary")).to_be_focused()
    page.evaluate(TWO_FRAMES)
    claim, toolbar = page.locator(".claim.is-linked").bounding_box(), page.locator(".toolbar").bounding_box()
    assert claim is not None
    assert toolbar is not None
    assert claim["y"] >= toolbar["y"] + toolbar["height"] - 1


def test_a_reload_and_the_way_back_keep_the_check(looking: Looking, service: Serving, halfway: Simulator) -> None:
    response = halfway.world.one_response(30)
    page = looking.at(service.url)
    ask(page, response.text, against="The service's own search")
    expect(page.locator(PENDING).first).to_be_visible()
    page.reload()
    expect(page.locator(PENDING).first).to_be_visible()
    expect(page.locator("#spoken")).to_have_text(re.compile(r"^\d+ of \d+ claims? judged$"))
    page.go_back()
    expect(page.get_by_role("button", name="Check", exact=True)).to_be_visible()
    halfway.set(dies_after=None)
    page.go_forward()
    finished(page)
    n_claims = len(service.get(f"/v1/jobs/{job_of(page)}/result")["claims"])
    expect(page.locator(".claim")).to_have_count(n_claims)


def test_a_check_is_stopped_and_what_was_judged_stays(looking: Looking, service: Serving, halfway: Simulator) -> None:
    response = halfway.world.one_response(30)
    page = looking.at(service.url)
    ask(page, response.text, against="The service's own search")
    expect(page.locator(BOTH)).to_be_visible()
    page.get_by_role("button", name="Stop this check").click()
    stopped = page.locator(".byline").first
    expect(stopped).to_contain_text("This check was stopped")
    usage = service.get(f"/v1/jobs/{job_of(page)}")["progress"]["usage"]
    expect(stopped).to_contain_text(f"It cost an unknown amount: {usage['calls']} model calls")
    expect(page.locator(JUDGED).first).to_be_visible()
    expect(page.get_by_text("the check ended before").first).to_be_visible()
    expect(page.locator(".legend")).to_contain_text("unscored")
    expect(page.locator(".legend")).not_to_contain_text("being checked")  # nothing is any more
    expect(page.get_by_role("button", name=re.compile("^Being checked"))).to_have_count(0)
    page.get_by_role("button", name="Edit and check again").click()
    expect(page.get_by_label("Response to check")).to_have_value(response.text)
    page.go_back()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it for good?").click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()


def test_the_whole_way_by_keyboard(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url)
    expect(page.get_by_role("button", name="Load an example")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Load an example")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Check", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    finished(page)
    expect(page.get_by_label("Warnings").get_by_text("a baseline")).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.localName") == "summary":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    body = page.locator(".claim:visible").nth(1).locator(".body")  # the problems alone
    expect(body).to_be_visible()
    page.keyboard.press("Escape")
    expect(body).to_be_hidden()
    expect(page.get_by_role("status")).to_contain_text("Check finished. 6 claims.")


BRIDGES = "The Kell bridge is made of granite. The Kell bridge was opened in 1931. The Kell bridge has a toll. "
KELL = [{"text": "The Kell bridge was opened in 1934. The Kell bridge is made of granite."}]


def checked(looking: Looking, offline: Serving, response: str, documents: list[dict[str, str]]) -> Page:
    """The page of a check that is done."""
    job = offline.post("/v1/checks", {"response": response, "documents": documents})
    page = looking.at(f"{offline.url}/#/checks/{job['id']}")
    finished(page)
    return page


def test_problems_stand_first_and_n_and_p_step_through_them(looking: Looking, offline: Serving) -> None:
    page = checked(looking, offline, f"{BRIDGES} The Kell bridge was opened in 1932.", KELL)
    assert page.locator(".claim .number").all_text_contents() == ["Claim 2", "Claim 4", "Claim 3", "Claim 1"]
    expect(page.locator(".claim:visible")).to_have_count(3)
    expect(page.get_by_text("3 problems", exact=True)).to_be_visible()
    for place in (0, 1, 2, 2):  # at the end they stay
        page.keyboard.press("n")
        expect(page.locator(".claim").nth(place).locator("summary")).to_be_focused()
        expect(page.locator(".claim details[open]")).to_have_count(1)
    expect(page.locator(".sentence.is-linked")).to_contain_text("has a toll")
    page.keyboard.press("p")
    expect(page.get_by_text("Problem 2 of 3")).to_be_visible()
    following = page.get_by_role("button", name="Next problem")
    following.press("Enter")
    expect(following).to_be_focused()
    expect(page.locator(".claim").nth(2).locator(".body")).to_be_visible()
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.press("p")
    expect(page.get_by_text("Problem 3 of 3")).to_be_visible()


def test_the_first_filter_of_a_reader_shows_its_claims_alone(looking: Looking, offline: Serving) -> None:
    page = checked(looking, offline, f"{BRIDGES} The Kell bridge was opened in 1932.", KELL)
    problems = page.get_by_role("button", name="Problems 3")
    expect(problems).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Contradicted 2").click()
    expect(page.locator(".claim:visible")).to_have_count(2)
    expect(problems).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="No evidence found 1").click()
    expect(page.locator(".claim:visible")).to_have_count(3)
    problems.click()
    expect(page.locator(".claim:visible")).to_have_count(3)
    page.get_by_role("button", name="Contradicted 2").click()
    expect(page.locator(".claim:visible")).to_have_count(2)


def test_the_list_tells_why_beside_each_problem_as_the_report_does(looking: Looking, offline: Serving) -> None:
    page = checked(looking, offline, f"{BRIDGES} The Kell bridge was opened in 1932.", KELL)
    beside = ".claim > .decided-by q:visible, .claim summary .rationale:visible"
    told = page.locator(beside).all_text_contents()
    assert len(told) == 3
    chips = [text.split() for text in page.locator(".chip:visible").all_text_contents()]
    page.goto(f"{offline.url}/v1/jobs/{job_of(page)}/report.html")
    assert page.locator(beside).all_text_contents() == told
    assert [text.split() for text in page.locator(".chip:visible").all_text_contents()] == chips


def test_without_problems_nothing_leads_from_one_to_the_next(looking: Looking, offline: Serving) -> None:
    page = checked(looking, offline, "The Kell bridge is made of granite.", KELL)
    expect(page.get_by_role("button", name="All 1")).to_be_visible()
    expect(page.get_by_role("button", name="Next problem")).to_be_hidden()
    expect(page.get_by_text("next and previous problem")).to_be_hidden()
    page.keyboard.press("n")
    expect(page.locator(".claim details[open]")).to_have_count(0)


MARKDOWN = """# The bridge

The **Kell bridge** was opened in 1931. It is made of [granite](https://example.org/kell).

| Bridge | Material |
|---|---|
| Kell bridge | granite |

- The Kell bridge has a `toll`.
"""


def test_markdown_is_rendered_and_the_raw_text_is_a_click_away(looking: Looking, offline: Serving) -> None:
    page = checked(looking, offline, MARKDOWN, KELL)
    prose = page.get_by_role("region", name="The response")
    expect(prose.get_by_role("heading", name="The bridge")).to_be_visible()
    expect(prose.locator("strong")).to_have_text("Kell bridge")
    expect(prose.get_by_role("cell", name="granite")).to_be_visible()
    expect(prose.get_by_role("listitem").locator("code")).to_have_text("toll")
    expect(prose.get_by_role("link", name="granite")).to_have_attribute("href", "https://example.org/kell")
    expect(prose.locator(".fault.is-contradicted")).to_contain_text("1931")
    expect(prose.locator(".fault.is-contradicted")).to_have_attribute("title", "1931 · the source says 1934")
    raw = page.locator(".raw pre")
    expect(raw).to_be_hidden()
    page.get_by_text("Raw text").click()
    expect(raw).to_be_visible()
    assert raw.text_content() == MARKDOWN
    prose.get_by_text("Kell bridge").first.click()
    expect(page.locator(".claim.is-linked summary")).to_be_focused()


def test_a_response_without_markdown_has_no_raw_text(looking: Looking, offline: Serving) -> None:
    page = checked(looking, offline, BRIDGES, KELL)
    expect(page.locator(".prose p")).to_have_count(1)
    expect(page.get_by_text("Raw text")).to_have_count(0)
