"""The subject of a question, as a pronoun of the answer takes it."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.discourse import context_at
from factloop.tools.linguistics.references import resolve_references

ANSWER = "It opened in 1921."


def resolved(question: str) -> str:
    return resolve_references(ANSWER, context_at(ANSWER, 0, question)).removesuffix(" opened in 1921.")


@pytest.mark.parametrize(
    "question",
    [
        "When did the Bramley bakery open?",
        "When was the Bramley bakery founded?",
        "Where is the Bramley bakery?",
        "Who owns the Bramley bakery?",
        "How old is the Bramley bakery?",
        "What is the Bramley bakery known for?",
        "How many people does the Bramley bakery employ?",
    ],
)
def test_a_name_keeps_the_noun_that_follows_it(question: str) -> None:
    assert resolved(question) == "The Bramley bakery"


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("When did the Titanic sink?", "The Titanic"),
        ("Why is the Louvre famous?", "The Louvre"),
        ("Who made the Titanic famous?", "The Titanic"),
        ("Who painted the Louvre red?", "The Louvre"),
        ("When did the Red Cross help rebuild it?", "The Red Cross"),
        ("Is the Louvre open on Mondays?", "The Louvre"),
        ("When did the Concorde first fly?", "The Concorde"),
        ("What does the Louvre show visitors?", "The Louvre"),
        ("Where is the Louvre located?", "The Louvre"),
    ],
)
def test_a_whole_name_takes_no_word_of_what_is_asked(question: str, subject: str) -> None:
    assert resolved(question) == subject
