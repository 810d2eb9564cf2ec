from __future__ import annotations

from factloop.agents.safe.excerpts import CUT, around, before

LONG = "Ada Lovelace was born in London. " + "Something else happened then. " * 200 + "It ended well."


def test_a_short_beginning_is_given_whole() -> None:
    assert before("One. Two. Three.", 10, most=100) == "One. Two."
    assert before("One.", 0, most=100) == ""


def test_a_long_beginning_keeps_its_opening_and_its_end() -> None:
    start = len(LONG) - len("It ended well.")
    excerpt = before(LONG, start, most=90)
    opening, ending = excerpt.split(CUT)
    assert LONG.startswith(opening)
    assert LONG[:start].strip().endswith(ending)
    assert not opening.endswith(" ")
    assert len(excerpt) <= 90 + len(CUT)


def test_a_short_response_is_given_whole() -> None:
    assert around("One. Two.", 5, 9, most=100) == "One. Two."


def test_a_long_response_is_cut_around_the_sentence() -> None:
    start = LONG.index("Something", 3000)
    end = LONG.index(".", start) + 1
    excerpt = around(LONG, start, end, most=300)
    assert excerpt.startswith("Ada Lovelace")
    assert LONG[start:end] in excerpt
    assert len(excerpt) <= 300 + (end - start) + 2 * len(CUT)


def test_a_word_of_a_megabyte_stays_bounded() -> None:
    assert len(before("x" * 1_000_000, 1_000_000, most=600)) <= 600 + len(CUT)
