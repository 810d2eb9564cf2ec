"""Few passages, searched without an index, which would take a hundred times as long to build as a claim's search."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from factloop.tools.search.documents.index import (
    HEADING_BOOST,
    ScoredPassage,
    StoredPassage,
    placed_chunks,
    query_terms,
    terms_of,
)
from factloop.tools.search.documents.sections import Section
from factloop.tools.search.passages import PassageSettings

K1, B = 1.2, 0.75
"""Of BM25, as tantivy has them."""
_EXACT_LENGTHS = 40
_SIGNIFICANT_BITS = 4


class FewPassages:
    """Finds among passages what `PassageReader` finds, with the same scores but for the last digits of its floats."""

    def __init__(self, passages: Sequence[StoredPassage]) -> None:
        self._passages = passages
        self._places = {(one.key, one.number): one for one in passages}
        self._fields = (
            (1.0, _Field([one.passage for one in passages])),
            (HEADING_BOOST, _Field([one.title for one in passages])),
            (HEADING_BOOST, _Field([one.section or "" for one in passages])),
        )

    @property
    def n_passages(self) -> int:
        return len(self._passages)

    def search(self, text: str, limit: int) -> list[ScoredPassage]:
        """At most `limit` passages that share a word with the free text, best first; no query syntax is known."""
        scores: defaultdict[int, float] = defaultdict(float)
        for term in query_terms(text):
            for boost, field in self._fields:
                for place, score in field.scores(term).items():
                    scores[place] += boost * score
        best = sorted(scores, key=lambda place: (-scores[place], place))[: max(0, limit)]
        return [ScoredPassage(self._passages[place], scores[place]) for place in best]

    def at(self, key: str, number: int) -> StoredPassage:
        """The passage in that place, which must be there."""
        return self._places[key, number]

    def few(self, most_characters: int) -> Sequence[StoredPassage] | None:
        """All passages if they have no more characters together, titles and headings included."""
        return self._passages if sum(one.n_characters for one in self._passages) <= most_characters else None


class _Field:
    """One field of the passages: how often each term stands in each, and how long each is."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(terms_of(text)) for text in texts]
        lengths = [count.total() for count in counts]
        average = sum(lengths) / len(lengths) if lengths else 0.0
        self._norms = [K1 * (1 - B + B * _stored_length(length) / average) if average else 0.0 for length in lengths]
        self._holding: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for place, count in enumerate(counts):
            for term, n_times in count.items():
                self._holding[term][place] = n_times

    def scores(self, term: str) -> Mapping[int, float]:
        """The BM25 of a term in each passage that holds it, by the passage's place."""
        holding = self._holding.get(term, {})
        rarity = math.log(1 + (len(self._norms) - len(holding) + 0.5) / (len(holding) + 0.5)) * (1 + K1)
        return {place: rarity * n_times / (n_times + self._norms[place]) for place, n_times in holding.items()}


def _stored_length(length: int) -> int:
    """A length as an index keeps it, in one byte: from 40 on, what is above 24 is rounded down to four bits."""
    above = length - 24
    dropped = max(0, above.bit_length() - _SIGNIFICANT_BITS)
    return length if length < _EXACT_LENGTHS else 24 + (above >> dropped << dropped)


def few_passages(
    files: Iterable[tuple[str, Iterable[Section]]], most: int, settings: PassageSettings
) -> FewPassages | None:
    """The passages of files by their keys, as an index has them; None where they are more than `most`."""
    passages: list[StoredPassage] = []
    for key, sections in files:
        for number, (chunk, section, place) in enumerate(placed_chunks(sections, settings)):
            if len(passages) == most:
                return None
            passages.append(_stored(key, number, chunk.text, section, place))
    return FewPassages(passages)


def _stored(key: str, number: int, passage: str, section: Section, place: int) -> StoredPassage:
    url, published = (None if text is None else _as_text(text) for text in (section.url, section.published))
    title, above = _as_text(section.title), _as_text(section.section or "") or None
    return StoredPassage(
        key, number, _as_text(passage), title, url, _as_text(section.fragment), published, above, place
    )


def _as_text(text: str) -> str:
    """The text with half a surrogate pair, which JSON can hold, replaced as an index has it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
