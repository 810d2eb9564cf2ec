"""Makes one order out of two: passages as a word search ranks them, and as their meaning does."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.embeddings.base import Embedder

RRF_K = 60
"""The constant of Cormack et al. 2009, at which the method was published; larger values flatten the ranks."""


def rank_fusion(rankings: Sequence[Sequence[int]], k: int = RRF_K) -> list[int]:
    """Items by the sum of 1 / (k + rank) over the rankings, best first (reciprocal rank fusion, Cormack et al. 2009).

    Ranks count from 1. A ranking may leave items out; they get nothing from it. Ties keep the order of the first
    ranking that has them.
    """
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            sums[item] = sums.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(sums, key=lambda item: -sums[item])


def rank_passages(query: str, passages: Sequence[str], embedder: Embedder) -> list[int]:
    """Indices of passages that come in the order of a word search, best first by that order and by meaning together.

    Costs one `encode` of the query and the passages.
    """
    if len(passages) < 2:
        return list(range(len(passages)))
    vectors = embedder.encode([query, *passages])
    similarities = (vectors[1:] @ vectors[0]).tolist()
    by_words = range(len(passages))
    by_meaning = sorted(by_words, key=lambda index: -similarities[index])
    return rank_fusion([by_words, by_meaning])
