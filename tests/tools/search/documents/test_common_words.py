"""Words that stand nearly everywhere: left out of long queries to a large corpus, and only there."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.search.documents.index import PassageReader, new_index, update_index
from factloop.tools.search.documents.sections import Section
from factloop.tools.search.passages import DEFAULT_SETTINGS

PASSAGES = [
    "the of moon landing",
    "the of first walker",
    "the of was was was",
    "the of apollo",
    "the of armstrong landing",
    "the of crater",
    "the of sea",
    "of tide",
]


def reader(passages: Sequence[str], *, large: int) -> PassageReader:
    index = new_index(None)
    sections = [Section(text, "title") for text in passages]
    update_index(index, remove=[], add=[("key", sections)], n_bytes=0, settings=DEFAULT_SETTINGS)
    return PassageReader(index, large=large)


def found(query: str, *, large: int = len(PASSAGES)) -> list[str]:
    return [item.stored.passage for item in reader(PASSAGES, large=large).search(query, 10)]


def test_common_words_of_a_long_query_are_left_out() -> None:
    # "the" stands in 7 of 8 passages, "of" in all; the four others in a quarter of them ("landing") or fewer.
    assert sorted(found("the landing of armstrong, the walker of the crater")) == [
        "the of armstrong landing",
        "the of crater",
        "the of first walker",
        "the of moon landing",
    ]


def test_the_best_passages_are_the_same() -> None:
    # Two rare words, then one rare word in the shortest passage.
    query = "the landing of armstrong, the walker of the crater"
    assert found(query)[:2] == found(query, large=100)[:2] == ["the of armstrong landing", "the of crater"]
