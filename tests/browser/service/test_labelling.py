"""Labels given on the page of the service, kept beside the check."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from factloop.evaluation.labels.exporting import export_labels
from tests.browser.service.conftest import Looking, held
from tests.browser.service.serving import Serving
from tests.browser.service.test_checking import finished
from tests.browser.service.test_views import looked_at

KELL, DORN, MIRK = (
    "The Kell bridge was opened in 1931.",
    "The Dorn tower was built in 1874.",
    "The Mirk canal was dug in 1820.",
)
SENT = "() => dispatchEvent(new Event('beforeunload', { cancelable: true }))"
"""Whether the page would let its reader go: the service has all labels."""
ASK = {"response": f"{KELL} {DORN} {MIRK}", "documents": [{"title": "One", "text": f"{KELL} {MIRK}"}]}


@pytest.fixture
def checked(offline: Serving) -> str:
    """The id of a check with three claims, one of them a problem."""
    offline.post("/v1/checks?wait=true", ASK)
    found: str = offline.get("/v1/jobs?limit=1")["jobs"][0]["id"]
    return found


def opened(looking: Looking, offline: Serving, job: str, *, dark: bool = False) -> Page:
    page = looking.at(f"{offline.url}/#/checks/{job}", dark=dark)
    finished(page)
    return page


def labelled(page: Page, n: int) -> None:
    expect(page.get_by_text(f"{n} of 3 labelled", exact=True)).to_be_visible()


def kept(offline: Serving, job: str) -> list[tuple[str, str, bool]]:
    return [(one["label"], one["comment"], one["blind"]) for one in offline.get(f"/v1/jobs/{job}/labels")["labels"]]


def test_labels_given_by_keys_are_kept_with_the_check(
    looking: Looking, offline: Serving, checked: str, tmp_path: Path
) -> None:
    page = opened(looking, offline, checked)
    expect(page.locator(".label-dock")).to_be_hidden()
    page.get_by_role("button", name="Label claims").click()
    labelled(page, 0)
    expect(page.locator(".claim:visible")).to_have_count(3)
    page.keyboard.press("a")
    page.keyboard.press("b")
    expect(page.locator(".verdict:visible")).to_have_count(1)
    page.keyboard.press("c")
    page.keyboard.type("1874 or 1875?")
    page.keyboard.press("Enter")
    page.keyboard.press("4")
    page.keyboard.press("2")
    labelled(page, 3)
    page.keyboard.press("u")
    labelled(page, 2)
    page.wait_for_function(SENT)
    assert kept(offline, checked) == [("supported", "", False), ("cannot_tell", "1874 or 1875?", True)]
    page.reload()
    finished(page)
    page.get_by_role("button", name="Label claims").click()
    labelled(page, 2)
    expect(page.get_by_role("region", name="Label the claims")).to_contain_text(f"Claim 3: {MIRK}")
    with page.expect_download() as started:
        page.get_by_role("button", name="Save labels").click()
    assert started.value.suggested_filename == f"labels-{checked}.json"
    started.value.save_as(tmp_path / "labels.json")
    found = export_labels([tmp_path / "labels.json"])
    assert ([row["label"] for row in found.rows], found.left_out.total()) == ([1], 1)


def test_hidden_evidence_stands_in_the_order_of_the_search(looking: Looking, offline: Serving) -> None:
    asked = {"response": DORN, "documents": [{"text": "The Dorn tower was built by masons."}, {"text": DORN}]}
    report = offline.post("/v1/checks?wait=true", asked)
    (one,) = report["claims"]
    one["judgement"]["cited"] = [one["evidence"][1]["id"]]
    job = offline.get("/v1/jobs?limit=1")["jobs"][0]["id"]
    page = looking.at(offline.url)
    layout = {**offline.get(f"/v1/jobs/{job}/layout"), "marks": []}
    page.route("**/result", lambda route: route.fulfill(json=report))
    page.route("**/layout", lambda route: route.fulfill(json=layout))
    page.goto(f"{offline.url}/#/checks/{job}")
    finished(page)
    page.get_by_role("button", name="Label claims").click()
    sources = page.locator(".claim .source")
    expect(sources).to_contain_text(["[2]", "[1]"])
    page.keyboard.press("b")
    expect(sources).to_contain_text(["[1]", "[2]"])
    page.keyboard.press("1")
    expect(sources).to_contain_text(["[2]", "[1]"])


def test_labels_are_fetched_once_however_often_they_are_asked_for(
    looking: Looking, offline: Serving, checked: str
) -> None:
    page = opened(looking, offline, checked)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with held(page, "**/labels"):
        page.get_by_role("button", name="Label claims").dblclick()
    labelled(page, 0)
    assert asked == [f"{offline.url}/v1/jobs/{checked}/labels"]


def test_what_the_service_does_not_take_is_said_and_sent_again(
    looking: Looking, offline: Serving, checked: str
) -> None:
    page = opened(looking, offline, checked)
    page.get_by_role("button", name="Label claims").click()
    labelled(page, 0)
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator(".label-trouble")).to_contain_text("Not kept: The service does not answer")
    page.context.set_offline(False)
    page.keyboard.press("2")
    expect(page.locator(".label-trouble")).to_be_hidden()
    assert [label for label, _, _ in kept(offline, checked)] == ["supported", "not_supported"]


def test_a_report_in_its_sandbox_keeps_nothing_and_can_be_saved(
    looking: Looking, offline: Serving, checked: str, tmp_path: Path
) -> None:
    """The page of its own, as its address opens it: it has no storage, and says so."""
    page = looking.at(f"{offline.url}/v1/jobs/{checked}/report.html")
    page.keyboard.press("l")
    page.keyboard.press("1")
    expect(page.get_by_role("alert")).to_contain_text("save the labels before you leave")
    with page.expect_download() as started:
        page.get_by_role("button", name="Save labels").click()
    started.value.save_as(tmp_path / "labels.json")
    assert [row["label"] for row in export_labels([tmp_path / "labels.json"]).rows] == [1]


def test_problems_come_first_where_there_are_any(looking: Looking, offline: Serving, checked: str) -> None:
    page = opened(looking, offline, checked)
    expect(page.get_by_role("button", name="Problems 1")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".claim:visible .statement")).to_have_text([DORN])
    page.get_by_role("button", name="All 3").click()
    expect(page.locator(".claim:visible")).to_have_count(3)
    offline.post("/v1/checks?wait=true", {"response": KELL, "documents": [{"text": KELL}]})
    sound = offline.get("/v1/jobs?limit=1")["jobs"][0]["id"]
    page = opened(looking, offline, sound)
    expect(page.get_by_role("button", name="Problems")).to_be_hidden()
    expect(page.get_by_role("button", name="All 1")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("dark", [False, True])
def test_labelling_has_names_contrast_and_no_sideways_scrolling(
    looking: Looking, offline: Serving, checked: str, dark: bool
) -> None:
    page = opened(looking, offline, checked, dark=dark)
    page.get_by_role("button", name="Label claims").click()
    labelled(page, 0)
    page.keyboard.press("1")
    looked_at(page)
    page.keyboard.press("b")
    looked_at(page)
    page.get_by_role("link", name="History").click()
    expect(page.locator(".label-dock")).to_have_count(0)
    assert page.evaluate("document.documentElement.className") == "", "nothing of it stays behind"


NUMBERS = ".claim .number > span:last-child"


def test_claims_are_labelled_in_the_order_of_the_response(looking: Looking, offline: Serving) -> None:
    """Problems first would tell the verdict, and so would the look of the nearest sentence and the names of links."""
    asked = {"response": f"{KELL} The Kell bridge was painted green. {KELL}", "documents": [{"text": KELL}]}
    page = opened(looking, offline, offline.post("/v1/checks", asked)["id"])
    expect(page.locator(NUMBERS)).to_have_text(["2", "1", "3"])
    page.locator(".claim").first.locator("summary").click()
    nearest = page.locator("mark.nearest").first
    expect(nearest).to_have_css("border-bottom-style", "dashed")
    signs = page.locator(".prose .signs").nth(1)
    expect(signs).to_have_accessible_name("No evidence found, claim 2:")
    page.get_by_role("button", name="Label claims").click()
    expect(page.locator(NUMBERS)).to_have_text(["1", "2", "3"])
    page.keyboard.press("b")
    expect(nearest).to_have_css("border-bottom-style", "none")
    expect(nearest).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(nearest.locator(".unseen").first).to_be_hidden()
    expect(signs).to_have_accessible_name("To claim 2")
    page.keyboard.press("b")
    page.keyboard.press("l")
    expect(signs).to_have_accessible_name("No evidence found, claim 2:")
    expect(page.locator(NUMBERS)).to_have_text(["2", "1", "3"])


def test_hidden_verdicts_are_told_by_no_filter_and_by_no_sentence(looking: Looking, offline: Serving) -> None:
    """A sentence of several claims leads to the worst of them, but to the first while verdicts are hidden."""
    sentence = "The Kell bridge was opened in 1931 and was painted green."
    asked = {"response": sentence, "documents": [{"text": KELL}]}
    page = opened(looking, offline, offline.post("/v1/checks", asked)["id"])
    page.locator(".prose .signs").click()
    expect(page.locator(".claim:has(details[open]) .number")).to_have_text(["Claim 2"])
    page.get_by_role("button", name="Label claims").click()
    page.locator(".chip.is-no_evidence").click()
    expect(page.locator(".claim:visible")).to_have_count(1)
    page.keyboard.press("b")
    expect(page.locator(".claim:visible")).to_have_count(2)
    expect(page.get_by_label("Search claims and evidence")).to_be_hidden()
    page.keyboard.press("n")
    page.locator(".prose .signs").click()
    expect(page.locator(".claim:focus-within .number")).to_have_text(["Claim 1"])
