from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.search.passages import PassageSettings, split_passages
from tests.work import LINEAR, growth

SMALL = PassageSettings(words=5, slack=2)


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


@given(st.text(alphabet="ab. \t\n\x1f\xa0\u3000é\u0e01漢", max_size=60))
def test_short_texts_of_any_script_have_their_whitespace_collapsed_and_no_more(text: str) -> None:
    # At most 60 characters are no more than the 100 words that are kept whole.
    lines = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    assert list(split_passages(text)) == (["\n".join(line for line in lines if line)] if text.split() else [])
