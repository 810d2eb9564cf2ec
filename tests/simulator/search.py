"""A small search engine over the articles: token overlap weighted by rarity, with an inverted index."""

from __future__ import annotations

import hashlib
import heapq
import math
import re
from collections import defaultdict
from collections.abc import Sequence

from tests.simulator.world import Passage, World

LOST = 3  # how many hits go missing where hits go missing
COMMON = 0.12  # words in more than this share of the passages say nothing about what is looked for
IN_TITLE = 1.3  # weight of a word in the title: a search for a person brings the article on them first
LONGEST_QUERY = 400

_TOKEN = re.compile(r"\w+")


class SearchEngine:
    """Returns the best passages first. `missing_hits` is the proportion of queries that lose their top three."""

    def __init__(self, world: World) -> None:
        self._seed = world.seed
        self._passages = (*world.passages, *world.misleading)
        self._titles = [_tokens(passage.title) for passage in self._passages]
        postings: defaultdict[str, list[int]] = defaultdict(list)
        for number, passage in enumerate(self._passages):
            for token in self._titles[number] | _tokens(passage.text):
                postings[token].append(number)
        limit = COMMON * len(self._passages)
        self._postings = {token: numbers for token, numbers in postings.items() if len(numbers) <= limit}

    def search(self, query: str, limit: int, missing_hits: float = 0.0) -> Sequence[Passage]:
        """At most `limit` passages. The same query always has the same result."""
        scores: defaultdict[int, float] = defaultdict(float)
        for token in _tokens(query[:LONGEST_QUERY]):
            numbers = self._postings.get(token, ())
            for number in numbers:
                weight = IN_TITLE if token in self._titles[number] else 1.0
                scores[number] += weight * math.log(len(self._passages) / len(numbers))
        lost = LOST if self._unit_hash(query) < missing_hits else 0
        best = heapq.nsmallest(limit + lost, scores, key=lambda number: (-scores[number], number))
        return [self._passages[number] for number in best[lost:]]

    def _unit_hash(self, query: str) -> float:
        digest = hashlib.blake2b(f"{self._seed} {query}".encode(errors="replace"), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64


def _tokens(text: str) -> set[str]:
    return set(_TOKEN.findall(text.casefold()))
