from __future__ import annotations

import re
from typing import Any

import lxml.html
import pytest

from factloop.evaluation.mixedqa.scores import MixedQaResult
from factloop.evaluation.mixedqa.views.html import render_mixedqa_html
from tests.evaluation.mixedqa.mixedqa_sample import (
    SYSTEMS,
    fingerprint,
    many_responses,
    respond,
    result_of,
    sample_result,
)
from tests.reports.page_samples import PAGES
from tests.work import LINEAR, growth


def parsed(html: str) -> Any:
    return lxml.html.document_fromstring(html)


def rows_of(html: str) -> list[list[str]]:
    """The cells of each table row as text."""
    tree = parsed(html)
    return [[" ".join(cell.text_content().split()) for cell in row.xpath("./th | ./td")] for row in tree.xpath("//tr")]


def small_result() -> MixedQaResult:
    """Three times labels 1 0 0 0 with TrustBC 1 1 0 0 (r .577), TrustFC 1 for all, and a response without scores."""
    rows = 3 * [(1, 1.0), (1, 1.0), (0, 1.0), (0, 1.0), (None, None)]
    given = enumerate(rows)
    return result_of([respond(n, "llama-7b", int(n % 5 == 0), trust_bc=bc, trust_fc=fc) for n, (bc, fc) in given])


def test_every_number_stands_in_the_table() -> None:
    rows = rows_of(render_mixedqa_html(small_result()))
    place = rows.index(["llama-7b: 15 responses, 20% judged correct"])
    belief, documents, overall = rows[place + 1 : place + 4]
    assert belief[:2] + belief[4:] == ["TrustBC", "0.577", "0.133", "12", "3", "0.500"]
    assert re.fullmatch(r"\[-?0\.\d{3}, [01]\.\d{3}\]", belief[3])
    assert documents == ["TrustFC", "undefined: constant", "", "–", "0.533", "12", "3", "1.000"]
    assert overall == ["TrustOV", "undefined: too few", "", "–", "0.539", "0", "15", "–"]
    assert ["All systems: 15 responses, 20% judged correct"] in rows


def test_the_plot_shows_what_the_table_says() -> None:
    """The axis goes from the low end of the only interval to 1, in steps of 0.25, and places are in per cent of it."""
    result = small_result()
    one = result.of("llama-7b")[0].correlation
    assert one.value is not None
    assert one.low is not None
    tree = parsed(render_mixedqa_html(result))
    (figure, constant, absent, *_) = tree.xpath("//svg[@role='img']")
    low = -0.25 * -(one.low // 0.25) if one.low < 0 else 0.0
    for place, value in (
        (".//circle/@cx", one.value),
        (".//line[@class='whisker']/@x1", one.low),
        (".//svg[@class='paper']/@x", 0.133),
    ):
        (found,) = figure.xpath(place)
        assert float(found.removesuffix("%")) == pytest.approx(100 * (value - low) / (1 - low), abs=0.006)
    assert figure.get("aria-label").startswith("0.577, interval [")
    assert figure.get("aria-label").endswith("], paper 0.133")
    for undefined in (constant, absent):
        assert not undefined.xpath(".//circle")
        assert not undefined.xpath(".//line[@class='whisker']")
        assert len(undefined.xpath(".//path")) == 1


def test_the_papers_table_is_there_whole_and_in_its_order() -> None:
    rows = rows_of(render_mixedqa_html(sample_result()))
    start = rows.index(["Metric", *SYSTEMS])
    assert len(rows[start + 1 :]) == 15 + 3
    assert rows[start + 2] == ["Exact Match", "0.635", "undefined", "undefined"]
    assert [row for row in rows[start + 1 :] if len(row) == 1] == [
        ["Reference-based"],
        ["Reference-free, without evidence"],
        ["Reference-free, with evidence"],
    ]
    assert rows[-1] == ["TrustOV", "0.613", "0.539", "0.484"]


def test_the_page_says_who_was_asked() -> None:
    text = parsed(render_mixedqa_html(sample_result())).text_content()
    assert "openai:gpt-4o-mini was asked about the responses of every system" in text
    assert "95% intervals by 200 resamples of whole questions" in text
    assert "3 calls failed and were retried." in text
    nobody = render_mixedqa_html(result_of(many_responses(3), fingerprint=fingerprint(subject_model=None, judge=None)))
    assert "No subject model was asked." in nobody


def test_hostile_names_stay_text() -> None:
    tree = parsed(PAGES["hostile MixedQA"])
    assert len(tree.xpath("//script")) == 1
    assert not tree.xpath("//@onmouseover | //img | //a[not(starts-with(@href, '#'))]")
    assert tree.text_content().count("<script>alert(1)</script>") >= 7


def test_an_empty_run_has_a_page() -> None:
    assert "All systems: 0 responses" in render_mixedqa_html(result_of([]))


@pytest.mark.large
def test_a_hundred_systems_have_their_pictures_by_linear_work() -> None:
    results = {
        n: result_of(many_responses(4, systems=[f"system {k}" for k in range(n)]), resamples=10) for n in (12, 25, 100)
    }
    assert growth(lambda n: render_mixedqa_html(results[n]), 25) < LINEAR
    assert render_mixedqa_html(results[100]).count('role="img"') == 101 * 3
