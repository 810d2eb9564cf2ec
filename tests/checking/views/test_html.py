from __future__ import annotations

import pytest
from markupsafe import escape

from factloop.checking.views.html import render_html
from factloop.core.records import FactualityReport
from tests.reports.html_page import AA_CONTRAST, Page, colours, contrast, words
from tests.reports.page_samples import PAGES
from tests.reports.sample import (
    large_report,
    make_report,
    sample_report,
)
from tests.work import LINEAR, growth


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(render_html(sample_report()))


def test_the_response_is_laid_out_with_the_signs_of_its_sentences(page: Page) -> None:
    prose = page.text_in("prose", without=("mark", "unseen"))
    assert prose.startswith("Ada LovelaceAda Lovelace was born in London on 10 December 1815")
    assert "**" not in prose
    assert len(page.of("strong")) == 1
    signs = [link for link in page.of("a") if link.get("class") == "signs"]
    assert len(signs) == 12
    assert signs[0]["href"] == "#claim-1"
    sentences = [piece for piece in page.of("span") if "sentence" in piece.get("class", "")]
    assert sentences[0]["data-claims"].split() == ["1", "2", "3"]
    assert any("is-contradicted" in piece["class"] for piece in sentences)


def test_every_claim_opens_to_what_the_report_holds(page: Page) -> None:
    body = " ".join(page.text_in("claims").split())
    for claim in sample_report().claims:
        for text in (claim.self_contained, claim.text, claim.sentence, claim.judgement.rationale, *claim.queries):
            assert text in body
        for item in claim.evidence:
            assert item.passage in body
            assert item.source in body
    assert "Says the same as claim 3" in body
    assert "Unscored: the budget was used up" in body
    assert "who taught her, and from what age" in body
    assert "0.97 of 1" in body
    assert body.count("cited") >= 9


def outer_links(report: FactualityReport) -> list[dict[str, str]]:
    return [link for link in Page(render_html(report)).of("a") if not link["href"].startswith("#")]


def test_web_addresses_become_links_that_tell_the_target_nothing() -> None:
    links = outer_links(sample_report())
    assert {link["rel"] for link in links} == {"noopener noreferrer"}
    addresses = {item.source for claim in sample_report().claims for item in claim.evidence}
    assert {link["href"] for link in links} == addresses - {"sources/analytical-engine.md"}


def test_the_head_says_what_the_figures_rest_on(page: Page) -> None:
    head = " ".join(" ".join(data for names, data in page.texts if "overview" in names).split())
    assert "9 of 12 scored claims supported, 9 unscored" in head
    for figure in ("Precision 0.75", "F1@8 0.86", "F1@64 0.24", "Cost $0.00305", "Tokens ~15,188", "Time 4.8 s"):
        assert figure in head
    bar = next(svg for svg in page.of("svg"))
    assert bar["aria-label"] == "9 supported, 1 contradicted, 2 no evidence found, 1 irrelevant, 9 unscored"
    assert [int(rect["width"]) for rect in page.of("rect")] == [9, 1, 2, 1, 9]


def test_the_words_that_fail_stand_marked_with_what_the_source_says() -> None:
    page = Page(PAGES["fact-check of Markdown"])
    assert page.text_in("fault", without=("unseen",)) == "19 €"
    assert [mark["title"] for mark in page.of("mark") if "fault" in mark["class"]] == ["19 € · the source says 29 €"]
    assert "Contradicted · 19 € · the source says 29 € · 1 source cited" in words(page.text_in("outcome"))


def test_a_passage_that_many_claims_show_stands_once() -> None:
    """Else a page grows with the claims times what each of them reads."""
    few, many = (render_html(large_report(number)) for number in (10, 110))
    page = Page(many)
    passages = {item.passage for claim in large_report(110).claims for item in claim.evidence}
    assert len(passages) > 1
    assert {many.count(str(escape(passage[-50:]))) for passage in passages} == {1}
    assert (len(many) - len(few)) / 100 < 2_500, "bytes a claim of two passages"
    addresses = {link["href"].removeprefix("#") for link in page.of("a") if link["href"].startswith("#passage-")}
    assert addresses == {quote["id"] for quote in page.of("blockquote") if "id" in quote}


def test_a_claim_free_response_says_so() -> None:
    page = Page(render_html(make_report("I don't know.", ())))
    assert "The response makes no claim that can be checked." in page.text_in("claims")
    assert page.text_in("prose").strip() == "I don't know."
    assert not page.of("svg")


def test_work_is_linear_in_the_claims() -> None:
    assert growth(lambda n: render_html(large_report(n)), 25) < LINEAR


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(theme: int) -> None:
    named = colours("base.css", theme)
    statuses = ("supported", "contradicted", "no_evidence", "irrelevant", "unscored")
    grounds = ("paper", "surface", "sunken")
    tested = [(text, ground) for text in ("ink", "muted", "accent", *statuses) for ground in grounds]
    tested += [("ink", "deciding"), ("ink", "no_evidence-tint")]
    tested += [(text, f"{status}-tint") for status in statuses for text in ("ink", status)]
    for text, ground in tested:
        assert contrast(named[text], named[ground]) >= AA_CONTRAST, (text, ground)
