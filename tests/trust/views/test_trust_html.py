from __future__ import annotations

import re

import pytest

from factloop.agents.trustscore.records import ClaimStanding, TrustReport
from factloop.trust.views.figures import MarkedSentence, sentences, worst
from factloop.trust.views.html import answer_matrix, render_trust_html
from tests.reports.html_page import AA_CONTRAST, Page, colours, contrast, text_of, words
from tests.reports.page_samples import PAGES
from tests.reports.sample import RESPONSE
from tests.trust.views.trust_sample import (
    broken_bc,
    firm,
    half_asked,
    large_run,
    long_form,
    mixed_run,
    rulers,
    unscored_reports,
)
from tests.work import LINEAR, growth


def test_every_check_shows_its_options_in_order_with_both_marks() -> None:
    html = PAGES["answer"]
    blocks = html.split('<li class="check ')[1:]
    assert len(blocks) == len(broken_bc().checks)
    for block, check in zip(blocks, broken_bc().checks, strict=True):
        shown = re.findall(r'<li class="option([^"]*)"><b class="letter">(.)</b>', block)
        assert [letter for _, letter in shown] == ["A", "B", "C", "D", "E"]
        assert [letter for marks, letter in shown if "is-chosen" in marks] == [check.chosen]
        assert [letter for marks, letter in shown if "is-own" in marks] == [check.response_letter]
    assert "chose A instead of the answer, D" in text_of(html)
    assert "not counted" in text_of(html)


def test_every_distractor_says_how_it_was_made() -> None:
    table = Page(PAGES["consistent answer"]).text_in("made")
    for one in rulers():
        assert one.by in table
        assert one.detail in table
    assert 'title="Solomon → David, entity, DBpedia: shares Person, Royalty, Monarch"' in PAGES["consistent answer"]


def test_why_there_is_no_value_is_said_and_a_value_is_not_explained_twice() -> None:
    unscored = half_asked().trust_bc.model_copy(update={"rationale": "No choice in check 2."})
    scored = firm().trust_bc.model_copy(update={"rationale": "It chose well."})
    assert "No choice in check 2." in render_trust_html(half_asked().model_copy(update={"trust_bc": unscored}))
    assert "It chose well." not in render_trust_html(firm().model_copy(update={"trust_bc": scored}))


@pytest.mark.parametrize("report", [half_asked(), *unscored_reports()])
def test_what_is_missing_is_a_dash_with_its_reason(report: TrustReport) -> None:
    shown = text_of(render_trust_html(report))
    assert f"TrustOV – {report.trust_ov.missing}" in shown
    assert "TrustBC – unscored: " in shown
    assert "TrustFC – unscored: " in shown


def test_the_table_counts_every_answer_once() -> None:
    matrix = answer_matrix(mixed_run().reports)
    cells = {cell.key: cell.count for _, row in matrix.rows for cell in row}
    assert sum(cells.values()) == 5
    assert {key: count for key, count in cells.items() if count} == {
        "consistent-support": 1,
        "consistent-contradict": 1,
        "inconsistent-neutral": 1,
        "unscored-unscored": 2,
    }
    assert "unscored" not in {cell.words for cell in answer_matrix((firm(),)).columns}


def test_every_filter_shows_as_many_items_as_it_says() -> None:
    for name in ("run", "long form"):
        page = Page(PAGES[name])
        keys = [item["data-filters"].split() for item in page.of("li") if "data-filters" in item]
        chips = [one for one in page.of("button") if one.get("data-filter") and "aria-label" in one]
        assert len(chips) >= 8
        for chip in chips:
            said = int(re.findall(r"(\d+) \w+$", chip["aria-label"])[0])
            assert sum(chip["data-filter"] in one for one in keys) == said, chip


def test_the_response_stands_in_place_with_the_sign_of_each_claim() -> None:
    page = Page(PAGES["long form"])
    assert words(RESPONSE) in words(page.text_in("raw"))
    first = next(piece for piece in page.of("span") if "sentence" in piece.get("class", ""))
    assert first["class"] == "sentence is-supported_wavering"
    assert first["data-claims"].split() == ["1", "2", "3"]
    assert first["title"].startswith("Claim 1: supported, and insisted upon; claim 2: supported, but wavering")
    assert page.text_in("prose").count("✗=") == 2


def test_a_sentence_is_as_bad_as_its_worst_claim_but_for_irrelevant_ones() -> None:
    assert worst([ClaimStanding.SUPPORTED_INSISTED, ClaimStanding.UNPLACED]) is ClaimStanding.UNPLACED
    assert (
        worst([ClaimStanding.UNSUPPORTED_WAVERING, ClaimStanding.UNSUPPORTED_INSISTED])
        is ClaimStanding.UNSUPPORTED_INSISTED
    )
    claims = long_form().claims
    insisted, irrelevant, unscored = (1, claims[0]), (9, claims[8]), (14, claims[13])
    assert MarkedSentence("", (insisted, irrelevant)).standing is ClaimStanding.SUPPORTED_INSISTED
    assert MarkedSentence("", (insisted, unscored)).standing is ClaimStanding.UNPLACED
    found = {part.text[:6]: part.standing for part in sentences(long_form()) if part.claims}
    assert found["London"] is ClaimStanding.UNPLACED
    assert found["The An"] is ClaimStanding.UNSUPPORTED_WAVERING


def test_work_is_linear_in_the_answers() -> None:
    assert growth(lambda n: render_trust_html(large_run(n)), 25) < LINEAR


def test_long_runs_list_every_answer_and_say_where_details_end() -> None:
    html = render_trust_html(large_run(30), longest_details=100_000)
    assert f"<title>TrustScores of 30 answers: {large_run(1).reports[0].question}" in html
    assert html.count('<li class="claim"') == 30
    assert 0 < html.count('<ol class="checks">') < 30
    assert html.count('<ol class="checks">') + html.count("were omitted to keep the page small") == 30


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_belief_has_the_contrast_of_wcag_aa(theme: int) -> None:
    named = colours("base.css", theme) | colours("trust.css", theme, "factloop.trust.views")
    for tone in ("insists", "wavers"):
        for text, ground in ((tone, "paper"), (tone, "surface"), (tone, f"{tone}-tint"), ("ink", f"{tone}-tint")):
            assert contrast(named[text], named[ground]) >= AA_CONTRAST, (text, ground)
        assert contrast(named["muted"], named[f"{tone}-tint"]) >= AA_CONTRAST
