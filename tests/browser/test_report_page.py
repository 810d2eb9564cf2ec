"""The page of a fact-check in a real browser."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from factloop.checking.views.html import render_html
from tests.browser.visits import TWO_FRAMES, Visits, shown
from tests.reports.page_samples import PAGES
from tests.reports.sample import large_report

SAMPLE = PAGES["fact-check"]
PROBLEMS = (8, 4, 10, *range(14, 22))
"""The claims of the sample that are contradicted, without evidence or unscored, as the list has them."""


def opened_whole(visits: Visits, fragment: str = "") -> Page:
    """The page of the sample with all of its claims."""
    page = visits.open(SAMPLE, fragment=fragment)
    page.get_by_role("button", name="All 21").click()
    return page


def top_of(found: Locator) -> float:
    box = found.bounding_box()
    assert box is not None
    return box["y"]


def bottom_of(found: Locator) -> float:
    box = found.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_problems_come_first_and_alone(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    chosen = page.get_by_role("button", name="Problems 11")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    verdicts = page.locator(".claim:visible .verdict")
    wanted = ["Contradicted", *["No evidence found"] * 2, *["Unscored"] * 8]
    expect(verdicts).to_have_count(len(wanted))
    assert [verdict.strip().partition(":")[0] for verdict in verdicts.all_text_contents()] == wanted
    page.get_by_role("button", name="All 21").click()
    expect(verdicts).to_have_count(21)
    # A claim below the window is not laid out (content-visibility), so its inner text may be empty.
    assert [verdict.strip() for verdict in verdicts.all_text_contents()[11:14]] == ["Supported"] * 3


def test_verdicts_filter_the_claims(visits: Visits) -> None:
    page = opened_whole(visits)
    expect(shown(page)).to_have_count(21)
    page.get_by_role("button", name="Contradicted 1").click()
    expect(shown(page)).to_have_count(1)
    page.get_by_role("button", name="No evidence found 2").click()
    expect(shown(page)).to_have_count(3)
    expect(page.get_by_role("status")).to_have_text("3 of 21 claims")
    page.get_by_role("button", name="All 21").click()
    expect(shown(page)).to_have_count(21)
    page.get_by_text("Unscored, by reason").click()
    page.get_by_role("button", name="The budget was used up 1").click()
    expect(shown(page)).to_have_count(1)
    expect(page.locator(".claim:visible .outcome")).to_contain_text("Unscored: the budget was used up")


def test_the_first_filter_of_a_reader_shows_its_claims_alone(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    problems = page.get_by_role("button", name="Problems 11")
    expect(problems).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Contradicted 1").click()
    expect(shown(page)).to_have_count(1)
    expect(problems).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="No evidence found 2").click()
    expect(shown(page)).to_have_count(3)
    problems.click()
    expect(shown(page)).to_have_count(11)
    page.get_by_role("button", name="Unscored 8").click()
    expect(shown(page)).to_have_count(8)


def test_what_a_filter_leaves_is_in_sight(visits: Visits) -> None:
    page = opened_whole(visits)
    page.get_by_role("button", name="Open all").click()
    for found, words in ((page.get_by_text("No claim matches."), "no such words"), (shown(page).first, "Hucknall")):
        page.get_by_role("searchbox").fill("")
        expect(shown(page)).to_have_count(21)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.get_by_role("searchbox").fill(words)
        expect(shown(page)).not_to_have_count(21)
        page.evaluate(TWO_FRAMES)
        assert top_of(found) >= bottom_of(page.locator(".toolbar")) - 1


def test_a_passage_of_several_claims_is_shown_with_each_that_is_opened(visits: Visits) -> None:
    report = large_report(10)
    page = visits.open(render_html(report))
    page.get_by_role("button", name="All 10").click()
    quotes = page.locator(".claim", has_text="Sentence number 7").locator("blockquote")
    elsewhere = "The whole passage stands with claim"
    expect(quotes.first).to_contain_text(elsewhere)
    page.locator("#claim-8 > summary").click()
    expect(quotes.filter(has_text=elsewhere)).to_have_count(0)
    shown_passages = [
        " ".join(text.replace("[deciding sentence: ", "").replace("]", "").split())
        for text in quotes.all_text_contents()
    ]
    assert sorted(shown_passages) == sorted(" ".join(item.passage.split()) for item in report.claims[7].evidence)
    word = report.claims[7].evidence[0].passage.split()[-2]
    page.get_by_role("searchbox").fill("no such words")
    expect(page.get_by_role("status")).to_have_text("0 of 10 claims")
    page.get_by_role("searchbox").fill(word)
    expect(page.get_by_role("status")).to_have_text("10 claims")


def test_words_are_searched_in_claims_and_evidence(visits: Visits) -> None:
    page = opened_whole(visits)
    search = page.get_by_role("searchbox")
    search.fill("HUCKNALL")
    expect(page.get_by_role("status")).to_have_text("7 of 21 claims")
    search.fill("no such words")
    expect(page.get_by_text("No claim matches.")).to_be_visible()
    page.get_by_role("button", name="Show all claims").click()
    expect(shown(page)).to_have_count(21)
    expect(search).to_be_focused()


def test_claims_are_read_by_keyboard(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("#claim-4 > summary")
    expect(second).to_be_focused()
    expect(second).to_have_css("outline-style", "solid")
    page.keyboard.press("Enter")
    expect(page.locator("#claim-4 .body")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#claim-10 > summary")).to_be_focused()
    page.keyboard.press("k")
    expect(second).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("jknp/")
    expect(page.get_by_role("searchbox")).to_have_value("jknp/")


def test_n_and_p_step_from_problem_to_problem(visits: Visits) -> None:
    page = opened_whole(visits)
    for number in (*PROBLEMS, PROBLEMS[-1]):  # at the end they stay
        page.keyboard.press("n")
        expect(page.locator(f"#claim-{number} > summary")).to_be_focused()
        expect(page.locator(".claim details[open]")).to_have_count(1)
    page.keyboard.press("p")
    expect(page.locator(f"#claim-{PROBLEMS[-2]} > summary")).to_be_focused()
    expect(page.get_by_text("Problem 10 of 11")).to_be_visible()
    expect(page.locator(".sentence.is-linked").first).to_contain_text("She also owned a share")


def test_buttons_step_from_problem_to_problem_and_keep_the_focus(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    following = page.get_by_role("button", name="Next problem")
    following.press("Enter")
    expect(page.locator("#claim-8 .body")).to_be_visible()
    expect(page.locator(".sentence.is-linked").first).to_contain_text("The Analytical Engine was completed")
    following.press("Enter")
    expect(page.locator("#claim-4 .body")).to_be_visible()
    expect(page.locator("#claim-8 .body")).to_be_hidden()
    expect(following).to_be_focused()
    page.get_by_role("button", name="Previous problem").click()
    expect(page.locator("#claim-8 .body")).to_be_visible()


def test_a_page_without_problems_has_no_filter_for_them(visits: Visits) -> None:
    page = visits.open(PAGES["fact-check without claims"])
    expect(page.get_by_role("button", name="Problems")).to_have_count(0)


def test_single_keys_can_be_switched_off(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.get_by_label("Single-key shortcuts").uncheck()
    page.get_by_role("searchbox").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    expect(page.locator("#open-all")).to_be_focused()


def test_the_first_tab_stop_skips_to_the_claims(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the claims")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Label claims")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Problems 11")).to_be_focused()


def test_a_sentence_leads_to_its_claims_and_back(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.get_by_role("button", name="Supported 9").click()
    page.get_by_role("link", name="Contradicted, claim 8").press("Enter")
    claim = page.locator("#claim-8")
    expect(claim.locator(".body")).to_be_visible()
    expect(claim.locator("> summary")).to_be_focused()
    page.evaluate(TWO_FRAMES)
    summary, toolbar = claim.locator("> summary").bounding_box(), page.locator(".toolbar").bounding_box()
    assert summary is not None
    assert toolbar is not None
    assert summary["y"] >= toolbar["y"] + toolbar["height"]
    claim.locator("[data-sentence]").click()
    expect(page.locator("#sentence-8")).to_be_focused()


def test_a_click_on_its_words_does_what_the_sign_of_a_sentence_does(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.get_by_text("She met Charles Babbage").first.click()
    expect(page.locator("#claim-5 > summary")).to_be_focused()


def test_a_duplicate_leads_to_the_claim_judged(visits: Visits) -> None:
    page = opened_whole(visits, fragment="#claim-13")
    page.locator("#claim-13").get_by_role("link", name="claim 3").click()
    expect(page.locator("#claim-3 .body")).to_be_visible()


def test_on_paper_every_claim_is_open(visits: Visits) -> None:
    page = visits.open(SAMPLE)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("main details:not([open])").count() == 0
    expect(shown(page)).to_have_count(21)
    expect(page.locator("#claim-8 .rationale")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".claim details[open]").count() == 0
    expect(shown(page)).to_have_count(11)


def test_what_was_found_in_the_place_of_evidence_stands_beside_the_verdict(visits: Visits) -> None:
    """A contradicted claim shows the sentence that decides; of the others a reader has to know what is missing."""
    page = visits.open(SAMPLE)
    unfound = page.locator(".claim", has=page.locator(".mark.is-no_evidence")).first
    expect(unfound.locator("summary .rationale")).to_be_visible()
    expect(unfound.locator(".body")).to_be_hidden()
    assert page.locator(".claim:has(.mark.is-contradicted) summary .rationale").count() == 0


def test_five_thousand_claims_can_be_filtered_and_searched(visits: Visits) -> None:
    page = visits.open(render_html(large_report(5000)))
    page.get_by_role("button", name="Contradicted 1,000").click()
    expect(page.get_by_role("status")).to_have_text("1,000 of 5,000 claims")
    page.get_by_role("searchbox").fill("number 4995 ")
    expect(page.get_by_role("status")).to_have_text("1 of 5,000 claims")


def test_without_a_script_the_page_can_be_read(visits: Visits) -> None:
    page = visits.open(SAMPLE, script=False)
    expect(page.locator(".toolbar")).to_be_hidden()
    page.locator("#claim-8 > summary").click()
    expect(page.locator("#claim-8 .rationale")).to_be_visible()


# Plain JavaScript: the bar beside the response (a browser without a window draws none), what fades at its lower edge,
# and how far its last words stand below that.
PANE = """() => {
  const pane = document.querySelector('.prose');
  const words = [...pane.querySelectorAll('bdi')].at(-1).getBoundingClientRect();
  const fading = getComputedStyle(pane, '::after');
  const end = pane.getBoundingClientRect().bottom;
  const bar = parseFloat(getComputedStyle(pane, '::-webkit-scrollbar').width) || 0;
  return { bar, fading: fading.position, hidden: Math.max(0, words.bottom - end) };
}"""


def test_a_response_that_goes_on_below_shows_it(visits: Visits) -> None:
    """Beside the claims it scrolls; on a telephone it stands above them, whole."""
    page = visits.open(PAGES["fact-check of Markdown"])
    page.set_viewport_size({"width": 1280, "height": 250})
    pane = page.evaluate(PANE)
    assert pane["bar"] > 0
    assert pane["fading"] == "sticky"
    assert pane["hidden"] > 0
    page.evaluate("() => { const pane = document.querySelector('.prose'); pane.scrollTop = pane.scrollHeight; }")
    assert page.evaluate(PANE)["hidden"] == 0
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(PANE) == {"bar": 0, "fading": "static", "hidden": 0}
