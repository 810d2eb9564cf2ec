"""Windows of answers whose sentences have worked lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from factloop.agents.safe.sentences import FUSED_WINDOW, GROUNDED_WINDOW, goes_on, shares_headings, windows_of
from factloop.agents.safe.state import SentenceTask


def answer(*lengths: int, apart: int | None = None, given: int | None = None) -> list[SentenceTask]:
    """Sentences of these lengths, one right after the other."""
    sentences: list[SentenceTask] = []
    start = 0
    for number, length in enumerate(lengths):
        facts = ["A fact."] if number == given else None
        sentences.append(SentenceTask("x", start, start + length, number=number, given=facts, is_apart=number == apart))
        start += length
    return sentences


def numbers(sentences: list[SentenceTask]) -> list[list[int]]:
    return [[sentence.number for sentence in window] for window in windows_of(sentences, GROUNDED_WINDOW, goes_on)]


def test_windows_are_of_like_length() -> None:
    """Filled up they would be 400, 400 and 100 characters long, and the answer would take as long as 400 take."""
    assert numbers(answer(*[100] * 9)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_a_window_is_no_longer_than_the_bound() -> None:
    third = GROUNDED_WINDOW.characters // 3
    assert numbers(answer(third, third, third)) == [[0, 1, 2]]
    assert numbers(answer(third, third, third + 1)) == [[0, 1], [2]]


def test_a_sentence_longer_than_the_bound_is_read_alone() -> None:
    assert numbers(answer(100, GROUNDED_WINDOW.characters + 1, 100)) == [[0], [1], [2]]


def test_short_sentences_are_bounded_in_number() -> None:
    n = GROUNDED_WINDOW.sentences
    assert [len(window) for window in numbers(answer(*[10] * n))] == [n]
    assert [len(window) for window in numbers(answer(*[10] * (n + 2)))] == [n // 2 + 1] * 2


@pytest.mark.parametrize(("stretches", "expected"), [({"apart": 1}, [[0], [1, 2]]), ({"given": 1}, [[0], [1], [2]])])
def test_windows_end_where_nothing_reads_on(stretches: dict[str, int], expected: list[list[int]]) -> None:
    assert numbers(answer(100, 100, 100, **stretches)) == expected


def test_without_sentences_there_is_no_window() -> None:
    assert windows_of([], GROUNDED_WINDOW, goes_on) == []


@pytest.mark.parametrize(
    ("other", "together"),
    [
        ({}, True),
        ({"is_apart": True}, True),
        ({"above": "Prices"}, False),
        ({"is_code": True}, False),
        ({"given": ["A."]}, False),
    ],
)
def test_the_fused_plan_reads_sentences_together_that_stand_under_the_same_headings(
    other: dict[str, Any], together: bool
) -> None:
    """It shows the whole answer, so that nothing has to stand between them."""
    first, second = answer(50, 50)
    second = replace(second, **other)
    windows = [windows_of(pair, FUSED_WINDOW, shares_headings) for pair in ([first, second], [second, first])]
    assert [len(found) for found in windows] == [1 if together else 2] * 2
