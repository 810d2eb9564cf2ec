"""Checks of every page, of any report."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache

import pytest
from jinja2 import UndefinedError

from factloop.reports.page import render_page
from tests.reports.html_page import Page, text_of
from tests.reports.page_samples import MADE_BY, PAGES

every_page = pytest.mark.parametrize("name", PAGES)


@cache
def parsed(name: str) -> Page:
    return Page(PAGES[name])


@every_page
def test_a_page_loads_nothing_and_runs_only_its_own_script(name: str) -> None:
    page = parsed(name)
    assert {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "base"} == set()
    assert not [attributes for _, attributes in page.elements if {"src", "style"} & set(attributes)]
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    assert not [link for link in page.of("a") if link["href"].lower().startswith("javascript")]
    policy = next(meta["content"] for meta in page.of("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        assert len(page.of(tag)) == 1
        inline = re.findall(rf"<{tag}>(.*?)</{tag}>", PAGES[name], re.DOTALL)[-1]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


@every_page
def test_ids_are_unique_and_every_inner_link_and_label_arrives(name: str) -> None:
    page = parsed(name)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link["href"][1:] for link in page.of("a") if link["href"].startswith("#")} <= set(ids)
    labels = {one["aria-labelledby"] for _, one in page.elements if "aria-labelledby" in one}
    assert labels <= set(ids)
    assert len(page.of("h1")) == 1


@every_page
def test_no_control_character_arrives(name: str) -> None:
    assert not set(PAGES[name]) & set("\x1b\x00\x07\r\x9b\u202e\u2066")


@pytest.mark.parametrize("name", [name for name in PAGES if "hostile" in name])
def test_hostile_text_arrives_as_text(name: str) -> None:
    """It is shown as it is; only true web addresses are links, which tell the target nothing."""
    page, html = parsed(name), PAGES[name]
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "alert(1)" in text_of(html)
    outer = [link for link in page.of("a") if link["href"].startswith(("http:", "https:"))]
    assert {link["rel"] for link in outer} <= {"noopener noreferrer"}
    others = {link["href"] for link in page.of("a")} - {link["href"] for link in outer}
    assert all(address.startswith(("#", "data:")) for address in others)


@pytest.mark.parametrize("name", ["fact-check", "run", "audit", "experiment"])
def test_equal_reports_give_equal_pages(name: str) -> None:
    assert MADE_BY[name]() == PAGES[name]


@every_page
def test_every_class_is_styled_or_read_by_a_script(name: str) -> None:
    """An unknown class is a slip of the pen, or what a change left behind."""
    page = parsed(name)
    known = "".join(re.findall(r"<(?:style|script)>.*?</(?:style|script)>", PAGES[name], re.DOTALL))
    used = {one for _, attributes in page.elements for one in attributes.get("class", "").split()}
    assert {one for one in used if not re.search(rf"\.{re.escape(one)}(?![\w-])", known)} == set()


def test_a_template_fails_where_it_names_what_it_was_not_given() -> None:
    with pytest.raises(UndefinedError, match="report"):
        render_page("fact_check.html.j2", room="factloop.checking.views")
