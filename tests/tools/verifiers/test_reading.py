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
        ("It was left unopened.", ["It was left ~unopened"]),
        ("He failed to win.", ["-He failed to win"]),
        ("He did not fail to win.", ["He did not fail to win"]),
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
