"""Cuts a document into chunks of whole sentences, for verifiers whose window is shorter than the document.

Every character of the document stands in exactly one chunk, in order, but for white space at the ends of chunks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from factloop.tools.text.sentences import split_sentences

UnitEnds = Callable[[Sequence[str]], Sequence[Sequence[int]]]
"""Gives the offsets at which the units (words, tokens) of each text end, in order."""

_WORD = re.compile(r"\S{1,40}")
"""A run of 40 characters without white space counts as a word: scripts without spaces must be bounded, too."""


def word_ends(texts: Sequence[str]) -> list[list[int]]:
    """`UnitEnds` of words: what stands between white space."""
    return [[found.end() for found in _WORD.finditer(text)] for text in texts]


def cut_by_words(document: str, n_words: int) -> list[str]:
    """Chunks of at most `n_words` words each. Raises ValueError for none."""
    return cut_into_chunks(document, n_words, word_ends)


def cut_into_chunks(document: str, room: int, unit_ends: UnitEnds) -> list[str]:
    """Runs of whole sentences, each with at most `room` units, filled from the first sentence on; none is blank.

    A sentence longer than that is cut after `room` units, and what is left of it is filled up as any other. A blank
    document has no chunk. Raises ValueError where there is no room.
    """
    if room < 1:
        raise ValueError("a chunk has room for one unit at least")
    (ends,) = unit_ends([document])
    if len(ends) <= room:  # nearly always, and it takes no reading of sentences
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
    """The text cut before each sentence: together the pieces are the text, headings, code and list marks included."""
    sentences = split_sentences(text)
    cuts = [_cut_between(text, one.end, other.start) for one, other in pairwise(sentences)]
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)]) if end > start]


def _cut_between(text: str, end: int, start: int) -> int:
    """Before the line that the later sentence opens, with its list mark; else right before the sentence."""
    return text.rfind("\n", end, start) + 1 or start


def _pieces(document: str, room: int, unit_ends: UnitEnds) -> Iterator[tuple[str, int]]:
    """Sentences with their sizes in units; longer ones in parts."""
    sentences = whole_sentences(document)
    for sentence, ends in zip(sentences, unit_ends(sentences), strict=True):
        start = done = 0
        while len(ends) - done > room:
            stop = ends[done + room - 1]
            yield sentence[start:stop], room
            start, done = stop, done + room
        yield sentence[start:], len(ends) - done
