from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from factloop.reports.pictures import INK, SERIES, as_file, as_words, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOSTILE = (
    "$x$",
    "\\frac{1}{0}",
    "<script>alert(1)</script>",
    "漢字",
    "x" * 300,
    "a\nb",
    "\x1b[2J\x00",
    "\ufffe\uffff",
    "]]>",
)


def parsed(picture: str) -> etree._Element:
    return etree.fromstring(picture)


def paint(axes: Axes) -> None:
    (line,) = axes.plot([0, 1], [0, 3], color=SERIES[0])
    line.set_gid("of-3")
    axes.plot([0, 1], [1, 2], color=INK, marker="o")


def test_a_picture_has_no_style_and_takes_its_colours_from_the_page() -> None:
    picture = draw(paint, alt="two lines")
    assert "style" not in picture
    assert "var(--series-1)" in picture
    assert "var(--ink)" in picture
    assert not re.search("#0[0-9]0", picture)
    root = parsed(picture)
    assert root.get("aria-label") == "two lines"
    assert (root.get("width"), root.get("height")) == ("672", "307.2")  # 7 x 3.2 inches of 96 pixels


def test_what_is_referred_to_is_there_and_in_no_other_picture() -> None:
    one, other = draw(paint, alt="one"), draw(paint, alt="other")
    for picture in (one, other):
        ids = [each.get("id") for each in parsed(picture).iter() if each.get("id")]
        referred = set(re.findall(r'(?:url\(|href=")#([\w-]+)', picture))
        assert referred
        assert set(ids) == referred
        assert len(ids) == len(set(ids))
    assert not set(re.findall(r'id="([\w-]+)"', one)) & set(re.findall(r'id="([\w-]+)"', other))


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_can_be_drawn_and_stays_text(name: str) -> None:
    picture = draw(lambda axes: axes.set_title(name), alt=name)
    root = parsed(picture)
    assert "script" not in {etree.QName(one).localname for one in root.iter()}
    written = "".join(map(str, root.itertext()))
    for part in as_words(name).split():
        assert part in written.replace("\n", " ")


def test_a_file_has_colours_of_its_own_and_stands_alone() -> None:
    written = as_file(draw(paint, alt="two lines"))
    assert "var(" not in written
    assert "#1f5aa6" in written  # the light colour of the first series
    root = parsed(written)
    assert etree.QName(root).namespace == "http://www.w3.org/2000/svg"
    paper = root[0]
    assert (etree.QName(paper).localname, paper.get("fill")) == ("rect", "#ffffff")
    assert written.count("xmlns=") == 1
