"""Whatever a response, a prompt or a document says is shown, and nothing of it happens."""

from __future__ import annotations

from collections import defaultdict

import pytest
from playwright.sync_api import Page, expect

from tests.browser.service.conftest import Looking
from tests.browser.service.serving import Serving
from tests.browser.service.test_checking import finished

MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script>'
TEMPLATE = "{{7*7}} ${7*7} <%= 7*7 %>"
REORDERED = "pay\u202eelif.exe\u202c now"
RESPONSE = (
    f"Granite {MARKUP} is a rock. Marble {TEMPLATE} is a rock too.\n\n"
    f"The file {REORDERED} is a rock. \U0001f9f1\U0001f9f1 Slate \U0001f9f1 is a rock, as everybody knows."
)
PROMPT = f"Say {MARKUP} {TEMPLATE} {REORDERED}"
DOCUMENTS = [
    {"title": f"</title>{MARKUP}", "text": f"Granite is a rock. {MARKUP}", "source": "javascript:alert(1)"},
    {"title": "A page", "text": "Marble is a rock.", "source": "https://example.org/marble"},
    {"title": REORDERED, "text": f"Slate is a rock. {TEMPLATE}", "source": "data:text/html,<script>alert(1)</script>"},
]
ASKED = {"response": RESPONSE, "prompt": PROMPT, "documents": DOCUMENTS}


@pytest.fixture
def hostile(looking: Looking, offline: Serving) -> Page:
    job = offline.post("/v1/checks", ASKED)
    page = looking.at(f"{offline.url}/#/checks/{job['id']}")
    finished(page)
    page.get_by_role("button", name="Open all").click()
    expect(page.locator(".claim .body:empty")).to_have_count(0)  # each is filled when it has been opened
    return page


def test_markup_and_templates_are_words(hostile: Page) -> None:
    expect(hostile.locator("h1")).to_contain_text(f"Say {MARKUP} {TEMPLATE}")
    shown = hostile.locator("main").text_content() or ""
    assert '<img src=x onerror="document.title=1"><script>alert(1)</script>' in shown
    assert "{{7*7}}" in shown
    assert "\u202e" not in hostile.content()
    assert "pay\ufffdelif.exe\ufffd now" in shown
    assert hostile.locator("main img, main script, main iframe").count() == 0
    assert hostile.title() == "Check · factloop"


def test_sentences_are_marked_where_they_stand_beyond_the_first_planes(hostile: Page, offline: Serving) -> None:
    """Sentences are counted in characters there, in halves of some here; nothing may shift."""
    report = offline.get(f"/v1/jobs/{hostile.url.rpartition('/')[2]}/result")
    sentences = {claim["sentence"].replace("*", "") for claim in report["claims"]}  # Markdown takes these for marks
    shown = {one.replace("\u202e", "\ufffd").replace("\u202c", "\ufffd") for one in sentences}
    hostile.evaluate("() => document.querySelectorAll('.prose .unseen, .prose .mark').forEach((e) => e.remove())")
    marked: defaultdict[str, str] = defaultdict(str)
    for piece in hostile.locator(".sentence").all():
        marked[piece.get_attribute("title") or ""] += (piece.text_content() or "").replace("*", "")
    assert set(marked.values()) == shown


def test_only_addresses_of_the_web_become_links(hostile: Page) -> None:
    links = {link.get_attribute("href") for link in hostile.locator(".evidence a").all()}
    assert links == {"https://example.org/marble"}
    for link in hostile.locator(".evidence a").all():
        assert link.get_attribute("rel") == "noopener noreferrer"


def test_history_and_comparison_show_titles_as_words(hostile: Page, offline: Serving) -> None:
    offline.post("/v1/checks?wait=true", ASKED)
    hostile.goto(f"{offline.url}/#/history")
    boxes = hostile.get_by_role("checkbox")
    expect(boxes.nth(1)).to_be_visible()
    boxes.nth(0).check()
    boxes.nth(1).check()
    hostile.get_by_role("link", name="Compare the two").click()
    expect(hostile.locator("h1")).to_have_text("No verdict changed")
    assert hostile.locator("main img, main script").count() == 0


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
    assert page.evaluate("getComputedStyle(document.querySelector('#painted')).color") != "rgb(255, 0, 0)"
    assert all("Content Security Policy" in text for text in looking.complaints)
    looking.complaints.clear()


@pytest.mark.parametrize(
    "address", ["#/checks/..%2F..%2Fetc", "#/checks/%E0%A4%A", "#/nowhere", "#/compare/a/b", "#/__proto__"]
)
def test_addresses_that_lead_nowhere_say_so(looking: Looking, offline: Serving, address: str) -> None:
    page = looking.at(f"{offline.url}/{address}")
    expect(page.locator("h1")).to_have_text("Not here")
    page.get_by_role("link", name="New check").last.click()
    expect(page.get_by_role("button", name="Check", exact=True)).to_be_visible()
