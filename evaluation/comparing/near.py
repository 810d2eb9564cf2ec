"""Brings claims together whose words nearly agree, as in two answers to one question: died in 1907, died in 1911."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import nlargest

from factloop.tools.linguistics.words import content_words

LEAST_SHARED = 0.5
"""Two claims nearly agree if they share more than this part of their content words (Dice's coefficient)."""
MOST_CANDIDATES = 8
"""Partners that one claim is considered with, the nearest ones: thousands of claims of one pattern stay affordable."""


def near_pairs(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Places of claims that nearly agree, in the order of the first: the nearest pair first, each claim at most once.

    Among equally near partners the one at the nearest place is taken.
    """
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, one, other in sorted(_candidates(first, second), reverse=True):
        if one not in partner and other not in taken:
            partner[one] = other
            taken.add(other)
    return sorted(partner.items())


def _candidates(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[float, int, int, int]]:
    """Similarity, closeness of places, and the two places, of pairs that nearly agree."""
    words = [frozenset(content_words(text)) for text in second]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, held in enumerate(words):
        for word in held:
            holders[word].append(place)
    for one, text in enumerate(first):
        own = frozenset(content_words(text))
        shared = Counter(other for word in own for other in holders.get(word, ()))
        found = ((2 * n / (len(own) + len(words[other])), -abs(one - other), one, other) for other, n in shared.items())
        yield from nlargest(MOST_CANDIDATES, (pair for pair in found if pair[0] > LEAST_SHARED))
