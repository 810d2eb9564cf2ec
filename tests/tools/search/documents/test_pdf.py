"""Pages of a PDF as paragraphs and tables, by their text and how it is laid out."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from factloop.tools.search.documents.pdf import page_blocks
from factloop.tools.search.documents.sections import Block, Rows
from tests.tools.search.documents.made_files import load
from tests.work import LINEAR, growth

LAYOUT = """Trips 2025

The pass costs 48 euros for adults and
Children pay 24 euros.

  Route        Length      Open
Lake loop      8.5 km      yes
Ridge walk     14 km        no

The pass is sold by Ilse Brandt."""


def plain(layout: str) -> str:
    """The text as a reader of PDFs gives it: one blank for each gap, no line blank."""
    return "\n".join(" ".join(line.split()) for line in layout.split("\n") if line.strip())


def blocks(layout: str) -> list[Block]:
    return page_blocks(plain(layout), layout)


@pytest.mark.parametrize("layout", ["", "other text", "The pass costs   Ilse"])
def test_a_layout_that_differs_leaves_the_text_as_it_is(layout: str) -> None:
    assert page_blocks(plain(LAYOUT), layout) == [plain(LAYOUT)]


@pytest.mark.parametrize(
    "layout",
    [
        "Lake loop      8.5 km      yes\nRidge walk     14 km       no",
        "lit = 1;      old = 2;     red = 3;\nlit = 4;      old = 5;     red = 6;",
        "Route          Length      Open\nLake loop      8.5 km",
        "Oss      Arden      Lindel",
    ],
)
def test_lines_with_gaps_that_no_head_names_are_no_table(layout: str) -> None:
    found = blocks(layout)
    assert "".join(map(str, found)).split() == plain(layout).split()
    assert not any(isinstance(block, Rows) for block in found)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("for chil dren and consecu tive days", "for children and consecutive days"),
        ("for chil\xaddren", "for children"),
        ("for consecu\xad\ntive days", "for consecutive days"),
        ("a manip-\nulation of it", "a manipulation of it"),
        ("a well-\nknown tower", "a well-known tower"),
        ("the foot ball of an other", "the foot ball of an other"),
        ("al though it is in to it", "al though it is in to it"),
        ("al-\nthough red", "although red"),
        ("the Oss-\nArden line", "the Oss-\nArden line"),
        ("Herr Kro ll", "Herr Kro ll"),
    ],
)
def test_words_that_a_mark_for_parting_them_split_are_whole(text: str, whole: str) -> None:
    assert page_blocks(text, "") == [whole]


def test_a_page_that_is_drawn_is_read_so(tmp_path: Path) -> None:
    buffer = BytesIO()
    canvas = Canvas(buffer)
    rows = [("Route", "Length", "Open"), ("Lake loop", "8.5 km", "yes"), ("Ridge walk", "14 km", "no")]
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            canvas.drawString(72 + 120 * column, 700 - 14 * place, cell)
    canvas.drawString(72, 630, "The pass is sold by Ilse Brandt.")
    canvas.save()
    (section,) = load(tmp_path, "a.pdf", buffer.getvalue())
    table = "Route: Lake loop; Length: 8.5 km; Open: yes\n\nRoute: Ridge walk; Length: 14 km; Open: no"
    assert section.text.strip() == f"{table}\n\nThe pass is sold by Ilse Brandt."
    assert section.tables == ((0, len(table)),)


@pytest.mark.parametrize("line", ["a b\n", "Ab   cd   ef\n", "word-\n", "x\n\n"])
def test_pages_of_any_length_are_linear_work(line: str) -> None:
    assert growth(lambda n: page_blocks(line * n, line * n), 500) < LINEAR
