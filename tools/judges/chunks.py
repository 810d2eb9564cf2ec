"""Cuts a document into chunks of whole sentences for verifiers that cannot read it at once.

Every character of the document is in exactly one chunk, in order, except whitespace at the ends of chunks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from factloop.tools.text.sentences import split_sentences

UnitEnds = Callable[[Sequence[str]], Sequence[Sequence[int]]]
"""Returns the offsets where the units (words or tokens) of each text end, in order."""

_WORD = re.compile(r"\S{1,40}")


def word_ends(texts: Sequence[str]) -> list[list[int]]:
    return [[found.end() for found in _WORD.finditer(text)] for text in texts]


def cut_by_words(document: str, n_words: int) -> list[str]:
    """Cuts a document into chunks of at most `n_words` words. Raises ValueError if `n_words` is less than 1."""
    return cut_into_chunks(document, n_words, word_ends)


def cut_into_chunks(document: str, room: int, unit_ends: UnitEnds) -> list[str]:
    """Cuts a document into chunks of whole sentences with at most `room` units each. No chunk is blank.

    A longer sentence is cut after `room` units. A blank document has no chunks. Raises ValueError if `room` is below 1.
    """
    if room < 1:
        raise ValueError("the chunk size must be at least 1")
    (ends,) = unit_ends([document])
    if len(ends) <= room:  # this is the usual case and needs no sentences
        whole = document.strip()
        return [whole] if whole else []
    chunks, filled = [""], 0
    for piece, size in _pieces(document, room, unit_ends):
        if filled and filled + size > room:
            chunks.append("")
            filled = 0
        chunks[-1] += piece
        filled += size
    stripped = (chunk.strip() for chunk in chunks)
    return [chunk for chunk in stripped if chunk]


def whole_sentences(text: str) -> list[str]:
    """Cuts the text before each sentence. Joined together, the pieces give the whole text."""
    sentences = split_sentences(text)
    cuts = [_cut_between(text, one.end, other.start) for one, other in pairwise(sentences)]
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)]) if end > start]


def _cut_between(text: str, end: int, start: int) -> int:
    return text.rfind("\n", end, start) + 1 or start


def _pieces(document: str, room: int, unit_ends: UnitEnds) -> Iterator[tuple[str, int]]:
    sentences = whole_sentences(document)
    for sentence, ends in zip(sentences, unit_ends(sentences), strict=True):
        start = done = 0
        while len(ends) - done > room:
            stop = ends[done + room - 1]
            yield sentence[start:stop], room
            start, done = stop, done + room
        yield sentence[start:], len(ends) - done
