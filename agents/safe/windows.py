"""Cuts the sentences of an answer into windows that are read together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from factloop.agents.safe.state import SentenceState


@dataclass(frozen=True)
class WindowSize:
    """Most sentences of a window, and most characters of them; a longer sentence is read alone."""

    sentences: int
    characters: int


GROUNDED_WINDOW = WindowSize(8, 450)
FUSED_WINDOW = WindowSize(2, 195)
"""Little more than a long sentence has, since all claims wait for the longest window."""

Windows = list[list[SentenceState]]
JoinRule = Callable[[SentenceState, SentenceState], bool]
"""Whether a sentence may be read with the one before it."""


def windows_of(sentences: Sequence[SentenceState], size: WindowSize, may_join: JoinRule) -> Windows:
    """The fewest windows of neighbours, of like length: an answer takes as long as its longest window."""
    return [window for stretch in _stretches(sentences, may_join) for window in _of_like_length(stretch, size)]


def goes_on(before: SentenceState, sentence: SentenceState) -> bool:
    """Whether the second follows on the first, with no sentence between them that is left out of this check.

    Sentences whose facts are given stand alone: these are judged as they are.
    """
    return before["given"] is None and sentence["given"] is None and not sentence["is_apart"]


def shares_headings(before: SentenceState, sentence: SentenceState) -> bool:
    """Whether prose, items or rows stand under the same headings, lead-in or table head."""
    alike = before["above"] == sentence["above"] and not before["is_code"] and not sentence["is_code"]
    return alike and before["given"] is None and sentence["given"] is None


def _stretches(sentences: Sequence[SentenceState], may_join: JoinRule) -> Windows:
    stretches: Windows = []
    for sentence in sentences:
        if stretches and may_join(stretches[-1][-1], sentence):
            stretches[-1].append(sentence)
        else:
            stretches.append([sentence])
    return stretches


def _of_like_length(stretch: Sequence[SentenceState], size: WindowSize) -> Windows:
    """As many windows as the bound on their length makes needful, cut by the lowest bound that makes no more."""
    n_windows = len(_filled(stretch, size.sentences, size.characters))
    bounds = range(size.characters + 1)
    lowest = bisect_left(bounds, x=True, key=lambda bound: len(_filled(stretch, size.sentences, bound)) <= n_windows)
    return _filled(stretch, size.sentences, lowest)


def _filled(stretch: Sequence[SentenceState], most_sentences: int, most_characters: int) -> Windows:
    """Windows that take in sentences as long as there is room."""
    windows: Windows = []
    for sentence in stretch:
        if (
            windows
            and len(windows[-1]) < most_sentences
            and sentence["end"] - windows[-1][0]["start"] <= most_characters
        ):
            windows[-1].append(sentence)
        else:
            windows.append([sentence])
    return windows
