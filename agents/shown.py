"""Formats passages for prompts."""

from __future__ import annotations

from collections.abc import Iterable

from factloop.core.citations import heading
from factloop.core.records import Evidence
from factloop.tools.text.sentences import split_sentences

PASSAGE_CHARACTERS = 2_000
"""Maximum number of characters in a passage with its neighbours. Prompts show only the start of longer ones."""
LEFT_OUT = "(the rest of the passage is left out here)"
CUT_WITHIN = "(cut here in the middle of a sentence)"
_ENDS = frozenset(".!?…。！？।\"'”’»)]」")


def as_shown(item: Evidence) -> str:
    """Returns the passage, shortened to `PASSAGE_CHARACTERS`, below a line with its title, headings and date."""
    return f"{heading(item.title, item.section, item.published)}\n{shortened(item.passage, PASSAGE_CHARACTERS)}".strip()


def document_of(item: Evidence) -> str:
    """Returns the source without a page number, which all passages of a document share."""
    return item.source.partition("#page=")[0]


def document_numbers(items: Iterable[Evidence]) -> tuple[int, ...]:
    """Returns the number of each passage's document, from 0 in order of first appearance."""
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(document_of(item), len(numbers)) for item in items)


def shortened(passage: str, most: int) -> str:
    """Returns the passage up to the last sentence or line that ends within `most` characters, and a line that marks the
    omission. If no sentence or line ends there, the passage is cut after a word.
    """
    if len(passage) <= most:
        return passage
    kept = _whole_sentences(passage, most)
    if kept:
        return f"{kept}\n{LEFT_OUT}"
    space = passage.rfind(" ", most // 2, most + 1)
    return f"{passage[: space if space > 0 else most].rstrip()}\n{CUT_WITHIN}"


def _whole_sentences(passage: str, most: int) -> str:
    end = passage.rfind("\n", 0, most + 1)
    kept, line = passage[: max(end, 0)].rstrip(), passage[end + 1 :].partition("\n")[0]
    if len(kept) > most // 2:
        return kept
    ends = (sentence.end for sentence in split_sentences(line[: 2 * most]) if line[sentence.end - 1] in _ENDS)
    last = max((place for place in ends if end + 1 + place <= most), default=0)
    return f"{kept}\n{line[:last]}".strip()
