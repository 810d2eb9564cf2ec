"""Kinds of common nouns: what belongs together, and which kind a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.vocabulary.kinds import kind_asked_for, kind_of, kind_wanted, kinds_of, words_by_kind


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("football", ("sport",)),
        ("Football", ("sport",)),
        ("kangaroos", ("animal",)),
        ("wolves", ("animal",)),
        ("giraffe", ("animal",)),
        ("sandwich", ("food",)),
        ("Mercury", ("planet", "element")),
        ("physicist", ("occupation",)),
        ("archaeologist", ("occupation",)),
        ("fish", ()),
        ("the", ()),
        ("", ()),
    ],
)
def test_words_have_their_kinds_in_any_case_and_number(word: str, kinds: tuple[str, ...]) -> None:
    assert kinds_of(word) == kinds


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What sport does Hwang Byung-ju play?", "sport"),
        ("What is Andrew Ure's occupation?", "occupation"),
        ("what type of cancer did gilda radner die of", "disease"),
        ("Which planet in our solar system has the shortest year?", "planet"),
        ("Who played sport with him?", None),
        ("What did he do in his long and eventful life before he took up a job?", None),
        ("", None),
    ],
)
def test_the_question_names_the_kind_that_it_asks_for(question: str, kind: str | None) -> None:
    assert kind_asked_for(question) == kind


@pytest.mark.parametrize(
    ("word", "question", "kind"),
    [
        ("mercury", "Which planet is it?", "planet"),
        ("mercury", "Which metal is it?", "element"),
        ("rock", "What genre is it?", "music"),
        ("drama", "What genre is it?", "genre"),
        ("rock", "What is granite?", None),
        ("country", "What is it?", None),
        ("violin", "What is it?", "instrument"),
        ("winter", "What is it?", None),
        ("winter", "During which season does it rain?", "season"),
    ],
)
def test_the_question_settles_words_of_two_meanings(word: str, question: str, kind: str | None) -> None:
    assert kind_of(word, question) == kind


@pytest.mark.parametrize(
    ("question", "text", "kind"),
    [
        ("What genre is Isis?", "Isis is a post-metal band.", "music"),
        ("What genre is Isis?", "Isis is a noir novel.", "genre"),
        ("What genre is Isis?", "Isis is a rock band.", None),
        ("Which fruit is it?", "It is the quince.", "food"),
        ("What is it?", "It is the quince.", None),
    ],
)
def test_a_kind_is_wanted_where_the_text_has_no_listed_word_of_it(question: str, text: str, kind: str | None) -> None:
    assert kind_wanted(question, text) == kind


def test_lists_hold_enough_and_nothing_twice() -> None:
    for kind, words in words_by_kind().items():
        assert len({word.lower() for word in words}) == len(words) >= 9, kind


@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_is_accepted(question: str, word: str) -> None:
    assert kind_of(word, question) in {None, *words_by_kind()}
