from __future__ import annotations

import base64
import hashlib
import re
import time
from html.parser import HTMLParser
from typing import Any

import lxml.html
import pytest

from factloop.evaluation.metrics.mixedqa import MixedQaResult
from factloop.evaluation.reports.mixedqa_html import render_mixedqa_html
from tests.evaluation.mixedqa_sample import SYSTEMS, fingerprint, many_responses, respond, result_of, sample_result
from tests.evaluation.reports.sample import HOSTILE

VOID = {"meta"}


def parsed(html: str) -> Any:
    return lxml.html.document_fromstring(html)


def rows_of(html: str) -> list[list[str]]:
    """The cells of each table row as text."""
    tree = parsed(html)
    return [[" ".join(cell.text_content().split()) for cell in row.xpath("./th | ./td")] for row in tree.xpath("//tr")]


class Nesting(HTMLParser):
    """Fails where an end tag does not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # the parser's signature
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def small_result() -> MixedQaResult:
    """Labels 1 0 0 0 with TrustBC 1 1 0 0 (r .577) and TrustFC 1 for all; a fifth response is unscored."""
    rows = [(1, 1.0), (1, 1.0), (0, 1.0), (0, 1.0), (None, None)]
    return result_of([respond(n, "llama-7b", int(n == 0), trust_bc=bc, trust_fc=fc) for n, (bc, fc) in enumerate(rows)])


def test_every_number_stands_in_the_table() -> None:
    rows = rows_of(render_mixedqa_html(small_result()))
    place = rows.index(["llama-7b: 5 responses, 20% judged correct"])
    belief, documents, overall = rows[place + 1 : place + 4]
    assert belief[:2] + belief[3:7] == ["TrustBC", "0.577", "4", "1", "0.500", "0.133"]
    assert re.fullmatch(r"\[-?0\.\d{3}, [01]\.\d{3}\]", belief[2])
    assert documents[:7] == ["TrustFC", "undefined (constant)", "–", "4", "1", "1.000", "0.533"]
    assert overall[:7] == ["TrustOV", "undefined (too few)", "–", "0", "5", "–", "0.539"]
    assert ["All systems: 5 responses, 20% judged correct"] in rows


def test_the_plot_shows_what_the_table_says() -> None:
    """The axis goes from the low end of the only interval to 1, in steps of 0.25 over 260 units."""
    result = small_result()
    one = result.of("llama-7b")[0].correlation
    assert one.value is not None
    assert one.low is not None
    tree = parsed(render_mixedqa_html(result))
    (figure, constant, absent, *_) = tree.xpath("//svg[@role='img']")
    low = -0.25 * -(one.low // 0.25) if one.low < 0 else 0.0
    scale = 260 / (1 - low)
    assert float(figure.xpath(".//circle/@cx")[0]) == pytest.approx((one.value - low) * scale, abs=0.06)
    assert float(figure.xpath(".//line[@class='whisker']/@x1")[0]) == pytest.approx((one.low - low) * scale, abs=0.06)
    diamond = float(figure.xpath(".//path/@d")[0].removeprefix("M").split(" ")[0])
    assert diamond == pytest.approx((0.133 - low) * scale, abs=0.06)
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


def test_the_page_loads_and_runs_nothing() -> None:
    html = render_mixedqa_html(sample_result())
    Nesting(html)
    tree = parsed(html)
    assert not tree.xpath("//script | //link | //img | //iframe | //@style | //@src | //@href")
    (style,) = tree.xpath("//style")
    digest = base64.b64encode(hashlib.sha256((style.text or "").encode()).digest()).decode()
    policy = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert f"style-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_hostile_names_stay_text() -> None:
    name = f'"><script>alert(1)</script><b onmouseover="x">{HOSTILE}\x1b[2J\u202e'
    result = result_of(
        [respond(n, name, n % 2, trust_bc=n % 2) for n in range(4)],
        data=name,
        warnings=(name,),
        fingerprint=fingerprint(subject_model=name, judge=name, corpus=name, factloop_version=name),
    )
    html = render_mixedqa_html(result)
    Nesting(html)
    tree = parsed(html)
    assert not tree.xpath("//script | //@onmouseover | //img | //a")
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "<script>alert(1)</script>" in tree.text_content()


def test_equal_results_give_equal_pages() -> None:
    assert render_mixedqa_html(sample_result()) == render_mixedqa_html(sample_result())


def test_an_empty_run_has_a_page() -> None:
    assert "All systems: 0 responses" in render_mixedqa_html(result_of([]))


def test_a_hundred_systems_take_no_time() -> None:
    result = result_of(many_responses(4, systems=[f"system {n}" for n in range(100)]), resamples=10)
    start = time.perf_counter()
    html = render_mixedqa_html(result)
    assert time.perf_counter() - start < 2
    assert html.count('role="img"') == 101 * 3
