"""Clauses and denials, as far as words tell."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.reading import Reading, read_together
from factloop.tools.verifiers.terms import read_sentences


def clauses(text: str) -> list[str]:
    """Each clause with its words; a denied one begins with a minus, a denied word with a tilde."""
    reading = read_together(read_sentences(text))
    return [_shown(reading, clause, denied) for clause, denied in enumerate(reading.clause_denied)]


def _shown(reading: Reading, clause: int, denied: bool) -> str:
    words = [
        ("~" if reading.phrase_denied[place] else "") + term.surface
        for place, term in enumerate(reading.terms)
        if reading.clauses[place] == clause
    ]
    return ("-" if denied else "") + " ".join(words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bob won, but Ada lost.", ["Bob won", "but Ada lost"]),
        ("Ada drew and built it.", ["Ada drew", "and built it"]),
        ("Salt and pepper were sold.", ["Salt and pepper were sold"]),
        ("The flaw, found by Sollis, was fixed.", ["The flaw was fixed", "found by Sollis"]),
        ("Apixaban, by contrast, does not need it.", ["-Apixaban does not need it", "by contrast"]),
        ("It has ears that do not cover it.", ["It has ears", "-that do not cover it"]),
        ("It works without a cable.", ["It works ~without ~a ~cable"]),
        ("It comes at no extra charge.", ["It comes at ~no ~extra ~charge"]),
        ("It is free of charge.", ["It is ~free ~of ~charge"]),
        ("It is taken with or without food.", ["It is taken with or without food"]),
        ("It changed in the past few years.", ["It changed in the past few years"]),
        ("It was left unopened.", ["It was left ~unopened"]),
        ("He failed to win.", ["-He failed to win"]),
        ("He did not fail to win.", ["He did not fail to win"]),
        ("Five failed attempts lock it.", ["5 failed attempts lock it"]),
        ("It is locked after a refused login.", ["It is locked after a refused login"]),
        ("The pupil refused help.", ["-The pupil refused help"]),
        ("Neither the oak nor the elm was cut.", ["-Neither the oak nor the elm was cut"]),
        ("It neither floats nor sinks.", ["-It neither floats nor sinks"]),
        ("It did not float, nor did it sink.", ["-It did not float", "-nor did it sink"]),
        ("He was not only a singer.", ["He was not only a singer"]),
        ("It arrives no later than May.", ["It arrives no later than May"]),
        ("It was not lit until 1846.", ["It was not lit until 1846"]),
        ("It sold barely 900 copies.", ["It sold barely 900 copies"]),
        ("A few came.", ["A few came"]),
        ("Few came.", ["-Few came"]),
    ],
)
def test_clauses_and_what_is_denied(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected


def test_a_sentence_of_marks_alone_is_none() -> None:
    assert read_sentences(", ;") == ()


def test_names_have_all_of_their_words() -> None:
    """Words in a row are one name; "and" ends it."""
    reading = read_together(read_sentences("In Lund the painter Ada Brisk met Bob and Marie Curie."))
    assert [" ".join(term.surface for term in name) for name in reading.names()] == [
        "Lund",
        "Ada Brisk",
        "Bob",
        "Marie Curie",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bob won.", [True]),  # 2 of 2
        ("Bob won the cup, but Ada lost it.", [True, False]),  # Bob, won, cup of 5; Ada, lost
        ("Bob won, but Ada lost.", [True, True]),  # 2 of 4 each
    ],
)
def test_a_clause_of_half_the_content_is_most_of_a_claim(text: str, expected: list[bool]) -> None:
    reading = read_together(read_sentences(text))
    assert [reading.is_mostly(clause) for clause in range(len(reading.clause_denied))] == expected


@pytest.mark.parametrize(
    ("text", "is_shared"),
    [("It opens at 10 and is closed on Mondays.", True), ("It opens at 10 and Bob is closed in.", False)],
)
def test_a_clause_that_begins_with_and_and_a_verb_has_no_subject_of_its_own(text: str, is_shared: bool) -> None:
    reading = read_together(read_sentences(text))
    assert [reading.shares_subject(clause) for clause in range(2)] == [False, is_shared]
