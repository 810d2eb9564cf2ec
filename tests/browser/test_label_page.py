from __future__ import annotations

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # no types
from playwright.sync_api import Page, expect

from factloop.checking.views.shown import render_html
from factloop.core.records import FactualityReport
from factloop.evaluation.labels.adjudication import adjudicate, read_answers
from factloop.evaluation.labels.disagreements import draw_disagreements
from factloop.evaluation.labels.views import render_disagreements_html
from factloop.reports.labels import Answer, AnswerFile, LabelFile, PersonLabel, read_saved
from tests.browser.visits import OPEN_ALL, Visits, reload_with_store, save_by
from tests.evaluation.runs.finished_runs import judged
from tests.reports.page_samples import PAGES
from tests.reports.sample import sample_report

SAMPLE = PAGES["fact-check"]
N_CLAIMS = 22


@pytest.fixture
def visits(visits: Visits) -> Visits:
    """A saved file is a `blob:` address, which counts as the page's own."""
    visits.requests = _WithoutBlobs()
    return visits


class _WithoutBlobs(list[str]):
    def append(self, url: str) -> None:
        if not url.startswith("blob:"):
            super().append(url)


def labelling(visits: Visits, html: str = SAMPLE) -> Page:
    page = visits.open(html)
    page.keyboard.press("l")
    expect(page.get_by_role("region", name="Label the claims")).to_be_visible()
    return page


def labelled(page: Page, n: int, of: int = N_CLAIMS) -> None:
    expect(page.get_by_text(f"{n} of {of} labelled", exact=True)).to_be_visible()


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def saved(page: Page, place: Path) -> LabelFile:
    download = save_by(page.get_by_role("button", name="Save labels"), place)
    assert download.suggested_filename.startswith("labels-")
    return read_saved(place, LabelFile)


# Plain JavaScript: where the links of sentences lead, and the first claims of these.
LEADS = "() => [...document.querySelectorAll('.prose .signs')].map((one) => one.getAttribute('href'))"
FIRSTS = """() => [...document.querySelectorAll('.prose .signs')].map(
  (one) => `#claim-${one.parentElement.dataset.claims.split(' ')[0]}`
)"""

SPOIL_SEEN = "for (const key in localStorage) if (key.endsWith('-seen')) localStorage[key] = '{'"


def second_is_worse() -> FactualityReport:
    report = sample_report()
    claims = list(report.claims)
    claims[1] = claims[1].model_copy(update={"judgement": claims[-1].judgement})
    return report.model_copy(update={"claims": tuple(claims)})


def press_outside(page: Page, key: str) -> None:
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(key)


def current(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.closest('details').id")
    return found


def test_a_report_is_calm_until_labelling_is_switched_on(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    expect(page.locator(".label-dock")).to_be_hidden()
    toggle = page.get_by_role("button", name="Label claims")
    expect(toggle).to_have_attribute("aria-pressed", "false")
    toggle.click()
    expect(page.locator(".label-dock")).to_be_visible()
    labelled(page, 0)
    numbers = page.locator(".claim:visible .number").all_text_contents()
    assert numbers == [f"Claim {n}" for n in range(1, N_CLAIMS + 1)], "all, in the order of the response"
    page.get_by_role("button", name="Stop labelling").click()
    expect(page.locator(".label-dock")).to_be_hidden()
    page.get_by_role("button", name="Need review 12").click()
    first = page.locator(".claim:visible .number").first
    expect(first, "problems first, as before").to_have_text("Claim 8")


def test_claims_are_labelled_by_keys_with_comments_and_undone(visits: Visits, tmp_path: Path) -> None:
    page = labelling(visits)
    assert current(page) == "claim-1"
    press(page, "ba")
    assert current(page) == "claim-2"
    press(page, "2")
    press(page, "c")
    page.keyboard.type("Only 1815, n and p are 3 letters")
    page.keyboard.press("Enter")
    assert current(page) == "claim-3"
    press(page, "3")
    press(page, "4")
    labelled(page, 4)
    expect(page.locator("#claim-2 .given")).to_have_text("Labelled not supported, unlike the verdict")
    press(page, "u")
    assert current(page) == "claim-4"
    expect(page.locator("#claim-4 .given")).to_have_count(0)
    press(page, "pp")
    assert current(page) == "claim-2"
    press(page, "1n")
    expect(page.locator("#claim-2 .given")).to_have_text("Labelled supported")
    press(page, "u")
    expect(page.locator("#claim-2 .given")).to_have_text("Labelled not supported, unlike the verdict")
    file = saved(page, tmp_path / "labels.json")
    ids = [claim.id for claim in sample_report().claims]
    assert {one.claim_id: one.label for one in file.labels} == dict(zip(ids, [*PersonLabel][:3], strict=False))
    assert {one.comment for one in file.labels} == {"", "Only 1815, n and p are 3 letters"}
    assert not any(one.blind for one in file.labels)
    assert len(file.claims) == N_CLAIMS
    expect(page.locator(".label-outcome")).to_be_hidden()
    press(page, "nn" + "1" * (N_CLAIMS - 3))
    expect(page.locator(".label-outcome")).to_have_text(
        "20 of your 21 labels say supported (1 “irrelevant” or “cannot tell” not counted): that is this answer’s "
        "precision. It needs no interval and no correction, because you read every claim. Your labels agree with 7 of "
        "the judge’s 8 “supported” verdicts. Of the claims that you labelled not supported (1), the judge flagged 0, "
        "called 1 supported and left 0 unscored."
    )


def test_a_blind_label_is_given_before_the_verdict_is_shown(visits: Visits, tmp_path: Path) -> None:
    page = labelling(visits)
    for hint in ("verdict", "rationale", "figures", "bar", "legend", "decided-by", "chips", "tag", "mark", "warnings"):
        expect(page.locator(f".{hint}:visible")).to_have_count(0)
    assert page.locator(".prose [title]").count() == 0
    expect(page.get_by_role("link", name="Supported, claim")).to_have_count(0)
    expect(page.get_by_role("link", name="To claim 1", exact=False).first).to_have_count(1)
    press(page, "a")
    labelled(page, 0)
    press(page, "2")
    expect(page.locator("#claim-1 .verdict")).to_be_visible()
    expect(page.locator("#claim-2 .verdict")).to_be_hidden()
    press(page, "p1")  # changed after the verdict was seen
    press(page, "2")
    blind = {one.claim_id: one.blind for one in saved(page, tmp_path / "labels.json").labels}
    assert list(blind.values()) == [False, True]
    press(page, "uuu")  # all undone, and given anew after the page was opened again: the verdicts were seen
    reload_with_store(page)
    press(page, "l1")
    assert [one.blind for one in saved(page, tmp_path / "again.json").labels] == [False]
    press(page, "b")
    assert page.locator(".prose [title]").count() > 0
    press(page, "b2")
    assert [one.blind for one in saved(page, tmp_path / "later.json").labels] == [False, False], "all were shown"


def test_the_page_of_claims_to_label_shows_no_verdict_without_script_or_after_labelling(visits: Visits) -> None:
    page = visits.open(PAGES["claims to label"])
    expect(page.get_by_role("region", name="Label the claims")).to_be_visible()
    page.get_by_role("button", name="Stop labelling").click()
    expect(page.locator(".label-dock")).to_be_hidden()
    expect(page.locator(".of-judge:visible")).to_have_count(0)
    assert '<html lang="en" class="is-blind">' in PAGES["claims to label"]


def test_no_filter_search_or_link_tells_a_verdict_that_is_hidden(visits: Visits) -> None:
    page = labelling(visits, render_html(second_is_worse()))
    press(page, "b")
    to_worst = page.evaluate(LEADS)
    assert to_worst != page.evaluate(FIRSTS)
    page.get_by_role("button", name="Contradicted").click()
    page.get_by_label("Search claims and evidence").fill("evidence")
    expect(page.locator(".claim:visible")).not_to_have_count(N_CLAIMS)
    press_outside(page, "b")
    expect(page.locator(".claim:visible")).to_have_count(N_CLAIMS)
    expect(page.get_by_label("Search claims and evidence")).to_be_hidden()
    assert page.evaluate(LEADS) == page.evaluate(FIRSTS)
    page.keyboard.press("b")
    expect(page.get_by_label("Search claims and evidence")).to_be_visible()
    assert page.evaluate(LEADS) == to_worst


def test_a_saved_file_is_loaded_elsewhere_and_a_wrong_one_refused(visits: Visits, tmp_path: Path) -> None:
    page = labelling(visits)
    press(page, "12")
    place = tmp_path / "labels.json"
    file = json.loads(saved(page, place).model_dump_json())
    page.context.close()
    page = labelling(visits)
    chooser = page.get_by_label("File of labels")
    wrong = {
        "not JSON": ("{", "This is not a file of labels"),
        "a list": ("[1]", "This is not a file of labels"),
        "another report": ({**file, "claims_hash": "0"}, "These labels belong to another report."),
        "no such claim": ({**file, "labels": [{**file["labels"][0], "claim_id": "x"}]}, "not on this page: x"),
        "twice": ({**file, "labels": [file["labels"][0]] * 2}, "two labels for claim 1"),
        "no label": ({**file, "labels": [{**file["labels"][0], "label": "yes"}]}, "cannot be read"),
        "nothing in it": ({**file, "labels": [None]}, "This is not a file of labels"),
    }
    for content, message in wrong.values():
        (tmp_path / "wrong.json").write_text(content if isinstance(content, str) else json.dumps(content))
        chooser.set_input_files(tmp_path / "wrong.json")
        expect(page.get_by_role("alert")).to_contain_text(message)
        labelled(page, 0)
    chooser.set_input_files(place)
    labelled(page, 2)
    expect(page.get_by_role("alert")).to_have_count(0)


DISPUTED = [judged(f"p{n}", "snsni?", labels="SNNSSS") for n in range(2)]
"""Six disagreements: of each response c2 and c3, and c4, which the judge calls irrelevant."""


def test_disagreements_are_settled_by_keys_and_read_by_adjudicate(visits: Visits, tmp_path: Path) -> None:
    found = draw_disagreements(DISPUTED, 6, seed=0, data="facts.jsonl", cost_usd=None)
    page = visits.open(render_disagreements_html(found.drawn, data="facts.jsonl"))
    expect(page.get_by_role("region", name="Say which side is right")).to_be_visible()
    expect(page.get_by_role("button", name="Agree")).to_have_count(0)
    expect(page.get_by_label("Hide verdicts")).to_have_count(0)
    statement = page.locator("#claim-1 .statement").bounding_box()
    assert statement is not None
    assert statement["height"] < 60, "on a line or two, in a column of its own"
    press(page, "ab4")
    expect(page.get_by_text("0 of 6 answered", exact=True)).to_be_visible()
    press(page, "123c")
    page.keyboard.type("Both wrong")
    page.keyboard.press("Enter")
    press(page, "1")
    expect(page.get_by_text("4 of 6 answered", exact=True)).to_be_visible()
    expect(page.locator("#claim-2 .given")).to_have_text("Answered: second is right")
    press(page, "pu1")
    place = tmp_path / "answers.json"
    download = save_by(page.get_by_role("button", name="Save answers"), place)
    assert download.suggested_filename.startswith("answers-")
    file = read_saved(place, AnswerFile)
    assert [one.answer for one in file.answers] == [Answer.FIRST, Answer.SECOND, Answer.NEITHER, Answer.FIRST]
    assert [one.comment for one in file.answers] == ["", "", "", "Both wrong"]
    given = read_answers(place, found.key)
    assert given == {"1": "first", "2": "second", "3": "neither", "4": "first", "5": None, "6": None}
    page.evaluate(SPOIL_SEEN)
    reload_with_store(page)
    expect(page.get_by_text("4 of 6 answered", exact=True)).to_be_visible()
    page.get_by_label("File of answers").set_input_files(place)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert adjudicate(given, found.key).n_answered == 4


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["fact-check", "hostile fact-check", "claims to label"])
def test_axe_finds_nothing_wrong_while_labelling(visits: Visits, name: str, dark: bool) -> None:
    page = visits.open(PAGES[name], dark=dark)
    if "to label" not in name:
        page.keyboard.press("l")
    press(page, "1")
    page.evaluate(OPEN_ALL)
    found = Axe().run(page)
    assert [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found.response["violations"]
    ] == []
