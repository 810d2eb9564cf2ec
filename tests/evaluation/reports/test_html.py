from __future__ import annotations

import base64
import hashlib
import re
import time
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from factloop.evaluation.reports.html import render_html
from factloop.evaluation.reports.visible import visible
from factloop.records import FactualityReport
from tests.evaluation.reports.sample import (
    HOSTILE,
    HOSTILE_ADDRESS,
    RESPONSE,
    hostile_report,
    large_report,
    make_report,
    sample_report,
)

VOID = {"meta", "input", "rect", "img", "br", "link"}
AA_CONTRAST = 4.5


class Page(HTMLParser):
    """A parsed page: its elements with their attributes, the text of each class, and whether the tags nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[list[str], str]] = []
        self._open: list[tuple[str, str]] = []
        self.feed(html)
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.elements.append((tag, named))
        if tag not in VOID:
            self._open.append((tag, named.get("class", "")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1][0] == tag, f"</{tag}> closes <{self._open[-1][0]}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((" ".join(names for _, names in self._open).split(), data))

    def text_in(self, name: str, *, without: tuple[str, ...] = ()) -> str:
        return "".join(data for names, data in self.texts if name in names and not set(without) & set(names))

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(render_html(sample_report()))


def test_equal_reports_give_equal_pages() -> None:
    assert render_html(sample_report()) == render_html(sample_report())


@pytest.mark.parametrize("report", [sample_report(), hostile_report(), make_report("", (), prompt=None)])
def test_the_page_loads_nothing_and_runs_only_its_own_script(report: FactualityReport) -> None:
    html = render_html(report)
    page = Page(html)
    assert {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "base"} == set()
    assert not [attributes for _, attributes in page.elements if {"src", "style"} & set(attributes)]
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    policy = next(meta["content"] for meta in page.of("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        assert len(page.of(tag)) == 1
        inline = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)[-1]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_the_response_stands_in_place_character_by_character(page: Page) -> None:
    assert page.text_in("prose", without=("mark", "unseen")).strip() == RESPONSE.strip()
    sentences = [link for link in page.of("a") if "sentence" in link.get("class", "")]
    assert len(sentences) == 12
    assert sentences[0]["href"] == "#claim-1"
    assert sentences[0]["data-claims"].split() == ["1", "2", "3"]
    assert "is-contradicted" in sentences[5]["class"]


def test_every_claim_opens_to_what_the_report_holds(page: Page) -> None:
    body = " ".join(page.text_in("claims").split())
    for claim in sample_report().claims:
        for text in (claim.self_contained, claim.text, claim.sentence, claim.judgement.rationale, *claim.queries):
            assert text in body
        for item in claim.evidence:
            assert item.passage in body
            assert item.source in body
    assert "Says the same as claim 3" in body
    assert "Not scored: the budget was used up" in body
    assert "who taught her, and from what age" in body
    assert "0.97 of 1" in body
    assert body.count("cited") >= 9


def test_ids_are_unique_and_every_inner_link_arrives(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    inner = {link["href"][1:] for link in page.of("a") if link["href"].startswith("#")}
    assert inner <= set(ids)


def outer_links(report: FactualityReport) -> list[dict[str, str]]:
    return [link for link in Page(render_html(report)).of("a") if not link["href"].startswith("#")]


def test_web_addresses_become_links_that_tell_the_target_nothing() -> None:
    links = outer_links(sample_report())
    assert {link["rel"] for link in links} == {"noopener noreferrer"}
    addresses = {item.source for claim in sample_report().claims for item in claim.evidence}
    assert {link["href"] for link in links} == addresses - {"sources/analytical-engine.md"}


def test_other_sources_stay_text() -> None:
    assert [link["href"] for link in outer_links(hostile_report())] == [HOSTILE_ADDRESS]


def test_the_head_says_what_the_figures_rest_on(page: Page) -> None:
    head = " ".join(" ".join(data for names, data in page.texts if "overview" in names).split())
    assert "9 of 12 scored claims supported, 7 not scored" in head
    for figure in ("Precision 0.75", "F1@8 0.86", "F1@64 0.24", "Cost $0.00305", "Tokens ~15,188", "Time 4.8 s"):
        assert figure in head
    bar = next(svg for svg in page.of("svg"))
    assert bar["aria-label"] == "9 supported, 1 contradicted, 2 no evidence found, 1 irrelevant, 7 not scored"
    assert [int(rect["width"]) for rect in page.of("rect")] == [9, 1, 2, 1, 7]


def test_the_run_can_be_traced(page: Page) -> None:
    run = " ".join(page.text_in("run").split())
    for text in ("sentence_facts", "13,482", "a3f1" * 16, "langgraph 1.2.22", "temperature 0.0", "at most 5 rounds"):
        assert text in run


def test_hostile_text_arrives_as_text() -> None:
    html = render_html(hostile_report())
    page = Page(html)
    assert not set(html) & set("\x1b\x00\x07\r\x9b\u202e\u2066")
    assert "<script>alert" not in html
    assert "<img" not in html
    assert visible(HOSTILE).strip() in page.text_in("prose").strip()
    assert "{{ 6*7 }} {% if x %}" in html
    shown = " ".join(page.text_in("claims").split())
    for name in ("claim", "text", "query", "missing", "judge", "title", "passage", "date", "other"):
        assert f"{name} {{{{ 6*7 }}}}" in shown


def test_hostile_text_cannot_reorder_what_surrounds_it() -> None:
    isolated = {"bdi", "h1", "blockquote"}
    for found in re.finditer(r"<(\w+)([^>]*)>[^<]*\{\{ 6\*7", render_html(hostile_report())):
        assert found[1] in isolated | {"title"} or 'dir="auto"' in found[2]


def test_a_claim_free_response_says_so() -> None:
    page = Page(render_html(make_report("I don't know.", ())))
    assert "The response makes no claim that can be checked." in page.text_in("claims")
    assert page.text_in("prose").strip() == "I don't know."
    assert not page.of("svg")


def test_a_response_from_right_to_left_is_set_so() -> None:
    html = render_html(make_report("שלום עולם", ()))
    assert 'class="prose" dir="rtl"' in html


def test_a_megabyte_on_one_line_and_five_thousand_claims_render_in_seconds() -> None:
    started = time.perf_counter()
    render_html(make_report("\x1b" + "x<" * 500_000, ()))
    render_html(large_report(5000))
    assert time.perf_counter() - started < 10


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio: (lighter + 0.05) / (darker + 0.05) of the relative luminances."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_the_contrast_ratio_is_that_of_wcag() -> None:
    assert _contrast("#ffffff", "#000000") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(theme: int) -> None:
    css = files("factloop.evaluation.reports").joinpath("pages", "base.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    colours = {name: both[theme] for name, *both in pairs}
    statuses = ("supported", "contradicted", "no_evidence", "irrelevant", "unscored")
    grounds = ("paper", "surface", "sunken")
    tested = [(text, ground) for text in ("ink", "muted", "accent", *statuses) for ground in grounds]
    tested += [(text, f"{status}-tint") for status in statuses for text in ("ink", status)]
    for text, ground in tested:
        assert _contrast(colours[text], colours[ground]) >= AA_CONTRAST, (text, ground)
