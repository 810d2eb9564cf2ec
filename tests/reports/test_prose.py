from __future__ import annotations

from collections.abc import Sequence

import pytest

from factloop.reports.claims import Status
from factloop.reports.faults import Fault
from factloop.reports.markdown import Tag
from factloop.reports.prose import LONGEST_LAID_OUT, PageStretch, Piece, Prose, lay_out
from tests.work import LINEAR, growth


def sentence(text: str, number: int, *faults: Fault) -> PageStretch:
    return PageStretch(text, (number,), "contradicted", (("✗", "contradicted"),), "contradicted", faults)


def shown(prose: Prose) -> list[str]:
    """Each sentence that begins as `1:`, its words that fail in brackets, its pieces after one another."""
    found = []
    for part in prose.parts:
        if isinstance(part, Piece):
            number = f"{part.stretch.numbers[0]}:" if part.begins else ""
            found.append(number + "".join(f"[{one.text}]" if one.fault else one.text for one in part.words))
    return found


def text_of(stretches: Sequence[PageStretch]) -> str:
    return "".join(one.text for one in stretches)


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
    assert "".join(word.text for part in prose.parts if isinstance(part, Piece) for word in part.words) == text_of(
        stretches
    )
    assert prose.raw == ""


def test_work_is_linear_in_the_sentences() -> None:
    def work(n: int) -> Prose:
        return lay_out([sentence(f"Tower **{number}** stood. ", number) for number in range(n)])

    assert growth(work, 25) < LINEAR
