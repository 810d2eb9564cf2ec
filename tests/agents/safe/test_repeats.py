"""Passages of several searches, with no text shown twice."""

from __future__ import annotations

from datetime import UTC, datetime

from factloop.agents.safe.passages import fresh_part, without_repeats
from factloop.core.records import Evidence

CHUNKS = [f"Chunk {letter} tells of matters that no other chunk tells of, {letter * 9}." for letter in "ABCDEFGH"]


def passage(numbers: str, *, source: str = "a.md", section: str | None = None) -> Evidence:
    text = "\n".join(CHUNKS["ABCDEFGH".index(letter)] for letter in numbers)
    when = datetime(2024, 1, 1, tzinfo=UTC)
    return Evidence(id="", source=source, section=section, passage=text, query=numbers, rank=1, retrieved_at=when)


def letters(items: list[Evidence]) -> list[str]:
    return ["".join(c for c, text in zip("ABCDEFGH", CHUNKS, strict=True) if text in item.passage) for item in items]


def merged(*numbers: str, most: int = 2_000) -> list[str]:
    return letters(without_repeats([passage(one) for one in numbers], most=most))


def test_passages_that_share_text_become_one() -> None:
    assert merged("ABC", "BCD") == ["ABCD"]
    assert merged("BCD", "ABC") == ["ABCD"]
    assert merged("ABC", "B", "ABCD") == ["ABCD"]
    assert merged("ABC", "FGH", "CDEF") == ["ABCDEFGH"]
    assert merged("ABC", "EF", "H") == ["ABC", "EF", "H"]
    (one,) = without_repeats([passage("ABC"), passage("BCD")], most=2_000)
    assert one.passage == "\n".join(CHUNKS[:4])


def test_what_would_grow_too_long_keeps_what_is_new() -> None:
    most = 3 * len(CHUNKS[0]) + 5
    assert merged("ABC", "BCD", most=most) == ["ABC", "D"]
    assert merged("BCD", "ABC", most=most) == ["BCD", "A"]
    assert merged("ABC", "DEF", "BCD", most=most) == ["ABC", "DEF"]


def test_one_passage_is_named_after_where_it_begins() -> None:
    (one,) = without_repeats([passage("BC", section="Later"), passage("AB", section="First")], most=2_000)
    assert (one.section, one.query) == ("First", "BC")
    cut = without_repeats([passage("AB", section="First"), passage("BC", section="First")], most=10)
    assert [item.section for item in cut] == ["First", None]  # not known where the rest begins


def test_other_documents_and_short_likenesses_stay_apart() -> None:
    others = [passage("ABC"), passage("BCD", source="b.md"), passage("D", source="a.md#line=3")]
    assert letters(without_repeats(others, most=2_000)) == ["ABC", "BCD", "D"]
    pages = [passage("AB", source="a.pdf#page=1"), passage("BC", source="a.pdf#page=2")]
    assert [item.source for item in without_repeats(pages, most=2_000)] == ["a.pdf#page=1"]
    short = [
        evidence.model_copy(update={"passage": text, "source": "a.md"})
        for evidence, text in zip(others, ("a b", "b c"), strict=False)
    ]
    assert [item.passage for item in without_repeats(short, most=2_000)] == ["a b", "b c"]


def test_the_fresh_part_of_a_passage() -> None:
    abc, bcd = passage("ABC").passage, passage("BCD").passage
    assert fresh_part(bcd, [abc]) == CHUNKS[3]
    assert fresh_part(abc, [bcd]) == CHUNKS[0]
    assert fresh_part(passage("BCDE").passage, [abc, passage("EF").passage]) == CHUNKS[3]
    assert fresh_part(passage("B").passage, [abc]) == ""
    assert fresh_part(abc, [abc]) == ""
    assert fresh_part(abc, []) == abc
