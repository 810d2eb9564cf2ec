from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from langchain_core.documents import Document

from factloop.tools.search.documents.search import DocumentSearch
from factloop.tools.search.documents.sections import Section, row_lines, with_items_apart
from factloop.tools.search.given import GivenDocuments
from factloop.tools.search.passages import split_passages
from tests.tools.search.documents.made_files import load
from tests.work import LINEAR, growth


def texts(sections: list[Section]) -> list[str]:
    return [" ".join(section.text.split()) for section in sections]


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("label.md", "---\ntitle: Front\n---\n# Head\ntext", "Front"),
        ("label.md", "intro\n\n## Head ##\ntext", "Head"),
        ("label.md", "Head\n====\n\ntext", "Head"),
        ("label.md", "```\n# no heading\n```\ntext", "label"),
        ("label.txt", "---\ntitle: Front\n---\ntext", "Front"),
        ("label.txt", "\nJohn Smeaton and his tower\n\nHe built it.", "John Smeaton and his tower"),
        ("label.txt", "# Head\n\nHe built it.", "Head"),
        ("label.txt", "He built it.\n\nIt stood.", "label"),
        ("label.txt", "One line alone", "label"),
        ("label.txt", "----\n\ntext", "label"),
        ("label.html", "<title>Of page</title><h1>Head</h1><p>text", "Of page"),
        ("label.html", "<p>x<h2>Head</h2><p>text", "Head"),
        ("the_third-tower__2021-04-03.txt", "Text.", "the third tower 2021-04-03"),
        ("label.jsonl", '{"text": "x", "title": "Of row"}', "Of row"),
        ("two_labels.jsonl", '{"text": "x"}', "two labels"),
    ],
)
def test_titles_are_the_documents_own(tmp_path: Path, name: str, text: str, title: str) -> None:
    assert load(tmp_path, name, text)[0].title == title


def test_sections_stand_under_the_path_of_their_headings(tmp_path: Path) -> None:
    sections = load(
        tmp_path, "a.md", "# T\nzero\n## A\n### A1\none\n### A2\ntwo\n## B\n# Other\n#### Deep\nthree\n## C #1\n"
    )
    assert [(section.section, section.text.strip()) for section in sections] == [
        (None, "zero"),
        ("A › A1", "one"),
        ("A › A2", "two"),
        (None, "B"),  # nothing stands under it, so that it is text
        ("Other › Deep", "three"),
        ("Other", "C #1"),
    ]
    assert [section.goes_on for section in sections] == [False, *[True] * 5]


@pytest.mark.parametrize("said", ["The Team plan costs 29 euros.", "Team plan: 29 euros"])
def test_a_bold_line_that_states_something_is_a_paragraph(tmp_path: Path, said: str) -> None:
    (section,) = load(tmp_path, "a.md", f"**{said}**\nIt has ten seats.")
    assert [part.strip() for part in section.text.split("\n\n")] == [said, "It has ten seats."]


def test_headings_of_pages(tmp_path: Path) -> None:
    page = "<title>T</title><h1>T</h1>zero<div><h2>A <i>b</i></h2><p>one</div><h3>C</h3><ul><li>two<li>three</ul>"
    sections = load(tmp_path, "a.html", page)
    assert [section.section for section in sections] == [None, "A b", "A b › C"]
    assert texts(sections) == ["zero", "one", "two three"]


def test_front_matter_is_no_evidence_but_names_the_source(tmp_path: Path) -> None:
    front = "---\ntitle: The 'third' tower\nurl: https://example.org/x\ndate: 2021-04-03\ntags: [a, b]\n---\nText.\n"
    for name in ("a.md", "a.txt"):
        for written in (front, front.replace("\n", "\r\n")):
            (section,) = load(tmp_path, name, written)
            assert section.text.strip() == "Text."
            assert (section.url, section.published) == ("https://example.org/x", "2021-04-03")
    merged = [f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 20)]
    (section,) = load(tmp_path, "a.md", f"---\na0: &a0 {{x: 1}}\n{''.join(merged)}title: 0x{'f' * 10_000}\n---\nText.")
    assert (section.text.strip(), section.title[:4]) == ("Text.", "0xff"), "neither merged nor converted"
    (tmp_path / "b.md").write_text("---\nsource: Handbook, p. 3\n---\nAbout zebras.")
    (hit,) = DocumentSearch([tmp_path / "b.md"], in_memory=True).search("zebras", 1)
    assert (hit.source, hit.title, hit.passage) == ("Handbook, p. 3", "b", "About zebras.")


def test_a_line_that_heads_a_paragraph_of_plain_text_is_not_glued_to_it(tmp_path: Path) -> None:
    parted = ["What it is for", "Metformin is for adults.\nIt is old.", "Tarn 4", "The Tarn 4 sleeps after 20 minutes."]
    text = f"Leaflet\n\n{parted[0]}\n{parted[1]}\n\n{parted[2]}\n{parted[3]}"
    (section,) = load(tmp_path, "a.txt", text)
    assert section.text.split("\n\n") == parted
    (hit,) = GivenDocuments([Document(section.text)]).search("metformin", 1)
    assert hit.passage.split("\n")[:2] == ["What it is for", "Metformin is for adults. It is old."]


def test_what_stands_on_every_page_is_no_evidence(tmp_path: Path) -> None:
    page = """<body class="has-cookie-banner"><nav>Home<p>Shop</nav><div role="navigation">Crumbs</div>
    <div class="x cookie-banner">We use <b>cookies</b><br><img src="x">.</div><div id="onetrust-banner-sdk">Agree</div>
    <aside class="cookies">Crumbs</aside><aside>By the way.</aside><section id="gdpr-consent">Yes?</section>
    <main><header>Head.</header><div class="cookie-recipe">Bake cookies.</div><p>Kept.</main>
    <footer>Imprint</footer><p>Last.</body>"""
    assert texts(load(tmp_path, "a.html", page)) == ["By the way. Head. Bake cookies. Kept. Last."]


def test_a_page_that_shows_itself_when_it_has_loaded_is_read(tmp_path: Path) -> None:
    assert texts(load(tmp_path, "a.html", "<html hidden><body style='visibility:hidden'><p>Kept.")) == ["Kept."]
    assert texts(load(tmp_path, "b.html", "<body><div id=root aria-hidden=true><p>Kept.</div>")) == ["Kept."]
    assert load(tmp_path, "c.html", "<body><div id=root hidden><p>Never.</div>") == []


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        ("<tr><th colspan=2>Rock<tr><th>Height<td>49 m<tr><th>Range<td>17", ["Rock", "Height: 49 m", "Range: 17"]),
        ("<tr><th><th>Lit<tr><th>Smeaton<td>1759", ["Smeaton; Lit: 1759"]),
        ("<tr><th>A<th>B<tr><td rowspan=2>x<td>1<tr><td>2<tr><td>y<td>3", ["A: x; B: 1", "A: x; B: 2", "A: y; B: 3"]),
        ("<tr><th>A<th colspan=2>B<tr><th><th>in<th>out<tr><td>x<td>1<td>2", ["A: x; B in: 1; B out: 2"]),
        ("<caption>Towers<tr><th>A<th>B<tr><td>x<td><tr><td><td><table><tr><td>i</table>", ["Towers", "A: x", "B: i"]),
        ("<tr><td>a<td>b<tr><td>c<td>d", ["a; b", "c; d"]),
        ("<tr><th>A<th>B<tr><td>x<td colspan=9999999999>1", ["A: x; B: 1"]),
    ],
)  # fmt: skip
def test_tables_of_pages(tmp_path: Path, table: str, lines: list[str]) -> None:
    (section,) = load(tmp_path, "a.html", f"<table>{table}</table>")
    assert section.text.split("\n\n") == lines


def test_a_table_that_lays_the_page_out_is_text(tmp_path: Path) -> None:
    sections = load(tmp_path, "a.html", "<table><tr><td><h2>Menu</h2><td><p>One. Two.<p>Three.</table>")
    assert texts(sections) == ["Menu One. Two. Three."]
    assert sections[0].tables == ()


def test_markdown_without_a_table_and_odd_ones(tmp_path: Path) -> None:
    assert load(tmp_path, "a.md", "a | b\nc | d")[0].text == "a | b\nc | d"
    (section,) = load(tmp_path, "a.md", "A \\| 1 | B\n--|--\nx | y | z\n| w")
    assert section.text.split("\n\n") == ["A | 1: x; B: y; z", "A | 1: w"]
    assert load(tmp_path, "a.md", "| A | B |\n|--|--|\n")[0].text.strip() == "A B"


def test_a_long_row_becomes_lines_that_each_name_row_and_column() -> None:
    notes = " ".join(f"Note {n} says that it stood for long." for n in range(40))
    lines = list(row_lines(["Tower", "Notes", "Lit"], [["Smeaton", notes, "1759"]]))
    assert len(lines) > 3
    assert all(line.startswith("Tower: Smeaton; Notes: Note ") for line in lines)
    assert lines[-1].endswith("; Lit: 1759")
    assert all(len(list(split_passages(line))) == 1 for line in lines)


def test_a_passage_within_a_table_holds_whole_rows_with_their_header(tmp_path: Path) -> None:
    rows = "".join(f"| name {n}. of it | value {n}. and {'more ' * 9}|\n" for n in range(60))
    (tmp_path / "a.md").write_text(f"| Name | Value |\n|---|---|\n{rows}")
    hits = DocumentSearch([tmp_path], in_memory=True).all_passages(100_000)
    assert hits is not None
    assert len(hits) > 5
    lines = [line for hit in hits for line in hit.passage.split("\n")]
    assert lines == [f"Name: name {n}. of it; Value: value {n}. and {'more ' * 9}".strip() for n in range(60)]


def test_items_of_a_long_list_are_never_cut_and_stay_apart_in_neighbours() -> None:
    items = [f"- Part {number} of the device costs {number + 1000} euros" for number in range(60)]
    passages = [hit.passage for hit in GivenDocuments([Document("\n".join(items))]).search("device", 9)]
    assert sorted(line for passage in passages for line in passage.split("\n")) == sorted(items)


MARKDOWN = [
    "2*3 and 4*5", "2 ** 3 ** 4", "`f(**a, **b)`", "un**believ**able", "```\n**kw**\n```",
    "Since then its population has grown to\n1.5 Million people.", "```yaml\nkeys:\n- kept: 1\n- as: it\n```",
    "It is 3 - 4 metres wide.\nThe rest is wider.",
]  # fmt: skip
PLAIN = [
    "---\nJust a line between rules.\n---\nText.", "---\na\nlist\n---\nText.",
    "---\ntitle: [unclosed\n---\nText.", "---\ntitle: never closed\nText.",
    "Text first.\n---\ntitle: x\n---\n", "--- title: x\n---\nText.",
    "The tower was designed by the engineer\nHenrietta Voss in 1901 and stood for\nyears by the sea.",
    "Metformin is the usual first choice for people in\nEurope and is taken with meals. It works chiefly\nby day.",
    "Roses are red\nViolets are blue\nSugar is sweet", "It is for\nMetformin users who are adults and come to us.",
    "Born: Ulm\nShe studied at the Institute and then went on to Bern.", "One two\nthree four five six seven.",
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [*product(["a.md"], MARKDOWN), *product(["a.txt"], PLAIN)])
def test_what_only_looks_like_stars_items_front_matter_or_headings_stays(tmp_path: Path, name: str, text: str) -> None:
    assert load(tmp_path, name, text)[0].text == text


@pytest.mark.parametrize("unit", ["- a\n", "1.1 Apt.\n", "  - a\n\n", "1.1 Apt\n" + "x" * 60 + "\n", "- a", "1.1 A"])
def test_lists_take_linear_time(unit: str) -> None:
    assert growth(lambda n: with_items_apart(unit * n), 500) < LINEAR
    with_items_apart(unit * 100_000)
