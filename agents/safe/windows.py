"""Cuts the sentences of an answer into windows that the grounded plan reads together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from factloop.agents.safe.state import SentenceState

WINDOW_SENTENCES, WINDOW_CHARACTERS = 8, 450
"""Most sentences that are read together, and most characters of them; a longer sentence is read alone."""

Windows = list[list[SentenceState]]


def windows_of(sentences: Sequence[SentenceState]) -> Windows:
    """The fewest windows of neighbours, of like length: an answer takes as long as its longest window.

    A sentence that is not read ends a window, so each window reads on. Sentences whose facts are given stand alone:
    these are judged as they are.
    """
    return [window for stretch in _stretches(sentences) for window in _of_like_length(stretch)]


def _stretches(sentences: Sequence[SentenceState]) -> Windows:
    stretches: Windows = []
    for sentence in sentences:
        if stretches and _reads_on(stretches[-1][-1], sentence):
            stretches[-1].append(sentence)
        else:
            stretches.append([sentence])
    return stretches


def _reads_on(before: SentenceState, sentence: SentenceState) -> bool:
    return before["given"] is None and sentence["given"] is None and not sentence["is_apart"]


def _of_like_length(stretch: Sequence[SentenceState]) -> Windows:
    """As many windows as the bound on their length makes needful, cut by the lowest bound that makes no more."""
    n_windows = len(_filled(stretch, WINDOW_CHARACTERS))
    bounds = range(WINDOW_CHARACTERS + 1)
    return _filled(stretch, bisect_left(bounds, x=True, key=lambda bound: len(_filled(stretch, bound)) <= n_windows))


def _filled(stretch: Sequence[SentenceState], most_characters: int) -> Windows:
    """Windows that take in sentences as long as there is room."""
    windows: Windows = []
    for sentence in stretch:
        if windows and _fits(windows[-1], sentence, most_characters):
            windows[-1].append(sentence)
        else:
            windows.append([sentence])
    return windows


def _fits(window: Sequence[SentenceState], sentence: SentenceState, most_characters: int) -> bool:
    return len(window) < WINDOW_SENTENCES and sentence["end"] - window[0]["start"] <= most_characters
