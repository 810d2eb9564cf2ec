from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.search.passages import PassageSettings, best_passages, split_passages

SMALL = PassageSettings(words=5, overlap=2, slack=2)


def test_short_text_is_one_passage_with_whitespace_collapsed() -> None:
    assert list(split_passages(" Ada \n was\tborn. ")) == ["Ada was born."]
    assert list(split_passages("Zoë  war da.")) == ["Zoë war da."]
    assert list(split_passages(" \n ")) == []


def test_passages_end_with_sentences_and_overlap() -> None:
    # At most seven words are kept whole; these are ten. 1: the sentence end nearest to five words is after "d."; going
    # back two words, or two give or take one, meets no sentence end: "c" begins the next. 2: no end near five words, so
    # five; going back two words is after "e", and one more is after "d.". 3: the six words from "e" are the rest.
    assert list(split_passages("a b c d. e f g h i j", SMALL)) == ["a b c d.", "c d. e f g", "e f g h i j"]


def test_overlap_begins_with_a_sentence_where_one_is_near() -> None:
    # The cut is after the fifth word; two words back is after the third, and the sentence ends after the fourth.
    assert list(split_passages("a b c d. e f g h", PassageSettings(words=5, overlap=2, slack=0))) == [
        "a b c d. e",
        "e f g h",
    ]


def test_paragraphs_end_sentences() -> None:
    assert next(split_passages("a b c d\n\ne f g h i j", SMALL)) == "a b c d"


def test_default_lengths() -> None:
    words = [f"w{n}" for n in range(1000)]
    passages = [passage.split() for passage in split_passages(" ".join(words))]
    assert all(len(passage) == 100 for passage in passages[:-1])
    assert passages[1][:20] == passages[0][-20:]


@pytest.mark.parametrize(("text", "longest"), [("漢" * 5000, 240), ("ไทย" * 2000, 240), ("x" * 50_000, 12_000)])
def test_text_without_spaces_is_cut_by_characters(text: str, longest: int) -> None:
    passages = list(split_passages(text))
    assert len(passages) > 3
    assert max(map(len, passages)) <= longest


@pytest.mark.parametrize("unit", ["a", "漢", "a ", ". ", "\0", '."', " ", "\n\n", "é.\n\n", "\u0301"])
def test_a_million_characters_on_one_line_take_no_long_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    start = time.process_time()
    sum(len(passage) for passage in split_passages(text))
    assert time.process_time() - start < 4.0


@given(st.text(alphabet="ab. \n漢é", max_size=300))
def test_nothing_is_lost_and_no_passage_is_too_long(text: str) -> None:
    passages = list(split_passages(text, SMALL))
    joined = "".join("".join(passage.split()) for passage in passages)
    position = 0
    for character in "".join(text.split()):  # the text is a subsequence of the passages put together
        position = joined.index(character, position) + 1
    assert all(passage and len(passage.split()) <= 7 for passage in passages)


@pytest.mark.parametrize("lengths", [(10, 5, 5), (10, -1, 0), (10, 0, -1), (0, 0, 0)])
def test_impossible_settings(lengths: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="words must exceed"):
        PassageSettings(*lengths)


def test_best_passages_prefer_rare_shared_words() -> None:
    # "the" is in all three (log 2), "ada" in one (log 4), "born" in two (log 2.5).
    passages = ["the river was born", "the sea", "the ada born"]
    assert best_passages("The Ada, born?", passages, 3) == [2, 0, 1]
    assert best_passages("漢", ["かな", "漢字"], 1) == [1]
    assert best_passages("", ["a", "b"], 5) == [0, 1]
    assert best_passages("a", [], 5) == []


@given(st.text(alphabet="ab. \t\n\x1f\xa0\u3000é\u0e01漢", max_size=60))
def test_short_texts_of_any_script_have_their_whitespace_collapsed_and_no_more(text: str) -> None:
    # At most 60 characters are no more than the 120 words that are kept whole.
    assert list(split_passages(text)) == ([" ".join(text.split())] if text.split() else [])
