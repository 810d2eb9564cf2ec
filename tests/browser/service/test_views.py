"""History, comparison, results, TrustScore; and what holds of every view: names, contrast, widths."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # no types
from playwright.sync_api import Page, expect

from tests.browser.service.conftest import Looking, held
from tests.browser.service.serving import Serving
from tests.browser.service.test_checking import finished
from tests.browser.visits import OPEN_ALL, reload_with_theme
from tests.simulator import Simulator

KELL, DORN = "The Kell bridge was opened in 1931.", "The Dorn tower was built in 1874."
MIRK = "The Mirk canal was dug in 1820."
FIRST = {"response": f"{KELL} {DORN}", "documents": [{"title": "One", "text": KELL}]}
SECOND = {"response": f"{KELL} {DORN} {MIRK}", "documents": [{"title": "Two", "text": f"{DORN} {MIRK}"}]}
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"

# Plain JavaScript: each control, picture, region or field without a name.
NAMELESS = """() => {
  const named = 'a, button, input, select, textarea, summary, dialog, svg[role=img], [role=region], nav';
  const isNamed = (e) => e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.labels?.length
    || (!e.matches('select, textarea') && e.textContent.trim());
  const all = [...document.querySelectorAll(named)];
  return all.filter((e) => e.checkVisibility() && !isNamed(e)).map((e) => e.outerHTML);
}"""

# Contrast by WCAG 2: each text that is seen, against the nearest background that is painted; those below AA.
FAINT = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [r, g, b] = color.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      const image = style.backgroundImage.match(/(rgb|color)\\([^()]*\\)/);
      const color = rgba(image ? image[0] : style.backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    const isSeen = e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!node.data.trim() || !isSeen || e.closest('.unseen, noscript, option, :disabled')) continue;
    const style = getComputedStyle(e);
    const [one, other] = [light(rgba(style.color)), light(behind(e))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${e.className} ${node.data.trim().slice(0, 40)}`);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def two(offline: Serving) -> tuple[str, str]:
    """Two checks that are done."""
    ids = []
    for asked in (FIRST, SECOND):
        offline.post("/v1/checks?wait=true", asked)
        ids.append(offline.get("/v1/jobs?limit=1")["jobs"][0]["id"])
    return ids[0], ids[1]


def test_two_checks_are_chosen_and_compared(looking: Looking, offline: Serving, two: tuple[str, str]) -> None:
    page = looking.at(f"{offline.url}/#/checks/{two[0]}")
    page.get_by_role("link", name="Compare with another check").click()
    expect(page).to_have_url(f"{offline.url}/#/history?first={two[0]}")
    expect(page.locator("h1")).to_have_text("History")  # the page of the check has a box of its own
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(1)
    for box in page.get_by_role("checkbox").all():  # titles may be the same
        expect(box).to_have_accessible_name(re.compile(r", \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$"))
    page.get_by_role("checkbox", checked=False).first.check()
    page.get_by_role("link", name="Compare the two").click()
    expect(page.locator("h1")).to_have_text("2 verdicts changed")
    expect(page).to_have_url(f"{offline.url}/#/compare/{two[0]}/{two[1]}")
    flips = page.locator(".part").filter(has_text="Changed verdicts").locator(".claim")
    expect(flips).to_have_count(2)
    flip = flips.filter(has_text=DORN)
    expect(flip.locator(".outcome").first).to_have_text("no evidence found → supported")
    compared = offline.get(f"/v1/compare?first={two[0]}&second={two[1]}")["flips"]
    texts = {text for pair in compared for text in (pair["first"]["rationale"], pair["second"]["rationale"]) if text}
    assert texts <= set(page.locator(".reasoning .rationale").all_text_contents())
    expect(page.locator(".part").filter(has_text="Only in the newer check (1)")).to_contain_text(MIRK)
    expect(page.get_by_label("Cautions")).to_have_text("The two checks are of different responses.")


def test_a_claim_that_is_worded_anew_is_compared_with_its_former_wording(looking: Looking, offline: Serving) -> None:
    """The newer check is named first, and stands on the right all the same."""
    ids: list[str] = []
    for year in (1931, 1934):
        asked = {"response": KELL.replace("1931", str(year)), "documents": [{"text": KELL}]}
        offline.post("/v1/checks?wait=true", asked)
        ids.insert(0, offline.get("/v1/jobs?limit=1")["jobs"][0]["id"])
    page = looking.at(f"{offline.url}/#/compare/{ids[0]}/{ids[1]}")
    expect(page.locator("h1")).to_have_text("1 verdict changed")
    expect(page.locator(".sides dd").first).to_contain_text("1931")
    flip = page.locator(".part").first.locator(".claim")
    expect(flip.locator(".statement")).to_have_text("The Kell bridge was opened in 1931 → 1934.")
    expect(flip.locator("summary .outcome")).to_have_text("supported → contradicted")
    expect(flip.locator("del")).to_have_text("1931")
    expect(page.locator(".part")).to_have_count(2)


def test_two_checks_without_a_common_claim_are_said_to_have_none(looking: Looking, offline: Serving) -> None:
    ids = []
    for response in ("Granite is a hard rock.", "Otto Sverdrup was born in Bindal."):
        offline.post("/v1/checks?wait=true", {"response": response, "documents": [{"text": response}]})
        ids.append(offline.get("/v1/jobs?limit=1")["jobs"][0]["id"])
    page = looking.at(f"{offline.url}/#/compare/{ids[0]}/{ids[1]}")
    expect(page.locator("h1")).to_have_text("The two checks share no claim")
    expect(page.locator(".part h2")).to_have_text(["Only in the older check (1)", "Only in the newer check (1)"])


@pytest.fixture(scope="module")
def many(offline: Serving) -> Serving:
    """A service with more checks than stand on a page."""
    for number in range(26):
        offline.post("/v1/checks?wait=true", {**FIRST, "prompt": f"Question {number}"})
    return offline


def test_history_is_filtered_and_read_page_by_page(looking: Looking, many: Serving) -> None:
    page = looking.at(f"{many.url}/#/history")
    expect(page.locator(".job")).to_have_count(25)
    expect(page.locator(".job").first).to_contain_text("Question 25")
    expect(page.locator(".job").first).to_contain_text("precision 0.50 of 2 scored claims")
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("link", name="Question 0")).to_be_visible()
    page.get_by_label("Kind").select_option("Audit")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()


def test_more_of_a_list_is_offered_once_it_is_there(looking: Looking, many: Serving) -> None:
    page = looking.at(many.url)
    more = page.get_by_role("button", name="Show more")
    with held(page, "**/v1/jobs?*"):
        page.get_by_role("link", name="History").click()
        expect(page.locator("h1")).to_have_text("History")
        expect(more).to_be_hidden()
    expect(more).to_be_visible()
    with held(page, "**/v1/jobs?*"):
        page.get_by_label("Kind").select_option("Audit")
        expect(more).to_be_hidden()
    expect(page.get_by_text("Nothing matches.")).to_be_visible()


def test_registered_results_are_listed_and_their_pages_open(looking: Looking, service: Serving) -> None:
    page = looking.at(f"{service.url}/#/results")
    expect(page.locator(".job")).to_have_count(1)
    job = page.locator(".job")
    expect(job.get_by_role("heading")).to_have_text("3 evaluators on 240 labelled claims")
    expect(job.locator(".figures dt").first).to_have_text("strict")
    expect(job.locator(".figures dd").first).to_contain_text("balanced accuracy on 240 claims")
    expect(job).to_contain_text("file june")  # titles may be the same
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open its page").click()
    expect(opened.value.get_by_text("Data").first).to_be_visible()
    assert opened.value.evaluate("getComputedStyle(document.body).maxWidth") != "none"
    assert opened.value.evaluate("window.opener") is None
    opened.value.reload()
    expect(opened.value.get_by_text("Data").first).to_be_visible()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download JSON").click()
    assert started.value.suggested_filename == "june.json"


def test_a_trust_score_from_question_to_checks(looking: Looking, service: Serving, world: Simulator) -> None:
    pair = world.world.questions[0]
    page = looking.at(service.url)
    page.get_by_role("link", name="TrustScore").click()
    page.get_by_role("textbox", name="Question").fill(pair.question)
    page.get_by_role("textbox", name="Answer").fill(pair.answer)
    page.get_by_role("radio", name="No documents of mine").check()
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".figures dt").nth(1)).to_have_text("TrustBC")
    report = service.get(f"/v1/jobs/{page.url.rpartition('/')[2]}/result")
    expect(page.locator(".checks .claim")).to_have_count(len(report["trust_bc"]["checks"]))
    expect(page.locator(".figures")).to_contain_text(
        f"chose its answer in {report['trust_bc']['n_consistent']} of {report['trust_bc']['n_asked']} check"
    )
    looked_at(page)


def test_an_audit_done_here_is_found_in_the_history(looking: Looking, offline: Serving) -> None:
    rows = [
        {
            "dataset": "d",
            "system": "s",
            "response_id": str(number),
            "claim_id": "1",
            "label": number % 2,
            "evaluators": {"right": float(number % 2)},
        }
        for number in range(6)
    ]
    offline.post("/v1/audits", {"rows": rows})
    page = looking.at(f"{offline.url}/#/history")
    page.get_by_role("link", name="6 labelled claims").click()
    expect(page.locator("main .byline")).to_contain_text("done")
    looked_at(page)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open its page").click()
    expect(opened.value.get_by_role("heading", level=1)).to_be_visible()


def violations(page: Page) -> list[str]:
    """What axe finds wrong, by rule and element."""
    found = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {node['html']}" for rule in found for node in rule["nodes"]]


def looked_at(page: Page) -> None:
    """Checks what holds of every view, once it has its heading."""
    expect(page.locator("h1")).to_have_count(1)
    page.evaluate(OPEN_ALL)
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(FAINT) == []
    assert violations(page) == []
    for width in (320, 360, 640, 768, 1280):  # 640 is 1280 at 200 %
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERFLOW) == 0, width
    expect(page.locator("main")).to_have_count(1)
    expect(page.get_by_role("navigation")).to_have_count(1)


@pytest.mark.parametrize("dark", [False, True])
def test_every_view_has_names_contrast_and_no_sideways_scrolling(
    looking: Looking, offline: Serving, service: Serving, two: tuple[str, str], dark: bool
) -> None:
    page = looking.at(offline.url, dark=dark)
    page.get_by_role("button", name="Load an example").click()
    looked_at(page)
    page.get_by_role("button", name="Check", exact=True).click()
    finished(page)
    looked_at(page)
    page.goto(f"{offline.url}/#/compare/{two[0]}/{two[1]}")
    expect(page.locator("h1")).to_have_text("2 verdicts changed")
    looked_at(page)
    views = (
        ("#/history", "Choose two finished checks"),
        ("#/history?text=no+such+words", "Nothing matches."),
        ("#/results", "There are no results."),
        ("#/nowhere", "The service knows no such thing"),
    )
    for address, words in views:
        page.goto(f"{offline.url}/{address}")
        expect(page.get_by_role("main")).to_contain_text(words)
        looked_at(page)
    page.goto(f"{offline.url}/#/")
    page.get_by_label("Response to check").fill("")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator(".is-beside")).to_be_visible()
    looked_at(page)
    page = looking.at(f"{service.url}/#/results", dark=dark)
    expect(page.locator(".job")).to_have_count(1)
    looked_at(page)
    page.goto(f"{service.url}/#/trust")
    expect(page.get_by_role("button", name="Score", exact=True)).to_be_visible()
    looked_at(page)


def test_the_theme_is_chosen_and_kept(looking: Looking, offline: Serving) -> None:
    page = looking.at(offline.url, dark=True)
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Theme").click()
    expect(page.get_by_role("button", name="Theme")).to_have_text("Theme: light")
    assert page.evaluate(background) != dark
    reload_with_theme(page, "light")
    expect(page.get_by_role("button", name="Theme")).to_have_text("Theme: light")
