"""The probability of each letter, from replies as servers tokenise them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.choices import letter_probabilities
from factloop.agents.trustscore.questions import LETTERS
from factloop.agents.trustscore.records import Letter
from factloop.tools.models.wire import ReplyToken

HERE = {"C": math.log(0.7), "A": math.log(0.2)}
"""Alternatives in the place where the letter is chosen."""
ELSEWHERE = {"C": math.log(0.01), "B": math.log(0.9)}
"""Alternatives in a place where the same letter means something else."""


def tokens(*texts: str, here: int) -> list[ReplyToken]:
    """A reply in pieces; its choice is made in the place `here`."""
    return [
        ReplyToken(text, HERE if place == here else {**ELSEWHERE, text: math.log(0.5)})
        for place, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("texts", "here"),
    [
        (["C"], 0),
        (["C", ")", " King", " Solomon"], 0),
        (["**", "C", "**"], 1),
        (["C", ")", " Vitamin", " C"], 0),
        (['{"', "answer", '":"', "C", '"}'], 3),
        (['{"', "answer", '":"C', '"}'], 2),
        (["{\n", ' "', "answer", '":', ' "', "C", ")", " Vitamin", " C", '"', "}"], 5),
        (["Answer", ":", " C", ")", " Vitamin", " C"], 2),
        (["The", " answer", " is", " **", "C", "**", ",", " vitamin", " C"], 4),
        (["A", " or", " C", "?", " So", " C"], 5),
        (["The", " answer", " is", " not", " C", "?", " Yes", ":", " C"], 8),
        (["<think>", "The", " answer", " is", " C", "</", "think", ">", "\n", "C"], 9),
        (["<think>", "C", "</think>", "Option", " C"], 4),
    ],
)
def test_the_letter_is_read_where_it_is_chosen(texts: list[str], here: int) -> None:
    found = letter_probabilities(tokens(*texts, here=here), "C")
    assert found == pytest.approx({"A": 0.2, "C": 0.7})


def test_an_article_is_not_taken_for_the_letter() -> None:
    said = [
        ReplyToken("The answer is", {}),
        ReplyToken(" A", {" A": math.log(0.6), " B": math.log(0.3)}),
        ReplyToken(", as", {}),
        ReplyToken(" a", {" a": math.log(0.9), " the": math.log(0.1)}),
        ReplyToken(" king", {}),
    ]
    assert letter_probabilities(said, "A") == pytest.approx({"A": 0.6, "B": 0.3})


def test_the_forms_of_a_letter_add_up() -> None:
    forms = {"C": 0.5, " C": 0.2, "C)": 0.1, "**C": 0.05, " B": 0.08, "B": 0.02, "King": 0.03, "CD": 0.01, "": 0.01}
    said = [ReplyToken("C", {text: math.log(share) for text, share in forms.items()})]
    assert letter_probabilities(said, "C") == pytest.approx({"B": 0.1, "C": 0.85})


@pytest.mark.parametrize(
    "said",
    [
        [],
        [ReplyToken("King", {"King": -0.1, "C": -3.0}), ReplyToken(" Solomon", {" Solomon": -0.1})],
        [ReplyToken("B", {"B": -0.1, "C": -2.0})],
    ],
    ids=["no tokens", "the option's text", "another letter"],
)
def test_where_the_letter_was_not_written_nothing_is_known(said: list[ReplyToken]) -> None:
    assert letter_probabilities(said, "C") is None


TEXTS = st.sampled_from(["C", " C", '":"C', "c", "A", " a", "answer", "</think>", "", "King"]) | st.text(max_size=9)


@given(
    st.lists(st.builds(ReplyToken, TEXTS, st.dictionaries(TEXTS, st.floats(), max_size=5)), max_size=8),
    st.sampled_from(LETTERS),
)
def test_probabilities_lie_between_zero_and_one(said: list[ReplyToken], letter: Letter) -> None:
    found = letter_probabilities(said, letter)
    assert found is None or (letter in found and all(0.0 <= share <= 1.0 for share in found.values()))
