"""The windows of the grounded plan, on answers whose sentences have worked lengths."""

from __future__ import annotations

from typing import cast

import pytest

from factloop.agents.safe.state import SentenceState
from factloop.agents.safe.windows import WINDOW_CHARACTERS, WINDOW_SENTENCES, windows_of


def answer(*lengths: int, apart: int | None = None, given: int | None = None) -> list[SentenceState]:
    """Sentences of these lengths, one right after the other."""
    sentences, start = [], 0
    for number, length in enumerate(lengths):
        sentence: dict[str, object] = {"number": number, "start": start, "end": start + length}
        sentence |= {"is_apart": number == apart, "given": ["A fact."] if number == given else None}
        sentences.append(cast("SentenceState", sentence))
        start += length
    return sentences


def numbers(sentences: list[SentenceState]) -> list[list[int]]:
    return [[sentence["number"] for sentence in window] for window in windows_of(sentences)]


def test_windows_are_of_like_length() -> None:
    """Filled up they would be 400, 400 and 100 characters long, and the answer would take as long as 400 take."""
    assert numbers(answer(*[100] * 9)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_a_window_is_no_longer_than_the_bound() -> None:
    third = WINDOW_CHARACTERS // 3
    assert numbers(answer(third, third, third)) == [[0, 1, 2]]
    assert numbers(answer(third, third, third + 1)) == [[0, 1], [2]]


def test_a_sentence_longer_than_the_bound_is_read_alone() -> None:
    assert numbers(answer(100, WINDOW_CHARACTERS + 1, 100)) == [[0], [1], [2]]


def test_short_sentences_are_bounded_in_number() -> None:
    n = WINDOW_SENTENCES
    assert [len(window) for window in numbers(answer(*[10] * n))] == [n]
    assert [len(window) for window in numbers(answer(*[10] * (n + 2)))] == [n // 2 + 1] * 2


@pytest.mark.parametrize(("stretches", "expected"), [({"apart": 1}, [[0], [1, 2]]), ({"given": 1}, [[0], [1], [2]])])
def test_windows_end_where_nothing_reads_on(stretches: dict[str, int], expected: list[list[int]]) -> None:
    assert numbers(answer(100, 100, 100, **stretches)) == expected


def test_without_sentences_there_is_no_window() -> None:
    assert windows_of([]) == []
