from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.search.passages import PassageSettings, best_passages, split_chunks, split_passages
from tests.work import LINEAR, growth

SMALL = PassageSettings(words=5, slack=2)


def test_short_text_is_one_passage_with_whitespace_collapsed() -> None:
    assert list(split_passages(" Ada \n was\tborn. ")) == ["Ada was born."]
    assert list(split_passages("Zoë  war da.")) == ["Zoë war da."]
    assert list(split_passages("Ada\nwas born.\n\n\n Twice. \n\n")) == ["Ada was born.\nTwice."]
    assert list(split_passages(" \n ")) == []


def test_passages_end_with_sentences_and_share_nothing() -> None:
    # At most seven words are kept whole; these are twelve. The sentence end nearest to five words is after "d."; of the
    # eight words left, the one nearest to five is after "j.".
    assert list(split_passages("a b c d. e f g h i j. k l", SMALL)) == ["a b c d.", "e f g h i j.", "k l"]


def test_a_sentence_is_cut_only_where_it_is_too_long_for_a_passage() -> None:
    # The end after "b." is farther from five words than the slack, yet the only one among the first eight.
    chunks = list(split_chunks("a b. c d e f g h i. j", SMALL))
    assert [chunk.text for chunk in chunks] == ["a b.", "c d e f g h i.", "j"]
    assert not any(chunk.begins_within for chunk in chunks)
    chunks = list(split_chunks("a b c d e f g h i. j", SMALL))
    assert [(chunk.text, chunk.begins_within) for chunk in chunks] == [("a b c d e", False), ("f g h i. j", True)]


def test_an_abbreviation_ends_no_sentence() -> None:
    assert next(split_passages("a b. c d (Dr. Ros f g h i", SMALL)) == "a b."


def test_joints_are_what_stood_between() -> None:
    chunks = list(split_chunks("a b c d.\n\ne f g h. i j k l 漢字漢字漢字", SMALL))
    assert [(chunk.joint, chunk.text) for chunk in chunks] == [
        ("\n", "a b c d."),
        ("\n", "e f g h."),
        (" ", "i j k l 漢字漢字漢字"),
    ]
    assert [chunk.joint for chunk in split_chunks("漢" * 30, SMALL)] == ["\n", "", ""]


def test_a_row_of_a_table_is_not_cut() -> None:
    text = "a b.\n\nx: c. d; y: e. f.\n\nx: g. h; y: i."
    table = (text.index("x"), len(text))
    assert list(split_passages(text, SMALL)) == ["a b.\nx: c.", "d; y: e. f.", "x: g. h; y: i."]
    chunks = split_chunks(text, SMALL, [table])
    assert [chunk.text for chunk in chunks] == ["a b.", "x: c. d; y: e. f.", "x: g. h; y: i."]


def test_paragraphs_end_sentences() -> None:
    assert next(split_passages("a b c d\n\ne f g h i j", SMALL)) == "a b c d"


def test_default_lengths() -> None:
    words = [f"w{n}" for n in range(1000)]
    passages = [passage.split() for passage in split_passages(" ".join(words))]
    assert all(len(passage) == 80 for passage in passages[:-1])
    assert [word for passage in passages for word in passage] == words


@pytest.mark.parametrize(("text", "longest"), [("漢" * 5000, 240), ("ไทย" * 2000, 240), ("x" * 50_000, 12_000)])
def test_text_without_spaces_is_cut_by_characters(text: str, longest: int) -> None:
    passages = list(split_passages(text))
    assert len(passages) > 3
    assert max(map(len, passages)) <= longest


@pytest.mark.large
@pytest.mark.parametrize("unit", ["a", "漢", "a ", ". ", "\0", '."', " ", "\n\n", "é.\n\n", "\u0301"])
def test_a_million_characters_on_one_line_are_split(unit: str) -> None:
    """The square of their number would outlast the time limit of a test."""

    def split(n_characters: int) -> None:
        list(split_passages(unit * (n_characters // len(unit))))

    split(1_000_000)
    assert growth(split, 20_000) < LINEAR


@given(st.text(alphabet="ab. \n漢é", max_size=300))
def test_nothing_is_lost_or_repeated_and_no_passage_is_too_long(text: str) -> None:
    passages = list(split_passages(text, SMALL))
    joined = "".join("".join(passage.split()) for passage in passages)
    assert joined == "".join(text.split())
    assert all(passage and len(passage.split()) <= 7 for passage in passages)


@pytest.mark.parametrize("lengths", [(10, 10), (10, -1), (0, 0)])
def test_impossible_settings(lengths: tuple[int, int]) -> None:
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
    # At most 60 characters are no more than the 100 words that are kept whole.
    lines = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    assert list(split_passages(text)) == (["\n".join(line for line in lines if line)] if text.split() else [])
