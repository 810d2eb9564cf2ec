from __future__ import annotations

import base64
import hashlib
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from factloop.reports.claims import Status
from factloop.reports.faults import Fault
from factloop.reports.markdown import Part, Tag, TextRun, read_markdown
from factloop.reports.page import render_page
from factloop.reports.prose import LONGEST_LAID_OUT, PageStretch, Piece, Prose, lay_out
from tests.reports.html_page import Page, text_of
from tests.reports.page_samples import MADE_BY, PAGES
from tests.work import LINEAR, growth

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
    """Only real web addresses become links, and they send no referrer."""
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
    """An unknown class is a typo or a leftover."""
    page = parsed(name)
    known = "".join(re.findall(r"<(?:style|script)>.*?</(?:style|script)>", PAGES[name], re.DOTALL))
    used = {one for _, attributes in page.elements for one in attributes.get("class", "").split()}
    assert {one for one in used if not re.search(rf"\.{re.escape(one)}(?![\w-])", known)} == set()


def test_a_template_fails_where_it_names_what_it_was_not_given() -> None:
    with pytest.raises(UndefinedError, match="name"):
        render_page("fact_check.html.j2", room="factloop.checking.views")


def sentence(text: str, number: int, *faults: Fault) -> PageStretch:
    return PageStretch(text, (number,), "contradicted", (("✗", "contradicted"),), "contradicted", faults)


def shown(prose: Prose) -> list[str]:
    """The pieces of the prose: each sentence begins with its number (`1:`), failing words are in brackets."""
    found = []
    for part in prose.parts:
        if isinstance(part, Piece):
            number = f"{part.stretch.numbers[0]}:" if part.begins else ""
            found.append(number + "".join(f"[{one.text}]" if one.fault else one.text for one in part.words))
    return found


def test_a_mark_survives_what_markdown_leaves_out() -> None:
    stretches = [
        PageStretch("- "),
        sentence("The **third** tower &amp; [its lamp](https://example.org) of `1759`.", 1),
        PageStretch("\n- "),
        sentence("*It* stood.", 2),
    ]
    assert shown(lay_out(stretches)) == ["1:The ", "third", " tower & its lamp of 1759.", "2:It", " stood."]


@pytest.mark.parametrize("first", ["March", "**March"])
def test_words_that_fail_are_marked_across_tags(first: str) -> None:
    text = "Lit in **March 1836** by hand."
    fault = Fault(text.index(first), text.index(" by"), Status.CONTRADICTED, "contradicted")
    prose = lay_out([sentence(text, 1, fault)])
    assert shown(prose) == ["1:Lit in ", "[March 1836]", " by hand."]
    begun = [one.begins_fault for part in prose.parts if isinstance(part, Piece) for one in part.words]
    assert begun.count(True) == 1


def test_a_row_of_a_table_is_marked_in_each_of_its_cells() -> None:
    head = "| Plan | Price |\n|---|---|\n"
    stretches = [PageStretch(head), sentence("| Team | 10 € |", 1)]
    assert shown(lay_out(stretches)) == ["Plan", "Price", "1:Team", "10 €"]


@pytest.mark.parametrize(
    "stretches",
    [
        [sentence("> " * 30, 1), sentence("deep.", 2)],
        [sentence("One. ", 1), sentence("x " * LONGEST_LAID_OUT, 2)],
        [PageStretch("[a]("), sentence("https://example.org", 1), PageStretch(")")],
    ],
    ids=["nested too deep", "too long", "in an address"],
)
def test_where_markdown_would_hide_a_sentence_the_text_stands_plain(stretches: list[PageStretch]) -> None:
    prose = lay_out(stretches)
    assert [part.name for part in prose.parts if isinstance(part, Tag)] == ["p", "p"]
    shown = "".join(word.text for part in prose.parts if isinstance(part, Piece) for word in part.words)
    assert shown == "".join(one.text for one in stretches)
    assert prose.raw == ""


def test_work_is_linear_in_the_sentences() -> None:
    def work(n: int) -> Prose:
        return lay_out([sentence(f"Tower **{number}** stood. ", number) for number in range(n)])

    assert growth(work, 25) < LINEAR


ANSWER = """# Rates

Pay *within* **30 days.** Run `pay --now` \\* &amp; wait. See [the terms](https://example.org/t "Terms") first.

## Plans

| Plan | Price \\| month |
|---|--:|
| Team | **10 €** |

> Said
> once

3. Three
   - nested
4. Four

```sh
pay \\
  --now
```

[1]: https://example.org/source
"""


def marked_up(parts: list[Part]) -> str:
    found = []
    for part in parts:
        if isinstance(part, Tag):
            found.append(f"<{'/' if part.closes else ''}{part.name}>")
        else:
            found.append(part.text)
    return "".join(found)


def test_headings_lists_tables_and_code_become_tags() -> None:
    html = marked_up(read_markdown(ANSWER))
    for part in (
        "<h3>Rates</h3>",
        "<em>within</em> <strong>30 days.</strong> Run pay --now * & wait. See the terms first.",
        "<h4>Plans</h4>",
        "<th>Price | month</th>",
        "<td><strong>10 €</strong></td>",
        "<blockquote><p>Said<br>once</p></blockquote>",
        "<ol><li>Three<ul><li>nested</li></ul></li><li>Four</li></ol>",
        "<pre><code>pay \\\n  --now</code></pre>",
        "[1]: https://example.org/source",
    ):
        assert part in html


def test_every_run_knows_its_place_in_the_source() -> None:
    runs = [part for part in read_markdown(ANSWER) if isinstance(part, TextRun)]
    for run in runs:
        if run.is_literal:
            assert ANSWER[run.start : run.end] == run.text
    special = {run.text: ANSWER[run.start : run.end] for run in runs if not run.is_literal}
    assert special == {"*": "\\*", "&": "&amp;"}
    assert next(run for run in runs if run.href).href == "https://example.org/t"
    assert next(run for run in runs if run.code).text == "pay --now"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<b onclick=x>bold</b>",
        "[click](javascript:alert(1))",
        "[click](data:text/html,x)",
        "<https://example.org>",
        "[click](notes.md)",
    ],
)
def test_html_and_other_addresses_stay_text(text: str) -> None:
    parts = read_markdown(text)
    assert marked_up(parts) == f"<p>{text}</p>" or not any(isinstance(part, TextRun) and part.href for part in parts)
    assert {part.name for part in parts if isinstance(part, Tag)} == {"p"}


def test_lines_that_end_on_purpose_stay_apart_and_wrapped_ones_flow() -> None:
    wrapped = "word " * 13 + "end"
    assert marked_up(read_markdown("Name: Ada\nBorn: 1815")) == "<p>Name: Ada<br>Born: 1815</p>"
    assert marked_up(read_markdown(f"{wrapped}\nof the line")) == f"<p>{wrapped}\nof the line</p>"


def test_no_level_of_headings_is_left_out() -> None:
    tags = [part.name for part in read_markdown("### a\n# b\n#### c\n###### d\n## e") if isinstance(part, Tag)]
    assert tags[::2] == ["h3", "h3", "h4", "h5", "h4"]


TABLE = "| a |\n|---|\n| c |\n"
MARKS = "a;b ;word ; ;\n;\n\n;# ;- ;1. ;> ;|;`;```;*;**;_;~~;[;](;http://x.org;);![;\\;<;\t;    ;---;日;\\|"


@given(st.lists(st.sampled_from([*MARKS.split(";"), TABLE, "&amp;"]), max_size=40).map("".join))
def test_any_text_gives_tags_that_nest_and_runs_in_order(text: str) -> None:
    opened: list[str] = []
    reached = 0
    for part in read_markdown(text):
        if isinstance(part, TextRun):
            assert reached <= part.start <= part.end <= len(text)
            reached = part.start
            if part.is_literal and not part.text.startswith("[image: "):
                assert part.text.split() == text[part.start : part.end].split()
        elif part.closes:
            assert opened.pop() == part.name
        elif part.name not in ("br", "hr"):
            opened.append(part.name)
    assert opened == []
