"""Few passages without an index: found, ordered and scored as an index does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.search.documents.few import FewPassages, few_passages
from factloop.tools.search.documents.index import PassageReader, new_index, update_index
from factloop.tools.search.documents.sections import Section
from factloop.tools.search.passages import DEFAULT_SETTINGS

MOST = 1_000
WORDS = st.sampled_from(["the", "mill", "mills", "weir", "Café", "lamp", "1884", "漢字", "a.b.c", "\ud800", "-"])
TEXTS = st.lists(WORDS, max_size=300).map(" ".join)
SECTIONS = st.builds(Section, text=TEXTS, title=TEXTS.map(lambda text: text[:40]), section=st.none() | TEXTS)
Files = Sequence[tuple[str, Sequence[Section]]]


def indexed(files: Files) -> PassageReader:
    index = new_index(None)
    update_index(index, remove=(), add=files, n_bytes=1, settings=DEFAULT_SETTINGS)
    return PassageReader(index)


def untitled(*texts: str) -> list[Section]:
    return [Section(text, "") for text in texts]


def few(files: Files) -> FewPassages:
    found = few_passages(files, MOST, DEFAULT_SETTINGS)
    assert found is not None
    return found


@given(st.lists(st.lists(SECTIONS, max_size=3), max_size=4), TEXTS)
def test_an_index_finds_the_same_with_the_same_scores(sections: list[list[Section]], query: str) -> None:
    files = [(f"{number:09}", one) for number, one in enumerate(sections)]
    one, other = indexed(files), few(files)
    assert one.n_passages == other.n_passages
    assert set(one.few(10**9) or ()) == set(other.few(10**9) or ())
    expected = {item.stored: item.score for item in one.search(query, MOST)}
    assert {item.stored: item.score for item in other.search(query, MOST)} == pytest.approx(expected, abs=1e-4)


def test_the_best_come_first_and_no_more_than_asked_for() -> None:
    files = [("a", untitled("The lamp is lit.", "The mill spins flax.", "The mill has a lamp."))]
    found = few(files).search("a lamp in the mill", 2)
    assert [item.stored.passage for item in found] == ["The mill has a lamp.", "The lamp is lit."]
    assert found[0].score > found[1].score


def test_a_passage_is_found_by_its_place() -> None:
    passages = few([("a", untitled("One.", "Two.")), ("b", untitled("Three."))])
    assert [passages.at("a", 1).passage, passages.at("b", 0).passage] == ["Two.", "Three."]


def test_all_are_given_where_they_are_short_enough() -> None:
    passages = few([("a", [Section("One.", title="T", section="S")])])
    assert [one.passage for one in passages.few(6) or ()] == ["One."]
    assert passages.few(5) is None


def test_more_than_a_few_are_left_to_an_index() -> None:
    assert few_passages([("a", untitled("One.", "Two."))], 1, DEFAULT_SETTINGS) is None
